//! Where results are written: to standard output, or to a file that is either complete or absent.

use std::io::{Stdout, Write};
use std::path::Path;

use warpath::formats::{PartialFile, check_output};
use warpath::{CancellableWriter, Control, Error};

use crate::arguments::CommonArguments;
use crate::failure::Failure;

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputKind {
    /// Lines of comma-separated values.
    Csv,
    /// A NumPy array.
    Npy,
}

impl OutputKind {
    /// The format that the extension names; standard output is .csv.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Ok(OutputKind::Csv);
        }
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Ok(OutputKind::Csv),
            Some("npy") => Ok(OutputKind::Npy),
            _ => {
                let name = path.display();
                Err(Failure::usage(format!("`{name}` names no format for a result: its extension can be .csv or .npy")))
            }
        }
    }
}

/// A stream for results, which fails once the work is cancelled.
pub(crate) enum Output {
    File(PartialFile),
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
            return Ok(Output::File(PartialFile::create(path, control)?));
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
            Output::File(file) => file.path(),
            Output::Standard(_) => Path::new("<stdout>"),
        }
    }

    /// Flushes the buffer and gives the file its final name.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        match self {
            Output::File(file) => file.finish(),
            Output::Standard(_) => self.flush().map_err(|error| Error::io("<stdout>", error)),
        }
    }
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
            Output::Standard(out) => unless_reader_gone(out.write(bytes), bytes.len()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Output::File(file) => file.flush(),
            Output::Standard(out) => unless_reader_gone(out.flush(), ()),
        }
    }
}
