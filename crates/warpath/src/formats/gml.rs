//! GML, the Graph Modelling Language, as NetworkX, igraph, Gephi and the collection of Mark Newman write it. It is only
//! read.
//!
//! A file is a list of keys and values; a value is a number, a text in quotes, or a list in brackets. In the list
//! `graph`, each list `node` has an `id` and perhaps a `label`, each list `edge` a `source` and a `target`. `directed 1`
//! makes all edges directed. Vertices are named by their labels, as NetworkX names them, if every vertex has one of its
//! own; else by their ids. The weight is the value of `weight`, or of the key that the options name. All other keys are
//! skipped, at any depth.
//!
//! A text may hold references such as `&#246;` and `&quot;`. Bytes that are no UTF-8 are read as Latin-1, which GML asks
//! for.
//!
//! Source: Himsolt, *GML: A portable Graph File Format*, Universität Passau, 1996.

use std::borrow::Cow;

use quick_xml::escape::resolve_predefined_entity;

use super::ReadOptions;
use super::collector::{Collector, Failure, FoundEdge, READ_AS_LATIN, decoded, fault};
use super::entry::{FormatEntry, READ_ONLY};
use super::foreign::is_gml;
use super::stream::{Place, Stream};
use super::text::{Text, finite};
use crate::graph::{Direction, Graph};
use crate::{Error, Result};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "gml",
    extensions: &["gml"],
    holds: READ_ONLY,
    numbers_from: None,
    is_binary: false,
    is_announced: |opened| is_gml(opened.sample()),
    read: |opened, options| read(Text::new(opened, options), options),
    write: None,
};

fn read(text: Text, options: &ReadOptions) -> Result<Graph> {
    let place = Place::default();
    let stream = Stream::new(&text, &place, &options.control);
    let collector = Collector::new(&text, options)?;
    let mut parser =
        Parser { stream, place: &place, text: &text, collector, token: Vec::new(), at: 0, is_latin: false };
    let read = parser.file().and_then(|direction| {
        if parser.is_latin {
            options.notes.add(READ_AS_LATIN);
        }
        parser.collector.finish(direction)
    });
    let graph = read.map_err(|failure| failure.locate(&text))?;
    text.close()?;
    Ok(graph)
}

type Outcome<T> = std::result::Result<T, Failure>;

/// What a token is; its text is that of the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Key,
    Number,
    Text,
    Open,
    Close,
    End,
}

struct Parser<'t> {
    stream: Stream<'t>,
    place: &'t Place,
    text: &'t Text,
    collector: Collector<'t>,
    /// The token at hand: a key, a number, or a text without its quotes.
    token: Vec<u8>,
    /// Where it begins.
    at: u64,
    is_latin: bool,
}

impl Parser<'_> {
    fn fault(&self, message: impl Into<String>) -> Failure {
        fault(self.text, self.at, message)
    }

    /// Reads the next token.
    fn next(&mut self) -> Outcome<Kind> {
        self.skip_blanks()?;
        self.place.begin_part();
        self.at = self.place.offset();
        self.token.clear();
        let Some(first) = self.stream.peek()? else { return Ok(Kind::End) };
        match first {
            b'[' | b']' => {
                self.take();
                Ok(if first == b'[' { Kind::Open } else { Kind::Close })
            }
            b'"' => {
                self.take();
                self.quoted()?;
                Ok(Kind::Text)
            }
            _ => {
                while let Some(byte) = self.stream.peek()?
                    && !byte.is_ascii_whitespace()
                    && !b"[]\"#".contains(&byte)
                {
                    self.token.push(byte);
                    self.take();
                }
                if self.token.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
                    return Ok(Kind::Key);
                }
                if finite(&self.token).is_none() {
                    return Err(self.fault("a key, a number, a text in quotes or a list in brackets is expected"));
                }
                Ok(Kind::Number)
            }
        }
    }

    /// Takes the byte that was looked at.
    fn take(&mut self) {
        std::io::BufRead::consume(&mut self.stream, 1);
    }

    /// Skips blanks and comments, which take a line.
    fn skip_blanks(&mut self) -> Outcome<()> {
        while let Some(byte) = self.stream.peek()? {
            match byte {
                b'#' => {
                    let mut comment = Vec::new();
                    self.stream.line(&mut comment)?;
                }
                byte if byte.is_ascii_whitespace() => self.take(),
                _ => break,
            }
        }
        Ok(())
    }

    /// The rest of a text in quotes, with its closing quote.
    fn quoted(&mut self) -> Outcome<()> {
        std::io::BufRead::read_until(&mut self.stream, b'"', &mut self.token).map_err(|error| Error::io("", error))?;
        match self.token.pop() {
            Some(b'"') => Ok(()),
            _ => Err(self.fault("a quote is not closed")),
        }
    }

    /// The text of the token, with what its references stand for.
    fn value(&mut self) -> String {
        match decoded(&self.token, &mut self.is_latin) {
            Cow::Borrowed(text) if !text.contains('&') => text.to_owned(),
            text => resolved(&text),
        }
    }

    /// The whole file; returns the direction of its edges.
    fn file(&mut self) -> Outcome<Direction> {
        let mut direction = None;
        loop {
            match self.next()? {
                Kind::End => {
                    return direction.ok_or_else(|| self.fault("the list `graph` is missing"));
                }
                Kind::Key if self.token.eq_ignore_ascii_case(b"graph") => {
                    if direction.is_some() {
                        return Err(self.fault("a second graph begins here; the file has to hold one"));
                    }
                    self.open("graph")?;
                    direction = Some(self.graph()?);
                }
                Kind::Key => self.skip_value()?,
                _ => return Err(self.fault("a key is expected")),
            }
        }
    }

    /// Reads the bracket after a key.
    fn open(&mut self, key: &str) -> Outcome<()> {
        match self.next()? {
            Kind::Open => Ok(()),
            _ => Err(self.fault(format!("`{key}` is a list in brackets"))),
        }
    }

    /// The next key in a list, as the token; `None` at the end of the list.
    fn key(&mut self) -> Outcome<Option<String>> {
        match self.next()? {
            Kind::Key => Ok(Some(String::from_utf8_lossy(&self.token).into_owned())),
            Kind::Close => Ok(None),
            Kind::End => Err(self.fault("a list in brackets is not closed")),
            _ => Err(self.fault("a key is expected")),
        }
    }

    /// Skips the value of a key.
    fn skip_value(&mut self) -> Outcome<()> {
        let mut depth = 0_u64;
        loop {
            match self.next()? {
                Kind::Open => depth += 1,
                Kind::Close if depth > 0 => depth -= 1,
                Kind::Close | Kind::End => return Err(self.fault("a value is missing")),
                Kind::Key if depth == 0 && !is_special_number(&self.token) => {
                    return Err(self.fault("a value is expected"));
                }
                Kind::Key | Kind::Number | Kind::Text => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// The value of a key that is a number or a text.
    fn scalar(&mut self, key: &str) -> Outcome<String> {
        match self.next()? {
            Kind::Number | Kind::Text => Ok(self.value()),
            Kind::Key if is_special_number(&self.token) => Ok(self.value()),
            _ => Err(self.fault(format!("the value of `{key}` has to be a number or a text in quotes"))),
        }
    }

    fn graph(&mut self) -> Outcome<Direction> {
        let mut direction = Direction::Undirected;
        while let Some(key) = self.key()? {
            let at = self.at;
            match &*key {
                "directed" => {
                    direction = match &*self.scalar("directed")? {
                        "0" => Direction::Undirected,
                        "1" => Direction::Directed,
                        _ => return Err(self.fault("`directed` is 0 or 1")),
                    };
                }
                "node" => self.node(at)?,
                "edge" => self.edge(at)?,
                "graph" => return Err(self.fault("a graph inside of a graph can't be read")),
                _ => self.skip_value()?,
            }
        }
        Ok(direction)
    }

    fn node(&mut self, at: u64) -> Outcome<()> {
        self.open("node")?;
        let (mut id, mut label) = (None, None);
        while let Some(key) = self.key()? {
            match &*key {
                "id" => id = Some(self.id("id")?),
                "label" => label = Some(self.scalar("label")?),
                "graph" | "node" => return Err(self.fault("a graph inside of a node can't be read")),
                _ => self.skip_value()?,
            }
        }
        let Some(id) = id else { return Err(fault(self.text, at, "a node has no `id`")) };
        self.collector.declare(&id, label.as_deref(), at)
    }

    /// The id of a node, an integer: `07` and `7` are the same.
    fn id(&mut self, key: &str) -> Outcome<String> {
        let text = self.scalar(key)?;
        match text.parse::<i64>() {
            Ok(number) => Ok(number.to_string()),
            Err(_) => Err(self.fault(format!("the value of `{key}` has to be a whole number"))),
        }
    }

    fn edge(&mut self, at: u64) -> Outcome<()> {
        self.open("edge")?;
        let (mut ends, mut weight) = ([None, None], None);
        while let Some(key) = self.key()? {
            match &*key {
                "source" => ends[0] = Some(self.id("source")?),
                "target" => ends[1] = Some(self.id("target")?),
                // Parallel edges are told apart by `key`, which is no property of the edge.
                "key" | "id" | "label" => self.skip_value()?,
                key if self.collector.weight.is(key) => weight = Some(self.scalar(key)?),
                _ => self.skip_value()?,
            }
        }
        let [Some(source), Some(target)] = &ends else {
            return Err(fault(self.text, at, "an edge needs a `source` and a `target`"));
        };
        let edge = FoundEdge { ends: [source, target], direction: None, weight: weight.as_deref(), at };
        self.collector.add(&edge)
    }
}

/// NetworkX writes numbers that are not finite without a sign or a digit.
fn is_special_number(token: &[u8]) -> bool {
    [&b"NAN"[..], b"INF"].iter().any(|name| token.eq_ignore_ascii_case(name))
}

/// A text with characters in the place of references; what is no reference stays as it is.
fn resolved(text: &str) -> String {
    let mut resolved = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        resolved += &rest[..start];
        rest = &rest[start + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '#').unwrap_or(rest.len());
        let name = &rest[..end];
        let known = rest[end..].starts_with(';').then(|| character(name)).flatten();
        match known {
            Some(character) => {
                resolved += &character;
                rest = &rest[end + 1..];
            }
            None => resolved.push('&'),
        }
    }
    resolved + rest
}

/// What the reference of this name stands for.
fn character(name: &str) -> Option<Cow<'static, str>> {
    let Some(number) = name.strip_prefix('#') else { return resolve_predefined_entity(name).map(Cow::Borrowed) };
    let number = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    Some(char::from_u32(number.ok()?)?.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;
    use crate::formats::testing::{assert_faults, noted, shown, survive_mutations};

    const GRAPH: &str = "Creator \"Mark Newman\"\n# a comment [\ngraph\n[\n  directed 1\n  multigraph 1\n  \
        node [ id 4 label \"b \\ c\" graphics [ x 1.5 fill \"#FFF\" point [ x 1 ] ] ]\n  \
        node\n  [\n    id -3\n    label \"&#228;&quot;&amp;&x;&\"\n  ]\n  \
        edge [ source 4 target -3 weight 7 value 2 label \"x\" key 0 ]\n  edge [ source -3 target -3 weight +1 value NAN ]\n]\n";

    fn read(text: impl Into<Vec<u8>>) -> String {
        shown(text, Format::Gml, &ReadOptions::new())
    }

    #[test]
    fn lists_texts_and_numbers_are_read() {
        let expected = "directed b \\ c,\u{e4}\"&&x;& | b \\ c>\u{e4}\"&&x;&:7 \u{e4}\"&&x;&>\u{e4}\"&&x;&:1";
        assert_eq!(read(GRAPH), expected);
        assert_eq!(read(GRAPH.replace('\n', "\r\n")), expected);
        assert_eq!(read(GRAPH.replace('\n', "\r").replace("# a comment [", "")), expected);
        let undirected = read(GRAPH.replace("directed 1", "").replace("&#228;&quot;&amp;&x;&", "a"));
        assert_eq!(undirected, "undirected b \\ c,a | b \\ c>a:7 a>b \\ c:7 a>a:1");
        let text = "graph [ edge [ source 1 target 2 value 2.5 ] node [ id 2 ] node [ id 1 ] directed 0 ]";
        assert_eq!(read(text), "undirected 2,1 | 2>1:1 1>2:1");
        assert!(noted(text, Format::Gml).contains("`--weights NAME` takes another one of: value"));
        let by_value = shown(text, Format::Gml, &ReadOptions::new().weights("value"));
        assert_eq!(by_value, "undirected 2,1 | 2>1:2.5 1>2:2.5");
        assert_eq!(read("graph [ ]"), "undirected  | ");
        assert_eq!(read("graph [ node [ id 007 ] node [ id 8 ] ]"), "undirected 7,8 | ");
    }

    #[test]
    fn labels_are_names_if_all_differ() {
        let text = "graph [ node [ id 1 label \"x\" ] node [ id 2 label \"x\" ] edge [ source 1 target 2 ] ]";
        assert_eq!(read(text), "undirected 1,2 | 1>2:1 2>1:1");
        assert!(
            noted(text, Format::Gml).contains("two vertices have the label `x`, so the vertices are named by their")
        );
        let text = "graph [ node [ id 1 label \"x\" ] node [ id 2 ] ]";
        assert_eq!(read(text), "undirected 1,2 | ");
        assert!(noted(text, Format::Gml).contains("the vertex `2` has no label"));
        let text = "graph [ node [ id 1 ] node [ id 2 label \"x\" ] ]";
        assert!(noted(text, Format::Gml).contains("some vertices have no label"));
        assert_eq!(read(&b"graph [ node [ id 1 label \"M\xfcller\" ] ]"[..]), "undirected M\u{fc}ller | ");
        assert_eq!(read("graph [ node [ id 1 label \"M\u{fc}ller\" ] ]"), "undirected M\u{fc}ller | ");
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let cases = [
            ("", "1:1: the list `graph` is missing"),
            ("graph 5", "1:7: `graph` is a list in brackets"),
            ("graph [\n node [ id 1 ]\n", "3:1: a list in brackets is not closed"),
            ("graph [\n node [ label \"x\" ]\n]", "2:2: a node has no `id`"),
            ("graph [\n node [ id x ]\n]", "2:12: the value of `id` has to be a number or a text in quotes"),
            ("graph [\n node [ id 1.5 ]\n]", "2:12: the value of `id` has to be a whole number"),
            ("graph [\n node [ id 1 label \"x ]\n]", "2:20: a quote is not closed"),
            ("graph [\n node [ id 1 ] node [ id 1 ]\n]", "2:16: the vertex `1` is declared twice"),
            ("graph [\n node [ id 1 ]\n edge [ source 1 ]\n]", "3:2: an edge needs a `source` and a `target`"),
            ("graph [\n node [ id 1 ]\n edge [ source 1 target 2 ]\n]", "3:2: an edge has the end `2`"),
            ("graph [\n node [ id 1 graph [ ] ]\n]", "2:14: a graph inside of a node can't be read"),
            ("graph [ directed 2 ]", "1:18: `directed` is 0 or 1"),
            ("graph [ ] graph [ ]", "1:11: a second graph begins here"),
            ("graph [ a b ]", "1:11: a value is expected"),
            ("graph [ a ]", "1:11: a value is missing"),
            ("graph [ 5 a ]", "1:9: a key is expected"),
            ("graph [ a $ ]", "1:11: a key, a number, a text in quotes or a list in brackets is expected"),
            ("graph [ node [ id 1 label \"a\nb\" ] ]", "1:9: the name of a vertex contains control characters"),
        ];
        assert_faults(Format::Gml, &cases);
        let with = |edge: &str| read(format!("{}\nedge [ {edge} ]\n]", GRAPH.trim_end().trim_end_matches(']')));
        assert!(with("source 4 target 4").contains("16:1: this edge has no attribute `weight`, but those before it"));
        assert!(with("source 4 target 4 weight NAN").contains("16:1: a weight has to be a finite number (`weight`)"));
        let named = shown(GRAPH, Format::Gml, &ReadOptions::new().weights("cost"));
        assert!(named.contains("no attribute `cost` (others: weight, value): `edge [ source 4"), "{named}");
        let numbered = shown(GRAPH, Format::Gml, &ReadOptions::new().weights(3));
        assert!(numbered.contains("`--weights NAME` names an attribute"), "{numbered}");
    }

    #[test]
    fn mutations_are_survived() {
        survive_mutations(Format::Gml, GRAPH.as_bytes(), 1);
    }
}
