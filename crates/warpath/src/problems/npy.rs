//! Writes rows straight into a NumPy `.npy` file, and resumes after a kill.
//!
//! The file is a two-dimensional C-order array of `u32`, `u64`, `i64`, `f32` or `f64`. The type's greatest value, or
//! infinity, means unreachable. `numpy.load(FILE, mmap_mode="r")` reads it. The file grows as `FILE.partial` and is
//! renamed to `FILE` when it is whole.
//!
//! Beside it lies `FILE.partial.journal`. It holds a fingerprint of graph, request, row order and distance type; then,
//! for each block of rows, the number of rows written so far and a checksum of the block. A block enters the journal
//! after it was written, so a kill loses at most the block in flight. A resumed run reads the blocks back and compares
//! their checksums; it computes the first block that differs, and all after it, again. So no write needs to be
//! synchronized on the way, not even against a power failure. The run reads the journal entry by entry and each block
//! piece by piece, so a damaged journal cannot make it take much memory.
//!
//! Only one process at a time writes a table: from before the work until the end, or until it dies, it holds a lock on
//! `FILE.partial`. Journal and state belong to that lock. They are removed before the file gets its final name, which
//! frees the name of the partial file for others.
//!
//! An algorithm that completes no row before the others keeps its own state in `FILE.partial.state`, which is removed
//! when the file is whole.
//!
//! *Wide distances.* Whether 32-bit distances suffice is not always known before the work. If they don't, the table is
//! begun anew in 64 bits, and the journal says so: a resumed run starts with wide distances.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::rows::{KeptState, RowBlock, RowSink, TableShape, wrong_type};
use crate::checksum::{Checksum, checksum, number};
use crate::graph::{DistanceValue, Distances, with_distances};
use crate::partial::{Partial, Place, followed, open_regular, partial_path, with_suffix};
use crate::plan::Plan;
use crate::tables::{npy_header, npy_type};
use crate::{Error, Result};

/// A sink that writes rows to a `.npy` file. Rows come in any order, so it has to be a regular file. A symbolic link is
/// followed.
#[derive(Debug)]
pub struct NpyWriter {
    path: PathBuf,
    /// The file that `path` leads to.
    target: PathBuf,
    resume: bool,
    /// The lock on the file, held from the start to the end.
    partial: Option<Partial>,
    open: Option<OpenTable>,
}

#[derive(Debug)]
struct OpenTable {
    journal: File,
    header_bytes: u64,
    row_bytes: u64,
    rows_done: u64,
}

/// The journal's first bytes: magic number, fingerprint of graph and request, sealed code of the distance type.
const JOURNAL_MAGIC: &[u8; 8] = b"wprows06";
const JOURNAL_HEADER: usize = 24;
/// A block in the journal: rows done after it, and its checksum.
const JOURNAL_ENTRY: usize = 16;
/// Rows are read back in pieces of about this many bytes.
const PIECE_BYTES: usize = 4 << 20;

impl NpyWriter {
    /// Writes to this file; an existing file is replaced when the new one is whole.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        NpyWriter { target: followed(&path), path, resume: false, partial: None, open: None }
    }

    /// Whether to resume from the files of an interrupted run, if there are any.
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// The file that holds the rows until the table is whole.
    pub fn partial_path(&self) -> PathBuf {
        partial_path(&self.target)
    }

    fn journal_path(&self) -> PathBuf {
        with_suffix(&self.partial_path(), ".journal")
    }

    /// The file in which an algorithm that completes no row before the others keeps its state.
    fn state_path(&self) -> PathBuf {
        with_suffix(&self.partial_path(), ".state")
    }

    fn data(&self) -> Result<&File> {
        self.partial.as_ref().map_or_else(|| Err(wrong_type()), |partial| Ok(&**partial.file()))
    }

    fn open_journal(&self, keep: bool) -> Result<File> {
        let path = self.journal_path();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(!keep);
        open_regular(&mut options, &path).map_err(|error| Error::io(&path, error))
    }

    /// Whether there is a journal of an interrupted run to resume from.
    fn is_left_over(&self, fingerprint: u64, kind: u64) -> Result<bool> {
        let path = self.journal_path();
        // A table that this writer began, and that has no rows yet, is not left over.
        let is_own = self.open.as_ref().is_some_and(|open| open.rows_done == 0);
        let is_new = self.partial.as_ref().is_none_or(Partial::is_new);
        if !self.resume || is_own || (is_new && self.open.is_none()) || !path.exists() {
            return Ok(false);
        }
        let mut header = [0; JOURNAL_HEADER];
        let mut journal =
            open_regular(OpenOptions::new().read(true), &path).map_err(|error| Error::io(&path, error))?;
        match journal.read_exact(&mut header) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
            read => read.map_err(|error| Error::io(&path, error))?,
        }
        if &header[..8] != JOURNAL_MAGIC || number(&header[8..]) != fingerprint {
            return Err(Error::invalid(format!(
                "`{}` was begun for another graph or with other options; delete it, or don't resume",
                self.partial_path().display()
            )));
        }
        let was = number(&header[16..]);
        if was == sealed(kind, fingerprint) {
            return Ok(true);
        }
        if kind == KIND_U32 && was == sealed(KIND_U64, fingerprint) {
            return Err(Error::DistanceOverflow { semiring: "u32->u32" });
        }
        Ok(false)
    }

    /// Reads back the blocks that the journal lists, up to the first that does not match its entry; returns the number
    /// of matching entries and of their rows.
    fn replay<D: DistanceValue>(
        &self,
        table: &TableShape<'_>,
        open: &OpenTable,
        replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>,
    ) -> Result<(usize, usize)> {
        let columns = table.columns();
        let at_once = (PIECE_BYTES / (columns * size_of::<D>()).max(1)).max(1);
        let mut journal = &open.journal;
        let io_error = |error| Error::io(self.journal_path(), error);
        journal.seek(SeekFrom::Start(JOURNAL_HEADER as u64)).map_err(io_error)?;
        let mut journal = BufReader::new(journal);
        let (mut entries, mut done) = (0, 0);
        loop {
            let mut entry = [0; JOURNAL_ENTRY];
            if journal.read_exact(&mut entry).is_err() {
                return Ok((entries, done));
            }
            let after = usize::try_from(number(&entry)).ok();
            let rows = after.filter(|&after| after > done).and_then(|after| table.order.get(done..after));
            let Some(rows) = rows else { return Ok((entries, done)) };
            // Only verified rows are handed on, so each block is read twice.
            let mut sum = Checksum::default();
            for piece in rows.chunks(at_once) {
                let Some(values) = self.read_rows::<D>(open, piece, columns) else { return Ok((entries, done)) };
                sum.add(bytemuck::cast_slice(&values));
            }
            if sum.get() != number(&entry[8..]) {
                return Ok((entries, done));
            }
            for piece in rows.chunks(at_once) {
                let Some(values) = self.read_rows::<D>(open, piece, columns) else { return Ok((entries, done)) };
                replay(&RowBlock { rows: piece, columns, values: &D::into_distances(values) })?;
            }
            (entries, done) = (entries + 1, done + rows.len());
        }
    }

    /// Reads rows back; `None` if the file does not have them.
    fn read_rows<D: DistanceValue>(&self, open: &OpenTable, rows: &[usize], columns: usize) -> Option<Vec<D>> {
        let mut data = self.data().ok()?;
        let mut values = vec![D::UNREACHABLE; rows.len() * columns];
        if columns > 0 {
            for (&row, cells) in rows.iter().zip(values.chunks_exact_mut(columns)) {
                data.seek(SeekFrom::Start(open.header_bytes + row as u64 * open.row_bytes)).ok()?;
                data.read_exact(bytemuck::cast_slice_mut(cells)).ok()?;
            }
        }
        Some(values)
    }
}

impl RowSink for NpyWriter {
    fn plan(&self, rows: u64, columns: u64, distance_bytes: u64, plan: &mut Plan) {
        let bytes = rows.saturating_mul(columns).saturating_mul(distance_bytes);
        let there = if self.resume { disk_space_of(&self.partial_path()) } else { 0 };
        plan.disk(format!("`{}`", self.path.display()), bytes.saturating_add(128).saturating_sub(there));
    }

    fn reserve(&mut self) -> Result<()> {
        if self.partial.is_none() {
            self.partial = Some(match Place::of(&self.path)? {
                Place::File(target) => {
                    let partial = Partial::lock(&target)?;
                    if partial.is_resumable() {
                        return Err(Error::invalid(format!(
                            "`{}` belongs to ranks that were interrupted: continue that by `--engine mpi --resume`, or remove it",
                            partial.path().display()
                        )));
                    }
                    partial
                }
                Place::Stream => {
                    let path = self.path.display();
                    return Err(Error::invalid(format!(
                        "`{path}` is no regular file: a table of all pairs is written in any order, and needs one"
                    )));
                }
            });
        }
        Ok(())
    }

    fn begin(&mut self, table: &TableShape<'_>, replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        let (cell_bytes, kind) = cell_type(table.distances);
        let fingerprint = table.fingerprint();
        self.reserve()?;
        let keep = self.is_left_over(fingerprint, kind)?;
        let (partial_path, journal_path) = (self.partial_path(), self.journal_path());
        let mut plan = Plan::new();
        self.plan(table.rows() as u64, table.columns() as u64, cell_bytes, &mut plan);
        plan.check_disk(&self.target)?;
        let header = npy_header(npy_type(table.distances), &[table.rows(), table.columns()]);
        let row_bytes = table.columns() as u64 * cell_bytes;
        let journal = self.open_journal(keep)?;
        let mut open = OpenTable { journal, header_bytes: header.len() as u64, row_bytes, rows_done: 0 };
        let mut kept = 0;
        if keep {
            let rows;
            (kept, rows) = match table.distances {
                Distances::U32(_) => self.replay::<u32>(table, &open, replay)?,
                Distances::U64(_) => self.replay::<u64>(table, &open, replay)?,
                Distances::I64(_) => self.replay::<i64>(table, &open, replay)?,
                Distances::F32(_) => self.replay::<f32>(table, &open, replay)?,
                Distances::F64(_) => self.replay::<f64>(table, &open, replay)?,
            };
            open.rows_done = rows as u64;
        }
        // From here on the partial file belongs to this table, and can be resumed once it has rows.
        self.partial.iter_mut().for_each(|partial| partial.set_temporary(false));
        let open = self.open.insert(open);
        let whole = header.len() as u64 + table.rows() as u64 * row_bytes;
        let prepare = |mut data: &File| {
            if !keep {
                data.set_len(0)?;
            }
            data.seek(SeekFrom::Start(0))?;
            data.write_all(&header)?;
            data.set_len(whole)
        };
        let Some(partial) = &self.partial else { return Err(wrong_type()) };
        prepare(partial.file()).map_err(|error| Error::io(&partial_path, error))?;
        let mut prepare = || {
            let mut start = JOURNAL_MAGIC.to_vec();
            start.extend_from_slice(&fingerprint.to_le_bytes());
            start.extend_from_slice(&sealed(kind, fingerprint).to_le_bytes());
            open.journal.seek(SeekFrom::Start(0))?;
            open.journal.write_all(&start)?;
            let end = (JOURNAL_HEADER + kept * JOURNAL_ENTRY) as u64;
            open.journal.set_len(end)?;
            open.journal.seek(SeekFrom::Start(end))
        };
        prepare().map_err(|error| Error::io(&journal_path, error))?;
        Ok(open.rows_done as usize)
    }

    fn kept_state(&self) -> Option<KeptState> {
        Some(KeptState { path: self.state_path(), resume: self.resume })
    }

    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()> {
        let journal_path = self.journal_path();
        let (Some(open), Some(partial)) = (&mut self.open, &self.partial) else { return Err(wrong_type()) };
        let mut data = &**partial.file();
        let bytes: &[u8] = with_distances!(block.values, values => bytemuck::cast_slice(values));
        if bytes.len() as u64 != open.row_bytes * block.rows.len() as u64 {
            return Err(wrong_type());
        }
        if open.row_bytes > 0 {
            // Rows that are adjacent in the file are written together.
            let mut cells = bytes;
            for run in block.rows.chunk_by(|&row, &next| row + 1 == next) {
                let (now, later) = cells.split_at(run.len() * open.row_bytes as usize);
                let at = open.header_bytes + run[0] as u64 * open.row_bytes;
                let written = data.seek(SeekFrom::Start(at)).and_then(|_| data.write_all(now));
                written.map_err(|error| Error::io(partial.path(), error))?;
                cells = later;
            }
        }
        open.rows_done += block.rows.len() as u64;
        let mut entry = open.rows_done.to_le_bytes().to_vec();
        entry.extend_from_slice(&checksum(bytes).to_le_bytes());
        open.journal.write_all(&entry).map_err(|error| Error::io(&journal_path, error))
    }

    fn finish(&mut self) -> Result<()> {
        let (Some(_), Some(partial)) = (&self.open, &self.partial) else { return Ok(()) };
        partial.file().sync_all().map_err(|error| Error::io(partial.path(), error))?;
        self.open = None;
        for path in [self.journal_path(), self.state_path()] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Error::io(path, error)),
                _ => {}
            }
        }
        self.partial.take().map_or(Ok(()), Partial::finish)
    }

    fn discard(&mut self) {
        // If this writer has begun nothing, the files are not its own.
        if self.open.take().is_some() {
            self.remove();
        }
    }
}

impl NpyWriter {
    /// Whether the work so far is kept, if it ends now, for another writer to [resume](NpyWriter::resume).
    pub fn can_be_resumed(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.rows_done > 0 || self.state_path().exists())
    }

    /// Removes all files, the locked partial file last.
    fn remove(&mut self) {
        for path in [self.journal_path(), self.state_path()] {
            let _ = std::fs::remove_file(path);
        }
        self.partial.iter_mut().for_each(|partial| partial.set_temporary(true));
        self.partial = None;
    }
}

impl Drop for NpyWriter {
    fn drop(&mut self) {
        // A table without rows and without a state is not worth resuming.
        if self.open.is_some() && !self.can_be_resumed() {
            self.remove();
        }
    }
}

/// The disk space that a file takes already: less than its length if parts of it were never written.
pub(crate) fn disk_space_of(path: &Path) -> u64 {
    File::open(path).and_then(|file| fs4::FileExt::allocated_size(&file)).unwrap_or(0)
}

const KIND_U32: u64 = 1;
const KIND_U64: u64 = 2;

/// The bytes of a cell, and the journal's code for its type.
fn cell_type(distances: &Distances) -> (u64, u64) {
    match distances {
        Distances::U32(_) => (4, KIND_U32),
        Distances::U64(_) => (8, KIND_U64),
        Distances::I64(_) => (8, 3),
        Distances::F32(_) => (4, 4),
        Distances::F64(_) => (8, 5),
    }
}

/// The code of a distance type, with a checksum in all bits but the lowest eight: damage to the code must not make a
/// run write wider cells than the table needs.
fn sealed(kind: u64, fingerprint: u64) -> u64 {
    checksum(bytemuck::bytes_of(&[fingerprint, kind])) << 8 | kind
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;

    /// Begins a table and hands the blocks read back to `replayed`; returns how many rows the file has.
    fn begin(writer: &mut NpyWriter, graph: &Graph, replayed: &mut dyn FnMut(&RowBlock<'_>)) -> usize {
        let all: Vec<_> = (0..graph.vertices()).collect();
        let sources: Vec<_> = (0..graph.vertices() as u32).collect();
        let table = TableShape {
            graph,
            sources: &sources,
            targets: None,
            order: &all,
            semiring: "u32->u32",
            distances: &Distances::U32(Vec::new()),
            algorithm: "none",
            rounding: "none",
        };
        writer
            .begin(&table, &mut |block| {
                replayed(block);
                Ok(())
            })
            .unwrap()
    }

    /// A journal may list one block of all rows: reading it back takes no more memory than other blocks.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn blocks_are_read_back_in_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let n = 1500_usize;
        let graph = crate::GraphBuilder::new().vertices(n as u64).build_from(Vec::<(u32, u32, u32)>::new()).unwrap();
        let all: Vec<_> = (0..n).collect();
        let mut writer = NpyWriter::new(&path);
        assert_eq!(begin(&mut writer, &graph, &mut |_| panic!("nothing is there")), 0);
        let values = Distances::U32((0..(n * n) as u32).collect());
        writer.rows(&RowBlock { rows: &all, columns: n, values: &values }).unwrap();
        drop(writer);
        let mut next = 0;
        let mut is_next = |block: &RowBlock<'_>| {
            let Distances::U32(values) = block.values else { panic!("narrow") };
            assert!(
                values.len() * 4 <= PIECE_BYTES
                    && values.iter().all(|&value| {
                        next += 1;
                        value == next - 1
                    })
            );
        };
        let mut writer = NpyWriter::new(&path).resume(true);
        assert_eq!(begin(&mut writer, &graph, &mut is_next), n);
        assert_eq!(next, (n * n) as u32);
        drop(writer);
        // Rows for which the journal is wrong are computed again, whatever it says.
        let journal = folder.path().join("x.npy.partial.journal");
        let header = std::fs::read(&journal).unwrap()[..JOURNAL_HEADER].to_vec();
        // Damage does not ask for wider cells than the table was begun with.
        let mut wider = header.clone();
        assert_eq!(u64::from(wider[16]), KIND_U32);
        wider[16] = KIND_U64 as u8;
        std::fs::write(&journal, &wider).unwrap();
        assert_eq!(begin(&mut NpyWriter::new(&path).resume(true), &graph, &mut |_| panic!("nothing is left")), 0);
        for entry in [[n as u64, 1], [n as u64 + 1, 1], [u64::MAX, 1], [0, checksum(b"")]] {
            let left = [&header[..], bytemuck::cast_slice(&entry)].concat();
            std::fs::write(&journal, &left).unwrap();
            // The rest of the journal is a hole of gigabytes.
            std::fs::OpenOptions::new().write(true).open(&journal).unwrap().set_len(1 << 33).unwrap();
            std::fs::write(folder.path().join("x.npy.partial"), "no rows").unwrap();
            let mut writer = NpyWriter::new(&path).resume(true);
            assert_eq!(begin(&mut writer, &graph, &mut |_| panic!("{entry:?}")), 0);
            assert_eq!(std::fs::metadata(&journal).unwrap().len(), JOURNAL_HEADER as u64);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn what_is_not_begun_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let mut writer = NpyWriter::new(&path);
        writer.reserve().unwrap();
        writer.reserve().unwrap();
        assert!(NpyWriter::new(&path).reserve().is_err());
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let left = ["x.npy.partial", "x.npy.partial.journal"].map(|name| folder.path().join(name));
        left.iter().for_each(|path| std::fs::write(path, "left").unwrap());
        NpyWriter::new(&path).reserve().unwrap();
        assert!(left.iter().all(|path| std::fs::read(path).unwrap() == b"left"));
    }
}
