//! The arguments of `warpath apsp` and `warpath table`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::{AlgorithmArguments, GraphArguments, SolvingArguments};

/// `warpath apsp`.
#[derive(Debug, Args)]
pub struct ApspArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    /// A file with one source per line [default: every vertex]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub sources: Option<PathBuf>,
    /// A file with one target per line [default: every vertex]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub targets: Option<PathBuf>,
    /// Reduce the rows instead of storing the matrix: eccentricity of each source, closeness or harmonic centrality of
    /// each target (distances towards it), or the histogram of all distances. `warpath centrality` has the first three, too
    #[arg(long, value_name = "HOW", value_enum)]
    pub reduce: Option<Reduction>,
    /// Write the matrix to this .npy, source,target,distance to this .csv (`-` for standard output), or the reduction
    /// to this .csv; a table can also be a .tsv, packed as .csv.gz or .csv.zst, or a .parquet (in builds with the feature `parquet`). For an unreachable target, the .csv has an empty distance; the .npy has the greatest value of an
    /// integer type (4294967295 for u32), or infinity
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// How the .csv holds the distances
    #[arg(long, value_enum, value_name = "HOW", requires = "output", conflicts_with_all = ["reduce", "successors"])]
    pub layout: Option<Layout>,
    /// Continue an interrupted run that writes a .npy. Work on a matrix larger than one GPU saves its state as often as it can without
    /// spending more time on saving than on the work; `keep-seconds=0` among the algorithm's parameters saves every
    /// stage
    #[arg(long, requires = "output", conflicts_with = "reduce")]
    pub resume: bool,
    /// Also write to the .csv the first vertex after the source on the path to each target. A GPU finds these vertices
    /// if they fit beside a matrix of integers; otherwise the CPU finds them from the distances
    #[arg(long, requires = "output", conflicts_with = "reduce")]
    pub successors: bool,
    /// Check every row against the graph: every distance is that of a path, and no edge leads to a shorter one
    #[arg(long)]
    pub verify: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub algorithm: AlgorithmArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub solving: SolvingArguments,
}

/// `warpath table`.
#[derive(Debug, Args)]
pub struct TableArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    /// A file with one source per line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub sources: PathBuf,
    /// A file with one target per line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub targets: PathBuf,
    /// Write the table to this .csv, .tsv, .csv.gz, .csv.zst, .parquet (in builds with the feature `parquet`) or .npy. For an
    /// unreachable target, the distance is empty; a .npy has the greatest value of an integer type (4294967295 for u32), or
    /// infinity [default: standard output, or with `--json` the distances in the object]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// How the table holds the distances
    #[arg(long, value_enum, value_name = "HOW")]
    pub layout: Option<Layout>,
    /// Check every row against the graph: every distance is that of a path, and no edge leads to a shorter one
    #[arg(long)]
    pub verify: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub algorithm: AlgorithmArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub solving: SolvingArguments,
}

/// How a table of distances is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// A line for each source and target (the default)
    Long,
    /// A line for each source and a column for each target
    Wide,
}

/// How the rows of distances are reduced.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Reduction {
    /// The greatest distance from each source to a target that it reaches
    Eccentricity,
    /// Closeness centrality
    Closeness,
    /// Harmonic centrality: the sum of inverse distances
    Harmonic,
    /// How often each distance occurs
    Histogram,
}

impl From<Reduction> for warpath::problems::Reduction {
    fn from(how: Reduction) -> Self {
        match how {
            Reduction::Eccentricity => Self::Eccentricity,
            Reduction::Closeness => Self::Closeness,
            Reduction::Harmonic => Self::Harmonic,
            Reduction::Histogram => Self::Histogram,
        }
    }
}
