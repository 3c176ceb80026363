//! What searches count on request, and what that says: how much of the work was in vain.
//!
//! Nothing is counted unless the solver was told to ([`SolverBuilder::statistics`](crate::SolverBuilder::statistics)):
//! kernels then have a null pointer for their counters. Beyond what an algorithm tells anyway there are
//! - `relaxations`, arcs that were looked at, and `improvements`, those that lowered a distance;
//! - `wasted_improvements`, which were lowered again: every vertex that is reached, but for the sources, takes one;
//! - `wasted_relaxations`, beyond one for each arc that leaves a vertex that is reached, which is what Dijkstra's
//!   algorithm needs; not told of searches that stop at targets;
//! - `frontiers`, rounds that had something to expand, with `frontier_mean` and `frontier_largest`: how many vertices
//!   that was (in `work-efficient`: how many arcs). The sizes of the first of them are in
//!   [`Report::frontiers`](crate::problems::Report::frontiers).
//!
//! `many-sources` counts none of these, asked or not.

use super::{SsspOutcome, SsspTask};
use crate::Result;
use crate::algorithms::Statistics;
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::kernel_header::{DeviceMutPtr, kernel_header};
use crate::graph::{DistanceValue, Graph};

kernel_header! {
    path: "sssp/counts";
    constants {
        /// How many sizes of frontiers are kept.
        const RECORDED_FRONTIERS: u32 = 1024;
    }

    /// What a search counts, all 0 at first.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Counts {
        /// Arcs looked at, where the search does not know it anyway.
        relaxations: u64,
        /// Those that lowered a distance.
        improvements: u64,
        /// Rounds that had something to expand.
        frontiers: u64,
        /// How much that was in all of them,
        expanded: u64,
        /// and at most in one.
        largest: u64,
        /// Of the first frontiers.
        sizes: [u32; RECORDED_FRONTIERS as usize],
    }
}

/// The counters of the kernels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counters(DeviceSlice<Counts>);

/// How many vertices each round has begun with.
#[derive(Debug, Default)]
pub(super) struct Frontiers {
    count: u64,
    expanded: u64,
    largest: u64,
    first: Vec<u32>,
}

impl Frontiers {
    /// Another one.
    pub(super) fn add(&mut self, size: u64) {
        if size == 0 {
            return;
        }
        self.count += 1;
        self.expanded += size;
        self.largest = self.largest.max(size);
        if self.first.len() < RECORDED_FRONTIERS as usize {
            self.first.push(u32::try_from(size).unwrap_or(u32::MAX));
        }
    }
}

impl Counters {
    /// Takes room for them.
    pub(super) fn layout(arena: &mut Arena<'_>) -> Self {
        Counters(arena.take("statistics", 1))
    }

    /// What kernels are to be told: where the counters are, or null. They start at zero.
    pub(super) fn start(self, pool: &Pool, task: &SsspTask<'_>) -> Result<DeviceMutPtr<Counts>> {
        if !task.statistics {
            return Ok(DeviceMutPtr::NULL);
        }
        pool.fill(self.0, 0)?;
        Ok(self.0.as_mut_ptr())
    }

    /// Adds the counters to the search's statistics; the frontiers, too, unless the kernels count them.
    pub(super) fn finish(
        self,
        pool: &Pool,
        task: &SsspTask<'_>,
        frontiers: Frontiers,
        outcome: &mut SsspOutcome,
    ) -> Result<()> {
        if !task.statistics {
            return Ok(());
        }
        // A device may bring less home at once than the whole of it.
        let words = pool.read(self.0.cast::<u64>())?;
        let counted: Counts = bytemuck::cast_slice(&words)[0];
        let Counts { relaxations, improvements, frontiers: count, expanded, largest, sizes } = counted;
        let statistics = &mut outcome.statistics;
        if !statistics.iter().any(|(name, _)| *name == "relaxations") {
            statistics.push(("relaxations", relaxations));
        }
        statistics.push(("improvements", improvements));
        let frontiers = if count == 0 {
            frontiers
        } else {
            let first = sizes[..sizes.len().min(count as usize)].to_vec();
            Frontiers { count, expanded, largest, first }
        };
        if frontiers.count > 0 {
            statistics.push(("frontiers", frontiers.count));
            statistics.push(("frontier_mean", frontiers.expanded / frontiers.count));
            statistics.push(("frontier_largest", frontiers.largest));
        }
        outcome.frontiers = frontiers.first;
        Ok(())
    }
}

/// Adds the wasted relaxations, from all distances that the search has left on the device.
pub(crate) fn add_waste<D: DistanceValue>(
    statistics: &mut Statistics,
    graph: &Graph,
    sources: usize,
    stops_at_targets: bool,
    distances: &[D],
) {
    let counter = |wanted: &str| statistics.iter().find(|(name, _)| *name == wanted).map(|(_, count)| *count);
    let (relaxations, improvements) = (counter("relaxations"), counter("improvements"));
    let reached = || distances.iter().zip(graph.csr().offsets().windows(2)).filter(|(d, _)| **d != D::UNREACHABLE);
    if let Some(improvements) = improvements {
        let needed = (reached().count() - sources) as u64;
        statistics.push(("wasted_improvements", improvements.saturating_sub(needed)));
    }
    if let Some(relaxations) = relaxations.filter(|_| !stops_at_targets) {
        let needed: u64 = reached().map(|(_, row)| row[1] - row[0]).sum();
        statistics.push(("wasted_relaxations", relaxations.saturating_sub(needed)));
    }
}

#[cfg(test)]
mod tests {
    use crate::cuda::device::testing::devices;
    use crate::graph::{Direction, GraphBuilder};
    use crate::problems::Report;
    use crate::testing::Random;
    use crate::{Graph, Solver, Sssp};

    const ALL: [&str; 10] = [
        "near-far:threads=64,blocks=2,delta=20,batch=0",
        "near-far:threads=32,blocks=3,far=0,delta=7",
        "multi-hop:threads=64",
        "mask:threads=32",
        "bellman-ford:launch=64x2",
        "bellman-ford:sync=outcore,launch=32x2",
        "bellman-ford:sync=shared,launch=32x2",
        "work-efficient:launch=64x2",
        "work-efficient:sync=outcore,launch=32x2",
        "work-efficient:lists=as-described,edges=records,launch=32x2",
    ];

    /// The statistics of a search from vertex 0 on each device: the counters, by name, and the frontiers.
    fn counted(graph: &Graph, request: Sssp, seed: u64, mut check: impl FnMut(&dyn Fn(&str) -> u64, &[u32])) {
        for device in devices(seed) {
            let solver = Solver::builder(graph.clone()).threads(1).statistics(true).device(device).open().unwrap();
            let tree = solver.solve(request.clone()).unwrap();
            tree.verify(graph).unwrap();
            let Report { statistics, frontiers, .. } = tree.report();
            let counter = |wanted: &str| {
                let found = statistics.iter().find(|(name, _)| *name == wanted);
                found.unwrap_or_else(|| panic!("{wanted} is missing in {statistics:?}")).1
            };
            check(&counter, frontiers);
        }
    }

    #[test]
    fn on_a_path_nothing_is_lowered_twice() {
        let path = Graph::from_edges((0..49_u32).map(|v| (v, v + 1, 3_u32))).unwrap();
        for algorithm in ALL {
            counted(&path, Sssp::from(0).algorithm(algorithm), 1, |counter, frontiers| {
                assert_eq!((counter("improvements"), counter("wasted_improvements")), (49, 0), "{algorithm}");
                match algorithm.split(':').next().unwrap() {
                    // The last vertex has no arcs, so nothing is expanded after it.
                    "near-far" | "work-efficient" => {
                        assert_eq!((counter("relaxations"), counter("wasted_relaxations")), (49, 0), "{algorithm}");
                        assert_eq!(frontiers, [1; 49], "{algorithm}");
                    }
                    "mask" => {
                        assert_eq!((counter("relaxations"), counter("wasted_relaxations")), (49, 0), "{algorithm}");
                        assert_eq!(frontiers, [1; 50], "{algorithm}");
                    }
                    "bellman-ford" => {
                        assert_eq!(counter("wasted_relaxations"), 49 * (counter("rounds") - 1), "{algorithm}");
                        assert!(frontiers.is_empty());
                    }
                    _ => {
                        assert_eq!(frontiers.len() as u64, counter("steps"), "{algorithm}");
                        assert_eq!(counter("frontier_largest"), 1, "{algorithm}");
                    }
                }
            });
        }
    }

    #[test]
    fn a_star_is_one_frontier() {
        let star = Graph::from_edges((1..101_u32).map(|leaf| (0, leaf, leaf))).unwrap();
        for algorithm in ALL {
            counted(&star, Sssp::from(0).algorithm(algorithm), 2, |counter, frontiers| {
                assert_eq!((counter("improvements"), counter("wasted_improvements")), (100, 0), "{algorithm}");
                match algorithm.split(':').next().unwrap() {
                    "near-far" => assert_eq!((frontiers, counter("relaxations")), (&[1][..], 100), "{algorithm}"),
                    "work-efficient" => assert_eq!((frontiers, counter("relaxations")), (&[100][..], 100)),
                    "mask" => {
                        assert_eq!(frontiers, [1, 100]);
                        assert_eq!((counter("frontiers"), counter("frontier_mean")), (2, 50));
                        assert_eq!((counter("frontier_largest"), counter("relaxations")), (100, 100));
                    }
                    _ => {}
                }
            });
        }
    }

    /// Vertex 1 is first reached by its heavy arc, and with it vertex 3: both have to be lowered once more.
    #[test]
    fn what_is_lowered_again_is_waste() {
        let graph = Graph::from_edges([(0, 1, 10_u32), (0, 2, 1), (2, 1, 1), (1, 3, 1)]).unwrap();
        for algorithm in ["mask:threads=32", "work-efficient:sync=outcore,launch=32x2"] {
            counted(&graph, Sssp::from(0).algorithm(algorithm), 3, |counter, frontiers| {
                assert_eq!((counter("improvements"), counter("wasted_improvements")), (5, 2), "{algorithm}");
                assert_eq!((counter("relaxations"), counter("wasted_relaxations")), (5, 1), "{algorithm}");
                let expected = if algorithm.starts_with("mask") { &[1, 2, 2, 1][..] } else { &[2, 2, 1] };
                assert_eq!(frontiers, expected, "{algorithm}");
            });
        }
    }

    /// How many vertices each round of `mask` begins with, and how many arcs it looks at, by a model of its own.
    fn synchronous_rounds(graph: &Graph, weights: impl Fn(usize) -> u32) -> (Vec<u32>, u64) {
        let offsets = graph.csr().offsets();
        let mut distances = vec![u32::MAX; graph.vertices()];
        distances[0] = 0;
        let (mut frontier, mut sizes, mut relaxations) = (vec![0], Vec::new(), 0);
        while !frontier.is_empty() {
            sizes.push(frontier.len() as u32);
            let mut next = distances.clone();
            for &tail in &frontier {
                for arc in offsets[tail] as usize..offsets[tail + 1] as usize {
                    let head = graph.csr().targets()[arc] as usize;
                    next[head] = next[head].min(distances[tail] + weights(arc));
                    relaxations += 1;
                }
            }
            frontier = (0..next.len()).filter(|&v| next[v] < distances[v]).collect();
            distances = next;
        }
        (sizes, relaxations)
    }

    #[test]
    fn random_graphs_hold_what_counters_promise() {
        let mut random = Random(4);
        for seed in 0..if cfg!(emulator_sanitized) { 1 } else { 2 } {
            let edges: Vec<(u32, u32, u32)> = (0..900)
                .map(|_| (random.below(300) as u32, random.below(300) as u32, 1 + random.below(100) as u32))
                .collect();
            let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
            let crate::graph::Weights::U32(weights) = graph.csr().weights() else { panic!("weights are integers") };
            let (sizes, arcs_in_rounds) = synchronous_rounds(&graph, |arc| weights[arc]);
            for algorithm in ALL {
                for device in devices(seed) {
                    let plain = Solver::builder(graph.clone()).threads(1).device(device.clone()).open().unwrap();
                    let plain = plain.solve(Sssp::from(0).algorithm(algorithm)).unwrap();
                    assert!(plain.report().statistics.iter().all(|(name, _)| *name != "improvements"), "{algorithm}");
                    assert!(plain.report().frontiers.is_empty(), "{algorithm}");
                    let solver =
                        Solver::builder(graph.clone()).threads(1).statistics(true).device(device).open().unwrap();
                    let counting = solver.solve(Sssp::from(0).algorithm(algorithm)).unwrap();
                    assert_eq!(counting.distances(), plain.distances(), "{algorithm}");
                }
                counted(&graph, Sssp::from(0).algorithm(algorithm), seed, |counter, frontiers| {
                    let tree =
                        Solver::builder(graph.clone()).engine(crate::Engine::Cpu).threads(1).open().unwrap().sssp(0);
                    let tree = tree.unwrap();
                    let reached = |v: &u32| tree.distance(*v).is_some();
                    let degrees: u64 = (0..300).filter(reached).map(|v| graph.neighbors(v).len() as u64).sum();
                    let improvements = counter("improvements");
                    assert!(improvements >= tree.reached() - 1, "{algorithm}");
                    assert_eq!(counter("wasted_improvements"), improvements - (tree.reached() - 1), "{algorithm}");
                    assert!(improvements <= counter("relaxations"), "{algorithm}");
                    if !algorithm.starts_with("multi-hop") {
                        assert_eq!(counter("wasted_relaxations"), counter("relaxations") - degrees, "{algorithm}");
                    }
                    let (sum, largest) = (frontiers.iter().sum::<u32>(), frontiers.iter().max());
                    if let Some(&largest) = largest {
                        assert_eq!(counter("frontiers"), frontiers.len() as u64, "{algorithm}");
                        assert_eq!(counter("frontier_largest"), largest.into(), "{algorithm}");
                        assert_eq!(counter("frontier_mean"), u64::from(sum) / frontiers.len() as u64, "{algorithm}");
                    }
                    if algorithm.starts_with("mask") {
                        assert_eq!((frontiers, counter("relaxations")), (&sizes[..], arcs_in_rounds));
                    }
                    if algorithm.starts_with("near-far") {
                        assert_eq!(u64::from(sum), counter("queued"), "{algorithm}");
                    }
                });
            }
        }
    }

    #[test]
    fn only_the_first_frontiers_are_kept_and_targets_leave_waste_open() {
        let path = Graph::from_edges((0..1100_u32).map(|v| (v, v + 1, 2_u32))).unwrap();
        let algorithm = "near-far:threads=32,blocks=1,delta=1,batch=0";
        counted(&path, Sssp::from(0).algorithm(algorithm), 5, |counter, frontiers| {
            assert_eq!((counter("frontiers"), frontiers), (1100, &[1; 1024][..]));
        });
        for device in devices(5) {
            let solver = Solver::builder(path.clone()).threads(1).statistics(true).device(device).open().unwrap();
            let tree = solver.solve(Sssp::from(0).to(10).algorithm(algorithm)).unwrap();
            let told = |wanted: &str| tree.report().statistics.iter().any(|(name, _)| *name == wanted);
            assert!(told("wasted_improvements") && !told("wasted_relaxations"));
        }
    }
}
