//! Output files that are either whole or absent.
//!
//! Writes go to `FILE.partial`, which is renamed to `FILE` when it is whole and removed on failure. A full disk or an
//! error in the middle leaves an existing `FILE` as it was. Only one process at a time writes a file: see
//! [`partial`](crate::partial).

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::partial::{Partial, Place, with_suffix};
use crate::{CancellableWriter, Control, Error, Result};

/// An output file that is not whole yet. Dropping it before [`PartialFile::finish`] removes it, unless it is [kept](PartialFile::keep).
///
/// Creating one finds out whether the path can be written, so create it before long work. A symbolic link is followed.
/// A path that is no regular file (a pipe, `/dev/null`) is written directly.
#[derive(Debug)]
pub struct PartialFile {
    path: PathBuf,
    control: Control,
    /// The partial file; `None` if the bytes go to `path` directly.
    partial: Option<Partial>,
    out: CancellableWriter<BufWriter<Arc<File>>>,
}

impl PartialFile {
    /// Creates `FILE.partial` and locks it against other writers. Once the work is cancelled, nothing more is written.
    ///
    /// # Errors
    ///
    /// If it can't be created or another process is writing it, or `path` is a folder; [`Error::Interrupted`] if the
    /// work is cancelled while a pipe has no reader.
    pub fn create(path: impl Into<PathBuf>, control: &Control) -> Result<Self> {
        let mut file = Self::resume(path, control)?;
        if let Some(partial) = &mut file.partial {
            if partial.is_resumable() {
                return Err(Error::invalid(format!(
                    "`{}` belongs to a table of all pairs that was interrupted: continue that by `--resume` on as many ranks, or remove it",
                    partial.path().display()
                )));
            }
            // The leftovers of a process that died are worthless.
            partial.set_temporary(true);
            partial.file().set_len(0).map_err(|error| Error::io(&file.path, error))?;
        }
        Ok(file)
    }

    /// The same, but what `FILE.partial` has already stays, also if this work fails: whoever resumes the work of a process that died knows what it is
    /// worth, and cuts off what is too long. A file that begins with [`RESUMABLE`](crate::formats::RESUMABLE) can be resumed, and nothing else replaces it.
    ///
    /// # Errors
    ///
    /// As [`PartialFile::create`].
    pub fn resume(path: impl Into<PathBuf>, control: &Control) -> Result<Self> {
        let path = path.into();
        let (partial, file) = match Place::of(&path)? {
            Place::File(target) => {
                let mut partial = Partial::lock(&target)?;
                let journal = with_suffix(partial.path(), ".journal");
                if !partial.is_new() && journal.exists() {
                    return Err(Error::invalid(format!(
                        "`{}` belongs to a table of all pairs that was interrupted: continue that by `--resume`, or \
                         remove it and `{}`",
                        partial.path().display(),
                        journal.display()
                    )));
                }
                partial.set_temporary(partial.is_new());
                let file = partial.file().clone();
                (Some(partial), file)
            }
            Place::Stream => {
                let stream = path.clone();
                let open = move || OpenOptions::new().append(true).open(stream);
                let file = control.wait_for(open)?.map_err(|error| Error::io(&path, error))?;
                (None, Arc::new(file))
            }
        };
        let out = control.writer(BufWriter::with_capacity(1 << 16, file));
        Ok(PartialFile { path, control: control.clone(), partial, out })
    }

    /// Sets that `FILE.partial` stays if the work ends before the file is whole, so that it can be resumed.
    pub fn keep(&mut self) {
        self.partial.iter_mut().for_each(|partial| partial.set_temporary(false));
    }

    /// The final path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the bytes are until the file is whole; `None` if `path` is no regular file, which is written directly.
    pub fn partial_path(&self) -> Option<&Path> {
        self.partial.as_ref().map(Partial::path)
    }

    /// Reads the bytes written so far, from the first.
    ///
    /// # Errors
    ///
    /// If reading or `read` fails, or `path` is a pipe, which can't be read back.
    pub fn read_back<T>(&mut self, read: impl FnOnce(&mut dyn Read) -> std::io::Result<T>) -> Result<T> {
        let read_all = || {
            self.out.flush()?;
            let mut file = &**self.out.get_ref().get_ref();
            file.seek(SeekFrom::Start(0))?;
            let found = read(&mut file)?;
            file.seek(SeekFrom::End(0))?;
            Ok(found)
        };
        read_all().map_err(|error| Error::io(&self.path, error))
    }

    /// Writes the buffered bytes and gives the file its name.
    ///
    /// # Errors
    ///
    /// If either fails, or the work was cancelled; the partial file is removed then.
    pub fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(|error| Error::io(&self.path, error))?;
        self.control.check()?;
        self.partial.take().map_or(Ok(()), Partial::finish)
    }
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // Buffered bytes are worthless without the rest, and a pipe may not take them.
        let file = self.out.get_ref().get_ref().clone();
        let out = self.control.writer(BufWriter::with_capacity(0, file));
        drop(std::mem::replace(&mut self.out, out).into_inner().into_parts());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn a_file_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        std::fs::write(&path, "before").unwrap();
        let control = Control::new();
        let mut file = PartialFile::create(&path, &control).unwrap();
        file.write_all(b"half").unwrap();
        assert!(folder.path().join("out.txt.partial").exists());
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        // The file of a dead process is longer than the new content.
        std::fs::write(folder.path().join("out.txt.partial"), "left behind").unwrap();
        let mut file = PartialFile::create(&path, &control).unwrap();
        file.write_all(b"whole").unwrap();
        assert!(PartialFile::create(&path, &control).is_err());
        let read = |stream: &mut dyn Read| {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).map(|_| bytes)
        };
        assert_eq!(file.read_back(read).unwrap(), b"whole");
        file.write_all(b", and more").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole, and more");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        // What is kept is there for whoever resumes it.
        let mut file = PartialFile::create(&path, &control).unwrap();
        file.write_all(b"half").unwrap();
        file.keep();
        file.flush().unwrap();
        drop(file);
        let mut file = PartialFile::resume(&path, &control).unwrap();
        assert_eq!(file.read_back(read).unwrap(), b"half");
        drop(file);
        assert!(folder.path().join("out.txt.partial").exists());
        drop(PartialFile::create(&path, &control).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn cancelled_work_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let control = Control::new();
        let mut file = PartialFile::create(folder.path().join("out.txt"), &control).unwrap();
        file.write_all(b"half").unwrap();
        control.cancel();
        let refused = file.write_all(b"more").map_err(|error| Error::io("out.txt", error));
        assert!(matches!(refused, Err(Error::Interrupted)), "{refused:?}");
        assert!(matches!(file.finish(), Err(Error::Interrupted)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn an_unwritable_path_is_found_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let create = |path: PathBuf| PartialFile::create(path, &Control::new());
        assert!(matches!(create(folder.path().to_owned()), Err(Error::Io { .. })));
        assert!(matches!(create(folder.path().join("none/out.txt")), Err(Error::Io { .. })));
        assert!(matches!(create(PathBuf::new()), Err(Error::Io { .. })));
    }
}
