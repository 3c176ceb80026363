//! Tables of results in files: .csv, .tsv and .parquet, written row by row through one face.

use std::io::Write;
#[cfg(feature = "parquet")]
use std::path::PathBuf;

#[cfg(feature = "parquet")]
use warpath::formats::PackedFile;
use warpath::graph::{Labels, WeightKind};
#[cfg(feature = "parquet")]
use warpath::tables::ParquetTable;
use warpath::tables::{Cell, ColumnType, csv_field};
use warpath::{Error, Graph, VertexId};

use crate::output::{Output, OutputKind};

/// A table that is written.
pub(crate) enum Table {
    /// Lines of fields with commas between them.
    Csv(Box<Output>),
    /// Columns with types, once they are known.
    #[cfg(feature = "parquet")]
    Parquet { path: PathBuf, state: ParquetState },
}

/// How far a .parquet is.
#[cfg(feature = "parquet")]
pub(crate) enum ParquetState {
    Created(Box<PackedFile>),
    Begun(Box<ParquetTable<PackedFile>>),
    /// It failed.
    Lost,
}

impl Table {
    /// A table in an output of this kind, which is no .npy.
    pub(crate) fn new(output: Output, kind: OutputKind) -> Self {
        match (output, kind) {
            #[cfg(feature = "parquet")]
            (Output::File(file), OutputKind::Parquet) => {
                Table::Parquet { path: file.path().to_owned(), state: ParquetState::Created(Box::new(file)) }
            }
            (output, _) => Table::Csv(Box::new(output)),
        }
    }

    /// Names the columns. Comes before all rows.
    pub(crate) fn begin(&mut self, columns: &[(&str, ColumnType)]) -> Result<(), Error> {
        match self {
            Table::Csv(output) => {
                let names: Vec<_> = columns.iter().map(|(name, _)| csv_field(name)).collect();
                writeln!(output, "{}", names.join(",")).map_err(|error| Error::io(output.path(), error))
            }
            #[cfg(feature = "parquet")]
            Table::Parquet { path, state } => match std::mem::replace(state, ParquetState::Lost) {
                ParquetState::Created(file) => {
                    let table = ParquetTable::new(*file, columns).map_err(|error| Error::io(path.as_path(), error))?;
                    *state = ParquetState::Begun(Box::new(table));
                    Ok(())
                }
                _ => Err(Error::invalid("a table begins once")),
            },
        }
    }

    /// Writes a row.
    pub(crate) fn push_row(&mut self, cells: &[Cell<'_>]) -> Result<(), Error> {
        match self {
            Table::Csv(output) => {
                let mut line = || {
                    for (index, &cell) in cells.iter().enumerate() {
                        output.write_all(if index == 0 { b"" } else { b"," })?;
                        write_cell(output, cell)?;
                    }
                    output.write_all(b"\n")
                };
                let written = line();
                written.map_err(|error| Error::io(output.path(), error))
            }
            #[cfg(feature = "parquet")]
            Table::Parquet { path, state } => match state {
                ParquetState::Begun(table) => table.push_row(cells).map_err(|error| Error::io(path.as_path(), error)),
                _ => Err(Error::invalid("a table begins with its columns")),
            },
        }
    }

    /// Gives the file its final name.
    pub(crate) fn finish(self) -> Result<(), Error> {
        match self {
            Table::Csv(output) => output.finish(),
            #[cfg(feature = "parquet")]
            Table::Parquet { path, state } => match state {
                ParquetState::Begun(table) => {
                    table.finish().map_err(|error| Error::io(path.as_path(), error))?.finish()
                }
                _ => Err(Error::invalid("a table begins with its columns")),
            },
        }
    }
}

/// Writes a cell as a field of a .csv.
fn write_cell(out: &mut impl Write, cell: Cell<'_>) -> std::io::Result<()> {
    match cell {
        Cell::Missing => Ok(()),
        Cell::Text(text) => out.write_all(csv_field(text).as_bytes()),
        Cell::Signed(value) => write!(out, "{value}"),
        Cell::Unsigned(value) => write!(out, "{value}"),
        Cell::AtLeast(value) => write!(out, ">={value}"),
        Cell::Single(value) => write!(out, "{value}"),
        Cell::Double(value) => write!(out, "{value}"),
    }
}

/// The text of a number, as it is in a .csv, or of a name.
pub(crate) fn text_of(cell: Cell<'_>) -> String {
    let mut text = Vec::new();
    match cell {
        Cell::Text(name) => return name.to_owned(),
        // Memory takes all that is written.
        number => drop(write_cell(&mut text, number)),
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The names of vertices as cells: integers where all names are, else text.
pub(crate) struct Names<'g> {
    labels: &'g Labels,
    /// Of the column.
    pub(crate) column: ColumnType,
}

impl<'g> Names<'g> {
    pub(crate) fn of(graph: &'g Graph) -> Self {
        let labels = graph.labels();
        let greatest = match labels {
            Labels::Range { first, count } => Some(first.saturating_add(*count)),
            Labels::Integers(names) => Some(names.last().copied().unwrap_or(0)),
            Labels::Strings(_) => None,
        };
        let column = match greatest.map(i64::try_from) {
            Some(Ok(_)) => ColumnType::I64,
            Some(Err(_)) => ColumnType::U64,
            None => ColumnType::Text,
        };
        Names { labels, column }
    }

    /// The name of a vertex.
    pub(crate) fn cell(&self, vertex: VertexId) -> Cell<'g> {
        let name = match self.labels {
            Labels::Range { first, .. } => first + u64::from(vertex),
            Labels::Integers(names) => names[vertex as usize],
            Labels::Strings(names) => return Cell::Text(names.get(vertex)),
        };
        match self.column {
            ColumnType::I64 => Cell::Signed(name as i64),
            _ => Cell::Unsigned(name),
        }
    }

    /// The name of a vertex, if there is one.
    pub(crate) fn cell_of(&self, vertex: Option<VertexId>) -> Cell<'g> {
        vertex.map_or(Cell::Missing, |vertex| self.cell(vertex))
    }
}

/// A type that holds every distance by the weights of a graph.
pub(crate) fn distance_type(graph: &Graph) -> ColumnType {
    match graph.weight_kind() {
        WeightKind::Unit | WeightKind::U32 => ColumnType::U64,
        WeightKind::I32 => ColumnType::I64,
        WeightKind::F32 => ColumnType::F32,
        WeightKind::F64 => ColumnType::F64,
    }
}
