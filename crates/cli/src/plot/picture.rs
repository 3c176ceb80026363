//! What a picture shows, before it is drawn.

use warpath::graph::Coordinates;
use warpath::{Error, Graph, VertexId};

use super::color::{COLORS, Color};
use crate::geojson::Places;

/// A picture: the network, coloured by distance if there are distances, and what lies over it.
pub(super) struct Picture {
    pub(super) title: String,
    pub(super) details: String,
    /// The places of vertices, in units of y; NaN for those without.
    pub(super) places: Vec<[f64; 2]>,
    /// The edges between vertices that have places: those that were not reached, and then by colour, the farthest first.
    pub(super) edges: Vec<[VertexId; 2]>,
    /// How many of the edges have each colour: first those that were not reached, then those of the farthest colour.
    pub(super) groups: Vec<usize>,
    pub(super) distances: Option<DistanceScale>,
    pub(super) routes: Vec<Route>,
    pub(super) outlines: Vec<Outline>,
    pub(super) marks: Vec<Mark>,
    /// What is shown: the least and the greatest x and y.
    pub(super) frame: [[f64; 2]; 2],
}

/// The distances that colours stand for.
pub(super) struct DistanceScale {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether distances are whole numbers.
    pub(super) is_whole: bool,
    /// What the numbers mean.
    pub(super) unit: &'static str,
    /// By vertex; NaN where it was not reached.
    pub(super) values: Vec<f64>,
}

impl DistanceScale {
    /// The colour of a distance.
    pub(super) fn color(&self, distance: f64) -> usize {
        let share = if self.high > self.low { (distance - self.low) / (self.high - self.low) } else { 0.0 };
        ((share * COLORS as f64) as usize).min(COLORS - 1)
    }
}

/// A path over the network.
pub(super) struct Route {
    pub(super) label: String,
    pub(super) points: Vec<[f64; 2]>,
}

/// The outline of an area: closed rings.
pub(super) struct Outline {
    pub(super) label: String,
    pub(super) rings: Vec<Vec<[f64; 2]>>,
}

/// A vertex that stands out.
pub(super) struct Mark {
    pub(super) place: [f64; 2],
    pub(super) color: Color,
    pub(super) label: String,
}

impl Picture {
    /// A picture of a network without distances.
    pub(super) fn new(title: String, graph: &Graph, places: &Places) -> Result<Self, Error> {
        let at = |v: VertexId| places.on_plane(v).unwrap_or([f64::NAN; 2]);
        let points: Vec<[f64; 2]> = (0..graph.vertices() as VertexId).map(at).collect();
        let edges = edges(graph, &places.coordinates);
        let groups = vec![edges.len()];
        let frame = frame(points.iter().copied());
        let picture = Picture {
            title,
            details: String::new(),
            places: points,
            edges,
            groups,
            distances: None,
            routes: Vec::new(),
            outlines: Vec::new(),
            marks: Vec::new(),
            frame,
        };
        let [low, high] = picture.frame;
        let is_there =
            low.iter().chain(&high).all(|at| at.is_finite()) && (0..2).all(|i| (high[i] - low[i]).is_finite());
        if is_there { Ok(picture) } else { Err(Error::invalid("the coordinates of the vertices span no area to draw")) }
    }

    /// Colours the edges by the mean distance of their ends.
    pub(super) fn color_by(&mut self, scale: DistanceScale) {
        let color = |edge: &[VertexId; 2]| {
            let [from, to] = edge.map(|v| scale.values[v as usize]);
            let mean = from / 2.0 + to / 2.0;
            if mean.is_nan() { 0 } else { COLORS - scale.color(mean) }
        };
        self.edges.sort_by_cached_key(color);
        self.groups = vec![0; COLORS + 1];
        for edge in &self.edges {
            self.groups[color(edge)] += 1;
        }
        self.distances = Some(scale);
    }

    /// Shows only what surrounds these points.
    pub(super) fn focus(&mut self, points: impl Iterator<Item = [f64; 2]>, margin: f64) {
        let [low, high] = frame(points);
        let extent = (high[0] - low[0]).max(high[1] - low[1]);
        if extent.is_finite() && extent > 0.0 {
            let around = extent * margin;
            // Beyond the network there is nothing to see.
            let [least, most] = self.frame;
            self.frame = [[0, 1].map(|i| least[i].max(low[i] - around)), [0, 1].map(|i| most[i].min(high[i] + around))];
        }
    }

    /// The edges of each colour: `None` for those that were not reached.
    pub(super) fn colored_edges(&self) -> impl Iterator<Item = (Option<usize>, &[[VertexId; 2]])> {
        let mut rest = &self.edges[..];
        self.groups.iter().enumerate().map(move |(group, &count)| {
            let (these, others) = rest.split_at(count);
            rest = others;
            ((group > 0).then(|| COLORS - group), these)
        })
    }
}

/// The least and the greatest coordinates of points.
pub(super) fn frame(points: impl Iterator<Item = [f64; 2]>) -> [[f64; 2]; 2] {
    points.fold([[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]], |[low, high], point| {
        [[0, 1].map(|axis| low[axis].min(point[axis])), [0, 1].map(|axis| high[axis].max(point[axis]))]
    })
}

/// The edges to draw: each once, even if it has an arc in both directions.
fn edges(graph: &Graph, coordinates: &Coordinates) -> Vec<[VertexId; 2]> {
    let mut edges = Vec::new();
    for u in (0..graph.vertices() as VertexId).filter(|&u| coordinates.of(u).is_some()) {
        for &v in graph.neighbors(u) {
            let is_drawn_from_there = u == v || u > v && graph.neighbors(v).contains(&u);
            if !is_drawn_from_there && coordinates.of(v).is_some() {
                edges.push([u, v]);
            }
        }
    }
    edges
}
