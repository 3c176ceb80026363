//! A solver's state on the CUDA engine: the devices it has opened, and the graph prepared there.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use super::Solver;
use super::costs::{OPENING, in_words, several_pay};
use super::facts::OnDevice;
use super::turns::Turns;
use crate::cuda::DeviceInfo;
use crate::cuda::device::Device;
use crate::cuda::peers::check_reach;
use crate::cuda::peers::company::{Company, MOST};
use crate::problems::{Report, Seconds};
use crate::{Engine, Error, Plan, Result, available_memory, cuda};

/// The devices, and the graph prepared on them; empty until a request needs them.
#[derive(Debug, Default)]
pub(super) struct DeviceState {
    /// All open devices; a request that needs only one runs on the first.
    devices: Vec<Arc<dyn Device>>,
    /// How many threads of the host serve a device.
    threads: usize,
    /// On the first device, or on the first ones.
    prepared: Option<Prepared>,
    /// A solver for each further device that shares many searches.
    others: Vec<Arc<Solver>>,
}

/// A graph prepared for one algorithm, on loan from the solver while results are taken from it one by one. Dropping the
/// loan returns it.
#[derive(Debug)]
pub(super) struct Loan<'s, S: Any + Send> {
    solver: &'s Solver,
    algorithm: String,
    bytes: u64,
    search: Option<S>,
}

/// A graph on the device, prepared for one algorithm.
#[derive(Debug)]
struct Prepared {
    /// The algorithm with its parameters, as it was asked for.
    algorithm: String,
    /// The bytes that it takes of the memory of each device that it is on: of the first ones.
    bytes: Vec<u64>,
    /// A boxed search of one problem or another.
    search: Box<dyn Any + Send>,
}

impl DeviceState {
    /// The state with these open devices, which may be none, and this many threads of the host.
    pub(super) fn on(devices: Vec<Arc<dyn Device>>, threads: usize) -> Self {
        DeviceState { devices, threads, prepared: None, others: Vec::new() }
    }

    /// The first device, opened if necessary.
    pub(super) fn device(&mut self, engine: &Engine) -> Result<Arc<dyn Device>> {
        if self.devices.is_empty() {
            let first = match engine {
                Engine::Cuda(_) => ordinals(engine)?.first().copied().unwrap_or(0),
                _ => 0,
            };
            self.devices.push(cuda::open(first, self.threads)?);
        }
        Ok(self.devices[0].clone())
    }

    /// All devices, opened if necessary; where the engine is left to choose, those that can be opened.
    pub(super) fn devices(&mut self, engine: &Engine) -> Result<Vec<Arc<dyn Device>>> {
        self.device(engine)?;
        for &ordinal in ordinals(engine)?.iter().skip(self.devices.len()) {
            match cuda::open(ordinal, self.threads) {
                Ok(device) => self.devices.push(device),
                // Nobody asked for it.
                Err(_) if *engine == Engine::Auto => break,
                Err(error) => return Err(error),
            }
        }
        Ok(self.devices.clone())
    }

    /// The first devices, opened if necessary, for an algorithm that takes so many.
    ///
    /// # Errors
    ///
    /// If there are fewer.
    pub(super) fn devices_for_parts(&mut self, engine: &Engine, parts: usize) -> Result<Vec<Arc<dyn Device>>> {
        if parts <= 1 {
            return Ok(vec![self.device(engine)?]);
        }
        let mut devices = self.devices(engine)?;
        if parts > devices.len() {
            let there = devices.len();
            return Err(Error::invalid(format!("parts={parts} wants more devices than the {there} of the engine")));
        }
        devices.truncate(parts);
        Ok(devices)
    }

    /// How many devices are open.
    pub(super) fn open_count(&self) -> usize {
        self.devices.len()
    }

    /// Whether the device is open.
    pub(super) fn is_open(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Whether the graph is prepared for this algorithm.
    pub(super) fn has_prepared(&self, algorithm: &str) -> bool {
        self.prepared.as_ref().is_some_and(|prepared| prepared.algorithm == algorithm)
    }

    /// The graph prepared for this algorithm, by `prepare` if necessary. A graph prepared for another algorithm is
    /// given up first. `S` is the problem's type of search: another problem may have an algorithm of the same name.
    pub(super) fn prepared<S: Any + Send>(
        &mut self,
        algorithm: &str,
        plan: &Plan,
        prepare: impl FnOnce() -> Result<S>,
    ) -> Result<&mut S> {
        if self.prepared.as_ref().is_none_or(|there| there.algorithm != algorithm || !there.search.is::<S>()) {
            self.prepared = None;
            let devices = &self.devices[..plan.devices().min(self.devices.len())];
            let free = || devices.iter().map(|device| device.free_bytes()).collect::<Result<Vec<_>>>();
            let (bytes, search) = match devices.len() {
                0 | 1 => (vec![plan.device_bytes()], prepare()?),
                _ => {
                    self.others.clear();
                    let before = free()?;
                    let search = prepare()?;
                    // The largest part is planned, and others take less.
                    let taken = before.iter().zip(free()?).map(|(before, after)| before.saturating_sub(after));
                    (taken.map(|bytes| bytes.min(plan.device_bytes())).collect(), search)
                }
            };
            self.prepared = Some(Prepared { algorithm: algorithm.to_owned(), bytes, search: Box::new(search) });
        }
        let prepared = self.prepared.as_mut().and_then(|prepared| prepared.search.downcast_mut());
        prepared.ok_or_else(|| Error::Device("nothing is prepared".into()))
    }

    /// Takes the search that [`DeviceState::prepared`] would return.
    fn take_prepared<S: Any + Send>(
        &mut self,
        algorithm: &str,
        plan: &Plan,
        prepare: impl FnOnce() -> Result<S>,
    ) -> Result<S> {
        self.prepared(algorithm, plan, prepare)?;
        let taken = self.prepared.take().and_then(|prepared| prepared.search.downcast().ok());
        taken.map(|search| *search).ok_or_else(|| Error::Device("nothing is prepared".into()))
    }

    /// Gives up the graph as it is prepared on any device: its memory is needed.
    pub(super) fn give_up_prepared(&mut self) {
        self.prepared = None;
        self.others.clear();
    }

    /// Gives up devices and graph, so that the next request opens them afresh.
    pub(super) fn close(&mut self) {
        *self = DeviceState::on(Vec::new(), self.threads);
    }
}

/// These devices as an engine is written.
pub(super) fn engine_name(devices: &[Arc<dyn Device>]) -> String {
    Engine::Cuda(devices.iter().map(|device| device.properties().ordinal).collect()).to_string()
}

/// The numbers of the requested devices; where the engine is left to choose, of all that are like the first one: each of them gets as much to
/// do.
fn ordinals(engine: &Engine) -> Result<Vec<u32>> {
    match engine {
        Engine::Cuda(ordinals) if ordinals.is_empty() => Ok((0..cuda::devices()?.len() as u32).collect()),
        Engine::Cuda(ordinals) => Ok(ordinals.clone()),
        _ => {
            let there = cuda::devices().unwrap_or_default();
            let about = |device: &DeviceInfo| (device.name.clone(), device.memory_bytes, device.compute_capability);
            let alike = there.iter().filter(|device| about(device) == about(&there[0]));
            let ordinals: Vec<u32> = alike.map(|device| device.ordinal).collect();
            Ok(if ordinals.is_empty() { vec![0] } else { ordinals })
        }
    }
}

impl<'s, S: Any + Send> Loan<'s, S> {
    /// The graph prepared for the chosen algorithm, by `prepare` if necessary, and the report with the device and the
    /// time that took.
    pub(super) fn take<A>(
        solver: &'s Solver,
        chosen: &OnDevice<A>,
        algorithm: &str,
        report: Report,
        prepare: impl FnOnce(&Arc<dyn Device>) -> Result<S>,
    ) -> Result<(Self, Report)> {
        let start = Instant::now();
        let mut state = solver.device();
        let device = state.device(&solver.engine)?;
        let search = state.take_prepared(&chosen.name, &chosen.plan, || prepare(&device))?;
        let report = Report {
            engine: format!("cuda:{}", device.properties().ordinal),
            algorithm: algorithm.into(),
            device_bytes: chosen.plan.device_bytes(),
            seconds: Seconds { prepare: start.elapsed().as_secs_f64(), ..Default::default() },
            ..report
        };
        let bytes = chosen.plan.device_bytes();
        Ok((Loan { solver, algorithm: chosen.name.clone(), bytes, search: Some(search) }, report))
    }

    /// The prepared search.
    pub(super) fn search(&mut self) -> Result<&mut S> {
        self.search.as_mut().ok_or_else(|| Error::Device("nothing is prepared".into()))
    }
}

impl<S: Any + Send> Drop for Loan<'_, S> {
    fn drop(&mut self) {
        if let Some(search) = self.search.take() {
            let algorithm = std::mem::take(&mut self.algorithm);
            let prepared = Prepared { algorithm, bytes: vec![self.bytes], search: Box::new(search) };
            self.solver.device().prepared = Some(prepared);
        }
    }
}

impl Solver {
    pub(super) fn device(&self) -> MutexGuard<'_, DeviceState> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a GPU failed that was predicted to be quicker, if one has: with [`Engine::Auto`] the CPU has answered for it. A machine
    /// without a CUDA driver has no failures.
    pub fn device_failure(&self) -> Option<&str> {
        self.device_failure.get().map(String::as_str)
    }

    /// Passes a result on. A device may be lost after an error, so it is closed, and the next request opens it afresh.
    pub(super) fn closing_a_lost_device<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error @ (Error::Device(_) | Error::NoDevice(_))) = &result {
            if cuda::plainly_absent().is_none() {
                self.device_failure.get_or_init(|| error.to_string());
            }
            if matches!(error, Error::Device(_)) {
                self.device().close();
            }
        }
        result
    }

    /// Why there is no device, if that is plain without waking the driver.
    pub(super) fn no_device(&self) -> Option<String> {
        if self.device().is_open() { None } else { cuda::plainly_absent() }
    }

    /// Why no device can be quicker than the CPU, which is predicted to take so many seconds, if that is plain without waking the driver.
    /// The driver's library is not loaded either, which takes 2 ms, if opening a device takes longer than the CPU.
    pub(super) fn no_quicker_device(&self, on_cpu: f64) -> Option<String> {
        let opening = self.seconds_until_open();
        if on_cpu <= opening {
            let (opening, on_cpu) = (in_words(opening), in_words(on_cpu));
            return Some(format!("no GPU would pay: {opening} to open one are predicted, {on_cpu} on the CPU"));
        }
        self.no_device()
    }

    /// An error if a plan exceeds the memory that its engine may take.
    pub(super) fn check_plan(&self, plan: &Plan) -> Result<()> {
        if plan.device_items().is_empty() {
            return plan.check(self.memory);
        }
        plan.check(available_memory())?;
        plan.check_device(self.allowed_on_each_of(plan.devices())?)
    }

    /// Whether the devices have the memory for a plan. Without devices nobody knows: then they count as large enough, and whoever opens them tells what is
    /// wrong with them.
    pub(super) fn has_room_for(&self, plan: &Plan) -> bool {
        self.allowed_on_each_of(plan.devices()).map_or(true, |available| plan.device_bytes() <= available)
    }

    /// How many devices share work that is predicted to take `seconds` on so many, once they are open: all that were asked for. Where
    /// the engine is left to choose, all that there are, if that is predicted to be quicker, their opening included. None is opened.
    pub(super) fn devices_worth(&self, seconds: impl Fn(usize) -> f64) -> usize {
        let asked_for = || ordinals(&self.engine).map_or(1, |ordinals| ordinals.len()).max(1);
        match self.engine {
            Engine::Cpu => 1,
            Engine::Cuda(_) => asked_for(),
            Engine::Auto => {
                let open = self.device().open_count();
                // To ask how many there are takes some milliseconds.
                if open <= 1 && seconds(1) <= OPENING {
                    return 1;
                }
                let there = asked_for().max(open);
                if several_pay(seconds(1), seconds(there), there - open.clamp(1, there)) { there } else { 1 }
            }
        }
    }

    /// The devices that may share the graph of a search that is predicted to take so many seconds on one, opened if they are several.
    pub(super) fn company(&self, on_one: f64) -> Company {
        match self.devices_worth(|devices| on_one / devices as f64) {
            1 => Company::ALONE,
            _ => self.all_devices(),
        }
    }

    /// All devices that may share the graph of a search, opened if they are several.
    pub(super) fn all_devices(&self) -> Company {
        let there = ordinals(&self.engine).map_or(1, |ordinals| ordinals.len()).max(self.device().open_count());
        if there <= 1 {
            return Company::ALONE;
        }
        // Without devices nobody knows; a search then tells what is wrong with them.
        let Ok(mut all) = self.device().devices(&self.engine) else {
            return Company { devices: there.min(MOST), reach: true };
        };
        all.truncate(MOST);
        Company { devices: all.len(), reach: check_reach(&all).is_ok() }
    }

    /// The first so many devices, opened if necessary, and how many bytes of memory a request may take on each.
    pub(super) fn devices_and_memory(&self, count: usize) -> Result<(Vec<Arc<dyn Device>>, u64)> {
        if count <= 1 {
            let device = self.device().device(&self.engine)?;
            return Ok((vec![device], self.allowed_on_device()?));
        }
        let mut others = self.others()?;
        others.truncate(count - 1);
        let least = others.iter().try_fold(self.allowed_on_device()?, |least, other| {
            Ok::<_, Error>(least.min(other.allowed_on_device()?))
        })?;
        let mut devices = self.device().devices(&self.engine)?;
        devices.truncate(count);
        Ok((devices, least))
    }

    /// A solver of the same graph for each device but the first. They share what this one knows and its threads, and each has
    /// its own device, with the graph as it is prepared there.
    pub(super) fn others(&self) -> Result<Vec<Arc<Solver>>> {
        let mut state = self.device();
        let devices = state.devices(&self.engine)?;
        // A graph that devices share has the memory that these may need.
        state.prepared.take_if(|prepared| prepared.bytes.len() > 1);
        for device in &devices[1 + state.others.len()..] {
            let on_device = DeviceState::on(vec![device.clone()], state.threads);
            state.others.push(Arc::new(Solver {
                graph: self.graph.clone(),
                team: self.team.clone(),
                control: self.control.clone(),
                engine: Engine::Cuda(vec![device.properties().ordinal]),
                facts: self.facts.clone(),
                hierarchy: self.hierarchy.clone(),
                turns: Turns::default(),
                device: Mutex::new(on_device),
                device_failure: OnceLock::new(),
                limit: self.limit,
                memory: self.memory,
                statistics: self.statistics,
            }));
        }
        Ok(state.others.clone())
    }

    /// How many bytes of the device's memory a request may take; of several devices, the first counts. Opens the device
    /// if necessary.
    ///
    /// # Errors
    ///
    /// If there is no device, or a callback of this solver calls this.
    pub fn device_memory(&self) -> Result<u64> {
        self.memory_of_devices(1)
    }

    /// How many bytes a request may take of the memory of each of the first so many devices, as far as there are as many. Opens them if necessary.
    ///
    /// # Errors
    ///
    /// As of [`Solver::device_memory`].
    pub fn memory_of_devices(&self, devices: usize) -> Result<u64> {
        self.check_not_answering()?;
        self.closing_a_lost_device(self.allowed_on_each_of(devices))
    }

    /// [`Solver::device_memory`], for a request that is being answered.
    pub(super) fn allowed_on_device(&self) -> Result<u64> {
        self.allowed_on_each_of(1)
    }

    /// [`Solver::memory_of_devices`], for a request that is being answered.
    pub(super) fn allowed_on_each_of(&self, devices: usize) -> Result<u64> {
        let mut state = self.device();
        let all = if devices <= 1 { vec![state.device(&self.engine)?] } else { state.devices(&self.engine)? };
        let taken = |state: &DeviceState, place: usize| Some(*state.prepared.as_ref()?.bytes.get(place)?);
        // What is prepared now is given up if this request needs something else.
        let ours = |place: usize| {
            let other = place.checked_sub(1).and_then(|place| state.others.get(place));
            // One that is busy keeps what it has.
            let of_other = other.and_then(|other| taken(&*other.device.try_lock().ok()?, 0));
            taken(&state, place).unwrap_or(0).saturating_add(of_other.unwrap_or(0))
        };
        let limit = self.limit.unwrap_or(u64::MAX);
        all.iter()
            .take(devices.max(1))
            .enumerate()
            .try_fold(limit, |least, (place, device)| Ok(least.min(device.free_bytes()?.saturating_add(ours(place)))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Apsp, Bfs, Sssp, generate};

    #[test]
    fn the_driver_is_left_alone_where_no_device_can_be_quicker() {
        let graph = generate("grid:20x20,weights=1..9").unwrap();
        let solver = Solver::builder(graph).threads(2).open().unwrap();
        let sources = [0, 5, 7];
        let reasons = [
            solver.decide(&Sssp::from(0)),
            solver.decide(&Bfs::from(0)),
            solver.decide(&Apsp::all().from(sources.to_vec())),
            solver.decide_each(&Sssp::from(0), &sources),
            solver.decide_each(&Bfs::from(0), &sources),
        ];
        for decision in reasons {
            let reason = decision.unwrap().engine_reason().to_owned();
            assert!(reason.starts_with("no GPU would pay: 400.0 ms to open one"), "{reason}");
        }
        let why_not = |seconds: f64| solver.no_quicker_device(seconds);
        assert!(why_not(0.39).unwrap().ends_with("390.0 ms on the CPU"));
        assert_eq!(why_not(0.41), cuda::plainly_absent());
    }

    /// Where one of the devices that share a graph has less memory left than the other, that counts.
    #[cfg(emulator)]
    #[test]
    fn a_shared_graph_fits_the_fuller_device() {
        use crate::cuda::device::emulator::Emulator;
        use crate::cuda::device::memory::Pool;

        let graph = generate("kron:6,weights=1..9").unwrap();
        let cpu = Solver::builder(graph.clone()).threads(1).engine(Engine::Cpu).open().unwrap();
        let expected = cpu.solve(Bfs::from(1)).unwrap();
        let shared = Bfs::from(1).algorithm("partitioned:parts=2,threads=32,blocks=2");
        let alone = Bfs::from(1).algorithm("direction-optimizing:threads=32,blocks=2");
        let device = |ordinal| Arc::new(Emulator::numbered(1, ordinal).with_memory(4 << 20)) as Arc<dyn Device>;
        let devices: Vec<_> = (0..2).map(device).collect();
        let open = || Solver::builder(graph.clone()).threads(1).devices(devices.clone()).open().unwrap();
        let solver = open();
        let plan = solver.decide(&shared).unwrap().plan().clone();
        assert_eq!(plan.devices(), 2);
        let left = devices[1].free_bytes().unwrap() - plan.device_bytes();
        let taken = Pool::new(&devices[1], left).unwrap();
        assert_eq!(solver.memory_of_devices(2).unwrap(), plan.device_bytes());
        assert!(solver.device_memory().unwrap() > plan.device_bytes());
        // What is prepared counts as free: searches by other means need it.
        for request in [shared.clone(), alone.clone(), shared.clone(), shared.clone()] {
            assert_eq!(solver.solve(request).unwrap().distances(), expected.distances());
            assert_eq!(solver.memory_of_devices(2).unwrap(), plan.device_bytes());
        }
        let each = |solver: &Solver| {
            let mut trees = 0;
            let count = |_| {
                trees += 1;
                Ok(())
            };
            solver.solve_each(alone.clone(), &[1; 9], count).unwrap();
            assert_eq!(trees, 9);
        };
        drop((solver, taken));
        // So do solvers of further devices, and these in turn.
        let solver = open();
        for _ in 0..2 {
            each(&solver);
            solver.solve(shared.clone()).unwrap();
        }
        let free = solver.memory_of_devices(2).unwrap();
        drop(solver);
        assert_eq!(free, devices[1].free_bytes().unwrap());
        let _taken = Pool::new(&devices[1], left + 1).unwrap();
        match open().solve(shared) {
            Err(Error::OutOfMemory { needed, available, .. }) => {
                assert!(needed == plan.device_bytes() && available < needed, "{needed} {available}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_open_device_may_always_be_quicker() {
        for device in crate::cuda::device::testing::devices(1).into_iter().take(1) {
            let graph = generate("grid:20x20,weights=1..9").unwrap();
            let solver = Solver::builder(graph).threads(2).device(device).open().unwrap();
            assert_eq!(solver.no_quicker_device(1e-6), None);
        }
    }
}
