//! Betweenness centrality, after Brandes: how many shortest paths lead through each vertex, or over each arc.
//!
//! Let σ(s, t) be the number of shortest paths from `s` to `t`, and σ(s, t | v) the number of those that have `v` inside. The
//! *dependency* of `s` on `v` is the sum of σ(s, t | v) / σ(s, t) over all targets `t`, and the betweenness of `v` is the sum of the
//! dependencies of all sources on it. One search from `s` finds all of its dependencies:
//!
//! 1. It counts the shortest paths to every vertex while it settles vertices in the order of their distance: σ(s, v) is the sum
//!    of σ(s, u) over the *tight* arcs `u -> v`, those that end a shortest path.
//! 2. It goes back in the reverse order. With c(v) = (1 + dependency of v) / σ(s, v), the dependency of `u` is σ(s, u) times the sum of
//!    c(v) over the tight arcs `u -> v`, and σ(s, u) c(v) is the share of one arc. Only out-arcs are read, and no list of
//!    predecessors is kept.
//!
//! Each thread searches from one source at a time, in memory of its own: `levels.rs` breadth-first, `distances.rs` by weights of
//! more than 0. Counts of paths grow exponentially (a grid of 1,100 x 1,100 has more than 2^2000 between its corners), so a search whose
//! counts leave the range of floats is repeated in numbers of any exponent (`counts.rs`). What the sources find is added up in fixed point
//! (`problems/sums.rs`), so that results have the same bits whatever the number of threads.
//!
//! Work O(V E) breadth-first and O(V E + V^2 log V) by weights for all sources; span that of one search. Memory of a thread: 64
//! bytes a vertex and 2 bits an arc breadth-first, 80 bytes a vertex and 64 an arc by weights, and 16 bytes an arc if arcs are asked for.
//!
//! Source: Brandes 2001, "A faster algorithm for betweenness centrality", algorithm 1; Brandes 2008, "On variants of shortest-path
//! betweenness centrality and their generic computation", for edges, subsets of vertices and endpoints.

mod counts;
mod distances;
mod levels;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use self::counts::Wide;
use self::distances::ByWeights;
use self::levels::ByLevels;
use crate::cpu::Team;
use crate::graph::{Adjacency, Csr, F64ToF64, MinPlus, VertexId};
use crate::problems::Sums;
use crate::{Control, Result};

/// Vertices between two looks at whether the work is cancelled.
const BETWEEN_CHECKS: usize = 1 << 14;

/// What to add up.
#[derive(Debug)]
pub(crate) struct BetweennessTask<'a> {
    pub(crate) graph: &'a Csr,
    pub(crate) sources: &'a [VertexId],
    /// Marks of the targets that count; all vertices if there are none.
    pub(crate) targets: Option<&'a [bool]>,
    /// Whether a path also counts for the vertices at its ends.
    pub(crate) endpoints: bool,
    /// Whether shares of arcs are asked for.
    pub(crate) arcs: bool,
    /// At most so many threads of the team search.
    pub(crate) threads: usize,
    pub(crate) team: &'a Team,
    pub(crate) control: &'a Control,
}

/// The sums of the dependencies of all sources.
#[derive(Debug)]
pub(crate) struct Dependencies {
    /// By vertex.
    pub(crate) vertices: Sums,
    /// By arc, in the order of the graph's rows, if asked for.
    pub(crate) arcs: Option<Sums>,
    /// How many searches were repeated: counts of paths went beyond the range of floats, or on a device beyond that of exact sums.
    pub(crate) repeated: u64,
}

/// The bytes that a thread takes at most: a search in floats, and one in numbers of any exponent.
pub(crate) fn memory_of_a_thread(graph: &Csr, by_weights: bool, arcs: bool) -> u64 {
    let searches = match by_weights {
        true => ByWeights::<F64ToF64, f64>::bytes(graph) + ByWeights::<F64ToF64, Wide>::bytes(graph),
        false => ByLevels::<f64>::bytes(graph) + ByLevels::<Wide>::bytes(graph),
    };
    let sums = graph.vertices() as u64 + if arcs { graph.arcs() as u64 } else { 0 };
    searches + Sums::BYTES * sums
}

/// Breadth-first: every arc is as long as every other.
pub(crate) fn by_levels(task: &BetweennessTask<'_>) -> Result<Dependencies> {
    add_up(task, || ByLevels::<f64>::new(task.graph), || ByLevels::<Wide>::new(task.graph))
}

/// By weights, all of them more than 0.
pub(crate) fn by_weights<L: MinPlus>(
    task: &BetweennessTask<'_>,
    adjacency: Adjacency<'_, L::Weight>,
) -> Result<Dependencies> {
    add_up(task, || ByWeights::<L, f64>::new(adjacency), || ByWeights::<L, Wide>::new(adjacency))
}

/// A search from one source, and back.
trait Search {
    /// Goes from the source to all vertices and back, and hands over the dependency on each vertex that is reached, the source
    /// included. False, and nothing handed over, if a count of paths is out of range.
    fn run(&mut self, source: VertexId, found: &mut Found<'_>, control: &Control) -> Result<bool>;
}

/// Where a thread adds up what its searches find.
struct Found<'a> {
    targets: Option<&'a [bool]>,
    endpoints: bool,
    vertices: Sums,
    arcs: Option<Sums>,
}

impl<'a> Found<'a> {
    fn new(task: &BetweennessTask<'a>) -> Result<Self> {
        Ok(Found {
            targets: task.targets,
            endpoints: task.endpoints,
            vertices: Sums::new(task.graph.vertices())?,
            arcs: task.arcs.then(|| Sums::new(task.graph.arcs())).transpose()?,
        })
    }

    /// How many targets the vertex is: 1 or 0.
    fn is_target(&self, v: VertexId) -> f64 {
        if self.targets.is_none_or(|targets| targets[v as usize]) { 1.0 } else { 0.0 }
    }

    /// Adds the dependency of a source on a vertex; of the source on itself, how many other targets it reaches.
    fn add(&mut self, v: VertexId, source: VertexId, dependency: f64) {
        let at_the_end = if v == source { dependency } else { self.is_target(v) };
        let inside = if v == source { 0.0 } else { dependency };
        self.vertices.add(v as usize, if self.endpoints { inside + at_the_end } else { inside });
    }
}

/// Searches from all sources by `new`, and again by `wide` where counts are out of range.
fn add_up<S: Search, W: Search>(
    task: &BetweennessTask<'_>,
    new: impl Fn() -> Result<S> + Sync,
    wide: impl Fn() -> Result<W> + Sync,
) -> Result<Dependencies> {
    let (claimed, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failed = AtomicBool::new(false);
    let results = task.team.run(|worker| {
        if worker.index >= task.threads {
            return Ok(None);
        }
        let work = || -> Result<Option<(Found<'_>, u64)>> {
            let mut begun = None;
            loop {
                let index = claimed.fetch_add(1, Ordering::Relaxed);
                if index >= task.sources.len() || failed.load(Ordering::Relaxed) {
                    return Ok(begun.map(|(found, _, _, repeated)| (found, repeated)));
                }
                // A thread that comes too late for a source needs no memory.
                let (found, search, wide_search, repeated) = match &mut begun {
                    Some(begun) => begun,
                    none => none.insert((Found::new(task)?, new()?, None, 0)),
                };
                let source = task.sources[index];
                if !search.run(source, found, task.control)? {
                    *repeated += 1;
                    let search = match wide_search {
                        Some(search) => search,
                        none => none.insert(wide()?),
                    };
                    search.run(source, found, task.control)?;
                }
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                task.control.progress("solve", done as u64, task.sources.len() as u64)?;
            }
        };
        let result = work();
        if result.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        result
    });
    let mut sums: Option<(Found<'_>, u64)> = None;
    for result in results {
        let Some((found, repeated)) = result? else { continue };
        match &mut sums {
            None => sums = Some((found, repeated)),
            Some((sum, repetitions)) => {
                sum.vertices.add_all(&found.vertices);
                if let (Some(sum), Some(arcs)) = (&mut sum.arcs, &found.arcs) {
                    sum.add_all(arcs);
                }
                *repetitions += repeated;
            }
        }
    }
    let (found, repeated) = match sums {
        Some(sums) => sums,
        None => (Found::new(task)?, 0),
    };
    Ok(Dependencies { vertices: found.vertices, arcs: found.arcs, repeated })
}
