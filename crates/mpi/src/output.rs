//! One file that all ranks write: each its own bytes, behind those of the lower ranks.

use std::fs::OpenOptions;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::PathBuf;

use warpath::formats::PartialFile;
use warpath::{Error, Result};

use crate::world::{Outcome, World};

/// Counts bytes.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Where all ranks write the bytes of a file that rank 0 has created.
///
/// # Errors
///
/// [`Error::InvalidRequest`] if it is no regular file.
pub(crate) fn path_of_all(world: &World, file: Option<&PartialFile>) -> Outcome<PathBuf> {
    let mut path = Vec::new();
    let created = match file {
        Some(file) => match file.partial_path() {
            Some(partial) => {
                path = partial.as_os_str().as_encoded_bytes().iter().map(|&byte| u64::from(byte)).collect();
                Ok(())
            }
            None => {
                let name = file.path().display();
                Err(Error::invalid(format!("`{name}` is no regular file, so ranks can't write parts of it")))
            }
        },
        None => Ok(()),
    };
    world.agree(created)?;
    world.broadcast(&mut path);
    let bytes: Vec<u8> = path.iter().map(|&byte| byte as u8).collect();
    Ok(path_of(bytes))
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// A file that all ranks write, which rank 0 has created. It gets its name when all have written.
#[derive(Debug)]
pub struct SharedFile {
    /// On rank 0.
    file: Option<PartialFile>,
    path: PathBuf,
    /// How many bytes are written, or about to be.
    end: u64,
}

impl SharedFile {
    /// The file that rank 0 has created.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if it is no regular file.
    pub fn new(world: &World, file: Option<PartialFile>) -> Outcome<Self> {
        let path = path_of_all(world, file.as_ref())?;
        Ok(SharedFile { file, path, end: 0 })
    }

    /// Appends what `write` writes on rank 0, then on rank 1, and so on. `write` runs twice, since bytes are counted first, and has to write
    /// the same both times.
    ///
    /// # Errors
    ///
    /// If a rank can't write: the folder of the file has to be one that all hosts share.
    pub fn append(&mut self, world: &World, write: impl Fn(&mut dyn Write) -> std::io::Result<()>) -> Outcome<()> {
        let path = &self.path;
        let mut count = Count(0);
        let counted = write(&mut count).map_err(|error| Error::io(path, error));
        world.agree(counted)?;
        let start = self.end + world.agree(world.sum_before(count.0))?;
        self.end += world.total(count.0);
        let write_part = || -> Result<()> {
            let io_error = |error| Error::io(path, error);
            let mut part = OpenOptions::new().write(true).open(path).map_err(|error| {
                let hint = format!("{error}; all ranks write this file, so their hosts have to share its folder");
                Error::io(path, std::io::Error::new(error.kind(), hint))
            })?;
            part.seek(SeekFrom::Start(start)).map_err(io_error)?;
            let mut part = BufWriter::with_capacity(1 << 16, part);
            write(&mut part).and_then(|()| part.flush()).map_err(io_error)
        };
        world.agree(write_part())
    }

    /// Gives the file its name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn finish(self, world: &World) -> Outcome<()> {
        world.agree(self.file.map_or(Ok(()), PartialFile::finish))
    }
}

/// Writes a whole file, which rank 0 has created, by one [`SharedFile::append`].
///
/// # Errors
///
/// As that.
pub fn write_together(
    world: &World,
    file: Option<PartialFile>,
    write: impl Fn(&mut dyn Write) -> std::io::Result<()>,
) -> Outcome<()> {
    let mut shared = SharedFile::new(world, file)?;
    shared.append(world, write)?;
    shared.finish(world)
}
