//! Some rows of a `.wpg` file, for those who keep only a part of its graph each.

use std::ops::Range;

use super::read::{copy_sections, damaged, read_header, read_names, zeros};
use super::{
    CHECKSUMS, DIRECTED, Header, MAGIC, NAMES, OFFSETS, STRINGS, Section, TARGETS, TEXT, WEIGHT_KINDS, WEIGHTS,
};
use crate::checksum::checksum;
use crate::formats::row_range::RowRange;
use crate::formats::{Opened, about};
use crate::graph::{Labels, VertexId, WeightKind, Weights};
use crate::{Control, Error, InputError, Result, memory};

/// A `.wpg` file of which rows are read one range at a time. Every block that is read is compared with its checksum.
pub(in crate::formats) struct WpgRows {
    opened: Opened,
    header: Header,
    control: Control,
}

impl WpgRows {
    /// Whether a file begins as a `.wpg` file does.
    pub(in crate::formats) fn is_announced(opened: &Opened) -> bool {
        opened.head().starts_with(MAGIC)
    }

    /// Checks the header of a file. O(1).
    pub(in crate::formats) fn new(opened: Opened) -> Result<Self> {
        let header = read_header(&opened).map_err(|error| about(error, opened.name()))?;
        Ok(WpgRows { opened, header, control: Control::new() })
    }

    /// The number of vertices.
    pub(in crate::formats) fn vertices(&self) -> u64 {
        self.header.vertices
    }

    /// The number of arcs.
    pub(in crate::formats) fn arcs(&self) -> u64 {
        self.header.arcs
    }

    /// Whether arcs have a direction.
    pub(in crate::formats) fn is_directed(&self) -> bool {
        self.header.flags & DIRECTED != 0
    }

    /// The type of the weights.
    pub(in crate::formats) fn weight_kind(&self) -> WeightKind {
        WEIGHT_KINDS[self.header.weights as usize]
    }

    /// A checksum of the header and of the checksums of all blocks.
    pub(in crate::formats) fn fingerprint(&self) -> Result<u64> {
        let Section { offset, length } = self.header.sections[CHECKSUMS];
        let mut bytes = memory::filled("the checksums of blocks", length as usize, 0_u8)?;
        self.opened.read_at(offset, &mut bytes)?;
        Ok(checksum(bytemuck::cast_slice(&[checksum(bytemuck::bytes_of(&self.header)), checksum(&bytes)])))
    }

    /// How many arcs leave the vertices before `vertex`, which may be the number of vertices. One read; no checksum is looked at,
    /// so damage may give any number.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file can't be read.
    pub(in crate::formats) fn arcs_before(&self, vertex: u64) -> Result<u64> {
        let mut bytes = [0; 8];
        self.opened.read_at(self.header.sections[OFFSETS].offset + 8 * vertex.min(self.vertices()), &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads the rows of some vertices; without their weights, these are unit weights. O(rows + arcs).
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if a block is damaged or the rows are those of no graph, [`Error::OutOfMemory`], and [`Error::Io`].
    pub(in crate::formats) fn read(&self, rows: Range<u64>, with_weights: bool) -> Result<RowRange> {
        self.rows(rows, with_weights).map_err(|error| about(error, self.opened.name()))
    }

    fn rows(&self, rows: Range<u64>, with_weights: bool) -> Result<RowRange> {
        let sections = &self.header.sections;
        let of_offsets = part(sections[OFFSETS], 8, rows.start..rows.end + 1);
        let mut offsets: Vec<u64> = zeros(of_offsets)?;
        self.copy(vec![(of_offsets, bytemuck::cast_slice_mut(&mut offsets))])?;
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        let begins = rows.start > 0 || first == 0;
        let ends = if rows.end == self.header.vertices { last == self.header.arcs } else { last <= self.header.arcs };
        if offsets.windows(2).any(|pair| pair[0] > pair[1]) || !begins || !ends {
            return damaged("its rows do not run from the first arc to the last");
        }
        offsets.iter_mut().for_each(|offset| *offset -= first);

        let of_targets = part(sections[TARGETS], 4, first..last);
        let mut targets: Vec<VertexId> = zeros(of_targets)?;
        let kind = if with_weights { self.weight_kind() } else { WeightKind::Unit };
        let of_weights = part(sections[WEIGHTS], kind.bytes(), first..last);
        let mut weights = match kind {
            WeightKind::Unit => Weights::unit(targets.len()),
            WeightKind::U32 => Weights::U32(zeros(of_weights)?),
            WeightKind::I32 => Weights::I32(zeros(of_weights)?),
            WeightKind::F32 => Weights::F32(zeros(of_weights)?),
            WeightKind::F64 => Weights::F64(zeros(of_weights)?),
        };
        self.copy(vec![(of_targets, bytemuck::cast_slice_mut(&mut targets)), (of_weights, weights.bytes_mut())])?;
        let ascends = |row: &[VertexId]| row.windows(2).all(|pair| pair[0] <= pair[1]);
        let heads = |pair: &[u64]| ascends(&targets[pair[0] as usize..pair[1] as usize]);
        if !offsets.windows(2).all(heads) || targets.iter().any(|&head| u64::from(head) >= self.header.vertices) {
            return damaged("the heads of a row do not ascend, or are no vertices");
        }
        weights.check().map_err(|error| Error::from(InputError::new(error.to_string())))?;
        self.opened.check_unchanged()?;
        Ok(RowRange { offsets, targets, weights })
    }

    /// The names of some vertices. O(vertices).
    ///
    /// # Errors
    ///
    /// As [`WpgRows::read`].
    pub(in crate::formats) fn names(&self, vertices: Range<u64>) -> Result<Labels> {
        let names = || {
            let sections = &self.header.sections;
            if sections[NAMES].length == 0 {
                return Ok(Labels::range(self.header.first_name + vertices.start, vertices.end - vertices.start));
            }
            // The end of the name before is where the first name begins.
            let before = u64::from(self.header.names == STRINGS && vertices.start > 0);
            let of_names = part(sections[NAMES], 8, vertices.start - before..vertices.end);
            let mut names: Vec<u64> = zeros(of_names)?;
            self.copy(vec![(of_names, bytemuck::cast_slice_mut(&mut names))])?;
            let mut text = Vec::new();
            if self.header.names == STRINGS {
                let start = if before == 1 { names.remove(0) } else { 0 };
                let end = names.last().copied().unwrap_or(start);
                if names.iter().any(|&end| end < start) || end > sections[TEXT].length {
                    return damaged("its names do not follow each other");
                }
                let of_text = part(sections[TEXT], 1, start..end);
                text = zeros(of_text)?;
                self.copy(vec![(of_text, &mut text)])?;
                names.iter_mut().for_each(|end| *end -= start);
            }
            read_names(&self.header, names, &text)
        };
        names().map_err(|error| about(error, self.opened.name()))
    }

    fn copy(&self, arrays: Vec<(Section, &mut [u8])>) -> Result<()> {
        copy_sections(&self.opened, &self.header, arrays, &self.control)
    }
}

/// The bytes of some of the elements of a section.
fn part(section: Section, bytes: u64, elements: Range<u64>) -> Section {
    Section { offset: section.offset + bytes * elements.start, length: bytes * (elements.end - elements.start) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::StoredRows;
    use crate::formats::testing::all_graphs;
    use crate::graph::{Weight, with_weights};

    fn stored(bytes: &[u8]) -> Result<StoredRows> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        StoredRows::open(file.path())
    }

    fn bytes_of(graph: &crate::Graph) -> Vec<u8> {
        let mut bytes = Vec::new();
        super::super::write(graph, &[], &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn rows_are_those_of_the_graph() {
        for (_, graph) in all_graphs() {
            let file = stored(&bytes_of(&graph)).unwrap();
            let vertices = graph.vertices() as u64;
            assert_eq!((file.vertices(), file.arcs()), (vertices, graph.arcs() as u64));
            assert_eq!((file.is_directed(), file.weight_kind()), (graph.is_directed(), graph.weight_kind()));
            for cut in [0, 1, vertices / 3, vertices].map(|cut| cut.min(vertices)) {
                let mut arcs = Vec::new();
                for rows in [0..cut, cut..vertices] {
                    assert_eq!(file.arcs_before(rows.start).unwrap(), graph.csr().offsets()[rows.start as usize]);
                    let part = file.read(rows.clone(), true).unwrap();
                    let labels = file.names(rows.clone()).unwrap();
                    assert_eq!(labels.len(), rows.end - rows.start);
                    let with_weight = |arc: usize| with_weights!(&part.weights, weights => weights[arc].to_f64());
                    for (row, v) in rows.enumerate() {
                        assert_eq!(labels.name(row as VertexId), graph.name(v as VertexId));
                        let row = part.offsets[row] as usize..part.offsets[row + 1] as usize;
                        arcs.extend(row.map(|arc| (v as VertexId, part.targets[arc], with_weight(arc))));
                    }
                }
                assert!(graph.edges().eq(arcs), "cut at {cut}");
            }
        }
    }

    /// A byte of the rows that are read spoils their block.
    #[test]
    fn damage_is_found() {
        let graph = crate::generate("grid:9x9,weights=1..9").unwrap();
        let good = bytes_of(&graph);
        for at in (256..good.len() - 8).step_by(131) {
            let mut bad = good.clone();
            bad[at] ^= 4;
            let file = stored(&bad).unwrap();
            let error = file.read(3..70, true).unwrap_err().to_string();
            assert!(error.contains("does not match"), "{at}: {error}");
        }
        assert!(stored(&good[..100]).is_err());
    }
}
