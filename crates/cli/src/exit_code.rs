//! How a command ends.

/// The number that a process ends with: 0 if the command did what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExitCode(pub(crate) u8);

impl ExitCode {
    pub(crate) const SUCCESS: Self = ExitCode(0);
    #[cfg(feature = "bench")]
    pub(crate) const FAILURE: Self = ExitCode(1);
}
