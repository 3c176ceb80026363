//! Paths as answers.

use numpy::IntoPyArray;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use warpath::problems::PathsOfPairs as Found;

use crate::results::number;

/// A path from a source to a target.
#[pyclass(frozen, module = "warpath")]
pub(crate) struct Path(warpath::Path);

impl Path {
    pub(crate) fn new(path: warpath::Path) -> Self {
        Path(path)
    }
}

#[pymethods]
impl Path {
    /// Its length: the sum of its weights. An `int`, or a `float` if weights are floats.
    #[getter]
    fn length<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        number(py, self.0.length())
    }

    /// Its vertices, source and target included: an array.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.0.vertices().to_vec().into_pyarray(py).into_any()
    }

    /// The number of its edges.
    fn __len__(&self) -> usize {
        self.0.edges().len()
    }

    fn __repr__(&self) -> String {
        let vertices = self.0.vertices();
        let (first, last) = (vertices[0], vertices[vertices.len() - 1]);
        format!("<warpath.Path: from {first} to {last}, length {}, {} edges>", self.0.length(), vertices.len() - 1)
    }
}

/// A path for each of several pairs of source and target.
#[pyclass(frozen, module = "warpath")]
pub(crate) struct PathsOfPairs(Found);

impl PathsOfPairs {
    pub(crate) fn new(found: Found) -> Self {
        PathsOfPairs(found)
    }
}

#[pymethods]
impl PathsOfPairs {
    /// The path of a pair; `None` if the target was not reached.
    fn __getitem__(&self, pair: isize) -> PyResult<Option<Path>> {
        let count = self.0.pairs().len();
        let from_the_end = if pair < 0 { pair + count as isize } else { pair };
        let place = usize::try_from(from_the_end).ok().filter(|&place| place < count);
        let place = place.ok_or_else(|| PyIndexError::new_err(format!("pair {pair} of {count}")))?;
        Ok(self.0.path(place).cloned().map(Path))
    }

    fn __len__(&self) -> usize {
        self.0.pairs().len()
    }

    /// The distances of the pairs as a list; `None` where the target was not reached.
    #[getter]
    fn distances<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        (0..self.0.pairs().len())
            .map(|pair| self.0.distance(pair).map(|length| number(py, length)).transpose())
            .collect()
    }

    /// The algorithm that answered.
    #[getter]
    fn algorithm(&self) -> &str {
        &self.0.report().algorithm
    }

    fn __repr__(&self) -> String {
        let (all, reached) = (self.0.pairs().len(), self.0.reachable());
        format!("<warpath.PathsOfPairs: {reached} of {all} targets reached, by {}>", self.0.report().algorithm)
    }
}
