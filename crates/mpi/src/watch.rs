//! Ends the process when it waits too long for other ranks: a rank that died without a word, or a link that was cut. Also when the
//! work is cancelled, as by Ctrl-C.
//!
//! A wait in MPI can't be broken off from within. So a thread looks at the clock and at the handle of the work, and ends the
//! process; the launcher takes that for a failure and ends the other ranks.
//!
//! Ranks that work on their own, such as on rows of a matrix, tell nobody that they do, but they write into a file that all see. Each write
//! that a waiting rank finds there begins the timeout anew.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use warpath::{Control, Error, Result};

/// The code that a process ends with when other ranks are silent: resources are missing.
const SILENT_RANKS: i32 = 3;
/// The code of a process that was interrupted.
const INTERRUPTED: i32 = 130;
/// How often the thread looks at the clock,
const INTERVAL: Duration = Duration::from_millis(100);
/// and at a file.
const INTERVAL_OF_FILES: Duration = Duration::from_secs(1);

/// A rank that has done its share waits so many times as long as that took for others with as large a share; and after a write it waits for the next
/// one so many times the longest pause that there was before one.
const PATIENCE: u32 = 4;

/// Knows since when a rank waits.
pub(crate) struct Watch {
    wait: Arc<Mutex<Option<Wait>>>,
    /// How many ranks there are, each of which may write into a file.
    ranks: usize,
}

/// A wait, which ends when this is dropped.
pub(crate) struct Waiting<'a>(&'a Watch);

/// Others may have far more to do than a rank that waits for them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leisure<'a> {
    /// How long the work of this rank took, if that of others may take as long; `None` if nothing is known of theirs.
    pub(crate) took: Option<Duration>,
    /// The file that they write into, if they do.
    pub(crate) file: Option<&'a Path>,
}

#[derive(Debug)]
struct Wait {
    /// When it began, or another rank was last seen at work.
    since: Instant,
    /// How much longer than the timeout it may last from then on; `None` for any time.
    patience: Option<Duration>,
    file: Option<Written>,
}

/// A file that others write into.
#[derive(Debug, Clone)]
struct Written {
    path: PathBuf,
    /// When it was last written, as far as that is known.
    at: Option<SystemTime>,
    /// How often that was during the wait, and the longest pause before one of these writes.
    times: usize,
    longest_pause: Duration,
}

impl Wait {
    fn new(patience: Option<Duration>, path: Option<&Path>) -> Self {
        let file = path.map(|path| Written {
            path: path.to_owned(),
            at: written(path),
            times: 0,
            longest_pause: Duration::ZERO,
        });
        Wait { since: Instant::now(), patience, file }
    }

    /// The file was last written at this time, which is seen now, by one of so many ranks. `None` if the file can't be read, which tells nothing.
    fn has_been_written(&mut self, at: Option<SystemTime>, now: Instant, ranks: usize) {
        let Some(file) = self.file.as_mut().filter(|file| at.is_some() && at != file.at) else { return };
        file.at = at;
        file.times += 1;
        file.longest_pause = file.longest_pause.max(now.saturating_duration_since(self.since));
        // Ranks write in turn, so that pauses tell how long one of them works only when all may have written.
        if file.times > ranks {
            let pause = file.longest_pause.saturating_mul(PATIENCE);
            self.patience = Some(self.patience.map_or(pause, |patience| patience.max(pause)));
        }
        self.since = now;
    }

    /// If the wait is over: how long it was allowed to last from `since` on.
    fn is_over(&self, timeout: Duration, now: Instant) -> Option<Duration> {
        let most = timeout.saturating_add(self.patience?);
        (now.saturating_duration_since(self.since) > most).then_some(most)
    }

    /// What is said of a wait that was over after so long.
    fn message(&self, rank: usize, most: Duration) -> String {
        let seconds = most.as_secs();
        let since = match &self.file {
            Some(file) if file.times > 0 => {
                format!(" since one of them last wrote into `{}`", file.path.display())
            }
            _ => String::new(),
        };
        format!("error: rank {rank} waited {seconds} s for other ranks{since}: one of them, or a link, has failed\n")
    }
}

/// When a file was last written; `None` if it can't be read.
fn written(path: &Path) -> Option<SystemTime> {
    // A file that is opened is looked up anew where a network's file system keeps what it knows of files.
    std::fs::File::open(path).and_then(|file| file.metadata()?.modified()).ok()
}

impl Watch {
    /// Starts its threads, which never end: they are idle while nothing is waited for.
    ///
    /// # Errors
    ///
    /// [`Error::NoThreads`] if the system refuses the thread.
    pub(crate) fn start(timeout: Duration, control: &Control, [rank, ranks]: [usize; 2]) -> Result<Self> {
        let watch = Watch { wait: Arc::new(Mutex::new(None)), ranks };
        let (seen, control) = (Watch { wait: watch.wait.clone(), ranks }, control.clone());
        let look = move || loop {
            std::thread::sleep(INTERVAL);
            if control.is_cancelled() {
                end(INTERRUPTED);
            }
            let message = {
                let wait = seen.wait();
                wait.as_ref().and_then(|wait| Some(wait.message(rank, wait.is_over(timeout, Instant::now())?)))
            };
            if let Some(message) = message {
                let _ = std::io::stderr().lock().write_all(message.as_bytes());
                end(SILENT_RANKS);
            }
        };
        let files = Watch { wait: watch.wait.clone(), ranks };
        start_thread("watch", look)?;
        start_thread("watch of files", move || files.look_after_files())?;
        Ok(watch)
    }

    /// Looks after the file that others write into, for as long as the process lives. A network's file system may keep it waiting, so that nothing else waits for it.
    fn look_after_files(&self) -> ! {
        loop {
            std::thread::sleep(INTERVAL_OF_FILES);
            let path = self.wait().as_ref().and_then(|wait| Some(wait.file.as_ref()?.path.clone()));
            let Some(path) = path else { continue };
            let at = written(&path);
            if let Some(wait) = &mut *self.wait() {
                // Meanwhile another wait may have begun, for another file.
                if wait.file.as_ref().is_some_and(|file| file.path == path) {
                    wait.has_been_written(at, Instant::now(), self.ranks);
                }
            }
        }
    }

    fn wait(&self) -> MutexGuard<'_, Option<Wait>> {
        self.wait.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a wait.
    pub(crate) fn waits(&self) -> Waiting<'_> {
        *self.wait() = Some(Wait::new(Some(Duration::ZERO), None));
        Waiting(self)
    }

    /// Begins a wait for others that may have far more to do.
    pub(crate) fn waits_at(&self, Leisure { took, file }: Leisure<'_>) -> Waiting<'_> {
        *self.wait() = Some(Wait::new(took.map(|took| took.saturating_mul(PATIENCE)), file));
        Waiting(self)
    }
}

fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = std::thread::Builder::new().name(name.into()).spawn(work);
    started
        .map(|_| ())
        .map_err(|error| Error::NoThreads(format!("the thread that watches the ranks can't be started: {error}")))
}

/// Ends the process at once, without unfinished files.
fn end(code: i32) -> ! {
    warpath::formats::remove_partial_files();
    std::process::exit(code)
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        *self.0.wait() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn seconds(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    /// For how long a wait may last from a time on.
    fn lasts(wait: &Wait) -> Option<Duration> {
        (0..100_000).map(seconds).find(|&lasts| wait.is_over(TIMEOUT, wait.since + lasts).is_some())
    }

    #[test]
    fn a_wait_ends_after_the_timeout_and_what_others_may_take() {
        let watch = Watch { wait: Arc::new(Mutex::new(None)), ranks: 2 };
        let of = |took, expected| {
            let waiting = watch.waits_at(Leisure { took, file: None });
            assert_eq!(watch.wait().as_ref().and_then(lasts), expected);
            drop(waiting);
            assert!(watch.wait().is_none());
        };
        of(Some(Duration::ZERO), Some(seconds(11)));
        of(Some(seconds(5)), Some(seconds(31)));
        of(None, None);
        let waiting = watch.waits();
        assert_eq!(watch.wait().as_ref().and_then(lasts), Some(seconds(11)));
        drop(waiting);
    }

    #[test]
    fn each_write_begins_the_timeout_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        std::fs::write(&path, "none").unwrap();
        let written_at = |number: u64| Some(SystemTime::UNIX_EPOCH + seconds(number));
        for (patience, expected) in [(None, 50 * 4), (Some(seconds(300)), 300)] {
            let mut wait = Wait::new(patience, Some(&path));
            let begun = wait.since;
            // What can't be read, and what was there before, are no news.
            for at in [None, written(&path)] {
                wait.has_been_written(at, begun + seconds(2), 2);
            }
            assert_eq!((wait.since, wait.patience), (begun, patience));
            // Two ranks may have written one after another, and both be at work for long.
            wait.has_been_written(written_at(1), begun + seconds(50), 2);
            wait.has_been_written(written_at(2), begun + seconds(53), 2);
            assert_eq!((wait.since, wait.patience), (begun + seconds(53), patience));
            wait.has_been_written(written_at(2), begun + seconds(60), 2);
            wait.has_been_written(written_at(3), begun + seconds(75), 2);
            assert_eq!((wait.since, wait.patience), (begun + seconds(75), Some(seconds(expected))));
            assert_eq!(lasts(&wait), Some(seconds(expected + 11)));
            assert!(wait.message(1, seconds(9)).contains("9 s for other ranks since one of them last wrote into `"));
        }
    }
}
