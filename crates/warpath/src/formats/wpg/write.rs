//! Writes a file in one pass.

use std::io::Write;

use super::{
    ALIGNMENT, ARRAYS, BLOCK, CHECKSUM, CONSECUTIVE, Counts, DIRECTED, HEADER, Header, INTEGERS, Layout, MAGIC,
    STRINGS, StoredArray, VERSION, VERSION_WITH_ARRAYS, WEIGHT_KINDS,
};
use crate::Result;
use crate::formats::stream_error;
use crate::graph::{Graph, Labels, VertexId, Weights};

/// Writes a graph with these arrays beside it, at most [`ARRAYS`], in one pass. Names have at most eight letters.
pub(in crate::formats) fn write(graph: &Graph, arrays: &[(&str, &[u32])], out: &mut dyn Write) -> Result<()> {
    write_sections(graph, arrays, out).map_err(stream_error)
}

fn write_sections(graph: &Graph, arrays: &[(&str, &[u32])], out: &mut dyn Write) -> std::io::Result<()> {
    let strings;
    let (names, first_name, named, text): (u32, u64, &[u64], String) = match graph.labels() {
        Labels::Range { first, .. } => (CONSECUTIVE, *first, &[], String::new()),
        Labels::Integers(values) => (INTEGERS, 0, values, String::new()),
        Labels::Strings(labels) => {
            let mut text = String::new();
            let end_of = |v| {
                text.push_str(labels.get(v));
                text.len() as u64
            };
            strings = (0..labels.len() as VertexId).map(end_of).collect::<Vec<_>>();
            (STRINGS, 0, &strings, text)
        }
    };
    let csr = graph.csr();
    let kind = graph.weight_kind();
    let counts = graph.input_counts();
    let layout = Layout::new(&Counts {
        vertices: graph.vertices() as u64,
        arcs: graph.arcs() as u64,
        weight_bytes: kind.bytes(),
        named: named.len() as u64,
        text: text.len() as u64,
        arrays: &arrays.iter().map(|(_, values)| values.len() as u64).collect::<Vec<_>>(),
    });
    let Some(layout) = layout else {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    };
    let mut header = Header {
        magic: *MAGIC,
        version: if arrays.is_empty() { VERSION } else { VERSION_WITH_ARRAYS },
        flags: if graph.is_directed() { DIRECTED } else { 0 },
        weights: WEIGHT_KINDS.iter().position(|&candidate| candidate == kind).unwrap_or_default() as u32,
        names,
        vertices: graph.vertices() as u64,
        arcs: graph.arcs() as u64,
        first_name,
        lines: counts.lines,
        self_loops: counts.self_loops,
        parallel: counts.parallel,
        sections: layout.sections,
        arrays: table(arrays, &layout),
        reserved: [0; HEADER - 240 - CHECKSUM],
        checksum: 0,
    };
    header.checksum = crc32fast::hash(&bytemuck::bytes_of(&header)[..HEADER - CHECKSUM]);
    out.write_all(bytemuck::bytes_of(&header))?;

    let mut blocks = BlockWriter { out, written: 0, hasher: crc32fast::Hasher::new(), checksums: Vec::new() };
    blocks.section(bytemuck::cast_slice(csr.offsets()))?;
    blocks.section(bytemuck::cast_slice(csr.targets()))?;
    match csr.weights() {
        Weights::Unit(_) => {}
        Weights::U32(values) => blocks.section(bytemuck::cast_slice(values))?,
        Weights::I32(values) => blocks.section(bytemuck::cast_slice(values))?,
        Weights::F32(values) => blocks.section(bytemuck::cast_slice(values))?,
        Weights::F64(values) => blocks.section(bytemuck::cast_slice(values))?,
    }
    blocks.section(bytemuck::cast_slice(named))?;
    blocks.section(text.as_bytes())?;
    arrays.iter().try_for_each(|(_, values)| blocks.section(bytemuck::cast_slice(values)))?;
    blocks.finish()
}

/// The table of the arrays beside the graph.
fn table(arrays: &[(&str, &[u32])], layout: &Layout) -> [StoredArray; ARRAYS] {
    let mut table: [StoredArray; ARRAYS] = bytemuck::Zeroable::zeroed();
    for ((entry, (name, _)), &section) in table.iter_mut().zip(arrays).zip(&layout.arrays) {
        entry.name[..name.len()].copy_from_slice(name.as_bytes());
        entry.section = section;
    }
    table
}

/// Passes sections on, and computes the checksum of each block on the way.
struct BlockWriter<'a> {
    out: &'a mut dyn Write,
    written: usize,
    hasher: crc32fast::Hasher,
    checksums: Vec<u8>,
}

impl BlockWriter<'_> {
    /// Writes a section, and zeros up to where the next one begins.
    fn section(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.bytes(bytes)?;
        let padding = self.written.next_multiple_of(ALIGNMENT as usize) - self.written;
        self.bytes(&[0; ALIGNMENT as usize][..padding])
    }

    fn bytes(&mut self, mut bytes: &[u8]) -> std::io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.written % BLOCK));
            self.hasher.update(now);
            self.out.write_all(now)?;
            self.written += now.len();
            if self.written.is_multiple_of(BLOCK) {
                self.end_block();
            }
            bytes = later;
        }
        Ok(())
    }

    fn end_block(&mut self) {
        let hasher = std::mem::take(&mut self.hasher);
        self.checksums.extend(hasher.finalize().to_le_bytes());
    }

    /// Writes the checksums.
    fn finish(mut self) -> std::io::Result<()> {
        if !self.written.is_multiple_of(BLOCK) {
            self.end_block();
        }
        self.out.write_all(&self.checksums)?;
        self.out.write_all(&crc32fast::hash(&self.checksums).to_le_bytes())
    }
}
