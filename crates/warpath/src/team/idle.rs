//! Threads that wait for the next team.
//!
//! To start threads, and to end them, takes longer than a small search: a third of a millisecond for two. Programs that make a solver
//! for each graph, such as Python's `csgraph`, would pay that each time. So the pool of a team that goes is kept for the next one.
//!
//! A pool serves whoever wants as many threads, in the same process, since a forked one has none of them, and with the same processors,
//! since threads have those of whoever started them.
//!
//! *Invariants.* A pool is taken out of what drops it once, as the last thing. Sets of processors have the size that is told.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Mutex;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::Result;
use crate::memory::no_threads;

/// At most so many pools wait.
const MOST: usize = 2;

/// The pools that wait.
static IDLE: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// A pool, and whom it serves.
#[derive(Debug)]
struct Kept {
    place: Place,
    pool: ThreadPool,
}

/// Where threads are, and how many were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    threads: usize,
    process: u32,
    /// The processors that the thread which started them had.
    processors: Vec<u8>,
}

impl Place {
    fn here(threads: usize) -> Self {
        Place { threads, process: std::process::id(), processors: processors() }
    }
}

/// A pool that waits for the next team when this is dropped.
#[derive(Debug)]
pub(super) struct IdlePool {
    place: Place,
    pool: ManuallyDrop<ThreadPool>,
}

impl IdlePool {
    /// A pool of this many threads, one for each core if 0: one that waits, or a new one.
    ///
    /// # Errors
    ///
    /// If the operating system gives no threads.
    pub(super) fn take(threads: usize) -> Result<Self> {
        let place = Place::here(threads);
        // A forked process may have the lock as another thread of its parent held it: nobody ever waits for it.
        let waiting = IDLE.try_lock().ok().and_then(|mut idle| {
            let index = idle.iter().position(|kept| kept.place == place)?;
            Some(idle.swap_remove(index).pool)
        });
        let pool = match waiting {
            Some(pool) => pool,
            None => ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|index| format!("warpath-{index}"))
                .build()
                .map_err(|error| no_threads(threads, error))?,
        };
        Ok(IdlePool { place, pool: ManuallyDrop::new(pool) })
    }
}

impl Deref for IdlePool {
    type Target = ThreadPool;

    fn deref(&self) -> &ThreadPool {
        &self.pool
    }
}

impl Drop for IdlePool {
    fn drop(&mut self) {
        // SAFETY: nobody uses the field after this.
        let pool = unsafe { ManuallyDrop::take(&mut self.pool) };
        if self.place.process != std::process::id() {
            // The threads of a parent process are not here to hear of it.
            std::mem::forget(pool);
            return;
        }
        let kept = Kept { place: self.place.clone(), pool };
        let left_over = match IDLE.try_lock() {
            Ok(mut idle) => {
                // Those of a parent process are nobody's.
                while let Some(index) = idle.iter().position(|other| other.place.process != kept.place.process) {
                    std::mem::forget(idle.swap_remove(index));
                }
                let oldest = (idle.len() >= MOST).then(|| idle.remove(0));
                idle.push(kept);
                oldest
            }
            Err(_) => Some(kept),
        };
        // Its threads end when nobody waits for the list any more.
        drop(left_over);
    }
}

/// The processors that the calling thread may use, as the system has them; nothing where it does not tell.
fn processors() -> Vec<u8> {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: a `cpu_set_t` is plain old data, of which all zeros is the empty set, and whose bytes may be read; the call writes no more
    // than the size it is told.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut allowed) == 0 {
            let bytes = (&raw const allowed).cast::<u8>();
            return std::slice::from_raw_parts(bytes, size_of::<libc::cpu_set_t>()).to_vec();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread::ThreadId;

    use super::*;

    fn threads_of(pool: &IdlePool) -> HashSet<ThreadId> {
        pool.broadcast(|_| std::thread::current().id()).into_iter().collect()
    }

    #[test]
    fn a_pool_waits_for_the_next_that_wants_as_many_threads() {
        // Other tests make teams meanwhile, but none of so many threads.
        let first = IdlePool::take(11).unwrap();
        let second = IdlePool::take(11).unwrap();
        let (of_first, of_second) = (threads_of(&first), threads_of(&second));
        assert!(of_first.is_disjoint(&of_second));
        assert_eq!(of_first.len(), 11);
        drop(first);
        // Other tests may have put away two more meanwhile, but not each time.
        let is_the_same = |_| {
            let pool = IdlePool::take(13).unwrap();
            let threads = threads_of(&pool);
            drop(pool);
            threads_of(&IdlePool::take(13).unwrap()) == threads
        };
        assert!((0..100).any(is_the_same));
        let other = IdlePool::take(12).unwrap();
        assert_eq!(threads_of(&other).len(), 12);
        assert!(threads_of(&other).is_disjoint(&of_first));
        assert!(IDLE.lock().unwrap().len() <= MOST);
    }

    #[test]
    fn pools_of_other_places_are_not_taken() {
        let place = Place::here(3);
        assert_eq!(place, Place::here(3));
        assert_ne!(place, Place::here(4));
        assert_ne!(place, Place { process: place.process + 1, ..place.clone() });
        assert_ne!(place, Place { processors: vec![0], ..place.clone() });
    }
}
