//! How long all-pairs shortest paths are predicted to take on each engine, and which algorithm is picked by that. The
//! bench prints predicted times beside measured times.

use super::table::Table;
use super::{by_searches, has_exact_floats, on_matrix as matrix};
use crate::Engine;
use crate::algorithms::{Parameters, parse_algorithm};
use crate::cpu::apsp::ALGORITHMS;
use crate::cuda::apsp::strips::Room;
use crate::cuda::apsp::{self as cuda, ApspAlgorithm, Cell, MatrixAlgorithm, batched, johnson, tiled_floyd_warshall};
use crate::cuda::bfs::many_sources;
use crate::graph::{Graph, WeightKind};
use crate::problems::Apsp;
use crate::solver::costs::{COPYING, OPENING, Predicted, in_words};
use crate::solver::{Solver, sssp};

/// Seconds of one thread of the CPU: for a relaxation, for an arc and a source of a weighted graph, and for an arc and
/// a source of a graph without weights.
const CPU_RELAXATION: f64 = 0.02e-9;
const CPU_ARC: f64 = 0.8e-9;
const CPU_UNIT_ARC: f64 = 0.1e-9;

/// Predicted seconds on the CPU: of an algorithm on the matrix, and of an algorithm by searches.
pub(super) fn on_cpu(solver: &Solver, table: &Table) -> [f64; 2] {
    let graph = &*solver.graph;
    let (vertices, sources) = (graph.vertices() as f64, table.sources.len() as f64);
    let threads = solver.team.threads() as f64;
    let of_arc = if graph.weight_kind() == WeightKind::Unit { CPU_UNIT_ARC } else { CPU_ARC };
    [vertices.powi(3) * CPU_RELAXATION / threads, sources * (graph.arcs() as f64 + vertices) * of_arc / threads]
}

/// Predicted seconds for which an algorithm keeps a device busy.
pub(super) fn on_device(algorithm: &ApspAlgorithm, parameters: &Parameters, graph: &Graph, sources: usize) -> f64 {
    match algorithm {
        ApspAlgorithm::OnMatrix(algorithm) => on_matrix(algorithm, parameters, graph),
        ApspAlgorithm::BySearches(algorithm)
            if [batched::ALGORITHM.info.name, johnson::ALGORITHM.info.name].contains(&algorithm.info.name) =>
        {
            in_batches(parameters, graph, sources)
        }
        ApspAlgorithm::BySearches(_) => {
            /// Arcs a second of searches one after another, and the least seconds of each search.
            const ARCS: f64 = 1e9;
            const SEARCH: f64 = 400e-6;
            sources as f64 * (SEARCH + graph.arcs() as f64 / ARCS)
        }
    }
}

/// Predicted seconds on the matrix. All triples of vertices are relaxed. Beside that run the stages, whose diagonals
/// follow each other; on small matrices they take the most time.
fn on_matrix(algorithm: &MatrixAlgorithm, parameters: &Parameters, graph: &Graph) -> f64 {
    /// Seconds of a stage.
    const STAGE: f64 = 75e-6;
    let cell = matrix::first_cell(algorithm, parameters, graph);
    let rate = match cell {
        Cell::U16 => 28.9e12,
        Cell::U32 | Cell::I32 => 14.9e12,
        Cell::F32 if graph.has_negative_weights() => 11.2e12,
        Cell::F32 => 14e12,
        Cell::I64 => 2.8e12,
        Cell::F64 => 3.8e12,
    };
    let vertices = graph.vertices() as f64;
    // Rates of the papers' algorithms, in 32 bits. A thread with a row takes the same time for each relaxation however
    // many threads there are, until the memory is busy.
    let by_rows = (vertices / 35e-9).min(0.5e12);
    let others = [("blocked-floyd-warshall", 2.2e12), ("floyd-warshall", 0.4e12), ("floyd-warshall-rows", by_rows)];
    let relaxations = vertices.powi(3);
    match others.iter().find(|(name, _)| *name == algorithm.info.name) {
        Some((_, rate)) => relaxations / rate * cell.bytes() as f64 / 4.0,
        None => {
            let stages = graph.vertices().div_ceil(if cell.bytes() == 8 { 64 } else { 128 }) as f64;
            (relaxations / rate).hypot(stages * STAGE)
        }
    }
}

fn in_batches(parameters: &Parameters, graph: &Graph, sources: usize) -> f64 {
    match graph.weight_kind() {
        WeightKind::Unit => many_sources::seconds_on_device(graph, parameters, sources),
        _ => sssp::seconds_together(graph, sources),
    }
}

/// An algorithm of the CUDA engine that may be picked, and its prediction.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) algorithm: &'static ApspAlgorithm,
    /// Seconds on the device, with all copies but without opening it.
    pub(super) seconds: f64,
    /// Bytes of the device's memory.
    pub(super) bytes: u64,
}

/// The algorithms that can be picked for a request, with their predictions, the quickest first.
pub(super) fn candidates(solver: &Solver, table: &Table, available: u64) -> Vec<Candidate> {
    let graph = &*solver.graph;
    let may_be_picked = |algorithm: &&ApspAlgorithm| {
        let name = algorithm.info().name;
        if name == tiled_floyd_warshall::ALGORITHM.info.name {
            return !has_exact_floats(graph);
        }
        let signed = graph.has_negative_weights();
        let by_batches = if signed { johnson::ALGORITHM.info.name } else { batched::ALGORITHM.info.name };
        name == by_batches && (!signed || graph.weight_kind() == WeightKind::I32)
    };
    let picked = cuda::ALGORITHMS.iter().filter(may_be_picked);
    let mut candidates: Vec<Candidate> =
        picked.map(|algorithm| candidate(algorithm, &Parameters::default(), solver, table, available)).collect();
    candidates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    candidates
}

/// An algorithm with its prediction.
pub(super) fn candidate(
    algorithm: &'static ApspAlgorithm,
    parameters: &Parameters,
    solver: &Solver,
    table: &Table,
    available: u64,
) -> Candidate {
    let graph = &*solver.graph;
    let vertices = graph.vertices() as f64;
    let work = on_device(algorithm, parameters, graph, table.sources.len());
    let back = if table.facts { 0.0 } else { table.cells() as f64 * table.distance_bytes as f64 / COPYING };
    let (seconds, plan) = match algorithm {
        ApspAlgorithm::OnMatrix(algorithm) => {
            let there = vertices * vertices * matrix::first_cell(algorithm, parameters, graph).bytes() as f64;
            // Facts come from rows on the host.
            let back = table.cells() as f64 * table.distance_bytes as f64 / COPYING;
            // A matrix beyond the device's memory takes the host's memory, and is worked on only where a GPU is asked
            // for.
            let device_bytes = if matches!(solver.engine, Engine::Cuda(_)) { available } else { u64::MAX };
            let room = Room { devices: 1, device_bytes, host_bytes: u64::MAX, multiprocessors: 1 };
            let plan = matrix::plan_matrix(algorithm, parameters, graph, &room, None, table.successors_of());
            (there / COPYING + work + back, plan.unwrap_or_default())
        }
        // Rows come back while others are searched for.
        ApspAlgorithm::BySearches(algorithm) => {
            let there = 8.0 * (graph.arcs() as f64 + vertices);
            let plan = by_searches::device_plan(algorithm, parameters, graph, table, available);
            (there / COPYING + work.max(back), plan)
        }
    };
    Candidate { algorithm, seconds, bytes: plan.device_bytes() }
}

/// The quickest candidate that fits the available memory; `None` if none does.
pub(super) fn quickest(solver: &Solver, table: &Table, available: u64) -> Option<Candidate> {
    candidates(solver, table, available).into_iter().find(|candidate| candidate.bytes <= available)
}

/// The seconds for opening the device, 0 if it is open.
pub(super) fn opening(solver: &Solver) -> f64 {
    if solver.device().is_open() { 0.0 } else { OPENING }
}

/// The algorithm to run on a GPU if none was asked for, and why: the quickest of those that fit its memory.
pub(super) fn pick(solver: &Solver, table: &Table) -> (String, String) {
    let available = solver.allowed_on_device().unwrap_or(u64::MAX);
    let candidates = candidates(solver, table, available);
    let in_words: Vec<String> = candidates
        .iter()
        .map(|candidate| {
            let fits = if candidate.bytes > available { ", but no room" } else { "" };
            format!("{} predicted for `{}`{fits}", in_words(candidate.seconds), candidate.algorithm.info().name)
        })
        .collect();
    let fitting = candidates.iter().find(|candidate| candidate.bytes <= available);
    let best = fitting.or(candidates.first()).map_or(&cuda::ALGORITHMS[0], |candidate| candidate.algorithm);
    (best.info().name.to_owned(), in_words.join(", "))
}

/// Whether a GPU is predicted to be quicker, all copies and its opening included; and why, or why not.
pub(super) fn pays(request: &Apsp, solver: &Solver, table: &Table) -> std::result::Result<String, String> {
    if let Some(reason) = solver.no_device() {
        return Err(reason);
    }
    let graph = &*solver.graph;
    let [dense, sparse] = on_cpu(solver, table);
    let best = |available: u64| match request.algorithm.as_deref() {
        None => {
            let best = quickest(solver, table, available);
            best.ok_or_else(|| "no algorithm of a GPU takes this graph in its memory".to_owned())
        }
        Some(name) => {
            let found = parse_algorithm(cuda::ALGORITHMS, cuda::ApspAlgorithm::info, name);
            let (algorithm, parameters) = found.map_err(|_| format!("only the CPU has `{name}`"))?;
            let info = algorithm.info();
            if has_exact_floats(graph) || (graph.has_negative_weights() && !info.negative_weights) {
                return Err(format!("on a GPU, `{}` is not for weights below 0, or would round them", info.name));
            }
            Ok(candidate(algorithm, &parameters, solver, table, available))
        }
    };
    let cpu = match request.algorithm.as_deref() {
        None => dense.min(sparse),
        Some(name) => {
            let on_cpu = parse_algorithm(ALGORITHMS, |entry| &entry.info, name).map_err(|error| error.to_string())?.0;
            if on_cpu.needs_matrix { dense } else { sparse }
        }
    };
    let opening = opening(solver);
    let gpu = best(u64::MAX)?.seconds + opening;
    if gpu < cpu {
        // Now it is worth opening the device, to see what it has room for.
        let available = solver.closing_a_lost_device(solver.allowed_on_device()).map_err(|error| error.to_string())?;
        let Candidate { seconds, bytes, .. } = best(available)?;
        return Predicted { gpu: seconds + opening, cpu }.gpu_pays(solver, bytes);
    }
    Predicted { gpu, cpu }.gpu_pays(solver, 0)
}

/// The algorithm to run on the CPU if none was asked for, and why.
pub(super) fn pick_on_cpu(solver: &Solver, table: &Table) -> (String, String) {
    let graph = &*solver.graph;
    let vertices = graph.vertices() as f64;
    let [dense, sparse] = on_cpu(solver, table);
    let fits = vertices * vertices * table.distance_bytes as f64 <= solver.memory as f64 / 2.0;
    let exact_floats = has_exact_floats(graph);
    let unit = graph.weight_kind() == WeightKind::Unit;
    let (name, reason) = if dense < sparse && fits && !exact_floats && !unit {
        let density = graph.arcs() as f64 / (vertices * vertices) * 100.0;
        return ("tiled-floyd-warshall".into(), format!("{density:.0} % of all pairs are arcs"));
    } else if exact_floats {
        ("batched", "some weights are negative floats, which reweighting would round")
    } else if graph.has_negative_weights() {
        ("johnson", "some weights are negative and the graph is sparse")
    } else {
        ("batched", "the graph is sparse")
    };
    (name.into(), reason.into())
}
