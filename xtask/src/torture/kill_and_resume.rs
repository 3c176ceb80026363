//! Kills in the middle of writing.
//!
//! All pairs of a graph are written to a `.npy`, and the process is killed at random moments by different signals.
//! Sometimes the unfinished files are damaged. The work is resumed until the file is complete; it must then equal, byte
//! for byte, the file of an undisturbed run. Other outputs can't be resumed: a kill leaves nothing half-written under
//! the final name.

use std::cell::OnceCell;
use std::time::Duration;

use rustix::process::Signal;

use super::process::{Limits, Outcome};
use super::{Case, Program, Workshop, once, words};

pub(super) struct KillAndResume {
    shop: Workshop,
    works: [OnceCell<Work>; WORKS.len()],
}

/// A command that writes a file.
struct Work {
    graph: Vec<u8>,
    command: String,
    output: &'static str,
    /// The file that an undisturbed run writes, and the time it takes.
    whole: Vec<u8>,
    time: Duration,
}

/// Graphs, commands and outputs.
const WORKS: [(&str, &str, &str); 12] = [
    ("kron:10,seed=3 --weights random:1..255", "apsp graph.wpg -o", "out.npy"),
    ("uniform:10,seed=4 --weights random:1..255", "apsp graph.wpg --verify -o", "out.npy"),
    ("grid:30x40 --weights random:1..100", "apsp graph.wpg -o", "out.npy"),
    ("grid:30x40 --weights random:1..4000000000", "apsp graph.wpg -o", "out.npy"),
    ("dense:500", "apsp graph.wpg --algorithm tiled-floyd-warshall -o", "out.npy"),
    ("kron:8,seed=5 --weights random:1..9", "apsp graph.wpg -o", "out.csv"),
    ("grid:200x200 --weights random:1..100", "sssp graph.wpg -s 0 --predecessors -o", "out.csv"),
    ("kron:16", "bfs graph.wpg -s 1 -o", "out.npy"),
    ("uniform:10", "closure graph.wpg -o", "out.npy"),
    ("kron:14 --weights random:1..255", "convert graph.wpg", "out.txt.gz"),
    ("kron:14 --weights random:1..255", "convert graph.wpg", "out.npz"),
    ("kron:16 --weights random:1..255", "convert graph.wpg", "out.wpg"),
];

impl KillAndResume {
    pub(super) fn prepare(shop: Workshop) -> Self {
        KillAndResume { shop, works: [const { OnceCell::new() }; WORKS.len()] }
    }

    fn work(&self, index: usize) -> Result<&Work, String> {
        once(&self.works[index], || {
            let (graph, command, output) = WORKS[index];
            self.shop.run(&format!("generate {graph} graph.wpg -q"))?;
            let command = format!("{command} {output} -q");
            let (_, time) = self.shop.run(&command)?;
            Ok(Work { graph: self.shop.read("graph.wpg")?, whole: self.shop.read(output)?, command, output, time })
        })
    }
}

/// Whether unfinished work can be resumed.
fn resumes(index: usize) -> bool {
    let (_, command, output) = WORKS[index];
    command.starts_with("apsp") && output.ends_with(".npy")
}

/// Fails unless a process that was sent a signal ended as interrupted, or finished before it noticed.
fn expect_killed(outcome: &Outcome, signal: Signal) -> Result<(), String> {
    if signal == Signal::KILL && outcome.signal() == Some(Signal::KILL.as_raw()) {
        return Ok(());
    }
    // A process that gets the signal before it has set its handlers dies of the signal.
    if outcome.signal() == Some(signal.as_raw()) && outcome.stdout.is_empty() && outcome.stderr.is_empty() {
        return Ok(());
    }
    outcome.expect(&[0, 130])
}

impl Program for KillAndResume {
    fn case(&self, case: &mut Case<'_>) -> Result<(), String> {
        // Most cases use work that can be resumed.
        let resumable = !case.random.once_in(3);
        let works: Vec<usize> = (0..WORKS.len()).filter(|&index| resumes(index) == resumable).collect();
        let work = self.work(*case.random.of(&works))?;
        case.write("graph.wpg", &work.graph)?;
        let before = case.random.once_in(3).then(|| b"what was there before".to_vec());
        if let Some(before) = &before {
            case.write(work.output, before)?;
        }
        let mut damaged = false;
        for round in 0..1 + case.random.below(5) {
            let mut text = work.command.clone();
            // Without `--resume`, the work begins anew.
            if resumable && (round > 0 && !case.random.once_in(6) || case.random.once_in(2)) {
                text += " --resume";
            }
            let mut process = case.start(&words(&text), Limits::default())?;
            let pause = work.time.mul_f64(case.random.share() * 1.2);
            std::thread::sleep(pause);
            let signal = *case.random.of(&[Signal::KILL, Signal::KILL, Signal::TERM, Signal::INT]);
            process.signal(signal);
            case.note(format!("after {pause:?}, signal {}", signal.as_raw()));
            if signal != Signal::KILL && case.random.once_in(4) {
                std::thread::sleep(work.time.mul_f64(case.random.share() * 0.1));
                process.signal(signal);
                case.note("twice");
            }
            let outcome = case.finish(process)?;
            if damaged && outcome.code() == Some(2) {
                return self.begin_anew(case, work);
            }
            expect_killed(&outcome, signal)?;
            let found = case.read(work.output)?;
            if outcome.code() == Some(0) {
                return is_whole(case, work);
            }
            // The process may have been killed after the file got its final name.
            if found.as_ref() != before.as_ref() && found.as_ref() != Some(&work.whole) {
                return Err(format!("{}, and something half-written in {}", outcome.describe(), work.output));
            }
            let left = case.beside(work.output)?;
            if !resumable && outcome.code() == Some(130) && !left.is_empty() {
                return Err(format!("interrupted, it left {}", left.join(", ")));
            }
            if resumable && case.random.once_in(3) {
                damaged |= damage(case, &left)?;
            }
        }
        let text = if resumable { work.command.clone() + " --resume" } else { work.command.clone() };
        let outcome = case.run(&words(&text), Limits::default())?;
        if damaged && outcome.code() == Some(2) {
            return self.begin_anew(case, work);
        }
        outcome.expect(&[0])?;
        is_whole(case, work)
    }
}

impl KillAndResume {
    /// Begins anew after a journal was refused.
    fn begin_anew(&self, case: &mut Case<'_>, work: &Work) -> Result<(), String> {
        case.run(&words(&work.command), Limits::default())?.expect(&[0])?;
        is_whole(case, work)
    }
}

/// Fails unless the file is complete, byte for byte, with nothing beside it.
fn is_whole(case: &Case<'_>, work: &Work) -> Result<(), String> {
    match case.read(work.output)? {
        None => return Err("exit 0, and no file".into()),
        Some(found) if found != work.whole => {
            let at = found.iter().zip(&work.whole).position(|(a, b)| a != b).unwrap_or(found.len());
            return Err(format!("exit 0, and another file than an undisturbed run writes, from byte {at} on"));
        }
        Some(_) => {}
    }
    let left = case.beside(work.output)?;
    if left.is_empty() { Ok(()) } else { Err(format!("exit 0, and {} is left", left.join(", "))) }
}

/// Damages one of these files.
fn damage(case: &mut Case<'_>, files: &[String]) -> Result<bool, String> {
    if files.is_empty() {
        return Ok(false);
    }
    let name = case.random.of(files).clone();
    let mut bytes = case.read(&name)?.unwrap_or_default();
    let length = bytes.len();
    let what = match case.random.below(5) {
        0 => {
            bytes.truncate(case.random.below(length));
            "cut short"
        }
        1 if length > 0 => {
            for _ in 0..1 + case.random.below(8) {
                let at = case.random.below(length);
                bytes[at] ^= 1 << case.random.below(8);
            }
            "with bits flipped"
        }
        2 if length > 0 => {
            let at = case.random.below(length);
            let end = (at + 1 + case.random.below(4096)).min(length);
            bytes[at..end].fill(0);
            "with zeros"
        }
        3 => {
            bytes.extend((0..case.random.below(64)).map(|i| i as u8));
            "longer"
        }
        _ => {
            std::fs::remove_file(case.path(&name)).map_err(|error| format!("{name}: {error}"))?;
            case.note(format!("{name} removed"));
            return Ok(true);
        }
    };
    case.note(format!("{name} {what}"));
    case.write(&name, &bytes)?;
    Ok(true)
}
