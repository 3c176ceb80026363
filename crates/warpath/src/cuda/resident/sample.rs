//! Rows of a graph on a device for whoever samples it on the host.
//!
//! How far the neighborhoods of `multi-hop` reach depends on the surroundings of some hundred vertices. These are fetched layer by
//! layer, those of all vertices of a layer in one launch: a few megabytes and some hundred launches, whatever the graph has. What is
//! asked for beyond that is fetched when it is asked for.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that they
//! expect. Only vertices of the graph are asked for, and those that rows have, which were checked when they came.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::adoption::{Rows, launch};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, LaunchShape, arguments, images};
use crate::cuda::graph::Offsets;
use crate::graph::VertexId;
use crate::graph::sampling;
use crate::{Error, Result};

/// The heads of a row, with weights.
type Row = Vec<(VertexId, u32)>;

/// The arcs of a row that are fetched at once: on a plane few have more.
const ROOM: u32 = 4;
/// The rows that are.
const MOST_ROWS: usize = 1 << 14;

/// What rows go through.
#[derive(Debug)]
struct Buffers {
    pool: Pool,
    vertices: DeviceSlice<VertexId>,
    /// Where a row begins and ends.
    ends: DeviceSlice<[u64; 2]>,
    /// Heads and weights.
    pairs: DeviceSlice<[u32; 2]>,
}

impl Buffers {
    fn new(device: &Arc<dyn Device>) -> Result<Self> {
        let layout = |arena: &mut Arena<'_>| {
            let vertices = arena.take("vertices of a sample", MOST_ROWS as u64);
            let ends = arena.take("ends of their rows", MOST_ROWS as u64);
            (vertices, ends, arena.take("their rows", MOST_ROWS as u64 * u64::from(ROOM)))
        };
        let (pool, (vertices, ends, pairs)) = Pool::lay_out(device, layout)?;
        Ok(Buffers { pool, vertices, ends, pairs })
    }
}

/// Rows that have been fetched.
#[derive(Debug)]
pub(super) struct Sample<'r> {
    rows: &'r Rows,
    /// The weights as whole numbers, if there are any, and the memory they are in.
    weights: Option<(&'r Pool, DeviceSlice<u32>)>,
    buffers: RefCell<Option<Buffers>>,
    known: RefCell<HashMap<VertexId, Row>>,
    /// What went wrong first.
    failed: RefCell<Option<Error>>,
}

impl<'r> Sample<'r> {
    /// Nothing has been fetched. `weights` are as many as there are arcs.
    pub(super) fn of(rows: &'r Rows, weights: Option<(&'r Pool, DeviceSlice<u32>)>) -> Self {
        let (buffers, known, failed) = Default::default();
        Sample { rows, weights, buffers, known, failed }
    }

    /// The error, if rows could not be fetched: what was made of those is worth nothing.
    pub(super) fn check(&self) -> Result<()> {
        self.failed.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Fetches rows that are not known: the first few arcs of each, and then the rest of those that have more.
    fn fetch(&self, wanted: &[VertexId]) -> Result<()> {
        const MOST_ROOM: u32 = 64;
        let mut long = Vec::new();
        for some in wanted.chunks(MOST_ROWS) {
            self.fetch_up_to(ROOM, some, &mut long)?;
        }
        let mut longer = Vec::new();
        for some in std::mem::take(&mut long).chunks(MOST_ROWS * ROOM as usize / MOST_ROOM as usize) {
            self.fetch_up_to(MOST_ROOM, some, &mut longer)?;
        }
        // Planes have none of these.
        let Rows { pool, arcs, .. } = self.rows;
        for vertex in longer {
            let [begin, end] = match arcs.offsets {
                Offsets::Narrow(offsets) => pool.read_array(offsets.part(vertex.into(), 2))?.map(u64::from),
                Offsets::Wide(offsets) => pool.read_array(offsets.part(vertex.into(), 2))?,
            };
            let heads = pool.read(arcs.targets.part(begin, end - begin))?;
            let row = match self.weights {
                None => heads.into_iter().map(|head| (head, 1)).collect(),
                Some((pool, weights)) => heads.into_iter().zip(pool.read(weights.part(begin, end - begin))?).collect(),
            };
            self.known.borrow_mut().insert(vertex, row);
        }
        Ok(())
    }

    /// Fetches the rows of up to this many arcs, in one launch; lists the vertices of the others.
    fn fetch_up_to(&self, room: u32, wanted: &[VertexId], long: &mut Vec<VertexId>) -> Result<()> {
        let mut buffers = self.buffers.borrow_mut();
        let Buffers { pool: there, vertices, ends, pairs } = match &mut *buffers {
            Some(buffers) => buffers,
            none => none.insert(Buffers::new(self.rows.pool.device())?),
        };
        let count = wanted.len() as u64;
        let (ends, pairs) = (ends.part(0, count), pairs.part(0, count * u64::from(room)));
        there.upload(*vertices, wanted)?;
        let (offsets, heads, vertices) = (self.rows.arcs.offsets, self.rows.arcs.targets, *vertices);
        let weights = self.weights.map_or(0, |(_, weights)| weights.address());
        let name = if offsets.is_wide() { "resident_gather_64" } else { "resident_gather_32" };
        let (device, items) = (there.device(), count * u64::from(room));
        launch!(device, name, items, [offsets, heads, weights, vertices, count, room, ends, pairs])?;
        let (ends, pairs) = (there.read(ends)?, there.read(pairs)?);
        let mut known = self.known.borrow_mut();
        for ((&vertex, [begin, end]), row) in wanted.iter().zip(ends).zip(pairs.chunks(room as usize)) {
            match row.get(..(end - begin) as usize) {
                Some(row) => _ = known.insert(vertex, row.iter().map(|&[head, weight]| (head, weight)).collect()),
                None => long.push(vertex),
            }
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
            self.fetch(&wanted)?;
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

    fn expect(&self, soon: &mut dyn Iterator<Item = VertexId>) {
        let mut wanted: Vec<VertexId> = {
            let known = self.known.borrow();
            soon.filter(|vertex| !known.contains_key(vertex)).collect()
        };
        wanted.sort_unstable();
        wanted.dedup();
        self.noting(self.fetch(&wanted));
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
