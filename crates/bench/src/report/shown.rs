//! The rows of one experiment, as the report shows them.

use crate::results::{Results, Row};
use crate::suite::Experiment;
use crate::{tables, text};

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

    pub(super) fn number(&self, series: &str) -> usize {
        self.series.iter().position(|known| *known == series).unwrap_or(0)
    }

    pub(super) fn title(&self, graph: &'a str) -> &'a str {
        self.results.graph(graph).map_or(graph, |facts| facts.title.as_str())
    }

    /// The title of a graph.
    pub(super) fn title_of(&self, graph: &str) -> String {
        tables::graph_title(self.results, graph)
    }

    pub(super) fn describe(&self, row: &Row) -> String {
        let times = row.seconds.as_ref();
        let range = times.map_or_else(String::new, |times| tables::range(times.solve.least, times.solve.greatest));
        let median = row.median().map_or_else(String::new, text::seconds);
        format!("{}, {}: {median} ({range})", row.series, self.title(&row.graph))
    }
}
