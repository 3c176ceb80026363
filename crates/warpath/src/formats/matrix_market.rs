//! `.mtx`: Matrix Market coordinate files (Boisvert, Pozo, Remington, 1996). A banner, comments, a line with the
//! numbers of rows, columns and entries, then a line `row column [value]` for each entry, counted from 1.
//!
//! A symmetric matrix is an undirected graph, of which the file holds one triangle; a general one is directed, from row
//! to column. Integers become `u32`, or `i32` if any is negative; reals become `f64`; patterns have no weights.
//!
//! Some copies of well-known files have one `%` before the banner; they are read like any other. Other copies lack
//! everything above the entries; they are read only when the format is named, as a symmetric pattern.

use std::io::Write;

use super::entry::FormatEntry;
use super::rows::{plan_vertices, too_many_isolated, vertex_count, wants_weights};
use super::text::{Lines, Malformed, Parsed, Text, finite, parse_pieces, unsigned, words};
use super::weight_column::{WeightColumn, WeightedChunk, settle};
use super::{Opened, ReadOptions, stream_error};
use crate::graph::{Direction, EdgeList, Graph, Labels, VertexId, Weight, Weights, with_weights};
use crate::{Error, Result};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "matrix-market",
    extensions: &["mtx", "mm"],
    holds: "every graph",
    numbers_from: Some(1),
    is_binary: false,
    is_announced: has_banner,
    read: |opened, options| read(Text::new(opened, options), options),
    write: Some(|graph, _, out| write(graph, out)),
};

/// Whether the first line begins like a banner.
fn has_banner(opened: &Opened) -> bool {
    let sample = opened.sample();
    let banner = sample.strip_prefix(b"%%").or(sample.strip_prefix(b"%")).unwrap_or_default();
    banner.get(..12).is_some_and(|word| word.eq_ignore_ascii_case(b"MatrixMarket"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Pattern,
    Integer,
    Real,
}

/// The lines above the entries.
#[derive(Debug, Clone, Copy)]
struct Header<'a> {
    field: Field,
    symmetric: bool,
    /// The number of rows (and columns), the number of entries, and the line that states them; `None` without header.
    size: Option<(usize, u64, &'a [u8])>,
}

/// Reads a graph, its vertices named from 1.
///
/// # Errors
///
/// If the banner names a kind of matrix that is no graph, the matrix is not square, an entry is out of range or its
/// value not finite, or the number of entries is not as announced.
fn read(text: Text, options: &ReadOptions) -> Result<Graph> {
    let bare = options.format.is_some_and(|format| format.name() == FORMAT.name);
    let beginning = text.beginning(|beginning| read_header(beginning, bare).is_ok())?;
    let head = text.piece(&beginning);
    let located = |malformed| text.locate(head.fault(&malformed));
    let (header, body) = read_header(&beginning, bare).map_err(located)?;
    let body = head.offset_of(body);
    if let Some((vertices, _, line)) = header.size {
        if let Some(message) = too_many_isolated(vertices as u64, text.length(), options) {
            return Err(located(Malformed::new(line, message)));
        }
        plan_vertices(vertices as u64, 0, options)?;
    }
    let with_weights = header.field != Field::Pattern && wants_weights(options)?;
    let limit = header.size.map_or(crate::graph::MAX_VERTICES, |(vertices, ..)| vertices as u64);
    let field = header.field;
    fn entries(bytes: &[u8], field: Field, limit: u64) -> Entries<'_> {
        Entries { lines: Lines::new(bytes), field, limit }
    }

    let mut builder = options.builder(if header.symmetric { Direction::Undirected } else { Direction::Directed });
    if header.symmetric {
        // The file holds half of the arcs, even if the options ask for a directed graph.
        builder = builder.direction(Direction::Undirected);
    }
    let check = |found: u64| match header.size {
        Some((_, announced, line)) if announced != found => {
            let message = format!("{announced} entries are announced, but there are {found}");
            Err(located(Malformed::new(line, message)))
        }
        _ => Ok(()),
    };
    let named = |builder: crate::GraphBuilder, greatest: Option<VertexId>| {
        let vertices = header.size.map_or(greatest.map_or(0, |v| u64::from(v) + 1), |(vertices, ..)| vertices as u64);
        plan_vertices(vertices, 0, options)?;
        Ok::<_, Error>(builder.labels(Labels::range(1, vertices)))
    };
    let greatest = |edges: &[(VertexId, VertexId)]| edges.iter().map(|&(u, v)| u.max(v)).max();

    let graph = if header.field == Field::Real && with_weights {
        let lists = parse_pieces(&text, body, &options.control, |piece| {
            let mut list = EdgeList::new();
            for entry in entries(piece.bytes, field, limit) {
                let (row, column, token) = entry?;
                let value = finite(token).ok_or_else(|| Malformed::new(token, "a value has to be a finite number"))?;
                list.push(row, column, value);
            }
            Ok(list)
        })?;
        check(lists.iter().map(|list| list.len() as u64).sum())?;
        let greatest = lists.iter().filter_map(|list| greatest(&list.edges)).max();
        let builder = named(builder, greatest)?;
        drop(beginning);
        text.close()?;
        builder.build(lists)?
    } else {
        let chunks = parse_pieces(&text, body, &options.control, |piece| {
            let mut edges = Vec::new();
            let mut weights = with_weights.then(WeightColumn::new);
            for entry in entries(piece.bytes, field, limit) {
                let (row, column, token) = entry?;
                edges.push((row, column));
                if let Some(weights) = &mut weights {
                    if !token.iter().skip(usize::from(b"+-".contains(&token[0]))).all(u8::is_ascii_digit) {
                        return Err(Malformed::new(token, "a value of an integer matrix has to be an integer"));
                    }
                    weights.push(token, piece)?;
                }
            }
            Ok(WeightedChunk { edges, weights })
        })?;
        check(chunks.iter().map(|chunk| chunk.edges.len() as u64).sum())?;
        let greatest = chunks.iter().filter_map(|chunk| greatest(&chunk.edges)).max();
        let builder = named(builder, greatest)?;
        let lists = settle(|fault| text.locate(fault), chunks, options)?;
        drop(beginning);
        text.close()?;
        lists.build(builder)?
    };
    match options.direction {
        Some(Direction::Directed) => graph.with_direction(Direction::Directed),
        _ => Ok(graph),
    }
}

fn read_header(text: &[u8], bare: bool) -> Parsed<'_, (Header<'_>, &[u8])> {
    let mut lines = Lines::new(text);
    let banner = lines.next().unwrap_or(text);
    let word = words(banner).next().unwrap_or_default();
    let name = word.strip_prefix(b"%%").or(word.strip_prefix(b"%")).unwrap_or_default();
    if !name.eq_ignore_ascii_case(b"MatrixMarket") {
        if bare {
            return Ok((Header { field: Field::Pattern, symmetric: true, size: None }, text));
        }
        let message = "the banner `%%MatrixMarket matrix coordinate ..` is missing; \
                       a file without it can be read by naming its format, as a symmetric pattern";
        return Err(Malformed::new(banner, message));
    }
    let mut tokens = words(banner).skip(1);
    let mut choose = |choices: &[&str], what: &str| {
        let token = tokens.next().unwrap_or(&banner[banner.len()..]);
        choices
            .iter()
            .position(|choice| token.eq_ignore_ascii_case(choice.as_bytes()))
            .ok_or_else(|| Malformed::new(token, format!("{what} has to be {} to be a graph", choices.join(" or "))))
    };
    choose(&["matrix"], "the object")?;
    choose(&["coordinate"], "the format")?;
    // `double` is an old name, `unsigned-integer` what SciPy writes.
    let field = choose(&["pattern", "integer", "real", "double", "unsigned-integer"], "the type of values")?;
    let field = [Field::Pattern, Field::Integer, Field::Real, Field::Real, Field::Integer][field];
    let symmetric = choose(&["general", "symmetric"], "the symmetry")? == 1;
    let Some(line) = lines.by_ref().find(|line| !is_skipped(line)) else {
        return Err(Malformed::new(&text[text.len()..], "the line of sizes is missing: `rows columns entries`"));
    };
    let sizes: Option<Vec<u64>> = words(line).map(unsigned).collect();
    let Some(&[rows, columns, entries]) = sizes.as_deref() else {
        return Err(Malformed::new(line, "the line of sizes has to be `rows columns entries`"));
    };
    if rows != columns {
        return Err(Malformed::new(line, "the matrix of a graph has to be square"));
    }
    let vertices = vertex_count(rows).map_err(|error| Malformed::new(line, error.message))?;
    Ok((Header { field, symmetric, size: Some((vertices, entries, line)) }, lines.rest()))
}

/// Whether a line is empty or a comment.
fn is_skipped(line: &[u8]) -> bool {
    match words(line).next() {
        Some(word) => word.starts_with(b"%"),
        None => true,
    }
}

/// The entries of some lines: row and column, counted from 0, and the text of the value.
struct Entries<'a> {
    lines: Lines<'a>,
    field: Field,
    limit: u64,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Parsed<'a, (VertexId, VertexId, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.lines.by_ref().find(|line| !is_skipped(line))?;
        Some(self.parse(line))
    }
}

impl<'a> Entries<'a> {
    fn parse(&self, line: &'a [u8]) -> Parsed<'a, (VertexId, VertexId, &'a [u8])> {
        let valued = self.field != Field::Pattern;
        let mut tokens = words(line);
        let (Some(row), Some(column), value, None) =
            (tokens.next(), tokens.next(), if valued { tokens.next() } else { Some(&line[..0]) }, tokens.next())
        else {
            let expected = if valued { "row column value" } else { "row column" };
            return Err(Malformed::new(line, format!("an entry has to be `{expected}`")));
        };
        let Some(value) = value else {
            return Err(Malformed::new(line, "an entry has to be `row column value`"));
        };
        let id = |token| match unsigned(token) {
            Some(id) if 1 <= id && id <= self.limit => Ok((id - 1) as VertexId),
            _ => Err(Malformed::new(token, format!("rows and columns are numbers from 1 to {}", self.limit))),
        };
        Ok((id(row)?, id(column)?, value))
    }
}

/// Writes a graph: an undirected one as a symmetric matrix, its lower triangle. Parallel arcs become entries of their
/// own. Decimal weights are written exactly.
fn write(graph: &Graph, out: &mut dyn Write) -> Result<()> {
    write_entries(graph, out).map_err(stream_error)
}

fn write_entries(graph: &Graph, out: &mut dyn Write) -> std::io::Result<()> {
    let field = match graph.weights() {
        Weights::Unit(_) => "pattern",
        Weights::U32(_) | Weights::I32(_) => "integer",
        Weights::F32(_) | Weights::F64(_) => "real",
    };
    let undirected = !graph.is_directed();
    let symmetry = if undirected { "symmetric" } else { "general" };
    let csr = graph.csr();
    let count = |v: VertexId| {
        let row = csr.neighbors(v);
        if undirected { row.partition_point(|&u| u <= v) } else { row.len() }
    };
    let vertices = graph.vertices();
    let entries: usize = (0..vertices as VertexId).map(count).sum();
    writeln!(out, "%%MatrixMarket matrix coordinate {field} {symmetry}")?;
    writeln!(out, "{vertices} {vertices} {entries}")?;
    with_weights!(graph.weights(), weights => {
        for row in 0..vertices as VertexId {
            for (&column, &weight) in csr.neighbors(row).iter().zip(&weights[csr.row(row)]).take(count(row)) {
                write!(out, "{} {}", u64::from(row) + 1, u64::from(column) + 1)?;
                write_value(weight, out)?;
            }
        }
    });
    Ok(())
}

fn write_value<W: Weight>(weight: W, out: &mut dyn Write) -> std::io::Result<()> {
    use crate::graph::WeightKind;
    match W::KIND {
        WeightKind::Unit => writeln!(out),
        WeightKind::U32 | WeightKind::I32 => writeln!(out, " {weight}"),
        WeightKind::F32 | WeightKind::F64 => writeln!(out, " {:e}", weight.to_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::testing::{all_graphs, assert_rejected, assert_same, read_like, survive_mutations, written};
    use super::*;
    use crate::graph::WeightKind;

    fn options() -> ReadOptions {
        ReadOptions::new()
    }

    fn read_text(options: ReadOptions, text: &str) -> Result<Graph> {
        options.read_bytes("test", text.as_bytes().to_vec())
    }

    #[test]
    fn graphs_come_back() {
        for (name, graph) in all_graphs() {
            let bytes = written(&graph, Format::MatrixMarket).unwrap();
            let found = read_like(&graph, Format::MatrixMarket, bytes).unwrap();
            assert_same(&found, &graph, &name);
        }
    }

    #[test]
    fn banners_and_directions() {
        let symmetric =
            "%%matrixmarket MATRIX Coordinate Integer Symmetric\n% a comment\n\n3 3 3\n2 1 5\n3 2 7\n3 3 1\n";
        let graph = read_text(options(), symmetric).unwrap();
        assert!(!graph.is_directed());
        let expected = [(0, 1, 5.0), (1, 0, 5.0), (1, 2, 7.0), (2, 1, 7.0), (2, 2, 1.0)];
        assert_eq!(graph.edges().collect::<Vec<_>>(), expected);
        assert_eq!((graph.input_counts().lines, graph.input_counts().self_loops), (3, 1));
        assert_eq!((graph.name(0).as_ref(), graph.weight_kind()), ("1", WeightKind::U32));
        let directed = read_text(options().direction(Direction::Directed), symmetric).unwrap();
        assert!(directed.is_directed());
        assert!(directed.edges().eq(graph.edges()), "a directed graph has the arcs of the whole matrix");

        let general = "%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 -2.5e0\n";
        let graph = read_text(options(), general).unwrap();
        assert!(graph.is_directed());
        assert_eq!(graph.weight_kind(), WeightKind::F64);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1, 1.0), (1, 0, -2.5)]);
        let undirected = read_text(options().direction(Direction::Undirected), general).unwrap();
        assert_eq!(undirected.edges().collect::<Vec<_>>(), [(0, 1, -2.5), (1, 0, -2.5)]);

        let negative = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 -1\n2 1 2\n";
        assert_eq!(read_text(options(), negative).unwrap().weight_kind(), WeightKind::I32);
    }

    #[test]
    fn a_file_without_header_is_read_when_its_format_is_named() {
        let named = options().format(Format::MatrixMarket);
        let graph = read_text(named.clone(), "% a comment\n2 1\r\n4 2\n").unwrap();
        assert!(!graph.is_directed());
        assert_eq!((graph.vertices(), graph.arcs(), graph.input_counts().lines), (4, 4, 2));
        assert_eq!(read_text(named, "").unwrap().vertices(), 0);
        let error = options().read_bytes("x.mtx", b"2 1\n4 2\n".to_vec()).unwrap_err().to_string();
        assert!(error.starts_with("x.mtx:1:1: the banner `%%MatrixMarket matrix coordinate ..` is missing"), "{error}");
    }

    #[test]
    fn malformed_files_are_rejected_where_they_are_wrong() {
        let pattern = "%%MatrixMarket matrix coordinate pattern general\n";
        let integer = "%%MatrixMarket matrix coordinate integer general\n";
        let real = "%%MatrixMarket matrix coordinate real general\n";
        for (banner, rest, message) in [
            ("%%MatrixMarket", "\n1 1 0\n", "1:15: the object has to be matrix to be a graph"),
            (
                "%%MatrixMarket matrix array real general",
                "\n",
                "1:23: the format has to be coordinate to be a graph: `array`",
            ),
            (
                "%%MatrixMarket matrix coordinate complex general",
                "\n",
                "1:34: the type of values has to be pattern or integer or real or double or unsigned-integer to be a graph: `complex`",
            ),
            (
                "%%MatrixMarket matrix coordinate real skew-symmetric",
                "\n",
                "1:39: the symmetry has to be general or symmetric to be a graph: `skew-symmetric`",
            ),
            (pattern, "", "2:1: the line of sizes is missing: `rows columns entries`"),
            (pattern, "% only\n\n", "4:1: the line of sizes is missing: `rows columns entries`"),
            (pattern, "3 3\n", "2:1: the line of sizes has to be `rows columns entries`: `3 3`"),
            (pattern, "3 4 0\n", "2:1: the matrix of a graph has to be square: `3 4 0`"),
            (pattern, "3 3 2\n1 2\n", "2:1: 2 entries are announced, but there are 1: `3 3 2`"),
            (pattern, "3 3 0\n1 2\n", "2:1: 0 entries are announced, but there are 1: `3 3 0`"),
            (pattern, "3 3 1\n1 2 5\n", "3:1: an entry has to be `row column`: `1 2 5`"),
            (pattern, "3 3 1\n1\n", "3:1: an entry has to be `row column`: `1`"),
            (pattern, "3 3 1\n1 4\n", "3:3: rows and columns are numbers from 1 to 3: `4`"),
            (pattern, "3 3 1\n0 1\n", "3:1: rows and columns are numbers from 1 to 3: `0`"),
            (pattern, "3 3 1\n1 2.0\n", "3:3: rows and columns are numbers from 1 to 3: `2.0`"),
            (integer, "3 3 1\n1 2\n", "3:1: an entry has to be `row column value`: `1 2`"),
            (integer, "3 3 1\n1 2 1.5\n", "3:5: a value of an integer matrix has to be an integer: `1.5`"),
            (
                integer,
                "3 3 1\n1 2 9007199254740993\n",
                "3:5: a weight is beyond 2^53, where 64-bit floats, which hold weights of more than 32 bits, begin to \
                 skip integers; as a decimal, such as 1e16, it would be rounded: `9007199254740993`",
            ),
            (integer, "3 3 1\n1 2 +\n", "3:5: a weight has to be a finite number: `+`"),
            (real, "3 3 1\n1 2 nan\n", "3:5: a value has to be a finite number: `nan`"),
            (real, "3 3 1\n1 2 1e999\n", "3:5: a value has to be a finite number: `1e999`"),
            (real, "3 3 1\n1 2 -inf\n", "3:5: a value has to be a finite number: `-inf`"),
        ] {
            assert_rejected(Format::MatrixMarket, format!("{banner}{rest}"), &format!("test:{message}"));
        }
    }

    #[test]
    fn mutations_are_survived() {
        let integer = b"%%MatrixMarket matrix coordinate integer symmetric\n% c\n4 4 4\n2 1 5\n3 2 -7\n3 3 1\n4 1 0\n";
        survive_mutations(Format::MatrixMarket, integer, 1);
        let real = b"%%MatrixMarket matrix coordinate real general\n4 4 3\n2 1 5.5\n3 2 -7e3\n3 3 1\n";
        survive_mutations(Format::MatrixMarket, real, 2);
    }
}
