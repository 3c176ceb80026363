//! Breadth-first search from one source, with counts of paths, and back.

use super::counts::Counted;
use super::{BETWEEN_CHECKS, Found, Search};
use crate::graph::{Csr, VertexId};
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
    /// The level of the next source. Vertices of lower levels were reached in an earlier search, which spares clearing them.
    base: u32,
}

impl<'a, C: Counted> ByLevels<'a, C> {
    /// The bytes that it takes for a vertex.
    pub(super) const BYTES: u64 = (size_of::<Vertex<C>>() + size_of::<VertexId>()) as u64;

    const NEVER_REACHED: Vertex<C> = Vertex { value: C::ZERO, level: 0 };

    pub(super) fn new(graph: &'a Csr) -> Result<Self> {
        let count = graph.vertices();
        let vertices = memory::filled("the counts of paths", count, Self::NEVER_REACHED)?;
        let order = memory::with_capacity("the order of vertices", count)?;
        Ok(ByLevels { graph, vertices, order, base: 1 })
    }
}

impl<C: Counted> Search for ByLevels<'_, C> {
    fn run(&mut self, source: VertexId, found: &mut Found<'_>, control: &Control) -> Result<bool> {
        let ByLevels { graph, vertices, order, base } = self;
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
            for &v in graph.neighbors(u) {
                let there = &mut vertices[v as usize];
                if there.level < *base {
                    *there = Vertex { value, level: level + 1 };
                    order.push(v);
                } else if there.level == level + 1 {
                    there.value = there.value.plus(value);
                }
            }
        }
        let mut reached = 0.0;
        for (walked, &u) in order.iter().rev().enumerate() {
            if walked.is_multiple_of(BETWEEN_CHECKS) {
                control.check()?;
            }
            let Vertex { value, level } = vertices[u as usize];
            let mut sum = C::ZERO;
            // Nothing is below the deepest level.
            if level < deepest {
                for arc in graph.row(u) {
                    let there = vertices[graph.targets()[arc] as usize];
                    if there.level == level + 1 {
                        sum = sum.plus(there.value);
                        if let Some(arcs) = &mut found.arcs {
                            arcs.add(arc, value.times(there.value).to_f64());
                        }
                    }
                }
            }
            let dependency = value.times(sum).to_f64();
            let is_target = found.is_target(u);
            vertices[u as usize].value = C::from_f64(is_target + dependency).over(value);
            reached += is_target;
            found.add(u, source, if u == source { reached - is_target } else { dependency });
        }
        *base = deepest + 2;
        Ok(true)
    }
}
