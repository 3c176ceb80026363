//! What ranks send, beside what the model predicts: weak scaling, with as many vertices for each rank.

use warpath::generate::WeightRange;
use warpath::graph::Unit;
use warpath_mpi::{
    PartOfGraph, Parts, Problem, RankDevices, RankFacts, Search, SharedMatrix, Source, Weighting, World, components,
    floyd_warshall, predict, predict_by_weights, predict_components, predict_matrix,
};

/// Runs on every rank; rank 0 prints what was sent and what was predicted, which may differ by a tenth, or by one frontier
/// that is counted and a few messages.
pub(crate) fn as_rank() {
    let world = World::start(std::time::Duration::from_secs(120), &warpath::Control::new()).expect("MPI starts");
    let scale = 12 + world.ranks().ilog2();
    let grid = |rows: usize| format!("grid:{}x64", rows * world.ranks());
    let mut specifications = vec![format!("kron:{scale}"), format!("uniform:{scale}"), grid(32)];
    if world.ranks() <= 4 {
        // In blocks of 1,024 vertices for the ranks in turn.
        specifications.push(grid(64));
    }
    for specification in specifications {
        // The first levels from the vertex of highest degree are large enough for expectations.
        let graph = warpath::generate(&specification).expect("a graph");
        let vertices = 0..graph.vertices() as u32;
        let hub = vertices.max_by_key(|&vertex| graph.degree(vertex)).expect("a vertex");
        let search = Search::new(Problem::Bfs, vec![hub.into()]);
        let source = Source::open(specification.as_ref(), Weighting::Unit).expect("a source");
        let all = search.run(&world, &source).and_then(|found| found.of_all_ranks(&world)).expect("an answer");
        let mean = |all: &[RankFacts], of: fn(&RankFacts) -> u64| {
            all.iter().map(|facts| of(facts) as f64).sum::<f64>() / world.ranks() as f64
        };
        let degree = graph.degree(hub) as f64;
        let predicted = predict(&specification, world.ranks(), degree, &search).expect("a prediction");
        // Few messages are counted one by one.
        let few = 1.0 + 0.5 * (world.ranks() - 1) as f64;
        let mut facts = vec![
            ("ghosts", mean(&all, |facts| facts.part.ghosts), predicted.ghosts, 0.0),
            ("bytes sent", mean(&all, |facts| facts.traffic.bytes), predicted.bytes, 0.0),
            ("messages", mean(&all, |facts| facts.traffic.messages), predicted.messages, few),
            (
                "bytes given to reductions",
                mean(&all, |facts| facts.traffic.reduced_bytes),
                predicted.reduced_bytes,
                32.0,
            ),
            ("meetings", mean(&all, |facts| facts.traffic.meetings), predicted.meetings, 1.0),
        ];
        // By weights ghosts of grids are told of again and again within one wide bucket.
        if !specification.starts_with("grid") {
            let weights = WeightRange { low: 1, high: 255 };
            let source = Source::open(specification.as_ref(), Weighting::Random(weights, 1)).expect("a source");
            let search = Search { devices: RankDevices::Cpu, ..Search::new(Problem::Sssp, vec![hub.into()]) };
            let all = search.run(&world, &source).and_then(|found| found.of_all_ranks(&world)).expect("an answer");
            let predicted =
                predict_by_weights(&specification, world.ranks(), degree, weights).expect("a prediction by weights");
            let messages = mean(&all, |facts| facts.traffic.messages);
            facts.push(("bytes sent by weights", mean(&all, |facts| facts.traffic.bytes), predicted.bytes, 0.0));
            facts.push(("messages by weights", messages, predicted.messages, 0.0));
        }
        facts.extend(of_components(&world, &specification, &source));
        facts.into_iter().for_each(|fact| compare(&world, &specification, fact));
    }
    // Weights that take cells of 16 bits.
    let specification = "grid:30x37,weights=1..9";
    let source = Source::open(specification.as_ref(), Weighting::AsStored).expect("a source");
    let shared = SharedMatrix { verify: false, memory: None, file: None, writes: false };
    let (found, _) = floyd_warshall(&world, &source, shared).expect("a matrix");
    let predicted = predict_matrix(source.vertices(), world.ranks(), 2);
    let mean = |sent: u64| world.total(sent) as f64 / world.ranks() as f64;
    for (what, sent, model) in [
        ("bytes of the matrix", found.traffic.bytes, predicted.bytes),
        ("messages of the matrix", found.traffic.messages, predicted.messages),
        ("meetings of the matrix", found.traffic.meetings, predicted.meetings),
    ] {
        compare(&world, specification, (what, mean(sent), model, 0.5));
    }
}

/// What was sent and predicted to find the components of a graph.
fn of_components(world: &World, specification: &str, source: &Source<'_>) -> [(&'static str, f64, f64, f64); 2] {
    let part = PartOfGraph::<Unit>::load(world, source, Parts::Consecutive).expect("a part");
    let found = components(world, &part).expect("components");
    let predicted = predict_components(specification, world.ranks()).expect("a prediction");
    let bytes = world.total(found.traffic.bytes) as f64 / world.ranks() as f64;
    [
        ("bytes for components", bytes, predicted.bytes, 0.0),
        ("rounds for components", found.rounds as f64, predicted.rounds, 1.0),
    ]
}

/// Has rank 0 print what was sent and what was predicted, which may differ by a tenth, or by this much.
fn compare(world: &World, specification: &str, (what, sent, model, slack): (&str, f64, f64, f64)) {
    if world.rank() > 0 {
        return;
    }
    let off = 100.0 * (model / sent - 1.0);
    println!("{specification}, {} ranks: {what} {sent:.0}, predicted {model:.0}, {off:+.1} %", world.ranks());
    assert!(off.abs() <= 10.0 || (model - sent).abs() <= slack, "{specification}");
}
