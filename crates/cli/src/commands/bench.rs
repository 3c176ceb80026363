//! `warpath bench`: repeats the papers' measurements, and compares with programs in common use.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpath::Engine;
use warpath::formats::{PartialFile, check_output};
use warpath_bench::comparison::Comparison;
use warpath_bench::pages::{Page, Recorded};
use warpath_bench::predictions::{self, Prediction};
use warpath_bench::{Event, Options, Results, Suite, Tools, graph500, tables};

use crate::arguments::{BenchArguments, BenchCommand, FailOn, ShowProgress, is_mpi};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print::{self, Table};
use crate::progress;
use crate::setup::start_threads;

pub(crate) fn run(arguments: BenchArguments) -> Result<ExitCode, Failure> {
    match &arguments.other {
        Some(BenchCommand::Compare { before, after, fail_on }) => {
            let comparison = Comparison::read(before, after)?;
            print::to_stdout(&comparison.text())?;
            let is_slower = matches!(fail_on, Some(FailOn::Slower)) && comparison.slower() > 0;
            let fails = is_slower || comparison.wrong() > 0;
            return Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
        Some(BenchCommand::Predictions { results }) => {
            let read = results.iter().map(|path| Ok(predictions::predictions(&Results::read(path)?)));
            let all: Vec<Vec<Prediction>> = read.collect::<warpath::Result<_>>()?;
            print::to_stdout(&predictions::text(&all.concat()))?;
            return Ok(ExitCode::SUCCESS);
        }
        Some(BenchCommand::Figures { pages, results, write }) => return figures(pages, results, *write),
        Some(BenchCommand::Chart { results, output }) => return chart(results, output),
        Some(BenchCommand::Report { folder }) => {
            let results = warpath_bench::render(folder)?;
            written(folder, results.wrong())?;
            return Ok(exit_code(&results));
        }
        #[cfg(feature = "peers")]
        Some(BenchCommand::Worker { graph }) => {
            start_threads(None)?;
            warpath_bench::serve(graph)?;
            return Ok(ExitCode::SUCCESS);
        }
        None => {}
    }
    if arguments.suite.as_deref() == Some(graph500::NAME) {
        return run_graph500(&arguments);
    }
    if is_mpi(&arguments.engine) {
        return Err(Failure::usage(format!("`--engine mpi` is for `--suite {}`", graph500::NAME)));
    }
    let suite = arguments.suite.as_deref().map(Suite::named).transpose()?;
    if arguments.list {
        list(suite.as_ref(), arguments.quick)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(suite) = suite else { return Err(Failure::usage("`--suite` names the suite to run")) };
    let engine: Engine = arguments.engine.parse()?;
    // The bench draws its own progress bar.
    let control = progress::control(ShowProgress::Never);
    start_threads(None)?;
    engine.check().map_err(|error| Failure::from(error).help("`--engine auto` runs what this machine can run"))?;
    let options = Options {
        quick: arguments.quick,
        engine,
        scale: arguments.scale,
        timeout: arguments.timeout,
        budget: arguments.budget,
        experiments: arguments.experiment,
        graphs: arguments.graph,
        data: arguments.data,
        output: arguments.output,
        resume: arguments.resume,
        tools: Tools {
            python: arguments.python,
            gap: arguments.gap,
            wasp: arguments.wasp,
            pasgal: arguments.pasgal,
            worker: worker(),
        },
    };
    let mut shown = Shown::new(arguments.quiet);
    let results = warpath_bench::run(&suite, &options, &control, &mut |event| shown.event(event));
    let results = results.map_err(|error| match (&error, &options.output) {
        (warpath::Error::Interrupted, Some(_)) => {
            Failure::from(error).help("the same command with `--resume` continues the run")
        }
        _ => error.into(),
    })?;
    shown.finish();
    match &options.output {
        Some(folder) if !arguments.quiet => written(folder, results.wrong())?,
        Some(_) => {}
        None => print::to_stdout(&tables::markdown(&suite, &results))?,
    }
    Ok(exit_code(&results))
}

/// Runs the Graph500 benchmark.
fn run_graph500(arguments: &BenchArguments) -> Result<ExitCode, Failure> {
    const SCALE: u32 = 20;
    const ROOTS: usize = 64;
    let others = [
        ("--experiment", !arguments.experiment.is_empty()),
        ("--graph", !arguments.graph.is_empty()),
        ("--budget", arguments.budget.is_some()),
        ("--timeout", arguments.timeout.is_some()),
        ("--output", arguments.output.is_some()),
    ];
    if let Some((option, _)) = others.iter().find(|(_, is_set)| *is_set) {
        return Err(Failure::usage(format!("`{option}` is not possible with `--suite {}`", graph500::NAME)));
    }
    let scale = arguments.scale.unwrap_or(if arguments.quick { 14 } else { SCALE });
    let roots = if arguments.quick { 8 } else { ROOTS };
    if arguments.list {
        let mut table = Table::new();
        table.row("suite", graph500::TITLE);
        table.row("graph", format!("kron:{scale}"));
        table.row("bfs, sssp", print::count(roots, "root", "roots"));
        table.print()?;
        return Ok(ExitCode::SUCCESS);
    }
    if is_mpi(&arguments.engine) {
        return graph500_on_ranks(arguments, scale, roots);
    }
    let engine: Engine = arguments.engine.parse()?;
    start_threads(None)?;
    engine.check().map_err(|error| Failure::from(error).help("`--engine auto` runs what this machine can run"))?;
    let control = progress::control(ShowProgress::Never);
    let quiet = arguments.quiet;
    let options = graph500::Options { scale, roots, engine };
    let outcome = graph500::run(&options, &control, &mut |line| {
        if !quiet {
            print::to_stderr(line);
        }
    })?;
    print::to_stdout(&outcome.text())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs it by all ranks of an MPI run; rank 0 prints.
#[cfg(feature = "mpi")]
fn graph500_on_ranks(arguments: &BenchArguments, scale: u32, roots: usize) -> Result<ExitCode, Failure> {
    crate::ranks::run(&arguments.engine, false, |world, _, options| {
        let devices = options.devices;
        world.agree(match options.parts {
            warpath_mpi::Parts::Auto => Ok(()),
            _ => Err(warpath::Error::invalid("`parts=` is not for Graph500, whose ranks have consecutive vertices")),
        })?;
        world.agree(start_threads(Some(1)).map_err(Failure::into_error))?;
        let is_first = world.rank() == 0;
        let mut said = |line: &str| {
            if is_first && !arguments.quiet {
                print::to_stderr(line);
            }
        };
        let found = warpath_mpi::graph500(world, scale, graph500::EDGE_FACTOR, roots, None, devices, &mut said)?;
        let (on_gpus, [bfs, sssp]) = (found.on_gpus, found.kernels);
        let kernel = |name, found: warpath_mpi::RankKernel| graph500::Kernel {
            name,
            by: format!("{} on {}", found.algorithm, crate::ranks::text(world.ranks(), on_gpus, world.carried_by())),
            seconds: found.seconds,
            validation: found.validation,
        };
        let outcome = graph500::Outcome {
            scale,
            generation: found.generation,
            construction: found.construction,
            edges: found.edges,
            kernels: [kernel("bfs", bfs), kernel("sssp", sssp)],
        };
        let printed = if is_first { print::to_stdout(&outcome.text()).map_err(Failure::into_error) } else { Ok(()) };
        world.agree(printed)
    })
}

#[cfg(not(feature = "mpi"))]
fn graph500_on_ranks(_: &BenchArguments, _: u32, _: usize) -> Result<ExitCode, Failure> {
    Err(Failure::without_mpi())
}

/// This program as a worker, if packages are linked in.
fn worker() -> Option<Vec<OsString>> {
    let program = std::env::current_exe().ok().filter(|_| cfg!(feature = "peers"))?;
    Some(vec![program.into(), "bench".into(), "worker".into()])
}

/// Exit code 1 if an answer was wrong.
fn exit_code(results: &Results) -> ExitCode {
    if results.wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compares the figures on pages with the recorded ones, and writes those that differ if asked to.
fn figures(pages: &[PathBuf], results: &Path, write: bool) -> Result<ExitCode, Failure> {
    let recorded = Recorded::read(results)?;
    let control = progress::control(ShowProgress::Never);
    let (mut marks, mut differing, mut mended) = (0, 0, 0);
    for path in pages {
        let io = |error| warpath::Error::io(path, error);
        let text = std::fs::read_to_string(path).map_err(io)?;
        let page = Page::of(&text, &recorded);
        marks += page.marks;
        differing += page.differences.len();
        for difference in &page.differences {
            print::to_stdout(&format!("{}, {difference}\n", path.display()))?;
        }
        if write && page.text != text {
            let mut file = PartialFile::create(path, &control)?;
            file.write_all(page.text.as_bytes()).map_err(io)?;
            file.finish()?;
            mended += page.differences.iter().filter(|difference| difference.recorded.is_ok()).count();
        }
    }
    let mut table = Table::new();
    table.row("compared", print::count(marks, "figure or table", "figures and tables"));
    table.row("differing", print::count(differing, "figure or table", "figures and tables"));
    if write {
        table.row("written", print::count(mended, "figure or table", "figures and tables"));
    }
    table.print()?;
    Ok(if differing == mended { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Draws a run as one picture.
fn chart(results: &Path, output: &Path) -> Result<ExitCode, Failure> {
    check_output(output, &[results])?;
    let picture = warpath_bench::report::overview(&Results::read(results)?)?;
    let mut file = PartialFile::create(output, &progress::control(ShowProgress::Never))?;
    file.write_all(picture.as_bytes()).map_err(|error| warpath::Error::io(output, error))?;
    file.finish()?;
    let mut table = Table::new();
    table.row("written", output.display().to_string());
    table.print()?;
    Ok(ExitCode::SUCCESS)
}

/// Says which files a folder now holds.
fn written(folder: &Path, wrong: usize) -> Result<(), Failure> {
    let mut table = Table::new();
    for name in ["results.jsonl", "tables.md", "report.html"] {
        table.row("written", folder.join(name).display().to_string());
    }
    table.row("wrong", print::count(wrong, "row", "rows"));
    table.print()
}

fn list(suite: Option<&Suite>, quick: bool) -> Result<(), Failure> {
    let mut table = Table::new();
    let Some(suite) = suite else {
        for name in Suite::names() {
            let suite = Suite::named(name)?;
            let cases = suite.cases(quick).len();
            table.row(name, format!("{} ({})", suite.title, print::count(cases, "case", "cases")));
        }
        table.row(graph500::NAME, graph500::TITLE);
        return table.print();
    };
    table.row("suite", suite.title.as_str());
    table.row("source", suite.source.as_str());
    for graph in &suite.graphs {
        let recipe = if quick { graph.quick.as_ref().or(graph.recipe.as_ref()) } else { graph.recipe.as_ref() };
        let recipe = recipe.map_or("arcs of the suite", String::as_str);
        let dataset = graph.dataset.as_ref().map_or_else(String::new, |name| format!("dataset {name}, else "));
        table.row(format!("graph {}", graph.id), format!("{}: {dataset}{recipe}", graph.title));
    }
    for experiment in &suite.experiments {
        table.row("", "");
        table.row(format!("experiment {}", experiment.id), experiment.title.as_str());
        table.row("graphs", experiment.graphs.join(", "));
        for entry in &experiment.algorithms {
            for (series, algorithm) in entry.variations() {
                let algorithm = algorithm.unwrap_or_else(|| "auto".to_owned());
                table.row(entry.engine.as_str(), format!("{series}: {algorithm}"));
            }
        }
    }
    table.print()
}

/// Shows a run's progress: a bar if standard error is a terminal, otherwise one line per case.
struct Shown {
    quiet: bool,
    bar: Option<ProgressBar>,
}

impl Shown {
    fn new(quiet: bool) -> Self {
        Shown { quiet, bar: None }
    }

    fn event(&mut self, event: Event<'_>) {
        if self.quiet {
            return;
        }
        match event {
            Event::Begun { cases, kept } => {
                if kept > 0 {
                    let rows = print::count(kept, "row is", "rows are");
                    print::to_stderr(&format!("{rows} there already"));
                }
                if std::io::stderr().is_terminal() {
                    let bar = ProgressBar::with_draw_target(Some(cases as u64), ProgressDrawTarget::stderr());
                    if let Ok(style) = ProgressStyle::with_template("[{bar:30}] {pos}/{len} [{elapsed}] {msg}") {
                        bar.set_style(style.progress_chars("=> "));
                    }
                    bar.enable_steady_tick(Duration::from_millis(500));
                    self.bar = Some(bar);
                }
            }
            Event::Graph(title) => {
                if let Some(bar) = &self.bar {
                    bar.set_message(format!("making {title}"));
                }
            }
            Event::Done { row, done, cases, remaining } => {
                let result = row.median().map_or_else(|| row.status.text().to_owned(), print::seconds);
                let line = format!("{}: {result}", row.key());
                let rest =
                    if done < cases { format!("about {} to go", print::seconds(remaining)) } else { String::new() };
                match &self.bar {
                    Some(bar) => {
                        bar.set_position(done as u64);
                        bar.set_message(format!("{rest}; {line}"));
                    }
                    None => {
                        let rest = if rest.is_empty() { rest } else { format!(", {rest}") };
                        print::to_stderr(&format!("{done}/{cases} {line}{rest}"));
                    }
                }
            }
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
