//! Minimum degree: of a small part, the vertex with the fewest neighbours comes next, and its neighbours become a clique.
//!
//! A part has a *halo*: the vertices of separators around it, which come later. They count as neighbours, since the
//! elimination joins them, too. Without the halo a part is ordered as if it were alone, and a tenth more arcs come out on
//! roads and meshes.

use crate::graph::VertexId;

/// The greatest part that is ordered in this way, its halo included: one bit of a row for each vertex.
pub(super) const LARGEST: usize = 64 * WORDS;
const WORDS: usize = 8;

/// The order of the first of at most [`LARGEST`] vertices. `rows` has their neighbours, by number; those beyond its end are the halo.
pub(super) fn minimum_degree(rows: &[Vec<u32>], all: usize) -> Vec<VertexId> {
    let count = rows.len();
    let words = all.div_ceil(64);
    let mut bits = vec![[0_u64; WORDS]; all];
    for (v, row) in rows.iter().enumerate() {
        for &u in row {
            bits[v][u as usize / 64] |= 1 << (u % 64);
            bits[u as usize][v / 64] |= 1 << (v % 64);
        }
    }
    let size = |row: &[u64; WORDS]| row[..words].iter().map(|word| word.count_ones()).sum::<u32>();
    let mut degrees: Vec<u32> = bits.iter().map(size).collect();
    let mut left: Vec<VertexId> = (0..count as VertexId).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(place) = (0..left.len()).min_by_key(|&place| (degrees[left[place] as usize], left[place])) {
        let v = left.swap_remove(place) as usize;
        order.push(v as VertexId);
        let row = bits[v];
        for (word, mut members) in row[..words].iter().copied().enumerate() {
            while members != 0 {
                let u = word * 64 + members.trailing_zeros() as usize;
                members &= members - 1;
                for (mine, more) in bits[u][..words].iter_mut().zip(&row) {
                    *mine |= more;
                }
                bits[u][u / 64] &= !(1 << (u % 64));
                bits[u][v / 64] &= !(1 << (v % 64));
                degrees[u] = size(&bits[u]);
            }
        }
    }
    order
}
