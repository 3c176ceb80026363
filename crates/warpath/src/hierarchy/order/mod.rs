//! The order in which vertices are eliminated: nested dissection, made here.
//!
//! Vertices with at most two neighbours come first ([`reduce`]); what is left is dissected ([`dissect`]): a small
//! [`separator`] comes last, and the two sides are dissected in the same way. Small parts are ordered by
//! [`minimum_degree`]. [`estimate`](mod@estimate) says beforehand, roughly, what will come of it.
//!
//! METIS, the usual choice, takes its random numbers from the C library, so that its orders differ between machines and
//! between threads that run at once; and it installs signal handlers for the whole process, through which it leaves by
//! `longjmp` where memory is short. This one depends on the graph alone, uses all threads, and is plain Rust.

mod bisection;
mod coarse;
mod columns;
mod dissect;
mod estimate;
mod minimum_degree;
mod pattern;
mod random;
mod reduce;
mod refinement;
mod separator;

use crate::Result;
use crate::control::Control;
use crate::graph::VertexId;

pub use estimate::Estimate;
pub(super) use estimate::estimate;
pub(super) use pattern::Pattern;

/// The vertices in the order of their elimination. The same on every machine and with every number of threads.
///
/// # Errors
///
/// [`Error::InvalidRequest`](crate::Error::InvalidRequest) as soon as a separator is found that alone would lead to far more than
/// `limit` shortcuts;
/// [`Error::Interrupted`](crate::Error::Interrupted) after a cancellation; [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(super) fn nested_dissection(pattern: Pattern, limit: u64, control: &Control) -> Result<Vec<VertexId>> {
    let reduced = reduce::reduce(pattern)?;
    let mut order = reduced.first;
    let rest = dissect::dissect(&reduced.pattern, limit, control)?;
    order.extend(rest.into_iter().map(|place| reduced.left[place as usize]));
    Ok(order)
}
