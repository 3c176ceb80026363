//! Bellman-Ford: relax every arc of every vertex whose distance fell in the round before, until none falls.
//!
//! The only algorithm here that is right for weights below zero. Distances after round `r` are at most the lengths of
//! the shortest walks of `r` arcs, so without a negative cycle there are at most `V` rounds: work O(V E), though most
//! graphs need few rounds. If a distance still falls in round `V`, following predecessors from there runs in a circle,
//! and that circle is a negative cycle. It need not come to that: whenever the search has done as much work as the
//! check takes, it looks for a cycle in the graph of predecessors, so a cycle is found within a constant factor of the
//! work after which it closed.
//!
//! With floats, a cycle whose exact length is 0 or more can sink by rounding. It is never reported; the search starts
//! again and takes only improvements above the rounding error (`problems/slack.rs` says how much that is).
//!
//! Source: Moore 1959; Bellman 1958, "On a routing problem"; Ford 1956; the check of the predecessors: Cherkassky &
//! Goldberg 1999, "Negative-cycle detection algorithms", sect. 4.

use super::{Function, SsspAlgorithm, SsspTask};
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::graph::{DistanceValue, MinPlus, NO_VERTEX};
use crate::problems::{NegativeCycle, Problem, cycles_of_predecessors, greatest_weight, relative_slack};
use crate::{Error, Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "bellman-ford",
        summary: "rounds over the vertices whose distance fell; for weights below zero, finds negative cycles",
        source: "Bellman 1958, Ford 1956, Moore 1959; Cherkassky & Goldberg 1999",
        parameters: &[],
        negative_weights: true,
        seconds,
    },
    uses_team: false,
    function: Function::BellmanFord,
};

fn seconds(work: &Workload<'_>) -> f64 {
    const RELAXATION: f64 = 6e-9;
    /// Rounds of any graph, and more for each level of a breadth-first search: few, since a round goes on with distances
    /// that it has lowered itself.
    const ROUNDS: f64 = 5.0;
    const OF_A_LEVEL: f64 = 0.03;
    work.side_by_side(
        (ROUNDS + OF_A_LEVEL * work.levels()) * (work.vertices() + work.arcs()) * RELAXATION * work.cache_misses(2.0),
    )
}

pub(super) fn solve<L: MinPlus>(task: &SsspTask<'_, L>, distances: &mut [L::Distance]) -> Result<Statistics> {
    // Without negative weights no cycle can sink, whatever rounding does.
    let can_sink = task.graph.has_negative_weights();
    match run(task, distances, can_sink, 0.0)? {
        Some(statistics) => Ok(statistics),
        None => {
            distances.fill(L::Distance::UNREACHABLE);
            let cautious = run(task, distances, can_sink, relative_slack::<L>() / 2.0)?;
            cautious.ok_or_else(|| {
                Error::invalid("the float weights cancel out so badly that rounding decides which cycles are negative")
            })
        }
    }
}

/// The search, in distances that are all unreachable; `None` if a cycle sank by rounding alone. Improvements have to
/// exceed `caution` times the values.
fn run<L: MinPlus>(
    task: &SsspTask<'_, L>,
    distances: &mut [L::Distance],
    can_sink: bool,
    caution: f64,
) -> Result<Option<Statistics>> {
    let graph = task.adjacency;
    let vertices = graph.vertices();
    let weight_scale = if caution == 0.0 { 0.0 } else { greatest_weight::<L>(graph) };
    let improves = |through: L::Distance, to: L::Distance| {
        if caution == 0.0 || to == L::Distance::UNREACHABLE {
            return through < to;
        }
        let (through, to) = (through.to_f64(), to.to_f64());
        through < to - caution * weight_scale.max(through.abs()).max(to.abs())
    };
    let with_predecessors = if can_sink { vertices } else { 0 };
    let mut predecessors = memory::filled("the array of predecessors", with_predecessors, NO_VERTEX)?;
    let mut in_next: Vec<bool> = memory::zeroed("the marks of vertices", vertices)?;
    let mut current = memory::with_capacity("the list of active vertices", vertices.max(task.sources.len()))?;
    current.extend_from_slice(task.sources);
    let mut next = memory::with_capacity("the list of active vertices", vertices)?;
    task.sources.iter().for_each(|&source| distances[source as usize] = L::Distance::ZERO);
    let (mut rounds, mut relaxations, mut work_since_check) = (0_u64, 0_u64, 0_usize);
    while !current.is_empty() {
        task.control.check()?;
        for &u in &current {
            let from = distances[u as usize];
            work_since_check += 1 + graph.degree(u);
            for (v, weight) in graph.edges(u) {
                relaxations += 1;
                let through = L::extend(from, weight);
                if improves(through, distances[v as usize]) && through <= task.cutoff {
                    distances[v as usize] = through;
                    if can_sink {
                        predecessors[v as usize] = u;
                    }
                    if !in_next[v as usize] {
                        in_next[v as usize] = true;
                        next.push(v);
                    }
                }
            }
        }
        rounds += 1;
        next.iter().for_each(|&v| in_next[v as usize] = false);
        current.clear();
        std::mem::swap(&mut current, &mut next);
        if can_sink && (work_since_check > vertices || rounds >= vertices as u64 || current.is_empty()) {
            work_since_check = 0;
            let mut sank_by_rounding = false;
            for cycle in cycles_of_predecessors(&predecessors)? {
                if let Some(cycle) = NegativeCycle::through(task.graph, &cycle) {
                    return Err(Error::NegativeCycle(Box::new(cycle)));
                }
                sank_by_rounding = true;
            }
            if sank_by_rounding {
                return Ok(None);
            }
        }
    }
    Ok(Some(vec![("rounds", rounds), ("relaxations", relaxations)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::VertexId;
    use crate::testing::Random;
    use crate::{Graph, Solver, Sssp};

    /// Distances and whether a negative cycle is reachable, by the textbook in exact arithmetic.
    fn naive(graph: &Graph, source: VertexId) -> (Vec<Option<i128>>, bool) {
        let mut distances = vec![None; graph.vertices()];
        distances[source as usize] = Some(0_i128);
        let mut changed = true;
        for _ in 0..=graph.vertices() {
            changed = false;
            for (u, v, weight) in graph.edges() {
                if let Some(from) = distances[u as usize] {
                    let through = from + weight as i128;
                    if distances[v as usize].is_none_or(|to| through < to) {
                        distances[v as usize] = Some(through);
                        changed = true;
                    }
                }
            }
        }
        (distances, changed)
    }

    #[test]
    fn negative_integers_agree_with_the_textbook_and_cycles_prove_themselves() {
        let mut random = Random(7);
        let (mut with_cycle, mut without) = (0, 0);
        for trial in 0..400 {
            let vertices = 2 + random.below(30);
            let low = [0, 2, 10, 40][trial % 4];
            let edges: Vec<(u32, u32, i32)> = (0..random.below(4 * vertices))
                .map(|_| {
                    let weight = random.below(100) as i32 - low;
                    (random.below(vertices) as u32, random.below(vertices) as u32, weight)
                })
                .chain([(0, vertices as u32 - 1, 5), (vertices as u32 - 1, 1, -3)])
                .collect();
            let graph = Graph::from_edges(edges.clone()).unwrap();
            let floats = Graph::from_edges(edges.iter().map(|&(u, v, w)| (u, v, f64::from(w)))).unwrap();
            let singles = Graph::from_edges(edges.iter().map(|&(u, v, w)| (u, v, w as f32))).unwrap();
            let (expected, cycle) = naive(&graph, 0);
            for graph in [graph, floats, singles] {
                match Solver::builder(graph.clone()).threads(1).open().unwrap().sssp(0) {
                    Ok(tree) => {
                        assert!(!cycle);
                        without += 1;
                        tree.verify(&graph).unwrap();
                        for v in 0..graph.vertices() as VertexId {
                            assert_eq!(tree.distance(v).map(|d| d.to_f64() as i128), expected[v as usize]);
                        }
                    }
                    Err(Error::NegativeCycle(found)) => {
                        assert!(cycle);
                        with_cycle += 1;
                        found.verify(&graph).unwrap();
                        assert!(
                            found.edges().iter().all(|&(u, _)| expected[u as usize].is_some()),
                            "unreachable cycle"
                        );
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
        assert!(with_cycle > 100 && without > 100);
    }

    #[test]
    fn unreachable_cycles_do_not_count() {
        let graph = Graph::from_edges([(0, 1, 4), (2, 3, -5), (3, 2, 1), (2, 0, -1)]).unwrap();
        let tree = Solver::new(graph.clone()).unwrap().sssp(0).unwrap();
        assert_eq!(tree.reached(), 2);
        tree.verify(&graph).unwrap();
    }

    #[test]
    fn cycles_that_only_rounding_makes_negative_are_not_reported() {
        // 0.1 + 0.2 - 0.3 is 2.8e-17 exactly, but rounds below zero from many starting points.
        let mut random = Random(3);
        for trial in 0..300 {
            let length = 2 + random.below(12) as u32;
            let mut weights: Vec<f64> = (0..length - 1).map(|_| random.below(2000) as f64 / 1000.0 - 1.0).collect();
            // The last weight closes the cycle at the rounded sum: the exact length is just above or below 0.
            weights.push(-weights.iter().sum::<f64>());
            let start = random.below(1 << 20) as f64 / 7.0;
            let edges = (0..length).map(|v| (v, (v + 1) % length, weights[v as usize]));
            let graph = Graph::from_edges(edges.chain([(length, 0, start), (1, length + 1, 0.1)])).unwrap();
            match Solver::builder(graph.clone()).threads(1).open().unwrap().sssp(length) {
                Ok(tree) => {
                    tree.verify(&graph).unwrap_or_else(|error| panic!("{trial}: {error}"));
                    assert_eq!(tree.reached(), u64::from(length) + 2);
                }
                Err(Error::NegativeCycle(found)) => found.verify(&graph).unwrap(),
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn a_negative_self_loop_is_a_cycle_and_a_long_one_is_found_early() {
        let graph = Graph::from_edges([(0, 1, 1), (1, 1, -1)]).unwrap();
        assert!(matches!(Solver::new(graph.clone()).unwrap().sssp(0), Err(Error::NegativeCycle(_))));
        let count = 20_000;
        let long = (0..count).map(|v| (v, (v + 1) % count, if v == 7 { -count } else { 1 }));
        let graph = Graph::from_edges(long.map(|(u, v, w)| (u as u32, v as u32, w))).unwrap();
        let Err(Error::NegativeCycle(cycle)) = Solver::new(graph.clone()).unwrap().solve(Sssp::from(0)) else {
            panic!()
        };
        assert_eq!((cycle.edges().len(), cycle.length()), (20_000, -1.0));
    }
}
