//! Bellman-Ford that relaxes only arcs whose tail's distance fell in the round before: the to-process-edge lists.
//!
//! A round filters and computes. Filter: every warp lists those arcs of its share and counts them (mark), a block sums
//! the counts (scan), every warp copies its list to its place (gather). Compute: the list is shared out evenly and
//! relaxed. The relaxations are far fewer than those of `bellman-ford`, but every filter still reads the tail of every
//! arc, so the work stays O(E x rounds), only of a cheaper kind; span O(rounds x E / threads). Hubs are no trouble,
//! since arcs and not vertices are shared out. Roads are, with thousands of rounds.
//!
//! The statistics have the times of the two parts apart, as the report has: of the device alone, without what the host
//! does in between; copying the distances, or clearing the flags, counts as filtering. The report's 2 ms against 8,000
//! for Bellman-Ford on a road network are hardly those of a whole search.
//!
//! `sync=outcore` compares and reads the distances of the round before, which are copied between launches; `incore` has
//! one array, and a flag for each vertex whose distance fell. `edge-order` and `launch` are those of `bellman-ford`.
//!
//! Source: Rejaud, "CS516 Project 2 CUDA Report", sect. 3. Repairs are listed in `kernels/sssp/work_efficient.cu`.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::counts::{Counters, Counts, Frontiers};
use super::edges::{DeviceEdges, ORDER, by_destination};
use super::predecessors::Derivation;
use super::{
    DeviceDistances, DeviceSemiring, LAUNCH, MOST_WARPS, NON_NEGATIVE, OfSemiring, PreparedSssp, SsspAlgorithm,
    SsspOutcome, SsspTask, distance_words, flags_of, launch_shape, semirings_of, start, start_flags,
};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Unset, Values, Workload};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Device, Event, Function, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "work-efficient",
        summary: "every round, lists of the arcs whose tail's distance fell, shared out evenly",
        source: "Rejaud, CS516 Project 2 CUDA Report, sect. 3",
        parameters: &[SYNC, ORDER, LAUNCH],
        negative_weights: false,
        seconds,
    },
    semirings: NON_NEGATIVE,
    needs_transpose: |parameters| by_destination(parameters, false),
    plan,
    prepare,
};

fn seconds(work: &Workload<'_>) -> f64 {
    /// A round, and the rounds that each level of a breadth-first search stands for.
    const ROUND: f64 = 60e-6;
    const ROUNDS: f64 = 1.3;
    /// Steps a second of the whole device: each round looks at all vertices, and an arc is relaxed a few times.
    const STEPS: f64 = 30e9;
    const RELAXATIONS: f64 = 3.0;
    let steps = super::bellman_ford::relaxations_a_second(work, STEPS);
    let rounds = ROUNDS * work.levels();
    work.in_turn(rounds * (ROUND + work.vertices() / steps) + RELAXATIONS * work.arcs() / steps)
}

const SYNC: Parameter = Parameter {
    name: "sync",
    summary: "outcore (copies between launches) or incore (one array)",
    values: Values::Or(&Values::OneOf(&["outcore", "incore"]), Unset::InWords(|| "incore".into())),
};

fn is_incore(parameters: &Parameters) -> bool {
    parameters.word(SYNC.name) != Some("outcore")
}

/// The facts known about the round before.
#[derive(Debug, Clone, Copy)]
enum Before {
    /// Outcore: all distances.
    Distances(DeviceSlice<u32>),
    /// Incore: whose distance fell, and room for whose falls.
    Fell(DeviceSlice<u8>, DeviceSlice<u8>),
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    current: DeviceSlice<u32>,
    before: Before,
    marked: DeviceSlice<u32>,
    to_process: DeviceSlice<u32>,
    counts: DeviceSlice<u32>,
    places: DeviceSlice<u32>,
    out_of_range: DeviceSlice<u32>,
    counters: Counters,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph, incore: bool) -> Arrays {
    let (words, flags, arcs) = (distance_words(graph), flags_of(graph.vertices() as u64), graph.arcs() as u64);
    Arrays {
        current: arena.take("distances", words),
        before: if incore {
            Before::Fell(arena.take("whose distance fell", flags), arena.take("whose distance falls", flags))
        } else {
            Before::Distances(arena.take("distances of the round before", words))
        },
        marked: arena.take("arcs marked by each warp", arcs),
        to_process: arena.take("arcs to process", arcs),
        counts: arena.take("counts of the warps", MOST_WARPS.into()),
        places: arena.take("places of the warps", u64::from(MOST_WARPS) + 1),
        out_of_range: arena.take("flag", 1),
        counters: Counters::layout(arena),
    }
}

fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
    DeviceEdges::plan(graph, |arena| layout(arena, graph, is_incore(parameters)))
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedSssp>> {
    let incore = is_incore(parameters);
    let image = &images::SSSP_WORK_EFFICIENT;
    let scan = device.function(image, "sssp_work_efficient_scan")?;
    let gather = device.function(image, "sssp_work_efficient_gather")?;
    let kernels = OfSemiring::new(graph, |semiring| {
        let [mark, compute] = if incore {
            ["sssp_work_efficient_mark_incore", "sssp_work_efficient_compute_incore"]
        } else {
            ["sssp_work_efficient_mark_outcore", "sssp_work_efficient_compute_outcore"]
        };
        let (mark, compute) =
            (semiring.function(&**device, image, mark)?, semiring.function(&**device, image, compute)?);
        let shape = launch_shape(&**device, &[mark, gather, compute], parameters, 0)?;
        Ok(Kernels { mark, compute, shape })
    })?;
    let by_destination = by_destination(parameters, false);
    let (edges, arrays) = DeviceEdges::upload(device, graph, by_destination, |arena| layout(arena, graph, incore))?;
    Ok(Box::new(WorkEfficient {
        edges,
        scan,
        gather,
        kernels,
        arrays,
        started: device.event()?,
        done: device.event()?,
        semiring: semirings_of(graph)[0],
    }))
}

#[derive(Debug)]
struct Kernels {
    mark: Function,
    compute: Function,
    shape: LaunchShape,
}

#[derive(Debug)]
struct WorkEfficient {
    edges: DeviceEdges,
    scan: Function,
    gather: Function,
    kernels: OfSemiring<Kernels>,
    arrays: Arrays,
    started: Event,
    done: Event,
    /// The semiring of the last search.
    semiring: DeviceSemiring,
}

kernel_header! {
    path: "sssp/work_efficient";
    namespace: work_efficient;

    /// The argument of the kernels that depend on the semiring.
    struct KernelArgument<Lane> {
        tails: DevicePtr<VertexId>,
        heads: DevicePtr<VertexId>,
        weights: DevicePtr<cpp::Weight>,
        /// Outcore only: the distances of the round before.
        previous: DeviceMutPtr<cpp::Distance>,
        current: DeviceMutPtr<cpp::Distance>,
        /// Incore only: whose distance fell in the round before,
        fell: DeviceMutPtr<u8>,
        /// and in this one.
        falls: DeviceMutPtr<u8>,
        marked: DeviceMutPtr<u32>,
        to_process: DeviceMutPtr<u32>,
        counts: DeviceMutPtr<u32>,
        places: DeviceMutPtr<u32>,
        out_of_range: DeviceMutPtr<u32>,
        /// Null if nothing is to be counted.
        statistics: DeviceMutPtr<Counts>,
        limit: u64,
        arcs: u32,
    }
}

impl PreparedSssp for WorkEfficient {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        /// One block sums all counts.
        const SCANNING: LaunchShape =
            LaunchShape { grid: [1, 1, 1], block: [256, 1, 1], shared_bytes: 0, cluster: 1, cooperative: false };
        self.semiring = task.semiring;
        let DeviceEdges { pool, list, arcs, vertices } = &self.edges;
        let Arrays { marked, to_process, counts, places, out_of_range, counters, .. } = self.arrays;
        let device = pool.device();
        let Kernels { mark, compute, shape } = self.kernels.get(task.semiring)?;
        let warps = shape.grid[0] * (shape.block[0] / 32);
        let length = places.part(warps.into(), 1);
        let current = task.semiring.part(self.arrays.current, *vertices);
        let mut search = KernelArgument {
            tails: list.tails.as_ptr(),
            heads: list.heads.as_ptr(),
            weights: list.weights.as_ptr().cast(),
            previous: DeviceMutPtr::NULL,
            current: current.as_mut_ptr().cast(),
            fell: DeviceMutPtr::NULL,
            falls: DeviceMutPtr::NULL,
            marked: marked.as_mut_ptr(),
            to_process: to_process.as_mut_ptr(),
            counts: counts.as_mut_ptr(),
            places: places.as_mut_ptr(),
            out_of_range: out_of_range.as_mut_ptr(),
            statistics: counters.start(pool, task)?,
            limit: task.cutoff,
            arcs: *arcs,
        };
        start(pool, current, task.semiring, task.sources)?;
        pool.fill(out_of_range, 0)?;
        let mut before = match self.arrays.before {
            Before::Distances(previous) => Before::Distances(task.semiring.part(previous, *vertices)),
            fell => fell,
        };
        match before {
            Before::Distances(previous) => start(pool, previous, task.semiring, &[])?,
            Before::Fell(fell, falls) => {
                start_flags(pool, fell, task.sources)?;
                start_flags(pool, falls, &[])?;
            }
        }
        let (mut rounds, mut relaxations, mut frontiers) = (0, 0, Frontiers::default());
        let (mut filtering, mut computing) = (0.0, 0.0);
        loop {
            task.control.check()?;
            match before {
                Before::Distances(previous) => search.previous = previous.as_mut_ptr().cast(),
                Before::Fell(fell, falls) => (search.fell, search.falls) = (fell.as_mut_ptr(), falls.as_mut_ptr()),
            }
            device.record(&self.started)?;
            // SAFETY: the arguments are the kernels', and all arrays have the lengths that they expect: there is room
            // for all arcs, and for as many warps as a launch can have.
            unsafe {
                device.launch(*mark, shape, arguments![search])?;
                device.launch(self.scan, &SCANNING, arguments![counts, places, warps])?;
                device.launch(self.gather, shape, arguments![marked, counts, places, to_process, *arcs])?;
            }
            match &mut before {
                Before::Distances(previous) => pool.copy(*previous, current)?,
                Before::Fell(fell, falls) => {
                    pool.fill(*fell, 0)?;
                    std::mem::swap(fell, falls);
                }
            }
            device.record(&self.done)?;
            let [now] = pool.read_array(length)?;
            filtering += device.seconds_between(&self.started, &self.done)?;
            rounds += 1;
            relaxations += u64::from(now);
            frontiers.add(now.into());
            if now == 0 {
                break;
            }
            device.record(&self.started)?;
            // SAFETY: as above.
            unsafe { device.launch(*compute, shape, arguments![search])? };
            device.record(&self.done)?;
            computing += device.seconds_between(&self.started, &self.done)?;
        }
        let nanoseconds = |seconds: f64| (seconds * 1e9) as u64;
        let statistics = vec![
            ("rounds", rounds),
            ("relaxations", relaxations),
            ("kernel_launches", 4 * rounds - 1),
            ("filter_nanoseconds", nanoseconds(filtering)),
            ("compute_nanoseconds", nanoseconds(computing)),
        ];
        let out_of_range = pool.read_array(out_of_range)? != [0];
        let mut outcome = SsspOutcome { statistics, frontiers: Vec::new(), out_of_range };
        counters.finish(pool, task, frontiers, &mut outcome)?;
        Ok(outcome)
    }

    fn device_distances(&self) -> DeviceDistances<'_> {
        DeviceDistances {
            pool: &self.edges.pool,
            distances: self.semiring.part(self.arrays.current, self.edges.vertices),
        }
    }

    fn derivation(&self) -> Option<Derivation<'_>> {
        Some(self.edges.derivation(self.semiring, self.device_distances().distances, self.arrays.out_of_range))
    }
}
