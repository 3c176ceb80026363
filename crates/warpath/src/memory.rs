//! Memory: how much there is, and taking it without the risk of being killed.

pub(crate) mod allocation;
mod growing;
mod limits;

use crate::Error;

pub(crate) use allocation::{
    bytes_of, collected, copied, filled, grow, listed, refused, reserve, resize, with_capacity, zeroed,
};
pub(crate) use growing::GrowingBytes;
pub use limits::available_memory;

/// How much of the `available` memory to spend on an array whose final size is unknown: a part is left for small
/// unplanned allocations, page tables, and other programs.
pub(crate) fn spendable(available: u64) -> u64 {
    const AT_LEAST: u64 = 64 << 20;
    available - (available / 8).max(AT_LEAST).min(available / 2)
}

/// How many threads of the pool can work at once if each needs `bytes_each` of memory: as many as fit.
///
/// # Errors
///
/// If there is too little for one.
pub(crate) fn workers(what: &str, bytes_each: u64) -> crate::Result<usize> {
    /// For fewer bytes, finding out the available memory is not worth its cost.
    const SMALL: u64 = 1 << 24;
    let threads = rayon::current_num_threads();
    if bytes_each.saturating_mul(threads as u64) <= SMALL {
        return Ok(threads);
    }
    let available = spendable(available_memory());
    match available / bytes_each {
        0 => Err(Error::OutOfMemory { what: what.to_owned(), needed: bytes_each, available }),
        fit => Ok(threads.min(usize::try_from(fit).unwrap_or(threads))),
    }
}

/// The error where the system starts no more threads, each of which takes memory of its own.
pub(crate) fn no_threads(wanted: usize, why: impl std::fmt::Display) -> Error {
    let wanted = match wanted {
        0 => "a thread for each core".to_owned(),
        1 => "a thread".to_owned(),
        _ => format!("{wanted} threads"),
    };
    Error::NoThreads(format!("{wanted} can't be started: {why}; there may be a limit on memory or on processes"))
}
