//! Which engine answers: the CPU, or NVIDIA GPUs.

use std::fmt;
use std::str::FromStr;

use crate::algorithms::AlgorithmInfo;
use crate::{Error, Result, cpu, cuda};

/// Where requests are answered.
///
/// ```
/// use warpath::Engine;
/// assert_eq!("auto".parse::<Engine>()?, Engine::Auto);
/// assert_eq!("cuda:1,2".parse::<Engine>()?, Engine::Cuda(vec![1, 2]));
/// assert_eq!("cuda:all".parse::<Engine>()?.to_string(), "cuda:all");
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Engine {
    /// The engine that is predicted to answer sooner.
    #[default]
    Auto,
    /// All cores of the CPU.
    Cpu,
    /// These GPUs, by number, counted from 0; all GPUs if none is named. All-pairs shortest paths by searches, those of
    /// large graphs by matrices, and closures of large graphs by products, run on all of these GPUs; work for a single device runs on the first.
    Cuda(Vec<u32>),
}

impl Engine {
    /// Checks that the engine is available. No device is opened.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] with the reason if a requested GPU is missing.
    pub fn check(&self) -> Result<()> {
        let Engine::Cuda(ordinals) = self else { return Ok(()) };
        let count = cuda::devices()?.len();
        match ordinals.iter().find(|&&ordinal| ordinal as usize >= count) {
            Some(missing) => Err(cuda::no_such_device(*missing, count)),
            None => Ok(()),
        }
    }

    /// The algorithms of this engine, by problem; for [`Engine::Auto`] those of the CPU, then those of GPUs.
    ///
    /// ```
    /// use warpath::Engine;
    /// assert!(Engine::Cpu.algorithms().iter().any(|algorithm| algorithm.name == "delta-stepping"));
    /// ```
    pub fn algorithms(&self) -> Vec<&'static AlgorithmInfo> {
        match self {
            Engine::Auto => cpu::algorithms().chain(cuda::algorithms()).collect(),
            Engine::Cpu => cpu::algorithms().collect(),
            Engine::Cuda(_) => cuda::algorithms().collect(),
        }
    }
}

impl FromStr for Engine {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || {
            Error::invalid(format!(
                "`{text}` is not an engine; there are auto, cpu and cuda, and cuda:0, cuda:0,1 or cuda:all say which GPUs"
            ))
        };
        match text.split_once(':').unwrap_or((text, "")) {
            ("auto", "") if text == "auto" => Ok(Engine::Auto),
            ("cpu", "") if text == "cpu" => Ok(Engine::Cpu),
            ("cuda", "") if text == "cuda" => Ok(Engine::Cuda(vec![0])),
            ("cuda", "all") => Ok(Engine::Cuda(Vec::new())),
            ("cuda", list) => {
                let mut ordinals = Vec::new();
                for ordinal in list.split(',') {
                    let ordinal = ordinal.parse().map_err(|_| bad())?;
                    if !ordinals.contains(&ordinal) {
                        ordinals.push(ordinal);
                    }
                }
                Ok(Engine::Cuda(ordinals))
            }
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Engine::Auto => out.write_str("auto"),
            Engine::Cpu => out.write_str("cpu"),
            Engine::Cuda(ordinals) if ordinals.is_empty() => out.write_str("cuda:all"),
            Engine::Cuda(ordinals) => {
                let list: Vec<_> = ordinals.iter().map(u32::to_string).collect();
                write!(out, "cuda:{}", list.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_have_names() {
        let engines = [
            ("auto", Engine::Auto),
            ("cpu", Engine::Cpu),
            ("cuda:0", Engine::Cuda(vec![0])),
            ("cuda:3,1", Engine::Cuda(vec![3, 1])),
            ("cuda:all", Engine::Cuda(vec![])),
        ];
        for (text, engine) in engines {
            assert_eq!(text.parse::<Engine>().unwrap(), engine);
            assert_eq!(engine.to_string(), text);
        }
        assert_eq!("cuda".parse::<Engine>().unwrap(), Engine::Cuda(vec![0]));
        assert_eq!("cuda:1,1".parse::<Engine>().unwrap(), Engine::Cuda(vec![1]));
        for bad in ["", "gpu", "cpu:", "cpu:1", "auto:0", "cuda:", "cuda:x", "cuda:0,", "cuda:-1", "CUDA"] {
            let message = bad.parse::<Engine>().unwrap_err().to_string();
            assert!(message.contains("is not an engine"), "{message}");
        }
    }
}
