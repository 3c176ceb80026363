//! All pairs of a dense graph: Floyd–Warshall in blocks, the matrix in parts on a grid of ranks.
//!
//! No rank has the graph or the matrix as a whole: it has a block, the cells where its rows and columns cross. With a *pivot*, some consecutive
//! vertices, a step is that of `tiled-floyd-warshall` on one machine: the pivot's own cells are closed and told to the ranks that have its rows or
//! columns; these relax their parts of the *panels*, rows `above` and columns to the `left`, and tell them to the ranks in their column and in
//! their row; then every rank lowers its block by the product of the two.
//!
//! The panels of the next pivot are lowered first, relaxed, and on their way while the rest of the block is lowered: so ranks wait for each other
//! only if a panel takes longer than a block.
//!
//! Cells are integers of 16 bits where weights are small, of 32, or of 64: the next ones if a distance might have been lost ([`BlockCell::NO_PATH`]). So distances are those of one machine. Those of
//! floats would not be: sums in another order are rounded differently.
//!
//! The certificate is another product: each distance from a vertex to another has to be the least sum of a distance and the weight of an arc. With
//! weights above 0, only shortest distances are so. It takes as long as the search.
//!
//! Work O(V³) for all ranks, whatever the number of arcs; memory of a rank its share of the matrix. A rank tells its block twice, once by rows and once
//! by columns; so what all ranks receive grows with the square root of their number.
//!
//! Sources: G. Venkataraman, S. Sahni, S. Mukhopadhyaya, A blocked all-pairs shortest-paths algorithm, JEA 8, 2003; the grid of S. Gupta, P. Sadayappan
//! and others for dense matrices: R. van de Geijn, J. Watts, SUMMA: scalable universal matrix multiplication algorithm, 1997; panels ahead as in P. Sao
//! et al., Scalable all-pairs shortest paths for huge graphs on multi-GPU clusters, HPDC 2021.

use std::ops::Range;
use std::time::Instant;

use bytemuck::Pod;
use mpi::datatype::Equivalence;
use warpath::blocks::{BlockCell, PackedRows};
use warpath::formats::PartialFile;
use warpath::graph::{DistanceValue, I32ToI64, MinPlus, U32ToU32, U32ToU64, Unit, UnitToU32, Weight, WeightKind};
use warpath::{Error, Result};

use crate::algorithm::RankAlgorithm;
use crate::all_pairs::AllPairs;
use crate::allocation::{copied, filled, with_capacity};
use crate::facts::facts;
use crate::graph::{PartOfGraph, Parts};
use crate::grid::{Grid, PIVOT};
use crate::matrix_file::write_blocks;
use crate::plan::RankPlan;
use crate::reduced::Reduced;
use crate::source::Source;
use crate::words::{pull, push};
use crate::world::{Outcome, Reduction, Traffic, World};

/// What [`floyd_warshall`] is called by.
pub const FLOYD_WARSHALL: RankAlgorithm = RankAlgorithm {
    name: "floyd-warshall-2d",
    source: "Venkataraman et al. 2003, on a grid of ranks as in van de Geijn and Watts 1997",
    undirected_only: false,
};

/// Rows of a block that are lowered before MPI is asked to carry on.
const ROWS_AT_ONCE: usize = 192;

/// What is asked for of a matrix of all pairs that all ranks share.
#[derive(Debug, Default)]
pub struct SharedMatrix {
    /// Whether the result is checked.
    pub verify: bool,
    /// Bytes of memory that a rank may take; its share of what the host has if there is no limit.
    pub memory: Option<u64>,
    /// The `.npy` that takes the matrix, which rank 0 has created.
    pub file: Option<PartialFile>,
    /// Whether there is such a file, on all ranks.
    pub writes: bool,
}

/// Solves all pairs of a graph that no rank has as a whole. All ranks call it with the same request. Also returns the number of arcs.
///
/// # Errors
///
/// [`Error::InvalidRequest`] if weights are floats or below 0, or there are 2³² vertices; [`Error::OutOfMemory`] if a block does not fit a rank;
/// [`Error::DistanceOverflow`]; [`Error::NotVerified`]; [`Error::Io`] if a rank can't write: the folder of the file has to be one that all hosts share; and
/// the errors of [`PartOfGraph::load`].
pub fn floyd_warshall(world: &World, source: &Source<'_>, request: SharedMatrix) -> Outcome<(AllPairs, u64)> {
    world.agree(check_matrix(source))?;
    let plan = RankPlan::of_matrix(world, source, request.memory, request.verify)?;
    world.agree(plan.check())?;
    match source.weight_kind() {
        WeightKind::Unit => solve::<Unit>(world, source, request),
        WeightKind::I32 => solve::<i32>(world, source, request),
        _ => solve::<u32>(world, source, request),
    }
}

/// An error if ranks can't share a matrix of this graph, as far as that is known before it is read.
///
/// # Errors
///
/// [`Error::InvalidRequest`] if weights are floats, or there are 2^32 vertices.
pub fn check_matrix(source: &Source<'_>) -> Result<()> {
    match source.weight_kind() {
        WeightKind::F32 | WeightKind::F64 => Err(Error::invalid(format!(
            "`{}` has no weights that are floats: they would be rounded otherwise than on one machine",
            FLOYD_WARSHALL.name
        ))),
        _ if source.vertices() > u32::MAX.into() => Err(Error::invalid("a matrix has up to 2^32 rows")),
        _ => Ok(()),
    }
}

/// With weights `W`, in cells of 32 bits if these may do.
fn solve<W: Weight>(world: &World, source: &Source<'_>, request: SharedMatrix) -> Outcome<(AllPairs, u64)> {
    let start = Instant::now();
    let graph = PartOfGraph::<W>::load(world, source, Parts::Consecutive)?;
    let (least, greatest) = graph.weight_range();
    let arcs = graph.arcs();
    let checked = if least < 0.0 {
        Err(Error::invalid("ranks take weights of 0 or more"))
    } else if request.verify && arcs > 0 && least == 0.0 {
        Err(Error::invalid(format!(
            "`{}` verifies distances where all weights are above 0, and some weight of this graph is 0",
            FLOYD_WARSHALL.name
        )))
    } else {
        Ok(())
    };
    world.agree(checked)?;
    let grid = Grid::of(world, graph.vertices() as usize);
    let load = start.elapsed().as_secs_f64();
    let mut work = Work { grid: &grid, graph, greatest: greatest as u64, request, load };
    // Weights this small leave room for some arcs in a path.
    let are_short = work.greatest <= u64::from(u16::NO_PATH / 4) && W::KIND != WeightKind::I32;
    if are_short && let Some(solved) = work.in_cells::<u16>()? {
        let solved = Some(solved.with(world, widened)?);
        let found = match W::KIND {
            WeightKind::Unit => work.finish::<UnitToU32>(solved, false)?,
            _ => work.finish::<U32ToU32>(solved, false)?,
        };
        return Ok((found, arcs));
    }
    let found = match W::KIND {
        WeightKind::Unit => {
            let solved = work.in_cells::<u32>()?.map(|solved| solved.with(world, same)).transpose()?;
            work.finish::<UnitToU32>(solved, false)?
        }
        WeightKind::I32 => {
            let solved = work.in_cells::<u64>()?.map(|solved| solved.with(world, same)).transpose()?;
            work.finish::<I32ToI64>(solved, false)?
        }
        _ => match work.in_cells::<u32>()? {
            Some(solved) => work.finish::<U32ToU32>(Some(solved.with(world, same)?), false)?,
            None => match work.in_cells::<u64>()? {
                // Half of the range of 32 bits was not enough; all of it is.
                Some(solved) if solved.farthest < u32::MAX.into() => {
                    work.finish::<U32ToU32>(Some(solved.with(world, narrowed)?), false)?
                }
                solved => {
                    let solved = solved.map(|solved| solved.with(world, same)).transpose()?;
                    work.finish::<U32ToU64>(solved, true)?
                }
            },
        },
    };
    Ok((found, arcs))
}

/// Cells as distances, which have as many bits.
fn same<T: BlockCell + Pod, D: DistanceValue>(mut block: Vec<T>) -> Result<Vec<D>> {
    let unreachable: T = bytemuck::cast(D::UNREACHABLE);
    block.iter_mut().filter(|cell| **cell >= T::NO_PATH).for_each(|cell| *cell = unreachable);
    Ok(bytemuck::allocation::cast_vec(block))
}

/// Cells as distances of twice as many bits.
fn widened(block: Vec<u16>) -> Result<Vec<u32>> {
    let mut distances = with_capacity("distances of the block", block.len())?;
    distances.extend(block.into_iter().map(|cell| if cell < u16::NO_PATH { cell.into() } else { u32::MAX }));
    Ok(distances)
}

/// Cells as distances of half as many bits, in which those of paths have room.
fn narrowed(block: Vec<u64>) -> Result<Vec<u32>> {
    // The standard library does this in place.
    Ok(block.into_iter().map(|cell| u32::try_from(cell).unwrap_or(u32::MAX)).collect())
}

/// A matrix in the making.
struct Work<'g, W> {
    grid: &'g Grid<'g>,
    graph: PartOfGraph<W>,
    greatest: u64,
    request: SharedMatrix,
    /// Seconds.
    load: f64,
}

/// A block, once the matrix is solved.
struct Solved<T> {
    block: Vec<T>,
    /// The greatest distance of all ranks; 0 if there is none.
    farthest: u64,
    /// Seconds.
    solve: f64,
    verify: f64,
    /// What this rank sent while it solved.
    traffic: Traffic,
}

impl<T> Solved<T> {
    fn with<D>(self, world: &World, distances_of: impl FnOnce(Vec<T>) -> Result<Vec<D>>) -> Outcome<Solved<D>> {
        let Solved { block, farthest, solve, verify, traffic } = self;
        Ok(Solved { block: world.agree(distances_of(block))?, farthest, solve, verify, traffic })
    }
}

impl<W: Weight> Work<'_, W> {
    /// Solves in cells of type `T`, and checks the result if that is asked for; `None` if a distance might have been lost.
    fn in_cells<T>(&mut self) -> Outcome<Option<Solved<T>>>
    where
        T: BlockCell + Equivalence + Pod + TryFrom<u64> + Into<u64>,
    {
        let (grid, world) = (self.grid, self.grid.world);
        // No distance is far enough below what stands for none.
        let limit = T::NO_PATH.into().saturating_sub(self.greatest);
        if limit == 0 {
            return Ok(None);
        }
        let start = Instant::now();
        let mut block = cells_of::<W, T>(grid, &self.graph)?;
        let arcs = match self.request.verify {
            true => Some(world.agree(copied("the block of weights", &block))?),
            false => None,
        };
        set_diagonal(grid, &mut block, T::zeroed());
        self.load += start.elapsed().as_secs_f64();
        let (start, before) = (Instant::now(), world.traffic());
        let mut matrix = Matrix { grid, block, failure: None };
        matrix.close();
        let Matrix { block, failure, .. } = matrix;
        world.agree(failure.map_or(Ok(()), Err))?;
        let farthest = block.iter().filter(|cell| **cell < T::NO_PATH).max().map_or(0, |&cell| cell.into());
        let farthest = world.reduce(Reduction::Greatest, farthest);
        if farthest >= limit {
            return Ok(None);
        }
        let solve = start.elapsed().as_secs_f64();
        let traffic = world.traffic().since(&before);
        let start = Instant::now();
        if let Some(arcs) = arcs {
            world.agree(certify(grid, &block, arcs))?;
        }
        Ok(Some(Solved { block, farthest, solve, verify: start.elapsed().as_secs_f64(), traffic }))
    }

    /// Writes the distances, if that is asked for, and gathers facts about them.
    fn finish<L: MinPlus>(&mut self, solved: Option<Solved<L::Distance>>, repeated_wide: bool) -> Outcome<AllPairs>
    where
        <L::Distance as DistanceValue>::Key: Reduced,
    {
        let world = self.grid.world;
        let Solved { block, solve, verify, traffic, .. } =
            world.agree(solved.ok_or(Error::DistanceOverflow { semiring: L::NAME }))?;
        let start = Instant::now();
        let (finite_pairs, max_distance, distance_sum) = facts(world, &block);
        if self.request.writes {
            write_blocks(self.grid, self.request.file.take(), &block)?;
        }
        Ok(AllPairs {
            finite_pairs,
            max_distance,
            distance_sum,
            algorithm: FLOYD_WARSHALL.name.to_owned(),
            number_type: L::NAME,
            repeated_wide,
            resumed_rows: 0,
            load: self.load,
            seconds: solve,
            verify,
            write: start.elapsed().as_secs_f64(),
            traffic,
            compute: (solve - traffic.wait).max(0.0),
            wait: traffic.wait,
        })
    }
}

/// The lengths of arcs in this rank's block: the least of parallel ones.
fn cells_of<W: Weight, T: BlockCell + TryFrom<u64>>(grid: &Grid<'_>, graph: &PartOfGraph<W>) -> Outcome<Vec<T>> {
    /// Arcs of a message at most.
    const AT_ONCE: usize = 1 << 20;
    const WORDS: usize = 3;
    let world = grid.world;
    let (rows, columns) = (grid.rows(), grid.columns());
    let cells = rows.len().saturating_mul(columns.len());
    let mut block = world.agree(filled("the block of the matrix", cells, T::NO_PATH))?;
    let mut arcs = (0..graph.rows()).flat_map(|row| graph.edges(row).map(move |(head, weight)| (row, head, weight)));
    loop {
        let mut outgoing = vec![Vec::new(); world.ranks()];
        let mut count = 0;
        for (row, head, weight) in arcs.by_ref().take(AT_ONCE) {
            let (tail, head) = (graph.vertex_of(row) as u32, graph.vertex_with(head) as u32);
            let words = &mut outgoing[grid.owner(tail as usize, head as usize)];
            words.extend([tail, head]);
            // Weights are integers of 0 or more.
            push(words, weight.to_f64() as u32);
            count += 1;
        }
        let incoming = world.agree(world.exchange(Ok(outgoing)))?;
        for arc in incoming.words().chunks_exact(WORDS) {
            let cell = &mut block[(arc[0] as usize - rows.start) * columns.len() + arc[1] as usize - columns.start];
            *cell = T::try_from(pull::<u32>(&arc[2..]).into()).unwrap_or(T::NO_PATH).min(*cell);
        }
        if !world.any(count == AT_ONCE) {
            return Ok(block);
        }
    }
}

/// Sets the cells of vertices with themselves.
fn set_diagonal<T: BlockCell>(grid: &Grid<'_>, block: &mut [T], value: T) {
    let (rows, columns) = (grid.rows(), grid.columns());
    for vertex in rows.start.max(columns.start)..rows.end.min(columns.end) {
        block[(vertex - rows.start) * columns.len() + vertex - columns.start] = value;
    }
}

/// A rank's block, with what it found wrong.
struct Matrix<'g, T> {
    grid: &'g Grid<'g>,
    block: Vec<T>,
    /// The first error. The rank goes on with cells that nobody will see, so that no other waits for it.
    failure: Option<Error>,
}

/// Rows and columns of a pivot.
struct Panels<T> {
    /// The columns of this rank,
    above: Vec<T>,
    /// which are packed once they are there.
    packed: Option<PackedRows<T>>,
    /// The rows of this rank.
    left: Vec<T>,
    depth: usize,
}

impl<T: BlockCell> Panels<T> {
    /// Lowers rows of the block by the product of their cells in the pivot's columns with the pivot's rows.
    fn lower(&self, rows: &mut [T], left: &[T]) -> Result<()> {
        // What could not be packed has been noted.
        self.packed.as_ref().map_or(Ok(()), |above| T::lower_by(rows, left, above))
    }
}

impl<T: BlockCell + Equivalence> Matrix<'_, T> {
    fn width(&self) -> usize {
        self.grid.columns().len()
    }

    fn noted<V>(&mut self, result: Result<V>) -> Option<V> {
        result.map_err(|error| self.failure.get_or_insert(error)).ok()
    }

    /// Columns of the block, row by row.
    fn columns(&self, columns: &Range<usize>) -> Result<Vec<T>> {
        let mut cells = with_capacity("columns of the block", self.grid.rows().len() * columns.len())?;
        self.block.chunks_exact(self.width().max(1)).for_each(|row| cells.extend_from_slice(&row[columns.clone()]));
        Ok(cells)
    }

    fn put_columns(&mut self, columns: &Range<usize>, cells: &[T]) {
        let width = self.width().max(1);
        for (row, cells) in self.block.chunks_exact_mut(width).zip(cells.chunks_exact(columns.len().max(1))) {
            row[columns.clone()].copy_from_slice(cells);
        }
    }

    /// Floyd–Warshall, pivot after pivot.
    fn close(&mut self) {
        let pivots = self.grid.pivots(PIVOT);
        let Some(first) = pivots.first() else { return };
        let mut now = self.panels_of(first);
        self.grid.tell_panels(first, &mut now.above, &mut now.left, || false);
        self.pack(&mut now);
        for next in pivots.iter().skip(1).map(Some).chain([None]) {
            let Some(next) = next else {
                let mut rest = 0;
                while self.lower_some_rows(&now, &mut rest) {}
                return;
            };
            let prepared = self.prepare(next, &now);
            self.noted(prepared);
            let mut coming = self.panels_of(next);
            let (grid, mut rest) = (self.grid, 0);
            grid.tell_panels(next, &mut coming.above, &mut coming.left, || self.lower_some_rows(&now, &mut rest));
            now = coming;
            self.pack(&mut now);
        }
    }

    fn pack(&mut self, panels: &mut Panels<T>) {
        let packed = T::pack(&panels.above, panels.depth, self.width());
        panels.packed = self.noted(packed);
    }

    /// Lowers the rows and columns of a pivot by the panels of the one before.
    fn prepare(&mut self, next: &Range<usize>, now: &Panels<T>) -> Result<()> {
        let (width, depth) = (self.width(), now.depth);
        if let Some(rows) = self.grid.own_rows(next) {
            let left = &now.left[rows.start * depth..rows.end * depth];
            now.lower(&mut self.block[rows.start * width..rows.end * width], left)?;
        }
        if let Some(columns) = self.grid.own_columns(next) {
            let mut cells = self.columns(&columns)?;
            let mut above = with_capacity("columns of a panel", depth * columns.len())?;
            now.above.chunks_exact(width).for_each(|row| above.extend_from_slice(&row[columns.clone()]));
            T::lower(&mut cells, &now.left, &above, depth, columns.len())?;
            self.put_columns(&columns, &cells);
        }
        Ok(())
    }

    /// Relaxes this rank's parts of the rows and columns of a pivot by its own cells, which are closed first; where it has none there is room for
    /// those of others.
    fn panels_of(&mut self, pivot: &Range<usize>) -> Panels<T> {
        let (depth, width, height) = (pivot.len(), self.width(), self.grid.rows().len());
        let relaxed = self.relax_panels(pivot);
        let (above, left) = self.noted(relaxed).unwrap_or_default();
        let or_room = |cells: Option<Vec<T>>, count: usize| cells.unwrap_or_else(|| vec![T::NO_PATH; count]);
        Panels { above: or_room(above, depth * width), packed: None, left: or_room(left, height * depth), depth }
    }

    /// The rows and the columns of a pivot, if this rank has them.
    #[allow(clippy::type_complexity)]
    fn relax_panels(&mut self, pivot: &Range<usize>) -> Result<(Option<Vec<T>>, Option<Vec<T>>)> {
        let (depth, width) = (pivot.len(), self.width());
        let (rows, columns) = (self.grid.own_rows(pivot), self.grid.own_columns(pivot));
        if rows.is_none() && columns.is_none() {
            return Ok((None, None));
        }
        let mut crossing = vec![T::NO_PATH; depth * depth];
        let mut closed = Ok(());
        if let (Some(rows), Some(columns)) = (&rows, &columns) {
            for (row, cells) in rows.clone().zip(crossing.chunks_exact_mut(depth)) {
                cells.copy_from_slice(&self.block[row * width..][columns.clone()]);
            }
            closed = T::close(&mut crossing, depth);
        }
        // Whatever has failed here: others wait for it.
        self.grid.tell_crossing(pivot, &mut crossing);
        closed?;
        let mut above = None;
        if let Some(rows) = rows {
            let own = &mut self.block[rows.start * width..rows.end * width];
            let before = copied("rows of the block", own)?;
            T::lower(own, &crossing, &before, depth, width)?;
            above = Some(copied("rows of the block", own)?);
        }
        let mut left = None;
        if let Some(columns) = columns {
            let before = self.columns(&columns)?;
            let mut cells = copied("columns of the block", &before)?;
            T::lower(&mut cells, &before, &crossing, depth, depth)?;
            self.put_columns(&columns, &cells);
            left = Some(cells);
        }
        Ok((above, left))
    }

    /// Lowers some rows of the block from `rest` on; whether there were any.
    fn lower_some_rows(&mut self, now: &Panels<T>, rest: &mut usize) -> bool {
        let (width, height) = (self.width(), self.grid.rows().len());
        let rows = *rest..height.min(*rest + ROWS_AT_ONCE);
        if rows.is_empty() {
            return false;
        }
        *rest = rows.end;
        let left = &now.left[rows.start * now.depth..rows.end * now.depth];
        let own = &mut self.block[rows.start * width..rows.end * width];
        let lowered = now.lower(own, left);
        self.noted(lowered);
        true
    }
}

/// Whether each distance is the least sum of a distance and the weight of an arc, and that of a vertex to itself is 0. `arcs` are the cells before the
/// search.
fn certify<T: BlockCell + Equivalence + Into<u64>>(grid: &Grid<'_>, block: &[T], mut arcs: Vec<T>) -> Result<()> {
    let (rows, columns) = (grid.rows(), grid.columns());
    let width = columns.len();
    // Loops are on no shortest path.
    set_diagonal(grid, &mut arcs, T::NO_PATH);
    let mut failure = None;
    let mut sums = filled("sums to compare distances with", block.len(), T::NO_PATH).unwrap_or_else(|error| {
        failure = Some(error);
        Vec::new()
    });
    for pivot in grid.pivots(PIVOT) {
        let depth = pivot.len();
        let mut above = match grid.own_rows(&pivot) {
            Some(own) => arcs[own.start * width..own.end * width].to_vec(),
            None => vec![T::NO_PATH; depth * width],
        };
        let mut left = match grid.own_columns(&pivot) {
            Some(own) => block.chunks_exact(width.max(1)).flat_map(|row| row[own.clone()].iter().copied()).collect(),
            None => vec![T::NO_PATH; rows.len() * depth],
        };
        grid.tell_panels(&pivot, &mut above, &mut left, || false);
        if failure.is_none() {
            failure = T::lower(&mut sums, &left, &above, depth, width).err();
        }
    }
    if let Some(error) = failure {
        return Err(error);
    }
    for (at, (&distance, &sum)) in block.iter().zip(&sums).enumerate() {
        let [from, to] = [rows.start + at / width, columns.start + at % width];
        let right = if from == to { distance.into() == 0 } else { distance == sum };
        if !right {
            let what = format!("the distance from {from} to {to} is none that arcs make");
            return Err(Error::NotVerified(what));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The certificate finds every cell that is wrong, whatever it is.
    pub(crate) fn wrong_cells_do_not_verify(world: &World) {
        let n = 70;
        let grid = Grid::of(world, n);
        let none = u32::NO_PATH;
        // Two components: a circle of 60 with some chords, and ten vertices that lead into it.
        let mut arcs = vec![none; n * n];
        for vertex in 0..n {
            let next = if vertex < 60 { (vertex + 1) % 60 } else { vertex - 7 };
            arcs[vertex * n + next] = 1 + vertex as u32 % 5;
            arcs[vertex * n + vertex] = 3;
            if vertex % 9 == 0 {
                arcs[vertex * n + vertex / 2] = 2;
            }
        }
        let mut block = arcs.clone();
        set_diagonal(&grid, &mut block, 0);
        let mut matrix = Matrix { grid: &grid, block, failure: None };
        matrix.close();
        let right = matrix.block;
        assert!(certify(&grid, &right, arcs.clone()).is_ok());
        let mut wrong = 0;
        for cell in (0..n * n).step_by(13) {
            for value in [0, 1, right[cell].wrapping_sub(1), right[cell] + 1, none] {
                let mut changed = right.clone();
                changed[cell] = value;
                if value != right[cell] {
                    assert!(certify(&grid, &changed, arcs.clone()).is_err(), "cell {cell}: {value}");
                    wrong += 1;
                }
            }
        }
        assert!(wrong > 1000);
    }
}
