//! Finds the separator of columns from the first lines of a list as a whole.
//!
//! A separator is possible if it cuts all lines after the first (which may be a header, or counts) into the same number
//! of columns, at least two. Often several are: `1;2;1,5` is three columns by semicolons and two by commas. So each
//! reading is judged by what it leaves in the columns of vertices and weight: a name that holds another separator is
//! less likely than one that holds none, and a list of numbers is no name. Among equally clean readings, those count
//! whose weights are numbers. If several are left that differ, the list is ambiguous, and an error names each reading
//! with its option.

use super::columns::{Fields, unquoted};
use super::header;
use crate::formats::text::{Malformed, Parsed, finite};
use crate::formats::{DecimalMark, Separator};

/// The separator of these lines, the first of a list. `weight` is the column of weights, from 0, if it is known, and
/// `mark` the decimal mark that was asked for.
pub(super) fn find<'a>(lines: &[&'a [u8]], weight: Option<usize>, mark: Option<DecimalMark>) -> Parsed<'a, Separator> {
    if let Some(separator) = of_header(lines) {
        return Ok(separator);
    }
    let body = if lines.len() > 1 { &lines[1..] } else { lines };
    let mut readings: Vec<Reading<'a>> =
        Separator::ALL.into_iter().filter_map(|separator| Reading::of(body, separator, weight, mark)).collect();
    let Some(cleanest) = readings.iter().map(|reading| reading.clutter).min() else {
        // Some line has another number of columns. What comes before it may tell more.
        return if lines.len() > 1 { find(&lines[..lines.len() / 2], weight, mark) } else { Ok(Separator::Blank) };
    };
    readings.retain(|reading| reading.clutter == cleanest);
    // Where no name looks like one, numbers are no evidence either.
    if cleanest < WORST && readings.iter().any(|reading| reading.has_numbers) {
        readings.retain(|reading| reading.has_numbers);
    }
    let differ =
        |separator| body.iter().any(|line| !Fields::new(line, separator).eq(Fields::new(line, readings[0].separator)));
    if readings[1..].iter().any(|reading| differ(reading.separator)) {
        return Err(Malformed::new(body[0], ambiguity(&readings)));
    }
    Ok(readings[0].separator)
}

/// The separator by which the first line names the ends of edges.
fn of_header(lines: &[&[u8]]) -> Option<Separator> {
    let (first, body) = lines.split_first()?;
    // By tabs before blanks: columns between tabs may hold blanks.
    let mut candidates = [Separator::Tab, Separator::Comma, Separator::Semicolon, Separator::Bar, Separator::Blank]
        .into_iter()
        .filter(|&separator| header::names_ends(&Fields::new(first, separator).collect::<Vec<_>>()))
        .peekable();
    let fallback = *candidates.peek()?;
    let count = |line: &[u8], separator| Fields::new(line, separator).count();
    let fits = |separator: &Separator| body.iter().all(|line| count(line, *separator) == count(first, *separator));
    Some(candidates.find(fits).unwrap_or(fallback))
}

/// The text of a column that is hardly meant so.
const WORST: u8 = 2;

/// Lines as a separator cuts them.
struct Reading<'a> {
    separator: Separator,
    /// The columns of the first of these lines.
    example: Vec<&'a [u8]>,
    /// How unlikely the text in the columns of vertices and weight is, from 0 to 2.
    clutter: u8,
    /// Whether there are no weights, or all are numbers.
    has_numbers: bool,
}

impl<'a> Reading<'a> {
    /// `None` if the lines don't have the same number of columns, at least two, or if some column holds a tab.
    fn of(lines: &[&'a [u8]], separator: Separator, weight: Option<usize>, mark: Option<DecimalMark>) -> Option<Self> {
        let may_be_comma = mark.map_or(separator == Separator::Semicolon, |mark| mark == DecimalMark::Comma);
        let is_number = |field: &[u8]| is_number(field, may_be_comma);
        let example: Vec<&[u8]> = Fields::new(lines.first()?, separator).collect();
        let mut reading = Reading { separator, example, clutter: 0, has_numbers: true };
        for line in lines {
            let fields: Vec<&[u8]> = Fields::new(line, separator).collect();
            if fields.len() < 2 || fields.len() != reading.example.len() || fields.iter().any(|f| f.contains(&b'\t')) {
                return None;
            }
            let of_column = |(column, field): (usize, &&[u8])| match Some(column) == weight && is_number(field) {
                true => 0,
                false => clutter(field, separator),
            };
            let here = fields.iter().enumerate().filter(|&(column, _)| column < 2 || Some(column) == weight);
            reading.clutter = reading.clutter.max(here.map(of_column).max().unwrap_or(0));
            if let Some(&weight) = weight.and_then(|weight| fields.get(weight)) {
                reading.has_numbers &= is_number(weight);
            }
        }
        Some(reading)
    }
}

/// Whether a weight is a number, perhaps with a decimal comma.
fn is_number(field: &[u8], may_be_comma: bool) -> bool {
    let inside = unquoted(field);
    finite(inside).is_some() || (may_be_comma && has_decimal_comma(inside))
}

/// Whether a text is a number with a decimal comma.
fn has_decimal_comma(text: &[u8]) -> bool {
    let with_point: Vec<u8> = text.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
    !text.contains(&b'.') && finite(&with_point).is_some()
}

/// How unlikely a column with this text is: 0 for plain text, 1 with another separator inside, 2 with one at an end, or
/// if it is a list of numbers.
fn clutter(field: &[u8], separator: Separator) -> u8 {
    let inside = unquoted(field);
    if inside.len() != field.len() {
        return 0;
    }
    let is_other = |byte: &u8| b",;|".contains(byte) && Some(*byte) != separator.byte();
    let is_list = || {
        let parts = field.split(|byte| is_other(byte) || byte.is_ascii_whitespace());
        let mut parts = parts.filter(|part| !part.is_empty()).peekable();
        parts.peek().is_some() && parts.all(|part| finite(part).is_some())
    };
    let has_several = field.iter().any(|byte| is_other(byte) || byte.is_ascii_whitespace());
    if field.first().is_some_and(is_other) || field.last().is_some_and(is_other) || (has_several && is_list()) {
        WORST
    } else {
        u8::from(field.iter().any(is_other))
    }
}

/// The readings of a line, for people.
fn ambiguity(readings: &[Reading<'_>]) -> String {
    let shown = |reading: &Reading<'_>| {
        let fields = reading.example.iter().take(4).map(|field| format!("`{}`", String::from_utf8_lossy(field)));
        let fields = fields.collect::<Vec<_>>().join(" and ");
        let rest = if reading.example.len() > 4 { " and so on" } else { "" };
        format!("{fields}{rest} with `--separator {}`", reading.separator.name())
    };
    let shown = readings.iter().map(shown).collect::<Vec<_>>().join(", ");
    format!("the separator of columns is unclear; the columns are {shown} (`ReadOptions::separator`)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::text::Lines;

    fn of(text: &str) -> std::result::Result<Separator, String> {
        let lines: Vec<&[u8]> = Lines::new(text.as_bytes()).collect();
        find(&lines, Some(2), None).map_err(|malformed| malformed.message)
    }

    #[test]
    fn all_lines_decide() {
        use Separator::{Bar, Blank, Comma, Semicolon, Tab};
        for (text, expected) in [
            ("1 2", Blank),
            ("1\t2\n3\t4", Blank),
            ("1;2;1,5", Semicolon),
            ("1;2;1,5\n2;3;2", Semicolon),
            ("1;2\n2;3", Semicolon),
            ("from;to;km\n1;2;1,5", Semicolon),
            ("a;b;1,25\nb;d;7", Semicolon),
            ("1|20|-1\n20|3|1", Bar),
            ("Smith, J\tDoe, A\t3", Tab),
            ("a,b\tc;d|e", Blank),
            ("a,\tb\nb,\tc", Comma),
            ("New York,San Jose,5", Comma),
            ("New York,San Jose", Comma),
            ("New York;San Jose", Semicolon),
            ("New York\tBoston\nBoston\tSan Jose", Tab),
            ("a\tb\t3\nNew York\tSan Jose\t4", Tab),
            ("1, 2, 3", Comma),
            ("\"a,b\",c", Comma),
            ("\"New York\" Boston 5", Blank),
            ("\"1,5\" 2 3", Blank),
            ("source\ttarget\nNew York\tBoston", Tab),
            ("FromNodeId\tToNodeId\n1 2", Blank),
            ("source,target,name\n1,2,\"a;b\"", Comma),
            ("1,2,5,a b c", Comma),
            // A line that differs is the parser's to refuse.
            ("1 2\n3 4\n5 6\n7 8 9", Blank),
            ("1;2;1,5\n2;3;2,5\n3;4", Semicolon),
            ("", Blank),
            ("1", Blank),
        ] {
            assert_eq!(of(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn a_decimal_mark_that_was_asked_for_decides_as_well() {
        let lines = [&b"1|2|3,5"[..]];
        assert!(find(&lines, Some(2), None).is_err());
        assert_eq!(find(&lines, Some(2), Some(DecimalMark::Comma)), Ok(Separator::Bar));
        let lines = [&b"1,5;2;3,5"[..]];
        assert_eq!(find(&lines, Some(2), Some(DecimalMark::Comma)).ok(), None);
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused_with_both() {
        for (text, options) in [
            ("1,5;2,5", ["comma", "semicolon"]),
            ("a,b;c", ["comma", "semicolon"]),
            ("Bonn, Hbf;Trier;1,5", ["comma", "semicolon"]),
            ("alice bob\t3\ncarol dave\t4", ["blank", "tab"]),
            ("1,2 3", ["blank", "comma"]),
            ("1 2 3,5\n2 3 4,5", ["blank", "comma"]),
        ] {
            let message = of(text).unwrap_err();
            assert!(message.starts_with("the separator of columns is unclear"), "{text:?}: {message}");
            for option in options {
                assert!(message.contains(&format!("`--separator {option}`")), "{text:?}: {message}");
            }
        }
    }
}
