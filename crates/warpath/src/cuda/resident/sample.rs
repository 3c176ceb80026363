//! Rows of a graph on a device for whoever samples it on the host.
//!
//! How far the neighborhoods of `multi-hop` reach depends on the surroundings of some hundred vertices. These are fetched layer by
//! layer, those of all vertices of a layer in one launch: kilobytes, and some twenty launches. What is asked for beyond that is fetched
//! when it is asked for.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that they
//! expect. Only vertices of the graph are asked for, and those that rows have, which were checked when they came.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::adoption::{Rows, launch};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, LaunchShape, arguments, images};
use crate::graph::VertexId;
use crate::graph::sampling;
use crate::{Error, Result};

/// The heads of a row, with weights.
type Row = Vec<(VertexId, u32)>;

/// Rows that have been fetched.
#[derive(Debug)]
pub(super) struct Sample<'r> {
    rows: &'r Rows,
    /// The weights as whole numbers, if there are any, and the memory they are in.
    weights: Option<(&'r Pool, DeviceSlice<u32>)>,
    known: RefCell<HashMap<VertexId, Row>>,
    /// What went wrong first.
    failed: RefCell<Option<Error>>,
}

impl<'r> Sample<'r> {
    /// Nothing has been fetched. `weights` are as many as there are arcs.
    pub(super) fn of(rows: &'r Rows, weights: Option<(&'r Pool, DeviceSlice<u32>)>) -> Self {
        Sample { rows, weights, known: RefCell::default(), failed: RefCell::default() }
    }

    /// The error, if rows could not be fetched: what was made of those is worth nothing.
    pub(super) fn check(&self) -> Result<()> {
        self.failed.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Fetches rows that are not known.
    fn fetch(&self, wanted: &[VertexId]) -> Result<()> {
        /// Rows of more arcs are read one by one.
        const ROOM: u32 = 8;
        let Rows { pool, arcs, .. } = self.rows;
        let device = pool.device();
        let count = wanted.len() as u64;
        let layout = |arena: &mut Arena<'_>| {
            (
                arena.take::<VertexId>("vertices of a sample", count),
                arena.take::<[u64; 2]>("ends of their rows", count),
                arena.take::<[u32; 2]>("their rows", count * u64::from(ROOM)),
            )
        };
        let (there, (vertices, ends, pairs)) = Pool::lay_out(device, layout)?;
        there.upload(vertices, wanted)?;
        let (offsets, heads) = (arcs.offsets, arcs.targets);
        let weights = self.weights.map_or(0, |(_, weights)| weights.address());
        let name = if offsets.is_wide() { "resident_gather_64" } else { "resident_gather_32" };
        let items = count * u64::from(ROOM);
        launch!(device, name, items, [offsets, heads, weights, vertices, count, ROOM, ends, pairs])?;
        let (ends, pairs) = (there.read(ends)?, there.read(pairs)?);
        let mut known = self.known.borrow_mut();
        for ((&vertex, [begin, end]), row) in wanted.iter().zip(ends).zip(pairs.chunks(ROOM as usize)) {
            let length = end - begin;
            let row = if length <= ROOM.into() {
                row[..length as usize].iter().map(|&[head, weight]| (head, weight)).collect()
            } else {
                let heads = pool.read(heads.part(begin, length))?;
                match self.weights {
                    None => heads.into_iter().map(|head| (head, 1)).collect(),
                    Some((pool, weights)) => heads.into_iter().zip(pool.read(weights.part(begin, length))?).collect(),
                }
            };
            known.insert(vertex, row);
        }
        Ok(())
    }

    /// Fetches the rows of so many vertices around each of these.
    fn fetch_around(&self, middles: &[VertexId], count: usize) -> Result<()> {
        // Of each, what has been found, and where the last layer begins.
        let mut around: Vec<(Vec<VertexId>, HashSet<VertexId>, usize)> =
            middles.iter().map(|&middle| (vec![middle], HashSet::from([middle]), 0)).collect();
        loop {
            let mut wanted: Vec<VertexId> = {
                let known = self.known.borrow();
                let layers = around.iter().flat_map(|(found, _, layer)| &found[*layer..]).copied();
                layers.filter(|vertex| !known.contains_key(vertex)).collect()
            };
            wanted.sort_unstable();
            wanted.dedup();
            if !wanted.is_empty() {
                self.fetch(&wanted)?;
            }
            let known = self.known.borrow();
            let mut grows = false;
            for (found, seen, layer) in &mut around {
                let end = found.len();
                for place in *layer..end {
                    for &(head, _) in known.get(&found[place]).into_iter().flatten() {
                        if found.len() < count && seen.insert(head) {
                            found.push(head);
                        }
                    }
                }
                *layer = end;
                grows |= found.len() > end;
            }
            if !grows {
                return Ok(());
            }
        }
    }

    /// Keeps the first error.
    fn noting(&self, done: Result<()>) {
        if let Err(error) = done {
            self.failed.borrow_mut().get_or_insert(error);
        }
    }
}

impl sampling::Rows for Sample<'_> {
    fn vertices(&self) -> usize {
        self.rows.size.vertices as usize
    }

    fn arcs(&self) -> usize {
        self.rows.size.arcs as usize
    }

    fn expect_around(&self, middles: &[VertexId], count: usize) {
        self.noting(self.fetch_around(middles, count));
    }

    fn for_arcs(&self, v: VertexId, mut each: impl FnMut(VertexId, u32)) {
        if !self.known.borrow().contains_key(&v) {
            self.noting(self.fetch(&[v]));
        }
        if let Some(row) = self.known.borrow().get(&v) {
            row.iter().for_each(|&(head, weight)| each(head, weight));
        }
    }
}
