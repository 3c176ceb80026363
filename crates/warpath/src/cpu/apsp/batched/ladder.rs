//! Which type of label is in use: the narrowest that has held the distances so far.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::batch::{LabelRung, Rung};
use super::labels::ArcWeight;
use super::renumbered::Renumbered;
use crate::graph::{F32Lane, F64Lane, I32Lane, Lane, U32Narrow, U32Wide, UnitLane};
use crate::{Error, Result};

/// Up to this many sources are searched in few lanes.
pub(super) const FEW_LANES: usize = 16;

/// Label types from narrow to wide: batches are solved in the current one, which only ever gets wider.
#[derive(Debug)]
pub(crate) struct Ladder<'g, D> {
    pub(super) rungs: Vec<Box<dyn Rung<D> + 'g>>,
    current: AtomicUsize,
    lane: &'static str,
}

impl<D> Ladder<'_, D> {
    pub(super) fn current(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    /// Moves on to wider labels, since those of this rung were too narrow.
    pub(super) fn climb_above(&self, rung: usize) -> Result<()> {
        if rung + 1 == self.rungs.len() {
            return Err(Error::DistanceOverflow { lane: self.lane });
        }
        self.current.fetch_max(rung + 1, Ordering::Relaxed);
        Ok(())
    }
}

/// A lane that batches are compiled for.
pub(crate) trait BatchLane: Lane<Weight: ArcWeight> {
    /// Label types for these weights, in batches of few or many lanes. Only the widest may become negative.
    fn ladder<'g>(
        graph: &'g Renumbered,
        weights: &'g [Self::Weight],
        few: bool,
        negative: bool,
    ) -> Ladder<'g, Self::Distance>;
}

macro_rules! batch_lane {
    ($lane:ident: $($label:ty, $lanes:expr);*) => {
        impl BatchLane for $lane {
            fn ladder<'g>(
                graph: &'g Renumbered,
                weights: &'g [Self::Weight],
                few: bool,
                negative: bool,
            ) -> Ladder<'g, Self::Distance> {
                ladder!($lane, graph, weights, few, negative, $($label, $lanes);*)
            }
        }
    };
}
/// Boxes a rung for each label type.
macro_rules! ladder {
    ($lane:ident, $graph:expr, $weights:expr, $few:expr, $negative:expr, $($label:ty, $lanes:expr);*) => {{
        let rungs: Vec<Box<dyn Rung<_>>> = if $few {
            vec![$(Box::new(LabelRung::<$label, FEW_LANES, _>::new($graph, $weights))),*]
        } else {
            vec![$(Box::new(LabelRung::<$label, $lanes, _>::new($graph, $weights))),*]
        };
        let first = if $negative { rungs.len() - 1 } else { 0 };
        Ladder { rungs, current: AtomicUsize::new(first), lane: $lane::NAME }
    }};
}
batch_lane!(UnitLane: u8, 128; u16, 128; u32, 64);
batch_lane!(U32Narrow: u8, 128; u16, 128; u32, 64);
batch_lane!(U32Wide: u8, 128; u16, 128; u32, 64; u64, 32);
batch_lane!(I32Lane: u8, 128; u16, 128; u32, 64; i64, 32);
batch_lane!(F32Lane: f32, 64);
batch_lane!(F64Lane: f64, 32);

/// Weights that `johnson` has made non-negative: too wide for any lane, but the distances are signed.
pub(in crate::cpu::apsp) struct Johnson;

impl Johnson {
    const NAME: &'static str = I32Lane::NAME;

    /// Label types for reweighted arcs.
    pub(in crate::cpu::apsp) fn ladder<'g>(
        graph: &'g Renumbered,
        weights: &'g [i64],
        sources: usize,
    ) -> Ladder<'g, i64> {
        ladder!(Johnson, graph, weights, sources <= FEW_LANES, false, u8, 128; u16, 128; u32, 64; i64, 32)
    }
}
