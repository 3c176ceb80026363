//! `warpath convert` and `warpath generate`: write a graph from any source to a file.

use std::path::Path;

use serde::Serialize;
use warpath::formats::{
    CoordinateFormat, Format, PackedFile, PartialFile, WriteOptions, check_output, write_coordinates,
};
use warpath::generate::Recipe;
use warpath::graph::Labels;
use warpath::{Error, Graph, Plan};

use crate::answer::{GraphFacts, PeakBytes, Times, timed};
use crate::arguments::ConvertArguments;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::Output;
use crate::print::{self, Table};
use crate::setup::{Prepared, Setup, generated_coordinates, inputs};

#[derive(Debug, Serialize)]
struct Converted {
    output: String,
    bytes: u64,
    graph: GraphFacts,
    seconds: Times,
    peak_bytes: PeakBytes,
}

pub(crate) fn generate(arguments: ConvertArguments) -> Result<ExitCode, Failure> {
    let given = &arguments.graph.graph;
    if !given.to_str().is_some_and(Recipe::looks_like) {
        return Err(Failure::usage(format!("`{}` is not a generator", given.display())).help(
            "there are kron:SCALE, uniform:SCALE, grid:ROWSxCOLUMNS, rgg:SCALE, scale-free:VERTICES, crawl:VERTICES, \
             roads:VERTICES and dense:VERTICES",
        ));
    }
    convert(arguments)
}

pub(crate) fn convert(arguments: ConvertArguments) -> Result<ExitCode, Failure> {
    let setup = Setup::without_engine(&arguments.common, arguments.plan.plan)?;
    let mut options = WriteOptions::new().control(setup.control.clone());
    if let Some(name) = &arguments.output_format {
        options = options.format(name.parse::<Format>()?);
    }
    let to_standard_output = arguments.output.as_os_str() == "-";
    if to_standard_output && arguments.common.json {
        return Err(Failure::usage("the graph and `--json` both want standard output"));
    }
    let format = options
        .format_for(&arguments.output)
        .map_err(|error| Failure::from(error).help(format!("`--output-format` takes {}", format_names())))?;
    // Open the output before the work, so that an unwritable path fails early.
    let file = if to_standard_output {
        None
    } else {
        check_output(&arguments.output, &inputs(&arguments.graph, &[]))?;
        Some(PartialFile::create(&arguments.output, &setup.control)?)
    };
    let coordinates = arguments.coordinates_output.as_deref();
    let coordinates = coordinates.map(|path| CoordinatesOutput::create(path, &arguments, &setup)).transpose()?;
    let Prepared { graph, hierarchy, seconds: load } = if format == Format::Warpath && !arguments.plan.plan {
        setup.load_with_hierarchy(&arguments.graph)?
    } else {
        let (graph, seconds) = setup.load(&arguments.graph)?;
        Prepared { graph, hierarchy: None, seconds }
    };
    if arguments.plan.plan {
        setup.print_plan_of_graph(&graph, Plan::new())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(coordinates) = coordinates {
        coordinates.write(&arguments, &graph)?;
    }
    let Some(file) = file else {
        let out = Output::standard(&setup.control);
        match &hierarchy {
            Some(hierarchy) => hierarchy.write_to(&options, out)?,
            None => options.write_to(&graph, out)?,
        }
        tell_of_lost_names(&graph, format, &arguments);
        return Ok(ExitCode::SUCCESS);
    };
    let ((), write) = timed(|| match &hierarchy {
        Some(hierarchy) => Ok(hierarchy.write_file(&options, file)?),
        None => Ok(options.write_file(&graph, file)?),
    })?;
    tell_of_lost_names(&graph, format, &arguments);
    let bytes = std::fs::metadata(&arguments.output).map_or(0, |metadata| metadata.len());
    let converted = Converted {
        output: arguments.output.display().to_string(),
        bytes,
        graph: GraphFacts::of(&graph),
        seconds: Times { load, write, ..Default::default() },
        peak_bytes: PeakBytes::of_host(),
    };
    if arguments.common.json {
        print::json(&converted)?;
    } else if !arguments.common.quiet {
        let mut table = Table::new();
        table.row("graph", converted.graph.text());
        table.row("written", format!("{}, {}", converted.output, print::bytes(bytes)));
        table.row("time", converted.seconds.text());
        table.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A file for coordinates.
struct CoordinatesOutput {
    file: PackedFile,
    format: CoordinateFormat,
}

impl CoordinatesOutput {
    /// Checks, before the work, that the file can be written.
    fn create(path: &Path, arguments: &ConvertArguments, setup: &Setup<'_>) -> Result<Self, Failure> {
        let format = CoordinateFormat::of(path)?;
        let mut inputs = inputs(&arguments.graph, &[]);
        // Two outputs to one file: the second would replace the first.
        inputs.push(&arguments.output);
        check_output(path, &inputs)?;
        Ok(CoordinatesOutput { file: PackedFile::create(path, &setup.control)?, format })
    }

    fn write(mut self, arguments: &ConvertArguments, graph: &Graph) -> Result<(), Failure> {
        let coordinates = generated_coordinates(&arguments.graph, graph)?.ok_or_else(|| {
            Failure::usage(
                "`--coordinates-output` is for the generators grid, rgg and roads, which know where vertices lie",
            )
        })?;
        let written = write_coordinates(&coordinates, graph, self.format, &mut self.file);
        written.map_err(|error| match error {
            Error::Io { source, .. } => Error::io(self.file.path(), source),
            other => other,
        })?;
        Ok(self.file.finish()?)
    }
}

/// Warns on standard error if the format renames vertices.
fn tell_of_lost_names(graph: &Graph, format: Format, arguments: &ConvertArguments) {
    let Some(first) = format.numbers_from().filter(|_| !arguments.common.quiet) else { return };
    if !matches!(graph.labels(), Labels::Range { first: named, .. } if *named == first) {
        print::to_stderr(&format!(
            "note: {format} files hold no names: the vertices are numbered from {first}, in the same order"
        ));
    }
}

fn format_names() -> String {
    Format::written().map(Format::name).collect::<Vec<_>>().join(", ")
}
