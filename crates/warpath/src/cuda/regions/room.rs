//! How large regions and their records get.

/// The most vertices of a region: a lane of a warp has eight of them.
pub(super) const MOST_VERTICES: usize = 256;

/// Smaller regions have the records of regions of so many vertices, for long rows.
const LEAST_ROOM: usize = 128;

/// Records begin at multiples of so many bytes.
pub(super) const UNIT: usize = 16;

/// How large records get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// The bytes of a weight.
    pub(super) weight: usize,
    /// The most vertices of a region.
    pub(super) vertices: usize,
    /// The most bytes of a record.
    pub(super) most: usize,
}

impl Room {
    /// For regions of so many vertices, and weights of so many bytes; 0 if there are none. So many vertices of a road network fit.
    pub(super) const fn of(vertices: usize, weight: usize) -> Self {
        let room = if vertices < LEAST_ROOM { LEAST_ROOM } else { vertices };
        Room { weight, vertices, most: room * (16 + 2 * weight) }
    }

    /// The bytes of a record of so many vertices, arcs and ghosts.
    pub(super) const fn bytes(self, vertices: usize, arcs: usize, ghosts: usize) -> usize {
        let words = 4 + vertices + 2 * ghosts;
        (4 * words + self.weight * arcs + 2 * (vertices + 1 + arcs)).next_multiple_of(UNIT)
    }

    /// The most arcs of a vertex: with twice as many all around it a record has room for it.
    pub(super) const fn longest_row(self) -> usize {
        (self.most / 2 - 64) / (self.weight + 10)
    }

    /// The most ghosts that a record has room for.
    pub(super) const fn most_ghosts(self) -> usize {
        self.most / (self.weight + 10)
    }

    /// A number of regions that so many vertices and arcs do not exceed, if no row is longer than `longest`.
    pub(super) fn most_regions(self, vertices: usize, arcs: usize, longest: usize) -> u64 {
        // A region ends where it has all vertices that it may have, or no room for one more row.
        let filled = self.most - 64 - (self.weight + 10) * longest.min(self.longest_row());
        let bytes = 6 * vertices as u128 + (self.weight as u128 + 10) * arcs as u128;
        (vertices / self.vertices) as u64 + (bytes / filled as u128) as u64 + 1
    }
}
