//! `warpath centrality`: how central each vertex is.

use std::borrow::Cow;

use serde::Serialize;
use warpath::generate::sample_of_vertices;
use warpath::problems::{Cutoff, Reduction, Report, RowReductions};
use warpath::tables::{Cell, ColumnType};
use warpath::{Apsp, Betweenness, Graph, Neighborhoods, Request, Solver, VertexId};

use super::scores::Scores;
use crate::answer::{Answer, PeakBytes, Times, timed};
use crate::arguments::{CentralityArguments, Measure, SolvingArguments};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{Output, OutputKind};
use crate::print::{self, Table};
use crate::setup::{Prepared, Setup, inputs};
use crate::table::{self, Names, distance_type};

#[derive(Debug, Serialize)]
struct CentralityFound {
    #[serde(flatten)]
    answer: Answer,
    measure: &'static str,
    /// The distance that neighborhoods end at.
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<serde_json::Number>,
    source_count: u64,
    /// How far the normalized betweenness of a vertex is from the exact one at most, with a probability of 95 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    /// One object per row, if no file is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<serde_json::Value>,
    verified: Option<bool>,
    seconds: Times,
    peak_bytes: PeakBytes,
}

impl Measure {
    /// The name, which is also the title of its column.
    fn name(self) -> &'static str {
        match self {
            Measure::Betweenness => "betweenness",
            Measure::Closeness => "closeness",
            Measure::Harmonic => "harmonic",
            Measure::Eccentricity => "eccentricity",
            Measure::Neighborhood => "neighborhood",
        }
    }

    /// What rows of distances are reduced to. Betweenness needs more than distances, and neighborhoods less than rows.
    fn reduction(self) -> Option<Reduction> {
        match self {
            Measure::Betweenness | Measure::Neighborhood => None,
            Measure::Closeness => Some(Reduction::Closeness),
            Measure::Harmonic => Some(Reduction::Harmonic),
            Measure::Eccentricity => Some(Reduction::Eccentricity),
        }
    }
}

pub(crate) fn run(arguments: CentralityArguments) -> Result<ExitCode, Failure> {
    check(&arguments)?;
    let solving = &arguments.solving;
    let SolvingArguments { common, .. } = solving;
    let setup = Setup::to_solve(solving)?;
    let create = |path| Output::create(path, &inputs(&arguments.graph, &[]), common, &setup.control);
    let output = match arguments.output.as_deref().map(create).transpose()? {
        Some((_, OutputKind::Npy)) => return Err(Failure::usage("a measure is written to a .csv")),
        output => output.map(|(output, kind)| table::Table::new(output, kind)),
    };
    let Prepared { graph, hierarchy, seconds: load } = setup.load_with_hierarchy(&arguments.graph)?;
    let (solver, opening) = timed(|| setup.solver(&graph, hierarchy))?;
    let sources: Option<Vec<VertexId>> =
        arguments.sample.map(|count| sample_of_vertices(count as usize, graph.vertices(), arguments.seed).collect());
    let source_count = sources.as_ref().map_or(graph.vertices(), Vec::len) as u64;
    let asked = Asked { arguments: &arguments, setup: &setup, solver: &solver, sources: sources.as_deref() };
    let measured = match (arguments.measure.reduction(), arguments.within) {
        (Some(reduction), _) => asked.by_rows(&graph, reduction)?,
        (None, Some(within)) => asked.neighborhoods(&graph, within)?,
        (None, None) => asked.betweenness(&graph)?,
    };
    let Some(Measured { scores, report, error }) = measured else { return Ok(ExitCode::SUCCESS) };
    let is_written = output.is_some();
    let ((), write) = timed(|| output.map_or(Ok(()), |output| Ok(scores.write(output)?)))?;
    let mut seconds = Times::of(&report, load, opening);
    seconds.write += write;
    let found = CentralityFound {
        answer: Answer::new("centrality", &solver, &report, solving),
        measure: arguments.measure.name(),
        within: arguments.within.and_then(|within| match within {
            Cutoff::Integer(within) => Some(within.into()),
            // JSON has no infinity.
            Cutoff::Float(within) => serde_json::Number::from_f64(within),
        }),
        source_count,
        error,
        scores: (common.json && !is_written).then(|| scores.as_json()),
        verified: arguments.verify.then_some(true),
        seconds,
        peak_bytes: PeakBytes::of([&report]),
    };
    if common.json {
        return print::json(&found).map(|()| ExitCode::SUCCESS);
    }
    if !common.quiet && arguments.output.as_deref().is_none_or(|path| path.as_os_str() != "-") {
        let mut table = Table::new();
        found.answer.rows(&mut table, solving);
        let verified = if arguments.verify { ", verified" } else { "" };
        table.row("searches", print::grouped(source_count.into()) + verified);
        if let Some(error) = error {
            table.row("error", format!("{error:.4} of all pairs at most, with a probability of 95 %"));
        }
        match &arguments.output {
            Some(path) => table.row("written", path.display().to_string()),
            None => scores.show(&mut table),
        }
        table.row("time", found.seconds.text());
        table.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// An error if options do not go with the measure.
fn check(arguments: &CentralityArguments) -> Result<(), Failure> {
    let measure = arguments.measure;
    match (measure == Measure::Neighborhood, arguments.within) {
        (true, None) => return Err(Failure::usage("the measure `neighborhood` needs a distance: `--within DISTANCE`")),
        (false, Some(_)) => return Err(Failure::usage("`--within` is for the measure `neighborhood`")),
        _ => {}
    }
    if measure == Measure::Neighborhood && arguments.verify {
        return Err(Failure::usage("`--verify` checks rows of distances; neighborhoods are counted without rows"));
    }
    if measure == Measure::Neighborhood && arguments.algorithm.algorithm.is_some() {
        return Err(Failure::usage(
            "neighborhoods have one algorithm on each engine; `--algorithm` is for measures by rows of distances",
        ));
    }
    if measure == Measure::Betweenness {
        return match (arguments.verify, &arguments.algorithm.algorithm) {
            (true, _) => Err(Failure::usage("`--verify` checks distances; counts of paths have no certificate")),
            (_, Some(_)) => {
                Err(Failure::usage("betweenness has one algorithm; `--algorithm` is for the other measures"))
            }
            _ => Ok(()),
        };
    }
    let options =
        [("--edges", arguments.edges), ("--normalized", arguments.normalized), ("--endpoints", arguments.endpoints)];
    if let Some((option, _)) = options.iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::usage(format!("`{option}` is for betweenness; the measure is {}", measure.name())));
    }
    if measure == Measure::Neighborhood && arguments.sample.is_some() {
        return Err(Failure::usage("a sample has no estimate of neighborhoods: each vertex has its own search"));
    }
    if arguments.sample == Some(1) {
        return Err(Failure::usage(
            "one vertex alone has no estimate: `--sample` has to be 2 or more for this measure",
        ));
    }
    if measure == Measure::Eccentricity && arguments.sample.is_some() {
        return Err(Failure::usage(
            "a sample has no estimate of eccentricity; `apsp --sources FILE --reduce eccentricity` lists that of some vertices",
        ));
    }
    Ok(())
}

/// What was asked for.
struct Asked<'a> {
    arguments: &'a CentralityArguments,
    setup: &'a Setup<'a>,
    solver: &'a Solver,
    /// The sources, if not all vertices are.
    sources: Option<&'a [VertexId]>,
}

/// What was found.
struct Measured<'g> {
    scores: Scores<'g>,
    report: Report,
    /// How far the normalized betweenness of a vertex is from the exact one at most, with a probability of 95 %.
    error: Option<f64>,
}

impl Asked<'_> {
    /// Shows the plan of a request, if nothing else is wanted.
    fn is_planned<R: Request>(&self, request: &R) -> Result<bool, Failure> {
        let is_wanted = self.arguments.solving.plan.plan;
        if is_wanted {
            let output = self.arguments.output.as_deref();
            self.setup.print_plan(self.solver, &self.solver.decide(request)?, None, |_| (), output)?;
        }
        Ok(is_wanted)
    }

    /// A measure that rows of distances are reduced to; none if its plan was shown.
    fn by_rows<'g>(&self, graph: &'g Graph, reduction: Reduction) -> Result<Option<Measured<'g>>, Failure> {
        let mut sink = RowReductions::new([reduction]);
        let mut request = Apsp::all();
        if let Some(sources) = self.sources {
            request = request.from(sources);
        }
        if let Some(algorithm) = &self.arguments.algorithm.algorithm {
            request = request.algorithm(algorithm);
        }
        if self.arguments.verify {
            request = request.verified();
        }
        let request = request.into_sink(&mut sink);
        if self.is_planned(&request)? {
            return Ok(None);
        }
        let report = self.solver.solve(request)?.report().clone();
        let scores = of_rows(graph, &sink, reduction, self.sources);
        Ok(Some(Measured { scores, report, error: None }))
    }

    /// Sizes of neighborhoods; none if the plan was shown.
    fn neighborhoods<'g>(&self, graph: &'g Graph, within: Cutoff) -> Result<Option<Measured<'g>>, Failure> {
        let request = Neighborhoods::within(within);
        if self.is_planned(&request)? {
            return Ok(None);
        }
        let found = self.solver.solve(request)?;
        let names = Names::of(graph);
        let cells = (0..).zip(found.sizes()).flat_map(|(v, &size)| [names.cell(v), Cell::Unsigned(size)]);
        let columns = vec![("vertex", names.column), ("neighborhood", ColumnType::U64)];
        let scores = Scores { columns, cells: cells.collect() };
        Ok(Some(Measured { scores, report: found.report().clone(), error: None }))
    }

    /// Betweenness of vertices or edges; none if the plan was shown.
    fn betweenness<'g>(&self, graph: &'g Graph) -> Result<Option<Measured<'g>>, Failure> {
        let arguments = self.arguments;
        let request = betweenness(arguments);
        if self.is_planned(&request)? {
            return Ok(None);
        }
        let found = self.solver.solve(request)?;
        // The bound is for all vertices together, of which there are fewer than edges.
        let error = arguments.sample.filter(|_| !arguments.edges).map(|_| found.error());
        let names = Names::of(graph);
        let scores = if arguments.edges {
            let pairs = if arguments.normalized { pairs_of_ends(graph) } else { 1.0 };
            let row = |&(u, v, score): &(VertexId, VertexId, f64)| {
                [names.cell(u), names.cell(v), Cell::Double(score / pairs)]
            };
            Scores {
                columns: vec![("source", names.column), ("target", names.column), ("betweenness", ColumnType::F64)],
                cells: found.edges(graph).iter().flat_map(row).collect(),
            }
        } else {
            let values = if arguments.normalized { found.normalized() } else { found.scores() };
            Scores::of_vertices(graph, "betweenness", &values)
        };
        Ok(Some(Measured { scores, report: found.report().clone(), error }))
    }
}

fn betweenness(arguments: &CentralityArguments) -> Betweenness {
    let mut request = Betweenness::new();
    if let Some(count) = arguments.sample {
        request = request.sample(count as usize, arguments.seed);
    }
    if arguments.endpoints {
        request = request.with_endpoints();
    }
    if arguments.edges {
        request = request.with_arcs();
    }
    request
}

/// The pairs of vertices that paths over an edge can join.
fn pairs_of_ends(graph: &Graph) -> f64 {
    let vertices = graph.vertices() as f64;
    (vertices * (vertices - 1.0) * if graph.is_directed() { 1.0 } else { 0.5 }).max(1.0)
}

/// A measure that rows of distances were reduced to. Sums over a sample of the sources stand for sums over all.
fn of_rows<'g>(
    graph: &'g Graph,
    reductions: &RowReductions,
    reduction: Reduction,
    sources: Option<&[VertexId]>,
) -> Scores<'g> {
    let (title, values): (_, Cow<'_, [f64]>) = match reduction {
        Reduction::Closeness => ("closeness", reductions.closeness().into()),
        Reduction::Harmonic => match sources {
            None => ("harmonic", reductions.harmonic().into()),
            Some(sources) => {
                let all = graph.vertices() as f64 - 1.0;
                let mut others = vec![sources.len() as f64; graph.vertices()];
                sources.iter().for_each(|&source| others[source as usize] -= 1.0);
                let estimate = |(&sum, &others): (&f64, &f64)| if sum == 0.0 { 0.0 } else { sum * all / others };
                ("harmonic", reductions.harmonic().iter().zip(&others).map(estimate).collect())
            }
        },
        Reduction::Eccentricity | Reduction::Histogram => {
            let names = Names::of(graph);
            let values = reductions.eccentricities();
            return Scores {
                columns: vec![("vertex", names.column), ("eccentricity", distance_type(graph))],
                cells: (0..).zip(values).flat_map(|(v, &value)| [names.cell(v), value.into()]).collect(),
            };
        }
    };
    Scores::of_vertices(graph, title, &values)
}
