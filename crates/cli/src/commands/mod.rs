//! One file per command.

pub(crate) mod apsp;
#[cfg(feature = "bench")]
pub(crate) mod bench;
pub(crate) mod centrality;
pub(crate) mod closure;
pub(crate) mod completions;
pub(crate) mod components;
pub(crate) mod convert;
#[cfg(feature = "bench")]
pub(crate) mod datasets;
pub(crate) mod devices;
pub(crate) mod info;
pub(crate) mod path;
pub(crate) mod prepare;
mod scores;
pub(crate) mod search;
