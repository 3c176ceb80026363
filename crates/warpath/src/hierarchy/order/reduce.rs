//! Vertices with one or two neighbours come first: leaves, trees that hang from the rest, and chains.
//!
//! Eliminating a vertex with two neighbours joins these by at most one edge, in the place of two, so no later vertex has
//! more neighbours than before. On roads this takes away half to three quarters of the vertices before anything is
//! dissected. A chain that was eliminated from one end to the other would be a path in the elimination tree, as high as
//! the chain is long. So the vertices go in rounds, each of which takes no two neighbours, and the height is logarithmic.

use super::pattern::Pattern;
use crate::Result;
use crate::graph::VertexId;
use crate::memory::{filled, with_capacity};

/// A vertex with two neighbours stays if one of them has more neighbours than this. Looking for it in a long row, once for
/// each of a million vertices around a hub, would take forever.
const HUB: u32 = 64;

/// What is left of a pattern.
pub(super) struct Reduced {
    /// The vertices that come first, in their order.
    pub(super) first: Vec<VertexId>,
    /// The vertices that are left, ascending.
    pub(super) left: Vec<VertexId>,
    /// The edges between them, those through vertices of `first` included, by their places in `left`.
    pub(super) pattern: Pattern,
    /// How many later neighbours the vertices of `first` have together.
    pub(super) shortcuts: u64,
    /// In how many rounds they went; no two neighbours go in the same one.
    pub(super) rounds: u32,
}

/// Eliminates vertices with at most two neighbours until there are none but those beside hubs, in O(V + E).
pub(super) fn reduce(mut pattern: Pattern) -> Result<Reduced> {
    let vertices = pattern.vertices();
    let mut degree = with_capacity("degrees", vertices)?;
    degree.extend(pattern.offsets.windows(2).map(|pair| pair[1] - pair[0]));
    let mut first = with_capacity("an order", vertices)?;
    let mut gone = filled("an order", vertices, false)?;
    // The last round in which a neighbour was eliminated.
    let mut touched = filled("an order", vertices, 0_u32)?;
    let mut candidates: Vec<VertexId> = (0..vertices as VertexId).filter(|&v| degree[v as usize] <= 2).collect();
    let (mut round, mut shortcuts) = (0, 0);
    while !candidates.is_empty() {
        round += 1;
        let mut later = Vec::new();
        for &v in &candidates {
            if gone[v as usize] || degree[v as usize] > 2 {
                continue;
            }
            if touched[v as usize] == round {
                later.push(v);
                continue;
            }
            let mut around = pattern.neighbors(v).iter().copied().filter(|&u| !gone[u as usize]);
            let around = (around.next(), around.next());
            if let (Some(a), Some(b)) = around {
                if degree[a as usize].max(degree[b as usize]) > HUB {
                    continue;
                }
                join(&mut pattern, &mut degree, v, (a, b));
            } else if let (Some(u), None) = around {
                degree[u as usize] -= 1;
            }
            gone[v as usize] = true;
            first.push(v);
            shortcuts += [around.0, around.1].iter().flatten().count() as u64;
            for u in [around.0, around.1].into_iter().flatten() {
                touched[u as usize] = round;
                if degree[u as usize] <= 2 {
                    later.push(u);
                }
            }
        }
        later.sort_unstable();
        later.dedup();
        candidates = later;
    }
    let left: Vec<VertexId> = (0..vertices as VertexId).filter(|&v| !gone[v as usize]).collect();
    let mut number = filled("an order", vertices, u32::MAX)?;
    for (new, &v) in left.iter().enumerate() {
        number[v as usize] = new as u32;
    }
    let mut rest = Pattern { offsets: vec![0], heads: Vec::new() };
    for &v in &left {
        rest.heads.extend(pattern.neighbors(v).iter().map(|&u| number[u as usize]).filter(|&new| new != u32::MAX));
        rest.offsets.push(rest.heads.len() as u32);
    }
    Ok(Reduced { first, left, pattern: rest, shortcuts, rounds: round })
}

/// Puts an edge between `a` and `b` in the place of those that they have to `v`, unless they are neighbours already. The
/// place of an edge that falls away keeps `v`, which is gone from then on.
fn join(pattern: &mut Pattern, degree: &mut [u32], v: VertexId, (a, b): (VertexId, VertexId)) {
    if pattern.neighbors(a).contains(&b) {
        degree[a as usize] -= 1;
        degree[b as usize] -= 1;
        return;
    }
    for (u, other) in [(a, b), (b, a)] {
        let row = pattern.offsets[u as usize] as usize..pattern.offsets[u as usize + 1] as usize;
        let row = &mut pattern.heads[row];
        let place = row.iter().position(|&x| x == v).expect("edges are in both rows");
        row[place] = other;
    }
}
