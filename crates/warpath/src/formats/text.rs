//! What the readers of text share: chunks that end at line ends, parsed in parallel; tokens; numbers; and where in the
//! text what is wrong.
//!
//! A parser says what is wrong by a [`Malformed`], which points at a piece of the text. Lines and columns are counted
//! only then, so that they cost nothing where all is well. Chunks are cut by size alone and looked at in order:
//! whatever the number of threads, the result is the same, and the error reported is the first one in the file.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::graph::{Weight, WeightKind};
use crate::{Control, InputError, Result};

/// What is wrong with which piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed<'a> {
    /// The offending piece.
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

    /// The same with the line and column in `text`, of which the offending piece is a part.
    pub(super) fn locate(self, text: &[u8]) -> InputError {
        let offset = (self.at.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        let Some(before) = text.get(..offset) else {
            return InputError::new(self.message);
        };
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let column = 1 + before.iter().rev().take_while(|&&byte| byte != b'\n').count() as u64;
        InputError::at(line, self.at, self.message).column(column)
    }
}

/// The text without a byte order mark.
pub(super) fn without_bom(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Cuts a text after line ends into pieces of about `size` bytes. Joined, they are the text; none is empty.
pub(super) fn chunks(text: &[u8], size: usize) -> Vec<&[u8]> {
    let mut pieces = Vec::with_capacity(text.len() / size.max(1) + 1);
    let mut rest = text;
    while !rest.is_empty() {
        let at_least = size.clamp(1, rest.len());
        let line_end = rest[at_least - 1..].iter().position(|&byte| byte == b'\n');
        let (piece, after) = rest.split_at(line_end.map_or(rest.len(), |position| at_least + position));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// How many bytes a thread parses at a time.
pub(super) const CHUNK_BYTES: usize = 1 << 20;

/// Tells how many bytes of a text, cut into pieces, are parsed.
pub(super) struct Loading<'a> {
    control: &'a Control,
    done: AtomicU64,
    total: u64,
}

impl<'a> Loading<'a> {
    pub(super) fn new(pieces: &[&[u8]], control: &'a Control) -> Self {
        let total = pieces.iter().map(|piece| piece.len() as u64).sum();
        Loading { control, done: AtomicU64::new(0), total }
    }

    /// Says that a piece is parsed. Cancellation is looked for elsewhere.
    pub(super) fn done(&self, piece: &[u8]) {
        let bytes = piece.len() as u64;
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let _ = self.control.progress("load", done, self.total);
    }
}

/// Parses `body`, a part of `text`, chunk by chunk in parallel. The results are in the order of the text; so is the
/// error: it is the first one.
pub(super) fn parse_chunks<'a, T: Send>(
    text: &'a [u8],
    body: &'a [u8],
    control: &Control,
    parse: impl Fn(&'a [u8]) -> Parsed<'a, T> + Sync,
) -> Result<Vec<T>> {
    let pieces = chunks(body, CHUNK_BYTES);
    let loading = Loading::new(&pieces, control);
    let results: Vec<Option<Parsed<'a, T>>> = pieces
        .into_par_iter()
        .map(|piece| {
            let parsed = (!control.is_cancelled()).then(|| parse(piece));
            loading.done(piece);
            parsed
        })
        .collect();
    control.check()?;
    let parsed: Parsed<'a, Vec<T>> = results.into_iter().flatten().collect();
    parsed.map_err(|malformed| malformed.locate(text).into())
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

    /// What comes after the lines taken so far.
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

/// The words of a line: what is between blanks and tabs.
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

/// A weight as text that reads back as the same number: the shortest such, in which decimals keep a point or an
/// exponent.
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
/// Eight digits at a time: a load, a test of all eight bytes at once, and three multiplications that add up pairs,
/// pairs of pairs, and those. That has no branch per digit, which text with numbers of every length would mispredict.
#[inline(always)]
pub(super) fn digits(text: &[u8], at: usize) -> (u64, usize) {
    let Some(eight) = text.get(at..at + 8) else { return digits_one_by_one(text, at, 0) };
    let word = u64::from_le_bytes(std::array::from_fn(|index| eight[index])) ^ 0x3030_3030_3030_3030;
    // Bytes above 9 get their high bit set; a carry spoils only bytes after the first such.
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

    #[test]
    fn chunks_end_at_line_ends_and_lose_nothing() {
        let text = b"one\ntwo\r\n\nthree\nfour";
        for size in 0..30 {
            let pieces = chunks(text, size);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().rev().skip(1).all(|piece| piece.ends_with(b"\n")));
            assert!(pieces.iter().all(|piece| !piece.is_empty()));
        }
        assert_eq!(Lines::new(text).collect::<Vec<_>>(), [&b"one"[..], b"two", b"", b"three", b"four"]);
    }

    #[test]
    fn the_error_is_the_first_in_the_text() {
        let text: Vec<u8> = (0..200_000).flat_map(|line| format!("{line}\n").into_bytes()).collect();
        let parse = |piece: &'static [u8]| match Lines::new(piece).find(|line| line.ends_with(b"9999")) {
            Some(line) => Err(Malformed::new(&line[1..], "bad")),
            None => Ok(()),
        };
        let text: &'static [u8] = text.leak();
        let error = parse_chunks(text, text, &Control::new(), parse).unwrap_err();
        assert_eq!(error.to_string(), "<input>:10000:2: bad: `999`");
        let control = Control::new();
        control.cancel();
        assert!(matches!(parse_chunks(text, text, &control, parse), Err(crate::Error::Interrupted)));
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
        for value in (0..100_000_000_u64).step_by(9_973) {
            let text = format!("{value}\t0000000");
            assert_eq!(digits(text.as_bytes(), 0).0, value);
        }
    }
}
