//! Which type of label is in use: the narrowest that has held the distances so far.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::batch::{LabelRung, Rung};
use super::labels::{ArcWeight, LabelOf};
use super::renumbered::Renumbered;
use crate::graph::DistanceValue;
use crate::{Error, Result};

/// Up to this many sources are searched in batches of so few.
const FEW: usize = 16;

/// Label types from narrow to wide: batches are solved in the current one, which only ever gets wider.
#[derive(Debug)]
pub(crate) struct Ladder<'g, D> {
    pub(super) rungs: Vec<Box<dyn Rung<D> + 'g>>,
    current: AtomicUsize,
    name: &'static str,
    few: bool,
    negative: bool,
}

impl<'g, D: DistanceValue> Ladder<'g, D> {
    /// A ladder without rungs, for distances of the semiring with this name.
    pub(in crate::cpu::apsp) fn new(name: &'static str, sources: usize, negative: bool) -> Self {
        Ladder { rungs: Vec::new(), current: AtomicUsize::new(0), name, few: sources <= FEW, negative }
    }

    /// Adds a wider type of label, in batches of `SOURCES` unless there are few sources. Where weights are negative,
    /// searches start with the widest, which alone may become negative.
    pub(in crate::cpu::apsp) fn rung<T: LabelOf<D>, const SOURCES: usize, A: ArcWeight>(
        mut self,
        graph: &'g Renumbered,
        weights: &'g [A],
    ) -> Self {
        if self.negative {
            *self.current.get_mut() = self.rungs.len();
        }
        self.rungs.push(match self.few {
            true => Box::new(LabelRung::<T, FEW, A>::new(graph, weights)),
            false => Box::new(LabelRung::<T, SOURCES, A>::new(graph, weights)),
        });
        self
    }

    pub(super) fn current(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    /// Moves on to wider labels, since those of this rung were too narrow.
    pub(super) fn climb_above(&self, rung: usize) -> Result<()> {
        if rung + 1 == self.rungs.len() {
            return Err(Error::DistanceOverflow { semiring: self.name });
        }
        self.current.fetch_max(rung + 1, Ordering::Relaxed);
        Ok(())
    }
}
