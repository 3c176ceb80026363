//! The predecessors of a search, derived on the device from the final distances: the same as on the CPU.
//!
//! An arc is tight if the distance of its tail and its weight make the distance of its head, in the arithmetic of the semiring.
//! The predecessor of a vertex is the least of the nearer tails of tight arcs to it (`problems/predecessors.rs` says it in
//! full). Arcs are pushed, so the arcs by head are not needed: one launch, in which warps take equal shares of the arcs
//! and heads keep the least tail by an atomic minimum. It reads each arc once and makes a random access to the distance
//! of its head; the few arcs that are tight make two more.
//!
//! That leaves vertices that tight arcs lead to only from the same distance: over arcs of weight 0, or weights that
//! rounding absorbs. One more launch looks whether there are any. If so, rounds of a launch each go on from all vertices
//! that have a predecessor, as far as tight arcs lead to those that have none: each takes the least tail of the round
//! before. A round of which the one before found nothing ends at once, so they are launched several at a time. Where
//! weights are negative, heads may be nearer than their tails, and there are only rounds, from the sources on.
//!
//! Work O(V + E) for the launch and for each round; span O(rounds) launches: no more than the tight arcs of weight 0 that
//! a path has in a row, or, with negative weights, than the arcs it has at all. Vertices beyond the cutoff or the
//! farthest target count as not reached: their distances are perhaps not final.
//!
//! Nothing is taken for it where a search has arrays to spare: the list of short rows, say, which has done its duty.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr` or from `resident/adoption.rs`, which have checked them, or from
//! sources that were checked.

use super::DeviceSemiring;
use super::pairs::Pairs;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{LaunchShape, arguments, images};
use crate::cuda::graph::{DeviceGraph, Offsets};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::graph::{NO_VERTEX, VertexId};
use crate::{Control, Result};

/// The arcs of a graph on a device, with their weights, as a search has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arcs {
    tails: Tails,
    heads: Heads,
    count: u64,
}

/// How it is known which vertex an arc leaves.
#[derive(Debug, Clone, Copy)]
enum Tails {
    /// Arcs are sorted by tail: where those of each vertex begin.
    Rows(Offsets),
    /// The tail of each arc.
    Each(DeviceSlice<VertexId>),
}

/// Heads and weights.
#[derive(Debug, Clone, Copy)]
enum Heads {
    /// In arrays of their own.
    Apart(DeviceSlice<VertexId>, DeviceSlice<u32>),
    /// Side by side.
    Pairs(Pairs),
}

impl Arcs {
    /// Those of a graph, with their weights.
    pub(super) fn of_graph(graph: &DeviceGraph, weights: DeviceSlice<u32>) -> Self {
        Arcs {
            tails: Tails::Rows(Offsets::Narrow(graph.offsets)),
            heads: Heads::Apart(graph.targets, weights),
            count: graph.targets.length(),
        }
    }

    /// Those of a list of tails, heads and weights.
    pub(super) fn of_list(
        tails: DeviceSlice<VertexId>,
        heads: DeviceSlice<VertexId>,
        weights: DeviceSlice<u32>,
    ) -> Self {
        Arcs { tails: Tails::Each(tails), heads: Heads::Apart(heads, weights), count: heads.length() }
    }

    /// This many pairs of head and weight, and where the pairs of each vertex begin.
    pub(super) fn of_pairs(offsets: Offsets, pairs: Pairs, count: u64) -> Self {
        Arcs { tails: Tails::Rows(offsets), heads: Heads::Pairs(pairs), count }
    }
}

/// What a search has left on the device to derive predecessors from, and room for that, which the next search may use
/// for something else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Derivation<'p> {
    /// The memory of everything here.
    pub(super) pool: &'p Pool,
    /// The semiring of the search.
    pub(super) semiring: DeviceSemiring,
    /// The graph.
    pub(super) arcs: Arcs,
    /// A distance for each vertex, in this semiring.
    pub(super) distances: DeviceSlice<u32>,
    /// Room for the predecessor of each vertex.
    pub(super) predecessors: DeviceSlice<VertexId>,
    /// Room for as many words: in which round each vertex got its predecessor.
    pub(super) levels: DeviceSlice<u32>,
    /// Room for one word.
    pub(super) progress: DeviceSlice<u32>,
}

kernel_header! {
    path: "sssp/predecessors";
    namespace: predecessors;

    /// The argument.
    struct KernelArgument<Lane> {
        /// Where the rows begin,
        offsets: DevicePtr<cpp::Void>,
        /// or, if not null, the tail of each arc.
        tails: DevicePtr<VertexId>,
        heads: DevicePtr<VertexId>,
        weights: DevicePtr<cpp::Weight>,
        /// Or, if not null, heads and weights side by side.
        pairs: DevicePtr<cpp::Arc>,
        distances: DevicePtr<cpp::Distance>,
        /// Of sources themselves, else all ones before.
        predecessors: DeviceMutPtr<VertexId>,
        /// 0 for what has a predecessor before the first round, else all ones.
        levels: DeviceMutPtr<u32>,
        /// The last round in which a predecessor was found.
        progress: DeviceMutPtr<u32>,
        /// The greatest distance that counts.
        limit: u64,
        arcs: u64,
        vertices: u32,
        /// So many arcs a warp takes at a time.
        share: u32,
        /// 0 for tails that are nearer.
        round: u32,
        /// Whether offsets have 64 bits.
        wide_offsets: u32,
    }
}

impl Derivation<'_> {
    /// Derives the predecessors of all vertices up to this distance, as the device has distances, and waits until that is
    /// done.
    pub(crate) fn derive(
        &self,
        sources: &[VertexId],
        limit: u64,
        negative_weights: bool,
        control: &Control,
    ) -> Result<()> {
        /// So many rounds are launched before the host looks whether they have found anything.
        const AT_ONCE: u32 = 16;
        const THREADS: u32 = 256;
        /// Arcs that a warp takes at a time: many where there are many, or it has to look for its row too often.
        const MOST_ARCS: u64 = 1024;
        let Derivation { pool, semiring, arcs, distances, predecessors, levels, progress } = *self;
        let device = &**pool.device();
        let bits = 32 * semiring.words();
        let look = device.function(&images::SSSP_PREDECESSORS, &format!("sssp_predecessors_look_{bits}"))?;
        let kernel = semiring.function(device, &images::SSSP_PREDECESSORS, "sssp_predecessors")?;
        let blocks = |kernel, items: u64| -> Result<u32> {
            let at_once = device.blocks_at_once(kernel, THREADS, 0)?.max(1);
            Ok(items.div_ceil(THREADS.into()).clamp(1, at_once.into()) as u32)
        };
        let shape = LaunchShape::line(blocks(kernel, arcs.count)?, THREADS);
        let warps = u64::from(shape.grid[0] * THREADS / 32);
        let (vertices, limit) = (predecessors.length() as u32, limit.min(semiring.unreachable() - 1));
        let (offsets, tails) = match arcs.tails {
            Tails::Rows(offsets) => (Some(offsets), DevicePtr::NULL),
            Tails::Each(tails) => (None, tails.as_ptr()),
        };
        let (heads, weights, pairs) = match arcs.heads {
            Heads::Apart(heads, weights) => (heads.as_ptr(), weights.as_ptr().cast(), DevicePtr::NULL),
            Heads::Pairs(pairs) => (DevicePtr::NULL, DevicePtr::NULL, pairs.as_ptr()),
        };
        let mut search = KernelArgument {
            offsets: offsets.map_or(DevicePtr::NULL, |offsets| offsets.as_ptr().cast()),
            tails,
            heads,
            weights,
            pairs,
            distances: distances.as_ptr().cast(),
            predecessors: predecessors.as_mut_ptr(),
            levels: levels.as_mut_ptr(),
            progress: progress.as_mut_ptr(),
            limit,
            arcs: arcs.count,
            vertices,
            share: arcs.count.div_ceil(warps).next_multiple_of(32).clamp(32, MOST_ARCS) as u32,
            round: 0,
            wide_offsets: offsets.is_some_and(|offsets| offsets.is_wide()).into(),
        };
        self.start(sources)?;
        pool.fill(progress, 0)?;
        if !negative_weights {
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
            unsafe { device.launch(kernel, &shape, arguments![search])? };
        }
        let looking = LaunchShape::line(blocks(look, vertices.into())?, THREADS);
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe {
            device.launch(look, &looking, arguments![distances, predecessors, levels, progress, limit, vertices])?;
        }
        if pool.read_array(progress)? == [0] {
            return Ok(());
        }
        pool.fill(progress, 0)?;
        loop {
            control.check()?;
            for _ in 0..AT_ONCE {
                search.round += 1;
                // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
                unsafe { device.launch(kernel, &shape, arguments![search])? };
            }
            let [found] = pool.read_array(progress)?;
            if found < search.round {
                return Ok(());
            }
        }
    }

    /// Nobody has a predecessor; sources have themselves, to be told from those that are left.
    fn start(&self, sources: &[VertexId]) -> Result<()> {
        let Derivation { pool, predecessors, .. } = *self;
        if sources.len() < super::MANY {
            pool.fill(predecessors, NO_VERTEX)?;
            return sources.iter().try_for_each(|&source| pool.upload(predecessors.part(source.into(), 1), &[source]));
        }
        pool.upload_with(predecessors, predecessors.length() as usize, |range, piece| {
            piece.fill(NO_VERTEX);
            let later = &sources[sources.partition_point(|&source| (source as usize) < range.start)..];
            let here = later.iter().take_while(|&&source| (source as usize) < range.end);
            here.for_each(|&source| piece[source as usize - range.start] = source);
        })
    }

    /// Where the derived predecessors are on the device: sources have themselves, and [`NO_VERTEX`] is where there is none.
    pub(in crate::cuda) fn derived(&self) -> DeviceSlice<VertexId> {
        self.predecessors
    }

    /// The derived predecessors, [`NO_VERTEX`] for sources and where there is none.
    pub(crate) fn predecessors(&self, sources: &[VertexId]) -> Result<Vec<VertexId>> {
        let mut predecessors = self.pool.read(self.predecessors)?;
        sources.iter().for_each(|&source| predecessors[source as usize] = NO_VERTEX);
        Ok(predecessors)
    }
}

#[cfg(test)]
mod tests {
    use crate::cuda::device::testing::devices;
    use crate::cuda::graph::WIDE_OFFSETS;
    use crate::graph::{Direction, Graph, GraphBuilder, ParallelEdges, VertexId, Weight};
    use crate::testing::{Random, graphs_of_every_shape};
    use crate::{Engine, Solver, Sssp};

    const NON_NEGATIVE: [&str; 6] = [
        "near-far:threads=64,blocks=2",
        "mask:threads=32",
        "bellman-ford:launch=64x2",
        "bellman-ford:edge-order=destination,sync=outcore,launch=32x3",
        "work-efficient:launch=64x2",
        "work-efficient:lists=as-described,edges=records,launch=64x2",
    ];

    /// The trees of these requests by these algorithms are those of the CPU, and prove themselves.
    fn agree(name: &str, graph: &Graph, algorithms: &[&str], requests: &[Sssp], seed: u64) {
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        let expected: Vec<_> = requests.iter().map(|request| cpu.solve(request.clone()).unwrap()).collect();
        for device in devices(seed) {
            let gpu = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            for algorithm in algorithms {
                for (request, expected) in requests.iter().zip(&expected) {
                    let context = format!("{name}, {algorithm}, {request:?}");
                    let tree = gpu.solve(request.clone().algorithm(*algorithm)).unwrap();
                    assert_eq!(tree.distances(), expected.distances(), "{context}");
                    assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
                    assert!(tree.predecessors().is_some() && tree.report().seconds.predecessors > 0.0, "{context}");
                    tree.verify(graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                }
            }
        }
    }

    fn random_arcs<W>(
        seed: u64,
        vertices: u64,
        arcs: usize,
        mut weight: impl FnMut(&mut Random) -> W,
    ) -> Vec<(VertexId, VertexId, W)> {
        let mut random = Random(seed);
        let vertex = |random: &mut Random| random.below(vertices) as VertexId;
        (0..arcs).map(|_| (vertex(&mut random), vertex(&mut random), weight(&mut random))).collect()
    }

    fn kept<W: Weight>(arcs: Vec<(VertexId, VertexId, W)>, direction: Direction) -> Graph {
        GraphBuilder::new().direction(direction).parallel_edges(ParallelEdges::Keep).build_from(arcs).unwrap()
    }

    /// From one vertex, from many, and no farther than some.
    fn requests(graph: &Graph) -> Vec<Sssp> {
        let vertices = graph.vertices() as VertexId;
        let many: Vec<VertexId> = (0..vertices).step_by(3).collect();
        vec![
            Sssp::from(vertices / 2),
            Sssp::from(many.as_slice()),
            Sssp::from(0).to([vertices / 3, vertices - 1]),
            Sssp::from(1 % vertices).within(2_u32),
        ]
    }

    /// Most arcs are of weight 0, and run in circles; so do many of weights that rounding absorbs.
    #[test]
    fn plateaus_become_trees_in_every_semiring() {
        for direction in [Direction::Directed, Direction::Undirected] {
            let zeros = kept(random_arcs(1, 300, 700, |random| random.below(6).saturating_sub(3) as u32), direction);
            agree("zeros", &zeros, &NON_NEGATIVE, &requests(&zeros), 1);
            let huge = |random: &mut Random| [0, 0, 1, u32::MAX][random.below(4) as usize];
            let huge = kept(random_arcs(2, 200, 420, huge), direction);
            agree("huge", &huge, &NON_NEGATIVE, &requests(&huge), 2);
            let single = |random: &mut Random| [0.0, 1e-30, 0.5, 1.0, 1e8_f32][random.below(5) as usize];
            let single = kept(random_arcs(3, 250, 600, single), direction);
            agree("single", &single, &NON_NEGATIVE, &requests(&single), 3);
            agree("no farther than -0", &single, &NON_NEGATIVE, &[Sssp::from(7).within(-0.0)], 3);
            let double = |random: &mut Random| [0.0, 1e-300, 0.5, 1.0, 1e17][random.below(5) as usize];
            let double = kept(random_arcs(4, 250, 600, double), direction);
            agree("double", &double, &NON_NEGATIVE[..1], &requests(&double), 4);
            let signed = kept(random_arcs(5, 250, 600, |random| random.below(4) as i32 / 2), direction);
            agree("signed", &signed, &NON_NEGATIVE[2..4], &requests(&signed), 5);
        }
        let positive = kept(random_arcs(6, 300, 900, |random| 1 + random.below(3) as u32), Direction::Undirected);
        agree("positive", &positive, &["multi-hop:threads=64,delta=3"], &requests(&positive), 6);
    }

    /// Circles of weight 0 with arcs up and down, and no other predecessor than over such arcs.
    #[test]
    fn tight_circles_of_negative_weights_become_trees() {
        let mut random = Random(7);
        let heights: Vec<i32> = (0..220).map(|_| random.below(40) as i32).collect();
        // Weights are differences of height, here and there a little more: no circle is negative, many are 0.
        let arcs = random_arcs(8, 220, 900, |random| i32::from(random.below(4) == 0));
        let arcs = arcs.into_iter().map(|(u, v, more)| (u, v, heights[v as usize] - heights[u as usize] + more));
        let graph = kept(arcs.collect(), Direction::Directed);
        assert!(graph.has_negative_weights());
        // From one source to another of the same height no way is shorter than 0.
        let level: Vec<VertexId> = (0..220).filter(|&v| heights[v as usize] == 7).collect();
        let requests = [Sssp::from(3), Sssp::from(level.as_slice()), Sssp::from(4).to(7)];
        agree("heights", &graph, &NON_NEGATIVE[2..4], &requests, 7);
    }

    /// One vertex a round, for more rounds than are launched at once.
    #[test]
    fn long_plateaus_take_many_rounds() {
        let chain =
            (0..83_u32).map(|v| (83 - v, 82 - v, 0_u32)).chain([(83, 84, 5), (84, 0, 0), (90, 91, 0), (91, 90, 0)]);
        let graph = kept(chain.collect(), Direction::Directed);
        agree("chain", &graph, &NON_NEGATIVE, &[Sssp::from(83), Sssp::from(84), Sssp::from([20, 90])], 8);
        let falling = (0..50_u32).map(|v| (v, v + 1, -3)).chain((0..50).map(|v| (v + 1, v, 3)));
        let graph = kept(falling.collect(), Direction::Directed);
        agree("falling", &graph, &NON_NEGATIVE[2..4], &[Sssp::from(0), Sssp::from(50), Sssp::from(30)], 9);
    }

    /// Rows longer than a warp's share, many empty ones between them, and offsets of both widths.
    #[test]
    fn rows_of_all_lengths_are_shared_out() {
        let mut random = Random(10);
        let mut arcs = Vec::new();
        for (tail, count) in [(0, 1), (3, 2500), (4, 31), (5, 33), (700, 1), (1400, 1200), (1401, 900)] {
            arcs.extend((0..count).map(|_| (tail, random.below(1500) as VertexId, random.below(3) as f32 / 2.0)));
        }
        arcs.extend([(1, 1499, 0.0), (0, 3, 1.5), (3, 1400, 0.0), (1400, 1401, 0.25), (1499, 0, 0.0)]);
        let graph = kept(arcs, Direction::Directed);
        let requests = [Sssp::from(0), Sssp::from([3, 1401])];
        agree("rows of all lengths", &graph, &NON_NEGATIVE, &requests, 10);
        WIDE_OFFSETS.set(true);
        agree("wide offsets", &graph, &NON_NEGATIVE[..1], &requests, 11);
        for (name, graph) in graphs_of_every_shape::<f64>(12).into_iter().step_by(5) {
            agree(&name, &graph, &NON_NEGATIVE[..1], &[Sssp::from(0)], 12);
        }
        WIDE_OFFSETS.set(false);
    }
}
