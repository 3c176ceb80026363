//! Breadth-first search in one part of a graph, level by level, in both directions.
//!
//! *Expanding*: the arcs of the frontier are relaxed. An owned head without a level gets one, and is claimed by one thread; a hub is marked
//! in a set of bits; so is a ghost, and those that are new are posted. *Looking up*: every owned vertex without a level looks for a neighbor in
//! the frontier, which is a set of bits by then, and stops at the first; a lane looks at four arcs alone, then the warp helps. The arcs
//! of hubs are shared out among all warps. The frontier is two queues, of short rows and of pieces of long ones, as in
//! `direction-optimizing`.
//!
//! Every step is a launch or two; the host waits for the lengths of the outboxes, for the messages, and for the size of the frontier. Work of
//! a level: the arcs of the frontier, or at worst those of all vertices without a level.
//!
//! Sources: Buluç and Madduri 2011, "Parallel breadth-first search on distributed memory systems", sect. 3.1; Beamer et al. 2013,
//! "Distributed memory breadth-first search revisited"; hubs as in Pearce et al. 2014.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that they expect. All
//! arrays are taken from one pool of device memory, which lives as long as what is prepared here; the numbers in them were checked, those
//! of the rows when they came here, and those of messages before they are copied, or by the kernel if they come from another device.

use std::sync::Arc;

use super::link::{Announced, PartLink};
use super::mail::{Mailbox, PartMail, ends_of};
use super::{PartDevice, PartExtent, PartRows, check_numbers, everywhere};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, kernel_header};
use crate::graph::NO_VERTEX;
use crate::plan::Plan;
use crate::{Error, Result};

kernel_header! {
    path: "bfs/part";
    namespace: bfs_part;
    /// The size of a frontier.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    struct Frontier {
        /// How many arcs leave its vertices.
        arcs: u64,
        /// How many owned vertices it has.
        vertices: u64,
        /// How many vertices the queue of short rows has.
        short_rows: u32,
        /// How many pieces the queue of long rows has.
        pieces: u32,
    }

    /// The argument.
    struct KernelArgument {
        offsets: DevicePtr<u64>,
        heads: DevicePtr<u32>,
        /// Of vertices with rows.
        levels: DeviceMutPtr<u32>,
        /// Queues of vertices: of the frontier, and of the next.
        short_rows: DevicePtr<u32>,
        next_short_rows: DeviceMutPtr<u32>,
        /// Queues of vertices and pieces.
        long_rows: DevicePtr<[u32; 2]>,
        next_long_rows: DeviceMutPtr<[u32; 2]>,
        /// The sizes of both.
        now: DevicePtr<Frontier>,
        next: DeviceMutPtr<Frontier>,
        /// Bits of the hubs that are found in a level.
        found_hubs: DeviceMutPtr<u32>,
        /// Bits of the ghosts that arcs of a frontier lead to,
        met_ghosts: DeviceMutPtr<u32>,
        /// and of those that were posted, or were in the frontier.
        known_ghosts: DeviceMutPtr<u32>,
        /// Bits of the vertices with rows that are in the frontier,
        frontier: DeviceMutPtr<u32>,
        /// and of the ghosts.
        ghosts_in_frontier: DevicePtr<u32>,
        rows: u32,
        owned: u32,
        /// Of the frontier.
        level: u32,
    }
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    offsets: DeviceSlice<u64>,
    heads: DeviceSlice<u32>,
    levels: DeviceSlice<u32>,
    short_rows: [DeviceSlice<u32>; 2],
    long_rows: [DeviceSlice<[u32; 2]>; 2],
    frontiers: DeviceSlice<Frontier>,
    found_hubs: DeviceSlice<u32>,
    met_ghosts: DeviceSlice<u32>,
    known_ghosts: DeviceSlice<u32>,
    frontier: DeviceSlice<u32>,
    ghosts_in_frontier: DeviceSlice<u32>,
    /// The subscribers of all parts, each part's from a multiple of 32 on, and room for their bits.
    subscribers: DeviceSlice<u32>,
    told: DeviceSlice<u32>,
    mail: Mailbox,
}

fn layout(arena: &mut Arena<'_>, extent: PartExtent) -> Arrays {
    let rows = extent.rows();
    // Each part may leave a word that is not full.
    let words_told = (extent.subscriptions / 32).saturating_add(extent.parts);
    Arrays {
        offsets: arena.take("offsets of the rows", rows.saturating_add(1)),
        heads: arena.take("heads of the arcs", extent.arcs),
        levels: arena.take("levels", rows),
        short_rows: arena.take_two(["queue of short rows", "next queue of short rows"], rows),
        long_rows: arena.take_two(["queue of long rows", "next queue of long rows"], extent.most_pieces()),
        frontiers: arena.take("sizes of frontiers", 2),
        // Even numbers of words, since the host has words of 64 bits.
        found_hubs: arena.take("hubs found", extent.hubs.div_ceil(64) * 2),
        met_ghosts: arena.take("vertices of other parts met", extent.ghosts.div_ceil(32)),
        known_ghosts: arena.take("known vertices of other parts", extent.ghosts.div_ceil(32)),
        frontier: arena.take("frontier as bits", rows.div_ceil(32)),
        ghosts_in_frontier: arena.take("frontier in other parts", extent.ghosts.div_ceil(32)),
        subscribers: arena.take("vertices that other parts know", words_told.saturating_mul(32)),
        told: arena.take("what other parts are told", words_told),
        mail: Mailbox::layout(arena, extent, 1),
    }
}

/// The kernels, and how many threads they have.
#[derive(Debug, Clone, Copy)]
struct Kernels {
    expand: Function,
    post: Function,
    pack: Function,
    receive: Function,
    receive_hubs: Function,
    tell: Function,
    join: Function,
    mark: Function,
    look_up: Function,
    shape: LaunchShape,
}

/// A part of a graph on a GPU, for breadth-first searches.
#[derive(Debug)]
pub struct BfsPart {
    pool: Pool,
    arrays: Arrays,
    /// Of the frontier.
    level: u32,
    kernels: Kernels,
    extent: PartExtent,
    own_hubs: std::ops::Range<usize>,
    /// Where the bits for each part begin in what is told, in words, and where the last ones end.
    told_starts: Vec<usize>,
    /// Where the ghosts of each part begin, and where the last ones end.
    ghost_starts: Vec<u32>,
    /// How many hubs are in the frontier that this part answers for.
    hubs_in_frontier: u64,
}

impl BfsPart {
    /// What a part of this size takes on a device.
    pub fn plan(extent: PartExtent) -> Plan {
        plan_of(|arena| layout(arena, extent))
    }

    /// Copies a part to a GPU.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`], [`Error::OutOfMemory`], and [`Error::InvalidRequest`] if a number of the rows is out of its range.
    pub fn open(device: PartDevice, rows: &PartRows<'_>) -> Result<Self> {
        Self::on(&device.open()?, rows)
    }

    pub(super) fn on(device: &Arc<dyn Device>, rows: &PartRows<'_>) -> Result<Self> {
        rows.check()?;
        let extent = rows.extent();
        let function = |name: &str| device.function(&images::BFS_PART, name);
        let expand = function("bfs_part_expand")?;
        let kernels = Kernels {
            expand,
            post: function("bfs_part_post")?,
            pack: function("bfs_part_pack")?,
            receive: function("bfs_part_receive")?,
            receive_hubs: function("bfs_part_receive_hubs")?,
            tell: function("bfs_part_tell")?,
            join: function("bfs_part_join")?,
            mark: function("bfs_part_mark")?,
            look_up: function("bfs_part_look_up")?,
            shape: everywhere(&**device, expand)?,
        };
        let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, extent))?;
        pool.upload(arrays.offsets, rows.offsets)?;
        pool.upload(arrays.heads, rows.heads)?;
        arrays.mail.fill(&pool, rows)?;
        let mut told_starts = vec![0];
        pool.fill(arrays.subscribers, NO_VERTEX)?;
        for subscribers in &rows.subscribers {
            let start = told_starts[told_starts.len() - 1];
            pool.upload(arrays.subscribers.part(start as u64 * 32, subscribers.len() as u64), subscribers)?;
            told_starts.push(start + subscribers.len().div_ceil(32));
        }
        device.synchronize()?;
        let own_hubs = rows.own_hubs.clone();
        let ghost_starts = ends_of(rows.ghosts.iter().map(Vec::len));
        Ok(BfsPart {
            pool,
            arrays,
            level: 0,
            kernels,
            extent,
            own_hubs,
            told_starts,
            ghost_starts,
            hubs_in_frontier: 0,
        })
    }

    /// The bytes of the device that its arrays take.
    #[cfg(test)]
    pub(super) fn device_bytes(&self) -> u64 {
        self.pool.used()
    }

    /// Begins a search from these vertices with rows, which are level 0; hubs among them are those of all parts.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if a number is none of a row; errors of the device.
    pub fn start(&mut self, sources: &[u32]) -> Result<()> {
        check_numbers(sources.iter().copied(), self.extent.rows() as usize)?;
        let (pool, arrays) = (&self.pool, &self.arrays);
        pool.fill(arrays.levels, u32::MAX)?;
        pool.fill(arrays.found_hubs, 0)?;
        pool.fill(arrays.met_ghosts, 0)?;
        pool.fill(arrays.known_ghosts, 0)?;
        pool.fill(arrays.frontiers, 0)?;
        // The next level is 0.
        self.level = u32::MAX;
        self.take_in(sources)?;
        let own = self.own_hubs.start + self.extent.owned as usize..self.own_hubs.end + self.extent.owned as usize;
        let mut hubs: Vec<u32> = sources.iter().copied().filter(|&source| own.contains(&(source as usize))).collect();
        hubs.sort_unstable();
        hubs.dedup();
        self.hubs_in_frontier = hubs.len() as u64;
        self.level = 0;
        Ok(())
    }

    /// How many vertices the frontier has, each hub in one part, and how many arcs of this part leave them.
    ///
    /// # Errors
    ///
    /// Errors of the device.
    pub fn frontier(&self) -> Result<(u64, u64)> {
        let Frontier { vertices, arcs, .. } = self.frontier_on_device()?;
        Ok((vertices + self.hubs_in_frontier, arcs))
    }

    fn frontier_on_device(&self) -> Result<Frontier> {
        let now = u64::from(self.level % 2);
        let [frontier] = self.pool.read_array(self.arrays.frontiers.part(now, 1))?;
        Ok(frontier)
    }

    /// Expands the frontier; fills `mail` with the numbers of the ghosts that were met for the first time.
    ///
    /// # Errors
    ///
    /// Errors of the device, and [`Error::OutOfMemory`].
    pub fn expand(&mut self, mail: &mut PartMail) -> Result<()> {
        let packed = self.expand_and_pack()?;
        self.arrays.mail.read(&self.pool, packed, mail)
    }

    fn expand_and_pack(&self) -> Result<Vec<usize>> {
        self.clear_next()?;
        self.launch(self.kernels.expand, arguments![self.argument()])?;
        let (argument, ghosts) = (self.arrays.mail.argument(), self.extent.ghosts as u32);
        let post = || self.launch(self.kernels.post, arguments![argument, self.argument(), ghosts]);
        let pack = |count| self.launch(self.kernels.pack, arguments![argument, count]);
        self.arrays.mail.pack(&self.pool, post, pack)
    }

    /// Expands the frontier, and leaves these numbers on the device; what has to be announced to each part.
    ///
    /// # Errors
    ///
    /// Errors of the device.
    pub fn expand_packed(&mut self) -> Result<Vec<Announced>> {
        Ok(self.arrays.mail.announce(self.expand_and_pack()?))
    }

    /// Sends what was packed from device to device, and takes in the vertices that other parts met, which do the same. `announced` has what this part
    /// announced to each, and what each announced to this one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if there is no announcement for each part; errors of the device and of what carries.
    pub fn exchange_met(&mut self, link: &PartLink, announced: [&[Announced]; 2]) -> Result<()> {
        self.arrays.mail.exchange(&self.pool, link, announced, |words, count| {
            self.launch(self.kernels.receive, arguments![self.argument(), words, count])
        })
    }

    /// Takes in owned vertices that other parts met: those without a level are in the next frontier.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if a number is none of an owned vertex; errors of the device.
    pub fn receive(&mut self, vertices: &[u32]) -> Result<()> {
        check_numbers(vertices.iter().copied(), self.extent.owned as usize)?;
        self.take_in(vertices)
    }

    fn take_in(&self, vertices: &[u32]) -> Result<()> {
        let Mailbox { words, .. } = self.arrays.mail;
        self.arrays.mail.deliver(&self.pool, vertices, |count| {
            self.launch(self.kernels.receive, arguments![self.argument(), words, count])
        })
    }

    /// Fills `mail` with a bit for each subscriber of each part, whether it is in the frontier: 32 in a word, the lowest bit first.
    ///
    /// # Errors
    ///
    /// Errors of the device, and [`Error::OutOfMemory`].
    pub fn tell_frontier(&mut self, mail: &mut PartMail) -> Result<()> {
        let room = mail.make_room(self.told_starts.windows(2).map(|pair| pair[1] - pair[0]))?;
        self.tell()?;
        match room.len() as u64 {
            0 => Ok(()),
            words => self.pool.read_into(self.arrays.told.part(0, words), room),
        }
    }

    fn tell(&self) -> Result<()> {
        let Arrays { subscribers, told, .. } = self.arrays;
        match self.told_starts[self.told_starts.len() - 1] {
            0 => Ok(()),
            words => {
                let count = (words * 32) as u32;
                self.launch(self.kernels.tell, arguments![self.argument(), subscribers, told, count])
            }
        }
    }

    /// Finds the next level from the vertices without one. `ghosts` has a bit for each ghost, whether it is in the frontier.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if there is not a bit for each ghost; errors of the device.
    pub fn look_up(&mut self, ghosts: &[u32]) -> Result<()> {
        if ghosts.len() as u64 != self.arrays.ghosts_in_frontier.length() {
            return Err(Error::invalid("the frontier in other parts is a bit for each of their vertices"));
        }
        self.pool.upload(self.arrays.ghosts_in_frontier, ghosts)?;
        self.look_up_from_ghosts()
    }

    fn look_up_from_ghosts(&self) -> Result<()> {
        self.clear_next()?;
        let ghosts = self.extent.ghosts as u32;
        self.launch(self.kernels.mark, arguments![self.argument(), ghosts])?;
        self.launch(self.kernels.look_up, arguments![self.argument()])
    }

    /// Leaves a bit for each subscriber on the device, whether it is in the frontier; what has to be announced to each part.
    ///
    /// # Errors
    ///
    /// Errors of the device.
    pub fn tell_packed(&mut self) -> Result<Vec<Announced>> {
        self.tell()?;
        let words = self.told_starts.windows(2).map(|pair| pair[1] - pair[0]);
        // There is room for all bits at a time.
        Ok(words.map(|words| Announced { words, room: usize::MAX >> 1 }).collect())
    }

    /// Sends these bits from device to device, and finds the next level from the vertices without one and the bits of the other parts, which do the
    /// same. `announced` as in [`BfsPart::exchange_met`].
    ///
    /// # Errors
    ///
    /// As of [`BfsPart::exchange_met`].
    pub fn exchange_told(&mut self, link: &PartLink, announced: [&[Announced]; 2]) -> Result<()> {
        let Arrays { told, ghosts_in_frontier, mail, .. } = self.arrays;
        let fits = announced[1]
            .iter()
            .zip(self.ghost_starts.windows(2))
            .all(|(from, ghosts)| from.words == 0 || from.words == ((ghosts[1] - ghosts[0]) as usize).div_ceil(32));
        if !fits {
            return Err(Error::invalid("another part told of more vertices than are known here"));
        }
        let place = |part: usize, _| self.ghost_starts[part] as usize / 32 + part;
        link.exchange(&self.pool, told, announced, mail.outbox, place, |_| Ok(()))?;
        if announced[1]
            .iter()
            .zip(self.ghost_starts.windows(2))
            .any(|(from, ghosts)| from.words == 0 && ghosts[0] < ghosts[1])
        {
            // A part has failed, and the search will end.
            return Ok(());
        }
        let ghosts = self.extent.ghosts as u32;
        self.launch(self.kernels.join, arguments![mail.argument(), mail.outbox, ghosts_in_frontier, ghosts])?;
        self.look_up_from_ghosts()
    }

    /// The hubs that this part found, a bit each, the lowest bit of a word first.
    ///
    /// # Errors
    ///
    /// Errors of the device.
    pub fn found_hubs(&self) -> Result<Vec<u64>> {
        if self.extent.hubs == 0 {
            return Ok(Vec::new());
        }
        self.pool.read(self.arrays.found_hubs.cast())
    }

    /// The next level becomes the frontier, with the hubs that any part found.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if there is not a bit for each hub; errors of the device.
    pub fn advance(&mut self, hubs: &[u64]) -> Result<()> {
        let Arrays { found_hubs, .. } = self.arrays;
        if hubs.len() as u64 * 2 != found_hubs.length() {
            return Err(Error::invalid("what was found of hubs is a bit for each of them"));
        }
        if !hubs.is_empty() {
            self.pool.upload(found_hubs.cast(), hubs)?;
            self.launch(self.kernels.receive_hubs, arguments![self.argument()])?;
            self.pool.fill(found_hubs, 0)?;
        }
        let is_found = |&hub: &usize| hubs[hub / 64] >> (hub % 64) & 1 == 1;
        self.hubs_in_frontier = self.own_hubs.clone().filter(is_found).count() as u64;
        self.level = self.level.wrapping_add(1);
        Ok(())
    }

    /// The levels of the vertices with rows; `u32::MAX` where there is none.
    ///
    /// # Errors
    ///
    /// Errors of the device.
    pub fn levels(&self) -> Result<Vec<u32>> {
        self.pool.read(self.arrays.levels)
    }

    fn argument(&self) -> KernelArgument {
        let (arrays, next) = (&self.arrays, (self.level.wrapping_add(1) % 2) as usize);
        let frontier = |which: usize| arrays.frontiers.part(which as u64, 1);
        KernelArgument {
            offsets: arrays.offsets.as_ptr(),
            heads: arrays.heads.as_ptr(),
            levels: arrays.levels.as_mut_ptr(),
            short_rows: arrays.short_rows[1 - next].as_ptr(),
            next_short_rows: arrays.short_rows[next].as_mut_ptr(),
            long_rows: arrays.long_rows[1 - next].as_ptr(),
            next_long_rows: arrays.long_rows[next].as_mut_ptr(),
            now: frontier(1 - next).as_ptr(),
            next: frontier(next).as_mut_ptr(),
            found_hubs: arrays.found_hubs.as_mut_ptr(),
            met_ghosts: arrays.met_ghosts.as_mut_ptr(),
            known_ghosts: arrays.known_ghosts.as_mut_ptr(),
            frontier: arrays.frontier.as_mut_ptr(),
            ghosts_in_frontier: arrays.ghosts_in_frontier.as_ptr(),
            rows: self.extent.rows() as u32,
            owned: self.extent.owned as u32,
            level: self.level,
        }
    }

    /// Empties the next frontier.
    fn clear_next(&self) -> Result<()> {
        let next = u64::from(self.level.wrapping_add(1) % 2);
        self.pool.fill(self.arrays.frontiers.part(next, 1), 0)
    }

    fn launch(&self, kernel: Function, arguments: &mut [*mut std::ffi::c_void]) -> Result<()> {
        // SAFETY: callers pass the arguments of the kernel, and all arrays have the lengths that it expects.
        unsafe { self.pool.device().launch(kernel, &self.kernels.shape, arguments) }
    }
}
