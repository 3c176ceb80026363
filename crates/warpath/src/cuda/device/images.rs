//! The compiled kernels, as `cargo xtask kernels` builds them.
