//! Jobs: what an experiment asks of a graph where it is not one search from each source.

use serde::{Deserialize, Serialize};

/// What is asked of a program that may prepare a graph for many questions.
///
/// [`Job::Build`] and [`Job::Customize`] are one question each, and so is a measure of all vertices: [`Job::Closeness`] and all after it.
/// The others are many questions, and a row has the time of one of them.
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
    /// The closeness of every vertex, after Wasserman and Faust, by the distances towards it.
    Closeness,
    /// For every vertex the sum of the inverse distances towards it.
    Harmonic,
    /// The greatest distance from every vertex.
    Eccentricity,
    /// The betweenness of every vertex, by the paths between all pairs.
    Betweenness,
    /// The betweenness of every vertex, by the paths from the sources of the experiment.
    BetweennessFrom,
    /// How many vertices every vertex reaches within some steps.
    Neighborhoods,
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
            Job::Closeness => "closeness",
            Job::Harmonic => "harmonic",
            Job::Eccentricity => "eccentricity",
            Job::Betweenness => "betweenness",
            Job::BetweennessFrom => "betweenness-from",
            Job::Neighborhoods => "neighborhoods",
        }
    }

    /// Whether its answer is a score for each vertex.
    pub(crate) fn is_measure(self) -> bool {
        match self {
            Job::Build | Job::Customize | Job::Rows | Job::Table | Job::Pairs | Job::Paths => false,
            Job::Closeness
            | Job::Harmonic
            | Job::Eccentricity
            | Job::Betweenness
            | Job::BetweennessFrom
            | Job::Neighborhoods => true,
        }
    }

    /// Whether it prepares a graph, and is one question.
    pub(crate) fn prepares(self) -> bool {
        matches!(self, Job::Build | Job::Customize)
    }
}
