//! Rows of distances on their way from an algorithm to a sink.

use std::path::PathBuf;

use super::Report;
use super::facts::{DistanceSum, Facts, RowFacts};
use super::level_sums::{LevelSums, WantedSums};
use crate::checksum::checksum;
use crate::graph::{Distance, Distances, Graph, VertexId, WeightKind, with_distances};
use crate::plan::Plan;
use crate::{Error, Result, parallel};

/// Some rows of a table of distances.
#[derive(Debug, Clone, Copy)]
pub struct RowBlock<'a> {
    /// The indices of the rows in the table.
    pub rows: &'a [usize],
    /// Distances in a row.
    pub columns: usize,
    /// The rows, one after another.
    pub values: &'a Distances,
}

/// The table whose rows a [`RowSink`] will get.
#[derive(Debug, Clone, Copy)]
pub struct TableShape<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The source of each row.
    pub sources: &'a [VertexId],
    /// The target of each column; `None` for every vertex.
    pub targets: Option<&'a [VertexId]>,
    /// The order in which the rows will come.
    pub order: &'a [usize],
    /// The types of weight and distance, such as `u32->u32`.
    pub semiring: &'static str,
    /// An empty array that shows the type of the distances.
    pub distances: &'a Distances,
    /// The algorithm that makes the rows.
    pub algorithm: &'static str,
    /// Describes everything that decides how floats are rounded: the engine, the algorithm, and how the algorithm cuts
    /// a matrix. With equal descriptions, the same graph has the same rows, bit for bit.
    pub rounding: &'a str,
}

impl TableShape<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.sources.len()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.targets.map_or(self.graph.vertices(), <[VertexId]>::len)
    }

    /// The target of a column.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn target(&self, column: usize) -> VertexId {
        self.targets.map_or(column as VertexId, |targets| targets[column])
    }

    /// A checksum of everything that the rows of an unfinished table depend on: the arcs and weights of the graph, sources, targets, the order of
    /// the rows, and everything that decides how floats are rounded. O(vertices + arcs).
    pub fn fingerprint(&self) -> u64 {
        let mut parts = vec![
            self.graph.fingerprint(),
            checksum(bytemuck::cast_slice(self.sources)),
            self.targets.map_or(u64::MAX, |targets| checksum(bytemuck::cast_slice(targets))),
            checksum(bytemuck::cast_slice(self.order)),
        ];
        if matches!(self.graph.weight_kind(), WeightKind::F32 | WeightKind::F64) {
            parts.push(checksum(self.rounding.as_bytes()));
        }
        checksum(bytemuck::cast_slice(&parts))
    }
}

/// A file in which an algorithm may keep its state, to resume after a kill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptState {
    /// The path of the file.
    pub path: PathBuf,
    /// Whether to resume from the state in the file.
    pub resume: bool,
}

/// Takes the rows of a table in blocks.
///
/// The order of the rows depends on graph, request and algorithm alone. Algorithms that work on the whole matrix, and
/// all algorithms on a GPU, give rows in ascending order. Others may not, since searches from sources near each other
/// share their work.
pub trait RowSink: Send {
    /// Adds to `plan` what the sink will take for a table of this size, beyond the blocks it is handed.
    fn plan(&self, rows: u64, columns: u64, distance_bytes: u64, plan: &mut Plan);

    /// Called first, before any of the work: takes exclusive resources, such as a lock on a file. A caller may reserve
    /// long before it asks for the work, to be refused early.
    ///
    /// # Errors
    ///
    /// If another user holds a resource.
    fn reserve(&mut self) -> Result<()> {
        Ok(())
    }

    /// Called before the work. Returns how many rows, from the front of the order, the sink has already, and hands all
    /// of them to `replay`, so that facts about the whole table include them.
    ///
    /// If the narrow semiring turns out too narrow during the work, `begin` is called again for the wide semiring, and
    /// all earlier rows are void. It is also called again if the engine fails before the first row and another engine
    /// takes over.
    ///
    /// # Errors
    ///
    /// Whatever keeps the sink from taking rows. [`Error::DistanceOverflow`] says that the sink's rows are of the wide
    /// semiring, and asks for that semiring.
    fn begin(&mut self, table: &TableShape<'_>, replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize>;

    /// Takes a block of rows.
    ///
    /// # Errors
    ///
    /// Whatever keeps the sink from taking it.
    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()>;

    /// Whether facts about each row do in place of the row. `by_target` says whether the distances to a vertex are those from it, all are asked for, and
    /// rows are in the order of vertices. The sink gets facts in place of all rows then, if distances are integers and nobody verifies them, and rows else.
    fn takes_facts(&self, _by_target: bool) -> bool {
        false
    }

    /// Takes the facts about these rows, in place of the rows.
    ///
    /// # Errors
    ///
    /// Whatever keeps the sink from taking them.
    fn facts(&mut self, _rows: &[usize], _facts: &[RowFacts]) -> Result<()> {
        Err(Error::invalid("this sink takes rows, and no facts about them"))
    }

    /// Which sums over the searches of unweighted rows do in place of the rows; `None` if rows are needed. `by_target` says whether the distances to a vertex are
    /// those from it, and all are asked for.
    fn wanted_sums(&self, _by_target: bool) -> Option<WantedSums> {
        None
    }

    /// Takes these sums over all searches, after [`begin`](RowSink::begin) and in place of rows.
    ///
    /// # Errors
    ///
    /// Whatever keeps the sink from taking them.
    fn sums(&mut self, _sums: &LevelSums) -> Result<()> {
        Err(Error::invalid("this sink takes rows, and no sums"))
    }

    /// Where an algorithm that completes no row before the others may keep its state; nowhere by default.
    /// [`finish`](RowSink::finish) removes the file.
    fn kept_state(&self) -> Option<KeptState> {
        None
    }

    /// Called after the last row.
    ///
    /// # Errors
    ///
    /// Whatever keeps the sink from finishing.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    /// Called instead of [`finish`](RowSink::finish) if the graph turns out to have no such table on any engine:
    /// nothing that the sink has is worth keeping.
    fn discard(&mut self) {}
}

/// Facts about a table of distances, known after all its rows have gone by.
#[derive(Debug, Clone)]
pub struct ApspSummary {
    pub(crate) facts: TableFacts,
    pub(crate) verified: bool,
    pub(crate) report: Report,
}

impl ApspSummary {
    /// Number of rows.
    pub fn sources(&self) -> u64 {
        self.facts.rows
    }

    /// How many pairs have a distance, the zero diagonal included.
    pub fn finite_pairs(&self) -> u64 {
        self.facts.finite_pairs
    }

    /// The sum of all distances: exact for integers; floats are added row by row.
    pub fn distance_sum(&self) -> DistanceSum {
        self.facts.distance_sum()
    }

    /// The greatest distance; `None` if there is none.
    pub fn max_distance(&self) -> Option<Distance> {
        self.facts.max_distance
    }

    /// Whether every row was verified as it was made.
    pub fn verified(&self) -> bool {
        self.verified
    }

    /// How the rows were made.
    pub fn report(&self) -> &Report {
        &self.report
    }
}

/// Facts about a table, gathered from its rows in any order.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableFacts {
    rows: u64,
    finite_pairs: u64,
    integer_sum: i128,
    /// The sum of each row of floats; adding them at the end makes the total independent of the order of the rows.
    float_sums: Vec<f64>,
    max_distance: Option<Distance>,
}

impl TableFacts {
    pub(crate) fn new(rows: usize) -> Self {
        TableFacts { rows: rows as u64, ..Default::default() }
    }

    /// The facts of so many rows without weights, of which so many pairs have each distance.
    pub(crate) fn of_levels(rows: usize, by_level: &[u64]) -> Self {
        let distances = || by_level.iter().zip(0_u64..);
        TableFacts {
            finite_pairs: by_level.iter().sum(),
            integer_sum: distances().map(|(&pairs, level)| i128::from(pairs) * i128::from(level)).sum(),
            max_distance: distances().last().map(|(_, level)| Distance::Unsigned(level)),
            ..Self::new(rows)
        }
    }

    /// Adds the rows of a block; returns the facts about each, or nothing if there are no columns.
    pub(crate) fn add(&mut self, block: &RowBlock<'_>) -> Vec<RowFacts> {
        if block.columns == 0 {
            return Vec::new();
        }
        let by_row: Vec<RowFacts> = with_distances!(block.values, values => facts_by_row(values, block.columns));
        self.add_rows(block.rows, &by_row);
        by_row
    }

    /// Adds rows whose facts are already known.
    pub(crate) fn add_rows(&mut self, rows: &[usize], by_row: &[RowFacts]) {
        for (&row, facts) in rows.iter().zip(by_row) {
            self.finite_pairs += facts.reached;
            match facts.sum {
                DistanceSum::Integer(sum) => self.integer_sum += sum,
                DistanceSum::Float(sum) => {
                    self.float_sums.resize(self.rows as usize, 0.0);
                    self.float_sums[row] = sum;
                }
            }
            self.max_distance = greater(self.max_distance, facts.greatest);
        }
    }

    fn distance_sum(&self) -> DistanceSum {
        if self.float_sums.is_empty() && !matches!(self.max_distance, Some(Distance::Single(_) | Distance::Double(_))) {
            DistanceSum::Integer(self.integer_sum)
        } else {
            DistanceSum::Float(self.float_sums.iter().sum())
        }
    }
}

fn greater(a: Option<Distance>, b: Option<Distance>) -> Option<Distance> {
    match (a, b) {
        (Some(x), Some(y)) => Some(if x < y { y } else { x }),
        _ => a.or(b),
    }
}

fn facts_by_row<D: Facts>(values: &[D], columns: usize) -> Vec<RowFacts> {
    parallel::collect(values.len() / columns, |row| D::facts(&values[row * columns..][..columns]))
}

/// A sink for [`Apsp`](super::Apsp) requests that need only the facts.
impl RowSink for () {
    fn plan(&self, _: u64, _: u64, _: u64, _: &mut Plan) {}

    fn begin(&mut self, _: &TableShape<'_>, _: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        Ok(0)
    }

    fn rows(&mut self, _: &RowBlock<'_>) -> Result<()> {
        Ok(())
    }

    fn takes_facts(&self, _: bool) -> bool {
        true
    }

    fn facts(&mut self, _: &[usize], _: &[RowFacts]) -> Result<()> {
        Ok(())
    }
}

/// The error for a block that does not fit its table.
pub(crate) fn wrong_type() -> Error {
    Error::invalid("the rows have distances of another type than the table was begun with")
}
