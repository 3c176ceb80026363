//! `warpath bfs` and `warpath sssp`: distances from sources.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;
use warpath::graph::Coordinates;
use warpath::problems::{Cutoff, Report};
use warpath::tables::{csv_field, write_npy};
use warpath::{Bfs, Error, Graph, Search, ShortestPathTree, Sssp, VertexId};

use crate::arguments::{BfsArguments, GraphArguments, SearchArguments, SolvingArguments, SsspArguments};
use crate::failure::Failure;
use crate::geojson::{self, FeatureWriter};
use crate::output::{Output, OutputKind};
use crate::print::{self, Table};
use crate::setup::{Answer, Counters, PeakBytes, Setup, Times, inputs, read_vertices, timed};

pub(crate) fn bfs(arguments: BfsArguments) -> Result<ExitCode, Failure> {
    let cutoff = match &arguments.search.cutoff {
        None => None,
        Some(text) => Some(text.parse::<u32>().map_err(|_| {
            Failure::usage(format!("the cutoff `{text}` is not a number of edges from 0 to {}", u32::MAX - 1))
        })?),
    };
    let command = SearchCommand {
        problem: "bfs",
        graph: &arguments.graph,
        search: &arguments.search,
        solving: &arguments.solving,
        ignores_weights: true,
        count_paths: arguments.count_paths,
    };
    command.run(|sources, targets| {
        let mut request = Bfs::from(sources).to(targets);
        if let Some(cutoff) = cutoff {
            request = request.within(cutoff);
        }
        if !arguments.search.predecessors {
            request = request.distances_only();
        }
        if arguments.count_paths {
            request = request.count_paths();
        }
        match &arguments.algorithm.algorithm {
            Some(algorithm) => request.algorithm(algorithm),
            None => request,
        }
    })
}

pub(crate) fn sssp(arguments: SsspArguments) -> Result<ExitCode, Failure> {
    let cutoff = arguments.search.cutoff.as_deref().map(str::parse::<Cutoff>).transpose()?;
    let command = SearchCommand {
        problem: "sssp",
        graph: &arguments.graph,
        search: &arguments.search,
        solving: &arguments.solving,
        ignores_weights: false,
        count_paths: false,
    };
    command.run(|sources, targets| {
        let mut request = Sssp::from(sources).to(targets);
        if let Some(cutoff) = cutoff {
            request = request.within(cutoff);
        }
        if !arguments.search.predecessors {
            request = request.distances_only();
        }
        match &arguments.algorithm.algorithm {
            Some(algorithm) => request.algorithm(algorithm),
            None => request,
        }
    })
}

/// What `bfs` and `sssp` share: everything but the request.
struct SearchCommand<'a> {
    problem: &'static str,
    graph: &'a GraphArguments,
    search: &'a SearchArguments,
    solving: &'a SolvingArguments,
    ignores_weights: bool,
    count_paths: bool,
}

impl SearchCommand<'_> {
    fn run<S: Search>(&self, request: impl Fn(Vec<VertexId>, Vec<VertexId>) -> S) -> Result<ExitCode, Failure> {
        let setup = Setup::to_solve(self.solving)?.ignoring_weights(self.ignores_weights);
        let mut output = self.search.output.as_deref().map(|path| self.create_output(&setup, path)).transpose()?;
        let (graph, load) = setup.load(self.graph)?;
        output.iter_mut().try_for_each(|output| output.locate(&setup, self, &graph))?;
        let vertices = |names: &[String]| names.iter().map(|name| graph.vertex(name)).collect::<Result<Vec<_>, _>>();
        let nearest = vertices(&self.search.source)?;
        let targets = vertices(&self.search.target)?;
        let list = self.search.sources.as_deref();
        let independent = list.map(|file| read_vertices(&setup, &graph, file)).transpose()?;
        let (solver, opening) = timed(|| setup.solver(&graph))?;
        if self.solving.plan.plan {
            let decision = match independent {
                Some(sources) => solver.decide_each(&request(Vec::new(), targets), &sources)?,
                None => solver.decide(&request(nearest, targets))?,
            };
            setup.print_plan(&solver, &decision, |_| (), self.search.output.as_deref())?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut totals = Times { load, prepare: opening, ..Default::default() };
        let mut results = Vec::new();
        let handle = |tree: ShortestPathTree| {
            let counters = Counters::of(tree.report(), self.solving.statistics && independent.is_some());
            let mut result = SearchResult::of(&graph, &tree, counters);
            let start = Instant::now();
            if self.search.verify {
                tree.verify(&graph)?;
                result.verified = Some(true);
            }
            totals.verify += start.elapsed().as_secs_f64();
            let start = Instant::now();
            if let Some(output) = &mut output {
                output.write(&graph, &tree)?;
            }
            totals.write += start.elapsed().as_secs_f64();
            totals.add(&tree.report().seconds);
            results.push((result, tree.report().clone()));
            Ok(())
        };
        match &independent {
            None => [solver.solve(request(nearest, targets))?].into_iter().try_for_each(handle)?,
            Some(sources) => solver.solve_each(request(Vec::new(), targets), sources, handle)?,
        }
        let ((), finishing) = timed(|| Ok(output.map_or(Ok(()), DistanceWriter::finish)?))?;
        totals.write += finishing;
        self.print(&graph, results, totals)?;
        Ok(ExitCode::SUCCESS)
    }

    fn create_output(&self, setup: &Setup<'_>, path: &Path) -> Result<DistanceWriter, Failure> {
        let many = self.search.sources.is_some();
        let lists = [&self.search.sources, &self.search.coordinates];
        let inputs = inputs(self.graph, &lists);
        if geojson::is_wanted(path) {
            if self.count_paths {
                return Err(Failure::usage("a .geojson holds distances; `--count-paths` needs a .csv"));
            }
            let output = Output::open(path, &inputs, &self.solving.common, &setup.control)?;
            return Ok(DistanceWriter::OnMap(MapWriter::new(output, many)));
        }
        if self.search.coordinates.is_some() {
            return Err(Failure::usage("`--coordinates` are for an output in .geojson"));
        }
        let (output, kind) = Output::create(path, &inputs, &self.solving.common, &setup.control)?;
        if kind == OutputKind::Npy && many {
            return Err(Failure::usage("one result for each source does not fit a .npy of distances")
                .help("`warpath apsp --sources FILE --output FILE.npy` writes a matrix with one row for each source"));
        }
        if kind == OutputKind::Npy && self.search.predecessors {
            return Err(Failure::usage("a .npy holds distances only; `--predecessors` needs a .csv"));
        }
        if kind == OutputKind::Npy && self.count_paths {
            return Err(Failure::usage("a .npy holds distances only; `--count-paths` needs a .csv"));
        }
        let columns = Columns { source: many, predecessor: self.search.predecessors, paths: self.count_paths };
        Ok(DistanceWriter::Table(TableWriter { output, kind, columns, begun: false }))
    }

    fn print(&self, graph: &Graph, mut results: Vec<(SearchResult, Report)>, seconds: Times) -> Result<(), Failure> {
        let Some((_, report)) = results.last() else { return Ok(()) };
        let many = self.search.sources.is_some();
        // Independent searches share no counters; each has its own.
        let answer = Answer::new(self.problem, graph, report, self.solving.statistics && !many);
        let common = &self.solving.common;
        if common.json {
            let peak_bytes = PeakBytes::of(results.iter().map(|(_, report)| report));
            return if many {
                let results = results.into_iter().map(|(result, _)| result).collect();
                print::json(&ManySearches { answer, results, seconds, peak_bytes })
            } else {
                print::json(&OneSearch { answer, result: results.remove(0).0, seconds, peak_bytes })
            };
        }
        let to_standard_output = self.search.output.as_deref().is_some_and(|path| path.as_os_str() == "-");
        if common.quiet || to_standard_output {
            return Ok(());
        }
        const SHOWN: usize = 20;
        let mut table = Table::new();
        answer.rows(&mut table, self.solving);
        for (result, _) in results.iter().take(SHOWN) {
            let (reached, all) = (print::grouped(result.reached.into()), print::grouped(graph.vertices() as u128));
            let mut text = format!("reached {reached} of {all}");
            if let Some(farthest) = &result.max_distance {
                text += &format!(", farthest {farthest}, sum {}", result.distance_sum);
            }
            text += if result.verified == Some(true) { ", verified" } else { "" };
            table.row(format!("from {}", result.source), text);
            if !result.order.is_empty() {
                let more = if result.order.len() > SHOWN { " ..." } else { "" };
                table.row("order", result.order[..result.order.len().min(SHOWN)].join(" ") + more);
            }
            result.counters.rows(&mut table);
        }
        if results.len() > SHOWN {
            table.row("", format!("and {}", print::count(results.len() - SHOWN, "more source", "more sources")));
        }
        if let Some(output) = &self.search.output {
            table.row("written", output.display().to_string());
        }
        table.row("time", seconds.text());
        table.print()
    }
}

/// What one search found.
#[derive(Debug, Serialize)]
struct SearchResult {
    source: String,
    reached: u64,
    max_distance: Option<serde_json::Value>,
    distance_sum: serde_json::Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    paths_saturated: Option<bool>,
    verified: Option<bool>,
    /// The order in which vertices were expanded, if the algorithm was asked to record it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    order: Vec<String>,
    /// The counters of one search among many; a single search has them in its answer.
    #[serde(flatten)]
    counters: Counters,
}

impl SearchResult {
    fn of(graph: &Graph, tree: &ShortestPathTree, counters: Counters) -> Self {
        let sources: Vec<_> = tree.sources().iter().map(|&source| graph.name(source)).collect();
        SearchResult {
            source: sources.join(","),
            reached: tree.reached(),
            max_distance: tree.max_distance().map(print::number),
            distance_sum: print::sum(tree.distance_sum()),
            paths_saturated: tree.path_counts().map(|counts| counts.saturated),
            verified: None,
            order: tree.report().order.iter().map(|&vertex| graph.name(vertex).into_owned()).collect(),
            counters,
        }
    }
}

#[derive(Debug, Serialize)]
struct OneSearch {
    #[serde(flatten)]
    answer: Answer,
    #[serde(flatten)]
    result: SearchResult,
    seconds: Times,
    peak_bytes: PeakBytes,
}

#[derive(Debug, Serialize)]
struct ManySearches {
    #[serde(flatten)]
    answer: Answer,
    results: Vec<SearchResult>,
    seconds: Times,
    peak_bytes: PeakBytes,
}

/// Writes distances to a file.
enum DistanceWriter {
    /// As a table.
    Table(TableWriter),
    /// As points and lines on a map.
    OnMap(MapWriter),
}

impl DistanceWriter {
    /// Finds out where the vertices lie, if the output shows it.
    fn locate(&mut self, setup: &Setup<'_>, command: &SearchCommand<'_>, graph: &Graph) -> Result<(), Failure> {
        if let DistanceWriter::OnMap(writer) = self {
            let file = command.search.coordinates.as_deref();
            writer.coordinates = Some(geojson::coordinates(setup, command.graph, file, graph)?);
        }
        Ok(())
    }

    fn write(&mut self, graph: &Graph, tree: &ShortestPathTree) -> Result<(), Error> {
        match self {
            DistanceWriter::Table(writer) => writer.write(graph, tree),
            DistanceWriter::OnMap(writer) => writer.write(graph, tree),
        }
    }

    fn finish(self) -> Result<(), Error> {
        match self {
            DistanceWriter::Table(writer) => writer.output.finish(),
            DistanceWriter::OnMap(writer) => writer.features.finish(),
        }
    }
}

/// Writes a point for each vertex that was reached, or a line for each edge of the tree.
struct MapWriter {
    features: FeatureWriter,
    /// Known once the graph is.
    coordinates: Option<Coordinates>,
    /// Whether there are several searches, each from a source of its own.
    many: bool,
}

impl MapWriter {
    fn new(output: Output, many: bool) -> Self {
        MapWriter { features: FeatureWriter::new(output), coordinates: None, many }
    }

    fn write(&mut self, graph: &Graph, tree: &ShortestPathTree) -> Result<(), Error> {
        let coordinates = self.coordinates.as_ref().ok_or_else(|| Error::invalid("the map is not known yet"))?;
        let name = |vertex: VertexId| graph.name(vertex).into_owned().into();
        for v in 0..graph.vertices() as VertexId {
            let Some(distance) = tree.distance(v) else { continue };
            let mut properties = serde_json::Map::new();
            if self.many {
                properties.insert("source".into(), name(tree.sources()[0]));
            }
            properties.insert("vertex".into(), name(v));
            properties.insert("distance".into(), print::number(distance));
            if tree.predecessors().is_none() {
                self.features.write(graph, coordinates, &[v], properties)?;
            } else if let Some(predecessor) = tree.predecessor(v) {
                properties.insert("predecessor".into(), name(predecessor));
                self.features.write(graph, coordinates, &[predecessor, v], properties)?;
            }
        }
        Ok(())
    }
}

/// Writes distances as a table.
struct TableWriter {
    output: Output,
    kind: OutputKind,
    columns: Columns,
    begun: bool,
}

/// Which columns a .csv has besides vertex and distance.
#[derive(Debug, Clone, Copy)]
struct Columns {
    source: bool,
    predecessor: bool,
    paths: bool,
}

impl TableWriter {
    fn write(&mut self, graph: &Graph, tree: &ShortestPathTree) -> Result<(), Error> {
        let result = match self.kind {
            OutputKind::Csv => self.write_csv(graph, tree),
            OutputKind::Npy => write_npy(&mut self.output, &[tree.distances().len()], tree.distances()),
        };
        result.map_err(|error| Error::io(self.output.path(), error))
    }

    fn write_csv(&mut self, graph: &Graph, tree: &ShortestPathTree) -> std::io::Result<()> {
        let Columns { source, predecessor, paths } = self.columns;
        let out = &mut self.output;
        if !std::mem::replace(&mut self.begun, true) {
            let columns =
                [("source,", source), ("vertex,distance", true), (",predecessor", predecessor), (",paths", paths)];
            let header: String = columns.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
            writeln!(out, "{header}")?;
        }
        let from: String =
            if source { csv_field(&graph.name(tree.sources()[0])).into_owned() + "," } else { String::new() };
        for v in 0..graph.vertices() as VertexId {
            write!(out, "{from}{},", csv_field(&graph.name(v)))?;
            if let Some(distance) = tree.distance(v) {
                write!(out, "{distance}")?;
            }
            if predecessor {
                write!(out, ",")?;
                if let Some(predecessor) = tree.predecessor(v) {
                    write!(out, "{}", csv_field(&graph.name(predecessor)))?;
                }
            }
            if let Some(counts) = tree.path_counts().filter(|_| paths) {
                write!(out, ",{}", counts.counts[v as usize])?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
