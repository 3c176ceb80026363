//! Limits of memory: `RLIMIT_AS`, `RLIMIT_DATA`, and a control group if the machine allows making one.
//!
//! Under any limit, a command names what it lacks, or answers as it does without a limit. Some graphs are packed files
//! that unpack to far more, or have headers that promise more than follows.

use std::cell::OnceCell;
use std::sync::Once;

use super::cgroup::Cgroup;
use super::mutate::{bzip2, gzip, xz, zstandard};
use super::process::{Limits, Process};
use super::{Case, Program, Workshop, answer_of, once, words};
use crate::kernels::at;

pub(super) struct SmallMemory {
    shop: Workshop,
    works: Vec<Work>,
    promises: [OnceCell<Vec<u8>>; PROMISES.len()],
    cgroups: Once,
    /// The least limit: the loader, which is not under test, crashes below.
    least: f64,
}

/// A command under test.
struct Work {
    command: String,
    /// The graph's file, unless the graph is generated.
    graph: Option<&'static str>,
    /// Its output and file without limits.
    answer: OnceCell<(String, Option<Vec<u8>>)>,
}

/// The graphs of the commands: files, and generators.
const GRAPHS: [&str; 7] = ["kron.wpg", "kron.txt", "kron.npz", "kron.txt.gz", "grid.gr.zst", "kron:16", "grid:400x400"];
const COMMANDS: [&str; 8] = [
    "info GRAPH",
    "bfs GRAPH -s 1 --verify",
    "sssp GRAPH -s 1 --verify",
    "sssp GRAPH -s 1 --predecessors -o out.csv",
    "closure GRAPH --verify",
    "apsp GRAPH --sources list --verify -o out.npy",
    "apsp GRAPH --targets list --sources list -o out.csv",
    "convert GRAPH out.mtx",
];
/// Sources and targets.
const LIST: &[u8] = b"1\n2\n3\n";
/// All-pairs work, which does not fit under most limits.
const WHOLE: [&str; 5] = [
    "apsp kron:11 --verify -o out.npy",
    "apsp dense:500 --verify",
    "apsp grid:45x45 --reduce harmonic -o out.csv",
    "closure uniform:12 --verify -o out.npy",
    "bfs kron:20 -s 0",
];

/// Makes a file.
type Make = fn() -> Vec<u8>;

/// Files, by name, that promise or unpack to far more than they hold.
const PROMISES: [(&str, Make); 10] = [
    ("lines.txt.gz", || gzip(&lines())),
    ("lines.txt.zst", || zstandard(&lines())),
    ("spaces.txt.bz2", || bzip2(&[b' '; 64 << 20])),
    ("spaces.txt.xz", || xz(&[b' '; 64 << 20])),
    ("vertices.mtx", || b"%%MatrixMarket matrix coordinate pattern general\n1000000000 1000000000 1\n1 2\n".into()),
    ("edges.mtx", || b"%%MatrixMarket matrix coordinate pattern general\n10 10 4000000000\n1 2\n".into()),
    ("vertices.gr", || b"p sp 1000000000 1\na 1 2 3\n".into()),
    ("edges.gr", || b"p sp 10 4000000000\na 1 2 3\n".into()),
    ("vertices.graph", || b"1000000000 1\n2\n1\n".into()),
    ("numbers.txt", || b"0 4000000000\n".into()),
];

/// Six edges, repeated: little to read while packed, much inside.
fn lines() -> Vec<u8> {
    (0..6).flat_map(|edge| format!("{edge} {}\n", edge + 1).into_bytes().repeat(4 << 20)).collect()
}

impl SmallMemory {
    pub(super) fn prepare(shop: Workshop) -> Result<Self, String> {
        for graph in [
            "generate kron:14 kron.wpg --weights random:1..255 -q",
            "generate grid:300x300 grid.gr.zst --weights random:1..255 -q",
            "convert kron.wpg kron.txt -q",
            "convert kron.wpg kron.npz -q",
            "convert kron.wpg kron.txt.gz -q",
        ] {
            shop.run(graph)?;
        }
        let list = shop.folder.join("list");
        std::fs::write(&list, LIST).map_err(at(&list))?;
        let mut works = Vec::new();
        for graph in GRAPHS {
            for command in COMMANDS {
                let is_file = !graph.contains(':');
                let command = command.replace("GRAPH", graph) + " --json";
                works.push(Work { command, graph: is_file.then_some(graph), answer: OnceCell::new() });
            }
        }
        for command in WHOLE {
            works.push(Work { command: format!("{command} --json"), graph: None, answer: OnceCell::new() });
        }
        let promises = [const { OnceCell::new() }; PROMISES.len()];
        let least = least_to_start(&shop)?;
        Ok(SmallMemory { shop, works, promises, cgroups: Once::new(), least })
    }

    /// The output and file of a command without limits.
    fn answer<'a>(&self, work: &'a Work) -> Result<&'a (String, Option<Vec<u8>>), String> {
        once(&work.answer, || {
            let (said, _) = self.shop.run(&work.command)?;
            let written = output_of(&work.command).map(|output| self.shop.read(output)).transpose()?;
            Ok((answer_of(&said)?, written))
        })
    }

    /// A random limit.
    fn limits<'a>(&self, case: &mut Case<'_>, group: &'a mut Option<Cgroup>) -> Limits<'a> {
        // To 1.5 GB, evenly on a logarithmic scale.
        let bytes = (self.least * (1.5e9 / self.least).powf(case.random.share())) as u64;
        match case.random.below(4) {
            0 => match Cgroup::new(&format!("warpath-torture-{}", std::process::id()), bytes) {
                Ok(made) => Limits { cgroup: Some(group.insert(made)), ..Limits::default() },
                Err(why) => {
                    self.cgroups.call_once(|| println!("small-memory: no control group can be made: {why}"));
                    Limits { address_space: Some(bytes), ..Limits::default() }
                }
            },
            1 => Limits { data: Some(bytes), ..Limits::default() },
            _ => Limits { address_space: Some(bytes), ..Limits::default() },
        }
    }

    /// Runs a command on a file that promises more than it holds: the command refuses or reads it.
    fn promise(&self, case: &mut Case<'_>) -> Result<(), String> {
        let index = case.random.below(PROMISES.len());
        let (name, make) = PROMISES[index];
        case.write(name, once(&self.promises[index], || Ok(make()))?)?;
        let commands = ["info GRAPH", "bfs GRAPH -s 0", "sssp GRAPH -s 1", "convert GRAPH out.wpg"];
        let command = case.random.of(&commands).replace("GRAPH", name);
        let mut group = None;
        let mut limits = self.limits(case, &mut group);
        // Without an address-space limit, a promise could take all of the machine's memory.
        limits.address_space.get_or_insert(8 << 30);
        case.run(&words(&command), limits)?.expect(&[0, 2, 3])
    }
}

/// A size of the address space, in bytes, in which the program starts and says its version. It grows with the program, of
/// which builds without optimization and with all features are several times as large as others.
fn least_to_start(shop: &Workshop) -> Result<f64, String> {
    const STEP: u64 = 4 << 20;
    for bytes in (1..256).map(|steps| steps * STEP) {
        let limits = Limits { address_space: Some(bytes), ..Limits::default() };
        let process = Process::start(&shop.binary, &words("--version"), &shop.folder, "prepare", None, limits)?;
        if process.wait()?.expect(&[0]).is_ok() {
            // Where libraries lie differs from start to start.
            return Ok((bytes + STEP) as f64);
        }
    }
    Err("preparing: the program does not start in 1 GiB of address space".into())
}

fn output_of(command: &str) -> Option<&str> {
    command.split_whitespace().find(|word| word.starts_with("out."))
}

impl Program for SmallMemory {
    fn case(&self, case: &mut Case<'_>) -> Result<(), String> {
        if case.random.once_in(4) {
            return self.promise(case);
        }
        let work = case.random.of(&self.works);
        let (answer, written) = self.answer(work)?;
        if let Some(name) = work.graph {
            case.write(name, &self.shop.read(name)?)?;
        }
        case.write("list", LIST)?;
        let mut group = None;
        let limits = self.limits(case, &mut group);
        let mut text = work.command.clone();
        if case.random.once_in(4) {
            text += &format!(" --threads {}", case.random.of(&[1, 2, 16]));
        }
        if case.random.once_in(12) && !text.starts_with("info") {
            case.run(&words(&(text.clone() + " --plan")), limits)?.expect(&[0, 3])?;
        }
        let outcome = case.run(&words(&text), limits)?;
        // Work that runs without a limit has nothing to correct, so exit code 2 is a fault.
        outcome.expect(&[0, 3])?;
        let output = output_of(&text);
        let found = output.map(|output| case.read(output)).transpose()?.flatten();
        if outcome.code() == Some(0) {
            let said = answer_of(&outcome.stdout)?;
            return match (said == *answer, found == *written) {
                (true, true) => Ok(()),
                (true, false) => Err("another file than without a limit".into()),
                (false, _) => Err(format!("another answer: {said} instead of {answer}")),
            };
        }
        let left = output.map(|output| case.beside(output)).transpose()?.unwrap_or_default();
        if found.is_some() || left.iter().any(|name| !name.contains(".npy")) {
            return Err(format!("{}, and something is left of the output", outcome.describe()));
        }
        Ok(())
    }
}
