//! How long all-pairs shortest paths are predicted to take on each engine, and which algorithm is picked by that. The
//! bench prints predicted times beside measured times.

use super::super::hierarchy::SIGNED;
use super::table::Table;
use super::{Algorithm, by_searches, has_exact_floats, on_matrix as matrix};
use crate::Engine;
use crate::algorithms::{AlgorithmInfo, Parameters, Workload, parse_algorithm};
use crate::cpu::apsp::{
    self as cpu, ALGORITHMS, batched as batched_on_cpu, hierarchy, johnson as johnson_on_cpu, repeated_searches,
    tiled_floyd_warshall as tiled_on_cpu,
};
use crate::cuda::apsp::strips::Room;
use crate::cuda::apsp::{
    self as cuda, ApspAlgorithm, batched, hierarchy as hierarchy_on_device, johnson, repeated_sssp,
    tiled_floyd_warshall,
};
use crate::graph::{Graph, WeightKind};
use crate::plan::Plan;
use crate::problems::Apsp;
use crate::solver::Solver;
use crate::solver::costs::{COPYING, Predicted, in_words};

/// The work on this table.
fn workload<'a>(solver: &Solver, table: &Table, parameters: &'a Parameters) -> Workload<'a> {
    solver.workload(solver.weighted_facts(), parameters, table.sources.len())
}

/// Predicted seconds of an algorithm on the CPU. A search that may end early settles, of vertices in random order, as
/// many as come before the last of the targets.
fn on_cpu(algorithm: &cpu::ApspAlgorithm, parameters: &Parameters, solver: &Solver, table: &Table) -> f64 {
    /// Filling a cell of a row that a search does not reach.
    const CELL: f64 = 6e-9;
    let mut seconds = if_all_is_reached(algorithm, parameters, solver, table);
    if !algorithm.needs_matrix && !algorithm.needs_metric() {
        seconds = of_what_is_reached(seconds, CELL / solver.team.threads() as f64, solver, table);
    }
    seconds + (algorithm.seconds_before)(&workload(solver, table, parameters))
}

/// The same of searches that reach all vertices.
fn if_all_is_reached(algorithm: &cpu::ApspAlgorithm, parameters: &Parameters, solver: &Solver, table: &Table) -> f64 {
    let seconds = (algorithm.info.seconds)(&workload(solver, table, parameters));
    match &table.targets {
        Some(targets) if algorithm.ends_at_targets && !solver.graph.has_negative_weights() => {
            let targets = targets.len() as f64;
            seconds * targets / (targets + 1.0)
        }
        _ => seconds,
    }
}

/// Predicted seconds of searches, given those of searches that reach all vertices, and of filling a cell that they do not reach.
fn of_what_is_reached(seconds: f64, cell: f64, solver: &Solver, table: &Table) -> f64 {
    let share = reached_share(solver, table);
    let cells = table.sources.len() as f64 * solver.graph.vertices() as f64;
    seconds * share + cells * cell * (1.0 - share)
}

/// The share of the vertices that searches reach. Looks at a directed graph only if that takes far less time than the quickest
/// algorithm if all is reached; else takes it to be half.
fn reached_share(solver: &Solver, table: &Table) -> f64 {
    /// Looking at a vertex or an arc some three times.
    const LOOK: f64 = 15e-9;
    const FAR_LESS: f64 = 0.1;
    const UNKNOWN: f64 = 0.5;
    *table.reached.get_or_init(|| {
        let graph = &*solver.graph;
        if !graph.is_directed() {
            return 1.0;
        }
        let none = Parameters::default();
        let here = made_here(graph).into_iter().map(|algorithm| if_all_is_reached(algorithm, &none, solver, table));
        // A hierarchy counts if it is there.
        let swept = solver.seconds_of_sweeps(table.sources.len(), targets_of(table), table.facts_of_whole_rows(), 0.0);
        let mut least = here.chain(swept).fold(f64::INFINITY, f64::min);
        if !matches!(solver.engine, Engine::Cpu) && solver.no_quicker_device(least).is_none() {
            let there = (batched::ALGORITHM.info.seconds)(&workload(solver, table, &none));
            least = least.min(there + solver.seconds_until_open());
        }
        let looking = (graph.vertices() + graph.arcs()) as f64 * LOOK;
        if solver.knows_reached_share() || looking <= FAR_LESS * least { solver.reached_share() } else { UNKNOWN }
    })
}

/// How many targets are asked for, if not all vertices.
fn targets_of(table: &Table) -> Option<usize> {
    table.targets.as_ref().map(|targets| targets.len())
}

/// The algorithms of the CPU that need no hierarchy and can be picked for a graph.
fn made_here(graph: &Graph) -> Vec<&'static cpu::ApspAlgorithm> {
    let exact_floats = has_exact_floats(graph);
    let by_batches = if graph.has_negative_weights() && !exact_floats {
        &johnson_on_cpu::ALGORITHM
    } else {
        // Reweighting would round negative floats.
        &batched_on_cpu::ALGORITHM
    };
    let on_matrix = (graph.weight_kind() != WeightKind::Unit && !exact_floats).then_some(&tiled_on_cpu::ALGORITHM);
    on_matrix.into_iter().chain([by_batches, &repeated_searches::ALGORITHM]).collect()
}

/// An algorithm of the CPU that may be picked, and its prediction.
struct CandidateOnCpu {
    algorithm: &'static cpu::ApspAlgorithm,
    seconds: f64,
    /// Whether there is memory for it.
    fits: bool,
}

/// The algorithms of the CPU that can be picked for a table: those that fit the memory first, the quickest of them
/// first.
fn candidates_on_cpu(solver: &Solver, table: &Table) -> Vec<CandidateOnCpu> {
    let none = Parameters::default();
    let candidate = |(algorithm, seconds): (&'static cpu::ApspAlgorithm, f64)| CandidateOnCpu {
        algorithm,
        seconds,
        fits: table.bytes_on_cpu(algorithm, solver) <= solver.memory / 2,
    };
    let predicted =
        made_here(&solver.graph).into_iter().map(|algorithm| (algorithm, on_cpu(algorithm, &none, solver, table)));
    let mut candidates: Vec<CandidateOnCpu> = predicted.map(candidate).collect();
    let otherwise = least_seconds(candidates.iter().map(|candidate| (candidate.fits, candidate.seconds)));
    let otherwise = otherwise.min(seconds_elsewhere(solver, table, otherwise));
    if let Some(seconds) =
        solver.seconds_of_sweeps(table.sources.len(), targets_of(table), table.facts_of_whole_rows(), otherwise)
    {
        let algorithm = &hierarchy::ALGORITHM;
        let mut plan = Plan::new();
        solver.plan_hierarchy(false, &mut plan);
        let bytes = table.bytes_on_cpu(algorithm, solver).saturating_add(plan.memory_bytes());
        candidates.push(CandidateOnCpu { algorithm, seconds, fits: bytes <= solver.memory / 2 });
    }
    candidates.sort_by(|a, b| b.fits.cmp(&a.fits).then(a.seconds.total_cmp(&b.seconds)));
    candidates
}

/// Predicted seconds of the quickest algorithm on a GPU without a hierarchy, its opening included; infinite if there is no GPU that
/// can be quicker than the CPU, or the CPU is asked for.
fn seconds_elsewhere(solver: &Solver, table: &Table, on_cpu: f64) -> f64 {
    if matches!(solver.engine, Engine::Cpu) || solver.no_quicker_device(on_cpu).is_some() {
        return f64::INFINITY;
    }
    let candidates = candidates_without_hierarchy(solver, table, u64::MAX);
    least_seconds(candidates.iter().map(|candidate| (true, candidate.seconds))) + solver.seconds_until_open()
}

/// The seconds of the quickest that fits, or of the quickest if none does.
fn least_seconds(candidates: impl Iterator<Item = (bool, f64)> + Clone) -> f64 {
    let quickest = |must_fit: bool| {
        let seconds = candidates.clone().filter(|(fits, _)| *fits || !must_fit).map(|(_, seconds)| seconds);
        seconds.min_by(f64::total_cmp)
    };
    quickest(true).or_else(|| quickest(false)).unwrap_or(f64::INFINITY)
}

/// Predicted seconds for which an algorithm keeps a device busy.
pub(super) fn on_device(info: &AlgorithmInfo, parameters: &Parameters, solver: &Solver, table: &Table) -> f64 {
    /// Filling a cell of a row that a search does not reach.
    const CELL: f64 = 5e-11;
    let swept = (info.name == hierarchy_on_device::ALGORITHM.info.name)
        .then(|| {
            solver.seconds_of_sweeps_on_device(table.sources.len(), targets_of(table), table.facts_of_whole_rows(), 0.0)
        })
        .flatten();
    let found = || {
        let seconds = (info.seconds)(&workload(solver, table, parameters));
        let searches = [batched::ALGORITHM, johnson::ALGORITHM, repeated_sssp::NEAR_FAR, repeated_sssp::ZERO_COPY];
        let searches = searches.iter().any(|algorithm| algorithm.info.name == info.name);
        if searches { of_what_is_reached(seconds, CELL, solver, table) } else { seconds }
    };
    swept.map_or_else(found, |[_, sweeping]| sweeping)
}

/// How many devices share the work.
pub(super) fn devices(algorithm: &Algorithm, parameters: &Parameters, solver: &Solver, table: &Table) -> usize {
    /// Bytes a second of a matrix that several devices leave in the host's memory, until it is where it was asked for.
    const BROUGHT_BACK: f64 = 2.9e9;
    let bytes = table.cells() as f64 * table.distance_bytes as f64;
    let work = on_device(algorithm.info(), parameters, solver, table);
    let seconds = |devices: usize| match algorithm {
        Algorithm::OnMatrix(_) => work / devices as f64 + bytes / if devices > 1 { BROUGHT_BACK } else { COPYING },
        Algorithm::BySearches(_) if table.facts => work / devices as f64,
        Algorithm::BySearches(_) => (work / devices as f64).max(bytes / COPYING),
        Algorithm::Cpu(_) | Algorithm::Sums(_) => 0.0,
    };
    solver.devices_worth(seconds)
}

/// An algorithm of the CUDA engine that may be picked, and its prediction.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) algorithm: &'static ApspAlgorithm,
    /// Seconds on the device, with all copies but without opening it.
    pub(super) seconds: f64,
    /// Bytes of the device's memory; 0 if nobody limits them.
    pub(super) bytes: u64,
}

/// The algorithms that can be picked for a request, with their predictions, the quickest first.
pub(super) fn candidates(solver: &Solver, table: &Table, available: u64) -> Vec<Candidate> {
    let mut candidates = candidates_without_hierarchy(solver, table, available);
    let otherwise = least_seconds(candidates.iter().map(|candidate| (candidate.bytes <= available, candidate.seconds)));
    if let Some([making, _]) = solver.seconds_of_sweeps_on_device(
        table.sources.len(),
        targets_of(table),
        table.facts_of_whole_rows(),
        otherwise,
    ) {
        let mut swept = candidate(&SWEPT, &Parameters::default(), solver, table, available);
        swept.seconds += making;
        candidates.push(swept);
    }
    candidates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    candidates
}

/// Those that need no hierarchy.
fn candidates_without_hierarchy(solver: &Solver, table: &Table, available: u64) -> Vec<Candidate> {
    let graph = &*solver.graph;
    let may_be_picked = |algorithm: &&ApspAlgorithm| {
        let name = algorithm.info().name;
        if name == tiled_floyd_warshall::ALGORITHM.info.name {
            return !has_exact_floats(graph);
        }
        let signed = graph.has_negative_weights();
        if signed {
            return name == johnson::ALGORITHM.info.name && graph.weight_kind() == WeightKind::I32;
        }
        let by_weights = graph.weight_kind() != WeightKind::Unit;
        name == batched::ALGORITHM.info.name || by_weights && name == repeated_sssp::NEAR_FAR.info.name
    };
    let of = |algorithm| candidate(algorithm, &Parameters::default(), solver, table, available);
    let mut candidates: Vec<Candidate> = cuda::ALGORITHMS.iter().filter(may_be_picked).map(of).collect();
    // Without weights, `batched` leaves its arcs to the host.
    let has_weights = graph.weight_kind() != WeightKind::Unit && !graph.has_negative_weights();
    if has_weights && candidates.iter().all(|candidate| candidate.bytes > available) {
        candidates.push(of(&BEYOND_MEMORY));
    }
    candidates
}

/// The algorithm by weights that needs the least memory of a device.
static BEYOND_MEMORY: ApspAlgorithm = ApspAlgorithm::BySearches(repeated_sssp::ZERO_COPY);

/// The one algorithm that answers from a hierarchy.
static SWEPT: ApspAlgorithm = ApspAlgorithm::BySearches(hierarchy_on_device::ALGORITHM);

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
    let work = on_device(algorithm.info(), parameters, solver, table);
    let back = if table.facts { 0.0 } else { table.cells() as f64 * table.distance_bytes as f64 / COPYING };
    let (seconds, plan) = match algorithm {
        ApspAlgorithm::OnMatrix(algorithm) => {
            let there = vertices * vertices * algorithm.first_cell(&solver.weighted_facts(), parameters).bytes() as f64;
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
            let shortcuts = solver.prepared_hierarchy().filter(|_| algorithm.needs_metric);
            let copied = shortcuts.map_or(graph.arcs() as f64, |hierarchy| 3.0 * hierarchy.shortcuts() as f64);
            let there = 8.0 * (copied + vertices);
            // For its plan a hierarchy is cut into pieces, which takes longer than many an answer on the CPU.
            let (work, plan) = match available {
                u64::MAX => (work, Plan::new()),
                _ => {
                    let batch = by_searches::widest_batch(algorithm, parameters, solver, table, available);
                    (on_device(&algorithm.info, &batch.parameters, solver, table), batch.plan)
                }
            };
            let all = if algorithm.searches_at_start { work + back } else { work.max(back) };
            (there / COPYING + all, plan)
        }
    };
    Candidate { algorithm, seconds, bytes: plan.device_bytes() }
}

/// The quickest candidate that fits the available memory; `None` if none does.
pub(super) fn quickest(solver: &Solver, table: &Table, available: u64) -> Option<Candidate> {
    candidates(solver, table, available).into_iter().find(|candidate| candidate.bytes <= available)
}

/// The algorithm to run on a GPU if none was asked for, and why: the quickest of those that fit its memory.
pub(super) fn pick(solver: &Solver, table: &Table) -> (String, String) {
    let asked_for = solver.devices_worth(|_| 0.0);
    let available = solver.allowed_on_each_of(asked_for).unwrap_or(u64::MAX);
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
    if let Some(reason) = solver.no_device_for_a_new_hierarchy(request.algorithm.as_deref()) {
        return Err(reason);
    }
    let cpu = match request.algorithm.as_deref() {
        None => candidates_on_cpu(solver, table)[0].seconds,
        Some(name) => {
            let found = parse_algorithm(ALGORITHMS, |entry| &entry.info, name).map_err(|error| error.to_string())?;
            let swept = (found.0.info.name == hierarchy::ALGORITHM.info.name).then(|| {
                let targets = table.targets.as_ref().map(|targets| targets.len());
                solver.seconds_of_sweeps(table.sources.len(), targets, table.facts_of_whole_rows(), f64::INFINITY)
            });
            swept.flatten().unwrap_or_else(|| on_cpu(found.0, &found.1, solver, table))
        }
    };
    if let Some(reason) = solver.no_quicker_device(cpu) {
        return Err(reason);
    }
    let graph = &*solver.graph;
    let best = |available: u64| match request.algorithm.as_deref() {
        None => {
            let best = quickest(solver, table, available);
            best.ok_or_else(|| "a GPU has too little memory for this graph".to_owned())
        }
        Some(name) => {
            let found = parse_algorithm(cuda::ALGORITHMS, cuda::ApspAlgorithm::info, name);
            let (algorithm, parameters) = found.map_err(|_| format!("only the CPU has `{name}`"))?;
            let info = algorithm.info();
            if has_exact_floats(graph) || (graph.has_negative_weights() && !info.negative_weights) {
                return Err(format!("on a GPU, `{}` is not for weights below 0, or would round them", info.name));
            }
            if info.name == hierarchy_on_device::ALGORITHM.info.name && !solver.suits_a_device() {
                return Err(SIGNED.to_owned());
            }
            Ok(candidate(algorithm, &parameters, solver, table, available))
        }
    };
    let opening = solver.seconds_until_open();
    let gpu = best(u64::MAX)?.seconds + opening;
    if gpu < cpu {
        // Now it is worth opening the device, to see what it has room for.
        let available = solver.closing_a_lost_device(solver.allowed_on_device()).map_err(|error| error.to_string())?;
        let Candidate { seconds, bytes, .. } = best(available)?;
        return Predicted { gpu: seconds + opening, cpu }.gpu_pays(solver, bytes);
    }
    Predicted { gpu, cpu }.gpu_pays(solver, 0)
}

/// Predicted seconds of the quickest algorithm that makes rows: on the CPU, or on a GPU once that is open.
pub(super) fn seconds_of_rows(solver: &Solver, table: &Table, is_on_cuda: bool) -> f64 {
    if is_on_cuda {
        return quickest(solver, table, u64::MAX).map_or(f64::INFINITY, |candidate| candidate.seconds);
    }
    candidates_on_cpu(solver, table)[0].seconds
}

/// The algorithm to run on the CPU if none was asked for, and why.
pub(super) fn pick_on_cpu(solver: &Solver, table: &Table) -> (String, String) {
    let candidates = candidates_on_cpu(solver, table);
    let described = candidates.iter().map(|candidate| {
        let fits = if candidate.fits { "" } else { ", but little room" };
        format!("{} predicted for `{}`{fits}", in_words(candidate.seconds), candidate.algorithm.info.name)
    });
    (candidates[0].algorithm.info.name.to_owned(), described.collect::<Vec<_>>().join(", "))
}
