//! JSON of nodes and links, as NetworkX (`node_link_data`) and d3 write it. It is only read.
//!
//! An object with the lists `nodes` and `links` (or `edges`). A node is an object with an `id`, a text or a whole number;
//! a link is one with a `source` and a `target`, which are ids. If no node has an `id`, `source` and `target` are places
//! in the list of nodes from 0, as d3 has them, and vertices are named by `name` if every node has one of its own, else
//! by their places. `directed` says whether edges have a direction; without it they have none. The weight is the value of
//! `weight`, or of the name that the options give.
//!
//! `json-event-parser` parses the text; one value at a time is in memory besides the graph.
//!
//! Sources: <https://networkx.org/documentation/stable/reference/readwrite/json_graph.html>;
//! <https://d3js.org/d3-force/link>.

use std::borrow::Cow;

use json_event_parser::{JsonEvent, LowLevelJsonParser};

use super::ReadOptions;
use super::collector::{Collector, Failure, FoundEdge, fault};
use super::entry::{FormatEntry, READ_ONLY};
use super::foreign::{has, is_json};
use super::text::Text;
use crate::graph::{Direction, Graph};
use crate::{Control, Result};

/// This format's line in the table.
pub(super) const FORMAT: FormatEntry = FormatEntry {
    name: "json",
    extensions: &["json"],
    holds: READ_ONLY,
    numbers_from: None,
    is_binary: false,
    is_announced: |opened| is_node_link(opened.sample()),
    read: |opened, options| read(Text::new(opened, options), options),
    write: None,
};

/// Whether a JSON object has a name that nodes and links have.
fn is_node_link(sample: &[u8]) -> bool {
    let names = [&b"\"nodes\""[..], b"\"links\"", b"\"edges\""];
    is_json(sample) && sample.trim_ascii_start().starts_with(b"{") && names.iter().any(|name| has(sample, name))
}

fn read(text: Text, options: &ReadOptions) -> Result<Graph> {
    let collector = Collector::new(&text, options)?;
    let events = Events::new(&text, &options.control);
    let mut parser = Parser { events, text: &text, collector, ids: None, nodes: 0 };
    let read = parser.file().and_then(|direction| {
        if direction.is_none() && options.direction.is_none() {
            options.notes.add(
                "the file does not say whether edges have a direction (`directed`), so they have none; `--directed` says \
                 that they have one",
            );
        }
        parser.collector.finish(direction.unwrap_or(Direction::Undirected))
    });
    let graph = read.map_err(|failure| failure.locate(&text))?;
    text.close()?;
    Ok(graph)
}

type Outcome<T> = std::result::Result<T, Failure>;

/// How deep lists and objects may be nested.
const DEEPEST: usize = 1000;

/// The parts of a JSON text, one after another.
struct Events<'t> {
    json: LowLevelJsonParser,
    text: &'t Text,
    control: &'t Control,
    /// The piece at hand, and how much of it was parsed.
    buffer: Vec<u8>,
    parsed: usize,
    /// The offset in the input of the byte after the piece.
    next: u64,
}

impl<'t> Events<'t> {
    fn new(text: &'t Text, control: &'t Control) -> Self {
        let json = LowLevelJsonParser::new().with_max_stack_size(DEEPEST);
        Events { json, text, control, buffer: Vec::new(), parsed: 0, next: text.start() }
    }

    fn end(&self) -> u64 {
        self.text.start() + self.text.length()
    }

    /// Where the last part ends.
    fn offset(&self) -> u64 {
        self.next - (self.buffer.len() - self.parsed) as u64
    }

    /// Where the last part begins, if it is one bracket.
    fn bracket(&self) -> u64 {
        self.offset().saturating_sub(1).max(self.text.start())
    }

    fn next(&mut self) -> Outcome<JsonEvent<'static>> {
        loop {
            let found = self.json.parse_next(&self.buffer[self.parsed..], self.next == self.end());
            self.parsed += found.consumed_bytes;
            match found.event {
                Some(Ok(event)) => return Ok(owned(event)),
                Some(Err(error)) => {
                    let at = (self.text.start() + error.location().start.offset).min(self.end());
                    return Err(fault(self.text, at, format!("this is no valid JSON: {}", error.message())));
                }
                None => self.load()?,
            }
        }
    }

    /// Adds the next piece of the text to what is not parsed yet, which is part of one value.
    fn load(&mut self) -> Result<()> {
        const PIECE_BYTES: usize = 1 << 18;
        self.buffer.drain(..self.parsed);
        self.parsed = 0;
        // Doubling keeps the work on a long value linear.
        let more = PIECE_BYTES.max(self.buffer.len()) as u64;
        self.text.check_room(2 * self.buffer.len() as u64)?;
        self.control.progress("load", self.next - self.text.start(), self.text.length())?;
        let mut piece = Vec::new();
        let end = self.end().min(self.next + more);
        self.text.copy(self.next..end, &mut piece)?;
        self.next = end;
        crate::memory::grow("a piece of the text", &mut self.buffer, piece.len())?;
        self.buffer.extend_from_slice(&piece);
        Ok(())
    }
}

/// The event without a reference to the text.
fn owned(event: JsonEvent<'_>) -> JsonEvent<'static> {
    let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
    match event {
        JsonEvent::String(text) => JsonEvent::String(own(text)),
        JsonEvent::Number(text) => JsonEvent::Number(own(text)),
        JsonEvent::ObjectKey(text) => JsonEvent::ObjectKey(own(text)),
        JsonEvent::Boolean(value) => JsonEvent::Boolean(value),
        JsonEvent::Null => JsonEvent::Null,
        JsonEvent::StartArray => JsonEvent::StartArray,
        JsonEvent::EndArray => JsonEvent::EndArray,
        JsonEvent::StartObject => JsonEvent::StartObject,
        JsonEvent::EndObject => JsonEvent::EndObject,
        JsonEvent::Eof => JsonEvent::Eof,
    }
}

struct Parser<'t> {
    events: Events<'t>,
    text: &'t Text,
    collector: Collector<'t>,
    /// Whether nodes have ids, once there is a node.
    ids: Option<bool>,
    nodes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Node,
    Link,
}

impl Parser<'_> {
    /// The whole file; returns the direction of edges, if it says so.
    fn file(&mut self) -> Outcome<Option<Direction>> {
        const NO_GRAPH: &str = "this JSON has no `nodes` and `links` (or `edges`) at its top, as `node_link_data` of \
                                NetworkX writes them";
        if self.events.next()? != JsonEvent::StartObject {
            return Err(fault(self.text, self.text.start(), NO_GRAPH));
        }
        let (mut direction, mut has_nodes, mut links) = (None, false, None);
        while let Some(name) = self.name()? {
            let at = self.events.offset();
            match &*name {
                "directed" => match self.events.next()? {
                    JsonEvent::Boolean(true) => direction = Some(Direction::Directed),
                    JsonEvent::Boolean(false) => direction = Some(Direction::Undirected),
                    _ => return Err(fault(self.text, at, "`directed` is true or false")),
                },
                "nodes" if !std::mem::replace(&mut has_nodes, true) => self.items(Kind::Node)?,
                "links" | "edges" if links.is_none() => {
                    self.items(Kind::Link)?;
                    links = Some(name);
                }
                "nodes" | "links" | "edges" => {
                    let before = links.filter(|_| name != "nodes").unwrap_or_else(|| "nodes".to_owned());
                    return Err(fault(self.text, at, format!("there is `{name}` after `{before}`; one has to go")));
                }
                "hyperedges" => return Err(fault(self.text, at, "hyperedges can't be read: an edge has two ends")),
                _ => drop(self.value()?),
            }
        }
        self.events.next()?;
        match has_nodes && links.is_some() {
            true => Ok(direction),
            false => Err(fault(self.text, self.text.start(), NO_GRAPH)),
        }
    }

    /// The next name in an object; `None` at its end.
    fn name(&mut self) -> Outcome<Option<String>> {
        match self.events.next()? {
            JsonEvent::ObjectKey(name) => Ok(Some(name.into_owned())),
            _ => Ok(None),
        }
    }

    /// A value: text or number. Anything else is skipped.
    fn value(&mut self) -> Outcome<Option<JsonEvent<'static>>> {
        let mut depth = 0_u64;
        loop {
            match self.events.next()? {
                JsonEvent::StartArray | JsonEvent::StartObject => depth += 1,
                JsonEvent::EndArray | JsonEvent::EndObject => depth = depth.saturating_sub(1),
                event @ (JsonEvent::String(_) | JsonEvent::Number(_)) if depth == 0 => return Ok(Some(event)),
                _ => {}
            }
            if depth == 0 {
                return Ok(None);
            }
        }
    }

    /// A list of nodes or links.
    fn items(&mut self, kind: Kind) -> Outcome<()> {
        let (list, item) = match kind {
            Kind::Node => ("`nodes` is a list", "a node is an object with an `id`"),
            Kind::Link => ("the links are a list", "a link is an object with a `source` and a `target`"),
        };
        let at = self.events.offset();
        if self.events.next()? != JsonEvent::StartArray {
            return Err(fault(self.text, at, list));
        }
        loop {
            let before = self.events.offset();
            match self.events.next()? {
                JsonEvent::StartObject => self.item(kind)?,
                JsonEvent::EndArray => return Ok(()),
                _ => return Err(fault(self.text, before, item)),
            }
        }
    }

    /// The rest of a node or a link after its bracket.
    fn item(&mut self, kind: Kind) -> Outcome<()> {
        let at = self.events.bracket();
        let mut found: [Option<String>; 3] = Default::default();
        while let Some(name) = self.name()? {
            let place = match (kind, &*name) {
                (Kind::Node, "id") | (Kind::Link, "source") => Some(0),
                (Kind::Node, "name") | (Kind::Link, "target") => Some(1),
                // Parallel edges are told apart by these.
                (Kind::Link, "key" | "id" | "index") => None,
                (Kind::Link, name) if self.collector.weight.is(name) => Some(2),
                _ => None,
            };
            let value = self.value()?;
            let Some(place) = place else { continue };
            found[place] = match value {
                Some(JsonEvent::String(text)) => Some(text.into_owned()),
                Some(JsonEvent::Number(text)) if place == 2 || text.parse::<i64>().is_ok() => Some(text.into_owned()),
                // The name of a node is only a label.
                _ if (kind, place) == (Kind::Node, 1) => None,
                _ => {
                    let expected = if place == 2 { "a number" } else { "a text or a whole number" };
                    return Err(fault(self.text, at, format!("the value of `{name}` has to be {expected}")));
                }
            };
        }
        let [first, second, weight] = found;
        match kind {
            Kind::Node => self.node(first, second, at),
            Kind::Link => {
                let (Some(source), Some(target)) = (first, second) else {
                    return Err(fault(self.text, at, "a link needs a `source` and a `target`"));
                };
                let edge = FoundEdge { ends: [&source, &target], direction: None, weight: weight.as_deref(), at };
                self.collector.add(&edge)
            }
        }
    }

    fn node(&mut self, id: Option<String>, name: Option<String>, at: u64) -> Outcome<()> {
        let have_ids = *self.ids.get_or_insert(id.is_some());
        if have_ids != id.is_some() {
            return Err(fault(self.text, at, "some nodes have an `id` and some have none"));
        }
        let place = self.nodes.to_string();
        self.nodes += 1;
        match id {
            Some(id) => self.collector.declare(&id, None, at),
            None => self.collector.declare(&place, name.as_deref(), at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;
    use crate::formats::testing::{assert_faults, noted, shown, survive_mutations};

    const GRAPH: &str = r#"{"directed": true, "multigraph": false, "graph": {"a": [1, {"b": null}]},
        "nodes": [{"id": "b"}, {"color": "\u00e4", "id": 7}],
        "links": [{"weight": 2.5, "source": "b", "target": 7, "key": 0}, {"source": 7, "target": 7, "weight": -1}]}"#;

    fn read(text: impl Into<Vec<u8>>) -> String {
        shown(text, Format::Json, &ReadOptions::new())
    }

    #[test]
    fn nodes_and_links_are_read() {
        assert_eq!(read(GRAPH), "directed b,7 | b>7:2.5 7>7:-1");
        assert_eq!(read(format!("\u{feff}{}", GRAPH.replace("links", "edges"))), "directed b,7 | b>7:2.5 7>7:-1");
        assert_eq!(read(GRAPH.replace("true", "false")), "undirected b,7 | b>7:2.5 7>b:2.5 7>7:-1");
        // Names sorted, so that edges come first.
        let text = r#"{"edges":[{"source":"x","target":"a","w":3}],"nodes":[{"id":"a"},{"id":"x"}]}"#;
        assert_eq!(read(text), "undirected a,x | a>x:1 x>a:1");
        let notes = noted(text, Format::Json);
        assert!(notes.contains("`--weights NAME` takes another one of: w"), "{notes}");
        assert!(notes.contains("`--directed` says that they have one"), "{notes}");
        assert_eq!(shown(text, Format::Json, &ReadOptions::new().weights("w")), "undirected a,x | a>x:3 x>a:3");
        let places =
            r#"{"nodes":[{"name":"Myriel"},{"name":"Cosette"}],"links":[{"source":1,"target":0,"weight":"4"}]}"#;
        assert_eq!(read(places), "undirected Myriel,Cosette | Myriel>Cosette:4 Cosette>Myriel:4");
        assert_eq!(read(places.replace("name", "group")), "undirected 0,1 | 0>1:4 1>0:4");
        assert_eq!(read(r#"{"nodes": [], "links": []}"#), "undirected  | ");
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let cases = [
            ("", "1:1: this is no valid JSON: Unexpected end of file, a value was expected"),
            ("[1]", "1:1: this JSON has no `nodes` and `links`"),
            ("{\"nodes\": []}", "1:1: this JSON has no `nodes` and `links`"),
            ("{\"links\": []}", "1:1: this JSON has no `nodes` and `links`"),
            ("{\"nodes\": [],\n\"links\": [], \"edges\": []}", "2:21: there is `edges` after `links`; one has to go"),
            ("{\"nodes\": [], \"nodes\": []}", "1:22: there is `nodes` after `nodes`"),
            ("{\"nodes\": [1]}", "1:12: a node is an object with an `id`"),
            (
                "{\"nodes\": [{\"id\": 1},\n{\"id\": \"1\"}]}",
                "2:1: the vertex `1` is declared twice: `{\"id\": \"1\"}]}`",
            ),
            ("{\"nodes\": [{\"id\": 1},\n{}]}", "2:1: some nodes have an `id` and some have none"),
            ("{\"nodes\": [{\"id\": 1.5}]}", "1:12: the value of `id` has to be a text or a whole number"),
            ("{\"nodes\": [{\"id\": [1, 2]}]}", "1:12: the value of `id` has to be a text or a whole number"),
            ("{\"nodes\": [],\n\"links\": [{\"source\": 1}]}", "2:11: a link needs a `source` and a `target`"),
            ("{\"nodes\": [],\n\"links\": [{\"source\": 1, \"target\": 2}]}", "2:11: an edge has the end `1`"),
            ("{\"nodes\": [], \"links\": []} x", "1:28: this is no valid JSON"),
            ("{\"directed\": 1}", "1:12: `directed` is true or false"),
            ("{\"nodes\": [], \"hyperedges\": []}", "1:27: hyperedges can't be read"),
        ];
        assert_faults(Format::Json, &cases);
        let none = read(GRAPH.replace(", \"weight\": -1", ""));
        assert!(
            none.starts_with("test:3:74: this edge has no attribute `weight`, but those before it have one: `{"),
            "{none}"
        );
        let null = read(GRAPH.replace("-1", "null"));
        assert!(null.starts_with("test:3:74: the value of `weight` has to be a number"), "{null}");
        let word = read(GRAPH.replace("-1", "\"far\""));
        assert!(word.starts_with("test:3:74: a weight has to be a finite number (`weight`)"), "{word}");
        let deep = format!("{{\"nodes\": [{{\"id\": 1, \"x\": {}1", "[".repeat(100_000));
        assert!(read(deep).contains("Max stack size of 1000 reached"));
    }

    #[test]
    fn mutations_are_survived() {
        survive_mutations(Format::Json, GRAPH.as_bytes(), 1);
    }
}
