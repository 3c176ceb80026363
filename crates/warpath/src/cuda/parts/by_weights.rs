//! Shortest paths by weights in one part of a graph, below one bound after another.
//!
//! A vertex whose distance fell is *pending* until its arcs are relaxed, a bit for each. [`SsspPart::relax`] takes all pending vertices
//! below a bound as `near-far` takes those of a graph, in one launch: those below a threshold are queued, their arcs relaxed, heads that
//! fall below the threshold queued, round after round until nothing is queued; then the threshold rises, up to the bound. Heads that fall elsewhere are pending. A ghost that comes nearer is marked, and
//! its distance is put into a message when the mail is collected, so whoever gets it learns of the last one alone. What comes from others makes vertices pending.
//!
//! All arcs of a vertex are relaxed at once, light and heavy: a device has rather more relaxations than rounds.
//!
//! Distances are what they are on one machine, bit by bit: the least over walks of lengths rounded from left to right. Sums that would leave
//! the range of the distances are not taken, as on the host.
//!
//! Work of a bound: the arcs of the vertices that come nearer below it, and a look at a bit for each row whenever the threshold rises; a barrier for each round.
//!
//! Sources: Davidson, Baxter, Garland and Owens 2014, "Work-efficient parallel GPU methods for single-source shortest paths", sect. 4.4;
//! Chakaravarthy et al. 2014, "Scalable single source shortest path algorithms for massively parallel systems"; hubs as in Pearce et al. 2014.
//!
//! *Invariants.* As in `breadth_first.rs`. The kernels of a semiring get distances and weights of its types.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;

use super::link::{Announced, PartLink};
use super::mail::{Mailbox, PartMail};
use super::{PartDevice, PartExtent, PartRows, check_numbers, everywhere};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::semirings::DeviceSemiring;
use crate::graph::{DistanceValue, MinPlus, Weight, WeightKind};
use crate::plan::Plan;
use crate::{Error, Result};

kernel_header! {
    path: "sssp/part";
    namespace: sssp_part;
    /// What one turn tells the next.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    struct Turn {
        /// The least distance of a pending vertex, but for those that were queued.
        least: u64,
        /// How many vertices the queue of short rows has.
        short_rows: u32,
        /// How many pieces the queue of long rows has.
        pieces: u32,
    }

    /// What the host asks for.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    struct News {
        /// The least distance of a pending vertex.
        least: u64,
        /// Whether the distance of a hub fell.
        hub_came_nearer: u64,
    }

    /// The argument.
    struct KernelArgument<Lane> {
        offsets: DevicePtr<u64>,
        arcs: DevicePtr<cpp::Arc>,
        /// Of all states.
        distances: DeviceMutPtr<cpp::Distance>,
        /// The distance with which a vertex of a short row was last expanded.
        expanded: DeviceMutPtr<cpp::Distance>,
        /// Bits of the vertices with rows whose arcs have to be relaxed.
        pending: DeviceMutPtr<u32>,
        /// Bits of the vertices that are in the queues of a turn, and of the next.
        queued: [DeviceMutPtr<u32>; 2],
        /// Queues of vertices.
        short_rows: [DeviceMutPtr<u32>; 2],
        /// Queues of vertices and pieces.
        long_rows: [DeviceMutPtr<[u32; 2]>; 2],
        /// Three: one is read, one written, one cleared.
        turns: DeviceMutPtr<Turn>,
        /// Bits of the ghosts that came nearer since they were last posted.
        nearer_ghosts: DeviceMutPtr<u32>,
        news: DeviceMutPtr<News>,
        /// Vertices below it are relaxed,
        bound: u64,
        /// in steps that are so wide at first.
        delta: f64,
        rows: u32,
        owned: u32,
    }
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    offsets: DeviceSlice<u64>,
    /// Words: as many for an arc as twice its weight has.
    arcs: DeviceSlice<u32>,
    distances: DeviceSlice<u32>,
    expanded: DeviceSlice<u32>,
    pending: DeviceSlice<u32>,
    queued: [DeviceSlice<u32>; 2],
    short_rows: [DeviceSlice<u32>; 2],
    long_rows: [DeviceSlice<[u32; 2]>; 2],
    turns: DeviceSlice<Turn>,
    nearer_ghosts: DeviceSlice<u32>,
    news: DeviceSlice<News>,
    mail: Mailbox,
}

fn layout(arena: &mut Arena<'_>, extent: PartExtent, semiring: DeviceSemiring) -> Arrays {
    let (rows, words) = (extent.rows(), semiring.words());
    let words_of_arc = if semiring == DeviceSemiring::Double { 4 } else { 2 };
    Arrays {
        offsets: arena.take("offsets of the rows", rows.saturating_add(1)),
        arcs: arena.take("heads and weights of the arcs", extent.arcs.saturating_mul(words_of_arc)),
        distances: arena.take("distances", extent.states().saturating_mul(words)),
        expanded: arena.take("distances when expanded", rows.saturating_mul(words)),
        pending: arena.take("vertices to relax", rows.div_ceil(32)),
        queued: arena.take_two(["queued vertices", "vertices queued next"], rows.div_ceil(32)),
        short_rows: arena.take_two(["queue of short rows", "next queue of short rows"], rows),
        long_rows: arena.take_two(["queue of long rows", "next queue of long rows"], extent.most_pieces()),
        turns: arena.take("counters", 3),
        nearer_ghosts: arena.take("vertices of other parts that came nearer", extent.ghosts.div_ceil(32)),
        news: arena.take("news", 1),
        mail: Mailbox::layout(arena, extent, 1 + words as usize),
    }
}

/// The kernels.
#[derive(Debug, Clone, Copy)]
struct Kernels {
    relax: Function,
    post: Function,
    pack: Function,
    receive: Function,
    receive_hubs: Function,
    find_least: Function,
    shape: LaunchShape,
}

/// The kernels of a semiring whose weights are 0 or more. Signed distances are then like unsigned ones, but for the mark of what is not reached.
fn semiring_of<L: MinPlus>() -> DeviceSemiring {
    match (L::Weight::KIND, size_of::<L::Distance>()) {
        (WeightKind::F32, _) => DeviceSemiring::Single,
        (WeightKind::F64, _) => DeviceSemiring::Double,
        (_, 4) => DeviceSemiring::Narrow,
        _ => DeviceSemiring::Wide,
    }
}

/// A part of a graph on a GPU, for searches by weights of 0 or more.
#[derive(Debug)]
pub struct SsspPart<L: MinPlus> {
    pool: Pool,
    arrays: Arrays,
    /// Of the last call of `relax`.
    bound: u64,
    delta: f64,
    kernels: Kernels,
    extent: PartExtent,
    semiring: DeviceSemiring,
    of: PhantomData<L>,
}

impl<L: MinPlus> SsspPart<L> {
    /// What a part of this size takes on a device.
    pub fn plan(extent: PartExtent) -> Plan {
        plan_of(|arena| layout(arena, extent, semiring_of::<L>()))
    }

    /// Copies a part with the weights of its arcs to a GPU.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`], [`Error::OutOfMemory`], and [`Error::InvalidRequest`] if a number of the rows is out of its range, there is not a
    /// weight for each arc, or a weight is below 0.
    pub fn open(device: PartDevice, rows: &PartRows<'_>, weights: &[L::Weight]) -> Result<Self> {
        Self::on(&device.open()?, rows, weights)
    }

    pub(super) fn on(device: &Arc<dyn Device>, rows: &PartRows<'_>, weights: &[L::Weight]) -> Result<Self> {
        rows.check()?;
        if weights.len() != rows.heads.len() || weights.iter().any(|weight| weight.is_negative()) {
            return Err(Error::invalid("a part on a device needs a weight of 0 or more for each arc"));
        }
        let (extent, semiring) = (rows.extent(), semiring_of::<L>());
        let function = |name: &str| semiring.function(&**device, &images::SSSP_PART, name);
        let relax = function("sssp_part_relax")?;
        let kernels = Kernels {
            relax,
            post: function("sssp_part_post")?,
            pack: function("sssp_part_pack")?,
            receive: function("sssp_part_receive")?,
            receive_hubs: function("sssp_part_receive_hubs")?,
            find_least: function("sssp_part_find_least")?,
            shape: everywhere(&**device, relax)?,
        };
        let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, extent, semiring))?;
        pool.upload(arrays.offsets, rows.offsets)?;
        upload_arcs(&pool, arrays.arcs, rows.heads, weights)?;
        arrays.mail.fill(&pool, rows)?;
        device.synchronize()?;
        Ok(SsspPart { pool, arrays, bound: 0, delta: 1.0, kernels, extent, semiring, of: PhantomData })
    }

    /// The bytes of the device that its arrays take.
    #[cfg(test)]
    pub(super) fn device_bytes(&self) -> u64 {
        self.pool.used()
    }

    /// Begins a search from these vertices with rows, at distance 0; hubs among them are those of all parts.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if a number is none of a row; errors of the device.
    pub fn start(&mut self, sources: &[u32]) -> Result<()> {
        check_numbers(sources.iter().copied(), self.extent.rows() as usize)?;
        let Arrays { distances, expanded, pending, queued, nearer_ghosts, news, .. } = self.arrays;
        for array in [distances, expanded] {
            self.fill_with_unreachable(array)?;
        }
        for bits in [pending, queued[0], queued[1], nearer_ghosts] {
            self.pool.fill(bits, 0)?;
        }
        self.pool.fill(news, 0)?;
        let words = self.semiring.words() as usize;
        let messages: Vec<u32> =
            sources.iter().flat_map(|&source| std::iter::once(source).chain(std::iter::repeat_n(0, words))).collect();
        self.take_in(&messages)
    }

    fn fill_with_unreachable(&self, distances: DeviceSlice<u32>) -> Result<()> {
        let (words, unreachable) = (self.semiring.words() as usize, self.semiring.unreachable());
        let halves = [unreachable as u32, (unreachable >> 32) as u32];
        if words == 1 || halves[0] == halves[1] {
            return self.pool.fill(distances, halves[0]);
        }
        self.pool.upload_with(distances, distances.length() as usize, |range, piece| {
            range.zip(piece).for_each(|(index, word)| *word = halves[index % words]);
        })
    }

    /// Relaxes the arcs of all pending vertices below the bound, and of those that fall below it. Nearer vertices come first, in steps of
    /// `delta`, which doubles while there is too little to do for the device.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] unless delta is a number above 0; errors of the device.
    pub fn relax(&mut self, bound: L::Distance, delta: f64) -> Result<()> {
        if !(delta > 0.0 && delta.is_finite()) {
            return Err(Error::invalid(format!("a delta of {delta} is no number above 0")));
        }
        (self.bound, self.delta) =
            (if bound == L::Distance::UNREACHABLE { self.semiring.unreachable() } else { raw(bound) }, delta);
        // Counters are 0, and the least distance of no vertex comes after all: the first turn does not look at it.
        self.pool.fill(self.arrays.turns, 0)?;
        let empty = self.arrays.turns.part(1, 1).cast::<u64>().part(0, 1);
        self.pool.fill(empty, u32::MAX)?;
        let shape = LaunchShape { cooperative: true, ..self.kernels.shape };
        // SAFETY: the argument is the kernel's, all arrays have the lengths that it expects, and all blocks of the shape run at once.
        unsafe { self.pool.device().launch(self.kernels.relax, &shape, arguments![self.argument()]) }
    }

    /// Fills `mail` with messages about ghosts that came nearer: the number of the vertex in its part, and its distance.
    ///
    /// # Errors
    ///
    /// Errors of the device, and [`Error::OutOfMemory`].
    pub fn collect_mail(&mut self, mail: &mut PartMail) -> Result<()> {
        let packed = self.pack()?;
        self.arrays.mail.read(&self.pool, packed, mail)
    }

    fn pack(&self) -> Result<Vec<usize>> {
        let (argument, ghosts) = (self.arrays.mail.argument(), self.extent.ghosts as u32);
        let post = || self.launch(self.kernels.post, arguments![argument, self.argument(), ghosts]);
        let pack = |count| self.launch(self.kernels.pack, arguments![argument, self.argument(), count]);
        self.arrays.mail.pack(&self.pool, post, pack)
    }

    /// Packs such messages on the device; what has to be announced to each part.
    ///
    /// # Errors
    ///
    /// Errors of the device.
    pub fn pack_mail(&mut self) -> Result<Vec<Announced>> {
        Ok(self.arrays.mail.announce(self.pack()?))
    }

    /// Sends the messages that were packed from device to device, and takes in those of the other parts, which do the same. `announced` has what this part
    /// announced to each, and what each announced to this one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if there is no announcement for each part; errors of the device and of what carries.
    pub fn exchange_mail(&mut self, link: &PartLink, announced: [&[Announced]; 2]) -> Result<()> {
        self.arrays.mail.exchange(&self.pool, link, announced, |words, count| {
            self.launch(self.kernels.receive, arguments![self.argument(), words, count])
        })
    }

    /// Takes in such messages from other parts.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if a number is none of an owned vertex, or a message is cut off; errors of the device.
    pub fn receive(&mut self, messages: &[u32]) -> Result<()> {
        let words = 1 + self.semiring.words() as usize;
        if !messages.len().is_multiple_of(words) {
            return Err(Error::invalid("a message from another part is cut off"));
        }
        check_numbers(messages.iter().copied().step_by(words), self.extent.owned as usize)?;
        self.take_in(messages)
    }

    fn take_in(&self, messages: &[u32]) -> Result<()> {
        let Mailbox { words, .. } = self.arrays.mail;
        self.arrays.mail.deliver(&self.pool, messages, |count| {
            self.launch(self.kernels.receive, arguments![self.argument(), words, count])
        })
    }

    /// The least distance of a pending vertex, if there is one, and whether a hub came nearer here since this was last asked.
    ///
    /// # Errors
    ///
    /// Errors of the device.
    pub fn news(&mut self) -> Result<(Option<L::Distance>, bool)> {
        let Arrays { news, .. } = self.arrays;
        self.pool.fill(news.cast::<u64>().part(0, 1), u32::MAX)?;
        self.launch(self.kernels.find_least, arguments![self.argument()])?;
        let [News { least, hub_came_nearer }] = self.pool.read_array(news)?;
        self.pool.fill(news, 0)?;
        Ok(((least != u64::MAX).then(|| of_raw(least)), hub_came_nearer != 0))
    }

    /// The distances of the hubs, as this part has them.
    ///
    /// # Errors
    ///
    /// Errors of the device.
    pub fn hub_distances(&self) -> Result<Vec<L::Distance>> {
        self.read(self.extent.owned, self.extent.hubs)
    }

    /// Takes in the least distances of the hubs in all parts.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if there is not one for each hub; errors of the device.
    pub fn receive_hubs(&mut self, distances: &[L::Distance]) -> Result<()> {
        if distances.len() as u64 != self.extent.hubs {
            return Err(Error::invalid("hubs have a distance each"));
        }
        let of_device = |distance: L::Distance| match distance == L::Distance::UNREACHABLE {
            true => self.semiring.unreachable(),
            false => raw(distance),
        };
        let bits = distances.iter().map(|&distance| of_device(distance));
        let told: Vec<u32> = match self.semiring.words() {
            1 => bits.map(|bits| bits as u32).collect(),
            _ => bits.flat_map(|bits| [bits as u32, (bits >> 32) as u32]).collect(),
        };
        let room = self.arrays.mail.words;
        self.pool.upload(room, &told)?;
        self.launch(self.kernels.receive_hubs, arguments![self.argument(), room])
    }

    /// Takes in the least distances of the hubs in all parts, which do this together, from device to device.
    ///
    /// # Errors
    ///
    /// Errors of the device and of what carries.
    pub fn exchange_hubs(&mut self, link: &PartLink) -> Result<()> {
        let words = self.semiring.words();
        let hubs = self.arrays.distances.part(self.extent.owned * words, self.extent.hubs * words);
        let room = self.arrays.mail.words;
        link.least(&self.pool, hubs, room, words as usize)?;
        self.launch(self.kernels.receive_hubs, arguments![self.argument(), room])
    }

    /// The distances of the vertices with rows.
    ///
    /// # Errors
    ///
    /// Errors of the device.
    pub fn distances(&self) -> Result<Vec<L::Distance>> {
        self.read(0, self.extent.rows())
    }

    fn read(&self, first: u64, count: u64) -> Result<Vec<L::Distance>> {
        let words = self.semiring.words();
        let slice = self.arrays.distances.part(first * words, count * words);
        let mut distances = self.pool.read(slice.cast::<L::Distance>())?;
        // Signed distances of what is not reached come as -1.
        distances
            .iter_mut()
            .filter(|distance| **distance < L::Distance::ZERO)
            .for_each(|distance| *distance = L::Distance::UNREACHABLE);
        Ok(distances)
    }

    fn argument(&self) -> KernelArgument {
        let arrays = &self.arrays;
        KernelArgument {
            offsets: arrays.offsets.as_ptr(),
            arcs: arrays.arcs.as_ptr().cast(),
            distances: arrays.distances.as_mut_ptr().cast(),
            expanded: arrays.expanded.as_mut_ptr().cast(),
            pending: arrays.pending.as_mut_ptr(),
            queued: arrays.queued.map(|bits| bits.as_mut_ptr()),
            short_rows: arrays.short_rows.map(|queue| queue.as_mut_ptr()),
            long_rows: arrays.long_rows.map(|queue| queue.as_mut_ptr()),
            turns: arrays.turns.as_mut_ptr(),
            nearer_ghosts: arrays.nearer_ghosts.as_mut_ptr(),
            news: arrays.news.as_mut_ptr(),
            bound: self.bound,
            delta: self.delta,
            rows: self.extent.rows() as u32,
            owned: self.extent.owned as u32,
        }
    }

    fn launch(&self, kernel: Function, arguments: &mut [*mut c_void]) -> Result<()> {
        // SAFETY: callers pass the arguments of the kernel, and all arrays have the lengths that it expects.
        unsafe { self.pool.device().launch(kernel, &self.kernels.shape, arguments) }
    }
}

/// A distance of 0 or more as a device has it: its bits.
fn raw<D: DistanceValue>(distance: D) -> u64 {
    let mut bytes = [0; 8];
    bytes[..size_of::<D>()].copy_from_slice(bytemuck::bytes_of(&distance));
    u64::from_le_bytes(bytes)
}

fn of_raw<D: DistanceValue>(bits: u64) -> D {
    bytemuck::pod_read_unaligned(&bits.to_le_bytes()[..size_of::<D>()])
}

/// Copies heads and weights there side by side, in stream order.
fn upload_arcs<W: Weight>(pool: &Pool, to: DeviceSlice<u32>, heads: &[u32], weights: &[W]) -> Result<()> {
    fn pairs<W: Weight, T: Pod>(
        (pool, to): (&Pool, DeviceSlice<u32>),
        heads: &[u32],
        weights: &[W],
        pair: impl Fn(u32, W) -> T + Sync,
    ) -> Result<()> {
        pool.upload_with(to.cast(), heads.len(), |range, piece: &mut [T]| {
            let arcs = heads[range.clone()].iter().zip(&weights[range]);
            arcs.zip(piece).for_each(|((&head, &weight), there)| *there = pair(head, weight));
        })
    }
    let to = (pool, to);
    match W::KIND {
        WeightKind::Unit => pairs(to, heads, weights, |head, _| [head, 1]),
        WeightKind::F64 => pairs(to, heads, weights, |head, weight| [u64::from(head), weight.to_f64().to_bits()]),
        WeightKind::F32 => pairs(to, heads, weights, |head, weight| [head, (weight.to_f64() as f32).to_bits()]),
        // Both are exact as 64-bit floats.
        WeightKind::U32 | WeightKind::I32 => pairs(to, heads, weights, |head, weight| [head, weight.to_f64() as u32]),
    }
}
