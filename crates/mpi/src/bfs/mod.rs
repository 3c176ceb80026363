//! Breadth-first search: the table of its algorithms, and what they share.
//!
//! An algorithm says what ranks tell each other, level by level. What a rank does by itself in between is a [`Local`] search, on its cores
//! (`cores.rs`) or on a GPU (`device.rs`).

mod cores;
mod device;
mod direction_optimizing;
mod top_down;

use device::Linked;
pub(crate) use direction_optimizing::{ARCS_SHARE, TIMES_MORE_ARCS, VERTICES_SHARE};
use warpath::graph::Unit;
use warpath::parts::{BfsPart, PartMail};
use warpath::{Error, Result};

use crate::algorithm::RankAlgorithm;
use crate::device::Placed;
use crate::graph::PartOfGraph;
use crate::world::{Outcome, Reduction, World};

/// The algorithms of breadth-first search, the preferred ones first.
pub(crate) const ALGORITHMS: &[RankAlgorithm] = &[direction_optimizing::INFO, top_down::INFO];

/// What a rank does by itself in a search. Vertices are numbers of states; hubs are bits, in their order.
trait Local {
    /// The size of the frontier here: a hub counts on the rank that answers for it, its arcs where they lie.
    fn size(&mut self) -> Result<Size>;

    /// Finds the next level from the frontier: gives owned heads their level, and notes hubs. Fills `mail` with the numbers, at each rank,
    /// of the ghosts that were met for the first time.
    fn expand(&mut self, mail: &mut PartMail) -> Result<()>;

    /// How many owned vertices the step has given a level so far; `None` if that takes as long as a meeting.
    fn found(&self) -> Option<u64> {
        None
    }

    /// Gives owned vertices that others met the next level, unless they have one.
    fn receive(&mut self, vertices: &[u32]) -> Result<()>;

    /// Fills `mail` with a bit for each ghost of each rank that this rank owns, whether it is in the frontier.
    fn tell_frontier(&mut self, mail: &mut PartMail) -> Result<()>;

    /// Finds the next level from the vertices without one. There is a bit for each ghost, whether it is in the frontier.
    fn look_up(&mut self, ghosts: &[u32]) -> Result<()>;

    /// The hubs found.
    fn found_hubs(&mut self) -> Result<Vec<u64>>;

    /// The next level becomes the frontier, with the hubs that any rank found.
    fn advance(&mut self, hubs: &[u64]) -> Result<()>;

    /// The levels of vertices with rows.
    fn levels(&mut self) -> Result<Vec<u32>>;

    /// The search on a device that is linked with those of the other ranks: messages go from one to the other.
    fn linked(&mut self) -> Option<Linked<'_>> {
        None
    }
}

/// Levels of all vertices with rows, from the sources on. `device` has the part, if the search is to be there.
pub(crate) fn search(
    world: &World,
    graph: &PartOfGraph<Unit>,
    device: Option<Placed<'_, BfsPart>>,
    algorithm: &RankAlgorithm,
    sources: &[u64],
) -> Outcome<Vec<u32>> {
    let local: Result<Box<dyn Local + '_>> = match device {
        Some(placed) => device::start(placed, graph, sources),
        None => cores::start(graph, sources),
    };
    let mut search =
        Search { graph, local: world.agree(local)?, mail: Mail::default(), failure: None, told: None, passed_arcs: 0 };
    if algorithm.name == direction_optimizing::INFO.name {
        direction_optimizing::run(world, &mut search)?;
    } else {
        top_down::run(world, &mut search)?;
    }
    world.agree(search.local.levels())
}

/// A search of all ranks.
struct Search<'g> {
    graph: &'g PartOfGraph<Unit>,
    local: Box<dyn Local + 'g>,
    mail: Mail,
    /// Why this rank can't go on, until the ranks agree on it.
    failure: Option<Error>,
    /// What the ranks told each other of the next frontier while they exchanged words.
    told: Option<Told>,
    /// The arcs of this rank's frontiers that all ranks have not been told of.
    passed_arcs: u64,
}

/// What ranks tell each other of a frontier while they exchange words.
#[derive(Debug, Clone, Copy)]
struct Told {
    /// At least as many as its vertices: one that several ranks met counts as often.
    vertices: u64,
    /// Whether a rank can't go on.
    failed: bool,
}

/// What was sent and what came, and bits before they become messages: memory that serves one level after another.
#[derive(Debug, Default)]
struct Mail {
    outgoing: PartMail,
    incoming: PartMail,
    bits: PartMail,
}

/// The size of a frontier.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    vertices: u64,
    /// The arcs that leave these vertices.
    arcs: u64,
}

impl Search<'_> {
    /// The size of the frontier on all ranks, if all could find it, and how many arcs frontiers had that were passed since.
    fn size(&mut self, world: &World) -> Outcome<(Size, u64)> {
        let size = self.local.size();
        let size = self.noted(size).unwrap_or_default();
        let passed = std::mem::take(&mut self.passed_arcs);
        let mut sums = [size.vertices, size.arcs, passed, u64::from(self.failure.is_some())];
        world.reduce_all(Reduction::Sum, &mut sums);
        self.check(world, sums[3] > 0)?;
        Ok((Size { vertices: sums[0], arcs: sums[1] }, sums[2]))
    }

    /// An error if a rank can't go on.
    fn check(&mut self, world: &World, failed: bool) -> Outcome<()> {
        if failed { world.agree(self.failure.take().map_or(Ok(()), Err)) } else { Ok(()) }
    }

    /// At least as many as the vertices of the frontier, if the last step told it to all ranks, and a frontier has no hubs.
    fn bound(&mut self, world: &World) -> Outcome<Option<u64>> {
        let Some(told) = self.told.take().filter(|_| self.graph.hubs() == 0) else { return Ok(None) };
        self.check(world, told.failed)?;
        Ok(Some(told.vertices))
    }

    /// Leaves the size of the frontier for later.
    fn pass(&mut self) {
        let size = self.local.size();
        self.passed_arcs += self.noted(size).unwrap_or_default().arcs;
    }

    /// The next level, which was looked for, becomes the frontier, with the hubs that any rank found.
    fn advance(&mut self, world: &World, expanded: Result<()>) {
        self.noted(expanded);
        let found = self.local.found_hubs();
        let mut hubs = self.noted(found).unwrap_or_else(|| vec![0; self.graph.hubs().div_ceil(64)]);
        if self.graph.hubs() > 0 {
            world.reduce_all(Reduction::Or, &mut hubs);
        }
        let advanced = self.local.advance(&hubs);
        self.noted(advanced);
    }

    /// The value, if there is one; the first error is kept.
    fn noted<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.failure.get_or_insert(error)).ok()
    }
}
