//! Shortest paths with one thread for a few vertices, a mask of those to relax, and costs that are updated on the side.
//!
//! A round is two launches: threads of masked vertices lower the updating costs of their neighbours; vertices whose
//! updating cost is below their cost take it and enter the mask. Every launch looks at every vertex: work
//! O(V x rounds + relaxations), and a vertex is relaxed each time its cost falls, which without any order can be often;
//! span O(rounds x greatest degree). There are as many rounds as arcs on the shortest path with the most of them, and a
//! few more. It wins on graphs of few rounds and even degrees. On roads nearly all threads of thousands of launches
//! find nothing to do, and one hub keeps the whole launch waiting.
//!
//! `coarsening` merges the work of so many threads into one: fewer threads, each with more to do. Two phases are what
//! makes rounds independent of the order of threads; that the minimum is atomic is what makes them right. Without it
//! updates get lost: with the feature `lab` that is here too, and counts the vertices that come out wrong.
//!
//! Source: Harish and Narayanan 2007, algorithms 3 to 5; Pathak et al. 2022, algorithms 10 to 12, sect. 4.2 (atomics)
//! and 4.3 (coarsening). Repairs are listed in `kernels/sssp/mask.cu`.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::counts::{Counts, Frontiers};
use super::predecessors::{Arcs, Derivation};
use super::{
    DeviceLane, Found, NON_NEGATIVE_LANES, OfLane, PreparedSssp, SsspAlgorithm, SsspOutcome, SsspTask, distance_words,
    flags_of, plan_weights, start, start_flags, upload_weights,
};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Values};
use crate::cuda::bfs::{THREADS, threads};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Argument, Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{DeviceGraph, plan_array, plan_graph};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "mask",
        summary: "one thread for a few vertices, flags for those to relax, costs updated on the side",
        source: "Harish & Narayanan 2007, alg. 3-5; Pathak et al. 2022, alg. 10-12, sect. 4.2-4.3",
        parameters: &[COARSENING, THREADS],
        negative_weights: false,
    },
    lanes: NON_NEGATIVE_LANES,
    needs_transpose: |_| false,
    plan,
    prepare: |device, graph, parameters| {
        Ok(Box::new(prepare(device, graph, parameters, &plan(graph, parameters), RELAX)?))
    },
};

/// The kernel that relaxes, atomically.
const RELAX: &str = "sssp_mask_relax";

pub(in crate::cuda) const COARSENING: Parameter = Parameter {
    name: "coarsening",
    summary: "how many vertices a thread has: 1, 2, 4, 8 or 16; 1",
    values: Values::OneOf(&["1", "2", "4", "8", "16"]),
};

fn plan(graph: &Graph, _: &Parameters) -> Plan {
    let mut plan = Plan::new();
    plan_graph(graph, &mut plan);
    plan_weights(graph, &mut plan);
    plan_array::<u8>(&mut plan, "mask", flags_of(graph.vertices() as u64));
    plan_array::<u32>(&mut plan, "costs", distance_words(graph));
    plan_array::<u32>(&mut plan, "updating costs", distance_words(graph));
    plan_array::<u32>(&mut plan, "rounds of the predecessors", graph.vertices() as u64);
    plan_array::<u32>(&mut plan, "number of the marked", 1);
    plan_array::<u32>(&mut plan, "flag", 1);
    Counts::plan(&mut plan);
    plan
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters, plan: &Plan, relax: &str) -> Result<Mask> {
    let threads = threads(parameters, &**device)?;
    let coarsening = parameters.word(COARSENING.name).and_then(|word| word.parse().ok()).unwrap_or(1);
    let kernels = OfLane::new(graph, |lane| Kernels::of(&**device, lane, relax))?;
    let words = distance_words(graph);
    let csr = graph.csr();
    let mut graph = DeviceGraph::upload(device, graph, plan)?;
    let pool = &mut graph.pool;
    let weights = upload_weights(pool, csr)?;
    let mask = pool.take(flags_of(u64::from(graph.vertices)))?;
    let (cost, updating) = (pool.take(words)?, pool.take(words)?);
    let levels = pool.take(graph.vertices.into())?;
    let (marked, out_of_range, counts) = (pool.take(1)?, pool.take(1)?, Counts::take(pool)?);
    let arrays = Arrays {
        offsets: graph.offsets,
        targets: graph.targets,
        weights,
        mask,
        cost,
        updating,
        marked,
        out_of_range,
        counts,
        vertices: graph.vertices,
    };
    Ok(Mask { graph, threads, coarsening, kernels, arrays, levels, lane: DeviceLane::Narrow })
}

/// The kernels of one lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernels {
    relax: Function,
    update: Function,
}

impl Kernels {
    /// The right ones.
    pub(super) fn right(device: &dyn Device, lane: DeviceLane) -> Result<Self> {
        Self::of(device, lane, RELAX)
    }

    fn of(device: &dyn Device, lane: DeviceLane, relax: &str) -> Result<Self> {
        let function = |kernel| lane.function(device, &images::SSSP_MASK, kernel);
        Ok(Kernels { relax: function(relax)?, update: function("sssp_mask_update")? })
    }
}

#[derive(Debug)]
struct Mask {
    graph: DeviceGraph,
    threads: u32,
    coarsening: u32,
    kernels: OfLane<Kernels>,
    arrays: Arrays,
    levels: DeviceSlice<u32>,
    /// That of the last search.
    lane: DeviceLane,
}

/// The arrays of a search, with room for the distances of any lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    pub(super) offsets: DeviceSlice<u32>,
    pub(super) targets: DeviceSlice<VertexId>,
    pub(super) weights: DeviceSlice<u32>,
    pub(super) mask: DeviceSlice<u8>,
    pub(super) cost: DeviceSlice<u32>,
    pub(super) updating: DeviceSlice<u32>,
    pub(super) marked: DeviceSlice<u32>,
    pub(super) out_of_range: DeviceSlice<u32>,
    pub(super) counts: Counts,
    pub(super) vertices: u32,
}

/// The kernels' argument.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Search {
    offsets: u64,
    targets: u64,
    weights: u64,
    mask: u64,
    cost: u64,
    updating: u64,
    marked: u64,
    out_of_range: u64,
    statistics: u64,
    limit: u64,
    vertices: u32,
    coarsening: u32,
}

// SAFETY: it is laid out as in the kernels.
unsafe impl Argument for Search {}

impl PreparedSssp for Mask {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.lane = task.lane;
        let kernels = *self.kernels.get(task.lane)?;
        search(&self.graph.pool, kernels, self.threads, self.coarsening, self.arrays, task)
    }

    fn found(&self) -> Found<'_> {
        Found { pool: &self.graph.pool, distances: self.lane.part(self.arrays.cost, self.graph.vertices) }
    }

    fn derivation(&self) -> Option<Derivation<'_>> {
        let Found { pool, distances } = self.found();
        Some(Derivation {
            pool,
            lane: self.lane,
            arcs: Arcs::of_graph(&self.graph, self.arrays.weights),
            distances,
            predecessors: self.arrays.updating.part(0, self.graph.vertices.into()),
            levels: self.levels,
            progress: self.arrays.marked,
        })
    }
}

/// The search itself: two launches a round. The distances are the costs at the end.
pub(super) fn search(
    pool: &Pool,
    kernels: Kernels,
    threads: u32,
    coarsening: u32,
    arrays: Arrays,
    task: &SsspTask<'_>,
) -> Result<SsspOutcome> {
    let Arrays { mask, marked, out_of_range, counts, vertices, .. } = arrays;
    let device = pool.device();
    let (cost, updating) = (task.lane.part(arrays.cost, vertices), task.lane.part(arrays.updating, vertices));
    let search = Search {
        offsets: arrays.offsets.address(),
        targets: arrays.targets.address(),
        weights: arrays.weights.address(),
        mask: mask.address(),
        cost: cost.address(),
        updating: updating.address(),
        marked: marked.address(),
        out_of_range: out_of_range.address(),
        statistics: counts.start(pool, task)?,
        limit: task.cutoff,
        vertices,
        coarsening,
    };
    let shape = LaunchShape::covering(u64::from(vertices).div_ceil(u64::from(coarsening)), threads);
    start(pool, cost, task.lane, task.sources)?;
    pool.copy(updating, cost)?;
    start_flags(pool, mask, task.sources)?;
    pool.fill(out_of_range, 0)?;
    let (mut rounds, mut relaxed, mut now) = (0, 0, task.sources.len() as u64);
    let mut frontiers = Frontiers::default();
    while now > 0 {
        task.control.check()?;
        rounds += 1;
        relaxed += now;
        frontiers.add(now);
        pool.fill(marked, 0)?;
        // SAFETY: the argument is the kernels', and all arrays have the lengths that they expect.
        unsafe {
            device.launch(kernels.relax, &shape, arguments![search])?;
            device.launch(kernels.update, &shape, arguments![search])?;
        }
        [now] = pool.read_array::<u32, 1>(marked)?.map(u64::from);
    }
    let statistics = vec![("rounds", rounds), ("relaxed_vertices", relaxed), ("kernel_launches", 2 * rounds)];
    let out_of_range = pool.read_array(out_of_range)? != [0];
    let mut outcome = SsspOutcome { statistics, frontiers: Vec::new(), out_of_range };
    counts.finish(pool, task, frontiers, &mut outcome)?;
    Ok(outcome)
}

#[cfg(feature = "lab")]
pub(crate) use unsynchronized::UNSYNCHRONIZED;

#[cfg(feature = "lab")]
mod unsynchronized {
    use super::*;

    /// The line in the table of the algorithm as it is printed.
    pub(crate) const UNSYNCHRONIZED: SsspAlgorithm = SsspAlgorithm {
        info: AlgorithmInfo {
            problem: Problem::Sssp,
            name: "mask-unsynchronized",
            summary: "mask with the lost updates that its papers print: for study, its distances may be wrong",
            source: "Harish & Narayanan 2007, alg. 4, unrepaired; Pathak et al. 2022, alg. 11 without sect. 4.2",
            parameters: &[COARSENING, THREADS],
            negative_weights: false,
        },
        lanes: NON_NEGATIVE_LANES,
        needs_transpose: |_| false,
        plan,
        prepare,
    };

    fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
        // The two searches run one after the other, and share nothing.
        let mut plan = super::plan(graph, parameters);
        for item in super::plan(graph, parameters).device_items() {
            plan.device(format!("{}, to compare with", item.what), item.bytes);
        }
        plan
    }

    fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedSssp>> {
        let prepare = |relax| super::prepare(device, graph, parameters, &super::plan(graph, parameters), relax);
        Ok(Box::new(Unsynchronized { printed: prepare("sssp_mask_relax_unsynchronized")?, repaired: prepare(RELAX)? }))
    }

    /// The printed algorithm, and the repaired one to compare with.
    #[derive(Debug)]
    struct Unsynchronized {
        printed: Mask,
        repaired: Mask,
    }

    impl PreparedSssp for Unsynchronized {
        fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
            let mut outcome = self.printed.solve(task)?;
            let right = self.repaired.solve(task)?;
            let words = task.lane.words() as usize;
            let distances = |mask: &Mask| {
                let found = mask.found();
                found.pool.read(found.distances)
            };
            let (printed, repaired) = (distances(&self.printed)?, distances(&self.repaired)?);
            let wrong =
                printed.chunks(words).zip(repaired.chunks(words)).filter(|(found, right)| found != right).count();
            outcome.statistics.insert(0, ("wrong_vertices", wrong as u64));
            outcome.out_of_range |= right.out_of_range;
            Ok(outcome)
        }

        fn found(&self) -> Found<'_> {
            self.printed.found()
        }

        fn derivation(&self) -> Option<Derivation<'_>> {
            self.printed.derivation()
        }
    }
}
