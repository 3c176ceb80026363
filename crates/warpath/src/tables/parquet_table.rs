//! Tables written as Parquet, row by row.
//!
//! Values are gathered in arrays of some rows, which the `parquet` package encodes. It keeps a group of rows in memory
//! until the group is complete; groups end early if they grow large, as those of wide tables do.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{Float32Builder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{Cell, ColumnType};

/// Cells that are gathered before they are encoded.
const GATHERED_CELLS: usize = 1 << 18;

/// Encoded bytes that make a group complete.
const GROUP_BYTES: usize = 64 << 20;

/// The values of a column that are not encoded yet.
enum Gathered {
    Text(StringBuilder),
    I64(Int64Builder),
    U32(UInt32Builder),
    U64(UInt64Builder),
    F32(Float32Builder),
    F64(Float64Builder),
}

impl Gathered {
    fn new(of: ColumnType) -> Self {
        match of {
            ColumnType::Text => Gathered::Text(StringBuilder::new()),
            ColumnType::I64 => Gathered::I64(Int64Builder::new()),
            ColumnType::U32 => Gathered::U32(UInt32Builder::new()),
            ColumnType::U64 => Gathered::U64(UInt64Builder::new()),
            ColumnType::F32 => Gathered::F32(Float32Builder::new()),
            ColumnType::F64 => Gathered::F64(Float64Builder::new()),
        }
    }

    /// Adds a cell; whether it is of the column's type.
    fn push(&mut self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Gathered::Text(values), Cell::Text(text)) => values.append_value(text),
            (Gathered::I64(values), Cell::Signed(value)) => values.append_value(value),
            (Gathered::U64(values), Cell::Unsigned(value)) => values.append_value(value),
            (Gathered::U32(values), Cell::Unsigned(value)) => match u32::try_from(value) {
                Ok(value) => values.append_value(value),
                Err(_) => return false,
            },
            (Gathered::F32(values), Cell::Single(value)) => values.append_value(value),
            (Gathered::F64(values), Cell::Double(value)) => values.append_value(value),
            (Gathered::Text(values), Cell::Missing) => values.append_null(),
            (Gathered::I64(values), Cell::Missing) => values.append_null(),
            (Gathered::U32(values), Cell::Missing) => values.append_null(),
            (Gathered::U64(values), Cell::Missing | Cell::AtLeast(_)) => values.append_null(),
            (Gathered::F32(values), Cell::Missing) => values.append_null(),
            (Gathered::F64(values), Cell::Missing) => values.append_null(),
            _ => return false,
        }
        true
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Gathered::Text(values) => Arc::new(values.finish()),
            Gathered::I64(values) => Arc::new(values.finish()),
            Gathered::U32(values) => Arc::new(values.finish()),
            Gathered::U64(values) => Arc::new(values.finish()),
            Gathered::F32(values) => Arc::new(values.finish()),
            Gathered::F64(values) => Arc::new(values.finish()),
        }
    }
}

/// A stream that the encoder has, too. `ArrowWriter::into_inner` would give it back, but loses the kind of its last error:
/// whether the disk is full, or the work was cancelled.
struct Shared<W>(Arc<Mutex<W>>);

impl<W: Write> Write for Shared<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// A table that is written as Parquet: groups of rows, compressed with Snappy. Every column may have missing values.
///
/// ```
/// use warpath::tables::{Cell, ColumnType, ParquetTable};
/// let columns = [("vertex", ColumnType::Text), ("distance", ColumnType::U32)];
/// let mut table = ParquetTable::new(Vec::new(), &columns)?;
/// table.push_row(&[Cell::Text("Lisbon"), Cell::Unsigned(0)])?;
/// table.push_row(&[Cell::Text("Porto"), Cell::Missing])?;
/// assert!(table.finish()?.starts_with(b"PAR1"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ParquetTable<W: Write + Send> {
    writer: ArrowWriter<Shared<W>>,
    out: Arc<Mutex<W>>,
    schema: SchemaRef,
    gathered: Vec<Gathered>,
    rows: usize,
}

impl<W: Write + Send> std::fmt::Debug for ParquetTable<W> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ParquetTable").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<W: Write + Send> ParquetTable<W> {
    /// Begins a table with columns of these names and types.
    ///
    /// # Errors
    ///
    /// If the stream can't be written.
    pub fn new(out: W, columns: &[(&str, ColumnType)]) -> std::io::Result<Self> {
        let field = |&(name, of): &(&str, ColumnType)| {
            let of = match of {
                ColumnType::Text => DataType::Utf8,
                ColumnType::I64 => DataType::Int64,
                ColumnType::U32 => DataType::UInt32,
                ColumnType::U64 => DataType::UInt64,
                ColumnType::F32 => DataType::Float32,
                ColumnType::F64 => DataType::Float64,
            };
            Field::new(name, of, true)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let out = Arc::new(Mutex::new(out));
        let writer = ArrowWriter::try_new(Shared(out.clone()), schema.clone(), Some(properties)).map_err(io_error)?;
        let gathered = columns.iter().map(|&(_, of)| Gathered::new(of)).collect();
        Ok(ParquetTable { writer, out, schema, gathered, rows: 0 })
    }

    /// Adds a row, with a cell for each column.
    ///
    /// # Errors
    ///
    /// If there are more or fewer cells, one is of another type than its column, or the stream can't be written.
    pub fn push_row(&mut self, cells: &[Cell<'_>]) -> std::io::Result<()> {
        let fits = cells.len() == self.gathered.len()
            && self.gathered.iter_mut().zip(cells).all(|(column, &cell)| column.push(cell));
        if !fits {
            let message = "a row does not fit the columns of its table";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
        }
        self.rows += 1;
        if self.rows * self.gathered.len() >= GATHERED_CELLS { self.encode() } else { Ok(()) }
    }

    fn encode(&mut self) -> std::io::Result<()> {
        if std::mem::take(&mut self.rows) == 0 {
            return Ok(());
        }
        let arrays = self.gathered.iter_mut().map(Gathered::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(std::io::Error::other)?;
        self.writer.write(&batch).map_err(io_error)?;
        if self.writer.in_progress_size() >= GROUP_BYTES {
            self.writer.flush().map_err(io_error)?;
        }
        Ok(())
    }

    /// Writes the rest, and returns the stream.
    ///
    /// # Errors
    ///
    /// If the stream can't be written.
    pub fn finish(mut self) -> std::io::Result<W> {
        self.encode()?;
        self.writer.close().map_err(io_error)?;
        let out = Arc::into_inner(self.out).and_then(|out| out.into_inner().ok());
        out.ok_or_else(|| std::io::Error::other("the stream of a table is still in use"))
    }
}

/// The stream's own error, if it is one.
fn io_error(error: ParquetError) -> std::io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => *error,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;

    #[test]
    fn what_is_written_is_read_back() {
        let columns = [("source", ColumnType::I64), ("target", ColumnType::I64), ("weight", ColumnType::F32)];
        let mut table = ParquetTable::new(Vec::new(), &columns).unwrap();
        let rows = crate::testing::size(200_000, 10);
        for row in 0..rows {
            table.push_row(&[Cell::Signed(row), Cell::Signed(row + 1), Cell::Single(0.5)]).unwrap();
        }
        let graph = ReadOptions::new().read_bytes("x.parquet", table.finish().unwrap()).unwrap();
        assert_eq!((graph.vertices() as i64, graph.arcs() as i64), (rows + 1, rows));
        assert!(graph.edges().all(|(u, v, weight)| v == u + 1 && weight == 0.5));
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let columns = [("vertex", ColumnType::Text), ("distance", ColumnType::U32)];
        for row in [
            &[Cell::Text("a")][..],
            &[Cell::Text("a"), Cell::Signed(1)],
            &[Cell::Unsigned(1), Cell::Unsigned(1)],
            &[Cell::Text("a"), Cell::Unsigned(1 << 32)],
        ] {
            let mut table = ParquetTable::new(Vec::new(), &columns).unwrap();
            assert!(table.push_row(row).is_err(), "{row:?}");
        }
    }

    #[test]
    fn an_error_of_the_stream_is_handed_on() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let outcome = ParquetTable::new(Full, &[("x", ColumnType::F64)]).and_then(ParquetTable::finish);
        assert_eq!(outcome.err().map(|error| error.kind()), Some(std::io::ErrorKind::StorageFull));
    }
}
