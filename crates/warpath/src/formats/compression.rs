//! Packed files: gzip, Zstandard, bzip2 and xz, found by their first bytes when read and by the extension when written.
//! A file that is packed only by its extension is an error: it may have been cut short.
//!
//! All decoders are Rust. A file may consist of several streams one after another, as parallel packers write them.
//! Unpacking stops before it exceeds its memory limit: a few bytes can stand for terabytes. Everything held at once
//! counts: the unpacked bytes, their copy while they grow, and the decoder's window.

use std::io::{ErrorKind, Read, Write};

use bzip2::read::MultiBzDecoder;
use bzip2::write::BzEncoder;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use lzma_rust2::{Action, XzOptions, XzReader, XzStream, XzWriter};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::memory::GrowingBytes;
use crate::{Control, Error, InputError, Result};

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstandard,
    Bzip2,
    Xz,
}

impl Compression {
    const ALL: [Compression; 4] = [Compression::Gzip, Compression::Zstandard, Compression::Bzip2, Compression::Xz];

    /// The extension of packed files.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Compression::Gzip => "gz",
            Compression::Zstandard => "zst",
            Compression::Bzip2 => "bz2",
            Compression::Xz => "xz",
        }
    }

    /// The name, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstandard => "Zstandard",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
        }
    }

    /// The compression that the extension of a name announces.
    pub(super) fn by_extension(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        Compression::ALL.into_iter().find(|compression| compression.extension().eq_ignore_ascii_case(extension))
    }

    /// The compression that the first bytes of a file announce.
    pub(super) fn by_content(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1f, 0x8b, 0x08, ..] => Some(Compression::Gzip),
            // A frame, or one of the 16 kinds of frames to skip.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstandard),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Some(Compression::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0x00, ..] => Some(Compression::Xz),
            _ => None,
        }
    }
}

/// The unpacked bytes; `None` if the input is not packed. Unpacking takes at most `limit()` bytes of memory; `limit` is
/// called only if there is something to unpack.
///
/// # Errors
///
/// If the data are corrupt or end early, unpacking would take more memory, or `control` cancels it.
pub(super) fn unpack(packed: &[u8], limit: impl FnOnce() -> u64, control: &Control) -> Result<Option<Vec<u8>>> {
    let Some(compression) = Compression::by_content(packed) else { return Ok(None) };
    let mut output = Output { bytes: GrowingBytes::new("the input, unpacked,", limit()), control };
    let outcome = match compression {
        // The memory of these two decoders does not depend on the data: see `inflateInit2` and the manual of bzip2.
        Compression::Gzip => output.drain(MultiGzDecoder::new(packed), |_| 1 << 18),
        Compression::Bzip2 => output.drain(MultiBzDecoder::new(packed), |_| 4 << 20),
        Compression::Xz => output.unpack_xz(packed),
        Compression::Zstandard => output.unpack_zstandard(packed),
    };
    match outcome {
        Ok(()) => Ok(Some(output.bytes.into_vec())),
        Err(Failure::Corrupt(message)) => {
            let extension = compression.extension();
            Err(InputError::new(format!("the packed data ({extension}) are corrupt or cut short: {message}")).into())
        }
        Err(Failure::Other(error)) => Err(error),
    }
}

/// The bytes of a stream that unpacks a deflated file, at most as many as `limit` has room for.
///
/// # Errors
///
/// As [`unpack`].
pub(super) fn unpack_stream(stream: impl Read, limit: u64, control: &Control) -> Result<Vec<u8>> {
    let mut output = Output { bytes: GrowingBytes::new("the input, unpacked,", limit), control };
    match output.drain(stream, |_| 1 << 18) {
        Ok(()) => Ok(output.bytes.into_vec()),
        Err(Failure::Corrupt(message)) => {
            Err(InputError::new(format!("the packed data are corrupt or cut short: {message}")).into())
        }
        Err(Failure::Other(error)) => Err(error),
    }
}

enum Failure {
    Corrupt(String),
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

fn corrupt(error: &dyn std::fmt::Display) -> Failure {
    Failure::Corrupt(error.to_string())
}

/// Unpacked bytes, kept within the memory limit.
struct Output<'a> {
    bytes: GrowingBytes,
    control: &'a Control,
}

impl Output<'_> {
    /// Reads to the end. `beside` tells how many bytes the decoder holds after unpacking a number of bytes.
    fn drain(&mut self, mut reader: impl Read, beside: impl Fn(u64) -> u64) -> std::result::Result<(), Failure> {
        const STEP: usize = 1 << 18;
        loop {
            self.control.check()?;
            let before = self.bytes.len();
            self.bytes.set_beside(beside((before + STEP) as u64))?;
            self.bytes.reserve(STEP)?;
            // `read_to_end` fills reserved memory without initializing it first.
            let outcome = reader.by_ref().take(STEP as u64).read_to_end(self.bytes.as_mut());
            outcome.map_err(|error| match error.kind() {
                ErrorKind::OutOfMemory => Failure::Other(self.bytes.refused(STEP)),
                _ => corrupt(&error),
            })?;
            if self.bytes.len() == before {
                return Ok(());
            }
        }
    }

    /// Unpacks blocks. Each announces its dictionary: how far it looks back. The decoder keeps that many unpacked
    /// bytes, in a buffer that grows by doubling.
    fn unpack_xz(&mut self, packed: &[u8]) -> std::result::Result<(), Failure> {
        /// Beyond what any preset of `xz` takes.
        const USUAL: u32 = 65 << 10;
        const LONGEST_HEADER: usize = 1 << 11;
        let mut headers = XzStream::new(true);
        // The decoder below finds faults of the headers again.
        let _ = headers.process(&packed[..packed.len().min(LONGEST_HEADER)], &mut [], Action::Run);
        let kilobytes = headers.memory_usage().unwrap_or(0).max(USUAL);
        let most = u64::from(kilobytes) << 10;
        let reader = XzReader::new_mem_limit(packed, true, kilobytes);
        let window = |unpacked: u64| most.min(unpacked.saturating_mul(2));
        self.drain(reader, |unpacked| window(unpacked) / 2 * 3 + (1 << 17))
    }

    /// Unpacks one frame after another.
    fn unpack_zstandard(&mut self, mut packed: &[u8]) -> std::result::Result<(), Failure> {
        const STEP: usize = 1 << 20;
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(self.bytes.limit());
        let mut held = 0;
        while !packed.is_empty() {
            if let Some(window) = window_of_frame(packed) {
                held = held.max(held_by_zstandard(window, STEP as u64));
                self.bytes.set_beside(held)?;
            }
            match decoder.reset(&mut packed) {
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    packed = packed.get(length as usize..).ok_or_else(|| corrupt(&"a skipped frame ends early"))?;
                    continue;
                }
                other => other.map_err(|error| corrupt(&error))?,
            }
            let announced = usize::try_from(decoder.content_size()).unwrap_or(usize::MAX);
            if announced / 1024 <= packed.len() {
                // An honest size saves growing; a size beyond any plausible ratio is not believed in advance.
                self.bytes.reserve(announced)?;
            }
            loop {
                self.control.check()?;
                let done = decoder.decode_blocks(&mut packed, BlockDecodingStrategy::UptoBytes(STEP));
                let done = done.map_err(|error| corrupt(&error))?;
                self.bytes.reserve(decoder.can_collect())?;
                decoder.collect_to_writer(self.bytes.as_mut()).map_err(|error| corrupt(&error))?;
                if done {
                    break;
                }
            }
            let stored = decoder.get_checksum_from_data();
            if stored.is_some() && stored != decoder.get_calculated_checksum() {
                return Err(corrupt(&"the checksum differs"));
            }
        }
        Ok(())
    }
}

/// How far a frame of Zstandard looks back, by its header (RFC 8878, 3.1.1.1); `None` if the bytes are no such header.
fn window_of_frame(frame: &[u8]) -> Option<u64> {
    let (&[0x28, 0xb5, 0x2f, 0xfd, descriptor], rest) = frame.split_first_chunk()? else { return None };
    if descriptor & 0x20 == 0 {
        let &window = rest.first()?;
        let base = 1_u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // One segment: the content itself, whose size follows the number of a dictionary.
    let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_bytes = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let size = rest.get(dictionary_bytes..dictionary_bytes + size_bytes)?;
    let size = size.iter().rev().fold(0, |size, &byte| size << 8 | u64::from(byte));
    Some(size + if size_bytes == 2 { 256 } else { 0 })
}

/// The most bytes that the decoder of Zstandard holds for a window, if it unpacks `step` bytes at a time: a ring of a
/// power of two bytes, and while it grows, the previous ring of half that size.
fn held_by_zstandard(window: u64, step: u64) -> u64 {
    const BLOCK: u64 = 1 << 17;
    let ring = window.saturating_add(step + 2 * BLOCK).checked_next_power_of_two().unwrap_or(u64::MAX);
    (ring / 2).saturating_mul(3).saturating_add(2 * BLOCK)
}

/// A stream that packs the bytes written to it.
pub(super) enum Packer<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Zstandard { out: W, frame: Vec<u8> },
    Bzip2(BzEncoder<W>),
    Xz(Box<XzWriter<W>>),
}

/// Bytes in one frame of Zstandard.
const FRAME_BYTES: usize = 1 << 22;

impl<W: Write> Packer<W> {
    /// Packs into `out`; just copies if there is no compression.
    pub(super) fn new(out: W, compression: Option<Compression>) -> std::io::Result<Self> {
        Ok(match compression {
            None => Packer::Plain(out),
            Some(Compression::Gzip) => Packer::Gzip(GzEncoder::new(out, flate2::Compression::default())),
            Some(Compression::Zstandard) => Packer::Zstandard { out, frame: Vec::new() },
            Some(Compression::Bzip2) => Packer::Bzip2(BzEncoder::new(out, bzip2::Compression::default())),
            Some(Compression::Xz) => Packer::Xz(Box::new(XzWriter::new(out, XzOptions::with_preset(6))?)),
        })
    }

    /// Writes the remaining bytes and returns the stream below.
    pub(super) fn finish(self) -> std::io::Result<W> {
        match self {
            Packer::Plain(out) => Ok(out),
            Packer::Gzip(encoder) => encoder.finish(),
            Packer::Zstandard { mut out, frame } => {
                out.write_all(&pack_frame(&frame))?;
                Ok(out)
            }
            Packer::Bzip2(encoder) => encoder.finish(),
            Packer::Xz(encoder) => encoder.finish(),
        }
    }
}

fn pack_frame(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Packer::Plain(out) => out.write(bytes),
            Packer::Gzip(encoder) => encoder.write(bytes),
            Packer::Zstandard { out, frame } => {
                if frame.len() >= FRAME_BYTES {
                    out.write_all(&pack_frame(frame))?;
                    frame.clear();
                }
                let taken = bytes.len().min(FRAME_BYTES - frame.len());
                frame.extend_from_slice(&bytes[..taken]);
                Ok(taken)
            }
            Packer::Bzip2(encoder) => encoder.write(bytes),
            Packer::Xz(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Packer::Plain(out) => out.flush(),
            Packer::Gzip(encoder) => encoder.flush(),
            // A frame is written when it is full, or at the end.
            Packer::Zstandard { out, .. } => out.flush(),
            Packer::Bzip2(encoder) => encoder.flush(),
            Packer::Xz(encoder) => encoder.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn pack(bytes: &[u8], compression: Compression) -> Vec<u8> {
        let mut packer = Packer::new(Vec::new(), Some(compression)).unwrap();
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    fn unpacked(packed: &[u8]) -> Result<Option<Vec<u8>>> {
        unpack(packed, || 1 << 30, &Control::new())
    }

    fn sample(length: usize) -> Vec<u8> {
        let mut random = Random(5);
        (0..length).map(|index| if index % 7 == 0 { b'\n' } else { b'0' + random.below(10) as u8 }).collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn what_is_packed_comes_out_again() {
        for compression in Compression::ALL {
            // Only Zstandard output is cut into frames.
            let long = if compression == Compression::Zstandard { FRAME_BYTES + 5 } else { 300_000 };
            for length in [0, 1, 1000, long] {
                let bytes = sample(length);
                let packed = pack(&bytes, compression);
                assert_eq!(Compression::by_content(&packed), Some(compression));
                assert!(unpacked(&packed).unwrap().unwrap() == bytes, "{compression:?}, {length}");
                let twice = [&packed[..], &packed].concat();
                assert!(unpacked(&twice).unwrap().unwrap() == [&bytes[..], &bytes].concat(), "{compression:?} twice");
            }
        }
        assert!(unpacked(b"1 2\n").unwrap().is_none());
        assert!(unpacked(b"").unwrap().is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn data_cut_short_are_an_error() {
        for compression in Compression::ALL {
            let packed = pack(&sample(2000), compression);
            for length in 0..packed.len() {
                if Compression::by_content(&packed[..length]).is_none() {
                    // Too short to tell: the reader of the input looks at the extension.
                    assert!(length < 10, "{compression:?}, {length}");
                    continue;
                }
                assert!(unpacked(&packed[..length]).is_err(), "{compression:?}, {length} of {} bytes", packed.len());
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn corrupt_data_are_an_error_or_harmless() {
        let bytes = sample(2000);
        for compression in Compression::ALL {
            let packed = pack(&bytes, compression);
            let mut random = Random(1);
            for _ in 0..2000 {
                let mut damaged = packed.clone();
                let index = 10 + random.below(packed.len() as u64 - 10) as usize;
                damaged[index] ^= 1 << random.below(8);
                // Header bits that do not affect the data may change.
                if let Ok(Some(result)) = unpacked(&damaged) {
                    assert!(result == bytes, "{compression:?}, byte {index}");
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn more_than_memory_holds_is_refused() {
        const UNPACKED: usize = 20 << 20;
        let zeros = vec![0; UNPACKED];
        for compression in Compression::ALL {
            let packed = pack(&zeros, compression);
            assert!(packed.len() < UNPACKED / 100);
            for limit in [0, 1 << 20, 10 << 20, 25 << 20] {
                match unpack(&packed, || limit, &Control::new()) {
                    Err(Error::OutOfMemory { needed, available, .. }) => {
                        assert!(available == limit && needed > limit, "{compression:?}");
                        // Memory is refused before it is taken, not afterwards.
                        assert!(needed < 2 * limit + (20 << 20), "{compression:?}: {needed} of {limit}");
                    }
                    other => {
                        panic!("{compression:?}, {limit}: {:?}", other.map(|bytes| bytes.map(|bytes| bytes.len())))
                    }
                }
            }
            // Room for the unpacked bytes, their copy while they grow, and the decoder.
            let outcome = unpack(&packed, || 6 * UNPACKED as u64, &Control::new());
            assert!(outcome.unwrap().unwrap() == zeros, "{compression:?}");
            let control = Control::new();
            control.cancel();
            assert!(matches!(unpack(&packed, || 1 << 30, &control), Err(Error::Interrupted)), "{compression:?}");
        }
    }

    #[test]
    fn what_a_decoder_looks_back_at_counts() {
        // A window of 2 GiB, and the last block: empty.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0];
        assert_eq!(window_of_frame(&frame), Some(2 << 30));
        assert!(matches!(unpack(&frame, || 1 << 30, &Control::new()), Err(Error::OutOfMemory { .. })));
        let mut frames = pack(b"1 2\n", Compression::Zstandard);
        frames.extend(frame);
        assert!(matches!(unpack(&frames, || 1 << 30, &Control::new()), Err(Error::OutOfMemory { .. })));
        // One segment, of a size in one, two, four and eight bytes.
        assert_eq!(window_of_frame(&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 7]), Some(7));
        assert_eq!(window_of_frame(&[0x28, 0xb5, 0x2f, 0xfd, 0x61, 9, 1, 1]), Some(513));
        assert_eq!(window_of_frame(&[0x28, 0xb5, 0x2f, 0xfd, 0xa0, 1, 0, 0, 1]), Some((1 << 24) + 1));
        assert_eq!(window_of_frame(&[&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &[255; 8]].concat()), Some(u64::MAX));
        assert_eq!(window_of_frame(&[0x28, 0xb5, 0x2f, 0xfd]), None);
        assert_eq!(held_by_zstandard(u64::MAX, 1 << 20), u64::MAX);
        // A small file with a large announced dictionary takes no more memory than its content needs.
        let options = XzOptions::with_preset(9);
        let mut writer = XzWriter::new(Vec::new(), options).unwrap();
        writer.write_all(b"1 2\n").unwrap();
        let packed = writer.finish().unwrap();
        assert_eq!(unpack(&packed, || 2 << 20, &Control::new()).unwrap().unwrap(), b"1 2\n");
    }
}
