//! A text from its first byte to its last, for formats that can't be cut at line ends: parsers that read from a stream
//! get one of these. Only the piece at hand is in memory.

use std::cell::Cell;
use std::io::{BufRead, Read};

use super::text::Text;
use crate::{Control, Error};

/// How many bytes are copied at a time.
const PIECE_BYTES: u64 = 1 << 18;

/// Where a parser is in a stream; the stream and the parser share it.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The offset in the input of the next byte.
    next: Cell<u64>,
    /// Where the part begins that the parser holds as a whole, such as a tag or a line.
    part: Cell<u64>,
}

impl Place {
    /// The offset in the input of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.next.get()
    }

    /// Says that a new part begins at the next byte.
    pub(super) fn begin_part(&self) {
        self.part.set(self.next.get());
    }
}

/// The bytes of a text in their order. Reading fails when the work is cancelled, or when one part is longer than the
/// parsed text may be.
pub(super) struct Stream<'t> {
    text: &'t Text,
    place: &'t Place,
    control: &'t Control,
    buffer: Vec<u8>,
    at: usize,
}

impl<'t> Stream<'t> {
    /// The stream of a text, without its byte order mark.
    pub(super) fn new(text: &'t Text, place: &'t Place, control: &'t Control) -> Self {
        place.next.set(text.start());
        place.begin_part();
        Stream { text, place, control, buffer: Vec::new(), at: 0 }
    }

    fn load(&mut self) -> crate::Result<()> {
        let (start, from, end) = (self.text.start(), self.place.offset(), self.text.start() + self.text.length());
        self.text.check_room(from - self.place.part.get())?;
        self.control.progress("load", from - start, end - start)?;
        let range = from..end.min(from + PIECE_BYTES);
        self.at = 0;
        self.text.copy(range, &mut self.buffer)
    }

    /// The next byte, which stays there; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, Error> {
        if self.at == self.buffer.len() {
            self.load()?;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    /// Reads a line into `line`, which it replaces, without its line end. `None` at the end of the text, else where the
    /// line begins.
    pub(super) fn line(&mut self, line: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        self.place.begin_part();
        let start = self.place.offset();
        line.clear();
        if self.peek()?.is_none() {
            return Ok(None);
        }
        self.read_until(b'\n', line).map_err(|error| Error::io("", error))?;
        let kept = line.strip_suffix(b"\n").unwrap_or(line);
        let kept = kept.strip_suffix(b"\r").unwrap_or(kept).len();
        line.truncate(kept);
        Ok(Some(start))
    }
}

impl BufRead for Stream<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.at == self.buffer.len() {
            self.load().map_err(std::io::Error::other)?;
        }
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
        self.place.next.set(self.place.offset() + amount as u64);
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let there = self.fill_buf()?;
        let count = there.len().min(out.len());
        out[..count].copy_from_slice(&there[..count]);
        self.consume(count);
        Ok(count)
    }
}
