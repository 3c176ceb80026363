//! Reads the edges on the lines, by name: names are integers of some width, or columns of text.

use super::columns::{Fields, unquoted};
use super::layout::{Layout, check_line_end, is_skipped};
use super::{Body, Failure};
use crate::formats::text::{Fault, Held, Lines, Malformed, Parsed, Piece, digits, unsigned};
use crate::formats::weight_column::WeightColumn;
use crate::formats::{ReadOptions, Separator};
use crate::memory::allocation::bytes_of;

/// A vertex name that is an integer.
pub(in crate::formats) trait IntegerName: Copy + Ord + Send + Sync + 'static {
    fn from_u64(value: u64) -> Option<Self>;
    fn to_u64(self) -> u64;
}

impl IntegerName for u32 {
    #[inline]
    fn from_u64(value: u64) -> Option<Self> {
        value.try_into().ok()
    }
    #[inline]
    fn to_u64(self) -> u64 {
        self.into()
    }
}

impl IntegerName for u64 {
    #[inline]
    fn from_u64(value: u64) -> Option<Self> {
        // Integers saturate at this value.
        (value != u64::MAX).then_some(value)
    }
    #[inline]
    fn to_u64(self) -> u64 {
        self
    }
}

/// The edges of a chunk, by name.
pub(in crate::formats) struct NamedChunk<I> {
    pub(in crate::formats) edges: Vec<(I, I)>,
    pub(in crate::formats) weights: Option<WeightColumn>,
}

impl<I> Held for NamedChunk<I> {
    fn held_bytes(&self) -> u64 {
        bytes_of::<(I, I)>(self.edges.capacity()) + self.weights.as_ref().map_or(0, Held::held_bytes)
    }
}

/// The outcome of reading names as integers of some width.
pub(super) enum Attempt<T> {
    Done(T),
    /// Some integer is too wide.
    TooWide,
    /// Some name is no integer.
    NoIntegers,
}

/// Why a chunk can't be read with integers as names.
enum ChunkFailure<'a> {
    Malformed(Malformed<'a>),
    TooWide,
    NoIntegers,
}

impl<'a> From<Malformed<'a>> for ChunkFailure<'a> {
    fn from(malformed: Malformed<'a>) -> Self {
        ChunkFailure::Malformed(malformed)
    }
}

pub(super) fn parse_pieces<I: IntegerName>(
    body: &Body<'_>,
    layout: &Layout<'_>,
    options: &ReadOptions,
) -> std::result::Result<Attempt<Vec<NamedChunk<I>>>, Failure<'static>> {
    /// A failure that outlives its piece.
    enum PieceFailure {
        Fault(Fault),
        TooWide,
        NoIntegers,
    }
    let parsed = body.text.each_piece(&body.pieces, &options.control, |piece| {
        parse_piece::<I>(piece, layout).map_err(|failure| match failure {
            ChunkFailure::Malformed(malformed) => PieceFailure::Fault(piece.fault(&malformed)),
            ChunkFailure::TooWide => PieceFailure::TooWide,
            ChunkFailure::NoIntegers => PieceFailure::NoIntegers,
        })
    })?;
    if parsed.iter().any(|chunk| matches!(chunk, Err(PieceFailure::NoIntegers))) {
        return Ok(Attempt::NoIntegers);
    }
    if parsed.iter().any(|chunk| matches!(chunk, Err(PieceFailure::TooWide))) {
        return Ok(Attempt::TooWide);
    }
    let mut done = Vec::with_capacity(parsed.len());
    for chunk in parsed {
        match chunk {
            Ok(chunk) => done.push(chunk),
            Err(PieceFailure::Fault(fault)) => return Err(fault.into()),
            Err(_) => return Ok(Attempt::NoIntegers),
        }
    }
    Ok(Attempt::Done(done))
}

fn parse_piece<'p, I: IntegerName>(
    all: Piece<'p>,
    layout: &Layout<'_>,
) -> std::result::Result<NamedChunk<I>, ChunkFailure<'p>> {
    let piece = all.bytes;
    // Room for the number of lines expected if the rest looks like the beginning.
    let sample = &piece[..piece.len().min(512)];
    let lines = sample.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let expected = piece.len() / (sample.len() / lines).max(1) + 16;
    let mut edges: Vec<(I, I)> = Vec::with_capacity(expected);
    let mut weights = WeightColumn::with(layout.decimals);
    if layout.weight.is_some() {
        weights.reserve(expected);
    }
    let plain = layout.ends == [0, 1] && (2..=3).contains(&layout.columns) && layout.weight.is_none_or(|at| at == 2);
    let mut at = 0;
    while at < piece.len() {
        if plain && let Some((edge, weight, end)) = plain_line(piece, at, layout) {
            edges.push(edge);
            if layout.weight.is_some() {
                weights.push_unsigned(weight);
            }
            at = end + 1;
            continue;
        }
        let line = Lines::new(&piece[at..]).next().unwrap_or_default();
        at += piece[at..].iter().position(|&byte| byte == b'\n').map_or(piece.len() - at, |end| end + 1);
        check_line_end(line)?;
        if !is_skipped(line) {
            edges.push(any_line(line, all, layout, &mut weights)?);
        }
    }
    edges.shrink_to_fit();
    Ok(NamedChunk { edges, weights: layout.weight.map(|_| weights) })
}

/// The edge on a line in the usual form, and where the line ends. The usual form is integers without leading zeros,
/// single delimiters, and a weight of up to eight digits.
#[inline(always)]
fn plain_line<I: IntegerName>(piece: &[u8], start: usize, layout: &Layout<'_>) -> Option<((I, I), u32, usize)> {
    let separates = |byte: u8| match layout.separator.byte() {
        None => byte == b' ' || byte == b'\t',
        Some(separator) => byte == separator,
    };
    let name = |at: usize| {
        let (value, end) = digits(piece, at);
        let is_plain = end > at && (piece[at] != b'0' || end == at + 1);
        Some((I::from_u64(value).filter(|_| is_plain)?, end))
    };
    let (u, end) = name(start)?;
    if !separates(*piece.get(end)?) {
        return None;
    }
    let (v, mut end) = name(end + 1)?;
    let mut weight = 0;
    if layout.columns == 3 {
        if !separates(*piece.get(end)?) {
            return None;
        }
        let start = end + 1;
        (weight, end) = digits(piece, start);
        if end == start || end > start + 8 {
            return None;
        }
    }
    if piece.get(end) == Some(&b'\r') {
        end += 1;
    }
    (piece.get(end) == Some(&b'\n')).then_some(((u, v), weight as u32, end))
}

/// The edge on any line, or its fault.
fn any_line<'p, I: IntegerName>(
    line: &'p [u8],
    piece: Piece<'p>,
    layout: &Layout<'_>,
    weights: &mut WeightColumn,
) -> std::result::Result<(I, I), ChunkFailure<'p>> {
    let (u, v) = split(line, piece, layout, weights)?;
    let name = |field: &'p [u8]| {
        let value = integer_name(unquoted(field)).ok_or(ChunkFailure::NoIntegers)?;
        I::from_u64(value).ok_or(ChunkFailure::TooWide)
    };
    Ok((name(u)?, name(v)?))
}

/// The name of a vertex as an integer, if it is written as one: `07` is another name than `7`.
pub(in crate::formats) fn integer_name(token: &[u8]) -> Option<u64> {
    let is_plain = token.first() != Some(&b'0') || token.len() == 1;
    // Integers saturate at the greatest number, so it is no name.
    unsigned(token).filter(|&value| is_plain && value != u64::MAX)
}

/// The two names on a line; the weight goes to `weights`.
pub(super) fn split<'p>(
    line: &'p [u8],
    piece: Piece<'p>,
    layout: &Layout<'_>,
    weights: &mut WeightColumn,
) -> Parsed<'p, (&'p [u8], &'p [u8])> {
    let mut fields = Fields::new(line, layout.separator);
    let (mut found, mut weight) = (0, None);
    let mut ends = [&line[..0]; 2];
    for field in fields.by_ref() {
        for (end, column) in ends.iter_mut().zip(layout.ends) {
            if column == found {
                *end = field;
            }
        }
        if layout.weight == Some(found) {
            weight = Some(field);
        }
        found += 1;
    }
    if fields.is_open {
        return Err(Malformed::new(line, "a quote is not closed on this line"));
    }
    if found != layout.columns {
        return Err(Malformed::new(line, wrong_count(line, found, layout)));
    }
    if let Some(token) = weight {
        weights.push(unquoted(token), piece).map_err(|mut malformed| {
            malformed
                .message
                .push_str(" (`--weights COLUMN` takes another column, `--weights unit` none; `ReadOptions::weights`)");
            malformed
        })?;
    }
    Ok((ends[0], ends[1]))
}

/// The message about a line with another number of columns.
#[cold]
fn wrong_count(line: &[u8], found: usize, layout: &Layout<'_>) -> String {
    let are = if found == 1 { "is" } else { "are" };
    let message = format!("{} columns are expected, as on the first line, but there {are} {found}", layout.columns);
    let fitting = |separator: &Separator| Fields::new(line, *separator).count() == layout.columns;
    match Separator::ALL.into_iter().find(fitting) {
        Some(other) => {
            let (here, other) = (layout.separator.name(), other.name());
            format!("{message}, by the separator {here}; `--separator {other}` takes the {other} for it")
        }
        None => message,
    }
}
