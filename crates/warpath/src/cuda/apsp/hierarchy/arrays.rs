//! What sweeps over a hierarchy have on a device: its arrays, how they are filled, and the arguments of the kernels.

use bytemuck::Pod;
use rayon::prelude::*;

use super::super::searches::SearchesTask;
use super::INNER;
use crate::Result;
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::sssp::many_sources;
use crate::graph::{DistanceValue, VertexId};
use crate::hierarchy::{COLUMNS as FRONT, Elimination, Hierarchy, Lengths, Piece, Pieces, ROOT};
use crate::memory::filled;

kernel_header! {
    path: "apsp/hierarchy";
    namespace: apsp_hierarchy;
    constants {
        /// Sources of a warp: two for each thread.
        pub(super) const SOURCES: u32 = 64;
        /// The most vertices of a front.
        pub(super) const COLUMNS: u32 = 8;
        /// The most vertices of a subtree.
        pub(super) const MOST_VERTICES: u32 = 64;
        /// Threads of a block that transposes.
        pub(super) const TRANSPOSING: u32 = 256;
        /// Vertices of a block that transposes.
        pub(super) const TRANSPOSED: u32 = 1024;
        /// The parent of a root.
        pub(super) const NO_PARENT: u32 = 4294967295;
    }

    /// A vertex on the way up.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Node {
        /// Where its arcs to later neighbours begin.
        pub(super) arcs: u32,
        pub(super) parent: u32,
    }

    /// The subtree of a rank, which ends with it, and how many ancestors it has.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Position {
        pub(super) first: u32,
        pub(super) depth: u32,
    }

    /// Ranks from `first` on, of which each is the parent of the one before.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Front {
        pub(super) first: u32,
        pub(super) count: u32,
        /// Where its boundary begins among those of all fronts.
        pub(super) boundary: u32,
        pub(super) boundary_count: u32,
    }

    /// The ranks of a subtree.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Subtree {
        pub(super) first: u32,
        pub(super) count: u32,
        /// Where its boundary begins among those of all subtrees.
        pub(super) boundary: u32,
        pub(super) boundary_count: u32,
        /// Where its arcs begin.
        pub(super) arcs: u32,
        pub(super) arc_count: u32,
        pub(super) unused: [u32; 2],
    }

    /// The argument of the kernel that walks up from each source.
    pub(super) struct Climb<Lane> {
        /// One more than there are ranks.
        pub(super) nodes: DevicePtr<Node>,
        /// The depth of each later neighbour, and the length of the way there.
        pub(super) arcs: DevicePtr<cpp::Step>,
        pub(super) positions: DevicePtr<Position>,
        /// Their ranks.
        pub(super) sources: DevicePtr<u32>,
        /// For each depth a distance for each source.
        pub(super) above: DeviceMutPtr<cpp::Distance>,
        /// From depth to depth.
        pub(super) stride: u64,
    }

    /// The argument of the kernels that sweep down.
    pub(super) struct Sweep<Lane> {
        pub(super) positions: DevicePtr<Position>,
        /// The ranks of sources, and beyond their number the greatest number.
        pub(super) sources: DevicePtr<u32>,
        pub(super) above: DevicePtr<cpp::Distance>,
        /// For each rank a distance for each source.
        pub(super) by_rank: DeviceMutPtr<cpp::Distance>,
        pub(super) fronts: DevicePtr<Front>,
        /// Ranks of the boundaries of fronts.
        pub(super) front_boundaries: DevicePtr<u32>,
        /// From each rank of a boundary to each vertex of its front.
        pub(super) front_lengths: DevicePtr<cpp::Distance>,
        /// Of each front, from each of its vertices to each.
        pub(super) triangles: DevicePtr<cpp::Distance>,
        pub(super) subtrees: DevicePtr<Subtree>,
        /// Ranks of the boundaries of subtrees.
        pub(super) subtree_boundaries: DevicePtr<u32>,
        /// The slot of a later neighbour, and the length of the way from there. The boundary of a subtree has the first slots, then
        /// come its vertices by depth.
        pub(super) subtree_arcs: DevicePtr<cpp::Step>,
        /// Of each rank in a subtree its slot, in the upper half, and where the pairs of its arcs end, counted from those of the
        /// top.
        pub(super) ends: DevicePtr<u32>,
        /// From rank to rank, and from depth to depth.
        pub(super) stride: u64,
        /// How many warps it takes for all sources.
        pub(super) groups: u32,
        /// The first front of the level.
        pub(super) level: u32,
        /// The most slots of a subtree, and the most of its arcs.
        pub(super) most_slots: u32,
        pub(super) most_arcs: u32,
    }

    /// The argument of the kernel that makes rows.
    pub(super) struct Transposition<Lane> {
        pub(super) by_rank: DevicePtr<cpp::Distance>,
        /// The rank of each vertex.
        pub(super) ranks: DevicePtr<u32>,
        pub(super) rows: DeviceMutPtr<cpp::Distance>,
        /// The greatest distance from each source; zero.
        pub(super) greatest: DeviceMutPtr<u64>,
        /// From rank to rank.
        pub(super) stride: u64,
        /// From row to row.
        pub(super) row_stride: u64,
        pub(super) vertices: u32,
        pub(super) count: u32,
    }
}

const _: () = assert!(FRONT == COLUMNS as usize && ROOT == NO_PARENT, "the kernels see the same tree");

/// A length on a device.
pub(super) trait Length: DistanceValue + Pod + Ord + From<u32> + Into<u64> + Send + Sync {
    /// The length of a way that there is not, for kernels that use all numbers of the type, or half of them.
    fn infinity(full: bool) -> Self;
}

impl Length for u32 {
    fn infinity(full: bool) -> u32 {
        if full { u32::MAX } else { u32::MAX / 2 }
    }
}

impl Length for u64 {
    fn infinity(full: bool) -> u64 {
        if full { u64::MAX } else { u64::MAX / 2 }
    }
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    vertices: u64,
    shortcuts: u64,
    height: u64,
    fronts: u64,
    front_boundary: u64,
    subtrees: u64,
    subtree_boundary: u64,
    subtree_arcs: u64,
    /// Words of a distance.
    words: u64,
    rows: u64,
    row_stride: u64,
}

impl Sizes {
    /// Of this hierarchy; what is usual on roads if there is none yet.
    pub(super) fn of(task: &SearchesTask<'_>, pieces: Option<(&Hierarchy, &Pieces)>) -> Self {
        /// Shortcuts of an arc, and ancestors, as many as there are on roads.
        const SHORTCUTS: u64 = 4;
        const HEIGHT: u64 = 512;
        let vertices = task.graph.vertices() as u64;
        let shortcuts = SHORTCUTS.saturating_mul(task.graph.arcs() as u64);
        let usual = Sizes {
            vertices,
            shortcuts,
            height: HEIGHT.min(vertices),
            fronts: vertices / 16,
            front_boundary: shortcuts / 8,
            subtrees: vertices / 16,
            subtree_boundary: vertices / 2,
            subtree_arcs: shortcuts,
            words: task.semiring.words(),
            rows: task.rows,
            row_stride: many_sources::stride(task.graph),
        };
        let Some((hierarchy, pieces)) = pieces else { return usual };
        Sizes {
            shortcuts: hierarchy.shortcuts(),
            height: hierarchy.height() as u64,
            fronts: pieces.fronts.len() as u64,
            front_boundary: pieces.front_boundary,
            subtrees: pieces.subtrees.len() as u64,
            subtree_boundary: pieces.subtree_boundary,
            subtree_arcs: pieces.subtree_arcs,
            ..usual
        }
    }

    /// The height of the tree.
    pub(super) fn height(&self) -> u64 {
        self.height
    }

    /// Distances from row to row.
    pub(super) fn row_stride(&self) -> u64 {
        self.row_stride
    }

    /// Distances of a rank: whole warps.
    pub(super) fn stride(&self) -> u64 {
        self.rows.next_multiple_of(SOURCES.into())
    }
}

/// The arrays. Those of distances are of words.
#[derive(Debug)]
pub(super) struct Arrays {
    nodes: DeviceSlice<Node>,
    positions: DeviceSlice<Position>,
    up_arcs: DeviceSlice<u32>,
    fronts: DeviceSlice<Front>,
    front_boundaries: DeviceSlice<u32>,
    front_lengths: DeviceSlice<u32>,
    triangles: DeviceSlice<u32>,
    subtrees: DeviceSlice<Subtree>,
    subtree_boundaries: DeviceSlice<u32>,
    subtree_arcs: DeviceSlice<u32>,
    ends: DeviceSlice<u32>,
    ranks: DeviceSlice<u32>,
    pub(super) sources: DeviceSlice<u32>,
    pub(super) greatest: DeviceSlice<u64>,
    above: DeviceSlice<u32>,
    by_rank: DeviceSlice<u32>,
    pub(super) rows: DeviceSlice<u32>,
}

pub(super) fn layout(arena: &mut Arena<'_>, sizes: &Sizes) -> Arrays {
    let Sizes { words, vertices, .. } = *sizes;
    let product = |factors: &[u64]| factors.iter().fold(words, |product, &factor| product.saturating_mul(factor));
    Arrays {
        nodes: arena.take("the elimination tree", vertices + 1),
        positions: arena.take("the subtree of each vertex", vertices),
        up_arcs: arena.take("shortcuts upwards", product(&[2, sizes.shortcuts])),
        fronts: arena.take("fronts", sizes.fronts),
        front_boundaries: arena.take("the boundaries of fronts", sizes.front_boundary),
        front_lengths: arena.take("the lengths of fronts", product(&[COLUMNS.into(), sizes.front_boundary])),
        triangles: arena.take("the lengths inside fronts", product(&[INNER as u64, sizes.fronts])),
        subtrees: arena.take("subtrees", sizes.subtrees),
        subtree_boundaries: arena.take("the boundaries of subtrees", sizes.subtree_boundary),
        subtree_arcs: arena.take("the shortcuts of subtrees", product(&[2, sizes.subtree_arcs])),
        ends: arena.take("the ends of rows", vertices),
        ranks: arena.take("the rank of each vertex", vertices),
        sources: arena.take("sources", sizes.stride()),
        greatest: arena.take("the greatest distances", sizes.stride()),
        above: arena.take("distances of ancestors", product(&[sizes.height, sizes.stride()])),
        by_rank: arena
            .take(format!("distances of {} sources, by rank", sizes.stride()), product(&[vertices, sizes.stride()])),
        rows: arena.take(format!("distances of {} searches", sizes.rows), product(&[sizes.row_stride, sizes.rows])),
    }
}

impl Arrays {
    /// Fills all that is the same for every batch.
    pub(super) fn upload<D: Length>(
        &self,
        pool: &Pool,
        elimination: &Elimination,
        pieces: &Pieces,
        lengths: &Lengths<D>,
        infinity: D,
    ) -> Result<()> {
        let count = elimination.count();
        let first = elimination.first_descendants()?;
        pool.upload(self.ranks, &elimination.ranks)?;
        let node = |rank: usize| Node {
            arcs: elimination.offsets[rank] as u32,
            parent: if rank < count { elimination.parents[rank] } else { NO_PARENT },
        };
        pool.upload_with(self.nodes, count + 1, |range, to| {
            to.iter_mut().zip(range).for_each(|(to, rank)| *to = node(rank));
        })?;
        pool.upload_with(self.positions, count, |range, to| {
            to.iter_mut()
                .zip(range)
                .for_each(|(to, rank)| *to = Position { first: first[rank], depth: elimination.depths[rank] });
        })?;
        pool.upload_with(self.up_arcs.cast::<[D; 2]>(), lengths.up.len(), |range, to| {
            to.iter_mut().zip(range).for_each(|(to, arc)| {
                let depth = elimination.depths[elimination.heads[arc] as usize];
                *to = [depth.into(), lengths.up[arc].min(infinity)];
            });
        })?;
        self.upload_fronts(pool, elimination, &pieces.fronts, lengths.down(), infinity)?;
        self.upload_subtrees(pool, elimination, &pieces.subtrees, lengths.down(), infinity)
    }

    fn upload_fronts<D: Length>(
        &self,
        pool: &Pool,
        elimination: &Elimination,
        fronts: &[Piece],
        down: &[D],
        infinity: D,
    ) -> Result<()> {
        const WHAT: &str = "the fronts of a hierarchy";
        let mut headers = filled(WHAT, fronts.len(), Front { first: 0, count: 0, boundary: 0, boundary_count: 0 })?;
        let mut boundaries = filled(WHAT, self.front_boundaries.length() as usize, 0_u32)?;
        let mut all_lengths = filled(WHAT, boundaries.len() * FRONT, infinity)?;
        let mut triangles = filled(WHAT, fronts.len() * INNER, infinity)?;
        // What belongs to each front.
        let (mut heads, mut lengths, mut next) = (&mut boundaries[..], &mut all_lengths[..], 0);
        let mut parts = crate::memory::with_capacity(WHAT, fronts.len())?;
        for (&front, header) in fronts.iter().zip(&mut headers) {
            let row = elimination.row(front.top());
            *header =
                Front { first: front.first, count: front.count, boundary: next, boundary_count: row.len() as u32 };
            next += row.len() as u32;
            let (mine, rest) = std::mem::take(&mut heads).split_at_mut(row.len());
            mine.copy_from_slice(&elimination.heads[row]);
            heads = rest;
            let of_mine = std::mem::take(&mut lengths).split_at_mut(mine.len() * FRONT);
            lengths = of_mine.1;
            parts.push((front, &*mine, of_mine.0));
        }
        parts.into_par_iter().zip(triangles.par_chunks_exact_mut(INNER)).for_each(
            |((front, boundary, lengths), triangle)| {
                for (column, rank) in (front.first as usize..=front.top()).enumerate() {
                    let mut place = 0;
                    for arc in elimination.row(rank) {
                        let (head, length) = (elimination.heads[arc], down[arc].min(infinity));
                        if head as usize <= front.top() {
                            triangle[(head - front.first) as usize * FRONT + column] = length;
                            continue;
                        }
                        // Both ascend.
                        while boundary[place] < head {
                            place += 1;
                        }
                        lengths[place * FRONT + column] = length;
                    }
                }
            },
        );
        pool.upload(self.fronts, &headers)?;
        pool.upload(self.front_boundaries, &boundaries)?;
        pool.upload(self.front_lengths.cast(), &all_lengths)?;
        pool.upload(self.triangles.cast(), &triangles)
    }

    fn upload_subtrees<D: Length>(
        &self,
        pool: &Pool,
        elimination: &Elimination,
        subtrees: &[Piece],
        down: &[D],
        infinity: D,
    ) -> Result<()> {
        const WHAT: &str = "the subtrees of a hierarchy";
        let mut headers = crate::memory::with_capacity(WHAT, subtrees.len())?;
        let mut boundaries = crate::memory::with_capacity(WHAT, self.subtree_boundaries.length() as usize)?;
        let mut arcs: Vec<[D; 2]> =
            crate::memory::with_capacity(WHAT, self.subtree_arcs.cast::<[D; 2]>().length() as usize)?;
        let mut ends = filled(WHAT, elimination.count(), 0_u32)?;
        for &subtree in subtrees {
            let boundary = &elimination.heads[elimination.row(subtree.top())];
            let slot_of =
                |rank: usize| boundary.len() as u32 + elimination.depths[rank] - elimination.depths[subtree.top()];
            let (start, first_arc) = (boundaries.len() as u32, arcs.len());
            boundaries.extend_from_slice(boundary);
            for rank in subtree.ranks() {
                let mut place = 0;
                let first_of_row = arcs.len();
                for arc in elimination.row(rank) {
                    let head = elimination.heads[arc];
                    let slot = if head as usize <= subtree.top() {
                        slot_of(head as usize)
                    } else {
                        while boundary[place] < head {
                            place += 1;
                        }
                        place as u32
                    };
                    arcs.push([slot.into(), down[arc].min(infinity)]);
                }
                // Arcs are read two at a time.
                if (arcs.len() - first_of_row) % 2 == 1 {
                    arcs.push(arcs[arcs.len() - 1]);
                }
                ends[rank] = slot_of(rank) << 16 | ((arcs.len() - first_arc) / 2) as u32;
            }
            headers.push(Subtree {
                first: subtree.first,
                count: subtree.count,
                boundary: start,
                boundary_count: boundary.len() as u32,
                arcs: first_arc as u32,
                arc_count: (arcs.len() - first_arc) as u32,
                unused: [0; 2],
            });
        }
        pool.upload(self.subtrees, &headers)?;
        pool.upload(self.subtree_boundaries, &boundaries)?;
        pool.upload(self.subtree_arcs.cast(), &arcs)?;
        pool.upload(self.ends, &ends)
    }

    /// The arguments of the kernels, for no source.
    pub(super) fn arguments(&self, sizes: &Sizes, pieces: &Pieces) -> (Climb, Sweep, Transposition) {
        let (stride, sources) = (sizes.stride(), self.sources.as_ptr());
        let climb = Climb {
            nodes: self.nodes.as_ptr(),
            arcs: self.up_arcs.as_ptr().cast(),
            positions: self.positions.as_ptr(),
            sources,
            above: self.above.as_mut_ptr().cast(),
            stride,
        };
        let sweep = Sweep {
            positions: self.positions.as_ptr(),
            sources,
            above: self.above.as_ptr().cast(),
            by_rank: self.by_rank.as_mut_ptr().cast(),
            fronts: self.fronts.as_ptr(),
            front_boundaries: self.front_boundaries.as_ptr(),
            front_lengths: self.front_lengths.as_ptr().cast(),
            triangles: self.triangles.as_ptr().cast(),
            subtrees: self.subtrees.as_ptr(),
            subtree_boundaries: self.subtree_boundaries.as_ptr(),
            subtree_arcs: self.subtree_arcs.as_ptr().cast(),
            ends: self.ends.as_ptr(),
            stride,
            groups: 0,
            level: 0,
            most_slots: pieces.slots as u32,
            most_arcs: pieces.arcs.next_multiple_of(2) as u32,
        };
        let transposition = Transposition {
            by_rank: self.by_rank.as_ptr().cast(),
            ranks: self.ranks.as_ptr(),
            rows: self.rows.as_mut_ptr().cast(),
            greatest: self.greatest.as_mut_ptr(),
            stride,
            row_stride: sizes.row_stride,
            vertices: sizes.vertices as u32,
            count: 0,
        };
        (climb, sweep, transposition)
    }
}

/// The ranks of sources, and the greatest number in the places that are left.
pub(super) fn ranks_of(elimination: &Elimination, sources: &[VertexId], places: u64) -> Result<Vec<u32>> {
    let mut ranks = filled("the sources of a batch", places as usize, u32::MAX)?;
    for (rank, &source) in ranks.iter_mut().zip(sources) {
        *rank = elimination.ranks[source as usize];
    }
    Ok(ranks)
}
