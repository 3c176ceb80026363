//! `warpath devices`: what this machine offers, GPUs included, and the algorithms that run on it.

use serde::Serialize;
use warpath::algorithms::AlgorithmInfo;
use warpath::{DeviceInfo, Engine};

use crate::arguments::DevicesArguments;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print::{self, Table};

#[derive(Debug, Serialize)]
struct Devices {
    cpu: Cpu,
    cuda: Vec<Gpu>,
    /// Why there is no GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_cuda: Option<String>,
    algorithms: Vec<Algorithm>,
}

#[derive(Debug, Serialize)]
struct Cpu {
    threads: usize,
    vector_units: Vec<&'static str>,
    memory_available: u64,
}

#[derive(Debug, Serialize)]
struct Gpu {
    engine: String,
    name: String,
    memory: u64,
    compute_capability: String,
    /// The version of the driver itself, if the system reports it.
    driver: Option<String>,
    /// The version of CUDA that the driver supports.
    cuda_version: String,
    image: String,
}

impl Gpu {
    fn of(info: DeviceInfo) -> Self {
        let (major, minor) = info.compute_capability;
        Gpu {
            engine: format!("cuda:{}", info.ordinal),
            name: info.name,
            memory: info.memory_bytes,
            compute_capability: format!("{major}.{minor}"),
            driver: info.driver_version,
            cuda_version: info.cuda_version,
            image: info.image,
        }
    }
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

impl Algorithm {
    fn of(info: &AlgorithmInfo, engine: &'static str) -> Self {
        Algorithm {
            problem: info.problem.name(),
            name: info.name,
            parameters: info.parameters.iter().map(ToString::to_string).collect(),
            summary: info.summary,
            source: info.source,
            engine,
        }
    }
}

pub(crate) fn run(arguments: DevicesArguments) -> Result<ExitCode, Failure> {
    let (cuda, no_cuda) = match warpath::devices() {
        Ok(found) => (found.into_iter().map(Gpu::of).collect(), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let algorithms = [(Engine::Cpu, "cpu"), (Engine::Cuda(Vec::new()), "cuda")]
        .into_iter()
        .flat_map(|(engine, name)| engine.algorithms().into_iter().map(move |info| Algorithm::of(info, name)));
    let devices = Devices {
        cpu: Cpu {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            vector_units: vector_units(),
            memory_available: warpath::available_memory(),
        },
        cuda,
        no_cuda,
        algorithms: algorithms.collect(),
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
    for gpu in &devices.cuda {
        let Gpu { name, compute_capability, cuda_version, image, .. } = gpu;
        let memory = print::bytes(gpu.memory);
        table.row(gpu.engine.as_str(), format!("{name}, {memory}, compute capability {compute_capability}"));
        let driver = gpu.driver.as_ref().map_or_else(String::new, |version| format!(" {version}"));
        table.row("", format!("driver{driver} for CUDA {cuda_version}; kernels: {image}"));
    }
    if let Some(reason) = &devices.no_cuda {
        table.row("cuda", reason.as_str());
    }
    for algorithm in &devices.algorithms {
        table.row("", "");
        let name = format!("{} {}", algorithm.problem, algorithm.name);
        table.row(name, format!("{} ({})", algorithm.summary, algorithm.engine));
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
