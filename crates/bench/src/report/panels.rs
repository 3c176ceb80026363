//! Panels: the times on one graph, a bar for each series, and speed-ups. Names stand above their bars, so that none is cut.

use super::drawing::{is_cut_off, limit};
use super::shown::Shown;
use super::svg::{Axis, COLORS, Svg, escape, tick_of_time};
use crate::ratios::{self, Part};
use crate::results::{Row, Status};
use crate::{tables, text};

const PANEL: f64 = 440.0;
const LEFT: f64 = 4.0;
const RIGHT: f64 = PANEL - 8.0;
/// The height of a name with a bar below it.
const ROW: f64 = 34.0;
/// The height of each further bar.
const BAR: f64 = 9.0;

/// Bars that stand together: a series alone, or the variations of one.
struct Group<'a> {
    name: String,
    /// The number of the colour and shape.
    number: usize,
    rows: Vec<&'a Row>,
}

/// The colour of what has no variations, beside what has.
const GREY: usize = 6;

/// The groups of an experiment: variations that end with the same value stand together, and have their algorithm's colour.
fn groups<'a>(shown: &Shown<'a>, graph: &str) -> Vec<Group<'a>> {
    let rows = || shown.rows.iter().filter(|row| row.graph == graph).copied();
    let varies = shown.experiment.algorithms.iter().any(|entry| !entry.vary.is_empty());
    if !varies {
        let alone =
            |row: &'a Row| Group { name: row.series.clone(), number: shown.number(&row.series), rows: vec![row] };
        return rows().map(alone).collect();
    }
    let mut groups: Vec<Group<'a>> = Vec::new();
    for row in rows() {
        let mut varying = shown.experiment.algorithms.iter().filter(|entry| !entry.vary.is_empty()).enumerate();
        let found = varying.find(|(_, entry)| entry.has_series(&row.series));
        let skip_grey = |number: usize| if number % COLORS >= GREY { number + 1 } else { number };
        let (name, number) = match found {
            Some((number, entry)) if entry.vary.len() > 1 => {
                let last = row.series.rsplit(' ').next().unwrap_or_default();
                (format!("{}, {last}", entry.series), skip_grey(number))
            }
            Some((number, entry)) => (entry.series.clone(), skip_grey(number)),
            None => (row.series.clone(), GREY),
        };
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { name, number, rows: vec![row] }),
        }
    }
    groups
}

/// Says in which order the bars of a group stand, if there are variations.
pub(super) fn variations(shown: &Shown<'_>) -> String {
    let first = |name: &str| {
        let all = shown.experiment.algorithms.iter().flat_map(|entry| entry.vary.first());
        all.into_iter().find(|(known, _)| known == name).map(|(_, values)| values.join(", "))
    };
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in shown.experiment.algorithms.iter().flat_map(|entry| entry.vary.first()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let told: Vec<String> =
        names.into_iter().filter_map(|name| Some(format!("{}: {}", name.replace('-', " "), first(name)?))).collect();
    if told.is_empty() {
        return String::new();
    }
    format!("<p class=\"soft\">Bars below one name, from the top: {}.</p>", escape(&told.join("; ")))
}

/// Times on one graph, a group of bars for each series.
pub(super) fn panel(shown: &Shown<'_>, graph: &str) -> String {
    let groups = groups(shown, graph);
    let height = |group: &Group<'_>| ROW + BAR * (group.rows.len() - 1) as f64;
    let top = 4.0;
    let bottom = top + groups.iter().map(height).sum::<f64>();
    let cut_off = limit(shown.results).filter(|_| shown.rows.iter().any(|row| is_cut_off(row)));
    let times = shown.rows.iter().flat_map(|row| {
        let ends = row.times().map(|times| [times.solve.least, times.solve.greatest]);
        ends.into_iter().flatten().chain(row.reported)
    });
    let x = Axis::over(times.chain(cut_off), LEFT, RIGHT);
    let mut svg = Svg::new(PANEL, bottom + 40.0, &format!("{}: {}", shown.experiment.title, shown.title(graph)));
    svg.ticks_below(&x, (top, bottom), tick_of_time);
    svg.text("label", (0.5 * PANEL, bottom + 36.0), "middle", "time of a search, logarithmic");
    let mut y = top;
    for group in &groups {
        svg.text("name", (LEFT, y + 13.0), "start", &group.name);
        let (class, value) = value(group);
        svg.text(class, (RIGHT, y + 13.0), "end", value);
        for (index, row) in group.rows.iter().enumerate() {
            bar(&mut svg, shown, (group.number, row), &x, y + 22.0 + BAR * index as f64);
        }
        y += height(group);
    }
    svg.finish()
}

/// What stands beside a group's name: the time, from the least to the greatest median, or how it ended.
fn value(group: &Group<'_>) -> (&'static str, String) {
    let medians: Vec<f64> = group.rows.iter().filter_map(|row| row.median()).collect();
    match (medians.is_empty(), group.rows.iter().find(|row| row.status == Status::Wrong), group.rows.first()) {
        (_, Some(row), _) => ("value bad", word(row)),
        (true, None, Some(row)) => ("value none", word(row)),
        _ => {
            let least = medians.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = medians.iter().copied().fold(0.0, f64::max);
            ("value", tables::range(least, greatest))
        }
    }
}

/// The bar of a row, with the range of its samples and the paper's time.
fn bar(svg: &mut Svg, shown: &Shown<'_>, (number, row): (usize, &Row), x: &Axis, y: f64) {
    let color = number % COLORS;
    if let Some((median, times)) = row.median().zip(row.times()) {
        svg.line(&format!("stem s{color}"), (LEFT, y), (x.at(median), y));
        svg.line(&format!("error s{color}"), (x.at(times.solve.least), y), (x.at(times.solve.greatest), y));
        for end in [times.solve.least, times.solve.greatest] {
            svg.line(&format!("error s{color}"), (x.at(end), y - 3.0), (x.at(end), y + 3.0));
        }
        svg.mark(number, false, (x.at(median), y), &shown.describe(row));
    } else if let Some(limit) = limit(shown.results).filter(|_| is_cut_off(row)) {
        let title = format!("{}: cut off after {} s", row.series, text::digits(limit));
        svg.cut_off(number, (x.at(limit), y), (14.0, 0.0), &title);
    }
    if let Some(reported) = row.reported {
        let title = format!("{}: the paper's {}", row.series, text::seconds(reported));
        svg.mark(number, true, (x.at(reported), y), &title);
    }
}

/// The status of a row without a time, in a word or two.
fn word(row: &Row) -> String {
    match (row.status, row.detail.as_deref()) {
        (Status::Unavailable, Some(detail)) if detail.starts_with("needs") || detail.starts_with("ran on") => {
            detail.to_owned()
        }
        (status, _) => status.text().to_owned(),
    }
}

/// Ratios by row: the geometric mean over the graphs, and the least and greatest.
pub(super) struct SpeedUp {
    name: String,
    values: Vec<(String, f64)>,
}

/// Speed-ups that are compared with each other, on the graphs that all of them have.
pub(super) struct SpeedUps {
    /// What they are.
    pub(super) headline: String,
    /// One for each series.
    pub(super) all: Vec<SpeedUp>,
    /// The number of graphs.
    pub(super) graphs: usize,
}

impl SpeedUps {
    /// Speed-ups on the graphs that all have; as long as there is none, the one with the fewest graphs is left out.
    fn on_common_graphs(headline: String, mut all: Vec<SpeedUp>) -> Option<Self> {
        loop {
            let first = all.first()?;
            let has = |speed_up: &SpeedUp, graph: &str| speed_up.values.iter().any(|(known, _)| known == graph);
            let names = first.values.iter().map(|(graph, _)| graph.clone());
            let common: Vec<String> = names.filter(|graph| all.iter().all(|one| has(one, graph))).collect();
            if common.is_empty() {
                let fewest = all.iter().enumerate().min_by_key(|(_, one)| one.values.len()).map(|(index, _)| index)?;
                all.remove(fewest);
                continue;
            }
            for one in &mut all {
                one.values.retain(|(graph, _)| common.contains(graph));
            }
            return Some(SpeedUps { headline, all, graphs: common.len() });
        }
    }
}

/// The speed-ups of an experiment: headlines, each with a ratio for every other series.
pub(super) fn speed_ups(shown: &Shown<'_>) -> Vec<SpeedUps> {
    let ratios = |slow: &str, fast: &str| -> Vec<(String, f64)> {
        let of = |series: &str, graph: &str| shown.rows.iter().find(|row| row.series == series && row.graph == graph);
        let ratio = |graph: &String| {
            let (slow, fast) = (of(slow, graph)?, of(fast, graph)?);
            let found = ratios::ratio((slow, Part::Whole), (fast, Part::Whole))?;
            Some((graph.clone(), found.value))
        };
        shown.experiment.graphs.iter().filter_map(ratio).collect()
    };
    let collect = |of: &dyn Fn(&str) -> Vec<(String, f64)>, names: &[&str]| -> Vec<SpeedUp> {
        let all = names.iter().map(|name| SpeedUp { name: (*name).to_owned(), values: of(name) });
        all.filter(|speed_up| !speed_up.values.is_empty()).collect()
    };
    let mut all = Vec::new();
    if shown.experiment.against_peers {
        let is_peer = |series: &&str| shown.rows.iter().any(|row| row.series == **series && row.engine == "peer");
        let peers: Vec<&str> = shown.series.iter().filter(|series| is_peer(series)).copied().collect();
        for ours in shown.series.iter().filter(|series| !is_peer(series)) {
            all.push((format!("Speed-up of {ours} over each program"), collect(&|peer| ratios(peer, ours), &peers)));
        }
    } else if let Some(against) = shown.experiment.against.as_deref() {
        let others: Vec<&str> = shown.series.iter().filter(|series| **series != against).copied().collect();
        all.push((format!("Speed-up over {against}"), collect(&|series| ratios(against, series), &others)));
    }
    let on_common = all.into_iter().filter_map(|(headline, all)| SpeedUps::on_common_graphs(headline, all));
    on_common.map(|all| best_variations(shown, all)).collect()
}

/// Of the variations of an algorithm only the fastest.
fn best_variations(shown: &Shown<'_>, speed_ups: SpeedUps) -> SpeedUps {
    let entry_of = |one: &SpeedUp| {
        let mut varying = shown.experiment.algorithms.iter().filter(|entry| !entry.vary.is_empty());
        varying.position(|entry| entry.has_series(&one.name))
    };
    let mean = |one: &SpeedUp| ratios::mean(one.values.iter().map(|(_, value)| *value));
    let mut kept: Vec<(Option<usize>, SpeedUp)> = Vec::new();
    for one in speed_ups.all {
        let entry = entry_of(&one);
        match kept.iter_mut().find(|(known, _)| known.is_some() && *known == entry) {
            Some((_, best)) if mean(best) < mean(&one) => *best = one,
            Some(_) => {}
            None => kept.push((entry, one)),
        }
    }
    SpeedUps { all: kept.into_iter().map(|(_, one)| one).collect(), ..speed_ups }
}

/// Ratios as rows on a logarithmic axis with 1 marked.
pub(super) fn ratio_panel(shown: &Shown<'_>, speed_ups: &SpeedUps) -> String {
    let top = 4.0;
    let bottom = top + ROW * speed_ups.all.len() as f64;
    let ends = |one: &SpeedUp| ratios::range(one.values.iter().map(|(_, value)| *value));
    let all_ends = speed_ups.all.iter().flat_map(|one| [ends(one).0, ends(one).1]);
    let x = Axis::over(all_ends.chain([1.0]), LEFT, RIGHT);
    let mut svg = Svg::new(PANEL, bottom + 40.0, &speed_ups.headline);
    svg.ticks_below(&x, (top, bottom), |tick| format!("{}×", plain(tick)));
    svg.line("axis", (x.at(1.0), top), (x.at(1.0), bottom));
    svg.text("label", (0.5 * PANEL, bottom + 36.0), "middle", "ratio of times, logarithmic");
    for (index, one) in speed_ups.all.iter().enumerate() {
        let top = top + ROW * index as f64;
        let y = top + 22.0;
        let number = shown.number(&one.name);
        let color = number % COLORS;
        let (mean, (least, greatest)) = (ratios::mean(one.values.iter().map(|(_, value)| *value)), ends(one));
        svg.text("name", (LEFT, top + 13.0), "start", &one.name);
        svg.line(&format!("error s{color}"), (x.at(least), y), (x.at(greatest), y));
        for end in [least, greatest] {
            svg.line(&format!("error s{color}"), (x.at(end), y - 3.0), (x.at(end), y + 3.0));
        }
        let each: Vec<String> = one
            .values
            .iter()
            .map(|(graph, value)| format!("{}: {}", shown.title_of(graph), text::ratio(*value)))
            .collect();
        svg.mark(number, false, (x.at(mean), y), &format!("{}: {}", one.name, each.join(", ")));
        svg.text("value", (RIGHT, top + 13.0), "end", text::ratio(mean));
    }
    svg.finish()
}

/// A number on an axis, without trailing zeros.
fn plain(value: f64) -> String {
    if value >= 1.0 {
        return text::scaled(value);
    }
    let decimals = (-value.log10()).ceil().max(0.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;
    use crate::results::tests::{empty_run, graph, row};

    #[test]
    fn small_ratios_keep_their_digits() {
        let all: Vec<String> = [0.001, 0.02, 0.1, 0.5, 1.0, 2000.0].map(plain).to_vec();
        assert_eq!(all, ["0.001", "0.02", "0.1", "0.5", "1", "2 k"]);
    }

    #[test]
    fn rows_without_times_say_why() {
        let ended = |status, detail: &str| word(&Row { status, detail: Some(detail.into()), ..row("g", "x", &[1.0]) });
        assert_eq!(ended(Status::Unavailable, "ran on cuda:0 alone"), "ran on cuda:0 alone");
        assert_eq!(ended(Status::Unavailable, "not installed: x"), "unavailable");
    }

    #[test]
    fn means_are_over_the_graphs_that_all_have() {
        let suite = Suite::named("katz-kider").unwrap();
        let experiment = suite.experiments.iter().find(|experiment| experiment.id == "table1").unwrap();
        let mut results = empty_run("katz-kider");
        for (id, factor) in [("n64", 1.0), ("n512", 4.0)] {
            let of = |series: &str, seconds| Row { experiment: "table1".into(), ..row(id, series, &[seconds]) };
            results.add_row(of("GPU, plain", 8.0 * factor));
            results.add_row(of("GPU, register tiles", 1.0));
            if id == "n512" {
                results.add_row(of("two GPUs, register tiles", 2.0));
            }
        }
        let all = speed_ups(&Shown::new(experiment, &results));
        assert_eq!((all.len(), all[0].graphs), (1, 1));
        let told: Vec<(&str, f64)> = all[0].all.iter().map(|one| (one.name.as_str(), one.values[0].1)).collect();
        assert_eq!(told, [("GPU, register tiles", 32.0), ("two GPUs, register tiles", 16.0)]);
        let of = |name: &str, graphs: &[&str]| SpeedUp {
            name: name.into(),
            values: graphs.iter().map(|graph| ((*graph).to_owned(), 2.0)).collect(),
        };
        let apart = vec![of("a", &["x", "y"]), of("b", &["z"]), of("c", &["y", "x"])];
        let kept = SpeedUps::on_common_graphs(String::new(), apart).unwrap();
        assert_eq!(
            (kept.graphs, kept.all.iter().map(|one| one.name.as_str()).collect::<Vec<_>>()),
            (2, vec!["a", "c"])
        );
        assert!(SpeedUps::on_common_graphs(String::new(), Vec::new()).is_none());
    }

    #[test]
    fn variations_stand_together() {
        let suite = Suite::named("rejaud").unwrap();
        let experiment = suite.experiments.iter().find(|experiment| experiment.id == "table").unwrap();
        let mut results = empty_run("rejaud");
        results.add_graph(graph("pokec", 64, 100));
        for case in suite.cases(false).iter().filter(|case| case.graph.id == "pokec" && case.experiment.id == "table") {
            results.add_row(Row { experiment: "table".into(), ..row("pokec", &case.series, &[1e-3]) });
        }
        let shown = Shown::new(experiment, &results);
        let groups = groups(&shown, "pokec");
        let of_five = groups.iter().filter(|group| group.rows.len() == 5).count();
        assert!(of_five >= 9, "{:?}", groups.iter().map(|group| &group.name).collect::<Vec<_>>());
        let name = "BMF out-core, source";
        let group = groups.iter().find(|group| group.name == name).unwrap();
        let other = groups.iter().find(|group| group.name == "BMF out-core, destination").unwrap();
        assert_eq!(group.number, other.number, "colours are of algorithms");
        assert!(group.rows.iter().all(|row| row.series.ends_with(" source")));
        assert!(panel(&shown, "pokec").contains(name));
        // Of the variations of each algorithm the fastest stands among the speed-ups.
        let fast = results.rows.iter().position(|row| row.series == "TPE in-core, 512x4 source").unwrap();
        results.rows[fast] = Row { experiment: "table".into(), ..row("pokec", "TPE in-core, 512x4 source", &[1e-4]) };
        let shown = Shown::new(experiment, &results);
        let all = speed_ups(&shown);
        let names: Vec<&str> = all[0].all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names.len() + 1, experiment.algorithms.len(), "one of each, but for the baseline: {names:?}");
        assert!(names.contains(&"TPE in-core, 512x4 source"), "{names:?}");
        assert!(variations(&shown).contains("launch: 256x8, 384x5, 512x4, 768x2, 1024x2"));
    }
}
