//! Every combination of the parameters of the report's two algorithms, the lists of each round, and the times.

use crate::cuda::device::testing::devices;
use crate::graph::{Direction, Graph, GraphBuilder, VertexId, Weights};
use crate::problems::Report;
use crate::testing::{Random, TestWeight, graphs_of_every_shape};
use crate::{Engine, Solver, Sssp};

/// The algorithms with every combination of these parameters.
fn combinations(name: &str, parameters: &[(&str, &[&str])]) -> Vec<String> {
    let mut all = vec![format!("{name}:launch=32x3")];
    for (parameter, values) in parameters {
        let with = |before: &String| values.iter().map(|value| format!("{before},{parameter}={value}")).collect();
        all = all.iter().flat_map(|before| -> Vec<String> { with(before) }).collect();
    }
    all
}

const ORDERS: (&str, &[&str]) = ("edge-order", &["source", "destination"]);
const EDGES: (&str, &[&str]) = ("edges", &["arrays", "records"]);
const ROUNDS: (&str, &[&str]) = ("rounds", &["untimed", "timed"]);
const LISTS: (&str, &[&str]) = ("lists", &["as-described", "by-warps"]);

/// Both algorithms: the sorts of synchronization that they have, times everything else.
fn every_combination() -> Vec<String> {
    let full = combinations("bellman-ford", &[("sync", &["outcore", "incore", "shared"]), ORDERS, EDGES, ROUNDS]);
    let lists = combinations("work-efficient", &[("sync", &["outcore", "incore"]), LISTS, ORDERS, EDGES, ROUNDS]);
    [full, lists].concat()
}

/// Runs every combination on some of the graphs of every shape, and each graph with some of the combinations.
fn agree<W: TestWeight>(seed: u64, every: usize) {
    let all = every_combination();
    assert_eq!(all.len(), 24 + 32);
    let mut random = Random(seed);
    for (turn, (name, graph)) in graphs_of_every_shape::<W>(seed).into_iter().enumerate() {
        let source = random.below(graph.vertices() as u64) as VertexId;
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        let expected = cpu.solve(Sssp::from(source).algorithm("dijkstra")).unwrap();
        for device in devices(seed + turn as u64) {
            let gpu = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            for algorithm in all.iter().skip(turn % every).step_by(every) {
                let context = format!("{name}, {algorithm} from {source}");
                let tree = gpu.solve(Sssp::from(source).algorithm(algorithm)).unwrap();
                assert_eq!(tree.distances(), expected.distances(), "{context}");
                assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
                tree.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
            }
        }
    }
}

#[test]
fn every_combination_agrees_with_dijkstra() {
    let every = if cfg!(emulator_sanitized) { 29 } else { 13 };
    agree::<u32>(3, every);
    agree::<f32>(4, 2 * every);
}

/// How many arcs each round of a synchronous Bellman-Ford has whose tail's distance fell in the round before.
fn lengths_of_lists(graph: &Graph, source: VertexId) -> Vec<u32> {
    let Weights::U32(weights) = graph.csr().weights() else { panic!("weights are integers") };
    let mut distances = vec![None; graph.vertices()];
    distances[source as usize] = Some(0);
    let (mut before, mut lengths) = (vec![None; graph.vertices()], Vec::new());
    loop {
        let mut next: Vec<Option<u64>> = distances.clone();
        let mut length = 0;
        for tail in 0..graph.vertices() {
            if distances[tail] == before[tail] {
                continue;
            }
            for arc in graph.csr().offsets()[tail] as usize..graph.csr().offsets()[tail + 1] as usize {
                let through = distances[tail].unwrap() + u64::from(weights[arc]);
                let head = &mut next[graph.csr().targets()[arc] as usize];
                *head = Some(head.map_or(through, |there| there.min(through)));
                length += 1;
            }
        }
        if length == 0 {
            return lengths;
        }
        lengths.push(length);
        before = std::mem::replace(&mut distances, next);
    }
}

/// Graphs of a few hundred arcs: random ones with loops and parallel arcs, a path, a star, and an arc that is apart.
fn small_graphs() -> Vec<Graph> {
    let mut random = Random(5);
    let mut any = |below: u64| random.below(below) as u32;
    let scattered: Vec<(u32, u32, u32)> = (0..600).map(|_| (any(150), any(150), any(90))).collect();
    let path: Vec<_> = (0..70).map(|v| (v, v + 1, 3)).collect();
    let star: Vec<_> = (1..90).flat_map(|leaf| [(0, leaf, leaf), (leaf, 0, 1)]).collect();
    let apart = vec![(1, 2, 3)];
    let built = |edges: Vec<(u32, u32, u32)>| GraphBuilder::new().direction(Direction::Directed).build_from(edges);
    [scattered, path, star, apart].into_iter().map(|edges| built(edges).unwrap()).collect()
}

/// A search from vertex 0 with its statistics, on each device.
fn searched(graph: &Graph, algorithm: &str, mut check: impl FnMut(&dyn Fn(&str) -> Option<u64>, &Report)) {
    for device in devices(6) {
        let solver = Solver::builder(graph.clone()).threads(1).statistics(true).device(device).open().unwrap();
        let tree = solver.solve(Sssp::from(0).algorithm(algorithm)).unwrap();
        tree.verify(graph).unwrap();
        let report = tree.report();
        check(&|wanted| report.statistics.iter().find(|(name, _)| *name == wanted).map(|(_, n)| *n), report);
    }
}

#[test]
fn lists_have_exactly_the_arcs_whose_tail_has_changed() {
    // 64 warps, as many as the threads that filter; and 6 and 45, which are fewer.
    let launches = ["64x32", "32x6", "96x15"];
    for graph in small_graphs() {
        let expected = lengths_of_lists(&graph, 0);
        let parameters = [("lists", LISTS.1), ORDERS, EDGES, ("sync", &["outcore"][..])];
        for (turn, algorithm) in combinations("work-efficient", &parameters).iter().enumerate() {
            let algorithm = algorithm.replace("32x3", launches[turn % launches.len()]);
            searched(&graph, &algorithm, |counter, report| {
                assert_eq!(report.frontiers, expected, "{algorithm}");
                let sum = expected.iter().map(|&length| u64::from(length)).sum();
                assert_eq!(counter("relaxations"), Some(sum), "{algorithm}");
                assert_eq!(counter("rounds"), Some(expected.len() as u64 + 1), "{algorithm}");
                let a_round = if algorithm.contains("as-described") { 3 } else { 4 };
                assert_eq!(counter("kernel_launches"), Some(a_round * counter("rounds").unwrap() - 1), "{algorithm}");
            });
        }
    }
}

const PARTS: [&str; 4] = ["mark", "filter", "copy", "compute"];

#[test]
fn rounds_are_told_where_they_are_timed() {
    for graph in small_graphs() {
        let mut lists = lengths_of_lists(&graph, 0);
        for algorithm in combinations("work-efficient", &[("sync", &["outcore"]), LISTS, EDGES, ROUNDS]) {
            searched(&graph, &algorithm, |counter, _| {
                let parts: u64 = PARTS.iter().filter_map(|part| counter(&format!("{part}_nanoseconds"))).sum();
                let rest = counter("wait_nanoseconds").unwrap();
                assert!(counter("device_nanoseconds").unwrap().abs_diff(parts + rest) < 10, "{algorithm}");
                assert!(lists.is_empty() || counter("compute_nanoseconds").is_some(), "{algorithm}");
                let rounds = lists.len();
                if algorithm.contains("rounds=untimed") || rounds == 0 {
                    assert_eq!(counter("first_round_arcs"), None, "{algorithm}");
                } else {
                    let arcs = |place: &str| counter(&format!("{place}_arcs")).unwrap();
                    assert_eq!(arcs("first_round"), lists[0].into(), "{algorithm}");
                    assert_eq!(arcs("last_round"), lists[rounds - 1].into(), "{algorithm}");
                    let last_eight: u32 = lists[rounds.saturating_sub(8)..].iter().sum();
                    assert_eq!(arcs("last_eight_rounds"), last_eight.into(), "{algorithm}");
                    for part in PARTS {
                        let time = |place: &str| counter(&format!("{place}_{part}_nanoseconds")).unwrap();
                        let whole = counter(&format!("{part}_nanoseconds")).unwrap();
                        assert!(time("last_eight_rounds") <= whole + whole / 1000 + 10, "{algorithm}");
                        assert!(time("last_round") <= time("last_eight_rounds") + 10, "{algorithm}");
                    }
                }
                assert_eq!(counter("full_round_nanoseconds").is_some(), algorithm.contains("rounds=timed"));
                assert!(counter("rounds_shorter_than_full").unwrap_or(0) <= rounds as u64, "{algorithm}");
            });
        }
        lists.sort_unstable();
        if let Some(&median) = lists.get(lists.len() / 2) {
            searched(&graph, "work-efficient:sync=outcore,launch=32x2,rounds=timed", |counter, _| {
                assert_eq!(counter("median_round_arcs"), Some(median.into()));
            });
        }
    }
}

#[test]
fn bellman_ford_tells_times_on_request_only() {
    let graph = &small_graphs()[1];
    let arcs = graph.arcs() as u64;
    for algorithm in combinations("bellman-ford", &[("sync", &["outcore", "incore", "shared"]), EDGES, ROUNDS]) {
        searched(graph, &algorithm, |counter, _| {
            let timed = algorithm.contains("rounds=timed");
            for name in ["compute_nanoseconds", "device_nanoseconds", "median_round_compute_nanoseconds"] {
                assert_eq!(counter(name).is_some(), timed, "{algorithm}, {name}");
            }
            assert_eq!(counter("last_round_arcs"), timed.then_some(arcs), "{algorithm}");
            assert_eq!(counter("copy_nanoseconds").is_some(), timed && !algorithm.contains("incore"), "{algorithm}");
            assert_eq!(counter("mark_nanoseconds"), None, "{algorithm}");
        });
    }
}
