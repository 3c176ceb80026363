//! Random geometric graphs: points in the unit square, joined where they are no farther apart than a radius.
//!
//! They have locality and a large diameter like road and mesh networks, and cliques like social networks. The default
//! radius is r = sqrt(2 ln n / (pi n)), which gives 2 ln n neighbours on average, twice the threshold of connectivity.
//! Only points at the border, with half of their disk outside, may stay isolated: about 2 / (n r) such points are
//! expected, 0.007 at scale 13 and 0.0006 at scale 20.
//!
//! Points are sorted by cells at least as wide as the radius, so that only neighbouring cells are compared: work
//! O(n log n + m) expected, in parallel. Vertices are numbered cell by cell, row by row: near points have near
//! numbers. The radius is rounded to a 32-bit float, so that all machines agree on it.
//!
//! Source: E. Gilbert, Random plane networks, 1961; M. Penrose, Random geometric graphs, 2003, section 13 (threshold).

use std::f64::consts::PI;
use std::ops::Range;

use rayon::prelude::*;

use super::random::Stream;
use super::spec::Options;
use super::{DrawnShare, Edges, Generator, GeneratorInfo, OptionInfo, Share, purpose};
use crate::graph::{Coordinates, EdgeList, Unit, VertexId};
use crate::{Result, memory};

pub(super) const INFO: GeneratorInfo = GeneratorInfo {
    name: "rgg",
    size: "SCALE",
    summary: "random geometric graph of 2^SCALE points in the unit square: locality, large diameter",
    source: "Gilbert 1961",
    options: &[RADIUS],
};

const RADIUS: OptionInfo = OptionInfo {
    name: "radius",
    summary: "points no farther apart are joined",
    default: "sqrt(2 ln n / (pi n)), which connects nearly all",
};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Geometric {
    scale: u32,
    radius: f64,
}

impl Geometric {
    pub(super) fn parse(options: &Options<'_>) -> Result<Self> {
        let scale = options.scale()?;
        let points = 2_f64.powi(scale as i32);
        let radius = match options.get(RADIUS.name) {
            None => (2.0 * points.ln() / (PI * points)).sqrt(),
            Some(text) => text
                .parse()
                .ok()
                .filter(|radius| (0.0..=2.0).contains(radius))
                .ok_or_else(|| options.error(format!("the radius `{text}` is not a number from 0 to 2")))?,
        };
        Ok(Geometric { scale, radius: f64::from(radius as f32) })
    }

    /// Cells along a side of the square: none narrower than the radius, and no more cells than points.
    fn side(&self) -> u64 {
        ((1.0 / self.radius) as u64).clamp(1, self.vertices().isqrt())
    }

    /// The points in some rows of cells.
    fn points(&self, seed: u64, rows: Range<u64>) -> Result<Points> {
        let side = self.side();
        let coordinates = Stream::new(seed, purpose::POINTS);
        let point = |index: u64| {
            let random = coordinates.at(index);
            let (x, y) = ((random >> 32) as u32, random as u32);
            let along = |coordinate: u32| ((u64::from(coordinate) * side) >> 32) as u32;
            Point { cell: along(y) * side as u32 + along(x), x, y }
        };
        let cells = (rows.start * side) as u32..(rows.end * side) as u32;
        let mut before = 0;
        let mut points = if rows == (0..side) {
            memory::collected(
                "the points",
                (0..self.vertices() as usize).into_par_iter().map(|index| point(index as u64)),
            )?
        } else {
            // Whoever wants some of the points only has other processes on the other cores.
            let all = || (0..self.vertices()).map(point);
            let mut count = 0;
            for Point { cell, .. } in all() {
                before += u64::from(cell < cells.start);
                count += usize::from(cells.contains(&cell));
            }
            let mut points = memory::with_capacity("the points", count)?;
            points.extend(all().filter(|point| cells.contains(&point.cell)));
            points
        };
        points.par_sort_unstable();
        let starts = (cells.start as usize..cells.end as usize + 1).into_par_iter();
        let starts = starts.map(|cell| points.partition_point(|point| (point.cell as usize) < cell));
        let starts = memory::collected("the cells of points", starts)?;
        Ok(Points { before, points, starts })
    }

    /// The edges of the points in some rows of cells, to each other and to those in the next row: a part for each row.
    fn edges_of(&self, seed: u64, rows: Range<u64>) -> Result<Edges> {
        let side = self.side() as usize;
        let next = self.side().min(rows.end + 1);
        let Points { before, points, starts } = self.points(seed, rows.start..next)?;
        let reach = (self.radius * 4_294_967_296.0).powi(2);
        let rows_known = (next - rows.start) as usize;
        Ok(Edges::by_part((rows.end - rows.start) as usize, move |row| {
            let mut list = EdgeList::new();
            let mut join = |u: usize, others: Range<usize>| -> Result<()> {
                memory::grow("the edges of a part", &mut list.edges, others.len())?;
                let from = points[u];
                for v in others {
                    let along = |a: u32, b: u32| f64::from(a.abs_diff(b));
                    let (dx, dy) = (along(from.x, points[v].x), along(from.y, points[v].y));
                    if dx * dx + dy * dy <= reach {
                        list.push((before + u as u64) as VertexId, (before + v as u64) as VertexId, Unit);
                    }
                }
                Ok(())
            };
            for column in 0..side {
                let cell = row * side + column;
                let right_end = if column + 1 < side { cell + 2 } else { cell + 1 };
                for u in starts[cell]..starts[cell + 1] {
                    // The points of this cell and the next are contiguous, and so are the points of the three cells
                    // below.
                    join(u, u + 1..starts[right_end])?;
                    if row + 1 < rows_known {
                        let below = cell + side;
                        let left = if column > 0 { below - 1 } else { below };
                        join(u, starts[left]..starts[right_end + side])?;
                    }
                }
            }
            Ok(list)
        }))
    }
}

/// Points by cell.
struct Points {
    /// How many points have lower numbers.
    before: u64,
    points: Vec<Point>,
    /// Where each cell starts, and the last one ends.
    starts: Vec<usize>,
}

/// A point, its coordinates in units of 2^-32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    cell: u32,
    x: u32,
    y: u32,
}

impl Generator for Geometric {
    fn vertices(&self) -> u64 {
        1 << self.scale
    }

    /// The expected number of edges. Two points of the unit square are within r <= 1 with probability
    /// pi r^2 - 8/3 r^3 + r^4 / 2 (square line picking).
    fn edges(&self) -> u64 {
        let points = self.vertices() as f64;
        let r = self.radius;
        let share = if r <= 1.0 { PI * r * r - 8.0 / 3.0 * r.powi(3) + r.powi(4) / 2.0 } else { 1.0 };
        (points * (points - 1.0) / 2.0 * share).ceil() as u64
    }

    fn scratch(&self) -> u64 {
        self.vertices().saturating_mul(size_of::<Point>() as u64) + self.side().pow(2) * size_of::<usize>() as u64
    }

    fn coordinates(&self, seed: u64) -> Result<Option<Coordinates>> {
        let Points { points, .. } = self.points(seed, 0..self.side())?;
        let place = |point: &Point| Some([point.x, point.y].map(|along| f64::from(along) / 4_294_967_296.0));
        let places = memory::listed("the coordinates of vertices", points.iter().map(place))?;
        Ok(Some(Coordinates::new(places)))
    }

    fn draw(&self, seed: u64) -> Result<Edges> {
        self.edges_of(seed, 0..self.side())
    }

    fn draw_share(&self, seed: u64, share: Share) -> Result<Option<DrawnShare>> {
        Ok(Some(DrawnShare::Ready(self.edges_of(seed, share.of(self.side()))?)))
    }

    /// A row more than its own, and some more points than the mean.
    fn scratch_of_share(&self, count: usize) -> u64 {
        let rows = (self.side().div_ceil(count as u64) + 1).min(self.side());
        let share = rows as f64 / self.side() as f64;
        let points = self.vertices() as f64 * share;
        let most = (points + 6.0 * points.sqrt()).min(self.vertices() as f64) as u64;
        most * size_of::<Point>() as u64 + (rows * self.side() + 1) * size_of::<usize>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Recipe, generate};
    use crate::graph::weakly_connected_components;

    #[test]
    fn edges_are_the_near_pairs() {
        for radius in [0.0, 0.01, 0.08, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0] {
            let graph = generate(&format!("rgg:8,radius={radius},seed=4")).unwrap();
            let recipe = Geometric { scale: 8, radius: f64::from(radius as f32) };
            let Points { points, .. } = recipe.points(4, 0..recipe.side()).unwrap();
            let near = |a: &Point, b: &Point| {
                let along = |a: u32, b: u32| (f64::from(a) - f64::from(b)) / 4_294_967_296.0;
                along(a.x, b.x).hypot(along(a.y, b.y)) <= recipe.radius
            };
            for u in 0..256 {
                let expected: Vec<u32> =
                    (0..256).filter(|&v| v != u && near(&points[u as usize], &points[v as usize])).collect();
                assert_eq!(graph.neighbors(u), expected, "{radius}");
            }
            assert_eq!(graph.input_counts().parallel, 0);
            let (arcs, expected) = (graph.arcs() as f64, 2.0 * recipe.edges() as f64);
            assert!((arcs - expected).abs() < 0.15 * expected + 20.0 || radius > 1.0, "{arcs} {expected}");
        }
    }

    #[test]
    fn edges_are_no_longer_than_the_radius() {
        let recipe: Recipe = "rgg:10,radius=0.1".parse().unwrap();
        let (graph, places) =
            (recipe.generate(&crate::Control::new()).unwrap(), recipe.coordinates().unwrap().unwrap());
        let apart = |u: u32, v: u32| {
            let ([x, y], [to_x, to_y]) = (places.of(u).unwrap(), places.of(v).unwrap());
            (x - to_x).hypot(y - to_y)
        };
        let near =
            (0..1024).flat_map(|u| (0..1024).map(move |v| (u, v))).filter(|&(u, v)| u != v && apart(u, v) <= 0.1);
        assert_eq!(near.count(), graph.arcs());
        assert!(graph.edges().all(|(u, v, _)| apart(u, v) <= 0.1));
    }

    #[test]
    fn the_default_radius_connects() {
        for scale in [10, 12, 14, 16] {
            let recipe: Recipe = format!("rgg:{scale}").parse().unwrap();
            let graph = recipe.generate(&crate::Control::new()).unwrap();
            assert_eq!(weakly_connected_components(&graph).unwrap().count, 1, "{scale}");
            assert!((graph.arcs() as f64 / recipe.arcs() as f64 - 1.0).abs() < 0.05);
        }
    }
}
