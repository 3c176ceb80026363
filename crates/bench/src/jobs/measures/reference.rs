//! The scores that all programs are held against: Warpath's on the CPU, checked by searches whose certificates hold.
//!
//! Every measure by distances is computed again for some vertices, each from one search. Those towards a vertex take a search
//! in the reversed graph. Betweenness has no such check of a single vertex. Without weights its sum has one: a shortest path of
//! `d` steps leads through `d - 1` vertices, so all scores add up to the distances between all pairs, less one for each pair. By
//! weights it is checked by the other programs that find the same.

use std::collections::HashMap;
use std::sync::Arc;

use warpath::graph::WeightKind;
use warpath::problems::DistanceSum;
use warpath::{Apsp, Bfs, Control, Engine, Error, Graph, Result, ShortestPathTree, Solver, Sssp, VertexId};

use super::scores::compare;
use super::{Wanted, engines};
use crate::digest::DigestSink;
use crate::suite::Job;

/// How many vertices, spread over all, have their measure computed from a search.
const SEARCHED: usize = 8;

/// The expected scores on one graph, by experiment.
#[derive(Debug, Default)]
pub(crate) struct References(HashMap<String, Vec<f64>>);

impl References {
    /// The expected scores of an experiment, found and checked when they are first asked for.
    ///
    /// # Errors
    ///
    /// [`Error::NotVerified`] if Warpath's own scores on the CPU are wrong.
    pub(super) fn of(
        &mut self,
        experiment: &str,
        graph: &Arc<Graph>,
        wanted: &Wanted,
        control: &Control,
    ) -> Result<&[f64]> {
        if !self.0.contains_key(experiment) {
            let solver = on_the_cpu(graph, control)?;
            let scores = engines::find(&solver, wanted, None)?.scores;
            let checked = match wanted.measure {
                Job::Betweenness | Job::BetweennessFrom => check_sum(&solver, wanted, &scores),
                _ => check_some(graph, wanted, &scores, control),
            };
            checked.map_err(|error| match error {
                Error::NotVerified(text) => Error::NotVerified(format!("the scores to compare with: {text}")),
                error => error,
            })?;
            self.0.insert(experiment.to_owned(), scores);
        }
        Ok(&self.0[experiment])
    }
}

fn on_the_cpu(graph: &Arc<Graph>, control: &Control) -> Result<Solver> {
    Solver::builder(graph.clone()).engine(Engine::Cpu).control(control.clone()).open()
}

/// Compares the scores of some vertices with what one search of each says.
pub(super) fn check_some(graph: &Arc<Graph>, wanted: &Wanted, scores: &[f64], control: &Control) -> Result<()> {
    let is_towards = matches!(wanted.measure, Job::Closeness | Job::Harmonic);
    let graph = if is_towards { Arc::new((**graph).clone().reversed()?) } else { graph.clone() };
    let solver = on_the_cpu(&graph, control)?;
    let search = |vertex: VertexId| -> Result<ShortestPathTree> {
        let tree = match graph.weight_kind() {
            WeightKind::Unit => solver.solve(Bfs::from(vertex).distances_only())?,
            _ => solver.solve(Sssp::from(vertex).distances_only().algorithm("delta-stepping"))?,
        };
        tree.verify(&graph)?;
        Ok(tree)
    };
    let count = scores.len();
    let spread = SEARCHED.min(count);
    for vertex in (0..spread).map(|place| place * count / spread) {
        let distances = search(vertex as VertexId)?;
        let distances = distances.distances();
        let others = (0..count).filter(|&other| other != vertex).filter_map(|other| distances.get(other));
        let others: Vec<f64> = others.map(|distance| distance.to_f64()).collect();
        let expected = score_of(wanted, &others, count);
        compare(&[expected], &scores[vertex..=vertex]).map_err(|_| {
            Error::NotVerified(format!("vertex {vertex} has {}, a search says {expected}", scores[vertex]))
        })?;
    }
    Ok(())
}

/// The measure of a vertex, in a graph of so many vertices, by its distances from or to the others that it is joined with.
fn score_of(wanted: &Wanted, others: &[f64], vertices: usize) -> f64 {
    let (joined, all) = (others.len() as f64, vertices as f64 - 1.0);
    match wanted.measure {
        Job::Closeness if others.is_empty() => 0.0,
        Job::Closeness => joined / others.iter().sum::<f64>() * (joined / all),
        Job::Harmonic => others.iter().map(|distance| 1.0 / distance).sum(),
        Job::Neighborhoods => {
            1.0 + others.iter().filter(|distance| **distance <= f64::from(wanted.steps)).count() as f64
        }
        _ => others.iter().copied().fold(0.0, f64::max),
    }
}

/// Compares the sum of all betweenness with that of the distances between all pairs that count, each of which has a certificate.
pub(super) fn check_sum(solver: &Solver, wanted: &Wanted, scores: &[f64]) -> Result<()> {
    let graph = solver.graph();
    if graph.weight_kind() != WeightKind::Unit {
        return Ok(());
    }
    let (request, sources) = match wanted.measure {
        Job::BetweennessFrom => (Apsp::all().from(&wanted.sources[..]), wanted.sources.len()),
        _ => (Apsp::all(), graph.vertices()),
    };
    let rows = solver.solve(request.verified().into_sink(&mut DigestSink::default()))?;
    let DistanceSum::Integer(distances) = rows.distance_sum() else { return Ok(()) };
    let pairs = rows.finite_pairs() - sources as u64;
    let both_ways = if graph.is_directed() { 1.0 } else { 0.5 };
    let expected = (distances - i128::from(pairs)) as f64 * both_ways;
    compare(&[expected], &[scores.iter().sum()])
        .map_err(|_| Error::NotVerified(format!("all betweenness is {}, not {expected}", scores.iter().sum::<f64>())))
}
