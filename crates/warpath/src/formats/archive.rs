//! Zip archives that hold one file: the file is read in the place of the archive, and `ARCHIVE/FILE` names it in
//! errors. The arrays of a `.npz` are another matter, which [`npz`](super::npz) reads itself.

use std::io::Cursor;

use zip::ZipArchive;

use super::compression::unpack_stream;
use super::foreign::{is_npz, is_zip, recognize};
use super::input::{Input, Opened};
use super::{Format, ReadOptions};
use crate::{Error, InputError, Result};

/// The one file of an archive, or the input itself if it is no archive, or one of a kind of its own.
///
/// # Errors
///
/// If the archive is damaged, holds no file or several, or its file does not fit into memory.
pub(super) fn only_member(opened: Opened, options: &ReadOptions) -> Result<Opened> {
    let head = opened.head();
    let is_other = is_npz(head) || options.format == Some(Format::Npz) || opened.name().ends_with(".npz");
    if !is_zip(head) || is_other || recognize(head).is_some() {
        return Ok(opened);
    }
    let input = opened.load(options)?;
    let refused = |message: String| Error::from(InputError::new(message).in_file(&input.name));
    let damaged = |error: &dyn std::fmt::Display| refused(format!("not a whole zip archive: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(input.bytes())).map_err(|error| damaged(&error))?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(|error| damaged(&error))?;
        let name = member.name().map_err(|error| damaged(&error))?.into_owned();
        // Systems add folders and files of their own.
        if !member.is_dir() && !name.starts_with("__MACOSX/") && !name.ends_with(".DS_Store") {
            members.push((index, name));
        }
    }
    let [(index, name)] = &members[..] else {
        let names = members.iter().take(8).map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
        let message = match members.len() {
            0 => "this zip archive holds no file".to_owned(),
            count => format!("this zip archive holds {count} files ({names}); unpack the graph among them"),
        };
        return Err(refused(message));
    };
    let member = archive.by_index(*index).map_err(|error| damaged(&error))?;
    let bytes = unpack_stream(member, options.room_to_grow(input.owned_bytes()), &options.control).map_err(
        |error| match error {
            Error::Input(error) => error.in_file(&input.name).into(),
            other => other,
        },
    )?;
    let printable: String = name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    Input::owned(format!("{}/{printable}", input.name), bytes).unpacked(options).map(Opened::Memory)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            out.start_file(*name, SimpleFileOptions::default()).unwrap();
            out.write_all(bytes).unwrap();
        }
        out.finish().unwrap().into_inner()
    }

    #[test]
    fn the_one_file_is_read() {
        let text = &b"p sp 3 2\na 1 2 5\na 2 3 6\n"[..];
        let junk = &b"\0\x05\x16\x07"[..];
        for members in [
            &[("g.gr", text)][..],
            &[("folder/", &b""[..]), ("folder/g.gr", text), ("__MACOSX/folder/._g.gr", junk), (".DS_Store", junk)],
        ] {
            let graph = ReadOptions::new().read_bytes("g.zip", zip_of(members)).unwrap();
            assert_eq!((graph.vertices(), graph.arcs()), (3, 2));
        }
        let graph = ReadOptions::new().read_bytes("g.zip", zip_of(&[("g.mtx", b"3 3 1\n1 2\n")]));
        assert!(graph.unwrap_err().to_string().starts_with("g.zip/g.mtx:"));
    }

    #[test]
    fn other_archives_are_refused() {
        let read = |bytes: Vec<u8>| ReadOptions::new().read_bytes("g.zip", bytes).unwrap_err().to_string();
        let two = zip_of(&[("a.txt", b"1 2\n"), ("b.txt", b"1 2\n")]);
        assert_eq!(read(two), "g.zip: this zip archive holds 2 files (a.txt, b.txt); unpack the graph among them");
        assert_eq!(read(zip_of(&[])), "g.zip: this zip archive holds no file");
        let whole = zip_of(&[("a.txt", &b"1 2\n".repeat(1000))]);
        assert!(read(whole[..whole.len() / 2].to_vec()).starts_with("g.zip: not a whole zip archive"));
        let mut damaged = whole.clone();
        damaged[45] ^= 0xff;
        assert!(read(damaged).starts_with("g.zip: "));
        assert!(
            read(zip_of(&[("[Content_Types].xml", b""), ("xl/workbook.xml", b"")])).contains("a workbook of Excel")
        );
        let limited = ReadOptions::new().memory(10_000).read_bytes("g.zip", zip_of(&[("a.txt", &[b'\n'; 1 << 20])]));
        assert!(matches!(limited, Err(Error::OutOfMemory { .. })), "{limited:?}");
    }
}
