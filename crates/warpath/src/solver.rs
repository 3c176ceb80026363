//! The face of Warpath: takes requests, decides how each is answered, and hands results back.
//!
//! A request is decided once ([`Decision`], in `decision.rs`), and everything else reads the decision: the plan, the
//! report, the work itself, and what happens if a device fails. Each problem's file decides, and does the work or
//! leaves it to `work.rs` in its folder.

mod apsp;
mod batches;
mod betweenness;
mod bfs;
mod closure;
mod costs;
mod decision;
mod device;
mod each;
mod entrance;
mod facts;
mod hierarchy;
mod k_shortest_paths;
mod neighborhoods;
mod pairs;
mod path;
mod semirings;
mod sssp;
mod swept;
mod turns;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use self::decision::Decision;
use self::decision::leaves_it_to_the_cpu;
use self::device::DeviceState;
use self::facts::Facts;
use self::hierarchy::Prepared;
use self::turns::Turns;
use crate::cuda::device::Device;
use crate::graph::{Distance, DistanceValue, Graph, VertexId, Weights};
use crate::hierarchy::Hierarchy;
use crate::problems::{Bfs, ShortestPathTree, Sssp};
use crate::team::{Team, at_most_cores};
use crate::{Control, Engine, Error, Plan, Result, available_memory, memory};

/// Solves requests on one graph, which it prepares once.
///
/// A solver owns its graph, together with whoever else does, and can be shared: requests may come from several threads
/// at once. Searches on the CPU then run side by side, each on one thread; a device answers one request after another.
///
/// ```
/// use warpath::{Graph, Solver, Sssp};
/// let graph = Graph::from_edges([(0, 1, 3_u32), (1, 2, 4)])?;
/// let solver = Solver::builder(graph).threads(2).open()?;
/// assert_eq!(solver.solve(Sssp::from(0))?.distance(2).unwrap().to_f64(), 7.0);
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug)]
pub struct Solver {
    graph: Arc<Graph>,
    team: Arc<Team>,
    control: Control,
    engine: Engine,
    /// The caller's limit on the bytes that the chosen engine may take, if any.
    limit: Option<u64>,
    /// How many bytes may be taken on the CPU.
    memory: u64,
    /// Whether to gather statistics that cost time.
    statistics: bool,
    facts: Arc<Facts>,
    hierarchy: Arc<Prepared>,
    turns: Turns,
    device: Mutex<DeviceState>,
    /// Why the first device that failed did.
    device_failure: OnceLock<String>,
}

/// Options of a [`Solver`].
#[derive(Debug, Clone)]
pub struct SolverBuilder {
    graph: Arc<Graph>,
    threads: usize,
    control: Control,
    engine: Engine,
    memory: Option<u64>,
    statistics: bool,
    hierarchy: Option<Hierarchy>,
    devices: Vec<Arc<dyn Device>>,
}

impl SolverBuilder {
    /// The number of threads; 0, the default, means one per core. There are never more threads than cores that this
    /// process may use: they meet at barriers, where those that run would wait for those that do not.
    /// [`Solver::threads`] tells the number.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the control, which watches the work and may cancel it.
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

    /// How many bytes of memory the engine may take: on the CPU beyond the graph, on a GPU including it, and with
    /// several GPUs on each. By default, all that the machine or the device has available.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Whether shortest-path searches on a GPU also gather statistics that cost time: how many relaxations lowered a
    /// distance, how many were in vain, and how large the frontiers were. They are in the report's
    /// [`statistics`](crate::problems::Report::statistics) and [`frontiers`](crate::problems::Report::frontiers).
    ///
    /// The exception is `many-sources` and whatever uses it (many sources of [`Solver::solve_each`] at once, all pairs
    /// by searches): it reports only the counters that it always has, of a whole batch.
    pub fn statistics(mut self, statistics: bool) -> Self {
        self.statistics = statistics;
        self
    }

    /// A hierarchy of the graph, the one that [`Hierarchy::read`](crate::hierarchy::Hierarchy::read) has read beside it, or a
    /// new one. Where it is predicted to be quicker, searches by weights, pairs, tables and all pairs are answered from it. Without
    /// one, the solver makes its own where many questions pay for it.
    ///
    /// ```
    /// use warpath::hierarchy::Hierarchy;
    /// let graph = std::sync::Arc::new(warpath::generate("roads:5000,weights=1..100")?);
    /// let hierarchy = Hierarchy::new(graph.clone())?;
    /// let solver = warpath::Solver::builder(graph).hierarchy(hierarchy).open()?;
    /// let trees = solver.decide_each(&warpath::Sssp::from(0).distances_only(), &[7; 100])?;
    /// assert_eq!(trees.algorithm(), "hierarchy");
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn hierarchy(mut self, hierarchy: Hierarchy) -> Self {
        self.hierarchy = Some(hierarchy);
        self
    }

    /// Makes the solver.
    ///
    /// # Errors
    ///
    /// If the threads can't be started, or if the hierarchy is not one of this graph. A missing device is an error of the
    /// first request that needs it.
    pub fn open(self) -> Result<Solver> {
        if self.hierarchy.as_ref().is_some_and(|hierarchy| !hierarchy.is_of(&self.graph)) {
            return Err(Error::invalid("the hierarchy is that of another graph"));
        }
        let memory = match self.engine {
            Engine::Cuda(_) => available_memory(),
            _ => self.memory.unwrap_or_else(available_memory),
        };
        let team = Arc::new(Team::new(at_most_cores(self.threads))?);
        let device = Mutex::new(DeviceState::on(self.devices, team.threads()));
        Ok(Solver {
            graph: self.graph,
            team,
            control: self.control,
            engine: self.engine,
            limit: self.memory,
            memory,
            statistics: self.statistics,
            facts: Arc::default(),
            hierarchy: Arc::new(Prepared::of(self.hierarchy)),
            turns: Turns::default(),
            device,
            device_failure: OnceLock::new(),
        })
    }
}

/// Restricts [`Request`] and [`Search`] to the requests of this crate.
mod sealed {
    use crate::problems::{
        Apsp, ApspIntoSink, Betweenness, Bfs, Closure, ClosureCounts, KShortestPaths, Neighborhoods, Pairs, Sssp,
    };

    pub trait Sealed {}
    impl Sealed for Apsp {}
    impl Sealed for ApspIntoSink<'_> {}
    impl Sealed for Betweenness {}
    impl Sealed for Bfs {}
    impl Sealed for Closure {}
    impl Sealed for ClosureCounts {}
    impl Sealed for KShortestPaths {}
    impl Sealed for Neighborhoods {}
    impl Sealed for Pairs {}
    impl Sealed for Sssp {}
}

/// A question that a [`Solver`] answers: [`Bfs`], [`Sssp`], [`Pairs`](crate::Pairs),
/// [`KShortestPaths`](crate::KShortestPaths), [`Betweenness`](crate::Betweenness), [`Neighborhoods`](crate::Neighborhoods), [`Apsp`](crate::Apsp), [`Closure`](crate::Closure), and the requests made
/// from these. There are no others.
pub trait Request: sealed::Sealed + Send {
    /// The answer.
    type Answer: Send;
    /// The algorithm of one of the engines, and whatever else the work needs to know.
    #[doc(hidden)]
    type Choice: Send + Sync;
    /// Decides how the request is answered. `many` is the number of searches like it that are wanted together, `None`
    /// for this one alone.
    ///
    /// # Errors
    ///
    /// If the request makes no sense for the solver's graph.
    #[doc(hidden)]
    fn decide(&self, solver: &Solver, many: Option<usize>) -> Result<Decision<Self::Choice>>;
    /// Decides the same on the CPU, for the given reason.
    ///
    /// # Errors
    ///
    /// As [`Request::decide`].
    #[doc(hidden)]
    fn decide_on_cpu(&self, solver: &Solver, many: Option<usize>, reason: String) -> Result<Decision<Self::Choice>>;
    /// Decides again after a decision has failed with this error: the CPU takes over where a device was only predicted
    /// to be quicker. Where a device was asked for and has too little memory now, it is decided on anew.
    ///
    /// # Errors
    ///
    /// The error itself, if there is nothing else to try.
    #[doc(hidden)]
    fn decide_again(
        &self,
        solver: &Solver,
        many: Option<usize>,
        failed: &Decision<Self::Choice>,
        error: Error,
    ) -> Result<Decision<Self::Choice>> {
        if failed.fallback && leaves_it_to_the_cpu(&error) {
            return self.decide_on_cpu(solver, many, error.to_string());
        }
        // Another program may have taken memory of the device: then something that takes less there may have room.
        if failed.placed.is_on_cuda() && matches!(error, Error::OutOfMemory { .. }) {
            let again = self.decide(solver, many)?;
            if again.placed.is_on_cuda() && again.plan.device_bytes() < failed.plan.device_bytes() {
                return Ok(again);
            }
        }
        Err(error)
    }
    /// Whether the caller's code takes parts of the answer during the work, and may want threads for that.
    #[doc(hidden)]
    fn has_sink(&self) -> bool {
        false
    }
    /// Whether the request is a search that can run on all threads of the CPU, or on one.
    #[doc(hidden)]
    fn takes_a_turn(&self, _: &Decision<Self::Choice>) -> bool {
        false
    }
    /// Carries out the decision, on these threads if the CPU does the work. The plan has been checked.
    ///
    /// # Errors
    ///
    /// As [`Solver::solve`].
    #[doc(hidden)]
    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<Self::Choice>) -> Result<Self::Answer>;
}

/// A request for one search, which can be repeated from another source: see [`Solver::solve_each`].
pub trait Search: Request<Answer = ShortestPathTree> + Clone + Sync {
    /// The same request from this source alone.
    fn starting_at(&self, source: VertexId) -> Self;

    /// Searches from all these sources, in batches that share work, and hands over the trees in the order of the
    /// sources. Called only where batches were decided on.
    ///
    /// # Errors
    ///
    /// As [`Solver::solve_each`].
    #[doc(hidden)]
    fn run_batches(
        &self,
        solver: &Solver,
        decision: &Decision<Self::Choice>,
        sources: &[VertexId],
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<()>;
}

impl Solver {
    /// A solver with default options.
    ///
    /// # Errors
    ///
    /// If the threads can't be started.
    pub fn new(graph: impl Into<Arc<Graph>>) -> Result<Self> {
        Self::builder(graph).open()
    }

    /// Starts a solver with options.
    pub fn builder(graph: impl Into<Arc<Graph>>) -> SolverBuilder {
        SolverBuilder {
            graph: graph.into(),
            threads: 0,
            control: Control::new(),
            engine: Engine::Auto,
            memory: None,
            statistics: false,
            hierarchy: None,
            devices: Vec::new(),
        }
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Gives the arcs of the graph, in their order, other weights: today's traffic. An order of the vertices and its shortcuts, what is
    /// known of the edges, and open devices stay; a hierarchy is customized for these weights when a request first needs that.
    /// The solver has a copy of the graph then, which takes O(V + E) on all threads; whoever else has the graph keeps it as it was.
    ///
    /// ```
    /// use warpath::{Graph, Solver, Sssp, graph::Weights};
    /// let mut solver = Solver::new(Graph::from_edges([(0, 1, 3_u32), (1, 2, 4)])?)?;
    /// assert_eq!(solver.solve(Sssp::from(0))?.distance(2).unwrap().to_f64(), 7.0);
    /// solver.set_weights(Weights::U32(vec![10, 5]))?;
    /// assert_eq!(solver.solve(Sssp::from(0))?.distance(2).unwrap().to_f64(), 15.0);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if their number is not the number of arcs, a float is not finite, or the graph is undirected and
    /// the two arcs of an edge differ; [`Error::OutOfMemory`]. The solver is as before then.
    pub fn set_weights(&mut self, weights: Weights) -> Result<()> {
        let graph = Arc::new(self.team.install(|| self.graph.reweighted(weights))?);
        self.hierarchy = Arc::new(self.hierarchy.reweighted(&graph));
        self.facts = Arc::new(self.facts.without_weights());
        self.graph = graph;
        self.device.get_mut().unwrap_or_else(PoisonError::into_inner).give_up_prepared();
        Ok(())
    }

    /// The number of threads that work on the CPU.
    pub fn threads(&self) -> usize {
        self.team.threads()
    }

    /// How a request would be answered, and the memory that this takes beyond the graph itself.
    ///
    /// ```
    /// let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 2, 7)])?;
    /// let solver = warpath::Solver::builder(graph).engine(warpath::Engine::Cpu).open()?;
    /// let decision = solver.decide(&warpath::Sssp::from(0))?;
    /// assert_eq!((decision.engine(), decision.algorithm()), ("cpu", "dijkstra"));
    /// assert!(decision.plan().memory_bytes() > 0);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the request makes no sense for the graph, or a device that it needs is missing.
    pub fn decide<R: Request>(&self, request: &R) -> Result<Decision> {
        self.check_not_answering()?;
        Ok(self.closing_a_lost_device(request.decide(self, None))?.without_choice())
    }

    /// Answers a request. Several threads may put requests to one solver, including workers of a rayon pool.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] before any work if the plan exceeds the memory allowed; [`Error::InvalidRequest`] if the
    /// request comes from within a callback of this solver, which would wait for itself (another solver of the same
    /// graph can take it); and any other error that the request runs into.
    pub fn solve<R: Request>(&self, request: R) -> Result<R::Answer> {
        if request.has_sink() {
            self.answer_into_sink(|| self.solve_here(request))
        } else {
            self.answer(|| self.solve_here(request))
        }
    }

    /// Answers a request on the calling thread.
    fn solve_here<R: Request>(&self, mut request: R) -> Result<R::Answer> {
        let mut decision = self.closing_a_lost_device(request.decide(self, None))?;
        loop {
            let answer = self.check_plan(&decision.plan).and_then(|()| {
                let turn = request.takes_a_turn(&decision).then(|| self.turns.wait(self.team.threads()));
                match turn {
                    Some(turn) if !turn.has_team() => request.run(self, &Team::alone(), &decision),
                    _turn => request.run(self, &self.team, &decision),
                }
            });
            match self.closing_a_lost_device(answer) {
                Ok(answer) => return Ok(answer),
                Err(error) => decision = request.decide_again(self, None, &decision, error)?,
            }
        }
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

/// The cutoff or the distance of the farthest target, whichever is less.
fn radius_of_ball<D: DistanceValue>(distances: &[D], targets: &[VertexId], cutoff: D) -> D {
    let farthest = targets.iter().map(|&target| distances[target as usize]).reduce(|a, b| if a < b { b } else { a });
    let farthest = farthest.unwrap_or(D::UNREACHABLE);
    if farthest < cutoff { farthest } else { cutoff }
}

/// Marks every vertex beyond the cutoff or the farthest target as unreachable; returns that bound, `None` if there is
/// none.
fn trim_to_ball<D: DistanceValue>(distances: &mut [D], targets: &[VertexId], cutoff: D) -> Option<Distance> {
    let bound = radius_of_ball(distances, targets, cutoff);
    if bound != D::UNREACHABLE {
        distances.iter_mut().filter(|distance| bound < **distance).for_each(|distance| *distance = D::UNREACHABLE);
    }
    bound.distance()
}

/// The memory that a search takes beyond the graph.
fn plan_search(solver: &Solver, bytes_per_distance: u64, distances_only: bool) -> Plan {
    let vertices = solver.graph.vertices() as u64;
    let mut plan = Plan::new();
    plan.memory("distances", vertices * bytes_per_distance);
    plan.memory("queues and marks", vertices * 13);
    if !distances_only {
        plan.memory("predecessors", vertices * 4);
    }
    plan
}
