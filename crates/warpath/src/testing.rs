//! Graphs for tests: every shape that has ever broken a shortest-path program, with every type of weight.

use crate::graph::{Direction, Graph, GraphBuilder, ParallelEdges, VertexId, Weight};

/// A size of a test: a far smaller one in Miri, which takes a thousand times as long.
pub(crate) fn size<T>(usual: T, in_miri: T) -> T {
    if cfg!(miri) { in_miri } else { usual }
}

/// A small reproducible generator of random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// A weight type that tests can draw: small, zero, huge, absorbed by rounding; negative only on request.
pub(crate) trait TestWeight: Weight {
    fn draw(random: &mut Random) -> Self;
}

impl TestWeight for crate::graph::Unit {
    fn draw(_: &mut Random) -> Self {
        crate::graph::Unit
    }
}
impl TestWeight for u32 {
    fn draw(random: &mut Random) -> Self {
        match random.below(8) {
            0 => 0,
            1 => 1,
            2 => u32::MAX - random.below(3) as u32,
            _ => random.below(1000) as u32,
        }
    }
}
impl TestWeight for i32 {
    fn draw(random: &mut Random) -> Self {
        match random.below(8) {
            0 => 0,
            1 => i32::MAX,
            _ => random.below(1000) as i32,
        }
    }
}
impl TestWeight for f32 {
    fn draw(random: &mut Random) -> Self {
        match random.below(8) {
            0 => 0.0,
            1 => 1e-30,
            2 => 1e30,
            _ => random.below(1 << 20) as f32 / 1024.0,
        }
    }
}
impl TestWeight for f64 {
    fn draw(random: &mut Random) -> Self {
        match random.below(8) {
            0 => 0.0,
            1 => 1e-300,
            2 => 1e200,
            _ => random.below(1 << 40) as f64 / 1024.0,
        }
    }
}

/// Two graphs of every shape, all below 400 vertices, with weights drawn from `seed`: one is directed and one is not, and one has parallel
/// arcs; other seeds, and other shapes, have it the other way round. Under sanitizers or Miri, which take far longer and look for other
/// mistakes, there is one of each. Miri gets only the first edges.
pub(crate) fn graphs_of_every_shape<W: TestWeight>(seed: u64) -> Vec<(String, Graph)> {
    if cfg!(any(emulator_sanitized, miri)) {
        return one_of_every_shape::<W>(seed);
    }
    graphs_of_kinds::<W>(seed, |shape, kind| matches!(kind, 0 | 3) == (shape + seed).is_multiple_of(2))
}

/// One graph of every shape. Tests count graphs to take turns, so kinds do not come back after four shapes.
pub(crate) fn one_of_every_shape<W: TestWeight>(seed: u64) -> Vec<(String, Graph)> {
    graphs_of_kinds::<W>(seed, |shape, kind| kind == (shape + shape / 4 + seed) % 4)
}

/// Graphs of every shape, of the kinds that are wanted of it: directed with parallel arcs merged (0) or kept (1), undirected with them
/// merged (2) or kept (3).
fn graphs_of_kinds<W: TestWeight>(seed: u64, is_wanted: impl Fn(u64, u64) -> bool) -> Vec<(String, Graph)> {
    let mut random = Random(seed);
    let mut graphs = Vec::new();
    let mut index = 0;
    let mut add = |name: &str, vertices: u64, mut edges: Vec<(VertexId, VertexId)>| {
        // Miri finds the same mistakes in smaller graphs.
        let vertices = vertices.min(size(u64::MAX, 48));
        edges.retain(|&(u, v)| u64::from(u.max(v)) < vertices);
        edges.truncate(size(usize::MAX, 40));
        for direction in [Direction::Directed, Direction::Undirected] {
            for parallel in [ParallelEdges::MergeByMinimum, ParallelEdges::Keep] {
                let weighted = edges.iter().map(|&(u, v)| (u, v, W::draw(&mut random))).collect::<Vec<_>>();
                index += 1;
                if !is_wanted((index - 1) / 4, (index - 1) % 4) {
                    continue;
                }
                let builder = GraphBuilder::new().vertices(vertices).direction(direction).parallel_edges(parallel);
                let graph = builder.build_from(weighted).expect("test graphs are right");
                graphs.push((format!("{name}, {direction:?}, {parallel:?}, seed {seed}"), graph));
            }
        }
    };
    add("one vertex", 1, vec![]);
    add("one vertex with loops", 1, vec![(0, 0), (0, 0)]);
    add("no edges", 70, vec![]);
    add("two vertices, parallel edges and loops", 2, vec![(0, 1), (0, 1), (1, 0), (1, 1), (0, 0), (0, 1)]);
    add("long path", 300, (0..299).map(|v| (v, v + 1)).collect());
    add("long cycle, backwards", 257, (0..257).map(|v| ((v + 1) % 257, v)).collect());
    add("star", 200, (1..200).map(|v| (0, v)).collect());
    add("star inwards, with loops", 130, (0..130).map(|v| (v, 64)).collect());
    add("complete", 33, (0..33).flat_map(|u| (0..33).map(move |v| (u, v))).collect());
    add(
        "grid",
        17 * 19,
        (0..17 * 19_u32).flat_map(|v| [(v, v + 1), (v, v + 19)]).filter(|&(_, v)| v < 17 * 19).collect(),
    );
    add("binary tree", 255, (1..255).map(|v| ((v - 1) / 2, v)).collect());
    let mut shapes = Random(seed ^ 0x5eed);
    let mut pairs = |count: u64, vertices: u64| -> Vec<(VertexId, VertexId)> {
        (0..count).map(|_| (shapes.below(vertices) as VertexId, shapes.below(vertices) as VertexId)).collect()
    };
    let sparse = pairs(200, 300);
    add("sparse random, disconnected", 310, sparse);
    let dense = pairs(1500, 100);
    add("random with many parallel edges", 100, dense);
    let large = pairs(2400, 399);
    add("random, average degree 6", 399, large);
    graphs
}
