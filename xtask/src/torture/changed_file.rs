//! Graphs that are changed while they are read and used.
//!
//! The command answers for the graph as it was when opened, or fails. A pipe in place of a list of sources holds the
//! process between loading and solving, so that a change reaches it there; other changes come at random moments.

use std::cell::OnceCell;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use super::process::Limits;
use super::{Case, Program, Workshop, answer_of, once, words};
use crate::kernels::at;

pub(super) struct ChangedFile {
    shop: Workshop,
    /// The version of each graph under each file name.
    versions: [[Version; GRAPHS.len()]; NAMES.len()],
}

/// A graph in a format.
#[derive(Default)]
struct Version {
    bytes: OnceCell<Vec<u8>>,
    /// The answer of each command, and the time it takes.
    answers: [OnceCell<(Answer, Duration)>; COMMANDS.len()],
}

/// The text that is printed, and the file that is written.
#[derive(PartialEq, Eq)]
struct Answer(String, Option<Vec<u8>>);

const NAMES: [&str; 5] = ["graph.wpg", "graph.txt", "graph.npz", "graph.gr", "graph.wpg.gz"];
/// Two similar graphs, one of another kind and the same size, and a small one.
const GRAPHS: [&str; 4] = ["kron:14,seed=7", "kron:14,seed=8", "uniform:14,seed=9", "grid:30x30"];
/// Commands with sources can be held.
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
    pub(super) fn prepare(shop: Workshop) -> Result<Self, String> {
        let list = shop.folder.join("sources");
        fs::write(&list, SOURCES).map_err(at(&list))?;
        Ok(ChangedFile { shop, versions: Default::default() })
    }

    fn bytes(&self, name: usize, graph: usize) -> Result<&Vec<u8>, String> {
        once(&self.versions[name][graph].bytes, || {
            self.shop.run(&format!("generate {} {} --weights random:1..255 -q", GRAPHS[graph], NAMES[name]))?;
            self.shop.read(NAMES[name])
        })
    }

    fn answer(&self, name: usize, graph: usize, command: usize) -> Result<&(Answer, Duration), String> {
        once(&self.versions[name][graph].answers[command], || {
            let path = self.shop.folder.join(NAMES[name]);
            fs::write(&path, self.bytes(name, graph)?).map_err(at(&path))?;
            let command = COMMANDS[command].replace("GRAPH", NAMES[name]).replace("SOURCES", "sources");
            let (said, time) = self.shop.run(&(command.clone() + " --json"))?;
            let written = output_of(&command).map(|output| self.shop.read(output)).transpose()?;
            Ok((Answer(answer_of(&said)?, written), time))
        })
    }
}

fn output_of(command: &str) -> Option<&str> {
    command.split_whitespace().find(|word| word.starts_with("out."))
}

/// How a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// The file is truncated and written again, as `cp` does.
    Overwritten,
    /// Bytes are overwritten in place; the length changes last.
    WrittenOver,
    /// Some bytes are overwritten in place.
    Patched,
    CutShort,
    /// The file is cut short and then restored.
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
        // Half of the cases, or more, use Warpath's own format, which is not parsed.
        let name = if case.random.once_in(2) { 0 } else { case.random.below(NAMES.len()) };
        let index = case.random.below(COMMANDS.len());
        let (was, becomes) = (case.random.below(GRAPHS.len()), case.random.below(GRAPHS.len()));
        let (expected, time) = self.answer(name, was, index)?;
        let new = self.bytes(name, becomes)?;
        case.write(NAMES[name], self.bytes(name, was)?)?;
        let (name, command) = (NAMES[name], COMMANDS[index]);
        let is_held = command.contains("SOURCES") && !case.random.once_in(3);
        let text = command.replace("GRAPH", name).replace("SOURCES", "sources") + " --json";
        let change = *case.random.of(&CHANGES);
        // The contents that the file had meanwhile, or has now.
        let states;
        let outcome = if is_held {
            let pipe = case.path("sources");
            mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).map_err(|error| at(&pipe)(error.into()))?;
            let mut process = case.start(&words(&text), Limits::default())?;
            // Opening the pipe succeeds once the process reads it: then it has loaded the graph.
            let began = Instant::now();
            let mut end = loop {
                let opened = OpenOptions::new().write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(&pipe);
                match opened {
                    Ok(end) => break Some(end),
                    Err(_) if process.has_ended() || began.elapsed() > Duration::from_secs(60) => break None,
                    Err(_) => std::thread::sleep(Duration::from_micros(500)),
                }
            };
            // Change the file before the first source is sent, between two sources, or after the last.
            let (now, later) = SOURCES.split_at(*case.random.of(&[0, 2, SOURCES.len()]));
            let mut send = |text: &str| {
                if let Some(end) = &mut end {
                    // A process that has ended reads no more.
                    let _ = end.write_all(text.as_bytes());
                }
            };
            send(now);
            if later.is_empty() {
                drop(end.take());
                std::thread::sleep(time.mul_f64(case.random.share() * 0.5));
                states = apply(case, change, name, new)?;
            } else {
                states = apply(case, change, name, new)?;
                let mut end = end.take();
                if let Some(end) = &mut end {
                    let _ = end.write_all(later.as_bytes());
                }
            }
            case.finish(process)?
        } else {
            case.write("sources", SOURCES.as_bytes())?;
            let process = case.start(&words(&text), Limits::default())?;
            let pause = time.mul_f64(case.random.share());
            case.note(format!("after {pause:?}"));
            std::thread::sleep(pause);
            states = apply(case, change, name, new)?;
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
        if found == *expected {
            return Ok(());
        }
        // A process that was not held may have opened the file after the change, or during it.
        for state in states {
            case.write(name, &state)?;
            case.write("sources", SOURCES.as_bytes())?;
            let again = case.run(&words(&text), Limits::default())?;
            let written = output_of(command).map(|output| case.read(output)).transpose()?.flatten();
            if again.code() == Some(0) && found == Answer(answer_of(&again.stdout)?, written) {
                return if is_held { Err(format!("{change:?}: an answer of the graph after it")) } else { Ok(()) };
            }
        }
        Err(format!("{change:?} (held: {is_held}): exit 0 with an answer that no graph has: {}", found.0))
    }
}

/// Changes a file; returns the contents it had meanwhile, and has now.
fn apply(case: &mut Case<'_>, change: Change, name: &str, new: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let path = case.path(name);
    let failed = at(&path);
    case.note(format!("{name}: {change:?}"));
    let was = fs::read(&path).map_err(&failed)?;
    let open = || OpenOptions::new().write(true).open(&path);
    let place = case.random.below(was.len());
    let mut states = Vec::new();
    let result = match change {
        Change::Overwritten => {
            states = vec![Vec::new(), new.to_vec()];
            fs::write(&path, new)
        }
        Change::WrittenOver => {
            states = vec![new.to_vec()];
            if let Some(rest) = was.get(new.len()..) {
                states.push([new, rest].concat());
            }
            open().and_then(|file| file.write_all_at(new, 0).and_then(|()| file.set_len(new.len() as u64)))
        }
        Change::Patched => {
            let end = (place + 1 + case.random.below(1 << 16)).min(was.len());
            let mut patched = was;
            patched[place..end].iter_mut().for_each(|byte| *byte ^= 0x15);
            let result = open().and_then(|file| file.write_all_at(&patched[place..end], place as u64));
            states.push(patched);
            result
        }
        Change::CutShort => {
            states = vec![was[..place].to_vec()];
            open().and_then(|file| file.set_len(place as u64))
        }
        Change::CutAndRestored => {
            states = vec![was[..place].to_vec()];
            let pause = Duration::from_millis(case.random.below(5) as u64);
            open().and_then(|file| {
                file.set_len(place as u64)?;
                std::thread::sleep(pause);
                file.write_all_at(&was[place..], place as u64)
            })
        }
        Change::Longer => {
            let more = vec![b'\n'; 1 + case.random.below(1 << 16)];
            states = vec![[was.as_slice(), &more].concat()];
            OpenOptions::new().append(true).open(&path).and_then(|mut file| file.write_all(&more))
        }
        Change::Replaced => {
            states = vec![new.to_vec()];
            let other = case.path("other");
            fs::write(&other, new).and_then(|()| fs::rename(&other, &path))
        }
        Change::Removed => fs::remove_file(&path),
        Change::Touched => open().and_then(|file| file.set_modified(SystemTime::now())),
    };
    result.map_err(failed)?;
    Ok(states)
}
