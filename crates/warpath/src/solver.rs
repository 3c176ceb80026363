//! The face of Warpath: takes requests, picks engine and algorithm, and hands results back.

mod apsp;
mod bfs;
mod closure;
mod cuda;
mod each;
mod entrance;
mod path;
mod place;
mod sssp;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use self::cuda::CudaState;
use crate::cuda::device::Device;
use crate::graph::{Adjacency, Distance, DistanceValue, Graph, Lane, VertexId};
use crate::problems::{Bfs, Problem, ShortestPathTree, Sssp, derive_predecessors};
use crate::team::Team;
use crate::{Control, Engine, Error, Result, memory};
use crate::{Plan, available_memory};

/// Solves requests on one graph, which it prepares once.
///
/// ```
/// use warpath::{Graph, Solver, Sssp};
/// let graph = Graph::from_edges([(0, 1, 3_u32), (1, 2, 4)])?;
/// let solver = Solver::builder(&graph).threads(2).open()?;
/// assert_eq!(solver.solve(Sssp::from(0))?.distance(2).unwrap().to_f64(), 7.0);
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug)]
pub struct Solver<'g> {
    graph: &'g Graph,
    team: Team,
    control: Control,
    engine: Engine,
    /// How many bytes the chosen engine may take, if that was said.
    limit: Option<u64>,
    /// How many bytes may be taken on the CPU.
    memory: u64,
    /// Whether to count what takes time to count.
    statistics: bool,
    cuda: Mutex<CudaState>,
}

/// Options of a [`Solver`].
#[derive(Debug, Clone)]
pub struct SolverBuilder<'g> {
    graph: &'g Graph,
    threads: usize,
    control: Control,
    engine: Engine,
    memory: Option<u64>,
    statistics: bool,
    devices: Vec<Arc<dyn Device>>,
}

impl<'g> SolverBuilder<'g> {
    /// How many threads; 0, the default, for one a core.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Who watches and may cancel.
    pub fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// Where to solve; [`Engine::Auto`] by default. A GPU is opened when the first request needs it.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Solves on this device.
    #[cfg(test)]
    pub(crate) fn device(self, device: Arc<dyn Device>) -> Self {
        self.devices(vec![device])
    }

    /// Solves on these devices.
    #[cfg(test)]
    pub(crate) fn devices(mut self, devices: Vec<Arc<dyn Device>>) -> Self {
        self.engine = Engine::Cuda((0..devices.len() as u32).collect());
        self.devices = devices;
        self
    }

    /// How many bytes of memory the engine may take: on the CPU beyond the graph, on a GPU with it, on each of several. By
    /// default what the machine, or the device, has available.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Whether shortest paths on a GPU also count what takes time to count: how many relaxations lowered a distance,
    /// how many were in vain, and how large the frontiers were. They are in the report's
    /// [`statistics`](crate::problems::Report::statistics) and [`frontiers`](crate::problems::Report::frontiers).
    ///
    /// The exception is `many-sources`, and what is made of it (many sources of [`Solver::solve_each`] at once, all pairs by
    /// searches): its searches tell what it counts of a whole batch anyway, and nothing of this.
    pub fn statistics(mut self, statistics: bool) -> Self {
        self.statistics = statistics;
        self
    }

    /// The solver.
    ///
    /// # Errors
    ///
    /// If the threads can't be started. A device that is not there is an error of the first request that needs it.
    pub fn open(self) -> Result<Solver<'g>> {
        let memory = match self.engine {
            Engine::Cuda(_) => available_memory(),
            _ => self.memory.unwrap_or_else(available_memory),
        };
        let team = Team::new(self.threads)?;
        let cuda = Mutex::new(CudaState::on(self.devices, team.threads()));
        Ok(Solver {
            graph: self.graph,
            team,
            control: self.control,
            engine: self.engine,
            limit: self.memory,
            memory,
            statistics: self.statistics,
            cuda,
        })
    }
}

/// What keeps [`Request`] and [`Search`] to the requests of this crate.
mod sealed {
    use crate::problems::{Apsp, ApspIntoSink, Bfs, Closure, ClosureCounts, Sssp};

    pub trait Sealed {}
    impl Sealed for Apsp {}
    impl Sealed for ApspIntoSink<'_> {}
    impl Sealed for Bfs {}
    impl Sealed for Closure {}
    impl Sealed for ClosureCounts {}
    impl Sealed for Sssp {}
}

/// A question that a [`Solver`] answers: [`Bfs`], [`Sssp`], [`Apsp`](crate::Apsp), [`Closure`](crate::Closure), and what
/// becomes of these. There are no others.
pub trait Request: sealed::Sealed + Send {
    /// The answer.
    type Answer: Send;
    /// What the answer will take, beyond the graph itself: [`Solver::plan`] has it.
    ///
    /// # Errors
    ///
    /// If the request makes no sense for the solver's graph.
    #[doc(hidden)]
    fn plan(&self, solver: &Solver<'_>) -> Result<Plan>;
    /// Whether the caller's code takes parts of the answer while it comes about, and may want threads for that.
    #[doc(hidden)]
    fn has_sink(&self) -> bool {
        false
    }
    /// Answers it. [`Solver::solve`] has checked the plan before.
    ///
    /// # Errors
    ///
    /// As [`Solver::solve`].
    #[doc(hidden)]
    fn solve_on(self, solver: &Solver<'_>) -> Result<Self::Answer>;
}

/// A request for one search, which can be put again from another source: see [`Solver::solve_each`].
pub trait Search: Request<Answer = ShortestPathTree> + Clone + Sync {
    /// The same request from this source alone.
    fn starting_at(&self, source: VertexId) -> Self;

    /// Why the searches to come go to the engine that they go to.
    #[doc(hidden)]
    fn engine_reason(&self, solver: &Solver<'_>) -> String;

    /// What [`Solver::solve_each`] would take for these sources at any time, beyond the graph itself.
    ///
    /// # Errors
    ///
    /// If the request makes no sense for the solver's graph.
    #[doc(hidden)]
    fn plan_together(&self, solver: &Solver<'_>, sources: &[VertexId]) -> Result<Plan> {
        sources.first().map_or_else(|| Ok(Plan::new()), |&first| self.starting_at(first).plan(solver))
    }

    /// Answers the request for all these sources at once, sharing work between them, and hands over the trees in their
    /// order; false, with nothing done, where single searches are better, which is the default.
    ///
    /// # Errors
    ///
    /// As [`Solver::solve_each`].
    #[doc(hidden)]
    fn solve_together(
        &self,
        solver: &Solver<'_>,
        sources: &[VertexId],
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<bool> {
        let _ = (solver, sources, each);
        Ok(false)
    }
}

impl<'g> Solver<'g> {
    /// A solver with default options.
    ///
    /// # Errors
    ///
    /// If the threads can't be started.
    pub fn new(graph: &'g Graph) -> Result<Self> {
        Self::builder(graph).open()
    }

    /// Options first.
    pub fn builder(graph: &'g Graph) -> SolverBuilder<'g> {
        SolverBuilder {
            graph,
            threads: 0,
            control: Control::new(),
            engine: Engine::Auto,
            memory: None,
            statistics: false,
            devices: Vec::new(),
        }
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// What answering a request would take, beyond the graph itself.
    ///
    /// # Errors
    ///
    /// If the request makes no sense for the graph, or a device that it needs is not there.
    pub fn plan<R: Request>(&self, request: &R) -> Result<Plan> {
        self.check_not_answering()?;
        request.plan(self)
    }

    /// Answers a request. Several threads may put requests to one solver, those of a rayon pool, too.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] before any work if the plan exceeds the memory allowed; [`Error::InvalidRequest`] if it comes
    /// from within a callback of this solver, which would wait for itself: another solver of the same graph takes it; and
    /// whatever else the request can run into.
    pub fn solve<R: Request>(&self, request: R) -> Result<R::Answer> {
        if request.has_sink() {
            self.answer_into_sink(|| self.solve_here(request))
        } else {
            self.answer(|| self.solve_here(request))
        }
    }

    /// Answers a request, or a part of one, on the calling thread.
    fn solve_here<R: Request>(&self, request: R) -> Result<R::Answer> {
        let plan = request.plan(self)?;
        let _on_cpu = match self.check_plan(&plan) {
            // It was only predicted that the device would do; meanwhile it failed, or another program took its memory.
            Err(error)
                if self.engine == Engine::Auto
                    && !plan.device_items().is_empty()
                    && place::leaves_it_to_the_cpu(&error) =>
            {
                let on_cpu = self.stay_on_cpu(error.to_string());
                self.check_plan(&request.plan(self)?)?;
                Some(on_cpu)
            }
            checked => checked.map(|()| None)?,
        };
        request.solve_on(self)
    }

    /// Breadth-first search from one source, with predecessors.
    pub fn bfs(&self, source: VertexId) -> Result<ShortestPathTree> {
        self.solve(Bfs::from(source))
    }

    /// Shortest paths from one source, with predecessors.
    pub fn sssp(&self, source: VertexId) -> Result<ShortestPathTree> {
        self.solve(Sssp::from(source))
    }

    /// The vertices without repetition, after checking that each exists.
    fn checked(&self, vertices: &[VertexId], role: &str) -> Result<Vec<VertexId>> {
        self.graph.check_vertices(vertices, role)?;
        let mut vertices = memory::copied("the list of vertices", vertices)?;
        vertices.sort_unstable();
        vertices.dedup();
        Ok(vertices)
    }

    fn checked_sources(&self, sources: &[VertexId]) -> Result<Vec<VertexId>> {
        if sources.is_empty() {
            return Err(Error::invalid("a search needs at least one source"));
        }
        self.checked(sources, "source")
    }
}

fn attach_distances<L: Lane>(
    solver: &Solver<'_>,
    adjacency: Adjacency<'_, L::Weight>,
    tree: &mut ShortestPathTree,
    distances: Vec<L::Distance>,
    distances_only: bool,
) -> Result<()> {
    if !distances_only && tree.predecessors.is_none() {
        let start = Instant::now();
        let negative = tree.problem == Problem::Sssp && solver.graph.has_negative_weights();
        let derive = || derive_predecessors::<L>(adjacency, &tree.sources, &distances, negative);
        tree.predecessors = Some(solver.team.install(derive)?);
        tree.report.seconds.predecessors = start.elapsed().as_secs_f64();
    }
    tree.distances = L::Distance::into_distances(distances);
    Ok(())
}

/// The cutoff or the distance of the farthest target, whichever is less.
fn radius_of_ball<D: DistanceValue>(distances: &[D], targets: &[VertexId], cutoff: D) -> D {
    let farthest = targets.iter().map(|&target| distances[target as usize]).reduce(|a, b| if a < b { b } else { a });
    let farthest = farthest.unwrap_or(D::UNREACHABLE);
    if farthest < cutoff { farthest } else { cutoff }
}

/// Unmarks every vertex beyond the cutoff or the farthest target; returns that bound, `None` if there is none.
fn trim_to_ball<D: DistanceValue>(distances: &mut [D], targets: &[VertexId], cutoff: D) -> Option<Distance> {
    let bound = radius_of_ball(distances, targets, cutoff);
    if bound != D::UNREACHABLE {
        distances.iter_mut().filter(|distance| bound < **distance).for_each(|distance| *distance = D::UNREACHABLE);
    }
    bound.distance()
}

/// What a search takes beyond the graph.
fn plan_search(solver: &Solver<'_>, bytes_per_distance: u64, distances_only: bool) -> Plan {
    let vertices = solver.graph.vertices() as u64;
    let mut plan = Plan::new();
    plan.memory("distances", vertices * bytes_per_distance);
    plan.memory("queues and marks", vertices * 13);
    if !distances_only {
        plan.memory("predecessors", vertices * 4);
    }
    plan
}
