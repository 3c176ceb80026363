//! The matrix in square pages in the host's memory, beyond the memory of a device and on several: sect. 4.4. The essay
//! is in [`super`].
//!
//! *Invariants.* The host's pages stay where they are, and pinned, until all devices are done with them. A page and its
//! place on a device have the same number of bytes. While a device has a page to change it, no other has it at all, and
//! nobody reads it on the host before all devices have come to the end of the pass.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytemuck::cast_slice_mut;
use rayon::prelude::*;

use super::super::matrix::{Range, write_row};
use super::super::{Cell, DenseTask, MinPlusOnDevice};
use super::cells::{Paired, with_paired};
use super::paging::{Arrays, Paging};
use super::program::{Page, Program, Role};
use crate::algorithms::Statistics;
use crate::cuda::device::host_part::HostPart;
use crate::cuda::device::memory::Pool;
use crate::cuda::device::{Device, Event, Stream};
use crate::cuda::matrix::Ended;
use crate::graph::{DistanceValue, VertexId};
use crate::{Error, Result, parallel};

/// A matrix in pages in the host's memory.
#[derive(Debug)]
pub(crate) struct Pages {
    workers: Vec<Worker>,
    /// Row by row.
    pages: Vec<HostPart>,
    paging: Paging,
    range: Range,
    /// How long it took to make the pages.
    making: Duration,
}

/// A device, and what it has for its pages.
#[derive(Debug)]
struct Worker {
    pool: Pool,
    program: Program,
    arrays: Arrays,
    first: Event,
    last: Event,
    /// The pages queued last are done, in turn.
    recent: [Event; 2],
    queued: usize,
    launches: u64,
    to_device: u64,
    from_device: u64,
}

/// Which of a device's places a page goes to.
#[derive(Debug, Clone, Copy)]
enum Place {
    Current,
    Column,
    Row,
}

impl Worker {
    fn new(device: &Arc<dyn Device>, paging: &Paging, task: &DenseTask<'_>) -> Result<Self> {
        let (pool, arrays) = Pool::lay_out(device, |arena| paging.layout(arena))?;
        pool.fill(arrays.stopped, 0)?;
        Ok(Worker {
            program: Program::of(&**device, paging.cell, task.parameters)?,
            arrays,
            first: device.event()?,
            last: device.event()?,
            recent: [device.event()?, device.event()?],
            queued: 0,
            launches: 0,
            to_device: 0,
            from_device: 0,
            pool,
        })
    }

    fn device(&self) -> &Arc<dyn Device> {
        self.pool.device()
    }

    /// Queues a page's way to the device.
    fn load(&mut self, page: &HostPart, place: Place) -> Result<()> {
        let to = self.arrays.pages[place as usize].address();
        // SAFETY: both have that many bytes, and nobody writes to the page before this pass has ended, but this stream.
        unsafe { self.device().upload(to, page.as_ptr(), page.bytes())? };
        self.to_device += page.bytes() as u64;
        Ok(())
    }

    /// Queues the way back of the page that may have changed.
    fn store(&mut self, page: &mut HostPart, place: Place) -> Result<()> {
        let from = self.arrays.pages[place as usize].address();
        let bytes = page.bytes();
        // SAFETY: both have that many bytes, and nobody uses the page before this pass has ended.
        unsafe { self.device().download_in(Stream::Work, page.as_mut_ptr(), from, bytes)? };
        self.from_device += bytes as u64;
        Ok(())
    }

    /// Queues all stages of a primary page on a page: `current`, with what it reads in these places.
    fn admit(&mut self, paging: &Paging, major: u64, role: Role, [current, column, row]: [Place; 3]) -> Result<()> {
        let of = |place: Place| self.arrays.pages[place as usize];
        let page = Page {
            role,
            current: of(current),
            column: of(column),
            row: of(row),
            pitch: paging.side,
            blocks: paging.blocks(),
            first: major * paging.side,
            stopped: self.arrays.stopped,
        };
        for stage in 0..paging.blocks() {
            self.launches += self.program.queue(&**self.pool.device(), &page, stage)?;
        }
        Ok(())
    }

    /// Has the host wait while a page is queued beside the one that the device is at.
    fn keep_pace(&mut self) -> Result<()> {
        self.device().wait(&self.recent[self.queued % 2])
    }

    /// Marks the end of a page.
    fn end_page(&mut self) -> Result<()> {
        self.device().record(&self.recent[self.queued % 2])?;
        self.queued += 1;
        Ok(())
    }
}

impl Pages {
    /// Makes the pages from the arcs, and takes what they need on these devices.
    pub(in crate::cuda::apsp) fn new(
        devices: &[Arc<dyn Device>],
        task: &DenseTask<'_>,
        paging: Paging,
        range: Range,
    ) -> Result<Self> {
        let devices = &devices[..devices.len().min(paging.devices as usize)];
        let workers = devices.iter().map(|device| Worker::new(device, &paging, task));
        let workers = workers.collect::<Result<Vec<_>>>()?;
        let start = Instant::now();
        let page = |index: u64| with_paired!(paging.cell, T => page_of_arcs::<T>(&devices[0], task, &paging, index));
        let pages = (0..paging.pages()).map(page).collect::<Result<Vec<_>>>()?;
        Ok(Pages { workers, pages, paging, range, making: start.elapsed() })
    }

    /// How many devices it is on.
    pub(in crate::cuda::apsp) fn devices(&self) -> usize {
        self.workers.len()
    }

    /// Waits until no device has anything to do.
    fn wait(&self) -> Result<()> {
        self.workers.iter().try_for_each(|worker| worker.device().synchronize())
    }

    /// Admits all vertices.
    pub(in crate::cuda::apsp) fn solve(&mut self, task: &DenseTask<'_>) -> Result<(Ended, Statistics)> {
        let across = self.paging.across;
        for worker in &self.workers {
            worker.device().record(&worker.first)?;
        }
        for major in 0..across {
            self.first_pass(major)?;
            let worker = &self.workers[0];
            if task.graph.has_negative_weights() && Ended::by(&worker.pool, worker.arrays.stopped)? != Ended::Complete {
                return Ok((Ended::NegativeCycle, Vec::new()));
            }
            self.second_pass(task, major)?;
            self.third_pass(task, major)?;
            task.control.progress("solve", major + 1, across)?;
        }
        for worker in &self.workers {
            worker.device().record(&worker.last)?;
        }
        self.wait()?;
        let seconds = |worker: &Worker| worker.device().seconds_between(&worker.first, &worker.last);
        let seconds = self.workers.iter().map(seconds).collect::<Result<Vec<_>>>()?;
        let sum = |count: fn(&Worker) -> u64| self.workers.iter().map(count).sum();
        let statistics = vec![
            ("device_nanoseconds", (seconds.into_iter().fold(0.0, f64::max) * 1e9) as u64),
            ("stages", across * u64::from(self.paging.blocks())),
            ("kernel_launches", sum(|worker| worker.launches)),
            ("devices", self.workers.len() as u64),
            ("pages", self.paging.pages()),
            ("rows_of_a_page", self.paging.side),
            ("host_nanoseconds_for_pages", self.making.as_nanos() as u64),
            ("bytes_to_device", sum(|worker| worker.to_device)),
            ("bytes_from_device", sum(|worker| worker.from_device)),
        ];
        Ok((Ended::Complete, statistics))
    }

    /// Where a page is in the list.
    fn index(&self, row: u64, column: u64) -> usize {
        (row * self.paging.across + column) as usize
    }

    /// The primary page, on every device, so that all have it for the second pass. The first one returns it.
    fn first_pass(&mut self, major: u64) -> Result<()> {
        let primary = self.index(major, major);
        for worker in &mut self.workers {
            worker.load(&self.pages[primary], Place::Row)?;
            worker.admit(&self.paging, major, Role::Primary, [Place::Row; 3])?;
        }
        self.wait()?;
        self.workers[0].store(&mut self.pages[primary], Place::Row)?;
        self.wait()
    }

    /// The pages beside, above and below the primary page, split among the devices, which have that one.
    fn second_pass(&mut self, task: &DenseTask<'_>, major: u64) -> Result<()> {
        let others = (0..self.paging.across).filter(|&other| other != major);
        let pages: Vec<_> = others
            .clone()
            .map(|other| (Role::InRow, self.index(major, other)))
            .chain(others.map(|other| (Role::InColumn, self.index(other, major))))
            .collect();
        let devices = self.workers.len();
        for (turn, (role, page)) in pages.into_iter().enumerate() {
            let worker = &mut self.workers[turn % devices];
            worker.keep_pace()?;
            worker.load(&self.pages[page], Place::Current)?;
            let places = match role {
                Role::InRow => [Place::Current, Place::Row, Place::Current],
                _ => [Place::Current, Place::Current, Place::Row],
            };
            worker.admit(&self.paging, major, role, places)?;
            worker.store(&mut self.pages[page], Place::Current)?;
            worker.end_page()?;
            task.control.check()?;
        }
        self.wait()
    }

    /// All other pages, split among the devices, each with the page of its row and that of its column, whether or not
    /// these are there already.
    fn third_pass(&mut self, task: &DenseTask<'_>, major: u64) -> Result<()> {
        let others = || (0..self.paging.across).filter(|&other| other != major);
        let pages: Vec<_> = others().flat_map(|row| others().map(move |column| (row, column))).collect();
        let devices = self.workers.len();
        for (turn, (row, column)) in pages.into_iter().enumerate() {
            let (page, in_column, in_row) =
                (self.index(row, column), self.index(row, major), self.index(major, column));
            let worker = &mut self.workers[turn % devices];
            worker.keep_pace()?;
            worker.load(&self.pages[page], Place::Current)?;
            worker.load(&self.pages[in_column], Place::Column)?;
            worker.load(&self.pages[in_row], Place::Row)?;
            worker.admit(&self.paging, major, Role::Elsewhere, [Place::Current, Place::Column, Place::Row])?;
            worker.store(&mut self.pages[page], Place::Current)?;
            worker.end_page()?;
            task.control.check()?;
        }
        self.wait()
    }

    /// Whether the cells were wide enough: see [`super::super`].
    pub(in crate::cuda::apsp) fn is_in_range(&self) -> bool {
        let greatest = with_paired!(self.paging.cell, T => self.greatest::<T>());
        self.range.has_room(self.paging.cell, greatest)
    }

    /// Rows from `first` on, as many as `to` has room for, as distances of the semiring that the matrix was made for.
    pub(in crate::cuda::apsp) fn read_rows<L: MinPlusOnDevice>(
        &self,
        first: u64,
        to: &mut [L::Distance],
    ) -> Result<()> {
        with_paired!(self.paging.cell, T => self.read_rows_of::<T, L>(first, to))
    }

    fn read_rows_of<T: Paired, L: MinPlusOnDevice>(&self, first: u64, to: &mut [L::Distance]) -> Result<()> {
        let threshold = self.range.threshold;
        self.read::<T, _>(first, to, |cell| {
            T::distance_in(cell).distance::<L>(threshold).unwrap_or(L::Distance::UNREACHABLE)
        })
    }

    /// The key of the greatest distance.
    fn greatest<T: Paired>(&self) -> u64 {
        let threshold = self.range.threshold;
        let of_page = |page: &HostPart| {
            let cells = page.cells::<[T::Word; 2]>().par_iter();
            cells.map(|&cell| T::distance_in(cell).key(threshold)).max().unwrap_or(0)
        };
        self.pages.iter().map(of_page).max().unwrap_or(0)
    }

    /// The intermediate vertex of every pair, row by row.
    pub(in crate::cuda::apsp) fn read_intermediates(&self, to: &mut [VertexId]) -> Result<()> {
        with_paired!(self.paging.cell, T => self.read::<T, _>(0, to, T::vertex_in))
    }

    /// What `value` makes of the cells of rows from `first` on.
    fn read<T: Paired, V: Send>(
        &self,
        first: u64,
        to: &mut [V],
        value: impl Fn([T::Word; 2]) -> V + Sync,
    ) -> Result<()> {
        let Paging { vertices, side, across, .. } = self.paging;
        let row_length = vertices as usize;
        if first * vertices + to.len() as u64 > vertices * vertices {
            return Err(Error::invalid("rows beyond the end of a matrix"));
        }
        parallel::for_each_chunk(to, row_length, |index, to| {
            let row = first + index as u64;
            let within = (row % side * side) as usize;
            for (column, to) in (0..across).zip(to.chunks_mut(side as usize)) {
                let page = self.pages[self.index(row / side, column)].cells::<[T::Word; 2]>();
                to.iter_mut().zip(&page[within..]).for_each(|(to, &cell)| *to = value(cell));
            }
        });
        Ok(())
    }
}

/// A page with the lengths of arcs, and no intermediate vertices.
fn page_of_arcs<T: Paired>(
    device: &Arc<dyn Device>,
    task: &DenseTask<'_>,
    paging: &Paging,
    index: u64,
) -> Result<HostPart> {
    let (row, column) = (index / paging.across * paging.side, index % paging.across * paging.side);
    let side = paging.side as usize;
    HostPart::new(device, "a page of the matrix", paging.page_bytes(), |words| {
        let cells = cast_slice_mut::<u64, [T::Word; 2]>(words);
        let prepare = || vec![T::INFINITY; side];
        parallel::for_each_chunk_with(cells, side, prepare, |lengths, index, cells| {
            lengths.fill(T::INFINITY);
            write_row(task, row as usize + index, column as usize, lengths);
            cells.iter_mut().zip(&*lengths).for_each(|(cell, length)| *cell = length.without_vertex());
        });
        Ok(())
    })
}

impl Drop for Pages {
    fn drop(&mut self) {
        // Whatever is on its way to and from the host uses its memory. A device that failed uses nothing any more.
        for worker in &self.workers {
            let _ = worker.device().synchronize();
        }
    }
}
