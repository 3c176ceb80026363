//! Arrays that a `.wpg` file holds beside its graph, for whoever knows what they mean.

use std::sync::{Arc, Mutex, PoisonError};

/// Where the reader of a `.wpg` file puts the arrays that the file holds beside its graph, such as a hierarchy
/// ([`Hierarchy::from_stored`](crate::hierarchy::Hierarchy::from_stored)). Without it, they stay in the file. Readers of other
/// formats leave it empty.
///
/// ```
/// use warpath::formats::{ReadOptions, StoredArrays};
/// let stored = StoredArrays::new();
/// ReadOptions::new().stored_arrays(&stored).read_bytes("cities.csv", b"LIS,OPO\n".to_vec())?;
/// assert!(stored.is_empty());
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct StoredArrays(Arc<Mutex<Contents>>);

/// What was read.
#[derive(Debug, Default)]
struct Contents {
    /// The name of the file, for errors.
    file: String,
    arrays: Vec<(String, Vec<u32>)>,
}

impl StoredArrays {
    /// No arrays yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether no file with arrays was read.
    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).arrays.is_empty()
    }

    /// The name of the file that was read, for errors.
    pub(crate) fn file(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).file.clone()
    }

    /// Takes out the array with this name, if it is there.
    pub(crate) fn take(&self, name: &str) -> Option<Vec<u32>> {
        let mut contents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = contents.arrays.iter().position(|(candidate, _)| candidate == name)?;
        Some(contents.arrays.swap_remove(place).1)
    }

    /// Puts in the arrays of a file, in the place of those of an earlier one.
    pub(super) fn put(&self, file: &str, arrays: Vec<(String, Vec<u32>)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Contents { file: file.to_owned(), arrays };
    }
}
