//! The intermediate vertices of all pairs, and the paths that they give.

use std::collections::{HashMap, HashSet};

use crate::graph::{NO_VERTEX, VertexId};
use crate::{Error, Result, memory};

/// For every pair of vertices, the vertex over which Floyd and Warshall's algorithm last shortened the path between
/// them.
///
/// A path from `a` to `b` over `k` is the path from `a` to `k` and then the path from `k` to `b`. A pair without such a
/// vertex is an arc, or one vertex twice. Katz and Kider 2008, sect. 4.3.
///
/// ```no_run
/// use warpath::{Apsp, Engine, Graph, Solver};
/// let graph = Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
/// let solver = Solver::builder(graph).engine(Engine::Cuda(vec![0])).open()?;
/// let matrix = solver.solve(Apsp::all().algorithm("katz-kider").with_intermediates())?;
/// assert_eq!(matrix.found_intermediates().unwrap().get(0, 2), Some(1));
/// assert_eq!(matrix.path_over_intermediates(0, 2)?.unwrap().vertices(), [0, 1, 2]);
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// # Why gathering a path ends
///
/// A cell is written only where its distance becomes less, and both of its words are written at once. Let `s` be the
/// last distance written to the cell of `a` and `b`, and `k` the vertex: `s` was the sum of what the cells of `a, k` and
/// `k, b` had then. In exact arithmetic `s` is the shortest distance from `a` to `b`, so both summands were shortest
/// distances, too. Hence these two cells never became less afterwards: they still have the vertices that they had then,
/// and were last written before the cell of `a` and `b` was. So the time of the last write falls from each pair to its
/// parts. Neither weights of 0 nor the order of blocks and pages matter.
///
/// Floats are rounded, and a part may become less later. With weights of 0 or more, each part is at most as long as the
/// whole, as rounded sums are; and where a part is as long as the whole, it was last written earlier, as above. So the
/// pair of distance and time falls. With floats below 0 nothing is certain. In any case, no pair is taken apart twice.
///
/// # Cycles of length 0
///
/// The blocks of a stage admit vertices together, so two vertices on a cycle of length 0 may both be on the way to each
/// other, and a vertex may appear twice on the gathered way. Every arc on that way is on a shortest path. So the shortest
/// chain of these arcs is a shortest path; where no vertex appears twice, it is the gathered way itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intermediates {
    vertices: usize,
    /// Row by row, [`NO_VERTEX`] where there is none.
    over: Vec<VertexId>,
}

impl Intermediates {
    /// The vertices of all pairs, row by row.
    pub(crate) fn new(over: Vec<VertexId>, vertices: usize) -> Self {
        Intermediates { vertices, over }
    }

    /// The vertex that the path from one vertex to another was last shortened over; `None` if there was none.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    pub fn get(&self, from: VertexId, to: VertexId) -> Option<VertexId> {
        assert!((to as usize) < self.vertices, "vertex {to} of {}", self.vertices);
        Some(self.over[from as usize * self.vertices + to as usize]).filter(|&over| over != NO_VERTEX)
    }

    /// The vertices of the path from one vertex to another that has a path to it.
    ///
    /// # Errors
    ///
    /// If the intermediate vertices are not those of one matrix, or if memory is refused.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    pub fn path(&self, from: VertexId, to: VertexId) -> Result<Vec<VertexId>> {
        let (mut arcs, mut seen) = (Vec::new(), HashSet::new());
        let mut stack = vec![(from, to)];
        while let Some((a, b)) = stack.pop() {
            if a == b || !seen.insert((a, b)) {
                continue;
            }
            match self.get(a, b) {
                None => {
                    memory::grow("the arcs of a path", &mut arcs, 1)?;
                    arcs.push((a, b));
                }
                Some(over) if (over as usize) < self.vertices => {
                    memory::grow("the parts of a path", &mut stack, 2)?;
                    stack.extend([(over, b), (a, over)]);
                }
                Some(over) => return Err(Error::NotVerified(format!("there is no intermediate vertex {over}"))),
            }
        }
        chain(arcs, from, to)
    }
}

/// The shortest chain of these arcs from one vertex to another.
fn chain(mut arcs: Vec<(VertexId, VertexId)>, from: VertexId, to: VertexId) -> Result<Vec<VertexId>> {
    arcs.sort_unstable();
    let mut before = HashMap::from([(from, NO_VERTEX)]);
    let mut queue = vec![from];
    let mut next = 0;
    while let Some(&vertex) = queue.get(next).filter(|_| !before.contains_key(&to)) {
        let first = arcs.partition_point(|&(tail, _)| tail < vertex);
        for &(tail, head) in arcs[first..].iter().take_while(|(tail, _)| *tail == vertex) {
            before.entry(head).or_insert_with(|| {
                queue.push(head);
                tail
            });
        }
        next += 1;
    }
    let mut path = vec![to];
    let mut at = to;
    while let Some(&vertex) = before.get(&at) {
        if vertex == NO_VERTEX {
            path.reverse();
            return Ok(path);
        }
        path.push(vertex);
        at = vertex;
    }
    Err(Error::NotVerified(format!("the intermediate vertices give no path from {from} to {to}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: VertexId = NO_VERTEX;

    #[test]
    fn paths_are_gathered_from_their_parts() {
        // 0 -> 1 -> 2 -> 3, shortened over 1, then over 2.
        let over = [[NONE, NONE, 1, 2], [NONE, NONE, NONE, 2], [NONE; 4], [NONE; 4]].concat();
        let intermediates = Intermediates::new(over, 4);
        assert_eq!(intermediates.get(0, 3), Some(2));
        assert_eq!(intermediates.path(0, 3).unwrap(), [0, 1, 2, 3]);
        assert_eq!(intermediates.path(1, 3).unwrap(), [1, 2, 3]);
        assert_eq!(intermediates.path(0, 1).unwrap(), [0, 1]);
        assert_eq!(intermediates.path(2, 2).unwrap(), [2]);
    }

    #[test]
    fn a_vertex_on_a_cycle_of_length_zero_comes_once() {
        // From 0 to 3 over 1; both parts go over 2.
        let over = [[NONE, 2, NONE, 1], [NONE, NONE, NONE, 2], [NONE; 4], [NONE; 4]].concat();
        assert_eq!(Intermediates::new(over, 4).path(0, 3).unwrap(), [0, 2, 3]);
    }

    #[test]
    fn what_is_no_path_is_an_error_and_ends() {
        for over in [
            [[NONE, 1, 1], [2, NONE, 0], [NONE, 0, NONE]].concat(),
            [[NONE, NONE, 7], [NONE; 3], [NONE; 3]].concat(),
            [[1, 2, 1], [2, 0, 0], [1, 0, 1]].concat(),
        ] {
            let intermediates = Intermediates::new(over, 3);
            assert!(matches!(intermediates.path(0, 2), Err(Error::NotVerified(_))), "{intermediates:?}");
        }
    }
}
