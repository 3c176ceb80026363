//! Repeats the papers' tables and figures, compares with peers, and makes one report for people.
//!
//! ```
//! use warpath::{Control, Engine};
//! use warpath_bench::{Options, Suite, Tools, run};
//!
//! let suite = Suite::named("singh")?;
//! let options = Options {
//!     quick: true,
//!     engine: Engine::Cpu,
//!     scale: None,
//!     timeout: None,
//!     budget: None,
//!     experiments: Vec::new(),
//!     graphs: Vec::new(),
//!     data: None,
//!     output: None,
//!     resume: false,
//!     tools: Tools::from_environment(),
//! };
//! let results = run(&suite, &options, &Control::new(), &mut |_| ())?;
//! assert_eq!(results.wrong(), 0);
//! println!("{}", warpath_bench::tables::markdown(&suite, &results));
//! # Ok::<(), warpath::Error>(())
//! ```
//!
//! A run goes from [`suite`] (what to measure) through `graphs` and `measure` (the clocks; every answer compared) to
//! [`results`] (`results.jsonl`). From these come [`tables`] and [`report`], [`compare`] compares two
//! runs, [`predictions`] holds the times against what the algorithms predict, and [`pages`] fills figures into Markdown.
//! [`peers`] are other programs, [`datasets`] are graphs that can't be generated. [`graph500`] is a benchmark with rules of its own.

mod claims;
pub mod compare;
pub mod comparison;
pub mod datasets;
mod digest;
pub mod graph500;
mod graphs;
mod jobs;
mod machine;
mod measure;
mod orders;
pub mod pages;
pub mod peers;
pub mod predictions;
mod ratios;
pub mod report;
pub mod results;
mod run;
#[cfg(feature = "peers")]
mod serve;
mod spread;
pub mod suite;
pub mod tables;
mod text;

pub use digest::Digest;
pub use machine::{Ceiling, Gpu, Machine, Work};
pub use peers::Tools;
pub use results::Results;
pub use run::{Event, Options, render, run};
#[cfg(feature = "peers")]
pub use serve::serve;
pub use suite::Suite;
