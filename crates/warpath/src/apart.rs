//! Runs work on separate threads, while the caller does nothing else.
//!
//! A rayon worker that waits for shared work or for another pool takes up other work of its pool meanwhile. If it holds
//! a lock, or is making something that others need, that other work may ask for the same thing on the same stack, and
//! wait for ever. So code that holds such a thing while rayon works for it runs apart.

use std::cell::Cell;

use rayon::ThreadPoolBuilder;

use crate::Result;
use crate::memory::no_threads;
use crate::parallel::called_once;

thread_local! {
    /// Whether this thread belongs to work that runs apart.
    static IS_APART: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread may take up other work while it waits: it is a worker of a rayon pool, and not of one
/// that [`apart`] has made for a single piece of work.
pub(crate) fn takes_up_other_work() -> bool {
    rayon::current_thread_index().is_some() && !IS_APART.get()
}

/// Runs `work` in a pool of this many threads that does nothing else; the calling thread waits and takes up no other
/// work meanwhile. If `work` panics, so does the caller. `calls_back` says that `work` runs code of a caller, which may
/// share out work of its own: then the pool's threads count as threads that take up other work.
///
/// # Errors
///
/// If the operating system gives no threads. Then `work` has not begun.
pub(crate) fn apart<R: Send>(threads: usize, calls_back: bool, work: impl FnOnce() -> R + Send) -> Result<R> {
    let (mut work, mut done) = (Some(work), None);
    in_own_pool(threads, calls_back, &mut || done = work.take().map(|work| work()))?;
    Ok(done.expect("the pool has done the work"))
}

/// [`apart`], compiled once for all work.
fn in_own_pool(threads: usize, calls_back: bool, work: &mut (dyn FnMut() + Send)) -> Result<()> {
    std::thread::scope(|scope| {
        let in_pool = move || {
            let started = move |_| IS_APART.set(!calls_back);
            let pool = ThreadPoolBuilder::new().num_threads(threads).start_handler(started).build();
            pool.map(|pool| pool.install(work)).map_err(|error| no_threads(threads, error))
        };
        // To wait for the pool here would be to take up other work, if this is a worker of another pool.
        let waiting =
            std::thread::Builder::new().spawn_scoped(scope, in_pool).map_err(|error| no_threads(threads, error))?;
        waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs `work` on the calling thread if that takes up no other work while it waits, else on a separate thread that
/// takes up none.
pub(crate) fn without_other_work<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if !takes_up_other_work() {
        return work();
    }
    called_once(work, on_another_thread)
}

/// Runs `work` on a separate thread, or on this one if the system gives none.
fn on_another_thread(work: &mut (dyn FnMut() + Send)) {
    let has_started = std::thread::scope(|scope| {
        let waiting = std::thread::Builder::new().spawn_scoped(scope, &mut *work);
        waiting.map(|waiting| waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).is_ok()
    });
    if !has_started {
        work();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rayon::prelude::*;

    use super::*;
    use crate::testing::size;

    #[test]
    fn the_caller_takes_up_no_other_work() {
        let (times, terms) = size((50, 10_000_u64), (3, 20));
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            (0..times).into_par_iter().for_each(|_| {
                thread_local!(static HOLDS: AtomicBool = const { AtomicBool::new(false) });
                HOLDS.with(|holds| assert!(!holds.swap(true, Ordering::Relaxed), "other work was taken up"));
                let sum: u64 = apart(2, false, || (0..terms).into_par_iter().sum()).unwrap();
                let same = without_other_work(|| apart(1, false, || (0..terms).sum()).unwrap());
                assert_eq!(sum, same);
                HOLDS.with(|holds| holds.store(false, Ordering::Relaxed));
            });
        });
    }

    #[test]
    fn panics_reach_the_caller() {
        let panicked = std::panic::catch_unwind(|| apart(2, false, || panic!("planted")));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"planted"));
    }
}
