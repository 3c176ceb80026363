//! `.mtx`: Matrix Market coordinate files (Boisvert, Pozo, Remington, 1996). A banner, comments, a line with the numbers
//! of rows, columns and entries, then a line `row column [value]` for each entry, counted from 1.
//!
//! A symmetric matrix is an undirected graph, of which the file holds one triangle; a general one is directed, from row
//! to column. Integers become `u32`, or `i32` if any is negative; reals become `f64`; patterns have no weights.
//!
//! Copies of well-known files exist with one `%` before the banner, and without everything above the entries. The first
//! is read like any other; the second only when the format is named, as a symmetric pattern.

use std::io::Write;

use super::rows::{plan_vertices, vertex_count, wants_weights};
use super::text::{Lines, Malformed, Parsed, finite, parse_chunks, unsigned, without_bom, words};
use super::weight_column::{WeightColumn, WeightedChunk, build};
use super::{Format, Input, ReadOptions, stream_error};
use crate::graph::{Direction, EdgeList, Graph, Labels, VertexId, Weight, Weights, with_weights};
use crate::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Pattern,
    Integer,
    Real,
}

/// What stands above the entries.
#[derive(Debug, Clone, Copy)]
struct Header<'a> {
    field: Field,
    symmetric: bool,
    /// Rows, which are as many as columns, and entries, with the line that says so; `None` in a file without header.
    size: Option<(usize, u64, &'a [u8])>,
}

/// Reads a graph, its vertices named from 1.
///
/// # Errors
///
/// If the banner names a kind of matrix that is no graph, the matrix is not square, an entry is out of range or its
/// value not finite, or the entries are not as many as announced.
pub(super) fn read(input: &Input, options: &ReadOptions) -> Result<Graph> {
    let text = without_bom(input.bytes());
    let bare = options.format == Some(Format::MatrixMarket);
    let (header, body) = read_header(text, bare).map_err(|malformed| malformed.locate(text))?;
    let with_weights = header.field != Field::Pattern && wants_weights(options)?;
    let limit = header.size.map_or(crate::graph::MAX_VERTICES, |(vertices, ..)| vertices as u64);
    let entries = |chunk| Entries { lines: Lines::new(chunk), field: header.field, limit };

    let mut builder = options.builder(if header.symmetric { Direction::Undirected } else { Direction::Directed });
    if header.symmetric {
        // The file holds half of the arcs, whatever direction the graph is to have in the end.
        builder = builder.direction(Direction::Undirected);
    }
    let check = |found: u64| match header.size {
        Some((_, announced, line)) if announced != found => {
            let message = format!("{announced} entries are announced, but there are {found}");
            Err(Error::from(Malformed::new(line, message).locate(text)))
        }
        _ => Ok(()),
    };
    let named = |builder: crate::GraphBuilder, greatest: Option<VertexId>| {
        let vertices = header.size.map_or(greatest.map_or(0, |v| u64::from(v) + 1), |(vertices, ..)| vertices as u64);
        plan_vertices(vertices)?;
        Ok::<_, Error>(builder.labels(Labels::range(1, vertices)))
    };
    let greatest = |edges: &[(VertexId, VertexId)]| edges.iter().map(|&(u, v)| u.max(v)).max();

    let graph = if header.field == Field::Real && with_weights {
        let lists = parse_chunks(text, body, &options.control, |chunk| {
            let mut list = EdgeList::new();
            for entry in entries(chunk) {
                let (row, column, token) = entry?;
                let value = finite(token).ok_or_else(|| Malformed::new(token, "a value has to be a finite number"))?;
                list.push(row, column, value);
            }
            Ok(list)
        })?;
        check(lists.iter().map(|list| list.len() as u64).sum())?;
        let greatest = lists.iter().filter_map(|list| greatest(&list.edges)).max();
        named(builder, greatest)?.build(lists)?
    } else {
        let chunks = parse_chunks(text, body, &options.control, |chunk| {
            let mut edges = Vec::new();
            let mut weights = with_weights.then(WeightColumn::new);
            for entry in entries(chunk) {
                let (row, column, token) = entry?;
                edges.push((row, column));
                if let Some(weights) = &mut weights {
                    if !token.iter().skip(usize::from(b"+-".contains(&token[0]))).all(u8::is_ascii_digit) {
                        return Err(Malformed::new(token, "a value of an integer matrix has to be an integer"));
                    }
                    weights.push(token)?;
                }
            }
            Ok(WeightedChunk { edges, weights })
        })?;
        check(chunks.iter().map(|chunk| chunk.edges.len() as u64).sum())?;
        let greatest = chunks.iter().filter_map(|chunk| greatest(&chunk.edges)).max();
        build(named(builder, greatest)?, text, chunks)?
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
        choices.iter().position(|choice| token.eq_ignore_ascii_case(choice.as_bytes())).ok_or_else(|| {
            Malformed::new(token, format!("{what} has to be {} to be a graph", choices.join(" or ")))
        })
    };
    choose(&["matrix"], "the object")?;
    choose(&["coordinate"], "the format")?;
    let field = choose(&["pattern", "integer", "real", "double"], "the type of values")?;
    let field = [Field::Pattern, Field::Integer, Field::Real, Field::Real][field];
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
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> Result<()> {
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
            let start = csr.row(row).start;
            for arc in start..start + count(row) {
                let column = csr.targets()[arc];
                write!(out, "{} {}", u64::from(row) + 1, u64::from(column) + 1)?;
                write_value(weights[arc], out)?;
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
