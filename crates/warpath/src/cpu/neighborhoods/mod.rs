//! Sizes of neighborhoods: how many vertices a vertex reaches within a distance.
//!
//! Each thread takes some sources at a time and searches from them in memory of its own: `levels.rs` breadth-first, from up to 256 at once,
//! `distances.rs` by weights, from one after another. A search ends at the distance and clears what it has touched, so that small
//! neighborhoods cost what they are large, whatever the size of the graph. Sources that follow each other are often near each other, so a
//! thread takes many of them: its searches then touch a part of its memory.

mod distances;
pub(crate) mod levels;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use self::distances::ByWeights;
use self::levels::{Bits, ByLevels, SEARCHES, Tally};
use crate::cpu::Team;
use crate::graph::{Adjacency, Csr, MinPlus, VertexId};
use crate::{Control, Result, memory};

/// The searches that the threads share.
#[derive(Debug)]
pub(crate) struct NeighborhoodsTask<'a> {
    pub(crate) graph: &'a Csr,
    pub(crate) sources: &'a [VertexId],
    pub(crate) team: &'a Team,
    pub(crate) control: &'a Control,
}

/// The bytes that a thread takes at most without weights.
pub(crate) fn memory_of_levels(graph: &Csr) -> u64 {
    ByLevels::bytes(graph)
}

/// The bytes that a thread takes at most by weights.
pub(crate) fn memory_of_distances<L: MinPlus>(graph: &Csr) -> u64 {
    ByWeights::<L>::bytes(graph)
}

/// How many vertices each source reaches within so many arcs.
pub(crate) fn by_levels(task: &NeighborhoodsTask<'_>, cutoff: u32) -> Result<Vec<u64>> {
    let at_once = task.sources.len().div_ceil(2 * task.team.threads()).clamp(1, SEARCHES);
    count(task, at_once, || {
        let mut searches = ByLevels::new(task.graph)?;
        Ok(move |sources: &[VertexId], sizes: &mut [u64]| {
            let mut counters = Counters::default();
            searches.run(sources, cutoff, &mut counters, task.control)?;
            sizes.iter_mut().enumerate().for_each(|(search, size)| *size = counters.of(search));
            Ok(())
        })
    })
}

/// How many vertices each source reaches within this distance, by weights of 0 and more; `UNREACHABLE` is no bound.
pub(crate) fn by_weights<L: MinPlus>(
    task: &NeighborhoodsTask<'_>,
    adjacency: Adjacency<'_, L::Weight>,
    cutoff: L::Distance,
) -> Result<Vec<u64>> {
    count(task, 1, || {
        let mut search = ByWeights::<L>::new(adjacency)?;
        Ok(move |sources: &[VertexId], sizes: &mut [u64]| {
            sizes[0] = search.run(sources[0], cutoff, task.control)?;
            Ok(())
        })
    })
}

/// The sources that no thread has taken yet, with the places of their sizes.
struct Unclaimed<'a> {
    sources: &'a [VertexId],
    sizes: &'a mut [u64],
}

impl<'a> Unclaimed<'a> {
    /// Takes a share of the sources for one of so many threads, a number of searches at once: the fewer are left, the fewer, so that all threads end
    /// together.
    fn claim(&mut self, at_once: usize, threads: usize) -> (&'a [VertexId], &'a mut [u64]) {
        let share = (self.sources.len() / (2 * threads)).next_multiple_of(at_once).max(at_once);
        let (sources, others) = self.sources.split_at(share.min(self.sources.len()));
        let (sizes, other_sizes) = std::mem::take(&mut self.sizes).split_at_mut(sources.len());
        (self.sources, self.sizes) = (others, other_sizes);
        (sources, sizes)
    }
}

/// Searches from all sources, so many at once; `begin` makes what a thread searches with.
fn count<S: FnMut(&[VertexId], &mut [u64]) -> Result<()>>(
    task: &NeighborhoodsTask<'_>,
    at_once: usize,
    begin: impl Fn() -> Result<S> + Sync,
) -> Result<Vec<u64>> {
    let mut sizes: Vec<u64> = memory::zeroed("the sizes of neighborhoods", task.sources.len())?;
    let unclaimed = Mutex::new(Unclaimed { sources: task.sources, sizes: &mut sizes });
    let (done, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results = task.team.run(|_| {
        let work = || -> Result<()> {
            let mut begun = None;
            loop {
                let mut unclaimed = unclaimed.lock().unwrap_or_else(PoisonError::into_inner);
                let (sources, sizes) = unclaimed.claim(at_once, task.team.threads());
                drop(unclaimed);
                if sources.is_empty() {
                    return Ok(());
                }
                // A thread that comes too late for a source needs no memory.
                let search = match &mut begun {
                    Some(search) => search,
                    none => none.insert(begin()?),
                };
                for (sources, sizes) in sources.chunks(at_once).zip(sizes.chunks_mut(at_once)) {
                    if failed.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    search(sources, sizes)?;
                    let done = done.fetch_add(sources.len(), Ordering::Relaxed) + sources.len();
                    task.control.progress("solve", done as u64, task.sources.len() as u64)?;
                }
            }
        };
        let result = work();
        if result.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        result
    });
    results.into_iter().collect::<Result<()>>()?;
    Ok(sizes)
}

/// How many vertices each search has seen, 256 counters in binary: the plane at place `k` has the digits of 2^k of all of them. An addition carries from plane to
/// plane, through two of them on average.
#[derive(Default)]
struct Counters(Vec<Bits>);

impl Tally for Counters {
    /// Adds 1 to the counters of these searches.
    fn found(&mut self, _: VertexId, searches: Bits) {
        let mut carry = searches;
        for plane in &mut self.0 {
            if carry == Bits::default() {
                return;
            }
            for word in 0..carry.len() {
                (plane[word], carry[word]) = (plane[word] ^ carry[word], plane[word] & carry[word]);
            }
        }
        if carry != Bits::default() {
            self.0.push(carry);
        }
    }
}

impl Counters {
    fn of(&self, search: usize) -> u64 {
        let digits = self.0.iter().map(|plane| plane[search / 64] >> (search % 64) & 1);
        digits.enumerate().map(|(place, digit)| digit << place).sum()
    }
}
