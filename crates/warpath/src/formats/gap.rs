//! `.sg` and `.wsg`: the serialized graphs of the GAP benchmark suite (Beamer, Asanović, Patterson, 2015).
//!
//! A byte tells whether the graph is directed; then the number of arcs and of vertices, the offsets of the rows (64-bit
//! integers all of them), and the arcs: a 32-bit head, in `.wsg` followed by a 32-bit weight. A directed graph holds
//! offsets and arcs a second time, by head; they are skipped, since a transpose is made when it is wanted. There are no
//! magic bytes: the size of the file tells `.sg` from `.wsg`, and both from anything else.
//!
//! The arrays are copied out of the file piece by piece, in parallel, heads apart from weights: the graph is in memory
//! once, not twice. There are no checksums: the time of change shows whether the file was changed meanwhile.

use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::entry::FormatEntry;
use super::row_range::RowRange;
use super::rows::{Rows, vertex_count, wants_weights};
use super::{Opened, ReadOptions, about, stream_error};
use crate::graph::{Csr, Direction, Graph, Labels, Unit, VertexId, WeightKind, Weights};
use crate::huge_pages::on_huge_pages;
use crate::memory;
use crate::{Control, Error, InputError, Plan, Result};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "gap",
    extensions: &["sg", "wsg"],
    holds: "graphs of fewer than 2^31 vertices, whose weights are signed integers of 32 bits",
    numbers_from: Some(0),
    is_binary: true,
    is_announced: |opened| Layout::of(opened).is_some(),
    read: |opened, options| read(&opened, options),
    write: Some(|graph, name, out| write(graph, name, out)),
};

const HEADER: usize = 17;

/// Arcs copied at a time by a thread.
const CHUNK: usize = 1 << 16;

/// The header, and what the size of the file adds to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    directed: bool,
    weighted: bool,
    vertices: usize,
    arcs: usize,
}

impl Layout {
    /// `None` if the size does not match the header. Without arcs, the extension tells `.wsg` from `.sg`.
    fn of(opened: &Opened) -> Option<Self> {
        let (&[directed, ref counts @ ..], _) = opened.head().split_first_chunk::<HEADER>()?;
        let count = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| counts[at + index]));
        let (arcs, vertices) = (count(0), count(8));
        let halves = match directed {
            0 => 1,
            1 => 2,
            _ => return None,
        };
        let size =
            |arc_bytes: u128| HEADER as u128 + halves * ((u128::from(vertices) + 1) * 8 + u128::from(arcs) * arc_bytes);
        let fits = |arc_bytes| size(arc_bytes) == u128::from(opened.length());
        let weighted = match (fits(4), fits(8)) {
            (true, true) => weighted_by_name(opened.name()) == Some(true),
            (true, false) => false,
            (false, true) => true,
            (false, false) => return None,
        };
        Some(Layout { directed: directed == 1, weighted, vertices: vertices as usize, arcs: arcs as usize })
    }

    fn offsets(&self) -> Range<usize> {
        HEADER..HEADER + (self.vertices + 1) * 8
    }

    fn arcs(&self) -> Range<usize> {
        let start = self.offsets().end;
        start..start + self.arcs * if self.weighted { 8 } else { 4 }
    }
}

/// Reads a graph. Weights are `u32`, or `i32` if any is negative.
///
/// # Errors
///
/// If the size of the file does not match its header, or its arrays do not form a graph.
fn read(opened: &Opened, options: &ReadOptions) -> Result<Graph> {
    let Some(layout) = Layout::of(opened) else {
        let message = "not a serialized GAP graph: its size is not the one that its first 17 bytes announce";
        return Err(InputError::new(message).into());
    };
    vertex_count(layout.vertices as u64)?;
    let with_weights = layout.weighted && wants_weights(options)?;
    let bytes_of_arc = if with_weights { 8 } else { 4 };
    let mut plan = Plan::new();
    plan.memory("the graph", (layout.offsets().end + layout.arcs * bytes_of_arc) as u64);
    plan.check(options.room(opened.owned_bytes()))?;
    let mut offsets = on_huge_pages(memory::zeroed::<u64>("offsets of vertices", layout.vertices + 1)?);
    let copying = Copying { opened, control: &options.control };
    copying.chunks(layout.offsets(), &mut offsets, |bytes, offsets| {
        bytemuck::cast_slice_mut(offsets).copy_from_slice(bytes);
    })?;
    let mut targets: Vec<VertexId> = on_huge_pages(memory::zeroed("heads of arcs", layout.arcs)?);
    let direction = if layout.directed { Direction::Directed } else { Direction::Undirected };
    let labels = Labels::range(0, layout.vertices as u64);
    if !with_weights {
        if layout.weighted {
            copying.chunks(layout.arcs(), &mut targets, |bytes, targets| {
                for (arc, target) in bytes.chunks_exact(8).zip(targets) {
                    *target = u32::from_le_bytes([arc[0], arc[1], arc[2], arc[3]]);
                }
            })?;
        } else {
            copying.chunks(layout.arcs(), &mut targets, |bytes, targets| {
                bytemuck::cast_slice_mut(targets).copy_from_slice(bytes);
            })?;
        }
        opened.check_unchanged()?;
        let weights = vec![Unit; layout.arcs];
        return Rows { offsets, targets, weights }.into_graph(direction, labels, None, options);
    }
    let mut weights = on_huge_pages(memory::zeroed::<i32>("weights of arcs", layout.arcs)?);
    let negative = AtomicBool::new(false);
    copying.pairs_of_chunks(layout.arcs(), &mut targets, &mut weights, |bytes, targets, weights| {
        let mut signs = 0;
        for ((arc, target), weight) in bytes.chunks_exact(8).zip(targets.iter_mut()).zip(weights.iter_mut()) {
            let arc = u64::from_le_bytes(std::array::from_fn(|at| arc[at]));
            (*target, *weight) = (arc as u32, (arc >> 32) as i32);
            signs |= *weight;
        }
        if signs < 0 {
            negative.store(true, Ordering::Relaxed);
        }
    })?;
    opened.check_unchanged()?;
    if negative.into_inner() {
        Rows { offsets, targets, weights }.into_graph(direction, labels, None, options)
    } else {
        let weights: Vec<u32> = bytemuck::allocation::cast_vec(weights);
        Rows { offsets, targets, weights }.into_graph(direction, labels, None, options)
    }
}

/// A file of which rows are read one range at a time.
pub(super) struct GapRows {
    opened: Opened,
    layout: Layout,
}

impl GapRows {
    /// `None` if the size of the file does not match its header.
    pub(super) fn new(opened: Opened) -> Option<Self> {
        let layout = Layout::of(&opened)?;
        Some(GapRows { opened, layout })
    }

    pub(super) fn vertices(&self) -> u64 {
        self.layout.vertices as u64
    }

    pub(super) fn arcs(&self) -> u64 {
        self.layout.arcs as u64
    }

    pub(super) fn is_directed(&self) -> bool {
        self.layout.directed
    }

    pub(super) fn weight_kind(&self) -> WeightKind {
        if self.layout.weighted { WeightKind::U32 } else { WeightKind::Unit }
    }

    /// A checksum of pieces of the file.
    pub(super) fn fingerprint(&self) -> Result<u64> {
        self.opened.sampled_checksum()
    }

    /// How many arcs leave the vertices before `vertex`.
    pub(super) fn arcs_before(&self, vertex: u64) -> Result<u64> {
        let mut bytes = [0; 8];
        let at = self.layout.offsets().start as u64 + 8 * vertex.min(self.vertices());
        self.opened.read_at(at, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads some rows. O(rows + arcs).
    pub(super) fn read(&self, rows: Range<u64>, with_weights: bool) -> Result<RowRange> {
        self.rows(rows, with_weights).map_err(|error| about(error, self.opened.name()))
    }

    fn rows(&self, rows: Range<u64>, with_weights: bool) -> Result<RowRange> {
        let refused = |message: String| Err(InputError::new(message).into());
        let count = (rows.end - rows.start) as usize;
        let mut offsets = memory::zeroed::<u64>("offsets of vertices", count + 1)?;
        let at = self.layout.offsets().start as u64 + 8 * rows.start;
        self.opened.read_at(at, bytemuck::cast_slice_mut(&mut offsets))?;
        let (first, last) = (offsets[0], offsets[count]);
        if let Some(row) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return refused(format!("the offset of vertex {} is below the one before it", rows.start + row as u64 + 1));
        }
        let ends = if rows.end == self.vertices() { last == self.arcs() } else { last <= self.arcs() };
        if (rows.start == 0 && first != 0) || !ends {
            return refused(format!("the rows run from {first} to {last}, but there are {} entries", self.arcs()));
        }
        offsets.iter_mut().for_each(|offset| *offset -= first);

        let words_of_arc = if self.layout.weighted { 2 } else { 1 };
        let mut words = memory::zeroed::<u32>("arcs of some rows", (last - first) as usize * words_of_arc)?;
        let at = self.layout.arcs().start as u64 + 4 * words_of_arc as u64 * first;
        self.opened.read_at(at, bytemuck::cast_slice_mut(&mut words))?;
        self.opened.check_unchanged()?;
        let weights = if with_weights && self.layout.weighted {
            let mut weights = memory::with_capacity("weights of arcs", words.len() / 2)?;
            weights.extend(words.chunks_exact(2).map(|arc| arc[1]));
            if let Some(&weight) = weights.iter().find(|&&weight| weight > i32::MAX as u32) {
                return refused(format!("a weight is {}, below 0", weight as i32));
            }
            Weights::U32(weights)
        } else {
            Weights::unit((last - first) as usize)
        };
        if self.layout.weighted {
            let heads = words.len() / 2;
            (0..heads).for_each(|arc| words[arc] = words[2 * arc]);
            words.truncate(heads);
        }
        if let Some(head) = words.iter().find(|&&head| u64::from(head) >= self.vertices()) {
            return refused(format!("vertex {head} is out of range: there are {} vertices", self.vertices()));
        }
        Ok(RowRange { offsets, targets: words, weights })
    }
}

/// Copies arrays out of parts of the file, chunk by chunk in parallel.
struct Copying<'a> {
    opened: &'a Opened,
    control: &'a Control,
}

impl Copying<'_> {
    /// Fills `values` from the bytes in `range` by `copy`.
    fn chunks<T: Send>(
        &self,
        range: Range<usize>,
        values: &mut [T],
        copy: impl Fn(&[u8], &mut [T]) + Sync,
    ) -> Result<()> {
        let bytes_each = range.len() / values.len().max(1);
        values.par_chunks_mut(CHUNK).enumerate().try_for_each_init(Vec::new, |buffer, (index, values)| {
            self.read(range.start + index * CHUNK * bytes_each, values.len() * bytes_each, buffer)?;
            copy(buffer, values);
            Ok(())
        })
    }

    /// The same with two arrays of one length.
    fn pairs_of_chunks<T: Send, U: Send>(
        &self,
        range: Range<usize>,
        first: &mut [T],
        second: &mut [U],
        copy: impl Fn(&[u8], &mut [T], &mut [U]) + Sync,
    ) -> Result<()> {
        let bytes_each = range.len() / first.len().max(1);
        let both = first.par_chunks_mut(CHUNK).zip(second.par_chunks_mut(CHUNK));
        both.enumerate().try_for_each_init(Vec::new, |buffer, (index, (first, second))| {
            self.read(range.start + index * CHUNK * bytes_each, first.len() * bytes_each, buffer)?;
            copy(buffer, first, second);
            Ok(())
        })
    }

    fn read(&self, start: usize, length: usize, buffer: &mut Vec<u8>) -> Result<()> {
        self.control.check()?;
        buffer.resize(length, 0);
        self.opened.read_at(start as u64, buffer)
    }
}

/// Whether the extension announces weights; the extension of a compression may follow it.
fn weighted_by_name(name: &str) -> Option<bool> {
    let name = name.to_ascii_lowercase();
    let mut extensions = name.rsplit(['/', '\\']).next()?.rsplit('.').take(2);
    extensions.find_map(|extension| match extension {
        "sg" => Some(false),
        "wsg" => Some(true),
        _ => None,
    })
}

/// Writes a graph: `.sg` leaves weights out and `.wsg` has them, all 1 if the graph has none, since the suite's own
/// programs go by the extension. Under another name, a graph with weights is written as `.wsg`.
///
/// # Errors
///
/// If ids or weights do not fit into signed 32-bit integers.
fn write(graph: &Graph, name: &str, out: &mut dyn Write) -> Result<()> {
    let weighted = weighted_by_name(name).unwrap_or(graph.weight_kind() != WeightKind::Unit);
    let limit = i32::MAX as u64;
    if graph.vertices() as u64 > limit {
        return Err(Error::invalid(format!(
            "GAP's format has 32-bit signed ids: {} vertices are too many",
            graph.vertices()
        )));
    }
    let too_large = match graph.weights() {
        _ if !weighted => None,
        Weights::Unit(_) | Weights::I32(_) => None,
        Weights::U32(values) => values.par_iter().find_any(|&&weight| u64::from(weight) > limit),
        Weights::F32(_) | Weights::F64(_) => {
            return Err(Error::invalid("GAP's format has integer weights only, and the graph's are decimal"));
        }
    };
    if let Some(weight) = too_large {
        return Err(Error::invalid(format!("GAP's format has 32-bit signed weights: {weight} is too large")));
    }
    let by_head = if graph.is_directed() { Some(graph.transpose()?) } else { None };
    write_arrays(graph, by_head, weighted, out).map_err(stream_error)
}

fn write_arrays(graph: &Graph, by_head: Option<&Csr>, weighted: bool, out: &mut dyn Write) -> std::io::Result<()> {
    out.write_all(&[graph.is_directed().into()])?;
    out.write_all(&(graph.arcs() as u64).to_le_bytes())?;
    out.write_all(&(graph.vertices() as u64).to_le_bytes())?;
    write_half(graph.csr(), weighted, out)?;
    by_head.map_or(Ok(()), |by_head| write_half(by_head, weighted, out))
}

fn write_half(csr: &Csr, weighted: bool, out: &mut dyn Write) -> std::io::Result<()> {
    out.write_all(bytemuck::cast_slice(csr.offsets()))?;
    if !weighted {
        return out.write_all(bytemuck::cast_slice(csr.targets()));
    }
    // `None` stands for weights of 1.
    let weights: Option<&[u32]> = match csr.weights() {
        Weights::U32(values) => Some(values),
        Weights::I32(values) => Some(bytemuck::cast_slice(values)),
        _ => None,
    };
    let mut buffer: Vec<[u32; 2]> = Vec::with_capacity(CHUNK.min(csr.targets().len()));
    for (chunk, targets) in csr.targets().chunks(CHUNK).enumerate() {
        let weight = |index: usize| weights.map_or(1, |weights| weights[chunk * CHUNK + index]);
        buffer.clear();
        buffer.extend(targets.iter().enumerate().map(|(index, &target)| [target, weight(index)]));
        out.write_all(bytemuck::cast_slice(&buffer))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_graphs, assert_rejected, assert_same, read_like, survive_mutations, written};
    use super::super::{Format, WeightSource};
    use super::*;
    use crate::graph::{ParallelEdges, SelfLoops};
    use crate::testing::size;

    /// A file with these arrays, valid or not.
    fn file(directed: u8, arcs: u64, vertices: u64, offsets: &[u64], rest: &[u32]) -> Vec<u8> {
        let mut bytes = vec![directed];
        bytes.extend(arcs.to_le_bytes());
        bytes.extend(vertices.to_le_bytes());
        offsets.iter().for_each(|offset| bytes.extend(offset.to_le_bytes()));
        rest.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        bytes
    }

    #[test]
    fn graphs_come_back() {
        let mut written_graphs = 0;
        for (name, graph) in all_graphs() {
            match written(&graph, Format::Gap) {
                Ok(bytes) => {
                    assert_same(&read_like(&graph, Format::Gap, bytes).unwrap(), &graph, &name);
                    written_graphs += 1;
                }
                Err(error) => {
                    let decimal = matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64);
                    assert!(decimal || graph.weight_range().1 > f64::from(i32::MAX), "{name}: {error}");
                }
            }
        }
        assert!(written_graphs > size(50, 2));
    }

    #[test]
    fn the_layout_is_the_one_of_gap() {
        let graph = Graph::from_edges([(0, 1, 5_u32), (0, 2, 6)]).unwrap();
        let expected = file(1, 2, 3, &[0, 2, 2, 2], &[1, 5, 2, 6, 0, 0, 0, 0, 1, 0, 2, 0, 0, 5, 0, 6]);
        let out_half = file(1, 2, 3, &[0, 2, 2, 2], &[1, 5, 2, 6]);
        let in_half = file(1, 2, 3, &[0, 0, 1, 2], &[0, 5, 0, 6]);
        let found = written(&graph, Format::Gap).unwrap();
        assert_eq!(found, [&out_half[..], &in_half[HEADER..]].concat());
        assert_eq!(found.len(), expected.len());
    }

    #[test]
    fn rows_are_read_one_range_at_a_time() {
        use crate::formats::StoredRows;
        let stored = |bytes: &[u8]| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), bytes).unwrap();
            StoredRows::open(file.path())
        };
        for (name, graph) in all_graphs() {
            let Ok(bytes) = written(&graph, Format::Gap) else { continue };
            let expected = read_like(&graph, Format::Gap, bytes.clone()).unwrap();
            let (Ok(file), false) = (stored(&bytes), expected.has_negative_weights()) else { continue };
            let vertices = expected.vertices() as u64;
            assert_eq!((file.vertices(), file.arcs()), (vertices, graph.arcs() as u64), "{name}");
            assert_eq!(file.is_directed(), graph.is_directed());
            let with_weights = file.weight_kind() == WeightKind::U32;
            let mut arcs = Vec::new();
            for rows in [0..vertices / 3, vertices / 3..vertices] {
                assert_eq!(file.arcs_before(rows.start).unwrap(), graph.csr().offsets()[rows.start as usize]);
                assert_eq!(file.names(rows.clone()).unwrap().len(), rows.end - rows.start);
                let part = file.read(rows.clone(), true).unwrap();
                let weight = |arc: usize| match &part.weights {
                    Weights::U32(weights) => f64::from(weights[arc]),
                    _ => 1.0,
                };
                assert_eq!(matches!(part.weights, Weights::U32(_)), with_weights);
                for (row, v) in rows.enumerate() {
                    let row = part.offsets[row] as usize..part.offsets[row + 1] as usize;
                    arcs.extend(row.map(|arc| (v as VertexId, part.targets[arc], weight(arc))));
                }
            }
            assert!(expected.edges().eq(arcs), "{name}");
        }
        let read = |bytes: &[u8], rows: Range<u64>| stored(bytes).unwrap().read(rows, true).unwrap_err().to_string();
        let wrong = read(&file(0, 2, 2, &[0, 3, 2], &[1, 0]), 0..2);
        assert!(wrong.ends_with("the offset of vertex 2 is below the one before it"), "{wrong}");
        let wrong = read(&file(0, 2, 2, &[0, 1, 1], &[1, 0]), 1..2);
        assert!(wrong.ends_with("the rows run from 1 to 1, but there are 2 entries"), "{wrong}");
        let wrong = read(&file(0, 2, 2, &[0, 1, 2], &[1, 2]), 1..2);
        assert!(wrong.ends_with("vertex 2 is out of range: there are 2 vertices"), "{wrong}");
        let wrong = read(&file(0, 2, 2, &[0, 1, 2], &[1, 5, 0, -5_i32 as u32]), 0..2);
        assert!(wrong.ends_with("a weight is -5, below 0"), "{wrong}");
        assert!(stored(b"0 1\n").is_err());
    }

    #[test]
    fn the_extension_decides_about_weights() {
        let bytes = |graph: &Graph, name: &str| {
            let mut bytes = Vec::new();
            write(graph, name, &mut bytes).unwrap();
            bytes
        };
        let weighted = Graph::from_edges([(0, 1, 5_u32)]).unwrap();
        let unit = Graph::from_edges([(0, 1)]).unwrap();
        let decimal = Graph::from_edges([(0, 1, 0.5)]).unwrap();
        assert_eq!(bytes(&weighted, "a.wsg/x.sg"), bytes(&unit, ""));
        assert_eq!(bytes(&decimal, "x.SG.gz"), bytes(&unit, ""));
        let ones = Graph::from_edges([(0, 1, 1_u32)]).unwrap();
        assert_eq!(bytes(&unit, "x.wsg"), bytes(&ones, "x"));
        assert!(write(&decimal, "x.wsg", &mut Vec::new()).is_err());
    }

    #[test]
    fn rows_in_disorder_are_sorted_and_merged() {
        let bytes = file(0, 6, 2, &[0, 4, 6], &[1, 7, 1, 3, 0, 2, 0, 1, 0, 3, 0, 7]);
        let read = |options: ReadOptions| options.format(Format::Gap).read_bytes("x", bytes.clone()).unwrap();
        let merged = read(ReadOptions::new());
        assert_eq!(merged.edges().collect::<Vec<_>>(), [(0, 0, 1.0), (0, 1, 3.0), (1, 0, 3.0)]);
        assert_eq!((merged.input_counts().self_loops, merged.input_counts().parallel), (2, 3));
        let kept = read(ReadOptions::new().parallel_edges(ParallelEdges::Keep).self_loops(SelfLoops::Drop));
        assert_eq!(kept.edges().collect::<Vec<_>>(), [(0, 1, 3.0), (0, 1, 7.0), (1, 0, 3.0), (1, 0, 7.0)]);
        let unit = read(ReadOptions::new().weights(WeightSource::Unit));
        assert_eq!((unit.arcs(), unit.weight_kind()), (3, WeightKind::Unit));
        let negative = file(1, 1, 2, &[0, 1, 1], &[1, -3_i32 as u32, 0, 0, 0, 0, 1, 0, 0, -3_i32 as u32]);
        let negative = ReadOptions::new().read_bytes("x", negative).unwrap();
        assert_eq!(negative.edges().collect::<Vec<_>>(), [(0, 1, -3.0)]);
    }

    #[test]
    fn malformed_files_are_rejected() {
        let size = "test: not a serialized GAP graph: its size is not the one that its first 17 bytes announce";
        let good = file(0, 2, 2, &[0, 1, 2], &[1, 0]);
        for bytes in [&good[..0], &good[..17], &good[..good.len() - 1], &[&good[..], &[0]].concat()] {
            assert_rejected(Format::Gap, bytes, size);
        }
        assert_rejected(Format::Gap, file(2, 2, 2, &[0, 1, 2], &[1, 0]), size);
        assert_rejected(Format::Gap, file(0, u64::MAX, u64::MAX, &[], &[]), size);
        for (bytes, message) in [
            (file(0, 2, 2, &[0, 3, 2], &[1, 0]), "the offset of vertex 2 is below the one before it"),
            (file(0, 2, 2, &[1, 1, 2], &[1, 0]), "the rows run from 1 to 2, but there are 2 entries"),
            (file(0, 2, 2, &[0, 1, 1], &[1, 0]), "the rows run from 0 to 1, but there are 2 entries"),
            (file(0, 2, 2, &[0, 1, 2], &[1, 2]), "vertex 2 is out of range: there are 2 vertices"),
            (file(0, 2, 2, &[0, 1, 2], &[1, u32::MAX]), "vertex 4294967295 is out of range: there are 2 vertices"),
            (file(0, 2, 2, &[0, 1, 2], &[0, 0]), "the graph is undirected, but the edge from 1 to 0 lacks its reverse"),
            (
                file(0, 2, 2, &[0, 1, 2], &[1, 5, 0, 6]),
                "the graph is undirected, but the edge from 0 to 1 of weight 5 lacks its reverse",
            ),
        ] {
            assert_rejected(Format::Gap, bytes, &format!("test: {message}"));
        }
    }

    #[test]
    fn mutations_are_survived() {
        survive_mutations(Format::Gap, &file(0, 4, 3, &[0, 2, 3, 4], &[1, 2, 0, 0]), 1);
        survive_mutations(Format::Gap, &file(0, 4, 3, &[0, 2, 3, 4], &[1, 5, 2, 6, 0, 5, 0, 6]), 2);
    }
}
