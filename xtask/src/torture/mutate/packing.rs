//! Compressions.

use std::io::Write;

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

pub(super) type Pack = fn(&[u8]) -> Vec<u8>;

/// Compressions by extension; most files are not compressed.
pub(super) const PACKED: [(&str, Pack); 7] =
    [("", plain), ("", plain), ("", plain), (".gz", gzip), (".zst", zstandard), (".bz2", bzip2), (".xz", xz)];

fn plain(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

// Writing to memory can't fail.
pub(in crate::torture) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), flate2::Compression::default());
    let _ = out.write_all(bytes);
    out.finish().unwrap_or_default()
}

pub(in crate::torture) fn zstandard(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

pub(in crate::torture) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut out = BzEncoder::new(Vec::new(), bzip2::Compression::default());
    let _ = out.write_all(bytes);
    out.finish().unwrap_or_default()
}

pub(in crate::torture) fn xz(bytes: &[u8]) -> Vec<u8> {
    let Ok(mut out) = XzWriter::new(Vec::new(), XzOptions::with_preset(1)) else { return Vec::new() };
    let _ = out.write_all(bytes);
    out.finish().unwrap_or_default()
}
