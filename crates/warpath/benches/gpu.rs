//! Searches on a GPU, timed by its own clock and checked against the CPU.
//!
//! ```sh
//! cargo bench -p warpath --bench gpu -- kron:20 roads.gr            # every fast algorithm that suits
//! cargo bench -p warpath --bench gpu -- grid:1000x1000 --algorithm multi-hop:radius=4
//! cargo bench -p warpath --bench gpu -- kron:20 --sources 1000      # so many searches in one call, time for each of them
//! cargo bench -p warpath --bench gpu -- --problem sssp roads.gr     # shortest paths, with the weights of the file
//! cargo bench -p warpath --bench gpu -- --problem sssp kron:20 --weights 1..255  # with random ones
//! cargo bench -p warpath --bench gpu -- --problem sssp roads.gr --sources 1024   # in one call
//! cargo bench -p warpath --bench gpu -- --problem sssp kron:20 --memory 100000000  # with so much of its memory
//! cargo bench -p warpath --bench gpu -- --predecessors kron:20      # and predecessors, compared with the CPU's, too
//! cargo bench -p warpath --bench gpu -- --problem apsp dense:4096 --type f32     # all pairs, with weights as floats
//! cargo bench -p warpath --bench gpu -- --problem apsp kron:13 --into matrix     # all rows, to the host
//! cargo bench -p warpath --bench gpu -- --problem apsp kron:16 --into facts      # all rows, summed up on the device
//! cargo bench -p warpath --bench gpu -- --problem apsp roads.wpg --into facts --sources 16384   # rows of so many sources
//! cargo bench -p warpath --bench gpu -- --problem apsp dense:4096 --into successors   # and the successors of all pairs
//! cargo bench -p warpath --bench gpu -- --problem apsp grid:250x250,weights=1..1000 --algorithm hierarchy --into facts --new-weights
//!                                                                    # weights are new in each run: customization is timed, too
//! cargo bench -p warpath --bench gpu -- --problem apsp uniform:16 --engine cuda:0,1  # on two GPUs
//! cargo bench -p warpath --bench gpu -- --problem apsp uniform:16 --memory 8000000000  # with so much of its memory
//! ```
//!
//! Each of eight sources in the largest component gets five timed searches, after one to warm up. A search is timed
//! from a prepared graph on the device to final distances on the device, initialization included. The bench prints the
//! median of the medians, and the least and greatest median. With `--sources N` it times N searches in one call, or all pairs from N sources, five
//! times, after one call to warm up. The host times preparing (upload included), downloading and everything else. Every
//! answer is compared with the CPU engine's; with many searches in one call, only the answers of the first call.

#[path = "gpu/apsp.rs"]
mod apsp;

use std::sync::Arc;
use std::time::Instant;

use warpath::generate::DEFAULT_SEED;
use warpath::graph::weakly_connected_components;
use warpath::{Bfs, Engine, Graph, Result, ShortestPathTree, Solver, Sssp, VertexId};

const SOURCES: usize = 8;
const RUNS: usize = 5;
const DEFAULT_GRAPHS: [&str; 3] = ["kron:18", "uniform:18", "grid:512x512"];

/// The problem to solve.
#[derive(Clone, Copy)]
enum Problem {
    Bfs,
    Sssp,
}

/// The problem to solve, and whether predecessors are wanted.
#[derive(Clone, Copy)]
struct Wanted {
    problem: Problem,
    predecessors: bool,
}

impl Wanted {
    /// Runs one search.
    fn solve(self, solver: &Solver, source: VertexId, algorithm: Option<&str>) -> Result<ShortestPathTree> {
        match self.problem {
            Problem::Bfs => solver.solve(self.bfs(source, algorithm)),
            Problem::Sssp => solver.solve(self.sssp(source, algorithm)),
        }
    }

    /// Runs one search for each source, in one call.
    fn solve_each(
        self,
        solver: &Solver,
        sources: &[VertexId],
        algorithm: Option<&str>,
        each: impl FnMut(ShortestPathTree) -> Result<()> + Send,
    ) -> Result<()> {
        match self.problem {
            Problem::Bfs => solver.solve_each(self.bfs(0, algorithm), sources, each),
            Problem::Sssp => solver.solve_each(self.sssp(0, algorithm), sources, each),
        }
    }

    fn bfs(self, source: VertexId, algorithm: Option<&str>) -> Bfs {
        let request = Bfs::from(source);
        let request = if self.predecessors { request } else { request.distances_only() };
        algorithm.into_iter().fold(request, |request, algorithm| request.algorithm(algorithm))
    }

    fn sssp(self, source: VertexId, algorithm: Option<&str>) -> Sssp {
        let request = Sssp::from(source);
        let request = if self.predecessors { request } else { request.distances_only() };
        algorithm.into_iter().fold(request, |request, algorithm| request.algorithm(algorithm))
    }
}

/// The arguments of the command line.
struct Arguments {
    wanted: Wanted,
    all_pairs: bool,
    into: apsp::Into,
    /// The type of weight, for all pairs.
    kind: Option<String>,
    engine: Engine,
    memory: Option<u64>,
    /// Whether weights are new in each run, for all pairs.
    new_weights: bool,
    /// The range of random weights.
    weights: Option<(i64, i64)>,
    graphs: Vec<String>,
    algorithms: Vec<String>,
    /// How many searches run in one call.
    together: Option<usize>,
}

impl Arguments {
    fn parse() -> Self {
        let mut parsed = Arguments {
            wanted: Wanted { problem: Problem::Bfs, predecessors: false },
            all_pairs: false,
            into: apsp::Into::Sample,
            kind: None,
            engine: Engine::Cuda(vec![0]),
            memory: None,
            new_weights: false,
            weights: None,
            graphs: Vec::new(),
            algorithms: Vec::new(),
            together: None,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--algorithm" => parsed.algorithms.extend(arguments.next()),
                "--sources" => {
                    parsed.together = arguments.next().map(|count| count.parse().expect("--sources takes a number"))
                }
                "--problem" => match arguments.next().as_deref() {
                    Some("apsp") => parsed.all_pairs = true,
                    Some("bfs") => (parsed.all_pairs, parsed.wanted.problem) = (false, Problem::Bfs),
                    Some("sssp") => (parsed.all_pairs, parsed.wanted.problem) = (false, Problem::Sssp),
                    _ => panic!("--problem takes bfs, sssp or apsp"),
                },
                "--weights" => parsed.weights = arguments.next().map(|range| parse_range(&range)),
                "--type" => parsed.kind = arguments.next(),
                "--into" => parsed.into = apsp::Into::parse(arguments.next().as_deref()),
                "--engine" => {
                    if let Some(name) = arguments.next() {
                        parsed.engine = name.parse().expect("--engine takes an engine");
                    }
                }
                "--memory" => {
                    parsed.memory =
                        arguments.next().map(|bytes| bytes.parse().expect("--memory takes a number of bytes"))
                }
                "--new-weights" => parsed.new_weights = true,
                "--predecessors" => parsed.wanted.predecessors = true,
                "--bench" => {}
                _ => parsed.graphs.push(argument),
            }
        }
        if parsed.graphs.is_empty() {
            parsed.graphs = DEFAULT_GRAPHS.map(str::to_owned).to_vec();
        }
        parsed
    }

    /// What is asked for, for all pairs.
    fn asked(&self, graph: &Graph) -> apsp::Asked<'_> {
        apsp::Asked {
            into: self.into,
            engine: &self.engine,
            memory: self.memory,
            new_weights: self.new_weights,
            sources: self.together.map(|count| sources(graph, count)),
        }
    }

    /// The algorithms to time; `None` stands for the algorithm predicted fastest.
    fn chosen(&self) -> Vec<Option<&str>> {
        if self.algorithms.is_empty() {
            vec![None]
        } else {
            self.algorithms.iter().map(|name| Some(name.as_str())).collect()
        }
    }

    fn graph(&self, name: &str) -> Graph {
        let graph =
            if warpath::generate::Recipe::looks_like(name) { warpath::generate(name) } else { warpath::read(name) };
        graph
            .and_then(|graph| match self.weights {
                Some((low, high)) => graph.with_random_weights(low, high, DEFAULT_SEED),
                None => Ok(graph),
            })
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

fn main() {
    let arguments = Arguments::parse();
    if let Err(error) = warpath::devices() {
        println!("nothing is timed: {error}");
        return;
    }
    print_heading(&arguments);
    for name in &arguments.graphs {
        let graph = arguments.graph(name);
        if arguments.all_pairs {
            let graph = Arc::new(arguments.kind.iter().fold(graph, |graph, kind| apsp::converted(graph, kind)));
            let asked = arguments.asked(&graph);
            for algorithm in arguments.chosen() {
                apsp::time(name, &graph, algorithm, &asked);
            }
            continue;
        }
        let graph = Arc::new(graph);
        let sources = sources(&graph, arguments.together.unwrap_or(SOURCES));
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).open().expect("threads can be started");
        for algorithm in arguments.chosen() {
            let time = if arguments.together.is_some() { many } else { each };
            let solver = Solver::builder(graph.clone()).engine(arguments.engine.clone());
            let solver = arguments.memory.into_iter().fold(solver, |solver, bytes| solver.memory(bytes));
            let gpu = solver.open().expect("the engine can be opened");
            time(arguments.wanted, name, &gpu, algorithm, &sources, &cpu);
        }
    }
}

fn print_heading(arguments: &Arguments) {
    let (milliseconds, of_statistics) = match arguments.together {
        _ if arguments.all_pairs => return apsp::heading(),
        None => ("ms", String::new()),
        Some(count) => ("ms each", format!(" of the first batch; {count} searches in one call")),
    };
    println!(
        "{:<24} {:<34} {milliseconds:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  statistics{of_statistics}",
        "graph", "algorithm", "least", "greatest", "host ms", "prepare", "download"
    );
}

/// Times searches from each source, one call a search, and prints the median time: by the device's clock and by the
/// host's.
fn each(wanted: Wanted, name: &str, gpu: &Solver, algorithm: Option<&str>, sources: &[VertexId], cpu: &Solver) {
    let (mut on_device, mut on_host, mut downloads) = (Vec::new(), Vec::new(), Vec::new());
    let mut derivations = Vec::new();
    let (mut prepare, mut described, mut statistics) = (0.0, String::new(), String::new());
    for &source in sources {
        let expected = wanted.solve(cpu, source, None).expect("the search works");
        let mut times = Vec::new();
        for run in 0..=RUNS {
            let start = Instant::now();
            let tree = match wanted.solve(gpu, source, algorithm) {
                Ok(tree) => tree,
                Err(error) => panic!("{name}, {algorithm:?}: {error}"),
            };
            let host = start.elapsed().as_secs_f64();
            assert_eq!(tree.distances(), expected.distances(), "{name}: the distances differ from the CPU's");
            assert_eq!(tree.predecessors(), expected.predecessors(), "{name}: the predecessors differ");
            let report = tree.report();
            prepare = f64::max(prepare, report.seconds.prepare);
            if run > 0 {
                let nanoseconds =
                    report.statistics.iter().find(|(name, _)| *name == "device_nanoseconds").map(|(_, n)| *n);
                times.push(nanoseconds.map_or(report.seconds.solve, |n| n as f64 * 1e-9));
                on_host.push(host);
                downloads.push(report.seconds.download);
                derivations.push(report.seconds.predecessors);
            }
            described.clone_from(&report.algorithm);
            let shown = report.statistics.iter().filter(|(name, _)| *name != "device_nanoseconds");
            statistics = shown.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
            statistics += &format!(", device_bytes {}", report.device_bytes);
        }
        on_device.push(median(&mut times));
    }
    if wanted.predecessors {
        statistics = format!("predecessors {:.4} ms, {statistics}", median(&mut derivations) * 1e3);
    }
    let middle = median(&mut on_device);
    println!(
        "{:<24} {:<34} {:>9.4} {:>9.4} {:>9.4} {:>9.2} {:>9.1} {:>9.2}  {statistics}",
        name.rsplit('/').next().unwrap_or(name),
        algorithm.unwrap_or(&described),
        middle * 1e3,
        on_device[0] * 1e3,
        on_device[on_device.len() - 1] * 1e3,
        median(&mut on_host) * 1e3,
        prepare * 1e3,
        median(&mut downloads) * 1e3
    );
}

/// Times searches from many sources in one call, and prints the time of each search: by the device's clock, and by the
/// host's clock from the call to the last results on the host. One call warms up; its answers are compared with the CPU
/// engine's. The device's time for a batch is divided among its searches.
fn many(wanted: Wanted, name: &str, gpu: &Solver, algorithm: Option<&str>, sources: &[VertexId], cpu: &Solver) {
    let (mut on_device, mut on_host, mut downloads) = (Vec::new(), Vec::new(), Vec::new());
    let (mut prepare, mut described, mut statistics) = (0.0, String::new(), String::new());
    for run in 0..=RUNS {
        let (mut device, mut download, mut checking, mut index) = (0.0, 0.0, 0.0, 0);
        let start = Instant::now();
        let each = |tree: ShortestPathTree| {
            let report = tree.report();
            let counted =
                |name: &str| report.statistics.iter().find(|(counter, _)| *counter == name).map(|(_, n)| *n as f64);
            let batch = counted("searches_in_a_batch").unwrap_or(1.0);
            device += counted("device_nanoseconds").map_or(report.seconds.solve, |n| n * 1e-9 / batch);
            download += report.seconds.download;
            prepare = f64::max(prepare, report.seconds.prepare);
            if index == 0 {
                described.clone_from(&report.algorithm);
                let shown = report.statistics.iter().filter(|(name, _)| *name != "device_nanoseconds");
                statistics = shown.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
            }
            if run == 0 {
                let start = Instant::now();
                let expected = wanted.solve(cpu, sources[index], None)?;
                assert_eq!(tree.sources(), expected.sources(), "{name}: the trees are not in order");
                assert_eq!(tree.distances(), expected.distances(), "{name}: the distances differ from the CPU's");
                assert_eq!(tree.predecessors(), expected.predecessors(), "{name}: the predecessors differ");
                checking += start.elapsed().as_secs_f64();
            }
            index += 1;
            Ok(())
        };
        if let Err(error) = wanted.solve_each(gpu, sources, algorithm, each) {
            panic!("{name}, {algorithm:?}: {error}");
        }
        assert_eq!(index, sources.len(), "{name}: some trees are missing");
        if run > 0 {
            let searches = sources.len() as f64;
            on_device.push(device / searches);
            on_host.push((start.elapsed().as_secs_f64() - checking) / searches);
            downloads.push(download / searches);
        }
    }
    let middle = median(&mut on_device);
    println!(
        "{:<24} {:<34} {:>9.4} {:>9.4} {:>9.4} {:>9.3} {:>9.1} {:>9.3}  {statistics}",
        name.rsplit('/').next().unwrap_or(name),
        algorithm.unwrap_or(&described),
        middle * 1e3,
        on_device[0] * 1e3,
        on_device[on_device.len() - 1] * 1e3,
        median(&mut on_host) * 1e3,
        prepare * 1e3,
        median(&mut downloads) * 1e3
    );
}

/// Both ends of a range such as `1..255`.
fn parse_range(text: &str) -> (i64, i64) {
    let ends = text.split_once("..").and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    ends.expect("--weights takes a range such as 1..255")
}

/// The median; sorts the values.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Vertices of the largest component, spread over it.
fn sources(graph: &Graph, count: usize) -> Vec<VertexId> {
    let components = weakly_connected_components(graph).expect("there is memory");
    let largest = components.largest().expect("there is memory").expect("the graph has vertices");
    let members: Vec<VertexId> = (0..graph.vertices() as VertexId)
        .filter(|&v| components.of[v as usize] == largest && graph.degree(v) > 0)
        .collect();
    (0..count).map(|index| members[index * members.len() / count]).collect()
}
