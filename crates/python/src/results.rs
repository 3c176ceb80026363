//! Answers, whose arrays are the library's own memory.
//!
//! *Invariants.* An array refers to memory of a result that is its owner: Python keeps the result while the array lives, and a result
//! never changes.

use std::sync::{Arc, OnceLock};

use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArray};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use warpath::graph::{Distance, Distances, Graph};
use warpath::problems::Reachability as Closure;
use warpath::{DistanceMatrix as Matrix, ShortestPathTree as Tree, VertexId};

use crate::errors::exception;
use crate::forks::with_threads;
use crate::graph::check_vertex;

/// Makes an array read-only that nobody else has yet.
///
/// Not by the borrows of the crate numpy: without the interpreter's lock, several threads make arrays on the same memory at once, and
/// all but one would find it borrowed.
fn forbid_writing(array: &Bound<'_, PyUntypedArray>) {
    array.call_method1("setflags", (false,)).expect("any array can be made read-only");
}

/// An array of one dimension on the library's memory, which nobody may write.
///
/// # Safety
///
/// `owner` keeps the values alive, and never changes them.
unsafe fn line<'py, T: Element>(values: &[T], owner: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    // SAFETY: by the caller's promise.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(values), owner) };
    forbid_writing(array.as_untyped());
    array.into_any()
}

/// The same of two dimensions, of rows of this many columns.
///
/// # Safety
///
/// As [`line`].
unsafe fn table<'py, T: Element>(values: &[T], shape: (usize, usize), owner: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    let view = ArrayView2::from_shape(shape, values).expect("a table has as many cells as rows times columns");
    // SAFETY: by the caller's promise.
    let array = unsafe { PyArray2::borrow_from_array(&view, owner) };
    forbid_writing(array.as_untyped());
    array.into_any()
}

/// Distances as Python sees them: unreachable is -1 in integers without a sign, which become integers with one; the greatest 64-bit
/// integer where distances may be below 0; infinity in floats. Copied only if some do not fit 31 bits.
fn array_of<'py>(
    distances: &Distances,
    greatest: impl FnOnce() -> PyResult<Option<Distance>>,
    shape: Option<(usize, usize)>,
    owner: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    fn of<'py, T: Element>(values: &[T], shape: Option<(usize, usize)>, owner: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        match shape {
            // SAFETY: the owner is a frozen result, which never changes its distances.
            Some(shape) => unsafe { table(values, shape, owner) },
            // SAFETY: as before.
            None => unsafe { line(values, owner) },
        }
    }
    Ok(match distances {
        Distances::U32(values) if greatest()?.is_none_or(|greatest| greatest.to_f64() <= f64::from(i32::MAX)) => {
            of(bytemuck::cast_slice::<u32, i32>(values), shape, owner)
        }
        Distances::U32(values) => {
            let wide = |&value: &u32| if value == u32::MAX { -1 } else { i64::from(value) };
            let array = values.iter().map(wide).collect::<Vec<i64>>().into_pyarray(owner.py());
            match shape {
                Some(shape) => array.reshape(shape)?.into_any(),
                None => array.into_any(),
            }
        }
        Distances::U64(values) => of(bytemuck::cast_slice::<u64, i64>(values), shape, owner),
        Distances::I64(values) => of(values, shape, owner),
        Distances::F32(values) => of(values, shape, owner),
        Distances::F64(values) => of(values, shape, owner),
    })
}

/// The integer that stands for no distance in the arrays of [`array_of`]; infinity does in floats.
fn unreachable(distances: &Distances) -> Option<i64> {
    match distances {
        Distances::U32(_) | Distances::U64(_) => Some(-1),
        Distances::I64(_) => Some(i64::MAX),
        Distances::F32(_) | Distances::F64(_) => None,
    }
}

/// The greatest distance of an answer, found when somebody first asks.
#[derive(Default)]
struct Greatest(OnceLock<Option<Distance>>);

impl Greatest {
    fn of(&self, py: Python<'_>, find: impl FnOnce() -> Option<Distance> + Send) -> PyResult<Option<Distance>> {
        if let Some(known) = self.0.get() {
            return Ok(*known);
        }
        let found = py.detach(move || with_threads(move || Ok(find()))).map_err(exception)?;
        Ok(*self.0.get_or_init(|| found))
    }
}

/// A distance as an `int` or a `float`.
pub(crate) fn number(py: Python<'_>, distance: Distance) -> PyResult<Bound<'_, PyAny>> {
    Ok(match distance {
        Distance::Unsigned(value) => value.into_pyobject(py)?.into_any(),
        Distance::Signed(value) => value.into_pyobject(py)?.into_any(),
        Distance::Single(value) => value.into_pyobject(py)?.into_any(),
        Distance::Double(value) => value.into_pyobject(py)?.into_any(),
    })
}

/// The distances from a source, or from the nearest of several, and shortest paths.
#[pyclass(frozen, module = "warpath")]
pub(crate) struct ShortestPathTree {
    graph: Arc<Graph>,
    tree: Tree,
    greatest: Greatest,
}

impl ShortestPathTree {
    pub(crate) fn new(graph: Arc<Graph>, tree: Tree) -> Self {
        ShortestPathTree { graph, tree, greatest: Greatest::default() }
    }
}

#[pymethods]
impl ShortestPathTree {
    /// The distance of each vertex. Integers: `int32` or, where they do not fit, `int64`, and -1 for what is unreachable; with weights
    /// below 0 `int64`, and its greatest number for what is unreachable. Floats: `float32` or `float64`, and infinity. A view that
    /// nobody may write.
    #[getter]
    fn distances<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let tree = &slf.get().tree;
        let greatest = || slf.get().greatest.of(slf.py(), || tree.max_distance());
        array_of(tree.distances(), greatest, None, slf.as_any().clone())
    }

    /// The vertex before each one on a shortest path, and -1 at sources and where nothing arrives; `None` if they were not wanted.
    #[getter]
    fn predecessors<'py>(slf: &Bound<'py, Self>) -> Option<Bound<'py, PyAny>> {
        let predecessors = slf.get().tree.predecessors()?;
        // SAFETY: the owner is a frozen result, which never changes them.
        Some(unsafe { line(bytemuck::cast_slice::<VertexId, i32>(predecessors), slf.as_any().clone()) })
    }

    /// The vertices where distances are 0 because the search starts there.
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.tree.sources().to_vec().into_pyarray(py).into_any()
    }

    /// The source that each vertex is nearest to, and -1 where nothing arrives; `None` without predecessors.
    fn nearest_sources<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let nearest = py.detach(|| with_threads(|| self.tree.nearest_sources())).map_err(exception)?;
        let signed = |sources: Vec<VertexId>| bytemuck::cast_vec::<VertexId, i32>(sources).into_pyarray(py).into_any();
        Ok(nearest.map(signed))
    }

    /// How many vertices were reached.
    #[getter]
    fn reached(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| with_threads(|| Ok(self.tree.reached()))).map_err(exception)
    }

    /// The algorithm that answered.
    #[getter]
    fn algorithm(&self) -> &str {
        &self.tree.report().algorithm
    }

    /// Where: `cpu`, or `cuda:0`.
    #[getter]
    fn engine(&self) -> &str {
        &self.tree.report().engine
    }

    /// The vertices of a shortest path to `target`; `None` if it was not reached.
    fn path_to<'py>(&self, py: Python<'py>, target: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
        check_vertex(&self.graph, target)?;
        let path = self.tree.path_to(target);
        Ok(path.map(|path| path.vertices().to_vec().into_pyarray(py).into_any()))
    }

    /// The distance of `target`; `None` if it was not reached.
    fn distance<'py>(&self, py: Python<'py>, target: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
        check_vertex(&self.graph, target)?;
        self.tree.distance(target).map(|distance| number(py, distance)).transpose()
    }

    /// Holds the answer against the graph, without the algorithm that made it. Raises `VerificationError`.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| with_threads(|| self.tree.verify(&self.graph))).map_err(exception)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("warpath._notebook")?.call_method1("tree", (slf, unreachable(slf.get().tree.distances())))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let report = self.tree.report();
        let from = match self.tree.sources() {
            [one] => format!("from {one}"),
            several => format!("from {} sources", several.len()),
        };
        let (reached, all) = (self.reached(py)?, self.tree.distances().len());
        Ok(format!(
            "<warpath.ShortestPathTree: {from}, {reached} of {all} vertices reached, by {} on {}>",
            report.algorithm, report.engine
        ))
    }
}

/// The distances between sources and targets.
#[pyclass(frozen, module = "warpath")]
pub(crate) struct DistanceMatrix {
    graph: Arc<Graph>,
    matrix: Matrix,
    greatest: Greatest,
}

impl DistanceMatrix {
    pub(crate) fn new(graph: Arc<Graph>, matrix: Matrix) -> Self {
        DistanceMatrix { graph, matrix, greatest: Greatest::default() }
    }
}

#[pymethods]
impl DistanceMatrix {
    /// The distances, a row for each source, a column for each target, as `ShortestPathTree.distances`.
    #[getter]
    fn distances<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let matrix = &slf.get().matrix;
        let shape = (matrix.rows(), matrix.columns());
        let greatest = || slf.get().greatest.of(slf.py(), || matrix.max_distance());
        array_of(matrix.distances(), greatest, Some(shape), slf.as_any().clone())
    }

    /// The vertex of each row.
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.matrix.sources().to_vec().into_pyarray(py).into_any()
    }

    /// The vertex of each column; `None` if column `v` is that of vertex `v`.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        Some(self.matrix.targets()?.to_vec().into_pyarray(py).into_any())
    }

    /// The vertices of a shortest path from the source of row `row` to the vertex `target`; `None` if there is none.
    fn path<'py>(&self, py: Python<'py>, row: usize, target: VertexId) -> PyResult<Option<Bound<'py, PyAny>>> {
        check_vertex(&self.graph, target)?;
        if row >= self.matrix.rows() {
            return Err(PyIndexError::new_err(format!("row {row} of {}", self.matrix.rows())));
        }
        let path = py.detach(|| with_threads(|| self.matrix.path(&self.graph, row, target))).map_err(exception)?;
        Ok(path.map(|path| path.vertices().to_vec().into_pyarray(py).into_any()))
    }

    /// The first vertex after each source on a shortest path to each target, and -1 where there is none: a row for each source. `None`
    /// unless `successors` were asked for.
    #[getter]
    fn successors<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let matrix = &slf.get().matrix;
        let Some(found) = matrix.found_successors() else { return Ok(None) };
        let all: Vec<i32> = (0..matrix.rows()).flat_map(|row| found.row(row)).map(|&v| v as i32).collect();
        let array = all.into_pyarray(slf.py()).reshape((matrix.rows(), matrix.columns()))?;
        Ok(Some(array.into_any()))
    }

    /// The numbers of rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.matrix.rows(), self.matrix.columns())
    }

    /// The algorithm that answered.
    #[getter]
    fn algorithm(&self) -> &str {
        &self.matrix.report().algorithm
    }

    /// Where: `cpu`, or `cuda:0`.
    #[getter]
    fn engine(&self) -> &str {
        &self.matrix.report().engine
    }

    /// Holds the answer against the graph, without the algorithm that made it. Raises `VerificationError`.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| with_threads(|| self.matrix.verify(&self.graph))).map_err(exception)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("warpath._notebook")?.call_method1("matrix", (slf, unreachable(slf.get().matrix.distances())))
    }

    fn __repr__(&self) -> String {
        let report = self.matrix.report();
        let (rows, columns) = (self.matrix.rows(), self.matrix.columns());
        format!("<warpath.DistanceMatrix: {rows} x {columns}, by {} on {}>", report.algorithm, report.engine)
    }
}

/// Which vertices reach which.
#[pyclass(frozen, module = "warpath")]
pub(crate) struct Reachability {
    graph: Arc<Graph>,
    closure: Closure,
}

impl Reachability {
    pub(crate) fn new(graph: Arc<Graph>, closure: Closure) -> Self {
        Reachability { graph, closure }
    }
}

#[pymethods]
impl Reachability {
    /// Whether a path leads from `source` to `target`. O(1).
    fn reaches(&self, source: VertexId, target: VertexId) -> PyResult<bool> {
        check_vertex(&self.graph, source)?;
        check_vertex(&self.graph, target)?;
        Ok(self.closure.reaches(source, target))
    }

    /// The vertices that `source` reaches, ascending.
    fn reachable_from<'py>(&self, py: Python<'py>, source: VertexId) -> PyResult<Bound<'py, PyAny>> {
        check_vertex(&self.graph, source)?;
        let reached: Vec<VertexId> = py.detach(|| self.closure.row(source).collect());
        Ok(reached.into_pyarray(py).into_any())
    }

    /// How many vertices each vertex reaches: `uint64`.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let counts = py.detach(|| with_threads(|| self.closure.reachable_counts())).map_err(exception)?;
        Ok(counts.into_pyarray(py).into_any())
    }

    /// How many pairs of vertices there are of which one reaches the other.
    #[getter]
    fn pairs(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| with_threads(|| Ok(self.closure.reachable_pairs()))).map_err(exception)
    }

    /// A square array of `bool`: a byte for each pair of vertices.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let count = self.closure.vertices();
        let cells = py.detach(|| -> warpath::Result<Vec<bool>> {
            let mut cells = Vec::new();
            let needed = (count as u64).saturating_mul(count as u64);
            cells.try_reserve_exact(count.saturating_mul(count)).map_err(|_| warpath::Error::OutOfMemory {
                what: "the closure as bytes".into(),
                needed,
                available: warpath::available_memory(),
            })?;
            cells.resize(count * count, false);
            for (source, row) in cells.chunks_exact_mut(count.max(1)).enumerate() {
                self.closure.row(source as VertexId).for_each(|target| row[target as usize] = true);
            }
            Ok(cells)
        });
        Ok(cells.map_err(exception)?.into_pyarray(py).reshape((count, count))?.into_any())
    }

    /// The algorithm that answered.
    #[getter]
    fn algorithm(&self) -> &str {
        &self.closure.report().algorithm
    }

    /// Where: `cpu`, or `cuda:0`.
    #[getter]
    fn engine(&self) -> &str {
        &self.closure.report().engine
    }

    /// Holds the answer against the graph, without the algorithm that made it. Raises `VerificationError`.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| with_threads(|| self.closure.verify(&self.graph))).map_err(exception)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let report = self.closure.report();
        Ok(format!(
            "<warpath.Reachability: {} vertices, {} pairs, by {} on {}>",
            self.closure.vertices(),
            self.pairs(py)?,
            report.algorithm,
            report.engine
        ))
    }
}
