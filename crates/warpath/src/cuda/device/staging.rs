//! How large arrays travel between host and device: through pieces of pinned memory, several threads at once.
//!
//! The copy engine reads and writes pinned memory at the full rate of the bus, 55 GB/s where ordinary memory gets 11 at
//! best. One thread fills or empties a piece at some 10 GB/s, and less where fresh memory has to be handed over by the
//! system meanwhile. So there are a few *workers*, each a thread with a piece of its own: it takes the next part of the
//! array, waits until its piece is free, fills it and has it copied, or the other way round. While the copy engine is
//! busy with the piece of one worker, the others fill theirs; an event of the worker tells when its piece may be used again.
//!
//! The threads last as long as a transfer. They are none of rayon's: who waits for those may be given other work
//! meanwhile, which may want the same pieces. Small transfers take a piece too, without any threads: they return at
//! once, since the piece is a copy, and they don't care what memory their caller has.
//!
//! The pieces are made when the device is opened, and not when they are first used: pinning 16 MiB takes milliseconds,
//! which nobody notices beside those 300 that opening takes, and which would count when a graph is made ready.
//!
//! *Invariants.* A piece of pinned memory belongs to one worker, of which one thread at a time has hold; it is used again
//! only after the event that was recorded behind its last copy has passed.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use bytemuck::Pod;

use super::{Device, Event, Stream};
use crate::Result;

/// The workers of a device. Their pieces go when the device does.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    workers: Mutex<Vec<Worker>>,
    piece_bytes: usize,
    /// At most this many workers are used at once.
    threads: usize,
}

/// A piece of pinned memory, and the event that tells when the copy from it or to it is done.
#[derive(Debug)]
struct Worker {
    piece: *mut u8,
    done: Event,
}

// SAFETY: nobody else has the address of its piece.
unsafe impl Send for Worker {}

impl Staging {
    /// This many workers with pieces of this many bytes, on a device that is to keep them.
    pub(crate) fn new(device: &dyn Device, workers: usize, piece_bytes: usize) -> Result<Self> {
        let worker = |_| {
            let piece = device.allocate_pinned(piece_bytes)?;
            // SAFETY: that many bytes were just allocated.
            unsafe { piece.write_bytes(0, piece_bytes) };
            Ok(Worker { piece, done: device.event()? })
        };
        Ok(Staging {
            workers: Mutex::new((0..workers).map(worker).collect::<Result<_>>()?),
            piece_bytes,
            threads: workers,
        })
    }

    /// Sets how many threads copy at once, the caller's included.
    #[cfg(feature = "cuda")]
    pub(crate) fn limit_threads(&mut self, threads: usize) {
        self.threads = threads.clamp(1, self.threads);
    }

    /// Fills device memory with `count` values that `write` is asked for range by range; returns when it will not be
    /// asked any more. The copies come in stream order.
    ///
    /// # Safety
    ///
    /// `to` is device memory for that many values.
    pub(crate) unsafe fn upload<T: Pod>(
        &self,
        device: &dyn Device,
        to: u64,
        count: usize,
        write: &(impl Fn(Range<usize>, &mut [T]) + Sync),
    ) -> Result<()> {
        let mut workers = self.lock();
        let length = self.part::<T>(count);
        let mut parts = (0..count).step_by(length).map(|start| start..count.min(start + length));
        share(&mut workers[..self.most_workers(count, length)], &mut parts, &|worker, range| {
            device.wait(&worker.done)?;
            // SAFETY: the piece has room for a part, is initialized and aligned for anything, and no copy uses it.
            let piece = unsafe { std::slice::from_raw_parts_mut(worker.piece.cast::<T>(), range.len()) };
            write(range.clone(), piece);
            let to = to + (range.start * size_of::<T>()) as u64;
            // SAFETY: the piece stays as it is until the event passes; the rest is the caller's promise.
            unsafe { device.upload(to, worker.piece, size_of_val(piece))? };
            device.record(&worker.done)
        })
    }

    /// Copies from device memory; returns when all values are there.
    ///
    /// # Safety
    ///
    /// `from` is device memory for that many values. In another stream than that for work they have been written already,
    /// and nobody writes to them meanwhile.
    pub(crate) unsafe fn download<T: Pod + Send>(
        &self,
        device: &dyn Device,
        to: &mut [MaybeUninit<T>],
        from: u64,
        stream: Stream,
    ) -> Result<()> {
        let mut workers = self.lock();
        let length = self.part::<T>(to.len());
        let most_workers = self.most_workers(to.len(), length);
        share(&mut workers[..most_workers], &mut to.chunks_mut(length).enumerate(), &|worker, (index, part)| {
            let from = from + (index * length * size_of::<T>()) as u64;
            device.wait(&worker.done)?;
            // SAFETY: the piece has room for a part, and nobody uses it until the event passes; the rest is the caller's
            // promise.
            unsafe { device.download_in(stream, worker.piece, from, size_of_val(part))? };
            device.record_in(stream, &worker.done)?;
            device.wait(&worker.done)?;
            // SAFETY: both have that many bytes, and any bytes are values of a `Pod` type.
            unsafe { part.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(worker.piece, size_of_val(part)) };
            Ok(())
        })
    }

    /// Copies rows of `row` values from device memory, where they begin `pitch` values apart, and has `take` turn them into those of `to`: a row at a
    /// time, or a part of one. Returns when all are there.
    ///
    /// # Safety
    ///
    /// As of [`Staging::download`], for all values from the first one to the last.
    pub(crate) unsafe fn download_rows<T: Pod, U: Send>(
        &self,
        device: &dyn Device,
        to: &mut [U],
        [row, pitch]: [usize; 2],
        from: u64,
        take: &(impl Fn(&[T], &mut [U]) + Sync),
    ) -> Result<()> {
        assert!(0 < row && row <= pitch, "rows do not overlap");
        let mut workers = self.lock();
        let most = self.piece_bytes / size_of::<T>();
        // Whole rows, or a row in parts where a piece has no room for one.
        let rows = (most / pitch).min(to.len().div_ceil(row).div_ceil(self.threads)).max(1);
        let length = if pitch <= most { rows * row } else { row.min(most) };
        let count = to.len().div_ceil(rows * row).saturating_mul((rows * row).div_ceil(length));
        let mut parts = to.chunks_mut(rows * row).enumerate().flat_map(|(index, some)| {
            let parts = some.chunks_mut(length).enumerate();
            parts.map(move |(part, to)| (index * rows * pitch + part * length, to))
        });
        share(&mut workers[..count.clamp(1, self.threads)], &mut parts, &|worker, (first, part)| {
            let before_last = (part.len() - 1) / row;
            let count = before_last * pitch + part.len() - before_last * row;
            let from = from + (first * size_of::<T>()) as u64;
            device.wait(&worker.done)?;
            // SAFETY: the piece has room for a part, and nobody uses it until the event passes; the rest is the caller's promise.
            unsafe { device.download_in(Stream::Work, worker.piece, from, count * size_of::<T>())? };
            device.record_in(Stream::Work, &worker.done)?;
            device.wait(&worker.done)?;
            // SAFETY: that many values were copied to the piece, which is aligned for anything.
            let values = unsafe { std::slice::from_raw_parts(worker.piece.cast::<T>(), count) };
            part.chunks_mut(row).zip(values.chunks(pitch)).for_each(|(to, values)| take(&values[..to.len()], to));
            Ok(())
        })
    }

    /// The workers, in turn: small transfers that follow each other don't wait for the same piece.
    fn lock(&self) -> MutexGuard<'_, Vec<Worker>> {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(!workers.is_empty(), "a device has workers");
        workers.rotate_left(1);
        workers
    }

    /// How many values are copied at a time: a piece, or less if all workers get something to do by that.
    fn part<T>(&self, count: usize) -> usize {
        assert!((1..=self.piece_bytes).contains(&size_of::<T>()), "a piece holds a value");
        let most = self.piece_bytes / size_of::<T>();
        count.div_ceil(self.threads).clamp(most.div_ceil(4), most)
    }

    /// How many workers have something to do.
    fn most_workers(&self, count: usize, length: usize) -> usize {
        count.div_ceil(length).clamp(1, self.threads)
    }
}

/// Has the workers do the parts, each the next one when it has done one; the first error, if there was any.
fn share<P: Send>(
    workers: &mut [Worker],
    parts: &mut (dyn Iterator<Item = P> + Send),
    work: &(dyn Fn(&mut Worker, P) -> Result<()> + Sync),
) -> Result<()> {
    let parts = Mutex::new(parts);
    let run = |worker: &mut Worker| {
        loop {
            let part = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            match part {
                Some(part) => work(worker, part)?,
                None => return Ok(()),
            }
        }
    };
    let Some((mine, others)) = workers.split_first_mut() else { return Ok(()) };
    thread::scope(|scope| {
        // Where the system gives no thread, there is one worker less.
        let spawn = |worker| thread::Builder::new().spawn_scoped(scope, || run(worker)).ok();
        let others: Vec<_> = others.iter_mut().filter_map(spawn).collect();
        let outcome = run(mine);
        others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .fold(outcome, Result::and)
    })
}

#[cfg(all(test, emulator))]
mod tests {
    use std::sync::Arc;

    use super::super::emulator::Emulator;
    use super::super::memory::Pool;
    use super::super::slice::room;
    use super::*;
    use crate::testing::Random;

    /// Values, of which pieces of the emulator hold a few, come back as they went, whatever is in flight.
    #[test]
    fn what_went_there_comes_back() {
        let device: Arc<dyn Device> = Arc::new(Emulator::new(1));
        let mut random = Random(1);
        for length in [0, 1, 85, 86, 255, 256, 257, 1000, 20_000] {
            let values: Vec<u32> = (0..length).map(|_| random.below(1 << 32) as u32).collect();
            let mut pool = Pool::new(&device, 2 * room::<u32>(length) + room::<[u32; 3]>(length)).unwrap();
            let there = pool.take_filled(&values).unwrap();
            let triples = pool.take::<[u32; 3]>(length).unwrap();
            let wanted = |index: usize| [index as u32, 7, values[index]];
            let write = |range: Range<usize>, piece: &mut [[u32; 3]]| {
                range.zip(piece).for_each(|(index, triple)| *triple = wanted(index));
            };
            pool.upload_with(triples, length as usize, write).unwrap();
            let doubled = pool.take_filled(&values.iter().map(|value| value / 2).collect::<Vec<_>>()).unwrap();
            assert_eq!(pool.read(triples).unwrap(), (0..length as usize).map(wanted).collect::<Vec<_>>());
            assert_eq!(pool.read(there).unwrap(), values);
            assert!(pool.read(doubled).unwrap().iter().zip(&values).all(|(half, value)| *half == value / 2));
            if length >= 256 {
                let few: [u32; 3] = pool.read_array(there.part(250, 3)).unwrap();
                assert_eq!(few, values[250..253]);
            }
        }
    }

    /// Rows whose beginnings are farther apart than they are long, of which a piece of the emulator holds some, one, or a part.
    #[test]
    fn rows_come_back_without_what_is_between_them() {
        let device: Arc<dyn Device> = Arc::new(Emulator::new(1));
        for [rows, row, pitch] in
            [[1, 1, 1], [1, 7, 9], [40, 3, 4], [9, 50, 64], [5, 85, 85], [6, 100, 128], [3, 1000, 1003]]
        {
            let cells: Vec<u32> = (0..rows * pitch).map(|cell| cell as u32 * 3).collect();
            let mut pool = Pool::new(&device, room::<u32>(cells.len() as u64)).unwrap();
            let there = pool.take_filled(&cells).unwrap();
            for some in [1, rows] {
                let mut to = vec![0_u64; some * row];
                let slice = there.part(((rows - some) * pitch) as u64, (some * pitch) as u64);
                let take = |cells: &[u32], to: &mut [u64]| {
                    assert_eq!(cells.len(), to.len());
                    to.iter_mut().zip(cells).for_each(|(to, &cell)| *to = u64::from(cell) + 1);
                };
                pool.read_rows(slice, [row, pitch], &mut to, &take).unwrap();
                let wanted = cells[(rows - some) * pitch..].chunks(pitch).flat_map(|cells| &cells[..row]);
                assert!(
                    to.iter().copied().eq(wanted.map(|&cell| u64::from(cell) + 1)),
                    "{rows} rows of {row}, {pitch}"
                );
            }
        }
    }

    #[test]
    fn threads_may_transfer_at_once() {
        let device: Arc<dyn Device> = Arc::new(Emulator::new(2));
        thread::scope(|scope| {
            for thread in 0..4_u64 {
                let device = &device;
                scope.spawn(move || {
                    let values: Vec<u64> = (0..3000).map(|index| index << 8 | thread).collect();
                    let mut pool = Pool::new(device, room::<u64>(3000)).unwrap();
                    let there = pool.take_filled(&values).unwrap();
                    (0..5).for_each(|_| assert_eq!(pool.read(there).unwrap(), values));
                });
            }
        });
    }
}
