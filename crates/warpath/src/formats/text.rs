//! The shared parts of text readers: text in pieces that end at line ends and are parsed in parallel; tokens; numbers;
//! and the places of faults.
//!
//! A text in a file is never in memory as a whole: each thread reads the piece that it parses. So parsed results refer
//! to a piece by [`Fault`]s and offsets only.
//!
//! A parser reports a fault by a [`Malformed`], which points at a part of the piece. Lines and columns are counted only
//! then, so they cost nothing in a good text. Pieces are cut by size alone and taken in order, so the number of threads
//! changes neither the result nor the error: it is the first in the file.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ReadOptions;
#[cfg(test)]
use super::input::Input;
use super::input::Opened;
use crate::graph::{Weight, WeightKind};
use crate::memory::allocation::refused;
use crate::{Control, Error, InputError, Result, parallel};

/// A fault in a piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed<'a> {
    /// The offending part.
    pub(super) at: &'a [u8],
    /// What is wrong with it.
    pub(super) message: String,
}

/// The result of parsing a piece of text.
pub(super) type Parsed<'a, T> = std::result::Result<T, Malformed<'a>>;

impl<'a> Malformed<'a> {
    /// `message`, about `at`.
    pub(super) fn new(at: &'a [u8], message: impl Into<String>) -> Self {
        Malformed { at, message: message.into() }
    }
}

/// A fault at a byte of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The byte.
    pub(super) at: u64,
    /// The beginning of the offending part.
    pub(super) part: Vec<u8>,
    /// What is wrong with it.
    pub(super) message: String,
}

/// A piece of a text that begins at the start of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// Where they begin in the text.
    pub(super) offset: u64,
}

impl Piece<'_> {
    /// Where a part of the piece begins in the text.
    pub(super) fn offset_of(self, part: &[u8]) -> u64 {
        self.offset + part.as_ptr().addr().wrapping_sub(self.bytes.as_ptr().addr()) as u64
    }

    /// The fault of a part of the piece, independent of the piece.
    pub(super) fn fault(self, malformed: &Malformed<'_>) -> Fault {
        // More bytes than an error shows.
        const READABLE: usize = 100;
        let part = malformed.at[..malformed.at.len().min(READABLE)].to_vec();
        Fault { at: self.offset_of(malformed.at), part, message: malformed.message.clone() }
    }
}

/// The result of parsing a piece, whose memory is counted.
pub(super) trait Held {
    /// How many bytes of memory it holds.
    fn held_bytes(&self) -> u64;
}

impl<T: Held, E> Held for std::result::Result<T, E> {
    fn held_bytes(&self) -> u64 {
        self.as_ref().map_or(0, Held::held_bytes)
    }
}

/// How many bytes a thread parses at a time; few under Miri, so that there are several pieces.
const PIECE_BYTES: usize = if cfg!(miri) { 1 << 8 } else { 1 << 20 };

/// A text without its byte order mark, in memory or in a file.
pub(super) struct Text {
    opened: Opened,
    start: u64,
    /// How much memory the parsed text may take.
    room: u64,
}

impl Text {
    /// The text of an input.
    pub(super) fn new(opened: Opened, options: &ReadOptions) -> Self {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let start = if opened.head().starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() as u64 } else { 0 };
        let room = options.room_to_parse(opened.length(), opened.owned_bytes());
        Text { opened, start, room }
    }

    /// The text of these bytes.
    #[cfg(test)]
    pub(super) fn of(bytes: &[u8]) -> Self {
        Text::new(Opened::Memory(Input::owned("", bytes.to_vec())), &ReadOptions::new())
    }

    /// [`Opened::sampled_checksum`] of the input.
    pub(super) fn sampled_checksum(&self) -> Result<u64> {
        self.opened.sampled_checksum()
    }

    /// How many bytes there are.
    pub(super) fn length(&self) -> u64 {
        self.end() - self.start
    }

    /// Where the text begins in the input.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Copies a part of the text, by offsets in the input, into `buffer` in the place of what is there.
    pub(super) fn copy(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        let length = (range.end - range.start) as usize;
        buffer.truncate(length);
        buffer.try_reserve(length - buffer.len()).map_err(|_| refused("a piece of the text", length as u64))?;
        buffer.resize(length, 0);
        self.opened.read_at(range.start, buffer)
    }

    /// The line that begins at this byte, as far as an error shows it.
    pub(super) fn shown_at(&self, at: u64) -> Result<Vec<u8>> {
        const READABLE: u64 = 100;
        let mut part = Vec::new();
        self.copy(at..self.end().min(at + READABLE).max(at), &mut part)?;
        let end = part.iter().position(|&byte| byte == b'\n').unwrap_or(part.len());
        part.truncate(end);
        Ok(part.trim_ascii_end().to_vec())
    }

    /// An error if the parsed text, which holds `held` bytes, takes more memory than it may.
    pub(super) fn check_room(&self, held: u64) -> Result<()> {
        if held <= self.room {
            return Ok(());
        }
        let what = "what the input was parsed into so far".to_owned();
        Err(Error::OutOfMemory { what, needed: held, available: self.room })
    }

    fn end(&self) -> u64 {
        self.opened.length()
    }

    fn bytes<'b>(&'b self, range: Range<u64>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        if let Opened::File(_) = self.opened {
            // A line can be as long as the file.
            self.check_room(range.end - range.start)?;
        }
        bytes(&self.opened, range, buffer)
    }

    /// The beginning of the text, in whole lines: extended until `enough` accepts it, or to the end.
    pub(super) fn beginning(&self, enough: impl Fn(&[u8]) -> bool) -> Result<Cow<'_, [u8]>> {
        if let Opened::Memory(input) = &self.opened {
            return Ok(Cow::Borrowed(&input.bytes()[self.start as usize..]));
        }
        let mut length = 1 << 16;
        loop {
            let end = self.end().min(self.start.saturating_add(length));
            let mut bytes = Vec::new();
            self.bytes(self.start..end, &mut bytes)?;
            if end == self.end() {
                return Ok(Cow::Owned(bytes));
            }
            bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1));
            if enough(&bytes) {
                return Ok(Cow::Owned(bytes));
            }
            length = length.saturating_mul(2);
        }
    }

    /// The text from its start, as a piece, of what [`Text::beginning`] returned.
    pub(super) fn piece<'b>(&self, beginning: &'b [u8]) -> Piece<'b> {
        Piece { bytes: beginning, offset: self.start }
    }

    /// A part of the text, as a whole.
    pub(super) fn part(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        if let Opened::Memory(input) = &self.opened {
            return Ok(Cow::Borrowed(&input.bytes()[range.start as usize..range.end as usize]));
        }
        let mut bytes = Vec::new();
        self.bytes(range, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// Cuts the text from an offset on, after line ends, into pieces that a thread parses at a time. None is empty.
    pub(super) fn pieces(&self, from: u64) -> Result<Vec<Range<u64>>> {
        self.pieces_of(from..self.end())
    }

    /// The lines that begin in one of so many shares of the text from an offset on, where a line begins.
    pub(super) fn share(&self, from: u64, index: u64, of: u64) -> Result<Range<u64>> {
        let length = u128::from(self.end() - from);
        let line_from = |share: u64| match (length * u128::from(share) / u128::from(of)) as u64 {
            0 => Ok(from),
            bytes => line_end(&self.opened, from + bytes - 1),
        };
        Ok(line_from(index)?..line_from(index + 1)?)
    }

    /// Cuts a part of the text that begins and ends with whole lines into pieces that a thread parses at a time.
    pub(super) fn pieces_of(&self, range: Range<u64>) -> Result<Vec<Range<u64>>> {
        pieces(&self.opened, range, PIECE_BYTES as u64)
    }

    /// Makes something of every piece, in parallel. The results are in the order of the text.
    ///
    /// # Errors
    ///
    /// If a piece can't be read, `control` cancels the work, or the results hold more memory than there is.
    pub(super) fn each_piece<T: Held + Send>(
        &self,
        pieces: &[Range<u64>],
        control: &Control,
        work: impl for<'p> Fn(Piece<'p>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let total = pieces.iter().map(|piece| piece.end - piece.start).sum();
        let done = AtomicU64::new(0);
        let held = AtomicU64::new(0);
        parallel::try_collect_with(pieces.len(), Vec::new, |buffer, index| {
            let piece = &pieces[index];
            control.check()?;
            let result = work(Piece { bytes: self.bytes(piece.clone(), buffer)?, offset: piece.start });
            let bytes = result.held_bytes();
            self.check_room(held.fetch_add(bytes, Ordering::Relaxed) + bytes)?;
            let length = piece.end - piece.start;
            control.progress("load", done.fetch_add(length, Ordering::Relaxed) + length, total)?;
            Ok(result)
        })
    }

    /// Where the first line that `wanted` accepts begins in some pieces, and its text.
    pub(super) fn find_line(
        &self,
        pieces: &[Range<u64>],
        mut wanted: impl FnMut(&[u8]) -> bool,
        message: &str,
    ) -> Result<Option<Fault>> {
        let mut buffer = Vec::new();
        for range in pieces {
            let piece = Piece { bytes: self.bytes(range.clone(), &mut buffer)?, offset: range.start };
            if let Some(line) = Lines::new(piece.bytes).find(|line| wanted(line)) {
                return Ok(Some(piece.fault(&Malformed::new(line, message))));
            }
        }
        Ok(None)
    }

    /// The fault as an error, with line and column.
    pub(super) fn locate(&self, fault: Fault) -> Error {
        match self.line_and_column(fault.at) {
            Ok((line, column)) => InputError::at(line, &fault.part, fault.message).column(column).into(),
            Err(error) => error,
        }
    }

    fn line_and_column(&self, at: u64) -> Result<(u64, u64)> {
        // Whatever is wrong with a file that changes is not worth telling.
        self.opened.check_unchanged()?;
        let (mut line, mut start_of_line, mut from) = (1, self.start, self.start);
        let mut buffer = Vec::new();
        while from < at {
            let to = at.min(from + PIECE_BYTES as u64);
            let bytes = self.bytes(from..to, &mut buffer)?;
            line += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
            if let Some(last) = bytes.iter().rposition(|&byte| byte == b'\n') {
                start_of_line = from + last as u64 + 1;
            }
            from = to;
        }
        Ok((line, at - start_of_line + 1))
    }

    /// Lets go of the text, of which nothing is needed any more.
    ///
    /// # Errors
    ///
    /// If it changed since it was opened.
    pub(super) fn close(self) -> Result<()> {
        self.opened.check_unchanged()
    }
}

/// Bytes of an input: borrowed if the input is in memory, else copied into `buffer`.
fn bytes<'b>(opened: &'b Opened, range: Range<u64>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
    if let Opened::Memory(input) = opened {
        return Ok(&input.bytes()[range.start as usize..range.end as usize]);
    }
    let length = (range.end - range.start) as usize;
    let missing = length.saturating_sub(buffer.len());
    buffer.try_reserve_exact(missing).map_err(|_| refused("a piece of the text", length as u64))?;
    buffer.resize(length, 0);
    opened.read_at(range.start, buffer)?;
    Ok(buffer)
}

/// Cuts a part of an input, which ends with a line or the input, after line ends into pieces of at least `size` bytes; only the last may be
/// shorter.
fn pieces(opened: &Opened, range: Range<u64>, size: u64) -> Result<Vec<Range<u64>>> {
    let mut pieces = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let at_least = start.saturating_add(size.max(1)).min(range.end);
        let end = line_end(opened, at_least - 1)?;
        pieces.push(start..end);
        start = end;
    }
    Ok(pieces)
}

/// Where the line with this byte ends.
fn line_end(opened: &Opened, mut at: u64) -> Result<u64> {
    let mut length = 1 << 9;
    let mut buffer = Vec::new();
    while at < opened.length() {
        let end = opened.length().min(at + length);
        let found = bytes(opened, at..end, &mut buffer)?.iter().position(|&byte| byte == b'\n');
        if let Some(position) = found {
            return Ok(at + position as u64 + 1);
        }
        (at, length) = (end, (2 * length).min(PIECE_BYTES as u64));
    }
    Ok(opened.length())
}

/// How many lines of an input `wanted` accepts.
pub(super) fn count_lines(opened: &Opened, wanted: impl Fn(&[u8]) -> bool) -> Result<u64> {
    let mut count = 0;
    let mut buffer = Vec::new();
    for range in pieces(opened, 0..opened.length(), PIECE_BYTES as u64)? {
        count += Lines::new(bytes(opened, range, &mut buffer)?).filter(|line| wanted(line)).count() as u64;
    }
    Ok(count)
}

/// Parses the text from an offset on, piece by piece in parallel. The results are in the order of the text, and an
/// error is the first in the text.
pub(super) fn parse_pieces<T: Held + Send>(
    text: &Text,
    from: u64,
    control: &Control,
    parse: impl for<'p> Fn(Piece<'p>) -> Parsed<'p, T> + Sync,
) -> Result<Vec<T>> {
    let pieces = text.pieces(from)?;
    let results =
        text.each_piece(&pieces, control, |piece| parse(piece).map_err(|malformed| piece.fault(&malformed)))?;
    let parsed: std::result::Result<Vec<T>, Fault> = results.into_iter().collect();
    parsed.map_err(|fault| text.locate(fault))
}

/// The lines of a text without their line ends (`\n` or `\r\n`).
#[derive(Debug, Clone)]
pub(super) struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Lines { rest: text }
    }

    /// The text after the lines taken so far.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, after) = match self.rest.iter().position(|&byte| byte == b'\n') {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &self.rest[self.rest.len()..]),
        };
        self.rest = after;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// The words of a line, separated by blanks and tabs.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

/// An unsigned integer: digits only.
#[inline]
pub(super) fn unsigned(token: &[u8]) -> Option<u64> {
    if token.is_empty() || token.len() > 20 {
        return None;
    }
    let mut value = 0_u64;
    for &byte in token {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A finite decimal number.
#[inline]
pub(super) fn finite(token: &[u8]) -> Option<f64> {
    std::str::from_utf8(token).ok()?.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// A weight as the shortest text that reads back as the same number; decimals keep a point or an exponent.
pub(super) struct Shown<W>(pub(super) W);

impl<W: Weight> std::fmt::Display for Shown<W> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match W::KIND {
            WeightKind::F32 | WeightKind::F64 => write!(out, "{:?}", self.0),
            _ => write!(out, "{}", self.0),
        }
    }
}

/// The unsigned integer that starts at `at`, and where it ends (`at` if there is none); saturates.
///
/// Takes eight digits at a time: a load, a test of all eight bytes at once, and three multiplications that add up
/// pairs, then pairs of pairs, then both halves. So there is no branch per digit, which numbers of varying length would
/// mispredict.
#[inline(always)]
pub(super) fn digits(text: &[u8], at: usize) -> (u64, usize) {
    let Some(eight) = text.get(at..at + 8) else { return digits_one_by_one(text, at, 0) };
    let word = u64::from_le_bytes(std::array::from_fn(|index| eight[index])) ^ 0x3030_3030_3030_3030;
    // Bytes above 9 get their high bit set; a carry spoils only bytes after the first of these.
    let no_digit = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
    let count = (no_digit.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, at);
    }
    let mut value = word << (64 - 8 * count);
    value = value.wrapping_mul(10).wrapping_add(value >> 8) & 0x00ff_00ff_00ff_00ff;
    value = value.wrapping_mul(100).wrapping_add(value >> 16) & 0x0000_ffff_0000_ffff;
    value = value.wrapping_mul(10_000).wrapping_add(value >> 32) & 0xffff_ffff;
    if count < 8 { (value, at + count) } else { digits_one_by_one(text, at + 8, value) }
}

fn digits_one_by_one(text: &[u8], at: usize, start: u64) -> (u64, usize) {
    let mut value = start;
    let mut end = at;
    while let Some(digit) = text.get(end).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit <= 9) {
        value = value.saturating_mul(10).saturating_add(digit.into());
        end += 1;
    }
    (value, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::size;

    #[test]
    fn chunks_end_at_line_ends_and_lose_nothing() {
        let text = b"one\ntwo\r\n\nthree\nfour";
        for size in 0..30 {
            let ranges = super::pieces(&Text::of(text).opened, 0..text.len() as u64, size).unwrap();
            let pieces: Vec<&[u8]> =
                ranges.iter().map(|range| &text[range.start as usize..range.end as usize]).collect();
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().rev().skip(1).all(|piece| piece.ends_with(b"\n")));
            assert!(pieces.iter().all(|piece| !piece.is_empty()));
        }
        assert_eq!(Lines::new(text).collect::<Vec<_>>(), [&b"one"[..], b"two", b"", b"three", b"four"]);
    }

    impl Held for () {
        fn held_bytes(&self) -> u64 {
            100
        }
    }

    #[test]
    fn parsing_ends_when_memory_does() {
        let parsed = AtomicU64::new(0);
        let parse = |room: u64| {
            parsed.store(0, Ordering::Relaxed);
            let text = Text { room, ..Text::of(&vec![b'\n'; 20 * PIECE_BYTES]) };
            let work = |_: Piece<'_>| {
                parsed.fetch_add(1, Ordering::Relaxed);
            };
            let one_by_one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let pieces = text.pieces(0).unwrap();
            one_by_one.install(|| text.each_piece(&pieces, &Control::new(), work)).map(|results| results.len())
        };
        assert_eq!(parse(2000).unwrap(), 20);
        let outcome = parse(500);
        assert!(matches!(outcome, Err(Error::OutOfMemory { needed: 600, available: 500, .. })), "{outcome:?}");
        assert_eq!(parsed.into_inner(), 6);
    }

    #[test]
    fn the_error_is_the_first_in_the_text() {
        let text: Vec<u8> = (0..size(200_000, 1_100)).flat_map(|line| format!("{line}\n").into_bytes()).collect();
        fn parse(piece: Piece<'_>) -> Parsed<'_, ()> {
            match Lines::new(piece.bytes).find(|line| line.ends_with(size(&b"9999"[..], b"999"))) {
                Some(line) => Err(Malformed::new(&line[1..], "bad")),
                None => Ok(()),
            }
        }
        let text = Text::of(&text);
        let error = parse_pieces(&text, 0, &Control::new(), parse).unwrap_err();
        assert_eq!(error.to_string(), size("<input>:10000:2: bad: `999`", "<input>:1000:2: bad: `99`"));
        let control = Control::new();
        control.cancel();
        assert!(matches!(parse_pieces(&text, 0, &control, parse), Err(crate::Error::Interrupted)));
    }

    #[test]
    fn digits_are_read_at_any_place_and_length() {
        for text in ["0", "7x", "1234567", "12345678", "123456789 ", "18446744073709551615", "00012,", "12345678:12345"]
        {
            for padding in ["", " 99999999999999999"] {
                let whole = format!("{text}{padding}");
                let end = whole.find(|c: char| !c.is_ascii_digit()).unwrap_or(whole.len());
                assert_eq!(digits(whole.as_bytes(), 0), (whole[..end].parse().unwrap(), end), "{whole}");
            }
        }
        assert_eq!(digits(b"99999999999999999999999", 0), (u64::MAX, 23));
        for text in ["", "x", "/2345678", ":2345678", "\u{ff}2345678", " 1"] {
            assert_eq!(digits(text.as_bytes(), 0), (0, 0), "{text}");
        }
        assert_eq!(digits(b"12", 2), (0, 2));
        for value in (0..100_000_000_u64).step_by(size(9_973, 999_983)) {
            let text = format!("{value}\t0000000");
            assert_eq!(digits(text.as_bytes(), 0).0, value);
        }
    }
}
