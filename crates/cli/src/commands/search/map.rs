//! Writes the distances that a search found as points and lines on a map.

use std::sync::Arc;

use warpath::problems::Isochrone;
use warpath::{Error, Graph, ShortestPathTree, VertexId};

use crate::geojson::{FeatureWriter, Places};
use crate::output::Output;
use crate::print;

/// Writes a point for each vertex that was reached, or a line for each edge of the tree.
pub(super) struct MapWriter {
    features: FeatureWriter,
    /// Known once the graph is.
    places: Option<Arc<Places>>,
    /// Whether each vertex names its source: there are several.
    names_source: bool,
    /// Whether there is a line for each edge of the tree, not a point for each vertex.
    lines: bool,
    /// Whether arcs were followed backwards, so that predecessors are successors.
    reverse: bool,
}

impl MapWriter {
    pub(super) fn new(output: Output, names_source: bool, lines: bool, reverse: bool) -> Self {
        MapWriter { features: FeatureWriter::new(output), places: None, names_source, lines, reverse }
    }

    /// Says where the vertices lie.
    pub(super) fn locate(&mut self, places: &Arc<Places>) {
        self.places = Some(places.clone());
    }

    /// Writes areas in place of distances, the greatest first, so that it does not cover the others.
    pub(super) fn write_areas(
        &mut self,
        graph: &Graph,
        tree: &ShortestPathTree,
        areas: &[Isochrone],
    ) -> Result<(), Error> {
        let mut areas: Vec<&Isochrone> = areas.iter().collect();
        areas.sort_by(|a, b| b.limit.total_cmp(&a.limit));
        for area in areas {
            let mut properties = serde_json::Map::new();
            // An area around several sources belongs to all of them.
            if let ([source], true) = (tree.sources(), self.names_source) {
                properties.insert("source".into(), graph.name(*source).into());
            }
            self.features.write_area(area, properties)?;
        }
        Ok(())
    }

    /// Writes the distances of a tree; `nearest` has the nearest source of every vertex if there are several.
    pub(super) fn write(
        &mut self,
        graph: &Graph,
        tree: &ShortestPathTree,
        nearest: Option<&[VertexId]>,
    ) -> Result<(), Error> {
        let places = self.places.as_ref().ok_or_else(|| Error::invalid("the map is not known yet"))?;
        let coordinates = &places.coordinates;
        let name = |vertex: VertexId| graph.name(vertex).into_owned().into();
        for v in 0..graph.vertices() as VertexId {
            let Some(distance) = tree.distance(v) else { continue };
            let mut properties = serde_json::Map::new();
            if self.names_source {
                let source = nearest.map_or(tree.sources()[0], |nearest| nearest[v as usize]);
                properties.insert("source".into(), name(source));
            }
            properties.insert("vertex".into(), name(v));
            properties.insert("distance".into(), print::number(distance));
            if !self.lines {
                self.features.write(graph, coordinates, &[v], properties)?;
            } else if let Some(other) = tree.predecessor(v) {
                let (field, line) = if self.reverse { ("successor", [v, other]) } else { ("predecessor", [other, v]) };
                properties.insert(field.into(), name(other));
                self.features.write(graph, coordinates, &line, properties)?;
            }
        }
        Ok(())
    }

    /// Gives the file its final name.
    pub(super) fn finish(self) -> Result<(), Error> {
        self.features.finish()
    }
}
