//! Edge lists in columns, as Parquet and Arrow files hold them. They are only read.
//!
//! The columns are chosen as in a delimited text with a header: by the options, else by their names. The same list leads
//! to the same graph in either form: integers, and texts that are written as integers, are numbered in ascending order,
//! other names in the order of their first appearance; weights get the same types. Only 32-bit floats stay what they
//! are, which no text can say of its numbers.
//!
//! **Cost.** One pass over the rows of the columns in use, a batch at a time, so that memory holds the edges and one
//! batch. Names are taken for integers until one is not; then the edges so far are named anew.
//!
//! *Parts.* `parquet_file` and `arrow_file` find batches of rows in a file; `columns` chooses the columns; `values` reads
//! names and weights from the arrays of a batch; `edges` collects them.

pub(super) mod arrow_file;
#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod edges;
pub(super) mod parquet_file;
#[cfg(all(test, feature = "parquet"))]
mod tests;
#[cfg(feature = "parquet")]
mod values;

/// What the files of these formats hold.
const HOLDS: &str = super::entry::READ_ONLY;

/// The refusal of builds that can't read these files.
#[cfg(not(feature = "parquet"))]
fn refuse<T>(kind: &str) -> crate::Result<T> {
    Err(crate::InputError::new(format!(
        "this is {kind} file, and this build of Warpath can't read it, for it lacks the feature `parquet`; `cargo install \
         --path crates/cli --features parquet` installs one that can"
    ))
    .into())
}

/// Whether a panic of this thread, now, becomes an error about the file that is read. A panic hook has nothing to say about
/// it then.
pub fn panics_are_contained() -> bool {
    #[cfg(feature = "parquet")]
    return reading::panics_are_contained();
    #[cfg(not(feature = "parquet"))]
    false
}

#[cfg(feature = "parquet")]
use reading::{ColumnarFile, damaged, read};

#[cfg(feature = "parquet")]
mod reading {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use arrow_array::RecordBatch;
    use arrow_schema::Schema;

    use super::columns::Chosen;
    use super::edges::Edges;
    use crate::formats::edge_list::note_one_way;
    use crate::formats::rows::plan_vertices;
    use crate::formats::weight_column;
    use crate::formats::{Opened, ReadOptions};
    use crate::graph::{Direction, Graph};
    use crate::{InputError, Result};

    /// A file whose rows are read in batches.
    pub(super) trait ColumnarFile {
        /// The names and types of the columns.
        fn schema(&self) -> &Schema;

        /// The batches of all rows, in their order, with these columns, which ascend.
        fn batches<'f>(&'f self, columns: &[usize]) -> Result<Box<dyn Iterator<Item = Result<RecordBatch>> + 'f>>;

        /// The file.
        fn opened(&self) -> &Opened;
    }

    /// Reads the graph of an edge list in columns.
    pub(super) fn read<F: ColumnarFile>(open: impl FnOnce() -> Result<F>, options: &ReadOptions) -> Result<Graph> {
        let file = contained(open)?;
        let chosen = Chosen::of(file.schema(), options)?;
        let stated = contained(|| chosen.stated_direction(&file, options))?;
        let room = options.room_to_parse(file.opened().length(), file.opened().owned_bytes());
        let mut edges = Edges::new(&chosen, room);
        let mut batches = contained(|| file.batches(&chosen.read))?;
        while let Some(batch) = contained(|| batches.next().transpose())? {
            contained(|| edges.add(&batch))?;
            options.control.progress("load", edges.rows(), 0)?;
        }
        drop(batches);
        file.opened().check_unchanged()?;
        drop(file);
        let (labels, chunks) = edges.named()?;
        plan_vertices(labels.len(), 0, options)?;
        let mut lists = weight_column::settle(|fault| chosen.locate(&fault), chunks, options)?;
        if chosen.has_single_floats {
            lists = lists.with_single_floats();
        }
        let builder = options.builder(stated.unwrap_or(Direction::Directed)).labels(labels);
        let graph = lists.build(builder)?;
        if stated.or(options.direction).is_none() {
            note_one_way(&graph, options);
        }
        Ok(graph)
    }

    /// Runs code that decodes a file.
    ///
    /// The packages that decode these files check lengths and offsets, but damaged files have made earlier versions of
    /// them panic, and nothing promises that none is left. A panic there is one more way to say that the file is damaged;
    /// what was decoded is dropped, so no half-done value is seen afterwards.
    ///
    /// # Errors
    ///
    /// Those of the code, or one in the place of its panic.
    pub(super) fn contained<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
        CONTAINED.set(true);
        let outcome = catch_unwind(AssertUnwindSafe(decode));
        CONTAINED.set(false);
        outcome.unwrap_or_else(|panic| {
            let said = (panic.downcast_ref::<String>().map(String::as_str)).or(panic.downcast_ref::<&str>().copied());
            Err(damaged(said.unwrap_or("it can't be decoded")))
        })
    }

    thread_local! {
        /// Whether this thread runs code whose panics become errors.
        static CONTAINED: Cell<bool> = const { Cell::new(false) };
    }

    /// Whether this thread runs such code.
    pub(super) fn panics_are_contained() -> bool {
        CONTAINED.get()
    }

    /// The error of a file that can't be decoded.
    pub(super) fn damaged(why: impl std::fmt::Display) -> crate::Error {
        InputError::new(format!("the file is damaged or cut short: {why}")).into()
    }
}
