//! Some rows of a file, for those who keep only a part of its graph each: of `.wpg`, and of GAP's `.sg` and `.wsg`.

use std::ops::Range;
use std::path::Path;

use super::gap::GapRows;
use super::row_range::RowRange;
use super::wpg::WpgRows;
use super::{Opened, ReadOptions};
use crate::graph::{Labels, WeightKind};
use crate::{Error, Result};

/// A file of rows, of which they are read one range at a time: a `.wpg` file, every block of which is compared with its checksum,
/// or a serialized graph of the GAP benchmark suite, `.sg` or `.wsg`, which has no checksums.
///
/// ```
/// use warpath::formats::StoredRows;
/// let path = std::env::temp_dir().join("rows-of-a-square.wpg");
/// warpath::write(&warpath::generate("grid:2x2")?, &path)?;
/// let file = StoredRows::open(&path)?;
/// let rows = file.read(1..3, true)?;
/// assert_eq!((file.vertices(), rows.offsets, rows.targets), (4, vec![0, 2, 4], vec![0, 3, 0, 3]));
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), warpath::Error>(())
/// ```
pub struct StoredRows(Form);

enum Form {
    Wpg(Box<WpgRows>),
    Gap(GapRows),
}

/// Evaluates an expression with `$rows` as the rows of either format.
macro_rules! with_rows {
    ($stored:expr, $rows:ident => $body:expr) => {
        match &$stored.0 {
            Form::Wpg($rows) => $body,
            Form::Gap($rows) => $body,
        }
    };
}

impl StoredRows {
    /// Opens a file, which is not packed, and checks its header. O(1).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file can't be read, [`Error::InvalidRequest`] if it has another format, and [`Error::Input`] if its header is
    /// damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let opened = Opened::file(path, &ReadOptions::new())?;
        if WpgRows::is_announced(&opened) {
            return WpgRows::new(opened).map(|rows| StoredRows(Form::Wpg(Box::new(rows))));
        }
        match GapRows::new(opened) {
            Some(rows) => Ok(StoredRows(Form::Gap(rows))),
            None => Err(Error::invalid(format!(
                "{}: neither a .wpg file nor a .sg or .wsg file; `warpath convert` makes a .wpg of any graph",
                path.display()
            ))),
        }
    }

    /// Whether a file is in one of these formats. O(1).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file can't be read.
    pub fn is_one(path: impl AsRef<Path>) -> Result<bool> {
        let opened = Opened::file(path.as_ref(), &ReadOptions::new())?;
        Ok(WpgRows::is_announced(&opened) || GapRows::new(opened).is_some())
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u64 {
        with_rows!(self, rows => rows.vertices())
    }

    /// The number of arcs.
    pub fn arcs(&self) -> u64 {
        with_rows!(self, rows => rows.arcs())
    }

    /// Whether arcs have a direction.
    pub fn is_directed(&self) -> bool {
        with_rows!(self, rows => rows.is_directed())
    }

    /// The type of the weights; `u32` of `.wsg`, whose weights below 0 are not read.
    pub fn weight_kind(&self) -> WeightKind {
        with_rows!(self, rows => rows.weight_kind())
    }

    /// A number that copies of the file have in common: of `.wpg`, a checksum of the header and of the checksums of all blocks; `.sg` and
    /// `.wsg` have none, so it is that of some pieces of the file and its length. O(blocks).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file can't be read.
    pub fn fingerprint(&self) -> Result<u64> {
        with_rows!(self, rows => rows.fingerprint())
    }

    /// How many arcs leave the vertices before `vertex`, which may be the number of vertices. One read; no checksum is looked at,
    /// so damage may give any number.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file can't be read.
    pub fn arcs_before(&self, vertex: u64) -> Result<u64> {
        with_rows!(self, rows => rows.arcs_before(vertex))
    }

    /// Reads the rows of some vertices; without their weights, these are unit weights. The heads of a row of `.wpg` ascend. O(rows + arcs).
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if a block is damaged, the rows are those of no graph, or a weight of `.wsg` is below 0; [`Error::OutOfMemory`], and
    /// [`Error::Io`].
    pub fn read(&self, rows: Range<u64>, with_weights: bool) -> Result<RowRange> {
        with_rows!(self, stored => stored.read(rows, with_weights))
    }

    /// The names of some vertices. O(vertices).
    ///
    /// # Errors
    ///
    /// As [`StoredRows::read`].
    pub fn names(&self, vertices: Range<u64>) -> Result<Labels> {
        match &self.0 {
            Form::Wpg(rows) => rows.names(vertices),
            Form::Gap(_) => Ok(Labels::range(vertices.start, vertices.end - vertices.start)),
        }
    }
}
