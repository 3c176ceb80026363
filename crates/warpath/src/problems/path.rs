//! A path from a source to a target.

use crate::graph::{Distance, DistanceValue, Graph, MinPlus, VertexId, with_min_plus};
use crate::{Error, Result, memory};

/// A shortest path: its vertices from source to target, and its length.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    vertices: Vec<VertexId>,
    length: Distance,
}

/// A vertex of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathStep {
    /// The vertex.
    pub vertex: VertexId,
    /// The length of the path up to here.
    pub distance: Distance,
    /// The weight of the edge that leads here; `None` for the first vertex.
    pub weight: Option<Distance>,
}

impl Path {
    /// A path over at least one vertex.
    pub(crate) fn new(vertices: Vec<VertexId>, length: Distance) -> Self {
        debug_assert!(!vertices.is_empty());
        Path { vertices, length }
    }

    /// The sum of the path's weights, or its number of edges after a breadth-first search.
    pub fn length(&self) -> Distance {
        self.length
    }

    /// Its vertices, source and target included.
    pub fn vertices(&self) -> &[VertexId] {
        &self.vertices
    }

    /// Its edges, from the source on.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = (VertexId, VertexId)> + '_ {
        self.vertices.windows(2).map(|pair| (pair[0], pair[1]))
    }

    /// Its vertices with the distance up to each and the weight of the edge to it, by the weights of this graph. Of
    /// parallel edges the lightest counts. O(degrees of the path's vertices).
    ///
    /// ```
    /// let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
    /// let path = warpath::Solver::new(graph.clone())?.path(0, 2)?.expect("2 is reachable");
    /// let steps = path.steps(&graph)?;
    /// assert_eq!(steps.iter().map(|step| step.distance.to_f64()).collect::<Vec<_>>(), [0.0, 5.0, 12.0]);
    /// assert_eq!(steps[2].weight.unwrap().to_f64(), 7.0);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if the graph lacks an edge of the path, and [`Error::OutOfMemory`].
    pub fn steps(&self, graph: &Graph) -> Result<Vec<PathStep>> {
        with_min_plus!(graph.weight_kind(), true, S => self.steps_in::<S>(graph))
    }

    fn steps_in<L: MinPlus>(&self, graph: &Graph) -> Result<Vec<PathStep>> {
        graph.check_vertices(&self.vertices, "vertex of the path")?;
        let adjacency = graph.csr().adjacency::<L::Weight>();
        let adjacency = adjacency.ok_or_else(|| Error::invalid("the graph has weights of another type"))?;
        let mut steps = memory::with_capacity("the steps of a path", self.vertices.len())?;
        let finite = |distance: L::Distance| distance.distance().ok_or(Error::DistanceOverflow { semiring: L::NAME });
        let mut distance = L::Distance::ZERO;
        steps.push(PathStep { vertex: self.vertices[0], distance: finite(distance)?, weight: None });
        for (u, v) in self.edges() {
            let weights = adjacency.edges(u).filter(|&(head, _)| head == v).map(|(_, weight)| weight);
            let lightest = weights.reduce(|a, b| if b < a { b } else { a });
            let weight = lightest.ok_or_else(|| {
                Error::invalid(format!("the graph has no edge from {} to {}", graph.name(u), graph.name(v)))
            })?;
            distance = L::extend(distance, weight);
            let weight = finite(L::extend(L::Distance::ZERO, weight))?;
            steps.push(PathStep { vertex: v, distance: finite(distance)?, weight: Some(weight) });
        }
        Ok(steps)
    }
}
