//! Output files that are either whole or not there.
//!
//! What is written goes to `FILE.partial`, which is renamed to `FILE` when it is whole and removed when it is not. A
//! full disk or an error in the middle leaves nothing under the final name, and what was there before stays.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A file in the making. Dropped before [`PartialFile::finish`], it is removed.
///
/// Creating one finds out whether the path can be written, so create it before long work. A path that is no regular
/// file (a pipe, `/dev/null`) is written directly.
#[derive(Debug)]
pub struct PartialFile {
    path: PathBuf,
    /// Where the bytes go until they are whole; `None` where they go to `path` directly.
    partial: Option<PathBuf>,
    out: BufWriter<File>,
    finished: bool,
}

impl PartialFile {
    /// Creates `FILE.partial`.
    ///
    /// # Errors
    ///
    /// If it can't be created, or `path` is a folder.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let existing = std::fs::metadata(&path).ok();
        if existing.as_ref().is_some_and(|metadata| metadata.is_dir()) || path.file_name().is_none() {
            return Err(Error::io(path, std::io::ErrorKind::IsADirectory.into()));
        }
        if existing.is_some_and(|metadata| !metadata.is_file()) {
            let file = OpenOptions::new().write(true).open(&path).map_err(|error| Error::io(&path, error))?;
            return Ok(PartialFile {
                path,
                partial: None,
                out: BufWriter::with_capacity(1 << 16, file),
                finished: false,
            });
        }
        let mut name = path.clone().into_os_string();
        name.push(".partial");
        let partial = PathBuf::from(name);
        let file = File::create(&partial).map_err(|error| Error::io(&path, error))?;
        let out = BufWriter::with_capacity(1 << 16, file);
        Ok(PartialFile { path, partial: Some(partial), out, finished: false })
    }

    /// The final path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what is buffered and gives the file its name.
    ///
    /// # Errors
    ///
    /// If either fails; the partial file is removed then.
    pub fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(|error| Error::io(&self.path, error))?;
        if let Some(partial) = &self.partial {
            std::fs::rename(partial, &self.path).map_err(|error| Error::io(&self.path, error))?;
        }
        self.finished = true;
        Ok(())
    }
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.out.write_all(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let Some(partial) = self.partial.as_ref().filter(|_| !self.finished) {
            // Nothing is left to tell about a failure, and the name says that the file is not whole.
            let _ = std::fs::remove_file(partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        std::fs::write(&path, "before").unwrap();
        let mut file = PartialFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert!(folder.path().join("out.txt.partial").exists());
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        let mut file = PartialFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_unwritable_path_is_found_at_once() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(PartialFile::create(folder.path()), Err(Error::Io { .. })));
        assert!(matches!(PartialFile::create(folder.path().join("none/out.txt")), Err(Error::Io { .. })));
    }
}
