//! Writes paths as lines of comma-separated values: a line for each vertex.

use std::io::Write;

use warpath::tables::csv_field;
use warpath::{Control, Error, Graph, Path};

use crate::arguments::CommonArguments;
use crate::failure::Failure;
use crate::output::Output;

/// A path to write.
pub(super) struct Route<'p> {
    /// The fields in front of each line, each with its comma.
    pub(super) prefix: String,
    /// The path; a pair without one gets a line with nothing else in it.
    pub(super) path: Option<&'p Path>,
}

/// Writes paths to a file.
pub(super) struct RouteWriter {
    output: Output,
    header: String,
    begun: bool,
}

impl RouteWriter {
    /// Checks, before the work, that the file can be written. `prefix` names the columns in front, each with its comma.
    pub(super) fn create(
        path: &std::path::Path,
        prefix: &str,
        inputs: &[&std::path::Path],
        common: &CommonArguments,
        control: &Control,
    ) -> Result<Self, Failure> {
        if path.as_os_str() != "-" && path.extension().is_none_or(|extension| extension != "csv") {
            return Err(Failure::usage(format!(
                "`{}` names no format for paths: its extension can be .csv",
                path.display()
            )));
        }
        let output = Output::open(path, inputs, common, control)?;
        Ok(RouteWriter { output, header: format!("{prefix}vertex,distance,weight\n"), begun: false })
    }

    fn begin(&mut self) -> Result<(), Error> {
        if !std::mem::replace(&mut self.begun, true) {
            let written = self.output.write_all(self.header.as_bytes());
            written.map_err(|error| Error::io(self.output.path(), error))?;
        }
        Ok(())
    }

    /// Writes a path.
    pub(super) fn write(&mut self, graph: &Graph, route: &Route<'_>) -> Result<(), Error> {
        self.begin()?;
        let steps = route.path.map(|path| path.steps(graph)).transpose()?;
        let mut lines = String::new();
        match steps {
            None => lines = format!("{},,\n", route.prefix),
            Some(steps) => {
                for step in steps {
                    let weight = step.weight.map_or(String::new(), |weight| weight.to_string());
                    let name = graph.name(step.vertex);
                    lines += &format!("{}{},{},{weight}\n", route.prefix, csv_field(&name), step.distance);
                }
            }
        }
        self.output.write_all(lines.as_bytes()).map_err(|error| Error::io(self.output.path(), error))
    }

    /// Gives the file its final name.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.begin()?;
        self.output.finish()
    }
}
