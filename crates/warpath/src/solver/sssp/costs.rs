//! Predicted times of searches by weights on a device.

use crate::cuda::sssp::SsspAlgorithm;
use crate::cuda::sssp::many_sources::widest;
use crate::graph::Graph;

/// The least seconds of a launch, with its report.
const LAUNCH: f64 = 200e-6;

/// Predicted seconds of each search, if searches run one after another.
pub(super) fn seconds_alone(algorithm: &SsspAlgorithm, graph: &Graph) -> f64 {
    /// Arcs a second of `near-far`, vertices a second of `multi-hop`, and arcs a second of all others.
    const ARCS: f64 = 25e9;
    const VERTICES: f64 = 400e6;
    const OTHERS: f64 = 1e9;
    let (vertices, arcs) = (graph.vertices() as f64, graph.arcs() as f64);
    let searching = match algorithm.info.name {
        "near-far" => arcs / ARCS,
        "multi-hop" => vertices / VERTICES,
        "many-sources" => accesses(graph) / Rates::on(graph).of_a_block,
        _ => arcs / OTHERS,
    };
    LAUNCH + searching
}

/// Predicted seconds of this many searches together.
pub(in crate::solver) fn seconds_together(graph: &Graph, searches: usize) -> f64 {
    let width = width(graph, searches).min(searches);
    let Rates { of_a_block, of_all } = Rates::on(graph);
    let in_flight = of_all.min(of_a_block * width as f64);
    searches as f64 * accesses(graph) / in_flight + searches.div_ceil(width.max(1)) as f64 * LAUNCH
}

/// Measured random accesses a second, of one block that searches and of all blocks at once.
struct Rates {
    of_a_block: f64,
    of_all: f64,
}

impl Rates {
    fn on(graph: &Graph) -> Self {
        /// Vertices whose distances fit shared memory.
        const SHARED: usize = 50_000;
        /// Up to this many arcs a vertex, or else up to this many vertices, fronts are short: the distances in use by
        /// all searches fit the L2 cache.
        const THIN: usize = 4;
        const SMALL: usize = 1 << 17;
        let (of_a_block, of_all) = if graph.vertices() <= SHARED {
            (160e6, 87e9)
        } else if graph.vertices() <= SMALL || graph.arcs() <= THIN * graph.vertices() {
            (50e6, 40e9)
        } else {
            (10e6, 2e9)
        };
        Rates { of_a_block, of_all }
    }
}

/// Random accesses of one search: two a vertex, one an arc.
fn accesses(graph: &Graph) -> f64 {
    2.0 * graph.vertices() as f64 + graph.arcs() as f64
}

/// How many of these searches are in a batch, if there is memory.
pub(super) fn width(graph: &Graph, searches: usize) -> usize {
    searches.next_power_of_two().min(widest(graph))
}
