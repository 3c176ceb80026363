//! `.npz`: sparse matrices as `scipy.sparse.save_npz` writes them, a zip archive of NumPy arrays.
//!
//! A CSR matrix (`indptr`, `indices`, `data`) has the layout of the graph already. CSC is the same by column, and COO
//! (`row`, `col`, `data`) a list of edges. Entry `(i, j)` is the arc from `i` to `j`; an explicit zero is an arc of
//! weight 0, not a missing one. A matrix is a directed graph unless the options say otherwise, symmetric or not.
//!
//! Booleans that are all true are no weights; other booleans and integers become `u32`, or `i32` if any is negative;
//! floats keep their type.
//!
//! Arrays may be stored or deflated. Before any memory is taken, the sizes that an archive claims are checked against
//! its bytes and against memory. Deflated arrays are unpacked and converted piece by piece: the bytes of an array are
//! never in memory as a whole.
//!
//! *Parts.* `array` reads a member, `header` the header of its array; `write` is the writer.

mod array;
mod elements;
mod header;
mod write;

use std::io::Cursor;

use array::Array;
use write::write;
use zip::ZipArchive;

use super::entry::FormatEntry;
use super::foreign::is_npz;
use super::rows::{Rows, plan_vertices, too_many_isolated, vertex_count, wants_weights};
use super::{Input, ReadOptions};
use crate::graph::{Direction, EdgeList, Graph, Labels, VertexId, Weights, with_weights};
use crate::memory::{self, allocation::bytes_of};
use crate::{InputError, Plan, Result};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "npz",
    extensions: &["npz"],
    holds: "every graph",
    numbers_from: Some(0),
    is_binary: true,
    is_announced: |opened| is_npz(opened.head()),
    read: |opened, options| read(&opened.load(options)?, options),
    write: Some(|graph, _, out| write(graph, out)),
};

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Reads a graph.
///
/// # Errors
///
/// If the archive is damaged, does not hold a square sparse matrix in CSR, CSC or COO form, its arrays contradict each
/// other, a weight is not finite or does not fit into 32 bits, or the arrays do not fit into memory.
fn read(input: &Input, options: &ReadOptions) -> Result<Graph> {
    let archive = ZipArchive::new(Cursor::new(input.bytes()))
        .map_err(|error| InputError::new(format!("not a whole zip archive: {error}")))?;
    let mut file = File { archive, input, options };

    let shape = file.array("shape")?;
    if shape.length != 2 {
        return invalid(format!("the shape has {} dimensions instead of 2", shape.length));
    }
    let shape = shape.integers()?;
    let (rows, columns) = (shape[0], shape[1]);
    if rows != columns {
        return invalid(format!("the matrix of a graph has to be square; this one is {rows} by {columns}"));
    }
    let vertices = vertex_count(rows)?;
    let labels = Labels::range(0, rows);
    let format = file.array("format")?.text()?;
    let [first, second] = match format.as_str() {
        "csr" | "csc" => ["indptr", "indices"],
        "coo" => ["row", "col"],
        other => return invalid(format!("sparse matrices in `{other}` form can't be read, only csr, csc and coo")),
    };
    let wants_weights = wants_weights(options)?;
    file.plan(&format, [first, second], vertices, wants_weights)?;

    let entries = file.array("data")?.length;
    let weights = if wants_weights { file.array("data")?.weights()? } else { Weights::unit(entries) };
    match format.as_str() {
        "csr" => {
            let offsets = file.array(first)?.integers()?;
            let targets = file.array(second)?.vertices(vertices)?;
            with_weights!(weights, weights => {
                let rows = Rows { offsets, targets, weights };
                rows.into_graph(Direction::Directed, labels, None, options)
            })
        }
        "csc" => {
            let offsets = file.array(first)?.integers()?;
            let tails = file.array(second)?.vertices(vertices)?;
            crate::graph::check_offsets(&offsets).map_err(super::rows::about_input)?;
            if offsets[vertices] != entries as u64 || offsets[0] != 0 {
                return invalid(format!("the columns run from {} to {}", offsets[0], offsets[vertices]));
            }
            let heads = (0..vertices as VertexId)
                .flat_map(|v| std::iter::repeat_n(v, (offsets[v as usize + 1] - offsets[v as usize]) as usize));
            let mut edges = memory::with_capacity("edges", entries)?;
            edges.extend(tails.into_iter().zip(heads));
            build(edges, weights, labels, input, options)
        }
        _ => {
            let tails = file.array(first)?.vertices(vertices)?;
            let mut edges = memory::with_capacity("edges", entries)?;
            file.array(second)?.each_vertex(vertices, &mut |heads| {
                let tails = &tails[edges.len()..][..heads.len()];
                edges.extend(tails.iter().copied().zip(heads.iter().copied()));
            })?;
            drop(tails);
            build(edges, weights, labels, input, options)
        }
    }
}

/// An archive being read.
struct File<'a> {
    archive: Archive<'a>,
    input: &'a Input,
    options: &'a ReadOptions,
}

impl File<'_> {
    fn array(&mut self, name: &'static str) -> Result<Array<'_>> {
        Array::open(&mut self.archive, self.input, self.options, name)
    }

    /// An error if the lengths of the arrays contradict each other, or the converted arrays do not fit into memory.
    /// `places` names the arrays that hold the positions of entries.
    fn plan(&mut self, format: &str, places: [&'static str; 2], vertices: usize, weights: bool) -> Result<()> {
        let first = self.array(places[0])?.length;
        let second = self.array(places[1])?.length;
        let (entries, element_bytes, bytes_of_weight) = {
            let data = self.array("data")?;
            (data.length, data.element_bytes, data.bytes_of_weight())
        };
        let mut plan = Plan::new();
        if format == "coo" {
            if first != entries || second != entries {
                return invalid(format!("row, col and data have different lengths: {first}, {second}, {entries}"));
            }
            // Indices have four bytes, or eight.
            let bytes = (entries as u64).saturating_mul(element_bytes as u64 + 16);
            if let Some(message) = too_many_isolated(vertices as u64, bytes, self.options) {
                return invalid(message);
            }
            plan_vertices(vertices as u64, self.input.owned_bytes(), self.options)?;
        } else {
            if first != vertices + 1 || second != entries {
                return invalid(format!(
                    "the arrays contradict each other: {vertices} rows, {first} row ends, {second} indices, {entries} values"
                ));
            }
            plan.memory("offsets of vertices", bytes_of::<u64>(first));
        }
        if weights {
            plan.memory("weights", (entries as u64).saturating_mul(bytes_of_weight));
        }
        plan.memory("vertices of entries", bytes_of::<VertexId>(entries));
        if format != "csr" {
            plan.memory("edges", bytes_of::<(VertexId, VertexId)>(entries));
        }
        plan.check(self.options.room(self.input.owned_bytes()))
    }
}

fn invalid<T>(message: String) -> Result<T> {
    Err(InputError::new(message).into())
}

fn build(
    edges: Vec<(VertexId, VertexId)>,
    weights: Weights,
    labels: Labels,
    input: &Input,
    options: &ReadOptions,
) -> Result<Graph> {
    with_weights!(weights, weights => {
        let list = EdgeList { edges, weights };
        options.builder_beside(Direction::Directed, input.owned_bytes()).labels(labels).build(vec![list])
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use bytemuck::Pod;
    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;
    use crate::Error;
    use crate::formats::Format;
    use crate::formats::testing::{all_graphs, assert_same, read_like, survive_mutations, written};
    use crate::graph::WeightKind;

    /// An archive of these arrays: name, type, shape, bytes.
    fn archive(arrays: &[(&str, &str, &str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, description, shape, bytes) in arrays {
            writer.start_file(format!("{name}.npy"), SimpleFileOptions::default().compression_method(method)).unwrap();
            let header = format!("{{'descr': '{description}', 'fortran_order': False, 'shape': {shape}, }}\n");
            writer.write_all(b"\x93NUMPY\x01\x00").unwrap();
            writer.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
            writer.write_all(header.as_bytes()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn bytes_of<T: Pod>(values: &[T]) -> Vec<u8> {
        bytemuck::cast_slice(values).to_vec()
    }

    type Parts = Vec<(&'static str, &'static str, &'static str, Vec<u8>)>;

    /// The matrix [[0, 1, 2], [0, 0, 3], [0, 0, 0]].
    fn csr_parts() -> Parts {
        vec![
            ("indices", "<i4", "(3,)", bytes_of(&[1_i32, 2, 2])),
            ("indptr", "<i4", "(4,)", bytes_of(&[0_i32, 2, 3, 3])),
            ("format", "|S3", "()", b"csr".to_vec()),
            ("shape", "<i8", "(2,)", bytes_of(&[3_i64, 3])),
            ("data", "<f8", "(3,)", bytes_of(&[1.0, 2.0, 3.0])),
        ]
    }

    fn with(
        mut parts: Parts,
        name: &'static str,
        description: &'static str,
        shape: &'static str,
        bytes: Vec<u8>,
    ) -> Parts {
        let at = parts.iter().position(|part| part.0 == name).unwrap();
        parts[at] = (name, description, shape, bytes);
        parts
    }

    fn read_parts(parts: &Parts) -> Result<Graph> {
        ReadOptions::new().read_bytes("test", archive(parts, CompressionMethod::Deflated))
    }

    #[test]
    fn graphs_come_back() {
        for (name, graph) in all_graphs() {
            let bytes = written(&graph, Format::Npz).unwrap();
            assert_same(&read_like(&graph, Format::Npz, bytes).unwrap(), &graph, &name);
        }
    }

    #[test]
    fn every_form_of_a_matrix_is_the_same_graph() {
        let expected = [(0, 1, 1.0), (0, 2, 2.0), (1, 2, 3.0)];
        let csr = csr_parts();
        let csc = with(csr.clone(), "format", "<U3", "()", b"c\0\0\0s\0\0\0c\0\0\0".to_vec());
        let csc = with(csc, "indices", "<i8", "(3,)", bytes_of(&[0_i64, 0, 1]));
        let csc = with(csc, "indptr", "<i8", "(4,)", bytes_of(&[0_i64, 0, 1, 3]));
        let mut coo = with(csr.clone(), "format", "|S3", "()", b"coo".to_vec());
        coo[0] = ("row", "<i4", "(3,)", bytes_of(&[1_i32, 0, 0]));
        coo[1] = ("col", "<i4", "(3,)", bytes_of(&[2_i32, 2, 1]));
        let coo = with(coo, "data", "<f8", "(3,)", bytes_of(&[3.0, 2.0, 1.0]));
        for parts in [csr, csc, coo] {
            for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
                let graph = ReadOptions::new().read_bytes("test", archive(&parts, method)).unwrap();
                assert!(graph.is_directed());
                assert_eq!(graph.edges().collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn files_of_scipy_are_read() {
        let files: [(&[u8], WeightKind); 2] = [
            (include_bytes!("../../../tests/data/scipy-csr-int64.npz"), WeightKind::U32),
            (include_bytes!("../../../tests/data/scipy-coo-float32.npz"), WeightKind::F32),
        ];
        for (file, kind) in files {
            let graph = ReadOptions::new().read_bytes("test", file.to_vec()).unwrap();
            assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1, 5.0), (0, 2, 0.0), (1, 0, 7.0), (2, 2, 1.0)]);
            assert_eq!(graph.weight_kind(), kind);
        }
    }

    #[test]
    fn types_of_values_become_types_of_weights() {
        for (description, bytes, kind, weights) in [
            ("|b1", vec![1, 1, 1], WeightKind::Unit, [1.0, 1.0, 1.0]),
            ("|b1", vec![1, 0, 1], WeightKind::U32, [1.0, 0.0, 1.0]),
            ("|i1", vec![1, 255, 0], WeightKind::I32, [1.0, -1.0, 0.0]),
            ("|u1", vec![1, 255, 0], WeightKind::U32, [1.0, 255.0, 0.0]),
            ("<i2", bytes_of(&[1_i16, 2, 3]), WeightKind::U32, [1.0, 2.0, 3.0]),
            ("<u4", bytes_of(&[1_u32, u32::MAX, 3]), WeightKind::U32, [1.0, 4294967295.0, 3.0]),
            ("<i8", bytes_of(&[1_i64, -(1 << 31), 3]), WeightKind::I32, [1.0, -2147483648.0, 3.0]),
            ("<u8", bytes_of(&[1_u64, 2, 3]), WeightKind::U32, [1.0, 2.0, 3.0]),
            ("<f4", bytes_of(&[1.5_f32, 0.0, -0.0]), WeightKind::F32, [1.5, 0.0, 0.0]),
            ("<f8", bytes_of(&[1.5, -0.0, -2.0]), WeightKind::F64, [1.5, 0.0, -2.0]),
        ] {
            let graph = read_parts(&with(csr_parts(), "data", description, "(3,)", bytes)).unwrap();
            assert_eq!(graph.weight_kind(), kind, "{description}");
            assert_eq!(graph.edges().map(|edge| edge.2).collect::<Vec<_>>(), weights, "{description}");
        }
    }

    #[test]
    fn malformed_archives_are_rejected() {
        let rejected = |parts: Parts, message: &str| {
            let error = read_parts(&parts).expect_err(message);
            assert_eq!(error.to_string(), format!("test: {message}"));
        };
        let csr = csr_parts;
        rejected(
            with(csr(), "shape", "<i8", "(2,)", bytes_of(&[3_i64, 4])),
            "the matrix of a graph has to be square; this one is 3 by 4",
        );
        rejected(with(csr(), "shape", "<i8", "(1,)", bytes_of(&[3_i64])), "the shape has 1 dimensions instead of 2");
        rejected(
            with(csr(), "shape", "<i8", "(2,)", bytes_of(&[-3_i64, 3])),
            "array `shape`: element 0 is not an integer from 0",
        );
        rejected(
            with(csr(), "shape", "<i8", "(2,)", bytes_of(&[1_i64 << 40, 1 << 40])),
            "1099511627776 vertices are too many; at most 4294967294 are possible",
        );
        rejected(
            with(csr(), "shape", "<i8", "(2,)", bytes_of(&[4_i64, 4])),
            "the arrays contradict each other: 4 rows, 4 row ends, 3 indices, 3 values",
        );
        rejected(
            with(csr(), "format", "|S3", "()", b"bsr".to_vec()),
            "sparse matrices in `bsr` form can't be read, only csr, csc and coo",
        );
        rejected(
            with(csr(), "indices", "<i4", "(3,)", bytes_of(&[1_i32, 3, 2])),
            "array `indices`: element 1 is not a vertex below 3",
        );
        rejected(
            with(csr(), "indices", "<i4", "(4,)", bytes_of(&[1_i32, 2, 2])),
            "array `indices`: 4 elements of 4 bytes are announced, but it has 12 bytes",
        );
        rejected(
            with(csr(), "indices", ">i4", "(3,)", bytes_of(&[1_i32, 2, 2])),
            "array `indices`: big-endian elements (`>i4`) can't be read",
        );
        rejected(
            with(csr(), "indptr", "<i4", "(4,)", bytes_of(&[0_i32, 3, 2, 3])),
            "the offset of vertex 2 is below the one before it",
        );
        rejected(
            with(csr(), "data", "<f8", "(3,)", bytes_of(&[1.0, f64::NAN, 2.0])),
            "array `data`: element 1 is not a finite number",
        );
        rejected(
            with(csr(), "data", "<i8", "(3,)", bytes_of(&[1_i64, 1 << 32, 2])),
            "array `data`: element 1 is not a 32-bit integer",
        );
        rejected(
            with(csr(), "data", "<i8", "(3,)", bytes_of(&[-1_i64, 1 << 31, 2])),
            "array `data`: element 1 is not a signed 32-bit integer, though others are negative",
        );
        rejected(
            with(csr(), "data", "<c16", "(3,)", vec![0; 48]),
            "array `data`: elements of type `<c16` can't be read",
        );
        rejected(csr()[..4].to_vec(), "archive member `data.npy`: specified file not found in archive");
        let error = ReadOptions::new().read_bytes("test.npz", b"PK\x03\x04 and nothing".to_vec()).unwrap_err();
        assert!(error.to_string().starts_with("test.npz: not a whole zip archive: "), "{error}");
    }

    /// A matrix with this many entries, all in one place, which deflates well.
    fn many_entries(entries: usize) -> Parts {
        vec![
            ("row", "<i4", "(ENTRIES,)", vec![0; entries * 4]),
            ("col", "<i4", "(ENTRIES,)", vec![0; entries * 4]),
            ("format", "|S3", "()", b"coo".to_vec()),
            ("shape", "<i8", "(2,)", bytes_of(&[1_i64, 1])),
            ("data", "<f8", "(ENTRIES,)", vec![0; entries * 8]),
        ]
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn an_archive_that_unpacks_beyond_memory_is_refused() {
        const ENTRIES: usize = 1 << 20;
        let mut parts = many_entries(ENTRIES);
        parts.iter_mut().filter(|part| part.2 == "(ENTRIES,)").for_each(|part| part.2 = "(1048576,)");
        let packed = archive(&parts, CompressionMethod::Deflated);
        assert!(packed.len() < ENTRIES / 4);
        let read = |memory: u64| ReadOptions::new().memory(memory).read_bytes("test", packed.clone());
        let error = read(8 << 20).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { available, .. } if available <= 8 << 20), "{error}");
        assert_eq!(read(1 << 30).unwrap().arcs(), 1);
    }

    #[test]
    fn sizes_that_a_member_can_not_have_are_refused() {
        // A directory that claims 32 GiB for data of a few bytes, and a header that agrees.
        let mut parts = csr_parts();
        parts[4] = ("data", "<f8", "(4294967296,)", vec![0; 24]);
        let mut packed = archive(&parts, CompressionMethod::Deflated);
        let directory = packed.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
        packed[directory + 24..directory + 28].copy_from_slice(&u32::MAX.wrapping_sub(1).to_le_bytes());
        let error = ReadOptions::new().read_bytes("test", packed).unwrap_err();
        assert!(error.to_string().contains("can't unpack to 4294967294"), "{error}");
        let error = read_parts(&with(csr_parts(), "indptr", "<i8", "(4611686018427387904,)", vec![0; 8])).unwrap_err();
        assert!(error.to_string().contains("are announced, but it has 8 bytes"), "{error}");
        // A list of entries may claim any number of vertices.
        let mut parts = many_entries(1);
        parts.iter_mut().filter(|part| part.2 == "(ENTRIES,)").for_each(|part| part.2 = "(1,)");
        parts[3].3 = bytes_of(&[1_i64 << 30; 2]);
        let error = read_parts(&parts).unwrap_err();
        assert!(error.to_string().contains("1073741824 vertices are announced in 24 bytes"), "{error}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn arrays_longer_than_a_piece_are_read() {
        const ENTRIES: usize = (1 << 18) + 3;
        let place: Vec<i64> = (0..ENTRIES as i64).collect();
        let mut weights: Vec<i64> = place.iter().map(|&v| v % 100).collect();
        let parts = |weights: &[i64]| -> Parts {
            vec![
                ("row", "<i8", "(262147,)", bytes_of(&place)),
                ("col", "<i8", "(262147,)", bytes_of(&place)),
                ("format", "|S3", "()", b"coo".to_vec()),
                ("shape", "<i8", "(2,)", bytes_of(&[ENTRIES as i64; 2])),
                ("data", "<i8", "(262147,)", bytes_of(weights)),
            ]
        };
        for (change, kind) in [(None, WeightKind::U32), (Some((ENTRIES - 1, -5)), WeightKind::I32)] {
            if let Some((at, weight)) = change {
                weights[at] = weight;
            }
            for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
                let graph = ReadOptions::new().read_bytes("test", archive(&parts(&weights), method)).unwrap();
                assert_eq!(graph.weight_kind(), kind);
                let expected = (0..ENTRIES as VertexId).map(|v| (v, v, weights[v as usize] as f64));
                assert!(graph.edges().eq(expected), "{method:?}, {kind:?}");
            }
        }
        weights[7] = i64::from(u32::MAX);
        let error = read_parts(&parts(&weights)).unwrap_err().to_string();
        assert_eq!(error, "test: array `data`: element 7 is not a signed 32-bit integer, though others are negative");
        weights[ENTRIES - 2] = i64::MAX;
        weights[7] = 1;
        let error = read_parts(&parts(&weights)).unwrap_err().to_string();
        assert!(error.contains("element 262145 is not a signed"), "{error}");
        let truth: Vec<u8> = (0..ENTRIES).map(|index| u8::from(index != ENTRIES - 1)).collect();
        let mut booleans = parts(&weights);
        booleans[4] = ("data", "|b1", "(262147,)", truth);
        let graph = read_parts(&booleans).unwrap();
        assert_eq!((graph.weight_kind(), graph.weight_range()), (WeightKind::U32, (0.0, 1.0)));
    }

    #[test]
    fn mutations_are_survived() {
        survive_mutations(Format::Npz, &archive(&csr_parts(), CompressionMethod::Stored), 1);
        survive_mutations(Format::Npz, &archive(&csr_parts(), CompressionMethod::Deflated), 2);
    }
}
