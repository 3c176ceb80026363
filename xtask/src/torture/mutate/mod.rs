//! Damaged files: every format and compression, lists of vertices, and journals of interrupted work.
//!
//! A valid file is damaged in a few places, its checksums are mended, so that readers get past them, and it is packed;
//! now and then the packed bytes are damaged as well. The command may refuse it, or find an answer that verifies.

mod content;
mod damage;
mod packing;
mod valid;

use std::cell::OnceCell;
use std::time::Duration;

use content::damaged_content;
use damage::damage;
use packing::PACKED;
pub(super) use packing::{bzip2, gzip, xz, zstandard};
use rustix::process::Signal;
use valid::{FORMATS, GRAPHS, TEXTS, Valid, corpus};

use super::process::{Limits, Outcome, Process};
use super::random::Random;
use super::{Case, Program, Workshop, once, words};

/// The address-space limit of a process: these graphs are small, whatever their headers say.
const ADDRESS_SPACE: u64 = 4 << 30;

pub(super) struct Mutate {
    shop: Workshop,
    /// Each graph in each format; `None` inside where the format can't hold it.
    written: [[OnceCell<Option<Valid>>; FORMATS.len()]; GRAPHS.len()],
    /// Other valid files.
    files: Vec<Valid>,
    interrupted: [OnceCell<Interrupted>; INTERRUPTED.len()],
}

/// The unfinished work on all pairs of a graph after a kill, and the file of an undisturbed run.
struct Interrupted {
    graph: Vec<u8>,
    partial: Vec<u8>,
    journal: Vec<u8>,
    whole: Vec<u8>,
}

/// The graphs whose work is interrupted.
const INTERRUPTED: [&str; 2] = ["uniform:10,seed=5", "grid:30x40"];

impl Mutate {
    pub(super) fn prepare(shop: Workshop) -> Result<Self, String> {
        for (name, text) in TEXTS {
            std::fs::write(shop.folder.join(name), text).map_err(|error| format!("{name}: {error}"))?;
        }
        let mut files = corpus();
        for (name, text) in TEXTS {
            let extension = if name.ends_with("csv") { "csv" } else { "txt" };
            files.push(Valid { format: "edge-list", extension, bytes: text.into() });
        }
        Ok(Mutate { shop, written: Default::default(), files, interrupted: Default::default() })
    }

    /// A graph in a format, if the format can hold it.
    fn written(&self, graph: usize, format: usize) -> Result<Option<&Valid>, String> {
        let made = once(&self.written[graph][format], || {
            let (graph, (extension, format)) = (GRAPHS[graph], FORMATS[format]);
            let command = if graph.contains(':') { "generate" } else { "convert" };
            let name = format!("written.{extension}");
            if self.shop.run(&format!("{command} {graph} {name} --output-format {format} -q")).is_err() {
                return Ok(None);
            }
            let extension = extension.rsplit('.').next().unwrap_or(extension);
            Ok(Some(Valid { format, extension, bytes: self.shop.read(&name)? }))
        })?;
        Ok(made.as_ref())
    }

    /// Two files of the same format, perhaps the same file.
    fn two(&self, random: &mut Random) -> Result<(&Valid, &Valid), String> {
        if !random.once_in(4) {
            let format = random.below(FORMATS.len());
            let one = self.written(random.below(GRAPHS.len()), format)?;
            let other = self.written(random.below(GRAPHS.len()), format)?;
            if let (Some(one), Some(other)) = (one, other) {
                return Ok((one, other));
            }
        }
        let one = random.of(&self.files);
        let others: Vec<&Valid> = self.files.iter().filter(|file| file.format == one.format).collect();
        Ok((one, *random.of(&others)))
    }
}

/// Kills the work on all pairs of a graph once its journal has the first rows.
fn interrupted(shop: &Workshop, graph: &str) -> Result<Interrupted, String> {
    /// The journal's bytes before the first rows.
    const HEADER: usize = 24;
    const JOURNAL: &str = "killed.npy.partial.journal";
    shop.run(&format!("generate {graph} all.wpg --weights random:1..255 -q"))?;
    shop.run("apsp all.wpg -o whole.npy -q")?;
    let path = shop.folder.join(JOURNAL);
    // Some of these runs end before they are killed.
    for _ in 0..50 {
        let _ = std::fs::remove_file(&path);
        let arguments = words("apsp all.wpg -o killed.npy -q");
        let mut process = Process::start(&shop.binary, &arguments, &shop.folder, "killed", None, Limits::default())?;
        while !process.has_ended() && std::fs::metadata(&path).map_or(0, |found| found.len()) <= HEADER as u64 {
            std::thread::sleep(Duration::from_micros(100));
        }
        process.signal(Signal::KILL);
        let ended = process.wait()?;
        let journal = shop.read(JOURNAL).unwrap_or_default();
        if ended.signal().is_some() && journal.len() > HEADER {
            let (graph, whole) = (shop.read("all.wpg")?, shop.read("whole.npy")?);
            return Ok(Interrupted { graph, whole, partial: shop.read("killed.npy.partial")?, journal });
        }
    }
    Err("no run was killed between its first rows and its end".into())
}

impl Program for Mutate {
    fn case(&self, case: &mut Case<'_>) -> Result<(), String> {
        match case.random.below(20) {
            0 => self.vertices(case),
            1 => self.journal(case),
            _ => self.graph(case),
        }
    }
}

impl Mutate {
    /// Runs a command on a damaged graph.
    fn graph(&self, case: &mut Case<'_>) -> Result<(), String> {
        let random = &mut case.random;
        let (valid, other) = self.two(random)?;
        let mut bytes = damaged_content(&valid.bytes, valid.format, &other.bytes, random);
        let (suffix, pack) = *random.of(&PACKED);
        bytes = pack(&bytes);
        if !suffix.is_empty() && random.once_in(4) {
            let copy = bytes.clone();
            damage(&mut bytes, false, &copy, random);
        }
        let name = format!("graph.{}{suffix}", valid.extension);
        case.write(&name, &bytes)?;
        for _ in 0..2 {
            let random = &mut case.random;
            let source = if valid.format == "edge-list" || random.once_in(4) { "0" } else { "1" };
            let mut text = match random.below(9) {
                0 => "info GRAPH".to_owned(),
                1 | 2 => format!("bfs GRAPH -s {source} --verify"),
                3 | 4 => format!("sssp GRAPH -s {source} --verify"),
                5 => "apsp GRAPH --verify".to_owned(),
                6 => "apsp GRAPH --verify -o out.npy".to_owned(),
                7 => "closure GRAPH --verify".to_owned(),
                _ => format!("convert GRAPH out.{}", random.of(&FORMATS).0),
            };
            // Without this option, half of the damaged files would no longer be detected as their format.
            if random.once_in(2) {
                text += &format!(" --format {}", valid.format);
            }
            let options =
                ["--directed", "--undirected", "--drop-self-loops", "--keep-parallel-edges", "--weights unit"];
            for option in options {
                if random.once_in(8) {
                    text += &format!(" {option}");
                }
            }
            if valid.format == "edge-list" && random.once_in(4) {
                text += *random.of(&[
                    " --from 2 --to 1",
                    " --from from --to to",
                    " --separator comma",
                    " --separator tab",
                    " --decimal comma",
                    " --first-line header",
                    " --first-line edge",
                ]);
            }
            if random.once_in(4) {
                text += &format!(" --threads {}", random.of(&[1, 2, 3, 7]));
            }
            if (text.starts_with("bfs") || text.starts_with("sssp")) && random.once_in(3) {
                text += *random.of(&[" --predecessors", " --cutoff 5", " --target 2", " --json"]);
            }
            let limits = Limits { address_space: Some(ADDRESS_SPACE), ..Limits::default() };
            let outcome = if case.random.once_in(8) {
                case.run_with_input(&words(&text.replace("GRAPH", "-")), &name, limits)?
            } else {
                case.run(&words(&text.replace("GRAPH", &name)), limits)?
            };
            verified_or_refused(&outcome, text.contains("--verify"))?;
        }
        Ok(())
    }

    /// Runs a command with a damaged list of vertices.
    fn vertices(&self, case: &mut Case<'_>) -> Result<(), String> {
        let graphs = ["grid:6x6", "names.csv"];
        let graph = *case.random.of(&graphs);
        let mut list: Vec<u8> = match graph {
            "names.csv" => "lisboa\n# twice\nporto\n\nvila, nova\nß\n".into(),
            _ => "0\n1\n% two\n2\r\n  35 \n".into(),
        };
        let copy = list.clone();
        damage(&mut list, true, &copy, &mut case.random);
        case.write("names.csv", TEXTS[0].1.as_bytes())?;
        case.write("list", &list)?;
        let command = *case.random.of(&[
            "bfs GRAPH --sources list --verify",
            "sssp GRAPH --sources list --verify",
            "apsp GRAPH --sources list --verify",
            "apsp GRAPH --targets list --verify",
            "apsp GRAPH --sources list --targets list --verify -o out.csv",
        ]);
        let limits = Limits { address_space: Some(ADDRESS_SPACE), ..Limits::default() };
        let outcome = case.run(&words(&command.replace("GRAPH", graph)), limits)?;
        verified_or_refused(&outcome, true)
    }

    /// Damages interrupted work and resumes it: the result is complete, or the work is refused.
    fn journal(&self, case: &mut Case<'_>) -> Result<(), String> {
        let made = |index| once(&self.interrupted[index], || interrupted(&self.shop, INTERRUPTED[index]));
        let work = made(case.random.below(INTERRUPTED.len()))?;
        let (mut partial, mut journal) = (work.partial.clone(), work.journal.clone());
        let other = made(case.random.below(INTERRUPTED.len()))?;
        if case.random.once_in(3) {
            damage(&mut partial, false, &other.partial, &mut case.random);
        } else {
            damage(&mut journal, false, &other.journal, &mut case.random);
        }
        case.write("all.wpg", &work.graph)?;
        case.write("out.npy.partial", &partial)?;
        case.write("out.npy.partial.journal", &journal)?;
        let limits = Limits { address_space: Some(ADDRESS_SPACE), ..Limits::default() };
        let outcome = case.run(&words("apsp all.wpg -o out.npy --resume --verify"), limits)?;
        verified_or_refused(&outcome, true)?;
        match case.read("out.npy")? {
            None if outcome.code() == Some(0) => Err("exit 0, and no file".into()),
            Some(_) if outcome.code() != Some(0) => Err("an error, and a file".into()),
            Some(bytes) if bytes != work.whole => {
                Err("what was resumed differs from what an undisturbed run writes".into())
            }
            _ => Ok(()),
        }
    }
}

/// Fails unless the outcome is exit 0 with a verified answer, 1 with a negative cycle, or an error.
fn verified_or_refused(outcome: &Outcome, verify: bool) -> Result<(), String> {
    outcome.expect(&[0, 1, 2, 3])?;
    match outcome.code() {
        Some(0) if verify && !is_verified(&outcome.stdout) => Err("exit 0 without `verified`".into()),
        Some(1) if !outcome.stderr.contains("cycle of negative length") => {
            Err(format!("an answer that does not verify: {}", outcome.stderr.trim()))
        }
        _ => Ok(()),
    }
}

/// Whether the command said that every result verifies.
fn is_verified(said: &str) -> bool {
    if said.starts_with('{') {
        return said.contains("\"verified\":true") && !said.contains("\"verified\":false");
    }
    said.contains("verified") && !said.contains("not verified")
}
