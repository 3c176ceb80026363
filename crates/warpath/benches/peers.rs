//! Warpath beside its peers, in one run, on the same graphs, from the same sources, with answers checked equal.
//!
//! ```sh
//! cargo bench -p warpath --bench peers -- kron:18 grid:500x500 roads.gr    # graphs; a default set without any
//! GAPBS=/path/to/gapbs cargo bench -p warpath --bench peers                # beside the GAP benchmark suite, too
//! ```
//!
//! What is timed: one search from each of eight sources in the largest component, from the request to distances by
//! vertex, without predecessors; the median is printed. What is done once for a graph (loading, building, transposing)
//! is not in it. Every program gets as many threads as there are cores; petgraph has one. Peers:
//!
//! - petgraph's `Csr`: breadth-first search by its `Bfs` visitor with distances kept beside, shortest paths by its
//!   `dijkstra`;
//! - the `graph` crate's `delta_stepping` (distances are `f32`: compared where they are exact), with the delta that is
//!   best for the first source;
//! - if `GAPBS` names a folder with the built programs of the GAP benchmark suite: its `bfs` and `sssp`, with the delta
//!   that is best for the first source. Its answers are compared by the number of vertices reached, and it verifies them
//!   itself.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use graph::prelude::{CsrLayout, DeltaSteppingConfig, DirectedCsrGraph, GraphBuilder as PeerBuilder, delta_stepping};
use petgraph::csr::Csr as PetgraphCsr;
use warpath::graph::{Distances, WeightKind, weakly_connected_components};
use warpath::{Bfs, Format, Graph, Solver, Sssp, VertexId, WriteOptions};

const SOURCES: usize = 8;
const DEFAULT_GRAPHS: [&str; 3] = ["kron:18", "uniform:18", "grid:512x512"];

fn main() {
    let graphs: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let names = if graphs.is_empty() { DEFAULT_GRAPHS.map(str::to_owned).to_vec() } else { graphs };
    println!("{:<28} {:<5} {:<34} {:>12}", "graph", "work", "program", "median ms");
    for name in &names {
        let graph =
            if warpath::generate::Recipe::looks_like(name) { warpath::generate(name) } else { warpath::read(name) };
        let graph = graph.unwrap_or_else(|error| panic!("{name}: {error}"));
        let graph = match graph.weight_kind() {
            WeightKind::U32 => graph,
            _ => graph.with_random_weights(1, 255, 1).expect("the range is valid"),
        };
        let sources = sources(&graph);
        breadth_first(name, &graph, &sources);
        shortest_paths(name, &graph, &sources);
    }
}

/// Vertices of the largest component, spread over it.
fn sources(graph: &Graph) -> Vec<VertexId> {
    let components = weakly_connected_components(graph);
    let largest = components.largest().expect("the graph has vertices");
    let members: Vec<VertexId> = (0..graph.vertices() as VertexId)
        .filter(|&v| components.of[v as usize] == largest && graph.degree(v) > 0)
        .collect();
    (0..SOURCES).map(|index| members[index * members.len() / SOURCES]).collect()
}

/// The median time of a search from each source; the answers go to `check`.
fn median<T>(sources: &[VertexId], mut search: impl FnMut(VertexId) -> T, mut check: impl FnMut(usize, T)) -> f64 {
    let mut times: Vec<f64> = sources
        .iter()
        .enumerate()
        .map(|(index, &source)| {
            let start = Instant::now();
            let answer = search(source);
            let time = start.elapsed().as_secs_f64();
            check(index, answer);
            time
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn line(graph: &str, work: &str, program: &str, seconds: f64) {
    let name = Path::new(graph).file_name().map_or(graph.into(), |name| name.to_string_lossy());
    println!("{name:<28} {work:<5} {program:<34} {:>12.2}", seconds * 1e3);
}

fn breadth_first(name: &str, graph: &Graph, sources: &[VertexId]) {
    let solver = Solver::new(graph).expect("threads can be started");
    let mut answers = Vec::new();
    let search = |source| solver.solve(Bfs::from(source).distances_only()).expect("the search works");
    search(sources[0]);
    let mut algorithm = String::new();
    let time = median(sources, search, |_, tree| {
        algorithm.clone_from(&tree.report().algorithm);
        let Distances::U32(levels) = tree.distances() else { panic!("levels are u32") };
        answers.push(levels.clone());
    });
    line(name, "bfs", &format!("warpath {algorithm}"), time);

    let peer = petgraph_of(graph);
    let time = median(
        sources,
        |source| {
            let mut levels = vec![u32::MAX; graph.vertices()];
            let mut queue = VecDeque::from([source]);
            levels[source as usize] = 0;
            while let Some(u) = queue.pop_front() {
                for &v in peer.neighbors_slice(u) {
                    if levels[v as usize] == u32::MAX {
                        levels[v as usize] = levels[u as usize] + 1;
                        queue.push_back(v);
                    }
                }
            }
            levels
        },
        |index, levels| assert_eq!(levels, answers[index], "{name}: petgraph's levels differ"),
    );
    line(name, "bfs", "petgraph Csr, queue", time);
    let reached: Vec<usize> =
        answers.iter().map(|levels| levels.iter().filter(|level| **level != u32::MAX).count()).collect();
    if let Some(time) = gap(graph, "bfs", "sg", sources, &[], &reached) {
        line(name, "bfs", "GAP bfs", time);
    }
}

fn shortest_paths(name: &str, graph: &Graph, sources: &[VertexId]) {
    let solver = Solver::new(graph).expect("threads can be started");
    let mut answers: Vec<Vec<Option<u64>>> = Vec::new();
    let search = |source| solver.solve(Sssp::from(source).distances_only()).expect("the search works");
    search(sources[0]);
    let mut algorithm = String::new();
    let time = median(sources, search, |_, tree| {
        algorithm.clone_from(&tree.report().algorithm);
        let all = 0..graph.vertices() as VertexId;
        answers.push(all.map(|v| tree.distance(v).map(|distance| distance.to_f64() as u64)).collect());
    });
    line(name, "sssp", &format!("warpath {algorithm}"), time);

    let peer = petgraph_of(graph);
    let time = median(
        sources,
        |source| petgraph::algo::dijkstra(&peer, source, None, |edge| u64::from(*edge.weight())),
        |index, distances| {
            let all = 0..graph.vertices() as VertexId;
            let equal = all.into_iter().all(|v| distances.get(&v).copied() == answers[index][v as usize]);
            assert!(equal, "{name}: petgraph's distances differ");
        },
    );
    line(name, "sssp", "petgraph Csr, dijkstra", time);

    let weight = graph.weight_range().1;
    let deltas = [0.005, 0.01, 0.03, 0.3, 1.0, 3.0].map(|share| (weight * share).max(1.0).round());
    let edges = graph.edges().map(|(u, v, weight)| (u, v, weight as f32));
    let peer: DirectedCsrGraph<u32, (), f32> =
        PeerBuilder::new().csr_layout(CsrLayout::Sorted).edges_with_values(edges.collect::<Vec<_>>()).build();
    let peer_search = |sources: &[VertexId], delta: f64| {
        median(
            sources,
            |source| delta_stepping(&peer, DeltaSteppingConfig::new(source as usize, delta as f32)),
            |index, distances| {
                for (v, distance) in distances.iter().enumerate() {
                    let distance = distance.load(std::sync::atomic::Ordering::Relaxed);
                    let ours = answers[index][v];
                    // Above 2^24, not every integer is an f32.
                    let exact = ours.is_none_or(|ours| ours <= 1 << 24);
                    let theirs = (distance < f32::MAX).then_some(distance as u64);
                    assert!(!exact || theirs == ours, "{name}: the graph crate's distance of {v} differs");
                }
            },
        )
    };
    let best =
        deltas.iter().map(|&delta| (peer_search(&sources[..1], delta), delta)).min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((_, delta)) = best {
        line(name, "sssp", &format!("graph crate, delta {delta}"), peer_search(sources, delta));
    }
    let reached: Vec<usize> = answers.iter().map(|all| all.iter().flatten().count()).collect();
    let deltas = deltas.map(|delta| ["-d".to_owned(), delta.to_string()]);
    let first = |delta: &[String; 2]| gap(graph, "sssp", "wsg", &sources[..1], delta, &reached);
    let best = deltas.iter().filter_map(|delta| Some((first(delta)?, delta))).min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((_, delta)) = best
        && let Some(time) = gap(graph, "sssp", "wsg", sources, delta, &reached)
    {
        line(name, "sssp", &format!("GAP sssp, delta {}", delta[1]), time);
    }
}

fn petgraph_of(graph: &Graph) -> PetgraphCsr<(), u32, petgraph::Directed, u32> {
    let weight = |w: f64| w as u32;
    let edges: Vec<(u32, u32, u32)> = graph.edges().map(|(u, v, w)| (u, v, weight(w))).collect();
    let mut peer = PetgraphCsr::from_sorted_edges(&edges).expect("the edges are sorted");
    while peer.node_count() < graph.vertices() {
        peer.add_node(());
    }
    peer
}

/// GAP's median time over the sources; `None` if the programs are not there.
fn gap(
    graph: &Graph,
    program: &str,
    kind: &str,
    sources: &[VertexId],
    more: &[String],
    reached: &[usize],
) -> Option<f64> {
    let program = Path::new(&std::env::var_os("GAPBS")?).join(program);
    let file = std::env::temp_dir().join(format!("warpath-peers-{}.{kind}", std::process::id()));
    WriteOptions::new().format(Format::Gap).write(graph, &file).expect("the graph can be written");
    let mut times: Vec<f64> = sources
        .iter()
        .zip(reached)
        .map(|(source, reached)| {
            let mut command = Command::new(&program);
            command.arg("-f").arg(&file).args(["-n", "3", "-a", "-v", "-r", &source.to_string()]).args(more);
            let output = command.output().expect("GAP's program starts");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!text.contains("FAIL"), "GAP's own verification fails: {text}");
            let reaches = format!(" {reached} nodes");
            assert!(text.contains(&reaches), "GAP reaches another number of vertices than {reached}: {text}");
            let mut trials: Vec<f64> = text
                .lines()
                .filter_map(|line| line.strip_prefix("Trial Time:"))
                .filter_map(|time| time.trim().parse().ok())
                .collect();
            trials.sort_by(f64::total_cmp);
            trials[trials.len() / 2]
        })
        .collect();
    // Left behind in the folder for temporary files, it does no harm.
    let _ = std::fs::remove_file(file);
    times.sort_by(f64::total_cmp);
    Some(times[times.len() / 2])
}
