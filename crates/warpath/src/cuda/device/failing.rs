//! A device that fails when it is told to: the emulator, with one call that goes wrong.
//!
//! Tests have every call of a solve fail, one after another. Either the call alone is refused, as a driver does where memory
//! or handles have run out, or it is where the device is lost, so that every later call fails, too. Whatever was queued
//! before has been done by then.
//!
//! *Invariants.* Every call goes to the emulator with the arguments given, or not at all; what the emulator asks of its
//! callers is asked of those here.

use std::any::Any;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::emulator::Emulator;
use super::staging::Staging;
use super::{Device, Event, Function, Image, Launch, LaunchShape, Properties, Stream};
use crate::{Error, Result};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// One call is refused; those that only wait never are.
    Refused,
    /// The device is lost.
    Lost,
}

/// The emulator, until the call with a number from 1.
#[derive(Debug)]
pub(crate) struct Failing {
    inner: Emulator,
    fault: Fault,
    fails_at: usize,
    calls: AtomicUsize,
    has_failed: AtomicBool,
}

impl Failing {
    pub(crate) fn new(seed: u64, fault: Fault, fails_at: usize) -> Self {
        let (calls, has_failed) = Default::default();
        Failing { inner: Emulator::new(seed), fault, fails_at, calls, has_failed }
    }

    /// Whether the call that fails has come.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }

    /// How many bytes of its memory are free, whether or not it is lost.
    pub(crate) fn really_free_bytes(&self) -> Result<u64> {
        self.inner.free_bytes()
    }

    /// Counts a call of this kind; whether it is the one that fails, or fails since that one has come.
    fn fails(&self, waits: bool) -> bool {
        if self.fault == Fault::Lost && self.has_failed() {
            return true;
        }
        if self.fault == Fault::Refused && waits {
            return false;
        }
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 != self.fails_at {
            return false;
        }
        let _ = self.inner.synchronize();
        self.has_failed.store(true, Ordering::SeqCst);
        true
    }

    /// Something is asked for.
    fn ask(&self) -> Result<&Emulator> {
        if self.fails(false) { Err(Error::Device(format!("planted: {:?}", self.fault))) } else { Ok(&self.inner) }
    }

    /// Something is waited for.
    fn wait_with(&self) -> Result<&Emulator> {
        if self.fails(true) { Err(Error::Device(format!("planted: {:?}", self.fault))) } else { Ok(&self.inner) }
    }

    /// Memory is asked for.
    fn ask_for_memory(&self, needed: u64) -> Result<&Emulator> {
        match self.ask() {
            Err(_) if self.fault == Fault::Refused => {
                Err(Error::OutOfMemory { what: "planted".into(), needed, available: 0 })
            }
            asked => asked,
        }
    }
}

impl Device for Failing {
    fn properties(&self) -> &Properties {
        self.inner.properties()
    }

    fn free_bytes(&self) -> Result<u64> {
        self.ask()?.free_bytes()
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        self.ask_for_memory(bytes)?.allocate(bytes)
    }

    unsafe fn free(&self, address: u64) {
        // SAFETY: the caller's promise.
        unsafe { self.inner.free(address) }
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<*mut u8> {
        self.ask_for_memory(bytes as u64)?.allocate_pinned(bytes)
    }

    unsafe fn free_pinned(&self, memory: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { self.inner.free_pinned(memory) }
    }

    fn staging(&self) -> &Staging {
        self.inner.staging()
    }

    unsafe fn pin(&self, memory: *mut u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.ask()?.pin(memory, bytes) }
    }

    unsafe fn unpin(&self, memory: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { self.inner.unpin(memory) }
    }

    unsafe fn upload_in(&self, stream: Stream, to: u64, from: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.ask()?.upload_in(stream, to, from, bytes) }
    }

    unsafe fn download_in(&self, stream: Stream, to: *mut u8, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.ask()?.download_in(stream, to, from, bytes) }
    }

    unsafe fn send(&self, device: &dyn Device, to: u64, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.ask()?.send(device, to, from, bytes) }
    }

    unsafe fn fill(&self, to: u64, value: u32, words: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.ask()?.fill(to, value, words) }
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.ask()?.copy(to, from, bytes) }
    }

    fn function(&self, image: &'static Image, name: &str) -> Result<Function> {
        self.ask()?.function(image, name)
    }

    fn blocks_at_once(&self, function: Function, threads: u32, shared_bytes: u32) -> Result<u32> {
        self.ask()?.blocks_at_once(function, threads, shared_bytes)
    }

    unsafe fn launch(&self, function: Function, shape: &LaunchShape, arguments: &mut [*mut c_void]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.ask()?.launch(function, shape, arguments) }
    }

    fn reaches(&self, peer: &dyn Device) -> Result<bool> {
        self.ask()?.reaches(peer)
    }

    unsafe fn launch_together(&self, launches: &mut [Launch<'_>]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.ask()?.launch_together(launches) }
    }

    fn event(&self) -> Result<Event> {
        self.ask()?.event()
    }

    fn record_in(&self, stream: Stream, event: &Event) -> Result<()> {
        self.ask()?.record_in(stream, event)
    }

    fn follow(&self, stream: Stream, event: &Event) -> Result<()> {
        self.ask()?.follow(stream, event)
    }

    fn has_passed(&self, event: &Event) -> Result<bool> {
        self.wait_with()?.has_passed(event)
    }

    fn wait(&self, event: &Event) -> Result<()> {
        self.wait_with()?.wait(event)
    }

    fn seconds_between(&self, from: &Event, to: &Event) -> Result<f64> {
        self.wait_with()?.seconds_between(from, to)
    }

    fn synchronize(&self) -> Result<()> {
        self.wait_with()?.synchronize()
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.as_any()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::requests::{Answer, algorithms, random_graph, small};
    use super::*;
    use crate::problems::Problem;
    use crate::testing::Random;
    use crate::{Engine, Graph, Solver, Sssp};

    /// Solves and panics if the answer is wrong.
    fn solve(solver: &Solver, problem: Problem, algorithm: &str) -> Result<()> {
        Answer::of(solver, problem, Some(algorithm))?.verify(solver.graph()).unwrap();
        Ok(())
    }

    fn check(found: Result<()>, context: &str) {
        match found {
            // There may be no GPU to go on with.
            Ok(()) | Err(Error::Device(_) | Error::NoDevice(_) | Error::OutOfMemory { .. }) => {}
            Err(other) => panic!("{context}: {other:?}"),
        }
    }

    /// Has one call after another fail on the first of this many devices: all of the first few, and then some of those
    /// to come, until a solve is done before its turn. Nothing else than a device's error may come of it, or the
    /// answer, at once and with the same solver again; and all memory goes back.
    fn every_call_fails_once(graph: &Graph, problem: Problem, algorithm: &str, fault: Fault, devices: usize) {
        const ALL_OF_THE_FIRST: usize = 12;
        let mut random = Random(devices as u64);
        let mut call = 1;
        loop {
            let context = format!("{problem:?} {algorithm}, {devices} devices, call {call} {fault:?}");
            let failing = Arc::new(Failing::new(1, fault, call));
            let there = (1..devices).map(|other| Arc::new(Emulator::new(other as u64)) as Arc<dyn Device>);
            let there: Vec<_> = std::iter::once(failing.clone() as Arc<dyn Device>).chain(there).collect();
            let solver = Solver::builder(graph.clone()).threads(1).devices(there).open().unwrap();
            let first = solve(&solver, problem, algorithm);
            assert!(failing.has_failed() || first.is_ok(), "{context}: {first:?}");
            check(first, &context);
            let again = solve(&solver, problem, algorithm);
            check(again, &format!("{context}, again"));
            drop(solver);
            assert_eq!(failing.really_free_bytes().unwrap(), failing.properties().memory_bytes, "{context}");
            if !failing.has_failed() {
                assert!(call > ALL_OF_THE_FIRST, "{context}: there are more calls than that");
                return;
            }
            call += if call <= ALL_OF_THE_FIRST { 1 } else { 1 + random.below(call as u64) as usize };
        }
    }

    fn every_algorithm_fails(problem: Problem) {
        let graph = random_graph(26, 100);
        for info in algorithms(problem) {
            for fault in [Fault::Refused, Fault::Lost] {
                every_call_fails_once(&graph, problem, &small(info), fault, 1);
            }
        }
    }

    #[test]
    fn a_breadth_first_search_on_a_failing_device_ends() {
        every_algorithm_fails(Problem::Bfs);
    }

    #[test]
    fn a_search_by_weights_on_a_failing_device_ends() {
        every_algorithm_fails(Problem::Sssp);
    }

    #[test]
    fn all_pairs_on_a_failing_device_end() {
        every_algorithm_fails(Problem::Apsp);
    }

    #[test]
    fn a_closure_on_a_failing_device_ends() {
        every_algorithm_fails(Problem::Closure);
    }

    /// One of several fails, while others wait for what it sends.
    #[test]
    fn all_pairs_with_one_device_that_fails_end() {
        let graph = random_graph(100, 300);
        for fault in [Fault::Refused, Fault::Lost] {
            let algorithm = "tiled-floyd-warshall:strip=32,cell-bits=32";
            every_call_fails_once(&graph, Problem::Apsp, algorithm, fault, 2);
        }
    }

    /// One of those that share a graph fails, while the other waits for it.
    #[test]
    fn searches_with_one_device_that_fails_end() {
        let graph = random_graph(26, 100);
        for fault in [Fault::Refused, Fault::Lost] {
            for problem in [Problem::Bfs, Problem::Sssp] {
                for algorithm in ["partitioned:parts=2,threads=32,blocks=2", "regions:parts=2,vertices=32,slots=0.5"] {
                    every_call_fails_once(&graph, problem, algorithm, fault, 2);
                }
            }
        }
    }

    /// Where the device is a matter of prediction, the CPU answers instead, whatever call it is that fails.
    #[test]
    fn what_is_left_to_the_solver_is_answered_by_the_cpu() {
        let graph = random_graph(10_000, 80_000);
        let mut random = Random(3);
        let mut call = 1;
        loop {
            let failing = Arc::new(Failing::new(1, Fault::Lost, call));
            let builder = Solver::builder(graph.clone()).threads(1).device(failing.clone());
            let solver = builder.engine(Engine::Auto).open().unwrap();
            let tree = solver.solve(Sssp::from(0)).unwrap_or_else(|error| panic!("call {call}: {error}"));
            tree.verify(&graph).unwrap();
            if !failing.has_failed() {
                assert_eq!(tree.report().engine, "cuda:0", "call {call}");
                break;
            }
            call += if call <= 8 { 1 } else { 1 + random.below(call as u64) as usize };
        }
        assert!(call > 8, "{call} calls");
    }
}
