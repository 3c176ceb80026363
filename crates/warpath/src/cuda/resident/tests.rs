//! Graphs on a device are asked what a solver on the CPU is asked about the same graph on the host.
//!
//! *Invariants.* Arrays are given with the addresses and lengths that they have.

use bytemuck::Pod;

use super::*;
use crate::cuda::device::testing::devices;
use crate::cuda::graph::WIDE_OFFSETS;
use crate::graph::{Distances, GraphBuilder, NO_VERTEX, ParallelEdges, Unit, Weights};
use crate::testing::{Random, TestWeight, graphs_of_every_shape};
use crate::{Bfs, Engine, ShortestPathTree, Solver, Sssp};

/// An array of another library.
struct There {
    _pool: Pool,
    array: ForeignArray,
}

fn there<T: Pod + Sync>(device: &Arc<dyn Device>, element: Element, values: &[T]) -> There {
    assert_eq!(element.bytes(), size_of::<T>());
    let (pool, slice) = Pool::lay_out(device, |arena| arena.take::<T>("a test's array", values.len() as u64)).unwrap();
    pool.upload(slice, values).unwrap();
    let array = ForeignArray { address: slice.address(), length: values.len() as u64, element };
    There { _pool: pool, array }
}

/// Integers as those of a type, which by the index may be any that they fit.
fn integers(device: &Arc<dyn Device>, values: &[u64], index: usize) -> There {
    let greatest = values.iter().copied().max().unwrap_or(0);
    match index % 4 {
        0 if greatest <= i32::MAX as u64 => {
            there(device, Element::I32, &values.iter().map(|&value| value as i32).collect::<Vec<_>>())
        }
        1 => there(device, Element::I64, values),
        2 => there(device, Element::U64, values),
        _ => there(device, Element::U32, &values.iter().map(|&value| value as u32).collect::<Vec<_>>()),
    }
}

fn ids(device: &Arc<dyn Device>, values: &[VertexId], index: usize) -> There {
    integers(device, &values.iter().map(|&value| value.into()).collect::<Vec<_>>(), index)
}

fn weights_of(device: &Arc<dyn Device>, weights: &Weights, index: usize) -> Option<There> {
    match weights {
        Weights::Unit(_) => None,
        Weights::U32(values) => Some(ids(device, values, index)),
        Weights::I32(values) => Some(there(device, Element::I32, values)),
        Weights::F32(values) => Some(there(device, Element::F32, values)),
        Weights::F64(values) => Some(there(device, Element::F64, values)),
    }
}

/// Distances as they are without looking at their type; `None` for unreachable.
fn plain(array: &HostArray) -> Vec<Option<f64>> {
    fn of<T: Copy>(values: &[T], number: impl Fn(T) -> f64, is_there: impl Fn(f64) -> bool) -> Vec<Option<f64>> {
        values.iter().map(|&value| Some(number(value)).filter(|&value| is_there(value))).collect()
    }
    match array {
        HostArray::I32(values) => of(values, f64::from, |value| value >= 0.0),
        HostArray::I64(values) => of(values, |value| value as f64, |value| value >= 0.0),
        HostArray::F32(values) => of(values, f64::from, |value| value < f64::INFINITY),
        HostArray::F64(values) => of(values, |value| value, |value| value < f64::INFINITY),
    }
}

fn plain_of(distances: &Distances) -> Vec<Option<f64>> {
    (0..distances.len()).map(|v| distances.get(v).map(|distance| distance.to_f64())).collect()
}

/// The answers of a graph on a device are those of the CPU, bit for bit.
fn check(name: &str, resident: &ResidentGraph, graph: &Graph, sources: &[VertexId]) {
    // The first search may be another than those after it.
    check_bfs(name, resident, graph, sources);
    let by_weight = check_sssp(name, resident, graph, sources);
    check_bfs(name, resident, graph, sources);
    check_sssp(name, resident, graph, sources);
    let alone = resident.sssp(sources, false, &Control::new()).unwrap();
    assert!(alone.predecessors().is_none());
    let distances = |tree: &ResidentTree| plain(&tree.distances().to_host().unwrap());
    assert_eq!(distances(&alone), distances(&by_weight), "{name}");
}

/// One breadth-first search on a device and on the CPU.
fn check_bfs(name: &str, resident: &ResidentGraph, graph: &Graph, sources: &[VertexId]) {
    let expected = on_cpu(graph).solve(Bfs::from(sources.to_vec())).unwrap();
    let found = resident.bfs(sources, true, &Control::new()).unwrap();
    assert_equal(&found, &expected, &format!("{name}, bfs from {sources:?}"));
}

/// One search by weights on a device and on the CPU. Returns what was found on the device.
fn check_sssp(name: &str, resident: &ResidentGraph, graph: &Graph, sources: &[VertexId]) -> ResidentTree {
    let expected = on_cpu(graph).solve(Sssp::from(sources.to_vec())).unwrap();
    let found = resident.sssp(sources, true, &Control::new()).unwrap();
    assert_equal(&found, &expected, &format!("{name}, sssp from {sources:?}"));
    found
}

fn on_cpu(graph: &Graph) -> Solver {
    Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap()
}

fn assert_equal(found: &ResidentTree, expected: &ShortestPathTree, context: &str) {
    assert_eq!(found.distances().len(), expected.distances().len(), "{context}");
    let distances = found.distances().to_host().unwrap();
    assert_eq!(plain(&distances), plain_of(expected.distances()), "{context}");
    let HostArray::I32(predecessors) = found.predecessors().unwrap().to_host().unwrap() else { panic!() };
    let expected: Vec<i32> = expected.predecessors().unwrap().iter().map(|&v| v as i32).collect();
    assert_eq!(predecessors, expected, "{context}, predecessors");
}

/// A table has the distances of searches of the CPU, one for each row, in the columns of the targets.
fn check_table(
    name: &str,
    resident: &ResidentGraph,
    graph: &Graph,
    sources: &[VertexId],
    targets: Option<&[VertexId]>,
) {
    let solver = on_cpu(graph);
    let found = resident.table(sources, targets, &Control::new()).unwrap();
    let all: Vec<VertexId> = (0..graph.vertices() as VertexId).collect();
    let targets = targets.unwrap_or(&all);
    assert_eq!((found.columns(), found.distances().len()), (targets.len(), sources.len() * targets.len()), "{name}");
    let mut expected = Vec::new();
    for &source in sources {
        let tree = solver.solve(Sssp::from(source)).unwrap();
        expected.extend(targets.iter().map(|&v| tree.distances().get(v as usize).map(|distance| distance.to_f64())));
    }
    assert_eq!(plain(&found.distances().to_host().unwrap()), expected, "{name}, table from {sources:?}");
}

/// The rows of a graph in another order.
fn mixed(graph: &Graph, random: &mut Random) -> (Vec<u64>, Vec<VertexId>, Vec<usize>) {
    let csr = graph.csr();
    let mut places: Vec<usize> = (0..graph.arcs()).collect();
    for v in 0..graph.vertices() as VertexId {
        let row = csr.row(v);
        for place in row.clone() {
            places.swap(place, row.start + random.below(row.len() as u64) as usize);
        }
    }
    (csr.offsets().to_vec(), places.iter().map(|&place| csr.targets()[place]).collect(), places)
}

fn in_order_of(weights: &Weights, places: &[usize]) -> Weights {
    fn moved<T: Copy>(values: &[T], places: &[usize]) -> Vec<T> {
        places.iter().map(|&place| values[place]).collect()
    }
    match weights {
        Weights::Unit(_) => Weights::unit(places.len()),
        Weights::U32(values) => Weights::U32(moved(values, places)),
        Weights::I32(values) => Weights::I32(moved(values, places)),
        Weights::F32(values) => Weights::F32(moved(values, places)),
        Weights::F64(values) => Weights::F64(moved(values, places)),
    }
}

/// So many of the graphs of every shape are left out after one that is taken.
const EVERY: usize = if cfg!(emulator_sanitized) { 7 } else { 11 };

fn rows_are_taken_as_they_are<W: TestWeight>(seed: u64) {
    let mut random = Random(seed);
    for (index, (name, graph)) in
        graphs_of_every_shape::<W>(seed).into_iter().enumerate().skip(seed as usize % 7).step_by(EVERY)
    {
        if graph.has_negative_weights() {
            continue;
        }
        for device in devices(seed) {
            let (offsets, heads, places) = mixed(&graph, &mut random);
            let offsets = integers(&device, &offsets, index);
            let heads = ids(&device, &heads, index / 4);
            let weights = weights_of(&device, &in_order_of(graph.weights(), &places), index / 3);
            let weights = weights.as_ref().map(|weights| weights.array);
            WIDE_OFFSETS.set(index % 3 == 0);
            // SAFETY: the arrays are there, and as long as they say.
            let rows = unsafe { Rows::of_rows(&device, offsets.array, heads.array, weights, graph.is_directed()) };
            let rows = rows.unwrap();
            assert!(graph.is_directed() || !rows.size.is_directed, "{name}");
            let resident = ResidentGraph::of(device, rows, graph.is_directed());
            let last = graph.vertices() as VertexId - 1;
            check(&name, &resident, &graph, &[last / 2]);
            check_bfs(&name, &resident, &graph, &[0, last / 3, last]);
            check_sssp(&name, &resident, &graph, &[0, last / 3, last]);
            check_table(&name, &resident, &graph, &[last, 0, last / 2, 0], None);
            check_table(&name, &resident, &graph, &[last / 3], Some(&[last, 0, last]));
            WIDE_OFFSETS.set(false);
            let back = resident.to_graph().unwrap();
            assert_eq!((back.vertices(), back.is_directed()), (graph.vertices(), graph.is_directed()), "{name}");
            if name.contains("Merge") {
                assert!(back.edges().eq(graph.edges()), "{name}");
            }
        }
    }
}

#[test]
fn rows() {
    rows_are_taken_as_they_are::<Unit>(1);
    rows_are_taken_as_they_are::<u32>(2);
    rows_are_taken_as_they_are::<f32>(3);
    rows_are_taken_as_they_are::<f64>(4);
}

fn edges_are_sorted<W: TestWeight>(seed: u64) {
    let mut random = Random(seed);
    for (index, (name, graph)) in
        graphs_of_every_shape::<W>(seed).into_iter().enumerate().skip(seed as usize % 7).step_by(EVERY)
    {
        if graph.has_negative_weights() {
            continue;
        }
        for device in devices(seed) {
            let mut order: Vec<usize> = (0..graph.arcs()).collect();
            let count = order.len();
            (0..count).for_each(|place| order.swap(place, random.below(count as u64) as usize));
            let mut all_tails = Vec::new();
            (0..graph.vertices() as VertexId).for_each(|v| all_tails.extend(graph.neighbors(v).iter().map(|_| v)));
            // Of an undirected graph each edge once, in either direction.
            let once = |&arc: &usize| graph.is_directed() || all_tails[arc] <= graph.csr().targets()[arc];
            order.retain(once);
            let (mut tails, mut heads) = (Vec::new(), Vec::new());
            for &arc in &order {
                let turned = !graph.is_directed() && random.below(2) == 0;
                let (tail, head) = (all_tails[arc], graph.csr().targets()[arc]);
                tails.push(if turned { head } else { tail });
                heads.push(if turned { tail } else { head });
            }
            let (tails, heads) = (ids(&device, &tails, index), ids(&device, &heads, index));
            let weights = weights_of(&device, &in_order_of(graph.weights(), &order), index / 3);
            let weights = weights.as_ref().map(|weights| weights.array);
            let count = Some(graph.vertices() as u64);
            WIDE_OFFSETS.set(index % 3 == 0);
            // SAFETY: the arrays are there, and as long as they say.
            let rows =
                unsafe { Rows::of_edges(&device, count, tails.array, heads.array, weights, graph.is_directed()) };
            let resident = ResidentGraph::of(device, rows.unwrap(), graph.is_directed());
            check(&name, &resident, &graph, &[graph.vertices() as VertexId / 2]);
            WIDE_OFFSETS.set(false);
            if name.contains("Merge") {
                assert!(resident.to_graph().unwrap().edges().eq(graph.edges()), "{name}");
            }
        }
    }
}

#[test]
fn edges() {
    edges_are_sorted::<Unit>(1);
    edges_are_sorted::<u32>(2);
    edges_are_sorted::<f32>(3);
    edges_are_sorted::<f64>(4);
}

/// Rows of an undirected graph that have each edge only one way get the other one.
#[test]
fn missing_reverses_are_made() {
    for device in devices(5) {
        let (offsets, heads) = (integers(&device, &[0, 2, 3, 3, 4], 0), ids(&device, &[1, 2, 1, 0], 0));
        let weights = ids(&device, &[5, 9, 1, 7], 0);
        // SAFETY: the arrays are there, and as long as they say.
        let rows = unsafe { Rows::of_rows(&device, offsets.array, heads.array, Some(weights.array), false) }.unwrap();
        assert!(!rows.size.is_directed);
        assert_eq!((rows.size.arcs, rows.of_weights.greatest), (7, 9.0));
        let resident = ResidentGraph::of(device, rows, false);
        let edges = [(0, 1, 5_u32), (0, 2, 9), (1, 1, 1), (3, 0, 7)];
        let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
        (0..4).for_each(|source| check("reverses", &resident, &graph, &[source]));
    }
}

#[test]
fn graphs_of_the_host() {
    for (name, graph) in graphs_of_every_shape::<u32>(6).into_iter().step_by(13) {
        for device in devices(6) {
            let resident = ResidentGraph::from_graph_on(device, &graph).unwrap();
            check(&name, &resident, &graph, &[0]);
        }
    }
    let signed = Graph::from_edges([(0, 1, 5), (1, 2, -1)]).unwrap();
    let positive = Graph::from_edges([(0, 1, 5), (1, 2, 1)]).unwrap();
    for device in devices(6) {
        assert!(ResidentGraph::from_graph_on(device.clone(), &signed).is_err());
        check("signed weights", &ResidentGraph::from_graph_on(device, &positive).unwrap(), &positive, &[0]);
    }
}

/// 31, 32 and 64 bits.
#[test]
fn integers_are_as_wide_as_they_have_to_be() {
    const M: u32 = u32::MAX;
    for (weights, element) in [
        ([i32::MAX as u32 - 1, 1], Element::I32),
        ([i32::MAX as u32, 1], Element::I64),
        ([M - 2, 1], Element::I64),
        ([M, M], Element::I64),
    ] {
        let graph = Graph::from_edges([(0, 1, weights[0]), (1, 2, weights[1]), (3, 0, 1)]).unwrap();
        for device in devices(7) {
            let resident = ResidentGraph::from_graph_on(device, &graph).unwrap();
            let tree = resident.sssp(&[0], true, &Control::new()).unwrap();
            assert_eq!(tree.distances().element(), element, "{weights:?}");
            check("great weights", &resident, &graph, &[0]);
            let table = resident.table(&[3, 1], None, &Control::new()).unwrap();
            // From 3 it is one further than from 0.
            let great = weights[0] >= i32::MAX as u32 - 1;
            assert_eq!(table.distances().element(), if great { Element::I64 } else { element }, "{weights:?}");
            check_table("great weights", &resident, &graph, &[0, 3, 1], None);
            let near = resident.table(&[1], None, &Control::new()).unwrap();
            assert_eq!(near.distances().element() == Element::I32, weights[1] == 1);
        }
    }
}

/// Whatever is wrong with the arrays is an error, and no search sees it.
#[test]
fn wrong_arrays_are_refused() {
    type Case<'a> = (&'a [i64], &'a [i64], Option<&'a [f64]>);
    let rows: [Case<'_>; 12] = [
        (&[], &[], None),
        (&[1, 2], &[0, 0], None),
        (&[0, 3], &[0, 0], None),
        (&[0, 1], &[0, 0], None),
        (&[0, 2, 1, 2], &[0, 0], None),
        (&[0, -1, 2], &[0, 0], None),
        (&[0, 1 << 32, 2], &[0, 0], None),
        (&[0, 1, 2], &[0, 2], None),
        (&[0, 1, 2], &[-1, 0], None),
        (&[0, 1, 2], &[0, 1 << 32], None),
        (&[0, 1, 2], &[0, 1], Some(&[1.0])),
        (&[0, 1, 2], &[0, 1], Some(&[1.0, -1.0])),
    ];
    for device in devices(8) {
        for (offsets, heads, weights) in rows {
            let name = format!("{offsets:?} {heads:?} {weights:?}");
            let weights = weights.map(|weights| there(&device, Element::F64, weights));
            let (offsets, heads) = (there(&device, Element::I64, offsets), there(&device, Element::I64, heads));
            let weights = weights.as_ref().map(|weights| weights.array);
            // SAFETY: the arrays are there, and as long as they say.
            let made = unsafe { Rows::of_rows(&device, offsets.array, heads.array, weights, true) };
            assert!(matches!(made, Err(Error::InvalidRequest(_))), "{name}");
        }
        let id = |value: i64| there(&device, Element::I64, &[value]);
        let refused = |vertices, tail: &There, head: &There, weight: Option<&There>| {
            let weight = weight.map(|weight| weight.array);
            // SAFETY: the arrays are there, and as long as they say.
            let made = unsafe { Rows::of_edges(&device, vertices, tail.array, head.array, weight, true) };
            assert!(matches!(made, Err(Error::InvalidRequest(_))));
        };
        refused(Some(3), &id(3), &id(0), None);
        refused(Some(3), &id(0), &id(-1), None);
        refused(None, &id(i64::from(u32::MAX)), &id(0), None);
        refused(None, &id(i64::from(i32::MAX)), &id(0), None);
        refused(None, &there(&device, Element::F64, &[0.0]), &id(0), None);
        refused(None, &id(0), &there(&device, Element::I64, &[0_i64, 1]), None);
        for weight in [f64::NAN, f64::INFINITY, -0.5] {
            refused(None, &id(0), &id(1), Some(&there(&device, Element::F64, &[weight])));
            refused(None, &id(0), &id(1), Some(&there(&device, Element::F32, &[weight as f32])));
        }
        refused(None, &id(0), &id(1), Some(&there(&device, Element::I32, &[-1])));
        refused(None, &id(0), &id(1), Some(&id(-1)));
        refused(None, &id(0), &id(1), Some(&id(1 << 32)));
    }
}

/// A zero keeps no sign, and empty graphs are graphs.
#[test]
fn borders() {
    for device in devices(9) {
        let (tails, heads) = (ids(&device, &[0, 1], 0), ids(&device, &[1, 2], 0));
        let weights = there(&device, Element::F32, &[-0.0_f32, 1.0]);
        // SAFETY: the arrays are there, and as long as they say.
        let rows =
            unsafe { Rows::of_edges(&device, None, tails.array, heads.array, Some(weights.array), true) }.unwrap();
        let resident = ResidentGraph::of(device.clone(), rows, true);
        let tree = resident.sssp(&[0, 0], true, &Control::new()).unwrap();
        assert_eq!(tree.distances().to_host().unwrap(), HostArray::F32(vec![0.0, 0.0, 1.0]));
        let HostArray::F32(distances) = tree.distances().to_host().unwrap() else { panic!() };
        assert!(distances[1].is_sign_positive());
        let (before, none) = (tree.predecessors().unwrap().to_host().unwrap(), NO_VERTEX as i32);
        assert_eq!(before, HostArray::I32(vec![none, 0, 1]));

        for sources in [&[][..], &[3][..]] {
            assert!(matches!(resident.bfs(sources, true, &Control::new()), Err(Error::InvalidRequest(_))));
        }
        let control = Control::new();
        control.cancel();
        assert!(matches!(resident.sssp(&[0], true, &control), Err(Error::Interrupted)));
        assert!(matches!(resident.table(&[0], None, &control), Err(Error::Interrupted)));
        control.reset();
        assert!(resident.sssp(&[0], true, &control).is_ok());
        for (sources, targets) in [(&[3][..], None), (&[0], Some(&[0, 3][..]))] {
            let refused = resident.table(sources, targets, &control);
            assert!(matches!(refused, Err(Error::InvalidRequest(_))), "{refused:?}");
        }
        let none = resident.table(&[], Some(&[]), &control).unwrap();
        assert_eq!((none.columns(), none.distances().len()), (0, 0));
        assert_eq!(resident.table(&[0, 1], Some(&[]), &control).unwrap().distances().len(), 0);

        let empty = ids(&device, &[], 0);
        // SAFETY: the arrays are empty.
        let rows = unsafe { Rows::of_edges(&device, None, empty.array, empty.array, None, false) }.unwrap();
        let resident = ResidentGraph::of(device, rows, false);
        assert_eq!((resident.vertices(), resident.arcs()), (0, 0));
        assert_eq!(resident.to_graph().unwrap().vertices(), 0);
        assert!(resident.bfs(&[0], true, &Control::new()).is_err());
        assert_eq!(resident.table(&[], None, &Control::new()).unwrap().columns(), 0);
    }
}

/// Batch after batch fills the table, the last one with fewer rows.
#[test]
fn tables_of_several_batches() {
    for name in ["grid:20x21", "grid:20x21,weights=1..9"] {
        let graph = crate::generate(name).unwrap();
        let sources: Vec<VertexId> = (0..90).map(|index| index * 7 % 420).collect();
        for device in devices(13) {
            let resident = ResidentGraph::from_graph_on(device, &graph).unwrap();
            table::BATCH_ROWS.set(Some(32));
            check_table(name, &resident, &graph, &sources, Some(&[7, 419, 0]));
            table::BATCH_ROWS.set(None);
        }
    }
}

/// On long thin graphs `multi-hop` searches, by whole numbers as long as floats would have the same sums.
#[test]
fn long_thin_graphs() {
    fn with_weights(graph: &Graph, weights: Weights) -> Graph {
        let csr = graph.csr();
        let csr = crate::graph::Csr::new(csr.offsets().to_vec(), csr.targets().to_vec(), weights).unwrap();
        Graph::from_csr(csr, graph.is_directed(), graph.labels().clone()).unwrap()
    }
    // Whose answer was it?
    let is_by_hops = |resident: &ResidentGraph, tree: &ResidentTree| {
        let prepared = resident.prepared.lock().unwrap();
        assert_ne!(prepared.by_hops.is_some(), prepared.by_thresholds.is_some());
        tree.statistics().iter().any(|(name, _)| *name == "steps")
    };
    // With fewer than 4,096 vertices, no graph is long and thin.
    for (name, times, rounded) in [("roads:4100", 1, false), ("grid:64x64,weights=1..9", 1 << 20, true)] {
        // Sanitizers take far longer, and look for other mistakes.
        if cfg!(emulator_sanitized) && rounded {
            continue;
        }
        let graph = crate::generate(name).unwrap();
        let Weights::U32(weights) = graph.weights() else { panic!("{name} has other weights") };
        let scaled: Vec<u32> = weights.iter().map(|weight| weight * times).collect();
        let single = Weights::F32(scaled.iter().map(|&weight| weight as f32).collect());
        let double = Weights::F64(scaled.iter().map(|&weight| weight.into()).collect());
        // Floats of 32 bits are rounded beyond 2^24, and have to be as they would be without whole numbers.
        let other = if rounded { double } else { Weights::U32(scaled) };
        let mut kinds = vec![(single, !rounded), (other, true)];
        kinds.truncate(if cfg!(emulator_sanitized) { 1 } else { kinds.len() });
        for (weights, expected) in kinds {
            let graph = with_weights(&graph, weights);
            for device in devices(11) {
                let weights = weights_of(&device, graph.weights(), 3).unwrap();
                let (offsets, heads) =
                    (integers(&device, graph.csr().offsets(), 0), ids(&device, graph.csr().targets(), 0));
                // SAFETY: the arrays are there, and as long as they say.
                let rows = unsafe {
                    Rows::of_rows(&device, offsets.array, heads.array, Some(weights.array), graph.is_directed())
                };
                let resident = ResidentGraph::of(device, rows.unwrap(), graph.is_directed());
                let sources: &[VertexId] = if rounded { &[17, 4000] } else { &[0] };
                check_sssp(name, &resident, &graph, sources);
                let tree = check_sssp(name, &resident, &graph, sources);
                assert_eq!(is_by_hops(&resident, &tree), expected, "{name}, {:?}", graph.weight_kind());
                // Levels are the same whatever the weights are.
                if graph.weight_kind() == WeightKind::F32 && !rounded {
                    check(name, &resident, &graph, &[1]);
                    let prepared = resident.prepared.lock().unwrap();
                    assert!(prepared.bfs_by_hops.is_some() && prepared.bfs.is_none());
                }
            }
        }
    }
}

/// A sample tells the same wherever the graph is.
#[test]
fn samples_are_those_of_the_host() {
    for name in ["roads:5000", "grid:70x60,weights=3..50", "uniform:12,edges-per-vertex=8,weights=1..9", "grid:64x64"] {
        let graph = crate::generate(name).unwrap();
        for device in devices(12) {
            let resident = ResidentGraph::from_graph_on(device, &graph).unwrap();
            let expected = GraphFacts::of(&graph);
            let facts = resident.facts().unwrap();
            let WeightFacts { least, greatest, .. } = resident.rows.of_weights;
            assert_eq!(facts, GraphFacts::without_weights(&graph), "{name}");
            assert_eq!((least, greatest), expected.weight_range, "{name}");
            let weights = resident.rows.weights.map(|weights| (&resident.rows.pool, weights));
            let sample = Sample::of(&resident.rows, weights);
            let by_weight = sssp::multi_hop::Shape::of(&sample, None);
            assert_eq!(by_weight, sssp::multi_hop::Shape::of(&graph, None), "{name}");
            let by_arcs = bfs::multi_hop::Shape::of(&Sample::of(&resident.rows, None), None);
            assert_eq!(by_arcs, bfs::multi_hop::Shape::of(&graph, None), "{name}");
            sample.check().unwrap();
        }
    }
}

/// Parallel arcs and loops count as often as they are there when it is asked whether all arcs have their reverses.
#[test]
fn asymmetry_is_found() {
    let is_directed = |arcs: &[(VertexId, VertexId, u32)]| {
        let graph = GraphBuilder::new().parallel_edges(ParallelEdges::Keep).build_from(arcs.to_vec()).unwrap();
        let device = devices(10).remove(0);
        let offsets = integers(&device, graph.csr().offsets(), 1);
        let heads = ids(&device, graph.csr().targets(), 1);
        let weights = weights_of(&device, graph.weights(), 1).unwrap();
        // SAFETY: the arrays are there, and as long as they say.
        unsafe { Rows::of_rows(&device, offsets.array, heads.array, Some(weights.array), true) }
            .unwrap()
            .size
            .is_directed
    };
    assert!(!is_directed(&[(0, 1, 5), (1, 0, 5), (1, 1, 3)]));
    assert!(is_directed(&[(0, 1, 5), (1, 0, 6)]));
    assert!(is_directed(&[(0, 1, 5), (1, 0, 5), (1, 0, 5)]));
    assert!(is_directed(&[(0, 1, 5), (1, 2, 5), (2, 0, 5)]));
    assert!(!is_directed(&[(0, 1, 5), (1, 0, 5), (1, 0, 7), (0, 1, 7)]));
}
