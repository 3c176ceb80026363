//! Many independent searches: one a source, each on one thread, as many at once as there are threads.
//!
//! Whole searches side by side need no barriers and no atomics, so they use the cores better than one parallel search
//! after another. The trees are handed over in the order of the sources, on the calling thread, while the workers go
//! on; a worker that is too far ahead of the hand-over waits, so that only a few trees are in memory at any time.

mod queue;

use std::sync::Mutex;

use self::queue::{Queue, Stop, StopOnPanic};
use super::{Search, Solver};
use crate::graph::VertexId;
use crate::problems::ShortestPathTree;
use crate::team::Team;
use crate::{Engine, Error, Result};

/// How many trees a thread may be ahead of the hand-over.
const AHEAD: usize = 2;

impl<'g> Solver<'g> {
    /// What [`Solver::solve_each`] would take at any time, beyond the graph itself: on a GPU a whole batch of searches, on
    /// the CPU one of those that run side by side.
    ///
    /// # Errors
    ///
    /// If the request makes no sense for the solver's graph.
    pub fn plan_each<S: Search>(&self, search: &S, sources: &[VertexId]) -> Result<crate::Plan> {
        self.answer(|| {
            self.cuda().expect_searches(sources.len());
            let _one_again = OneSearch(self);
            search.plan_together(self, sources)
        })
    }

    /// Answers one search for each source, independently, and hands the trees to `each` in the order of `sources`.
    ///
    /// ```
    /// let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 2, 7)])?;
    /// let mut reached = Vec::new();
    /// warpath::Solver::new(&graph)?.solve_each(warpath::Sssp::from(0), &[0, 1, 2], |tree| {
    ///     reached.push(tree.reached());
    ///     Ok(())
    /// })?;
    /// assert_eq!(reached, [3, 2, 1]);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// The sources of `search` itself are ignored. On the CPU each search runs on one thread; `each` runs on the calling thread,
    /// or, if that is a worker of a rayon pool, on another one while it waits. It must not put requests to this solver.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] before any work if the searches in flight exceed the memory allowed; the first error,
    /// in the order of sources, that a search or `each` returns; nothing is handed over after it. A request to this solver
    /// that `each` puts is an [`Error::InvalidRequest`].
    pub fn solve_each<S: Search>(
        &self,
        search: S,
        sources: &[VertexId],
        mut each: impl FnMut(ShortestPathTree) -> Result<()> + Send,
    ) -> Result<()> {
        self.answer(|| self.solve_each_here(search, sources, &mut each))
    }

    fn solve_each_here<S: Search>(
        &self,
        search: S,
        sources: &[VertexId],
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<()> {
        self.checked(sources, "source")?;
        self.cuda().expect_searches(sources.len());
        let _one_again = OneSearch(self);
        if search.solve_together(self, sources, each)? {
            return Ok(());
        }
        let Some(&first) = sources.first() else { return Ok(()) };
        let threads = self.team.threads();
        let plan_of_one = search.starting_at(first).plan(self)?;
        if threads == 1 || sources.len() == 1 || plan_of_one.device_bytes() > 0 {
            return sources.iter().try_for_each(|&source| each(self.solve_here(search.starting_at(source))?));
        }
        let in_flight = (threads * (AHEAD + 1)).min(sources.len());
        let mut plan = crate::Plan::new();
        let one = plan_of_one.memory_bytes();
        plan.memory(format!("{in_flight} searches at once"), one.saturating_mul(in_flight as u64));
        plan.check(self.memory)?;

        let reason = search.engine_reason(self);
        let queue = Queue::new(sources.len(), threads * AHEAD);
        let work = || {
            let _stop = StopOnPanic::of(&queue);
            let _answering = self.answering();
            let alone = Solver {
                graph: self.graph,
                team: Team::alone(),
                control: self.control.clone(),
                engine: Engine::Cpu,
                limit: self.limit,
                memory: self.memory,
                statistics: self.statistics,
                cuda: Mutex::default(),
            };
            while let Some(index) = queue.take() {
                let answer = alone.solve_here(search.starting_at(sources[index]));
                queue.put(index, answer);
            }
        };
        // The workers wait for `each`. Those of the team have to be free meanwhile, for whatever `each` may wait for.
        Team::new(threads.min(sources.len()))?.run_beside(work, || {
            // If `each` panics, too, the workers have nobody to wait for.
            let _stop = Stop::of(&queue);
            (0..sources.len()).try_for_each(|index| {
                // It stops early only where a worker panicked, or `each` has failed.
                let mut tree = queue.wait_for(index).unwrap_or(Err(Error::Interrupted))?;
                tree.report.engine_reason.clone_from(&reason);
                each(tree)
            })
        })
    }

    /// What goes on after a device failed: the rest of the searches, on the CPU.
    pub(super) fn rest_on_cpu<S: Search>(
        &self,
        search: &S,
        sources: &[VertexId],
        failure: &Error,
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<()> {
        let cpu = Solver::builder(self.graph)
            .threads(self.team.threads())
            .control(self.control.clone())
            .engine(Engine::Cpu)
            .memory(self.memory)
            .open()?;
        cpu.solve_each_here(search.clone(), sources, &mut |mut tree| {
            tree.report.engine_reason = failure.to_string();
            each(tree)
        })
    }
}

/// Tells the solver, when it goes, that one search is to come.
struct OneSearch<'s>(&'s Solver<'s>);

impl Drop for OneSearch<'_> {
    fn drop(&mut self) {
        self.0.cuda().expect_searches(1);
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
                let solver = Solver::builder(&graph).threads(threads).open().unwrap();
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
        let solver = Solver::builder(&graph).threads(3).open().unwrap();
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
