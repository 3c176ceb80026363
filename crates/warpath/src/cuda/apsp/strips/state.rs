//! The state of the work on strips, kept in a file: what a run that was killed is continued from.
//!
//! The file has a head, a *record* and then a copy of the matrix, twice: states take turns, and one is whole while the
//! other is written. A record says how many stages are done, and has a checksum for every strip. It is written when its
//! strips are. So a kill costs the work since the last state, and nothing needs to be synchronized on the way: should
//! the system fail as well, checksums tell which of the states is whole. Continued work has the same bits as work that
//! was not interrupted, floats too: a state is what all strips are between two stages, and not a mixture.
//!
//! A state is written when a stage is done, unless the work since the last one took less time than writing that one did:
//! then as much would be lost by keeping as by a kill. Where stages are long, that is after every stage. How long the first one will take is
//! reckoned, so that work of a second does not wait for the disk.
//!
//! A state is continued in the strips that it was kept in, whatever would suit the devices and their memory now: or not at
//! all, if these have no room. Only cells that turned out too narrow let it go.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::super::{Cell, DenseTask};
use super::cut::{Cut, Room, asked};
use crate::algorithms::Parameters;
use crate::partial::open_regular;
use crate::plan::Plan;
use crate::problems::{KeptState, checksum, disk_space_of};
use crate::{Error, Result};

const MAGIC: u64 = u64::from_le_bytes(*b"wpstrip3");
/// Numbers in the head: the magic number, the fingerprint of the graph, the cell, rows of a strip.
const HEAD: usize = 4;
/// The bytes copied at once where a strip passes through memory.
pub(super) const PIECE_BYTES: usize = 1 << 20;

/// The file, open for writing states.
#[derive(Debug)]
pub(super) struct States {
    path: PathBuf,
    cut: Cut,
    /// How many stages are done in the last state.
    pub(super) stages: usize,
    /// Which of the two places the next state goes to.
    next: usize,
    /// When the work on the next state began, and how long it took to write the last one, or will take to write the first.
    since: Instant,
    took: Duration,
    seconds: Option<f64>,
}

/// What a file says of the state that is kept in it, and is to be continued.
#[derive(Debug)]
pub(crate) struct Kept {
    path: PathBuf,
    numbers: [u64; HEAD],
}

impl Kept {
    /// The kept state; `None` if there is none, or if it is not to be continued.
    pub(crate) fn read(state: Option<&KeptState>) -> Option<Self> {
        let KeptState { path, .. } = state.filter(|state| state.resume)?;
        let mut numbers = [0; HEAD];
        open_regular(OpenOptions::new().read(true), path)
            .ok()?
            .read_exact(bytemuck::cast_slice_mut(&mut numbers))
            .ok()?;
        Some(Kept { path: path.clone(), numbers })
    }

    /// Refuses a state that was begun for another graph.
    pub(in crate::cuda::apsp) fn check(&self, task: &DenseTask<'_>) -> Result<()> {
        if self.numbers[..2] == [MAGIC, fingerprint(task)] {
            return Ok(());
        }
        Err(self.refused("was begun for another graph or with other options; delete it, or don't resume"))
    }

    /// The cells it was kept with; `None` if there are no such.
    fn cell(&self) -> Option<Cell> {
        let cells = [Cell::U16, Cell::U32, Cell::I32, Cell::I64, Cell::F32, Cell::F64];
        cells.into_iter().find(|cell| *cell as u64 == self.numbers[2])
    }

    /// Whether it was kept with these cells.
    pub(in crate::cuda::apsp) fn has(&self, cell: Cell) -> bool {
        self.cell() == Some(cell)
    }

    /// Whether the work continued in cells wider than these, before it was killed: then these are known to be too
    /// narrow.
    pub(in crate::cuda::apsp) fn is_wider_than(&self, cell: Cell) -> bool {
        self.cell().is_some_and(|kept| kept.bytes() > cell.bytes())
    }

    /// Whether it was kept with narrower cells than these.
    pub(in crate::cuda::apsp) fn is_narrower_than(&self, cell: Cell) -> bool {
        self.cell().is_some_and(|kept| kept.bytes() < cell.bytes())
    }

    /// Why it is not continued in these cells.
    pub(in crate::cuda::apsp) fn refused_for(&self, cell: Cell) -> Error {
        let kept = self.cell().map_or_else(String::new, |kept| {
            format!(" `{}`; go on with `cell-bits={}`", kept.name(), 8 * kept.bytes())
        });
        let cell = cell.name();
        self.refused(&format!("was kept with other cells than `{cell}`:{kept}, delete it, or don't resume"))
    }

    /// The strips to go on in, which are those that it was kept in.
    ///
    /// # Errors
    ///
    /// If there is no room for them, or others are asked for.
    pub(in crate::cuda::apsp) fn cut(
        &self,
        cell: Cell,
        vertices: u64,
        parameters: &Parameters,
        room: &Room,
    ) -> Result<Cut> {
        let height = self.numbers[3];
        let asked = asked(parameters);
        let cut = Cut::of_rows(cell, vertices, asked.rows.unwrap_or(height), asked.on_host, room);
        if cut.height != height {
            return Err(self.refused(&format!(
                "was kept in strips of {height} rows: go on with `strip={height}`, delete it, or don't resume"
            )));
        }
        let (needed, available) = (cut.device_bytes(), room.device_bytes);
        if needed > available {
            let what = format!("work in strips of {height} rows, in which `{}` was kept,", self.path.display());
            return Err(Error::OutOfMemory { what, needed, available });
        }
        Ok(cut)
    }

    fn refused(&self, why: &str) -> Error {
        Error::invalid(format!("`{}` {why}", self.path.display()))
    }
}

/// What a state is bound to beside cells and strips: the arcs that take part, and their weights.
fn fingerprint(task: &DenseTask<'_>) -> u64 {
    let takes_part = task.takes_part.map(|takes_part| takes_part.iter().map(|&part| part.into()).collect::<Vec<u8>>());
    let parts = [task.graph.fingerprint(), takes_part.map_or(0, |takes_part| checksum(&takes_part))];
    checksum(bytemuck::cast_slice(&parts))
}

impl States {
    /// Opens the file: with the last whole state in it if that is to be continued, which is of this graph and in this cut;
    /// else it is begun anew.
    pub(super) fn open(kept: &KeptState, task: &DenseTask<'_>, cut: Cut, seconds: Option<f64>) -> Result<Self> {
        /// Bytes a second that a disk takes.
        const WRITING: f64 = 1e9;
        let took = Duration::from_secs_f64(cut.bytes(cut.side) as f64 / WRITING);
        let since = Instant::now();
        let mut states = States { path: kept.path.clone(), cut, stages: 0, next: 0, since, took, seconds };
        if kept.resume {
            states.find_last()?;
            return Ok(states);
        }
        let mut plan = Plan::new();
        plan.disk("state of the work", cut.state_bytes().saturating_sub(disk_space_of(&kept.path)));
        plan.check_disk(&kept.path)?;
        // The state that is there goes.
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let file = open_regular(&mut options, &kept.path).map_err(|error| Error::io(&kept.path, error))?;
        let begin = || {
            let head: [u64; HEAD] = [MAGIC, fingerprint(task), cut.cell as u64, cut.height];
            (&file).write_all(bytemuck::cast_slice(&head))?;
            file.set_len(states.place(2))
        };
        begin().map_err(|error| Error::io(&kept.path, error))?;
        Ok(states)
    }

    /// Whether it is time to keep a state.
    pub(super) fn is_due(&self) -> bool {
        self.since.elapsed() >= self.seconds.map_or(self.took, Duration::from_secs_f64)
    }

    /// Numbers of a record: the stages done, a checksum for every strip, and one for all of these.
    fn record_length(&self) -> usize {
        self.cut.strips() + 2
    }

    /// Where one of the places begins, and where the last ends.
    fn place(&self, place: usize) -> u64 {
        let bytes = (self.record_length() * size_of::<u64>()) as u64 + self.cut.bytes(self.cut.side);
        (HEAD * size_of::<u64>()) as u64 + place as u64 * bytes
    }

    /// Where a strip is in a place.
    fn strip(&self, place: usize, strip: usize) -> u64 {
        let record = (self.record_length() * size_of::<u64>()) as u64;
        self.place(place) + record + self.cut.bytes(strip as u64 * self.cut.height)
    }

    fn file(&self) -> Result<File> {
        open_regular(OpenOptions::new().read(true).write(true), &self.path).map_err(|error| self.error(error))
    }

    fn error(&self, error: std::io::Error) -> Error {
        Error::io(&self.path, error)
    }

    /// Finds the last state that is whole.
    fn find_last(&mut self) -> Result<()> {
        let mut records = Vec::new();
        let mut file = self.file()?;
        for place in 0..2 {
            let mut record = vec![0_u64; self.record_length()];
            let read = file.seek(SeekFrom::Start(self.place(place)));
            let read = read.and_then(|_| file.read_exact(bytemuck::cast_slice_mut(&mut record)));
            let (numbers, sum) = record.split_at(record.len() - 1);
            if read.is_ok() && numbers[0] > 0 && sum == [checksum(bytemuck::cast_slice(numbers))] {
                records.push((place, record));
            }
        }
        records.sort_by_key(|(_, record)| std::cmp::Reverse(record[0]));
        for (place, record) in records {
            let is_whole = |strip: usize| {
                let mut sum = Sum::default();
                let read = self.read(place, strip, |_, piece| {
                    sum.add(piece);
                    Ok(())
                });
                read.is_ok() && sum.get() == record[1 + strip]
            };
            if (0..self.cut.strips()).into_par_iter().all(is_whole) {
                (self.stages, self.next) = (record[0] as usize, 1 - place);
                break;
            }
        }
        Ok(())
    }

    /// Reads a strip piece by piece; `take` is told where in the strip each begins.
    fn read(&self, place: usize, strip: usize, mut take: impl FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
        let mut file = self.file()?;
        let bytes = self.cut.bytes(self.cut.rows(strip)) as usize;
        let mut piece = vec![0; PIECE_BYTES.min(bytes)];
        file.seek(SeekFrom::Start(self.strip(place, strip))).map_err(|error| self.error(error))?;
        for start in (0..bytes).step_by(PIECE_BYTES) {
            let piece = &mut piece[..PIECE_BYTES.min(bytes - start)];
            file.read_exact(piece).map_err(|error| self.error(error))?;
            take(start, piece)?;
        }
        Ok(())
    }

    /// Hands a strip of the last state to `take`, piece by piece, with where in the strip each begins.
    pub(super) fn restore(&self, strip: usize, take: impl FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
        self.read(1 - self.next, strip, take)
    }

    /// Keeps the state after this many stages. `read` is asked for pieces of strips, by several threads at once.
    pub(super) fn keep(
        &mut self,
        stages: usize,
        read: impl Fn(usize, usize, &mut [u8]) -> Result<()> + Sync,
    ) -> Result<()> {
        let start = Instant::now();
        let write = |at: u64, bytes: &[u8]| {
            let mut file = self.file()?;
            let written = file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes));
            written.map_err(|error| self.error(error))
        };
        let mut record = vec![0_u64; self.record_length()];
        // An overwritten state is none any more.
        write(self.place(self.next), bytemuck::cast_slice(&record))?;
        let strips = record[1..=self.cut.strips()].par_iter_mut().enumerate();
        strips.try_for_each(|(strip, sum_of_strip)| {
            let bytes = self.cut.bytes(self.cut.rows(strip)) as usize;
            let mut piece = vec![0; PIECE_BYTES.min(bytes)];
            let mut sum = Sum::default();
            for start in (0..bytes).step_by(PIECE_BYTES) {
                let piece = &mut piece[..PIECE_BYTES.min(bytes - start)];
                read(strip, start, piece)?;
                sum.add(piece);
                write(self.strip(self.next, strip) + start as u64, piece)?;
            }
            *sum_of_strip = sum.get();
            Ok::<_, Error>(())
        })?;
        record[0] = stages as u64;
        let (numbers, sum) = record.split_at_mut(self.cut.strips() + 1);
        sum[0] = checksum(bytemuck::cast_slice(numbers));
        write(self.place(self.next), bytemuck::cast_slice(&record))?;
        (self.stages, self.next) = (stages, 1 - self.next);
        (self.since, self.took) = (Instant::now(), start.elapsed());
        Ok(())
    }
}

/// A checksum piece by piece.
#[derive(Debug, Default)]
struct Sum {
    parts: Vec<u64>,
}

impl Sum {
    fn add(&mut self, piece: &[u8]) {
        self.parts.push(checksum(piece));
    }

    fn get(&self) -> u64 {
        checksum(bytemuck::cast_slice(&self.parts))
    }
}
