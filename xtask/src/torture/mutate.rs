//! Damaged files: every format and compression, lists of vertices, and journals of interrupted work.
//!
//! A file that is valid is damaged in a few places, its checksums are mended, so that readers get past them, and it is
//! packed; now and then what is packed is damaged as well. The command may refuse it, or find an answer that verifies.

use std::cell::OnceCell;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::time::Duration;

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use rustix::process::Signal;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::process::{Limits, Outcome, Process};
use super::random::Random;
use super::{Case, Program, Workshop, once, words};

/// What a process may take: these graphs are small, whatever their headers say.
const ADDRESS_SPACE: u64 = 4 << 30;
/// A limit of the fuzz targets' files, too: small files are damaged where it matters.
const MOST_BYTES: usize = 1 << 16;

pub(super) struct Mutate {
    shop: Workshop,
    /// Each graph in each format; `None` inside where the format can't hold it.
    written: [[OnceCell<Option<Valid>>; FORMATS.len()]; GRAPHS.len()],
    /// What else is there.
    files: Vec<Valid>,
    interrupted: [OnceCell<Interrupted>; INTERRUPTED.len()],
}

/// A file that is right.
struct Valid {
    format: &'static str,
    extension: &'static str,
    bytes: Vec<u8>,
}

/// What a kill has left of all pairs of a graph, and what an undisturbed run writes.
struct Interrupted {
    graph: Vec<u8>,
    partial: Vec<u8>,
    journal: Vec<u8>,
    whole: Vec<u8>,
}

/// Formats by extension, and what `--format` calls them.
const FORMATS: [(&str, &str); 9] = [
    ("txt", "edge-list"),
    ("gr", "dimacs"),
    ("pace.gr", "pace"),
    ("graph", "metis"),
    ("mtx", "matrix-market"),
    ("npz", "npz"),
    ("sg", "gap"),
    ("wsg", "gap"),
    ("wpg", "wpg"),
];

/// Graphs, written in each format that can hold them.
const GRAPHS: [&str; 9] = [
    "kron:5 --weights random:1..9",
    "kron:4",
    "uniform:4 --weights random:0..4000000000",
    "grid:4x5 --weights random:1..100",
    "names.csv",
    "floats.txt",
    "negative.txt",
    "numbers.txt",
    "directed.txt --directed",
];

/// Edge lists for what generators don't make: names, floats, weights below zero, gaps between numbers.
const TEXTS: [(&str, &str); 5] = [
    ("names.csv", "from,to,price\nlisboa,porto,3.5\nporto,\"vila, nova\",2\nvila nova,lisboa,1e3\nß,lisboa,0.25\n"),
    ("floats.txt", "0 1 0.1\n1 2 1e-300\n2 3 1e300\n3 0 2.5\n0 2 7\n4 4 1\n"),
    ("negative.txt", "0 1 5\n1 2 -3\n2 3 2\n0 3 9\n3 4 -1\n"),
    ("numbers.txt", "# from to\n7 1000000007\n1000000007 42 \n42 18446744073709551615\n7 42\n"),
    ("directed.txt", "5 1\n1 2\n2 5\n2 3\n3 3\n3 4\n4 0\n"),
];

/// Graphs of whose pairs the half is written.
const INTERRUPTED: [&str; 2] = ["uniform:10,seed=5", "grid:30x40"];

impl Mutate {
    pub(super) fn prepare(shop: Workshop) -> Result<Self, String> {
        for (name, text) in TEXTS {
            std::fs::write(shop.folder.join(name), text).map_err(|error| format!("{name}: {error}"))?;
        }
        let mut files = corpus();
        for (name, text) in TEXTS {
            let extension = if name.ends_with("csv") { "csv" } else { "txt" };
            files.push(Valid { format: "edge-list", extension, bytes: text.into() });
        }
        Ok(Mutate { shop, written: Default::default(), files, interrupted: Default::default() })
    }

    /// A graph in a format, if that can hold it.
    fn written(&self, graph: usize, format: usize) -> Result<Option<&Valid>, String> {
        let made = once(&self.written[graph][format], || {
            let (graph, (extension, format)) = (GRAPHS[graph], FORMATS[format]);
            let command = if graph.contains(':') { "generate" } else { "convert" };
            let name = format!("written.{extension}");
            if self.shop.run(&format!("{command} {graph} {name} --output-format {format} -q")).is_err() {
                return Ok(None);
            }
            let extension = extension.rsplit('.').next().unwrap_or(extension);
            Ok(Some(Valid { format, extension, bytes: self.shop.read(&name)? }))
        })?;
        Ok(made.as_ref())
    }

    /// A file, and another one of the same format, which may be the same.
    fn two(&self, random: &mut Random) -> Result<(&Valid, &Valid), String> {
        if !random.once_in(4) {
            let format = random.below(FORMATS.len());
            let one = self.written(random.below(GRAPHS.len()), format)?;
            let other = self.written(random.below(GRAPHS.len()), format)?;
            if let (Some(one), Some(other)) = (one, other) {
                return Ok((one, other));
            }
        }
        let one = random.of(&self.files);
        let others: Vec<&Valid> = self.files.iter().filter(|file| file.format == one.format).collect();
        Ok((one, *random.of(&others)))
    }
}

/// The seeds of the fuzz targets, some of them written by other programs.
fn corpus() -> Vec<Valid> {
    const SEEDS: [(&str, &str, &str); 17] = [
        ("dimacs/seed-edge", "dimacs", "gr"),
        ("dimacs/seed-sp", "dimacs", "gr"),
        ("edge_list/seed-csv", "edge-list", "csv"),
        ("edge_list/seed-names", "edge-list", "txt"),
        ("gap/seed-sg", "gap", "sg"),
        ("gap/seed-wsg", "gap", "wsg"),
        ("matrix_market/seed-pattern", "matrix-market", "mtx"),
        ("matrix_market/seed-real", "matrix-market", "mtx"),
        ("metis/seed-both", "metis", "graph"),
        ("metis/seed-weights", "metis", "graph"),
        ("npz/seed-npz", "npz", "npz"),
        ("npz/seed-scipy-coo-float32", "npz", "npz"),
        ("npz/seed-scipy-csr-int64", "npz", "npz"),
        ("pace/seed-tw", "pace", "gr"),
        ("wpg/seed-names", "wpg", "wpg"),
        ("wpg/seed-wpg", "wpg", "wpg"),
        ("detect/seed-mtx", "matrix-market", "mtx"),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let read = |&(name, format, extension): &(&str, &'static str, &'static str)| {
        let bytes = std::fs::read(folder.join(name)).ok()?;
        Some(Valid { format, extension, bytes })
    };
    SEEDS.iter().filter_map(read).collect()
}

/// All pairs of a graph, killed on the way.
fn interrupted(shop: &Workshop, graph: &str) -> Result<Interrupted, String> {
    shop.run(&format!("generate {graph} all.wpg --weights random:1..255 -q"))?;
    let (_, time) = shop.run("apsp all.wpg -o whole.npy -q")?;
    let mut pause = time;
    // Of these, some are killed before the first rows are journalled, and some not at all.
    for _ in 0..200 {
        let arguments = words("apsp all.wpg -o killed.npy -q");
        let mut process = Process::start(&shop.binary, &arguments, &shop.folder, "killed", None, Limits::default())?;
        std::thread::sleep(pause);
        process.signal(Signal::KILL);
        let ended = process.wait()?;
        let journal = shop.read("killed.npy.partial.journal").unwrap_or_default();
        if ended.signal().is_some() && journal.len() > 24 {
            let (graph, whole) = (shop.read("all.wpg")?, shop.read("whole.npy")?);
            return Ok(Interrupted { graph, whole, partial: shop.read("killed.npy.partial")?, journal });
        }
        pause = if ended.signal().is_some() { pause.mul_f64(1.05) } else { pause.mul_f64(0.9) };
        pause = pause.max(Duration::from_millis(1));
    }
    Err("no run was killed between its first rows and its end".into())
}

impl Program for Mutate {
    fn case(&self, case: &mut Case<'_>) -> Result<(), String> {
        match case.random.below(20) {
            0 => self.vertices(case),
            1 => self.journal(case),
            _ => self.graph(case),
        }
    }
}

impl Mutate {
    /// A damaged graph.
    fn graph(&self, case: &mut Case<'_>) -> Result<(), String> {
        let random = &mut case.random;
        let (valid, other) = self.two(random)?;
        let mut bytes = damaged_content(&valid.bytes, valid.format, &other.bytes, random);
        let (suffix, pack) = *random.of(&PACKED);
        bytes = pack(&bytes);
        if !suffix.is_empty() && random.once_in(4) {
            let copy = bytes.clone();
            damage(&mut bytes, false, &copy, random);
        }
        let name = format!("graph.{}{suffix}", valid.extension);
        case.write(&name, &bytes)?;
        for _ in 0..2 {
            let random = &mut case.random;
            let source = if valid.format == "edge-list" || random.once_in(4) { "0" } else { "1" };
            let mut text = match random.below(9) {
                0 => "info GRAPH".to_owned(),
                1 | 2 => format!("bfs GRAPH -s {source} --verify"),
                3 | 4 => format!("sssp GRAPH -s {source} --verify"),
                5 => "apsp GRAPH --verify".to_owned(),
                6 => "apsp GRAPH --verify -o out.npy".to_owned(),
                7 => "closure GRAPH --verify".to_owned(),
                _ => format!("convert GRAPH out.{}", random.of(&FORMATS).0),
            };
            // Half of what is damaged is no longer detected as what it was.
            if random.once_in(2) {
                text += &format!(" --format {}", valid.format);
            }
            let options =
                ["--directed", "--undirected", "--drop-self-loops", "--keep-parallel-edges", "--weights unit"];
            for option in options {
                if random.once_in(8) {
                    text += &format!(" {option}");
                }
            }
            if random.once_in(4) {
                text += &format!(" --threads {}", random.of(&[1, 2, 3, 7]));
            }
            if (text.starts_with("bfs") || text.starts_with("sssp")) && random.once_in(3) {
                text += *random.of(&[" --predecessors", " --cutoff 5", " --target 2", " --json"]);
            }
            let limits = Limits { address_space: Some(ADDRESS_SPACE), ..Limits::default() };
            let outcome = if case.random.once_in(8) {
                case.run_with_input(&words(&text.replace("GRAPH", "-")), &name, limits)?
            } else {
                case.run(&words(&text.replace("GRAPH", &name)), limits)?
            };
            verified_or_refused(&outcome, text.contains("--verify"))?;
        }
        Ok(())
    }

    /// A damaged list of vertices.
    fn vertices(&self, case: &mut Case<'_>) -> Result<(), String> {
        let graphs = ["grid:6x6", "names.csv"];
        let graph = *case.random.of(&graphs);
        let mut list: Vec<u8> = match graph {
            "names.csv" => "lisboa\n# twice\nporto\n\nvila, nova\nß\n".into(),
            _ => "0\n1\n% two\n2\r\n  35 \n".into(),
        };
        let copy = list.clone();
        damage(&mut list, true, &copy, &mut case.random);
        case.write("names.csv", TEXTS[0].1.as_bytes())?;
        case.write("list", &list)?;
        let command = *case.random.of(&[
            "bfs GRAPH --sources list --verify",
            "sssp GRAPH --sources list --verify",
            "apsp GRAPH --sources list --verify",
            "apsp GRAPH --targets list --verify",
            "apsp GRAPH --sources list --targets list --verify -o out.csv",
        ]);
        let limits = Limits { address_space: Some(ADDRESS_SPACE), ..Limits::default() };
        let outcome = case.run(&words(&command.replace("GRAPH", graph)), limits)?;
        verified_or_refused(&outcome, true)
    }

    /// Interrupted work that was damaged: what is resumed is whole, or refused.
    fn journal(&self, case: &mut Case<'_>) -> Result<(), String> {
        let made = |index| once(&self.interrupted[index], || interrupted(&self.shop, INTERRUPTED[index]));
        let work = made(case.random.below(INTERRUPTED.len()))?;
        let (mut partial, mut journal) = (work.partial.clone(), work.journal.clone());
        let other = made(case.random.below(INTERRUPTED.len()))?;
        if case.random.once_in(3) {
            damage(&mut partial, false, &other.partial, &mut case.random);
        } else {
            damage(&mut journal, false, &other.journal, &mut case.random);
        }
        case.write("all.wpg", &work.graph)?;
        case.write("out.npy.partial", &partial)?;
        case.write("out.npy.partial.journal", &journal)?;
        let limits = Limits { address_space: Some(ADDRESS_SPACE), ..Limits::default() };
        let outcome = case.run(&words("apsp all.wpg -o out.npy --resume --verify"), limits)?;
        verified_or_refused(&outcome, true)?;
        match case.read("out.npy")? {
            None if outcome.code() == Some(0) => Err("exit 0, and no file".into()),
            Some(_) if outcome.code() != Some(0) => Err("an error, and a file".into()),
            Some(bytes) if bytes != work.whole => {
                Err("what was resumed differs from what an undisturbed run writes".into())
            }
            _ => Ok(()),
        }
    }
}

/// Exit 0 with an answer that was verified, 1 with a cycle of negative length, or an error.
fn verified_or_refused(outcome: &Outcome, verify: bool) -> Result<(), String> {
    outcome.expect(&[0, 1, 2, 3])?;
    match outcome.code() {
        Some(0) if verify && !is_verified(&outcome.stdout) => Err("exit 0 without `verified`".into()),
        Some(1) if !outcome.stderr.contains("cycle of negative length") => {
            Err(format!("an answer that does not verify: {}", outcome.stderr.trim()))
        }
        _ => Ok(()),
    }
}

/// Whether the command said that every result verifies.
fn is_verified(said: &str) -> bool {
    if said.starts_with('{') {
        return said.contains("\"verified\":true") && !said.contains("\"verified\":false");
    }
    said.contains("verified") && !said.contains("not verified")
}

type Pack = fn(&[u8]) -> Vec<u8>;

/// Compressions by extension; most files are not compressed.
const PACKED: [(&str, Pack); 7] =
    [("", plain), ("", plain), ("", plain), (".gz", gzip), (".zst", zstandard), (".bz2", bzip2), (".xz", xz)];

fn plain(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

// Writing to memory can't fail.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), flate2::Compression::default());
    let _ = out.write_all(bytes);
    out.finish().unwrap_or_default()
}

pub(super) fn zstandard(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

pub(super) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut out = BzEncoder::new(Vec::new(), bzip2::Compression::default());
    let _ = out.write_all(bytes);
    out.finish().unwrap_or_default()
}

pub(super) fn xz(bytes: &[u8]) -> Vec<u8> {
    let Ok(mut out) = XzWriter::new(Vec::new(), XzOptions::with_preset(1)) else { return Vec::new() };
    let _ = out.write_all(bytes);
    out.finish().unwrap_or_default()
}

/// A damaged copy of a file whose checksums hold, most of the time.
fn damaged_content(bytes: &[u8], format: &str, other: &[u8], random: &mut Random) -> Vec<u8> {
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

/// Numbers that are the last of their type, or near.
const EXTREMES: [u64; 14] = [
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

/// What numbers in text become.
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
fn damage(bytes: &mut Vec<u8>, is_text: bool, other: &[u8], random: &mut Random) {
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
                // A part once more, somewhere.
                let part = bytes[at..(at + 1 + random.below(64)).min(length)].to_vec();
                let to = random.below(length + 1);
                bytes.splice(to..to, part);
            }
            5 => drop(bytes.drain(at..(at + 1 + random.below(64)).min(length))),
            6 => {
                // The front of one, the back of another.
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
                // Lines change places.
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
                let (a, b) = (random.below(lines.len()), random.below(lines.len()));
                lines.swap(a, b);
                *bytes = lines.concat();
            }
            _ => {
                // A number becomes another one.
                let starts: Vec<usize> = (0..length)
                    .filter(|&i| bytes[i].is_ascii_digit() && (i == 0 || !bytes[i - 1].is_ascii_digit()))
                    .collect();
                if !starts.is_empty() {
                    // The first ones are those of headers.
                    let start =
                        if random.once_in(2) { starts[random.below(starts.len().min(4))] } else { *random.of(&starts) };
                    let end = (start..length).find(|&i| !bytes[i].is_ascii_digit()).unwrap_or(length);
                    bytes.splice(start..end, random.of(&NUMBERS).bytes());
                }
            }
        }
    }
}

/// Puts extremes, or numbers near what is there, into aligned fields of the first `front` bytes.
fn damage_fields(bytes: &mut [u8], front: usize, random: &mut Random) {
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

/// Mends the checksums of a `.wpg` file: of each block of 1 MiB, of those checksums, and of the header. Where the table of
/// checksums lies is in the header.
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

/// An archive with damaged members, packed anew so that lengths and checksums hold, or with other lengths. `None` if it
/// can't be read.
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
        // The text in front says type and shape.
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
        // Two members of one name are refused here.
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

/// Gives a member of an archive another length, where it is listed and in front of it.
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
