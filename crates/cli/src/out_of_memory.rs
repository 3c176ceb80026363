//! How a failed small allocation ends: with exit code 3, as for every lack of memory.
//!
//! The library allocates its large arrays so that a refusal is an ordinary error. Small allocations remain everywhere,
//! also in other packages. If one is refused, the standard library prints how many bytes were asked for and aborts. To
//! a script that looks like a crash, and it may leave a core dump. The system's own library aborts as well, for example
//! for a thread that is about to end, whichever code took the last memory. So the command has an [`Allocator`] that
//! remembers whether memory was refused. A handler of the abort signal then ends the process with code 3, as it does if
//! no addresses are available at that moment. Any other abort stays as it is. Unfinished files are removed first.
//!
//! *Invariants.* The allocator hands out only what the system's allocator does. It records a refusal in an atomic, and
//! the handler asks the system for pages of its own and gives them back at once. Both take no lock and no memory of the
//! allocator, so a signal handler may do them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether a request was refused.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// The system's allocator, remembering refusals.
#[derive(Debug)]
pub struct Allocator;

fn noted(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        REFUSED.store(true, Relaxed);
    }
    memory
}

// SAFETY: every call goes to the system's allocator with the arguments given, and what that returns is returned.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        noted(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        noted(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        noted(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// From now on, an abort because of a refused allocation exits with code 3. So does the panic of the standard library
/// when a new thread can't have the stack that handles its stack overflow. A panic that becomes an error is not printed.
pub fn end_with_code_3() {
    let otherwise = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.payload().downcast_ref::<String>();
        if said.is_some_and(|said| said.starts_with("failed to allocate an alternative stack")) {
            crate::print::to_stderr("there is too little memory for the stacks of threads");
            warpath::formats::remove_partial_files();
            std::process::exit(3);
        }
        // An error tells of it.
        if !warpath::formats::panics_are_contained() {
            otherwise(panic);
        }
    }));
    #[cfg(unix)]
    {
        extern "C" fn on_abort(_: libc::c_int) {
            if REFUSED.load(Relaxed) || !has_addresses() {
                // The standard library has already printed its message. No destructor runs from here.
                warpath::formats::remove_partial_files();
                // SAFETY: ends the process; a handler may call it at any time.
                unsafe { libc::_exit(3) };
            }
            // Otherwise the handler returns, and `abort` ends the process by the signal.
        }
        /// Whether the system would hand out a megabyte.
        fn has_addresses() -> bool {
            const BYTES: usize = 1 << 20;
            let (access, kind) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANON);
            // SAFETY: new pages, wherever there is room, in place of nothing.
            let pages = unsafe { libc::mmap(std::ptr::null_mut(), BYTES, access, kind, -1, 0) };
            // SAFETY: these pages, which nobody else knows of.
            pages != libc::MAP_FAILED && unsafe { libc::munmap(pages, BYTES) } == 0
        }
        let handler = on_abort as extern "C" fn(libc::c_int);
        // SAFETY: the handler is a function of the type that is asked for, and calls nothing that a handler may not.
        unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
    }
}
