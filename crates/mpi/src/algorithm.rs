//! What is said of an algorithm before it runs.

/// An algorithm on ranks: its name, and where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct RankAlgorithm {
    /// Its name, for `--algorithm`.
    pub name: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Whether it needs every arc to have its reverse.
    pub undirected_only: bool,
}
