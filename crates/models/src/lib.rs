//! Loom models of the library's hand-written synchronization, run in every order in which the threads can run, with
//! every outcome that the memory model allows: `cargo xtask loom`.
//!
//! The modules are the library's own files; only `sync` is replaced. A too weak ordering shows as a race on the data
//! that threads hand to each other, a lost wake-up as a deadlock.
//!
//! *Invariants.* One thread at a time uses a cell of the models: loom fails a model that breaks this.

#![cfg(loom)]

// The code that handles panics is unused: in a model a panic is the end.
#[allow(dead_code)]
#[path = "../../warpath/src/team/barrier.rs"]
pub mod barrier;
#[allow(dead_code)]
#[path = "../../warpath/src/solver/each/queue.rs"]
pub mod queue;
pub mod sync;
#[allow(dead_code)]
#[path = "../../warpath/src/solver/turns.rs"]
pub mod turns;

#[cfg(test)]
mod tests {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use crate::barrier::Barrier;
    use crate::queue::{Queue, Stop};
    use crate::turns::Turns;

    /// Runs a function with each index in its own thread, index 0 in the caller, and waits for all.
    fn in_threads(count: usize, work: impl Fn(usize) + Clone + 'static) {
        let others: Vec<_> = (1..count)
            .map(|index| {
                let work = work.clone();
                thread::spawn(move || work(index))
            })
            .collect();
        work(0);
        others.into_iter().for_each(|other| other.join().unwrap());
    }

    /// Each thread writes its cell in every round; after the barrier each thread reads all cells.
    fn meet(threads: usize, rounds: usize) {
        loom::model(move || {
            let barrier = Arc::new(Barrier::new(threads));
            let cells: Arc<Vec<_>> = Arc::new((0..threads).map(|_| UnsafeCell::new(0)).collect());
            in_threads(threads, move |index| {
                for round in 1..=rounds {
                    // SAFETY: what a cell is used for alternates at the barrier; loom checks just that.
                    cells[index].with_mut(|cell| unsafe { *cell = round });
                    barrier.wait();
                    for cell in cells.iter() {
                        // SAFETY: as above.
                        assert_eq!(cell.with(|cell| unsafe { *cell }), round);
                    }
                    barrier.wait();
                }
            });
        });
    }

    #[test]
    fn two_threads_meet_time_after_time() {
        meet(2, 2);
    }

    #[test]
    fn answers_come_in_order_and_all_threads_end() {
        for (count, ahead) in [(2, 1), (3, 1), (2, 2)] {
            loom::model(move || {
                let queue = Arc::new(Queue::new(count, ahead));
                in_threads(2, {
                    let queue = queue.clone();
                    move |index| match index {
                        0 => (0..count).for_each(|index| assert_eq!(queue.wait_for(index), Some(10 * index))),
                        _ => {
                            while let Some(index) = queue.take() {
                                queue.put(index, 10 * index);
                            }
                        }
                    }
                });
            });
        }
    }

    #[test]
    fn two_workers_are_woken() {
        let mut model = loom::model::Builder::new();
        // Three threads have too many orders to try them all.
        model.preemption_bound = Some(2);
        model.check(|| {
            let queue = Arc::new(Queue::new(3, 1));
            in_threads(3, move |index| match index {
                0 => (0..3).for_each(|index| assert_eq!(queue.wait_for(index), Some(index))),
                _ => {
                    while let Some(index) = queue.take() {
                        queue.put(index, index);
                    }
                }
            });
        });
    }

    #[test]
    fn whoever_stops_leaves_nobody_waiting() {
        for handed_over in [0, 1] {
            loom::model(move || {
                let queue = Arc::new(Queue::new(3, 1));
                in_threads(2, move |index| match index {
                    0 => {
                        let _stop = Stop::of(&queue);
                        (0..handed_over).for_each(|index| assert_eq!(queue.wait_for(index), Some(())));
                    }
                    _ => {
                        while let Some(index) = queue.take() {
                            queue.put(index, ());
                        }
                    }
                });
            });
        }
    }

    #[test]
    fn a_worker_that_stops_ends_the_wait() {
        loom::model(|| {
            let queue = Arc::new(Queue::<()>::new(2, 1));
            in_threads(2, move |index| match index {
                0 => assert_eq!(queue.wait_for(0), None),
                _ => {
                    queue.take();
                    queue.stop();
                }
            });
        });
    }

    /// A search with the team runs alone, one thread at a time searches by itself, and every thread gets its turn.
    #[test]
    fn turns_keep_team_and_single_searches_apart() {
        loom::model(|| {
            let shared = Arc::new((Turns::default(), UnsafeCell::new(0)));
            in_threads(3, move |_| {
                let (turns, searching) = &*shared;
                let turn = turns.wait(1);
                // SAFETY: with one search at a time nobody else has the cell; loom fails the model if somebody does.
                searching.with_mut(|count| unsafe { *count += 1 });
                drop(turn);
            });
        });
    }
}
