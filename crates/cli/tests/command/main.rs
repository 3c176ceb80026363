//! The command as its users meet it: each test starts the program. One test program holds them all, because each one is linked
//! with the whole library.

#![allow(missing_docs)]

mod common;

mod all_pairs;
mod answers;
mod bad_input;
#[cfg(feature = "bench")]
mod bench;
mod centralities;
#[cfg(target_os = "linux")]
mod cuda_drivers;
mod devices;
mod formats;
#[cfg(unix)]
mod interrupted;
#[cfg(target_os = "linux")]
mod memory;
mod outputs;
mod parquet;
mod paths;
mod pictures;
mod prepare;
mod readings;
mod readme;
mod real_graphs;
mod searches;
mod writers;
