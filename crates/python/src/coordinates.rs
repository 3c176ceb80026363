//! Where vertices lie on a plane: coordinates of generated graphs, and of files.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use warpath::graph::Coordinates;
use warpath::{ReadOptions, VertexId};

use crate::errors::exception;
use crate::graph::Graph;

/// An array of two columns, x (or longitude) and y (or latitude): NaN where they are not known.
fn array<'py>(py: Python<'py>, coordinates: &Coordinates) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let vertices = 0..coordinates.len() as VertexId;
    let values: Vec<f64> = vertices.flat_map(|v| coordinates.of(v).unwrap_or([f64::NAN; 2])).collect();
    values.into_pyarray(py).reshape((coordinates.len(), 2))
}

/// Where the vertices of `generate(description)` lie: an array of two columns, x and y, with a row for each vertex. `None` if the family
/// is not one of graphs on a plane, as `grid`, `rgg` and `roads` are.
///
/// >>> warpath.generated_coordinates("grid:3x2").tolist()
/// [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
#[pyfunction]
pub(crate) fn generated_coordinates<'py>(
    py: Python<'py>,
    description: &str,
) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
    let find = || description.parse::<warpath::generate::Recipe>()?.coordinates();
    let found = py.detach(find).map_err(exception)?;
    found.map(|coordinates| array(py, &coordinates)).transpose()
}

#[pymethods]
impl Graph {
    /// Where the vertices lie, from a DIMACS `.co` file (integers, taken for millionths) or a `.csv` file of vertex, x, y: an array of two
    /// columns, x (or longitude) and y (or latitude), with a row for each vertex, NaN where the file does not have it. Names of vertices are
    /// those of the file that the graph was read from, and their numbers otherwise.
    fn read_coordinates<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let graph = self.graph(py)?;
        let found = py.detach(|| ReadOptions::new().read_coordinates(&path, &graph)).map_err(exception)?;
        array(py, &found)
    }
}
