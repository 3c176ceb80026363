//! The table of formats. A new format needs a source file and a line here.

use std::str::FromStr;

use super::columnar::{arrow_file, parquet_file};
use super::entry::{FormatEntry, Writer};
use super::{dimacs, edge_list, gap, gml, graphml, matrix_market, metis, node_link, npz, pace, pajek, wpg};
use crate::{Error, Result};

/// Makes [`Format`] and [`FORMATS`] from the table.
macro_rules! formats {
    ($(#[doc = $description:literal] $variant:ident => $file:ident,)*) => {
        /// A file format for graphs. Some have names of vertices, the others number them: see
        /// [`Format::numbers_from`]. Some are only read: see [`Format::is_written`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Format {
            $(#[doc = $description] $variant,)*
        }

        /// Every format, in the order of [`Format`].
        static FORMATS: [FormatEntry; Format::ALL.len()] = [$($file::FORMAT),*];

        impl Format {
            /// All formats.
            pub const ALL: [Format; [$($description),*].len()] = [$(Format::$variant),*];

            /// One line on what its files look like.
            pub fn description(self) -> &'static str {
                [$($description),*][self as usize].trim_start()
            }
        }
    };
}

formats! {
    /// Lines of two vertices and perhaps a weight.
    EdgeList => edge_list,
    /// DIMACS: `p sp V E` with lines `a u v w`, or `p edge V E` with lines `e u v`.
    Dimacs => dimacs,
    /// PACE challenge: `p tw V E` with lines `u v`; undirected.
    Pace => pace,
    /// METIS and Chaco: one line of neighbours a vertex; undirected.
    Metis => metis,
    /// Matrix Market coordinate files.
    MatrixMarket => matrix_market,
    /// SciPy sparse matrices.
    Npz => npz,
    /// The GAP benchmark suite's serialized graphs, `.sg` and `.wsg`.
    Gap => gap,
    /// Warpath's own.
    Warpath => wpg,
    /// GraphML; only read.
    GraphMl => graphml,
    /// GML, the Graph Modelling Language; only read.
    Gml => gml,
    /// Pajek's networks; only read.
    Pajek => pajek,
    /// JSON of nodes and links, as NetworkX and d3 have it; only read.
    Json => node_link,
    /// Parquet: an edge list in columns; only read, by builds with the feature `parquet`.
    Parquet => parquet_file,
    /// Arrow and Feather: an edge list in columns; only read, by builds with the feature `parquet`.
    Arrow => arrow_file,
}

impl Format {
    /// This format's line in the table.
    pub(super) fn entry(self) -> &'static FormatEntry {
        &FORMATS[self as usize]
    }

    /// The name, as in `--format NAME`.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The names of all formats, for people.
    pub fn names() -> String {
        Format::ALL.map(Format::name).join(", ")
    }

    /// Whether graphs can be written in it; files of other formats are only read.
    pub fn is_written(self) -> bool {
        self.entry().write.is_some()
    }

    /// The formats that graphs can be written in.
    pub fn written() -> impl Iterator<Item = Format> {
        Format::ALL.into_iter().filter(|format| format.is_written())
    }

    /// The writer.
    ///
    /// # Errors
    ///
    /// If files of this format are only read.
    pub(super) fn writer(self) -> Result<Writer> {
        self.entry().write.ok_or_else(|| {
            let names: Vec<&str> = Format::written().map(Format::name).collect();
            Error::invalid(format!("files of the format {self} are only read; {} are written", names.join(", ")))
        })
    }

    /// Which graphs it can hold; others can't be written.
    pub fn holds(self) -> &'static str {
        self.entry().holds
    }

    /// The number of the first vertex, if the format has numbers instead of names: a graph written in it loses its
    /// names and keeps the order of its vertices.
    ///
    /// ```
    /// use warpath::Format;
    /// assert_eq!(Format::Dimacs.numbers_from(), Some(1));
    /// assert_eq!(Format::EdgeList.numbers_from(), None);
    /// ```
    pub fn numbers_from(self) -> Option<u64> {
        self.entry().numbers_from
    }

    /// The extensions that files of this format have, the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        self.entry().extensions
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    /// Parses the name of a format.
    fn from_str(name: &str) -> Result<Self> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| Error::invalid(format!("there is no format `{name}`; the formats are {}", Format::names())))
    }
}
