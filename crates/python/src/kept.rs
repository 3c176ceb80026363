//! What a graph of Python keeps: its solver, opened when it is first needed, and the graph on a device, if it is there.
//!
//! A graph of the host has a solver from the beginning. One that was made of arrays on a device gets it, with a copy of the graph on the
//! host, once it is asked for something that needs it. A forked process gets a solver of its own.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use pyo3::PyResult;
use warpath::graph::{WeightKind, Weights};
use warpath::hierarchy::Hierarchy;
use warpath::resident::ResidentGraph;
use warpath::{Engine, Graph, Result, Solver, SolverBuilder};

use crate::calls::Calls;
use crate::errors::exception;
use crate::forks::this_process;

/// Where and with what a graph is solved.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) engine: Engine,
    pub(crate) threads: usize,
    pub(crate) memory: Option<u64>,
}

impl Options {
    pub(crate) fn new(engine: &str, threads: usize, memory: Option<u64>) -> PyResult<Self> {
        let parsed: Result<Engine> = engine.parse();
        let engine = parsed.and_then(|engine| engine.check().map(|()| engine)).map_err(exception)?;
        Ok(Options { engine, threads, memory })
    }

    /// Whether arrays on a device may stay there: not if the CPU was asked for, or there is a limit, which the solver keeps.
    pub(crate) fn allow_resident(&self) -> bool {
        self.engine != Engine::Cpu && self.memory.is_none()
    }

    /// Whether this device may be used.
    pub(crate) fn allow_device(&self, device: u32) -> bool {
        match &self.engine {
            Engine::Cuda(ordinals) => ordinals.is_empty() || ordinals.contains(&device),
            engine => *engine != Engine::Cpu,
        }
    }

    /// The device that comes first.
    fn device(&self) -> u32 {
        match &self.engine {
            Engine::Cuda(ordinals) => ordinals.first().copied().unwrap_or(0),
            _ => 0,
        }
    }

    fn builder(&self, graph: Arc<Graph>, calls: &Calls) -> SolverBuilder {
        let builder = Solver::builder(graph).engine(self.engine.clone()).threads(self.threads).control(calls.control());
        self.memory.into_iter().fold(builder, SolverBuilder::memory)
    }
}

/// What is known of a graph wherever it is.
pub(crate) struct Size {
    pub(crate) vertices: usize,
    pub(crate) arcs: usize,
    pub(crate) is_directed: bool,
    pub(crate) weights: WeightKind,
}

/// The solver and the graph on a device, of which one at least is there.
pub(crate) struct Kept {
    solver: OnceLock<RwLock<Solver>>,
    /// Held by whoever opens it.
    opening: Mutex<()>,
    /// The process whose threads the solver has.
    process: AtomicU32,
    resident: Mutex<Option<Arc<ResidentGraph>>>,
    pub(crate) calls: Calls,
    pub(crate) options: Options,
}

impl Kept {
    fn new(options: Options, resident: Option<ResidentGraph>) -> Self {
        let (solver, opening) = Default::default();
        let process = AtomicU32::new(this_process());
        Kept { solver, opening, process, resident: Mutex::new(resident.map(Arc::new)), calls: Calls::new(), options }
    }

    /// A graph of the host.
    pub(crate) fn of_graph(graph: Arc<Graph>, hierarchy: Option<Hierarchy>, options: Options) -> Result<Self> {
        let kept = Kept::new(options, None);
        let builder = kept.options.builder(graph, &kept.calls);
        let solver = hierarchy.into_iter().fold(builder, SolverBuilder::hierarchy).open()?;
        kept.solver.get_or_init(|| RwLock::new(solver));
        Ok(kept)
    }

    /// A graph on a device.
    pub(crate) fn of_resident(graph: ResidentGraph, options: Options) -> Self {
        Kept::new(options, Some(graph))
    }

    fn resident_there(&self) -> MutexGuard<'_, Option<Arc<ResidentGraph>>> {
        self.resident.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The graph on a device, copied there if it is not.
    pub(crate) fn resident(&self) -> Result<Arc<ResidentGraph>> {
        if let Some(resident) = &*self.resident_there() {
            return Ok(resident.clone());
        }
        if !self.options.allow_resident() {
            let message =
                "on_device is not for graphs with engine=\"cpu\" or memory=, a limit that it would not keep".into();
            return Err(warpath::Error::InvalidRequest(message));
        }
        // Held until the copy is known: nobody changes weights meanwhile.
        let solver = self.solver()?;
        let mut there = self.resident_there();
        if let Some(resident) = &*there {
            return Ok(resident.clone());
        }
        let resident = Arc::new(ResidentGraph::from_graph(solver.graph(), self.options.device())?);
        *there = Some(resident.clone());
        Ok(resident)
    }

    /// The solver's lock, with the solver opened on a copy of the graph if it is on a device alone.
    fn lock(&self) -> Result<&RwLock<Solver>> {
        if let Some(solver) = self.solver.get() {
            return Ok(solver);
        }
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(solver) = self.solver.get() {
            return Ok(solver);
        }
        let resident = self.resident_there().clone();
        let Some(resident) = resident else { return Err(warpath::Error::Device("the graph is gone".into())) };
        let solver = self.options.builder(Arc::new(resident.to_graph()?), &self.calls).open()?;
        self.process.store(this_process(), Ordering::Release);
        Ok(self.solver.get_or_init(|| RwLock::new(solver)))
    }

    /// The solver, to be asked for by threads that do not hold the interpreter.
    pub(crate) fn solver(&self) -> Result<RwLockReadGuard<'_, Solver>> {
        let solver = self.lock()?;
        if self.process.load(Ordering::Acquire) != this_process() {
            drop(self.solver_to_change()?);
        }
        Ok(solver.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives the arcs other weights. What is on a device has the old ones, and goes.
    pub(crate) fn set_weights(&self, weights: Weights) -> Result<()> {
        let mut solver = self.solver_to_change()?;
        solver.set_weights(weights)?;
        *self.resident_there() = None;
        Ok(())
    }

    /// The solver, to be changed.
    pub(crate) fn solver_to_change(&self) -> Result<RwLockWriteGuard<'_, Solver>> {
        let mut solver = self.lock()?.write().unwrap_or_else(PoisonError::into_inner);
        let this = this_process();
        if self.process.load(Ordering::Acquire) != this {
            let hierarchy = solver.prepared_hierarchy().cloned();
            let builder = self.options.builder(solver.graph().clone(), &self.calls);
            let here = hierarchy.into_iter().fold(builder, SolverBuilder::hierarchy).open()?;
            // The threads and devices of a parent process can't be closed here.
            std::mem::forget(std::mem::replace(&mut *solver, here));
            self.process.store(this, Ordering::Release);
        }
        Ok(solver)
    }

    /// A solver with this hierarchy in the place of one without.
    pub(crate) fn with_hierarchy(&self, graph: Arc<Graph>, hierarchy: Hierarchy) -> Result<Solver> {
        self.options.builder(graph, &self.calls).hierarchy(hierarchy).open()
    }

    /// Whether a hierarchy is there.
    pub(crate) fn has_hierarchy(&self) -> bool {
        let there = |solver: &RwLock<Solver>| {
            solver.read().unwrap_or_else(PoisonError::into_inner).prepared_hierarchy().is_some()
        };
        self.solver.get().is_some_and(there)
    }

    /// Why a GPU failed for which the CPU has answered, if nobody changes the solver now.
    pub(crate) fn device_failure(&self) -> Option<String> {
        let solver = self.solver.get()?.try_read().ok()?;
        solver.device_failure().filter(|_| self.options.engine == Engine::Auto).map(str::to_owned)
    }

    /// The graph on the host.
    pub(crate) fn graph(&self) -> Result<Arc<Graph>> {
        Ok(self.lock()?.read().unwrap_or_else(PoisonError::into_inner).graph().clone())
    }

    /// What is known of the graph wherever it is.
    pub(crate) fn size(&self) -> Size {
        const NOTHING: Size = Size { vertices: 0, arcs: 0, is_directed: true, weights: WeightKind::Unit };
        let of_solver = |solver: &RwLock<Solver>| {
            let solver = solver.read().unwrap_or_else(PoisonError::into_inner);
            let graph = solver.graph();
            let (vertices, arcs, weights) = (graph.vertices(), graph.arcs(), graph.weight_kind());
            Size { vertices, arcs, is_directed: graph.is_directed(), weights }
        };
        if let Some(solver) = self.solver.get() {
            return of_solver(solver);
        }
        match &*self.resident_there() {
            Some(graph) => {
                let (vertices, arcs, weights) = (graph.vertices(), graph.arcs(), graph.weight_kind());
                Size { vertices, arcs, is_directed: graph.is_directed(), weights }
            }
            // Somebody has just opened the solver.
            None => self.solver.get().map_or(NOTHING, of_solver),
        }
    }

    /// The device with the graph, if it is on one and has no copy on the host.
    pub(crate) fn only_on(&self) -> Option<u32> {
        if self.solver.get().is_some() { None } else { self.resident_there().as_ref().map(|graph| graph.device()) }
    }
}
