//! How a command ends.

use warpath::ErrorKind;

/// The number that a process ends with: 0 if the command did what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExitCode(pub(crate) u8);

impl ExitCode {
    /// For an error of this kind.
    pub(crate) fn of(kind: ErrorKind) -> Self {
        ExitCode(match kind {
            ErrorKind::Answer => 1,
            ErrorKind::Usage => 2,
            ErrorKind::Resources => 3,
            ErrorKind::Interrupted => 130,
        })
    }

    pub(crate) const SUCCESS: Self = ExitCode(0);
    #[cfg(feature = "bench")]
    pub(crate) const FAILURE: Self = ExitCode(1);
}
