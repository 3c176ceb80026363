//! Values as the 32-bit words that messages carry.

use bytemuck::Pod;

/// How many words a value takes in a message.
pub(crate) const fn words_of<T>() -> usize {
    size_of::<T>().div_ceil(4)
}

/// Adds a value to a message.
#[inline]
pub(crate) fn push<T: Pod>(words: &mut Vec<u32>, value: T) {
    for bytes in bytemuck::bytes_of(&value).chunks_exact(4) {
        words.push(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    }
}

/// The value that these words of a message are.
#[inline]
pub(crate) fn pull<T: Pod>(words: &[u32]) -> T {
    bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[..words_of::<T>()]))
}
