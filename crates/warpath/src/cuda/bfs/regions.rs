//! Breadth-first search region by region: shortest paths whose arcs all have the length 1. `cuda/regions/mod.rs` has the essay.
//!
//! *Invariants.* As there.

use std::sync::Arc;

use super::predecessors::DeviceLevels;
use super::{BfsAlgorithm, BfsTask, PreparedBfs};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics};
use crate::cuda::device::{Device, Function, LaunchShape, images};
use crate::cuda::peers::company::{EXCHANGE, PARTS};
use crate::cuda::regions::{self, BLOCKS, DELTA, Kind, Making, OnDevices, SLOTS, STEPS, Search, THREADS, VERTICES};
use crate::cuda::semirings::DeviceSemiring;
use crate::graph::Graph;
use crate::problems::Problem;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "regions",
        summary: "region after region is searched in shared memory, on one GPU or several; for road networks that are larger than the device's memory",
        source: "Meyer and Zeh 2003; Meyer and Sanders 2003",
        parameters: &[VERTICES, SLOTS, DELTA, STEPS, PARTS, EXCHANGE, THREADS, BLOCKS],
        negative_weights: true,
        seconds: |work| regions::seconds(work, 3.2e-6),
    },
    plan: |graph, parameters| regions::plan(graph, KIND, parameters),
    prepare: |device, graph, parameters| prepare(std::slice::from_ref(device), graph, parameters),
    prepare_on_several: Some(prepare),
};

/// No weights, and levels of 32 bits.
const KIND: Kind = Kind { bytes_of_weight: 0, words_of_distance: 1 };

fn prepare(devices: &[Arc<dyn Device>], graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
    let kernel = |device: &Arc<dyn Device>| {
        let kernel = device.function(&images::BFS_REGIONS, "bfs_regions")?;
        Ok((kernel, regions::shape(&**device, kernel, KIND, parameters)?))
    };
    let kernels = devices.iter().map(kernel).collect::<Result<_>>()?;
    let made = Making { kind: KIND, parameters, delta: regions::delta_for(1.0) };
    Ok(Box::new(BfsByRegions { on_devices: OnDevices::new(devices, graph, &made)?, kernels }))
}

#[derive(Debug)]
struct BfsByRegions {
    on_devices: OnDevices,
    kernels: Vec<(Function, LaunchShape)>,
}

impl PreparedBfs for BfsByRegions {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let search = Search {
            semiring: DeviceSemiring::Narrow,
            sources: task.sources,
            targets: task.targets,
            cutoff: task.cutoff.into(),
            control: task.control,
        };
        // No level is out of range.
        Ok(self.on_devices.solve(&search, |device| Ok(self.kernels[device]))?.0)
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        let ((pool, levels), further) = self.on_devices.distances(DeviceSemiring::Narrow);
        DeviceLevels { further, ..DeviceLevels::of(pool, levels) }
    }
}
