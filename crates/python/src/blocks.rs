//! The rows of a table of distances, a block after another, for tables that are larger than the memory.

use std::sync::Arc;

use bytemuck::cast_vec;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use warpath::graph::{Distances, WeightKind, Weights};
use warpath::problems::{RowBlock, RowSink, TableShape};
use warpath::{Apsp, Plan, Result, VertexId};

use crate::graph::{Graph, some_vertices};
use crate::requests::with_options;

/// How large a block is unless somebody says it: much more than a request costs beside its rows, and little of any memory.
const BLOCK_BYTES: u64 = 64_000_000;

/// What is asked for. Each block is a request for some of the rows.
struct Rows {
    sources: Option<Vec<VertexId>>,
    targets: Option<Vec<VertexId>>,
    algorithm: Option<String>,
}

impl Rows {
    /// The request for the rows of these sources.
    fn request(&self, sources: Option<Vec<VertexId>>) -> Apsp {
        with_options!(Apsp::all(), from(sources), to(self.targets.clone()), algorithm(self.algorithm.clone()))
    }
}

#[pymethods]
impl Graph {
    /// The distances that `apsp` finds, a block of rows after another, so that all together may be far larger than the memory: an
    /// iterator of pairs of arrays, the sources of a block and a row for each of them. `rows` is the number of rows in a block, by
    /// default as many as take some 64 MB.
    ///
    /// All blocks have one type. Where no weight is below 0, integers are `int32` if no path can be longer, as the greatest weight of each
    /// vertex tells, and else `int64`; all others are as `apsp` has them, and so is what is unreachable. The arrays are the caller's own.
    /// Each block is a request: an `algorithm` that finds all pairs together does so for each of them.
    ///
    /// >>> import warpath
    /// >>> graph = warpath.Graph([(0, 1, 5), (1, 2, 7), (2, 3, 1)])
    /// >>> for sources, distances in graph.apsp_blocks(rows=3):
    /// ...     print(sources, distances.max(axis=1))
    /// [0 1 2] [13  8  1]
    /// [3] [0]
    #[pyo3(signature = (*, sources=None, targets=None, rows=None, algorithm=None, progress=false))]
    fn apsp_blocks(
        slf: &Bound<'_, Self>,
        sources: Option<&Bound<'_, PyAny>>,
        targets: Option<&Bound<'_, PyAny>>,
        rows: Option<usize>,
        algorithm: Option<String>,
        progress: bool,
    ) -> PyResult<DistanceBlocks> {
        let (sources, targets) = (some_vertices(sources, "sources")?, some_vertices(targets, "targets")?);
        DistanceBlocks::new(slf, Rows { sources, targets, algorithm }, rows, progress)
    }
}

/// Blocks of rows: their sources, and the distances from these. What `Graph.apsp_blocks` returns.
#[pyclass(module = "warpath")]
pub(crate) struct DistanceBlocks {
    graph: Py<Graph>,
    /// With the weights that all blocks have.
    weighted: Arc<warpath::Graph>,
    rows: Rows,
    /// All rows, those in a block, and those that have been handed out.
    count: usize,
    together: usize,
    done: usize,
    /// Whether integers of 0 or more have 32 bits.
    narrow: bool,
    bar: Option<Py<PyAny>>,
}

impl DistanceBlocks {
    /// Checks what is asked for.
    fn new(graph: &Bound<'_, Graph>, rows: Rows, together: Option<usize>, progress: bool) -> PyResult<Self> {
        if together == Some(0) {
            return Err(PyValueError::new_err("rows: a block has one row or more"));
        }
        let (py, mut rows) = (graph.py(), rows);
        let whole = rows.request(rows.sources.clone());
        let (weighted, narrow, by_hierarchy) = graph.get().solve_long(py, false, |solver| {
            let mut taken = Taken;
            let decision = solver.decide(&whole.clone().into_sink(&mut taken))?;
            let narrow = longest_path(solver.graph()) <= i32::MAX as u64;
            Ok((solver.graph().clone(), narrow, decision.algorithm() == "hierarchy"))
        })?;
        if by_hierarchy {
            // It pays for all rows, and not for those of one block.
            rows.algorithm.get_or_insert_with(|| "hierarchy".to_owned());
        }
        let cell = match weighted.weight_kind() {
            WeightKind::F32 => 4,
            WeightKind::Unit | WeightKind::U32 if narrow => 4,
            _ => 8,
        };
        let columns = rows.targets.as_ref().map_or(weighted.vertices(), Vec::len) as u64;
        // Algorithms need room beside the block.
        let bytes = graph.get().memory().map_or(BLOCK_BYTES, |memory| BLOCK_BYTES.min(memory / 4));
        let together = together.unwrap_or_else(|| (bytes / (columns * cell).max(1)).max(1) as usize);
        let count = rows.sources.as_ref().map_or(weighted.vertices(), Vec::len);
        let bar = if progress { Some(py.import("warpath._progress")?.call_method0("bar")?.unbind()) } else { None };
        Ok(DistanceBlocks { graph: graph.clone().unbind(), weighted, rows, count, together, done: 0, narrow, bar })
    }

    fn show(&self, py: Python<'_>) -> PyResult<()> {
        let Some(bar) = &self.bar else { return Ok(()) };
        bar.call_method1(py, "show", ("solve", self.done, self.count))?;
        if self.done == self.count {
            bar.call_method0(py, "close")?;
        }
        Ok(())
    }
}

/// Sources, and the distances from them.
type Block<'py> = (Bound<'py, PyArray1<VertexId>>, Bound<'py, PyAny>);

#[pymethods]
impl DistanceBlocks {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Block<'py>>> {
        if self.done == self.count {
            return Ok(None);
        }
        if self.done == 0 {
            self.show(py)?;
        }
        let end = self.done.saturating_add(self.together).min(self.count);
        let sources: Vec<VertexId> = match &self.rows.sources {
            Some(sources) => sources[self.done..end].to_vec(),
            None => (self.done as VertexId..end as VertexId).collect(),
        };
        let request = self.rows.request(Some(sources.clone()));
        let found = self.graph.get().solve_long(py, false, |solver| {
            if !Arc::ptr_eq(solver.graph(), &self.weighted) {
                return Ok(None);
            }
            let matrix = solver.solve(request.clone())?;
            let shape = (matrix.rows(), matrix.columns());
            let distances = matrix.into_distances();
            Ok(Some((if self.narrow { distances } else { widened(distances) }, shape)))
        })?;
        let Some((distances, shape)) = found else {
            return Err(PyRuntimeError::new_err("the graph was given other weights between two blocks"));
        };
        self.done = end;
        self.show(py)?;
        Ok(Some((sources.into_pyarray(py), array(py, distances, shape)?)))
    }
}

/// At least as much as any distance of a graph whose weights are not below 0: a path leaves each vertex once at most, by its heaviest arc
/// at worst.
fn longest_path(graph: &warpath::Graph) -> u64 {
    let Weights::U32(weights) = graph.weights() else { return graph.vertices() as u64 };
    let heaviest = |v: VertexId| weights[graph.csr().row(v)].iter().max().copied().map_or(0, u64::from);
    (0..graph.vertices() as VertexId).into_par_iter().with_min_len(4096).map(heaviest).sum()
}

/// Integers of 32 bits as those of 64.
fn widened(distances: Distances) -> Distances {
    let Distances::U32(narrow) = distances else { return distances };
    let wide = |&value: &u32| if value == u32::MAX { u64::MAX } else { value.into() };
    Distances::U64(narrow.par_iter().with_min_len(4096).map(wide).collect())
}

/// An array of these distances, which has `-1` and the like where `DistanceMatrix.distances` does. It is the caller's own.
fn array(py: Python<'_>, distances: Distances, shape: (usize, usize)) -> PyResult<Bound<'_, PyAny>> {
    Ok(match distances {
        Distances::U32(values) => cast_vec::<u32, i32>(values).into_pyarray(py).reshape(shape)?.into_any(),
        Distances::U64(values) => cast_vec::<u64, i64>(values).into_pyarray(py).reshape(shape)?.into_any(),
        Distances::I64(values) => values.into_pyarray(py).reshape(shape)?.into_any(),
        Distances::F32(values) => values.into_pyarray(py).reshape(shape)?.into_any(),
        Distances::F64(values) => values.into_pyarray(py).reshape(shape)?.into_any(),
    })
}

/// Stands for whoever takes the rows, when it is decided how all of them would be found.
struct Taken;

impl RowSink for Taken {
    fn plan(&self, _: u64, _: u64, _: u64, _: &mut Plan) {}

    fn begin(&mut self, _: &TableShape<'_>, _: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        Ok(0)
    }

    fn rows(&mut self, _: &RowBlock<'_>) -> Result<()> {
        Ok(())
    }
}
