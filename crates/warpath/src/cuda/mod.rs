//! The engine for NVIDIA GPUs: one folder a problem, one file an algorithm.
//!
//! `device` hides what runs the kernels: the driver or, in tests, an emulator on the CPU.

pub(crate) mod device;
