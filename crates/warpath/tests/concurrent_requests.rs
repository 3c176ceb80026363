//! Requests from many threads at once, from rayon pools, from callbacks of the solver itself, with callbacks that fail,
//! and cancelled at any moment: an answer or an error, never a hang.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rayon::prelude::*;
use warpath::problems::{RowBlock, RowSink, TableShape};
use warpath::{Apsp, Bfs, Closure, Control, Engine, Error, Graph, Plan, Result, ShortestPathTree, Solver, Sssp};

/// Fails if `work` takes so long that it must hang, even on the slowest machine.
fn without_hanging(work: impl FnOnce() + Send + 'static) {
    const LONG: Duration = Duration::from_secs(300);
    let (done, is_done) = channel();
    let worker = std::thread::spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        let _ = done.send(());
        result.unwrap_or_else(|panic| resume_unwind(panic));
    });
    if is_done.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
        eprintln!("it hangs");
        std::process::abort();
    }
    worker.join().unwrap_or_else(|panic| resume_unwind(panic));
}

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A directed graph with weights, wide enough for every algorithm that uses several threads.
fn graph(seed: u64) -> Arc<Graph> {
    random_graph(seed, 400, 45_000)
}

fn random_graph(seed: u64, vertices: u64, arcs: u64) -> Arc<Graph> {
    let mut random = Random(seed);
    let arcs =
        (0..arcs).map(|_| (random.below(vertices) as u32, random.below(vertices) as u32, random.below(100) as u32 + 1));
    Arc::new(Graph::from_edges(arcs.collect::<Vec<_>>()).unwrap())
}

fn solver(graph: &Arc<Graph>, threads: usize) -> Solver {
    Solver::builder(graph.clone()).engine(Engine::Cpu).threads(threads).open().unwrap()
}

/// How many kinds of requests [`request`] knows.
const KINDS: usize = 12;

/// Puts a request of this kind; returns a number from its answer, which is the same whoever asks.
fn request(solver: &Solver, kind: usize, source: u32) -> Result<u64> {
    let two = [source, source + 1];
    let mut sum = 0;
    let add = |tree: ShortestPathTree| {
        sum += tree.reached();
        Ok(())
    };
    Ok(match kind {
        0 => solver.bfs(source)?.reached(),
        1 => solver.sssp(source)?.reached(),
        2 => solver.solve(Sssp::from(source).algorithm("delta-stepping"))?.reached(),
        3 => solver.solve(Apsp::all().from(two))?.distances().len() as u64,
        4 => solver.solve(Apsp::all().from(two).into_sink(&mut ()))?.finite_pairs(),
        5 => solver.solve(Closure::new())?.reachable_counts()?[source as usize],
        6 => solver.solve(Closure::new().counts_only())?.counts()[source as usize],
        7 => solver.path(source, source + 1)?.map_or(0, |path| path.vertices().len() as u64),
        8 => solver.solve_each(Sssp::from(0), &[source, 5, 6, 7, 8], add).map(|()| sum)?,
        9 => solver.solve_each(Bfs::from(0), &[source; 70], add).map(|()| sum)?,
        10 => solver.solve(Bfs::from(source).algorithm("direction-optimizing").count_paths())?.reached(),
        _ => {
            let plan = solver.decide(&Apsp::all())?.plan().memory_bytes();
            plan.min(solver.decide_each(&Sssp::from(0), &two)?.plan().memory_bytes())
        }
    })
}

fn answers(graph: &Arc<Graph>) -> Vec<u64> {
    (0..KINDS).map(|kind| request(&solver(graph, 1), kind, 3).unwrap()).collect()
}

#[test]
fn a_rayon_loop_over_one_solver() {
    without_hanging(|| {
        let graph = graph(1);
        let solver = Solver::new(graph.clone()).unwrap();
        let all: Vec<_> = (0..200).into_par_iter().map(|s| solver.solve(Apsp::all().from([s, s + 1]))).collect();
        assert!(all.into_iter().all(|matrix| matrix.is_ok_and(|matrix| matrix.sources().len() == 2)));
    });
}

#[test]
fn every_request_from_rayon_pools_and_from_threads() {
    without_hanging(|| {
        for (seed, threads) in [(2, 1), (3, 2), (4, 5)] {
            for outer in [1, 2, 16] {
                // Nothing that requests share is prepared yet.
                let graph = graph(seed);
                let solver = solver(&graph, threads);
                let pool = rayon::ThreadPoolBuilder::new().num_threads(outer).build().unwrap();
                let found: Vec<u64> = pool.install(|| {
                    let all = (0..4 * KINDS).into_par_iter();
                    all.map(|index| request(&solver, index % KINDS, 3).unwrap()).collect()
                });
                let expected = answers(&graph);
                assert!(found.chunks(KINDS).all(|found| found[..KINDS - 1] == expected[..KINDS - 1]));
                std::thread::scope(|scope| {
                    for first in 0..outer.min(4) {
                        let (solver, expected) = (&solver, &expected);
                        scope.spawn(move || {
                            for kind in (first..KINDS - 1).chain(0..first) {
                                assert_eq!(request(solver, kind, 3).unwrap(), expected[kind]);
                            }
                        });
                    }
                });
            }
        }
    });
}

/// Solvers can be shared and sent, and borrow nothing.
const _: fn() = || {
    fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Solver>();
};

#[test]
fn eight_threads_share_a_solver() {
    without_hanging(|| {
        let wide = graph(11);
        let narrow = Arc::new(Graph::from_edges((0..40_000_u32).map(|v| (v, v + 1, v % 7))).unwrap());
        for graph in [wide, narrow] {
            for threads in [1, 2, 3] {
                let solver = Arc::new(solver(&graph, threads));
                let expected: Vec<ShortestPathTree> =
                    (0..4).flat_map(|source| [solver.bfs(source).unwrap(), solver.sssp(source).unwrap()]).collect();
                let expected = Arc::new(expected);
                let workers: Vec<_> = (0..8)
                    .map(|worker| {
                        let (solver, expected) = (solver.clone(), expected.clone());
                        std::thread::spawn(move || {
                            for round in 0..6 {
                                let source = (worker + round) % 4;
                                let trees = [solver.bfs(source).unwrap(), solver.sssp(source).unwrap()];
                                for (tree, expected) in trees.iter().zip(&expected[2 * source as usize..]) {
                                    assert_eq!(tree.distances(), expected.distances());
                                    assert_eq!(tree.predecessors(), expected.predecessors());
                                    tree.verify(solver.graph()).unwrap();
                                }
                            }
                        })
                    })
                    .collect();
                workers.into_iter().for_each(|worker| worker.join().unwrap());
            }
        }
    });
}

#[test]
fn what_a_graph_makes_once_is_made_for_many_at_once() {
    without_hanging(|| {
        for seed in 0..8 {
            let graph = graph(seed);
            let arcs: usize = (0..64).into_par_iter().map(|_| graph.transpose().unwrap().arcs()).sum();
            assert_eq!(arcs, 64 * graph.arcs());
        }
    });
}

/// Asserts that a solver refuses everything that one of its callbacks asks for.
fn refuses_everything(solver: &Solver) {
    for kind in 0..KINDS {
        match request(solver, kind, 3) {
            Err(Error::InvalidRequest(message)) => assert!(message.contains("callback"), "{message}"),
            other => panic!("{kind}: {other:?}"),
        }
    }
    assert!(matches!(solver.device_memory(), Err(Error::InvalidRequest(_))));
}

/// A sink that calls a function with each block.
struct Calling<F>(F);

impl<F: FnMut() -> Result<()> + Send> RowSink for Calling<F> {
    fn plan(&self, _: u64, _: u64, _: u64, _: &mut Plan) {}
    fn begin(&mut self, _: &TableShape<'_>, _: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        Ok(0)
    }
    fn rows(&mut self, _: &RowBlock<'_>) -> Result<()> {
        (self.0)()
    }
}

/// Makes a solver, and calls `callback` with it from every place where it hands results to the caller's code.
fn from_every_callback(
    graph: &Arc<Graph>,
    threads: usize,
    callback: impl Fn(&Solver) -> Result<()> + Sync,
) -> Vec<Result<()>> {
    let solver = solver(graph, threads);
    let each = |_: ShortestPathTree| callback(&solver);
    vec![
        // Searches side by side, in batches that share their reads, and alone.
        solver.solve_each(Sssp::from(0), &[1, 2, 3, 4], each),
        solver.solve_each(Bfs::from(0), &[1; 100], each),
        solver.solve_each(Sssp::from(0), &[1], each),
        solver.solve(Apsp::all().from([1, 2]).into_sink(&mut Calling(|| callback(&solver)))).map(drop),
        solver
            .solve(Apsp::all().algorithm("tiled-floyd-warshall").into_sink(&mut Calling(|| callback(&solver))))
            .map(drop),
    ]
}

#[test]
fn callbacks_may_ask_another_solver_and_wait_for_other_threads() {
    without_hanging(|| {
        let graph = graph(5);
        let expected = answers(&graph);
        for threads in [1, 3] {
            let calls = AtomicUsize::new(0);
            let results = from_every_callback(&graph, threads, |solver| {
                refuses_everything(solver);
                if calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(40) {
                    let other = self::solver(&graph, threads);
                    assert_eq!(request(&other, 1, 3)?, expected[1]);
                    for kind in [0, 2, 3, 4, 8, 10] {
                        std::thread::scope(|scope| {
                            let there = scope.spawn(|| request(solver, kind, 3));
                            assert_eq!(there.join().unwrap().unwrap(), expected[kind]);
                        });
                    }
                }
                Ok(())
            });
            assert!(results.iter().all(Result::is_ok), "{results:?}");
            assert!(calls.into_inner() > 100);
        }
    });
}

#[test]
fn watchers_are_refused() {
    without_hanging(|| {
        // The watcher has to outlive the solver that it asks.
        let graph: &'static Graph = Box::leak(Box::new(graph(6)));
        for threads in [1, 3] {
            static WATCHED: Mutex<Option<&'static Solver>> = Mutex::new(None);
            let calls = &*Box::leak(Box::new(AtomicUsize::new(0)));
            let control = Control::new().watched_by(|_| {
                let watched = *WATCHED.lock().unwrap();
                if let Some(watched) = watched {
                    calls.fetch_add(1, Ordering::Relaxed);
                    refuses_everything(watched);
                }
            });
            let solver =
                Solver::builder(graph.clone()).engine(Engine::Cpu).threads(threads).control(control).open().unwrap();
            let solver: &'static Solver = Box::leak(Box::new(solver));
            *WATCHED.lock().unwrap() = Some(solver);
            solver.solve(Apsp::all().from([1, 2, 3])).unwrap();
            solver.solve(Apsp::all().algorithm("tiled-floyd-warshall")).unwrap();
            solver.solve(Closure::new().algorithm("bit-warshall")).unwrap();
            solver.solve_each(Sssp::from(0), &[1, 2, 3, 4], |_| Ok(())).unwrap();
            *WATCHED.lock().unwrap() = None;
            assert!(calls.load(Ordering::Relaxed) > 0);
        }
    });
}

#[test]
fn callbacks_that_fail_end_the_request() {
    without_hanging(|| {
        let graph = graph(7);
        for outer in [0, 1, 2, 16] {
            let fail = || {
                for threads in [1, 3] {
                    let results = from_every_callback(&graph, threads, |_| Err(Error::invalid("planted")));
                    for result in results {
                        assert!(matches!(&result, Err(Error::InvalidRequest(why)) if why == "planted"), "{result:?}");
                    }
                    let solver = solver(&graph, threads);
                    let panic = || -> Result<()> { resume_unwind(Box::new("planted")) };
                    for kind in 0..4 {
                        let panicked = catch_unwind(AssertUnwindSafe(|| match kind {
                            0 => solver.solve_each(Sssp::from(0), &[1; 50], |_| panic()),
                            1 => solver.solve_each(Bfs::from(0), &[1; 100], |_| panic()),
                            2 => solver.solve_each(Sssp::from(0), &[1], |_| panic()),
                            _ => solver.solve(Apsp::all().from([1]).into_sink(&mut Calling(panic))).map(drop),
                        }));
                        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"planted"), "{kind}");
                        // The solver answers as if nothing had happened.
                        assert!(request(&solver, kind, 3).is_ok());
                    }
                }
            };
            match outer {
                0 => fail(),
                _ => {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(outer).build().unwrap();
                    pool.install(|| (0..4).into_par_iter().for_each(|_| fail()));
                }
            }
        }
    });
}

#[test]
fn requests_cancelled_at_any_moment() {
    without_hanging(|| {
        let graph = graph(8);
        let expected = answers(&graph);
        let mut random = Random(9);
        let mut interrupted = 0;
        for round in 0..30 * KINDS {
            let (kind, threads) = (round % KINDS, round % 3 + 1);
            let control = Control::new();
            let moment = Duration::from_micros(random.below(3000));
            let solver = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(threads).control(control.clone());
            let solver = solver.open().unwrap();
            let ask = || {
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        std::thread::sleep(moment);
                        control.cancel();
                    });
                    request(&solver, kind, 3)
                })
            };
            let answer = match round % 2 {
                0 => ask(),
                _ => (0..1).into_par_iter().map(|_| ask()).collect::<Vec<_>>().remove(0),
            };
            match answer {
                Ok(answer) => assert!(kind == KINDS - 1 || answer == expected[kind], "{kind}"),
                Err(Error::Interrupted) => interrupted += 1,
                Err(other) => panic!("{kind}: {other}"),
            }
        }
        assert!(interrupted > 0);
    });
}
