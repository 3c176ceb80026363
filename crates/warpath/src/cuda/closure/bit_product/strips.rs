//! [`bit_product`](super) on strips of the matrix: on several devices, and beyond the memory of one.
//!
//! The matrix is cut into strips of as many rows as a block has. Strip `i` belongs to device `i mod g`, and stays there if there is room,
//! or else comes from the host's memory and goes back. A stage takes the paths through the vertices of one strip:
//!
//! 1. its owner closes the block on the diagonal, makes `R | D R` of the strip, packs that as columns, a *panel*, and sends it to all others;
//! 2. every device makes `M | C R` of its other strips.
//!
//! The strip that is next comes first in every stage. Its panel is made, in the other one of two places, and sent before the rest of the stage is worked on. So nobody waits
//! for a panel where each device has several strips. In a triangle, between components in topological order, a strip is done
//! once it has had its turn: strips before it take no part.
//!
//! # Work, memory, copies
//!
//! Work: that of the matrix in one piece. Memory of each device: its strips, or three of them; two panels of `n S / 8` bytes with `S` rows a strip; `S^2 / 8` for packed rows. Copies: a panel a stage
//! to each other device. Where strips are in the host's memory, the matrix goes to and fro once a stage, `n S / 8` bytes each way for `n S^2` pairs: at 2,500 T pairs
//! a second, and 50 GB/s, copies take as long as products where `S` is 6,250. A strip has 4,096 rows at most, so copies are what takes the time.
//!
//! # Left out
//!
//! In a triangle, a stage needs the columns up to its strip, and whole rows travel: three times as many bytes as are used. Rows in blocks of columns would save that. The host has
//! the matrix twice while strips are copied to the result.
//!
//! Answers do not depend on how the matrix is cut: a bit is set if there is a path.
//!
//! Sources: those of [`bit_product`](super); the order of the work is that of the strips of [`tiled-floyd-warshall`](crate::cuda::apsp::strips).
//!
//! *Invariants.* Nobody writes to a panel before all have used the last one there and have sent it: events tell. Strips in the host's memory stay until all
//! devices are done.

use std::sync::Arc;
use std::time::Instant;

use bytemuck::cast_slice_mut;

use super::{Products, Rows, SIDE, Workspace, block_of, columns_for};
use crate::algorithms::{Parameters, Statistics};
use crate::cuda::closure::{Closed, ClosureTask, Room, RowOfBits, write_bits};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::host_part::HostPart;
use crate::cuda::device::memory::{DeviceSlice, Pool, at_once};
use crate::cuda::device::{Device, Event, Stream};
use crate::cuda::matrix::homes::{Home, Slot};
use crate::plan::Plan;
use crate::problems::{BitMatrix, ReachabilityBits};
use crate::{Result, available_memory, parallel};

/// From so many vertices on several devices share the matrix.
const SHARED_FROM: u64 = 16_384;
/// Strips of a device at a time: one comes, one is worked on, one goes.
const SLOTS: u64 = 3;
/// How many strips the host has queued at a device beyond the one that is worked on.
const AHEAD: usize = 4;
/// What the host's memory for a strip is called.
const STRIPS_ON_HOST: &str = "strips of the matrix of bits";

/// How a matrix is cut into strips, and where these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cuda::closure) struct Cut {
    /// Rows and columns, a multiple of [`SIDE`].
    side: u64,
    /// Rows of every strip but the last, which may have fewer.
    height: u64,
    devices: u64,
    /// Whether the strips are in the host's memory, and come and go.
    streamed: bool,
}

/// The arrays of a device.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    strips: DeviceSlice<u8>,
    panels: [DeviceSlice<u32>; 2],
    workspace: Workspace,
}

/// Whether several devices share a matrix of so many vertices.
pub(in crate::cuda::closure) fn may_be_shared(vertices: u64) -> bool {
    vertices.next_multiple_of(SIDE) >= SHARED_FROM
}

impl Cut {
    /// How to cut a matrix of so many vertices; `None` to leave it in one piece on one device, where it takes so many bytes.
    pub(in crate::cuda::closure) fn choose(
        vertices: u64,
        parameters: &Parameters,
        room: Room,
        in_one_piece: u64,
    ) -> Option<Self> {
        let side = vertices.next_multiple_of(SIDE);
        let several = room.devices > 1 && may_be_shared(vertices);
        if !several && in_one_piece <= room.device_bytes {
            return None;
        }
        let cut = |height: u64, streamed: bool| {
            let devices = if several { (room.devices as u64).min(side.div_ceil(height)) } else { 1 };
            Cut { side, height, devices, streamed }
        };
        let fits = |cut: &Cut| cut.device_bytes() <= room.device_bytes;
        // Lower strips cost a tenth, and copies some times the work.
        let most = block_of(side, parameters);
        let heights = (1..=most / SIDE).rev().map(|slabs| slabs * SIDE);
        let stays = heights.clone().map(|height| cut(height, false)).find(fits);
        let least = cut(SIDE, true);
        let found = stays.or_else(|| heights.map(|height| cut(height, true)).find(fits)).unwrap_or(least);
        // Where nothing fits, whoever is told how much is missing gets the least.
        (several || fits(&found) || found.device_bytes() < in_one_piece).then_some(found)
    }

    /// A cut into strips of so many rows, a multiple of [`SIDE`].
    #[cfg(test)]
    pub(in crate::cuda::closure) fn of(vertices: u64, height: u64, devices: usize, streamed: bool) -> Self {
        let side = vertices.next_multiple_of(SIDE);
        Cut { side, height, devices: (devices as u64).min(side.div_ceil(height)), streamed }
    }

    fn strips(&self) -> usize {
        self.side.div_ceil(self.height) as usize
    }

    /// The first row of a strip, and how many it has.
    fn rows(&self, strip: usize) -> (u64, u64) {
        let first = strip as u64 * self.height;
        (first, self.height.min(self.side - first))
    }

    /// Bytes of so many rows.
    fn bytes(&self, rows: u64) -> u64 {
        rows.saturating_mul(self.side / 8)
    }

    /// How many strips a device has room for.
    fn slots(&self) -> u64 {
        let strips = self.strips() as u64;
        if self.streamed { SLOTS.min(strips) } else { strips.div_ceil(self.devices) }
    }

    fn layout(&self, arena: &mut Arena<'_>) -> Arrays {
        Arrays {
            strips: arena.take("strips of the matrix of bits", self.bytes(self.height).saturating_mul(self.slots())),
            panels: [(); 2].map(|()| columns_for(self.side, self.height, arena)),
            workspace: Workspace::layout(self.height, self.height, arena),
        }
    }

    fn device_bytes(&self) -> u64 {
        plan_of(|arena| self.layout(arena)).device_bytes()
    }

    /// What it takes of each device, and of the host beside the result.
    pub(in crate::cuda::closure) fn plan(&self) -> Plan {
        let mut plan = plan_of(|arena| self.layout(arena));
        if self.streamed {
            plan.memory(STRIPS_ON_HOST, self.bytes(self.side));
        }
        plan.on_each_of(self.devices as usize);
        plan
    }
}

/// A device, and what it has for its strips.
#[derive(Debug)]
struct Worker {
    pool: Pool,
    products: Products,
    slots: Vec<Slot>,
    panels: [Panel; 2],
    /// The last stage that was queued as a whole is done.
    stage_done: Event,
    first: Event,
    last: Event,
    /// Strips that were queued last, in turn.
    recent: Vec<Event>,
    queued: usize,
    next_slot: usize,
}

/// The rows of a block, packed as columns.
#[derive(Debug)]
struct Panel {
    words: DeviceSlice<u32>,
    /// It has been made here.
    ready: Event,
    /// It has gone to all other devices.
    sent: Event,
}

impl Worker {
    fn new(device: &Arc<dyn Device>, cut: &Cut, is_triangle: bool) -> Result<Self> {
        let (pool, arrays) = Pool::lay_out(device, |arena| cut.layout(arena))?;
        let strip = cut.bytes(cut.height);
        let slot = |index: u64| Slot::new(&**device, arrays.strips.part(index * strip, strip));
        let panel = |words| Ok::<_, crate::Error>(Panel { words, ready: device.event()?, sent: device.event()? });
        let [even, odd] = arrays.panels;
        Ok(Worker {
            products: Products::new(&**device, arrays.workspace, cut.side, is_triangle)?,
            slots: (0..cut.slots()).map(slot).collect::<Result<_>>()?,
            panels: [panel(even)?, panel(odd)?],
            stage_done: device.event()?,
            first: device.event()?,
            last: device.event()?,
            recent: (0..AHEAD).map(|_| device.event()).collect::<Result<_>>()?,
            queued: 0,
            next_slot: 0,
            pool,
        })
    }

    fn device(&self) -> &Arc<dyn Device> {
        self.pool.device()
    }

    /// The rows of a strip in a slot.
    fn rows(&self, cut: &Cut, strip: usize, slot: usize) -> Rows<'_> {
        let pitch = cut.side / 32;
        let (first, count) = cut.rows(strip);
        let words = self.slots[slot].cells.cast::<u32>().part(0, count * pitch);
        Rows { pool: &self.pool, words, pitch, first }
    }
}

/// A matrix of bits in strips.
struct Strips<'a> {
    workers: Vec<Worker>,
    /// Where each strip is when it is on no device.
    homes: Vec<Home>,
    cut: Cut,
    is_triangle: bool,
    vertices: usize,
    /// The bits of the graph.
    row: &'a RowOfBits<'a>,
    /// Bytes that have come to devices from the host, and gone from them to the host, for the work.
    to_devices: u64,
    from_devices: u64,
}

/// Computes the closure of a matrix of so many rows and columns, which may be a triangle.
pub(in crate::cuda::closure) fn close(
    devices: &[Arc<dyn Device>],
    task: &ClosureTask<'_>,
    cut: Cut,
    (vertices, is_triangle): (usize, bool),
    row: &RowOfBits<'_>,
) -> Result<Closed> {
    let start = Instant::now();
    let devices = &devices[..cut.devices as usize];
    // Memory may be less than when the cut was planned.
    cut.plan().check(available_memory())?;
    let mut strips = Strips::new(devices, cut, (vertices, is_triangle), row)?;
    let prepare = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let statistics = strips.solve(task)?;
    let solve = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let bits = ReachabilityBits::Matrix(strips.download()?);
    let seconds = [prepare, solve, start.elapsed().as_secs_f64()];
    Ok(Closed { bits, statistics, device_bytes: cut.device_bytes(), devices: devices.len(), seconds })
}

impl<'a> Strips<'a> {
    /// Takes what the cut needs on these devices, and fills the strips that stay there.
    fn new(
        devices: &[Arc<dyn Device>],
        cut: Cut,
        (vertices, is_triangle): (usize, bool),
        row: &'a RowOfBits<'a>,
    ) -> Result<Self> {
        let workers = devices.iter().map(|device| Worker::new(device, &cut, is_triangle));
        let workers = workers.collect::<Result<Vec<_>>>()?;
        let homes = (0..cut.strips()).map(|strip| Home::new(&*devices[strip % devices.len()]));
        let homes = homes.collect::<Result<_>>()?;
        let mut strips = Strips { workers, homes, cut, is_triangle, vertices, row, to_devices: 0, from_devices: 0 };
        if !cut.streamed {
            (0..cut.strips()).try_for_each(|strip| strips.fill(strip))?;
            strips.to_devices += cut.bytes(cut.side);
        }
        for worker in &strips.workers {
            for other in strips.workers.iter().filter(|other| !std::ptr::eq(worker, *other)) {
                let address = other.panels[0].words.address();
                // SAFETY: it is of no bytes.
                unsafe { worker.device().send(&**other.device(), address, address, 0)? };
            }
        }
        strips.wait()?;
        Ok(strips)
    }

    /// Which device a strip belongs to.
    fn owner(&self, strip: usize) -> usize {
        strip % self.workers.len()
    }

    /// Where a strip is that stays on its device.
    fn place(&self, strip: usize) -> usize {
        strip / self.workers.len()
    }

    fn fill(&self, strip: usize) -> Result<()> {
        let worker = &self.workers[self.owner(strip)];
        let Rows { words, pitch, first, .. } = worker.rows(&self.cut, strip, self.place(strip));
        let before = first as usize * pitch as usize;
        worker.pool.upload_with(words, words.length() as usize, |range, piece| {
            write_bits(before + range.start, piece, pitch as usize, self.vertices, self.row);
        })
    }

    /// Waits until no device has anything to do.
    fn wait(&self) -> Result<()> {
        self.workers.iter().try_for_each(|worker| worker.device().synchronize())
    }

    fn solve(&mut self, task: &ClosureTask<'_>) -> Result<Statistics> {
        let strips = self.cut.strips();
        self.workers.iter().try_for_each(|worker| worker.device().record(&worker.first))?;
        let slot = self.fetch(0)?;
        self.make_panel(0, slot)?;
        self.send_home(0, slot)?;
        for stage in 0..strips {
            self.stage(task, stage)?;
        }
        self.workers.iter().try_for_each(|worker| worker.device().record(&worker.last))?;
        self.wait()?;
        let seconds = |worker: &Worker| worker.device().seconds_between(&worker.first, &worker.last);
        let seconds = self.workers.iter().map(seconds).collect::<Result<Vec<_>>>()?;
        Ok(vec![
            ("device_nanoseconds", (seconds.into_iter().fold(0.0, f64::max) * 1e9) as u64),
            ("stages", strips as u64),
            ("devices", self.workers.len() as u64),
            ("bytes_to_device", self.to_devices),
            ("bytes_from_device", self.from_devices),
            ("strips_in_host_memory", if self.cut.streamed { strips as u64 } else { 0 }),
        ])
    }

    /// Queues a stage, whose panel was queued before, and the panel of the next one.
    fn stage(&mut self, task: &ClosureTask<'_>, stage: usize) -> Result<()> {
        let strips = self.cut.strips();
        let owner = self.owner(stage);
        for (index, worker) in self.workers.iter().enumerate() {
            if index != owner {
                worker.device().follow(Stream::Work, &self.workers[owner].panels[stage % 2].sent)?;
            }
        }
        // In a triangle no arc leads from a strip before.
        let beyond = if self.is_triangle { strips - stage } else { strips };
        for strip in (1..beyond).map(|beyond| (stage + beyond) % strips) {
            let worker = &self.workers[self.owner(strip)];
            worker.device().wait(&worker.recent[worker.queued % AHEAD])?;
            let slot = self.fetch(strip)?;
            self.pass_through(strip, slot, stage)?;
            if strip == stage + 1 {
                self.make_panel(strip, slot)?;
            }
            self.send_home(strip, slot)?;
            task.control.check()?;
        }
        self.workers.iter().try_for_each(|worker| worker.device().record(&worker.stage_done))?;
        task.control.progress("solve", stage as u64 + 1, strips as u64)
    }

    /// Has a strip be on its device before the work that is queued there next; returns in which slot.
    fn fetch(&mut self, strip: usize) -> Result<usize> {
        let owner = self.owner(strip);
        if !self.cut.streamed {
            return Ok(self.place(strip));
        }
        let (home, worker) = (&mut self.homes[strip], &mut self.workers[owner]);
        if home.cells.is_none() {
            let (pitch, (first, rows)) = ((self.cut.side / 32) as usize, self.cut.rows(strip));
            let (before, vertices, row) = (first as usize * pitch, self.vertices, self.row);
            let at_once = (WORDS / pitch).max(1) * pitch;
            let made = HostPart::new(worker.device(), STRIPS_ON_HOST, self.cut.bytes(rows), |cells| {
                parallel::for_each_chunk(cast_slice_mut::<u64, u32>(cells), at_once, |index, piece| {
                    write_bits(before + index * at_once, piece, pitch, vertices, row);
                });
                Ok(())
            });
            home.cells = Some(made?);
        }
        let slot = worker.next_slot;
        worker.next_slot = (slot + 1) % worker.slots.len();
        self.to_devices += worker.slots[slot].bring(&**worker.device(), home)?;
        Ok(slot)
    }

    /// Has a strip go back to the host, when all is done that was queued for it, if that is where it belongs.
    fn send_home(&mut self, strip: usize, slot: usize) -> Result<()> {
        if self.cut.streamed {
            let worker = &self.workers[self.owner(strip)];
            self.from_devices += worker.slots[slot].send_home(&**worker.device(), &mut self.homes[strip])?;
        }
        Ok(())
    }

    /// Queues what becomes of the strip in a slot by paths through the strip of a stage.
    fn pass_through(&mut self, strip: usize, slot: usize, stage: usize) -> Result<()> {
        let owner = self.owner(strip);
        let worker = &mut self.workers[owner];
        let (rows, right) = (worker.rows(&self.cut, strip, slot), worker.panels[stage % 2].words);
        worker.products.pass_through(&rows, self.cut.rows(strip), (0, 0), self.cut.rows(stage), right)?;
        worker.device().record(&worker.recent[worker.queued % AHEAD])?;
        worker.queued += 1;
        Ok(())
    }

    /// Queues what becomes of the strip in a slot by paths through itself, its panel, and that one's way to all other devices.
    fn make_panel(&self, strip: usize, slot: usize) -> Result<()> {
        let block = self.cut.rows(strip);
        let worker = &self.workers[self.owner(strip)];
        let (device, panel) = (worker.device(), &worker.panels[strip % 2]);
        // The panel of two stages ago may still be on its way.
        device.follow(Stream::Work, &panel.sent)?;
        worker.products.close_block(&worker.rows(&self.cut, strip, slot), block, panel.words)?;
        device.record(&panel.ready)?;
        device.follow(Stream::Peer, &panel.ready)?;
        let bytes = (worker.products.columns_of(block).1 * block.1 / 8) as usize;
        for other in self.workers.iter().filter(|other| !std::ptr::eq(worker, *other)) {
            // It may still work with the panel that is there, or send it.
            let there = &other.panels[strip % 2];
            device.follow(Stream::Peer, &other.stage_done)?;
            device.follow(Stream::Peer, &there.sent)?;
            // SAFETY: both have that many bytes; nobody uses the words there until `sent` has passed.
            unsafe { device.send(&**other.device(), there.words.address(), panel.words.address(), bytes)? };
        }
        device.record_in(Stream::Peer, &panel.sent)
    }

    /// Brings the matrix back.
    fn download(mut self) -> Result<BitMatrix> {
        let mut bits = BitMatrix::new(self.vertices, self.vertices)?;
        let (pitch, vertices) = ((self.cut.side / 32) as usize, self.vertices as u64);
        let mut left = bits.all_words_mut();
        let mut on_devices: Vec<Vec<_>> = self.workers.iter().map(|_| Vec::new()).collect();
        for strip in 0..self.cut.strips() {
            let (first, rows) = self.cut.rows(strip);
            let rows = vertices.saturating_sub(first).min(rows) as usize;
            let (to, others) = left.split_at_mut(rows * pitch);
            left = others;
            if self.cut.streamed {
                // Its memory goes as soon as it is copied.
                let home = self.homes[strip].cells.take();
                let from = home.as_ref().map_or(&[][..], HostPart::cells::<u32>);
                parallel::for_each_chunk(to, WORDS, |chunk, to| {
                    to.copy_from_slice(&from[chunk * WORDS..][..to.len()]);
                });
            } else {
                on_devices[self.owner(strip)].push((strip, to));
            }
        }
        let reads = self.workers.iter().enumerate().zip(on_devices).map(|((_, worker), strips)| {
            let (cut, count) = (&self.cut, self.workers.len());
            move || {
                strips.into_iter().try_for_each(|(strip, to)| {
                    let words = worker.rows(cut, strip, strip / count).words;
                    worker.pool.read_into(words.part(0, to.len() as u64), to)
                })
            }
        });
        at_once(reads.collect())?;
        Ok(bits)
    }
}

/// Words of a strip that a thread writes at least before it takes others.
const WORDS: usize = 1 << 16;

impl Drop for Strips<'_> {
    fn drop(&mut self) {
        // Whatever is on its way uses the memory of both sides. A device that failed uses nothing any more.
        for worker in &self.workers {
            let _ = worker.device().synchronize();
        }
    }
}
