//! Writing memory that nobody reads soon, past the cache.
//!
//! *Invariants.* Lines that are stored past the cache lie within the slice that is written. A fence follows the last of these
//! stores before anybody can read what they wrote.

use bytemuck::Pod;

/// Bytes that one store past the cache writes, and those of a line, which such stores should write whole.
#[cfg(target_arch = "x86_64")]
const STORED: usize = 16;
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Copies `from` to `to`, which has the same length. Whole lines of the cache go to memory at once and are not read before; what is
/// left at both ends goes through the cache. On processors for which stable Rust has no such stores this is a copy.
///
/// # Safety
///
/// This thread has to call [`finish_writing`] before anybody accesses `to` again, itself included.
///
/// # Panics
///
/// If the lengths differ.
#[inline]
pub(crate) unsafe fn copy_past_cache<T: Pod>(to: &mut [T], from: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        assert_eq!(to.len(), from.len(), "as many values are copied as there is room for");
        let (to, from): (&mut [u8], &[u8]) = (bytemuck::cast_slice_mut(to), bytemuck::cast_slice(from));
        let ahead = to.as_ptr().align_offset(LINE).min(to.len());
        let (to_first, to) = to.split_at_mut(ahead);
        let (from_first, from) = from.split_at(ahead);
        to_first.copy_from_slice(from_first);
        let (lines, to_last) = to.as_chunks_mut::<LINE>();
        let (from, from_last) = from.as_chunks::<LINE>();
        for (to, from) in lines.iter_mut().zip(from) {
            use std::arch::x86_64::{__m128i, _mm_stream_si128};
            for (to, from) in to.as_chunks_mut::<STORED>().0.iter_mut().zip(from.as_chunks::<STORED>().0) {
                let value: __m128i = bytemuck::pod_read_unaligned(from);
                // SAFETY: the 16 bytes are borrowed for writing, and aligned, since they are a quarter of a line. Every x86-64
                // processor has this instruction. The caller sees to it that a fence follows before anybody looks.
                unsafe { _mm_stream_si128(to.as_mut_ptr().cast(), value) }
            }
        }
        to_last.copy_from_slice(from_last);
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}

/// Waits until everything that this thread has written past the cache can be seen by others.
#[inline]
pub(crate) fn finish_writing() {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 processor has this instruction.
        unsafe { std::arch::x86_64::_mm_sfence() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_arrives_wherever_lines_begin() {
        let from: Vec<u32> = (1..=100).collect();
        for begin in 0..20 {
            for count in [0, 1, 3, 15, 16, 17, 33, 80] {
                let mut to = vec![0; 100];
                // SAFETY: the fence follows.
                unsafe { copy_past_cache(&mut to[begin..begin + count], &from[..count]) };
                finish_writing();
                assert!(to[..begin].iter().chain(&to[begin + count..]).all(|&value| value == 0), "{begin} {count}");
                assert_eq!(to[begin..begin + count], from[..count], "{begin} {count}");
            }
        }
    }
}
