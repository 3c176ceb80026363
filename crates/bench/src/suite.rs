//! Suites: which graphs, problems, algorithms, sources and repeats a paper's experiment is made of.
//!
//! A suite is a small TOML file in `suites/`, part of the program. Its `[[graph]]` tables say where graphs come from: a
//! generator, arcs in the file itself, or a dataset with the generator that stands in where the dataset is absent. Its
//! `[[experiment]]` tables name graphs and algorithms; each pair of them is a *case*, which gives one row. What the
//! paper reported stands beside the algorithm that it reported it of, and `[[claim]]` tables hold what the paper says in
//! words, with the two series whose ratio tells whether it holds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpath::problems::Problem;
use warpath::{Error, Result};

/// The suites that there are, in the order in which they are listed.
const FILES: [(&str, &str); 7] = [
    ("harish-narayanan", include_str!("../suites/harish-narayanan.toml")),
    ("katz-kider", include_str!("../suites/katz-kider.toml")),
    ("singh", include_str!("../suites/singh.toml")),
    ("rejaud", include_str!("../suites/rejaud.toml")),
    ("pathak", include_str!("../suites/pathak.toml")),
    ("gap", include_str!("../suites/gap.toml")),
    ("peers", include_str!("../suites/peers.toml")),
];

/// A suite as its file has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Suite {
    /// Its name on the command line.
    #[serde(skip)]
    pub name: String,
    /// The headline.
    pub title: String,
    /// Where the experiments come from.
    pub source: String,
    /// What the suite is about, in a few sentences.
    pub about: String,
    /// The binary logarithm of the number of vertices where a recipe says `{scale}`.
    #[serde(default)]
    pub scale: Option<u32>,
    /// How long one search, and one case, may take.
    pub limits: Limits,
    /// The same for a quick run.
    pub quick: QuickLimits,
    /// The graphs.
    #[serde(rename = "graph")]
    pub graphs: Vec<GraphEntry>,
    /// The experiments.
    #[serde(rename = "experiment")]
    pub experiments: Vec<Experiment>,
    /// What the source says in words.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// How long things may take, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// One search: longer is a timeout.
    pub timeout: f64,
    /// One case: no further search is begun after that, once each counts at least once.
    pub budget: f64,
}

/// What a quick run does less of.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickLimits {
    /// As in [`Limits`].
    pub timeout: f64,
    /// As in [`Limits`].
    pub budget: f64,
    /// At most so many sources.
    pub sources: usize,
    /// At most so many repeats.
    pub repeats: usize,
    /// In place of the suite's scale.
    #[serde(default)]
    pub scale: Option<u32>,
}

/// A graph of a suite.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GraphEntry {
    /// Its name in the suite.
    pub id: String,
    /// What people read.
    pub title: String,
    /// A generator's recipe; for a dataset, the one that stands in where it is absent.
    #[serde(default)]
    pub recipe: Option<String>,
    /// A dataset's name.
    #[serde(default)]
    pub dataset: Option<String>,
    /// The arcs themselves.
    #[serde(default)]
    pub arcs: Option<Vec<(u32, u32)>>,
    /// Random weights `LO..HI`, or `unit`; the graph's own if nothing is said.
    #[serde(default)]
    pub weights: Option<String>,
    /// Random weights `LO..HI` where the graph has none.
    #[serde(default)]
    pub weights_if_none: Option<String>,
    /// Only arcs among the first so many vertices, by name, that have this weight.
    #[serde(default)]
    pub among_first: Option<(u32, i64)>,
    /// The recipe of a quick run, or `skip`.
    #[serde(default)]
    pub quick: Option<String>,
    /// What the graph is not the paper's own in, if it is not.
    #[serde(default)]
    pub stand_in: Option<String>,
    /// Where it stands on the horizontal axis of a chart.
    #[serde(default)]
    pub at: Option<f64>,
}

/// Some graphs, a problem, and the algorithms that solve it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Experiment {
    /// Its name in the suite.
    pub id: String,
    /// What people read.
    pub title: String,
    /// What is solved: `bfs`, `sssp`, `apsp` or `closure`.
    pub problem: String,
    /// The graphs, by id.
    pub graphs: Vec<String>,
    /// How many sources, spread over the largest component.
    #[serde(default = "one")]
    pub sources: usize,
    /// These sources instead, by name.
    #[serde(default)]
    pub from: Option<Vec<String>>,
    /// Timed searches from each source.
    #[serde(default = "five")]
    pub repeats: usize,
    /// Untimed searches before them, from the first source.
    #[serde(default = "one")]
    pub warm_ups: usize,
    /// Whether predecessors are part of the answer, and of the time.
    #[serde(default)]
    pub predecessors: bool,
    /// How the results are drawn.
    pub chart: Chart,
    /// What the horizontal axis of a line chart shows.
    #[serde(default)]
    pub axis: Option<String>,
    /// The series that the others' speed-ups are counted against.
    #[serde(default)]
    pub against: Option<String>,
    /// Whether speed-ups tell how many times as fast Warpath's series are as each peer, instead of each against one.
    #[serde(default)]
    pub against_peers: bool,
    /// Counters that the tables show beside the time.
    #[serde(default)]
    pub counters: Vec<String>,
    /// What there is to say.
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

/// How results are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chart {
    /// Time over the graphs' place on the axis, a line for each series.
    Lines,
    /// Time by graph, a bar for each series.
    Bars,
}

/// An algorithm of an experiment, or several that differ in parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AlgorithmEntry {
    /// What people read.
    pub series: String,
    /// `cpu`, `cuda`, `cuda:0,1` for two GPUs, or `peer`.
    pub engine: String,
    /// The algorithm with its parameters, or the peer; what the engine picks if nothing is said.
    #[serde(default)]
    pub algorithm: Option<String>,
    /// How many threads; one a core if nothing is said.
    #[serde(default)]
    pub threads: Option<usize>,
    /// Parameters and the values they take, every one with every other.
    #[serde(default)]
    pub vary: Vec<(String, Vec<String>)>,
    /// Milliseconds that the paper reported, by graph, one for each variation.
    #[serde(default)]
    pub reported: BTreeMap<String, Reported>,
    /// Counters that the paper reported, by name and graph.
    #[serde(default)]
    pub reported_counters: BTreeMap<String, BTreeMap<String, Reported>>,
    /// Only on these graphs.
    #[serde(default)]
    pub graphs: Option<Vec<String>>,
    /// Only on graphs with at most so many vertices.
    #[serde(default)]
    pub at_most: Option<u64>,
    /// An experiment of the lab: how many vertices come out wrong is its result.
    #[serde(default)]
    pub lab: bool,
}

/// One figure of a paper, or one for each variation.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Reported {
    /// The same for all.
    One(f64),
    /// In the order of the variations.
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

/// What a paper says of two series, or of one series on two graphs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Claim {
    /// The claim, in a sentence.
    pub text: String,
    /// The figure that the paper gives, such as `20-50x`.
    pub says: String,
    /// The experiment that tells.
    pub experiment: String,
    /// The series, or `GRAPH/SERIES`, that takes longer.
    pub slow: String,
    /// The series, or `GRAPH/SERIES`, that takes less.
    pub fast: String,
    /// The experiment that has `fast`, if it is another one.
    #[serde(default)]
    pub fast_experiment: Option<String>,
    /// A counter of nanoseconds that is compared instead of the whole time of `slow`.
    #[serde(default)]
    pub slow_counter: Option<String>,
    /// The same of `fast`.
    #[serde(default)]
    pub fast_counter: Option<String>,
}

impl Claim {
    /// What is compared, for people.
    pub fn compared(&self) -> String {
        let part = |series: &str, counter: &Option<String>| match counter {
            Some(counter) => format!("{series} ({} alone)", counter.replace('_', " ")),
            None => series.to_owned(),
        };
        format!("{} by {}", part(&self.slow, &self.slow_counter), part(&self.fast, &self.fast_counter))
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
    /// What people read, parameters that vary included.
    pub series: String,
    /// The algorithm with its parameters.
    pub algorithm: Option<String>,
    /// Milliseconds that the paper reported.
    pub reported: Option<f64>,
    /// Counters that the paper reported.
    pub reported_counters: BTreeMap<String, f64>,
}

impl Case<'_> {
    /// What tells this case from all others of the suite.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.experiment.id, self.graph.id, self.series)
    }
}

impl Experiment {
    /// The problem.
    ///
    /// # Errors
    ///
    /// If the file names none of them.
    pub fn problem(&self) -> Result<Problem> {
        let all = [Problem::Bfs, Problem::Sssp, Problem::Apsp, Problem::Closure];
        let found = all.into_iter().find(|problem| problem.name() == self.problem);
        found.ok_or_else(|| Error::invalid(format!("experiment {}: there is no problem `{}`", self.id, self.problem)))
    }
}

impl AlgorithmEntry {
    /// The series and algorithms that this entry stands for.
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
    /// If there is none.
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
    /// If the text is not a suite, or names what it does not have.
    pub fn parse(name: &str, text: &str) -> Result<Suite> {
        let mut suite: Suite =
            toml::from_str(text).map_err(|error| Error::invalid(format!("suite {name}: {error}")))?;
        suite.name = name.to_owned();
        for experiment in &suite.experiments {
            experiment.problem()?;
            if let Some(missing) = experiment.graphs.iter().find(|id| !suite.graphs.iter().any(|g| g.id == **id)) {
                return Err(Error::invalid(format!("suite {name}: {} has no graph `{missing}`", experiment.id)));
            }
        }
        for named in suite.claims.iter().flat_map(|claim| [Some(&claim.experiment), claim.fast_experiment.as_ref()]) {
            if let Some(id) = named.filter(|id| !suite.experiments.iter().any(|experiment| experiment.id == **id)) {
                return Err(Error::invalid(format!("suite {name}: there is no experiment `{id}`")));
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

    /// What a run may take.
    pub fn limits(&self, quick: bool) -> Limits {
        if quick { Limits { timeout: self.quick.timeout, budget: self.quick.budget } } else { self.limits }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_suite_is_in_order() {
        for name in Suite::names() {
            let suite = Suite::named(name).unwrap_or_else(|error| panic!("{error}"));
            for quick in [false, true] {
                let cases = suite.cases(quick);
                let keys: BTreeSet<String> = cases.iter().map(Case::key).collect();
                assert_eq!(keys.len(), cases.len(), "{name}: two cases have the same name");
                assert!(cases.iter().any(|case| case.entry.engine == "cpu"), "{name}: nothing runs without a GPU");
            }
            for experiment in &suite.experiments {
                let known = |series: &str| {
                    let all: Vec<String> =
                        experiment.algorithms.iter().flat_map(|a| a.variations().into_iter().map(|v| v.0)).collect();
                    let series = series.split_once('/').map_or(series, |(_, series)| series);
                    assert!(all.iter().any(|known| known == series), "{name}, {}: `{series}`", experiment.id);
                };
                experiment.against.iter().for_each(|series| known(series));
                for claim in suite.claims.iter().filter(|claim| claim.experiment == experiment.id) {
                    known(&claim.slow);
                }
                let fast =
                    |claim: &&Claim| claim.fast_experiment.as_ref().unwrap_or(&claim.experiment) == &experiment.id;
                for claim in suite.claims.iter().filter(fast) {
                    known(&claim.fast);
                }
                for entry in &experiment.algorithms {
                    for reported in entry.reported.iter().chain(entry.reported_counters.values().flatten()) {
                        assert!(experiment.graphs.contains(reported.0), "{name}, {}: {}", experiment.id, reported.0);
                        if let Reported::Each(values) = reported.1 {
                            assert_eq!(values.len(), entry.variations().len(), "{name}, {}", entry.series);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn algorithms_are_those_that_the_engines_have() {
        // Those of the design that an engine may not have yet: their rows say so.
        let announced = ["repeated-sssp", "batched", "johnson", "condensation"];
        for name in Suite::names() {
            let suite = Suite::named(name).unwrap();
            for case in suite.cases(false) {
                let Some(algorithm) = &case.algorithm else { continue };
                let problem = case.experiment.problem().unwrap();
                let algorithm = algorithm.split(':').next().unwrap();
                let has = |info: &warpath::algorithms::AlgorithmInfo| info.name == algorithm && info.problem == problem;
                let known = match case.entry.engine.as_str() {
                    "cpu" => {
                        warpath::cpu::algorithms().any(has)
                            || warpath::cpu::apsp::ALGORITHMS.iter().any(|entry| has(&entry.info))
                            || warpath::cpu::closure::ALGORITHMS.iter().any(|entry| has(&entry.info))
                    }
                    "peer" => crate::peers::NAMES.contains(&algorithm),
                    _ => warpath::cuda::algorithms().any(has) || announced.contains(&algorithm) || case.entry.lab,
                };
                assert!(known, "{name}: {} has no {} `{algorithm}`", case.entry.engine, problem.name());
            }
        }
    }

    /// Otherwise one device does all of it, however many there are.
    #[test]
    fn what_is_for_several_gpus_is_cut_for_them() {
        let mut several = 0;
        for suite in Suite::names().map(|name| Suite::named(name).unwrap()) {
            for case in suite.cases(false).iter().filter(|case| case.entry.engine.contains(',')) {
                let algorithm = case.algorithm.as_deref().unwrap();
                let strip: u64 = algorithm.split_once("strip=").unwrap().1.parse().unwrap();
                let vertices: u64 = case.graph.recipe.as_deref().unwrap().split_once(':').unwrap().1.parse().unwrap();
                assert_eq!(strip % 256, 0, "narrow cells are cut at multiples of 256 only");
                // As many strips for each device, or a single one that the note speaks of.
                assert!(vertices <= 256 || vertices.div_ceil(strip).is_multiple_of(2), "{}", case.key());
                several += 1;
            }
        }
        assert!(several >= 10);
    }

    #[test]
    fn parameters_vary_every_one_with_every_other() {
        let entry: AlgorithmEntry = toml::from_str(
            "series = 'x'\nengine = 'cuda'\nalgorithm = 'bellman-ford:sync=incore'\n\
             vary = [['launch', ['256x8', '384x5']], ['edge-order', ['destination', 'source']]]",
        )
        .unwrap();
        let all = entry.variations();
        assert_eq!(all.len(), 4);
        assert_eq!(all[1].0, "x, 256x8 source");
        assert_eq!(all[1].1.as_deref(), Some("bellman-ford:sync=incore,launch=256x8,edge-order=source"));
    }

    #[test]
    fn mistakes_in_a_suite_are_told() {
        assert!(Suite::named("nobody").unwrap_err().to_string().contains("singh"));
        assert!(Suite::parse("x", "title = 3").is_err());
        assert!(Suite::parse("x", "surprise = 3").unwrap_err().to_string().contains("surprise"));
        let rejaud = FILES.iter().find(|(name, _)| *name == "rejaud").unwrap().1;
        let counted = rejaud.replace("fast-counter = \"compute_nanoseconds\"", "fast-counter = \"rounds\"");
        assert!(Suite::parse("x", &counted).unwrap_err().to_string().contains("`rounds` is none"));
    }
}
