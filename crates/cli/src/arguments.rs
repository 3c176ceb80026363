//! The command line: every command and option, with the help that people read.

mod all_pairs;
#[cfg(feature = "bench")]
mod bench;
mod centrality;
mod map;
mod reading;

use std::path::PathBuf;

pub use all_pairs::{ApspArguments, Layout, Reduction, TableArguments};
#[cfg(feature = "bench")]
pub use bench::{BenchArguments, BenchCommand, DatasetsArguments, DatasetsCommand, FailOn};
pub use centrality::{CentralityArguments, Measure};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
pub use map::{IsochroneArguments, MapArguments};
pub use reading::{FirstLine, GraphArguments};

/// Shortest paths and reachability in large graphs.
#[derive(Debug, Parser)]
#[command(
    name = "warpath",
    version = env!("WARPATH_VERSION"),
    about,
    long_about = "Shortest paths and reachability in large graphs: breadth-first search, single-source and all-pairs \
                  shortest paths, transitive closure, centralities, on all cores or on NVIDIA GPUs.\n\nGRAPH is a file (edge list, \
                  DIMACS .gr, PACE, METIS, Matrix Market, SciPy .npz, GAP .sg/.wsg, GraphML, GML, Pajek .net, JSON of nodes \
                  and links, Parquet, Arrow or Feather in builds with the feature `parquet`, or Warpath's own .wpg; plain, compressed with gz, zst, bz2 or xz, or in a zip or tar archive \
                  with one graph), `-` for standard input, or a generator such as kron:20, uniform:20, grid:1000x1000, \
                  rgg:20, scale-free:1000000, crawl:1000000, roads:1000000 or dense:2700, with options after commas (kron:20,edges-per-vertex=16,seed=1).",
    after_help = "Exit codes: 0 success; 1 the result does not verify, or there is a negative cycle; 2 an error in the \
                  arguments, the input or a path; 3 not enough memory or disk space, or no such device; 130 interrupted.",
    arg_required_else_help = true,
    propagate_version = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Breadth-first search: distances in edges from a source
    #[command(
        after_help = "Examples:\n  warpath bfs roads.gr --source 1\n  warpath bfs kron:20 --source 0 --verify\n  \
                            warpath bfs web.txt.zst --source 7 --target 12 --predecessors --output tree.csv\n  \
                            warpath bfs grid:100x100 --source 0 --plot levels.svg"
    )]
    Bfs(BfsArguments),
    /// Shortest paths from a source
    #[command(after_help = "Examples:\n  warpath sssp USA-road-d.NY.gr.gz --source 1 --verify --json\n  \
                            warpath sssp grid:1000x1000 --weights random:1..100,seed=7 --source 0 --target 999999\n  \
                            warpath sssp flights.csv --weights price --source LIS --predecessors --output from-lisbon.csv.gz\n  \
                            warpath sssp roads.gr --source 17 --source 802 --reverse --output nearest.csv\n  \
                            warpath sssp roads:200000 --source 0 --plot distances.html\n  \
                            warpath sssp roads.gr --source 1 --coordinates roads.co --isochrones 300,600,900 --output areas.geojson")]
    Sssp(SsspArguments),
    /// Shortest paths between all pairs, or from and to lists of vertices
    #[command(after_help = "Examples:\n  warpath apsp network.mtx --output distances.npy\n  \
                            warpath apsp roads.gr --sources depots.txt --targets customers.txt --output table.csv\n  \
                            warpath apsp roads.gr --sources depots.txt --targets customers.txt --layout wide --output table.csv\n  \
                            warpath apsp social.txt --reduce closeness --output closeness.csv --progress always")]
    Apsp(ApspArguments),
    /// A table of distances from some vertices to some others: `apsp` with both lists
    #[command(after_help = "Examples:\n  warpath table roads.gr --sources depots.txt --targets customers.txt\n  \
                            warpath prepare roads.gr --output roads.wpg\n  \
                            warpath table roads.wpg --sources depots.txt --targets customers.txt --layout wide --output table.csv\n  \
                            warpath table roads.wpg --sources depots.txt --targets customers.txt --json")]
    Table(TableArguments),
    /// How central each vertex is: betweenness, closeness, harmonic centrality or eccentricity
    #[command(
        after_help = "Examples:\n  warpath centrality social.txt --measure betweenness --output betweenness.csv\n  \
                            warpath centrality web.wpg --measure betweenness --sample 1000 --normalized\n  \
                            warpath centrality roads.gr --measure closeness --output closeness.csv --progress always\n  \
                            warpath centrality social.txt --measure betweenness --edges --output edges.csv"
    )]
    Centrality(CentralityArguments),
    /// Which vertices can reach which
    #[command(
        after_help = "Examples:\n  warpath closure citations.txt\n  warpath closure kron:12 --output reach.npy --verify"
    )]
    Closure(ClosureArguments),
    /// The shortest path between two vertices, the k shortest, or the paths of many pairs
    #[command(
        after_help = "Examples:\n  warpath path roads.gr 1 264346\n  warpath path flights.csv LIS HEL --weights price\n  \
                            warpath path roads.gr 1 264346 --k 5 --output paths.csv\n  \
                            warpath path roads.gr 1 264346 --k 3 --coordinates roads.co --plot ways.png\n  \
                            warpath path roads.gr --pairs trips.csv > lengths.csv"
    )]
    Path(PathArguments),
    /// Find the connected components: which vertices belong together
    #[command(after_help = "Examples:\n  warpath components social.txt --output components.csv\n  \
                            warpath components web.wpg --strong --json\n  \
                            warpath convert roads.gr connected.wpg --largest-component")]
    Components(ComponentsArguments),
    /// Describe a graph, and what it takes to solve problems on it
    #[command(
        after_help = "Examples:\n  warpath info roads.gr.zst\n  warpath info matrix.mtx --format matrix-market --json"
    )]
    Info(InfoArguments),
    /// Write a graph in another format: the one that the extension of OUTPUT names
    #[command(
        after_help = "Examples:\n  warpath convert roads.gr.gz roads.wpg\n  warpath convert edges.csv graph.mtx.zst --undirected\n  \
                      warpath convert trips.parquet trips.wpg --from origin --to destination --weights minutes"
    )]
    Convert(ConvertArguments),
    /// Make a hierarchy for a graph, from which further questions are answered far faster, and write both to a .wpg. It pays
    /// for graphs with small separators, such as roads and meshes
    #[command(after_help = "Examples:\n  warpath prepare roads.gr.gz --output roads.wpg\n  \
                            warpath prepare mesh.mtx --order mesh.order --output mesh.wpg\n  warpath info roads.wpg")]
    Prepare(PrepareArguments),
    /// Write a generated graph
    #[command(after_help = "Examples:\n  warpath generate kron:20,seed=7 kron20.wpg --weights random:1..255\n  \
                            warpath generate grid:100x100 grid.txt")]
    Generate(ConvertArguments),
    /// Show what this machine offers (cores, vector units, memory, GPUs), and list the algorithms
    Devices(DevicesArguments),
    /// Run benchmarks: the experiments of papers, the GAP benchmark, other programs beside Warpath; makes tables and a report
    /// with figures
    #[cfg(feature = "bench")]
    #[command(
        args_conflicts_with_subcommands = true,
        subcommand_negates_reqs = true,
        after_help = "Examples:\n  warpath bench --list\n  warpath bench --suite singh --quick\n  \
                            warpath bench --suite peers --output peers/\n  warpath bench --suite gap --scale 22 --engine cpu --output gap/\n  \
                            warpath bench compare before/results.jsonl after/results.jsonl --fail-on slower"
    )]
    Bench(BenchArguments),
    /// List the datasets that the papers used and which of them are present, or download them
    #[cfg(feature = "bench")]
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "Examples:\n  warpath datasets --data graphs/\n  warpath datasets get road-ny --data graphs/"
    )]
    Datasets(DatasetsArguments),
    /// Print completions for a shell, or write man pages
    #[command(after_help = "Examples:\n  warpath completions bash > /etc/bash_completion.d/warpath\n  \
                            warpath completions man --directory /usr/local/share/man/man1")]
    Completions(CompletionsArguments),
}

impl Command {
    /// The name of the command, and whether its output is one JSON object.
    pub(crate) fn name_and_json(&self) -> (&'static str, bool) {
        match self {
            Command::Bfs(arguments) => ("bfs", arguments.solving.common.json),
            Command::Sssp(arguments) => ("sssp", arguments.solving.common.json),
            Command::Apsp(arguments) => ("apsp", arguments.solving.common.json),
            Command::Table(arguments) => ("table", arguments.solving.common.json),
            Command::Centrality(arguments) => ("centrality", arguments.solving.common.json),
            Command::Closure(arguments) => ("closure", arguments.solving.common.json),
            Command::Path(arguments) => ("path", arguments.solving.common.json),
            Command::Components(arguments) => ("components", arguments.common.json),
            Command::Info(arguments) => ("info", arguments.common.json),
            Command::Convert(arguments) => ("convert", arguments.common.json),
            Command::Prepare(arguments) => ("prepare", arguments.common.json),
            Command::Generate(arguments) => ("generate", arguments.common.json),
            Command::Devices(arguments) => ("devices", arguments.json),
            #[cfg(feature = "bench")]
            Command::Bench(_) => ("bench", false),
            #[cfg(feature = "bench")]
            Command::Datasets(arguments) => ("datasets", arguments.json),
            Command::Completions(_) => ("completions", false),
        }
    }
}

/// Limits on resources, and what is printed, for every command that has a graph.
#[derive(Debug, Args)]
pub struct CommonArguments {
    /// Number of threads; at most one for each core is used [default: one for each core]
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Running")]
    pub threads: Option<u32>,
    /// The most memory to use, such as 500M or 8G: this much for reading or generating the graph, the graph included,
    /// and then as much again for solving, beyond the graph. With `--engine cuda` it limits the memory of each GPU, the
    /// graph included, and reading takes what is available [default: what is available]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, allow_negative_numbers = true, help_heading = "Running")]
    pub memory: Option<u64>,
    /// Print one JSON object on standard output
    #[arg(long, help_heading = "Printing")]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long, short, conflicts_with = "json", help_heading = "Printing")]
    pub quiet: bool,
    /// When to show on standard error how far the work is
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, conflicts_with = "quiet", help_heading = "Printing")]
    pub progress: ShowProgress,
}

impl CommonArguments {
    /// When to show progress; never if the command is to be quiet.
    pub(crate) fn shown_progress(&self) -> ShowProgress {
        if self.quiet { ShowProgress::Never } else { self.progress }
    }
}

/// When progress is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ShowProgress {
    /// As a bar if standard error is a terminal; elsewhere as a line now and then, from 30 seconds on
    #[default]
    Auto,
    /// Never
    Never,
    /// Also if standard error is no terminal: then as a line now and then
    Always,
}

/// The engine.
#[derive(Debug, Args)]
pub struct EngineArguments {
    /// The engine: auto, cpu, or cuda[:N[,N..]|:all] for GPUs; for `bfs`, `sssp`, `apsp`, `path`, `info` and `components` also `mpi[:OPTION[,OPTION]]`, in builds with the
    /// feature `mpi`: all ranks of an MPI run, which `mpirun` starts, work together. The options are `cpu` or `cuda` (a GPU for each rank;
    /// if neither is given, GPUs where each rank has one for itself), `messages=mpi` (messages between GPUs go through the hosts' memory),
    /// with `cuda` also `messages=cuda-aware` or `messages=nccl` (MPI or NCCL carries them from GPU to GPU; if nothing is said, MPI does where
    /// it says that it can, or NCCL on one host where that is predicted to be quicker), `parts=consecutive` or `parts=N` (a search shares the vertices out as they are numbered, or in blocks of N in
    /// turn; if neither is given, ranks on cores take blocks where most arcs lead to near vertices) and `timeout=SECONDS`
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = "Running")]
    pub engine: String,
}

impl EngineArguments {
    /// Whether the ranks of an MPI run answer.
    pub(crate) fn is_mpi(&self) -> bool {
        is_mpi(&self.engine)
    }
}

/// Whether this names the ranks of an MPI run.
pub(crate) fn is_mpi(engine: &str) -> bool {
    engine == "mpi" || engine.starts_with("mpi:")
}

/// Whether to plan instead of working.
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// Print the memory and disk space that the work would take, and stop; exit code 3 if it does not fit
    #[arg(long, help_heading = "Running")]
    pub plan: bool,
    /// With `--plan --engine mpi`: plan for so many ranks, of which none is started, and predict what each will send in a
    /// breadth-first search of kron, uniform or grid, to find their components, or for a matrix that they share
    #[cfg(feature = "mpi")]
    #[arg(long, value_name = "N", requires = "plan", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Running")]
    pub ranks: Option<u32>,
}

/// How a problem is solved, and what is printed about it.
#[derive(Debug, Args)]
pub struct SolvingArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub engine: EngineArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: CommonArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub plan: PlanArguments,
    /// Print the algorithm's counters; on a GPU, shortest paths then also collect the counters that cost time, unless
    /// they search from many sources at once
    #[arg(long, help_heading = "Printing")]
    pub statistics: bool,
    /// Explain the choice of engine and algorithm
    #[arg(long, short, conflicts_with = "quiet", help_heading = "Printing")]
    pub verbose: bool,
}

/// The algorithm.
#[derive(Debug, Args)]
pub struct AlgorithmArguments {
    /// The algorithm with its parameters [default: the one predicted to be fastest; `warpath devices` lists them]
    #[arg(long, value_name = "NAME[:key=value,..]", help_heading = "Running")]
    pub algorithm: Option<String>,
}

/// Sources, targets and outputs of a search.
#[derive(Debug, Args)]
pub struct SearchArguments {
    /// The source. Distances are from the nearest one if there are several; the .csv then has a column `source`
    #[arg(long, short, value_name = "VERTEX", num_args = 1.., allow_negative_numbers = true, required_unless_present = "sources")]
    pub source: Vec<String>,
    /// A file with one source per line; each source gets its own result
    #[arg(long, value_name = "FILE", conflicts_with = "source", value_hint = ValueHint::FilePath)]
    pub sources: Option<PathBuf>,
    /// Print the distances of these vertices, and stop when all are settled; vertices farther than the farthest of them
    /// are not reported
    #[arg(long, short, value_name = "VERTEX", num_args = 1.., allow_negative_numbers = true)]
    pub target: Vec<String>,
    /// Report only vertices within this distance
    #[arg(long, value_name = "DISTANCE", allow_negative_numbers = true)]
    pub cutoff: Option<String>,
    /// Follow arcs backwards: the distances are those from every vertex to the source
    #[arg(long)]
    pub reverse: bool,
    /// Also find the predecessor of every vertex (with --reverse its successor, the next vertex on the way)
    #[arg(long, short)]
    pub predecessors: bool,
    /// Write vertex,distance (and predecessor) to this .csv (`-` for standard output), the distances of all vertices to
    /// this .npy, or to this .geojson a point with its distance for each vertex (with `--predecessors` a line for each
    /// edge of the tree). An unreachable vertex has an empty distance in the .csv; in the .npy it has the greatest value
    /// of an integer type (4294967295 for u32), or infinity. A table can also be a .tsv, packed as .csv.gz or .csv.zst, or a .parquet (in builds with the feature `parquet`)
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Also write rows to the .csv for the vertices that --cutoff or --target leaves out, with empty distances
    #[arg(long, requires = "output")]
    pub all_rows: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub map: MapArguments,
    /// Check the result against the graph: every distance is that of a path, and no edge leads to a shorter one
    #[arg(long)]
    pub verify: bool,
}

/// `warpath bfs`.
#[derive(Debug, Args)]
pub struct BfsArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub search: SearchArguments,
    /// Count the shortest paths to each vertex; the .csv gets a column `paths`. Counts have 64 bits: where there are
    /// more paths, it says `>=18446744073709551615`, and a .parquet null
    #[arg(long)]
    pub count_paths: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub algorithm: AlgorithmArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub solving: SolvingArguments,
}

/// `warpath sssp`.
#[derive(Debug, Args)]
pub struct SsspArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub search: SearchArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub isochrones: IsochroneArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub algorithm: AlgorithmArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub solving: SolvingArguments,
}

/// `warpath closure`.
#[derive(Debug, Args)]
pub struct ClosureArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    /// Let a vertex reach itself only over at least one edge
    #[arg(long)]
    pub irreflexive: bool,
    /// Write the matrix of booleans to this .npy, or vertex,reachable counts to this .csv (`-` for standard output), which
    /// can also be a .tsv, packed as .csv.gz or .csv.zst, or a .parquet (in builds with the feature `parquet`)
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Check the result against the graph
    #[arg(long)]
    pub verify: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub algorithm: AlgorithmArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub solving: SolvingArguments,
}

/// `warpath path`.
#[derive(Debug, Args)]
pub struct PathArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    /// The vertex to start from
    #[arg(value_name = "FROM", allow_negative_numbers = true, required_unless_present = "pairs")]
    pub from: Option<String>,
    /// The vertex to arrive at
    #[arg(value_name = "TO", allow_negative_numbers = true, required_unless_present = "pairs")]
    pub to: Option<String>,
    /// A file (`-` for standard input) with a pair of vertices per line, such as `alice,bob` or `17 4`, in place of FROM
    /// and TO. Prints the lines source,target,distance; the distance is empty where the target can't be reached
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "to"], value_hint = ValueHint::FilePath)]
    pub pairs: Option<PathBuf>,
    /// Find this many paths, the shortest first, none of which visits a vertex twice; fewer if there are not so many
    #[arg(long, value_name = "N", conflicts_with = "pairs", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub k: Option<u32>,
    /// Write the paths to this .csv (`-` for standard output): for each vertex the distance up to it and the weight of
    /// the edge to it, with the pair or the number of the path in front if there are several; or as lines to this
    /// .geojson. A table can also be a .tsv, packed as .csv.gz or .csv.zst, or a .parquet (in builds with the feature `parquet`)
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub map: MapArguments,
    /// Check that the path exists and that no other is shorter
    #[arg(long)]
    pub verify: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub solving: SolvingArguments,
}

/// `warpath components`.
#[derive(Debug, Args)]
pub struct ComponentsArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    /// Find the strongly connected components, in which there is a path from every vertex to every other. Without this
    /// option, directions do not matter
    #[arg(long)]
    pub strong: bool,
    /// Write vertex,component to this .csv (`-` for standard output), or the components of all vertices to this .npy.
    /// Components are numbered from 0; strong ones so that arcs between two lead to the lower number. A table can also be
    /// a .tsv, packed as .csv.gz or .csv.zst, or a .parquet (in builds with the feature `parquet`)
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// The engine: auto or cpu; or mpi[:timeout=SECONDS], in builds with the feature `mpi`: all ranks of an MPI run, which `mpirun`
    /// starts, find the weak components together, on their cores
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = "Running")]
    pub engine: String,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: CommonArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub plan: PlanArguments,
}

/// `warpath info`.
#[derive(Debug, Args)]
pub struct InfoArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub engine: EngineArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: CommonArguments,
}

/// `warpath convert` and `warpath generate`.
#[derive(Debug, Args)]
pub struct ConvertArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    /// The file to write (`-` for standard output); its extension determines the format and the compression. Edge lists
    /// and .wpg keep the names of vertices, other formats number them. From .wpg to .wpg, a hierarchy is kept as well
    #[arg(value_name = "OUTPUT", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// The format to write, instead of the one that the extension names
    #[arg(long, value_name = "NAME",
          value_parser = clap::builder::PossibleValuesParser::new(warpath::Format::written().map(warpath::Format::name)))]
    pub output_format: Option<String>,
    /// Also write where the vertices of a generated graph lie (`grid`, `rgg` and `roads` know it): to this DIMACS .co, in
    /// millionths, or this .csv; both can be packed, as .csv.gz or .csv.zst
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub coordinates_output: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: CommonArguments,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub plan: PlanArguments,
}

/// `warpath prepare`.
#[derive(Debug, Args)]
pub struct PrepareArguments {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub graph: GraphArguments,
    /// The .wpg to write (`-` for standard output): the graph with its hierarchy, which can also be packed, as .wpg.zst
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// A file with one vertex per line, the one to be eliminated first in the first line [default: an order by nested
    /// dissection]. The better the order, the fewer shortcuts; distances don't depend on it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub order: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub common: CommonArguments,
}

/// `warpath devices`.
#[derive(Debug, Args)]
pub struct DevicesArguments {
    /// Print one JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

/// `warpath completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell, or `man` for man pages
    #[arg(value_enum)]
    pub what: Completion,
    /// The folder for man pages
    #[arg(long, value_name = "DIRECTORY", default_value = ".", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
}

/// What `warpath completions` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Completion {
    /// Completions for bash
    Bash,
    /// Completions for zsh
    Zsh,
    /// Completions for fish
    Fish,
    /// Completions for PowerShell
    Powershell,
    /// Completions for elvish
    Elvish,
    /// Man pages, one for each command
    Man,
}

/// Parses a number of bytes: plain, or with K, M, G or T (powers of 1,024; `KB`, `KiB` and so on are the same).
fn parse_bytes(text: &str) -> Result<u64, String> {
    let bad = || format!("`{text}` is not a number of bytes such as 500M or 8G");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(bad()),
    };
    let bytes = number.parse::<f64>().map_err(|_| bad())? * f64::from(1 << (shift / 2)) * f64::from(1 << (shift / 2));
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(bad()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn bytes_have_units() {
        assert_eq!(parse_bytes("500"), Ok(500));
        assert_eq!(parse_bytes("1.5k"), Ok(1536));
        assert_eq!(parse_bytes("8GiB"), Ok(8 << 30));
        assert_eq!(parse_bytes("2TB"), Ok(2 << 40));
        for bad in ["", "0", "x", "-1", "1e3", "3 apples", "G", "1..2"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
