//! Packed files: gzip, Zstandard, bzip2 and xz, found by their first bytes when read and by the extension when written.
//! A file that only its extension calls packed is an error: it may be one that was cut short.
//!
//! All decoders are Rust. A file may consist of several streams one after another, as parallel packers write them.
//! Unpacking stops when the result would not fit into memory: a few bytes can stand for terabytes.

use std::io::{Read, Write};

use bzip2::read::MultiBzDecoder;
use bzip2::write::BzEncoder;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzReader, XzWriter};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::{Error, InputError, Result, available_memory};

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

    /// What the extension of a name says.
    pub(super) fn by_extension(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        Compression::ALL.into_iter().find(|compression| compression.extension().eq_ignore_ascii_case(extension))
    }

    /// What the first bytes of a file say.
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

/// The unpacked bytes; `None` if they are not packed.
///
/// # Errors
///
/// If the data are corrupt or end early, or the result does not fit into memory.
pub(super) fn unpack(packed: &[u8]) -> Result<Option<Vec<u8>>> {
    let Some(compression) = Compression::by_content(packed) else { return Ok(None) };
    let mut output = Output { bytes: Vec::new(), available: available_memory() };
    let outcome = match compression {
        Compression::Gzip => output.drain(MultiGzDecoder::new(packed)),
        Compression::Bzip2 => output.drain(MultiBzDecoder::new(packed)),
        Compression::Xz => {
            let limit = u32::try_from(output.available / 1024).unwrap_or(u32::MAX);
            output.drain(XzReader::new_mem_limit(packed, true, limit))
        }
        Compression::Zstandard => output.unpack_zstandard(packed),
    };
    match outcome {
        Ok(()) => Ok(Some(output.bytes)),
        Err(Failure::Corrupt(message)) => {
            let extension = compression.extension();
            Err(InputError::new(format!("the packed data ({extension}) are corrupt or cut short: {message}")).into())
        }
        Err(Failure::TooLarge(error)) => Err(error),
    }
}

enum Failure {
    Corrupt(String),
    TooLarge(Error),
}

/// Unpacked bytes, never more than fit into memory.
struct Output {
    bytes: Vec<u8>,
    available: u64,
}

impl Output {
    /// Makes room for at least `more` bytes, if they fit into memory.
    fn reserve(&mut self, more: usize) -> std::result::Result<(), Failure> {
        if self.bytes.capacity() - self.bytes.len() >= more {
            return Ok(());
        }
        let needed = self.bytes.len().saturating_add(more) as u64;
        let too_large = || {
            let what = "the input, unpacked,".to_owned();
            Failure::TooLarge(Error::OutOfMemory { what, needed, available: self.available })
        };
        if needed > self.available {
            return Err(too_large());
        }
        // Growing by half keeps the number of copies small.
        let comfortable = more.max(self.bytes.len() / 2);
        let fits = self.bytes.len().saturating_add(comfortable) as u64 <= self.available;
        let result = self.bytes.try_reserve_exact(if fits { comfortable } else { more });
        result.map_err(|_| too_large())
    }

    /// Reads to the end.
    fn drain(&mut self, mut reader: impl Read) -> std::result::Result<(), Failure> {
        const STEP: usize = 1 << 18;
        loop {
            self.reserve(STEP)?;
            let before = self.bytes.len();
            // `read_to_end` fills the room at hand without initializing it first.
            let outcome = reader.by_ref().take(STEP as u64).read_to_end(&mut self.bytes);
            outcome.map_err(|error| Failure::Corrupt(error.to_string()))?;
            if self.bytes.len() == before {
                return Ok(());
            }
        }
    }

    /// Unpacks one frame after another.
    fn unpack_zstandard(&mut self, mut packed: &[u8]) -> std::result::Result<(), Failure> {
        const STEP: usize = 1 << 20;
        let corrupt = |error: &dyn std::fmt::Display| Failure::Corrupt(error.to_string());
        let mut decoder = FrameDecoder::new();
        while !packed.is_empty() {
            match decoder.reset(&mut packed) {
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    packed = packed.get(length as usize..).ok_or_else(|| corrupt(&"a skipped frame ends early"))?;
                    continue;
                }
                other => other.map_err(|error| corrupt(&error))?,
            }
            let announced = usize::try_from(decoder.content_size()).unwrap_or(usize::MAX);
            if announced as u64 > self.available {
                self.reserve(announced)?;
            } else if announced / 1024 <= packed.len() {
                // An honest size saves growing; one beyond any plausible ratio is not believed in advance.
                self.reserve(announced)?;
            }
            loop {
                let done = decoder.decode_blocks(&mut packed, BlockDecodingStrategy::UptoBytes(STEP));
                let done = done.map_err(|error| corrupt(&error))?;
                self.reserve(decoder.can_collect())?;
                decoder.collect_to_writer(&mut self.bytes).map_err(|error| corrupt(&error))?;
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

/// A stream that packs what is written to it.
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
    /// Packs into `out`; plainly copies if there is no compression.
    pub(super) fn new(out: W, compression: Option<Compression>) -> std::io::Result<Self> {
        Ok(match compression {
            None => Packer::Plain(out),
            Some(Compression::Gzip) => Packer::Gzip(GzEncoder::new(out, flate2::Compression::default())),
            Some(Compression::Zstandard) => Packer::Zstandard { out, frame: Vec::new() },
            Some(Compression::Bzip2) => Packer::Bzip2(BzEncoder::new(out, bzip2::Compression::default())),
            Some(Compression::Xz) => Packer::Xz(Box::new(XzWriter::new(out, XzOptions::with_preset(6))?)),
        })
    }

    /// Writes what is left and returns the stream below.
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

    fn sample(length: usize) -> Vec<u8> {
        let mut random = Random(5);
        (0..length).map(|index| if index % 7 == 0 { b'\n' } else { b'0' + random.below(10) as u8 }).collect()
    }

    #[test]
    fn what_is_packed_comes_out_again() {
        for compression in Compression::ALL {
            // Only Zstandard is cut into frames here.
            let long = if compression == Compression::Zstandard { FRAME_BYTES + 5 } else { 300_000 };
            for length in [0, 1, 1000, long] {
                let bytes = sample(length);
                let packed = pack(&bytes, compression);
                assert_eq!(Compression::by_content(&packed), Some(compression));
                assert!(unpack(&packed).unwrap().unwrap() == bytes, "{compression:?}, {length}");
                let twice = [&packed[..], &packed].concat();
                assert!(unpack(&twice).unwrap().unwrap() == [&bytes[..], &bytes].concat(), "{compression:?} twice");
            }
        }
        assert!(unpack(b"1 2\n").unwrap().is_none());
        assert!(unpack(b"").unwrap().is_none());
    }

    #[test]
    fn data_cut_short_are_an_error() {
        for compression in Compression::ALL {
            let packed = pack(&sample(2000), compression);
            for length in 0..packed.len() {
                if Compression::by_content(&packed[..length]).is_none() {
                    // Too short to tell: the reader of the input looks at the extension.
                    assert!(length < 10, "{compression:?}, {length}");
                    continue;
                }
                assert!(unpack(&packed[..length]).is_err(), "{compression:?}, {length} of {} bytes", packed.len());
            }
        }
    }

    #[test]
    fn corrupt_data_are_an_error_or_harmless() {
        let bytes = sample(2000);
        for compression in Compression::ALL {
            let packed = pack(&bytes, compression);
            let mut random = Random(1);
            for _ in 0..2000 {
                let mut damaged = packed.clone();
                let index = 10 + random.below(packed.len() as u64 - 10) as usize;
                damaged[index] ^= 1 << random.below(8);
                // Bits of a header that mean nothing to the data may change.
                if let Ok(Some(unpacked)) = unpack(&damaged) {
                    assert!(unpacked == bytes, "{compression:?}, byte {index}");
                }
            }
        }
    }

    #[test]
    fn more_than_memory_holds_is_refused() {
        let packed = pack(&vec![0; 1 << 22], Compression::Gzip);
        let mut output = Output { bytes: Vec::new(), available: 1 << 20 };
        let outcome = output.drain(MultiGzDecoder::new(&packed[..]));
        assert!(matches!(outcome, Err(Failure::TooLarge(Error::OutOfMemory { available: 0x10_0000, .. }))));
        let packed = pack(&vec![0; 1 << 22], Compression::Zstandard);
        let mut output = Output { bytes: Vec::new(), available: 1 << 20 };
        assert!(matches!(output.unpack_zstandard(&packed), Err(Failure::TooLarge(_))));
    }
}
