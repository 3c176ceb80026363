//! Writes the distances that a search found to a file.

use std::sync::Arc;

use warpath::problems::Isochrone;
use warpath::tables::{Cell, ColumnType, write_npy};
use warpath::{Error, Graph, ShortestPathTree, VertexId};

use super::map::MapWriter;
use crate::geojson::Places;
use crate::output::{Output, OutputKind};
use crate::table::{Names, Table};

/// Writes distances to a file.
pub(super) enum DistanceWriter {
    /// As a table.
    Table(TableWriter),
    /// As points and lines on a map.
    OnMap(Box<MapWriter>),
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
            DistanceWriter::Table(writer) => writer.finish(),
            DistanceWriter::OnMap(writer) => writer.finish(),
        }
    }
}

/// Writes distances as a table, or as an array.
pub(super) struct TableWriter {
    form: Form,
    columns: Columns,
    /// Whether arcs were followed backwards, so that predecessors are successors.
    reverse: bool,
    /// Whether vertices without a distance have rows, too.
    all_rows: bool,
    begun: bool,
}

enum Form {
    Table(Table),
    Npy(Box<Output>),
}

/// Which columns a table has besides vertex and distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) source: bool,
    pub(super) predecessor: bool,
    pub(super) paths: bool,
}

impl TableWriter {
    pub(super) fn new(output: Output, kind: OutputKind, columns: Columns, reverse: bool, all_rows: bool) -> Self {
        let form = if kind.is_table() { Form::Table(Table::new(output, kind)) } else { Form::Npy(Box::new(output)) };
        TableWriter { form, columns, reverse, all_rows, begun: false }
    }

    fn finish(self) -> Result<(), Error> {
        match self.form {
            Form::Table(table) => table.finish(),
            Form::Npy(output) => output.finish(),
        }
    }

    fn write(&mut self, graph: &Graph, tree: &ShortestPathTree, nearest: Option<&[VertexId]>) -> Result<(), Error> {
        let Columns { source, predecessor, paths } = self.columns;
        let table = match &mut self.form {
            Form::Table(table) => table,
            Form::Npy(output) => {
                let written = write_npy(output, &[tree.distances().len()], tree.distances());
                return written.map_err(|error| Error::io(output.path(), error));
            }
        };
        let names = Names::of(graph);
        if !std::mem::replace(&mut self.begun, true) {
            let parent = if self.reverse { "successor" } else { "predecessor" };
            let distance = match ColumnType::from(tree.distances()) {
                // The next of several searches may need 64 bits.
                ColumnType::U32 if source && nearest.is_none() => ColumnType::U64,
                of => of,
            };
            let columns = [
                (("source", names.column), source),
                (("vertex", names.column), true),
                (("distance", distance), true),
                ((parent, names.column), predecessor),
                (("paths", ColumnType::U64), paths),
            ];
            let columns: Vec<_> = columns.iter().filter(|(_, there)| *there).map(|(column, _)| *column).collect();
            table.begin(&columns)?;
        }
        let mut cells = Vec::new();
        for v in 0..graph.vertices() as VertexId {
            let distance = tree.distance(v);
            if distance.is_none() && !self.all_rows {
                continue;
            }
            cells.clear();
            match nearest {
                Some(nearest) => cells.push(names.cell_of(distance.map(|_| nearest[v as usize]))),
                None if source => cells.push(names.cell(tree.sources()[0])),
                None => {}
            }
            cells.extend([names.cell(v), distance.into()]);
            if predecessor {
                cells.push(names.cell_of(tree.predecessor(v)));
            }
            if let Some(counts) = tree.path_counts().filter(|_| paths) {
                // No program may take the greatest number for an exact one.
                let count = counts.counts[v as usize];
                cells.push(if count == u64::MAX { Cell::AtLeast(count) } else { Cell::Unsigned(count) });
            }
            table.push_row(&cells)?;
        }
        Ok(())
    }
}
