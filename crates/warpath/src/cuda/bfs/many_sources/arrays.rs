//! The arrays of up to 64 searches, and the argument of their kernel.

use crate::algorithms::Parameters;
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::graph::{Arcs, Extent, Offsets, has_wide_offsets};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::launch::Waiting;
use crate::cuda::transpose::Transpose;
use crate::graph::VertexId;
use crate::plan::Plan;

/// Words that a barrier counts in.
const ARRIVALS: u64 = 96;

/// From row to row of the levels: each begins at a cache line.
pub(crate) fn stride(graph: &impl Extent) -> u64 {
    (graph.vertices() as u64).next_multiple_of(32)
}

/// Items that one of the two queues has.
pub(super) fn queue_items(graph: &impl Extent) -> u64 {
    (2 * graph.vertices() as u64).clamp(1 << 14, 1 << 22)
}

kernel_header! {
    path: "bfs/many_sources";
    namespace: many_sources;
    constants {
        /// The most blocks, each of which has a part of the queue for what it finds.
        pub(super) const MOST_BLOCKS: u32 = 256;
    }

    /// The arguments.
    pub(super) struct Batch<Offset> {
        /// Of the arcs by tail.
        pub(super) offsets: DevicePtr<cpp::Offset>,
        pub(super) targets: DevicePtr<VertexId>,
        /// Of the arcs by head.
        pub(super) incoming_offsets: DevicePtr<cpp::Offset>,
        pub(super) incoming: DevicePtr<VertexId>,
        /// For each vertex the searches that have seen it; those that do not exist have seen all.
        pub(super) seen: [DeviceMutPtr<u64>; 2],
        /// A row for each search.
        pub(super) levels: DeviceMutPtr<u32>,
        /// Two, for each block `capacity` items.
        pub(super) queue: DeviceMutPtr<[u32; 4]>,
        /// Two times `most_blocks`: what each block has found: items, arcs, searches.
        pub(super) parts: DeviceMutPtr<[u32; 4]>,
        /// Three words, 32 apart, zero.
        pub(super) arrivals: DeviceMutPtr<u32>,
        /// Number of levels, and of those searched bottom-up.
        pub(super) report: DeviceMutPtr<u32>,
        pub(super) sources: DevicePtr<VertexId>,
        pub(super) cancelled: DevicePtr<u32>,
        pub(super) arcs: u64,
        /// From row to row.
        pub(super) stride: u64,
        pub(super) source_count: u32,
        /// As many as sources, or one from all of them.
        pub(super) searches: u32,
        pub(super) vertices: u32,
        pub(super) capacity: u32,
        pub(super) cutoff: u32,
        /// Bottom-up once this share of all arcs leaves the frontier,
        pub(super) bottom_up: f32,
        /// and top-down again once less than this share of all vertices is in it.
        pub(super) top_down: f32,
    }
}

/// The arrays of the searches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    pub(super) arcs: Arcs,
    /// The arcs by head, where they differ.
    pub(super) by_head: Option<ByHead>,
    pub(super) levels: DeviceSlice<u32>,
    pub(super) seen: [DeviceSlice<u64>; 2],
    pub(super) queues: DeviceSlice<[u32; 4]>,
    pub(super) parts: DeviceSlice<[u32; 4]>,
    pub(super) sources: DeviceSlice<VertexId>,
    pub(super) arrivals: DeviceSlice<u32>,
    /// For each launch, or block, its levels, and those of them that were bottom-up.
    pub(super) reports: DeviceSlice<[u32; 2]>,
}

/// The arcs by head: made on the device, or with tails in the host's memory.
#[derive(Debug, Clone, Copy)]
pub(super) enum ByHead {
    Made(Transpose),
    OnHost(Arcs),
}

/// Offsets of arcs whose other ends the host has, where these will be once they are there.
fn arcs_on_host(arena: &mut Arena<'_>, what: &str, graph: &impl Extent) -> Arcs {
    let offsets = Offsets::layout(arena, what, graph.vertices() as u64 + 1, has_wide_offsets(graph));
    Arcs { offsets, targets: DeviceSlice::new(0, graph.arcs() as u64) }
}

/// `on_host` says whether the ends of the arcs are in pinned memory of the host.
pub(super) fn layout(arena: &mut Arena<'_>, graph: &impl Extent, rows: u64, on_host: bool) -> Arrays {
    let vertices = graph.vertices() as u64;
    let (arcs, by_head) = if on_host {
        let by_head = || ByHead::OnHost(arcs_on_host(arena, "offsets of the arcs by head", graph));
        let by_head = graph.is_directed().then(by_head);
        (arcs_on_host(arena, "offsets of the vertices", graph), by_head)
    } else {
        let arcs = Arcs::layout(arena, graph);
        (arcs, graph.is_directed().then(|| ByHead::Made(Transpose::layout(arena, graph))))
    };
    Arrays {
        arcs,
        by_head,
        levels: arena.take(format!("levels of {rows} searches"), stride(graph).saturating_mul(rows)),
        seen: arena.take_two(["seen", "seen next"], vertices),
        queues: arena.take("queues", 2 * queue_items(graph)),
        parts: arena.take("parts of the queues", 2 * u64::from(MOST_BLOCKS)),
        sources: arena.take("sources", vertices.max(rows)),
        arrivals: arena.take("arrivals", ARRIVALS),
        reports: arena.take("reports", rows),
    }
}

/// The plan with room for the levels of this many searches, where the host keeps the ends of the arcs or not.
pub(crate) fn plan(graph: &impl Extent, rows: u64, on_host: bool) -> Plan {
    let mut plan = plan_of(|arena| layout(arena, graph, rows, on_host));
    if on_host {
        let copies = if graph.is_directed() { 2 } else { 1 };
        let bytes = (size_of::<VertexId>() as u64).saturating_mul(graph.arcs() as u64).saturating_mul(copies);
        plan.memory("ends of the arcs in pinned memory", bytes);
    }
    plan
}

impl Arrays {
    /// The arguments of no search, with blocks that queue this many items.
    pub(super) fn arguments(
        &self,
        graph: &impl Extent,
        parameters: &Parameters,
        capacity: u32,
        waiting: &Waiting,
    ) -> Batch {
        let by_head = match self.by_head {
            None => self.arcs,
            Some(ByHead::Made(made)) => made.arcs,
            Some(ByHead::OnHost(arcs)) => arcs,
        };
        Batch {
            offsets: self.arcs.offsets.as_ptr(),
            targets: self.arcs.targets.as_ptr(),
            incoming_offsets: by_head.offsets.as_ptr(),
            incoming: by_head.targets.as_ptr(),
            seen: self.seen.map(|words| words.as_mut_ptr()),
            levels: self.levels.as_mut_ptr(),
            queue: self.queues.as_mut_ptr(),
            parts: self.parts.as_mut_ptr(),
            arrivals: self.arrivals.as_mut_ptr(),
            report: self.reports.words().as_mut_ptr(),
            sources: self.sources.as_ptr(),
            cancelled: waiting.cancelled(),
            arcs: graph.arcs() as u64,
            stride: stride(graph),
            source_count: 0,
            searches: 0,
            vertices: graph.vertices() as u32,
            capacity: parameters.get("queue").map_or(capacity, |items| capacity.min(items as u32)),
            cutoff: u32::MAX,
            bottom_up: parameters.get("bottom-up").unwrap_or(super::BOTTOM_UP) as f32,
            top_down: parameters.get("top-down").unwrap_or(super::TOP_DOWN) as f32,
        }
    }
}
