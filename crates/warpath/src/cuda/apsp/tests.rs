//! The algorithms on the emulator, and on the GPU if there is one, against the CPU engine.

use super::*;
use crate::cuda::device::testing::devices;
use crate::graph::{Distance, Distances, GraphBuilder, Unit, VertexId, Weight, WeightKind};
use crate::testing::{Random, TestWeight, graphs_of_every_shape};
use crate::{Apsp, DistanceMatrix, Engine, Solver};

const TILED: [&str; 4] = [
    "tiled-floyd-warshall",
    "tiled-floyd-warshall:stages=1,head-start=0",
    "tiled-floyd-warshall:cell-bits=32,head-start=1",
    "tiled-floyd-warshall:cell-bits=64,stages=2",
];
const PAPERS: [&str; 7] = [
    "floyd-warshall",
    "floyd-warshall-rows",
    "blocked-floyd-warshall",
    "blocked-floyd-warshall:block=32,cell-bits=64",
    "katz-kider",
    "katz-kider:block=13,cell-bits=64",
    "katz-kider:block=9,page=20",
];

/// With an operating system thread for each block of threads, an emulated launch of many blocks is slow.
const MOST_VERTICES_OF_PAPERS: usize = 70;

/// The algorithm, without a width of cells that this graph's distances don't have.
fn suited(algorithm: &str, graph: &Graph) -> String {
    let lacking: &[&str] = match graph.weight_kind() {
        WeightKind::Unit | WeightKind::U32 => &["cell-bits=64"],
        WeightKind::I32 => &[],
        WeightKind::F32 => &["cell-bits=64"],
        WeightKind::F64 => &["cell-bits=32"],
    };
    lacking.iter().fold(algorithm.to_owned(), |algorithm, width| {
        algorithm.replace(&format!("{width},"), "").replace(&format!(",{width}"), "")
    })
}

pub(super) fn on_cpu(graph: &Graph) -> Solver {
    Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap()
}

fn on(device: Arc<dyn Device>, graph: &Graph) -> Solver {
    Solver::builder(graph.clone()).threads(1).device(device).open().unwrap()
}

/// Equal, but for the order in which floats were added up.
pub(super) fn assert_equal(found: &DistanceMatrix, expected: &DistanceMatrix, context: &str) {
    let is_float = matches!(expected.distances(), Distances::F32(_) | Distances::F64(_));
    assert_eq!(found.distances().len(), expected.distances().len(), "{context}");
    for cell in 0..expected.distances().len() {
        let (a, b) = (found.distances().get(cell), expected.distances().get(cell));
        let close = |a: Distance, b: Distance| (a.to_f64() - b.to_f64()).abs() <= 1e-4 * b.to_f64().abs().max(1e-3);
        let equal = a == b || (is_float && matches!((a, b), (Some(a), Some(b)) if close(a, b)));
        assert!(equal, "{context}, cell {cell}: {a:?} is not {b:?}");
    }
}

/// Runs these algorithms, in turn, on one graph in `every`, beginning with the `seed`th, of every shape.
fn agrees_with_the_cpu<W: TestWeight>(seed: u64, every: usize) {
    let graphs = graphs_of_every_shape::<W>(seed).into_iter().skip(seed as usize % every).step_by(every);
    for (turn, (name, graph)) in graphs.enumerate() {
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
        let papers = if graph.vertices() <= MOST_VERTICES_OF_PAPERS { &PAPERS[..] } else { &[] };
        for device in devices(seed) {
            for algorithm in papers.iter().copied().chain([TILED[turn % TILED.len()]]) {
                let context = format!("{name}, {algorithm}");
                let request = Apsp::all().algorithm(suited(algorithm, &graph));
                let matrix = on(device.clone(), &graph).solve(request).unwrap();
                assert_equal(&matrix, &expected, &context);
                matrix.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                assert!(matrix.report().engine.starts_with("cuda"), "{context}");
                assert!(matrix.report().statistics.iter().any(|(counter, _)| *counter == "kernel_launches"));
            }
        }
    }
}

#[test]
fn every_algorithm_agrees_with_the_cpu() {
    for seed in [1, 2] {
        agrees_with_the_cpu::<u32>(seed, 5);
    }
    agrees_with_the_cpu::<i32>(3, 7);
    agrees_with_the_cpu::<f32>(4, 7);
    agrees_with_the_cpu::<f64>(5, 7);
    agrees_with_the_cpu::<Unit>(6, 11);
}

/// About `degree` arcs a vertex, whose weights potentials make negative, but no cycle.
pub(super) fn random_graph<W: Weight>(seed: u64, n: u64, degree: u64, potential: u64, weight: fn(i64) -> W) -> Graph {
    let mut random = Random(seed);
    let potentials: Vec<i64> = (0..n).map(|_| random.below(potential + 1) as i64).collect();
    let mut arcs = Vec::new();
    for from in 0..n {
        for to in 0..n {
            if random.below(n) < degree {
                let length = 1 + random.below(60) as i64 + potentials[from as usize] - potentials[to as usize];
                arcs.push((from as VertexId, to as VertexId, weight(length)));
            }
        }
    }
    GraphBuilder::new().vertices(n).build_from(arcs).unwrap()
}

#[test]
fn sizes_that_no_tile_divides() {
    fn check<W: Weight>(n: u64, potential: u64, weight: fn(i64) -> W) {
        for degree in [n, 3] {
            let graph = random_graph(n + degree, n, degree, potential, weight);
            let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
            for device in devices(n) {
                let mut algorithms = vec![TILED[(n + degree) as usize % TILED.len()]];
                if n <= MOST_VERTICES_OF_PAPERS as u64 {
                    algorithms.push(PAPERS[(n + degree) as usize % PAPERS.len()]);
                }
                for algorithm in algorithms {
                    let solver = on(device.clone(), &graph);
                    let request = Apsp::all().algorithm(suited(algorithm, &graph));
                    // To verify a large complete graph takes longer than to solve it.
                    let request = if n > 200 && degree == n { request } else { request.verified() };
                    let matrix = solver.solve(request).unwrap();
                    assert_equal(&matrix, &expected, &format!("n = {n}, degree {degree}, {algorithm}"));
                    assert_eq!(matrix.finite_pairs(), expected.finite_pairs());
                }
            }
        }
    }
    let sizes: &[u64] = if cfg!(emulator_sanitized) { &[2, 33, 130] } else { &[1, 2, 31, 33, 65, 130, 259] };
    for &n in sizes {
        check::<u32>(n, 0, |length| length as u32);
        check::<i32>(n, 40, |length| length as i32);
        check::<f32>(n, 0, |length| length as f32);
        check::<f32>(n, 40, |length| length as f32);
        check::<f64>(n, 40, |length| length as f64);
    }
}

#[test]
fn no_vertices() {
    let graph = GraphBuilder::new().build_from(Vec::<(u32, u32, u32)>::new()).unwrap();
    for device in devices(1) {
        let matrix = on(device, &graph).solve(Apsp::all()).unwrap();
        assert_eq!((matrix.rows(), matrix.columns(), matrix.distances().len()), (0, 0, 0));
    }
}

/// Paths whose length is just below, at and above what cells hold.
#[test]
fn distances_at_the_edges_of_the_cells() {
    let path = |weights: &[u32]| Graph::from_edges(weights.iter().zip(0..).map(|(&w, v)| (v, v + 1, w))).unwrap();
    let half = u32::MAX / 2;
    for (weights, bits, wide) in [
        (&[4000; 7][..], 16, false),           // 28,000 + 4,000 < 32,767
        (&[4000; 8], 32, false),               // 32,000 + 4,000
        (&[half / 2, half / 2 - 1], 32, true), // the sum and one weight more are beyond
        (&[half / 4, half / 4, half / 4 - 1], 32, false),
        (&[half - 1], 64, true),
        (&[half, 1], 64, true),
        (&[3_000_000_000, 7], 64, true),
        (&[u32::MAX, u32::MAX, u32::MAX], 64, true),
    ] {
        let graph = path(weights);
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("batched")).unwrap();
        for device in devices(3) {
            let request = Apsp::all().algorithm("tiled-floyd-warshall").verified();
            let matrix = on(device, &graph).solve(request).unwrap();
            assert_equal(&matrix, &expected, &format!("{weights:?}"));
            assert_eq!(matrix.report().repeated_wide, wide, "{weights:?}");
            let counted = |name| matrix.report().statistics.iter().find(|(counter, _)| *counter == name).unwrap().1;
            assert_eq!(counted("cell_bits"), if wide { 64 } else { bits }, "{weights:?}");
        }
    }
    // Infinity sinks by all negative weights there are: 199 of them here.
    let negative = |weight: i32| Graph::from_edges((0..399).filter(|v| *v != 200).map(|v| (v, v + 1, weight))).unwrap();
    for (weight, bits) in [(-1000, 32), (-(1 << 21), 32), (-(1 << 22), 64), (i32::MIN, 64)] {
        let graph = negative(weight);
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
        for device in devices(4) {
            let matrix = on(device, &graph).solve(Apsp::all().algorithm("tiled-floyd-warshall")).unwrap();
            assert_eq!(matrix.distances(), expected.distances(), "{weight}");
            assert!(matrix.report().statistics.contains(&("cell_bits", bits)), "{weight}");
        }
    }
}

#[test]
fn negative_cycles_are_those_of_the_cpu() {
    for n in [1, 2, 40, 150, 300_u64] {
        let mut random = Random(n);
        let base = random_graph(n, n, 4, 20, |length| length as i32);
        let mut arcs: Vec<_> = base.edges().map(|(u, v, weight)| (u, v, weight as i32)).collect();
        // From the first vertex to the last and back, or a loop.
        arcs.extend([(0, n as u32 - 1, -30), (n as u32 - 1, 0, 10)]);
        let graph = GraphBuilder::new().vertices(n).build_from(arcs).unwrap();
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap_err();
        let Error::NegativeCycle(expected) = expected else { panic!("{expected:?}") };
        for device in devices(random.next()) {
            let papers = if n <= MOST_VERTICES_OF_PAPERS as u64 { &PAPERS[..] } else { &[] };
            for algorithm in TILED.iter().chain(papers) {
                match on(device.clone(), &graph).solve(Apsp::all().algorithm(*algorithm)) {
                    Err(Error::NegativeCycle(cycle)) => {
                        cycle.verify(&graph).unwrap();
                        assert_eq!(cycle, expected, "{algorithm}, n = {n}");
                    }
                    other => panic!("{algorithm}, n = {n}: {other:?}"),
                }
            }
        }
    }
    // Vertices 3 to 5 are on a cycle, which the others do not reach.
    let arcs = [(0, 1, 5), (1, 2, -3), (2, 0, -1), (3, 4, 2), (4, 5, -7), (5, 3, 4), (3, 0, 1)];
    let graph = Graph::from_edges(arcs).unwrap();
    let floats = Graph::from_edges(arcs.map(|(u, v, weight)| (u, v, weight as f32))).unwrap();
    for device in devices(9) {
        for graph in [&graph, &floats] {
            let solver = on(device.clone(), graph);
            let request = Apsp::all().from([2, 0]).algorithm("tiled-floyd-warshall").verified();
            let matrix = solver.solve(request).unwrap();
            assert_eq!(matrix.distance(0, 1).map(Distance::to_f64), Some(4.0));
            assert_eq!(matrix.distance(1, 3), None);
            let cycle = solver.solve(Apsp::all().from([5]).algorithm("tiled-floyd-warshall"));
            assert!(matches!(cycle, Err(Error::NegativeCycle(_))));
        }
    }
}

#[test]
fn rows_and_columns_asked_for() {
    let graph = random_graph(5, 140, 5, 0, |length| length as u32);
    let cpu = on_cpu(&graph);
    let requests = [
        Apsp::all().from([3, 4, 5, 139, 0, 0]),
        Apsp::all().to([7, 7, 130]),
        Apsp::all().from([9, 100, 101]).to([0, 139]),
        Apsp::all().to(Vec::new()),
        Apsp::all().from(Vec::new()),
    ];
    for device in devices(5) {
        let gpu = on(device, &graph);
        for request in &requests {
            let expected = cpu.solve(request.clone()).unwrap();
            assert_eq!(gpu.solve(request.clone()).unwrap().distances(), expected.distances(), "{request:?}");
            let summary = gpu.solve(request.clone().verified().into_sink(&mut ())).unwrap();
            assert_eq!(summary.distance_sum(), expected.distance_sum(), "{request:?}");
            assert_eq!(summary.finite_pairs(), expected.finite_pairs(), "{request:?}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_and_work_can_be_cancelled() {
    let graph = random_graph(6, 600, 2, 0, |length| length as u32);
    for device in devices(6) {
        let small = Solver::builder(graph.clone()).threads(1).device(device.clone()).memory(1 << 20).open().unwrap();
        match small.solve(Apsp::all().algorithm("blocked-floyd-warshall")) {
            // 608 x 608 cells of 4 bytes.
            Err(Error::OutOfMemory { needed, available, .. }) => {
                assert!((1_600_000..8_000_000).contains(&needed) && available == 1 << 20, "{needed} {available}");
            }
            other => panic!("{:?}", other.map(drop)),
        }
        for algorithm in ["tiled-floyd-warshall:stages=1", "floyd-warshall-rows"] {
            let control = Control::new();
            let inner = control.clone();
            let control = control.watched_by(move |_| inner.cancel());
            let solver =
                Solver::builder(graph.clone()).threads(1).device(device.clone()).control(control).open().unwrap();
            let cancelled = solver.solve(Apsp::all().algorithm(algorithm));
            assert!(matches!(cancelled, Err(Error::Interrupted)), "{algorithm}");
        }
        let refused = on(device, &graph).solve(Apsp::all().algorithm("dijkstra")).unwrap_err();
        assert!(refused.to_string().contains("tiled-floyd-warshall"), "{refused}");
    }
}
