//! Everything that an all-pairs algorithm of either engine is given: the task, where its rows go, and the potentials
//! that make negative weights disappear.

pub(crate) mod potentials;

use std::sync::Arc;

use crate::algorithms::Parameters;
use crate::graph::{Adjacency, Graph, MinPlus, VertexId};
use crate::hierarchy::Metric;
use crate::problems::{KeptState, RowFacts};
use crate::team::Team;
use crate::{Control, Error, Result, memory};

/// Everything an all-pairs search needs to know.
#[derive(Debug)]
pub(crate) struct ApspTask<'a, L: MinPlus> {
    /// The arcs, by tail.
    pub(crate) adjacency: Adjacency<'a, L::Weight>,
    /// The graph behind them.
    pub(crate) graph: &'a Graph,
    /// The source of each row; repeats are allowed.
    pub(crate) sources: &'a [VertexId],
    /// The target of each column; `None` for every vertex.
    pub(crate) targets: Option<&'a [VertexId]>,
    /// How many bytes a block of rows, handed out at a time, should take at most.
    pub(crate) block_bytes: u64,
    /// The parameters that the caller set.
    pub(crate) parameters: &'a Parameters,
    /// A hierarchy of the graph with its weights, for the algorithm that needs one.
    pub(crate) metric: Option<&'a Arc<Metric>>,
    /// The threads to run on.
    pub(crate) team: &'a Team,
    /// Watches the work and may cancel it.
    pub(crate) control: &'a Control,
}

impl<L: MinPlus> ApspTask<'_, L> {
    /// An error unless all sources and targets are vertices, the arcs belong to the graph, and the output has the
    /// table's size.
    pub(crate) fn check(&self, output: &ApspOutput<'_, L::Distance>) -> Result<()> {
        self.graph.check_arcs(self.adjacency)?;
        self.graph.check_vertices(self.sources, "source")?;
        self.graph.check_vertices(self.targets.unwrap_or_default(), "target")?;
        match output {
            ApspOutput::Matrix(matrix) if self.sources.len().checked_mul(self.columns()) != Some(matrix.len()) => {
                let (rows, columns) = (self.sources.len(), self.columns());
                Err(Error::invalid(format!("{} cells are no table of {rows} rows and {columns} columns", matrix.len())))
            }
            _ => Ok(()),
        }
    }

    /// Distances in a row.
    pub(crate) fn columns(&self) -> usize {
        self.targets.map_or(self.graph.vertices(), <[VertexId]>::len)
    }

    /// Hands these rows to a consumer, block after block; `fill` fills each block. Blocks of more than `share` rows,
    /// except the last, have a multiple of `share`.
    pub(crate) fn hand_out(
        &self,
        rows: &[usize],
        share: usize,
        consumer: &mut dyn RowConsumer<L::Distance>,
        mut fill: impl FnMut(&[usize], &mut [L::Distance]) -> Result<()>,
    ) -> Result<()> {
        let row_bytes = (self.columns() * size_of::<L::Distance>()).max(1) as u64;
        let fitting = (self.block_bytes / row_bytes).clamp(1, rows.len().max(1) as u64) as usize;
        let length = if fitting > share { fitting / share * share } else { fitting };
        let mut values = Vec::new();
        for block in rows.chunks(length) {
            let cells = block.len() * self.columns();
            if values.len() < cells {
                // The system hands it out page by page, to the threads that fill it.
                values = memory::zeroed("a block of rows", cells)?;
            }
            values.truncate(cells);
            fill(block, &mut values)?;
            values = consumer.rows(block, values)?;
            self.control.check()?;
        }
        Ok(())
    }

    /// Whether every vertex is a source and a target, in order: the result is the square matrix.
    pub(crate) fn is_square(&self) -> bool {
        self.targets.is_none()
            && self.sources.len() == self.graph.vertices()
            && self.sources.iter().enumerate().all(|(row, &source)| row == source as usize)
    }
}

/// Takes rows as they get ready.
pub(crate) trait RowConsumer<D> {
    /// Receives, once and before the work, the order in which the rows will come; returns how many of them it has
    /// already.
    fn start(&mut self, order: &[usize]) -> Result<usize>;
    /// Takes a block: `values` holds the rows `rows` one after another. Returns their memory for reuse.
    fn rows(&mut self, rows: &[usize], values: Vec<D>) -> Result<Vec<D>>;
    /// Whether facts about the rows are all that is wanted. Rows do as well.
    fn wants_facts_alone(&self) -> bool;
    /// Takes facts about rows, whose distances nobody wants.
    fn facts(&mut self, rows: &[usize], facts: &[RowFacts]) -> Result<()>;
    /// Where an algorithm that has no row before it has all of them may keep its state.
    fn kept_state(&self) -> Option<KeptState> {
        None
    }
}

/// Where rows go.
pub(crate) enum ApspOutput<'a, D> {
    /// Into a matrix of `sources` rows; whatever its cells hold is overwritten.
    Matrix(&'a mut [D]),
    /// To a consumer, block by block.
    Blocks(&'a mut dyn RowConsumer<D>),
}

impl<D> ApspOutput<'_, D> {
    /// Announces the order of the rows; returns how many of them the output has already.
    pub(crate) fn start(&mut self, order: &[usize]) -> Result<usize> {
        match self {
            ApspOutput::Matrix(_) => Ok(0),
            ApspOutput::Blocks(consumer) => consumer.start(order),
        }
    }
}
