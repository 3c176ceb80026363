//! Marching squares: the outlines of an area on a grid, as polygons with holes.
//!
//! A contour crosses each grid edge between a node inside and a node outside once, where the depth, interpolated, is 0.
//! Within a square the area is the convex hull of the nodes inside and of these crossings, so that
//!
//! - each crossing belongs to one ring, which visits it once: rings neither cross nor touch;
//! - an area that is deeper at every node contains the other one.
//!
//! A crossing keeps a small distance from both nodes, so that this holds in rounded numbers, too.
//!
//! Source: W. E. Lorensen, H. E. Cline, *Marching Cubes*, SIGGRAPH 1987, in two dimensions.

use std::collections::HashMap;

use super::Polygon;
use super::field::Field;

/// A crossing keeps this share of a step from both nodes.
const MARGIN: f64 = 1.0 / 64.0;

/// A grid edge: from the node of this column and row to the right (0) or upwards (1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct GridEdge {
    row: usize,
    column: usize,
    upwards: bool,
}

impl Field {
    fn crossing(&self, edge: GridEdge) -> [f64; 2] {
        let (to_column, to_row) = if edge.upwards { (edge.column, edge.row + 1) } else { (edge.column + 1, edge.row) };
        let (from, to) = (self.depth(edge.column, edge.row), self.depth(to_column, to_row));
        let share = (from / (from - to)).clamp(MARGIN, 1.0 - MARGIN);
        let along = |is_this: bool, index: usize| index as f64 + if is_this { share } else { 0.0 };
        [
            self.origin[0] + along(!edge.upwards, edge.column) * self.step,
            self.origin[1] + along(edge.upwards, edge.row) * self.step,
        ]
    }

    /// The area's polygons: their rings closed, outer ones counterclockwise and holes clockwise.
    pub(super) fn polygons(&self) -> Vec<Polygon> {
        let mut following = self.segments();
        let mut starts: Vec<GridEdge> = following.keys().copied().collect();
        starts.sort_unstable();
        let mut rings = Vec::new();
        let mut ring_of = HashMap::new();
        for start in starts {
            let mut edges = Vec::new();
            let mut at = start;
            while let Some(next) = following.remove(&at) {
                ring_of.insert(at, rings.len());
                edges.push(at);
                at = next;
            }
            if !edges.is_empty() {
                rings.push(edges);
            }
        }
        let around: Vec<usize> = (0..rings.len()).map(|ring| self.outer_ring(&rings, &ring_of, ring)).collect();
        let points = |ring: usize| {
            let mut points: Vec<[f64; 2]> = rings[ring].iter().map(|&edge| self.crossing(edge)).collect();
            points.push(points[0]);
            points
        };
        let mut places = HashMap::new();
        let mut polygons = Vec::new();
        for ring in (0..rings.len()).filter(|&ring| around[ring] == ring) {
            places.insert(ring, polygons.len());
            polygons.push(Polygon { outer: points(ring), holes: Vec::new() });
        }
        for ring in (0..rings.len()).filter(|&ring| around[ring] != ring) {
            polygons[places[&around[ring]]].holes.push(points(ring));
        }
        polygons
    }

    /// By the crossing where it starts, each segment of the outlines, with the area to its left.
    fn segments(&self) -> HashMap<GridEdge, GridEdge> {
        let mut following = HashMap::new();
        for row in 0..self.rows - 1 {
            for column in 0..self.columns - 1 {
                // Counterclockwise: the corners, and the grid edge from each to the next.
                let corners = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)];
                let inside = corners.map(|(column, row)| self.is_inside(column, row));
                if inside == [inside[0]; 4] {
                    continue;
                }
                let edges =
                    [(column, row, false), (column + 1, row, true), (column, row + 1, false), (column, row, true)]
                        .map(|(column, row, upwards)| GridEdge { row, column, upwards });
                // The outline enters a square where the area ends, going round, and leaves it where the area begins.
                for side in (0..4).filter(|&side| inside[side] && !inside[(side + 1) % 4]) {
                    let end = (1..4)
                        .map(|further| (side + further) % 4)
                        .find(|&side| !inside[side] && inside[(side + 1) % 4]);
                    following.extend(end.map(|end| (edges[side], edges[end])));
                }
            }
        }
        following
    }

    /// The outer ring of the polygon that a ring belongs to: itself if it is an outer ring.
    fn outer_ring(&self, rings: &[Vec<GridEdge>], ring_of: &HashMap<GridEdge, usize>, ring: usize) -> usize {
        let mut ring = ring;
        loop {
            // The leftmost of the horizontal grid edges that it crosses: every ring has a node within.
            let across = rings[ring].iter().filter(|edge| !edge.upwards).min_by_key(|edge| edge.column);
            let Some(&GridEdge { row, column, .. }) = across else { return ring };
            // The area begins here, going right, along an outer ring, and ends along a hole.
            if !self.is_inside(column, row) {
                return ring;
            }
            // The area to the left of a hole begins at a ring of the same polygon, which lies further left.
            let begins = (0..column).rev().find(|&left| !self.is_inside(left, row));
            let edge = begins.map(|column| GridEdge { row, column, upwards: false });
            match edge.and_then(|edge| ring_of.get(&edge)) {
                Some(&left) => ring = left,
                None => return ring,
            }
        }
    }
}
