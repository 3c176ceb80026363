//! Where the rows of a table go: into a matrix, or to a sink, verified and summed up on the way.

use std::marker::PhantomData;
use std::time::Instant;

use super::table::Table;
use crate::all_pairs::RowConsumer;
use crate::cpu::apsp::MinPlusOnCpu;
use crate::graph::{DistanceValue, Graph};
use crate::problems::{KeptState, RowBlock, RowFacts, RowSink, TableFacts, TableShape, Tolerance, verify_rows};
use crate::{Error, Result, memory};

/// Takes the rows of an algorithm: verifies them if asked to, gathers facts, hands them on to the sink. All of it
/// happens on the threads that the request has for its sink.
pub(super) struct SinkRows<'a, L> {
    graph: &'a Graph,
    table: &'a Table,
    algorithm: &'static str,
    rounding: String,
    verified: bool,
    reassociated: bool,
    sink: &'a mut dyn RowSink,
    /// Whether the sink has rows.
    begun: &'a mut bool,
    /// Seconds that verifying has taken.
    pub(super) verifying: f64,
    /// Seconds that the sink has taken.
    pub(super) writing: f64,
    pub(super) facts: TableFacts,
    semiring: PhantomData<L>,
}

/// Everything that decides which rows an algorithm makes, bit for bit, and how they are verified.
pub(super) struct Rows<'a> {
    pub(super) graph: &'a Graph,
    pub(super) table: &'a Table,
    pub(super) algorithm: &'static str,
    /// How floats are rounded.
    pub(super) rounding: String,
    pub(super) verified: bool,
    /// Whether floats are added up in another order than along the path.
    pub(super) reassociated: bool,
}

impl<'a, L> SinkRows<'a, L> {
    /// `begun` becomes true as soon as the sink has rows.
    pub(super) fn new(rows: Rows<'a>, sink: &'a mut dyn RowSink, begun: &'a mut bool) -> Self {
        let Rows { graph, table, algorithm, rounding, verified, reassociated } = rows;
        *begun = false;
        let facts = TableFacts::new(table.sources.len());
        let (verifying, writing) = (0.0, 0.0);
        SinkRows {
            graph,
            table,
            algorithm,
            rounding,
            verified,
            reassociated,
            sink,
            begun,
            verifying,
            writing,
            facts,
            semiring: PhantomData,
        }
    }

    /// Tells the sink that all rows were handed out.
    pub(super) fn finish(&mut self) -> Result<()> {
        let start = Instant::now();
        let finished = self.sink.finish();
        self.writing += start.elapsed().as_secs_f64();
        finished
    }
}

impl<L: MinPlusOnCpu> SinkRows<'_, L> {
    /// Verifies a block of rows; returns how many seconds that took.
    fn verify(graph: &Graph, table: &Table, reassociated: bool, block: &RowBlock<'_>) -> Result<f64> {
        let start = Instant::now();
        let (Some(adjacency), Some(values)) = (graph.csr().adjacency::<L::Weight>(), L::Distance::of(block.values))
        else {
            return Err(Error::NotVerified("the rows have distances of another type".into()));
        };
        let sources = memory::listed("the list of sources", block.rows.iter().map(|&row| table.sources[row]))?;
        let tolerance = Tolerance::new::<L>(graph, values, reassociated);
        verify_rows::<L>(adjacency, &sources, table.targets.as_deref(), values, block.columns, tolerance)?;
        Ok(start.elapsed().as_secs_f64())
    }
}

impl<L: MinPlusOnCpu> RowConsumer<L::Distance> for SinkRows<'_, L> {
    fn start(&mut self, order: &[usize]) -> Result<usize> {
        // An engine that failed before its first row may have begun the sink already.
        self.facts = TableFacts::new(self.table.sources.len());
        let (graph, table, verified, reassociated) = (self.graph, self.table, self.verified, self.reassociated);
        let shape = TableShape {
            graph,
            sources: &table.sources,
            targets: table.targets.as_deref(),
            order,
            semiring: L::NAME,
            distances: &L::Distance::into_distances(Vec::new()),
            algorithm: self.algorithm,
            rounding: &self.rounding,
        };
        let (facts, sink, verifying) = (&mut self.facts, &mut self.sink, &mut self.verifying);
        let have = sink.begin(&shape, &mut |block| {
            if verified {
                *verifying += Self::verify(graph, table, reassociated, block)?;
            }
            facts.add(block);
            Ok(())
        })?;
        *self.begun = have > 0;
        Ok(have)
    }

    fn kept_state(&self) -> Option<KeptState> {
        self.sink.kept_state()
    }

    fn wants_facts_alone(&self) -> bool {
        self.table.facts
    }

    fn facts(&mut self, rows: &[usize], facts: &[RowFacts]) -> Result<()> {
        *self.begun = true;
        self.facts.add_rows(rows, facts);
        let start = Instant::now();
        self.sink.facts(rows, facts)?;
        self.writing += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn rows(&mut self, rows: &[usize], values: Vec<L::Distance>) -> Result<Vec<L::Distance>> {
        *self.begun = true;
        let values = L::Distance::into_distances(values);
        let block = RowBlock { rows, columns: self.table.columns as usize, values: &values };
        let (graph, table, verified, reassociated) = (self.graph, self.table, self.verified, self.reassociated);
        if verified {
            self.verifying += Self::verify(graph, table, reassociated, &block)?;
        }
        let facts = self.facts.add(&block);
        let start = Instant::now();
        if self.table.facts {
            self.sink.facts(rows, &facts)?
        } else {
            self.sink.rows(&block)?
        }
        self.writing += start.elapsed().as_secs_f64();
        Ok(L::Distance::into_vec(values).unwrap_or_default())
    }
}
