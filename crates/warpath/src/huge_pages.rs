//! Large arrays on huge pages.
//!
//! A random access into an array of many small pages first has to find the page: in a virtual machine that takes
//! longer than the access. Linux gives 2 MiB pages to whoever asks; elsewhere the request does nothing.

/// An empty vector with room for `capacity` values, on huge pages if it is large and the system has them.
pub(crate) fn vec_with_capacity<T>(capacity: usize) -> Vec<T> {
    let vector = Vec::with_capacity(capacity);
    #[cfg(target_os = "linux")]
    {
        const WORTHWHILE: usize = 4 << 20;
        const PAGE: usize = 4096;
        let start = (vector.as_ptr() as usize).next_multiple_of(PAGE);
        let end = (vector.as_ptr() as usize + vector.capacity() * size_of::<T>()) / PAGE * PAGE;
        if end.saturating_sub(start) >= WORTHWHILE {
            // SAFETY: the range is whole pages inside memory that the vector owns, and the advice changes no content.
            // That it may be refused does no harm.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    vector
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_a_vector() {
        for capacity in [0, 1, 10_000_000] {
            let mut vector: Vec<u64> = super::vec_with_capacity(capacity);
            vector.extend(0..capacity as u64);
            assert!(vector.iter().copied().eq(0..capacity as u64));
        }
    }
}
