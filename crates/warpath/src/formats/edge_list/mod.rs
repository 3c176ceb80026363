//! Edge lists, as SNAP, Network Repository, KONECT, spreadsheets and scripts write them: two vertices on a line, then
//! perhaps a weight and other columns.
//!
//! Nothing announces the layout of a list, so it is found from the first lines: the separator of columns, the number of
//! columns, and whether the first line is a header, whose names then tell which columns hold the ends and the weight.
//! A list that can be read in several ways is refused, with the option for each way. All later lines must have the same
//! layout. Lines that start with `#` or `%` are comments.
//!
//! **Names.** If all names are integers, vertices are numbered in their ascending order; a range without gaps needs no
//! table. Otherwise names are strings, numbered in the order of their first appearance. Integers are tried first, in 32
//! bits and then in 64: each attempt that fails costs a part of a pass over the file.
//!
//! **Vertices without edges** survive if the number of vertices is declared: by a first line of counts, or by a comment
//! `# Nodes: V` that fits. [`write()`] adds `Ids: FIRST..LAST` after it, and comments `# Node: NAME`, so that its files
//! read back as the same graph. A comment that starts with `# Undirected graph` makes the list undirected; so does a
//! header that names the ends `endpoint1` and `endpoint2`.
//!
//! **Cost.** One pass over the text, in chunks on all threads; a line of two or three short numbers takes no branch
//! that depends on their digits. Then one pass over the edges finds the names in use, and another renames if there are
//! gaps.
//!
//! *Parts.* `columns` splits a line; `layout` finds the form of the lines, with `separator` and `header`; `lines` reads
//! the edges; `integers` and `strings` number the vertices; `share` and, for names of text, `words` read a part
//! of a list; `write` is the writer.

mod columns;
mod header;
mod integers;
mod layout;
mod lines;
mod separator;
mod share;
mod strings;
mod words;
mod write;

use std::ops::Range;

use integers::name_integers;
use layout::{Comments, IS_HEADER_OR_EDGE, Layout, is_skipped};
pub(super) use lines::integer_name;
use lines::{Attempt, parse_pieces};
pub use share::{EdgesByName, EdgesInAll, Numbering, StoredEdges};
// What lists in columnar files share with lists of text.
use strings::{name_strings, text_of};
pub use words::EdgesByWord;
use write::write;
#[cfg(feature = "parquet")]
pub(super) use {
    header::{Roles, roles},
    integers::number_integers,
    layout::{MIXED_DIRECTIONS, SAMPLED_LINES, direction_of},
    lines::{IntegerName, NamedChunk},
};

use super::entry::FormatEntry;
use super::rows::{plan_vertices, too_many_isolated};
use super::text::{Fault, Lines, Malformed, Parsed, Piece, Text};
use super::weight_column::{self, WeightedChunk, WeightedLists};
use super::{FirstLine, ReadOptions};
use crate::graph::{Direction, Graph, GraphBuilder, Labels, VertexId};
use crate::{Error, Result};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "edge-list",
    extensions: &["el", "wel", "txt", "edges", "csv", "tsv", "edgelist", "arcs", "jlg", "ssv"],
    holds: "every graph, with names of printable text",
    numbers_from: None,
    is_binary: false,
    is_announced: |_| false,
    read: |opened, options| read(Text::new(opened, options), options),
    write: Some(write),
};

fn read(text: Text, options: &ReadOptions) -> Result<Graph> {
    let two_lines = |beginning: &[u8]| Lines::new(beginning).filter(|line| !is_skipped(line)).nth(1).is_some();
    let beginning = text.beginning(two_lines)?;
    let head = text.piece(&beginning);
    let read = read_text(&text, head, options).map_err(|failure| match failure {
        Failure::InHead(malformed) => text.locate(head.fault(&malformed)),
        Failure::InBody(fault) => text.locate(fault),
        Failure::Other(error) => error,
    })?;
    drop(beginning);
    text.close()?;
    let graph = read.lists.build(read.builder)?;
    if read.is_direction_assumed {
        note_one_way(&graph, options);
    }
    Ok(graph)
}

/// A note if the graph of a list that does not state a direction looks like an undirected one: O(V).
pub(super) fn note_one_way(graph: &Graph, options: &ReadOptions) {
    if leads_one_way(graph) {
        options.notes.add(
            "no edge leads back to an earlier vertex, as in lists that have each edge of an undirected graph once; \
             `--undirected` takes the edges both ways, `--directed` says that they have one",
        );
    }
}

/// Whether all edges lead to a vertex with a higher number, or all to one with a lower, and they are so many that this
/// is no accident, nor a small example of a graph without cycles: O(V), less if they don't.
fn leads_one_way(graph: &Graph) -> bool {
    const MANY: usize = 100;
    if graph.arcs() < MANY {
        return false;
    }
    let (mut upwards, mut downwards) = (true, true);
    for v in 0..graph.vertices() as VertexId {
        // Rows ascend.
        if let (Some(&first), Some(&last)) = (graph.neighbors(v).first(), graph.neighbors(v).last()) {
            upwards &= first > v;
            downwards &= last < v;
            if !upwards && !downwards {
                return false;
            }
        }
    }
    upwards || downwards
}

/// A list that was read.
struct Read {
    builder: GraphBuilder,
    lists: WeightedLists,
    /// Whether neither the options nor the list say if edges have a direction.
    is_direction_assumed: bool,
}

/// Why a list can't be read.
enum Failure<'a> {
    /// Before the first edges.
    InHead(Malformed<'a>),
    InBody(Fault),
    Other(Error),
}

impl<'a> From<Malformed<'a>> for Failure<'a> {
    fn from(malformed: Malformed<'a>) -> Self {
        Failure::InHead(malformed)
    }
}

impl From<Fault> for Failure<'_> {
    fn from(fault: Fault) -> Self {
        Failure::InBody(fault)
    }
}

impl From<Error> for Failure<'_> {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

fn read_text<'a>(text: &Text, head: Piece<'a>, options: &ReadOptions) -> std::result::Result<Read, Failure<'a>> {
    let mut comments = Comments::of(head.bytes)?;
    let (mut layout, body) = Layout::find(head.bytes, options, &mut comments)?;
    layout.leave_weights(body, options);
    let builder = options.builder(comments.direction.unwrap_or(Direction::Directed));
    let body = Body { text, pieces: text.pieces(head.offset_of(body))? };
    let integers = comments.names.iter().all(|name| integer_name(name).is_some());
    let narrow = if integers { parse_pieces::<u32>(&body, &layout, options)? } else { Attempt::NoIntegers };
    let (labels, parsed) = match narrow {
        Attempt::Done(parsed) => name_integers(parsed, &body, &layout, &comments)?,
        Attempt::TooWide => match parse_pieces::<u64>(&body, &layout, options)? {
            Attempt::Done(parsed) => name_integers(parsed, &body, &layout, &comments)?,
            _ => name_strings(&body, &layout, &comments, options)?,
        },
        Attempt::NoIntegers => name_strings(&body, &layout, &comments, options)?,
    };
    if let Some(message) = too_many_isolated(labels.len(), text.length(), options) {
        let line = layout.counts.map(|(line, ..)| line).or(comments.whole.map(|(line, ..)| line));
        return Err(Malformed::new(line.unwrap_or(&head.bytes[..0]), message).into());
    }
    if let Some((line, names)) = layout.header
        && names.iter().any(|&name| text_of(name).is_ok_and(|name| labels.find(&name).is_some()))
    {
        return Err(Malformed::new(line, IS_HEADER_OR_EDGE).into());
    }
    plan_vertices(labels.len(), 0, options)?;
    if options.first_line == FirstLine::Auto && layout.header.is_none() && layout.columns == 2 {
        note_unlike_first_line(&labels, &parsed, options);
    }
    let is_direction_assumed = comments.direction.or(options.direction).is_none();
    let lists = weight_column::settle(|fault| text.locate(fault), parsed, options)?;
    Ok(Read { builder: builder.labels(labels), lists, is_direction_assumed })
}

/// A note if the first edge joins two names that no other line has: it may be a header of unusual names. O(E), much less
/// if it is not.
fn note_unlike_first_line(labels: &Labels, chunks: &[WeightedChunk], options: &ReadOptions) {
    let Labels::Strings(names) = labels else { return };
    let mut edges = chunks.iter().flat_map(|chunk| &chunk.edges);
    let Some(&(u, v)) = edges.next().filter(|(u, v)| u != v) else { return };
    let mut others = edges.peekable();
    if others.peek().is_some() && others.all(|&(a, b)| ![a, b].iter().any(|end| [u, v].contains(end))) {
        options.notes.add(format!(
            "the first line is read as an edge, but no other line has one of its names, `{}` and `{}`; if it is a header, \
             `--first-line header` skips it",
            names.get(u),
            names.get(v)
        ));
    }
}

/// The text from the first edge on.
struct Body<'t> {
    text: &'t Text,
    pieces: Vec<Range<u64>>,
}

/// The names of the vertices, and the edges by their numbers.
pub(super) type Named = (Labels, Vec<WeightedChunk>);

fn check_lines<'a>(line: &'a [u8], announced: Option<u64>, lines: u64) -> Parsed<'a, ()> {
    match announced.filter(|&announced| announced != lines) {
        Some(announced) => {
            Err(Malformed::new(line, format!("this line announces {announced} edges, but the file has {lines}")))
        }
        None => Ok(()),
    }
}
