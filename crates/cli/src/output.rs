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
}

impl OutputKind {
    /// The format that the extension names; standard output is .csv. A table may be packed.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        if is_table(path) {
            return Ok(OutputKind::Csv);
        }
        match PackedFile::extension_of(path).as_deref() {
            Some("npy") if !PackedFile::is_packed(path) => Ok(OutputKind::Npy),
            _ => {
                let name = path.display();
                Err(Failure::usage(format!(
                    "`{name}` names no format for a result: its extension can be .npy, .csv or .tsv, these two also with \
                     .gz, .zst, .bz2 or .xz after them"
                )))
            }
        }
    }
}

/// Whether an output is a table: standard output, a .csv or a .tsv, perhaps packed.
pub(crate) fn is_table(path: &Path) -> bool {
    path.as_os_str() == "-" || matches!(PackedFile::extension_of(path).as_deref(), Some("csv" | "tsv"))
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
