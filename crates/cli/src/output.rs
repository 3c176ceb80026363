//! Where results are written: to standard output, or to a file that is either complete or absent.

use std::io::{Stdout, Write};
use std::path::Path;

use warpath::formats::{PackedFile, check_output};
use warpath::{CancellableWriter, Control, Error};

use crate::arguments::CommonArguments;
use crate::failure::Failure;

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputKind {
    /// Lines of values with commas between them, or in a .tsv with tabs.
    Csv,
    /// A NumPy array.
    Npy,
    /// Columns of values with types.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl OutputKind {
    /// The format that the extension names; standard output is .csv. A table may be packed.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        if let Some(kind) = OutputKind::of_table(path)? {
            return Ok(kind);
        }
        match PackedFile::extension_of(path).as_deref() {
            Some("npy") if !PackedFile::is_packed(path) => Ok(OutputKind::Npy),
            _ => {
                let name = path.display();
                Err(Failure::usage(format!(
                    "`{name}` names no format for a result: its extension can be .npy, .parquet, .csv or .tsv, the last \
                     two also with .gz, .zst, .bz2 or .xz after them"
                )))
            }
        }
    }

    /// The kind of a table: standard output, a .csv or a .tsv, perhaps packed, or a .parquet; `None` if the extension
    /// names no table.
    pub(crate) fn of_table(path: &Path) -> Result<Option<Self>, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Some(OutputKind::Csv));
        }
        match PackedFile::extension_of(path).as_deref() {
            Some("csv" | "tsv") => Ok(Some(OutputKind::Csv)),
            Some("parquet" | "pq") if !PackedFile::is_packed(path) => parquet(path).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether it is a table, of rows and columns with names.
    pub(crate) fn is_table(self) -> bool {
        self != OutputKind::Npy
    }
}

#[cfg(feature = "parquet")]
fn parquet(_: &Path) -> Result<OutputKind, Failure> {
    Ok(OutputKind::Parquet)
}

#[cfg(not(feature = "parquet"))]
fn parquet(path: &Path) -> Result<OutputKind, Failure> {
    let path = path.display();
    Err(Failure::usage(format!(
        "`{path}`: this build of Warpath can't write Parquet, for it lacks the feature `parquet`"
    ))
    .help("`cargo install --path crates/cli --features parquet` installs one that can"))
}

/// A stream for results, which fails once the work is cancelled.
pub(crate) enum Output {
    File(PackedFile),
    /// A .tsv, which is written as a .csv and gets tabs in the place of commas.
    WithTabs {
        file: PackedFile,
        in_quotes: bool,
    },
    Standard(CancellableWriter<Stdout>),
}

impl Output {
    /// Checks, before the work, that `path` can be written and is not an input; `-` is standard output.
    pub(crate) fn create(
        path: &Path,
        inputs: &[&Path],
        common: &CommonArguments,
        control: &Control,
    ) -> Result<(Self, OutputKind), Failure> {
        let kind = OutputKind::of(path)?;
        Ok((Output::open(path, inputs, common, control)?, kind))
    }

    /// The same, whatever format the extension names.
    pub(crate) fn open(
        path: &Path,
        inputs: &[&Path],
        common: &CommonArguments,
        control: &Control,
    ) -> Result<Self, Failure> {
        if path.as_os_str() != "-" {
            check_output(path, inputs)?;
            let file = PackedFile::create(path, control)?;
            return Ok(match PackedFile::extension_of(path).as_deref() {
                Some("tsv") => Output::WithTabs { file, in_quotes: false },
                _ => Output::File(file),
            });
        }
        if common.json {
            return Err(Failure::usage("`--output -` and `--json` both want standard output"));
        }
        Ok(Output::standard(control))
    }

    /// Standard output.
    pub(crate) fn standard(control: &Control) -> Self {
        Output::Standard(control.writer(std::io::stdout()))
    }

    /// The path, for messages.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Output::File(file) | Output::WithTabs { file, .. } => file.path(),
            Output::Standard(_) => Path::new("<stdout>"),
        }
    }

    /// Flushes the buffer and gives the file its final name.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        match self {
            Output::File(file) | Output::WithTabs { file, .. } => file.finish(),
            Output::Standard(_) => self.flush().map_err(|error| Error::io("<stdout>", error)),
        }
    }
}

/// A part of a .csv with tabs in the place of the commas between fields. Fields with commas are in quotes, which a .tsv
/// has as well; no field has a tab, since no name of a vertex does.
fn with_tabs(bytes: &[u8], in_quotes: &mut bool) -> Vec<u8> {
    let translated = bytes.iter().map(|&byte| {
        *in_quotes ^= byte == b'"';
        if byte == b',' && !*in_quotes { b'\t' } else { byte }
    });
    translated.collect()
}

/// Ignores the error that the reader of standard output has gone away.
fn unless_reader_gone<T>(result: std::io::Result<T>, otherwise: T) -> std::io::Result<T> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(otherwise),
        result => result,
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Output::File(file) => file.write(bytes),
            Output::WithTabs { file, in_quotes } => {
                file.write_all(&with_tabs(bytes, in_quotes))?;
                Ok(bytes.len())
            }
            Output::Standard(out) => unless_reader_gone(out.write(bytes), bytes.len()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Output::File(file) | Output::WithTabs { file, .. } => file.flush(),
            Output::Standard(out) => unless_reader_gone(out.flush(), ()),
        }
    }
}
