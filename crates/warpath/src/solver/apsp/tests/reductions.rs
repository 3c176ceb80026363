//! Measures of vertices, from rows and from facts about these.

use super::*;
use crate::cuda::device::testing::devices;
use crate::graph::Unit;
use crate::problems::RowFacts;
use crate::testing::size;

#[test]
fn reductions_are_those_of_the_matrix() {
    fn check<W: TestWeight + Weight>() {
        for (name, graph) in graphs_of_every_shape::<W>(13) {
            let n = graph.vertices();
            let matrix = solver(&graph, 1).solve(Apsp::all().algorithm("batched")).unwrap();
            let distance = |i: usize, j: usize| matrix.distance(i, j).map(Distance::to_f64);
            let all = [Reduction::Eccentricity, Reduction::Closeness, Reduction::Harmonic, Reduction::Histogram];
            let mut reductions = RowReductions::new(all);
            // So little memory that there are many blocks.
            let solver = Solver::builder(graph.clone()).threads(2).memory(4 << 20).open().unwrap();
            let request = Apsp::all().algorithm("batched");
            solver.solve(request.into_sink(&mut reductions)).unwrap();
            let (closeness, harmonic) = (reductions.closeness(), reductions.harmonic());
            for v in 0..n {
                let expected = (0..n).filter_map(|u| distance(v, u)).fold(0.0, f64::max);
                assert_eq!(reductions.eccentricities()[v].map(Distance::to_f64), Some(expected), "{name}");
                let into: Vec<f64> = (0..n).filter(|&u| u != v).filter_map(|u| distance(u, v)).collect();
                let (reached, sum) = (into.len() as f64, into.iter().sum::<f64>());
                let expected = if sum > 0.0 { reached / sum * (reached / (n as f64 - 1.0)) } else { 0.0 };
                assert!((closeness[v] - expected).abs() <= 1e-9 * expected, "{name}");
                let expected: f64 = into.iter().filter(|&&d| d != 0.0).map(|d| 1.0 / d).sum();
                assert!((harmonic[v] - expected).abs() <= 1e-9 * expected, "{name}");
            }
            assert_eq!(reductions.histogram().total(), matrix.finite_pairs(), "{name}");
            assert!(reductions.histogram().bins().count() <= 1 << 16);
        }
    }
    check::<crate::graph::Unit>();
    check::<u32>();
    check::<i32>();
    check::<f64>();
}

#[test]
fn histograms_count_each_distance() {
    let graph = Graph::from_edges([(0, 1, 3), (1, 2, -2)]).unwrap();
    let mut reductions = RowReductions::new([Reduction::Histogram]);
    solver(&graph, 1).solve(Apsp::all().into_sink(&mut reductions)).unwrap();
    let bins: Vec<_> = reductions.histogram().bins().collect();
    assert_eq!(bins, [(-2.0, 1), (0.0, 3), (1.0, 1), (3.0, 1)]);
}

/// Reductions, and what they were made from.
struct Watched {
    reductions: RowReductions,
    had_rows: bool,
    had_facts: bool,
}

impl RowSink for Watched {
    fn plan(&self, rows: u64, columns: u64, distance_bytes: u64, plan: &mut Plan) {
        self.reductions.plan(rows, columns, distance_bytes, plan);
    }

    fn begin(&mut self, table: &TableShape<'_>, replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        self.reductions.begin(table, replay)
    }

    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()> {
        self.had_rows = true;
        self.reductions.rows(block)
    }

    fn takes_facts(&self, by_target: bool) -> bool {
        self.reductions.takes_facts(by_target)
    }

    fn facts(&mut self, rows: &[usize], facts: &[RowFacts]) -> Result<()> {
        self.had_facts = true;
        self.reductions.facts(rows, facts)
    }
}

/// The same from facts about rows as from rows, by algorithms that make rows and by those that need not.
#[test]
fn facts_about_rows_do_for_eccentricities_and_closeness() {
    use Reduction::{Closeness, Eccentricity, Harmonic};
    fn check<W: TestWeight + Weight>() {
        let mut random = Random(5);
        for (name, graph) in graphs_of_every_shape::<W>(17).into_iter().step_by(size(2, 7)) {
            let vertices = graph.vertices() as u64;
            if vertices == 0 || vertices > 120 {
                continue;
            }
            let some: Vec<VertexId> = (0..random.below(40)).map(|_| random.below(vertices) as VertexId).collect();
            let all = Apsp::all();
            for (request, is_all) in
                [(&all, true), (&all.clone().from(&some[..]), false), (&all.clone().to(&some[..]), false)]
            {
                let mut expected = RowReductions::new([Eccentricity, Closeness, Harmonic]);
                let request = || request.clone();
                solver(&graph, 1).solve(request().algorithm("batched").into_sink(&mut expected)).unwrap();
                let compare = |solver: &Solver, request: Apsp, wanted: &[Reduction]| {
                    let reductions = RowReductions::new(wanted.to_vec());
                    let is_symmetric = !graph.is_directed() || graph.csr().is_symmetric();
                    let facts_do = !request.verified && (wanted == [Eccentricity] || is_all && is_symmetric);
                    let mut found = Watched { reductions, had_rows: false, had_facts: false };
                    solver.solve(request.into_sink(&mut found)).unwrap();
                    assert!(!(if facts_do { found.had_rows } else { found.had_facts }), "{name}");
                    let of_rows = if wanted.contains(&Eccentricity) { expected.eccentricities() } else { &[] };
                    assert_eq!(found.reductions.eccentricities(), of_rows, "{name}");
                    let of_columns = if wanted.contains(&Closeness) { expected.closeness() } else { Vec::new() };
                    assert_eq!(found.reductions.closeness(), of_columns, "{name}");
                };
                for wanted in [&[Eccentricity][..], &[Closeness], &[Eccentricity, Closeness]] {
                    let here = solver(&graph, 2);
                    for algorithm in ["batched", "hierarchy", "tiled-floyd-warshall"] {
                        compare(&here, request().algorithm(algorithm), wanted);
                    }
                    compare(&here, request(), wanted);
                    compare(&here, request().verified(), wanted);
                }
                for device in devices(1) {
                    let there = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                    for algorithm in ["batched", "hierarchy"] {
                        compare(&there, request().algorithm(algorithm), &[Eccentricity, Closeness]);
                    }
                }
            }
        }
    }
    check::<Unit>();
    check::<u32>();
}
