use super::*;
use crate::cuda::device::testing::devices;
use crate::problems::Cutoff;
use crate::testing::{Random, TestWeight, graphs_of_every_shape, one_of_every_shape, size};
use crate::{Control, Solver};

/// The distances between all pairs, by Floyd and Warshall.
fn all_distances(graph: &Graph) -> Vec<Vec<f64>> {
    let n = graph.vertices();
    let mut distances = vec![vec![f64::INFINITY; n]; n];
    (0..n).for_each(|v| distances[v][v] = 0.0);
    for (u, v, weight) in graph.edges() {
        let there = &mut distances[u as usize][v as usize];
        *there = there.min(weight);
    }
    for k in 0..n {
        let through = distances[k].clone();
        for row in &mut distances {
            let before = row[k];
            row.iter_mut().zip(&through).for_each(|(there, after)| *there = there.min(before + after));
        }
    }
    distances
}

fn agrees(name: &str, graph: &Graph, cutoffs: &[Cutoff], random: &mut Random) {
    let distances = all_distances(graph);
    let within = |v: VertexId, cutoff: Cutoff| {
        let bound = match cutoff {
            Cutoff::Integer(bound) => bound as f64,
            Cutoff::Float(bound) => bound,
        };
        distances[v as usize].iter().filter(|distance| distance.is_finite() && **distance <= bound).count() as u64
    };
    let n = graph.vertices() as u64;
    let some: Vec<VertexId> = (0..random.below(9) * n.min(1)).map(|_| random.below(n) as VertexId).collect();
    for &cutoff in cutoffs {
        let all: Vec<u64> = (0..n as VertexId).map(|v| within(v, cutoff)).collect();
        let of_some: Vec<u64> = some.iter().map(|&v| within(v, cutoff)).collect();
        for threads in [1, 3] {
            let solver = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(threads).open().unwrap();
            let found = solver.solve(Neighborhoods::within(cutoff)).unwrap();
            assert_eq!(found.sizes(), all, "{name}, {cutoff:?}");
            let found = solver.solve(Neighborhoods::within(cutoff).from(some.as_slice())).unwrap();
            assert_eq!(found.sizes(), of_some, "{name}, {cutoff:?}, from {some:?}");
        }
    }
}

#[test]
fn neighborhoods_have_what_is_near() {
    let mut random = Random(3);
    let cutoffs = [0, 1, 2, 3, 7, u64::MAX].map(Cutoff::Integer);
    for seed in 0..size(2, 1) {
        for (name, graph) in graphs_of_every_shape::<crate::graph::Unit>(seed) {
            if graph.vertices() <= size(300, 20) {
                agrees(&name, &graph, &cutoffs, &mut random);
            }
        }
    }
    let path = Graph::from_edges([(0, 1), (1, 2)]).unwrap();
    agrees("a path", &path, &[Cutoff::Float(0.9), Cutoff::Float(1.9), Cutoff::Float(f64::INFINITY)], &mut random);
}

fn agrees_by_weights<W: TestWeight>(seed: u64, draw: impl Fn(&mut Random) -> W) {
    let mut random = Random(seed);
    let cutoffs = [Cutoff::Integer(0), Cutoff::Integer(4), Cutoff::Float(6.5), Cutoff::Float(f64::INFINITY)];
    for (name, graph) in one_of_every_shape::<W>(seed) {
        // Both directions of an edge have the same weight.
        let some: Vec<W> = (0..13).map(|_| draw(&mut random)).collect();
        let of = |(u, v, _): (VertexId, VertexId, f64)| some[(u.wrapping_mul(v).wrapping_add(u ^ v) % 13) as usize];
        let graph = graph.clone().with_weights(W::into_weights(graph.edges().map(of).collect())).unwrap();
        if graph.vertices() <= size(200, 20) {
            agrees(&name, &graph, &cutoffs, &mut random);
        }
    }
}

#[test]
fn neighborhoods_by_weights_have_what_is_near() {
    agrees_by_weights::<u32>(21, |random| random.below(4) as u32);
    agrees_by_weights::<i32>(22, |random| random.below(4) as i32);
    agrees_by_weights::<f32>(23, |random| random.below(4) as f32 / 2.0);
    agrees_by_weights::<f64>(24, |random| random.below(9) as f64 / 4.0);
}

#[test]
fn a_device_and_many_searches_at_once_find_the_same() {
    for specification in ["kron:8,edges-per-vertex=40", "grid:60x12", "scale-free:700", "crawl:600"] {
        let graph = crate::generate(specification).unwrap();
        let n = graph.vertices() as VertexId;
        // More than go at once, in an order of their own, and some twice.
        let sources: Vec<VertexId> = (0..size(700, 5)).map(|k| k * 37 % n).collect();
        for cutoff in [0_u32, 1, 2, 5, 1000] {
            let on_cpu = Solver::builder(graph.clone()).threads(1).engine(Engine::Cpu).open().unwrap();
            let expected: Vec<u64> = sources
                .iter()
                .map(|&source| on_cpu.solve(crate::Bfs::from(source).within(cutoff)).unwrap().reached())
                .collect();
            let request = Neighborhoods::within(cutoff).from(sources.as_slice());
            let found = on_cpu.solve(request.clone()).unwrap();
            assert_eq!((found.sizes(), &*found.report().algorithm), (&*expected, "batched"), "{specification}");
            for device in devices(2) {
                let solver = Solver::builder(graph.clone()).threads(2).device(device).open().unwrap();
                let found = solver.solve(request.clone()).unwrap();
                assert_eq!(found.report().engine, "cuda:0", "{specification}");
                assert_eq!(found.sizes(), expected, "{specification}, {cutoff}");
                assert!(solver.solve(Neighborhoods::within(cutoff).from([])).unwrap().sizes().is_empty());
            }
        }
    }
}

#[test]
fn requests_that_have_no_answer_are_errors() {
    let graph = Graph::from_edges([(0, 1, 1_u32), (1, 2, 3)]).unwrap();
    let solver = Solver::builder(graph.clone()).threads(1).open().unwrap();
    let error = |request| solver.solve(request).unwrap_err().to_string();
    assert!(error(Neighborhoods::within(1_u32).from(3)).contains("source"));
    assert!(error(Neighborhoods::within(-1.0)).contains("cutoff -1 is not a number of 0 or more"));
    assert!(error(Neighborhoods::within(f64::NAN)).contains("cutoff"));
    let negative = Solver::new(Graph::from_edges([(0, 1, -2_i32), (1, 2, 3)]).unwrap()).unwrap();
    assert!(negative.solve(Neighborhoods::within(2_u32)).unwrap_err().to_string().contains("weights of 0 or more"));
    // A length beyond the range of floats is beyond every bound, but not in no bound.
    let huge = Solver::new(Graph::from_edges([(0, 1, 3e38_f32), (1, 2, 3e38)]).unwrap()).unwrap();
    assert_eq!(huge.solve(Neighborhoods::within(3.2e38)).unwrap().sizes(), [2, 2, 1]);
    let unbounded = huge.solve(Neighborhoods::within(f64::INFINITY));
    assert!(matches!(unbounded, Err(Error::DistanceOverflow { .. })));
    let unit = Graph::from_edges([(0, 1), (1, 2)]).unwrap();
    for graph in [graph.clone(), unit] {
        let little = Solver::builder(graph).threads(1).memory(64).open().unwrap();
        assert!(matches!(little.solve(Neighborhoods::within(2_u32)), Err(Error::OutOfMemory { .. })));
    }
    for device in devices(1) {
        let solver = Solver::builder(graph.clone()).device(device).open().unwrap();
        assert!(solver.solve(Neighborhoods::within(1_u32)).unwrap_err().to_string().contains("on the CPU only"));
    }
}

#[test]
fn cancelled_work_ends() {
    let control = Control::new();
    control.cancel();
    let graph = crate::generate("uniform:8").unwrap();
    let weighted = graph.clone().with_weights(crate::graph::Weights::U32(vec![7; graph.arcs()])).unwrap();
    for graph in [graph, weighted] {
        let solver = Solver::builder(graph).threads(2).control(control.clone()).open().unwrap();
        assert!(matches!(solver.solve(Neighborhoods::within(9_u32)), Err(Error::Interrupted)));
    }
}
