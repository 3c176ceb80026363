//! Floyd and Warshall's algorithm on strips of the matrix: beyond the memory of a device, and on several devices.
//!
//! # What it does
//!
//! The matrix is cut into strips of `S` full rows: a strip is one piece of memory, and of its rows only those that are
//! read and written together. A stage admits the `S` vertices `K` of one strip, the *pivot*:
//!
//! 1. the block `d[K][K]` is cut out and closed, as a matrix of its own, by `tiled-floyd-warshall`;
//! 2. `R = min(d[K][*], d[K][K] x d[K][*])` is what becomes of the pivot itself;
//! 3. for every other strip `i`: `d[i][*] = min(d[i][*], d[i][K] x R)`,
//!
//! where `x` is the matrix product with minimum for plus, and plus for times. Step 3 takes the columns `d[i][K]` as they
//! were before the stage: the block is closed, so what paths add within it is in `R`; and the new columns come out of
//! the same product, as `R` has these columns, too. Both products are one kernel, `kernels/apsp/strips.cu`, made of the
//! pieces of the tile kernel: a tile stays in registers while all `S` vertices are admitted, where the matrix in one
//! piece is read and written for every 128 of them. What the columns are multiplied with is turned first, so that it lies
//! as the tile kernel wants it; they are also kept apart by that from what is written.
//!
//! # Streams
//!
//! A strip that does not stay on a device comes from the host's memory, and goes back there, in streams beside the
//! stream for work. A device has three places for strips: one comes, one is worked on, one goes; events tell each
//! stream when it may go on, and the host only keeps the queues filled, two strips ahead. A strip of `S` rows of `n`
//! cells of `b` bytes is `S n b` bytes each way for `S S n` relaxations: on an H200, at 16 T relaxations a second and
//! 55 GB/s each way, copies are hidden from `S = 1,200` on for 32 bits. So `S` is as large as memory admits, up to some
//! thousands.
//!
//! The strip that is the next pivot comes first in every stage. It stays, its block is closed, and the next `R` is made
//! (in the other one of two places), before the rest of the stage is worked on. Thus nothing ever waits for a pivot: with
//! several devices, strip `i` belongs to device `i mod g`; the owner of the pivot sends `R` to all others, by copies
//! from device to device in a stream of their own, while everyone is at work on the stage before. Katz and Kider
//! have each device ask for the page that it needs when it needs it, and name that as what their speed on several devices
//! suffers from.
//!
//! In the host's memory, strips are made of the graph's arcs when they are first wanted, while the device is busy with
//! those before.
//!
//! # Exactness
//!
//! Every cell is the least of sums that depend on graph and `S` alone, not on what runs where and when: any number of
//! devices gives the same bits, floats included. (A matrix in one piece has other sums of floats: one device gives the bits
//! of several where both are given the same `strip=`.) A strip is never read while it is written to: the pivot is
//! made in another place than the strip that it is made from.
//!
//! That a negative cycle is found: let `k` be the vertex of one that is admitted last, in the stage `K`. Before that
//! stage all paths through earlier stages are in `d[K][K]`; the kernel that closes the block admits its vertices one
//! after another, and looks at the cell `(k, k)` before it admits `k`.
//!
//! # Restart
//!
//! Between two stages, all strips are as they are after this many stages, but for the next pivot, which is one further.
//! In a run whose rows go to a file, that state is kept in a file of its own from time to time (`state.rs`); a run that
//! was killed goes on from there, in the same strips.
//!
//! # Work, span, memory
//!
//! Work: `n^3` relaxations, and `n S^2` for closing blocks. Span: a block and a strip a stage, of which there are
//! `n / S`, hidden by the rest of the stage before. Memory of each device: its strips, or three of them, two for pivots,
//! and two blocks of `S x S`. Copies: the matrix to and fro once a stage, and on `g` devices `g - 1` times the matrix from
//! device to device in all.
//!
//! # Where it wins and loses
//!
//! It is what there is beyond the memory of one device. Where that suffices, the matrix in one piece is as quick on one
//! device, and takes less memory; from some 16,000 vertices on, several devices are quicker than one.
//!
//! Sources: Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4.4 (pages, and several
//! GPUs). Running a panel ahead is what LU decompositions call look-ahead.
//!
//! *Invariants.* The host's strips stay where they are, and pinned, until all devices are done with them. A copy
//! between two places gets as many bytes as both have, and nobody touches either before the event that is recorded
//! behind it has passed.

mod cut;
mod state;
pub(in crate::cuda) mod worker;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytemuck::cast_slice_mut;

use super::matrix::{Number, Range, with_number, write_cells};
use super::{Cell, DenseTask, MinPlusOnDevice};
use crate::algorithms::{Parameter, Statistics, Unset, Values};
use crate::cuda::device::host_part::HostPart;
use crate::cuda::device::memory::at_once;
use crate::cuda::device::{Device, Stream};
use crate::cuda::matrix::Ended;
use crate::cuda::matrix::homes::Home;
use crate::graph::DistanceValue;
use crate::{Error, Result, parallel};

pub(crate) use cut::{Cut, Room, asked};
pub(crate) use state::Kept;
use state::States;
use worker::Worker;

/// How many rows a strip has.
pub(super) const STRIP: Parameter = Parameter {
    name: "strip",
    summary: "rows of a strip; setting it forces strips",
    values: Values::Or(
        &Values::AtLeast(1.0),
        Unset::InWords(|| {
            "without it, strips only where one device is too small, with as many rows as suit its memory".into()
        }),
    ),
};

/// The word that puts strips into the host's memory.
const ON_HOST: &str = "host";
/// Where strips are.
pub(super) const HOME: Parameter = Parameter {
    name: "home",
    summary: "where strips are between two uses: on a device while there is room for all, or in the host's memory; setting \
              host forces strips",
    values: Values::Or(&Values::OneOf(&["device", ON_HOST]), Unset::InWords(|| "device".into())),
};

/// How often the state is kept.
pub(super) const KEEP: Parameter = Parameter {
    name: "keep-seconds",
    summary: "seconds between states of work in strips, kept for --resume where rows go to a .npy; 0: every stage",
    values: Values::Or(&Values::AtLeast(0.0), Unset::InWords(|| "as many as keeping takes".into())),
};

/// What the host's memory for a strip is called where it is refused.
const STRIP_ON_HOST: &str = "a strip of the matrix";

/// A matrix in strips, on devices or in the host's memory.
#[derive(Debug)]
pub(crate) struct Strips {
    workers: Vec<Worker>,
    /// Where each strip is when it is on no device.
    homes: Vec<Home>,
    cut: Cut,
    range: Range,
    /// How long it took to make strips in the host's memory.
    making: Duration,
    /// Bytes that have come to devices from the host, and gone from them to the host, for the work.
    to_devices: u64,
    from_devices: u64,
}

/// A strip with the lengths of arcs.
fn strip_of_arcs<T: Number>(
    device: &Arc<dyn Device>,
    task: &DenseTask<'_>,
    cut: &Cut,
    strip: usize,
) -> Result<HostPart> {
    /// Cells that a thread writes at least before it takes others.
    const CELLS: usize = 1 << 16;
    let pitch = cut.side as usize;
    let first = strip * cut.height as usize * pitch;
    let at_once = CELLS.div_ceil(pitch) * pitch;
    HostPart::new(device, STRIP_ON_HOST, cut.bytes(cut.rows(strip)), |cells| {
        parallel::for_each_chunk(cast_slice_mut::<u64, T>(cells), at_once, |index, piece| {
            let start = first + index * at_once;
            write_cells(task, pitch, start..start + piece.len(), piece);
        });
        Ok(())
    })
}

impl Strips {
    /// Takes what the cut needs on these devices, and fills the strips that stay there.
    pub(super) fn new(devices: &[Arc<dyn Device>], task: &DenseTask<'_>, cut: Cut, range: Range) -> Result<Self> {
        let devices = &devices[..cut.devices as usize];
        let workers = devices.iter().map(|device| Worker::new(device, cut, task));
        let workers = workers.collect::<Result<Vec<_>>>()?;
        let home = |strip: usize| Home::new(&*devices[strip % devices.len()]);
        let homes = (0..cut.strips()).map(home).collect::<Result<_>>()?;
        let mut strips = Strips { workers, homes, cut, range, making: Duration::ZERO, to_devices: 0, from_devices: 0 };
        if !cut.streamed {
            for strip in 0..cut.strips() {
                with_number!(cut.cell, T => strips.fill::<T>(task, strip))?;
                strips.to_devices += cut.bytes(cut.rows(strip));
            }
        }
        for worker in &strips.workers {
            for other in &strips.workers {
                if !std::ptr::eq(worker, other) {
                    let address = other.pivots[0].cells.address();
                    // SAFETY: it is of no bytes.
                    unsafe { worker.device().send(&**other.device(), address, address, 0)? };
                }
            }
        }
        strips.wait()?;
        Ok(strips)
    }

    /// How many devices it is on.
    pub(super) fn devices(&self) -> usize {
        self.workers.len()
    }

    /// Which device a strip belongs to.
    fn owner(&self, strip: usize) -> usize {
        strip % self.workers.len()
    }

    /// Where a strip is that stays on its device.
    fn place(&self, strip: usize) -> usize {
        strip / self.workers.len()
    }

    fn fill<T: Number>(&self, task: &DenseTask<'_>, strip: usize) -> Result<()> {
        let Worker { pool, slots, .. } = &self.workers[self.owner(strip)];
        let pitch = self.cut.side as usize;
        let first = strip * self.cut.height as usize * pitch;
        let count = self.cut.rows(strip) as usize * pitch;
        pool.upload_with(slots[self.place(strip)].cells.cast::<T>(), count, |range, piece| {
            write_cells(task, pitch, first + range.start..first + range.end, piece);
        })
    }

    /// Waits until no device has anything to do.
    fn wait(&self) -> Result<()> {
        self.workers.iter().try_for_each(|worker| worker.device().synchronize())
    }

    /// Admits all vertices.
    pub(super) fn solve(&mut self, task: &DenseTask<'_>) -> Result<(Ended, Statistics)> {
        let strips = self.cut.strips();
        for worker in &self.workers {
            worker.device().record(&worker.first)?;
        }
        let seconds = task.parameters.get(KEEP.name);
        let mut states = task.state.map(|kept| States::open(kept, task, self.cut, seconds)).transpose()?;
        let first = states.as_ref().map_or(0, |states| states.stages);
        match &states {
            Some(states) if first > 0 => self.restore(task, states)?,
            _ => {
                let slot = self.fetch(task, 0)?;
                self.make_pivot(task, 0, slot)?;
            }
        }
        for stage in first..strips {
            // A pivot that was kept is known to be good.
            let is_new = stage == 0 || stage > first;
            if is_new && task.graph.has_negative_weights() && self.workers[self.owner(stage)].has_cycles()? {
                return Ok((Ended::NegativeCycle, Vec::new()));
            }
            if let Some(states) = states.as_mut().filter(|states| stage > first && states.is_due()) {
                self.keep(states, stage)?;
            }
            self.stage(task, stage)?;
        }
        for worker in &self.workers {
            worker.device().record(&worker.last)?;
        }
        self.wait()?;
        let seconds = |worker: &Worker| worker.device().seconds_between(&worker.first, &worker.last);
        let seconds = self.workers.iter().map(seconds).collect::<Result<Vec<_>>>()?;
        let launches = self.workers.iter().map(|worker| worker.launches).sum();
        let statistics = vec![
            ("device_nanoseconds", (seconds.into_iter().fold(0.0, f64::max) * 1e9) as u64),
            ("stages", strips as u64),
            ("kernel_launches", launches),
            ("devices", self.workers.len() as u64),
            ("rows_of_a_strip", self.cut.height),
            ("host_nanoseconds_for_strips", self.making.as_nanos() as u64),
            ("stages_before", first as u64),
            ("bytes_to_device", self.to_devices),
            ("bytes_from_device", self.from_devices),
            ("strips_in_host_memory", if self.cut.streamed { strips as u64 } else { 0 }),
        ];
        Ok((Ended::Complete, statistics))
    }

    /// Queues a stage, whose pivot was queued before, and the pivot of the next one.
    fn stage(&mut self, task: &DenseTask<'_>, stage: usize) -> Result<()> {
        let strips = self.cut.strips();
        let is_last = stage + 1 == strips;
        let owner = self.owner(stage);
        let pivot = &self.workers[owner].pivots[stage % 2];
        for (index, worker) in self.workers.iter().enumerate() {
            if index != owner {
                worker.device().follow(Stream::Work, &pivot.sent)?;
            }
        }
        if is_last {
            let (cells, rows) = (pivot.cells, self.cut.vertices_of(stage));
            self.workers[owner].survey(cells, rows, self.range)?;
        }
        for beyond in 1..strips {
            let strip = (stage + beyond) % strips;
            let (owner, rows) = (self.owner(strip), self.cut.rows(strip));
            self.workers[owner].keep_pace()?;
            let slot = self.fetch(task, strip)?;
            self.workers[owner].update(slot, rows, stage)?;
            if strip == stage + 1 {
                self.make_pivot(task, strip, slot)?;
            } else {
                if is_last {
                    let (cells, rows) = (self.workers[owner].slots[slot].cells, self.cut.vertices_of(strip));
                    self.workers[owner].survey(cells, rows, self.range)?;
                }
                self.send_home(strip, slot)?;
            }
            task.control.progress("solve", (stage * strips + beyond) as u64, (strips * strips) as u64)?;
        }
        self.workers.iter().try_for_each(|worker| worker.device().record(&worker.stage_done))
    }

    /// Has a strip be on its device before the work that is queued there next; returns in which slot.
    fn fetch(&mut self, task: &DenseTask<'_>, strip: usize) -> Result<usize> {
        let owner = self.owner(strip);
        if !self.cut.streamed {
            return Ok(self.place(strip));
        }
        let (home, worker) = (&mut self.homes[strip], &mut self.workers[owner]);
        if home.cells.is_none() {
            let start = Instant::now();
            let device = worker.device();
            home.cells = Some(with_number!(self.cut.cell, T => strip_of_arcs::<T>(device, task, &self.cut, strip))?);
            self.making += start.elapsed();
        }
        let place = worker.turn_of_slot();
        self.to_devices += worker.slots[place].bring(&**worker.device(), home)?;
        Ok(place)
    }

    /// Has a strip go back to the host, when all is done that was queued for it, if that is where it belongs.
    fn send_home(&mut self, strip: usize, slot: usize) -> Result<()> {
        if !self.cut.streamed {
            return Ok(());
        }
        let worker = &self.workers[self.owner(strip)];
        self.from_devices += worker.slots[slot].send_home(&**worker.device(), &mut self.homes[strip])?;
        Ok(())
    }

    /// Queues the making of a stage's pivot, from the strip in a slot, and its way to where it belongs and to all other
    /// devices.
    fn make_pivot(&mut self, task: &DenseTask<'_>, stage: usize, slot: usize) -> Result<()> {
        let bytes = self.cut.bytes(self.cut.rows(stage));
        let owner = self.owner(stage);
        let worker = &mut self.workers[owner];
        let device = worker.device().clone();
        // The pivot of two stages ago may still be on its way.
        device.follow(Stream::Work, &worker.pivots[stage % 2].kept)?;
        device.follow(Stream::Work, &worker.pivots[stage % 2].sent)?;
        worker.make_pivot(slot, stage, task.parameters)?;
        let (pivot, slot) = (&worker.pivots[stage % 2], &worker.slots[slot]);
        device.record(&pivot.ready)?;
        if self.cut.streamed {
            device.record(&slot.free)?;
            device.follow(Stream::Download, &pivot.ready)?;
            self.from_devices += self.homes[stage].bring_back(&*device, pivot.cells)?;
            device.record_in(Stream::Download, &pivot.kept)?;
        } else {
            worker.pool.copy(slot.cells.part(0, bytes), pivot.cells.part(0, bytes))?;
        }
        if task.graph.has_negative_weights() {
            worker.ask_for_cycles(stage)?;
        }
        self.send_round(stage)
    }

    /// Queues a pivot's way to all other devices.
    fn send_round(&self, stage: usize) -> Result<()> {
        let bytes = self.cut.bytes(self.cut.rows(stage));
        let owner = self.owner(stage);
        let (device, pivot) = (self.workers[owner].device(), &self.workers[owner].pivots[stage % 2]);
        device.follow(Stream::Peer, &pivot.ready)?;
        for (index, other) in self.workers.iter().enumerate() {
            if index != owner {
                // It may still work with the pivot that is there, or send it.
                let there = &other.pivots[stage % 2];
                for event in [&other.stage_done, &there.kept, &there.sent] {
                    device.follow(Stream::Peer, event)?;
                }
                // SAFETY: both have that many bytes; nobody uses the cells there until `sent` has passed.
                unsafe {
                    device.send(&**other.device(), there.cells.address(), pivot.cells.address(), bytes as usize)?;
                }
            }
        }
        device.record_in(Stream::Peer, &pivot.sent)
    }

    /// Brings the last state back, which has the pivot of the next stage in it.
    fn restore(&mut self, task: &DenseTask<'_>, states: &States) -> Result<()> {
        for strip in 0..self.cut.strips() {
            let (owner, bytes) = (self.owner(strip), self.cut.bytes(self.cut.rows(strip)));
            let worker = &self.workers[owner];
            if self.cut.streamed {
                self.homes[strip].cells = Some(HostPart::new(worker.device(), STRIP_ON_HOST, bytes, |cells| {
                    let cells = cast_slice_mut::<u64, u8>(cells);
                    states.restore(strip, |start, piece| {
                        cells[start..start + piece.len()].copy_from_slice(piece);
                        Ok(())
                    })
                })?);
            } else {
                let there = worker.slots[self.place(strip)].cells;
                states.restore(strip, |start, piece| {
                    worker.pool.upload(there.part(start as u64, piece.len() as u64), piece)
                })?;
                self.to_devices += bytes;
            }
            task.control.check()?;
        }
        let stage = states.stages;
        let bytes = self.cut.bytes(self.cut.rows(stage));
        let slot = self.fetch(task, stage)?;
        let worker = &self.workers[self.owner(stage)];
        let (slot, pivot) = (&worker.slots[slot], &worker.pivots[stage % 2]);
        worker.pool.copy(pivot.cells.part(0, bytes), slot.cells.part(0, bytes))?;
        worker.device().record(&pivot.ready)?;
        worker.device().record(&slot.free)?;
        self.send_round(stage)
    }

    /// Keeps the state after this many stages, when all devices have come there.
    fn keep(&self, states: &mut States, stages: usize) -> Result<()> {
        self.wait()?;
        let home = |strip: usize| self.homes[strip].cells.as_ref().map(HostPart::cells::<u8>);
        let homes: Vec<_> = (0..self.cut.strips()).map(home).collect();
        let place = |strip: usize| {
            let Worker { pool, slots, .. } = &self.workers[self.owner(strip)];
            slots.get(self.place(strip)).map(|slot| (pool, slot.cells))
        };
        let places: Vec<_> = (0..self.cut.strips()).map(place).collect();
        states.keep(stages, |strip, start, to| match (homes[strip], places[strip]) {
            (Some(home), _) => {
                to.copy_from_slice(&home[start..start + to.len()]);
                Ok(())
            }
            (None, Some((pool, cells))) => pool.read_into(cells.part(start as u64, to.len() as u64), to),
            (None, None) => Err(Error::invalid("a strip is neither on a device nor on the host")),
        })
    }

    /// Whether the cells were wide enough: see [`super`].
    pub(super) fn is_in_range(&self) -> Result<bool> {
        let keys = self.workers.iter().map(Worker::greatest).collect::<Result<Vec<_>>>()?;
        Ok(self.range.has_room(self.cut.cell, keys.into_iter().max().unwrap_or(0)))
    }

    /// Rows from `first` on, as many as `to` has room for, as distances of the semiring that the matrix was made for.
    pub(crate) fn read_rows<L: MinPlusOnDevice>(&self, first: u64, to: &mut [L::Distance]) -> Result<()> {
        with_number!(self.cut.cell, T => self.read_rows_of::<T, L>(first, to))
    }

    fn read_rows_of<T: Number, L: MinPlusOnDevice>(&self, first: u64, mut to: &mut [L::Distance]) -> Result<()> {
        let (row, pitch) = (self.cut.vertices as usize, self.cut.side as usize);
        let (threshold, mut first) = (self.range.threshold, first);
        if first * row as u64 + to.len() as u64 > self.cut.vertices * self.cut.vertices {
            return Err(Error::invalid("rows beyond the end of a matrix"));
        }
        let convert = |cells: &[T], to: &mut [L::Distance]| {
            for (distance, &cell) in to.iter_mut().zip(cells) {
                *distance = cell.distance::<L>(threshold).unwrap_or(L::Distance::UNREACHABLE);
            }
        };
        let mut on_devices: Vec<Vec<_>> = self.workers.iter().map(|_| Vec::new()).collect();
        while !to.is_empty() {
            let (strip, within) = ((first / self.cut.height) as usize, first % self.cut.height);
            let rows = (to.len() / row).min((self.cut.rows(strip) - within) as usize);
            let cells = (within as usize * pitch)..(within as usize + rows) * pitch;
            let (part, rest) = std::mem::take(&mut to).split_at_mut(rows * row);
            match self.homes[strip].cells.as_ref().map(HostPart::cells::<T>) {
                Some(strip) => {
                    let strip = &strip[cells];
                    parallel::for_each_chunk(part, row, |index, to| convert(&strip[index * pitch..], to));
                }
                None => {
                    let owner = self.owner(strip);
                    let there = self.workers[owner].slots[self.place(strip)].cells.cast::<T>();
                    on_devices[owner].push((there.part(cells.start as u64, cells.len() as u64), part));
                }
            }
            (first, to) = (first + rows as u64, rest);
        }
        let pools = self.workers.iter().map(|worker| &worker.pool);
        let reads = pools.zip(on_devices).filter(|(_, parts)| !parts.is_empty()).map(|(pool, parts)| {
            move || parts.into_iter().try_for_each(|(cells, to)| pool.read_rows(cells, [row, pitch], to, &convert))
        });
        at_once(reads.collect())
    }
}

impl Drop for Strips {
    fn drop(&mut self) {
        // Whatever is on its way between devices, and to the host, uses the memory of both. A device that failed uses
        // nothing any more.
        for worker in &self.workers {
            let _ = worker.device().synchronize();
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
