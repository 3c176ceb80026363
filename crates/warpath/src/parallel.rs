//! Loops on all threads of the current pool that are compiled once.
//!
//! rayon compiles a parallel iterator anew for every closure and every type: some seventy functions each. The loops here call the closure
//! through a reference instead, so that little more than the closure itself is compiled. A call takes a few nanoseconds: an index, or a
//! chunk, has to be work for microseconds. Where it is not, or where the loop is made for one type alone, rayon's iterators are right.
//!
//! *Invariants.* An index is handed out once, and the chunks of different indices do not overlap.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::Result;

/// Calls `run` with a closure that does `work` when it is called first, so that `run` need not be compiled for each kind of work; what
/// `work` returned.
pub(crate) fn called_once<R: Send>(work: impl FnOnce() -> R + Send, run: impl FnOnce(&mut (dyn FnMut() + Send))) -> R {
    let (mut work, mut done) = (Some(work), None);
    run(&mut || done = work.take().map(|work| work()));
    done.expect("the work was done")
}

/// Runs `work` on as many threads as there are, but at most `most`; one of the errors, if there was any.
pub(crate) fn on_threads(most: usize, work: &(dyn Fn() -> Result<()> + Sync)) -> Result<()> {
    (0..rayon::current_num_threads().min(most)).into_par_iter().try_for_each(|_| work())
}

/// Indices that threads take one after another.
struct Turns {
    next: AtomicUsize,
    count: usize,
}

impl Turns {
    fn next(&self) -> Option<usize> {
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < self.count)
    }
}

/// Hands out all indices below `count`, each to a thread that is free; an error ends it. For work that takes a thread long.
fn try_in_turn(count: usize, take: &(dyn Fn(&Turns) -> Result<()> + Sync)) -> Result<()> {
    let turns = Turns { next: AtomicUsize::new(0), count };
    on_threads(count, &|| {
        let outcome = take(&turns);
        if outcome.is_err() {
            turns.next.store(count, Ordering::Relaxed);
        }
        outcome
    })
}

/// Calls `work` with all indices below `count`, each on a thread that is free; one of the errors, if there was any.
pub(crate) fn try_for_each(count: usize, work: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    try_in_turn(count, &|turns| {
        while let Some(index) = turns.next() {
            work(index)?;
        }
        Ok(())
    })
}

/// What `make` makes of every index below `count`, in their order, or one of the errors. Each index goes to a thread that is free;
/// `make` also gets what `prepare` has made for the thread.
pub(crate) fn try_collect_with<R: Send, S>(
    count: usize,
    prepare: impl Fn() -> S + Sync,
    make: impl Fn(&mut S, usize) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let made: Mutex<Vec<Option<R>>> = Mutex::new((0..count).map(|_| None).collect());
    try_in_turn(count, &|turns| {
        let mut own = prepare();
        while let Some(index) = turns.next() {
            let value = make(&mut own, index)?;
            made.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(value);
        }
        Ok(())
    })?;
    Ok(made.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect())
}

/// Calls `work` with the number of each chunk and its values: `length` of them, and what is left for the last. Each chunk goes to a
/// thread that is free, and an error ends it.
pub(crate) fn try_for_each_chunk<T: Send>(
    values: &mut [T],
    length: usize,
    work: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    let chunks = Chunks::of(values, length);
    try_in_turn(chunks.count(), &|turns| {
        while let Some(chunk) = turns.next() {
            // SAFETY: an index is handed out once, and it is below the count.
            work(chunk, unsafe { chunks.get(chunk) })?;
        }
        Ok(())
    })
}

/// Calls `work` with ranges that are all indices below `count` together, each once: as few as keep all threads busy.
pub(crate) fn for_each_range(count: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    let halves = |range: Range<usize>| {
        let middle = range.start + range.len() / 2;
        if range.len() < 2 { (range, None) } else { (range.start..middle, Some(middle..range.end)) }
    };
    rayon::iter::split(0..count, halves).for_each(work);
}

/// The first index below `count` for which `test` holds; it need not be called for those after it.
pub(crate) fn find_first(count: usize, test: &(dyn Fn(usize) -> bool + Sync)) -> Option<usize> {
    (0..count).into_par_iter().find_first(|&index| test(index))
}

/// Whether `test` holds for every index below `count`; it is not called for all once it is known that it does not.
pub(crate) fn all(count: usize, test: &(dyn Fn(usize) -> bool + Sync)) -> bool {
    (0..count).into_par_iter().all(test)
}

/// What `make` makes of every index below `count`, in their order.
pub(crate) fn collect<R: Send>(count: usize, make: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let mut made: Vec<Option<R>> = (0..count).map(|_| None).collect();
    for_each_chunk(&mut made, 1, |index, slot| slot[0] = Some(make(index)));
    made.into_iter().flatten().collect()
}

/// What `make` makes of these values, in their order.
pub(crate) fn collect_taken<T: Send, R: Send>(
    values: impl IntoIterator<Item = T>,
    make: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let mut pairs: Vec<(Option<T>, Option<R>)> = values.into_iter().map(|value| (Some(value), None)).collect();
    for_each_chunk(&mut pairs, 1, |_, pair| {
        let (value, made) = &mut pair[0];
        *made = value.take().map(&make);
    });
    pairs.into_iter().filter_map(|(_, made)| made).collect()
}

/// Hands out these values. Whoever has one drops it.
pub(crate) fn for_each_taken<T: Send>(values: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    collect_taken(values, work);
}

/// Calls `work` with the number of each chunk and its values: `length` of them, and what is left for the last.
pub(crate) fn for_each_chunk<T: Send>(values: &mut [T], length: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    for_each_chunk_with(values, length, || (), |(), chunk, values| work(chunk, values));
}

/// The same; `work` also gets what `prepare` has made for the chunks that it is called with one after another.
pub(crate) fn for_each_chunk_with<T: Send, S>(
    values: &mut [T],
    length: usize,
    prepare: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &mut [T]) + Sync,
) {
    let chunks = Chunks::of(values, length);
    for_each_range(chunks.count(), &|range| {
        let mut own = prepare();
        for chunk in range {
            // SAFETY: an index is handed out once, and it is below the count.
            work(&mut own, chunk, unsafe { chunks.get(chunk) });
        }
    });
}

/// Values that threads share out by chunks.
struct Chunks<'a, T> {
    first: *mut T,
    all: usize,
    length: usize,
    values: PhantomData<&'a mut [T]>,
}

// SAFETY: each chunk is handed to one thread at a time, which may have its values.
unsafe impl<T: Send> Sync for Chunks<'_, T> {}

impl<'a, T> Chunks<'a, T> {
    fn of(values: &'a mut [T], length: usize) -> Self {
        Chunks { first: values.as_mut_ptr(), all: values.len(), length, values: PhantomData }
    }

    fn count(&self) -> usize {
        self.all.div_ceil(self.length)
    }

    /// A chunk.
    ///
    /// # Safety
    ///
    /// The index is below the count, and nobody else has that chunk.
    #[expect(clippy::mut_from_ref, reason = "the values are borrowed mutably, and each chunk is handed out once")]
    unsafe fn get(&self, chunk: usize) -> &mut [T] {
        let start = chunk * self.length;
        // SAFETY: `start` is below `all`, and the end is not beyond it, so all of it lies in the values, which are borrowed meanwhile. No
        // chunk is handed out twice, and others do not overlap it.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(start), self.length.min(self.all - start)) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_value_is_handed_out_once_and_in_its_chunk() {
        for (count, length) in [(0, 3), (1, 3), (3, 3), (4, 3), (1000, 7), (1000, 1)] {
            let mut values: Vec<usize> = (0..count).collect();
            for_each_chunk(&mut values, length, |chunk, values| {
                assert_eq!(values.len(), length.min(count - chunk * length));
                assert_eq!(values[0], chunk * length);
                values.iter_mut().for_each(|value| *value += count);
            });
            assert_eq!(values, (count..2 * count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_prepared_serves_chunks_one_after_another() {
        let mut seen = vec![0_u32; 500];
        let prepared = AtomicUsize::new(0);
        let prepare = || prepared.fetch_add(1, Ordering::Relaxed);
        for_each_chunk_with(&mut seen, 1, prepare, |_, _, seen| seen[0] += 1);
        assert!(seen.iter().all(|&times| times == 1));
        assert!((1..=500).contains(&prepared.into_inner()));
    }

    #[test]
    fn what_is_made_is_in_order_and_what_is_found_is_first() {
        assert_eq!(collect(100, |index| index.to_string()), (0..100).map(|i| i.to_string()).collect::<Vec<_>>());
        assert!(collect(0, |index| index).is_empty());
        assert_eq!(find_first(1000, &|index| index % 300 == 299), Some(299));
        assert_eq!(find_first(1000, &|_| false), None);
        assert!(all(1000, &|index| index < 1000) && !all(1000, &|index| index != 999) && all(0, &|_| false));
    }

    #[test]
    fn what_may_fail_is_in_order_or_an_error() {
        let fails =
            |index| Err(crate::Error::DistanceOverflow { semiring: if index == 70 { "planted" } else { "other" } });
        for count in [0, 1, 2, 100] {
            let made = try_collect_with(count, || 1, |one, index| Ok(index + *one));
            assert_eq!(made.unwrap(), (1..=count).collect::<Vec<_>>());
            let mut values = vec![0; count];
            let number = |chunk, values: &mut [usize]| {
                values.iter_mut().enumerate().for_each(|(i, value)| *value = 7 * chunk + i);
                Ok(())
            };
            try_for_each_chunk(&mut values, 7, number).unwrap();
            assert_eq!(values, (0..count).collect::<Vec<_>>());
        }
        let made = try_collect_with(100, || (), |(), index| if index == 70 { fails(index) } else { Ok(()) });
        assert!(matches!(made, Err(crate::Error::DistanceOverflow { semiring: "planted" })));
        let mut values = [0; 100];
        let outcome = try_for_each_chunk(&mut values, 1, |chunk, _| if chunk == 70 { fails(chunk) } else { Ok(()) });
        assert!(matches!(outcome, Err(crate::Error::DistanceOverflow { semiring: "planted" })));
        assert_eq!(called_once(|| 5, |work| work()), 5);
    }

    #[test]
    fn values_are_taken_or_dropped() {
        let dropped = AtomicUsize::new(0);
        struct Counted<'a>(&'a AtomicUsize, usize);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let numbers = collect_taken((0..100).map(|i| Counted(&dropped, i)), |value| value.1);
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
        assert_eq!(dropped.load(Ordering::Relaxed), 100);
        let panics = std::panic::AssertUnwindSafe(|| {
            for_each_taken((0..100).map(|i| Counted(&dropped, i)), |value| assert_ne!(value.1, 50));
        });
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(dropped.load(Ordering::Relaxed), 200);
    }
}
