//! Waiting, reading and writing that end when the work is cancelled, even if the other side never answers.
//!
//! A system call that waits for the other end of a pipe or for a server can't be cancelled. So a separate thread makes
//! the call, and the caller waits for that thread and checks the [`Control`] meanwhile. A thread whose call never
//! returns is left behind: it holds nothing but the arguments of the call.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::memory::no_threads;
use crate::{Control, Error, Result};

/// How long a cancelled work may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(20);

impl Control {
    /// Runs work that may take for ever on a separate thread, and waits for the outcome.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`] if the work is cancelled meanwhile, and [`Error::NoThreads`] if no thread can be started.
    ///
    /// # Panics
    ///
    /// If `work` panics.
    pub fn wait_for<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let (sender, outcome) = sync_channel(1);
        self.check()?;
        let thread = std::thread::Builder::new()
            .spawn(move || {
                // Nobody waits for a cancelled outcome any more.
                let _ = sender.send(work());
            })
            .map_err(|error| no_threads(1, error))?;
        match self.receive(&outcome)? {
            Some(outcome) => Ok(outcome),
            None => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => Err(Error::Interrupted),
            },
        }
    }

    /// A reader of a stream that may keep silent; `open`, which opens it, may take for ever, too.
    ///
    /// After cancellation, a read fails with an error that [`Error::io`] turns into [`Error::Interrupted`].
    ///
    /// # Errors
    ///
    /// If no thread can be started. The first read reports an error of `open`.
    pub fn reader<R: Read>(
        &self,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> io::Result<CancellableReader> {
        const PIECE: usize = 1 << 17;
        let (sender, pieces) = sync_channel(8);
        let read = move || {
            let mut stream = match open() {
                Ok(stream) => stream,
                Err(error) => return drop(sender.send(Err(error))),
            };
            loop {
                let mut piece = vec![0; PIECE];
                let outcome = match stream.read(&mut piece) {
                    Ok(0) => return,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    outcome => outcome.map(|count| piece.truncate(count)),
                };
                let failed = outcome.is_err();
                if sender.send(outcome.map(|()| piece)).is_err() || failed {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().spawn(read).map_err(|error| io::Error::other(no_threads(1, error)))?;
        Ok(CancellableReader { control: self.clone(), thread: Some(thread), pieces, piece: Vec::new(), taken: 0 })
    }

    /// A writer that fails after cancellation, with an error that [`Error::io`] turns into [`Error::Interrupted`]. It
    /// checks between pieces, so it can't abandon a write that waits.
    pub fn writer<W: Write>(&self, out: W) -> CancellableWriter<W> {
        CancellableWriter { control: self.clone(), out }
    }

    /// What the other thread sends; `None` if it has nothing more to send.
    fn receive<T>(&self, from: &Receiver<T>) -> Result<Option<T>> {
        loop {
            self.check()?;
            match from.recv_timeout(PATIENCE) {
                Ok(sent) => return Ok(Some(sent)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}

/// A reader that can be cancelled, see [`Control::reader`].
#[derive(Debug)]
pub struct CancellableReader {
    control: Control,
    thread: Option<JoinHandle<()>>,
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    taken: usize,
}

impl Read for CancellableReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() {
            let next = self.control.receive(&self.pieces).map_err(io::Error::other)?;
            let Some(piece) = next.transpose()? else {
                // A stream that panicked has not reached its end.
                return match self.thread.take().map(JoinHandle::join) {
                    Some(Err(panic)) => std::panic::resume_unwind(panic),
                    _ => Ok(0),
                };
            };
            (self.piece, self.taken) = (piece, 0);
        }
        let left = &self.piece[self.taken..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.taken += count;
        Ok(count)
    }
}

/// A writer that can be cancelled, see [`Control::writer`].
#[derive(Debug)]
pub struct CancellableWriter<W> {
    control: Control,
    out: W,
}

impl<W> CancellableWriter<W> {
    /// The stream below.
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    /// The stream below.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write> Write for CancellableWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Every packer packs this much in a fraction of a second.
        const PIECE: usize = 1 << 18;
        self.control.check().map_err(io::Error::other)?;
        self.out.write(&bytes[..bytes.len().min(PIECE)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.control.check().map_err(io::Error::other)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps silent for ever.
    struct Silence;

    impl Read for Silence {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            loop {
                std::thread::park();
            }
        }
    }

    /// Cancels some time after it was called.
    fn cancelled_soon() -> Control {
        let control = Control::new();
        let handle = control.clone();
        std::thread::spawn(move || {
            std::thread::sleep(5 * PATIENCE);
            handle.cancel();
        });
        control
    }

    #[test]
    fn what_never_comes_can_be_cancelled() {
        let waited = cancelled_soon().wait_for(|| Silence.read(&mut []).is_ok());
        assert!(matches!(waited, Err(Error::Interrupted)));
        let mut bytes = Vec::new();
        let read = cancelled_soon().reader(|| Ok(Silence)).unwrap().read_to_end(&mut bytes).unwrap_err();
        assert!(matches!(Error::io("x", read), Error::Interrupted));
        let opened = || {
            let _ = Silence.read(&mut []);
            Ok(Silence)
        };
        let read = cancelled_soon().reader(opened).unwrap().read_to_end(&mut bytes).unwrap_err();
        assert!(matches!(Error::io("x", read), Error::Interrupted));
        let control = Control::new();
        let mut out = control.writer(Vec::new());
        out.write_all(&[1; 1 << 20]).unwrap();
        control.cancel();
        assert!(matches!(Error::io("x", out.write_all(b"more").unwrap_err()), Error::Interrupted));
        assert_eq!(out.into_inner(), [1; 1 << 20]);
    }

    #[test]
    fn what_comes_arrives_and_so_do_errors() {
        let control = Control::new();
        assert_eq!(control.wait_for(|| 7).unwrap(), 7);
        let text: Vec<u8> = (0..1_000_000_u32).map(|i| i as u8).collect();
        let (stream, mut bytes) = (io::Cursor::new(text.clone()), Vec::new());
        control.reader(|| Ok(stream)).unwrap().read_to_end(&mut bytes).unwrap();
        assert!(bytes == text);
        let fails = || Err::<Silence, _>(io::Error::other("not there"));
        let error = control.reader(fails).unwrap().read_to_end(&mut bytes).unwrap_err();
        assert_eq!(error.to_string(), "not there");
    }
}
