//! Chooses the columns of an edge list, and tells where in them a fault is.

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema};

use super::ColumnarFile;
use super::values::{self, shown_type};
use crate::formats::ReadOptions;
use crate::formats::edge_list::{MIXED_DIRECTIONS, Roles, SAMPLED_LINES, direction_of, roles};
use crate::formats::text::Fault;
use crate::graph::Direction;
use crate::{Error, InputError, Result};

/// The columns that are read.
pub(super) struct Chosen {
    /// All that are needed, by their places in the file, ascending.
    pub(super) read: Vec<usize>,
    /// Where in a batch of these the ends and the weight of an edge are.
    pub(super) ends: [usize; 2],
    pub(super) weight: Option<usize>,
    /// Whether the weights are 32-bit floats.
    pub(super) has_single_floats: bool,
    /// The names of these columns.
    names: Vec<String>,
    /// The direction that the names of the ends state.
    direction: Option<Direction>,
    /// The place in the file of a column `type`, which may state the direction.
    kind: Option<usize>,
}

impl Chosen {
    /// The columns that the options or their names tell. Notes say which.
    ///
    /// # Errors
    ///
    /// If there are less than two columns, one that was asked for is missing, the names leave the ends or the weight
    /// unclear, or a column is of another type than its part in an edge needs.
    pub(super) fn of(schema: &Schema, options: &ReadOptions) -> Result<Self> {
        let fields = schema.fields();
        if fields.len() < 2 {
            return Err(InputError::new("an edge list has two columns of vertices, and there are fewer").into());
        }
        let names: Vec<&[u8]> = fields.iter().map(|field| field.name().as_bytes()).collect();
        let Roles { ends, mut weight, undirected } = roles(&names, options)?;
        let described = Roles { ends, weight, undirected }.described(&names, options);
        options.notes.add(format!(
            "the names of the columns tell: {described}; `--from` with `--to`, and `--weights` change that"
        ));
        let holds = |column: usize, what: &str| {
            let (name, kind) = (fields[column].name(), shown_type(fields[column].data_type()));
            Err::<(), Error>(InputError::new(format!("the column `{name}` holds {kind}; {what}")).into())
        };
        for column in ends {
            if !values::names_vertices(fields[column].data_type()) {
                holds(column, "vertices are integers or text (`--from COLUMN --to COLUMN`, `ReadOptions::ends`)")?;
            }
        }
        let is_number = |column: usize| values::is_weight(fields[column].data_type());
        if options.leaves_weights()
            && let Some(column) = weight.take()
            && !is_number(column)
        {
            let column = column + 1;
            options.notes.add(format!("column {column} holds no numbers; it is not read, for no weights are needed"));
        }
        if let Some(column) = weight.filter(|&column| !is_number(column)) {
            holds(
                column,
                "weights are integers or floats (`--weights COLUMN` takes another column, `--weights unit` none; \
                 `ReadOptions::weights`)",
            )?;
        }
        let mut read: Vec<usize> = ends.into_iter().chain(weight).collect();
        read.sort_unstable();
        read.dedup();
        let place = |column: usize| read.partition_point(|&other| other < column);
        Ok(Chosen {
            ends: ends.map(place),
            weight: weight.map(place),
            has_single_floats: weight
                .is_some_and(|column| matches!(fields[column].data_type(), DataType::Float16 | DataType::Float32)),
            names: read.iter().map(|&column| fields[column].name().clone()).collect(),
            direction: undirected.then_some(Direction::Undirected),
            kind: names.iter().position(|name| name.eq_ignore_ascii_case(b"type")),
            read,
        })
    }

    /// What the file says about the direction of edges: the names of the ends, or the first rows of a column `type`.
    ///
    /// # Errors
    ///
    /// If these rows state both directions, or can't be read.
    pub(super) fn stated_direction(
        &self,
        file: &impl ColumnarFile,
        options: &ReadOptions,
    ) -> Result<Option<Direction>> {
        let Some(kind) = self.kind.filter(|_| options.direction.is_none()) else { return Ok(self.direction) };
        if !values::is_text(file.schema().field(kind).data_type()) {
            return Ok(self.direction);
        }
        let mut stated = None;
        // As many as the lines after a header among which a text's layout is looked for.
        let mut left = SAMPLED_LINES - 1;
        for batch in file.batches(&[kind])? {
            let batch = batch?;
            let rows = batch.num_rows().min(left);
            let words = values::plain(&batch.column(0).slice(0, rows))?;
            for row in 0..rows {
                let word = if words.is_null(row) { None } else { values::text_at(&words, row) };
                let Some(here) = word.and_then(|word| direction_of(word.as_bytes())) else {
                    return Ok(self.direction);
                };
                if *stated.get_or_insert(here) != here {
                    return Err(InputError::new(MIXED_DIRECTIONS).into());
                }
            }
            left -= rows;
            if left == 0 {
                break;
            }
        }
        Ok(stated.or(self.direction))
    }

    /// The error at a row, counted from 0, of a column of the batches.
    pub(super) fn error_at(&self, row: u64, column: usize, message: &str) -> Error {
        InputError::new(format!("row {}, column `{}`: {message}", row + 1, self.names[column])).into()
    }

    /// The error of a fault in the weights, whose place is a row, counted from 0.
    pub(super) fn locate(&self, fault: &Fault) -> Error {
        let message = format!("{}: `{}`", fault.message, String::from_utf8_lossy(&fault.part));
        self.error_at(fault.at, self.weight.unwrap_or_default(), &message)
    }

    /// An error if a value is missing.
    pub(super) fn check_complete(&self, array: &ArrayRef, column: usize, first_row: u64) -> Result<()> {
        // A dictionary may hold nulls among its values, besides rows without one.
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let Some(row) = nulls.and_then(|nulls| (0..nulls.len()).find(|&row| nulls.is_null(row))) else {
            return Ok(());
        };
        let what =
            if self.ends.contains(&column) { "the vertex is missing (null)" } else { "the weight is missing (null)" };
        Err(self.error_at(first_row + row as u64, column, what))
    }
}
