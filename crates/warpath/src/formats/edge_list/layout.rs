//! The layout of a list: the declarations in its comments, and the form of its lines.

use super::Failure;
use super::columns::{Fields, unquoted};
use super::header::{self, told_ends, told_weight};
use super::separator;
use crate::Result;
use crate::formats::text::{Lines, Malformed, Parsed, digits, unsigned, words};
use crate::formats::weight_column::Decimals;
use crate::formats::{Column, DecimalMark, FirstLine, ReadOptions, Separator, WeightSource};
use crate::graph::Direction;

/// The declarations in comments before the first edge.
#[derive(Default)]
pub(super) struct Comments<'a> {
    /// What a comment, or the names of the ends, say about direction.
    pub(super) direction: Option<Direction>,
    /// `# Nodes: V`
    pub(super) nodes: Option<u64>,
    /// `# Nodes: V Edges: E Ids: FIRST..LAST`: the number of edges and the first name.
    pub(super) whole: Option<(&'a [u8], u64, u64)>,
    /// `# Node: NAME`
    pub(super) names: Vec<&'a [u8]>,
}

impl<'a> Comments<'a> {
    /// The declarations on top of a text.
    pub(super) fn of(text: &'a [u8]) -> Parsed<'a, Self> {
        let mut comments = Comments::default();
        comments.add(text)?;
        Ok(comments)
    }

    /// Adds the declarations on top of the text after a header.
    pub(super) fn add(&mut self, text: &'a [u8]) -> Parsed<'a, ()> {
        for line in Lines::new(text).take_while(|line| is_skipped(line)) {
            check_line_end(line)?;
            let Some(comment) = line.trim_ascii().strip_prefix(b"#").map(<[u8]>::trim_ascii_start) else { continue };
            let starts_with =
                |word: &str| comment.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()));
            if starts_with("undirected graph") {
                self.direction = Some(Direction::Undirected);
            } else if starts_with("directed graph") && self.direction.is_none() {
                self.direction = Some(Direction::Directed);
            }
            if let Some(name) = comment.strip_prefix(b"Node:") {
                self.names.push(name.trim_ascii());
            }
            let words: Vec<&[u8]> = words(comment).collect();
            if let [b"Nodes:", nodes, rest @ ..] = &words[..] {
                self.nodes = unsigned(nodes);
                if let [b"Edges:", edges, b"Ids:", ids] = rest
                    && let (Some(edges), (first, first_end)) = (unsigned(edges), digits(ids, 0))
                    && first_end > 0
                    && ids[first_end..].starts_with(b"..")
                {
                    self.whole = Some((line, edges, first));
                }
            }
        }
        Ok(())
    }
}

/// An error if a carriage return stands inside a line: some other program may have meant it as the line's end.
pub(super) fn check_line_end(line: &[u8]) -> Parsed<'_, ()> {
    match line.trim_ascii_end().iter().position(|&byte| byte == b'\r') {
        Some(at) => {
            Err(Malformed::new(&line[at..], "a carriage return stands inside a line; lines end with a line feed"))
        }
        None => Ok(()),
    }
}

#[inline]
pub(super) fn is_skipped(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start(), [] | [b'#' | b'%', ..])
}

/// The form of a list's lines.
pub(super) struct Layout<'a> {
    pub(super) separator: Separator,
    pub(super) columns: usize,
    /// Which columns hold the ends of an edge, from 0.
    pub(super) ends: [usize; 2],
    /// Which column holds the weight, from 0.
    pub(super) weight: Option<usize>,
    pub(super) decimals: Decimals,
    /// The first line, if it holds counts: the line, V and perhaps E.
    pub(super) counts: Option<(&'a [u8], u64, Option<u64>)>,
    /// The first line, if it is taken for an edge but might be counts.
    pub(super) doubtful: Option<(&'a [u8], u64, u64)>,
    /// The first line, if nobody but its looks says that it is a header, and the names in the columns of the ends.
    pub(super) header: Option<(&'a [u8], [&'a [u8]; 2])>,
}

/// How many lines are looked at to find the layout.
pub(in crate::formats) const SAMPLED_LINES: usize = 100;

/// Some of the first lines, without comments: each with the text from it on, and the text after it.
fn sample(text: &[u8]) -> Vec<(&[u8], &[u8], &[u8])> {
    let mut lines = Lines::new(text);
    let mut sample = Vec::new();
    while sample.len() < SAMPLED_LINES {
        let before = lines.rest();
        let Some(line) = lines.next() else { break };
        if !is_skipped(line) {
            sample.push((line, before, lines.rest()));
        }
    }
    sample
}

impl<'a> Layout<'a> {
    /// The layout, and the text from the first edge on. A header may add to what the comments declare.
    pub(super) fn find(
        text: &'a [u8],
        options: &ReadOptions,
        comments: &mut Comments<'a>,
    ) -> std::result::Result<(Self, &'a [u8]), Failure<'a>> {
        let sample = sample(text);
        let lines: Vec<&[u8]> = sample.iter().map(|&(line, ..)| line).collect();
        lines.iter().try_for_each(|line| check_line_end(line))?;
        let weight = match options.weights {
            WeightSource::File => Some(2),
            WeightSource::Column(Column::Number(number)) => number.checked_sub(1),
            WeightSource::Unit | WeightSource::Column(Column::Named(_)) => None,
        };
        let separator = match options.separator {
            Some(separator) => separator,
            None => separator::find(&lines, weight, options.decimal)?,
        };
        let mut layout = Layout {
            separator,
            columns: 2,
            ends: [0, 1],
            weight: None,
            decimals: decimals(options, separator),
            counts: None,
            doubtful: None,
            header: None,
        };
        let Some(&(line, before, after)) = sample.first() else {
            layout.set_columns(options)?;
            return Ok((layout, text));
        };
        let first = First { line, body: &lines[1..], separator, weight, options };
        let kind = match options.first_line {
            FirstLine::Auto if comments.nodes.is_some() => FirstLine::Edge,
            FirstLine::Auto => first.guess()?,
            given => given,
        };
        let model = match kind {
            FirstLine::Counts | FirstLine::Header => lines.get(1).copied(),
            FirstLine::Auto | FirstLine::Edge => Some(line),
        };
        let model = model.or((kind == FirstLine::Header).then_some(line));
        layout.columns = model.map_or(2, |line| Fields::new(line, separator).count());
        if let Some(model) = model.filter(|_| layout.columns < 2) {
            return Err(Malformed::new(model, "two vertices are expected on a line").into());
        }
        let mut body = before;
        match kind {
            FirstLine::Counts => {
                let count = |token| unsigned(token).ok_or_else(|| Malformed::new(token, "a count is expected"));
                let here = first.own_fields();
                let edges = here.get(1).map(|token| count(token)).transpose()?;
                layout.counts = Some((line, count(here.first().copied().unwrap_or_default())?, edges));
                body = after;
            }
            FirstLine::Header => {
                let names = first.fields();
                layout.take_header(line, &names, options, comments)?;
                if options.direction.is_none() {
                    comments.direction = first.stated_direction(&names)?.or(comments.direction);
                }
                comments.add(after)?;
                return Ok((layout, after));
            }
            FirstLine::Auto | FirstLine::Edge => {
                if let (FirstLine::Auto, [u, v]) = (kind, &first.own_fields()[..]) {
                    layout.doubtful = unsigned(u).zip(unsigned(v)).map(|(u, v)| (line, u, v));
                }
            }
        }
        layout.set_columns(options)?;
        Ok((layout, body))
    }

    /// The ends and the weight by the places of columns.
    fn set_columns(&mut self, options: &ReadOptions) -> Result<()> {
        if let Some(ends) = &options.ends {
            self.ends = told_ends(ends, self.columns, None)?;
        }
        let after = self.ends[0].max(self.ends[1]) + 1;
        let by_place = Some(after).filter(|&column| column < self.columns);
        self.weight = told_weight(&options.weights, self.ends, self.columns, None)?.unwrap_or(by_place);
        if by_place.is_some() && options.weights == WeightSource::File && !options.leave_weights {
            options.notes.add(format!(
                "column {} is read as the weights; `--weights COLUMN` takes another column, `--weights unit` none",
                after + 1
            ));
        }
        Ok(())
    }

    /// Leaves the column of the weights unread if nobody will ask for them; a note says so if it holds something else.
    pub(super) fn leave_weights(&mut self, body: &[u8], options: &ReadOptions) {
        if !options.leaves_weights() {
            return;
        }
        let Some(column) = self.weight.take() else { return };
        let holds_text = |line: &[u8]| {
            let field = Fields::new(line, self.separator).nth(column);
            field.is_some_and(|field| !resembles_number(field))
        };
        if sample(body).iter().any(|&(line, ..)| holds_text(line)) {
            options
                .notes
                .add(format!("column {} holds no numbers; it is not read, for no weights are needed", column + 1));
        }
    }

    /// The ends and the weight by the names of columns.
    fn take_header(
        &mut self,
        line: &'a [u8],
        names: &[&'a [u8]],
        options: &ReadOptions,
        comments: &mut Comments<'a>,
    ) -> std::result::Result<(), Failure<'a>> {
        if names.len() != self.columns {
            if options.first_line == FirstLine::Header {
                // A line that names no columns, and is skipped because that was asked for.
                return Ok(self.set_columns(options)?);
            }
            let message = format!("this header names {} columns, but the next line has {}", names.len(), self.columns);
            return Err(Malformed::new(line, message).into());
        }
        let roles = header::roles(names, options)?;
        (self.ends, self.weight) = (roles.ends, roles.weight);
        if roles.undirected {
            comments.direction = Some(Direction::Undirected);
        }
        if options.first_line == FirstLine::Auto {
            self.header = Some((line, roles.ends.map(|column| names[column])));
        }
        options.notes.add(format!(
            "the first line is read as a header: {}; `--first-line edge`, `--from` with `--to`, and `--weights` change \
             that",
            roles.described(names, options)
        ));
        Ok(())
    }
}

/// Which numbers a list has.
fn decimals(options: &ReadOptions, separator: Separator) -> Decimals {
    match options.decimal {
        Some(DecimalMark::Point) => Decimals::Point,
        Some(DecimalMark::Comma) => Decimals::Comma,
        None if separator == Separator::Semicolon => Decimals::OneOfBoth,
        None => Decimals::Point,
    }
}

/// The first line of a list, before it is known what it is.
struct First<'a, 'b> {
    line: &'a [u8],
    /// Some of the lines after it.
    body: &'b [&'a [u8]],
    separator: Separator,
    /// The column of the weight, from 0, if that is known.
    weight: Option<usize>,
    options: &'b ReadOptions,
}

impl<'a> First<'a, '_> {
    fn fields(&self) -> Vec<&'a [u8]> {
        Fields::new(self.line, self.separator).collect()
    }

    /// The columns by the separator of this line, which may differ from the others' if it holds counts.
    fn own_fields(&self) -> Vec<&'a [u8]> {
        let separator = match self.options.separator {
            Some(given) => given,
            None => separator::find(&[self.line], self.weight, self.options.decimal).unwrap_or(self.separator),
        };
        Fields::new(self.line, separator).collect()
    }

    /// What the line is, from its looks and the lines after it; `Auto` for an edge that might be counts.
    ///
    /// A header is a line whose weight is no number, or that names the ends of edges, if these names are not vertices.
    fn guess(&self) -> Parsed<'a, FirstLine> {
        let (fields, own) = (self.fields(), self.own_fields());
        let integers = |fields: &[&[u8]]| fields.iter().take(2).all(|field| unsigned(field).is_some());
        let names_ends = header::names_ends(&fields);
        let Some(&second) = self.body.first() else {
            return Ok(if names_ends { FirstLine::Header } else { FirstLine::Edge });
        };
        let second: Vec<&[u8]> = Fields::new(second, self.separator).collect();
        if own.len() != second.len() && integers(&own) {
            // The first line is no edge like the others. If these are integers too, it can only be counts; but not if
            // it has three columns: then it is the first line of a list that later loses its weights.
            let counts = second.len() >= 2 && integers(&second) && (own.len() <= 2 || own.len() > 3);
            return Ok(if counts { FirstLine::Counts } else { FirstLine::Edge });
        }
        if self.has_asked_names(&fields) {
            return Ok(FirstLine::Header);
        }
        let weight = self.weight.and_then(|column| fields.get(column).copied().zip(second.get(column).copied()));
        let is_vertex = self.has_vertices(&fields);
        let doubtful = || Malformed::new(self.line, IS_HEADER_OR_EDGE);
        if names_ends {
            return match weight {
                Some((weight, _)) if resembles_number(weight) && is_vertex => Ok(FirstLine::Edge),
                Some((weight, _)) if resembles_number(weight) => Err(doubtful()),
                _ if is_vertex => Err(doubtful()),
                _ => Ok(FirstLine::Header),
            };
        }
        let heads = |(above, below): (&[u8], &[u8])| !resembles_number(above) && resembles_number(below);
        let looks_like_one = fields.len() == second.len()
            && !fields.iter().take(2).any(|field| resembles_number(field))
            && !weight.is_some_and(|(above, _)| resembles_number(above))
            && fields.iter().copied().zip(second.iter().copied()).any(heads);
        match (looks_like_one, is_vertex) {
            (true, false) => Ok(FirstLine::Header),
            (true, true) => Err(doubtful()),
            (false, false) if weight.is_none() && header::may_name_ends(&fields) => Err(doubtful()),
            _ if integers(&fields) && fields.len() == 2 => Ok(FirstLine::Auto),
            _ => Ok(FirstLine::Edge),
        }
    }

    /// What a column `type` says about the direction of edges, as Gephi writes it, if this line is a header.
    fn stated_direction(&self, names: &[&[u8]]) -> Parsed<'a, Option<Direction>> {
        let Some(column) = names.iter().position(|name| unquoted(name).eq_ignore_ascii_case(b"type")) else {
            return Ok(None);
        };
        let mut stated = None;
        for line in self.body {
            let word = Fields::new(line, self.separator).nth(column).map(unquoted);
            let Some(here) = word.and_then(direction_of) else { return Ok(None) };
            if *stated.get_or_insert(here) != here {
                return Err(Malformed::new(line, MIXED_DIRECTIONS));
            }
        }
        Ok(stated)
    }

    /// Whether the line has the names of columns that were asked for.
    fn has_asked_names(&self, fields: &[&[u8]]) -> bool {
        let weight = match &self.options.weights {
            WeightSource::Column(column) => Some(column),
            _ => None,
        };
        let mut asked = (self.options.ends.iter().flatten().chain(weight)).filter_map(|column| match column {
            Column::Named(name) => Some(name.as_bytes()),
            Column::Number(_) => None,
        });
        asked.any(|name| fields.iter().any(|field| unquoted(field) == name))
    }

    /// Whether some line after it has one of its first two names in its first two columns.
    fn has_vertices(&self, fields: &[&[u8]]) -> bool {
        let ends = |line| Fields::new(line, self.separator).take(2);
        self.body.iter().any(|line| ends(line).any(|name| fields.iter().take(2).any(|field| *field == name)))
    }
}

/// The direction that this word in a column `type` states.
pub(in crate::formats) fn direction_of(word: &[u8]) -> Option<Direction> {
    match word {
        word if word.eq_ignore_ascii_case(b"undirected") => Some(Direction::Undirected),
        word if word.eq_ignore_ascii_case(b"directed") => Some(Direction::Directed),
        _ => None,
    }
}

/// What is wrong with a column `type` that states both directions.
pub(in crate::formats) const MIXED_DIRECTIONS: &str = "some edges are directed and some are not; `--directed` or `--undirected` (`ReadOptions::direction`) says what all of them are";

/// What is wrong with a first line that may be a header or an edge.
pub(super) const IS_HEADER_OR_EDGE: &str = "this line may be a header or an edge: `--first-line header` or `--first-line edge` (`ReadOptions::first_line`) tells";

/// Whether a text is a number, or stands where one is missing.
fn resembles_number(field: &[u8]) -> bool {
    const MISSING: [&str; 11] = ["", "-", "?", "na", "n/a", "nan", "inf", "infinity", "null", "none", "nil"];
    let text = unquoted(field);
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    let digits = digits.strip_prefix(b".").unwrap_or(digits);
    digits.first().is_some_and(u8::is_ascii_digit)
        || MISSING.iter().any(|missing| digits.eq_ignore_ascii_case(missing.as_bytes()))
}
