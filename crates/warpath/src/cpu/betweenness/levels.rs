//! Breadth-first search from one source, with counts of paths, and back.
//!
//! On the way out a bit for each arc notes whether it is tight. The way back looks at the heads of tight arcs alone: whether an arc is
//! tight can't be predicted, and a branch on it would cost more than the rest.

use super::counts::Counted;
use super::{BETWEEN_CHECKS, Found, Search};
use crate::graph::{Csr, VertexId};
use crate::problems::BETWEENNESS_SEGMENT;
use crate::{Control, Result, memory};

/// What a search knows of a vertex, in one place: each arc asks for both.
#[derive(Debug, Clone, Copy)]
struct Vertex<C> {
    /// On the way out the number of shortest paths, on the way back c(v).
    value: C,
    level: u32,
}

/// A search that is run again and again.
pub(super) struct ByLevels<'a, C> {
    graph: &'a Csr,
    vertices: Vec<Vertex<C>>,
    /// Vertices in the order in which they were reached.
    order: Vec<VertexId>,
    /// The bits of tight arcs, by arc. Those of a row hold once its tail was reached.
    tight: Vec<u64>,
    /// The level of the next source. Vertices of lower levels were reached in an earlier search, which spares clearing them.
    base: u32,
}

impl<'a, C: Counted> ByLevels<'a, C> {
    const NEVER_REACHED: Vertex<C> = Vertex { value: C::ZERO, level: 0 };

    /// The bytes that it takes.
    pub(super) fn bytes(graph: &Csr) -> u64 {
        let for_a_vertex = (size_of::<Vertex<C>>() + size_of::<VertexId>()) as u64;
        graph.vertices() as u64 * for_a_vertex + 8 * (graph.arcs() as u64).div_ceil(64)
    }

    pub(super) fn new(graph: &'a Csr) -> Result<Self> {
        let count = graph.vertices();
        let vertices = memory::filled("the counts of paths", count, Self::NEVER_REACHED)?;
        let order = memory::with_capacity("the order of vertices", count)?;
        let tight = memory::zeroed("the bits of arcs", graph.arcs().div_ceil(64))?;
        Ok(ByLevels { graph, vertices, order, tight, base: 1 })
    }
}

/// A row in parts that have their bits in one word each: the word, the mask of the part's bits there, and its first arc, which has the
/// lowest of them.
fn words_of_row(row: std::ops::Range<usize>) -> impl Iterator<Item = (usize, u64, std::ops::Range<usize>)> {
    let end = if row.is_empty() { 0 } else { row.end.div_ceil(64) };
    (row.start / 64..end).map(move |word| {
        let arcs = row.start.max(64 * word)..row.end.min(64 * word + 64);
        let mask = u64::MAX >> (64 - arcs.len()) << (arcs.start % 64);
        (word, mask, arcs)
    })
}

impl<C: Counted> Search for ByLevels<'_, C> {
    fn run(&mut self, source: VertexId, found: &mut Found<'_>, control: &Control) -> Result<bool> {
        let ByLevels { graph, vertices, order, tight, base } = self;
        let heads = graph.targets();
        // No search has more levels than there are vertices, and one level stays unused between two searches.
        if u64::from(*base) + vertices.len() as u64 >= u64::from(u32::MAX) {
            vertices.fill(Self::NEVER_REACHED);
            *base = 1;
        }
        order.clear();
        order.push(source);
        vertices[source as usize] = Vertex { value: C::ONE, level: *base };
        let mut next = 0;
        let mut deepest = *base;
        while let Some(&u) = order.get(next) {
            next += 1;
            if next.is_multiple_of(BETWEEN_CHECKS) {
                control.check()?;
            }
            let Vertex { value, level } = vertices[u as usize];
            if !value.is_in_range() {
                *base = level + 2;
                return Ok(false);
            }
            deepest = level;
            for (word, mask, arcs) in words_of_row(graph.row(u)) {
                let (first, mut bits) = (arcs.start % 64, 0);
                for (place, &v) in heads[arcs].iter().enumerate() {
                    let there = &mut vertices[v as usize];
                    if there.level < *base {
                        *there = Vertex { value, level: level + 1 };
                        order.push(v);
                        bits |= 1 << place;
                    } else if there.level == level + 1 {
                        there.value = there.value.plus(value);
                        bits |= 1 << place;
                    }
                }
                tight[word] = tight[word] & !mask | bits << first;
            }
        }
        let mut reached = 0.0;
        for (walked, &u) in order.iter().rev().enumerate() {
            if walked.is_multiple_of(BETWEEN_CHECKS) {
                control.check()?;
            }
            let Vertex { value, level } = vertices[u as usize];
            let (mut sum, mut piece) = (C::ZERO, C::ZERO);
            // Nothing is below the deepest level.
            let row = if level < deepest { graph.row(u) } else { 0..0 };
            for (word, mask, _) in words_of_row(row) {
                if word.is_multiple_of(BETWEENNESS_SEGMENT / 64) {
                    sum = sum.plus(std::mem::replace(&mut piece, C::ZERO));
                }
                let mut bits = tight[word] & mask;
                while bits != 0 {
                    let arc = 64 * word + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    let there = vertices[heads[arc] as usize].value;
                    piece = piece.plus(there);
                    if let Some(arcs) = &mut found.arcs {
                        arcs.add(arc, value.times(there).to_f64());
                    }
                }
            }
            let dependency = value.times(sum.plus(piece)).to_f64();
            let is_target = found.is_target(u);
            vertices[u as usize].value = C::from_f64(is_target + dependency).over(value);
            reached += is_target;
            found.add(u, source, if u == source { reached - is_target } else { dependency });
        }
        *base = deepest + 2;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cut_where_words_end() {
        for row in [0..0, 70..70, 64..64, 0..1, 63..64, 63..65, 5..200, 64..128] {
            let parts: Vec<_> = words_of_row(row.clone()).collect();
            let arcs: Vec<usize> = parts.iter().flat_map(|(_, _, arcs)| arcs.clone()).collect();
            assert!(arcs.iter().copied().eq(row.clone()), "{row:?}");
            for (word, mask, arcs) in parts {
                let bits = arcs.fold(0_u64, |bits, arc| bits | 1 << (arc - 64 * word));
                assert!(mask == bits && bits != 0, "{row:?}");
            }
        }
    }
}
