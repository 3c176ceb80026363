//! Rust packages: petgraph, rustworkx-core, and `graph`.
//!
//! Each search is one call of the package's function if it has one. petgraph and rustworkx-core have no breadth-first
//! search that gives levels: theirs visit the vertices, and the adapter here records the levels. `graph` has
//! delta-stepping in 32-bit floats, which are exact up to 2^24; it is left out for larger distances. Its delta is the
//! best of six values for the first source, chosen outside the clock.
//!
//! A search here can't be stopped: one that took too long becomes a timeout when it ends.

use std::sync::atomic::Ordering;
use std::time::Instant;

use graph::prelude::{CsrLayout, DeltaSteppingConfig, DirectedCsrGraph, GraphBuilder, delta_stepping};
use petgraph::csr::Csr;
use rustworkx_core::traversal::BfsEvent;
use warpath::graph::Distances;
use warpath::problems::Problem;
use warpath::{Error, Graph, VertexId};

use super::{Answer, Peered};
use crate::digest::Digest;
use crate::measure::{References, Task, Watch};

/// A search from a vertex on a prepared graph.
type Search<'a> = Box<dyn FnMut(VertexId) -> Distances + 'a>;

const UNREACHED: u32 = u32::MAX;

pub(super) fn run(task: &Task<'_>, peer: &str, references: &mut References, watch: &Watch) -> Answer {
    let start = Instant::now();
    let csr;
    let floats;
    let mut name = peer.to_owned();
    let mut search: Search<'_> = match (peer, task.problem) {
        ("petgraph", problem) => {
            csr = petgraph_of(task.graph);
            name += concat!(" ", env!("WARPATH_PEER_PETGRAPH"), ", Csr");
            if problem == Problem::Bfs { Box::new(|source| petgraph_bfs(&csr, source)) } else { dijkstra(&csr) }
        }
        ("rustworkx-core", problem) => {
            csr = petgraph_of(task.graph);
            name += concat!(" ", env!("WARPATH_PEER_RUSTWORKX_CORE"));
            if problem == Problem::Bfs { Box::new(|source| rustworkx_bfs(&csr, source)) } else { rustworkx_sssp(&csr) }
        }
        (_, Problem::Sssp) => {
            floats = floats_of(task.graph);
            let delta = best_delta(&floats, task);
            name += &format!(" {}, delta {delta}", env!("WARPATH_PEER_GRAPH"));
            Box::new(move |source| deltas(&floats, source, delta))
        }
        _ => return Ok(Some(Err(format!("{peer} has no breadth-first search")))),
    };
    let prepare = start.elapsed().as_secs_f64();
    let mut peered = Peered { name, prepare, samples: Vec::new(), answers: Vec::new(), detail: None };
    let mut spent = 0.0;
    for (index, &source) in task.sources.iter().enumerate() {
        let expected = watch.allow(3.0 * task.limits.timeout, || references.get(task, Some(source), watch))?;
        if peer == "graph" && expected.greatest.as_ref().and_then(|d| d.parse().ok()).is_none_or(|d: u64| d > 1 << 24) {
            return Ok(Some(Err("its distances are 32-bit floats, too narrow for these".into())));
        }
        let mut samples = Vec::new();
        let warm_ups = if index == 0 { task.case.experiment.warm_ups } else { 0 };
        for repeat in 0..warm_ups + task.repeats {
            watch.control.check()?;
            if spent > task.limits.budget && (index > 0 || repeat > 0) {
                peered.detail = Some("the time for this case was used up".into());
                if repeat <= warm_ups && index == 0 {
                    // There was only time for the warm-up search.
                    samples.push(spent);
                }
                break;
            }
            let start = Instant::now();
            let distances = search(source);
            let seconds = start.elapsed().as_secs_f64();
            spent += seconds;
            if seconds > task.limits.timeout {
                return Ok(None);
            }
            let digest = Digest::of_distances(&distances);
            if !digest.agrees_with(&expected) {
                return Err(Error::NotVerified(digest.difference(&expected)));
            }
            if repeat >= warm_ups {
                samples.push(seconds);
            }
        }
        if samples.is_empty() {
            break;
        }
        peered.samples.push(samples);
        peered.answers.push(expected);
    }
    Ok(Some(Ok(peered)))
}

type Petgraph = Csr<(), u32, petgraph::Directed, u32>;

fn petgraph_of(graph: &Graph) -> Petgraph {
    let edges: Vec<(u32, u32, u32)> = graph.edges().map(|(u, v, weight)| (u, v, weight as u32)).collect();
    // A graph's edges are sorted, so this can't fail.
    let mut peer = Csr::from_sorted_edges(&edges).unwrap_or_default();
    while peer.node_count() < graph.vertices() {
        peer.add_node(());
    }
    peer
}

fn petgraph_bfs(graph: &Petgraph, source: u32) -> Distances {
    let mut levels = vec![UNREACHED; graph.node_count()];
    levels[source as usize] = 0;
    let mut search = petgraph::visit::Bfs::new(graph, source);
    while let Some(u) = search.next(graph) {
        let next = levels[u as usize] + 1;
        for &v in graph.neighbors_slice(u) {
            let level = &mut levels[v as usize];
            *level = (*level).min(next);
        }
    }
    Distances::U32(levels)
}

fn dijkstra(graph: &Petgraph) -> Search<'_> {
    Box::new(move |source| {
        let found = petgraph::algo::dijkstra(graph, source, None, |edge| u64::from(*edge.weight()));
        let mut distances = vec![u64::MAX; graph.node_count()];
        found.into_iter().for_each(|(v, distance)| distances[v as usize] = distance);
        Distances::U64(distances)
    })
}

fn rustworkx_bfs(graph: &Petgraph, source: u32) -> Distances {
    let mut levels = vec![UNREACHED; graph.node_count()];
    levels[source as usize] = 0;
    rustworkx_core::traversal::breadth_first_search(graph, [source], |event: BfsEvent<u32, &u32>| {
        if let BfsEvent::TreeEdge(u, v, _) = event {
            levels[v as usize] = levels[u as usize] + 1;
        }
    });
    Distances::U32(levels)
}

fn rustworkx_sssp(graph: &Petgraph) -> Search<'_> {
    Box::new(move |source| {
        let found: Result<Vec<Option<u64>>, std::convert::Infallible> =
            rustworkx_core::shortest_path::dijkstra(graph, source, None, |edge| Ok(u64::from(*edge.weight())), None);
        let found = found.unwrap_or_else(|never| match never {});
        Distances::U64(found.into_iter().map(|distance| distance.unwrap_or(u64::MAX)).collect())
    })
}

type Floats = DirectedCsrGraph<u32, (), f32>;

fn floats_of(graph: &Graph) -> Floats {
    let edges: Vec<(u32, u32, f32)> = graph.edges().map(|(u, v, weight)| (u, v, weight as f32)).collect();
    GraphBuilder::new().csr_layout(CsrLayout::Sorted).edges_with_values(edges).build()
}

fn deltas(graph: &Floats, source: u32, delta: f32) -> Distances {
    let found = delta_stepping(graph, DeltaSteppingConfig::new(source as usize, delta));
    let value = |distance: f32| if distance < f32::MAX { distance } else { f32::INFINITY };
    Distances::F32(found.iter().map(|distance| value(distance.load(Ordering::Relaxed))).collect())
}

fn best_delta(graph: &Floats, task: &Task<'_>) -> f32 {
    let greatest = task.graph.weight_range().1;
    let deltas_tried = [0.005, 0.01, 0.03, 0.3, 1.0, 3.0].map(|share| (greatest * share).max(1.0).round() as f32);
    let source = task.sources.first().copied().unwrap_or(0);
    let time = |delta: &f32| {
        let start = Instant::now();
        deltas(graph, source, *delta);
        start.elapsed()
    };
    deltas_tried.into_iter().min_by_key(time).unwrap_or(1.0)
}
