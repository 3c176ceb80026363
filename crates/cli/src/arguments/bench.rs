//! The options of `warpath bench` and `warpath datasets`, with the help that people read.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

/// `warpath bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    /// What to do instead of running a suite.
    #[command(subcommand)]
    pub other: Option<BenchCommand>,
    /// The suite to run
    #[arg(long, value_name = "NAME", required_unless_present = "list",
          value_parser = clap::builder::PossibleValuesParser::new(warpath_bench::Suite::names().chain([warpath_bench::graph500::NAME])))]
    pub suite: Option<String>,
    /// List the suites, or with `--suite` its graphs and algorithms, and run nothing
    #[arg(long)]
    pub list: bool,
    /// Small graphs, few sources and few repeats: a minute or two
    #[arg(long)]
    pub quick: bool,
    /// The rows to measure: `auto` for all that this machine can run, `cpu`, or `cuda[:N]`; `mpi`, in builds with the feature `mpi`, has all
    /// ranks of an MPI run do the suite `graph500` together
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = "Running")]
    pub engine: String,
    /// The scale of generated graphs (2^N vertices), in the suites `gap`, `peers` and `graph500`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=30), help_heading = "Running")]
    pub scale: Option<u32>,
    /// Run only these experiments of the suite; `--list` prints their names
    #[arg(long, value_name = "NAME", num_args = 1.., help_heading = "Running")]
    pub experiment: Vec<String>,
    /// Run only on these graphs of the suite; `--list` prints their names
    #[arg(long, value_name = "NAME", num_args = 1.., help_heading = "Running")]
    pub graph: Vec<String>,
    /// The number of seconds after which a case starts no further search [default: what the suite says]
    #[arg(long, value_name = "SECONDS", help_heading = "Running")]
    pub budget: Option<f64>,
    /// How many seconds one search may take [default: what the suite says]
    #[arg(long, value_name = "SECONDS", help_heading = "Running")]
    pub timeout: Option<f64>,
    /// The folder with datasets
    #[arg(long, value_name = "DIR", env = "WARPATH_DATA", value_hint = ValueHint::DirPath, help_heading = "Running")]
    pub data: Option<PathBuf>,
    /// The Python that has the peers' packages
    #[arg(long, value_name = "PROGRAM", env = "WARPATH_PYTHON", default_value = "python3", value_hint = ValueHint::ExecutablePath,
          help_heading = "Running")]
    pub python: PathBuf,
    /// The folder with the programs of the GAP benchmark suite
    #[arg(long, value_name = "DIR", env = "GAPBS", value_hint = ValueHint::DirPath, help_heading = "Running")]
    pub gap: Option<PathBuf>,
    /// The folder of Wasp, whose programs are in `build/` there
    #[arg(long, value_name = "DIR", env = "WASP", value_hint = ValueHint::DirPath, help_heading = "Running")]
    pub wasp: Option<PathBuf>,
    /// The folder of PASGAL, whose programs are in `src/` there
    #[arg(long, value_name = "DIR", env = "PASGAL", value_hint = ValueHint::DirPath, help_heading = "Running")]
    pub pasgal: Option<PathBuf>,
    /// The folder for results.jsonl, tables.md and report.html [default: the tables go to standard output]
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
    /// Resume an interrupted run
    #[arg(long, requires = "output")]
    pub resume: bool,
    /// Print nothing but errors, and the tables if there is no output folder
    #[arg(long, short)]
    pub quiet: bool,
}

/// The subcommands of `warpath bench`.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Compare two runs: what became faster or slower, beyond the noise. Exits with 1 if a row of the later run is wrong
    #[command(after_help = "Examples:\n  warpath bench compare before/results.jsonl after/results.jsonl\n  \
                            warpath bench compare docs/results/cpu new/ --fail-on slower")]
    Compare {
        /// The results.jsonl of the earlier run, or a folder with those of several. Files belong together that lie at the
        /// same place below both folders and are of the same suite
        #[arg(value_name = "BEFORE", value_hint = ValueHint::AnyPath)]
        before: PathBuf,
        /// The results.jsonl of the later run, or a folder
        #[arg(value_name = "AFTER", value_hint = ValueHint::AnyPath)]
        after: PathBuf,
        /// Exit with 1 also if this happened
        #[arg(long, value_name = "WHAT", value_enum)]
        fail_on: Option<FailOn>,
    },
    /// Compare recorded times with the times that the algorithms predict
    Predictions {
        /// The files results.jsonl
        #[arg(value_name = "RESULTS", required = true, value_hint = ValueHint::FilePath)]
        results: Vec<PathBuf>,
    },
    /// Compare the figures on Markdown pages with the recorded results; exits with 1 if one differs
    Figures {
        /// The pages; what is marked on them as docs/bench.md says is compared
        #[arg(value_name = "PAGE", required = true, value_hint = ValueHint::FilePath)]
        pages: Vec<PathBuf>,
        /// The folder with MACHINE/SUITE/results.jsonl
        #[arg(long, value_name = "DIR", default_value = "docs/results", value_hint = ValueHint::DirPath)]
        results: PathBuf,
        /// Write the recorded figures into the pages
        #[arg(long)]
        write: bool,
    },
    /// Draw the shortest paths in a run of the suite `peers` as one picture
    Chart {
        /// The file results.jsonl of the run
        #[arg(value_name = "RESULTS", value_hint = ValueHint::FilePath)]
        results: PathBuf,
        /// The .svg to write
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: PathBuf,
    },
    /// Rebuild tables.md and report.html from the results.jsonl in a folder
    Report {
        /// The folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Call linked packages for a run, which starts this process and may kill it
    #[cfg(feature = "peers")]
    #[command(hide = true)]
    Worker {
        /// The file with the graph
        graph: PathBuf,
    },
}

/// What makes `warpath bench compare` fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A row takes longer, beyond the noise
    Slower,
}

/// `warpath datasets`.
#[derive(Debug, Args)]
pub struct DatasetsArguments {
    /// What to do instead of listing the datasets.
    #[command(subcommand)]
    pub other: Option<DatasetsCommand>,
    /// The folder with datasets
    #[arg(long, value_name = "DIR", env = "WARPATH_DATA", value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

/// The subcommands of `warpath datasets`.
#[derive(Debug, Subcommand)]
pub enum DatasetsCommand {
    /// Download a dataset. It is kept if it has the vertices and edges of the published graph, and the known SHA-256 where there
    /// is one
    Get {
        /// The name of the dataset, as `warpath datasets` lists it
        #[arg(value_name = "NAME")]
        name: String,
        /// The folder to download to
        #[arg(long, value_name = "DIR", env = "WARPATH_DATA", value_hint = ValueHint::DirPath)]
        data: Option<PathBuf>,
        /// Download from this address instead of the publisher's
        #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
        from: Option<String>,
        /// Print nothing but errors
        #[arg(long, short)]
        quiet: bool,
    },
}
