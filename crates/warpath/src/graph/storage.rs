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
    /// Says that this range will not be read again soon, so that it need not stay in memory. The bytes stay valid.
    fn release(&self, _range: Range<usize>) {}
}

/// Zeros, in huge pages where the system has them: an array of a large graph takes tens of thousands of small pages, each
/// of which costs a fault when it is first written, and a miss of the translation buffer at every random access.
pub(crate) fn zeroed<T: Pod>(length: usize) -> Vec<T> {
    let values = vec![T::zeroed(); length];
    #[cfg(target_os = "linux")]
    {
        const HUGE: usize = 1 << 21;
        let start = (values.as_ptr() as usize).next_multiple_of(HUGE);
        let end = (values.as_ptr() as usize + length * size_of::<T>()) / HUGE * HUGE;
        if start < end {
            // SAFETY: advice about memory inside of `values`. It changes no content, and may fail without harm.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    values
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
