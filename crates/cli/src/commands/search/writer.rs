//! Writes the distances that a search found to a file.

use std::io::Write;
use std::sync::Arc;

use warpath::problems::Isochrone;
use warpath::tables::{csv_field, write_npy};
use warpath::{Error, Graph, ShortestPathTree, VertexId};

use super::map::MapWriter;
use crate::geojson::Places;
use crate::output::{Output, OutputKind};

/// Writes distances to a file.
pub(super) enum DistanceWriter {
    /// As a table.
    Table(TableWriter),
    /// As points and lines on a map.
    OnMap(MapWriter),
}

impl DistanceWriter {
    /// Says where the vertices lie, if the output shows it.
    pub(super) fn locate(&mut self, places: &Arc<Places>) {
        if let DistanceWriter::OnMap(writer) = self {
            writer.locate(places);
        }
    }

    /// Whether the output is a map.
    pub(super) fn is_map(&self) -> bool {
        matches!(self, DistanceWriter::OnMap(_))
    }

    /// Writes areas in place of distances, to a map.
    pub(super) fn write_areas(
        &mut self,
        graph: &Graph,
        tree: &ShortestPathTree,
        areas: &[Isochrone],
    ) -> Result<(), Error> {
        match self {
            DistanceWriter::Table(_) => Err(Error::invalid("a table holds no areas")),
            DistanceWriter::OnMap(writer) => writer.write_areas(graph, tree, areas),
        }
    }

    /// Writes the distances of a tree; `nearest` has the nearest source of every vertex if there are several.
    pub(super) fn write(
        &mut self,
        graph: &Graph,
        tree: &ShortestPathTree,
        nearest: Option<&[VertexId]>,
    ) -> Result<(), Error> {
        match self {
            DistanceWriter::Table(writer) => writer.write(graph, tree, nearest),
            DistanceWriter::OnMap(writer) => writer.write(graph, tree, nearest),
        }
    }

    /// Gives the file its final name.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self {
            DistanceWriter::Table(writer) => writer.output.finish(),
            DistanceWriter::OnMap(writer) => writer.finish(),
        }
    }
}

/// Writes distances as a table.
pub(super) struct TableWriter {
    output: Output,
    kind: OutputKind,
    columns: Columns,
    /// Whether arcs were followed backwards, so that predecessors are successors.
    reverse: bool,
    /// Whether vertices without a distance have rows, too.
    all_rows: bool,
    begun: bool,
}

/// Which columns a .csv has besides vertex and distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) source: bool,
    pub(super) predecessor: bool,
    pub(super) paths: bool,
}

impl TableWriter {
    pub(super) fn new(output: Output, kind: OutputKind, columns: Columns, reverse: bool, all_rows: bool) -> Self {
        TableWriter { output, kind, columns, reverse, all_rows, begun: false }
    }

    fn write(&mut self, graph: &Graph, tree: &ShortestPathTree, nearest: Option<&[VertexId]>) -> Result<(), Error> {
        let result = match self.kind {
            OutputKind::Csv => self.write_csv(graph, tree, nearest),
            OutputKind::Npy => write_npy(&mut self.output, &[tree.distances().len()], tree.distances()),
        };
        result.map_err(|error| Error::io(self.output.path(), error))
    }

    fn write_header(&mut self) -> std::io::Result<()> {
        let Columns { source, predecessor, paths } = self.columns;
        let parent = if self.reverse { ",successor" } else { ",predecessor" };
        let columns = [("source,", source), ("vertex,distance", true), (parent, predecessor), (",paths", paths)];
        let header: String = columns.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
        writeln!(self.output, "{header}")
    }

    fn write_csv(
        &mut self,
        graph: &Graph,
        tree: &ShortestPathTree,
        nearest: Option<&[VertexId]>,
    ) -> std::io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            self.write_header()?;
        }
        let Columns { source, predecessor, paths } = self.columns;
        let out = &mut self.output;
        let only = csv_field(&graph.name(tree.sources()[0])).into_owned();
        for v in 0..graph.vertices() as VertexId {
            let distance = tree.distance(v);
            if distance.is_none() && !self.all_rows {
                continue;
            }
            match nearest {
                Some(nearest) if distance.is_some() => write!(out, "{},", csv_field(&graph.name(nearest[v as usize])))?,
                Some(_) => write!(out, ",")?,
                None if source => write!(out, "{only},")?,
                None => {}
            }
            write!(out, "{},", csv_field(&graph.name(v)))?;
            if let Some(distance) = distance {
                write!(out, "{distance}")?;
            }
            if predecessor {
                let predecessor = tree.predecessor(v).map(|predecessor| graph.name(predecessor));
                write!(out, ",{}", predecessor.as_deref().map(csv_field).unwrap_or_default())?;
            }
            if let Some(counts) = tree.path_counts().filter(|_| paths) {
                // No program may take the greatest number for an exact one.
                let count = counts.counts[v as usize];
                write!(out, ",{}{count}", if count == u64::MAX { ">=" } else { "" })?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
