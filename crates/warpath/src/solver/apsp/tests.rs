use super::*;
use crate::Control;
use crate::graph::{Distance, DistanceValue, Distances, GraphBuilder, VertexId, Weight, with_distances};
use crate::problems::{DistanceSum, NpyWriter, Reduction, RowBlock, RowReductions, TableShape};
use crate::testing::{Random, TestWeight, graphs_of_every_shape};

mod files;
mod reductions;

/// Distances by the naive triple loop in 128-bit integers, for graphs with integer weights.
fn naive(graph: &Graph) -> Vec<Option<i128>> {
    let n = graph.vertices();
    let mut matrix = vec![None; n * n];
    for (u, v, weight) in graph.edges() {
        let cell: &mut Option<i128> = &mut matrix[u as usize * n + v as usize];
        *cell = Some(cell.map_or(weight as i128, |old| old.min(weight as i128)));
    }
    for v in 0..n {
        matrix[v * n + v] = Some(matrix[v * n + v].map_or(0, |old| old.min(0)));
    }
    for k in 0..n {
        for i in 0..n {
            let Some(to) = matrix[i * n + k] else { continue };
            for j in 0..n {
                if let Some(from) = matrix[k * n + j] {
                    let cell = &mut matrix[i * n + j];
                    *cell = Some(cell.map_or(to + from, |old| old.min(to + from)));
                }
            }
        }
    }
    matrix
}

fn integers(distances: &Distances) -> Vec<Option<i128>> {
    (0..distances.len())
        .map(|cell| match distances.get(cell)? {
            Distance::Unsigned(value) => Some(value.into()),
            Distance::Signed(value) => Some(value.into()),
            other => panic!("{other:?} is no integer"),
        })
        .collect()
}

fn solver(graph: &Graph, threads: usize) -> Solver {
    Solver::builder(graph.clone()).threads(threads).memory(1 << 30).open().unwrap()
}

fn names(graph: &Graph) -> impl Iterator<Item = &'static str> {
    let floats = matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64) && graph.has_negative_weights();
    let takes_it = move |algorithm: &&ApspAlgorithm| !(floats && algorithm.needs_metric());
    ALGORITHMS.iter().filter(takes_it).map(|algorithm| algorithm.info.name)
}

/// Those for weights below 0.
fn names_for_signed() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.iter().filter(|algorithm| algorithm.info.negative_weights).map(|algorithm| algorithm.info.name)
}

/// The rows of single searches, one after another.
fn searched(graph: &Graph) -> Vec<Distances> {
    let solver = solver(graph, 1);
    let sources = 0..graph.vertices() as VertexId;
    sources.map(|v| solver.solve(crate::Sssp::from(v).algorithm("dijkstra")).unwrap().distances().clone()).collect()
}

fn close(a: Distances, b: &Distances) -> bool {
    let size = |distance: Option<Distance>| distance.map_or(f64::INFINITY, Distance::to_f64);
    (0..a.len()).all(|cell| {
        let (a, b) = (size(a.get(cell)), size(b.get(cell)));
        a == b || (a - b).abs() <= 1e-4 * a.abs().max(b.abs())
    })
}

fn every_algorithm_agrees<W: TestWeight>(integer: bool) {
    for (turn, (name, graph)) in graphs_of_every_shape::<W>(7).into_iter().enumerate() {
        let expected = if integer { naive(&graph) } else { Vec::new() };
        let rows = if integer { Vec::new() } else { searched(&graph) };
        for (index, algorithm) in names(&graph).enumerate() {
            let solver = solver(&graph, 1 + (turn + index) % 2);
            let matrix = solver.solve(Apsp::all().algorithm(algorithm)).unwrap();
            if integer {
                assert!(integers(matrix.distances()) == expected, "{algorithm} on {name}");
            } else {
                for (v, expected) in rows.iter().enumerate() {
                    let row = with_distances!(matrix.distances(), values => {
                        DistanceValue::into_distances(values[v * graph.vertices()..][..graph.vertices()].to_vec())
                    });
                    let right = row == *expected || matrix.reassociated && close(row, expected);
                    assert!(right, "{algorithm} on {name}, row {v}");
                }
            }
            matrix.verify(&graph).unwrap_or_else(|error| panic!("{algorithm} on {name}: {error}"));
        }
    }
}

#[test]
fn every_algorithm_agrees_on_unit_weights() {
    every_algorithm_agrees::<crate::graph::Unit>(true);
}
#[test]
fn every_algorithm_agrees_on_unsigned_weights() {
    every_algorithm_agrees::<u32>(true);
}
#[test]
fn every_algorithm_agrees_on_signed_weights() {
    every_algorithm_agrees::<i32>(true);
}
#[test]
fn every_algorithm_agrees_on_single_floats() {
    every_algorithm_agrees::<f32>(false);
}
#[test]
fn every_algorithm_agrees_on_double_floats() {
    every_algorithm_agrees::<f64>(false);
}

#[test]
fn matrices_agree_with_petgraph() {
    use petgraph::graph::{DiGraph, NodeIndex};
    for (name, graph) in graphs_of_every_shape::<i32>(3) {
        let mut oracle = DiGraph::<(), f64>::new();
        for _ in 0..graph.vertices() {
            oracle.add_node(());
        }
        for (u, v, weight) in graph.edges() {
            oracle.add_edge(NodeIndex::new(u as usize), NodeIndex::new(v as usize), weight);
        }
        let matrix = solver(&graph, 2).solve(Apsp::all()).unwrap();
        for source in (0..graph.vertices()).step_by(17) {
            let expected = petgraph::algo::dijkstra(&oracle, NodeIndex::new(source), None, |edge| *edge.weight());
            for target in 0..graph.vertices() {
                let expected = expected.get(&NodeIndex::new(target)).copied();
                assert_eq!(matrix.distance(source, target).map(Distance::to_f64), expected, "{name}");
            }
        }
    }
}

/// A random graph with negative weights but no negative cycle: lengths are shifted by potentials.
fn negative_graph(random: &mut Random, vertices: u64, edges: u64) -> Graph {
    let potentials: Vec<i64> = (0..vertices).map(|_| random.below(1000) as i64).collect();
    let mut list = Vec::new();
    for _ in 0..edges {
        let (u, v) = (random.below(vertices) as usize, random.below(vertices) as usize);
        let weight = random.below(100) as i64 + potentials[v] - potentials[u];
        list.push((u as VertexId, v as VertexId, weight as i32));
    }
    GraphBuilder::new().vertices(vertices).build_from(list).unwrap()
}

#[test]
fn negative_weights() {
    let mut random = Random(11);
    for (vertices, edges) in [(5, 12), (60, 150), (150, 400), (90, 8000)] {
        let graph = negative_graph(&mut random, vertices, edges);
        let expected = naive(&graph);
        for algorithm in names_for_signed() {
            let matrix = solver(&graph, 2).solve(Apsp::all().algorithm(algorithm).verified()).unwrap();
            assert!(integers(matrix.distances()) == expected, "{algorithm}");
        }
        for refused in names(&graph).filter(|name| names_for_signed().all(|other| other != *name)) {
            let error = solver(&graph, 2).solve(Apsp::all().algorithm(refused)).unwrap_err();
            assert!(error.to_string().contains("needs weights of 0 or more"), "{refused}: {error}");
        }
        let auto = solver(&graph, 2).solve(Apsp::all()).unwrap();
        assert!(integers(auto.distances()) == expected);
        // The same as floats: exact here, since the sums are small integers.
        let floats = graph.edges().collect::<Vec<_>>();
        let floats = GraphBuilder::new().vertices(vertices).build_from(floats).unwrap();
        let matrix = solver(&floats, 2).solve(Apsp::all().verified()).unwrap();
        // Reweighting would round these.
        assert!(["batched", "repeated-searches"].contains(&&*matrix.report().algorithm));
        for (cell, &expected) in expected.iter().enumerate() {
            assert_eq!(matrix.distances().get(cell).map(|d| d.to_f64() as i128), expected);
        }
    }
}

#[test]
fn negative_cycles_are_returned_if_a_source_reaches_them() {
    let edges = [(0, 1, 4), (1, 2, -6), (2, 3, 1), (3, 1, 2), (4, 5, 1), (5, 0, 1), (6, 4, 1), (3, 7, 1)];
    let graph = GraphBuilder::new().vertices(9).build_from(edges).unwrap();
    for algorithm in names_for_signed() {
        for request in [Apsp::all(), Apsp::all().from([6, 8])] {
            match solver(&graph, 2).solve(request.algorithm(algorithm)) {
                Err(Error::NegativeCycle(cycle)) => {
                    cycle.verify(&graph).unwrap();
                    assert_eq!(cycle.edges().len(), 3);
                }
                other => panic!("{algorithm}: {other:?}"),
            }
        }
        let safe = solver(&graph, 2).solve(Apsp::all().from([7, 8]).algorithm(algorithm).verified());
        // A hierarchy has none of the lengths, whatever the sources, and is never picked for weights below 0.
        match safe {
            Err(Error::NegativeCycle(_)) => assert_eq!(algorithm, "hierarchy"),
            safe => assert_eq!(safe.unwrap().finite_pairs(), 2),
        }
        // No file is begun, or kept, for a table that does not exist.
        let folder = tempfile::tempdir().unwrap();
        let mut writer = NpyWriter::new(folder.path().join("distances.npy"));
        let cycle = solver(&graph, 2).solve(Apsp::all().algorithm(algorithm).into_sink(&mut writer));
        assert!(matches!(cycle, Err(Error::NegativeCycle(_))), "{algorithm}");
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{algorithm}");
    }
}

#[test]
fn tables_of_some_sources_and_targets() {
    // Each shape comes four times, once for each table.
    for (turn, (name, graph)) in graphs_of_every_shape::<u32>(5).into_iter().enumerate() {
        let n = graph.vertices() as u64;
        let mut random = Random(n);
        let mut some = |count: u64| (0..count).map(|_| random.below(n) as VertexId).collect::<Vec<_>>();
        let (sources, targets) = match turn % 4 {
            0 => (some(5), some(7)),
            1 => (some(40), some(1)),
            2 => (some(0), some(3)),
            _ => (some(3), some(0)),
        };
        let solver = solver(&graph, 2);
        let whole = solver.solve(Apsp::all()).unwrap();
        for algorithm in names(&graph) {
            let request = || Apsp::all().from(sources.clone()).to(targets.clone()).algorithm(algorithm);
            let table = solver.solve(request()).unwrap();
            for (i, &source) in sources.iter().enumerate() {
                for (j, &target) in targets.iter().enumerate() {
                    let expected = whole.distance(source as usize, target as usize);
                    assert_eq!(
                        table.distance(i, j).map(Distance::to_f64),
                        expected.map(Distance::to_f64),
                        "{algorithm} on {name}"
                    );
                }
            }
            table.verify(&graph).unwrap();
            let mut nothing = ();
            let summary = solver.solve(request().verified().into_sink(&mut nothing)).unwrap();
            assert_eq!(summary.finite_pairs(), table.finite_pairs());
            assert_eq!(summary.distance_sum(), table.distance_sum());
            assert_eq!(summary.max_distance().map(Distance::to_f64), table.max_distance().map(Distance::to_f64));
        }
    }
}

#[test]
fn verifying_and_the_sink_take_time_of_their_own() {
    let graph = crate::generate::generate("uniform:7").unwrap();
    for algorithm in names(&graph) {
        let solver = solver(&graph, 2);
        let seconds = |request: Apsp| {
            let in_memory = solver.solve(request.clone()).unwrap().report().seconds;
            [in_memory, solver.solve(request.into_sink(&mut ())).unwrap().report().seconds]
        };
        for seconds in seconds(Apsp::all().algorithm(algorithm).verified()) {
            assert!(seconds.verify > 0.0 && seconds.solve > 0.0, "{algorithm}: {seconds:?}");
        }
        assert_eq!(seconds(Apsp::all().algorithm(algorithm)).map(|seconds| seconds.verify), [0.0; 2]);
        let mut slow = SlowSink;
        let report = solver.solve(Apsp::all().algorithm(algorithm).into_sink(&mut slow)).unwrap().report().clone();
        assert!(report.seconds.write >= SlowSink::NAP.as_secs_f64(), "{algorithm}: {:?}", report.seconds);
    }
}

#[test]
fn an_empty_graph_has_an_empty_matrix() {
    let graph = GraphBuilder::new().build_from(Vec::<(VertexId, VertexId, u32)>::new()).unwrap();
    for algorithm in names(&graph) {
        let matrix = solver(&graph, 2).solve(Apsp::all().algorithm(algorithm)).unwrap();
        assert_eq!((matrix.rows(), matrix.columns(), matrix.finite_pairs()), (0, 0, 0));
        assert_eq!(matrix.distance_sum(), DistanceSum::Integer(0));
        matrix.verify(&graph).unwrap();
        let mut reductions = RowReductions::new([Reduction::Eccentricity, Reduction::Histogram]);
        solver(&graph, 1).solve(Apsp::all().algorithm(algorithm).into_sink(&mut reductions)).unwrap();
        assert_eq!(reductions.histogram().total(), 0);
    }
    assert!(solver(&graph, 1).solve(Apsp::all().from(0)).is_err());
}

#[test]
fn distances_beyond_32_bits_are_repeated_in_64() {
    let heavy = u32::MAX - 5;
    let graph = Graph::from_edges([(0, 1, heavy), (1, 2, 4), (2, 3, 1), (3, 0, heavy)]).unwrap();
    for algorithm in names(&graph) {
        let matrix = solver(&graph, 2).solve(Apsp::all().algorithm(algorithm).verified()).unwrap();
        assert!(matrix.report().repeated_wide, "{algorithm}");
        assert_eq!(matrix.distance(0, 3), Some(Distance::Unsigned(u64::from(u32::MAX))));
        assert_eq!(matrix.distance(3, 2), Some(Distance::Unsigned(2 * u64::from(heavy) + 4)));
        let mut reductions = RowReductions::new([Reduction::Eccentricity]);
        let request = Apsp::all().algorithm(algorithm);
        let summary = solver(&graph, 2).solve(request.into_sink(&mut reductions)).unwrap();
        assert!(summary.report().repeated_wide);
        assert_eq!(reductions.eccentricities()[3], Some(Distance::Unsigned(2 * u64::from(heavy) + 4)));
    }
    // One arc alone is half of what 32 bits hold, or more.
    for heavy in [u32::MAX / 2 - 1, u32::MAX / 2, 3_000_000_000, u32::MAX] {
        let graph = Graph::from_edges([(0, 1, heavy), (1, 2, 5)]).unwrap();
        for algorithm in names(&graph) {
            let matrix = solver(&graph, 1).solve(Apsp::all().algorithm(algorithm).verified()).unwrap();
            assert_eq!(matrix.distance(0, 2), Some(Distance::Unsigned(u64::from(heavy) + 5)), "{algorithm}");
        }
    }
    // Labels of 8 and 16 bits are outgrown on the way.
    let path = Graph::from_edges((0..300_u32).map(|v| (v, v + 1, 1 + v * v))).unwrap();
    let matrix = solver(&path, 2).solve(Apsp::all().algorithm("batched").verified()).unwrap();
    assert_eq!(matrix.report().semiring, "u32->u32");
    assert!(integers(matrix.distances()) == naive(&path));
}

#[test]
fn planted_errors_are_rejected() {
    let mut random = Random(3);
    let edges: Vec<_> =
        (0..400).map(|_| (random.below(60) as u32, random.below(60) as u32, 1 + random.below(50) as u32)).collect();
    let graph = Graph::from_edges(edges.clone()).unwrap();
    let right = solver(&graph, 1).solve(Apsp::all()).unwrap();
    let Distances::U32(values) = right.distances().clone() else { panic!("narrow") };
    for _ in 0..200 {
        let mut wrong = right.clone();
        let mut values = values.clone();
        let cell = random.below(values.len() as u64) as usize;
        let change = [1, 2, u32::MAX, values[cell].wrapping_neg()][random.below(4) as usize];
        values[cell] = values[cell].wrapping_add(change);
        let planted = Distances::U32(values);
        if planted == *right.distances() {
            continue;
        }
        wrong.distances = planted;
        assert!(matches!(wrong.verify(&graph), Err(Error::NotVerified(_))), "cell {cell}");
    }
    let mut table = solver(&graph, 1).solve(Apsp::all().to([4, 5])).unwrap();
    let Distances::U32(values) = &mut table.distances else { panic!("narrow") };
    values[7] = values[7].wrapping_add(1);
    assert!(table.verify(&graph).is_err());
    let floats = Graph::from_edges(edges.into_iter().map(|(u, v, w)| (u, v, f64::from(w) / 7.0))).unwrap();
    for algorithm in names(&floats) {
        let mut matrix = solver(&floats, 1).solve(Apsp::all().algorithm(algorithm)).unwrap();
        matrix.verify(&floats).unwrap();
        let Distances::F64(values) = &mut matrix.distances else { panic!("double") };
        let cell = values.iter().position(|&value| value.is_finite() && value > 0.0).unwrap();
        values[cell] *= 1.0 + 1e-9;
        assert!(matrix.verify(&floats).is_err(), "{algorithm}");
    }
    assert!(right.verify(&floats).is_err());
}

#[test]
fn paths_and_successors_are_those_of_searches() {
    for (name, graph) in graphs_of_every_shape::<f32>(9).into_iter().filter(|(_, graph)| graph.vertices() < 150) {
        for algorithm in names(&graph) {
            let solver = solver(&graph, 2);
            let matrix = solver.solve(Apsp::all().algorithm(algorithm)).unwrap();
            let successors = matrix.successors(&graph).unwrap();
            for source in (0..graph.vertices() as VertexId).step_by(13) {
                let tree = solver.sssp(source).unwrap();
                for target in 0..graph.vertices() as VertexId {
                    let path = matrix.path(&graph, source as usize, target).unwrap();
                    assert_eq!(path, tree.path_to(target), "{algorithm} on {name}");
                    let hop = path.and_then(|path| path.vertices().get(1).copied());
                    assert_eq!(successors.get(source as usize, target as usize), hop, "{algorithm} on {name}");
                }
            }
        }
    }
}

/// Takes its time over every block of rows.
struct SlowSink;

impl SlowSink {
    const NAP: std::time::Duration = std::time::Duration::from_millis(2);
}

impl RowSink for SlowSink {
    fn plan(&self, _: u64, _: u64, _: u64, _: &mut Plan) {}

    fn begin(&mut self, _: &TableShape<'_>, _: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        Ok(0)
    }

    fn rows(&mut self, _: &RowBlock<'_>) -> Result<()> {
        std::thread::sleep(Self::NAP);
        Ok(())
    }
}

#[test]
fn what_does_not_fit_is_refused_and_work_can_be_cancelled() {
    let graph = Graph::from_edges((0..5000_u32).map(|v| (v, v + 1, 1_u32))).unwrap();
    let small = Solver::builder(graph.clone()).threads(2).memory(20 << 20).open().unwrap();
    match small.solve(Apsp::all()) {
        Err(Error::OutOfMemory { needed, available, .. }) => assert!(needed > 100_000_000 && available == 20 << 20),
        other => panic!("{other:?}"),
    }
    assert!(small.solve(Apsp::all().from([0, 9]).into_sink(&mut ())).is_ok());
    for algorithm in names(&graph) {
        let control = Control::new();
        let inner = control.clone();
        let control = control.watched_by(move |_| inner.cancel());
        let solver = Solver::builder(graph.clone()).threads(2).control(control).open().unwrap();
        assert!(matches!(solver.solve(Apsp::all().algorithm(algorithm)), Err(Error::Interrupted)), "{algorithm}");
    }
}

#[test]
fn auto_takes_the_matrix_for_dense_graphs_only() {
    let mut random = Random(2);
    let mut edges = Vec::new();
    for u in 0..400_u32 {
        edges.extend((0..400).map(|v| (u, v, random.below(100) as u32)));
    }
    let dense = Graph::from_edges(edges).unwrap();
    assert_eq!(solver(&dense, 1).solve(Apsp::all()).unwrap().report().algorithm, "tiled-floyd-warshall");
    assert_eq!(solver(&dense, 1).solve(Apsp::all().from(0)).unwrap().report().algorithm, "repeated-searches");
    let sparse = Graph::from_edges((0..300_u32).map(|v| (v, v + 1, 2_u32))).unwrap();
    assert_eq!(solver(&sparse, 1).solve(Apsp::all()).unwrap().report().algorithm, "batched");
    let negative = Graph::from_edges((0..300_u32).map(|v| (v, v + 1, -2))).unwrap();
    let matrix = solver(&negative, 1).solve(Apsp::all()).unwrap();
    assert_eq!(matrix.report().algorithm, "johnson");
    assert!(!matrix.report().reason.is_empty());
}

/// A table of a few rows is no slower than its searches: sources that share little are searched from one by one.
#[test]
fn auto_searches_one_by_one_where_sources_share_little() {
    let picked = |graph: &Graph, sources: u32, targets: u32| {
        let count = graph.vertices() as u32;
        let spread = |number: u32| (0..number).map(|at| at * (count / number)).collect::<Vec<_>>();
        let request = Apsp::all().from(spread(sources)).to(spread(targets));
        solver(graph, 2).decide(&request).unwrap().algorithm().to_owned()
    };
    let roads = crate::generate("roads:60000").unwrap();
    for (sources, targets) in [(1, 1), (3, 10), (10, 10), (10, 100)] {
        assert_eq!(picked(&roads, sources, targets), "repeated-searches", "{sources} x {targets} on roads");
    }
    // Many sources pay for a hierarchy that is not there yet, but only where separators are small.
    assert_eq!(picked(&roads, 1000, 1000), "hierarchy");
    let uniform = crate::generate("uniform:14").unwrap().with_random_weights(1, 100, 7).unwrap();
    assert_eq!(picked(&uniform, 3, 3), "repeated-searches");
    assert_eq!(picked(&uniform, 300, 300), "batched");
    let unit = uniform.without_weights();
    assert_eq!(picked(&unit, 2, 2), "repeated-searches");
    assert_eq!(picked(&unit, 300, 300), "batched");
}

/// Searches that end early find the distances of searches that don't; unreachable targets and repeats are no exception.
fn tables_agree<W: TestWeight>(seed: u64) {
    let mut random = Random(seed);
    for (name, graph) in graphs_of_every_shape::<W>(seed) {
        let count = graph.vertices() as u64;
        for (rows, columns) in [(1, 1), (1, 4), (5, 3), (4, 0), (0, 2)] {
            let mut any = |number: usize| (0..number).map(|_| random.below(count) as VertexId).collect::<Vec<_>>();
            let (mut sources, targets) = (any(rows), any(columns));
            sources.extend(sources.first().copied());
            let request = Apsp::all().from(sources.clone()).to(targets.clone());
            let matrix = solver(&graph, 2).solve(request.algorithm("repeated-searches").verified()).unwrap();
            for (row, &source) in sources.iter().enumerate() {
                let tree = solver(&graph, 1).sssp(source).unwrap();
                for (column, &target) in targets.iter().enumerate() {
                    assert_eq!(matrix.distance(row, column), tree.distance(target), "{name}: {source} {target}");
                }
            }
        }
    }
}

#[test]
fn tables_by_searches_agree_with_every_weight() {
    tables_agree::<crate::graph::Unit>(51);
    tables_agree::<u32>(52);
    tables_agree::<i32>(53);
    tables_agree::<f32>(54);
    tables_agree::<f64>(55);
}

/// A distance of this many units, each `unit` long; `None` if it is out of the range of a graph's weights.
fn in_units<W: Weight>(units: i128, unit: f64, limit: i128) -> Option<f64> {
    (units < limit || W::KIND == WeightKind::U32).then_some(units as f64 * unit)
}

/// Walks leave the range of the semiring everywhere. That is an error exactly where a shortest walk does, whatever the
/// algorithm.
fn only_shortest_distances_count<W: Weight>(weight: impl Fn(u32) -> W, unit: f64) {
    const LIMIT: i128 = 16;
    let mut random = Random(41);
    let (mut fit, mut too_long) = (0, 0);
    for round in 0..60 {
        let vertices = 4 + random.below(8) as u32;
        let mut below = |bound: u32| random.below(bound.into()) as u32;
        let mut edges: Vec<(u32, u32, u32)> =
            (0..2 * vertices).map(|_| (below(vertices), below(vertices), 1 + below(15))).collect();
        if round % 2 == 0 {
            // Short cuts to everywhere, so that no shortest distance from 0 leaves the range.
            edges.extend((1..vertices).map(|v| (0, v, 15)));
        }
        edges.push((0, vertices - 1, 15));
        let expected = naive(&Graph::from_edges(edges.clone()).unwrap());
        let graph = Graph::from_edges(edges.into_iter().map(|(u, v, units)| (u, v, weight(units)))).unwrap();
        let n = graph.vertices();
        let solver = solver(&graph, 1);
        for sources in [vec![0], (0..n as VertexId).collect()] {
            let wanted: Vec<Option<Option<f64>>> = sources
                .iter()
                .flat_map(|&s| &expected[s as usize * n..][..n])
                .map(|units| units.map(|units| in_units::<W>(units, unit, LIMIT)))
                .collect();
            let fits = !wanted.contains(&Some(None));
            if fits {
                fit += 1
            } else {
                too_long += 1
            }
            let check = |what: &str, found: Result<Vec<Option<f64>>>| match found {
                Ok(found) => {
                    assert!(fits, "{what}: a distance out of range is missing");
                    assert_eq!(found, wanted.iter().map(|units| units.flatten()).collect::<Vec<_>>(), "{what}");
                }
                Err(Error::DistanceOverflow { .. }) => assert!(!fits, "{what}: all shortest distances are in range"),
                Err(other) => panic!("{what}: {other}"),
            };
            let numbers = |distances: &Distances| -> Vec<Option<f64>> {
                (0..distances.len()).map(|cell| distances.get(cell).map(Distance::to_f64)).collect()
            };
            // A hierarchy refuses floats where any length is near the end of the range.
            let is_exact = |name: &&str| W::KIND == WeightKind::U32 || *name != "hierarchy";
            for algorithm in names(&graph).filter(is_exact).map(Some).chain([None]) {
                let request = Apsp { algorithm: algorithm.map(str::to_owned), ..Apsp::all().from(sources.as_slice()) };
                let found = solver.solve(request.clone()).map(|matrix| {
                    matrix.verify(&graph).unwrap();
                    numbers(matrix.distances())
                });
                check(&format!("{algorithm:?}"), found);
                if !fits {
                    assert!(solver.solve(request.into_sink(&mut ())).is_err());
                }
            }
            if let [source] = sources[..] {
                for algorithm in ["dijkstra", "bellman-ford", "delta-stepping"] {
                    let tree = solver.solve(crate::Sssp::from(source).algorithm(algorithm));
                    check(algorithm, tree.map(|tree| numbers(tree.distances())));
                }
            }
        }
    }
    assert!(fit > 20 && (too_long > 20 || W::KIND == WeightKind::U32), "{fit} {too_long}");
}

#[test]
fn walks_may_leave_the_range_where_shortest_ones_do_not() {
    let (single, double) = (2_f32.powi(124), 2_f64.powi(1020));
    only_shortest_distances_count(|units| units as f32 * single, single.into());
    only_shortest_distances_count(|units| f64::from(units) * double, double);
    only_shortest_distances_count(|units| units << 28, f64::from(1 << 28));
}
