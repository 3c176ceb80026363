//! Rows over a hierarchy on the emulator, and on the GPU if there is one, against the CPU engine.

use super::*;

#[test]
fn sweeps_over_a_hierarchy_agree_with_the_cpu() {
    agrees_with_the_cpu::<u32>(1, 7, &OVER_A_HIERARCHY);
    agrees_with_the_cpu::<u32>(2, 7, &OVER_A_HIERARCHY);
    agrees_with_the_cpu::<Unit>(3, 13, &OVER_A_HIERARCHY);
}

/// Trees of many levels with wide fronts, and subtrees below them.
#[test]
fn large_fronts_and_many_subtrees_agree_with_the_cpu() {
    let mut random = Random(5);
    let recipes = [
        "uniform:8,edges-per-vertex=6,weights=1..50",
        "grid:24x24,weights=1..9",
        "roads:1500,weights=1..1000",
        "kron:8,weights=0..5",
    ];
    for recipe in recipes {
        let graph = crate::generate(recipe).unwrap();
        let sources: Vec<VertexId> = (0..75).map(|_| random.below(graph.vertices() as u64) as VertexId).collect();
        let request = || Apsp::all().from(sources.clone());
        let expected = on_cpu(&graph).solve(request().algorithm("repeated-searches")).unwrap();
        for device in devices(7) {
            let solver = Solver::builder(graph.clone()).threads(2).device(device).open().unwrap();
            let matrix = solver.solve(request().algorithm("hierarchy").verified()).unwrap();
            assert!(matrix.distances() == expected.distances(), "{recipe}");
            let table = solver.solve(request().to([5, 3]).algorithm("hierarchy:rows=64")).unwrap();
            for (row, column) in (0..75).flat_map(|row| [(row, 0), (row, 1)]) {
                let target = [5, 3][column];
                assert_eq!(table.distance(row, column), expected.distance(row, target), "{recipe}");
            }
        }
    }
}

/// More sources than the warps of a block take, so that a subtree has several blocks, of which the last one has idle warps.
#[test]
fn batches_of_many_warps_agree_with_the_cpu() {
    let graph = crate::generate("roads:700,weights=1..1000").unwrap();
    let sources: Vec<VertexId> = (0..300).map(|index| index * 7 % 700).collect();
    let request = || Apsp::all().from(sources.clone());
    let expected = on_cpu(&graph).solve(request().algorithm("repeated-searches")).unwrap();
    for device in devices(8) {
        let matrix = on(device.clone(), &graph).solve(request().algorithm("hierarchy")).unwrap();
        assert!(matrix.distances() == expected.distances());
        assert_eq!(counted(&matrix.report().statistics, "batches"), 1);
        // Some targets twice, in no order; most tiles have none.
        let targets: Vec<VertexId> = (0..40).map(|index| index * 37 % 23 * 29).collect();
        let solver = on(device, &graph);
        let table = solver.solve(request().to(targets.clone()).algorithm("hierarchy:rows=200")).unwrap();
        for (row, (column, &target)) in (0..300).flat_map(|row| targets.iter().enumerate().map(move |to| (row, to))) {
            assert_eq!(table.distance(row, column), expected.distance(row, target as usize), "{row} to {target}");
        }
    }
}

/// A graph of which only an isolated vertex is in a subtree, which has no arcs; distances need 64 bits.
#[test]
fn a_subtree_without_arcs_stays_in_its_memory() {
    let far = 3_000_000_000_u32;
    let arcs = (0..50_u32).flat_map(|u| (50..100).flat_map(move |v| [(u, v, far), (v, u, far)]));
    let graph = GraphBuilder::new().vertices(101).build_from(arcs.collect::<Vec<_>>()).unwrap();
    let expected = on_cpu(&graph).solve(Apsp::all().algorithm("repeated-searches")).unwrap();
    for device in devices(9) {
        let matrix = on(device.clone(), &graph).solve(Apsp::all().algorithm("hierarchy")).unwrap();
        assert!(matrix.distances() == expected.distances());
        assert!(matrix.report().repeated_wide);
        // Nothing shows what a table lacks but the other distances.
        let table = on(device, &graph).solve(Apsp::all().to([50, 7]).algorithm("hierarchy")).unwrap();
        assert!(table.report().repeated_wide);
        for row in 0..101 {
            for (column, target) in [50, 7].into_iter().enumerate() {
                assert_eq!(table.distance(row, column), expected.distance(row, target), "{row} to {target}");
            }
        }
    }
}

/// Distances near the greatest number of 32 bits, which none of them can leave.
#[test]
fn a_table_of_great_distances_that_fit_is_not_repeated() {
    let half = 2_000_000_000_u32;
    let graph = Graph::from_edges([(0, 1, half), (1, 2, half)]).unwrap();
    for device in devices(2) {
        let table = on(device, &graph).solve(Apsp::all().to([2, 1]).algorithm("hierarchy")).unwrap();
        assert!(!table.report().repeated_wide);
        let row = |row| [table.distance(row, 0), table.distance(row, 1)];
        let distance = |length: u32| Some(Distance::Unsigned(length.into()));
        assert_eq!(row(0), [distance(2 * half), distance(half)]);
        assert_eq!(row(1), [distance(half), distance(0)]);
        assert_eq!(row(2), [distance(0), None]);
    }
}

/// A grid with a long dead end at its far corner, from which distances leave half of 32 bits there: the dead end is a subtree with one hub,
/// whose distance is by more than every shortcut from the end of the range.
#[test]
fn distances_beyond_the_range_are_not_lost_by_labels() {
    let grid = crate::generate("grid:15x16").unwrap();
    let corner = grid.vertices() as VertexId - 1;
    for (arc, of_dead_end) in [(40_000_000_u32, 25_000_000_u32), (80_000_000, 50_000_000)] {
        let arcs = grid.edges().map(|(u, v, _)| (u, v, arc));
        let dead_end = (corner..corner + 44).flat_map(|v| [(v, v + 1, of_dead_end), (v + 1, v, of_dead_end)]);
        let arcs: Vec<_> = arcs.flat_map(|(u, v, weight)| [(u, v, weight), (v, u, weight)]).chain(dead_end).collect();
        let graph = Graph::from_edges(arcs).unwrap();
        let there_and_back =
            [Apsp::all().from([0, 1]).to([corner + 44, corner]), Apsp::all().from([corner + 44]).to([0, 3])];
        for request in there_and_back.into_iter().chain([Apsp::all(), Apsp::all().from([0])]) {
            let expected = on_cpu(&graph).solve(request.clone().algorithm("repeated-searches")).unwrap();
            for device in devices(10) {
                let rows = on(device, &graph).solve(request.clone().algorithm("hierarchy")).unwrap();
                let (rows, expected) = (rows.distances(), expected.distances());
                let are_equal = (0..expected.len()).all(|place| rows.get(place) == expected.get(place));
                assert!(are_equal, "arcs of {arc}, {request:?}");
            }
        }
    }
}

/// A source whose way up leaves half of 32 bits, and on the other graph all of them, in its subtree, which has none of the targets.
#[test]
fn distances_that_are_lost_below_fronts_are_found() {
    for (first, second) in [(2_000_000_000_u32, 200_000_000_u32), (3_000_000_000, 2_000_000_000)] {
        let clique = (2..62_u32).flat_map(|u| (2..62).filter(move |&v| v != u).map(move |v| (u, v, 1)));
        let graph = Graph::from_edges([(0, 1, first), (1, 2, second)].into_iter().chain(clique)).unwrap();
        let graph = Arc::new(graph);
        let order: Vec<VertexId> = (0..62).collect();
        let hierarchy = crate::hierarchy::Hierarchy::with_order(graph.clone(), &order).unwrap();
        for targets in [vec![7], vec![7, 0, 1]] {
            let request = || Apsp::all().from([0]).to(targets.clone());
            let expected = on_cpu(&graph).solve(request().algorithm("repeated-searches")).unwrap();
            for device in devices(1) {
                let solver = Solver::builder(graph.clone()).hierarchy(hierarchy.clone()).device(device).open().unwrap();
                let table = solver.solve(request().algorithm("hierarchy")).unwrap();
                for column in 0..targets.len() {
                    assert_eq!(table.distance(0, column), expected.distance(0, column), "{first}, {column}");
                }
            }
        }
    }
}

/// Each vertex of the path is the parent of the one before: more ancestors than shared memory has room for.
#[test]
fn a_tree_that_is_too_high_for_shared_memory_is_climbed() {
    // Shared memory of 227 KiB has room for 58,112 distances of 32 bits.
    let graph = Graph::from_edges((0..59_000_u32).map(|v| (v, v + 1, v % 7))).unwrap();
    let graph = Arc::new(graph);
    let order: Vec<VertexId> = (0..=59_000).collect();
    let hierarchy = crate::hierarchy::Hierarchy::with_order(graph.clone(), &order).unwrap();
    assert_eq!(hierarchy.height(), 59_001);
    let request = || Apsp::all().from([5, 58_990, 30_000]).to([59_000, 6, 58_991]);
    let expected = on_cpu(&graph).solve(request().algorithm("repeated-searches")).unwrap();
    for device in devices(1) {
        let solver = Solver::builder(graph.clone()).hierarchy(hierarchy.clone()).device(device).open().unwrap();
        assert!(solver.solve(request().algorithm("hierarchy")).unwrap().distances() == expected.distances());
    }
}

#[test]
fn a_hierarchy_on_a_device_says_what_it_does_not_take() {
    let signed = Graph::from_edges([(0, 1, 5), (1, 2, 3)]).unwrap();
    let floats = Graph::from_edges([(0, 1, 0.5_f32), (1, 2, 3.0)]).unwrap();
    for device in devices(1) {
        let refused = on(device.clone(), &signed).solve(Apsp::all().algorithm("hierarchy")).unwrap_err();
        assert!(refused.to_string().contains("engine cpu takes others"), "{refused}");
        let refused = on(device, &floats).solve(Apsp::all().algorithm("hierarchy")).unwrap_err();
        assert!(refused.to_string().contains("integers without a sign"), "{refused}");
    }
}

/// Facts about rows, and the rows, against the CPU; how many tiles had 16 bits, and how many did not fit.
fn tiles_by_width(name: &str, graph: &Graph, sources: &[VertexId], seed: u64) -> Vec<(u64, u64)> {
    let request = || Apsp::all().from(sources.to_vec());
    let expected = on_cpu(graph).solve(request().algorithm("repeated-searches")).unwrap();
    let mut counts = Vec::new();
    for device in devices(seed) {
        let solver = on(device, graph);
        let matrix = solver.solve(request().algorithm("hierarchy")).unwrap();
        assert!(matrix.distances() == expected.distances(), "{name}");
        let summary = solver.solve(request().algorithm("hierarchy").into_sink(&mut ())).unwrap();
        assert_eq!(summary.finite_pairs(), expected.finite_pairs(), "{name}");
        assert_eq!(summary.distance_sum(), expected.distance_sum(), "{name}");
        assert_eq!(summary.max_distance(), expected.max_distance(), "{name}");
        let statistics = &summary.report().statistics;
        counts.push((counted(statistics, "tiles_in_16_bits"), counted(statistics, "tiles_left")));
    }
    counts
}

#[test]
fn tiles_in_16_bits_agree_with_the_cpu() {
    const SOURCES: usize = 150;
    let mut random = Random(11);
    let mut sources = |graph: &Graph| -> Vec<VertexId> {
        (0..SOURCES).map(|_| random.below(graph.vertices() as u64) as VertexId).collect()
    };
    let roads = |weights: &str| crate::generate(&format!("roads:900,weights={weights}")).unwrap();
    let changed = |graph: &Graph, change: &dyn Fn(usize, u32) -> Option<u32>| {
        let arcs = graph
            .edges()
            .enumerate()
            .filter_map(|(index, (u, v, weight))| change(index, weight as u32).map(|weight| (u, v, weight)));
        GraphBuilder::new().vertices(graph.vertices() as u64).build_from(arcs.collect::<Vec<_>>()).unwrap()
    };
    let near = roads("1..100");
    let graph_sources = sources(&near);
    for (fit, left) in tiles_by_width("near", &near, &graph_sources, 1) {
        assert!(fit > 0 && left == 0, "{fit} {left}");
    }
    // The sum of any two long ones is too much for 16 bits.
    let some_far = changed(&near, &|index, weight| Some(if index % 60 == 0 { 30_000 + weight } else { weight }));
    for (fit, left) in tiles_by_width("some far", &some_far, &graph_sources, 2) {
        assert!(fit > 0 && left > 0, "{fit} {left}");
    }
    for (fit, left) in tiles_by_width("far", &roads("1..1000000"), &graph_sources, 3) {
        assert_eq!((fit, left), (0, 0));
    }
    // Some vertices lead nowhere, and others can't be reached.
    let one_way = changed(&near, &|index, weight| (index % 9 != 4).then_some(weight));
    tiles_by_width("one way", &one_way, &graph_sources, 4);
    // Distances near the end of 32 bits, and beyond: offsets from bases of 64.
    for weight in [1 << 26, u32::MAX] {
        let arcs = near.edges().map(|(u, v, weight)| (u, v, weight as u32));
        let chain = (0..70_u32).map(|step| (if step == 0 { 0 } else { 900 + step }, 901 + step, weight));
        let far = GraphBuilder::new().vertices(971).build_from(arcs.chain(chain).collect::<Vec<_>>()).unwrap();
        tiles_by_width("chain", &far, &sources(&far), 5);
    }
}

/// As above on graphs of every shape, from more sources than are in one warp.
#[test]
fn tiles_in_16_bits_agree_on_every_shape() {
    let mut random = Random(12);
    for (name, graph) in graphs_of_every_shape::<u32>(5).into_iter().skip(2).step_by(5) {
        let sources: Vec<VertexId> =
            (0..70.min(70 * graph.vertices())).map(|_| random.below(graph.vertices() as u64) as VertexId).collect();
        tiles_by_width(&name, &graph, &sources, 6);
    }
}
