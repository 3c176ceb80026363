//! All-pairs shortest paths on a GPU, timed by its own clock: from the matrix of weights on the device to that of
//! distances. Some rows are compared with searches of the CPU engine; of small graphs all rows.

use std::time::Instant;

use warpath::graph::{Distance, Distances, WeightKind, Weights, with_weights};
use warpath::{Apsp, Engine, Graph, Solver, VertexId};

/// Runs after one to warm up.
const RUNS: usize = 3;
/// Up to so many vertices, all rows are compared; else as many as the latter says.
const SMALL: usize = 1500;
const ROWS: usize = 4;

/// The graph with weights of another type.
pub(super) fn converted(graph: Graph, kind: &str) -> Graph {
    let weights: Weights = with_weights!(graph.weights(), values => {
        let values = values.iter().map(|&weight| warpath::graph::Weight::to_f64(weight));
        match kind {
            "i32" => Weights::I32(values.map(|weight| weight as i32).collect::<Vec<_>>().into()),
            "f32" => Weights::F32(values.map(|weight| weight as f32).collect::<Vec<_>>().into()),
            "f64" => Weights::F64(values.collect::<Vec<_>>().into()),
            _ => panic!("--type takes i32, f32 or f64"),
        }
    });
    graph.with_weights(weights).expect("there are as many weights as arcs")
}

pub(super) fn heading() {
    println!(
        "{:<16} {:<5} {:<44} {:>10} {:>10} {:>8} {:>9} {:>9} {:>9}  statistics",
        "graph", "type", "algorithm", "ms", "least", "T/s", "host ms", "prepare", "download"
    );
}

/// Times one algorithm and prints a line.
pub(super) fn time(name: &str, graph: &Graph, algorithm: Option<&str>, engine: &Engine, memory: Option<u64>) {
    let n = graph.vertices();
    let sample: Vec<VertexId> = if n <= SMALL {
        (0..n as VertexId).collect()
    } else {
        (0..ROWS).map(|index| (index * (n - 1) / (ROWS - 1)) as VertexId).collect()
    };
    let request = || {
        let request = Apsp::all().from(sample.clone());
        algorithm.into_iter().fold(request, |request, algorithm| request.algorithm(algorithm))
    };
    let gpu = Solver::builder(graph).engine(engine.clone());
    let gpu = memory.into_iter().fold(gpu, |gpu, bytes| gpu.memory(bytes)).open().expect("threads can be started");
    let (mut on_device, mut on_host, mut prepare, mut download) = (Vec::new(), Vec::new(), 0.0, 0.0);
    let (mut found, mut described, mut statistics) = (None, String::new(), String::new());
    for run in 0..=RUNS {
        let start = Instant::now();
        let matrix = gpu.solve(request()).unwrap_or_else(|error| panic!("{name}, {algorithm:?}: {error}"));
        let host = start.elapsed().as_secs_f64();
        let report = matrix.report();
        if run > 0 {
            let counted = report.statistics.iter().find(|(counter, _)| *counter == "device_nanoseconds");
            on_device.push(counted.map_or(report.seconds.solve, |(_, nanoseconds)| *nanoseconds as f64 * 1e-9));
            on_host.push(host);
            (prepare, download) = (report.seconds.prepare, report.seconds.download);
        }
        described.clone_from(&report.algorithm);
        let shown = report.statistics.iter().filter(|(name, _)| *name != "device_nanoseconds");
        statistics = shown.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
        found = Some(matrix.into_distances());
    }
    let cpu = Solver::builder(graph).engine(Engine::Cpu).open().expect("threads can be started");
    let expected = cpu.solve(Apsp::all().from(sample.clone()).algorithm("batched")).expect("the searches work");
    compare(name, &found.unwrap_or(Distances::U32(Vec::new())), expected.distances());
    let kind = match graph.weight_kind() {
        WeightKind::Unit => "unit",
        kind => kind.name(),
    };
    on_device.sort_by(f64::total_cmp);
    on_host.sort_by(f64::total_cmp);
    let middle = on_device[RUNS / 2];
    println!(
        "{:<16} {:<5} {:<44} {:>10.4} {:>10.4} {:>8.2} {:>9.1} {:>9.1} {:>9.2}  {statistics}",
        name,
        kind,
        algorithm.unwrap_or(&described),
        middle * 1e3,
        on_device[0] * 1e3,
        (n as f64).powi(3) / middle * 1e-12,
        on_host[RUNS / 2] * 1e3,
        prepare * 1e3,
        download * 1e3
    );
}

/// That they are equal; floats but for the order in which they were added up.
fn compare(name: &str, found: &Distances, expected: &Distances) {
    assert_eq!(found.len(), expected.len(), "{name}");
    let is_float = matches!(expected, Distances::F32(_) | Distances::F64(_));
    let close = |a: Distance, b: Distance| (a.to_f64() - b.to_f64()).abs() <= 1e-4 * b.to_f64().abs().max(1e-3);
    for cell in 0..found.len() {
        let (a, b) = (found.get(cell), expected.get(cell));
        let equal = a == b || (is_float && matches!((a, b), (Some(a), Some(b)) if close(a, b)));
        assert!(equal, "{name}, cell {cell}: {a:?} is not {b:?}");
    }
}
