//! Reads pairs of vertices from a file: one pair per line.

use std::path::Path;

use warpath::{Error, Graph, InputError, VertexId};

use crate::failure::Failure;
use crate::setup::Setup;

/// Reads the pairs in a file, or on standard input for `-`. Empty lines and lines that begin with `#` or `%` are
/// skipped, and so is a header `source,target` or `from,to` unless vertices have these names.
pub(super) fn read_pairs(setup: &Setup<'_>, graph: &Graph, file: &Path) -> Result<Vec<(VertexId, VertexId)>, Failure> {
    /// This many lines are read in a moment.
    const SOME: usize = 1 << 12;
    const HEADERS: [[&str; 2]; 2] = [["source", "target"], ["from", "to"]];
    let is_stdin = file.as_os_str() == "-";
    let options = setup.read_options();
    let bytes = if is_stdin { options.read_text_of_stdin()? } else { options.read_text(file)? };
    let name = if is_stdin { "<stdin>".to_owned() } else { file.display().to_string() };
    let mut pairs = Vec::new();
    let mut is_first = true;
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if index % SOME == 0 {
            setup.control.check()?;
        }
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"%") {
            continue;
        }
        let at_line =
            |message: &str| Error::from(InputError::at(index as u64 + 1, line, message).in_file(name.clone()));
        let text = std::str::from_utf8(line).map_err(|_| at_line("not UTF-8"))?;
        let names = fields(text).map_err(|message| at_line(message))?;
        let [from, to] = &names[..] else {
            return Err(at_line("a pair is two vertices, as in `alice,bob` or `17 4`").into());
        };
        let is_header =
            HEADERS.iter().any(|header| header.map(str::to_owned) == [from.to_lowercase(), to.to_lowercase()]);
        if std::mem::take(&mut is_first) && is_header && graph.vertex(from).is_err() {
            continue;
        }
        let vertex = |text: &str| graph.vertex(text).map_err(|error| at_line(&error.to_string()));
        pairs.try_reserve(1).map_err(|_| {
            let (what, needed) = (format!("the list `{name}`"), 2 * size_of_val(&pairs[..]) as u64);
            Error::OutOfMemory { what, needed, available: warpath::available_memory() }
        })?;
        pairs.push((vertex(from)?, vertex(to)?));
    }
    if pairs.is_empty() {
        return Err(Failure::usage(format!("{name}: there are no pairs in it")));
    }
    Ok(pairs)
}

/// The fields of a line: separated by commas, tabs or semicolons, whichever comes first outside of quotes, or else by
/// blanks. A field in quotes may hold any of these, and a quote is written twice there.
fn fields(line: &str) -> Result<Vec<String>, &'static str> {
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
            assert_eq!(fields(line).unwrap(), expected, "{line}");
        }
        for bad in ["\"a b", "\"a\"b c", "a,\"b\"x"] {
            assert!(fields(bad).is_err(), "{bad}");
        }
    }
}
