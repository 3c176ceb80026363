use super::*;
use crate::cuda::device::testing;
use crate::graph::{Direction, GraphBuilder, Unit};
use crate::testing::{Random, graphs_of_every_shape, size};

/// The dependencies of one source on all vertices, by the plainest way: levels, counts and shares over vertices in order, sums in pieces as they are
/// defined.
fn dependencies(graph: &Graph, source: VertexId) -> Vec<f64> {
    let mut levels = vec![usize::MAX; graph.vertices()];
    let mut counts = vec![0.0; graph.vertices()];
    let mut order = vec![source];
    (levels[source as usize], counts[source as usize]) = (0, 1.0);
    let mut next = 0;
    while let Some(&u) = order.get(next) {
        next += 1;
        for &v in graph.neighbors(u) {
            if levels[v as usize] == usize::MAX {
                levels[v as usize] = levels[u as usize] + 1;
                order.push(v);
            }
            if levels[v as usize] == levels[u as usize] + 1 {
                counts[v as usize] += counts[u as usize];
            }
        }
    }
    let (mut found, mut shares) = (vec![0.0; graph.vertices()], vec![0.0; graph.vertices()]);
    for &u in order.iter().rev() {
        let row = graph.csr().row(u);
        let pieces = row.start / BETWEENNESS_SEGMENT..row.end.div_ceil(BETWEENNESS_SEGMENT);
        let piece = |index: usize| {
            let arcs = row.start.max(index * BETWEENNESS_SEGMENT)..row.end.min((index + 1) * BETWEENNESS_SEGMENT);
            let heads = graph.csr().targets()[arcs].iter().map(|&v| v as usize);
            heads.filter(|&v| levels[v] == levels[u as usize] + 1).fold(0.0, |sum, v| sum + shares[v])
        };
        let dependency = counts[u as usize] * pieces.map(piece).fold(0.0, |sum, piece| sum + piece);
        shares[u as usize] = (1.0 + dependency) / counts[u as usize];
        found[u as usize] = if u == source { 0.0 } else { dependency };
    }
    found
}

fn check(name: &str, graph: &Graph, sources: &[VertexId]) {
    for device in testing::devices(3) {
        let outcome = solve(&device, graph, sources, &Control::new()).unwrap();
        let mut sums = Sums::new(graph.vertices()).unwrap();
        for &source in sources.iter().filter(|source| !outcome.left.contains(source)) {
            dependencies(graph, source).into_iter().enumerate().for_each(|(v, number)| sums.add(v, number));
        }
        assert_eq!(outcome.sums.into_floats().unwrap(), sums.into_floats().unwrap(), "{name} from {sources:?}");
    }
}

#[test]
fn sums_have_the_bits_of_the_plainest_method() {
    let mut random = Random(5);
    for (name, graph) in graphs_of_every_shape::<Unit>(2).into_iter().step_by(size(3, 20)) {
        let vertices = graph.vertices() as u64;
        if vertices == 0 || graph.arcs() > 3000 {
            continue;
        }
        let count = 1 + random.below(40.min(vertices));
        let sources: Vec<VertexId> = (0..count).map(|_| random.below(vertices) as VertexId).collect();
        check(&name, &graph, &sources);
    }
}

#[test]
fn long_rows_are_cut_and_summed_in_order() {
    // Two hubs with most vertices in common, and paths between these, so that sums have many different terms.
    let spokes = 1500_u32;
    let edges = (0..spokes).flat_map(|v| [(spokes, v), (spokes + 1, (v * 7) % spokes), (v, (v * v + 3) % spokes)]);
    let built = |direction| GraphBuilder::new().direction(direction).build_from(edges.clone()).unwrap();
    check("two hubs", &built(Direction::Undirected), &[0, 1, spokes, 700, spokes + 1, 3]);
    check("two hubs, directed", &built(Direction::Directed), &[0, spokes, spokes + 1, 9]);
}

#[test]
fn searches_with_too_many_paths_are_handed_back() {
    // Each diamond doubles the number of paths: from the 53rd on, counts are no exact sums.
    let diamonds = 60_u32;
    let edges = (0..diamonds)
        .flat_map(|d| [(3 * d, 3 * d + 1), (3 * d, 3 * d + 2), (3 * d + 1, 3 * d + 3), (3 * d + 2, 3 * d + 3)]);
    let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
    for device in testing::devices(1) {
        let outcome = solve(&device, &graph, &[0, 90, 180], &Control::new()).unwrap();
        assert_eq!(outcome.left, [0, 180]);
    }
    check("diamonds", &graph, &[0, 90, 180]);
}

#[test]
fn what_is_planned_is_what_is_taken() {
    let graph = crate::generate::generate("kron:8").unwrap();
    for device in testing::devices(1) {
        assert_eq!(Search::prepare(&device, &graph).unwrap().pool.used(), plan(&graph).device_bytes());
    }
}
