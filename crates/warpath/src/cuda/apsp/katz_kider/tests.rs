//! Katz and Kider's program on emulated devices, and on the GPUs if there are any, against the CPU engine: the distances,
//! the paths over intermediate vertices, and pages.

use super::super::strips::tests::counted;
use super::super::tests::{assert_equal, on_cpu, random_graph};
use crate::cuda::device::testing::several;
use crate::graph::{Distance, Graph, GraphBuilder, VertexId, Weight};
use crate::testing::{Random, TestWeight, graphs_of_every_shape};
use crate::{Apsp, Control, DistanceMatrix, Error, Solver};

/// With an operating system thread for each block of threads, an emulated launch of many blocks is slow.
const MOST_VERTICES: usize = 80;

/// The length of the lightest arc between two vertices.
fn arc(graph: &Graph, from: VertexId, to: VertexId) -> Option<f64> {
    let arcs = graph.edges().filter(|&(tail, head, _)| (tail, head) == (from, to));
    arcs.map(|(_, _, weight)| weight).reduce(f64::min)
}

/// Every pair with a distance has a path over intermediate vertices, of arcs of the graph and of that length, in which
/// no vertex comes twice.
fn assert_paths(matrix: &DistanceMatrix, graph: &Graph, context: &str) {
    let n = graph.vertices();
    for i in 0..matrix.rows() {
        for j in 0..matrix.columns() {
            let (from, to) = (matrix.sources()[i], matrix.targets().map_or(j as VertexId, |targets| targets[j]));
            let found = matrix.path_over_intermediates(i, j).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert_eq!(found.is_some(), matrix.distance(i, j).is_some(), "{context}, {from} to {to}");
            let Some(path) = found else { continue };
            assert_eq!((path.vertices()[0], path.vertices()[path.vertices().len() - 1]), (from, to), "{context}");
            let mut seen = vec![false; n];
            for &vertex in path.vertices() {
                assert!(!std::mem::replace(&mut seen[vertex as usize], true), "{context}: {:?}", path.vertices());
            }
            let lengths =
                path.edges().map(|(u, v)| arc(graph, u, v).unwrap_or_else(|| panic!("{context}: {u} to {v}")));
            let (length, distance) = (lengths.sum::<f64>(), path.length().to_f64());
            let close = (length - distance).abs() <= 1e-4 * distance.abs().max(1e-3);
            assert!(close, "{context}, {from} to {to}: {length} is not {distance}");
        }
    }
}

/// Solves with intermediate vertices, and checks distances and paths.
fn checked(solver: &Solver, graph: &Graph, expected: &DistanceMatrix, algorithm: &str) -> DistanceMatrix {
    let request = Apsp::all().algorithm(algorithm).with_intermediates().verified();
    let matrix = solver.solve(request).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
    assert_equal(&matrix, expected, algorithm);
    assert_paths(&matrix, graph, algorithm);
    matrix
}

#[test]
fn blocks_of_every_size() {
    fn check<W: Weight>(side: u64, potential: u64, weight: fn(i64) -> W) {
        let n = 41 + side % 3;
        // Sparse graphs and complete ones in turn.
        let degree = if side.is_multiple_of(2) { 2 } else { n };
        let graph = random_graph(side + degree, n, degree, potential, weight);
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
        for devices in several(1, side) {
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
            let whole = checked(&solver, &graph, &expected, &format!("katz-kider:block={side}"));
            assert_eq!(counted(&whole, "stages"), n.div_ceil(side));
            // The paper's three passes, of which a single block has one, and two launches that convert.
            let passes = if n <= side { 1 } else { 3 };
            assert_eq!(counted(&whole, "kernel_launches"), passes * n.div_ceil(side) + 2);
        }
    }
    for side in 8..=32 {
        match side % 5 {
            0 => check::<u32>(side, 0, |length| length as u32),
            1 => check::<i32>(side, 40, |length| length as i32),
            2 => check::<f32>(side, 0, |length| length as f32 / 7.0),
            3 => check::<f64>(side, 40, |length| length as f64 / 7.0),
            _ => check::<f32>(side, 40, |length| length as f32),
        }
    }
}

/// One page, some, and pages that are blocks, on one device, two and three.
#[test]
fn pages_on_any_number_of_devices() {
    fn check<W: Weight>(n: u64, potential: u64, weight: fn(i64) -> W) {
        let graph = random_graph(n, n, 4, potential, weight);
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
        for (block, page) in [(8, 8), (8, 17), (18, 30), (9, 9), (10, 1000)] {
            let side = page.min(n).next_multiple_of(block);
            let across = n.div_ceil(side);
            for count in [1, 2, 3] {
                for devices in several(count, n + page) {
                    let solver = Solver::builder(graph.clone()).threads(2).devices(devices).open().unwrap();
                    let algorithm = format!("katz-kider:block={block},page={page}");
                    let matrix = checked(&solver, &graph, &expected, &algorithm);
                    let used = counted(&matrix, "devices");
                    let others = across - 1;
                    assert_eq!(used, (count as u64).min((others * others.max(2)).max(1)), "{algorithm}");
                    assert_eq!(
                        [counted(&matrix, "pages"), counted(&matrix, "rows_of_a_page")],
                        [across * across, side]
                    );
                    // The primary page on every device; a page in the second pass; three in the third.
                    let bytes =
                        side * side * 2 * if matrix.report().statistics.contains(&("cell_bits", 64)) { 8 } else { 4 };
                    let to_device = across * (used + 2 * others + 3 * others * others) * bytes;
                    assert_eq!(counted(&matrix, "bytes_to_device"), to_device, "{algorithm}");
                    assert_eq!(counted(&matrix, "bytes_from_device"), across * across * across * bytes, "{algorithm}");
                }
            }
        }
    }
    check::<u32>(45, 0, |length| length as u32);
    check::<i32>(44, 40, |length| length as i32);
    check::<f64>(43, 0, |length| length as f64 / 7.0);
}

#[test]
fn graphs_of_every_shape_have_their_paths() {
    fn check<W: TestWeight>(seed: u64, every: usize) {
        let graphs =
            graphs_of_every_shape::<W>(seed).into_iter().filter(|(_, graph)| graph.vertices() <= MOST_VERTICES);
        for (turn, (name, graph)) in graphs.enumerate().skip(seed as usize % every).step_by(every) {
            let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
            for devices in several(1 + turn % 2, turn as u64) {
                let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
                for algorithm in ["katz-kider", "katz-kider:block=8,page=16"] {
                    println!("{name}");
                    checked(&solver, &graph, &expected, algorithm);
                }
            }
        }
    }
    check::<u32>(1, 2);
    check::<i32>(2, 3);
    check::<f32>(3, 3);
    check::<crate::graph::Unit>(4, 3);
}

/// Many cycles of length 0, through the vertices of one block and of several.
#[test]
fn cycles_of_length_zero() {
    for seed in 1..4 {
        let mut random = Random(seed);
        let n = 40_u64;
        let potentials: Vec<i64> = (0..n).map(|_| random.below(5) as i64).collect();
        let arcs: Vec<_> = (0..4 * n)
            .map(|_| {
                let (u, v) = (random.below(n), random.below(n));
                let extra = i64::from(random.below(4) == 0);
                (u as VertexId, v as VertexId, (potentials[u as usize] - potentials[v as usize] + extra) as i32)
            })
            .collect();
        let zeros: Vec<_> = arcs.iter().map(|&(u, v, weight)| (u, v, u32::from(weight % 2 != 0))).collect();
        let signed = GraphBuilder::new().vertices(n).build_from(arcs).unwrap();
        let zeros = GraphBuilder::new().vertices(n).build_from(zeros).unwrap();
        for graph in [signed, zeros] {
            let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
            for devices in several(2, seed) {
                let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
                for algorithm in ["katz-kider:block=16,page=1000", "katz-kider:block=8,page=8", "katz-kider:block=10"] {
                    checked(&solver, &graph, &expected, algorithm);
                }
            }
        }
    }
}

/// Without being asked to: pages where the memory is too little, and on several devices.
#[test]
fn what_does_not_fit_is_in_pages() {
    let graph = random_graph(1, 100, 3, 0, |length| length as u32);
    let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
    for (count, memory, pages) in [(1, u64::MAX, 0), (1, 100_000, 4), (1, 50_000, 9), (2, u64::MAX, 9), (2, 25_000, 36)]
    {
        for devices in several(count, 3) {
            let solver = Solver::builder(graph.clone()).threads(2).devices(devices).memory(memory).open().unwrap();
            let request = Apsp::all().algorithm("katz-kider:cell-bits=32");
            let plan = solver.decide(&request).unwrap().plan().clone();
            assert!(plan.device_bytes() <= memory, "{memory}");
            let matrix = solver.solve(request).unwrap();
            assert_equal(&matrix, &expected, &format!("{memory} bytes"));
            assert_eq!(counted(&matrix, "pages"), pages, "{memory}");
            assert_eq!(matrix.report().device_bytes, plan.device_bytes());
            let some = Apsp::all().algorithm("katz-kider").from([99, 3, 4, 5, 0]).to([98, 1]).with_intermediates();
            let found = solver.solve(some).unwrap();
            let batched = on_cpu(&graph).solve(Apsp::all().from([99, 3, 4, 5, 0]).to([98, 1])).unwrap();
            assert_eq!(found.distances(), batched.distances());
            assert_paths(&found, &graph, "some rows and columns");
        }
    }
    for devices in several(1, 3) {
        let solver = Solver::builder(graph.clone()).threads(2).devices(devices).memory(5_000).open().unwrap();
        let refused = solver.solve(Apsp::all().algorithm("katz-kider:cell-bits=32"));
        assert!(matches!(refused, Err(Error::OutOfMemory { available: 5_000, .. })), "{refused:?}");
    }
}

#[test]
fn few_vertices() {
    for n in [0, 1, 2, 18] {
        let graph = random_graph(n, n, 2, 0, |length| length as u32);
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
        for devices in [several(1, n), several(2, n)].concat() {
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
            for algorithm in ["katz-kider", "katz-kider:page=1", "katz-kider:block=8,page=1"] {
                checked(&solver, &graph, &expected, algorithm);
            }
        }
    }
}

#[test]
fn negative_cycles_through_any_page() {
    let n = 50_u64;
    for (from, to, back) in [(0, 49, 10), (49, 0, 10), (25, 26, 10), (0, 49, 31)] {
        let base = random_graph(n, n, 4, 20, |length| length as i32);
        let mut arcs: Vec<_> = base.edges().map(|(u, v, weight)| (u, v, weight as i32)).collect();
        arcs.extend([(from, to, -30), (to, from, back)]);
        let graph = GraphBuilder::new().vertices(n).build_from(arcs).unwrap();
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall"));
        for devices in [several(1, n), several(2, n)].concat() {
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
            for algorithm in ["katz-kider", "katz-kider:block=8,page=16"] {
                match (&expected, solver.solve(Apsp::all().algorithm(algorithm))) {
                    (Err(Error::NegativeCycle(expected)), Err(Error::NegativeCycle(found))) => {
                        assert_eq!(&found, expected, "{from} to {to}");
                    }
                    (Ok(expected), Ok(found)) => assert_equal(&found, expected, "no cycle"),
                    (expected, found) => panic!("{from} to {to}: {expected:?}, {found:?}"),
                }
            }
        }
    }
}

/// Paths whose length is just below and above what cells hold.
#[test]
fn distances_at_the_edges_of_the_cells() {
    let path = |weights: &[u32]| Graph::from_edges(weights.iter().zip(0..).map(|(&w, v)| (v, v + 1, w))).unwrap();
    let half = u32::MAX / 2;
    for (weights, bits) in [
        (&[half / 2, half / 2 - 1][..], 64), // the sum and one weight more are beyond
        (&[half / 4, half / 4, half / 4 - 1], 32),
        (&[half - 1], 64),
        (&[3_000_000_000, 7], 64),
        (&[u32::MAX; 3], 64),
    ] {
        let graph = path(weights);
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("batched")).unwrap();
        for devices in [several(1, 5), several(2, 5)].concat() {
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
            for algorithm in ["katz-kider:block=8", "katz-kider:block=8,page=8"] {
                let matrix = checked(&solver, &graph, &expected, algorithm);
                assert_eq!(counted(&matrix, "cell_bits"), bits, "{weights:?}");
            }
        }
    }
    // Infinity does not sink, but what is refused is what the other algorithms refuse.
    let arcs = (0..70).map(|v| (v, v + 1, -(1 << 24)));
    let graph = Graph::from_edges(arcs).unwrap();
    let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
    for devices in several(1, 5) {
        let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
        let matrix = checked(&solver, &graph, &expected, "katz-kider:cell-bits=32");
        assert_eq!(counted(&matrix, "cell_bits"), 64);
    }
}

/// Successors are those of every other algorithm, whatever the intermediate vertices are.
#[test]
fn successors_are_those_of_the_cpu() {
    let graph = random_graph(9, 60, 5, 0, |length| 1 + length as u32 % 3);
    let expected = on_cpu(&graph).solve(Apsp::all().with_successors()).unwrap();
    for devices in [several(1, 9), several(2, 9)].concat() {
        let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
        let request = Apsp::all().algorithm("katz-kider").with_successors().with_intermediates();
        let matrix = solver.solve(request).unwrap();
        assert_eq!(matrix.found_successors(), expected.found_successors());
        assert_paths(&matrix, &graph, "with successors");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let graph = random_graph(4, 40, 3, 0, |length| length as u32);
    for devices in several(1, 4) {
        let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
        for (request, why) in [
            (Apsp::all().algorithm("floyd-warshall").with_intermediates(), "`floyd-warshall` finds no"),
            (Apsp::all().algorithm("batched").with_intermediates(), "`batched` finds no"),
            (Apsp::all().algorithm("katz-kider:block=7"), "block=7"),
            (Apsp::all().algorithm("katz-kider:block=33"), "block=33"),
            (Apsp::all().algorithm("katz-kider:page=0"), "page=0"),
            (Apsp::all().algorithm("katz-kider:cell-bits=16"), "it has 32"),
        ] {
            let refused = solver.solve(request).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
        let sunk = solver.solve(Apsp::all().algorithm("katz-kider").with_intermediates().into_sink(&mut ()));
        assert!(sunk.unwrap_err().to_string().contains("ask for a matrix"));
        let without = solver.solve(Apsp::all().algorithm("katz-kider")).unwrap();
        assert!(without.found_intermediates().is_none() && without.path_over_intermediates(0, 1).is_err());
        assert_eq!(without.distance(0, 0).map(Distance::to_f64), Some(0.0));
    }
    let on_cpu = on_cpu(&graph).solve(Apsp::all().with_intermediates());
    assert!(on_cpu.unwrap_err().to_string().contains("`katz-kider` does"));
}

#[test]
fn work_can_be_cancelled_anywhere() {
    let graph = random_graph(6, 70, 2, 0, |length| length as u32);
    let expected = on_cpu(&graph).solve(Apsp::all().algorithm("batched")).unwrap();
    for devices in [several(1, 6), several(2, 6)].concat() {
        let control = Control::new();
        let inner = control.clone();
        let control = control.watched_by(move |_| inner.cancel());
        let solver =
            Solver::builder(graph.clone()).threads(1).devices(devices.clone()).control(control).open().unwrap();
        for algorithm in ["katz-kider", "katz-kider:block=8,page=24"] {
            let cancelled = solver.solve(Apsp::all().algorithm(algorithm));
            assert!(matches!(cancelled, Err(Error::Interrupted)), "{algorithm}: {cancelled:?}");
        }
        // The devices are as good as before.
        let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
        checked(&solver, &graph, &expected, "katz-kider:block=8,page=24");
    }
}
