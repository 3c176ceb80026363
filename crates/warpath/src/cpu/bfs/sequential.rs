//! Breadth-first search by the textbook: one queue, one thread.
//!
//! Each vertex enters the queue once, when it is first seen; the queue holds the levels one after another, so it is
//! also the order of discovery. Work O(V + E), span the same. It wins on small graphs and on long thin ones (roads),
//! whose levels are too short to share; it loses on everything with a wide frontier.
//!
//! What one level takes is in [`expand`](super::expand).
//!
//! Source: Moore 1959, "The shortest path through a maze"; Cormen et al., *Introduction to Algorithms*, sect. 22.2.
//!
//! *Invariants.* The queue has room for each vertex once, and one more. A vertex enters it only as its level changes
//! from `UNREACHED`, which happens once; sources are told apart in the same way (`BfsTask::begin`), after a check that
//! they are vertices.

use std::sync::atomic::Ordering::Relaxed;

use super::expand::Noted;
use super::{BfsAlgorithm, BfsTask, UNREACHED};
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::graph::{Csr, DistanceKey, VertexId};
use crate::huge_pages::on_huge_pages;
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

fn search(task: &BfsTask<'_>, levels: &mut [u32], predecessors: Option<&mut [VertexId]>) -> Result<Statistics> {
    const VERTICES_BETWEEN_CHECKS: usize = 1 << 16;
    let graph = task.graph.csr();
    let mut queue = Queue::new(graph.vertices())?;
    let mut targets = memory::copied("the list of targets", task.targets)?;
    queue.restart(task.begin(levels));
    let noted = Noted {
        levels: u32::atomics(levels),
        predecessors: predecessors.map(u32::atomics),
        undirected: !task.graph.is_directed(),
    };
    let (mut level, mut checked_at) = (0, 0);
    task.control.check()?;
    while !queue.frontier().is_empty() && level < task.cutoff && !all_settled(&mut targets, task, &noted) {
        if queue.tail - checked_at >= VERTICES_BETWEEN_CHECKS {
            checked_at = queue.tail;
            task.control.check()?;
        }
        level += 1;
        queue.expand(graph, level, &noted);
    }
    noted.finish(graph, queue.before(), level);
    Ok(vec![("visited", queue.tail as u64), ("levels", u64::from(level))])
}

/// Whether there are targets and all of them have a level. Targets that have a level are dropped from `unsettled`.
#[inline]
pub(super) fn all_settled(unsettled: &mut Vec<VertexId>, task: &BfsTask<'_>, noted: &Noted<'_>) -> bool {
    if task.targets.is_empty() {
        return false;
    }
    while let Some(&target) = unsettled.last()
        && noted.levels[target as usize].load(Relaxed) != UNREACHED
    {
        unsettled.pop();
    }
    unsettled.is_empty()
}

/// The vertices discovered, level after level; the last level is the frontier.
#[derive(Debug)]
pub(super) struct Queue {
    /// Room for every vertex and one more; the first `tail` are written.
    vertices: Vec<VertexId>,
    /// Where the level before the last one begins.
    before: usize,
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
        Ok(Queue { vertices, before: 0, head: 0, tail: 0 })
    }

    /// Forgets everything and begins with this frontier, no vertex of which is named twice: there is room for each
    /// once.
    pub(super) fn restart(&mut self, frontier: impl IntoIterator<Item = VertexId>) {
        self.vertices.clear();
        self.vertices.extend(frontier);
        (self.before, self.head, self.tail) = (0, 0, self.vertices.len());
    }

    /// The vertices of the last level.
    pub(super) fn frontier(&self) -> &[VertexId] {
        &self.vertices[self.head..self.tail]
    }

    /// The vertices of the level before the last one; none since the last [`Queue::restart`].
    pub(super) fn before(&self) -> &[VertexId] {
        &self.vertices[self.before..self.head]
    }

    /// Gives `level` to every neighbour of the frontier that has none, and makes these the frontier.
    ///
    /// Every vertex in the queue has a level, and none is in it twice.
    pub(super) fn expand(&mut self, graph: &Csr, level: u32, noted: &Noted<'_>) {
        assert!(self.vertices.capacity() > graph.vertices());
        let queue = self.vertices.as_mut_ptr();
        let (head, tail) = (self.head, self.tail);
        // SAFETY: the queue is written between `head` and `tail`, with vertices, and nobody writes there.
        let frontier = unsafe { std::slice::from_raw_parts(queue.add(head), tail - head) };
        // SAFETY: a vertex enters the queue once at most, when it gets its level, and there is room for one more than all. Nobody else is at work.
        let found = unsafe { noted.expand::<false>(graph, frontier, level, queue.add(tail)) };
        // SAFETY: that many were written.
        unsafe { self.vertices.set_len(tail + found) };
        (self.before, self.head, self.tail) = (head, tail, tail + found);
    }
}
