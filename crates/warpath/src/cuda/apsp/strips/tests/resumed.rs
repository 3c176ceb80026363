//! Work in strips that is interrupted and resumed from the state that was kept.

use super::*;
use crate::plan::Plan;
use crate::problems::{KeptState, RowBlock, TableShape};

/// A run that ends in the middle continues where it was, and writes the same file, bit for bit.
#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn interrupted_work_continues() {
    fn check<W: Weight>(n: u64, potential: u64, rows: u64, cell: Cell, weight: fn(i64) -> W) {
        let graph = random_graph(n, n, 5, potential, weight);
        let folder = tempfile::tempdir().unwrap();
        let algorithm = format!("tiled-floyd-warshall:strip={rows},keep-seconds=0,cell-bits={}", 8 * cell.bytes());
        let request = || Apsp::all().algorithm(algorithm.clone());
        let strips = n.div_ceil(rows);
        for count in [1, 3] {
            for (kind, devices) in several(count, n).into_iter().enumerate() {
                for memory in [u64::MAX, memory_for(&graph, cell, rows)] {
                    // Three devices have room for all strips either way.
                    if count == 3 && memory != u64::MAX {
                        continue;
                    }
                    let context = format!("{count} devices of kind {kind}, {memory} bytes");
                    let path = folder.path().join(format!("{count}-{kind}-{memory}.npy"));
                    let solve = |control: Control, path: &std::path::Path, resume: bool| {
                        let solver = Solver::builder(graph.clone()).threads(2).devices(devices.clone()).memory(memory);
                        let mut sink = NpyWriter::new(path).resume(resume);
                        solver.control(control).open().unwrap().solve(request().into_sink(&mut sink))
                    };
                    // However many devices there are, all files are the same.
                    let whole = folder.path().join(format!("{kind}.whole.npy"));
                    if !whole.exists() {
                        solve(Control::new(), &whole, true).unwrap();
                    }
                    let mut before = 0;
                    // In the first stage, in the third, and in the last.
                    for stage in [0, 2, strips - 1] {
                        let (told, control) = (stage * strips + 2, Control::new());
                        let inner = control.clone();
                        let control = control.watched_by(move |progress| {
                            if progress.stage == "solve" && progress.done >= told {
                                inner.cancel();
                            }
                        });
                        assert!(matches!(solve(control, &path, true), Err(Error::Interrupted)), "{context}");
                        assert!(!path.exists());
                    }
                    let state = path.with_extension("npy.partial.state");
                    assert!(state.exists(), "{context}");
                    let other = random_graph(n + 1, n, 5, potential, weight);
                    let solver = Solver::builder(other.clone())
                        .threads(1)
                        .devices(devices.clone())
                        .memory(memory)
                        .open()
                        .unwrap();
                    let refused =
                        solver.solve(request().into_sink(&mut NpyWriter::new(&path).resume(true))).unwrap_err();
                    assert!(refused.to_string().contains("another graph"), "{refused}");
                    // The last state is damaged: the one before is taken.
                    for damaged in [false, true] {
                        if damaged {
                            let mut bytes = std::fs::read(&state).unwrap();
                            let (half, length) = (bytes.len() / 2, bytes.len());
                            bytes[if strips.is_multiple_of(2) { half - 100 } else { length - 100 }] ^= 1;
                            std::fs::write(&state, bytes).unwrap();
                        }
                        let kept = std::fs::read(&state).unwrap();
                        let summary = solve(Control::new(), &path, true).unwrap();
                        let statistics = &summary.report().statistics;
                        let stages = statistics.iter().find(|(counter, _)| *counter == "stages_before").unwrap().1;
                        assert_eq!(stages, if damaged { strips - 2 } else { strips - 1 }, "{context}");
                        before += stages;
                        assert!(!state.exists(), "{context}");
                        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&whole).unwrap(), "{context}");
                        std::fs::write(&state, kept).unwrap();
                    }
                    assert_eq!(before, 2 * strips - 3);
                    // A run that is not to be continued begins anew.
                    let summary = solve(Control::new(), &path, false).unwrap();
                    assert!(summary.report().statistics.contains(&("stages_before", 0)), "{context}");
                    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&whole).unwrap(), "{context}");
                }
            }
        }
    }
    check::<u32>(500, 0, 128, Cell::U32, |length| length as u32);
    check::<f64>(300, 40, 64, Cell::F64, |length| length as f64 / 7.0);
}

/// Cancels the work when this number of strips is done.
fn cancelled_after(strips: u64) -> Control {
    let control = Control::new();
    let inner = control.clone();
    control.watched_by(move |progress| {
        if progress.stage == "solve" && progress.done >= strips {
            inner.cancel();
        }
    })
}

/// With more memory or less, work continues in the strips that it began with, or is refused: nothing that was kept is
/// lost.
#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn kept_work_continues_in_the_same_strips_or_not_at_all() {
    /// Memory for strips of 128 rows and of 256.
    const LITTLE: u64 = 2_500_000;
    const MORE: u64 = 5_000_000;
    let graph = random_graph(1, 700, 3, 0, |length| length as u32);
    let folder = tempfile::tempdir().unwrap();
    let algorithm = "tiled-floyd-warshall:cell-bits=32,keep-seconds=0";
    let whole = folder.path().join("whole.npy");
    on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall").into_sink(&mut NpyWriter::new(&whole))).unwrap();
    let whole = std::fs::read(whole).unwrap();
    for (kind, devices) in several(1, 7).into_iter().enumerate() {
        for (kept_with, rows) in [(LITTLE, 128), (MORE, 256)] {
            let path = folder.path().join(format!("{kind}-{rows}.npy"));
            let state = path.with_extension("npy.partial.state");
            let go_on = |memory, control, algorithm: &str| {
                go_on(&graph, &devices, memory, control, algorithm, &mut NpyWriter::new(&path).resume(true))
            };
            // Half-way through the second stage.
            let strips = 768 / rows;
            let killed = go_on(kept_with, cancelled_after(strips + 2), algorithm);
            assert!(matches!(killed, Err(Error::Interrupted)));
            let kept = std::fs::read(&state).unwrap();
            // Other strips than those are refused, by name.
            let other = format!("{algorithm},strip={}", rows + 128);
            let refused = go_on(u64::MAX, Control::new(), &other).unwrap_err().to_string();
            assert!(refused.contains(&format!("`strip={rows}`")), "{refused}");
            assert!(std::fs::read(&state).unwrap() == kept);
            for memory in [LITTLE, MORE, u64::MAX] {
                let found = go_on(memory, Control::new(), algorithm);
                if memory < kept_with {
                    let Err(Error::OutOfMemory { what, needed, available }) = found else { panic!("{found:?}") };
                    assert!(what.contains("strips of 256 rows") && what.contains("npy.partial.state"), "{what}");
                    assert!(available == memory && needed > memory && needed <= kept_with, "{needed}");
                    assert!(std::fs::read(&state).unwrap() == kept);
                    continue;
                }
                let report = found.unwrap().report().clone();
                let count = |name| report.statistics.iter().find(|(counter, _)| *counter == name).unwrap().1;
                assert_eq!((count("stages_before"), count("rows_of_a_strip")), (1, rows), "{memory}");
                assert!(std::fs::read(&path).unwrap() == whole);
                std::fs::write(&state, &kept).unwrap();
            }
        }
    }
}

/// A state is dropped if its cells turned out too narrow, but not if a request asks for other cells.
#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn a_state_of_narrow_cells_goes_when_they_do_not_do() {
    let graph = Graph::from_edges((0..400).map(|v| (v, v + 1, 82_u32))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let algorithm = |bits: u32| format!("tiled-floyd-warshall:strip=1,keep-seconds=0,cell-bits={bits}");
    for (kind, devices) in several(1, 7).into_iter().enumerate() {
        let path = folder.path().join(format!("{kind}.npy"));
        let state = path.with_extension("npy.partial.state");
        let go_on = |control, bits| {
            go_on(&graph, &devices, u64::MAX, control, &algorithm(bits), &mut NpyWriter::new(&path).resume(true))
        };
        // In the second of two stages.
        assert!(matches!(go_on(cancelled_after(2), 16), Err(Error::Interrupted)));
        let kept = std::fs::read(&state).unwrap();
        let refused = go_on(Control::new(), 32).unwrap_err().to_string();
        assert!(refused.contains("`u16`; go on with `cell-bits=16`"), "{refused}");
        assert!(std::fs::read(&state).unwrap() == kept);
        let report = go_on(Control::new(), 16).unwrap().report().clone();
        assert!(report.statistics.contains(&("cell_bits", 32)) && report.statistics.contains(&("stages_before", 0)));
        let whole = path.with_extension("whole.npy");
        on_cpu(&graph).solve(Apsp::all().algorithm("floyd-warshall").into_sink(&mut NpyWriter::new(&whole))).unwrap();
        assert!(std::fs::read(&path).unwrap() == std::fs::read(whole).unwrap());
    }
}

/// Takes some blocks of rows, and then no more.
struct Stopping {
    inner: NpyWriter,
    blocks: usize,
}

impl RowSink for Stopping {
    fn plan(&self, rows: u64, columns: u64, bytes: u64, plan: &mut Plan) {
        self.inner.plan(rows, columns, bytes, plan);
    }
    fn begin(&mut self, table: &TableShape<'_>, replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        self.inner.begin(table, replay)
    }
    fn kept_state(&self) -> Option<KeptState> {
        self.inner.kept_state()
    }
    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()> {
        self.blocks = self.blocks.checked_sub(1).ok_or(Error::Interrupted)?;
        self.inner.rows(block)
    }
}

/// A file of floats is not continued where these are rounded in another way; a file of integers is.
#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
fn rows_that_are_rounded_otherwise_are_not_mixed() {
    fn check<W: Weight>(cell: Cell, weight: fn(i64) -> W) {
        let is_float = cell.is_float();
        let graph = random_graph(5, 300, 5, 0, weight);
        let folder = tempfile::tempdir().unwrap();
        let algorithm = format!("tiled-floyd-warshall:keep-seconds=0,cell-bits={}", 8 * cell.bytes());
        let memory = memory_for(&graph, cell, 128);
        for (kind, devices) in several(1, 7).into_iter().enumerate() {
            let path = folder.path().join(format!("{kind}.npy"));
            let state = path.with_extension("npy.partial.state");
            let writer = || NpyWriter::new(&path).resume(true);
            // Killed when all stages are done, and the first block of rows is about to be written.
            let strips = format!("{algorithm},strip=128");
            let mut stopping = Stopping { inner: writer(), blocks: 0 };
            assert!(matches!(
                go_on(&graph, &devices, memory, Control::new(), &strips, &mut stopping),
                Err(Error::Interrupted)
            ));
            // It has the file as long as it is there.
            drop(stopping);
            let left: Vec<_> = ["npy.partial", "npy.partial.journal", "npy.partial.state"]
                .map(|suffix| path.with_extension(suffix))
                .map(|file| (std::fs::read(&file).unwrap(), file))
                .into();
            let leave_again = || left.iter().for_each(|(bytes, file)| std::fs::write(file, bytes).unwrap());
            // As it was begun; with other memory, in the strips that were kept.
            go_on(&graph, &devices, memory, Control::new(), &strips, &mut writer()).unwrap();
            let whole = std::fs::read(&path).unwrap();
            leave_again();
            go_on(&graph, &devices, u64::MAX, Control::new(), &algorithm, &mut writer()).unwrap();
            assert!(std::fs::read(&path).unwrap() == whole);
            // In one piece, and on the CPU.
            leave_again();
            std::fs::remove_file(&state).unwrap();
            let in_one_piece = go_on(&graph, &devices, u64::MAX, Control::new(), &algorithm, &mut writer());
            let in_one_piece = in_one_piece.map(|_| std::fs::read(&path).unwrap());
            leave_again();
            let request = Apsp::all().algorithm("tiled-floyd-warshall");
            let by_cpu = on_cpu(&graph).solve(request.into_sink(&mut writer()));
            let by_cpu = by_cpu.map(|_| std::fs::read(&path).unwrap());
            for found in [in_one_piece, by_cpu] {
                match found {
                    Ok(file) => assert!(!is_float && file == whole),
                    Err(refused) => assert!(is_float && refused.to_string().contains("other options"), "{refused}"),
                }
            }
        }
    }
    check::<f64>(Cell::F64, |length| length as f64 / 7.0);
    check::<u32>(Cell::U32, |length| length as u32);
}
