//! Graphs from arrays.

use warpath::graph::{Direction, EdgeList, Weight, Weights, with_weights};
use warpath::{Graph, GraphBuilder, ReadOptions, Result, VertexId};

/// A graph of the rows of a square sparse matrix.
pub(crate) fn of_rows(offsets: Vec<u64>, heads: Vec<VertexId>, weights: Weights, directed: bool) -> Result<Graph> {
    ReadOptions::new().direction(direction(directed)).graph_of_rows(offsets, heads, weights)
}

fn direction(directed: bool) -> Direction {
    if directed { Direction::Directed } else { Direction::Undirected }
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
    let builder = count.into_iter().fold(GraphBuilder::new(), GraphBuilder::vertices).direction(direction(directed));
    let edges = tails.into_iter().zip(heads).collect();
    with_weights!(weights, values => build(builder, edges, values))
}
