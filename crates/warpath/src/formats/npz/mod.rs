//! `.npz`: sparse matrices as `scipy.sparse.save_npz` writes them, a zip archive of NumPy arrays.
//!
//! A CSR matrix (`indptr`, `indices`, `data`) has the layout of the graph already. CSC is the same by column, and COO
//! (`row`, `col`, `data`) a list of edges. Entry `(i, j)` is the arc from `i` to `j`; an explicit zero is an arc of
//! weight 0, not a missing one. A matrix is a directed graph unless the options say otherwise, symmetric or not.
//!
//! Booleans that are all true are no weights; other booleans and integers become `u32`, or `i32` if any is negative;
//! floats keep their type. Arrays may be stored or deflated. What an archive claims about sizes is checked against what
//! it can possibly hold and against memory before any is taken, and deflated arrays are unpacked piece by piece into what
//! they become: the bytes of an array are never in memory as a whole.
//!
//! *Parts.* `array` reads a member, `header` what stands in front of it; `write` is the writer.

mod array;
mod header;
#[cfg(test)]
mod tests;
mod write;

use std::io::Cursor;

use array::Array;
use write::write;
use zip::ZipArchive;

use super::format::FormatEntry;
use super::rows::{Rows, plan_vertices, too_many_isolated, vertex_count, wants_weights};
use super::{Input, Opened, ReadOptions};
use crate::graph::{Direction, EdgeList, Graph, Labels, VertexId, Weights, with_weights};
use crate::memory::{self, allocation::bytes_of};
use crate::{InputError, Plan, Result};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "npz",
    extensions: &["npz"],
    holds: "every graph",
    numbers_from: Some(0),
    is_announced: is_zip,
    read: |opened, options| read(&opened.load(options)?, options),
    write: |graph, _, out| write(graph, out),
};

fn is_zip(opened: &Opened) -> bool {
    opened.head().starts_with(b"PK\x03\x04") || opened.head().starts_with(b"PK\x05\x06")
}

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Reads a graph.
///
/// # Errors
///
/// If the archive is damaged, does not hold a square sparse matrix in CSR, CSC or COO form, its arrays contradict each
/// other, a weight is not finite or does not fit into 32 bits, or all that does not fit into memory.
fn read(input: &Input, options: &ReadOptions) -> Result<Graph> {
    let archive = ZipArchive::new(Cursor::new(input.bytes()))
        .map_err(|error| InputError::new(format!("not a whole zip archive: {error}")))?;
    let mut file = File { archive, input, options };

    let shape = file.array("shape")?;
    if shape.length != 2 {
        return invalid(format!("the shape has {} dimensions instead of 2", shape.length));
    }
    let shape = shape.integers()?;
    let (rows, columns) = (shape[0], shape[1]);
    if rows != columns {
        return invalid(format!("the matrix of a graph has to be square; this one is {rows} by {columns}"));
    }
    let vertices = vertex_count(rows)?;
    let labels = Labels::range(0, rows);
    let format = file.array("format")?.text()?;
    let [tails, heads] = match format.as_str() {
        "csr" | "csc" => ["indptr", "indices"],
        "coo" => ["row", "col"],
        other => return invalid(format!("sparse matrices in `{other}` form can't be read, only csr, csc and coo")),
    };
    let wants_weights = wants_weights(options)?;
    file.plan(&format, [tails, heads], vertices, wants_weights)?;

    let entries = file.array("data")?.length;
    let weights = if wants_weights { file.array("data")?.weights()? } else { Weights::unit(entries) };
    match format.as_str() {
        "csr" => {
            let offsets = file.array(tails)?.integers()?;
            let targets = file.array(heads)?.vertices(vertices)?;
            with_weights!(weights, weights => {
                let rows = Rows { offsets, targets, weights };
                rows.into_graph(Direction::Directed, labels, None, options)
            })
        }
        "csc" => {
            let offsets = file.array(tails)?.integers()?;
            let tails = file.array(heads)?.vertices(vertices)?;
            crate::graph::check_offsets(&offsets).map_err(super::rows::about_input)?;
            if offsets[vertices] != entries as u64 || offsets[0] != 0 {
                return invalid(format!("the columns run from {} to {}", offsets[0], offsets[vertices]));
            }
            let heads = (0..vertices as VertexId)
                .flat_map(|v| std::iter::repeat_n(v, (offsets[v as usize + 1] - offsets[v as usize]) as usize));
            let mut edges = memory::with_capacity("edges", entries)?;
            edges.extend(tails.into_iter().zip(heads));
            build(edges, weights, labels, input, options)
        }
        _ => {
            let tails = file.array(tails)?.vertices(vertices)?;
            let mut edges = memory::with_capacity("edges", entries)?;
            file.array(heads)?.each_vertex(vertices, |heads| {
                let tails = &tails[edges.len()..][..heads.len()];
                edges.extend(tails.iter().copied().zip(heads.iter().copied()));
            })?;
            drop(tails);
            build(edges, weights, labels, input, options)
        }
    }
}

/// An archive that is read.
struct File<'a> {
    archive: Archive<'a>,
    input: &'a Input,
    options: &'a ReadOptions,
}

impl File<'_> {
    fn array(&mut self, name: &'static str) -> Result<Array<'_>> {
        Array::open(&mut self.archive, self.input, self.options, name)
    }

    /// An error if the lengths of the arrays contradict each other, or what they become does not fit into memory. The
    /// names are those of the arrays that say where entries are.
    fn plan(&mut self, format: &str, places: [&'static str; 2], vertices: usize, weights: bool) -> Result<()> {
        let first = self.array(places[0])?.length;
        let second = self.array(places[1])?.length;
        let (entries, element_bytes, bytes_of_weight) = {
            let data = self.array("data")?;
            (data.length, data.element_bytes, data.bytes_of_weight())
        };
        let mut plan = Plan::new();
        if format == "coo" {
            if first != entries || second != entries {
                return invalid(format!("row, col and data have different lengths: {first}, {second}, {entries}"));
            }
            // Indices have four bytes, or eight.
            let bytes = (entries as u64).saturating_mul(element_bytes as u64 + 16);
            if let Some(message) = too_many_isolated(vertices as u64, bytes, self.options) {
                return invalid(message);
            }
            plan_vertices(vertices as u64, self.input.owned_bytes(), self.options)?;
        } else {
            if first != vertices + 1 || second != entries {
                return invalid(format!(
                    "the arrays contradict each other: {vertices} rows, {first} row ends, {second} indices, {entries} values"
                ));
            }
            plan.memory("offsets of vertices", bytes_of::<u64>(first));
        }
        if weights {
            plan.memory("weights", (entries as u64).saturating_mul(bytes_of_weight));
        }
        plan.memory("vertices of entries", bytes_of::<VertexId>(entries));
        if format != "csr" {
            plan.memory("edges", bytes_of::<(VertexId, VertexId)>(entries));
        }
        plan.check(self.options.room(self.input.owned_bytes()))
    }
}

fn invalid<T>(message: String) -> Result<T> {
    Err(InputError::new(message).into())
}

fn build(
    edges: Vec<(VertexId, VertexId)>,
    weights: Weights,
    labels: Labels,
    input: &Input,
    options: &ReadOptions,
) -> Result<Graph> {
    with_weights!(weights, weights => {
        let list = EdgeList { edges, weights };
        options.builder_beside(Direction::Directed, input.owned_bytes()).labels(labels).build(vec![list])
    })
}
