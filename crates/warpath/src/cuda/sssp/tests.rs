//! The algorithms on the emulator, and on the GPU if there is one, against the CPU engine.

use super::*;
use crate::cuda::device::testing::devices;
use crate::graph::{Direction, GraphBuilder, Unit};
use crate::testing::{Random, TestWeight, graphs_of_every_shape};
use crate::{Engine, ErrorKind, ShortestPathTree, Solver, Sssp};

const BELLMAN_FORD: [&str; 9] = [
    "bellman-ford:launch=64x2",
    "bellman-ford:edge-order=destination,launch=32x3",
    "bellman-ford:sync=outcore,launch=32x2",
    "bellman-ford:sync=outcore,edge-order=destination,launch=96x1",
    "bellman-ford:sync=shared,launch=96x2",
    "bellman-ford:sync=shared,edge-order=source,launch=32x3",
    "bellman-ford:edges=records,launch=96x2",
    "bellman-ford:sync=outcore,edges=records,edge-order=destination,rounds=timed,launch=64x2",
    "bellman-ford:sync=shared,edges=records,launch=64x3",
];

const INTEGERS: [&str; 4] = [
    "multi-hop:threads=64",
    "multi-hop:threads=32,blocks=3,delta=1",
    "multi-hop:threads=128,delta=40",
    "multi-hop:threads=32,delta=700",
];

const NEAR_FAR: [&str; 6] = [
    "near-far:threads=64,blocks=4",
    "near-far:threads=32,blocks=3,delta=150,batch=0",
    "near-far:threads=96,blocks=3,far=3,batch=40",
    "near-far:threads=32,blocks=5,far=20,delta=300,batch=0",
    "near-far:threads=64,blocks=2,batch=2,far=0",
    "near-far:threads=256,blocks=1,delta=5,batch=10",
];

const ZERO_COPY: [&str; 6] = [
    "zero-copy:threads=64,blocks=4,short-rows=3",
    "zero-copy:threads=32,blocks=3,delta=150,batch=0,offsets=host",
    "zero-copy:threads=96,blocks=3,batch=40,window=1000,short-rows=300",
    "zero-copy:threads=32,blocks=5,delta=300,batch=0",
    "zero-copy:threads=64,blocks=2,batch=2,offsets=host,window=5000,short-rows=10",
    "zero-copy:threads=256,blocks=1,delta=5,batch=10",
];

const MANY_SOURCES: [&str; 5] = [
    "many-sources:threads=64,width=3",
    "many-sources:threads=32,delta=1,near=1,queue=4,width=2",
    "many-sources:threads=96,delta=200,near=20,distances=global,width=2",
    "many-sources:threads=32,near=8,queue=12,delta=30,distances=global,width=1",
    "many-sources:threads=128,delta=5,queue=100,width=1",
];

const OTHERS: [&str; 12] = [
    "mask:threads=32",
    "mask:coarsening=4,threads=64",
    "mask:coarsening=16,threads=32",
    "mask:coarsening=2,stride=strided,threads=32",
    "mask:coarsening=16,stride=strided,threads=64",
    "work-efficient:launch=64x2",
    "work-efficient:edge-order=destination,launch=32x5",
    "work-efficient:sync=outcore,launch=32x3",
    "work-efficient:sync=outcore,edge-order=destination,launch=96x1",
    "work-efficient:edges=records,rounds=timed,launch=32x4",
    "work-efficient:lists=as-described,launch=64x5",
    "work-efficient:lists=as-described,sync=outcore,edges=records,edge-order=destination,launch=96x3",
];

/// Runs these algorithms on one graph in `every`, beginning with the `seed`th, of every shape, with one or the other request: every
/// other algorithm, and the others on the next graph.
fn agrees_with_the_cpu<W: TestWeight>(algorithms: &[&str], seed: u64, every: usize) {
    let mut random = Random(seed);
    let graphs = graphs_of_every_shape::<W>(seed).into_iter().skip(seed as usize % every).step_by(every);
    for (turn, (name, graph)) in graphs.enumerate() {
        let vertices = graph.vertices() as u64;
        let mut any = || random.below(vertices) as VertexId;
        let (source, sources, targets) = (any(), [any(), any(), any()], [any(), any()]);
        let cutoff = random.below(3000) as f64 / 2.0;
        let requests = [
            Sssp::from(source),
            Sssp::from(sources),
            Sssp::from(source).to(targets),
            Sssp::from(source).within(cutoff).distances_only(),
        ];
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        let expected = requests.clone().map(|request| cpu.solve(request.algorithm("bellman-ford")).unwrap());
        for device in devices(seed) {
            let gpu = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            for (index, algorithm) in algorithms.iter().enumerate() {
                // Neighbors in the list of graphs are directed and not, in turn, and every algorithm takes both.
                if (turn + turn / 2 + index) % 2 == 1 {
                    continue;
                }
                let now = (turn / 2 + index) % requests.len();
                let (request, expected) = (&requests[now], &expected[now]);
                let context = format!("{name}, {algorithm}, {request:?}");
                let tree = gpu.solve(request.clone().algorithm(*algorithm)).unwrap();
                assert_eq!(tree.distances(), expected.distances(), "{context}");
                assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
                assert_eq!(tree.report().semiring, expected.report().semiring, "{context}");
                assert_eq!(tree.report().repeated_wide, expected.report().repeated_wide, "{context}");
                tree.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                assert!(tree.report().statistics.iter().any(|(counter, _)| *counter == "kernel_launches"));
            }
        }
    }
}

/// Of schedules and graphs; checking every access takes ten times as long.
const SEEDS: &[u64] = if cfg!(emulator_sanitized) { &[1] } else { &[1, 2] };

#[test]
fn every_algorithm_agrees_with_the_cpu_and_proves_it() {
    let all = [&BELLMAN_FORD[..], &OTHERS[..]].concat();
    for &seed in SEEDS {
        agrees_with_the_cpu::<u32>(&all, seed, 3);
        agrees_with_the_cpu::<u32>(&INTEGERS, seed, 3);
    }
    agrees_with_the_cpu::<f32>(&all, 4, 3);
    agrees_with_the_cpu::<Unit>(&all, 6, 7);
    agrees_with_the_cpu::<i32>(&BELLMAN_FORD, 7, 3);
}

#[test]
fn near_and_far_agree_with_the_cpu_in_every_semiring() {
    for &seed in SEEDS {
        agrees_with_the_cpu::<u32>(&NEAR_FAR, seed, 3);
    }
    agrees_with_the_cpu::<f32>(&NEAR_FAR, 4, 3);
    agrees_with_the_cpu::<f64>(&NEAR_FAR, 5, 3);
    agrees_with_the_cpu::<Unit>(&NEAR_FAR, 6, 9);
}

#[test]
fn searches_of_arcs_on_the_host_agree_with_the_cpu_in_every_semiring() {
    for &seed in SEEDS {
        agrees_with_the_cpu::<u32>(&ZERO_COPY, seed, 3);
    }
    agrees_with_the_cpu::<f32>(&ZERO_COPY, 4, 3);
    agrees_with_the_cpu::<f64>(&ZERO_COPY, 5, 3);
    agrees_with_the_cpu::<Unit>(&ZERO_COPY, 6, 9);
}

#[test]
fn searches_by_one_block_agree_with_the_cpu_in_every_semiring() {
    for seed in [1, 2, 3] {
        agrees_with_the_cpu::<u32>(&MANY_SOURCES, seed, 3);
    }
    agrees_with_the_cpu::<f32>(&MANY_SOURCES, 4, 3);
    agrees_with_the_cpu::<f64>(&MANY_SOURCES, 5, 3);
    agrees_with_the_cpu::<Unit>(&MANY_SOURCES, 6, 9);
}

/// Hubs, whose rows are cut into pieces; a far list that is whole, too small, or not there; windows that are widened
/// and cut back.
#[test]
fn near_and_far_go_all_ways() {
    let mut random = Random(13);
    let hubs = (0..3_u32).flat_map(|hub| (0..400).map(move |k| (hub, hub + 3 * k)));
    let tail = (1200..1500_u32).map(|v| (v, v + 1));
    let others = (0..1500_u32).map(|v| (v * 7 % 1203, v * 11 % 1201));
    let edges: Vec<(u32, u32, u32)> =
        tail.chain(hubs).chain(others).map(|(u, v)| (u, v, 1 + random.below(255) as u32)).collect();
    let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
    let expected = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap().sssp(1500).unwrap();
    for device in devices(13) {
        let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        let solve = |parameters: &str| {
            let request = Sssp::from(1500).algorithm(format!("near-far:threads=128,{parameters}"));
            let tree = solver.solve(request).unwrap();
            assert_eq!(tree.distances(), expected.distances(), "{parameters}");
            let statistics = tree.report().statistics.clone();
            move |wanted: &str| statistics.iter().find(|(name, _)| *name == wanted).unwrap().1
        };
        let listed = solve("delta=20,batch=0,far=2000");
        let scanned = solve("delta=20,batch=0,far=5");
        assert!(listed("scans") == 0 && scanned("scans") > 0 && scanned("thresholds") > scanned("scans"));
        assert_eq!(scanned("thresholds"), listed("thresholds"));
        let arcs = graph.arcs() as u64;
        assert!(solve("delta=1,batch=0")("relaxations") <= arcs + arcs / 8);
        // On the long tail the window widens, until the hubs come.
        let widened = solve("delta=10,batch=40,far=2000");
        assert!(widened("thresholds") < solve("delta=10,batch=0")("thresholds") && widened("scans") > 0);
    }
}

/// Vertices with more arcs, or more others at distance 0, than a neighborhood has room for: no graph is refused.
#[test]
fn graphs_without_neighborhoods_are_searched_by_mask() {
    let hub: Vec<_> = (1..600_u32).flat_map(|v| [(0, v, v), (v, v / 2 + 600, 3)]).collect();
    let plateau: Vec<_> = (1..700_u32).map(|v| (v / 2, v, u32::from(v % 97 == 0))).collect();
    for edges in [hub, plateau] {
        let graph = Graph::from_edges(edges).unwrap();
        let expected = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().sssp(0).unwrap();
        for device in devices(2) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            let tree = solver.solve(Sssp::from(0).algorithm("multi-hop")).unwrap();
            assert_eq!(tree.distances(), expected.distances());
            assert_eq!(tree.predecessors(), expected.predecessors());
            let statistics = &tree.report().statistics;
            assert!(statistics.iter().any(|(name, _)| *name == "relaxed_vertices"), "{statistics:?}");
        }
    }
}

/// Neighborhoods in each kind of table: of up to 256 vertices, of up to 512, and of as many with distances of more than 24 bits; and a few large ones
/// among many small ones, around a corner with short edges. None is larger, so delta stays as it is asked for; where some are, it has to be smaller.
#[test]
fn neighborhoods_are_made_in_every_table() {
    for (side, corner, delta, factor, stays) in [
        (36, 0, 18, 1, true),
        (60, 17, 18, 1, true),
        (36, 0, 42, 1, true),
        (36, 0, 42, 1 << 21, true),
        (36, 0, 110, 1, false),
        (36, 0, 110, 1 << 20, false),
    ] {
        let mut random = Random(delta);
        let mut edges = Vec::new();
        for (row, column) in (0..side).flat_map(|row| (0..side).map(move |column| (row, column))) {
            let vertex: u32 = row * side + column;
            for (other, is_there) in [(vertex + 1, column + 1 < side), (vertex + side, row + 1 < side)] {
                let longest = if row.max(column) < corner { 1 } else { 9 };
                let weight = (1 + random.below(longest) as u32) * factor;
                edges.extend(is_there.then_some((vertex, other, weight)));
            }
        }
        let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
        let expected = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().sssp(7).unwrap();
        let asked = delta * u64::from(factor);
        for device in devices(2) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            let tree = solver.solve(Sssp::from(7).algorithm(format!("multi-hop:threads=64,delta={asked}"))).unwrap();
            assert_eq!(tree.distances(), expected.distances());
            let statistics = &tree.report().statistics;
            let delta = statistics.iter().find(|(name, _)| *name == "delta").map(|&(_, delta)| delta).unwrap();
            assert!(if stays { delta == asked } else { (1..asked).contains(&delta) }, "{statistics:?}");
        }
    }
}

/// A bucket with more vertices than a part of a queue holds: the search goes on another way.
#[test]
fn a_bucket_too_large_for_the_queues_is_searched_by_mask() {
    let edges = (1..2551_u32).map(|v| ((v - 1) / 50, v, 10 + v % 3));
    let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
    for device in devices(2) {
        let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        for (request, whole) in [(Sssp::from(0), true), (Sssp::from(0).within(23_u32), false)] {
            let tree = solver.solve(request.algorithm("multi-hop:threads=32,blocks=1,delta=2")).unwrap();
            tree.verify(&graph).unwrap();
            assert!(
                tree.report().statistics.iter().any(|(name, _)| *name == "relaxed_vertices"),
                "{:?}",
                tree.report()
            );
            assert_eq!(tree.reached() == graph.vertices() as u64, whole);
        }
    }
}

/// Where nothing is set, a search takes the whole device and the algorithm predicted fastest.
#[test]
fn defaults_fill_the_device() {
    let mut random = Random(8);
    let edges: Vec<(u32, u32, u32)> =
        (0..900).map(|_| (random.below(300) as u32, random.below(300) as u32, random.below(4) as u32 * 1000)).collect();
    let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
    let expected = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().sssp(5).unwrap();
    for device in devices(8) {
        let gpu = Solver::builder(graph.clone()).device(device).open().unwrap();
        for algorithm in [
            "mask",
            "bellman-ford",
            "bellman-ford:sync=shared",
            "work-efficient",
            "work-efficient:lists=as-described",
            "near-far",
            "many-sources",
            "",
        ] {
            let request = if algorithm.is_empty() { Sssp::from(5) } else { Sssp::from(5).algorithm(algorithm) };
            let tree = gpu.solve(request).unwrap();
            assert_eq!(tree.distances(), expected.distances(), "{algorithm}");
            assert_eq!(tree.predecessors(), expected.predecessors(), "{algorithm}");
            assert!(tree.report().engine.starts_with("cuda:"), "{:?}", tree.report());
        }
        assert_eq!(gpu.path(5, 17).unwrap().map(|path| path.length()), expected.distance(17));
        let mut found = 0;
        let count = |tree: ShortestPathTree| {
            found += u64::from(tree.reached() > 0);
            tree.verify(&graph)
        };
        gpu.solve_each(Sssp::from(0).algorithm("mask"), &[1, 2, 3], count).unwrap();
        assert_eq!(found, 3);
    }
}

#[test]
fn distances_beyond_32_bits_move_to_the_wide_semiring() {
    let edges = (0..5_u32).map(|v| (v, v + 1, u32::MAX)).chain([(6, 7, 1), (7, 8, u32::MAX - 1)]);
    let graph = Graph::from_edges(edges).unwrap();
    for device in devices(9) {
        let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        for algorithm in BELLMAN_FORD.iter().chain(&OTHERS).chain(&NEAR_FAR).chain(&MANY_SOURCES) {
            let solve = |source, wide| {
                let tree = solver.solve(Sssp::from(source).algorithm(*algorithm)).unwrap();
                tree.verify(&graph).unwrap();
                assert_eq!(tree.report().repeated_wide, wide, "{algorithm}");
                tree
            };
            assert_eq!(solve(0, true).distance(5).unwrap().to_f64(), 5.0 * f64::from(u32::MAX));
            assert_eq!(solve(7, false).distance(8).unwrap().to_f64(), f64::from(u32::MAX - 1));
            assert_eq!(solve(6, true).distance(8).unwrap().to_f64(), f64::from(u32::MAX));
            assert_eq!(solve(7, false).reached(), 2);
        }
    }
}

#[test]
fn floats_beyond_their_range_are_told() {
    let graph = Graph::from_edges([(0, 1, 3e38_f32), (1, 2, 3e38), (3, 1, 1.0)]).unwrap();
    for device in devices(10) {
        let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        for algorithm in ["mask", "bellman-ford", "work-efficient", "near-far", "many-sources"] {
            let refused = solver.solve(Sssp::from(0).algorithm(algorithm));
            assert!(matches!(refused, Err(Error::DistanceOverflow { semiring: "f32->f32" })), "{refused:?}");
            solver.solve(Sssp::from(3).algorithm(algorithm)).unwrap().verify(&graph).unwrap();
        }
    }
}

#[test]
fn weights_below_zero_agree_and_cycles_prove_themselves() {
    let mut random = Random(11);
    let (mut with_cycle, mut without) = (0, 0);
    for trial in 0..48 {
        let vertices = 2 + random.below(60);
        let low = [1, 10, 30, 50][trial % 4];
        let edges: Vec<(u32, u32, i32)> = (0..random.below(3 * vertices))
            .map(|_| {
                let weight = random.below(100) as i32 - low;
                (random.below(vertices) as u32, random.below(vertices) as u32, weight)
            })
            .chain([(0, vertices as u32 - 1, 5), (vertices as u32 - 1, 1, -3)])
            .collect();
        let graph = Graph::from_edges(edges).unwrap();
        let expected = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap().sssp(0);
        for device in devices(trial as u64) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            for algorithm in BELLMAN_FORD {
                match (solver.solve(Sssp::from(0).algorithm(algorithm)), &expected) {
                    (Ok(tree), Ok(expected)) => {
                        tree.verify(&graph).unwrap();
                        assert_eq!(tree.distances(), expected.distances(), "{algorithm}");
                        assert_eq!(tree.predecessors(), expected.predecessors(), "{algorithm}");
                        without += 1;
                    }
                    (Err(Error::NegativeCycle(cycle)), Err(Error::NegativeCycle(_))) => {
                        cycle.verify(&graph).unwrap();
                        with_cycle += 1;
                    }
                    (found, expected) => panic!("{algorithm}: {found:?}, not {expected:?}"),
                }
            }
        }
    }
    assert!(devices(0).is_empty() || with_cycle > 50 && without > 50, "{with_cycle}, {without}");
}

/// Distances around a cycle that falls by 2^31 at every arc do not wrap, and a long cycle is found before every vertex
/// has had its round.
#[test]
fn steep_and_long_cycles_are_found() {
    let steep = (0..40_u32).map(|v| (v, (v + 1) % 40, i32::MIN));
    let long = (0..300_u32).map(|v| (v, (v + 1) % 300, if v == 7 { -300 } else { 1 }));
    let loops = [(0_u32, 1_u32, 1), (1, 1, -1)].into_iter();
    // It can't be reached.
    let apart = [(0_u32, 1_u32, 4), (2, 3, -5), (3, 2, 1), (2, 0, -1)].into_iter();
    let build = |edges: &mut dyn Iterator<Item = (u32, u32, i32)>| Graph::from_edges(edges).unwrap();
    for (mut edges, arcs) in [
        (Box::new(steep) as Box<dyn Iterator<Item = _>>, 40),
        (Box::new(long), 300),
        (Box::new(loops), 1),
        (Box::new(apart), 0),
    ] {
        let graph = build(&mut *edges);
        for device in devices(12) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            for algorithm in &BELLMAN_FORD[..3] {
                match solver.solve(Sssp::from(0).algorithm(*algorithm)) {
                    Err(Error::NegativeCycle(cycle)) => assert_eq!(cycle.edges().len(), arcs),
                    answer => assert!(arcs == 0 && answer.unwrap().reached() == 2),
                }
            }
        }
    }
}

#[test]
fn memory_is_planned_and_refused_with_the_numbers() {
    let graph = Graph::from_edges((0..100_u32).map(|v| (v, v + 1, 7_u32))).unwrap();
    for device in devices(1) {
        let solver = Solver::builder(graph.clone()).threads(1).memory(1000).device(device).open().unwrap();
        for algorithm in [
            "mask",
            "bellman-ford:sync=shared",
            "bellman-ford:edges=records",
            "work-efficient",
            "near-far",
            "many-sources",
            "multi-hop",
        ] {
            let request = Sssp::from(0).algorithm(algorithm);
            let needed = solver.decide(&request).unwrap().plan().device_bytes();
            let refused = solver.solve(request);
            assert!(
                matches!(refused, Err(Error::OutOfMemory { needed: n, available: 1000, .. }) if n == needed),
                "{refused:?}"
            );
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let positive = Graph::from_edges([(0, 1, 5_u32), (1, 2, 6)]).unwrap();
    let signed = Graph::from_edges([(0, 1, -5_i32), (1, 2, 6)]).unwrap();
    let single = Graph::from_edges([(0, 1, -0.5_f32), (1, 2, 0.5)]).unwrap();
    let double = Graph::from_edges([(0, 1, 0.1_f64), (1, 2, 0.5)]).unwrap();
    for device in devices(1) {
        let control = Control::new();
        let solver = |graph: &Graph| {
            Solver::builder(graph.clone()).threads(1).device(device.clone()).control(control.clone()).open()
        };
        for (graph, wrong, because) in [
            (&positive, "mask:coarsening=3", "is not one of 1, 2, 4, 8, 16"),
            (&positive, "mask:stride=2", "is not one of contiguous, strided"),
            (&positive, "mask:threads=48", "not a power of two"),
            (&positive, "bellman-ford:launch=33x1", "multiple of 32"),
            (&positive, "bellman-ford:launch=2048x1", "up to 1024"),
            (&positive, "bellman-ford:launch=1024", "256x8"),
            (&positive, "work-efficient:launch=1024x2049", "at most 2048 such blocks"),
            (&positive, "work-efficient:sync=shared", "one of outcore, incore"),
            (&positive, "work-efficient:lists=as-described,launch=1024x3", "at most 2 such blocks"),
            (&positive, "near-far:threads=48", "not a multiple of 32"),
            (&positive, "near-far:delta=0", "above 0"),
            (&positive, "many-sources:threads=48", "not a multiple of 32"),
            (&positive, "many-sources:width=65537", "not a whole number up to 65536"),
            (&positive, "many-sources:blocks=1.5", "not a whole number"),
            (&positive, "many-sources:queue=3", "a number of 4 or more"),
            (&signed, "many-sources", "does not have the semiring i32->i64"),
            (&single, "many-sources", "weights of 0 or more"),
            (&positive, "dijkstra", "there are multi-hop"),
            (&signed, "mask", "does not have the semiring i32->i64"),
            (&signed, "work-efficient", "does not have the semiring i32->i64"),
            (&single, "mask", "weights of 0 or more"),
            (&single, "near-far", "weights of 0 or more"),
            (&single, "bellman-ford", "only as integers"),
            (&double, "bellman-ford", "does not have the semiring f64->f64"),
        ] {
            let error = solver(graph).unwrap().solve(Sssp::from(0).algorithm(wrong)).unwrap_err();
            assert!(error.kind() == ErrorKind::Usage && error.to_string().contains(because), "{wrong}: {error}");
        }
        assert!(solver(&signed).unwrap().solve(Sssp::from(0).within(3_u32)).is_err());
        control.cancel();
        for algorithm in ["mask", "bellman-ford", "work-efficient", "multi-hop", "near-far", "many-sources"] {
            let refused = solver(&positive).unwrap().solve(Sssp::from(0).algorithm(algorithm));
            assert!(matches!(refused, Err(Error::Interrupted)), "{refused:?}");
        }
    }
}

/// Without synchronization, what it counts as wrong is what it has wrong, and schedules show that there is some.
#[cfg(feature = "lab")]
#[test]
fn the_unsynchronized_algorithm_counts_its_errors() {
    let middle = 1..200_u32;
    let edges = middle.clone().map(|v| (0, v, 1)).chain(middle.map(|v| (v, 200 + v % 3, v * 7919 % 1009)));
    let graph = Graph::from_edges(edges).unwrap();
    let right = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().sssp(0).unwrap();
    let (mut wrong_in_all, mut runs) = (0, 0);
    for seed in 0..8 {
        for device in devices(seed) {
            let solver = Solver::builder(graph.clone()).device(device).open().unwrap();
            let printed = solver.solve(Sssp::from(0).algorithm("mask-unsynchronized:threads=32")).unwrap();
            let wrong =
                (0..graph.vertices() as VertexId).filter(|&v| printed.distance(v) != right.distance(v)).count() as u64;
            assert!(printed.report().statistics.contains(&("wrong_vertices", wrong)), "{:?}", printed.report());
            assert_eq!(printed.verify(&graph).is_ok(), wrong == 0);
            wrong_in_all += wrong;
            runs += 1;
        }
    }
    assert!(runs == 0 || wrong_in_all > 0, "no update was lost in {runs} runs");
}
