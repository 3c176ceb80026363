//! Bytes from a source that may never end: they grow under a limit.

use super::allocation::refused;
use crate::{Error, Result};

/// Bytes that grow up to a limit, which also covers the memory held beside them.
///
/// Growing may copy, so the old room and the new one count at once.
#[derive(Debug)]
pub(crate) struct GrowingBytes {
    bytes: Vec<u8>,
    /// What the bytes are, for messages.
    what: String,
    limit: u64,
    /// How much memory is held beside the bytes.
    beside: u64,
}

impl GrowingBytes {
    /// No bytes yet.
    pub(crate) fn new(what: impl Into<String>, limit: u64) -> Self {
        GrowingBytes { bytes: Vec::new(), what: what.into(), limit, beside: 0 }
    }

    /// Sets how much memory is held beside the bytes from now on.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if that alone is too much, with the bytes so far.
    pub(crate) fn set_beside(&mut self, beside: u64) -> Result<()> {
        self.beside = beside;
        self.check(self.bytes.capacity() as u64)
    }

    /// Makes room for `more` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if that exceeds the limit, or the system refuses.
    pub(crate) fn reserve(&mut self, more: usize) -> Result<()> {
        let (length, room) = (self.bytes.len(), self.bytes.capacity());
        if room - length >= more {
            return Ok(());
        }
        let least = length.saturating_add(more);
        // Growing by half keeps the number of copies small.
        let comfortable = least.max(length.saturating_add(length / 2));
        let with_copy = |new: usize| (room as u64).saturating_add(new as u64);
        let new = if self.check(with_copy(comfortable)).is_ok() { comfortable } else { least };
        self.check(with_copy(new))?;
        self.bytes.try_reserve_exact(new - length).map_err(|_| self.refused(more))
    }

    /// The error for `more` bytes, or memory beside the bytes, that can't be had.
    pub(crate) fn refused(&self, more: usize) -> Error {
        let needed = [self.bytes.capacity(), self.bytes.len(), more]
            .into_iter()
            .fold(self.beside, |sum, bytes| sum.saturating_add(bytes as u64));
        refused(self.what.clone(), needed)
    }

    /// The most that may be held.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    fn check(&self, bytes: u64) -> Result<()> {
        let needed = bytes.saturating_add(self.beside);
        if needed <= self.limit {
            return Ok(());
        }
        Err(Error::OutOfMemory { what: self.what.clone(), needed, available: self.limit })
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes, to which no more may be added than room was made for.
    pub(crate) fn as_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The bytes.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_room_count_at_once() {
        let mut growing = GrowingBytes::new("the input", 1000);
        growing.reserve(400).unwrap();
        growing.as_mut().resize(400, 1);
        // 400 bytes beside a copy of up to 600.
        growing.reserve(200).unwrap();
        growing.as_mut().resize(600, 2);
        let error = growing.reserve(1).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { needed: 1201, available: 1000, .. }), "{error}");
        assert_eq!((growing.len(), growing.into_vec()[400]), (600, 2));
    }

    #[test]
    fn what_is_held_beside_counts() {
        let mut growing = GrowingBytes::new("the input", 1000);
        growing.set_beside(700).unwrap();
        growing.reserve(300).unwrap();
        assert!(growing.set_beside(701).is_err());
        let mut growing = GrowingBytes::new("the input", 1000);
        growing.set_beside(700).unwrap();
        assert!(growing.reserve(301).is_err());
        assert!(GrowingBytes::new("the input", u64::MAX).reserve(usize::MAX).is_err());
    }
}
