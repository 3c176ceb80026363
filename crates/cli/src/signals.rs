//! What signals do to the command.
//!
//! Ctrl-C (SIGINT), SIGTERM and SIGHUP cancel the work; a second one ends the process at once. One that the command was
//! told to ignore, as `nohup` does with SIGHUP, stays ignored. Writing beyond the limit of a file's size is an error like
//! a full disk.
//!
//! *Invariants.* The unsafe calls ask what becomes of a signal, and change which ones wait; all they write to are values of
//! the functions that call them.

use warpath::Control;
use warpath::formats::remove_partial_files;

/// Says that no limit of a file's size ends the process: whoever writes gets an error instead, and cleans up.
pub(crate) fn prepare() {
    // That the signal has a handler is enough.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(libc::SIGXFSZ, std::sync::Arc::default());
}

/// Cancels the work at the first signal, and ends the process at the second, without the files that it was making. To be
/// called before other threads are started, which might take a signal that is held back here.
///
/// Where there can be no handler, Ctrl-C still ends the process, only less cleanly.
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
            // The sender is gone where there is no thread or no handler.
            let _ = registered.recv();
        });
    }
    #[cfg(not(unix))]
    let _ = ctrlc::set_handler(handle);
}

/// Does some work while signals that come have to wait until it is done: one that came when its handler is there, but not
/// yet what the handler does, would be lost.
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

/// Whether a signal is ignored, as whoever started the command wished.
#[cfg(unix)]
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: an all-zero sigaction is a valid value, which the call overwrites.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action, the call does nothing but write the present one to a live sigaction.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}
