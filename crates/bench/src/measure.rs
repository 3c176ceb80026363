//! Measures one case: the clocks, the repeats, and the comparison of every answer before its time counts.
//!
//! The rules, which `docs/bench.md` explains:
//!
//! - A search's time is the time of the solve: from a prepared graph to final distances. Loading the graph is timed
//!   once per graph, preparing (threads, upload, transposing) once per case, downloading separately.
//! - On a GPU the clock is the device's own, by events, if the algorithm provides it and predecessors are not asked
//!   for; otherwise it is the host's. The row says which.
//! - An answer from fewer devices than the case names has no time either: a row for two GPUs never shows the work of
//!   one.
//! - Warm-up searches come first, from the first source, untimed; then come the repeats from each source.
//! - Every answer is digested and compared with the reference before its time counts. A wrong answer ends the case, and
//!   the row has no time.
//! - The reference is the CPU's quickest algorithm, and is itself checked: by its certificate, which does not depend on
//!   the algorithm, or, for tables too large for that, against rows computed by single searches.
//! - A search that exceeds the limit is cancelled, and the row is a timeout. Once the budget of the case is used up, no
//!   further search begins, except that each case has some: as many as the suite says, or one if it takes long.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use warpath::graph::Distances;
use warpath::problems::{Problem, Report};
use warpath::{Apsp, Bfs, Closure, Control, Engine, Error, Graph, Result, Solver, Sssp, VertexId};

use crate::digest::{Digest, DigestSink};
use crate::orders::Orders;
use crate::results::{Clock, Spread, Status, Times};
use crate::suite::{Case, Limits};

/// Ends searches of a case that take too long, and all of them when the user cancels.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The handle given to searches.
    pub(crate) control: Control,
    begun: Instant,
    /// The deadline of the running search, in milliseconds since the beginning; `u64::MAX` if no search runs.
    deadline: Arc<AtomicU64>,
    late: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// A watch that ends the running search when `user` is cancelled.
    pub(crate) fn new(user: &Control) -> Self {
        const NAP: Duration = Duration::from_millis(10);
        let (control, user, begun) = (Control::new(), user.clone(), Instant::now());
        let deadline = Arc::new(AtomicU64::new(u64::MAX));
        let (late, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let thread = {
            let (control, deadline, late, over) = (control.clone(), deadline.clone(), late.clone(), over.clone());
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    if user.is_cancelled() {
                        control.cancel();
                    } else if begun.elapsed().as_millis() as u64 > deadline.load(Ordering::Relaxed) {
                        late.store(true, Ordering::Relaxed);
                        control.cancel();
                    }
                    std::thread::park_timeout(NAP);
                }
            })
        };
        Watch { control, begun, deadline, late, over, thread: Some(thread) }
    }

    /// Runs one search, which may take this many seconds.
    pub(crate) fn allow<T>(&self, seconds: f64, search: impl FnOnce() -> Result<T>) -> Result<T> {
        let end = self.begun.elapsed().as_secs_f64() + seconds;
        self.deadline.store((end * 1e3) as u64, Ordering::Relaxed);
        let result = search();
        self.deadline.store(u64::MAX, Ordering::Relaxed);
        result
    }

    /// Whether a search took too long, and was not ended by the user.
    pub(crate) fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The thread can't panic, and if it did, nothing would be lost.
            let _ = thread.join();
        }
    }
}

/// A case that was measured, completely or in part.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    pub(crate) detail: Option<String>,
    pub(crate) algorithm: Option<String>,
    /// The engine that ran, with its devices.
    pub(crate) ran_on: Option<String>,
    pub(crate) seconds: Option<Times>,
    pub(crate) answers: Vec<Digest>,
    pub(crate) counters: Vec<(String, u64)>,
    pub(crate) device_bytes: u64,
}

impl Outcome {
    /// The outcome of a case without times.
    pub(crate) fn without_times(status: Status, detail: impl Into<String>) -> Self {
        Outcome {
            status,
            detail: Some(detail.into()),
            algorithm: None,
            ran_on: None,
            seconds: None,
            answers: Vec::new(),
            counters: Vec::new(),
            device_bytes: 0,
        }
    }
}

/// What a case works on.
pub(crate) struct Task<'a> {
    pub(crate) case: &'a Case<'a>,
    pub(crate) problem: Problem,
    pub(crate) graph: &'a Arc<Graph>,
    pub(crate) sources: &'a [VertexId],
    pub(crate) repeats: usize,
    pub(crate) limits: Limits,
    pub(crate) control: &'a Control,
}

/// One answer and the times it took.
struct Solved {
    digest: Digest,
    report: Report,
}

/// The reference answers on one graph, computed when first needed.
#[derive(Debug, Default)]
pub(crate) struct References {
    digests: HashMap<(Problem, Option<VertexId>), Digest>,
    /// The number of vertices in each level of a breadth-first search from the first source.
    pub(crate) frontiers: Vec<u64>,
}

impl References {
    /// The reference answer.
    pub(crate) fn get(&mut self, task: &Task<'_>, source: Option<VertexId>, watch: &Watch) -> Result<Digest> {
        let key = (task.problem, source);
        if let Some(digest) = self.digests.get(&key) {
            return Ok(digest.clone());
        }
        let digest = reference(task.graph, task.problem, source, &watch.control)?;
        self.digests.insert(key, digest.clone());
        Ok(digest)
    }

    /// Counts the vertices of each level of a breadth-first search.
    pub(crate) fn explore(&mut self, graph: &Arc<Graph>, source: VertexId, control: &Control) -> Result<()> {
        let solver = Solver::builder(graph.clone()).engine(Engine::Cpu).control(control.clone()).open()?;
        let tree = solver.solve(Bfs::from(source).distances_only())?;
        if let Distances::U32(levels) = tree.distances() {
            for &level in levels.iter().filter(|level| **level != u32::MAX) {
                let level = level as usize;
                if level >= self.frontiers.len() {
                    self.frontiers.resize(level + 1, 0);
                }
                self.frontiers[level] += 1;
            }
        }
        Ok(())
    }
}

/// Computes an answer on the CPU, and checks it.
fn reference(graph: &Arc<Graph>, problem: Problem, source: Option<VertexId>, control: &Control) -> Result<Digest> {
    let solver = Solver::builder(graph.clone()).engine(Engine::Cpu).control(control.clone()).open()?;
    match (problem, source) {
        (Problem::Bfs, Some(source)) => {
            let tree = solver.solve(Bfs::from(source).distances_only())?;
            tree.verify(graph)?;
            Ok(Digest::of_tree(&tree))
        }
        (Problem::Sssp, Some(source)) => {
            let tree = solver.solve(Sssp::from(source).distances_only())?;
            tree.verify(graph)?;
            Ok(Digest::of_tree(&tree))
        }
        (Problem::Closure, _) => {
            let closure = solver.solve(Closure::new().algorithm("condensation"))?;
            closure.verify(graph)?;
            Ok(Digest::of_closure(&closure)?)
        }
        _ => {
            check_rows(&solver)?;
            let solved = all_pairs(&solver, Apsp::all())?;
            Ok(solved.digest)
        }
    }
}

/// Checks some rows of the CPU's all-pairs shortest paths against single searches.
fn check_rows(solver: &Solver) -> Result<()> {
    const ROWS: usize = 8;
    let graph = solver.graph();
    let vertices = graph.vertices();
    let sources: Vec<VertexId> = (0..ROWS.min(vertices)).map(|row| (row * vertices / ROWS) as VertexId).collect();
    let matrix = solver.solve(Apsp::all().from(sources.as_slice()))?;
    for (row, &source) in sources.iter().enumerate() {
        let tree = solver.solve(Sssp::from(source).distances_only().algorithm("dijkstra"))?;
        tree.verify(graph)?;
        if let Some(v) = (0..vertices).find(|&v| matrix.distance(row, v) != tree.distance(v as VertexId)) {
            let message = format!("the reference's distance from {source} to {v} is not that of a single search");
            return Err(Error::NotVerified(message));
        }
    }
    Ok(())
}

/// Solves for the whole table: keeps it if it is not too large, otherwise digests it row by row.
fn all_pairs(solver: &Solver, request: Apsp) -> Result<Solved> {
    const KEPT: u64 = 8 << 30;
    let cells = (solver.graph().vertices() as u64).pow(2);
    if cells.saturating_mul(8) <= KEPT.min(warpath::available_memory() / 3) {
        let matrix = solver.solve(request)?;
        return Ok(Solved { digest: Digest::of_matrix(&matrix), report: matrix.report().clone() });
    }
    let mut sink = DigestSink::default();
    let summary = solver.solve(request.into_sink(&mut sink))?;
    Ok(Solved { digest: sink.digest(&summary), report: summary.report().clone() })
}

fn solve(solver: &Solver, task: &Task<'_>, source: Option<VertexId>) -> Result<Solved> {
    let algorithm = task.case.algorithm.as_deref();
    let predecessors = task.case.experiment.predecessors;
    let solved =
        |tree: warpath::ShortestPathTree| Solved { digest: Digest::of_tree(&tree), report: tree.report().clone() };
    match (task.problem, source) {
        (Problem::Bfs, Some(source)) => {
            let request = algorithm.into_iter().fold(Bfs::from(source), Bfs::algorithm);
            solver.solve(if predecessors { request } else { request.distances_only() }).map(solved)
        }
        (Problem::Sssp, Some(source)) => {
            let request = algorithm.into_iter().fold(Sssp::from(source), Sssp::algorithm);
            solver.solve(if predecessors { request } else { request.distances_only() }).map(solved)
        }
        (Problem::Closure, _) => {
            let closure = solver.solve(algorithm.into_iter().fold(Closure::new(), Closure::algorithm))?;
            let digest = Digest::of_closure(&closure)?;
            Ok(Solved { digest, report: closure.report().clone() })
        }
        _ => all_pairs(solver, algorithm.into_iter().fold(Apsp::all(), Apsp::algorithm)),
    }
}

/// The clocks' readings for one search.
struct Reading {
    clock: Clock,
    solve: f64,
    host: f64,
}

fn read_clocks(solved: &Solved, task: &Task<'_>) -> Reading {
    let seconds = solved.report.seconds;
    let host = seconds.solve + seconds.predecessors;
    let counted = |name: &str| solved.report.statistics.iter().find(|(counter, _)| *counter == name).map(|(_, n)| *n);
    match counted("device_nanoseconds") {
        Some(nanoseconds) if !task.case.experiment.predecessors => {
            Reading { clock: Clock::Device, solve: nanoseconds as f64 * 1e-9, host }
        }
        _ => Reading { clock: Clock::Host, solve: host, host },
    }
}

/// Measures a case with one of Warpath's engines.
pub(crate) fn measure(task: &Task<'_>, engine: Engine, references: &mut References) -> Result<Outcome> {
    let watch = Watch::new(task.control);
    match attempt(task, engine, references, &watch) {
        Ok(outcome) => Ok(outcome),
        Err(_) if task.control.is_cancelled() => Err(Error::Interrupted),
        Err(Error::Interrupted) if watch.is_late() => {
            Ok(Outcome::without_times(Status::Timeout, format!("a search took more than {} s", task.limits.timeout)))
        }
        Err(error @ (Error::NoDevice(_) | Error::OutOfMemory { .. })) => {
            Ok(Outcome::without_times(Status::Unavailable, error.to_string()))
        }
        Err(error @ Error::NotVerified(_)) => Ok(Outcome::without_times(Status::Wrong, error.to_string())),
        Err(error) => Ok(Outcome::without_times(Status::Failed, error.to_string())),
    }
}

fn attempt(task: &Task<'_>, engine: Engine, references: &mut References, watch: &Watch) -> Result<Outcome> {
    let sources: Vec<Option<VertexId>> = match task.sources {
        [] => vec![None],
        sources => sources.iter().copied().map(Some).collect(),
    };
    let opening = Instant::now();
    let threads = task.case.entry.threads.unwrap_or(0);
    let builder =
        Solver::builder(task.graph.clone()).engine(engine.clone()).control(watch.control.clone()).threads(threads);
    let solver = builder.open()?;
    let mut prepare = opening.elapsed().as_secs_f64();
    let mut spent = 0.0;
    let mut samples: Vec<Vec<f64>> = Vec::new();
    let (mut hosts, mut downloads) = (Vec::new(), Vec::new());
    let mut counters: Vec<(String, Vec<u64>)> = Vec::new();
    let (mut answers, mut orders) = (Vec::new(), Orders::default());
    let mut last = None;
    let mut warm_ups = task.case.experiment.warm_ups;
    let mut used_up = false;
    'sources: for (index, &source) in sources.iter().enumerate() {
        // Three times the limit: the answer is also checked.
        let expected = watch.allow(3.0 * task.limits.timeout, || references.get(task, source, watch));
        let expected = match expected {
            Err(Error::Interrupted) if watch.is_late() => {
                let detail = "the reference took too long, so that no answer could be compared";
                return Ok(Outcome::without_times(Status::Timeout, detail));
            }
            expected => expected?,
        };
        let mut of_source = Vec::new();
        while of_source.len() < task.repeats {
            let first = last.is_none();
            if !first && spent > task.limits.budget && hosts.len() >= task.limits.least_searches(&hosts) {
                used_up = true;
                if !of_source.is_empty() {
                    samples.push(of_source);
                    answers.push(expected);
                }
                break 'sources;
            }
            let start = Instant::now();
            let solved = watch.allow(task.limits.timeout, || solve(&solver, task, source))?;
            spent += start.elapsed().as_secs_f64();
            if first {
                prepare += solved.report.seconds.prepare;
            }
            if let Some(outcome) = nothing_to_time(task, &engine, source, &solved, &expected) {
                return Ok(outcome);
            }
            let reading = read_clocks(&solved, task);
            let report = solved.report;
            last = Some((reading.clock, report.algorithm, report.engine, report.device_bytes));
            // If one search uses up the budget, it is not repeated just to warm up.
            if index == 0 && warm_ups > 0 && spent < task.limits.budget {
                warm_ups -= 1;
                continue;
            }
            of_source.push(reading.solve);
            hosts.push(reading.host);
            downloads.push(report.seconds.download);
            orders.add(task.graph, &report.order);
            for (counter, value) in report.statistics {
                match counters.iter_mut().find(|(known, _)| known == counter) {
                    Some((_, values)) => values.push(value),
                    None => counters.push((counter.to_owned(), vec![value])),
                }
            }
        }
        samples.push(of_source);
        answers.push(expected);
    }
    let Some((clock, algorithm, ran_on, device_bytes)) = last.filter(|_| !samples.is_empty()) else {
        return Ok(Outcome::without_times(Status::Failed, "there was nothing to measure"));
    };
    let whole = samples.iter().map(Vec::len).sum::<usize>();
    let wanted = sources.len() * task.repeats;
    let cut_short = used_up.then(|| format!("{whole} of {wanted} searches: the time for this case was used up"));
    let remarks: Vec<String> = orders.text().into_iter().chain(cut_short).collect();
    let detail = (!remarks.is_empty()).then(|| remarks.join("; "));
    let times = Times {
        clock,
        prepare,
        solve: Spread::of(&samples),
        host: crate::spread::quantile(&hosts, 0.5),
        download: crate::spread::quantile(&downloads, 0.5),
        host_samples: if clock == Clock::Device { by_source(&hosts, &samples) } else { Vec::new() },
        samples,
    };
    Ok(Outcome {
        status: Status::Measured,
        detail,
        algorithm: Some(algorithm),
        ran_on: Some(ran_on),
        seconds: Some(times),
        answers,
        counters: counters.into_iter().map(|(name, values)| (name, middle(values))).collect(),
        device_bytes,
    })
}

/// The readings of all searches in a row, split by source like these samples.
fn by_source(readings: &[f64], like: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut rest = readings.iter().copied();
    like.iter().map(|of_source| rest.by_ref().take(of_source.len()).collect()).collect()
}

/// A remark if another engine, or fewer devices, ran than the case asked for.
pub(crate) fn elsewhere(asked: &Engine, ran: &str) -> Option<String> {
    match (asked, ran.parse()) {
        (Engine::Auto, _) => None,
        (Engine::Cuda(all), Ok(Engine::Cuda(_))) if all.is_empty() => None,
        (asked, Ok(engine)) if *asked == engine => None,
        (Engine::Cuda(asked), Ok(Engine::Cuda(used))) if used.len() < asked.len() => {
            Some(format!("ran on {ran} alone"))
        }
        _ => Some(format!("ran on {ran}, not on {asked}")),
    }
}

/// The outcome if a search has no valid time: an experiment of the lab, a wrong answer, or another engine's answer.
fn nothing_to_time(
    task: &Task<'_>,
    engine: &Engine,
    source: Option<VertexId>,
    solved: &Solved,
    expected: &Digest,
) -> Option<Outcome> {
    if task.case.entry.lab {
        return Some(study(solved, expected));
    }
    if !solved.digest.agrees_with(expected) {
        let detail = format!("from {}: {}", name(task, source), solved.digest.difference(expected));
        let answers = vec![solved.digest.clone()];
        return Some(Outcome { answers, ..untimed(solved, Status::Wrong, detail) });
    }
    elsewhere(engine, &solved.report.engine).map(|detail| untimed(solved, Status::Unavailable, detail))
}

/// The outcome of a case without times that ended with this search.
fn untimed(solved: &Solved, status: Status, detail: String) -> Outcome {
    let mut outcome = Outcome::without_times(status, detail);
    outcome.algorithm = Some(solved.report.algorithm.clone());
    outcome.ran_on = Some(solved.report.engine.clone());
    outcome
}

/// An experiment of the lab: how wrong the answer is.
fn study(solved: &Solved, expected: &Digest) -> Outcome {
    let wrong = solved.report.statistics.iter().find(|(counter, _)| *counter == "wrong_vertices");
    let detail = match wrong {
        Some((_, 0)) => "as printed, every vertex came out right this time".to_owned(),
        Some((_, count)) => format!("as printed, {count} vertices came out wrong"),
        None if solved.digest.agrees_with(expected) => "as printed, the answer came out right this time".to_owned(),
        None => "as printed, the answer came out wrong".to_owned(),
    };
    let mut outcome = untimed(solved, Status::Study, detail);
    let counters = solved.report.statistics.iter();
    outcome.counters = counters.map(|(name, value)| ((*name).to_owned(), *value)).collect();
    outcome
}

fn middle(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

/// The source's name, for people.
pub(crate) fn name(task: &Task<'_>, source: Option<VertexId>) -> String {
    source.map_or_else(|| "everywhere".to_owned(), |source| task.graph.name(source).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::Suite;

    const SUITE: &str = "title = 't'\nsource = 's'\nabout = 'a'\n\
        limits = { timeout = 5, budget = 5 }\nquick = { timeout = 5, budget = 5, sources = 2, repeats = 2 }\n\
        [[graph]]\nid = 'g'\ntitle = 'g'\nrecipe = 'grid:30x20'\nweights = '1..9'\n\
        [[experiment]]\nid = 'e'\ntitle = 'e'\nproblem = 'PROBLEM'\ngraphs = ['g']\nsources = 3\nrepeats = 4\nchart = 'bars'\n\
        algorithm = [{ series = 'x', engine = 'cpu', algorithm = 'ALGORITHM' }]\n";

    fn suite(problem: &str, algorithm: &str) -> Suite {
        Suite::parse("test", &SUITE.replace("PROBLEM", problem).replace("ALGORITHM", algorithm)).unwrap()
    }

    fn run(suite: &Suite, references: &mut References, limits: Limits, control: &Control) -> Result<Outcome> {
        let graph = Arc::new(warpath::generate("grid:30x20,weights=1..9").unwrap());
        let cases = suite.cases(false);
        let problem = cases[0].experiment.problem().unwrap();
        let sources: &[VertexId] = if matches!(problem, Problem::Bfs | Problem::Sssp) { &[0, 7, 311] } else { &[] };
        let task = Task { case: &cases[0], problem, graph: &graph, sources, repeats: 4, limits, control };
        measure(&task, Engine::Cpu, references)
    }

    const LIMITS: Limits = Limits { timeout: 5.0, budget: 5.0, searches: 1, once: None };

    #[test]
    fn every_problem_is_measured_and_compared() {
        let all = [
            ("bfs", "sequential"),
            ("bfs", "direction-optimizing"),
            ("sssp", "delta-stepping"),
            ("apsp", "floyd-warshall"),
            ("closure", "bit-warshall"),
        ];
        for (problem, algorithm) in all {
            let outcome = run(&suite(problem, algorithm), &mut References::default(), LIMITS, &Control::new()).unwrap();
            assert_eq!(outcome.status, Status::Measured, "{problem}: {:?}", outcome.detail);
            let times = outcome.seconds.unwrap();
            let sources = if matches!(problem, "bfs" | "sssp") { 3 } else { 1 };
            assert_eq!(times.samples.iter().map(Vec::len).collect::<Vec<_>>(), vec![4; sources]);
            assert!(times.solve.median > 0.0 && times.clock == Clock::Host);
            assert_eq!(outcome.answers.len(), sources);
            assert_eq!(outcome.algorithm.as_deref(), Some(algorithm));
            assert_eq!(outcome.ran_on.as_deref(), Some("cpu"));
        }
    }

    #[test]
    fn readings_are_split_by_source() {
        let samples = [vec![1.0, 1.0], Vec::new(), vec![1.0]];
        assert_eq!(by_source(&[5.0, 6.0, 7.0], &samples), [vec![5.0, 6.0], vec![], vec![7.0]]);
    }

    #[test]
    fn what_ran_on_other_devices_is_told() {
        let told = |asked: &str, ran: &str| elsewhere(&asked.parse().unwrap(), ran);
        for (asked, ran) in [("cpu", "cpu"), ("cuda", "cuda:0"), ("cuda:3", "cuda:3"), ("cuda:0,1", "cuda:0,1")] {
            assert_eq!(told(asked, ran), None, "{asked}");
        }
        assert_eq!(told("cuda:0,1", "cuda:0").as_deref(), Some("ran on cuda:0 alone"));
        assert_eq!(told("cuda", "cpu").as_deref(), Some("ran on cpu, not on cuda:0"));
        assert!(told("cuda:0,1", "cuda:0,2").is_some() && told("cuda:all", "cuda:0,1").is_none());
    }

    #[test]
    fn a_wrong_answer_has_no_time() {
        let suite = suite("sssp", "dijkstra");
        let mut references = References::default();
        run(&suite, &mut references, LIMITS, &Control::new()).unwrap();
        let third = references.digests.get_mut(&(Problem::Sssp, Some(311))).unwrap();
        third.sum = "1".into();
        let outcome = run(&suite, &mut references, LIMITS, &Control::new()).unwrap();
        assert_eq!(outcome.status, Status::Wrong);
        assert!(outcome.seconds.is_none());
        assert!(outcome.detail.unwrap().contains("instead of 1"));
    }

    #[test]
    fn a_search_that_takes_too_long_is_a_timeout() {
        let suite = suite("apsp", "floyd-warshall");
        let graph = Arc::new(warpath::generate("dense:900").unwrap());
        let cases = suite.cases(false);
        let limits = Limits { timeout: 0.02, budget: 1.0, searches: 1, once: None };
        let control = Control::new();
        let mut references = References::default();
        let patient = Task {
            case: &cases[0],
            problem: Problem::Apsp,
            graph: &graph,
            sources: &[],
            repeats: 1,
            limits: LIMITS,
            control: &control,
        };
        references.get(&patient, None, &Watch::new(&control)).unwrap();
        let task = Task { limits, ..patient };
        let outcome = measure(&task, Engine::Cpu, &mut references).unwrap();
        assert_eq!(outcome.status, Status::Timeout, "{:?}", outcome.detail);
        assert!(outcome.seconds.is_none());
    }

    #[test]
    fn a_cancelled_run_is_no_timeout() {
        let control = Control::new();
        control.cancel();
        let result = run(&suite("bfs", "sequential"), &mut References::default(), LIMITS, &control);
        // A search on a small graph may end before it notices the cancellation.
        assert!(matches!(result, Err(Error::Interrupted) | Ok(Outcome { status: Status::Measured, .. })), "{result:?}");
    }

    #[test]
    fn the_budget_ends_a_case_early_and_says_so() {
        let limits = Limits { timeout: 5.0, budget: 0.0, searches: 1, once: None };
        let outcome = run(&suite("sssp", "dijkstra"), &mut References::default(), limits, &Control::new()).unwrap();
        assert_eq!(outcome.status, Status::Measured);
        assert_eq!(outcome.seconds.unwrap().samples.iter().map(Vec::len).collect::<Vec<_>>(), [1]);
        assert!(outcome.detail.unwrap().contains("1 of 12 searches"));
        let limits = Limits { searches: 3, ..limits };
        let outcome = run(&suite("sssp", "dijkstra"), &mut References::default(), limits, &Control::new()).unwrap();
        assert_eq!(outcome.seconds.unwrap().samples.iter().map(Vec::len).sum::<usize>(), 3);
        assert!(outcome.detail.unwrap().contains("3 of 12 searches"));
        let limits = Limits { once: Some(0.0), ..limits };
        let outcome = run(&suite("sssp", "dijkstra"), &mut References::default(), limits, &Control::new()).unwrap();
        assert!(outcome.detail.unwrap().contains("1 of 12 searches"), "a long search is not repeated");
        let limits = Limits { once: Some(5.0), ..limits };
        let outcome = run(&suite("sssp", "dijkstra"), &mut References::default(), limits, &Control::new()).unwrap();
        assert!(outcome.detail.unwrap().contains("3 of 12 searches"));
    }
}
