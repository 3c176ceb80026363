//! What signals do to the command.
//!
//! Ctrl-C (SIGINT), SIGTERM and SIGHUP cancel the work; a second one ends the process at once. One that the command was
//! told to ignore, as `nohup` does with SIGHUP, stays ignored. Writing beyond the limit of a file's size is an error like
//! a full disk.
//!
//! *Invariants.* The one unsafe call asks what becomes of a signal, and changes nothing.

use warpath::Control;
use warpath::formats::remove_partial_files;

/// Says that no limit of a file's size ends the process: whoever writes gets an error instead, and cleans up.
pub(crate) fn prepare() {
    // That the signal has a handler is enough.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(libc::SIGXFSZ, std::sync::Arc::default());
}

/// Cancels the work at the first signal, and ends the process at the second, without the files that it was making.
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
    let (ready, registered) = std::sync::mpsc::sync_channel(1);
    #[cfg(unix)]
    let _ = std::thread::Builder::new().spawn(move || {
        let all = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
        let handled = all.into_iter().filter(|&signal| !is_ignored(signal));
        if let Ok(mut signals) = signal_hook::iterator::Signals::new(handled) {
            let _ = ready.send(());
            signals.forever().for_each(|_| handle());
        }
    });
    // The sender is gone where there is no thread or no handler.
    #[cfg(unix)]
    let _ = registered.recv();
    #[cfg(not(unix))]
    let _ = ctrlc::set_handler(handle);
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
