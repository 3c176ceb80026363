//! All-pairs shortest paths on GPUs: what a matrix takes there and how long, the work, and its rows brought back.

use std::sync::Arc;
use std::time::Instant;

use super::{Ran, Table, has_exact_floats};
use crate::algorithms::{Parameters, parse_algorithm};
use crate::cpu::apsp::potentials::potentials;
use crate::cpu::apsp::{ALGORITHMS, ApspLane, ApspOutput, ApspTask};
use crate::cuda::apsp::strips::Room;
use crate::cuda::apsp::{self as cuda, ApspAlgorithm, DenseLane, DenseTask, Finished, Solved};
use crate::cuda::device::Device;
use crate::graph::{DistanceValue, F32Lane, F64Lane, Graph, I32Lane, U32Narrow, UnitLane, VertexId, WeightKind};
use crate::plan::Plan;
use crate::problems::{Apsp, Seconds};
use crate::solver::Solver;
use crate::solver::place::{COPYING, OPENING, Predicted};
use crate::{Engine, Error, Result};

/// Relaxations a second on a device.
const RELAXATIONS: f64 = 12e12;
/// What a stage takes at least, and how many vertices it admits.
const STAGE_SECONDS: f64 = 60e-6;
const STAGE_VERTICES: f64 = 128.0;
/// Seconds of one thread of the CPU for a relaxation, for an arc and a source of a weighted graph, and of one without
/// weights.
const CPU_RELAXATION: f64 = 0.02e-9;
const CPU_ARC: f64 = 0.8e-9;
const CPU_UNIT_ARC: f64 = 0.1e-9;

/// What there is for a matrix; one device without other limits than those set, where none can be opened.
fn room(solver: &Solver<'_>) -> Room {
    match solver.devices_and_memory() {
        Ok((devices, bytes)) => room_of(&devices, bytes),
        Err(_) => Room { devices: 1, device_bytes: solver.limit.unwrap_or(u64::MAX), multiprocessors: 1 },
    }
}

fn room_of(devices: &[Arc<dyn Device>], device_bytes: u64) -> Room {
    let multiprocessors = devices.iter().map(|device| device.properties().multiprocessors).min().unwrap_or(1);
    Room { devices: devices.len() as u64, device_bytes, multiprocessors }
}

/// What the algorithm takes of each device, and of the host.
fn plan_matrix(algorithm: &ApspAlgorithm, parameters: &Parameters, graph: &Graph, room: &Room) -> Plan {
    fn of<L: DenseLane>(algorithm: &ApspAlgorithm, parameters: &Parameters, graph: &Graph, room: &Room) -> Plan {
        /// Narrower cells may have to be repeated in these; wider ones hardly ever.
        const USUAL_BYTES: u64 = 4;
        let cells = algorithm.cells::<L>(graph, parameters, None);
        let usual = cells.iter().find(|cell| cell.bytes() >= USUAL_BYTES).or(cells.last());
        let vertices = graph.vertices() as u64;
        usual.map_or_else(Plan::new, |&cell| algorithm.plan_matrix::<L>(cell, vertices, parameters, room))
    }
    if graph.vertices() == 0 {
        return Plan::new();
    }
    match graph.weight_kind() {
        WeightKind::Unit => of::<UnitLane>(algorithm, parameters, graph, room),
        WeightKind::U32 => of::<U32Narrow>(algorithm, parameters, graph, room),
        WeightKind::I32 => of::<I32Lane>(algorithm, parameters, graph, room),
        WeightKind::F32 => of::<F32Lane>(algorithm, parameters, graph, room),
        WeightKind::F64 => of::<F64Lane>(algorithm, parameters, graph, room),
    }
}

/// Adds what the algorithm takes, with the space for its state if that is kept.
pub(super) fn plan(
    algorithm: &ApspAlgorithm,
    parameters: &Parameters,
    solver: &Solver<'_>,
    is_kept: bool,
    plan: &mut Plan,
) -> Result<()> {
    let matrix = plan_matrix(algorithm, parameters, solver.graph, &room(solver));
    for item in matrix.disk_items().iter().filter(|_| is_kept) {
        plan.disk(item.what.clone(), item.bytes);
    }
    for item in matrix.memory_items() {
        plan.memory(item.what.clone(), item.bytes);
    }
    for item in matrix.device_items() {
        plan.device(item.what.clone(), item.bytes);
    }
    Ok(())
}

/// Whether a GPU is predicted to be quicker, all copies and its opening included; and why, or why not.
pub(super) fn pays(request: &Apsp, solver: &Solver<'_>, table: &Table) -> std::result::Result<String, String> {
    if let Some(reason) = crate::cuda::plainly_absent() {
        return Err(reason);
    }
    let graph = solver.graph;
    if has_exact_floats(graph) {
        return Err("some weights are negative floats, which a matrix would round".into());
    }
    let (vertices, sources) = (graph.vertices() as f64, table.sources.len() as f64);
    let threads = solver.team.threads() as f64;
    let dense = vertices.powi(3) * CPU_RELAXATION / threads;
    let of_arc = if graph.weight_kind() == WeightKind::Unit { CPU_UNIT_ARC } else { CPU_ARC };
    let sparse = sources * (graph.arcs() as f64 + vertices) * of_arc / threads;
    let (name, cpu) = match request.algorithm.as_deref() {
        None => (cuda::ALGORITHMS[0].info.name, dense.min(sparse)),
        Some(name) => {
            let on_cpu = parse_algorithm(ALGORITHMS, |entry| &entry.info, name).map_err(|error| error.to_string())?.0;
            if parse_algorithm(cuda::ALGORITHMS, |entry| &entry.info, name).is_err() {
                return Err(format!("`{name}` is only there"));
            }
            (name, if on_cpu.needs_matrix { dense } else { sparse })
        }
    };
    let (algorithm, parameters) =
        parse_algorithm(cuda::ALGORITHMS, |entry| &entry.info, name).map_err(|error| error.to_string())?;
    let opening = if solver.cuda().is_open() { 0.0 } else { OPENING };
    let there = vertices * vertices * 4.0;
    let back = table.cells() as f64 * table.distance_bytes as f64;
    let work = vertices.powi(3) / RELAXATIONS + vertices / STAGE_VERTICES * STAGE_SECONDS;
    let gpu = opening + (there + back) / COPYING + work;
    // A matrix that is not in one piece on one device is worked on only where that is asked for.
    let room = Room { devices: 1, device_bytes: u64::MAX, multiprocessors: 1 };
    Predicted { gpu, cpu }.gpu_pays(solver, plan_matrix(algorithm, &parameters, graph, &room).device_bytes())
}

/// Runs an algorithm into `output`.
pub(super) fn run<L: ApspLane + DenseLane>(
    solver: &Solver<'_>,
    algorithm: &ApspAlgorithm,
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
) -> Result<Ran> {
    let graph = task.graph;
    let mut ran = Ran { engine: "cuda".into(), device_bytes: 0, seconds: Seconds::default(), statistics: Vec::new() };
    if graph.vertices() == 0 || task.sources.is_empty() {
        return hand_out(task, output, &mut ran, |_, _| Ok(()));
    }
    // Floats are added up in another order here: whether a cycle is negative, the exact sum decides.
    let negative = graph.has_negative_weights();
    if has_exact_floats(graph) {
        potentials::<L>(task.adjacency, graph, task.sources, task.control)?;
    }
    let reached = (negative && !task.is_square()).then(|| reached_from(graph, task.sources));
    let state = if let ApspOutput::Blocks(consumer) = &output { consumer.kept_state() } else { None };
    let (parameters, control) = (task.parameters, task.control);
    let dense = DenseTask { graph, takes_part: reached.as_deref(), parameters, control, state: state.as_ref() };
    let (devices, available) = solver.devices_and_memory()?;
    let room = room_of(&devices, available);
    ran.device_bytes = plan_matrix(algorithm, task.parameters, graph, &room).device_bytes();
    let mut state = solver.cuda();
    state.give_up_prepared();
    let mut solve = || match task.team.install(|| algorithm.solve::<L>(&devices, &room, &dense))? {
        Solved::Matrix(computed) => {
            let used = devices[..computed.matrix.devices()].iter();
            ran.engine = Engine::Cuda(used.map(|device| device.properties().ordinal).collect()).to_string();
            ran.statistics = computed.statistics;
            [ran.seconds.prepare, ran.seconds.solve] = computed.seconds;
            Ok(computed.matrix)
        }
        Solved::TooNarrow => Err(Error::DistanceOverflow { lane: L::NAME }),
        Solved::NegativeCycle => {
            potentials::<L>(task.adjacency, graph, task.sources, task.control)?;
            Err(Error::invalid("rounding makes a cycle negative that is not; `batched` solves this graph on the CPU"))
        }
    };
    let result = solve();
    let result = result.and_then(|matrix| {
        let rows = |sources: &[VertexId], to: &mut [L::Distance]| read_rows(task, &matrix, sources, to);
        hand_out(task, output, &mut ran, rows)
    });
    // A device may be lost after an error: the next request opens it again.
    if matches!(result, Err(Error::Device(_))) {
        state.close();
    }
    result
}

/// Which vertices can be reached.
fn reached_from(graph: &Graph, sources: &[VertexId]) -> Vec<bool> {
    let mut reached = vec![false; graph.vertices()];
    let mut stack = Vec::new();
    for &source in sources {
        if !std::mem::replace(&mut reached[source as usize], true) {
            stack.push(source);
        }
    }
    while let Some(u) = stack.pop() {
        for &v in &graph.csr().targets()[graph.csr().row(u)] {
            if !std::mem::replace(&mut reached[v as usize], true) {
                stack.push(v);
            }
        }
    }
    reached
}

/// The rows of some sources, with the columns asked for.
fn read_rows<L: ApspLane + DenseLane>(
    task: &ApspTask<'_, L>,
    matrix: &Finished,
    sources: &[VertexId],
    to: &mut [L::Distance],
) -> Result<()> {
    let (vertices, columns) = (task.graph.vertices(), task.columns());
    if columns == 0 {
        return Ok(());
    }
    // Rows that follow each other come at once, as many as a block may have where columns are picked from them.
    let most = match task.targets {
        None => usize::MAX,
        Some(_) => (task.block_bytes as usize / (vertices * size_of::<L::Distance>())).max(1),
    };
    let (mut sources, mut to) = (sources, to);
    while !sources.is_empty() {
        let follow = sources.windows(2).take_while(|pair| pair[0].checked_add(1) == Some(pair[1])).count() + 1;
        let count = follow.min(most);
        let (part, rest) = std::mem::take(&mut to).split_at_mut(count * columns);
        let first = u64::from(sources[0]);
        match task.targets {
            None => matrix.read_rows::<L>(first, part)?,
            Some(targets) => {
                let mut whole = vec![L::Distance::UNREACHABLE; count * vertices];
                matrix.read_rows::<L>(first, &mut whole)?;
                for (cells, row) in part.chunks_exact_mut(columns).zip(whole.chunks_exact(vertices)) {
                    cells.iter_mut().zip(targets).for_each(|(cell, &target)| *cell = row[target as usize]);
                }
            }
        }
        (sources, to) = (&sources[count..], rest);
    }
    Ok(())
}

/// Hands out rows, which `rows` reads.
fn hand_out<L: ApspLane>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
    ran: &mut Ran,
    mut rows: impl FnMut(&[VertexId], &mut [L::Distance]) -> Result<()>,
) -> Result<Ran> {
    let mut download = 0.0;
    let mut timed = |sources: &[VertexId], to: &mut [L::Distance]| {
        let start = Instant::now();
        let result = rows(sources, to);
        download += start.elapsed().as_secs_f64();
        result
    };
    match output {
        ApspOutput::Matrix(matrix) => timed(task.sources, matrix)?,
        ApspOutput::Blocks(consumer) => {
            let order: Vec<usize> = (0..task.sources.len()).collect();
            let have = consumer.start(&order)?;
            let row_bytes = (task.columns() * size_of::<L::Distance>()).max(1) as u64;
            let block = (task.block_bytes / row_bytes).clamp(1, order.len().max(1) as u64) as usize;
            let mut values = Vec::new();
            for rows in order[have..].chunks(block) {
                values.resize(rows.len() * task.columns(), L::Distance::UNREACHABLE);
                timed(&task.sources[rows[0]..=rows[rows.len() - 1]], &mut values)?;
                values = consumer.rows(rows, values)?;
                task.control.check()?;
            }
        }
    }
    Ok(Ran {
        engine: std::mem::take(&mut ran.engine),
        device_bytes: ran.device_bytes,
        seconds: Seconds { download, ..std::mem::take(&mut ran.seconds) },
        statistics: std::mem::take(&mut ran.statistics),
    })
}
