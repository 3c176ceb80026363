//! The part of a hierarchy that sweeps to some targets need.
//!
//! The distance of a vertex comes from its later neighbours, which are its ancestors in the elimination tree. So a sweep to
//! some targets needs these and their ancestors alone: of three hundred targets scattered over a road network, one vertex in
//! twenty. They are numbered again, so that the sweep goes over small arrays (Delling, Goldberg, Werneck, *Faster batched
//! shortest paths in road networks*, 2011).

use super::elimination::{Elimination, ROOT};
use super::windows::Windows;
use crate::Result;
use crate::graph::VertexId;
use crate::memory::{filled, listed, with_capacity};

/// Vertices of a hierarchy with all their ancestors. A vertex has a *place*; ancestors have greater places.
pub(super) struct Selection<D> {
    /// Where the arcs of each place begin.
    pub(super) offsets: Vec<u64>,
    /// How many ancestors each place has.
    pub(super) depths: Vec<u32>,
    /// The depths of each place's later neighbours.
    pub(super) head_depths: Vec<u32>,
    /// The lengths from there.
    pub(super) down: Vec<D>,
    /// The place of each target.
    pub(super) targets: Vec<u32>,
    /// The targets of each window of places.
    pub(super) windows: Windows,
    /// The place of each rank, [`ROOT`] if it has none.
    pub(super) places: Vec<u32>,
}

impl<D: Copy> Selection<D> {
    /// The targets and their ancestors. O(V + their shortcuts).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(elimination: &Elimination, down: &[D], targets: &[VertexId]) -> Result<Self> {
        const WHAT: &str = "the ancestors of targets";
        let mut places = filled(WHAT, elimination.count(), ROOT)?;
        for &target in targets {
            let mut rank = elimination.ranks[target as usize];
            while rank != ROOT && places[rank as usize] == ROOT {
                places[rank as usize] = 0;
                rank = elimination.parents[rank as usize];
            }
        }
        let selected =
            || (0..elimination.count()).zip(&places).filter(|(_, place)| **place != ROOT).map(|(rank, _)| rank);
        let (mut count, mut arcs) = (0, 0);
        selected().for_each(|rank| (count, arcs) = (count + 1, arcs + elimination.row(rank).len()));
        let mut ranks = with_capacity(WHAT, count)?;
        ranks.extend(selected());
        ranks.iter().zip(0..).for_each(|(&rank, place)| places[rank] = place);
        let targets = listed(WHAT, targets.iter().map(|&v| places[elimination.ranks[v as usize] as usize]))?;
        let mut selection = Selection {
            offsets: with_capacity(WHAT, count + 1)?,
            depths: listed(WHAT, ranks.iter().map(|&rank| elimination.depths[rank]))?,
            head_depths: with_capacity(WHAT, arcs)?,
            down: with_capacity(WHAT, arcs)?,
            windows: Windows::new(count, &targets)?,
            targets,
            places,
        };
        selection.offsets.push(0);
        for rank in ranks {
            let row = elimination.row(rank);
            selection.head_depths.extend_from_slice(&elimination.head_depths[row.clone()]);
            selection.down.extend_from_slice(&down[row]);
            selection.offsets.push(selection.down.len() as u64);
        }
        Ok(selection)
    }
}
