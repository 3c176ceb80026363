//! Bellman-Ford that relaxes only arcs whose tail's distance fell in the round before: the to-process-edge lists.
//!
//! A round marks, filters and computes. Mark: every warp lists those arcs of its share and counts them. Filter: a prefix
//! sum of the counts gives each warp's list its place, and all lists are copied to one. Compute: that list is shared out
//! evenly and relaxed. The relaxations are far fewer than those of `bellman-ford`, but every round still reads the tail
//! of every arc to mark, so the work stays O(E x rounds), only of a cheaper kind; span O(rounds x E / threads). Hubs are
//! no trouble, since arcs and not vertices are shared out. Roads are, with thousands of rounds.
//!
//! `lists=as-described` filters in one kernel of one block of 64 threads, as the report does: a thread for each of at
//! most 64 warps copies the list of its warp. So all copies of a round go through 64 threads, and the longest list of a
//! warp decides how long they take: O(E / warps) where arcs of one warp alone are marked. `lists=by-warps` filters in
//! two kernels: a block sums the counts of any number of warps, and every warp copies its own list.
//!
//! The parts are timed apart, by events (`rounds.rs`). The report has two numbers, of filtering and of computing; for a
//! road network they are 0.5 ms and 2.5 ms against 8,000 ms for Bellman-Ford, hardly those of a whole search.
//! `rounds=timed` tells the times of single rounds and of a round over all arcs, so that they can be compared with the
//! report's numbers.
//!
//! `sync=outcore` compares and reads the distances of the round before, which are copied between launches; `incore` has
//! one array, and a flag for each vertex whose distance fell, which are cleared between launches: that is timed as the
//! copy. `edge-order`, `edges` and `launch` are those of `bellman-ford`.
//!
//! Source: Rejaud, "CS516 Project 2 CUDA Report", sect. 3. Repairs are listed in `kernels/sssp/work_efficient.cu`.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::bellman_ford::{FullRound, OF_A_THREAD, State, relaxations_a_second};
use super::counts::{Counters, Counts, Frontiers};
use super::edges::{DeviceEdges, EDGES, Form, ORDER, Pointers};
use super::predecessors::Derivation;
use super::rounds::{self, Clock, Laps, Part, ROUNDS};
use super::{
    DeviceDistances, DeviceSemiring, LAUNCH, MOST_WARPS, NON_NEGATIVE, OfSemiring, PreparedSssp, SsspAlgorithm,
    SsspOutcome, SsspTask, distance_words, flags_of, launch_shape, semirings_of, start, start_flags,
};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Unset, Values, Workload};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
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
        parameters: &[SYNC, LISTS, ORDER, EDGES, LAUNCH, ROUNDS],
        negative_weights: false,
        seconds,
    },
    semirings: NON_NEGATIVE,
    needs_transpose: |parameters| form_of(parameters).by_destination,
    plan,
    prepare,
    prepare_on_several: None,
};

fn seconds(work: &Workload<'_>) -> f64 {
    /// A round, and the rounds that each level of a breadth-first search stands for.
    const ROUND: f64 = 60e-6;
    const ROUNDS: f64 = 1.3;
    /// Steps a second of the whole device: each round looks at all vertices, and an arc is relaxed a few times.
    const STEPS: f64 = 30e9;
    const RELAXATIONS: f64 = 3.0;
    /// Arcs a second that 64 threads copy: a thread waits 0.5 us for each 8 arcs, which memory brings at once, and the
    /// longest list is taken to be twice the mean.
    const COPIES: f64 = 64.0 * 8.0 / 0.5e-6 / 2.0;
    let steps = relaxations_a_second(work, STEPS.min(f64::from(most_warps(work.parameters)) * 32.0 * OF_A_THREAD));
    let rounds = ROUNDS * work.levels();
    let copied = if is_as_described(work.parameters) { RELAXATIONS * work.arcs() / COPIES } else { 0.0 };
    work.in_turn(rounds * (ROUND + work.vertices() / steps) + RELAXATIONS * work.arcs() / steps + copied)
}

const SYNC: Parameter = Parameter {
    name: "sync",
    summary: "outcore (copies between launches) or incore (one array)",
    values: Values::Or(&Values::OneOf(&["outcore", "incore"]), Unset::InWords(|| "incore".into())),
};

const LISTS: Parameter = Parameter {
    name: "lists",
    summary: "as-described (one block of 64 threads makes the list, a thread for each of at most 64 warps) or by-warps \
              (any number of warps copy theirs)",
    values: Values::Or(&Values::OneOf(&["as-described", "by-warps"]), Unset::InWords(|| "by-warps".into())),
};

/// The threads of the one block that filters as described: no launch has more warps.
const FILTERING_THREADS: u32 = 64;

fn is_as_described(parameters: &Parameters) -> bool {
    parameters.word(LISTS.name) == Some("as-described")
}

fn most_warps(parameters: &Parameters) -> u32 {
    if is_as_described(parameters) { FILTERING_THREADS } else { MOST_WARPS }
}

fn form_of(parameters: &Parameters) -> Form {
    Form::of(parameters, false)
}

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
    DeviceEdges::plan(graph, form_of(parameters), |arena| layout(arena, graph, is_incore(parameters)))
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedSssp>> {
    let (incore, form) = (is_incore(parameters), form_of(parameters));
    let image = &images::SSSP_WORK_EFFICIENT;
    let filter = if is_as_described(parameters) {
        Filter::AsDescribed(device.function(image, "sssp_work_efficient_filter")?)
    } else {
        Filter::ByWarps {
            scan: device.function(image, "sssp_work_efficient_scan")?,
            gather: device.function(image, "sssp_work_efficient_gather")?,
        }
    };
    let kernels = OfSemiring::new(graph, |semiring| {
        let [mark, compute] = kernels_of(incore, form.records);
        let (mark, compute) =
            (semiring.function(&**device, image, mark)?, semiring.function(&**device, image, compute)?);
        let of_the_grid = match filter {
            Filter::AsDescribed(_) => vec![mark, compute],
            Filter::ByWarps { gather, .. } => vec![mark, gather, compute],
        };
        let shape = launch_shape(&**device, &of_the_grid, parameters, 0, most_warps(parameters))?;
        Ok(Kernels { mark, compute, shape })
    })?;
    let full_round =
        rounds::are_timed(parameters).then(|| FullRound::prepare(device, graph, incore, form.records)).transpose()?;
    let (edges, arrays) = DeviceEdges::upload(device, graph, form, |arena| layout(arena, graph, incore))?;
    let (clock, semiring) = (Clock::new(device)?, semirings_of(graph)[0]);
    Ok(Box::new(WorkEfficient { edges, filter, kernels, arrays, clock, full_round, semiring }))
}

/// The names of the kernels that mark and compute, but for the semiring.
fn kernels_of(incore: bool, records: bool) -> [&'static str; 2] {
    match (incore, records) {
        (false, false) => ["sssp_work_efficient_mark_outcore", "sssp_work_efficient_compute_outcore"],
        (false, true) => ["sssp_work_efficient_mark_outcore_records", "sssp_work_efficient_compute_outcore_records"],
        (true, false) => ["sssp_work_efficient_mark_incore", "sssp_work_efficient_compute_incore"],
        (true, true) => ["sssp_work_efficient_mark_incore_records", "sssp_work_efficient_compute_incore_records"],
    }
}

/// The kernels that make one list of the lists of the warps.
#[derive(Debug, Clone, Copy)]
enum Filter {
    /// One kernel of one block.
    AsDescribed(Function),
    /// One that sums, and one that copies.
    ByWarps { scan: Function, gather: Function },
}

impl Filter {
    /// How many kernels a round has with it.
    fn launches_a_round(self) -> u64 {
        match self {
            Filter::AsDescribed(_) => 3,
            Filter::ByWarps { .. } => 4,
        }
    }
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
    filter: Filter,
    kernels: OfSemiring<Kernels>,
    arrays: Arrays,
    clock: Clock,
    /// If single rounds are timed.
    full_round: Option<FullRound>,
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
        /// Or, if not null, the three side by side.
        records: DevicePtr<cpp::Record>,
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

impl WorkEfficient {
    /// The argument of a search with these distances; the rounds say what is known of the round before.
    fn argument(&self, task: &SsspTask<'_>, current: DeviceSlice<u32>) -> Result<KernelArgument> {
        let Pointers { tails, heads, weights, records } = self.edges.pointers();
        let Arrays { marked, to_process, counts, places, out_of_range, counters, .. } = self.arrays;
        Ok(KernelArgument {
            tails,
            heads,
            weights,
            records,
            previous: DeviceMutPtr::NULL,
            current: current.as_mut_ptr().cast(),
            fell: DeviceMutPtr::NULL,
            falls: DeviceMutPtr::NULL,
            marked: marked.as_mut_ptr(),
            to_process: to_process.as_mut_ptr(),
            counts: counts.as_mut_ptr(),
            places: places.as_mut_ptr(),
            out_of_range: out_of_range.as_mut_ptr(),
            statistics: counters.start(&self.edges.pool, task)?,
            limit: task.cutoff,
            arcs: self.edges.arcs,
        })
    }

    /// Fills the arrays for the first round; what is known of the round before that.
    fn start(&self, task: &SsspTask<'_>, current: DeviceSlice<u32>) -> Result<Before> {
        let DeviceEdges { pool, vertices, .. } = &self.edges;
        start(pool, current, task.semiring, task.sources)?;
        pool.fill(self.arrays.out_of_range, 0)?;
        match self.arrays.before {
            Before::Distances(previous) => {
                let previous = task.semiring.part(previous, *vertices);
                start(pool, previous, task.semiring, &[])?;
                Ok(Before::Distances(previous))
            }
            Before::Fell(fell, falls) => {
                start_flags(pool, fell, task.sources)?;
                start_flags(pool, falls, &[])?;
                Ok(Before::Fell(fell, falls))
            }
        }
    }

    /// Launches what makes one list of the lists of the warps.
    fn launch_filter(&self, shape: &LaunchShape, warps: u32) -> Result<()> {
        let one_block = |threads| LaunchShape::line(1, threads);
        let Arrays { marked, to_process, counts, places, .. } = self.arrays;
        let (device, arcs) = (self.edges.pool.device(), self.edges.arcs);
        match self.filter {
            Filter::AsDescribed(filter) => {
                let shape = one_block(FILTERING_THREADS);
                // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects: there is room
                // for all arcs, and for as many warps as a launch can have.
                unsafe { device.launch(filter, &shape, arguments![marked, counts, places, to_process, arcs, warps]) }
            }
            Filter::ByWarps { scan, gather } => {
                // SAFETY: as above.
                unsafe {
                    device.launch(scan, &one_block(256), arguments![counts, places, warps])?;
                    device.launch(gather, shape, arguments![marked, counts, places, to_process, arcs])
                }
            }
        }
    }

    /// How long a round over all arcs takes after this search, if single rounds are timed.
    fn time_full_round(
        &self,
        task: &SsspTask<'_>,
        shape: &LaunchShape,
        current: DeviceSlice<u32>,
        before: Before,
    ) -> Result<Option<f64>> {
        let Some(full_round) = &self.full_round else { return Ok(None) };
        let previous = match before {
            Before::Distances(previous) => Some(previous),
            Before::Fell(..) => None,
        };
        // The counts of the warps are of no more use.
        let changed = self.arrays.counts.part(0, 1);
        let state = State { current, previous, changed, out_of_range: self.arrays.out_of_range };
        full_round.seconds(&self.clock, &self.edges, task, shape, state).map(Some)
    }
}

impl PreparedSssp for WorkEfficient {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.semiring = task.semiring;
        let pool = &self.edges.pool;
        let device = pool.device();
        let Kernels { mark, compute, shape } = self.kernels.get(task.semiring)?;
        let warps = shape.grid[0] * (shape.block[0] / 32);
        let length = self.arrays.places.part(warps.into(), 1);
        let current = task.semiring.part(self.arrays.current, self.edges.vertices);
        let mut laps = Laps::begin(Some(&self.clock), self.full_round.is_some())?;
        let mut search = self.argument(task, current)?;
        let mut before = self.start(task, current)?;
        let (mut rounds, mut relaxations, mut frontiers) = (0, 0, Frontiers::default());
        loop {
            task.control.check()?;
            match before {
                Before::Distances(previous) => search.previous = previous.as_mut_ptr().cast(),
                Before::Fell(fell, falls) => (search.fell, search.falls) = (fell.as_mut_ptr(), falls.as_mut_ptr()),
            }
            laps.begin_round()?;
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects: there is room for
            // all arcs, and for as many warps as a launch can have.
            unsafe { device.launch(*mark, shape, arguments![search])? };
            laps.end(Part::Mark)?;
            self.launch_filter(shape, warps)?;
            laps.end(Part::Filter)?;
            match &mut before {
                Before::Distances(previous) => pool.copy(*previous, current)?,
                Before::Fell(fell, falls) => {
                    pool.fill(*fell, 0)?;
                    std::mem::swap(fell, falls);
                }
            }
            laps.end(Part::Copy)?;
            let [now] = pool.read_array(length)?;
            laps.read(now)?;
            rounds += 1;
            relaxations += u64::from(now);
            frontiers.add(now.into());
            if now == 0 {
                break;
            }
            laps.resume()?;
            // SAFETY: as above.
            unsafe { device.launch(*compute, shape, arguments![search])? };
            laps.end(Part::Compute)?;
        }
        laps.finish()?;
        let full = self.time_full_round(task, shape, current, before)?;
        let launches = self.filter.launches_a_round() * rounds - 1;
        let mut statistics = vec![("rounds", rounds), ("relaxations", relaxations), ("kernel_launches", launches)];
        laps.tell(&mut statistics, full)?;
        let out_of_range = pool.read_array(self.arrays.out_of_range)? != [0];
        let mut outcome = SsspOutcome { statistics, frontiers: Vec::new(), out_of_range };
        self.arrays.counters.finish(pool, task, frontiers, &mut outcome)?;
        Ok(outcome)
    }

    fn device_distances(&self) -> DeviceDistances<'_> {
        DeviceDistances::of(&self.edges.pool, self.semiring.part(self.arrays.current, self.edges.vertices))
    }

    fn derivation(&self) -> Option<Derivation<'_>> {
        self.edges.derivation(self.semiring, self.device_distances().distances, self.arrays.out_of_range)
    }
}

#[cfg(test)]
mod tests;
