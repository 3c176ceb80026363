//! What the readers of text share: chunks that end at line ends, parsed in parallel; tokens; numbers; and where in the
//! text what is wrong.
//!
//! A parser says what is wrong by a [`Malformed`], which points at a piece of the text. Lines and columns are counted
//! only then, so that they cost nothing where all is well. Chunks are cut by size alone and looked at in order:
//! whatever the number of threads, the result is the same, and the error reported is the first one in the file.

use rayon::prelude::*;

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

/// Parses `body`, a part of `text`, chunk by chunk in parallel. The results are in the order of the text; so is the
/// error: it is the first one.
pub(super) fn parse_chunks<'a, T: Send>(
    text: &'a [u8],
    body: &'a [u8],
    control: &Control,
    parse: impl Fn(&'a [u8]) -> Parsed<'a, T> + Sync,
) -> Result<Vec<T>> {
    let pieces = chunks(body, CHUNK_BYTES);
    let results: Vec<Option<Parsed<'a, T>>> =
        pieces.into_par_iter().map(|piece| (!control.is_cancelled()).then(|| parse(piece))).collect();
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
