//! Heads and weights of arcs, side by side: a search that goes along an arc reads both at once.

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

impl Pairs {
    /// Takes room for those of a graph.
    pub(super) fn layout(arena: &mut Arena<'_>, graph: &impl Extent) -> Self {
        const WHAT: &str = "heads and weights of the arcs";
        let arcs = graph.arcs() as u64;
        match graph.weight_kind() {
            WeightKind::F64 => Pairs::Wide(arena.take(WHAT, arcs)),
            _ => Pairs::Narrow(arena.take(WHAT, arcs)),
        }
    }

    /// Copies those of a graph there, in stream order.
    pub(super) fn upload(self, pool: &Pool, csr: &Csr) -> Result<()> {
        fn upload<T: bytemuck::Pod>(
            pool: &Pool,
            arcs: DeviceSlice<T>,
            heads: &[VertexId],
            pair: impl Fn(VertexId, usize) -> T + Sync,
        ) -> Result<()> {
            pool.upload_with(arcs, heads.len(), |range, piece: &mut [T]| {
                range.zip(piece).for_each(|(arc, there)| *there = pair(heads[arc], arc));
            })
        }
        let heads = csr.targets();
        match (self, csr.weights()) {
            (Pairs::Narrow(to), Weights::Unit(_)) => upload(pool, to, heads, |head, _| [head, 1]),
            (Pairs::Narrow(to), Weights::U32(weights)) => upload(pool, to, heads, |head, arc| [head, weights[arc]]),
            (Pairs::Narrow(to), Weights::I32(weights)) => {
                upload(pool, to, heads, |head, arc| [head, weights[arc] as u32])
            }
            (Pairs::Narrow(to), Weights::F32(weights)) => {
                upload(pool, to, heads, |head, arc| [head, weights[arc].to_bits()])
            }
            (Pairs::Wide(to), Weights::F64(weights)) => {
                upload(pool, to, heads, |head, arc| [u64::from(head), weights[arc].to_bits()])
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
