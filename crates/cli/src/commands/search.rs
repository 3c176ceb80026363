//! `warpath bfs` and `warpath sssp`: distances from sources.

mod drawn;
mod found;
mod map;
#[cfg(feature = "mpi")]
mod ranks;
mod writer;

use std::path::Path;
use std::time::Instant;

use warpath::problems::{Cutoff, Report};
use warpath::{Bfs, Error, Search, ShortestPathTree, Solver, Sssp, VertexId};

use self::drawn::Drawn;
use self::found::{EachSearch, Found, ManySearches, OneSearch};
use self::map::MapWriter;
use self::writer::{Columns, DistanceWriter, TableWriter};
use crate::answer::{Answer, Counters, PeakBytes, Times, timed};
use crate::arguments::{
    BfsArguments, GraphArguments, IsochroneArguments, SearchArguments, SolvingArguments, SsspArguments,
};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::geojson;
use crate::output::{Output, OutputKind};
use crate::print::{self, Table};
use crate::setup::{Prepared, Setup, inputs};
use crate::vertex_lists::read_vertices;

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
        isochrones: None,
        ignores_weights: true,
        count_paths: arguments.count_paths,
    };
    if arguments.solving.engine.is_mpi() {
        return command.run_on_ranks(arguments.algorithm.algorithm.as_deref());
    }
    command.run(|sources, targets| {
        let mut request = Bfs::from(sources).to(targets);
        if let Some(cutoff) = cutoff {
            request = request.within(cutoff);
        }
        if !arguments.search.needs_predecessors() {
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
        isochrones: Some(&arguments.isochrones).filter(|areas| !areas.isochrones.is_empty()),
        ignores_weights: false,
        count_paths: false,
    };
    if arguments.solving.engine.is_mpi() {
        return command.run_on_ranks(arguments.algorithm.algorithm.as_deref());
    }
    command.run(|sources, targets| {
        let mut request = Sssp::from(sources).to(targets);
        if let Some(cutoff) = cutoff {
            request = request.within(cutoff);
        }
        if !arguments.search.needs_predecessors() {
            request = request.distances_only();
        }
        match &arguments.algorithm.algorithm {
            Some(algorithm) => request.algorithm(algorithm),
            None => request,
        }
    })
}

impl SearchArguments {
    /// Whether the nearest of several sources is told, to the .csv or .geojson or for each target.
    fn names_nearest(&self) -> bool {
        let to_file = self
            .output
            .as_deref()
            .is_some_and(|path| geojson::is_wanted(path) || OutputKind::of(path).is_ok_and(OutputKind::is_table));
        self.source.len() > 1 && (to_file || !self.target.is_empty())
    }

    /// Whether predecessors are asked for, or needed to tell the nearest source.
    fn needs_predecessors(&self) -> bool {
        self.predecessors || self.names_nearest()
    }
}

/// What `bfs` and `sssp` share: everything but the request.
struct SearchCommand<'a> {
    problem: &'static str,
    graph: &'a GraphArguments,
    search: &'a SearchArguments,
    solving: &'a SolvingArguments,
    /// The areas that are asked for, if any are.
    isochrones: Option<&'a IsochroneArguments>,
    ignores_weights: bool,
    count_paths: bool,
}

impl SearchCommand<'_> {
    /// Lets the ranks of an MPI run search.
    #[cfg(feature = "mpi")]
    fn run_on_ranks(&self, algorithm: Option<&str>) -> Result<ExitCode, Failure> {
        ranks::run(self, algorithm)
    }

    #[cfg(not(feature = "mpi"))]
    fn run_on_ranks(&self, _: Option<&str>) -> Result<ExitCode, Failure> {
        Err(Failure::without_mpi())
    }

    fn run<S: Search>(&self, request: impl Fn(Vec<VertexId>, Vec<VertexId>) -> S) -> Result<ExitCode, Failure> {
        let setup =
            Setup::to_solve(self.solving)?.ignoring_weights(self.ignores_weights).reversing(self.search.reverse);
        let mut output = self.search.output.as_deref().map(|path| self.create_output(&setup, path)).transpose()?;
        let mut drawn = Drawn::create(self, &setup)?;
        let Prepared { graph, hierarchy, seconds: load } = setup.load_with_hierarchy(self.graph)?;
        drawn.locate(self, &setup, &graph, output.as_mut())?;
        let vertices = |names: &[String]| names.iter().map(|name| graph.vertex(name)).collect::<Result<Vec<_>, _>>();
        let nearest = vertices(&self.search.source)?;
        let targets = vertices(&self.search.target)?;
        let list = self.search.sources.as_deref();
        let independent = list.map(|file| read_vertices(&setup, &graph, file)).transpose()?;
        let (solver, opening) = timed(|| setup.solver(&graph, hierarchy))?;
        if self.solving.plan.plan {
            let decision = match independent {
                Some(sources) => solver.decide_each(&request(Vec::new(), targets), &sources)?,
                None => solver.decide(&request(nearest, targets))?,
            };
            setup.print_plan(&solver, &decision, drawn.coordinates(), |_| (), self.search.output.as_deref())?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut totals = Times { load, prepare: opening, ..Default::default() };
        let mut results = Vec::new();
        let wanted = targets.clone();
        let handle = |tree: ShortestPathTree| {
            let counters = Counters::of(tree.report(), self.solving.statistics && independent.is_some());
            let nearest = if self.search.names_nearest() { tree.nearest_sources()? } else { None };
            let mut result = Found::of(&graph, &tree, &wanted, nearest.as_deref(), counters);
            let start = Instant::now();
            if self.search.verify {
                tree.verify(&graph)?;
                result.is_verified();
            }
            totals.verify += start.elapsed().as_secs_f64();
            let start = Instant::now();
            let areas = drawn.areas(&graph, &tree)?;
            match (&mut output, &areas) {
                (Some(output), Some(areas)) if output.is_map() => output.write_areas(&graph, &tree, areas)?,
                (Some(output), _) => output.write(&graph, &tree, nearest.as_deref())?,
                (None, _) => {}
            }
            drawn.draw(self, &graph, &tree, areas.as_deref().unwrap_or_default())?;
            totals.write += start.elapsed().as_secs_f64();
            totals.add(&tree.report().seconds);
            results.push((result, tree.report().clone()));
            Ok(())
        };
        let solved = match &independent {
            None => solver.solve(request(nearest, targets)).and_then(handle),
            Some(sources) => solver.solve_each(request(Vec::new(), targets), sources, handle),
        };
        solved.map_err(|error| match error {
            Error::NegativeCycle(cycle) if self.search.reverse => Error::NegativeCycle(Box::new(cycle.reversed())),
            error => error,
        })?;
        let ((), finishing) = timed(|| Ok(output.map_or(Ok(()), DistanceWriter::finish)?))?;
        totals.write += finishing;
        self.print(&solver, results, totals)?;
        Ok(ExitCode::SUCCESS)
    }

    fn create_output(&self, setup: &Setup<'_>, path: &Path) -> Result<DistanceWriter, Failure> {
        let many = self.search.sources.is_some();
        let is_limited = self.search.cutoff.is_some() || !self.search.target.is_empty();
        if self.search.all_rows && !is_limited {
            return Err(Failure::usage(
                "`--all-rows` adds the rows that `--cutoff` or `--target` leaves out, and neither is given",
            ));
        }
        let lists = [&self.search.sources, &self.search.map.coordinates];
        let inputs = inputs(self.graph, &lists);
        if geojson::is_wanted(path) {
            let for_csv = [("--count-paths", self.count_paths), ("--all-rows", self.search.all_rows)];
            if let Some((option, _)) = for_csv.iter().find(|(_, given)| *given) {
                return Err(Failure::usage(format!("a .geojson holds distances; `{option}` needs a .csv")));
            }
            if self.isochrones.is_some() && self.search.predecessors {
                return Err(Failure::usage("a .geojson with isochrones holds areas; `--predecessors` needs lines"));
            }
            let output = Output::open(path, &inputs, &self.solving.common, &setup.control)?;
            let names_source = many || self.search.names_nearest();
            let (lines, reverse) = (self.search.predecessors, self.search.reverse);
            return Ok(DistanceWriter::OnMap(Box::new(MapWriter::new(output, names_source, lines, reverse))));
        }
        let (output, kind) = Output::create(path, &inputs, &self.solving.common, &setup.control)?;
        if kind == OutputKind::Npy && many {
            return Err(Failure::usage("one result for each source does not fit a .npy of distances")
                .help("`warpath apsp --sources FILE --output FILE.npy` writes a matrix with one row for each source"));
        }
        let for_csv = [
            ("--predecessors", self.search.predecessors),
            ("--count-paths", self.count_paths),
            ("--all-rows", self.search.all_rows),
        ];
        if let Some((option, _)) = for_csv.iter().find(|(_, given)| *given && kind == OutputKind::Npy) {
            return Err(Failure::usage(format!(
                "a .npy holds the distances of all vertices and nothing else; `{option}` needs a .csv"
            )));
        }
        let columns = Columns {
            source: many || self.search.names_nearest(),
            predecessor: self.search.predecessors,
            paths: self.count_paths,
        };
        let all_rows = self.search.all_rows || !is_limited;
        Ok(DistanceWriter::Table(TableWriter::new(output, kind, columns, self.search.reverse, all_rows)))
    }

    fn print(&self, solver: &Solver, mut results: Vec<(Found, Report)>, seconds: Times) -> Result<(), Failure> {
        let Some((_, report)) = results.last() else { return Ok(()) };
        let many = self.search.sources.is_some();
        let answer = Answer::new(self.problem, solver, report, self.solving);
        // Independent searches share no counters; each has its own.
        let answer = if many { answer.without_counters() } else { answer };
        let common = &self.solving.common;
        let reverse = self.search.reverse;
        if common.json {
            let peak_bytes = PeakBytes::of(results.iter().map(|(_, report)| report));
            return if many {
                let results = results.into_iter().map(|(result, _)| EachSearch::from(result)).collect();
                print::json(&ManySearches { answer, reverse, results, seconds, peak_bytes })
            } else {
                print::json(&OneSearch { answer, reverse, result: results.remove(0).0, seconds, peak_bytes })
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
            result.rows(&mut table, solver.graph().vertices(), reverse);
        }
        if results.len() > SHOWN {
            table.row("", format!("and {}", print::count(results.len() - SHOWN, "more source", "more sources")));
        }
        if let Some(output) = &self.search.output {
            table.row("written", output.display().to_string());
        }
        if let Some(plot) = &self.search.map.plot {
            table.row("drawn", plot.display().to_string());
        }
        table.row("time", seconds.text());
        table.print()
    }
}
