//! Large pages for large arrays.
//!
//! A graph algorithm reads all over its arrays. With pages of 4 KiB nearly every such read also misses the cache of
//! address translations; with pages of 2 MiB hardly any does, and new memory is handed over in far fewer steps.

/// Asks the system to back an array, not yet written to, by large pages. Only advice: nothing changes but the speed.
pub(super) fn on_huge_pages<T>(values: Vec<T>) -> Vec<T> {
    #[cfg(target_os = "linux")]
    {
        const HUGE: usize = 1 << 21;
        let start = (values.as_ptr() as usize).next_multiple_of(HUGE);
        let end = values.as_ptr() as usize + values.capacity() * size_of::<T>();
        if size_of::<T>() > 0 && end > start && end - start >= HUGE {
            // SAFETY: the range lies within the allocation, and the advice changes no content.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    values
}
