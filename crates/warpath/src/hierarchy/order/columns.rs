//! How many later neighbours the last vertices of a part have, without an elimination of what comes before them.
//!
//! When the turn of a separator comes, the rest of its part is gone. Each connected piece of that has turned into a clique of its neighbours,
//! which are vertices of the separator and vertices around the part. So it is enough to eliminate the separator in a graph
//! whose cliques are lists of their members (as *elements* in George and Liu, *Computer solution of large sparse positive definite
//! systems*, 1981, chapter 5). On roads and grids two pieces join nearly all; in social networks there are thousands, and most join few.

use super::pattern::Pattern;
use crate::Result;
use crate::graph::VertexId;
use crate::memory::filled;

/// What [`columns`] finds.
pub(super) struct Columns {
    /// The later neighbours of each of the last vertices, in their order.
    pub(super) lengths: Vec<u32>,
    /// The vertices on the longest path of the elimination tree within these.
    pub(super) height: usize,
}

/// A vertex of the part that comes before the last ones.
const BEFORE: u32 = u32::MAX - 1;

/// The later neighbours of the `last` vertices of a part if these are eliminated in this order, after the rest of it. `names` are
/// the vertices' numbers in `whole`. `place` is scratch memory: `u32::MAX` for every vertex of `whole`, before and after. In
/// O(edges of the part and around it + what is found).
pub(super) fn columns(
    whole: &Pattern,
    part: &Pattern,
    names: &[VertexId],
    last: &[VertexId],
    place: &mut [u32],
) -> Result<Columns> {
    const WHAT: &str = "the columns of a separator";
    names.iter().for_each(|&name| place[name as usize] = BEFORE);
    let mut seen = filled(WHAT, names.len(), false)?;
    for (i, &v) in last.iter().enumerate() {
        place[names[v as usize] as usize] = i as u32;
        seen[v as usize] = true;
    }
    let (waiting, seen_by) = (filled(WHAT, last.len(), Vec::new())?, filled(WHAT, last.len(), u32::MAX)?);
    let heights = filled(WHAT, last.len(), 0)?;
    let mut elimination = Elimination { whole, place, around: Vec::new(), seen_by, stamp: 0, waiting, heights };
    let mut piece = Vec::new();
    for start in 0..names.len() as VertexId {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        piece.clear();
        piece.push(start);
        let mut next = 0;
        while let Some(&v) = piece.get(next) {
            next += 1;
            piece.extend(part.neighbors(v).iter().filter(|&&u| !std::mem::replace(&mut seen[u as usize], true)));
        }
        elimination.join(&piece, names);
    }
    let later = |(i, &v): (usize, &VertexId)| elimination.eliminate(i as u32, names[v as usize]);
    let lengths = last.iter().enumerate().map(later).collect();
    let height = elimination.heights.iter().copied().max().unwrap_or(0) as usize;
    let Elimination { place, around, .. } = elimination;
    names.iter().chain(&around).for_each(|&v| place[v as usize] = u32::MAX);
    Ok(Columns { lengths, height })
}

/// The last vertices of the part come first here, then those around the part, as they are met.
struct Elimination<'a> {
    whole: &'a Pattern,
    /// The number of a vertex of `whole` here.
    place: &'a mut [u32],
    around: Vec<VertexId>,
    /// For each vertex here the last list that it was put into.
    seen_by: Vec<u32>,
    stamp: u32,
    /// For each of the last vertices the cliques of which it is the first member.
    waiting: Vec<Vec<Vec<u32>>>,
    /// For each of them the vertices on the longest path of the tree that ends there.
    heights: Vec<u32>,
}

impl Elimination<'_> {
    /// Puts a vertex into the current list if it is not there.
    fn put(&mut self, vertex: u32, list: &mut Vec<u32>) {
        if std::mem::replace(&mut self.seen_by[vertex as usize], self.stamp) != self.stamp {
            list.push(vertex);
        }
    }

    /// Puts those neighbours of a vertex of `whole` into the list that are eliminated from the `first` on.
    fn put_neighbors(&mut self, of: VertexId, first: u32, list: &mut Vec<u32>) {
        let whole = self.whole;
        for &u in whole.neighbors(of) {
            if self.place[u as usize] == u32::MAX {
                self.place[u as usize] = self.seen_by.len() as u32;
                self.around.push(u);
                self.seen_by.push(u32::MAX);
            }
            let place = self.place[u as usize];
            if place != BEFORE && place >= first {
                self.put(place, list);
            }
        }
    }

    /// Turns a piece of what comes before into a clique of its neighbours.
    fn join(&mut self, piece: &[VertexId], names: &[VertexId]) {
        let mut clique = Vec::new();
        self.stamp += 1;
        piece.iter().for_each(|&v| self.put_neighbors(names[v as usize], 0, &mut clique));
        self.wait(clique);
    }

    /// Keeps a clique until the turn of its first member comes, which is returned if it is in the part.
    fn wait(&mut self, clique: Vec<u32>) -> Option<u32> {
        let first = clique.iter().copied().min().filter(|&first| (first as usize) < self.waiting.len())?;
        self.waiting[first as usize].push(clique);
        Some(first)
    }

    /// Eliminates the `i`-th of the last vertices, `v` in `whole`, and returns how many later neighbours it has.
    fn eliminate(&mut self, i: u32, v: VertexId) -> u32 {
        let mut clique = Vec::new();
        self.stamp += 1;
        self.put_neighbors(v, i + 1, &mut clique);
        for joined in std::mem::take(&mut self.waiting[i as usize]) {
            joined.into_iter().filter(|&member| member > i).for_each(|member| self.put(member, &mut clique));
        }
        let later = clique.len() as u32;
        self.heights[i as usize] += 1;
        if let Some(parent) = self.wait(clique) {
            self.heights[parent as usize] = self.heights[parent as usize].max(self.heights[i as usize]);
        }
        later
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Unit;
    use crate::testing::{Random, graphs_of_every_shape};

    /// The later neighbours of all vertices in this order, by an elimination of each after the other.
    fn eliminated(pattern: &Pattern, order: &[VertexId]) -> Vec<Vec<VertexId>> {
        let count = pattern.vertices();
        let mut joined: Vec<Vec<bool>> = vec![vec![false; count]; count];
        (0..count as VertexId)
            .for_each(|v| pattern.neighbors(v).iter().for_each(|&u| joined[v as usize][u as usize] = true));
        let mut is_gone = vec![false; count];
        let mut later = Vec::new();
        for &v in order {
            is_gone[v as usize] = true;
            let row: Vec<VertexId> =
                (0..count as VertexId).filter(|&u| joined[v as usize][u as usize] && !is_gone[u as usize]).collect();
            for (&a, &b) in row.iter().flat_map(|a| row.iter().map(move |b| (a, b))) {
                joined[a as usize][b as usize] = true;
            }
            later.push(row);
        }
        later
    }

    #[test]
    fn columns_are_those_of_an_elimination() {
        let mut random = Random(91);
        for (name, graph) in graphs_of_every_shape::<Unit>(91) {
            let whole = Pattern::new(&graph).unwrap();
            let count = whole.vertices();
            if count > 150 {
                continue;
            }
            // A part of the graph, whose last vertices come in any order, and then the vertices around it.
            let names: Vec<VertexId> = (0..count as VertexId).filter(|_| random.below(4) > 0).collect();
            let part = whole.part(&names, &mut vec![u32::MAX; count]);
            let mut order: Vec<VertexId> = (0..names.len() as VertexId).collect();
            (1..order.len()).rev().for_each(|end| order.swap(end, random.below(end as u64 + 1) as usize));
            let (before, last) = order.split_at(random.below(order.len() as u64 + 1) as usize);
            let mut place = vec![u32::MAX; count];
            let found = columns(&whole, &part, &names, last, &mut place).unwrap();
            let named: Vec<VertexId> = order.iter().map(|&v| names[v as usize]).collect();
            let later = eliminated(&whole, &named);
            let lengths: Vec<u32> = later[before.len()..].iter().map(|row| row.len() as u32).collect();
            assert_eq!(found.lengths, lengths, "{name}");
            // The first later neighbour is the parent in the tree.
            let mut heights = vec![0; order.len()];
            for (i, row) in later.iter().enumerate().skip(before.len()) {
                heights[i] += 1;
                if let Some(parent) = named.iter().position(|v| row.contains(v)) {
                    heights[parent] = heights[parent].max(heights[i]);
                }
            }
            assert_eq!(found.height, heights.into_iter().max().unwrap_or(0), "{name}");
            assert!(place.iter().all(|&place| place == u32::MAX), "{name}");
        }
    }
}
