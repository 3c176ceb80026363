//! `tables.md`: the measurements as Markdown tables.

use std::fmt::Write;

use crate::claims;
use crate::ratios::{self, Part, Ratio};
use crate::results::{Clock, GraphFacts, Results, Row, Status};
use crate::suite::{Experiment, Suite};
use crate::text;

/// All tables of a run.
pub fn markdown(suite: &Suite, results: &Results) -> String {
    let run = &results.run;
    let mut out = format!("# {}\n\n{}\n\n", suite.title, suite.about.trim());
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("- Source: {}", suite.source));
    line(format!("- Machine: {}", run.machine.text()));
    line(format!("- Program: {}", run.machine.program()));
    let extent = if run.quick { "quick run" } else { "whole run" };
    line(format!("- {extent} with `--engine {}`, {}", run.engine, results.begun()));
    line(format!("- {}", counts(results)));
    claims_tables(&mut out, suite, results);
    out.push_str("\n## Graphs\n\n| graph | vertices | arcs | degree | weights | made of | load |\n|---|--:|--:|--:|---|---|--:|\n");
    for graph in &results.graphs {
        let _ = writeln!(
            out,
            "| {}{} | {} | {} | {} | {} | {} | {} |",
            cell(&graph.title),
            mark(Some(graph)),
            text::grouped(graph.vertices),
            text::grouped(graph.arcs),
            text::digits(graph.degree.1),
            graph.weights_text(),
            cell(&graph.origin),
            text::seconds(graph.load_seconds)
        );
    }
    for graph in &results.graphs {
        if let Some((count, largest)) = graph.strong_components {
            let (count, largest) = (text::grouped(count), text::grouped(largest));
            let title = cell(&graph.title);
            let _ =
                writeln!(out, "\n{title}: {count} strongly connected components, {largest} vertices in the largest");
        }
    }
    for graph in results.graphs.iter().filter(|graph| graph.stand_in.is_some()) {
        let _ = writeln!(out, "\n† {}: {}", cell(&graph.title), cell(graph.stand_in.as_deref().unwrap_or_default()));
    }
    for experiment in &suite.experiments {
        experiment_table(&mut out, experiment, results);
    }
    out
}

/// The number of rows with each status.
pub(crate) fn counts(results: &Results) -> String {
    let all = [Status::Measured, Status::Wrong, Status::Study, Status::Timeout, Status::Unavailable, Status::Failed];
    let count = |status| results.rows.iter().filter(|row| row.status == status).count();
    let told = all.into_iter().filter(|status| count(*status) > 0 || *status == Status::Wrong);
    let parts: Vec<String> = told.map(|status| format!("{} {}", count(status), status.text())).collect();
    format!("{} rows: {}", results.rows.len(), parts.join(", "))
}

/// The mark behind a graph's name if the paper used a different graph.
pub(crate) fn mark(graph: Option<&GraphFacts>) -> &'static str {
    if graph.is_some_and(|graph| graph.stand_in.is_some()) { " †" } else { "" }
}

/// Text that stays within its cell.
pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn experiment_table(out: &mut String, experiment: &Experiment, results: &Results) {
    let rows: Vec<&Row> = results.rows.iter().filter(|row| row.experiment == experiment.id).collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## {}\n", experiment.title);
    if let Some(note) = &experiment.note {
        let _ = writeln!(out, "{}\n", note.trim());
    }
    let against = experiment.against.as_deref();
    let speedup = against.map_or_else(String::new, |series| format!(" against {}", cell(series)));
    let counters: String = experiment.counters.iter().map(|name| format!(" {} |", name.replace('_', " "))).collect();
    let _ = writeln!(
        out,
        "| graph | series | median | least to greatest | clock | paper |{counters} speed-up{speedup} | remark |"
    );
    let rules: String = experiment.counters.iter().map(|_| "--:|").collect();
    let _ = writeln!(out, "|---|---|--:|--:|---|--:|{rules}--:|---|");
    for row in rows {
        let facts = results.graph(&row.graph);
        let title = facts.map_or(row.graph.as_str(), |graph| graph.title.as_str());
        let counters: String = experiment.counters.iter().map(|name| format!(" {} |", counter(row, name))).collect();
        let _ = writeln!(
            out,
            "| {}{} | {} | {} | {} | {} | {} |{counters} {} | {} |",
            cell(title),
            mark(facts),
            cell(&row.series),
            row.median().map_or_else(|| format!("*{}*", row.status.text()), text::seconds),
            row.seconds.as_ref().map_or_else(String::new, |times| range(times.solve.least, times.solve.greatest)),
            row.seconds.as_ref().map_or("", |times| clock(times.clock)),
            row.reported.map_or_else(String::new, text::seconds),
            speed_up(results, experiment, row).map_or_else(String::new, text::ratio),
            cell(&remark(row))
        );
    }
}

/// A range of times, for people.
pub(crate) fn range(least: f64, greatest: f64) -> String {
    let (least, greatest) = (text::seconds(least), text::seconds(greatest));
    if least == greatest { least } else { format!("{least} – {greatest}") }
}

/// A clock, for people.
pub(crate) fn clock(clock: Clock) -> &'static str {
    match clock {
        Clock::Host => "host",
        Clock::Device => "device",
        Clock::Peer => "its own",
    }
}

/// A counter, with the paper's value.
pub(crate) fn counter(row: &Row, name: &str) -> String {
    let show = |value: f64| match name.strip_suffix("_nanoseconds") {
        Some(_) => text::seconds(value * 1e-9),
        None => text::grouped(value as u64),
    };
    let found = row.counters.get(name).map(|value| show(*value as f64));
    let reported = row.reported_counters.get(name).map(|value| format!("paper: {}", show(*value)));
    match (found, reported) {
        (Some(found), Some(reported)) => format!("{found} ({reported})"),
        (found, reported) => found.or(reported).unwrap_or_default(),
    }
}

/// The remark on a row: the algorithm if the series does not name it, and how the row ended.
pub(crate) fn remark(row: &Row) -> String {
    let mut parts = Vec::new();
    if row.status == Status::Measured {
        parts.push(row.algorithm.clone());
    }
    parts.extend(row.detail.clone());
    parts.join("; ")
}

/// The speed-up of a row over the baseline series of its experiment, by one clock.
pub(crate) fn speed_up(results: &Results, experiment: &Experiment, row: &Row) -> Option<f64> {
    let against = experiment.against.as_deref().filter(|series| *series != row.series)?;
    let same = |other: &&Row| other.experiment == row.experiment && other.graph == row.graph && other.series == against;
    let slow = results.rows.iter().find(same)?;
    ratios::ratio((slow, Part::Whole), (row, Part::Whole)).map(|ratio| ratio.value)
}

/// The paper's claims in short, and the ratios of each by graph.
fn claims_tables(out: &mut String, suite: &Suite, results: &Results) {
    let judged = claims::judged(suite, results);
    if judged.is_empty() {
        return;
    }
    out.push_str(
        "\n## In short\n\n| claim | paper | verdict | measured | data | kernel | clock | searches |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for one in &judged {
        let columns = [one.says(), one.verdict_text(), one.measured(), one.data(), one.kernel().into(), one.clock()];
        let columns: Vec<String> = columns.iter().map(|text| cell(text)).collect();
        let _ = writeln!(out, "| {} | {} | {} |", cell(&one.claim.text), columns.join(" | "), one.searches());
    }
    out.push_str(
        "\nRatios are of medians by one clock; *repeats* are the least and greatest ratio of single searches.\n\n\
         | claim | graph | ratio | repeats | clock | searches | in the band |\n|---|---|--:|--:|---|--:|---|\n",
    );
    for one in &judged {
        for ratio in &one.ratios {
            let _ = writeln!(
                out,
                "| {} | {}{} | {} | {} | {} | {} by {} | {} |",
                cell(&one.claim.compared()),
                cell(&graph_title(results, &ratio.graph)),
                mark(results.graph(&ratio.graph)),
                text::ratio(ratio.value),
                range_of_ratio(ratio),
                ratio.clock.text(),
                ratio.searches.0,
                ratio.searches.1,
                one.is_in_band(ratio).map_or("", |is_in| if is_in { "yes" } else { "no" })
            );
        }
    }
}

/// The title of a graph, or of two.
pub(crate) fn graph_title(results: &Results, id: &str) -> String {
    let title = |id: &str| results.graph(id).map_or_else(|| id.to_owned(), |graph| graph.title.clone());
    id.split(" / ").map(title).collect::<Vec<_>>().join(" / ")
}

/// The range of the repeats of a ratio, for people.
pub(crate) fn range_of_ratio(ratio: &Ratio) -> String {
    format!("{} – {}", text::ratio(ratio.least), text::ratio(ratio.greatest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{empty_run, graph, row};

    fn results() -> (Suite, Results) {
        let suite = Suite::named("singh").unwrap();
        let mut results = empty_run("singh");
        for (series, time) in [("CPU, sequential queue", 0.004), ("GPU, Singh's kernel", 0.001)] {
            for (graph, factor) in [("n10", 1.0), ("n22", 4.0)] {
                let factor = if series.starts_with("GPU") { 1.0 } else { factor };
                let row = Row { experiment: "fig8".into(), ..row(graph, series, &[time * factor]) };
                results.add_row(row);
            }
        }
        (suite, results)
    }

    #[test]
    fn tables_have_times_speed_ups_and_claims() {
        let (suite, mut results) = results();
        let wrong = Row {
            experiment: "fig8".into(),
            status: Status::Wrong,
            seconds: None,
            detail: Some("3 reached | instead of 5".into()),
            ..row("n64", "GPU, Singh's kernel", &[1.0])
        };
        results.add_row(wrong);
        let text = markdown(&suite, &results);
        assert!(text.contains("| n10 | GPU, Singh's kernel | 1.00 ms |"), "{text}");
        assert!(text.contains("4.00× | sequential"), "{text}");
        assert!(text.contains("4.00× – 16.0×, mean 8.00× over 2 graphs"), "{text}");
        results.add_graph(GraphFacts { stand_in: Some("absent".into()), ..graph("n22", 22, 40) });
        results.add_graph(graph("n10", 10, 20));
        results.add_graph(GraphFacts { strong_components: Some((1500, 7)), ..graph("n34", 34, 50) });
        let marked = markdown(&suite, &results);
        assert!(marked.contains("n34: 1,500 strongly connected components, 7 vertices in the largest"), "{marked}");
        assert!(marked.contains("| n22 † | GPU, Singh's kernel | 1.00 ms |"), "{marked}");
        assert!(marked.contains("| n10 | GPU, Singh's kernel |") && marked.contains("† n22: absent"), "{marked}");
        assert!(text.contains("*wrong*") && text.contains("3 reached \\| instead of 5"), "{text}");
        assert_eq!(results.wrong(), 1);
    }

    #[test]
    fn a_claim_of_a_part_of_the_time_says_so() {
        let suite = Suite::named("rejaud").unwrap();
        let mut results = empty_run("rejaud");
        let of = |series: &str, seconds| Row { experiment: "table".into(), ..row("pokec", series, &[seconds]) };
        results.add_row(of("BMF out-core, records, 1024x2 source", 0.8));
        let counters = [("compute_nanoseconds".to_owned(), 1_000_000), ("filter_nanoseconds".to_owned(), 99_000_000)];
        let reported_counters = [("compute_nanoseconds".to_owned(), 163_000.0)].into();
        let counters = counters.into();
        results.add_row(Row { counters, reported_counters, ..of("TPE out-core, 1024x2 source", 0.1) });
        let text = markdown(&suite, &results);
        let told = |measured: &str, of: &str| text.lines().any(|line| line.contains(measured) && line.contains(of));
        assert!(told("| 800× |", "by TPE out-core, 1024x2 source (compute nanoseconds alone)"), "{text}");
        assert!(told("| 800× |", "| a counter |"), "{text}");
        assert!(told("| 8.00× |", "by TPE out-core, 1024x2 source |"), "{text}");
        // The paper's time for computing alone stands beside the measured one, not beside the whole time.
        assert!(text.contains("1.00 ms (paper: 163 µs)"), "{text}");
        let lists = |algorithm: &String| algorithm.starts_with("work-efficient:lists=as-described");
        let cases = suite.cases(false);
        let as_described: Vec<_> = cases.iter().filter(|case| case.algorithm.as_ref().is_some_and(lists)).collect();
        // In the table for five launches, and with single rounds for one; two orders, out of core and in core.
        assert_eq!(as_described.len(), 6 * (5 + 1) * 2 * 2);
        for case in as_described {
            assert!(case.reported.is_none() && case.reported_counters.len() == 2, "{}", case.key());
        }
    }

    #[test]
    fn a_row_without_times_has_no_speed_up() {
        let (suite, results) = results();
        let experiment = &suite.experiments[0];
        let untimed = Row { status: Status::Timeout, seconds: None, ..results.rows[3].clone() };
        assert!(speed_up(&results, experiment, &untimed).is_none());
        assert!(speed_up(&results, experiment, &results.rows[3]).is_some());
    }
}
