//! `warpath devices`: what this machine offers, and the algorithms that run on it.

use std::process::ExitCode;

use serde::Serialize;
use warpath::cpu;

use crate::arguments::DevicesArguments;
use crate::failure::Failure;
use crate::print::{self, Table};

#[derive(Debug, Serialize)]
struct Devices {
    cpu: Cpu,
    cuda: Vec<()>,
    algorithms: Vec<Algorithm>,
}

#[derive(Debug, Serialize)]
struct Cpu {
    threads: usize,
    vector_units: Vec<&'static str>,
    memory_available: u64,
}

#[derive(Debug, Serialize)]
struct Algorithm {
    problem: &'static str,
    name: &'static str,
    parameters: Vec<String>,
    summary: &'static str,
    source: &'static str,
    engine: &'static str,
}

pub(crate) fn run(arguments: DevicesArguments) -> Result<ExitCode, Failure> {
    let devices = Devices {
        cpu: Cpu {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            vector_units: vector_units(),
            memory_available: warpath::available_memory(),
        },
        cuda: Vec::new(),
        algorithms: cpu::algorithms()
            .map(|info| Algorithm {
                problem: info.problem.name(),
                name: info.name,
                parameters: info.parameters.iter().map(|p| format!("{}: {}", p.name, p.summary)).collect(),
                summary: info.summary,
                source: info.source,
                engine: "cpu",
            })
            .collect(),
    };
    if arguments.json {
        print::json(&devices)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new();
    let units = devices.cpu.vector_units.join(", ");
    let memory = print::bytes(devices.cpu.memory_available);
    let threads = print::count(devices.cpu.threads, "thread", "threads");
    table.row("cpu", format!("{threads}, {units}, {memory} of memory available"));
    table.row("cuda", "this version of Warpath has no CUDA engine");
    for algorithm in &devices.algorithms {
        table.row("", "");
        table.row(format!("{} {}", algorithm.problem, algorithm.name), algorithm.summary);
        algorithm.parameters.iter().for_each(|parameter| table.row("", parameter.as_str()));
        table.row("", format!("from {}", algorithm.source));
    }
    table.print()?;
    Ok(ExitCode::SUCCESS)
}

fn vector_units() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let found = [
            ("AVX-512", is_x86_feature_detected!("avx512f")),
            ("AVX2", is_x86_feature_detected!("avx2")),
            ("SSE2", true),
        ];
        found.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        vec!["portable"]
    }
}
