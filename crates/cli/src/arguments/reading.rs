//! The options of how a graph is read, which every command that takes one has.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// Where a graph comes from and how it is read.
#[derive(Debug, Args)]
pub struct GraphArguments {
    /// A file, `-` for standard input, or a generator such as kron:20
    #[arg(value_name = "GRAPH", value_hint = ValueHint::FilePath)]
    pub graph: PathBuf,
    /// The weights: a column of an edge list or of a Parquet or Arrow file (its number from 1, or its name), an attribute of the edges of a GraphML, GML
    /// or JSON file (its name; `weight` if none is given), `unit`, or `random:LO..HI[,seed=N]` (integers, both ends included; the seed is that of the generator or 1 if none is given) [default: the file's own;
    /// a command that ignores weights does not read those of a .wpg]
    #[arg(long, value_name = "COLUMN|unit|random:LO..HI", help_heading = "Reading")]
    pub weights: Option<String>,
    /// The column of an edge list where an edge starts: its number from 1, or its name in the header [default: the one
    /// that the header calls `source`, `from` or the like, else the first]
    #[arg(long = "from", value_name = "COLUMN", requires = "to_column", help_heading = "Reading")]
    pub from_column: Option<String>,
    /// The column of an edge list where an edge ends [default: the one that the header calls `target`, `to` or the like,
    /// else the second]
    #[arg(long = "to", value_name = "COLUMN", requires = "from_column", help_heading = "Reading")]
    pub to_column: Option<String>,
    /// Treat every edge as one arc, whatever the format says
    #[arg(long, conflicts_with = "undirected", help_heading = "Reading")]
    pub directed: bool,
    /// Treat every edge as two arcs, one in each direction, whatever the format says
    #[arg(long, help_heading = "Reading")]
    pub undirected: bool,
    /// The format, instead of detecting it from content and extension
    #[arg(long, value_name = "NAME", help_heading = "Reading",
          value_parser = clap::builder::PossibleValuesParser::new(warpath::Format::ALL.map(warpath::Format::name)))]
    pub format: Option<String>,
    /// What the first line of an edge list is
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Reading")]
    pub first_line: Option<FirstLine>,
    /// What stands between the columns of an edge list [default: what the first lines show]
    #[arg(long, value_name = "WHAT", help_heading = "Reading",
          value_parser = clap::builder::PossibleValuesParser::new(warpath::formats::Separator::ALL.map(warpath::formats::Separator::name)))]
    pub separator: Option<String>,
    /// What stands before the decimals of weights in an edge list [default: a point; with semicolons between columns,
    /// a comma as well]
    #[arg(long, value_name = "WHAT", help_heading = "Reading",
          value_parser = clap::builder::PossibleValuesParser::new(["point", "comma"]))]
    pub decimal: Option<String>,
    /// Drop edges from a vertex to itself
    #[arg(long, help_heading = "Reading")]
    pub drop_self_loops: bool,
    /// Keep parallel arcs instead of merging them into the one of least weight
    #[arg(long, help_heading = "Reading")]
    pub keep_parallel_edges: bool,
    /// Keep only the vertices of the largest component (weakly connected: directions do not matter)
    #[arg(long, help_heading = "Reading")]
    pub largest_component: bool,
    /// Accept a file whose header announces more than a thousand vertices for each of its bytes. Nearly all of them
    /// have no edges, and each takes memory; without this option, such a header is taken for a mistake
    #[arg(long, help_heading = "Reading")]
    pub allow_isolated: bool,
}

impl GraphArguments {
    /// What to call the graph: the name of its file, or its recipe.
    pub(crate) fn name(&self) -> String {
        let name = self.graph.file_name().filter(|_| self.graph.as_os_str() != "-");
        name.map_or("standard input".into(), |name| name.to_string_lossy()).into_owned()
    }
}

/// What the first line of an edge list is.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FirstLine {
    /// The number of vertices, optionally followed by the number of edges
    Counts,
    /// The names of the columns
    Header,
    /// An edge like every other
    Edge,
}
