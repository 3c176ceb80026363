//! The machine that a run was on, and how fast its memory is.

use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The facts about a machine and the program that ran on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The model of the processor.
    pub processor: String,
    /// The number of threads it runs at once.
    pub threads: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The operating system.
    pub system: String,
    /// The GPUs.
    pub gpus: Vec<Gpu>,
    /// Why there is no GPU.
    pub no_gpu: Option<String>,
    /// Warpath's version.
    pub version: String,
    /// The commit it was built from.
    pub commit: String,
    /// How the program was built: `release` or `debug`.
    pub build: String,
}

/// A GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// The engine that uses it, such as `cuda:0`.
    pub engine: String,
    /// The name.
    pub name: String,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Compute capability.
    pub capability: String,
    /// The driver: its version, if the system reports it, and the CUDA version that it supports.
    pub driver: String,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let (gpus, no_gpu) = match warpath::devices() {
            Ok(found) if found.is_empty() => (Vec::new(), Some("there is no GPU".to_owned())),
            Ok(found) => (found.into_iter().map(gpu).collect(), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        Machine {
            processor: processor(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: system.total_memory(),
            system: format!(
                "{} {}",
                sysinfo::System::long_os_version().unwrap_or_else(|| std::env::consts::OS.to_owned()),
                sysinfo::System::cpu_arch()
            ),
            gpus,
            no_gpu,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("WARPATH_COMMIT").to_owned(),
            build: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        }
    }

    /// One line for people.
    pub fn text(&self) -> String {
        const GIB: f64 = (1_u64 << 30) as f64;
        let mut text = format!(
            "{}, {} threads, {:.0} GiB, {}",
            self.processor,
            self.threads,
            self.memory_bytes as f64 / GIB,
            self.system
        );
        for gpu in &self.gpus {
            text += &format!(
                "; {}: {}, {:.0} GiB, driver {}",
                gpu.engine,
                gpu.name,
                gpu.memory_bytes as f64 / GIB,
                gpu.driver
            );
        }
        if self.gpus.is_empty() {
            text += "; no GPU";
        }
        text
    }

    /// The program: version, commit, build.
    pub fn program(&self) -> String {
        format!("Warpath {} ({}, {} build)", self.version, self.commit, self.build)
    }
}

fn gpu(info: warpath::DeviceInfo) -> Gpu {
    let (major, minor) = info.compute_capability;
    Gpu {
        engine: format!("cuda:{}", info.ordinal),
        name: info.name,
        memory_bytes: info.memory_bytes,
        capability: format!("{major}.{minor}"),
        driver: match info.driver_version {
            Some(version) => format!("{version}, CUDA {}", info.cuda_version),
            None => format!("for CUDA {}", info.cuda_version),
        },
    }
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |line: &str| Some(line.strip_prefix("model name")?.split_once(':')?.1.trim().to_owned());
    text.lines().find_map(named).unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// The best that a chip can do, with which achieved rates are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// `cpu` or `cuda`.
    pub engine: String,
    /// The unit, as in [`Work`].
    pub work: Work,
    /// The number per second.
    pub per_second: f64,
    /// How the number is known.
    pub source: String,
}

/// The unit of an algorithm's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Arcs of 4 bytes, read once: breadth-first search.
    Arcs,
    /// Arcs of 8 bytes, read once: shortest paths with weights.
    WeightedArcs,
    /// Minima of sums of 16-bit integers, two at once: dense all-pairs shortest paths, n^3 of them.
    Relaxations,
    /// Minima of sums of 32-bit integers.
    WideRelaxations,
    /// Pairs of bits: closure, n^3 of them.
    BitPairs,
}

impl Work {
    /// The unit in words.
    pub fn text(self) -> &'static str {
        match self {
            Work::Arcs => "arcs",
            Work::WeightedArcs => "arcs with weights",
            Work::Relaxations => "relaxations",
            Work::WideRelaxations => "relaxations in 32 bits",
            Work::BitPairs => "pairs of bits",
        }
    }
}

/// The ceilings of this machine's chips: the CPU's memory, measured now; for known GPUs, measurements of the same
/// model.
pub(crate) fn ceilings(machine: &Machine) -> Vec<Ceiling> {
    let bandwidth = read_bandwidth();
    let cpu = |work, bytes: f64| Ceiling {
        engine: "cpu".into(),
        work,
        per_second: bandwidth / bytes,
        source: format!("{:.1} GB/s read from memory by all threads, measured in this run", bandwidth / 1e9),
    };
    let mut all = vec![cpu(Work::Arcs, 4.0), cpu(Work::WeightedArcs, 8.0)];
    if machine.gpus.first().is_some_and(|gpu| gpu.name.contains("H200")) {
        let known = [
            (Work::Arcs, 4.26e12 / 4.0, "4.26 TB/s, a copy within the device"),
            (Work::WeightedArcs, 4.26e12 / 8.0, "4.26 TB/s, a copy within the device"),
            (Work::Relaxations, 31.8e12, "min-plus on pairs of 16-bit integers"),
            (Work::WideRelaxations, 15.9e12, "min-plus on 32-bit integers"),
            (Work::BitPairs, 508e12, "or-and on 32-bit words"),
        ];
        for (work, per_second, what) in known {
            let source = format!("{what}, measured on one H200");
            all.push(Ceiling { engine: "cuda".into(), work, per_second, source });
        }
    }
    all
}

/// The bytes per second at which all threads together read, front to back, an array that no cache holds.
fn read_bandwidth() -> f64 {
    const WORDS: usize = 1 << 25;
    let array = vec![1_u64; WORDS];
    let pass = || {
        let start = Instant::now();
        let sum: u64 =
            array.par_chunks(1 << 16).map(|chunk| chunk.iter().fold(0, |a: u64, b| a.wrapping_add(*b))).sum();
        std::hint::black_box(sum);
        (8 * WORDS) as f64 / start.elapsed().as_secs_f64()
    };
    (0..4).map(|_| pass()).fold(0.0, f64::max)
}
