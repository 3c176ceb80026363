//! Memory: how much there is, and taking it without the risk of being killed.

mod limits;

pub use limits::available_memory;
