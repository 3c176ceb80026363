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

/// A rank that has done its share waits so many times as long as that took for others with as large a share; and so many times as long
/// as there was no write for the next one.
const PATIENCE: u32 = 4;

/// Knows since when a rank waits.
pub(crate) struct Watch(Arc<Mutex<Option<Wait>>>);

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
#[derive(Debug)]
struct Written {
    path: PathBuf,
    looked: Instant,
    /// When it was last written.
    at: Option<SystemTime>,
    /// Whether that was during the wait.
    is_of_others: bool,
}

impl Wait {
    fn new(patience: Option<Duration>, path: Option<&Path>) -> Self {
        let now = Instant::now();
        let file =
            path.map(|path| Written { path: path.to_owned(), looked: now, at: written(path), is_of_others: false });
        Wait { since: now, patience, file }
    }

    /// Looks after the file, if it is time to.
    fn look(&mut self, now: Instant) {
        let Some(file) = self.file.as_mut().filter(|file| now.duration_since(file.looked) >= INTERVAL_OF_FILES) else {
            return;
        };
        file.looked = now;
        let at = written(&file.path);
        self.has_been_written(at, now);
    }

    /// The file was last written at this time, which is seen now.
    fn has_been_written(&mut self, at: Option<SystemTime>, now: Instant) {
        let Some(file) = self.file.as_mut().filter(|file| at != file.at) else { return };
        file.at = at;
        // From when on nothing was written before the first time is not known.
        if std::mem::replace(&mut file.is_of_others, true) {
            let pause = now.duration_since(self.since).saturating_mul(PATIENCE);
            self.patience = Some(self.patience.map_or(pause, |patience| patience.max(pause)));
        }
        self.since = now;
    }

    /// How long the wait might last from `since` on, if it has lasted longer.
    fn is_over(&self, timeout: Duration, now: Instant) -> Option<Duration> {
        let most = timeout.saturating_add(self.patience?);
        (now.duration_since(self.since) > most).then_some(most)
    }
}

/// When a file was last written; `None` if it is not there.
fn written(path: &Path) -> Option<SystemTime> {
    // A file that is opened is looked up anew where a network's file system keeps what it knows of files.
    std::fs::File::open(path).and_then(|file| file.metadata()?.modified()).ok()
}

impl Watch {
    /// Starts the thread, which never ends: it is idle while nothing is waited for.
    ///
    /// # Errors
    ///
    /// [`Error::NoThreads`] if the system refuses the thread.
    pub(crate) fn start(timeout: Duration, control: &Control, rank: usize) -> Result<Self> {
        let watch = Watch(Arc::new(Mutex::new(None)));
        let (seen, control) = (Watch(watch.0.clone()), control.clone());
        let look = move || loop {
            std::thread::sleep(INTERVAL);
            if control.is_cancelled() {
                end(INTERRUPTED);
            }
            let (mut wait, now) = (seen.wait(), Instant::now());
            let Some(wait) = &mut *wait else { continue };
            wait.look(now);
            if let Some(most) = wait.is_over(timeout, now) {
                let seconds = most.as_secs();
                let message = format!(
                    "error: rank {rank} waited {seconds} s for other ranks: one of them, or a link, has failed\n"
                );
                let _ = std::io::stderr().lock().write_all(message.as_bytes());
                end(SILENT_RANKS);
            }
        };
        let started = std::thread::Builder::new().name("watch".into()).spawn(look);
        started.map_err(|error| {
            Error::NoThreads(format!("the thread that watches the ranks can't be started: {error}"))
        })?;
        Ok(watch)
    }

    fn wait(&self) -> MutexGuard<'_, Option<Wait>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let watch = Watch(Arc::new(Mutex::new(None)));
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
        for (patience, expected) in [(None, 20 * 4), (Some(seconds(300)), 300)] {
            let mut wait = Wait::new(patience, Some(&path));
            let begun = wait.since;
            wait.look(begun + seconds(2));
            assert_eq!((wait.since, wait.patience), (begun, patience));
            // How long the first one took since the one before is not known.
            wait.has_been_written(written_at(1), begun + seconds(50));
            assert_eq!((wait.since, wait.patience), (begun + seconds(50), patience));
            wait.has_been_written(written_at(1), begun + seconds(60));
            wait.has_been_written(written_at(2), begun + seconds(70));
            wait.has_been_written(written_at(3), begun + seconds(75));
            assert_eq!((wait.since, wait.patience), (begun + seconds(75), Some(seconds(expected))));
            assert_eq!(lasts(&wait), Some(seconds(expected + 11)));
        }
        let mut wait = Wait::new(None, Some(&path));
        std::fs::remove_file(&path).unwrap();
        // A file that is gone, and one that is not there, are seen without fail.
        wait.look(wait.since + seconds(1));
        wait.look(wait.since + seconds(2));
        assert_eq!(wait.file.map(|file| file.at), Some(None));
    }
}
