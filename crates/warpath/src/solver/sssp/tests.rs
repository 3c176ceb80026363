use super::*;
use crate::Graph;
use crate::algorithms::GraphFacts;
use crate::graph::VertexId;
use crate::problems::Problem;

/// Roads and small graphs are searched together, large graphs of short paths one search after another.
#[test]
fn searches_go_together_where_that_is_predicted_to_pay() {
    let near_far = cuda::ALGORITHMS.iter().find(|algorithm| algorithm.info.name == "near-far").unwrap();
    let pays = |vertices: u32, degree: u32, searches: usize| {
        let arcs = (0..vertices).flat_map(|v| (0..degree).map(move |k| (v, (v + 1 + k * 7919) % vertices, k + 1)));
        let graph = Graph::from_edges(arcs).unwrap();
        let work = Workload { graph: GraphFacts::of(&graph), parameters: &Parameters::default(), searches, threads: 1 };
        pays_together(near_far, &work)
    };
    assert!(pays(100_000, 2, 100));
    assert!(pays(2_000, 20, 8) && pays(2_000, 20, 1000));
    assert!(!pays(100_000, 30, 8));
}

/// Roads have many narrow rounds, which cost more where devices meet after each of them; wide ones are shared out.
#[test]
fn narrow_rounds_are_not_predicted_to_be_quicker_on_several_devices() {
    let of = |name: &str, facts: GraphFacts| {
        let (algorithm, parameters) = parse_algorithm(cuda::ALGORITHMS, |entry| &entry.info, name).unwrap();
        (algorithm.info.seconds)(&Workload { graph: facts, parameters: &parameters, searches: 1, threads: 1 })
    };
    let large = |name: &str| {
        let facts = GraphFacts::of(&crate::generate(name).unwrap());
        GraphFacts { vertices: 24_000_000, arcs: 24_000_000 / facts.vertices * facts.arcs, ..facts }
    };
    let (roads, uniform) = (large("roads:20000"), large("uniform:14,weights=1..9"));
    assert!(of("multi-hop", roads) < of("near-far", roads) && of("near-far", roads) < of("partitioned:parts=2", roads));
    assert!(of("partitioned:parts=2", uniform) < of("near-far", uniform));
}

#[test]
fn without_weights_they_are_those_of_breadth_first_search() {
    let graph = Graph::from_edges((0..20_000_u32).flat_map(|v| (1..5).map(move |k| (v, v * k * 7919 % 20_000))));
    let graph = graph.unwrap();
    let sources: Vec<VertexId> = (0..100).collect();
    let solver = Solver::builder(graph.clone()).threads(2).open().unwrap();
    let each = |tree: ShortestPathTree| {
        assert_eq!((tree.problem(), tree.report().algorithm.as_str()), (Problem::Sssp, "multi-source"));
        assert!(tree.report().reason.starts_with("breadth-first search, since every edge counts 1"));
        tree.verify(&graph)
    };
    solver.solve_each(Sssp::from(0), &sources, each).unwrap();
}
