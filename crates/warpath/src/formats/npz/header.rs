//! The header of an array, which gives the type and number of its elements.

use super::elements::Elements;

/// The type of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Text, with the number of bytes a character.
    Text(usize),
}

/// The header of a `.npy` file (versions 1 to 3).
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) element_bytes: usize,
    pub(super) count: u64,
    /// How many bytes the header itself has.
    pub(super) bytes: u64,
}

impl Header {
    pub(super) fn read(elements: &mut Elements<'_>) -> std::result::Result<Self, String> {
        /// The headers of arrays of numbers have a hundred bytes.
        const LONGEST: usize = 1 << 16;
        let damaged = || "its header is damaged".to_owned();
        let mut next = |length: usize| elements.header_bytes(length).ok_or_else(damaged);
        if next(6).ok().as_deref() != Some(b"\x93NUMPY") {
            return Err("it is no NumPy array".to_owned());
        }
        let length_bytes = if next(2)?[0] == 1 { 2 } else { 4 };
        let length = next(length_bytes)?.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
        if length > LONGEST {
            return Err(damaged());
        }
        let header = String::from_utf8(next(length)?).map_err(|_| damaged())?;
        let value = |key: &str| {
            let at = header.find(&format!("'{key}'"))? + key.len() + 2;
            Some(header[at..].trim_start().strip_prefix(':')?.trim_start())
        };
        let description = value("descr")
            .and_then(|text| text.strip_prefix('\''))
            .and_then(|text| text.split('\'').next())
            .ok_or("its elements are no plain numbers")?;
        let shape = value("shape")
            .and_then(|text| text.strip_prefix('('))
            .and_then(|text| text.split(')').next())
            .ok_or_else(damaged)?;
        let mut count = 1_u64;
        for side in shape.split(',').map(str::trim).filter(|side| !side.is_empty()) {
            count = side.parse().ok().and_then(|side: u64| count.checked_mul(side)).ok_or_else(damaged)?;
        }
        let unsupported = || format!("elements of type `{description}` can't be read");
        let (order, code) = description.split_at_checked(1).ok_or_else(unsupported)?;
        let (code, size) = code.split_at_checked(1).ok_or_else(unsupported)?;
        let size: usize = size.parse().map_err(|_| unsupported())?;
        if order == ">" && size > 1 {
            return Err(format!("big-endian elements (`{description}`) can't be read"));
        }
        let (kind, element_bytes) = match (code, size) {
            ("b", 1) => (Kind::Bool, 1),
            ("i", 1 | 2 | 4 | 8) => (Kind::Signed, size),
            ("u", 1 | 2 | 4 | 8) => (Kind::Unsigned, size),
            ("f", 4 | 8) => (Kind::Float, size),
            ("S", 1..=64) => (Kind::Text(1), size),
            ("U", 1..=64) => (Kind::Text(4), size * 4),
            _ => return Err(unsupported()),
        };
        Ok(Header { kind, element_bytes, count, bytes: (8 + length_bytes + length) as u64 })
    }
}
