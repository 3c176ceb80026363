//! Batches of rows in Parquet files.
//!
//! The `parquet` package decodes them. It is not told of the Arrow types that writers leave in the metadata: the types of
//! Parquet are enough here, and there are fewer of them.
//!
//! Source: <https://parquet.apache.org/docs/file-format/>.

use super::HOLDS;
use crate::formats::entry::FormatEntry;

/// This format's line in the table.
pub(in crate::formats) const FORMAT: FormatEntry = FormatEntry {
    name: "parquet",
    extensions: &["parquet", "pq"],
    holds: HOLDS,
    numbers_from: None,
    is_binary: true,
    is_announced: |opened| opened.head().starts_with(MAGIC),
    #[cfg(feature = "parquet")]
    read: |opened, options| super::read(|| reading::ParquetFile::open(opened, options), options),
    #[cfg(not(feature = "parquet"))]
    read: |_, _| super::refuse("a Parquet"),
    write: None,
};

/// How a file begins, and ends.
const MAGIC: &[u8] = b"PAR1";

#[cfg(feature = "parquet")]
mod reading {
    use std::io::{BufReader, Read};
    use std::sync::Arc;

    use arrow_array::RecordBatch;
    use arrow_schema::Schema;
    use bytes::Bytes;
    use parquet::arrow::ProjectionMask;
    use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
    use parquet::errors::ParquetError;
    use parquet::file::metadata::ColumnChunkMetaData;
    use parquet::file::reader::{ChunkReader, Length};

    use super::MAGIC;
    use crate::formats::columnar::{ColumnarFile, damaged};
    use crate::formats::{Opened, ReadOptions};
    use crate::memory::zeroed;
    use crate::{Error, InputError, Result};

    /// How many rows are decoded at a time.
    const BATCH_ROWS: usize = 1 << 16;

    /// A Parquet file whose metadata were read.
    pub(super) struct ParquetFile {
        opened: Parts,
        metadata: ArrowReaderMetadata,
    }

    impl ParquetFile {
        pub(super) fn open(opened: Opened, options: &ReadOptions) -> Result<Self> {
            if !opened.head().starts_with(MAGIC) {
                return Err(InputError::new("this is no Parquet file: it does not begin with `PAR1`").into());
            }
            let parts = Parts { opened: Arc::new(opened), room: options.room(0) };
            let told = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            let metadata = ArrowReaderMetadata::load(&parts, told).map_err(error_of)?;
            check_places(&metadata)?;
            Ok(ParquetFile { opened: parts, metadata })
        }
    }

    impl ColumnarFile for ParquetFile {
        fn schema(&self) -> &Schema {
            self.metadata.schema()
        }

        fn batches<'f>(&'f self, columns: &[usize]) -> Result<Box<dyn Iterator<Item = Result<RecordBatch>> + 'f>> {
            let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
            let builder =
                ParquetRecordBatchReaderBuilder::new_with_metadata(self.opened.clone(), self.metadata.clone());
            let reader = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build().map_err(error_of)?;
            Ok(Box::new(reader.map(|batch| {
                batch.map_err(|error| match error {
                    arrow_schema::ArrowError::ExternalError(inner) => match inner.downcast::<ParquetError>() {
                        Ok(error) => error_of(*error),
                        Err(inner) => damaged(inner),
                    },
                    other => damaged(other),
                })
            })))
        }

        fn opened(&self) -> &Opened {
            &self.opened.opened
        }
    }

    /// An error if a column is said to begin before the file, or to have fewer bytes than none: `parquet` would panic.
    fn check_places(metadata: &ArrowReaderMetadata) -> Result<()> {
        let mut columns = metadata.metadata().row_groups().iter().flat_map(|group| group.columns());
        let is_possible = |column: &ColumnChunkMetaData| {
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            start >= 0 && column.data_page_offset() >= 0 && column.compressed_size() >= 0
        };
        match columns.all(is_possible) {
            true => Ok(()),
            false => Err(damaged("a column has a negative place or length")),
        }
    }

    /// Turns an error of the package into one about the file, or back into ours if reading the file failed.
    fn error_of(error: ParquetError) -> Error {
        match error {
            ParquetError::External(inner) => match inner.downcast::<Error>() {
                Ok(ours) => *ours,
                Err(other) => damaged(other),
            },
            ParquetError::NYI(what) => InputError::new(format!("a part of the file can't be decoded: {what}")).into(),
            other => damaged(other),
        }
    }

    /// The parts of a file, which are copied when they are asked for.
    #[derive(Clone)]
    struct Parts {
        opened: Arc<Opened>,
        /// How much memory one part may take.
        room: u64,
    }

    impl Length for Parts {
        fn len(&self) -> u64 {
            self.opened.length()
        }
    }

    impl ChunkReader for Parts {
        type T = BufReader<From>;

        fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
            Ok(BufReader::new(From { opened: self.opened.clone(), at: start }))
        }

        fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
            if start.checked_add(length as u64).is_none_or(|end| end > self.opened.length()) {
                return Err(ParquetError::EOF(format!("{length} bytes from byte {start} on are not there")));
            }
            let what = "a part of the file";
            let copied = || {
                if length as u64 > self.room {
                    let (needed, available) = (length as u64, self.room);
                    return Err(Error::OutOfMemory { what: what.to_owned(), needed, available });
                }
                let mut bytes = zeroed(what, length)?;
                self.opened.read_at(start, &mut bytes)?;
                Ok(bytes)
            };
            copied().map(Bytes::from).map_err(|error| ParquetError::External(Box::new(error)))
        }
    }

    /// A file from a byte on.
    pub(super) struct From {
        opened: Arc<Opened>,
        at: u64,
    }

    impl Read for From {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let left = self.opened.length().saturating_sub(self.at);
            let count = (buffer.len() as u64).min(left) as usize;
            self.opened.read_at(self.at, &mut buffer[..count]).map_err(std::io::Error::other)?;
            self.at += count as u64;
            Ok(count)
        }
    }
}
