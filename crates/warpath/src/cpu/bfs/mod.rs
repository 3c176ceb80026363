//! Breadth-first search on the CPU.

pub(crate) mod direction_optimizing;
mod expand;
pub(crate) mod hierarchy;
pub(crate) mod multi_source;
pub(crate) mod sequential;

pub(crate) use multi_source::{batch_width, levels_of_many, memory_of_many};

use super::Team;
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics};
use crate::graph::{Graph, NO_VERTEX, VertexId};
use crate::hierarchy::Metric;
pub(crate) use crate::problems::UNREACHED;
use crate::{Control, Result};

/// Everything a breadth-first search needs to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BfsTask<'a> {
    /// The graph; its transpose has been made if the algorithm asks for it.
    pub(crate) graph: &'a Graph,
    /// Vertices; a vertex that is named twice counts once.
    pub(crate) sources: &'a [VertexId],
    /// If not empty, the search may stop when all of these are settled.
    pub(crate) targets: &'a [VertexId],
    /// The search may stop beyond this level.
    pub(crate) cutoff: u32,
    /// The parameters that the caller set.
    pub(crate) parameters: &'a Parameters,
    /// The hierarchy of the graph with a length of 1 for every arc, for the algorithms that need it.
    pub(crate) metric: Option<&'a Metric>,
    /// The threads to run on.
    pub(crate) team: &'a Team,
    /// May cancel the work.
    pub(crate) control: &'a Control,
}

impl BfsTask<'_> {
    /// An error unless all sources and targets are vertices.
    fn check(&self) -> Result<()> {
        self.graph.check_vertices(self.sources, "source")?;
        self.graph.check_vertices(self.targets, "target")
    }

    /// Gives the sources level 0, where all levels are [`UNREACHED`]; returns them, none twice.
    fn begin(&self, levels: &mut [u32]) -> impl Iterator<Item = VertexId> {
        self.sources.iter().copied().filter(|&v| std::mem::replace(&mut levels[v as usize], 0) == UNREACHED)
    }
}

/// Levels by vertex, [`UNREACHED`] where there is none, and counters.
///
/// Every vertex up to the cutoff or the farthest target has its final level; other vertices may have theirs or none:
/// the solver removes these.
#[derive(Debug, Clone)]
pub(crate) struct BfsOutcome {
    /// The least number of edges from a source.
    pub(crate) levels: Vec<u32>,
    /// The predecessors of all vertices with a level, if they were asked for and the search found them on its way.
    pub(crate) predecessors: Option<Vec<VertexId>>,
    /// The algorithm's counters.
    pub(crate) statistics: Statistics,
}

/// A breadth-first search algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BfsAlgorithm {
    /// The facts known before it runs.
    pub(crate) info: AlgorithmInfo,
    /// Whether it reads the transpose of a directed graph.
    pub(crate) needs_transpose: bool,
    /// Whether it answers from a hierarchy.
    pub(crate) needs_metric: bool,
    /// Whether one search uses all threads of the team.
    pub(crate) uses_team: bool,
    /// Whether it finds predecessors on its way.
    finds_predecessors: bool,
    /// Runs it on a checked task and levels that are all unreached. If there is an array of predecessors, all of them
    /// [`NO_VERTEX`], it fills these in, each with the smallest vertex of the level above that leads there.
    search: Search,
}

type Search = fn(&BfsTask<'_>, &mut [u32], Option<&mut [VertexId]>) -> Result<Statistics>;

impl BfsAlgorithm {
    /// Runs it, with predecessors if they are wanted and it finds them on its way.
    ///
    /// # Errors
    ///
    /// If the task names a missing vertex, memory does not suffice, or the caller cancels.
    pub(crate) fn solve(&self, task: &BfsTask<'_>, wants_predecessors: bool) -> Result<BfsOutcome> {
        task.check()?;
        let alone = Team::alone();
        let team = if self.uses_team { task.team } else { &alone };
        let mut levels = team.filled("the array of levels", task.graph.vertices(), || UNREACHED)?;
        let mut predecessors = match wants_predecessors && self.finds_predecessors {
            true => Some(team.filled("the array of predecessors", task.graph.vertices(), || NO_VERTEX)?),
            false => None,
        };
        let statistics = (self.search)(task, &mut levels, predecessors.as_deref_mut())?;
        Ok(BfsOutcome { levels, predecessors, statistics })
    }

    /// Runs it in an array of the caller, one level a vertex, each of them [`UNREACHED`]. If it fails, the array holds
    /// anything.
    ///
    /// # Errors
    ///
    /// As [`BfsAlgorithm::solve`]; also if the array has another length.
    pub(crate) fn solve_into(&self, task: &BfsTask<'_>, levels: &mut [u32]) -> Result<Statistics> {
        task.check()?;
        task.graph.check_length(levels.len(), "levels")?;
        (self.search)(task, levels, None)
    }
}

/// The algorithm predicted fastest for one search on this graph, by name, and why.
///
/// Levels of a graph with few arcs a vertex are short, as in roads, and there one thread with a queue is best, unless the
/// graph is large and several threads share it. All other graphs go to `direction-optimizing`, which is that same queue where levels turn out short. It goes bottom-up
/// only if the arcs by head are at hand: making them for one search costs more than it saves.
pub(crate) fn choose(graph: &Graph, makes_arcs_by_head: bool, threads: usize) -> (&'static str, String) {
    let algorithm = choose_by(graph.vertices(), graph.arcs(), threads);
    let arcs_per_vertex = graph.arcs() as f64 / graph.vertices().max(1) as f64;
    let reason = if graph.arcs() < SMALL {
        format!("{} arcs are too few to share", graph.arcs())
    } else if arcs_per_vertex < FEW_ARCS && algorithm.uses_team {
        format!("{arcs_per_vertex:.1} arcs a vertex make short levels, but of {} vertices", graph.vertices())
    } else if arcs_per_vertex < FEW_ARCS {
        format!("{arcs_per_vertex:.1} arcs a vertex make short levels")
    } else {
        let directions = match (graph.has_transpose(), makes_arcs_by_head) {
            (true, _) => "",
            (false, true) => "; the graph is searched again and again, so the arcs by head are made",
            (false, false) => "; top-down only, as the arcs by head are not at hand",
        };
        format!("{arcs_per_vertex:.1} arcs a vertex make wide levels{directions}")
    };
    (algorithm.info.name, reason)
}

/// Fewer arcs than this are done before other threads have woken up.
const SMALL: usize = 1 << 15;
/// Roads have 2 to 3 arcs a vertex, small worlds from about 5.
const FEW_ARCS: f64 = 3.0;

/// So many threads share the short levels of graphs with so many vertices: on 16 cores the roads of the US North-West, 1.2 M vertices, took two thirds of the time of one thread,
/// and those of New York, 264 k, a fifth more.
const THREADS_OF_SHORT_LEVELS: usize = 4;
const VERTICES_OF_SHORT_LEVELS: usize = 1 << 19;

/// The algorithm predicted fastest for one search on so many threads of a graph with these numbers of vertices and arcs.
pub(crate) fn choose_by(vertices: usize, arcs: usize, threads: usize) -> &'static BfsAlgorithm {
    let arcs_per_vertex = arcs as f64 / vertices.max(1) as f64;
    let share = threads >= THREADS_OF_SHORT_LEVELS && vertices >= VERTICES_OF_SHORT_LEVELS;
    let has_short_levels = arcs < SMALL || arcs_per_vertex < FEW_ARCS && !share;
    if has_short_levels { &sequential::ALGORITHM } else { &direction_optimizing::ALGORITHM }
}

/// Every breadth-first search algorithm of this engine.
pub(crate) static ALGORITHMS: &[BfsAlgorithm] =
    &[sequential::ALGORITHM, direction_optimizing::ALGORITHM, hierarchy::ALGORITHM];

#[cfg(test)]
mod tests {
    use petgraph::graph::{DiGraph, NodeIndex};

    use super::*;
    use crate::graph::{Direction, Distances, GraphBuilder, Unit};
    use crate::testing::{Random, graphs_of_every_shape};
    use crate::{Bfs, Solver};

    /// Levels by petgraph: arcs of length 1, from an extra vertex to all sources by arcs of length 0.
    fn oracle(graph: &Graph, sources: &[VertexId]) -> Vec<u32> {
        let mut other = DiGraph::<(), u32>::new();
        for _ in 0..=graph.vertices() {
            other.add_node(());
        }
        for u in 0..graph.vertices() as VertexId {
            for &v in graph.neighbors(u) {
                other.add_edge(NodeIndex::new(u as usize), NodeIndex::new(v as usize), 1);
            }
        }
        let start = NodeIndex::new(graph.vertices());
        for &source in sources {
            other.add_edge(start, NodeIndex::new(source as usize), 0);
        }
        let found = petgraph::algo::dijkstra(&other, start, None, |edge| *edge.weight());
        (0..graph.vertices()).map(|v| found.get(&NodeIndex::new(v)).copied().unwrap_or(UNREACHED)).collect()
    }

    fn levels(tree: &crate::ShortestPathTree) -> &[u32] {
        match tree.distances() {
            Distances::U32(levels) => levels,
            _ => panic!("levels are u32"),
        }
    }

    /// Every gear: as it comes, always wide with both directions, only top-down, only bottom-up, always in lists, in lists for a level, eager to change.
    const ALGORITHMS_UNDER_TEST: [&str; 9] = [
        "sequential",
        "direction-optimizing",
        "direction-optimizing:wide=0",
        "direction-optimizing:wide=0,alpha=0.001",
        "direction-optimizing:wide=0,alpha=1e9,beta=1e9",
        "direction-optimizing:narrow=0,wide=1e9",
        "direction-optimizing:narrow=0,patience=0",
        "direction-optimizing:narrow=4,wide=24,alpha=3,beta=1",
        "direction-optimizing:narrow=8,wide=8,alpha=3,beta=1",
    ];

    #[test]
    fn every_algorithm_agrees_with_petgraph_and_proves_it() {
        for seed in [1, 2] {
            let mut random = Random(seed);
            for (name, graph) in graphs_of_every_shape::<Unit>(seed) {
                let vertices = graph.vertices() as u64;
                let mut draw = |count: u64| (0..count).map(|_| random.below(vertices) as VertexId).collect::<Vec<_>>();
                let (sources, targets) = ([draw(1), draw(3)], draw(2));
                let expected = sources.each_ref().map(|sources| oracle(&graph, sources));
                for threads in [1, 3] {
                    let solver = Solver::builder(graph.clone()).threads(threads).open().unwrap();
                    for (sources, expected) in sources.iter().zip(&expected) {
                        let mut first: Option<crate::ShortestPathTree> = None;
                        for algorithm in ALGORITHMS_UNDER_TEST {
                            let context = format!("{name}, {algorithm}, {threads} threads, from {sources:?}");
                            let request = Bfs::from(sources.as_slice()).algorithm(algorithm).count_paths();
                            let tree = solver.solve(request.clone()).unwrap();
                            assert_eq!(levels(&tree), expected, "{context}");
                            tree.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                            let first = first.get_or_insert_with(|| tree.clone());
                            assert_eq!(first.predecessors(), tree.predecessors(), "{context}");
                            assert_eq!(first.path_counts(), tree.path_counts(), "{context}");

                            let farthest = targets.iter().map(|&t| expected[t as usize]).max().unwrap();
                            for (request, bound) in
                                [(request.clone().to(targets.as_slice()), farthest), (request.within(2), 2)]
                            {
                                let ball = solver.solve(request).unwrap();
                                let inside = |&level: &u32| if level > bound { UNREACHED } else { level };
                                let wanted: Vec<u32> = expected.iter().map(inside).collect();
                                assert_eq!(levels(&ball), wanted, "{context}, bound {bound}");
                                ball.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Threads that have no patience leave lists after a level, or two where one begins before the clock is looked at.
    #[test]
    fn lists_end_when_patience_does() {
        let graph = crate::generate("grid:40x40").unwrap();
        let solver = Solver::builder(graph).threads(3).open().unwrap();
        let levels_in_lists = |patience: &str| {
            let algorithm = format!("direction-optimizing:narrow=0,wide=1e9,patience={patience}");
            let tree = solver.solve(Bfs::from(0).algorithm(algorithm)).unwrap();
            tree.report().statistics.iter().find(|(name, _)| *name == "levels_in_lists").unwrap().1
        };
        if solver.threads() > 1 {
            assert!((1..=2).contains(&levels_in_lists("0")));
            assert!(levels_in_lists("1e9") > 70);
        }
    }

    #[test]
    fn a_frontier_that_only_looks_wide_is_searched() {
        // 600 vertices of which the first alone has many arcs, beside a path that makes the graph large.
        let star = (1..=600_u32).map(|v| (0, v));
        let hub = (0..3_000_u32).map(|v| (1, 1_000 + v));
        for length in [30_000_u32, 200_000] {
            let path = (0..length).map(|v| (5_000 + v, 5_001 + v));
            let arcs = star.clone().chain(hub.clone()).chain(path);
            let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(arcs).unwrap();
            for threads in [1, 3] {
                let solver = Solver::builder(graph.clone()).threads(threads).open().unwrap();
                for algorithm in ALGORITHMS_UNDER_TEST {
                    let tree = solver.solve(Bfs::from(0).algorithm(algorithm)).unwrap();
                    assert_eq!(tree.reached(), 3_601, "{algorithm}");
                    tree.verify(&graph).unwrap();
                }
            }
        }
    }

    #[test]
    fn planted_errors_are_rejected() {
        let graph = Graph::from_edges([(0, 1), (1, 2), (0, 3), (3, 4), (4, 2), (2, 5)]).unwrap();
        let tree = Solver::new(graph.clone()).unwrap().bfs(0).unwrap();
        tree.verify(&graph).unwrap();
        for v in 0..6 {
            for wrong in [0, 1, 2, 3, UNREACHED] {
                if levels(&tree)[v] != wrong {
                    let mut planted = tree.clone();
                    let Distances::U32(levels) = &mut planted.distances else { panic!("levels are u32") };
                    levels[v] = wrong;
                    assert!(planted.verify(&graph).is_err(), "vertex {v} at {wrong}");
                }
            }
            for wrong in (0..7).chain([crate::graph::NO_VERTEX]) {
                if tree.predecessors.as_ref().unwrap()[v] != wrong {
                    let mut planted = tree.clone();
                    planted.predecessors.as_mut().unwrap()[v] = wrong;
                    assert!(planted.verify(&graph).is_err(), "predecessor {wrong} of {v}");
                }
            }
        }
    }

    #[test]
    fn cancelling_ends_every_algorithm() {
        let graph = Graph::from_edges((0..5000_u32).flat_map(|v| [(v, v + 1), (v, 0)])).unwrap();
        let control = Control::new();
        control.cancel();
        let solver = Solver::builder(graph.clone()).threads(2).control(control).open().unwrap();
        for algorithm in ALGORITHMS_UNDER_TEST {
            let result = solver.solve(Bfs::from(0).algorithm(algorithm));
            assert!(matches!(result, Err(crate::Error::Interrupted)), "{algorithm}");
        }
    }

    /// Queues have room for each vertex once; a list of sources may be longer.
    #[test]
    fn sources_may_be_named_many_times() {
        let graph = Graph::from_edges((0..300_u32).flat_map(|u| (0..150).map(move |k| (u, (u * 7 + k * 11) % 300))));
        let (graph, parameters, control) = (graph.unwrap(), Parameters::default(), Control::new());
        let metric = crate::hierarchy::Hierarchy::new(graph.clone()).unwrap();
        let metric = metric.customize(&crate::graph::Weights::unit(graph.arcs())).unwrap();
        for team in [1, 3].map(|threads| Team::new(threads).unwrap()) {
            for algorithm in ALGORITHMS {
                let levels = |count| {
                    let sources: Vec<VertexId> = [5, 7].into_iter().cycle().take(count).collect();
                    let (sources, targets, cutoff) = (sources.as_slice(), &[][..], UNREACHED);
                    let (graph, parameters, team, control) = (&graph, &parameters, &team, &control);
                    let metric = Some(&metric);
                    let task = BfsTask { graph, sources, targets, cutoff, parameters, metric, team, control };
                    algorithm.solve(&task, true).unwrap().levels
                };
                let expected = oracle(&graph, &[5, 7]);
                for count in [2, 301, 12_000] {
                    assert_eq!(levels(count), expected, "{}", algorithm.info.name);
                }
            }
            let from_3 = oracle(&graph, &[3]);
            for width in [0, 64, 512] {
                let check = |_, levels: &[u32]| {
                    assert_eq!(levels, from_3);
                    Ok(())
                };
                levels_of_many(&graph, &[3; 700], width, &team, &control, &check).unwrap();
            }
        }
    }

    #[test]
    fn what_is_chosen_exists_and_says_why() {
        let road = Graph::from_edges((0..40_000_u32).map(|v| (v, v + 1))).unwrap();
        let world =
            Graph::from_edges((0..40_000_u32).flat_map(|v| (1..6).map(move |k| (v, v * k * 7919 % 40_000)))).unwrap();
        assert_eq!(choose_by(1 << 20, 5 << 19, 2).info.name, "sequential");
        assert_eq!(choose_by(1 << 20, 5 << 19, 4).info.name, "direction-optimizing");
        for (graph, expected) in [(&road, "sequential"), (&world, "direction-optimizing")] {
            let (name, reason) = choose(graph, false, 2);
            assert!(ALGORITHMS.iter().any(|algorithm| algorithm.info.name == name));
            assert_eq!((name, reason.contains("arcs a vertex")), (expected, true));
            let tree = Solver::new(graph.clone()).unwrap().bfs(0).unwrap();
            assert_eq!((tree.report().algorithm.as_str(), &tree.report().reason), (expected, &reason));
        }
    }
}
