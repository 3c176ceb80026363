//! All-pairs shortest paths on the matrix of all vertices, on GPUs: the plan, the work, and the rows brought back.

use std::sync::Arc;
use std::time::Instant;

use super::has_exact_floats;
use super::ran::Ran;
use super::table::{Table, block_bytes};
use crate::algorithms::{GraphFacts, Parameters};
use crate::all_pairs::potentials::potentials;
use crate::all_pairs::{ApspOutput, ApspTask};
use crate::cpu::apsp::MinPlusOnCpu;
use crate::cuda::apsp::strips::{Kept, Room};
use crate::cuda::apsp::{Cell, DenseTask, Finished, MatrixAlgorithm, MinPlusOnDevice, Solved};
use crate::cuda::device::Device;
use crate::graph::{DistanceValue, Graph, VertexId};
use crate::problems::{KeptState, disk_space_of};
use crate::solver::Solver;
use crate::solver::semirings::in_semiring;
use crate::{Engine, Error, Result, memory};
use crate::{Plan, available_memory};

/// The room for a matrix. If no device can be opened, the room is one device with no limits but those set.
fn room(solver: &Solver, table: &Table) -> Room {
    match solver.devices_and_memory(table.devices()) {
        Ok((devices, bytes)) => room_of(&devices, bytes),
        Err(_) => Room { devices: 1, device_bytes: solver.limit.unwrap_or(u64::MAX), ..room_of(&[], 0) },
    }
}

fn room_of(devices: &[Arc<dyn Device>], device_bytes: u64) -> Room {
    let multiprocessors = devices.iter().map(|device| device.properties().multiprocessors).min().unwrap_or(1);
    Room { devices: devices.len() as u64, device_bytes, host_bytes: available_memory(), multiprocessors }
}

/// The memory that the algorithm takes on each device and on the host. It includes the successors of `successors_of`
/// sources, if they are wanted, and resuming from the saved state, if there is one. Should the planned cells turn out
/// too narrow, wider cells take more: they are then planned anew, and refused if they have no room.
pub(super) fn plan_matrix(
    algorithm: &MatrixAlgorithm,
    parameters: &Parameters,
    graph: &Graph,
    room: &Room,
    kept: Option<&Kept>,
    successors_of: Option<u64>,
) -> Result<Plan> {
    fn of<L: MinPlusOnDevice>(
        algorithm: &MatrixAlgorithm,
        parameters: &Parameters,
        graph: &Graph,
        room: &Room,
        kept: Option<&Kept>,
        successors_of: Option<u64>,
    ) -> Result<Plan> {
        /// Narrower cells may have to be repeated in cells of this width, but these are hardly ever repeated in wider
        /// cells.
        const USUAL_BYTES: u64 = 4;
        let cells = algorithm.cells::<L>(&GraphFacts::of(graph), parameters, None)?;
        let usual = cells.iter().find(|cell| cell.bytes() >= USUAL_BYTES).or(cells.last());
        let vertices = graph.vertices() as u64;
        let plan = |&cell: &Cell| algorithm.plan_matrix::<L>(cell, vertices, parameters, room, kept, successors_of);
        Ok(usual.map_or_else(Plan::new, plan))
    }
    if graph.vertices() == 0 {
        return Ok(Plan::new());
    }
    in_semiring!(graph, L, wide => of::<L>(algorithm, parameters, graph, room, kept, successors_of))
}

/// Adds the memory that the algorithm takes, and the disk space for its state if that is kept.
pub(super) fn plan(
    algorithm: &MatrixAlgorithm,
    parameters: &Parameters,
    solver: &Solver,
    table: &Table,
    state: Option<&KeptState>,
    plan: &mut Plan,
) -> Result<()> {
    let kept = Kept::read(state);
    let matrix =
        plan_matrix(algorithm, parameters, &solver.graph, &room(solver, table), kept.as_ref(), table.successors_of())?;
    if let Some(state) = state {
        for item in matrix.disk_items() {
            plan.disk(item.what.clone(), item.bytes.saturating_sub(disk_space_of(&state.path)));
        }
    }
    for item in matrix.memory_items() {
        plan.memory(item.what.clone(), item.bytes);
    }
    for item in matrix.device_items() {
        plan.device(item.what.clone(), item.bytes);
    }
    plan.on_each_of(table.devices());
    if table.targets.is_some() && solver.graph.vertices() > 0 {
        let row_bytes = (solver.graph.vertices() as u64).saturating_mul(table.distance_bytes);
        let most = (block_bytes(solver, table, 0) / row_bytes).max(1).min(table.sources.len() as u64);
        plan.memory("whole rows, of which some columns are wanted", most.saturating_mul(row_bytes));
    }
    Ok(())
}

/// A text for everything that decides how floats are rounded.
pub(super) fn rounding<L: MinPlusOnDevice>(
    algorithm: &MatrixAlgorithm,
    parameters: &Parameters,
    solver: &Solver,
    table: &Table,
    state: Option<&KeptState>,
) -> Result<String> {
    let kept = Kept::read(state);
    algorithm.rounding::<L>(solver.graph.vertices() as u64, parameters, &room(solver, table), kept.as_ref())
}

/// What is wanted beside the distances, and where it goes.
#[derive(Debug, Default)]
pub(super) struct Beside<'a> {
    /// The successors of all sources.
    pub(super) successors: Option<&'a mut [VertexId]>,
    /// The intermediate vertices of all pairs of vertices.
    pub(super) intermediates: Option<&'a mut [VertexId]>,
}

/// Runs an algorithm into `output`, and writes what else is wanted, as far as the device finds that, into `beside`.
pub(super) fn run<L: MinPlusOnCpu + MinPlusOnDevice>(
    solver: &Solver,
    algorithm: &MatrixAlgorithm,
    task: &ApspTask<'_, L>,
    table: &Table,
    output: ApspOutput<'_, L::Distance>,
    beside: Beside<'_>,
) -> Result<Ran> {
    let graph = task.graph;
    let Beside { successors, intermediates } = beside;
    let successors_of = successors.is_some().then_some(task.sources);
    let mut ran = Ran::on("cuda");
    let mut output = output;
    let order = memory::listed("the order of rows", 0..task.sources.len())?;
    // Rows that the consumer has already need no work.
    let have = match &mut output {
        ApspOutput::Matrix(_) => 0,
        ApspOutput::Blocks(consumer) => consumer.start(&order)?,
    };
    if graph.vertices() == 0 || have == order.len() {
        return Ok(ran);
    }
    // Floats are added up in another order here, so the exact sum decides whether a cycle is negative.
    let negative = graph.has_negative_weights();
    if has_exact_floats(graph) {
        potentials::<L>(task.adjacency, graph, task.sources, task.control)?;
    }
    let reached = match negative && !task.is_square() {
        true => Some(reached_from(graph, task.sources)?),
        false => None,
    };
    let state = if let ApspOutput::Blocks(consumer) = &output { consumer.kept_state() } else { None };
    let dense = DenseTask {
        graph,
        takes_part: reached.as_deref(),
        successors_of,
        parameters: task.parameters,
        control: task.control,
        state: state.as_ref(),
    };
    let (devices, available) = solver.devices_and_memory(table.devices())?;
    let mut room = room_of(&devices, available);
    if let ApspOutput::Matrix(distances) = &output {
        // The result has its addresses, but hardly any memory yet.
        room.host_bytes = room.host_bytes.saturating_sub(size_of_val(&**distances) as u64);
    }
    // The engine is free for other requests, such as those of the rows' consumer.
    solver.device().give_up_prepared();
    let mut solve = || match task.team.install(|| algorithm.solve::<L>(&devices, &room, &dense))? {
        Solved::Matrix(computed) => {
            if computed.may_have_left_range && has_left_range::<L>(task, &computed.matrix, reached.as_deref())? {
                return Err(Error::DistanceOverflow { semiring: L::NAME });
            }
            let used = devices[..computed.matrix.devices()].iter();
            ran.engine = Engine::Cuda(used.map(|device| device.properties().ordinal).collect()).to_string();
            ran.statistics = computed.statistics;
            ran.device_bytes = computed.device_bytes;
            [ran.seconds.prepare, ran.seconds.solve, ran.seconds.predecessors] = computed.seconds;
            Ok(computed.matrix)
        }
        Solved::TooNarrow => Err(Error::DistanceOverflow { semiring: L::NAME }),
        Solved::NegativeCycle => {
            potentials::<L>(task.adjacency, graph, task.sources, task.control)?;
            Err(Error::invalid("rounding makes a cycle negative that is not; `batched` solves this graph on the CPU"))
        }
    };
    let result = solve().and_then(|matrix| {
        let rows = |sources: &[VertexId], to: &mut [L::Distance]| read_rows(task, &matrix, sources, to);
        if let Some(successors) = successors {
            let start = Instant::now();
            ran.has_successors = matrix.read_successors(successors)?;
            ran.seconds.download = start.elapsed().as_secs_f64();
        }
        if let Some(intermediates) = intermediates {
            let start = Instant::now();
            if !matrix.read_intermediates(intermediates)? {
                return Err(without_intermediates(algorithm.info.name));
            }
            ran.seconds.download += start.elapsed().as_secs_f64();
        }
        hand_out(task, output, &order[have..], &mut ran.seconds.download, rows)
    });
    result.map(|()| ran)
}

/// Why an algorithm is refused that finds no intermediate vertices.
pub(super) fn without_intermediates(name: &str) -> Error {
    Error::invalid(format!("`{name}` finds no intermediate vertices; `katz-kider` does, on a GPU"))
}

/// Whether a shortest distance has left the range of floats. Where no weight is below 0, a part of a shortest path is
/// no longer than the whole, so only the rows asked for matter; otherwise, the rows of all vertices that can be
/// reached.
fn has_left_range<L: MinPlusOnCpu + MinPlusOnDevice>(
    task: &ApspTask<'_, L>,
    matrix: &Finished,
    reached: Option<&[bool]>,
) -> Result<bool> {
    let graph = task.graph;
    let mut row = memory::filled("a row of distances", graph.vertices(), L::Distance::UNREACHABLE)?;
    let mut has_left = |source: VertexId| -> Result<bool> {
        task.control.check()?;
        matrix.read_rows::<L>(source.into(), &mut row)?;
        Ok(graph.has_left_range(&row))
    };
    let all = (0..graph.vertices() as VertexId).filter(|&v| reached.is_none_or(|reached| reached[v as usize]));
    let rows: Vec<VertexId> = if graph.has_negative_weights() { all.collect() } else { task.sources.to_vec() };
    for source in rows {
        if has_left(source)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Which vertices the sources reach.
fn reached_from(graph: &Graph, sources: &[VertexId]) -> Result<Vec<bool>> {
    let mut reached: Vec<bool> = memory::zeroed("the marks of vertices", graph.vertices())?;
    let mut stack = memory::with_capacity("the stack of vertices", graph.vertices())?;
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
    Ok(reached)
}

/// The rows of some sources, with the columns asked for.
fn read_rows<L: MinPlusOnCpu + MinPlusOnDevice>(
    task: &ApspTask<'_, L>,
    matrix: &Finished,
    sources: &[VertexId],
    to: &mut [L::Distance],
) -> Result<()> {
    let (vertices, columns) = (task.graph.vertices(), task.columns());
    if columns == 0 {
        return Ok(());
    }
    // Consecutive rows are read at once; where columns are picked from them, no more than a block may have.
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
                let mut whole = memory::filled("a block of rows", count * vertices, L::Distance::UNREACHABLE)?;
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

/// Hands out the rows that are left, which `rows` reads.
fn hand_out<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
    left: &[usize],
    seconds: &mut f64,
    mut rows: impl FnMut(&[VertexId], &mut [L::Distance]) -> Result<()>,
) -> Result<()> {
    let mut timed = |sources: &[VertexId], to: &mut [L::Distance]| {
        let start = Instant::now();
        let result = rows(sources, to);
        *seconds += start.elapsed().as_secs_f64();
        result
    };
    match output {
        ApspOutput::Matrix(matrix) => timed(task.sources, matrix)?,
        ApspOutput::Blocks(consumer) => {
            task.hand_out(left, 1, consumer, |rows, values| {
                timed(&task.sources[rows[0]..=rows[rows.len() - 1]], values)
            })?;
        }
    }
    Ok(())
}
