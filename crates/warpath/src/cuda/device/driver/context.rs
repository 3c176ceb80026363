//! The context of a driver: what is current while it is called, its streams, and what ruined it.
//!
//! *Invariants.* As in `driver.rs`.

use std::marker::PhantomData;
use std::sync::OnceLock;

use cudarc::driver::sys;

use super::super::library::{self, Status};
use super::super::{STREAMS, Stream};
use super::status::{describe, is_sticky};
use crate::{Error, Result};

/// A context with its streams. Handles are kept as numbers: the driver lets any thread use them.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) ordinal: u32,
    pub(super) handle: usize,
    /// Whether it is the primary one, which belongs to the whole process.
    pub(super) is_primary: bool,
    pub(super) streams: [usize; STREAMS],
    /// What ruined it, if something did.
    pub(super) lost: OnceLock<String>,
}

/// A context is current on this thread until this is dropped; then that is which was before.
pub(super) struct Entered {
    /// Each thread has a current context of its own.
    pub(super) stays_here: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut popped = std::ptr::null_mut();
        // SAFETY: the pointer is to a live handle. It pops the context that was pushed when this was made: everything
        // that was pushed since then has been popped. It fails only where no context is of any use any more.
        let _ = unsafe { library::cuCtxPopCurrent_v2(&raw mut popped) };
    }
}

impl Context {
    /// Makes the context current on this thread, as long as the returned value lives.
    ///
    /// # Errors
    ///
    /// If the context is lost.
    pub(super) fn enter(&self) -> Result<Entered> {
        if let Some(reason) = self.lost.get() {
            let ordinal = self.ordinal;
            return Err(Error::Device(format!("cuda:{ordinal} is lost, and has to be opened again, since {reason}")));
        }
        // SAFETY: the context lives until `self` is dropped.
        let pushed = unsafe { library::cuCtxPushCurrent_v2(self.handle as sys::CUcontext) };
        self.check("entering the context", pushed)?;
        Ok(Entered { stays_here: PhantomData })
    }

    pub(super) fn stream(&self, stream: Stream) -> sys::CUstream {
        self.streams[stream as usize] as sys::CUstream
    }

    /// The error in a result, with the name of the operation; after some errors the context is lost.
    pub(super) fn check(&self, doing: &str, result: Status) -> Result<()> {
        if result == Status::SUCCESS {
            return Ok(());
        }
        let message = format!("{doing} failed: {}", describe(result));
        if is_sticky(result) {
            // The first reason stays.
            let _ = self.lost.set(message.clone());
        }
        Err(Error::Device(format!("cuda:{}: {message}", self.ordinal)))
    }

    pub(super) fn synchronize_with_others(&self) -> Result<()> {
        let _entered = self.enter()?;
        // SAFETY: the context is current.
        let result = unsafe { library::cuCtxSynchronize() };
        self.check("waiting for the device", result)
    }

    pub(super) fn synchronize(&self) -> Result<()> {
        let _entered = self.enter()?;
        let wait = |stream| {
            // SAFETY: the stream is of this context, which is current.
            let result = unsafe { library::cuStreamSynchronize(stream as sys::CUstream) };
            self.check("waiting for the device", result)
        };
        // All of them are waited for, whatever one says: memory that they use may go next.
        self.streams.map(wait).into_iter().fold(Ok(()), Result::and)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_primary {
            // Others use it. It was kept until it was lost, and what is left in it is lost, too.
            return;
        }
        // SAFETY: nothing that belongs to the context is used after it: events hold it, and so does the device, which
        // memory holds. It is current on no thread, and takes its streams, modules and pinned pieces along. An error means
        // that there is nothing left to destroy.
        let _ = unsafe { library::cuCtxDestroy_v2(self.handle as sys::CUcontext) };
    }
}
