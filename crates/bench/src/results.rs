//! The results of a run: `results.jsonl`, one JSON object per line, written as the run proceeds.
//!
//! The first line is a [`Run`]; then follow a [`GraphFacts`] for each graph and a [`Row`] for each case, as they are
//! done. The field `record` names the kind. `docs/bench.md` describes every field. If the machine went down and cut the
//! last line short, resuming a run drops that line.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use warpath::formats::lock;
use warpath::{Error, Result};

use crate::digest::Digest;
use crate::machine::{Ceiling, Machine};
pub use crate::spread::Spread;
use crate::suite::Limits;
use crate::text;

/// The version of the format.
pub const SCHEMA: u32 = 1;

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// The run and its machine.
    Run(Run),
    /// The run was resumed.
    Resumed(Resumed),
    /// A record of a graph.
    Graph(GraphFacts),
    /// A record of a case.
    Row(Box<Row>),
}

/// The run and its machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The suite.
    pub suite: String,
    /// Whether it was a quick run.
    pub quick: bool,
    /// The requested engines.
    pub engine: String,
    /// The scale of generated graphs, if the suite has one.
    pub scale: Option<u32>,
    /// The limits of a search and a case; `None` in files from before this field.
    #[serde(default)]
    pub limits: Option<Limits>,
    /// Whether there was a folder with datasets; `None` in files from before this field.
    #[serde(default)]
    pub data: Option<bool>,
    /// The machine.
    pub machine: Machine,
    /// The ceilings of its chips.
    pub ceilings: Vec<Ceiling>,
    /// The start, in seconds since 1970.
    pub started: u64,
}

/// A run that stopped was resumed: by the same program, on a machine of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// When, in seconds since 1970.
    pub started: u64,
}

/// A difference of two runs: its name, and the values in the one and the other.
pub(crate) type Difference = (&'static str, String, String);

impl Run {
    /// The differences from another run that keep their results apart; the program comes last.
    pub(crate) fn differences(&self, other: &Run) -> Vec<Difference> {
        let quick = |run: &Run| if run.quick { "quick" } else { "whole" }.to_owned();
        let scale = |run: &Run| run.scale.map_or_else(|| "none".to_owned(), |scale| scale.to_string());
        let gpus = |run: &Run| run.machine.gpus.iter().map(|gpu| gpu.name.clone()).collect::<Vec<_>>().join(", ");
        let limits = |run: &Run| match run.limits {
            Some(Limits { timeout, budget, searches, once }) => {
                let once = once.map_or_else(String::new, |once| format!(", one where it takes more than {once} s"));
                format!("{timeout} s a search, {budget} s a case, at least {searches} searches{once}")
            }
            None => "not known".to_owned(),
        };
        let data = |run: &Run| match run.data {
            Some(true) => "there",
            Some(false) => "absent",
            None => "not known",
        };
        let of = |run: &Run| {
            [
                ("suite", run.suite.clone()),
                ("extent", quick(run)),
                ("engine", run.engine.clone()),
                ("scale", scale(run)),
                ("limit", limits(run)),
                ("data folder", data(run).to_owned()),
                ("processor", run.machine.processor.clone()),
                ("list of GPUs", gpus(run)),
                ("program", run.machine.program()),
            ]
        };
        let both = of(self).into_iter().zip(of(other)).map(|((what, this), (_, that))| (what, this, that));
        both.filter(|(_, this, that)| this != that).collect()
    }
}

/// A graph of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphFacts {
    /// Its name in the suite.
    pub id: String,
    /// The title for people.
    pub title: String,
    /// Where it came from: a file, a recipe, or the suite itself.
    pub origin: String,
    /// The graph of the paper that it stands in for, if any.
    pub stand_in: Option<String>,
    /// Number of vertices.
    pub vertices: u64,
    /// Number of arcs; an undirected edge is two.
    pub arcs: u64,
    /// Whether edges have a direction.
    pub directed: bool,
    /// The type of its weights.
    pub weights: String,
    /// The least and the greatest weight.
    pub weight_range: Option<(f64, f64)>,
    /// Its place on the horizontal axis of charts.
    pub at: f64,
    /// Seconds for reading or generating it.
    pub load_seconds: f64,
    /// The number of weakly connected components, and of vertices in the largest.
    pub components: (u64, u64),
    /// The same for strongly connected ones, if the suite wants them and edges have a direction.
    #[serde(default)]
    pub strong_components: Option<(u64, u64)>,
    /// The least, mean and greatest degree.
    pub degree: (u64, f64, u64),
    /// The number of vertices of degree 0, 1, 2..3, 4..7 and so on.
    pub degrees: Vec<u64>,
    /// The number of vertices in each level of a breadth-first search from the first source.
    pub frontiers: Vec<u64>,
}

impl GraphFacts {
    /// The type and range of the weights, for people.
    pub(crate) fn weights_text(&self) -> String {
        match self.weight_range {
            Some((low, high)) => format!("{} {low}..{high}", self.weights),
            None => self.weights.clone(),
        }
    }

    /// How another graph of the same name differs, if it does.
    pub(crate) fn difference(&self, other: &GraphFacts) -> Option<String> {
        let origin = |facts: &GraphFacts| {
            let name = facts.origin.as_str();
            let packed = [".gz", ".zst", ".bz2", ".xz"].into_iter().find_map(|extension| name.strip_suffix(extension));
            packed.unwrap_or(name).to_owned()
        };
        let size = |facts: &GraphFacts| format!("{} vertices and {} arcs", facts.vertices, facts.arcs);
        let weights = |facts: &GraphFacts| format!("weights {}", facts.weights_text());
        let all = [(origin(self), origin(other)), (size(self), size(other)), (weights(self), weights(other))];
        all.into_iter().find(|(this, that)| this != that).map(|(this, that)| format!("{this}, not {that}"))
    }
}

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every answer was right; the row has times.
    Measured,
    /// An answer was wrong; the row has no times.
    Wrong,
    /// An algorithm of the lab: its wrong vertices are counted, and nothing is timed.
    Study,
    /// A search exceeded its limit.
    Timeout,
    /// Something it needs is missing: a GPU, a program, memory.
    Unavailable,
    /// It failed.
    Failed,
}

impl Status {
    /// The status in words.
    pub fn text(self) -> &'static str {
        match self {
            Status::Measured => "measured",
            Status::Wrong => "wrong",
            Status::Study => "study",
            Status::Timeout => "timeout",
            Status::Unavailable => "unavailable",
            Status::Failed => "failed",
        }
    }
}

/// The clock that timed the solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The host's: from the request to final distances.
    Host,
    /// The device's, by events: from a prepared graph to final distances, both on the device.
    Device,
    /// Another program's own.
    Peer,
}

/// A case and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The experiment.
    pub experiment: String,
    /// The graph.
    pub graph: String,
    /// The title for people.
    pub series: String,
    /// The problem.
    pub problem: String,
    /// The requested engine, or `peer`.
    pub engine: String,
    /// The engine that ran, with its devices, such as `cuda:0,1`.
    #[serde(default)]
    pub ran_on: Option<String>,
    /// The algorithm that ran, with its parameters, or the peer with its version.
    pub algorithm: String,
    /// How it ended.
    pub status: Status,
    /// Why it did not end well; otherwise, a remark on the times.
    pub detail: Option<String>,
    /// The times.
    pub seconds: Option<Times>,
    /// Digests of the answers, by source.
    pub answers: Vec<Digest>,
    /// Names of the sources.
    pub sources: Vec<String>,
    /// The algorithm's counters, medians over the searches.
    pub counters: BTreeMap<String, u64>,
    /// Bytes of the device's memory.
    pub device_bytes: u64,
    /// The time that the paper reported, in seconds.
    pub reported: Option<f64>,
    /// Counters that the paper reported.
    pub reported_counters: BTreeMap<String, f64>,
}

impl Row {
    /// What identifies the row in its run.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.experiment, self.graph, self.series)
    }

    /// The median time, if it was measured.
    pub fn median(&self) -> Option<f64> {
        self.times().map(|times| times.solve.median)
    }

    /// The times, if it was measured.
    pub(crate) fn times(&self) -> Option<&Times> {
        self.seconds.as_ref().filter(|_| self.status == Status::Measured)
    }

    /// The number of timed searches.
    pub(crate) fn searches(&self) -> usize {
        self.times().map_or(0, |times| times.samples.iter().map(Vec::len).sum())
    }
}

/// Where the time went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The clock of `solve`.
    pub clock: Clock,
    /// The work done once: threads, upload, transposing, choosing parameters.
    pub prepare: f64,
    /// The searches.
    pub solve: Spread,
    /// The searches by the host's clock.
    pub host: f64,
    /// Copying distances from the device, the median.
    pub download: f64,
    /// Every search, by source and repeat.
    pub samples: Vec<Vec<f64>>,
    /// The same searches by the host's clock, if `clock` is the device's; empty in files from before this field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_samples: Vec<Vec<f64>>,
}

/// The contents of a results file.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The run and its machine.
    pub run: Run,
    /// When the run was resumed.
    pub resumed: Vec<Resumed>,
    /// The graphs.
    pub graphs: Vec<GraphFacts>,
    /// The rows.
    pub rows: Vec<Row>,
}

impl Results {
    /// The results of a run that has just begun.
    pub fn new(run: Run) -> Self {
        Results { run, resumed: Vec::new(), graphs: Vec::new(), rows: Vec::new() }
    }

    /// Reads a file; of two lines on the same graph or case, the later one counts.
    ///
    /// # Errors
    ///
    /// If it can't be read, or is not a results file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Self::parse(&text).map_err(|message| in_file(path, &message))
    }

    fn parse(text: &str) -> std::result::Result<Self, String> {
        let mut results: Option<Results> = None;
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let record: Record = match serde_json::from_str(line) {
                Ok(record) => record,
                // Ignore a last line that was cut short.
                Err(_) if !text.ends_with('\n') && index + 1 == text.lines().count() => break,
                Err(error) => return Err(format!("line {}: {error}", index + 1)),
            };
            match (record, &mut results) {
                (Record::Run(run), None) if run.schema != SCHEMA => {
                    return Err(format!("it is of schema {}, this program knows {SCHEMA}", run.schema));
                }
                (Record::Run(run), None) => results = Some(Results::new(run)),
                (Record::Run(_), Some(_)) => return Err(format!("line {}: a second run", index + 1)),
                (_, None) => return Err("the first line does not say what was run".to_owned()),
                (Record::Resumed(resumed), Some(results)) => results.resumed.push(resumed),
                (Record::Graph(graph), Some(results)) => results.add_graph(graph),
                (Record::Row(row), Some(results)) => results.add_row(*row),
            }
        }
        results.ok_or_else(|| "there are no results in it".to_owned())
    }

    pub(crate) fn add_graph(&mut self, graph: GraphFacts) {
        match self.graphs.iter_mut().find(|known| known.id == graph.id) {
            Some(known) => *known = graph,
            None => self.graphs.push(graph),
        }
    }

    pub(crate) fn add_row(&mut self, row: Row) {
        match self.rows.iter_mut().find(|known| known.key() == row.key()) {
            Some(known) => *known = row,
            None => self.rows.push(row),
        }
    }

    /// When the run was begun and resumed, for people.
    pub(crate) fn begun(&self) -> String {
        let mut text = format!("begun {}", text::moment(self.run.started));
        for (index, resumed) in self.resumed.iter().enumerate() {
            let word = if index == 0 { ", resumed" } else { " and" };
            text += &format!("{word} {}", text::moment(resumed.started));
        }
        text
    }

    /// The graph of this name.
    pub fn graph(&self, id: &str) -> Option<&GraphFacts> {
        self.graphs.iter().find(|graph| graph.id == id)
    }

    /// The number of rows with a wrong answer.
    pub fn wrong(&self) -> usize {
        self.rows.iter().filter(|row| row.status == Status::Wrong).count()
    }
}

fn in_file(path: &Path, message: &str) -> Error {
    Error::invalid(format!("{}: {message}", path.display()))
}

/// A file to which one process at a time appends lines, each written at once.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: Option<File>,
}

impl Journal {
    /// A journal without a file.
    pub(crate) fn none() -> Self {
        Journal { path: PathBuf::new(), file: None }
    }

    /// Creates a new file.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let io = |error| Error::io(path, error);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(io)?;
        lock(&file, path)?;
        // Another run may have created the file since it was found to be absent.
        if file.metadata().map_err(io)?.len() > 0 {
            return Err(Error::invalid(format!("{} is there already", path.display())));
        }
        Ok(Journal { path: path.to_owned(), file: Some(file) })
    }

    /// Opens an existing file, removes a last line that was cut short, and reads the rest.
    pub(crate) fn append_to(path: &Path) -> Result<(Self, Results)> {
        let io = |error| Error::io(path, error);
        let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(io)?;
        lock(&file, path)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(io)?;
        let results = Results::parse(&text).map_err(|message| in_file(path, &message))?;
        file.set_len(text.rfind('\n').map_or(0, |last| last as u64 + 1)).map_err(io)?;
        Ok((Journal { path: path.to_owned(), file: Some(file) }, results))
    }

    pub(crate) fn write(&mut self, record: &Record) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let line = serde_json::to_string(record).map_err(|error| Error::io(&self.path, error.into()))? + "\n";
        file.write_all(line.as_bytes()).map_err(|error| Error::io(&self.path, error))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A run with nothing in it.
    pub(crate) fn empty_run(suite: &str) -> Results {
        let machine = Machine {
            processor: "a processor".into(),
            threads: 2,
            memory_bytes: 1 << 30,
            system: "a system".into(),
            gpus: Vec::new(),
            no_gpu: Some("none".into()),
            version: "1".into(),
            commit: "abc".into(),
            build: "debug".into(),
        };
        Results::new(Run {
            schema: SCHEMA,
            suite: suite.into(),
            quick: true,
            engine: "cpu".into(),
            scale: None,
            limits: Some(Limits { timeout: 5.0, budget: 1.0, searches: 1, once: None }),
            data: Some(false),
            machine,
            ceilings: Vec::new(),
            started: 0,
        })
    }

    /// A graph with these numbers of vertices and arcs.
    pub(crate) fn graph(id: &str, vertices: u64, arcs: u64) -> GraphFacts {
        GraphFacts {
            id: id.into(),
            title: id.into(),
            origin: "a recipe".into(),
            stand_in: None,
            vertices,
            arcs,
            directed: true,
            weights: "none".into(),
            weight_range: None,
            at: vertices as f64,
            load_seconds: 0.0,
            components: (1, vertices),
            strong_components: None,
            degree: (1, 2.0, 3),
            degrees: vec![0, vertices],
            frontiers: vec![1, vertices - 1],
        }
    }

    /// A row with these samples, all from one source.
    pub(crate) fn row(graph: &str, series: &str, samples: &[f64]) -> Row {
        let samples = vec![samples.to_vec()];
        Row {
            experiment: "experiment".into(),
            graph: graph.into(),
            series: series.into(),
            problem: "bfs".into(),
            engine: "cpu".into(),
            ran_on: Some("cpu".into()),
            algorithm: "sequential".into(),
            status: Status::Measured,
            detail: None,
            seconds: Some(Times {
                clock: Clock::Host,
                prepare: 0.0,
                solve: Spread::of(&samples),
                host: 0.0,
                download: 0.0,
                samples,
                host_samples: Vec::new(),
            }),
            answers: Vec::new(),
            sources: vec!["0".into()],
            counters: BTreeMap::new(),
            device_bytes: 0,
            reported: None,
            reported_counters: BTreeMap::new(),
        }
    }

    #[test]
    fn a_file_cut_short_is_read_up_to_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let results = empty_run("singh");
        let mut journal = Journal::create(&path).unwrap();
        journal.write(&Record::Run(results.run.clone())).unwrap();
        journal.write(&Record::Row(Box::new(row("a", "x", &[1.0])))).unwrap();
        journal.write(&Record::Row(Box::new(row("a", "y", &[2.0])))).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 20]).unwrap();
        assert_eq!(Results::read(&path).unwrap().rows.len(), 1);
        let (mut journal, found) = Journal::append_to(&path).unwrap();
        assert_eq!(found.rows.len(), 1);
        for second in [Journal::append_to(&path).map(|_| ()), Journal::create(&path).map(|_| ())] {
            let refused = second.unwrap_err().to_string();
            assert!(refused.contains("is being written by another process"), "{refused}");
        }
        journal.write(&Record::Row(Box::new(row("a", "z", &[3.0])))).unwrap();
        journal.write(&Record::Row(Box::new(row("a", "z", &[4.0])))).unwrap();
        let read = Results::read(&path).unwrap();
        assert_eq!(read.rows, [row("a", "x", &[1.0]), row("a", "z", &[4.0])], "the later row counts");
    }

    #[test]
    fn files_from_before_limits_were_written_down_are_read() {
        let (mut run, row) = (empty_run("singh").run, row("a", "x", &[1.0]));
        (run.limits, run.data) = (None, None);
        let mut old = serde_json::to_value(Record::Run(run.clone())).unwrap();
        let fields = old.as_object_mut().unwrap();
        assert!(fields.remove("limits").is_some() && fields.remove("data").is_some());
        let row_line = serde_json::to_string(&Record::Row(Box::new(row.clone()))).unwrap();
        let text = format!("{old}\n{}\n", row_line.replace("\"ran_on\":\"cpu\",", ""));
        let read = Results::parse(&text).unwrap();
        assert_eq!((&read.run, &read.rows[..]), (&run, &[Row { ran_on: None, ..row }][..]));
        let now = Run {
            limits: Some(Limits { timeout: 1.0, budget: 2.0, searches: 1, once: None }),
            data: Some(true),
            ..run.clone()
        };
        let told: Vec<&str> = run.differences(&now).into_iter().map(|(what, _, _)| what).collect();
        assert_eq!(told, ["limit", "data folder"]);
    }

    #[test]
    fn graphs_of_one_name_may_differ() {
        let facts = graph("g", 10, 20);
        assert_eq!(facts.difference(&facts), None);
        let file = |name: &str| GraphFacts { origin: name.into(), ..facts.clone() };
        assert_eq!(file("ny.gr").difference(&file("ny.gr.gz")), None);
        assert_eq!(file("ny.gr").difference(&file("grid:3x3")).as_deref(), Some("ny.gr, not grid:3x3"));
        let told = facts.difference(&graph("g", 10, 21)).unwrap();
        assert_eq!(told, "10 vertices and 20 arcs, not 10 vertices and 21 arcs");
        let weighted = GraphFacts { weight_range: Some((1.0, 9.0)), ..facts.clone() };
        assert!(facts.difference(&weighted).is_some());
    }

    #[test]
    fn other_files_are_refused() {
        for text in ["", "{}\n", "not json\n", "{\"record\":\"row\"}\n"] {
            assert!(Results::parse(text).is_err(), "{text}");
        }
    }
}
