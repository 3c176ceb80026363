//! Reads pairs of vertices from a file: one pair per line.

use std::path::Path;

use warpath::tables::csv_fields;
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
        let names = csv_fields(text).map_err(at_line)?;
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
