use super::growth::grow;
use super::room::MOST_VERTICES as MOST;
use super::*;
use crate::cuda::device::testing::devices;
use crate::cuda::peers::tests::devices_that_reach_each_other;
use crate::graph::Unit;
use crate::testing::{Random, TestWeight, one_of_every_shape};
use crate::{Bfs, Engine, Solver, Sssp, generate};

const UNDER_TEST: [&str; 7] = [
    "regions:threads=32,exchange=host",
    "regions:threads=32,slots=0.1,vertices=6,exchange=host",
    "regions:threads=64",
    "regions:threads=32,blocks=3,vertices=7,slots=0.1,steps=1",
    "regions:threads=64,blocks=2,vertices=40,delta=20,slots=0",
    "regions:threads=96,vertices=1,delta=30,slots=0.3",
    "regions:threads=32,vertices=20,delta=100000,slots=0.5,steps=3",
];

/// Graphs with few arcs a vertex, on which searches go region by region.
fn takes(graph: &Graph) -> bool {
    greatest_degree(graph.csr().offsets()) <= Room::of(1, 0).longest_row()
}

fn draw(random: &mut Random, vertices: u64, count: usize) -> Vec<VertexId> {
    let mut drawn: Vec<_> = (0..count).map(|_| random.below(vertices) as VertexId).collect();
    drawn.sort_unstable();
    drawn.dedup();
    drawn
}

/// Searches by weights on one to four devices, and the CPU's.
fn agrees_by_weights<W: TestWeight>(seed: u64) {
    let mut random = Random(seed);
    let mut compared = 0;
    for (turn, (name, graph)) in one_of_every_shape::<W>(seed).into_iter().enumerate() {
        let vertices = graph.vertices() as u64;
        let is_large = vertices > 600 || graph.arcs() > 4000;
        if vertices == 0 || is_large || graph.has_negative_weights() || !takes(&graph) {
            continue;
        }
        let drawn = draw(&mut random, vertices, 3);
        let target = random.below(vertices) as VertexId;
        let requests = [Sssp::from(drawn[0]), Sssp::from(drawn.as_slice()), Sssp::from(drawn[0]).to(target)];
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        // Several devices take their time under the emulator.
        let count = if turn % 3 == 0 { 2 + turn / 3 % 2 } else { 1 };
        for devices in devices_that_reach_each_other(count, seed) {
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
            for (index, algorithm) in UNDER_TEST.into_iter().enumerate().skip(turn % 2).step_by(2) {
                let request = &requests[(turn + index) % requests.len()];
                let context = format!("{name}, {algorithm}, {request:?}, {count} devices, seed {seed}");
                let expected = cpu.solve(request.clone()).unwrap();
                let tree = solver.solve(request.clone().algorithm(algorithm));
                let tree = tree.unwrap_or_else(|error| panic!("{context}: {error}"));
                assert_eq!(tree.distances(), expected.distances(), "{context}");
                assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
                tree.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                compared += 1;
            }
        }
    }
    assert!(compared > 10 || devices_that_reach_each_other(1, seed).is_empty());
}

#[test]
fn regions_agree_by_integers() {
    agrees_by_weights::<u32>(1);
}

#[test]
fn regions_agree_by_floats() {
    agrees_by_weights::<f32>(2);
}

#[test]
fn regions_agree_by_doubles() {
    agrees_by_weights::<f64>(3);
}

#[test]
fn regions_agree_by_unit_weights() {
    agrees_by_weights::<Unit>(4);
}

#[test]
fn regions_agree_breadth_first() {
    let mut random = Random(5);
    for (turn, (name, graph)) in one_of_every_shape::<Unit>(5).into_iter().enumerate() {
        let vertices = graph.vertices() as u64;
        if vertices == 0 || vertices > 1000 || graph.arcs() > 6000 || !takes(&graph) {
            continue;
        }
        let drawn = draw(&mut random, vertices, 3);
        let requests = [
            Bfs::from(drawn[0]),
            Bfs::from(drawn.as_slice()),
            Bfs::from(drawn.as_slice()).within(2),
            Bfs::from(drawn[0]).to(random.below(vertices) as VertexId).count_paths(),
        ];
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        let count = if turn % 3 == 0 { 2 + turn / 3 % 3 } else { 1 };
        for devices in devices_that_reach_each_other(count, 5) {
            let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
            for (index, algorithm) in UNDER_TEST.into_iter().enumerate().skip(turn % 2).step_by(2) {
                let request = &requests[(turn / 2 + index / 2) % requests.len()];
                let context = format!("{name}, {algorithm}, {request:?}");
                let expected = cpu.solve(request.clone()).unwrap();
                let tree = solver.solve(request.clone().algorithm(algorithm));
                let tree = tree.unwrap_or_else(|error| panic!("{context}: {error}"));
                assert_eq!(tree.distances(), expected.distances(), "{context}");
                assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
                assert_eq!(tree.path_counts(), expected.path_counts(), "{context}");
                tree.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
            }
        }
    }
}

/// Every vertex has a position, regions have no more than they may, and records have all arcs.
#[test]
fn regions_have_all_vertices_and_fit_their_records() {
    for (name, graph) in one_of_every_shape::<u32>(7) {
        for (most, weight, count) in [(256, 4, 1), (256, 0, 3), (9, 8, 2), (1, 4, 1)] {
            let room = Room::of(most, weight);
            if greatest_degree(graph.csr().offsets()) > room.longest_row() {
                continue;
            }
            let parts = Parts::of(&graph, count);
            let ranges: Vec<_> = (0..count).map(|part| parts.vertices(part)).collect();
            let (regions, positions) = grow(graph.csr(), &ranges, room).unwrap();
            let mut seen = vec![false; graph.vertices()];
            for (part, (range, regions)) in ranges.iter().zip(&regions).enumerate() {
                let arcs = peers::arcs_of(&graph, range).len();
                let bound = room.most_regions(range.len(), arcs, greatest_degree(graph.csr().offsets()));
                assert!(regions.count() as u64 <= bound, "{name}: {} regions, {bound} expected", regions.count());
                for region in 0..regions.count() {
                    let members = regions.members(region);
                    assert!(!members.is_empty() && members.len() <= most, "{name}");
                    let leaving = |&&head: &&VertexId| !members.contains(&head);
                    let rows = members.iter().map(|&v| graph.neighbors(v));
                    let arcs = rows.clone().map(<[_]>::len).sum();
                    let ghosts = rows.map(|row| row.iter().filter(leaving).count()).sum();
                    assert!(room.bytes(members.len(), arcs, ghosts) <= room.most, "{name}");
                    for (place, &v) in members.iter().enumerate() {
                        assert!(range.contains(&(v as usize)) && !std::mem::replace(&mut seen[v as usize], true));
                        assert_eq!(positions[v as usize] as usize, region * MOST + place, "{name}, part {part}");
                    }
                }
            }
            assert!(seen.iter().all(|&seen| seen), "{name}");
        }
    }
}

/// On roads few arcs leave their region, whatever the order of the vertices.
#[test]
fn few_arcs_leave_their_region() {
    let graph = generate("roads:20000").unwrap();
    let all = 0..graph.vertices();
    let (regions, positions) = grow(graph.csr(), std::slice::from_ref(&all), Room::of(MOST, 0)).unwrap();
    let region_of = |v: VertexId| positions[v as usize] as usize / MOST;
    let leaving = (0..graph.vertices() as VertexId)
        .map(|v| graph.neighbors(v).iter().filter(|&&head| region_of(head) != region_of(v)).count())
        .sum::<usize>();
    assert!(leaving * 8 < graph.arcs(), "{leaving} of {} arcs leave", graph.arcs());
    assert!(regions[0].count() <= graph.vertices() / MOST + 1);
}

/// The slots are fewer than the regions that a search goes through at once, and searches follow each other.
#[test]
fn records_come_over_the_bus_again_where_slots_are_few() {
    let graph = generate("roads:3000,weights=1..1000").unwrap();
    let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
    let statistic = |tree: &crate::ShortestPathTree, name: &str| {
        tree.report().statistics.iter().find(|(counter, _)| *counter == name).map(|&(_, value)| value)
    };
    for device in devices(8) {
        let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
        let mut fetched = Vec::new();
        for slots in ["1", "0.05", "0"] {
            for source in [5, 2000] {
                let algorithm = format!("regions:threads=64,vertices=32,slots={slots}");
                let tree = solver.solve(Sssp::from(source).algorithm(algorithm)).unwrap();
                let expected = cpu.sssp(source).unwrap();
                assert_eq!(tree.distances(), expected.distances());
                assert_eq!(tree.predecessors(), expected.predecessors());
                fetched.push(statistic(&tree, "records_over_the_bus").unwrap());
            }
        }
        // Where all have a slot they come once; where there is one slot, more often than where there are some.
        assert_eq!(fetched[1], 0, "{fetched:?}");
        assert!(fetched[0] <= 3000 && fetched[0] < fetched[2] && fetched[3] < fetched[5], "{fetched:?}");
    }
}

#[test]
fn graphs_with_hubs_are_refused() {
    let star = Graph::from_edges((1..1000_u32).map(|leaf| (0, leaf))).unwrap();
    for device in devices(9) {
        let solver = Solver::builder(star.clone()).threads(1).device(device).open().unwrap();
        let error = solver.solve(Bfs::from(0).algorithm("regions")).unwrap_err().to_string();
        let too_many = solver.solve(Bfs::from(0).algorithm("regions:vertices=257")).unwrap_err().to_string();
        assert!(too_many.contains("`vertices=257` is more than 256"), "{too_many}");
        assert!(error.contains("up to 96 arcs each; some vertex has 999"), "{error}");
    }
}

/// Asked for on two devices, both have a part; where searches are not alone, each has one device.
#[test]
fn devices_share_a_search_that_is_alone() {
    let graph = generate("roads:2000,weights=1..9").unwrap();
    let expected = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().sssp(3).unwrap();
    for devices in devices_that_reach_each_other(2, 11) {
        let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
        let request = Sssp::from(3).algorithm("regions");
        assert_eq!(solver.decide(&request).unwrap().algorithm(), "regions:parts=2");
        let tree = solver.solve(request.clone()).unwrap();
        assert_eq!(tree.distances(), expected.distances());
        assert!(tree.report().statistics.contains(&("devices", 2)), "{:?}", tree.report());
        let on_one = |tree: crate::ShortestPathTree| {
            assert!(tree.report().statistics.contains(&("devices", 1)), "{:?}", tree.report());
            Ok(())
        };
        solver.solve_each(request, &[3, 5], on_one).unwrap();
    }
}

#[test]
fn distances_of_64_bits_are_found_where_32_do_not_do() {
    let graph = Graph::from_edges((0..300_u32).map(|v| (v, v + 1, 3_000_000_000_u32))).unwrap();
    for devices in devices_that_reach_each_other(2, 10) {
        let solver = Solver::builder(graph.clone()).threads(1).devices(devices).open().unwrap();
        let solve = |algorithm: &str| solver.solve(Sssp::from(0).algorithm(algorithm));
        let tree = solve("regions:vertices=10").unwrap();
        assert_eq!(tree.distance(300), Some(crate::Distance::Unsigned(900_000_000_000)));
        let refused = solve("regions:distances=32");
        assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{refused:?}");
    }
}

#[test]
fn cancelled_searches_end() {
    let graph = generate("roads:300,weights=1..9").unwrap();
    for count in [1, 2] {
        for devices in devices_that_reach_each_other(count, 7) {
            let control = Control::new();
            let builder = Solver::builder(graph.clone()).threads(1).devices(devices).control(control.clone());
            let solver = builder.open().unwrap();
            let solve = || solver.solve(Sssp::from(0).algorithm("regions:vertices=9"));
            assert_eq!(solve().unwrap().reached(), 300);
            control.cancel();
            assert!(matches!(solve(), Err(Error::Interrupted)));
        }
    }
}
