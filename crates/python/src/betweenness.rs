//! Betweenness centrality.

use std::sync::Arc;

use numpy::IntoPyArray;
use pyo3::prelude::*;
use warpath::VertexId;
use warpath::problems::VertexBetweenness;

/// How many shortest paths lead through each vertex.
#[pyclass(frozen, module = "warpath")]
pub(crate) struct Betweenness {
    graph: Arc<warpath::Graph>,
    found: VertexBetweenness,
}

impl Betweenness {
    pub(crate) fn new(graph: Arc<warpath::Graph>, found: VertexBetweenness) -> Self {
        Betweenness { graph, found }
    }
}

#[pymethods]
impl Betweenness {
    /// The betweenness of each vertex, `float64`, as igraph and NetworkX have it without normalization: in an undirected graph each
    /// pair of source and target counts once. Estimates, if the sources are a sample.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.found.scores().into_pyarray(py).into_any()
    }

    /// The share of all pairs of other vertices whose shortest paths lead through each vertex, `float64`, from 0 to 1. Estimates, if the
    /// sources are a sample.
    #[getter]
    fn normalized<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.found.normalized().into_pyarray(py).into_any()
    }

    /// The sum over the pairs that were counted, by vertex, `float64`: in an undirected graph each pair counts both ways; a sample is
    /// not scaled up.
    #[getter]
    fn dependencies<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.found.dependencies().to_vec().into_pyarray(py).into_any()
    }

    /// The betweenness of each edge, if it was asked for: arrays of tails, heads (`uint32`) and scores (`float64`); an undirected edge is
    /// there once.
    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.found.arcs().is_none() {
            return Ok(py.None().into_bound(py));
        }
        let edges = self.found.edges(&self.graph);
        let ends = |end: fn(&(VertexId, VertexId, f64)) -> VertexId| edges.iter().map(end).collect::<Vec<_>>();
        let scores: Vec<f64> = edges.iter().map(|&(_, _, score)| score).collect();
        let (tails, heads) = (ends(|edge| edge.0), ends(|edge| edge.1));
        let arrays = (tails.into_pyarray(py), heads.into_pyarray(py), scores.into_pyarray(py));
        Ok(arrays.into_pyobject(py)?.into_any())
    }

    /// The vertices where the counted paths start.
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.found.sources().to_vec().into_pyarray(py).into_any()
    }

    /// How far `normalized` is from the exact betweenness of any vertex at most, with a probability of 95 %; 0 unless the sources are
    /// a sample.
    #[getter]
    fn error(&self) -> f64 {
        self.found.error()
    }

    fn __repr__(&self) -> String {
        let (vertices, sources) = (self.found.dependencies().len(), self.found.sources().len());
        format!("<warpath.Betweenness: {vertices} vertices, by paths from {sources}>")
    }
}
