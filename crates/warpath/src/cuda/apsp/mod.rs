//! All-pairs shortest paths on a GPU: on the square matrix of all distances in the memory of one device, or by searches
//! ([`searches`]), from one source after another or from many at once.
//!
//! # On a matrix
//!
//! The host makes the matrix from the arcs and sends it there ([`matrix`]); an algorithm admits vertex after vertex, or
//! block after block; the rows that are wanted come back as numbers of the semiring's type. A matrix serves one request: it
//! is what the memory is for.
//!
//! # Cells, infinity and range
//!
//! Cells are as narrow as they may be ([`Cell`]), and sums of them are not checked. Why the result is exact is the same
//! argument as in the CPU's `tiled-floyd-warshall`. A missing arc is an arc of length *infinity*, half the greatest value
//! of the type: two of them add up without wrapping. Shortest paths leave every vertex at most once, so weights below
//! zero take away no more than `P`, the sum over all rows of what the least weight of the row is below zero: no pair
//! without a path ever falls below `threshold = infinity - P`. (If that is not above zero, the type is too narrow from
//! the start.) A true distance at or above the threshold would look like none. But then some vertex on its path has a
//! distance between `threshold - W` and the threshold, where `W` is the greatest weight: so if the greatest distance
//! found is below `threshold - W`, every cell is exact. Otherwise the type is too narrow, and the matrix is computed
//! again in the next wider one. Floats have their own infinity, and the same comparison.
//!
//! # Negative cycles
//!
//! Let `k` be the vertex of a cycle of negative length that is admitted last. Right before that, the cell `(k, k)` is
//! below zero. Every algorithm looks there before it admits a vertex, and stops: so lengths never fall without end. That
//! there is a cycle is all it tells; the solver then has the host find one. Rows of vertices that no source reaches are
//! left empty, so that a cycle among those doesn't matter.

pub(crate) mod batched;
pub(crate) mod blocked_floyd_warshall;
pub(crate) mod floyd_warshall;
pub(crate) mod hierarchy;
pub(crate) mod johnson;
pub(in crate::cuda) mod katz_kider;
pub(crate) mod matrix;
pub(crate) mod outgoing;
pub(crate) mod repeated_sssp;
pub(crate) mod rows;
pub(crate) mod searches;
pub(crate) mod strips;
pub(in crate::cuda) mod successors;
pub(crate) mod tiled_floyd_warshall;

use std::sync::Arc;

use katz_kider::pages::Pages;
use katz_kider::paging::Paging;
use matrix::{Matrix, Work};
use searches::SearchesAlgorithm;
use strips::{Cut, Kept, Room, Strips};

use super::device::Device;
use super::device::arena::{Arena, plan_of};
use super::matrix::Ended;
pub(crate) use super::semirings::{Cell, MinPlusOnDevice};
use crate::algorithms::{AlgorithmInfo, GraphFacts, Parameter, Parameters, Statistics, Unset, Values};
use crate::graph::{Graph, VertexId, with_min_plus};
use crate::plan::Plan;
use crate::problems::KeptState;
use crate::{Control, Error, Result};

/// How wide the cells are at first.
const CELL_BITS: Parameter = Parameter {
    name: "cell-bits",
    summary: "bits of a cell at first, before wider cells where these are too narrow: 16, 32 or 64, if the weights \
              have such",
    values: Values::Or(&Values::OneOf(&["16", "32", "64"]), Unset::InWords(|| "as narrow as will do".into())),
};

/// A matrix to be computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DenseTask<'a> {
    /// The graph.
    pub(crate) graph: &'a Graph,
    /// Which vertices have arcs here; all if it does not say.
    pub(crate) takes_part: Option<&'a [bool]>,
    /// The sources from which the first vertex after them is wanted, on the way to every other.
    pub(crate) successors_of: Option<&'a [VertexId]>,
    /// The parameters that the caller set.
    pub(crate) parameters: &'a Parameters,
    /// Who watches and may cancel.
    pub(crate) control: &'a Control,
    /// Where the state of work in strips is kept, if it is.
    pub(crate) state: Option<&'a KeptState>,
}

/// What came of a task.
#[derive(Debug)]
pub(crate) enum Solved {
    /// All distances.
    Matrix(Box<Computed>),
    /// Some vertices that take part are on a cycle of negative length.
    NegativeCycle,
    /// The distances don't fit the widest cells.
    TooNarrow,
}

/// A complete matrix.
#[derive(Debug)]
pub(crate) struct Computed {
    /// All distances.
    pub(crate) matrix: Finished,
    /// The counters.
    pub(crate) statistics: Statistics,
    /// How long it took to make the matrix of weights, to work on it, and to derive successors, in seconds.
    pub(crate) seconds: [f64; 3],
    /// The most that was taken on the device at any time.
    pub(crate) device_bytes: u64,
    /// Whether the length of a path, though perhaps of no shortest one, may have left the range of floats: rows tell.
    pub(crate) may_have_left_range: bool,
}

/// An all-pairs algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ApspAlgorithm {
    /// On the matrix of all pairs.
    OnMatrix(MatrixAlgorithm),
    /// By searches: row by row.
    BySearches(SearchesAlgorithm),
}

impl ApspAlgorithm {
    /// The facts known before it runs.
    pub(crate) fn info(&self) -> &AlgorithmInfo {
        match self {
            ApspAlgorithm::OnMatrix(algorithm) => &algorithm.info,
            ApspAlgorithm::BySearches(algorithm) => &algorithm.info,
        }
    }
}

/// A complete matrix, wherever it is.
#[derive(Debug)]
pub(crate) enum Finished {
    /// In one piece on one device.
    Whole(Box<Matrix>),
    /// In strips.
    Strips(Strips),
    /// In pages.
    Pages(Pages),
}

impl Finished {
    /// How many devices it is on, of those that were given.
    pub(crate) fn devices(&self) -> usize {
        match self {
            Finished::Whole(_) => 1,
            Finished::Strips(strips) => strips.devices(),
            Finished::Pages(pages) => pages.devices(),
        }
    }

    /// Rows from `first` on, as many as `to` has room for, as distances of the semiring that the matrix was made for.
    pub(crate) fn read_rows<L: MinPlusOnDevice>(&self, first: u64, to: &mut [L::Distance]) -> Result<()> {
        match self {
            Finished::Whole(matrix) => matrix.read_rows(first, to),
            Finished::Strips(strips) => strips.read_rows::<L>(first, to),
            Finished::Pages(pages) => pages.read_rows::<L>(first, to),
        }
    }

    /// The successors, if a device has found them; whether it has.
    pub(crate) fn read_successors(&self, to: &mut [VertexId]) -> Result<bool> {
        match self {
            Finished::Whole(matrix) => matrix.read_successors(to),
            Finished::Strips(_) | Finished::Pages(_) => Ok(false),
        }
    }

    /// The intermediate vertex of every pair, row by row, if the cells have them; whether they have.
    pub(crate) fn read_intermediates(&self, to: &mut [VertexId]) -> Result<bool> {
        match self {
            Finished::Whole(matrix) => katz_kider::read_intermediates(matrix, to),
            Finished::Strips(_) => Ok(false),
            Finished::Pages(pages) => pages.read_intermediates(to).map(|()| true),
        }
    }
}

/// In what an algorithm has a matrix that is beyond the memory of a device, or on several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// It has none.
    Nothing,
    /// In strips.
    Strips,
    /// In pages of cells with intermediate vertices.
    Pages,
}

/// How a matrix is cut.
#[derive(Debug, Clone, Copy)]
enum Parts {
    /// Not at all.
    Whole,
    /// Into strips.
    Strips(Cut),
    /// Into pages.
    Pages(Paging),
}

/// An all-pairs algorithm on a matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatrixAlgorithm {
    /// The facts known before it runs.
    pub(crate) info: AlgorithmInfo,
    /// Whether it has these cells, on a device with this compute capability.
    pub(crate) has: fn(Cell, (u32, u32)) -> bool,
    /// Rows and columns of the matrix are multiples of these.
    pub(crate) multiples: fn(Cell) -> (u64, u64),
    /// Takes room for what it needs beside the matrix.
    pub(in crate::cuda) layout: fn(Cell, vertices: u64, &mut Arena<'_>) -> Work,
    /// What it does beyond the memory of a device.
    pub(crate) beyond: Beyond,
    /// Does the work; statistics start with the time that the device took.
    pub(crate) eliminate: fn(&Matrix, &DenseTask<'_>) -> Result<(Ended, Statistics)>,
}

/// Every all-pairs algorithm of this engine.
pub(crate) static ALGORITHMS: &[ApspAlgorithm] = &[
    ApspAlgorithm::OnMatrix(tiled_floyd_warshall::ALGORITHM),
    ApspAlgorithm::BySearches(batched::ALGORITHM),
    ApspAlgorithm::BySearches(johnson::ALGORITHM),
    ApspAlgorithm::BySearches(hierarchy::ALGORITHM),
    ApspAlgorithm::OnMatrix(blocked_floyd_warshall::ALGORITHM),
    ApspAlgorithm::OnMatrix(katz_kider::ALGORITHM),
    ApspAlgorithm::OnMatrix(floyd_warshall::TUNED),
    ApspAlgorithm::OnMatrix(floyd_warshall::TUNED_ROWS),
    ApspAlgorithm::OnMatrix(floyd_warshall::ALGORITHM),
    ApspAlgorithm::OnMatrix(floyd_warshall::ROWS),
    ApspAlgorithm::BySearches(repeated_sssp::ALGORITHM),
    ApspAlgorithm::BySearches(repeated_sssp::NEAR_FAR),
    ApspAlgorithm::BySearches(repeated_sssp::ZERO_COPY),
];

impl MatrixAlgorithm {
    /// The cells to try for a graph, in this order, on a device with this compute capability; the newest if it is not
    /// known.
    ///
    /// # Errors
    ///
    /// If the width asked for is none that the semiring has here.
    pub(crate) fn cells<L: MinPlusOnDevice>(
        &self,
        graph: &GraphFacts,
        parameters: &Parameters,
        capability: Option<(u32, u32)>,
    ) -> Result<Vec<Cell>> {
        let room = likely_arcs(graph);
        let (low, high) = graph.weight_range;
        let greatest = low.abs().max(high.abs());
        let capability = capability.unwrap_or((u32::MAX, 0));
        let least_bits = parameters.word(CELL_BITS.name).and_then(|bits| bits.parse().ok()).unwrap_or(0);
        let all = if graph.has_negative_weights() { L::SIGNED_CELLS } else { L::CELLS };
        let there: Vec<Cell> = all.iter().copied().filter(|&cell| (self.has)(cell, capability)).collect();
        let last = there.last().copied();
        // What has been repeated in the wide semiring began with narrower cells.
        if least_bits > 0 && !L::REPEATS && !there.iter().any(|cell| 8 * cell.bytes() == least_bits) {
            let widths: Vec<String> = there.iter().map(|cell| (8 * cell.bytes()).to_string()).collect();
            return Err(Error::invalid(format!(
                "`{}` has no cells of {least_bits} bits for {} here; it has {}",
                self.info.name,
                L::NAME,
                if widths.is_empty() { "none at all".to_owned() } else { widths.join(", ") }
            )));
        }
        let suits = |cell: Cell| {
            let has_room = least_bits == 8 * cell.bytes() || cell.infinity() as f64 >= room * greatest;
            Some(cell) == last || (8 * cell.bytes() >= least_bits && has_room)
        };
        Ok(there.into_iter().filter(|&cell| suits(cell)).collect())
    }

    /// The cells that are tried first on a device of the newest kind.
    pub(crate) fn first_cell(&self, graph: &GraphFacts, parameters: &Parameters) -> Cell {
        let cells = with_min_plus!(graph.weight_kind, false, L => self.cells::<L>(graph, parameters, None));
        cells.ok().and_then(|cells| cells.first().copied()).unwrap_or(Cell::I64)
    }

    /// Whether its cells have intermediate vertices.
    pub(crate) fn has_intermediates(&self) -> bool {
        self.beyond == Beyond::Pages
    }

    /// How a matrix of such cells is cut.
    fn cut<L: MinPlusOnDevice>(&self, cell: Cell, vertices: u64, parameters: &Parameters, room: &Room) -> Parts {
        let whole = || self.plan_whole::<L>(cell, vertices, None).device_bytes();
        match self.beyond {
            Beyond::Nothing => Parts::Whole,
            Beyond::Strips => Cut::choose(cell, vertices, strips::asked(parameters), room, whole())
                .map_or(Parts::Whole, Parts::Strips),
            Beyond::Pages => {
                Paging::choose(cell, vertices, parameters, room, whole()).map_or(Parts::Whole, Parts::Pages)
            }
        }
    }

    /// The memory that a matrix of such cells takes in one piece, with the successors of this many sources if wanted.
    fn plan_whole<L: MinPlusOnDevice>(&self, cell: Cell, vertices: u64, successors_of: Option<u64>) -> Plan {
        plan_of(|arena| Matrix::layout::<L>(arena, self, cell, vertices, successors_of))
    }

    /// Whether a device can find the successors of this many sources, too; otherwise the host does.
    fn has_room_for_successors<L: MinPlusOnDevice>(
        &self,
        cell: Cell,
        vertices: u64,
        room: &Room,
        successors_of: Option<u64>,
    ) -> bool {
        self.plan_whole::<L>(cell, vertices, successors_of).device_bytes() <= room.device_bytes
    }

    /// The memory that a matrix of such cells takes on each device and on the host, with the successors of this many
    /// sources if they are wanted and there is room for them. Kept work is resumed, if that is possible.
    pub(crate) fn plan_matrix<L: MinPlusOnDevice>(
        &self,
        cell: Cell,
        vertices: u64,
        parameters: &Parameters,
        room: &Room,
        kept: Option<&Kept>,
        successors_of: Option<u64>,
    ) -> Plan {
        let kept = kept.filter(|kept| self.beyond == Beyond::Strips && kept.has(cell));
        let continued = kept.and_then(|kept| kept.cut(cell, vertices, parameters, room).ok());
        let cut = continued.map_or_else(|| self.cut::<L>(cell, vertices, parameters, room), Parts::Strips);
        self.plan_cut::<L>(cut, cell, vertices, room, successors_of)
    }

    fn plan_cut<L: MinPlusOnDevice>(
        &self,
        cut: Parts,
        cell: Cell,
        vertices: u64,
        room: &Room,
        successors_of: Option<u64>,
    ) -> Plan {
        match cut {
            Parts::Strips(cut) => cut.plan(),
            Parts::Pages(paging) => paging.plan(),
            Parts::Whole => {
                let fits = self.has_room_for_successors::<L>(cell, vertices, room, successors_of);
                self.plan_whole::<L>(cell, vertices, successors_of.filter(|_| fits))
            }
        }
    }

    /// What decides how floats are rounded.
    ///
    /// # Errors
    ///
    /// If the kept work is to be resumed, and can't be.
    pub(crate) fn rounding<L: MinPlusOnDevice>(
        &self,
        vertices: u64,
        parameters: &Parameters,
        room: &Room,
        kept: Option<&Kept>,
    ) -> Result<String> {
        let mut rounding = format!("cuda {}", self.info.name);
        if let Some(block) = parameters.word(super::matrix::blocks::BLOCK.name) {
            rounding += &format!(" in blocks of {block}");
        }
        let Some(&cell) = L::CELLS.first().filter(|cell| cell.is_float()) else { return Ok(rounding) };
        let cut = match kept.filter(|kept| self.beyond == Beyond::Strips && kept.has(cell)) {
            Some(kept) => Parts::Strips(kept.cut(cell, vertices, parameters, room)?),
            None => self.cut::<L>(cell, vertices, parameters, room),
        };
        match cut {
            Parts::Whole => {}
            Parts::Strips(cut) => rounding += &format!(" in strips of {}", cut.rows_of_strips()),
            Parts::Pages(paging) => rounding += &format!(" in pages of {}", paging.rows_of_pages()),
        }
        Ok(rounding)
    }

    /// Computes the matrix, in wider cells where narrow ones don't do.
    pub(crate) fn solve<L: MinPlusOnDevice>(
        &self,
        devices: &[Arc<dyn Device>],
        room: &Room,
        task: &DenseTask<'_>,
    ) -> Result<Solved> {
        let vertices = task.graph.vertices() as u64;
        let capability = devices.iter().map(|device| device.properties().compute_capability).min();
        let cells = self.cells::<L>(&GraphFacts::of(task.graph), task.parameters, capability)?;
        if cells.is_empty() {
            let name = self.info.name;
            return Err(Error::invalid(format!("`{name}` does not have the semiring {} on a GPU", L::NAME)));
        }
        let (mut repeated, mut device_bytes) = (0, 0);
        let mut kept = if self.beyond == Beyond::Strips { Kept::read(task.state) } else { None };
        if let Some(kept) = &kept {
            kept.check(task)?;
        }
        for cell in cells {
            let was_too_narrow = kept.as_ref().is_some_and(|kept| kept.is_wider_than(cell));
            let range = matrix::Range::of(task, cell).filter(|_| !was_too_narrow);
            let Some(range) = range else {
                repeated += 1;
                continue;
            };
            let start = std::time::Instant::now();
            let wanted = task.successors_of.map(|sources| sources.len() as u64);
            // A state from before cells turned out too narrow is useless.
            let continued = kept.take().filter(|kept| !(L::REPEATS && kept.is_narrower_than(cell)));
            let cut = match &continued {
                Some(kept) if kept.has(cell) => Parts::Strips(kept.cut(cell, vertices, task.parameters, room)?),
                Some(kept) => return Err(kept.refused_for(cell)),
                None => self.cut::<L>(cell, vertices, task.parameters, room),
            };
            let state = task.state.map(|state| KeptState { resume: continued.is_some(), ..state.clone() });
            let task = &DenseTask { state: state.as_ref(), ..*task };
            let plan = self.plan_cut::<L>(cut, cell, vertices, room, wanted);
            // What narrower cells were planned to take says nothing of these.
            plan.check_device(room.device_bytes)?;
            plan.check(room.host_bytes)?;
            device_bytes = device_bytes.max(plan.device_bytes());
            let mut matrix = match cut {
                Parts::Strips(cut) => Finished::Strips(Strips::new(devices, task, cut, range)?),
                Parts::Pages(paging) => Finished::Pages(Pages::new(devices, task, paging, range)?),
                Parts::Whole => {
                    let fits = self.has_room_for_successors::<L>(cell, vertices, room, wanted);
                    let task = &DenseTask { successors_of: task.successors_of.filter(|_| fits), ..*task };
                    Finished::Whole(Box::new(Matrix::upload::<L>(&devices[0], task, cell, range, self)?))
                }
            };
            let uploaded = start.elapsed().as_secs_f64();
            let start = std::time::Instant::now();
            let (ended, mut statistics) = match &mut matrix {
                Finished::Strips(strips) => strips.solve(task)?,
                Finished::Pages(pages) => pages.solve(task)?,
                Finished::Whole(matrix) => (self.eliminate)(matrix, task)?,
            };
            if ended == Ended::NegativeCycle {
                return Ok(Solved::NegativeCycle);
            }
            let is_in_range = match &matrix {
                Finished::Strips(strips) => strips.is_in_range()?,
                Finished::Pages(pages) => pages.is_in_range(),
                Finished::Whole(matrix) => matrix.is_in_range()?,
            };
            // Floats overflow to infinity, which no sum brings back.
            if is_in_range || cell.is_float() {
                statistics.push(("cell_bits", 8 * cell.bytes()));
                statistics.push(("repeated_in_wider_cells", repeated));
                let worked = start.elapsed().as_secs_f64();
                let start = std::time::Instant::now();
                if let Finished::Whole(matrix) = &matrix {
                    statistics.extend(matrix.derive_successors(task)?);
                }
                let seconds = [uploaded, worked, start.elapsed().as_secs_f64()];
                return Ok(Solved::Matrix(Box::new(Computed {
                    matrix,
                    statistics,
                    seconds,
                    device_bytes,
                    may_have_left_range: !is_in_range,
                })));
            }
            repeated += 1;
        }
        Ok(Solved::TooNarrow)
    }
}

/// How many of the heaviest arcs together are likely as long as the longest shortest path: cells that can't hold that
/// length are not tried. Where vertices have many arcs, few; otherwise as many as it is across a grid.
fn likely_arcs(graph: &GraphFacts) -> f64 {
    const MANY_ARCS: usize = 16;
    const FEW: f64 = 8.0;
    let vertices = graph.vertices;
    if graph.arcs / vertices.max(1) >= MANY_ARCS { FEW } else { FEW.max((vertices as f64).sqrt()) }
}

#[cfg(test)]
pub(super) mod tests;
