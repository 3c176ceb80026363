//! Partial files: `FILE.partial`, locked by its writer until it gets the name `FILE`.
//!
//! The operating system drops the lock of a process that dies, so its leftovers block nobody. Between opening and
//! locking, another process may rename or remove the file: a lock counts only if the locked file still has the name.
//! Nothing changes the file before it is locked. Everything beside it (a journal, a state) belongs to the holder of the
//! lock, and is removed before the lock is released.
//!
//! An output that is a symbolic link is followed, once: the partial file lies beside the file that the link leads to,
//! and replaces that file. A link in the place of a partial file is an error: anybody who can write the folder, such as
//! `/tmp`, could use it to redirect the output.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use crate::{Error, Result};

/// The suffix of a partial file.
const PARTIAL: &str = ".partial";

/// What a partial file begins with that several processes write, if it can be resumed: nobody else replaces it.
pub const RESUMABLE: [u8; 8] = *b"wpranks1";

/// The suffixes of all files that belong to an output, and are made or replaced with it.
const NAMES: [&str; 4] = ["", PARTIAL, ".partial.journal", ".partial.state"];

/// Where an output goes.
pub(crate) enum Place {
    /// To this file, which may exist already; it is no symbolic link.
    File(PathBuf),
    /// To something that is no regular file, such as a pipe or `/dev/null`: it can't be replaced.
    Stream,
}

impl Place {
    /// Where an output of this name goes.
    ///
    /// # Errors
    ///
    /// If it is a folder, or can't be looked at.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Err(Error::io(path, io::ErrorKind::IsADirectory.into())),
            Ok(metadata) if !metadata.is_file() => Ok(Place::Stream),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, error)),
            // A file that a process has open already, like `/dev/stdout`: replacing it would not reach that process.
            _ if leads_through_proc(path) => Ok(Place::Stream),
            _ if path.file_name().is_none() => Err(Error::io(path, io::ErrorKind::IsADirectory.into())),
            _ => Ok(Place::File(followed(path))),
        }
    }
}

/// Whether a path is a symbolic link of the system's that stands for an open file.
fn leads_through_proc(path: &Path) -> bool {
    links(path).any(|path| path.starts_with("/proc") && path.is_symlink())
}

/// A path, and where it leads as long as that is a symbolic link.
fn links(path: &Path) -> impl Iterator<Item = PathBuf> {
    // As many as Linux follows.
    const LINKS: usize = 40;
    let next = |path: &PathBuf| {
        let target = std::fs::read_link(path).ok()?;
        Some(path.parent().unwrap_or(Path::new("")).join(target))
    };
    std::iter::successors(Some(path.to_owned()), next).take(LINKS + 1)
}

/// The file that a symbolic link leads to, whether it is there or not; anything else is itself.
pub(crate) fn followed(path: &Path) -> PathBuf {
    links(path).last().unwrap_or_else(|| path.to_owned())
}

/// Refuses an output that would replace one of the files that it is made of. Call it before the first is read.
///
/// An output `FILE` is made as `FILE.partial`, and beside that some have a journal and a state: an input of one of
/// these names is refused, too. What is no regular file is not replaced, and may be both.
///
/// # Errors
///
/// [`Error::InvalidRequest`] for such an input; [`Error::Io`] if `output` is a folder or can't be looked at.
pub fn check_output(output: &Path, inputs: &[&Path]) -> Result<()> {
    let Place::File(target) = Place::of(output)? else { return Ok(()) };
    for suffix in NAMES {
        let taken = with_suffix(&target, suffix);
        if let Some(input) = inputs.iter().find(|input| is_same_file(input, &taken)) {
            let (input, output) = (input.display(), output.display());
            return Err(Error::invalid(match suffix {
                "" => format!("the output `{output}` would replace the input `{input}`: give it another name"),
                _ => format!(
                    "the input `{input}` has the name that the output `{output}` has while it is made, with what \
                     belongs to it: give one of them another name"
                ),
            }));
        }
    }
    Ok(())
}

/// Whether two names are those of one regular file, or of one file that is not there yet.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(one_is), Ok(other_is)) => one_is.is_file() && other_is.is_file() && is_one(one, &one_is, other, &other_is),
        (Err(_), Err(_)) => {
            let folder = |path: &Path| {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                std::fs::canonicalize(folder).ok()
            };
            one.file_name() == other.file_name() && folder(one).is_some_and(|one| Some(one) == folder(other))
        }
        _ => false,
    }
}

#[cfg(unix)]
fn is_one(_: &Path, one: &Metadata, _: &Path, other: &Metadata) -> bool {
    identity(one) == identity(other)
}

#[cfg(not(unix))]
fn is_one(one: &Path, _: &Metadata, other: &Path, _: &Metadata) -> bool {
    std::fs::canonicalize(one).is_ok_and(|one| std::fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// Identifies a file independently of its name.
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Where the system does not tell, a name is all there is to go by.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    (0, 0)
}

/// Whether the file of this identity has this name now.
fn has_name(identity_of_file: Identity, path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| identity(&there) == identity_of_file)
}

/// A path with something appended to its last part.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The name of the partial file of `target`.
pub(crate) fn partial_path(target: &Path) -> PathBuf {
    with_suffix(target, PARTIAL)
}

/// Opens a regular file, and nothing else: a symbolic link is not followed, a pipe is not waited for.
pub(crate) fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    let in_the_way = |what: &str| io::Error::other(format!("{what} is in the way of a file to be made; remove it"));
    if std::fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink()) {
        return Err(in_the_way("a symbolic link"));
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(in_the_way("something that is no regular file")) }
}

/// Locks a file against other writers. On a file system without locks, the file stays unlocked.
///
/// # Errors
///
/// If another process has locked it.
pub fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(fs::TryLockError::WouldBlock) => Err(is_being_written(path)),
        Err(fs::TryLockError::Error(error)) if has_no_locks(&error) => Ok(()),
        Err(fs::TryLockError::Error(error)) => Err(Error::io(path, error)),
    }
}

fn is_being_written(path: &Path) -> Error {
    Error::invalid(format!("`{}` is being written by another process or thread", path.display()))
}

fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::ENOLCK) {
        return true;
    }
    error.kind() == io::ErrorKind::Unsupported
}

/// A locked partial file. If it is temporary and not finished, dropping it removes the file.
#[derive(Debug)]
pub(crate) struct Partial {
    target: PathBuf,
    path: PathBuf,
    file: Arc<File>,
    identity: Identity,
    is_new: bool,
    is_temporary: bool,
}

/// All files that are to be removed if they don't become whole.
static TEMPORARY: Mutex<Vec<(PathBuf, Identity)>> = Mutex::new(Vec::new());

fn temporary() -> std::sync::MutexGuard<'static, Vec<(PathBuf, Identity)>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary partial files of this process, as failed work would. Call it when the process is about to end
/// at once. Unfinished tables of all pairs stay, to be resumed.
///
/// A handler of a signal may call it: it waits for no lock for long, frees nothing, and takes no memory for paths of a
/// usual length (below 384 bytes, as the standard library has it).
pub fn remove_partial_files() {
    const ATTEMPTS: usize = 1000;
    for _ in 0..ATTEMPTS {
        let temporary = match TEMPORARY.try_lock() {
            Ok(temporary) => temporary,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                continue;
            }
        };
        for (path, identity) in temporary.iter() {
            if has_name(*identity, path) {
                let _ = std::fs::remove_file(path);
            }
        }
        return;
    }
}

impl Partial {
    /// Opens and locks `TARGET.partial`. It is created if it does not exist, else it keeps its contents. Dropping it
    /// removes a new file, unless [`set_temporary`](Partial::set_temporary) says otherwise.
    pub(crate) fn lock(target: &Path) -> Result<Self> {
        // How often another writer may finish between two calls.
        const ATTEMPTS: usize = 100;
        let path = partial_path(target);
        let failed = |error: io::Error| {
            // If something is in the way at `path`, the error names it.
            let there = std::fs::symlink_metadata(&path).is_ok();
            Error::io(if there { &path } else { target }, error)
        };
        for _ in 0..ATTEMPTS {
            let mut options = OpenOptions::new();
            options.read(true).write(true);
            let (file, is_new) = match open_regular(options.clone().create_new(true), &path) {
                Ok(file) => (file, true),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match open_regular(&mut options, &path) {
                    Ok(file) => (file, false),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(failed(error)),
                },
                Err(error) => return Err(failed(error)),
            };
            lock(&file, &path)?;
            let identity = identity(&file.metadata().map_err(failed)?);
            if has_name(identity, &path) {
                let (target, file) = (target.to_owned(), Arc::new(file));
                let mut partial = Partial { target, path, file, identity, is_new, is_temporary: false };
                partial.set_temporary(is_new);
                return Ok(partial);
            }
        }
        Err(is_being_written(&path))
    }

    /// Whether the file did not exist before.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Whether somebody left it to be resumed, and marked it with [`RESUMABLE`].
    pub(crate) fn is_resumable(&self) -> bool {
        use std::io::{Read, Seek, SeekFrom};
        let mut start = [0; RESUMABLE.len()];
        let mut file = &*self.file;
        let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_exact(&mut start));
        let is_marked = read.is_ok() && start == RESUMABLE;
        let _ = file.seek(SeekFrom::Start(0));
        is_marked
    }

    /// The file, open for reading and writing.
    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// The path of the partial file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets whether dropping removes the file.
    pub(crate) fn set_temporary(&mut self, is_temporary: bool) {
        if self.is_temporary == is_temporary {
            return;
        }
        let mut temporary = temporary();
        if is_temporary {
            temporary.push((self.path.clone(), self.identity));
        } else {
            temporary.retain(|(path, identity)| (path, identity) != (&self.path, &self.identity));
        }
        self.is_temporary = is_temporary;
    }

    /// Gives the file its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        if !has_name(self.identity, &self.path) {
            let gone = io::Error::new(io::ErrorKind::NotFound, "somebody has removed or replaced it meanwhile");
            return Err(Error::io(&self.path, gone));
        }
        std::fs::rename(&self.path, &self.target).map_err(|error| Error::io(&self.target, error))?;
        self.set_temporary(false);
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // The name goes before the lock: the next writer finds no file, or has made its own.
        if self.is_temporary && has_name(self.identity, &self.path) {
            // Nothing is left to tell about a failure, and the name says that the file is not whole.
            let _ = std::fs::remove_file(&self.path);
        }
        self.set_temporary(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.csv");
        let first = Partial::lock(&target).unwrap();
        let second = Partial::lock(&target).unwrap_err();
        assert!(second.to_string().contains("x.csv.partial` is being written by another process"), "{second}");
        assert_eq!(second.kind(), crate::ErrorKind::Usage);
        first.finish().unwrap();
        assert!(target.exists());
        drop(Partial::lock(&target).unwrap());
        assert!(!partial_path(&target).exists());
    }

    #[test]
    fn what_a_dead_process_left_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.csv");
        std::fs::write(partial_path(&target), "left").unwrap();
        let partial = Partial::lock(&target).unwrap();
        assert!(!partial.is_new());
        drop(partial);
        assert_eq!(std::fs::read(partial_path(&target)).unwrap(), b"left");
    }

    /// Many threads write one output, and each either writes it whole or is refused.
    #[test]
    fn a_race_leaves_one_whole_file() {
        use std::io::Write;
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x");
        let written = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for name in b'a'..b'e' {
                let (target, written) = (&target, &written);
                scope.spawn(move || {
                    for _ in 0..200 {
                        let mut partial = match Partial::lock(target) {
                            Ok(partial) => partial,
                            Err(Error::InvalidRequest(_)) => continue,
                            Err(other) => panic!("{other}"),
                        };
                        partial.set_temporary(true);
                        let mut file = &**partial.file();
                        file.set_len(0).unwrap();
                        for _ in 0..10 {
                            file.write_all(&[name]).unwrap();
                        }
                        partial.finish().unwrap();
                        written.fetch_add(1, Ordering::Relaxed);
                        let found = std::fs::read(target).unwrap();
                        assert!(found.len() == 10 && found.iter().all(|&byte| byte == found[0]), "{found:?}");
                    }
                });
            }
        });
        assert!(written.into_inner() > 0);
        assert!(!partial_path(&target).exists());
    }

    #[test]
    #[cfg(unix)]
    fn links_are_followed_but_not_in_the_place_of_what_is_made() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("there")).unwrap();
        symlink("there/x.csv", at("x.csv")).unwrap();
        symlink("x.csv", at("link.csv")).unwrap();
        let Place::File(target) = Place::of(&at("link.csv")).unwrap() else { panic!("a file") };
        Partial::lock(&target).unwrap().finish().unwrap();
        assert!(at("there/x.csv").is_file() && at("link.csv").is_symlink() && at("x.csv").is_symlink());
        assert_eq!(std::fs::read_dir(at("there")).unwrap().count(), 1);
        symlink("victim", at("y.csv.partial")).unwrap();
        std::fs::write(at("victim"), "precious").unwrap();
        let refused = Partial::lock(&at("y.csv")).unwrap_err().to_string();
        assert!(refused.contains("y.csv.partial: a symbolic link is in the way"), "{refused}");
        assert_eq!(std::fs::read(at("victim")).unwrap(), b"precious");
        std::fs::create_dir(at("z.csv.partial")).unwrap();
        assert!(Partial::lock(&at("z.csv")).unwrap_err().to_string().contains("z.csv.partial"));
        symlink("loop", at("loop")).unwrap();
        assert!(matches!(Place::of(&at("loop")), Err(Error::Io { .. })));
    }

    #[test]
    fn an_output_does_not_replace_an_input() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["g.txt", "x.csv.partial", "y.npy.partial.journal"] {
            std::fs::write(at(name), "1 2\n").unwrap();
        }
        std::fs::hard_link(at("g.txt"), at("h.txt")).unwrap();
        for (output, input, message) in [
            ("g.txt", "g.txt", "would replace the input"),
            ("h.txt", "g.txt", if cfg!(unix) { "would replace the input" } else { "" }),
            ("./g.txt", "g.txt", "would replace the input"),
            ("x.csv", "x.csv.partial", "while it is made"),
            ("y.npy", "y.npy.partial.journal", "while it is made"),
            ("none.csv", "./none.csv.partial", "while it is made"),
            ("new.txt", "g.txt", ""),
            ("none.csv", "none.txt", ""),
        ] {
            let checked = check_output(&at(output), &[&at("other"), &at(input)]);
            let found = checked.map_or_else(|error| error.to_string(), |()| String::new());
            assert!(found.contains(message) && found.is_empty() == message.is_empty(), "{output}, {input}: {found}");
        }
    }
}
