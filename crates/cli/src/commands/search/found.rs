//! What a search found, in JSON and in tables.

use serde::Serialize;
use warpath::problems::PathCounts;
use warpath::{Graph, ShortestPathTree, VertexId};

use crate::answer::{Answer, Counters, PeakBytes, Times};
use crate::print::{self, Table};

/// The answer of a search from one source, or from the nearest of several.
#[derive(Debug, Serialize)]
pub(super) struct OneSearch {
    #[serde(flatten)]
    pub(super) answer: Answer,
    /// Whether arcs were followed backwards.
    pub(super) reverse: bool,
    #[serde(flatten)]
    pub(super) result: Found,
    pub(super) seconds: Times,
    pub(super) peak_bytes: PeakBytes,
}

/// The answers of searches from a list of sources, one for each.
#[derive(Debug, Serialize)]
pub(super) struct ManySearches {
    #[serde(flatten)]
    pub(super) answer: Answer,
    pub(super) reverse: bool,
    pub(super) results: Vec<EachSearch>,
    pub(super) seconds: Times,
    pub(super) peak_bytes: PeakBytes,
}

/// One of these answers.
#[derive(Debug, Serialize)]
pub(super) struct EachSearch {
    source: String,
    #[serde(flatten)]
    found: Measures,
}

impl From<Found> for EachSearch {
    fn from(mut found: Found) -> Self {
        EachSearch { source: found.sources.pop().unwrap_or_default(), found: found.measures }
    }
}

/// What one search found.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    sources: Vec<String>,
    #[serde(flatten)]
    measures: Measures,
}

/// What one search found, whatever its sources.
#[derive(Debug, Serialize)]
struct Measures {
    reached: u64,
    max_distance: Option<serde_json::Value>,
    distance_sum: serde_json::Value,
    /// The distances of the targets, in the order in which they were given; absent without targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<Target>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_counts: Option<CountedPaths>,
    verified: Option<bool>,
    /// The order in which vertices were expanded, if the algorithm was asked to record it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    order: Vec<String>,
    /// The counters of one search among many; a single search has them in its answer.
    #[serde(flatten)]
    counters: Counters,
}

/// What was found about a target.
#[derive(Debug, Serialize)]
struct Target {
    vertex: String,
    /// `null` if it can't be reached.
    distance: Option<serde_json::Value>,
    /// The source that is nearest to it, if there are several in one search and one reaches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// How many shortest paths lead to it, if they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<u64>,
}

/// What is said of the numbers of shortest paths.
#[derive(Debug, Serialize)]
struct CountedPaths {
    greatest: u64,
    /// How many vertices have 2^64 - 1 paths or more; `greatest` is then 2^64 - 1.
    saturated_vertices: u64,
}

impl From<&PathCounts> for CountedPaths {
    fn from(counts: &PathCounts) -> Self {
        CountedPaths { greatest: counts.greatest(), saturated_vertices: counts.saturated_vertices() }
    }
}

impl Found {
    /// What a tree holds; `nearest` has the nearest source of every vertex, if it is wanted.
    pub(super) fn of(
        graph: &Graph,
        tree: &ShortestPathTree,
        targets: &[VertexId],
        nearest: Option<&[VertexId]>,
        counters: Counters,
    ) -> Self {
        let name = |vertex: VertexId| graph.name(vertex).into_owned();
        let target = |&vertex: &VertexId| {
            let distance = tree.distance(vertex);
            Target {
                vertex: name(vertex),
                distance: distance.map(print::number),
                source: nearest.filter(|_| distance.is_some()).map(|nearest| name(nearest[vertex as usize])),
                paths: tree.path_counts().map(|counts| counts.counts[vertex as usize]),
            }
        };
        let measures = Measures {
            reached: tree.reached(),
            max_distance: tree.max_distance().map(print::number),
            distance_sum: print::sum(tree.distance_sum()),
            targets: targets.iter().map(target).collect(),
            path_counts: tree.path_counts().map(Into::into),
            verified: None,
            order: tree.report().order.iter().map(|&vertex| name(vertex)).collect(),
            counters,
        };
        Found { sources: tree.sources().iter().map(|&source| name(source)).collect(), measures }
    }

    /// What the ranks of an MPI run found, and the targets with their distances and nearest sources.
    #[cfg(feature = "mpi")]
    pub(super) fn of_ranks(
        sources: Vec<String>,
        found: &warpath_mpi::Found,
        targets: impl Iterator<Item = (String, (Option<warpath::Distance>, Option<String>))>,
    ) -> Self {
        let target = |(vertex, (distance, source)): (String, (Option<warpath::Distance>, Option<String>))| Target {
            vertex,
            distance: distance.map(print::number),
            source,
            paths: None,
        };
        let measures = Measures {
            reached: found.reached,
            max_distance: found.max_distance.map(print::number),
            distance_sum: print::sum(found.distance_sum),
            targets: targets.map(target).collect(),
            path_counts: None,
            verified: found.verified.then_some(true),
            order: Vec::new(),
            counters: Counters::default(),
        };
        Found { sources, measures }
    }

    /// Notes that the certificate was checked.
    pub(super) fn is_verified(&mut self) {
        self.measures.verified = Some(true);
    }

    /// The rows of a table for people. Sources and targets change places where arcs were followed backwards.
    pub(super) fn rows(&self, table: &mut Table, vertices: usize, reverse: bool) {
        const SHOWN: usize = 20;
        let found = &self.measures;
        let (from, to) = if reverse { ("to", "from") } else { ("from", "to") };
        let (reached, all) = (print::grouped(found.reached.into()), print::grouped(vertices as u128));
        let mut text = format!("reached {reached} of {all}");
        if let Some(farthest) = &found.max_distance {
            text += &format!(", farthest {}, sum {}", print::digits(farthest), print::digits(&found.distance_sum));
        }
        text += if found.verified == Some(true) { ", verified" } else { "" };
        table.row(format!("{from} {}", self.sources_named()), text);
        for target in found.targets.iter().take(SHOWN) {
            let mut text = target.distance.as_ref().map_or("not reachable".to_owned(), print::digits);
            text += &target.source.as_ref().map_or(String::new(), |source| format!(", {from} {source}"));
            table.row(format!("{to} {}", target.vertex), text);
        }
        if let Some(more) = found.targets.len().checked_sub(SHOWN).filter(|&more| more > 0) {
            table.row("", format!("and {}", print::count(more, "more target", "more targets")));
        }
        if let Some(counts) = &found.path_counts {
            let greatest = print::grouped(counts.greatest.into());
            table.row(
                "paths",
                match counts.saturated_vertices {
                    0 => format!("at most {greatest} shortest ones to a vertex"),
                    many => {
                        let vertices = print::count(many, "vertex", "vertices");
                        format!("{greatest} or more shortest ones to {vertices}: 64 bits hold no greater number")
                    }
                },
            );
        }
        if !found.order.is_empty() {
            let more = if found.order.len() > SHOWN { " ..." } else { "" };
            table.row("order", found.order[..found.order.len().min(SHOWN)].join(" ") + more);
        }
        found.counters.rows(table);
    }

    /// The first sources, by name.
    fn sources_named(&self) -> String {
        const SHOWN: usize = 3;
        match &self.sources[..] {
            [source] => source.clone(),
            sources => {
                let more = sources.len().saturating_sub(SHOWN);
                let more = if more > 0 { format!(" and {} more", print::grouped(more as u128)) } else { String::new() };
                format!("the nearest of {}{more}", sources[..sources.len().min(SHOWN)].join(", "))
            }
        }
    }
}
