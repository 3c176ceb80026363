//! The records of regions: what a warp needs to relax all arcs of a region, in one piece of pinned memory.
//!
//! A record begins at a multiple of 16 bytes. It has, one after another:
//!
//! - the numbers of its vertices, ghosts and arcs, and a zero, 4 bytes each;
//! - the weights of the arcs, as long as weights are, or nothing in a search without weights;
//! - the vertices, 4 bytes each;
//! - the *ghosts*, which are the vertices elsewhere that arcs lead to, in ascending order, and then their positions, 4 bytes each;
//! - where the row of each vertex begins, and the end of the last row, 2 bytes each;
//! - the heads of the arcs, 2 bytes each: the place of a vertex of the region, or [`MOST_VERTICES`] and the place of a ghost.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::growth::Regions;
use super::room::{MOST_VERTICES, Room, UNIT};
use crate::cuda::device::Device;
use crate::cuda::device::host_part::HostPart;
use crate::graph::{Graph, VertexId, Weights};
use crate::{Error, Result, memory};

/// The weights of arcs, as their bits.
fn bits_of(graph: &Graph, arc: usize) -> u64 {
    match graph.csr().weights() {
        Weights::Unit(_) => 1,
        Weights::U32(weights) => weights[arc].into(),
        Weights::I32(weights) => u64::from(weights[arc] as u32),
        Weights::F32(weights) => weights[arc].to_bits().into(),
        Weights::F64(weights) => weights[arc].to_bits(),
    }
}

/// The records of regions, and where each begins, in units of 16 bytes.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) memory: HostPart,
    pub(super) begins: Vec<u32>,
}

/// What makes records of the regions of a part.
pub(super) struct Writer<'a> {
    pub(super) graph: &'a Graph,
    pub(super) part: Range<usize>,
    pub(super) regions: &'a Regions,
    /// Of all vertices, in their parts.
    pub(super) positions: &'a [u32],
    pub(super) room: Room,
}

impl Writer<'_> {
    /// Writes them all. O(V + E log(ghosts)) work.
    pub(super) fn write(&self, device: &Arc<dyn Device>) -> Result<Records> {
        let sizes = (0..self.regions.count()).into_par_iter().map_init(Vec::new, |ghosts, region| {
            self.find_ghosts(region, ghosts);
            let members = self.regions.members(region);
            let arcs = members.iter().map(|&v| self.graph.neighbors(v).len()).sum();
            self.room.bytes(members.len(), arcs, ghosts.len())
        });
        let sizes: Vec<usize> = sizes.collect();
        let mut begins = memory::with_capacity("where the records of regions begin", sizes.len() + 1)?;
        let mut end = 0_u64;
        begins.push(0);
        for size in &sizes {
            end += (size / UNIT) as u64;
            let end = u32::try_from(end).map_err(|_| Error::invalid("the graph is too large for this algorithm"))?;
            begins.push(end);
        }
        let bytes = end * UNIT as u64;
        let memory = HostPart::new(device, "records of regions in pinned memory", bytes, |words| {
            let mut rest = words;
            let mut records = memory::with_capacity("places of records", sizes.len())?;
            for (region, size) in sizes.iter().enumerate() {
                let (record, later) = rest.split_at_mut(size / size_of::<u64>());
                records.push((region, record));
                rest = later;
            }
            records.into_par_iter().for_each_init(Vec::new, |ghosts, (region, record)| {
                self.find_ghosts(region, ghosts);
                self.write_one(region, ghosts, bytemuck::cast_slice_mut(record));
            });
            Ok(())
        })?;
        Ok(Records { memory, begins })
    }

    /// Whether a region has this vertex, and at which place.
    fn place_in(&self, region: usize, vertex: VertexId) -> Option<u16> {
        let position = self.positions[vertex as usize] as usize;
        let is_here = self.part.contains(&(vertex as usize)) && position / MOST_VERTICES == region;
        is_here.then_some((position % MOST_VERTICES) as u16)
    }

    /// The vertices elsewhere that arcs of a region lead to, in ascending order.
    fn find_ghosts(&self, region: usize, ghosts: &mut Vec<VertexId>) {
        ghosts.clear();
        for &tail in self.regions.members(region) {
            let elsewhere = self.graph.neighbors(tail).iter().filter(|&&head| self.place_in(region, head).is_none());
            ghosts.extend(elsewhere);
        }
        ghosts.sort_unstable();
        ghosts.dedup();
    }

    /// Writes the record of a region into as many bytes as it has.
    fn write_one(&self, region: usize, ghosts: &[VertexId], record: &mut [u8]) {
        let (members, offsets) = (self.regions.members(region), self.graph.csr().offsets());
        let arcs_of = |&v: &VertexId| offsets[v as usize] as usize..offsets[v as usize + 1] as usize;
        let arcs: usize = members.iter().map(|v| arcs_of(v).len()).sum();
        let mut rest = record;
        let mut section = |bytes: usize| rest.split_off_mut(..bytes).unwrap_or_default();
        let words: &mut [u32] = bytemuck::cast_slice_mut(section(16));
        words.copy_from_slice(&[members.len() as u32, ghosts.len() as u32, arcs as u32, 0]);
        let weights = section(self.room.weight * arcs);
        bytemuck::cast_slice_mut::<u8, u32>(section(4 * members.len())).copy_from_slice(members);
        bytemuck::cast_slice_mut::<u8, u32>(section(4 * ghosts.len())).copy_from_slice(ghosts);
        let positions: &mut [u32] = bytemuck::cast_slice_mut(section(4 * ghosts.len()));
        positions.iter_mut().zip(ghosts).for_each(|(there, &ghost)| *there = self.positions[ghost as usize]);
        let rows: &mut [u16] = bytemuck::cast_slice_mut(section(2 * (members.len() + 1)));
        let heads: &mut [u16] = bytemuck::cast_slice_mut(section(2 * arcs));
        let mut at = 0;
        for (row, tail) in rows.iter_mut().zip(members) {
            *row = at as u16;
            for arc in arcs_of(tail) {
                let head = self.graph.csr().targets()[arc];
                heads[at] = self
                    .place_in(region, head)
                    .unwrap_or_else(|| (MOST_VERTICES + ghosts.binary_search(&head).unwrap_or_default()) as u16);
                let bits = bits_of(self.graph, arc).to_le_bytes();
                weights[at * self.room.weight..][..self.room.weight].copy_from_slice(&bits[..self.room.weight]);
                at += 1;
            }
        }
        rows[members.len()] = at as u16;
    }
}
