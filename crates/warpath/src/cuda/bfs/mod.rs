//! Breadth-first search on a GPU.
//!
//! An algorithm is prepared once for a graph: memory is taken, the graph copied there, the kernels loaded. Then it
//! answers any number of searches, whose levels end on the device. What the papers describe is here as they describe
//! it, with a host loop that launches kernels for every level and asks after each whether there is another.

pub(crate) mod direction_optimizing;
pub(crate) mod level_parallel;
pub(crate) mod many_sources;
pub(crate) mod multi_hop;
pub(crate) mod one_block;
pub(crate) mod partitioned;
pub(crate) mod predecessors;
pub(crate) mod queue;
pub(crate) mod regions;
pub(crate) mod scan;
pub(crate) mod singh;
pub(crate) mod vertex_parallel;
pub(crate) mod zero_copy;

use std::fmt::Debug;
use std::sync::Arc;

use predecessors::DeviceLevels;

use super::apsp::hierarchy;
use super::device::Device;
use super::device::memory::{DeviceSlice, Pool};
use super::neighborhoods;
use crate::algorithms::{AlgorithmInfo, GraphFacts, Parameters, Statistics};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::{Problem, UNREACHED};
use crate::{Control, Result};

/// Whether these parameters ask for the arcs of a directed graph by head, made by the host.
pub(crate) fn needs_transpose(parameters: &Parameters) -> bool {
    many_sources::are_on_host(parameters) || zero_copy::asks_for_best_tails(parameters)
}

/// One search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BfsTask<'a> {
    /// At least one vertex, in ascending order; none twice.
    pub(crate) sources: &'a [VertexId],
    /// If not empty, the search may stop when all of these are settled.
    pub(crate) targets: &'a [VertexId],
    /// The search may stop beyond this level.
    pub(crate) cutoff: u32,
    /// Who may cancel.
    pub(crate) control: &'a Control,
}

/// An algorithm with a graph on a device, ready to search.
pub(crate) trait PreparedBfs: Debug + Send {
    /// Searches. When it returns the work is done, and every vertex up to the cutoff or the farthest target has its
    /// final level on the device; others may have theirs or none, or one beyond the cutoff: the solver removes them.
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics>;

    /// What the last search left on the device.
    fn device_levels(&self) -> DeviceLevels<'_>;

    /// The order in which the last search expanded vertices; empty unless the algorithm was asked to record it.
    fn order(&self) -> Result<Vec<VertexId>> {
        Ok(Vec::new())
    }

    /// The same as the one algorithm that takes many searches at once, if it is that one.
    fn many_sources(&mut self) -> Option<&mut many_sources::ManySources> {
        None
    }
}

/// Makes a search ready on a device.
pub(crate) type Prepare = fn(&Arc<dyn Device>, &Graph, &Parameters) -> Result<Box<dyn PreparedBfs>>;

/// The same on several devices, which share the graph.
pub(crate) type PrepareOnSeveral = fn(&[Arc<dyn Device>], &Graph, &Parameters) -> Result<Box<dyn PreparedBfs>>;

/// A breadth-first search algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BfsAlgorithm {
    /// The facts known before it runs.
    pub(crate) info: AlgorithmInfo,
    /// What it takes on the device, the graph included.
    pub(crate) plan: fn(&Graph, &Parameters) -> Plan,
    /// Allocates the planned memory and makes everything ready.
    pub(crate) prepare: Prepare,
    /// The same for an algorithm that takes several devices.
    pub(crate) prepare_on_several: Option<PrepareOnSeveral>,
}

/// Every breadth-first search algorithm of this engine.
pub(crate) static ALGORITHMS: &[BfsAlgorithm] = &[
    direction_optimizing::ALGORITHM,
    multi_hop::ALGORITHM,
    many_sources::ALGORITHM,
    vertex_parallel::ALGORITHM,
    level_parallel::ALGORITHM,
    queue::ALGORITHM,
    scan::ALGORITHM,
    singh::ALGORITHM,
    zero_copy::ALGORITHM,
    partitioned::ALGORITHM,
    regions::ALGORITHM,
    #[cfg(feature = "lab")]
    vertex_parallel::AS_PRINTED,
    #[cfg(feature = "lab")]
    singh::AS_PRINTED,
];

/// Sweeps over a hierarchy without weights, which the solver runs: they need more than the graph.
pub(crate) static OVER_HIERARCHY: AlgorithmInfo = AlgorithmInfo {
    problem: Problem::Bfs,
    name: hierarchy::ALGORITHM.info.name,
    summary: "sweeps over shortcuts that are made once, for one source or hundreds at a time; on graphs with small separators",
    parameters: &[],
    ..hierarchy::ALGORITHM.info
};

/// The algorithm predicted fastest for one search on this graph, by name, and why.
pub(crate) fn choose(graph: &GraphFacts) -> (&'static str, String) {
    if let Some(reason) = neighborhoods::suits(graph) {
        return (multi_hop::ALGORITHM.info.name, reason);
    }
    (direction_optimizing::ALGORITHM.info.name, "few levels are expected".into())
}

/// Gives every vertex no level, and the sources level 0.
fn start(pool: &Pool, levels: DeviceSlice<u32>, sources: &[VertexId]) -> Result<()> {
    /// From here on one large copy is quicker than many small ones.
    const MANY: usize = 64;
    if sources.len() < MANY {
        pool.fill(levels, UNREACHED)?;
        return sources.iter().try_for_each(|&source| pool.upload(levels.part(u64::from(source), 1), &[0]));
    }
    pool.upload_with(levels, levels.length() as usize, |range, piece| {
        piece.fill(UNREACHED);
        let later = &sources[sources.partition_point(|&source| (source as usize) < range.start)..];
        let here = later.iter().map(|&source| source as usize).take_while(|&source| source < range.end);
        here.for_each(|source| piece[source - range.start] = 0);
    })
}

/// Expands level after level, until `expand` says that there is no further one or the cutoff is reached; returns how
/// many were expanded.
fn each_level(task: &BfsTask<'_>, mut expand: impl FnMut(u32) -> Result<bool>) -> Result<u32> {
    let (mut level, mut more) = (0, true);
    task.control.check()?;
    while more && level < task.cutoff {
        more = expand(level)?;
        level += 1;
        task.control.check()?;
    }
    Ok(level)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cuda::device::testing::devices;
    use crate::graph::{GraphBuilder, ParallelEdges, Unit};
    use crate::testing::{Random, graphs_of_every_shape, one_of_every_shape};
    use crate::{Bfs, Engine, Error, Solver};

    const UNDER_TEST: [&str; 29] = [
        "direction-optimizing:threads=64",
        "direction-optimizing:threads=32,blocks=3,bottom-up=0.01,top-down=0.1",
        "direction-optimizing:threads=64,bottom-up=1",
        "direction-optimizing:threads=128,bottom-up=0,top-down=0",
        "multi-hop:threads=64",
        "multi-hop:threads=32,blocks=3,radius=1",
        "multi-hop:threads=32,radius=3",
        "many-sources:threads=64",
        "many-sources:threads=32,blocks=3,bottom-up=0.01,top-down=0.1",
        "many-sources:threads=64,bottom-up=1000",
        "many-sources:threads=128,bottom-up=0,top-down=0,width=32",
        "many-sources:threads=32,queue=2,width=1",
        "vertex-parallel",
        "vertex-parallel:threads=32",
        "level-parallel",
        "level-parallel:threads=64",
        "queue",
        "queue:threads=32",
        "queue:parents=true",
        "queue:threads=32,parents=true",
        "scan:threads=64",
        "scan:threads=128",
        "singh-bfs",
        "singh-bfs:order=true",
        "zero-copy:threads=64",
        "zero-copy:threads=32,blocks=3,bottom-up=0.01,best-tails=yes",
        "zero-copy:threads=64,blocks=2,bottom-up=0,best-tails=yes",
        "zero-copy:threads=128,best-tails=no,window=500",
        "zero-copy:threads=32,offsets=host,window=2000",
    ];

    /// Runs algorithms on graphs of every shape, with one request or another: every other algorithm, and the others on the next graph
    /// and with the next seed.
    fn every_algorithm_agrees_with_the_cpu_and_proves_it(seed: u64) {
        let mut random = Random(seed);
        for (turn, (name, graph)) in one_of_every_shape::<Unit>(seed).into_iter().enumerate() {
            let vertices = graph.vertices() as u64;
            if vertices > 600 || graph.arcs() > 6000 {
                continue;
            }
            let mut draw = |count: u64| {
                let mut drawn: Vec<_> = (0..count).map(|_| random.below(vertices) as VertexId).collect();
                drawn.sort_unstable();
                drawn.dedup();
                drawn
            };
            let sources = draw(3);
            let target = draw(1);
            let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
            let requests = [
                Bfs::from(sources[0]),
                Bfs::from(sources.as_slice()),
                Bfs::from(sources.as_slice()).within(2).distances_only(),
                Bfs::from(sources[0]).to(target.as_slice()).count_paths(),
            ];
            let expected = requests.clone().map(|request| cpu.solve(request).unwrap());
            for device in devices(seed) {
                let gpu = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                for (index, algorithm) in UNDER_TEST.into_iter().enumerate() {
                    if (turn + index + seed as usize) % 2 == 1 {
                        continue;
                    }
                    let now = (turn + index + seed as usize) / 2 % requests.len();
                    let (request, expected) = (&requests[now], &expected[now]);
                    let context = format!("{name}, {algorithm}, {request:?}, seed {seed}");
                    let tree = gpu.solve(request.clone().algorithm(algorithm)).unwrap();
                    assert_eq!(tree.distances(), expected.distances(), "{context}");
                    assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
                    assert_eq!(tree.path_counts(), expected.path_counts(), "{context}");
                    tree.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                    assert!(tree.report().statistics.iter().any(|(counter, _)| *counter == "kernel_launches"));
                }
            }
        }
    }

    #[test]
    fn every_algorithm_agrees_under_one_schedule() {
        every_algorithm_agrees_with_the_cpu_and_proves_it(1);
    }

    #[test]
    #[cfg_attr(emulator_sanitized, ignore = "takes long under sanitizers; the other tests run the same kernels")]
    fn every_algorithm_agrees_under_another_schedule() {
        every_algorithm_agrees_with_the_cpu_and_proves_it(2);
    }

    #[test]
    fn offsets_of_64_bits_lead_to_the_same_trees() {
        for (turn, (name, graph)) in graphs_of_every_shape::<Unit>(6).into_iter().enumerate().step_by(2) {
            let request = Bfs::from((graph.vertices() / 2) as VertexId);
            let expected =
                Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().solve(request.clone()).unwrap();
            for device in devices(6) {
                let gpu = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                let algorithm = [UNDER_TEST[0], UNDER_TEST[2], UNDER_TEST[3], "many-sources:threads=64"][turn / 2 % 4];
                crate::cuda::graph::WIDE_OFFSETS.set(true);
                let tree = gpu.solve(request.clone().algorithm(algorithm)).unwrap();
                crate::cuda::graph::WIDE_OFFSETS.set(false);
                assert_eq!(tree.distances(), expected.distances(), "{name}, {algorithm}");
                assert_eq!(tree.predecessors(), expected.predecessors(), "{name}, {algorithm}");
            }
        }
    }

    /// In a long row the best tail, many times over, must not hide the only one that is visited.
    #[test]
    fn parallel_arcs_hide_no_tail() {
        let hub = (0..40).map(|_| (0, 2)).chain((3..60).map(|v| (0, v)));
        let edges: Vec<(u32, u32)> = hub.chain([(61, 1), (1, 2)]).collect();
        let graph = GraphBuilder::new().parallel_edges(ParallelEdges::Keep).build_from(edges).unwrap();
        for device in devices(1) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            for algorithm in ["direction-optimizing:bottom-up=0,top-down=0", "multi-hop", "queue"] {
                let tree = solver.solve(Bfs::from(61).algorithm(algorithm)).unwrap();
                assert_eq!(tree.distance(2).map(|distance| distance.to_f64()), Some(2.0), "{algorithm}");
                assert_eq!(tree.reached(), 3, "{algorithm}");
            }
        }
    }

    /// More is found in one step than the queues of a step hold: the search goes on level by level.
    #[test]
    fn a_frontier_too_large_for_the_queues_is_searched_level_by_level() {
        // A tree of degree 50: the second level is wider than what one block of 32 threads may append.
        let graph = Graph::from_edges((1..2551_u32).map(|v| ((v - 1) / 50, v))).unwrap();
        for device in devices(2) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            let tree = solver.solve(Bfs::from(0).algorithm("multi-hop:radius=1,threads=32,blocks=1")).unwrap();
            tree.verify(&graph).unwrap();
            assert_eq!(tree.reached(), graph.vertices() as u64);
            assert!(tree.report().statistics.iter().any(|(counter, _)| *counter == "visited"), "{:?}", tree.report());
        }
    }

    /// A vertex has more arcs than a neighborhood has vertices: no graph is refused.
    #[test]
    fn graphs_with_hubs_are_searched_level_by_level() {
        let graph = Graph::from_edges((1..600_u32).flat_map(|v| [(0, v), (v, v / 2 + 600)])).unwrap();
        for device in devices(2) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            let tree = solver.solve(Bfs::from(0).algorithm("multi-hop")).unwrap();
            tree.verify(&graph).unwrap();
            assert_eq!(tree.reached(), graph.vertices() as u64);
            assert!(tree.report().statistics.iter().any(|(counter, _)| *counter == "visited"), "{:?}", tree.report());
        }
    }

    #[test]
    fn memory_is_planned_and_refused_with_the_numbers() {
        let graph = Graph::from_edges((0..100_u32).map(|v| (v, v + 1))).unwrap();
        for device in devices(1) {
            let solver = Solver::builder(graph.clone()).threads(1).memory(1000).device(device).open().unwrap();
            let needed = solver.decide(&Bfs::from(0)).unwrap().plan().device_bytes();
            let refused = solver.solve(Bfs::from(0));
            assert!(
                matches!(refused, Err(Error::OutOfMemory { needed: n, available: 1000, .. }) if n == needed),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let graph = Graph::from_edges((0..10_u32).map(|v| (v, v + 1))).unwrap();
        for device in devices(1) {
            let control = Control::new();
            let solver =
                Solver::builder(graph.clone()).threads(1).device(device).control(control.clone()).open().unwrap();
            for wrong in ["queue:threads=33", "queue:threads=65536", "queue:threads=31", "sequential"] {
                let error = solver.solve(Bfs::from(0).algorithm(wrong)).unwrap_err();
                assert!(matches!(error, Error::InvalidRequest(_)), "{wrong}: {error}");
            }
            for wrong in ["multi-hop:radius=17", "multi-hop:blocks=129", "direction-optimizing:threads=48"] {
                let error = solver.solve(Bfs::from(0).algorithm(wrong)).unwrap_err();
                assert!(matches!(error, Error::InvalidRequest(_)), "{wrong}: {error}");
            }
            control.cancel();
            assert!(matches!(solver.bfs(0), Err(Error::Interrupted)));
        }
    }

    /// As it is printed, the algorithm ends, and what it counts as wrong is what it has wrong.
    #[cfg(feature = "lab")]
    #[test]
    fn the_printed_algorithm_counts_its_errors() {
        let graph = Graph::from_edges((0..300_u32).flat_map(|v| (1..5).map(move |k| (v, v * k * 7 % 301)))).unwrap();
        let right = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().bfs(1).unwrap();
        for device in devices(3) {
            let solver = Solver::builder(graph.clone()).device(device).open().unwrap();
            let printed = solver.solve(Bfs::from(1).algorithm("vertex-parallel-as-printed:threads=32")).unwrap();
            let wrong =
                (0..graph.vertices() as VertexId).filter(|&v| printed.distance(v) != right.distance(v)).count() as u64;
            assert!(printed.report().statistics.contains(&("wrong_vertices", wrong)), "{:?}", printed.report());
        }
    }
}
