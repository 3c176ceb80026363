//! Checksums of files that are not whole yet.

use rayon::prelude::*;

/// A 64-bit checksum of bytes, for files that one machine writes and reads: fast, and no proof against intent.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::default();
    sum.add(bytes);
    sum.get()
}

/// The same for large arrays, by all threads: that of the checksums of pieces of 16 MiB, if they are several.
pub(crate) fn checksum_of_array(bytes: &[u8]) -> u64 {
    const PIECE: usize = 16 << 20;
    match bytes.len() {
        0..=PIECE => checksum(bytes),
        _ => checksum(bytemuck::cast_slice(&bytes.par_chunks(PIECE).map(checksum).collect::<Vec<u64>>())),
    }
}

/// A fast 64-bit hash of bytes that come piece by piece: four lanes of multiply and rotate over 32 bytes at a time,
/// then the rest and the length. It guards against accidents, not against malice.
#[derive(Debug)]
pub(crate) struct Checksum {
    lanes: [u64; 4],
    /// Bytes that wait to fill a chunk.
    rest: [u8; Self::CHUNK],
    length: u64,
}

impl Default for Checksum {
    fn default() -> Self {
        Checksum { lanes: [1, 2, 3, 4], rest: [0; Self::CHUNK], length: 0 }
    }
}

impl Checksum {
    const CHUNK: usize = 32;

    fn mix(state: u64, word: u64) -> u64 {
        const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
        (state ^ word.wrapping_mul(PRIME)).rotate_left(29).wrapping_mul(PRIME)
    }

    pub(crate) fn add(&mut self, mut bytes: &[u8]) {
        let waiting = (self.length % Self::CHUNK as u64) as usize;
        self.length += bytes.len() as u64;
        if waiting > 0 {
            let (now, later) = bytes.split_at(bytes.len().min(Self::CHUNK - waiting));
            self.rest[waiting..waiting + now.len()].copy_from_slice(now);
            if waiting + now.len() < Self::CHUNK {
                return;
            }
            Self::mix_chunk(&mut self.lanes, &self.rest);
            bytes = later;
        }
        let chunks = bytes.chunks_exact(Self::CHUNK);
        let rest = chunks.remainder();
        chunks.for_each(|chunk| Self::mix_chunk(&mut self.lanes, chunk));
        self.rest[..rest.len()].copy_from_slice(rest);
    }

    fn mix_chunk(lanes: &mut [u64; 4], chunk: &[u8]) {
        for (lane, word) in lanes.iter_mut().zip(chunk.chunks_exact(8)) {
            *lane = Self::mix(*lane, number(word));
        }
    }

    pub(crate) fn get(&self) -> u64 {
        let mut lanes = self.lanes;
        for word in self.rest[..(self.length % Self::CHUNK as u64) as usize].chunks(8) {
            lanes[0] = Self::mix(lanes[0], number(word));
        }
        lanes.into_iter().fold(self.length, Self::mix)
    }
}

/// The little-endian number at the front of `bytes`.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(&whole) => u64::from_le_bytes(whole),
        None => bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_the_same_however_the_bytes_come() {
        let mut random = crate::testing::Random(3);
        let bytes: Vec<u8> = (0..1000).map(|_| random.below(256) as u8).collect();
        assert_eq!(checksum(b""), Checksum::default().get());
        // Existing journals hold these values, so they must not change.
        assert_eq!(checksum(b"warpath"), 0x5417ecc1a536197a);
        assert_eq!(checksum(&(0..100).collect::<Vec<u8>>()), 0x3e6f90e44b7f8fd6);
        assert_eq!(checksum_of_array(&bytes), checksum(&bytes));
        let mut large = vec![7_u8; (16 << 20) + 9];
        let before = checksum_of_array(&large);
        *large.last_mut().unwrap() = 8;
        assert_ne!(checksum_of_array(&large), before);
        for length in 0..200 {
            let mut sum = Checksum::default();
            let mut left = &bytes[..length];
            while !left.is_empty() {
                let (now, later) = left.split_at(random.below(left.len() as u64 + 1) as usize);
                sum.add(now);
                left = later;
            }
            assert_eq!(sum.get(), checksum(&bytes[..length]), "{length}");
        }
    }
}
