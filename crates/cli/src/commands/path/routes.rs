//! Writes paths to a file: as lines of comma-separated values, one for each vertex, or as GeoJSON, a line on the map
//! for each path.

use std::io::Write;
use std::sync::Arc;

use serde_json::Value;
use warpath::tables::csv_field;
use warpath::{Control, Error, Graph, Path};

use crate::arguments::PathArguments;
use crate::failure::Failure;
use crate::geojson::{self, FeatureWriter, Places};
use crate::output::{Output, is_table};
use crate::print;

/// A path to write.
pub(super) struct Route<'p> {
    /// What tells it from other paths: names of vertices, or its number.
    pub(super) fields: Vec<(&'static str, Value)>,
    /// The path; a pair without one is written with nothing else.
    pub(super) path: Option<&'p Path>,
}

/// Writes paths to a file.
pub(super) struct RouteWriter(Form);

enum Form {
    Csv {
        output: Output,
        header: String,
    },
    /// The places are known once the graph is.
    GeoJson(FeatureWriter, Option<Arc<Places>>),
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
        let is_csv = is_table(path);
        if !is_csv && !geojson::is_wanted(path) {
            let path = path.display();
            let message = format!("`{path}` names no format for paths: its extension can be .csv, .tsv or .geojson");
            return Err(Failure::usage(message));
        }
        let output = Output::open(path, inputs, &arguments.solving.common, control)?;
        Ok(RouteWriter(if is_csv {
            let columns: String = fields.iter().map(|field| format!("{field},")).collect();
            Form::Csv { output, header: format!("{columns}vertex,distance,weight\n") }
        } else {
            Form::GeoJson(FeatureWriter::new(output), None)
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
            Form::Csv { output, header } => {
                let mut lines = std::mem::take(header);
                lines += &csv_lines(graph, &route)?;
                output.write_all(lines.as_bytes()).map_err(|error| Error::io(output.path(), error))
            }
            Form::GeoJson(features, places) => {
                let places = places.as_ref().ok_or_else(|| Error::invalid("the map is not known yet"))?;
                let mut fields = route.fields;
                fields.push(("length", route.path.map_or(Value::Null, |path| print::number(path.length()))));
                fields.push(("edges", route.path.map_or(Value::Null, |path| path.edges().len().into())));
                let properties = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                let vertices = route.path.map(Path::vertices).unwrap_or_default();
                features.write(graph, &places.coordinates, vertices, properties)
            }
        }
    }

    /// Gives the file its final name.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self.0 {
            Form::Csv { mut output, header } => {
                output.write_all(header.as_bytes()).map_err(|error| Error::io(output.path(), error))?;
                output.finish()
            }
            Form::GeoJson(features, _) => features.finish(),
        }
    }
}

fn csv_lines(graph: &Graph, route: &Route<'_>) -> Result<String, Error> {
    let field = |value: &Value| match value {
        Value::String(text) => csv_field(text).into_owned(),
        other => other.to_string(),
    };
    let prefix: String = route.fields.iter().map(|(_, value)| field(value) + ",").collect();
    let Some(path) = route.path else { return Ok(format!("{prefix},,\n")) };
    let mut lines = String::new();
    for step in path.steps(graph)? {
        let weight = step.weight.map_or(String::new(), |weight| weight.to_string());
        let name = graph.name(step.vertex);
        lines += &format!("{prefix}{},{},{weight}\n", csv_field(&name), step.distance);
    }
    Ok(lines)
}
