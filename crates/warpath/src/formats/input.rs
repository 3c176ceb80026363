//! What a reader reads: a name and bytes that stay where they are, mapped from a file or owned.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

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

    /// A file.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(|error| Error::io(path, error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| Error::io(path, error))?;
        Ok(Input::owned(path.display().to_string(), bytes))
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
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
