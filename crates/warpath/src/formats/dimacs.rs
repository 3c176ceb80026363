//! DIMACS: a problem line, then a letter and numbers on each line, vertices counted from 1.
//!
//! `p sp V E` with arcs `a u v w` is the directed format of the 9th DIMACS challenge (road networks). `p edge V E` or
//! `p col V E` with edges `e u v` is the undirected format of the 2nd challenge (colouring); a weight may follow.
//! Comments start with `c`. Lines that describe vertices (`n`, `d`, `v`, `x`) are skipped. [`pace`](super::pace) shares
//! the parser.
//!
//! Sources: <http://www.diag.uniroma1.it/challenge9/format.shtml>; Johnson and Trick (eds.), *Cliques, Coloring, and
//! Satisfiability: Second DIMACS Implementation Challenge*, 1993.

use std::io::Write;

use super::entry::FormatEntry;
use super::rows::{plan_vertices, too_many_isolated, wants_weights};
use super::text::{Lines, Malformed, Parsed, Piece, Shown, Text, digits, parse_pieces, unsigned, words};
use super::weight_column::{self, WeightColumn, WeightedChunk};
use super::{Opened, ReadOptions, stream_error};
use crate::graph::{Direction, Graph, Labels, MAX_VERTICES, VertexId, WeightKind, with_weights};
use crate::{Result, graph::Weight};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "dimacs",
    extensions: &["gr", "col", "dimacs", "clq"],
    holds: "every graph, an undirected one with weights as its arcs",
    numbers_from: Some(1),
    is_binary: false,
    is_announced: |opened| announced(opened) == Some(Dialect::Dimacs),
    read: |opened, options| read_problem(Text::new(opened, options), options, Dialect::Dimacs),
    write: Some(|graph, _, out| write(graph, out)),
};

/// The formats that have a problem line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Edges start with a letter.
    Dimacs,
    /// Edges are bare, and undirected.
    Pace,
}

/// The dialect that a `p` line announces, if there is one.
pub(super) fn announced(opened: &Opened) -> Option<Dialect> {
    let mut lines = Lines::new(opened.sample()).filter(|line| words(line).next().is_some());
    let problem = lines.by_ref().find(|line| words(line).next() != Some(b"c"))?;
    let mut parts = words(problem);
    let is_problem = parts.next() == Some(b"p") && parts.next().is_some_and(|kind| kind[0].is_ascii_alphabetic());
    if !is_problem || unsigned(parts.next()?).is_none() {
        return None;
    }
    // DIMACS lines start with a letter, PACE lines with a vertex.
    let kind = words(problem).nth(1)?;
    match lines.find(|line| words(line).next() != Some(b"c")) {
        Some(line) if words(line).next()?[0].is_ascii_digit() => Some(Dialect::Pace),
        Some(_) => Some(Dialect::Dimacs),
        None if [&b"sp"[..], b"edge", b"col", b"max", b"aux"].contains(&kind) => Some(Dialect::Dimacs),
        None => Some(Dialect::Pace),
    }
}

/// The parsed problem line.
struct Problem<'a> {
    line: &'a [u8],
    direction: Direction,
    vertices: u64,
    edges: u64,
}

/// The shape of edge lines; all have the shape of the first.
#[derive(Clone, Copy)]
struct Shape {
    dialect: Dialect,
    vertices: u64,
    has_weights: bool,
    keep_weights: bool,
}

pub(super) fn read_problem(text: Text, options: &ReadOptions, dialect: Dialect) -> Result<Graph> {
    let wants_weights = wants_weights(options)?;
    fn first_edge(body: &[u8], dialect: Dialect) -> Option<&[u8]> {
        Lines::new(body).find(|line| !is_skipped(line, dialect))
    }
    let beginning = text.beginning(|beginning| {
        let mut lines = Lines::new(beginning);
        problem_line(&mut lines, dialect).is_ok() && first_edge(lines.rest(), dialect).is_some()
    })?;
    let head = text.piece(&beginning);
    let located = |malformed: Malformed<'_>| text.locate(head.fault(&malformed));
    let mut lines = Lines::new(&beginning);
    let problem = problem_line(&mut lines, dialect).map_err(located)?;
    if let Some(message) = too_many_isolated(problem.vertices, text.length(), options) {
        return Err(located(Malformed::new(problem.line, message)));
    }
    plan_vertices(problem.vertices, 0, options)?;
    let body = lines.rest();
    let first = first_edge(body, dialect);
    let columns = first.map_or(0, |line| words(line).count() - usize::from(dialect == Dialect::Dimacs));
    let has_weights = columns > 2;
    let keep_weights = has_weights && wants_weights;
    let shape = Shape { dialect, vertices: problem.vertices, has_weights, keep_weights };
    let chunks = parse_pieces(&text, head.offset_of(body), &options.control, |piece| parse_edges(piece, shape))?;
    let edges: u64 = chunks.iter().map(|chunk| chunk.edges.len() as u64).sum();
    if edges != problem.edges {
        let message = format!("the header announces {} edges, but the file has {edges}", problem.edges);
        return Err(located(Malformed::new(problem.line, message)));
    }
    let builder = options.builder(problem.direction).labels(Labels::range(1, problem.vertices));
    let lists = weight_column::settle(|fault| text.locate(fault), chunks, options)?;
    drop(beginning);
    text.close()?;
    lists.build(builder)
}

fn problem_line<'a>(lines: &mut Lines<'a>, dialect: Dialect) -> Parsed<'a, Problem<'a>> {
    let all = lines.rest();
    let is_comment = |line: &[u8]| words(line).next().is_none_or(|word| word == b"c");
    let Some(line) = lines.find(|line| !is_comment(line)) else {
        return Err(Malformed::new(&all[all.len()..], "the header line `p KIND VERTICES EDGES` is missing"));
    };
    let parts: Vec<&[u8]> = words(line).collect();
    let [b"p", kind, vertices, edges] = parts[..] else {
        return Err(Malformed::new(line, "a header line `p KIND VERTICES EDGES` is expected"));
    };
    let direction = match (dialect, kind) {
        (Dialect::Dimacs, b"sp") => Direction::Directed,
        (Dialect::Dimacs, b"edge" | b"edges" | b"col") | (Dialect::Pace, _) => Direction::Undirected,
        _ => return Err(Malformed::new(kind, "the kinds of problem known are sp, edge and col")),
    };
    let count = |token| unsigned(token).ok_or_else(|| Malformed::new(token, "a number is expected"));
    let problem = Problem { line, direction, vertices: count(vertices)?, edges: count(edges)? };
    if problem.vertices > MAX_VERTICES {
        return Err(Malformed::new(vertices, format!("at most {MAX_VERTICES} vertices are possible")));
    }
    Ok(problem)
}

/// Whether a line holds no edge: blank, a comment, or something about a vertex.
fn is_skipped(line: &[u8], dialect: Dialect) -> bool {
    match words(line).next() {
        None | Some(b"c") => true,
        Some(b"n" | b"d" | b"v" | b"x") => dialect == Dialect::Dimacs,
        Some(_) => false,
    }
}

fn parse_edges(all: Piece<'_>, shape: Shape) -> Parsed<'_, WeightedChunk> {
    let piece = all.bytes;
    let mut edges = Vec::with_capacity(piece.len() / 12);
    let mut weights = WeightColumn::new();
    if shape.keep_weights {
        weights.reserve(piece.len() / 12);
    }
    let mut at = 0;
    while at < piece.len() {
        if let Some((edge, weight, end)) = plain_edge(piece, at, shape) {
            edges.push(edge);
            if shape.keep_weights {
                weights.push_unsigned(weight);
            }
            at = end + 1;
            continue;
        }
        let line = Lines::new(&piece[at..]).next().unwrap_or_default();
        at += piece[at..].iter().position(|&byte| byte == b'\n').map_or(piece.len() - at, |end| end + 1);
        if !is_skipped(line, shape.dialect) {
            edges.push(any_edge(line, all, shape, &mut weights)?);
        }
    }
    Ok(WeightedChunk { edges, weights: shape.keep_weights.then_some(weights) })
}

/// The edge on a line in the usual form, and its line end: single blanks, no sign, a weight of up to eight digits.
#[inline]
fn plain_edge(piece: &[u8], start: usize, shape: Shape) -> Option<((VertexId, VertexId), u32, usize)> {
    let mut at = start;
    if shape.dialect == Dialect::Dimacs {
        if !matches!(piece.get(at..at + 2)?, b"a " | b"e ") {
            return None;
        }
        at += 2;
    }
    let (u, end) = digits(piece, at);
    if *piece.get(end)? != b' ' {
        return None;
    }
    let (v, mut end) = digits(piece, end + 1);
    let mut weight = 0;
    if shape.has_weights {
        if *piece.get(end)? != b' ' {
            return None;
        }
        let start = end + 1;
        (weight, end) = digits(piece, start);
        if end == start || end > start + 8 {
            return None;
        }
    }
    // A missing number reads as 0, which is no vertex.
    let valid = |vertex: u64| (1..=shape.vertices).contains(&vertex);
    (*piece.get(end)? == b'\n' && valid(u) && valid(v))
        .then(|| (((u - 1) as VertexId, (v - 1) as VertexId), weight as u32, end))
}

/// The edge on any line, or its fault.
fn any_edge<'p>(
    line: &'p [u8],
    piece: Piece<'p>,
    shape: Shape,
    weights: &mut WeightColumn,
) -> Parsed<'p, (VertexId, VertexId)> {
    let expected = match (shape.dialect, shape.has_weights) {
        (Dialect::Dimacs, false) => "`a` or `e` and two vertices are expected, as on the first line of edges",
        (Dialect::Dimacs, true) => "`a` or `e`, two vertices and a weight are expected, as on the first line of edges",
        (Dialect::Pace, false) => "two vertices are expected, as on the first line of edges",
        (Dialect::Pace, true) => "two vertices and a weight are expected, as on the first line of edges",
    };
    let mut parts = words(line);
    let starts_right = shape.dialect == Dialect::Pace || matches!(parts.next(), Some(b"a" | b"e"));
    let (Some(u), Some(v), true) = (parts.next(), parts.next(), starts_right) else {
        return Err(Malformed::new(line, expected));
    };
    let weight = parts.next();
    if weight.is_some() != shape.has_weights || parts.next().is_some() {
        return Err(Malformed::new(line, expected));
    }
    let vertex = |token| match unsigned(token) {
        Some(vertex) if (1..=shape.vertices).contains(&vertex) => Ok((vertex - 1) as VertexId),
        _ => Err(Malformed::new(token, format!("a vertex from 1 to {} is expected", shape.vertices))),
    };
    let edge = (vertex(u)?, vertex(v)?);
    if let Some(token) = weight.filter(|_| shape.keep_weights) {
        weights.push(token, piece)?;
    }
    Ok(edge)
}

/// Writes undirected graphs without weights under `p edge`, all others as arcs under `p sp`: an undirected edge as two
/// arcs, unit weights as 1. Vertices are numbered from 1; their names are lost.
fn write(graph: &Graph, out: &mut dyn Write) -> Result<()> {
    if !graph.is_directed() && graph.weight_kind() == WeightKind::Unit {
        return write_undirected(graph, "edge", "e ", out);
    }
    writeln!(out, "p sp {} {}", graph.vertices(), graph.arcs()).map_err(stream_error)?;
    with_weights!(graph.weights(), values => write_arcs(graph, values, out)).map_err(stream_error)
}

fn write_arcs<W: Weight>(graph: &Graph, weights: &[W], out: &mut dyn Write) -> std::io::Result<()> {
    for u in 0..graph.vertices() as VertexId {
        for arc in graph.csr().row(u) {
            let (v, weight) = (graph.csr().targets()[arc], weights[arc]);
            writeln!(out, "a {} {} {}", u64::from(u) + 1, u64::from(v) + 1, Shown(weight))?;
        }
    }
    Ok(())
}

/// Writes the edges of an undirected graph, each once, after a problem line of this kind.
pub(super) fn write_undirected(graph: &Graph, kind: &str, prefix: &str, out: &mut dyn Write) -> Result<()> {
    let edges = || (0..graph.vertices() as VertexId).map(|u| (u, once(graph, u)));
    let count: usize = edges().map(|(_, heads)| heads.len()).sum();
    writeln!(out, "p {kind} {} {count}", graph.vertices()).map_err(stream_error)?;
    for (u, heads) in edges() {
        for &v in heads {
            writeln!(out, "{prefix}{} {}", u64::from(u) + 1, u64::from(v) + 1).map_err(stream_error)?;
        }
    }
    Ok(())
}

/// The heads of the arcs of `u` that stand for their edge: the heads from `u` on.
fn once(graph: &Graph, u: VertexId) -> &[VertexId] {
    let heads = graph.neighbors(u);
    &heads[heads.partition_point(|&v| v < u)..]
}
