//! Roads: a planar graph with the degrees, the dead ends and the detours of a road network, and lengths.
//!
//! Junctions are the points of a square grid, each moved by up to a quarter of a cell, and a street may join those that
//! are neighbours in the grid. Streets are tried in random order: one is built if no way joins its ends yet, or if it
//! is among the first that close a circle, as many as make the number of edges right. So the graph is a spanning tree
//! and some more, is connected, and has exactly the vertices and edges asked for. One vertex in ten is the end of a
//! dead-end street, which leaves another street at a vertex in its middle. Edges do not cross: moved that little, the
//! streets of a grid do not, and a dead end stays in its cell.
//!
//! Lengths are Euclidean, in whole thousandths of a cell, from 1 to 1,581; a dead end is up to a quarter of a cell long.
//! Vertices are numbered row by row, dead ends beside their junctions.
//!
//! By the number of its edges it resembles one real network of the USA or another (9th DIMACS Implementation
//! Challenge, repeated edges merged); levels are the mean over 20 vertices of a breadth-first search from each:
//!
//! | | New York | | Florida | | Northwest | |
//! |---|---|---|---|---|---|---|
//! | vertices, edges | 264,346 | 365,050 | 1,070,376 | 1,343,951 | 1,207,945 | 1,410,387 |
//! | | real | made | real | made | real | made |
//! | degree 1 (%) | 15.6 | 14.6 | 19.7 | 19.4 | 23.4 | 24.0 |
//! | degree 2 | 15.3 | 18.0 | 22.7 | 24.8 | 29.0 | 28.5 |
//! | degree 3 | 47.1 | 43.8 | 44.5 | 41.1 | 38.5 | 37.5 |
//! | degree 4 and more | 22.0 | 23.5 | 13.0 | 14.7 | 9.1 | 10.0 |
//! | on circles or between them | 80.6 | 83.9 | 72.2 | 75.5 | 63.7 | 64.6 |
//! | levels | 551 | 701 | 1,471 | 1,428 | 1,465 | 1,660 |
//!
//! There are no motorways: real roads have vertices that many shortest paths share, these have not.
//!
//! Work O(edges) up to the inverse of Ackermann's function; the choice of streets is sequential.
//!
//! Source: textbook (J. Kruskal, On the shortest spanning subtree of a graph, 1956, for edges in random order).

use std::ops::Range;

use super::random::{Permutation, Stream};
use super::spec::Options;
use super::{DrawnShare, Edges, Generator, GeneratorInfo, OptionInfo, Share, purpose};
use crate::graph::{Coordinates, EdgeList, VertexId};
use crate::{Result, memory};

pub(super) const INFO: GeneratorInfo = GeneratorInfo {
    name: "roads",
    size: "VERTICES",
    summary: "planar road network: dead ends, detours, Euclidean lengths, a large diameter",
    source: "textbook",
    options: &[EDGES],
};

const EDGES: OptionInfo =
    OptionInfo { name: "edges", summary: "the number of undirected edges", default: "5 for 4 vertices" };

/// One vertex in so many is a dead end.
const VERTICES_PER_DEAD_END: u64 = 10;
/// The width of a cell, and how far a junction is moved at most in each direction.
const CELL: u64 = 1000;
const MOVED: u64 = CELL / 4;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Roads {
    vertices: u64,
    edges: u64,
}

impl Roads {
    pub(super) fn parse(options: &Options<'_>) -> Result<Self> {
        let vertices = options.vertices(1)?;
        let town = Roads { vertices, edges: 0 };
        let (least, most) = (vertices - 1, town.places() + 2 * town.dead_ends());
        let edges = options.number(EDGES.name, 0)?.unwrap_or((vertices + vertices / 4).clamp(least, most));
        if !(least..=most).contains(&edges) {
            return Err(options.error(format!("{vertices} vertices need {least} to {most} edges, not {edges}")));
        }
        Ok(Roads { vertices, edges })
    }

    fn dead_ends(&self) -> u64 {
        self.vertices / VERTICES_PER_DEAD_END
    }

    /// All vertices except dead ends and the vertices where these begin.
    fn junctions(&self) -> u64 {
        self.vertices - 2 * self.dead_ends()
    }

    fn columns(&self) -> u64 {
        self.junctions().isqrt()
    }

    /// The number of places where a street between neighbours in a row may be. They come first among all places.
    fn places_in_rows(&self) -> u64 {
        self.junctions() - self.junctions().div_ceil(self.columns())
    }

    /// The number of places for streets between junctions; the last row of the grid may be shorter.
    fn places(&self) -> u64 {
        self.places_in_rows() + self.junctions() - self.columns()
    }

    /// The ends of the street at a place.
    fn ends(&self, place: u64) -> (u64, u64) {
        let (columns, in_rows) = (self.columns(), self.places_in_rows());
        if place < in_rows {
            // A row of C junctions has C - 1 places, so each row before shifts the junctions by one more.
            let left = place + place / (columns - 1);
            (left, left + 1)
        } else {
            let above = place - in_rows;
            (above, above + columns)
        }
    }

    /// The places to the right of and below a junction, with their other ends.
    fn places_of(&self, junction: u64) -> impl Iterator<Item = (u64, u64)> {
        let (columns, junctions) = (self.columns(), self.junctions());
        let row = junction / columns;
        let has_right = junction % columns + 1 < columns && junction + 1 < junctions;
        let right = has_right.then(|| (junction - row, junction + 1));
        let has_below = junction + columns < junctions;
        let below = has_below.then(|| (self.places_in_rows() + junction, junction + columns));
        right.into_iter().chain(below)
    }

    /// Whether there is a street, for each place.
    fn streets(&self, seed: u64) -> Result<Vec<u8>> {
        let order = Permutation::new(seed, purpose::EDGES, self.places());
        let mut streets = memory::zeroed("the places of streets", self.places() as usize)?;
        let mut parent = memory::listed("the parts of the network", 0..self.junctions() as u32)?;
        let mut circles = self.edges - (self.vertices - 1);
        for place in (0..self.places()).map(|index| order.at(index)) {
            let (u, v) = self.ends(place);
            let (a, b) = (root(&mut parent, u as u32), root(&mut parent, v as u32));
            if a != b {
                parent[a.max(b) as usize] = a.min(b);
                streets[place as usize] = 1;
            } else if circles > 0 {
                circles -= 1;
                streets[place as usize] = 1;
            }
        }
        Ok(streets)
    }
}

/// A street that was built.
struct Street {
    /// The junctions at its ends, each with its vertex.
    from: (u64, VertexId),
    to: (u64, VertexId),
    /// The vertex in its middle from which a dead end leaves, the vertex at the end of that, and how far it is.
    dead_end: Option<(VertexId, VertexId, u32)>,
}

impl Roads {
    /// The point of a junction, in thousandths of a cell.
    fn point(&self, seed: u64, junction: u64) -> (u64, u64) {
        let random = Stream::new(seed, purpose::POINTS).at(junction);
        let moved = |bits: u64| ((bits & u64::from(u32::MAX)) * (2 * MOVED + 1)) >> 32;
        let columns = self.columns();
        (junction % columns * CELL + moved(random), junction / columns * CELL + moved(random >> 32))
    }

    /// Visits the streets that are built from these junctions on, in the order of their vertices.
    fn each_street(&self, seed: u64, junctions: Range<u64>, mut visit: impl FnMut(Street)) -> Result<()> {
        let streets = self.streets(seed)?;
        let built = self.edges - 2 * self.dead_ends();
        // Dead ends are spread evenly over the streets, in the order of these.
        let before =
            |street: u64| (u128::from(street) * u128::from(self.dead_ends()) / u128::from(built.max(1))) as u64;
        let is_built = |&(place, _): &(u64, u64)| streets[place as usize] != 0;
        let mut ids = memory::with_capacity("the ids of junctions", self.junctions() as usize)?;
        let (mut street, mut first) = (0, 0);
        for junction in 0..self.junctions() {
            first = if junction == junctions.start { street } else { first };
            ids.push((junction + 2 * before(street)) as VertexId);
            street += self.places_of(junction).filter(is_built).count() as u64;
        }
        let lengths = Stream::new(seed, purpose::LENGTHS);
        let mut street = first;
        for junction in junctions {
            let mut next = ids[junction as usize];
            for (_, other) in self.places_of(junction).filter(is_built) {
                let dead_end = (before(street + 1) > before(street)).then(|| {
                    let (middle, end) = (next + 1, next + 2);
                    next = end;
                    (middle, end, 1 + lengths.below(street, CELL / 4) as u32)
                });
                visit(Street { from: (junction, ids[junction as usize]), to: (other, ids[other as usize]), dead_end });
                street += 1;
            }
        }
        Ok(())
    }
}

/// The root of a tree in a forest; halves the way to it.
fn root(parent: &mut [u32], vertex: u32) -> u32 {
    let mut vertex = vertex as usize;
    while parent[vertex] as usize != vertex {
        parent[vertex] = parent[parent[vertex] as usize];
        vertex = parent[vertex] as usize;
    }
    vertex as u32
}

impl Generator for Roads {
    fn vertices(&self) -> u64 {
        self.vertices
    }

    fn edges(&self) -> u64 {
        self.edges
    }

    fn scratch(&self) -> u64 {
        // Marks of places, and the ids of junctions or their parts.
        self.places() + self.junctions() * 2 * size_of::<u32>() as u64
    }

    fn has_lengths(&self) -> bool {
        true
    }

    fn coordinates(&self, seed: u64) -> Result<Option<Coordinates>> {
        let in_cells = |(x, y): (u64, u64)| [x as f64 / CELL as f64, y as f64 / CELL as f64];
        // A town without streets has one junction.
        let first = Some(in_cells(self.point(seed, 0)));
        let mut places = memory::filled("the coordinates of vertices", self.vertices as usize, first)?;
        self.each_street(seed, 0..self.junctions(), |street| {
            let ends = [street.from, street.to].map(|junction| in_cells(self.point(seed, junction.0)));
            places[street.from.1 as usize] = Some(ends[0]);
            places[street.to.1 as usize] = Some(ends[1]);
            if let Some((middle, end, length)) = street.dead_end {
                let [[x, y], [to_x, to_y]] = ends;
                let (across, along) = (to_x - x, to_y - y);
                let unit = f64::from(length) / CELL as f64 / across.hypot(along);
                let half = [x + across / 2.0, y + along / 2.0];
                places[middle as usize] = Some(half);
                places[end as usize] = Some([half[0] - along * unit, half[1] + across * unit]);
            }
        })?;
        Ok(Some(Coordinates::new(places)))
    }

    fn draw(&self, seed: u64) -> Result<Edges> {
        self.draw_from(seed, 0..self.junctions(), self.edges as usize)
    }

    /// All streets are chosen, and a share of them is drawn.
    fn draw_share(&self, seed: u64, share: Share) -> Result<Option<DrawnShare>> {
        let junctions = share.of(self.junctions());
        // At most two streets of a junction, each with three edges.
        let most = (junctions.end - junctions.start).saturating_mul(6).min(self.edges);
        Ok(Some(DrawnShare::Ready(self.draw_from(seed, junctions, most as usize)?)))
    }

    fn edges_of_share(&self, count: usize) -> u64 {
        self.junctions().div_ceil(count as u64).saturating_mul(6).min(self.edges)
    }
}

impl Roads {
    /// The edges, at most so many, of the streets from these junctions on.
    fn draw_from(&self, seed: u64, junctions: Range<u64>, most: usize) -> Result<Edges> {
        let mut list = EdgeList {
            edges: memory::with_capacity("the edges", most)?,
            weights: memory::with_capacity("the lengths of edges", most)?,
        };
        self.each_street(seed, junctions, |street| {
            let ((here, from), (there, to)) = (street.from, street.to);
            let (here, there) = (self.point(seed, here), self.point(seed, there));
            let (dx, dy) = (here.0.abs_diff(there.0), here.1.abs_diff(there.1));
            let length = (dx * dx + dy * dy).isqrt() as u32;
            match street.dead_end {
                None => list.push(from, to, length),
                Some((middle, end, way)) => {
                    list.push(from, middle, length / 2);
                    list.push(middle, to, length - length / 2);
                    list.push(middle, end, way);
                }
            }
        })?;
        Ok(Edges::Lengths(list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Weights, weakly_connected_components};
    use crate::{Control, Graph, generate};

    /// The shares of vertices of degree 0, 1, 2, 3 and 4, in per cent.
    fn degrees(graph: &Graph) -> [f64; 5] {
        let mut counts = [0; 5];
        (0..graph.vertices() as u32).for_each(|v| counts[graph.degree(v)] += 1);
        counts.map(|count| 100.0 * f64::from(count) / graph.vertices() as f64)
    }

    /// The number of levels of a breadth-first search.
    fn levels(graph: &Graph, source: u32) -> usize {
        let mut seen = vec![false; graph.vertices()];
        seen[source as usize] = true;
        let (mut level, mut count) = (vec![source], 0);
        while !level.is_empty() {
            count += 1;
            let heads = level.iter().flat_map(|&u| graph.neighbors(u));
            level = heads.copied().filter(|&v| !std::mem::replace(&mut seen[v as usize], true)).collect();
        }
        count
    }

    /// New York, Florida and the Northwest have these shares of degrees, and searches of so many levels.
    #[test]
    fn roads_have_the_degrees_and_levels_of_real_ones() {
        for (vertices, edges, real, real_levels) in [
            (264_346, 365_050, [0.0, 15.6, 15.3, 47.1, 22.0], 551),
            (120_000, 150_700, [0.0, 19.7, 22.7, 44.5, 13.0], 1471 * 346 / 1034),
            (120_000, 140_100, [0.0, 23.4, 29.0, 38.5, 9.1], 1465 * 346 / 1099),
        ] {
            let graph = generate(&format!("roads:{vertices},edges={edges}")).unwrap();
            assert_eq!((graph.vertices(), graph.arcs()), (vertices, 2 * edges));
            assert_eq!(weakly_connected_components(&graph).unwrap().count, 1);
            let made = degrees(&graph);
            assert!(made.iter().zip(real).all(|(made, real)| (made - real).abs() < 4.5), "{made:?} {real:?}");
            let middle = levels(&graph, vertices as u32 / 2);
            assert!((real_levels / 2..real_levels * 2).contains(&middle), "{middle} {real_levels}");
        }
    }

    #[test]
    fn the_average_degree_is_two_and_a_half() {
        let graph = generate("roads:40000").unwrap();
        assert_eq!(graph.arcs(), 100_000);
        assert!(degrees(&graph)[1] > 15.0);
        let statistics = graph.statistics(&Control::new()).unwrap();
        assert!((300..800).contains(&statistics.estimated_diameter), "{}", statistics.estimated_diameter);
    }

    #[test]
    fn every_number_of_vertices_and_edges_works() {
        for vertices in (1..70).chain([99, 100, 1000]) {
            let town = Roads { vertices, edges: 0 };
            let most = town.places() + 2 * town.dead_ends();
            for edges in [vertices - 1, (vertices - 1 + most) / 2, most] {
                let graph = generate(&format!("roads:{vertices},edges={edges}")).unwrap();
                assert_eq!((graph.vertices() as u64, graph.arcs() as u64), (vertices, 2 * edges));
                assert_eq!(weakly_connected_components(&graph).unwrap().count, 1, "{vertices} {edges}");
            }
            assert!(generate(&format!("roads:{vertices},edges={}", most + 1)).is_err());
            assert!(vertices == 1 || generate(&format!("roads:{vertices},edges={}", vertices - 2)).is_err());
        }
        let error = generate("roads:100,edges=50").unwrap_err().to_string();
        assert_eq!(error, "generator `roads:100,edges=50`: 100 vertices need 99 to 162 edges, not 50");
    }

    /// Streets are between neighbours in the grid, so they do not cross; a dead end is in the middle of a street.
    #[test]
    fn streets_join_neighbours_and_have_their_lengths() {
        let town = Roads { vertices: 5000, edges: 6000 };
        let Edges::Lengths(list) = town.draw(5).unwrap() else { panic!("roads have lengths") };
        let mut ends: Vec<(u64, u64)> = (0..town.places()).map(|place| town.ends(place)).collect();
        let mut from_junctions: Vec<(u64, u64)> =
            (0..town.junctions()).flat_map(|u| town.places_of(u).map(move |(_, v)| (u, v))).collect();
        ends.sort_unstable();
        from_junctions.sort_unstable();
        assert_eq!(ends, from_junctions);
        assert!(
            (0..town.junctions())
                .flat_map(|u| town.places_of(u).map(move |(place, v)| (u, v, place)))
                .all(|(u, v, place)| town.ends(place) == (u, v))
        );
        assert!(list.weights.iter().all(|&length| (1..=1581).contains(&length)));
        let short = list.weights.iter().filter(|&&length| length <= 250).count();
        assert!(short >= 500, "{short} edges are as short as a dead end");
    }

    #[test]
    fn lengths_are_those_between_coordinates() {
        let recipe: crate::generate::Recipe = "roads:3000".parse().unwrap();
        let (graph, places) = (recipe.generate(&Control::new()).unwrap(), recipe.coordinates().unwrap().unwrap());
        assert_eq!(places.len(), 3000);
        for (u, v, length) in graph.edges() {
            let ([x, y], [to_x, to_y]) = (places.of(u).unwrap(), places.of(v).unwrap());
            let apart = 1000.0 * (x - to_x).hypot(y - to_y);
            assert!((apart - length).abs() <= 1.0, "{u} to {v}: {apart} {length}");
        }
        let alone: crate::generate::Recipe = "roads:1".parse().unwrap();
        assert!(alone.coordinates().unwrap().unwrap().of(0).is_some());
    }

    #[test]
    fn lengths_are_kept_unless_weights_are_asked_for() {
        let kind = |recipe: &str| generate(recipe).unwrap().weights().clone();
        assert!(matches!(kind("roads:300"), Weights::U32(lengths) if lengths.iter().any(|&length| length > 700)));
        assert!(matches!(kind("roads:300,weights=unit"), Weights::Unit(_)));
        assert!(matches!(kind("roads:300,weights=2..4"), Weights::U32(all) if all.iter().all(|w| (2..=4).contains(w))));
    }
}
