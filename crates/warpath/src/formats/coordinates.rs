//! Coordinates of vertices: DIMACS `.co` files, and `.csv` files with the columns vertex, x, y.
//!
//! A `.co` has lines `v ID X Y` of integers after a line `p aux sp co VERTICES`; comments start with `c`. The road
//! networks of the 9th DIMACS Implementation Challenge have longitude and latitude in millionths of a degree, so
//! Warpath takes all numbers of a `.co` for millionths. Vertices are numbered from 1.
//!
//! Source: <http://www.diag.uniroma1.it/challenge9/format.shtml>.

use std::io::Write;
use std::path::Path;

use super::{ReadOptions, stream_error};
use crate::graph::{Coordinates, Graph, Labels, VertexId};
use crate::tables::{csv_field, csv_fields};
use crate::{Error, InputError, Result, memory};

/// The unit of a `.co`.
const MILLION: f64 = 1e6;

/// A format of coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoordinateFormat {
    /// DIMACS `.co`: integers, taken for millionths.
    Dimacs,
    /// Lines of vertex, x, y.
    Csv,
}

impl CoordinateFormat {
    /// The format that the extension of a file names, which may be packed.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if it names none.
    pub fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let packed = [".gz", ".zst", ".bz2", ".xz"].iter().find_map(|packing| name.strip_suffix(packing));
        match packed.unwrap_or(&name).rsplit_once('.') {
            Some((_, "co")) => Ok(CoordinateFormat::Dimacs),
            Some((_, "csv")) => Ok(CoordinateFormat::Csv),
            _ => {
                let path = path.display();
                Err(Error::invalid(format!(
                    "`{path}` names no format of coordinates: its extension can be .co or .csv"
                )))
            }
        }
    }
}

impl ReadOptions {
    /// Reads the coordinates of the vertices of a graph. Lines about vertices that the graph does not have are skipped,
    /// so that the coordinates of a whole map serve a part of it.
    ///
    /// # Errors
    ///
    /// If the extension names no format of coordinates, the file can't be read, a line is malformed or gives a vertex
    /// its second place, or memory does not suffice.
    pub fn read_coordinates(&self, path: impl AsRef<Path>, graph: &Graph) -> Result<Coordinates> {
        let path = path.as_ref();
        let format = CoordinateFormat::of(path)?;
        let bytes = self.read_text(path)?;
        parse(&bytes, format, graph, &path.display().to_string(), self)
    }
}

/// A line: a vertex, if the graph has it, and its place; `None` if it says nothing about a vertex.
type Placed = Option<(Option<VertexId>, [f64; 2])>;

fn parse(
    bytes: &[u8],
    format: CoordinateFormat,
    graph: &Graph,
    file: &str,
    options: &ReadOptions,
) -> Result<Coordinates> {
    /// This many lines are read in a moment.
    const SOME: usize = 1 << 12;
    let mut places = memory::filled("the coordinates of vertices", graph.vertices(), None)?;
    let mut is_first = true;
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if index % SOME == 0 {
            options.control.check()?;
        }
        let line = line.trim_ascii();
        let at_line = |message: &str| Error::from(InputError::at(index as u64 + 1, line, message).in_file(file));
        let text = std::str::from_utf8(line).map_err(|_| at_line("not UTF-8"))?;
        if text.is_empty() {
            continue;
        }
        let placed = match format {
            CoordinateFormat::Dimacs => dimacs_line(text, graph),
            CoordinateFormat::Csv => csv_line(text, graph, std::mem::take(&mut is_first)),
        };
        let Some((vertex, place)) = placed.map_err(|message| at_line(&message))? else { continue };
        if let Some(vertex) = vertex
            && places[vertex as usize].replace(place).is_some_and(|other| other != place)
        {
            return Err(at_line("this vertex has another place already"));
        }
    }
    Ok(Coordinates::new(places))
}

fn dimacs_line(line: &str, graph: &Graph) -> std::result::Result<Placed, String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [id, x, y] = match words[..] {
        ["v", id, x, y] => [id, x, y],
        ["c" | "p", ..] => return Ok(None),
        _ => return Err("a vertex has a line `v ID X Y`".into()),
    };
    let id: u64 = id.parse().map_err(|_| format!("`{id}` is not the number of a vertex"))?;
    let vertex = match graph.labels() {
        // The formats that number vertices do so from 0 or from 1; this one always from 1.
        Labels::Range { count, .. } => id.checked_sub(1).filter(|v| v < count).map(|v| v as VertexId),
        Labels::Integers(_) => graph.labels().find_integer(id),
        Labels::Strings(_) => {
            return Err("a .co numbers the vertices, but in this graph they have names: a .csv can name them".into());
        }
    };
    let millionths = |text: &str| {
        let number = text.parse::<i64>().map_err(|_| format!("`{text}` is not a whole number"))?;
        Ok::<_, String>(number as f64 / MILLION)
    };
    Ok(Some((vertex, [millionths(x)?, millionths(y)?])))
}

fn csv_line(line: &str, graph: &Graph, is_first: bool) -> std::result::Result<Placed, String> {
    if line.starts_with('#') {
        return Ok(None);
    }
    let fields = csv_fields(line)?;
    let [name, x, y] = &fields[..] else { return Err("a line has a vertex, x and y".into()) };
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    match (number(x), number(y)) {
        (Some(x), Some(y)) => Ok(Some((graph.labels().find(name), [x, y]))),
        (None, None) if is_first => Ok(None),
        (None, _) => Err(format!("`{x}` is not a number")),
        (_, None) => Err(format!("`{y}` is not a number")),
    }
}

/// Writes coordinates, of all vertices that have some.
///
/// # Errors
///
/// If the stream can't be written, or coordinates are too great for a `.co`.
pub fn write_coordinates(
    coordinates: &Coordinates,
    graph: &Graph,
    format: CoordinateFormat,
    out: &mut impl Write,
) -> Result<()> {
    let vertices = 0..graph.vertices() as VertexId;
    match format {
        CoordinateFormat::Dimacs => writeln!(out, "p aux sp co {}", graph.vertices()),
        CoordinateFormat::Csv => writeln!(out, "vertex,x,y"),
    }
    .map_err(stream_error)?;
    for v in vertices {
        let Some([x, y]) = coordinates.of(v) else { continue };
        let written = match format {
            CoordinateFormat::Csv => writeln!(out, "{},{x},{y}", csv_field(&graph.name(v))),
            CoordinateFormat::Dimacs => {
                let (x, y) = ((x * MILLION).round(), (y * MILLION).round());
                if x.abs().max(y.abs()) >= i64::MAX as f64 {
                    return Err(Error::invalid("the coordinates are too great for a .co"));
                }
                writeln!(out, "v {} {} {}", u64::from(v) + 1, x as i64, y as i64)
            }
        };
        written.map_err(stream_error)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    fn read(text: &str, format: CoordinateFormat, graph: &Graph) -> Result<Coordinates> {
        parse(text.as_bytes(), format, graph, "places", &ReadOptions::new())
    }

    #[test]
    fn places_come_back_as_they_were_written() {
        let places = |graph: &Graph| {
            let place = |v: usize| (v != 1).then_some([v as f64 / 8.0 - 73.5, 0.000_001 * v as f64]);
            Coordinates::new((0..graph.vertices()).map(place).collect())
        };
        let numbered = Graph::from_edges([(0, 1), (1, 2), (2, 3)]).unwrap();
        let named =
            GraphBuilder::new().labels(Labels::Integers(vec![7, 9, 30, 31])).build_from([(0, 1), (2, 3)]).unwrap();
        for (graph, format) in
            [(&numbered, CoordinateFormat::Dimacs), (&numbered, CoordinateFormat::Csv), (&named, CoordinateFormat::Csv)]
        {
            let mut written = Vec::new();
            write_coordinates(&places(graph), graph, format, &mut written).unwrap();
            let text = String::from_utf8(written).unwrap();
            assert_eq!(read(&text, format, graph).unwrap(), places(graph), "{text}");
        }
    }

    #[test]
    fn bad_places_are_errors_with_their_line() {
        let graph = Graph::from_edges([(0, 1), (1, 2)]).unwrap();
        for (text, message) in [
            ("c\nv 1 2\n", "places:2"),
            ("v 1 2 x\n", "`x` is not a whole number"),
            ("v one 2 3\n", "`one` is not the number"),
            ("v 1 2 3\nv 1 2 4\n", "places:2"),
        ] {
            let error = read(text, CoordinateFormat::Dimacs, &graph).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        for (text, message) in [
            ("vertex,x,y\n1,2,east\n", "`east` is not a number"),
            ("0,1\n", "a vertex, x and y"),
            ("0,NaN,1\n", "`NaN` is not a number"),
            ("0,1,2\n1,inf,1\n", "`inf` is not a number"),
            ("\"0,1,2\n", "a quote is not closed"),
        ] {
            let error = read(text, CoordinateFormat::Csv, &graph).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        // Other parts of the map do not matter.
        assert_eq!(read("0,1,2\n99,3,4\n", CoordinateFormat::Csv, &graph).unwrap().of(0), Some([1.0, 2.0]));
        assert_eq!(CoordinateFormat::of(Path::new("a.co.gz")).unwrap(), CoordinateFormat::Dimacs);
        assert!(CoordinateFormat::of(Path::new("a.txt")).is_err());
    }
}
