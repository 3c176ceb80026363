//! Collects edges, batch by batch, and numbers their vertices.

use arrow_array::{Array, ArrayRef, RecordBatch};

use super::columns::Chosen;
use super::values::{fault_of_name, integer_names, name_at, plain, push_weights};
use crate::formats::edge_list::{IntegerName, NamedChunk, number_integers};
use crate::formats::text::Held;
use crate::formats::weight_column::{WeightColumn, WeightedChunk};
use crate::graph::{Labels, StringLabels};
use crate::memory::with_capacity;
use crate::{Error, Result};

/// Rows that are taken at a time out of a batch, which may be as long as the file.
const CHUNK_ROWS: usize = 1 << 16;

/// What an array of edges is for, if there is no memory for it.
const WHAT: &str = "the edges of a list";

/// The edges so far, by the names of their vertices.
enum Named {
    /// All names are integers of 32 bits.
    Narrow(Vec<NamedChunk<u32>>),
    /// All names are integers.
    Wide(Vec<NamedChunk<u64>>),
    /// Names are numbered in the order of their first appearance.
    Text(StringLabels, Vec<WeightedChunk>),
}

/// The edges so far.
pub(super) struct Edges<'c> {
    chosen: &'c Chosen,
    named: Named,
    rows: u64,
    held: u64,
    /// How much memory they may take.
    room: u64,
}

impl<'c> Edges<'c> {
    /// None yet.
    pub(super) fn new(chosen: &'c Chosen, room: u64) -> Self {
        Edges { chosen, named: Named::Narrow(Vec::new()), rows: 0, held: 0, room }
    }

    /// How many rows were read.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds the edges of a batch.
    ///
    /// # Errors
    ///
    /// If a vertex or a weight is missing, a name can't be printed, a weight is not finite, or there is no memory.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        for start in (0..batch.num_rows()).step_by(CHUNK_ROWS) {
            let rows = CHUNK_ROWS.min(batch.num_rows() - start);
            let values = |column: usize| {
                let array = batch.column(column).slice(start, rows);
                self.chosen.check_complete(&array, column, self.rows)?;
                plain(&array)
            };
            let [from, to] = self.chosen.ends.map(values);
            let (from, to) = (from?, to?);
            let weights = match self.chosen.weight {
                None => None,
                Some(column) => {
                    let mut weights = WeightColumn::new();
                    push_weights(&values(column)?, self.rows, &mut weights)
                        .map_err(|(row, message)| self.chosen.error_at(self.rows + row as u64, column, &message))?;
                    Some(weights)
                }
            };
            self.add_chunk(&from, &to, weights)?;
            self.rows += rows as u64;
        }
        Ok(())
    }

    fn add_chunk(&mut self, from: &ArrayRef, to: &ArrayRef, weights: Option<WeightColumn>) -> Result<()> {
        if !matches!(self.named, Named::Text(..)) {
            match integer_names(from).zip(integer_names(to)) {
                Some((from, to)) => return self.add_integers(&from, &to, weights),
                None => self.name_by_text()?,
            }
        }
        let Named::Text(labels, chunks) = &mut self.named else { unreachable!("just named by text") };
        let mut edges = with_capacity(WHAT, from.len())?;
        let mut number = |array: &ArrayRef, row: usize, end: usize| {
            let name = name_at(array, row);
            match fault_of_name(&name) {
                Some(fault) => Err(self.chosen.error_at(self.rows + row as u64, self.chosen.ends[end], fault)),
                None => labels.intern(&name),
            }
        };
        for row in 0..from.len() {
            edges.push((number(from, row, 0)?, number(to, row, 1)?));
        }
        let chunk = WeightedChunk { edges, weights };
        self.held += chunk.held_bytes();
        chunks.push(chunk);
        let labels = labels.owned_bytes();
        self.check_room(labels)
    }

    fn add_integers(&mut self, from: &[u64], to: &[u64], weights: Option<WeightColumn>) -> Result<()> {
        if let Named::Narrow(chunks) = &mut self.named {
            if let Some(chunk) = chunk_of::<u32>(from, to)? {
                let chunk = NamedChunk { edges: chunk, weights };
                self.held += chunk.held_bytes();
                chunks.push(chunk);
                return self.check_room(0);
            }
            let widened = std::mem::take(chunks).into_iter().map(widened).collect::<Result<Vec<_>>>()?;
            self.held = widened.iter().map(Held::held_bytes).sum();
            self.named = Named::Wide(widened);
        }
        let Named::Wide(chunks) = &mut self.named else { unreachable!("integers come before text") };
        let Some(edges) = chunk_of::<u64>(from, to)? else { unreachable!("64 bits hold all integers that are names") };
        let chunk = NamedChunk { edges, weights };
        self.held += chunk.held_bytes();
        chunks.push(chunk);
        self.check_room(0)
    }

    /// Names all vertices by text from now on, those of the edges so far as well.
    fn name_by_text(&mut self) -> Result<()> {
        let mut labels = StringLabels::new();
        let chunks = match std::mem::replace(&mut self.named, Named::Narrow(Vec::new())) {
            Named::Narrow(chunks) => by_text(chunks, &mut labels)?,
            Named::Wide(chunks) => by_text(chunks, &mut labels)?,
            Named::Text(..) => unreachable!("this is done once"),
        };
        self.held = chunks.iter().map(Held::held_bytes).sum();
        self.named = Named::Text(labels, chunks);
        Ok(())
    }

    fn check_room(&self, labels: u64) -> Result<()> {
        let needed = self.held.saturating_add(labels);
        if needed <= self.room {
            return Ok(());
        }
        let what = "the edges that were read so far".to_owned();
        Err(Error::OutOfMemory { what, needed, available: self.room })
    }

    /// The names of the vertices, and the edges by their numbers.
    pub(super) fn named(self) -> Result<(Labels, Vec<WeightedChunk>)> {
        let check_room = |needed: u64| match needed <= self.room {
            true => Ok(()),
            false => {
                let what = "the names of vertices".to_owned();
                Err(Error::OutOfMemory { what, needed, available: self.room })
            }
        };
        match self.named {
            Named::Narrow(chunks) => number_integers(chunks, Vec::new(), None, check_room),
            Named::Wide(chunks) => number_integers(chunks, Vec::new(), None, check_room),
            Named::Text(labels, chunks) => Ok((Labels::Strings(labels), chunks)),
        }
    }
}

/// Edges between these integers; `None` if one is too wide.
fn chunk_of<I: IntegerName>(from: &[u64], to: &[u64]) -> Result<Option<Vec<(I, I)>>> {
    let mut edges = with_capacity(WHAT, from.len())?;
    for (&u, &v) in from.iter().zip(to) {
        match I::from_u64(u).zip(I::from_u64(v)) {
            Some(edge) => edges.push(edge),
            None => return Ok(None),
        }
    }
    Ok(Some(edges))
}

fn widened(chunk: NamedChunk<u32>) -> Result<NamedChunk<u64>> {
    let mut edges = with_capacity(WHAT, chunk.edges.len())?;
    edges.extend(chunk.edges.iter().map(|&(u, v)| (u64::from(u), u64::from(v))));
    Ok(NamedChunk { edges, weights: chunk.weights })
}

fn by_text<I: IntegerName>(chunks: Vec<NamedChunk<I>>, labels: &mut StringLabels) -> Result<Vec<WeightedChunk>> {
    let mut named = with_capacity(WHAT, chunks.len())?;
    for chunk in chunks {
        let mut edges = with_capacity(WHAT, chunk.edges.len())?;
        for (u, v) in chunk.edges {
            edges.push((labels.intern(&u.to_u64().to_string())?, labels.intern(&v.to_u64().to_string())?));
        }
        named.push(WeightedChunk { edges, weights: chunk.weights });
    }
    Ok(named)
}
