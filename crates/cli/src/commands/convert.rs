//! `warpath convert` and `warpath generate`: a graph from anywhere into a file.

use std::process::ExitCode;

use serde::Serialize;
use warpath::formats::{Format, PartialFile, WriteOptions};
use warpath::generate::Recipe;

use crate::arguments::ConvertArguments;
use crate::failure::Failure;
use crate::print::{self, Table};
use crate::session::{GraphFacts, PeakBytes, Session, Times, timed};

#[derive(Debug, Serialize)]
struct Converted {
    output: String,
    bytes: u64,
    graph: GraphFacts,
    seconds: Times,
    peak_bytes: PeakBytes,
}

pub(crate) fn generate(arguments: ConvertArguments) -> Result<ExitCode, Failure> {
    if !Recipe::looks_like(&arguments.graph.graph) {
        let given = &arguments.graph.graph;
        return Err(Failure::usage(format!("`{given}` is not a generator")).help(
            "there are kron:SCALE, uniform:SCALE, grid:ROWSxCOLUMNS, rgg:SCALE, scale-free:VERTICES and dense:VERTICES",
        ));
    }
    convert(arguments)
}

pub(crate) fn convert(arguments: ConvertArguments) -> Result<ExitCode, Failure> {
    let session = Session::new(&arguments.common)?;
    let mut options = WriteOptions::new();
    if let Some(name) = &arguments.output_format {
        options = options.format(name.parse::<Format>()?);
    }
    options.format_for(&arguments.output)?;
    // Found before the work: a path that can't be written.
    drop(PartialFile::create(&arguments.output)?);
    let (graph, load) = session.load(&arguments.graph)?;
    if arguments.common.plan {
        session.print_plan(&graph, warpath::Plan::new())?;
        return Ok(ExitCode::SUCCESS);
    }
    let ((), write) = timed(|| Ok(options.write(&graph, &arguments.output)?))?;
    let bytes = std::fs::metadata(&arguments.output).map_or(0, |metadata| metadata.len());
    let converted = Converted {
        output: arguments.output.display().to_string(),
        bytes,
        graph: GraphFacts::of(&graph),
        seconds: Times { load, write, ..Default::default() },
        peak_bytes: PeakBytes::now(),
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
