//! Statistics of a graph: degrees, components, diameter, weights.
//!
//! The diameter is estimated from below by sweeps. A breadth-first search from any vertex of the largest component ends
//! at a far vertex; each next search starts there, until a search ends no farther. Arcs count in both directions, and
//! weights are ignored. On trees two sweeps are exact; on road networks the estimate is usually within a few per cent,
//! on random graphs within one or two.
//!
//! Work O(V + E); memory 16 bytes a vertex, and the transpose of a directed graph, which the graph keeps.
//!
//! Source: C. Magnien, M. Latapy, M. Habib, Fast computation of empirically tight bounds for the diameter of massive
//! graphs, ACM JEA 2009 (double sweep).

use rayon::prelude::*;

use super::{Components, Csr, Graph, InputCounts, VertexId, WeightKind};
use crate::{Control, Result, memory};

/// The result of [`Graph::statistics`].
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Number of vertices.
    pub vertices: u64,
    /// Number of arcs stored; an undirected edge is two.
    pub arcs: u64,
    /// Whether arcs have a direction.
    pub directed: bool,
    /// What the input held before loops and parallel arcs were treated.
    pub input: InputCounts,
    /// Numbers of arcs that leave a vertex.
    pub degrees: DegreeStatistics,
    /// The weakly connected components.
    pub weak_components: ComponentSizes,
    /// The strongly connected components; `None` for an undirected graph, where they are the weak ones.
    pub strong_components: Option<ComponentSizes>,
    /// A lower bound on the greatest number of edges of a shortest path in the largest weak component, directions
    /// ignored, and usually close to it.
    pub estimated_diameter: u64,
    /// The type of the weights.
    pub weight_kind: WeightKind,
    /// The least and the greatest weight; `None` without weights or arcs.
    pub weight_range: Option<(f64, f64)>,
    /// Bytes of memory that the graph owns, its transpose not counted.
    pub bytes: u64,
}

/// The numbers of arcs that leave a vertex.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DegreeStatistics {
    /// The least; 0 without vertices.
    pub least: u64,
    /// Arcs by vertices; 0 without vertices.
    pub mean: f64,
    /// The greatest.
    pub greatest: u64,
    /// How many vertices no arc leaves or enters.
    pub isolated: u64,
    /// How many vertices have degree 0, 1, 2..3, 4..7 and so on: entry `k` is for 2^(k-1) to 2^k - 1.
    pub histogram: Vec<u64>,
}

/// How many components there are, and how large the largest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ComponentSizes {
    /// Number of components.
    pub count: u64,
    /// Vertices of the largest.
    pub largest: u64,
}

impl ComponentSizes {
    fn of(components: &Components) -> Result<Self> {
        let largest = components.sizes()?.into_iter().max().unwrap_or(0);
        Ok(ComponentSizes { count: components.count as u64, largest })
    }
}

impl Graph {
    /// Degrees, components, estimated diameter and so on, in O(V + E).
    ///
    /// ```
    /// let statistics = warpath::generate("grid:20x30")?.statistics(&warpath::Control::new())?;
    /// assert_eq!(statistics.weak_components.count, 1);
    /// assert_eq!(statistics.estimated_diameter, 48);
    /// assert_eq!(statistics.degrees.greatest, 4);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn statistics(&self, control: &Control) -> Result<Statistics> {
        let bytes = self.csr().owned_bytes() + self.labels().owned_bytes();
        control.check()?;
        let weak = Components::weak(self, control)?;
        let strong = match self.is_directed() {
            true => Some(ComponentSizes::of(&Components::strong(self, control)?)?),
            false => None,
        };
        control.check()?;
        let has_weights = self.weight_kind() != WeightKind::Unit && self.arcs() > 0;
        Ok(Statistics {
            vertices: self.vertices() as u64,
            arcs: self.arcs() as u64,
            directed: self.is_directed(),
            input: self.input_counts(),
            degrees: degrees(self, &weak)?,
            weak_components: ComponentSizes::of(&weak)?,
            strong_components: strong,
            estimated_diameter: estimated_diameter(self, &weak, control)?,
            weight_kind: self.weight_kind(),
            weight_range: has_weights.then(|| self.weight_range()),
            bytes,
        })
    }
}

fn degrees(graph: &Graph, weak: &Components) -> Result<DegreeStatistics> {
    if graph.vertices() == 0 {
        return Ok(DegreeStatistics::default());
    }
    let sizes = weak.sizes()?;
    let empty = || (u64::MAX, 0, 0, vec![0; 1 + u64::BITS as usize]);
    let (least, greatest, isolated, mut histogram) = (0..graph.vertices() as VertexId)
        .into_par_iter()
        .with_min_len(1 << 16)
        .fold(empty, |(least, greatest, isolated, mut histogram), v| {
            let degree = graph.degree(v) as u64;
            histogram[(u64::BITS - degree.leading_zeros()) as usize] += 1;
            let alone = degree == 0 && sizes[weak.of[v as usize] as usize] == 1;
            (degree.min(least), degree.max(greatest), isolated + u64::from(alone), histogram)
        })
        .reduce(empty, |a, b| {
            let histogram = a.3.into_iter().zip(b.3).map(|(a, b)| a + b).collect();
            (a.0.min(b.0), a.1.max(b.1), a.2 + b.2, histogram)
        });
    let used = histogram.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    histogram.truncate(used);
    let mean = graph.arcs() as f64 / graph.vertices() as f64;
    Ok(DegreeStatistics { least, mean, greatest, isolated, histogram })
}

fn estimated_diameter(graph: &Graph, weak: &Components, control: &Control) -> Result<u64> {
    const MOST_SWEEPS: u8 = 6;
    let Some(largest) = weak.largest()? else { return Ok(0) };
    let members = (0..graph.vertices() as VertexId).filter(|&v| weak.of[v as usize] == largest);
    let Some(mut start) = members.max_by_key(|&v| graph.degree(v)) else { return Ok(0) };
    let mut visited = memory::filled("the marks of vertices", graph.vertices(), u8::MAX)?;
    let list = || memory::with_capacity("the list of active vertices", graph.vertices());
    let mut levels = [list()?, list()?];
    let by_head = if graph.is_directed() { Some(graph.transpose()?) } else { None };
    let mut diameter = 0;
    for sweep in 0..MOST_SWEEPS {
        control.progress("statistics", sweep.into(), MOST_SWEEPS.into())?;
        let (far, eccentricity) = farthest(graph.csr(), by_head, start, sweep, &mut visited, &mut levels);
        if sweep > 0 && eccentricity <= diameter {
            break;
        }
        (start, diameter) = (far, eccentricity);
    }
    Ok(diameter)
}

/// A vertex farthest from `start`, with least degree among the farthest, and its distance. Also follows the arcs of
/// `by_head`, if given, and so ignores directions. Marks visited vertices with `sweep`.
fn farthest(
    graph: &Csr,
    by_head: Option<&Csr>,
    start: VertexId,
    sweep: u8,
    visited: &mut [u8],
    [level, next]: &mut [Vec<VertexId>; 2],
) -> (VertexId, u64) {
    level.clear();
    level.push(start);
    next.clear();
    let mut distance = 0;
    visited[start as usize] = sweep;
    loop {
        for &u in &*level {
            let backwards = by_head.map_or(&[][..], |by_head| by_head.neighbors(u));
            for &v in graph.neighbors(u).iter().chain(backwards) {
                if visited[v as usize] != sweep {
                    visited[v as usize] = sweep;
                    next.push(v);
                }
            }
        }
        if next.is_empty() {
            let far = level.iter().copied().min_by_key(|&v| graph.row(v).len()).unwrap_or(start);
            return (far, distance);
        }
        distance += 1;
        std::mem::swap(level, next);
        next.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Direction, GraphBuilder};
    use crate::testing::graphs_of_every_shape;

    #[test]
    fn numbers_of_a_small_digraph() {
        let edges = [(0, 1, 3_u32), (1, 0, 9), (1, 2, 4), (2, 2, 5), (3, 4, 1)];
        let graph = GraphBuilder::new().vertices(7).build_from(edges).unwrap();
        let statistics = graph.statistics(&Control::new()).unwrap();
        assert_eq!((statistics.vertices, statistics.arcs, statistics.input.self_loops), (7, 5, 1));
        let DegreeStatistics { least, mean, greatest, isolated, histogram } = statistics.degrees;
        assert_eq!((least, greatest, isolated, histogram), (0, 2, 2, vec![3, 3, 1]));
        assert!((mean - 5.0 / 7.0).abs() < 1e-12);
        assert_eq!(statistics.weak_components, ComponentSizes { count: 4, largest: 3 });
        assert_eq!(statistics.strong_components, Some(ComponentSizes { count: 6, largest: 2 }));
        assert_eq!((statistics.estimated_diameter, statistics.weight_range), (2, Some((1.0, 9.0))));
    }

    #[test]
    fn the_diameter_is_never_too_large_and_exact_on_trees() {
        for (name, graph) in graphs_of_every_shape::<crate::graph::Unit>(5) {
            let undirected = graph.clone().with_direction(Direction::Undirected).unwrap();
            let weak = Components::weak(&undirected, &Control::new()).unwrap();
            let largest = weak.largest().unwrap();
            let exact = (0..graph.vertices() as VertexId)
                .filter(|&v| Some(weak.of[v as usize]) == largest)
                .map(|v| {
                    let mut visited = vec![u8::MAX; graph.vertices()];
                    farthest(undirected.csr(), None, v, 0, &mut visited, &mut Default::default()).1
                })
                .max();
            let statistics = graph.statistics(&Control::new()).unwrap();
            assert!(Some(statistics.estimated_diameter) <= exact, "{name}");
            if ["long path", "star", "binary tree", "grid"].iter().any(|tree| name.starts_with(tree)) {
                assert_eq!(Some(statistics.estimated_diameter), exact, "{name}");
            }
            assert_eq!(statistics.degrees.histogram.iter().sum::<u64>(), statistics.vertices, "{name}");
        }
    }

    #[test]
    fn no_vertices_have_no_statistics_to_fail_on() {
        let graph = GraphBuilder::new().build_from(Vec::<(u32, u32)>::new()).unwrap();
        let statistics = graph.statistics(&Control::new()).unwrap();
        assert_eq!((statistics.vertices, statistics.estimated_diameter), (0, 0));
        assert_eq!(statistics.weak_components, ComponentSizes::default());
    }

    #[test]
    fn it_can_be_interrupted() {
        let control = Control::new();
        control.cancel();
        assert!(crate::generate("grid:3x3").unwrap().statistics(&control).is_err());
    }
}
