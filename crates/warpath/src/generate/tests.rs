//! What all generators share: the same graph for any number of threads, sizes, refusals.

use super::*;
use crate::graph::Weights;
use crate::team::Team;

const SMALL: [&str; 13] = [
    "kron:11",
    "uniform:12,edges-per-vertex=17",
    "grid:200x171",
    "rgg:12",
    "scale-free:9000",
    "crawl:20000",
    "crawl:9000,arcs=100000,site=200,reciprocity=0.6",
    "crawl:9000,arcs=50000,order=random,out-degree=10",
    "roads:9000",
    "roads:9000,edges=9500,weights=unit",
    "roads:900,weights=3..7",
    "dense:90",
    "kron:9,weights=-5..5",
];

fn same(a: &Graph, b: &Graph) -> bool {
    let weights = match (a.weights(), b.weights()) {
        (Weights::Unit(_), Weights::Unit(_)) => true,
        (Weights::U32(a), Weights::U32(b)) => a[..] == b[..],
        (Weights::I32(a), Weights::I32(b)) => a[..] == b[..],
        _ => false,
    };
    weights && a.csr().offsets() == b.csr().offsets() && a.csr().targets() == b.csr().targets()
}

#[test]
fn the_graph_depends_on_the_seed_and_not_on_the_threads() {
    for specification in SMALL {
        let seeded = |seed: u64, threads| {
            let team = Team::new(threads).unwrap();
            team.install(|| generate(&format!("{specification},seed={seed}"))).unwrap()
        };
        let first = seeded(3, 1);
        assert!(same(&first, &seeded(3, 2)), "{specification}");
        assert!(same(&first, &seeded(3, 3)), "{specification}");
        assert_eq!(same(&first, &seeded(4, 2)), specification.starts_with("grid"), "{specification}");
        assert!(same(&generate(specification).unwrap(), &seeded(DEFAULT_SEED, 1)), "{specification}");
    }
}

#[test]
fn graphs_are_what_their_recipes_say() {
    for specification in SMALL {
        let recipe: Recipe = specification.parse().unwrap();
        let graph = recipe.generate(&Control::new()).unwrap();
        assert_eq!(graph.vertices() as u64, recipe.vertices());
        assert_eq!(graph.is_directed(), recipe.is_directed());
        match specification.split(':').next() {
            Some("kron") => assert!(graph.arcs() as u64 <= recipe.arcs()),
            Some("rgg") => assert!((graph.arcs() as f64 / recipe.arcs() as f64 - 1.0).abs() < 0.1),
            _ => assert_eq!(graph.arcs() as u64, recipe.arcs(), "{specification}"),
        }
        assert!(graph.edges().all(|(u, v, _)| u != v), "{specification}");
        let (csr, directed) = (graph.csr(), graph.is_directed());
        let copy = Csr::new(csr.offsets().to_vec(), csr.targets().to_vec(), csr.weights().clone());
        assert!(Graph::from_csr(copy.unwrap(), directed, graph.labels().clone()).is_ok(), "{specification}");
        assert!(graph.owned_bytes() <= recipe.plan().memory_bytes(), "{specification}");
    }
}

#[test]
fn wrong_specifications_are_refused_with_the_reason() {
    for (bad, reason) in [
        (
            "kronn:20",
            "there is no generator `kronn`; there are kron, uniform, grid, rgg, scale-free, crawl, roads, dense",
        ),
        ("kron", "generator `kron`: the size is missing: kron:SCALE"),
        ("kron:", "generator `kron:`: the size is missing: kron:SCALE"),
        ("kron:seed=1", "generator `kron:seed=1`: the size is missing: kron:SCALE"),
        ("kron:32", "generator `kron:32`: `32` is not a scale from 0 to 31"),
        ("kron:-1", "generator `kron:-1`: `-1` is not a scale from 0 to 31"),
        (
            "kron:5,edges-per-vertex=0",
            "generator `kron:5,edges-per-vertex=0`: `edges-per-vertex=0` is not a whole number from 1",
        ),
        ("kron:5,seed", "generator `kron:5,seed`: `seed` is not of the form option=value"),
        ("kron:5,", "generator `kron:5,`: `` is not of the form option=value"),
        ("kron:5,seed=1,seed=1", "generator `kron:5,seed=1,seed=1`: the option `seed` is there twice"),
        ("kron:5,x=1", "generator `kron:5,x=1`: there is no option `x`; there are edges-per-vertex, seed, weights"),
        ("kron:5,weights=5..1", "generator `kron:5,weights=5..1`: weights 5..1 are none: 5 is greater than 1"),
        ("grid:5", "generator `grid:5`: `5` is not of the form ROWSxCOLUMNS, two numbers from 1"),
        ("grid:5x0", "generator `grid:5x0`: `5x0` is not of the form ROWSxCOLUMNS, two numbers from 1"),
        ("grid:65536x65536", "generator `grid:65536x65536`: more than 4294967294 vertices are not possible"),
        (
            "grid:9999999999x9999999999",
            "generator `grid:9999999999x9999999999`: more than 4294967294 vertices are not possible",
        ),
        ("rgg:5,radius=x", "generator `rgg:5,radius=x`: the radius `x` is not a number from 0 to 2"),
        ("rgg:5,radius=NaN", "generator `rgg:5,radius=NaN`: the radius `NaN` is not a number from 0 to 2"),
        ("dense:0", "generator `dense:0`: `0` is not a number of vertices from 1 to 4294967294"),
        (
            "scale-free:4294967295",
            "generator `scale-free:4294967295`: `4294967295` is not a number of vertices from 8 to 4294967294",
        ),
    ] {
        assert_eq!(bad.parse::<Recipe>().unwrap_err().to_string(), reason);
    }
}

#[test]
fn what_does_not_fit_is_refused_before_it_is_begun() {
    for large in [
        "kron:31,edges-per-vertex=18446744073709551615",
        "dense:4294967294",
        "rgg:31,radius=2",
        "crawl:4294967294",
        "roads:4294967294",
    ] {
        assert!(matches!(generate(large), Err(Error::OutOfMemory { .. })), "{large}");
    }
}

#[test]
fn the_smallest_sizes_work() {
    for (specification, vertices, arcs) in [
        ("kron:0", 1, 0),
        ("rgg:0", 1, 0),
        ("grid:1x1", 1, 0),
        ("dense:1", 1, 0),
        ("roads:1", 1, 0),
        ("kron:1,seed=2", 2, 2),
    ] {
        let graph = generate(specification).unwrap();
        assert_eq!((graph.vertices(), graph.arcs()), (vertices, arcs), "{specification}");
    }
}

#[test]
fn it_can_be_watched_and_cancelled() {
    let control = Control::new();
    let (inner, recipe) = (control.clone(), "kron:14".parse::<Recipe>().unwrap());
    let watched = control.watched_by(move |progress| {
        // Each of four parts is drawn twice.
        assert_eq!((progress.stage, progress.total), ("generate", 8));
        inner.cancel();
    });
    assert!(matches!(recipe.generate(&watched), Err(Error::Interrupted)));
}
