//! Which format an input has: by its content where that tells, else by its extension.
//!
//! Binary formats have magic bytes (GAP's has none, but its size follows from its header). Among texts, a banner tells
//! Matrix Market and a `p` line DIMACS and PACE. Lines of numbers can be an edge list, METIS or a Matrix Market file
//! that lost its banner; there the extension decides, and without one only the ragged lines of METIS betray it.

use super::Format;
use super::compression::Compression;
use super::input::Opened;
use super::text::count_lines;
use super::text::{Lines, unsigned, words};
use crate::{InputError, Result};

/// The first bytes of Warpath's own format.
pub(super) const WARPATH_MAGIC: &[u8; 8] = b"\x89WPG\r\n\x1a\n";

/// How much of a text is looked at.
pub(super) const SAMPLE_BYTES: usize = 1 << 16;

/// The format of an unpacked input.
///
/// # Errors
///
/// If neither the content nor the extension tells.
pub(super) fn detect(opened: &Opened) -> Result<Format> {
    // All of an input in memory, and of a file of arrays as much as tells.
    let bytes = opened.head();
    if bytes.starts_with(WARPATH_MAGIC) {
        return Ok(Format::Warpath);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Ok(Format::Npz);
    }
    let extension = by_extension(opened.name());
    if is_gap(bytes, opened.length()) {
        return Ok(Format::Gap);
    }
    let sample = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let sample = &sample[..sample.len().min(SAMPLE_BYTES)];
    if let Some(format) = by_content(sample) {
        return Ok(format);
    }
    if let Some(format) = extension {
        return Ok(format);
    }
    if sample.iter().any(|&byte| byte < b' ' && !byte.is_ascii_whitespace()) {
        let names = Format::ALL.map(Format::name).join(", ");
        return Err(InputError::new(format!(
            "the format is unknown: neither the content nor the extension tells; formats are {names}"
        ))
        .in_file(opened.name())
        .into());
    }
    Ok(if is_metis(opened, sample)? { Format::Metis } else { Format::EdgeList })
}

/// The format of the extension, the one before it where the last is that of a compression.
pub(super) fn by_extension(name: &str) -> Option<Format> {
    let mut extensions = name.rsplit(['/', '\\']).next()?.rsplit('.').map(str::to_ascii_lowercase);
    let mut extension = extensions.next()?;
    if Compression::by_extension(name).is_some() {
        extension = extensions.next()?;
    }
    extensions.next()?;
    Format::ALL.into_iter().find(|format| format.extensions().contains(&extension.as_str()))
}

/// What the banner, or the `p` line, of a text says.
fn by_content(sample: &[u8]) -> Option<Format> {
    let banner = sample.strip_prefix(b"%%").or(sample.strip_prefix(b"%")).unwrap_or_default();
    if banner.get(..12).is_some_and(|word| word.eq_ignore_ascii_case(b"MatrixMarket")) {
        return Some(Format::MatrixMarket);
    }
    let mut lines = Lines::new(sample).filter(|line| words(line).next().is_some());
    let problem = lines.by_ref().find(|line| words(line).next() != Some(b"c"))?;
    let mut parts = words(problem);
    let is_problem = parts.next() == Some(b"p") && parts.next().is_some_and(|kind| kind[0].is_ascii_alphabetic());
    if !is_problem || unsigned(parts.next()?).is_none() {
        return None;
    }
    // DIMACS lines start with a letter, those of PACE with a vertex.
    let kind = words(problem).nth(1)?;
    match lines.find(|line| words(line).next() != Some(b"c")) {
        Some(line) if words(line).next()?[0].is_ascii_digit() => Some(Format::Pace),
        Some(_) => Some(Format::Dimacs),
        None if [&b"sp"[..], b"edge", b"col", b"max", b"aux"].contains(&kind) => Some(Format::Dimacs),
        None => Some(Format::Pace),
    }
}

/// Whether the size is the one that GAP's header announces: a byte for the direction, the numbers of arcs and vertices,
/// offsets and arcs, and these once more by head if the graph is directed.
fn is_gap(head: &[u8], length: u64) -> bool {
    let Some((&[directed, ref counts @ ..], _)) = head.split_first_chunk::<17>() else { return false };
    let count = |at: usize| u128::from(u64::from_le_bytes(std::array::from_fn(|index| counts[at + index])));
    let (arcs, vertices) = (count(0), count(8));
    directed <= 1
        && [4, 8].into_iter().any(|arc_bytes| {
            let half = (vertices + 1) * 8 + arcs * arc_bytes;
            17 + half * (1 + u128::from(directed)) == u128::from(length)
        })
}

/// Whether a text without a telling extension is METIS: a first line of two to four numbers, then, with lines of
/// different lengths, as many lines as the first says there are vertices.
fn is_metis(opened: &Opened, sample: &[u8]) -> Result<bool> {
    let is_comment = |line: &[u8]| line.starts_with(b"%");
    let mut lines = Lines::new(sample).filter(|line| !is_comment(line));
    let Some(header) = lines.next() else { return Ok(false) };
    let numbers: Option<Vec<u64>> = words(header).map(unsigned).collect();
    let Some(numbers) = numbers.filter(|numbers| (2..=4).contains(&numbers.len())) else { return Ok(false) };
    let whole_lines = Lines::new(sample).filter(|line| !is_comment(line)).count().saturating_sub(1);
    let mut lengths = lines.take(whole_lines).map(|line| words(line).count());
    let Some(first) = lengths.next() else { return Ok(false) };
    Ok(lengths.any(|length| length != first)
        && count_lines(opened, |line| !is_comment(line))? == numbers[0].saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::super::input::Input;
    use super::*;

    #[test]
    fn content_goes_before_the_extension() {
        let format = |name: &str, bytes: &[u8]| detect(&Opened::Memory(Input::owned(name, bytes.to_vec()))).ok();
        for (name, text, expected) in [
            ("x", "%%MatrixMarket matrix coordinate", Some(Format::MatrixMarket)),
            ("x.txt", "%matrixmarket matrix coordinate", Some(Format::MatrixMarket)),
            ("x.txt", "c comment\nc\np sp 3 1\na 1 2 3\n", Some(Format::Dimacs)),
            ("x.gr", "p tw 3 1\n1 2\n", Some(Format::Pace)),
            ("x.gr", "c d\np tw 3 0\n", Some(Format::Pace)),
            ("x", "p edge 3 1\ne 1 2", Some(Format::Dimacs)),
            ("x", "p cep 3 1\r\n1 2", Some(Format::Pace)),
            ("x", "c d\ne f\n", Some(Format::EdgeList)),
            ("x", "p q\n", Some(Format::EdgeList)),
            ("x.graph", "3 2\n2\n1 3\n2\n", Some(Format::Metis)),
            ("x", "3 2\n2\n1 3\n2\n", Some(Format::Metis)),
            ("x", "3 2\n1 2\n1 3\n", Some(Format::EdgeList)),
            ("x.mtx", "3 2\n1 3\n", Some(Format::MatrixMarket)),
            ("x.mtx.zst", "3 2\n1 3\n", Some(Format::MatrixMarket)),
            ("x.mtx/y", "3 2\n1 3\n", Some(Format::EdgeList)),
            ("x", "", Some(Format::EdgeList)),
            ("x", "\u{feff}1 2", Some(Format::EdgeList)),
            ("x", "PK\u{3}\u{4}", Some(Format::Npz)),
            ("x", "\u{7f}ELF\u{1}\u{0}", None),
            ("x.wpg", "", Some(Format::Warpath)),
        ] {
            assert_eq!(format(name, text.as_bytes()), expected, "{name}: {text}");
        }
        assert_eq!(format("x", WARPATH_MAGIC), Some(Format::Warpath));
        let mut gap = vec![0; 17 + 3 * 8 + 4];
        gap[1] = 1;
        gap[9] = 2;
        assert_eq!(format("x", &gap), Some(Format::Gap));
        for format in Format::ALL {
            assert_eq!(by_extension(&format!("a/b.{}.gz", format.extensions()[0])), Some(format));
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
        }
    }
}
