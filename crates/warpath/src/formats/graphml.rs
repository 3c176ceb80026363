//! GraphML, as NetworkX, igraph, Gephi and yEd write it. It is only read.
//!
//! Vertices are named by the `id` of their node. The attribute `edgedefault` of the graph says whether edges have a
//! direction, and the attribute `directed` of an edge overrides it. The weight is the value for the key whose `attr.name`
//! is `weight`, or the name that the options give; an edge without a value has the key's default.
//!
//! What has no counterpart in a graph of vertices and edges is refused by name: graphs inside nodes, hyperedges, ports,
//! and locators. All other elements are skipped. `quick-xml` parses the XML and expands no entities of a file's own, so
//! that a short file can't grow. One element at a time is in memory, besides the graph.
//!
//! Source: <http://graphml.graphdrawing.org/specification.html>.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

use super::ReadOptions;
use super::collector::{Collector, Failure, FoundEdge, fault};
use super::entry::{FormatEntry, READ_ONLY};
use super::foreign::{has, is_xml};
use super::stream::{Place, Stream};
use super::text::Text;
use crate::graph::{Direction, Graph};
use crate::{Error, Result};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "graphml",
    extensions: &["graphml"],
    holds: READ_ONLY,
    numbers_from: None,
    is_binary: false,
    is_announced: |opened| is_xml(opened.sample()) && is_graphml(opened.sample()),
    read: |opened, options| read(Text::new(opened, options), options),
    write: None,
};

/// Whether an XML names its root as GraphML does, with or without a prefix.
fn is_graphml(sample: &[u8]) -> bool {
    has(sample, b"<graphml") || has(sample, b":graphml")
}

fn read(text: Text, options: &ReadOptions) -> Result<Graph> {
    let place = Place::default();
    let mut xml = Reader::from_reader(Stream::new(&text, &place, &options.control));
    xml.config_mut().expand_empty_elements = true;
    let collector = Collector::new(&text, options)?;
    let mut parser = Parser { xml, place: &place, text: &text, options, collector, keys: HashMap::new() };
    let read = parser.document().and_then(|direction| parser.collector.finish(direction));
    let graph = read.map_err(|failure| failure.locate(&text))?;
    text.close()?;
    Ok(graph)
}

type Outcome<T> = std::result::Result<T, Failure>;

/// A key of values for edges.
struct Key {
    name: String,
    default: Option<String>,
}

struct Parser<'t> {
    xml: Reader<Stream<'t>>,
    place: &'t Place,
    text: &'t Text,
    options: &'t ReadOptions,
    collector: Collector<'t>,
    keys: HashMap<String, Key>,
}

impl<'t> Parser<'t> {
    /// The next event, in `buffer`, and where it begins.
    fn next<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Outcome<(u64, Event<'b>)> {
        self.place.begin_part();
        buffer.clear();
        let at = self.text.start() + self.xml.buffer_position();
        match self.xml.read_event_into(buffer) {
            Ok(event) => Ok((at, event)),
            Err(quick_xml::Error::Io(error)) => {
                let error = std::sync::Arc::try_unwrap(error).unwrap_or_else(|shared| shared.kind().into());
                Err(Error::io("", error).into())
            }
            Err(error) => Err(ill_formed(self.text, self.text.start() + self.xml.error_position(), &error)),
        }
    }

    /// The whole document; returns the direction of edges that do not state their own.
    fn document(&mut self) -> Outcome<Direction> {
        let mut direction = None;
        let mut buffer = Vec::new();
        loop {
            let (at, event) = self.next(&mut buffer)?;
            match event {
                Event::Decl(declaration) => {
                    let encoding =
                        declaration.encoding().transpose().map_err(|error| ill_formed(self.text, at, &error))?;
                    let known = ["utf-8", "utf8", "us-ascii", "ascii"];
                    if let Some(other) = encoding.filter(|name| !known.contains(&&*name.to_ascii_lowercase())) {
                        let message =
                            format!("the encoding `{other}` can't be read; `iconv -f {other} -t UTF-8` converts it");
                        return Err(fault(self.text, at, message));
                    }
                }
                Event::Start(start) if start.local_name().as_ref() == "graphml" && direction.is_none() => {
                    direction = Some(self.root(at)?);
                }
                Event::Start(_) => return Err(fault(self.text, at, "the one root of GraphML is `graphml`")),
                Event::Eof => {
                    let missing = || fault(self.text, at, "the element `graphml` is missing");
                    return direction.ok_or_else(missing);
                }
                Event::Text(text) if text.trim().is_empty() => {}
                Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                    return Err(fault(self.text, at, "text stands outside of the root element"));
                }
                _ => {}
            }
        }
    }

    /// The elements inside of `graphml`.
    fn root(&mut self, at_root: u64) -> Outcome<Direction> {
        let mut direction = None;
        let mut buffer = Vec::new();
        while let Some((at, start)) = self.child(&mut buffer)? {
            match start.local_name().as_ref() {
                "key" if direction.is_some() => {
                    return Err(fault(self.text, at, "a key has to come before the graph"));
                }
                "key" => self.key(&start, at)?,
                "graph" if direction.is_some() => {
                    return Err(fault(self.text, at, "a second graph begins here; the file has to hold one"));
                }
                "graph" => direction = Some(self.graph(&start, at)?),
                _ => self.skip()?,
            }
        }
        direction.ok_or_else(|| fault(self.text, at_root, "there is no `graph` in this GraphML"))
    }

    /// The next element inside of the one at hand, or `None` at its end. Text between elements is skipped.
    fn child<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Outcome<Option<(u64, BytesStart<'b>)>> {
        // The buffer can't be borrowed from in a loop and returned.
        loop {
            let (at, event) = self.next(buffer)?;
            match event {
                Event::Start(start) => return Ok(Some((at, start.into_owned()))),
                Event::End(_) => return Ok(None),
                Event::Eof => return Err(self.cut_short(at)),
                _ => {}
            }
        }
    }

    fn cut_short(&self, at: u64) -> Failure {
        fault(self.text, at, "the file ends inside of an element")
    }

    /// Skips the element that was just opened.
    fn skip(&mut self) -> Outcome<()> {
        let mut buffer = Vec::new();
        let mut depth = 1_u64;
        while depth > 0 {
            let (at, event) = self.next(&mut buffer)?;
            match event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Eof => return Err(self.cut_short(at)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The text in the element that was just opened, without that of elements inside.
    fn content(&mut self) -> Outcome<String> {
        let mut buffer = Vec::new();
        let mut content = String::new();
        let mut depth = 1_u64;
        while depth > 0 {
            let (at, event) = self.next(&mut buffer)?;
            match event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Eof => return Err(self.cut_short(at)),
                Event::Text(text) if depth == 1 => content += &text,
                Event::CData(text) if depth == 1 => content += &text,
                Event::GeneralRef(name) if depth == 1 => {
                    match (name.resolve_char_ref(), resolve_predefined_entity(&name)) {
                        (Ok(Some(character)), _) => content.push(character),
                        (Ok(None), Some(text)) => content += text,
                        _ => return Err(fault(self.text, at, format!("the entity `{}` is unknown", &*name))),
                    }
                }
                _ => {}
            }
        }
        Ok(content)
    }

    /// The values of attributes by their names.
    fn attributes<const N: usize>(
        &self,
        element: &BytesStart<'_>,
        at: u64,
        wanted: [&str; N],
    ) -> Outcome<[Option<String>; N]> {
        let mut found = [const { None }; N];
        for attribute in element.attributes() {
            let attribute = attribute.map_err(|error| ill_formed(self.text, at, &error))?;
            if let Some(index) = wanted.iter().position(|name| *name == attribute.key.0) {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                let value = value.map_err(|error| ill_formed(self.text, at, &error))?;
                found[index] = Some(value.into_owned());
            }
        }
        Ok(found)
    }

    fn key(&mut self, start: &BytesStart<'_>, at: u64) -> Outcome<()> {
        let [id, of, name] = self.attributes(start, at, ["id", "for", "attr.name"])?;
        let Some(id) = id else { return Err(fault(self.text, at, "a key has no `id`")) };
        let mut default = None;
        let mut buffer = Vec::new();
        while let Some((_, child)) = self.child(&mut buffer)? {
            match child.local_name().as_ref() {
                "default" => default = Some(self.content()?),
                _ => self.skip()?,
            }
        }
        if of.is_none_or(|of| of == "edge" || of == "all") {
            let key = Key { name: name.unwrap_or_else(|| id.clone()), default };
            self.keys.insert(id, key);
        }
        Ok(())
    }

    fn graph(&mut self, start: &BytesStart<'_>, at: u64) -> Outcome<Direction> {
        let [default] = self.attributes(start, at, ["edgedefault"])?;
        let direction = match (default.as_deref(), self.options.direction) {
            (Some("directed"), _) => Direction::Directed,
            (Some("undirected"), _) => Direction::Undirected,
            (_, Some(direction)) => direction,
            (Some(other), None) => {
                let message = format!("`edgedefault` is directed or undirected, not `{other}`");
                return Err(fault(self.text, at, message));
            }
            (None, None) => {
                let message = "the graph does not say whether edges have a direction (`edgedefault`); `--directed` or \
                               `--undirected` (`ReadOptions::direction`) tells";
                return Err(fault(self.text, at, message));
            }
        };
        let mut buffer = Vec::new();
        while let Some((at, start)) = self.child(&mut buffer)? {
            match start.local_name().as_ref() {
                "node" => self.node(&start, at)?,
                "edge" => self.edge(&start, at, direction)?,
                "hyperedge" => return Err(fault(self.text, at, "hyperedges can't be read: an edge has two ends")),
                "graph" => return Err(fault(self.text, at, "a graph inside of a graph can't be read")),
                "locator" => return Err(fault(self.text, at, "a graph in another file can't be read from here")),
                _ => self.skip()?,
            }
        }
        Ok(direction)
    }

    fn node(&mut self, start: &BytesStart<'_>, at: u64) -> Outcome<()> {
        let [id] = self.attributes(start, at, ["id"])?;
        let Some(id) = id else { return Err(fault(self.text, at, "a node has no `id`")) };
        self.collector.declare(&id, None, at)?;
        let mut buffer = Vec::new();
        while let Some((at, child)) = self.child(&mut buffer)? {
            match child.local_name().as_ref() {
                "graph" => return Err(fault(self.text, at, "a graph inside of a node can't be read")),
                "port" => return Err(fault(self.text, at, "ports can't be read: an edge ends at a node")),
                "locator" => return Err(fault(self.text, at, "a node in another file can't be read from here")),
                _ => self.skip()?,
            }
        }
        Ok(())
    }

    fn edge(&mut self, start: &BytesStart<'_>, at: u64, default: Direction) -> Outcome<()> {
        let names = ["source", "target", "directed", "sourceport", "targetport"];
        let [source, target, directed, source_port, target_port] = self.attributes(start, at, names)?;
        if source_port.or(target_port).is_some() {
            return Err(fault(self.text, at, "ports can't be read: an edge ends at a node"));
        }
        let direction = match directed.as_deref() {
            None => default,
            Some("true" | "1") => Direction::Directed,
            Some("false" | "0") => Direction::Undirected,
            Some(other) => {
                return Err(fault(self.text, at, format!("`directed` is true or false, not `{other}`")));
            }
        };
        let (Some(source), Some(target)) = (source, target) else {
            return Err(fault(self.text, at, "an edge needs a `source` and a `target`"));
        };
        let mut weight = None;
        let mut buffer = Vec::new();
        while let Some((at, child)) = self.child(&mut buffer)? {
            match child.local_name().as_ref() {
                "data" => {
                    let [key] = self.attributes(&child, at, ["key"])?;
                    let Some(key) = key else { return Err(fault(self.text, at, "a value has no `key`")) };
                    let name = self.keys.get(&key).map_or(&key, |key| &key.name);
                    match self.collector.weight.is(name) {
                        true => weight = Some(self.content()?),
                        false => self.skip()?,
                    }
                }
                "graph" => return Err(fault(self.text, at, "a graph inside of an edge can't be read")),
                _ => self.skip()?,
            }
        }
        if weight.is_none() {
            let with_default =
                self.keys.values().find(|key| key.default.is_some() && self.collector.weight.is(&key.name));
            weight = with_default.and_then(|key| key.default.clone());
        }
        let (ends, direction) = ([&*source, &*target], Some(direction));
        self.collector.add(&FoundEdge { ends, direction, weight: weight.as_deref(), at })
    }
}

fn ill_formed(text: &Text, at: u64, error: &dyn std::fmt::Display) -> Failure {
    fault(text, at, format!("this is no well-formed XML: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;
    use crate::formats::testing::{assert_rejected, noted, shown, survive_mutations};

    const HEAD: &str = "<?xml version='1.0' encoding='utf-8'?>\n\
        <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
        <key id=\"d0\" for=\"edge\" attr.name=\"weight\" attr.type=\"long\"/>\n\
        <key id=\"d1\" for=\"edge\" attr.name=\"cost\" attr.type=\"double\"><default>0.5</default></key>\n";

    fn of(edgedefault: &str, body: &str) -> String {
        format!("{HEAD}<graph edgedefault=\"{edgedefault}\">\n{body}</graph>\n</graphml>\n")
    }

    fn read(text: &str) -> String {
        shown(text, Format::GraphMl, &ReadOptions::new())
    }

    const NODES: &str = "<node id=\"b\"/><node id=\"a\"><data key=\"x\"><y:Shape><y:Fill/></y:Shape></data></node>\n";

    #[test]
    fn vertices_edges_and_weights_are_read() {
        let edge = "<edge source=\"a\" target=\"b\"><data key=\"d0\">7</data><data key=\"d1\">2</data></edge>";
        let loops = "<edge source=\"a\" target=\"a\"><!-- c --><data key=\"d0\"> <![CDATA[1]]>&#50; </data></edge>\n";
        let text = of("directed", &format!("{NODES}{edge}{loops}"));
        assert_eq!(read(&text), "directed b,a | a>b:7 a>a:12");
        let marked = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(read(&marked), "directed b,a | a>b:7 a>a:12");
        let prefixed = text.replace("</", "</g:").replace('<', "<g:").replace("<g:/g:", "</g:");
        let prefixed = prefixed.replace("<g:?", "<?").replace("<g:!", "<!").replace(":y:", ":y");
        assert_eq!(read(&prefixed), "directed b,a | a>b:7 a>a:12");
        let undirected = text.replace("\"directed", "\"undirected");
        assert_eq!(read(&undirected), "undirected b,a | b>a:7 a>b:7 a>a:12");
        let cost = ReadOptions::new().weights("cost");
        assert_eq!(shown(text.clone(), Format::GraphMl, &cost), "directed b,a | a>b:2 a>a:0.5");
        let unit = ReadOptions::new().weights(super::super::WeightSource::Unit);
        assert_eq!(shown(text, Format::GraphMl, &unit), "directed b,a | a>b:1 a>a:1");
        assert_eq!(read(&of("directed", "")), "directed  | ");
        assert_eq!(read(&of("undirected", "<node id=\"7\"/><node id=\"9\"/>")), "undirected 7,9 | ");
        // Edges may come before their nodes, whose order counts.
        let text = of("directed", &format!("<edge source=\"a\" target=\"b\"/>{NODES}"));
        assert_eq!(read(&text), "directed b,a | a>b:1");
        let with_reference = text.replace(" source", " x=\"&lt;&#228;&gt;\" source");
        assert!(noted(&with_reference, Format::GraphMl).ends_with("takes another one of: cost"));
    }

    #[test]
    fn edges_may_state_their_own_direction() {
        let edges = "<edge source=\"a\" target=\"b\" directed=\"false\"/><edge source=\"a\" target=\"b\"/>\
                     <edge source=\"a\" target=\"a\" directed=\"false\"/>";
        let text = of("directed", &format!("{NODES}{edges}"));
        assert_eq!(read(&text), "directed b,a | b>a:1 a>b:1 a>b:1 a>a:1");
        assert!(noted(&text, Format::GraphMl).contains("an edge without direction is two arcs"));
        let mut directions = [Direction::Directed, Direction::Undirected]
            .map(|direction| shown(text.clone(), Format::GraphMl, &ReadOptions::new().direction(direction)));
        assert_eq!(directions[0], "directed b,a | a>b:1 a>b:1 a>a:1");
        directions[1].retain(|c| c != ' ');
        assert_eq!(directions[1], "undirectedb,a|b>a:1b>a:1a>b:1a>b:1a>a:1");
        let all = of("directed", &format!("{NODES}<edge source=\"a\" target=\"b\" directed=\"false\"/>"));
        assert_eq!(read(&all), "undirected b,a | b>a:1 a>b:1");
        let unsaid = all.replace(" edgedefault=\"directed\"", "");
        assert!(read(&unsaid).contains("`--directed` or `--undirected`"), "{}", read(&unsaid));
        let said = shown(unsaid, Format::GraphMl, &ReadOptions::new().direction(Direction::Directed));
        assert_eq!(said, "directed b,a | a>b:1");
    }

    /// What was found in the place of the message that is expected.
    fn unless_refused(text: &str, message: &str) -> Option<(String, String)> {
        let found = read(text);
        (!found.starts_with("test:") || !found.contains(message)).then(|| (found, message.to_owned()))
    }

    #[test]
    fn what_a_graph_can_not_hold_is_refused_by_name() {
        let mut wrong = Vec::new();
        let edge = "<edge source=\"a\" target=\"b\"><data key=\"d0\">7</data></edge>\n";
        for (body, message) in [
            ("<node id=\"a\"><graph/></node>", "6:14: a graph inside of a node can't be read"),
            ("<node id=\"a\"><port name=\"p\"/></node>", "6:14: ports can't be read"),
            ("<hyperedge/>", "6:1: hyperedges can't be read"),
            ("<graph/>", "6:1: a graph inside of a graph can't be read"),
            ("<node id=\"a\"/><edge source=\"a\" target=\"a\" sourceport=\"p\"/>", "6:15: ports can't be read"),
            ("<edge source=\"a\"/>", "6:1: an edge needs a `source` and a `target`"),
            ("<node/>", "6:1: a node has no `id`"),
            ("<node id=\"a\"/>\n<node id=\"a\"/>", "7:1: the vertex `a` is declared twice"),
            ("<node id=\"a&#10;b\"/>", "6:1: the name of a vertex contains control characters"),
            ("<node id=\"&lol;\"/>", "6:1: this is no well-formed XML"),
            ("<edge source=\"x\" target=\"y\"/>", "6:1: an edge has the end `x`, which is no vertex of the file"),
            ("<node id=\"a\">", "this is no well-formed XML"),
            ("<node id=\"a\" id=\"b\"/>", "6:1: this is no well-formed XML"),
        ] {
            wrong.extend(unless_refused(&of("directed", body), message));
        }
        for (edges, message) in [
            (format!("{edge}<edge source=\"b\" target=\"a\"/>"), "8:1: this edge has no attribute `weight`"),
            (format!("<edge source=\"b\" target=\"a\"/>\n{edge}"), "8:1: this edge has the attribute `weight`"),
            (edge.replace('7', "x"), "7:1: a weight has to be a finite number (`weight`): `<edge source"),
            (edge.replace('7', "&bomb;"), "the entity `bomb` is unknown"),
        ] {
            wrong.extend(unless_refused(&of("directed", &format!("{NODES}{edges}")), message));
        }
        let whole = of("directed", NODES);
        for (text, message) in [
            (whole.replace("utf-8", "iso-8859-1"), "1:1: the encoding `iso-8859-1` can't be read"),
            (whole.clone() + &whole[HEAD.find("<graphml").unwrap()..], "the one root of GraphML is `graphml`"),
            (whole.replace("</graphml>", "<graph/></graphml>"), "a second graph begins here"),
            (whole.replace("</graphml>", "<key id=\"z\"/></graphml>"), "a key has to come before the graph"),
            (whole.replace("</graphml>", ""), "the file ends inside of an element"),
            (HEAD.to_owned() + "</graphml>", "there is no `graph`"),
            ("<graphml/>".to_owned(), "there is no `graph`"),
            (String::new(), "the element `graphml` is missing"),
        ] {
            wrong.extend(unless_refused(&text, message));
        }
        assert!(wrong.is_empty(), "found and expected: {wrong:#?}");
        assert_rejected(Format::GraphMl, "<gexf/>", "test:1:1: the one root of GraphML is `graphml`: `<gexf/>`");
    }

    #[test]
    fn a_short_file_can_not_grow() {
        let mut text = "<!DOCTYPE graphml [<!ENTITY a0 \"lol\">".to_owned();
        for level in 1..30 {
            text += &format!("<!ENTITY a{level} \"&a{0};&a{0};\">", level - 1);
        }
        text += "]><graphml><graph edgedefault=\"directed\"><node id=\"&a29;\"/></graph></graphml>";
        assert!(read(&text).contains("this is no well-formed XML"));
        let deep = format!("{}{}", "<d>".repeat(100_000), "</d>".repeat(100_000));
        let text = of("directed", &format!("<node id=\"a\">{deep}</node>"));
        assert_eq!(read(&text), "directed a | ");
    }

    #[test]
    fn mutations_are_survived() {
        let edge = "<edge source=\"a\" target=\"b\"><data key=\"d0\">7</data></edge>\n";
        survive_mutations(Format::GraphMl, of("directed", &format!("{NODES}{edge}")).as_bytes(), 1);
    }
}
