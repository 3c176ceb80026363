//! Transitive closure on GPUs: the matrix of bits in the memory of one device, or, by products, in strips.
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
use crate::problems::{BitMatrix, Line, ReachabilityBits};
use crate::{Control, Result};
use bit_product::strips::{self, Cut};
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

/// What there is to put a matrix in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// How many devices there are.
    pub(crate) devices: usize,
    /// How many bytes may be taken of each.
    pub(crate) device_bytes: u64,
    /// The least compute capability of these, if it is known.
    pub(crate) capability: Option<(u32, u32)>,
}

/// The algorithm for a matrix between so many vertices, and why.
pub(crate) fn for_matrix(vertices: usize, room: Room) -> (&'static ClosureAlgorithm, &'static str) {
    static PRODUCTS: ClosureAlgorithm = bit_product::ALGORITHM;
    static LOOK_UPS: ClosureAlgorithm = bit_warshall::ALGORITHM;
    if bit_product::pays(vertices, room.capability) {
        (&PRODUCTS, "tensor cores close the whole matrix")
    } else if LOOK_UPS.plan_in_one_piece(vertices).device_bytes() > room.device_bytes {
        (&PRODUCTS, "the matrix is more than the device's memory, and products work on strips of it")
    } else {
        (&LOOK_UPS, "a GPU works on the whole matrix")
    }
}

/// The bits of a row of a matrix, which are passed to the function that it gets.
type RowOfBits<'a> = dyn Fn(usize, &mut dyn FnMut(usize)) + Sync + 'a;

/// What came of a task.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Who reaches whom.
    pub(crate) bits: ReachabilityBits,
    /// The counters.
    pub(crate) statistics: Statistics,
    /// What it took on each device.
    pub(crate) device_bytes: u64,
    /// How many devices worked, of those that were given.
    pub(crate) devices: usize,
    /// How long it took to make the matrix of arcs, to work on it, and to bring it back, in seconds.
    pub(crate) seconds: [f64; 3],
}

/// What algorithms take beside the matrix of bits.
#[derive(Debug, Clone, Copy)]
enum Work {
    /// What tiles need.
    Tiles(Workspace),
    /// What products need, and packed columns.
    Products(bit_product::Workspace, DeviceSlice<u32>),
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
    /// Rows and words of a row, of which there are as many as lines have in a [`BitMatrix`].
    fn sides(&self, vertices: u64) -> (u64, u64) {
        const WORDS_OF_LINE: u64 = Line::BITS as u64 / 32;
        let (rows, words) = self.multiples;
        (vertices.next_multiple_of(rows), vertices.div_ceil(32).next_multiple_of(words.max(WORDS_OF_LINE)))
    }

    /// Whether several devices may share the work.
    pub(crate) fn may_be_shared(&self, graph: &Graph) -> bool {
        let by_products = self.info.name == bit_product::ALGORITHM.info.name || self.condenses && graph.is_directed();
        by_products && strips::may_be_shared(graph.vertices() as u64)
    }

    /// What it takes: the matrix on both sides, and its work on the device. Where that could be much, components are
    /// counted, in O(V + E).
    pub(crate) fn plan(&self, graph: &Graph, parameters: &Parameters, room: Room) -> Result<Plan> {
        const MUCH: u64 = 1 << 30;
        let vertices = graph.vertices();
        if !self.condenses {
            return Ok(self.plan_matrix(vertices, parameters, room));
        }
        let with_components = |components: usize| {
            let is_directed = graph.is_directed();
            let mut plan = if is_directed { self.plan_matrix(components, parameters, room) } else { Plan::new() };
            condensation::plan(graph, components as u64, &mut plan);
            plan
        };
        let at_most = with_components(vertices);
        // A smaller matrix takes less where it is in one piece.
        let (algorithm, _) = for_matrix(vertices, room);
        let is_whole = algorithm.cut(vertices, parameters, room).is_none();
        if is_whole && at_most.device_bytes() <= room.device_bytes.min(MUCH) {
            return Ok(at_most);
        }
        Ok(with_components(condensation::count(graph)?))
    }

    /// The same for a matrix of this many rows and columns.
    fn plan_matrix(&self, vertices: usize, parameters: &Parameters, room: Room) -> Plan {
        if self.condenses {
            return for_matrix(vertices, room).0.plan_matrix(vertices, parameters, room);
        }
        match self.cut(vertices, parameters, room) {
            Some(cut) => {
                let mut plan = cut.plan();
                plan.memory("matrix of bits", BitMatrix::bytes(vertices, vertices));
                plan
            }
            None => self.plan_in_one_piece(vertices),
        }
    }

    fn plan_in_one_piece(&self, vertices: usize) -> Plan {
        let mut plan = Plan::new();
        plan.memory("matrix of bits", BitMatrix::bytes(vertices, vertices));
        if vertices > 0 {
            self.layout(vertices as u64, &mut Arena::counting(&mut plan));
        }
        plan
    }

    /// How the matrix is cut into strips, if it is.
    fn cut(&self, vertices: usize, parameters: &Parameters, room: Room) -> Option<Cut> {
        let by_products = self.info.name == bit_product::ALGORITHM.info.name && vertices > 0;
        let in_one_piece = || self.plan_in_one_piece(vertices).device_bytes();
        by_products.then(|| Cut::choose(vertices as u64, parameters, room, in_one_piece())).flatten()
    }

    /// Takes room for a matrix of this many rows and columns, and the work on it.
    fn layout(&self, vertices: u64, arena: &mut Arena<'_>) -> (DeviceSlice<u32>, Work) {
        let (rows, pitch) = self.sides(vertices);
        (arena.take("matrix of bits", rows.saturating_mul(pitch)), (self.layout)(vertices, arena))
    }

    /// Computes the closure on some of these devices, of which there is at least one.
    pub(crate) fn solve(
        &self,
        devices: &[Arc<dyn Device>],
        task: &ClosureTask<'_>,
        device_bytes: u64,
    ) -> Result<Closed> {
        let (graph, irreflexive) = (task.graph, task.irreflexive);
        let capability = devices.iter().map(|device| device.properties().compute_capability).min();
        let room = Room { devices: devices.len(), device_bytes, capability };
        if !self.condenses {
            return self.close_matrix(devices, task, room, (graph.vertices(), false), &|u, set| {
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
            let (algorithm, _) = for_matrix(condensation.count(), room);
            let row: &RowOfBits<'_> = &|c, set| condensation.row(c, set);
            algorithm.close_matrix(devices, task, room, (condensation.count(), true), row)?
        } else {
            let bits = ReachabilityBits::Matrix(BitMatrix::new(0, 0)?);
            Closed { bits, statistics: Vec::new(), device_bytes: 0, devices: 1, seconds: [0.0; 3] }
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

    /// Closes a matrix of this many rows and columns, which may be a triangle.
    fn close_matrix(
        &self,
        devices: &[Arc<dyn Device>],
        task: &ClosureTask<'_>,
        room: Room,
        (vertices, is_triangle): (usize, bool),
        row: &RowOfBits<'_>,
    ) -> Result<Closed> {
        if let Some(cut) = self.cut(vertices, task.parameters, room) {
            return strips::close(devices, task, cut, (vertices, is_triangle), row);
        }
        let device = &devices[0];
        let start = Instant::now();
        let (rows, pitch) = self.sides(vertices as u64);
        let device_bytes = self.plan_in_one_piece(vertices).device_bytes();
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
        let seconds = [prepare, solve, start.elapsed().as_secs_f64()];
        Ok(Closed { bits, statistics, device_bytes, devices: 1, seconds })
    }
}

/// Writes the words from `first` on of a matrix with rows of `pitch` words.
fn write_bits(first: usize, piece: &mut [u32], pitch: usize, vertices: usize, row: &RowOfBits<'_>) {
    piece.fill(0);
    for u in first / pitch..(first + piece.len()).div_ceil(pitch).min(vertices) {
        row(u, &mut |v| {
            if let Some(word) = (u * pitch + v / 32).checked_sub(first).and_then(|at| piece.get_mut(at)) {
                *word |= 1 << (v % 32);
            }
        });
    }
}

impl Bits {
    fn upload(&self, vertices: usize, row: &RowOfBits<'_>) -> Result<()> {
        let pitch = self.pitch as usize;
        self.pool.upload_with(self.words, self.rows as usize * pitch, |range, piece| {
            write_bits(range.start, piece, pitch, vertices, row);
        })
    }

    fn download(&self, vertices: usize) -> Result<BitMatrix> {
        let mut bits = BitMatrix::new(vertices, vertices)?;
        let row = bits.lines_per_row() * (Line::BITS / 32);
        let words = self.words.part(0, vertices as u64 * self.pitch);
        let take = |from: &[u32], to: &mut [u32]| to.copy_from_slice(from);
        self.pool.read_rows(words, [row, self.pitch as usize], bits.all_words_mut(), &take)?;
        Ok(bits)
    }
}

#[cfg(test)]
mod tests;
