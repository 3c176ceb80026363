//! Jobs: what an experiment asks of a graph where it is not one search from each source.

use serde::{Deserialize, Serialize};

/// What is asked of a program that may prepare a graph for many questions.
///
/// [`Job::Build`] and [`Job::Customize`] are one question each. The others are many, and a row has the time of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// What a program makes once for a graph, before any question.
    Build,
    /// What it makes again of the graph when all weights change.
    Customize,
    /// A question is a source: its distances to all vertices.
    Rows,
    /// A question is a source: its distances to each of the targets.
    Table,
    /// A question is a source and a target: their distance.
    Pairs,
    /// A question is a source and a target: a shortest path between them.
    Paths,
}

impl Job {
    /// Its name in suites and results.
    pub fn name(self) -> &'static str {
        match self {
            Job::Build => "build",
            Job::Customize => "customize",
            Job::Rows => "rows",
            Job::Table => "table",
            Job::Pairs => "pairs",
            Job::Paths => "paths",
        }
    }

    /// Whether it prepares a graph, and is one question.
    pub(crate) fn prepares(self) -> bool {
        matches!(self, Job::Build | Job::Customize)
    }
}
