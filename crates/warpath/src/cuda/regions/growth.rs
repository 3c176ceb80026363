//! Regions of a graph: small sets of vertices that are near each other, which have most of their arcs among themselves.
//!
//! A region grows breadth-first until it has as many vertices as it may have, or its record is full. The next one begins at a vertex on the
//! rim of an earlier one, the first that is left, so regions cover the graph as a flood does. Where nothing is left on a rim, the
//! region goes on at the first vertex that is left anywhere. So regions are full, but for the last one of a part and those before long rows.
//!
//! On the roads of the North-West of the US 7 of 100 arcs leave their region of 256 vertices.
//!
//! Work O(V + E), one part a thread.
//!
//! Source: growing from seeds is "bubble growing", as in Diekmann, Preis, Schlimbach and Walshaw 2000, "Shape-optimized mesh
//! partitioning and load balancing for parallel adaptive FEM"; that a new seed is the oldest vertex of a rim is ours.

use std::collections::VecDeque;
use std::ops::Range;

use rayon::prelude::*;

use super::room::{MOST_VERTICES, Room};
use crate::graph::{Csr, VertexId};
use crate::{Error, Result, memory};

/// The regions of a part of the vertices.
#[derive(Debug)]
pub(super) struct Regions {
    /// The vertices, region after region.
    members: Vec<VertexId>,
    /// Where the members of each region begin, and the end of the last.
    begins: Vec<usize>,
}

impl Regions {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.begins.len() - 1
    }

    /// The vertices of one.
    pub(super) fn members(&self, region: usize) -> &[VertexId] {
        &self.members[self.begins[region]..self.begins[region + 1]]
    }
}

/// No region has this vertex yet.
const NOWHERE: u32 = u32::MAX;

/// The regions of these parts, which follow each other and have all vertices, and the position of each vertex in its part:
/// [`MOST_VERTICES`] times the number of its region, and its place there.
pub(super) fn grow(csr: &Csr, parts: &[Range<usize>], room: Room) -> Result<(Vec<Regions>, Vec<u32>)> {
    let mut positions = memory::filled("the positions of vertices", csr.vertices(), NOWHERE)?;
    let mut rest = &mut positions[..];
    let mut slices = Vec::new();
    for part in parts {
        let (here, later) = rest.split_at_mut(part.len());
        slices.push(here);
        rest = later;
    }
    let regions = parts.par_iter().zip(slices).map(|(part, positions)| {
        let growth = Growth {
            csr,
            first: part.start,
            room,
            positions,
            regions: Regions {
                members: memory::with_capacity("the vertices of regions", part.len())?,
                begins: vec![0],
            },
            arcs_to: memory::filled("arcs to the rim of a region", part.len(), 0)?,
            rim: Vec::new(),
            seeds: VecDeque::new(),
            arcs: 0,
            leaving: 0,
        };
        growth.run()
    });
    let regions = regions.collect::<Result<Vec<_>>>()?;
    Ok((regions, positions))
}

/// Regions that grow, and the one that does now.
struct Growth<'a> {
    csr: &'a Csr,
    /// The first vertex of the part.
    first: usize,
    room: Room,
    positions: &'a mut [u32],
    regions: Regions,
    /// How many arcs lead from the region to each vertex of the part that it does not have.
    arcs_to: Vec<u32>,
    /// The vertices of the part that some of these arcs lead to, and some that the region has by now.
    rim: Vec<VertexId>,
    /// Rims of earlier regions.
    seeds: VecDeque<VertexId>,
    /// The arcs of the region,
    arcs: usize,
    /// and how many of them leave it.
    leaving: usize,
}

impl Growth<'_> {
    fn run(mut self) -> Result<Regions> {
        let mut anywhere = self.first;
        while let Some(seed) = self.next_seed(&mut anywhere) {
            if !self.has_room_for(seed) {
                self.close();
            }
            let mut next = self.regions.members.len();
            self.take(seed)?;
            'growing: while let Some(&tail) = self.regions.members.get(next) {
                next += 1;
                for &head in self.csr.neighbors(tail) {
                    if !self.is_free(head) {
                        continue;
                    }
                    if !self.has_room_for(head) {
                        self.close();
                        break 'growing;
                    }
                    self.take(head)?;
                }
            }
        }
        if self.regions.members.len() > self.begin() {
            self.close();
        }
        Ok(self.regions)
    }

    /// Where the members of the region begin.
    fn begin(&self) -> usize {
        self.regions.begins[self.regions.begins.len() - 1]
    }

    /// The place of a vertex in the part, if it is there.
    fn place(&self, vertex: VertexId) -> Option<usize> {
        (vertex as usize).checked_sub(self.first).filter(|&place| place < self.positions.len())
    }

    /// Whether the part has this vertex and no region does.
    fn is_free(&self, vertex: VertexId) -> bool {
        self.place(vertex).is_some_and(|place| self.positions[place] == NOWHERE)
    }

    /// A vertex that no region has, on a rim if there is one.
    fn next_seed(&mut self, anywhere: &mut usize) -> Option<VertexId> {
        while let Some(seed) = self.seeds.pop_front() {
            if self.is_free(seed) {
                return Some(seed);
            }
        }
        let end = self.first + self.positions.len();
        while *anywhere < end && !self.is_free(*anywhere as VertexId) {
            *anywhere += 1;
        }
        (*anywhere < end).then_some(*anywhere as VertexId)
    }

    /// Whether the record of the region has room for one more vertex: all its arcs may leave the region.
    fn has_room_for(&self, vertex: VertexId) -> bool {
        let (members, degree) = (self.regions.members.len() - self.begin() + 1, self.csr.neighbors(vertex).len());
        let leaving = self.leaving + degree - self.arcs_to[vertex as usize - self.first] as usize;
        members <= self.room.vertices && self.room.bytes(members, self.arcs + degree, leaving) <= self.room.most
    }

    /// Adds a vertex to the region.
    fn take(&mut self, vertex: VertexId) -> Result<()> {
        let (region, index) = (self.regions.count() as u64, self.regions.members.len() - self.begin());
        let position = region * MOST_VERTICES as u64 + index as u64;
        if position >= u64::from(NOWHERE) {
            return Err(Error::invalid("the graph has too many regions for this algorithm"));
        }
        let place = vertex as usize - self.first;
        self.positions[place] = position as u32;
        self.leaving -= std::mem::take(&mut self.arcs_to[place]) as usize;
        self.regions.members.push(vertex);
        let row = self.csr.neighbors(vertex);
        self.arcs += row.len();
        for &head in row {
            match self.place(head) {
                Some(there) if self.positions[there] == NOWHERE => {
                    self.arcs_to[there] += 1;
                    self.rim.push(head);
                    self.leaving += 1;
                }
                // Regions before this one are closed.
                Some(there) if u64::from(self.positions[there]) >= region * MOST_VERTICES as u64 => {}
                _ => self.leaving += 1,
            }
        }
        Ok(())
    }

    /// Ends the region.
    fn close(&mut self) {
        for &vertex in &self.rim {
            let place = vertex as usize - self.first;
            if self.positions[place] == NOWHERE && self.arcs_to[place] > 0 {
                self.seeds.push_back(vertex);
            }
            self.arcs_to[place] = 0;
        }
        self.rim.clear();
        (self.arcs, self.leaving) = (0, 0);
        let end = self.regions.members.len();
        self.regions.begins.push(end);
    }
}
