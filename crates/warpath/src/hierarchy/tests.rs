use std::ops::Range;
use std::sync::Arc;

use super::order::Pattern;
use super::*;
use crate::graph::Distance;
use crate::problems::{DistanceSum, RowFacts};
use crate::testing::{Random, graphs_of_every_shape, one_of_every_shape, size};
use crate::{Error, Solver};

/// How far floats may differ: shortcuts add them in another order.
fn alike(a: Option<Distance>, b: Option<Distance>) -> bool {
    match (a, b) {
        (Some(Distance::Single(_) | Distance::Double(_)), Some(_)) => {
            let (a, b) = (a.unwrap().to_f64(), b.unwrap().to_f64());
            a == b || (a - b).abs() <= 1e-5 * a.abs().max(b.abs())
        }
        _ => a.map(Distance::to_f64) == b.map(Distance::to_f64),
    }
}

pub(super) fn random_order(count: usize, random: &mut Random) -> Vec<VertexId> {
    let mut order: Vec<VertexId> = (0..count as VertexId).collect();
    for end in (1..count).rev() {
        order.swap(end, random.below(end as u64 + 1) as usize);
    }
    order
}

/// Every answer of the hierarchy against searches by other algorithms, and its paths against the graph.
pub(super) fn check(name: &str, hierarchy: &Hierarchy, random: &mut Random) {
    let graph = &hierarchy.graph;
    let metric = hierarchy.customize(graph.weights()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let solver = Solver::new(graph.clone()).unwrap();
    // Two full sweeps and a part of one; sources may repeat. The first time few rows were asked for, and the second time so many that
    // labels pay.
    let sources: Vec<VertexId> = (0..37).map(|_| random.below(graph.vertices() as u64) as VertexId).collect();
    for _ in 0..2 {
        let visits = std::sync::Mutex::new(vec![0; sources.len()]);
        let visit = |place: usize, distances: &crate::graph::Distances| {
            visits.lock().unwrap()[place] += 1;
            assert_eq!(*distances, metric.distances_from(sources[place]).unwrap(), "{name}: source {place}");
        };
        metric.distances_from_each(&sources, visit).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(visits.into_inner().unwrap().iter().all(|&times| times == 1), "{name}");
    }
    check_facts(name, &metric, &sources);
    let targets: Vec<VertexId> = (0..5).map(|_| random.below(graph.vertices() as u64) as VertexId).collect();
    for targets in [&targets[..], &targets[..1], &[]] {
        let visit = |place: usize, distances: &crate::graph::Distances| {
            let all = metric.distances_from(sources[place]).unwrap();
            assert_eq!(distances.len(), targets.len(), "{name}");
            for (column, &target) in targets.iter().enumerate() {
                assert_eq!(distances.get(column), all.get(target as usize), "{name}: {place} to {target}");
            }
        };
        metric.distances_between(&sources, targets, visit).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for _ in 0..size(3, 1) {
        let source = random.below(graph.vertices() as u64) as VertexId;
        let expected = solver.sssp(source).unwrap();
        let found = metric.distances_from(source).unwrap();
        // Of a large graph not every pair is asked for by itself.
        let every = 1 + graph.vertices() as VertexId / 400;
        for target in 0..graph.vertices() as VertexId {
            let expected = expected.distance(target);
            assert!(alike(found.get(target as usize), expected), "{name}: {source} to {target}: {expected:?}");
            if !target.is_multiple_of(every) {
                continue;
            }
            let distance = metric.distance(source, target).unwrap();
            assert!(alike(distance, expected), "{name}: pair {source}, {target}: {distance:?}, {expected:?}");
        }
        for _ in 0..5 {
            let target = random.below(graph.vertices() as u64) as VertexId;
            let path = metric.path(source, target).unwrap();
            assert_eq!(path.is_some(), expected.distance(target).is_some(), "{name}");
            let Some(path) = path else { continue };
            assert_eq!((path.vertices()[0], *path.vertices().last().unwrap()), (source, target), "{name}");
            let steps = path.steps(graph).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(alike(Some(steps.last().unwrap().distance), Some(path.length())), "{name}: length of the path");
        }
    }
}

/// The facts about the distances from each source, with as many sources in a sweep as one thread takes, and as many threads take.
fn check_facts(name: &str, metric: &Metric, sources: &[VertexId]) {
    for threads in [1, 3] {
        let visits = std::sync::Mutex::new(vec![0; sources.len()]);
        let visit = |place: usize, facts: &RowFacts| {
            visits.lock().unwrap()[place] += 1;
            let expected = RowFacts::of(&metric.distances_from(sources[place]).unwrap());
            let sums = match (facts.sum, expected.sum) {
                // Added in another order.
                (DistanceSum::Float(a), DistanceSum::Float(b)) => {
                    a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
                }
                (a, b) => a == b,
            };
            let found = (facts.reached, facts.greatest);
            assert!(sums && found == (expected.reached, expected.greatest), "{name}: {facts:?}, {expected:?}");
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| metric.facts_of_each(sources, visit)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(visits.into_inner().unwrap().iter().all(|&times| times == 1), "{name}");
    }
}

fn every_shape(seed: u64, graphs: Vec<(String, Graph)>) {
    let mut random = Random(seed);
    for (name, graph) in graphs {
        let graph = Arc::new(graph);
        check(&name, &Hierarchy::new(graph.clone()).unwrap(), &mut random);
        let order = random_order(graph.vertices(), &mut random);
        check(&format!("{name}, random order"), &Hierarchy::with_order(graph, &order).unwrap(), &mut random);
    }
}

#[test]
fn answers_are_those_of_searches() {
    every_shape(1, graphs_of_every_shape::<u32>(1));
    every_shape(2, one_of_every_shape::<crate::graph::Unit>(2));
    every_shape(3, one_of_every_shape::<i32>(3));
    every_shape(4, one_of_every_shape::<f32>(4));
    every_shape(5, graphs_of_every_shape::<f64>(5));
}

#[test]
fn dissected_graphs_are_answered_too() {
    // Large enough for separators, coarsening and threads; from sparse to as dense as no separator divides it.
    let specs = [
        "grid:60x70,weights=1..1000",
        "rgg:12,weights=0..9",
        "roads:5000",
        "scale-free:3000,weights=1..100",
        "crawl:2000,arcs=9000,weights=1..100",
        "kron:10,weights=1..1000",
        "dense:400",
    ];
    for spec in specs {
        let graph = crate::generate(spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
        check(spec, &Hierarchy::new(graph).unwrap(), &mut Random(9));
    }
}

#[test]
fn the_order_does_not_depend_on_threads() {
    let graph = Arc::new(crate::generate("roads:9000").unwrap());
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Hierarchy::new(graph.clone()).unwrap())
    };
    let (one, three) = (with_threads(1), with_threads(3));
    assert_eq!(one.order(), three.order());
    let mut vertices = one.order().to_vec();
    vertices.sort_unstable();
    assert!(vertices.into_iter().eq(0..graph.vertices() as VertexId), "each vertex once");
}

#[test]
fn separators_keep_shortcuts_few() {
    // A grid of n vertices needs at least about (31 / 8) n log2(n) / 2 of George's count; a bad order gives n^1.5.
    let grid = Hierarchy::new(crate::generate("grid:100x100").unwrap()).unwrap();
    assert!(grid.shortcuts() < 220_000, "{} shortcuts", grid.shortcuts());
    assert!(grid.height() < 400, "height {}", grid.height());
    // A path is halved again and again, and a star has its hub last.
    let path = Graph::from_edges((0..999).map(|v| (v, v + 1, 1_u32))).unwrap();
    let path = Hierarchy::new(path).unwrap();
    assert!(path.shortcuts() < 2_000 && path.height() < 40, "{} {}", path.shortcuts(), path.height());
    let star = Graph::from_edges((1..100_000).map(|v| (0, v, 1_u32))).unwrap();
    let star = Hierarchy::new(star).unwrap();
    assert_eq!((star.shortcuts(), star.width()), (99_999, 1));
}

/// Weights that may be negative, but have no negative cycle: each is what it was plus the difference of two potentials.
#[test]
fn negative_weights_are_added_up() {
    let mut random = Random(11);
    for (name, graph) in graphs_of_every_shape::<u32>(6) {
        if !graph.is_directed() {
            continue;
        }
        let potentials: Vec<i64> = (0..graph.vertices()).map(|_| random.below(2000) as i64 - 1000).collect();
        let weights = (0..graph.vertices() as VertexId).flat_map(|u| {
            let row = graph.neighbors(u).iter();
            row.map(|&v| (potentials[v as usize] - potentials[u as usize]) as i32).collect::<Vec<_>>()
        });
        let weights: Vec<i32> = weights.map(|difference| difference + random.below(50) as i32).collect();
        let graph = graph.with_weights(Weights::I32(weights)).unwrap();
        check(&name, &Hierarchy::new(graph).unwrap(), &mut random);
    }
}

/// Bellman-Ford from all vertices at once: distances that still fall after V rounds.
fn has_negative_cycle(graph: &Graph) -> bool {
    let arcs = graph.csr().adjacency::<i32>().unwrap();
    let mut distances = vec![0_i64; graph.vertices()];
    let mut fell = true;
    for _ in 0..=graph.vertices() {
        fell = false;
        for u in 0..graph.vertices() as VertexId {
            for (v, weight) in arcs.edges(u) {
                let length = distances[u as usize] + i64::from(weight);
                if length < distances[v as usize] {
                    (distances[v as usize], fell) = (length, true);
                }
            }
        }
        if !fell {
            break;
        }
    }
    fell
}

#[test]
fn negative_cycles_are_found_with_their_edges() {
    let mut random = Random(12);
    let mut found = 0;
    for (name, graph) in graphs_of_every_shape::<u32>(7) {
        let weights = if graph.is_directed() {
            (0..graph.arcs()).map(|_| random.below(100) as i32 - 12).collect()
        } else {
            vec![-1; graph.arcs()]
        };
        let graph = Arc::new(graph.with_weights(Weights::I32(weights)).unwrap());
        let hierarchy = Hierarchy::new(graph.clone()).unwrap();
        match (hierarchy.customize(graph.weights()), has_negative_cycle(&graph)) {
            (Ok(_), false) => {}
            (Err(Error::NegativeCycle(cycle)), true) => {
                found += 1;
                cycle.verify(&graph).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            (found, expected) => panic!("{name}: {:?}, expected a negative cycle: {expected}", found.err()),
        }
    }
    assert!(found > 10, "{found}");
}

#[test]
fn other_weights_need_no_new_order() {
    let mut random = Random(13);
    let graph = Arc::new(crate::generate("crawl:500,arcs=3000,weights=1..100").unwrap());
    let hierarchy = Hierarchy::new(graph.clone()).unwrap();
    for kind in 0..3 {
        let draw = |random: &mut Random| random.below(1 << 20);
        let drawn: Vec<u64> = (0..graph.arcs()).map(|_| draw(&mut random)).collect();
        let weights = match kind {
            0 => Weights::U32(drawn.iter().map(|&w| w as u32 * 4000).collect()),
            1 => Weights::F64(drawn.iter().map(|&w| w as f64 / 3.0).collect()),
            _ => Weights::unit(graph.arcs()),
        };
        let metric = hierarchy.customize(&weights).unwrap();
        let other = Graph::clone(&graph).with_weights(weights).unwrap();
        let tree = Solver::new(other).unwrap().sssp(7).unwrap();
        let distances = metric.distances_from(7).unwrap();
        for v in 0..graph.vertices() {
            assert!(alike(distances.get(v), tree.distance(v as VertexId)), "{kind}: {v}");
        }
    }
}

#[test]
fn mistakes_are_named() {
    let graph = Arc::new(Graph::from_edges([(0, 1, 5_u32), (1, 2, 7)]).unwrap());
    let told = |result: Result<Hierarchy>, wanted: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    told(Hierarchy::with_order(graph.clone(), &[0, 1]), "the order has 2 vertices, and the graph 3");
    told(Hierarchy::with_order(graph.clone(), &[0, 1, 1]), "the order has the vertex 1 twice");
    told(Hierarchy::with_order(graph.clone(), &[0, 1, 3]), "3");
    let hierarchy = Hierarchy::new(graph).unwrap();
    let error = hierarchy.customize(&Weights::unit(3)).unwrap_err().to_string();
    assert!(error.contains("3 weights, and the graph has"), "{error}");
    let metric = hierarchy.customize(hierarchy.graph().weights()).unwrap();
    assert!(metric.distance(0, 3).is_err() && metric.distances_from(3).is_err());
    assert!(metric.distances_from_each(&[0, 3], |_, _| panic!("no source is visited")).is_err());
    assert!(metric.distances_between(&[0], &[3], |_, _| panic!("no source is visited")).is_err());
    metric.distances_from_each(&[], |_, _| panic!("there is no source")).unwrap();
    let edges = crate::graph::GraphBuilder::new().direction(crate::graph::Direction::Undirected);
    let edge = edges.build_from([(0, 1, 5_u32)]).unwrap();
    let error = Hierarchy::new(edge).unwrap().customize(&Weights::U32(vec![1, 2])).unwrap_err().to_string();
    assert!(error.contains("the two directions"), "{error}");
}

/// Distances to some targets are certain only if nothing was lost on the way up from the source, either.
#[test]
fn distances_beyond_32_bits_are_found_between_some_vertices() {
    // A way up and down whose top is far away, under orders that put each vertex on top.
    let far = 3_000_000_000_u32;
    let graph = Arc::new(Graph::from_edges([(0, 1, far), (1, 2, far), (2, 3, 1), (3, 4, far), (0, 5, 1)]).unwrap());
    let mut random = Random(21);
    for _ in 0..20 {
        let order = random_order(6, &mut random);
        let hierarchy = Hierarchy::with_order(graph.clone(), &order).unwrap();
        let metric = hierarchy.customize(graph.weights()).unwrap();
        let expected = [None, Some(1), Some(u64::from(far) * 3 + 1), Some(u64::from(far) * 2)];
        let visit = |_: usize, distances: &crate::graph::Distances| {
            for (column, expected) in expected.into_iter().enumerate().skip(1) {
                assert_eq!(distances.get(column), expected.map(Distance::Unsigned), "{order:?}");
            }
        };
        metric.distances_between(&[0], &[0, 5, 4, 2], visit).unwrap();
    }
}

/// Rows tell that a distance was lost wherever it is: in a front, in the source's own tile, or in another one, whose labels may be too
/// long themselves.
#[test]
fn rows_beyond_32_bits_are_found_by_labels() {
    let mut random = Random(22);
    let mut wide = 0;
    for (name, graph) in graphs_of_every_shape::<u32>(22) {
        if graph.vertices() > 300 {
            continue;
        }
        for (greatest, in_random_order) in [(1 << 27, false), (1 << 28, false), (1 << 30, false), (1 << 30, true)] {
            // The same in both directions.
            let seed = random.below(1 << 40);
            let weight = |u: VertexId, v: VertexId| Random(seed + u64::from(u) * u64::from(v)).below(greatest) as u32;
            let row = |u: VertexId| graph.neighbors(u).iter().map(move |&v| weight(u, v));
            let weights = Weights::U32((0..graph.vertices() as VertexId).flat_map(row).collect());
            let graph = graph.clone().with_weights(weights).unwrap();
            let hierarchy = match in_random_order {
                true => Hierarchy::with_order(graph.clone(), &random_order(graph.vertices(), &mut random)),
                false => Hierarchy::new(graph.clone()),
            };
            let metric = hierarchy.unwrap().customize(graph.weights()).unwrap();
            let sources: Vec<VertexId> = (0..50).map(|_| random.below(graph.vertices() as u64) as VertexId).collect();
            let are_wide = std::sync::atomic::AtomicUsize::new(0);
            let visit = |place: usize, distances: &crate::graph::Distances| {
                let is_wide = matches!(distances, crate::graph::Distances::U64(_));
                are_wide.fetch_add(usize::from(is_wide), std::sync::atomic::Ordering::Relaxed);
                let expected = metric.distances_from(sources[place]).unwrap();
                assert!((0..graph.vertices()).all(|v| distances.get(v) == expected.get(v)), "{name}, {greatest}");
            };
            metric.distances_from_each(&sources, visit).unwrap();
            wide += are_wide.into_inner();
        }
    }
    assert!(wide > 1000, "{wide}");
}

/// Within the source's own tile, too, where no hub shows it.
#[test]
fn rows_beyond_32_bits_are_found_in_the_own_tile() {
    let edge = 1_u32 << 30;
    let graph = Graph::from_edges((0..5).map(|v| (v, v + 1, edge))).unwrap();
    let hierarchy = Hierarchy::with_order(graph, &[5, 4, 3, 2, 1, 0]).unwrap();
    let metric = hierarchy.customize(hierarchy.graph().weights()).unwrap();
    let visit = |_: usize, distances: &crate::graph::Distances| {
        (0..6).for_each(|v| assert_eq!(distances.get(v), Some(Distance::Unsigned(v as u64 * u64::from(edge)))));
    };
    metric.distances_from_each(&[0; 50], visit).unwrap();
}

/// A way out of a source's own tile and back is no distance, and so no reason to take 64 bits.
#[test]
fn rows_are_not_doubted_for_ways_out_of_the_own_tile() {
    let far = 1_500_000_000_u32;
    let path = (2..20).map(|v| (v, v + 1, 1_u32));
    let edges = crate::graph::GraphBuilder::new().direction(crate::graph::Direction::Undirected);
    let graph = edges.build_from([(0, 1, 1), (1, 2, far)].into_iter().chain(path)).unwrap();
    let order: Vec<VertexId> = [0, 1].into_iter().chain((2..21).rev()).collect();
    let hierarchy = Hierarchy::with_order(graph, &order).unwrap();
    let metric = hierarchy.customize(hierarchy.graph().weights()).unwrap();
    let visit = |_: usize, distances: &crate::graph::Distances| {
        assert!(matches!(distances, crate::graph::Distances::U32(_)));
        assert_eq!(distances.get(20), Some(Distance::Unsigned(u64::from(far) + 19)));
    };
    metric.distances_from_each(&[0; 50], visit).unwrap();
}

/// Where memory is short, rows come from sweeps alone.
#[test]
fn labels_are_made_where_they_fit() {
    let hierarchy = Hierarchy::new(crate::generate("roads:2000").unwrap()).unwrap();
    let metric = hierarchy.customize(hierarchy.graph().weights()).unwrap();
    let lengths = metric.lengths::<u32>().unwrap().unwrap();
    let make = |room: u64| {
        let elimination = &hierarchy.shared.elimination;
        labels::Labels::new::<crate::graph::U32ToU32>(elimination, lengths.down(), room).unwrap()
    };
    assert!(make(20_000).is_none() && make(10_000_000).is_some());
}

#[test]
fn edges_are_told_from_other_shortcuts() {
    for (name, graph) in graphs_of_every_shape::<u32>(14) {
        let pattern = Pattern::new(&graph).unwrap();
        let hierarchy = Hierarchy::new(graph).unwrap();
        assert_eq!(hierarchy.edges().unwrap(), pattern.heads.len() as u64 / 2, "{name}");
    }
}

#[test]
fn a_graph_without_separators_is_given_up() {
    let graph = crate::generate("kron:9").unwrap();
    let pattern = Pattern::new(&graph).unwrap();
    let order = order::nested_dissection(pattern.clone(), u64::MAX, &Control::new()).unwrap();
    let whole = Elimination::new(&pattern, &order, u64::MAX, &Control::new()).unwrap();
    let arcs = whole.heads.len() as u64;
    assert!(Elimination::new(&pattern, &order, arcs, &Control::new()).is_ok());
    let error = Elimination::new(&pattern, &order, arcs - 1, &Control::new()).unwrap_err().to_string();
    assert!(error.contains("the graph has no small separators"), "{error}");
}

/// Long before the order is complete.
#[test]
fn the_first_separators_tell_that_a_graph_has_no_small_ones() {
    let random = crate::generate("uniform:13").unwrap();
    let furthest = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let seen = furthest.clone();
    let control = Control::new().watched_by(move |progress| {
        seen.fetch_max(progress.done, std::sync::atomic::Ordering::Relaxed);
    });
    let refused = Hierarchy::builder(random).memory(32_000).control(control).build().unwrap_err().to_string();
    assert!(refused.contains("no small separators: it takes") && refused.contains("room for 1000"), "{refused}");
    assert_eq!(furthest.load(std::sync::atomic::Ordering::Relaxed), 0);
    // Nothing is refused for its separators that has room.
    for (name, graph) in graphs_of_every_shape::<crate::graph::Unit>(5) {
        let shortcuts = Hierarchy::new(graph.clone()).unwrap().shortcuts();
        Hierarchy::builder(graph).memory(32 * shortcuts).build().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn estimates_are_near_what_comes_about() {
    for (spec, least, most) in [
        ("grid:150x150", 0.7, 1.4),
        ("roads:40000", 0.7, 1.5),
        ("rgg:14", 0.7, 1.4),
        ("grid:1x20000", 0.5, 1.5),
        ("scale-free:8000", 0.7, 1.5),
        ("kron:13", 0.7, 1.4),
        ("dense:600", 0.9, 1.1),
    ] {
        let graph = crate::generate(spec).unwrap();
        let estimate = Hierarchy::estimate(&graph, &Control::new()).unwrap();
        let hierarchy = Hierarchy::new(graph).unwrap();
        assert_eq!(estimate.edges, hierarchy.edges().unwrap(), "{spec}");
        let is_near = |estimate: u64, truth: u64| {
            let ratio = estimate as f64 / truth as f64;
            assert!((least..most).contains(&ratio), "{spec}: {estimate} instead of {truth}");
        };
        is_near(estimate.shortcuts, hierarchy.shortcuts());
        let degrees = hierarchy.shared.elimination.offsets.windows(2).map(|pair| pair[1] - pair[0]);
        let triangles: u64 = degrees.map(|degree| degree * degree.saturating_sub(1) / 2).sum();
        assert!(estimate.triangles as f64 >= 0.5 * triangles as f64, "{spec}: {} of {triangles}", estimate.triangles);
        assert!(estimate.triangles as f64 <= 10.0 * triangles as f64, "{spec}: {} of {triangles}", estimate.triangles);
        assert!(
            estimate.height as usize * 3 >= hierarchy.height(),
            "{spec}: {} of {}",
            estimate.height,
            hierarchy.height()
        );
    }
    for (name, graph) in graphs_of_every_shape::<u32>(15) {
        let estimate = Hierarchy::estimate(&graph, &Control::new()).unwrap();
        let hierarchy = Hierarchy::new(graph).unwrap();
        assert_eq!(estimate.edges, hierarchy.edges().unwrap(), "{name}");
        assert!(estimate.shortcuts >= estimate.edges && estimate.shortcuts <= 4 * hierarchy.shortcuts(), "{name}");
    }
    let control = Control::new();
    control.cancel();
    let outcome = Hierarchy::estimate(&crate::generate("grid:50x50").unwrap(), &control);
    assert!(matches!(outcome, Err(Error::Interrupted)));
}

#[test]
fn a_cancelled_order_ends() {
    let control = Control::new();
    control.cancel();
    let graph = crate::generate("grid:50x50").unwrap();
    assert!(matches!(Hierarchy::with_control(graph, &control), Err(Error::Interrupted)));
}

/// Whether the levels of subtrees keep to their definition.
#[test]
fn subtrees_are_independent_and_each_is_part_of_one_of_the_next_level() {
    let mut random = Random(91);
    let mut most = 0;
    for (name, graph) in one_of_every_shape::<u32>(91) {
        let orders = [None, Some(random_order(graph.vertices(), &mut random))];
        for order in orders {
            let hierarchy = match order {
                None => Hierarchy::new(graph.clone()),
                Some(order) => Hierarchy::with_order(graph.clone(), &order),
            };
            let shared = hierarchy.unwrap().shared;
            let elimination = &shared.elimination;
            let first = elimination.first_descendants().unwrap();
            most = most.max(elimination.subtrees.len());
            for level in &elimination.subtrees {
                assert!(level.is_sorted_by(|a, b| a.end <= b.start), "{name}");
                for subtree in level {
                    for rank in subtree.clone() {
                        assert!(first[rank] as usize >= subtree.start, "{name}: {rank} has descendants outside");
                    }
                }
            }
            for levels in elimination.subtrees.windows(2) {
                for part in &levels[0] {
                    let holds = |whole: &&Range<usize>| whole.start <= part.start && part.end <= whole.end;
                    assert_eq!(levels[1].iter().filter(holds).count(), 1, "{name}: {part:?}");
                }
            }
        }
    }
    assert!(most > 3, "{most}");
}
