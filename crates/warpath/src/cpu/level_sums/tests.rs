use super::*;
use crate::graph::{Graph, Unit};
use crate::testing::{Random, graphs_of_every_shape, size};

const ALL: WantedSums = WantedSums { sums: true, inverse_sums: true, greatest: true };

/// The levels of a search, by the plainest way.
fn levels_from(graph: &Graph, source: VertexId) -> Vec<Option<u32>> {
    let mut levels = vec![None; graph.vertices()];
    levels[source as usize] = Some(0);
    let mut order = vec![source];
    let mut next = 0;
    while let Some(&u) = order.get(next) {
        next += 1;
        let level = levels[u as usize].map(|level: u32| level + 1);
        for &v in graph.neighbors(u) {
            if levels[v as usize].is_none() {
                levels[v as usize] = level;
                order.push(v);
            }
        }
    }
    levels
}

fn check(name: &str, graph: &Graph, sources: &[VertexId]) {
    let rows: Vec<Vec<Option<u32>>> = sources.iter().map(|&source| levels_from(graph, source)).collect();
    let column = |v: usize| rows.iter().filter_map(move |row| row[v]);
    let mut bits = None;
    for threads in [1, 3] {
        let team = Team::new(threads).unwrap();
        let found = solve(graph.csr(), sources, ALL, &team, &Control::new()).unwrap();
        for v in 0..graph.vertices() {
            let name = format!("{name} from {} sources, vertex {v}", sources.len());
            assert_eq!(found.reached[v] as usize, column(v).count(), "{name}");
            assert_eq!(found.sums[v], column(v).map(u64::from).sum::<u64>(), "{name}");
            assert_eq!(found.greatest[v], column(v).max().unwrap_or(0), "{name}");
            let inverse: f64 = column(v).filter(|&level| level > 0).map(|level| 1.0 / f64::from(level)).sum();
            assert!((found.inverse_sums[v] - inverse).abs() <= 1e-12 * inverse, "{name}");
        }
        let deepest = rows.iter().flatten().flatten().max().map_or(0, |&level| level as usize + 1);
        assert_eq!(found.by_level.len(), deepest, "{name}");
        for (level, &pairs) in found.by_level.iter().enumerate() {
            let there = rows.iter().flatten().flatten().filter(|&&of| of as usize == level);
            assert_eq!(pairs as usize, there.count(), "{name}, level {level}");
        }
        // The same bits on all numbers of threads.
        let these: Vec<u64> = found.inverse_sums.iter().map(|sum| sum.to_bits()).collect();
        assert!(*bits.get_or_insert_with(|| these.clone()) == these, "{name}");
        let few = solve(graph.csr(), sources, WantedSums::default(), &team, &Control::new()).unwrap();
        assert_eq!((few.reached, few.by_level), (found.reached, found.by_level), "{name}");
        assert!(few.sums.is_empty() && few.inverse_sums.is_empty() && few.greatest.is_empty());
    }
}

#[test]
fn sums_are_those_of_one_search_after_another() {
    let mut random = Random(31);
    for seed in 0..size(2, 1) {
        for (name, graph) in graphs_of_every_shape::<Unit>(seed) {
            let vertices = graph.vertices() as u64;
            // More than one thread has at once, and some of them twice.
            let sources: Vec<VertexId> =
                (0..random.below(size(700, 9)) * vertices.min(1)).map(|_| random.below(vertices) as VertexId).collect();
            check(&name, &graph, &sources);
        }
    }
}

#[test]
fn cancelled_work_ends() {
    let graph = crate::generate("uniform:8").unwrap();
    let control = Control::new();
    control.cancel();
    let found = solve(graph.csr(), &[1, 2], ALL, &Team::alone(), &control);
    assert!(matches!(found, Err(crate::Error::Interrupted)));
}
