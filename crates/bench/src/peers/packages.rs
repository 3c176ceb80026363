//! Rust packages: petgraph, rustworkx-core, and `graph`.
//!
//! Each search is one call of the package's function if it has one. petgraph and rustworkx-core have no breadth-first
//! search that gives levels: theirs visit the vertices, and the adapter here records the levels. `graph` has
//! delta-stepping in 32-bit floats, which are exact up to 2^24; it is left out for larger distances. Its delta is the
//! best of six values for the first source, chosen outside the clock.
//!
//! A search here can't be stopped, so a worker makes it.

use std::sync::atomic::Ordering;
use std::time::Instant;

use graph::prelude::{CsrLayout, DeltaSteppingConfig, DirectedCsrGraph, GraphBuilder, delta_stepping};
use petgraph::csr::Csr;
use rustworkx_core::traversal::BfsEvent;
use warpath::graph::Distances;
use warpath::problems::Problem;
use warpath::{Error, Graph, Result, VertexId};

use super::link::Link;
use super::linked::Questions;
use super::messages::{Case, Counters, Ready, Reply};
use crate::digest::Digest;
use crate::results::Clock;

/// A search from a vertex on a prepared graph.
type Search<'a> = Box<dyn FnMut(VertexId) -> Distances + 'a>;

const UNREACHED: u32 = u32::MAX;

/// Answers the questions of a case: searches, from one source each.
pub(crate) fn search(link: &Link, of: &Graph, case: Case) -> Result<Counters> {
    let questions = serde_json::from_value(case.questions);
    let Questions { problem, sources } =
        questions.map_err(|error| Error::invalid(format!("these are no questions: {error}")))?;
    let start = Instant::now();
    let csr;
    let floats;
    let mut name = case.package.clone();
    let is_bfs = problem == Problem::Bfs.name();
    let mut search: Search<'_> = match case.package.as_str() {
        "petgraph" => {
            csr = petgraph_of(of);
            name += concat!(" ", env!("WARPATH_PEER_PETGRAPH"), ", Csr");
            if is_bfs { Box::new(|source| petgraph_bfs(&csr, source)) } else { dijkstra(&csr) }
        }
        "rustworkx-core" => {
            csr = petgraph_of(of);
            name += concat!(" ", env!("WARPATH_PEER_RUSTWORKX_CORE"));
            if is_bfs { Box::new(|source| rustworkx_bfs(&csr, source)) } else { rustworkx_sssp(&csr) }
        }
        _ => {
            floats = floats_of(of);
            let delta = best_delta(&floats, of, sources.first().copied().unwrap_or(0));
            name += &format!(" {}, delta {delta}", env!("WARPATH_PEER_GRAPH"));
            Box::new(move |source| deltas(&floats, source, delta))
        }
    };
    let prepare = start.elapsed().as_secs_f64();
    let ready = Ready { name, ran_on: None, clock: Clock::Peer, prepare, counters: Counters::new(), at_once: 1 };
    link.answer(ready, &mut |range| {
        let start = Instant::now();
        let distances = search(sources[range.start]);
        let seconds = start.elapsed().as_secs_f64();
        Ok(Reply { seconds, answers: vec![Digest::of_distances(&distances)] })
    })?;
    Ok(Counters::new())
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
        let found: std::result::Result<Vec<Option<u64>>, std::convert::Infallible> =
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

fn best_delta(graph: &Floats, of: &Graph, source: VertexId) -> f32 {
    let greatest = of.weight_range().1;
    let deltas_tried = [0.005, 0.01, 0.03, 0.3, 1.0, 3.0].map(|share| (greatest * share).max(1.0).round() as f32);
    let time = |delta: &f32| {
        let start = Instant::now();
        deltas(graph, source, *delta);
        start.elapsed()
    };
    deltas_tried.into_iter().min_by_key(time).unwrap_or(1.0)
}
