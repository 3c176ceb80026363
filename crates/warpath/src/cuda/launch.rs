//! How searches are launched: the shapes of their launches, and waiting for those that take long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::device::memory::{DeviceSlice, Pinned};
use super::device::{Device, Event, Function, LaunchShape};
use super::kernel_header::DevicePtr;
use crate::algorithms::{Parameter, Parameters, Unset, Values};
use crate::graph::VertexId;
use crate::{Control, Error, Result};

/// The fewest threads that a block can be given.
pub(super) const LEAST_THREADS: f64 = 32.0;

/// The threads of a block in an algorithm with one thread an item, unless they are set.
const USUAL_THREADS: f64 = 256.0;

/// The parameter that every algorithm with one thread an item has.
pub(super) const THREADS: Parameter = Parameter {
    name: "threads",
    summary: "threads in a block, a power of two",
    values: Values::Or(&Values::AtLeast(LEAST_THREADS), Unset::Number(USUAL_THREADS)),
};

/// How many threads a block gets.
pub(super) fn threads(parameters: &Parameters, device: &dyn Device) -> Result<u32> {
    let threads = parameters.get(THREADS.name).unwrap_or(USUAL_THREADS);
    let most = device.properties().threads_per_block;
    if threads > f64::from(most) || threads.fract() != 0.0 || !(threads as u32).is_power_of_two() {
        return Err(Error::invalid(format!("`threads={threads}` is not a power of two from 32 to {most}")));
    }
    Ok(threads as u32)
}

/// The parameter `threads` of [`whole_device`].
pub(super) const fn threads_up_to<const MOST: u32>() -> Parameter {
    fn the_most<const MOST: u32>() -> String {
        format!("the most, {MOST}")
    }
    Parameter {
        name: "threads",
        summary: "threads in a block, a multiple of 32",
        values: Values::Or(&Values::AtLeast(LEAST_THREADS), Unset::InWords(the_most::<MOST>)),
    }
}

/// The value of the parameter `blocks` of [`whole_device`] unless it is set.
pub(super) const AS_MANY_AS_RUN_AT_ONCE: Unset = Unset::InWords(|| "as many as run at once".into());

/// A shape in which all blocks run at once: as many as the device has room for, at most `most_blocks`, unless the
/// parameters `threads` and `blocks` say otherwise.
pub(super) fn whole_device(
    device: &dyn Device,
    function: Function,
    parameters: &Parameters,
    most_threads: u32,
    most_blocks: u32,
) -> Result<LaunchShape> {
    let most_threads = most_threads.min(device.properties().threads_per_block);
    let threads = parameters.get("threads").unwrap_or(f64::from(most_threads));
    if threads > f64::from(most_threads) || threads % 32.0 != 0.0 {
        return Err(Error::invalid(format!("`threads={threads}` is not a multiple of 32 up to {most_threads}")));
    }
    let at_once = device.blocks_at_once(function, threads as u32, 0)?.min(most_blocks).max(1);
    let blocks = parameters.get("blocks").unwrap_or(f64::from(at_once));
    if blocks > f64::from(at_once) || blocks.fract() != 0.0 {
        return Err(Error::invalid(format!("`blocks={blocks}` is not a number from 1 to {at_once}")));
    }
    Ok(LaunchShape { cooperative: true, ..LaunchShape::line(blocks as u32, threads as u32) })
}

/// Waiting for a launch that takes long, and telling it when the search is cancelled.
#[derive(Debug)]
pub(super) struct Waiting {
    /// What the kernel looks at, in memory that host and device share.
    flag: Pinned<u32>,
    before: Event,
    after: Event,
}

impl Waiting {
    pub(super) fn new(device: &Arc<dyn Device>) -> Result<Self> {
        Ok(Waiting { flag: Pinned::new(device, 1)?, before: device.event()?, after: device.event()? })
    }

    /// The flag that says so, for the kernel.
    pub(super) fn cancelled(&self) -> DevicePtr<u32> {
        self.flag.as_ptr()
    }

    /// Launches and waits; returns how many seconds that took on the device.
    pub(super) fn run(
        &self,
        device: &Arc<dyn Device>,
        control: &Control,
        launch: impl FnOnce() -> Result<()>,
    ) -> Result<f64> {
        self.start(device, control, launch)?;
        self.finish(device, control)
    }

    /// Launches.
    pub(super) fn start(
        &self,
        device: &Arc<dyn Device>,
        control: &Control,
        launch: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.prepare(device, control)?;
        launch()?;
        self.launched(device)
    }

    /// What comes before a launch.
    pub(super) fn prepare(&self, device: &Arc<dyn Device>, control: &Control) -> Result<()> {
        self.flag.set(0, u32::from(control.is_cancelled()));
        device.record(&self.before)
    }

    /// What comes after it.
    pub(super) fn launched(&self, device: &Arc<dyn Device>) -> Result<()> {
        device.record(&self.after)
    }

    /// Tells the kernel to end.
    pub(super) fn cancel(&self) {
        self.flag.set(0, 1);
    }

    /// Waits for the launched work; returns how many seconds it took on the device.
    pub(super) fn finish(&self, device: &Arc<dyn Device>, control: &Control) -> Result<f64> {
        finish_all(&[self], std::slice::from_ref(device), control)
    }
}

/// Waits for work that was launched on several devices, which may wait for each other; returns how many seconds the longest took. If one
/// fails, the others are told to end, and have ended.
pub(super) fn finish_all(waiting: &[&Waiting], devices: &[Arc<dyn Device>], control: &Control) -> Result<f64> {
    /// Up to now waiting is done without sleeping, and then without letting others work.
    const AWAKE: Duration = Duration::from_millis(20);
    const SPINNING: Duration = Duration::from_millis(2);
    const SLEEP: Duration = Duration::from_micros(100);
    let start = Instant::now();
    let mut left: Vec<_> = waiting.iter().zip(devices).collect();
    let mut failed = None;
    loop {
        left.retain(|(one, device)| match device.has_passed(&one.after) {
            Ok(has_passed) => !has_passed,
            Err(error) => {
                failed.get_or_insert(error);
                false
            }
        });
        if left.is_empty() {
            break;
        }
        if failed.is_some() || control.is_cancelled() {
            waiting.iter().for_each(|one| one.cancel());
        }
        match start.elapsed() {
            elapsed if elapsed < SPINNING => std::hint::spin_loop(),
            elapsed if elapsed < AWAKE => std::thread::yield_now(),
            _ => std::thread::sleep(SLEEP),
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    control.check()?;
    waiting
        .iter()
        .zip(devices)
        .try_fold(0.0, |longest: f64, (one, device)| Ok(longest.max(device.seconds_between(&one.before, &one.after)?)))
}

/// More targets than these are not watched: the search goes on to its end.
pub(super) const WATCHED: u64 = 1 << 12;

/// The targets that a search watches, if there is room for them; none if not.
pub(super) fn watched(targets: &[VertexId], room: DeviceSlice<VertexId>) -> &[VertexId] {
    if targets.len() as u64 <= room.length() { targets } else { &[] }
}
