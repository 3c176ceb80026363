//! Large arrays that return an error when memory runs out, instead of ending the process.
//!
//! The standard collections abort where an allocation fails, and under a limit on addresses (`ulimit -v`), on a machine
//! that promises no more memory than it has, or where sizes come out of a file, that happens. So every array whose
//! length grows with vertices, arcs, edges or cells of a matrix is taken here first and filled afterwards. Each
//! function costs what the plain way costs: zeros come from the system where it has them at hand.

use std::collections::BinaryHeap;

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::available_memory;
use crate::{Error, Result};

/// The error of a request for `needed` bytes that the system refused.
#[cold]
pub(crate) fn refused(what: impl Into<String>, needed: u64) -> Error {
    // More may be available than was asked for, but not in one piece.
    let available = available_memory().min(needed.saturating_sub(1));
    Error::OutOfMemory { what: what.into(), needed, available }
}

/// The bytes of `length` values; saturates.
pub(crate) fn bytes_of<T>(length: usize) -> u64 {
    (length as u64).saturating_mul(size_of::<T>() as u64)
}

/// An empty array with room for `length` values.
pub(crate) fn with_capacity<T>(what: &str, length: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(length).map_err(|_| refused(what, bytes_of::<T>(length)))?;
    Ok(values)
}

/// An array of `length` equal values.
pub(crate) fn filled<T: Clone>(what: &str, length: usize, value: T) -> Result<Vec<T>> {
    let mut values = with_capacity(what, length)?;
    values.resize(length, value);
    Ok(values)
}

/// Changes the length of an array; new elements get this value.
pub(crate) fn resize<T: Clone>(what: &str, values: &mut Vec<T>, length: usize, value: T) -> Result<()> {
    let more = length.saturating_sub(values.len());
    values.try_reserve_exact(more).map_err(|_| refused(what, bytes_of::<T>(length)))?;
    values.resize(length, value);
    Ok(())
}

/// Makes room for `more` values in an array of unknown final length; if it grows, its room at least doubles. Costs one
/// comparison if there is room already.
#[inline]
pub(crate) fn grow<T>(what: &str, values: &mut Vec<T>, more: usize) -> Result<()> {
    values.try_reserve(more).map_err(|_| refused(what, bytes_of::<T>(values.len().saturating_add(more))))
}

/// An array of `length` zeros, on pages that the system zeroes when they are first touched.
pub(crate) fn zeroed<T: Zeroable>(what: &str, length: usize) -> Result<Vec<T>> {
    bytemuck::allocation::try_zeroed_vec(length).map_err(|()| refused(what, bytes_of::<T>(length)))
}

/// A copy.
pub(crate) fn copied<T: Copy>(what: &str, values: &[T]) -> Result<Vec<T>> {
    let mut array = with_capacity(what, values.len())?;
    array.extend_from_slice(values);
    Ok(array)
}

/// Makes room in a heap for `more` values. Costs one comparison if there is room already.
#[inline]
pub(crate) fn reserve<T: Ord>(what: &str, heap: &mut BinaryHeap<T>, more: usize) -> Result<()> {
    heap.try_reserve(more).map_err(|_| refused(what, bytes_of::<T>(heap.len().saturating_add(more))))
}

/// Collects an iterator of known length.
pub(crate) fn listed<T>(what: &str, values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut array = with_capacity(what, values.len())?;
    array.extend(values);
    Ok(array)
}

/// Collects a parallel iterator of known length.
pub(crate) fn collected<T: Send>(what: &str, values: impl IndexedParallelIterator<Item = T>) -> Result<Vec<T>> {
    let mut array = with_capacity(what, values.len())?;
    values.collect_into_vec(&mut array);
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any machine has, and still a number of bytes that can be asked for.
    const TOO_MANY: usize = 1 << 55;

    fn is_refused<T>(outcome: Result<Vec<T>>, bytes: u64) -> bool {
        let Err(Error::OutOfMemory { what, needed, available }) = outcome else { return false };
        what == "marks" && needed == bytes && available < needed
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where memory can't be had")]
    fn what_can_not_be_had_is_an_error() {
        assert!(is_refused(with_capacity::<u64>("marks", TOO_MANY), 8 << 55));
        assert!(is_refused(with_capacity::<u64>("marks", usize::MAX), u64::MAX));
        assert!(is_refused(filled("marks", TOO_MANY, 1_u8), 1 << 55));
        assert!(is_refused(zeroed::<u64>("marks", TOO_MANY), 8 << 55));
        let mut values = vec![1_u64];
        assert!(is_refused(resize("marks", &mut values, TOO_MANY, 1).map(|()| values), 8 << 55));
        let mut values = vec![1_u64];
        assert!(is_refused(grow("marks", &mut values, TOO_MANY - 1).map(|()| values), 8 << 55));
        let mut heap = BinaryHeap::<u64>::new();
        assert!(is_refused(reserve("marks", &mut heap, TOO_MANY).map(|()| Vec::<u64>::new()), 8 << 55));
        assert!(is_refused(listed("marks", std::iter::repeat_n(1_u64, TOO_MANY)), 8 << 55));
        assert!(is_refused(collected("marks", (0..TOO_MANY).into_par_iter()), 8 << 55));
    }

    #[test]
    fn arrays_have_the_values_asked_for() {
        assert_eq!(filled("", 3, 7_u8).unwrap(), [7; 3]);
        assert_eq!(zeroed::<u32>("", 3).unwrap(), [0; 3]);
        assert_eq!(zeroed::<()>("", 3).unwrap(), [(); 3]);
        assert_eq!(collected("", (0..3).into_par_iter()).unwrap(), [0, 1, 2]);
        assert_eq!(listed("", 0..3).unwrap(), [0, 1, 2]);
        assert_eq!(copied("", &[0, 1, 2]).unwrap(), [0, 1, 2]);
        let mut values = vec![1_u8];
        resize("", &mut values, 3, 2).unwrap();
        assert_eq!(values, [1, 2, 2]);
        grow("", &mut values, 9).unwrap();
        assert!(values.capacity() >= 12);
        let array: Vec<u8> = with_capacity("", 5).unwrap();
        assert!(array.is_empty() && array.capacity() >= 5);
    }
}
