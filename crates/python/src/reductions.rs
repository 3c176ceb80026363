//! What the rows of a table say together.

use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use warpath::graph::Distance;
use warpath::problems::{ApspSummary, DistanceSum, RowReductions as Sink};

use crate::results::number;

/// Facts about all rows of a table of distances, which was not kept.
#[pyclass(frozen, module = "warpath")]
pub(crate) struct RowReductions {
    sink: Sink,
    summary: ApspSummary,
}

impl RowReductions {
    pub(crate) fn new(sink: Sink, summary: ApspSummary) -> Self {
        RowReductions { sink, summary }
    }
}

#[pymethods]
impl RowReductions {
    /// The greatest distance of each source to what it reaches: `int64`, -1 for a source that reaches no target; or `float64` and NaN.
    #[getter]
    fn eccentricities<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        let all = self.sink.eccentricities();
        let is_integer = |distance: &Option<Distance>| match distance {
            Some(Distance::Unsigned(value)) => i64::try_from(*value).is_ok(),
            Some(Distance::Signed(_)) | None => true,
            Some(Distance::Single(_) | Distance::Double(_)) => false,
        };
        if all.iter().all(is_integer) {
            let integers = all.iter().map(|distance| match distance {
                Some(Distance::Unsigned(value)) => *value as i64,
                Some(Distance::Signed(value)) => *value,
                _ => -1,
            });
            return integers.collect::<Vec<_>>().into_pyarray(py).into_any();
        }
        let floats = all.iter().map(|distance| distance.map_or(f64::NAN, Distance::to_f64));
        floats.collect::<Vec<_>>().into_pyarray(py).into_any()
    }

    /// The closeness of each target, after Wasserman and Faust: the share of the sources that reach it, over their mean distance.
    #[getter]
    fn closeness<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.sink.closeness().into_pyarray(py).into_any()
    }

    /// The sum of the inverse distances to each target.
    #[getter]
    fn harmonic<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.sink.harmonic().to_vec().into_pyarray(py).into_any()
    }

    /// How many pairs have which distance: a row `(where the bin begins, count)` for each bin that is not empty, `float64`.
    #[getter]
    fn histogram<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bins: Vec<f64> = self.sink.histogram().bins().flat_map(|(start, count)| [start, count as f64]).collect();
        let rows = bins.len() / 2;
        Ok(bins.into_pyarray(py).reshape((rows, 2))?.into_any())
    }

    /// The sum of all distances: an `int`, exact, or a `float`.
    #[getter]
    fn distance_sum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self.summary.distance_sum() {
            DistanceSum::Integer(sum) => sum.into_pyobject(py)?.into_any(),
            DistanceSum::Float(sum) => sum.into_pyobject(py)?.into_any(),
        })
    }

    /// How many pairs have a distance, those of a vertex and itself included.
    #[getter]
    fn finite_pairs(&self) -> u64 {
        self.summary.finite_pairs()
    }

    /// The greatest distance; `None` if there is none.
    #[getter]
    fn max_distance<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.summary.max_distance().map(|distance| number(py, distance)).transpose()
    }

    /// The algorithm that answered.
    #[getter]
    fn algorithm(&self) -> &str {
        &self.summary.report().algorithm
    }

    /// Where: `cpu`, or `cuda:0`.
    #[getter]
    fn engine(&self) -> &str {
        &self.summary.report().engine
    }

    fn __repr__(&self) -> String {
        let (sources, pairs) = (self.summary.sources(), self.summary.finite_pairs());
        let report = self.summary.report();
        format!(
            "<warpath.RowReductions: {sources} sources, {pairs} pairs with a distance, by {} on {}>",
            report.algorithm, report.engine
        )
    }
}
