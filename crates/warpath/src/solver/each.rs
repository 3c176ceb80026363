//! Many independent searches: in batches that share work, side by side on one thread each, or one after another, as
//! decided; on several devices at once if that was asked for.
//!
//! Whole searches side by side need no barriers and no atomics, so they use the cores better than one parallel search
//! after another. The trees are handed over in the order of the sources, on the calling thread, while the workers go
//! on; a worker that is too far ahead of the hand-over waits, so that only a few trees are in memory at any time.

mod devices;
mod queue;

use std::cell::Cell;

use self::queue::{Queue, Stop, StopOnPanic};
use super::decision::{Decision, Manner, Placed};
use super::{Search, Solver};
use crate::graph::VertexId;
use crate::problems::ShortestPathTree;
use crate::team::Team;
use crate::{Error, Plan, Result};

/// How many trees a thread may be ahead of the hand-over.
const AHEAD: usize = 2;

/// The callback that takes the trees.
pub(super) type Each<'e> = &'e mut dyn FnMut(ShortestPathTree) -> Result<()>;

impl Solver {
    /// How [`Solver::solve_each`] would search from these sources, and the memory that this takes at any time, beyond
    /// the graph itself.
    ///
    /// # Errors
    ///
    /// If the request makes no sense for the solver's graph.
    pub fn decide_each<S: Search>(&self, search: &S, sources: &[VertexId]) -> Result<Decision> {
        self.answer(|| {
            let decision = self.closing_a_lost_device(search.decide(self, Some(sources.len())))?;
            Ok(self.with_memory_for_all(decision, sources.len()).without_choice())
        })
    }

    /// Answers one search for each source, independently, and hands the trees to `each` in the order of `sources`.
    ///
    /// ```
    /// let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 2, 7)])?;
    /// let mut reached = Vec::new();
    /// warpath::Solver::new(graph)?.solve_each(warpath::Sssp::from(0), &[0, 1, 2], |tree| {
    ///     reached.push(tree.reached());
    ///     Ok(())
    /// })?;
    /// assert_eq!(reached, [3, 2, 1]);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// The sources of `search` itself are ignored. On the CPU each search runs on one thread. Several devices share the sources. `each` runs on the
    /// calling thread, or, if that is a worker of a rayon pool, on another thread while the worker waits. `each` must
    /// not put requests to this solver.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] before any work if the searches in flight exceed the memory allowed; the first error,
    /// in the order of sources, that a search or `each` returns; nothing is handed over after it. A request to this
    /// solver that `each` puts is an [`Error::InvalidRequest`].
    pub fn solve_each<S: Search>(
        &self,
        search: S,
        sources: &[VertexId],
        mut each: impl FnMut(ShortestPathTree) -> Result<()> + Send,
    ) -> Result<()> {
        self.answer(|| self.solve_each_here(&search, sources, &mut each))
    }

    fn solve_each_here<S: Search>(&self, search: &S, sources: &[VertexId], each: Each<'_>) -> Result<()> {
        self.checked(sources, "source")?;
        if sources.is_empty() {
            return Ok(());
        }
        let decision = self.closing_a_lost_device(search.decide(self, Some(sources.len())))?;
        self.solve_each_as(search, decision, sources, each)
    }

    /// Searches as decided; after a failure, decides again for the sources that are left.
    pub(super) fn solve_each_as<S: Search>(
        &self,
        search: &S,
        mut decision: Decision<S::Choice>,
        sources: &[VertexId],
        each: Each<'_>,
    ) -> Result<()> {
        let (handed_over, is_refused) = (Cell::new(0), Cell::new(false));
        let mut hand_over = |tree| {
            handed_over.set(handed_over.get() + 1);
            each(tree).inspect_err(|_| is_refused.set(true))
        };
        let mut left = sources;
        loop {
            decision = self.with_memory_for_all(decision, left.len());
            let devices = self.devices_for(&decision, left.len());
            let result = self.check_plan(&decision.plan).and_then(|()| match decision.manner {
                _ if devices > 1 => self.run_on_devices(search, &decision, left, devices, &mut hand_over),
                Manner::InBatches => search.run_batches(self, &decision, left, &mut hand_over),
                Manner::SideBySide => self.run_side_by_side(search, &decision, left, &mut hand_over),
                Manner::InTurn => left
                    .iter()
                    .try_for_each(|&source| hand_over(search.starting_at(source).run(self, &self.team, &decision)?)),
            });
            match self.closing_a_lost_device(result) {
                Err(error) if !is_refused.get() => {
                    left = &sources[handed_over.get()..];
                    decision = search.decide_again(self, Some(left.len()), &decision, error)?;
                }
                result => return result,
            }
        }
    }

    fn run_side_by_side<S: Search>(
        &self,
        search: &S,
        decision: &Decision<S::Choice>,
        sources: &[VertexId],
        hand_over: Each<'_>,
    ) -> Result<()> {
        let threads = self.team.threads();
        let queue = Queue::new(sources.len(), threads * AHEAD);
        let work = || {
            let _stop = StopOnPanic::of(&queue);
            let _answering = self.answering();
            let alone = Team::alone();
            while let Some(index) = queue.take() {
                queue.put(index, search.starting_at(sources[index]).run(self, &alone, decision));
            }
        };
        // The workers wait for `hand_over`. The team's threads have to be free meanwhile, because `hand_over` may wait
        // for work on them.
        Team::new(threads.min(sources.len()))?.run_beside(work, || {
            // If `hand_over` panics, too, the workers have nobody to wait for.
            let _stop = Stop::of(&queue);
            (0..sources.len()).try_for_each(|index| {
                // The queue stops early only if a worker panicked or `hand_over` failed.
                hand_over(queue.wait_for(index).unwrap_or(Err(Error::Interrupted))?)
            })
        })
    }

    /// The manner in which this many single searches are done, and their plan at any time, given the plan of `one`.
    pub(super) fn single_searches(&self, many: Option<usize>, placed: &Placed, one: Plan) -> (Manner, Plan) {
        let threads = self.team.threads();
        let many = many.unwrap_or(1);
        if placed.is_on_cuda() || threads == 1 || many <= 1 {
            return (Manner::InTurn, one);
        }
        let in_flight = (threads * (AHEAD + 1)).min(many);
        let mut plan = Plan::new();
        plan.memory(format!("{in_flight} searches at once"), one.memory_bytes().saturating_mul(in_flight as u64));
        (Manner::SideBySide, plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::graphs_of_every_shape;
    use crate::{Bfs, Graph, Sssp};

    #[test]
    fn trees_come_in_order_and_are_those_of_single_searches() {
        for (name, graph) in graphs_of_every_shape::<u32>(5) {
            let sources: Vec<VertexId> = (0..graph.vertices() as VertexId).rev().step_by(7).chain([0, 0]).collect();
            for threads in [1, 2, 3] {
                let solver = Solver::builder(graph.clone()).threads(threads).open().unwrap();
                let mut trees = Vec::new();
                let mut keep = |tree| {
                    trees.push(tree);
                    Ok(())
                };
                solver.solve_each(Sssp::from(0), &sources, &mut keep).unwrap();
                solver.solve_each(Bfs::from(0).within(3), &sources, &mut keep).unwrap();
                assert_eq!(trees.len(), 2 * sources.len());
                for (index, tree) in trees.iter().enumerate() {
                    let source = sources[index % sources.len()];
                    let single = match index < sources.len() {
                        true => solver.sssp(source),
                        false => solver.solve(Bfs::from(source).within(3)),
                    };
                    let single = single.unwrap();
                    assert_eq!(tree.distances(), single.distances(), "{name}");
                    assert_eq!(tree.predecessors(), single.predecessors(), "{name}");
                    assert_ne!(tree.report().engine_reason, "asked for");
                }
            }
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        let graph = Graph::from_edges([(0, 1, 1_u32), (1, 2, 1)]).unwrap();
        let solver = Solver::builder(graph.clone()).threads(3).open().unwrap();
        let mut handed = 0;
        let result = solver.solve_each(Sssp::from(0), &[0; 50], |_| {
            handed += 1;
            if handed == 5 { Err(Error::invalid("planted")) } else { Ok(()) }
        });
        assert!(matches!(result, Err(Error::InvalidRequest(_))));
        assert_eq!(handed, 5);
        assert!(solver.solve_each(Sssp::from(0), &[0, 3], |_| Ok(())).is_err());
        assert!(solver.solve_each(Sssp::from(0), &[], |_| Ok(())).is_ok());
        solver.control.cancel();
        assert!(matches!(solver.solve_each(Sssp::from(0), &[0; 50], |_| Ok(())), Err(Error::Interrupted) | Ok(())));
    }
}
