//! `.sg` and `.wsg`: the serialized graphs of the GAP benchmark suite (Beamer, Asanović, Patterson, 2015).
//!
//! A byte tells whether the graph is directed; then the number of arcs and of vertices, the offsets of the rows (64-bit
//! integers all of them), and the arcs: a 32-bit head, in `.wsg` followed by a 32-bit weight. A directed graph holds
//! offsets and arcs a second time, by head; they are skipped, since a transpose is made when it is wanted. There are no
//! magic bytes: the size of the file tells `.sg` from `.wsg`, and both from anything else.
//!
//! The odd first byte misaligns all arrays, so that they can't be used in a mapped file. They are copied out of it in
//! parallel, heads apart from weights, and what has been copied is given back to the operating system on the way: the
//! graph is in memory once, not twice.

use std::io::Write;
use std::ops::Range;

use rayon::prelude::*;

use super::rows::{Rows, vertex_count, wants_weights};
use super::{Input, ReadOptions, stream_error};
use crate::graph::{Csr, Direction, Graph, Labels, Unit, VertexId, WeightKind, Weights};
use crate::{Error, InputError, Result};

const HEADER: usize = 17;

/// Arcs copied at a time by a thread.
const CHUNK: usize = 1 << 18;

/// What the header says, and what the size of the file says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    directed: bool,
    weighted: bool,
    vertices: usize,
    arcs: usize,
}

impl Layout {
    /// `None` if the size is not the one that the header announces. Without arcs, the extension tells `.wsg` from `.sg`.
    fn of(bytes: &[u8], name: &str) -> Option<Self> {
        let (&[directed, ref counts @ ..], _) = bytes.split_first_chunk::<HEADER>()?;
        let count = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| counts[at + index]));
        let (arcs, vertices) = (count(0), count(8));
        let halves = match directed {
            0 => 1,
            1 => 2,
            _ => return None,
        };
        let size = |arc_bytes: u128| {
            HEADER as u128 + halves * ((u128::from(vertices) + 1) * 8 + u128::from(arcs) * arc_bytes)
        };
        let fits = |arc_bytes| size(arc_bytes) == bytes.len() as u128;
        let weighted = match (fits(4), fits(8)) {
            (true, true) => name.to_ascii_lowercase().contains(".wsg"),
            (true, false) => false,
            (false, true) => true,
            (false, false) => return None,
        };
        Some(Layout { directed: directed == 1, weighted, vertices: vertices as usize, arcs: arcs as usize })
    }

    fn offsets(&self) -> Range<usize> {
        HEADER..HEADER + (self.vertices + 1) * 8
    }

    fn arcs(&self) -> Range<usize> {
        let start = self.offsets().end;
        start..start + self.arcs * if self.weighted { 8 } else { 4 }
    }
}

/// Whether the size of the file is the one that such a header announces.
pub(super) fn recognizes(bytes: &[u8]) -> bool {
    Layout::of(bytes, "").is_some()
}

/// Reads a graph. Weights are `u32`, or `i32` if any is negative.
///
/// # Errors
///
/// If the size of the file is not the one its header announces, or its arrays are not those of a graph.
pub(super) fn read(input: &Input, options: &ReadOptions) -> Result<Graph> {
    let bytes = input.bytes();
    let Some(layout) = Layout::of(bytes, &input.name) else {
        let message = "not a serialized GAP graph: its size is not the one that its first 17 bytes announce";
        return Err(InputError::new(message).into());
    };
    vertex_count(layout.vertices as u64)?;
    let with_weights = layout.weighted && wants_weights(options)?;
    let mut offsets = vec![0_u64; layout.vertices + 1];
    copy_out(input, layout.offsets(), &mut offsets);
    let mut targets: Vec<VertexId> = vec![0; layout.arcs];
    let direction = if layout.directed { Direction::Directed } else { Direction::Undirected };
    let labels = Labels::range(0, layout.vertices as u64);
    let mut lines = layout.arcs as u64;
    if !layout.directed {
        lines /= 2;
    }
    if !layout.weighted {
        copy_out(input, layout.arcs(), &mut targets);
    } else if !with_weights {
        split(input, layout.arcs(), &mut targets, &mut [Unit][..0]);
    }
    if !with_weights {
        let weights = vec![Unit; layout.arcs];
        return Rows { offsets, targets, weights }.into_graph(direction, labels, lines, options);
    }
    let mut weights = vec![0_i32; layout.arcs];
    if split(input, layout.arcs(), &mut targets, &mut weights) {
        Rows { offsets, targets, weights }.into_graph(direction, labels, lines, options)
    } else {
        let weights: Vec<u32> = bytemuck::allocation::cast_vec(weights);
        Rows { offsets, targets, weights }.into_graph(direction, labels, lines, options)
    }
}
