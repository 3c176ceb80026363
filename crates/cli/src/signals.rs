//! What signals do to the command.
//!
//! Ctrl-C (SIGINT), SIGTERM and SIGHUP cancel the work; a second one ends the process at once. One that the command was
//! told to ignore, as `nohup` does with SIGHUP, stays ignored. Writing beyond the limit of a file's size is an error like
//! a full disk.

use warpath::Control;
use warpath::formats::remove_partial_files;

/// Says that no limit of a file's size ends the process: whoever writes gets an error instead, and cleans up.
pub(crate) fn prepare() {
    #[cfg(unix)]
    // SAFETY: to ignore a signal runs no code, and no other thread is there yet.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Cancels the work at the first signal, and ends the process at the second, without the files that it was making.
pub(crate) fn cancel_at_the_first(control: &Control) {
    let ignored = ignored();
    let control = control.clone();
    // Without a handler, Ctrl-C still ends the process, only less cleanly.
    let _ = ctrlc::set_handler(move || {
        if control.is_cancelled() {
            remove_partial_files();
            std::process::exit(130);
        }
        control.cancel();
    });
    ignore(&ignored);
}

/// Which of the signals that the handler is for are ignored.
#[cfg(unix)]
fn ignored() -> Vec<libc::c_int> {
    let is_ignored = |signal: &libc::c_int| {
        // SAFETY: an all-zero sigaction is a valid value, which the call overwrites.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: without a new action, the call does nothing but write the present one to a live sigaction.
        let asked = unsafe { libc::sigaction(*signal, std::ptr::null(), &raw mut action) };
        asked == 0 && action.sa_sigaction == libc::SIG_IGN
    };
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().filter(is_ignored).collect()
}

#[cfg(unix)]
fn ignore(signals: &[libc::c_int]) {
    for &signal in signals {
        // SAFETY: to ignore a signal runs no code; the handler it replaces is the one just installed.
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

#[cfg(not(unix))]
fn ignored() {}

#[cfg(not(unix))]
fn ignore((): &()) {}
