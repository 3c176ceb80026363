//! Which arcs of a graph run along each shortcut.
//!
//! Customization begins with the weights of the graph's own arcs. Each shortcut collects those of the arcs that run along it,
//! rather than each arc looking for its shortcut, so that threads share the shortcuts among them and nobody waits.

use rayon::prelude::*;

use super::elimination::Elimination;
use crate::graph::{DistanceValue, Graph, MinPlus, VertexId};
use crate::memory::{collected, with_capacity};
use crate::{Error, Result, parallel};

/// How many ranks, or shortcuts, a thread takes at a time.
const SOME: usize = 1 << 14;

/// How many shortcuts share an entry of the index.
const BLOCK: usize = 64;

/// An arc along a shortcut: the shortcut's place in [`Elimination::heads`], and the arc's place in the graph.
pub(super) type Along = (u32, u32);

/// Arcs upwards and downwards.
type Both = (Vec<Along>, Vec<Along>);

/// The arcs of a graph that run along shortcuts: all but loops.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arcs {
    /// From vertices to later ones.
    pub(super) up: Direction,
    /// From vertices to earlier ones.
    pub(super) down: Direction,
}

/// The arcs that run along shortcuts in one direction.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Direction {
    /// Ascending.
    pub(super) arcs: Vec<Along>,
    /// How many are before each [`BLOCK`] of shortcuts.
    before: Vec<u32>,
}

impl Direction {
    fn new(mut arcs: Vec<Along>, shortcuts: usize) -> Result<Self> {
        arcs.par_sort_unstable();
        let before = |block| arcs.partition_point(|&(place, _)| (place as usize) < block * BLOCK) as u32;
        let before = collected(WHAT, (0..shortcuts.div_ceil(BLOCK) + 1).into_par_iter().map(before))?;
        Ok(Direction { arcs, before })
    }

    /// The arcs along a shortcut.
    pub(super) fn at(&self, place: usize) -> &[Along] {
        let block = place / BLOCK;
        let arcs = &self.arcs[self.before[block] as usize..self.before[block + 1] as usize];
        let arcs = &arcs[arcs.partition_point(|&(other, _)| (other as usize) < place)..];
        &arcs[..arcs.partition_point(|&(other, _)| other as usize == place)]
    }

    /// The lengths of all shortcuts before any elimination: each the least of the arcs along it. O(shortcuts + E), on all
    /// threads.
    pub(super) fn lengths<S: MinPlus>(&self, shortcuts: usize, weights: &[S::Weight]) -> Result<Vec<S::Distance>> {
        let unreachable = rayon::iter::repeat_n(S::Distance::UNREACHABLE, shortcuts);
        let mut lengths = collected("the lengths of a hierarchy", unreachable)?;
        parallel::for_each_chunk(&mut lengths, SOME, |chunk, lengths| {
            let start = chunk * SOME;
            let [first, end] = [start, start + lengths.len()].map(|place| self.before[place.div_ceil(BLOCK)]);
            for &(place, arc) in &self.arcs[first as usize..end as usize] {
                let length = &mut lengths[place as usize - start];
                let weight = S::extend(S::Distance::ZERO, weights[arc as usize]);
                if weight < *length {
                    *length = weight;
                }
            }
        });
        Ok(lengths)
    }
}

impl Arcs {
    /// Finds the shortcut of each arc. O(E log(E)), on all threads.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if an arc has no shortcut, or if there are 2^32 arcs or more; [`Error::OutOfMemory`].
    pub(super) fn new(graph: &Graph, elimination: &Elimination) -> Result<Self> {
        if graph.arcs() as u64 > u64::from(u32::MAX) {
            return Err(Error::invalid("a hierarchy is of a graph with fewer than 2^32 arcs"));
        }
        let parts = elimination.vertices.par_chunks(SOME).map(|tails| Arcs::of_tails(graph, elimination, tails));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let joined = |list: fn(&Both) -> &Vec<Along>| -> Result<Direction> {
            let mut all = with_capacity(WHAT, parts.iter().map(|part| list(part).len()).sum())?;
            parts.iter().for_each(|part| all.extend_from_slice(list(part)));
            Direction::new(all, elimination.heads.len())
        };
        Ok(Arcs { up: joined(|part| &part.0)?, down: joined(|part| &part.1)? })
    }

    /// The arcs upwards and downwards that begin at these vertices.
    fn of_tails(graph: &Graph, elimination: &Elimination, tails: &[VertexId]) -> Result<Both> {
        let csr = graph.csr();
        let most = tails.iter().map(|&tail| csr.row(tail).len()).sum();
        let (mut up, mut down) = (with_capacity(WHAT, most)?, with_capacity(WHAT, most)?);
        for &tail in tails {
            for (arc, &head) in csr.row(tail).zip(csr.neighbors(tail)) {
                if head == tail {
                    continue;
                }
                let [low, high] = elimination.low_and_high(tail, head);
                let Some(place) = elimination.place(low, high) else {
                    let (tail, head) = (graph.name(tail), graph.name(head));
                    return Err(Error::invalid(format!(
                        "the hierarchy is that of another graph: it has no shortcut for the edge from {tail} to {head}"
                    )));
                };
                let upward = elimination.ranks[tail as usize] == low;
                if upward { &mut up } else { &mut down }.push((place as u32, arc as u32));
            }
        }
        Ok((up, down))
    }
}

const WHAT: &str = "the arcs along shortcuts";
