//! The input of a reader: a name, and bytes that nobody else can change.
//!
//! Every byte of a file is copied into memory of our own before it is used, and only the copy is read. A mapped file
//! would save the copy, but another program may overwrite it at any time: checked bytes could change after the check,
//! and memory-safe code can't be built on that. The copy costs little (see `docs/experiments.md`), since a file has to
//! be read once anyway.
//!
//! A file is [`Opened`], and its readers copy it piece by piece: arrays to their final place, text to the thread that
//! parses it. So the file is never in memory beside the graph. A packed file, or a stream, is an [`Input`], whole in
//! memory.
//!
//! A file that changes while it is copied is an error: its state (length, times of change) is compared before and
//! after. The clock of a file system has steps of up to 10 ms, so reading a file that was just written waits until a
//! later change is sure to get another time.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rayon::prelude::*;

use super::ReadOptions;
use super::compression::{Compression, unpack};
use crate::checksum::checksum;
use crate::huge_pages::on_huge_pages;
use crate::memory::{GrowingBytes, zeroed};
use crate::{Control, Error, InputError, Plan, Result};

/// How much of an input is looked at to find its format.
const SAMPLE_BYTES: usize = 1 << 16;

/// An input in memory, unpacked.
pub(super) struct Input {
    /// The name in errors: the path, or `<stdin>`.
    pub(super) name: String,
    bytes: Vec<u8>,
}

impl Input {
    /// Bytes that are in memory already.
    pub(super) fn owned(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Input { name: name.into(), bytes }
    }

    /// Standard input, unpacked if it is packed.
    pub(super) fn standard(options: &ReadOptions) -> Result<Self> {
        let bytes =
            read_stream(|| Ok(std::io::stdin()), Path::new("<stdin>"), options.room_to_grow(0), &options.control)?;
        Input::owned("<stdin>", bytes).unpacked(options)
    }

    /// The same input, unpacked if it is packed.
    pub(super) fn unpacked(self, options: &ReadOptions) -> Result<Self> {
        match unpack(&self.bytes, || options.room_to_grow(self.owned_bytes()), &options.control) {
            Ok(None) => match Compression::by_extension(&self.name) {
                None => Ok(self),
                Some(compression) => {
                    let (extension, name) = (compression.extension(), compression.name());
                    let message = format!("the file is named .{extension} but is not {name}, or is cut short");
                    Err(InputError::new(message).in_file(&self.name).into())
                }
            },
            Ok(Some(bytes)) => Ok(Input::owned(self.name, bytes)),
            Err(Error::Input(error)) => Err(error.in_file(&self.name).into()),
            Err(other) => Err(other),
        }
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives away the bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// How much memory the bytes take.
    pub(super) fn owned_bytes(&self) -> u64 {
        self.bytes.capacity() as u64
    }
}

/// An input with random access.
pub(super) enum Opened {
    /// In memory, unpacked.
    Memory(Input),
    /// A file on disk that is not packed.
    File(OpenFile),
}

/// A file that is copied piece by piece.
pub(super) struct OpenFile {
    name: String,
    file: File,
    state: FileState,
    /// Its first bytes.
    head: Vec<u8>,
}

impl Opened {
    /// Opens a file. A packed file or a pipe is read whole.
    pub(super) fn file(path: &Path, options: &ReadOptions) -> Result<Self> {
        let io_error = |error| Error::io(path, error);
        // Opening a pipe waits until somebody writes to it.
        let metadata = std::fs::metadata(path).map_err(io_error)?;
        let name = path.display().to_string();
        if metadata.is_dir() {
            return Err(io_error(std::io::ErrorKind::IsADirectory.into()));
        }
        if metadata.is_file() && metadata.len() > 0 {
            let file = File::open(path).map_err(io_error)?;
            let state = FileState::settled(&file).map_err(io_error)?;
            let mut opened = OpenFile { name, file, state, head: Vec::new() };
            let mut head = vec![0; state.length.min(SAMPLE_BYTES as u64) as usize];
            opened.read_at(0, &mut head)?;
            opened.head = head;
            let is_packed = Compression::by_content(&opened.head).or(Compression::by_extension(&opened.name)).is_some();
            return match is_packed {
                true => Ok(Opened::Memory(opened.load(options)?.unpacked(options)?)),
                false => Ok(Opened::File(opened)),
            };
        }
        let stream = path.to_owned();
        let bytes = read_stream(|| File::open(stream), path, options.room_to_grow(0), &options.control)?;
        Ok(Opened::Memory(Input::owned(name, bytes).unpacked(options)?))
    }

    /// The name in errors.
    pub(super) fn name(&self) -> &str {
        match self {
            Opened::Memory(input) => &input.name,
            Opened::File(file) => &file.name,
        }
    }

    /// How many bytes there are.
    pub(super) fn length(&self) -> u64 {
        match self {
            Opened::Memory(input) => input.bytes.len() as u64,
            Opened::File(file) => file.state.length,
        }
    }

    /// A number that copies have in common: a checksum of the length and of 64 pieces of 4,096 bytes, spread evenly, or of all bytes if they
    /// are no more.
    pub(super) fn sampled_checksum(&self) -> Result<u64> {
        const PIECES: u64 = 64;
        const PIECE: usize = 4096;
        let length = self.length();
        let mut sums = vec![length];
        let mut piece = [0; PIECE];
        for index in 0..PIECES {
            // The last one ends with the file.
            let last = length.saturating_sub(PIECE as u64);
            let start = (u128::from(last) * u128::from(index) / u128::from(PIECES - 1)) as u64;
            let bytes = &mut piece[..(length - start).min(PIECE as u64) as usize];
            self.read_at(start, bytes)?;
            sums.push(checksum(bytes));
        }
        Ok(checksum(bytemuck::cast_slice(&sums)))
    }

    /// How much memory the bytes take; none for a file on disk.
    pub(super) fn owned_bytes(&self) -> u64 {
        match self {
            Opened::Memory(input) => input.owned_bytes(),
            Opened::File(_) => 0,
        }
    }

    /// The first bytes, enough to tell the format.
    pub(super) fn head(&self) -> &[u8] {
        match self {
            Opened::Memory(input) => &input.bytes,
            Opened::File(file) => &file.head,
        }
    }

    /// The beginning of the input, in case it is text.
    pub(super) fn sample(&self) -> &[u8] {
        let head = self.head();
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        &text[..text.len().min(SAMPLE_BYTES)]
    }

    /// Copies the bytes from `offset` on; they have to lie within [`Opened::length`].
    pub(super) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        match self {
            Opened::Memory(input) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let bytes = input.bytes.get(start..).and_then(|rest| rest.get(..buffer.len()));
                buffer.copy_from_slice(bytes.ok_or_else(|| cut_short(&input.name))?);
                Ok(())
            }
            Opened::File(file) => file.read_at(offset, buffer),
        }
    }

    /// An error if the file was changed since it was opened. Readers without checksums call this last.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        match self {
            Opened::Memory(_) => Ok(()),
            Opened::File(file) => file.check_unchanged(),
        }
    }

    /// The same input, with a line feed in the place of each carriage return if it is a text with nothing else at the
    /// ends of its lines, as old Macs wrote them.
    pub(super) fn with_line_feeds(self, options: &ReadOptions) -> Result<Self> {
        let sample = self.sample();
        let is_text = sample.iter().all(|&byte| byte >= b' ' || byte.is_ascii_whitespace());
        if !is_text || !sample.contains(&b'\r') || sample.contains(&b'\n') {
            return Ok(self);
        }
        let mut input = self.load(options)?;
        if !input.bytes.contains(&b'\n') {
            input.bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        Ok(Opened::Memory(input))
    }

    /// Loads the input into memory.
    pub(super) fn load(self, options: &ReadOptions) -> Result<Input> {
        match self {
            Opened::Memory(input) => Ok(input),
            Opened::File(file) => file.load(options),
        }
    }
}

impl OpenFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, offset, buffer).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => cut_short(&self.name),
            _ => Error::io(&self.name, error),
        })
    }

    fn check_unchanged(&self) -> Result<()> {
        let now = FileState::of(&self.file).map_err(|error| Error::io(&self.name, error))?;
        if now.length < self.state.length {
            return Err(cut_short(&self.name));
        }
        if now.differs(&self.state) {
            return Err(InputError::new("the file was changed while it was read").in_file(&self.name).into());
        }
        Ok(())
    }

    /// Reads the whole file with all threads.
    fn load(self, options: &ReadOptions) -> Result<Input> {
        const PIECE: usize = 4 << 20;
        let what = format!("the bytes of `{}`", self.name);
        let mut plan = Plan::new();
        plan.memory(&what, self.state.length);
        plan.check(options.room(0))?;
        let mut bytes = on_huge_pages(zeroed(&what, self.state.length as usize)?);
        bytes.par_chunks_mut(PIECE).enumerate().try_for_each(|(index, piece)| {
            options.control.check()?;
            self.read_at((index * PIECE) as u64, piece)
        })?;
        self.check_unchanged()?;
        Ok(Input::owned(self.name, bytes))
    }
}

fn cut_short(name: &str) -> Error {
    InputError::new("the file was cut short while it was read").in_file(name).into()
}

#[cfg(unix)]
fn read_exact_at(file: &File, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut offset: u64, mut buffer: &mut [u8]) -> std::io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => {
                offset += count as u64;
                buffer = &mut buffer[count..];
            }
        }
    }
    Ok(())
}

/// The state of a file, by which a change shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    length: u64,
    modified: Option<SystemTime>,
    /// The time of the last change of content or attributes, and the number of hard links; zeros on systems without
    /// them.
    changed: (i64, i64),
    names: u64,
}

impl FileState {
    fn of(file: &File) -> std::io::Result<Self> {
        let metadata = file.metadata()?;
        #[cfg(unix)]
        let (changed, names) = {
            use std::os::unix::fs::MetadataExt;
            ((metadata.ctime(), metadata.ctime_nsec()), metadata.nlink())
        };
        #[cfg(not(unix))]
        let (changed, names) = ((0, 0), 0);
        Ok(FileState { length: metadata.len(), modified: metadata.modified().ok(), changed, names })
    }

    /// Waits until any later change of the file will show in its state, and returns the state.
    fn settled(file: &File) -> std::io::Result<Self> {
        /// More than the step of a file system's clock.
        const STEP: Duration = Duration::from_millis(20);
        // A time in the future tells nothing: the file may have it on purpose.
        let age = |state: &FileState| state.modified.and_then(|at| SystemTime::now().duration_since(at).ok());
        let mut state = FileState::of(file)?;
        // A file that changes all the time is found out by the check at the end.
        for _ in 0..10 {
            let Some(remaining) = age(&state).and_then(|age| STEP.checked_sub(age)) else { break };
            std::thread::sleep(remaining);
            state = FileState::of(file)?;
        }
        Ok(state)
    }

    /// Whether the content may have changed. A file that lost its name to another file keeps its content.
    fn differs(&self, before: &FileState) -> bool {
        let renamed = self.names != before.names;
        self.length != before.length || self.modified != before.modified || (self.changed != before.changed && !renamed)
    }
}

/// Reads a stream, which may be endless, to its end or until memory runs out.
fn read_stream<R: Read>(
    open: impl FnOnce() -> std::io::Result<R> + Send + 'static,
    name: &Path,
    limit: u64,
    control: &Control,
) -> Result<Vec<u8>> {
    let io_error = |error| Error::io(name, error);
    let mut stream = control.reader(open).map_err(io_error)?;
    let mut bytes = GrowingBytes::new(format!("the input `{}`, as far as it is read,", name.display()), limit);
    let mut piece = vec![0; 1 << 17];
    loop {
        let count = stream.read(&mut piece).map_err(io_error)?;
        if count == 0 {
            return Ok(bytes.into_vec());
        }
        bytes.reserve(count)?;
        bytes.as_mut().extend_from_slice(&piece[..count]);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn a_stream_is_read_to_its_end() {
        let text = vec![b'x'; (1 << 21) + 5];
        let read = read_stream(move || Ok(std::io::Cursor::new(text)), Path::new("x"), u64::MAX, &Control::new());
        assert!(read.unwrap() == vec![b'x'; (1 << 21) + 5]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn an_endless_stream_ends_with_memory_or_when_cancelled() {
        let outcome = read_stream(|| Ok(std::io::repeat(b'1')), Path::new("x"), 10 << 20, &Control::new());
        assert!(
            matches!(outcome, Err(Error::OutOfMemory { available, needed, .. }) if available == 10 << 20 && needed > available)
        );
        struct Silence;
        impl Read for Silence {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                std::thread::park();
                Ok(0)
            }
        }
        let control = Control::new();
        control.cancel();
        let outcome = read_stream(|| Ok(Silence), Path::new("x"), u64::MAX, &control);
        assert!(matches!(outcome, Err(Error::Interrupted)));
    }

    /// An open file of this many bytes, as it is between opening and loading, and its path.
    fn opened(folder: &Path, bytes: usize) -> (OpenFile, std::path::PathBuf) {
        let path = folder.join("x.txt");
        std::fs::write(&path, vec![b'7'; bytes]).unwrap();
        let file = File::open(&path).unwrap();
        let state = FileState::settled(&file).unwrap();
        (OpenFile { name: "x.txt".into(), file, state, head: Vec::new() }, path)
    }

    fn message(outcome: Result<Input>) -> String {
        outcome.err().expect("an error").to_string()
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn a_file_is_loaded_whole() {
        let folder = tempfile::tempdir().unwrap();
        for bytes in [1, 5000, (9 << 20) + 1] {
            let (file, _) = opened(folder.path(), bytes);
            assert!(file.load(&ReadOptions::new()).unwrap().bytes() == vec![b'7'; bytes]);
        }
        let cancelled = Control::new();
        cancelled.cancel();
        assert!(matches!(
            opened(folder.path(), 5).0.load(&ReadOptions::new().control(cancelled)),
            Err(Error::Interrupted)
        ));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn a_file_changed_after_it_was_opened_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let load = |file: OpenFile| message(file.load(&ReadOptions::new()));
        let (file, path) = opened(folder.path(), 5000);
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().write_all(b"88").unwrap();
        assert_eq!(load(file), "x.txt: the file was changed while it was read");
        let (file, path) = opened(folder.path(), 5000);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"88").unwrap();
        assert_eq!(load(file), "x.txt: the file was changed while it was read");
        for left in [0, 1, 4999] {
            let (file, path) = opened(folder.path(), 5000);
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(left).unwrap();
            assert_eq!(load(file), "x.txt: the file was cut short while it was read");
        }
    }

    #[test]
    #[cfg(unix)]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn a_file_that_was_replaced_or_removed_is_read_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (file, path) = opened(folder.path(), 5000);
        let other = folder.path().join("y.txt");
        std::fs::write(&other, "other").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(file.load(&ReadOptions::new()).unwrap().bytes() == vec![b'7'; 5000]);
        let (file, path) = opened(folder.path(), 5000);
        std::fs::remove_file(path).unwrap();
        assert!(file.load(&ReadOptions::new()).unwrap().bytes() == vec![b'7'; 5000]);
    }
}
