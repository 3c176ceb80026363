//! Tables of results as other programs read them: fields of CSV, NumPy arrays, and Parquet.
//!
//! A `.npy` of version 1 is a header that says type and shape, then the values in C order, in the order of bytes that
//! the machine has and the header names.
//!
//! Sources: RFC 4180 (CSV); NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays".

#[cfg(feature = "parquet")]
mod parquet_table;

use std::borrow::Cow;
use std::io::Write;

#[cfg(feature = "parquet")]
pub use parquet_table::ParquetTable;

use crate::graph::{Distance, Distances, with_distances};

/// The type of the values in a column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    Text,
    /// Signed 64-bit integers.
    I64,
    /// Unsigned 32-bit integers.
    U32,
    /// Unsigned 64-bit integers.
    U64,
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
}

impl From<&Distances> for ColumnType {
    /// The type of these distances.
    fn from(distances: &Distances) -> Self {
        match distances {
            Distances::U32(_) => ColumnType::U32,
            Distances::U64(_) => ColumnType::U64,
            Distances::I64(_) => ColumnType::I64,
            Distances::F32(_) => ColumnType::F32,
            Distances::F64(_) => ColumnType::F64,
        }
    }
}

impl From<Distance> for ColumnType {
    /// A type that holds this distance, and all others of its kind.
    fn from(distance: Distance) -> Self {
        match distance {
            Distance::Unsigned(_) => ColumnType::U64,
            Distance::Signed(_) => ColumnType::I64,
            Distance::Single(_) => ColumnType::F32,
            Distance::Double(_) => ColumnType::F64,
        }
    }
}

/// A value in a row of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'t> {
    /// No value.
    Missing,
    /// Text.
    Text(&'t str),
    /// An integer of a column of signed ones.
    Signed(i64),
    /// An integer of a column of unsigned ones.
    Unsigned(u64),
    /// An integer that is too great for 64 bits, but at least this. Only text can say so; in Parquet the value is missing.
    AtLeast(u64),
    /// A 32-bit float.
    Single(f32),
    /// A 64-bit float.
    Double(f64),
}

impl From<Option<Distance>> for Cell<'_> {
    /// A distance; no value where there is none.
    fn from(distance: Option<Distance>) -> Self {
        match distance {
            None => Cell::Missing,
            Some(Distance::Unsigned(value)) => Cell::Unsigned(value),
            Some(Distance::Signed(value)) => Cell::Signed(value),
            Some(Distance::Single(value)) => Cell::Single(value),
            Some(Distance::Double(value)) => Cell::Double(value),
        }
    }
}

/// A name as a field of CSV: in quotes if it has to be.
pub fn csv_field(name: &str) -> Cow<'_, str> {
    if name.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", name.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(name)
    }
}

/// The fields of a line: separated by commas, tabs or semicolons, whichever comes first outside of quotes, or else by
/// blanks. A field in quotes may hold any of these, and a quote is written twice there.
///
/// ```
/// use warpath::tables::csv_fields;
/// assert_eq!(csv_fields("\"Bath, Somerset\",Rio")?, ["Bath, Somerset", "Rio"]);
/// assert_eq!(csv_fields("17 4")?, ["17", "4"]);
/// # Ok::<(), &str>(())
/// ```
///
/// # Errors
///
/// What is wrong with the line, if a quote is not closed or text follows one that is.
pub fn csv_fields(line: &str) -> Result<Vec<String>, &'static str> {
    let mut in_quotes = false;
    let separator = line.chars().find(|&c| {
        in_quotes ^= c == '"';
        !in_quotes && [',', '\t', ';'].contains(&c)
    });
    let is_separator = |c: char| separator.map_or(c == ' ', |separator| c == separator);
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        // Blanks around a field do not belong to it.
        rest = rest.trim_start_matches(' ');
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let end = rest.find(is_separator).unwrap_or(rest.len());
                (rest[..end].trim_end().to_owned(), &rest[end..])
            }
        };
        fields.push(field);
        let after = if separator.is_some() { after.trim_start_matches(' ') } else { after };
        let mut left = after.chars();
        match left.next() {
            None => return Ok(fields),
            Some(c) if is_separator(c) => rest = left.as_str(),
            Some(_) => return Err("there is text after a closing quote"),
        }
    }
}

/// A field after its opening quote, and what follows the closing quote.
fn unquoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"').ok_or("a quote is not closed")?;
        field += &rest[..end];
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                field.push('"');
                rest = after;
            }
            None => return Ok((field, rest)),
        }
    }
}

/// The header of a `.npy` of values of this type (such as `<u4`, see [`npy_type`]) and shape; a multiple of 64 bytes,
/// as NumPy aligns them.
pub fn npy_header(value_type: &str, shape: &[usize]) -> Vec<u8> {
    const ALIGNMENT: usize = 64;
    const MAGIC_AND_LENGTH: usize = 10;
    // As NumPy writes them: `()`, `(7,)`, `(7, 8)`.
    let sides = match shape {
        [side] => format!("{side},"),
        sides => sides.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    let mut text = format!("{{'descr': '{value_type}', 'fortran_order': False, 'shape': ({sides}), }}");
    let length = (MAGIC_AND_LENGTH + text.len() + 1).next_multiple_of(ALIGNMENT) - MAGIC_AND_LENGTH;
    text.extend(std::iter::repeat_n(' ', length - text.len() - 1));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// NumPy's name of the type of these distances, as this machine has them in memory.
pub fn npy_type(distances: &Distances) -> &'static str {
    let [little, big] = match distances {
        Distances::U32(_) => ["<u4", ">u4"],
        Distances::U64(_) => ["<u8", ">u8"],
        Distances::I64(_) => ["<i8", ">i8"],
        Distances::F32(_) => ["<f4", ">f4"],
        Distances::F64(_) => ["<f8", ">f8"],
    };
    if cfg!(target_endian = "little") { little } else { big }
}

/// Writes distances as one array; unreachable is the greatest value of an integer type, and infinity of a float.
///
/// # Errors
///
/// If the stream can't be written.
pub fn write_npy(out: &mut dyn Write, shape: &[usize], distances: &Distances) -> std::io::Result<()> {
    out.write_all(&npy_header(npy_type(distances), shape))?;
    write_npy_part(out, distances)
}

/// Writes distances as [`write_npy`] does, without the header: the next part of an array that is written in parts.
///
/// # Errors
///
/// If the stream can't be written.
pub fn write_npy_part(out: &mut dyn Write, distances: &Distances) -> std::io::Result<()> {
    with_distances!(distances, values => out.write_all(bytemuck::cast_slice(values)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_hold_separators_in_quotes() {
        for (line, expected) in [
            ("1 2", vec!["1", "2"]),
            ("1   2", vec!["1", "2"]),
            ("1\t2", vec!["1", "2"]),
            ("a b, c d", vec!["a b", "c d"]),
            ("\"a, b\" ,\"say \"\"x\"\"\"", vec!["a, b", "say \"x\""]),
            ("\"a b\" c", vec!["a b", "c"]),
            ("a;b", vec!["a", "b"]),
            ("a,,b", vec!["a", "", "b"]),
            ("-1 -2", vec!["-1", "-2"]),
            ("one", vec!["one"]),
        ] {
            assert_eq!(csv_fields(line).unwrap(), expected, "{line}");
        }
        for bad in ["\"a b", "\"a\"b c", "a,\"b\"x"] {
            assert!(csv_fields(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn fields_are_quoted_where_they_have_to_be() {
        for (name, field) in
            [("", ""), ("a b", "a b"), ("a, b", "\"a, b\""), ("\"a\"", "\"\"\"a\"\"\""), ("a\nb", "\"a\nb\"")]
        {
            assert_eq!(csv_field(name), field);
        }
    }

    #[test]
    fn headers_are_aligned_and_say_the_shape() {
        for (shape, text) in
            [(&[][..], "'shape': ()"), (&[7], "'shape': (7,)"), (&[1000, 2_000_000], "'shape': (1000, 2000000)")]
        {
            let header = npy_header("<u4", shape);
            assert_eq!(header.len() % 64, 0);
            assert_eq!(usize::from(header[8]) + 256 * usize::from(header[9]), header.len() - 10);
            assert_eq!(header.last(), Some(&b'\n'));
            assert!(String::from_utf8_lossy(&header).contains(text));
        }
        let mut bytes = Vec::new();
        write_npy(&mut bytes, &[2], &Distances::U32(vec![1, u32::MAX])).unwrap();
        assert_eq!(bytes[bytes.len() - 8..bytes.len() - 4], 1_u32.to_ne_bytes());
        assert_eq!(bytes[bytes.len() - 4..], [255; 4]);
    }
}
