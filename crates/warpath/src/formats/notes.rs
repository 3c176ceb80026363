//! What a reader has to say about a file that it could read.

use std::sync::{Arc, Mutex, PoisonError};

/// What a reader assumed, skipped or suspects: one sentence each, for people. A reader adds to the notes that it was
/// given; without any, the sentences are lost.
///
/// ```
/// use warpath::formats::{Notes, ReadOptions};
/// let notes = Notes::new();
/// let text = b"source,target,minutes\nLIS,OPO,55\n".to_vec();
/// ReadOptions::new().notes(&notes).read_bytes("flights.csv", text)?;
/// assert!(notes.take()[0].starts_with("the first line is read as a header"));
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// No notes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The notes so far, in their order; none are left.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a sentence.
    pub(super) fn add(&self, note: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(note.into());
    }
}
