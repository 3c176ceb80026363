//! Rows that go to a file: its bytes, and files that continue after an interruption.

use std::path::Path;

use super::*;

fn read_npy(path: &Path) -> (String, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(length % 64, 0);
    (String::from_utf8(bytes[10..length].to_vec()).unwrap(), bytes[length..].to_vec())
}

/// A sink that passes rows on and cancels after some blocks, like a kill.
struct Stopping<'a> {
    inner: &'a mut NpyWriter,
    blocks: usize,
}
impl RowSink for Stopping<'_> {
    fn plan(&self, rows: u64, columns: u64, bytes: u64, plan: &mut Plan) {
        self.inner.plan(rows, columns, bytes, plan);
    }
    fn begin(&mut self, table: &TableShape<'_>, replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
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
        self.inner.finish()
    }
}

#[test]
fn files_of_rows_continue_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("distances.npy");
    let partial = folder.path().join("distances.npy.partial");
    let journal = folder.path().join("distances.npy.partial.journal");
    let mut random = Random(1);
    let edges: Vec<_> = (0..900).map(|_| (random.below(300) as u32, random.below(300) as u32, 9_u32)).collect();
    let graph = GraphBuilder::new().vertices(300).build_from(edges).unwrap();
    // Memory for blocks of some 62 rows.
    let solver = Solver::builder(graph.clone()).threads(2).memory(600_000).open().unwrap();
    let request = || Apsp::all().algorithm("batched");
    let table = Table::new(&request(), &solver, false).unwrap();
    assert!((20..150).contains(&(block_bytes(&solver, &table, 128) / (300 * 4))));
    let matrix = solver.solve(request()).unwrap();
    let Distances::U32(expected) = matrix.distances() else { panic!("narrow") };
    let mut writer = NpyWriter::new(&path);
    let whole = solver.solve(request().into_sink(&mut writer)).unwrap();
    let (header, cells) = read_npy(&path);
    assert!(header.starts_with("{'descr': '<u4', 'fortran_order': False, 'shape': (300, 300), }"), "{header}");
    assert!(cells == bytemuck::cast_slice::<u32, u8>(expected));
    assert!(!partial.exists() && !journal.exists());
    std::fs::remove_file(&path).unwrap();

    for round in 0..60 {
        let mut writer = NpyWriter::new(&path);
        let stopped = solver.solve(request().into_sink(&mut Stopping { inner: &mut writer, blocks: 2 }));
        assert!(matches!(stopped, Err(Error::Interrupted)));
        drop(writer);
        assert!(partial.exists() && !path.exists());
        // Cut data or journal off anywhere, or damage a byte.
        let victim = if round % 2 == 0 { &partial } else { &journal };
        let mut bytes = std::fs::read(victim).unwrap();
        let at = random.below(bytes.len() as u64) as usize;
        if round % 3 == 0 && round % 2 == 0 {
            bytes[at] ^= 0x55
        } else {
            bytes.truncate(at)
        }
        if round > 1 {
            std::fs::write(victim, &bytes).unwrap();
        }
        let mut writer = NpyWriter::new(&path).resume(true);
        let resumed = solver.solve(request().verified().into_sink(&mut writer)).unwrap();
        assert_eq!(resumed.distance_sum(), whole.distance_sum());
        assert_eq!(resumed.finite_pairs(), whole.finite_pairs());
        assert!(read_npy(&path).1 == cells, "round {round}");
        assert!(!partial.exists() && !journal.exists());
        std::fs::remove_file(&path).unwrap();
    }

    // Written rows are not computed again.
    let mut writer = NpyWriter::new(&path);
    let mut stopping = Stopping { inner: &mut writer, blocks: 3 };
    assert!(solver.solve(request().into_sink(&mut stopping)).is_err());
    let left = std::fs::metadata(&journal).unwrap().len();
    assert_eq!(left, 24 + 3 * 16);
    drop(writer);
    let mut writer = NpyWriter::new(&path).resume(true);
    let mut stopping = Stopping { inner: &mut writer, blocks: 1 };
    assert!(solver.solve(request().into_sink(&mut stopping)).is_err());
    assert_eq!(std::fs::metadata(&journal).unwrap().len(), left + 16);
    // A request for other sources does not continue the file.
    drop(writer);
    let mut writer = NpyWriter::new(&path).resume(true);
    match solver.solve(request().from([1, 2]).into_sink(&mut writer)) {
        Err(Error::InvalidRequest(message)) => assert!(message.contains("other options"), "{message}"),
        other => panic!("{other:?}"),
    }
    // Without `resume` the file is begun anew.
    drop(writer);
    let mut writer = NpyWriter::new(&path);
    solver.solve(request().into_sink(&mut writer)).unwrap();
    assert!(read_npy(&path).1 == cells);
}

#[test]
fn files_turn_wide_when_they_must() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.npy");
    let heavy = u32::MAX - 5;
    let edges = (0..200_u32).map(|v| (v, (v + 1) % 200, if v < 198 { 1 } else { heavy }));
    let graph = Graph::from_edges(edges).unwrap();
    let solver = Solver::builder(graph.clone()).threads(1).memory(1 << 19).open().unwrap();
    let request = || Apsp::all().algorithm("batched");
    let mut writer = NpyWriter::new(&path);
    let mut stopping = Stopping { inner: &mut writer, blocks: 1 };
    assert!(solver.solve(request().into_sink(&mut stopping)).is_err());
    drop(writer);
    let mut writer = NpyWriter::new(&path).resume(true);
    let summary = solver.solve(request().into_sink(&mut writer)).unwrap();
    assert!(summary.report().repeated_wide);
    let (header, cells) = read_npy(&path);
    assert!(header.contains("'<u8'"));
    let matrix = solver.solve(request()).unwrap();
    let Distances::U64(expected) = matrix.distances() else { panic!("wide") };
    assert!(cells == bytemuck::cast_slice::<u64, u8>(expected));
    let missing = folder.path().join("no").join("such.npy");
    assert!(matches!(solver.solve(request().into_sink(&mut NpyWriter::new(missing))), Err(Error::Io { .. })));
}
