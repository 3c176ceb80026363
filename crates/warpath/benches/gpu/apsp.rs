//! All-pairs shortest paths on a GPU, timed by its own clock: from the matrix of weights, or the graph, on the device
//! to all distances there, or to facts about all rows. The bench also prints the time that `auto` predicts. Some rows
//! are compared with searches of the CPU engine; on small graphs, all rows are.

use std::sync::Arc;
use std::time::Instant;

use warpath::graph::{Distance, Distances, WeightKind, Weights, with_weights};
use warpath::problems::{Report, Seconds};
use warpath::{Apsp, Engine, Graph, Solver, VertexId};

/// Runs after one to warm up.
const RUNS: usize = 5;
/// Up to `SMALL` vertices, all rows are compared; beyond, `ROWS` rows.
const SMALL: usize = 1500;
const ROWS: usize = 4;

/// The destination of the rows.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Into {
    /// Only some rows are asked for, and compared; this makes no difference to algorithms on the matrix.
    Sample,
    /// A matrix of all rows on the host.
    Matrix,
    /// How many pairs there are, and the sum of their distances.
    Facts,
    /// The matrix, and the successors of all pairs, whose time is among the statistics.
    Successors,
}

impl Into {
    /// Parses the option.
    pub(super) fn parse(text: Option<&str>) -> Self {
        match text {
            Some("sample") => Into::Sample,
            Some("matrix") => Into::Matrix,
            Some("facts") => Into::Facts,
            Some("successors") => Into::Successors,
            _ => panic!("--into takes sample, matrix, facts or successors"),
        }
    }
}

/// The graph with weights of another type.
pub(super) fn converted(graph: Graph, kind: &str) -> Graph {
    let weights: Weights = with_weights!(graph.weights(), values => {
        let values = values.iter().map(|&weight| warpath::graph::Weight::to_f64(weight));
        match kind {
            "i32" => Weights::I32(values.map(|weight| weight as i32).collect::<Vec<_>>()),
            "f32" => Weights::F32(values.map(|weight| weight as f32).collect::<Vec<_>>()),
            "f64" => Weights::F64(values.collect::<Vec<_>>()),
            _ => panic!("--type takes i32, f32 or f64"),
        }
    });
    graph.with_weights(weights).expect("there are as many weights as arcs")
}

pub(super) fn heading() {
    println!(
        "{:<16} {:<5} {:<44} {:>10} {:>10} {:>10} {:>8} {:>9} {:>9} {:>9}  statistics",
        "graph", "type", "algorithm", "ms", "least", "predicted", "T/s", "host ms", "prepare", "download"
    );
}

/// What is asked for.
pub(super) struct Asked<'a> {
    pub(super) into: Into,
    pub(super) engine: &'a Engine,
    pub(super) memory: Option<u64>,
    /// Whether the solver is given weights before each run, the same ones: what depends on weights is made again, and timed.
    pub(super) new_weights: bool,
    /// The sources of rows that are summed up; all vertices if there are none.
    pub(super) sources: Option<Vec<VertexId>>,
}

/// Times one algorithm and prints a line.
pub(super) fn time(name: &str, graph: &Arc<Graph>, algorithm: Option<&str>, wanted: &Asked<'_>) {
    let &Asked { into, engine, memory, new_weights, ref sources } = wanted;
    let n = graph.vertices();
    let sample: Vec<VertexId> = if n <= SMALL {
        (0..n as VertexId).collect()
    } else {
        (0..ROWS).map(|index| (index * (n - 1) / (ROWS - 1)) as VertexId).collect()
    };
    let asked = |request: Apsp| algorithm.into_iter().fold(request, |request, algorithm| request.algorithm(algorithm));
    let fail = |error: warpath::Error| -> ! { panic!("{name}, {algorithm:?}: {error}") };
    let gpu = Solver::builder(graph.clone()).engine(engine.clone());
    let mut gpu = memory.into_iter().fold(gpu, |gpu, bytes| gpu.memory(bytes)).open().expect("threads can be started");
    let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).open().expect("threads can be started");
    let expected = cpu.solve(Apsp::all().from(sample.clone()).algorithm("batched")).expect("the searches work");
    let rows = |sources: &Vec<VertexId>| Apsp::all().from(sources.clone());
    let summed_up = |solver: &Solver, request: Apsp| {
        let summary = solver.solve(request.into_sink(&mut ())).unwrap_or_else(|error| fail(error));
        ((summary.finite_pairs(), summary.distance_sum()), summary)
    };
    assert!(sources.is_none() || into == Into::Facts, "all pairs from some sources are for --into facts");
    let expected_facts = sources.as_ref().map(|sources| summed_up(&cpu, rows(sources)).0);
    let (mut on_device, mut on_host, mut seconds) = (Vec::new(), Vec::new(), Seconds::default());
    let (mut predicted, mut described, mut statistics) = (0.0, String::new(), String::new());
    for run in 0..=RUNS {
        let start = Instant::now();
        if new_weights {
            gpu.set_weights(graph.weights().clone()).unwrap_or_else(|error| fail(error));
        }
        let mut take = |report: &Report| {
            let host = start.elapsed().as_secs_f64();
            let counted = |name: &str| report.statistics.iter().find(|(counter, _)| *counter == name);
            let in_seconds = |(_, nanoseconds): &(&str, u64)| *nanoseconds as f64 * 1e-9;
            if run > 0 {
                let solving = counted("device_nanoseconds").map_or(report.seconds.solve, in_seconds);
                let customizing = counted("customization_device_nanoseconds").filter(|_| new_weights);
                on_device.push(solving + customizing.map_or(0.0, in_seconds));
                on_host.push(host);
            }
            seconds = report.seconds;
            predicted = counted("predicted_nanoseconds").map_or(0.0, in_seconds);
            described.clone_from(&report.algorithm);
            let has_column = |name: &str| matches!(name, "device_nanoseconds" | "predicted_nanoseconds");
            let shown = report.statistics.iter().filter(|(name, _)| !has_column(name));
            statistics = shown.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
        };
        match into {
            Into::Sample => {
                let matrix = gpu.solve(asked(Apsp::all().from(sample.clone()))).unwrap_or_else(|error| fail(error));
                take(matrix.report());
                compare(name, 0..matrix.distances().len(), matrix.distances(), expected.distances());
            }
            Into::Matrix => {
                let matrix = gpu.solve(asked(Apsp::all())).unwrap_or_else(|error| fail(error));
                take(matrix.report());
                let cells = sample.iter().flat_map(|&row| row as usize * n..(row as usize + 1) * n);
                compare(name, cells, matrix.distances(), expected.distances());
            }
            Into::Successors => {
                let matrix = gpu.solve(asked(Apsp::all().with_successors())).unwrap_or_else(|error| fail(error));
                take(matrix.report());
                let found = matrix.found_successors().expect("they were asked for");
                let expected = expected.successors(graph).expect("it is the same graph");
                for (row, &source) in sample.iter().enumerate() {
                    assert_eq!(found.row(source as usize), expected.row(row), "{name}: successors from {source}");
                }
            }
            Into::Facts => {
                let (facts, summary) = summed_up(&gpu, asked(sources.as_ref().map_or_else(Apsp::all, rows)));
                take(summary.report());
                assert!(expected_facts.is_none_or(|expected| expected == facts), "{name}: {facts:?}");
                let of_sample = summed_up(&gpu, asked(rows(&sample))).0;
                assert_eq!(of_sample, (expected.finite_pairs(), expected.distance_sum()), "{name}");
                statistics = format!("{} pairs, sum {}, {statistics}", summary.finite_pairs(), summary.distance_sum());
            }
        }
    }
    let kind = match graph.weight_kind() {
        WeightKind::Unit => "unit",
        kind => kind.name(),
    };
    on_device.sort_by(f64::total_cmp);
    on_host.sort_by(f64::total_cmp);
    let middle = on_device[RUNS / 2];
    println!(
        "{:<16} {:<5} {:<44} {:>10.4} {:>10.4} {:>10.4} {:>8.2} {:>9.2} {:>9.1} {:>9.2}  {statistics}",
        name.rsplit('/').next().unwrap_or(name),
        kind,
        algorithm.unwrap_or(&described),
        middle * 1e3,
        on_device[0] * 1e3,
        predicted * 1e3,
        (n as f64).powi(2) * sources.as_ref().map_or(n, Vec::len) as f64 / middle * 1e-12,
        on_host[RUNS / 2] * 1e3,
        seconds.prepare * 1e3,
        seconds.download * 1e3
    );
}

/// Asserts that these cells are as expected; floats may differ by the order in which they were added up.
fn compare(name: &str, cells: impl Iterator<Item = usize>, found: &Distances, expected: &Distances) {
    let mut compared = 0;
    let is_float = matches!(expected, Distances::F32(_) | Distances::F64(_));
    let close = |a: Distance, b: Distance| (a.to_f64() - b.to_f64()).abs() <= 1e-4 * b.to_f64().abs().max(1e-3);
    for (place, cell) in cells.enumerate() {
        let (a, b) = (found.get(cell), expected.get(place));
        compared += 1;
        let equal = a == b || (is_float && matches!((a, b), (Some(a), Some(b)) if close(a, b)));
        assert!(equal, "{name}, cell {cell}: {a:?} is not {b:?}");
    }
    assert_eq!(compared, expected.len(), "{name}");
}
