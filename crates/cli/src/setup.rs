//! What every command that works on a graph does first: check the options, read or generate the graph, open a solver.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use warpath::formats::{Column, Format, Notes, ReadOptions, StoredArrays, WeightSource};
use warpath::generate::{DEFAULT_SEED, RandomWeights, Recipe};
use warpath::graph::{Coordinates, Direction, ParallelEdges, SelfLoops};
use warpath::hierarchy::{Hierarchy, HierarchyBuilder};
use warpath::{Control, Decision, Engine, Error, Graph, Plan, Solver, SolverBuilder, VertexId};

use crate::arguments::{CommonArguments, EngineArguments, FirstLine, GraphArguments, SolvingArguments};
use crate::failure::Failure;
use crate::print::{self, Available};
use crate::progress;

/// Options that hold for the whole run, and the handle that interrupts it.
pub(crate) struct Setup<'a> {
    common: &'a CommonArguments,
    engine: Engine,
    /// How many threads were asked for.
    threads: Option<u32>,
    /// The limit on memory, if there is one.
    memory: Option<u64>,
    /// Whether only the plan is wanted.
    plan: bool,
    statistics: bool,
    /// Whether the command ignores weights.
    ignores_weights: bool,
    /// Whether the arcs of the graph are turned round.
    reverses: bool,
    pub(crate) control: Control,
}

impl<'a> Setup<'a> {
    /// For a command that reads a graph and solves nothing.
    pub(crate) fn without_engine(common: &'a CommonArguments, plan: bool) -> Result<Self, Failure> {
        Ok(Setup { plan, ..Self::new(common, Engine::Cpu)? })
    }

    /// For a command that solves a problem.
    pub(crate) fn to_solve(solving: &'a SolvingArguments) -> Result<Self, Failure> {
        #[cfg(feature = "mpi")]
        if solving.plan.ranks.is_some() {
            return Err(Failure::usage(
                "`--ranks` is for `--engine mpi`, and for `warpath bfs`, `sssp`, `apsp` and `components`",
            ));
        }
        let setup = Self::on_engine(&solving.common, &solving.engine)?;
        Ok(Setup { plan: solving.plan.plan, statistics: solving.statistics, ..setup })
    }

    /// For a command that asks what an engine would do.
    pub(crate) fn on_engine(common: &'a CommonArguments, engine: &EngineArguments) -> Result<Self, Failure> {
        if engine.is_mpi() {
            return Err(Failure::usage(
                "`--engine mpi` is for `warpath bfs`, `sssp`, `apsp`, `path`, `components` and `bench`",
            ));
        }
        let engine: Engine = engine.engine.parse()?;
        let setup = Self::new(common, engine)?;
        setup.engine.check().map_err(|error| {
            Failure::from(error)
                .help("`--engine cpu` or `--engine auto` runs on all cores; `warpath devices` tells more")
        })?;
        Ok(setup)
    }

    fn new(common: &'a CommonArguments, engine: Engine) -> Result<Self, Failure> {
        let control = progress::control(common.shown_progress());
        start_threads(common.threads)?;
        Ok(Self::with_control(common, engine, common.threads, control))
    }

    /// For a rank of an MPI run, which has one thread unless it is told otherwise.
    #[cfg(feature = "mpi")]
    pub(crate) fn on_rank(
        solving: &'a SolvingArguments,
        engine: Engine,
        ranks_on_host: u64,
        control: &Control,
    ) -> Result<Self, Failure> {
        let threads = Some(solving.common.threads.unwrap_or(1));
        start_threads(threads)?;
        let setup = Self::with_control(&solving.common, engine, threads, control.clone());
        let share = warpath::available_memory() / ranks_on_host.max(1);
        Ok(Setup { memory: setup.memory.or(Some(share)), ..setup })
    }

    fn with_control(common: &'a CommonArguments, engine: Engine, threads: Option<u32>, control: Control) -> Self {
        Setup {
            common,
            engine,
            threads,
            memory: common.memory,
            plan: false,
            statistics: false,
            ignores_weights: false,
            reverses: false,
            control,
        }
    }

    /// Says whether the command ignores weights, so that they need not be read.
    pub(crate) fn ignoring_weights(mut self, ignores: bool) -> Self {
        self.ignores_weights = ignores;
        self
    }

    /// Says whether the arcs of the graph are turned round.
    pub(crate) fn reversing(mut self, reverses: bool) -> Self {
        self.reverses = reverses;
        self
    }

    /// Reads or generates the graph; also returns the seconds it took.
    pub(crate) fn load(&self, arguments: &GraphArguments) -> Result<(Arc<Graph>, f64), Failure> {
        let start = Instant::now();
        let graph = self.graph(arguments, None)?;
        Ok((graph, start.elapsed().as_secs_f64()))
    }

    /// As [`Setup::load`], and also the hierarchy that the file holds beside the graph, if it holds one and weights matter.
    pub(crate) fn load_with_hierarchy(&self, arguments: &GraphArguments) -> Result<Prepared, Failure> {
        let start = Instant::now();
        let stored = StoredArrays::new();
        let graph = self.graph(arguments, (!self.ignores_weights).then_some(&stored))?;
        let hierarchy = if !arguments.largest_component {
            Hierarchy::from_stored(graph.clone(), &stored)?
        } else {
            if !stored.is_empty() && !self.common.quiet {
                print::to_stderr("note: the hierarchy in the file is that of the whole graph, and is left out");
            }
            None
        };
        Ok(Prepared { graph, hierarchy, seconds: start.elapsed().as_secs_f64() })
    }

    fn graph(&self, arguments: &GraphArguments, stored: Option<&StoredArrays>) -> Result<Arc<Graph>, Failure> {
        let graph = load(arguments, stored, self)?;
        let graph = if arguments.largest_component { graph.largest_component()? } else { graph };
        Ok(Arc::new(if self.reverses { graph.reversed()? } else { graph }))
    }

    /// How files are read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let options = ReadOptions::new().control(self.control.clone());
        self.host_memory().into_iter().fold(options, ReadOptions::memory)
    }

    /// How a hierarchy is made for a graph.
    pub(crate) fn hierarchy(&self, graph: &Arc<Graph>) -> HierarchyBuilder {
        let builder = Hierarchy::builder(graph.clone()).control(self.control.clone());
        self.host_memory().into_iter().fold(builder, HierarchyBuilder::memory)
    }

    /// A solver for the graph, with the hierarchy that its file holds, if it is read and there is one.
    pub(crate) fn solver(&self, graph: &Arc<Graph>, hierarchy: Option<Hierarchy>) -> Result<Solver, Failure> {
        let mut builder = Solver::builder(graph.clone()).control(self.control.clone()).engine(self.engine.clone());
        builder = builder.statistics(self.statistics);
        builder = hierarchy.into_iter().fold(builder, SolverBuilder::hierarchy);
        if let Some(threads) = self.threads {
            builder = builder.threads(threads as usize);
        }
        if let Some(memory) = self.memory {
            builder = builder.memory(memory);
        }
        Ok(builder.open()?)
    }

    /// Prints how a request would be answered, and the plan of the whole run: the graph with its coordinates, and what
    /// `beside` adds for the output. It is an error if the plan does not fit into memory, or onto the disk of `output`.
    pub(crate) fn print_plan(
        &self,
        solver: &Solver,
        decision: &Decision,
        coordinates: Option<&Coordinates>,
        beside: impl FnOnce(&mut Plan),
        output: Option<&Path>,
    ) -> Result<(), Failure> {
        let mut plan = decision.plan().clone();
        beside(&mut plan);
        let output = output.filter(|path| path.as_os_str() != "-" && plan.disk_bytes() > 0);
        let on_device = !plan.device_items().is_empty();
        let limit = self.common.memory.filter(|_| !on_device);
        let available = limit.unwrap_or_else(warpath::available_memory);
        let device = if on_device { Some(solver.memory_of_devices(plan.devices())?) } else { None };
        let disk = output.map(warpath::available_disk).transpose()?;
        let needed = plan.memory_bytes();
        let fits = needed <= available;
        let loaded = plan_of_loaded(solver.graph(), coordinates, &mut plan);
        let memory = if fits { available.saturating_add(loaded) } else { available };
        print::plan(Some(decision), &plan, Available { memory, device, disk }, self.common.json)?;
        let checked = if fits {
            let on_device = plan.check_device(device.unwrap_or(0));
            on_device.and_then(|()| output.map_or(Ok(()), |output| plan.check_disk(output)))
        } else {
            Err(Error::OutOfMemory { what: "the work".to_owned(), needed, available })
        };
        checked.map_err(|error| Failure::from(error).after_the_answer())
    }

    /// Prints the plan of a run that only loads the graph, or takes so much more memory for its work.
    pub(crate) fn print_plan_of_graph(&self, graph: &Graph, mut plan: Plan) -> Result<(), Failure> {
        let checked = plan.check(self.memory());
        let bytes = plan_of_loaded(graph, None, &mut plan);
        let memory = self.memory().saturating_add(bytes);
        print::plan(None, &plan, Available { memory, device: None, disk: None }, self.common.json)?;
        checked.map_err(|error| Failure::from(error).after_the_answer())
    }

    /// The host's memory that work may take: what is free, or the limit.
    pub(crate) fn memory(&self) -> u64 {
        self.common.memory.unwrap_or_else(warpath::available_memory)
    }

    /// The limit on host memory, if one is set; with a GPU, `--memory` limits the GPU's memory instead.
    fn host_memory(&self) -> Option<u64> {
        self.memory.filter(|_| !matches!(self.engine, Engine::Cuda(_)))
    }

    /// Refuses, before the work, to generate a graph that does not fit; `--plan` prints what it would take.
    fn check_recipe(&self, recipe: &Recipe) -> Result<(), Failure> {
        let plan = recipe.plan();
        let needed = plan.memory_bytes();
        let available = self.host_memory().unwrap_or(u64::MAX).min(warpath::available_memory());
        if needed <= available {
            return Ok(());
        }
        if self.plan {
            print::plan(None, &plan, Available { memory: available, device: None, disk: None }, self.common.json)?;
        }
        let failure = Failure::from(Error::OutOfMemory { what: format!("generating `{recipe}`"), needed, available });
        Err(if self.plan { failure.after_the_answer() } else { failure })
    }
}

/// A graph, and the hierarchy that its file holds, if it holds one.
pub(crate) struct Prepared {
    pub(crate) graph: Arc<Graph>,
    pub(crate) hierarchy: Option<Hierarchy>,
    /// The time that reading both took.
    pub(crate) seconds: f64,
}

/// Adds the graph and its coordinates to a plan; returns their bytes.
fn plan_of_loaded(graph: &Graph, coordinates: Option<&Coordinates>, plan: &mut Plan) -> u64 {
    let bytes = graph.owned_bytes();
    plan.memory("the graph (in memory already)", bytes);
    let Some(coordinates) = coordinates else { return bytes };
    plan.memory("the coordinates of vertices (in memory already)", coordinates.owned_bytes());
    bytes.saturating_add(coordinates.owned_bytes())
}

/// The files that a command reads: the graph, if it is not generated, and lists of vertices.
pub(crate) fn inputs<'a>(graph: &'a GraphArguments, lists: &[&'a Option<PathBuf>]) -> Vec<&'a Path> {
    let graph = match recipe(graph) {
        Some(_) => None,
        None if graph.graph.as_os_str() == "-" => Some(Path::new("/dev/stdin")),
        None => Some(graph.graph.as_path()),
    };
    graph.into_iter().chain(lists.iter().filter_map(|list| list.as_deref())).collect()
}

/// The graph's recipe, if it is to be generated.
fn recipe(arguments: &GraphArguments) -> Option<&str> {
    arguments.graph.to_str().filter(|text| Recipe::looks_like(text) && !arguments.graph.exists())
}

/// Where the vertices of this graph lie, if it was generated and its generator knows.
pub(crate) fn generated_coordinates(arguments: &GraphArguments, graph: &Graph) -> Result<Option<Coordinates>, Failure> {
    let recipe = recipe(arguments).map(str::parse::<Recipe>).transpose()?;
    let whole = recipe.map(|recipe| recipe.coordinates()).transpose()?.flatten();
    let Some(whole) = whole else { return Ok(None) };
    if !arguments.largest_component {
        return Ok(Some(whole));
    }
    // The vertices of a component are numbered anew; their names are their numbers in the whole graph.
    let place = |v| graph.name(v).parse().ok().and_then(|number| whole.of(number));
    Ok(Some(Coordinates::new((0..graph.vertices() as VertexId).map(place).collect())))
}

/// Starts the global thread pool, which serves parallel loops without a pool of their own. If the first such loop
/// started it and the system refused the threads, the process would end.
pub(crate) fn start_threads(threads: Option<u32>) -> Result<(), Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // No more threads than cores, as the solver has.
    let pool = rayon::ThreadPoolBuilder::new().num_threads((threads.unwrap_or(0) as usize).min(cores));
    pool.build_global().map_err(|error| {
        let message = format!("the threads can't be started: {error}; there may be a limit on memory or on processes");
        Error::NoThreads(message).into()
    })
}

fn load(arguments: &GraphArguments, stored: Option<&StoredArrays>, setup: &Setup<'_>) -> Result<Graph, Failure> {
    let direction = direction(arguments);
    let random = arguments.weights.as_deref().and_then(|text| text.strip_prefix("random:"));
    let random = random.map(str::parse::<RandomWeights>).transpose()?;
    if let Some(recipe) = recipe(arguments) {
        return generate(recipe, arguments, direction, random, setup);
    }
    let notes = Notes::new();
    let options = options_for(arguments, setup.read_options())?.leave_weights(setup.ignores_weights).notes(&notes);
    let options = stored.into_iter().fold(options, ReadOptions::stored_arrays);
    let from_pipe = arguments.graph.as_os_str() == "-";
    let graph = if from_pipe { options.read_stdin() } else { options.read(&arguments.graph) };
    if !setup.common.quiet {
        notes.take().iter().for_each(|note| print::to_stderr(&format!("note: {note}")));
    }
    match random {
        Some(random) => Ok(random.of(graph?, DEFAULT_SEED)?),
        None => Ok(graph?),
    }
}

/// Whether edges have a direction, if that was said.
fn direction(arguments: &GraphArguments) -> Option<Direction> {
    match (arguments.directed, arguments.undirected) {
        (true, _) => Some(Direction::Directed),
        (_, true) => Some(Direction::Undirected),
        _ => None,
    }
}

/// Adds what was said about the file.
pub(crate) fn options_for(arguments: &GraphArguments, options: ReadOptions) -> Result<ReadOptions, Failure> {
    let mut options = options_for_lines(arguments, options.allow_isolated(arguments.allow_isolated))?;
    if let Some(name) = &arguments.format {
        options = options.format(name.parse::<Format>()?);
    }
    if let Some(direction) = direction(arguments) {
        options = options.direction(direction);
    }
    if arguments.drop_self_loops {
        options = options.self_loops(SelfLoops::Drop);
    }
    if arguments.keep_parallel_edges {
        options = options.parallel_edges(ParallelEdges::Keep);
    }
    Ok(options.weights(match arguments.weights.as_deref() {
        None => WeightSource::File,
        Some("unit") => WeightSource::Unit,
        Some(text) if text.starts_with("random:") => WeightSource::Unit,
        Some(column) => column.parse::<Column>()?.into(),
    }))
}

/// Adds what was said about the lines of an edge list.
fn options_for_lines(arguments: &GraphArguments, mut options: ReadOptions) -> Result<ReadOptions, Failure> {
    if let Some(first_line) = arguments.first_line {
        options = options.first_line(match first_line {
            FirstLine::Counts => warpath::formats::FirstLine::Counts,
            FirstLine::Header => warpath::formats::FirstLine::Header,
            FirstLine::Edge => warpath::formats::FirstLine::Edge,
        });
    }
    if let Some((from, to)) = arguments.from_column.as_deref().zip(arguments.to_column.as_deref()) {
        options = options.ends(from.parse::<Column>()?, to.parse::<Column>()?);
    }
    if let Some(separator) = &arguments.separator {
        options = options.separator(separator.parse()?);
    }
    if let Some(mark) = &arguments.decimal {
        options = options.decimal(mark.parse()?);
    }
    Ok(options)
}

fn generate(
    recipe: &str,
    arguments: &GraphArguments,
    direction: Option<Direction>,
    random: Option<RandomWeights>,
    setup: &Setup<'_>,
) -> Result<Graph, Failure> {
    let unused = [
        ("--from", arguments.from_column.is_some()),
        ("--separator", arguments.separator.is_some()),
        ("--decimal", arguments.decimal.is_some()),
        ("--format", arguments.format.is_some()),
        ("--first-line", arguments.first_line.is_some()),
        ("--drop-self-loops", arguments.drop_self_loops),
        ("--keep-parallel-edges", arguments.keep_parallel_edges),
        ("--allow-isolated", arguments.allow_isolated),
    ];
    if let Some((option, _)) = unused.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!("`{option}` is for files; `{recipe}` is a generator")));
    }
    let recipe: Recipe = recipe.parse()?;
    setup.check_recipe(&recipe)?;
    let graph = recipe.generate(&setup.control)?;
    let graph = match direction {
        Some(direction) => graph.with_direction(direction)?,
        None => graph,
    };
    if let Some(random) = random {
        // Graphs of different seeds have different weights.
        return Ok(random.of(graph, recipe.seed())?);
    }
    match arguments.weights.as_deref() {
        None => Ok(graph),
        Some("unit") => Ok(graph.without_weights()),
        Some(text) => Err(Failure::usage(format!(
            "a generated graph has no column `{text}`; its weights can be `unit` or `random:LO..HI`"
        ))),
    }
}
