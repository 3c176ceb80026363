//! Transitive closure on a GPU: the matrix of bits in the memory of one device.
//!
//! The host makes the rows of bits from the arcs and sends them there; an algorithm admits vertex after vertex, or block
//! after block, exactly as for distances, with `or` for the minimum and `and` for the sum; the rows come back. A vertex
//! reaches itself from the start, or, in the irreflexive closure, where it is found on a cycle.

pub(super) mod bit_product;
mod bit_warshall;
pub(crate) mod condensation;
pub(super) mod warshall;

use std::sync::Arc;
use std::time::Instant;

use super::device::arena::Arena;
use super::device::memory::{DeviceSlice, Pool};
use super::device::{Device, Image};
use super::matrix::tiles::Workspace;
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::{BitMatrix, ReachabilityBits};
use crate::{Control, Result, memory};
use condensation::Condensation;

/// A closure to be computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClosureTask<'a> {
    /// The graph, of at least one vertex.
    pub(crate) graph: &'a Graph,
    /// Whether a vertex reaches itself only on a cycle.
    pub(crate) irreflexive: bool,
    /// The parameters that the caller set.
    pub(crate) parameters: &'a Parameters,
    /// Who may cancel.
    pub(crate) control: &'a Control,
}

/// A transitive closure algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClosureAlgorithm {
    /// The facts known before it runs.
    pub(crate) info: AlgorithmInfo,
    /// Whether the matrix is one between strongly connected components.
    pub(crate) condenses: bool,
    /// A kernel and its image, which is loaded before the work.
    kernel: (&'static Image, &'static str),
    /// Rows of the matrix of bits, and 32-bit words of a row, are multiples of these.
    multiples: (u64, u64),
    /// Takes room for the algorithm's own arrays, for this many vertices.
    layout: fn(vertices: u64, &mut Arena<'_>) -> Work,
    /// Does the work; statistics start with the time that the device took.
    close: fn(&Bits, &ClosureTask<'_>) -> Result<Statistics>,
}

/// Every transitive closure algorithm of this engine.
pub(crate) static ALGORITHMS: &[ClosureAlgorithm] = &[
    bit_warshall::ALGORITHM,
    bit_product::ALGORITHM,
    condensation::ALGORITHM,
    warshall::BLOCKED,
    warshall::TUNED,
    warshall::ALGORITHM,
];

/// The algorithm for a matrix between so many vertices, and why. The device has this compute capability, if that is known.
pub(crate) fn for_matrix(vertices: usize, capability: Option<(u32, u32)>) -> (&'static ClosureAlgorithm, &'static str) {
    static PRODUCTS: ClosureAlgorithm = bit_product::ALGORITHM;
    static LOOK_UPS: ClosureAlgorithm = bit_warshall::ALGORITHM;
    if bit_product::pays(vertices, capability) {
        (&PRODUCTS, "tensor cores close the whole matrix")
    } else {
        (&LOOK_UPS, "a GPU works on the whole matrix")
    }
}

/// What came of a task.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Who reaches whom.
    pub(crate) bits: ReachabilityBits,
    /// The counters.
    pub(crate) statistics: Statistics,
    /// What it took on the device.
    pub(crate) device_bytes: u64,
    /// How long it took to make the matrix of arcs, to work on it, and to bring it back, in seconds.
    pub(crate) seconds: [f64; 3],
}

/// What algorithms take beside the matrix of bits.
#[derive(Debug, Clone, Copy)]
enum Work {
    /// What tiles need.
    Tiles(Workspace),
    /// What products need.
    Products(bit_product::Workspace),
    /// A word for each pair, and a flag.
    Words(DeviceSlice<u32>, DeviceSlice<u32>),
}

/// A matrix of bits on a device.
#[derive(Debug)]
struct Bits {
    pool: Pool,
    words: DeviceSlice<u32>,
    work: Work,
    rows: u64,
    /// Words in a row.
    pitch: u64,
    /// Whether arcs lead to vertices with smaller numbers only, or to their tail.
    is_triangle: bool,
}

impl ClosureAlgorithm {
    /// Rows and words of a row.
    fn sides(&self, vertices: u64) -> (u64, u64) {
        let (rows, words) = self.multiples;
        (vertices.next_multiple_of(rows), vertices.div_ceil(32).next_multiple_of(words))
    }

    /// What it takes: the matrix on both sides, and its work on the device. Where that could be much, components are
    /// counted, in O(V + E).
    pub(crate) fn plan(&self, graph: &Graph) -> Result<Plan> {
        const MUCH: u64 = 1 << 30;
        let vertices = graph.vertices();
        if !self.condenses {
            return Ok(self.plan_matrix(vertices));
        }
        let with_components = |components: usize| {
            let mut plan = if graph.is_directed() { self.plan_matrix(components) } else { Plan::new() };
            condensation::plan(graph, components as u64, &mut plan);
            plan
        };
        let at_most = with_components(vertices);
        if at_most.device_bytes() <= MUCH {
            return Ok(at_most);
        }
        Ok(with_components(condensation::count(graph)?))
    }

    /// The same for a matrix of this many rows and columns; between components, whichever algorithm takes more.
    fn plan_matrix(&self, vertices: usize) -> Plan {
        if self.condenses {
            let plans = [bit_product::ALGORITHM, bit_warshall::ALGORITHM].map(|each| each.plan_matrix(vertices));
            return plans.into_iter().max_by_key(Plan::device_bytes).unwrap_or_default();
        }
        let mut plan = Plan::new();
        plan.memory("matrix of bits", BitMatrix::bytes(vertices, vertices));
        if vertices > 0 {
            self.layout(vertices as u64, &mut Arena::counting(&mut plan));
        }
        plan
    }

    /// Takes room for a matrix of this many rows and columns, and the work on it.
    fn layout(&self, vertices: u64, arena: &mut Arena<'_>) -> (DeviceSlice<u32>, Work) {
        let (rows, pitch) = self.sides(vertices);
        (arena.take("matrix of bits", rows.saturating_mul(pitch)), (self.layout)(vertices, arena))
    }

    /// Computes the closure.
    pub(crate) fn solve(&self, device: &Arc<dyn Device>, task: &ClosureTask<'_>) -> Result<Closed> {
        let (graph, irreflexive) = (task.graph, task.irreflexive);
        if !self.condenses {
            return self.close_matrix(device, task, graph.vertices(), false, |u, set| {
                graph.neighbors(u as VertexId).iter().for_each(|&v| set(v as usize));
                if !irreflexive {
                    set(u);
                }
            });
        }
        let start = Instant::now();
        let condensation = Condensation::of(graph)?;
        task.control.check()?;
        let components = start.elapsed().as_secs_f64();
        let mut closed = if graph.is_directed() {
            let (algorithm, _) = for_matrix(condensation.count(), Some(device.properties().compute_capability));
            algorithm.close_matrix(device, task, condensation.count(), true, |c, set| condensation.row(c, set))?
        } else {
            let bits = ReachabilityBits::Matrix(BitMatrix::new(0, 0)?);
            Closed { bits, statistics: Vec::new(), device_bytes: 0, seconds: [0.0; 3] }
        };
        let bits = match closed.bits {
            ReachabilityBits::Matrix(bits) if graph.is_directed() => Some(bits),
            _ => None,
        };
        let (condensed, counted) = condensation.close(irreflexive, bits)?;
        closed.statistics.extend(counted);
        closed.seconds[0] += components;
        Ok(Closed { bits: ReachabilityBits::Condensed(condensed), ..closed })
    }

    /// Closes a matrix of this many rows and columns, which may be a triangle; `row` passes the bits of a row to the function that it gets.
    fn close_matrix(
        &self,
        device: &Arc<dyn Device>,
        task: &ClosureTask<'_>,
        vertices: usize,
        is_triangle: bool,
        row: impl Fn(usize, &mut dyn FnMut(usize)) + Sync,
    ) -> Result<Closed> {
        let start = Instant::now();
        let (rows, pitch) = self.sides(vertices as u64);
        let device_bytes = self.plan_matrix(vertices).device_bytes();
        let (pool, (words, work)) = Pool::lay_out(device, |arena| self.layout(vertices as u64, arena))?;
        let there = Bits { pool, words, work, rows, pitch, is_triangle };
        there.upload(vertices, row)?;
        device.function(self.kernel.0, self.kernel.1)?;
        device.synchronize()?;
        let prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let statistics = (self.close)(&there, task)?;
        let solve = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let bits = ReachabilityBits::Matrix(there.download(vertices)?);
        Ok(Closed { bits, statistics, device_bytes, seconds: [prepare, solve, start.elapsed().as_secs_f64()] })
    }
}

impl Bits {
    fn upload(&self, vertices: usize, row: impl Fn(usize, &mut dyn FnMut(usize)) + Sync) -> Result<()> {
        let pitch = self.pitch as usize;
        self.pool.upload_with(self.words, self.rows as usize * pitch, |range, piece| {
            piece.fill(0);
            for u in range.start / pitch..range.end.div_ceil(pitch).min(vertices) {
                row(u, &mut |v| {
                    if let Some(word) = (u * pitch + v / 32).checked_sub(range.start).and_then(|at| piece.get_mut(at)) {
                        *word |= 1 << (v % 32);
                    }
                });
            }
        })
    }

    fn download(&self, vertices: usize) -> Result<BitMatrix> {
        /// Words that come at once, unless a row has more.
        const WORDS: usize = 4 << 20;
        let pitch = self.pitch as usize;
        let mut bits = BitMatrix::new(vertices, vertices)?;
        let at_once = (WORDS / pitch).max(1);
        let mut words: Vec<u32> = memory::zeroed("a block of rows", at_once.min(vertices) * pitch)?;
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
