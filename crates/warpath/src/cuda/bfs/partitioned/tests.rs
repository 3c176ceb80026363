//! Searches on several devices, on the emulator and on GPUs if there are several, against the CPU engine.

use super::*;
use crate::cuda::peers::tests::devices_that_reach_each_other;
use crate::graph::Unit;
use crate::testing::{Random, one_of_every_shape};
use crate::{Bfs, Control, Engine, Solver, generate};

fn on(devices: &[Arc<dyn Device>], graph: &Graph) -> Solver {
    Solver::builder(graph.clone()).threads(1).devices(devices.to_vec()).open().unwrap()
}

const UNDER_TEST: [&str; 7] = [
    "partitioned:threads=64,exchange=host",
    "partitioned:threads=32,blocks=2,bottom-up=0.01,exchange=host",
    "partitioned:threads=32,bottom-up=0,exchange=host,best-tails=yes",
    "partitioned:threads=64",
    "partitioned:threads=32,blocks=3,bottom-up=0.01,best-tails=yes",
    "partitioned:threads=64,blocks=2,bottom-up=0,best-tails=yes",
    "partitioned:threads=32,bottom-up=1000000",
];

fn devices_agree_with_the_cpu(seed: u64) {
    let mut random = Random(seed);
    for (turn, (name, graph)) in one_of_every_shape::<Unit>(seed).into_iter().enumerate() {
        let vertices = graph.vertices() as u64;
        let is_left_out = cfg!(emulator_sanitized) && turn % 8 > 3;
        if is_left_out || vertices == 0 || vertices > 1000 || graph.arcs() > 6000 {
            continue;
        }
        let mut drawn: Vec<VertexId> = (0..3).map(|_| random.below(vertices) as VertexId).collect();
        drawn.sort_unstable();
        drawn.dedup();
        let target = random.below(vertices) as VertexId;
        let requests = [
            Bfs::from(drawn[0]),
            Bfs::from(drawn.as_slice()),
            Bfs::from(drawn.as_slice()).within(2),
            Bfs::from(drawn[0]).to(target),
        ];
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        let count = 1 + turn % 4;
        for devices in devices_that_reach_each_other(count, seed) {
            let solver = on(&devices, &graph);
            for (index, algorithm) in UNDER_TEST.into_iter().enumerate() {
                // Every other algorithm, and the others on the next graph and with the next seed.
                if (turn + index + seed as usize) % 2 == 1 {
                    continue;
                }
                let request = &requests[(turn + index) / 2 % requests.len()];
                let context = format!("{name}, {algorithm}, {request:?}, {count} devices, seed {seed}");
                let expected = cpu.solve(request.clone()).unwrap();
                let tree = solver
                    .solve(request.clone().algorithm(algorithm))
                    .unwrap_or_else(|error| panic!("{context}: {error}"));
                assert_eq!(tree.distances(), expected.distances(), "{context}");
                assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
                tree.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                assert_eq!(tree.report().engine.matches(|c: char| c.is_ascii_digit()).count(), count);
            }
        }
    }
}

#[test]
fn devices_together_agree_under_one_schedule() {
    devices_agree_with_the_cpu(1);
}

#[test]
#[cfg_attr(emulator_sanitized, ignore = "takes long under sanitizers; the other test runs the same kernels")]
fn devices_together_agree_under_another_schedule() {
    devices_agree_with_the_cpu(2);
}

/// Several parts with long rows, and offsets of 64 bits.
#[test]
fn graphs_with_hubs_are_shared_out() {
    for (graph, count) in [("kron:11", 2), ("kron:11", 3), ("crawl:3000", 2), ("crawl:3000", 3)] {
        let graph = generate(graph).unwrap();
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        for devices in devices_that_reach_each_other(count, 5) {
            crate::cuda::graph::WIDE_OFFSETS.set(count == 3);
            let solver = on(&devices, &graph);
            for source in [5, 1200] {
                let expected = cpu.bfs(source).unwrap();
                let request = Bfs::from(source).algorithm("partitioned:threads=64,best-tails=yes");
                let decision = solver.decide(&request).unwrap();
                let tree = solver.solve(request).unwrap();
                assert_eq!(tree.report().device_bytes, decision.plan().device_bytes());
                assert_eq!(tree.distances(), expected.distances());
                assert_eq!(tree.predecessors(), expected.predecessors());
                assert!(source != 5 || expected.reached() > 1000, "a search has wide levels");
                if expected.reached() > 1000 {
                    let counter =
                        |name| tree.report().statistics.iter().find(|(counter, _)| *counter == name).unwrap().1;
                    assert!(counter("bottom_up_levels") > 0 && counter("devices") == count as u64);
                }
            }
            crate::cuda::graph::WIDE_OFFSETS.set(false);
        }
    }
}

/// A graph that one device has no room for is shared out, and what several have no room for keeps its arcs on the host.
#[test]
fn a_graph_too_large_for_one_device_is_shared_out() {
    let graph = generate("uniform:9").unwrap();
    let expected = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().bfs(3).unwrap();
    for devices in devices_that_reach_each_other(2, 6) {
        let open =
            |memory| Solver::builder(graph.clone()).threads(1).devices(devices.clone()).memory(memory).open().unwrap();
        let bytes =
            |algorithm| open(u64::MAX).decide(&Bfs::from(3).algorithm(algorithm)).unwrap().plan().device_bytes();
        let (alone, shared) = (bytes("direction-optimizing"), bytes("partitioned"));
        assert!(shared < alone);
        for (memory, algorithm) in [
            (alone, "direction-optimizing"),
            (alone - 1, "partitioned:parts=2"),
            (shared, "partitioned:parts=2"),
            (shared - 1, "zero-copy"),
        ] {
            let solver = open(memory);
            assert_eq!(solver.decide(&Bfs::from(3)).unwrap().algorithm(), algorithm);
            let tree = solver.bfs(3).unwrap();
            assert_eq!(tree.distances(), expected.distances());
            assert_eq!(tree.predecessors(), expected.predecessors());
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_cancelled_searches_end() {
    let graph = generate("roads:100").unwrap();
    for devices in devices_that_reach_each_other(2, 7) {
        let control = Control::new();
        let builder = Solver::builder(graph.clone()).threads(1).devices(devices).control(control.clone());
        let solver = builder.open().unwrap();
        let solve = |algorithm: &str| solver.solve(Bfs::from(0).algorithm(algorithm));
        for wrong in ["partitioned:parts=3", "partitioned:parts=9", "partitioned:parts=0", "partitioned:threads=48000"]
        {
            let error = solve(wrong).unwrap_err();
            assert!(matches!(error, Error::InvalidRequest(_)), "{wrong}: {error}");
        }
        assert_eq!(solve("partitioned:parts=1").unwrap().report().engine, "cuda:0");
        let reached = solve("partitioned").unwrap().reached();
        control.cancel();
        assert!(matches!(solve("partitioned"), Err(Error::Interrupted)));
        assert_eq!(reached, 100);
    }
}

/// Devices without access to each other's memory exchange through the host's, and the plan has it.
#[cfg(emulator)]
#[test]
fn devices_out_of_reach_exchange_through_the_host() {
    use crate::Sssp;
    use crate::cuda::device::emulator::Emulator;
    let graph = generate("roads:600,weights=1..9").unwrap();
    let device = |ordinal| Arc::new(Emulator::out_of_reach(3, ordinal)) as Arc<dyn Device>;
    let solver = on(&[device(0), device(1)], &graph);
    let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap();
    for algorithm in ["partitioned", "partitioned:threads=32", "regions"] {
        let by_levels = Bfs::from(3).algorithm(algorithm);
        let decision = solver.decide(&by_levels).unwrap();
        assert!(decision.algorithm().contains("exchange=host"), "{}", decision.algorithm());
        let plan = format!("{:?}", decision.plan());
        assert!(plan.contains("what devices exchange, in pinned memory"), "{plan}");
        let tree = solver.solve(by_levels).unwrap();
        assert_eq!(tree.distances(), cpu.bfs(3).unwrap().distances());
        assert_eq!(tree.report().engine, "cuda:0,1");
        let tree = solver.solve(Sssp::from(3).algorithm(algorithm)).unwrap();
        assert_eq!(tree.distances(), cpu.sssp(3).unwrap().distances());
        assert_eq!(tree.report().engine, "cuda:0,1");
    }
    // Where the engine is left to choose, who asks for this gets all devices.
    let auto = Solver::builder(graph.clone()).threads(1).devices(vec![device(0), device(1)]).engine(Engine::Auto);
    let auto = auto.open().unwrap();
    for asked in ["partitioned", "regions:parts=2"] {
        let decision = auto.decide(&Bfs::from(3).algorithm(asked)).unwrap();
        assert!(decision.algorithm().contains("parts=2") && decision.algorithm().contains("exchange=host"), "{asked}");
        assert_eq!(auto.solve(Bfs::from(3).algorithm(asked)).unwrap().report().engine, "cuda:0,1");
    }
    let error = solver.solve(Bfs::from(3).algorithm("partitioned:exchange=peers")).unwrap_err().to_string();
    assert!(error.contains("has no access to the memory of cuda:"), "{error}");
}

#[cfg(emulator)]
#[test]
fn a_device_that_fails_ends_the_search_of_all() {
    use crate::cuda::device::emulator::Emulator;
    use crate::cuda::device::failing::{Failing, Fault};
    let graph = generate("roads:200").unwrap();
    let expected = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().bfs(3).unwrap();
    let mut failures = 0;
    for fails_at in (1..80).step_by(7) {
        for place in 0..2 {
            let failing = Arc::new(Failing::new(4, Fault::Lost, fails_at));
            let mut devices = [1, 1].map(|ordinal| Arc::new(Emulator::numbered(7, ordinal)) as Arc<dyn Device>);
            devices[place] = failing.clone();
            match on(&devices, &graph).solve(Bfs::from(3).algorithm("partitioned:threads=32")) {
                Ok(tree) => assert_eq!(tree.distances(), expected.distances()),
                Err(Error::Device(_)) => failures += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(failures > 5, "{failures}");
}
