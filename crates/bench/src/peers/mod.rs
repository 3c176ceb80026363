//! Other programs, run on the same graph with the same sources and weights; their answers are compared.
//!
//! [`linked`] are Rust packages, built in with the feature `peers` and run by [`worker`]s; [`python`] are Python packages, run by a small
//! script that reports which are installed; [`programs`] are those of GAP, Wasp and PASGAL. The clock covers the
//! search on a graph that the peer has prepared in its own form. A missing peer gets a row that says so. Peers that prepare
//! a graph for many questions are in [`crate::jobs`].

#[cfg(feature = "peers")]
pub(crate) mod link;
mod linked;
pub(crate) mod messages;
#[cfg(feature = "peers")]
pub(crate) mod packages;
mod process;
mod programs;
mod python;
pub(crate) mod runner;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;

use warpath::graph::WeightKind;
use warpath::problems::Problem;
use warpath::{Error, Result};

pub(crate) use self::worker::Workers;
use crate::measure::{Outcome, References, Task, Watch};
use crate::results::{Clock, Spread, Status, Times};

/// All peers.
pub const NAMES: [&str; 15] = [
    "petgraph",
    "rustworkx-core",
    "graph",
    "gap",
    "wasp",
    "pasgal",
    "scipy",
    "networkx",
    "igraph",
    "networkit",
    "rustworkx",
    "python-graphblas",
    "pylibcugraph",
    "fast_paths",
    "routingkit-cch",
];

/// The places of peers that are programs of their own.
#[derive(Debug, Clone)]
pub struct Tools {
    /// The Python that has the packages.
    pub python: PathBuf,
    /// The folder of GAP's programs.
    pub gap: Option<PathBuf>,
    /// The folder of Wasp, with its programs in `build/`.
    pub wasp: Option<PathBuf>,
    /// The folder of PASGAL.
    pub pasgal: Option<PathBuf>,
    /// The program, with its arguments, that calls `serve` with the path that follows them; `None` if no packages are
    /// linked in.
    pub worker: Option<Vec<OsString>>,
}

impl Tools {
    /// Reads the environment: `$WARPATH_PYTHON`, `python3` if it is not set, `$GAPBS`, `$WASP` and `$PASGAL`. There is no worker.
    pub fn from_environment() -> Self {
        Tools {
            python: std::env::var_os("WARPATH_PYTHON").map_or_else(|| "python3".into(), PathBuf::from),
            gap: std::env::var_os("GAPBS").map(PathBuf::from),
            wasp: std::env::var_os("WASP").map(PathBuf::from),
            pasgal: std::env::var_os("PASGAL").map(PathBuf::from),
            worker: None,
        }
    }

    /// These places, of which all programs have one, and the program of the tests as a worker.
    #[cfg(test)]
    pub(crate) fn for_tests(python: PathBuf, folder: Option<PathBuf>) -> Self {
        let worker = || {
            let program = std::env::current_exe().unwrap().into();
            let arguments = ["--ignored", "--exact", "--nocapture", "serve::tests::work"].map(OsString::from);
            [vec![program], arguments.to_vec()].concat()
        };
        let [gap, wasp, pasgal] = [folder.clone(), folder.clone(), folder];
        Tools { python, gap, wasp, pasgal, worker: cfg!(feature = "peers").then(worker) }
    }
}

/// The measurements of a peer.
struct Peered {
    /// The peer, with its version.
    name: String,
    prepare: f64,
    samples: Vec<Vec<f64>>,
    answers: Vec<crate::digest::Digest>,
    detail: Option<String>,
}

/// Measures a case with another program.
pub(crate) fn measure(
    task: &Task<'_>,
    tools: &Tools,
    workers: &mut Workers,
    references: &mut References,
) -> Result<Outcome> {
    let watch = Watch::new(task.control);
    let unavailable = |text: String| Ok(Outcome::without_times(Status::Unavailable, text));
    if !matches!(task.problem, Problem::Bfs | Problem::Sssp) {
        return unavailable("peers are compared in searches from a source".into());
    }
    if task.problem == Problem::Sssp && task.graph.weight_kind() != WeightKind::U32 {
        return unavailable("peers are compared with weights that are whole numbers without sign".into());
    }
    let peer = task.case.algorithm.as_deref().unwrap_or_default();
    let peered = match peer {
        "petgraph" | "rustworkx-core" | "graph" => linked::run(task, peer, tools, workers, (references, &watch)),
        "fast_paths" | "routingkit-cch" => Ok(Some(Err("compared in jobs alone: the suite `hierarchies`".into()))),
        _ => match programs::run(task, peer, tools, references, &watch) {
            Some(answer) => answer,
            None => python::run(task, peer, tools, references, &watch),
        },
    };
    match peered {
        Ok(Some(Ok(peered))) if !peered.samples.is_empty() => Ok(Outcome {
            status: Status::Measured,
            detail: peered.detail,
            algorithm: Some(peered.name),
            ran_on: None,
            seconds: Some(Times {
                clock: Clock::Peer,
                prepare: peered.prepare,
                solve: Spread::of(&peered.samples),
                host: Spread::of(&peered.samples).median,
                download: 0.0,
                samples: peered.samples,
                host_samples: Vec::new(),
            }),
            answers: peered.answers,
            counters: Vec::new(),
            device_bytes: 0,
        }),
        Ok(Some(Ok(_))) => Ok(Outcome::without_times(Status::Failed, "it found nothing")),
        Ok(Some(Err(absent))) => unavailable(absent),
        Ok(None) => {
            Ok(Outcome::without_times(Status::Timeout, format!("a search took more than {} s", task.limits.timeout)))
        }
        Err(_) if task.control.is_cancelled() => Err(Error::Interrupted),
        Err(Error::Interrupted) => {
            Ok(Outcome::without_times(Status::Timeout, format!("it took more than {} s", task.limits.timeout)))
        }
        Err(error @ Error::NotVerified(_)) => Ok(Outcome::without_times(Status::Wrong, error.to_string())),
        Err(error) => Ok(Outcome::without_times(Status::Failed, error.to_string())),
    }
}

/// A peer's result: nothing if it was too slow, the reason why it is missing, or its measurements.
type Answer = Result<Option<std::result::Result<Peered, String>>>;

/// The reason why a linked package is missing.
pub(crate) fn not_built_in(package: &str) -> String {
    format!("{package} is not built in; build with the feature `peers`")
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use warpath::{Control, Engine};

    use super::*;
    use crate::results::Results;
    use crate::{Options, Suite, run};

    fn peers(tools: Tools) -> Results {
        suite("peers", tools)
    }

    fn suite(name: &str, tools: Tools) -> Results {
        let options = Options {
            quick: true,
            engine: Engine::Cpu,
            scale: Some(6),
            timeout: None,
            budget: None,
            experiments: Vec::new(),
            graphs: Vec::new(),
            data: None,
            output: None,
            resume: false,
            tools,
        };
        run(&Suite::named(name).unwrap(), &options, &Control::new(), &mut |_| ()).unwrap()
    }

    fn program(path: &Path, text: &str) {
        std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn what_is_there_is_compared_and_what_is_not_says_so() {
        let results = peers(Tools::for_tests("/nowhere/python".into(), None));
        for row in &results.rows {
            let detail = row.detail.as_deref().unwrap_or_default();
            let expected = match row.series.as_str() {
                "Warpath on the CPU" => Status::Measured,
                "petgraph" | "rustworkx-core" | "graph" if cfg!(feature = "peers") => Status::Measured,
                _ => Status::Unavailable,
            };
            assert_eq!(row.status, expected, "{}: {detail}", row.key());
            assert!(row.status == Status::Measured || !detail.is_empty());
        }
        assert!(results.rows.iter().any(|row| row.detail.as_deref() == Some("there is no /nowhere/python")));
        if cfg!(feature = "peers") {
            let named = |name: &str| results.rows.iter().any(|row| row.algorithm.starts_with(name));
            let lock = include_str!("../../../../Cargo.lock");
            for (peer, after) in [("petgraph", ", Csr"), ("rustworkx-core", ""), ("graph", ", delta")] {
                let (_, rest) = lock.split_once(&format!("name = \"{peer}\"\nversion = \"")).unwrap();
                let version = rest.split('"').next().unwrap();
                assert!(named(&format!("{peer} {version}{after}")), "{peer} {version}");
            }
        }
    }

    #[test]
    fn a_peer_with_a_wrong_answer_has_no_time() {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python");
        program(
            &python,
            r#"echo '{"version": "7", "prepare": 0.1}'
               echo chatter
               echo '{"source": 0, "seconds": 0.1, "reached": 1, "sum": 0, "greatest": 0}'"#,
        );
        program(&folder.path().join("bfs"), "echo 'BFS Tree has 1 nodes and 1 edges'; echo 'Trial Time: 0.1'");
        let results = peers(Tools::for_tests(python, Some(folder.path().to_owned())));
        for name in ["SciPy", "GAP"] {
            let row = results.rows.iter().find(|row| row.series == name && row.problem == "bfs").unwrap();
            assert_eq!(row.status, Status::Wrong, "{:?}", row.detail);
            assert!(row.seconds.is_none());
        }
        assert!(results.wrong() > 0);
    }

    /// The output of GAP's programs, without the times.
    const GAP: &str = r#"
        echo 'Read Time:           0.25000'
        echo 'Build Time:          0.50000'
        while [ "$1" != -n ]; do shift; done
        for trial in $(seq "$2"); do echo 'Trial Time:          0.00100'; done
        echo 'BFS Tree has REACHED nodes and 1 edges'
        echo 'Verification:           PASS'"#;

    #[test]
    fn programs_of_gap_have_a_version_and_a_time_to_prepare() {
        let folder = tempfile::tempdir().unwrap();
        let of_folder = |gap: &Path| Tools::for_tests("/nowhere/python".into(), Some(gap.to_owned()));
        let without = peers(Tools::for_tests("/nowhere/python".into(), None));
        let reference = without.rows.iter().find(|row| row.problem == "bfs" && row.status == Status::Measured).unwrap();
        let reached = reference.answers[0].reached.to_string();
        program(&folder.path().join("bfs"), &GAP.replace("REACHED", &reached));
        let of_gap = |results: &Results| {
            let of_graph = |row: &&crate::results::Row| {
                row.series == "GAP" && row.problem == "bfs" && row.graph == reference.graph
            };
            results.rows.iter().find(of_graph).unwrap().clone()
        };
        let row = of_gap(&peers(of_folder(folder.path())));
        assert_eq!(row.status, Status::Measured, "{:?}", row.detail);
        assert_eq!(row.seconds.as_ref().unwrap().prepare, 0.75);
        let digits = row.algorithm.strip_prefix("GAP bfs (SHA-256 ").and_then(|rest| rest.strip_suffix(')')).unwrap();
        assert!(digits.len() == 12 && digits.chars().all(|digit| digit.is_ascii_hexdigit()), "{digits}");
        // A folder within another repository has no commit of its own.
        let git = |arguments: &[&str]| {
            let mut command = std::process::Command::new("git");
            command.arg("-C").arg(folder.path()).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]);
            command.args(arguments).output().is_ok_and(|output| output.status.success())
        };
        if !git(&["init", "-q"]) {
            return;
        }
        assert!(git(&["add", "."]) && git(&["commit", "-q", "-m", "x"]));
        assert!(of_gap(&peers(of_folder(folder.path()))).algorithm.starts_with("GAP bfs (commit "));
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::copy(folder.path().join("bfs"), inner.join("bfs")).unwrap();
        assert_eq!(of_gap(&peers(of_folder(&inner))).algorithm, row.algorithm);
    }

    /// Answers in turn, one for each search that is verified.
    const IN_TURN: &str = r#"
        place=$(dirname "$0")/turn
        turn=$(cat "$place" 2>/dev/null || echo 0)
        case " $* " in *" -v "*) echo $((turn + 1)) >"$place";; esac"#;

    #[test]
    fn programs_of_wasp_and_pasgal_are_held_to_what_they_tell() {
        let folder = tempfile::tempdir().unwrap();
        let tools = || Tools::for_tests("/nowhere/python".into(), Some(folder.path().to_owned()));
        for place in ["build/src", "src/SSSP"] {
            std::fs::create_dir_all(folder.path().join(place)).unwrap();
        }
        let of = |results: &Results, series: &str, graph: &str| {
            let is_it = |row: &&crate::results::Row| {
                (row.series.as_str(), row.problem.as_str(), row.graph.as_str()) == (series, "sssp", graph)
            };
            results.rows.iter().find(is_it).unwrap().clone()
        };
        let before = suite("parallel", tools());
        assert_eq!(of(&before, "Wasp", "kron").status, Status::Unavailable);
        let answers = of(&before, "Warpath on the CPU", "kron").answers;
        // With a greatest distance that is too large by `wrong`.
        let write = |wrong: u64| {
            let (mut wasp, mut pasgal) = (format!("{IN_TURN}\ncase $turn in"), format!("{IN_TURN}\ncase $turn in"));
            for (turn, answer) in answers.iter().enumerate() {
                let (reached, sum) = (answer.reached, answer.sum.parse::<u64>().unwrap());
                let greatest = answer.greatest.as_ref().unwrap().parse::<u64>().unwrap();
                wasp += &format!(
                    "\n{turn}) echo 'SSSP Tree reaches {reached} nodes'; echo 'Max dist {}';;",
                    greatest + wrong
                );
                // As many distances, with this sum and this greatest one.
                let (each, more) = ((sum - greatest) / (reached - 1), (sum - greatest) % (reached - 1));
                pasgal += &format!(
                    "\n{turn}) (echo 4294967295; echo {}; yes {} | head -n {more}; yes {each} | head -n {}) >sssp.out;;",
                    greatest + wrong,
                    each + 1,
                    reached - 1 - more
                );
            }
            wasp += "\nesac\necho 'Read Time:           0.25000'\nwhile [ \"$1\" != -n ]; do shift; done\n\
                     for trial in $(seq \"$2\"); do echo 'External Trial Time: 0.00100'; done\n\
                     echo 'Verification:           PASS'";
            pasgal += "\nesac\necho 'Warmup Round: 0.5'\n\
                       for round in 0 1 2 3 4; do echo \"Round $round: 0.00200\"; done\necho 'Passed!'";
            program(&folder.path().join("build/src/sssp-int32"), &wasp);
            program(&folder.path().join("src/SSSP/sssp"), &pasgal);
        };
        for (wrong, status) in [(0, Status::Measured), (1, Status::Wrong)] {
            write(wrong);
            for place in ["build/src/turn", "src/SSSP/turn"] {
                std::fs::remove_file(folder.path().join(place)).ok();
            }
            let results = suite("parallel", tools());
            for (series, median) in [("Wasp", 0.001), ("PASGAL", 0.002)] {
                let row = of(&results, series, "kron");
                assert_eq!(row.status, status, "{series}: {:?}", row.detail);
                assert_eq!(row.seconds.map(|seconds| seconds.host), (wrong == 0).then_some(median), "{series}");
            }
        }
    }

    #[test]
    fn a_peer_that_fails_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python");
        program(&python, "echo 'Traceback' >&2; echo 'MemoryError: too much' >&2; exit 1");
        let results = peers(Tools::for_tests(python, Some(folder.path().to_owned())));
        let row = results.rows.iter().find(|row| row.series == "NetworkX").unwrap();
        assert_eq!(row.status, Status::Failed);
        assert!(row.detail.as_deref().unwrap().contains("MemoryError"), "{:?}", row.detail);
    }

    #[test]
    fn a_program_ends_when_its_time_is_up() {
        let start = std::time::Instant::now();
        let mut command = std::process::Command::new("sleep");
        let ended = process::run(command.arg("60"), 0.1, &Control::new()).unwrap();
        assert!(ended.is_none() && start.elapsed().as_secs() < 30);
    }
}
