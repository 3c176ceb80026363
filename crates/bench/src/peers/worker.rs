//! Runs linked packages in processes of their own, since nothing else can stop a call.
//!
//! A *worker* is this program, started again ([`Tools::worker`](super::Tools)). It reads the graph from a file and answers
//! one package's questions, case after case, so that what a package has made of a graph serves all its cases. A worker whose
//! call takes too long is killed, and what it has made is lost: the next case starts another one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::de::{DeserializeOwned, IgnoredAny};
use tempfile::TempDir;
use warpath::{Control, Error, Format, Graph, Result, WriteOptions};

use super::messages::{Case, Counters, Message, Ready, Reply, Request};
use super::process;
use crate::measure::{Task, Watch};

/// The workers of one graph, by package.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    /// The folder of the graph's file.
    folder: Option<TempDir>,
    idle: BTreeMap<String, Worker>,
}

impl Workers {
    /// Prepares a case of a package within this many seconds, lets `converse` put the questions, and returns what that returns,
    /// with the package's counters.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`] if a call took longer than the watch allows, or the user cancelled.
    pub(crate) fn run<T>(
        &mut self,
        task: &Task<'_>,
        program: &[OsString],
        case: Case,
        preparing: f64,
        watch: &Watch,
        converse: impl FnOnce(Ready, &mut Worker) -> Result<T>,
    ) -> Result<(T, Counters)> {
        let package = case.package.clone();
        let mut worker = match self.idle.remove(&package) {
            Some(worker) => worker,
            None => self.start(task, program, watch)?,
        };
        worker.send(&Request::Case(case))?;
        let ready = watch.allow(preparing, || worker.ready(&watch.control))?;
        let done = converse(ready, &mut worker)?;
        worker.send(&Request::End)?;
        let counters = watch.allow(task.limits.timeout, || worker.ended(&watch.control))?;
        self.idle.insert(package, worker);
        Ok((done, counters))
    }

    fn start(&mut self, task: &Task<'_>, program: &[OsString], watch: &Watch) -> Result<Worker> {
        /// Seconds for reading the graph, beside the limit of a call.
        const READING: f64 = 30.0;
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => written(task.graph, &watch.control)?,
        };
        let folder = self.folder.insert(folder);
        let mut worker = Worker::start(program, &folder.path().join(GRAPH))?;
        watch.allow(task.limits.timeout + READING, || worker.loaded(&watch.control))?;
        Ok(worker)
    }
}

const GRAPH: &str = "graph.wpg";

/// A folder with the graph.
fn written(graph: &Graph, control: &Control) -> Result<TempDir> {
    let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), error))?;
    let options = WriteOptions::new().format(Format::Warpath).control(control.clone());
    options.write(graph, folder.path().join(GRAPH))?;
    Ok(folder)
}

/// A process that runs the calls of linked packages. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    /// Requests for a thread that writes them, so that a process that doesn't read them blocks nobody else.
    requests: Sender<String>,
    replies: Receiver<String>,
    errors: Option<JoinHandle<String>>,
}

impl Worker {
    fn start(program: &[OsString], graph: &Path) -> Result<Self> {
        let [name, arguments @ ..] = program else { return Err(Error::invalid("no program is named for workers")) };
        let mut command = Command::new(name);
        command.args(arguments).arg(graph);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| Error::io(name, error))?;
        let (Some(mut input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Error::invalid("a worker has no standard streams"));
        };
        let (requests, to_write) = channel::<String>();
        std::thread::spawn(move || {
            to_write.iter().try_for_each(|line| writeln!(input, "{line}").and_then(|()| input.flush()))
        });
        let (read, replies) = channel();
        std::thread::spawn(move || {
            // Nobody receives once the worker is dropped.
            BufReader::new(output).lines().map_while(std::result::Result::ok).try_for_each(|line| read.send(line))
        });
        Ok(Worker { child, requests, replies, errors: Some(process::read_all(errors)) })
    }

    fn send(&mut self, request: &Request) -> Result<()> {
        let line = serde_json::to_string(request).map_err(|error| Error::invalid(error.to_string()))?;
        // If the process has ended, the wait for its message will say so.
        let _ = self.requests.send(line);
        Ok(())
    }

    /// Waits for a message until `control` is cancelled.
    fn message<A: DeserializeOwned>(&mut self, control: &Control) -> Result<Message<A>> {
        const NAP: Duration = Duration::from_millis(5);
        loop {
            control.check()?;
            match self.replies.recv_timeout(NAP) {
                Ok(line) => match serde_json::from_str(&line) {
                    Ok(Message::Wrong(text)) => return Err(Error::NotVerified(text)),
                    Ok(Message::Failed(text)) => return Err(Error::invalid(text)),
                    Ok(message) => return Ok(message),
                    // Ignore what packages print.
                    Err(_) => {}
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.failure()),
            }
        }
    }

    /// The error of a process that ended by itself.
    fn failure(&mut self) -> Error {
        // It may have closed its output only.
        let _ = self.child.kill();
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let errors = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no word of why");
        Error::invalid(format!("its process ended ({status}): {last}"))
    }

    fn loaded(&mut self, control: &Control) -> Result<()> {
        match self.message::<IgnoredAny>(control)? {
            Message::Loaded => Ok(()),
            _ => Err(out_of_turn()),
        }
    }

    fn ready(&mut self, control: &Control) -> Result<Ready> {
        match self.message::<IgnoredAny>(control)? {
            Message::Ready(ready) => Ok(ready),
            _ => Err(out_of_turn()),
        }
    }

    /// Puts some questions of the case.
    pub(crate) fn ask<A: DeserializeOwned>(&mut self, questions: Range<usize>, control: &Control) -> Result<Reply<A>> {
        let count = questions.len();
        self.send(&Request::Questions(questions))?;
        match self.message(control)? {
            Message::Reply(reply) if reply.answers.len() == count => Ok(reply),
            _ => Err(out_of_turn()),
        }
    }

    fn ended(&mut self, control: &Control) -> Result<Counters> {
        match self.message::<IgnoredAny>(control)? {
            Message::Ended(counters) => Ok(counters),
            _ => Err(out_of_turn()),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended by itself. The threads of its streams end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn out_of_turn() -> Error {
    Error::invalid("a worker answered out of turn")
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Instant;

    use warpath::Engine;

    use super::super::Tools;
    use crate::results::{Results, Status};
    use crate::{Options, Suite, run};

    use super::*;

    const SUITE: &str = "title = 't'\nsource = 's'\nabout = 'a'\n\
        limits = { timeout = 2, budget = 0.1 }\nquick = { timeout = 2, budget = 0.1, sources = 2, repeats = 2 }\n\
        [[graph]]\nid = 'g'\ntitle = 'g'\nrecipe = 'grid:30x20'\nweights = '1..9'\n";

    const JOB: &str = "[[experiment]]\nid = 'JOB'\ntitle = 't'\nproblem = 'sssp'\njob = 'JOB'\ngraphs = ['g']\nsources = 8\n\
        chart = 'bars'\nalgorithm = [{ series = 'peer', engine = 'peer', algorithm = 'fast_paths' },\n\
        { series = 'Warpath', engine = 'cpu', algorithm = 'hierarchy' }]\n";

    const SEARCH: &str = "[[experiment]]\nid = 'search'\ntitle = 't'\nproblem = 'sssp'\ngraphs = ['g']\nchart = 'bars'\n\
        algorithm = [{ series = 'peer', engine = 'peer', algorithm = 'petgraph' },\n\
        { series = 'Warpath', engine = 'cpu', algorithm = 'dijkstra' }]\n";

    /// Says that it is ready for a case.
    const READY: &str = r#"echo '"Loaded"'; read case
        echo '{"Ready":{"name":"x","ran_on":null,"clock":"host","prepare":0.5,"counters":[],"at_once":1}}'"#;

    /// Runs these jobs and a search with a worker that is a script of the shell.
    fn with_worker(script: &str, jobs: &[&str]) -> Results {
        let experiments: Vec<String> = jobs.iter().map(|job| JOB.replace("JOB", job)).collect();
        let suite = Suite::parse("test", &format!("{SUITE}{}{SEARCH}", experiments.concat())).unwrap();
        let worker = ["sh", "-c", script].map(OsString::from).to_vec();
        let options = Options {
            quick: false,
            engine: Engine::Cpu,
            scale: None,
            timeout: None,
            budget: None,
            experiments: Vec::new(),
            graphs: Vec::new(),
            data: None,
            output: None,
            resume: false,
            tools: Tools {
                python: "/nowhere/python".into(),
                gap: None,
                wasp: None,
                pasgal: None,
                worker: Some(worker),
            },
        };
        let start = Instant::now();
        let results = run(&suite, &options, &Control::new(), &mut |_| ()).unwrap();
        assert!(start.elapsed() < Duration::from_secs(50), "{:?}", start.elapsed());
        for row in results.rows.iter().filter(|row| row.series == "Warpath") {
            assert_eq!(row.status, Status::Measured, "{}: {:?}", row.key(), row.detail);
        }
        assert_eq!(results.rows.len(), 2 * (jobs.len() + 1));
        results
    }

    /// How the peer's cases ended.
    fn of_peer(results: &Results) -> Vec<(&str, Status, &str)> {
        let of_peer = results.rows.iter().filter(|row| row.series == "peer");
        of_peer.map(|row| (row.experiment.as_str(), row.status, row.detail.as_deref().unwrap_or_default())).collect()
    }

    const SKIPPED: &str = "skipped: preparing this graph took more than 2 s in an earlier case";

    #[test]
    fn preparing_that_never_ends_is_cut_off_once() {
        let results = with_worker("echo '\"Loaded\"'; exec sleep 600", &["customize", "pairs"]);
        let expected = [
            ("customize", Status::Timeout, "preparing took more than 2 s"),
            ("pairs", Status::Timeout, SKIPPED),
            ("search", Status::Timeout, "it took more than 2 s"),
        ];
        assert_eq!(of_peer(&results), expected);
    }

    #[test]
    fn a_call_that_never_ends_is_cut_off() {
        let late = "a call took more than 2 s";
        let sleeps = format!("{READY}; read questions; exec sleep 600");
        let results = with_worker(&sleeps, &["customize", "build", "pairs"]);
        let expected = [
            // Other cases don't need what was customized.
            ("customize", Status::Timeout, late),
            ("build", Status::Timeout, late),
            ("pairs", Status::Timeout, SKIPPED),
            ("search", Status::Timeout, "it took more than 2 s"),
        ];
        assert_eq!(of_peer(&results), expected);
    }

    #[test]
    fn a_worker_whose_streams_outlive_it_is_cut_off() {
        // The shell is killed, but not the program that it waits for.
        let results = with_worker("echo '\"Loaded\"'; sleep 60; exit", &["pairs"]);
        assert!(of_peer(&results).iter().all(|(_, status, _)| *status == Status::Timeout), "{:?}", of_peer(&results));
    }

    #[test]
    fn a_worker_that_ends_says_why() {
        let results = with_worker(&format!("{READY}; echo 'too much memory' >&2; exit 7"), &["build", "pairs"]);
        for (experiment, status, detail) in of_peer(&results) {
            assert!(status == Status::Failed && detail.contains("too much memory"), "{experiment}: {detail}");
        }
    }
}
