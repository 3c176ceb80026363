use super::*;
use crate::cuda::device::testing;
use crate::graph::{Direction, GraphBuilder, Unit};
use crate::testing::{Random, graphs_of_every_shape, size};

const ALL: Wanted =
    Wanted { sums: WantedSums { sums: true, inverse_sums: true, greatest: true }, sizes: true, cutoff: u32::MAX };

/// The sums and the sizes by the plainest way: one search after another.
fn plain(graph: &Graph, sources: &[VertexId], cutoff: u32) -> (LevelSums, Vec<u64>) {
    let vertices = graph.vertices();
    let mut all = LevelSums {
        by_level: Vec::new(),
        reached: vec![0; vertices],
        sums: vec![0; vertices],
        inverse_sums: vec![0.0; vertices],
        greatest: vec![0; vertices],
    };
    let mut sizes = Vec::new();
    for &source in sources {
        let mut levels = vec![u32::MAX; vertices];
        levels[source as usize] = 0;
        let mut order = vec![source];
        let mut next = 0;
        while let Some(&u) = order.get(next) {
            next += 1;
            let (u, level) = (u as usize, levels[u as usize]);
            count(&mut all.by_level, level as usize, 1).unwrap();
            all.reached[u] += 1;
            all.sums[u] += u64::from(level);
            all.inverse_sums[u] += if level > 0 { 1.0 / f64::from(level) } else { 0.0 };
            all.greatest[u] = all.greatest[u].max(level);
            for &v in graph.neighbors(u as VertexId) {
                if levels[v as usize] == u32::MAX && level < cutoff {
                    levels[v as usize] = level + 1;
                    order.push(v);
                }
            }
        }
        sizes.push(order.len() as u64);
    }
    (all, sizes)
}

fn check(name: &str, graph: &Graph, sources: &[VertexId]) {
    // All widths with whole searches, and each of some ends with one of them.
    for (words, cutoff) in WORDS.map(|words| (words, u32::MAX)).into_iter().chain([(1, 0), (4, 1), (8, 2), (1, 3)]) {
        let (expected, sizes) = plain(graph, sources, cutoff);
        let wanted = Wanted { cutoff, ..ALL };
        let bytes = plan_of(|arena| layout(arena, graph, words, wanted)).device_bytes();
        for device in testing::devices(3) {
            let found = solve(&device, graph, sources, wanted, bytes, &Control::new()).unwrap();
            let name = format!("{name} from {} sources, {words} words, {cutoff} levels", sources.len());
            assert_eq!(found.statistics[0].1, sources.len().div_ceil(SEARCHES * words as usize) as u64, "{name}");
            assert_eq!(found.sizes, sizes, "{name}");
            let found = found.sums;
            assert_eq!(found.by_level, expected.by_level, "{name}");
            assert_eq!(found.reached, expected.reached, "{name}");
            assert_eq!(found.sums, expected.sums, "{name}");
            assert_eq!(found.greatest, expected.greatest, "{name}");
            for (v, (found, expected)) in found.inverse_sums.iter().zip(&expected.inverse_sums).enumerate() {
                assert!((found - expected).abs() <= 1e-12 * expected, "{name}, vertex {v}: {found}, {expected}");
            }
        }
    }
}

#[test]
fn sums_are_those_of_one_search_after_another() {
    let mut random = Random(8);
    for (name, graph) in graphs_of_every_shape::<Unit>(2).into_iter().step_by(size(3, 20)) {
        let vertices = graph.vertices() as u64;
        if vertices == 0 || graph.arcs() > 3000 {
            continue;
        }
        let count = 1 + random.below(140);
        let sources: Vec<VertexId> = (0..count).map(|_| random.below(vertices) as VertexId).collect();
        check(&name, &graph, &sources);
    }
}

#[test]
fn batches_of_all_vertices_and_both_directions_are_searched() {
    // Wide levels in the middle, narrow ones before and after: the direction changes there and back.
    let graph = crate::generate::generate("kron:8").unwrap();
    let tail = (0..40_u32).map(|k| (if k == 0 { 1 } else { 255 + k }, 256 + k));
    let edges: Vec<(u32, u32)> = graph.edges().map(|(u, v, _)| (u, v)).chain(tail).collect();
    for direction in [Direction::Undirected, Direction::Directed] {
        let graph = GraphBuilder::new().direction(direction).build_from(edges.iter().copied()).unwrap();
        let sources: Vec<VertexId> = (0..graph.vertices() as VertexId).chain([7, 7, 9]).collect();
        check("a Kronecker graph with a tail", &graph, &sources);
    }
    // A row of many pieces.
    let star = GraphBuilder::new().direction(Direction::Undirected).build_from((1..1200_u32).map(|v| (0, v))).unwrap();
    check("a star", &star, &[0, 5, 1199]);
    // Long rows by head, one of which some searches reach late.
    let hubs = (2..1200_u32).flat_map(|v| [(v, 0), (v, v * v % 1200), (v % 300, 1), (1, v % 7)]);
    let hubs = GraphBuilder::new().direction(Direction::Directed).build_from(hubs.chain([(0, 1), (1100, 1)])).unwrap();
    let sources: Vec<VertexId> = (0..70).map(|k| k * 19 % 1200).collect();
    check("two hubs", &hubs, &sources);
    let wide: Vec<(u32, u32)> = (0..1100_u32).flat_map(|v| [(v, 1100), (v, 1101), (v, (v * 7 + 1) % 1100)]).collect();
    let wide = GraphBuilder::new().direction(Direction::Undirected).build_from(wide).unwrap();
    check("two hubs of all", &wide, &sources.iter().map(|v| v % 1102).collect::<Vec<_>>());
}

#[test]
fn what_is_planned_is_what_is_taken_and_less_memory_takes_fewer_searches() {
    let graph = crate::generate::generate("kron:8").unwrap();
    let plans = WORDS.map(|words| plan_of(|arena| layout(arena, &graph, words, ALL)).device_bytes());
    assert!(plans.is_sorted_by(|a, b| a > b));
    for device in testing::devices(1) {
        for (bytes, words) in plans.into_iter().zip(WORDS) {
            assert_eq!(plan(&graph, ALL, bytes).device_bytes(), bytes);
            assert_eq!(Search::prepare(&device, &graph, ALL, words).unwrap().pool.used(), bytes);
        }
    }
    assert_eq!(plan(&graph, ALL, 0).device_bytes(), plans[2]);
}

/// A call that fails is an error, or leaves the sums right.
#[cfg(emulator)]
#[test]
fn a_device_that_fails_gives_no_wrong_sums() {
    use crate::cuda::device::failing::{Failing, Fault};
    let graph = crate::generate::generate("kron:6").unwrap();
    let sources: Vec<VertexId> = (0..70).map(|k| k % 64).collect();
    let (expected, sizes) = plain(&graph, &sources, u32::MAX);
    let bytes = plan(&graph, ALL, 0).device_bytes();
    for fault in [Fault::Refused, Fault::Lost] {
        let mut errors = 0;
        for call in 1.. {
            let failing = Arc::new(Failing::new(1, fault, call));
            let device: Arc<dyn Device> = failing.clone();
            match solve(&device, &graph, &sources, ALL, bytes, &Control::new()) {
                Ok(found) => {
                    assert_eq!(
                        (found.sums.sums, found.sizes),
                        (expected.sums.clone(), sizes.clone()),
                        "{fault:?} {call}"
                    );
                }
                Err(Error::Device(_) | Error::OutOfMemory { .. }) => errors += 1,
                Err(error) => panic!("{fault:?} {call}: {error}"),
            }
            if !failing.has_failed() {
                break;
            }
        }
        assert!(errors > 10, "{errors}");
    }
}
