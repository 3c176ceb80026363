//! Edge lists, as SNAP, Network Repository, KONECT, spreadsheets and scripts write them: two vertices on a line, then
//! perhaps a weight and other columns.
//!
//! Nothing announces how a list is laid out, so the first lines tell: what separates the columns (blanks and tabs, or
//! comma, semicolon or `|`, unless tabs stand between names with such a character), how many there are, and whether the
//! first line is a header. From then on every line has to look the same. Lines that start with `#` or `%` are comments.
//!
//! **Names.** If all are integers, vertices are numbered in ascending order of their names; a range without gaps needs
//! no table. Otherwise names are strings, in the order in which they first appear. Integers are tried first, in 32 bits
//! and then in 64: each attempt that fails costs a part of a pass over the file.
//!
//! **Vertices without edges** survive where the number of vertices is declared: by a first line of counts, or by a
//! comment `# Nodes: V` that fits (`Ids: FIRST..LAST` after it, and comments `# Node: NAME`, are what [`write`] adds,
//! so that what it writes reads back as it was). A comment that starts with `# Undirected graph` makes the list
//! undirected.
//!
//! **Cost.** One pass over the text, in chunks on all threads; a line of two or three short numbers takes no branch that
//! depends on their digits. Then a pass over the edges to find which names there are, and one to rename if there are
//! gaps.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::rows::{plan_vertices, too_many_isolated};
use super::text::{Fault, Held, Lines, Malformed, Parsed, Piece, Shown, Text, digits, unsigned};
use super::weight_column::{self, WeightColumn, WeightedChunk, WeightedLists};
use super::{FirstLine, ReadOptions, WeightSource, stream_error};
use crate::graph::{
    Direction, Graph, GraphBuilder, Labels, MAX_VERTICES, StringLabels, VertexId, Weight, WeightKind, with_weights,
};
use crate::memory::allocation::bytes_of;
use crate::memory::with_capacity;
use crate::{Error, InputError, Result};

pub(super) fn read(text: Text, options: &ReadOptions) -> Result<Graph> {
    let two_lines = |beginning: &[u8]| Lines::new(beginning).filter(|line| !is_skipped(line)).nth(1).is_some();
    let beginning = text.beginning(two_lines)?;
    let head = text.piece(&beginning);
    let (builder, lists) = read_text(&text, head, options).map_err(|failure| match failure {
        Failure::InHead(malformed) => text.locate(head.fault(&malformed)),
        Failure::InBody(fault) => text.locate(fault),
        Failure::Other(error) => error,
    })?;
    drop(beginning);
    text.close()?;
    lists.build(builder)
}

/// Why a list can't be read.
enum Failure<'a> {
    /// Before the first edges.
    InHead(Malformed<'a>),
    InBody(Fault),
    Other(Error),
}

impl<'a> From<Malformed<'a>> for Failure<'a> {
    fn from(malformed: Malformed<'a>) -> Self {
        Failure::InHead(malformed)
    }
}

impl From<Fault> for Failure<'_> {
    fn from(fault: Fault) -> Self {
        Failure::InBody(fault)
    }
}

impl From<Error> for Failure<'_> {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

fn read_text<'a>(
    text: &Text,
    head: Piece<'a>,
    options: &ReadOptions,
) -> std::result::Result<(GraphBuilder, WeightedLists), Failure<'a>> {
    let comments = Comments::of(head.bytes);
    let (layout, body) = Layout::find(head.bytes, options, &comments)?;
    let direction = if comments.undirected { Direction::Undirected } else { Direction::Directed };
    let builder = options.builder(direction);
    let body = Body { text, pieces: text.pieces(head.offset_of(body))? };
    let narrow = parse_pieces::<u32>(&body, &layout, options)?;
    let (labels, parsed) = match narrow {
        Attempt::Done(parsed) => name_integers(parsed, &body, &layout, &comments)?,
        Attempt::TooWide => match parse_pieces::<u64>(&body, &layout, options)? {
            Attempt::Done(parsed) => name_integers(parsed, &body, &layout, &comments)?,
            _ => name_strings(&body, &layout, &comments, options)?,
        },
        Attempt::NoIntegers => name_strings(&body, &layout, &comments, options)?,
    };
    if let Some(message) = too_many_isolated(labels.len(), text.length(), options) {
        let line = layout.counts.map(|(line, ..)| line).or(comments.whole.map(|(line, ..)| line));
        return Err(Malformed::new(line.unwrap_or(&head.bytes[..0]), message).into());
    }
    plan_vertices(labels.len(), 0, options)?;
    Ok((builder.labels(labels), weight_column::settle(text, parsed)?))
}

/// The text from the first edge on.
struct Body<'t> {
    text: &'t Text,
    pieces: Vec<Range<u64>>,
}

/// What separates columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    /// Any run of blanks and tabs.
    Blank,
    /// This byte; blanks around it don't count, and a column in double quotes may contain it.
    Byte(u8),
}

impl Delimiter {
    /// What separates the columns of this line.
    fn of(line: &[u8]) -> Self {
        let outside_quotes = |wanted: u8| {
            let mut quoted = false;
            line.iter().any(|&byte| {
                quoted ^= byte == b'"';
                byte == wanted && !quoted
            })
        };
        if let Some(byte) = [b',', b';', b'|'].into_iter().find(|&byte| outside_quotes(byte)) {
            // Beside tabs it is a part of names, unless it is at the edge of what they separate: then they are padding.
            let by_tabs: Vec<&[u8]> = Delimiter::Byte(b'\t').fields(line).filter(|part| !part.is_empty()).collect();
            let is_padded = by_tabs.iter().any(|part| part.starts_with(&[byte]) || part.ends_with(&[byte]));
            return Delimiter::Byte(if by_tabs.len() >= 2 && !is_padded { b'\t' } else { byte });
        }
        // Names with blanks in them can be separated by tabs.
        let by_tabs = line.split(|&byte| byte == b'\t').filter(|part| !part.trim_ascii().is_empty()).count();
        let by_blanks: Vec<&[u8]> = Fields { rest: line, delimiter: Delimiter::Blank, done: false }.collect();
        let names = by_blanks.iter().any(|part| !part[0].is_ascii_digit() && part[0] != b'-');
        if by_tabs >= 2 && by_tabs != by_blanks.len() && names { Delimiter::Byte(b'\t') } else { Delimiter::Blank }
    }

    fn fields(self, line: &[u8]) -> Fields<'_> {
        Fields { rest: line, delimiter: self, done: false }
    }
}

/// The columns of a line.
struct Fields<'a> {
    rest: &'a [u8],
    delimiter: Delimiter,
    done: bool,
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.done {
            return None;
        }
        let is_blank = |byte: &u8| byte.is_ascii_whitespace() && self.delimiter != Delimiter::Byte(*byte);
        let start = self.rest.iter().position(|byte| !is_blank(byte)).unwrap_or(self.rest.len());
        self.rest = &self.rest[start..];
        let mut quoted = false;
        let end = match self.delimiter {
            Delimiter::Blank => self.rest.iter().position(u8::is_ascii_whitespace),
            Delimiter::Byte(delimiter) => self.rest.iter().position(|&byte| {
                quoted ^= byte == b'"';
                byte == delimiter && !quoted
            }),
        };
        let field = &self.rest[..end.unwrap_or(self.rest.len())];
        match end {
            Some(end) => self.rest = &self.rest[end + 1..],
            None => self.done = true,
        }
        if self.delimiter == Delimiter::Blank {
            (!field.is_empty()).then_some(field)
        } else {
            Some(field.trim_ascii_end())
        }
    }
}

/// What comments before the first edge declare.
#[derive(Default)]
struct Comments<'a> {
    undirected: bool,
    /// `# Nodes: V`
    nodes: Option<u64>,
    /// `# Nodes: V Edges: E Ids: FIRST..LAST`: the number of edges and the first name.
    whole: Option<(&'a [u8], u64, u64)>,
    /// `# Node: NAME`
    names: Vec<&'a [u8]>,
}

impl<'a> Comments<'a> {
    fn of(text: &'a [u8]) -> Self {
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

fn is_skipped(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start(), [] | [b'#' | b'%', ..])
}

/// How the lines of a list look.
struct Layout<'a> {
    delimiter: Delimiter,
    columns: usize,
    /// Which column holds the weight, from 0.
    weight: Option<usize>,
    /// The first line, if it holds counts: the line, V and perhaps E.
    counts: Option<(&'a [u8], u64, Option<u64>)>,
    /// The first line, if it is taken for an edge but might be counts.
    doubtful: Option<(&'a [u8], u64, u64)>,
}

impl<'a> Layout<'a> {
    /// The layout, and the text from the first edge on.
    fn find(
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

/// What headers call the two ends of an edge.
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

/// What the first line is, by its looks and those of the second; `Auto` for an edge that might be counts.
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
        // It is no edge like the others. Where those are integers too, it can only be the counts; but the first line
        // of a list that loses its weights later on is none.
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

/// A vertex name that is an integer.
trait IntegerName: Copy + Ord + Send + Sync + 'static {
    fn from_u64(value: u64) -> Option<Self>;
    fn to_u64(self) -> u64;
}

impl IntegerName for u32 {
    #[inline]
    fn from_u64(value: u64) -> Option<Self> {
        value.try_into().ok()
    }
    #[inline]
    fn to_u64(self) -> u64 {
        self.into()
    }
}

impl IntegerName for u64 {
    #[inline]
    fn from_u64(value: u64) -> Option<Self> {
        // Where integers saturate.
        (value != u64::MAX).then_some(value)
    }
    #[inline]
    fn to_u64(self) -> u64 {
        self
    }
}

/// The edges of a chunk, by name.
struct NamedChunk<I> {
    edges: Vec<(I, I)>,
    weights: Option<WeightColumn>,
}

impl<I> Held for NamedChunk<I> {
    fn held_bytes(&self) -> u64 {
        bytes_of::<(I, I)>(self.edges.capacity()) + self.weights.as_ref().map_or(0, Held::held_bytes)
    }
}

/// How an attempt to read names as integers of a width went.
enum Attempt<T> {
    Done(T),
    /// Some integer is too wide.
    TooWide,
    /// Some name is no integer.
    NoIntegers,
}

/// Why a chunk can't be read with integers as names.
enum ChunkFailure<'a> {
    Malformed(Malformed<'a>),
    TooWide,
    NoIntegers,
}

impl<'a> From<Malformed<'a>> for ChunkFailure<'a> {
    fn from(malformed: Malformed<'a>) -> Self {
        ChunkFailure::Malformed(malformed)
    }
}

fn parse_pieces<I: IntegerName>(
    body: &Body<'_>,
    layout: &Layout<'_>,
    options: &ReadOptions,
) -> std::result::Result<Attempt<Vec<NamedChunk<I>>>, Failure<'static>> {
    /// A failure that outlives its piece.
    enum PieceFailure {
        Fault(Fault),
        TooWide,
        NoIntegers,
    }
    let parsed = body.text.each_piece(&body.pieces, &options.control, |piece| {
        parse_piece::<I>(piece, layout).map_err(|failure| match failure {
            ChunkFailure::Malformed(malformed) => PieceFailure::Fault(piece.fault(&malformed)),
            ChunkFailure::TooWide => PieceFailure::TooWide,
            ChunkFailure::NoIntegers => PieceFailure::NoIntegers,
        })
    })?;
    if parsed.iter().any(|chunk| matches!(chunk, Err(PieceFailure::NoIntegers))) {
        return Ok(Attempt::NoIntegers);
    }
    if parsed.iter().any(|chunk| matches!(chunk, Err(PieceFailure::TooWide))) {
        return Ok(Attempt::TooWide);
    }
    let mut done = Vec::with_capacity(parsed.len());
    for chunk in parsed {
        match chunk {
            Ok(chunk) => done.push(chunk),
            Err(PieceFailure::Fault(fault)) => return Err(fault.into()),
            Err(_) => return Ok(Attempt::NoIntegers),
        }
    }
    Ok(Attempt::Done(done))
}

fn parse_piece<'p, I: IntegerName>(
    all: Piece<'p>,
    layout: &Layout<'_>,
) -> std::result::Result<NamedChunk<I>, ChunkFailure<'p>> {
    let piece = all.bytes;
    // About as many lines as fit if the rest looks like the beginning.
    let sample = &piece[..piece.len().min(512)];
    let lines = sample.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let expected = piece.len() / (sample.len() / lines).max(1) + 16;
    let mut edges: Vec<(I, I)> = Vec::with_capacity(expected);
    let mut weights = WeightColumn::new();
    if layout.weight.is_some() {
        weights.reserve(expected);
    }
    let plain = layout.columns == 2 || (layout.columns == 3 && layout.weight == Some(2));
    let mut at = 0;
    while at < piece.len() {
        if plain && let Some((edge, weight, end)) = plain_line(piece, at, layout) {
            edges.push(edge);
            if layout.columns == 3 {
                weights.push_unsigned(weight, &piece[at..end], all);
            }
            at = end + 1;
            continue;
        }
        let line = Lines::new(&piece[at..]).next().unwrap_or_default();
        at += piece[at..].iter().position(|&byte| byte == b'\n').map_or(piece.len() - at, |end| end + 1);
        if !is_skipped(line) {
            edges.push(any_line(line, all, layout, &mut weights)?);
        }
    }
    edges.shrink_to_fit();
    Ok(NamedChunk { edges, weights: layout.weight.map(|_| weights) })
}

/// The edge on a line as nearly all are: integers without leading zeros, one delimiter each, a weight of up to eight
/// digits; and where its line end is.
#[inline(always)]
fn plain_line<I: IntegerName>(piece: &[u8], start: usize, layout: &Layout<'_>) -> Option<((I, I), u32, usize)> {
    let separates = |byte: u8| match layout.delimiter {
        Delimiter::Blank => byte == b' ' || byte == b'\t',
        Delimiter::Byte(delimiter) => byte == delimiter,
    };
    let name = |at: usize| {
        let (value, end) = digits(piece, at);
        let is_plain = end > at && (piece[at] != b'0' || end == at + 1);
        Some((I::from_u64(value).filter(|_| is_plain)?, end))
    };
    let (u, end) = name(start)?;
    if !separates(*piece.get(end)?) {
        return None;
    }
    let (v, mut end) = name(end + 1)?;
    let mut weight = 0;
    if layout.columns == 3 {
        if !separates(*piece.get(end)?) {
            return None;
        }
        let start = end + 1;
        (weight, end) = digits(piece, start);
        if end == start || end > start + 8 {
            return None;
        }
    }
    if piece.get(end) == Some(&b'\r') {
        end += 1;
    }
    (piece.get(end) == Some(&b'\n')).then_some(((u, v), weight as u32, end))
}

/// The edge on any line, or what is wrong with it.
fn any_line<'p, I: IntegerName>(
    line: &'p [u8],
    piece: Piece<'p>,
    layout: &Layout<'_>,
    weights: &mut WeightColumn,
) -> std::result::Result<(I, I), ChunkFailure<'p>> {
    let (u, v) = split(line, piece, layout, weights)?;
    let name = |token: &'p [u8]| {
        if token.is_empty() || !token.iter().all(u8::is_ascii_digit) || (token[0] == b'0' && token.len() > 1) {
            return Err(ChunkFailure::NoIntegers);
        }
        match unsigned(token).filter(|&value| value != u64::MAX) {
            Some(value) => I::from_u64(value).ok_or(ChunkFailure::TooWide),
            None => Err(ChunkFailure::NoIntegers),
        }
    };
    Ok((name(u)?, name(v)?))
}

/// The two names on a line, its weight going to `weights`.
fn split<'p>(
    line: &'p [u8],
    piece: Piece<'p>,
    layout: &Layout<'_>,
    weights: &mut WeightColumn,
) -> Parsed<'p, (&'p [u8], &'p [u8])> {
    let mut fields = layout.delimiter.fields(line);
    let (mut found, mut weight) = (0, None);
    let mut ends = [&line[..0]; 2];
    for field in fields.by_ref() {
        if let Some(end) = ends.get_mut(found) {
            *end = field;
        }
        if layout.weight == Some(found) {
            weight = Some(field);
        }
        found += 1;
    }
    if found != layout.columns {
        let are = if found == 1 { "is" } else { "are" };
        let message = format!("{} columns are expected, as on the first line, but there {are} {found}", layout.columns);
        return Err(Malformed::new(line, message));
    }
    if let Some(token) = weight {
        weights.push(unquoted(token), piece).map_err(|mut malformed| {
            malformed.message.push_str(" (another column, or unit weights, can be asked for)");
            malformed
        })?;
    }
    Ok((ends[0], ends[1]))
}

/// A column without the quotes around it.
fn unquoted(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inside @ .., b'"'] => inside,
        _ => field,
    }
}

type Named = (Labels, Vec<WeightedChunk>);

/// Numbers the vertices in the order of their names.
fn name_integers<'a, I: IntegerName>(
    parsed: Vec<NamedChunk<I>>,
    body: &Body<'_>,
    layout: &Layout<'a>,
    comments: &Comments<'a>,
) -> std::result::Result<Named, Failure<'a>> {
    let lines: u64 = parsed.iter().map(|chunk| chunk.edges.len() as u64).sum();
    let bounds = |(low, high): (u64, u64), (u, v): &(I, I)| {
        let (u, v) = (u.to_u64(), v.to_u64());
        (low.min(u).min(v), high.max(u).max(v))
    };
    let (least, greatest) = parsed
        .par_iter()
        .map(|chunk| chunk.edges.iter().fold((u64::MAX, 0), bounds))
        .reduce(|| (u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    if let Some((line, vertices, edges)) = layout.doubtful
        && lines == edges.saturating_add(1)
        && fits_counts(&parsed, vertices)
    {
        let message = "this line may be an edge or the numbers of vertices and edges: say what the first line is";
        return Err(Malformed::new(line, message).into());
    }
    if let Some((line, vertices, edges)) = layout.counts {
        check_lines(line, edges, lines)?;
        // Names count from 1 unless there is a 0.
        let first = u64::from(lines == 0 || least != 0) * u64::from(lines != 0);
        let labels = Labels::range(first, check_vertices(line, vertices)?);
        return Ok((labels, renumber_range(parsed, body, first, vertices)?));
    }
    if let (Some((line, edges, first)), Some(vertices)) = (comments.whole, comments.nodes) {
        check_lines(line, Some(edges), lines)?;
        if first.checked_add(vertices).is_none() {
            return Err(Malformed::new(line, "the names of the vertices go beyond 64 bits").into());
        }
        let labels = Labels::range(first, check_vertices(line, vertices)?);
        return Ok((labels, renumber_range(parsed, body, first, vertices)?));
    }
    // The greatest number is where integers saturate, and no name.
    let declared: Option<Vec<u64>> =
        comments.names.iter().map(|name| unsigned(name).filter(|&id| id != u64::MAX)).collect();
    let Some(isolated) = declared else {
        return Err(Malformed::new(comments.names[0], "not all names of vertices without edges are integers").into());
    };
    if lines == 0 && isolated.is_empty() {
        let count = comments.nodes.filter(|&count| count <= MAX_VERTICES).unwrap_or(0);
        return Ok((Labels::range(0, count), renumber_range(parsed, body, 0, count)?));
    }
    let (least, greatest) = isolated.iter().fold((least, greatest), |(low, high), &id| (low.min(id), high.max(id)));
    let span = greatest - least + 1;
    // A bit for each possible name, unless there are far more of those than edges.
    if span / 64 > lines + 1024 {
        return name_scattered(parsed, body, isolated);
    }
    let present = Presence::of(&parsed, &isolated, least, span);
    let found = present.count();
    let range = match comments.nodes {
        // A declared number counts if the names fit and some are missing.
        Some(nodes) if nodes > found && greatest < nodes => Some((0, nodes)),
        Some(nodes) if nodes > found && greatest == nodes && least > 0 => Some((1, nodes)),
        _ if found == span => Some((least, span)),
        _ => None,
    };
    if let Some((first, count)) = range {
        check_count(count)?;
        return Ok((Labels::range(first, count), renumber_range(parsed, body, first, count)?));
    }
    check_count(found)?;
    let ranks = present.into_ranks();
    let renumbered = renumber(parsed, |name| ranks.rank(name.to_u64() - least));
    Ok((Labels::Integers(ranks.names(least)), renumbered))
}

fn check_lines<'a>(line: &'a [u8], announced: Option<u64>, lines: u64) -> Parsed<'a, ()> {
    match announced.filter(|&announced| announced != lines) {
        Some(announced) => {
            Err(Malformed::new(line, format!("this line announces {announced} edges, but the file has {lines}")))
        }
        None => Ok(()),
    }
}

fn check_vertices(line: &[u8], vertices: u64) -> Parsed<'_, u64> {
    if vertices > MAX_VERTICES {
        return Err(Malformed::new(line, format!("at most {MAX_VERTICES} vertices are possible")));
    }
    Ok(vertices)
}

fn check_count(vertices: u64) -> Result<()> {
    if vertices > MAX_VERTICES {
        return Err(InputError::new(format!("{vertices} vertices are too many; {MAX_VERTICES} are possible")).into());
    }
    Ok(())
}

/// Whether all edges but the first have names from 0 to `vertices - 1`, or from 1 to `vertices`.
fn fits_counts<I: IntegerName>(parsed: &[NamedChunk<I>], vertices: u64) -> bool {
    let mut all = parsed.iter().flat_map(|chunk| &chunk.edges).skip(1).flat_map(|&(u, v)| [u.to_u64(), v.to_u64()]);
    let (mut least, mut greatest) = (u64::MAX, 0);
    all.all(|name| {
        (least, greatest) = (least.min(name), greatest.max(name));
        greatest < vertices || (greatest == vertices && least > 0)
    })
}

/// Names that are consecutive integers need no table.
fn renumber_range<I: IntegerName>(
    parsed: Vec<NamedChunk<I>>,
    body: &Body<'_>,
    first: u64,
    count: u64,
) -> std::result::Result<Vec<WeightedChunk>, Failure<'static>> {
    let outside = |name: I| name.to_u64().wrapping_sub(first) >= count;
    let stray = parsed.par_iter().enumerate().find_map_first(|(chunk, named)| {
        named.edges.iter().position(|&(u, v)| outside(u) || outside(v)).map(|edge| (chunk, edge))
    });
    if let Some((chunk, edge)) = stray {
        let last = (first + count).saturating_sub(1);
        let message = format!("a vertex is out of range: {count} vertices are declared, named {first} to {last}");
        let mut before = 0;
        let is_stray = |line: &[u8]| {
            before += usize::from(!is_skipped(line));
            before > edge
        };
        // It is there, unless the file has changed.
        let fault = body.text.find_line(&body.pieces[chunk..=chunk], is_stray, &message)?;
        return Err(fault.map_or_else(|| Error::from(InputError::new(message)).into(), Failure::InBody));
    }
    Ok(renumber(parsed, |name| (name.to_u64() - first) as VertexId))
}

fn renumber<I: IntegerName>(parsed: Vec<NamedChunk<I>>, number: impl Fn(I) -> VertexId + Sync) -> Vec<WeightedChunk> {
    parsed
        .into_par_iter()
        .map(|chunk| WeightedChunk {
            // In place where names have the width of vertices.
            edges: chunk.edges.into_iter().map(|(u, v)| (number(u), number(v))).collect(),
            weights: chunk.weights,
        })
        .collect()
}

/// Numbers integers that are far apart, by sorting them.
fn name_scattered<I: IntegerName>(
    parsed: Vec<NamedChunk<I>>,
    body: &Body<'_>,
    isolated: Vec<u64>,
) -> std::result::Result<Named, Failure<'static>> {
    let count = 2 * parsed.iter().map(|chunk| chunk.edges.len()).sum::<usize>() + isolated.len();
    let held: u64 = parsed.iter().map(Held::held_bytes).sum();
    body.text.check_room(held.saturating_add(8 * count as u64))?;
    let mut names: Vec<u64> = with_capacity("the names of vertices", count)?;
    for chunk in &parsed {
        names.extend(chunk.edges.iter().flat_map(|&(u, v)| [u.to_u64(), v.to_u64()]));
    }
    names.extend(isolated);
    names.par_sort_unstable();
    names.dedup();
    names.shrink_to_fit();
    check_count(names.len() as u64)?;
    let renumbered = renumber(parsed, |name| names.partition_point(|&other| other < name.to_u64()) as VertexId);
    Ok((Labels::Integers(names), renumbered))
}

/// Which integers of a range are names: a bit each.
struct Presence(Vec<AtomicU64>);

impl Presence {
    fn of<I: IntegerName>(parsed: &[NamedChunk<I>], isolated: &[u64], least: u64, span: u64) -> Self {
        let mut words = Vec::new();
        words.resize_with(span.div_ceil(64) as usize, AtomicU64::default);
        let mark = |name: u64| {
            let (word, bit) = (&words[((name - least) / 64) as usize], 1 << ((name - least) % 64));
            // Nearly all are marked already: a load is cheaper.
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        };
        parsed.par_iter().for_each(|chunk| {
            chunk.edges.iter().for_each(|&(u, v)| {
                mark(u.to_u64());
                mark(v.to_u64());
            });
        });
        isolated.iter().for_each(|&name| mark(name));
        Presence(words)
    }

    fn count(&self) -> u64 {
        self.0.par_iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
    }

    fn into_ranks(self) -> Ranks {
        let mut before = 0;
        let words = self.0.into_iter().map(AtomicU64::into_inner);
        Ranks(
            words
                .map(|word| {
                    let entry = (word, before);
                    before += word.count_ones();
                    entry
                })
                .collect(),
        )
    }
}

/// Present integers, and for each 64 how many come before them.
struct Ranks(Vec<(u64, u32)>);

impl Ranks {
    /// How many present integers are less.
    #[inline]
    fn rank(&self, offset: u64) -> VertexId {
        let (word, before) = self.0[(offset / 64) as usize];
        before + (word & ((1 << (offset % 64)) - 1)).count_ones()
    }

    /// The present integers, plus `least`.
    fn names(&self, least: u64) -> Vec<u64> {
        let mut names =
            Vec::with_capacity(self.0.last().map_or(0, |&(word, before)| before + word.count_ones()) as usize);
        for (index, &(word, _)) in self.0.iter().enumerate() {
            names.extend((0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| least + index as u64 * 64 + bit));
        }
        names
    }
}

/// Numbers the vertices in the order in which their names appear.
///
/// They are found piece by piece in parallel, and numbered one after another while the text is in memory.
fn name_strings<'a>(
    body: &Body<'_>,
    layout: &Layout<'a>,
    comments: &Comments<'a>,
    options: &ReadOptions,
) -> std::result::Result<Named, Failure<'a>> {
    struct Slices<'p> {
        edges: Vec<(&'p [u8], &'p [u8])>,
        weights: WeightColumn,
    }
    impl Held for Slices<'_> {
        fn held_bytes(&self) -> u64 {
            bytes_of::<(&[u8], &[u8])>(self.edges.capacity()) + self.weights.held_bytes()
        }
    }
    let from = body.pieces.first().map_or(0, |piece| piece.start);
    let text = match body.pieces.is_empty() {
        true => Cow::Borrowed(&[][..]),
        false => body.text.rest(from)?,
    };
    let pieces: Vec<Piece<'_>> = (body.pieces.iter())
        .map(|range| Piece {
            bytes: &text[(range.start - from) as usize..(range.end - from) as usize],
            offset: range.start,
        })
        .collect();
    let held = AtomicU64::new(if matches!(text, Cow::Owned(_)) { text.len() as u64 } else { 0 });
    body.text.check_room(held.load(Ordering::Relaxed))?;
    let parsed: Result<Vec<Parsed<'_, Slices<'_>>>> = pieces
        .par_iter()
        .map(|&piece| {
            options.control.check()?;
            let mut slices = Slices { edges: Vec::new(), weights: WeightColumn::new() };
            for line in Lines::new(piece.bytes).filter(|line| !is_skipped(line)) {
                match split(line, piece, layout, &mut slices.weights) {
                    Ok(ends) => slices.edges.push(ends),
                    Err(malformed) => return Ok(Err(malformed)),
                }
            }
            let bytes = slices.held_bytes();
            body.text.check_room(held.fetch_add(bytes, Ordering::Relaxed) + bytes)?;
            Ok(Ok(slices))
        })
        .collect();
    let parsed = parsed?;
    let mut held = held.into_inner();
    let mut labels = StringLabels::new();
    for name in &comments.names {
        labels.intern(&text_of(name)?)?;
    }
    let mut named = Vec::with_capacity(parsed.len());
    for (chunk, piece) in parsed.into_iter().zip(&pieces) {
        let in_body = |malformed: Malformed<'_>| Failure::InBody(piece.fault(&malformed));
        options.control.check()?;
        let chunk = chunk.map_err(in_body)?;
        let slices = chunk.held_bytes();
        let mut edges = with_capacity("the edges of a list", chunk.edges.len())?;
        for (u, v) in chunk.edges {
            let [u, v] = [text_of(u).map_err(in_body)?, text_of(v).map_err(in_body)?];
            edges.push((labels.intern(&u)?, labels.intern(&v)?));
        }
        let chunk = WeightedChunk { edges, weights: layout.weight.map(|_| chunk.weights) };
        held = (held + chunk.held_bytes()).saturating_sub(slices);
        body.text.check_room(held + labels.owned_bytes())?;
        named.push(chunk);
    }
    let lines: u64 = named.iter().map(|chunk| chunk.edges.len() as u64).sum();
    if let Some((line, vertices, edges)) = layout.counts {
        check_lines(line, edges, lines)?;
        if vertices != labels.len() as u64 {
            let message = format!("this line announces {vertices} vertices, but the file names {}", labels.len());
            return Err(Malformed::new(line, message).into());
        }
    }
    Ok((Labels::Strings(labels), named))
}

/// The name that a column holds: without quotes, of printable text.
fn text_of(field: &[u8]) -> Parsed<'_, Cow<'_, str>> {
    let inside = unquoted(field);
    let Ok(name) = std::str::from_utf8(inside) else {
        return Err(Malformed::new(field, "the name of a vertex has to be UTF-8 text"));
    };
    if name.chars().any(char::is_control) {
        return Err(Malformed::new(field, "the name of a vertex contains control characters"));
    }
    if name.is_empty() && inside.len() == field.len() {
        return Err(Malformed::new(field, "the name of a vertex is missing"));
    }
    let is_quoted = inside.len() != field.len();
    Ok(if is_quoted && name.contains("\"\"") { name.replace("\"\"", "\"").into() } else { name.into() })
}

/// Edges by the names that the graph has, those of an undirected graph once, after comments that say how many there
/// are, so that a list reads back as the same graph.
///
/// Columns are separated by a blank, or by commas (with names in double quotes) if some name could be misread.
pub(super) fn write(graph: &Graph, out: &mut dyn Write) -> Result<()> {
    with_weights!(graph.weights(), values => write_edges(graph, values, out))
}

fn write_edges<W: Weight>(graph: &Graph, weights: &[W], out: &mut dyn Write) -> Result<()> {
    let names = Names::of(graph)?;
    let row = |u: VertexId| {
        let row = graph.csr().row(u);
        let skipped = if graph.is_directed() { 0 } else { graph.neighbors(u).partition_point(|&v| v < u) };
        row.start + skipped..row.end
    };
    let vertices = 0..graph.vertices() as VertexId;
    let edges: usize = vertices.clone().map(|u| row(u).len()).sum();
    let kind = if graph.is_directed() { "Directed" } else { "Undirected" };
    write!(out, "# {kind} graph\n# Nodes: {} Edges: {edges}", graph.vertices()).map_err(stream_error)?;
    match graph.labels() {
        Labels::Range { first, count } => {
            writeln!(out, " Ids: {first}..{}", (first + count).saturating_sub(1)).map_err(stream_error)?;
        }
        Labels::Integers(_) | Labels::Strings(_) => {
            writeln!(out).map_err(stream_error)?;
            let mut has_edge: Vec<bool> = vertices.clone().map(|v| graph.degree(v) > 0).collect();
            graph.csr().targets().iter().for_each(|&v| has_edge[v as usize] = true);
            for v in vertices.clone().filter(|&v| !has_edge[v as usize]) {
                writeln!(out, "# Node: {}", names.of_vertex(v)).map_err(stream_error)?;
            }
        }
    }
    let delimiter = if names.quoted { ',' } else { ' ' };
    for u in vertices {
        let name = names.of_vertex(u);
        for arc in row(u) {
            let head = names.of_vertex(graph.csr().targets()[arc]);
            match W::KIND {
                WeightKind::Unit => writeln!(out, "{name}{delimiter}{head}"),
                _ => writeln!(out, "{name}{delimiter}{head}{delimiter}{}", Shown(weights[arc])),
            }
            .map_err(stream_error)?;
        }
    }
    Ok(())
}

/// The names of vertices as they are written.
struct Names<'a> {
    labels: &'a Labels,
    quoted: bool,
}

impl<'a> Names<'a> {
    fn of(graph: &'a Graph) -> Result<Self> {
        let labels = graph.labels();
        let mut quoted = false;
        if let Labels::Strings(names) = labels {
            for v in 0..names.len() as VertexId {
                let name = names.get(v);
                if name.chars().any(char::is_control) {
                    return Err(Error::invalid(format!("an edge list can't hold the vertex name {name:?}")));
                }
                quoted |= name.is_empty()
                    || name.starts_with(['#', '%', '\u{feff}'])
                    || name.contains([',', ';', '|', '"'])
                    || name.contains(char::is_whitespace);
            }
        }
        Ok(Names { labels, quoted })
    }

    fn of_vertex(&self, v: VertexId) -> Cow<'a, str> {
        let name = self.labels.name(v);
        if self.quoted { format!("\"{}\"", name.replace('"', "\"\"")).into() } else { name }
    }
}
