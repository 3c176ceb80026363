use super::*;
use crate::algorithms::parse_algorithm;
use crate::cuda::device::testing::devices;
use crate::cuda::graph::WIDE_OFFSETS;
use crate::graph::{Direction, GraphBuilder};
use crate::testing::{Random, TestWeight, graphs_of_every_shape};
use crate::{Engine, ShortestPathTree, Solver, Sssp};

fn draw(random: &mut Random, graph: &Graph, count: usize) -> Vec<VertexId> {
    (0..count).map(|_| random.below(graph.vertices() as u64) as VertexId).collect()
}

/// Searches together on the device, compares each tree with the tree of a single search on the CPU, and returns them.
fn compare(solver: &Solver, request: &Sssp, sources: &[VertexId], context: &str) -> Vec<ShortestPathTree> {
    let graph = solver.graph();
    let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
    let mut alone = request.clone();
    let mut trees = Vec::new();
    solver
        .solve_each(request.clone(), sources, |tree| {
            alone.algorithm = Some("dijkstra".into());
            alone.sources = vec![sources[trees.len()]];
            let expected = cpu.solve(alone.clone())?;
            assert_eq!(tree.sources(), expected.sources(), "{context}");
            assert_eq!(tree.distances(), expected.distances(), "{context}, source {}", trees.len());
            assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
            let (report, expected) = (tree.report(), expected.report());
            assert_eq!(
                (report.semiring, report.repeated_wide),
                (expected.semiring, expected.repeated_wide),
                "{context}"
            );
            assert_eq!((report.engine.as_str(), report.algorithm.as_str()), ("cuda:0", "many-sources"));
            tree.verify(graph).unwrap_or_else(|error| panic!("{context}: {error}"));
            trees.push(tree);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(trees.len(), sources.len(), "{context}");
    trees
}

fn statistic(tree: &ShortestPathTree, name: &str) -> u64 {
    tree.report().statistics.iter().find(|(counter, _)| *counter == name).map_or(0, |(_, value)| *value)
}

const UNDER_TEST: [&str; 5] = [
    "many-sources:threads=32,width=8",
    "many-sources:threads=64,blocks=2,distances=global,near=30",
    "many-sources:threads=32,blocks=3,width=5,delta=1,near=4,queue=7",
    "many-sources:threads=96,width=16,delta=700,queue=40",
    "many-sources:threads=32,width=40,blocks=1,distances=global,queue=5",
];

fn searches_together_are_those_alone<W: TestWeight>(seed: u64, every: usize) {
    let mut random = Random(seed);
    let graphs = graphs_of_every_shape::<W>(seed).into_iter().enumerate().skip(seed as usize % every);
    for (index, (name, graph)) in graphs.step_by(every) {
        let count = [3, 9, 17][(index + seed as usize) % 3];
        let sources = draw(&mut random, &graph, count);
        for device in devices(seed) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            let algorithm = UNDER_TEST[(index / every + seed as usize) % UNDER_TEST.len()];
            let mut request = Sssp::from(0).algorithm(algorithm);
            if index % 3 == 0 {
                request = request.distances_only();
            }
            if index % 4 == 1 {
                request = request.within(random.below(3000) as f64 / 2.0);
            }
            compare(&solver, &request, &sources, &format!("{name}, {algorithm}, {count} sources"));
        }
    }
}

#[test]
fn searches_together_are_those_alone_in_every_semiring() {
    for seed in [1, 2, 3] {
        searches_together_are_those_alone::<u32>(seed, 3);
    }
    searches_together_are_those_alone::<f32>(4, 5);
    searches_together_are_those_alone::<f64>(5, 5);
}

#[test]
fn offsets_of_64_bits_lead_to_the_same_trees() {
    let mut random = Random(8);
    let arcs = (0..300_u32).flat_map(|v| [(v, v * 5 % 301), (v, (v + 1) % 301), (3, v)]);
    let arcs: Vec<_> = arcs.map(|(u, v)| (u, v, 1 + random.below(900) as u32)).collect();
    let graph = Graph::from_edges(arcs).unwrap();
    for device in devices(3) {
        let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        for algorithm in ["many-sources:threads=64,width=2", "many-sources:threads=32,distances=global"] {
            WIDE_OFFSETS.set(true);
            compare(&solver, &Sssp::from(0).algorithm(algorithm), &[0, 5, 3, 299], algorithm);
            WIDE_OFFSETS.set(false);
        }
    }
}

/// Rows longer than a block takes at once; near queues that overflow, so that the window is cut back; a far pile that
/// is purged, and one that overflows, so that all vertices are looked at.
#[test]
fn queues_that_are_full_lose_nothing() {
    let mut random = Random(13);
    let hubs = (0..3_u32).flat_map(|hub| (0..600).map(move |k| (hub, 3 + hub + 2 * k)));
    let tail = (1206..1400_u32).map(|v| (v, v + 1));
    let others = (0..1500_u32).map(|v| (v * 7 % 1207, v * 11 % 1205));
    let edges = tail.chain(hubs).chain(others).map(|(u, v)| (u, v, 1 + random.below(255) as u32));
    let hubs = GraphBuilder::new().direction(Direction::Undirected).build_from(edges.collect::<Vec<_>>()).unwrap();
    // Every one of the first lowers the distances of all others.
    let fan = (1..25_u32).map(|v| (0, v, 1));
    let falls = (1..25_u32).flat_map(|v| (25..400).map(move |w| (v, w, 4000 - 40 * v + w)));
    let on = (25..399_u32).map(|v| (v, v + 1, 1 + v % 7));
    let falling = Graph::from_edges(fan.chain(falls).chain(on).collect::<Vec<_>>()).unwrap();
    for device in devices(13) {
        for distances in ["shared", "global"] {
            let solver =
                |graph: &Graph| Solver::builder(graph.clone()).threads(1).device(device.clone()).open().unwrap();
            let request = |parameters: &str| {
                let name = format!("many-sources:distances={distances},{parameters}");
                Sssp::from(0).algorithm(name).distances_only()
            };
            let trees = compare(&solver(&hubs), &request("threads=128,queue=64,delta=30"), &[1400, 0, 777], "hubs");
            // Relaxed again is less than half.
            assert!(statistic(&trees[0], "relaxations") < 3 * 3 * hubs.arcs() as u64 / 2);
            assert!(statistic(&trees[0], "expanded") >= 3 * 1200);
            let trees = compare(&solver(&falling), &request("threads=64,near=32"), &[0, 0, 30], "falling");
            assert!(statistic(&trees[0], "scans") > 0, "{:?}", trees[0].report());
        }
    }
}

/// Some of the searches of a batch leave the narrow semiring, more than there is room for at once.
#[test]
fn only_searches_that_leave_the_narrow_semiring_are_repeated() {
    let long = (0..6_u32).map(|v| (v, v + 1, u32::MAX / 3));
    let graph = Graph::from_edges(long.chain([(6, 7, 2), (7, 8, u32::MAX - 1)])).unwrap();
    let sources = [6, 0, 1, 7, 2, 5, 3, 0, 4, 8, 8, 1];
    for device in devices(2) {
        let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        for width in [1, 3, 12] {
            let request = Sssp::from(0).algorithm(format!("many-sources:threads=32,width={width}"));
            let trees = compare(&solver, &request, &sources, "wide");
            assert!(trees.iter().any(|tree| tree.report().repeated_wide));
            assert!(trees.iter().any(|tree| !tree.report().repeated_wide));
        }
    }
}

#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes long under sanitizers; the other tests run the same kernels")]
fn what_goes_with_a_search_goes_with_many() {
    let graph = Graph::from_edges((0..280_u32).flat_map(|v| [(v, v * 3 % 281, 9), (v, v + 1, v % 5)])).unwrap();
    let sources: Vec<VertexId> = (0..280).step_by(28).chain([5, 5]).collect();
    for device in devices(4) {
        let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        // Without a name, too; batches are of about one size.
        let trees = compare(&solver, &Sssp::from(0).within(40_u32), &sources, "chosen");
        assert_eq!(statistic(&trees[0], "searches_in_a_batch"), 12);
        let trees = compare(&solver, &Sssp::from(0).algorithm("many-sources:width=8"), &sources, "named");
        assert_eq!(statistic(&trees[0], "searches_in_a_batch"), 6);
        assert!(trees[11].report().device_bytes > 0 && trees[11].report().seconds.prepare == 0.0);
        // One by one, where targets are asked for, or where there are few.
        for (request, few) in [(Sssp::from(0).to([3]), &sources[..]), (Sssp::from(0), &sources[..3])] {
            solver
                .solve_each(request, few, |tree| {
                    assert_ne!(tree.report().algorithm, "many-sources");
                    tree.verify(&graph)
                })
                .unwrap();
        }
    }
}

#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes long under sanitizers; the other tests run the same kernels")]
fn little_memory_means_narrow_batches_and_then_none() {
    let arcs = (0..5000_u32).flat_map(|v| [7, 11].map(|by| (v, (v * by + by) % 5001, v % 90)));
    let graph = Graph::from_edges(arcs).unwrap();
    let sources: Vec<VertexId> = (0..20).collect();
    let bytes = |width| {
        let text = format!("many-sources:width={width}");
        let (_, parameters) = parse_algorithm(&[ALGORITHM], |algorithm| &algorithm.info, &text).unwrap();
        plan(&graph, &Sizes::of(&graph, &parameters)).device_bytes()
    };
    for device in devices(5) {
        for (memory, together) in [(bytes(32), Some(20)), (bytes(8), Some(6)), (bytes(8) - 1, None)] {
            let solver =
                Solver::builder(graph.clone()).threads(1).memory(memory).device(device.clone()).open().unwrap();
            let mut last = None;
            let request = Sssp::from(0).within(60_u32).distances_only();
            solver
                .solve_each(request.clone(), &sources, |tree| {
                    assert!(tree.report().device_bytes <= memory);
                    last = Some(tree);
                    Ok(())
                })
                .unwrap();
            let planned = solver.decide_each(&request, &sources).unwrap().plan().device_bytes();
            let last = last.unwrap();
            assert_eq!(last.report().device_bytes, planned);
            let found = (last.report().algorithm == "many-sources").then(|| statistic(&last, "searches_in_a_batch"));
            assert_eq!(found, together);
        }
    }
}

#[test]
fn cancelling_ends_it() {
    let graph = Graph::from_edges((0..100_u32).map(|v| (v, v + 1, 3_u32))).unwrap();
    for device in devices(6) {
        let control = Control::new();
        let solver = Solver::builder(graph.clone()).threads(1).control(control.clone()).device(device).open().unwrap();
        let request = Sssp::from(0).algorithm("many-sources:threads=32,width=4");
        let mut handed = 0;
        let cancelled = solver.solve_each(request, &[0; 20], |_| {
            handed += 1;
            if handed == 6 {
                control.cancel();
            }
            Ok(())
        });
        assert!(matches!(cancelled, Err(Error::Interrupted)));
        assert_eq!(handed, 8, "the batch under way is handed over");
    }
}
