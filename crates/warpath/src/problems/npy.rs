//! Rows straight into a NumPy `.npy` file, which can be continued after a kill.
//!
//! The file is a two-dimensional C-order array of `u32`, `u64`, `i64`, `f32` or `f64`, unreachable being the type's
//! greatest value or infinity; `numpy.load(FILE, mmap_mode="r")` reads it. It grows under the name `FILE.partial` and
//! gets its own when it is whole.
//!
//! Beside it lies `FILE.partial.journal`: a fingerprint of graph, request, row order and type of distance, and then,
//! for each block of rows written, how many rows there are by then and a checksum of the block. A block is journalled
//! after it was written, so at most the block in flight is lost in a kill. When a file is continued, the blocks are read
//! back and compared with their checksums; the first that does not agree, and what follows, is computed again. Nothing
//! needs to be synchronized on the way for that, not even against a power failure.
//!
//! An algorithm that has no row before it has all keeps its own state in `FILE.partial.state`, which goes when the file is
//! whole.
//!
//! *Lanes.* Whether 32-bit distances suffice is not always known before the work. If they don't, the table is begun anew
//! in 64 bits, and the journal says so: continuing such a file goes straight for the wide lane.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::rows::{KeptState, RowBlock, RowSink, TableShape, wrong_type};
use crate::graph::{DistanceValue, Distances, Graph, Weights, with_distances, with_weights};
use crate::plan::Plan;
use crate::tables::{npy_header, npy_type};
use crate::{Error, Result};

/// A sink that writes rows to a `.npy` file.
#[derive(Debug)]
pub struct NpyWriter {
    path: PathBuf,
    resume: bool,
    open: Option<OpenTable>,
}

#[derive(Debug)]
struct OpenTable {
    data: File,
    journal: File,
    header_bytes: u64,
    row_bytes: u64,
    rows_done: u64,
}

/// The journal's first bytes: magic number, fingerprint of graph and request, code of the distance type.
const JOURNAL_MAGIC: &[u8; 8] = b"wprows01";
const JOURNAL_HEADER: usize = 24;
/// A block in the journal: rows done after it, and its checksum.
const JOURNAL_ENTRY: usize = 16;

impl NpyWriter {
    /// Writes to this file, which is replaced when the new one is whole.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        NpyWriter { path: path.into(), resume: false, open: None }
    }

    /// Whether to continue what an interrupted run has left, if it has left anything.
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Where the rows are until the file is whole.
    pub fn partial_path(&self) -> PathBuf {
        with_suffix(&self.path, ".partial")
    }

    fn journal_path(&self) -> PathBuf {
        with_suffix(&self.path, ".partial.journal")
    }

    /// Where work that makes no row before all are done keeps its state.
    fn state_path(&self) -> PathBuf {
        with_suffix(&self.path, ".partial.state")
    }

    fn open(&self, path: &Path, keep: bool) -> Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(!keep);
        options.open(path).map_err(|error| Error::io(path, error))
    }

    /// What the journal of an interrupted run holds; `None` if there is none worth continuing.
    fn left_over(&self, fingerprint: u64, kind: u64) -> Result<Option<Vec<(u64, u64)>>> {
        let (partial, path) = (self.partial_path(), self.journal_path());
        // What was just begun, and has no rows yet, is not left over.
        let is_own = self.open.as_ref().is_some_and(|open| open.rows_done == 0);
        if !self.resume || is_own || !partial.exists() || !path.exists() {
            return Ok(None);
        }
        let journal = std::fs::read(&path).map_err(|error| Error::io(&path, error))?;
        if journal.len() < JOURNAL_HEADER {
            return Ok(None);
        }
        if &journal[..8] != JOURNAL_MAGIC || number(&journal[8..]) != fingerprint {
            return Err(Error::invalid(format!(
                "`{}` was begun for another graph or with other options; delete it, or don't resume",
                partial.display()
            )));
        }
        match (number(&journal[16..]), kind) {
            (was, is) if was == is => {}
            (KIND_U64, KIND_U32) => return Err(Error::DistanceOverflow { lane: "u32->u32" }),
            _ => return Ok(None),
        }
        let entries = journal[JOURNAL_HEADER..].chunks_exact(JOURNAL_ENTRY);
        Ok(Some(entries.map(|entry| (number(entry), number(&entry[8..]))).collect()))
    }

    /// Reads the blocks back that the journal lists, as far as they are what it says; returns how many entries hold.
    fn replay<D: DistanceValue>(
        &self,
        table: &TableShape<'_>,
        entries: &[(u64, u64)],
        replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>,
    ) -> Result<usize> {
        let Some(open) = &self.open else { return Ok(0) };
        let mut data = &open.data;
        let columns = table.columns();
        let mut done = 0_usize;
        for (entry, &(after, expected)) in entries.iter().enumerate() {
            let Some(rows) = usize::try_from(after).ok().and_then(|after| table.order.get(done..after)) else {
                return Ok(entry);
            };
            let mut values = vec![D::UNREACHABLE; rows.len() * columns];
            if columns > 0 {
                for (&row, cells) in rows.iter().zip(values.chunks_exact_mut(columns)) {
                    let at = open.header_bytes + row as u64 * open.row_bytes;
                    let read =
                        data.seek(SeekFrom::Start(at)).and_then(|_| data.read_exact(bytemuck::cast_slice_mut(cells)));
                    if read.is_err() {
                        return Ok(entry);
                    }
                }
            }
            if checksum(bytemuck::cast_slice(&values)) != expected {
                return Ok(entry);
            }
            let values = D::into_distances(values);
            replay(&RowBlock { rows, columns, values: &values })?;
            done = after as usize;
        }
        Ok(entries.len())
    }
}

impl RowSink for NpyWriter {
    fn plan(&self, rows: u64, columns: u64, distance_bytes: u64, plan: &mut Plan) {
        let bytes = rows.saturating_mul(columns).saturating_mul(distance_bytes);
        let there = if self.resume { disk_space_of(&self.partial_path()) } else { 0 };
        plan.disk(format!("`{}`", self.path.display()), bytes.saturating_add(128).saturating_sub(there));
    }

    fn begin(&mut self, table: &TableShape<'_>, replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        let (cell_bytes, kind) = cell_type(table.distances);
        let fingerprint = fingerprint(table);
        let entries = self.left_over(fingerprint, kind)?;
        let (partial, journal_path) = (self.partial_path(), self.journal_path());
        let mut plan = Plan::new();
        self.plan(table.rows() as u64, table.columns() as u64, cell_bytes, &mut plan);
        plan.check_disk(&self.path)?;
        let header = npy_header(npy_type(table.distances), &[table.rows(), table.columns()]);
        let row_bytes = table.columns() as u64 * cell_bytes;
        let data = self.open(&partial, entries.is_some())?;
        let journal = self.open(&journal_path, entries.is_some())?;
        self.open = Some(OpenTable { data, journal, header_bytes: header.len() as u64, row_bytes, rows_done: 0 });
        let entries = entries.unwrap_or_default();
        let kept = match table.distances {
            Distances::U32(_) => self.replay::<u32>(table, &entries, replay)?,
            Distances::U64(_) => self.replay::<u64>(table, &entries, replay)?,
            Distances::I64(_) => self.replay::<i64>(table, &entries, replay)?,
            Distances::F32(_) => self.replay::<f32>(table, &entries, replay)?,
            Distances::F64(_) => self.replay::<f64>(table, &entries, replay)?,
        };
        let Some(open) = &mut self.open else { return Ok(0) };
        open.rows_done = kept.checked_sub(1).map_or(0, |last| entries[last].0);
        let whole = header.len() as u64 + table.rows() as u64 * row_bytes;
        let mut prepare = || {
            open.data.seek(SeekFrom::Start(0))?;
            open.data.write_all(&header)?;
            open.data.set_len(whole)
        };
        prepare().map_err(|error| Error::io(&partial, error))?;
        let mut prepare = || {
            let mut start = JOURNAL_MAGIC.to_vec();
            start.extend_from_slice(&fingerprint.to_le_bytes());
            start.extend_from_slice(&kind.to_le_bytes());
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
        let (partial, journal_path) = (self.partial_path(), self.journal_path());
        let Some(open) = &mut self.open else { return Err(wrong_type()) };
        let bytes: &[u8] = with_distances!(block.values, values => bytemuck::cast_slice(values));
        if bytes.len() as u64 != open.row_bytes * block.rows.len() as u64 {
            return Err(wrong_type());
        }
        if open.row_bytes > 0 {
            // Rows that follow each other in the file are written together.
            let mut cells = bytes;
            for run in block.rows.chunk_by(|&row, &next| row + 1 == next) {
                let (now, later) = cells.split_at(run.len() * open.row_bytes as usize);
                let at = open.header_bytes + run[0] as u64 * open.row_bytes;
                let written = open.data.seek(SeekFrom::Start(at)).and_then(|_| open.data.write_all(now));
                written.map_err(|error| Error::io(&partial, error))?;
                cells = later;
            }
        }
        open.rows_done += block.rows.len() as u64;
        let mut entry = open.rows_done.to_le_bytes().to_vec();
        entry.extend_from_slice(&checksum(bytes).to_le_bytes());
        open.journal.write_all(&entry).map_err(|error| Error::io(&journal_path, error))
    }

    fn finish(&mut self) -> Result<()> {
        let (partial, journal_path) = (self.partial_path(), self.journal_path());
        let Some(open) = self.open.take() else { return Ok(()) };
        open.data.sync_all().map_err(|error| Error::io(&partial, error))?;
        drop(open);
        std::fs::rename(&partial, &self.path).map_err(|error| Error::io(&self.path, error))?;
        std::fs::remove_file(&journal_path).map_err(|error| Error::io(&journal_path, error))?;
        match std::fs::remove_file(self.state_path()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(self.state_path(), error)),
            _ => Ok(()),
        }
    }

    fn discard(&mut self) {
        // Where nothing was begun, what is there is another's.
        if self.open.take().is_some() {
            for path in [self.partial_path(), self.journal_path(), self.state_path()] {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// The disk space that a file takes already: one that was given its length before its contents takes less than that.
pub(crate) fn disk_space_of(path: &Path) -> u64 {
    File::open(path).and_then(|file| fs4::FileExt::allocated_size(&file)).unwrap_or(0)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The little-endian number at the front.
fn number(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(&whole) => u64::from_le_bytes(whole),
        None => bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)),
    }
}

const KIND_U32: u64 = 1;
const KIND_U64: u64 = 2;

/// The bytes of a cell, and the journal's code of their type.
fn cell_type(distances: &Distances) -> (u64, u64) {
    match distances {
        Distances::U32(_) => (4, KIND_U32),
        Distances::U64(_) => (8, KIND_U64),
        Distances::I64(_) => (8, 3),
        Distances::F32(_) => (4, 4),
        Distances::F64(_) => (8, 5),
    }
}

/// What a partial file is bound to: the arcs and weights of the graph, sources, targets, the order of the rows, and
/// whatever decides how floats are rounded.
fn fingerprint(table: &TableShape<'_>) -> u64 {
    let graph: &Graph = table.graph;
    let csr = graph.csr();
    let mut parts = vec![
        checksum(bytemuck::cast_slice(csr.offsets())),
        checksum(bytemuck::cast_slice(csr.targets())),
        checksum(bytemuck::cast_slice(table.sources)),
        table.targets.map_or(u64::MAX, |targets| checksum(bytemuck::cast_slice(targets))),
        checksum(bytemuck::cast_slice(table.order)),
        checksum(csr.weights().kind().name().as_bytes()),
    ];
    if !matches!(csr.weights(), Weights::Unit(_)) {
        parts.push(with_weights!(csr.weights(), values => checksum(bytemuck::cast_slice(values))));
    }
    if matches!(csr.weights(), Weights::F32(_) | Weights::F64(_)) {
        parts.push(checksum(table.rounding.as_bytes()));
    }
    checksum(bytemuck::cast_slice(&parts))
}

/// A fast 64-bit hash: four lanes of multiply and rotate over 32 bytes at a time, then the rest and the length. Against
/// accidents, not against malice.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| (state ^ word.wrapping_mul(PRIME)).rotate_left(29).wrapping_mul(PRIME);
    let mut lanes = [1_u64, 2, 3, 4];
    let chunks = bytes.chunks_exact(32);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, word) in lanes.iter_mut().zip(chunk.chunks_exact(8)) {
            *lane = mix(*lane, number(word));
        }
    }
    for word in rest.chunks(8) {
        lanes[0] = mix(lanes[0], number(word));
    }
    lanes.into_iter().fold(bytes.len() as u64, mix)
}
