use super::*;
use crate::cuda::device::testing;
use crate::cuda::graph::WIDE_OFFSETS;
use crate::graph::{Direction, GraphBuilder, ParallelEdges, Unit, Weights};
use crate::testing::{Random, graphs_of_every_shape, one_of_every_shape, size};

/// Adds the dependencies of one source on all vertices and arcs, by the plainest way: distances by rounds over all arcs, counts and shares over vertices in
/// order, sums in pieces as they are defined.
fn add_plainly(graph: &Graph, source: VertexId, task: &Task<'_>, vertices: &mut Sums, arcs: &mut Sums) {
    let edges: Vec<(VertexId, VertexId, f64)> = graph.edges().collect();
    let mut distances = vec![f64::INFINITY; graph.vertices()];
    distances[source as usize] = 0.0;
    let mut falls = true;
    while falls {
        falls = false;
        for &(u, v, weight) in &edges {
            let through = distances[u as usize] + weight;
            if through < distances[v as usize] {
                (distances[v as usize], falls) = (through, true);
            }
        }
    }
    let is_tight = |arc: usize| {
        let (u, v, weight) = edges[arc];
        distances[u as usize].is_finite() && distances[u as usize] + weight == distances[v as usize]
    };
    let mut order: Vec<usize> = (0..graph.vertices()).filter(|&v| distances[v].is_finite()).collect();
    order.sort_by(|&u, &v| distances[u].total_cmp(&distances[v]));
    let mut counts = vec![0.0; graph.vertices()];
    counts[source as usize] = 1.0;
    for &u in &order {
        for arc in graph.csr().row(u as VertexId).filter(|&arc| is_tight(arc)) {
            counts[edges[arc].1 as usize] += counts[u];
        }
    }
    let is_target = |v: usize| if task.targets.is_none_or(|marks| marks[v]) { 1.0 } else { 0.0 };
    let mut shares = vec![0.0; graph.vertices()];
    for &u in order.iter().rev() {
        let row = graph.csr().row(u as VertexId);
        let pieces = row.start / BETWEENNESS_SEGMENT..row.end.div_ceil(BETWEENNESS_SEGMENT);
        let piece = |index: usize| {
            let some = row.start.max(index * BETWEENNESS_SEGMENT)..row.end.min((index + 1) * BETWEENNESS_SEGMENT);
            let heads = some.filter(|&arc| is_tight(arc)).map(|arc| edges[arc].1 as usize);
            heads.fold(0.0, |sum, v| sum + shares[v])
        };
        let dependency = counts[u] * pieces.map(piece).fold(0.0, |sum, piece| sum + piece);
        for arc in row.filter(|&arc| is_tight(arc)) {
            arcs.add(arc, counts[u] * shares[edges[arc].1 as usize]);
        }
        shares[u] = (is_target(u) + dependency) / counts[u];
        let at_the_ends = match u == source as usize {
            _ if !task.endpoints => 0.0,
            true => order.iter().filter(|&&v| v != u).map(|&v| is_target(v)).sum(),
            false => is_target(u),
        };
        vertices.add(u, if u == source as usize { at_the_ends } else { dependency + at_the_ends });
    }
}

/// What can be asked for, as a whole: marks of targets, whether ends of paths count, and whether arcs are asked for.
const ASKED: [(bool, bool, bool); 4] =
    [(false, false, false), (false, true, true), (true, false, true), (true, true, false)];

/// One thing that can be asked for, from these sources.
fn check_one(name: &str, graph: &Graph, sources: &[VertexId], asked: usize) {
    let marks: Vec<bool> = (0..graph.vertices()).map(|v| v % 3 != 1).collect();
    let (to_targets, endpoints, arcs) = ASKED[asked % ASKED.len()];
    let control = Control::new();
    let task = Task { sources, targets: to_targets.then_some(&marks), endpoints, arcs, control: &control };
    for device in testing::devices(3) {
        let outcome = solve(&device, graph, &task).unwrap();
        let mut by_vertex = Sums::new(graph.vertices()).unwrap();
        let mut by_arc = Sums::new(graph.arcs()).unwrap();
        for &source in sources.iter().filter(|source| !outcome.left.contains(source)) {
            add_plainly(graph, source, &task, &mut by_vertex, &mut by_arc);
        }
        let what = format!("{name} from {sources:?}, to targets: {to_targets}, endpoints: {endpoints}, arcs: {arcs}");
        assert_eq!(outcome.vertices.into_floats().unwrap(), by_vertex.into_floats().unwrap(), "{what}");
        assert_eq!(outcome.arcs.is_some(), arcs, "{what}");
        if let Some(found) = outcome.arcs {
            assert_eq!(found.into_floats().unwrap(), by_arc.into_floats().unwrap(), "arcs, {what}");
        }
    }
}

/// All that can be asked for.
fn check(name: &str, graph: &Graph, sources: &[VertexId]) {
    (0..ASKED.len()).for_each(|asked| check_one(name, graph, sources, asked));
}

/// A graph with weights from 1 on, of which there are so many, the same on both directions of an edge.
fn weighted(graph: &Graph, many: u32) -> Graph {
    let weight = |(u, v, _): (VertexId, VertexId, f64)| {
        1 + (u.min(v).wrapping_mul(2_654_435_761) ^ u.max(v).wrapping_mul(40_503)) / 7 % many
    };
    graph.clone().with_weights(Weights::U32(graph.edges().map(weight).collect())).unwrap()
}

fn some_sources(random: &mut Random, graph: &Graph, most: u64) -> Vec<VertexId> {
    let vertices = graph.vertices() as u64;
    let count = 1 + random.below(most.min(vertices));
    (0..count).map(|_| random.below(vertices) as VertexId).collect()
}

#[test]
fn sums_have_the_bits_of_the_plainest_method() {
    let mut random = Random(5);
    for (asked, (name, graph)) in graphs_of_every_shape::<Unit>(2).into_iter().step_by(size(3, 20)).enumerate() {
        if graph.vertices() > 0 && graph.arcs() <= 3000 {
            check_one(&name, &graph, &some_sources(&mut random, &graph, 40), asked);
        }
    }
}

#[test]
fn sums_by_weights_have_the_bits_of_the_plainest_method() {
    let mut random = Random(6);
    for (asked, (name, graph)) in one_of_every_shape::<Unit>(3).into_iter().enumerate() {
        if graph.vertices() > 0 && graph.arcs() <= 3000 {
            // All equal, many equally long paths, and hardly any.
            let graph = weighted(&graph, [1, 3, 100_000][asked % 3]);
            // The emulator takes long for many rounds.
            let most = if graph.vertices() > 200 { 1 } else { 4 };
            check_one(&name, &graph, &some_sources(&mut random, &graph, most), asked);
        }
    }
}

#[test]
fn offsets_of_64_bits_lead_to_the_same_sums() {
    let graph = crate::generate::generate("kron:7,edges-per-vertex=12").unwrap();
    WIDE_OFFSETS.set(true);
    check("wide", &graph, &[0, 5, 100]);
    check("wide, by weights", &weighted(&graph, 3), &[0, 5, 100]);
    WIDE_OFFSETS.set(false);
}

#[test]
fn long_rows_are_cut_and_summed_in_order() {
    // Two hubs with most vertices in common, and paths between these, so that sums have many different terms.
    let spokes = size(1500_u32, 600);
    let edges = (0..spokes).flat_map(|v| [(spokes, v), (spokes + 1, (v * 7) % spokes), (v, (v * v + 3) % spokes)]);
    for direction in [Direction::Undirected, Direction::Directed] {
        let graph = GraphBuilder::new().direction(direction).build_from(edges.clone()).unwrap();
        check("two hubs", &graph, &[0, spokes, spokes + 1, 9]);
        check("two hubs, by weights", &weighted(&graph, 4), &[0, 1, spokes, spokes / 2, spokes + 1, 3]);
    }
}

#[test]
fn searches_with_too_many_paths_are_handed_back() {
    // Each diamond doubles the number of paths: from the 53rd on, counts are no exact sums.
    let diamonds = 60_u32;
    let edges = (0..diamonds)
        .flat_map(|d| [(3 * d, 3 * d + 1), (3 * d, 3 * d + 2), (3 * d + 1, 3 * d + 3), (3 * d + 2, 3 * d + 3)]);
    let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
    let sources = &[0, 90, 180];
    for graph in [weighted(&graph, 1), graph] {
        for device in testing::devices(1) {
            let task = Task { sources, targets: None, endpoints: true, arcs: true, control: &Control::new() };
            assert_eq!(solve(&device, &graph, &task).unwrap().left, [0, 180]);
        }
        check_one("diamonds", &graph, sources, 1);
    }
}

#[test]
fn searches_with_distances_beyond_32_bits_are_handed_back() {
    let arcs = [(0, 1, 3_000_000_000_u32), (1, 2, 3_000_000_000), (2, 3, 1), (1, 3, 4), (3, 4, 7)];
    let graph = GraphBuilder::new().parallel_edges(ParallelEdges::Keep).build_from(arcs).unwrap();
    for device in testing::devices(1) {
        for (sources, left) in [(vec![0, 1, 2, 0, 3], vec![0, 0]), (vec![0], vec![0])] {
            let task = Task { sources: &sources, targets: None, endpoints: true, arcs: true, control: &Control::new() };
            assert_eq!(solve(&device, &graph, &task).unwrap().left, left);
            check("huge weights", &graph, &sources);
        }
    }
}

#[test]
fn what_is_planned_is_what_is_taken() {
    let graph = crate::generate::generate("kron:8").unwrap();
    let directed = crate::generate::generate("crawl:300").unwrap();
    let control = Control::new();
    for graph in [weighted(&graph, 9), weighted(&directed, 9), graph, directed] {
        for arcs in [false, true] {
            for device in testing::devices(1) {
                let task = Task { sources: &[], targets: None, endpoints: false, arcs, control: &control };
                let (search, way_out) = prepare(&device, &graph, &task).unwrap();
                assert_eq!(search.pool.used() + way_out.used(), plan(&graph, arcs).device_bytes());
            }
        }
    }
}
