//! Graphs of edges that are drawn twice, in place of a list of them.
//!
//! A generator draws an edge from a seed and a number, which takes little longer than writing it down. So no list of
//! edges is kept: sorting draws them to count the arcs of each bucket, and draws them again to put the arcs there.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bucket_sort::{Arcs, WALKS, sort_by_tail};
use super::{EdgeList, Graph, InputCounts, Labels, Unit, VertexId};
use crate::{Control, Result};

/// Edges without direction in parts, each of which is the same whenever it is drawn.
pub(crate) struct Redrawn<'a> {
    /// The number of vertices; ids are below it.
    pub(crate) vertices: u64,
    /// About how many edges there are.
    pub(crate) about: u64,
    /// The number of parts.
    pub(crate) parts: usize,
    /// Draws a part.
    pub(crate) draw: &'a (dyn Fn(usize) -> Result<EdgeList<Unit>> + Sync),
}

impl Graph {
    /// The graph of these edges, without self-loops and repeated edges. Progress is told of each part drawn.
    ///
    /// # Errors
    ///
    /// If there is no memory for it or for a part, and if it is interrupted.
    pub(crate) fn of_redrawn(edges: &Redrawn<'_>, control: &Control) -> Result<Graph> {
        let (lines, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let shares = shares(edges.parts, edges.about);
        let about = (edges.about as usize).saturating_mul(2) / shares.len().max(1);
        let share = |parts| Share { edges, parts, about, lines: &lines, done: &done, control };
        let shares = shares.into_iter().map(share).collect();
        let (csr, arcs) = sort_by_tail(edges.vertices as usize, shares, true)?;
        let lines = lines.into_inner() / WALKS;
        let counts = InputCounts { lines, self_loops: lines - arcs / 2, parallel: arcs - csr.arcs() as u64 };
        Ok(Graph::from_parts(csr, false, Labels::range(0, edges.vertices), counts))
    }
}

/// Ranges of parts that are walked over one by one. Each takes a counter for each bucket, so it should be a million
/// edges, but there should be several for each thread.
fn shares(parts: usize, edges: u64) -> Vec<Range<usize>> {
    const EDGES_OF_SHARE: u64 = 1 << 20;
    const SHARES_PER_THREAD: usize = 8;
    let least = SHARES_PER_THREAD * rayon::current_num_threads();
    let count = parts.min(least.max((edges / EDGES_OF_SHARE) as usize));
    let length = parts.div_ceil(count.max(1)).max(1);
    (0..parts).step_by(length).map(|first| first..parts.min(first + length)).collect()
}

/// The arcs of some parts.
struct Share<'a> {
    edges: &'a Redrawn<'a>,
    parts: Range<usize>,
    about: usize,
    /// Edges and parts that were drawn, by all shares and walks.
    lines: &'a AtomicU64,
    done: &'a AtomicU64,
    control: &'a Control,
}

impl Arcs<Unit> for Share<'_> {
    fn about(&self) -> usize {
        self.about
    }

    #[inline]
    fn for_each(&self, mut visit: impl FnMut(VertexId, VertexId, Unit)) -> Result<()> {
        for part in self.parts.clone() {
            let list = (self.edges.draw)(part)?;
            for &(u, v) in list.edges.iter().filter(|(u, v)| u != v) {
                visit(u, v, Unit);
                visit(v, u, Unit);
            }
            self.lines.fetch_add(list.len() as u64, Ordering::Relaxed);
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            self.control.progress("generate", done, WALKS * self.edges.parts as u64)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::super::{Direction, GraphBuilder, SelfLoops};
    use super::*;
    use crate::Error;
    use crate::testing::{Random, size};

    type Edges = Vec<(VertexId, VertexId)>;

    fn list(edges: &[(VertexId, VertexId)]) -> EdgeList<Unit> {
        EdgeList { edges: edges.to_vec(), weights: vec![Unit; edges.len()] }
    }

    /// Edges between random vertices of a range; the fewer vertices, the more loops and repeats.
    fn random_edges(count: usize, ids: Range<u64>) -> Edges {
        let mut random = Random(5);
        let mut vertex = || (ids.start + random.below(ids.end - ids.start)) as VertexId;
        (0..count).map(|_| (vertex(), vertex())).collect()
    }

    fn shapes() -> Vec<(&'static str, u64, Edges)> {
        let many = size(300_000, 300);
        vec![
            ("nothing", 0, vec![]),
            ("vertices alone", 100_000, vec![]),
            ("one vertex", 1, vec![(0, 0); 7]),
            ("loops and one edge", 3, vec![(0, 0), (2, 1), (2, 2), (1, 2)]),
            ("one edge again and again", 70_000, vec![(69_999, 3); many]),
            ("a star", 1 + many as u64, (1..=many as VertexId).map(|leaf| (0, leaf)).collect()),
            ("descending", 1 + many as u64, (0..many as VertexId).rev().map(|v| (v + 1, v)).collect()),
            ("many of few vertices", 9, random_edges(many, 0..9)),
            ("all in one bucket", 1_000_000, random_edges(many, 999_000..1_000_000)),
            ("some everywhere", 5_003, random_edges(many, 0..5_003)),
            ("few of many vertices", 1_000_000, random_edges(100, 0..1_000_000)),
        ]
    }

    #[test]
    fn what_is_drawn_is_what_is_built_of_a_list() {
        for (name, vertices, edges) in shapes() {
            let builder = GraphBuilder::new().vertices(vertices).direction(Direction::Undirected);
            let expected = builder.self_loops(SelfLoops::Drop).build(vec![list(&edges)]).unwrap();
            for (length, threads) in [(1000, 1), (977, 2), (usize::MAX, 3)] {
                let parts: Vec<&[_]> = edges.chunks(length).collect();
                let draw = |part: usize| Ok(list(parts[part]));
                let about = edges.len() as u64;
                let drawn = Redrawn { vertices, about, parts: parts.len(), draw: &draw };
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let graph = pool.install(|| Graph::of_redrawn(&drawn, &Control::new())).unwrap();
                assert_eq!(graph.vertices() as u64, vertices, "{name}");
                assert_eq!(graph.input_counts(), expected.input_counts(), "{name}");
                assert!(graph.csr().offsets() == expected.csr().offsets(), "{name}");
                assert!(graph.csr().targets() == expected.csr().targets(), "{name}");
            }
        }
    }

    #[test]
    fn a_bad_guess_of_their_number_does_no_harm() {
        let edges = random_edges(size(100_000, 300), 0..4_000);
        let draw = |part: usize| Ok(list(edges.chunks(100).nth(part).unwrap_or(&[])));
        let graph_of = |about| {
            let drawn = Redrawn { vertices: 4_000, about, parts: edges.len().div_ceil(100), draw: &draw };
            Graph::of_redrawn(&drawn, &Control::new()).unwrap()
        };
        let expected = graph_of(edges.len() as u64);
        for about in [0, 1, 1 << 40] {
            let graph = graph_of(about);
            assert!(graph.csr().offsets() == expected.csr().offsets(), "{about}");
            assert!(graph.csr().targets() == expected.csr().targets(), "{about}");
        }
    }

    #[test]
    fn either_walk_may_fail_or_be_cancelled() {
        const PARTS: usize = 20;
        for last in [1, PARTS, PARTS + 1, 2 * PARTS] {
            let drawn = AtomicUsize::new(0);
            let draw = |_: usize| match drawn.fetch_add(1, Ordering::Relaxed) + 1 {
                count if count == last => Err(Error::invalid("planted")),
                _ => Ok(list(&[(0, 1)])),
            };
            let redrawn = Redrawn { vertices: 2, about: PARTS as u64, parts: PARTS, draw: &draw };
            let error = Graph::of_redrawn(&redrawn, &Control::new()).unwrap_err();
            assert!(error.to_string().contains("planted"), "{error}");
            let control = Control::new();
            let inner = control.clone();
            let control = control.watched_by(move |progress| {
                assert_eq!(progress.total, 2 * PARTS as u64);
                if progress.done == last as u64 {
                    inner.cancel();
                }
            });
            let draw = |_: usize| Ok(list(&[(0, 1)]));
            let redrawn = Redrawn { vertices: 2, about: PARTS as u64, parts: PARTS, draw: &draw };
            assert!(matches!(Graph::of_redrawn(&redrawn, &control), Err(Error::Interrupted)));
        }
    }

    #[test]
    fn shares_are_all_parts() {
        for (parts, edges) in [(0, 0), (1, 1 << 40), (7, 3), (1000, 1 << 16), (40_000, 1 << 31)] {
            let shares = shares(parts, edges);
            assert!(shares.iter().cloned().flatten().eq(0..parts), "{parts}");
            assert!(shares.iter().all(|share| !share.is_empty()));
        }
    }
}
