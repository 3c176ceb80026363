//! `.wpg`: Warpath's own file, the graph as it lies in memory.
//!
//! A file is copied into memory block by block, in parallel, and every check is made on the copy: the checksum of each
//! block of 1 MiB while the block is in the cache, then all that the algorithms rely on (offsets that never fall, heads
//! that are vertices and ascend, the reverse of every arc where the header says undirected). That is one pass over the
//! file and one or two over the arcs, O(V + E). A file that is overwritten meanwhile, by a good graph even, fails its
//! checksums; what becomes of it afterwards is of no concern.
//!
//! The layout, all little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | magic: `\x89WPG\r\n\x1a\n` (a conversion of line ends destroys it) |
//! | 8..12 | version, 1 |
//! | 12..16 | flags: 1 directed |
//! | 16..20 | weights: 0 none, 1 `u32`, 2 `i32`, 3 `f32`, 4 `f64` |
//! | 20..24 | names: 0 consecutive integers, 1 ascending integers, 2 strings |
//! | 24..40 | number of vertices, number of arcs |
//! | 40..48 | the name of vertex 0, if names are consecutive |
//! | 48..72 | lines, self-loops and parallel arcs of the input |
//! | 72..168 | section table: offset and length in bytes of offsets (`u64`), heads (`u32`), weights, names (`u64`: the names themselves, or where each string ends), text of the names, checksums |
//! | 168..252 | zeros |
//! | 252..256 | CRC-32 of bytes 0..252 |
//!
//! Sections follow in that order, each at the next multiple of 64, zeros between. The last one holds the CRC-32 of each
//! block of 1 MiB of the file from byte 256 up to itself, and then the CRC-32 of those; there the file ends.

mod read;
#[cfg(test)]
mod tests;
mod write;

use read::read;
use write::write;

use super::format::FormatEntry;
use crate::graph::WeightKind;

#[cfg(target_endian = "big")]
compile_error!("`.wpg` files are copied as they are, little-endian");

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "wpg",
    extensions: &["wpg"],
    holds: "every graph, with the names of its vertices",
    numbers_from: None,
    is_announced: |opened| opened.head().starts_with(MAGIC),
    read: |opened, options| read(&opened, options),
    write: |graph, _, out| write(graph, out),
};

/// The first bytes.
pub(super) const MAGIC: &[u8; 8] = b"\x89WPG\r\n\x1a\n";
const VERSION: u32 = 1;
const HEADER: usize = 256;
const ALIGNMENT: u64 = 64;
const BLOCK: usize = 1 << 20;
const CHECKSUM: usize = size_of::<u32>();

/// The fields of the header, all of them plain numbers without gaps between them.
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
    reserved: [u8; HEADER - 168 - CHECKSUM],
    checksum: u32,
}

#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Section {
    offset: u64,
    length: u64,
}

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

/// Where the sections lie, which follows from the counts.
struct Layout {
    sections: [Section; SECTIONS],
}

impl Layout {
    /// `None` if the file would have more than 2^64 bytes.
    fn new(vertices: u64, arcs: u64, weight_bytes: u64, named: u64, text: u64) -> Option<Self> {
        let mut sections = [Section { offset: 0, length: 0 }; SECTIONS];
        let mut end = HEADER as u64;
        let lengths = [
            vertices.checked_add(1)?.checked_mul(8)?,
            arcs.checked_mul(4)?,
            arcs.checked_mul(weight_bytes)?,
            named.checked_mul(8)?,
            text,
        ];
        for (section, length) in sections.iter_mut().zip(lengths) {
            *section = Section { offset: end, length };
            end = end.checked_add(length)?.checked_next_multiple_of(ALIGNMENT)?;
        }
        let blocks = (end - HEADER as u64).div_ceil(BLOCK as u64);
        sections[CHECKSUMS] = Section { offset: end, length: (blocks + 1) * CHECKSUM as u64 };
        end.checked_add(sections[CHECKSUMS].length)?;
        Some(Layout { sections })
    }

    fn end(&self) -> u64 {
        self.sections[CHECKSUMS].offset + self.sections[CHECKSUMS].length
    }
}
