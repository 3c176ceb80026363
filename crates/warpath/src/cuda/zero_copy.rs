//! Searches whose arcs stay in pinned memory of the host, which kernels read over the bus: what breadth-first search and
//! shortest paths have in common. `kernels/ordered.cuh` is the other half.
//!
//! Such searches take a few bytes a vertex on the device and nothing for arcs. What they cost is the bus: 51 GB/s for rows that
//! are read in the order in which they lie in memory, as many as are needed and no more.
//!
//! *Invariants.* Pinned memory is filled before a kernel reads it, and not changed while one may.

use std::ops::Range;

use rayon::prelude::*;

use super::device::arena::Arena;
use super::device::host_part::HostPart;
use super::device::memory::{DeviceSlice, Pool};
use super::graph::{Offsets, has_wide_offsets};
use super::kernel_header::{DevicePtr, cpp, kernel_header};
use crate::algorithms::{Parameter, Parameters, Unset, Values};
use crate::cuda::device::Device;
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::{Result, parallel};

kernel_header! {
    path: "ordered";
    namespace: ordered;
    constants {
        /// Longer rows are cut into pieces of so many arcs, which warps share out.
        pub(super) const PIECE: u32 = 256;
    }
}

/// Where the offsets of the vertices are.
pub(super) const OFFSETS: Parameter = Parameter {
    name: "offsets",
    summary: "where the offsets of the vertices are; with those of the host the device needs the least memory",
    values: Values::Or(&Values::OneOf(&["device", ON_HOST]), Unset::InWords(|| "device".into())),
};

/// How much is read at one time.
pub(super) const WINDOW: Parameter = Parameter {
    name: "window",
    summary: "bytes of arcs that are read at one time if the frontier is large",
    values: Values::Or(&Values::AtLeast(1.0), Unset::Number(WINDOW_BYTES)),
};

/// Addresses within so many bytes are translated without delay.
const WINDOW_BYTES: f64 = 268_435_456.0;

const ON_HOST: &str = "host";

/// Whether the host keeps the offsets.
pub(super) fn host_has_offsets(parameters: &Parameters) -> bool {
    parameters.word(OFFSETS.name) == Some(ON_HOST)
}

/// The words of an array of bits, one a vertex: kernels load four words at once.
pub(super) fn words_of_bits(vertices: u64) -> u64 {
    vertices.div_ceil(128) * 4
}

/// The words of a frontier: the bits of the vertices, and then those of the groups of 128 of which some vertex is there.
pub(super) fn words_of_frontier(vertices: u64) -> u64 {
    words_of_bits(vertices) + vertices.div_ceil(GROUP).div_ceil(128) * 4
}

/// Vertices that have one bit together.
const GROUP: u64 = 128;

/// Makes these vertices of so many, which ascend, the frontier, in stream order.
pub(super) fn mark(pool: &Pool, frontier: DeviceSlice<u32>, all: u64, vertices: &[VertexId]) -> Result<()> {
    let words = words_of_bits(all);
    let groups: Vec<u32> =
        vertices.chunk_by(|a, b| a / GROUP as u32 == b / GROUP as u32).map(|some| some[0] / GROUP as u32).collect();
    set_bits(pool, frontier.part(0, words), vertices)?;
    set_bits(pool, frontier.part(words, frontier.length() - words), &groups)
}

/// Sets these bits, which ascend, and clears all others.
pub(super) fn set_bits(pool: &Pool, bits: DeviceSlice<u32>, places: &[u32]) -> Result<()> {
    /// From here on one large copy is quicker than many small ones.
    const MANY: usize = 64;
    let word = |places: &[u32]| places.iter().fold(0_u32, |word, place| word | 1 << (place % 32));
    if places.len() < MANY {
        pool.fill(bits, 0)?;
        let mut chunks = places.chunk_by(|a, b| a / 32 == b / 32);
        return chunks.try_for_each(|some| pool.upload(bits.part(u64::from(some[0] / 32), 1), &[word(some)]));
    }
    pool.upload_with(bits, bits.length() as usize, |range, piece| {
        let mut rest = &places[places.partition_point(|&place| ((place / 32) as usize) < range.start)..];
        for (index, there) in range.zip(piece) {
            let (here, later) = rest.split_at(rest.partition_point(|&place| (place / 32) as usize == index));
            *there = word(here);
            rest = later;
        }
    })
}

/// How many pieces the long rows of these vertices have. O(V) work.
pub(super) fn piece_count(graph: &Graph, vertices: Range<usize>) -> u64 {
    let pieces = |row: &[u64]| pieces_of(row[1] - row[0]);
    graph.csr().offsets()[vertices.start..=vertices.end].par_windows(2).with_min_len(1 << 16).map(pieces).sum()
}

/// How many pieces a row with so many arcs has; none if it is short.
fn pieces_of(arcs: u64) -> u64 {
    if arcs > u64::from(PIECE) { arcs.div_ceil(PIECE.into()) } else { 0 }
}

/// Lists vertex and number of all pieces of these vertices, in ascending order.
pub(super) fn upload_pieces(
    pool: &Pool,
    to: DeviceSlice<[u32; 2]>,
    graph: &Graph,
    vertices: Range<usize>,
) -> Result<()> {
    let mut pieces = crate::memory::with_capacity("the pieces of long rows", to.length() as usize)?;
    let offsets = graph.csr().offsets();
    for v in vertices {
        pieces.extend((0..pieces_of(offsets[v + 1] - offsets[v])).map(|piece| [v as u32, piece as u32]));
    }
    pool.upload(to, &pieces)
}

/// The windows in which the rows of a graph are read: each has its first 128 vertices and its first piece, and the one that would
/// follow is the last.
#[derive(Debug)]
pub(super) struct Windows {
    begins: Vec<[u32; 2]>,
    /// So many vertices of a window have to be in a frontier to be worth it, on average.
    pub(super) least: u32,
}

impl Windows {
    /// The windows of a graph whose arcs have so many bytes each. O(V) work.
    pub(super) fn of(graph: &Graph, bytes_of_arc: u64, parameters: &Parameters) -> Self {
        /// Fewer rows than these come as soon from all over the array.
        const WORTH_A_BARRIER: u32 = 256;
        const GROUP: usize = self::GROUP as usize;
        let asked = parameters.get(WINDOW.name);
        let arcs = (asked.unwrap_or(WINDOW_BYTES) as u64 / bytes_of_arc).max(1);
        let (offsets, vertices) = (graph.csr().offsets(), graph.vertices());
        let (mut groups, mut end) = (vec![0], arcs);
        for (group, first) in (0..vertices).step_by(GROUP).enumerate().skip(1) {
            if offsets[vertices.min(first + GROUP)] > end {
                groups.push(group);
                end = offsets[first] + arcs;
            }
        }
        groups.push(vertices.div_ceil(GROUP));
        let (mut begins, mut pieces) = (vec![[0, 0]], 0);
        for window in groups.windows(2) {
            let [first, next] = [0, 1].map(|end| vertices.min(window[end] * GROUP));
            pieces += piece_count(graph, first..next) as u32;
            begins.push([window[1] as u32, pieces]);
        }
        Windows { begins, least: if asked.is_some() { 0 } else { WORTH_A_BARRIER } }
    }

    /// One window with all rows of these vertices, of which the first is a multiple of 128.
    pub(super) fn one(vertices: Range<usize>, pieces: u64) -> Self {
        let group = |v: usize| v.div_ceil(GROUP as usize) as u32;
        let begins = vec![[group(vertices.start), 0], [group(vertices.end), pieces as u32]];
        Windows { begins, least: 0 }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.begins.len() as u32 - 1
    }

    /// Takes room for them.
    pub(super) fn layout(&self, arena: &mut Arena<'_>) -> DeviceSlice<[u32; 2]> {
        arena.take("windows", self.begins.len() as u64)
    }

    /// Copies them there.
    pub(super) fn upload(&self, pool: &Pool, to: DeviceSlice<[u32; 2]>) -> Result<()> {
        pool.upload(to, &self.begins)
    }
}

/// The offsets of the vertices, here or there.
#[derive(Debug)]
pub(super) enum PlacedOffsets {
    Device(Offsets),
    Host(HostPart),
}

impl PlacedOffsets {
    /// Takes room for them, if the device is to have them.
    pub(super) fn layout(arena: &mut Arena<'_>, graph: &Graph, parameters: &Parameters) -> Option<Offsets> {
        let on_device = !host_has_offsets(parameters);
        let length = graph.vertices() as u64 + 1;
        on_device.then(|| Offsets::layout(arena, "offsets of the vertices", length, has_wide_offsets(graph)))
    }

    /// Adds their pinned memory, if the host is to keep them.
    pub(super) fn plan(graph: &Graph, parameters: &Parameters, plan: &mut Plan) {
        if host_has_offsets(parameters) {
            plan.memory("offsets of the vertices in pinned memory", bytes_of_offsets(graph));
        }
    }

    /// Copies them where they belong.
    pub(super) fn new(pool: &Pool, on_device: Option<Offsets>, graph: &Graph) -> Result<Self> {
        if let Some(offsets) = on_device {
            offsets.upload(pool, graph.csr())?;
            return Ok(PlacedOffsets::Device(offsets));
        }
        let wide = graph.csr().offsets();
        let fill = |words: &mut [u64]| {
            if has_wide_offsets(graph) {
                words[..wide.len()]
                    .par_iter_mut()
                    .zip(wide)
                    .with_min_len(MIN)
                    .for_each(|(there, &offset)| *there = offset);
            } else {
                let narrow = &mut bytemuck::cast_slice_mut::<u64, u32>(words)[..wide.len()];
                narrow.par_iter_mut().zip(wide).with_min_len(MIN).for_each(|(there, &offset)| *there = offset as u32);
            }
            Ok(())
        };
        HostPart::new(pool.device(), "offsets in pinned memory", bytes_of_offsets(graph), fill).map(PlacedOffsets::Host)
    }

    /// Where they are, for a kernel.
    pub(super) fn as_ptr(&self) -> DevicePtr<cpp::Offset> {
        match self {
            PlacedOffsets::Device(offsets) => offsets.as_ptr(),
            PlacedOffsets::Host(part) => part.as_device_ptr(),
        }
    }
}

/// Values that a thread copies at least.
const MIN: usize = 1 << 16;

fn bytes_of_offsets(graph: &Graph) -> u64 {
    (graph.vertices() as u64 + 1) * if has_wide_offsets(graph) { 8 } else { 4 }
}

/// An array of a value for each arc in pinned memory: `value` is asked for each.
pub(super) fn pinned_arcs<T: bytemuck::Pod + Send>(
    device: &std::sync::Arc<dyn Device>,
    arcs: usize,
    value: impl Fn(usize) -> T + Sync,
) -> Result<HostPart> {
    HostPart::new(device, "arcs in pinned memory", (arcs * size_of::<T>()) as u64, |words| {
        let there = &mut bytemuck::cast_slice_mut::<u64, T>(words)[..arcs];
        parallel::for_each_chunk(there, MIN, |chunk, there| {
            there.iter_mut().enumerate().for_each(|(index, there)| *there = value(chunk * MIN + index));
        });
        Ok(())
    })
}
