//! Ranks on GPUs: which have one, and their parts there.
//!
//! The ranks of a host take the GPUs that they see in turn; a launcher may show each rank others. Unless it is said, ranks search on GPUs only if each rank
//! has one for itself with enough memory: several ranks on one GPU are slower than one, and one rank without a GPU keeps all others waiting. If one of them
//! can't be opened then, all ranks search on their cores.
//!
//! Messages go from GPU to GPU if MPI says that it takes addresses of GPUs. If it does not, NCCL carries them on one host if joining takes less time than it is
//! predicted to save. Otherwise, or if that is asked for, they go through pinned memory of the hosts and MPI.

use warpath::graph::{MinPlus, Unit, Weight};
use warpath::parts::{BfsPart, CarrierKey, PartDevice, PartLink, SsspPart};
use warpath::{Error, Result};

use crate::cuda_aware::{CudaAware, is_cuda_aware};
use crate::graph::PartOfGraph;
use crate::messages::RankMessages;
use crate::words::push;
use crate::world::{Outcome, World};

/// What ranks search on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RankDevices {
    /// A GPU each, if every rank has one for itself with enough memory; their cores if not.
    #[default]
    Auto,
    /// Their cores.
    Cpu,
    /// A GPU each; several ranks of a host may have the same.
    Cuda,
}

/// The GPU of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankGpu {
    /// Its number on the host, and how many threads copy to it and from it: at most as many as the cores that the launcher gave the rank.
    pub device: PartDevice,
    /// Whether no other rank has the same GPU.
    pub is_own: bool,
    /// The bytes of its memory that the rank may take.
    pub available: u64,
    /// As many of these as the plan leaves.
    pub left: u64,
}

impl World {
    /// The GPU that this rank searches on with so many bytes of its memory, of which `memory` is the limit if there is one; `None` for its cores. All
    /// ranks search on the same kind.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if GPUs are asked for, and some rank has none.
    pub fn gpu(&self, wanted: RankDevices, memory: Option<u64>, bytes: impl Fn() -> u64) -> Outcome<Option<RankGpu>> {
        const MOST_THREADS: usize = 8;
        if wanted == RankDevices::Cpu {
            return Ok(None);
        }
        let (place, _) = self.place_on_host();
        let found = warpath::devices().and_then(|devices| {
            let turn = place.checked_rem(devices.len() as u64);
            let turn = turn.ok_or_else(|| Error::NoDevice("this host has no GPU".into()))?;
            Ok(devices[turn as usize].clone())
        });
        let uuid = found.as_ref().map_or(0, |device| device.uuid);
        let mut words = Vec::new();
        [uuid as u64, (uuid >> 64) as u64].iter().for_each(|&half| push(&mut words, half));
        let all = self.agree(self.gather(&words))?;
        let same = (0..self.ranks()).filter(|&rank| all.of(rank) == words).count();
        let own = found.map(|device| {
            let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
            let available = device.memory_bytes.min(memory.unwrap_or(u64::MAX));
            let left = available.saturating_sub(bytes());
            RankGpu { device: PartDevice { ordinal: device.ordinal, threads }, is_own: same == 1, available, left }
        });
        if wanted == RankDevices::Cuda {
            return Ok(Some(self.agree(own)?));
        }
        let own = own.ok().filter(|gpu| gpu.is_own && bytes() <= gpu.available);
        let all_have = !self.any(own.is_none());
        Ok(own.filter(|_| all_have))
    }

    /// Says what carries messages between GPUs. What links them once they are linked stays.
    pub fn carry_by(&self, messages: RankMessages) {
        self.messages.set(messages);
    }

    /// What carries messages between GPUs now: something from GPU to GPU, or MPI through the memory of the hosts.
    pub fn carried_by(&self) -> RankMessages {
        self.link.get().map_or(RankMessages::Mpi, |(_, messages)| *messages)
    }

    /// Links this GPU with those of the other ranks once, by what was asked for, or else by what is there: by NCCL only if some rank expects to save more
    /// seconds by that (`saved`) than joining takes.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] and [`Error::Device`] if what is asked for is not possible.
    fn link(&self, gpu: RankGpu, saved: f64) -> Outcome<()> {
        if self.ranks() == 1 || self.link.get().is_some() {
            return Ok(());
        }
        let is_possible = |suits: bool| !self.any(!suits);
        let messages = match self.messages.get() {
            RankMessages::Auto if is_possible(is_cuda_aware() && self.ranks() <= PartLink::MOST_PARTS) => {
                RankMessages::CudaAware
            }
            RankMessages::Auto if self.is_nccl_worth_it(gpu, saved) => RankMessages::Nccl,
            RankMessages::Auto => RankMessages::Mpi,
            asked => asked,
        };
        let made = match messages {
            RankMessages::Auto | RankMessages::Mpi => None,
            RankMessages::CudaAware => Some(self.link_by_mpi()?),
            RankMessages::Nccl => self.link_by_nccl(gpu, self.messages.get() == RankMessages::Nccl)?,
        };
        if let Some(link) = made {
            let _ = self.link.set((link, messages));
        }
        Ok(())
    }

    /// Whether NCCL is to carry messages that are predicted to take so many seconds less on this rank. Between hosts NCCL may wait for connections that nobody lets it
    /// have, so there it has to be asked for.
    fn is_nccl_worth_it(&self, gpu: RankGpu, saved: f64) -> bool {
        /// Seconds that GPUs take to join: up to 0.4 for two of one host.
        const JOINING: f64 = 0.5;
        /// Bytes of the device that it may take.
        const BYTES: u64 = 1 << 30;
        let is_one_host = self.ranks_on_host() == self.ranks() as u64 && self.ranks() <= PartLink::MOST_PARTS;
        if !is_one_host || !self.any(saved > JOINING) {
            return false;
        }
        !self.any(!gpu.is_own || gpu.left < BYTES || PartLink::available().is_err())
    }

    fn link_by_mpi(&self) -> Outcome<PartLink> {
        let refused =
            || Error::NoDevice("this MPI does not say that it takes addresses of GPUs (is CUDA-aware)".into());
        self.agree(is_cuda_aware().then_some(()).ok_or_else(refused))?;
        self.agree(PartLink::through(Box::new(CudaAware::new(self)), self.ranks()))
    }

    /// Links by NCCL; `None` if it does not start, and nobody has asked for it.
    fn link_by_nccl(&self, gpu: RankGpu, is_asked_for: bool) -> Outcome<Option<PartLink>> {
        self.agree(PartLink::available())?;
        let made = if self.rank() == 0 { CarrierKey::new().map(|key| key.words()) } else { Ok(Vec::new()) };
        if !is_asked_for && self.any(made.is_err()) {
            return Ok(None);
        }
        let mut key = self.agree(made)?;
        self.broadcast(&mut key);
        let mut opened = None;
        self.wait_for(0, || {
            let link = PartLink::open(gpu.device, &CarrierKey::of_words(&key), self.rank(), self.ranks());
            let link = link.map_err(|error| match is_asked_for {
                true => error,
                false => Error::Device(format!("{error}; `--engine mpi:messages=mpi` does without NCCL")),
            });
            // The others wait for this rank in NCCL.
            opened = Some(link.unwrap_or_else(|error| self.end_all(&error)));
        });
        self.agree(opened.ok_or_else(|| Error::Device("the GPUs of the ranks were not linked".into()))).map(Some)
    }
}

/// A part that can be copied to a device.
pub(crate) trait DevicePart: Sized {
    /// The weights that the graph has.
    type Weight: Weight;

    /// Seconds that a search is predicted to take less if messages go from GPU to GPU by NCCL, and not through the hosts.
    fn saved(graph: &PartOfGraph<Self::Weight>) -> f64;

    /// Copies it there.
    fn open(device: PartDevice, graph: &PartOfGraph<Self::Weight>) -> Result<Self>;
}

impl DevicePart for BfsPart {
    type Weight = Unit;

    /// Bits of a level are few: it was no quicker.
    fn saved(_: &PartOfGraph<Unit>) -> f64 {
        0.0
    }

    fn open(device: PartDevice, graph: &PartOfGraph<Unit>) -> Result<Self> {
        BfsPart::open(device, &graph.part_rows()?)
    }
}

impl<L: MinPlus> DevicePart for SsspPart<L> {
    type Weight = L::Weight;

    fn saved(graph: &PartOfGraph<L::Weight>) -> f64 {
        /// Seconds for each vertex of another rank: a search of `kron:22` on two H200s, with 763,000 on each, took 14 ms less.
        const GHOST: f64 = 1.8e-8;
        graph.ghosts() as f64 * GHOST
    }

    fn open(device: PartDevice, graph: &PartOfGraph<L::Weight>) -> Result<Self> {
        SsspPart::open(device, &graph.part_rows()?, graph.weights())
    }
}

/// A part on its GPU, and what links this with the GPUs of the other ranks, if anything does.
pub(crate) struct Placed<'a, P> {
    pub(crate) part: &'a mut P,
    pub(crate) link: Option<&'a PartLink>,
}

/// A rank's part on its GPU, for one search after another, if the ranks search on GPUs.
pub(crate) struct OnDevice<P> {
    pub(crate) gpu: Option<RankGpu>,
    part: Option<P>,
}

impl<P: DevicePart> OnDevice<P> {
    /// Copies the part to this GPU for so many searches. If nobody has `asked_for` GPUs and one can't be opened, the ranks stay on their cores.
    ///
    /// # Errors
    ///
    /// Those of opening a device, on all ranks if on any.
    pub(crate) fn prepare(
        world: &World,
        gpu: Option<RankGpu>,
        asked_for: bool,
        graph: &PartOfGraph<P::Weight>,
        searches: usize,
    ) -> Outcome<Self> {
        let Some(own) = gpu else { return Ok(OnDevice { gpu, part: None }) };
        // NCCL takes memory of its own, so it is first.
        world.link(own, searches as f64 * P::saved(graph))?;
        let part = P::open(own.device, graph);
        if !asked_for && world.any(part.is_err()) {
            return Ok(OnDevice { gpu: None, part: None });
        }
        Ok(OnDevice { gpu, part: Some(world.agree(part)?) })
    }

    /// The part there; it is copied again if it was released.
    pub(crate) fn part<'a>(
        &'a mut self,
        world: &'a World,
        graph: &PartOfGraph<P::Weight>,
    ) -> Outcome<Option<Placed<'a, P>>> {
        // All ranks have it, or none has.
        let Some(gpu) = self.gpu else { return Ok(None) };
        if self.part.is_none() {
            self.part = Some(world.agree(P::open(gpu.device, graph))?);
        }
        let link = world.link.get().map(|(link, _)| link);
        Ok(self.part.as_mut().map(|part| Placed { part, link }))
    }

    /// Makes room on the device.
    pub(crate) fn release(&mut self) {
        self.part = None;
    }
}
