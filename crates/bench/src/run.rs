//! Runs a suite: graph by graph, case by case, each result written at once.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use warpath::formats::PartialFile;
use warpath::problems::Problem;
use warpath::{Control, Engine, Error, Result, VertexId};

use crate::graphs::{Made, Making};
use crate::jobs::{self, Programs};
use crate::machine::{Machine, ceilings};
use crate::measure::{self, Outcome, References, Task};
use crate::peers::{self, Tools, Workers};
use crate::report;
use crate::results::{Journal, Record, Results, Resumed, Row, Run, SCHEMA, Status};
use crate::suite::{Case, Job, Limits, Suite};
use crate::tables;

/// What to run, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Small graphs, few sources, few repeats: minutes instead of hours.
    pub quick: bool,
    /// The rows to measure: all of them, those of the CPU, or those of GPUs.
    pub engine: Engine,
    /// The binary logarithm of the number of vertices, if the suite allows a choice.
    pub scale: Option<u32>,
    /// The limit of one search in seconds, instead of the suite's.
    pub timeout: Option<f64>,
    /// The budget of one case in seconds, instead of the suite's.
    pub budget: Option<f64>,
    /// Only these experiments, by id; all if there are none.
    pub experiments: Vec<String>,
    /// Only these graphs, by id; all if there are none.
    pub graphs: Vec<String>,
    /// The folder with datasets.
    pub data: Option<PathBuf>,
    /// The folder for results, if they are written.
    pub output: Option<PathBuf>,
    /// Whether to resume from existing results.
    pub resume: bool,
    /// The places of peers that are programs of their own.
    pub tools: Tools,
}

/// Events while a suite runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run has begun.
    Begun {
        /// The number of cases to run.
        cases: usize,
        /// The number of cases with results from before.
        kept: usize,
    },
    /// A graph is being made.
    Graph(&'a str),
    /// A case is done.
    Done {
        /// Its result.
        row: &'a Row,
        /// The number of cases done.
        done: usize,
        /// The number of cases in all.
        cases: usize,
        /// The expected seconds for the remaining cases.
        remaining: f64,
    },
}

/// The files of a folder of results.
struct Folder<'a>(&'a Path);

impl Folder<'_> {
    fn results(&self) -> PathBuf {
        self.0.join("results.jsonl")
    }

    fn write(&self, suite: &Suite, results: &Results) -> Result<()> {
        let write = |name: &str, text: String| {
            let path = self.0.join(name);
            // Write the files of an interrupted run, too.
            let mut file = PartialFile::create(&path, &Control::new())?;
            file.write_all(text.as_bytes()).map_err(|error| Error::io(path, error))?;
            file.finish()
        };
        write("tables.md", tables::markdown(suite, results))?;
        write("report.html", report::html(suite, results))
    }
}

/// Rebuilds `tables.md` and `report.html` from the `results.jsonl` in a folder.
///
/// # Errors
///
/// If the file is missing, its suite is unknown, or the files can't be written.
pub fn render(folder: &Path) -> Result<Results> {
    let results = Results::read(&Folder(folder).results())?;
    let suite = Suite::named(&results.run.suite)?;
    Folder(folder).write(&suite, &results)?;
    Ok(results)
}

/// An error if one of the names that were asked for is none of the suite's.
fn check_names(suite: &Suite, what: &str, asked: &[String], all: Vec<&str>) -> Result<()> {
    match asked.iter().find(|name| !all.contains(&name.as_str())) {
        None => Ok(()),
        Some(unknown) => {
            let message = format!("{} has no {what} `{unknown}`; there are {}", suite.name, all.join(", "));
            Err(Error::invalid(message))
        }
    }
}

/// Runs a suite. If there is an output folder, `results.jsonl` grows in it during the run, and `tables.md` and
/// `report.html` are made from it at the end, even if the run was interrupted.
///
/// # Errors
///
/// [`Error::Interrupted`], and errors of the options or the folder. A case that fails is part of the results, not an
/// error.
pub fn run(suite: &Suite, options: &Options, control: &Control, watch: &mut dyn FnMut(Event<'_>)) -> Result<Results> {
    for (what, seconds) in [("timeout", options.timeout), ("budget", options.budget)] {
        if seconds.is_some_and(|seconds| !(seconds > 0.0 && seconds < 1e7)) {
            return Err(Error::invalid(format!("the {what} is not a number of seconds above 0")));
        }
    }
    let experiments = suite.experiments.iter().map(|experiment| &*experiment.id).collect();
    let graphs = suite.graphs.iter().map(|graph| &*graph.id).collect();
    check_names(suite, "experiment", &options.experiments, experiments)?;
    check_names(suite, "graph", &options.graphs, graphs)?;
    if options.scale.is_some() && suite.scale.is_none() {
        return Err(Error::invalid(format!("the graphs of the suite {} have no scale to choose", suite.name)));
    }
    options.engine.check()?;
    let (mut results, mut journal) = open(suite, options)?;
    let finished = Runner { suite, options, control, results: &mut results, journal: &mut journal }.run(watch);
    if let Some(folder) = &options.output {
        Folder(folder).write(suite, &results)?;
    }
    finished.map(|()| results)
}

/// The limits of a search and a case.
fn limits(suite: &Suite, options: &Options) -> Limits {
    let limits = suite.limits(options.quick);
    let (timeout, budget) = (options.timeout.unwrap_or(limits.timeout), options.budget.unwrap_or(limits.budget));
    Limits { timeout, budget, ..limits }
}

/// Whether a case's result is kept when the run is resumed.
fn is_kept(row: &Row) -> bool {
    !matches!(row.status, Status::Unavailable | Status::Failed)
}

/// Opens the file of results, and reads the results in it, if any.
fn open(suite: &Suite, options: &Options) -> Result<(Results, Journal)> {
    let machine = Machine::here();
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let scale = options.scale.or(suite.quick.scale.filter(|_| options.quick)).or(suite.scale);
    let mut run = Run {
        schema: SCHEMA,
        suite: suite.name.clone(),
        quick: options.quick,
        engine: options.engine.to_string(),
        scale,
        limits: Some(limits(suite, options)),
        data: Some(options.data.is_some()),
        machine,
        ceilings: Vec::new(),
        started,
    };
    let Some(folder) = &options.output else {
        run.ceilings = ceilings(&run.machine);
        return Ok((Results::new(run), Journal::none()));
    };
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    let path = Folder(folder).results();
    if path.exists() && !options.resume {
        return Err(Error::invalid(format!(
            "{} is there already; `--resume` goes on with it, another folder begins anew",
            path.display()
        )));
    }
    if path.exists() {
        let (mut journal, mut results) = Journal::append_to(&path)?;
        if let Some((what, old, new)) = results.run.differences(&run).into_iter().next() {
            let path = path.display();
            return Err(Error::invalid(format!(
                "{path} is of another run: its {what} is `{old}`, not `{new}`; begin anew elsewhere"
            )));
        }
        let resumed = Resumed { started };
        journal.write(&Record::Resumed(resumed))?;
        results.resumed.push(resumed);
        return Ok((results, journal));
    }
    run.ceilings = ceilings(&run.machine);
    let mut journal = Journal::create(&path)?;
    journal.write(&Record::Run(run.clone()))?;
    Ok((Results::new(run), journal))
}

/// What is kept of a graph while its cases run.
#[derive(Default)]
struct Kept {
    references: References,
    programs: Programs,
    workers: Workers,
}

struct Runner<'a> {
    suite: &'a Suite,
    options: &'a Options,
    control: &'a Control,
    results: &'a mut Results,
    journal: &'a mut Journal,
}

impl Runner<'_> {
    fn run(&mut self, watch: &mut dyn FnMut(Event<'_>)) -> Result<()> {
        let kept: BTreeSet<String> = self.results.rows.iter().filter(|row| is_kept(row)).map(Row::key).collect();
        let cases = self.suite.cases(self.options.quick);
        let asked: Vec<&Case<'_>> = cases.iter().filter(|case| self.is_asked_for(case)).collect();
        let wanted: Vec<&Case<'_>> = asked.iter().filter(|case| !kept.contains(&case.key())).copied().collect();
        watch(Event::Begun { cases: wanted.len(), kept: asked.len() - wanted.len() });
        let (mut done, mut spent, mut spent_on) = (0, 0.0, 0);
        let able = |case: &Case<'_>| self.obstacle(case).is_none();
        let mut able_left = wanted.iter().filter(|case| able(case)).count();
        for graph in &self.suite.graphs {
            let on_graph: Vec<_> = wanted.iter().filter(|case| case.graph.id == graph.id).collect();
            if on_graph.is_empty() {
                continue;
            }
            let start = Instant::now();
            let (mut made, mut of_graph) = (None, Kept::default());
            if on_graph.iter().any(|case| self.obstacle(case).is_none()) {
                watch(Event::Graph(&graph.title));
                made = Some(self.make(graph, &mut of_graph.references)?);
            }
            spent += start.elapsed().as_secs_f64();
            for case in on_graph {
                self.control.check()?;
                let start = Instant::now();
                let possible = self.obstacle(case).is_none();
                let row = self.row(case, made.as_ref(), &mut of_graph)?;
                if possible {
                    spent += start.elapsed().as_secs_f64();
                    (spent_on, able_left) = (spent_on + 1, able_left - 1);
                }
                self.journal.write(&Record::Row(Box::new(row.clone())))?;
                self.results.add_row(row.clone());
                done += 1;
                let remaining = spent / f64::from(spent_on.max(1)) * able_left as f64;
                watch(Event::Done { row: &row, done, cases: wanted.len(), remaining });
            }
        }
        Ok(())
    }

    /// Makes a graph, explores it, and records its facts; returns the text of the error if it can't be made.
    fn make(
        &mut self,
        graph: &crate::suite::GraphEntry,
        references: &mut References,
    ) -> Result<std::result::Result<Made, Error>> {
        let making = Making {
            quick: self.options.quick,
            scale: self.results.run.scale,
            data: self.options.data.as_deref(),
            control: self.control,
        };
        let made = match making.make(graph) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => return Ok(Err(error)),
            Ok(made) => made,
        };
        let first = made.first_source();
        if let Some(first) = first {
            references.explore(&made.graph, first, self.control)?;
        }
        let facts = match made.facts(graph, references.frontiers.clone(), self.suite.strong_components) {
            Err(error) => return Ok(Err(error)),
            Ok(facts) => facts,
        };
        let has_rows = self.results.rows.iter().any(|row| row.graph == graph.id && is_kept(row));
        if let Some(difference) = self.results.graph(&graph.id).and_then(|old| old.difference(&facts))
            && has_rows
        {
            let message = format!("{} is another graph in the results that are there: {difference}", graph.title);
            return Err(Error::invalid(format!("{message}; begin anew elsewhere")));
        }
        self.journal.write(&Record::Graph(facts.clone()))?;
        self.results.add_graph(facts);
        Ok(Ok(made))
    }

    fn is_asked_for(&self, case: &Case<'_>) -> bool {
        let is_among = |id: &String, asked: &[String]| asked.is_empty() || asked.contains(id);
        if !is_among(&case.experiment.id, &self.options.experiments) || !is_among(&case.graph.id, &self.options.graphs)
        {
            return false;
        }
        match &self.options.engine {
            Engine::Auto => true,
            Engine::Cpu => !case.entry.engine.starts_with("cuda"),
            Engine::Cuda(_) => case.entry.engine.starts_with("cuda"),
        }
    }

    /// The engine of a case.
    fn engine(&self, case: &Case<'_>) -> Result<Engine> {
        let engine: Engine = case.entry.engine.parse()?;
        Ok(match (&engine, &self.options.engine) {
            (Engine::Cuda(one), Engine::Cuda(chosen)) if one.len() == 1 && !chosen.is_empty() => {
                Engine::Cuda(vec![chosen[0]])
            }
            _ => engine,
        })
    }

    /// Why a case can't run, as far as that is known without the graph.
    fn obstacle(&self, case: &Case<'_>) -> Option<String> {
        if !case.entry.engine.starts_with("cuda") {
            return None;
        }
        let gpus = self.results.run.machine.gpus.len();
        let needed = case.entry.engine.matches(',').count() + 1;
        if gpus < needed {
            return Some(if needed == 1 { "needs a GPU".to_owned() } else { format!("needs {needed} GPUs") });
        }
        let name = case.algorithm.as_deref()?.split(':').next()?;
        let problem = case.experiment.problem().ok()?;
        let on_gpus = Engine::Cuda(Vec::new()).algorithms();
        let known = on_gpus.iter().any(|info| info.name == name && info.problem == problem);
        match (known, case.entry.lab) {
            (true, _) => None,
            (false, true) => Some("an algorithm of the lab: build with the feature `lab`".into()),
            (false, false) => Some(format!("this version has no `{name}` for {} on GPUs", problem.name())),
        }
    }

    fn row(&self, case: &Case<'_>, made: Option<&std::result::Result<Made, Error>>, kept: &mut Kept) -> Result<Row> {
        let mut names = Vec::new();
        let outcome = match (self.obstacle(case), made) {
            (Some(obstacle), _) => Outcome::without_times(Status::Unavailable, obstacle),
            (None, Some(Ok(made))) => {
                let (outcome, sources) = self.outcome(case, made, kept)?;
                names = sources.iter().map(|source| made.graph.name(*source).into_owned()).collect();
                outcome
            }
            (None, Some(Err(error @ (Error::OutOfMemory { .. } | Error::NoDevice(_))))) => {
                Outcome::without_times(Status::Unavailable, error.to_string())
            }
            (None, Some(Err(error))) => Outcome::without_times(Status::Failed, error.to_string()),
            (None, None) => Outcome::without_times(Status::Failed, "the graph was not made"),
        };
        // A paper's figures for its graph do not apply to a small one.
        let small = self.options.quick && case.graph.quick.is_some() && case.graph.arcs.is_none();
        let asked = case.algorithm.clone().unwrap_or_else(|| "auto".to_owned());
        Ok(Row {
            experiment: case.experiment.id.clone(),
            graph: case.graph.id.clone(),
            series: case.series.clone(),
            problem: case.experiment.job.map_or_else(|| case.experiment.problem.clone(), |job| job.name().to_owned()),
            engine: case.entry.engine.clone(),
            ran_on: outcome.ran_on,
            algorithm: outcome.algorithm.unwrap_or(asked),
            status: outcome.status,
            detail: outcome.detail,
            seconds: outcome.seconds,
            answers: outcome.answers,
            sources: names,
            counters: outcome.counters.into_iter().collect(),
            device_bytes: outcome.device_bytes,
            reported: case.reported.filter(|_| !small).map(|milliseconds| milliseconds / 1e3),
            reported_counters: if small { Default::default() } else { case.reported_counters.clone() },
        })
    }

    fn outcome(&self, case: &Case<'_>, made: &Made, kept: &mut Kept) -> Result<(Outcome, Vec<VertexId>)> {
        let unavailable = |text: String| Ok((Outcome::without_times(Status::Unavailable, text), Vec::new()));
        if case.entry.at_most.is_some_and(|most| made.graph.vertices() as u64 > most) {
            let most = case.entry.at_most.unwrap_or(0);
            return unavailable(format!("left out where there are more than {most} vertices"));
        }
        let experiment = case.experiment;
        let quick = &self.suite.quick;
        let (most_sources, repeats) = if self.options.quick {
            (quick.sources, experiment.repeats.min(quick.repeats))
        } else {
            (usize::MAX, experiment.repeats)
        };
        if let Some(job) = experiment.job {
            return Ok((self.job(case, job, (most_sources, repeats), made, kept)?, Vec::new()));
        }
        let sources = made.sources(experiment, most_sources)?;
        let problem = experiment.problem()?;
        let searches = matches!(problem, Problem::Bfs | Problem::Sssp);
        if searches && sources.is_empty() {
            return unavailable("the graph has no vertices to search from".into());
        }
        let task = Task {
            case,
            problem,
            graph: &made.graph,
            sources: if searches { &sources } else { &[] },
            repeats,
            limits: limits(self.suite, self.options),
            control: self.control,
        };
        let outcome = if case.entry.engine == "peer" {
            peers::measure(&task, &self.options.tools, &mut kept.workers, &mut kept.references)?
        } else {
            measure::measure(&task, self.engine(case)?, &mut kept.references)?
        };
        Ok((outcome, sources))
    }

    /// The outcome of a case with a job, with at most so many sources and so many repeats.
    fn job(
        &self,
        case: &Case<'_>,
        job: Job,
        (most, repeats): (usize, usize),
        made: &Made,
        kept: &mut Kept,
    ) -> Result<Outcome> {
        let task = Task {
            case,
            problem: case.experiment.problem()?,
            graph: &made.graph,
            sources: &[],
            repeats,
            limits: limits(self.suite, self.options),
            control: self.control,
        };
        let engine = if case.entry.engine == "peer" { None } else { Some(self.engine(case)?) };
        let tools = &self.options.tools;
        if job.is_measure() {
            let wanted = made.wanted(case.experiment, job, most)?;
            return jobs::score(&task, engine, &wanted, tools, &mut kept.programs);
        }
        let questions = made.questions(case.experiment, job, most)?;
        jobs::measure(&task, engine, &questions, tools, &mut kept.workers, &mut kept.programs)
    }
}
