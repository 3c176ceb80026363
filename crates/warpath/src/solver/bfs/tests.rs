//! Which searches go where, and that they are the same there.
//!
//! *Invariants.* The kernel of a test is launched with the array that it expects.

use super::*;
use crate::Engine;
use crate::graph::VertexId;
use crate::solver::Search;
use crate::testing::Random;

#[test]
fn parameters_that_only_a_gpu_has_go_there() {
    let graph = Graph::from_edges([(0, 1), (1, 2)]).unwrap();
    let solver = Solver::new(graph.clone()).unwrap();
    let engine =
        |algorithm: &str| Bfs::from(0).algorithm(algorithm).decide(&solver, None).map(|decision| decision.engine());
    for there in ["direction-optimizing:bottom-up=0.1", "many-sources:width=8"] {
        assert_eq!(engine(there).unwrap(), "cuda", "{there}");
    }
    for not in ["direction-optimizing", "sequential"] {
        assert_eq!(engine(not).unwrap(), "cpu", "{not}");
    }
    let error = engine("direction-optimizing:nothing=1").unwrap_err().to_string();
    assert!(error.contains("`direction-optimizing` has no parameter `nothing`"), "{error}");
}

#[test]
fn searches_that_run_together_are_those_that_run_alone() {
    let mut random = Random(11);
    let mut vertex = || random.below(6000) as VertexId;
    let directed = Graph::from_edges((0..40_000).map(|_| (vertex(), vertex())).collect::<Vec<_>>()).unwrap();
    let sources: Vec<VertexId> = (0..200).map(|_| vertex()).filter(|&v| (v as usize) < directed.vertices()).collect();
    for threads in [1, 2] {
        let solver = Solver::builder(directed.clone()).threads(threads).open().unwrap();
        let other = Solver::builder(directed.clone()).threads(threads).open().unwrap();
        for request in [Bfs::from(0).count_paths(), Bfs::from(0).within(3).distances_only()] {
            let mut order = sources.iter();
            let each = |tree: ShortestPathTree| {
                let single = other.solve(request.starting_at(*order.next().unwrap()))?;
                assert_eq!(tree.report().algorithm, "multi-source");
                assert_eq!(tree.sources(), single.sources());
                assert_eq!(tree.distances(), single.distances());
                assert_eq!(tree.predecessors(), single.predecessors());
                assert_eq!(tree.path_counts(), single.path_counts());
                tree.verify(&directed)
            };
            solver.solve_each(request.clone(), &sources, each).unwrap();
            assert!(order.next().is_none());
        }
    }
}

/// The device fails after some trees were handed over: the others come from the CPU, and none twice.
#[cfg(emulator)]
#[test]
fn a_device_that_fails_leaves_the_rest_to_the_cpu() {
    use crate::Error;
    use crate::cuda::device::{Device, Image, LaunchShape, arguments, emulator::Emulator};
    static TESTS: Image = Image { name: "tests", parts: &[] };
    let graph = Graph::from_edges((0..200_u32).flat_map(|v| [(v, v * 7 % 201), (v, v + 1)])).unwrap();
    let sources: Vec<VertexId> = (0..30).rev().collect();
    for optional in [true, false] {
        let device = Arc::new(Emulator::new(9));
        let solver = Solver::builder(graph.clone()).threads(1).device(device.clone()).open().unwrap();
        let mut engines = Vec::new();
        let mut each = |tree: ShortestPathTree| {
            assert_eq!(tree.sources(), [sources[engines.len()]]);
            tree.verify(&graph)?;
            engines.push((tree.report().engine.clone(), tree.report().engine_reason.clone()));
            if engines.len() == 12 {
                let bug = device.function(&TESTS, "bug_divergent_barrier")?;
                let words = device.allocate(64 * 4)?;
                // SAFETY: the kernel takes one pointer, to as many words as there are threads.
                unsafe { device.launch(bug, &LaunchShape::line(1, 64), arguments![words]) }.unwrap_err();
            }
            Ok(())
        };
        let request = Bfs::from(0).algorithm("many-sources:width=8,threads=32,blocks=2");
        let request = if optional { request } else { request.distances_only() };
        let mut decision = request.decide(&solver, Some(sources.len())).unwrap();
        (decision.fallback, decision.placed.reason) = (optional, "predicted".into());
        // On the CPU there is no such algorithm.
        let request = if optional { Bfs::from(0) } else { request };
        let result = solver.solve_each_as(&request, decision, &sources, &mut each);
        assert!(engines[..12].iter().all(|(engine, reason)| engine == "cuda:0" && reason == "predicted"));
        if optional {
            result.unwrap();
            assert_eq!(engines.len(), sources.len());
            assert!(engines[12..].iter().all(|(engine, reason)| engine == "cpu" && reason.contains("lost")));
        } else {
            assert!(matches!(result, Err(Error::Device(_))), "{result:?}");
        }
    }
}

#[test]
fn hubs_mean_one_by_one() {
    let even = (0..20_000_u32).flat_map(|v| (1..5).map(move |k| (v, v * k * 7919 % 20_000)));
    let hub = (0..20_000_u32).map(|v| (7, v));
    let sources: Vec<VertexId> = (0..100).collect();
    for (graph, together) in
        [(Graph::from_edges(even.clone()).unwrap(), true), (Graph::from_edges(even.chain(hub)).unwrap(), false)]
    {
        let each = |tree: ShortestPathTree| {
            assert_eq!(tree.report().algorithm == "multi-source", together);
            tree.verify(&graph)
        };
        Solver::builder(graph.clone()).threads(2).open().unwrap().solve_each(Bfs::from(0), &sources, each).unwrap();
    }
}

#[test]
fn little_memory_means_one_by_one() {
    let graph = Graph::from_edges((0..40_000_u32).flat_map(|v| (1..5).map(move |k| (v / 4, v * k % 9973)))).unwrap();
    let one = Solver::new(graph.clone()).unwrap().decide(&Bfs::from(0)).unwrap().plan().memory_bytes();
    let solver = Solver::builder(graph.clone()).threads(2).memory(10 * one).open().unwrap();
    let each = |tree: ShortestPathTree| {
        assert_ne!(tree.report().algorithm, "multi-source");
        Ok(())
    };
    solver.solve_each(Bfs::from(0), &[1; 100], each).unwrap();
}

#[test]
fn the_arcs_by_head_are_made_when_a_graph_is_searched_again_and_again() {
    let graph = crate::generate("crawl:30000").unwrap();
    let arcs_by_head = graph.transpose_bytes();
    let solver =
        |memory: u64| Solver::builder(graph.clone()).engine(Engine::Cpu).threads(2).memory(memory).open().unwrap();
    let much = solver(1 << 30);
    let little = solver(much.decide(&Bfs::from(0)).unwrap().plan().memory_bytes() + arcs_by_head / 2);
    // A search counts if it had levels that are large.
    let far = |&source: &VertexId| {
        let solver = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(2).open().unwrap();
        let tree = solver.solve(Bfs::from(source)).unwrap();
        tree.report().statistics.iter().any(|&(counter, levels)| counter == "top_down_levels" && levels > 0)
    };
    let sources: Vec<VertexId> = (0..30_000).filter(far).take(6).collect();
    let near = (0..30_000).find(|&source| graph.neighbors(source).is_empty()).unwrap();
    (0..5).for_each(|_| assert_eq!(much.solve(Bfs::from(near)).unwrap().reached(), 1));
    for (search, &source) in sources.iter().enumerate() {
        let decision = much.decide(&Bfs::from(source)).unwrap();
        let is_made = decision.plan().memory_items().iter().any(|item| item.what == "the arcs by head");
        assert_eq!(is_made, search == 3, "{search}: {}", decision.reason());
        assert_eq!(decision.reason().contains("again and again"), is_made, "{}", decision.reason());
        assert_eq!(decision.reason().contains("not at hand"), search < 3, "{}", decision.reason());
        let trees = [&much, &little].map(|solver| solver.solve(Bfs::from(source)).unwrap());
        assert_eq!(trees[0].distances(), trees[1].distances());
        assert_eq!(trees[0].predecessors(), trees[1].predecessors());
        assert_eq!((much.graph().has_transpose(), little.graph().has_transpose()), (search >= 3, false));
    }
}
