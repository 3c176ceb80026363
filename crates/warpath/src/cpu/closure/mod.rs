//! Transitive closure on the CPU.
//!
//! *Invariants.* A function that was compiled for more instructions is called only where the processor has been found
//! to have them.

pub(crate) mod bit_warshall;
pub(crate) mod condensation;
pub(crate) mod warshall;

use super::Team;
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::graph::Graph;
use crate::plan::Plan;
use crate::problems::{BitMatrix, CondensedBits};
use crate::{Control, Result};

/// Everything a transitive closure needs to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClosureTask<'a> {
    /// The graph.
    pub(crate) graph: &'a Graph,
    /// Whether a vertex reaches itself only on a cycle.
    pub(crate) irreflexive: bool,
    /// The threads to run on.
    pub(crate) team: &'a Team,
    /// May cancel the work.
    pub(crate) control: &'a Control,
}

/// Who reaches whom, in the form in which an algorithm finds it.
#[derive(Debug, Clone)]
pub(crate) enum ClosureBits {
    /// One row and one column a vertex.
    Matrix(BitMatrix),
    /// One row and one column a strongly connected component.
    Condensed(CondensedBits),
}

/// The answer and counters.
#[derive(Debug, Clone)]
pub(crate) struct ClosureOutcome {
    /// Who reaches whom.
    pub(crate) bits: ClosureBits,
    /// The algorithm's counters.
    pub(crate) statistics: Statistics,
}

/// A transitive closure algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClosureAlgorithm {
    /// The facts known before it runs.
    pub(crate) info: AlgorithmInfo,
    /// The memory that it takes beyond the graph. The plan may look for components, but only if its bound would exceed
    /// `available` bytes otherwise.
    pub(crate) plan: fn(&Graph, &Team, available: u64) -> Plan,
    /// Runs it.
    pub(crate) solve: fn(&ClosureTask<'_>) -> Result<ClosureOutcome>,
}

/// Every transitive closure algorithm of this engine.
pub(crate) static ALGORITHMS: &[ClosureAlgorithm] =
    &[condensation::ALGORITHM, bit_warshall::ALGORITHM, warshall::ALGORITHM];

/// Compiles a function three times, for AVX-512, for AVX2 and for whatever the target has, and picks at run time.
macro_rules! for_each_instruction_set {
    ($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$attribute])*
        fn $name($($argument: $type),*) {
            #[inline(always)]
            fn portable($($argument: $type),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512vpopcntdq,avx2,bmi1,bmi2,popcnt")]
                fn avx512($($argument: $type),*) {
                    portable($($argument),*)
                }
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
                fn avx2($($argument: $type),*) {
                    portable($($argument),*)
                }
                let has_avx2 = is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("popcnt");
                if has_avx2 && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
                    // SAFETY: the processor has every feature that the function was compiled for.
                    return unsafe { avx512($($argument),*) };
                }
                if has_avx2 {
                    // SAFETY: as above.
                    return unsafe { avx2($($argument),*) };
                }
            }
            portable($($argument),*)
        }
    };
}
use for_each_instruction_set;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, Unit, VertexId};
    use crate::testing::{Random, graphs_of_every_shape};
    use crate::{Closure, Solver};

    /// The vertices that paths of at least one edge lead to, by a search from each vertex.
    fn search_from_each(graph: &Graph) -> Vec<Vec<bool>> {
        let search = |from: VertexId| {
            let mut reached = vec![false; graph.vertices()];
            let mut stack = vec![from];
            while let Some(u) = stack.pop() {
                for &v in graph.neighbors(u) {
                    if !std::mem::replace(&mut reached[v as usize], true) {
                        stack.push(v);
                    }
                }
            }
            reached
        };
        (0..graph.vertices() as VertexId).map(search).collect()
    }

    fn check(name: &str, graph: &Graph) {
        let mut expected = search_from_each(graph);
        for irreflexive in [true, false] {
            let mut request = Closure::new();
            if irreflexive {
                request = request.irreflexive();
            } else {
                expected.iter_mut().enumerate().for_each(|(v, row)| row[v] = true);
            }
            let counts: Vec<u64> = expected.iter().map(|row| row.iter().filter(|&&bit| bit).count() as u64).collect();
            for (algorithm, threads) in ALGORITHMS.iter().flat_map(|algorithm| [(algorithm, 1), (algorithm, 2)]) {
                let name = format!("{name}, {}, {threads} threads, irreflexive {irreflexive}", algorithm.info.name);
                let solver = Solver::builder(graph.clone()).threads(threads).open().unwrap();
                let request = request.clone().algorithm(algorithm.info.name);
                let reachability = solver.solve(request.clone()).unwrap();
                reachability.verify(graph).unwrap_or_else(|error| panic!("{name}: {error}"));
                let matrix = reachability.to_matrix().unwrap();
                for (u, row) in expected.iter().enumerate() {
                    assert!((0..row.len()).all(|v| row[v] == reachability.reaches(u as u32, v as u32)), "{name}: {u}");
                    let ones: Vec<usize> = reachability.row(u as u32).map(|v| v as usize).collect();
                    assert!(matrix.ones(u).eq(ones), "{name}: row {u}");
                }
                assert_eq!(reachability.reachable_counts().unwrap(), counts, "{name}");
                assert_eq!(reachability.reachable_pairs(), counts.iter().sum::<u64>(), "{name}");
                let counted = solver.solve(request.counts_only()).unwrap();
                assert_eq!(counted.counts(), counts, "{name}");
                counted.verify(graph).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }

    #[test]
    fn right_on_graphs_of_every_shape() {
        for seed in 0..2 {
            for (name, graph) in graphs_of_every_shape::<Unit>(seed) {
                check(&name, &graph);
            }
        }
        for vertices in [0, 5] {
            check("empty", &GraphBuilder::new().vertices(vertices).build_from(Vec::<(u32, u32)>::new()).unwrap());
        }
    }

    /// Graphs of several strips and rounds.
    #[test]
    fn right_beyond_one_strip() {
        let mut random = Random(7);
        let mut pairs = |count: u64, vertices: u64, acyclic: bool| {
            let pairs = (0..count).map(|_| (random.below(vertices) as u32, random.below(vertices) as u32));
            let pairs = pairs
                .filter(|(u, v)| !acyclic || u != v)
                .map(|(u, v)| if acyclic { (u.max(v), u.min(v)) } else { (u, v) });
            Graph::from_edges(pairs.collect::<Vec<_>>()).unwrap()
        };
        check("sparse", &pairs(1_400, 1_100, false));
        check("degree 2", &pairs(2_200, 1_100, false));
        check("sparse, acyclic", &pairs(1_500, 1_300, true));
        check("dense, acyclic", &pairs(40_000, 1_300, true));
    }

    #[test]
    fn agrees_with_petgraph() {
        for (name, graph) in graphs_of_every_shape::<Unit>(3) {
            let mut oracle = petgraph::Graph::<(), ()>::new();
            let nodes: Vec<_> = (0..graph.vertices()).map(|_| oracle.add_node(())).collect();
            graph.edges().for_each(|(u, v, _)| {
                oracle.add_edge(nodes[u as usize], nodes[v as usize], ());
            });
            let reachability = Solver::new(graph.clone()).unwrap().solve(Closure::new()).unwrap();
            for u in (0..graph.vertices()).step_by(7) {
                for v in 0..graph.vertices() {
                    let reaches = petgraph::algo::has_path_connecting(&oracle, nodes[u], nodes[v], None);
                    assert_eq!(reachability.reaches(u as u32, v as u32), reaches, "{name}: {u} {v}");
                }
            }
        }
    }
}
