//! Loops on all threads of the current pool that are compiled once.
//!
//! rayon compiles a parallel iterator anew for every closure and every type: some seventy functions each. The loops here call the closure
//! through a reference instead, so that little more than the closure itself is compiled. A call takes a few nanoseconds: an index, or a
//! chunk, has to be work for microseconds. Where it is not, or where the loop is made for one type alone, rayon's iterators are right.
//!
//! *Invariants.* An index is handed out once, and the chunks of different indices do not overlap.

use std::ops::Range;

use rayon::prelude::*;

/// Calls `work` with ranges that are all indices below `count` together, each once: as few as keep all threads busy.
fn for_each_range(count: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
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
    let (first, all) = (Shared(values.as_mut_ptr()), values.len());
    for_each_range(all.div_ceil(length), &|chunks| {
        let mut own = prepare();
        for chunk in chunks {
            let start = chunk * length;
            // SAFETY: `start` is below `all`, and the end is not beyond it, so all of it lies in `values`, which are borrowed meanwhile. No
            // chunk is handed out twice, and others do not overlap it.
            let values = unsafe { std::slice::from_raw_parts_mut(first.at(start), length.min(all - start)) };
            work(&mut own, chunk, values);
        }
    });
}

/// A pointer to values that threads share out.
struct Shared<T>(*mut T);

// SAFETY: each value is handed to one thread at a time, which may have it.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The value with this index, which is not beyond the end.
    fn at(&self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
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
