//! PACE challenge: a problem line `p KIND V E`, then an undirected edge `u v` on each line, vertices counted from 1.
//!
//! It differs from [`dimacs`](super::dimacs) in that no letter starts a line of edges; the parser is the same one. A
//! third number on the lines is a weight.
//!
//! Source: <https://pacechallenge.org/2017/treewidth/> (the format `.gr` of the tracks on treewidth).

use std::io::Write;

use super::ReadOptions;
use super::dimacs::{Dialect, read_problem, write_undirected};
use super::text::Text;
use crate::graph::{Graph, WeightKind};
use crate::{Error, Result};

pub(super) fn read(text: Text, options: &ReadOptions) -> Result<Graph> {
    read_problem(text, options, Dialect::Pace)
}

/// Vertices are numbered from 1, whatever their names. The format holds undirected graphs without weights.
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> Result<()> {
    if graph.is_directed() || graph.weight_kind() != WeightKind::Unit {
        return Err(Error::invalid("the format pace holds undirected graphs without weights only"));
    }
    write_undirected(graph, "tw", "", out)
}
