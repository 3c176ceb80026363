//! Isochrones: the areas that a search reached within given distances.
//!
//! An arc from `u` to `v` of weight `w` is travelled at an even pace: the point at the share `t` of it is reached at
//! `d(u) + t w`. An edge that is travelled both ways has two arcs, so that the nearer end decides. The area of a limit
//! has all points of the plane that are nearer than the *resolution* to a place which is reached within the limit. Its
//! outline is found by marching squares (`rings.rs`) on a grid whose nodes are half the resolution apart, which holds
//! the distance of each node to the nearest such place (`field.rs`). So each reached vertex lies within the area of its
//! limit, and the outline is right up to half the resolution.

mod field;
mod rings;
#[cfg(test)]
mod tests;

use self::field::{Field, Piece};
use super::{Problem, ShortestPathTree};
use crate::graph::{Coordinates, Graph, VertexId, Weights};
use crate::{Control, Error, Result, memory};

/// How isochrones are made: the limits, and how finely the areas are drawn.
///
/// ```
/// use warpath::{Control, Solver, generate::Recipe, problems::Isochrones};
/// let recipe: Recipe = "grid:21x21".parse()?;
/// let places = recipe.coordinates()?.expect("a grid knows its coordinates");
/// let solver = Solver::new(recipe.generate(&Control::new())?)?;
/// let tree = solver.bfs(220)?;
/// let areas = Isochrones::within([2.0, 5.0]).of(solver.graph(), &places, &tree)?;
/// assert_eq!((areas[1].limit, areas[1].vertices), (5.0, 61));
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Isochrones {
    limits: Vec<f64>,
    resolution: Option<f64>,
    x_scale: f64,
    control: Control,
}

/// The area that is reached within a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Isochrone {
    /// The greatest distance, in the unit of the weights; in edges for a breadth-first search.
    pub limit: f64,
    /// How many vertices are reached within it, sources included.
    pub vertices: u64,
    /// The parts of the area, which neither overlap nor touch.
    pub polygons: Vec<Polygon>,
}

/// A polygon with holes, in the coordinates of the vertices. Rings are closed (the first point comes again as the last)
/// and do not touch each other or themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Polygon {
    /// The outline, counterclockwise where y grows upwards.
    pub outer: Vec<[f64; 2]>,
    /// The outlines of its holes, clockwise.
    pub holes: Vec<Vec<[f64; 2]>>,
}

impl Isochrones {
    /// The areas within each of these distances, which have the unit of the weights.
    pub fn within(limits: impl Into<Vec<f64>>) -> Self {
        Isochrones { limits: limits.into(), resolution: None, x_scale: 1.0, control: Control::new() }
    }

    /// Takes what is nearer to a reached place than this for reached, and finds outlines on a grid of half this step. In
    /// the unit of y. Without it, 9 of 10 of the edges that lead from reached vertices are no longer; but at least a
    /// 500th and at most a 10th of the greater extent of what is reached.
    pub fn resolution(self, resolution: f64) -> Self {
        Isochrones { resolution: Some(resolution), ..self }
    }

    /// How many units of y a unit of x is long: [`Coordinates::longitude_scale`] for degrees. 1 without it.
    pub fn x_scale(self, x_scale: f64) -> Self {
        Isochrones { x_scale, ..self }
    }

    /// Stops when this is cancelled.
    pub fn control(self, control: Control) -> Self {
        Isochrones { control, ..self }
    }

    /// The area of each limit, in the order of the limits, of a search in this graph. All are drawn on one grid, so that
    /// the area of a greater limit contains that of a smaller one.
    ///
    /// Takes O(V + E + cells) for each limit, where the cells are those of the grid, near a reached edge or not.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if a limit is not finite, lies beyond the search's cutoff or farthest target, the
    /// resolution or scale is not a positive number or makes a grid of more than 2^28 nodes, the tree is not one of this
    /// graph, or a reached vertex has no coordinates; [`Error::OutOfMemory`]; [`Error::Interrupted`].
    pub fn of(&self, graph: &Graph, coordinates: &Coordinates, tree: &ShortestPathTree) -> Result<Vec<Isochrone>> {
        self.check(graph, tree)?;
        let Some(greatest) = self.limits.iter().copied().reduce(f64::max) else { return Ok(Vec::new()) };
        let network = Network { graph, coordinates, tree, x_scale: self.x_scale };
        let (all, lengths) = network.pieces(greatest, &self.control)?;
        if all.is_empty() {
            let none = self.limits.iter().map(|&limit| Isochrone { limit, vertices: 0, polygons: Vec::new() });
            return Ok(none.collect());
        }
        let frame = Frame::around(&all);
        let radius = self.resolution.unwrap_or_else(|| frame.resolution(lengths));
        let mut areas = Vec::new();
        for &limit in &self.limits {
            let mut field = frame.field(radius)?;
            let (pieces, _) = network.pieces(limit, &self.control)?;
            field.add(&pieces, &self.control)?;
            let mut polygons = field.polygons();
            let scale = self.x_scale;
            polygons.iter_mut().for_each(|polygon| polygon.round(scale, field.step));
            areas.push(Isochrone { limit, vertices: network.vertices_within(limit), polygons });
        }
        Ok(areas)
    }

    fn check(&self, graph: &Graph, tree: &ShortestPathTree) -> Result<()> {
        if tree.distances().len() != graph.vertices() {
            return Err(Error::invalid("the search was in a graph with another number of vertices"));
        }
        for &limit in &self.limits {
            if !limit.is_finite() {
                return Err(Error::invalid(format!("the limit {limit} of an isochrone is not a number")));
            }
            if let Some(bound) = tree.bound.filter(|bound| bound.to_f64() < limit) {
                return Err(Error::invalid(format!(
                    "the isochrone of {limit} lies beyond {bound}, where the search ended"
                )));
            }
        }
        let positive = |what: &str, value: f64| {
            let is_positive = value > 0.0 && value.is_finite();
            if is_positive {
                Ok(())
            } else {
                Err(Error::invalid(format!("the {what} {value} is not a positive number")))
            }
        };
        positive("scale of x", self.x_scale)?;
        self.resolution.map_or(Ok(()), |resolution| positive("resolution of isochrones", resolution))
    }
}

impl Polygon {
    fn round(&mut self, x_scale: f64, step: f64) {
        // A thousandth of a step keeps rings apart.
        let digits = (1000.0 / step).log10().ceil();
        let factor = 10_f64.powf(digits);
        let round = |value: f64| {
            let rounded = (value * factor).round() / factor;
            if rounded.is_finite() { rounded } else { value }
        };
        let rings = std::iter::once(&mut self.outer).chain(&mut self.holes);
        rings.flatten().for_each(|point| *point = [round(point[0] / x_scale), round(point[1])]);
    }
}

/// What a search reached on the plane.
struct Network<'a> {
    graph: &'a Graph,
    coordinates: &'a Coordinates,
    tree: &'a ShortestPathTree,
    x_scale: f64,
}

impl Network<'_> {
    fn place(&self, vertex: VertexId) -> Option<[f64; 2]> {
        self.coordinates.of(vertex).map(|[x, y]| [x * self.x_scale, y])
    }

    fn distance(&self, vertex: VertexId) -> Option<f64> {
        self.tree.distance(vertex).map(|distance| distance.to_f64())
    }

    /// The weight of an arc in the search.
    fn weight(&self, arc: usize) -> f64 {
        if self.tree.problem() == Problem::Bfs {
            return 1.0;
        }
        match self.graph.weights() {
            Weights::Unit(_) => 1.0,
            Weights::U32(values) => values[arc].into(),
            Weights::I32(values) => values[arc].into(),
            Weights::F32(values) => values[arc].into(),
            Weights::F64(values) => values[arc],
        }
    }

    fn vertices_within(&self, limit: f64) -> u64 {
        let vertices = 0..self.graph.vertices() as VertexId;
        vertices.filter(|&v| self.distance(v).is_some_and(|distance| distance <= limit)).count() as u64
    }

    /// The parts of edges that are reached within the limit, and how long the edges are. A vertex is a part, too.
    fn pieces(&self, limit: f64, control: &Control) -> Result<(Vec<Piece>, Vec<f64>)> {
        /// This many vertices are looked at in a moment.
        const SOME: VertexId = 1 << 12;
        let (mut pieces, mut lengths) = (Vec::new(), Vec::new());
        for u in 0..self.graph.vertices() as VertexId {
            if u % SOME == 0 {
                control.check()?;
            }
            let Some(near) = self.distance(u) else { continue };
            let here = self.place(u).ok_or_else(|| {
                Error::invalid(format!("there are no coordinates of vertex `{}`", self.graph.name(u)))
            })?;
            let row = self.graph.csr().row(u);
            memory::grow("the parts of edges within an isochrone", &mut pieces, row.len() + 1)?;
            memory::grow("the lengths of edges", &mut lengths, row.len())?;
            if near <= limit {
                pieces.push([here, here]);
            }
            for arc in row {
                let Some(there) = self.place(self.graph.csr().targets()[arc]) else { continue };
                let Some([from, to]) = reached(near, self.weight(arc), limit) else { continue };
                lengths.push((there[0] - here[0]).hypot(there[1] - here[1]));
                let at = |share: f64| [0, 1].map(|axis| here[axis] + share * (there[axis] - here[axis]));
                // The exact ends, not ones that rounding has moved.
                let exact = |share: f64| if share == 1.0 { there } else { at(share) };
                pieces.push([exact(from), exact(to)]);
            }
        }
        Ok((pieces, lengths))
    }
}

/// The first and last share of an arc whose points are reached within the limit.
fn reached(distance: f64, weight: f64, limit: f64) -> Option<[f64; 2]> {
    let left = limit - distance;
    if left >= 0.0 && left >= weight {
        return Some([0.0, 1.0]);
    }
    if left >= 0.0 {
        return Some([0.0, left / weight]);
    }
    // Only an arc of negative weight leads back within the limit.
    (left >= weight).then(|| [left / weight, 1.0])
}

/// The box around what is reached.
struct Frame {
    low: [f64; 2],
    high: [f64; 2],
}

impl Frame {
    fn around(pieces: &[Piece]) -> Self {
        let mut frame = Frame { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };
        for point in pieces.iter().flatten() {
            for axis in [0, 1] {
                frame.low[axis] = frame.low[axis].min(point[axis]);
                frame.high[axis] = frame.high[axis].max(point[axis]);
            }
        }
        frame
    }

    fn extent(&self) -> f64 {
        (self.high[0] - self.low[0]).max(self.high[1] - self.low[1])
    }

    /// A resolution that shows what is there, from the lengths of edges.
    fn resolution(&self, mut lengths: Vec<f64>) -> f64 {
        let extent = self.extent();
        let most = lengths.len() * 9 / 10;
        let length = if lengths.is_empty() { 0.0 } else { *lengths.select_nth_unstable_by(most, f64::total_cmp).1 };
        let seen = if extent > 0.0 {
            length.clamp(extent / 500.0, extent / 10.0)
        } else if length > 0.0 {
            // A single place: a point that can be seen beside its edges.
            length / 10.0
        } else {
            1.0
        };
        seen.max(self.size() * 1e-8)
    }

    /// How far from the origin a coordinate is at most.
    fn size(&self) -> f64 {
        self.low.iter().chain(&self.high).fold(0.0, |most, at| at.abs().max(most))
    }

    /// The grid for areas of this resolution.
    fn field(&self, radius: f64) -> Result<Field> {
        const MOST: f64 = (1_u64 << 28) as f64;
        let step = radius / 2.0;
        // Two nodes on each side within the radius, and three outside.
        let margin = radius + 3.0 * step;
        let nodes = [0, 1].map(|axis| ((self.high[axis] - self.low[axis] + 2.0 * margin) / step).ceil() + 1.0);
        let count = nodes[0] * nodes[1];
        if count.is_nan() || count > MOST || step < self.size() * 1e-9 {
            return Err(Error::invalid(format!(
                "isochrones over an extent of {} can't be drawn with the resolution {radius}: it is too fine",
                self.extent()
            )));
        }
        Field::new(self.low.map(|low| low - margin), step, nodes.map(|count| count as usize), radius)
    }
}
