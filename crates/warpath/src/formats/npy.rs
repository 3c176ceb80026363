//! NumPy arrays, `.npy` version 1: a header that says type and shape, then the values in C order, little-endian.
//!
//! Source: NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays".

use std::io::Write;

use crate::graph::{Distances, with_distances};

/// The header of an array of `description` (such as `<u4`) and `shape`; a multiple of 64 bytes, as NumPy aligns them.
pub fn header(description: &str, shape: &[usize]) -> Vec<u8> {
    const ALIGNMENT: usize = 64;
    const MAGIC_AND_LENGTH: usize = 10;
    let sides: String = shape.iter().map(|side| format!("{side},")).collect();
    let mut text = format!("{{'descr': '{description}', 'fortran_order': False, 'shape': ({sides}), }}");
    let length = (MAGIC_AND_LENGTH + text.len() + 1).next_multiple_of(ALIGNMENT) - MAGIC_AND_LENGTH;
    text.extend(std::iter::repeat_n(' ', length - text.len() - 1));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// NumPy's name of the type of these distances.
pub fn description(distances: &Distances) -> &'static str {
    match distances {
        Distances::U32(_) => "<u4",
        Distances::U64(_) => "<u8",
        Distances::I64(_) => "<i8",
        Distances::F32(_) => "<f4",
        Distances::F64(_) => "<f8",
    }
}

/// Writes distances as one array; unreachable is the greatest value of an integer type, and infinity of a float.
///
/// # Errors
///
/// If the stream can't be written.
pub fn write_distances(out: &mut dyn Write, shape: &[usize], distances: &Distances) -> std::io::Result<()> {
    out.write_all(&header(description(distances), shape))?;
    // A little-endian machine has the values as the file wants them.
    #[cfg(target_endian = "little")]
    with_distances!(distances, values => out.write_all(bytemuck::cast_slice(values)))?;
    #[cfg(target_endian = "big")]
    with_distances!(distances, values => values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes())))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_aligned_and_say_the_shape() {
        for shape in [&[][..], &[7], &[1000, 2_000_000]] {
            let header = header("<u4", shape);
            assert_eq!(header.len() % 64, 0);
            assert_eq!(header.last(), Some(&b'\n'));
        }
        let mut bytes = Vec::new();
        write_distances(&mut bytes, &[2], &Distances::U32(vec![1, u32::MAX])).unwrap();
        assert!(String::from_utf8_lossy(&bytes).contains("'shape': (2,)"));
        assert_eq!(bytes[bytes.len() - 8..], [1, 0, 0, 0, 255, 255, 255, 255]);
    }
}
