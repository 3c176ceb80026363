//! Every algorithm on ranks beside the engine of one machine, bit by bit: each rank makes the same graphs, takes its part of each,
//! searches with the others, and compares what it owns with what one machine finds.
//!
//! *Invariants.* Addresses that are handed to MPI are of lists that outlive the call.

use std::path::Path;
use std::time::Duration;

use warpath::formats::PartialFile;
use warpath::generate::WeightRange;
use warpath::graph::{
    Direction, Distances, SelfLoops, Unit, VertexId, WeightKind, weakly_connected_components, with_distances,
};
use warpath::parts::{DeviceMessages, Piece};
use warpath::problems::{Reduction, RowReductions};
use warpath::tables::write_npy;
use warpath::{Apsp, Bfs, Control, Error, Graph, GraphBuilder, Solver, Sssp};
use warpath_mpi::{
    CudaAware, Failed, MatrixFile, Pairs, PartOfGraph, Parts, Problem, RankDevices, RankMessages, Rows, Search,
    SharedMatrix, Source, Weighting, World, all_pairs, components, floyd_warshall, statistics,
};

const TIMEOUT: Duration = Duration::from_secs(120);

/// With this environment variable, ranks search on GPUs, and only some of the graphs: every search copies its part there anew. With `nccl` or `cuda-aware`
/// as its value messages go from GPU to GPU by that, and with `mpi` through the hosts.
const ON_GPUS: &str = "WARPATH_TEST_RANKS_ON_GPUS";
const OF_GRAPHS_ON_GPUS: usize = 13;

fn devices() -> RankDevices {
    if std::env::var_os(ON_GPUS).is_some() { RankDevices::Cuda } else { RankDevices::Cpu }
}

/// Runs on every rank.
pub(crate) fn as_rank() {
    let world = World::start(TIMEOUT, &Control::new()).expect("MPI starts");
    let asked = std::env::var(ON_GPUS).unwrap_or_default();
    let each = [RankMessages::Mpi, RankMessages::CudaAware, RankMessages::Nccl];
    world.carry_by(each.into_iter().find(|messages| messages.name() == asked).unwrap_or_default());
    let directory = tempfile::tempdir().expect("a folder");
    let step = if devices() == RankDevices::Cuda { OF_GRAPHS_ON_GPUS } else { 1 };
    for (index, (name, graph)) in graphs().into_iter().enumerate().step_by(step) {
        // Graphs take turns in where they come from and in what is asked; all graphs of a shape together see everything.
        let sources = sources_of(&graph, index / 3);
        match index % 3 {
            0 => check_searches(&world, &name, &graph, &Source::of(&graph), &sources),
            1 => {
                // Exchanges in several rounds.
                world.limit_words(7);
                check_searches(&world, &format!("{name}, in rounds"), &graph, &Source::of(&graph), &sources);
                world.limit_words(1 << 20);
            }
            _ => {
                // The formats take turns, too, where they have the weights.
                let fits = graph.weight_range().1 <= f64::from(i32::MAX);
                let name = match graph.weight_kind() {
                    WeightKind::Unit if index % 2 == 0 => "graph.sg",
                    WeightKind::U32 if index % 2 == 0 && fits => "graph.wsg",
                    _ => "graph.wpg",
                };
                let path = directory.path().join(name);
                warpath::write(&graph, &path).expect("a file");
                let stored = Source::open(&path, Weighting::AsStored).expect("a source");
                check_searches(&world, &format!("{name}, stored"), &graph, &stored, &sources);
            }
        }
        check_components(&world, &name, &graph);
        check_statistics(&world, &name, &graph);
        if index % 4 == 0 {
            check_all_pairs(&world, &name, &graph);
        }
        check_shared_matrix(&world, &name, &graph);
    }
    for specification in [
        "kron:9",
        "kron:9,weights=0..3",
        "uniform:8,weights=1..255",
        "grid:17x23,weights=1..9",
        "rgg:8",
        "scale-free:700,weights=1..9",
        "crawl:700",
        "crawl:30000,arcs=60000,reciprocity=0.5",
        "roads:700",
        "dense:40",
    ] {
        let graph = warpath::generate(specification).expect("a graph");
        let source = Source::open(specification.as_ref(), Weighting::AsStored).expect("a source");
        assert_eq!(source.weight_kind(), graph.weight_kind(), "{specification}");
        check_searches(&world, specification, &graph, &source, &sources_of(&graph, 2));
        let range = WeightRange { low: 1, high: 1000 };
        let random = Source::open(specification.as_ref(), Weighting::Random(range, 5)).expect("a source");
        let graph = graph.with_random_weights(1, 1000, 5).expect("weights");
        check_searches(&world, &format!("{specification}, random weights"), &graph, &random, &sources_of(&graph, 0));
    }
    errors_are_reported_by_one_rank(&world);
    words_go_between_addresses(&world);
    if devices() == RankDevices::Cuda && world.ranks() > 1 {
        let carried_by = world.carried_by();
        assert!(asked.is_empty() || asked == "1" || asked == carried_by.name(), "not by {asked}: {carried_by:?}");
        if world.rank() == 0 {
            println!("messages went by {}", carried_by.name());
        }
    }
}

/// What carries words between GPUs takes addresses of the host, too.
fn words_go_between_addresses(world: &World) {
    let messages = CudaAware::new(world);
    let (me, ranks) = (world.rank(), world.ranks());
    // From a rank to another go so many words, of which each tells where it belongs; to the next rank in two pieces.
    let length = |from: usize, to: usize| 40 * from + 3 * to;
    let word = |from: usize, to: usize, index: usize| (10_000 * from + 1_000 * to + index) as u32;
    let words =
        |from: usize, to: usize| (0..length(from, to)).map(move |index| word(from, to, index)).collect::<Vec<u32>>();
    let sent: Vec<Vec<u32>> = (0..ranks).map(|to| words(me, to)).collect();
    let mut received: Vec<Vec<u32>> = (0..ranks).map(|from| vec![0; length(from, me)]).collect();
    let pieces = |peer: usize, address: u64, words: usize, in_two: bool| {
        let half = if in_two { words / 2 } else { words };
        [Piece { peer, address, words: half }, Piece { peer, address: address + 4 * half as u64, words: words - half }]
    };
    let is_next = |from: usize, to: usize| (from + 1) % ranks == to;
    let going: Vec<_> =
        (0..ranks).flat_map(|to| pieces(to, sent[to].as_ptr() as u64, sent[to].len(), is_next(me, to))).collect();
    let coming: Vec<_> = (received.iter_mut().enumerate())
        .flat_map(|(from, words)| pieces(from, words.as_mut_ptr() as u64, words.len(), is_next(from, me)))
        .collect();
    // SAFETY: the pieces are within the lists, which nothing else touches meanwhile.
    unsafe { messages.exchange(&going, &coming) }.expect("words go");
    (0..ranks).for_each(|from| assert_eq!(received[from], words(from, me), "from {from} to {me}"));
    // Above half of the type's range, too.
    let mine = |rank: usize| [rank as u64 + 5, u64::MAX - rank as u64, if rank == 0 { 1 << 63 } else { u64::MAX }];
    let mut numbers = mine(me);
    messages.least(&mut numbers).expect("numbers are reduced");
    let least = |place: usize| (0..ranks).map(|rank| mine(rank)[place]).min();
    assert_eq!(numbers.map(Some), [least(0), least(1), least(2)]);
}

/// A name, the number of vertices, and edges.
type Shape = (&'static str, u64, Vec<(u32, u32)>);

/// Graphs of every shape that may go wrong, with every type of weight.
fn graphs() -> Vec<(String, Graph)> {
    let mut state = 7_u64;
    let mut random = move |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut shapes: Vec<Shape> = vec![
        ("one vertex", 1, vec![]),
        ("one vertex with a loop", 1, vec![(0, 0)]),
        ("two vertices", 2, vec![(0, 1)]),
        ("no edges", 9, vec![]),
        ("a path", 40, (0..39).map(|v| (v, v + 1)).collect()),
        ("a path backwards", 40, (0..39).map(|v| (v + 1, v)).collect()),
        ("a cycle", 12, (0..12).map(|v| (v, (v + 1) % 12)).collect()),
        ("a star", 70, (1..70).map(|v| (0, v)).collect()),
        ("two stars, joined", 90, (1..44).map(|v| (0, v)).chain((46..90).map(|v| (45, v))).chain([(3, 60)]).collect()),
        ("a hub to a hub", 200, (1..150).flat_map(|v| [(7, v), (190, v + 20)]).chain([(7, 190)]).collect()),
        ("parallel edges and loops", 6, (0..30).map(|i| (i % 6, i * i % 6)).collect()),
    ];
    for (name, vertices, edges) in [("sparse", 60, 70), ("dense", 30, 400), ("disconnected", 90, 60)] {
        shapes.push((name, vertices, (0..edges).map(|_| (random(vertices) as u32, random(vertices) as u32)).collect()));
    }
    let mut graphs = Vec::new();
    for (name, vertices, edges) in shapes {
        for direction in [Direction::Directed, Direction::Undirected] {
            let builder = || GraphBuilder::new().vertices(vertices).direction(direction).self_loops(SelfLoops::Keep);
            let mut numbers: Vec<u64> = edges.iter().map(|_| random(5)).collect();
            if edges.len() > 3 {
                numbers[2] = 0;
            }
            let weighted = |scale: f64| edges.iter().zip(&numbers).map(move |(&(u, v), &w)| (u, v, w as f64 * scale));
            let unsigned = |scale: u32| edges.iter().zip(&numbers).map(move |(&(u, v), &w)| (u, v, w as u32 * scale));
            let built = [
                builder().build_from(edges.iter().copied()),
                builder().build_from(unsigned(1)),
                // Distances leave the range of 32 bits.
                builder().build_from(unsigned(900_000_000)),
                builder().build_from(unsigned(1).map(|(u, v, w)| (u, v, w as i32))),
                builder().build_from(weighted(0.3).map(|(u, v, w)| (u, v, w as f32))),
                builder().build_from(weighted(0.1)),
                builder().build_from(edges.iter().map(|&(u, v)| (u, v, 0_u32))),
            ];
            for graph in built.into_iter().map(|graph| graph.expect("a graph")) {
                graphs.push((format!("{name}, {direction:?}, {}", graph.weight_kind()), graph));
            }
        }
    }
    graphs
}

/// The first vertex, the last one, or two, one of them named twice.
fn sources_of(graph: &Graph, turn: usize) -> Vec<VertexId> {
    let vertices = graph.vertices() as VertexId;
    match turn % 3 {
        0 => vec![0],
        1 => vec![vertices - 1],
        _ => vec![vertices / 2, 0, vertices / 2],
    }
}

/// How vertices are shared out, by turns.
const PARTS: [Parts; 4] = [Parts::Auto, Parts::Consecutive, Parts::Blocks(1), Parts::Blocks(4)];

/// All searches on a graph, beside those of one machine.
fn check_searches(world: &World, name: &str, graph: &Graph, source: &Source<'_>, sources: &[VertexId]) {
    let solver = Solver::builder(graph.clone()).threads(1).open().expect("a solver");
    for problem in [Problem::Bfs, Problem::Sssp] {
        for algorithm in problem.algorithms() {
            let parts = PARTS[(graph.arcs() + algorithm.name.len()) % PARTS.len()];
            let search = Search {
                algorithm: Some(algorithm.name.to_owned()),
                predecessors: true,
                devices: devices(),
                parts,
                ..Search::new(problem, sources.iter().map(|&source| source.into()).collect()).verified()
            };
            let found = search.run(world, source);
            if algorithm.undirected_only && graph.is_directed() {
                assert!(found.is_err(), "{name}");
                continue;
            }
            let found = found.unwrap_or_else(|failed| panic!("{name}, {}: {failed:?}", algorithm.name));
            let tree = match problem {
                Problem::Bfs => solver.solve(Bfs::from(sources)),
                Problem::Sssp => solver.solve(Sssp::from(sources)),
            };
            let tree = tree.expect("a tree");
            let ranks = world.ranks();
            let what = format!("{name}, {} from {sources:?} on {ranks} ranks, {parts:?}", algorithm.name);
            if let Parts::Blocks(block) = parts {
                assert_eq!(found.block, Some(block), "{what}");
            }
            assert_eq!(found.gpu.is_some(), devices() == RankDevices::Cuda, "{what}");
            assert_eq!(found.arcs, graph.arcs() as u64, "{what}");
            assert_eq!(found.reached, tree.reached(), "{what}");
            assert_eq!(found.max_distance, tree.max_distance(), "{what}");
            if !matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64) {
                assert_eq!(found.distance_sum, tree.distance_sum(), "{what}");
            }
            assert_eq!(found.number_type, tree.report().semiring, "{what}");
            let owned = found.owned.start as usize..found.owned.end as usize;
            let own = slice(tree.distances(), owned.clone());
            assert_eq!(found.distances, own, "{what}, vertices {owned:?}");
            let nearest = found.nearest_sources(world).expect("sources");
            let of_tree = tree.nearest_sources().expect("sources").expect("there are predecessors");
            let expected = owned.clone().map(|v| tree.distance(v as VertexId).map(|_| u64::from(of_tree[v])));
            assert!(nearest.into_iter().eq(expected), "{what}");
            let far = graph.vertices() as VertexId - 1;
            let path = found.path_to(world, far.into()).expect("a path");
            let expected =
                tree.path_to(far).map(|path| path.vertices().iter().map(|&v| v.into()).collect::<Vec<u64>>());
            assert_eq!(path, expected, "{what}, to {far}");
            let predecessors = found.predecessors.expect("they were asked for");
            let expected: Vec<Option<u64>> =
                owned.clone().map(|v| tree.predecessor(v as VertexId).map(u64::from)).collect();
            assert_eq!(predecessors, expected, "{what}, vertices {owned:?}");
        }
    }
}

/// The components of all ranks are those of one machine, with the same numbers.
fn check_components(world: &World, name: &str, graph: &Graph) {
    let parts = PARTS[graph.arcs() % PARTS.len()];
    let part = PartOfGraph::<Unit>::load(world, &Source::of(graph), parts).expect("a part");
    let found = components(world, &part).unwrap_or_else(|failed| panic!("{name}: {failed:?}"));
    let expected = weakly_connected_components(graph).expect("components");
    let own = found.owned.start as usize..found.owned.end as usize;
    let own: Vec<u64> = expected.of[own].iter().map(|&component| component.into()).collect();
    assert_eq!(found.of, own, "{name} on {} ranks", world.ranks());
    assert_eq!(found.count, expected.count as u64, "{name}");
    let mut sizes = expected.sizes().expect("sizes");
    sizes.sort_unstable();
    let of_ranks = found.sizes.iter().flat_map(|&(size, count)| std::iter::repeat_n(size, count as usize));
    assert!(of_ranks.eq(sizes), "{name}");
}

/// The statistics of all ranks are those of one machine; of the diameter they may have another bound.
fn check_statistics(world: &World, name: &str, graph: &Graph) {
    let found = statistics(world, Source::of(graph), None).unwrap_or_else(|failed| panic!("{name}: {failed:?}"));
    let expected = graph.statistics(&Control::new()).expect("statistics");
    assert_eq!((found.vertices, found.arcs), (expected.vertices, expected.arcs), "{name}");
    assert_eq!(found.weight_range, expected.weight_range, "{name}");
    let degrees = &expected.degrees;
    assert_eq!((found.least_degree, found.greatest_degree), (degrees.least, degrees.greatest), "{name}");
    assert_eq!((found.isolated, &found.histogram), (degrees.isolated, &degrees.histogram), "{name}");
    let components = expected.weak_components;
    assert_eq!((found.components, found.largest_component), (components.count, components.largest), "{name}");
    // Both lie between half of the diameter and the diameter.
    let (one, other) = (found.estimated_diameter, expected.estimated_diameter);
    assert!(one <= 2 * other && other <= 2 * one, "{name}: {one} and {other}");
}

/// The matrix of all ranks is that of one machine, byte for byte.
fn check_all_pairs(world: &World, name: &str, graph: &Graph) {
    let solver = Solver::builder(graph.clone()).threads(1).open().expect("a solver");
    let is_float = matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64);
    // Others round sums of floats in an order that depends on the rows asked for.
    let request = if is_float { Apsp::all().algorithm("repeated-dijkstra") } else { Apsp::all() };
    let matrix = solver.solve(request.clone()).expect("a matrix");
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path().join("matrix.npy");
    let file = (world.rank() == 0).then(|| PartialFile::create(&path, &Control::new()).expect("a file"));
    let rows = Rows::Matrix(MatrixFile { file, writes: true, resume: false });
    let found = all_pairs(world, &solver, &request, Pairs::default(), rows)
        .unwrap_or_else(|failed| panic!("{name}: {failed:?}"));
    assert_eq!(found.finite_pairs, matrix.finite_pairs(), "{name}");
    assert_eq!(found.max_distance, matrix.max_distance(), "{name}");
    if !is_float {
        assert_eq!(found.distance_sum, matrix.distance_sum(), "{name}");
    }
    check_file(world, name, &path, graph.vertices(), matrix.distances());
    check_reductions(world, name, &solver, request);
}

/// What ranks reduce from their rows together is what one machine reduces.
fn check_reductions(world: &World, name: &str, solver: &Solver, request: Apsp) {
    let all = [Reduction::Eccentricity, Reduction::Closeness, Reduction::Harmonic, Reduction::Histogram];
    let vertices = solver.graph().vertices() as u32;
    let some: Vec<u32> = (0..7).map(|index| index * 5).filter(|&v| v < vertices).collect();
    for pairs in [Pairs::default(), Pairs { sources: Some(&some), targets: Some(&some) }] {
        let [mut expected, mut found] = [(); 2].map(|()| RowReductions::new(all));
        let mut one = request.clone();
        if let Some(some) = pairs.sources {
            one = one.from(some).to(some);
        }
        solver.solve(one.into_sink(&mut expected)).expect("reductions");
        all_pairs(world, solver, &request, pairs, Rows::Reduced(&mut found))
            .unwrap_or_else(|failed| panic!("{name}: {failed:?}"));
        assert_eq!(found.eccentricities(), expected.eccentricities(), "{name}");
        let near = |a: &f64, b: &f64| (a - b).abs() <= 1e-12 * a.abs() || a == b;
        let are_near = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b));
        assert!(are_near(&found.closeness(), &expected.closeness()), "{name}");
        assert!(are_near(found.harmonic(), expected.harmonic()), "{name}");
        if world.rank() == 0 {
            assert!(found.histogram().bins().eq(expected.histogram().bins()), "{name}");
        }
    }
}

/// The matrix that ranks share is that of one machine, byte for byte.
fn check_shared_matrix(world: &World, name: &str, graph: &Graph) {
    let kind = graph.weight_kind();
    let is_float = matches!(kind, WeightKind::F32 | WeightKind::F64);
    let least = if kind == WeightKind::Unit { 1.0 } else { graph.weight_range().0 };
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path().join("matrix.npy");
    let file = (world.rank() == 0).then(|| PartialFile::create(&path, &Control::new()).expect("a file"));
    let verify = graph.arcs() == 0 || least > 0.0;
    let request = SharedMatrix { verify, file, writes: true, memory: None };
    let found = floyd_warshall(world, &Source::of(graph), request);
    if is_float || least < 0.0 {
        assert!(found.is_err(), "{name}");
        return;
    }
    let solver = Solver::builder(graph.clone()).threads(1).open().expect("a solver");
    let matrix = solver.solve(Apsp::all().algorithm("repeated-dijkstra")).expect("a matrix");
    let (found, arcs) = found.unwrap_or_else(|failed| panic!("{name}: {failed:?}"));
    assert_eq!(arcs, graph.arcs() as u64, "{name}");
    let facts = (matrix.finite_pairs(), matrix.max_distance(), matrix.distance_sum());
    assert_eq!((found.finite_pairs, found.max_distance, found.distance_sum), facts, "{name}");
    check_file(world, name, &path, graph.vertices(), matrix.distances());
}

/// The file that the ranks wrote has these distances between all vertices. One machine may take 64 bits for an algorithm that could need them, and
/// ranks another algorithm.
fn check_file(world: &World, name: &str, path: &Path, vertices: usize, distances: &Distances) {
    if world.rank() != 0 {
        return;
    }
    let bytes = std::fs::read(path).expect("the file");
    let npy = |distances: &Distances| {
        let mut bytes = Vec::new();
        write_npy(&mut bytes, &[vertices, vertices], distances).expect("bytes");
        bytes
    };
    assert!(bytes == npy(distances) || bytes == npy(&narrow(distances)), "{name} on {} ranks", world.ranks());
}

/// Distances in 32 bits, if all of them have room.
fn narrow(distances: &Distances) -> Distances {
    let Distances::U64(wide) = distances else { return distances.clone() };
    let narrow = |&distance: &u64| if distance == u64::MAX { Ok(u32::MAX) } else { u32::try_from(distance) };
    Distances::U32(wide.iter().map(narrow).collect::<Result<_, _>>().expect("32 bits suffice"))
}

fn slice(distances: &Distances, range: std::ops::Range<usize>) -> Distances {
    fn part<T: warpath::graph::DistanceValue>(values: &[T], range: std::ops::Range<usize>) -> Distances {
        T::into_distances(values[range].to_vec())
    }
    with_distances!(distances, values => part(values, range))
}

fn errors_are_reported_by_one_rank(world: &World) {
    let source = Source::open("grid:3x3".as_ref(), Weighting::AsStored).expect("a source");
    let search = |sources: Vec<u64>, algorithm: Option<&str>| Search {
        algorithm: algorithm.map(str::to_owned),
        ..Search::new(Problem::Bfs, sources)
    };
    for (search, message) in [
        (search(vec![9], None), "source 9 is out of range: there are 9 vertices"),
        (search(vec![0], Some("x")), "ranks have no algorithm `x`; they have direction-optimizing, top-down"),
        (
            Search { parts: Parts::Blocks(3), ..search(vec![0], None) },
            "blocks of 3 vertices: it has to be a power of two",
        ),
    ] {
        match search.run(world, &source) {
            Err(Failed::Here(Error::InvalidRequest(found))) if world.rank() == 0 => assert_eq!(found, message),
            Err(Failed::Elsewhere(_)) if world.rank() > 0 => {}
            other => panic!("{other:?}"),
        }
    }
    let negative = Source::open("grid:3x3,weights=-5..5".as_ref(), Weighting::AsStored).expect("a source");
    let search = Search { problem: Problem::Sssp, ..search(vec![0], None) };
    let error = search.run(world, &negative).expect_err("negative weights");
    assert_eq!(error.kind(), warpath::ErrorKind::Usage);
}
