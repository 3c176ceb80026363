//! Damages bytes, binary number fields, and text.

use super::Random;

/// The extreme numbers of integer types, and numbers near them.
pub(super) const EXTREMES: [u64; 14] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
    0x2000_0000_0000_0000,
    1_000_000_000,
];

/// Replacements for numbers in text.
const NUMBERS: [&str; 28] = [
    "0",
    "1",
    "-1",
    "2",
    "00",
    "4294967294",
    "4294967295",
    "4294967296",
    "2147483647",
    "-2147483648",
    "1000000000",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "1e308",
    "1e309",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "-0",
    "0.1",
    "1.5e308",
    "",
    "+1",
    "0x10",
];

/// Damages bytes in one to four places, most often in one.
pub(super) fn damage(bytes: &mut Vec<u8>, is_text: bool, other: &[u8], random: &mut Random) {
    let places = 1 + random.below(4);
    for _ in 0..1 + random.below(places) {
        let length = bytes.len();
        let at = random.below(length);
        match random.below(if is_text { 13 } else { 9 }) {
            _ if length == 0 => bytes.extend_from_slice(other),
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = *random.of(&[0, 1, 0x7f, 0x80, 0xff, b'\n', b' ', b'-', b'9', b'#', b'"']),
            2 => damage_fields(bytes, length, random),
            3 => bytes.truncate(at),
            4 => {
                // Insert a copy of a part somewhere.
                let part = bytes[at..(at + 1 + random.below(64)).min(length)].to_vec();
                let to = random.below(length + 1);
                bytes.splice(to..to, part);
            }
            5 => drop(bytes.drain(at..(at + 1 + random.below(64)).min(length))),
            6 => {
                // Join the front of one file and the back of another.
                bytes.truncate(at);
                bytes.extend_from_slice(&other[random.below(other.len())..]);
            }
            7 => bytes.extend((0..1 + random.below(32)).map(|_| random.next() as u8)),
            8 => {
                let value = *random.of(&[0, 0xff]);
                let end = (at + 1 + random.below(32)).min(length);
                bytes[at..end].fill(value);
            }
            9 => {
                // Swap lines.
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
                let (a, b) = (random.below(lines.len()), random.below(lines.len()));
                lines.swap(a, b);
                *bytes = lines.concat();
            }
            _ => {
                // Replace a number.
                let starts: Vec<usize> = (0..length)
                    .filter(|&i| bytes[i].is_ascii_digit() && (i == 0 || !bytes[i - 1].is_ascii_digit()))
                    .collect();
                if !starts.is_empty() {
                    // The first numbers are in headers.
                    let start =
                        if random.once_in(2) { starts[random.below(starts.len().min(4))] } else { *random.of(&starts) };
                    let end = (start..length).find(|&i| !bytes[i].is_ascii_digit()).unwrap_or(length);
                    bytes.splice(start..end, random.of(&NUMBERS).bytes());
                }
            }
        }
    }
}

/// Overwrites aligned fields of the first `front` bytes with extreme numbers, or with numbers near the current ones.
pub(super) fn damage_fields(bytes: &mut [u8], front: usize, random: &mut Random) {
    for _ in 0..1 + random.below(2) {
        let width = *random.of(&[1_usize, 2, 4, 8]);
        let front = front.min(bytes.len()) / width;
        if front == 0 {
            continue;
        }
        let at = random.below(front) * width;
        let field = &mut bytes[at..at + width];
        let mut value = [0; 8];
        value[..width].copy_from_slice(field);
        let was = u64::from_le_bytes(value);
        let value = match random.below(4) {
            0 => was.wrapping_add(1 + random.below(8) as u64),
            1 => was.wrapping_sub(1 + random.below(8) as u64),
            2 => was.wrapping_mul(2),
            _ => *random.of(&EXTREMES),
        };
        field.copy_from_slice(&value.to_le_bytes()[..width]);
    }
}
