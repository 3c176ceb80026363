//! Recorded times held against the times that the algorithms predict for the same work.
//!
//! A prediction comes from the facts that a results file records about a graph ([`AlgorithmInfo::seconds`]), so no graph
//! is needed. The records do not say how neighborhoods grow: a graph of many levels without hubs counts as one whose
//! neighborhoods grow as on a plane, or as on a line if there are nearly as many levels as vertices. Rows of algorithms that a program no longer has are left out, and so are peers.

use std::collections::BTreeMap;
use std::fmt::Write;

use warpath::Engine;
use warpath::algorithms::{AlgorithmInfo, GraphFacts, Workload};
use warpath::graph::WeightKind;

use crate::results::{self, Results, Row};
use crate::suite::Suite;
use crate::text;

/// A row with the time that its algorithm predicts.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The machine, the suite and what identifies the row in it.
    pub key: String,
    /// The problem, the engine and the name of the algorithm.
    pub algorithm: String,
    /// The recorded median, in seconds.
    pub measured: f64,
    /// The predicted time, in seconds.
    pub predicted: f64,
}

impl Prediction {
    /// How many times too great or too small the prediction is, whichever is above 1.
    pub fn factor(&self) -> f64 {
        let ratio = self.predicted / self.measured;
        ratio.max(1.0 / ratio)
    }
}

/// The measured rows of these results whose algorithm this program has, with predictions.
pub fn predictions(results: &Results) -> Vec<Prediction> {
    results.rows.iter().filter_map(|row| predict(results, row)).collect()
}

fn predict(results: &Results, row: &Row) -> Option<Prediction> {
    let measured = row.median().filter(|seconds| *seconds > 0.0)?;
    let name = row.algorithm.split(':').next()?;
    let has = |info: &&AlgorithmInfo| info.name == name && info.problem.name() == row.problem;
    let engine = match row.engine.as_str() {
        "cpu" => Engine::Cpu,
        "cuda" => Engine::Cuda(Vec::new()),
        _ => return None,
    };
    let info = engine.algorithms().into_iter().find(has)?;
    let asked = asked(results, row).unwrap_or_else(|| row.algorithm.clone());
    let parameters = info.parameters_in(&asked).ok()?;
    let graph = facts(results.graph(&row.graph)?)?;
    let searches = if row.problem == "apsp" { graph.vertices } else { 1 };
    let threads = if row.series.contains("one thread") { 1 } else { results.run.machine.threads };
    let predicted = (info.seconds)(&Workload { graph, parameters: &parameters, searches, threads });
    let machine = results.run.machine.gpus.first().map_or("no GPU", |gpu| gpu.name.as_str());
    let key = format!("{machine}, {threads} threads: {}/{}", results.run.suite, row.key());
    Some(Prediction { key, algorithm: format!("{} {} {name}", row.problem, row.engine), measured, predicted })
}

/// The algorithm that the suite asks for in this row, with parameters, if it still has the row and names one.
fn asked(results: &Results, row: &Row) -> Option<String> {
    let suite = Suite::named(&results.run.suite).ok()?;
    let experiment = suite.experiments.iter().find(|experiment| experiment.id == row.experiment)?;
    let mut variations = experiment.algorithms.iter().flat_map(|entry| entry.variations());
    variations.find(|(series, _)| *series == row.series)?.1
}

/// The facts that a prediction uses, from those that are recorded.
fn facts(recorded: &results::GraphFacts) -> Option<GraphFacts> {
    use WeightKind::{F32, F64, I32, U32, Unit};
    /// A search across a square of vertices has more levels than this share of the root of their number.
    const MANY_LEVELS: f64 = 0.2;
    const MOST_ARCS: u64 = 64;
    let weight_kind = [Unit, U32, I32, F32, F64].into_iter().find(|kind| kind.name() == recorded.weights)?;
    /// The vertices of a line within two arcs and within four; the plane's growth is all that its predictions look at.
    const GROWTH: [[f64; 2]; 2] = [[1.0, 4.0], [5.0, 9.0]];
    let is_line = recorded.frontiers.len() as u64 > recorded.vertices / 8;
    let has_many_levels = recorded.frontiers.len() as f64 > MANY_LEVELS * (recorded.vertices as f64).sqrt();
    let is_planar = recorded.vertices >= 4096 && recorded.degree.2 <= MOST_ARCS && has_many_levels;
    Some(GraphFacts {
        vertices: recorded.vertices as usize,
        arcs: recorded.arcs as usize,
        greatest_degree: recorded.degree.2 as usize,
        planar_growth: is_planar.then_some(GROWTH[usize::from(is_line)]),
        weight_kind,
        weight_range: recorded.weight_range.unwrap_or((1.0, 1.0)),
    })
}

/// A table for people: for each algorithm how far its predictions are off, with the worst row, and the worst of all.
pub fn text(predictions: &[Prediction]) -> String {
    let mut by_algorithm: BTreeMap<&str, Vec<&Prediction>> = BTreeMap::new();
    for prediction in predictions {
        by_algorithm.entry(&prediction.algorithm).or_default().push(prediction);
    }
    let worst = |rows: &[&Prediction]| rows.iter().copied().max_by(|a, b| a.factor().total_cmp(&b.factor())).cloned();
    let describe = |row: &Prediction| {
        let (measured, predicted) = (text::seconds(row.measured), text::seconds(row.predicted));
        format!("{measured} measured, {predicted} predicted: {}", row.key)
    };
    let mut out = String::from("| algorithm | rows | predicted / measured, median | least | greatest | worst row |\n");
    out += "|---|--:|--:|--:|--:|---|\n";
    for (algorithm, rows) in &by_algorithm {
        let mut ratios: Vec<f64> = rows.iter().map(|row| row.predicted / row.measured).collect();
        ratios.sort_by(f64::total_cmp);
        let (median, least, greatest) = (ratios[ratios.len() / 2], ratios[0], ratios[ratios.len() - 1]);
        let named = worst(rows).map_or_else(String::new, |row| describe(&row));
        let _ = writeln!(out, "| {algorithm} | {} | {median:.2} | {least:.2} | {greatest:.2} | {named} |", rows.len());
    }
    if let Some(row) = worst(&predictions.iter().collect::<Vec<_>>()) {
        let _ = writeln!(out, "\nThe worst factor is {:.1}: {}, {}.", row.factor(), row.algorithm, describe(&row));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// All results in `docs/results`.
    fn recorded() -> Vec<Prediction> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
        let machines = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let suites = machines.filter(|path| path.is_dir()).flat_map(|machine| std::fs::read_dir(machine).unwrap());
        let files = suites.map(|entry| entry.unwrap().path().join("results.jsonl"));
        files.flat_map(|file| predictions(&Results::read(&file).unwrap())).collect()
    }

    /// The row whose matrix of 40 GB left in blocks of 64 MiB, too small for the batches that the prediction counts with.
    const IN_SMALL_BATCHES: &str = "harish-narayanan/sect4-apsp/apsp-100k/CPU, many searches at once";

    /// The algorithms that `auto` picks are predicted within a factor of ten, and half of their rows within 2.5; what is
    /// there for comparison, and one row in small batches, is within a factor of 15.
    #[test]
    fn predictions_are_near_the_recorded_times() {
        const PICKED: [&str; 12] = [
            "bfs cpu sequential",
            "bfs cpu direction-optimizing",
            "bfs cuda direction-optimizing",
            "bfs cuda multi-hop",
            "sssp cpu delta-stepping",
            "sssp cuda near-far",
            "sssp cuda multi-hop",
            "apsp cpu tiled-floyd-warshall",
            "apsp cpu batched",
            "apsp cuda tiled-floyd-warshall",
            "apsp cuda batched",
            "closure cpu condensation",
        ];
        let recorded = recorded();
        assert!(recorded.len() > 800, "{} rows", recorded.len());
        for row in &recorded {
            let is_picked = PICKED.contains(&row.algorithm.as_str()) && !row.key.ends_with(IN_SMALL_BATCHES);
            let most = if is_picked { 10.0 } else { 15.0 };
            assert!(row.factor() <= most, "{row:?} is {:.1} times off", row.factor());
        }
        for algorithm in PICKED {
            let mut factors: Vec<f64> =
                recorded.iter().filter(|row| row.algorithm == algorithm).map(Prediction::factor).collect();
            factors.sort_by(f64::total_cmp);
            assert!(factors[factors.len() / 2] <= 2.5, "{algorithm}: {factors:?}");
        }
    }

    #[test]
    fn the_worst_row_is_named() {
        let row = |key: &str, predicted| {
            let algorithm = "bfs cpu sequential".to_owned();
            Prediction { key: key.to_owned(), algorithm, measured: 1.0, predicted }
        };
        let text = text(&[row("high", 2.0), row("low", 0.25), row("right", 1.0)]);
        assert!(text.contains("| bfs cpu sequential | 3 | 1.00 | 0.25 | 2.00 |"), "{text}");
        assert!(text.contains("The worst factor is 4.0: bfs cpu sequential") && text.ends_with("low.\n"), "{text}");
    }
}
