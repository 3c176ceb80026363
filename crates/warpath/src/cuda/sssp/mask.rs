//! Shortest paths with one thread for a few vertices, a mask of those to relax, and costs that are updated on the side.
//!
//! A round is two launches: threads of masked vertices lower the updating costs of their neighbours; vertices whose
//! updating cost is below their cost take it and enter the mask. Every launch looks at every vertex: work
//! O(V x rounds + relaxations), and a vertex is relaxed each time its cost falls, which without any order can be often;
//! span O(rounds x greatest degree). There are as many rounds as arcs on the shortest path with the most of them, and a
//! few more. It wins on graphs of few rounds and even degrees. On roads nearly all threads of thousands of launches
//! find nothing to do, and one hub keeps the whole launch waiting.
//!
//! `coarsening` merges the work of this many threads into one: fewer threads, each with more to do. Pathak et al. do
//! not say which vertices a thread takes. With `stride=contiguous` they are next to each other: the threads of a warp
//! read words that are far apart. With `stride=strided` they are as far apart as there are threads: the threads of a
//! warp read words next to each other.
//!
//! Two phases are what makes rounds independent of the order of threads; that the minimum is atomic is what makes them
//! right. Without it updates get lost: with the feature `lab` that is here too, and counts the vertices that come out
//! wrong.
//!
//! Source: Harish and Narayanan 2007, algorithms 3 to 5; Pathak et al. 2022, algorithms 10 to 12, sect. 4.2 (atomics)
//! and 4.3 (coarsening). Repairs are listed in `kernels/sssp/mask.cu`.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::counts::{Counters, Counts, Frontiers};
use super::predecessors::{Arcs, Derivation};
use super::{
    DeviceDistances, DeviceSemiring, NON_NEGATIVE, OfSemiring, PreparedSssp, SsspAlgorithm, SsspOutcome, SsspTask,
    distance_words, flags_of, layout_weights, start, start_flags, upload_weights,
};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Unset, Values, Workload};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::DeviceGraph;
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::launch::{THREADS, threads};
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
        parameters: &[COARSENING, STRIDE, THREADS],
        negative_weights: false,
        seconds,
    },
    semirings: NON_NEGATIVE,
    needs_transpose: |_| false,
    plan,
    prepare: |device, graph, parameters| Ok(Box::new(prepare(device, graph, parameters, RELAX)?)),
    prepare_on_several: None,
};

/// How many vertices a thread has.
fn coarsening(parameters: &Parameters) -> u32 {
    parameters.word(COARSENING.name).and_then(|word| word.parse().ok()).unwrap_or(USUAL_COARSENING)
}

fn seconds(work: &Workload<'_>) -> f64 {
    /// A round, a vertex in each round, and an arc.
    const ROUND: f64 = 15e-6;
    const VERTEX: f64 = 0.01e-9;
    const ARC: f64 = 0.1e-9;
    /// An arc of the longest row, which one thread goes along in some rounds.
    const ARC_OF_A_HUB: f64 = 1.2e-6;
    let rounds = 2.0 * work.levels();
    // A thread goes along the rows of all its vertices.
    let others = f64::from(coarsening(work.parameters) - 1) * work.arcs() / work.vertices().max(1.0);
    let hub = (work.graph.greatest_degree as f64 + others) * ARC_OF_A_HUB;
    work.in_turn(rounds * (ROUND + work.vertices() * VERTEX) + hub + work.arcs() * ARC)
}

/// The kernel that relaxes, atomically.
const RELAX: &str = "sssp_mask_relax";

/// The vertices of a thread, unless they are set.
const USUAL_COARSENING: u32 = 1;

pub(in crate::cuda) const COARSENING: Parameter = Parameter {
    name: "coarsening",
    summary: "how many vertices a thread has: 1, 2, 4, 8 or 16",
    values: Values::Or(&Values::OneOf(&["1", "2", "4", "8", "16"]), Unset::Number(USUAL_COARSENING as f64)),
};

/// The word for vertices as far apart as there are threads.
const STRIDED: &str = "strided";

/// The parameter that says which vertices a thread has, where it has several.
pub(in crate::cuda) const STRIDE: Parameter = Parameter {
    name: "stride",
    summary: "which vertices a thread has: contiguous, next to each other, or strided, as far apart as there are threads",
    values: Values::Or(&Values::OneOf(&["contiguous", STRIDED]), Unset::InWords(|| "contiguous".into())),
};

/// Which vertices a thread has, and how many threads a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Division {
    threads: u32,
    coarsening: u32,
    strided: bool,
}

impl Division {
    /// One vertex for each thread.
    pub(super) fn one_each(threads: u32) -> Self {
        Division { threads, coarsening: 1, strided: false }
    }

    /// What the parameters say.
    fn of(parameters: &Parameters, device: &dyn Device) -> Result<Self> {
        let strided = parameters.word(STRIDE.name) == Some(STRIDED);
        Ok(Division { threads: threads(parameters, device)?, coarsening: coarsening(parameters), strided })
    }

    /// A shape with threads for this many vertices, and how far apart the vertices of a thread are.
    fn shape(self, vertices: u32) -> (LaunchShape, u64) {
        let threads = u64::from(vertices).div_ceil(u64::from(self.coarsening));
        let shape = LaunchShape::covering(threads, self.threads);
        (shape, if self.strided { u64::from(shape.grid[0]) * u64::from(self.threads) } else { 1 })
    }
}

/// The arrays of a search, and room for when each predecessor is found.
fn layout(arena: &mut Arena<'_>, graph: &Graph) -> (Arrays, DeviceSlice<u32>) {
    let (vertices, words) = (graph.vertices() as u64, distance_words(graph));
    let weights = layout_weights(arena, graph);
    let mask = arena.take("mask", flags_of(vertices));
    let cost = arena.take("costs", words);
    let updating = arena.take("updating costs", words);
    let levels = arena.take("rounds of the predecessors", vertices);
    let marked = arena.take("number of the marked", 1);
    let out_of_range = arena.take("flag", 1);
    let counters = Counters::layout(arena);
    (Arrays { weights, mask, cost, updating, marked, out_of_range, counters }, levels)
}

fn plan(graph: &Graph, _: &Parameters) -> Plan {
    DeviceGraph::plan(graph, |arena| layout(arena, graph))
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters, relax: &str) -> Result<Mask> {
    let division = Division::of(parameters, &**device)?;
    let kernels = OfSemiring::new(graph, |semiring| Kernels::of(&**device, semiring, relax))?;
    let csr = graph.csr();
    let (graph, (arrays, levels)) = DeviceGraph::upload(device, graph, |arena| layout(arena, graph))?;
    upload_weights(&graph.pool, arrays.weights, csr)?;
    Ok(Mask { graph, division, kernels, arrays, levels, semiring: DeviceSemiring::Narrow })
}

/// The kernels of one semiring.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernels {
    relax: Function,
    update: Function,
}

impl Kernels {
    /// The right ones.
    pub(super) fn right(device: &dyn Device, semiring: DeviceSemiring) -> Result<Self> {
        Self::of(device, semiring, RELAX)
    }

    fn of(device: &dyn Device, semiring: DeviceSemiring, relax: &str) -> Result<Self> {
        let function = |kernel| semiring.function(device, &images::SSSP_MASK, kernel);
        Ok(Kernels { relax: function(relax)?, update: function("sssp_mask_update")? })
    }
}

#[derive(Debug)]
struct Mask {
    graph: DeviceGraph,
    division: Division,
    kernels: OfSemiring<Kernels>,
    arrays: Arrays,
    levels: DeviceSlice<u32>,
    /// The semiring of the last search.
    semiring: DeviceSemiring,
}

/// The arrays of a search, with room for the distances of any semiring.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    pub(super) weights: DeviceSlice<u32>,
    pub(super) mask: DeviceSlice<u8>,
    pub(super) cost: DeviceSlice<u32>,
    pub(super) updating: DeviceSlice<u32>,
    pub(super) marked: DeviceSlice<u32>,
    pub(super) out_of_range: DeviceSlice<u32>,
    pub(super) counters: Counters,
}

kernel_header! {
    path: "sssp/mask";
    namespace: mask;

    /// The argument.
    struct KernelArgument<Lane> {
        offsets: DevicePtr<u32>,
        targets: DevicePtr<VertexId>,
        weights: DevicePtr<cpp::Weight>,
        mask: DeviceMutPtr<u8>,
        cost: DeviceMutPtr<cpp::Distance>,
        updating: DeviceMutPtr<cpp::Distance>,
        marked: DeviceMutPtr<u32>,
        out_of_range: DeviceMutPtr<u32>,
        /// Null if nothing is to be counted.
        statistics: DeviceMutPtr<Counts>,
        limit: u64,
        /// How far apart the vertices of a thread are: one, or as many as there are threads.
        stride: u64,
        vertices: u32,
        /// How many vertices a thread has.
        coarsening: u32,
    }
}

impl PreparedSssp for Mask {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.semiring = task.semiring;
        let kernels = *self.kernels.get(task.semiring)?;
        search(&self.graph, kernels, self.division, self.arrays, task)
    }

    fn device_distances(&self) -> DeviceDistances<'_> {
        DeviceDistances::of(&self.graph.pool, self.semiring.part(self.arrays.cost, self.graph.vertices))
    }

    fn derivation(&self) -> Option<Derivation<'_>> {
        let DeviceDistances { pool, distances, .. } = self.device_distances();
        Some(Derivation {
            pool,
            semiring: self.semiring,
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
    graph: &DeviceGraph,
    kernels: Kernels,
    division: Division,
    arrays: Arrays,
    task: &SsspTask<'_>,
) -> Result<SsspOutcome> {
    let DeviceGraph { pool, offsets, targets, vertices } = graph;
    let Arrays { weights, mask, marked, out_of_range, counters, .. } = arrays;
    let (device, vertices) = (pool.device(), *vertices);
    let (cost, updating) = (task.semiring.part(arrays.cost, vertices), task.semiring.part(arrays.updating, vertices));
    let (shape, stride) = division.shape(vertices);
    let search = KernelArgument {
        offsets: offsets.as_ptr(),
        targets: targets.as_ptr(),
        weights: weights.as_ptr().cast(),
        mask: mask.as_mut_ptr(),
        cost: cost.as_mut_ptr().cast(),
        updating: updating.as_mut_ptr().cast(),
        marked: marked.as_mut_ptr(),
        out_of_range: out_of_range.as_mut_ptr(),
        statistics: counters.start(pool, task)?,
        limit: task.cutoff,
        stride,
        vertices,
        coarsening: division.coarsening,
    };
    start(pool, cost, task.semiring, task.sources)?;
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
    counters.finish(pool, task, frontiers, &mut outcome)?;
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
            parameters: &[COARSENING, STRIDE, THREADS],
            negative_weights: false,
            seconds,
        },
        semirings: NON_NEGATIVE,
        needs_transpose: |_| false,
        plan,
        prepare,
        prepare_on_several: None,
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
        let prepare = |relax| super::prepare(device, graph, parameters, relax);
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
            let words = task.semiring.words() as usize;
            let distances = |mask: &Mask| {
                let found = mask.device_distances();
                found.pool.read(found.distances)
            };
            let (printed, repaired) = (distances(&self.printed)?, distances(&self.repaired)?);
            let wrong =
                printed.chunks(words).zip(repaired.chunks(words)).filter(|(found, right)| found != right).count();
            outcome.statistics.insert(0, ("wrong_vertices", wrong as u64));
            outcome.out_of_range |= right.out_of_range;
            Ok(outcome)
        }

        fn device_distances(&self) -> DeviceDistances<'_> {
            self.printed.device_distances()
        }

        fn derivation(&self) -> Option<Derivation<'_>> {
            self.printed.derivation()
        }
    }
}
