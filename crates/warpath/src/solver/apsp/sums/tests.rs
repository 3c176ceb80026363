//! Reductions by sums on the CPU and the emulator, and on the GPU if there is one, against rows on the CPU.

use super::*;
use crate::cuda::device::Device;
use crate::cuda::device::testing::devices;
use crate::graph::{Direction, Graph, GraphBuilder, Unit, VertexId};
use crate::problems::{Reduction, RowReductions};
use crate::solver::Request;
use crate::testing::{Random, graphs_of_every_shape, size};

const ALL: [Reduction; 4] = [Reduction::Eccentricity, Reduction::Closeness, Reduction::Harmonic, Reduction::Histogram];

fn on_cpu(graph: &Graph) -> Solver {
    Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap()
}

fn on(device: Arc<dyn Device>, graph: &Graph) -> Solver {
    Solver::builder(graph.clone()).threads(1).device(device).open().unwrap()
}

fn check(name: &str, gpu: &Solver, request: &Apsp, reductions: &[Reduction]) {
    let cpu = on_cpu(&gpu.graph);
    let mut there = RowReductions::new(reductions.to_vec());
    let rows = cpu.solve(request.clone().algorithm("repeated-searches").into_sink(&mut there)).unwrap();
    for (solver, engine) in [(&cpu, "cpu"), (gpu, "cuda:0")] {
        let mut here = RowReductions::new(reductions.to_vec());
        let sums = solver.solve(request.clone().algorithm("level-sums").into_sink(&mut here)).unwrap();
        let name = format!("{name}, {engine}");
        assert_eq!((&*sums.report().algorithm, &*sums.report().engine), ("level-sums", engine), "{name}");
        assert_eq!(sums.sources(), rows.sources(), "{name}");
        assert_eq!(sums.finite_pairs(), rows.finite_pairs(), "{name}");
        assert_eq!(sums.distance_sum(), rows.distance_sum(), "{name}");
        assert_eq!(sums.max_distance(), rows.max_distance(), "{name}");
        assert_eq!(here.eccentricities(), there.eccentricities(), "{name}");
        assert_eq!(here.closeness(), there.closeness(), "{name}");
        assert_eq!(here.histogram(), there.histogram(), "{name}");
        assert_eq!(here.harmonic().len(), there.harmonic().len());
        for (here, there) in here.harmonic().iter().zip(there.harmonic()) {
            assert!((here - there).abs() <= 1e-12 * there, "{name}: {here}, {there}");
        }
    }
}

#[test]
fn reductions_are_those_of_rows() {
    let mut random = Random(11);
    for (name, graph) in graphs_of_every_shape::<Unit>(3).into_iter().step_by(size(3, 20)) {
        let vertices = graph.vertices() as u64;
        if vertices == 0 || vertices > 700 || graph.arcs() > 3000 {
            continue;
        }
        let reductions = if graph.is_directed() { &ALL[1..] } else { &ALL[..] };
        let some: Vec<VertexId> = (0..random.below(90)).map(|_| random.below(vertices) as VertexId).collect();
        for device in devices(1) {
            let gpu = on(device, &graph);
            check(&name, &gpu, &Apsp::all(), reductions);
            check(&name, &gpu, &Apsp::all().from(some.as_slice()), &ALL[1..]);
        }
    }
}

#[test]
fn whoever_needs_rows_gets_an_error_or_rows() {
    let directed = Graph::from_edges([(0, 1), (1, 2), (2, 0)]).unwrap();
    let weighted = Graph::from_edges([(0, 1, 7), (1, 2, 7)]).unwrap();
    let undirected = GraphBuilder::new().direction(Direction::Undirected).build_from([(0, 1), (1, 2)]).unwrap();
    let asked = || Apsp::all().algorithm("level-sums");
    for device in devices(1) {
        let refused = |graph: &Graph, request: Apsp, reduction: Reduction| {
            let gpu = on(device.clone(), graph);
            let error = gpu.solve(request.into_sink(&mut RowReductions::new([reduction]))).unwrap_err().to_string();
            assert!(error.contains("`level-sums` makes no rows"), "{error}");
        };
        refused(&directed, asked(), Reduction::Eccentricity);
        refused(&weighted, asked(), Reduction::Closeness);
        refused(&undirected, asked().to([1]), Reduction::Closeness);
        refused(&undirected, asked().verified(), Reduction::Closeness);
        refused(&undirected, asked().from([1]), Reduction::Eccentricity);
        let gpu = on(device.clone(), &undirected);
        assert!(gpu.solve(asked()).unwrap_err().to_string().contains("makes no rows"));
        assert!(gpu.solve(asked().into_sink(&mut ())).unwrap_err().to_string().contains("makes no rows"));
        assert!(on_cpu(&undirected).solve(asked()).unwrap_err().to_string().contains("makes no rows"));
    }
}

#[test]
fn the_cpu_has_them_where_a_device_has_failed() {
    let graph = crate::generate::generate("kron:7").unwrap();
    for device in devices(1) {
        let gpu = on(device, &graph);
        let mut sink = RowReductions::new([Reduction::Closeness]);
        let request = Apsp::all().algorithm("level-sums").into_sink(&mut sink);
        let decision = request.decide_on_cpu(&gpu, None, "it failed".into()).unwrap();
        assert_eq!(
            (decision.engine(), decision.algorithm(), decision.engine_reason()),
            ("cpu", "level-sums", "it failed")
        );
        assert!(!decision.fallback);
    }
}

#[test]
fn sums_are_chosen_where_they_are_predicted_to_be_quicker() {
    let graph = crate::generate::generate("kron:15").unwrap();
    for device in devices(1) {
        let gpu = on(device, &graph);
        let chosen = |request: Apsp, reduction| {
            let mut sink = RowReductions::new([reduction]);
            gpu.decide(&request.into_sink(&mut sink)).unwrap().algorithm().to_owned()
        };
        assert_eq!(chosen(Apsp::all(), Reduction::Closeness), "level-sums");
        assert_eq!(chosen(Apsp::all(), Reduction::Eccentricity), "level-sums");
        assert_ne!(chosen(Apsp::all().verified(), Reduction::Closeness), "level-sums");
        assert_ne!(chosen(Apsp::all().to([3]), Reduction::Closeness), "level-sums");
        assert_eq!(chosen(Apsp::all().algorithm("batched"), Reduction::Closeness), "batched");
    }
    // On the CPU, where levels are few.
    let chosen = |graph: &Graph, reduction| {
        let mut sink = RowReductions::new([reduction]);
        on_cpu(graph).decide(&Apsp::all().into_sink(&mut sink)).unwrap().algorithm().to_owned()
    };
    assert_eq!(chosen(&graph, Reduction::Harmonic), "level-sums");
    assert_ne!(chosen(&crate::generate::generate("roads:20000").unwrap(), Reduction::Harmonic), "level-sums");
}

#[test]
fn with_ever_less_memory_sums_are_the_same_or_refused() {
    let graph = crate::generate::generate("kron:7").unwrap();
    let mut expected = RowReductions::new([Reduction::Closeness]);
    on_cpu(&graph).solve(Apsp::all().into_sink(&mut expected)).unwrap();
    for device in devices(1) {
        let (mut answers, mut bytes) = (0, 1_u64 << 20);
        loop {
            let builder = Solver::builder(graph.clone()).threads(1).device(device.clone());
            let gpu = builder.engine(Engine::Cuda(Vec::new())).memory(bytes).open().unwrap();
            let mut sink = RowReductions::new([Reduction::Closeness]);
            match gpu.solve(Apsp::all().algorithm("level-sums").into_sink(&mut sink)) {
                Ok(summary) => {
                    assert!(summary.report().device_bytes <= bytes);
                    assert_eq!(sink.closeness(), expected.closeness(), "{bytes} bytes");
                    answers += 1;
                }
                Err(Error::OutOfMemory { .. }) => break,
                Err(error) => panic!("{bytes} bytes: {error}"),
            }
            bytes -= bytes / 8;
        }
        assert!(answers > 3, "{answers} answers");
    }
}
