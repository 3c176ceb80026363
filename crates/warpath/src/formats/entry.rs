//! A format's line in the table of formats.

use std::io::Write;

use super::ReadOptions;
use super::input::Opened;
use crate::Result;
use crate::graph::Graph;

/// What is known of a format, and what reads and writes it: each format's file has its own.
pub(super) struct FormatEntry {
    /// The name, as in `--format NAME`.
    pub(super) name: &'static str,
    /// The extensions that files of this format have, the usual one first.
    pub(super) extensions: &'static [&'static str],
    /// Which graphs it can hold; its writer refuses others.
    pub(super) holds: &'static str,
    /// The number of the first vertex, where the format has numbers instead of names.
    pub(super) numbers_from: Option<u64>,
    /// Whether an input announces this format: by magic bytes, a banner, or a header that its size follows from.
    pub(super) is_announced: fn(&Opened) -> bool,
    /// The reader.
    pub(super) read: fn(Opened, &ReadOptions) -> Result<Graph>,
    /// The writer, which is told the name of the file.
    pub(super) write: fn(&Graph, &str, &mut dyn Write) -> Result<()>,
}
