//! Graphs that are changed while they are read and used.
//!
//! The answer is that of the graph as it was when it was opened, or there is an error. A pipe in place of a list of sources
//! holds the process between loading and solving, so that a change reaches it there; others come at random moments.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use super::process::Limits;
use super::{Case, Program, Workshop, answer_of, words};
use crate::kernels::at;

pub(super) struct ChangedFile {
    files: Vec<Files>,
}

/// Graphs in one format.
struct Files {
    name: &'static str,
    versions: Vec<Version>,
}

/// A graph, and what each command answers of it.
struct Version {
    bytes: Vec<u8>,
    answers: Vec<Answer>,
    time: Duration,
}

/// What is said, and the file that is written.
#[derive(PartialEq, Eq)]
struct Answer(String, Option<Vec<u8>>);

const NAMES: [&str; 5] = ["graph.wpg", "graph.txt", "graph.npz", "graph.gr", "graph.wpg.gz"];
/// Two alike, one of another kind that is as large, a small one.
const GRAPHS: [&str; 4] = ["kron:14,seed=7", "kron:14,seed=8", "uniform:14,seed=9", "grid:30x30"];
/// Those with sources can be held.
const COMMANDS: [&str; 8] = [
    "bfs GRAPH --sources SOURCES --verify",
    "sssp GRAPH --sources SOURCES --verify",
    "apsp GRAPH --sources SOURCES --verify",
    "apsp GRAPH --sources SOURCES --verify -o out.npy",
    "bfs GRAPH --sources SOURCES --predecessors --verify -o out.csv",
    "closure GRAPH --verify",
    "info GRAPH",
    "convert GRAPH out.txt",
];
const SOURCES: &str = "1\n2\n30\n400\n";

impl ChangedFile {
    pub(super) fn prepare(shop: &Workshop<'_>) -> Result<Self, String> {
        let list = shop.folder.join("sources");
        fs::write(&list, SOURCES).map_err(at(&list))?;
        let mut files = Vec::new();
        for name in NAMES {
            let mut versions = Vec::new();
            for graph in GRAPHS {
                shop.run(&["generate", graph, name, "--weights", "random:1..255", "-q"])?;
                let (mut answers, mut longest) = (Vec::new(), Duration::ZERO);
                for command in COMMANDS {
                    let text = command.replace("GRAPH", name).replace("SOURCES", "sources") + " --json";
                    let (said, time) = shop.run(&text.split_whitespace().collect::<Vec<_>>())?;
                    longest = longest.max(time);
                    let written = output_of(command).map(|output| shop.read(output)).transpose()?;
                    answers.push(Answer(answer_of(&said)?, written));
                }
                versions.push(Version { bytes: shop.read(name)?, answers, time: longest });
            }
            files.push(Files { name, versions });
        }
        Ok(ChangedFile { files })
    }
}

fn output_of(command: &str) -> Option<&str> {
    command.split_whitespace().find(|word| word.starts_with("out."))
}

/// How a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Made empty, and written anew, as `cp` does.
    Overwritten,
    /// Bytes put over bytes, its length last.
    WrittenOver,
    /// Bytes put over some of its bytes.
    Patched,
    CutShort,
    /// Cut short, and put back.
    CutAndRestored,
    Longer,
    Replaced,
    Removed,
    Touched,
}

const CHANGES: [Change; 12] = [
    Change::Overwritten,
    Change::Overwritten,
    Change::WrittenOver,
    Change::WrittenOver,
    Change::Patched,
    Change::Patched,
    Change::CutShort,
    Change::CutAndRestored,
    Change::Longer,
    Change::Replaced,
    Change::Removed,
    Change::Touched,
];

impl Program for ChangedFile {
    fn case(&self, case: &mut Case<'_>) -> Result<(), String> {
        // Half of them on what is mapped.
        let files = if case.random.once_in(2) { &self.files[0] } else { case.random.of(&self.files) };
        let first = case.random.below(files.versions.len());
        let second = case.random.below(files.versions.len());
        let (was, becomes) = (&files.versions[first], &files.versions[second]);
        let index = case.random.below(COMMANDS.len());
        let command = COMMANDS[index];
        case.write(files.name, &was.bytes)?;
        let is_held = command.contains("SOURCES") && !case.random.once_in(3);
        let text = command.replace("GRAPH", files.name).replace("SOURCES", "sources") + " --json";
        let change = *case.random.of(&CHANGES);
        let outcome = if is_held {
            let pipe = case.path("sources");
            mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).map_err(|error| at(&pipe)(error.into()))?;
            let mut process = case.start(&words(&text), Limits::default())?;
            // Opening it succeeds when somebody reads: the graph is there then.
            let began = Instant::now();
            let mut end = loop {
                let opened = OpenOptions::new().write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(&pipe);
                match opened {
                    Ok(end) => break Some(end),
                    Err(_) if process.has_ended() || began.elapsed() > Duration::from_secs(60) => break None,
                    Err(_) => std::thread::sleep(Duration::from_micros(500)),
                }
            };
            // Before the sources are known, between two of them, or after them all.
            let (now, later) = SOURCES.split_at(*case.random.of(&[0, 2, SOURCES.len()]));
            let mut send = |text: &str| {
                if let Some(end) = &mut end {
                    // A process that has ended meanwhile reads no more.
                    let _ = end.write_all(text.as_bytes());
                }
            };
            send(now);
            if later.is_empty() {
                drop(end.take());
                std::thread::sleep(was.time.mul_f64(case.random.share() * 0.5));
                apply(case, change, files.name, becomes)?;
            } else {
                apply(case, change, files.name, becomes)?;
                let mut end = end.take();
                if let Some(end) = &mut end {
                    let _ = end.write_all(later.as_bytes());
                }
            }
            case.finish(process)?
        } else {
            case.write("sources", SOURCES.as_bytes())?;
            let process = case.start(&words(&text), Limits::default())?;
            let pause = was.time.mul_f64(case.random.share());
            case.note(format!("after {pause:?}"));
            std::thread::sleep(pause);
            apply(case, change, files.name, becomes)?;
            case.finish(process)?
        };
        let found = output_of(command).map(|output| case.read(output)).transpose()?.flatten();
        outcome.expect(&[0, 2])?;
        if outcome.code() == Some(2) {
            let left = output_of(command).map(|output| case.beside(output)).transpose()?.unwrap_or_default();
            let is_clean = found.is_none() && left.iter().all(|name| name.contains(".npy"));
            return if is_clean { Ok(()) } else { Err("an error, and something is left of the output".into()) };
        }
        let found = Answer(answer_of(&outcome.stdout)?, found);
        // One that was not held may have been opened after the change.
        let other = matches!(change, Change::Overwritten | Change::WrittenOver | Change::Replaced) && !is_held;
        if found == was.answers[index] || other && found == becomes.answers[index] {
            return Ok(());
        }
        let known = files.versions.iter().any(|version| version.answers[index] == found);
        let whose = if known { "of the wrong graph" } else { "that no graph has" };
        Err(format!("{change:?} (held: {is_held}): exit 0 with an answer {whose}: {}", found.0))
    }
}

/// Changes a file.
fn apply(case: &mut Case<'_>, change: Change, name: &str, becomes: &Version) -> Result<(), String> {
    let path = case.path(name);
    let failed = at(&path);
    case.note(format!("{name}: {change:?}"));
    let open = || OpenOptions::new().write(true).open(&path);
    let length = fs::metadata(&path).map_err(&failed)?.len();
    let result = match change {
        Change::Overwritten => fs::write(&path, &becomes.bytes),
        Change::WrittenOver => open().and_then(|file| {
            file.write_all_at(&becomes.bytes, 0)?;
            file.set_len(becomes.bytes.len() as u64)
        }),
        Change::Patched => {
            let at = case.random.below(length as usize);
            let count = 1 + case.random.below(1 << 16);
            let bytes: Vec<u8> = becomes.bytes.iter().cycle().skip(at).take(count).map(|byte| byte ^ 0x15).collect();
            open().and_then(|file| file.write_all_at(&bytes, at as u64))
        }
        Change::CutShort => {
            let at = case.random.below(length as usize) as u64;
            open().and_then(|file| file.set_len(at))
        }
        Change::CutAndRestored => {
            let at = case.random.below(length as usize);
            let bytes = fs::read(&path).map_err(&failed)?;
            open().and_then(|file| {
                file.set_len(at as u64)?;
                std::thread::sleep(Duration::from_millis(case.random.below(5) as u64));
                file.write_all_at(&bytes[at..], at as u64)
            })
        }
        Change::Longer => {
            let bytes = vec![0; 1 + case.random.below(1 << 16)];
            OpenOptions::new().append(true).open(&path).and_then(|mut file| file.write_all(&bytes))
        }
        Change::Replaced => {
            let other = case.path("other");
            fs::write(&other, &becomes.bytes).and_then(|()| fs::rename(&other, &path))
        }
        Change::Removed => fs::remove_file(&path),
        Change::Touched => {
            File::options().append(true).open(&path).and_then(|file| file.set_modified(std::time::SystemTime::now()))
        }
    };
    result.map_err(failed)
}
