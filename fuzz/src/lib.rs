//! The code that all fuzz targets share: reads bytes as a format; if that works, writes the graph and reads it again,
//! which has to give the same graph. Reading must never panic, hang or take memory out of proportion.

use warpath::Graph;
use warpath::formats::{Format, ReadOptions, WriteOptions};

/// Options for reading on one thread: inputs are small, and a run is reproducible.
pub fn options() -> ReadOptions {
    ReadOptions::new().threads(1)
}

/// Reads `bytes` as `format`; if that works, writes the graph and reads it again.
pub fn round_trip(format: Format, bytes: &[u8]) {
    let options = options().format(format);
    let Ok(graph) = options.read_bytes("input", bytes.to_vec()) else { return };
    let mut written = Vec::new();
    // A format may be unable to hold a graph that can be read from it, such as one with another direction.
    if WriteOptions::new().format(format).write_to(&graph, &mut written).is_err() {
        return;
    }
    let again = options.read_bytes("written", written).expect("what was written can be read");
    assert_eq!(facts(&graph), facts(&again));
}

fn facts(graph: &Graph) -> (usize, usize, Vec<(String, String, u64)>) {
    let mut edges: Vec<_> = graph
        .edges()
        .map(|(u, v, weight)| (graph.name(u).into_owned(), graph.name(v).into_owned(), weight.to_bits()))
        .collect();
    edges.sort_unstable();
    (graph.vertices(), graph.arcs(), edges)
}
