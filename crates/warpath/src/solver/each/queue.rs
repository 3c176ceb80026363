//! Which source is next, and which answers wait for their turn.
//!
//! `crates/models` checks it under every order in which threads can run.

use std::collections::BTreeMap;

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Workers take the numbers from 0 to a count, and put an answer for each; one thread waits for the answers in order.
pub(crate) struct Queue<T> {
    count: usize,
    ahead: usize,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    next: usize,
    delivered: usize,
    done: BTreeMap<usize, T>,
    stopped: bool,
}

impl<T> Queue<T> {
    /// A queue of the numbers below `count`. Workers are at most `ahead` numbers ahead of the answers waited for.
    pub(crate) fn new(count: usize, ahead: usize) -> Self {
        let state = State { next: 0, delivered: 0, done: BTreeMap::new(), stopped: false };
        Queue { count, ahead, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'q>(&self, state: MutexGuard<'q, State<T>>) -> MutexGuard<'q, State<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next number to work on, as soon as it is not too far ahead; `None` when there are no more.
    pub(crate) fn take(&self) -> Option<usize> {
        let mut state = self.state();
        while !state.stopped && state.next < self.count && state.next >= state.delivered + self.ahead {
            state = self.wait(state);
        }
        if state.stopped || state.next == self.count {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    /// Leaves the answer for a number.
    pub(crate) fn put(&self, index: usize, answer: T) {
        self.state().done.insert(index, answer);
        self.changed.notify_all();
    }

    /// Waits for the answer for this number, which follows the number waited for before; `None` if the work was
    /// stopped.
    pub(crate) fn wait_for(&self, index: usize) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(answer) = state.done.remove(&index) {
                state.delivered = index + 1;
                self.changed.notify_all();
                return Some(answer);
            }
            if state.stopped {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Ends all work and all waiting.
    pub(crate) fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }
}

/// Ends all work when it is dropped, for whatever reason.
pub(crate) struct Stop<'q, T>(&'q Queue<T>);

impl<'q, T> Stop<'q, T> {
    /// A guard for this queue.
    pub(crate) fn of(queue: &'q Queue<T>) -> Self {
        Stop(queue)
    }
}

impl<T> Drop for Stop<'_, T> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Ends the wait for a worker that unwound; its panic then surfaces on the calling thread.
pub(crate) struct StopOnPanic<'q, T>(&'q Queue<T>);

impl<'q, T> StopOnPanic<'q, T> {
    /// A guard for this queue.
    pub(crate) fn of(queue: &'q Queue<T>) -> Self {
        StopOnPanic(queue)
    }
}

impl<T> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}
