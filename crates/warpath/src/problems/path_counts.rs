//! The number of shortest paths to every vertex, from final levels.
//!
//! A shortest path to `v` is a shortest path to a neighbour one level above, and an arc from there. So each arc from
//! such a neighbour adds the neighbour's count, and parallel arcs count apart. Sums saturate at 64 bits, and a count of
//! 2^64 - 1 is taken as saturated. No count is negative, so the order of addition does not change the result.
//!
//! Counting goes level by level and pulls along in-arcs, so that each thread writes only its own counts; work O(V + E),
//! span O(levels). Checking goes the other way: one thread pushes along out-arcs, vertices in order of their level.
//!
//! Source: Brandes 2001, "A faster algorithm for betweenness centrality", lemma 3.

use rayon::prelude::*;

use crate::graph::{Adjacency, Csr, Unit, VertexId};
use crate::{Error, Result, memory};

const UNREACHED: u32 = u32::MAX;

/// The number of shortest paths to each vertex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathCounts {
    /// The count of each vertex, 0 where unreachable. `u64::MAX` stands for itself and for every count that 64 bits do
    /// not hold.
    pub counts: Vec<u64>,
    /// Whether any count is `u64::MAX`.
    pub saturated: bool,
}

impl PathCounts {
    /// The number of vertices whose count is `u64::MAX`: so many paths lead there, or more. O(V).
    pub fn saturated_vertices(&self) -> u64 {
        if self.saturated { self.counts.iter().filter(|&&count| count == u64::MAX).count() as u64 } else { 0 }
    }

    /// The greatest count; 0 for a graph without vertices. O(V).
    pub fn greatest(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }
}

/// Counts the shortest paths to every vertex that has a level; `transpose` holds the arcs by head.
///
/// # Errors
///
/// If there is no memory for the counts.
pub(crate) fn count_shortest_paths(transpose: &Csr, levels: &[u32]) -> Result<PathCounts> {
    /// A level with fewer vertices is not worth sharing among threads.
    const SHARED_FROM: usize = 2048;
    let mut counts: Vec<u64> = memory::zeroed("the counts of paths", levels.len())?;
    let count = |counts: &[u64], v: VertexId| {
        let level = levels[v as usize];
        let above = transpose.neighbors(v).iter().filter(|&&u| level > 0 && levels[u as usize] == level - 1);
        above.fold(u64::from(level == 0), |sum, &u| sum.saturating_add(counts[u as usize]))
    };
    let mut of_level = memory::with_capacity("the counts of paths", levels.len())?;
    for vertices in by_level(levels)?.each() {
        if vertices.len() < SHARED_FROM {
            vertices.iter().for_each(|&v| counts[v as usize] = count(&counts, v));
        } else {
            vertices.par_iter().with_min_len(256).map(|&v| count(&counts, v)).collect_into_vec(&mut of_level);
            vertices.iter().zip(&of_level).for_each(|(&v, &sum)| counts[v as usize] = sum);
        }
    }
    Ok(PathCounts { saturated: counts.contains(&u64::MAX), counts })
}

/// Counts again, and compares.
pub(crate) fn verify_path_counts(graph: Adjacency<'_, Unit>, levels: &[u32], claimed: &PathCounts) -> Result<()> {
    let mut counts = memory::listed("the counts of paths", levels.iter().map(|&level| u64::from(level == 0)))?;
    for &u in &by_level(levels)?.vertices {
        for &v in graph.neighbors(u) {
            if levels[v as usize] != UNREACHED && levels[v as usize] == levels[u as usize] + 1 {
                counts[v as usize] = counts[v as usize].saturating_add(counts[u as usize]);
            }
        }
    }
    if claimed.counts.len() != counts.len() {
        return Err(Error::NotVerified("the path counts are for a graph with another number of vertices".into()));
    }
    if let Some(v) = (0..counts.len()).find(|&v| counts[v] != claimed.counts[v]) {
        let (counted, claimed) = (counts[v], claimed.counts[v]);
        return Err(Error::NotVerified(format!(
            "{claimed} shortest paths to vertex {v} are claimed, but {counted} exist"
        )));
    }
    if claimed.saturated != counts.contains(&u64::MAX) {
        return Err(Error::NotVerified("the path counts are wrongly said to fit into 64 bits, or not to".into()));
    }
    Ok(())
}

/// The vertices that have a level, level after level.
struct ByLevel {
    vertices: Vec<VertexId>,
    /// Where each level begins in `vertices`, and where the last one ends.
    starts: Vec<usize>,
}

impl ByLevel {
    fn each(&self) -> impl Iterator<Item = &[VertexId]> {
        self.starts.windows(2).map(|pair| &self.vertices[pair[0]..pair[1]])
    }
}

fn by_level(levels: &[u32]) -> Result<ByLevel> {
    let reached = || (0..).zip(levels).filter(|&(_, &level)| level != UNREACHED);
    let depth = reached().map(|(_, &level)| level as usize + 1).max().unwrap_or(0);
    let mut starts: Vec<usize> = memory::zeroed("the offsets of levels", depth + 1)?;
    reached().for_each(|(_, &level)| starts[level as usize + 1] += 1);
    (0..depth).for_each(|level| starts[level + 1] += starts[level]);
    let mut cursors = memory::copied("the offsets of levels", &starts)?;
    let mut vertices = memory::zeroed("the list of vertices by level", starts[depth])?;
    for (v, &level) in reached() {
        vertices[cursors[level as usize]] = v;
        cursors[level as usize] += 1;
    }
    Ok(ByLevel { vertices, starts })
}

#[cfg(test)]
mod tests {

    use crate::graph::{GraphBuilder, ParallelEdges};
    use crate::{Bfs, Graph, Solver};

    #[test]
    fn a_diamond_chain_doubles_until_it_saturates() {
        // Vertices 3k, then 3k + 1 and 3k + 2 side by side, then 3k + 3.
        let chain =
            |links: u32| (0..links).flat_map(|k| [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(u, v)| (3 * k + u, 3 * k + v)));
        for (links, expected, saturated) in
            [(1, 2, false), (63, 1 << 63, false), (64, u64::MAX, true), (70, u64::MAX, true)]
        {
            let graph = Graph::from_edges(chain(links)).unwrap();
            let tree = Solver::new(graph.clone()).unwrap().solve(Bfs::from(0).count_paths()).unwrap();
            let counts = tree.path_counts().unwrap();
            assert_eq!((counts.counts[3 * links as usize], counts.saturated), (expected, saturated), "{links}");
            assert_eq!(counts.greatest(), expected);
            // The end of the 64th diamond, and three vertices of each diamond after it.
            assert_eq!(counts.saturated_vertices(), if saturated { 3 * u64::from(links - 64) + 1 } else { 0 });
            tree.verify(&graph).unwrap();
        }
    }

    #[test]
    fn parallel_arcs_count_apart() {
        let builder = GraphBuilder::new().parallel_edges(ParallelEdges::Keep);
        let graph = builder.build_from([(0, 1), (0, 1), (0, 1), (1, 2), (1, 2), (2, 2)]).unwrap();
        let tree = Solver::new(graph.clone()).unwrap().solve(Bfs::from(0).count_paths()).unwrap();
        assert_eq!(tree.path_counts().unwrap().counts, [1, 3, 6]);
    }

    #[test]
    fn wrong_counts_are_rejected() {
        let graph = Graph::from_edges([(0, 1), (0, 2), (1, 3), (2, 3)]).unwrap();
        let tree = Solver::new(graph.clone()).unwrap().solve(Bfs::from(0).count_paths()).unwrap();
        tree.verify(&graph).unwrap();
        for v in 0..4 {
            let mut wrong = tree.clone();
            wrong.path_counts.as_mut().unwrap().counts[v] += 1;
            assert!(wrong.verify(&graph).is_err(), "{v}");
        }
        let mut wrong = tree.clone();
        wrong.path_counts.as_mut().unwrap().saturated = true;
        assert!(wrong.verify(&graph).is_err());
        let mut wrong = tree;
        wrong.path_counts.as_mut().unwrap().counts.pop();
        assert!(wrong.verify(&graph).is_err());
    }
}
