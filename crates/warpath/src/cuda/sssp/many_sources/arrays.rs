//! How much a batch of searches has of everything, its arrays, and the argument of its kernel.

use super::super::pairs::Pairs;
use super::super::{DeviceSemiring, OfSemiring, semirings_of};
use crate::algorithms::Parameters;
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::graph::{Extent, Offsets, has_wide_offsets};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::launch::Waiting;
use crate::graph::VertexId;
use crate::plan::Plan;

/// The most searches in a batch.
pub(super) const WIDEST: u64 = 1 << 16;
/// The most searches in a batch, unless they are set: a power of two.
pub(super) const USUALLY_WIDEST: u64 = 1 << 14;
/// The most searches in flight, unless it is said: eight on each multiprocessor of the largest device.
pub(super) const IN_FLIGHT: u64 = 1056;

/// The widest batch that is taken without being asked for: a power of two.
pub(crate) fn widest(graph: &impl Extent) -> usize {
    const WORDS: u64 = 1 << 29;
    let most = WORDS / (stride(graph) * semirings_of(graph)[0].words()).max(1);
    1 << most.clamp(8, USUALLY_WIDEST).ilog2()
}

/// From row to row of the distances: each begins at a cache line.
pub(crate) fn stride(graph: &impl Extent) -> u64 {
    (graph.vertices() as u64).next_multiple_of(32)
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// The semirings there are.
    pub(super) semirings: &'static [DeviceSemiring],
    /// Searches in a batch.
    pub(super) width: u64,
    /// Searches in flight.
    pub(super) in_flight: u64,
    /// Vertices that a far pile has room for.
    pub(super) capacity: u64,
    /// Words of all far piles.
    pub(super) far_words: u64,
}

impl Sizes {
    pub(super) fn of(graph: &impl Extent, parameters: &Parameters) -> Self {
        let width = parameters.get("width").map_or(widest(graph) as u64, |width| width as u64).min(WIDEST);
        Self::in_semirings(graph, parameters, semirings_of(graph), width)
    }

    /// For this many searches in a batch, the first of these semirings in mind.
    pub(crate) fn in_semirings(
        graph: &impl Extent,
        parameters: &Parameters,
        semirings: &'static [DeviceSemiring],
        width: u64,
    ) -> Self {
        let vertices = graph.vertices() as u64;
        let in_flight = parameters.get("blocks").map_or(IN_FLIGHT, |blocks| blocks as u64).min(width);
        let capacity = vertices.max((2 * vertices).min(1 << 18)).max(1);
        let piles = |(index, semiring): (usize, &DeviceSemiring)| {
            capacity * (1 + semiring.words()) * if index == 0 { in_flight } else { 1 }
        };
        let far_words = semirings.iter().enumerate().map(piles).max().unwrap_or(0);
        Sizes { semirings, width, in_flight, capacity, far_words }
    }

    /// How many searches of this semiring can be in a batch: few need the second semiring.
    pub(super) fn rows(&self, semiring: DeviceSemiring) -> u64 {
        if self.semirings[0] == semiring { self.width } else { (self.width / 16).max(1) }
    }
}

kernel_header! {
    path: "sssp/many_sources";
    namespace: sssp_many_sources;

    /// The argument. Offsets are u32 or u64.
    pub(super) struct Batch<Lane, Offset> {
        pub(super) offsets: DevicePtr<cpp::Offset>,
        pub(super) arcs: DevicePtr<cpp::Arc>,
        /// A row for each search.
        pub(super) distances: DeviceMutPtr<cpp::Distance>,
        /// Of what is far: for each block `capacity`.
        pub(super) far_distances: DeviceMutPtr<cpp::Distance>,
        pub(super) far_vertices: DeviceMutPtr<VertexId>,
        /// The search that the next free block takes; zero.
        pub(super) next: DeviceMutPtr<u32>,
        /// Steps, thresholds, scans, vertices expanded, relaxations; zero.
        pub(super) report: DeviceMutPtr<u64>,
        /// For each search.
        pub(super) out_of_range: DeviceMutPtr<u32>,
        pub(super) sources: DevicePtr<VertexId>,
        pub(super) cancelled: DevicePtr<u32>,
        pub(super) limit: u64,
        /// From row to row, in distances.
        pub(super) stride: u64,
        /// The first one.
        pub(super) delta: f64,
        pub(super) source_count: u32,
        /// As many as sources, or one from all of them.
        pub(super) searches: u32,
        pub(super) vertices: u32,
        /// At least as many as there are vertices.
        pub(super) capacity: u32,
        /// Of a near queue.
        pub(super) room: u32,
        /// So many near vertices are enough for a block.
        pub(super) wanted: u32,
        /// Whether there is shared memory for the distances of a search.
        pub(super) in_shared: u32,
    }
}

/// The arrays of the searches.
#[derive(Debug)]
pub(super) struct Arrays {
    pub(super) offsets: Offsets,
    pub(super) pairs: Pairs,
    /// Of each semiring a row for each search of a batch.
    pub(super) distances: OfSemiring<DeviceSlice<u32>>,
    pub(super) far: DeviceSlice<u32>,
    pub(super) sources: DeviceSlice<VertexId>,
    pub(super) out_of_range: DeviceSlice<u32>,
    pub(super) report: DeviceSlice<u64>,
    pub(super) next: DeviceSlice<u32>,
}

pub(super) fn layout(arena: &mut Arena<'_>, graph: &impl Extent, sizes: &Sizes) -> Arrays {
    let vertices = graph.vertices() as u64;
    let row = stride(graph);
    Arrays {
        offsets: Offsets::layout(arena, "offsets of the vertices", vertices + 1, has_wide_offsets(graph)),
        pairs: Pairs::layout(arena, graph),
        distances: OfSemiring::each(sizes.semirings, |semiring| {
            let rows = sizes.rows(semiring);
            let what = format!("distances {} of {rows} searches", semiring.name());
            arena.take(what, row.saturating_mul(rows).saturating_mul(semiring.words()))
        }),
        far: arena.take(format!("far vertices of {} searches in flight", sizes.in_flight), sizes.far_words),
        sources: arena.take("sources", vertices.max(sizes.width)),
        out_of_range: arena.take("flags", sizes.width),
        report: arena.take("report", 5),
        next: arena.take("next search", 1),
    }
}

/// What it takes.
pub(crate) fn plan(graph: &impl Extent, sizes: &Sizes) -> Plan {
    plan_of(|arena| layout(arena, graph, sizes))
}

impl Arrays {
    /// The argument of no search, with near queues that have so much room.
    pub(super) fn argument(
        &self,
        graph: &impl Extent,
        delta: f64,
        sizes: &Sizes,
        room: u32,
        waiting: &Waiting,
    ) -> Batch {
        Batch {
            offsets: self.offsets.as_ptr(),
            arcs: self.pairs.as_ptr(),
            distances: DeviceMutPtr::NULL,
            far_distances: self.far.as_mut_ptr().cast(),
            far_vertices: DeviceMutPtr::NULL,
            next: self.next.as_mut_ptr(),
            report: self.report.as_mut_ptr(),
            out_of_range: self.out_of_range.as_mut_ptr(),
            sources: self.sources.as_ptr(),
            cancelled: waiting.cancelled(),
            limit: 0,
            stride: stride(graph),
            delta,
            source_count: 0,
            searches: 0,
            vertices: graph.vertices() as u32,
            capacity: sizes.capacity as u32,
            room,
            wanted: 0,
            in_shared: 0,
        }
    }
}
