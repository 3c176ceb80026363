//! What a reader reads: a name and bytes that stay where they are, mapped from a file or owned.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::compression::unpack;
use super::mapped_file::MappedFile;
use crate::graph::StableBytes;
use crate::{Error, InputError, Result};

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
    pub(super) fn open(path: &Path) -> Result<Self> {
        let io_error = |error| Error::io(path, error);
        let mut file = File::open(path).map_err(io_error)?;
        let metadata = file.metadata().map_err(io_error)?;
        let name = path.display().to_string();
        if metadata.is_dir() {
            return Err(io_error(std::io::ErrorKind::IsADirectory.into()));
        }
        if metadata.is_file() && metadata.len() > 0 {
            let bytes = Arc::new(MappedFile::open(&file).map_err(io_error)?);
            return Input { name, bytes }.unpacked();
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io_error)?;
        Input::owned(name, bytes).unpacked()
    }

    /// The same input, unpacked if it is packed.
    pub(super) fn unpacked(self) -> Result<Self> {
        let unpacked = unpack(self.bytes());
        self.check_intact()?;
        match unpacked {
            Ok(None) => Ok(self),
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
