use std::collections::HashMap;

use super::*;
use crate::graph::{Adjacency, Direction, Graph, GraphBuilder, ParallelEdges, VertexId, Weight, WeightKind};
use crate::testing::{Random, TestWeight, size};

/// All paths that visit no vertex twice, by enumeration, each with its length added up from the source.
fn every_path<L: MinPlus>(graph: &Graph, from: VertexId, to: VertexId) -> HashMap<Vec<VertexId>, L::Distance> {
    fn go_on<L: MinPlus>(
        arcs: Adjacency<'_, L::Weight>,
        to: VertexId,
        path: &mut Vec<VertexId>,
        length: L::Distance,
        found: &mut HashMap<Vec<VertexId>, L::Distance>,
    ) {
        let at = path[path.len() - 1];
        if at == to {
            let known = found.entry(path.clone()).or_insert(length);
            if length < *known {
                *known = length;
            }
            return;
        }
        for (v, weight) in arcs.edges(at) {
            if !path.contains(&v) {
                path.push(v);
                go_on::<L>(arcs, to, path, L::extend(length, weight), found);
                path.pop();
            }
        }
    }
    let mut found = HashMap::new();
    let arcs = graph.csr().adjacency::<L::Weight>().unwrap();
    go_on::<L>(arcs, to, &mut vec![from], L::Distance::ZERO, &mut found);
    found
}

/// A random graph of up to eight vertices with self-loops and parallel arcs.
fn small_graph<W: TestWeight>(random: &mut Random, draw: impl Fn(&mut Random) -> W) -> Graph {
    let vertices = 1 + random.below(8);
    let arcs = random.below(3 * vertices + 1);
    let edges: Vec<(VertexId, VertexId, W)> = (0..arcs)
        .map(|_| (random.below(vertices) as VertexId, random.below(vertices) as VertexId, draw(random)))
        .collect();
    let direction = if random.below(2) == 0 { Direction::Directed } else { Direction::Undirected };
    let parallel = if random.below(2) == 0 { ParallelEdges::Keep } else { ParallelEdges::MergeByMinimum };
    let builder = GraphBuilder::new().vertices(vertices).direction(direction).parallel_edges(parallel);
    builder.build(vec![edges_of(edges)]).unwrap()
}

fn edges_of<W: Weight>(edges: Vec<(VertexId, VertexId, W)>) -> crate::graph::EdgeList<W> {
    let mut list = crate::graph::EdgeList::new();
    edges.into_iter().for_each(|(u, v, weight)| list.push(u, v, weight));
    list
}

fn agrees_with_enumeration<W: TestWeight>(seed: u64, draw: impl Fn(&mut Random) -> W + Copy) {
    let mut random = Random(seed);
    for turn in 0..size(400, 4) {
        let graph = small_graph::<W>(&mut random, draw);
        let count = graph.vertices() as u64;
        let (from, to) = (random.below(count) as VertexId, random.below(count) as VertexId);
        let most = [1, 2, 3, 7, 1000][random.below(5) as usize];
        let solver = Solver::builder(graph.clone()).threads(1 + turn % 3).open().unwrap();
        let found = solver.solve(KShortestPaths::between(from, to).at_most(most)).unwrap();
        with_min_plus!(W::KIND, true, S => {
            let expected = every_path::<S>(&graph, from, to);
            let mut lengths: Vec<_> = expected.values().map(|length| length.distance().unwrap()).collect();
            lengths.sort_by(|a, b| a.partial_cmp(b).unwrap());
            lengths.truncate(most);
            let found_lengths: Vec<_> = found.paths().iter().map(Path::length).collect();
            assert_eq!(found_lengths, lengths, "{from} to {to} in {:?}", graph.edges().collect::<Vec<_>>());
            for (index, path) in found.paths().iter().enumerate() {
                assert_eq!(expected[path.vertices()].distance(), Some(path.length()));
                assert!(found.paths()[..index].iter().all(|other| other.vertices() != path.vertices()));
                assert_eq!(path.steps(&graph).unwrap().last().unwrap().distance, path.length());
            }
        });
        if let Some(first) = found.paths().first() {
            assert_eq!(solver.sssp(from).unwrap().distance(to), Some(first.length()));
        }
    }
}

#[test]
fn paths_agree_with_enumeration_with_every_weight() {
    agrees_with_enumeration::<crate::graph::Unit>(61, TestWeight::draw);
    agrees_with_enumeration::<u32>(62, TestWeight::draw);
    agrees_with_enumeration::<i32>(63, TestWeight::draw);
    agrees_with_enumeration::<f32>(64, TestWeight::draw);
    agrees_with_enumeration::<f64>(65, TestWeight::draw);
}

/// Many paths of one length, most of it 0, and floats whose sums depend on the order.
#[test]
fn paths_agree_with_enumeration_where_lengths_are_close() {
    agrees_with_enumeration::<u32>(71, |random| random.below(3) as u32);
    agrees_with_enumeration::<f32>(72, |random| random.below(3) as f32 * 0.1 + random.below(2) as f32 * 1e-7);
    agrees_with_enumeration::<f64>(73, |random| random.below(4) as f64 * 0.1);
}

#[test]
fn the_answer_does_not_depend_on_threads_and_refusals_are_clear() {
    let graph = crate::generate("grid:8x8").unwrap();
    let paths = |threads: usize| {
        let solver = Solver::builder(graph.clone()).threads(threads).open().unwrap();
        solver.solve(KShortestPaths::between(0, 63).at_most(200)).unwrap().paths().to_vec()
    };
    let first = paths(1);
    assert_eq!(first.len(), 200);
    // A grid has 3,432 paths of 14 edges from corner to corner.
    assert!(first.iter().all(|path| path.edges().len() == 14));
    assert_eq!(paths(3), first);
    let solver = Solver::new(graph.clone()).unwrap();
    for request in [KShortestPaths::between(64, 0), KShortestPaths::between(0, 64)] {
        assert!(matches!(solver.solve(request), Err(Error::InvalidRequest(_))));
    }
    assert!(solver.solve(KShortestPaths::between(0, 63).at_most(0)).unwrap().paths().is_empty());
    let negative = Graph::from_edges([(0, 1, -1), (1, 2, 3)]).unwrap();
    let refused = Solver::new(negative).unwrap().solve(KShortestPaths::between(0, 2)).unwrap_err();
    assert!(refused.to_string().contains("weights of 0 or more"), "{refused}");
    let far = Graph::from_edges([(0, 1, f32::MAX), (1, 2, f32::MAX)]).unwrap();
    assert!(matches!(
        Solver::new(far).unwrap().solve(KShortestPaths::between(0, 2)),
        Err(Error::DistanceOverflow { .. })
    ));
    let control = crate::Control::new();
    control.cancel();
    let solver = Solver::builder(graph).control(control).open().unwrap();
    assert!(matches!(solver.solve(KShortestPaths::between(0, 63)), Err(Error::Interrupted)));
}

/// On a road network each spur search visits little more than its path.
#[test]
fn spur_searches_are_guided() {
    let graph = crate::generate("roads:20000").unwrap();
    let far = (graph.vertices() - 1) as VertexId;
    let solver = Solver::builder(graph).threads(2).open().unwrap();
    let found = solver.solve(KShortestPaths::between(0, far).at_most(5)).unwrap();
    assert_eq!(found.paths().len(), 5);
    let counter = |name| found.report().statistics.iter().find(|(known, _)| *known == name).unwrap().1;
    let each = counter("settled") / counter("searches");
    assert!(each < 2_000, "{each} vertices a search");
    assert_eq!(found.report().algorithm, "yen");
    assert!(matches!(solver.graph().weight_kind(), WeightKind::U32));
}
