//! Shortest paths region by region. `cuda/regions/mod.rs` has the essay.
//!
//! *Invariants.* As there.

use std::sync::Arc;

use super::near_far::typical_weight;
use super::zero_copy::{DISTANCES, words_of_distances};
use super::{DeviceDistances, DeviceSemiring, OfSemiring, PreparedSssp, SsspAlgorithm, SsspOutcome, SsspTask};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameters};
use crate::cuda::device::{Device, Function, LaunchShape, images};
use crate::cuda::peers::company::{EXCHANGE, PARTS};
use crate::cuda::regions::{self, BLOCKS, DELTA, Kind, Making, OnDevices, SLOTS, STEPS, Search, THREADS, VERTICES};
use crate::graph::{Graph, WeightKind};
use crate::problems::Problem;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "regions",
        summary: "region after region is searched in shared memory, on one GPU or several; for road networks that are larger than the device's memory",
        source: "Meyer and Zeh 2003; Meyer and Sanders 2003",
        parameters: &[VERTICES, SLOTS, DELTA, STEPS, DISTANCES, PARTS, EXCHANGE, THREADS, BLOCKS],
        negative_weights: false,
        seconds: |work| regions::seconds(work, 5.5e-6),
    },
    semirings: &[DeviceSemiring::Narrow, DeviceSemiring::Wide, DeviceSemiring::Single, DeviceSemiring::Double],
    needs_transpose: |_| false,
    plan: |graph, parameters| regions::plan(graph, kind(graph, parameters), parameters),
    prepare: |device, graph, parameters| prepare(std::slice::from_ref(device), graph, parameters),
    prepare_on_several: Some(prepare),
};

/// This algorithm with distances of 32 bits and ever fewer records on the device.
pub(crate) const NARROW_LAYOUTS: [&str; 5] = [
    "regions:distances=32,slots=0.1",
    "regions:distances=32,slots=0.05",
    "regions:distances=32,slots=0.03",
    "regions:distances=32,slots=0.02",
    "regions:distances=32,slots=0.01",
];

/// What records and distances of a graph take.
fn kind(graph: &Graph, parameters: &Parameters) -> Kind {
    let words = words_of_distances(graph, parameters) / (graph.vertices() as u64).max(1);
    Kind {
        bytes_of_weight: if graph.weight_kind() == WeightKind::F64 { 8 } else { 4 },
        words_of_distance: words.max(1),
    }
}

fn prepare(devices: &[Arc<dyn Device>], graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedSssp>> {
    let kind = kind(graph, parameters);
    let kernels = |device: &Arc<dyn Device>| {
        OfSemiring::new(graph, |semiring| {
            let kernel = semiring.function(&**device, &images::SSSP_REGIONS, "sssp_regions")?;
            Ok((kernel, regions::shape(&**device, kernel, kind, parameters)?))
        })
    };
    let kernels = devices.iter().map(kernels).collect::<Result<_>>()?;
    let made = Making { kind, parameters, delta: regions::delta_for(typical_weight(graph)) };
    let on_devices = OnDevices::new(devices, graph, &made)?;
    Ok(Box::new(SsspByRegions { on_devices, kernels, semiring: DeviceSemiring::Narrow }))
}

#[derive(Debug)]
struct SsspByRegions {
    on_devices: OnDevices,
    kernels: Vec<OfSemiring<(Function, LaunchShape)>>,
    /// Of the last search.
    semiring: DeviceSemiring,
}

impl PreparedSssp for SsspByRegions {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.semiring = task.semiring;
        let search = Search {
            semiring: task.semiring,
            sources: task.sources,
            targets: task.targets,
            cutoff: task.cutoff,
            control: task.control,
        };
        let kernel = |device: usize| self.kernels[device].get(task.semiring).copied();
        let (statistics, out_of_range) = self.on_devices.solve(&search, kernel)?;
        Ok(SsspOutcome { statistics, frontiers: Vec::new(), out_of_range })
    }

    fn device_distances(&self) -> DeviceDistances<'_> {
        let ((pool, distances), further) = self.on_devices.distances(self.semiring);
        DeviceDistances { further, ..DeviceDistances::of(pool, distances) }
    }
}
