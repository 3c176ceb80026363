//! All-pairs shortest paths: choosing engine, lane and algorithm, planning memory, running, making the result.

mod by_searches;
mod on_cuda;
mod predicted;

use std::cell::Cell;
use std::time::Instant;

use rayon::prelude::*;

use super::place::{Place, Placed, leaves_it_to_the_cpu, only_on_cuda};
use super::{Request, Solver};
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics, parse_algorithm};
use crate::all_pairs::{ApspOutput, ApspTask, RowConsumer};
use crate::cpu::apsp::{ALGORITHMS, ApspAlgorithm, ApspLane};
use crate::cuda::apsp as cuda;
use crate::cuda::apsp::{MatrixAlgorithm, searches::SearchesAlgorithm, tiled_floyd_warshall};
use crate::graph::{
    DistanceValue, Distances, F32Lane, F64Lane, Graph, I32Lane, Lane, NO_VERTEX, U32Narrow, U32Wide, UnitLane,
    VertexId, WeightKind, Weights,
};
use crate::huge_pages::on_huge_pages;
use crate::plan::Plan;
use crate::problems::{
    Apsp, ApspIntoSink, ApspSummary, DistanceMatrix, KeptState, Report, RowBlock, RowFacts, RowSink, Seconds,
    Successors, TableFacts, TableShape, Tolerance, verify_rows,
};
use crate::{Error, Result, memory};

/// How many bytes a block of rows takes at most, if there is more memory than eight times that.
const BLOCK_BYTES: u64 = 64 << 20;

/// Runs an expression with `$lane` as the lane of the solver's graph; in the wide lane if the narrow one overflows.
macro_rules! in_lanes {
    ($solver:expr, $lane:ident, $wide:ident => $body:expr) => {{
        #[allow(unused)]
        let $wide = false;
        match $solver.graph.weight_kind() {
            WeightKind::Unit => {
                type $lane = UnitLane;
                $body
            }
            WeightKind::U32 => match {
                type $lane = U32Narrow;
                $body
            } {
                Err(Error::DistanceOverflow { .. }) => {
                    type $lane = U32Wide;
                    let $wide = true;
                    $body
                }
                other => other,
            },
            WeightKind::I32 => {
                type $lane = I32Lane;
                $body
            }
            WeightKind::F32 => {
                type $lane = F32Lane;
                $body
            }
            WeightKind::F64 => {
                type $lane = F64Lane;
                $body
            }
        }
    }};
}

impl Request for Apsp {
    type Answer = DistanceMatrix;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        let table = Table::new(self, solver, false)?;
        let mut plan = Plan::new();
        table.plan_result(self, solver, &mut plan);
        table.plan_algorithm(self, solver, &mut plan, true, None)?;
        Ok(plan)
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<DistanceMatrix> {
        in_lanes!(solver, L, wide => solve_matrix::<L>(solver, &self, wide))
    }
}

impl Request for ApspIntoSink<'_> {
    type Answer = ApspSummary;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        if self.request.successors {
            return Err(Error::invalid("rows that go into a sink have no successors: ask for a matrix"));
        }
        let table = Table::new(&self.request, solver, !self.sink.wants_rows())?;
        let mut plan = Plan::new();
        plan.memory("blocks of rows", block_bytes(solver).min(table.cells().saturating_mul(table.distance_bytes)));
        table.plan_algorithm(&self.request, solver, &mut plan, false, self.sink.kept_state().as_ref())?;
        self.sink.plan(table.sources.len() as u64, table.columns, table.distance_bytes, &mut plan);
        Ok(plan)
    }

    fn has_sink(&self) -> bool {
        true
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<ApspSummary> {
        in_lanes!(solver, L, wide => solve_into::<L>(solver, &self.request, self.sink, wide))
    }
}

/// What a request asks for, checked.
struct Table {
    sources: Vec<VertexId>,
    targets: Option<Vec<VertexId>>,
    columns: u64,
    /// Whether facts about rows are all that is wanted, and are the same wherever they are gathered: sums of integers.
    facts: bool,
    /// Whether successors are wanted, too.
    successors: bool,
    /// Bytes of a distance, in the widest lane that may become necessary.
    distance_bytes: u64,
}

impl Table {
    /// `facts` says that nobody wants the rows themselves.
    fn new(request: &Apsp, solver: &Solver<'_>, facts: bool) -> Result<Self> {
        let graph = solver.graph;
        for (vertices, role) in [(&request.sources, "source"), (&request.targets, "target")] {
            if let Some(vertices) = vertices {
                solver.checked(vertices, role)?;
            }
        }
        let sources = match &request.sources {
            Some(sources) => memory::copied("the list of sources", sources)?,
            None => memory::listed("the list of sources", 0..graph.vertices() as VertexId)?,
        };
        let distance_bytes = match graph.weight_kind() {
            WeightKind::Unit | WeightKind::F32 => 4,
            WeightKind::U32 if solver.team.install(|| narrow_is_certain(graph)) => 4,
            _ => 8,
        };
        Ok(Table {
            sources,
            targets: request.targets.clone(),
            columns: request.targets.as_ref().map_or(graph.vertices(), Vec::len) as u64,
            successors: request.successors,
            facts: facts && !request.verified && !matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64),
            distance_bytes,
        })
    }

    fn cells(&self) -> u64 {
        (self.sources.len() as u64).saturating_mul(self.columns)
    }

    /// How many sources have successors to be found; `None` if none are wanted.
    fn successors_of(&self) -> Option<u64> {
        self.successors.then_some(self.sources.len() as u64)
    }

    /// What the matrix takes that is handed back.
    fn plan_result(&self, request: &Apsp, solver: &Solver<'_>, plan: &mut Plan) {
        plan.memory("matrix of distances", self.cells().saturating_mul(self.distance_bytes));
        if request.successors {
            let hops = (self.sources.len() as u64).saturating_mul(solver.graph.vertices() as u64);
            plan.memory("successors", hops.saturating_mul(size_of::<VertexId>() as u64));
        }
    }

    /// What the algorithm takes beyond the result, and to keep its state if that is kept.
    fn plan_algorithm(
        &self,
        request: &Apsp,
        solver: &Solver<'_>,
        plan: &mut Plan,
        in_place: bool,
        state: Option<&KeptState>,
    ) -> Result<()> {
        let choice = choose(request, solver, self)?;
        match choice.algorithm {
            Chosen::OnMatrix(algorithm) => on_cuda::plan(algorithm, &choice.parameters, solver, self, state, plan)?,
            Chosen::BySearches(algorithm) => by_searches::plan(algorithm, &choice.parameters, solver, self, plan),
            Chosen::Cpu(algorithm) => self.plan_on_cpu(algorithm, request, solver, plan, in_place),
        }
        Ok(())
    }

    fn plan_on_cpu(
        &self,
        algorithm: &ApspAlgorithm,
        request: &Apsp,
        solver: &Solver<'_>,
        plan: &mut Plan,
        in_place: bool,
    ) {
        let (vertices, arcs) = (solver.graph.vertices() as u64, solver.graph.arcs() as u64);
        let square = in_place && request.sources.is_none() && request.targets.is_none();
        if algorithm.needs_matrix && !square {
            plan.memory("square matrix", vertices.saturating_mul(vertices).saturating_mul(self.distance_bytes));
        }
        let threads = solver.team.threads() as u64;
        let workspace = (algorithm.workspace_bytes)(vertices, arcs, threads, self.distance_bytes);
        plan.memory(format!("workspace of `{}`", algorithm.info.name), workspace);
    }
}

/// Whether no distance can leave the narrow lane: a path leaves each vertex once at most, by its heaviest arc at worst.
fn narrow_is_certain(graph: &Graph) -> bool {
    let Weights::U32(weights) = graph.weights() else { return false };
    let heaviest = |v: VertexId| weights[graph.csr().row(v)].iter().max().copied().map_or(0, u64::from);
    let bound: u64 = (0..graph.vertices() as VertexId).into_par_iter().with_min_len(4096).map(heaviest).sum();
    bound < u64::from(u32::MAX)
}

fn block_bytes(solver: &Solver<'_>) -> u64 {
    BLOCK_BYTES.min(solver.memory / 8)
}

/// The algorithm, its parameters, and why it was chosen.
struct Choice {
    algorithm: Chosen,
    parameters: Parameters,
    name: String,
    reason: String,
    engine_reason: String,
    /// Whether the CPU would do, too, if the device does not.
    optional: bool,
}

/// An algorithm of one of the engines.
#[derive(Clone, Copy)]
enum Chosen {
    Cpu(&'static ApspAlgorithm),
    /// On a GPU, on the matrix of all pairs.
    OnMatrix(&'static MatrixAlgorithm),
    /// On a GPU, by searches.
    BySearches(&'static SearchesAlgorithm),
}

impl Chosen {
    fn on_cuda(algorithm: &'static cuda::ApspAlgorithm) -> Self {
        match algorithm {
            cuda::ApspAlgorithm::OnMatrix(algorithm) => Chosen::OnMatrix(algorithm),
            cuda::ApspAlgorithm::BySearches(algorithm) => Chosen::BySearches(algorithm),
        }
    }

    fn info(&self) -> &'static AlgorithmInfo {
        match self {
            Chosen::Cpu(algorithm) => &algorithm.info,
            Chosen::OnMatrix(algorithm) => &algorithm.info,
            Chosen::BySearches(algorithm) => &algorithm.info,
        }
    }

    /// Whether it works on the square matrix of all vertices.
    fn needs_matrix(&self) -> bool {
        match self {
            Chosen::Cpu(algorithm) => algorithm.needs_matrix,
            Chosen::OnMatrix(_) => true,
            Chosen::BySearches(_) => false,
        }
    }
}

/// Nanoseconds of one thread for a relaxation of a whole matrix, and for an arc and source of `batched`, both measured on
/// random graphs with 32-bit distances. Only their ratio matters.
const DENSE_NANOSECONDS: f64 = 0.04;
const SPARSE_NANOSECONDS: f64 = 0.8;

fn choose(request: &Apsp, solver: &Solver<'_>, table: &Table) -> Result<Choice> {
    let asked = request.algorithm.as_deref();
    let only = || only_on_cuda(asked, ALGORITHMS, |entry| &entry.info, cuda::ALGORITHMS, cuda::ApspAlgorithm::info);
    let placed = Placed::of(&solver.engine, only, || on_cuda::pays(request, solver, table));
    match placed.engine {
        Place::Cpu => choose_on_cpu(request, solver, table, placed.reason),
        Place::Cuda => {
            let (name, reason) = match &request.algorithm {
                Some(name) => (name.clone(), "asked for".to_owned()),
                None => on_cuda::choose(solver, table),
            };
            choose_on_cuda(name, reason, placed.reason, placed.optional)
        }
    }
}

fn choose_on_cuda(name: String, reason: String, engine_reason: String, optional: bool) -> Result<Choice> {
    let (algorithm, parameters) = parse_algorithm(cuda::ALGORITHMS, cuda::ApspAlgorithm::info, &name)?;
    Ok(Choice { algorithm: Chosen::on_cuda(algorithm), parameters, name, reason, engine_reason, optional })
}

fn choose_on_cpu(request: &Apsp, solver: &Solver<'_>, table: &Table, engine_reason: String) -> Result<Choice> {
    let find = |text: &str, reason: String| -> Result<Choice> {
        let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, text)?;
        let (algorithm, name) = (Chosen::Cpu(algorithm), text.to_owned());
        Ok(Choice { algorithm, parameters, name, reason, engine_reason: engine_reason.clone(), optional: false })
    };
    if let Some(name) = &request.algorithm {
        return find(name, String::from("asked for"));
    }
    let graph = solver.graph;
    let vertices = graph.vertices() as f64;
    let negative = graph.has_negative_weights();
    let dense = vertices.powi(3) * DENSE_NANOSECONDS;
    let sparse = table.sources.len() as f64 * (graph.arcs() as f64 + vertices) * SPARSE_NANOSECONDS;
    let fits = vertices * vertices * table.distance_bytes as f64 <= solver.memory as f64 / 2.0;
    let exact_floats = has_exact_floats(graph);
    let unit = graph.weight_kind() == WeightKind::Unit;
    if dense < sparse && fits && !exact_floats && !unit {
        let density = graph.arcs() as f64 / (vertices * vertices) * 100.0;
        return find("tiled-floyd-warshall", format!("{density:.0} % of all pairs are arcs"));
    }
    match (negative, exact_floats) {
        (true, false) => find("johnson", String::from("some weights are negative and the graph is sparse")),
        (true, true) => {
            find("batched", String::from("some weights are negative floats, which reweighting would round"))
        }
        _ => find("batched", String::from("the graph is sparse")),
    }
}

/// Whether some weights are floats below 0: cycles of them are exact only where lengths are added up along paths.
fn has_exact_floats(graph: &Graph) -> bool {
    graph.has_negative_weights() && matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64)
}

/// What an engine tells of its work.
struct Ran {
    engine: String,
    device_bytes: u64,
    seconds: Seconds,
    statistics: Statistics,
    /// Whether it has found the successors that were asked for.
    has_successors: bool,
}

impl Ran {
    /// Nothing yet, on this engine.
    fn on(engine: &str) -> Self {
        Ran {
            engine: engine.into(),
            device_bytes: 0,
            seconds: Seconds::default(),
            statistics: Vec::new(),
            has_successors: false,
        }
    }
}

/// Where the rows of a table go.
enum Output<'o, D> {
    /// Into a matrix.
    Matrix(&'o mut [D]),
    /// To a sink, or facts about them to its table.
    Sink(&'o mut dyn TakesFacts<D>),
}

/// Takes rows, or facts about rows that nobody wants.
trait TakesFacts<D>: RowConsumer<D> {
    fn facts(&mut self, rows: &[usize], facts: &[RowFacts]);
}

impl<'o, D> Output<'o, D> {
    /// Tells in which order rows come; how many of them are there already.
    fn start(&mut self, order: &[usize]) -> Result<usize> {
        match self {
            Output::Matrix(_) => Ok(0),
            Output::Sink(sink) => sink.start(order),
        }
    }

    /// For whoever has rows to give.
    fn of_rows(self) -> ApspOutput<'o, D> {
        match self {
            Output::Matrix(matrix) => ApspOutput::Matrix(matrix),
            Output::Sink(sink) => ApspOutput::Blocks(sink),
        }
    }
}

fn report<L: Lane>(choice: Choice, wide: bool, ran: Ran) -> Report {
    Report {
        engine: ran.engine,
        engine_reason: choice.engine_reason,
        algorithm: choice.name,
        reason: choice.reason,
        lane: L::NAME,
        repeated_wide: wide,
        seconds: ran.seconds,
        statistics: ran.statistics,
        device_bytes: ran.device_bytes,
        ..Default::default()
    }
}

/// Whether this algorithm adds floats up in another order than along the path.
fn reassociates<L: Lane>(choice: &Choice) -> bool {
    choice.algorithm.needs_matrix()
        && matches!(L::Distance::into_distances(Vec::new()), Distances::F32(_) | Distances::F64(_))
}

/// What decides how floats are rounded.
fn rounding<L: cuda::DenseLane>(solver: &Solver<'_>, choice: &Choice, state: Option<&KeptState>) -> Result<String> {
    match choice.algorithm {
        Chosen::OnMatrix(algorithm) => on_cuda::rounding::<L>(algorithm, &choice.parameters, solver, state),
        Chosen::BySearches(algorithm) => Ok(format!("cuda {}", algorithm.info.name)),
        Chosen::Cpu(algorithm) => Ok(format!("cpu {}", algorithm.info.name)),
    }
}

/// Runs the chosen algorithm into `output`, and what it finds of successors, if they are wanted, into `successors`.
fn run<L: ApspLane + cuda::DenseLane>(
    solver: &Solver<'_>,
    request: &Apsp,
    table: &Table,
    choice: &Choice,
    output: Output<'_, L::Distance>,
    successors: Option<&mut [VertexId]>,
) -> Result<Ran> {
    let graph = solver.graph;
    let Some(adjacency) = graph.csr().adjacency::<L::Weight>() else {
        return Err(Error::invalid("the graph has weights of another type"));
    };
    if graph.has_negative_weights() && !choice.algorithm.info().negative_weights {
        return Err(Error::invalid(format!("`{}` needs weights of 0 or more", choice.algorithm.info().name)));
    }
    let task = ApspTask {
        adjacency,
        graph,
        sources: &table.sources,
        targets: request.targets.as_deref(),
        block_bytes: block_bytes(solver),
        parameters: &choice.parameters,
        team: &solver.team,
        control: &solver.control,
    };
    let start = Instant::now();
    let on_device = |mut ran: Ran, algorithm| {
        let seconds = predicted::on_device(&algorithm, &choice.parameters, graph, table.sources.len());
        ran.statistics.push(("predicted_nanoseconds", (seconds * 1e9) as u64));
        ran
    };
    match choice.algorithm {
        Chosen::OnMatrix(algorithm) => on_cuda::run(solver, algorithm, &task, output.of_rows(), successors)
            .map(|ran| on_device(ran, cuda::ApspAlgorithm::OnMatrix(*algorithm))),
        Chosen::BySearches(algorithm) => by_searches::run(solver, algorithm, &task, table, output)
            .map(|ran| on_device(ran, cuda::ApspAlgorithm::BySearches(*algorithm))),
        Chosen::Cpu(algorithm) => {
            let statistics = L::pick(&algorithm.solve)(&task, output.of_rows())?;
            let seconds = Seconds { solve: start.elapsed().as_secs_f64(), ..Default::default() };
            Ok(Ran { engine: "cpu".into(), device_bytes: 0, seconds, statistics, has_successors: false })
        }
    }
}

/// Runs `solve` with what is chosen, and, if that is a device that was only predicted to do and does not, with what the
/// CPU has, unless rows were `begun` to be handed out: another algorithm has them in another order. Where the device is
/// what was asked for, the matrix takes weights that are too great for searches, if it has room. `in_place` says whether
/// the result is a matrix.
fn with_choice<T>(
    solver: &Solver<'_>,
    request: &Apsp,
    table: &Table,
    in_place: bool,
    begun: &Cell<bool>,
    mut solve: impl FnMut(Choice) -> Result<T>,
) -> Result<T> {
    let choice = choose(request, solver, table)?;
    let optional = choice.optional;
    let are_picked = request.algorithm.is_none() && matches!(choice.algorithm, Chosen::BySearches(_));
    let engine_reason = choice.engine_reason.clone();
    let error = match solve(choice) {
        Err(error) if optional && !begun.get() => error,
        // That is known before there are rows but those of an earlier run, which are in the order of the matrix.
        Err(Error::InvalidRequest(why)) if are_picked && why == by_searches::TOO_GREAT => {
            let on_matrix = tiled_floyd_warshall::ALGORITHM.info.name.to_owned();
            return match solve(choose_on_cuda(on_matrix, why.clone(), engine_reason, optional)?) {
                Err(Error::OutOfMemory { .. }) => Err(Error::InvalidRequest(why)),
                other => other,
            };
        }
        other => return other,
    };
    // Floats added up in another order may leave their range, or make a cycle negative, where those along paths do not; and
    // weights made 0 or more may be too great for a device.
    let floats = matches!(solver.graph.weight_kind(), WeightKind::F32 | WeightKind::F64);
    let floats = floats || solver.graph.has_negative_weights();
    match error {
        ref error if leaves_it_to_the_cpu(error) => {}
        Error::DistanceOverflow { .. } | Error::InvalidRequest(_) if floats => {}
        other => return Err(other),
    }
    let choice = choose_on_cpu(request, solver, table, error.to_string())?;
    if let Chosen::Cpu(algorithm) = choice.algorithm {
        let mut plan = Plan::new();
        if in_place {
            table.plan_result(request, solver, &mut plan);
        }
        table.plan_on_cpu(algorithm, request, solver, &mut plan, in_place);
        plan.check(solver.memory)?;
    }
    solve(choice)
}

fn solve_matrix<L: ApspLane + cuda::DenseLane>(
    solver: &Solver<'_>,
    request: &Apsp,
    wide: bool,
) -> Result<DistanceMatrix> {
    let table = Table::new(request, solver, false)?;
    let mut matrix = with_choice(solver, request, &table, true, &Cell::new(false), |choice| {
        let mut distances = on_huge_pages(memory::zeroed("the matrix of distances", table.cells() as usize)?);
        let vertices = solver.graph.vertices();
        let mut hops = match request.successors {
            true => Some(on_huge_pages(memory::filled("successors", table.sources.len() * vertices, NO_VERTEX)?)),
            false => None,
        };
        let output = Output::Matrix(&mut distances);
        let ran = run::<L>(solver, request, &table, &choice, output, hops.as_deref_mut())?;
        let hops = hops.filter(|_| ran.has_successors);
        Ok(DistanceMatrix {
            sources: memory::copied("the list of sources", &table.sources)?,
            targets: request.targets.clone(),
            columns: table.columns as usize,
            distances: L::Distance::into_distances(distances),
            successors: hops.map(|hops| Successors::new(hops, vertices)),
            reassociated: reassociates::<L>(&choice),
            verified: false,
            report: report::<L>(choice, wide, ran),
        })
    })?;
    if request.verified {
        let start = Instant::now();
        solver.team.install(|| matrix.verify(solver.graph))?;
        matrix.verified = true;
        matrix.report.seconds.verify = start.elapsed().as_secs_f64();
    }
    if request.successors && matrix.successors.is_none() {
        let start = Instant::now();
        matrix.successors = Some(solver.team.install(|| matrix.successors(solver.graph))?);
        matrix.report.seconds.predecessors = start.elapsed().as_secs_f64();
    }
    Ok(matrix)
}

fn solve_into<L: ApspLane + cuda::DenseLane>(
    solver: &Solver<'_>,
    request: &Apsp,
    sink: &mut dyn RowSink,
    wide: bool,
) -> Result<ApspSummary> {
    let table = Table::new(request, solver, !sink.wants_rows())?;
    sink.reserve()?;
    let begun = Cell::new(false);
    let solved = with_choice(solver, request, &table, false, &begun, |choice| {
        let mut rows = SinkRows::<L> {
            begun: &begun,
            solver,
            table: &table,
            targets: request.targets.as_deref(),
            algorithm: choice.algorithm.info().name,
            rounding: rounding::<L>(solver, &choice, sink.kept_state().as_ref())?,
            verified: request.verified,
            reassociated: reassociates::<L>(&choice),
            verifying: 0.0,
            writing: 0.0,
            facts: TableFacts::new(table.sources.len()),
            sink: &mut *sink,
            lane: std::marker::PhantomData,
        };
        let mut ran = run::<L>(solver, request, &table, &choice, Output::Sink(&mut rows), None)?;
        let finishing = Instant::now();
        rows.sink.finish()?;
        // The CPU's algorithms hand out rows while they work.
        if matches!(choice.algorithm, Chosen::Cpu(_)) {
            ran.seconds.solve -= rows.verifying + rows.writing;
        }
        ran.seconds.verify = rows.verifying;
        ran.seconds.write = rows.writing + finishing.elapsed().as_secs_f64();
        Ok(ApspSummary { facts: rows.facts, verified: request.verified, report: report::<L>(choice, wide, ran) })
    });
    if let Err(Error::NegativeCycle(_)) = solved {
        sink.discard();
    }
    solved
}

/// Takes the rows of an algorithm: verifies them if asked to, gathers facts, hands them on to the sink. All that happens on
/// the threads that the request has for its sink.
struct SinkRows<'a, 'g, L> {
    /// Whether the sink has rows.
    begun: &'a Cell<bool>,
    solver: &'a Solver<'g>,
    table: &'a Table,
    targets: Option<&'a [VertexId]>,
    algorithm: &'static str,
    rounding: String,
    verified: bool,
    /// Seconds that verifying has taken.
    verifying: f64,
    /// Seconds that the sink has taken.
    writing: f64,
    reassociated: bool,
    facts: TableFacts,
    sink: &'a mut dyn RowSink,
    lane: std::marker::PhantomData<L>,
}

impl<L: ApspLane> SinkRows<'_, '_, L> {
    /// Returns how many seconds it took.
    fn verify(
        graph: &Graph,
        table: &Table,
        targets: Option<&[VertexId]>,
        reassociated: bool,
        block: &RowBlock<'_>,
    ) -> Result<f64> {
        let start = Instant::now();
        let (Some(adjacency), Some(values)) = (graph.csr().adjacency::<L::Weight>(), L::Distance::of(block.values))
        else {
            return Err(Error::NotVerified("the rows have distances of another type".into()));
        };
        let sources = memory::listed("the list of sources", block.rows.iter().map(|&row| table.sources[row]))?;
        let tolerance = Tolerance::new::<L>(graph, values, reassociated);
        verify_rows::<L>(adjacency, &sources, targets, values, block.columns, tolerance)?;
        Ok(start.elapsed().as_secs_f64())
    }
}

impl<L: ApspLane> RowConsumer<L::Distance> for SinkRows<'_, '_, L> {
    fn start(&mut self, order: &[usize]) -> Result<usize> {
        let graph = self.solver.graph;
        // Of an engine that failed before there was any row, the sink may have been begun already.
        self.facts = TableFacts::new(self.table.sources.len());
        let (table, targets, verified, reassociated) = (self.table, self.targets, self.verified, self.reassociated);
        let shape = TableShape {
            graph,
            sources: &table.sources,
            targets,
            order,
            lane: L::NAME,
            distances: &L::Distance::into_distances(Vec::new()),
            algorithm: self.algorithm,
            rounding: &self.rounding,
        };
        let (facts, sink, verifying) = (&mut self.facts, &mut self.sink, &mut self.verifying);
        let have = sink.begin(&shape, &mut |block| {
            if verified {
                *verifying += Self::verify(graph, table, targets, reassociated, block)?;
            }
            facts.add(block);
            Ok(())
        })?;
        self.begun.set(have > 0);
        Ok(have)
    }

    fn kept_state(&self) -> Option<KeptState> {
        self.sink.kept_state()
    }

    fn rows(&mut self, rows: &[usize], values: Vec<L::Distance>) -> Result<Vec<L::Distance>> {
        self.begun.set(true);
        let values = L::Distance::into_distances(values);
        let block = RowBlock { rows, columns: self.table.columns as usize, values: &values };
        let graph = self.solver.graph;
        let (table, targets, verified, reassociated) = (self.table, self.targets, self.verified, self.reassociated);
        if verified {
            self.verifying += Self::verify(graph, table, targets, reassociated, &block)?;
        }
        self.facts.add(&block);
        let start = Instant::now();
        self.sink.rows(&block)?;
        self.writing += start.elapsed().as_secs_f64();
        Ok(L::Distance::into_vec(values).unwrap_or_default())
    }
}

impl<L: ApspLane> TakesFacts<L::Distance> for SinkRows<'_, '_, L> {
    fn facts(&mut self, rows: &[usize], facts: &[RowFacts]) {
        self.begun.set(true);
        self.facts.add_rows(rows, facts);
    }
}

#[cfg(test)]
mod tests;
