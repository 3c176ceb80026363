//! The tables of algorithms are public: whatever task an algorithm is given, it answers, or says why not.

use warpath::algorithms::{AlgorithmInfo, Parameters};
use warpath::cpu::apsp::{ApspOutput, ApspTask, MinPlusOnCpu};
use warpath::cpu::bfs::{BfsTask, UNREACHED, levels_of_many};
use warpath::cpu::sssp::SsspTask;
use warpath::cpu::{Team, apsp, bfs, sssp};
use warpath::graph::{F64ToF64, MinPlus, U32ToU32, UnitToU32};
use warpath::{Control, Error, Graph, Result, VertexId};

const VERTICES: u32 = 300;

fn unweighted() -> Graph {
    // Wide enough for several threads.
    Graph::from_edges((0..VERTICES).flat_map(|u| (0..150).map(move |k| (u, (u * 7 + k * 11) % VERTICES)))).unwrap()
}

fn is_refused<T: std::fmt::Debug>(what: &AlgorithmInfo, answer: Result<T>) {
    assert!(matches!(answer, Err(Error::InvalidRequest(_))), "{}: {answer:?}", what.name);
}

#[test]
fn breadth_first_searches_take_any_sources() {
    let graph = unweighted();
    let (parameters, control) = (Parameters::default(), Control::new());
    for threads in [1, 3] {
        let team = Team::new(threads).unwrap();
        for algorithm in bfs::ALGORITHMS {
            let solve = |sources: &[VertexId], targets: &[VertexId]| {
                let (parameters, team, control) = (&parameters, &team, &control);
                let task = BfsTask { graph: &graph, sources, targets, cutoff: UNREACHED, parameters, team, control };
                (algorithm.solve)(&task)
            };
            let expected = solve(&[5, 7], &[]).unwrap().levels;
            // As many as there are vertices, and more.
            for count in [2, VERTICES as usize + 1, 40 * VERTICES as usize] {
                let sources: Vec<VertexId> = [5, 7].into_iter().cycle().take(count).collect();
                assert_eq!(solve(&sources, &[]).unwrap().levels, expected, "{}", algorithm.info.name);
            }
            assert!(solve(&[], &[]).unwrap().levels.iter().all(|&level| level == UNREACHED));
            for beyond in [VERTICES, u32::MAX] {
                is_refused(&algorithm.info, solve(&[0, beyond], &[]));
                is_refused(&algorithm.info, solve(&[0], &[beyond]));
            }
        }
        for width in [0, 1, 64, 1000] {
            let many = |sources: &[VertexId]| levels_of_many(&graph, sources, width, &team, &control, &|_, _| Ok(()));
            many(&[3; 2000]).unwrap();
            assert!(matches!(many(&[0, VERTICES]), Err(Error::InvalidRequest(_))));
        }
    }
}

fn searches_by_weight<L: MinPlusOnCpu>(graph: &Graph, other: &Graph) {
    let (parameters, control) = (Parameters::default(), Control::new());
    let vertices = graph.vertices() as VertexId;
    let adjacency = graph.csr().adjacency::<L::Weight>().unwrap();
    let of_other = other.csr().adjacency::<L::Weight>().unwrap();
    for threads in [1, 3] {
        let team = Team::new(threads).unwrap();
        let (parameters, team, control) = (&parameters, &team, &control);
        for algorithm in sssp::ALGORITHMS {
            let solve = |adjacency, sources: &[VertexId], targets: &[VertexId]| {
                let cutoff = <L::Distance as warpath::graph::DistanceValue>::UNREACHABLE;
                algorithm.solve::<L>(&SsspTask {
                    adjacency,
                    graph,
                    sources,
                    targets,
                    cutoff,
                    parameters,
                    team,
                    control,
                })
            };
            let expected = solve(adjacency, &[5, 7], &[]).unwrap().distances;
            let again = solve(adjacency, &[5, 7, 7, 5].repeat(500), &[]).unwrap().distances;
            assert!(again == expected, "{}", algorithm.info.name);
            is_refused(&algorithm.info, solve(adjacency, &[vertices], &[]));
            is_refused(&algorithm.info, solve(adjacency, &[0], &[vertices]));
            is_refused(&algorithm.info, solve(of_other, &[0], &[]));
        }
        for algorithm in apsp::ALGORITHMS {
            let solve = |adjacency, sources: &[VertexId], targets: Option<&[VertexId]>, cells: usize| {
                let mut matrix = vec![<L::Distance as warpath::graph::DistanceValue>::ZERO; cells];
                let task = ApspTask::<L> {
                    adjacency,
                    graph,
                    sources,
                    targets,
                    block_bytes: 1 << 20,
                    parameters,
                    team,
                    control,
                };
                algorithm.solve(&task, ApspOutput::Matrix(&mut matrix))
            };
            solve(adjacency, &[1, 1], Some(&[2, 2, 3]), 6).unwrap();
            is_refused(&algorithm.info, solve(adjacency, &[1, vertices], Some(&[2]), 2));
            is_refused(&algorithm.info, solve(adjacency, &[1], Some(&[vertices]), 1));
            is_refused(&algorithm.info, solve(adjacency, &[1], Some(&[2]), 2));
            is_refused(&algorithm.info, solve(adjacency, &[1], None, 7));
            is_refused(&algorithm.info, solve(of_other, &[1], Some(&[2]), 1));
        }
    }
}

#[test]
fn searches_by_weight_take_any_sources() {
    let weighted = |factor: u32| {
        let arcs = (0..VERTICES).flat_map(|u| (0..150).map(move |k| (u, (u * 7 + k * 11) % VERTICES, u + factor * k)));
        Graph::from_edges(arcs).unwrap()
    };
    searches_by_weight::<U32ToU32>(&weighted(1), &weighted(2));
    searches_by_weight::<UnitToU32>(&unweighted(), &unweighted());
    let floats = |length: f64| Graph::from_edges((0..40_u32).map(|v| (v, v * 3 % 41, length))).unwrap();
    searches_by_weight::<F64ToF64>(&floats(0.5), &floats(2.5));
    assert_eq!(F64ToF64::NAME, "f64->f64");
}
