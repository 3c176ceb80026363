//! What a caller can say about the lines of an edge list, where the list does not say it or says it unclearly.

use std::str::FromStr;

use crate::{Error, Result};

/// A column of an edge list.
///
/// ```
/// use warpath::formats::Column;
/// assert_eq!("3".parse::<Column>()?, Column::Number(3));
/// assert_eq!("minutes".parse::<Column>()?, Column::Named("minutes".into()));
/// assert!("0".parse::<Column>().is_err());
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Column {
    /// By its place, counted from 1.
    Number(usize),
    /// By its name in the header line.
    Named(String),
}

impl From<usize> for Column {
    fn from(number: usize) -> Self {
        Column::Number(number)
    }
}

impl From<&str> for Column {
    fn from(name: &str) -> Self {
        Column::Named(name.to_owned())
    }
}

impl FromStr for Column {
    type Err = Error;

    /// A whole number from 1 is a place; all else is a name.
    fn from_str(text: &str) -> Result<Self> {
        match text.parse() {
            Ok(0) => Err(Error::invalid("columns are counted from 1")),
            Ok(number) => Ok(Column::Number(number)),
            Err(_) => Ok(Column::Named(text.to_owned())),
        }
    }
}

impl std::fmt::Display for Column {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Column::Number(number) => write!(out, "{number}"),
            Column::Named(name) => out.write_str(name),
        }
    }
}

/// Where the weights of edges come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WeightSource {
    /// The weights that the file has. In an edge list, these are the column that the header calls `weight`, `length` or
    /// the like; without such a name, the first column after the two ends of the edge, if there is one.
    #[default]
    File,
    /// No weights: weights in the file are skipped.
    Unit,
    /// A column of an edge list, of text or in columns.
    Column(Column),
}

impl From<Column> for WeightSource {
    fn from(column: Column) -> Self {
        WeightSource::Column(column)
    }
}

impl From<usize> for WeightSource {
    fn from(number: usize) -> Self {
        WeightSource::Column(number.into())
    }
}

impl From<&str> for WeightSource {
    fn from(name: &str) -> Self {
        WeightSource::Column(name.into())
    }
}

/// What the first line of an edge list is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FirstLine {
    /// A header or an edge, whichever it looks like. A line that may as well be the other, or counts, is an error.
    #[default]
    Auto,
    /// The number of vertices, and perhaps the number of edges.
    Counts,
    /// The names of the columns.
    Header,
    /// An edge.
    Edge,
}

impl FromStr for FirstLine {
    type Err = Error;

    /// `auto`, `counts`, `header` or `edge`.
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(FirstLine::Auto),
            "counts" => Ok(FirstLine::Counts),
            "header" => Ok(FirstLine::Header),
            "edge" => Ok(FirstLine::Edge),
            _ => Err(Error::invalid(format!("a first line is auto, counts, header or edge, not `{name}`"))),
        }
    }
}

/// What stands between the columns of an edge list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Separator {
    /// Any run of blanks and tabs.
    Blank,
    /// One tab.
    Tab,
    /// One comma.
    Comma,
    /// One semicolon.
    Semicolon,
    /// One `|`.
    Bar,
}

impl Separator {
    /// Every separator.
    pub const ALL: [Separator; 5] =
        [Separator::Blank, Separator::Tab, Separator::Comma, Separator::Semicolon, Separator::Bar];

    /// The name, as in `--separator NAME`.
    pub fn name(self) -> &'static str {
        match self {
            Separator::Blank => "blank",
            Separator::Tab => "tab",
            Separator::Comma => "comma",
            Separator::Semicolon => "semicolon",
            Separator::Bar => "bar",
        }
    }

    /// The byte between two columns; `None` for runs of blanks.
    pub(super) fn byte(self) -> Option<u8> {
        match self {
            Separator::Blank => None,
            Separator::Tab => Some(b'\t'),
            Separator::Comma => Some(b','),
            Separator::Semicolon => Some(b';'),
            Separator::Bar => Some(b'|'),
        }
    }
}

impl FromStr for Separator {
    type Err = Error;

    /// `blank`, `tab`, `comma`, `semicolon` or `bar`.
    fn from_str(name: &str) -> Result<Self> {
        let found = Separator::ALL.into_iter().find(|separator| separator.name() == name);
        found.ok_or_else(|| {
            Error::invalid(format!("a separator is {}, not `{name}`", Separator::ALL.map(Separator::name).join(", ")))
        })
    }
}

/// What stands before the decimals of a number in an edge list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecimalMark {
    /// As in 1.5.
    Point,
    /// As in 1,5.
    Comma,
}

impl DecimalMark {
    /// The name, as in `--decimal NAME`.
    pub fn name(self) -> &'static str {
        match self {
            DecimalMark::Point => "point",
            DecimalMark::Comma => "comma",
        }
    }
}

impl FromStr for DecimalMark {
    type Err = Error;

    /// `point` or `comma`.
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "point" => Ok(DecimalMark::Point),
            "comma" => Ok(DecimalMark::Comma),
            _ => Err(Error::invalid(format!("a decimal mark is point or comma, not `{name}`"))),
        }
    }
}
