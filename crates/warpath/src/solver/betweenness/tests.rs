use super::*;
use crate::Solver;
use crate::graph::{Direction, Graph, GraphBuilder, Weights};
use crate::testing::{Random, TestWeight, graphs_of_every_shape, one_of_every_shape, size};

/// Distances and numbers of shortest paths between all pairs, by another way: the lengths by Floyd and Warshall, and then the counts of
/// each source over vertices in the order of their distances, by in-arcs.
struct Pairs {
    vertices: usize,
    distances: Vec<f64>,
    counts: Vec<f64>,
}

impl Pairs {
    fn of(graph: &Graph) -> Self {
        let n = graph.vertices();
        let mut distances = vec![f64::INFINITY; n * n];
        let arcs: Vec<(usize, usize, f64)> =
            graph.edges().map(|(u, v, weight)| (u as usize, v as usize, weight)).collect();
        (0..n).for_each(|v| distances[v * n + v] = 0.0);
        for &(u, v, weight) in &arcs {
            distances[u * n + v] = distances[u * n + v].min(weight);
        }
        for k in 0..n {
            for u in 0..n {
                for v in 0..n {
                    let through = distances[u * n + k] + distances[k * n + v];
                    if through < distances[u * n + v] {
                        distances[u * n + v] = through;
                    }
                }
            }
        }
        let mut counts = vec![0.0; n * n];
        for s in 0..n {
            let row = &distances[s * n..][..n];
            let mut order: Vec<usize> = (0..n).filter(|&v| row[v].is_finite()).collect();
            order.sort_by(|&u, &v| row[u].total_cmp(&row[v]));
            counts[s * n + s] = 1.0;
            for &v in &order[1..] {
                let tight = arcs.iter().filter(|&&(u, head, weight)| head == v && row[u] + weight == row[v]);
                counts[s * n + v] = tight.map(|&(u, _, _)| counts[s * n + u]).sum();
            }
        }
        Pairs { vertices: n, distances, counts }
    }

    /// The share of the shortest paths from `s` to `t` that have the path from `u` of `length` to `v` in them.
    fn share(&self, s: usize, t: usize, u: usize, v: usize, length: f64) -> f64 {
        let at = |u: usize, v: usize| u * self.vertices + v;
        let is_tight = self.distances[at(s, u)] + length + self.distances[at(v, t)] == self.distances[at(s, t)];
        if self.distances[at(s, t)].is_finite() && is_tight {
            self.counts[at(s, u)] * self.counts[at(v, t)] / self.counts[at(s, t)]
        } else {
            0.0
        }
    }

    fn vertices(&self, sources: &[VertexId], targets: &[VertexId], endpoints: bool) -> Vec<f64> {
        let pairs = || sources.iter().flat_map(|&s| targets.iter().map(move |&t| (s as usize, t as usize)));
        let of = |v: usize| {
            let counted = pairs().filter(|&(s, t)| s != t && (endpoints || v != s && v != t));
            counted.map(|(s, t)| self.share(s, t, v, v, 0.0)).sum()
        };
        (0..self.vertices).map(of).collect()
    }

    fn arcs(&self, graph: &Graph, sources: &[VertexId], targets: &[VertexId]) -> Vec<f64> {
        let pairs = || sources.iter().flat_map(|&s| targets.iter().map(move |&t| (s as usize, t as usize)));
        let of = |(u, v, weight): (VertexId, VertexId, f64)| {
            pairs().filter(|(s, t)| s != t).map(|(s, t)| self.share(s, t, u as usize, v as usize, weight)).sum()
        };
        graph.edges().map(of).collect()
    }
}

fn close(found: &[f64], wanted: &[f64]) -> bool {
    found.len() == wanted.len()
        && found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0))
}

/// All requests on a graph, compared with sums over all pairs.
fn agrees(name: &str, graph: &Graph, seed: u64) {
    let mut random = Random(seed);
    let pairs = Pairs::of(graph);
    let all: Vec<VertexId> = (0..graph.vertices() as VertexId).collect();
    let mut some = |many: u64| -> Vec<VertexId> {
        (0..random.below(many)).map(|_| random.below(graph.vertices() as u64) as VertexId).collect()
    };
    let (sources, targets) = (some(9), some(40));
    let mut distinct = targets.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let mut bits = None;
    for threads in [1, 3] {
        let solver = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(threads).open().unwrap();
        let found = solver.solve(Betweenness::new().with_arcs()).unwrap();
        assert!(close(found.dependencies(), &pairs.vertices(&all, &all, false)), "{name}");
        assert!(close(found.arcs().unwrap(), &pairs.arcs(graph, &all, &all)), "{name}");
        // The same bits on all numbers of threads.
        let these: Vec<u64> =
            found.dependencies().iter().chain(found.arcs().unwrap()).map(|sum| sum.to_bits()).collect();
        assert!(*bits.get_or_insert_with(|| these.clone()) == these, "{name}");
        let found = solver.solve(Betweenness::new().with_endpoints()).unwrap();
        assert!(close(found.dependencies(), &pairs.vertices(&all, &all, true)), "{name}");
        assert!(found.arcs().is_none());
        let some = Betweenness::new().from(sources.as_slice()).to(targets.as_slice()).with_arcs();
        let found = solver.solve(some).unwrap();
        assert!(close(found.dependencies(), &pairs.vertices(&sources, &distinct, false)), "{name}");
        assert!(close(found.arcs().unwrap(), &pairs.arcs(graph, &sources, &distinct)), "{name}");
        assert_eq!(found.error(), 0.0);
    }
}

fn agrees_by_weights<W: TestWeight>(seed: u64, draw: impl Fn(&mut Random) -> W) {
    let mut random = Random(seed);
    for (name, graph) in one_of_every_shape::<W>(seed) {
        // Few different lengths make many shortest paths; both directions of an edge have the same one.
        let lengths: Vec<W> = (0..3).map(|_| draw(&mut random)).collect();
        let of = |(u, v, _): (VertexId, VertexId, f64)| lengths[(u.wrapping_mul(v).wrapping_add(u ^ v) % 3) as usize];
        let weights = W::into_weights(graph.edges().map(of).collect());
        let graph = graph.with_weights(weights).unwrap();
        if graph.vertices() <= size(120, 20) {
            agrees(&name, &graph, seed);
        }
    }
}

#[test]
fn betweenness_is_the_sum_over_all_pairs() {
    for seed in 0..size(2, 1) {
        for (name, graph) in graphs_of_every_shape::<crate::graph::Unit>(seed) {
            if graph.vertices() <= size(140, 20) {
                agrees(&name, &graph, seed);
            }
        }
    }
}

#[test]
fn betweenness_by_weights_is_the_sum_over_all_pairs() {
    agrees_by_weights::<u32>(11, |random| 1 + random.below(3) as u32);
    agrees_by_weights::<i32>(12, |random| 1 + random.below(3) as i32);
    agrees_by_weights::<f32>(13, |random| (1 + random.below(3)) as f32);
    agrees_by_weights::<f64>(14, |random| (1 + random.below(3)) as f64 / 2.0);
}

/// 2^1100 paths lead through a chain of as many diamonds: more than floats hold.
#[test]
fn counts_of_paths_may_be_as_large_as_they_like() {
    let links = size(1100_u32, 5);
    let chain = (0..links).flat_map(|k| [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(u, v)| (3 * k + u, 3 * k + v)));
    let graph = Graph::from_edges(chain.collect::<Vec<_>>()).unwrap();
    let weighted = graph.clone().with_weights(Weights::U32(vec![7; graph.arcs()])).unwrap();
    for graph in [graph, weighted] {
        let found = Solver::builder(graph).threads(2).open().unwrap().solve(Betweenness::new()).unwrap();
        let counted = |name| found.report().statistics.iter().find(|(counter, _)| *counter == name).unwrap().1;
        // From the first hundred diamonds or so, with three vertices each, there are too many.
        assert_eq!(counted("repeated_searches") > 3 * 90, links == 1100);
        let wanted = (0..=3 * links).map(|v| {
            let (link, side) = (u64::from(v / 3), v % 3 != 0);
            let links = u64::from(links);
            if side {
                (3 * link + 1) as f64 * (3 * (links - link - 1) + 1) as f64 / 2.0
            } else {
                (3 * link) as f64 * (3 * (links - link)) as f64
            }
        });
        assert!(close(&found.scores(), &wanted.collect::<Vec<_>>()));
    }
}

#[test]
fn scores_are_scaled_as_others_scale_them() {
    let edges = [(0, 1), (1, 2), (2, 3)];
    let undirected = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
    let found = Solver::new(undirected).unwrap().solve(Betweenness::new()).unwrap();
    assert_eq!(found.dependencies(), [0.0, 4.0, 4.0, 0.0]);
    assert_eq!(found.scores(), [0.0, 2.0, 2.0, 0.0]);
    assert_eq!(found.normalized(), [0.0, 4.0 / 6.0, 4.0 / 6.0, 0.0]);
    let found =
        Solver::new(Graph::from_edges(edges).unwrap()).unwrap().solve(Betweenness::new().with_endpoints()).unwrap();
    assert_eq!(found.scores(), [3.0, 5.0, 5.0, 3.0]);
    assert_eq!(found.normalized(), [3.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 3.0 / 12.0]);
    // An edge has the paths of both directions.
    let graph =
        GraphBuilder::new().direction(Direction::Undirected).build_from([(0, 1), (1, 2), (0, 2), (2, 3)]).unwrap();
    let solver = Solver::new(graph.clone()).unwrap();
    let found = solver.solve(Betweenness::new().with_arcs()).unwrap();
    assert_eq!(found.edges(&graph), [(0, 1, 1.0), (0, 2, 2.0), (1, 2, 2.0), (2, 3, 3.0)]);
    let found = solver.solve(Betweenness::new().from([3]).with_arcs()).unwrap();
    assert_eq!(found.edges(&graph), [(0, 1, 0.0), (0, 2, 0.5), (1, 2, 0.5), (2, 3, 1.5)]);
    assert!(solver.solve(Betweenness::new()).unwrap().edges(&graph).is_empty());
    for count in [0, 1, 2] {
        let graph = GraphBuilder::new().vertices(count).build_from(Vec::<(VertexId, VertexId)>::new()).unwrap();
        let found = Solver::new(graph).unwrap().solve(Betweenness::new()).unwrap();
        assert_eq!(found.normalized(), vec![0.0; count as usize]);
    }
}

/// Estimates from samples are near the exact values, nearer than the error that they are said to have at most, and exact from all.
#[test]
fn a_sample_estimates() {
    let graph = crate::generate("scale-free:900").unwrap();
    let solver = Solver::builder(graph).threads(2).open().unwrap();
    let exact = solver.solve(Betweenness::new()).unwrap().normalized();
    let mut last = f64::INFINITY;
    for count in [0, 30, 300, 899, 2000] {
        let found = solver.solve(Betweenness::new().sample(count, 5)).unwrap();
        assert_eq!(found.sources().len(), count.min(900));
        let mut sources = found.sources().to_vec();
        sources.sort_unstable();
        sources.dedup();
        assert_eq!(sources.len(), count.min(900));
        let farthest = found.normalized().iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(farthest <= found.error() + 1e-12 && found.error() <= last && found.error() <= 1.0, "{farthest}");
        assert!(count == 0 || farthest < 0.2, "{count}: {farthest}");
        last = found.error();
    }
    assert_eq!(last, 0.0);
}

#[test]
fn requests_that_have_no_answer_are_errors() {
    let graph = Graph::from_edges([(0, 1, 0_u32), (1, 2, 3)]).unwrap();
    let solver = Solver::builder(graph.clone()).threads(1).open().unwrap();
    let error = |request| solver.solve(request).unwrap_err().to_string();
    assert!(error(Betweenness::new()).contains("weights above 0"));
    assert!(error(Betweenness::new().from([3])).contains("source"));
    assert!(error(Betweenness::new().to([3])).contains("target"));
    let negative = Graph::from_edges([(0, 1, -2_i32), (1, 2, 3)]).unwrap();
    assert!(Solver::new(negative).unwrap().solve(Betweenness::new()).unwrap_err().to_string().contains("above 0"));
    let huge = Graph::from_edges([(0, 1, 3e38_f32), (1, 2, 3e38)]).unwrap();
    assert!(matches!(Solver::new(huge).unwrap().solve(Betweenness::new()), Err(Error::DistanceOverflow { .. })));
    // Another path leads there, within the range.
    let closed = Graph::from_edges([(0, 1, 3e38_f32), (1, 2, 3e38), (0, 2, 1.0), (2, 3, 1.0)]).unwrap();
    assert_eq!(
        Solver::new(closed).unwrap().solve(Betweenness::new().from([0])).unwrap().scores(),
        [0.0, 0.0, 1.0, 0.0]
    );
    let little = Solver::builder(graph).threads(1).memory(64).open().unwrap();
    let unit = Solver::builder(Graph::from_edges([(0, 1), (1, 2)]).unwrap()).threads(1).memory(64).open().unwrap();
    for device in crate::cuda::device::testing::devices(1) {
        let floats = Graph::from_edges([(0, 1, 1_f32)]).unwrap();
        let solver = Solver::builder(floats).device(device).open().unwrap();
        assert!(solver.solve(Betweenness::new()).unwrap_err().to_string().contains("on the CPU only"));
    }
    assert!(little.solve(Betweenness::new()).is_err());
    assert!(matches!(unit.solve(Betweenness::new()), Err(Error::OutOfMemory { .. })));
}

/// What a device finds, and the CPU.
fn compare_with_a_device(name: &str, graph: &Graph, requests: &[Betweenness]) {
    let on_cpu = Solver::builder(graph.clone()).threads(2).engine(Engine::Cpu).open().unwrap();
    for request in requests {
        let expected = on_cpu.solve(request.clone()).unwrap();
        for device in crate::cuda::device::testing::devices(2) {
            let solver = Solver::builder(graph.clone()).threads(2).device(device).open().unwrap();
            let found = solver.solve(request.clone()).unwrap();
            assert_eq!(found.report().engine, "cuda:0", "{name}");
            assert_eq!(found.dependencies(), expected.dependencies(), "{name}");
            assert_eq!(found.arcs(), expected.arcs(), "{name}");
        }
    }
}

#[test]
fn a_device_finds_the_same_bits() {
    // Long rows, many paths, searches that a device hands back, and more of them than go at once.
    for specification in ["kron:8,edges-per-vertex=40", "uniform:7", "grid:60x3", "scale-free:300", "crawl:300"] {
        let graph = crate::generate(specification).unwrap();
        let some = Betweenness::new().from([1, 1, 5]);
        let requests = [
            Betweenness::new().sample(size(70, 4), 1),
            some.clone(),
            some.clone().with_arcs().with_endpoints(),
            some.to([2, 4, 9, 30, 100]).with_arcs().with_endpoints(),
        ];
        compare_with_a_device(specification, &graph, &requests);
    }
}

#[test]
fn a_device_finds_the_same_bits_by_weights() {
    // More searches than go at once; long rows; the last graph has distances beyond 32 bits.
    for (specification, sources) in [
        ("kron:8,edges-per-vertex=40,weights=1..255", size(40, 2)),
        ("uniform:7,weights=1..2", 3),
        ("grid:30x3,weights=5..5", 2),
        ("crawl:300,weights=1..4", 2),
        ("uniform:6,edges-per-vertex=2,weights=1..4294967295", 5),
    ] {
        let graph = crate::generate(specification).unwrap();
        let some = Betweenness::new().from([1, 1, 5]).to([2, 4, 9, 30, 50]);
        let requests = [Betweenness::new().sample(sources, 1).with_arcs(), some.with_arcs().with_endpoints()];
        compare_with_a_device(specification, &graph, &requests);
    }
}

#[test]
fn cancelled_work_ends() {
    let control = crate::Control::new();
    control.cancel();
    let graph = crate::generate("uniform:8").unwrap();
    let solver = Solver::builder(graph).threads(2).control(control).open().unwrap();
    assert!(matches!(solver.solve(Betweenness::new()), Err(Error::Interrupted)));
}
