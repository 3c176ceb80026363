//! Rows of distances and predecessors as SciPy has them, for `warpath.csgraph`.

use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use warpath::graph::{DistanceValue, Distances, NO_VERTEX, WeightKind, with_distances};
use warpath::problems::{RowBlock, RowSink, TableShape};
use warpath::{Apsp, Bfs, Error, Plan, Result, Search, ShortestPathTree, Solver, Sssp, VertexId, on_huge_pages};

use crate::arrays::vertices;
use crate::graph::Graph;
use crate::requests::with_options;

/// What SciPy writes for "no vertex".
const NOTHING: i32 = -9999;

/// Vertices as SciPy has them.
fn as_scipy(vertices: &[VertexId]) -> Vec<i32> {
    vertices.iter().map(|&v| if v == NO_VERTEX { NOTHING } else { v as i32 }).collect()
}

/// Whether searches from so many sources are done soon.
fn is_little(graph: &warpath::Graph, sources: usize) -> bool {
    sources.saturating_mul(graph.vertices() + graph.arcs()) <= 1 << 15
}

/// An empty list with room for so many cells.
fn room<T>(cells: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(cells).map_err(|_| Error::OutOfMemory {
        what: "rows of distances".into(),
        needed: cells as u64 * size_of::<T>() as u64,
        available: warpath::available_memory(),
    })?;
    Ok(on_huge_pages(list))
}

/// Rows of distances and predecessors, as SciPy has them.
struct Rows {
    distances: Vec<f64>,
    predecessors: Option<Vec<i32>>,
}

impl Rows {
    fn new(rows: usize, columns: usize, predecessors: bool) -> Result<Self> {
        let cells = rows.saturating_mul(columns);
        let predecessors = predecessors.then(|| room(cells)).transpose()?;
        Ok(Rows { distances: room(cells)?, predecessors })
    }

    fn of<S: Search>(solver: &Solver, search: &S, sources: &[VertexId], predecessors: bool) -> Result<Self> {
        let graph = solver.graph();
        let mut rows = Rows::new(sources.len(), graph.vertices(), predecessors)?;
        if is_little(graph, sources.len()) {
            // Nothing is worth sharing.
            for &source in sources {
                rows.add(&solver.solve(search.starting_at(source))?);
            }
            return Ok(rows);
        }
        solver.solve_each(search.clone(), sources, |tree| {
            rows.add(&tree);
            Ok(())
        })?;
        Ok(rows)
    }

    fn add(&mut self, tree: &ShortestPathTree) {
        with_distances!(tree.distances(), values => self.distances.extend(values.iter().map(|&value| DistanceValue::to_f64(value))));
        if let (Some(all), Some(of_tree)) = (&mut self.predecessors, tree.predecessors()) {
            all.extend(of_tree.iter().map(|&v| if v == NO_VERTEX { NOTHING } else { v as i32 }));
        }
    }
}

/// The distances as SciPy has them.
fn as_floats(distances: &Distances) -> Result<Vec<f64>> {
    with_distances!(distances, values => {
        let mut floats = room(values.len())?;
        let values = values.par_iter().with_min_len(1 << 16);
        values.map(|&value| DistanceValue::to_f64(value)).collect_into_vec(&mut floats);
        Ok(floats)
    })
}

/// Takes rows of distances as `float64`, with infinity where nothing arrives.
struct FloatRows {
    cells: Vec<f64>,
    columns: usize,
}

impl RowSink for FloatRows {
    fn plan(&self, rows: u64, columns: u64, _: u64, plan: &mut Plan) {
        plan.memory("distances as float64", rows.saturating_mul(columns).saturating_mul(size_of::<f64>() as u64));
    }

    fn begin(&mut self, table: &TableShape<'_>, _: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        self.columns = table.columns();
        let cells = table.rows().saturating_mul(self.columns);
        self.cells = room(cells)?;
        (0..cells).into_par_iter().with_min_len(1 << 16).map(|_| f64::INFINITY).collect_into_vec(&mut self.cells);
        Ok(0)
    }

    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()> {
        let columns = self.columns.max(1);
        with_distances!(block.values, values => {
            for (row, values) in block.rows.iter().zip(values.chunks_exact(columns)) {
                let cells = &mut self.cells[row * columns..(row + 1) * columns];
                cells.par_iter_mut().with_min_len(1 << 14).zip(values).for_each(|(cell, &value)| *cell = value.to_f64());
            }
        });
        Ok(())
    }
}

#[pymethods]
impl Graph {
    /// For `warpath.csgraph`: as `_rows` without cutoff and predecessors, by whatever `apsp` takes for quickest.
    fn _distance_rows<'py>(&self, sources: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, sources) = (sources.py(), vertices(sources, "indices")?);
        let found = self.solve_from(py, sources.len(), |solver| {
            /// So many cells are converted sooner than threads for a sink start.
            const FEW: usize = 1 << 22;
            let request = Apsp::all().from(sources.as_slice());
            let cells = sources.len().saturating_mul(solver.graph().vertices());
            // Floats are what SciPy has already.
            if solver.graph().weight_kind() == WeightKind::F64 || cells <= FEW {
                return Ok(match solver.solve(request)?.into_distances() {
                    Distances::F64(cells) => cells,
                    distances => as_floats(&distances)?,
                });
            }
            let mut sink = FloatRows { cells: Vec::new(), columns: 0 };
            solver.solve(request.into_sink(&mut sink))?;
            Ok(sink.cells)
        })?;
        let shape = (sources.len(), self.size(py).vertices);
        Ok(found.into_pyarray(py).reshape(shape)?.into_any())
    }

    /// For `warpath.csgraph`: a search from each source by itself. Distances as `float64`, infinity where nothing arrives, and, if they
    /// are wanted, predecessors as `int32`, -9999 at sources and where nothing arrives: a row for each source.
    #[pyo3(signature = (sources, *, cutoff=None, unweighted=false, predecessors=false))]
    fn _rows<'py>(
        &self,
        sources: &Bound<'py, PyAny>,
        cutoff: Option<f64>,
        unweighted: bool,
        predecessors: bool,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let (py, sources) = (sources.py(), vertices(sources, "indices")?);
        let found = self.solve_from(py, sources.len(), |solver| {
            if unweighted {
                // Numbers of edges below any cutoff.
                let cutoff = cutoff.map(|cutoff| cutoff.min(f64::from(u32::MAX)) as u32);
                let search = with_options!(Bfs::from(0), within(cutoff));
                let search = if predecessors { search } else { search.distances_only() };
                return Rows::of(solver, &search, &sources, predecessors);
            }
            let search = with_options!(Sssp::from(0), within(cutoff));
            let search = if predecessors { search } else { search.distances_only() };
            Rows::of(solver, &search, &sources, predecessors)
        })?;
        let shape = (sources.len(), self.size(py).vertices);
        let distances = found.distances.into_pyarray(py).reshape(shape)?.into_any();
        let predecessors = found
            .predecessors
            .map(|all| Ok::<_, PyErr>(all.into_pyarray(py).reshape(shape)?.into_any()))
            .transpose()?;
        Ok((distances, predecessors))
    }

    /// For `warpath.csgraph`: one search from the nearest of several sources. Distances and predecessors as `_rows` has them, and the
    /// source of each vertex, -9999 where nothing arrives.
    #[pyo3(signature = (sources, *, cutoff=None))]
    fn _nearest<'py>(
        &self,
        sources: &Bound<'py, PyAny>,
        cutoff: Option<f64>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, sources) = (sources.py(), vertices(sources, "indices")?);
        let request = with_options!(Sssp::from(sources), within(cutoff));
        let (distances, predecessors, nearest) = self.solve_long(py, false, |solver| {
            let tree = solver.solve(request.clone())?;
            let mut rows = Rows::new(1, solver.graph().vertices(), true)?;
            rows.add(&tree);
            let nearest = tree.nearest_sources()?.unwrap_or_default();
            Ok((rows.distances, rows.predecessors.unwrap_or_default(), as_scipy(&nearest)))
        })?;
        Ok((
            distances.into_pyarray(py).into_any(),
            predecessors.into_pyarray(py).into_any(),
            nearest.into_pyarray(py).into_any(),
        ))
    }
}
