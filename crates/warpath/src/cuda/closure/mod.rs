//! Transitive closure on a GPU: the matrix of bits in the memory of one device.
//!
//! The host makes the rows of bits from the arcs and sends them there; an algorithm admits vertex after vertex, or block
//! after block, exactly as for distances, with `or` for the minimum and `and` for the sum; the rows come back. A vertex
//! reaches itself from the start, or, in the irreflexive closure, where it is found on a cycle.

mod bit_warshall;
mod warshall;

use std::sync::Arc;
use std::time::Instant;

use super::device::Device;
use super::device::memory::{DeviceSlice, Pool};
use super::graph::plan_array;
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::BitMatrix;
use crate::{Control, Result};

/// A closure to be computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClosureTask<'a> {
    /// The graph, of at least one vertex.
    pub(crate) graph: &'a Graph,
    /// Whether a vertex reaches itself only on a cycle.
    pub(crate) irreflexive: bool,
    /// What was set by the caller.
    pub(crate) parameters: &'a Parameters,
    /// Who may cancel.
    pub(crate) control: &'a Control,
}

/// A transitive closure algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClosureAlgorithm {
    /// What is known of it before it runs.
    pub(crate) info: AlgorithmInfo,
    /// Rows of the matrix of bits, and 32-bit words of a row, are multiples of these.
    multiples: (u64, u64),
    /// Adds what it takes beside that, for so many vertices.
    plan: fn(vertices: u64, &mut Plan),
    /// Does the work; statistics start with the time that the device took.
    close: fn(&mut Bits, &ClosureTask<'_>) -> Result<Statistics>,
}

/// Every transitive closure algorithm of this engine.
pub(crate) static ALGORITHMS: &[ClosureAlgorithm] = &[bit_warshall::ALGORITHM, warshall::BLOCKED, warshall::ALGORITHM];

/// What came of a task.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Who reaches whom.
    pub(crate) bits: BitMatrix,
    /// What was counted.
    pub(crate) statistics: Statistics,
    /// How long it took to make the matrix of arcs, to work on it, and to bring it back, in seconds.
    pub(crate) seconds: [f64; 3],
}

/// A matrix of bits on a device.
#[derive(Debug)]
struct Bits {
    pool: Pool,
    words: DeviceSlice<u32>,
    rows: u64,
    /// Words in a row.
    pitch: u64,
}

impl ClosureAlgorithm {
    /// Rows and words of a row.
    fn sides(&self, vertices: u64) -> (u64, u64) {
        let (rows, words) = self.multiples;
        (vertices.next_multiple_of(rows), vertices.div_ceil(32).next_multiple_of(words))
    }

    /// What it takes: the matrix on both sides, and its work on the device.
    pub(crate) fn plan(&self, graph: &Graph) -> Plan {
        let vertices = graph.vertices();
        let mut plan = Plan::new();
        plan.memory("matrix of bits", BitMatrix::bytes(vertices, vertices));
        if vertices > 0 {
            let (rows, pitch) = self.sides(vertices as u64);
            plan_array::<u32>(&mut plan, "matrix of bits", rows.saturating_mul(pitch));
            (self.plan)(vertices as u64, &mut plan);
        }
        plan
    }

    /// Computes the closure.
    pub(crate) fn solve(&self, device: &Arc<dyn Device>, task: &ClosureTask<'_>) -> Result<Closed> {
        let start = Instant::now();
        let vertices = task.graph.vertices();
        let (rows, pitch) = self.sides(vertices as u64);
        let mut pool = Pool::new(device, self.plan(task.graph).device_bytes())?;
        let words = pool.take::<u32>(rows * pitch)?;
        let mut there = Bits { pool, words, rows, pitch };
        there.upload(task)?;
        device.synchronize()?;
        let prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let statistics = (self.close)(&mut there, task)?;
        let solve = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let bits = there.download(vertices)?;
        Ok(Closed { bits, statistics, seconds: [prepare, solve, start.elapsed().as_secs_f64()] })
    }
}

impl Bits {
    fn upload(&self, task: &ClosureTask<'_>) -> Result<()> {
        let pitch = self.pitch as usize;
        self.pool.upload_with(self.words, self.rows as usize * pitch, |range, piece| {
            piece.fill(0);
            let vertices = range.start / pitch..range.end.div_ceil(pitch).min(task.graph.vertices());
            for u in vertices {
                let mut set = |v: usize| {
                    if let Some(word) = (u * pitch + v / 32).checked_sub(range.start).and_then(|at| piece.get_mut(at)) {
                        *word |= 1 << (v % 32);
                    }
                };
                task.graph.neighbors(u as VertexId).iter().for_each(|&v| set(v as usize));
                if !task.irreflexive {
                    set(u);
                }
            }
        })
    }

    fn download(&self, vertices: usize) -> Result<BitMatrix> {
        /// Words that come at once, unless a row has more.
        const WORDS: usize = 4 << 20;
        let pitch = self.pitch as usize;
        let mut bits = BitMatrix::new(vertices, vertices);
        let at_once = (WORDS / pitch).max(1);
        let mut words = vec![0_u32; at_once.min(vertices) * pitch];
        for first in (0..vertices).step_by(at_once) {
            let count = at_once.min(vertices - first);
            let words = &mut words[..count * pitch];
            self.pool.read_into(self.words.part((first * pitch) as u64, words.len() as u64), words)?;
            for (row, words) in words.chunks_exact(pitch).enumerate() {
                let lines = bits.lines_mut(first + row).iter_mut().flat_map(|line| &mut line.0);
                for (word, halves) in lines.zip(words.chunks(2)) {
                    *word = u64::from(halves[0]) | halves.get(1).map_or(0, |&upper| u64::from(upper) << 32);
                }
            }
        }
        Ok(bits)
    }
}

#[cfg(test)]
mod tests;
