//! The programs of the GAP benchmark suite, if `$GAPBS` or `--gap` names their folder.
//!
//! They time themselves and verify their own answers; how many vertices they reach is compared. The delta of `sssp` is
//! a parameter: the best of six for the first source is taken.

use std::path::Path;
use std::process::Command;

use warpath::problems::Problem;
use warpath::{Error, Format, Result, VertexId, WriteOptions};

use super::{Answer, Peered, Tools, process};
use crate::measure::{References, Task, Watch};

pub(super) fn run(task: &Task<'_>, tools: &Tools, references: &mut References, watch: &Watch) -> Answer {
    let Some(folder) = &tools.gap else {
        return Ok(Some(Err("--gap or $GAPBS names no folder with GAP's programs".into())));
    };
    let (name, extension) = if task.problem == Problem::Bfs { ("bfs", "sg") } else { ("sssp", "wsg") };
    let program = folder.join(name);
    if !program.is_file() {
        return Ok(Some(Err(format!("there is no {}", program.display()))));
    }
    let temporary = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), error))?;
    let file = temporary.path().join(format!("graph.{extension}"));
    WriteOptions::new().format(Format::Gap).write(task.graph, &file)?;
    let mut deltas = vec![None];
    if task.problem == Problem::Sssp {
        let greatest = task.graph.weight_range().1;
        deltas = [0.005, 0.01, 0.03, 0.3, 1.0, 3.0].map(|share| Some((greatest * share).max(1.0).round())).to_vec();
    }
    let one = Job { task, program: &program, file: &file, watch };
    let mut best: Option<(f64, Option<f64>)> = None;
    if let [_, _, ..] = deltas.as_slice() {
        let Some(&source) = task.sources.first() else { return Ok(None) };
        for &delta in &deltas {
            let Some(times) = one.search(source, delta, 1, None)? else { continue };
            if best.is_none_or(|(least, _)| times[0] < least) {
                best = Some((times[0], delta));
            }
        }
        let Some((_, delta)) = best else { return Ok(None) };
        deltas = vec![delta];
    }
    let delta = deltas[0];
    let mut peered = Peered {
        name: delta.map_or_else(|| "GAP bfs".to_owned(), |delta| format!("GAP sssp, delta {delta}")),
        prepare: 0.0,
        samples: Vec::new(),
        answers: Vec::new(),
        detail: Some("its own clock and verifier; the number of vertices reached is compared".into()),
    };
    for &source in task.sources {
        let expected = watch.allow(3.0 * task.limits.timeout, || references.get(task, Some(source), watch))?;
        let Some(times) = one.search(source, delta, task.repeats, Some(expected.reached))? else { return Ok(None) };
        peered.samples.push(times);
        peered.answers.push(expected);
    }
    Ok(Some(Ok(peered)))
}

struct Job<'a> {
    task: &'a Task<'a>,
    program: &'a Path,
    file: &'a Path,
    watch: &'a Watch,
}

impl Job<'_> {
    /// The times of some searches; `None` if they took too long.
    fn search(
        &self,
        source: VertexId,
        delta: Option<f64>,
        repeats: usize,
        reached: Option<u64>,
    ) -> Result<Option<Vec<f64>>> {
        let mut command = Command::new(self.program);
        command.arg("-f").arg(self.file).args(["-a", "-n", &repeats.to_string(), "-r", &source.to_string()]);
        if let Some(delta) = delta {
            command.args(["-d", &delta.to_string()]);
        }
        if reached.is_some() {
            command.arg("-v");
        }
        let seconds = self.task.limits.timeout * repeats as f64 + self.task.limits.timeout;
        let Some(ended) = process::run(&mut command, seconds, &self.watch.control)? else { return Ok(None) };
        let text = ended.output;
        let verified = !text.contains("FAIL") && reached.is_none_or(|count| text.contains(&format!(" {count} nodes")));
        if !verified {
            return Err(Error::NotVerified(format!("GAP's answer from {source} does not hold")));
        }
        let times: Vec<f64> = text
            .lines()
            .filter_map(|line| line.strip_prefix("Trial Time:"))
            .filter_map(|time| time.trim().parse().ok())
            .collect();
        if !ended.status.success() || times.len() != repeats {
            return Err(Error::invalid(format!("GAP's program failed: {}", ended.errors.trim())));
        }
        Ok(Some(times))
    }
}
