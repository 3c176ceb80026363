//! Graphs from files and into files.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpath::formats::{Column, FirstLine, WeightSource};
use warpath::graph::{Direction, Labels, StringLabels};
use warpath::hierarchy::Hierarchy;
use warpath::{Format, ReadOptions};

use crate::calls::run_apart;
use crate::errors::exception;
use crate::graph::Graph;
use crate::kept::Options;

/// A column by its name, or by its place, counted from 1.
fn column(object: &Bound<'_, PyAny>) -> PyResult<Column> {
    object.str()?.to_str()?.parse().map_err(exception)
}

/// What is known of a file beside its name.
#[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
fn options(
    format: Option<&str>,
    weights: Option<&Bound<'_, PyAny>>,
    source: Option<&Bound<'_, PyAny>>,
    target: Option<&Bound<'_, PyAny>>,
    directed: Option<bool>,
    first_line: Option<&str>,
) -> PyResult<ReadOptions> {
    let mut options = ReadOptions::new();
    if let Some(format) = format {
        options = options.format(format.parse::<Format>().map_err(exception)?);
    }
    if let Some(weights) = weights {
        let is_unit = weights.extract::<&str>().is_ok_and(|name| name == "unit");
        options = options.weights(if is_unit { WeightSource::Unit } else { column(weights)?.into() });
    }
    match (source, target) {
        (Some(source), Some(target)) => options = options.ends(column(source)?, column(target)?),
        (None, None) => {}
        _ => return Err(PyValueError::new_err("source and target name columns together, or not at all")),
    }
    if let Some(directed) = directed {
        options = options.direction(if directed { Direction::Directed } else { Direction::Undirected });
    }
    if let Some(first_line) = first_line {
        options = options.first_line(first_line.parse::<FirstLine>().map_err(exception)?);
    }
    Ok(options)
}

/// The names of vertices as a file has them: ascending integers as such, all else as text.
fn names(labels: &Bound<'_, PyAny>) -> PyResult<Labels> {
    let integers: PyResult<Vec<u64>> = labels.try_iter()?.map(|label| label?.extract::<u64>()).collect();
    if let Ok(integers) = integers
        && integers.is_sorted_by(|a, b| a < b)
    {
        let are_all = integers.last().is_none_or(|&last| last + 1 == integers.len() as u64);
        return Ok(if are_all { Labels::range(0, integers.len() as u64) } else { Labels::Integers(integers) });
    }
    let mut texts = StringLabels::new();
    for (v, label) in labels.try_iter()?.enumerate() {
        let text = label?.str()?;
        if texts.intern(text.to_str()?).map_err(exception)? as usize != v {
            let text = text.to_str()?;
            return Err(PyValueError::new_err(format!("two vertices would have the name {text} in a file")));
        }
    }
    Ok(Labels::Strings(texts))
}

#[pymethods]
impl Graph {
    /// The graph in a file, of any format that the command `warpath` reads, with the hierarchy that `write` or `warpath prepare` has put
    /// into a `.wpg` file.
    ///
    /// `format` is the name of a format, by default that of the extension. Of tables and lists of edges, `source`, `target` and `weights`
    /// name columns, or count them from 1; `weights="unit"` leaves the weights out. `directed` turns arcs into edges, or edges into
    /// arcs. `first_line` is `"header"`, `"edge"` or `"counts"` where the line itself does not tell.
    #[staticmethod]
    #[pyo3(signature = (path, *, format=None, weights=None, source=None, target=None, directed=None, first_line=None, engine="auto", threads=0, memory=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        weights: Option<&Bound<'_, PyAny>>,
        source: Option<&Bound<'_, PyAny>>,
        target: Option<&Bound<'_, PyAny>>,
        directed: Option<bool>,
        first_line: Option<&str>,
        engine: &str,
        threads: usize,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        let read_options = options(format, weights, source, target, directed, first_line)?;
        let solver_options = Options::new(engine, threads, memory)?;
        run_apart(py, move || {
            let (graph, hierarchy) = Hierarchy::read_if_there(path, &read_options)?;
            Graph::open(graph, hierarchy, solver_options)
        })
    }

    /// Writes the graph to a file, in the format that its extension names: `.wpg` keeps everything, with the hierarchy if the graph is
    /// prepared. Names that are neither text nor integers are written as `str` has them. A file is whole, or not there.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let labels = self.labels.as_ref().map(|labels| names(labels.bind(py))).transpose()?;
        self.kept.calls.run(py, false, || {
            let solver = self.kept.solver()?;
            // A packed one has a further extension.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let hierarchy = solver.prepared_hierarchy().filter(|_| name.contains(".wpg"));
            let Some(labels) = &labels else {
                return match hierarchy {
                    Some(hierarchy) => hierarchy.write(&path),
                    None => warpath::write(solver.graph(), &path),
                };
            };
            let named = warpath::Graph::clone(solver.graph()).with_labels(labels.clone())?;
            match hierarchy {
                Some(hierarchy) => hierarchy.of_renamed(Arc::new(named))?.write(&path),
                None => warpath::write(&named, &path),
            }
        })
    }
}
