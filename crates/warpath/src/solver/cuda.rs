//! What a solver keeps of the CUDA engine: the device it has opened, and the graph prepared there.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use std::time::Instant;

use super::Solver;
use crate::algorithms::Parameters;
use crate::cuda::bfs::BfsAlgorithm;
use crate::cuda::device::Device;
use crate::cuda::sssp::SsspAlgorithm;
use crate::problems::{Report, Seconds};
use crate::{Engine, Error, Result, cuda};
use crate::{Plan, available_memory};

/// A device and what is on it; nothing until a request needs it.
#[derive(Debug, Default)]
pub(super) struct CudaState {
    /// All that are open; requests that run on one run on the first.
    devices: Vec<Arc<dyn Device>>,
    /// How many threads of the host there are for it.
    threads: usize,
    prepared: Option<Prepared>,
    /// How many searches are known to come, the next one included; 0 for one.
    searches: usize,
    /// What breadth-first searches are here, by the algorithm that was asked for, if one was.
    known: HashMap<Option<String>, Arc<OnCuda<BfsAlgorithm>>>,
    /// What shortest-path searches are here, likewise.
    known_by_weight: HashMap<Option<String>, Arc<OnCuda<SsspAlgorithm>>>,
    /// Why requests that may go elsewhere do so.
    avoided: Option<String>,
    /// How many requests stay on the CPU although the device was to take them, and why the last of them does.
    on_cpu: (usize, String),
}

/// What a search is on the CUDA engine, by an algorithm of type `A`.
#[derive(Debug)]
pub(super) struct OnCuda<A: 'static> {
    /// The algorithm, with parameters, as text.
    pub(super) name: String,
    /// Why this one.
    pub(super) reason: String,
    pub(super) algorithm: &'static A,
    pub(super) parameters: Parameters,
    /// What it takes.
    pub(super) plan: Plan,
}

/// A graph ready for one algorithm that the solver does without while results are taken from it one by one. It goes back
/// when this is dropped.
#[derive(Debug)]
pub(super) struct Loan<'s, 'g, S: Any + Send> {
    solver: &'s Solver<'g>,
    algorithm: String,
    bytes: u64,
    search: Option<S>,
}

/// Requests that may go elsewhere than to a device do so, until this is dropped.
pub(super) struct OnCpu<'s, 'g> {
    solver: &'s Solver<'g>,
}

/// A graph on the device, ready for one algorithm.
#[derive(Debug)]
struct Prepared {
    /// The algorithm with its parameters, as it was asked for.
    algorithm: String,
    bytes: u64,
    /// A boxed search of one problem or another.
    search: Box<dyn Any + Send>,
}

impl CudaState {
    /// On these devices, if they are open already; with so many threads of the host.
    pub(super) fn on(devices: Vec<Arc<dyn Device>>, threads: usize) -> Self {
        CudaState { devices, threads, ..Default::default() }
    }

    /// The first device, opened if it was not.
    pub(super) fn device(&mut self, engine: &Engine) -> Result<Arc<dyn Device>> {
        if self.devices.is_empty() {
            let first = ordinals(engine)?.first().copied().unwrap_or(0);
            self.devices.push(cuda::open(first, self.threads)?);
        }
        Ok(self.devices[0].clone())
    }

    /// All devices, opened if they were not.
    pub(super) fn devices(&mut self, engine: &Engine) -> Result<Vec<Arc<dyn Device>>> {
        self.device(engine)?;
        for &ordinal in ordinals(engine)?.iter().skip(self.devices.len()) {
            self.devices.push(cuda::open(ordinal, self.threads)?);
        }
        Ok(self.devices.clone())
    }

    /// Tells how many searches are to come. If there was a reason for others to avoid the device, it is forgotten.
    pub(super) fn expect_searches(&mut self, searches: usize) {
        self.searches = searches;
        self.avoided = None;
    }

    /// How many searches are known to come.
    pub(super) fn searches_to_come(&self) -> usize {
        self.searches.max(1)
    }

    /// What such a search is, if that is known.
    pub(super) fn searches_known(&self, algorithm: &Option<String>) -> Option<Arc<OnCuda<BfsAlgorithm>>> {
        self.known.get(algorithm).cloned()
    }

    /// Remembers what such a search is.
    pub(super) fn remember(&mut self, algorithm: Option<String>, search: Arc<OnCuda<BfsAlgorithm>>) {
        self.known.insert(algorithm, search);
    }

    /// What such a search by weights is, if that is known.
    pub(super) fn known_by_weight(&self, algorithm: &Option<String>) -> Option<Arc<OnCuda<SsspAlgorithm>>> {
        self.known_by_weight.get(algorithm).cloned()
    }

    /// Remembers what such a search by weights is.
    pub(super) fn remember_by_weight(&mut self, algorithm: Option<String>, search: Arc<OnCuda<SsspAlgorithm>>) {
        self.known_by_weight.insert(algorithm, search);
    }

    /// Whether the device is open.
    pub(super) fn is_open(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Whether the graph is ready for this algorithm.
    pub(super) fn has_prepared(&self, algorithm: &str) -> bool {
        self.prepared.as_ref().is_some_and(|prepared| prepared.algorithm == algorithm)
    }

    /// The graph ready for this algorithm, made so by `prepare` if it was not. What was prepared for another is given
    /// up first. `S` is the box of the problem's searches: the same name may be that of another problem's algorithm.
    pub(super) fn prepared<S: Any + Send>(
        &mut self,
        algorithm: &str,
        bytes: u64,
        prepare: impl FnOnce() -> Result<S>,
    ) -> Result<&mut S> {
        if self.prepared.as_ref().is_none_or(|there| there.algorithm != algorithm || !there.search.is::<S>()) {
            self.prepared = None;
            self.prepared = Some(Prepared { algorithm: algorithm.to_owned(), bytes, search: Box::new(prepare()?) });
        }
        let prepared = self.prepared.as_mut().and_then(|prepared| prepared.search.downcast_mut());
        prepared.ok_or_else(|| Error::Device("nothing is prepared".into()))
    }

    /// Hands out what [`CudaState::prepared`] would.
    fn take_prepared<S: Any + Send>(
        &mut self,
        algorithm: &str,
        bytes: u64,
        prepare: impl FnOnce() -> Result<S>,
    ) -> Result<S> {
        self.prepared(algorithm, bytes, prepare)?;
        let taken = self.prepared.take().and_then(|prepared| prepared.search.downcast().ok());
        taken.map(|search| *search).ok_or_else(|| Error::Device("nothing is prepared".into()))
    }

    /// Gives up the graph, if one is prepared: its memory is needed.
    pub(super) fn give_up_prepared(&mut self) {
        self.prepared = None;
    }

    /// Has the searches to come avoid the device, if there are more of them.
    pub(super) fn avoid(&mut self, reason: &str) {
        if self.searches > 1 {
            self.avoided = Some(reason.to_owned());
        }
    }

    /// Gives up device and graph, so that the next request opens it afresh.
    pub(super) fn close(&mut self) {
        let (searches, avoided) = (self.searches, self.avoided.take());
        let on_cpu = std::mem::take(&mut self.on_cpu);
        *self = CudaState { searches, avoided, on_cpu, ..CudaState::on(Vec::new(), self.threads) };
    }
}

/// The numbers of the devices that are asked for.
fn ordinals(engine: &Engine) -> Result<Vec<u32>> {
    match engine {
        Engine::Cuda(ordinals) if ordinals.is_empty() => Ok((0..cuda::devices()?.len() as u32).collect()),
        Engine::Cuda(ordinals) => Ok(ordinals.clone()),
        _ => Ok(vec![0]),
    }
}

impl<'s, 'g, S: Any + Send> Loan<'s, 'g, S> {
    /// The graph as it is chosen, made ready by `prepare` if it was not, and what there is to report of that.
    pub(super) fn take<A>(
        solver: &'s Solver<'g>,
        chosen: &OnCuda<A>,
        prepare: impl FnOnce(&Arc<dyn Device>) -> Result<S>,
    ) -> Result<(Self, Report)> {
        let start = Instant::now();
        let bytes = chosen.plan.device_bytes();
        let mut state = solver.cuda();
        let device = state.device(&solver.engine)?;
        let search = state.take_prepared(&chosen.name, bytes, || prepare(&device))?;
        let report = Report {
            engine: format!("cuda:{}", device.properties().ordinal),
            device_bytes: bytes,
            seconds: Seconds { prepare: start.elapsed().as_secs_f64(), ..Default::default() },
            ..Default::default()
        };
        Ok((Loan { solver, algorithm: chosen.name.clone(), bytes, search: Some(search) }, report))
    }

    /// What was prepared.
    pub(super) fn search(&mut self) -> Result<&mut S> {
        self.search.as_mut().ok_or_else(|| Error::Device("nothing is prepared".into()))
    }
}

impl<S: Any + Send> Drop for Loan<'_, '_, S> {
    fn drop(&mut self) {
        if let Some(search) = self.search.take() {
            let algorithm = std::mem::take(&mut self.algorithm);
            let prepared = Prepared { algorithm, bytes: self.bytes, search: Box::new(search) };
            self.solver.cuda().prepared = Some(prepared);
        }
    }
}

impl Drop for OnCpu<'_, '_> {
    fn drop(&mut self) {
        self.solver.cuda().on_cpu.0 -= 1;
    }
}

impl<'g> Solver<'g> {
    /// Has requests that may go elsewhere than to a device do so, as long as what is returned lives.
    pub(super) fn stay_on_cpu(&self, reason: String) -> OnCpu<'_, 'g> {
        let mut state = self.cuda();
        state.on_cpu = (state.on_cpu.0 + 1, reason);
        OnCpu { solver: self }
    }

    /// Why nothing goes to a device that may go elsewhere, if that is plain without waking the driver.
    pub(super) fn no_device(&self) -> Option<String> {
        let state = self.cuda();
        let stays = (state.on_cpu.0 > 0).then(|| state.on_cpu.1.clone());
        stays.or_else(|| state.avoided.clone()).or_else(|| if state.is_open() { None } else { cuda::plainly_absent() })
    }
}

impl Solver<'_> {
    pub(super) fn cuda(&self) -> MutexGuard<'_, CudaState> {
        self.cuda.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error if a plan exceeds what its engine may take.
    pub(super) fn check_plan(&self, plan: &Plan) -> Result<()> {
        if plan.device_items().is_empty() {
            return plan.check(self.memory);
        }
        plan.check(available_memory())?;
        plan.check_device(self.allowed_on_device()?)
    }

    /// All devices, and how many bytes of the memory of each a request may take. They are opened if they were not.
    pub(super) fn devices_and_memory(&self) -> Result<(Vec<Arc<dyn Device>>, u64)> {
        let mut available = self.allowed_on_device()?;
        let mut state = self.cuda();
        let devices = state.devices(&self.engine)?;
        for other in &devices[1..] {
            match other.free_bytes() {
                Err(error @ Error::Device(_)) => {
                    state.close();
                    return Err(error);
                }
                free => available = available.min(free?),
            }
        }
        Ok((devices, available))
    }

    /// How many bytes of the device's memory a request may take. The device is opened if it was not. Of several, it is the
    /// first one's.
    ///
    /// # Errors
    ///
    /// If there is no device, or a callback of this solver asks.
    pub fn device_memory(&self) -> Result<u64> {
        self.check_not_answering()?;
        self.allowed_on_device()
    }

    /// [`Solver::device_memory`], for a request that is being answered.
    pub(super) fn allowed_on_device(&self) -> Result<u64> {
        let mut state = self.cuda();
        let device = state.device(&self.engine)?;
        let ours = state.prepared.as_ref().map_or(0, |prepared| prepared.bytes);
        let free = match device.free_bytes() {
            Err(error @ Error::Device(_)) => {
                state.close();
                return Err(error);
            }
            free => free?.saturating_add(ours),
        };
        Ok(self.limit.map_or(free, |limit| limit.min(free)))
    }
}
