//! Large pages for large arrays.
//!
//! A graph algorithm reads all over its arrays. With pages of 4 KiB nearly every such read also misses the cache of
//! address translations, which in a virtual machine takes longer than the read itself; with pages of 2 MiB hardly any
//! does, and new memory is handed over in far fewer steps. Linux gives them to whoever asks; elsewhere the request does
//! nothing.
//!
//! *Invariants.* Advice is given for addresses within the array alone, and changes no content.

/// Asks the system to back an array, best one not yet written to, by large pages. Only advice: nothing changes but the
/// speed.
pub fn on_huge_pages<T>(values: Vec<T>) -> Vec<T> {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const HUGE: usize = 2 << 20;
        let start = values.as_ptr().addr().next_multiple_of(HUGE);
        let end = values.as_ptr().addr() + values.capacity() * size_of::<T>();
        if size_of::<T>() > 0 && end > start && end - start >= HUGE {
            // SAFETY: the range lies within the allocation, and the advice changes no content. That it may be refused
            // does no harm.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    values
}

#[cfg(test)]
mod tests {
    #[test]
    fn content_stays() {
        for length in [0, 1, crate::testing::size(1_000_000, 100)] {
            let values: Vec<u64> = (0..length).collect();
            assert_eq!(super::on_huge_pages(values.clone()), values);
        }
        assert_eq!(super::on_huge_pages(vec![(); 5]).len(), 5);
    }
}
