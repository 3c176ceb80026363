//! The graph: where it comes from, what it has, and how it is prepared.
//!
//! *Invariants.* Arrays on a device are where and as long as `warpath._device` has them from their owners, which live until the graph is
//! made.

use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use numpy::IntoPyArray;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use warpath::graph::{Labels, WeightKind, Weights};
use warpath::hierarchy::Hierarchy;
use warpath::resident::ResidentGraph;
use warpath::{Solver, VertexId};

use crate::arrays::{WholeWeights, foreign, vertices, weights};
use crate::calls::run_apart;
use crate::construction::{of_edges, of_rows};
use crate::errors::exception;
use crate::forks::with_threads;
use crate::kept::{Kept, Options, Size};

/// What `warpath._inputs.arrays_of` returns.
pub(crate) type Arrays<'py> =
    (String, Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<u64>, bool, Option<Py<PyAny>>);

/// Searches over more vertices and arcs than this, some 10 milliseconds of work, are worth a thread that looks at signals meanwhile.
const LONG: usize = 1 << 20;

/// A graph, prepared once and asked many times, from several threads if you like.
///
/// `Graph(data)` takes a SciPy sparse matrix or array, a NetworkX or igraph graph, a table (columns `source`, `target` and, if there is
/// one, `weight`) of pandas or of any package that has Arrow's PyCapsule interface, such as polars, PyArrow and DuckDB, a pair or triple
/// of arrays (tails, heads, weights), or a list of edges. Of parallel edges the shortest counts. Vertices are the numbers from 0 on; where the data has names, `labels` has these in order, and
/// `vertex` finds one.
///
/// `engine` is `"auto"`, `"cpu"`, `"cuda"` or `"cuda:N"`; `threads` the number of threads, 0 for all cores; `memory` the most bytes that a
/// GPU, or the CPU if there is none, may take.
#[pyclass(frozen, module = "warpath")]
pub(crate) struct Graph {
    pub(crate) kept: Kept,
    /// Names that came from Python; those of a file are the library's.
    pub(crate) labels: Option<Py<PyAny>>,
    /// The vertex of each label, once somebody asks.
    numbers: PyOnceLock<Py<PyDict>>,
}

impl Graph {
    pub(crate) fn open(
        graph: impl Into<Arc<warpath::Graph>>,
        hierarchy: Option<Hierarchy>,
        options: Options,
    ) -> warpath::Result<Self> {
        Ok(Self::of(Kept::of_graph(graph.into(), hierarchy, options)?))
    }

    pub(crate) fn of(kept: Kept) -> Self {
        Graph { kept, labels: None, numbers: PyOnceLock::new() }
    }

    /// The graph on the host, copied from a device if it is not there.
    pub(crate) fn graph(&self, py: Python<'_>) -> PyResult<Arc<warpath::Graph>> {
        py.detach(|| with_threads(|| self.kept.graph())).map_err(exception)
    }

    /// What is known of the graph wherever it is.
    pub(crate) fn size(&self, py: Python<'_>) -> Size {
        py.detach(|| self.kept.size())
    }

    /// The most bytes that a request may take, if there is a limit.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.kept.options.memory
    }

    /// Answers a request, with a look at signals unless the graph is small.
    pub(crate) fn solve<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Fn(&Solver) -> warpath::Result<T> + Sync,
    ) -> PyResult<T> {
        self.solve_from(py, 1, work)
    }

    /// The same of a request for searches from so many sources.
    pub(crate) fn solve_from<T: Send>(
        &self,
        py: Python<'_>,
        sources: usize,
        work: impl Fn(&Solver) -> warpath::Result<T> + Sync,
    ) -> PyResult<T> {
        let size = self.size(py);
        if sources.saturating_mul(size.vertices + size.arcs) > LONG {
            self.solve_long(py, false, work)
        } else {
            let found = self.kept.calls.run_short(py, || work(&*self.kept.solver()?));
            self.warn_of_failure(py)?;
            found
        }
    }

    /// Answers a request that may take long; with `progress` a bar tells how far it is.
    pub(crate) fn solve_long<T: Send>(
        &self,
        py: Python<'_>,
        progress: bool,
        work: impl Fn(&Solver) -> warpath::Result<T> + Sync,
    ) -> PyResult<T> {
        let found = self.kept.calls.run(py, progress, || work(&*self.kept.solver()?));
        self.warn_of_failure(py)?;
        found
    }

    /// Warns, once in a process, of a GPU that failed, for which the CPU has answered.
    fn warn_of_failure(&self, py: Python<'_>) -> PyResult<()> {
        static HAS_WARNED: AtomicBool = AtomicBool::new(false);
        let Some(failure) = self.kept.device_failure() else { return Ok(()) };
        if HAS_WARNED.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let text = format!("the GPU can't be used, so the CPU answers: {failure}");
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)
    }
}

/// The vertices of an argument that may be missing.
pub(crate) fn some_vertices(object: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<Option<Vec<VertexId>>> {
    object.filter(|object| !object.is_none()).map(|object| vertices(object, what)).transpose()
}

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (data, *, source=None, target=None, weight=None, directed=None, vertices=None, engine="auto", threads=0, memory=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        data: &Bound<'_, PyAny>,
        source: Option<Bound<'_, PyAny>>,
        target: Option<Bound<'_, PyAny>>,
        weight: Option<Bound<'_, PyAny>>,
        directed: Option<bool>,
        vertices: Option<u64>,
        engine: &str,
        threads: usize,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        let py = data.py();
        let options = Options::new(engine, threads, memory)?;
        let inputs = py.import("warpath._inputs")?;
        let arrays = |may_stay: bool| -> PyResult<Arrays<'_>> {
            let found =
                inputs.call_method1("arrays_of", (data, &source, &target, &weight, directed, vertices, may_stay))?;
            found.extract()
        };
        let mut found = arrays(options.allow_resident())?;
        if found.0.starts_with("device") {
            match Self::of_device(py, &found, options.clone())? {
                Some(graph) => return Ok(Graph { labels: found.6, ..graph }),
                // What a device can't take, or has no room for, the host can, or says what is wrong with it.
                None => found = arrays(false)?,
            }
        }
        let (kind, first, second, weights, count, directed, labels) = found;
        let graph = if kind == "rows" {
            Self::of_csr(py, &first, &second, weights.as_ref(), directed, options)?
        } else {
            Self::of_lists(py, &first, &second, weights.as_ref(), count, directed, options)?
        };
        Ok(Graph { labels, ..graph })
    }

    /// A graph from the three arrays of a sparse matrix: row `v` has its columns and entries at `indptr[v]:indptr[v + 1]` of
    /// `indices` and `data`. Of entries for the same place the least counts. Without `data` all edges have the length 1.
    #[staticmethod]
    #[pyo3(signature = (indptr, indices, data=None, *, directed=true, engine="auto", threads=0, memory=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn from_csr(
        py: Python<'_>,
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: Option<&Bound<'_, PyAny>>,
        directed: bool,
        engine: &str,
        threads: usize,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        Self::of_csr(py, indptr, indices, data, directed, Options::new(engine, threads, memory)?)
    }

    /// A graph from arrays of tails, heads and weights. Of parallel edges the shortest counts. Without weights all edges have the
    /// length 1; without a number of `vertices` there are as many as the greatest one needs.
    #[staticmethod]
    #[pyo3(signature = (tails, heads, weights=None, *, vertices=None, directed=true, engine="auto", threads=0, memory=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn from_edges(
        py: Python<'_>,
        tails: &Bound<'_, PyAny>,
        heads: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
        vertices: Option<u64>,
        directed: bool,
        engine: &str,
        threads: usize,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        Self::of_lists(py, tails, heads, weights, vertices, directed, Options::new(engine, threads, memory)?)
    }

    /// For `warpath._inputs.restored`: as `from_edges`, with the names of the vertices.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "they are what a graph consists of")]
    fn _of_arrays(
        py: Python<'_>,
        tails: &Bound<'_, PyAny>,
        heads: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
        vertices: u64,
        directed: bool,
        labels: Option<Py<PyAny>>,
        engine: &str,
        threads: usize,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        let options = Options::new(engine, threads, memory)?;
        let graph = Self::of_lists(py, tails, heads, weights, Some(vertices), directed, options)?;
        Ok(Graph { labels, ..graph })
    }

    /// A graph of a family, such as `"grid:100x100,weights=1..100"` or `"roads:10000"`; `warpath generate --help` has the list.
    #[staticmethod]
    #[pyo3(signature = (description, *, engine="auto", threads=0, memory=None))]
    fn generate(
        py: Python<'_>,
        description: &str,
        engine: &str,
        threads: usize,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        let options = Options::new(engine, threads, memory)?;
        let description = description.to_owned();
        run_apart(py, move || Graph::open(warpath::generate(&description)?, None, options))
    }

    /// The number of vertices.
    #[getter]
    fn vertices(&self, py: Python<'_>) -> usize {
        self.size(py).vertices
    }

    /// The number of arcs; an undirected edge is two.
    #[getter]
    fn arcs(&self, py: Python<'_>) -> usize {
        self.size(py).arcs
    }

    /// Whether edges have a direction.
    #[getter]
    fn directed(&self, py: Python<'_>) -> bool {
        self.size(py).is_directed
    }

    /// The type of the weights: `unit`, `u32`, `i32`, `f32` or `f64`.
    #[getter]
    fn weight_type(&self, py: Python<'_>) -> &'static str {
        self.size(py).weights.name()
    }

    /// The names of the vertices in order; `None` if these are the numbers from 0 on.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(labels) = &self.labels {
            return Ok(Some(labels.bind(py).clone()));
        }
        if self.kept.only_on().is_some() {
            // What was made of arrays has no names of its own.
            return Ok(None);
        }
        let graph = self.graph(py)?;
        Ok(match graph.labels() {
            Labels::Range { first: 0, .. } => None,
            Labels::Range { first, count } => {
                Some((*first..first + count).collect::<Vec<u64>>().into_pyarray(py).into_any())
            }
            Labels::Integers(names) => Some(names.clone().into_pyarray(py).into_any()),
            Labels::Strings(names) => {
                let names = (0..names.len() as VertexId).map(|v| names.get(v));
                Some(PyList::new(py, names.collect::<Vec<_>>())?.into_any())
            }
        })
    }

    /// The vertex with this label; `KeyError` if there is none.
    fn vertex(&self, py: Python<'_>, label: &Bound<'_, PyAny>) -> PyResult<VertexId> {
        let unknown = || PyKeyError::new_err(label.clone().unbind());
        if let Some(labels) = &self.labels {
            let numbers = self.numbers.get_or_try_init(py, || {
                let numbers = PyDict::new(py);
                for (v, label) in labels.bind(py).try_iter()?.enumerate() {
                    numbers.set_item(label?, v)?;
                }
                Ok::<_, PyErr>(numbers.unbind())
            })?;
            return numbers.bind(py).get_item(label)?.ok_or_else(unknown)?.extract();
        }
        let graph = self.graph(py)?;
        graph.labels().find(label.str()?.to_str()?).ok_or_else(unknown)
    }

    /// Whether a hierarchy is there: see `prepare`.
    #[getter]
    fn prepared(&self, py: Python<'_>) -> bool {
        py.detach(|| self.kept.has_hierarchy())
    }

    /// Makes a hierarchy, unless one is there: then thousands of searches, tables and pairs take a fraction of the time, on graphs with
    /// small separators such as roads, meshes and many networks. Weights have to be integers for searches; tables take floats, too. `order`
    /// may give the vertices in the order of elimination, to be used instead of nested dissection. Returns the graph itself.
    #[pyo3(signature = (order=None, *, progress=false))]
    fn prepare<'py>(
        slf: &Bound<'py, Self>,
        order: Option<&Bound<'py, PyAny>>,
        progress: bool,
    ) -> PyResult<Bound<'py, Self>> {
        let (graph, order) = (slf.get(), some_vertices(order, "order")?);
        graph.kept.calls.run(slf.py(), progress, || {
            let mut solver = graph.kept.solver_to_change()?;
            if solver.prepared_hierarchy().is_some() && order.is_none() {
                return Ok(());
            }
            let topology = solver.graph().clone();
            let hierarchy = match &order {
                None => Hierarchy::with_control(topology.clone(), &graph.kept.calls.control())?,
                Some(order) => Hierarchy::with_order(topology.clone(), order)?,
            };
            *solver = graph.kept.with_hierarchy(topology, hierarchy)?;
            Ok(())
        })?;
        Ok(slf.clone())
    }

    /// Gives the arcs other weights, in the order of `weights`: a prepared graph keeps its order, and no edge is looked up again. Answers
    /// that are there keep the weights that they were found by.
    fn set_weights(&self, py: Python<'_>, weights: &Bound<'_, PyAny>) -> PyResult<()> {
        // Parallel arcs on a device are one on the host.
        let arcs = self.graph(py)?.arcs();
        let weights = crate::arrays::weights(Some(weights), arcs)?;
        self.kept.calls.run(py, false, || self.kept.set_weights(weights.clone()))
    }

    /// The tails and heads of all arcs, in the order of `weights`; an undirected edge is two arcs.
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let graph = self.graph(py)?;
        let (tails, heads) = py.detach(|| {
            let csr = graph.csr();
            let mut tails = Vec::with_capacity(graph.arcs());
            for v in 0..graph.vertices() as VertexId {
                tails.resize(csr.row(v).end, v);
            }
            (tails, csr.targets().to_vec())
        });
        Ok((tails.into_pyarray(py).into_any(), heads.into_pyarray(py).into_any()))
    }

    /// The weights of all arcs, a copy; `None` if all are 1.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let graph = self.graph(py)?;
        Ok(Some(match graph.weights() {
            Weights::Unit(_) => return Ok(None),
            Weights::U32(values) => values.clone().into_pyarray(py).into_any(),
            Weights::I32(values) => values.clone().into_pyarray(py).into_any(),
            Weights::F32(values) => values.clone().into_pyarray(py).into_any(),
            Weights::F64(values) => values.clone().into_pyarray(py).into_any(),
        }))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let Size { vertices, arcs, is_directed, weights } = self.size(py);
        let kind = if is_directed { "directed" } else { "undirected" };
        let weights = match weights {
            WeightKind::Unit => "without weights".to_owned(),
            other => format!("with weights {}", other.name()),
        };
        let prepared = if self.prepared(py) { ", prepared" } else { "" };
        let place = self.kept.only_on().map(|device| format!(", on cuda:{device}")).unwrap_or_default();
        format!("<warpath.Graph: {kind}, {vertices} vertices, {arcs} arcs, {weights}{prepared}{place}>")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (tails, heads) = self.edges(py)?;
        let restore = py.import("warpath._inputs")?.getattr("restored")?;
        let Options { engine, threads, memory } = &self.kept.options;
        let options = (engine.to_string(), *threads, *memory);
        let labels = self.labels(py)?;
        let state = (tails, heads, self.weights(py)?, self.vertices(py), self.directed(py), labels, options);
        (restore, state).into_pyobject(py)
    }
}

impl Graph {
    /// A graph of arrays on a device; `None` if it can't be there.
    fn of_device(py: Python<'_>, arrays: &Arrays<'_>, options: Options) -> PyResult<Option<Self>> {
        let (kind, first, second, weights, count, directed, _) = arrays;
        let (first, second) = (foreign(first)?, foreign(second)?);
        let weights = weights.as_ref().map(foreign).transpose()?;
        let made = py.detach(|| {
            if kind == "device rows" {
                // SAFETY: the arrays are what their owners, which live until the caller returns, say that they are.
                unsafe { ResidentGraph::from_rows(first, second, weights, *directed) }
            } else {
                // SAFETY: as before.
                unsafe { ResidentGraph::from_edges(*count, first, second, weights, *directed) }
            }
        });
        let made = made.ok().filter(|graph| options.allow_device(graph.device()));
        Ok(made.map(|graph| Graph::of(Kept::of_resident(graph, options))))
    }

    fn of_csr(
        py: Python<'_>,
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: Option<&Bound<'_, PyAny>>,
        directed: bool,
        options: Options,
    ) -> PyResult<Self> {
        let (offsets, heads) = (crate::arrays::offsets(indptr, "indptr")?, vertices(indices, "indices")?);
        let (weights, range) = match data.and_then(|data| data.cast::<WholeWeights>().ok()) {
            Some(whole) => {
                let (values, range) = whole.get().take()?;
                (Weights::U32(values), Some(range))
            }
            None => (weights(data, heads.len())?, None),
        };
        let arcs = heads.len();
        let graph = || {
            let graph = of_rows(offsets, heads, weights, directed)?;
            // Of parallel arcs, and of an arc and its reverse, only the shortest is there.
            let range = range.filter(|_| directed && graph.arcs() == arcs);
            Graph::open(range.into_iter().fold(graph, warpath::Graph::with_known_weight_range), None, options)
        };
        py.detach(|| with_threads(graph)).map_err(exception)
    }

    fn of_lists(
        py: Python<'_>,
        tails: &Bound<'_, PyAny>,
        heads: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
        count: Option<u64>,
        directed: bool,
        options: Options,
    ) -> PyResult<Self> {
        let (tails, heads) = (vertices(tails, "tails")?, vertices(heads, "heads")?);
        if tails.len() != heads.len() {
            let message = format!("there are {} tails and {} heads", tails.len(), heads.len());
            return Err(PyValueError::new_err(message));
        }
        let weights = crate::arrays::weights(weights, heads.len())?;
        let graph = || Graph::open(of_edges(tails, heads, weights, count, directed)?, None, options);
        py.detach(|| with_threads(graph)).map_err(exception)
    }
}

/// An error unless the graph has this vertex.
pub(crate) fn check_vertex(graph: &warpath::Graph, vertex: VertexId) -> PyResult<()> {
    let count = graph.vertices();
    if (vertex as usize) < count {
        return Ok(());
    }
    let message = format!("vertex {vertex} is out of range: there are {count} vertices");
    Err(PyIndexError::new_err(message))
}
