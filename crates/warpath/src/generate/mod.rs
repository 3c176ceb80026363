//! Generates graphs, with one source file a generator. A seed gives the same graph with any number of threads.
//!
//! A specification `NAME:SIZE[,option=value]..`, such as `kron:20,edges-per-vertex=8,seed=3`, selects a graph (see
//! [`GENERATORS`] for all names). Each edge is a function of the seed and its index. So edges are drawn in parallel, in
//! parts, and most are drawn twice in place of a list of them: once to count arcs, and once to put them into rows.
//!
//! All graphs except `crawl` and `dense` are undirected. They are without weights unless `weights=LO..HI` asks for them;
//! only `roads` has lengths and `dense` has weights of its own. Loops and repeated edges are dropped.

use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

mod crawl;
mod dense;
mod geometric;
mod grid;
mod kronecker;
mod parts;
mod powers;
pub(crate) mod random;
mod roads;
mod scale_free;
mod spec;
mod uniform;
mod weights;

pub use parts::{DrawnEdges, EdgeParts};
pub use weights::{ArcWeights, EdgeFractions, RandomWeights, WeightRange};

use crate::graph::{
    Coordinates, Csr, Direction, EdgeList, GraphBuilder, InputCounts, Labels, MAX_VERTICES, Redrawn, SelfLoops,
    SortingBytes, Unit, VertexId,
};
use crate::{Control, Error, Graph, Plan, Result, available_memory, memory};
use spec::Options;

/// The seed if none is given.
pub const DEFAULT_SEED: u64 = 1;

/// So many vertices, or all of them, drawn at random by a seed without putting any back. O(count).
pub fn sample_of_vertices(count: usize, vertices: usize, seed: u64) -> impl ExactSizeIterator<Item = VertexId> {
    random::sample(count as u64, vertices as u64, seed).map(|v| v as VertexId)
}

/// [`sample_of_vertices`] of a graph that may be larger than one machine.
pub fn sample_of_many_vertices(count: u64, vertices: u64, seed: u64) -> impl Iterator<Item = u64> {
    random::sample(count, vertices, seed)
}

/// The description of a generator.
#[derive(Debug, Clone, Copy)]
pub struct GeneratorInfo {
    /// Its name, before the colon.
    pub name: &'static str,
    /// The form of the size, after the colon.
    pub size: &'static str,
    /// One line on what it makes.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The options that it has beside [`COMMON_OPTIONS`].
    pub options: &'static [OptionInfo],
}

/// An option of a generator.
#[derive(Debug, Clone, Copy)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub summary: &'static str,
    /// Its value if it is not set.
    pub default: &'static str,
}

/// All generators.
///
/// ```
/// for generator in warpath::generate::GENERATORS {
///     println!("{}:{}  {}", generator.name, generator.size, generator.summary);
/// }
/// assert!(warpath::generate::GENERATORS.iter().any(|generator| generator.name == "grid"));
/// ```
pub const GENERATORS: &[GeneratorInfo] = &[
    kronecker::INFO,
    uniform::INFO,
    grid::INFO,
    geometric::INFO,
    scale_free::INFO,
    crawl::INFO,
    roads::INFO,
    dense::INFO,
];

/// The options that every generator has.
pub const COMMON_OPTIONS: &[OptionInfo] = &[
    OptionInfo { name: "seed", summary: "chooses among the graphs of a recipe, and its weights", default: "1" },
    OptionInfo {
        name: "weights",
        summary: "`LO..HI`, uniform random integers, both ends included, or `unit`",
        default: "unit (roads: lengths; dense: 1..100)",
    },
];

const EDGES_PER_VERTEX: OptionInfo =
    OptionInfo { name: "edges-per-vertex", summary: "undirected edges drawn for each vertex", default: "16" };

/// The purposes of random numbers: each selects an independent stream of a seed.
mod purpose {
    pub(super) const EDGES: u64 = 1;
    pub(super) const NAMES: u64 = 2;
    pub(super) const WEIGHTS: u64 = 3;
    pub(super) const POINTS: u64 = 4;
    pub(super) const DEGREES: u64 = 5;
    pub(super) const VOICES: u64 = 6;
    pub(super) const RANKS: u64 = 7;
    pub(super) const ENDS: u64 = 8;
    pub(super) const TEMPLATES: u64 = 9;
    pub(super) const SITES: u64 = 10;
    pub(super) const ROUNDING: u64 = 11;
    pub(super) const LENGTHS: u64 = 12;
    /// The first of many: one for each hub.
    pub(super) const HUBS: u64 = 1 << 32;
}

/// A generator: the size of its graph, and the edges that it draws.
trait Generator {
    /// The number of vertices, exactly.
    fn vertices(&self) -> u64;
    /// The number of edges drawn, or expected.
    fn edges(&self) -> u64;
    /// Bytes of memory beside the edges.
    fn scratch(&self) -> u64 {
        0
    }
    /// Whether edges have a direction.
    fn is_directed(&self) -> bool {
        false
    }
    /// Whether it draws arcs where they stay, without a list of edges.
    fn draws_rows(&self) -> bool {
        false
    }
    /// Whether its edges come with lengths, which are the weights if the specification says nothing of weights.
    fn has_lengths(&self) -> bool {
        false
    }
    /// The weights if the specification gives none.
    fn default_weights(&self) -> Option<WeightRange> {
        None
    }
    /// Where the vertices lie, if they lie somewhere.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    fn coordinates(&self, _seed: u64) -> Result<Option<Coordinates>> {
        Ok(None)
    }
    /// Prepares the drawing of edges.
    ///
    /// # Errors
    ///
    /// If there is no memory for data that is drawn at once.
    fn draw(&self, seed: u64) -> Result<Edges>;
    /// Prepares one of several shares of the edges, in less memory than all take, if the generator knows how to.
    ///
    /// # Errors
    ///
    /// As [`Generator::draw`].
    fn draw_share(&self, _seed: u64, _share: Share) -> Result<Option<DrawnShare>> {
        Ok(None)
    }
    /// Bytes of memory beside the edges of one of `count` shares.
    fn scratch_of_share(&self, _count: usize) -> u64 {
        self.scratch()
    }
    /// The most edges of one of `count` shares that are drawn at once, if edges come with lengths.
    fn edges_of_share(&self, _count: usize) -> u64 {
        self.edges()
    }
}

/// One of several shares.
#[derive(Debug, Clone, Copy)]
struct Share {
    index: usize,
    count: usize,
}

impl Share {
    /// Which of so many things in a row are in it: about as many as in every other share.
    fn of(self, all: u64) -> Range<u64> {
        let start = |index: usize| (u128::from(all) * index as u128 / self.count as u128) as u64;
        start(self.index)..start(self.index + 1)
    }
}

/// The edges of a share.
enum DrawnShare {
    Ready(Edges),
    Counted(Counted),
}

/// Edges of a share that depend on what other shares have counted.
struct Counted {
    /// What this share has counted.
    tally: u64,
    /// Prepares the edges, given what the shares before this one have counted, and what all have.
    draw: Box<dyn FnOnce(u64, u64) -> Edges + Send + Sync>,
}

/// Draws the edges of a part.
type DrawPart<T> = Box<dyn Fn(usize) -> Result<T> + Sync>;
/// Draws the edges from an index on.
type DrawBlock = dyn Fn(u64, &mut [(u64, u64)]);

/// Edges not drawn yet, in parts that can be drawn in any order.
enum Edges {
    Parts {
        count: usize,
        draw: DrawPart<EdgeList<Unit>>,
        /// The same for graphs with more vertices than a [`VertexId`] can tell apart, if the generator makes such graphs.
        draw_wide: Option<DrawPart<Vec<(u64, u64)>>>,
    },
    /// Already drawn, with lengths.
    Lengths(EdgeList<u32>),
    /// Arcs, already in their place.
    Rows(Csr),
}

impl Edges {
    /// `count` parts, each drawn from its index.
    fn by_part(count: usize, draw: impl Fn(usize) -> Result<EdgeList<Unit>> + Sync + 'static) -> Self {
        Edges::Parts { count, draw: Box::new(draw), draw_wide: None }
    }

    /// `count` edges, each drawn from its index.
    fn by_index(count: u64, draw: impl Fn(u64) -> (u64, u64) + Send + Sync + 'static) -> Self {
        Edges::by_block(count, move |first, block| {
            block.iter_mut().zip(first..).for_each(|(edge, index)| *edge = draw(index));
        })
    }

    /// `count` edges, drawn in blocks: each of those from an index on.
    fn by_block(count: u64, draw: impl Fn(u64, &mut [(u64, u64)]) + Send + Sync + 'static) -> Self {
        let draw = Arc::new(draw);
        let draw_wide = draw.clone();
        Edges::Parts {
            count: count.div_ceil(EDGES_PER_PART as u64) as usize,
            draw: Box::new(move |part| {
                let edges = drawn_in_blocks(part, count, &*draw, |&(u, v)| (u as VertexId, v as VertexId))?;
                Ok(EdgeList { weights: vec![Unit; edges.len()], edges })
            }),
            draw_wide: Some(Box::new(move |part| drawn_in_blocks(part, count, &*draw_wide, |&edge| edge))),
        }
    }
}

/// Edges of one part, where each has an index.
const EDGES_PER_PART: usize = 1 << 16;

/// A part of `count` edges that are drawn in blocks.
fn drawn_in_blocks<T>(part: usize, count: u64, draw: &DrawBlock, store: impl Fn(&(u64, u64)) -> T) -> Result<Vec<T>> {
    const BLOCK: usize = 1 << 8;
    let first = (part * EDGES_PER_PART) as u64;
    let end = count.min(first + EDGES_PER_PART as u64);
    let mut edges = memory::with_capacity("the edges of a part", (end - first) as usize)?;
    let mut block = [(0, 0); BLOCK];
    for first in (first..end).step_by(BLOCK) {
        let block = &mut block[..BLOCK.min((end - first) as usize)];
        draw(first, block);
        edges.extend(block.iter().map(&store));
    }
    Ok(edges)
}

/// A graph that can be generated: a specification, checked.
///
/// ```
/// use warpath::{Control, generate::Recipe};
/// let recipe: Recipe = "grid:1000x2000".parse()?;
/// assert_eq!((recipe.vertices(), recipe.arcs()), (2_000_000, 7_994_000));
/// let small: Recipe = "grid:3x2,weights=1..9".parse()?;
/// assert_eq!(small.generate(&Control::new())?.arcs(), 14);
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    specification: String,
    shape: Shape,
    seed: u64,
    weights: Option<WeightRange>,
    keeps_lengths: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Kronecker(kronecker::Kronecker),
    Uniform(uniform::Uniform),
    Grid(grid::Grid),
    Geometric(geometric::Geometric),
    ScaleFree(scale_free::ScaleFree),
    Crawl(crawl::Crawl),
    Roads(roads::Roads),
    Dense(dense::Dense),
}

impl Shape {
    fn generator(&self) -> &dyn Generator {
        match self {
            Shape::Kronecker(generator) => generator,
            Shape::Uniform(generator) => generator,
            Shape::Grid(generator) => generator,
            Shape::Geometric(generator) => generator,
            Shape::ScaleFree(generator) => generator,
            Shape::Crawl(generator) => generator,
            Shape::Roads(generator) => generator,
            Shape::Dense(generator) => generator,
        }
    }
}

impl FromStr for Recipe {
    type Err = Error;

    /// Parses a specification; [`Error::InvalidRequest`] says what is wrong with it.
    fn from_str(text: &str) -> Result<Self> {
        Recipe::parse(text, MAX_VERTICES)
    }
}

impl Recipe {
    fn parse(text: &str, most_vertices: u64) -> Result<Self> {
        let options = Options::parse(text, most_vertices)?;
        let shape = match options.info.name {
            name if name == kronecker::INFO.name => Shape::Kronecker(kronecker::Kronecker::parse(&options)?),
            name if name == uniform::INFO.name => Shape::Uniform(uniform::Uniform::parse(&options)?),
            name if name == grid::INFO.name => Shape::Grid(grid::Grid::parse(&options)?),
            name if name == geometric::INFO.name => Shape::Geometric(geometric::Geometric::parse(&options)?),
            name if name == scale_free::INFO.name => Shape::ScaleFree(scale_free::ScaleFree::parse(&options)?),
            name if name == crawl::INFO.name => Shape::Crawl(crawl::Crawl::parse(&options)?),
            name if name == roads::INFO.name => Shape::Roads(roads::Roads::parse(&options)?),
            _ => Shape::Dense(dense::Dense::parse(&options)?),
        };
        let weights = options.weights(shape.generator().default_weights())?;
        let keeps_lengths = shape.generator().has_lengths() && options.get("weights").is_none();
        Ok(Recipe { specification: text.to_owned(), seed: options.seed()?, shape, weights, keeps_lengths })
    }
}

impl Display for Recipe {
    /// The specification, as it was given.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.specification)
    }
}

impl Recipe {
    /// Whether a text means a generator rather than a file: it begins with a generator's name and a colon.
    ///
    /// ```
    /// use warpath::generate::Recipe;
    /// assert!(Recipe::looks_like("kron:20") && Recipe::looks_like("kron:many"));
    /// assert!(!Recipe::looks_like("kron.txt") && !Recipe::looks_like("C:kron"));
    /// ```
    pub fn looks_like(text: &str) -> bool {
        text.split_once(':').is_some_and(|(name, _)| GENERATORS.iter().any(|info| info.name == name))
    }

    /// The number of vertices of the graph.
    ///
    /// ```
    /// let recipe: warpath::generate::Recipe = "kron:20".parse()?;
    /// assert_eq!(recipe.vertices(), 1 << 20);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn vertices(&self) -> u64 {
        self.shape.generator().vertices()
    }

    /// The number of arcs of the graph, two for an undirected edge. It is exact except for `rgg`, where it is the
    /// expected number, and for `kron`, where it is an upper bound, since loops and repeated edges are dropped. It is an
    /// upper bound, too, for `crawl` where that asks for more replies than there are links without a reverse.
    ///
    /// ```
    /// let recipe: warpath::generate::Recipe = "uniform:20,edges-per-vertex=8".parse()?;
    /// assert_eq!(recipe.arcs(), 16 << 20);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn arcs(&self) -> u64 {
        let generator = self.shape.generator();
        generator.edges().saturating_mul(if generator.is_directed() { 1 } else { 2 })
    }

    /// Whether the arcs of the graph have a direction.
    ///
    /// ```
    /// let recipe: warpath::generate::Recipe = "dense:100".parse()?;
    /// assert!(recipe.is_directed());
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn is_directed(&self) -> bool {
        self.shape.generator().is_directed()
    }

    /// The seed, which chooses among the graphs of the recipe.
    ///
    /// ```
    /// let recipe: warpath::generate::Recipe = "kron:20,seed=7".parse()?;
    /// assert_eq!(recipe.seed(), 7);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The range of random weights; `None` without weights, or with lengths.
    ///
    /// ```
    /// let recipe: warpath::generate::Recipe = "dense:100".parse()?;
    /// assert_eq!(recipe.weights().map(|range| range.high), Some(100));
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn weights(&self) -> Option<WeightRange> {
        self.weights
    }

    /// Bytes of the graph itself, which are a part of [`Recipe::plan`].
    ///
    /// ```
    /// let recipe: warpath::generate::Recipe = "kron:20".parse()?;
    /// assert!(recipe.graph_bytes() < recipe.plan().memory_bytes());
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn graph_bytes(&self) -> u64 {
        let offsets = size_of::<u64>() as u64 * (self.vertices() + 1);
        let heads = self.arcs().saturating_mul(size_of::<VertexId>() as u64);
        offsets.saturating_add(heads).saturating_add(self.bytes_of_weights())
    }

    fn bytes_of_weights(&self) -> u64 {
        let has_weights = self.weights.is_some() || self.keeps_lengths;
        self.arcs().saturating_mul(if has_weights { size_of::<u32>() as u64 } else { 0 })
    }

    /// The memory that generating will take, without generating.
    ///
    /// ```
    /// let recipe: warpath::generate::Recipe = "kron:26".parse()?;
    /// assert!(recipe.plan().memory_bytes() > 10 << 30);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn plan(&self) -> Plan {
        let generator = self.shape.generator();
        let mut plan = Plan::new();
        plan.memory("the graph", self.graph_bytes());
        if !generator.draws_rows() {
            let bytes_of_length = if generator.has_lengths() { size_of::<u32>() as u64 } else { 0 };
            let bytes_of_edge = size_of::<(VertexId, VertexId)>() as u64 + bytes_of_length;
            let edges = if self.redraws() { 0 } else { generator.edges().saturating_mul(bytes_of_edge) };
            plan.memory("edges before they are sorted", edges.saturating_add(generator.scratch()));
            let SortingBytes { arcs, wave } = SortingBytes::of(self.vertices(), self.arcs(), bytes_of_length);
            let lengths = self.arcs().saturating_mul(bytes_of_length);
            // Random weights take their room when sorting has given back its own.
            let sorting = arcs.saturating_add(wave).saturating_add(lengths).saturating_sub(self.bytes_of_weights());
            plan.memory("sorting edges", sorting);
        }
        plan
    }

    /// Whether edges are drawn twice, so that there is no list of them. Those of a crawl are not: they take far longer
    /// to draw than to write down, and mostly come in order.
    fn redraws(&self) -> bool {
        let generator = self.shape.generator();
        !generator.is_directed() && !generator.has_lengths()
    }

    /// Where the vertices lie, by the recipe's seed: `grid` has columns and rows, `roads` the cells of its grid, and
    /// `rgg` the unit square; `None` for other generators.
    ///
    /// ```
    /// let recipe: warpath::generate::Recipe = "grid:3x2".parse()?;
    /// assert_eq!(recipe.coordinates()?.unwrap().of(3), Some([1.0, 1.0]));
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn coordinates(&self) -> Result<Option<Coordinates>> {
        self.shape.generator().coordinates(self.seed)
    }

    /// Generates the graph, on all threads of the current pool.
    ///
    /// ```
    /// use warpath::{Control, generate::Recipe};
    /// let control = Control::new().watched_by(|progress| println!("{} of {}", progress.done, progress.total));
    /// let recipe: Recipe = "scale-free:1000,seed=7".parse()?;
    /// assert_eq!(recipe.generate(&control)?.arcs(), 6000);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if the plan needs more memory than is available, and [`Error::Interrupted`].
    pub fn generate(&self, control: &Control) -> Result<Graph> {
        if self.vertices() > MAX_VERTICES {
            return Err(Error::invalid(format!(
                "`{self}` has more vertices than the {MAX_VERTICES} that one machine takes"
            )));
        }
        self.plan().check(available_memory())?;
        control.check()?;
        let direction = if self.is_directed() { Direction::Directed } else { Direction::Undirected };
        let builder = GraphBuilder::new().vertices(self.vertices()).direction(direction).self_loops(SelfLoops::Drop);
        let graph = match self.shape.generator().draw(self.seed)? {
            Edges::Parts { count: parts, draw, .. } if self.redraws() => {
                let (vertices, about) = (self.vertices(), self.shape.generator().edges());
                Graph::of_redrawn(&Redrawn { vertices, about, parts, draw: &*draw }, control)?
            }
            Edges::Parts { count, draw, .. } => {
                let done = AtomicU64::new(0);
                let draw_part = |part| {
                    let edges = draw(part)?;
                    control.progress("generate", done.fetch_add(1, Ordering::Relaxed) + 1, count as u64)?;
                    Ok(edges)
                };
                let parts = (0..count).into_par_iter().map(draw_part).collect::<Result<Vec<_>>>()?;
                drop(draw);
                builder.build(parts)?
            }
            Edges::Lengths(list) => builder.build(vec![list])?,
            Edges::Rows(csr) => {
                let counts = InputCounts { lines: csr.arcs() as u64, self_loops: 0, parallel: 0 };
                Graph::from_parts(csr, true, Labels::range(0, self.vertices()), counts)
            }
        };
        control.check()?;
        match self.weights {
            Some(WeightRange { low, high }) => graph.with_random_weights(low, high, self.seed),
            None if self.keeps_lengths => Ok(graph),
            None => Ok(graph.without_weights()),
        }
    }
}

/// Generates the graph of a specification, such as `kron:20` or `grid:1000x1000,weights=1..10`.
///
/// ```
/// let graph = warpath::generate("uniform:10,edges-per-vertex=4,weights=1..255,seed=7")?;
/// assert_eq!((graph.vertices(), graph.arcs()), (1024, 8192));
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidRequest`] if the specification is wrong, [`Error::OutOfMemory`] if the graph is too large.
pub fn generate(specification: &str) -> Result<Graph> {
    specification.parse::<Recipe>()?.generate(&Control::new())
}

#[cfg(test)]
mod tests;
