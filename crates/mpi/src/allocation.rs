//! Arrays that may be refused: the error tells the bytes.

use warpath::{Error, Result, available_memory};

/// An empty array with room for `length` values.
pub(crate) fn with_capacity<T>(what: &str, length: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    make_room(what, &mut values, length)?;
    Ok(values)
}

/// An array of `length` equal values.
pub(crate) fn filled<T: Clone>(what: &str, length: usize, value: T) -> Result<Vec<T>> {
    let mut values = with_capacity(what, length)?;
    values.resize(length, value);
    Ok(values)
}

/// Makes room in an array for `more` values.
pub(crate) fn make_room<T>(what: &str, values: &mut Vec<T>, more: usize) -> Result<()> {
    values.try_reserve(more).map_err(|_| Error::OutOfMemory {
        what: what.to_owned(),
        needed: (more as u64).saturating_mul(size_of::<T>() as u64),
        available: available_memory(),
    })
}

/// A copy.
pub(crate) fn copied<T: Copy>(what: &str, values: &[T]) -> Result<Vec<T>> {
    let mut copy = with_capacity(what, values.len())?;
    copy.extend_from_slice(values);
    Ok(copy)
}
