//! An array that is either owned or a window into a memory-mapped file.

use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::Arc;

use bytemuck::Pod;

/// Bytes that somebody keeps mapped, or otherwise at a fixed address, for as long as the value lives.
///
/// # Safety
///
/// The slice must keep its address and length for the life of the value, across moves, and stay readable even when
/// the file behind it is cut short (see `formats::mapped_file`). Its bytes may then turn to zero, nothing else.
pub unsafe trait StableBytes: Send + Sync {
    /// The bytes.
    fn bytes(&self) -> &[u8];
    /// Whether part of the file behind the bytes went missing since it was mapped: what was computed is worthless.
    fn is_damaged(&self) -> bool;
    /// Says that `range` will hardly be read again: memory that only caches a file may be given back.
    fn release(&self, range: Range<usize>) {
        let _ = range;
    }
}

/// An immutable array of plain values: a vector, or a window into a memory-mapped file.
pub struct Storage<T>(Inner<T>);

enum Inner<T> {
    Owned(Vec<T>),
    Mapped { bytes: Arc<dyn StableBytes>, range: Range<usize>, element: PhantomData<T> },
}

impl<T: Pod> Storage<T> {
    /// A window of `length` elements at byte `offset` into mapped bytes; `None` if it is misaligned or out of range.
    pub fn mapped(bytes: Arc<dyn StableBytes>, offset: usize, length: usize) -> Option<Self> {
        let end = length.checked_mul(size_of::<T>())?.checked_add(offset)?;
        let window = bytes.bytes().get(offset..end)?;
        bytemuck::try_cast_slice::<u8, T>(window).ok()?;
        Some(Storage(Inner::Mapped { bytes, range: offset..end, element: PhantomData }))
    }

    /// Whether the file behind a mapped array was cut short while it was mapped.
    pub fn is_damaged(&self) -> bool {
        match &self.0 {
            Inner::Owned(_) => false,
            Inner::Mapped { bytes, .. } => bytes.is_damaged(),
        }
    }

    /// Bytes of memory owned by this array; a mapped file is not counted.
    pub fn owned_bytes(&self) -> u64 {
        match &self.0 {
            Inner::Owned(values) => (values.capacity() * size_of::<T>()) as u64,
            Inner::Mapped { .. } => 0,
        }
    }
}

impl<T: Pod> Deref for Storage<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Inner::Owned(values) => values,
            Inner::Mapped { bytes, range, .. } => bytemuck::cast_slice(&bytes.bytes()[range.clone()]),
        }
    }
}

impl<T> From<Vec<T>> for Storage<T> {
    fn from(values: Vec<T>) -> Self {
        Storage(Inner::Owned(values))
    }
}

impl<T: Pod> Clone for Storage<T> {
    fn clone(&self) -> Self {
        match &self.0 {
            Inner::Owned(values) => Storage(Inner::Owned(values.clone())),
            Inner::Mapped { bytes, range, .. } => {
                Storage(Inner::Mapped { bytes: bytes.clone(), range: range.clone(), element: PhantomData })
            }
        }
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for Storage<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(self.iter().take(16)).finish()
    }
}
