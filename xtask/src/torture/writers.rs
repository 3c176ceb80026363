//! Several processes that write one file at once.
//!
//! Each process succeeds, or fails with one error that says that another process is writing. The final file equals,
//! byte for byte, the file of a process that succeeded, and nothing is left beside it.

use std::cell::OnceCell;
use std::time::Duration;

use rustix::process::Signal;

use super::process::{Limits, Process};
use super::{Case, Program, Workshop, once, words};

pub(super) struct Writers {
    shop: Workshop,
    kinds: [OnceCell<Kind>; KINDS.len()],
}

/// A command with an output, on several graphs.
struct Kind {
    output: &'static str,
    works: Vec<Work>,
    /// The time of the slowest.
    time: Duration,
}

struct Work {
    graph: Vec<u8>,
    command: String,
    whole: Vec<u8>,
}

/// All graphs of one kind have the same number of vertices, so that a mixture would look complete.
const KINDS: [(&str, &[&str], &str); 8] = [
    ("apsp GRAPH -o", &["kron:10,seed=1", "kron:10,seed=2", "uniform:10,seed=3"], "out.npy"),
    ("apsp GRAPH -o", &["grid:30x40", "grid:24x50", "grid:20x60"], "out.npy"),
    ("apsp GRAPH -o", &["kron:8,seed=1", "kron:8,seed=2", "uniform:8,seed=3"], "out.csv"),
    ("sssp GRAPH -s 0 -o", &["grid:200x200", "grid:100x400", "grid:800x50"], "out.csv"),
    ("bfs GRAPH -s 0 -o", &["kron:16,seed=1", "kron:16,seed=2", "uniform:16,seed=3"], "out.npy"),
    ("convert GRAPH", &["kron:14,seed=1", "kron:14,seed=2", "uniform:14,seed=3"], "out.wpg"),
    ("convert GRAPH", &["kron:14,seed=1", "kron:14,seed=2", "uniform:14,seed=3"], "out.txt"),
    ("closure GRAPH -o", &["kron:10,seed=1", "kron:10,seed=2", "uniform:10,seed=3"], "out.npy"),
];

/// A running writer.
struct Running<'a> {
    work: &'a Work,
    process: Process,
    /// Which earlier processes had ended when this one started.
    earlier: Vec<bool>,
}

impl Writers {
    pub(super) fn prepare(shop: Workshop) -> Self {
        Writers { shop, kinds: [const { OnceCell::new() }; KINDS.len()] }
    }

    fn kind(&self, index: usize) -> Result<&Kind, String> {
        once(&self.kinds[index], || {
            let (command, graphs, output) = KINDS[index];
            let mut kind = Kind { output, works: Vec::new(), time: Duration::ZERO };
            for (index, graph) in graphs.iter().enumerate() {
                let name = format!("{index}.wpg");
                self.shop.run(&format!("generate {graph} {name} --weights random:1..255 -q"))?;
                let command = format!("{} {output} -q", command.replace("GRAPH", &name));
                let (_, time) = self.shop.run(&command)?;
                kind.time = kind.time.max(time);
                kind.works.push(Work { graph: self.shop.read(&name)?, whole: self.shop.read(output)?, command });
            }
            Ok(kind)
        })
    }
}

impl Program for Writers {
    fn case(&self, case: &mut Case<'_>) -> Result<(), String> {
        let kind = self.kind(case.random.below(KINDS.len()))?;
        for (index, work) in kind.works.iter().enumerate() {
            case.write(&format!("{index}.wpg"), &work.graph)?;
        }
        let before = case.random.once_in(2);
        if before {
            case.write(kind.output, b"what was there before")?;
        }
        let resumes = kind.output.ends_with(".npy") && kind.works[0].command.starts_with("apsp");
        let mut running: Vec<Running<'_>> = Vec::new();
        let mut killed = false;
        for index in 0..2 + case.random.below(3) {
            if index > 0 {
                std::thread::sleep(kind.time.mul_f64(case.random.share() * 0.7));
            }
            let work = case.random.of(&kind.works);
            let mut text = work.command.clone();
            if resumes && case.random.once_in(4) {
                text += " --resume";
            }
            let earlier = running.iter_mut().map(|running| running.process.has_ended()).collect();
            running.push(Running { work, process: case.start(&words(&text), Limits::default())?, earlier });
            if case.random.once_in(12) {
                std::thread::sleep(kind.time.mul_f64(case.random.share()));
                let victim = case.random.below(running.len());
                running[victim].process.signal(Signal::KILL);
                case.note("one of them killed");
                killed = true;
            }
        }
        let mut done: Vec<Option<&Work>> = Vec::new();
        for Running { work, process, earlier } in running {
            let outcome = case.finish(process)?;
            if killed && outcome.signal() == Some(Signal::KILL.as_raw()) {
                done.push(None);
                continue;
            }
            outcome.expect(&[0, 2])?;
            if outcome.code() == Some(0) {
                // It replaced the files of the processes that had ended before it began.
                done.iter_mut().zip(earlier).filter(|(_, earlier)| *earlier).for_each(|(done, _)| *done = None);
                done.push(Some(work));
                continue;
            }
            done.push(None);
            if outcome.stderr.lines().filter(|line| line.trim_start().starts_with("x ")).count() != 1 {
                return Err(format!("not one error, but: {}", outcome.stderr.trim()));
            }
        }
        let done: Vec<&Work> = done.into_iter().flatten().collect();
        let found = case.read(kind.output)?;
        match &found {
            None if done.is_empty() && !before => {}
            Some(bytes) if done.is_empty() && before && bytes == b"what was there before" => {}
            // A killed process may have finished its file before it exited.
            Some(bytes) if killed && kind.works.iter().any(|work| work.whole == *bytes) => {}
            Some(bytes) if done.iter().any(|work| work.whole == *bytes) => {}
            Some(bytes) if kind.works.iter().any(|work| work.whole == *bytes) => {
                return Err("the file is of one that did not end well".into());
            }
            Some(_) => return Err(format!("{} ended well, and the file is of none of them", done.len())),
            None => return Err(format!("{} ended well, and there is no file", done.len())),
        }
        if done.is_empty() && !killed {
            return Err("none of them ended well".into());
        }
        if killed {
            // The files of killed processes block nobody.
            let work = case.random.of(&kind.works);
            case.run(&words(&work.command), Limits::default())?.expect(&[0])?;
            if case.read(kind.output)?.as_ref() != Some(&work.whole) {
                return Err("after a kill, another file than an undisturbed run writes".into());
            }
        }
        let left = case.beside(kind.output)?;
        if left.is_empty() { Ok(()) } else { Err(format!("{} is left", left.join(", "))) }
    }
}
