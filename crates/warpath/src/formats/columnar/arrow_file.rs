//! Batches of rows in Arrow files, which are also called Feather (version 2), and in Arrow streams.
//!
//! A file is a sequence of messages, each of metadata and a body: a schema, the values of dictionaries, and batches. At
//! its end it lists where they are; a stream has no such list, so its messages are passed one after another. Every place
//! and length is compared with the length of the file before memory is taken. Then `arrow-ipc` decodes the messages.
//!
//! Source: <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>.

use super::HOLDS;
use crate::formats::entry::FormatEntry;
use crate::formats::input::Opened;

/// This format's line in the table.
pub(in crate::formats) const FORMAT: FormatEntry = FormatEntry {
    name: "arrow",
    extensions: &["arrow", "feather", "arrows", "ipc"],
    holds: HOLDS,
    numbers_from: None,
    is_binary: true,
    is_announced: |opened| opened.head().starts_with(MAGIC) || is_stream(opened),
    #[cfg(feature = "parquet")]
    read: |opened, options| super::read(|| reading::ArrowFile::open(opened, options), options),
    #[cfg(not(feature = "parquet"))]
    read: |_, _| super::refuse("an Arrow or Feather"),
    write: None,
};

/// How a file begins, and ends.
const MAGIC: &[u8] = b"ARROW1";

/// What every message of a stream begins with; its length follows.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Whether the input begins with a message.
fn is_stream(opened: &Opened) -> bool {
    let length = opened.head().strip_prefix(&CONTINUATION).and_then(<[u8]>::first_chunk);
    length.is_some_and(|&length| {
        let length = u32::from_le_bytes(length);
        length > 0 && length.is_multiple_of(4) && u64::from(length) < opened.length()
    })
}

#[cfg(feature = "parquet")]
mod reading {
    use std::sync::Arc;

    use arrow_array::RecordBatch;
    use arrow_buffer::Buffer;
    use arrow_ipc::reader::{FileDecoder, read_footer_length};
    use arrow_ipc::{Block, Message, MessageHeader, MetadataVersion, convert, root_as_footer, root_as_message};
    use arrow_schema::{ArrowError, Schema, SchemaRef};

    use super::{CONTINUATION, MAGIC, is_stream};
    use crate::formats::columnar::{ColumnarFile, damaged};
    use crate::formats::{Opened, ReadOptions, foreign};
    use crate::memory::zeroed;
    use crate::{Error, InputError, Result};

    /// The last bytes of a file: the length of the list of messages, and the magic bytes.
    const END_BYTES: usize = 10;

    /// An Arrow file or stream whose messages were found.
    pub(super) struct ArrowFile {
        opened: Opened,
        schema: SchemaRef,
        version: MetadataVersion,
        messages: Vec<Found>,
        /// How much memory a message may take.
        room: u64,
    }

    /// A message that holds values.
    #[derive(Clone, Copy)]
    struct Found {
        offset: u64,
        metadata_bytes: u64,
        body_bytes: u64,
        is_dictionary: bool,
    }

    impl ArrowFile {
        pub(super) fn open(opened: Opened, options: &ReadOptions) -> Result<Self> {
            let room = options.room(opened.owned_bytes());
            if opened.head().starts_with(MAGIC) {
                return ArrowFile::of_file(opened, room);
            }
            match is_stream(&opened) {
                true => ArrowFile::of_stream(opened, room),
                false => {
                    let known = foreign::recognize(opened.head());
                    let unknown = || "this is neither an Arrow file nor an Arrow stream".to_owned();
                    Err(InputError::new(known.unwrap_or_else(unknown)).into())
                }
            }
        }

        fn of_file(opened: Opened, room: u64) -> Result<Self> {
            let length = opened.length();
            let end = length.checked_sub(END_BYTES as u64).ok_or_else(|| damaged("it has no end"))?;
            let mut last = [0; END_BYTES];
            opened.read_at(end, &mut last)?;
            let footer_bytes = read_footer_length(last).map_err(damaged)? as u64;
            let start = end.checked_sub(footer_bytes).ok_or_else(|| damaged("its footer is longer than the file"))?;
            let bytes = copied(&opened, start, footer_bytes, room)?;
            let footer = root_as_footer(&bytes).map_err(damaged)?;
            let version = footer.version();
            let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
            let schema = Arc::new(convert::try_fb_to_schema(schema).map_err(damaged)?);
            let (dictionaries, batches) = (footer.dictionaries(), footer.recordBatches());
            let dictionaries = dictionaries.iter().flatten().map(|block| (block, true));
            let batches = batches.iter().flatten().map(|block| (block, false));
            let place = |(block, is_dictionary): (&Block, bool)| {
                let number = |value: i64| u64::try_from(value).map_err(|_| damaged("a length is negative"));
                Ok(Found {
                    offset: number(block.offset())?,
                    metadata_bytes: number(block.metaDataLength().into())?,
                    body_bytes: number(block.bodyLength())?,
                    is_dictionary,
                })
            };
            let messages = dictionaries.chain(batches).map(place).collect::<Result<Vec<_>>>()?;
            let file = ArrowFile { opened, schema, version, messages, room };
            file.check_places()?;
            Ok(file)
        }

        fn of_stream(opened: Opened, room: u64) -> Result<Self> {
            let mut at = 0;
            let mut messages = Vec::new();
            let mut known = None;
            while let Some((prefix, metadata)) = metadata_at(&opened, at, room)? {
                let message = root_as_message(&metadata).map_err(damaged)?;
                let body_bytes = u64::try_from(message.bodyLength()).map_err(|_| damaged("a length is negative"))?;
                let metadata_bytes = prefix + metadata.len() as u64;
                let is_dictionary = message.header_type() == MessageHeader::DictionaryBatch;
                match message.header_as_schema() {
                    Some(schema) if known.is_none() => {
                        let schema = convert::try_fb_to_schema(schema).map_err(damaged)?;
                        known = Some((Arc::new(schema), message.version()));
                    }
                    Some(_) => return Err(damaged("it has two schemas")),
                    None => messages.push(Found { offset: at, metadata_bytes, body_bytes, is_dictionary }),
                }
                let end = (at + metadata_bytes).checked_add(body_bytes).filter(|&end| end <= opened.length());
                at = end.ok_or_else(|| damaged("a message goes beyond its end"))?;
            }
            let (schema, version) = known.ok_or_else(|| damaged("it has no schema"))?;
            Ok(ArrowFile { opened, schema, version, messages, room })
        }

        /// An error if a message is not within the file, or too short to be one.
        fn check_places(&self) -> Result<()> {
            const LEAST: u64 = 8;
            let is_within = |found: &Found| {
                let end =
                    (found.offset.checked_add(found.metadata_bytes)).and_then(|end| end.checked_add(found.body_bytes));
                found.metadata_bytes >= LEAST && end.is_some_and(|end| end <= self.opened.length())
            };
            match self.messages.iter().all(is_within) {
                true => Ok(()),
                false => Err(damaged("a message goes beyond its end")),
            }
        }

        /// The bytes of a message, if decoding it takes no more memory than there is.
        fn load(&self, found: Found) -> Result<Buffer> {
            let bytes = copied(&self.opened, found.offset, found.metadata_bytes + found.body_bytes, self.room)?;
            let (metadata, body) = bytes.split_at(found.metadata_bytes as usize);
            let prefix = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
            let message = root_as_message(&metadata[prefix..]).map_err(damaged)?;
            let unpacked = check_buffers(&message, body)?;
            check_room("a batch of an Arrow file, unpacked,", unpacked, self.room)?;
            Ok(Buffer::from_vec(bytes))
        }
    }

    impl ColumnarFile for ArrowFile {
        fn schema(&self) -> &Schema {
            &self.schema
        }

        fn batches<'f>(&'f self, columns: &[usize]) -> Result<Box<dyn Iterator<Item = Result<RecordBatch>> + 'f>> {
            let mut decoder = FileDecoder::new(self.schema.clone(), self.version).with_projection(columns.to_vec());
            let decoded = move |found: &Found| {
                let buffer = self.load(*found)?;
                // The lengths of bodies that fit into the file fit into 63 bits; those of metadata are 32 bits wide.
                let block = Block::new(found.offset as i64, found.metadata_bytes as i32, found.body_bytes as i64);
                match found.is_dictionary {
                    true => decoder.read_dictionary(&block, &buffer).map(|()| None).map_err(error_of),
                    false => decoder.read_record_batch(&block, &buffer).map_err(error_of),
                }
            };
            Ok(Box::new(self.messages.iter().map(decoded).filter_map(Result::transpose)))
        }

        fn opened(&self) -> &Opened {
            &self.opened
        }
    }

    fn error_of(error: ArrowError) -> Error {
        match error {
            ArrowError::NotYetImplemented(what) => {
                InputError::new(format!("a part of the file can't be decoded: {what}")).into()
            }
            other => damaged(other),
        }
    }

    /// The metadata of the message of a stream at a byte, and how many bytes stand before them; `None` at the end.
    fn metadata_at(opened: &Opened, at: u64, room: u64) -> Result<Option<(u64, Vec<u8>)>> {
        let left = opened.length() - at;
        let word = |place: u64| {
            let mut word = [0; 4];
            match left >= place + 4 {
                true => opened.read_at(at + place, &mut word).map(|()| word),
                false => Err(damaged("it ends within a message")),
            }
        };
        if left == 0 {
            return Ok(None);
        }
        // Streams of old versions have the length at once.
        let (prefix, length) = match word(0)? {
            CONTINUATION => (8, word(4)?),
            length => (4, length),
        };
        let length = u64::from(u32::from_le_bytes(length));
        if length == 0 {
            return Ok(None);
        }
        if length > i32::MAX as u64 - prefix || length > left - prefix {
            return Err(damaged("a message goes beyond its end"));
        }
        Ok(Some((prefix, copied(opened, at + prefix, length, room)?)))
    }

    /// How many bytes the packed buffers of a message have when they are unpacked.
    ///
    /// # Errors
    ///
    /// If a buffer is not within the body of the message: `arrow-ipc` would panic.
    fn check_buffers(message: &Message<'_>, body: &[u8]) -> Result<u64> {
        let batch = message.header_as_record_batch().or(message.header_as_dictionary_batch().and_then(|of| of.data()));
        let Some(batch) = batch else { return Ok(0) };
        let is_packed = batch.compression().is_some();
        let mut unpacked = 0_u64;
        for buffer in batch.buffers().iter().flatten() {
            let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
            let bytes = range.and_then(|(start, length)| body.get(start..)?.get(..length));
            let bytes = bytes.ok_or_else(|| damaged("a buffer goes beyond the end of its message"))?;
            if let Some(&length) = bytes.first_chunk().filter(|_| is_packed) {
                // -1 stands for a buffer that is not packed.
                unpacked = unpacked.saturating_add(u64::try_from(i64::from_le_bytes(length)).unwrap_or(0));
            }
        }
        Ok(unpacked)
    }

    fn check_room(what: &str, needed: u64, room: u64) -> Result<()> {
        match needed > room {
            true => Err(Error::OutOfMemory { what: what.to_owned(), needed, available: room }),
            false => Ok(()),
        }
    }

    /// A copy of a part of the file; it has to lie within it.
    fn copied(opened: &Opened, offset: u64, length: u64, room: u64) -> Result<Vec<u8>> {
        let what = "a message of an Arrow file";
        check_room(what, length, room)?;
        let mut bytes = zeroed(what, length as usize)?;
        opened.read_at(offset, &mut bytes)?;
        Ok(bytes)
    }
}
