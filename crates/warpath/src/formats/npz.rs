//! `.npz`: sparse matrices as `scipy.sparse.save_npz` writes them, a zip archive of NumPy arrays.
//!
//! A CSR matrix (`indptr`, `indices`, `data`) has the layout of the graph already. CSC is the same by column, and COO
//! (`row`, `col`, `data`) a list of edges. Entry `(i, j)` is the arc from `i` to `j`; an explicit zero is an arc of
//! weight 0, not a missing one. A matrix is a directed graph unless the options say otherwise, symmetric or not.
//!
//! Booleans that are all true are no weights; other booleans and integers become `u32`, or `i32` if any is negative;
//! floats keep their type. Arrays may be stored or deflated. What an archive claims about sizes is checked against what
//! it can possibly hold before memory is taken.

use std::borrow::Cow;
use std::io::{Cursor, Read, Write};

use bytemuck::Pod;
use rayon::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::rows::{Rows, plan_vertices, vertex_count, wants_weights};
use super::{Input, ReadOptions, stream_error};
use crate::graph::{Direction, EdgeList, Graph, Labels, VertexId, Weights, with_weights};
use crate::{InputError, Result};

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Reads a graph.
///
/// # Errors
///
/// If the archive is damaged, does not hold a square sparse matrix in CSR, CSC or COO form, its arrays contradict each
/// other, or a weight is not finite or does not fit into 32 bits.
pub(super) fn read(input: &Input, options: &ReadOptions) -> Result<Graph> {
    let bytes = input.bytes();
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| InputError::new(format!("not a whole zip archive: {error}")))?;
    let mut member = |name: &str| Array::read(&mut archive, bytes, name);

    let shape = member("shape")?.integers()?;
    let &[rows, columns] = shape.as_slice() else {
        return invalid(format!("the shape has {} dimensions instead of 2", shape.len()));
    };
    if rows != columns {
        return invalid(format!("the matrix of a graph has to be square; this one is {rows} by {columns}"));
    }
    let vertices = vertex_count(rows)?;
    let labels = Labels::range(0, rows);
    let format = member("format")?.text();
    let data = member("data")?;
    let entries = data.length();
    let weights = if wants_weights(options)? { data.weights()? } else { Weights::unit(entries) };
    drop(data);
    match format.as_str() {
        "csr" => {
            let offsets = member("indptr")?.integers()?;
            let targets = member("indices")?.vertices(vertices)?;
            check_lengths(&offsets, vertices, targets.len(), entries)?;
            with_weights!(weights, weights => {
                let rows = Rows { offsets, targets, weights };
                rows.into_graph(Direction::Directed, labels, None, options)
            })
        }
        "csc" => {
            let offsets = member("indptr")?.integers()?;
            let tails = member("indices")?.vertices(vertices)?;
            check_lengths(&offsets, vertices, tails.len(), entries)?;
            crate::graph::check_offsets(&offsets).map_err(super::rows::about_input)?;
            if offsets[vertices] != entries as u64 || offsets[0] != 0 {
                return invalid(format!("the columns run from {} to {}", offsets[0], offsets[vertices]));
            }
            let heads = (0..vertices as VertexId)
                .flat_map(|v| std::iter::repeat_n(v, (offsets[v as usize + 1] - offsets[v as usize]) as usize));
            build(tails.into_iter().zip(heads).collect(), weights, labels, options)
        }
        "coo" => {
            let tails = member("row")?.vertices(vertices)?;
            let heads = member("col")?.vertices(vertices)?;
            if tails.len() != entries || heads.len() != entries {
                return invalid(format!(
                    "row, col and data have different lengths: {}, {}, {entries}",
                    tails.len(),
                    heads.len()
                ));
            }
            build(tails.into_iter().zip(heads).collect(), weights, labels, options)
        }
        other => invalid(format!("sparse matrices in `{other}` form can't be read, only csr, csc and coo")),
    }
}

fn invalid<T>(message: String) -> Result<T> {
    Err(InputError::new(message).into())
}

fn check_lengths(offsets: &[u64], vertices: usize, indices: usize, entries: usize) -> Result<()> {
    if offsets.len() != vertices + 1 || indices != entries {
        return invalid(format!(
            "the arrays contradict each other: {vertices} rows, {} row ends, {indices} indices, {entries} values",
            offsets.len()
        ));
    }
    Ok(())
}

fn build(edges: Vec<(VertexId, VertexId)>, weights: Weights, labels: Labels, options: &ReadOptions) -> Result<Graph> {
    plan_vertices(labels.len())?;
    with_weights!(weights, weights => {
        let list = EdgeList { edges, weights };
        options.builder(Direction::Directed).labels(labels).build(vec![list])
    })
}

/// The type of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// Text, of so many bytes a character.
    Text(usize),
}

/// A NumPy array of numbers, or of one string: little-endian, of at most two dimensions.
struct Array<'a> {
    name: String,
    kind: Kind,
    element_bytes: usize,
    bytes: Cow<'a, [u8]>,
    /// Where the elements begin in `bytes`.
    start: usize,
}

/// Runs an expression with `$type` standing for the integer type of an array, `bool` being `u8`.
macro_rules! with_integer_type {
    ($array:expr, $type:ident => $body:expr, else $other:expr) => {
        match ($array.kind, $array.element_bytes) {
            (Kind::Bool | Kind::Unsigned, 1) => {
                type $type = u8;
                $body
            }
            (Kind::Unsigned, 2) => {
                type $type = u16;
                $body
            }
            (Kind::Unsigned, 4) => {
                type $type = u32;
                $body
            }
            (Kind::Unsigned, 8) => {
                type $type = u64;
                $body
            }
            (Kind::Signed, 1) => {
                type $type = i8;
                $body
            }
            (Kind::Signed, 2) => {
                type $type = i16;
                $body
            }
            (Kind::Signed, 4) => {
                type $type = i32;
                $body
            }
            (Kind::Signed, 8) => {
                type $type = i64;
                $body
            }
            _ => $other,
        }
    };
}

impl<'a> Array<'a> {
    fn read(archive: &mut Archive<'a>, whole: &'a [u8], name: &str) -> Result<Self> {
        let bytes = read_member(archive, whole, &format!("{name}.npy"))?;
        Array::parse(name, bytes).map_err(|message| InputError::new(format!("array `{name}`: {message}")).into())
    }

    /// Splits the header of a `.npy` file (versions 1 to 3) off.
    fn parse(name: &str, bytes: Cow<'a, [u8]>) -> std::result::Result<Self, String> {
        let damaged = || "its header is damaged".to_owned();
        let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("it is no NumPy array")?;
        let (&[version, _], rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let (length, rest) = if version == 1 {
            rest.split_first_chunk().map(|(&length, rest)| (usize::from(u16::from_le_bytes(length)), rest))
        } else {
            rest.split_first_chunk().map(|(&length, rest)| (u32::from_le_bytes(length) as usize, rest))
        }
        .ok_or_else(damaged)?;
        let header = rest.get(..length).and_then(|header| std::str::from_utf8(header).ok()).ok_or_else(damaged)?;
        let start = bytes.len() - rest.len() + length;
        let value = |key: &str| {
            let at = header.find(&format!("'{key}'"))? + key.len() + 2;
            Some(header[at..].trim_start().strip_prefix(':')?.trim_start())
        };
        let description = value("descr")
            .and_then(|text| text.strip_prefix('\''))
            .and_then(|text| text.split('\'').next())
            .ok_or("its elements are no plain numbers")?;
        let shape = value("shape")
            .and_then(|text| text.strip_prefix('('))
            .and_then(|text| text.split(')').next())
            .ok_or_else(damaged)?;
        let mut count = 1_u64;
        for side in shape.split(',').map(str::trim).filter(|side| !side.is_empty()) {
            count = side.parse().ok().and_then(|side: u64| count.checked_mul(side)).ok_or_else(damaged)?;
        }
        let unsupported = || format!("elements of type `{description}` can't be read");
        let (order, code) = description.split_at_checked(1).ok_or_else(unsupported)?;
        let (code, size) = code.split_at_checked(1).ok_or_else(unsupported)?;
        let size: usize = size.parse().map_err(|_| unsupported())?;
        if order == ">" && size > 1 {
            return Err(format!("big-endian elements (`{description}`) can't be read"));
        }
        let (kind, element_bytes) = match (code, size) {
            ("b", 1) => (Kind::Bool, 1),
            ("i", 1 | 2 | 4 | 8) => (Kind::Signed, size),
            ("u", 1 | 2 | 4 | 8) => (Kind::Unsigned, size),
            ("f", 4 | 8) => (Kind::Float, size),
            ("S", 1..=64) => (Kind::Text(1), size),
            ("U", 1..=64) => (Kind::Text(4), size * 4),
            _ => return Err(unsupported()),
        };
        let found = (bytes.len() - start) as u64;
        if count.checked_mul(element_bytes as u64) != Some(found) {
            return Err(format!("{count} elements of {element_bytes} bytes are announced, but it has {found} bytes"));
        }
        Ok(Array { name: name.to_owned(), kind, element_bytes, bytes, start })
    }

    fn elements(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn length(&self) -> usize {
        self.elements().len() / self.element_bytes
    }

    fn wrong_type<T>(&self, wanted: &str) -> Result<T> {
        invalid(format!("array `{}`: its elements are no {wanted}", self.name))
    }

    /// The text that the array is; empty if it is none.
    fn text(&self) -> String {
        let Kind::Text(width) = self.kind else { return String::new() };
        let letters = self.elements().chunks_exact(width).map(|letter| char::from(letter[0]));
        letters.filter(|&letter| letter != '\0').collect()
    }

    /// The elements, converted; `None` from `convert` is an error.
    fn convert<S: Pod + Send, T: Send>(&self, convert: impl Fn(S) -> Option<T> + Sync, wanted: &str) -> Result<Vec<T>> {
        let elements = self.elements().par_chunks_exact(size_of::<S>());
        let converted: Option<Vec<T>> = elements.map(|bytes| convert(bytemuck::pod_read_unaligned(bytes))).collect();
        match converted {
            Some(values) => Ok(values),
            None => {
                let mut elements = self.elements().chunks_exact(size_of::<S>());
                let bad = elements.position(|bytes| convert(bytemuck::pod_read_unaligned(bytes)).is_none());
                invalid(format!("array `{}`: element {} is not {wanted}", self.name, bad.unwrap_or_default()))
            }
        }
    }

    /// Integers that are not negative.
    fn integers(&self) -> Result<Vec<u64>> {
        with_integer_type!(self, S => self.convert(fitted::<S, u64>, "an integer from 0"),
            else self.wrong_type("integers"))
    }

    /// Vertices of a graph with so many.
    fn vertices(&self, vertices: usize) -> Result<Vec<VertexId>> {
        let wanted = format!("a vertex below {vertices}");
        with_integer_type!(self, S => {
            let vertex = |value: S| fitted::<S, VertexId>(value).filter(|&v| (v as usize) < vertices);
            self.convert(vertex, &wanted)
        }, else self.wrong_type("integers"))
    }

    /// Weights of the narrowest type that holds them.
    fn weights(&self) -> Result<Weights> {
        match (self.kind, self.element_bytes) {
            (Kind::Bool, _) if self.elements().par_iter().all(|&byte| byte != 0) => {
                Ok(Weights::unit(self.elements().len()))
            }
            (Kind::Float, 4) => {
                let finite = |value: f32| value.is_finite().then_some(if value == 0.0 { 0.0 } else { value });
                Ok(Weights::F32(self.convert(finite, "a finite number")?))
            }
            (Kind::Float, _) => {
                let finite = |value: f64| value.is_finite().then_some(if value == 0.0 { 0.0 } else { value });
                Ok(Weights::F64(self.convert(finite, "a finite number")?))
            }
            _ => with_integer_type!(self, S => {
                let negative = self
                    .elements()
                    .par_chunks_exact(size_of::<S>())
                    .any(|bytes| i128::from(bytemuck::pod_read_unaligned::<S>(bytes)) < 0);
                Ok(if negative {
                    Weights::I32(self.convert(fitted::<S, i32>, "a signed 32-bit integer, though others are negative")?)
                } else {
                    Weights::U32(self.convert(fitted::<S, u32>, "a 32-bit integer")?)
                })
            }, else self.wrong_type("numbers")),
        }
    }
}

/// The same integer in another type, if that has it.
fn fitted<S, T: TryFrom<S>>(value: S) -> Option<T> {
    T::try_from(value).ok()
}

/// The bytes of a member: where they lie if it is stored, else unpacked.
fn read_member<'a>(archive: &mut Archive<'a>, whole: &'a [u8], name: &str) -> Result<Cow<'a, [u8]>> {
    /// No deflated byte stands for more than this many.
    const MOST_DEFLATED: u64 = 1032;
    let failed = |error: &dyn std::fmt::Display| InputError::new(format!("archive member `{name}`: {error}"));
    let mut member = archive.by_name(name).map_err(|error| failed(&error))?;
    let (size, packed) = (member.size(), member.compressed_size());
    let stored = member.compression() == CompressionMethod::Stored && !member.encrypted();
    let start = member.data_start();
    if let (true, Some(start)) = (stored, start) {
        let range = usize::try_from(start).ok().zip(usize::try_from(start.saturating_add(size)).ok());
        let bytes = range.and_then(|(start, end)| whole.get(start..end)).ok_or_else(|| failed(&"it is cut short"))?;
        if crc32fast::hash(bytes) != member.crc32() {
            return Err(failed(&"its checksum does not match").into());
        }
        return Ok(Cow::Borrowed(bytes));
    }
    if packed > whole.len() as u64 || size / MOST_DEFLATED > packed {
        return Err(failed(&format!("{packed} bytes can't unpack to {size}")).into());
    }
    let mut bytes = Vec::with_capacity(size as usize);
    member.by_ref().take(size + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 != size {
        return Err(failed(&format!("it unpacks to {} bytes instead of {size}", bytes.len())).into());
    }
    Ok(Cow::Owned(bytes))
}

/// Writes the adjacency matrix as CSR, uncompressed; booleans, all true, where there are no weights.
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> Result<()> {
    write_members(graph, out).map_err(stream_error)
}

fn write_members(graph: &Graph, out: &mut dyn Write) -> std::io::Result<()> {
    let csr = graph.csr();
    let mut archive = ZipWriter::new_stream(out);
    let arcs = graph.arcs();
    let narrow = arcs <= i32::MAX as usize && graph.vertices() <= i32::MAX as usize;
    if narrow {
        array(&mut archive, "indices", "<i4", arcs, csr.targets(), |v| v)?;
        array(&mut archive, "indptr", "<i4", csr.offsets().len(), csr.offsets(), |offset| offset as u32)?;
    } else {
        array(&mut archive, "indices", "<i8", arcs, csr.targets(), u64::from)?;
        array(&mut archive, "indptr", "<i8", csr.offsets().len(), csr.offsets(), |offset| offset)?;
    }
    member(&mut archive, "format", "|S3", "()", b"csr")?;
    let side = graph.vertices() as u64;
    array(&mut archive, "shape", "<i8", 2, &[side, side], |side| side)?;
    match csr.weights() {
        Weights::Unit(values) => array(&mut archive, "data", "|b1", arcs, values, |_| 1_u8)?,
        Weights::U32(values) => array(&mut archive, "data", "<u4", arcs, values, |w| w)?,
        Weights::I32(values) => array(&mut archive, "data", "<i4", arcs, values, |w| w)?,
        Weights::F32(values) => array(&mut archive, "data", "<f4", arcs, values, |w| w)?,
        Weights::F64(values) => array(&mut archive, "data", "<f8", arcs, values, |w| w)?,
    }
    archive.finish()?;
    Ok(())
}

type Stream<'a> = ZipWriter<zip::write::StreamWriter<&'a mut dyn Write>>;

/// Begins a member with the header of its array: a multiple of 64 bytes, as NumPy aligns them.
fn begin(archive: &mut Stream<'_>, name: &str, description: &str, shape: &str, bytes: u64) -> std::io::Result<()> {
    const ALIGNMENT: usize = 64;
    const BEFORE: usize = 10;
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(bytes >= u64::from(u32::MAX) - 1024);
    archive.start_file(format!("{name}.npy"), options)?;
    let mut header = format!("{{'descr': '{description}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (BEFORE + header.len() + 1).next_multiple_of(ALIGNMENT) - BEFORE;
    header.extend(std::iter::repeat_n(' ', length - header.len() - 1));
    header.push('\n');
    archive.write_all(b"\x93NUMPY\x01\x00")?;
    archive.write_all(&(header.len() as u16).to_le_bytes())?;
    archive.write_all(header.as_bytes())
}

fn member(archive: &mut Stream<'_>, name: &str, description: &str, shape: &str, bytes: &[u8]) -> std::io::Result<()> {
    begin(archive, name, description, shape, bytes.len() as u64)?;
    archive.write_all(bytes)
}

/// Writes a one-dimensional array, converted piece by piece.
fn array<S: Copy, T: Pod>(
    archive: &mut Stream<'_>,
    name: &str,
    description: &str,
    length: usize,
    values: &[S],
    convert: impl Fn(S) -> T,
) -> std::io::Result<()> {
    const PIECE: usize = 1 << 16;
    begin(archive, name, description, &format!("({length},)"), (length * size_of::<T>()) as u64)?;
    let mut buffer = Vec::with_capacity(PIECE.min(length));
    for piece in values.chunks(PIECE) {
        buffer.clear();
        buffer.extend(piece.iter().map(|&value| convert(value)));
        archive.write_all(bytemuck::cast_slice(&buffer))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::testing::{all_graphs, assert_same, read_like, survive_mutations, written};
    use super::*;
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
            (include_bytes!("../../tests/data/scipy-csr-int64.npz"), WeightKind::U32),
            (include_bytes!("../../tests/data/scipy-coo-float32.npz"), WeightKind::F32),
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
        let error = ReadOptions::new().read_bytes("test", b"PK\x03\x04 and nothing".to_vec()).unwrap_err();
        assert!(error.to_string().starts_with("test: not a whole zip archive: "), "{error}");
    }

    #[test]
    fn mutations_are_survived() {
        survive_mutations(Format::Npz, &archive(&csr_parts(), CompressionMethod::Stored), 1);
        survive_mutations(Format::Npz, &archive(&csr_parts(), CompressionMethod::Deflated), 2);
    }
}
