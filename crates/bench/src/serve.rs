//! What a worker does: it calls linked packages for the bench, which can kill it.

use std::path::Path;
use std::sync::Arc;

use warpath::Result;

use crate::peers::link::Link;
use crate::peers::messages::Message;
use crate::{jobs, peers};

/// Calls linked packages on the graph in a file, as requests on standard input say. The process ends when its input does.
///
/// # Errors
///
/// If the graph can't be read, or a call fails; standard output says the latter, too.
pub fn serve(graph: &Path) -> Result<()> {
    let link = Link::open();
    let graph = Arc::new(warpath::read(graph)?);
    link.say(&Message::<()>::Loaded)?;
    let mut built = jobs::packages::Built::default();
    loop {
        let case = link.case()?;
        link.end(match case.package.as_str() {
            "petgraph" | "rustworkx-core" | "graph" => peers::packages::search(&link, &graph, case),
            #[cfg(test)]
            "sleeper" => tests::sleep(&link),
            _ => jobs::packages::answer(&link, &graph, case, &mut built),
        })?;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::peers::Tools;
    use crate::peers::messages::{Case, Counters, Ready, Reply, Request};
    use crate::results::Clock;

    /// A package whose calls never end.
    pub(super) fn sleep(link: &Link) -> Result<Counters> {
        let counters = Counters::new();
        let ready = Ready { name: "x".into(), ran_on: None, clock: Clock::Host, prepare: 0.0, counters, at_once: 1 };
        link.answer::<()>(ready, &mut |_| {
            println!("it sleeps");
            std::thread::sleep(Duration::from_secs(1 << 20));
            Ok(Reply { seconds: 0.0, answers: Vec::new() })
        })?;
        Ok(Counters::new())
    }

    #[test]
    #[ignore = "a worker: other tests start it"]
    fn work() {
        let last = std::env::args_os().next_back().map(std::path::PathBuf::from).unwrap();
        if last.extension().is_some_and(|extension| extension == "wpg") {
            serve(&last).unwrap();
        }
    }

    #[test]
    fn a_worker_ends_with_the_bench_even_in_a_call() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("graph.wpg");
        warpath::write(&warpath::generate("grid:3x3").unwrap(), &file).unwrap();
        let worker = Tools::for_tests("python3".into(), None).worker.unwrap();
        let mut command = Command::new(&worker[0]);
        command.args(&worker[1..]).arg(&file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let case = Case { package: "sleeper".into(), questions: serde_json::Value::Null };
        for request in [Request::Case(case), Request::Questions(0..1)] {
            writeln!(input, "{}", serde_json::to_string(&request).unwrap()).unwrap();
        }
        let output = BufReader::new(child.stdout.take().unwrap());
        assert!(output.lines().map_while(|line| line.ok()).any(|line| line == "it sleeps"));
        drop(input);
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
