//! Pajek's `.net`, as Pajek, NetworkX and igraph write it. It is only read.
//!
//! `*Vertices N` begins a list of the numbers 1 to N with labels, which may be short or missing. Then come sections:
//! `*Arcs` (directed) and `*Edges` (undirected) with two vertices and perhaps a weight on a line; `*Arcslist` and
//! `*Edgeslist` with a vertex and its neighbours on a line; `*Matrix` with a row of weights on a line, 0 for no arc.
//! Whatever follows on a line, such as colours and shapes, is skipped. Vertices are named by their labels if every vertex
//! has one of its own, else by their numbers. A label that is no UTF-8 is read as Latin-1.
//!
//! A file with several networks, partitions or vectors, or with arcs of two modes as a matrix, is refused by name.
//!
//! Source: Mrvar and Batagelj, *Pajek: Reference Manual*, 2.4 (*Network*).

use super::ReadOptions;
use super::collector::{Collector, Failure, FoundEdge, READ_AS_LATIN, decoded, fault};
use super::entry::{FormatEntry, READ_ONLY};
use super::foreign::is_pajek;
use super::rows::{plan_vertices, too_many_isolated, wants_weights};
use super::stream::{Place, Stream};
use super::text::{Text, finite, unsigned, words};
use crate::Result;
use crate::graph::{Direction, Graph, MAX_VERTICES};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "pajek",
    extensions: &["net", "paj"],
    holds: READ_ONLY,
    numbers_from: None,
    is_binary: false,
    is_announced: |opened| is_pajek(opened.sample()),
    read: |opened, options| read(Text::new(opened, options), options),
    write: None,
};

fn read(text: Text, options: &ReadOptions) -> Result<Graph> {
    let place = Place::default();
    let stream = Stream::new(&text, &place, &options.control);
    let keeps_weights = wants_weights(options)?;
    let collector = Collector::new(&text, options)?;
    let mut parser = Parser {
        stream,
        text: &text,
        options,
        collector,
        keeps_weights,
        line: Vec::new(),
        at: 0,
        vertices: 0,
        sides: None,
        direction: Direction::Directed,
        relations: 0,
        is_latin: false,
    };
    let read = parser.file().and_then(|()| {
        if parser.is_latin {
            options.notes.add(READ_AS_LATIN);
        }
        if parser.relations > 1 {
            options.notes.add(format!("the arcs and edges of {} relations are read as one graph", parser.relations));
        }
        parser.collector.finish(parser.direction)
    });
    let graph = read.map_err(|failure| failure.locate(&text))?;
    text.close()?;
    Ok(graph)
}

type Outcome<T> = std::result::Result<T, Failure>;

/// What the lines of a section hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Pairs(Direction),
    Lists(Direction),
    Matrix { row: u64 },
}

struct Parser<'t> {
    stream: Stream<'t>,
    text: &'t Text,
    options: &'t ReadOptions,
    collector: Collector<'t>,
    keeps_weights: bool,
    /// The line at hand.
    line: Vec<u8>,
    /// Where it begins.
    at: u64,
    vertices: u64,
    /// The number of vertices of the first mode, if there are two.
    sides: Option<u64>,
    /// That of the last section, for a graph without any edge.
    direction: Direction,
    relations: u32,
    is_latin: bool,
}

impl Parser<'_> {
    fn fault(&self, message: impl Into<String>) -> Failure {
        fault(self.text, self.at, message)
    }

    /// Reads the next line that is neither blank nor a comment; false at the end.
    fn next(&mut self) -> Outcome<bool> {
        while let Some(at) = self.stream.line(&mut self.line)? {
            let content = self.line.trim_ascii_start();
            if !content.is_empty() && !content.starts_with(b"%") {
                self.at = at;
                return Ok(true);
            }
        }
        self.at = self.text.start() + self.text.length();
        Ok(false)
    }

    /// The word after `*` in small letters, if the line begins a section.
    fn section_name(&self) -> Option<String> {
        let first = words(&self.line).next()?.strip_prefix(b"*")?;
        Some(String::from_utf8_lossy(first).to_ascii_lowercase())
    }

    fn file(&mut self) -> Outcome<()> {
        let mut there = self.next()?;
        while there && self.section_name().as_deref() == Some("network") {
            there = self.next()?;
        }
        if !there || self.section_name().as_deref() != Some("vertices") {
            return Err(self.fault("`*Vertices N` is expected"));
        }
        there = self.read_vertices()?;
        let mut section = None;
        while there {
            if let Some(name) = self.section_name() {
                self.end_of(section)?;
                section = Some(self.section(&name)?);
            } else {
                match &mut section {
                    Some(Section::Pairs(direction)) => self.pair(*direction)?,
                    Some(Section::Lists(direction)) => self.list(*direction)?,
                    Some(Section::Matrix { row }) => {
                        *row += 1;
                        self.row(*row)?;
                    }
                    None => return Err(self.fault("a section such as `*Arcs` or `*Edges` is expected")),
                }
            }
            there = self.next()?;
        }
        self.end_of(section)
    }

    fn end_of(&self, section: Option<Section>) -> Outcome<()> {
        match section {
            Some(Section::Matrix { row }) if row < self.vertices => {
                let message = format!("the matrix has {row} rows for {} vertices", self.vertices);
                Err(self.fault(message))
            }
            _ => Ok(()),
        }
    }

    /// The section that a line begins.
    fn section(&mut self, name: &str) -> Outcome<Section> {
        let section = match name {
            "arcs" => Section::Pairs(Direction::Directed),
            "edges" => Section::Pairs(Direction::Undirected),
            "arcslist" => Section::Lists(Direction::Directed),
            "edgeslist" => Section::Lists(Direction::Undirected),
            "matrix" if self.sides.is_some() => {
                return Err(self.fault("a matrix between vertices of two modes can't be read"));
            }
            "matrix" => Section::Matrix { row: 0 },
            "vertices" | "network" => {
                return Err(self.fault("a second network begins here; the file has to hold one"));
            }
            _ => {
                let message = "this section can't be read; arcs, edges, arcslist, edgeslist and matrix can";
                return Err(self.fault(message));
            }
        };
        if words(&self.line).nth(1).is_some_and(|word| word.starts_with(b":")) {
            self.relations += 1;
        }
        self.direction = match section {
            Section::Pairs(direction) | Section::Lists(direction) => direction,
            Section::Matrix { .. } => Direction::Directed,
        };
        Ok(section)
    }

    /// The vertices from the line `*Vertices N` on; then the line after them is at hand, if there is one.
    fn read_vertices(&mut self) -> Outcome<bool> {
        let counts: Vec<Option<u64>> = words(&self.line).skip(1).take(2).map(unsigned).collect();
        let (vertices, first) = match counts[..] {
            [Some(vertices)] => (vertices, None),
            [Some(vertices), Some(first)] if first <= vertices => (vertices, Some(first)),
            _ => return Err(self.fault("`*Vertices` is followed by the number of vertices")),
        };
        if vertices > MAX_VERTICES {
            return Err(self.fault(format!("at most {MAX_VERTICES} vertices are possible")));
        }
        if let Some(message) = too_many_isolated(vertices, self.text.length(), self.options) {
            return Err(self.fault(message));
        }
        plan_vertices(vertices, 0, self.options)?;
        (self.vertices, self.sides) = (vertices, first.filter(|&first| first < vertices));
        let start = self.at;
        let mut last = 0;
        let mut there = self.next()?;
        while there && self.section_name().is_none() {
            let Some((number, rest)) = first_word(&self.line) else { break };
            let number = unsigned(number).filter(|number| (1..=vertices).contains(number));
            let Some(number) = number else {
                return Err(self.fault(format!("a vertex from 1 to {vertices} is expected")));
            };
            if number <= last {
                return Err(self.fault("the numbers of the vertices have to ascend"));
            }
            let Some(label) = label_of(rest) else { return Err(self.fault("a quote is not closed")) };
            let label = label.map(|label| decoded(label, &mut self.is_latin).into_owned());
            self.fill(last + 1..number, start)?;
            self.collector.declare(&number.to_string(), label.as_deref(), self.at)?;
            last = number;
            there = self.next()?;
        }
        self.fill(last + 1..vertices + 1, start)?;
        Ok(there)
    }

    /// Declares vertices that the list leaves out.
    fn fill(&mut self, numbers: std::ops::Range<u64>, at: u64) -> Outcome<()> {
        const SOME: u64 = 1 << 16;
        for number in numbers {
            if number.is_multiple_of(SOME) {
                self.options.control.check()?;
            }
            self.collector.declare(&number.to_string(), None, at)?;
        }
        Ok(())
    }

    /// A vertex as an end of an edge.
    fn vertex(&self, word: Option<&[u8]>) -> Outcome<String> {
        match word.and_then(unsigned).filter(|number| (1..=self.vertices).contains(number)) {
            Some(number) => Ok(number.to_string()),
            None => Err(self.fault(format!("a vertex from 1 to {} is expected", self.vertices))),
        }
    }

    /// `u v` and perhaps a weight.
    fn pair(&mut self, direction: Direction) -> Outcome<()> {
        let mut parts = words(&self.line);
        let (u, v) = (self.vertex(parts.next())?, self.vertex(parts.next())?);
        let weight = parts.next().map(String::from_utf8_lossy).filter(|_| self.keeps_weights);
        let (ends, weight) = ([&*u, &*v], weight.as_deref());
        let edge = FoundEdge { ends, direction: Some(direction), weight, at: self.at };
        self.collector.add(&edge)
    }

    /// `u v1 v2 v3`.
    fn list(&mut self, direction: Direction) -> Outcome<()> {
        let mut parts = words(&self.line);
        let u = self.vertex(parts.next())?;
        for word in parts {
            let v = self.vertex(Some(word))?;
            let ends = [&*u, &*v];
            self.collector.add(&FoundEdge { ends, direction: Some(direction), weight: None, at: self.at })?;
        }
        Ok(())
    }

    /// The weights of the arcs from one vertex to all.
    fn row(&mut self, row: u64) -> Outcome<()> {
        if row > self.vertices {
            return Err(self.fault(format!("the matrix has more rows than {} vertices", self.vertices)));
        }
        let u = row.to_string();
        let mut column = 0;
        for word in words(&self.line) {
            column += 1;
            let Some(value) = finite(word) else { return Err(self.fault("a row of a matrix has numbers only")) };
            if value == 0.0 {
                continue;
            }
            let v = self.vertex(Some(column.to_string().as_bytes()))?;
            let weight = std::str::from_utf8(word).ok().filter(|_| self.keeps_weights);
            let (ends, direction) = ([&*u, &*v], Some(Direction::Directed));
            self.collector.add(&FoundEdge { ends, direction, weight, at: self.at })?;
        }
        match column == self.vertices {
            true => Ok(()),
            false => Err(self.fault(format!("a row has {column} numbers for {} vertices", self.vertices))),
        }
    }
}

/// The first word of a line, and what follows it.
fn first_word(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.trim_ascii_start();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    (end > 0).then(|| line.split_at(end))
}

/// The label at the start of the rest of a line, if there is one: in quotes, or one word. `None` if a quote is not closed.
fn label_of(rest: &[u8]) -> Option<Option<&[u8]>> {
    let rest = rest.trim_ascii_start();
    match rest.strip_prefix(b"\"") {
        Some(quoted) => quoted.iter().position(|&byte| byte == b'"').map(|end| Some(&quoted[..end])),
        None => Some(first_word(rest).map(|(word, _)| word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;
    use crate::formats::testing::{assert_faults, noted, shown, survive_mutations};

    const GRAPH: &str = "% a comment\r\n*Network \"n\"\r\n*Vertices 3\r\n1 \"a b\" 0.1 0.2 0.5 ic Red\r\n 2 c\r\n\r\n3 \"\u{fc}\"\r\n\
        *Arcs :1 \"rel\"\r\n1 2 7 c Blue l \"x y\"\r\n% no edge\r\n2  3 1.5\r\n*edges :2\r\n3 1 2\r\n3 3 4\r\n";

    fn read(text: impl Into<Vec<u8>>) -> String {
        shown(text, Format::Pajek, &ReadOptions::new())
    }

    #[test]
    fn arcs_edges_lists_and_matrices_are_read() {
        assert_eq!(
            read(GRAPH),
            "directed a b,c,\u{fc} | a b>c:7 a b>\u{fc}:2 c>\u{fc}:1.5 \u{fc}>a b:2 \u{fc}>\u{fc}:4"
        );
        assert!(noted(GRAPH, Format::Pajek).contains("of 2 relations are read as one graph"));
        assert_eq!(read(GRAPH.replace("*Arcs", "*Edges")).split(' ').next(), Some("undirected"));
        let unit = ReadOptions::new().weights(super::super::WeightSource::Unit);
        assert!(shown(GRAPH, Format::Pajek, &unit).contains("a b>c:1 a b>\u{fc}:1"));
        assert_eq!(read("*Vertices 3\n*Arcslist\n1 2 3\n3\n"), "directed 1,2,3 | 1>2:1 1>3:1");
        assert_eq!(read("*Vertices 3\n*Edgeslist\n1 2 3\n"), "undirected 1,2,3 | 1>2:1 1>3:1 2>1:1 3>1:1");
        assert_eq!(read("*Vertices 2\n*Matrix\n0 -2\n1.5 0\n"), "directed 1,2 | 1>2:-2 2>1:1.5");
        assert_eq!(read("*Vertices 0\n"), "directed  | ");
        assert_eq!(read("\u{feff}*vertices 2\n*edges\n"), "undirected 1,2 | ");
        assert_eq!(read("*Vertices 4 2\n1 \"x\"\n*Edges\n1 3\n"), "undirected 1,2,3,4 | 1>3:1 3>1:1");
    }

    #[test]
    fn labels_are_names_if_all_differ() {
        let text = "*Vertices 2\n1 \"x\"\n2 \"x\"\n*Arcs\n1 2\n";
        assert_eq!(read(text), "directed 1,2 | 1>2:1");
        assert!(noted(text, Format::Pajek).contains("two vertices have the label `x`"));
        assert!(noted("*Vertices 2\n2 \"x\"\n", Format::Pajek).contains("some vertices have no label"));
        assert!(noted("*Vertices 2\n1 \"x\"\n", Format::Pajek).contains("the vertex `2` has no label"));
        assert_eq!(read(&b"*Vertices 2\n1 \"\xc4\xe9\"\n2 b\n"[..]), "directed \u{c4}\u{e9},b | ");
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let cases = [
            ("", "1:1: `*Vertices N` is expected"),
            ("*Arcs\n1 2\n", "1:1: `*Vertices N` is expected: `*Arcs`"),
            ("*Vertices x\n", "1:1: `*Vertices` is followed by the number of vertices"),
            ("*Vertices 4294967295\n", "1:1: at most"),
            ("*Vertices 4294967294\n", "1:1: 4294967294 vertices are announced in 21 bytes"),
            ("*Vertices 2\n3 x\n", "2:1: a vertex from 1 to 2 is expected: `3 x`"),
            ("*Vertices 2\n2 x\n2 y\n", "3:1: the numbers of the vertices have to ascend"),
            ("*Vertices 2\n1 \"x\n", "2:1: a quote is not closed"),
            ("*Vertices 2\n*Arcs\n1 3\n", "3:1: a vertex from 1 to 2 is expected: `1 3`"),
            ("*Vertices 2\n*Arcs\n1\n", "3:1: a vertex from 1 to 2 is expected"),
            ("*Vertices 2\n*Arcs\n1 2 x\n", "3:1: a weight has to be a finite number"),
            ("*Vertices 2\n*Arcs\n1 2 5\n2 1\n", "4:1: this edge has no attribute `weight`"),
            ("*Vertices 2\n*Arcs\n1 2\n2 1 5\n", "4:1: this edge has the attribute `weight`"),
            ("*Vertices 2\n*Arcs\n1 2 5\n*Arcslist\n2 1\n", "5:1: this edge has no attribute `weight`"),
            ("*Vertices 2\n*Matrix\n0 1\n", "4:1: the matrix has 1 rows for 2 vertices"),
            ("*Vertices 2\n*Matrix\n0 1\n1 0\n0 0\n", "5:1: the matrix has more rows than 2 vertices"),
            ("*Vertices 2\n*Matrix\n0 1 0\n", "3:1: a row has 3 numbers for 2 vertices"),
            ("*Vertices 2\n*Matrix\n0 x\n", "3:1: a row of a matrix has numbers only"),
            ("*Vertices 3 1\n*Matrix\n0 1\n", "2:1: a matrix between vertices of two modes can't be read"),
            ("*Vertices 2\n*Arcs\n*Vertices 2\n", "3:1: a second network begins here"),
            ("*Vertices 2\n*Partition p\n", "2:1: this section can't be read"),
        ];
        assert_faults(Format::Pajek, &cases);
        let named = shown(GRAPH, Format::Pajek, &ReadOptions::new().weights("cost"));
        assert!(named.contains("`--weights COLUMN`"), "{named}");
    }

    #[test]
    fn mutations_are_survived() {
        survive_mutations(Format::Pajek, GRAPH.as_bytes(), 1);
    }
}
