//! What a reader reads: a name and bytes that stay where they are, mapped from a file or owned.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::compression::{Compression, unpack};
use super::mapped_file::MappedFile;
use crate::graph::StableBytes;
use crate::{Control, Error, InputError, Result, available_memory};

/// An input, unpacked.
pub(super) struct Input {
    /// What errors call it: the path, or `<stdin>`.
    pub(super) name: String,
    /// The bytes. Arrays of a graph may be windows into them, see [`Storage::mapped`](crate::graph::Storage::mapped).
    pub(super) bytes: Arc<dyn StableBytes>,
}

impl Input {
    /// Bytes that are in memory already.
    pub(super) fn owned(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Input { name: name.into(), bytes: Arc::new(OwnedBytes(bytes)) }
    }

    /// A file: mapped, or read where it is a pipe, and unpacked if it is packed.
    pub(super) fn open(path: &Path, control: &Control) -> Result<Self> {
        let io_error = |error| Error::io(path, error);
        let file = File::open(path).map_err(io_error)?;
        let metadata = file.metadata().map_err(io_error)?;
        let name = path.display().to_string();
        if metadata.is_dir() {
            return Err(io_error(std::io::ErrorKind::IsADirectory.into()));
        }
        if metadata.is_file() && metadata.len() > 0 {
            let bytes = Arc::new(MappedFile::open(&file).map_err(io_error)?);
            return Input { name, bytes }.unpacked();
        }
        let bytes = read_stream(file, path, available_memory(), control)?;
        Input::owned(name, bytes).unpacked()
    }

    /// Standard input, unpacked if it is packed.
    pub(super) fn standard(control: &Control) -> Result<Self> {
        let bytes = read_stream(std::io::stdin(), Path::new("<stdin>"), available_memory(), control)?;
        Input::owned("<stdin>", bytes).unpacked()
    }

    /// The same input, unpacked if it is packed.
    pub(super) fn unpacked(self) -> Result<Self> {
        let unpacked = unpack(self.bytes());
        self.check_intact()?;
        match unpacked {
            Ok(None) => match Compression::by_extension(&self.name) {
                None => Ok(self),
                Some(compression) => {
                    let (extension, name) = (compression.extension(), compression.name());
                    let message = format!("the file is named .{extension} but is not {name}, or is cut short");
                    Err(InputError::new(message).in_file(&self.name).into())
                }
            },
            Ok(Some(bytes)) => Ok(Input::owned(self.name, bytes)),
            Err(Error::Input(error)) => Err(error.in_file(&self.name).into()),
            Err(other) => Err(other),
        }
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
    }

    /// Says that a piece of the bytes is parsed and will hardly be read again.
    pub(super) fn release(&self, piece: &[u8]) {
        let start = (piece.as_ptr() as usize).wrapping_sub(self.bytes().as_ptr() as usize);
        self.bytes.release(start..start.wrapping_add(piece.len()));
    }

    /// An error if the file was cut short while it was mapped.
    pub(super) fn check_intact(&self) -> Result<()> {
        if self.bytes.is_damaged() {
            let error = InputError::new("the file was cut short or became unreadable while it was read");
            return Err(error.in_file(&self.name).into());
        }
        Ok(())
    }
}

/// Reads a stream, which may be endless, to its end or as far as memory goes. A thread of its own waits for it, so that
/// whoever has to wait for what never comes can cancel.
fn read_stream(
    mut stream: impl Read + Send + 'static,
    name: &Path,
    available: u64,
    control: &Control,
) -> Result<Vec<u8>> {
    const CHUNK: usize = 1 << 20;
    const PATIENCE: Duration = Duration::from_millis(20);
    let (sender, chunks) = sync_channel(4);
    let read = move || loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        let outcome = stream.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
        let last = outcome.as_ref().map_or(true, |&length| length == 0);
        if sender.send(outcome.map(|_| chunk)).is_err() || last {
            return;
        }
    };
    std::thread::Builder::new().spawn(read).map_err(|error| Error::io(name, error))?;
    let mut bytes: Vec<u8> = Vec::new();
    loop {
        control.check()?;
        match chunks.recv_timeout(PATIENCE) {
            Ok(chunk) => {
                let chunk = chunk.map_err(|error| Error::io(name, error))?;
                let needed = (bytes.len() + chunk.len()) as u64;
                if needed > available || bytes.try_reserve(chunk.len()).is_err() {
                    let what = format!("the input `{}`, as far as it is read,", name.display());
                    return Err(Error::OutOfMemory { what, needed, available });
                }
                bytes.extend_from_slice(&chunk);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(bytes),
        }
    }
}

struct OwnedBytes(Vec<u8>);

// SAFETY: the vector is never changed, so its buffer stays where it is.
unsafe impl StableBytes for OwnedBytes {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
    fn is_damaged(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_to_its_end() {
        let text = vec![b'x'; (1 << 21) + 5];
        let read = read_stream(std::io::Cursor::new(text.clone()), Path::new("x"), u64::MAX, &Control::new());
        assert!(read.unwrap() == text);
    }

    #[test]
    fn an_endless_stream_ends_with_memory_or_when_cancelled() {
        let outcome = read_stream(std::io::repeat(b'1'), Path::new("x"), 10 << 20, &Control::new());
        assert!(matches!(outcome, Err(Error::OutOfMemory { available, .. }) if available == 10 << 20));
        struct Silence;
        impl Read for Silence {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                std::thread::park();
                Ok(0)
            }
        }
        let control = Control::new();
        control.cancel();
        let outcome = read_stream(Silence, Path::new("x"), u64::MAX, &control);
        assert!(matches!(outcome, Err(Error::Interrupted)));
    }
}
