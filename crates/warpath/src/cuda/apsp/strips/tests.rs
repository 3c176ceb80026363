//! Strips on emulated devices, and on the GPUs if there are any, against the CPU engine and against each other.

use std::sync::Arc;

use super::cut::Asked;
use super::*;
use crate::algorithms::parse_algorithm;
use crate::cuda::apsp as cuda;
use crate::cuda::apsp::tests::{assert_equal, on_cpu, random_graph};
use crate::cuda::device::testing::several;
use crate::graph::{Distance, Distances, Graph, GraphBuilder, I32ToI64, Unit, VertexId, Weight};
use crate::problems::{NpyWriter, RowSink};
use crate::testing::graphs_of_every_shape;
use crate::{Apsp, Control, DistanceMatrix, Solver};

mod resumed;

pub(in crate::cuda::apsp) fn counted(matrix: &DistanceMatrix, name: &str) -> u64 {
    matrix.report().statistics.iter().find(|(counter, _)| *counter == name).map_or(0, |(_, count)| *count)
}

/// The memory with which strips of this many rows have to come and go. Narrow cells are planned as if they were wide.
fn memory_for(graph: &Graph, cell: Cell, rows: u64) -> u64 {
    let cell = if cell == Cell::U16 { Cell::U32 } else { cell };
    let cut = Cut::choose(cell, graph.vertices() as u64, rows_of(Some(rows)), &room(1, u64::MAX), 0).unwrap();
    Cut { streamed: true, ..cut }.plan().device_bytes()
}

fn rows_of(rows: Option<u64>) -> Asked {
    Asked { rows, on_host: false }
}

fn room(devices: u64, device_bytes: u64) -> Room {
    Room { devices, device_bytes, host_bytes: u64::MAX, multiprocessors: 4 }
}

/// Every number of devices up to this one gives the same bits, in core and not, and they are those of the CPU.
fn agrees<W: Weight>(most: usize, n: u64, potential: u64, rows: u64, cell: Cell, weight: fn(i64) -> W) {
    // Under sanitizers all takes several times as long.
    if cfg!(emulator_sanitized) {
        agrees_on(&[2], &[3], n, potential, rows, cell, weight);
    } else {
        let counts: Vec<usize> = (1..=most).collect();
        agrees_on(&counts, &[3], n, potential, rows, cell, weight);
        agrees_on(&[1, most], &[n], n, potential, rows, cell, weight);
    }
}

/// The same for these numbers of devices, and graphs of these degrees. Complete graphs stay in core.
fn agrees_on<W: Weight>(
    counts: &[usize],
    degrees: &[u64],
    n: u64,
    potential: u64,
    rows: u64,
    cell: Cell,
    weight: fn(i64) -> W,
) {
    for &degree in degrees {
        let graph = random_graph(n + degree, n, degree, potential, weight);
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
        let mut first: Option<Distances> = None;
        for &count in counts {
            for (kind, devices) in several(count, n + degree).into_iter().enumerate() {
                let ways: &[bool] = if degree == n { &[false] } else { &[false, true] };
                for &streamed in ways {
                    let context =
                        format!("n = {n}, degree {degree}, {count} devices of kind {kind}, streamed: {streamed}");
                    let mut solver = Solver::builder(graph.clone()).threads(2).devices(devices.clone());
                    if streamed {
                        solver = solver.memory(memory_for(&graph, cell, rows));
                    }
                    let solver = solver.open().unwrap();
                    let algorithm = format!("tiled-floyd-warshall:strip={rows},cell-bits={}", 8 * cell.bytes());
                    let matrix = solver.solve(Apsp::all().algorithm(algorithm)).unwrap();
                    let first = first.get_or_insert_with(|| {
                        assert_equal(&matrix, &expected, &context);
                        if degree < n {
                            matrix.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                        }
                        matrix.distances().clone()
                    });
                    assert!(matrix.distances() == first, "{context}");
                    let strips = n.div_ceil(rows);
                    assert_eq!(counted(&matrix, "stages"), strips, "{context}");
                    assert_eq!(counted(&matrix, "devices"), strips.min(count as u64), "{context}");
                    // With three strips a device or fewer, as many as come and go are all.
                    let come_and_go = streamed && strips.div_ceil(count as u64) > 3;
                    let in_host_memory = if come_and_go { strips } else { 0 };
                    assert_eq!(counted(&matrix, "strips_in_host_memory"), in_host_memory, "{context}");
                    // Each strip crosses once in every stage but its own, and the first pivot once more.
                    let side = n.next_multiple_of(rows);
                    let crossing = ((strips - 1) * side + rows) * side * cell.bytes();
                    let once = side * side * cell.bytes();
                    let crossed = [counted(&matrix, "bytes_to_device"), counted(&matrix, "bytes_from_device")];
                    assert_eq!(crossed, if come_and_go { [crossing; 2] } else { [once, 0] }, "{context}");
                }
            }
        }
    }
}

#[test]
fn any_number_of_devices_gives_the_same_bits() {
    agrees::<u32>(4, 270, 0, 128, Cell::U32, |length| length as u32);
    agrees::<i32>(3, 259, 40, 128, Cell::I32, |length| length as i32);
    agrees::<f32>(3, 260, 0, 128, Cell::F32, |length| length as f32 / 7.0);
    agrees::<f64>(4, 150, 40, 64, Cell::F64, |length| length as f64 / 7.0);
}

/// Strips that come and go on two devices, and on three.
#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn strips_come_and_go_on_several_devices() {
    agrees_on::<f64>(&[2, 3], &[3], 640, 40, 64, Cell::F64, |length| length as f64 / 7.0);
}

#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn narrow_cells() {
    // Two in a word: blocks are multiples of 256. That is two strips, so a third device has nothing to do.
    agrees::<u32>(3, 270, 0, 256, Cell::U16, |length| length as u32);
    agrees::<Unit>(2, 257, 0, 256, Cell::U16, |_| Unit);
    agrees::<i32>(3, 150, 40, 64, Cell::I64, |length| length as i32);
}

/// Strips so large that all is one, or so small that each has one vertex.
#[test]
fn few_vertices_and_one_strip() {
    for n in [0, 1, 2, 65, 128] {
        let graph = random_graph(n, n, 5, 0, |length| length as u32);
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
        for devices in [several(1, n), several(3, n)].concat() {
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
            for strip in [1, 1000] {
                let algorithm = format!("tiled-floyd-warshall:strip={strip},cell-bits=32");
                let matrix = solver.solve(Apsp::all().algorithm(algorithm)).unwrap();
                assert_equal(&matrix, &expected, &format!("n = {n}, strips of {strip}"));
            }
        }
    }
}

#[test]
fn graphs_of_every_shape_out_of_core() {
    for (turn, (name, graph)) in graphs_of_every_shape::<u32>(8).into_iter().enumerate().skip(1).step_by(6) {
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
        for devices in several(1 + turn % 3, turn as u64) {
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
            let matrix = solver.solve(Apsp::all().algorithm("tiled-floyd-warshall:strip=1").verified()).unwrap();
            assert_equal(&matrix, &expected, &name);
        }
    }
}

/// Without being asked to: a matrix goes to the host if the memory it may take is too little, in strips that fit.
#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn what_does_not_fit_is_streamed() {
    let graph = random_graph(1, 700, 3, 0, |length| length as u32);
    let expected = on_cpu(&graph).solve(Apsp::all().algorithm("batched")).unwrap();
    let request = || Apsp::all().algorithm("tiled-floyd-warshall:cell-bits=32");
    for devices in several(1, 1) {
        // 768 x 768 cells of 4 bytes are 2.4 MB, and there are panels.
        for (memory, strips) in [(u64::MAX, 0), (5_000_000, 3), (2_500_000, 6)] {
            let solver =
                Solver::builder(graph.clone()).threads(2).devices(devices.clone()).memory(memory).open().unwrap();
            let plan = solver.decide(&request()).unwrap().plan().clone();
            assert!(plan.device_bytes() <= memory);
            let matrix = solver.solve(request()).unwrap();
            assert_eq!(matrix.report().device_bytes, plan.device_bytes());
            assert_eq!(counted(&matrix, "strips_in_host_memory"), strips, "{memory}");
            assert_equal(&matrix, &expected, &format!("{memory} bytes"));
            let host = plan.memory_items().iter().find(|item| item.what.contains("strips"));
            assert_eq!(host.map_or(0, |item| item.bytes), if strips > 0 { 768 * 768 * 4 } else { 0 });
            // Rows in any order, and columns of them.
            if strips != 3 {
                let some = request().from([3, 699, 698, 4, 0]).to([600, 2]);
                let found = solver.solve(some.clone()).unwrap();
                assert_eq!(found.distances(), on_cpu(&graph).solve(some.algorithm("batched")).unwrap().distances());
            }
        }
        let solver = Solver::builder(graph.clone()).threads(2).devices(devices).memory(1 << 20).open().unwrap();
        assert!(matches!(solver.solve(request()), Err(Error::OutOfMemory { available: 0x10_0000, .. })));
    }
}

/// Strips that come and go although there is room for all.
#[test]
fn strips_have_their_home_where_it_is_said() {
    let graph = random_graph(2, 600, 3, 0, |length| length as u32);
    let expected = on_cpu(&graph).solve(Apsp::all().algorithm("batched")).unwrap();
    for devices in [several(1, 1), several(2, 1)].concat() {
        let solver = Solver::builder(graph.clone()).threads(2).devices(devices).open().unwrap();
        // How many strips there are without `strip` depends on the device.
        for (home, in_host_memory) in
            [("strip=128,home=device", 0..=0), ("strip=128,home=host", 5..=5), ("home=host", 1..=5)]
        {
            let algorithm = format!("tiled-floyd-warshall:cell-bits=32,{home}");
            let matrix = solver.solve(Apsp::all().algorithm(algorithm).verified()).unwrap();
            assert_equal(&matrix, &expected, home);
            assert!(in_host_memory.contains(&counted(&matrix, "strips_in_host_memory")), "{home}");
            assert_eq!(counted(&matrix, "bytes_from_device") > 0, home.ends_with("host"), "{home}");
        }
    }
}

/// What larger devices and graphs would be cut into, and that it fits.
#[test]
fn plans_for_large_matrices() {
    let h200 = |devices, device_bytes| Room { devices, device_bytes, host_bytes: u64::MAX, multiprocessors: 132 };
    let whole = |n: u64| n * n * 4 + (1 << 30);
    let cut = |n, room: Room| Cut::choose(Cell::U32, n, Asked::default(), &room, whole(n));
    let n = 1 << 16;
    assert_eq!(cut(n, h200(1, 139 << 30)), None);
    let streamed = cut(n, h200(1, 8_000_000_000)).unwrap();
    // 33 x 512 tiles are 64 waves of 264.
    assert!(streamed.streamed && streamed.height == 33 * 128 && streamed.strips() == 16);
    assert!(streamed.plan().device_bytes() <= 8_000_000_000);
    assert_eq!(streamed.plan().memory_bytes(), n * n * 4);
    for devices in [2, 3, 4] {
        let cut = cut(n, h200(devices, 139 << 30)).unwrap();
        assert!(!cut.streamed && cut.devices == devices && cut.height == 16 * 128, "{cut:?}");
        assert!(cut.plan().device_bytes() <= (n * n * 4 / devices) * 6 / 5 + (2 << 30));
    }
    // Small ones stay together.
    assert_eq!(cut(8192, h200(4, 139 << 30)), None);
    // 360 GB, on one device and on two: too much for these; on four it is not.
    let n = 300_000;
    for devices in [1, 2, 4] {
        let cut = cut(n, h200(devices, 139 << 30)).unwrap();
        assert_eq!(cut.streamed, devices < 4, "{cut:?}");
        assert!(cut.height > 1200 && cut.plan().device_bytes() <= 139 << 30);
        assert_eq!((0..cut.strips()).map(|strip| cut.rows(strip)).sum::<u64>(), cut.side);
        assert_eq!((0..cut.strips()).map(|strip| cut.vertices_of(strip)).sum::<u64>(), n);
    }
    // Offsets within a strip stay below 2^32.
    let n = 4_000_000;
    let large = cut(n, h200(1, 1 << 40)).unwrap();
    assert!(large.height * large.side < 1 << 32 && large.height == 1024, "{large:?}");
    // Beyond that, no host has the memory; nothing wraps on the way to saying so.
    for n in [50_000_000, u64::from(u32::MAX)] {
        for asked in [None, Some(1), Some(5000)] {
            for cell in [Cell::U16, Cell::U32, Cell::I64] {
                let cut = Cut::choose(cell, n, rows_of(asked), &h200(2, 139 << 30), u64::MAX).unwrap();
                assert!(cut.streamed && cut.plan().memory_bytes() >= n.saturating_mul(n), "{cut:?}");
            }
        }
    }
}

/// Wider cells that turn out to be needed take more of the host, which may not have it.
#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn wider_cells_are_planned_on_the_host_too() {
    let graph = Graph::from_edges((0..400).map(|v| (v, v + 1, 6_000_000_i32))).unwrap();
    let algorithm = "tiled-floyd-warshall:strip=1,cell-bits=32";
    let (algorithm, parameters) = parse_algorithm(cuda::ALGORITHMS, cuda::ApspAlgorithm::info, algorithm).unwrap();
    let cuda::ApspAlgorithm::OnMatrix(algorithm) = algorithm else { panic!("no algorithm on a matrix") };
    let task = DenseTask {
        graph: &graph,
        takes_part: None,
        successors_of: None,
        parameters: &parameters,
        control: &Control::new(),
        state: None,
    };
    let device_bytes = memory_for(&graph, Cell::I32, 1);
    // 512 x 512 cells of 32 bits, of which there turn out to be too few, and 448 x 448 of 64.
    for devices in several(1, 5) {
        for (host_bytes, fits) in [(448 * 448 * 8, true), (448 * 448 * 8 - 1, false), (512 * 512 * 4 - 1, false)] {
            let room = Room { host_bytes, ..room(1, device_bytes) };
            match algorithm.solve::<I32ToI64>(&devices, &room, &task) {
                Ok(cuda::Solved::Matrix(_)) => assert!(fits),
                Err(Error::OutOfMemory { what, needed, available }) => {
                    assert!(!fits && what.contains("strips of the matrix"), "{what}");
                    assert_eq!(available, host_bytes);
                    assert_eq!(needed, if host_bytes < 512 * 512 * 4 { 512 * 512 * 4 } else { 448 * 448 * 8 });
                }
                _ => panic!("neither done nor refused"),
            }
        }
    }
}

#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn negative_cycles_through_any_strip() {
    for (n, back) in [(40, 10), (300, 10), (300, 31), (500, 10)] {
        // From a vertex of one strip to one of another, and back.
        for (from, to) in [(0, n - 1), (n - 1, 0), (n / 2, n / 2 + 1)] {
            let base = random_graph(n, n, 4, 20, |length| length as i32);
            let mut arcs: Vec<_> = base.edges().map(|(u, v, weight)| (u, v, weight as i32)).collect();
            arcs.extend([(from as VertexId, to as VertexId, -30), (to as VertexId, from as VertexId, back)]);
            let graph = GraphBuilder::new().vertices(n).build_from(arcs).unwrap();
            let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall"));
            for count in [1, 2] {
                for devices in several(count, n) {
                    let solver = Solver::builder(graph.clone()).threads(1).devices(devices);
                    let solver = solver.memory(memory_for(&graph, Cell::I32, 128)).open().unwrap();
                    let found = solver.solve(Apsp::all().algorithm("tiled-floyd-warshall:strip=128,cell-bits=32"));
                    match (&expected, found) {
                        (Err(Error::NegativeCycle(expected)), Err(Error::NegativeCycle(found))) => {
                            assert_eq!(&found, expected, "n = {n}");
                        }
                        (Ok(expected), Ok(found)) => assert_equal(&found, expected, "no cycle"),
                        (expected, found) => panic!("n = {n}, {from} to {to}: {expected:?}, {found:?}"),
                    }
                }
            }
        }
    }
}

/// Of a table that there is not, nothing is kept, however far the work had come.
#[test]
fn a_negative_cycle_leaves_no_files() {
    let arcs = (0..199).map(|v| (v, v + 1, 1)).chain([(199, 0, -300)]);
    let graph = Graph::from_edges(arcs).unwrap();
    for devices in several(2, 3) {
        let folder = tempfile::tempdir().unwrap();
        let mut sink = NpyWriter::new(folder.path().join("distances.npy"));
        let algorithm = "tiled-floyd-warshall:strip=1,keep-seconds=0,cell-bits=64";
        let cycle = go_on(&graph, &devices, u64::MAX, Control::new(), algorithm, &mut sink);
        assert!(matches!(cycle, Err(Error::NegativeCycle(_))), "{cycle:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

/// Distances that do not fit are noticed in whatever strip they are.
#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn distances_at_the_edges_of_the_cells() {
    // A path through all strips: 261 times the weight is to be below half of what a cell holds.
    for (weight, bits) in [(125_u32, 16), (126, 32), (8_000_000, 32), (9_000_000, 64)] {
        let graph = Graph::from_edges((0..260).map(|v| (v, v + 1, weight))).unwrap();
        let expected = on_cpu(&graph).solve(Apsp::all().algorithm("batched")).unwrap();
        for devices in [several(1, 1), several(2, 1)].concat() {
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
            let matrix = solver.solve(Apsp::all().algorithm("tiled-floyd-warshall:strip=1,cell-bits=16")).unwrap();
            assert_equal(&matrix, &expected, &format!("{weight}"));
            assert_eq!(counted(&matrix, "cell_bits"), bits, "{weight}");
        }
    }
    // Only the distance to a vertex of the first strip, or the last, is too long.
    for reversed in [false, true] {
        let arcs = [(0, 259, 30_000_u32), (259, 1, 2_000)]
            .map(|(u, v, w)| if reversed { (259 - u, 259 - v, w) } else { (u, v, w) });
        let graph = GraphBuilder::new().vertices(260).build_from(arcs.to_vec()).unwrap();
        for devices in several(2, 2) {
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
            let matrix = solver.solve(Apsp::all().algorithm("tiled-floyd-warshall:strip=1,cell-bits=16")).unwrap();
            assert_eq!(counted(&matrix, "cell_bits"), 32);
            let (from, to) = if reversed { (259, 258) } else { (0, 1) };
            assert_eq!(matrix.distance(from, to).map(Distance::to_f64), Some(32_000.0));
        }
    }
}

#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn work_can_be_cancelled_anywhere() {
    let graph = random_graph(6, 400, 2, 0, |length| length as u32);
    let expected = on_cpu(&graph).solve(Apsp::all().algorithm("batched")).unwrap();
    for devices in [several(1, 6), several(2, 6)].concat() {
        for after in [1, 7] {
            let control = Control::new();
            let inner = control.clone();
            let told = std::sync::atomic::AtomicU32::new(0);
            let control = control.watched_by(move |_| {
                if told.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == after {
                    inner.cancel();
                }
            });
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices.clone());
            let solver = solver.memory(memory_for(&graph, Cell::U32, 128)).control(control).open().unwrap();
            let cancelled = solver.solve(Apsp::all().algorithm("tiled-floyd-warshall:strip=128,cell-bits=32"));
            assert!(matches!(cancelled, Err(Error::Interrupted)));
        }
        // The device is as good as before.
        let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
        assert_equal(&solver.solve(Apsp::all()).unwrap(), &expected, "after it was cancelled");
    }
}

/// Solves into a file, and resumes from the state that is there.
fn go_on(
    graph: &Graph,
    devices: &[Arc<dyn Device>],
    memory: u64,
    control: Control,
    algorithm: &str,
    sink: &mut dyn RowSink,
) -> Result<crate::problems::ApspSummary> {
    let solver =
        Solver::builder(graph.clone()).threads(2).devices(devices.to_vec()).memory(memory).control(control).open()?;
    solver.solve(Apsp::all().algorithm(algorithm).into_sink(sink))
}

/// Blocks on the diagonal are closed in as many launches as are asked for.
#[test]
fn launches_of_some_stages() {
    let graph = random_graph(3, 500, 3, 0, |length| length as u32);
    let expected = on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall")).unwrap();
    for devices in several(1, 3) {
        let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
        let launches = ["", ",stages=1", ",stages=2"].map(|stages| {
            let algorithm = format!("tiled-floyd-warshall:strip=256,cell-bits=32{stages}");
            let matrix = solver.solve(Apsp::all().algorithm(algorithm)).unwrap();
            assert_equal(&matrix, &expected, stages);
            counted(&matrix, "kernel_launches")
        });
        // Two strips, of two blocks of vertices each.
        assert_eq!([launches[1] - launches[0], launches[2] - launches[0]], [2, 0]);
    }
}
