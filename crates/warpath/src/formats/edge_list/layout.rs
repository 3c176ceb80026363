//! The layout of a list: the declarations in its comments, and the form of its lines.

use std::borrow::Cow;

use super::Failure;
use super::columns::{Delimiter, unquoted};
use crate::formats::text::{Lines, Malformed, digits, unsigned};
use crate::formats::{FirstLine, ReadOptions, WeightSource};
use crate::{Error, Result};

/// The declarations in comments before the first edge.
#[derive(Default)]
pub(super) struct Comments<'a> {
    pub(super) undirected: bool,
    /// `# Nodes: V`
    pub(super) nodes: Option<u64>,
    /// `# Nodes: V Edges: E Ids: FIRST..LAST`: the number of edges and the first name.
    pub(super) whole: Option<(&'a [u8], u64, u64)>,
    /// `# Node: NAME`
    pub(super) names: Vec<&'a [u8]>,
}

impl<'a> Comments<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        let mut comments = Comments::default();
        for line in Lines::new(text).take_while(|line| is_skipped(line)) {
            let Some(comment) = line.trim_ascii().strip_prefix(b"#").map(<[u8]>::trim_ascii_start) else { continue };
            comments.undirected |= comment.get(..16).is_some_and(|word| word.eq_ignore_ascii_case(b"undirected graph"));
            if let Some(name) = comment.strip_prefix(b"Node:") {
                comments.names.push(name.trim_ascii());
            }
            let words: Vec<&[u8]> = Delimiter::Blank.fields(comment).collect();
            if let [b"Nodes:", nodes, rest @ ..] = &words[..] {
                comments.nodes = unsigned(nodes);
                if let [b"Edges:", edges, b"Ids:", ids] = rest
                    && let (Some(edges), (first, first_end)) = (unsigned(edges), digits(ids, 0))
                    && first_end > 0
                    && ids[first_end..].starts_with(b"..")
                {
                    comments.whole = Some((line, edges, first));
                }
            }
        }
        comments
    }
}

#[inline]
pub(super) fn is_skipped(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start(), [] | [b'#' | b'%', ..])
}

/// The form of a list's lines.
pub(super) struct Layout<'a> {
    pub(super) delimiter: Delimiter,
    pub(super) columns: usize,
    /// Which column holds the weight, from 0.
    pub(super) weight: Option<usize>,
    /// The first line, if it holds counts: the line, V and perhaps E.
    pub(super) counts: Option<(&'a [u8], u64, Option<u64>)>,
    /// The first line, if it is taken for an edge but might be counts.
    pub(super) doubtful: Option<(&'a [u8], u64, u64)>,
}

impl<'a> Layout<'a> {
    /// The layout, and the text from the first edge on.
    pub(super) fn find(
        text: &'a [u8],
        options: &ReadOptions,
        comments: &Comments<'a>,
    ) -> std::result::Result<(Self, &'a [u8]), Failure<'a>> {
        let mut lines = Lines::new(text);
        let mut body = text;
        let mut next = || loop {
            let before = lines.rest();
            let line = lines.next()?;
            if !is_skipped(line) {
                return Some((line, before, lines.rest()));
            }
        };
        let first = next();
        let second = next();
        let delimiter = second.or(first).map_or(Delimiter::Blank, |(line, ..)| Delimiter::of(line));
        let fields = |line: &'a [u8]| delimiter.fields(line).collect::<Vec<_>>();
        let mut layout = Layout { delimiter, columns: 2, weight: None, counts: None, doubtful: None };
        let mut header: Option<Vec<&'a [u8]>> = None;
        if let Some((line, before, after)) = first {
            let here = Delimiter::of(line).fields(line).collect::<Vec<_>>();
            let following = second.map(|(line, ..)| fields(line));
            let kind = match options.first_line {
                FirstLine::Auto if comments.nodes.is_some() => FirstLine::Edge,
                FirstLine::Auto => guess(&here, following.as_deref()),
                given => given,
            };
            body = before;
            match kind {
                FirstLine::Counts => {
                    let count = |token| unsigned(token).ok_or_else(|| Malformed::new(token, "a count is expected"));
                    let edges = here.get(1).map(|token| count(token)).transpose()?;
                    layout.counts = Some((line, count(here[0])?, edges));
                    body = after;
                }
                FirstLine::Header => {
                    header = Some(fields(line));
                    body = after;
                }
                FirstLine::Auto | FirstLine::Edge => {
                    if let (FirstLine::Auto, [u, v]) = (kind, &here[..]) {
                        layout.doubtful = unsigned(u).zip(unsigned(v)).map(|(u, v)| (line, u, v));
                    }
                }
            }
            let model =
                if kind == FirstLine::Auto || kind == FirstLine::Edge { Some(line) } else { second.map(|s| s.0) };
            layout.columns = model.map_or(2, |line| fields(line).len());
            if let Some(model) = model.filter(|_| layout.columns < 2) {
                return Err(Malformed::new(model, "two vertices are expected on a line").into());
            }
        }
        layout.weight = weight_column(&options.weights, layout.columns, header.as_deref())?;
        Ok((layout, body))
    }
}

/// The names that headers use for the two ends of an edge.
const NAMES_OF_ENDS: [(&str, &str); 10] = [
    ("source", "target"),
    ("source", "destination"),
    ("from", "to"),
    ("src", "dst"),
    ("src", "dest"),
    ("fromnodeid", "tonodeid"),
    ("from_node", "to_node"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("id_1", "id_2"),
];

/// Guesses the kind of the first line from the first two lines; `Auto` for an edge that might be counts.
fn guess(first: &[&[u8]], second: Option<&[&[u8]]>) -> FirstLine {
    let integers = |fields: &[&[u8]]| fields.iter().take(2).all(|field| unsigned(field).is_some());
    let number = |field: &&[u8]| field.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte));
    if let [u, v, ..] = first {
        let lower = |field: &[u8]| String::from_utf8_lossy(unquoted(field)).to_ascii_lowercase();
        if NAMES_OF_ENDS.contains(&(lower(u).as_str(), lower(v).as_str())) {
            return FirstLine::Header;
        }
    }
    let Some(second) = second else { return FirstLine::Edge };
    if first.len() != second.len() && integers(first) {
        // The first line is no edge like the others. If these are integers too, it can only be counts; but not if it
        // has three columns: then it is the first line of a list that later loses its weights.
        return if second.len() >= 2 && integers(second) && (first.len() <= 2 || first.len() > 3) {
            FirstLine::Counts
        } else {
            FirstLine::Edge
        };
    }
    let header = first.len() == second.len()
        && first.iter().zip(second).any(|(above, below)| !number(above) && number(below))
        && !first.iter().take(3).any(number);
    match (header, integers(first)) {
        (true, _) => FirstLine::Header,
        (false, true) if first.len() == 2 => FirstLine::Auto,
        _ => FirstLine::Edge,
    }
}

fn weight_column(source: &WeightSource, columns: usize, header: Option<&[&[u8]]>) -> Result<Option<usize>> {
    match source {
        WeightSource::File => Ok((columns > 2).then_some(2)),
        WeightSource::Unit => Ok(None),
        WeightSource::Column(column @ (0..=2)) => {
            Err(Error::invalid(format!("column {column} can't hold weights: columns 1 and 2 hold the vertices")))
        }
        WeightSource::Column(column) if *column > columns => {
            Err(Error::invalid(format!("there is no column {column} to take weights from: there are {columns}")))
        }
        WeightSource::Column(column) => Ok(Some(column - 1)),
        WeightSource::Named(name) => {
            let names: Vec<Cow<'_, str>> =
                header.unwrap_or_default().iter().map(|field| String::from_utf8_lossy(unquoted(field))).collect();
            if names.is_empty() {
                return Err(Error::invalid(format!("there is no header line to find the column `{name}` in")));
            }
            match names.iter().position(|candidate| candidate == name) {
                Some(column) if column >= 2 => Ok(Some(column)),
                Some(_) => Err(Error::invalid(format!("the column `{name}` holds vertices"))),
                None => Err(Error::invalid(format!("there is no column `{name}`; there are {}", names.join(", ")))),
            }
        }
    }
}
