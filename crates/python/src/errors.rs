//! Exceptions for errors.

use pyo3::exceptions::{
    PyException, PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError,
    PyValueError,
};
use pyo3::{PyErr, create_exception};
use warpath::Error;

create_exception!(
    warpath,
    NegativeCycleError,
    PyException,
    "There is no shortest path: a cycle of negative length can be reached."
);
create_exception!(warpath, VerificationError, PyException, "A result that its certificate does not confirm.");

/// The exception for an error.
pub(crate) fn exception(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Io { source, .. } => match source.raw_os_error() {
            // With an error number Python chooses the class, such as FileNotFoundError.
            Some(number) => PyOSError::new_err((number, message)),
            None => PyOSError::new_err(message),
        },
        Error::Input(_) | Error::InvalidRequest(_) => PyValueError::new_err(message),
        Error::UnknownVertex { .. } => PyIndexError::new_err(message),
        Error::NegativeCycle(_) => NegativeCycleError::new_err(message),
        Error::NotVerified(_) => VerificationError::new_err(message),
        Error::DistanceOverflow { .. } => PyOverflowError::new_err(message),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(message),
        Error::Interrupted => PyKeyboardInterrupt::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}
