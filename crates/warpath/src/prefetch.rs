//! Asking for memory before it is needed.
//!
//! *Invariants.* A prefetch never faults, whatever the address, and changes nothing that can be observed.

/// Starts loading the cache line of `slice[index]`; the index may be anything. A hint: it changes no result, and on
/// processors for which stable Rust has no such instruction it does nothing.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching never faults, whatever the address, and changes nothing that can be observed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(index).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// As [`prefetch`], for a line that will be written.
#[inline(always)]
pub(crate) fn prefetch_for_writing<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: prefetching never faults, whatever the address, and changes nothing that can be observed.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(slice.as_ptr().wrapping_add(index).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
