//! A team of threads that stay together through a whole solve.
//!
//! Forking and joining once a level costs more than a level of a road graph takes. A [`Team`] starts all its workers
//! once; between levels they meet at a barrier that spins (and yields after a while, for machines that are busy
//! elsewhere).
//!
//! *Invariants.* The system calls that move a thread get sets of processors of the size that they are told.

mod barrier;
mod idle;

use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use barrier::{Barrier, ReleaseOnPanic};
use idle::IdlePool;
use rayon::ThreadPool;

use crate::apart::without_other_work;
use crate::huge_pages::on_huge_pages;
use crate::parallel::{called_once, for_each_chunk};
use crate::sync::Patience;
use crate::{Result, memory};

/// The number of threads of a team for which this many are asked: at most as many as there are cores. At a barrier, all
/// threads would wait until the last one has had its turn on a core.
pub(crate) fn at_most_cores(asked: usize) -> usize {
    // Tests need more threads than a small machine has cores, for the orders in which only these can meet.
    let cores = if cfg!(test) { usize::MAX } else { std::thread::available_parallelism().map_or(1, usize::from) };
    asked.min(cores)
}

/// A thread pool of a fixed size.
#[derive(Debug)]
pub struct Team {
    /// `None` for a team that is the calling thread alone.
    pool: Option<IdlePool>,
    /// Held during a run: two runs on one pool could each hold some of its threads at a barrier for ever.
    running: Mutex<()>,
}

impl Team {
    /// A team of this many threads, one for each core if 0.
    ///
    /// # Errors
    ///
    /// If the operating system gives no threads.
    pub(crate) fn new(threads: usize) -> Result<Self> {
        let pool = IdlePool::take(threads)?;
        Ok(Team { pool: Some(pool), running: Mutex::new(()) })
    }

    /// The calling thread alone, whichever that is at the time: for one of many independent solves at once.
    pub(crate) fn alone() -> Self {
        Team { pool: None, running: Mutex::new(()) }
    }

    /// Number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Whether the calling thread is one of the team's. A team [`alone`](Team::alone) has none.
    pub(crate) fn has_this_thread(&self) -> bool {
        self.pool.as_ref().is_some_and(|pool| pool.current_thread_index().is_some())
    }

    /// Runs a closure inside the pool: rayon's parallel loops in it use the team's threads. A worker of another pool
    /// that calls it takes up no other work meanwhile.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => called_once(work, |work| self.install_in(pool, work)),
            None => work(),
        }
    }

    /// [`install`](Self::install), compiled once for all work.
    fn install_in(&self, pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
        if self.has_this_thread() { pool.install(work) } else { without_other_work(|| pool.install(work)) }
    }

    /// An array of equal values on huge pages, filled by all threads, since the operating system takes most of that
    /// time to hand out fresh pages.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the system refuses.
    pub(crate) fn filled<T: Send>(
        &self,
        what: &str,
        length: usize,
        value: impl Fn() -> T + Sync + Send,
    ) -> Result<Vec<T>> {
        const EACH: usize = 1 << 16;
        let mut values = on_huge_pages(memory::with_capacity(what, length)?);
        match self.threads() {
            1 => values.resize_with(length, value),
            _ => {
                let room = &mut values.spare_capacity_mut()[..length];
                let fill = |part: &mut [MaybeUninit<T>]| part.fill_with(|| MaybeUninit::new(value()));
                self.install(|| for_each_chunk(room, EACH, |_, part| fill(part)));
                // SAFETY: each of them has been written.
                unsafe { values.set_len(length) };
            }
        }
        Ok(values)
    }

    /// Sets all elements of an array to this value, by all threads if it is long.
    pub(crate) fn fill<T: Copy + Send + Sync>(&self, values: &mut [T], value: T) {
        const EACH: usize = 1 << 16;
        if self.threads() == 1 || values.len() <= EACH {
            values.fill(value);
        } else {
            self.install(|| for_each_chunk(values, EACH, |_, part| part.fill(value)));
        }
    }

    /// Starts `work` on all threads at once and runs `beside` on the calling thread meanwhile; returns when all are
    /// done. The calling thread must not be one that takes up other work while it waits. A team [`alone`](Team::alone)
    /// first runs `work`, then `beside`.
    pub(crate) fn run_beside<R>(&self, work: impl Fn() + Sync, beside: impl FnOnce() -> R) -> R {
        match &self.pool {
            Some(pool) => pool.in_place_scope(|scope| {
                scope.spawn_broadcast(|_, _| work());
                beside()
            }),
            None => {
                work();
                beside()
            }
        }
    }

    /// Runs `work` on all threads at once; returns what each returns, by worker.
    ///
    /// Runs of one team come one after another. A worker of another pool that calls it takes up no other work
    /// meanwhile.
    ///
    /// # Panics
    ///
    /// If one of the team's own threads calls it, since it could wait for itself, or if `work` panics.
    pub(crate) fn run<R: Send>(&self, work: impl Fn(&Worker<'_>) -> R + Sync) -> Vec<R> {
        let Some(pool) = &self.pool else {
            let barrier = Barrier::new(1);
            return vec![work(&Worker { index: 0, count: 1, barrier: &barrier })];
        };
        assert!(!self.has_this_thread(), "a run of a team was asked for by one of its own threads");
        let run = || {
            let _alone = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            let barrier = Barrier::new(self.threads());
            pool.broadcast(|context| {
                move_home(context.index(), context.num_threads());
                let worker = Worker { index: context.index(), count: context.num_threads(), barrier: &barrier };
                let _release = ReleaseOnPanic::of(&barrier);
                work(&worker)
            })
        };
        without_other_work(run)
    }
}

/// One thread of a running [`Team`].
#[derive(Debug)]
pub(crate) struct Worker<'a> {
    /// Which of the workers this is, from 0.
    pub(crate) index: usize,
    /// How many workers there are.
    pub(crate) count: usize,
    barrier: &'a Barrier,
}

impl Worker<'_> {
    /// Waits until all workers are here. Everything they wrote before is visible to all of them after.
    #[inline]
    pub(crate) fn barrier(&self) {
        self.barrier.wait();
    }

    /// Waits a little for something that another worker does, longer each time.
    ///
    /// # Panics
    ///
    /// If another worker has panicked, since waiting for it would be in vain.
    #[inline]
    pub(crate) fn wait(&self, patience: &mut Patience) {
        self.barrier.wait_a_little(patience);
    }

    /// This worker's share of `0..length`: consecutive, of nearly equal size.
    #[inline]
    pub(crate) fn share(&self, length: usize) -> std::ops::Range<usize> {
        length * self.index / self.count..length * (self.index + 1) / self.count
    }
}

/// The first workers of a team, who meet without the others.
#[derive(Debug)]
pub(crate) struct SmallerTeam {
    barrier: Barrier,
    count: usize,
}

impl SmallerTeam {
    /// One of so many workers.
    pub(crate) fn of(count: usize) -> Self {
        SmallerTeam { barrier: Barrier::new(count), count }
    }

    /// Has a worker of the larger team do its part of the work, if it is one of the first; all of these have to come.
    pub(crate) fn run<R>(&self, worker: &Worker<'_>, work: impl FnOnce(&Worker<'_>) -> R) -> Option<R> {
        (worker.index < self.count).then(|| {
            let _release = ReleaseOnPanic::of(&self.barrier);
            work(&Worker { index: worker.index, count: self.count, barrier: &self.barrier })
        })
    }
}

/// Moves the calling thread, worker `index` of `count`, to a processor of its own if it is not there, without tying the
/// thread to that processor. Workers that are woken together can land on one processor and stay there for a whole
/// solve, since from then on none of them sleeps.
fn move_home(index: usize, count: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: a `cpu_set_t` is plain old data, of which all zeros is the empty set; the calls only read and write the
    // sets they are given, of the size they are told, and `home` is below `CPU_SETSIZE`. Where a call fails, the thread
    // stays where it is.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut allowed) != 0 {
            return;
        }
        let mut processors = (0..libc::CPU_SETSIZE as usize).filter(|&processor| libc::CPU_ISSET(processor, &allowed));
        let enough = libc::CPU_COUNT(&allowed) as usize >= count;
        let Some(home) = processors.nth(index).filter(|_| enough) else { return };
        if libc::sched_getcpu() != home as i32 {
            let mut only_home: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(home, &mut only_home);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &only_home);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &allowed);
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (index, count);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::testing::size;

    #[test]
    fn all_see_what_was_written_before_the_barrier() {
        let team = Team::new(3).unwrap();
        let sum = AtomicUsize::new(0);
        let seen = team.run(|worker| {
            let mut seen = Vec::new();
            for round in 1..=size(100, 5) {
                sum.fetch_add(1, Ordering::Relaxed);
                worker.barrier();
                seen.push(sum.load(Ordering::Relaxed) == 3 * round);
                worker.barrier();
            }
            seen.into_iter().all(|right| right)
        });
        assert_eq!(seen, [true; 3]);
    }

    #[test]
    fn a_panic_does_not_leave_the_others_waiting() {
        let team = Team::new(2).unwrap();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            team.run(|worker| {
                assert!(worker.index != 0, "planted");
                worker.barrier();
            })
        }));
        assert!(result.is_err());
        assert_eq!(team.run(|worker| worker.share(5).len()).into_iter().sum::<usize>(), 5);
    }
}
