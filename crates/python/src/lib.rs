//! The extension module `warpath._warpath`, under the Python package of the same folder.
//!
//! `graph.rs` has the graph, `kept.rs` its solver, `requests.rs` what it is asked for, `construction.rs` makes it of arrays, `files.rs`
//! reads and writes it, `coordinates.rs` tells where vertices lie, `results.rs`, `paths.rs`, `betweenness.rs` and `reductions.rs` have the answers,
//! `device.rs` those on a GPU, `blocks.rs` asks for rows in blocks, `scipy_rows.rs` has the rows of `warpath.csgraph`, `arrays.rs` arrays on
//! the way in, `tables.rs` the edges of tables, `arrow_stream.rs` the batches of their rows, `calls.rs` runs work without the interpreter
//! and listens for Ctrl-C, `forks.rs` gives forked processes threads, `errors.rs` turns errors into exceptions.

mod arrays;
mod arrow_stream;
mod betweenness;
mod blocks;
mod calls;
mod construction;
mod coordinates;
mod device;
mod errors;
mod files;
mod forks;
mod graph;
mod kept;
mod paths;
mod reductions;
mod requests;
mod results;
mod scipy_rows;
mod tables;

/// Shortest paths and reachability in large graphs.
#[pyo3::pymodule(gil_used = false)]
mod _warpath {
    #[pymodule_export]
    use super::arrays::_sparse_rows;
    #[pymodule_export]
    use super::arrays::_survey;
    #[pymodule_export]
    use super::arrays::WholeWeights;
    #[pymodule_export]
    use super::betweenness::Betweenness;
    #[pymodule_export]
    use super::coordinates::generated_coordinates;
    #[pymodule_export]
    use super::device::{DeviceArray, DeviceTree};
    #[pymodule_export]
    use super::errors::{NegativeCycleError, VerificationError};
    #[pymodule_export]
    use super::graph::Graph;
    #[pymodule_export]
    use super::paths::{Path, PathsOfPairs};
    #[pymodule_export]
    use super::reductions::RowReductions;
    #[pymodule_export]
    use super::results::{DistanceMatrix, Reachability, ShortestPathTree};
    #[pymodule_export]
    use super::tables::_edges_of_stream;

    /// Runs the command `warpath` with these arguments, of which the first is the program's name, and returns its exit code.
    #[pyo3::pyfunction]
    fn _command(py: pyo3::Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| warpath_cli::main(arguments))
    }

    /// The version of the library.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
