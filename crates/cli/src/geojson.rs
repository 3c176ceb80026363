//! GeoJSON (RFC 7946): results as points and lines that map programs show.

use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value, json};
use warpath::graph::Coordinates;
use warpath::{Error, Graph, VertexId};

use crate::arguments::GraphArguments;
use crate::failure::Failure;
use crate::output::Output;
use crate::setup::{Setup, generated_coordinates};

/// Whether the extension of an output asks for GeoJSON.
pub(crate) fn is_wanted(output: &Path) -> bool {
    output.extension().is_some_and(|extension| extension == "geojson")
}

/// Where the vertices of a graph lie: read from a file, or known from its generator.
pub(crate) fn coordinates(
    setup: &Setup<'_>,
    arguments: &GraphArguments,
    file: Option<&Path>,
    graph: &Graph,
) -> Result<Coordinates, Failure> {
    let found = match file {
        Some(file) => Some(setup.read_options().read_coordinates(file, graph)?),
        None => generated_coordinates(arguments, graph)?,
    };
    found.ok_or_else(|| {
        Failure::usage("a .geojson needs to know where the vertices lie")
            .help("`--coordinates FILE` names a DIMACS .co, or a .csv of vertex, x, y")
    })
}

/// Writes a collection of features.
pub(crate) struct FeatureWriter {
    output: Output,
    begun: bool,
}

impl FeatureWriter {
    pub(crate) fn new(output: Output) -> Self {
        FeatureWriter { output, begun: false }
    }

    fn put(&mut self, text: &str) -> Result<(), Error> {
        self.output.write_all(text.as_bytes()).map_err(|error| Error::io(self.output.path(), error))
    }

    /// Writes a feature over these vertices: nothing for none, a point for one, and a line for several.
    pub(crate) fn write(
        &mut self,
        graph: &Graph,
        coordinates: &Coordinates,
        vertices: &[VertexId],
        properties: Map<String, Value>,
    ) -> Result<(), Error> {
        let place = |&vertex: &VertexId| {
            let place = coordinates.of(vertex);
            place.ok_or_else(|| Error::invalid(format!("there are no coordinates of vertex `{}`", graph.name(vertex))))
        };
        let places = vertices.iter().map(place).collect::<Result<Vec<_>, Error>>()?;
        let geometry = match &places[..] {
            [] => Value::Null,
            [place] => json!({"type": "Point", "coordinates": place}),
            places => json!({"type": "LineString", "coordinates": places}),
        };
        let feature = json!({"type": "Feature", "geometry": geometry, "properties": properties});
        let before = if self.begun { ",\n" } else { BEGINNING };
        self.begun = true;
        self.put(&format!("{before}{feature}"))
    }

    /// Ends the collection and gives the file its final name.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        if !self.begun {
            self.put(BEGINNING)?;
        }
        self.put("\n]}\n")?;
        self.output.finish()
    }
}

const BEGINNING: &str = "{\"type\":\"FeatureCollection\",\"features\":[\n";
