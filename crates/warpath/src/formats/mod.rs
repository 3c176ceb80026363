//! Reads graphs from files and writes them: each format has its own source file, and a line in the table of `format`.
//!
//! [`read`] finds the format from the content, then from the extension, and unpacks compressed files. [`ReadOptions`]
//! holds all choices for reading. [`write()`] picks format and compression by the extension; see [`WriteOptions`].
//!
//! A reader gets the options and an `Opened` input, or a `Text` over it, and returns a graph. Readers of formats that
//! declare vertices and give edges attributes take a `Stream` of the text and add to a `Collector`. A reader reports the place and
//! kind of a fault by an [`InputError`]; this module fills in the name of the file. A writer gets a graph and a stream.
//! No part of a file stays mapped, so changes to it after reading do not matter.

mod archive;
mod collector;
mod columnar;
mod compression;
mod coordinates;
mod detect;
mod dimacs;
mod edge_list;
mod entry;
mod foreign;
mod format;
mod gap;
mod gml;
mod graphml;
mod input;
mod list_options;
mod matrix_market;
mod metis;
mod node_link;
mod notes;
mod npz;
mod pace;
mod packed_file;
mod pajek;
mod partial_file;
mod row_range;
mod rows;
mod stored_arrays;
mod stored_rows;
mod stream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;
mod weight_column;
mod wpg;

use std::io::{BufWriter, Write};
use std::path::Path;

pub use columnar::panics_are_contained;
use compression::{Compression, Packer};
pub use coordinates::{CoordinateFormat, write_coordinates};
pub use edge_list::{EdgesByName, EdgesByWord, EdgesInAll, Numbering, StoredEdges};
pub use format::Format;
use input::{Input, Opened};
pub use list_options::{Column, DecimalMark, FirstLine, Separator, WeightSource};
pub use notes::Notes;
pub use packed_file::PackedFile;
pub use partial_file::PartialFile;
pub use row_range::RowRange;
pub use stored_arrays::StoredArrays;
pub use stored_rows::StoredRows;

use crate::graph::{Direction, Graph, GraphBuilder, ParallelEdges, SelfLoops};
use crate::memory::{no_threads, spendable};
pub use crate::partial::{RESUMABLE, check_output, lock, remove_partial_files};
use crate::{Control, Error, InputError, Result, available_memory};

/// Reads a graph; the format is found from the content, then from the extension.
///
/// # Errors
///
/// If the file can't be read, or is not valid in its format.
pub fn read(path: impl AsRef<Path>) -> Result<Graph> {
    ReadOptions::new().read(path)
}

/// How to read a graph.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    format: Option<Format>,
    direction: Option<Direction>,
    weights: WeightSource,
    first_line: FirstLine,
    separator: Option<Separator>,
    decimal: Option<DecimalMark>,
    ends: Option<[Column; 2]>,
    self_loops: SelfLoops,
    parallel_edges: ParallelEdges,
    threads: usize,
    memory: Option<u64>,
    allow_isolated: bool,
    leave_weights: bool,
    notes: Notes,
    stored_arrays: Option<StoredArrays>,
    control: Control,
}

impl ReadOptions {
    /// Reads everything as the file has it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the format instead of detecting it.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Whether edges have a direction, instead of what the format says.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = Some(direction);
        self
    }

    /// Where the weights come from.
    pub fn weights(mut self, weights: impl Into<WeightSource>) -> Self {
        self.weights = weights.into();
        self
    }

    /// Says that nobody will ask for the weights. A `.wpg` file stores them apart, so it is then read without them, in
    /// less time and memory: the graph has unit weights, and damage among the weights goes unnoticed. So is an edge
    /// list, whose column of weights may then hold anything, unless [`ReadOptions::weights`] names a column. Files of
    /// other formats are read as usual.
    pub fn leave_weights(mut self, leave: bool) -> Self {
        self.leave_weights = leave;
        self
    }

    /// What the first line of an edge list is.
    pub fn first_line(mut self, first_line: FirstLine) -> Self {
        self.first_line = first_line;
        self
    }

    /// What stands between the columns of an edge list, instead of what its first lines show.
    pub fn separator(mut self, separator: Separator) -> Self {
        self.separator = Some(separator);
        self
    }

    /// What stands before the decimals of weights in an edge list. By default this is a point. In lists with semicolons
    /// it may also be a comma, as long as no weight has a point.
    pub fn decimal(mut self, mark: DecimalMark) -> Self {
        self.decimal = Some(mark);
        self
    }

    /// The columns of an edge list that hold the start and the end of each edge. By default these are the columns whose
    /// names in the header say so, such as `source` and `target`, else the first two. Lists in Parquet and Arrow files have
    /// such columns as well.
    ///
    /// ```
    /// use warpath::ReadOptions;
    /// let text = b"minutes;arrival;departure\n55;OPO;LIS\n".to_vec();
    /// let graph = ReadOptions::new().ends("departure", 2).weights("minutes").read_bytes("flights.csv", text)?;
    /// assert_eq!(graph.neighbors(graph.vertex("LIS")?), [graph.vertex("OPO")?]);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn ends(mut self, from: impl Into<Column>, to: impl Into<Column>) -> Self {
        self.ends = Some([from.into(), to.into()]);
        self
    }

    /// What becomes of self-loops.
    pub fn self_loops(mut self, self_loops: SelfLoops) -> Self {
        self.self_loops = self_loops;
        self
    }

    /// What becomes of parallel edges.
    pub fn parallel_edges(mut self, parallel_edges: ParallelEdges) -> Self {
        self.parallel_edges = parallel_edges;
        self
    }

    /// How many threads; 0, the default, uses the caller's thread pool.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// How many bytes of memory reading may take: the unpacked file, the parsed edges, and the graph. The default is
    /// most of the available memory, see [`available_memory`].
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Allows files that announce more than a thousand vertices for each of their bytes. Nearly all these vertices have
    /// no edges, yet each takes memory. Such a header is most often a mistake, so it is an error by default.
    pub fn allow_isolated(mut self, allow: bool) -> Self {
        self.allow_isolated = allow;
        self
    }

    /// Where the reader puts what it assumed, skipped or suspects.
    pub fn notes(mut self, notes: &Notes) -> Self {
        self.notes = notes.clone();
        self
    }

    /// Where the reader puts arrays that a `.wpg` file holds beside its graph; without this call, they are not read.
    pub fn stored_arrays(mut self, stored: &StoredArrays) -> Self {
        self.stored_arrays = Some(stored.clone());
        self
    }

    /// A handle to watch and cancel the reading with.
    pub fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// Reads a graph from a file.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Graph> {
        let path = path.as_ref();
        self.parse(|| Opened::file(path, self))
    }

    /// Reads a graph from standard input.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn read_stdin(&self) -> Result<Graph> {
        self.parse(|| Input::standard(self).map(Opened::Memory))
    }

    /// Reads a graph from memory; the extension of `name` counts like the extension of a file.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn read_bytes(&self, name: impl Into<String>, bytes: Vec<u8>) -> Result<Graph> {
        let input = Input::owned(name, bytes);
        self.parse(|| input.unpacked(self).map(Opened::Memory))
    }

    /// Reads a text that is no graph, such as a list of vertices, from a file or a pipe, and unpacks it if it is
    /// packed.
    ///
    /// # Errors
    ///
    /// If the file can't be read or does not fit into memory.
    pub fn read_text(&self, path: impl AsRef<Path>) -> Result<Vec<u8>> {
        Ok(Opened::file(path.as_ref(), self)?.load(self)?.into_bytes())
    }

    /// Reads such a text from standard input.
    ///
    /// # Errors
    ///
    /// As [`ReadOptions::read_text`].
    pub fn read_text_of_stdin(&self) -> Result<Vec<u8>> {
        Ok(Input::standard(self)?.into_bytes())
    }

    fn parse(&self, open: impl FnOnce() -> Result<Opened> + Send) -> Result<Graph> {
        if self.threads == 0 {
            return self.parse_here(open);
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .map_err(|error| no_threads(self.threads, error))?;
        pool.install(|| self.parse_here(open))
    }

    fn parse_here(&self, open: impl FnOnce() -> Result<Opened>) -> Result<Graph> {
        self.control.progress("load", 0, 0)?;
        let opened = archive::only_member(open()?, self)?.with_line_feeds(self)?;
        let name = opened.name().to_owned();
        if let Some(stored) = &self.stored_arrays {
            stored.put(&name, Vec::new());
        }
        let format = match self.format {
            Some(format) => format,
            None => detect::detect(&opened)?,
        };
        self.check_list_options(format).map_err(|error| about(error, &name))?;
        (format.entry().read)(opened, self).map_err(|error| about(error, &name))
    }

    /// An error if options about the lines or the columns of an edge list are set for a file in another format.
    fn check_list_options(&self, format: Format) -> Result<()> {
        let (has_lines, has_columns) =
            (format == Format::EdgeList, [Format::EdgeList, Format::Parquet, Format::Arrow].contains(&format));
        let set = [
            ("--first-line", self.first_line != FirstLine::Auto, has_lines),
            ("--separator", self.separator.is_some(), has_lines),
            ("--decimal", self.decimal.is_some(), has_lines),
            ("--from", self.ends.is_some(), has_columns),
        ];
        match set.into_iter().find(|&(_, is_set, has_it)| is_set && !has_it) {
            Some((option, ..)) => Err(Error::invalid(format!(
                "`{option}` is for edge lists, but this is read as {format}; `--format edge-list` reads it as one"
            ))),
            None => Ok(()),
        }
    }

    /// Whether the weights of an edge list stay unread: nobody will ask for them, and no column of them was named.
    fn leaves_weights(&self) -> bool {
        self.leave_weights && self.weights == WeightSource::File
    }

    /// How much memory arrays of known sizes may take, when `owned` bytes are taken already.
    fn room(&self, owned: u64) -> u64 {
        self.left_of_limit(owned).min(available_memory())
    }

    /// The same for arrays that grow to an unknown size.
    fn room_to_grow(&self, owned: u64) -> u64 {
        self.left_of_limit(owned).min(spendable(available_memory()))
    }

    /// The rest of the limit after `owned` bytes; no limit if none was set.
    fn left_of_limit(&self, owned: u64) -> u64 {
        self.memory.map_or(u64::MAX, |limit| limit.saturating_sub(owned))
    }

    /// How much memory the parsed edges of an input of `length` bytes may take; no limit for a small input, unless the
    /// options set one.
    fn room_to_parse(&self, length: u64, owned: u64) -> u64 {
        /// Asking the system would take longer than reading it.
        const SMALL: u64 = 1 << 20;
        if self.memory.is_none() && length < SMALL { u64::MAX } else { self.room_to_grow(owned) }
    }

    /// A builder with the choices made here; `direction` is what the format says.
    fn builder(&self, direction: Direction) -> GraphBuilder {
        self.builder_beside(direction, 0)
    }

    /// The same, where `owned` bytes of memory are taken already.
    fn builder_beside(&self, direction: Direction, owned: u64) -> GraphBuilder {
        GraphBuilder::new()
            .memory(self.memory.map(|limit| limit.saturating_sub(owned)))
            .direction(self.direction.unwrap_or(direction))
            .self_loops(self.self_loops)
            .parallel_edges(self.parallel_edges)
    }
}

/// An error of a reader, with the name of the file.
fn about(error: Error, name: &str) -> Error {
    match error {
        Error::Input(error) if error.file.is_empty() => error.in_file(name).into(),
        Error::InvalidRequest(message) => InputError::new(message).in_file(name).into(),
        other => other,
    }
}

/// Writes a graph; the extension decides format and compression. See [`WriteOptions::write`].
///
/// # Errors
///
/// If the extension is unknown, the format can't hold the graph, or the file can't be written.
pub fn write(graph: &Graph, path: impl AsRef<Path>) -> Result<()> {
    WriteOptions::new().write(graph, path)
}

/// How to write a graph.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    format: Option<Format>,
    control: Control,
}

impl WriteOptions {
    /// Format and compression by the extension.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the format instead of taking it from the extension.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// A handle to cancel the writing with.
    pub fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// Writes a graph to `FILE.partial` and renames it to `FILE` when it is whole.
    ///
    /// # Errors
    ///
    /// As [`write()`].
    pub fn write(&self, graph: &Graph, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        self.format_for(path)?;
        self.write_file(graph, PartialFile::create(path, &self.control)?)
    }

    /// Writes a graph to a file that was created before the graph was there.
    ///
    /// # Errors
    ///
    /// As [`write()`].
    pub fn write_file(&self, graph: &Graph, file: PartialFile) -> Result<()> {
        let writer = self.format_for(file.path())?.writer()?;
        self.pack(file, |name, out| writer(graph, name, out))
    }

    /// Writes a graph with arrays beside it to a `.wpg` file. The names have at most eight letters.
    pub(crate) fn write_file_with(&self, graph: &Graph, arrays: &[(&str, &[u32])], file: PartialFile) -> Result<()> {
        only_wpg(self.format_for(file.path())?)?;
        self.pack(file, |_, out| wpg::write(graph, arrays, out))
    }

    /// Lets `write` write to a file, packed as its extension says.
    fn pack(&self, file: PartialFile, write: impl FnOnce(&str, &mut dyn Write) -> Result<()>) -> Result<()> {
        let path = file.path().to_owned();
        let name = path.to_string_lossy();
        let pack = || {
            let io_error = |error| Error::io(&path, error);
            let packer = Packer::new(file, Compression::by_extension(&name)).map_err(io_error)?;
            // A packer gathers much before it writes, so cancelling is checked in front of it, too.
            let mut packer = self.control.writer(packer);
            write(&name, &mut packer).map_err(|error| with_path(error, &path))?;
            packer.into_inner().finish().map_err(io_error)?.finish()
        };
        // A packer may have replaced the error of cancelling by its own.
        pack().map_err(|error| self.control.check().err().unwrap_or(error))
    }

    /// Writes a graph to a stream, uncompressed; the format has to be given.
    ///
    /// # Errors
    ///
    /// If no format was given, it can't hold the graph, or the stream can't be written.
    pub fn write_to(&self, graph: &Graph, out: impl Write) -> Result<()> {
        let writer = self.format_of_stream()?.writer()?;
        self.pass_on(out, |out| writer(graph, "", out))
    }

    /// Writes a graph with arrays beside it to a stream, as [`WriteOptions::write_file_with`] does to a file.
    pub(crate) fn write_to_with(&self, graph: &Graph, arrays: &[(&str, &[u32])], out: impl Write) -> Result<()> {
        only_wpg(self.format_of_stream()?)?;
        self.pass_on(out, |out| wpg::write(graph, arrays, out))
    }

    fn format_of_stream(&self) -> Result<Format> {
        self.format.ok_or_else(|| Error::invalid("a stream has no extension: name a format"))
    }

    /// Lets `write` write to a stream.
    fn pass_on(&self, out: impl Write, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        let mut out = self.control.writer(BufWriter::with_capacity(1 << 16, out));
        write(&mut out).map_err(|error| with_path(error, Path::new("<output>")))?;
        out.flush().map_err(|error| Error::io("<output>", error))
    }

    /// The format that [`WriteOptions::write`] will use for a path, so that a wrong name is found before the work.
    ///
    /// # Errors
    ///
    /// If no format was given and the extension is unknown, or files of the format are only read.
    pub fn format_for(&self, path: &Path) -> Result<Format> {
        let name = path.to_string_lossy();
        let format = self.format.or_else(|| detect::by_extension(&name));
        let format = format.ok_or_else(|| Error::invalid(format!("`{name}`: the extension names no format")))?;
        format.writer().map(|_| format)
    }
}

/// An error for every format but Warpath's own, the only one that holds arrays beside a graph.
fn only_wpg(format: Format) -> Result<()> {
    match format {
        Format::Warpath => Ok(()),
        other => {
            Err(Error::invalid(format!("{other} files hold no hierarchy; Warpath's own do: their extension is .wpg")))
        }
    }
}

/// Turns an error of a stream into an error of the file behind it. Writers wrap stream errors by [`stream_error`].
fn with_path(error: Error, path: &Path) -> Error {
    match error {
        Error::Io { path: unknown, source } if unknown.as_os_str().is_empty() => Error::io(path, source),
        other => other,
    }
}

/// Wraps an error of a writer's stream; the caller fills in the path.
fn stream_error(error: std::io::Error) -> Error {
    Error::io("", error)
}
