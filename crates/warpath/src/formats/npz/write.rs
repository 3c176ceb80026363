//! Writes matrices in CSR form.

use std::io::Write;

use bytemuck::Pod;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::Result;
use crate::formats::stream_error;
use crate::graph::{Graph, Weights};

/// Writes the adjacency matrix as CSR, uncompressed; without weights, the data are booleans, all true.
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

/// Begins a member with the header of its array, padded to a multiple of 64 bytes as NumPy does.
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
