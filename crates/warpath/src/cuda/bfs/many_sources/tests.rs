use super::*;
use crate::cuda::device::testing::devices;
use crate::graph::{Direction, GraphBuilder, Unit};
use crate::testing::{Random, one_of_every_shape};
use crate::{Bfs, Engine, ShortestPathTree, Solver};

fn draw(random: &mut Random, graph: &Graph, count: usize) -> Vec<VertexId> {
    (0..count).map(|_| random.below(graph.vertices() as u64) as VertexId).collect()
}

/// Searches together on the device, compares each tree with the tree of a single search, and returns the last one.
fn compare(solver: &Solver, request: &Bfs, sources: &[VertexId], context: &str) -> Option<ShortestPathTree> {
    let graph = solver.graph();
    let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
    let mut alone = request.clone();
    alone.algorithm = None;
    let (mut count, mut last) = (0, None);
    solver
        .solve_each(request.clone(), sources, |tree| {
            alone.sources = vec![sources[count]];
            let expected = cpu.solve(alone.clone())?;
            assert_eq!(tree.sources(), expected.sources(), "{context}");
            assert_eq!(tree.distances(), expected.distances(), "{context}, source {count}");
            assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
            assert_eq!(tree.path_counts(), expected.path_counts(), "{context}");
            assert_eq!((tree.report().engine.as_str(), tree.report().algorithm.as_str()), ("cuda:0", "many-sources"));
            tree.verify(graph).unwrap_or_else(|error| panic!("{context}: {error}"));
            count += 1;
            last = Some(tree);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(count, sources.len(), "{context}");
    last
}

fn statistic(tree: &ShortestPathTree, name: &str) -> u64 {
    tree.report().statistics.iter().find(|(counter, _)| *counter == name).map_or(0, |(_, value)| *value)
}

/// Every way to go and to change between them, several shapes, queues that are too small.
const UNDER_TEST: [&str; 6] = [
    "many-sources:threads=32,blocks=3",
    "many-sources:threads=64,blocks=2,bottom-up=0,top-down=0,arcs=host",
    "many-sources:threads=64,bottom-up=1e9,arcs=host",
    "many-sources:threads=32,width=32,bottom-up=0.01,top-down=0.5",
    "many-sources:threads=96,blocks=1,width=5,bottom-up=0.1,top-down=1",
    "many-sources:threads=32,blocks=2,queue=3,top-down=0.3",
];

#[test]
fn searches_together_are_those_alone() {
    for seed in [1, 2] {
        let mut random = Random(seed);
        for (index, (name, graph)) in one_of_every_shape::<Unit>(seed).into_iter().enumerate() {
            let sources = draw(&mut random, &graph, [5, 32, 40, 64, 70][(index + seed as usize) % 5]);
            for device in devices(seed) {
                let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                let algorithm = UNDER_TEST[(index / 2 + seed as usize) % UNDER_TEST.len()];
                let context = format!("{name}, {algorithm}, {} sources", sources.len());
                compare(&solver, &Bfs::from(0).algorithm(algorithm).distances_only(), &sources, &context);
            }
        }
    }
}

/// Arcs both ways or not, one way of searching and the other, and a queue that is too small.
#[test]
fn every_way_leads_there() {
    let mut random = Random(5);
    let arcs: Vec<(u32, u32)> = (0..900)
        .map(|_| (random.below(250) as u32, random.below(250) as u32))
        .chain((1..200).map(|v| (7, v)))
        .collect();
    for direction in [Direction::Directed, Direction::Undirected] {
        let graph = GraphBuilder::new().direction(direction).build_from(arcs.clone()).unwrap();
        let mut sources = draw(&mut random, &graph, 130);
        sources[17] = sources[3];
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        for device in devices(7) {
            let parameters = Parameters::default();
            // A block that runs ahead may fill its part of the queue; one block has the whole of it.
            for (blocks, share, capacity) in [(3, 0.0, 1 << 20), (1, 1e9, 1 << 20), (3, 0.3, 1 << 20), (3, 1e9, 4)] {
                let many = &mut prepare(&device, &graph, &parameters, WIDEST as u64).unwrap();
                many.shape = LaunchShape { cooperative: true, ..LaunchShape::line(blocks, 64) };
                many.arguments.bottom_up = share;
                many.arguments.capacity = capacity.min((queue_items(&graph) / u64::from(blocks)) as u32);
                for batch in sources.chunks(WIDEST) {
                    for cutoff in [u32::MAX, 3, 0] {
                        let statistics = many.search_each(batch, cutoff, &Control::new()).unwrap();
                        let bottom_up = statistics[2];
                        assert_eq!(bottom_up.0, "bottom_up_levels");
                        match (share == 0.0 || capacity == 4, share > 1.0 && capacity > 4) {
                            (true, _) if batch.len() > 12 && cutoff > 0 => assert!(bottom_up.1 > 0),
                            (_, true) => assert_eq!(bottom_up.1, 0),
                            _ => {}
                        }
                        for (index, &source) in batch.iter().enumerate() {
                            let single = cpu.solve(Bfs::from(source).within(cutoff)).unwrap();
                            let levels = many.found_from(index).levels().unwrap();
                            let expected = |v| single.distance(v).map_or(u32::MAX, |d| d.to_f64() as u32);
                            assert!(
                                (0..graph.vertices() as u32).all(|v| levels[v as usize] == expected(v)),
                                "{share}, {capacity}, {cutoff}, {index}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn offsets_of_64_bits_lead_to_the_same_trees() {
    let arcs = (0..300_u32).flat_map(|v| [(v, v * 5 % 301), (v, (v + 1) % 301), (3, v)]);
    let graph = Graph::from_edges(arcs).unwrap();
    for device in devices(3) {
        let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        for algorithm in ["many-sources:threads=64,blocks=2,queue=2", "many-sources:threads=64,blocks=2"] {
            crate::cuda::graph::WIDE_OFFSETS.set(true);
            compare(&solver, &Bfs::from(0).algorithm(algorithm), &[0, 5, 3, 299], algorithm);
            crate::cuda::graph::WIDE_OFFSETS.set(false);
        }
    }
}

#[test]
fn what_goes_with_a_search_goes_with_many() {
    let graph = Graph::from_edges((0..280_u32).flat_map(|v| [(v, v * 3 % 281), (v, v + 1)])).unwrap();
    let sources: Vec<VertexId> = (0..280).step_by(28).chain([5, 5]).collect();
    for device in devices(4) {
        let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        let request = Bfs::from(0).algorithm("many-sources:threads=64,width=8");
        compare(&solver, &request.clone().count_paths().within(4), &sources, "paths");
        let last = compare(&solver, &request, &sources, "predecessors").unwrap();
        assert_eq!(statistic(&last, "searches_in_a_batch"), 6);
        assert!(last.report().device_bytes > 0 && last.report().seconds.prepare == 0.0);
        // One by one, where targets are asked for.
        solver
            .solve_each(Bfs::from(0).to([3]), &[1, 2], |tree| {
                assert_ne!(tree.report().algorithm, "many-sources");
                tree.verify(&graph)
            })
            .unwrap();
    }
}

#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes long under sanitizers; the other tests run the same kernels")]
fn little_memory_means_narrow_batches_and_then_none() {
    let arcs = (0..5000_u32).flat_map(|v| [7, 11, 13].map(|by| (v, (v * by + by) % 5001)));
    let graph = Graph::from_edges(arcs).unwrap();
    let sources: Vec<VertexId> = (0..20).collect();
    for device in devices(5) {
        for (rows, together) in [(64, Some(20)), (8, Some(6)), (4, None)] {
            let memory = plan(&graph, rows, false).device_bytes();
            let solver =
                Solver::builder(graph.clone()).threads(1).memory(memory).device(device.clone()).open().unwrap();
            let mut last = None;
            solver
                .solve_each(Bfs::from(0).distances_only(), &sources, |tree| {
                    assert!(tree.report().device_bytes <= memory);
                    last = Some(tree);
                    Ok(())
                })
                .unwrap();
            let last = last.unwrap();
            let found = (last.report().algorithm == "many-sources").then(|| statistic(&last, "searches_in_a_batch"));
            assert_eq!(found, together);
        }
    }
}

/// Arcs that have no room stay on the host, and searches still share what they read.
#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes long under sanitizers; the other tests run the same kernels")]
fn searches_together_share_arcs_on_the_host() {
    let graph = crate::generate("uniform:10,edges-per-vertex=100").unwrap();
    let memory = plan(&graph, 8, true).device_bytes();
    for device in devices(7) {
        let solver = Solver::builder(graph.clone()).threads(1).memory(memory).device(device).open().unwrap();
        let sources: Vec<VertexId> = (0..10).collect();
        let decision = solver.decide_each(&Bfs::from(0), &sources).unwrap();
        assert_eq!(decision.algorithm(), "many-sources:width=8,arcs=host");
        let last = compare(&solver, &Bfs::from(0), &sources, "on the host").unwrap();
        assert!(last.report().device_bytes <= memory);
    }
}

#[test]
fn cancelling_ends_it_and_nonsense_is_refused() {
    let graph = Graph::from_edges((0..100_u32).map(|v| (v, v + 1))).unwrap();
    for device in devices(6) {
        let control = Control::new();
        let solver = Solver::builder(graph.clone()).threads(1).control(control.clone()).device(device).open().unwrap();
        for wrong in ["many-sources:width=65", "many-sources:width=1.5", "many-sources:blocks=257"] {
            let refused = solver.solve_each(Bfs::from(0).algorithm(wrong), &[0; 9], |_| Ok(()));
            assert!(matches!(refused, Err(Error::InvalidRequest(_))), "{wrong}: {refused:?}");
        }
        let request = Bfs::from(0).algorithm("many-sources:threads=32,width=4");
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
