//! Collects the graph of a file that declares its vertices and gives its edges attributes, as GraphML, GML and JSON do.
//!
//! **Vertices.** Edges refer to vertices by keys. Keys and edges may come in any order; at the end every key has to be
//! declared. Vertices are numbered in the order in which the file declares them. Their names are the labels that the
//! file gives them if every vertex has one of its own, else the keys.
//!
//! **Direction.** An edge may state its own. Where some edges have a direction and some have none, the graph is directed,
//! and an edge without direction is two arcs.
//!
//! **Weights.** The weight is the attribute `weight`, or the one that the options name. The first edge decides whether
//! edges have weights; every other edge has to agree.

use std::collections::HashMap;

use super::edge_list::integer_name;
use super::text::{Fault, Held, Piece, Text};
use super::weight_column::{self, WeightColumn, WeightedChunk};
use super::{Column, ReadOptions, WeightSource};
use crate::graph::{Direction, Graph, Labels, StringLabels, VertexId};
use crate::memory::with_capacity;
use crate::{Error, Result};

/// Edges that are collected at a time; then the memory is looked at.
const CHUNK_EDGES: usize = 1 << 16;

/// Why a file can't be read.
#[derive(Debug)]
pub(super) enum Failure {
    /// A fault at a place in the file.
    At(Fault),
    /// Anything else.
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Failure::At(fault)
    }
}

impl Failure {
    /// The failure as an error, with line and column in `text`.
    pub(super) fn locate(self, text: &Text) -> Error {
        match self {
            Failure::At(fault) => text.locate(fault),
            Failure::Other(error) => error,
        }
    }
}

/// The fault at a byte of a text; an error shows the rest of its line.
pub(super) fn fault(text: &Text, at: u64, message: impl Into<String>) -> Failure {
    match text.shown_at(at) {
        Ok(part) => Fault { at, part, message: message.into() }.into(),
        Err(error) => error.into(),
    }
}

/// Which attribute of an edge is its weight.
pub(super) struct WeightAttribute {
    /// Its name; `None` if weights are not wanted.
    name: Option<String>,
    /// Whether the name was asked for.
    is_asked_for: bool,
    /// The attributes of the first edges that are not the weight.
    others: Vec<String>,
}

impl WeightAttribute {
    /// What the options ask for; by default `weight`.
    ///
    /// # Errors
    ///
    /// If the options number a column: attributes have names.
    pub(super) fn of(options: &ReadOptions) -> Result<Self> {
        let (name, is_asked_for) = match &options.weights {
            WeightSource::File => (Some("weight".to_owned()), false),
            WeightSource::Unit => (None, false),
            WeightSource::Column(Column::Named(name)) => (Some(name.clone()), true),
            WeightSource::Column(Column::Number(number)) => {
                return Err(Error::invalid(format!(
                    "`--weights {number}` (`ReadOptions::weights`) is for edge lists; here `--weights NAME` names an \
                     attribute of the edges"
                )));
            }
        };
        Ok(WeightAttribute { name, is_asked_for, others: Vec::new() })
    }

    /// Whether an attribute of an edge is its weight.
    pub(super) fn is(&mut self, attribute: &str) -> bool {
        const REMEMBERED: usize = 8;
        if self.name.as_deref() == Some(attribute) {
            return true;
        }
        if self.name.is_some() && self.others.len() < REMEMBERED && !self.others.iter().any(|other| other == attribute)
        {
            self.others.push(attribute.to_owned());
        }
        false
    }
}

/// The names that the vertices will have.
enum Names {
    /// The labels so far: every vertex has one of its own.
    Labels(StringLabels),
    /// The keys, because no vertex has a label, or for this reason.
    Keys(Option<String>),
}

/// An edge as the file has it.
pub(super) struct FoundEdge<'e> {
    /// The keys of both ends.
    pub(super) ends: [&'e str; 2],
    /// The direction, if it is not that of the graph.
    pub(super) direction: Option<Direction>,
    /// The text of the weight.
    pub(super) weight: Option<&'e str>,
    /// Where it begins.
    pub(super) at: u64,
}

/// The graph so far.
pub(super) struct Collector<'t> {
    text: &'t Text,
    options: &'t ReadOptions,
    /// The attribute that is the weight.
    pub(super) weight: WeightAttribute,
    keys: StringLabels,
    names: Names,
    /// The keys in the order of their declarations.
    declared: Vec<VertexId>,
    /// Keys that are not declared yet, and the edges that use them first.
    pending: HashMap<VertexId, u64>,
    /// Whether edges have weights, once there is an edge.
    has_weights: Option<bool>,
    /// Edges with direction, without, and loops without.
    edges: [Vec<WeightedChunk>; 3],
    held: u64,
}

const ARCS: usize = 0;
const EDGES: usize = 1;
const LOOPS: usize = 2;

impl<'t> Collector<'t> {
    /// No vertices yet.
    ///
    /// # Errors
    ///
    /// As [`WeightAttribute::of`].
    pub(super) fn new(text: &'t Text, options: &'t ReadOptions) -> Result<Self> {
        Ok(Collector {
            text,
            options,
            weight: WeightAttribute::of(options)?,
            keys: StringLabels::new(),
            names: Names::Keys(None),
            declared: Vec::new(),
            pending: HashMap::new(),
            has_weights: None,
            edges: [const { Vec::new() }; 3],
            held: 0,
        })
    }

    /// Declares the vertex of a key, perhaps with a label, at this byte.
    ///
    /// # Errors
    ///
    /// If it is declared already, its name can't be printed, or there is no memory.
    pub(super) fn declare(&mut self, key: &str, label: Option<&str>, at: u64) -> std::result::Result<(), Failure> {
        let bad = |message: &str| Err(fault(self.text, at, message));
        if key.is_empty() {
            return bad("the name of a vertex is missing");
        }
        if [Some(key), label].into_iter().flatten().any(|name| name.chars().any(char::is_control)) {
            return bad("the name of a vertex contains control characters");
        }
        let before = self.keys.len();
        let v = self.keys.intern(key)?;
        if v as usize != before && self.pending.remove(&v).is_none() {
            return bad(&format!("the vertex `{key}` is declared twice"));
        }
        self.name(key, label)?;
        crate::memory::grow("the vertices of a file", &mut self.declared, 1)?;
        self.declared.push(v);
        if self.declared.len().is_multiple_of(CHUNK_EDGES) {
            self.check_room()?;
        }
        Ok(())
    }

    /// Keeps the label of the vertex that is declared next, as long as all have labels of their own.
    fn name(&mut self, key: &str, label: Option<&str>) -> Result<()> {
        match (&mut self.names, label) {
            (Names::Labels(labels), Some(label)) => {
                if labels.find(label).is_some() {
                    self.names = Names::Keys(Some(format!("two vertices have the label `{label}`")));
                } else {
                    labels.intern(label)?;
                }
            }
            (Names::Labels(_), None) => self.names = Names::Keys(Some(format!("the vertex `{key}` has no label"))),
            (Names::Keys(None), Some(label)) => {
                self.names = match self.declared.is_empty() {
                    true => {
                        let mut labels = StringLabels::new();
                        labels.intern(label)?;
                        Names::Labels(labels)
                    }
                    false => Names::Keys(Some("some vertices have no label".to_owned())),
                };
            }
            (Names::Keys(_), _) => {}
        }
        Ok(())
    }

    /// Adds an edge.
    ///
    /// # Errors
    ///
    /// If it has a weight and others have none, or the other way round; if the weight is no number; or if there is no
    /// memory.
    pub(super) fn add(&mut self, edge: &FoundEdge<'_>) -> std::result::Result<(), Failure> {
        let has_weight = edge.weight.is_some();
        let name = self.weight.name.as_deref().unwrap_or_default();
        let expected = *self.has_weights.get_or_insert(has_weight);
        if has_weight != expected || (self.weight.is_asked_for && !has_weight) {
            let others = match &self.weight.others[..] {
                [] => "no other attributes".to_owned(),
                others => format!("others: {}", others.join(", ")),
            };
            let message = match (has_weight, self.weight.is_asked_for) {
                (true, _) => format!("this edge has the attribute `{name}`, but those before it have none"),
                (false, false) => format!("this edge has no attribute `{name}`, but those before it have one"),
                (false, true) => format!("this edge has no attribute `{name}` ({others})"),
            };
            return Err(fault(self.text, edge.at, message));
        }
        let mut ends = [0; 2];
        for (end, key) in ends.iter_mut().zip(edge.ends) {
            let before = self.keys.len();
            *end = self.keys.intern(key)?;
            if *end as usize == before {
                self.pending.insert(*end, edge.at);
            }
        }
        let kind = match edge.direction {
            Some(Direction::Undirected) if ends[0] == ends[1] => LOOPS,
            Some(Direction::Undirected) => EDGES,
            _ => ARCS,
        };
        if self.edges[kind].last().is_none_or(|chunk| chunk.edges.len() == CHUNK_EDGES) {
            self.held += self.edges[kind].last().map_or(0, Held::held_bytes);
            self.check_room()?;
            self.edges[kind].push(WeightedChunk { edges: Vec::new(), weights: expected.then(WeightColumn::new) });
        }
        let Some(chunk) = self.edges[kind].last_mut() else { unreachable!("there is one") };
        if let (Some(weights), Some(token)) = (&mut chunk.weights, edge.weight) {
            let token = token.trim_ascii().as_bytes();
            weights
                .push(token, Piece { bytes: token, offset: edge.at })
                .map_err(|malformed| fault(self.text, edge.at, format!("{} (`{name}`)", malformed.message)))?;
        }
        chunk.edges.push((ends[0], ends[1]));
        Ok(())
    }

    /// An error if what was collected takes more memory than it may.
    fn check_room(&self) -> Result<()> {
        let labels = match &self.names {
            Names::Labels(labels) => labels.owned_bytes(),
            Names::Keys(_) => 0,
        };
        let tables = (self.declared.capacity() * 4 + self.pending.capacity() * 17) as u64;
        self.text.check_room(self.held + self.keys.owned_bytes() + labels + tables)
    }

    /// The graph; `direction` is that of edges that do not state their own.
    ///
    /// # Errors
    ///
    /// If an edge has an end that is no vertex, or the graph does not fit into memory.
    pub(super) fn finish(mut self, direction: Direction) -> std::result::Result<Graph, Failure> {
        if let Some((&v, &at)) = self.pending.iter().min_by_key(|&(&v, &at)| (at, v)) {
            let message = format!("an edge has the end `{}`, which is no vertex of the file", self.keys.get(v));
            return Err(fault(self.text, at, message));
        }
        self.check_room()?;
        self.note_assumptions();
        let [arcs, edges, loops] = std::mem::take(&mut self.edges);
        let options = self.options;
        let is_mixed = !arcs.is_empty() && (edges.len() + loops.len() > 0);
        let direction = match (options.direction, arcs.is_empty(), is_mixed) {
            (None, _, true) => Direction::Directed,
            (None, true, _) if edges.len() + loops.len() > 0 => Direction::Undirected,
            _ => direction,
        };
        let mut chunks: Vec<WeightedChunk> = Vec::new();
        if is_mixed && options.direction.is_none() {
            options.notes.add(
                "some edges have a direction and some have none: the graph is directed, and an edge without direction \
                 is two arcs",
            );
            chunks.extend(edges.iter().map(reversed));
        }
        chunks.extend(arcs.into_iter().chain(edges).chain(loops));
        let order = std::mem::take(&mut self.declared);
        let labels = match self.names {
            Names::Labels(labels) => labels,
            Names::Keys(_) if is_ascending(&order) => self.keys,
            Names::Keys(_) => {
                let mut names = StringLabels::new();
                for &v in &order {
                    names.intern(self.keys.get(v))?;
                }
                names
            }
        };
        if !is_ascending(&order) {
            renumber(&mut chunks, &order)?;
        }
        let lists = weight_column::settle(|fault| self.text.locate(fault), chunks, options)?;
        let graph = lists.build(options.builder(direction).labels(as_integers(labels)?));
        Ok(graph?)
    }

    /// Says what may surprise about names and weights.
    fn note_assumptions(&self) {
        if let Names::Keys(Some(reason)) = &self.names {
            self.options.notes.add(format!("{reason}, so the vertices are named by their ids"));
        }
        if self.has_weights == Some(false) && !self.weight.others.is_empty() && !self.options.leave_weights {
            self.options.notes.add(format!(
                "edges have no attribute `weight`, so that each has length 1; `--weights NAME` takes another one of: {}",
                self.weight.others.join(", ")
            ));
        }
    }
}

/// The same edges the other way round.
fn reversed(chunk: &WeightedChunk) -> WeightedChunk {
    WeightedChunk { edges: chunk.edges.iter().map(|&(u, v)| (v, u)).collect(), weights: chunk.weights.clone() }
}

fn is_ascending(order: &[VertexId]) -> bool {
    order.iter().enumerate().all(|(index, &v)| index == v as usize)
}

/// Gives each vertex its place in `order`, which has each once.
fn renumber(chunks: &mut [WeightedChunk], order: &[VertexId]) -> Result<()> {
    let mut place: Vec<VertexId> = crate::memory::filled("the order of vertices", order.len(), 0)?;
    for (index, &v) in order.iter().enumerate() {
        place[v as usize] = index as VertexId;
    }
    for (u, v) in chunks.iter_mut().flat_map(|chunk| &mut chunk.edges) {
        (*u, *v) = (place[*u as usize], place[*v as usize]);
    }
    Ok(())
}

/// Names that are ascending integers take less memory as such.
pub(super) fn as_integers(names: StringLabels) -> Result<Labels> {
    let mut numbers: Vec<u64> = with_capacity("the names of vertices", names.len())?;
    for v in 0..names.len() as VertexId {
        match integer_name(names.get(v).as_bytes()) {
            Some(number) if numbers.last().is_none_or(|&last| last < number) => numbers.push(number),
            _ => return Ok(Labels::Strings(names)),
        }
    }
    Ok(match numbers[..] {
        [] => Labels::range(0, 0),
        [first, .., last] if last - first + 1 == numbers.len() as u64 => Labels::range(first, numbers.len() as u64),
        [first] => Labels::range(first, 1),
        _ => Labels::Integers(numbers),
    })
}

/// The text of a name: in UTF-8, or else in Latin-1, which `is_latin` tells.
pub(super) fn decoded<'n>(name: &'n [u8], is_latin: &mut bool) -> std::borrow::Cow<'n, str> {
    match std::str::from_utf8(name) {
        Ok(name) => name.into(),
        Err(_) => {
            *is_latin = true;
            name.iter().map(|&byte| char::from(byte)).collect::<String>().into()
        }
    }
}

/// What is said of names that [`decoded`] took for Latin-1.
pub(super) const READ_AS_LATIN: &str =
    "some names are no UTF-8, so they are read as Latin-1 (ISO 8859-1); `iconv -t UTF-8` converts other encodings";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;
    use crate::{Control, ErrorKind};

    /// A long file of each format that is collected: `edges` edges between two vertices.
    fn files(edges: usize) -> [(Format, String); 4] {
        let many = |edge: &str| edge.repeat(edges);
        [
            (
                Format::GraphMl,
                format!(
                    "<graphml><graph edgedefault=\"directed\"><node id=\"a\"/><node id=\"b\"/>{}</graph></graphml>",
                    many("<edge source=\"a\" target=\"b\"/>\n")
                ),
            ),
            (
                Format::Gml,
                format!("graph [ directed 1 node [ id 1 ] node [ id 2 ]\n{}]", many("edge [ source 1 target 2 ]\n")),
            ),
            (Format::Pajek, format!("*Vertices 2\n*Arcs\n{}", many("1 2\n"))),
            (
                Format::Json,
                format!(
                    "{{\"directed\": true, \"nodes\": [{{\"id\": 1}}, {{\"id\": 2}}], \"links\": [{}]}}",
                    many(", {\"source\": 1, \"target\": 2}\n").trim_start_matches(',')
                ),
            ),
        ]
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn long_files_are_read_piece_by_piece_until_memory_ends_or_the_caller_cancels() {
        const EDGES: usize = 200_000;
        let folder = tempfile::tempdir().unwrap();
        for (format, text) in files(EDGES) {
            let path = folder.path().join("g.txt");
            std::fs::write(&path, &text).unwrap();
            let options = ReadOptions::new().parallel_edges(crate::graph::ParallelEdges::Keep);
            assert_eq!(options.read(&path).unwrap().arcs(), EDGES, "{format}");
            // Nearly as much as the edges and the graph take: far less than the text of most.
            let limited = options.clone().memory(20 * EDGES as u64);
            assert_eq!(limited.read(&path).unwrap().arcs(), EDGES, "{format}");
            let error = options.clone().memory(4 * EDGES as u64).read(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Resources, "{format}: {error}");
            let control = Control::new();
            control.cancel();
            let cancelled = options.control(control).read(&path);
            assert!(matches!(cancelled, Err(Error::Interrupted)), "{format}: {cancelled:?}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn one_long_part_takes_no_more_than_its_room() {
        let long = "x".repeat(4 << 20);
        let folder = tempfile::tempdir().unwrap();
        for (format, text) in [
            (Format::GraphMl, format!("<graphml><graph edgedefault=\"directed\"><node id=\"{long}")),
            (Format::Gml, format!("graph [ node [ id 1 label \"{long}")),
            (Format::Pajek, format!("*Vertices 1\n1 {long}")),
            (Format::Json, format!("{{\"nodes\": [{{\"id\": \"{long}")),
        ] {
            let path = folder.path().join("g.txt");
            std::fs::write(&path, &text).unwrap();
            let error = ReadOptions::new().format(format).memory(1 << 20).read(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Resources, "{format}: {error}");
        }
    }
}
