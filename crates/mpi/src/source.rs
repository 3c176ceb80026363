//! Where the arcs of a graph come from: a generator, a file of rows, or a graph in memory. Each rank draws or reads its part.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use warpath::formats::{RowRange, StoredRows, WeightSource};
use warpath::generate::{ArcWeights, EdgeParts, Recipe, WeightRange};
use warpath::graph::{Labels, Unit, VertexId, Weight, WeightKind};
use warpath::{Error, Graph, ReadOptions, Result};

use crate::graph::Partition;
use crate::list;
use crate::listed_edges::{ListedEdges, VertexNames};
use crate::world::{Outcome, World};

/// A graph that no rank has to hold as a whole.
///
/// ```
/// let source = warpath_mpi::Source::open("kron:20,weights=1..255".as_ref(), Default::default())?;
/// assert_eq!((source.vertices(), source.is_directed()), (1 << 20, false));
/// # Ok::<(), warpath::Error>(())
/// ```
pub struct Source<'g> {
    form: Form<'g>,
    weights: Weighting,
    turn: Turn,
}

/// Which way arcs are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    AsStored,
    Reversed,
    BothWays,
}

enum Form<'g> {
    Generated(Recipe),
    Stored(Box<StoredRows>),
    InMemory(&'g Graph),
    Listed(Cow<'g, ListedEdges>),
}

/// The weights that are asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Weighting {
    /// Those of the graph.
    #[default]
    AsStored,
    /// None: every arc has length 1.
    Unit,
    /// Random ones from a range, by a seed.
    Random(WeightRange, u64),
}

/// What gives each arc its weight.
#[derive(Clone, Copy)]
enum Origin {
    Arcs,
    Random(ArcWeights),
}

impl<'g> Source<'g> {
    /// A generated graph if `text` is the specification of one, such as `kron:20`, or else the `.wpg`, `.sg` or `.wsg` file of this name.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if the specification is wrong or the file has another format, [`Error::Io`] and [`Error::Input`] if
    /// the file can't be read.
    pub fn open(text: &Path, weights: Weighting) -> Result<Self> {
        let specification = text.to_str().filter(|name| Recipe::looks_like(name) && !text.exists());
        let form = match specification {
            Some(name) => Form::Generated(Recipe::beyond_one_machine(name)?),
            None => Form::Stored(Box::new(StoredRows::open(text)?)),
        };
        let weights = match (&form, weights) {
            (Form::Generated(recipe), Weighting::AsStored) if !recipe.keeps_lengths() => match recipe.weights() {
                Some(range) => Weighting::Random(range, recipe.seed()),
                None => Weighting::Unit,
            },
            (_, weights) => weights,
        };
        Ok(Source { form, weights, turn: Turn::AsStored })
    }

    /// The same, or else a list of edges, which may have names with gaps: all ranks call it together, and each reads the lines of its
    /// bytes. Weights that are random or none are not read from a list.
    ///
    /// # Errors
    ///
    /// As [`Source::open`], [`Error::Input`] if the list is damaged, and [`Error::OutOfMemory`].
    pub fn open_together(world: &World, text: &Path, weights: Weighting, options: &ReadOptions) -> Outcome<Self> {
        let is_recipe = text.to_str().is_some_and(|name| Recipe::looks_like(name) && !text.exists());
        let has_rows = if is_recipe { Ok(true) } else { StoredRows::is_one(text) };
        // All ranks take the file for the same.
        let mut is_list = vec![u64::from(!world.agree(has_rows)?)];
        world.broadcast(&mut is_list);
        if is_list == [0] {
            let source = world.agree(Source::open(text, weights))?;
            if let Form::Stored(rows) = &source.form {
                world.same_file(text, rows.fingerprint())?;
            }
            return Ok(source);
        }
        let options = match weights {
            Weighting::AsStored => options.clone(),
            Weighting::Unit | Weighting::Random(..) => options.clone().weights(WeightSource::Unit),
        };
        let list = list::read(world, text, &options)?;
        Ok(Source { form: Form::Listed(Cow::Owned(list)), weights, turn: Turn::AsStored })
    }

    /// The bytes of a cell of a matrix that ranks share: as few as weights may do with that are known before the graph is read. If distances turn
    /// out to need more, ranks begin again with more.
    pub fn matrix_cell_bytes(&self) -> u64 {
        /// Greater weights take more than 16 bits, as paths of some arcs do.
        const SHORT: i64 = u16::MAX as i64 / 8;
        match (self.weight_kind(), self.weights) {
            (WeightKind::I32, _) => 8,
            (WeightKind::Unit, _) => 2,
            (_, Weighting::Random(range, _)) if range.high <= SHORT => 2,
            _ => 4,
        }
    }

    /// Whether it is a list of edges.
    pub fn is_list(&self) -> bool {
        matches!(self.form, Form::Listed(_))
    }

    /// A graph in memory, of which each rank takes its rows.
    pub fn of(graph: &'g Graph) -> Self {
        Source { form: Form::InMemory(graph), weights: Weighting::AsStored, turn: Turn::AsStored }
    }

    /// A graph of a list of edges: with their lengths, or all of length 1.
    pub fn listed(list: &'g ListedEdges, weighted: bool) -> Self {
        let weights = if weighted { Weighting::AsStored } else { Weighting::Unit };
        Source { form: Form::Listed(Cow::Borrowed(list)), weights, turn: Turn::AsStored }
    }

    /// The same graph with every arc the other way round.
    pub fn reversed(mut self) -> Self {
        self.turn = match self.turn {
            Turn::AsStored => Turn::Reversed,
            Turn::Reversed => Turn::AsStored,
            Turn::BothWays => Turn::BothWays,
        };
        self
    }

    /// The same graph without directions: every arc goes both ways.
    pub(crate) fn without_directions(self) -> Self {
        if self.is_directed() { Source { turn: Turn::BothWays, ..self } } else { self }
    }

    /// The file, if the graph is in one.
    pub(crate) fn stored(&self) -> Option<&StoredRows> {
        match &self.form {
            Form::Stored(file) => Some(file),
            _ => None,
        }
    }

    /// Bytes of the list of edges that this rank has, if the graph is one.
    pub(crate) fn bytes_of_list(&self) -> u64 {
        match &self.form {
            Form::Listed(list) => list.edges.len() as u64 * (16 + list.weights.kind().bytes()),
            _ => 0,
        }
    }

    /// Bytes of the names of vertices that this rank has in memory, since they have gaps or are words.
    pub(crate) fn bytes_of_names(&self) -> u64 {
        match &self.form {
            Form::Listed(list) => match &list.names {
                VertexNames::From(_) => 0,
                VertexNames::Owned { names, .. } => names.owned_bytes(),
            },
            _ => 0,
        }
    }

    /// Bytes that each rank takes for what a generator prepares.
    pub(crate) fn bytes_to_generate(&self, ranks: usize) -> u64 {
        match &self.form {
            Form::Generated(recipe) => recipe.bytes_of_share(ranks),
            _ => 0,
        }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u64 {
        match &self.form {
            Form::Generated(recipe) => recipe.vertices(),
            Form::Stored(file) => file.vertices(),
            Form::InMemory(graph) => graph.vertices() as u64,
            Form::Listed(list) => list.vertices,
        }
    }

    /// The number of arcs, or a bound: a generator may draw an edge twice.
    pub fn arcs(&self) -> u64 {
        let arcs = self.arcs_as_stored();
        if self.turn == Turn::BothWays { arcs.saturating_mul(2) } else { arcs }
    }

    fn arcs_as_stored(&self) -> u64 {
        match &self.form {
            Form::Generated(recipe) => recipe.arcs(),
            Form::Stored(file) => file.arcs(),
            Form::InMemory(graph) => graph.arcs() as u64,
            Form::Listed(list) => list.count * if list.directed { 1 } else { 2 },
        }
    }

    /// Whether arcs have a direction.
    pub fn is_directed(&self) -> bool {
        self.turn != Turn::BothWays && self.is_stored_directed()
    }

    fn is_stored_directed(&self) -> bool {
        match &self.form {
            Form::Generated(recipe) => recipe.is_directed(),
            Form::Stored(file) => file.is_directed(),
            Form::InMemory(graph) => graph.is_directed(),
            Form::Listed(list) => list.directed,
        }
    }

    /// The type of the weights.
    pub fn weight_kind(&self) -> WeightKind {
        match (self.weights, &self.form) {
            (Weighting::Unit, _) => WeightKind::Unit,
            (Weighting::Random(range, _), _) if range.low < 0 => WeightKind::I32,
            (Weighting::Random(..), _) | (_, Form::Generated(_)) => WeightKind::U32,
            (Weighting::AsStored, Form::Stored(file)) => file.weight_kind(),
            (Weighting::AsStored, Form::InMemory(graph)) => graph.weight_kind(),
            (Weighting::AsStored, Form::Listed(list)) => list.weights.kind(),
        }
    }

    /// The names of some vertices.
    ///
    /// # Errors
    ///
    /// As [`StoredRows::names`].
    pub fn names(&self, vertices: Range<u64>) -> Result<Labels> {
        match &self.form {
            Form::Generated(_) => Ok(Labels::range(vertices.start, vertices.end - vertices.start)),
            Form::Listed(list) => Ok(match &list.names {
                VertexNames::From(first) => Labels::range(first + vertices.start, vertices.end - vertices.start),
                VertexNames::Owned { names, .. } => names.clone(),
            }),
            Form::Stored(file) => file.names(vertices),
            Form::InMemory(graph) => {
                let names = vertices.map(|v| graph.name(v as VertexId).parse::<u64>());
                let names = names.collect::<std::result::Result<Vec<u64>, _>>();
                names.map(Labels::Integers).map_err(|_| Error::invalid("names in memory have to be numbers here"))
            }
        }
    }

    /// Who owns which vertices: about equally many vertices and arcs for each rank where the rows are known, else equally many
    /// vertices.
    pub(crate) fn partition(&self, world: &World) -> Outcome<Partition> {
        let vertices = self.vertices();
        let file = match &self.form {
            Form::Stored(file) => file,
            Form::Listed(list) => {
                return Ok(match &list.names {
                    VertexNames::From(_) => Partition::equal(vertices, world.ranks()),
                    VertexNames::Owned { starts, .. } => Partition::at(starts.clone()),
                });
            }
            Form::Generated(_) | Form::InMemory(_) => return Ok(Partition::equal(vertices, world.ranks())),
        };
        // All ranks take the same starts, whatever they might read from a file that changes.
        let mut starts = Vec::new();
        let found = if world.rank() == 0 { balanced_starts(file, world.ranks()) } else { Ok(Vec::new()) };
        if let Some(found) = world.agree(found.map(Some))? {
            starts = found;
        }
        world.broadcast(&mut starts);
        Ok(Partition::at(starts))
    }

    /// The arcs that this rank draws or reads, with weights of a kind, in batches: from anywhere to anywhere where they are drawn, its own rows where they
    /// are read.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if a generator has no memory to prepare, on all ranks if on any.
    pub(crate) fn arcs_of(&self, world: &World, partition: &Partition, weights: WeightKind) -> Outcome<ArcsOf<'_>> {
        let origin = match self.weights {
            Weighting::Random(range, seed) => {
                let weights = ArcWeights::new(range, seed, self.is_stored_directed());
                Origin::Random(world.agree(weights)?)
            }
            _ => Origin::Arcs,
        };
        let with_weights = weights != WeightKind::Unit && self.weights == Weighting::AsStored;
        let form = match &self.form {
            Form::Generated(recipe) => {
                let share = world.agree(recipe.share(world.rank(), world.ranks()))?;
                let parts = match share.tally() {
                    None => share,
                    Some(tally) => share.knowing(world.agree(world.sum_before(tally))?, world.total(tally)),
                };
                ArcsFrom::Parts { parts, directed: recipe.is_directed() }
            }
            Form::Stored(file) => ArcsFrom::File { file, with_weights },
            Form::InMemory(graph) => ArcsFrom::Graph(graph),
            Form::Listed(list) => ArcsFrom::Listed(list),
        };
        let rows = partition.range(world.rank());
        let next = match &form {
            ArcsFrom::Parts { .. } | ArcsFrom::Listed(_) => 0,
            ArcsFrom::File { .. } | ArcsFrom::Graph(_) => rows.start,
        };
        Ok(ArcsOf { form, origin, turn: self.turn, first: next, next, end: rows.end, most: ARCS })
    }
}

/// Starts of ranges of rows that have about equally many vertices and arcs together.
fn balanced_starts(file: &StoredRows, ranks: usize) -> Result<Vec<u64>> {
    let vertices = file.vertices();
    let total = u128::from(vertices) + u128::from(file.arcs());
    let mut starts = vec![0];
    for rank in 1..ranks {
        let wanted = (total * rank as u128 / ranks as u128) as u64;
        let (mut low, mut high) = (starts[rank - 1], vertices);
        while low < high {
            let middle = low + (high - low) / 2;
            if file.arcs_before(middle)?.saturating_add(middle) < wanted { low = middle + 1 } else { high = middle }
        }
        starts.push(low);
    }
    starts.push(vertices);
    Ok(starts)
}

enum ArcsFrom<'a> {
    Parts { parts: EdgeParts, directed: bool },
    File { file: &'a StoredRows, with_weights: bool },
    Graph(&'a Graph),
    Listed(&'a ListedEdges),
}

/// Arcs in batches.
pub(crate) struct ArcsOf<'a> {
    form: ArcsFrom<'a>,
    origin: Origin,
    turn: Turn,
    /// The first part, row, or edge of a list, and the next one.
    first: u64,
    next: u64,
    /// Behind the last row.
    end: u64,
    /// About how many arcs the next batch has.
    most: u64,
}

/// About how many arcs a batch has.
const ARCS: u64 = 1 << 20;

impl ArcsOf<'_> {
    /// Hands over about so many of the first arcs, which will come again.
    pub(crate) fn sample(&mut self, most: u64, mut take: impl FnMut(u64, u64)) -> Result<()> {
        self.most = most;
        let sampled = self.next_batch(|u, v, _: Unit| take(u, v));
        (self.most, self.next) = (ARCS, self.first);
        sampled.map(drop)
    }

    /// Hands over the next batch, up to about a million arcs; returns whether there may be more.
    pub(crate) fn next_batch<W: Weight>(&mut self, mut take: impl FnMut(u64, u64, W)) -> Result<bool> {
        let turn = self.turn;
        // An arc has its weight before it is turned round.
        let take = |u: u64, v: u64, weight: W| {
            if turn != Turn::Reversed {
                take(u, v, weight);
            }
            if turn != Turn::AsStored {
                take(v, u, weight);
            }
        };
        match self.origin {
            Origin::Arcs => self.batch(|_, _, weight| weight, take),
            Origin::Random(random) => self.batch(|u, v, _| of_bits(random.bits(u, v)), take),
        }
    }

    fn batch<W: Weight>(
        &mut self,
        weight: impl Fn(u64, u64, W) -> W,
        mut take: impl FnMut(u64, u64, W),
    ) -> Result<bool> {
        const ROWS: u64 = 1 << 20;
        let most = self.most;
        match &self.form {
            ArcsFrom::Parts { parts, directed } => {
                let count = parts.count() as u64;
                let mut arcs = 0;
                while arcs < most {
                    if self.next >= count {
                        return Ok(false);
                    }
                    let drawn = parts.draw(self.next as usize)?;
                    self.next += 1;
                    arcs += drawn.edges.len() as u64 * if *directed { 1 } else { 2 };
                    for (index, &(u, v)) in drawn.edges.iter().enumerate().filter(|(_, (u, v))| u != v) {
                        let own = drawn.lengths.as_ref().map_or(W::default(), |lengths| of_bits(lengths[index]));
                        take(u, v, weight(u, v, own));
                        if !directed {
                            take(v, u, weight(v, u, own));
                        }
                    }
                }
                Ok(true)
            }
            ArcsFrom::File { file, with_weights } => {
                let first = self.next;
                let limit = file.arcs_before(first)?.saturating_add(most);
                // As many rows as have about so many arcs.
                let (mut low, mut high) = (first + 1, self.end.min(first + ROWS));
                while low < high {
                    let middle = low + (high - low).div_ceil(2);
                    if file.arcs_before(middle)? <= limit { low = middle } else { high = middle - 1 }
                }
                let rows = first.min(self.end)..low.min(self.end);
                if rows.is_empty() {
                    return Ok(false);
                }
                self.next = rows.end;
                let RowRange { offsets, targets, weights } = file.read(rows.clone(), *with_weights)?;
                // Whoever wants other weights has not read these.
                let own = W::of(&weights);
                for (row, u) in rows.enumerate() {
                    for arc in offsets[row] as usize..offsets[row + 1] as usize {
                        let v = u64::from(targets[arc]);
                        take(u, v, weight(u, v, own.map_or(W::default(), |weights| weights[arc])));
                    }
                }
                Ok(self.next < self.end)
            }
            ArcsFrom::Listed(list) => {
                let first = self.next as usize;
                let edges = first..list.edges.len().min(first + (most / 2) as usize);
                self.next = edges.end as u64;
                // Whoever wants other weights does not take these.
                let own = W::of(&list.weights);
                for index in edges {
                    let (u, v) = list.edges[index];
                    if u == v && !list.keeps_loops {
                        continue;
                    }
                    let own = own.map_or(W::default(), |weights| weights[index]);
                    take(u, v, weight(u, v, own));
                    if !list.directed && u != v {
                        take(v, u, weight(v, u, own));
                    }
                }
                Ok((self.next as usize) < list.edges.len())
            }
            ArcsFrom::Graph(graph) => {
                let rows = self.next..self.end.min(self.next + ROWS);
                self.next = rows.end.max(self.next);
                let csr = graph.csr();
                let own = W::of(csr.weights());
                for u in rows {
                    for arc in csr.row(u as VertexId) {
                        let v = u64::from(csr.targets()[arc]);
                        take(u, v, weight(u, v, own.map_or(W::default(), |weights| weights[arc])));
                    }
                }
                Ok(self.next < self.end)
            }
        }
    }
}

/// The weight that has these bits, of a type of 32 bits or none.
fn of_bits<W: Weight>(bits: u32) -> W {
    bytemuck::pod_read_unaligned(&bits.to_ne_bytes()[..size_of::<W>()])
}
