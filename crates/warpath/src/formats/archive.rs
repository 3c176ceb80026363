//! Archives of files, zip and tar, with one graph inside: the graph is read in the place of the archive, and
//! `ARCHIVE/FILE` names it in errors. The arrays of a `.npz` are another matter, which [`npz`](super::npz) reads itself.
//!
//! **Which file is the graph.** The only file; else the only one whose name is that of a graph (see [`is_graph`]); else,
//! among these, the only one that has the name of its folder or of the archive, as in the collection of SuiteSparse, where
//! `roads.tar.gz` has `roads/roads.mtx` besides `roads/roads_coord.mtx`. Any other archive is refused. Folders, links, and
//! what systems add of their own do not count.

use std::io::Cursor;

use tar::EntryType;
use zip::ZipArchive;

use super::compression::{Compression, unpack_stream};
use super::detect;
use super::foreign::{is_npz, is_zip, recognize};
use super::input::{Input, Opened};
use super::{Format, ReadOptions};
use crate::{Error, InputError, Result};

/// The graph in an archive, or the input itself if it is no archive, or one of a kind of its own.
///
/// # Errors
///
/// If the archive is damaged, it is unclear which of its files is the graph, or that does not fit into memory.
pub(super) fn only_member(opened: Opened, options: &ReadOptions) -> Result<Opened> {
    let head = opened.head();
    if is_tar(head) {
        return from_tar(opened.load(options)?, options);
    }
    let is_other = is_npz(head) || options.format == Some(Format::Npz) || opened.name().ends_with(".npz");
    if !is_zip(head) || is_other || recognize(head).is_some() {
        return Ok(opened);
    }
    from_zip(&opened.load(options)?, options)
}

fn refused(input: &Input, message: String) -> Error {
    InputError::new(message).in_file(&input.name).into()
}

fn from_zip(input: &Input, options: &ReadOptions) -> Result<Opened> {
    let damaged = |error: &dyn std::fmt::Display| refused(input, format!("not a whole zip archive: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(input.bytes())).map_err(|error| damaged(&error))?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(|error| damaged(&error))?;
        let name = member.name().map_err(|error| damaged(&error))?.into_owned();
        if !member.is_dir() {
            members.push((name, index));
        }
    }
    let (name, index) = the_graph(members, input, "zip", options)?;
    let member = archive.by_index(index).map_err(|error| damaged(&error))?;
    let bytes = unpack_stream(member, options.room_to_grow(input.owned_bytes()), &options.control).map_err(
        |error| match error {
            Error::Input(error) => error.in_file(&input.name).into(),
            other => other,
        },
    )?;
    named(&input.name, &name, bytes).unpacked(options).map(Opened::Memory)
}

/// Whether an input begins with the header of a file in a tar archive: by its magic word, or, as the oldest have none, by
/// its checksum, which is the sum of all bytes in octal digits, with blanks in the place of the checksum.
pub(super) fn is_tar(head: &[u8]) -> bool {
    const CHECKSUM: std::ops::Range<usize> = 148..156;
    let Some(header) = head.first_chunk::<512>() else { return false };
    let digits = header[CHECKSUM].split(|&byte| byte == 0 || byte == b' ').find(|digits| !digits.is_empty());
    let stated = digits.and_then(|digits| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    let of_checksum: u32 = header[CHECKSUM].iter().map(|&byte| u32::from(byte)).sum();
    header[257..].starts_with(b"ustar") || stated == Some(sum - of_checksum + 8 * u32::from(b' '))
}

fn from_tar(input: Input, options: &ReadOptions) -> Result<Opened> {
    let damaged = |error: &dyn std::fmt::Display| refused(&input, format!("not a whole tar archive: {error}"));
    let mut archive = tar::Archive::new(input.bytes());
    let mut members = Vec::new();
    for entry in archive.entries().map_err(|error| damaged(&error))? {
        options.control.check()?;
        let entry = entry.map_err(|error| damaged(&error))?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let start = entry.raw_file_position();
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => {
                members.push((name, start..start.saturating_add(entry.size())))
            }
            EntryType::GNUSparse => {
                return Err(damaged(&format!("`{name}` is stored with holes, which can't be read")));
            }
            _ => {}
        }
    }
    let (name, range) = the_graph(members, &input, "tar", options)?;
    if range.end > input.bytes().len() as u64 {
        return Err(damaged(&format!("`{name}` is cut short")));
    }
    let archive = input.name.clone();
    // The file stays where the archive was: there is no second copy of it.
    let mut bytes = input.into_bytes();
    let length = (range.end - range.start) as usize;
    bytes.copy_within(range.start as usize..range.end as usize, 0);
    bytes.truncate(length);
    named(&archive, &name, bytes).unpacked(options).map(Opened::Memory)
}

/// A file of an archive.
fn named(archive: &str, name: &str, bytes: Vec<u8>) -> Input {
    let printable: String = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    Input::owned(format!("{archive}/{printable}"), bytes)
}

/// The file that is the graph among those of an archive, by name, and what else is known of it.
fn the_graph<T>(
    mut members: Vec<(String, T)>,
    input: &Input,
    kind: &str,
    options: &ReadOptions,
) -> Result<(String, T)> {
    members.retain(|(name, _)| !is_of_system(name));
    let count = members.len();
    let graphs: Vec<usize> = (0..count).filter(|&index| count == 1 || is_graph(&members[index].0)).collect();
    let named: Vec<usize> = (graphs.iter().copied())
        .filter(|&index| graphs.len() == 1 || is_named_like_folder(&members[index].0, &input.name))
        .collect();
    if let [index] = named[..] {
        let (name, found) = members.swap_remove(index);
        if count > 1 {
            options.notes.add(format!("`{name}` is read, of {count} files in the archive"));
        }
        return Ok((name, found));
    }
    let shown = |candidates: &mut dyn Iterator<Item = &str>| candidates.take(8).collect::<Vec<_>>().join(", ");
    let message = match (count, graphs.len()) {
        (0, _) => format!("this {kind} archive holds no file"),
        (count, 0) => {
            let names = shown(&mut members.iter().map(|(name, _)| &**name));
            format!(
                "this {kind} archive holds {count} files, and no name is that of a graph ({names}); unpack the graph"
            )
        }
        (_, graphs_there) => {
            let names = shown(&mut graphs.iter().map(|&index| &*members[index].0));
            format!("this {kind} archive holds {graphs_there} files that may be graphs ({names}); unpack one of them")
        }
    };
    Err(refused(input, message))
}

/// Whether a file is one that systems add of their own.
fn is_of_system(name: &str) -> bool {
    let file = file_name(name);
    name.starts_with("__MACOSX/") || file == ".DS_Store" || file.starts_with("._") || file == "pax_global_header"
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether a file has the extension of a format, or begins with `out.` as in the collection KONECT, and is no text about
/// the others.
fn is_graph(name: &str) -> bool {
    let file = file_name(name).to_ascii_lowercase();
    let is_about_others = ["readme", "license", "licence", "copying", "copyright", "citation", "changelog", "notice"]
        .iter()
        .any(|word| file.starts_with(word));
    !is_about_others && (file.starts_with("out.") || detect::by_extension(&file).is_some())
}

/// Whether a file has the name of its folder, or of the archive, besides extensions.
fn is_named_like_folder(name: &str, archive: &str) -> bool {
    let file = stem(file_name(name));
    let folder = name.trim_end_matches(file_name(name)).trim_end_matches(['/', '\\']);
    file == file_name(folder) || file == stem(file_name(archive))
}

/// A name without the extension of a compression, then without one more, and without that of a tar archive.
fn stem(name: &str) -> &str {
    let mut stem = name;
    if Compression::by_extension(stem).is_some() {
        stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    }
    stem.rsplit_once('.').map_or(stem, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::formats::Notes;
    use crate::formats::compression::Packer;

    type Members<'a> = &'a [(&'a str, &'a [u8])];

    fn zip_of(members: Members<'_>) -> Vec<u8> {
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            out.start_file(*name, SimpleFileOptions::default()).unwrap();
            out.write_all(bytes).unwrap();
        }
        out.finish().unwrap().into_inner()
    }

    fn tar_of(members: Members<'_>) -> Vec<u8> {
        let mut out = tar::Builder::new(Vec::new());
        for (name, bytes) in members {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(if name.ends_with('/') { EntryType::Directory } else { EntryType::Regular });
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            out.append_data(&mut header, name, *bytes).unwrap();
        }
        out.into_inner().unwrap()
    }

    fn packed(bytes: &[u8], compression: Compression) -> Vec<u8> {
        let mut packer = Packer::new(Vec::new(), Some(compression)).unwrap();
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    const TEXT: &[u8] = b"p sp 3 2\na 1 2 5\na 2 3 6\n";
    const OTHER: &[u8] = b"%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n";

    #[test]
    fn the_one_graph_is_read() {
        let junk = &b"\0\x05\x16\x07"[..];
        let long = format!("{}/g.gr", "a-folder-with-a-long-name/".repeat(8));
        for members in [
            &[("g.gr", TEXT)][..],
            &[("data", TEXT)],
            &[("folder/", &b""[..]), ("folder/g.gr", TEXT), ("__MACOSX/folder/._g.gr", junk), (".DS_Store", junk)],
            &[("f/README.txt", junk), ("f/LICENSE", junk), ("f/about.html", junk), ("f/g.gr", TEXT)],
            &[("g/g_coord.mtx", OTHER), ("g/g.gr", TEXT), ("g/g_b.mtx", OTHER)],
            &[("x/a.mtx", OTHER), ("x/graph.gr", TEXT), ("b.mtx", OTHER)],
            &[("moreno/README.moreno", junk), ("moreno/meta.moreno", junk), ("moreno/out.moreno", b"1 2\n2 3\n")],
            &[(&long, TEXT)],
        ] {
            let names: Vec<&str> = members.iter().map(|member| member.0).collect();
            let read = |name: &str, bytes: Vec<u8>| {
                let graph =
                    ReadOptions::new().read_bytes(name, bytes).unwrap_or_else(|error| panic!("{names:?}: {error}"));
                assert_eq!((graph.vertices(), graph.arcs()), (3, 2), "{names:?}");
            };
            read("graph.zip", zip_of(members));
            let tar = tar_of(members);
            read("graph.tar.xz", packed(&tar, Compression::Xz));
            read("graph.tgz", packed(&tar, Compression::Gzip));
            read("graph.tar.zst", packed(&tar, Compression::Zstandard));
            read("graph.tbz2", packed(&tar, Compression::Bzip2));
            read("graph.tar", tar);
        }
        let inside = packed(TEXT, Compression::Gzip);
        let graph = ReadOptions::new().read_bytes("g.tar", tar_of(&[("g.gr.gz", &inside)])).unwrap();
        assert_eq!(graph.arcs(), 2);
        let notes = Notes::new();
        ReadOptions::new().notes(&notes).read_bytes("x.tar", tar_of(&[("README", b"x"), ("g.gr", TEXT)])).unwrap();
        assert_eq!(notes.take(), ["`g.gr` is read, of 2 files in the archive"]);
        for (name, bytes) in
            [("g.zip", zip_of(&[("g.mtx", b"3 3 1\n1 2\n")])), ("g.tar", tar_of(&[("g.mtx", b"3 3 1\n1 2\n")]))]
        {
            let graph = ReadOptions::new().read_bytes(name, bytes);
            assert!(graph.unwrap_err().to_string().starts_with(&format!("{name}/g.mtx:")));
        }
    }

    #[test]
    fn other_archives_are_refused() {
        let read = |bytes: Vec<u8>| ReadOptions::new().read_bytes("g.zip", bytes).unwrap_err().to_string();
        let two = &[("a.txt", &b"1 2\n"[..]), ("b.txt", b"1 2\n")][..];
        for (kind, bytes) in [("zip", zip_of(two)), ("tar", tar_of(two))] {
            let message = format!(
                "g.zip: this {kind} archive holds 2 files that may be graphs (a.txt, b.txt); unpack one of them"
            );
            assert_eq!(read(bytes), message);
        }
        let none = &[("a", &b"1 2\n"[..]), ("b", b"1 2\n")][..];
        for (kind, bytes) in [("zip", zip_of(none)), ("tar", tar_of(none))] {
            let message = format!(
                "g.zip: this {kind} archive holds 2 files, and no name is that of a graph (a, b); unpack the graph"
            );
            assert_eq!(read(bytes), message);
        }
        assert_eq!(read(zip_of(&[])), "g.zip: this zip archive holds no file");
        assert_eq!(read(tar_of(&[("folder/", b"")])), "g.zip: this tar archive holds no file");
        let lines = b"1 2\n".repeat(1000);
        let whole = zip_of(&[("a.txt", &lines)]);
        assert!(read(whole[..whole.len() / 2].to_vec()).starts_with("g.zip: not a whole zip archive"));
        let mut damaged = whole.clone();
        damaged[45] ^= 0xff;
        assert!(read(damaged).starts_with("g.zip: "));
        let whole = tar_of(&[("a.txt", &lines)]);
        for length in [600, 1000, 4000] {
            let message = read(whole[..length].to_vec());
            assert!(message.starts_with("g.zip: not a whole tar archive"), "{length}: {message}");
        }
        let mut damaged = whole.clone();
        damaged[0] ^= 1;
        assert!(read(damaged).contains("checksum"));
        let mut sparse = tar::Header::new_gnu();
        sparse.set_entry_type(EntryType::GNUSparse);
        sparse.set_size(0);
        sparse.set_cksum();
        let message = read([sparse.as_bytes().as_slice(), &[0; 1024]].concat());
        assert!(message.starts_with("g.zip: not a whole tar archive"), "{message}");
        assert!(
            read(zip_of(&[("[Content_Types].xml", b""), ("xl/workbook.xml", b"")])).contains("a workbook of Excel")
        );
        let limited = ReadOptions::new().memory(10_000).read_bytes("g.zip", zip_of(&[("a.txt", &[b'\n'; 1 << 20])]));
        assert!(matches!(limited, Err(Error::OutOfMemory { .. })), "{limited:?}");
    }

    #[test]
    fn a_damaged_tar_is_an_error_or_a_graph() {
        let whole = tar_of(&[("f/README", b"x"), ("f/g.gr", TEXT)]);
        let mut random = crate::testing::Random(3);
        for _ in 0..crate::testing::size(2000, 20) {
            let mut bytes = whole.clone();
            for _ in 0..=random.below(2) {
                let at = random.below(1600) as usize;
                bytes[at] = random.next() as u8;
                if at >= 512 {
                    // A header that was changed on purpose has its checksum.
                    let header = at / 512 * 512;
                    let mut changed = tar::Header::from_byte_slice(&bytes[header..header + 512]).clone();
                    changed.set_cksum();
                    bytes[header..header + 512].copy_from_slice(changed.as_bytes());
                }
            }
            let _ = ReadOptions::new().read_bytes("g.tar", bytes);
        }
    }
}
