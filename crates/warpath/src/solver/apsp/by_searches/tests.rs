//! All-pairs shortest paths by searches on the emulator, and on the GPU if there is one, against the CPU engine.

mod hierarchy;
mod memory;
mod several_devices;

use std::sync::{Arc, Mutex};

use super::*;
use crate::cuda::device::testing::devices;
use crate::graph::{GraphBuilder, Unit, Weight};
use crate::problems::{NpyWriter, Reduction, RowBlock, RowReductions, RowSink, TableShape};
use crate::testing::{Random, TestWeight, graphs_of_every_shape};
use crate::{Apsp, Bfs, Control, Engine, Request};

/// Batches of one row, of some, of all, in shared memory or not.
const BATCHED: [&str; 4] = [
    "batched:threads=32,rows=7",
    "batched:threads=64,rows=70,distances=global",
    "batched:threads=32",
    "batched:threads=32,rows=1,distances=global",
];

/// The most rows of a table that takes long.
const ROWS: usize = 40;

fn on_cpu(graph: &Graph) -> Solver {
    Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap()
}

fn on(device: Arc<dyn Device>, graph: &Graph) -> Solver {
    Solver::builder(graph.clone()).threads(1).device(device).open().unwrap()
}

fn counted(statistics: &Statistics, name: &str) -> u64 {
    statistics.iter().find(|(counter, _)| *counter == name).map_or(0, |(_, value)| *value)
}

/// Some vertices of a graph, or all if it is small.
fn some(graph: &Graph, random: &mut Random) -> Vec<VertexId> {
    let vertices = graph.vertices() as u64;
    if vertices <= ROWS as u64 {
        return (0..vertices as VertexId).collect();
    }
    (0..ROWS).map(|_| random.below(vertices) as VertexId).collect()
}

/// Runs the algorithms in turn on one of `every` graphs among those of every shape, beginning with the `seed`th.
fn agrees_with_the_cpu<W: TestWeight>(seed: u64, every: usize, algorithms: &[&str]) {
    let mut random = Random(seed);
    let graphs = graphs_of_every_shape::<W>(seed).into_iter().skip(seed as usize % every).step_by(every);
    for (turn, (name, graph)) in graphs.enumerate() {
        let request = Apsp::all().from(some(&graph, &mut random));
        let expected = on_cpu(&graph).solve(request.clone().algorithm("batched")).unwrap();
        let algorithm = algorithms[turn % algorithms.len()];
        let context = format!("{name}, {algorithm}");
        for device in devices(seed) {
            let solver = on(device, &graph);
            let request = request.clone().algorithm(algorithm);
            let matrix = solver.solve(request.clone()).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert!(matrix.distances() == expected.distances(), "{context}");
            assert_eq!(
                (matrix.report().semiring, matrix.reassociated),
                (expected.report().semiring, false),
                "{context}"
            );
            matrix.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert!(counted(&matrix.report().statistics, "kernel_launches") > 0);
            assert!(counted(&matrix.report().statistics, "predicted_nanoseconds") > 0);
            let summary = solver.solve(request.into_sink(&mut ())).unwrap();
            assert_eq!(summary.finite_pairs(), expected.finite_pairs(), "{context}");
            assert_eq!(summary.distance_sum(), expected.distance_sum(), "{context}");
            assert_eq!(summary.max_distance(), expected.max_distance(), "{context}");
        }
    }
}

#[test]
fn batches_agree_with_the_cpu_in_every_semiring() {
    agrees_with_the_cpu::<u32>(1, 13, &BATCHED);
    agrees_with_the_cpu::<Unit>(3, 13, &BATCHED);
    agrees_with_the_cpu::<i32>(5, 17, &BATCHED);
    agrees_with_the_cpu::<f32>(6, 17, &BATCHED);
    agrees_with_the_cpu::<f64>(7, 17, &BATCHED);
}

#[test]
fn one_search_after_another_agrees_with_the_cpu() {
    const REPEATED: [&str; 4] = [
        "near-far:rows=9",
        "repeated-sssp:threads=64,rows=9",
        "repeated-sssp:threads=32,coarsening=4",
        "repeated-sssp:threads=32,coarsening=2,stride=strided",
    ];
    agrees_with_the_cpu::<u32>(1, 13, &REPEATED);
    agrees_with_the_cpu::<Unit>(2, 13, &REPEATED);
    agrees_with_the_cpu::<f32>(3, 13, &REPEATED);
    agrees_with_the_cpu::<i32>(4, 13, &REPEATED);
    let doubles = Graph::from_edges([(0, 1, 2.5_f64)]).unwrap();
    for device in devices(1) {
        let refused = on(device, &doubles).solve(Apsp::all().algorithm("repeated-sssp")).unwrap_err();
        assert!(refused.to_string().contains("f64->f64"), "{refused}");
    }
}

#[test]
fn searches_over_the_bus_agree_with_the_cpu() {
    const ZERO_COPY: [&str; 4] = [
        "zero-copy:threads=64,blocks=2,rows=9",
        "zero-copy:threads=32,blocks=3,short-rows=4",
        "zero-copy:threads=32,blocks=1,offsets=host",
        "zero-copy:threads=64,blocks=2,window=64,rows=1",
    ];
    agrees_with_the_cpu::<u32>(1, 11, &ZERO_COPY);
    agrees_with_the_cpu::<Unit>(2, 17, &ZERO_COPY);
    agrees_with_the_cpu::<f32>(3, 17, &ZERO_COPY);
    agrees_with_the_cpu::<f64>(4, 17, &ZERO_COPY);
    agrees_with_the_cpu::<i32>(5, 17, &ZERO_COPY);
}

#[test]
fn all_that_is_searched_counts_as_solving() {
    let graph = crate::generate("uniform:6").unwrap();
    for algorithm in [
        "repeated-sssp:threads=32,rows=9",
        "near-far",
        "batched:threads=32,rows=9",
        "zero-copy:threads=32,blocks=2,rows=9",
    ] {
        for device in devices(1) {
            let matrix = on(device, &graph).solve(Apsp::all().algorithm(algorithm)).unwrap();
            let report = matrix.report();
            let on_device = counted(&report.statistics, "device_nanoseconds") as f64 * 1e-9;
            // Rows come back while the next rows are searched.
            assert!(report.seconds.solve + report.seconds.download >= on_device, "{algorithm}: {report:?}");
        }
    }
}

/// Batches of one row, of some, of all; with shortcuts on the device or not.
const OVER_A_HIERARCHY: [&str; 6] = [
    "hierarchy:rows=7",
    "hierarchy:rows=70,shortcuts=fronts",
    "hierarchy",
    "hierarchy:rows=1",
    "hierarchy:shortcuts=host",
    "hierarchy:rows=70",
];

/// About `degree` arcs a vertex, whose weights potentials make negative, but no cycle.
fn negative_graph(seed: u64, vertices: u64, degree: u64, potential: u64) -> Graph {
    let mut random = Random(seed);
    let potentials: Vec<i64> = (0..vertices).map(|_| random.below(potential) as i64).collect();
    let arcs: Vec<(VertexId, VertexId, i32)> = (0..vertices * degree)
        .map(|_| {
            let (from, to) = (random.below(vertices) as usize, random.below(vertices) as usize);
            let length = random.below(60) as i64 + potentials[to] - potentials[from];
            (from as VertexId, to as VertexId, length as i32)
        })
        .collect();
    GraphBuilder::new().vertices(vertices).build_from(arcs).unwrap()
}

#[test]
fn weights_below_zero_are_reweighted() {
    for (vertices, degree, potential) in [(1, 1, 1), (2, 2, 9), (90, 3, 1000), (150, 2, 1 << 30)] {
        let graph = negative_graph(vertices, vertices, degree, potential);
        for request in [Apsp::all(), Apsp::all().from([0, 0]).to([0]), Apsp::all().to(Vec::new())] {
            let expected = on_cpu(&graph).solve(request.clone().algorithm("floyd-warshall")).unwrap();
            for device in devices(vertices) {
                let solver = on(device, &graph);
                let request = request.clone().algorithm("johnson:threads=32,rows=64");
                let matrix = solver.solve(request.clone()).unwrap();
                assert_eq!(matrix.distances(), expected.distances(), "{vertices}");
                let summary = solver.solve(request.into_sink(&mut ())).unwrap();
                assert_eq!(summary.distance_sum(), expected.distance_sum());
                assert_eq!(summary.max_distance(), expected.max_distance());
                assert_eq!(summary.finite_pairs(), expected.finite_pairs());
            }
        }
    }
    // Vertices 3 to 5 are on a cycle, which the others do not reach.
    let arcs = [(0, 1, 5), (1, 2, -3), (2, 0, -1), (3, 4, 2), (4, 5, -7), (5, 3, 4), (3, 0, 1)];
    let graph = Graph::from_edges(arcs).unwrap();
    // The path from 0 over 1 to 2 has the length 2 - 2^32; the new weight of the arc from 3 to 2 exceeds 32 bits.
    let deep = [(0, 1, i32::MIN + 1), (1, 2, i32::MIN + 1), (0, 3, i32::MAX), (3, 2, i32::MAX)];
    let deep = Graph::from_edges(deep).unwrap();
    for device in devices(9) {
        let solver = on(device.clone(), &graph);
        let matrix = solver.solve(Apsp::all().from([2, 0]).algorithm("johnson:threads=32").verified()).unwrap();
        assert_eq!(matrix.distance(0, 1).map(Distance::to_f64), Some(4.0));
        assert_eq!(matrix.distance(1, 3), None);
        let cycle = solver.solve(Apsp::all().from([5]).algorithm("johnson")).unwrap_err();
        assert!(matches!(cycle, Error::NegativeCycle(_)), "{cycle}");
        let refused = solver.solve(Apsp::all().algorithm("batched")).unwrap_err();
        assert!(refused.to_string().contains("weights of 0 or more"), "{refused}");
        let refused = on(device, &deep).solve(Apsp::all().algorithm("johnson")).unwrap_err();
        assert!(refused.to_string().contains("exceed 32 bits"), "{refused}");
    }
}

/// If searches are picked but can't take the weights, the matrix does.
#[test]
fn the_matrix_takes_what_searches_can_not() {
    let sparse = negative_graph(1, 300, 2, 50);
    let mut arcs: Vec<_> = sparse.edges().map(|(u, v, weight)| (u, v, weight as i32)).collect();
    arcs.extend([(300, 301, i32::MIN + 1), (301, 302, i32::MIN + 1), (300, 303, i32::MAX), (303, 302, i32::MAX)]);
    let graph = Graph::from_edges(arcs).unwrap();
    let request = || Apsp::all().from([5, 300]);
    let expected = on_cpu(&graph).solve(request()).unwrap();
    for device in devices(2) {
        let solver = on(device, &graph);
        let searches = request().algorithm("johnson").decide(&solver, None).unwrap();
        let refused = request().algorithm("johnson").run(&solver, &solver.team, &searches).unwrap_err();
        let again = request().decide_again(&solver, None, &searches, refused).unwrap();
        let matrix = request().run(&solver, &solver.team, &again).unwrap();
        matrix.verify(&graph).unwrap();
        assert_eq!(matrix.distances(), expected.distances());
        let report = matrix.report();
        assert_eq!((report.algorithm.as_str(), report.engine.starts_with("cuda")), ("tiled-floyd-warshall", true));
        assert!(report.reason.contains("exceed 32 bits"), "{}", report.reason);
        let mut sink = ();
        let mut rows = request().into_sink(&mut sink);
        let again = rows.decide_again(&solver, None, &searches, Error::invalid(TOO_GREAT)).unwrap();
        let summary = rows.run(&solver, &solver.team, &again).unwrap();
        assert_eq!(summary.distance_sum(), expected.distance_sum());
    }
}

#[test]
fn rows_and_columns_asked_for() {
    /// Asks for one of so many requests, beginning with one of them.
    fn check<W: TestWeight>(seed: u64, first: usize, every: usize) {
        let mut random = Random(seed);
        let mut vertex = || random.below(101) as VertexId;
        let arcs: Vec<_> = (0..505).map(|_| (vertex(), vertex())).collect();
        let arcs: Vec<_> = arcs.into_iter().map(|(u, v)| (u, v, W::draw(&mut random))).collect();
        let graph = GraphBuilder::new().vertices(101).build_from(arcs).unwrap();
        let cpu = on_cpu(&graph);
        let requests = [
            Apsp::all().from([3, 4, 5, 100, 0, 0]),
            Apsp::all().to([7, 7, 97]),
            Apsp::all().from([9, 71, 72]).to([0, 100]),
            Apsp::all().to(Vec::new()),
            Apsp::all().from(Vec::new()),
        ];
        for device in devices(seed) {
            let gpu = on(device, &graph);
            for (turn, request) in requests.iter().enumerate().skip(first).step_by(every) {
                let expected = cpu.solve(request.clone().algorithm("batched")).unwrap();
                let request = request.clone().algorithm(BATCHED[turn % 2]);
                assert_eq!(gpu.solve(request.clone()).unwrap().distances(), expected.distances(), "{request:?}");
                let all = [Reduction::Eccentricity, Reduction::Closeness, Reduction::Histogram];
                let (mut here, mut there) = (RowReductions::new(all), RowReductions::new(all));
                for summary in [
                    gpu.solve(request.clone().into_sink(&mut ())).unwrap(),
                    gpu.solve(request.clone().verified().into_sink(&mut here)).unwrap(),
                ] {
                    assert_eq!(summary.distance_sum(), expected.distance_sum(), "{request:?}");
                    assert_eq!(summary.finite_pairs(), expected.finite_pairs(), "{request:?}");
                    assert_eq!(summary.max_distance(), expected.max_distance(), "{request:?}");
                }
                cpu.solve(Apsp { algorithm: Some("floyd-warshall".into()), ..request }.into_sink(&mut there)).unwrap();
                assert_eq!(here.eccentricities(), there.eccentricities());
                assert_eq!(here.closeness(), there.closeness());
                assert_eq!(here.histogram(), there.histogram());
            }
        }
    }
    check::<u32>(5, 0, 1);
    check::<Unit>(6, 1, 2);
    check::<i32>(7, 0, 2);
}

#[test]
fn no_vertices_and_one() {
    let empty = GraphBuilder::new().build_from(Vec::<(u32, u32, u32)>::new()).unwrap();
    let one = GraphBuilder::new().vertices(1).build_from(Vec::<(u32, u32)>::new()).unwrap();
    for device in devices(1) {
        for algorithm in ["batched", "repeated-sssp", "johnson", "hierarchy"] {
            let matrix = on(device.clone(), &empty).solve(Apsp::all().algorithm(algorithm)).unwrap();
            assert_eq!((matrix.rows(), matrix.columns(), matrix.distances().len()), (0, 0, 0));
            let summary = on(device.clone(), &empty).solve(Apsp::all().algorithm(algorithm).into_sink(&mut ()));
            assert_eq!(summary.unwrap().max_distance(), None);
            let matrix = on(device.clone(), &one).solve(Apsp::all().algorithm(algorithm)).unwrap();
            assert_eq!(matrix.distance(0, 0).map(Distance::to_f64), Some(0.0), "{algorithm}");
        }
    }
}

/// Rows that leave 32 bits come late. Where only walks leave them, but no distance does, nothing is repeated.
#[test]
fn rows_beyond_the_narrow_semiring() {
    let third = u32::MAX / 3;
    let long = (0..6_u32).map(|v| (v, v + 1, third)).chain([(6, 7, 2), (7, 8, u32::MAX - 1)]);
    let long = GraphBuilder::new().vertices(9).build_from(long.collect::<Vec<_>>()).unwrap();
    // From 0 on the walk over 1 is too long, but the arc to 2 is short.
    let walks = Graph::from_edges([(0, 1, u32::MAX - 3), (1, 2, 5), (0, 2, 7), (2, 0, 1)]).unwrap();
    let floats = Graph::from_edges([(0, 1, 3e38_f32), (1, 2, 3e38), (0, 2, 7.0), (2, 0, 1.0)]).unwrap();
    let single = Graph::from_edges([(0, 1, 3e38_f32), (1, 2, 3e38)]).unwrap();
    // Signed distances begin in 32 bits, and continue in 64 bits from where they must.
    let signed = Graph::from_edges((0..4_u32).map(|v| (v, v + 1, i32::MAX - v as i32))).unwrap();
    for device in devices(2) {
        for algorithm in [
            "batched:rows=2,threads=32",
            "repeated-sssp:rows=4,threads=32",
            "zero-copy:rows=3,threads=32,blocks=2",
            OVER_A_HIERARCHY[0],
        ] {
            let repeats = |graph: &Graph, request: Apsp| {
                let found = on(device.clone(), graph).solve(request.clone().algorithm(algorithm)).unwrap();
                let expected = on_cpu(graph).solve(request.algorithm("batched")).unwrap();
                assert_eq!(found.distances(), expected.distances(), "{algorithm}");
                found.report().repeated_wide || counted(&found.report().statistics, "repeated_in_wider_lane") > 0
            };
            assert!(repeats(&long, Apsp::all()));
            assert!(repeats(&long, Apsp::all().from([7, 6, 6, 6, 0])));
            assert!(!repeats(&long, Apsp::all().from([7, 8])));
            assert!(!repeats(&walks, Apsp::all()));
            let summary = on(device.clone(), &long).solve(Apsp::all().algorithm(algorithm).into_sink(&mut ())).unwrap();
            assert!(summary.report().repeated_wide);
            let expected = on_cpu(&long).solve(Apsp::all()).unwrap();
            assert_eq!(summary.distance_sum(), expected.distance_sum());
            assert_eq!(summary.max_distance(), expected.max_distance());
            if algorithm == OVER_A_HIERARCHY[0] {
                continue;
            }
            assert!(!repeats(&floats, Apsp::all()));
            assert!(repeats(&signed, Apsp::all()));
            assert!(!repeats(&signed, Apsp::all().from([2, 3])));
            let overflow = on(device.clone(), &single).solve(Apsp::all().algorithm(algorithm)).unwrap_err();
            assert!(matches!(overflow, Error::DistanceOverflow { semiring: "f32->f32" }), "{overflow}");
        }
    }
}

#[test]
fn floats_below_their_range_are_an_error() {
    let deep = Graph::from_edges([(0, 1, -3e38_f32), (1, 2, -3e38), (2, 3, 1e38), (3, 4, 0.0)]).unwrap();
    for algorithm in ["batched", "floyd-warshall", "tiled-floyd-warshall", "johnson"] {
        let overflow = on_cpu(&deep).solve(Apsp::all().algorithm(algorithm)).unwrap_err();
        assert!(matches!(overflow, Error::DistanceOverflow { semiring: "f32->f32" }), "{algorithm}: {overflow}");
    }
    for device in devices(2) {
        for algorithm in ["tiled-floyd-warshall", "floyd-warshall"] {
            let overflow = on(device.clone(), &deep).solve(Apsp::all().algorithm(algorithm)).unwrap_err();
            assert!(matches!(overflow, Error::DistanceOverflow { semiring: "f32->f32" }), "{algorithm}: {overflow}");
        }
    }
}

/// Passes rows on, and fails after some blocks, or at the end.
struct Stopping<'a> {
    inner: &'a mut NpyWriter,
    blocks: usize,
}

impl RowSink for Stopping<'_> {
    fn plan(&self, rows: u64, columns: u64, bytes: u64, plan: &mut Plan) {
        self.inner.plan(rows, columns, bytes, plan);
    }
    fn begin(&mut self, table: &TableShape<'_>, replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        assert!(table.order.is_sorted());
        self.inner.begin(table, replay)
    }
    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()> {
        if self.blocks == 0 {
            return Err(Error::Interrupted);
        }
        self.blocks -= 1;
        self.inner.rows(block)
    }
    fn finish(&mut self) -> Result<()> {
        Err(Error::Interrupted)
    }
}

#[test]
fn files_continue_and_what_is_whole_takes_no_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.npy");
    let graph = Graph::from_edges((0..60_u32).flat_map(|v| [(v, v * 7 % 61, v % 9 + 1), (v, v + 1, 4)])).unwrap();
    let expected = on_cpu(&graph).solve(Apsp::all()).unwrap();
    for device in devices(3) {
        for algorithm in ["batched:threads=32,rows=8", "repeated-sssp:threads=64,rows=20", "tiled-floyd-warshall"] {
            let solver = on(device.clone(), &graph);
            let request = || Apsp::all().algorithm(algorithm);
            for blocks in [3, usize::MAX] {
                let mut writer = NpyWriter::new(&path).resume(true);
                let stopped = solver.solve(request().into_sink(&mut Stopping { inner: &mut writer, blocks }));
                assert!(matches!(stopped, Err(Error::Interrupted)), "{algorithm}");
            }
            // All rows are written: only the file has yet to be renamed.
            let mut writer = NpyWriter::new(&path).resume(true);
            let summary = solver.solve(request().verified().into_sink(&mut writer)).unwrap();
            assert_eq!(summary.distance_sum(), expected.distance_sum());
            assert_eq!(counted(&summary.report().statistics, "kernel_launches"), 0, "{algorithm}");
            let bytes = std::fs::read(&path).unwrap();
            let crate::graph::Distances::U32(cells) = expected.distances() else { panic!("narrow") };
            assert!(bytes.ends_with(bytemuck::cast_slice(cells)), "{algorithm}");
            std::fs::remove_file(&path).unwrap();
        }
    }
}

/// A sink that puts requests to the solver whose rows it gets, which refuses them, and to another solver.
struct Asking<'s> {
    solver: &'s Solver,
    other: &'s Solver,
    asked: Mutex<usize>,
}

impl RowSink for Asking<'_> {
    fn plan(&self, _: u64, _: u64, _: u64, _: &mut Plan) {}
    fn begin(&mut self, _: &TableShape<'_>, _: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        Ok(0)
    }
    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()> {
        let request = Bfs::from(block.rows[0] as VertexId).algorithm("queue:threads=32");
        assert!(matches!(self.solver.solve(request.clone()), Err(Error::InvalidRequest(_))));
        let tree = self.other.solve(request)?;
        let reached = tree.reached();
        assert_eq!(block.values.len(), block.rows.len() * self.solver.graph.vertices());
        assert_eq!((0..block.columns).filter(|&cell| block.values.get(cell).is_some()).count() as u64, reached);
        *self.asked.lock().unwrap() += 1;
        Ok(())
    }
}

#[test]
fn a_sink_may_ask_another_solver_of_the_same_device() {
    let graph = Graph::from_edges((0..40_u32).flat_map(|v| [(v, v * 7 % 41, v % 9 + 1), (v, v + 1, 4)])).unwrap();
    for device in devices(4) {
        for (algorithm, blocks) in [("batched:threads=32,rows=16", 3), ("tiled-floyd-warshall", 1)] {
            let solver = on(device.clone(), &graph);
            let other = on(device.clone(), &graph);
            let mut sink = Asking { solver: &solver, other: &other, asked: Mutex::new(0) };
            solver.solve(Apsp::all().algorithm(algorithm).into_sink(&mut sink)).unwrap();
            assert_eq!(*sink.asked.lock().unwrap(), blocks, "{algorithm}");
        }
    }
}

/// The plan has the cells that are expected to suffice; where they don't, wider cells are refused if there is no room.
#[test]
fn wider_cells_are_checked_against_the_memory() {
    let heavy = u32::MAX / 3;
    let graph = GraphBuilder::new().vertices(100).build_from((0..4).map(|v| (v, v + 1, heavy)).collect::<Vec<_>>());
    let graph = graph.unwrap();
    for device in devices(6) {
        let request = || Apsp::all().algorithm("blocked-floyd-warshall");
        let planned = on(device.clone(), &graph).decide(&request()).unwrap().plan().device_bytes();
        let small = Solver::builder(graph.clone()).threads(1).device(device.clone()).memory(planned).open().unwrap();
        match small.solve(request()) {
            Err(Error::OutOfMemory { needed, available, .. }) => {
                assert!(available == planned && needed > planned, "{needed} {available}");
            }
            other => panic!("{:?}", other.map(drop)),
        }
        let matrix = on(device, &graph).solve(request()).unwrap();
        assert!(matrix.report().device_bytes > planned);
    }
}

#[test]
fn cells_that_a_semiring_lacks_are_refused() {
    let whole = Graph::from_edges([(0, 1, 3_u32), (1, 2, 4)]).unwrap();
    let float = Graph::from_edges([(0, 1, 3_f64), (1, 2, 4.0)]).unwrap();
    for device in devices(7) {
        for (graph, algorithm, there) in [
            (&whole, "tiled-floyd-warshall:cell-bits=64", "it has 16, 32"),
            (&whole, "floyd-warshall:cell-bits=16", "it has 32"),
            (&float, "tiled-floyd-warshall:cell-bits=32", "it has 64"),
        ] {
            let solver = on(device.clone(), graph);
            let refused = solver.solve(Apsp::all().algorithm(algorithm)).unwrap_err();
            assert!(refused.to_string().contains(there), "{refused}");
            assert!(solver.decide(&Apsp::all().algorithm(algorithm)).is_err());
        }
        // The wide semiring comes after the narrow semiring, with the cells that it has.
        let wide = Graph::from_edges([(0, 1, u32::MAX), (1, 2, 5)]).unwrap();
        let matrix = on(device, &wide).solve(Apsp::all().algorithm("tiled-floyd-warshall:cell-bits=32")).unwrap();
        assert!(matrix.report().repeated_wide);
    }
}

#[test]
fn progress_comes_to_its_end_and_cancelling_ends_the_work() {
    let graph = Graph::from_edges((0..50_u32).flat_map(|v| [(v, v * 7 % 51, 3_u32), (v, v + 1, 4)])).unwrap();
    for device in devices(8) {
        for algorithm in
            ["batched:threads=32,rows=20", "repeated-sssp:threads=32", "floyd-warshall", "blocked-floyd-warshall"]
        {
            let last = Arc::new(Mutex::new((0, 1)));
            let seen = last.clone();
            let control =
                Control::new().watched_by(move |progress| *seen.lock().unwrap() = (progress.done, progress.total));
            let solver =
                Solver::builder(graph.clone()).threads(1).device(device.clone()).control(control).open().unwrap();
            solver.solve(Apsp::all().algorithm(algorithm)).unwrap();
            let (done, total) = *last.lock().unwrap();
            assert!(done == total && total > 0, "{algorithm}: {done} of {total}");

            let control = Control::new();
            let inner = control.clone();
            let control = control.watched_by(move |_| inner.cancel());
            let solver =
                Solver::builder(graph.clone()).threads(1).device(device.clone()).control(control).open().unwrap();
            let cancelled = solver.solve(Apsp::all().algorithm(algorithm));
            assert!(matches!(cancelled, Err(Error::Interrupted)), "{algorithm}");
        }
    }
}

#[test]
fn auto_searches_where_there_are_few_arcs_or_rows() {
    let mut random = Random(4);
    let arcs: Vec<_> = (0..60_000_u32).map(|arc| (arc % 10_000, random.below(10_000) as u32, 1 + arc % 100)).collect();
    let sparse = Graph::from_edges(arcs.clone()).unwrap();
    let unit = Graph::from_edges(arcs.iter().map(|&(u, v, _)| (u, v))).unwrap();
    let dense =
        Graph::from_edges((0..300_u32).flat_map(|u| (0..300_u32).map(move |v| (u, v, 1 + (u ^ v) % 9)))).unwrap();
    let negative = negative_graph(1, 3000, 3, 50);
    let exact = Graph::from_edges([(0, 1, -2.5_f64), (1, 2, 3.0)]).unwrap();
    for device in devices(9) {
        let chosen = |graph: &Graph, request: Apsp| {
            let solver = on(device.clone(), graph);
            let decision = solver.decide(&request).unwrap();
            (decision.algorithm().to_owned(), decision.reason().to_owned())
        };
        assert_eq!(chosen(&sparse, Apsp::all()).0, "batched");
        assert_eq!(chosen(&unit, Apsp::all()).0, "batched");
        assert_eq!(chosen(&dense, Apsp::all()).0, "tiled-floyd-warshall");
        assert_eq!(chosen(&negative, Apsp::all().from([1, 2])).0, "johnson");
        // No algorithm suits negative floats, so the first of the table is picked.
        assert_eq!(chosen(&exact, Apsp::all()).0, "tiled-floyd-warshall");
        let (_, reason) = chosen(&sparse, Apsp::all());
        assert!(reason.contains("predicted for `batched`") && reason.contains("`tiled-floyd-warshall`"), "{reason}");
    }
}

#[test]
fn weights_that_count_as_one_type() {
    // Whatever the type of the weights, the device finds the CPU's distances.
    fn check<W: Weight>(weight: fn(u32) -> W) {
        let graph = Graph::from_edges((0..30_u32).map(|v| (v, (v * 5 + 1) % 31, weight(v)))).unwrap();
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("batched")).unwrap();
        for device in devices(1) {
            let matrix = on(device, &graph).solve(Apsp::all().algorithm("batched:threads=32")).unwrap();
            assert_eq!(matrix.distances(), expected.distances());
        }
    }
    check(|v| v);
    check(|v| v as i32);
    check(|v| v as f32 / 8.0);
    check(|v| f64::from(v) / 8.0);
    check(|_| Unit);
}

#[test]
fn floats_of_walks_may_leave_their_range() {
    let long = Graph::from_edges([(0, 1, 1e308), (1, 2, 1e308), (0, 2, 1.5e308), (2, 3, 1.0)]).unwrap();
    let longer = Graph::from_edges([(0, 1, 3e38_f32), (1, 2, 3e38), (2, 3, 1.0)]).unwrap();
    let expected = on_cpu(&long).solve(Apsp::all()).unwrap();
    for device in devices(3) {
        for algorithm in ["tiled-floyd-warshall", "floyd-warshall"] {
            let found = on(device.clone(), &long).solve(Apsp::all().algorithm(algorithm)).unwrap();
            assert_eq!(found.distances(), expected.distances(), "{algorithm}");
            let solve =
                |source: VertexId| on(device.clone(), &longer).solve(Apsp::all().from(source).algorithm(algorithm));
            assert_eq!(solve(1).unwrap().finite_pairs(), 3, "{algorithm}");
            assert!(matches!(solve(0), Err(Error::DistanceOverflow { semiring: "f32->f32" })), "{algorithm}");
        }
    }
}
