//! The engine for NVIDIA GPUs: one folder a problem, one file an algorithm.
//!
//! `device` hides what runs the kernels: the driver or, in tests, an emulator on the CPU. Each problem's folder exports
//! one table, `ALGORITHMS`, as those of [`cpu`](crate::cpu) do.

use std::sync::Arc;

use crate::algorithms::AlgorithmInfo;
use crate::{Error, Result};

pub(crate) mod apsp;
pub(crate) mod betweenness;
pub(crate) mod bfs;
pub(crate) mod closure;
pub(crate) mod customization;
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "without the driver there is no device"))]
pub(crate) mod device;
mod frontier;
pub(crate) mod graph;
pub(crate) mod kernel_header;
mod launch;
pub(crate) mod level_sums;
mod matrix;
mod neighborhoods;
pub mod parts;
pub(crate) mod peers;
pub(crate) mod regions;
pub mod resident;
pub(crate) mod semirings;
pub(crate) mod sssp;
pub(crate) mod transpose;
mod zero_copy;

use device::Device;
use device::carrier::CarrierKey;
#[cfg(feature = "cuda")]
use device::{driver, images};

/// The facts about every algorithm of this engine, by problem.
pub(crate) fn algorithms() -> impl Iterator<Item = &'static AlgorithmInfo> {
    let breadth_first = bfs::ALGORITHMS.iter().map(|entry| &entry.info).chain([&bfs::OVER_HIERARCHY]);
    let by_weights = sssp::ALGORITHMS.iter().map(|entry| &entry.info).chain([&sssp::OVER_HIERARCHY]);
    let searches = breadth_first.chain(by_weights);
    let all_pairs = apsp::ALGORITHMS.iter().map(apsp::ApspAlgorithm::info).chain([&level_sums::INFO]);
    searches.chain(all_pairs).chain(closure::ALGORITHMS.iter().map(|entry| &entry.info))
}

/// A GPU of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number, from 0, as in `cuda:0`.
    pub ordinal: u32,
    /// Its UUID: no other device has the same, on any machine. It is the number in `GPU-...` of `nvidia-smi -L`.
    pub uuid: u128,
    /// Its name, as its maker has it.
    pub name: String,
    /// How much memory it has, in bytes.
    pub memory_bytes: u64,
    /// Major and minor number of what it can do.
    pub compute_capability: (u32, u32),
    /// The version of CUDA that the driver supports, such as `13.0`.
    pub cuda_version: String,
    /// The version of the driver itself, such as `580.65.06`, where the system tells it.
    pub driver_version: Option<String>,
    /// Which of the shipped kernels it runs: machine code or PTX, and for which compute capability.
    pub image: String,
}

/// The GPUs of this machine. None is opened.
///
/// # Errors
///
/// [`Error::NoDevice`] with the reason if there is none, or no driver for it.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    #[cfg(feature = "cuda")]
    {
        let cuda_version = driver::show_version(driver::version()?);
        let driver_version = driver::release();
        let info = |properties: device::Properties| DeviceInfo {
            ordinal: properties.ordinal,
            uuid: properties.uuid,
            name: properties.name,
            memory_bytes: properties.memory_bytes,
            compute_capability: properties.compute_capability,
            cuda_version: cuda_version.clone(),
            driver_version: driver_version.clone(),
            image: images::kind_for(properties.compute_capability).to_string(),
        };
        Ok(driver::devices()?.into_iter().map(info).collect())
    }
    #[cfg(not(feature = "cuda"))]
    Err(not_built())
}

/// Why nothing can run on a GPU here, if that is plain without waking the driver.
pub(crate) fn plainly_absent() -> Option<String> {
    #[cfg(feature = "cuda")]
    return driver::absent().map(str::to_owned);
    #[cfg(not(feature = "cuda"))]
    Some(not_built().to_string())
}

/// Opens a GPU. Up to this many threads of the host copy at once.
pub(crate) fn open(ordinal: u32, threads: usize) -> Result<Arc<dyn Device>> {
    #[cfg(feature = "cuda")]
    return Ok(Arc::new(driver::Driver::open(ordinal)?.with_threads(threads)));
    #[cfg(not(feature = "cuda"))]
    {
        let _ = (ordinal, threads);
        Err(not_built())
    }
}

/// A GPU in the context that the libraries of a process share. Up to this many threads of the host copy at once, if it is opened here.
pub(crate) fn open_shared(ordinal: u32, threads: usize) -> Result<Arc<dyn Device>> {
    #[cfg(feature = "cuda")]
    return Ok(driver::Driver::shared(ordinal, threads)?);
    #[cfg(not(feature = "cuda"))]
    {
        let _ = (ordinal, threads);
        Err(not_built())
    }
}

/// A key for GPUs of several processes that are to exchange arrays without their hosts.
pub(crate) fn carrier_key() -> Result<CarrierKey> {
    #[cfg(feature = "cuda")]
    return driver::carrier_key();
    #[cfg(not(feature = "cuda"))]
    Err(not_built())
}

/// An error unless GPUs of several processes can exchange arrays so.
pub(crate) fn carrier_available() -> Result<()> {
    #[cfg(feature = "cuda")]
    return driver::carrier_available();
    #[cfg(not(feature = "cuda"))]
    Err(not_built())
}

/// The number of the device that has the memory of this address.
pub(crate) fn device_of(address: u64) -> Result<u32> {
    #[cfg(feature = "cuda")]
    return driver::device_of(address);
    #[cfg(not(feature = "cuda"))]
    {
        let _ = address;
        Err(not_built())
    }
}

/// The error for a device that is not there.
pub(crate) fn no_such_device(ordinal: u32, count: usize) -> Error {
    let there = if count == 1 { "only cuda:0".to_owned() } else { format!("cuda:0 to cuda:{}", count.max(1) - 1) };
    #[cfg(feature = "cuda")]
    let limited = driver::visible_devices();
    #[cfg(not(feature = "cuda"))]
    let limited = "";
    Error::NoDevice(format!("there is no device cuda:{ordinal}; there is {there}{limited}"))
}

#[cfg(not(feature = "cuda"))]
fn not_built() -> Error {
    Error::NoDevice("this build of Warpath has no CUDA engine".into())
}

#[cfg(test)]
mod tests {
    use super::device::memory::Pool;
    use super::*;
    use crate::algorithms::Parameters;
    use crate::graph::{Graph, Unit};
    use crate::testing::graphs_of_every_shape;

    /// Prepares a graph with every algorithm that searches from a source.
    fn check(name: &str, graph: &Graph) {
        let parameters = Parameters::default();
        let check = |algorithm: &AlgorithmInfo, planned: u64, pool: &Pool| {
            assert_eq!(planned, pool.used(), "{name}, {}", algorithm.name);
        };
        for device in device::testing::devices(1) {
            for algorithm in bfs::ALGORITHMS {
                let prepared = (algorithm.prepare)(&device, graph, &parameters).unwrap();
                check(
                    &algorithm.info,
                    (algorithm.plan)(graph, &parameters).device_bytes(),
                    prepared.device_levels().pool,
                );
            }
            for algorithm in
                sssp::ALGORITHMS.iter().filter(|entry| entry.semirings.contains(&sssp::semirings_of(graph)[0]))
            {
                // This one is two algorithms, each with a pool.
                if algorithm.info.name == "mask-unsynchronized" {
                    continue;
                }
                let prepared = (algorithm.prepare)(&device, graph, &parameters).unwrap();
                check(
                    &algorithm.info,
                    (algorithm.plan)(graph, &parameters).device_bytes(),
                    prepared.device_distances().pool,
                );
            }
        }
    }

    #[test]
    fn what_is_planned_is_what_is_taken() {
        let graphs = graphs_of_every_shape::<Unit>(1).into_iter().chain(graphs_of_every_shape::<u32>(1));
        let graphs = graphs.chain(graphs_of_every_shape::<f64>(1));
        for (name, graph) in graphs.filter(|(_, graph)| graph.arcs() < 2000).step_by(11) {
            for wide in [false, true] {
                graph::WIDE_OFFSETS.set(wide);
                check(&name, &graph);
            }
        }
        graph::WIDE_OFFSETS.set(false);
    }
}
