//! Writes paths to a file: as lines of comma-separated values, one for each vertex, or as GeoJSON, a line on the map
//! for each path.

use std::sync::Arc;

use serde_json::Value;
use warpath::tables::{Cell, ColumnType};
use warpath::{Control, Error, Graph, Path, VertexId};

use crate::arguments::PathArguments;
use crate::failure::Failure;
use crate::geojson::{self, FeatureWriter, Places};
use crate::output::{Output, OutputKind};
use crate::print;
use crate::table::{Names, Table, distance_type};

/// A path to write.
pub(super) struct Route<'p> {
    /// What tells it from other paths: names of vertices, or its number.
    pub(super) fields: Vec<(&'static str, Field)>,
    /// The path; a pair without one is written with nothing else.
    pub(super) path: Option<&'p Path>,
}

/// The column of the number of a path.
pub(super) const NUMBER: &str = "path";

/// What tells a path from others.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field {
    Vertex(VertexId),
    /// In the column [`NUMBER`].
    Number(u64),
}

impl Field {
    fn as_json(self, graph: &Graph) -> Value {
        match self {
            Field::Vertex(vertex) => graph.name(vertex).into_owned().into(),
            Field::Number(number) => number.into(),
        }
    }
}

/// Writes paths to a file.
pub(super) struct RouteWriter(Form);

enum Form {
    /// The columns are named with the first path.
    Table { table: Table, fields: Vec<String>, begun: bool },
    /// The places are known once the graph is.
    GeoJson(Box<FeatureWriter>, Option<Arc<Places>>),
}

impl RouteWriter {
    /// Checks, before the work, that the file can be written. `fields` are those of each route.
    pub(super) fn create(
        path: &std::path::Path,
        fields: &[&str],
        inputs: &[&std::path::Path],
        arguments: &PathArguments,
        control: &Control,
    ) -> Result<Self, Failure> {
        let kind = OutputKind::of_table(path)?;
        if kind.is_none() && !geojson::is_wanted(path) {
            let path = path.display();
            let message =
                format!("`{path}` names no format for paths: its extension can be .csv, .tsv, .parquet or .geojson");
            return Err(Failure::usage(message));
        }
        let output = Output::open(path, inputs, &arguments.solving.common, control)?;
        Ok(RouteWriter(match kind {
            Some(kind) => Form::Table {
                table: Table::new(output, kind),
                fields: fields.iter().map(|&field| field.to_owned()).collect(),
                begun: false,
            },
            None => Form::GeoJson(Box::new(FeatureWriter::new(output)), None),
        }))
    }

    /// Says where the vertices lie, if the output shows it.
    pub(super) fn locate(&mut self, places: Option<&Arc<Places>>) {
        if let Form::GeoJson(_, known) = &mut self.0 {
            *known = places.cloned();
        }
    }

    /// Writes a path.
    pub(super) fn write(&mut self, graph: &Graph, route: Route<'_>) -> Result<(), Error> {
        match &mut self.0 {
            Form::Table { table, fields, begun } => {
                if !std::mem::replace(begun, true) {
                    begin(table, graph, fields)?;
                }
                write_rows(table, graph, &route)
            }
            Form::GeoJson(features, places) => {
                let places = places.as_ref().ok_or_else(|| Error::invalid("the map is not known yet"))?;
                let mut fields: Vec<_> =
                    route.fields.into_iter().map(|(name, field)| (name, field.as_json(graph))).collect();
                fields.push(("length", route.path.map_or(Value::Null, |path| print::number(path.length()))));
                fields.push(("edges", route.path.map_or(Value::Null, |path| path.edges().len().into())));
                let properties = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                let vertices = route.path.map(Path::vertices).unwrap_or_default();
                features.write(graph, &places.coordinates, vertices, properties)
            }
        }
    }

    /// Gives the file its final name.
    pub(super) fn finish(self, graph: &Graph) -> Result<(), Error> {
        match self.0 {
            Form::Table { mut table, fields, begun } => {
                if !begun {
                    begin(&mut table, graph, &fields)?;
                }
                table.finish()
            }
            Form::GeoJson(features, _) => features.finish(),
        }
    }
}

/// Names the columns.
fn begin(table: &mut Table, graph: &Graph, fields: &[String]) -> Result<(), Error> {
    let (vertex, distance) = (Names::of(graph).column, distance_type(graph));
    let of = |field: &str| if field == NUMBER { ColumnType::U64 } else { vertex };
    let mut columns: Vec<_> = fields.iter().map(|field| (field.as_str(), of(field))).collect();
    columns.extend([("vertex", vertex), ("distance", distance), ("weight", distance)]);
    table.begin(&columns)
}

/// Writes a row for each vertex of a path; one without a vertex if there is no path.
fn write_rows(table: &mut Table, graph: &Graph, route: &Route<'_>) -> Result<(), Error> {
    let names = Names::of(graph);
    let field = |&(_, field): &(&str, Field)| match field {
        Field::Vertex(vertex) => names.cell(vertex),
        Field::Number(number) => Cell::Unsigned(number),
    };
    let mut cells: Vec<Cell<'_>> = route.fields.iter().map(field).collect();
    let fields = cells.len();
    let Some(path) = route.path else {
        cells.extend([Cell::Missing; 3]);
        return table.push_row(&cells);
    };
    for step in path.steps(graph)? {
        cells.truncate(fields);
        cells.extend([names.cell(step.vertex), Some(step.distance).into(), step.weight.into()]);
        table.push_row(&cells)?;
    }
    Ok(())
}
