//! Helpers for the tests of formats: round trips, malformed inputs, and mutations of good inputs.

use super::{Format, Notes, ReadOptions, WriteOptions};
use crate::graph::{Direction, Graph, ParallelEdges, Unit};
use crate::testing::{Random, TestWeight, graphs_of_every_shape, size};
use crate::{Error, Result};

/// The bytes of a graph in a format.
pub(super) fn written(graph: &Graph, format: Format) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    WriteOptions::new().format(format).write_to(graph, &mut bytes)?;
    Ok(bytes)
}

/// Graphs of every shape and type of weight, and one with negative weights.
pub(super) fn all_graphs() -> Vec<(String, Graph)> {
    fn of<W: TestWeight>(seed: u64) -> impl Iterator<Item = (String, Graph)> {
        graphs_of_every_shape::<W>(seed).into_iter().map(|(name, graph)| (format!("{}: {name}", W::KIND), graph))
    }
    let negative = Graph::from_edges([(0, 1, -5), (1, 2, i32::MAX), (2, 0, i32::MIN), (0, 0, 0)]).unwrap();
    let empty = Graph::from_edges::<(u32, u32)>([]).unwrap();
    let special = [("negative".to_owned(), negative), ("empty".to_owned(), empty)];
    of::<Unit>(1)
        .chain(of::<u32>(2))
        .chain(of::<i32>(3))
        .chain(of::<f32>(4))
        .chain(of::<f64>(5))
        .step_by(size(1, 9))
        .chain(special)
        .collect()
}

/// Reads bytes with all parallel arcs, in the direction of `like`.
pub(super) fn read_like(like: &Graph, format: Format, bytes: Vec<u8>) -> Result<Graph> {
    let direction = if like.is_directed() { Direction::Directed } else { Direction::Undirected };
    ReadOptions::new().format(format).parallel_edges(ParallelEdges::Keep).direction(direction).read_bytes("test", bytes)
}

/// Asserts that two graphs have the same vertices, edges and weights; weight types may differ.
pub(super) fn assert_same(found: &Graph, expected: &Graph, name: &str) {
    assert_eq!(found.vertices(), expected.vertices(), "{name}");
    assert_eq!(found.is_directed(), expected.is_directed(), "{name}");
    assert_eq!(found.csr().offsets(), expected.csr().offsets(), "{name}");
    assert!(found.edges().eq(expected.edges()), "{name}");
}

/// A graph that was read, as text: `directed` or not, the names of the vertices, and the arcs with their weights.
pub(super) fn shown(text: impl Into<Vec<u8>>, format: Format, options: &ReadOptions) -> String {
    let options = options.clone().format(format).parallel_edges(ParallelEdges::Keep);
    let graph = match options.read_bytes("test", text.into()) {
        Ok(graph) => graph,
        Err(error) => return error.to_string(),
    };
    let vertices: Vec<_> = (0..graph.vertices() as u32).map(|v| graph.name(v).into_owned()).collect();
    let arcs: Vec<_> = graph.edges().map(|(u, v, w)| format!("{}>{}:{w}", graph.name(u), graph.name(v))).collect();
    let direction = if graph.is_directed() { "directed" } else { "undirected" };
    format!("{direction} {} | {}", vertices.join(","), arcs.join(" "))
}

/// What the reader of a text notes.
pub(super) fn noted(text: &str, format: Format) -> String {
    let notes = Notes::new();
    ReadOptions::new().format(format).notes(&notes).read_bytes("test", text.as_bytes().to_vec()).unwrap();
    notes.take().join("\n")
}

/// Asserts that each of these texts is refused with a message that has this part.
pub(super) fn assert_faults<T: Into<Vec<u8>> + Clone>(format: Format, cases: &[(T, &str)]) {
    let found = |text: &T| shown(text.clone(), format, &ReadOptions::new());
    let wrong: Vec<_> = cases.iter().map(|(text, part)| (found(text), part)).collect();
    let wrong: Vec<_> = wrong.iter().filter(|(found, part)| !found.contains(&format!("test:{part}"))).collect();
    assert!(wrong.is_empty(), "found and expected: {wrong:#?}");
}

/// Asserts the error for a malformed input.
pub(super) fn assert_rejected(format: Format, bytes: impl Into<Vec<u8>>, message: &str) {
    let bytes = bytes.into();
    let shown = String::from_utf8_lossy(&bytes).into_owned();
    match ReadOptions::new().format(format).read_bytes("test", bytes) {
        Err(Error::Input(error)) => assert_eq!(error.to_string(), message, "{shown}"),
        other => panic!("{shown}: {other:?}"),
    }
}

/// Reads thousands of damaged copies of a good input: each gives an error or a sound graph.
pub(super) fn survive_mutations(format: Format, good: &[u8], seed: u64) {
    let mut random = Random(seed);
    let mut accepted = 0;
    let rounds = size(3000, 20);
    for _ in 0..rounds {
        let mut bytes = good.to_vec();
        for _ in 0..=random.below(3) {
            if bytes.is_empty() {
                break;
            }
            let at = random.below(bytes.len() as u64) as usize;
            let length = (random.below(16) as usize).min(bytes.len() - at);
            match random.below(7) {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes[at] = random.next() as u8,
                3 => bytes[at] = b"0123456789 -.\n\r%e"[random.below(17) as usize],
                4 => drop(bytes.drain(at..at + length)),
                5 => {
                    let copy = bytes[at..at + length].to_vec();
                    bytes.splice(at..at, copy);
                }
                _ => bytes[at..at + length].fill(if random.below(2) == 0 { 0 } else { 0xff }),
            }
        }
        match ReadOptions::new().format(format).read_bytes("test", bytes) {
            Ok(graph) => {
                accepted += 1;
                assert!(graph.csr().targets().iter().all(|&head| (head as usize) < graph.vertices()));
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert!(accepted < rounds, "some damage has to be noticed");
}
