//! Figures of rates, degrees and frontiers.

use super::shown::Shown;
use super::svg::{Axis, Svg};
use crate::machine::{Ceiling, Work};
use crate::results::{GraphFacts, Row};
use crate::text;

const ROW: f64 = 32.0;
const PANEL: f64 = 440.0;

/// The work per second of a row, and the ceiling of its chip.
pub(super) struct Achieved<'a> {
    pub(super) row: &'a Row,
    pub(super) graph: &'a GraphFacts,
    pub(super) per_second: f64,
    pub(super) ceiling: &'a Ceiling,
    /// The number of such chips that worked on it.
    pub(super) devices: usize,
}

impl Achieved<'_> {
    pub(super) fn share(&self) -> f64 {
        self.per_second / (self.ceiling.per_second * self.devices as f64)
    }

    fn engine(&self) -> String {
        let engine = &self.ceiling.engine;
        if self.devices == 1 { engine.clone() } else { format!("{} × {engine}", self.devices) }
    }
}

/// The unit of a row's relaxations, by the width of its cells; `None` if no ceiling is known for it.
fn relaxations(row: &Row, graph: &GraphFacts) -> Option<Work> {
    match row.counters.get("cell_bits")? {
        16 => Some(Work::Relaxations),
        32 if !graph.weights.starts_with('f') => Some(Work::WideRelaxations),
        _ => None,
    }
}

/// The fastest row of each engine and number of devices, on each graph of an experiment, where the ceiling is known.
pub(super) fn achieved<'a>(shown: &Shown<'a>) -> Vec<Achieved<'a>> {
    let mut all: Vec<Achieved<'a>> = Vec::new();
    for &row in &shown.rows {
        let (Some(median), Some(graph)) = (row.median(), shown.results.graph(&row.graph)) else { continue };
        let cube = (graph.vertices as f64).powi(3);
        let (work, amount) = match row.problem.as_str() {
            "bfs" => (Some(Work::Arcs), graph.arcs as f64),
            "sssp" => (Some(Work::WeightedArcs), graph.arcs as f64),
            "apsp" if row.algorithm.contains("floyd-warshall") => (relaxations(row, graph), cube),
            "closure" if row.algorithm.contains("warshall") => (Some(Work::BitPairs), cube),
            _ => (None, 0.0),
        };
        let devices = row.ran_on.as_ref().unwrap_or(&row.engine).matches(',').count() + 1;
        let engine = row.engine.split(':').next().unwrap_or_default();
        let of_engine = |ceiling: &&Ceiling| ceiling.engine == engine && Some(ceiling.work) == work;
        let Some(ceiling) = shown.results.run.ceilings.iter().find(of_engine) else { continue };
        let found = Achieved { row, graph, per_second: amount / median, ceiling, devices };
        let same = |known: &&mut Achieved<'_>| {
            known.row.graph == row.graph && known.ceiling.engine == engine && known.devices == devices
        };
        match all.iter_mut().find(same) {
            Some(known) if known.per_second >= found.per_second => {}
            Some(known) => *known = found,
            None => all.push(found),
        }
    }
    all
}

/// Achieved rates as bars against the ceiling.
pub(super) fn ceiling_panel(shown: &Shown<'_>, achieved: &[Achieved<'_>]) -> String {
    let (left, right, top) = (4.0, PANEL - 4.0, 4.0);
    let bottom = top + ROW * achieved.len() as f64;
    let x = Axis::over(achieved.iter().map(Achieved::share).chain([0.001, 1.0]), left, right);
    let mut svg = Svg::new(PANEL, bottom + 24.0, &format!("{}: share of the ceiling", shown.experiment.title));
    svg.ticks_below(&x, (top, bottom), |share| format!("{} %", text::scaled(100.0 * share)));
    for (index, found) in achieved.iter().enumerate() {
        let y = top + ROW * index as f64;
        let color = usize::from(found.ceiling.engine != "cpu");
        let title = format!(
            "{}: {} {}/s of {} ({})",
            found.row.series,
            text::scaled(found.per_second),
            found.ceiling.work.text(),
            text::scaled(found.ceiling.per_second * found.devices as f64),
            found.ceiling.source
        );
        svg.text("name", (left, y + 13.0), "start", format!("{} ({})", found.graph.title, found.engine()));
        svg.rect(&format!("bar s{color}"), (left, y + 18.0), (x.at(found.share()) - left, 9.0), &title);
        svg.text("value", (right, y + 13.0), "end", format!("{} %", text::digits(100.0 * found.share())));
    }
    svg.line("axis ceiling", (x.at(1.0), top), (x.at(1.0), bottom));
    svg.finish()
}

/// The number of vertices of each degree.
pub(super) fn degrees(graph: &GraphFacts) -> String {
    let bars: Vec<(String, u64)> = graph
        .degrees
        .iter()
        .enumerate()
        .map(|(bin, &count)| {
            let name = match bin {
                0 | 1 => bin.to_string(),
                _ => text::scaled((1_u64 << (bin - 1)) as f64) + "+",
            };
            (name, count)
        })
        .collect();
    columns(&format!("Degrees of {}", graph.title), "degree", &bars)
}

/// The number of vertices in each level of a breadth-first search; if there are many levels, the largest of neighbors.
pub(super) fn frontiers(graph: &GraphFacts) -> String {
    const MOST: usize = 48;
    let together = graph.frontiers.len().div_ceil(MOST).max(1);
    let largest =
        |(index, levels): (usize, &[u64])| ((index * together).to_string(), levels.iter().copied().max().unwrap_or(0));
    let bars: Vec<(String, u64)> = graph.frontiers.chunks(together).enumerate().map(largest).collect();
    columns(&format!("Frontiers of {}", graph.title), "level", &bars)
}

fn columns(label: &str, axis: &str, bars: &[(String, u64)]) -> String {
    const WIDTH: f64 = 420.0;
    const HEIGHT: f64 = 200.0;
    let (left, right, top, bottom) = (46.0, WIDTH - 6.0, 8.0, HEIGHT - 38.0);
    let greatest = bars.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    // The axis begins below one vertex, so that a single vertex is visible.
    let y = Axis::over([0.625, greatest as f64], bottom, top);
    let mut svg = Svg::new(WIDTH, HEIGHT, label);
    for tick in y.ticks().into_iter().filter(|tick| *tick >= 1.0) {
        svg.line("grid", (left, y.at(tick)), (right, y.at(tick)));
        svg.text("tick", (left - 5.0, y.at(tick) + 4.0), "end", text::scaled(tick));
    }
    let step = (right - left) / bars.len().max(1) as f64;
    let every = bars.len().div_ceil(10).max(1);
    for (index, (name, count)) in bars.iter().enumerate() {
        let x = left + step * index as f64;
        if *count > 0 {
            let top = y.at(*count as f64);
            let title = format!("{axis} {name}: {} vertices", text::grouped(*count));
            svg.rect("bar s0", (x + 0.1 * step, top), (0.8 * step, bottom - top), &title);
        }
        if index % every == 0 {
            svg.text("tick", (x + 0.5 * step, bottom + 16.0), "middle", name);
        }
    }
    svg.line("axis", (left, bottom), (right, bottom));
    svg.text("label", (0.5 * (left + right), HEIGHT - 4.0), "middle", axis);
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Results;
    use crate::results::tests::{empty_run, graph, row};

    #[test]
    fn rates_are_held_against_all_chips_and_the_width_of_the_cells() {
        let suite = crate::Suite::named("katz-kider").unwrap();
        let mut results = empty_run("katz-kider");
        let ceiling = |work, per_second| Ceiling { engine: "cuda".into(), work, per_second, source: "measured".into() };
        results.run.ceilings = vec![ceiling(Work::Relaxations, 4e12), ceiling(Work::WideRelaxations, 2e12)];
        results.add_graph(graph("n1024", 1000, 2000));
        results.add_graph(GraphFacts { weights: "f32".into(), ..graph("n512", 1000, 2000) });
        let of = |graph: &str, series: &str, engine: &str, bits: Option<u64>| Row {
            experiment: "table1".into(),
            problem: "apsp".into(),
            engine: engine.into(),
            ran_on: Some(engine.into()),
            algorithm: "tiled-floyd-warshall".into(),
            counters: bits.map(|bits| ("cell_bits".to_owned(), bits)).into_iter().collect(),
            // 1e9 relaxations in a millisecond: 1e12/s.
            ..row(graph, series, &[1e-3])
        };
        let share = |row: Row| {
            let results = Results { rows: vec![row], ..results.clone() };
            let shown = Shown::new(&suite.experiments[0], &results);
            achieved(&shown).first().map(|found| (found.share(), found.engine()))
        };
        assert_eq!(share(of("n1024", "x", "cuda", Some(16))), Some((0.25, "cuda".into())));
        assert_eq!(share(of("n1024", "x", "cuda", Some(32))), Some((0.5, "cuda".into())));
        assert_eq!(share(of("n1024", "x", "cuda:0,1", Some(32))), Some((0.25, "2 × cuda".into())));
        assert_eq!(share(of("n1024", "x", "cuda", Some(64))), None);
        assert_eq!(share(of("n1024", "x", "cuda", None)), None);
        assert_eq!(share(of("n512", "x", "cuda", Some(32))), None, "floats are slower");
        // One GPU and two GPUs get a bar each.
        let mut both = results.clone();
        both.add_row(of("n1024", "x", "cuda", Some(16)));
        both.add_row(of("n1024", "y", "cuda:0,1", Some(16)));
        let shown = Shown::new(&suite.experiments[0], &both);
        let all = achieved(&shown);
        assert_eq!(all.len(), 2);
        assert!(ceiling_panel(&shown, &all).contains("2 × cuda"));
    }
}
