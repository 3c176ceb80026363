//! The algorithms on the emulator, and on the GPU if there is one, against the CPU engine.

use super::*;
use crate::cuda::device::testing::{devices, several};
use crate::graph::{GraphBuilder, Unit};
use crate::testing::{Random, graphs_of_every_shape};
use crate::{Closure, Engine, Error, Solver};

/// With an operating system thread for each block of threads, an emulated launch of many blocks is slow.
const MOST_VERTICES_OF_PAPERS: usize = 70;

fn agrees_with_the_cpu(name: &str, graph: &Graph, algorithms: &[&str], seed: u64) {
    let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
    for request in [Closure::new(), Closure::new().irreflexive()] {
        let expected = cpu.solve(request.clone().algorithm("bit-warshall")).unwrap();
        for device in devices(seed) {
            let gpu = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            for algorithm in algorithms {
                let found = gpu.solve(request.clone().algorithm(*algorithm)).unwrap();
                assert_eq!(found.to_matrix().unwrap(), expected.to_matrix().unwrap(), "{name}, {algorithm}");
                found.verify(graph).unwrap_or_else(|error| panic!("{name}, {algorithm}: {error}"));
                assert!(found.report().engine.starts_with("cuda"), "{name}, {algorithm}");
            }
        }
    }
}

#[test]
fn every_algorithm_agrees_with_the_cpu() {
    for (turn, (name, graph)) in graphs_of_every_shape::<Unit>(2).into_iter().enumerate().step_by(3) {
        let tiled = ["bit-warshall", "bit-product", "bit-warshall:stages=1,head-start=0"][turn / 3 % 3];
        if graph.vertices() <= MOST_VERTICES_OF_PAPERS {
            let papers = [
                tiled,
                "condensation",
                "warshall",
                "blocked-warshall",
                "blocked-warshall:block=32",
                "blocked-warshall:block=18",
            ];
            agrees_with_the_cpu(&name, &graph, &papers, turn as u64);
        } else {
            agrees_with_the_cpu(&name, &graph, &[tiled, "condensation"], turn as u64);
        }
    }
    for vertices in [0, 1, 2, 33] {
        let graph = GraphBuilder::new().vertices(vertices).build_from(Vec::<(u32, u32)>::new()).unwrap();
        agrees_with_the_cpu(
            "no edges",
            &graph,
            &["bit-warshall", "condensation", "warshall", "blocked-warshall"],
            vertices,
        );
    }
}

#[test]
fn counts_and_refusals() {
    let mut random = Random(3);
    let arcs: Vec<_> = (0..900).map(|_| (random.below(500) as u32, random.below(500) as u32)).collect();
    let graph = Graph::from_edges(arcs).unwrap();
    let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
    for device in devices(7) {
        let gpu = Solver::builder(graph.clone()).threads(1).device(device.clone()).open().unwrap();
        let counts = gpu.solve(Closure::new().counts_only()).unwrap();
        assert_eq!(counts.counts(), cpu.solve(Closure::new().counts_only()).unwrap().counts());
        assert_eq!(counts.report().algorithm, "bit-warshall");
        let small = Solver::builder(graph.clone()).threads(1).device(device).memory(1 << 16).open().unwrap();
        assert!(matches!(small.solve(Closure::new()), Err(Error::OutOfMemory { available: 65_536, .. })));
        let condensed = gpu.solve(Closure::new().algorithm("condensation").counts_only()).unwrap();
        assert_eq!((condensed.counts(), condensed.report().algorithm.as_str()), (counts.counts(), "condensation"));
        assert!(condensed.report().engine.starts_with("cuda"));
        let refused = gpu.solve(Closure::new().algorithm("dijkstra")).unwrap_err();
        assert!(refused.to_string().contains("bit-warshall"), "{refused}");
    }
}

/// What many components, few of them large, look like: numbered so that arcs lead down.
#[test]
fn condensed_matrices_are_triangles() {
    let mut random = Random(5);
    let mut arcs = Vec::new();
    for group in 0..300_u64 {
        // Circles of one to three vertices, some with loops, and arcs to later circles.
        let size = 1 + group % 3;
        arcs.extend((0..size).filter(|_| size > 1).map(|v| (3 * group + v, 3 * group + (v + 1) % size)));
        arcs.extend((0..2).map(|_| (3 * group, 3 * (group + random.below(300 - group)))));
    }
    let graph = Graph::from_edges(arcs.into_iter().map(|(u, v)| (u as VertexId, v as VertexId))).unwrap();
    agrees_with_the_cpu("circles", &graph, &["condensation", "bit-warshall"], 5);
    for device in devices(5) {
        let gpu = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        let found = gpu.solve(Closure::new().algorithm("condensation")).unwrap();
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        let expected = cpu.solve(Closure::new()).unwrap();
        let counted = |name| found.report().statistics.iter().find(|(counter, _)| *counter == name).unwrap().1;
        assert_eq!(counted("components") as usize, expected.condensed().unwrap().sizes.len());
        assert_eq!(counted("largest_component"), 3);
        assert_eq!(found.reachable_counts().unwrap(), expected.reachable_counts().unwrap());
        // Between vertices it takes a matrix of at least this many bits.
        let bytes = gpu.decide(&Closure::new().algorithm("bit-warshall")).unwrap().plan().device_bytes();
        assert!(found.report().device_bytes < bytes);
    }
}

#[test]
fn large_sparse_graphs_are_condensed() {
    let sparse = |n: u32, degree: u32| (0..n).flat_map(move |u| (0..degree).map(move |d| (u, (u * 7 + d) % n)));
    for (n, degree, condenses) in [(1000, 2, false), (20_000, 2, true), (4000, 200, false)] {
        let graph = Graph::from_edges(sparse(n, degree)).unwrap();
        assert_eq!(condensation::pays(&graph), condenses, "{n} vertices of degree {degree}");
    }
}

/// Several blocks of products, the last one smaller than the others, and a path that wanders through all of them.
#[test]
fn products_of_several_blocks() {
    const VERTICES: u64 = 1_100;
    let wandering = |step: u64| (step * 577 % VERTICES) as VertexId;
    let path: Vec<_> = (0..700).map(|step| (wandering(step), wandering(step + 1))).collect();
    let graph = GraphBuilder::new().vertices(VERTICES).build_from(path).unwrap();
    agrees_with_the_cpu("a path", &graph, &["bit-product:block=512"], 9);
}

/// Strips that stay on one to three devices, and that come and go, of whole matrices and of triangles.
#[test]
fn strips_have_the_bits_of_the_whole_matrix() {
    const VERTICES: u64 = 2_100;
    let wandering = |step: u64| (step * 577 % VERTICES) as VertexId;
    let mut random = Random(12);
    let path: Vec<_> = (0..1_700).map(|step| (wandering(step), wandering(step + 1))).collect();
    let down = (0..5_000).map(|_| (random.below(VERTICES) as u32, random.below(VERTICES) as u32));
    let down: Vec<_> = down.map(|(u, v)| (u.max(v), u.min(v))).collect();
    for (name, arcs, is_triangle) in [("path", path, false), ("down", down, true)] {
        let graph = GraphBuilder::new().vertices(VERTICES).build_from(arcs).unwrap();
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(2).open().unwrap();
        let expected = cpu.solve(Closure::new()).unwrap().to_matrix().unwrap();
        for (count, height, streamed) in [(1, 1024, true), (2, 512, false), (3, 512, true)] {
            for devices in several(count, 12) {
                let context = format!("{name}, {count} devices, {height} rows, streamed: {streamed}");
                let cut = Cut::of(VERTICES, height, count, streamed);
                let control = Control::new();
                let parameters = Parameters::default();
                let task =
                    ClosureTask { graph: &graph, irreflexive: false, parameters: &parameters, control: &control };
                let condensation = Condensation::of(&graph).unwrap();
                let row: &RowOfBits<'_> = match is_triangle {
                    true => &|c, set| condensation.row(c, set),
                    false => &|u, set| {
                        graph.neighbors(u as VertexId).iter().for_each(|&v| set(v as usize));
                        set(u);
                    },
                };
                let sides = (graph.vertices(), is_triangle);
                let closed = strips::close(&devices, &task, cut, sides, row).unwrap();
                let ReachabilityBits::Matrix(bits) = closed.bits else { panic!("a matrix") };
                let component = is_triangle.then(|| condensation.close(false, None).unwrap().0.component);
                let place = |v: usize| component.as_ref().map_or(v, |component| component[v] as usize);
                let row = |u: usize| (0..graph.vertices()).map(move |v| (u, v));
                let agree = |(u, v)| bits.get(place(u), place(v)) == expected.get(u, v);
                assert!((0..graph.vertices()).step_by(7).flat_map(row).all(agree), "{context}");
                assert_eq!(closed.devices, count.min((VERTICES as usize).div_ceil(height as usize)), "{context}");
                let counted = |name| closed.statistics.iter().find(|(counter, _)| *counter == name).unwrap().1;
                assert_eq!(counted("strips_in_host_memory") > 0, streamed, "{context}");
            }
        }
    }
}

/// Little memory, and several devices with much, through the whole request.
#[test]
fn matrices_beyond_a_device_are_closed_in_strips() {
    const VERTICES: u64 = 3_000;
    let mut random = Random(13);
    let arcs: Vec<_> =
        (0..4_000).map(|_| (random.below(VERTICES) as VertexId, random.below(VERTICES) as VertexId)).collect();
    let graph = GraphBuilder::new().vertices(VERTICES).build_from(arcs).unwrap();
    let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(2).open().unwrap();
    let expected = cpu.solve(Closure::new()).unwrap().to_matrix().unwrap();
    for device in devices(13) {
        for algorithm in ["bit-product", "condensation"] {
            let solver =
                Solver::builder(graph.clone()).threads(2).device(device.clone()).memory(1 << 20).open().unwrap();
            let request = Closure::new().algorithm(algorithm);
            let plan = solver.decide(&request).unwrap().plan().clone();
            assert!(plan.device_bytes() <= 1 << 20, "{plan:?}");
            assert!(plan.memory_items().iter().any(|item| item.what == "strips of the matrix of bits"), "{plan:?}");
            let found = solver.solve(request).unwrap();
            assert!(found.report().device_bytes <= plan.device_bytes());
            assert_eq!(found.to_matrix().unwrap(), expected);
        }
        let small = Solver::builder(graph.clone()).threads(2).device(device).memory(1 << 20).open().unwrap();
        // What no strips are for is refused, and what nobody named takes them.
        assert!(matches!(small.solve(Closure::new().algorithm("bit-warshall")), Err(Error::OutOfMemory { .. })));
        let found = small.solve(Closure::new()).unwrap();
        assert_eq!((found.report().algorithm.as_str(), found.to_matrix().unwrap() == expected), ("bit-product", true));
    }
}

#[test]
fn large_matrices_are_cut_to_fit() {
    let none = Parameters::default();
    let whole = |vertices: u64| bit_product::ALGORITHM.plan_in_one_piece(vertices as usize).device_bytes();
    let room = |devices, device_bytes| Room { devices, device_bytes, capability: Some((9, 0)) };
    let cut = |vertices: u64, room: Room| Cut::choose(vertices, &none, room, whole(vertices));
    assert_eq!(cut(65_536, room(1, 139 << 30)), None);
    assert_eq!(cut(65_536, room(2, 139 << 30)), Some(Cut::of(65_536, 4096, 2, false)));
    assert_eq!(cut(10_000, room(2, 139 << 30)), None);
    for (vertices, bytes) in [(100_000, 256 << 20), (100_000, 64 << 20), (1_000_000, 8 << 30), (262_144, 139 << 30)] {
        for devices in [1, 2] {
            if let Some(cut) = cut(vertices, room(devices, bytes)) {
                assert!(cut.plan().device_bytes() <= bytes, "{vertices} {bytes}: {cut:?}");
            }
        }
    }
    assert_eq!(cut(100_000, room(1, 256 << 20)), Some(Cut::of(100_000, 4096, 1, true)));
    // Lower strips stay where higher ones would come and go.
    assert_eq!(cut(50_000, room(1, 350_000_000)), Some(Cut::of(50_000, 2048, 1, false)));
    assert_eq!(cut(32_768, room(2, 85 << 20)), Some(Cut::of(32_768, 2048, 2, false)));
    // Where nothing fits, one piece is the least for few vertices, and low strips are for many.
    assert_eq!(cut(300, room(1, 1000)), None);
    assert_eq!(cut(20_000, room(1, 1000)), Some(Cut::of(20_000, 512, 1, true)));
}

/// A matrix between components that is a triangle of several blocks.
#[test]
fn products_leave_out_what_no_arc_leads_to() {
    const VERTICES: u64 = 2_100;
    let mut random = Random(10);
    let arcs = (0..4_000).map(|_| (random.below(VERTICES), random.below(VERTICES)));
    let graph = GraphBuilder::new()
        .vertices(VERTICES)
        .build_from(arcs.map(|(u, v)| (u.max(v) as VertexId, u.min(v) as VertexId)).collect::<Vec<_>>())
        .unwrap();
    let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(2).open().unwrap();
    let expected = cpu.solve(Closure::new()).unwrap();
    for device in devices(10) {
        let gpu = Solver::builder(graph.clone()).threads(2).device(device).open().unwrap();
        let found = gpu.solve(Closure::new().algorithm("condensation:block=512")).unwrap();
        let counted = |name| found.report().statistics.iter().find(|(counter, _)| *counter == name).unwrap().1;
        assert_eq!((counted("components"), counted("stages")), (VERTICES, VERTICES.div_ceil(512)));
        assert_eq!(found.to_matrix().unwrap(), expected.to_matrix().unwrap());
    }
}

#[test]
fn tensor_cores_are_for_large_matrices_where_they_count_bits() {
    for (vertices, capability, name) in [
        (65_536, Some((9, 0)), "bit-product"),
        (65_536, Some((8, 6)), "bit-product"),
        (65_536, Some((10, 0)), "bit-warshall"),
        (65_536, Some((7, 5)), "bit-warshall"),
        (65_536, None, "bit-warshall"),
        (2_000, Some((9, 0)), "bit-warshall"),
    ] {
        let room = Room { devices: 1, device_bytes: u64::MAX, capability };
        assert_eq!(for_matrix(vertices, room).0.info.name, name, "{vertices} {capability:?}");
        // Only products work on strips.
        let little = Room { device_bytes: 16 << 20, ..room };
        let name = if vertices < 10_000 { name } else { "bit-product" };
        assert_eq!(for_matrix(vertices, little).0.info.name, name, "{vertices} {capability:?}");
    }
}

/// More than 4,096 columns, and some tile rows without bits in some stages.
#[test]
fn rows_of_several_tiles() {
    const VERTICES: u64 = 4_230;
    let mut random = Random(8);
    let arcs: Vec<_> =
        (0..5_000).map(|_| (random.below(VERTICES) as VertexId, random.below(VERTICES) as VertexId)).collect();
    let graph = GraphBuilder::new().vertices(VERTICES).build_from(arcs).unwrap();
    let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(2).open().unwrap();
    let expected = cpu.solve(Closure::new()).unwrap();
    for device in devices(8) {
        let gpu = Solver::builder(graph.clone()).threads(2).device(device).open().unwrap();
        let found = gpu.solve(Closure::new().algorithm("bit-warshall")).unwrap();
        assert_eq!(found.to_matrix().unwrap(), expected.to_matrix().unwrap());
    }
}
