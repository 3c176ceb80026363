//! What a solver keeps of the CUDA engine: the devices it has opened, and the graph prepared there.

use std::any::Any;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Instant;

use super::Solver;
use super::facts::OnDevice;
use crate::cuda::device::Device;
use crate::problems::{Report, Seconds};
use crate::{Engine, Error, Plan, Result, available_memory, cuda};

/// Devices and what is on the first; nothing until a request needs it.
#[derive(Debug, Default)]
pub(super) struct DeviceState {
    /// All that are open; requests that run on one run on the first.
    devices: Vec<Arc<dyn Device>>,
    /// How many threads of the host there are for it.
    threads: usize,
    prepared: Option<Prepared>,
}

/// A graph ready for one algorithm that the solver does without while results are taken from it one by one. It goes back
/// when this is dropped.
#[derive(Debug)]
pub(super) struct Loan<'s, S: Any + Send> {
    solver: &'s Solver,
    algorithm: String,
    bytes: u64,
    search: Option<S>,
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

impl DeviceState {
    /// On these devices, if they are open already; with so many threads of the host.
    pub(super) fn on(devices: Vec<Arc<dyn Device>>, threads: usize) -> Self {
        DeviceState { devices, threads, prepared: None }
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

    /// Hands out what [`DeviceState::prepared`] would.
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

    /// Gives up devices and graph, so that the next request opens them afresh.
    pub(super) fn close(&mut self) {
        *self = DeviceState::on(Vec::new(), self.threads);
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

impl<'s, S: Any + Send> Loan<'s, S> {
    /// The graph as it is chosen, made ready by `prepare` if it was not, and the report with what there is to tell of that.
    pub(super) fn take<A>(
        solver: &'s Solver,
        chosen: &OnDevice<A>,
        algorithm: &str,
        report: Report,
        prepare: impl FnOnce(&Arc<dyn Device>) -> Result<S>,
    ) -> Result<(Self, Report)> {
        let start = Instant::now();
        let bytes = chosen.plan.device_bytes();
        let mut state = solver.device();
        let device = state.device(&solver.engine)?;
        let search = state.take_prepared(&chosen.name, bytes, || prepare(&device))?;
        let report = Report {
            engine: format!("cuda:{}", device.properties().ordinal),
            algorithm: algorithm.into(),
            device_bytes: bytes,
            seconds: Seconds { prepare: start.elapsed().as_secs_f64(), ..Default::default() },
            ..report
        };
        Ok((Loan { solver, algorithm: chosen.name.clone(), bytes, search: Some(search) }, report))
    }

    /// What was prepared.
    pub(super) fn search(&mut self) -> Result<&mut S> {
        self.search.as_mut().ok_or_else(|| Error::Device("nothing is prepared".into()))
    }
}

impl<S: Any + Send> Drop for Loan<'_, S> {
    fn drop(&mut self) {
        if let Some(search) = self.search.take() {
            let algorithm = std::mem::take(&mut self.algorithm);
            let prepared = Prepared { algorithm, bytes: self.bytes, search: Box::new(search) };
            self.solver.device().prepared = Some(prepared);
        }
    }
}

impl Solver {
    pub(super) fn device(&self) -> MutexGuard<'_, DeviceState> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a result on. A device may be lost after an error: the next request opens it afresh.
    pub(super) fn closing_a_lost_device<T>(&self, result: Result<T>) -> Result<T> {
        if matches!(result, Err(Error::Device(_))) {
            self.device().close();
        }
        result
    }

    /// Why there is no device, if that is plain without waking the driver.
    pub(super) fn no_device(&self) -> Option<String> {
        if self.device().is_open() { None } else { cuda::plainly_absent() }
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
        let devices = self.device().devices(&self.engine)?;
        for other in &devices[1..] {
            available = available.min(other.free_bytes()?);
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
        self.closing_a_lost_device(self.allowed_on_device())
    }

    /// [`Solver::device_memory`], for a request that is being answered.
    pub(super) fn allowed_on_device(&self) -> Result<u64> {
        let mut state = self.device();
        let device = state.device(&self.engine)?;
        let ours = state.prepared.as_ref().map_or(0, |prepared| prepared.bytes);
        let free = device.free_bytes()?.saturating_add(ours);
        Ok(self.limit.map_or(free, |limit| limit.min(free)))
    }
}
