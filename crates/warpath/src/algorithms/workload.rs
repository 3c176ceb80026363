//! The input of every prediction of time: facts about a graph, and the searches to make on it.
//!
//! Each algorithm's entry in its table predicts its seconds from a [`Workload`] (`AlgorithmInfo::seconds`). A prediction
//! covers the work on a prepared graph; the solver adds the time for opening a device and for copies. The rates are
//! medians of recorded measurements: on the CPU of one thread of a server, on the GPU of an H100 or H200.

use super::Parameters;
use crate::graph::sampling::Rows;
use crate::graph::{Graph, Growth, WeightKind};
use crate::instructions::with_widest_instructions;

/// The facts about a graph that predictions use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphFacts {
    /// The number of vertices.
    pub vertices: usize,
    /// The number of arcs; an undirected edge is two.
    pub arcs: usize,
    /// The most arcs that leave one vertex.
    pub greatest_degree: usize,
    /// The mean numbers of vertices within two and within four arcs of a vertex, if neighborhoods grow as they do on a
    /// plane: then a search has many short levels. Roads and grids are such graphs.
    pub planar_growth: Option<[f64; 2]>,
    /// The type of the weights.
    pub weight_kind: WeightKind,
    /// The least and the greatest weight.
    pub weight_range: (f64, f64),
}

impl GraphFacts {
    /// The facts about a graph whose weights do not matter. Looks at all rows, and at the neighborhoods of a few vertices:
    /// O(V).
    pub fn without_weights(graph: &Graph) -> Self {
        Self::of_rows(graph, greatest_degree(graph.csr().offsets()))
    }

    /// The same of a graph wherever it is, of which so many arcs at most leave one vertex.
    pub(crate) fn of_rows(graph: &impl Rows, greatest_degree: usize) -> Self {
        /// Graphs with fewer vertices have too few levels to matter.
        const SMALL: usize = 4096;
        /// Vertices of more arcs do not occur in a plane.
        const MOST_ARCS: usize = 64;
        let planar_growth = (graph.vertices() >= SMALL && greatest_degree <= MOST_ARCS)
            .then(|| Growth::on_a_plane(graph, Growth::SAMPLES))
            .flatten();
        GraphFacts {
            vertices: graph.vertices(),
            arcs: graph.arcs(),
            greatest_degree,
            planar_growth,
            weight_kind: WeightKind::Unit,
            weight_range: (1.0, 1.0),
        }
    }

    /// The facts about a graph: O(V), and O(E) unless the range of the weights is known.
    pub fn of(graph: &Graph) -> Self {
        Self::without_weights(graph).with_weights_of(graph)
    }

    /// The same facts with the weights of this graph: O(E) unless their range is known.
    pub fn with_weights_of(self, graph: &Graph) -> Self {
        GraphFacts { weight_kind: graph.weight_kind(), weight_range: graph.weight_range(), ..self }
    }

    /// Whether a search has many short levels.
    pub fn has_short_levels(&self) -> bool {
        self.planar_growth.is_some()
    }

    /// Whether some vertex has far more arcs than most. Then a search that goes bottom-up skips nearly all arcs, and
    /// searches have little left to share: measured at 1 M vertices and 31 M arcs, sharing more than halves the time a
    /// search takes on a uniform graph and lengthens it by 10 to 50 % on a Kronecker graph.
    pub fn has_hubs(&self) -> bool {
        const FAR_MORE: usize = 100;
        let average = self.arcs / self.vertices.max(1) + 1;
        self.greatest_degree > FAR_MORE * average
    }

    /// Whether some vertex has several times as many arcs as most: hubs among them.
    pub(crate) fn is_skewed(&self) -> bool {
        const MORE: usize = 8;
        self.greatest_degree > MORE * (self.arcs / self.vertices.max(1) + 1)
    }

    /// How many times the least weight the greatest weight is; weights of 0 count as the least weight above 0 that
    /// integers can have, or as a thousandth of the greatest float. The more, the more steps a search by weights takes.
    pub(crate) fn spread_of_weights(&self) -> f64 {
        let (least, greatest) = self.weight_range;
        let is_float = matches!(self.weight_kind, WeightKind::F32 | WeightKind::F64);
        let least = least.max(if is_float { greatest / 1000.0 } else { 1.0 });
        if greatest > least { greatest / least } else { 1.0 }
    }

    /// Whether some weight is below 0.
    pub fn has_negative_weights(&self) -> bool {
        self.weight_range.0 < 0.0
    }
}

/// The most arcs that leave one vertex.
pub(crate) fn greatest_degree(offsets: &[u64]) -> usize {
    with_widest_instructions!([] [] (offsets: &[u64] = offsets) -> usize {
        let ends = offsets.get(1..).unwrap_or(&[]);
        offsets.iter().zip(ends).fold(0, |most, (begin, end)| u64::max(most, end - begin)) as usize
    })
}

/// The work whose time an algorithm predicts.
#[derive(Debug, Clone, Copy)]
pub struct Workload<'a> {
    /// The graph.
    pub graph: GraphFacts,
    /// The parameters that are set.
    pub parameters: &'a Parameters,
    /// How many sources there are, each with a search of its own. All pairs on a matrix and closures do not depend on
    /// it.
    pub searches: usize,
    /// The threads of the CPU.
    pub threads: usize,
}

impl Workload<'_> {
    /// The number of vertices.
    pub(crate) fn vertices(&self) -> f64 {
        self.graph.vertices as f64
    }

    /// The number of arcs.
    pub(crate) fn arcs(&self) -> f64 {
        self.graph.arcs as f64
    }

    /// The number of triples of vertices: the relaxations on a matrix of all pairs.
    pub(crate) fn triples(&self) -> f64 {
        self.vertices().powi(3)
    }

    /// The expected number of levels of a breadth-first search: along a line, across a square, or those of a small world.
    pub(crate) fn levels(&self) -> f64 {
        const OF_A_SMALL_WORLD: f64 = 10.0;
        /// How many times as many vertices a neighborhood of twice the radius has, at most: 1.8 on a line, 2.1 on three side
        /// by side, 3.1 on a grid.
        const ON_A_LINE: f64 = 2.25;
        match self.graph.planar_growth {
            None => OF_A_SMALL_WORLD,
            // Twice the radius has about twice the vertices: every level has as many as the last. Half as many levels as
            // there are from the end of the line.
            Some([near, far]) if far <= ON_A_LINE * near => 2.0 * self.vertices() / (far - near).max(2.0),
            Some(_) => 1.5 * self.vertices().sqrt(),
        }
    }

    /// How many shortcuts a hierarchy has if nobody has counted them: those of roads and meshes where searches have many short
    /// levels, and elsewhere, where separators are large, many.
    pub(crate) fn usual_shortcuts(&self) -> f64 {
        const OF_SHORT_LEVELS: f64 = 4.0;
        const ELSEWHERE: f64 = 50.0;
        let of_an_arc = if self.graph.has_short_levels() { OF_SHORT_LEVELS } else { ELSEWHERE };
        of_an_arc * self.arcs()
    }

    /// The searches one after another, each of this many seconds.
    pub(crate) fn in_turn(&self, seconds: f64) -> f64 {
        self.searches as f64 * seconds
    }

    /// The searches of this many seconds each, if every thread has searches of its own. Where levels are short, the
    /// memory feeds only a few threads.
    pub(crate) fn side_by_side(&self, seconds: f64) -> f64 {
        const FED: usize = 6;
        let most = if self.graph.has_short_levels() { FED } else { usize::MAX };
        self.in_turn(seconds) / self.threads.min(self.searches).clamp(1, most) as f64
    }

    /// How many times longer than in the cache random accesses to an array take that has a word for each vertex, at
    /// most this many times.
    pub(crate) fn cache_misses(&self, most: f64) -> f64 {
        const CACHED: f64 = (1 << 17) as f64;
        (self.vertices() / CACHED).sqrt().clamp(1.0, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::testing::graphs_of_every_shape;

    #[test]
    fn roads_have_short_levels_and_kronecker_graphs_have_hubs() {
        let facts = |recipe: &str| GraphFacts::without_weights(&generate(recipe).unwrap());
        let (grid, kron, uniform) = (facts("grid:100x100"), facts("kron:12"), facts("uniform:12"));
        assert!(grid.has_short_levels() && !grid.has_hubs());
        assert!(!kron.has_short_levels());
        assert!(!uniform.has_short_levels() && !uniform.has_hubs());
        let star = GraphFacts::without_weights(&Graph::from_edges((1..9_000).map(|leaf| (0, leaf))).unwrap());
        assert!(star.has_hubs());
        let levels = |graph| {
            let parameters = &Parameters::default();
            Workload { graph, parameters, searches: 1, threads: 1 }.levels()
        };
        // From the end of a line there are 100,000 levels, from its middle half as many; a ladder is as long as a line.
        assert!((40_000.0..100_000.0).contains(&levels(facts("grid:1x100000"))));
        assert!((40_000.0..100_000.0).contains(&levels(facts("grid:2x100000"))));
        assert!((100.0..200.0).contains(&levels(grid)));
        assert!((100.0..400.0).contains(&levels(facts("roads:20000"))));
    }

    #[test]
    fn every_algorithm_predicts_a_time_for_every_graph() {
        let none = Parameters::default();
        for (name, graph) in graphs_of_every_shape::<u32>(7) {
            let facts = GraphFacts::without_weights(&graph).with_weights_of(&graph);
            for (searches, threads) in [(0, 1), (1, 1), (1, 64), (1000, 8)] {
                let work = Workload { graph: facts, parameters: &none, searches, threads };
                for info in crate::cpu::algorithms().chain(crate::cuda::algorithms()) {
                    let seconds = (info.seconds)(&work);
                    assert!(seconds.is_finite() && seconds >= 0.0, "{name}: {} {seconds}", info.name);
                }
            }
        }
    }
}
