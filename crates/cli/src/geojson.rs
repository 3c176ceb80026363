//! GeoJSON (RFC 7946): results as points and lines that map programs show.

use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value, json};
use warpath::graph::Coordinates;
use warpath::problems::{Isochrone, Polygon};
use warpath::{Error, Graph, VertexId};

use crate::arguments::GraphArguments;
use crate::failure::Failure;
use crate::output::Output;
use crate::print;
use crate::setup::{Setup, generated_coordinates};

/// Whether the extension of an output asks for GeoJSON.
pub(crate) fn is_wanted(output: &Path) -> bool {
    output.extension().is_some_and(|extension| extension == "geojson")
}

/// Where the vertices of a graph lie, and how a plane shows it.
pub(crate) struct Places {
    pub(crate) coordinates: Coordinates,
    /// How many units of y a unit of x is long: other than 1 for longitude and latitude.
    pub(crate) x_scale: f64,
}

impl Places {
    /// Reads them from a file, or asks the graph's generator.
    pub(crate) fn find(
        setup: &Setup<'_>,
        arguments: &GraphArguments,
        file: Option<&Path>,
        graph: &Graph,
    ) -> Result<Self, Failure> {
        if let Some(file) = file {
            let coordinates = setup.read_options().read_coordinates(file, graph)?;
            let x_scale = coordinates.longitude_scale().unwrap_or(1.0);
            return Ok(Places { coordinates, x_scale });
        }
        let coordinates = generated_coordinates(arguments, graph)?.ok_or_else(|| {
            Failure::usage("a map needs to know where the vertices lie")
                .help("`--coordinates FILE` names a DIMACS .co, or a .csv of vertex, x, y")
        })?;
        Ok(Places { coordinates, x_scale: 1.0 })
    }

    /// Where a vertex lies on a plane with the same unit in both directions.
    pub(crate) fn on_plane(&self, vertex: VertexId) -> Option<[f64; 2]> {
        self.coordinates.of(vertex).map(|place| self.point_on_plane(place))
    }

    /// Where a point lies there.
    pub(crate) fn point_on_plane(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [x * self.x_scale, y]
    }

    /// Where a vertex lies there, which has to be known.
    pub(crate) fn needed(&self, graph: &Graph, vertex: VertexId) -> Result<[f64; 2], Error> {
        self.on_plane(vertex).ok_or_else(|| unknown(graph, vertex))
    }
}

fn unknown(graph: &Graph, vertex: VertexId) -> Error {
    Error::invalid(format!("there are no coordinates of vertex `{}`", graph.name(vertex)))
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
        let place = |&vertex: &VertexId| coordinates.of(vertex).ok_or_else(|| unknown(graph, vertex));
        let places = vertices.iter().map(place).collect::<Result<Vec<_>, Error>>()?;
        let geometry = match &places[..] {
            [] => Value::Null,
            [place] => json!({"type": "Point", "coordinates": place}),
            places => json!({"type": "LineString", "coordinates": places}),
        };
        self.write_geometry(&geometry, &properties)
    }

    /// Writes a feature with the polygons of an area.
    pub(crate) fn write_area(&mut self, area: &Isochrone, mut properties: Map<String, Value>) -> Result<(), Error> {
        let rings = |polygon: &Polygon| -> Value {
            std::iter::once(&polygon.outer).chain(&polygon.holes).map(|ring| json!(ring)).collect()
        };
        let polygons: Vec<Value> = area.polygons.iter().map(rings).collect();
        let geometry = json!({"type": "MultiPolygon", "coordinates": polygons});
        properties.insert("limit".into(), print::whole_or_float(area.limit));
        properties.insert("vertices".into(), area.vertices.into());
        self.write_geometry(&geometry, &properties)
    }

    fn write_geometry(&mut self, geometry: &Value, properties: &Map<String, Value>) -> Result<(), Error> {
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
