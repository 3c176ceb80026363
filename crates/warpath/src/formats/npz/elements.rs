//! The bytes of a member of an archive, stored or packed.

use std::io::Read;

/// Where elements come from.
pub(super) enum Elements<'a> {
    /// The file itself, where the array is stored as it is, with its checksum: so far, and as it has to be.
    Stored { bytes: &'a [u8], checksum: crc32fast::Hasher, expected: u32 },
    /// A stream that unpacks them.
    Packed(Box<dyn Read + 'a>),
}

impl Elements<'_> {
    /// The next bytes, which belong to the header.
    pub(super) fn header_bytes(&mut self, length: usize) -> Option<Vec<u8>> {
        match self {
            Elements::Stored { bytes, checksum, .. } => {
                let (header, rest) = bytes.split_at_checked(length)?;
                checksum.update(header);
                *bytes = rest;
                Some(header.to_vec())
            }
            Elements::Packed(stream) => {
                let mut header = vec![0; length];
                stream.read_exact(&mut header).ok()?;
                Some(header)
            }
        }
    }
}
