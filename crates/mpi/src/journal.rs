//! Which rows of a shared `.npy` are there, so that an interrupted run can be resumed.
//!
//! Until the matrix is whole, the file begins with a mark that nobody overwrites, and with what the places of all ranks depend on: the numbers of rows, columns
//! and ranks, and whether distances have 64 bits where 32 might do. Behind the matrix, each rank has a place in the file for its journal: what its rows depend on, and for each block of rows that it wrote
//! how many rows there are then, and a checksum of the block. A block is entered after it was written. Whoever resumes reads blocks back and compares
//! their checksums; the first that differs is solved again, and so are all after it. So no write has to be synchronized on the way. When the matrix is
//! whole, the file is cut off behind it.
//!
//! Places are as long as the matrix could need, most of it never written, which file systems do not store.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use warpath::formats::RESUMABLE;
use warpath::graph::{DistanceValue, with_distances};
use warpath::problems::{RowBlock, TableShape, checksum};
use warpath::{Error, Result};

use crate::allocation::filled;

/// What all ranks have to agree about before a file is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    pub(crate) ranks: u64,
    /// Whether only 64-bit distances are taken.
    pub(crate) wide: bool,
}

impl Begun {
    /// What a file was begun with; `None` if ranks have left nothing there.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let mut words = [0_u64; 5];
        File::open(path).ok()?.read_exact(bytemuck::cast_slice_mut(&mut words)).ok()?;
        let [mark, rows, columns, ranks, wide] = words;
        (mark == u64::from_le_bytes(RESUMABLE)).then_some(Begun { rows, columns, ranks, wide: wide != 0 })
    }

    /// Writes it where the header will be.
    pub(crate) fn write(self, path: &Path, file: &mut File) -> Result<()> {
        let words = [u64::from_le_bytes(RESUMABLE), self.rows, self.columns, self.ranks, self.wide.into()];
        let written = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(bytemuck::cast_slice(&words)));
        written.map_err(|error| Error::io(path, error))
    }
}

const MAGIC: u64 = u64::from_le_bytes(*b"wprows05");
/// The magic number, the fingerprint of the rows, and the bytes of a distance.
const HEADER: u64 = 24;
/// Rows done, and the checksum of the last of them.
const ENTRY: u64 = 16;

/// A matrix in a file, and where one rank's journal is.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// Where the first row of the matrix begins.
    rows_start: u64,
    row_bytes: u64,
    start: u64,
    entries: u64,
    rows_done: u64,
}

impl Journal {
    /// That of a rank, for a file with so many bytes before the first of its rows.
    pub(crate) fn new(path: &Path, rank: usize, rows: usize, rows_start: u64, row_bytes: u64) -> Self {
        // A matrix for which this is too much has no room anywhere.
        let (rows, place) = (rows as u64, HEADER + ENTRY * (rows as u64 + 1));
        let end = rows_start.saturating_add(rows.saturating_mul(row_bytes));
        let start = end.saturating_add(place.saturating_mul(rank as u64));
        Journal { path: path.to_owned(), rows_start, row_bytes, start, entries: 0, rows_done: 0 }
    }

    fn failed(&self) -> impl Fn(std::io::Error) -> Error {
        let path = self.path.clone();
        move |error| Error::io(&path, error)
    }

    /// Begins it, or resumes what is there if that is asked for: hands on the rows that the file has, and returns how many there are. The rows of
    /// this rank are `rows` of the matrix.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if the rank's rows were begun for another graph of as many vertices, or for another request; [`Error::Io`].
    pub(crate) fn begin(
        &mut self,
        file: &mut File,
        table: &TableShape<'_>,
        rows: &[usize],
        resume: bool,
        hand_on: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>,
    ) -> Result<usize> {
        let header = [MAGIC, table.fingerprint(), self.row_bytes];
        let found = if resume { self.numbers_at(file, self.start) } else { None };
        match found {
            Some(found) if found == header => {
                with_distances!(table.distances, none => self.read_back(file, table, rows, none, hand_on))?;
            }
            Some([MAGIC, fingerprint, row_bytes]) if row_bytes == self.row_bytes && fingerprint != header[1] => {
                return Err(Error::invalid(format!(
                    "`{}` was begun for another graph, with other options or on another number of ranks; delete it, or don't resume",
                    self.path.display()
                )));
            }
            _ => {
                // An entry of 0 rows is the end.
                let mut words = header.to_vec();
                words.extend([0, 0]);
                self.write_at(file, self.start, bytemuck::cast_slice(&words))?;
            }
        }
        Ok(self.rows_done as usize)
    }

    /// Writes rows of the matrix, each at its place, and enters them.
    pub(crate) fn write(&mut self, file: &mut File, rows: &[usize], bytes: &[u8]) -> Result<()> {
        if self.row_bytes > 0 {
            for (&row, cells) in rows.iter().zip(bytes.chunks_exact(self.row_bytes as usize)) {
                self.write_at(file, self.rows_start + row as u64 * self.row_bytes, cells)?;
            }
        }
        self.rows_done += rows.len() as u64;
        let entry = [self.rows_done, checksum(bytes), 0, 0];
        self.write_at(file, self.start + HEADER + self.entries * ENTRY, bytemuck::cast_slice(&entry))?;
        self.entries += 1;
        Ok(())
    }

    fn write_at(&self, file: &mut File, at: u64, bytes: &[u8]) -> Result<()> {
        file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes)).map_err(self.failed())
    }

    /// Numbers of the file; `None` where it ends before.
    fn numbers_at<const N: usize>(&self, file: &mut File, at: u64) -> Option<[u64; N]> {
        let mut numbers = [0; N];
        file.seek(SeekFrom::Start(at)).ok()?;
        file.read_exact(bytemuck::cast_slice_mut(&mut numbers)).ok()?;
        Some(numbers)
    }

    /// Hands on the rows of all entries up to the first that does not match the file. `none` shows their type.
    fn read_back<D: DistanceValue>(
        &mut self,
        file: &mut File,
        table: &TableShape<'_>,
        all_rows: &[usize],
        _none: &[D],
        hand_on: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>,
    ) -> Result<()> {
        let columns = table.columns();
        while let Some([after, sum]) = self.numbers_at(file, self.start + HEADER + self.entries * ENTRY) {
            let done = self.rows_done as usize;
            let rows = usize::try_from(after).ok().filter(|&after| after > done);
            let Some(rows) = rows.and_then(|after| table.order.get(done..after)) else { break };
            // A damaged entry may ask for more than there is room for.
            let Ok(mut values) = filled("rows to resume", rows.len() * columns, D::UNREACHABLE) else { break };
            let cells = values.chunks_exact_mut(columns.max(1));
            let has_read = rows.iter().zip(cells).all(|(&row, cells)| {
                let at = self.rows_start + all_rows[row] as u64 * self.row_bytes;
                let read =
                    file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytemuck::cast_slice_mut(cells)));
                read.is_ok()
            });
            if !has_read || checksum(bytemuck::cast_slice(&values)) != sum {
                break;
            }
            hand_on(&RowBlock { rows, columns, values: &D::into_distances(values) })?;
            self.rows_done = after;
            self.entries += 1;
        }
        Ok(())
    }
}
