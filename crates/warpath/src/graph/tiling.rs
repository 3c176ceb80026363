//! Tiles a graph: copies of it, side by side, joined to a larger graph of the same kind.
//!
//! A road network several times as large as one that is at hand looks the same from nearby: the same degrees, dead ends
//! and lengths. Tiles stand in a square, row by row, and each is joined to the ones at its left and above it. Where the
//! sides of a tile are is found without coordinates:
//!
//! 1. The first corner is a vertex farthest from a vertex of highest degree, the opposite corner is farthest from the
//!    first.
//! 2. The second corner is farthest from both (its lesser distance is greatest), and the last is farthest from the
//!    three.
//! 3. A side is a shortest path between neighbouring corners, all in edges. Opposite sides run in the same direction.
//!
//! Every fourth vertex of a side is joined to the vertex at the same share of the other tile's side, by an edge with the
//! weight of an edge there. So a way through many tiles crosses each from side to side, and the diameter grows with the
//! number of tiles in a row.
//!
//! The last tile is cut to make the number of vertices exact: of it, the vertices nearest to the first corner are kept,
//! which are connected, and hold the beginning of the sides that are joined.
//!
//! Real roads of the USA (9th DIMACS Implementation Challenge, repeated edges merged), tiled; the degrees are nearly
//! those of a tile, and searches have as many levels as a land of several tiles needs:
//!
//! | tile | vertices | average degree | diameter, at least | tiled to | average degree | diameter, at least |
//! |---|---|---|---|---|---|---|
//! | New York | 264,346 | 2.76 | 720 | 1,965,206 | 2.76 | 1,343 |
//! | Florida | 1,070,376 | 2.51 | 2,058 | 3,598,623 | 2.50 | 2,871 |
//! | Northwest | 1,207,945 | 2.34 | 1,994 | 6,262,104 | 2.33 | 3,932 |
//!
//! Work O(V + E) of the result; the searches in one tile are sequential.
//!
//! Source: the sides are ours; far vertices by sweeps as in C. Magnien, M. Latapy, M. Habib, Fast computation of
//! empirically tight bounds for the diameter of massive graphs, ACM JEA 2009.

use super::{Csr, Direction, EdgeList, Graph, GraphBuilder, MAX_VERTICES, NO_VERTEX, VertexId, Weight, with_weights};
use crate::{Error, Result, memory, parallel};

impl Graph {
    /// Copies of this graph, joined side by side to a connected graph of exactly `vertices` vertices; one copy, the
    /// last, is cut. The graph has to be undirected and connected. O(V + E) of the result.
    ///
    /// ```
    /// let town = warpath::generate("roads:1000")?;
    /// let land = town.tiled(4500)?;
    /// assert_eq!(land.vertices(), 4500);
    /// assert_eq!(warpath::graph::weakly_connected_components(&land)?.count, 1);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the graph is directed, not connected, or has fewer than two vertices; if no vertices are asked for, or too
    /// many; or if there is too little memory.
    pub fn tiled(&self, vertices: u64) -> Result<Graph> {
        if self.is_directed() || self.vertices() < 2 {
            return Err(Error::invalid("a tile has to be undirected, and to have two vertices or more"));
        }
        if vertices == 0 || vertices > MAX_VERTICES {
            return Err(Error::invalid(format!("{vertices} is not a number of vertices from 1 to {MAX_VERTICES}")));
        }
        let sides = Sides::of(self.csr())?;
        with_weights!(self.weights(), values => Tiling::new(self.csr(), values, sides, vertices)?.build())
    }
}

/// A search from one vertex: all vertices by distance, and the distances.
struct Search {
    order: Vec<VertexId>,
    distances: Vec<u32>,
}

impl Search {
    fn from(csr: &Csr, source: VertexId) -> Result<Self> {
        let mut order = memory::with_capacity("the order of vertices", csr.vertices())?;
        let mut distances = memory::filled("the distances in a tile", csr.vertices(), u32::MAX)?;
        order.push(source);
        distances[source as usize] = 0;
        let mut next = 0;
        while let Some(&u) = order.get(next) {
            next += 1;
            for &v in csr.neighbors(u) {
                if distances[v as usize] == u32::MAX {
                    distances[v as usize] = distances[u as usize] + 1;
                    order.push(v);
                }
            }
        }
        Ok(Search { order, distances })
    }

    /// A vertex that is farthest.
    fn farthest(&self) -> VertexId {
        self.order.last().copied().unwrap_or(0)
    }

    /// A shortest path to the source, beginning at `vertex`.
    fn path_from(&self, csr: &Csr, vertex: VertexId) -> Result<Vec<VertexId>> {
        let mut path = memory::with_capacity("a side of a tile", self.distances[vertex as usize] as usize + 1)?;
        let mut at = Some(vertex);
        while let Some(v) = at {
            path.push(v);
            let nearer = |&&u: &&VertexId| self.distances[u as usize] < self.distances[v as usize];
            at = csr.neighbors(v).iter().find(nearer).copied();
        }
        Ok(path)
    }
}

/// The vertex whose least distance by these searches is greatest.
fn farthest_from_all(searches: &[&Search]) -> VertexId {
    let vertices = searches.first().map_or(0, |search| search.distances.len());
    let least = |v: usize| searches.iter().map(|search| search.distances[v]).min();
    (0..vertices).max_by_key(|&v| (least(v), std::cmp::Reverse(v))).unwrap_or(0) as VertexId
}

/// The sides of a tile, from left to right and from top to bottom; the first two begin at the first corner.
struct Sides {
    top: Vec<VertexId>,
    left: Vec<VertexId>,
    bottom: Vec<VertexId>,
    right: Vec<VertexId>,
    /// All vertices by their distance from the first corner.
    order: Vec<VertexId>,
}

impl Sides {
    fn of(csr: &Csr) -> Result<Self> {
        let center = (0..csr.vertices() as VertexId).max_by_key(|&v| csr.row(v).len()).unwrap_or(0);
        let from_first = Search::from(csr, Search::from(csr, center)?.farthest())?;
        if from_first.order.len() < csr.vertices() {
            return Err(Error::invalid("a tile has to be connected"));
        }
        let from_opposite = Search::from(csr, from_first.farthest())?;
        let second = farthest_from_all(&[&from_first, &from_opposite]);
        let from_second = Search::from(csr, second)?;
        let last = farthest_from_all(&[&from_first, &from_opposite, &from_second]);
        let mut top = from_first.path_from(csr, second)?;
        let mut left = from_first.path_from(csr, last)?;
        top.reverse();
        left.reverse();
        let (bottom, right) = (from_opposite.path_from(csr, last)?, from_opposite.path_from(csr, second)?);
        Ok(Sides { top, left, bottom, right, order: from_first.order })
    }
}

/// Tiles in rows, and how the last is cut.
struct Tiling<'a, W> {
    csr: &'a Csr,
    values: &'a [W],
    sides: Sides,
    vertices: u64,
    columns: u64,
    /// The place of each vertex of a tile among those kept in the last tile; `NO_VERTEX` where it is cut off.
    kept: Vec<VertexId>,
}

impl<'a, W: Weight> Tiling<'a, W> {
    fn new(csr: &'a Csr, values: &'a [W], sides: Sides, vertices: u64) -> Result<Self> {
        let size = csr.vertices() as u64;
        let tiles = vertices.div_ceil(size);
        let in_last = vertices - (tiles - 1) * size;
        let mut kept = memory::filled("the vertices of the last tile", csr.vertices(), NO_VERTEX)?;
        sides.order[..in_last as usize].iter().for_each(|&v| kept[v as usize] = 0);
        kept.iter_mut().filter(|slot| **slot != NO_VERTEX).zip(0..).for_each(|(slot, place)| *slot = place);
        let root = tiles.isqrt();
        let columns = if root * root == tiles { root } else { root + 1 };
        Ok(Tiling { csr, values, sides, vertices, columns, kept })
    }

    fn tiles(&self) -> u64 {
        self.vertices.div_ceil(self.csr.vertices() as u64)
    }

    /// The vertex of the result that is this vertex of a tile, if it is not cut off.
    fn id(&self, tile: u64, vertex: VertexId) -> Option<VertexId> {
        let place = if tile + 1 == self.tiles() { self.kept[vertex as usize] } else { vertex };
        (place != NO_VERTEX).then(|| (tile * self.csr.vertices() as u64) as VertexId + place)
    }

    fn build(&self) -> Result<Graph> {
        let lists = parallel::try_collect_with(self.tiles() as usize, || (), |(), tile| self.edges(tile as u64))?;
        GraphBuilder::new().vertices(self.vertices).direction(Direction::Undirected).build(lists)
    }

    /// The edges of a tile, and those to the tiles before it.
    fn edges(&self, tile: u64) -> Result<EdgeList<W>> {
        let most = self.csr.arcs() + self.sides.top.len() + self.sides.left.len();
        let mut list = EdgeList {
            edges: memory::with_capacity("the edges of a tile", most)?,
            weights: memory::with_capacity("the weights of a tile", most)?,
        };
        for u in 0..self.csr.vertices() as VertexId {
            let Some(from) = self.id(tile, u) else { continue };
            for arc in self.csr.row(u) {
                let v = self.csr.targets()[arc];
                if let Some(to) = self.id(tile, v).filter(|_| u <= v) {
                    list.push(from, to, self.values[arc]);
                }
            }
        }
        if !tile.is_multiple_of(self.columns) {
            self.join(&mut list, (tile - 1, &self.sides.right), (tile, &self.sides.left));
        }
        if tile >= self.columns {
            self.join(&mut list, (tile - self.columns, &self.sides.bottom), (tile, &self.sides.top));
        }
        Ok(list)
    }

    /// Joins the sides of two tiles, from their beginnings on.
    fn join(&self, list: &mut EdgeList<W>, before: (u64, &[VertexId]), after: (u64, &[VertexId])) {
        const VERTICES_PER_JOINT: usize = 4;
        let joints = before.1.len().min(after.1.len()).div_ceil(VERTICES_PER_JOINT);
        for joint in 0..joints {
            let at = |side: &[VertexId]| side[joint * side.len() / joints];
            let (u, v) = (at(before.1), at(after.1));
            if let (Some(from), Some(to)) = (self.id(before.0, u), self.id(after.0, v)) {
                list.push(from, to, self.values[self.csr.row(u).start]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::graph::{WeightKind, Weights, weakly_connected_components};
    use crate::testing::graphs_of_every_shape;

    fn diameter(graph: &Graph) -> u64 {
        graph.statistics(&crate::Control::new()).unwrap().estimated_diameter
    }

    #[test]
    fn tiles_of_roads_are_connected_and_alike() {
        let town = generate("roads:2000").unwrap();
        let of_town = diameter(&town);
        for vertices in [1, 2, 100, 1999, 2000, 2001, 4000, 6500, 18_000, 18_001, 31_234] {
            let land = town.tiled(vertices).unwrap();
            assert_eq!(land.vertices() as u64, vertices);
            assert_eq!(weakly_connected_components(&land).unwrap().count, 1, "{vertices}");
            assert!(!land.is_directed() && land.weight_kind() == WeightKind::U32);
            let mean = land.arcs() as f64 / vertices as f64;
            assert!(vertices < 1000 || (2.3..2.6).contains(&mean), "{vertices}: {mean}");
            let greatest = (0..vertices as u32).map(|v| land.degree(v)).max().unwrap();
            assert!(greatest <= 6, "{vertices}: {greatest}");
        }
        // Three tiles by three.
        let of_land = diameter(&town.tiled(18_000).unwrap());
        assert!((2 * of_town..6 * of_town).contains(&of_land), "{of_town} {of_land}");
    }

    #[test]
    fn whole_tiles_hold_the_edges_of_the_graph() {
        let town = generate("roads:500").unwrap();
        let land = town.tiled(1800).unwrap();
        let find = |u: u32, v: u32| land.edges_of::<u32>().unwrap().find(|&(a, b, _)| (a, b) == (u, v));
        for tile in [0, 500, 1000] {
            for (u, v, weight) in town.edges_of::<u32>().unwrap().step_by(29) {
                assert_eq!(find(u + tile, v + tile), Some((u + tile, v + tile, weight)));
            }
        }
        let between = land.edges().filter(|(u, v, _)| u / 500 != v / 500).count();
        let (joints, whole) = (between / 2, 3 * town.arcs());
        assert!((6..400).contains(&joints), "{joints}");
        assert!(land.arcs() > whole && land.arcs() < whole + between + town.arcs());
    }

    #[test]
    fn every_connected_shape_is_a_tile() {
        let mut tiled = 0;
        for (name, graph) in graphs_of_every_shape::<f64>(6) {
            let graph = graph.with_direction(Direction::Undirected).unwrap().largest_component().unwrap();
            if graph.vertices() < 2 {
                continue;
            }
            tiled += 1;
            for vertices in [1, graph.vertices() as u64, 5 * graph.vertices() as u64 / 2] {
                let land = graph.tiled(vertices).unwrap();
                assert_eq!(land.vertices() as u64, vertices, "{name}");
                assert_eq!(weakly_connected_components(&land).unwrap().count, 1, "{name}");
                assert_eq!(land.weight_kind(), graph.weight_kind(), "{name}");
            }
        }
        assert!(tiled > 5);
    }

    #[test]
    fn unfit_tiles_are_refused() {
        let refused = |graph: &Graph, vertices| graph.tiled(vertices).unwrap_err().to_string();
        let pairs = [(0, 1), (2, 3)];
        let apart = GraphBuilder::new().direction(Direction::Undirected).build_from(pairs).unwrap();
        assert!(refused(&apart, 9).contains("connected"));
        assert!(refused(&Graph::from_edges(pairs).unwrap(), 9).contains("undirected"));
        assert!(refused(&generate("grid:1x1").unwrap(), 9).contains("two vertices"));
        let path = generate("grid:1x5").unwrap();
        assert!(refused(&path, 0).contains("0 is not a number") && refused(&path, 1 << 32).contains("4294967296"));
        assert!(matches!(path.tiled(12).unwrap().weights(), Weights::Unit(_)));
    }
}
