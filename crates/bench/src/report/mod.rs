//! `report.html`: one file with the figures, the numbers behind each, and a section for each graph.
//!
//! It needs no network and no other file, follows the viewer's light or dark theme, and prints. Figures are inline SVG
//! with classes that the style sheet colours; a short script sorts the tables.

mod drawing;
mod overview;
mod panels;
mod rates;
mod shown;
mod svg;

use std::fmt::Write;

use drawing::Drawing;
pub use overview::overview;
use shown::Shown;
use svg::{escape, prose};

use crate::claims::{self, Judged, Verdict};
use crate::results::{GraphFacts, Results, Row, Status};
use crate::suite::{Chart, Suite};
use crate::tables;
use crate::text;

/// The page of a run.
pub fn html(suite: &Suite, results: &Results) -> String {
    let shown: Vec<Shown<'_>> = suite
        .experiments
        .iter()
        .map(|experiment| Shown::new(experiment, results))
        .filter(|shown| !shown.rows.is_empty())
        .collect();
    let mut out = String::new();
    head(&mut out, suite, results, &shown);
    out.push_str("<main>");
    claims(&mut out, suite, results);
    papers_figures(&mut out, suite, results);
    for shown in &shown {
        experiment(&mut out, shown);
    }
    speed_ups(&mut out, &shown);
    ceilings(&mut out, &shown);
    graphs(&mut out, results);
    out.push_str(
        "</main><footer><p>Made by <code>warpath bench</code> from <code>results.jsonl</code>; every time is of this \
                  run, every answer was compared before its time counted.</p></footer>",
    );
    let _ = writeln!(out, "<script>{}</script></body></html>", include_str!("script.js"));
    out
}

fn head(out: &mut String, suite: &Suite, results: &Results, shown: &[Shown<'_>]) {
    let run = &results.run;
    let title = escape(&suite.title);
    let _ = write!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><link rel=\"icon\" href=\"data:,\"><title>{title}</title>\
         <style>{}</style></head><body><header><h1>{title}</h1><p>{}</p><dl class=\"facts\">",
        include_str!("style.css"),
        prose(suite.about.trim())
    );
    let extent = if run.quick { "quick: small graphs, few repeats" } else { "whole" };
    let scale = run.scale.map_or_else(String::new, |scale| format!(", scale {scale}"));
    let facts = [
        ("Source", suite.source.clone()),
        ("Machine", run.machine.text()),
        ("Program", run.machine.program()),
        ("Run", format!("{extent}{scale}, engine {}, {}", run.engine, results.begun())),
        ("Rows", tables::counts(results)),
    ];
    for (name, value) in facts {
        let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    }
    out.push_str("</dl><nav aria-label=\"Contents\"><ul>");
    if !suite.claims.is_empty() {
        out.push_str("<li><a href=\"#claims\">In short</a></li>");
    }
    if suite.figures.iter().any(|figure| !Drawing::of_figure(suite, figure, results).is_empty()) {
        out.push_str("<li><a href=\"#figures\">The paper’s figures</a></li>");
    }
    for shown in shown {
        let _ = write!(out, "<li><a href=\"#{}\">{}</a></li>", shown.experiment.id, escape(&shown.experiment.title));
    }
    out.push_str(
        "<li><a href=\"#speed-ups\">Speed-ups</a></li><li><a href=\"#ceilings\">Ceilings</a></li>\
         <li><a href=\"#graphs\">Graphs</a></li></ul></nav></header>",
    );
}

/// A cell with its column's name, which stands beside it where a row is a card.
fn labelled(out: &mut String, label: &str, class: &str, text: &str) {
    let _ = write!(out, "<td class=\"{class}\" data-label=\"{label}\">{text}</td>");
}

fn claims(out: &mut String, suite: &Suite, results: &Results) {
    let judged = claims::judged(suite, results);
    if judged.is_empty() {
        return;
    }
    const COLUMNS: [&str; 8] = ["claim", "paper", "verdict", "measured", "data", "kernel", "clock", "searches"];
    out.push_str(
        "<section id=\"claims\"><h2>In short</h2><p class=\"soft\">Ratios of medians by one clock, on the graphs where both \
         were measured: from the least to the greatest graph, and of single searches as <i>repeats</i>. A claim holds on a \
         graph whose ratio is in the claim’s band.</p><table class=\"cards\"><thead><tr>",
    );
    COLUMNS.iter().for_each(|name| out.push_str(&format!("<th>{name}</th>")));
    out.push_str("</tr></thead><tbody>");
    for one in &judged {
        let class = match one.verdict() {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::InPart(_, _) => "part",
            Verdict::Untested | Verdict::NotMeasured => "open",
        };
        let claim = format!("<a href=\"#{}\">{}</a>", one.claim.experiment, prose(&one.claim.text));
        let cells = [
            ("text", claim),
            ("says", prose(&one.says())),
            (class, escape(&one.verdict_text())),
            ("text", escape(&one.measured())),
            ("", escape(&one.data())),
            ("", one.kernel().to_owned()),
            ("", escape(&one.clock())),
            ("", escape(&one.searches())),
        ];
        out.push_str("<tr>");
        for (name, (class, text)) in COLUMNS.iter().zip(cells) {
            labelled(out, name, class, &text);
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table>");
    by_graph(out, results, &judged);
    out.push_str("</section>");
}

/// The ratios of all claims, graph by graph.
fn by_graph(out: &mut String, results: &Results, judged: &[Judged<'_>]) {
    const COLUMNS: [&str; 7] = ["compared", "graph", "ratio", "repeats", "clock", "searches", "in the band"];
    out.push_str(
        "<details id=\"claims-numbers\"><summary>The ratios by graph</summary><table class=\"cards\"><thead><tr>",
    );
    COLUMNS.iter().for_each(|name| out.push_str(&format!("<th>{name}</th>")));
    out.push_str("</tr></thead><tbody>");
    for one in judged {
        for ratio in &one.ratios {
            let graph = tables::graph_title(results, &ratio.graph);
            let is_in_band = one.is_in_band(ratio).map_or("", |is_in| if is_in { "yes" } else { "no" });
            let cells = [
                escape(&one.claim.compared()),
                format!("{}{}", escape(&graph), tables::mark(results.graph(&ratio.graph))),
                text::ratio(ratio.value),
                tables::range_of_ratio(ratio),
                escape(ratio.clock.text()),
                format!("{} by {}", ratio.searches.0, ratio.searches.1),
                is_in_band.to_owned(),
            ];
            out.push_str("<tr>");
            for (name, text) in COLUMNS.iter().zip(cells) {
                labelled(out, name, "", &text);
            }
            out.push_str("</tr>");
        }
    }
    out.push_str("</tbody></table></details>");
}

fn experiment(out: &mut String, shown: &Shown<'_>) {
    let experiment = shown.experiment;
    let id = &experiment.id;
    let _ = write!(out, "<section id=\"{id}\"><h2>{}</h2>", escape(&experiment.title));
    if let Some(note) = &experiment.note {
        let _ = write!(out, "<p>{}</p>", prose(note.trim()));
    }
    let axes = if experiment.chart == Chart::Lines { "both axes are" } else { "the axis is" };
    let cut_off = match drawing::limit(shown.results).filter(|_| shown.rows.iter().any(|row| drawing::is_cut_off(row)))
    {
        Some(limit) => format!("; hollow marks with an arrow were cut off after {} s", text::digits(limit)),
        None => String::new(),
    };
    let caption = format!(
        "<figcaption>Medians; bars reach from the least to the greatest search; {axes} logarithmic; hollow marks are the \
         paper’s{cut_off}. <a href=\"#{id}-numbers\">The numbers</a></figcaption>"
    );
    let something = shown.rows.iter().any(|row| row.median().is_some() || row.reported.is_some());
    if !something {
        out.push_str("<p class=\"soft\">Nothing was measured.</p>");
    } else if experiment.chart == Chart::Lines {
        figure(out, &Drawing::of_experiment(shown), &caption);
    } else {
        out.push_str("<figure><div class=\"panels\">");
        for graph in experiment.graphs.iter().filter(|graph| shown.rows.iter().any(|row| row.graph == **graph)) {
            let facts = shown.results.graph(graph);
            let title = facts.map_or(graph.as_str(), |facts| facts.title.as_str());
            let (title, mark) = (escape(title), tables::mark(facts));
            let _ = write!(out, "<div><h4>{title}{mark}</h4>{}</div>", panels::panel(shown, graph));
        }
        let _ = write!(out, "</div>{}{caption}</figure>", panels::variations(shown));
    }
    numbers(out, shown);
    out.push_str("</section>");
}

/// A drawing of lines or columns, with its legend beside it.
fn figure(out: &mut String, drawing: &Drawing<'_>, caption: &str) {
    let _ = write!(
        out,
        "<figure class=\"lines\"><div class=\"drawn\">{}{}</div>{caption}</figure>",
        drawing.svg(),
        drawing.legend()
    );
}

/// The paper's own figures, each with the lines that the paper draws.
fn papers_figures(out: &mut String, suite: &Suite, results: &Results) {
    let all = suite.figures.iter().map(|figure| (figure, Drawing::of_figure(suite, figure, results)));
    let drawn: Vec<_> = all.filter(|(_, drawing)| !drawing.is_empty()).collect();
    if drawn.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"figures\"><h2>The paper’s figures, measured here</h2><p class=\"soft\">Filled marks are medians of this \
         run, hollow ones what the paper’s text or tables give.</p>",
    );
    for (figure_of, drawing) in drawn {
        let _ = write!(out, "<h3>{}: {}</h3>", escape(&figure_of.name), escape(&figure_of.title));
        let note = figure_of.note.as_deref().map_or_else(String::new, |note| format!("{} ", prose(note.trim())));
        let mut experiments: Vec<&str> = Vec::new();
        for line in &figure_of.lines {
            if !experiments.contains(&line.experiment.as_str()) {
                experiments.push(&line.experiment);
            }
        }
        let links: Vec<String> = experiments.iter().map(|id| format!("<a href=\"#{id}-numbers\">{id}</a>")).collect();
        figure(out, &drawing, &format!("<figcaption>{note}The numbers: {}</figcaption>", links.join(", ")));
    }
    out.push_str("</section>");
}

/// A column header that sorts the table.
fn header(out: &mut String, name: &str, number: bool) {
    let class = if number { " class=\"number\"" } else { "" };
    let _ = write!(out, "<th{class}><button type=\"button\">{}</button></th>", escape(name));
}

/// A cell with a number, and the value that it is sorted by.
fn number(out: &mut String, value: Option<f64>, text: &str) {
    let value = value.map_or_else(String::new, |value| value.to_string());
    let _ = write!(out, "<td class=\"number\" data-value=\"{value}\">{}</td>", escape(text));
}

fn numbers(out: &mut String, shown: &Shown<'_>) {
    let experiment = shown.experiment;
    let open = if shown.rows.len() <= 12 { " open" } else { "" };
    let _ = write!(
        out,
        "<details id=\"{}-numbers\"{open}><summary>The numbers ({} rows)</summary><div class=\"scroll\"><table><thead><tr>",
        experiment.id,
        shown.rows.len()
    );
    let columns = Columns::of(shown);
    for name in ["graph", "series"] {
        header(out, name, false);
    }
    for name in ["median", "least", "greatest"] {
        header(out, name, true);
    }
    if columns.reported {
        header(out, "paper", true);
    }
    columns.counters.iter().for_each(|name| header(out, &name.replace('_', " "), true));
    if columns.speed_ups {
        header(out, "speed-up", true);
    }
    header(out, "prepare", true);
    if columns.download {
        header(out, "download", true);
    }
    header(out, "clock", false);
    out.push_str("<th>remark</th></tr></thead><tbody>");
    for row in &shown.rows {
        row_of_numbers(out, shown, row, &columns);
    }
    out.push_str("</tbody></table></div></details>");
}

/// The columns that are not empty.
struct Columns<'a> {
    reported: bool,
    counters: Vec<&'a str>,
    speed_ups: bool,
    download: bool,
}

impl<'a> Columns<'a> {
    fn of(shown: &Shown<'a>) -> Self {
        let some = |has: &dyn Fn(&Row) -> bool| shown.rows.iter().any(|row| has(row));
        let counted = |name: &&str| some(&|row| !tables::counter(row, name).is_empty());
        Columns {
            reported: some(&|row| row.reported.is_some()),
            counters: shown.experiment.counters.iter().map(String::as_str).filter(counted).collect(),
            speed_ups: some(&|row| tables::speed_up(shown.results, shown.experiment, row).is_some()),
            download: some(&|row| row.seconds.as_ref().is_some_and(|times| times.download > 0.0)),
        }
    }
}

fn row_of_numbers(out: &mut String, shown: &Shown<'_>, row: &Row, columns: &Columns<'_>) {
    let wrong = if row.status == Status::Wrong { " class=\"wrong\"" } else { "" };
    let facts = shown.results.graph(&row.graph);
    let title = facts.map_or(row.graph.as_str(), |facts| facts.title.as_str());
    let _ = write!(
        out,
        "<tr{wrong}><td class=\"graph\"><a href=\"#graph-{}\">{}</a>{}</td><td class=\"text\">{}</td>",
        row.graph,
        escape(title),
        tables::mark(facts),
        escape(&row.series)
    );
    match (row.median(), &row.seconds) {
        (Some(median), Some(times)) => {
            number(out, Some(median), &text::seconds(median));
            number(out, Some(times.solve.least), &text::seconds(times.solve.least));
            number(out, Some(times.solve.greatest), &text::seconds(times.solve.greatest));
        }
        _ => {
            number(out, None, row.status.text());
            number(out, None, "");
            number(out, None, "");
        }
    }
    if columns.reported {
        number(out, row.reported, &row.reported.map_or_else(String::new, text::seconds));
    }
    for name in &columns.counters {
        let value = row.counters.get(*name).map(|value| *value as f64);
        number(out, value, &tables::counter(row, name));
    }
    if columns.speed_ups {
        let speed_up = tables::speed_up(shown.results, shown.experiment, row);
        number(out, speed_up, &speed_up.map_or_else(String::new, text::ratio));
    }
    let times = row.seconds.as_ref().filter(|_| row.status == Status::Measured);
    let mut time = |value: Option<f64>| {
        let value = value.filter(|value| *value > 0.0);
        number(out, value, &value.map_or_else(String::new, text::seconds));
    };
    time(times.map(|times| times.prepare));
    if columns.download {
        time(times.map(|times| times.download));
    }
    let clock = times.map_or("", |times| tables::clock(times.clock));
    let _ = write!(out, "<td>{clock}</td><td class=\"remark\">{}</td></tr>", prose(&tables::remark(row)));
}

fn speed_ups(out: &mut String, shown: &[Shown<'_>]) {
    out.push_str(
        "<section id=\"speed-ups\"><h2>Speed-ups</h2><p class=\"soft\">Ratios of medians on the same graph, by one clock: \
         geometric means over the graphs that all of a group of series have, and from the least to the greatest of these. A \
         series without any of these graphs is left out, and of variations the fastest counts.</p><div class=\"panels\">",
    );
    let mut some = false;
    for shown in shown {
        for speed_ups in panels::speed_ups(shown) {
            some = true;
            let id = &shown.experiment.id;
            let graphs =
                if speed_ups.graphs == 1 { "one graph".to_owned() } else { format!("{} graphs", speed_ups.graphs) };
            let _ = write!(
                out,
                "<div><h4>{}</h4><p class=\"soft\">{}, on {graphs}. <a href=\"#{id}-numbers\">The numbers</a></p>\
                 <figure>{}</figure></div>",
                escape(&shown.experiment.title),
                escape(&speed_ups.headline),
                panels::ratio_panel(shown, &speed_ups)
            );
        }
    }
    out.push_str("</div>");
    if !some {
        out.push_str("<p>There is nothing to compare with.</p>");
    }
    out.push_str("</section>");
}

fn ceilings(out: &mut String, shown: &[Shown<'_>]) {
    out.push_str(
        "<section id=\"ceilings\"><h2>Achieved against the ceiling</h2><p class=\"soft\">The fastest row of each engine: arcs of \
         the graph, minima of sums or pairs of bits by the time, as a share of what the chip can do at best. A search that \
         leaves arcs out can be beyond it; one with more levels than work to fill the chip stays far below.</p>\
         <div class=\"panels\">",
    );
    let mut sources: Vec<&str> = Vec::new();
    for shown in shown {
        let achieved = rates::achieved(shown);
        if achieved.is_empty() {
            continue;
        }
        for found in &achieved {
            if !sources.contains(&found.ceiling.source.as_str()) {
                sources.push(&found.ceiling.source);
            }
        }
        let _ = write!(
            out,
            "<div><h4>{}</h4><figure>{}<figcaption><a href=\"#{}-numbers\">The numbers</a></figcaption></figure></div>",
            escape(&shown.experiment.title),
            rates::ceiling_panel(shown, &achieved),
            shown.experiment.id
        );
    }
    out.push_str("</div>");
    if sources.is_empty() {
        out.push_str("<p>No ceiling is known for what was measured.</p>");
    }
    for source in sources {
        let _ = write!(out, "<p class=\"soft\">Ceiling: {}.</p>", prose(source));
    }
    out.push_str("</section>");
}

fn graphs(out: &mut String, results: &Results) {
    out.push_str(
        "<section id=\"graphs\"><h2>Graphs</h2><p class=\"soft\">† stands in for the graph that the paper used.</p>",
    );
    for graph in &results.graphs {
        graph_section(out, graph);
    }
    out.push_str("</section>");
}

fn graph_section(out: &mut String, graph: &GraphFacts) {
    let mark = tables::mark(Some(graph));
    let _ = write!(out, "<section id=\"graph-{}\"><h3>{}{mark}</h3>", graph.id, escape(&graph.title));
    let mut facts = vec![format!(
        "{} vertices, {} arcs, {}, {} weights, degree {} to {}, {} on average; {} components, {} vertices in the largest",
        text::grouped(graph.vertices),
        text::grouped(graph.arcs),
        if graph.directed { "directed" } else { "undirected" },
        graph.weights_text(),
        text::grouped(graph.degree.0),
        text::grouped(graph.degree.2),
        text::digits(graph.degree.1),
        text::grouped(graph.components.0),
        text::grouped(graph.components.1)
    )];
    if let Some((count, largest)) = graph.strong_components {
        let (count, largest) = (text::grouped(count), text::grouped(largest));
        facts.push(format!("{count} strongly connected components, {largest} vertices in the largest"));
    }
    facts.push(format!("made of {} in {}", graph.origin, text::seconds(graph.load_seconds)));
    facts.extend(graph.stand_in.clone());
    let _ = write!(out, "<p class=\"soft\">{}</p><div class=\"panels\">", prose(&facts.join("; ")));
    let _ = write!(out, "<figure>{}<figcaption>Vertices by degree</figcaption></figure>", rates::degrees(graph));
    if !graph.frontiers.is_empty() {
        let _ = write!(
            out,
            "<figure>{}<figcaption>Vertices by level of a breadth-first search, {} levels</figcaption></figure>",
            rates::frontiers(graph),
            graph.frontiers.len()
        );
    }
    out.push_str("</div></section>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{empty_run, row};

    fn results(suite: &str, experiment: &str, graph: &str, series: &[&str]) -> (Suite, Results) {
        let suite = Suite::named(suite).unwrap();
        let mut results = empty_run(&suite.name);
        for (index, series) in series.iter().enumerate() {
            let samples = [1e-3 * (index + 1) as f64, 2e-3 * (index + 1) as f64];
            results.add_row(Row { experiment: experiment.into(), ..row(graph, series, &samples) });
        }
        (suite, results)
    }

    #[test]
    fn a_page_stands_alone() {
        let (suite, results) = results("singh", "fig8", "n10", &["CPU, sequential queue", "GPU, one thread a vertex"]);
        let page = html(&suite, &results);
        for outside in ["src=", "@import", "url(", "http:", "https:"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("href=\"#fig8-numbers\"") && page.contains("id=\"fig8-numbers\""));
        assert!(page.contains("0.50×"), "a speed-up");
        let targets = page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap());
        for target in targets.filter(|target| !target.starts_with("graph-")) {
            assert!(page.contains(&format!("id=\"{target}\"")), "{target} leads nowhere");
        }
    }

    #[test]
    fn names_from_outside_are_escaped() {
        let (suite, mut results) = results("singh", "fig8", "n10", &["CPU, sequential queue"]);
        results.rows[0].detail = Some("<script>alert(1)</script>".into());
        results.run.machine.processor = "a & b <i>".into();
        let page = html(&suite, &results);
        assert!(!page.contains("<script>alert") && page.contains("a &amp; b &lt;i&gt;"));
    }

    #[test]
    fn backticks_enclose_code() {
        let (suite, mut results) = results("singh", "fig8", "n10", &["CPU, sequential queue"]);
        results.rows[0].detail = Some("`a<b` and ``, but 5` is a length".into());
        let page = html(&suite, &results);
        assert!(page.contains("<code>a&lt;b</code> and <code></code>, but 5` is a length"), "{page}");
        // No text of a suite shows a backtick.
        for name in Suite::names() {
            let suite = Suite::named(name).unwrap();
            let page = html(&suite, &empty_run(name));
            let (pictures, _) = page.split_once("<script>").unwrap();
            assert!(!pictures.contains('`'), "{name}");
        }
    }

    #[test]
    fn a_run_without_rows_is_a_page_too() {
        for name in Suite::names() {
            let suite = Suite::named(name).unwrap();
            let page = html(&suite, &empty_run(name));
            let (pictures, _) = page.split_once("<script>").unwrap();
            assert!(page.ends_with("</html>\n") && !pictures.contains("NaN") && !pictures.contains("inf "), "{name}");
        }
    }
}
