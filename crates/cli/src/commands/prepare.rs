//! `warpath prepare`: make a hierarchy for a graph, and store both.

use std::path::Path;

use serde::Serialize;
use warpath::formats::{Format, PartialFile, WriteOptions, check_output};
use warpath::hierarchy::{Hierarchy, nested_dissection};

use crate::answer::{GraphFacts, PeakBytes, timed};
use crate::arguments::PrepareArguments;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::Output;
use crate::print::{self, Table};
use crate::setup::{Setup, inputs};
use crate::vertex_lists::read_order;

#[derive(Debug, Serialize)]
struct Prepared {
    output: String,
    bytes: u64,
    graph: GraphFacts,
    hierarchy: HierarchyFacts,
    seconds: Seconds,
    peak_bytes: PeakBytes,
}

#[derive(Debug, Serialize)]
struct Seconds {
    load: f64,
    order: f64,
    eliminate: f64,
    write: f64,
}

/// A hierarchy as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct HierarchyFacts {
    shortcuts: u64,
    /// The pairs of vertices among them that have an arc between them.
    edges: u64,
    height: usize,
    width: usize,
}

impl HierarchyFacts {
    pub(crate) fn of(hierarchy: &Hierarchy) -> Result<Self, Failure> {
        let (shortcuts, edges) = (hierarchy.shortcuts(), hierarchy.edges()?);
        Ok(HierarchyFacts { shortcuts, edges, height: hierarchy.height(), width: hierarchy.width() })
    }

    pub(crate) fn text(&self) -> String {
        let times = match self.edges {
            0 => String::new(),
            edges => format!(", {:.2} times the edges", self.shortcuts as f64 / edges as f64),
        };
        format!(
            "{}{times}; height {}, width {}",
            print::count(self.shortcuts, "shortcut", "shortcuts"),
            print::grouped(self.height as u128),
            print::grouped(self.width as u128)
        )
    }
}

pub(crate) fn run(arguments: PrepareArguments) -> Result<ExitCode, Failure> {
    let common = &arguments.common;
    let setup = Setup::without_engine(common, false)?;
    let options = WriteOptions::new().control(setup.control.clone());
    let to_standard_output = arguments.output.as_os_str() == "-";
    if to_standard_output && common.json {
        return Err(Failure::usage("`--output -` and `--json` both want standard output"));
    }
    // Open the output before the work, so that an unwritable path fails early.
    let file = if to_standard_output {
        None
    } else {
        check_name(&arguments.output)?;
        check_output(&arguments.output, &inputs(&arguments.graph, &[&arguments.order]))?;
        Some(PartialFile::create(&arguments.output, &setup.control)?)
    };
    let (graph, load) = setup.load(&arguments.graph)?;
    let (order, seconds_of_order) = timed(|| match &arguments.order {
        Some(file) => read_order(&setup, &graph, file),
        None => Ok(nested_dissection(&graph, &setup.control)?),
    })?;
    let (hierarchy, eliminate) = timed(|| Ok(setup.hierarchy(&graph).order(order).build()?))?;
    let Some(file) = file else {
        hierarchy.write_to(&options.format(Format::Warpath), Output::standard(&setup.control))?;
        return Ok(ExitCode::SUCCESS);
    };
    let ((), write) = timed(|| Ok(hierarchy.write_file(&options, file)?))?;
    let prepared = Prepared {
        output: arguments.output.display().to_string(),
        bytes: std::fs::metadata(&arguments.output).map_or(0, |metadata| metadata.len()),
        graph: GraphFacts::of(&graph),
        hierarchy: HierarchyFacts::of(&hierarchy)?,
        seconds: Seconds { load, order: seconds_of_order, eliminate, write },
        peak_bytes: PeakBytes::of_host(),
    };
    if common.json {
        print::json(&prepared)?;
    } else if !common.quiet {
        show(&prepared).print()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// An error unless the extension is that of a `.wpg`.
fn check_name(output: &Path) -> Result<(), Failure> {
    match WriteOptions::new().format_for(output) {
        Ok(Format::Warpath) => Ok(()),
        _ => Err(Failure::usage(format!(
            "`{}`: a hierarchy is written to a .wpg, or packed to a .wpg.gz, .wpg.zst, .wpg.bz2 or .wpg.xz",
            output.display()
        ))),
    }
}

fn show(prepared: &Prepared) -> Table {
    let mut table = Table::new();
    table.row("graph", prepared.graph.text());
    table.row("hierarchy", prepared.hierarchy.text());
    table.row("written", format!("{}, {}", prepared.output, print::bytes(prepared.bytes)));
    let Seconds { load, order, eliminate, write } = prepared.seconds;
    let parts = [("load", load), ("order", order), ("eliminate", eliminate), ("write", write)];
    table.row("time", parts.map(|(name, seconds)| format!("{name} {}", print::seconds(seconds))).join(", "));
    table
}
