//! One picture of a run, for a page that has no room for the report: the shortest paths on two graphs, a line for each program.
//!
//! The picture stands alone, as an image on a web page. It brings its ground with it, so that it can be read wherever the
//! page is light and the viewer's theme dark, or the other way round.

use warpath::{Error, Result};

use super::svg::{Axis, Svg, tick_of_time};
use crate::results::{Results, Row};
use crate::text;

const STYLE: &str = "svg { font: 13px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; } \
    .ground { fill: #ffffff; stroke: #d8dde3; } text { fill: #1b1f24; } .title { font-size: 15px; font-weight: 600; } \
    .soft, .tick { fill: #59636e; font-size: 12px; } .ours { font-weight: 600; } .grid { stroke: #d8dde3; } \
    .stem { stroke: #b3bac3; stroke-width: 2; } .stem-ours { stroke: #d55e00; stroke-width: 3; } \
    .dot { fill: #59636e; } .dot-ours { fill: #d55e00; } \
    @media (prefers-color-scheme: dark) { .ground { fill: #14171b; stroke: #363d47; } text { fill: #e8eaed; } \
    .soft, .tick { fill: #a3acb8; } .grid { stroke: #363d47; } .stem { stroke: #59636e; } .stem-ours { stroke: #ff8f3f; } \
    .dot { fill: #a3acb8; } .dot-ours { fill: #ff8f3f; } }";

/// The experiment and the graphs of the picture.
const EXPERIMENT: &str = "sssp";
const GRAPHS: [&str; 2] = ["kron", "road-ny"];

const WIDTH: f64 = 920.0;
const MARGIN: f64 = 16.0;
/// The width that names take.
const NAMES: f64 = 186.0;
/// The width that times take.
const TIMES: f64 = 62.0;
const ROW: f64 = 22.0;
const TOP: f64 = 74.0;

/// Draws the median times of shortest paths in a run of the suite `peers`, the fastest first.
///
/// # Errors
///
/// [`Error::InvalidRequest`] if the run has none of these times.
pub fn overview(results: &Results) -> Result<String> {
    let panels: Vec<Vec<(&Row, f64)>> = GRAPHS.iter().map(|graph| times(results, graph)).collect();
    let rows = panels.iter().map(Vec::len).max().unwrap_or(0);
    if panels.iter().any(Vec::is_empty) {
        let graphs = GRAPHS.join(" and ");
        return Err(Error::invalid(format!(
            "the run has no times of the experiment {EXPERIMENT} on {graphs}; the suite `peers` measures them"
        )));
    }
    let bottom = TOP + ROW * rows as f64;
    let height = bottom + 96.0;
    let mut svg = Svg::alone((WIDTH, height), "How long one search for shortest paths takes", STYLE);
    svg.rect("ground", (0.5, 0.5), (WIDTH - 1.0, height - 1.0), "");
    svg.text("title", (MARGIN, 28.0), "start", "Shortest paths from one vertex to all others: the time of one search");
    let axis_of = |from, to| Axis::over(panels.iter().flatten().map(|(_, seconds)| *seconds), from, to);
    let half = 0.5 * WIDTH;
    for ((graph, rows), left) in GRAPHS.iter().zip(&panels).zip([0.0, half]) {
        let axis = axis_of(left + MARGIN + NAMES, left + half - MARGIN - TIMES);
        panel(&mut svg, results, (graph, rows), (left + MARGIN, left + half - MARGIN), &axis, bottom);
    }
    let machine = &results.run.machine;
    let gpus: Vec<&str> = machine.gpus.iter().map(|gpu| gpu.name.as_str()).collect();
    let gpus = if gpus.is_empty() { "no GPU".to_owned() } else { gpus.join(", ") };
    let hardware = format!("{}, {} threads; {gpus}", machine.processor, machine.threads);
    let notes = [
        "Median time, on a logarithmic axis, from a graph that each program has prepared in its own form.".to_owned(),
        format!("One run on one machine: {hardware}."),
        format!("{}, {}. Every answer was compared before its time counted.", machine.program(), results.begun()),
    ];
    for (note, up) in notes.iter().zip([48.0, 30.0, 12.0]) {
        svg.text("soft", (MARGIN, height - up), "start", note);
    }
    Ok(svg.finish() + "\n")
}

/// The measured rows on a graph, the fastest first.
fn times<'a>(results: &'a Results, graph: &str) -> Vec<(&'a Row, f64)> {
    let rows = results.rows.iter().filter(|row| row.experiment == EXPERIMENT && row.graph == graph);
    let mut times: Vec<_> = rows.filter_map(|row| Some((row, row.median()?))).collect();
    times.sort_by(|one, next| one.1.total_cmp(&next.1));
    times
}

/// The name of a row: a program with its version, where the run has recorded one.
fn name(row: &Row) -> String {
    let is_version = |word: &&str| word.contains('.') && word.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
    match row.algorithm.split([' ', ',']).find(is_version).filter(|_| row.engine == "peer") {
        Some(version) => format!("{} {version}", row.series),
        None => row.series.clone(),
    }
}

fn panel(
    svg: &mut Svg,
    results: &Results,
    (graph, rows): (&str, &[(&Row, f64)]),
    (left, right): (f64, f64),
    axis: &Axis,
    bottom: f64,
) {
    let title = match results.graph(graph) {
        Some(facts) => {
            let (vertices, arcs) = (text::grouped(facts.vertices), text::grouped(facts.arcs));
            format!("{}: {vertices} vertices, {arcs} arcs", facts.title)
        }
        None => graph.to_owned(),
    };
    svg.text("soft", (left, 52.0), "start", title);
    svg.ticks_below(axis, (TOP - 8.0, bottom), tick_of_time);
    let start = left + NAMES;
    for (index, (row, seconds)) in rows.iter().enumerate() {
        let y = TOP + ROW * (index as f64 + 0.5) - 4.0;
        let (text, stem, dot) =
            if row.engine == "peer" { ("name", "stem", "dot") } else { ("ours", "stem-ours", "dot-ours") };
        svg.text(text, (left, y + 4.5), "start", name(row));
        svg.line(stem, (start, y), (axis.at(*seconds), y));
        svg.rect(dot, (axis.at(*seconds) - 4.0, y - 4.0), (8.0, 8.0), &row.algorithm);
        svg.text(text, (right, y + 4.5), "end", text::seconds(*seconds));
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    fn docs() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
    }

    #[test]
    fn the_picture_in_docs_is_that_of_the_recorded_run() {
        let results = Results::read(&docs().join("results/h200/peers/results.jsonl")).unwrap();
        let shown = std::fs::read_to_string(docs().join("speed.svg")).unwrap();
        let command = "warpath bench chart docs/results/h200/peers/results.jsonl --output docs/speed.svg";
        assert!(shown == overview(&results).unwrap(), "docs/speed.svg is stale; `{command}` draws it anew");
    }

    #[test]
    fn every_measured_program_has_its_row_with_its_time() {
        let results = Results::read(&docs().join("results/h200/peers/results.jsonl")).unwrap();
        let picture = overview(&results).unwrap();
        let shown = results.rows.iter().filter(|row| row.experiment == "sssp" && GRAPHS.contains(&row.graph.as_str()));
        let measured: Vec<&Row> = shown.filter(|row| row.median().is_some()).collect();
        assert!(measured.len() > 20, "{}", measured.len());
        assert!(picture.contains(">petgraph 0.8.3</text>") && picture.contains(">GAP</text>"), "{picture}");
        for row in measured {
            assert!(picture.contains(&format!(">{}</text>", name(row))), "{}", row.series);
            let time = text::seconds(row.median().unwrap());
            assert!(picture.contains(&format!(">{time}</text>")), "{}: {time}", row.series);
        }
    }

    #[test]
    fn a_run_of_another_suite_has_no_picture() {
        let results = Results::read(&docs().join("results/h200/singh/results.jsonl")).unwrap();
        let error = overview(&results).unwrap_err().to_string();
        assert!(error.contains("the suite `peers`"), "{error}");
    }
}
