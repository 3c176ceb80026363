//! Writes edge lists.

use std::borrow::Cow;
use std::io::Write;

use crate::formats::stream_error;
use crate::formats::text::Shown;
use crate::graph::{Graph, Labels, VertexId, Weight, WeightKind, with_weights};
use crate::{Error, Result};

/// Writes the edges by name, each edge of an undirected graph once. Comments before them state the numbers of vertices
/// and edges, so that the list reads back as the same graph.
///
/// Columns are separated by a blank, or by commas (with names in double quotes) if some name could be misread.
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> Result<()> {
    with_weights!(graph.weights(), values => write_edges(graph, values, out))
}

fn write_edges<W: Weight>(graph: &Graph, weights: &[W], out: &mut dyn Write) -> Result<()> {
    let names = Names::of(graph)?;
    let row = |u: VertexId| {
        let row = graph.csr().row(u);
        let skipped = if graph.is_directed() { 0 } else { graph.neighbors(u).partition_point(|&v| v < u) };
        row.start + skipped..row.end
    };
    let vertices = 0..graph.vertices() as VertexId;
    let edges: usize = vertices.clone().map(|u| row(u).len()).sum();
    let kind = if graph.is_directed() { "Directed" } else { "Undirected" };
    write!(out, "# {kind} graph\n# Nodes: {} Edges: {edges}", graph.vertices()).map_err(stream_error)?;
    match graph.labels() {
        Labels::Range { first, count } => {
            writeln!(out, " Ids: {first}..{}", (first + count).saturating_sub(1)).map_err(stream_error)?;
        }
        Labels::Integers(_) | Labels::Strings(_) => {
            writeln!(out).map_err(stream_error)?;
            let mut has_edge: Vec<bool> = vertices.clone().map(|v| graph.degree(v) > 0).collect();
            graph.csr().targets().iter().for_each(|&v| has_edge[v as usize] = true);
            for v in vertices.clone().filter(|&v| !has_edge[v as usize]) {
                writeln!(out, "# Node: {}", names.of_vertex(v)).map_err(stream_error)?;
            }
        }
    }
    let delimiter = if names.quoted { ',' } else { ' ' };
    for u in vertices {
        let name = names.of_vertex(u);
        for arc in row(u) {
            let head = names.of_vertex(graph.csr().targets()[arc]);
            match W::KIND {
                WeightKind::Unit => writeln!(out, "{name}{delimiter}{head}"),
                _ => writeln!(out, "{name}{delimiter}{head}{delimiter}{}", Shown(weights[arc])),
            }
            .map_err(stream_error)?;
        }
    }
    Ok(())
}

/// The names of vertices as they are written.
struct Names<'a> {
    labels: &'a Labels,
    quoted: bool,
}

impl<'a> Names<'a> {
    fn of(graph: &'a Graph) -> Result<Self> {
        let labels = graph.labels();
        let mut quoted = false;
        if let Labels::Strings(names) = labels {
            for v in 0..names.len() as VertexId {
                let name = names.get(v);
                if name.chars().any(char::is_control) {
                    return Err(Error::invalid(format!("an edge list can't hold the vertex name {name:?}")));
                }
                quoted |= name.is_empty()
                    || name.starts_with(['#', '%', '\u{feff}'])
                    || name.contains([',', ';', '|', '"'])
                    || name.contains(char::is_whitespace);
            }
        }
        Ok(Names { labels, quoted })
    }

    fn of_vertex(&self, v: VertexId) -> Cow<'a, str> {
        let name = self.labels.name(v);
        if self.quoted { format!("\"{}\"", name.replace('"', "\"\"")).into() } else { name }
    }
}
