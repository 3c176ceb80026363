//! The graph as batches read it, its vertices in breadth-first order.

use super::labels::ArcWeight;
use crate::graph::{Adjacency, VertexId};
use crate::{Result, memory};

/// The graph with its vertices in breadth-first order: heads by tail, and tails by head.
#[derive(Debug)]
pub(crate) struct Renumbered {
    /// The number of each vertex.
    pub(super) number: Vec<u32>,
    pub(super) out_offsets: Vec<usize>,
    pub(super) heads: Vec<u32>,
    pub(super) in_offsets: Vec<usize>,
    pub(super) tails: Vec<u32>,
    /// For each entry of `tails`, which arc of the graph it is.
    pub(super) arcs: Vec<u64>,
    pub(super) greatest_weight: f64,
}

impl Renumbered {
    /// Renumbers a graph whose arcs have these weights, which may differ from its own. O(V + E).
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub(in crate::cpu::apsp) fn new<W: Copy, A: ArcWeight>(graph: Adjacency<'_, W>, weights: &[A]) -> Result<Self> {
        let (number, vertices) = breadth_first_numbers(graph)?;
        let mut out_offsets = memory::with_capacity("the offsets of renumbered vertices", graph.vertices() + 1)?;
        out_offsets.push(0);
        let mut heads = memory::with_capacity("the renumbered arcs", graph.arcs())?;
        let mut in_offsets: Vec<usize> = memory::zeroed("the offsets of renumbered vertices", graph.vertices() + 1)?;
        for &v in &vertices {
            for &head in graph.neighbors(v) {
                let head = number[head as usize];
                heads.push(head);
                in_offsets[head as usize + 1] += 1;
            }
            out_offsets.push(heads.len());
        }
        (1..in_offsets.len()).for_each(|v| in_offsets[v] += in_offsets[v - 1]);
        let mut cursors = memory::copied("the offsets of renumbered vertices", &in_offsets)?;
        let mut tails = memory::zeroed("the renumbered arcs", graph.arcs())?;
        let mut arcs = memory::zeroed("the renumbered arcs", graph.arcs())?;
        for (tail, &v) in vertices.iter().enumerate() {
            for arc in graph.row(v) {
                let cursor = &mut cursors[number[graph.targets[arc] as usize] as usize];
                tails[*cursor] = tail as u32;
                arcs[*cursor] = arc as u64;
                *cursor += 1;
            }
        }
        let greatest_weight = weights.iter().map(|weight| weight.to_f64()).fold(0.0, f64::max);
        Ok(Renumbered { number, out_offsets, heads, in_offsets, tails, arcs, greatest_weight })
    }
}

/// The position of each vertex in breadth-first order from the vertices of least id, and the vertices in that order.
pub(super) fn breadth_first_numbers<W: Copy>(graph: Adjacency<'_, W>) -> Result<(Vec<u32>, Vec<VertexId>)> {
    let mut number = memory::filled("the numbers of vertices", graph.vertices(), u32::MAX)?;
    let mut vertices: Vec<VertexId> = memory::with_capacity("the queue of vertices", graph.vertices())?;
    let mut scanned = 0;
    for start in 0..graph.vertices() as VertexId {
        if number[start as usize] != u32::MAX {
            continue;
        }
        number[start as usize] = vertices.len() as u32;
        vertices.push(start);
        while scanned < vertices.len() {
            for &head in graph.neighbors(vertices[scanned]) {
                if number[head as usize] == u32::MAX {
                    number[head as usize] = vertices.len() as u32;
                    vertices.push(head);
                }
            }
            scanned += 1;
        }
    }
    Ok((number, vertices))
}
