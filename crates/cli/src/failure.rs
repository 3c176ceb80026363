//! Why the command could not do what was asked, with advice.

use miette::Diagnostic;
use warpath::Error;

/// Why the command could not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    error: Error,
    help: Option<String>,
    is_after_the_answer: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { error, help: None, is_after_the_answer: false }
    }
}

impl Failure {
    /// A mistake in the arguments that the parser can't see.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Error::invalid(message).into()
    }

    /// The engine `mpi` was asked for.
    #[cfg(not(feature = "mpi"))]
    pub(crate) fn without_mpi() -> Self {
        Failure::usage("this build of Warpath has no engine `mpi`, for it lacks the feature `mpi`")
            .help("`cargo install --path crates/cli --features mpi` installs one that has it, where MPI is installed")
    }

    /// The same failure, with advice.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same failure, where the answer has been printed before: a plan that does not fit.
    pub(crate) fn after_the_answer(mut self) -> Self {
        self.is_after_the_answer = true;
        self
    }

    /// Whether the answer has been printed before.
    pub(crate) fn is_after_the_answer(&self) -> bool {
        self.is_after_the_answer
    }

    /// What went wrong, without the advice.
    #[cfg(feature = "mpi")]
    pub(crate) fn into_error(self) -> Error {
        self.error
    }

    /// What went wrong.
    pub(crate) fn error(&self) -> &Error {
        &self.error
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.error)
    }
}

impl std::error::Error for Failure {}

impl Diagnostic for Failure {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        if let Some(help) = &self.help {
            return Some(Box::new(help));
        }
        match &self.error {
            Error::OutOfMemory { .. } => {
                Some(Box::new("`--plan` shows where the memory goes; `--memory` sets how much may be taken"))
            }
            Error::NegativeCycle(_) => {
                Some(Box::new("going round the cycle again and again, every path can get shorter"))
            }
            _ => None,
        }
    }
}
