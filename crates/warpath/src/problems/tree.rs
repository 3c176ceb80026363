//! The result of a search: distances, predecessors, paths.

use std::sync::OnceLock;

use super::facts::{DistanceSum, Facts, RowFacts};
use super::{Path, PathCounts, Problem, Report, verify_path_counts, verify_search};
use crate::graph::{
    Adjacency, Distance, DistanceValue, Distances, Graph, MinPlus, NO_VERTEX, UnitToU32, VertexId, with_distances,
    with_min_plus,
};
use crate::{Error, Result, memory};

/// Distances from the nearest source to every vertex, and the tree of predecessors unless the request left it out.
#[derive(Debug, Clone)]
pub struct ShortestPathTree {
    pub(crate) problem: Problem,
    pub(crate) sources: Vec<VertexId>,
    pub(crate) distances: Distances,
    pub(crate) predecessors: Option<Vec<VertexId>>,
    pub(crate) path_counts: Option<PathCounts>,
    /// No vertex beyond this distance is reported; `None` if all reachable vertices are.
    pub(crate) bound: Option<Distance>,
    pub(crate) report: Report,
    /// Facts about the distances, computed on first use.
    pub(crate) facts: OnceLock<RowFacts>,
}

impl ShortestPathTree {
    /// The problem solved: breadth-first search or single-source shortest paths.
    pub fn problem(&self) -> Problem {
        self.problem
    }

    /// The sources.
    pub fn sources(&self) -> &[VertexId] {
        &self.sources
    }

    /// The distance of `v`; `None` if `v` was not reached, or lies beyond the cutoff or the farthest target.
    ///
    /// # Panics
    ///
    /// If `v` is not a vertex of the graph.
    pub fn distance(&self, v: VertexId) -> Option<Distance> {
        self.distances.get(v as usize)
    }

    /// All distances, by vertex.
    pub fn distances(&self) -> &Distances {
        &self.distances
    }

    /// The predecessor of `v` on its path; `None` for sources (except a source that negative weights make nearer from
    /// another), for unreached vertices, or if predecessors were left out.
    ///
    /// # Panics
    ///
    /// If `v` is not a vertex of the graph.
    pub fn predecessor(&self, v: VertexId) -> Option<VertexId> {
        self.predecessors.as_ref().map(|all| all[v as usize]).filter(|&predecessor| predecessor != NO_VERTEX)
    }

    /// All predecessors by vertex, [`NO_VERTEX`] where there is none; `None` if they were left out.
    pub fn predecessors(&self) -> Option<&[VertexId]> {
        self.predecessors.as_deref()
    }

    /// The number of shortest paths to each vertex, if the request asked for it.
    pub fn path_counts(&self) -> Option<&PathCounts> {
        self.path_counts.as_ref()
    }

    /// How the result was made.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The path to `target`; `None` if `target` was not reached, or if predecessors were left out of the request.
    /// O(length).
    ///
    /// # Panics
    ///
    /// If `target` is not a vertex of the graph.
    pub fn path_to(&self, target: VertexId) -> Option<Path> {
        let predecessors = self.predecessors.as_ref()?;
        let length = self.distance(target)?;
        let mut vertices = vec![target];
        let mut at = target;
        while predecessors[at as usize] != NO_VERTEX {
            at = predecessors[at as usize];
            vertices.push(at);
        }
        vertices.reverse();
        Some(Path::new(vertices, length))
    }

    /// For each vertex the source that its path starts from, which is a nearest one; [`NO_VERTEX`] for vertices that
    /// were not reached. `None` if predecessors were left out of the request. O(V).
    ///
    /// ```
    /// use warpath::{Bfs, Graph, Solver, graph::NO_VERTEX};
    /// let graph = Graph::from_edges([(0, 1), (1, 2), (4, 3), (3, 2), (5, 4)])?;
    /// let tree = Solver::new(graph)?.solve(Bfs::from([0, 3]))?;
    /// assert_eq!(tree.nearest_sources()?, Some(vec![0, 0, 3, 3, NO_VERTEX, NO_VERTEX]));
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if there is no memory for the array.
    pub fn nearest_sources(&self) -> Result<Option<Vec<VertexId>>> {
        let Some(predecessors) = self.predecessors.as_deref() else { return Ok(None) };
        let mut sources = memory::filled("the nearest sources", predecessors.len(), NO_VERTEX)?;
        for (v, &predecessor) in (0..).zip(predecessors) {
            if predecessor == NO_VERTEX && self.distance(v).is_some() {
                sources[v as usize] = v;
            }
        }
        for v in 0..predecessors.len() {
            // Up to a vertex whose source is known, and down again; whoever has a predecessor has a source.
            let mut known = v;
            while sources[known] == NO_VERTEX && predecessors[known] != NO_VERTEX {
                known = predecessors[known] as usize;
            }
            let source = sources[known];
            let mut at = v;
            while at != known {
                sources[at] = source;
                at = predecessors[at] as usize;
            }
        }
        Ok(Some(sources))
    }

    /// How many vertices were reached, sources included. The first call of this method, [`Self::max_distance`] or
    /// [`Self::distance_sum`] takes O(V).
    pub fn reached(&self) -> u64 {
        self.facts().reached
    }

    /// The greatest finite distance; `None` if nothing was reached.
    pub fn max_distance(&self) -> Option<Distance> {
        self.facts().greatest
    }

    /// The sum of all finite distances: exact for integers; floats are added in an order that depends on the number of
    /// vertices alone.
    pub fn distance_sum(&self) -> DistanceSum {
        self.facts().sum
    }

    fn facts(&self) -> &RowFacts {
        self.facts.get_or_init(|| with_distances!(&self.distances, values => Facts::facts(values)))
    }

    /// Checks the certificate of this result against the graph, in O(V + E), without knowing how it was made: sources
    /// are at 0, no arc can be relaxed, every distance is the length of a walk, predecessors are tight and form a tree,
    /// and recounting gives the same path counts.
    ///
    /// # Errors
    ///
    /// [`Error::NotVerified`] with the first thing found wrong.
    pub fn verify(&self, graph: &Graph) -> Result<()> {
        if self.problem == Problem::Bfs {
            let unweighted = graph.csr().unweighted();
            self.verify_in::<UnitToU32>(unweighted)?;
            return match (&self.path_counts, &self.distances) {
                (Some(counts), Distances::U32(levels)) => verify_path_counts(unweighted, levels, counts),
                _ => Ok(()),
            };
        }
        let wide = matches!(self.distances, Distances::U64(_));
        with_min_plus!(graph.weight_kind(), wide, S => match graph.csr().adjacency::<<S as MinPlus>::Weight>() {
            Some(adjacency) => self.verify_in::<S>(adjacency),
            None => Err(Error::NotVerified("the graph has other weights".into())),
        })
    }

    fn verify_in<L: MinPlus>(&self, graph: Adjacency<'_, L::Weight>) -> Result<()> {
        let Some(distances) = L::Distance::of(&self.distances) else {
            return Err(Error::NotVerified("the distances have a type that the graph's weights do not give".into()));
        };
        let bound = match self.bound {
            None => L::Distance::UNREACHABLE,
            Some(Distance::Unsigned(value)) => L::Distance::at_most_integer(value),
            Some(Distance::Signed(value)) => L::Distance::at_most_integer(value.max(0) as u64),
            Some(Distance::Single(value)) => L::Distance::at_most_float(value.into()),
            Some(Distance::Double(value)) => L::Distance::at_most_float(value),
        };
        verify_search::<L>(graph, &self.sources, distances, self.predecessors.as_deref(), bound)
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::{NO_VERTEX, VertexId};
    use crate::testing::graphs_of_every_shape;
    use crate::{Solver, Sssp};

    /// The nearest source of a vertex is one from which a search alone finds the same distance.
    #[test]
    fn nearest_sources_are_as_near_as_the_search_says() {
        for (name, graph) in graphs_of_every_shape::<u32>(7) {
            let last = graph.vertices() as VertexId - 1;
            let sources = [0, last / 3, last];
            let solver = Solver::new(graph).unwrap();
            let alone = sources.map(|source| solver.sssp(source).unwrap());
            let tree = solver.solve(Sssp::from(sources)).unwrap();
            let nearest = tree.nearest_sources().unwrap().unwrap();
            for v in 0..=last {
                let found = nearest[v as usize];
                let place = sources.iter().position(|&source| source == found);
                assert_eq!(place.is_none(), found == NO_VERTEX, "{name}: {v}");
                let distance = place.and_then(|place| alone[place].distance(v));
                assert_eq!(distance, tree.distance(v), "{name}: {v}");
                let path = tree.path_to(v).map_or(NO_VERTEX, |path| path.vertices()[0]);
                assert_eq!(path, found, "{name}: {v}");
            }
            let without = solver.solve(Sssp::from(sources).distances_only()).unwrap();
            assert_eq!(without.nearest_sources().unwrap(), None);
        }
    }
}
