//! Suites: the graphs, problems, algorithms, sources and repeats of a paper's experiments.
//!
//! A suite is a small TOML file in `suites/`, part of the program. Its `[[graph]]` tables name the source of each
//! graph: a generator, arcs in the file itself, or a dataset with the generator that stands in if the dataset is
//! absent. Its `[[experiment]]` tables name graphs and algorithms; each pair of them is a *case*, which gives one row.
//! The paper's figures stand beside their algorithm, and `[[claim]]` tables hold the paper's claims in words, with the
//! two series whose ratio tests each claim.

mod job;
mod paper;

use std::collections::BTreeMap;

pub use job::Job;
pub use paper::{Band, Chart, Claim, Figure, FigureLine, Kernel, Scale};
use serde::{Deserialize, Serialize};
use warpath::problems::Problem;
use warpath::{Error, Result};

/// All suites, in the order in which they are listed.
const FILES: [(&str, &str); 11] = [
    (
        "harish-narayanan",
        concat!(
            include_str!("../suites/harish-narayanan.toml"),
            "\n",
            include_str!("../suites/harish-narayanan-experiments.toml")
        ),
    ),
    ("katz-kider", include_str!("../suites/katz-kider.toml")),
    ("singh", include_str!("../suites/singh.toml")),
    ("rejaud", include_str!("../suites/rejaud.toml")),
    ("pathak", include_str!("../suites/pathak.toml")),
    ("gap", include_str!("../suites/gap.toml")),
    ("peers", include_str!("../suites/peers.toml")),
    ("parallel", include_str!("../suites/parallel.toml")),
    ("hierarchies", include_str!("../suites/hierarchies.toml")),
    ("hierarchies-large", include_str!("../suites/hierarchies-large.toml")),
    ("centralities", include_str!("../suites/centralities.toml")),
];

/// The contents of a suite's file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Suite {
    /// Its name on the command line.
    #[serde(skip)]
    pub name: String,
    /// The headline.
    pub title: String,
    /// The source of the experiments.
    pub source: String,
    /// A description in a few sentences.
    pub about: String,
    /// The binary logarithm of the number of vertices, for `{scale}` in a recipe.
    #[serde(default)]
    pub scale: Option<u32>,
    /// Whether strongly connected components of graphs whose edges have a direction are counted.
    #[serde(default)]
    pub strong_components: bool,
    /// The limits of one search and of one case.
    pub limits: Limits,
    /// The limits of a quick run.
    pub quick: QuickLimits,
    /// The graphs.
    #[serde(rename = "graph")]
    pub graphs: Vec<GraphEntry>,
    /// The experiments.
    #[serde(rename = "experiment")]
    pub experiments: Vec<Experiment>,
    /// The claims of the source.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
    /// The figures of the source.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
}

/// Limits of the time, in seconds, and of the searches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The limit of one search: a longer one is a timeout.
    pub timeout: f64,
    /// The budget of one case: no further search begins after it, except that each case has `searches`.
    pub budget: f64,
    /// The least number of timed searches of one case, if it has so many; they may exceed the budget. Peers have one.
    #[serde(default = "one")]
    pub searches: usize,
    /// A case whose search takes longer than this has that one search, whatever `searches` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once: Option<f64>,
}

impl Limits {
    /// The least number of timed searches of a case, of which these were timed, in seconds.
    pub(crate) fn least_searches(&self, timed: &[f64]) -> usize {
        let is_long = |seconds: &f64| self.once.is_some_and(|once| *seconds > once);
        if timed.iter().any(is_long) { 1 } else { self.searches }
    }
}

/// The reductions of a quick run.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickLimits {
    /// As in [`Limits`].
    pub timeout: f64,
    /// As in [`Limits`].
    pub budget: f64,
    /// The most sources.
    pub sources: usize,
    /// The most repeats.
    pub repeats: usize,
    /// The scale, in place of the suite's.
    #[serde(default)]
    pub scale: Option<u32>,
}

/// A graph of a suite.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GraphEntry {
    /// Its name in the suite.
    pub id: String,
    /// The title for people.
    pub title: String,
    /// A generator's recipe; for a dataset, the one that stands in where it is absent.
    #[serde(default)]
    pub recipe: Option<String>,
    /// The name of a dataset.
    #[serde(default)]
    pub dataset: Option<String>,
    /// Another dataset whose copies stand in, side by side, where the graph's own is absent and the other is not.
    #[serde(default)]
    pub tiles: Option<Tiles>,
    /// How a stand-in for an absent dataset differs from it, and what it can show.
    #[serde(default)]
    pub instead: Option<String>,
    /// The arcs themselves.
    #[serde(default)]
    pub arcs: Option<Vec<(u32, u32)>>,
    /// Random weights `LO..HI`, or `unit`; by default, the graph's own.
    #[serde(default)]
    pub weights: Option<String>,
    /// Random weights `LO..HI` if the graph has none.
    #[serde(default)]
    pub weights_if_none: Option<String>,
    /// Keeps only arcs of this weight among the vertices with the smallest numbers as names.
    #[serde(default)]
    pub among_first: Option<(u32, i64)>,
    /// The recipe of a quick run, or `skip`.
    #[serde(default)]
    pub quick: Option<String>,
    /// How the graph differs from the paper's own, if it does.
    #[serde(default)]
    pub stand_in: Option<String>,
    /// Its place on the horizontal axis of a chart.
    #[serde(default)]
    pub at: Option<f64>,
}

/// A graph made of copies of a dataset.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// The name of the dataset.
    pub of: String,
    /// The number of vertices of the graph.
    pub vertices: u64,
}

/// Some graphs, a problem, and the algorithms that solve it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Experiment {
    /// Its name in the suite.
    pub id: String,
    /// The title for people.
    pub title: String,
    /// The problem: `bfs`, `sssp`, `apsp` or `closure`.
    pub problem: String,
    /// The graphs, by id.
    pub graphs: Vec<String>,
    /// What is asked of each graph, if it is not one search from each source.
    #[serde(default)]
    pub job: Option<Job>,
    /// The number of sources, spread over the largest component.
    #[serde(default = "one")]
    pub sources: usize,
    /// The number of targets of a table, anywhere in the largest component.
    #[serde(default)]
    pub targets: usize,
    /// The steps within which the vertices of a neighborhood lie.
    #[serde(default)]
    pub steps: u32,
    /// The sources, by name, instead of spread ones.
    #[serde(default)]
    pub from: Option<Vec<String>>,
    /// The number of timed searches from each source.
    #[serde(default = "five")]
    pub repeats: usize,
    /// The number of untimed searches before them, from the first source.
    #[serde(default = "one")]
    pub warm_ups: usize,
    /// Whether the answer, and so the time, includes predecessors.
    #[serde(default)]
    pub predecessors: bool,
    /// How the results are drawn.
    pub chart: Chart,
    /// The label of a line chart's horizontal axis.
    #[serde(default)]
    pub axis: Option<String>,
    /// The baseline series of the others' speed-ups.
    #[serde(default)]
    pub against: Option<String>,
    /// Whether speed-ups compare Warpath's series with each peer, instead of each series with one baseline.
    #[serde(default)]
    pub against_peers: bool,
    /// The counters that the tables show beside the time.
    #[serde(default)]
    pub counters: Vec<String>,
    /// A note for people.
    #[serde(default)]
    pub note: Option<String>,
    /// The algorithms.
    #[serde(rename = "algorithm")]
    pub algorithms: Vec<AlgorithmEntry>,
}

fn one() -> usize {
    1
}
fn five() -> usize {
    5
}

/// An algorithm of an experiment, or several variations that differ in parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AlgorithmEntry {
    /// The title for people.
    pub series: String,
    /// `cpu`, `cuda`, `cuda:0,1` for two GPUs, or `peer`.
    pub engine: String,
    /// The algorithm with its parameters, or the peer; by default, the engine's choice.
    #[serde(default)]
    pub algorithm: Option<String>,
    /// The number of threads; by default, one per core.
    #[serde(default)]
    pub threads: Option<usize>,
    /// Parameters and their values, in all combinations.
    #[serde(default)]
    pub vary: Vec<(String, Vec<String>)>,
    /// Milliseconds that the paper reported, by graph, one value for each variation.
    #[serde(default)]
    pub reported: BTreeMap<String, Reported>,
    /// What the paper reported these times of, if it is not what this entry is called.
    #[serde(default)]
    pub reported_as: Option<String>,
    /// Counters that the paper reported, by name and graph.
    #[serde(default)]
    pub reported_counters: BTreeMap<String, BTreeMap<String, Reported>>,
    /// Restricts the algorithm to these graphs.
    #[serde(default)]
    pub graphs: Option<Vec<String>>,
    /// Restricts the algorithm to graphs with at most this many vertices.
    #[serde(default)]
    pub at_most: Option<u64>,
    /// Marks an experiment of the lab: its result is the number of wrong vertices.
    #[serde(default)]
    pub lab: bool,
}

/// One number from a paper, or one for each variation.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Reported {
    /// The same number for all.
    One(f64),
    /// One number for each, in the order of the variations.
    Each(Vec<f64>),
}

impl Reported {
    fn of(&self, variation: usize) -> Option<f64> {
        match self {
            Reported::One(value) => Some(*value),
            Reported::Each(values) => values.get(variation).copied(),
        }
    }
}

/// One algorithm on one graph.
#[derive(Debug, Clone)]
pub struct Case<'s> {
    /// The experiment.
    pub experiment: &'s Experiment,
    /// The graph.
    pub graph: &'s GraphEntry,
    /// The algorithm's entry.
    pub entry: &'s AlgorithmEntry,
    /// The title for people, with varying parameters.
    pub series: String,
    /// The algorithm with its parameters.
    pub algorithm: Option<String>,
    /// Milliseconds that the paper reported.
    pub reported: Option<f64>,
    /// Counters that the paper reported.
    pub reported_counters: BTreeMap<String, f64>,
}

impl Case<'_> {
    /// What identifies this case in the suite.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.experiment.id, self.graph.id, self.series)
    }
}

impl Experiment {
    /// The problem.
    ///
    /// # Errors
    ///
    /// If the file names no known problem.
    pub fn problem(&self) -> Result<Problem> {
        let all = [Problem::Bfs, Problem::Sssp, Problem::Apsp, Problem::Closure];
        let found = all.into_iter().find(|problem| problem.name() == self.problem);
        found.ok_or_else(|| Error::invalid(format!("experiment {}: there is no problem `{}`", self.id, self.problem)))
    }
}

impl AlgorithmEntry {
    /// Whether this is the series of one of its variations.
    pub fn has_series(&self, series: &str) -> bool {
        self.variations().iter().any(|(name, _)| name == series)
    }

    /// The series and algorithms of this entry's variations.
    pub fn variations(&self) -> Vec<(String, Option<String>)> {
        let mut all = vec![(String::new(), String::new())];
        for (name, values) in &self.vary {
            let with = |(text, parameters): &(String, String), value: &String| {
                (format!("{text} {value}"), format!("{parameters},{name}={value}"))
            };
            all = all.iter().flat_map(|base| values.iter().map(move |value| with(base, value))).collect();
        }
        let named = |(text, parameters): (String, String)| {
            let series = if text.is_empty() { self.series.clone() } else { format!("{},{text}", self.series) };
            let algorithm = self.algorithm.as_ref().map(|algorithm| match parameters.strip_prefix(',') {
                None => algorithm.clone(),
                Some(first) if algorithm.contains(':') => format!("{algorithm},{first}"),
                Some(first) => format!("{algorithm}:{first}"),
            });
            (series, algorithm)
        };
        all.into_iter().map(named).collect()
    }
}

impl Suite {
    /// The names of all suites.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// The suite of this name.
    ///
    /// ```
    /// let suite = warpath_bench::Suite::named("singh")?;
    /// assert!(suite.cases(false).len() > 8);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no such suite.
    pub fn named(name: &str) -> Result<Suite> {
        let Some((name, text)) = FILES.iter().find(|(known, _)| *known == name) else {
            let names: Vec<_> = Suite::names().collect();
            return Err(Error::invalid(format!("there is no suite `{name}`; there are {}", names.join(", "))));
        };
        Suite::parse(name, text)
    }

    /// A suite from the text of its file.
    ///
    /// # Errors
    ///
    /// If the text is not a suite, or refers to something that it does not define.
    pub fn parse(name: &str, text: &str) -> Result<Suite> {
        let mut suite: Suite =
            toml::from_str(text).map_err(|error| Error::invalid(format!("suite {name}: {error}")))?;
        suite.name = name.to_owned();
        for experiment in &suite.experiments {
            experiment.problem()?;
            if (experiment.job == Some(Job::Table)) != (experiment.targets > 0) {
                return Err(Error::invalid(format!(
                    "suite {name}: {}: a table, and nothing else, has targets",
                    experiment.id
                )));
            }
            if (experiment.job == Some(Job::Neighborhoods)) != (experiment.steps > 0) {
                return Err(Error::invalid(format!(
                    "suite {name}: {}: neighborhoods, and nothing else, have steps",
                    experiment.id
                )));
            }
            if let Some(missing) = experiment.graphs.iter().find(|id| !suite.graphs.iter().any(|g| g.id == **id)) {
                return Err(Error::invalid(format!("suite {name}: {} has no graph `{missing}`", experiment.id)));
            }
        }
        for named in suite.claims.iter().flat_map(|claim| [Some(&claim.experiment), claim.fast_experiment.as_ref()]) {
            if let Some(id) = named.filter(|id| !suite.experiments.iter().any(|experiment| experiment.id == **id)) {
                return Err(Error::invalid(format!("suite {name}: there is no experiment `{id}`")));
            }
        }
        for line in suite.figures.iter().flat_map(|figure| &figure.lines) {
            let of_line = |experiment: &&Experiment| experiment.id == line.experiment;
            let has = |entry: &AlgorithmEntry| entry.has_series(&line.series);
            if !suite.experiments.iter().find(of_line).is_some_and(|experiment| experiment.algorithms.iter().any(has)) {
                let (experiment, series) = (&line.experiment, &line.series);
                return Err(Error::invalid(format!("suite {name}: a figure has no {experiment}, `{series}`")));
            }
        }
        for claim in &suite.claims {
            claim.check().map_err(|why| Error::invalid(format!("suite {name}: {why}: {}", claim.text)))?;
            if let Some(missing) = claim.graphs.iter().flatten().find(|id| !suite.graphs.iter().any(|g| g.id == **id)) {
                return Err(Error::invalid(format!("suite {name}: a claim is about `{missing}`, which is no graph")));
            }
        }
        for counter in suite.claims.iter().flat_map(|claim| [&claim.slow_counter, &claim.fast_counter]).flatten() {
            if !counter.ends_with("_nanoseconds") {
                return Err(Error::invalid(format!("suite {name}: a claim is of times, and `{counter}` is none")));
            }
        }
        Ok(suite)
    }

    /// All cases, graph by graph, so that each graph is made once.
    pub fn cases(&self, quick: bool) -> Vec<Case<'_>> {
        let mut cases = Vec::new();
        for graph in self.graphs.iter().filter(|graph| !(quick && graph.quick.as_deref() == Some("skip"))) {
            for experiment in self.experiments.iter().filter(|experiment| experiment.graphs.contains(&graph.id)) {
                let on_graph =
                    |entry: &&AlgorithmEntry| entry.graphs.as_ref().is_none_or(|all| all.contains(&graph.id));
                for entry in experiment.algorithms.iter().filter(on_graph) {
                    for (index, (series, algorithm)) in entry.variations().into_iter().enumerate() {
                        let of_graph = |reported: &BTreeMap<String, Reported>| {
                            reported.get(&graph.id).and_then(|reported| reported.of(index))
                        };
                        let counter = |(name, reported): (&String, &BTreeMap<String, Reported>)| {
                            Some((name.clone(), of_graph(reported)?))
                        };
                        cases.push(Case {
                            experiment,
                            graph,
                            entry,
                            series,
                            algorithm,
                            reported: of_graph(&entry.reported),
                            reported_counters: entry.reported_counters.iter().filter_map(counter).collect(),
                        });
                    }
                }
            }
        }
        cases
    }

    /// The limits of a run.
    pub fn limits(&self, quick: bool) -> Limits {
        let QuickLimits { timeout, budget, .. } = self.quick;
        if quick { Limits { timeout, budget, searches: 1, once: None } } else { self.limits }
    }
}

#[cfg(test)]
mod tests;
