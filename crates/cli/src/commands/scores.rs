//! Short rows of names and numbers, as a table in a file, as JSON, and on the terminal.

use warpath::tables::{Cell, ColumnType};
use warpath::{Error, Graph, VertexId};

use crate::print::Table;
use crate::table::{self, Names, text_of};

/// A table of a few columns.
pub(super) struct Scores<'g> {
    pub(super) columns: Vec<(&'static str, ColumnType)>,
    /// The cells of the rows, one row after another.
    pub(super) cells: Vec<Cell<'g>>,
}

impl<'g> Scores<'g> {
    /// A number for each vertex.
    pub(super) fn of_vertices(graph: &'g Graph, title: &'static str, values: &[f64]) -> Self {
        let names = Names::of(graph);
        let row = |(v, &value): (VertexId, &f64)| [names.cell(v), Cell::Double(value)];
        Scores {
            columns: vec![("vertex", names.column), (title, ColumnType::F64)],
            cells: (0..).zip(values).flat_map(row).collect(),
        }
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, Cell<'g>> {
        self.cells.chunks_exact(self.columns.len())
    }

    /// Writes the whole table.
    pub(super) fn write(&self, mut output: table::Table) -> Result<(), Error> {
        output.begin(&self.columns)?;
        self.rows().try_for_each(|row| output.push_row(row))?;
        output.finish()
    }

    /// The rows as objects keyed by the titles of the columns; `null` stands for a missing number.
    pub(super) fn as_json(&self) -> serde_json::Value {
        let number =
            |text: &str| serde_json::from_str::<serde_json::Number>(text).map_or(serde_json::Value::Null, Into::into);
        let value = |&(title, _): &(&str, ColumnType), &cell: &Cell<'_>| {
            let text = text_of(cell);
            let is_name = matches!(title, "vertex" | "source" | "target");
            (title.to_owned(), if is_name { text.into() } else { number(&text) })
        };
        let object = |row: &[Cell<'_>]| {
            serde_json::Value::Object(self.columns.iter().zip(row).map(|(column, cell)| value(column, cell)).collect())
        };
        self.rows().map(object).collect()
    }

    /// Shows the first rows, if no file gets them.
    pub(super) fn show(&self, table: &mut Table) {
        const SHOWN: usize = 20;
        let line = |texts: Vec<String>| match texts.as_slice() {
            [names @ .., last] => (names.join(" "), last.clone()),
            [] => Default::default(),
        };
        let (names, score) = line(self.columns.iter().map(|(title, _)| (*title).to_owned()).collect());
        table.row(&names, score);
        for row in self.rows().take(SHOWN) {
            let (names, score) = line(row.iter().map(|&cell| text_of(cell)).collect());
            table.row(&names, score);
        }
        let rows = self.rows().len();
        if rows > SHOWN {
            table.row("", format!("and {} more; --output FILE.csv has them all", rows - SHOWN));
        }
    }
}
