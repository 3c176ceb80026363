//! Limits of memory: `RLIMIT_AS`, `RLIMIT_DATA`, and a control group where the machine lets us make one.
//!
//! Under any of them, a command says what it lacks, or answers as it does without. Among the graphs are packed files that
//! are far larger inside, and headers that promise more than follows.

use std::sync::Once;

use super::cgroup::Cgroup;
use super::mutate::{bzip2, gzip, xz, zstandard};
use super::process::Limits;
use super::{Case, Program, Workshop, answer_of, words};

pub(super) struct SmallMemory {
    works: Vec<Work>,
    cgroups: Once,
}

/// A command and its answer without limits.
struct Work {
    command: String,
    /// The file of the graph, if it is none that is generated.
    graph: Option<(String, Vec<u8>)>,
    /// `None` where the graph is no right one, or would take too much to find out.
    answer: Option<(String, Option<Vec<u8>>)>,
}

/// What the commands are run on: files, and graphs that are generated there and then.
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
/// All pairs, for which there is no room with most limits.
const WHOLE: [&str; 5] = [
    "apsp kron:11 --verify -o out.npy",
    "apsp dense:500 --verify",
    "apsp grid:45x45 --reduce harmonic -o out.csv",
    "closure uniform:12 --verify -o out.npy",
    "bfs kron:20 -s 0",
];

impl SmallMemory {
    pub(super) fn prepare(shop: &Workshop<'_>) -> Result<Self, String> {
        let random = "--weights random:1..255 -q";
        for text in [
            format!("generate kron:14 kron.wpg {random}"),
            format!("generate grid:300x300 grid.gr.zst {random}"),
            "convert kron.wpg kron.txt -q".to_owned(),
            "convert kron.wpg kron.npz -q".to_owned(),
            "convert kron.wpg kron.txt.gz -q".to_owned(),
        ] {
            shop.run(&text.split_whitespace().collect::<Vec<_>>())?;
        }
        let list = shop.folder.join("list");
        std::fs::write(&list, "1\n2\n3\n").map_err(crate::kernels::at(&list))?;
        let mut works = Vec::new();
        let with_graphs = GRAPHS
            .iter()
            .flat_map(|&graph| COMMANDS.iter().map(move |command| (command.replace("GRAPH", graph), graph)));
        for (command, graph) in with_graphs.chain(WHOLE.iter().map(|&command| (command.to_owned(), ""))) {
            let command = command + " --json";
            let (said, _) = shop.run(&command.split_whitespace().collect::<Vec<_>>())?;
            let output = command.split_whitespace().find(|word| word.starts_with("out."));
            let written = output.map(|output| shop.read(output)).transpose()?;
            let is_file = !graph.contains(':') && !graph.is_empty();
            let graph = is_file.then(|| Ok::<_, String>((graph.to_owned(), shop.read(graph)?))).transpose()?;
            works.push(Work { command, graph, answer: Some((answer_of(&said)?, written)) });
        }
        for (name, bytes) in promises() {
            for command in ["info", "bfs -s 0", "sssp -s 1", "convert out.wpg"] {
                let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
                let command = format!("{verb} {name} {rest} --json");
                works.push(Work { command, graph: Some((name.to_owned(), bytes.clone())), answer: None });
            }
        }
        Ok(SmallMemory { works, cgroups: Once::new() })
    }
}

/// Files that say, or unpack to, far more than they have.
fn promises() -> Vec<(&'static str, Vec<u8>)> {
    // One edge a thousand times, and then another thousand times, and so on: little to read, much to unpack.
    let lines: Vec<u8> =
        (0..6).flat_map(|edge| format!("{edge} {}\n", edge + 1).into_bytes().repeat(4 << 20)).collect();
    let spaces = vec![b' '; 96 << 20];
    let matrix = "%%MatrixMarket matrix coordinate pattern general\n1000000000 1000000000 1\n1 2\n";
    vec![
        ("lines.txt.gz", gzip(&lines)),
        ("lines.txt.zst", zstandard(&lines)),
        ("spaces.txt.bz2", bzip2(&spaces)),
        ("spaces.txt.xz", xz(&spaces)),
        ("vertices.mtx", matrix.into()),
        ("vertices.gr", "p sp 1000000000 1\na 1 2 3\n".into()),
        ("vertices.graph", "1000000000 1\n2\n1\n".into()),
        ("edges.mtx", matrix.replace("1000000000 1000000000 1", "10 10 4000000000").into()),
        ("edges.gr", "p sp 10 4000000000\na 1 2 3\n".into()),
        ("numbers.txt", "0 4000000000\n".into()),
    ]
}

impl Program for SmallMemory {
    fn case(&self, case: &mut Case<'_>) -> Result<(), String> {
        let work = case.random.of(&self.works);
        if let Some((name, bytes)) = &work.graph {
            case.write(name, bytes)?;
        }
        case.write("list", b"1\n2\n3\n")?;
        // From 48 MB, with which a process can begin, to 1.5 GB, small ones as likely as large ones.
        let bytes = (48e6 * 32_f64.powf(case.random.share())) as u64;
        let mut group = None;
        let limits = match case.random.below(4) {
            0 => {
                // It has to hold what is written, too, until that is on the disk.
                match Cgroup::new(&format!("warpath-torture-{}", std::process::id()), bytes.max(32 << 20)) {
                    Ok(made) => Limits { cgroup: Some(group.insert(made)), ..Limits::default() },
                    Err(why) => {
                        self.cgroups.call_once(|| println!("small-memory: no control group can be made: {why}"));
                        Limits { address_space: Some(bytes), ..Limits::default() }
                    }
                }
            }
            1 => Limits { data: Some(bytes), ..Limits::default() },
            _ => Limits { address_space: Some(bytes), ..Limits::default() },
        };
        // Without a limit of its own, a promise could take all of the machine.
        let limits = match (&work.answer, limits.address_space) {
            (None, None) => Limits { address_space: Some(8 << 30), ..limits },
            _ => limits,
        };
        let mut text = work.command.clone();
        if case.random.once_in(4) {
            text += &format!(" --threads {}", case.random.of(&[1, 2, 16]));
        }
        if case.random.once_in(12) && !text.starts_with("info") {
            case.run(&words(&(text.clone() + " --plan")), limits)?.expect(&[0, 2, 3])?;
        }
        let outcome = case.run(&words(&text), limits)?;
        outcome.expect(&[0, 2, 3])?;
        let output = text.split_whitespace().find(|word| word.starts_with("out."));
        let Some((answer, written)) = &work.answer else { return Ok(()) };
        let found = output.map(|output| case.read(output)).transpose()?.flatten();
        if outcome.code() != Some(0) {
            if let Some(output) = output {
                let left = case.beside(output)?;
                if found.is_some() || !left.is_empty() && !output.ends_with(".npy") {
                    return Err(format!("{}, and something is left of {output}", outcome.describe()));
                }
            }
            // A file that is read without a limit is no file to correct.
            return if outcome.code() == Some(2) {
                Err(format!("exit 2 instead of 3: {}", outcome.stderr.trim()))
            } else {
                Ok(())
            };
        }
        if answer_of(&outcome.stdout)? != *answer {
            return Err(format!("another answer: {} instead of {answer}", answer_of(&outcome.stdout)?));
        }
        if found != *written {
            return Err("another file than without a limit".into());
        }
        Ok(())
    }
}
