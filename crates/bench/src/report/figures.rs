//! The figures: times over sizes, times by graph, speed-ups, achieved rates, degrees, frontiers.

use super::svg::{Axis, COLORS, Svg, escape, tick_of_time};
use crate::machine::{Ceiling, Work};
use crate::results::{GraphFacts, Results, Row, Status};
use crate::suite::Experiment;
use crate::tables;
use crate::text;

/// The rows of one experiment, with the series in the order of the suite.
pub(super) struct Shown<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) results: &'a Results,
    pub(super) rows: Vec<&'a Row>,
    pub(super) series: Vec<&'a str>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(experiment: &'a Experiment, results: &'a Results) -> Self {
        let rows: Vec<&Row> = results.rows.iter().filter(|row| row.experiment == experiment.id).collect();
        let mut series: Vec<&str> = Vec::new();
        for row in &rows {
            if !series.contains(&row.series.as_str()) {
                series.push(&row.series);
            }
        }
        Shown { experiment, results, rows, series }
    }

    fn number(&self, series: &str) -> usize {
        self.series.iter().position(|known| *known == series).unwrap_or(0)
    }

    fn title(&self, graph: &'a str) -> &'a str {
        self.results.graph(graph).map_or(graph, |facts| facts.title.as_str())
    }

    /// All times, including those that the paper reported.
    fn times(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().flat_map(|row| {
            let spread = row.seconds.as_ref().map(|times| times.solve);
            let ends = spread.into_iter().flat_map(|spread| [spread.least, spread.greatest]);
            ends.chain(row.reported)
        })
    }

    fn describe(&self, row: &Row) -> String {
        let times = row.seconds.as_ref();
        let range = times.map_or_else(String::new, |times| tables::range(times.solve.least, times.solve.greatest));
        let median = row.median().map_or_else(String::new, text::seconds);
        format!("{}, {}: {median} ({range})", row.series, self.title(&row.graph))
    }
}

/// A legend: a mark and a name for each series, and the meaning of hollow marks.
pub(super) fn legend(shown: &Shown<'_>) -> String {
    let measured = |series: &str| shown.rows.iter().any(|row| row.series == series && row.median().is_some());
    let reported = |series: &str| shown.rows.iter().any(|row| row.series == series && row.reported.is_some());
    let mut out = String::from("<ul class=\"legend\">");
    let entry = |number, hollow, text: &str| {
        let mut svg = Svg::new(14.0, 14.0, "");
        svg.mark(number, hollow, (7.0, 7.0), "");
        format!(
            "<li>{} {}</li>",
            svg.finish().replace("role=\"img\" aria-label=\"\"", "aria-hidden=\"true\""),
            escape(text)
        )
    };
    for (number, series) in shown.series.iter().enumerate() {
        if measured(series) {
            out += &entry(number, false, series);
        }
        if reported(series) {
            out += &entry(number, true, &format!("{series} (the paper's)"));
        }
    }
    out + "</ul>"
}

/// Times over the graphs' place on the axis, a line for each series.
pub(super) fn lines(shown: &Shown<'_>) -> String {
    const WIDTH: f64 = 520.0;
    const HEIGHT: f64 = 360.0;
    let (left, right, top, bottom) = (64.0, WIDTH - 14.0, 14.0, HEIGHT - 46.0);
    let at = |row: &Row| shown.results.graph(&row.graph).map(|facts| facts.at);
    let x = Axis::over(shown.rows.iter().filter_map(|row| at(row)), left, right);
    let y = Axis::over(shown.times(), bottom, top);
    let mut svg = Svg::new(WIDTH, HEIGHT, &shown.experiment.title);
    for tick in y.ticks() {
        svg.line("grid", (left, y.at(tick)), (right, y.at(tick)));
        svg.text("tick", (left - 6.0, y.at(tick) + 4.0), "end", tick_of_time(tick));
    }
    for tick in x.ticks() {
        svg.line("grid", (x.at(tick), top), (x.at(tick), bottom));
        svg.text("tick", (x.at(tick), bottom + 18.0), "middle", text::scaled(tick));
    }
    svg.line("axis", (left, bottom), (right, bottom));
    svg.line("axis", (left, top), (left, bottom));
    let axis = shown.experiment.axis.as_deref().unwrap_or("vertices");
    svg.text("label", (0.5 * (left + right), HEIGHT - 8.0), "middle", axis);
    for (number, series) in shown.series.iter().enumerate() {
        let color = number % COLORS;
        let mut of_series: Vec<&Row> = shown.rows.iter().filter(|row| row.series == *series).copied().collect();
        of_series.sort_by(|a, b| at(a).unwrap_or(0.0).total_cmp(&at(b).unwrap_or(0.0)));
        let reported: Vec<(f64, f64, &Row)> =
            of_series.iter().filter_map(|row| Some((at(row)?, row.reported?, *row))).collect();
        let points: Vec<(f64, f64)> = reported.iter().map(|(size, time, _)| (x.at(*size), y.at(*time))).collect();
        svg.path(&format!("line paper s{color}"), &points);
        for ((_, time, row), point) in reported.iter().zip(points) {
            let title = format!("{}, {}: the paper's {}", row.series, shown.title(&row.graph), text::seconds(*time));
            svg.mark(number, true, point, &title);
        }
        let measured: Vec<(f64, f64, &Row)> =
            of_series.iter().filter_map(|row| Some((at(row)?, row.median()?, *row))).collect();
        let points: Vec<(f64, f64)> = measured.iter().map(|(size, time, _)| (x.at(*size), y.at(*time))).collect();
        svg.path(&format!("line s{color}"), &points);
        for ((_, _, row), (across, down)) in measured.iter().zip(points) {
            if let Some(times) = &row.seconds {
                let (least, greatest) = (y.at(times.solve.least), y.at(times.solve.greatest));
                svg.line(&format!("error s{color}"), (across, least), (across, greatest));
                for end in [least, greatest] {
                    svg.line(&format!("error s{color}"), (across - 3.0, end), (across + 3.0, end));
                }
            }
            svg.mark(number, false, (across, down), &shown.describe(row));
        }
    }
    svg.finish()
}

const ROW: f64 = 19.0;
const PANEL: f64 = 440.0;

/// A number on an axis, without trailing zeros.
fn plain(value: f64) -> String {
    if value >= 1.0 {
        return text::scaled(value);
    }
    let decimals = (-value.log10()).ceil().max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// A name that fits beside a row.
fn short(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters - 1).chain(['…']).collect()
}

/// Times on one graph, a row for each series.
pub(super) fn panel(shown: &Shown<'_>, graph: &str) -> String {
    let rows: Vec<&Row> = shown.rows.iter().filter(|row| row.graph == graph).copied().collect();
    let letters = rows.iter().map(|row| row.series.chars().count()).max().unwrap_or(0).min(32);
    let left = 12.0 + 7.0 * letters as f64;
    let (right, top) = (PANEL - 62.0, 6.0);
    let bottom = top + ROW * rows.len() as f64;
    let x = Axis::over(shown.times(), left, right);
    let mut svg = Svg::new(PANEL, bottom + 24.0, &format!("{}: {}", shown.experiment.title, shown.title(graph)));
    let ticks = x.ticks();
    let every = ticks.len().div_ceil(4).max(1);
    for (index, tick) in ticks.into_iter().enumerate() {
        svg.line("grid", (x.at(tick), top), (x.at(tick), bottom));
        if index % every == 0 {
            svg.text("tick", (x.at(tick), bottom + 16.0), "middle", tick_of_time(tick));
        }
    }
    for (index, row) in rows.iter().enumerate() {
        let y = top + ROW * (index as f64 + 0.5);
        let number = shown.number(&row.series);
        let color = number % COLORS;
        svg.text("name", (left - 8.0, y + 4.0), "end", short(&row.series, letters));
        if let Some(reported) = row.reported {
            let title = format!("{}: the paper's {}", row.series, text::seconds(reported));
            svg.mark(number, true, (x.at(reported), y), &title);
        }
        match (row.median(), &row.seconds) {
            (Some(median), Some(times)) => {
                svg.line(&format!("stem s{color}"), (left, y), (x.at(median), y));
                svg.line(&format!("error s{color}"), (x.at(times.solve.least), y), (x.at(times.solve.greatest), y));
                for end in [times.solve.least, times.solve.greatest] {
                    svg.line(&format!("error s{color}"), (x.at(end), y - 3.0), (x.at(end), y + 3.0));
                }
                svg.mark(number, false, (x.at(median), y), &shown.describe(row));
                svg.text("value", (PANEL - 2.0, y + 4.0), "end", text::seconds(median));
            }
            _ => {
                let class = if row.status == Status::Wrong { "value bad" } else { "value none" };
                svg.text(class, (PANEL - 2.0, y + 4.0), "end", word(row));
            }
        }
    }
    svg.finish()
}

/// The status of a row without a time, in a word or two.
pub(super) fn word(row: &Row) -> String {
    match (row.status, row.detail.as_deref()) {
        (Status::Unavailable, Some(detail)) if detail.starts_with("needs") || detail.starts_with("ran on") => {
            detail.to_owned()
        }
        (status, _) => status.text().to_owned(),
    }
}

/// Ratios by row: the geometric mean over the graphs, and the least and greatest.
pub(super) struct Ratio {
    pub(super) name: String,
    pub(super) values: Vec<(String, f64)>,
}

impl Ratio {
    pub(super) fn mean(&self) -> f64 {
        (self.values.iter().map(|(_, value)| value.ln()).sum::<f64>() / self.values.len().max(1) as f64).exp()
    }

    pub(super) fn ends(&self) -> (f64, f64) {
        let values = || self.values.iter().map(|(_, value)| *value);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    }
}

/// The speed-ups of an experiment: headlines, each with a ratio for every other series.
pub(super) fn speed_ups(shown: &Shown<'_>) -> Vec<(String, Vec<Ratio>)> {
    let collect = |of: &dyn Fn(&str) -> Vec<(String, f64)>, names: &[&str]| -> Vec<Ratio> {
        let all = names.iter().map(|name| Ratio { name: (*name).to_owned(), values: of(name) });
        all.filter(|ratio| !ratio.values.is_empty()).collect()
    };
    let ratios = |slow: &str, fast: &str| -> Vec<(String, f64)> {
        let of = |series: &str, graph: &str| {
            shown.rows.iter().find(|row| row.series == series && row.graph == graph).and_then(|row| row.median())
        };
        let graphs = shown.experiment.graphs.iter();
        graphs.filter_map(|graph| Some((graph.clone(), of(slow, graph)? / of(fast, graph)?))).collect()
    };
    let mut all = Vec::new();
    if shown.experiment.against_peers {
        let is_peer = |series: &&str| shown.rows.iter().any(|row| row.series == **series && row.engine == "peer");
        let peers: Vec<&str> = shown.series.iter().filter(|series| is_peer(series)).copied().collect();
        for ours in shown.series.iter().filter(|series| !is_peer(series)) {
            all.push((format!("{ours} is so many times as fast as each"), collect(&|peer| ratios(peer, ours), &peers)));
        }
    } else if let Some(against) = shown.experiment.against.as_deref() {
        let others: Vec<&str> = shown.series.iter().filter(|series| **series != against).copied().collect();
        all.push((format!("So many times as fast as {against}"), collect(&|series| ratios(against, series), &others)));
    }
    all.retain(|(_, ratios)| !ratios.is_empty());
    all
}

/// Ratios as rows on a logarithmic axis with 1 marked.
pub(super) fn ratio_panel(shown: &Shown<'_>, headline: &str, ratios: &[Ratio]) -> String {
    let letters = ratios.iter().map(|ratio| ratio.name.chars().count()).max().unwrap_or(0).min(32);
    let left = 12.0 + 7.0 * letters as f64;
    let (right, top) = (PANEL - 62.0, 6.0);
    let bottom = top + ROW * ratios.len() as f64;
    let ends = ratios.iter().flat_map(|ratio| [ratio.ends().0, ratio.ends().1]);
    let x = Axis::over(ends.chain([1.0]), left, right);
    let mut svg = Svg::new(PANEL, bottom + 24.0, headline);
    let ticks = x.ticks();
    let every = ticks.len().div_ceil(5).max(1);
    for (index, tick) in ticks.into_iter().enumerate() {
        svg.line("grid", (x.at(tick), top), (x.at(tick), bottom));
        if index % every == 0 {
            svg.text("tick", (x.at(tick), bottom + 16.0), "middle", format!("{}×", plain(tick)));
        }
    }
    svg.line("axis", (x.at(1.0), top), (x.at(1.0), bottom));
    for (index, ratio) in ratios.iter().enumerate() {
        let y = top + ROW * (index as f64 + 0.5);
        let number = shown.number(&ratio.name);
        let color = number % COLORS;
        let (mean, (least, greatest)) = (ratio.mean(), ratio.ends());
        svg.text("name", (left - 8.0, y + 4.0), "end", short(&ratio.name, letters));
        svg.line(&format!("error s{color}"), (x.at(least), y), (x.at(greatest), y));
        for end in [least, greatest] {
            svg.line(&format!("error s{color}"), (x.at(end), y - 3.0), (x.at(end), y + 3.0));
        }
        let each: Vec<String> = ratio
            .values
            .iter()
            .map(|(graph, value)| format!("{}: {}", shown.title(graph), text::ratio(*value)))
            .collect();
        svg.mark(number, false, (x.at(mean), y), &format!("{}: {}", ratio.name, each.join(", ")));
        svg.text("value", (PANEL - 2.0, y + 4.0), "end", text::ratio(mean));
    }
    svg.finish()
}

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
    let name = |found: &Achieved<'_>| format!("{} ({})", found.graph.title, found.engine());
    let letters = achieved.iter().map(|found| name(found).chars().count()).max().unwrap_or(0).min(32);
    let left = 12.0 + 7.0 * letters as f64;
    let (right, top) = (PANEL - 62.0, 6.0);
    let bottom = top + ROW * achieved.len() as f64;
    let x = Axis::over(achieved.iter().map(Achieved::share).chain([0.001, 1.0]), left, right);
    let mut svg = Svg::new(PANEL, bottom + 24.0, &format!("{}: share of the ceiling", shown.experiment.title));
    let ticks = x.ticks();
    let every = ticks.len().div_ceil(5).max(1);
    for (index, tick) in ticks.into_iter().enumerate() {
        svg.line("grid", (x.at(tick), top), (x.at(tick), bottom));
        if index % every == 0 {
            svg.text("tick", (x.at(tick), bottom + 16.0), "middle", format!("{} %", plain(100.0 * tick)));
        }
    }
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
        svg.text("name", (left - 8.0, y + 14.0), "end", short(&name(found), letters));
        svg.rect(&format!("bar s{color}"), (left, y + 3.0), (x.at(found.share()) - left, ROW - 6.0), &title);
        svg.text("value", (PANEL - 2.0, y + 14.0), "end", format!("{} %", text::digits(100.0 * found.share())));
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
    use crate::results::tests::{empty_run, graph, row};

    #[test]
    fn small_ratios_keep_their_digits() {
        let all: Vec<String> = [0.001, 0.02, 0.1, 0.5, 1.0, 2000.0].map(plain).to_vec();
        assert_eq!(all, ["0.001", "0.02", "0.1", "0.5", "1", "2 k"]);
    }

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

    #[test]
    fn names_that_are_too_long_are_cut() {
        assert_eq!(short("abcdef", 6), "abcdef");
        assert_eq!(short("abcdefg", 6), "abcde…");
        let ended = |status, detail: &str| word(&Row { status, detail: Some(detail.into()), ..row("g", "x", &[1.0]) });
        assert_eq!(ended(Status::Unavailable, "ran on cuda:0 alone"), "ran on cuda:0 alone");
        assert_eq!(ended(Status::Unavailable, "not installed: x"), "unavailable");
    }
}
