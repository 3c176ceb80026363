//! What signals do to the command.
//!
//! Ctrl-C (SIGINT), SIGTERM and SIGHUP cancel the work; a second signal ends the process at once. A signal that the
//! command was told to ignore, as `nohup` does with SIGHUP, stays ignored. Exceeding the file-size limit is an error
//! like a full disk.
//!
//! *Invariants.* The unsafe calls ask how a signal is handled, and change which signals are held back; they write only
//! to local values of the functions that call them.

use warpath::Control;
use warpath::formats::remove_partial_files;

/// Keeps the file-size limit from ending the process: the write fails instead, and the writer cleans up.
pub(crate) fn prepare() {
    // Having a handler is enough; it need not do anything.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(libc::SIGXFSZ, std::sync::Arc::default());
}

/// Cancels the work at the first signal. At the second, ends the process and removes its unfinished files. Call this
/// before starting other threads: they might take a signal that is held back here.
///
/// If no handler can be installed, Ctrl-C still ends the process, only less cleanly.
pub(crate) fn cancel_at_the_first(control: &Control) {
    let control = control.clone();
    let handle = move || {
        if control.is_cancelled() {
            remove_partial_files();
            std::process::exit(130);
        }
        control.cancel();
    };
    #[cfg(unix)]
    {
        let all = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
        let handled: Vec<_> = all.into_iter().filter(|&signal| !is_ignored(signal)).collect();
        held_back(&handled.clone(), || {
            let (ready, registered) = std::sync::mpsc::sync_channel(1);
            let _ = std::thread::Builder::new().spawn(move || {
                if let Ok(mut signals) = signal_hook::iterator::Signals::new(handled) {
                    let _ = ready.send(());
                    signals.forever().for_each(|_| handle());
                }
            });
            // The sender is gone if there is no thread or no handler.
            let _ = registered.recv();
        });
    }
    #[cfg(not(unix))]
    let _ = ctrlc::set_handler(handle);
}

/// Does some work while arriving signals wait. Otherwise a signal would be lost if it arrived after its handler was
/// installed but before the handler's action was set.
#[cfg(unix)]
fn held_back(signals: &[libc::c_int], work: impl FnOnce()) {
    // SAFETY: an all-zero set is a valid value, which is emptied or overwritten next.
    let (mut held, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
    // SAFETY: both sets are live, and the calls write to nothing else.
    unsafe {
        libc::sigemptyset(&raw mut held);
        for &signal in signals {
            libc::sigaddset(&raw mut held, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held, &raw mut before);
    }
    work();
    // SAFETY: the set is live, and is what the call above wrote.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
}

/// Whether a signal is ignored, as the starter of the command wished.
#[cfg(unix)]
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: an all-zero sigaction is a valid value, which the call overwrites.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action, the call does nothing but write the present one to a live sigaction.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}
