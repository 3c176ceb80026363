//! Single-source shortest paths on the CPU.

pub(crate) mod bellman_ford;
pub(crate) mod bidirectional;
pub(crate) mod delta_stepping;
pub(crate) mod dijkstra;
pub(crate) mod hierarchy;
pub(crate) mod yen;

use super::Team;
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics};
use crate::graph::{Adjacency, DistanceValue, Graph, MinPlus, VertexId};
use crate::hierarchy::Metric;
use crate::{Control, Result};

/// Everything a shortest-path search needs to know.
#[derive(Debug)]
pub(crate) struct SsspTask<'a, L: MinPlus> {
    /// The arcs, by tail.
    pub(crate) adjacency: Adjacency<'a, L::Weight>,
    /// The graph behind the arcs, which caches the range of its weights, its transpose and names.
    pub(crate) graph: &'a Graph,
    /// Vertices; a vertex that is named twice counts once.
    pub(crate) sources: &'a [VertexId],
    /// If not empty, the search may stop when all of these are settled.
    pub(crate) targets: &'a [VertexId],
    /// The search may stop beyond this distance; `UNREACHABLE` for none.
    pub(crate) cutoff: L::Distance,
    /// The parameters that the caller set.
    pub(crate) parameters: &'a Parameters,
    /// A hierarchy of the graph with its weights, for the algorithm that needs one.
    pub(crate) metric: Option<&'a Metric>,
    /// The threads to run on.
    pub(crate) team: &'a Team,
    /// May cancel the work.
    pub(crate) control: &'a Control,
}

impl<L: MinPlus> SsspTask<'_, L> {
    /// An error unless all sources and targets are vertices, and the arcs belong to the graph.
    fn check(&self) -> Result<()> {
        self.graph.check_arcs(self.adjacency)?;
        self.graph.check_vertices(self.sources, "source")?;
        self.graph.check_vertices(self.targets, "target")
    }
}

/// Distances by vertex, `UNREACHABLE` where there is none, and counters.
///
/// Every vertex up to the cutoff or the farthest target has its final distance; other vertices may have theirs, a
/// greater distance, or none: the solver removes these.
#[derive(Debug, Clone)]
pub(crate) struct SsspOutcome<D> {
    /// The distances.
    pub(crate) distances: Vec<D>,
    /// The algorithm's counters.
    pub(crate) statistics: Statistics,
}

/// The function that an algorithm runs.
#[derive(Debug, Clone, Copy)]
enum Function {
    DeltaStepping,
    Dijkstra,
    BellmanFord,
    Hierarchy,
}

/// A shortest-path algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SsspAlgorithm {
    /// The facts known before it runs.
    pub(crate) info: AlgorithmInfo,
    /// Whether one search uses all threads of the team.
    pub uses_team: bool,
    function: Function,
}

impl SsspAlgorithm {
    /// Whether the task needs a hierarchy.
    pub(crate) fn needs_metric(&self) -> bool {
        matches!(self.function, Function::Hierarchy)
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// If the task names a missing vertex or arcs of another graph, memory does not suffice, or the caller cancels.
    pub(crate) fn solve<L: MinPlus>(&self, task: &SsspTask<'_, L>) -> Result<SsspOutcome<L::Distance>> {
        let (vertices, blank) = (task.adjacency.vertices(), self.blank::<L>());
        let alone = Team::alone();
        let team = if self.uses_team { task.team } else { &alone };
        let mut distances = team.filled("the array of distances", vertices, || blank)?;
        let statistics = self.solve_into(task, &mut distances)?;
        Ok(SsspOutcome { distances, statistics })
    }

    /// What the array of distances has to be filled with before a search.
    pub(crate) fn blank<L: MinPlus>(&self) -> L::Distance {
        match self.function {
            Function::DeltaStepping => delta_stepping::blank::<L>(),
            Function::Dijkstra | Function::BellmanFord | Function::Hierarchy => L::Distance::UNREACHABLE,
        }
    }

    /// Runs it in an array of the caller, one distance a vertex, each of them [`blank`](SsspAlgorithm::blank). If it
    /// fails, the array holds anything.
    ///
    /// # Errors
    ///
    /// As [`SsspAlgorithm::solve`]; also if the array has another length.
    pub(crate) fn solve_into<L: MinPlus>(
        &self,
        task: &SsspTask<'_, L>,
        distances: &mut [L::Distance],
    ) -> Result<Statistics> {
        task.check()?;
        task.graph.check_length(distances.len(), "distances")?;
        match self.function {
            Function::DeltaStepping => delta_stepping::solve(task, distances),
            Function::Dijkstra => dijkstra::solve(task, distances),
            Function::BellmanFord => bellman_ford::solve(task, distances),
            Function::Hierarchy => hierarchy::solve(task, distances),
        }
    }
}

/// The algorithm predicted fastest for one search on a graph with these numbers of vertices and arcs, and why.
/// `negative` says whether some weights are below 0.
pub(crate) fn choose(vertices: usize, arcs: usize, negative: bool) -> (&'static SsspAlgorithm, &'static str) {
    const SMALL: usize = 1 << 12;
    if negative {
        (&bellman_ford::ALGORITHM, "some weights are negative")
    } else if vertices + arcs <= SMALL {
        (&dijkstra::ALGORITHM, "the graph is small")
    } else {
        (&delta_stepping::ALGORITHM, "weights are 0 or more and there is work to share")
    }
}

/// Every single-source shortest-path algorithm of this engine.
pub(crate) static ALGORITHMS: &[SsspAlgorithm] =
    &[delta_stepping::ALGORITHM, dijkstra::ALGORITHM, bellman_ford::ALGORITHM, hierarchy::ALGORITHM];

#[cfg(test)]
mod tests {
    use petgraph::algo::Measure;
    use petgraph::graph::DiGraph;

    use super::*;
    use crate::graph::{Direction, Distances, GraphBuilder, Unit};
    use crate::testing::{Random, TestWeight, graphs_of_every_shape};
    use crate::{ShortestPathTree, Solver, Sssp};

    /// A weight type, with the type in which an independent program adds weights up.
    trait Oracle: TestWeight {
        type Sum: Measure + Copy + PartialOrd;
        fn widen(self) -> Self::Sum;
        fn distances(distances: &Distances) -> Vec<Option<Self::Sum>>;
    }

    macro_rules! oracle {
        ($weight:ty, $sum:ty, $widen:expr, $($variant:ident $unreachable:expr),*) => {
            impl Oracle for $weight {
                type Sum = $sum;
                fn widen(self) -> $sum {
                    let widen: fn($weight) -> $sum = $widen;
                    widen(self)
                }
                fn distances(distances: &Distances) -> Vec<Option<$sum>> {
                    match distances {
                        $(Distances::$variant(values) =>
                            values.iter().map(|&d| (d != $unreachable).then_some(d as $sum)).collect(),)*
                        other => panic!("{other:?}"),
                    }
                }
            }
        };
    }
    oracle!(Unit, u64, |_| 1, U32 u32::MAX);
    oracle!(u32, u64, u64::from, U32 u32::MAX, U64 u64::MAX);
    oracle!(i32, i64, i64::from, I64 i64::MAX);
    oracle!(f32, f32, |w| w, F32 f32::INFINITY);
    oracle!(f64, f64, |w| w, F64 f64::INFINITY);

    const ALGORITHMS: [&str; 8] = [
        "dijkstra",
        "bellman-ford",
        "delta-stepping",
        "delta-stepping:delta=1",
        "delta-stepping:delta=0.3",
        "delta-stepping:delta=700",
        "delta-stepping:delta=1e-300",
        "delta-stepping:delta=1e300",
    ];

    fn expected<W: Oracle>(graph: &Graph, source: VertexId) -> Vec<Option<W::Sum>> {
        let weights = W::of(graph.weights()).expect("the weights are of this type");
        let csr = graph.csr();
        let arcs = (0..graph.vertices() as VertexId)
            .flat_map(|u| csr.row(u).map(move |arc| (u, csr.targets()[arc], weights[arc].widen())));
        let mut reference = DiGraph::<(), W::Sum>::new();
        (0..graph.vertices()).for_each(|_| _ = reference.add_node(()));
        arcs.for_each(|(u, v, weight)| _ = reference.add_edge(u.into(), v.into(), weight));
        let found = petgraph::algo::dijkstra(&reference, source.into(), None, |edge| *edge.weight());
        (0..graph.vertices() as VertexId)
            .map(|v| found.get(&petgraph::graph::NodeIndex::new(v as usize)).copied())
            .collect()
    }

    fn agrees_everywhere<W: Oracle>(seed: u64) {
        let mut random = Random(seed);
        for (name, graph) in graphs_of_every_shape::<W>(seed) {
            let vertices = graph.vertices() as u64;
            let mut any = || random.below(vertices) as VertexId;
            let (source, sources, targets) = (any(), [any(), any(), any()], [any(), any()]);
            let cutoff = (random.below(3000)) as f64 / 2.0;
            let expected = expected::<W>(&graph, source);
            let mut first: Option<[ShortestPathTree; 4]> = None;
            for threads in [1, 3] {
                let solver = Solver::builder(graph.clone()).threads(threads).open().unwrap();
                // Only delta-stepping uses more than one thread.
                let algorithms = if threads == 1 { &ALGORITHMS[..] } else { &ALGORITHMS[2..6] };
                for algorithm in algorithms.iter().copied().map(Some).chain([None]) {
                    let what = format!("{name}, {algorithm:?}, {threads} threads");
                    let solve = |request: Sssp| {
                        let request = Sssp { algorithm: algorithm.map(str::to_owned), ..request };
                        let tree = solver.solve(request).unwrap();
                        tree.verify(&graph).unwrap_or_else(|error| panic!("{what}: {error}"));
                        tree
                    };
                    let trees = [
                        solve(Sssp::from(source)),
                        solve(Sssp::from(sources)),
                        solve(Sssp::from(source).to(targets)),
                        solve(Sssp::from(source).within(cutoff)),
                    ];
                    assert_eq!(W::distances(trees[0].distances()), expected, "{what}");
                    let first = first.get_or_insert_with(|| trees.clone());
                    for (tree, first) in trees.iter().zip(first) {
                        assert_eq!(W::distances(tree.distances()), W::distances(first.distances()), "{what}");
                        assert_eq!(tree.predecessors(), first.predecessors(), "{what}");
                    }
                    let farthest = targets.map(|v| expected[v as usize]);
                    let whole = farthest.iter().any(Option::is_none);
                    for (v, &distance) in expected.iter().enumerate() {
                        let near = |bound: W::Sum| distance.is_some_and(|d| d <= bound);
                        let inside = if whole { distance.is_some() } else { farthest.iter().any(|f| near(f.unwrap())) };
                        assert_eq!(trees[2].distance(v as VertexId).is_some(), inside, "{what}");
                        let within = trees[0].distance(v as VertexId).is_some_and(|d| d.to_f64() <= cutoff);
                        assert_eq!(trees[3].distance(v as VertexId).is_some(), within, "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn unit_weights_agree() {
        agrees_everywhere::<Unit>(31);
    }

    #[test]
    fn unsigned_weights_agree() {
        agrees_everywhere::<u32>(32);
    }

    #[test]
    fn signed_weights_agree() {
        agrees_everywhere::<i32>(33);
    }

    #[test]
    fn single_floats_agree() {
        agrees_everywhere::<f32>(34);
    }

    #[test]
    fn double_floats_agree() {
        agrees_everywhere::<f64>(35);
    }

    #[test]
    fn distances_beyond_32_bits_move_to_the_wide_semiring() {
        let edges = (0..5_u32).map(|v| (v, v + 1, u32::MAX)).chain([(6, 7, 1)]);
        let graph = Graph::from_edges(edges).unwrap();
        for algorithm in ALGORITHMS {
            let tree = Solver::new(graph.clone()).unwrap().solve(Sssp::from(0).algorithm(algorithm)).unwrap();
            tree.verify(&graph).unwrap();
            assert!(tree.report().repeated_wide);
            assert_eq!(tree.distance(5).unwrap().to_f64(), 5.0 * f64::from(u32::MAX));
            let near = Solver::new(graph.clone()).unwrap().solve(Sssp::from(6).algorithm(algorithm)).unwrap();
            assert!(!near.report().repeated_wide);
        }
    }

    #[test]
    fn a_larger_graph_agrees_on_many_threads() {
        let mut random = Random(77);
        let edges: Vec<(u32, u32, u32)> = (0..200_000)
            .map(|_| (random.below(20_000) as u32, random.below(20_000) as u32, random.below(256) as u32))
            .collect();
        let graph = Graph::from_edges(edges).unwrap();
        let expected = expected::<u32>(&graph, 5);
        for threads in [1, 2, 4] {
            let solver = Solver::builder(graph.clone()).threads(threads).open().unwrap();
            for algorithm in ["delta-stepping", "delta-stepping:delta=1", "delta-stepping:delta=100"] {
                let tree = solver.solve(Sssp::from(5).algorithm(algorithm)).unwrap();
                assert_eq!(u32::distances(tree.distances()), expected, "{algorithm}, {threads} threads");
                tree.verify(&graph).unwrap();
            }
        }
    }

    /// Undirected, so dense that delta-stepping limits its scope, with a tail, a component of its own, and vertices
    /// without edges.
    #[test]
    fn dense_undirected_graphs_agree() {
        let mut random = Random(78);
        for (vertices, greatest) in [(2_000, 255), (2_000, 3), (300, 1_000_000), (3_000, 0)] {
            let mut edges: Vec<(u32, u32, u32)> = (0..10 * vertices)
                .map(|_| (random.below(vertices), random.below(vertices), random.below(greatest + 1)))
                .map(|(u, v, weight)| (u as u32, v as u32, weight as u32))
                .collect();
            let last = vertices as u32;
            edges.extend((0..40).map(|step| (last + step - 1, last + step, 40 * greatest as u32)));
            edges.extend((0..100).map(|step| (last + 50 + step, last + 51 + step * 7 % 100, 1)));
            let builder = GraphBuilder::new().direction(Direction::Undirected);
            let graph = builder.build_from(edges).unwrap();
            for source in [0, last + 20, last + 45, last + 60] {
                let expected = expected::<u32>(&graph, source);
                for threads in [1, 2, 4] {
                    let solver = Solver::builder(graph.clone()).threads(threads).open().unwrap();
                    for algorithm in ["delta-stepping", "delta-stepping:delta=0.3", "delta-stepping:delta=100"] {
                        let request = Sssp::from(source).algorithm(algorithm);
                        let tree = solver.solve(request.clone()).unwrap();
                        assert_eq!(u32::distances(tree.distances()), expected, "{algorithm}, {threads} threads");
                        let near = solver.solve(Sssp { targets: vec![17], ..request }).unwrap();
                        assert_eq!(near.distance(17), tree.distance(17), "{algorithm}, {threads} threads");
                        near.verify(&graph).unwrap();
                    }
                }
            }
        }
    }

    #[test]
    fn a_cancelled_search_ends() {
        let graph = Graph::from_edges((0..50_000_u32).map(|v| (v, v + 1, 7_u32))).unwrap();
        for threads in [1, 3] {
            let control = Control::new();
            control.cancel();
            let solver = Solver::builder(graph.clone()).threads(threads).control(control).open().unwrap();
            for algorithm in ["dijkstra", "bellman-ford", "delta-stepping"] {
                let result = solver.solve(Sssp::from(0).algorithm(algorithm));
                assert!(matches!(result, Err(crate::Error::Interrupted)), "{algorithm}");
            }
        }
    }
}
