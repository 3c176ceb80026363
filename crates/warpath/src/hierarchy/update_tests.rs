//! Updates and metrics that are customized together, against metrics that are customized alone.

use super::tests::random_order;
use super::*;
use crate::Error;
use crate::graph::{Distance, DistanceValue, WeightKind};
use crate::testing::{Random, TestWeight, graphs_of_every_shape, one_of_every_shape};

/// Whether all lengths are the same, bit for bit, in both directions.
fn same_lengths<D: DistanceValue>(a: &Metric, b: &Metric) -> bool {
    match (a.lengths::<D>().unwrap(), b.lengths::<D>().unwrap()) {
        (Some(a), Some(b)) => {
            let keys = |values: &[D]| values.iter().map(|value| value.key()).collect::<Vec<_>>();
            keys(&a.up) == keys(&b.up) && keys(a.down()) == keys(b.down())
        }
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Whether two metrics have the same lengths and answers.
fn are_same(a: &Metric, b: &Metric, random: &mut Random) -> bool {
    let count = a.hierarchy().graph().vertices() as u64;
    let [source, target] = [(); 2].map(|()| random.below(count) as VertexId);
    same_lengths::<u32>(a, b)
        && same_lengths::<u64>(a, b)
        && same_lengths::<i64>(a, b)
        && same_lengths::<f32>(a, b)
        && same_lengths::<f64>(a, b)
        && a.may_have_lost_lengths() == b.may_have_lost_lengths()
        && a.distance(source, target).ok() == b.distance(source, target).ok()
        && a.distances_from(source).ok() == b.distances_from(source).ok()
        && row_by_labels(a, source) == row_by_labels(b, source)
}

/// The row of a source that has been asked for so often that labels pay, if it can be had.
fn row_by_labels(metric: &Metric, source: VertexId) -> Option<crate::graph::Distances> {
    let row = std::sync::Mutex::new(None);
    let found =
        metric.distances_from_each(&[source; 48], |_, distances| *row.lock().unwrap() = Some(distances.clone()));
    found.ok().and_then(|()| row.into_inner().unwrap())
}

fn draw<W: TestWeight>(count: usize, random: &mut Random) -> Weights {
    let drawn: Vec<f64> = (0..count).map(|_| W::draw(random).to_f64()).collect();
    match W::KIND {
        WeightKind::Unit => Weights::unit(count),
        WeightKind::U32 => Weights::U32(drawn.iter().map(|&w| w as u32).collect()),
        WeightKind::I32 => Weights::I32(drawn.iter().map(|&w| w as i32).collect()),
        WeightKind::F32 => Weights::F32(drawn.iter().map(|&w| w as f32).collect()),
        WeightKind::F64 => Weights::F64(drawn),
    }
}

fn changed(all: &Weights, arcs: &[usize], new: &Weights) -> Weights {
    let mut all = all.clone();
    for (at, &arc) in arcs.iter().enumerate() {
        match (&mut all, new) {
            (Weights::U32(all), Weights::U32(new)) => all[arc] = new[at],
            (Weights::I32(all), Weights::I32(new)) => all[arc] = new[at],
            (Weights::F32(all), Weights::F32(new)) => all[arc] = new[at],
            (Weights::F64(all), Weights::F64(new)) => all[arc] = new[at],
            _ => {}
        }
    }
    all
}

/// All arcs between the ends of some arcs: an undirected graph keeps the weights of both directions equal.
fn with_twins(graph: &Graph, arc: usize) -> Vec<usize> {
    let csr = graph.csr();
    let row = |arc: usize| csr.offsets().partition_point(|&offset| offset <= arc as u64) as VertexId - 1;
    let (tail, head) = (row(arc), csr.targets()[arc]);
    let between = |a: VertexId, b: VertexId| csr.row(a).filter(move |&arc| csr.targets()[arc] == b);
    let mut arcs: Vec<usize> = between(tail, head).chain(between(head, tail)).collect();
    arcs.sort_unstable();
    arcs.dedup();
    arcs
}

fn updates<W: TestWeight>(seed: u64) {
    let mut random = Random(seed);
    for (name, graph) in graphs_of_every_shape::<W>(seed) {
        let graph = Arc::new(graph);
        if graph.arcs() == 0 {
            continue;
        }
        // Every other one has a bad order, with many shortcuts.
        let order = random_order(graph.vertices(), &mut random);
        let hierarchy = match random.below(2) {
            0 => Hierarchy::new(graph.clone()),
            _ => Hierarchy::with_order(graph.clone(), &order),
        };
        {
            let hierarchy = hierarchy.unwrap();
            let mut weights = graph.weights().clone();
            let mut metric = hierarchy.customize(&weights).unwrap();
            for round in 0..3 {
                let mut arcs = Vec::new();
                let mut new = Vec::new();
                for _ in 0..[1, 2, 20][round] {
                    let arc = random.below(graph.arcs() as u64) as usize;
                    let together = if graph.is_directed() { vec![arc] } else { with_twins(&graph, arc) };
                    let weight = W::draw(&mut random).to_f64();
                    new.extend(together.iter().map(|_| weight));
                    arcs.extend(together);
                }
                let new = match draw::<W>(0, &mut random) {
                    Weights::Unit(_) => Weights::unit(arcs.len()),
                    Weights::U32(_) => Weights::U32(new.iter().map(|&w| w as u32).collect()),
                    Weights::I32(_) => Weights::I32(new.iter().map(|&w| w as i32).collect()),
                    Weights::F32(_) => Weights::F32(new.iter().map(|&w| w as f32).collect()),
                    Weights::F64(_) => Weights::F64(new),
                };
                weights = changed(&weights, &arcs, &new);
                metric.update(&arcs, &new).unwrap_or_else(|error| panic!("{name}: {error}"));
                let fresh = hierarchy.customize(&weights).unwrap();
                assert!(are_same(&metric, &fresh, &mut random), "{name}, round {round}");
            }
        }
    }
}

#[test]
fn an_updated_metric_is_the_one_of_the_new_weights() {
    updates::<u32>(21);
    updates::<crate::graph::Unit>(22);
    updates::<i32>(23);
    updates::<f32>(24);
    updates::<f64>(25);
}

#[test]
fn a_negative_cycle_leaves_a_metric_as_it_was() {
    let mut random = Random(31);
    let (mut refused, mut accepted) = (0, 0);
    for (name, graph) in graphs_of_every_shape::<i32>(31) {
        if graph.arcs() == 0 || !graph.is_directed() {
            continue;
        }
        let graph = Arc::new(graph);
        let hierarchy = Hierarchy::new(graph.clone()).unwrap();
        let mut weights = graph.weights().clone();
        let mut metric = hierarchy.customize(&weights).unwrap();
        for _ in 0..4 {
            let arcs: Vec<usize> = (0..3).map(|_| random.below(graph.arcs() as u64) as usize).collect();
            let new = Weights::I32((0..3).map(|_| random.below(1000) as i32 - 700).collect());
            let next = changed(&weights, &arcs, &new);
            match (metric.update(&arcs, &new), hierarchy.customize(&next)) {
                (Ok(()), Ok(_)) => (accepted, weights) = (accepted + 1, next),
                (Err(Error::NegativeCycle(cycle)), Err(Error::NegativeCycle(_))) => {
                    refused += 1;
                    let other = Graph::clone(&graph).with_weights(next).unwrap();
                    cycle.verify(&other).unwrap_or_else(|error| panic!("{name}: {error}"));
                }
                (found, expected) => panic!("{name}: {:?}, {:?}", found.err(), expected.err()),
            }
            let fresh = hierarchy.customize(&weights).unwrap();
            assert!(are_same(&metric, &fresh, &mut random), "{name}");
        }
    }
    assert!(refused > 5 && accepted > 5, "{refused} refused, {accepted} accepted");
}

#[test]
fn updates_that_make_no_sense_are_refused() {
    let edges = crate::graph::GraphBuilder::new().direction(crate::graph::Direction::Undirected);
    let graph = edges.build_from([(0, 1, 5_u32), (1, 2, 7)]).unwrap();
    let hierarchy = Hierarchy::new(graph).unwrap();
    let mut metric = hierarchy.customize(hierarchy.graph().weights()).unwrap();
    for (arcs, weights, wanted) in [
        (&[0][..], Weights::U32(vec![1, 2]), "2 weights"),
        (&[0], Weights::F32(vec![1.0]), "type"),
        (&[4], Weights::U32(vec![1]), "no arc 4"),
        (&[0], Weights::U32(vec![1]), "the two directions"),
    ] {
        let error = metric.update(arcs, &weights).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
        assert_eq!(metric.distance(0, 2).unwrap(), Some(Distance::Unsigned(12)));
    }
    metric.update(&[], &Weights::U32(vec![])).unwrap();
    metric.update(&[0, 1], &Weights::U32(vec![1, 1])).unwrap();
    assert_eq!(metric.distance(0, 2).unwrap(), Some(Distance::Unsigned(8)));
}

#[test]
fn metrics_made_together_are_those_made_alone() {
    fn together<W: TestWeight>(seed: u64) {
        let mut random = Random(seed);
        for (name, graph) in one_of_every_shape::<W>(seed) {
            let graph = Arc::new(graph);
            let hierarchy = Hierarchy::new(graph.clone()).unwrap();
            // An undirected graph has the same weights in both directions.
            let draw = |random: &mut Random| {
                if graph.is_directed() { draw::<W>(graph.arcs(), random) } else { graph.weights().clone() }
            };
            for count in [0, 2, 5, 9] {
                let mut weights: Vec<Weights> = (0..count).map(|_| draw(&mut random)).collect();
                // Another type among them.
                if count == 5 {
                    weights[2] = Weights::unit(graph.arcs());
                }
                let metrics = hierarchy.customize_all(&weights).unwrap();
                assert_eq!(metrics.len(), count, "{name}");
                for (metric, weights) in metrics.iter().zip(&weights) {
                    let alone = hierarchy.customize(weights).unwrap();
                    assert!(are_same(metric, &alone, &mut random), "{name}: one of {count}");
                }
            }
        }
    }
    together::<u32>(41);
    together::<i32>(43);
    together::<f64>(45);
}

#[test]
fn one_of_several_weights_may_be_wrong() {
    let graph = Graph::from_edges([(0, 1, 5_i32), (1, 0, 7)]).unwrap();
    let hierarchy = Hierarchy::new(graph).unwrap();
    let good = Weights::I32(vec![5, 7]);
    let outcome = hierarchy.customize_all(&[good.clone(), Weights::I32(vec![5, -7])]);
    assert!(matches!(outcome, Err(Error::NegativeCycle(_))));
    let error = hierarchy.customize_all(&[good, Weights::I32(vec![5])]).unwrap_err().to_string();
    assert!(error.contains("1 weights, and the graph has 2 arcs"), "{error}");
}
