//! Tables with less memory on the devices than they would like.

use super::*;

#[test]
fn batches_shrink_to_the_memory_and_what_does_not_fit_is_refused() {
    let graph = Graph::from_edges((0..1000_u32).flat_map(|v| [(v, v * 7 % 1001, 3_u32), (v, v + 1, 4)])).unwrap();
    let unit = Graph::from_edges((0..1000_u32).flat_map(|v| [(v, v * 7 % 1001), (v, v + 1)])).unwrap();
    let sources: Vec<VertexId> = (0..100).collect();
    for device in devices(5) {
        for graph in [&graph, &unit] {
            let request = || Apsp::all().from(sources.clone()).algorithm("batched:threads=32");
            let ample = on(device.clone(), graph);
            let needed = ample.decide(&request()).unwrap().plan().device_bytes();
            let solver =
                |bytes| Solver::builder(graph.clone()).threads(1).device(device.clone()).memory(bytes).open().unwrap();
            let less = solver(needed * 3 / 4);
            let plan = less.decide(&request()).unwrap().plan().clone();
            assert!(plan.device_bytes() <= needed * 3 / 4, "{} {needed}", plan.device_bytes());
            let summary = less.solve(request().into_sink(&mut ())).unwrap();
            let whole = ample.solve(request().into_sink(&mut ())).unwrap();
            assert_eq!(summary.distance_sum(), whole.distance_sum());
            // Facts take less room than rows: batches are larger.
            assert!(summary.report().device_bytes <= needed * 3 / 4);
            let all = less.solve(request()).unwrap();
            assert_eq!(all.report().device_bytes, plan.device_bytes());
            assert!(counted(&all.report().statistics, "batches") > 1);
            match solver(10_000).solve(request()) {
                Err(Error::OutOfMemory { needed, available: 10_000, .. }) => assert!(needed > 10_000),
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Batches suit the device with least memory left.
#[cfg(emulator)]
#[test]
fn batches_shrink_to_the_fullest_device() {
    use crate::cuda::device::emulator::Emulator;
    let graph = crate::generate("uniform:9").unwrap();
    let device = |ordinal, bytes| Arc::new(Emulator::numbered(3, ordinal).with_memory(bytes)) as Arc<dyn Device>;
    let request = || Apsp::all().algorithm("batched:threads=32");
    let ample = on(device(0, 1 << 30), &graph);
    let needed = ample.decide(&request()).unwrap().plan().device_bytes();
    let devices = vec![device(0, 1 << 30), device(1, needed * 3 / 4)];
    let solver = Solver::builder(graph.clone()).threads(2).devices(devices).open().unwrap();
    let decision = solver.decide(&request()).unwrap();
    assert!(decision.plan().devices() == 2 && decision.plan().device_bytes() <= needed * 3 / 4);
    assert_eq!(solver.solve(request()).unwrap().distances(), ample.solve(request()).unwrap().distances());
}

/// A table of a graph that the device has no room for: the host keeps the arcs, and all searches of a batch share what is read of them.
#[test]
fn arcs_that_do_not_fit_the_device_stay_on_the_host() {
    let directed = Graph::from_edges((0..1000_u32).flat_map(|v| [(v, v * 7 % 1001), (v, v + 1), (v, v / 3)])).unwrap();
    let undirected = crate::generate("uniform:9").unwrap();
    for graph in [&directed, &undirected] {
        let sources: Vec<VertexId> = (0..100).collect();
        let expected = on_cpu(graph).solve(Apsp::all().from(sources.clone())).unwrap();
        for device in devices(5) {
            let request = |algorithm| Apsp::all().from(sources.clone()).algorithm(algorithm);
            let ample = on(device.clone(), graph);
            let bytes = |algorithm| ample.decide(&request(algorithm)).unwrap().plan().device_bytes();
            let (there, here) = (bytes("batched:rows=1,threads=32"), bytes("batched:rows=1,threads=32,arcs=host"));
            assert!(here < there);
            let solver =
                Solver::builder(graph.clone()).threads(1).device(device.clone()).memory(there - 1).open().unwrap();
            let chosen = solver.decide(&Apsp::all().from(sources.clone())).unwrap();
            assert_eq!(chosen.algorithm(), "batched");
            assert!(
                chosen.plan().memory_items().iter().any(|item| item.what == "ends of the arcs in pinned memory"),
                "{:?}",
                chosen.plan()
            );
            for algorithm in ["batched:threads=32", "batched:threads=32,arcs=host"] {
                let all = solver.solve(request(algorithm)).unwrap();
                assert!(all.report().device_bytes < there);
                assert_eq!(all.distances(), expected.distances());
            }
            let there = solver.solve(request("batched:threads=32,arcs=device"));
            assert!(matches!(there, Err(Error::OutOfMemory { .. })));
        }
    }
    let weighted = Graph::from_edges([(0, 1, 5_u32)]).unwrap();
    for device in devices(5) {
        let refused = on(device, &weighted).solve(Apsp::all().algorithm("batched:arcs=host"));
        assert!(matches!(refused, Err(Error::InvalidRequest(_))));
    }
}

/// The same by weights: one search after another.
#[test]
fn weights_that_do_not_fit_the_device_stay_on_the_host() {
    let arcs = (0..1000_u32).flat_map(|v| [(v, v * 7 % 1001, v % 9), (v, v + 1, 4), (v, v / 3, u32::MAX / 2 - v)]);
    let graph = Graph::from_edges(arcs).unwrap();
    let sources: Vec<VertexId> = (0..20).collect();
    let request = || Apsp::all().from(sources.clone());
    let expected = on_cpu(&graph).solve(request()).unwrap();
    for device in devices(5) {
        let ample = on(device.clone(), &graph);
        let bytes = |algorithm| ample.decide(&request().algorithm(algorithm)).unwrap().plan().device_bytes();
        let least = bytes("zero-copy:offsets=host,rows=1");
        let mut planned = Vec::new();
        for memory in [bytes("batched:rows=1,threads=32") - 1, bytes("zero-copy:short-rows=0,rows=1"), least] {
            let solver =
                Solver::builder(graph.clone()).threads(1).device(device.clone()).memory(memory).open().unwrap();
            let chosen = solver.decide(&request()).unwrap();
            assert_eq!(chosen.algorithm(), "zero-copy");
            planned.push(chosen.plan().device_bytes());
            let all = solver.solve(request()).unwrap();
            assert!(all.report().device_bytes <= memory);
            assert_eq!(all.distances(), expected.distances());
        }
        assert!(planned.is_sorted_by(|more, less| more > less), "{planned:?}");
        let solver = Solver::builder(graph.clone()).threads(1).device(device).memory(least - 1).open().unwrap();
        assert!(matches!(solver.solve(request().algorithm("zero-copy")), Err(Error::OutOfMemory { .. })));
    }
}

/// Sweeps over a hierarchy with ever less memory leave ever more shortcuts to the host, and tell the plan of it.
#[test]
fn shortcuts_that_do_not_fit_the_device_stay_on_the_host() {
    let directed = crate::generate("roads:1500,weights=1..1000").unwrap();
    let one_way = GraphBuilder::new().vertices(directed.vertices() as u64);
    let one_way = one_way
        .build_from(directed.edges().map(|(u, v, weight)| (u, v, weight as u32 % 97 + u % 5)).collect::<Vec<_>>())
        .unwrap();
    for graph in [&directed, &one_way] {
        let sources: Vec<VertexId> = (0..150).map(|index| index * 11 % 1500).collect();
        let request = || Apsp::all().from(sources.clone()).algorithm("hierarchy");
        let expected = on_cpu(graph).solve(Apsp::all().from(sources.clone()).algorithm("repeated-searches")).unwrap();
        for device in devices(6) {
            let ample = on(device.clone(), graph);
            assert_eq!(ample.solve(request()).unwrap().distances(), expected.distances());
            // The hierarchy is there now, and its size is known.
            let bytes = |layout: &str| {
                let request = request().algorithm(format!("hierarchy:rows=32,shortcuts={layout}"));
                ample.decide(&request).unwrap().plan().device_bytes()
            };
            let layouts = ["device", "fronts", "host"].map(bytes);
            assert!(layouts.is_sorted_by(|more, less| more > less), "{layouts:?}");
            for memory in [layouts[0] - 1, layouts[1] - 1] {
                let solver =
                    Solver::builder(graph.clone()).threads(1).device(device.clone()).memory(memory).open().unwrap();
                solver.metric().unwrap();
                let chosen = solver.decide(&request()).unwrap();
                assert!(
                    chosen.plan().memory_items().iter().any(|item| item.what == "shortcuts in pinned memory"),
                    "{:?}",
                    chosen.plan()
                );
                let all = solver.solve(request()).unwrap();
                assert!(all.report().device_bytes <= memory);
                assert_eq!(all.distances(), expected.distances());
                let facts = solver.solve(request().into_sink(&mut ())).unwrap();
                assert!(facts.report().device_bytes <= memory);
                assert_eq!(facts.distance_sum(), expected.distance_sum());
                let table = solver.solve(request().to([7, 3, 900])).unwrap();
                for (row, (column, target)) in (0..150).flat_map(|row| [(row, (0, 7)), (row, (1, 3)), (row, (2, 900))])
                {
                    assert_eq!(table.distance(row, column), expected.distance(row, target));
                }
            }
        }
    }
}
