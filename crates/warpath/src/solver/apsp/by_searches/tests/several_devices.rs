//! Sources that several devices share: the rows are those of one, in order, whatever each device has time for.

use super::*;
use crate::cuda::device::testing::several;
use crate::solver::apsp::by_searches::batch::{WORTH_A_BATCH, even_share};

fn on_several(devices: &[Arc<dyn Device>], graph: &Graph) -> Solver {
    Solver::builder(graph.clone()).threads(2).devices(devices.to_vec()).open().unwrap()
}

/// The rows that a sink was given, in their order.
#[derive(Default)]
struct Kept {
    rows: Vec<usize>,
    fails_after: Option<usize>,
}

impl RowSink for Kept {
    fn plan(&self, _: u64, _: u64, _: u64, _: &mut Plan) {}

    fn begin(&mut self, _: &TableShape<'_>, _: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        self.rows.clear();
        Ok(0)
    }

    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()> {
        self.rows.extend(block.rows);
        match self.fails_after {
            Some(rows) if self.rows.len() >= rows => Err(Error::invalid("planted")),
            _ => Ok(()),
        }
    }
}

#[test]
fn several_devices_give_the_rows_of_one() {
    let graphs = [
        crate::generate("roads:150,weights=1..100").unwrap(),
        crate::generate("uniform:7,weights=0..9").unwrap(),
        crate::generate("kron:6").unwrap(),
    ];
    let algorithms =
        ["hierarchy:rows=9", "batched:threads=32,rows=7", "batched:threads=32", "repeated-sssp:rows=11,threads=32"];
    for (turn, graph) in graphs.iter().enumerate() {
        let sources: Vec<VertexId> = (0..40).rev().collect();
        let request = || Apsp::all().from(sources.clone());
        let expected = on_cpu(graph).solve(request().algorithm("batched")).unwrap();
        let count = 1 + turn;
        for devices in several(count, turn as u64) {
            for algorithm in algorithms {
                let solver = on_several(&devices, graph);
                let matrix = solver.solve(request().algorithm(algorithm).verified()).unwrap();
                assert!(matrix.distances() == expected.distances(), "{algorithm}, {count}");
                let engine = matrix.report().engine.clone();
                assert_eq!(engine.matches(|c: char| c.is_ascii_digit()).count(), count, "{engine}");
                assert_eq!(counted(&matrix.report().statistics, "searches"), 40);
                let mut kept = Kept::default();
                let summary = solver.solve(request().algorithm(algorithm).into_sink(&mut kept)).unwrap();
                assert!(kept.rows.iter().copied().eq(0..40), "{algorithm}, {count}");
                assert_eq!(summary.distance_sum(), expected.distance_sum());
                let facts = solver.solve(request().algorithm(algorithm).into_sink(&mut ())).unwrap();
                assert_eq!(facts.distance_sum(), expected.distance_sum());
                // A sink that fails ends the work of all.
                let mut kept = Kept { fails_after: Some(20), ..Kept::default() };
                let failed = solver.solve(request().algorithm(algorithm).into_sink(&mut kept)).err();
                assert!(failed.is_some_and(|error| error.to_string().contains("planted")), "{algorithm}, {count}");
                // More devices than sources.
                let two = solver.solve(Apsp::all().from([7]).to([0, 3]).algorithm(algorithm)).unwrap();
                let row = sources.iter().position(|&source| source == 7).unwrap();
                assert_eq!(two.distance(0, 1), expected.distance(row, 3));
            }
        }
    }
}

/// Only the row of one source leaves 32 bits: one device finds that, and all begin again from what was handed out.
#[test]
fn one_row_beyond_the_narrow_semiring_stops_all_devices() {
    let third = u32::MAX / 3;
    let long = (0..6_u32).map(|v| (v, v + 1, third)).chain((7..60).map(|v| (v, v + 1, v)));
    let graph = GraphBuilder::new().vertices(61).build_from(long.collect::<Vec<_>>()).unwrap();
    let sources: Vec<VertexId> = (7..60).chain([0]).chain(1..7).collect();
    let expected = on_cpu(&graph).solve(Apsp::all().from(sources.clone()).algorithm("batched")).unwrap();
    for devices in several(2, 3) {
        for algorithm in ["hierarchy:rows=5", "batched:threads=32,rows=5"] {
            let solver = on_several(&devices, &graph);
            let matrix = solver.solve(Apsp::all().from(sources.clone()).algorithm(algorithm)).unwrap();
            assert!(matrix.distances() == expected.distances(), "{algorithm}");
            let mut kept = Kept::default();
            let summary =
                solver.solve(Apsp::all().from(sources.clone()).algorithm(algorithm).into_sink(&mut kept)).unwrap();
            assert_eq!(summary.distance_sum(), expected.distance_sum());
            assert!(kept.rows.iter().copied().eq(0..sources.len()), "{algorithm}");
        }
    }
}

#[test]
fn cancelled_work_ends_on_all_devices() {
    let graph = crate::generate("roads:200,weights=1..9").unwrap();
    for devices in several(3, 4) {
        let control = Control::new();
        let builder = Solver::builder(graph.clone()).threads(2).devices(devices).control(control.clone());
        let solver = builder.open().unwrap();
        control.cancel();
        let error = solver.solve(Apsp::all().algorithm("hierarchy:rows=7")).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
    }
}

/// No device has a batch more than another, none is larger than fits, and no row is left over.
#[test]
fn batches_are_even() {
    let mut random = Random(8);
    for _ in 0..2000 {
        let [all, devices, most] = [20_000, 8, 9_000].map(|below| 1 + random.below(below));
        let most = most.min(all.div_ceil(devices));
        let share = even_share(all, devices, most);
        let (fewest, batches) = (all.div_ceil(most), all.div_ceil(share));
        assert!((1..=most).contains(&share) && batches <= fewest.next_multiple_of(devices));
        // The last batch lacks a word for each other one at most.
        assert!(share * batches - all < share.min(WORTH_A_BATCH * batches + batches), "{all} {devices} {most}");
    }
    // Three batches on one device, four on two.
    assert_eq!([1, 2].map(|devices| even_share(16_384, devices, 7_104)), [5_504, 4_096]);
}
