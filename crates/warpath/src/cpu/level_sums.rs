//! Sums over the levels of many breadth-first searches: how many searches reach a vertex, how far it is from their sources together, the inverse of that, and
//! the farthest. Closeness, harmonic centrality, eccentricity and histogram come of it, without a row of distances.
//!
//! Each thread takes 256 sources at a time, whose searches share the arcs that they look at ([`levels`](super::neighborhoods::levels)), and adds a vertex to sums of its own once in
//! each level that finds it, however many searches do. Sums of levels are exact, and those of inverse levels in fixed point, so that results have the same bits on any number of
//! threads.
//!
//! Work O(V E) for all sources, a 256th of it where all searches share an arc. It wins on graphs of few levels, and where searches reach little: a row has a cell for each vertex, reached or not. Memory of a
//! thread 108 bytes a vertex, and 4 to 32 for its sums.
//!
//! Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal".

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::neighborhoods::levels::{Bits, ByLevels, SEARCHES, Tally};
use crate::algorithms::{AlgorithmInfo, Workload};
use crate::cpu::Team;
use crate::graph::{Csr, VertexId};
use crate::problems::{LevelSums, Problem, Sums, WantedSums};
use crate::{Control, Result, memory};

/// The facts known before it runs.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    problem: Problem::Apsp,
    name: "level-sums",
    summary: "sums over breadth-first searches from 256 sources at a time, for what is reduced from distances without weights",
    source: "after Then et al. 2014",
    parameters: &[],
    negative_weights: true,
    seconds,
};

/// Predicted seconds of so many searches.
pub(crate) fn seconds(work: &Workload<'_>) -> f64 {
    /// Seconds of a thread for an arc that searches share, in a cache and from memory.
    const OF_ARC: [f64; 2] = [3e-9, 8.5e-9];
    /// Bytes of a vertex, and those that the cache of a core keeps.
    const OF_VERTEX: f64 = 96.0;
    const CACHE: f64 = 2e6;
    /// Levels in which some of 256 searches finds a vertex, where levels are few.
    const LEVELS_OF_VERTEX: f64 = 3.5;
    let of_arc = OF_ARC[usize::from(work.vertices() * OF_VERTEX > CACHE)];
    let batches = (work.searches as f64 / SEARCHES as f64).max(1.0);
    let levels_of_vertex = if work.graph.has_short_levels() { SEARCHES as f64 } else { LEVELS_OF_VERTEX };
    let threads = (work.threads as f64).min(batches);
    batches * levels_of_vertex * (work.arcs() + work.vertices()) * of_arc / threads
}

/// The bytes that a thread takes at most.
pub(crate) fn memory_of_a_thread(graph: &Csr, wanted: WantedSums) -> u64 {
    let when = |is_wanted, bytes| if is_wanted { bytes } else { 0 };
    let sums = 4 + when(wanted.sums, 8) + when(wanted.inverse_sums, Sums::BYTES) + when(wanted.greatest, 4);
    ByLevels::bytes(graph) + sums * graph.vertices() as u64
}

/// Searches from each of these sources, which may be equal.
///
/// # Errors
///
/// If there is too little memory, or the work is cancelled.
pub(crate) fn solve(
    graph: &Csr,
    sources: &[VertexId],
    wanted: WantedSums,
    team: &Team,
    control: &Control,
) -> Result<LevelSums> {
    let at_once = sources.len().div_ceil(team.threads()).clamp(1, SEARCHES);
    let (claimed, done, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let results = team.run(|_| {
        let work = || -> Result<Option<Found>> {
            let mut begun = None;
            loop {
                let first = claimed.fetch_add(at_once, Ordering::Relaxed);
                if first >= sources.len() || failed.load(Ordering::Relaxed) {
                    return Ok(begun.map(|(_, found)| found));
                }
                // A thread that comes too late for a source needs no memory.
                let (searches, found) = match &mut begun {
                    Some(begun) => begun,
                    none => none.insert((ByLevels::new(graph)?, Found::new(graph.vertices(), wanted)?)),
                };
                let some = &sources[first..sources.len().min(first + at_once)];
                searches.run(some, u32::MAX, found, control)?;
                let done = done.fetch_add(some.len(), Ordering::Relaxed) + some.len();
                control.progress("solve", done as u64, sources.len() as u64)?;
            }
        };
        let result = work();
        if result.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        result
    });
    let mut all: Option<Found> = None;
    for result in results {
        let Some(found) = result? else { continue };
        match &mut all {
            None => all = Some(found),
            Some(all) => all.add_all(&found)?,
        }
    }
    match all {
        Some(all) => all.into_sums(),
        None => Found::new(graph.vertices(), wanted)?.into_sums(),
    }
}

/// What a thread has found. What is not wanted is empty.
struct Found {
    level: u32,
    by_level: Vec<u64>,
    reached: Vec<u32>,
    sums: Vec<u64>,
    inverse_sums: Option<Sums>,
    greatest: Vec<u32>,
}

impl Found {
    fn new(vertices: usize, wanted: WantedSums) -> Result<Self> {
        let when = |is_wanted| if is_wanted { vertices } else { 0 };
        Ok(Found {
            level: 0,
            by_level: Vec::new(),
            reached: memory::zeroed("searches that reach a vertex", vertices)?,
            sums: memory::zeroed("sums of levels", when(wanted.sums))?,
            inverse_sums: wanted.inverse_sums.then(|| Sums::new(vertices)).transpose()?,
            greatest: memory::zeroed("greatest levels", when(wanted.greatest))?,
        })
    }

    fn add_all(&mut self, others: &Found) -> Result<()> {
        let missing = others.by_level.len().saturating_sub(self.by_level.len());
        memory::grow("pairs of each level", &mut self.by_level, missing)?;
        self.by_level.resize(self.by_level.len() + missing, 0);
        self.by_level.iter_mut().zip(&others.by_level).for_each(|(sum, more)| *sum += more);
        self.reached.iter_mut().zip(&others.reached).for_each(|(sum, more)| *sum += more);
        self.sums.iter_mut().zip(&others.sums).for_each(|(sum, more)| *sum += more);
        if let (Some(sums), Some(others)) = (&mut self.inverse_sums, &others.inverse_sums) {
            sums.add_all(others);
        }
        self.greatest.iter_mut().zip(&others.greatest).for_each(|(most, other)| *most = (*most).max(*other));
        Ok(())
    }

    fn into_sums(self) -> Result<LevelSums> {
        Ok(LevelSums {
            by_level: self.by_level,
            reached: self.reached,
            sums: self.sums,
            inverse_sums: self.inverse_sums.map(Sums::into_floats).transpose()?.unwrap_or_default(),
            greatest: self.greatest,
        })
    }
}

impl Tally for Found {
    fn begin(&mut self, level: u32) -> Result<()> {
        self.level = level;
        if level as usize == self.by_level.len() {
            memory::grow("pairs of each level", &mut self.by_level, 1)?;
            self.by_level.push(0);
        }
        Ok(())
    }

    fn found(&mut self, vertex: VertexId, searches: Bits) {
        let count = searches.iter().map(|word| word.count_ones()).sum::<u32>();
        let vertex = vertex as usize;
        self.by_level[self.level as usize] += u64::from(count);
        self.reached[vertex] += count;
        if let Some(sum) = self.sums.get_mut(vertex) {
            *sum += u64::from(count) * u64::from(self.level);
        }
        if let Some(sums) = self.inverse_sums.as_mut().filter(|_| self.level > 0) {
            // However many searches find it at once, each adds the same.
            sums.add_times(vertex, 1.0 / f64::from(self.level), count);
        }
        if let Some(greatest) = self.greatest.get_mut(vertex) {
            *greatest = (*greatest).max(self.level);
        }
    }
}

#[cfg(test)]
mod tests;
