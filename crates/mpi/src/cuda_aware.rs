//! Messages between GPUs by an MPI that takes addresses of their memory, which is called *CUDA-aware*. Numbers that ranks reduce still go through the hosts.
//!
//! *Invariants.* MPI is given live values of the types that it writes, and addresses and lengths that the caller vouches for. No request outlives the call that made it, unless MPI fails: then all
//! ranks end, by MPI itself or in `World::exchange_by`.

use std::ffi::{CStr, c_int, c_void};
use std::fmt;
use std::mem::MaybeUninit;

use mpi::ffi;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{AsRaw, Equivalence};
use warpath::parts::{DeviceMessages, Piece};
use warpath::{Error, Result};

use crate::world::{Reduction, World, reduce_among};

/// Whether the MPI says that it takes addresses of GPU memory. Open MPI and MPICH have a function for that. In Open MPI 4 it tells what the library was
/// built for, even where that is switched off or CUDA was not found: a control variable tells the rest.
pub(crate) fn is_cuda_aware() -> bool {
    #[cfg(unix)]
    {
        if control_variable(c"opal_cuda_support") == Some(0) {
            return false;
        }
        let program = libloading::os::unix::Library::this();
        // SAFETY: it has this type in both.
        let function = unsafe { program.get::<unsafe extern "C" fn() -> c_int>(b"MPIX_Query_cuda_support\0") };
        // SAFETY: it takes nothing, and MPI runs.
        function.is_ok_and(|function| unsafe { function() } == 1)
    }
    #[cfg(not(unix))]
    false
}

/// The value of one of the MPI's control variables, if it has it. MPI runs, and the thread that started it calls this: asked by another thread, before MPI ran, Open MPI damaged
/// its memory.
fn control_variable(name: &CStr) -> Option<u64> {
    let succeeded = |status: c_int| (status == ffi::MPI_SUCCESS as c_int).then_some(());
    let (mut provided, mut index, mut count, mut value) = (0, 0, 0, 0_u64);
    // SAFETY: the pointer is to a live integer. Every initialization has an end.
    succeeded(unsafe { ffi::MPI_T_init_thread(ffi::MPI_THREAD_SINGLE as c_int, &raw mut provided) })?;
    let mut read = || {
        let mut handle = MaybeUninit::uninit();
        // SAFETY: the name ends with 0, and the pointer is to a live integer.
        succeeded(unsafe { ffi::MPI_T_cvar_get_index(name.as_ptr(), &raw mut index) })?;
        let none = std::ptr::null_mut();
        // SAFETY: variables of the whole process are bound to nothing, and the pointers are to a handle and a live integer.
        succeeded(unsafe { ffi::MPI_T_cvar_handle_alloc(index, none, handle.as_mut_ptr(), &raw mut count) })?;
        // SAFETY: it was just made.
        let mut handle = unsafe { handle.assume_init() };
        // SAFETY: a single number or truth value takes no more than eight bytes.
        let was_read = (count == 1).then(|| unsafe { ffi::MPI_T_cvar_read(handle, (&raw mut value).cast()) });
        // SAFETY: it was made, and is used no more.
        succeeded(unsafe { ffi::MPI_T_cvar_handle_free(&raw mut handle) })?;
        succeeded(was_read?)
    };
    let found = read();
    // SAFETY: it was initialized.
    succeeded(unsafe { ffi::MPI_T_finalize() })?;
    found.map(|()| value)
}

/// Messages between addresses that MPI takes: those of the host and, if it is CUDA-aware, those of GPUs. They go through a communicator of their own.
pub struct CudaAware(SimpleCommunicator);

impl fmt::Debug for CudaAware {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CudaAware")
    }
}

impl CudaAware {
    /// Those of all ranks, which make them together.
    pub fn new(world: &World) -> Self {
        CudaAware(world.duplicate())
    }
}

impl DeviceMessages for CudaAware {
    unsafe fn exchange(&self, sent: &[Piece], received: &[Piece]) -> Result<()> {
        let (word, communicator) = (u32::equivalent_datatype().as_raw(), self.0.as_raw());
        let mut requests = Vec::new();
        let mut begin = |call: &dyn Fn(*mut ffi::MPI_Request) -> c_int| -> Result<()> {
            let mut request = MaybeUninit::uninit();
            check(call(request.as_mut_ptr()))?;
            // SAFETY: MPI has written it.
            requests.push(unsafe { request.assume_init() });
            Ok(())
        };
        // A message comes where it belongs if that is known before it is sent.
        for Piece { peer, address, words } in received.iter().flat_map(parts_of) {
            // SAFETY: the caller's promise for the memory; the type is that of a word.
            begin(&|request| unsafe {
                let (to, words, from) = (address as *mut c_void, words as c_int, peer as c_int);
                ffi::MPI_Irecv(to, words, word, from, TAG, communicator, request)
            })?;
        }
        for Piece { peer, address, words } in sent.iter().flat_map(parts_of) {
            // SAFETY: as above.
            begin(&|request| unsafe {
                let (from, words, to) = (address as *const c_void, words as c_int, peer as c_int);
                ffi::MPI_Isend(from, words, word, to, TAG, communicator, request)
            })?;
        }
        let mut statuses = Vec::<ffi::MPI_Status>::with_capacity(requests.len());
        // SAFETY: there is a place for the status of each request.
        check(unsafe { ffi::MPI_Waitall(requests.len() as c_int, requests.as_mut_ptr(), statuses.as_mut_ptr()) })
    }

    fn least(&self, numbers: &mut [u64]) -> Result<()> {
        reduce_among(&self.0, Reduction::Least, numbers);
        Ok(())
    }
}

/// The kind of these messages: there is no other one in their communicator.
const TAG: c_int = 0;

/// A piece in parts that MPI's counts have room for.
fn parts_of(piece: &Piece) -> impl Iterator<Item = Piece> + use<> {
    const MOST: usize = 1 << 30;
    let Piece { peer, address, words } = *piece;
    (0..words).step_by(MOST).map(move |begin| Piece {
        peer,
        address: address + 4 * begin as u64,
        words: MOST.min(words - begin),
    })
}

fn check(status: c_int) -> Result<()> {
    if status == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    Err(Error::Device(format!("messages between GPUs by MPI failed with error {status}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_piece_goes_in_parts_that_mpi_counts() {
        let long = Piece { peer: 3, address: 8, words: (1 << 31) + 5 };
        let parts: Vec<_> = parts_of(&long).collect();
        assert_eq!(parts.iter().map(|part| part.words).collect::<Vec<_>>(), [1 << 30, 1 << 30, 5]);
        assert_eq!(parts[2], Piece { peer: 3, address: 8 + (4 << 31), words: 5 });
        assert_eq!(parts_of(&Piece { words: 0, ..long }).count(), 0);
    }
}
