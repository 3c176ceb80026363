//! `.graph`: the format of METIS and Chaco. A header `n m [fmt [ncon]]`, then one line a vertex with its neighbours,
//! counted from 1. Each edge stands on the lines of both of its ends. Lines that begin with `%` are comments; an empty
//! line is a vertex without neighbours.
//!
//! The three digits of `fmt` say what else a line holds: a size (100), `ncon` weights of the vertex (10), a weight
//! after each neighbour (1). Only the last matters here; the others are read and skipped. Edge weights are integers.
//!
//! The lines are parsed in parallel, in chunks that do not know their first vertex. Then the neighbours and degrees of
//! all chunks are concatenated.

use std::io::Write;

use rayon::prelude::*;

use super::entry::FormatEntry;
use super::rows::{Rows, vertex_count, wants_weights};
use super::text::{Held, Lines, Malformed, Parsed, Piece, Text, count_lines, parse_pieces, unsigned, words};
use super::{Opened, ReadOptions, stream_error};
use crate::graph::{Direction, Graph, Labels, Unit, VertexId, Weight, Weights};
use crate::memory::{self, allocation::bytes_of};
use crate::{Error, Result};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "metis",
    extensions: &["graph", "metis", "chaco"],
    holds: "undirected graphs without self-loops, whose weights are integers from 0",
    numbers_from: Some(1),
    is_binary: false,
    is_announced: |_| false,
    read: |opened, options| read(Text::new(opened, options), options),
    write: Some(|graph, _, out| write(graph, out)),
};

/// Whether a text without a known extension looks like METIS: a first line of two to four numbers, then lines of
/// different lengths, as many as the first line announces vertices.
pub(super) fn is_resembled(opened: &Opened) -> Result<bool> {
    let sample = opened.sample();
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

/// The parsed header.
#[derive(Debug, Clone, Copy)]
struct Header<'a> {
    vertices: usize,
    edges: u64,
    /// The number of edges as text, for errors.
    edges_token: &'a [u8],
    vertices_token: &'a [u8],
    /// Numbers at the start of each line that are no neighbours.
    skipped: usize,
    weighted: bool,
}

/// Reads a graph; undirected, its vertices named from 1. Weights are `u32`.
///
/// # Errors
///
/// If the header is impossible, a neighbour or weight is out of range, the number of lines is not the number of
/// vertices, an edge does not stand on the lines of both ends, or the number of edges is not as announced.
fn read(text: Text, options: &ReadOptions) -> Result<Graph> {
    let beginning = text.beginning(|beginning| read_header(beginning).is_ok())?;
    let head = text.piece(&beginning);
    let (header, body) = read_header(&beginning).map_err(|malformed| text.locate(head.fault(&malformed)))?;
    let edges = header.edges;
    if header.weighted && wants_weights(options)? {
        let weight_of = |weight| u32::try_from(weight).ok();
        let rows: Rows<u32> = read_lines(&text, head, head.offset_of(body), header, options, weight_of)?;
        drop(beginning);
        build(rows, edges, text, options)
    } else {
        let rows: Rows<Unit> = read_lines(&text, head, head.offset_of(body), header, options, |_| Some(Unit))?;
        drop(beginning);
        build(rows, edges, text, options)
    }
}

fn build<W: Weight>(rows: Rows<W>, edges: u64, text: Text, options: &ReadOptions) -> Result<Graph> {
    text.close()?;
    let labels = Labels::range(1, rows.offsets.len() as u64 - 1);
    rows.into_graph(Direction::Undirected, labels, Some(edges), options)
}

fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b"%")
}

fn read_header(text: &[u8]) -> Parsed<'_, (Header<'_>, &[u8])> {
    let mut lines = Lines::new(text);
    let Some(line) = lines.by_ref().find(|line| !is_comment(line) && words(line).next().is_some()) else {
        return Err(Malformed::new(
            &text[text.len()..],
            "there is no header: it gives the numbers of vertices and edges",
        ));
    };
    let tokens: Vec<&[u8]> = words(line).collect();
    if tokens.len() < 2 || tokens.len() > 4 {
        return Err(Malformed::new(line, "a METIS header is `vertices edges [format [weights a vertex]]`"));
    }
    let number = |token| unsigned(token).ok_or_else(|| Malformed::new(token, "a number is needed here"));
    let vertices = vertex_count(number(tokens[0])?).map_err(|error| Malformed::new(tokens[0], error.message))?;
    let edges = number(tokens[1])?;
    let (mut sizes, mut vertex_weights, mut weighted) = (false, false, false);
    if let Some(&format) = tokens.get(2) {
        if format.len() > 3 || format.iter().any(|digit| !b"01".contains(digit)) {
            return Err(Malformed::new(format, "the format of a METIS file is three digits, each 0 or 1"));
        }
        let digit = |from_end: usize| format.iter().rev().nth(from_end) == Some(&b'1');
        (sizes, vertex_weights, weighted) = (digit(2), digit(1), digit(0));
    }
    let mut skipped = usize::from(sizes);
    match tokens.get(3) {
        None => skipped += usize::from(vertex_weights),
        Some(&token) => {
            let count = number(token)?;
            if (count > 0) != vertex_weights {
                return Err(Malformed::new(token, "the number of weights a vertex contradicts the format before it"));
            }
            skipped = skipped.saturating_add(usize::try_from(count).unwrap_or(usize::MAX));
        }
    }
    let header = Header { vertices, edges, edges_token: tokens[1], vertices_token: tokens[0], skipped, weighted };
    Ok((header, lines.rest()))
}

/// The lines of a chunk: their neighbours, with weights, and how many each has.
struct Chunk<W> {
    degrees: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W: Weight> Held for Chunk<W> {
    fn held_bytes(&self) -> u64 {
        let weights = bytes_of::<W>(self.weights.capacity());
        bytes_of::<u64>(self.degrees.capacity()) + bytes_of::<VertexId>(self.targets.capacity()) + weights
    }
}

fn parse_chunk<'a, W: Weight>(
    chunk: &'a [u8],
    header: Header<'_>,
    weight_of: impl Fn(u64) -> Option<W>,
) -> Parsed<'a, Chunk<W>> {
    let mut parsed = Chunk { degrees: Vec::new(), targets: Vec::new(), weights: Vec::new() };
    for line in Lines::new(chunk).filter(|line| !is_comment(line)) {
        let before = parsed.targets.len();
        let mut tokens = words(line);
        for index in 0..header.skipped {
            match tokens.next() {
                Some(token) if unsigned(token).is_some() => {}
                Some(token) => return Err(Malformed::new(token, "the weights of a vertex are integers, 0 or more")),
                // May be a blank line after the last vertex; a blank line of a vertex is found too short later.
                None if index == 0 => break,
                None => return Err(Malformed::new(line, "the line is too short to hold the weights of its vertex")),
            }
        }
        while let Some(token) = tokens.next() {
            let neighbor = unsigned(token).filter(|&v| 1 <= v && v <= header.vertices as u64).ok_or_else(|| {
                Malformed::new(token, format!("a neighbour is a vertex from 1 to {}", header.vertices))
            })?;
            let weight = if header.weighted {
                let token =
                    tokens.next().ok_or_else(|| Malformed::new(token, "the weight of this neighbour is missing"))?;
                unsigned(token)
                    .and_then(&weight_of)
                    .ok_or_else(|| Malformed::new(token, format!("a weight is an integer from 0 to {}", u32::MAX)))?
            } else {
                W::default()
            };
            parsed.targets.push((neighbor - 1) as VertexId);
            parsed.weights.push(weight);
        }
        parsed.degrees.push((parsed.targets.len() - before) as u64);
    }
    Ok(parsed)
}

fn read_lines<W: Weight>(
    text: &Text,
    head: Piece<'_>,
    body: u64,
    header: Header<'_>,
    options: &ReadOptions,
    weight_of: impl Fn(u64) -> Option<W> + Sync,
) -> Result<Rows<W>> {
    let chunks = parse_pieces(text, body, &options.control, |piece| parse_chunk(piece.bytes, header, &weight_of))?;
    let lines: usize = chunks.iter().map(|chunk| chunk.degrees.len()).sum();
    if lines < header.vertices {
        let message = format!("{} vertices are announced, but there are {lines} lines for them", header.vertices);
        return Err(text.locate(head.fault(&Malformed::new(header.vertices_token, message))));
    }
    if lines > header.vertices {
        let message = format!("there are more lines than the {} vertices announced", header.vertices);
        let mut before = 0;
        // Blank lines after the last vertex do no harm.
        let is_surplus = |line: &[u8]| {
            before += usize::from(!is_comment(line));
            before > header.vertices && !is_comment(line) && words(line).next().is_some()
        };
        if let Some(fault) = text.find_line(&text.pieces(body)?, is_surplus, &message)? {
            return Err(text.locate(fault));
        }
    }
    let arcs = chunks.iter().map(|chunk| chunk.targets.len()).sum();
    let rows_bytes = bytes_of::<u64>(header.vertices + 1) + bytes_of::<VertexId>(arcs) + bytes_of::<W>(arcs);
    text.check_room(chunks.iter().map(Held::held_bytes).sum::<u64>() + rows_bytes)?;
    let mut offsets = memory::with_capacity("offsets of vertices", header.vertices + 1)?;
    let mut end = 0;
    offsets.push(end);
    for degree in chunks.iter().flat_map(|chunk| &chunk.degrees).take(header.vertices) {
        end += degree;
        offsets.push(end);
    }
    let mut targets = memory::with_capacity("heads of arcs", arcs)?;
    let mut weights = memory::with_capacity("weights of arcs", arcs)?;
    for chunk in chunks {
        targets.extend(chunk.targets);
        weights.extend(chunk.weights);
    }
    let rows = Rows { offsets, targets, weights };
    let loops = rows.self_loops();
    // METIS has no loops; where they occur anyway, some count them once and some twice.
    if u128::from(end) != 2 * u128::from(header.edges) && (end - loops) / 2 + loops != header.edges {
        let message =
            format!("{} edges are announced, but there are {end} neighbours, not twice as many", header.edges);
        return Err(text.locate(head.fault(&Malformed::new(header.edges_token, message))));
    }
    Ok(rows)
}

/// Writes an undirected graph.
///
/// # Errors
///
/// If the graph has something that the format lacks: direction, self-loops, negative or decimal weights.
fn write(graph: &Graph, out: &mut dyn Write) -> Result<()> {
    if graph.is_directed() {
        return Err(Error::invalid("METIS files hold undirected graphs only, and this one is directed"));
    }
    let csr = graph.csr();
    if let Some(v) = (0..graph.vertices() as VertexId).into_par_iter().find_first(|v| csr.neighbors(*v).contains(v)) {
        return Err(Error::invalid(format!(
            "METIS files have no self-loops, and vertex {} has one; they can be dropped",
            graph.name(v)
        )));
    }
    match graph.weights() {
        Weights::F32(_) | Weights::F64(_) => {
            return Err(Error::invalid("METIS files have integer weights only, and the graph's are decimal"));
        }
        Weights::I32(_) if graph.has_negative_weights() => {
            return Err(Error::invalid("METIS files have no negative weights, and the graph has some"));
        }
        _ => {}
    }
    write_lines(graph, out).map_err(stream_error)
}

fn write_lines(graph: &Graph, out: &mut dyn Write) -> std::io::Result<()> {
    let csr = graph.csr();
    let weights: Option<&[u32]> = match csr.weights() {
        Weights::U32(values) => Some(values),
        Weights::I32(values) => Some(bytemuck::cast_slice(values)),
        _ => None,
    };
    let format = if weights.is_some() { " 1" } else { "" };
    writeln!(out, "{} {}{format}", graph.vertices(), graph.arcs() / 2)?;
    for v in 0..graph.vertices() as VertexId {
        for arc in csr.row(v) {
            let separator = if arc == csr.row(v).start { "" } else { " " };
            write!(out, "{separator}{}", u64::from(csr.targets()[arc]) + 1)?;
            if let Some(weights) = weights {
                write!(out, " {}", weights[arc])?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_graphs, assert_rejected, assert_same, read_like, survive_mutations, written};
    use super::super::{Format, ReadOptions, WeightSource};
    use super::*;
    use crate::graph::WeightKind;
    use crate::testing::size;

    fn read_text(text: &str) -> Result<Graph> {
        ReadOptions::new().format(Format::Metis).read_bytes("test", text.as_bytes().to_vec())
    }

    #[test]
    fn graphs_come_back() {
        let mut written_graphs = 0;
        for (name, graph) in all_graphs() {
            let loops = graph.edges().any(|(u, v, _)| u == v);
            let decimal = matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64);
            match written(&graph, Format::Metis) {
                Ok(bytes) => {
                    assert!(!graph.is_directed() && !loops && !decimal, "{name}");
                    assert_same(&read_like(&graph, Format::Metis, bytes).unwrap(), &graph, &name);
                    written_graphs += 1;
                }
                Err(error) => {
                    assert!(graph.is_directed() || loops || decimal, "{name}: {error}");
                    assert!(matches!(error, Error::InvalidRequest(_)), "{name}: {error}");
                }
            }
        }
        assert!(written_graphs > size(15, 0));
    }

    #[test]
    fn vertex_weights_and_sizes_are_skipped() {
        // The example of the METIS manual, in all of its forms.
        let plain = "7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n";
        let weighted = "% a comment\n7 11 001\n5 1 3 2 2 1\n1 1 3 2 4 1\n5 3 4 2 2 2 1 2\n% another\n2 1 3 2 6 2 7 5\n\
                        1 1 3 3 6 2\n5 2 4 2 7 6\n6 6 4 5\n\n  \n";
        let both = "7 11 011\n4 5 1 3 2 2 1\n2 1 1 3 2 4 1\n5 5 3 4 2 2 2 1 2\n3 2 1 3 2 6 2 7 5\n1 1 1 3 3 6 2\n\
                    6 5 2 4 2 7 6\n2 6 6 4 5\n";
        let several = "7 11 110 3\n9 1 2 0 5 3 2\n9 0 2 2 1 3 4\n9 4 1 1 5 4 2 1\n9 2 2 3 2 3 6 7\n9 1 1 1 1 3 6\n\
                       9 2 2 1 5 4 7\n9 1 2 1 6 4";
        let expected = read_text(plain).unwrap();
        assert_eq!((expected.vertices(), expected.arcs()), (7, 22));
        assert_eq!(expected.neighbors(0), [1, 2, 4]);
        assert_eq!(expected.input_counts().lines, 11);
        assert_eq!(expected.name(6), "7");
        assert_same(&read_text(several).unwrap(), &expected, "several vertex weights");
        let weights = read_text(weighted).unwrap();
        assert_eq!(weights.edges().take(3).collect::<Vec<_>>(), [(0, 1, 1.0), (0, 2, 2.0), (0, 4, 1.0)]);
        assert_eq!(weights.weight_kind(), WeightKind::U32);
        assert_same(&read_text(both).unwrap(), &weights, "vertex and edge weights");
        let unit = ReadOptions::new().format(Format::Metis).weights(WeightSource::Unit);
        assert_same(&unit.read_bytes("test", weighted.as_bytes().to_vec()).unwrap(), &expected, "weights skipped");
        let isolated = read_text("3 1\n\n3\n2\n").unwrap();
        assert_eq!((isolated.vertices(), isolated.arcs(), isolated.degree(0)), (3, 2, 0));
    }

    #[test]
    fn malformed_files_are_rejected_where_they_are_wrong() {
        for (text, message) in [
            ("", "test:1:1: there is no header: it gives the numbers of vertices and edges"),
            ("% only\n", "test:2:1: there is no header: it gives the numbers of vertices and edges"),
            ("3\n", "test:1:1: a METIS header is `vertices edges [format [weights a vertex]]`: `3`"),
            ("3 x\n", "test:1:3: a number is needed here: `x`"),
            ("2 1 7\n2\n1\n", "test:1:5: the format of a METIS file is three digits, each 0 or 1: `7`"),
            ("2 1 1 2\n2\n1\n", "test:1:7: the number of weights a vertex contradicts the format before it: `2`"),
            (
                "5000000000 1\n",
                "test:1:1: 5000000000 vertices are too many; at most 4294967294 are possible: `5000000000`",
            ),
            ("2 1\n2\n", "test:1:1: 2 vertices are announced, but there are 1 lines for them: `2`"),
            (
                "4000000000 1\n2\n",
                "test:1:1: 4000000000 vertices are announced, but there are 1 lines for them: `4000000000`",
            ),
            ("2 1\n2\n1\n\n1\n", "test:5:1: there are more lines than the 2 vertices announced: `1`"),
            ("2 2\n2\n1\n", "test:1:3: 2 edges are announced, but there are 2 neighbours, not twice as many: `2`"),
            ("2 1\n3\n1\n", "test:2:1: a neighbour is a vertex from 1 to 2: `3`"),
            ("2 1\n2\n0\n", "test:3:1: a neighbour is a vertex from 1 to 2: `0`"),
            ("2 1\n2\n-1\n", "test:3:1: a neighbour is a vertex from 1 to 2: `-1`"),
            ("2 1 1\n2\n1 5\n", "test:2:1: the weight of this neighbour is missing: `2`"),
            ("2 1 1\n2 5\n1 -5\n", "test:3:3: a weight is an integer from 0 to 4294967295: `-5`"),
            ("2 1 1\n2 4294967296\n1 1\n", "test:2:3: a weight is an integer from 0 to 4294967295: `4294967296`"),
            ("2 1 10\n1 2\nx 1\n", "test:3:1: the weights of a vertex are integers, 0 or more: `x`"),
            ("2 1 10 2\n1 1 2\n1\n", "test:3:1: the line is too short to hold the weights of its vertex: `1`"),
            ("3 1\n2\n3\n\n", "test: the graph is undirected, but the edge from 1 to 2 lacks its reverse"),
            (
                "2 1 1\n2 5\n1 6\n",
                "test: the graph is undirected, but the edge from 1 to 2 of weight 5 lacks its reverse",
            ),
        ] {
            assert_rejected(Format::Metis, text, message);
        }
    }

    #[test]
    fn mutations_are_survived() {
        survive_mutations(Format::Metis, b"4 4 11 1\n7 2 5 3 6\n7 1 5 3 1\n7 1 6 2 1 4 9\n7 3 9\n", 1);
        survive_mutations(Format::Metis, b"% c\n5 4\n2 3\n1 3\n1 2 4\n3\n\n", 2);
    }
}
