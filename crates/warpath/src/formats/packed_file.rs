//! Output files that are packed as their extension says.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::compression::{Compression, Packer};
use super::detect;
use super::partial_file::PartialFile;
use crate::{Control, Error, Result};

/// An output file that is packed if its last extension is `gz`, `zst`, `bz2` or `xz`, and that is either whole or absent:
/// see [`PartialFile`].
///
/// ```no_run
/// use std::io::Write;
/// use warpath::{Control, formats::PackedFile};
/// let mut table = PackedFile::create("table.csv.gz", &Control::new())?;
/// assert_eq!(PackedFile::extension_of(table.path()).as_deref(), Some("csv"));
/// writeln!(table, "vertex,distance").map_err(|error| warpath::Error::io("table.csv.gz", error))?;
/// table.finish()?;
/// # Ok::<(), warpath::Error>(())
/// ```
pub struct PackedFile {
    path: PathBuf,
    packer: Packer<PartialFile>,
}

impl PackedFile {
    /// Creates `FILE.partial`, as [`PartialFile::create`] does.
    ///
    /// # Errors
    ///
    /// As [`PartialFile::create`].
    pub fn create(path: impl Into<PathBuf>, control: &Control) -> Result<Self> {
        let path = path.into();
        let file = PartialFile::create(path.clone(), control)?;
        let compression = Compression::by_extension(&path.to_string_lossy());
        let packer = Packer::new(file, compression).map_err(|error| Error::io(&path, error))?;
        Ok(PackedFile { path, packer })
    }

    /// The extension of a file in small letters, without that of a compression: `csv` of `table.csv.gz`.
    pub fn extension_of(path: &Path) -> Option<String> {
        detect::extension(&path.to_string_lossy())
    }

    /// Whether the extension of a file says that it is packed.
    pub fn is_packed(path: &Path) -> bool {
        Compression::by_extension(&path.to_string_lossy()).is_some()
    }

    /// The final path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the remaining bytes and gives the file its name.
    ///
    /// # Errors
    ///
    /// As [`PartialFile::finish`].
    pub fn finish(self) -> Result<()> {
        self.packer.finish().map_err(|error| Error::io(&self.path, error))?.finish()
    }
}

impl Write for PackedFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.packer.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.packer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn the_extension_says_how_a_file_is_packed() {
        let folder = tempfile::tempdir().unwrap();
        for (name, magic) in
            [("x.csv", &b"1 2"[..]), ("x.csv.gz", b"\x1f\x8b"), ("x.tsv.zst", b"\x28\xb5"), ("x.csv.bz2", b"BZh")]
        {
            let path = folder.path().join(name);
            let mut file = PackedFile::create(&path, &Control::new()).unwrap();
            file.write_all(b"1 2\n").unwrap();
            assert!(!path.exists());
            file.finish().unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(magic), "{name}");
            assert_eq!(ReadOptions::new().read_text(&path).unwrap(), b"1 2\n", "{name}");
            assert_eq!(PackedFile::is_packed(&path), name != "x.csv");
        }
        assert_eq!(PackedFile::extension_of(Path::new("a.b/x")), None);
    }
}
