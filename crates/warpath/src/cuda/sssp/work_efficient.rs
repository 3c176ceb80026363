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

use super::counts::{Counts, Frontiers};
use super::edges::{DeviceEdges, ORDER, by_destination, plan_edges};
use super::predecessors::Derivation;
use super::{
    DeviceLane, Found, LAUNCH, MOST_WARPS, NON_NEGATIVE_LANES, OfLane, PreparedSssp, SsspAlgorithm, SsspOutcome,
    SsspTask, distance_words, flags_of, lanes_of, launch_shape, start, start_flags,
};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Values};
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Argument, Device, Event, Function, LaunchShape, arguments, images};
use crate::cuda::graph::plan_array;
use crate::graph::Graph;
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
    },
    lanes: NON_NEGATIVE_LANES,
    needs_transpose: |parameters| by_destination(parameters, false),
    plan,
    prepare,
};

const SYNC: Parameter = Parameter {
    name: "sync",
    summary: "outcore (copies between launches) or incore (one array); incore",
    values: Values::OneOf(&["outcore", "incore"]),
};

fn is_incore(parameters: &Parameters) -> bool {
    parameters.word(SYNC.name) != Some("outcore")
}

fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
    let mut plan = Plan::new();
    plan_edges(graph, &mut plan);
    plan_array::<u32>(&mut plan, "distances", distance_words(graph));
    if is_incore(parameters) {
        plan_array::<u8>(&mut plan, "whose distance fell", flags_of(graph.vertices() as u64));
        plan_array::<u8>(&mut plan, "whose distance falls", flags_of(graph.vertices() as u64));
    } else {
        plan_array::<u32>(&mut plan, "distances of the round before", distance_words(graph));
    }
    plan_array::<u32>(&mut plan, "arcs marked by each warp", graph.arcs() as u64);
    plan_array::<u32>(&mut plan, "arcs to process", graph.arcs() as u64);
    plan_array::<u32>(&mut plan, "counts of the warps", MOST_WARPS.into());
    plan_array::<u32>(&mut plan, "places of the warps", u64::from(MOST_WARPS) + 1);
    plan_array::<u32>(&mut plan, "flag", 1);
    Counts::plan(&mut plan);
    plan
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedSssp>> {
    let incore = is_incore(parameters);
    let image = &images::SSSP_WORK_EFFICIENT;
    let scan = device.function(image, "sssp_work_efficient_scan")?;
    let gather = device.function(image, "sssp_work_efficient_gather")?;
    let kernels = OfLane::new(graph, |lane| {
        let [mark, compute] = if incore {
            ["sssp_work_efficient_mark_incore", "sssp_work_efficient_compute_incore"]
        } else {
            ["sssp_work_efficient_mark_outcore", "sssp_work_efficient_compute_outcore"]
        };
        let (mark, compute) = (lane.function(&**device, image, mark)?, lane.function(&**device, image, compute)?);
        let shape = launch_shape(&**device, &[mark, gather, compute], parameters, 0)?;
        Ok(Kernels { mark, compute, shape })
    })?;
    let words = distance_words(graph);
    let lane = lanes_of(graph)[0];
    let mut edges = DeviceEdges::upload(device, graph, by_destination(parameters, false), &plan(graph, parameters))?;
    let (arcs, vertices, pool) = (u64::from(edges.arcs), u64::from(edges.vertices), &mut edges.pool);
    let current = pool.take(words)?;
    let before = if incore {
        Before::Fell(pool.take(flags_of(vertices))?, pool.take(flags_of(vertices))?)
    } else {
        Before::Distances(pool.take(words)?)
    };
    let (marked, to_process) = (pool.take(arcs)?, pool.take(arcs)?);
    let (counts, places) = (pool.take(MOST_WARPS.into())?, pool.take(u64::from(MOST_WARPS) + 1)?);
    let out_of_range = pool.take(1)?;
    let statistics = Counts::take(pool)?;
    Ok(Box::new(WorkEfficient {
        edges,
        scan,
        gather,
        kernels,
        current,
        before,
        marked,
        to_process,
        counts,
        places,
        out_of_range,
        statistics,
        started: device.event()?,
        done: device.event()?,
        lane,
    }))
}

#[derive(Debug)]
struct Kernels {
    mark: Function,
    compute: Function,
    shape: LaunchShape,
}

/// What is known of the round before.
#[derive(Debug, Clone, Copy)]
enum Before {
    /// Outcore: all distances.
    Distances(DeviceSlice<u32>),
    /// Incore: whose distance fell, and room for whose falls.
    Fell(DeviceSlice<u8>, DeviceSlice<u8>),
}

#[derive(Debug)]
struct WorkEfficient {
    edges: DeviceEdges,
    scan: Function,
    gather: Function,
    kernels: OfLane<Kernels>,
    current: DeviceSlice<u32>,
    before: Before,
    marked: DeviceSlice<u32>,
    to_process: DeviceSlice<u32>,
    counts: DeviceSlice<u32>,
    places: DeviceSlice<u32>,
    out_of_range: DeviceSlice<u32>,
    statistics: Counts,
    started: Event,
    done: Event,
    /// That of the last search.
    lane: DeviceLane,
}

/// The argument of the kernels that depend on the lane.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Search {
    tails: u64,
    heads: u64,
    weights: u64,
    previous: u64,
    current: u64,
    fell: u64,
    falls: u64,
    marked: u64,
    to_process: u64,
    counts: u64,
    places: u64,
    out_of_range: u64,
    statistics: u64,
    limit: u64,
    arcs: u32,
}

// SAFETY: it is laid out as in the kernels.
unsafe impl Argument for Search {}

impl PreparedSssp for WorkEfficient {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        /// One block sums all counts.
        const SCANNING: LaunchShape =
            LaunchShape { grid: [1, 1, 1], block: [256, 1, 1], shared_bytes: 0, cluster: 1, cooperative: false };
        self.lane = task.lane;
        let WorkEfficient { edges, marked, to_process, counts, places, out_of_range, .. } = &*self;
        let DeviceEdges { pool, tails, heads, weights, arcs, vertices, .. } = edges;
        let device = pool.device();
        let Kernels { mark, compute, shape } = self.kernels.get(task.lane)?;
        let warps = shape.grid[0] * (shape.block[0] / 32);
        let length = places.part(warps.into(), 1);
        let current = task.lane.part(self.current, *vertices);
        let mut search = Search {
            tails: tails.address(),
            heads: heads.address(),
            weights: weights.address(),
            previous: 0,
            current: current.address(),
            fell: 0,
            falls: 0,
            marked: marked.address(),
            to_process: to_process.address(),
            counts: counts.address(),
            places: places.address(),
            out_of_range: out_of_range.address(),
            statistics: self.statistics.start(pool, task)?,
            limit: task.cutoff,
            arcs: *arcs,
        };
        start(pool, current, task.lane, task.sources)?;
        pool.fill(*out_of_range, 0)?;
        let mut before = match self.before {
            Before::Distances(previous) => Before::Distances(task.lane.part(previous, *vertices)),
            fell => fell,
        };
        match before {
            Before::Distances(previous) => start(pool, previous, task.lane, &[])?,
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
                Before::Distances(previous) => search.previous = previous.address(),
                Before::Fell(fell, falls) => (search.fell, search.falls) = (fell.address(), falls.address()),
            }
            device.record(&self.started)?;
            // SAFETY: the arguments are the kernels', and all arrays have the lengths that they expect: there is room
            // for all arcs, and for as many warps as a launch can have.
            unsafe {
                device.launch(*mark, shape, arguments![search])?;
                device.launch(self.scan, &SCANNING, arguments![*counts, *places, warps])?;
                device.launch(self.gather, shape, arguments![*marked, *counts, *places, *to_process, *arcs])?;
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
        let out_of_range = pool.read_array(*out_of_range)? != [0];
        let mut outcome = SsspOutcome { statistics, frontiers: Vec::new(), out_of_range };
        self.statistics.finish(pool, task, frontiers, &mut outcome)?;
        Ok(outcome)
    }

    fn found(&self) -> Found<'_> {
        Found { pool: &self.edges.pool, distances: self.lane.part(self.current, self.edges.vertices) }
    }

    fn derivation(&self) -> Option<Derivation<'_>> {
        Some(self.edges.derivation(self.lane, self.found().distances, self.out_of_range))
    }
}
