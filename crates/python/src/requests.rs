//! What a graph is asked for.

use std::path::PathBuf;

use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use warpath::problems::{Closure, KShortestPaths, NpyWriter, Pairs, Reduction, RowReductions as Sink};
use warpath::resident::ResidentGraph;
use warpath::{Apsp, Bfs, Search, Sssp, VertexId};

use crate::arrays::vertices;
use crate::betweenness::Betweenness;
use crate::graph::{Graph, some_vertices};
use crate::paths::{Path, PathsOfPairs};
use crate::reductions::RowReductions;
use crate::results::{DistanceMatrix, Reachability, ShortestPathTree};

/// Sets what is asked for in a request: its method `$method` is called with the value of each option that there is.
macro_rules! with_options {
    ($request:expr $(, $method:ident($value:expr))*) => {{
        let request = $request;
        $(let request = match $value {
            Some(value) => request.$method(value),
            None => request,
        };)*
        request
    }};
}

pub(crate) use with_options;

/// What `apsp` and its kin ask for.
fn table_request(
    sources: Option<&Bound<'_, PyAny>>,
    targets: Option<&Bound<'_, PyAny>>,
    algorithm: Option<String>,
) -> PyResult<Apsp> {
    let (sources, targets) = (some_vertices(sources, "sources")?, some_vertices(targets, "targets")?);
    Ok(with_options!(Apsp::all(), from(sources), to(targets), algorithm(algorithm)))
}

/// An error if an answer on a device was asked for with what only the host has: `these`.
fn check_for_device(has_more: bool, these: &str) -> PyResult<()> {
    if has_more {
        return Err(PyValueError::new_err(format!("on_device finds distances: {these} are for the host")));
    }
    Ok(())
}

impl Graph {
    /// The tree that a search finds.
    fn tree<S: Search>(&self, py: Python<'_>, search: &S) -> PyResult<ShortestPathTree> {
        let (tree, graph) = self.solve(py, |solver| Ok((solver.solve(search.clone())?, solver.graph().clone())))?;
        Ok(ShortestPathTree::new(graph, tree))
    }
}

#[pymethods]
impl Graph {
    /// Shortest paths from a source, or from the nearest of several: to all vertices, until all `targets` are reached, or as far as
    /// `cutoff`. O(E + V log V) work or less.
    ///
    /// With `on_device` the answer stays in the memory of a GPU: a `DeviceTree`, whose arrays CuPy, PyTorch and others take as they are.
    /// It has all vertices. A graph of the host is copied there first, and kept.
    #[pyo3(signature = (source, *, targets=None, cutoff=None, predecessors=true, algorithm=None, on_device=false))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn sssp<'py>(
        &self,
        source: &Bound<'py, PyAny>,
        targets: Option<&Bound<'py, PyAny>>,
        cutoff: Option<f64>,
        predecessors: bool,
        algorithm: Option<String>,
        on_device: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sources = vertices(source, "source")?;
        if on_device {
            check_for_device(
                targets.is_some() || cutoff.is_some() || algorithm.is_some(),
                "targets, cutoff and algorithm",
            )?;
            let tree = self.tree_on_device(source.py(), &sources, predecessors, ResidentGraph::sssp)?;
            return Ok(Bound::new(source.py(), tree)?.into_any());
        }
        let request = Sssp::from(sources);
        let request =
            with_options!(request, to(some_vertices(targets, "targets")?), within(cutoff), algorithm(algorithm));
        let request = if predecessors { request } else { request.distances_only() };
        Ok(Bound::new(source.py(), self.tree(source.py(), &request)?)?.into_any())
    }

    /// Breadth-first search from a source, or from the nearest of several: distances are numbers of edges. O(V + E) work. `on_device` is
    /// that of `sssp`.
    #[pyo3(signature = (source, *, targets=None, cutoff=None, predecessors=true, algorithm=None, on_device=false))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn bfs<'py>(
        &self,
        source: &Bound<'py, PyAny>,
        targets: Option<&Bound<'py, PyAny>>,
        cutoff: Option<u32>,
        predecessors: bool,
        algorithm: Option<String>,
        on_device: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sources = vertices(source, "source")?;
        if on_device {
            check_for_device(
                targets.is_some() || cutoff.is_some() || algorithm.is_some(),
                "targets, cutoff and algorithm",
            )?;
            let tree = self.tree_on_device(source.py(), &sources, predecessors, ResidentGraph::bfs)?;
            return Ok(Bound::new(source.py(), tree)?.into_any());
        }
        let request = Bfs::from(sources);
        let request =
            with_options!(request, to(some_vertices(targets, "targets")?), within(cutoff), algorithm(algorithm));
        let request = if predecessors { request } else { request.distances_only() };
        Ok(Bound::new(source.py(), self.tree(source.py(), &request)?)?.into_any())
    }

    /// The distances between all pairs of vertices, or from some sources, or to some targets: a row for each source, a column for each
    /// target. With `successors` also the first vertex after each source on a shortest path, for `DistanceMatrix.path`.
    ///
    /// With `on_device` the table stays in the memory of a GPU: a `DeviceArray`, which CuPy, PyTorch and others take as it is, found by a
    /// search from each source. A graph of the host is copied there first, and kept.
    #[pyo3(signature = (*, sources=None, targets=None, successors=false, algorithm=None, progress=false, on_device=false))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn apsp<'py>(
        slf: &Bound<'py, Self>,
        sources: Option<&Bound<'_, PyAny>>,
        targets: Option<&Bound<'_, PyAny>>,
        successors: bool,
        algorithm: Option<String>,
        progress: bool,
        on_device: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if on_device {
            check_for_device(successors || algorithm.is_some() || progress, "successors, algorithm and progress")?;
            let (sources, targets) = (some_vertices(sources, "sources")?, some_vertices(targets, "targets")?);
            let table = this.table_on_device(py, sources, targets.as_deref())?;
            return Ok(Bound::new(py, table)?.into_any());
        }
        let request = table_request(sources, targets, algorithm)?;
        let request = if successors { request.with_successors() } else { request };
        let (matrix, graph) =
            this.solve_long(py, progress, |solver| Ok((solver.solve(request.clone())?, solver.graph().clone())))?;
        Ok(Bound::new(py, DistanceMatrix::new(graph, matrix))?.into_any())
    }

    /// The distances from each of the `sources` to each of the `targets`: a row for each source, a column for each target. `on_device` is
    /// that of `apsp`.
    #[pyo3(signature = (sources, targets, *, algorithm=None, progress=false, on_device=false))]
    fn table<'py>(
        slf: &Bound<'py, Self>,
        sources: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
        algorithm: Option<String>,
        progress: bool,
        on_device: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::apsp(slf, Some(sources), Some(targets), false, algorithm, progress, on_device)
    }

    /// Writes the distances that `apsp` finds into a `.npy` file as they are found, so that they may be far larger than the memory, and
    /// maps it: the array is that of the file. What is unreachable has the greatest number of the type, or infinity. With `resume` a
    /// call that was ended goes on where it was.
    #[pyo3(signature = (path, *, sources=None, targets=None, algorithm=None, resume=false, progress=false))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn apsp_to_npy<'py>(
        slf: &Bound<'py, Self>,
        path: PathBuf,
        sources: Option<&Bound<'py, PyAny>>,
        targets: Option<&Bound<'py, PyAny>>,
        algorithm: Option<String>,
        resume: bool,
        progress: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this, request) = (slf.py(), slf.get(), table_request(sources, targets, algorithm)?);
        this.solve_long(py, progress, |solver| {
            let mut sink = NpyWriter::new(&path).resume(resume);
            solver.solve(request.clone().into_sink(&mut sink)).map(drop)
        })?;
        let options = PyDict::new(py);
        options.set_item("mmap_mode", "r")?;
        py.import("numpy")?.call_method("load", (path,), Some(&options))
    }

    /// What the rows of `apsp` say together, without keeping them: eccentricities, closeness, harmonic centrality and the histogram of
    /// all distances.
    #[pyo3(signature = (*, sources=None, targets=None, algorithm=None, progress=false))]
    fn reductions(
        &self,
        py: Python<'_>,
        sources: Option<&Bound<'_, PyAny>>,
        targets: Option<&Bound<'_, PyAny>>,
        algorithm: Option<String>,
        progress: bool,
    ) -> PyResult<RowReductions> {
        const ALL: [Reduction; 4] =
            [Reduction::Eccentricity, Reduction::Closeness, Reduction::Harmonic, Reduction::Histogram];
        let request = table_request(sources, targets, algorithm)?;
        let (sink, summary) = self.solve_long(py, progress, |solver| {
            let mut sink = Sink::new(ALL);
            let summary = solver.solve(request.clone().into_sink(&mut sink))?;
            Ok((sink, summary))
        })?;
        Ok(RowReductions::new(sink, summary))
    }

    /// A shortest path from `source` to `target`; `None` if there is none.
    fn path(&self, py: Python<'_>, source: VertexId, target: VertexId) -> PyResult<Option<Path>> {
        let path = self.solve(py, |solver| solver.path(source, target))?;
        Ok(path.map(Path::new))
    }

    /// A shortest path for each pair of source and target, from an array or list of pairs.
    #[pyo3(signature = (pairs, *, algorithm=None, progress=false))]
    fn paths(&self, pairs: &Bound<'_, PyAny>, algorithm: Option<String>, progress: bool) -> PyResult<PathsOfPairs> {
        let py = pairs.py();
        let request = with_options!(Pairs::of(crate::arrays::pairs(pairs)?), algorithm(algorithm));
        let found = self.solve_long(py, progress, |solver| solver.solve(request.clone()))?;
        Ok(PathsOfPairs::new(found))
    }

    /// The `count` shortest paths without repeated vertices from `source` to `target`, shortest first; fewer if there are no more.
    #[pyo3(signature = (source, target, count))]
    fn k_shortest_paths(
        &self,
        py: Python<'_>,
        source: VertexId,
        target: VertexId,
        count: usize,
    ) -> PyResult<Vec<Path>> {
        let request = KShortestPaths::between(source, target).at_most(count);
        let found = self.solve_long(py, false, |solver| solver.solve(request.clone()))?;
        Ok(found.paths().iter().cloned().map(Path::new).collect())
    }

    /// How many shortest paths lead through each vertex, and with `edges` over each edge. Counts only paths from `sources` and to
    /// `targets`, if these are given, or estimates by `sample` sources drawn at random by a `seed`. With `endpoints` a path also
    /// counts for the vertices at its ends.
    #[pyo3(signature = (*, sources=None, targets=None, sample=None, seed=1, endpoints=false, edges=false, progress=false))]
    #[allow(clippy::too_many_arguments)]
    fn betweenness(
        &self,
        py: Python<'_>,
        sources: Option<&Bound<'_, PyAny>>,
        targets: Option<&Bound<'_, PyAny>>,
        sample: Option<usize>,
        seed: u64,
        endpoints: bool,
        edges: bool,
        progress: bool,
    ) -> PyResult<Betweenness> {
        if sources.is_some() && sample.is_some() {
            return Err(PyValueError::new_err("there are sources or a sample, not both"));
        }
        let (sources, targets) = (some_vertices(sources, "sources")?, some_vertices(targets, "targets")?);
        let mut request = with_options!(warpath::Betweenness::new(), from(sources), to(targets));
        if let Some(sample) = sample {
            request = request.sample(sample, seed);
        }
        if endpoints {
            request = request.with_endpoints();
        }
        if edges {
            request = request.with_arcs();
        }
        let (found, graph) =
            self.solve_long(py, progress, |solver| Ok((solver.solve(request.clone())?, solver.graph().clone())))?;
        Ok(Betweenness::new(graph, found))
    }

    /// How many vertices each vertex, or each of `sources`, reaches within a distance, itself included: `uint64`. In edges, or by weights
    /// of 0 and more.
    #[pyo3(signature = (within, *, sources=None, progress=false))]
    fn neighborhood_sizes<'py>(
        &self,
        py: Python<'py>,
        within: f64,
        sources: Option<&Bound<'_, PyAny>>,
        progress: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = with_options!(warpath::Neighborhoods::within(within), from(some_vertices(sources, "sources")?));
        let found = self.solve_long(py, progress, |solver| solver.solve(request.clone()))?;
        Ok(found.into_sizes().into_pyarray(py).into_any())
    }

    /// Which vertices reach which. With `reflexive` every vertex reaches itself; without, only over a cycle.
    #[pyo3(signature = (*, reflexive=true, algorithm=None, progress=false))]
    fn transitive_closure(
        &self,
        py: Python<'_>,
        reflexive: bool,
        algorithm: Option<String>,
        progress: bool,
    ) -> PyResult<Reachability> {
        let request = with_options!(Closure::new(), algorithm(algorithm));
        let request = if reflexive { request } else { request.irreflexive() };
        let (found, graph) =
            self.solve_long(py, progress, |solver| Ok((solver.solve(request.clone())?, solver.graph().clone())))?;
        Ok(Reachability::new(graph, found))
    }
}
