//! Breadth-first search by the textbook: one queue, one thread.
//!
//! Each vertex enters the queue once, when it is first seen; the queue holds the levels one after another, so it is
//! also the order of discovery. Work O(V + E), span the same. It wins on small graphs and on long thin ones (roads),
//! whose levels are too short to share; it loses on everything with a wide frontier.
//!
//! The textbook loop waits most of its time: for the row of the vertex that leaves the queue, then for the levels of
//! its neighbours, and on the branch "seen before?", which nobody can predict. Three changes make it more than twice as
//! fast on roads. The queue says what comes next, so offsets are prefetched [`OFFSETS_AHEAD`] vertices ahead and the
//! row itself [`ROW_AHEAD`] ahead. A neighbour is always written to the end of the queue, and the end moves on only if
//! it was new: no branch. And the first [`ALWAYS_PROBED`] neighbours are probed without asking how many there are, the
//! last one again where there are fewer: by then it is not new, and the usual short row has no unpredictable loop end.
//!
//! Predecessors come on the way, if they are wanted: of all arcs that lead to the next level, each head keeps the least tail.
//!
//! Source: Moore 1959, "The shortest path through a maze"; Cormen et al., *Introduction to Algorithms*, sect. 22.2.
//!
//! *Invariants.* The queue has room for each vertex once, and one more. A vertex enters it only as its level changes
//! from `UNREACHED`, which happens once; sources are told apart in the same way (`BfsTask::begin`), after a check that
//! they are vertices. Offsets and heads are a `Csr`'s, which has checked them.

use std::hint::select_unpredictable;

use super::{BfsAlgorithm, BfsTask, UNREACHED};
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::graph::{Csr, VertexId};
use crate::huge_pages::on_huge_pages;
use crate::prefetch::prefetch;
use crate::problems::Problem;
use crate::{Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "sequential",
        summary: "one queue, one thread; wins on small graphs and on long thin ones",
        source: "Moore 1959",
        parameters: &[],
        negative_weights: true,
        seconds,
    },
    needs_transpose: false,
    needs_metric: false,
    uses_team: false,
    finds_predecessors: true,
    search,
};

fn seconds(work: &Workload<'_>) -> f64 {
    const START: f64 = 100e-9;
    const VERTEX: f64 = 3.5e-9;
    /// An arc whose head is in the cache.
    const ARC: f64 = 1.5e-9;
    let misses = if work.graph.has_short_levels() { 1.0 } else { work.cache_misses(8.0) };
    work.side_by_side(START + work.vertices() * VERTEX + work.arcs() * ARC * misses)
}

/// How many vertices ahead in the queue offsets are prefetched.
const OFFSETS_AHEAD: usize = 64;
/// How many vertices ahead in the queue the beginning of a row is prefetched: its offset has come by then.
const ROW_AHEAD: usize = 32;
/// How many neighbours are probed without asking whether there are that many.
const ALWAYS_PROBED: usize = 3;

fn search(task: &BfsTask<'_>, levels: &mut [u32], predecessors: Option<&mut [VertexId]>) -> Result<Statistics> {
    match predecessors {
        Some(predecessors) => search_with(task, levels, predecessors),
        None => search_with(task, levels, ()),
    }
}

fn search_with(task: &BfsTask<'_>, levels: &mut [u32], mut tails: impl Tails) -> Result<Statistics> {
    const VERTICES_BETWEEN_CHECKS: usize = 1 << 16;
    let graph = task.graph.csr();
    let mut queue = Queue::new(graph.vertices())?;
    let mut targets = memory::copied("the list of targets", task.targets)?;
    queue.restart(task.begin(levels));
    let (mut level, mut checked_at) = (0, 0);
    task.control.check()?;
    while !queue.frontier().is_empty() && level < task.cutoff && !all_settled(&mut targets, task, levels) {
        if queue.tail - checked_at >= VERTICES_BETWEEN_CHECKS {
            checked_at = queue.tail;
            task.control.check()?;
        }
        level += 1;
        queue.expand(graph, level, levels, &mut tails);
    }
    Ok(vec![("visited", queue.tail as u64), ("levels", u64::from(level))])
}

/// Whether there are targets and all of them have a level. Targets that have a level are dropped from `unsettled`.
#[inline]
pub(super) fn all_settled(unsettled: &mut Vec<VertexId>, task: &BfsTask<'_>, levels: &[u32]) -> bool {
    if task.targets.is_empty() {
        return false;
    }
    while let Some(&target) = unsettled.last()
        && levels[target as usize] != UNREACHED
    {
        unsettled.pop();
    }
    unsettled.is_empty()
}

/// Where a search notes the tails of arcs that lead from one level to the next: predecessors, or nothing.
pub(super) trait Tails {
    /// Whether there is room for so many vertices.
    fn fits(&self, vertices: usize) -> bool;

    /// Notes an arc from `tail` to `head`, if it leads to the next level.
    ///
    /// # Safety
    ///
    /// There is room for `head`.
    unsafe fn note(&mut self, head: VertexId, tail: VertexId, leads_on: bool);
}

impl Tails for () {
    fn fits(&self, _: usize) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn note(&mut self, _: VertexId, _: VertexId, _: bool) {}
}

/// The least tail of each vertex.
impl Tails for &mut [VertexId] {
    fn fits(&self, vertices: usize) -> bool {
        self.len() == vertices
    }

    #[inline(always)]
    unsafe fn note(&mut self, head: VertexId, tail: VertexId, leads_on: bool) {
        // SAFETY: there is room for `head`, by the contract.
        let slot = unsafe { self.get_unchecked_mut(head as usize) };
        // Without a branch, which nobody could predict.
        *slot = (*slot).min(select_unpredictable(leads_on, tail, VertexId::MAX));
    }
}

/// The vertices discovered, level after level; the last level is the frontier.
#[derive(Debug)]
pub(super) struct Queue {
    /// Room for every vertex and one more; the first `tail` are written.
    vertices: Vec<VertexId>,
    head: usize,
    tail: usize,
}

impl Queue {
    /// Room for all vertices of a graph. Memory is touched only as it fills, by huge pages.
    ///
    /// # Errors
    ///
    /// If there is no memory for them.
    pub(super) fn new(vertices: usize) -> Result<Self> {
        let vertices = on_huge_pages(memory::with_capacity("the queue of vertices", vertices + 1)?);
        Ok(Queue { vertices, head: 0, tail: 0 })
    }

    /// Forgets everything and begins with this frontier, no vertex of which is named twice: there is room for each
    /// once.
    pub(super) fn restart(&mut self, frontier: impl IntoIterator<Item = VertexId>) {
        self.vertices.clear();
        self.vertices.extend(frontier);
        (self.head, self.tail) = (0, self.vertices.len());
    }

    /// The vertices of the last level.
    pub(super) fn frontier(&self) -> &[VertexId] {
        &self.vertices[self.head..self.tail]
    }

    /// All vertices discovered since the last [`Queue::restart`].
    pub(super) fn discovered(&self) -> &[VertexId] {
        &self.vertices[..self.tail]
    }

    /// Gives `level` to every neighbour of the frontier that has none, and makes these the frontier.
    ///
    /// Every vertex in the queue has a level, and none is in it twice; `levels` has a level for each vertex of `graph`. The arcs to these
    /// neighbours go to `tails`.
    pub(super) fn expand(&mut self, graph: &Csr, level: u32, levels: &mut [u32], tails: &mut impl Tails) {
        let (offsets, targets) = (graph.offsets(), graph.targets());
        assert!(levels.len() == graph.vertices() && self.vertices.capacity() > graph.vertices());
        assert!(tails.fits(graph.vertices()), "a predecessor for each vertex");
        let queue = self.vertices.as_mut_ptr();
        let (mut head, end, mut tail) = (self.head, self.tail, self.tail);
        let mut probe = |v: VertexId, tail: &mut usize, u: usize| {
            // SAFETY: heads of arcs are vertices, so `v < levels.len()`, and there is room for its predecessor. The queue's end moves only past
            // vertices that had no level and now have one: at most once for each, and there is room for one more than that.
            unsafe {
                let slot = levels.get_unchecked_mut(v as usize);
                let unseen = *slot == UNREACHED;
                *slot = (*slot).min(level);
                tails.note(v, u as VertexId, *slot == level);
                queue.add(*tail).write(v);
                *tail += usize::from(unseen);
            }
        };
        while head < end {
            // SAFETY: the queue is written below `tail`, with vertices, which have two offsets each; these ascend to
            // `targets.len()`, as every `Csr` guarantees.
            unsafe {
                let soon = queue.add((head + OFFSETS_AHEAD).min(end - 1)).read();
                prefetch(offsets, soon as usize);
                let next = queue.add((head + ROW_AHEAD).min(end - 1)).read();
                prefetch(targets, *offsets.get_unchecked(next as usize) as usize);
                let u = queue.add(head).read() as usize;
                let (first, after) = (*offsets.get_unchecked(u) as usize, *offsets.get_unchecked(u + 1) as usize);
                if first < after {
                    for arc in first..first + ALWAYS_PROBED {
                        probe(*targets.get_unchecked(arc.min(after - 1)), &mut tail, u);
                    }
                    for arc in first + ALWAYS_PROBED..after {
                        probe(*targets.get_unchecked(arc), &mut tail, u);
                    }
                }
            }
            head += 1;
        }
        // SAFETY: everything below `tail` was written, and `tail` is at most the number of vertices.
        unsafe { self.vertices.set_len(tail) };
        (self.head, self.tail) = (end, tail);
    }
}
