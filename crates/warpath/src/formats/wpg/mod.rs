//! `.wpg`: Warpath's own format, the graph as it lies in memory.
//!
//! A file is copied into memory block by block, in parallel, and every check is made on the copy. The checksum of each
//! block of 1 MiB is checked while the block is in the cache. Then follows everything that the algorithms rely on:
//! offsets never fall, heads are vertices and ascend, and every arc has its reverse if the header says undirected. That
//! is one pass over the file and one or two over the arcs, O(V + E). A file that is overwritten meanwhile, even by a
//! good graph, fails its checksums; later changes do not matter.
//!
//! Beside its graph, a file may hold arrays of numbers that other modules know the meaning of, such as a hierarchy. A
//! reader that has no use for them leaves them in the file. Only a file with such arrays has version 2.
//!
//! The layout, all little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | magic: `\x89WPG\r\n\x1a\n` (a conversion of line ends destroys it) |
//! | 8..12 | version: 1, or 2 if there are arrays beside the graph |
//! | 12..16 | flags: 1 directed |
//! | 16..20 | weights: 0 none, 1 `u32`, 2 `i32`, 3 `f32`, 4 `f64` |
//! | 20..24 | names: 0 consecutive integers, 1 ascending integers, 2 strings |
//! | 24..40 | number of vertices, number of arcs |
//! | 40..48 | the name of vertex 0, if names are consecutive |
//! | 48..72 | lines, self-loops and parallel arcs of the input |
//! | 72..168 | section table: offset and length in bytes of each of the six sections |
//! | 168..240 | table of up to three arrays beside the graph: name, offset and length in bytes of each; else zeros |
//! | 240..252 | zeros |
//! | 252..256 | CRC-32 of bytes 0..252 |
//!
//! The sections are: offsets (`u64`), heads (`u32`), weights, names (`u64`: the names themselves, or where each string
//! ends), text of the names, arrays beside the graph (`u32`), checksums. The name of an array has up to eight letters of
//! ASCII, and zeros after them. It stands for one content: an array that holds something else gets another name.
//!
//! Sections follow in that order, each at the next multiple of 64, zeros between. The last section holds the CRC-32 of
//! each block of 1 MiB of the file from byte 256 up to this section, and then the CRC-32 of these checksums. The file
//! ends there.

mod part;
mod read;
mod write;

pub(super) use part::WpgRows;
use read::read;
pub(super) use write::write;

use super::entry::FormatEntry;
use crate::graph::WeightKind;

#[cfg(target_endian = "big")]
compile_error!("`.wpg` files are copied as they are, little-endian");

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "wpg",
    extensions: &["wpg"],
    holds: "every graph, with the names of its vertices",
    numbers_from: None,
    is_binary: true,
    is_announced: |opened| opened.head().starts_with(MAGIC),
    read: |opened, options| read(&opened, options),
    write: Some(|graph, _, out| write(graph, &[], out)),
};

/// The first bytes.
pub(super) const MAGIC: &[u8; 8] = b"\x89WPG\r\n\x1a\n";
/// The version of files that hold a graph alone, and of those that hold arrays beside it.
const VERSION: u32 = 1;
const VERSION_WITH_ARRAYS: u32 = 2;
const HEADER: usize = 256;
const ALIGNMENT: u64 = 64;
const BLOCK: usize = 1 << 20;
const CHECKSUM: usize = size_of::<u32>();

/// The fields of the header: plain numbers without gaps between them.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    flags: u32,
    weights: u32,
    names: u32,
    vertices: u64,
    arcs: u64,
    first_name: u64,
    lines: u64,
    self_loops: u64,
    parallel: u64,
    sections: [Section; SECTIONS],
    arrays: [StoredArray; ARRAYS],
    reserved: [u8; HEADER - 240 - CHECKSUM],
    checksum: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Section {
    offset: u64,
    length: u64,
}

/// An array beside the graph; all zeros if there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct StoredArray {
    name: [u8; 8],
    section: Section,
}

const ARRAYS: usize = 3;
const SECTIONS: usize = 6;
const OFFSETS: usize = 0;
const TARGETS: usize = 1;
const WEIGHTS: usize = 2;
const NAMES: usize = 3;
const TEXT: usize = 4;
const CHECKSUMS: usize = 5;

const DIRECTED: u32 = 1;
const WEIGHT_KINDS: [WeightKind; 5] =
    [WeightKind::Unit, WeightKind::U32, WeightKind::I32, WeightKind::F32, WeightKind::F64];
const CONSECUTIVE: u32 = 0;
const INTEGERS: u32 = 1;
const STRINGS: u32 = 2;

/// How many numbers the sections have, and how many bytes each weight.
struct Counts<'a> {
    vertices: u64,
    arcs: u64,
    weight_bytes: u64,
    named: u64,
    text: u64,
    /// Of each array beside the graph.
    arrays: &'a [u64],
}

/// Where the sections lie, computed from the counts.
struct Layout {
    sections: [Section; SECTIONS],
    arrays: [Section; ARRAYS],
}

impl Layout {
    /// `None` if the file would have more than 2^64 bytes.
    fn new(counts: &Counts<'_>) -> Option<Self> {
        let mut sections = [Section { offset: 0, length: 0 }; SECTIONS];
        let mut arrays = [Section { offset: 0, length: 0 }; ARRAYS];
        let mut end = HEADER as u64;
        let mut place = |section: &mut Section, length: u64| {
            *section = Section { offset: end, length };
            end = end.checked_add(length)?.checked_next_multiple_of(ALIGNMENT)?;
            Some(())
        };
        let lengths = [
            counts.vertices.checked_add(1)?.checked_mul(8)?,
            counts.arcs.checked_mul(4)?,
            counts.arcs.checked_mul(counts.weight_bytes)?,
            counts.named.checked_mul(8)?,
            counts.text,
        ];
        for (section, length) in sections.iter_mut().zip(lengths) {
            place(section, length)?;
        }
        for (section, count) in arrays.iter_mut().zip(counts.arrays) {
            place(section, count.checked_mul(4)?)?;
        }
        let blocks = (end - HEADER as u64).div_ceil(BLOCK as u64);
        sections[CHECKSUMS] = Section { offset: end, length: (blocks + 1) * CHECKSUM as u64 };
        end.checked_add(sections[CHECKSUMS].length)?;
        Some(Layout { sections, arrays })
    }

    fn end(&self) -> u64 {
        self.sections[CHECKSUMS].offset + self.sections[CHECKSUMS].length
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::read::read_header;
    use super::*;
    use crate::formats::testing::{all_graphs, assert_rejected, assert_same, written};
    use crate::formats::{Format, Opened, ReadOptions};
    use crate::graph::{Direction, Graph, Labels, ParallelEdges, SelfLoops, StringLabels};
    use crate::{GraphBuilder, Result};

    fn read_bytes(bytes: Vec<u8>) -> Result<Graph> {
        ReadOptions::new().parallel_edges(ParallelEdges::Keep).read_bytes("test", bytes)
    }

    fn named() -> Vec<Graph> {
        let mut strings = StringLabels::new();
        for name in ["b", "", "ä"] {
            strings.intern(name).unwrap();
        }
        let labels = [Labels::range(7, 3), Labels::Integers(vec![1, 5, u64::MAX]), Labels::Strings(strings)];
        let edges = [(0, 1, 5_u32), (1, 2, 6), (0, 0, 1), (0, 1, 9)];
        labels.map(|labels| GraphBuilder::new().labels(labels).build_from(edges).unwrap()).into()
    }

    #[test]
    fn graphs_come_back_whole() {
        for (name, graph) in all_graphs() {
            let found = read_bytes(written(&graph, Format::Warpath).unwrap()).unwrap();
            assert_same(&found, &graph, &name);
            assert_eq!(found.weight_kind(), graph.weight_kind(), "{name}");
            assert_eq!(found.input_counts(), graph.input_counts(), "{name}");
        }
        for graph in named() {
            let found = read_bytes(written(&graph, Format::Warpath).unwrap()).unwrap();
            assert_same(&found, &graph, "named");
            assert!((0..3).all(|v| found.name(v) == graph.name(v)));
            assert_eq!(found.input_counts(), graph.input_counts());
        }
    }

    #[test]
    fn options_apply() {
        let graph = GraphBuilder::new()
            .parallel_edges(ParallelEdges::Keep)
            .build_from([(0, 1, 5_u32), (0, 1, 3), (0, 0, 1), (1, 2, 4)])
            .unwrap();
        let bytes = written(&graph, Format::Warpath).unwrap();
        let read = |options: ReadOptions| options.read_bytes("test", bytes.clone()).unwrap();
        let merged = read(ReadOptions::new().self_loops(SelfLoops::Drop));
        assert_eq!(merged.edges().collect::<Vec<_>>(), [(0, 1, 3.0), (1, 2, 4.0)]);
        assert_eq!(merged.input_counts(), graph.input_counts());
        let undirected = read(ReadOptions::new().direction(Direction::Undirected));
        assert_eq!(undirected.edges().count(), 5);
        let unit = read(ReadOptions::new().weights(super::super::WeightSource::Unit));
        assert_eq!((unit.weight_kind(), unit.arcs()), (WeightKind::Unit, 3));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn weights_that_nobody_asks_for_stay_in_the_file() {
        // More than one block of heads, and the same of weights.
        let edges = (0..300_000_u32).map(|v| (v, (v * 7 + 1) % 300_000, v));
        let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
        let good = written(&graph, Format::Warpath).unwrap();
        let is_damaged = |outcome: Result<Graph>| {
            outcome.err().is_some_and(|error| error.to_string().contains("the checksum of the block"))
        };
        let leave = |bytes| ReadOptions::new().leave_weights(true).read_bytes("test", bytes);
        let found = leave(good.clone()).unwrap();
        assert_eq!((found.weight_kind(), found.csr().targets()), (WeightKind::Unit, graph.csr().targets()));
        let section =
            read_header(&Opened::Memory(super::super::input::Input::owned("test", good.clone()))).unwrap().sections;
        let damaged = |at: u64| {
            let mut bytes = good.clone();
            bytes[at as usize] ^= 1;
            bytes
        };
        // The blocks in the middle of the weights hold nothing else.
        let in_weights = damaged(section[WEIGHTS].offset + section[WEIGHTS].length / 2);
        assert!(is_damaged(read_bytes(in_weights.clone())));
        assert_eq!(leave(in_weights).unwrap().csr().targets(), graph.csr().targets());
        assert!(is_damaged(leave(damaged(section[TARGETS].offset + section[TARGETS].length / 2))));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn every_flipped_byte_and_every_truncation_is_an_error() {
        for graph in named() {
            let good = written(&graph, Format::Warpath).unwrap();
            for at in 0..good.len() {
                let mut bytes = good.clone();
                for flip in [0x01, 0x80, 0xff] {
                    bytes[at] = good[at] ^ flip;
                    let found = ReadOptions::new().format(Format::Warpath).read_bytes("test", bytes.clone());
                    assert!(matches!(found, Err(crate::Error::Input(_))), "byte {at} of {}: {found:?}", good.len());
                }
                let short = good[..at].to_vec();
                let found = ReadOptions::new().format(Format::Warpath).read_bytes("test", short);
                assert!(matches!(found, Err(crate::Error::Input(_))), "{at} bytes of {}: {found:?}", good.len());
            }
            let long = [&good[..], &[0]].concat();
            assert!(read_bytes(long).is_err());
        }
    }

    /// Replaces bytes, and makes all checksums right again, so that only the checks of the content can find the change.
    fn forged(graph: &Graph, at: usize, replacement: &[u8]) -> Vec<u8> {
        let mut bytes = written(graph, Format::Warpath).unwrap();
        bytes[at..at + replacement.len()].copy_from_slice(replacement);
        let checksum = crc32fast::hash(&bytes[..HEADER - CHECKSUM]);
        bytes[HEADER - CHECKSUM..HEADER].copy_from_slice(&checksum.to_le_bytes());
        let table = bytes.len() - 2 * CHECKSUM;
        let checksum = crc32fast::hash(&bytes[HEADER..table]).to_le_bytes();
        bytes[table..table + CHECKSUM].copy_from_slice(&checksum);
        let checksum = crc32fast::hash(&bytes[table..table + CHECKSUM]).to_le_bytes();
        bytes[table + CHECKSUM..].copy_from_slice(&checksum);
        bytes
    }

    #[test]
    fn nonsense_is_rejected_with_its_reason() {
        let [range, integers, strings] = <[Graph; 3]>::try_from(named()).unwrap();
        let offsets = HEADER;
        let targets = offsets + 64;
        let weights = targets + 64;
        let names = weights + 64;
        let text = names + 64;
        for (graph, at, replacement, message) in [
            (&range, 0, &b"x"[..], "not a `.wpg` file: it does not begin with the magic bytes"),
            (&range, 8, &[3], "this is version 3 of the `.wpg` format; only versions 1 and 2 can be read"),
            (
                &range,
                12,
                &[2],
                "the `.wpg` file is damaged: its header has an unknown flag, type of weight or type of names",
            ),
            (
                &range,
                16,
                &[9],
                "the `.wpg` file is damaged: its header has an unknown flag, type of weight or type of names",
            ),
            (&range, 24, &[0xff; 8], "the `.wpg` file is damaged: its header has too many vertices"),
            (&range, 40, &[0xff; 8], "the `.wpg` file is damaged: its header has too many vertices"),
            (&range, 32, &[0xff; 8], "the `.wpg` file is damaged: its header has impossible counts"),
            (&range, 32, &[4], "the `.wpg` file is damaged: its sections are not where its counts say"),
            (&range, 73, &[2], "the `.wpg` file is damaged: its sections are not where its counts say"),
            (&range, offsets, &[1], "the `.wpg` file is damaged: its rows do not run from the first arc to the last"),
            (&range, offsets + 8, &[3, 0, 0, 0, 0, 0, 0, 0, 2], "the offset of vertex 2 is below the one before it"),
            (&range, targets, &[3], "the neighbours of vertex 0 are not ascending ids below 3"),
            (&range, targets, &[1, 0, 0, 0, 0], "the neighbours of vertex 0 are not ascending ids below 3"),
            (&integers, names, &[5], "the `.wpg` file is damaged: its names do not ascend"),
            (&strings, names, &[9], "the `.wpg` file is damaged: its names do not follow each other"),
            (&strings, names + 8, &[0], "the `.wpg` file is damaged: its names do not follow each other"),
            (&strings, names + 16, &[1], "the `.wpg` file is damaged: two vertices have the same name"),
            (&strings, text, &[0xff], "the `.wpg` file is damaged: its names are not UTF-8"),
        ] {
            assert_rejected(Format::Warpath, forged(graph, at, replacement), &format!("test: {message}"));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn blocks_end_anywhere() {
        // Several blocks; the last is just full, just begun, or between.
        for vertices in [BLOCK / 8 - 9, BLOCK / 8 - 8, 2 * BLOCK / 8 - 1, 2 * BLOCK / 8 + 1] {
            let edges = [(0, 1), (vertices as u32 - 1, 0)];
            let graph = GraphBuilder::new().vertices(vertices as u64).build_from(edges).unwrap();
            let good = written(&graph, Format::Warpath).unwrap();
            assert_same(&read_bytes(good.clone()).unwrap(), &graph, "blocks");
            for at in [HEADER, BLOCK, HEADER + BLOCK - 1, good.len() - 200] {
                let mut bytes = good.clone();
                bytes[at] ^= 1;
                let start = HEADER + (at - HEADER) / BLOCK * BLOCK;
                let message = format!(
                    "test: the `.wpg` file is damaged: the checksum of the block at byte {start} does not match"
                );
                assert_rejected(Format::Warpath, bytes, &message);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn a_graph_stays_as_it_was_whatever_becomes_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.wpg");
        let edges = (0..100_000_u32).flat_map(|v| [(v, v + 1, 1_u32), (v + 1, v, 2)]);
        let graph = Graph::from_edges(edges).unwrap();
        super::super::write(&graph, &path).unwrap();
        let opened = super::super::read(&path).unwrap();
        let whole = std::fs::metadata(&path).unwrap().len();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        // Heads that are no vertices, then a file that ends in its middle.
        for change in 0..2 {
            match change {
                0 => std::fs::write(&path, vec![0xff; whole as usize]).unwrap(),
                _ => file.set_len(whole / 2).unwrap(),
            }
            assert_same(&opened, &graph, "changed");
            for algorithm in crate::cpu::bfs::ALGORITHMS.iter().map(|algorithm| algorithm.info.name) {
                let request = crate::Bfs::from(0).algorithm(algorithm);
                let tree = crate::Solver::new(opened.clone()).and_then(|solver| solver.solve(request)).unwrap();
                assert_eq!(tree.reached(), 100_001, "{algorithm}");
                tree.verify(&opened).unwrap();
            }
        }
        file.set_len(whole).unwrap();
        assert!(super::super::read(&path).is_err());
        super::super::write(&graph, &path).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(whole / 2).unwrap();
        let reopened = super::super::read(&path).unwrap_err().to_string();
        assert!(reopened.contains("the `.wpg` file is damaged: it has "), "{reopened}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn a_file_that_is_overwritten_while_it_is_read_is_one_graph_or_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("changing.wpg");
        // Two blocks.
        let graphs = [1_u32, 7].map(|weight| Graph::from_edges((0..100_000_u32).map(|v| (v, v + 1, weight))).unwrap());
        let bytes = graphs.each_ref().map(|graph| written(graph, Format::Warpath).unwrap());
        assert_eq!(bytes[0].len(), bytes[1].len());
        std::fs::write(&path, &bytes[0]).unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
                for bytes in bytes.iter().cycle() {
                    use std::io::Seek;
                    file.rewind().unwrap();
                    file.write_all(bytes).unwrap();
                    if done.load(std::sync::atomic::Ordering::Relaxed) {
                        return;
                    }
                }
            });
            let outcomes: Vec<_> = (0..30).map(|_| super::super::read(&path)).collect();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            for outcome in outcomes {
                match outcome {
                    Ok(graph) => {
                        let (least, greatest) = graph.weight_range();
                        assert!(least == greatest && [1.0, 7.0].contains(&least), "{least} to {greatest}");
                    }
                    Err(error) => assert!(matches!(error, crate::Error::Input(_)), "{error}"),
                }
            }
        });
    }

    #[test]
    fn a_file_that_is_said_to_be_undirected_has_to_be_symmetric() {
        let graph = GraphBuilder::new().build_from([(0, 1), (1, 2)]).unwrap();
        assert_rejected(
            Format::Warpath,
            forged(&graph, 12, &[0]),
            "test: the graph is undirected, but the edge from 0 to 1 lacks its reverse",
        );
        let undirected = GraphBuilder::new().direction(Direction::Undirected).build_from([(0, 1), (1, 2)]).unwrap();
        assert!(read_bytes(written(&undirected, Format::Warpath).unwrap()).is_ok());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn packed_files_load_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.wpg.gz");
        let graph = Graph::from_edges([(0, 1, 5_u32), (1, 2, 7)]).unwrap();
        super::super::write(&graph, &path).unwrap();
        assert_same(&super::super::read(&path).unwrap(), &graph, "packed");
    }
}
