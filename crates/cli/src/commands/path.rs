//! `warpath path`: the shortest path between two vertices.

use std::process::ExitCode;

use serde::Serialize;
use warpath::Sssp;

use crate::arguments::{PathArguments, SolvingArguments};
use crate::failure::Failure;
use crate::print::{self, Table};
use crate::setup::{Answer, PeakBytes, Setup, Times, timed};

#[derive(Debug, Serialize)]
struct PathFound {
    #[serde(flatten)]
    answer: Answer,
    from: String,
    to: String,
    reachable: bool,
    length: Option<serde_json::Value>,
    edges: Option<usize>,
    vertices: Option<Vec<String>>,
    verified: Option<bool>,
    seconds: Times,
    peak_bytes: PeakBytes,
}

pub(crate) fn run(arguments: PathArguments) -> Result<ExitCode, Failure> {
    let solving = &arguments.solving;
    let SolvingArguments { common, plan, .. } = solving;
    let setup = Setup::to_solve(solving)?;
    let (graph, load) = setup.load(&arguments.graph)?;
    let (from, to) = (graph.vertex(&arguments.from)?, graph.vertex(&arguments.to)?);
    let (solver, opening) = timed(|| setup.solver(&graph))?;
    if plan.plan {
        setup.print_plan(&solver, &solver.decide(&Sssp::from(from).to(to))?, |_| (), None)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (path, report) = solver.path_and_report(from, to)?;
    let ((), verify) = timed(|| match arguments.verify {
        // A search from the source to all vertices, with a valid certificate, must give the same length.
        true => verify_path(&solver, from, to, path.as_ref().map(|path| path.length())),
        false => Ok(()),
    })?;
    let names =
        path.as_ref().map(|path| path.vertices().iter().map(|&v| graph.name(v).into_owned()).collect::<Vec<_>>());
    let found = PathFound {
        answer: Answer::new("path", &solver, &report, solving),
        from: arguments.from.clone(),
        to: arguments.to.clone(),
        reachable: path.is_some(),
        length: path.as_ref().map(|path| print::number(path.length())),
        edges: path.as_ref().map(|path| path.edges().len()),
        vertices: names,
        verified: arguments.verify.then_some(true),
        seconds: Times { verify, ..Times::of(&report, load, opening) },
        peak_bytes: PeakBytes::of([&report]),
    };
    if common.json {
        print::json(&found)?;
    } else if !common.quiet {
        let mut table = Table::new();
        found.answer.rows(&mut table, solving);
        match (&found.length, &found.vertices) {
            (Some(length), Some(vertices)) => {
                let edges = print::count(found.edges.unwrap_or(0), "edge", "edges");
                let verified = if arguments.verify { ", verified" } else { "" };
                table.row("length", format!("{} over {edges}{verified}", print::digits(length)));
                table.row("vertices", vertices.join(" "));
            }
            _ => table.row("path", format!("no path leads from {} to {}", found.from, found.to)),
        }
        table.row("time", found.seconds.text());
        table.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn verify_path(
    solver: &warpath::Solver,
    from: warpath::VertexId,
    to: warpath::VertexId,
    length: Option<warpath::Distance>,
) -> Result<(), Failure> {
    let tree = solver.solve(Sssp::from(from))?;
    tree.verify(solver.graph())?;
    if tree.distance(to) != length {
        let text = |distance: Option<warpath::Distance>| distance.map_or("none".to_owned(), |d| d.to_string());
        let (found, right) = (text(length), text(tree.distance(to)));
        return Err(
            warpath::Error::NotVerified(format!("the path has length {found}; the shortest has {right}")).into()
        );
    }
    Ok(())
}
