//! How requests come in: which thread answers them, and which threads may not put any.
//!
//! While a solver answers, it holds locks, threads and memory of a device, and it hands results to the caller's code:
//! the callback of [`Solver::solve_each`], a sink for rows, whoever watches a [`Control`](crate::Control). A request
//! from such code would wait for a request that waits for it, so it is an error. Requests from other threads are
//! answered, even while such code runs.
//!
//! A worker of the caller's rayon pool takes up other work while it waits. That work may put another request to the
//! same solver, which would then run on top of this one. So another thread answers for such a worker ([`apart`]).

use std::cell::RefCell;

use super::Solver;
use crate::apart::{apart, takes_up_other_work};
use crate::{Error, Result};

thread_local! {
    /// The solvers, by their addresses, that are answering a request on this thread.
    static ANSWERING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// As long as this lives, a solver is answering a request on this thread.
pub(super) struct Answering;

impl Drop for Answering {
    fn drop(&mut self) {
        ANSWERING.with_borrow_mut(|solvers| _ = solvers.pop());
    }
}

impl Solver {
    /// Marks the calling thread as working on a request to this solver.
    pub(super) fn answering(&self) -> Answering {
        ANSWERING.with_borrow_mut(|solvers| solvers.push(std::ptr::from_ref(self).addr()));
        Answering
    }

    /// An error if the calling thread is at work on a request to this solver.
    pub(super) fn check_not_answering(&self) -> Result<()> {
        let address = std::ptr::from_ref(self).addr();
        if self.team.has_this_thread() || ANSWERING.with_borrow(|solvers| solvers.contains(&address)) {
            return Err(Error::invalid(
                "a request was put to a solver from within a callback of that solver; another solver takes it",
            ));
        }
        Ok(())
    }

    /// Answers a request on a thread that takes up no other work while it waits.
    pub(super) fn answer<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        self.check_not_answering()?;
        let work = || {
            let _answering = self.answering();
            work()
        };
        if takes_up_other_work() { apart(1, true, work)? } else { work() }
    }

    /// Answers a request that hands rows to a sink. The sink gets threads of its own, so that the team is free for
    /// other requests.
    pub(super) fn answer_into_sink<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        self.check_not_answering()?;
        apart(self.team.threads(), true, || {
            let _answering = self.answering();
            work()
        })?
    }
}
