//! The arguments of `warpath centrality`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use warpath::problems::Cutoff;

use super::{AlgorithmArguments, GraphArguments, SolvingArguments};

/// `warpath centrality`.
#[derive(Debug, Args)]
pub struct CentralityArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    /// The measure
    #[arg(long, short, value_name = "MEASURE", value_enum)]
    pub measure: Measure,
    /// Estimate the measure by searches from this many vertices, drawn at random (not for eccentricity and neighborhood)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample: Option<u32>,
    /// The seed of the sample
    #[arg(long, value_name = "SEED", requires = "sample", default_value_t = warpath::generate::DEFAULT_SEED)]
    pub seed: u64,
    /// The distance up to which the measure `neighborhood` counts vertices: a number of edges, or a length if the graph has weights
    #[arg(long, value_name = "DISTANCE")]
    pub within: Option<Cutoff>,
    /// Betweenness of the edges in place of the vertices
    #[arg(long)]
    pub edges: bool,
    /// Betweenness as the share of all pairs of other vertices, from 0 to 1, in place of the number of pairs
    #[arg(long)]
    pub normalized: bool,
    /// Count a path also for the two vertices at its ends, in betweenness
    #[arg(long, conflicts_with = "edges")]
    pub endpoints: bool,
    /// Write vertex,score to this .csv (`-` for standard output), or source,target,score with `--edges`; it can also be a .tsv,
    /// packed as .csv.gz or .csv.zst, or a .parquet (in builds with the feature `parquet`)
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Check every row of distances against the graph (not for betweenness and neighborhood)
    #[arg(long)]
    pub verify: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub algorithm: AlgorithmArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub solving: SolvingArguments,
}

/// A measure of how central a vertex is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Measure {
    /// How many shortest paths lead through a vertex: for all pairs of others, the share of their shortest paths
    Betweenness,
    /// How near a vertex is to those that reach it, after Wasserman and Faust
    Closeness,
    /// The sum of the inverse distances to a vertex
    Harmonic,
    /// The greatest distance from a vertex to those that it reaches
    Eccentricity,
    /// How many vertices a vertex reaches within a distance, `--within`, itself included
    Neighborhood,
}
