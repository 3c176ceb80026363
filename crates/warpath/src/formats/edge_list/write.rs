//! Writes edge lists, in one of two styles.
//!
//! A `.csv` or `.tsv` file is a table that other programs read: a header, then commas or tabs, and quotes around names
//! that need them. The header `source,target` is for directed graphs, `endpoint1,endpoint2` for undirected ones. Only
//! vertices without edges have no place in a table: comments between the header and the edges hold them.
//!
//! All other files begin with comments that state the numbers of vertices and edges, and have columns separated by a
//! blank, or by commas (with names in double quotes) if some name could be misread.
//!
//! Both read back as the same graph.

use std::borrow::Cow;
use std::io::Write;

use super::header::UNDIRECTED_ENDS;
use crate::formats::text::Shown;
use crate::formats::{Separator, detect, stream_error};
use crate::graph::{Graph, Labels, VertexId, Weight, WeightKind, with_weights};
use crate::{Error, Result};

/// Writes the edges by name, each edge of an undirected graph once, in the style that the extension of the file names.
pub(super) fn write(graph: &Graph, file: &str, out: &mut dyn Write) -> Result<()> {
    let style = match detect::extension(file).as_deref() {
        Some("csv") => Style::Table(Separator::Comma),
        Some("tsv") => Style::Table(Separator::Tab),
        _ => Style::Lines,
    };
    with_weights!(graph.weights(), values => write_edges(graph, values, style, out))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Table(Separator),
    Lines,
}

fn write_edges<W: Weight>(graph: &Graph, weights: &[W], style: Style, out: &mut dyn Write) -> Result<()> {
    let names = Names::of(graph, style)?;
    let row = |u: VertexId| {
        let row = graph.csr().row(u);
        let skipped = if graph.is_directed() { 0 } else { graph.neighbors(u).partition_point(|&v| v < u) };
        row.start + skipped..row.end
    };
    let vertices = 0..graph.vertices() as VertexId;
    let edges: usize = vertices.clone().map(|u| row(u).len()).sum();
    let has_weights = W::KIND != WeightKind::Unit;
    match style {
        Style::Table(separator) => write_header(graph, separator, has_weights, out)?,
        Style::Lines => {
            let kind = if graph.is_directed() { "Directed" } else { "Undirected" };
            writeln!(out, "# {kind} graph").map_err(stream_error)?;
        }
    }
    let isolated = isolated(graph);
    if style == Style::Lines || isolated.contains(&true) {
        write_counts(graph, edges, &isolated, &names, out)?;
    }
    let separator = match style {
        Style::Table(Separator::Tab) => '\t',
        Style::Lines if !names.quoted => ' ',
        _ => ',',
    };
    for u in vertices {
        let name = names.of_vertex(u);
        for arc in row(u) {
            let head = names.of_vertex(graph.csr().targets()[arc]);
            match has_weights {
                false => writeln!(out, "{name}{separator}{head}"),
                true => writeln!(out, "{name}{separator}{head}{separator}{}", Shown(weights[arc])),
            }
            .map_err(stream_error)?;
        }
    }
    Ok(())
}

/// Writes a header whose names no vertex has, so that the reader can tell it from an edge.
fn write_header(graph: &Graph, separator: Separator, has_weights: bool, out: &mut dyn Write) -> Result<()> {
    const DIRECTED: [(&str, &str); 4] =
        [("source", "target"), ("from", "to"), ("origin", "destination"), ("source_id", "target_id")];
    let is_free = |ends: &&(&str, &str)| [ends.0, ends.1].iter().all(|end| graph.labels().find(end).is_none());
    let candidates = if graph.is_directed() { &DIRECTED[..] } else { &[UNDIRECTED_ENDS] };
    let Some((from, to)) = candidates.iter().find(is_free) else {
        return Err(Error::invalid(
            "the vertices of the graph have the names that a header needs; a `.txt` file has no header",
        ));
    };
    let separator = if separator == Separator::Tab { '\t' } else { ',' };
    let weight = if has_weights { format!("{separator}weight") } else { String::new() };
    writeln!(out, "{from}{separator}{to}{weight}").map_err(stream_error)
}

/// Which vertices have no edges.
fn isolated(graph: &Graph) -> Vec<bool> {
    let mut isolated: Vec<bool> = (0..graph.vertices() as VertexId).map(|v| graph.degree(v) == 0).collect();
    graph.csr().targets().iter().for_each(|&v| isolated[v as usize] = false);
    isolated
}

/// Writes comments that state the numbers of vertices and edges, and the vertices without edges.
fn write_counts(graph: &Graph, edges: usize, isolated: &[bool], names: &Names<'_>, out: &mut dyn Write) -> Result<()> {
    write!(out, "# Nodes: {} Edges: {edges}", graph.vertices()).map_err(stream_error)?;
    if let Labels::Range { first, count } = graph.labels() {
        return writeln!(out, " Ids: {first}..{}", (first + count).saturating_sub(1)).map_err(stream_error);
    }
    writeln!(out).map_err(stream_error)?;
    for v in (0..graph.vertices() as VertexId).filter(|&v| isolated[v as usize]) {
        writeln!(out, "# Node: {}", names.of_vertex(v)).map_err(stream_error)?;
    }
    Ok(())
}

/// The names of vertices as they are written.
struct Names<'a> {
    labels: &'a Labels,
    style: Style,
    /// Whether some name could be misread.
    quoted: bool,
}

impl<'a> Names<'a> {
    fn of(graph: &'a Graph, style: Style) -> Result<Self> {
        let labels = graph.labels();
        let mut quoted = false;
        if let Labels::Strings(names) = labels {
            for v in 0..names.len() as VertexId {
                let name = names.get(v);
                if name.chars().any(char::is_control) {
                    return Err(Error::invalid(format!("an edge list can't hold the vertex name {name:?}")));
                }
                quoted |= needs_quotes(name) || (style == Style::Lines && name.contains(char::is_whitespace));
            }
        }
        Ok(Names { labels, style, quoted })
    }

    fn of_vertex(&self, v: VertexId) -> Cow<'a, str> {
        let name = self.labels.name(v);
        // A table has quotes only where they are needed, other lists everywhere or nowhere.
        if self.quoted && (self.style == Style::Lines || needs_quotes(&name)) {
            format!("\"{}\"", name.replace('"', "\"\"")).into()
        } else {
            name
        }
    }
}

/// Whether a name could be misread, whatever separates it from others.
fn needs_quotes(name: &str) -> bool {
    name.is_empty()
        || name.starts_with(['#', '%', '\u{feff}'])
        || name.contains([',', ';', '|', '"'])
        || name.starts_with(char::is_whitespace)
        || name.ends_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Direction, GraphBuilder, StringLabels};
    use crate::{read, write};

    fn labels(names: &[&str]) -> Labels {
        let mut labels = StringLabels::new();
        for name in names {
            labels.intern(name).unwrap();
        }
        Labels::Strings(labels)
    }

    /// Direction, names and edges by name.
    fn facts(graph: &Graph) -> (bool, Vec<String>, Vec<(String, String, String)>) {
        let name = |v| graph.name(v).into_owned();
        let ends =
            |u, v| if graph.is_directed() || name(u) < name(v) { (name(u), name(v)) } else { (name(v), name(u)) };
        let mut edges: Vec<_> = graph.edges().map(|(u, v, w)| (ends(u, v).0, ends(u, v).1, w.to_string())).collect();
        edges.sort();
        let mut names: Vec<String> = (0..graph.vertices() as VertexId).map(name).collect();
        names.sort();
        (graph.is_directed(), names, edges)
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn every_style_reads_back_as_the_same_graph() {
        let folder = tempfile::tempdir().unwrap();
        let all = [
            Labels::range(0, 5),
            Labels::range(7, 5),
            Labels::Integers(vec![3, 5, 8, 1 << 20, 1 << 40]),
            labels(&["a", "b", "c", "d", "e"]),
            labels(&["source", "target", "weight", "from", "to"]),
            labels(&["New York", "Bonn, Hbf", "a;b|c", "say \"hi\"", "1,5"]),
            labels(&["#1", "%", "", " padded ", "007"]),
            labels(&["\u{feff}x", "1 2", "\"quoted\"", "ü", "-1"]),
        ];
        for (turn, labels) in all.into_iter().enumerate() {
            // Each file is a wait for the disk: every style has each graph with all of the labels, but in one direction, and the
            // packed ones, which are the same inside, have only some.
            let files = ["g.txt", "g.csv", "g.tsv", "g.csv.gz", "g.TSV.zst"];
            for (place, file) in files.into_iter().take(if turn % 4 == 3 { 5 } else { 3 }).enumerate() {
                let directions = [Direction::Directed, Direction::Undirected];
                let builder = |graph: usize| {
                    GraphBuilder::new().labels(labels.clone()).direction(directions[(turn + place + graph) % 2])
                };
                let isolated = [(0, 1), (1, 2), (2, 2), (0, 4)];
                for graph in [
                    builder(0).build_from([(0, 1, 1.5), (1, 2, 5.0), (2, 3, 1e300), (0, 4, -0.25)]).unwrap(),
                    builder(1).build_from([(0, 1, 4_u32), (1, 2, 5), (2, 3, 1), (3, 4, 0)]).unwrap(),
                    builder(2).build_from(isolated).unwrap(),
                    builder(3).build_from::<(VertexId, VertexId)>([]).unwrap(),
                ] {
                    let path = folder.path().join(file);
                    write(&graph, &path).unwrap();
                    let again = read(&path).unwrap_or_else(|error| panic!("{error}: {graph:?}"));
                    assert_eq!(facts(&again), facts(&graph), "{file}");
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn tables_are_what_other_programs_expect() {
        let folder = tempfile::tempdir().unwrap();
        let graph = GraphBuilder::new().labels(labels(&["a", "b, c", "d e"]));
        let graph = graph.build_from([(0, 1, 2_u32), (1, 2, 3)]).unwrap();
        for (file, expected) in [
            ("g.csv", "source,target,weight\na,\"b, c\",2\n\"b, c\",d e,3\n"),
            ("g.tsv", "source\ttarget\tweight\na\t\"b, c\"\t2\n\"b, c\"\td e\t3\n"),
        ] {
            let path = folder.path().join(file);
            write(&graph, &path).unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
        }
        let broken = GraphBuilder::new().labels(labels(&["a\nb"])).build_from([(0, 0)]).unwrap();
        let error = write(&broken, folder.path().join("broken.csv")).unwrap_err().to_string();
        assert!(error.contains("can't hold the vertex name \"a\\nb\""), "{error}");
        assert!(!folder.path().join("broken.csv").exists());
    }
}
