//! The algorithms on the emulator, and on the GPU if there is one, against the CPU engine.

use super::*;
use crate::cuda::bfs::tests::devices;
use crate::graph::{GraphBuilder, Unit};
use crate::testing::{Random, graphs_of_every_shape};
use crate::{Closure, Engine, Error, Solver};

/// With an operating system thread for each block of threads, an emulated launch of many blocks is slow.
const MOST_VERTICES_OF_PAPERS: usize = 70;

fn agrees_with_the_cpu(name: &str, graph: &Graph, algorithms: &[&str], seed: u64) {
    let cpu = Solver::builder(graph).engine(Engine::Cpu).threads(1).open().unwrap();
    for request in [Closure::new(), Closure::new().irreflexive()] {
        let expected = cpu.solve(request.clone().algorithm("bit-warshall")).unwrap();
        for device in devices(seed) {
            let gpu = Solver::builder(graph).threads(1).device(device).open().unwrap();
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
        let tiled = ["bit-warshall", "bit-warshall:stages=1,head-start=0"][turn % 2];
        if graph.vertices() <= MOST_VERTICES_OF_PAPERS {
            let papers = [tiled, "warshall", "blocked-warshall", "blocked-warshall:block=32"];
            agrees_with_the_cpu(&name, &graph, &papers, turn as u64);
        } else {
            agrees_with_the_cpu(&name, &graph, &[tiled], turn as u64);
        }
    }
    for vertices in [0, 1, 2, 33] {
        let graph = GraphBuilder::new().vertices(vertices).build_from(Vec::<(u32, u32)>::new()).unwrap();
        agrees_with_the_cpu("no edges", &graph, &["bit-warshall", "warshall", "blocked-warshall"], vertices);
    }
}

#[test]
fn counts_and_refusals() {
    let mut random = Random(3);
    let arcs: Vec<_> = (0..900).map(|_| (random.below(500) as u32, random.below(500) as u32)).collect();
    let graph = Graph::from_edges(arcs).unwrap();
    let cpu = Solver::builder(&graph).engine(Engine::Cpu).threads(1).open().unwrap();
    for device in devices(7) {
        let gpu = Solver::builder(&graph).threads(1).device(device.clone()).open().unwrap();
        let counts = gpu.solve(Closure::new().counts_only()).unwrap();
        assert_eq!(counts.counts(), cpu.solve(Closure::new().counts_only()).unwrap().counts());
        assert_eq!(counts.report().algorithm, "bit-warshall");
        let small = Solver::builder(&graph).threads(1).device(device).memory(1 << 16).open().unwrap();
        assert!(matches!(small.solve(Closure::new()), Err(Error::OutOfMemory { available: 65_536, .. })));
        let refused = gpu.solve(Closure::new().algorithm("condensation")).unwrap_err();
        assert!(refused.to_string().contains("bit-warshall"), "{refused}");
    }
}
