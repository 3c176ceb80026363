//! Graphs from arrays.

use warpath::graph::{Csr, Direction, EdgeList, Labels, MAX_VERTICES, Weight, Weights, with_weights};
use warpath::{Error, Graph, GraphBuilder, Result, VertexId};

/// Whether the rows are those of a graph as it is kept: columns ascend, without repetition.
fn are_strictly_ascending(offsets: &[u64], heads: &[VertexId]) -> bool {
    offsets.windows(2).all(|row| {
        let row = heads.get(row[0] as usize..row[1] as usize);
        row.is_some_and(|row| row.is_sorted_by(|a, b| a < b))
    })
}

/// A graph of the rows of a square sparse matrix.
pub(crate) fn of_rows(offsets: Vec<u64>, heads: Vec<VertexId>, weights: Weights, directed: bool) -> Result<Graph> {
    let count = offsets.len().saturating_sub(1) as u64;
    if count > MAX_VERTICES {
        return Err(Error::InvalidRequest(format!(
            "{count} vertices are too many; at most {MAX_VERTICES} are possible"
        )));
    }
    if directed && are_strictly_ascending(&offsets, &heads) {
        let csr = Csr::new(offsets, heads, weights)?;
        return Graph::from_csr(csr, true, Labels::range(0, count));
    }
    let ascend = offsets.first() == Some(&0) && offsets.is_sorted() && offsets.last() == Some(&(heads.len() as u64));
    if !ascend {
        let count = heads.len();
        return Err(Error::InvalidRequest(format!("indptr has to ascend from 0 to the number of indices, {count}")));
    }
    let mut tails = Vec::with_capacity(heads.len());
    for (tail, row) in offsets.windows(2).enumerate() {
        tails.resize(row[1] as usize, tail as VertexId);
    }
    of_edges(tails, heads, weights, Some(count), directed)
}

/// A graph of edges.
pub(crate) fn of_edges(
    tails: Vec<VertexId>,
    heads: Vec<VertexId>,
    weights: Weights,
    count: Option<u64>,
    directed: bool,
) -> Result<Graph> {
    fn build<W: Weight>(builder: GraphBuilder, edges: Vec<(VertexId, VertexId)>, weights: Vec<W>) -> Result<Graph> {
        builder.build(vec![EdgeList { edges, weights }])
    }
    let direction = if directed { Direction::Directed } else { Direction::Undirected };
    let builder = count.into_iter().fold(GraphBuilder::new(), GraphBuilder::vertices).direction(direction);
    let edges = tails.into_iter().zip(heads).collect();
    with_weights!(weights, values => build(builder, edges, values))
}
