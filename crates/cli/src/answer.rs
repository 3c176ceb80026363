//! What an answer begins with and ends with, in JSON and in tables: the graph, the engine and algorithm, times, memory.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;
use warpath::problems::{Report, Seconds};
use warpath::{Graph, Solver};

use crate::arguments::SolvingArguments;
use crate::failure::Failure;
use crate::print::{self, Table};

/// A graph as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct GraphFacts {
    vertices: u64,
    /// An undirected edge is two arcs.
    arcs: u64,
    directed: bool,
    weights: &'static str,
}

impl GraphFacts {
    pub(crate) fn of(graph: &Graph) -> Self {
        let weights = graph.weight_kind().name();
        GraphFacts::new(graph.vertices() as u64, graph.arcs() as u64, graph.is_directed(), weights)
    }

    pub(crate) fn new(vertices: u64, arcs: u64, directed: bool, weights: &'static str) -> Self {
        GraphFacts { vertices, arcs, directed, weights }
    }

    #[cfg(feature = "mpi")]
    pub(crate) fn vertices(&self) -> u64 {
        self.vertices
    }

    pub(crate) fn text(&self) -> String {
        format!(
            "{}, {}, {}, {} weights",
            print::count(self.vertices, "vertex", "vertices"),
            print::count(self.arcs, "arc", "arcs"),
            if self.directed { "directed" } else { "undirected" },
            self.weights
        )
    }
}

/// Where the time went, in seconds.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Times {
    pub(crate) load: f64,
    pub(crate) prepare: f64,
    pub(crate) solve: f64,
    pub(crate) predecessors: f64,
    pub(crate) download: f64,
    pub(crate) verify: f64,
    pub(crate) write: f64,
}

impl Times {
    /// The seconds for loading the graph, for opening the solver, and for the reported work.
    pub(crate) fn of(report: &Report, load: f64, opening: f64) -> Self {
        let mut times = Times { load, prepare: opening, ..Default::default() };
        times.add(&report.seconds);
        times
    }

    /// Adds the seconds of further work.
    pub(crate) fn add(&mut self, seconds: &Seconds) {
        let Seconds { prepare, solve, predecessors, download, verify, write } = seconds;
        self.prepare += prepare;
        self.solve += solve;
        self.predecessors += predecessors;
        self.download += download;
        self.verify += verify;
        self.write += write;
    }

    pub(crate) fn text(&self) -> String {
        let parts = [
            ("load", self.load),
            ("prepare", self.prepare),
            ("solve", self.solve),
            ("predecessors", self.predecessors),
            ("download", self.download),
            ("verify", self.verify),
            ("write", self.write),
        ];
        let taken = parts.iter().filter(|(name, value)| *value >= 1e-6 || *name == "solve");
        taken.map(|(name, value)| format!("{name} {}", print::seconds(*value))).collect::<Vec<_>>().join(", ")
    }
}

/// Peak memory.
#[derive(Debug, Serialize)]
pub(crate) struct PeakBytes {
    host: u64,
    device: u64,
}

impl PeakBytes {
    /// The host's peak, if no device is used.
    pub(crate) fn of_host() -> Self {
        PeakBytes { host: print::peak_memory(), device: 0 }
    }

    /// The host's peak, and the device's peak from these reports.
    pub(crate) fn of<'r>(reports: impl IntoIterator<Item = &'r Report>) -> Self {
        let device = reports.into_iter().map(|report| report.device_bytes).max().unwrap_or(0);
        PeakBytes { device, ..Self::of_host() }
    }
}

/// Runs `work` and also returns the seconds it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(T, f64), Failure> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed().as_secs_f64()))
}

/// The fields that begin every answer, in JSON and in tables.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    #[serde(skip)]
    problem: &'static str,
    engine: String,
    engine_reason: String,
    algorithm: String,
    reason: String,
    number_type: &'static str,
    repeated_wide: bool,
    /// How many threads the CPU worked with.
    threads: usize,
    /// How many were asked for, if there are fewer cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    threads_asked_for: Option<usize>,
    graph: GraphFacts,
    #[serde(flatten)]
    counters: Counters,
}

/// An algorithm's counters, if they are wanted.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Counters {
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<BTreeMap<&'static str, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frontiers: Option<Vec<u32>>,
}

impl Counters {
    pub(crate) fn of(report: &Report, wanted: bool) -> Self {
        Counters {
            statistics: wanted.then(|| report.statistics.iter().copied().collect()),
            frontiers: (wanted && !report.frontiers.is_empty()).then(|| report.frontiers.clone()),
        }
    }

    pub(crate) fn rows(&self, table: &mut Table) {
        for (name, value) in self.statistics.iter().flatten() {
            table.row(*name, print::grouped(u128::from(*value)));
        }
    }
}

impl Answer {
    pub(crate) fn new(problem: &'static str, solver: &Solver, report: &Report, solving: &SolvingArguments) -> Self {
        let asked_for = solving.common.threads.map(|threads| threads as usize);
        Answer {
            problem,
            engine: report.engine.clone(),
            engine_reason: report.engine_reason.clone(),
            algorithm: report.algorithm.clone(),
            reason: report.reason.clone(),
            number_type: report.semiring,
            repeated_wide: report.repeated_wide,
            threads: solver.threads(),
            threads_asked_for: asked_for.filter(|&threads| threads > solver.threads()),
            graph: GraphFacts::of(solver.graph()),
            counters: Counters::of(report, solving.statistics),
        }
    }

    /// The same without the counters of its algorithm.
    pub(crate) fn without_counters(self) -> Self {
        Answer { counters: Counters::default(), ..self }
    }

    /// The first rows of the table.
    pub(crate) fn rows(&self, table: &mut Table, solving: &SolvingArguments) {
        table.row("graph", self.graph.text());
        let wide = if self.repeated_wide { ", repeated with 64-bit distances" } else { "" };
        let types = if self.number_type.is_empty() { String::new() } else { format!(", {}", self.number_type) };
        table.row(self.problem, format!("{} on {}{types}{wide}", self.algorithm, self.engine));
        if solving.verbose {
            table.row("because", self.reason.as_str());
            table.row(format!("on {}", self.engine), self.engine_reason.as_str());
            let asked_for = self.threads_asked_for;
            let capped =
                asked_for.map_or(String::new(), |asked| format!(", one for each core; {asked} were asked for"));
            table.row("threads", format!("{}{capped}", self.threads));
        }
        self.counters.rows(table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_and_the_memory_of_the_device_are_handed_on() {
        let report = |scale: f64, device_bytes| Report {
            seconds: Seconds {
                prepare: scale,
                solve: 2.0 * scale,
                predecessors: 4.0 * scale,
                download: 8.0 * scale,
                verify: 16.0 * scale,
                write: 32.0 * scale,
            },
            device_bytes,
            ..Default::default()
        };
        let mut times = Times::of(&report(1.0, 5), 0.5, 0.25);
        let all = |times: &Times| {
            [times.load, times.prepare, times.solve, times.predecessors, times.download, times.verify, times.write]
        };
        assert_eq!(all(&times), [0.5, 1.25, 2.0, 4.0, 8.0, 16.0, 32.0]);
        times.add(&report(10.0, 7).seconds);
        assert_eq!(all(&times), [0.5, 11.25, 22.0, 44.0, 88.0, 176.0, 352.0]);
        assert_eq!(PeakBytes::of([&report(1.0, 5), &report(1.0, 7), &report(1.0, 0)]).device, 7);
        assert_eq!(PeakBytes::of(&[]).device, 0);
    }
}
