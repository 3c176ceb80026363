//! PACE challenge: a problem line `p KIND V E`, then an undirected edge `u v` on each line, vertices counted from 1.
//!
//! Unlike in [`dimacs`](super::dimacs), no letter starts an edge line; the parser is the same. A third number on the
//! lines is a weight.
//!
//! Source: <https://pacechallenge.org/2017/treewidth/> (the format `.gr` of the tracks on treewidth).

use std::io::Write;

use super::dimacs::{Dialect, announced, read_problem, write_undirected};
use super::entry::FormatEntry;
use super::text::Text;
use crate::graph::{Graph, WeightKind};
use crate::{Error, Result};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "pace",
    extensions: &["pace", "tw"],
    holds: "undirected graphs without weights",
    numbers_from: Some(1),
    is_binary: false,
    is_announced: |opened| announced(opened) == Some(Dialect::Pace),
    read: |opened, options| read_problem(Text::new(opened, options), options, Dialect::Pace),
    write: Some(|graph, _, out| write(graph, out)),
};

/// Writes the edges; vertices are numbered from 1, and their names are lost.
fn write(graph: &Graph, out: &mut dyn Write) -> Result<()> {
    if graph.is_directed() || graph.weight_kind() != WeightKind::Unit {
        return Err(Error::invalid(format!("the format {} holds {} only", FORMAT.name, FORMAT.holds)));
    }
    write_undirected(graph, "tw", "", out)
}
