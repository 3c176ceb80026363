//! Heads and weights of arcs, side by side: a search that goes along an arc reads both at once.

use std::ops::Range;

use crate::Result;
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::graph::Extent;
use crate::cuda::kernel_header::{DevicePtr, cpp};
use crate::graph::{Csr, VertexId, WeightKind, Weights};

/// The pairs on a device.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda) enum Pairs {
    /// With weights of 32 bits.
    Narrow(DeviceSlice<[u32; 2]>),
    /// With weights of 64 bits.
    Wide(DeviceSlice<[u64; 2]>),
}

/// For a range of places in an array of pairs, calls back with one range after another of the arcs that belong there.
type Listed<'a> = &'a (dyn Fn(Range<usize>, &mut dyn FnMut(Range<usize>)) + Sync);

/// What goes to the device.
struct Upload<'a> {
    pool: &'a Pool,
    heads: &'a [VertexId],
    count: usize,
    listed: Listed<'a>,
}

impl Upload<'_> {
    fn pairs<T: bytemuck::Pod>(&self, to: DeviceSlice<T>, pair: impl Fn(VertexId, usize) -> T + Sync) -> Result<()> {
        self.pool.upload_with(to, self.count, |range, piece: &mut [T]| {
            let mut piece = piece.iter_mut();
            (self.listed)(range, &mut |arcs| {
                arcs.zip(&mut piece).for_each(|(arc, there)| *there = pair(self.heads[arc], arc));
            });
        })
    }
}

impl Pairs {
    /// Takes room for those of a graph.
    pub(super) fn layout(arena: &mut Arena<'_>, graph: &impl Extent) -> Self {
        Self::layout_some(arena, "heads and weights of the arcs", graph, graph.arcs() as u64)
    }

    /// Takes room for so many of them.
    pub(super) fn layout_some(arena: &mut Arena<'_>, what: &str, graph: &impl Extent, arcs: u64) -> Self {
        match graph.weight_kind() {
            WeightKind::F64 => Pairs::Wide(arena.take(what, arcs)),
            _ => Pairs::Narrow(arena.take(what, arcs)),
        }
    }

    /// Copies those of a graph there, in stream order.
    pub(super) fn upload(self, pool: &Pool, csr: &Csr) -> Result<()> {
        self.upload_some(pool, csr, 0..csr.arcs())
    }

    /// Copies some of them there, in stream order.
    pub(super) fn upload_some(self, pool: &Pool, csr: &Csr, arcs: Range<usize>) -> Result<()> {
        self.upload_from(pool, csr, arcs.len(), &|places, copy| {
            copy(arcs.start + places.start..arcs.start + places.end);
        })
    }

    /// Copies `count` of them there, in stream order: those that `listed` tells.
    pub(super) fn upload_from(self, pool: &Pool, csr: &Csr, count: usize, listed: Listed<'_>) -> Result<()> {
        let upload = Upload { pool, heads: csr.targets(), count, listed };
        match (self, csr.weights()) {
            (Pairs::Narrow(to), Weights::Unit(_)) => upload.pairs(to, |head, _| [head, 1]),
            (Pairs::Narrow(to), Weights::U32(weights)) => upload.pairs(to, |head, arc| [head, weights[arc]]),
            (Pairs::Narrow(to), Weights::I32(weights)) => upload.pairs(to, |head, arc| [head, weights[arc] as u32]),
            (Pairs::Narrow(to), Weights::F32(weights)) => upload.pairs(to, |head, arc| [head, weights[arc].to_bits()]),
            (Pairs::Wide(to), Weights::F64(weights)) => {
                upload.pairs(to, |head, arc| [u64::from(head), weights[arc].to_bits()])
            }
            _ => unreachable!("the pairs belong to a graph with other weights"),
        }
    }

    /// Where they are.
    pub(in crate::cuda) fn address(self) -> u64 {
        match self {
            Pairs::Narrow(arcs) => arcs.address(),
            Pairs::Wide(arcs) => arcs.address(),
        }
    }

    /// The same, for a kernel.
    pub(super) fn as_ptr(self) -> DevicePtr<cpp::Arc> {
        match self {
            Pairs::Narrow(arcs) => arcs.as_ptr().cast(),
            Pairs::Wide(arcs) => arcs.as_ptr().cast(),
        }
    }
}
