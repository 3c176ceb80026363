//! Two runs of the same suite held against each other: what became faster or slower beyond the noise.
//!
//! The noise of a row is half the distance between the quartiles of its repeats, as a share of the median. A change
//! counts if it exceeds three times the noise of both runs together, and a floor below which single samples and medians
//! of a few are not reliable. Rows are compared on the same graph only: if a generator stood in for a dataset, or the
//! scale differed, a row is neither faster nor slower.

use std::fmt::Write;

use crate::results::{Results, Row, Status};
use crate::text;

/// Changes below this share are never reported.
const FLOOR: f64 = 0.05;
/// The floor for a row with a single sample for each source, whose noise is unknown.
const FLOOR_OF_SINGLE: f64 = 0.25;
/// A change has to exceed the noise this many times.
const TIMES_NOISE: f64 = 3.0;

/// The change of a row between two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What identifies the row.
    pub key: String,
    /// How it changed.
    pub kind: Kind,
    /// The medians, before and after.
    pub medians: Option<(f64, f64)>,
    /// The share that a change has to exceed to count.
    pub threshold: f64,
    /// A remark for people.
    pub remark: String,
}

/// How a row changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It is wrong now.
    Broken,
    /// It was measured, and now is not.
    Lost,
    /// It takes longer, beyond the noise.
    Slower,
    /// It takes less time, beyond the noise.
    Faster,
    /// The graphs of this name are not the same.
    OtherGraph,
    /// It was not measured, and now is.
    Gained,
    /// The difference is within the noise.
    Same,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Kind::Broken => "wrong now",
            Kind::Lost => "lost",
            Kind::Slower => "slower",
            Kind::Faster => "faster",
            Kind::OtherGraph => "not the same graph",
            Kind::Gained => "new",
            Kind::Same => "same",
        }
    }
}

/// All rows of both runs, the worst first.
pub fn changes(before: &Results, after: &Results) -> Vec<Change> {
    let with_old = |row: &Row| {
        let old = before.rows.iter().find(|old| old.key() == row.key());
        let differs = before.graph(&row.graph).and_then(|old| old.difference(after.graph(&row.graph)?));
        match (old, differs) {
            (Some(old), Some(differs)) if row.status != Status::Wrong => other_graph(old, row, differs),
            (old, _) => change(old, Some(row)),
        }
    };
    let mut all: Vec<Change> = after.rows.iter().filter_map(with_old).collect();
    let gone = before.rows.iter().filter(|old| !after.rows.iter().any(|row| row.key() == old.key()));
    all.extend(gone.filter_map(|old| change(Some(old), None)));
    let size = |change: &Change| change.medians.map_or(0.0, |(before, after)| (after / before).ln().abs());
    all.sort_by(|a, b| a.kind.cmp(&b.kind).then(size(b).total_cmp(&size(a))).then_with(|| a.key.cmp(&b.key)));
    all
}

/// The change of rows on different graphs, if both were measured.
fn other_graph(before: &Row, after: &Row, remark: String) -> Option<Change> {
    before.median().and(after.median())?;
    Some(Change { key: after.key(), kind: Kind::OtherGraph, medians: None, threshold: 0.0, remark })
}

fn change(before: Option<&Row>, after: Option<&Row>) -> Option<Change> {
    let key = after.or(before)?.key();
    let made = |kind, medians, threshold, remark| Some(Change { key, kind, medians, threshold, remark });
    if let Some(wrong) = after.filter(|row| row.status == Status::Wrong) {
        return made(Kind::Broken, None, 0.0, wrong.detail.clone().unwrap_or_default());
    }
    let median = |row: Option<&Row>| row.and_then(Row::median);
    match (median(before), median(after)) {
        (Some(old), Some(new)) => {
            let threshold = threshold(before?, after?);
            let share = new / old;
            let kind = match share {
                share if share > 1.0 + threshold => Kind::Slower,
                share if share < 1.0 / (1.0 + threshold) => Kind::Faster,
                _ => Kind::Same,
            };
            made(kind, Some((old, new)), threshold, String::new())
        }
        (Some(_), None) => {
            let why = after.map_or_else(
                || "the row is gone".to_owned(),
                |row| format!("{}: {}", row.status.text(), row.detail.as_deref().unwrap_or_default()),
            );
            made(Kind::Lost, None, 0.0, why)
        }
        (None, Some(_)) => made(Kind::Gained, None, 0.0, String::new()),
        (None, None) => None,
    }
}

/// The share that a change of these rows has to exceed to count.
fn threshold(before: &Row, after: &Row) -> f64 {
    let of = |row: &Row| {
        let times = row.seconds.as_ref();
        let single = times.is_none_or(|times| times.samples.iter().all(|samples| samples.len() < 2));
        let noise = times.map_or(0.0, |times| times.solve.noise);
        (noise, if single { FLOOR_OF_SINGLE } else { FLOOR })
    };
    let ((old, floor), (new, other)) = (of(before), of(after));
    (TIMES_NOISE * old.hypot(new)).max(floor).max(other)
}

/// The comparison for people: what changed, and how many rows did not.
pub fn text(before: &Results, after: &Results) -> String {
    let changes = changes(before, after);
    let mut out = String::new();
    let different = before.run.differences(&after.run);
    for (what, old, new) in different.iter().filter(|(what, _, _)| *what != "program") {
        let _ = writeln!(out, "note: the runs are not comparable as they are: the {what} is `{old}` and `{new}`");
    }
    let (old, new) = (&before.run.machine.build, &after.run.machine.build);
    if old != new {
        let _ = writeln!(out, "note: the runs are not comparable as they are: the build is `{old}` and `{new}`");
    }
    let _ = writeln!(out, "before: {}\nafter:  {}", before.run.machine.program(), after.run.machine.program());
    let told: Vec<&Change> = changes.iter().filter(|change| change.kind != Kind::Same).collect();
    let width = told.iter().map(|change| change.key.chars().count()).max().unwrap_or(0);
    for change in &told {
        let _ = write!(out, "{:<18}  {:<width$}", change.kind.text(), change.key);
        if let Some((old, new)) = change.medians {
            let times = if new > old { new / old } else { old / new };
            let noise = 100.0 * change.threshold;
            let _ = write!(
                out,
                "  {} -> {}, {} {} (beyond {noise:.0} %)",
                text::seconds(old),
                text::seconds(new),
                text::ratio(times),
                change.kind.text()
            );
        }
        let _ = writeln!(out, "  {}", change.remark);
    }
    let count = |kind| changes.iter().filter(|change| change.kind == kind).count();
    let _ = writeln!(
        out,
        "{} slower, {} faster, {} within the noise, {} lost, {} new, {} wrong now, {} not on the same graph",
        count(Kind::Slower),
        count(Kind::Faster),
        count(Kind::Same),
        count(Kind::Lost),
        count(Kind::Gained),
        count(Kind::Broken),
        count(Kind::OtherGraph)
    );
    out.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::GraphFacts;
    use crate::results::tests::{empty_run, graph, row};

    fn kinds(before: &[Row], after: &[Row]) -> Vec<(String, Kind)> {
        let run = |rows: &[Row]| {
            let mut results = empty_run("singh");
            rows.iter().for_each(|row| results.add_row(row.clone()));
            results
        };
        let (before, after) = (run(before), run(after));
        assert!(text(&before, &after).contains("within the noise"));
        changes(&before, &after).into_iter().map(|change| (change.key, change.kind)).collect()
    }

    fn one(before: &[f64], after: &[f64]) -> Kind {
        kinds(&[row("g", "x", before)], &[row("g", "x", after)])[0].1
    }

    #[test]
    fn a_change_is_told_beyond_the_noise_only() {
        assert_eq!(one(&[1.0, 1.0, 1.0], &[1.04, 1.04, 1.04]), Kind::Same, "below the floor");
        assert_eq!(one(&[1.0, 1.0, 1.0], &[1.1, 1.1, 1.1]), Kind::Slower);
        assert_eq!(one(&[1.1, 1.1, 1.1], &[1.0, 1.0, 1.0]), Kind::Faster);
        assert_eq!(one(&[0.8, 1.0, 1.2], &[0.9, 1.1, 1.3]), Kind::Same, "noisy");
        assert_eq!(one(&[0.8, 1.0, 1.2], &[1.6, 2.0, 2.4]), Kind::Slower, "noisy, but twice as long");
        assert_eq!(one(&[1.0], &[1.2]), Kind::Same, "single samples");
        assert_eq!(one(&[1.0], &[1.3]), Kind::Slower);
    }

    #[test]
    fn what_is_wrong_or_lost_comes_first() {
        let measured = |series: &str| row("g", series, &[1.0, 1.0]);
        let with = |series: &str, status| Row { status, seconds: None, ..measured(series) };
        let before = [measured("a"), measured("b"), measured("c"), with("d", Status::Timeout)];
        let after = [measured("a"), with("b", Status::Wrong), with("c", Status::Timeout), measured("d")];
        let kinds: Vec<Kind> = kinds(&before, &after).into_iter().map(|(_, kind)| kind).collect();
        assert_eq!(kinds, [Kind::Broken, Kind::Lost, Kind::Gained, Kind::Same]);
    }

    #[test]
    fn rows_of_other_graphs_are_neither_faster_nor_slower() {
        let run = |graphs: &[GraphFacts], seconds: f64| {
            let mut results = empty_run("singh");
            graphs.iter().for_each(|facts| results.add_graph(facts.clone()));
            ["g", "h", "i"].iter().for_each(|graph| results.add_row(row(graph, "x", &[seconds, seconds])));
            results
        };
        let made = |origin: &str| GraphFacts { origin: origin.into(), ..graph("g", 10, 20) };
        let before = run(&[made("ny.gr"), graph("h", 10, 20)], 1.0);
        let mut after = run(&[made("grid:5x2"), graph("h", 10, 20)], 2.0);
        let told = changes(&before, &after);
        let kind = |graph: &str| told.iter().find(|change| change.key.contains(graph)).unwrap().kind;
        assert_eq!((kind("/g/"), kind("/h/"), kind("/i/")), (Kind::OtherGraph, Kind::Slower, Kind::Slower));
        let text_of = text(&before, &after);
        assert!(text_of.contains("ny.gr, not grid:5x2") && text_of.contains("1 not on the same graph"), "{text_of}");
        assert!(!text_of.contains("not comparable"), "{text_of}");
        // A wrong answer counts on any graph.
        after.rows[0].status = Status::Wrong;
        assert_eq!(changes(&before, &after)[0].kind, Kind::Broken);
    }

    #[test]
    fn runs_that_are_not_comparable_say_why() {
        let before = empty_run("singh");
        let mut after = before.clone();
        after.run.machine.version = "2".into();
        assert!(!text(&before, &after).contains("not comparable"), "programs are what is compared");
        (after.run.quick, after.run.scale, after.run.engine) = (false, Some(20), "auto".into());
        let told = text(&before, &after);
        for what in
            ["the extent is `quick` and `whole`", "the scale is `none` and `20`", "the engine is `cpu` and `auto`"]
        {
            assert!(told.contains(what), "{told}");
        }
    }
}
