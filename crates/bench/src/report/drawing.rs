//! Times drawn over sizes as lines, or by graph as columns: an experiment with all its series, or a figure of the paper with
//! the lines that the paper draws.

use super::shown::Shown;
use super::svg::{Axis, COLORS, Svg, escape, tick_of_time};
use crate::results::{Results, Row, Status};
use crate::suite::{AlgorithmEntry, Chart, Figure, Scale, Suite};
use crate::{tables, text};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;

/// A line, or the columns of one colour.
struct Line<'a> {
    name: String,
    /// What the paper's times are of.
    papers_name: String,
    rows: Vec<&'a Row>,
}

/// Lines or columns with what stands on their axes.
pub(super) struct Drawing<'a> {
    title: String,
    axis: String,
    across: Scale,
    up: Scale,
    chart: Chart,
    lines: Vec<Line<'a>>,
    results: &'a Results,
}

/// The limit of a search, in seconds.
pub(super) fn limit(results: &Results) -> Option<f64> {
    results.run.limits.map(|limits| limits.timeout)
}

/// Whether a search of this row was cut off at the limit. Where the reference or preparing took too long, none was.
pub(super) fn is_cut_off(row: &Row) -> bool {
    let was_begun = |detail: &str| !["the reference", "preparing", "skipped"].iter().any(|why| detail.starts_with(why));
    row.status == Status::Timeout && row.detail.as_deref().is_none_or(was_begun)
}

/// What the paper's times beside a series are of.
fn papers_name(algorithms: &[AlgorithmEntry], series: &str) -> String {
    match algorithms.iter().find(|entry| entry.has_series(series)).and_then(|entry| entry.reported_as.clone()) {
        Some(name) => name,
        None => format!("{series} (the paper's)"),
    }
}

impl<'a> Drawing<'a> {
    /// All series of an experiment.
    pub(super) fn of_experiment(shown: &Shown<'a>) -> Self {
        let of_series = |series: &&str| Line {
            name: (*series).to_owned(),
            papers_name: papers_name(&shown.experiment.algorithms, series),
            rows: shown.rows.iter().filter(|row| row.series == **series).copied().collect(),
        };
        Drawing {
            title: shown.experiment.title.clone(),
            axis: shown.experiment.axis.clone().unwrap_or_else(|| "vertices".to_owned()),
            across: Scale::Log,
            up: Scale::Log,
            chart: Chart::Lines,
            lines: shown.series.iter().map(of_series).collect(),
            results: shown.results,
        }
    }

    /// The lines of a paper's figure.
    pub(super) fn of_figure(suite: &Suite, figure: &Figure, results: &'a Results) -> Self {
        let lines = figure.lines.iter().map(|line| {
            let experiment = suite.experiments.iter().find(|experiment| experiment.id == line.experiment);
            let algorithms = experiment.map_or(&[][..], |experiment| &experiment.algorithms);
            let is_wanted = |row: &&Row| row.experiment == line.experiment && row.series == line.series;
            let own_name = line.name.clone();
            Line {
                papers_name: match &own_name {
                    Some(name) => format!("{name} (the paper's)"),
                    None => papers_name(algorithms, &line.series),
                },
                name: own_name.unwrap_or_else(|| line.series.clone()),
                rows: results.rows.iter().filter(is_wanted).collect(),
            }
        });
        Drawing {
            title: format!("{}: {}", figure.name, figure.title),
            axis: figure.axis.clone().unwrap_or_else(|| "vertices".to_owned()),
            across: figure.across,
            up: figure.up,
            chart: figure.chart,
            lines: lines.collect(),
            results,
        }
    }

    /// Whether nothing was measured or reported.
    pub(super) fn is_empty(&self) -> bool {
        self.rows().all(|row| row.median().is_none() && row.reported.is_none())
    }

    fn rows(&self) -> impl Iterator<Item = &'a Row> + '_ {
        self.lines.iter().flat_map(|line| line.rows.iter().copied())
    }

    fn has_cut_off(&self) -> Option<f64> {
        limit(self.results).filter(|_| self.rows().any(is_cut_off))
    }

    fn graph_title(&self, row: &Row) -> String {
        tables::graph_title(self.results, &row.graph)
    }

    /// A mark and a name for each line, and the meaning of hollow marks and arrows.
    pub(super) fn legend(&self) -> String {
        let mut out = String::from("<ul class=\"legend\">");
        let mut entry = |text: &str, draw: &dyn Fn(&mut Svg)| {
            let mut svg = Svg::new(14.0, 14.0, "");
            draw(&mut svg);
            let picture = svg.finish().replace("role=\"img\" aria-label=\"\"", "aria-hidden=\"true\"");
            out += &format!("<li>{picture} <span>{}</span></li>", escape(text));
        };
        for (number, line) in self.lines.iter().enumerate() {
            if line.rows.iter().any(|row| row.median().is_some() || is_cut_off(row)) {
                entry(&line.name, &|svg| svg.mark(number, false, (7.0, 7.0), ""));
            }
            if line.rows.iter().any(|row| row.reported.is_some()) {
                entry(&line.papers_name, &|svg| svg.mark(number, true, (7.0, 7.0), ""));
            }
        }
        if let Some(limit) = self.has_cut_off() {
            let text = format!("cut off after {} s", text::digits(limit));
            entry(&text, &|svg| svg.cut_off(6, (4.0, 10.0), (4.0, -7.0), ""));
        }
        out + "</ul>"
    }

    /// The picture.
    pub(super) fn svg(&self) -> String {
        let (left, right, top, bottom) = (76.0, WIDTH - 14.0, 34.0, HEIGHT - 48.0);
        let times = self.rows().flat_map(|row| {
            let ends = row.times().map(|times| [times.solve.least, times.solve.greatest]);
            ends.into_iter().flatten().chain(row.reported)
        });
        let y = Axis::of(self.up, times.chain(self.has_cut_off()), bottom, top);
        let mut svg = Svg::new(WIDTH, HEIGHT, &self.title);
        for tick in y.ticks() {
            svg.line("grid", (left, y.at(tick)), (right, y.at(tick)));
            svg.text("tick", (left - 6.0, y.at(tick) + 4.0), "end", tick_of_time(tick));
        }
        let scale = if self.up == Scale::Log { ", logarithmic" } else { "" };
        svg.text("label", (4.0, 14.0), "start", format!("time of a search{scale}"));
        svg.line("axis", (left, bottom), (right, bottom));
        svg.line("axis", (left, top), (left, bottom));
        if self.chart == Chart::Lines {
            let at = |row: &Row| self.results.graph(&row.graph).map(|facts| facts.at);
            let x = Axis::of(self.across, self.rows().filter_map(at), left, right);
            svg.ticks_below(&x, (top, bottom), text::scaled);
            for (number, line) in self.lines.iter().enumerate() {
                self.draw_line(&mut svg, number, line, &x, &y);
            }
        } else {
            self.draw_columns(&mut svg, (left, right, bottom), &y);
        }
        let scale = if self.chart == Chart::Lines && self.across == Scale::Log { ", logarithmic" } else { "" };
        svg.text("label", (0.5 * (left + right), HEIGHT - 8.0), "middle", format!("{}{scale}", self.axis));
        svg.finish()
    }

    fn draw_line(&self, svg: &mut Svg, number: usize, line: &Line<'_>, x: &Axis, y: &Axis) {
        let at = |row: &Row| self.results.graph(&row.graph).map(|facts| facts.at);
        let color = number % COLORS;
        let mut rows: Vec<(f64, &Row)> = line.rows.iter().filter_map(|row| Some((at(row)?, *row))).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let points = |of: &dyn Fn(&Row) -> Option<f64>| -> Vec<(f64, f64)> {
            rows.iter().filter_map(|(size, row)| Some((x.at(*size), y.at(of(row)?)))).collect()
        };
        svg.path(&format!("line paper s{color}"), &points(&|row| row.reported));
        svg.path(&format!("line s{color}"), &points(&Row::median));
        for (size, row) in rows {
            self.draw_row(svg, (number, line), row, x.at(size), y);
        }
    }

    /// The marks of a row at a place across.
    fn draw_row(&self, svg: &mut Svg, (number, line): (usize, &Line<'_>), row: &Row, across: f64, y: &Axis) {
        let color = number % COLORS;
        let graph = self.graph_title(row);
        if let Some(reported) = row.reported {
            let title = format!("{}, {graph}: {}", line.papers_name, text::seconds(reported));
            svg.mark(number, true, (across, y.at(reported)), &title);
        }
        if let Some((median, times)) = row.median().zip(row.times()) {
            let (least, greatest) = (y.at(times.solve.least), y.at(times.solve.greatest));
            svg.line(&format!("error s{color}"), (across, least), (across, greatest));
            for end in [least, greatest] {
                svg.line(&format!("error s{color}"), (across - 3.0, end), (across + 3.0, end));
            }
            let range = tables::range(times.solve.least, times.solve.greatest);
            let title = format!("{}, {graph}: {} ({range})", line.name, text::seconds(median));
            svg.mark(number, false, (across, y.at(median)), &title);
        } else if let Some(limit) = limit(self.results).filter(|_| is_cut_off(row)) {
            let title = format!("{}, {graph}: cut off after {} s", line.name, text::digits(limit));
            svg.cut_off(number, (across, y.at(limit)), (0.0, -14.0), &title);
        }
    }

    /// A group of columns for each graph, one of each line, from the lower end of the axis.
    fn draw_columns(&self, svg: &mut Svg, (left, right, bottom): (f64, f64, f64), y: &Axis) {
        let mut graphs: Vec<&str> = Vec::new();
        for facts in &self.results.graphs {
            if self.rows().any(|row| row.graph == facts.id) {
                graphs.push(&facts.id);
            }
        }
        let step = (right - left) / graphs.len().max(1) as f64;
        let width = 0.8 * step / self.lines.len().max(1) as f64;
        for (group, graph) in graphs.into_iter().enumerate() {
            let begin = left + step * (group as f64 + 0.1);
            let title = tables::graph_title(self.results, graph);
            // Titles begin with the paper's name of the graph, as in `Graph 2: human genes`.
            let first = title.split([':', ',']).next().unwrap_or_default();
            let letters = (step / 10.0) as usize;
            let name = if first.chars().count() > letters { graph } else { first };
            svg.text("tick", (begin + 0.4 * step, bottom + 18.0), "middle", name);
            for (number, line) in self.lines.iter().enumerate() {
                let Some(row) = line.rows.iter().find(|row| row.graph == graph) else { continue };
                let across = begin + width * (number as f64 + 0.5);
                if let Some(median) = row.median() {
                    let high = y.at(median);
                    let size = (0.86 * width, (bottom - high).max(0.5));
                    svg.rect(&format!("bar faint s{}", number % COLORS), (across - 0.43 * width, high), size, "");
                }
                self.draw_row(svg, (number, line), row, across, y);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{empty_run, graph, row};

    fn results() -> (Suite, Results) {
        let suite = Suite::named("katz-kider").unwrap();
        let mut results = empty_run("katz-kider");
        let of = |id: &str, series: &str| Row { experiment: "table1".into(), ..row(id, series, &[1e-3, 2e-3]) };
        for id in ["n64", "n128"] {
            results.add_graph(graph(id, 64, 100));
            let cpu = of(id, "CPU, cache-efficient, one thread");
            results.add_row(Row { reported: Some(3e-3), ..cpu });
        }
        let late = of("n128", "CPU, plain, one thread");
        results.add_row(Row { status: Status::Timeout, seconds: None, ..late });
        (suite, results)
    }

    #[test]
    fn rows_that_were_cut_off_are_marked_at_the_limit() {
        let (suite, mut results) = results();
        let experiment = suite.experiments.iter().find(|experiment| experiment.id == "table1").unwrap();
        let drawn = |results: &Results| {
            let drawing = Drawing::of_experiment(&Shown::new(experiment, results));
            (drawing.svg(), drawing.legend())
        };
        let (svg, legend) = drawn(&results);
        assert!(svg.contains("CPU, plain, one thread, n128: cut off after 5.00 s"), "{svg}");
        assert!(legend.contains("cut off after 5.00 s"), "{legend}");
        for not_begun in [
            "the reference took too long, so that no answer could be compared",
            "preparing took more than 5 s",
            "skipped: preparing this graph took more than 5 s in an earlier case",
        ] {
            results.rows[2].detail = Some(not_begun.into());
            let (svg, legend) = drawn(&results);
            assert!(!svg.contains("cut off") && !legend.contains("cut off"), "{svg}");
        }
    }

    #[test]
    fn the_papers_times_are_called_what_they_are_of() {
        let (suite, results) = results();
        let experiment = suite.experiments.iter().find(|experiment| experiment.id == "table1").unwrap();
        let legend = Drawing::of_experiment(&Shown::new(experiment, &results)).legend();
        assert!(legend.contains("Han et al.'s best tuned code (table 1)"), "{legend}");
    }

    #[test]
    fn every_figure_of_every_suite_is_drawn() {
        let mut drawn = 0;
        for suite in Suite::names().map(|name| Suite::named(name).unwrap()) {
            let mut results = empty_run(&suite.name);
            for case in suite.cases(false) {
                results.add_graph(graph(&case.graph.id, 64, 100));
                let experiment = case.experiment.id.clone();
                results.add_row(Row { experiment, ..row(&case.graph.id, &case.series, &[1e-3, 2e-3]) });
            }
            for figure in &suite.figures {
                let drawing = Drawing::of_figure(&suite, figure, &results);
                assert!(drawing.lines.iter().all(|line| !line.rows.is_empty()), "{}, {}", suite.name, figure.name);
                let svg = drawing.svg();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}, {}", suite.name, figure.name);
                assert!(drawing.legend().contains(&escape(&drawing.lines[0].name)));
                drawn += 1;
            }
        }
        assert!(drawn >= 12, "{drawn}");
    }
}
