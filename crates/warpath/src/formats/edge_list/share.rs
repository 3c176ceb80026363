//! Shares of a list, for those who keep only a part of its graph each.

use std::ops::Range;
use std::path::Path;

use super::columns::unquoted;
use super::layout::{Comments, IS_HEADER_OR_EDGE, Layout, is_skipped};
use super::lines::{Attempt, NamedChunk, integer_name, parse_pieces};
use super::{Body, Failure};
use crate::formats::text::{Fault, Lines, Malformed, Text};
use crate::formats::weight_column::{WeightColumn, kind_of};
use crate::formats::{FirstLine, Format, Opened, ReadOptions, about, detect, rows::too_many_isolated};
use crate::graph::{Direction, SelfLoops, Unit, Weight, WeightKind, Weights};
use crate::{Error, InputError, Result};

/// An edge list in a file, of which each of several readers takes a share of the lines.
///
/// ```
/// use warpath::ReadOptions;
/// use warpath::formats::{EdgesInAll, Numbering, StoredEdges};
/// let path = std::env::temp_dir().join("shares-of-a-list.txt");
/// std::fs::write(&path, "1 2 50\n2 3 60\n3 1 -1\n")?;
/// let list = StoredEdges::open(&path, &ReadOptions::new())?;
/// let shares = [list.share(0, 2)?, list.share(1, 2)?];
/// assert_eq!(shares.each_ref().map(|share| share.as_ref().map(|share| share.count())), [Some(2), Some(1)]);
/// let all = EdgesInAll { edges: 3, least_of_edges: 1, least: 1, greatest: 3, ..Default::default() };
/// assert!(matches!(list.consecutive(&all, 3)?, Some(Numbering::Consecutive { first: 1, count: 3 })));
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StoredEdges {
    pub(super) name: String,
    pub(super) text: Text,
    /// The first lines.
    beginning: Vec<u8>,
    pub(super) options: ReadOptions,
    directed: bool,
    weighted: bool,
    /// Names of vertices that comments declare, if all are integers.
    isolated: Option<Vec<u64>>,
    /// `# Nodes: V`
    nodes: Option<u64>,
    /// A first line, or a comment, that declares the vertices.
    pub(super) declared: Option<Declared>,
    /// The first line, if it is taken for an edge but might be counts, and these.
    doubtful: Option<(Fault, u64, u64)>,
}

/// What a first line of counts or a comment says of the whole list.
pub(super) struct Declared {
    pub(super) line: Fault,
    pub(super) vertices: u64,
    pub(super) edges: Option<u64>,
    /// The first name, if it is said: by a comment.
    pub(super) first: Option<u64>,
}

/// Facts about the edges of all shares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EdgesInAll {
    /// How many there are.
    pub edges: u64,
    /// The least name of an edge.
    pub least_of_edges: u64,
    /// The least and the greatest name, those of isolated vertices included.
    pub least: u64,
    /// The greatest.
    pub greatest: u64,
    /// The least and the greatest name without the first edge.
    pub least_later: u64,
    /// The greatest.
    pub greatest_later: u64,
}

/// The numbers of vertices, by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Numbering {
    /// Vertex `v` is named `first + v`.
    Consecutive {
        /// The name of vertex 0.
        first: u64,
        /// The number of vertices.
        count: u64,
    },
    /// Some names, ascending, and their numbers.
    Table {
        /// The names.
        names: Vec<u64>,
        /// The number of each.
        numbers: Vec<u64>,
    },
}

impl Numbering {
    /// The number of a name, if it has one. O(1), or O(log names).
    fn of(&self, name: u64) -> Option<u64> {
        match self {
            Numbering::Consecutive { first, count } => name.checked_sub(*first).filter(|number| number < count),
            Numbering::Table { names, numbers } => names.binary_search(&name).ok().map(|place| numbers[place]),
        }
    }
}

/// The edges of a share, by the names of vertices.
pub struct EdgesByName {
    chunks: Vec<NamedChunk<u64>>,
    /// Where each chunk is in the text.
    pieces: Vec<Range<u64>>,
    /// Whether the first edge of the list is among them.
    has_first: bool,
}

impl StoredEdges {
    /// Opens a list and looks at its first lines. O(1).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file can't be read, [`Error::InvalidRequest`] if it is packed or has another format, and [`Error::Input`] if
    /// its first lines are those of no list.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let path = path.as_ref();
        let opened = Opened::file(path, options)?;
        let name = opened.name().to_owned();
        let format = match options.format {
            Some(format) => format,
            None => detect::detect(&opened)?,
        };
        if format != Format::EdgeList || matches!(opened, Opened::Memory(_)) && opened.length() > 0 {
            return Err(Error::invalid(format!(
                "{name}: several readers share out .wpg, .sg, .wsg and edge lists that are not packed; `warpath convert` makes a \
                 .wpg of any graph"
            )));
        }
        Self::of(Text::new(opened, options), options, name.clone()).map_err(|error| about(error, &name))
    }

    fn of(text: Text, options: &ReadOptions, name: String) -> Result<Self> {
        let two_lines = |beginning: &[u8]| Lines::new(beginning).filter(|line| !is_skipped(line)).nth(1).is_some();
        let beginning = text.beginning(two_lines)?.into_owned();
        let mut list = StoredEdges {
            name,
            text,
            beginning: Vec::new(),
            options: options.clone(),
            directed: true,
            weighted: false,
            isolated: None,
            nodes: None,
            declared: None,
            doubtful: None,
        };
        list.look(&beginning).map_err(|failure| list.error(&beginning, failure))?;
        list.beginning = beginning;
        Ok(list)
    }

    /// Notes what the first lines say.
    fn look<'a>(&mut self, beginning: &'a [u8]) -> std::result::Result<(), Failure<'a>> {
        let head = self.text.piece(beginning);
        let mut comments = Comments::of(beginning)?;
        let (mut layout, body) = Layout::find(beginning, &self.options, &mut comments)?;
        layout.leave_weights(body, &self.options);
        // Whether the names of a header are vertices is known once all lines are read, and integers may be.
        if let Some((line, names)) = layout.header
            && names.iter().any(|&name| integer_name(unquoted(name)).is_some())
        {
            return Err(Malformed::new(line, IS_HEADER_OR_EDGE).into());
        }
        let direction = self.options.direction.or(comments.direction);
        self.directed = direction != Some(Direction::Undirected);
        self.weighted = layout.weight.is_some();
        self.nodes = comments.nodes;
        self.isolated = comments.names.iter().map(|name| integer_name(name)).collect();
        let line = |line: &'a [u8]| head.fault(&Malformed::new(line, ""));
        self.declared = match (layout.counts, comments.whole.zip(comments.nodes)) {
            (Some((at, vertices, edges)), _) => Some(Declared { line: line(at), vertices, edges, first: None }),
            (None, Some(((at, edges, first), vertices))) => {
                Some(Declared { line: line(at), vertices, edges: Some(edges), first: Some(first) })
            }
            (None, None) => None,
        };
        self.doubtful = layout.doubtful.map(|(at, vertices, edges)| (line(at), vertices, edges));
        Ok(())
    }

    /// Whether edges have a direction.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// Whether edges from a vertex to itself are kept.
    pub fn keeps_loops(&self) -> bool {
        self.options.self_loops == SelfLoops::Keep
    }

    /// Whether edges have weights.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// Names of vertices without edges, as comments declare them, if they are integers.
    pub fn isolated(&self) -> &[u64] {
        self.isolated.as_deref().unwrap_or_default()
    }

    /// Reads the edges of the lines that begin in one of `of` equal parts of the bytes; `None` if some names are no integers: then
    /// all are words, in all shares ([`StoredEdges::share_of_words`]). O(bytes of a part) work on all threads.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at the first line of this share that is no edge, [`Error::OutOfMemory`] and [`Error::Io`].
    pub fn share(&self, index: usize, of: usize) -> Result<Option<EdgesByName>> {
        if self.isolated.is_none() {
            return Ok(None);
        }
        self.read_share(index, of, |body, layout, _, has_first, options| {
            Ok(match parse_pieces::<u64>(&body, layout, options)? {
                Attempt::Done(chunks) => Some(EdgesByName { chunks, pieces: body.pieces, has_first }),
                Attempt::TooWide | Attempt::NoIntegers => None,
            })
        })
    }

    /// Lets `read` read one of `of` equal parts of the lines: it gets them, their layout, what comments say, and whether the first edge is among
    /// them.
    pub(super) fn read_share<T>(
        &self,
        index: usize,
        of: usize,
        read: impl for<'a> FnOnce(
            Body<'_>,
            &Layout<'a>,
            &Comments<'a>,
            bool,
            &ReadOptions,
        ) -> std::result::Result<T, Failure<'a>>,
    ) -> Result<T> {
        let share = || -> std::result::Result<T, Failure<'_>> {
            let beginning = &self.beginning[..];
            let options = ReadOptions { notes: Default::default(), ..self.options.clone() };
            let mut comments = Comments::of(beginning)?;
            let (mut layout, body) = Layout::find(beginning, &options, &mut comments)?;
            layout.leave_weights(body, &options);
            let from = self.text.piece(beginning).offset_of(body);
            let range = self.text.share(from, index as u64, of as u64)?;
            let body = Body { text: &self.text, pieces: self.text.pieces_of(range.clone())? };
            read(body, &layout, &comments, range.start == from, &options)
        };
        share().map_err(|failure| about(self.error(&self.beginning, failure), &self.name))
    }

    /// The numbering, if the vertices have consecutive integers as names; `None` if their names have gaps. `found` is how many different
    /// names there are.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the list does not hold what it declares.
    pub fn consecutive(&self, all: &EdgesInAll, found: u64) -> Result<Option<Numbering>> {
        let wrong = |line: &Fault, message: String| Err(self.wrong(line, message));
        if let Some((line, vertices, edges)) = &self.doubtful
            && self.options.first_line == FirstLine::Auto
            && all.edges == edges.saturating_add(1)
            && (all.greatest_later < *vertices || all.greatest_later == *vertices && all.least_later > 0)
        {
            let message = "this line may be an edge or the numbers of vertices and edges: `--first-line edge` or \
                           `--first-line counts` (`ReadOptions::first_line`) tells";
            return wrong(line, message.into());
        }
        let fit = |first: u64, count: u64, line: Option<&Fault>| {
            let start = Fault { at: self.text.start(), part: Vec::new(), message: String::new() };
            if count > MOST_VERTICES {
                return wrong(line.unwrap_or(&start), format!("at most {MOST_VERTICES} vertices are possible"));
            }
            if let Some(message) = too_many_isolated(count, self.text.length(), &self.options) {
                return wrong(line.unwrap_or(&start), message);
            }
            Ok(Some(Numbering::Consecutive { first, count }))
        };
        if let Some(Declared { line, vertices, edges, first }) = &self.declared {
            self.check_edges(line, *edges, all.edges)?;
            // Names count from 1 unless there is a 0.
            let first = first.unwrap_or(u64::from(all.edges != 0 && all.least_of_edges != 0));
            if first.checked_add(*vertices).is_none() {
                return wrong(line, "the names of the vertices go beyond 64 bits".into());
            }
            return fit(first, *vertices, Some(line));
        }
        if found == 0 {
            return fit(0, self.nodes.unwrap_or(0), None);
        }
        match self.nodes {
            // A declared number of vertices counts if the names fit it and some are missing.
            Some(nodes) if nodes > found && all.greatest < nodes => fit(0, nodes, None),
            Some(nodes) if nodes > found && all.greatest == nodes && all.least > 0 => fit(1, nodes, None),
            _ if found == all.greatest - all.least + 1 => fit(all.least, found, None),
            _ => Ok(None),
        }
    }

    /// The error of a line.
    pub(super) fn wrong(&self, line: &Fault, message: String) -> Error {
        about(self.text.locate(Fault { message, ..line.clone() }), &self.name)
    }

    /// An error if a line announces another number of edges than there are.
    pub(super) fn check_edges(&self, line: &Fault, announced: Option<u64>, found: u64) -> Result<()> {
        match announced.filter(|&announced| announced != found) {
            Some(edges) => {
                Err(self.wrong(line, format!("this line announces {edges} edges, but the file has {found}")))
            }
            None => Ok(()),
        }
    }

    /// The edges of a share by the numbers of vertices, and their weights, which have one type in all shares: `weights_found` is what
    /// [`EdgesByName::weights_found`] of all shares gives, or-ed.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if no type holds all weights, for a share that has such a weight, or if a name has no number.
    pub fn numbered(
        &self,
        share: EdgesByName,
        weights_found: u64,
        numbering: &Numbering,
    ) -> Result<(Vec<(u64, u64)>, Weights)> {
        let stray = |piece, place| self.stray(piece, place, numbering);
        self.with_numbers(share.chunks, share.pieces, weights_found, |name| numbering.of(name), stray)
    }

    /// The same by what `number` says of a name; `stray` is the error of an edge, at a place in a piece, which has a name without a number.
    pub(super) fn with_numbers<N: Copy>(
        &self,
        chunks: Vec<NamedChunk<N>>,
        pieces: Vec<Range<u64>>,
        weights_found: u64,
        number: impl Fn(N) -> Option<u64>,
        stray: impl Fn(Range<u64>, usize) -> Error,
    ) -> Result<(Vec<(u64, u64)>, Weights)> {
        let columns = || chunks.iter().filter_map(|chunk| chunk.weights.as_ref());
        let locate = |fault| about(self.text.locate(fault), &self.name);
        // Without edges there are no weights.
        let kind = match weights_found {
            0 => WeightKind::Unit,
            found => kind_of(found, columns, locate, &self.options)?,
        };
        let count = chunks.iter().map(|chunk| chunk.edges.len()).sum();
        let mut edges = crate::memory::with_capacity("the edges of a share", count)?;
        let mut values = Vec::new();
        for (chunk, piece) in chunks.into_iter().zip(pieces) {
            for (place, &(u, v)) in chunk.edges.iter().enumerate() {
                match number(u).zip(number(v)) {
                    Some(edge) => edges.push(edge),
                    None => return Err(stray(piece, place)),
                }
            }
            values.extend(chunk.weights.map(|column| column.into_weights(kind)));
        }
        Ok((edges, joined(values, kind, count)?))
    }

    /// The error of the edge at this place in a piece, which has a name without a number.
    fn stray(&self, piece: Range<u64>, place: usize, numbering: &Numbering) -> Error {
        let message = match numbering {
            Numbering::Consecutive { first, count } => {
                let last = (first + count).saturating_sub(1);
                format!("a vertex is out of range: {count} vertices are declared, named {first} to {last}")
            }
            Numbering::Table { .. } => "the name of a vertex has no number".into(),
        };
        let mut before = 0;
        let is_stray = |line: &[u8]| {
            before += usize::from(!is_skipped(line));
            before > place
        };
        // The line is found, unless the file has changed.
        let error = match self.text.find_line(&[piece], is_stray, &message) {
            Ok(fault) => fault.map_or_else(|| InputError::new(message).into(), |fault| self.text.locate(fault)),
            Err(error) => error,
        };
        about(error, &self.name)
    }

    /// An error if so many bytes are more memory than reading may take.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn check_room(&self, bytes: u64) -> Result<()> {
        self.text.check_room(bytes)
    }

    /// A number that copies of the list have in common: a checksum of its length and of some pieces. O(1).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file can't be read.
    pub fn fingerprint(&self) -> Result<u64> {
        self.text.sampled_checksum()
    }

    /// An error unless the file is as it was when it was opened.
    ///
    /// # Errors
    ///
    /// [`Error::Input`].
    pub fn check_unchanged(self) -> Result<()> {
        let name = self.name;
        self.text.close().map_err(|error| about(error, &name))
    }

    fn error(&self, beginning: &[u8], failure: Failure<'_>) -> Error {
        match failure {
            Failure::InHead(malformed) => self.text.locate(self.text.piece(beginning).fault(&malformed)),
            Failure::InBody(fault) => self.text.locate(fault),
            Failure::Other(error) => error,
        }
    }
}

/// Weights of one type, one after another; so many unit weights if there are none.
fn joined(parts: Vec<Weights>, kind: WeightKind, count: usize) -> Result<Weights> {
    fn all<W: Weight>(parts: Vec<Weights>, count: usize) -> Result<Weights> {
        let mut values: Vec<W> = crate::memory::with_capacity("the weights of a share", count)?;
        parts.iter().filter_map(W::of).for_each(|some| values.extend_from_slice(some));
        Ok(W::into_weights(values))
    }
    match kind {
        WeightKind::U32 => all::<u32>(parts, count),
        WeightKind::I32 => all::<i32>(parts, count),
        WeightKind::F64 => all::<f64>(parts, count),
        _ => Ok(Weights::Unit(vec![Unit; count])),
    }
}

/// As many vertices as generators make.
pub(super) const MOST_VERTICES: u64 = 1 << 48;

impl EdgesByName {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.edges.len() as u64).sum()
    }

    /// The names of the ends, two for each edge.
    pub fn names(&self) -> impl Iterator<Item = u64> {
        self.chunks.iter().flat_map(|chunk| chunk.edges.iter().flat_map(|&(u, v)| [u, v]))
    }

    /// The names without those of the first edge of the list.
    pub fn later_names(&self) -> impl Iterator<Item = u64> {
        self.names().skip(if self.has_first { 2 } else { 0 })
    }

    /// What is among the weights, as bits: those of all shares are or-ed.
    pub fn weights_found(&self) -> u64 {
        let columns = self.chunks.iter().filter_map(|chunk| chunk.weights.as_ref());
        columns.map(WeightColumn::found).fold(0, |all, some| all | some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::graph::GraphBuilder;

    /// The graph that so many readers make of a list.
    fn shared(path: &Path, options: &ReadOptions, of: usize) -> Result<Graph> {
        let list = StoredEdges::open(path, options)?;
        let shares = (0..of).map(|index| list.share(index, of)).collect::<Result<Option<Vec<_>>>>()?;
        let shares = shares.expect("names are integers");
        let isolated = || list.isolated().iter().copied();
        let mut names: Vec<u64> = shares.iter().flat_map(EdgesByName::names).chain(isolated()).collect();
        names.sort_unstable();
        names.dedup();
        let later = || shares.iter().flat_map(EdgesByName::later_names);
        let all = EdgesInAll {
            edges: shares.iter().map(EdgesByName::count).sum(),
            least_of_edges: shares.iter().flat_map(EdgesByName::names).min().unwrap_or(u64::MAX),
            least: names.first().copied().unwrap_or(u64::MAX),
            greatest: names.last().copied().unwrap_or(0),
            least_later: later().min().unwrap_or(u64::MAX),
            greatest_later: later().max().unwrap_or(0),
        };
        let numbers = (0..names.len() as u64).collect();
        let table = || Numbering::Table { names: names.clone(), numbers };
        let numbering = list.consecutive(&all, names.len() as u64)?.unwrap_or_else(table);
        let vertices = match &numbering {
            Numbering::Consecutive { count, .. } => *count,
            Numbering::Table { names, .. } => names.len() as u64,
        };
        let found = shares.iter().map(EdgesByName::weights_found).fold(0, |all, some| all | some);
        let mut edges = Vec::new();
        for share in shares {
            let (ends, weights) = list.numbered(share, found, &numbering)?;
            let weight = |index: usize| crate::graph::with_weights!(&weights, values => values[index].to_f64());
            edges.extend(ends.iter().enumerate().map(|(index, &(u, v))| (u as u32, v as u32, weight(index))));
        }
        let direction = if list.is_directed() { Direction::Directed } else { Direction::Undirected };
        let loops = if list.keeps_loops() { SelfLoops::Keep } else { SelfLoops::Drop };
        GraphBuilder::new().vertices(vertices).direction(direction).self_loops(loops).build_from(edges)
    }

    #[test]
    fn shares_together_are_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.txt");
        let lines = |count: u32, line: &dyn Fn(u32) -> String| (0..count).map(line).collect::<String>();
        let texts = [
            String::new(),
            "# nothing\n".into(),
            "0 1\n".into(),
            "0 1".into(),
            lines(200, &|k| format!("{} {}\n", k * 7 % 50, k * k % 50)),
            lines(99, &|k| format!("{} {} {}\n", 3 + k * 7 % 50, 3 + k * k % 50, k % 9)),
            // Names with gaps, weights that only one share shows to be negative, or decimal.
            lines(99, &|k| format!("{}\t{}\t{}\r\n", k * 1000, k * k, if k == 70 { -5 } else { 1 })),
            lines(60, &|k| {
                format!("{},{},{}\n", u64::from(k % 13) * 90_000_000_000, k, if k == 3 { "0.5" } else { "2" })
            }),
            format!("from,minutes,to\n{}", lines(50, &|k| format!("{},{},{}\n", k % 7, k, k % 5))),
            format!("# Undirected graph\n# Nodes: 70 Edges: 50\n{}", lines(50, &|k| format!("{} {}\n", k % 7, k % 31))),
            format!("# Node: 900\n{}", lines(50, &|k| format!("{} {}\n", k % 7, k % 31))),
            format!("# Node: 0\n4 3\n{}", lines(3, &|k| format!("{} {} 9\n", 1 + k, 1 + k % 2))),
            format!("40 30\n{}", lines(30, &|k| format!("{} {} {}\n", 1 + k % 40, 1 + k % 3, k))),
        ];
        for text in &texts {
            std::fs::write(&path, text).unwrap();
            for options in [ReadOptions::new(), ReadOptions::new().self_loops(SelfLoops::Drop).leave_weights(true)] {
                let expected = options.read(&path).unwrap();
                for of in [1, 2, 3, 7, 40] {
                    let graph = shared(&path, &options, of).unwrap_or_else(|error| panic!("{of} of {text}: {error}"));
                    assert_eq!(graph.csr().offsets(), expected.csr().offsets(), "{of} of {text}");
                    assert_eq!(graph.csr().targets(), expected.csr().targets(), "{of} of {text}");
                    let weights = |graph: &Graph| graph.edges().map(|(_, _, weight)| weight).collect::<Vec<_>>();
                    assert_eq!(weights(&graph), weights(&expected), "{of} of {text}");
                }
            }
        }
    }

    #[test]
    fn faults_are_those_of_the_whole_list() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.txt");
        for (text, message) in [
            ("0 1\n1 2\n2 3 4\n", ":3:"),
            ("0 1 7\n1 2 8\n2 3 x\n", ":3:"),
            ("# Nodes: 4 Edges: 3 Ids: 0..3\n0 1\n1 2\n2 9\n", ":4:"),
            ("# Nodes: 4 Edges: 5 Ids: 0..3\n0 1\n1 2\n2 3\n", "announces 5 edges, but the file has 3"),
            ("3 3\n1 2\n2 3\n3 1\n", "`--first-line edge` or"),
            ("1 2 1\n2 3 9007199254740993\n", ":2:"),
        ] {
            std::fs::write(&path, text).unwrap();
            let whole = ReadOptions::new().read(&path).unwrap_err().to_string();
            assert!(whole.contains(message), "{whole}");
            for of in [1, 2, 3] {
                assert_eq!(shared(&path, &ReadOptions::new(), of).unwrap_err().to_string(), whole, "{of}");
            }
        }
        for text in ["a b\n", "0 1\n1 07\n", "# Node: x\n0 1\n", "0 18446744073709551615\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(StoredEdges::open(&path, &ReadOptions::new()).unwrap().share(0, 1).unwrap().is_none(), "{text}");
        }
        let other = folder.path().join("graph.gml");
        std::fs::write(&other, "graph [\n]\n").unwrap();
        let error = StoredEdges::open(&other, &ReadOptions::new()).err().unwrap().to_string();
        assert!(error.contains("share out .wpg"), "{error}");
    }
}
