//! Damages files and mends their checksums, so that readers get past them.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::Random;
use super::damage::{EXTREMES, damage, damage_fields};

/// The size limit of the fuzz targets' files, too: small files are damaged where it matters.
const MOST_BYTES: usize = 1 << 16;

/// A damaged copy of a file, most of the time with valid checksums.
pub(super) fn damaged_content(bytes: &[u8], format: &str, other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    let mend = !random.once_in(8);
    match format {
        "npz" if mend => match damaged_archive(bytes, random) {
            Some(archive) => return archive,
            None => damage(&mut damaged, false, other, random),
        },
        "wpg" if mend => {
            if random.once_in(2) {
                damage_fields(&mut damaged, 256, random);
            } else {
                damage(&mut damaged, false, other, random);
            }
            mend_wpg(&mut damaged);
        }
        "gap" if random.once_in(2) => damage_fields(&mut damaged, 24, random),
        _ => {
            let is_text = !matches!(format, "npz" | "wpg" | "gap");
            damage(&mut damaged, is_text, other, random);
        }
    }
    damaged.truncate(MOST_BYTES);
    damaged
}

/// Mends the checksums of a `.wpg` file: of each block of 1 MiB, of the table of checksums, and of the header. The
/// header says where the table is.
fn mend_wpg(bytes: &mut [u8]) {
    const HEADER: usize = 256;
    const TABLE: usize = 72 + 5 * 16;
    if bytes.len() < HEADER {
        return;
    }
    let table = u64::from_le_bytes(bytes[TABLE..TABLE + 8].try_into().unwrap_or_default());
    if let Some(table) = usize::try_from(table).ok().filter(|table| (HEADER..bytes.len()).contains(table)) {
        let (content, checksums) = bytes.split_at_mut(table);
        let mut sums: Vec<u8> =
            content[HEADER..].chunks(1 << 20).flat_map(|block| crc32fast::hash(block).to_le_bytes()).collect();
        sums.extend(crc32fast::hash(&sums).to_le_bytes());
        let length = sums.len().min(checksums.len());
        checksums[..length].copy_from_slice(&sums[..length]);
    }
    let sum = crc32fast::hash(&bytes[..HEADER - 4]);
    bytes[HEADER - 4..HEADER].copy_from_slice(&sum.to_le_bytes());
}

/// An archive with damaged members, packed again so that lengths and checksums are valid, or with wrong lengths. `None`
/// if it can't be read.
fn damaged_archive(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).ok()?;
        let mut content = Vec::new();
        member.read_to_end(&mut content).ok()?;
        let name = member.name().ok()?.into_owned();
        members.push((name, content));
    }
    if members.is_empty() {
        return None;
    }
    let other = random.of(&members).1.clone();
    for _ in 0..1 + random.below(2) {
        let index = random.below(members.len());
        let content = &mut members[index].1;
        // The text in front states type and shape.
        let header = content.len().min(128);
        match random.below(8) {
            0 => drop(members.remove(index)),
            1 => members.push((format!("{index}.npy"), other.clone())),
            2 | 3 => {
                let mut text = content[..header].to_vec();
                damage(&mut text, true, &other, random);
                content.splice(..header, text);
            }
            4 | 5 => damage_fields(&mut content[header..], usize::MAX, random),
            _ => damage(content, false, &other, random),
        }
        if members.is_empty() {
            break;
        }
    }
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in &members {
        let method = if random.once_in(2) { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        // The writer refuses two members of the same name.
        if out.start_file(name.as_str(), SimpleFileOptions::default().compression_method(method)).is_ok() {
            out.write_all(content).ok()?;
        }
    }
    let mut bytes = out.finish().ok()?.into_inner();
    if random.once_in(4) {
        lie_about_length(&mut bytes, random);
    }
    Some(bytes)
}

/// Changes the length of a member of an archive, both in the directory and in front of the member.
fn lie_about_length(bytes: &mut [u8], random: &mut Random) {
    let entries: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"PK\x01\x02")).collect();
    if entries.is_empty() {
        return;
    }
    let entry = *random.of(&entries);
    let length = (*random.of(&EXTREMES) as u32).to_le_bytes();
    let place = bytes.get(entry + 42..entry + 46).and_then(|field| field.try_into().ok()).map(u32::from_le_bytes);
    let front = place.map(|place| place as usize + 22);
    for at in [Some(entry + 24), front].into_iter().flatten() {
        if let Some(field) = bytes.get_mut(at..at + 4) {
            field.copy_from_slice(&length);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_mended_file_has_the_checksums_that_were_written() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/wpg/seed-names");
        let valid = std::fs::read(path).unwrap();
        let mut mended = valid.clone();
        mended[252..256].fill(0);
        let table = valid.len() - 8;
        mended[table..].fill(0);
        assert_ne!(mended, valid);
        mend_wpg(&mut mended);
        assert_eq!(mended, valid);
    }

    #[test]
    fn damage_is_decided_by_the_seed_and_any_bytes_do() {
        for seed in 0..2000 {
            let content: Vec<u8> = (0..seed as u8).collect();
            let once = || {
                let (mut bytes, mut random) = (content.clone(), Random::new(seed));
                damage(&mut bytes, seed % 2 == 0, b"12 34\n", &mut random);
                damage_fields(&mut bytes, 24, &mut random);
                mend_wpg(&mut bytes);
                (damaged_content(&bytes, "npz", b"", &mut random), bytes)
            };
            assert_eq!(once(), once());
        }
    }

    #[test]
    fn an_archive_with_damaged_members_is_still_an_archive() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/npz/seed-npz");
        let valid = std::fs::read(path).unwrap();
        let mut readable = 0;
        for seed in 0..100 {
            let archive = damaged_archive(&valid, &mut Random::new(seed)).unwrap();
            readable += usize::from(ZipArchive::new(Cursor::new(archive)).is_ok());
        }
        assert!(readable > 50, "{readable}");
    }
}
