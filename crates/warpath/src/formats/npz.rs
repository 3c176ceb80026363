//! `.npz`: sparse matrices as `scipy.sparse.save_npz` writes them, a zip archive of NumPy arrays.
//!
//! A CSR matrix (`indptr`, `indices`, `data`) has the layout of the graph already. CSC is the same by column, and COO
//! (`row`, `col`, `data`) a list of edges. Entry `(i, j)` is the arc from `i` to `j`; an explicit zero is an arc of
//! weight 0, not a missing one. A matrix is a directed graph unless the options say otherwise, symmetric or not.
//!
//! Booleans that are all true are no weights; other booleans and integers become `u32`, or `i32` if any is negative;
//! floats keep their type. Arrays may be stored or deflated. What an archive claims about sizes is checked against what
//! it can possibly hold and against memory before any is taken, and deflated arrays are unpacked piece by piece into what
//! they become: the bytes of an array are never in memory as a whole.

use std::io::{Cursor, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Pod;
use rayon::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::rows::{Rows, plan_vertices, too_many_isolated, vertex_count, wants_weights};
use super::{Input, ReadOptions, stream_error};
use crate::graph::{Direction, EdgeList, Graph, Labels, VertexId, Weights, with_weights};
use crate::memory::{self, allocation::bytes_of};
use crate::{Control, InputError, Plan, Result};

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Reads a graph.
///
/// # Errors
///
/// If the archive is damaged, does not hold a square sparse matrix in CSR, CSC or COO form, its arrays contradict each
/// other, a weight is not finite or does not fit into 32 bits, or all that does not fit into memory.
pub(super) fn read(input: &Input, options: &ReadOptions) -> Result<Graph> {
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
    let [tails, heads] = match format.as_str() {
        "csr" | "csc" => ["indptr", "indices"],
        "coo" => ["row", "col"],
        other => return invalid(format!("sparse matrices in `{other}` form can't be read, only csr, csc and coo")),
    };
    let wants_weights = wants_weights(options)?;
    file.plan(&format, [tails, heads], vertices, wants_weights)?;

    let entries = file.array("data")?.length;
    let weights = if wants_weights { file.array("data")?.weights()? } else { Weights::unit(entries) };
    match format.as_str() {
        "csr" => {
            let offsets = file.array(tails)?.integers()?;
            let targets = file.array(heads)?.vertices(vertices)?;
            with_weights!(weights, weights => {
                let rows = Rows { offsets, targets, weights };
                rows.into_graph(Direction::Directed, labels, None, options)
            })
        }
        "csc" => {
            let offsets = file.array(tails)?.integers()?;
            let tails = file.array(heads)?.vertices(vertices)?;
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
            let tails = file.array(tails)?.vertices(vertices)?;
            let mut edges = memory::with_capacity("edges", entries)?;
            file.array(heads)?.each_vertex(vertices, |heads| {
                let tails = &tails[edges.len()..][..heads.len()];
                edges.extend(tails.iter().copied().zip(heads.iter().copied()));
            })?;
            drop(tails);
            build(edges, weights, labels, input, options)
        }
    }
}

/// An archive that is read.
struct File<'a> {
    archive: Archive<'a>,
    input: &'a Input,
    options: &'a ReadOptions,
}

impl File<'_> {
    fn array(&mut self, name: &'static str) -> Result<Array<'_>> {
        Array::open(&mut self.archive, self.input, self.options, name)
    }

    /// An error if the lengths of the arrays contradict each other, or what they become does not fit into memory. The
    /// names are those of the arrays that say where entries are.
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

/// A NumPy array of numbers, or of one string: little-endian. Its header is read, its elements are still to come.
struct Array<'a> {
    name: &'static str,
    kind: Kind,
    element_bytes: usize,
    /// How many elements there are.
    length: usize,
    /// How many bytes they have, unpacked.
    bytes: usize,
    elements: Elements<'a>,
    control: &'a Control,
}

/// Where elements come from.
enum Elements<'a> {
    /// The file itself, where the array is stored as it is, with its checksum: so far, and as it has to be.
    Stored { bytes: &'a [u8], checksum: crc32fast::Hasher, expected: u32 },
    /// A stream that unpacks them.
    Packed(Box<dyn Read + 'a>),
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
    /// Finds an array in the archive, and checks what its headers claim: a member holds no more than its packed bytes
    /// can stand for, and as many bytes as the array has elements.
    fn open(
        archive: &'a mut Archive<'_>,
        input: &'a Input,
        options: &'a ReadOptions,
        name: &'static str,
    ) -> Result<Self> {
        /// No deflated byte stands for more than this many.
        const MOST_DEFLATED: u64 = 1032;
        let whole = input.bytes();
        let failed = |error: &dyn std::fmt::Display| InputError::new(format!("archive member `{name}.npy`: {error}"));
        let member = archive.by_name(&format!("{name}.npy")).map_err(|error| failed(&error))?;
        let (size, packed) = (member.size(), member.compressed_size());
        let is_stored = member.compression() == CompressionMethod::Stored && !member.encrypted();
        let stored = member.data_start().filter(|_| is_stored);
        let mut elements = if let Some(start) = stored {
            let range = usize::try_from(start).ok().zip(usize::try_from(start.saturating_add(size)).ok());
            let bytes =
                range.and_then(|(start, end)| whole.get(start..end)).ok_or_else(|| failed(&"it is cut short"))?;
            Elements::Stored { bytes, checksum: crc32fast::Hasher::new(), expected: member.crc32() }
        } else {
            if packed > whole.len() as u64 || size / MOST_DEFLATED > packed {
                return Err(failed(&format!("{packed} bytes can't unpack to {size}")).into());
            }
            Elements::Packed(Box::new(member))
        };
        let about_array = |message: String| InputError::new(format!("array `{name}`: {message}"));
        let header = Header::read(&mut elements).map_err(about_array)?;
        let bytes = size.saturating_sub(header.bytes);
        let (count, element_bytes) = (header.count, header.element_bytes);
        if count.checked_mul(element_bytes as u64) != Some(bytes) {
            let message = format!("{count} elements of {element_bytes} bytes are announced, but it has {bytes} bytes");
            return Err(about_array(message).into());
        }
        let (length, bytes) = (count as usize, bytes as usize);
        let control = &options.control;
        Ok(Array { name, kind: header.kind, element_bytes, length, bytes, elements, control })
    }

    fn wrong_type<T>(&self, wanted: &str) -> Result<T> {
        invalid(format!("array `{}`: its elements are no {wanted}", self.name))
    }

    fn bad_element<T>(&self, index: usize, wanted: &str) -> Result<T> {
        invalid(format!("array `{}`: element {index} is not {wanted}", self.name))
    }

    /// An empty array for as many values as there are elements.
    fn room_for<T>(&self) -> Result<Vec<T>> {
        memory::with_capacity(&format!("array `{}`", self.name), self.length)
    }

    /// Hands the bytes of all elements over, some at a time; with them comes how many elements were before.
    fn each_piece(&mut self, mut take: impl FnMut(&Self, usize, &[u8]) -> Result<()>) -> Result<()> {
        /// A multiple of every size that elements have.
        const PIECE: usize = 1 << 20;
        let mut elements = std::mem::replace(&mut self.elements, Elements::Packed(Box::new(std::io::empty())));
        let mut buffer = match elements {
            Elements::Stored { .. } => Vec::new(),
            Elements::Packed(_) => memory::zeroed("a piece of an array", PIECE.min(self.bytes))?,
        };
        let mut done = 0;
        while done < self.bytes {
            self.control.check()?;
            let length = PIECE.min(self.bytes - done);
            let piece = match &mut elements {
                Elements::Stored { bytes, checksum, .. } => {
                    let piece = &bytes[done..done + length];
                    checksum.update(piece);
                    piece
                }
                Elements::Packed(stream) => {
                    stream.read_exact(&mut buffer[..length]).map_err(|error| self.damaged(&error))?;
                    &buffer[..length]
                }
            };
            take(self, done / self.element_bytes, piece)?;
            done += length;
        }
        match elements {
            Elements::Stored { checksum, expected, .. } if checksum.clone().finalize() != expected => {
                Err(self.damaged(&"its checksum does not match").into())
            }
            Elements::Stored { .. } => Ok(()),
            // Here the checksum is compared at the end of the stream.
            Elements::Packed(mut stream) => match stream.read(&mut [0]) {
                Ok(0) => Ok(()),
                Ok(_) => Err(self.damaged(&"it unpacks to more bytes than it announces").into()),
                Err(error) => Err(self.damaged(&error).into()),
            },
        }
    }

    fn damaged(&self, error: &dyn std::fmt::Display) -> InputError {
        InputError::new(format!("archive member `{}.npy`: {error}", self.name))
    }

    /// The text that the array is; empty if it is none.
    fn text(mut self) -> Result<String> {
        let Kind::Text(width) = self.kind else { return Ok(String::new()) };
        if self.length != 1 {
            return Ok(String::new());
        }
        let mut text = String::new();
        self.each_piece(|_, _, piece| {
            let letters = piece.chunks_exact(width).map(|letter| char::from(letter[0]));
            text.extend(letters.filter(|&letter| letter != '\0'));
            Ok(())
        })?;
        Ok(text)
    }

    /// The elements, converted; `None` from `convert` is an error.
    fn convert<S: Pod + Send, T: Default + Send>(
        mut self,
        convert: impl Fn(S) -> Option<T> + Sync,
        wanted: &str,
    ) -> Result<Vec<T>> {
        let mut values = self.room_for()?;
        self.each_piece(|array, before, piece| array.extend(&mut values, before, piece, &convert, wanted))?;
        Ok(values)
    }

    /// Converts a piece of the elements, of which so many come before it.
    fn extend<S: Pod + Send, T: Default + Send>(
        &self,
        values: &mut Vec<T>,
        before: usize,
        piece: &[u8],
        convert: impl Fn(S) -> Option<T> + Sync,
        wanted: &str,
    ) -> Result<()> {
        let all_good = AtomicBool::new(true);
        values.par_extend(elements_of::<S>(piece).map(|value| {
            convert(value).unwrap_or_else(|| {
                all_good.store(false, Ordering::Relaxed);
                T::default()
            })
        }));
        if all_good.into_inner() {
            return Ok(());
        }
        let bad = elements_of::<S>(piece).position_first(|value| convert(value).is_none());
        self.bad_element(before + bad.unwrap_or(0), wanted)
    }

    /// Integers that are not negative.
    fn integers(self) -> Result<Vec<u64>> {
        with_integer_type!(self, S => self.convert(fitted::<S, u64>, "an integer from 0"),
            else self.wrong_type("integers"))
    }

    /// Vertices of a graph with so many.
    fn vertices(self, vertices: usize) -> Result<Vec<VertexId>> {
        let mut all = self.room_for()?;
        self.each_vertex(vertices, |piece| all.extend_from_slice(piece))?;
        Ok(all)
    }

    /// Hands vertices of a graph with so many over, some at a time.
    fn each_vertex(mut self, vertices: usize, mut take: impl FnMut(&[VertexId])) -> Result<()> {
        let wanted = format!("a vertex below {vertices}");
        let mut converted = Vec::new();
        with_integer_type!(self, S => {
            let vertex = |value: S| fitted::<S, VertexId>(value).filter(|&v| (v as usize) < vertices);
            self.each_piece(|array, before, piece| {
                converted.clear();
                array.extend(&mut converted, before, piece, vertex, &wanted)?;
                take(&converted);
                Ok(())
            })
        }, else self.wrong_type("integers"))
    }

    /// Bytes of the weight that an element becomes, at most.
    fn bytes_of_weight(&self) -> u64 {
        if (self.kind, self.element_bytes) == (Kind::Float, 8) { 8 } else { 4 }
    }

    /// Weights of the narrowest type that holds them.
    fn weights(self) -> Result<Weights> {
        match (self.kind, self.element_bytes) {
            (Kind::Bool, _) => self.booleans(),
            (Kind::Float, 4) => {
                let finite = |value: f32| value.is_finite().then_some(if value == 0.0 { 0.0 } else { value });
                Ok(Weights::F32(self.convert(finite, "a finite number")?))
            }
            (Kind::Float, _) => {
                let finite = |value: f64| value.is_finite().then_some(if value == 0.0 { 0.0 } else { value });
                Ok(Weights::F64(self.convert(finite, "a finite number")?))
            }
            _ => with_integer_type!(self, S => self.integer_weights::<S>(), else self.wrong_type("numbers")),
        }
    }

    /// No weights where all booleans are true, else 0 and 1.
    fn booleans(mut self) -> Result<Weights> {
        let length = self.length;
        let mut values: Option<Vec<u32>> = None;
        self.each_piece(|array, before, piece| {
            if values.is_none() && piece.par_iter().any(|&byte| byte == 0) {
                let mut first: Vec<u32> = array.room_for()?;
                first.resize(before, 1);
                values = Some(first);
            }
            if let Some(values) = &mut values {
                values.par_extend(piece.par_iter().map(|&byte| u32::from(byte != 0)));
            }
            Ok(())
        })?;
        Ok(values.map_or_else(|| Weights::unit(length), Weights::U32))
    }

    /// `u32` until the first negative one, `i32` from then on, those before it included.
    fn integer_weights<S: Pod + Send>(mut self) -> Result<Weights>
    where
        u32: TryFrom<S>,
        i32: TryFrom<S>,
        i128: From<S>,
    {
        const SIGNED: &str = "a signed 32-bit integer, though others are negative";
        let mut unsigned: Vec<u32> = self.room_for()?;
        let mut signed: Option<Vec<i32>> = None;
        self.each_piece(|array, before, piece| {
            if signed.is_none() && elements_of::<S>(piece).any(|value| i128::from(value) < 0) {
                if let Some(bad) = unsigned.par_iter().position_first(|&value| value > i32::MAX as u32) {
                    return array.bad_element(bad, SIGNED);
                }
                signed = Some(bytemuck::allocation::cast_vec(std::mem::take(&mut unsigned)));
            }
            match &mut signed {
                Some(signed) => array.extend(signed, before, piece, fitted::<S, i32>, SIGNED),
                None => array.extend(&mut unsigned, before, piece, fitted::<S, u32>, "a 32-bit integer"),
            }
        })?;
        Ok(match signed {
            Some(signed) => Weights::I32(signed),
            None => Weights::U32(unsigned),
        })
    }
}

impl Elements<'_> {
    /// The next bytes, which belong to the header.
    fn header_bytes(&mut self, length: usize) -> Option<Vec<u8>> {
        match self {
            Elements::Stored { bytes, checksum, .. } => {
                let (header, rest) = bytes.split_at_checked(length)?;
                checksum.update(header);
                *bytes = rest;
                Some(header.to_vec())
            }
            Elements::Packed(stream) => {
                let mut header = vec![0; length];
                stream.read_exact(&mut header).ok()?;
                Some(header)
            }
        }
    }
}

/// What the header of a `.npy` file (versions 1 to 3) says.
struct Header {
    kind: Kind,
    element_bytes: usize,
    count: u64,
    /// How many bytes the header itself has.
    bytes: u64,
}

impl Header {
    fn read(elements: &mut Elements<'_>) -> std::result::Result<Self, String> {
        /// The headers of arrays of numbers have a hundred bytes.
        const LONGEST: usize = 1 << 16;
        let damaged = || "its header is damaged".to_owned();
        let mut next = |length: usize| elements.header_bytes(length).ok_or_else(damaged);
        if next(6).ok().as_deref() != Some(b"\x93NUMPY") {
            return Err("it is no NumPy array".to_owned());
        }
        let length_bytes = if next(2)?[0] == 1 { 2 } else { 4 };
        let length = next(length_bytes)?.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
        if length > LONGEST {
            return Err(damaged());
        }
        let header = String::from_utf8(next(length)?).map_err(|_| damaged())?;
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
        Ok(Header { kind, element_bytes, count, bytes: (8 + length_bytes + length) as u64 })
    }
}

/// The elements in these bytes, which need not be aligned.
fn elements_of<S: Pod + Send>(bytes: &[u8]) -> impl IndexedParallelIterator<Item = S> {
    bytes.par_chunks_exact(size_of::<S>()).map(bytemuck::pod_read_unaligned)
}

/// The same integer in another type, if that has it.
fn fitted<S, T: TryFrom<S>>(value: S) -> Option<T> {
    T::try_from(value).ok()
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
    use crate::Error;
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

    /// A matrix of so many entries, all in one place, which deflates well.
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
        // A directory that calls the data, of which a few bytes are there, 32 GiB; and a header that agrees.
        let mut parts = csr_parts();
        parts[4] = ("data", "<f8", "(4294967296,)", vec![0; 24]);
        let mut packed = archive(&parts, CompressionMethod::Deflated);
        let directory = packed.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
        packed[directory + 24..directory + 28].copy_from_slice(&u32::MAX.wrapping_sub(1).to_le_bytes());
        let error = ReadOptions::new().read_bytes("test", packed).unwrap_err();
        assert!(error.to_string().contains("can't unpack to 4294967294"), "{error}");
        let error = read_parts(&with(csr_parts(), "indptr", "<i8", "(4611686018427387904,)", vec![0; 8])).unwrap_err();
        assert!(error.to_string().contains("are announced, but it has 8 bytes"), "{error}");
        // A list of entries may say any number of vertices.
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
