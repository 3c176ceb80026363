//! A format's line in the table of formats.

use std::io::Write;

use super::ReadOptions;
use super::input::Opened;
use crate::Result;
use crate::graph::Graph;

/// A writer of graphs.
pub(super) type Writer = fn(&Graph, &str, &mut dyn Write) -> Result<()>;

/// What a format holds whose files are only read.
pub(super) const READ_ONLY: &str = "nothing: its files are only read";

/// The properties, reader and writer of a format: each format's source file has an entry.
pub(super) struct FormatEntry {
    /// The name, as in `--format NAME`.
    pub(super) name: &'static str,
    /// The extensions that files of this format have, the usual one first.
    pub(super) extensions: &'static [&'static str],
    /// Which graphs it can hold; its writer refuses others.
    pub(super) holds: &'static str,
    /// The number of the first vertex, where the format has numbers instead of names.
    pub(super) numbers_from: Option<u64>,
    /// Whether its files are no text.
    pub(super) is_binary: bool,
    /// Whether an input announces this format: by magic bytes, a banner, or a header that matches its size.
    pub(super) is_announced: fn(&Opened) -> bool,
    /// The reader.
    pub(super) read: fn(Opened, &ReadOptions) -> Result<Graph>,
    /// The writer, if there is one; its second argument is the name of the file.
    pub(super) write: Option<Writer>,
}
