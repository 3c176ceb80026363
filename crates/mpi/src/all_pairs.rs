//! All pairs: the sources are shared out, and every rank writes its rows into one file.
//!
//! A matrix of all pairs is far larger than its graph, so every rank has the graph as a whole, and only the matrix is in parts. Each
//! rank takes blocks of sources in turn and solves them as one machine would, on its own cores or on a GPU; the algorithm is that machine's
//! choice. No messages are sent meanwhile.
//!
//! Whether 32-bit distances suffice may differ among the rows. If some ranks need 64 bits, all begin again with these: rows of both kinds would be in
//! each other's places.
//!
//! Some sources and targets make a table in place of a matrix. What is reduced from rows, such as eccentricities, each rank has of its own,
//! and then all add it up.
//!
//! Ranks that have done their share wait for the others four times as long as that took, and then the timeout, which begins anew whenever the
//! file of the matrix is written. A rank that had no rows to solve, or failed, knows nothing of those of others: it waits for any time, but with a file only until it has
//! seen more writes than there are ranks. From then on it waits, after a write, four times as long as the longest pause before one, and then the timeout.
//!
//! Work that of one machine, shared by the ranks; memory of each rank that of one machine that streams its rows.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use warpath::formats::PartialFile;
use warpath::graph::{DistanceValue, Distances, MinPlus, U32ToU64, VertexId, with_min_plus};
use warpath::problems::{DistanceSum, RowBlock, RowFacts, RowProcesses, RowReductions, RowSink, TableShape};
use warpath::tables::write_npy_part;
use warpath::{Apsp, Decision, Distance, Error, Graph, Plan, Result, Solver};

use crate::facts::{combined_max, combined_sum};
use crate::journal::{Begun, Journal};
use crate::matrix_file::{distance_bytes, header, open, write_header};
use crate::output::path_of_all;
use crate::watch::Leisure;
use crate::words::{pull, push};
use crate::world::{Outcome, Reduction, Traffic, World};

/// Distances between all pairs, or some, of all ranks together.
#[derive(Debug, Clone)]
pub struct AllPairs {
    /// How many pairs have a distance.
    pub finite_pairs: u64,
    /// The greatest distance.
    pub max_distance: Option<Distance>,
    /// The sum of all distances.
    pub distance_sum: DistanceSum,
    /// The algorithm that this rank took for its rows.
    pub algorithm: String,
    /// The types of weight and distance.
    pub number_type: &'static str,
    /// Whether the work was repeated with 64-bit distances.
    pub repeated_wide: bool,
    /// How many rows an interrupted run had left.
    pub resumed_rows: u64,
    /// Seconds that a matrix took to load, where no rank has the graph as a whole.
    pub load: f64,
    /// Seconds that this rank solved; with its rows, if it has the graph, also until they were checked and written.
    pub seconds: f64,
    /// Seconds that a shared matrix was checked, and
    pub verify: f64,
    /// written.
    pub write: f64,
    /// What this rank sent while it solved.
    pub traffic: Traffic,
    /// Seconds that this rank worked on it, and
    pub compute: f64,
    /// waited for the others.
    pub wait: f64,
}

/// The rows of one rank: blocks of consecutive ones of so many, in turn.
fn rows_of(rank: usize, ranks: usize, rows: usize) -> Vec<usize> {
    const LARGEST: usize = 1024;
    /// So many blocks for each rank even out what some sources take longer than others.
    const BLOCKS: usize = 8;
    let block = (rows / (ranks * BLOCKS)).clamp(1, LARGEST);
    (0..rows).filter(|&row| row / block % ranks == rank).collect()
}

/// Between which vertices distances are asked for, on all ranks the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pairs<'a> {
    /// The source of each row; `None` for every vertex.
    pub sources: Option<&'a [VertexId]>,
    /// The target of each column; `None` for every vertex.
    pub targets: Option<&'a [VertexId]>,
}

impl Pairs<'_> {
    /// The request for those rows of all `count` that this rank takes, and which these are.
    fn of_rank(&self, world: &World, request: &Apsp, count: usize) -> (Apsp, Vec<usize>) {
        let rows = rows_of(world.rank(), world.ranks(), count);
        let source = |&row: &usize| self.sources.map_or(row as VertexId, |sources| sources[row]);
        let request = request.clone().from(rows.iter().map(source).collect::<Vec<_>>());
        (if let Some(targets) = self.targets { request.to(targets) } else { request }, rows)
    }

    /// How many rows and columns they make of a graph.
    pub fn shape(&self, graph: &Graph) -> [usize; 2] {
        [self.sources, self.targets].map(|list| list.map_or(graph.vertices(), <[VertexId]>::len))
    }
}

/// What becomes of the matrix.
#[derive(Debug, Default)]
pub struct MatrixFile {
    /// The `.npy` that takes it, which rank 0 has created, or opened to be resumed.
    pub file: Option<PartialFile>,
    /// Whether there is one, on all ranks.
    pub writes: bool,
    /// Whether rows that an interrupted run has left there stay. It had as many ranks.
    pub resume: bool,
}

/// An error if ranks that have each read a graph as a whole have not the same. O(vertices + arcs).
///
/// # Errors
///
/// [`Error::InvalidRequest`].
pub fn same_graph(world: &World, graph: &Graph) -> Outcome<()> {
    world.agree(if world.are_equal(graph.fingerprint()) {
        Ok(())
    } else {
        Err(Error::invalid("the ranks have read different graphs: the file is another one on another host"))
    })
}

/// What becomes of the distances.
#[derive(Debug)]
pub enum Rows<'a> {
    /// The matrix goes into a file, if there is one.
    Matrix(MatrixFile),
    /// They are reduced: on all ranks, or the histogram on rank 0.
    Reduced(&'a mut RowReductions),
}

/// How this rank would solve its share of the rows, and what that takes.
///
/// # Errors
///
/// As [`Solver::decide`].
pub fn decide_rows(
    world: &World,
    solver: &Solver,
    request: &Apsp,
    pairs: Pairs<'_>,
    rows: Rows<'_>,
) -> Result<Decision> {
    let [count, _] = pairs.shape(solver.graph());
    let (request, mine) = pairs.of_rank(world, request, count);
    match rows {
        Rows::Matrix(matrix) => {
            let mut sink = FileOfRows::new(&mine, count, matrix.writes);
            solver.decide(&request.into_sink(&mut sink))
        }
        Rows::Reduced(reductions) => solver.decide(&request.into_sink(reductions)),
    }
}

/// Solves pairs of the solver's graph, which is the same on all ranks, and writes the matrix into a file, if there is one, or reduces it.
/// `request` is what is asked for beside the sources and targets, such as an algorithm.
///
/// # Errors
///
/// As [`Solver::solve`], and [`Error::Io`] if a rank can't write: the folder of the file has to be one that all hosts share.
pub fn all_pairs(
    world: &World,
    solver: &Solver,
    request: &Apsp,
    pairs: Pairs<'_>,
    rows: Rows<'_>,
) -> Outcome<AllPairs> {
    let (MatrixFile { mut file, writes, resume }, mut reductions) = match rows {
        Rows::Matrix(matrix) => (matrix, None),
        Rows::Reduced(reductions) => (MatrixFile::default(), Some(reductions)),
    };
    let [count, columns] = pairs.shape(solver.graph());
    let (request, rows) = pairs.of_rank(world, request, count);
    let path = if writes { Some(path_of_all(world, file.as_ref())?) } else { None };
    let begun = |wide| Begun { rows: count as u64, columns: columns as u64, ranks: world.ranks() as u64, wide };
    let mut wide = match &path {
        Some(path) if resume => left_wide(world, path, begun(false))?,
        _ => false,
    };
    let (start, before) = (Instant::now(), world.traffic());
    loop {
        let marked = match &path {
            Some(path) if world.rank() == 0 => {
                open(path).and_then(|(path, mut file)| begun(wide).write(&path, &mut file))
            }
            _ => Ok(()),
        };
        world.agree(marked)?;
        let sink = path.as_ref().map_or(Ok(None), |path| open(path).map(Some));
        let (opened, partial) = (world.agree(sink)?, file.as_mut());
        let (rank, all) = (world.rank(), FileOfRows::new(&rows, count, writes));
        let mut sink = FileOfRows { file: opened, partial, rank, resume, wide, ..all };
        let begun_here = Instant::now();
        let solved = match &mut reductions {
            Some(reductions) => solver.solve(request.clone().into_sink(&mut **reductions)),
            None => solver.solve(request.clone().into_sink(&mut sink)),
        };
        let seconds = start.elapsed().as_secs_f64();
        let (resumed, overflows) = (sink.resumed, sink.narrow_is_not_enough);
        let took = sink.resumed_at.unwrap_or(begun_here).elapsed();
        // Nothing that this rank wrote comes after what rank 0 does to the file.
        drop(sink);
        // Only who has solved rows knows how long a whole share may take.
        let own = rows.len().checked_sub(resumed).filter(|&own| own > 0 && !overflows && solved.is_ok());
        let took = own.map(|own| took.mul_f64(rows.len() as f64 / own as f64));
        let leisure = Leisure { took, file: path.as_deref() };
        // A rank that overflows has an error, which is none of the run.
        let summary = world.agree_at_leisure(if overflows { Ok(None) } else { solved.map(Some) }, leisure)?;
        let again = world.any(overflows);
        let Some(summary) = summary.filter(|_| !again) else {
            wide = true;
            continue;
        };
        let wait = start.elapsed().as_secs_f64() - seconds;
        let is_wide_here = summary.report().semiring == U32ToU64::NAME;
        // A rank without rows has no distances of either kind.
        let (is_wide, is_narrow) = (world.any(is_wide_here), world.any(!is_wide_here && !rows.is_empty()));
        if is_wide && is_narrow && path.is_some() {
            wide = true;
            continue;
        }
        let repeated_wide = world.any(wide || summary.report().repeated_wide);
        let headed = match &path {
            Some(path) if world.rank() == 0 => write_header(path, [count, columns], &none_of(solver.graph(), is_wide)),
            _ => Ok(()),
        };
        world.agree(headed)?;
        world.agree(file.map_or(Ok(()), PartialFile::finish))?;
        if let Some(reductions) = reductions {
            let all: Vec<VertexId>;
            let of_all = match pairs.sources {
                Some(sources) => sources,
                None => {
                    all = (0..count as VertexId).collect();
                    &all
                }
            };
            world.agree(reductions.place(of_all, &rows))?;
            world.agree(reductions.add_up(&mut Processes(world)))?;
        }
        return Ok(AllPairs {
            finite_pairs: world.total(summary.finite_pairs()),
            max_distance: combined_max(world, summary.max_distance())?,
            distance_sum: combined_sum(world, summary.distance_sum()),
            algorithm: summary.report().algorithm.clone(),
            number_type: if is_wide { U32ToU64::NAME } else { summary.report().semiring },
            repeated_wide,
            resumed_rows: world.total(resumed as u64),
            load: 0.0,
            seconds,
            verify: 0.0,
            write: 0.0,
            traffic: world.traffic().since(&before),
            compute: seconds,
            wait,
        });
    }
}

/// Whether the run that left a file had come to 64 bits; an error if it had another graph or number of ranks.
fn left_wide(world: &World, path: &Path, wanted: Begun) -> Outcome<bool> {
    let found = if world.rank() == 0 { Begun::read(path) } else { None };
    let fits = found.is_none_or(|found| Begun { wide: false, ..found } == wanted);
    world.agree(if fits {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "`{}` was begun for another graph, or on another number of ranks; delete it, or don't resume",
            path.display()
        )))
    })?;
    Ok(world.any(found.is_some_and(|found| found.wide)))
}

/// Distances of the type that the matrix of a graph has, none of them.
fn none_of(graph: &Graph, wide: bool) -> Distances {
    with_min_plus!(graph.weight_kind(), wide, L => {
        <<L as MinPlus>::Distance as DistanceValue>::into_distances(Vec::new())
    })
}

/// Ranks that add up what they have.
struct Processes<'a>(&'a World);

impl RowProcesses for Processes<'_> {
    fn add_up(&mut self, numbers: &mut [u64]) {
        self.0.reduce_all(Reduction::Sum, numbers);
    }

    fn add_up_floats(&mut self, numbers: &mut [f64]) {
        self.0.reduce_all(Reduction::Sum, numbers);
    }

    fn give_to_first(&mut self, numbers: &[u64]) -> Result<Vec<Vec<u64>>> {
        let mut outgoing = vec![Vec::new(); self.0.ranks()];
        numbers.iter().for_each(|&number| push(&mut outgoing[0], number));
        let came = self.0.exchange(Ok(outgoing))?;
        let of_rank = |rank: usize| came.of(rank).chunks_exact(2).map(pull::<u64>).collect();
        Ok(if self.0.rank() == 0 { (0..came.parts()).map(of_rank).collect() } else { Vec::new() })
    }
}

/// Puts rows where they belong in the file.
struct FileOfRows<'a> {
    /// The rows of this rank, and how many there are of all ranks.
    rows: &'a [usize],
    count: usize,
    writes: bool,
    file: Option<(PathBuf, File)>,
    /// The same file, on rank 0, which decides whether it stays if the work ends.
    partial: Option<&'a mut PartialFile>,
    journal: Option<Journal>,
    rank: usize,
    resume: bool,
    /// How many rows were there, and when they had been read.
    resumed: usize,
    resumed_at: Option<Instant>,
    /// Whether only 64-bit distances are taken.
    wide: bool,
    /// Whether the rank began with 32 bits,
    began_narrow: bool,
    /// and would go on with 64.
    narrow_is_not_enough: bool,
}

impl<'a> FileOfRows<'a> {
    /// No file yet, for these rows of so many.
    fn new(rows: &'a [usize], count: usize, writes: bool) -> Self {
        FileOfRows {
            rows,
            count,
            writes,
            file: None,
            partial: None,
            journal: None,
            rank: 0,
            resume: false,
            resumed: 0,
            resumed_at: None,
            wide: false,
            began_narrow: false,
            narrow_is_not_enough: false,
        }
    }
}

impl RowSink for FileOfRows<'_> {
    fn plan(&self, rows: u64, columns: u64, distance_bytes: u64, plan: &mut Plan) {
        if self.writes {
            plan.disk("the rows of this rank", rows.saturating_mul(columns).saturating_mul(distance_bytes));
        }
    }

    fn begin(&mut self, table: &TableShape<'_>, replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        if self.wide && matches!(table.distances, Distances::U32(_)) {
            return Err(Error::DistanceOverflow { semiring: table.semiring });
        }
        let Some((path, file)) = &mut self.file else { return Ok(0) };
        let is_wide = matches!(table.distances, Distances::U64(_));
        self.narrow_is_not_enough = is_wide && self.began_narrow;
        if self.narrow_is_not_enough {
            return Err(Error::DistanceOverflow { semiring: table.semiring });
        }
        self.began_narrow = !is_wide;
        let columns = table.columns();
        let start = header(path, [self.count, columns], table.distances)?.len() as u64;
        let row_bytes = (columns as u64).saturating_mul(distance_bytes(table.distances));
        let journal = self.journal.insert(Journal::new(path, self.rank, self.count, start, row_bytes));
        self.resumed = journal.begin(file, table, self.rows, self.resume, replay)?;
        self.resumed_at = Some(Instant::now());
        Ok(self.resumed)
    }

    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()> {
        let (Some((path, file)), Some(journal)) = (&mut self.file, &mut self.journal) else { return Ok(()) };
        let mut bytes = Vec::new();
        write_npy_part(&mut bytes, block.values).map_err(|error| Error::io(path.as_path(), error))?;
        let rows: Vec<usize> = block.rows.iter().map(|&row| self.rows[row]).collect();
        journal.write(file, &rows, &bytes)?;
        // There is something to resume from here on.
        self.partial.iter_mut().for_each(|partial| partial.keep());
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let Some((path, file)) = &self.file else { return Ok(()) };
        file.sync_all().map_err(|error| Error::io(path.as_path(), error))
    }

    fn takes_facts(&self, _: bool) -> bool {
        !self.writes
    }

    fn facts(&mut self, _: &[usize], _: &[RowFacts]) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_one_rank() {
        for (vertices, ranks) in [(0, 2), (1, 3), (7, 3), (100, 1), (5000, 4), (100_000, 3)] {
            let mut all: Vec<usize> = (0..ranks).flat_map(|rank| rows_of(rank, ranks, vertices)).collect();
            let longest = (0..ranks).map(|rank| rows_of(rank, ranks, vertices).len()).max().unwrap();
            assert!(longest * ranks <= vertices + vertices / 8 + ranks, "{vertices} on {ranks}: {longest}");
            all.sort_unstable();
            assert!(all.into_iter().eq(0..vertices), "{vertices} on {ranks}");
        }
    }
}
