//! What can go wrong, as values.

use std::path::PathBuf;

use crate::bytes::told_apart;

/// The result of everything in Warpath that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong. [`Error::kind`] sorts the variants by who can do something about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input that is not valid in its format.
    #[error(transparent)]
    Input(#[from] Box<InputError>),
    /// The operating system refused to read or write a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// A vertex name that the graph does not have.
    #[error("the graph has no vertex named `{name}`{}", other_names(nearest, *numbers))]
    UnknownVertex {
        /// The name asked for.
        name: String,
        /// The most similar names that exist, best first; none if the graph is empty, or has numbers for names and
        /// `name` is no number.
        nearest: Vec<String>,
        /// The least and the greatest name, if all are numbers.
        numbers: Option<(u64, u64)>,
    },
    /// A request that makes no sense for this graph, or options that contradict each other.
    #[error("{0}")]
    InvalidRequest(String),
    /// There is no shortest path: a cycle of negative length can be reached.
    #[error("{0}")]
    NegativeCycle(Box<NegativeCycle>),
    /// A distance left the range of the widest type that its weights have.
    #[error("a shortest distance exceeds the range of {semiring}; give the weights a wider type or a smaller scale")]
    DistanceOverflow {
        /// The semiring whose range was left, such as `f32->f32`.
        semiring: &'static str,
    },
    /// The work would need more memory than is available or allowed.
    #[error("{}", lacking(what, "memory", "available", *needed, *available))]
    OutOfMemory {
        /// What the memory is for.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes available, or allowed.
        available: u64,
    },
    /// The output would not fit on its disk.
    #[error("{}", lacking(what, "disk space", "free", *needed, *available))]
    OutOfDisk {
        /// What the space is for.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        available: u64,
    },
    /// The operating system started fewer threads than are needed.
    #[error("{0}")]
    NoThreads(String),
    /// The requested device is not available.
    #[error("{0}")]
    NoDevice(String),
    /// A device failed.
    #[error("{0}")]
    Device(String),
    /// A result that its certificate does not confirm.
    #[error("the result does not verify: {0}")]
    NotVerified(String),
    /// The caller cancelled the work.
    #[error("interrupted")]
    Interrupted,
}

/// Who can do something about an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user: another file, name, option or path.
    Usage,
    /// The answer itself: a result that does not verify, or a negative cycle.
    Answer,
    /// The machine: memory, disk, threads or device.
    Resources,
    /// Nobody: the work was cancelled.
    Interrupted,
}

impl Error {
    /// Who can do something about this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Input(_)
            | Error::UnknownVertex { .. }
            | Error::InvalidRequest(_)
            | Error::DistanceOverflow { .. } => ErrorKind::Usage,
            Error::Io { source, .. } => match source.kind() {
                std::io::ErrorKind::StorageFull
                | std::io::ErrorKind::QuotaExceeded
                | std::io::ErrorKind::FileTooLarge
                | std::io::ErrorKind::OutOfMemory => ErrorKind::Resources,
                _ => ErrorKind::Usage,
            },
            Error::NegativeCycle(_) | Error::NotVerified(_) => ErrorKind::Answer,
            Error::OutOfMemory { .. }
            | Error::OutOfDisk { .. }
            | Error::NoThreads(_)
            | Error::NoDevice(_)
            | Error::Device(_) => ErrorKind::Resources,
            Error::Interrupted => ErrorKind::Interrupted,
        }
    }

    /// An I/O error with the path it happened at; the error of Warpath that it wraps, if it wraps one.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        match source.downcast() {
            Ok(wrapped) => wrapped,
            Err(source) => Error::Io { path: path.into(), source },
        }
    }

    /// A request that makes no sense.
    pub fn invalid(message: impl Into<String>) -> Self {
        Error::InvalidRequest(message.into())
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        Error::Input(Box::new(error))
    }
}

/// A cycle of negative length, as its edges: each starts where the one before it ends, the first where the last ends.
#[derive(Debug, Clone, PartialEq)]
pub struct NegativeCycle {
    pub(crate) edges: Vec<(u32, u32)>,
    pub(crate) names: Vec<String>,
    pub(crate) length: f64,
}

impl NegativeCycle {
    /// The edges.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// The names of the vertices, in order: each edge leads from one to the next, the last to the first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The same cycle in the graph that has every arc the other way round (see
    /// [`Graph::reversed`](crate::Graph::reversed)).
    pub fn reversed(mut self) -> Self {
        self.edges.reverse();
        self.edges.iter_mut().for_each(|(from, to)| std::mem::swap(from, to));
        // The first vertex stays the first.
        if let Some((_, others)) = self.names.split_first_mut() {
            others.reverse();
        }
        self
    }

    /// The sum of the weights, rounded once.
    pub fn length(&self) -> f64 {
        self.length
    }
}

impl std::fmt::Display for NegativeCycle {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 12;
        let edges = if self.edges.len() == 1 { "edge" } else { "edges" };
        write!(out, "a cycle of negative length {} over {} {edges}: ", self.length, self.edges.len())?;
        for name in self.names.iter().take(SHOWN) {
            write!(out, "{name} -> ")?;
        }
        let cut = self.names.len() > SHOWN;
        write!(out, "{}", if cut { "…" } else { self.names.first().map_or("", String::as_str) })
    }
}

/// A fault in an input: the file, the place, the offending text, and a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputError {
    /// The file, or `<stdin>`; empty until the reader that knows it fills it in.
    pub file: String,
    /// The line, counted from 1; `None` in binary files or where the whole file is meant.
    pub line: Option<u64>,
    /// The column in bytes, counted from 1.
    pub column: Option<u64>,
    /// The offending text, cut to a readable length; empty where there is none.
    pub text: String,
    /// What is wrong with it.
    pub message: String,
}

impl InputError {
    /// An error about an input as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        InputError { message: message.into(), ..Default::default() }
    }

    /// An error at a line (counted from 1), with the offending text, shortened if it is long.
    pub fn at(line: u64, text: &[u8], message: impl Into<String>) -> Self {
        const READABLE: usize = 60;
        let shown = String::from_utf8_lossy(&text[..text.len().min(READABLE)]);
        let mut text_shown: String = shown.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        if text.len() > READABLE {
            text_shown.push('…');
        }
        InputError { line: Some(line), text: text_shown, message: message.into(), ..Default::default() }
    }

    /// The same error, with the column (in bytes, from 1).
    pub fn column(mut self, column: u64) -> Self {
        self.column = Some(column);
        self
    }

    /// The same error, in this file.
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.file = file.into();
        self
    }
}

impl std::error::Error for InputError {}

impl std::fmt::Display for InputError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(if self.file.is_empty() { "<input>" } else { &self.file })?;
        if let Some(line) = self.line {
            write!(out, ":{line}")?;
            if let Some(column) = self.column {
                write!(out, ":{column}")?;
            }
        }
        write!(out, ": {}", self.message)?;
        if !self.text.is_empty() {
            write!(out, ": `{}`", self.text)?;
        }
        Ok(())
    }
}

fn lacking(what: &str, resource: &str, there: &str, needed: u64, available: u64) -> String {
    let (needed, available) = told_apart(needed, available);
    format!("{what} needs {needed} of {resource} ({there}: {available})")
}

fn other_names(nearest: &[String], numbers: Option<(u64, u64)>) -> String {
    match (nearest, numbers) {
        ([], Some((least, greatest))) => format!("; its vertices are numbered {least}..{greatest}"),
        ([], None) => "; it has no vertices at all".to_owned(),
        ([name], _) => format!("; the nearest name is {name}"),
        (names, _) => format!("; the nearest names are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Error, Graph, Solver};

    #[test]
    fn a_reversed_cycle_is_one_of_the_reversed_graph() {
        let arcs = [(0, 1, 1), (1, 2, -5), (2, 0, 1), (2, 3, 1)];
        let graph = Graph::from_edges(arcs).unwrap();
        let Err(Error::NegativeCycle(cycle)) = Solver::new(graph).unwrap().sssp(0) else { panic!("no cycle") };
        let reversed = cycle.clone().reversed();
        let edges = reversed.edges();
        for (index, &(from, to)) in edges.iter().enumerate() {
            assert!(arcs.iter().any(|&(tail, head, _)| (tail, head) == (to, from)));
            assert_eq!(to, edges[(index + 1) % edges.len()].0);
            assert_eq!(reversed.names()[index], from.to_string());
        }
        assert_eq!(reversed.reversed(), *cycle);
    }
}
