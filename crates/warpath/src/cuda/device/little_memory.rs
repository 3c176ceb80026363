//! Every algorithm with ever less memory on the device: it answers, or is refused before it takes any.

use std::sync::Arc;

use super::Device;
use super::emulator::Emulator;
use super::requests::{Answer, algorithms, random_graph, small};
use crate::problems::Problem;
use crate::{Engine, Error, Graph, Solver};

/// Solves with much memory, a quarter of it, and so on, on so many devices. The device has no more than the solver may take, and nothing fails there: what does
/// not fit is refused by the plan, and so is what has even less memory.
fn with_ever_less(graph: &Graph, problem: Problem, algorithm: Option<&str>, devices: u32) {
    /// What every device has beside: pieces for copies are memory of the host.
    const MOST: u64 = 64 << 20;
    let mut is_refused = false;
    let mut answers = 0;
    for memory in (0..9).map(|quarters| MOST >> (2 * quarters)) {
        let context = format!("{problem:?} {algorithm:?}, {devices} devices, {memory} bytes");
        let there = (0..devices)
            .map(|ordinal| Arc::new(Emulator::numbered(1, ordinal).with_memory(memory)) as Arc<dyn Device>)
            .collect();
        let engine = Engine::Cuda((0..devices).collect());
        let solver = Solver::builder(graph.clone()).threads(1).devices(there).engine(engine).open().unwrap();
        match Answer::of(&solver, problem, algorithm) {
            Ok(answer) => {
                assert!(!is_refused, "{context}: it was refused with more");
                answer.verify(graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                answers += 1;
            }
            Err(Error::OutOfMemory { what, needed, available }) => {
                assert!(needed > available && available <= memory, "{context}: {what}, {needed} of {available}");
                assert!(!what.contains("emulated device"), "{context}: the plan had less");
                is_refused = true;
            }
            Err(other) => panic!("{context}: {other:?}"),
        }
    }
    assert!(answers > 1 && is_refused, "{problem:?} {algorithm:?}: {answers} answers");
}

fn every_algorithm_with_ever_less(problem: Problem) {
    let graph = random_graph(24, 80);
    for info in algorithms(problem) {
        with_ever_less(&graph, problem, Some(&small(info)), 1);
    }
}

#[test]
fn breadth_first_searches_fit_or_are_refused() {
    every_algorithm_with_ever_less(Problem::Bfs);
}

#[test]
fn searches_by_weights_fit_or_are_refused() {
    every_algorithm_with_ever_less(Problem::Sssp);
}

#[test]
fn all_pairs_fit_or_are_refused() {
    every_algorithm_with_ever_less(Problem::Apsp);
}

#[test]
fn closures_fit_or_are_refused() {
    every_algorithm_with_ever_less(Problem::Closure);
}

/// What is left to the solver, on one device and on two.
#[test]
fn what_the_solver_chooses_fits_or_is_refused() {
    let graph = random_graph(24, 80);
    for devices in [1, 2] {
        for problem in [Problem::Bfs, Problem::Sssp, Problem::Apsp] {
            with_ever_less(&graph, problem, None, devices);
        }
    }
}
