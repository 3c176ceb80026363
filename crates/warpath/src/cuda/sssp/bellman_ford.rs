//! Bellman-Ford over a list of arcs, of which every warp takes a contiguous share.
//!
//! Every round relaxes every arc: work O(E x rounds), span O(rounds x E / threads). That is up to V times too much, and
//! on roads nearly that; but arcs are read in order, no vertex has more work than another, and there is nothing to keep
//! but the distances.
//!
//! `sync=outcore` reads the distances of the round before, which are copied between launches, so a round moves
//! distances by one arc. `incore` has one array, and what a thread lowers others may go on from at once: fewer rounds,
//! no copy. `shared` is `outcore` with the least length for each run of the same head found in shared memory first: it
//! trades atomic operations for twice the logarithm of a block's threads in barriers, which pays only where many arcs
//! that improve a vertex meet, so hardly anywhere. `edge-order=source` reads one tail's distance for a run of arcs,
//! `destination` lowers one head from a run of arcs, whose atomic operations then wait for each other. `launch` is
//! threads x blocks: the report's shapes fill two multiprocessors of a GPU of today; without it, a launch fills the
//! whole device. `edges=records` has an array of records of 12 bytes, as the report's listing. `rounds=timed` tells the
//! times of rounds (`rounds.rs`).
//!
//! Weights may be below zero. A cycle of negative length shows in that distances still fall after as many rounds as
//! there are vertices, or sooner in the distances themselves: see `negative_cycles.rs`.
//!
//! Source: Rejaud, "CS516 Project 2 CUDA Report", sect. 2. Repairs are listed in `kernels/sssp/bellman_ford.cu`.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::counts::{Counters, Counts, Frontiers};
use super::edges::{DeviceEdges, EDGES, Form, ORDER, Pointers};
use super::negative_cycles::{Looks, find, look};
use super::predecessors::Derivation;
use super::rounds::{self, Clock, Laps, Part, ROUNDS};
use super::{
    DeviceDistances, DeviceSemiring, LAUNCH, MOST_WARPS, OfSemiring, PreparedSssp, SsspAlgorithm, SsspOutcome,
    SsspTask, distance_words, launch_shape, semirings_of, start,
};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Unset, Values, Workload};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::graph::{Graph, I32ToI64, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "bellman-ford",
        summary: "all arcs every round, a warp taking a contiguous share; for integer weights below zero, too",
        source: "Rejaud, CS516 Project 2 CUDA Report, sect. 2",
        parameters: &[SYNC, ORDER, EDGES, LAUNCH, ROUNDS],
        negative_weights: true,
        seconds,
    },
    semirings: &[DeviceSemiring::Narrow, DeviceSemiring::Wide, DeviceSemiring::Signed, DeviceSemiring::Single],
    needs_transpose: |parameters| form_of(parameters).by_destination,
    plan,
    prepare,
    prepare_on_several: None,
};

fn seconds(work: &Workload<'_>) -> f64 {
    /// A round, and the rounds that each level of a breadth-first search stands for.
    const ROUND: f64 = 20e-6;
    const ROUNDS: f64 = 1.3;
    /// Relaxations a second of the whole device.
    const RELAXATIONS: f64 = 60e9;
    let relaxations = relaxations_a_second(work, RELAXATIONS);
    work.in_turn(ROUNDS * work.levels() * (ROUND + work.arcs() / relaxations))
}

/// Relaxations a second of one thread, which waits for memory most of the time.
pub(super) const OF_A_THREAD: f64 = 0.6e6;

/// Relaxations a second: those of the whole device, or those of the threads that the parameter `launch` asks for.
pub(super) fn relaxations_a_second(work: &Workload<'_>, of_the_device: f64) -> f64 {
    let launch = work.parameters.launch(LAUNCH.name);
    launch.map_or(of_the_device, |(threads, blocks)| {
        (f64::from(threads) * f64::from(blocks) * OF_A_THREAD).min(of_the_device)
    })
}

const SYNC: Parameter = Parameter {
    name: "sync",
    summary: "outcore (copies between launches), incore (one array) or shared (minima in shared memory)",
    values: Values::Or(&Values::OneOf(&["outcore", "incore", "shared"]), Unset::InWords(|| "incore".into())),
};

/// What a round reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sync {
    Outcore,
    Incore,
    Shared,
}

impl Sync {
    fn of(parameters: &Parameters) -> Self {
        match parameters.word(SYNC.name) {
            Some("outcore") => Sync::Outcore,
            Some("shared") => Sync::Shared,
            _ => Sync::Incore,
        }
    }
}

fn form_of(parameters: &Parameters) -> Form {
    Form::of(parameters, Sync::of(parameters) == Sync::Shared)
}

/// The name of the kernel, but for the semiring.
fn kernel_of(sync: Sync, records: bool) -> &'static str {
    match (sync, records) {
        (Sync::Outcore, false) => "sssp_bellman_ford_outcore",
        (Sync::Outcore, true) => "sssp_bellman_ford_outcore_records",
        (Sync::Incore, false) => "sssp_bellman_ford_incore",
        (Sync::Incore, true) => "sssp_bellman_ford_incore_records",
        (Sync::Shared, false) => "sssp_bellman_ford_shared",
        (Sync::Shared, true) => "sssp_bellman_ford_shared_records",
    }
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    current: DeviceSlice<u32>,
    /// The distances of the round before, if they are kept.
    previous: Option<DeviceSlice<u32>>,
    /// Whether a distance fell; whether one would have left its range.
    flags: DeviceSlice<u32>,
    counters: Counters,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph, sync: Sync) -> Arrays {
    let words = distance_words(graph);
    Arrays {
        current: arena.take("distances", words),
        previous: (sync != Sync::Incore).then(|| arena.take("distances of the round before", words)),
        flags: arena.take("flags", 2),
        counters: Counters::layout(arena),
    }
}

fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
    DeviceEdges::plan(graph, form_of(parameters), |arena| layout(arena, graph, Sync::of(parameters)))
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedSssp>> {
    let (sync, form) = (Sync::of(parameters), form_of(parameters));
    let kernels = OfSemiring::new(graph, |semiring| {
        let kernel = kernel_of(sync, form.records);
        let function = semiring.function(&**device, &images::SSSP_BELLMAN_FORD, kernel)?;
        // A length and a head for each thread.
        let shared_bytes = if sync == Sync::Shared { 4 * semiring.words() as u32 + 4 } else { 0 };
        Ok((function, launch_shape(&**device, &[function], parameters, shared_bytes, MOST_WARPS)?))
    })?;
    let clock = rounds::are_timed(parameters).then(|| Clock::new(device)).transpose()?;
    let (edges, arrays) = DeviceEdges::upload(device, graph, form, |arena| layout(arena, graph, sync))?;
    Ok(Box::new(BellmanFord { edges, kernels, arrays, clock, semiring: semirings_of(graph)[0] }))
}

#[derive(Debug)]
struct BellmanFord {
    edges: DeviceEdges,
    kernels: OfSemiring<(Function, LaunchShape)>,
    arrays: Arrays,
    /// If rounds are timed.
    clock: Option<Clock>,
    /// The semiring of the last search.
    semiring: DeviceSemiring,
}

kernel_header! {
    path: "sssp/bellman_ford";
    namespace: bellman_ford;

    /// The argument.
    struct KernelArgument<Lane> {
        tails: DevicePtr<VertexId>,
        heads: DevicePtr<VertexId>,
        weights: DevicePtr<cpp::Weight>,
        /// Or, if not null, the three side by side.
        records: DevicePtr<cpp::Record>,
        previous: DeviceMutPtr<cpp::Distance>,
        current: DeviceMutPtr<cpp::Distance>,
        changed: DeviceMutPtr<u32>,
        out_of_range: DeviceMutPtr<u32>,
        /// Null if nothing is to be counted.
        statistics: DeviceMutPtr<Counts>,
        limit: u64,
        arcs: u32,
    }
}

/// What a round changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    /// The distances, in the semiring of the search.
    pub(super) current: DeviceSlice<u32>,
    /// Those of the round before, if they are kept.
    pub(super) previous: Option<DeviceSlice<u32>>,
    /// One word: whether a distance fell.
    pub(super) changed: DeviceSlice<u32>,
    /// One word: whether a distance would have left its range.
    pub(super) out_of_range: DeviceSlice<u32>,
}

/// The argument of a round that counts nothing.
fn argument(edges: &DeviceEdges, limit: u64, state: State) -> KernelArgument {
    let Pointers { tails, heads, weights, records } = edges.pointers();
    KernelArgument {
        tails,
        heads,
        weights,
        records,
        previous: state.previous.unwrap_or(state.current).as_mut_ptr().cast(),
        current: state.current.as_mut_ptr().cast(),
        changed: state.changed.as_mut_ptr(),
        out_of_range: state.out_of_range.as_mut_ptr(),
        statistics: DeviceMutPtr::NULL,
        limit,
        arcs: edges.arcs,
    }
}

impl PreparedSssp for BellmanFord {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.semiring = task.semiring;
        let DeviceEdges { pool, arcs, vertices, .. } = &self.edges;
        let Arrays { current, previous, flags, counters } = self.arrays;
        let (kernel, shape) = self.kernels.get(task.semiring)?;
        let mut laps = Laps::begin(self.clock.as_ref(), true)?;
        let current = task.semiring.part(current, *vertices);
        let previous = previous.map(|previous| task.semiring.part(previous, *vertices));
        let (changed, out_of_range) = (flags.part(0, 1), flags.part(1, 1));
        let search = KernelArgument {
            statistics: counters.start(pool, task)?,
            ..argument(&self.edges, task.cutoff, State { current, previous, changed, out_of_range })
        };
        let is_signed = task.semiring == DeviceSemiring::Signed;
        let can_sink = task.graph.filter(|graph| is_signed && graph.has_negative_weights());
        let (mut rounds, mut falls, mut looks) = (0, true, Looks::new());
        start(pool, current, task.semiring, task.sources)?;
        pool.fill(out_of_range, 0)?;
        while falls {
            task.control.check()?;
            pool.fill(changed, 0)?;
            laps.begin_round()?;
            if let Some(previous) = previous {
                pool.copy(previous, current)?;
                laps.end(Part::Copy)?;
            }
            // SAFETY: the argument is the kernels', all arrays have the lengths that it expects, and the shape has as
            // much shared memory.
            unsafe { pool.device().launch(*kernel, shape, arguments![search])? };
            laps.end(Part::Compute)?;
            rounds += 1;
            falls = pool.read_array(changed)? != [0];
            laps.read(*arcs)?;
            if let Some(graph) = can_sink.filter(|_| falls) {
                // Without a cycle, no shortest path has more arcs than there are vertices, less one.
                self.stop_at_cycle(graph, task, rounds >= u64::from(*vertices), looks.is_due(rounds))?;
            }
        }
        laps.finish()?;
        let out_of_range = pool.read_array(out_of_range)? != [0];
        if let Some(graph) = can_sink.filter(|_| out_of_range) {
            self.stop_at_cycle(graph, task, true, true)?;
        }
        let relaxations = rounds * u64::from(*arcs);
        let mut statistics = vec![("rounds", rounds), ("relaxations", relaxations), ("kernel_launches", rounds)];
        laps.tell(&mut statistics, None)?;
        let mut outcome = SsspOutcome { statistics, frontiers: Vec::new(), out_of_range };
        // Every round has all arcs.
        counters.finish(pool, task, Frontiers::default(), &mut outcome)?;
        Ok(outcome)
    }

    fn device_distances(&self) -> DeviceDistances<'_> {
        DeviceDistances::of(&self.edges.pool, self.semiring.part(self.arrays.current, self.edges.vertices))
    }

    fn derivation(&self) -> Option<Derivation<'_>> {
        self.edges.derivation(self.semiring, self.device_distances().distances, self.arrays.flags.part(0, 1))
    }
}

impl BellmanFord {
    /// An error if there is a negative cycle: with the cycle, which is looked for if it is `certain` to be there, or
    /// `due`.
    fn stop_at_cycle(&self, graph: &Graph, task: &SsspTask<'_>, certain: bool, due: bool) -> Result<()> {
        if !certain && !due {
            return Ok(());
        }
        let distances = self.device_distances().read::<I32ToI64>()?;
        if let Some(cycle) = look(graph, task.sources, &distances)? {
            return Err(Error::NegativeCycle(Box::new(cycle)));
        }
        if !certain {
            return Ok(());
        }
        match find(graph, distances, task.control)? {
            Some(cycle) => Err(Error::NegativeCycle(Box::new(cycle))),
            None => Err(Error::Device("distances fell in more rounds than they can".into())),
        }
    }
}

/// A round over all arcs, to compare the rounds of another search with that is over the same arcs.
#[derive(Debug)]
pub(super) struct FullRound(OfSemiring<Function>);

impl FullRound {
    /// Loads the kernels, for two arrays of distances or for one.
    pub(super) fn prepare(device: &Arc<dyn Device>, graph: &Graph, incore: bool, records: bool) -> Result<Self> {
        let kernel = kernel_of(if incore { Sync::Incore } else { Sync::Outcore }, records);
        let of = |semiring: DeviceSemiring| semiring.function(&**device, &images::SSSP_BELLMAN_FORD, kernel);
        Ok(FullRound(OfSemiring::new(graph, of)?))
    }

    /// How long it takes with the launch of a search that is over, in its final state: nothing falls any more. A first
    /// round, before the one that is timed, may have to load the kernel.
    pub(super) fn seconds(
        &self,
        clock: &Clock,
        edges: &DeviceEdges,
        task: &SsspTask<'_>,
        shape: &LaunchShape,
        state: State,
    ) -> Result<f64> {
        let kernel = *self.0.get(task.semiring)?;
        let round = argument(edges, task.cutoff, state);
        let launch = || {
            // SAFETY: the argument is the kernel's, all arrays have the lengths that it expects, and it takes no shared
            // memory.
            unsafe { edges.pool.device().launch(kernel, shape, arguments![round]) }
        };
        launch()?;
        clock.seconds_of(launch)
    }
}
