//! A table of a page: its rows are graphs or series, and each column is a figure that takes from the row what it leaves out.

use std::fmt::Write;

use super::expression::{Expression, Operand, Place, Reader, Show, Token, What, tokens};
use super::values::{Recorded, distinct, value};
use crate::results::GraphFacts;
use crate::tables;

/// What a row of the table stands for.
enum Head {
    Graph(String),
    Series(String),
}

/// The lines of a table, from the words of its mark and what the page fills in.
pub(super) fn table(recorded: &Recorded, mark: &str, page: &Place) -> Result<String, String> {
    let tokens = tokens(mark)?;
    let is_results = |name: &str| recorded.has(name);
    let mut reader = Reader::new(&tokens, &is_results);
    let place = reader.place().or(page);
    reader.sign(';');
    let rows = if reader.word("rows") { heads(recorded, &mut reader, &place)? } else { all(recorded, &place)? };
    reader.sign(';');
    if !reader.word("columns") {
        return Err("`columns` is missing".to_owned());
    }
    let columns = columns(&mut reader)?;
    reader.end()?;
    let first = match rows.first() {
        Some((Head::Series(_), _)) => "series",
        _ => "graph",
    };
    let mut out = format!("| {first} |");
    for (heading, _) in &columns {
        let _ = write!(out, " {} |", tables::cell(heading));
    }
    out.push_str("\n|---|");
    for (_, expression) in &columns {
        out.push_str(if is_of_words(expression) { "---|" } else { "--:|" });
    }
    out.push('\n');
    let facts = |graph: &str| recorded.results(&place).ok().and_then(|results| results.graph(graph));
    let mut has_stand_in = false;
    for (head, name) in &rows {
        let of_graph = match head {
            Head::Graph(graph) => facts(graph),
            Head::Series(_) => None,
        };
        let title = name.clone().unwrap_or_else(|| head.title(of_graph));
        has_stand_in |= of_graph.is_some_and(|facts| facts.stand_in.is_some());
        let _ = write!(out, "| {}{} |", tables::cell(&title), tables::mark(of_graph));
        for (_, expression) in &columns {
            let found = value(recorded, &filled(expression, head, &place))?;
            let _ = write!(out, " {} |", tables::cell(&found.cell()));
        }
        out.push('\n');
    }
    if has_stand_in {
        out.push_str("\n† stands in for the graph that the paper used.\n");
    }
    Ok(out)
}

impl Head {
    fn title(&self, facts: Option<&GraphFacts>) -> String {
        match self {
            Head::Graph(graph) => facts.map_or_else(|| graph.clone(), |facts| facts.title.clone()),
            Head::Series(series) => series.clone(),
        }
    }
}

/// All graphs of the experiment, or all series on the graph that the place names.
fn all(recorded: &Recorded, place: &Place) -> Result<Vec<(Head, Option<String>)>, String> {
    let rows = recorded.rows(place)?;
    let Some(graph) = &place.graph else {
        let graphs = distinct(rows.iter().map(|row| &row.graph));
        return Ok(graphs.into_iter().map(|graph| (Head::Graph(graph.to_owned()), None)).collect());
    };
    let series = distinct(rows.iter().filter(|row| row.graph == *graph).map(|row| &row.series));
    Ok(series.into_iter().map(|series| (Head::Series(series.to_owned()), None)).collect())
}

/// Graphs, ranges of graphs such as `n64..n512`, and series in quotation marks, each with `as "NAME"` if it is to be called so.
fn heads(recorded: &Recorded, reader: &mut Reader<'_>, place: &Place) -> Result<Vec<(Head, Option<String>)>, String> {
    let rows = recorded.rows(place)?;
    let graphs = distinct(rows.iter().map(|row| &row.graph));
    let position = |graph: &str| {
        let found = graphs.iter().position(|known| *known == graph);
        found.ok_or_else(|| format!("there is no graph `{graph}`; there are {}", graphs.join(", ")))
    };
    let mut heads: Vec<(Head, Option<String>)> = Vec::new();
    loop {
        match reader.peek() {
            Some(Token::Sign(',')) => {
                reader.next();
            }
            Some(Token::Name(series)) => {
                reader.next();
                heads.push((Head::Series(series.clone()), None));
            }
            Some(Token::Word(word)) if word == "as" => {
                reader.next();
                let name = reader.name()?;
                heads.last_mut().ok_or("`as` stands behind a row")?.1 = Some(name);
            }
            Some(Token::Word(word)) if word != "columns" => {
                reader.next();
                let (from, to) = match word.split_once("..") {
                    None => (position(word)?, position(word)?),
                    Some((from, to)) => (
                        if from.is_empty() { 0 } else { position(from)? },
                        if to.is_empty() { graphs.len() - 1 } else { position(to)? },
                    ),
                };
                let some = graphs.get(from..=to).filter(|some| !some.is_empty());
                let some = some.ok_or_else(|| format!("there are no graphs `{word}`"))?;
                heads.extend(some.iter().map(|graph| (Head::Graph((*graph).to_owned()), None)));
            }
            _ if heads.is_empty() => return Err("`rows` names no graph and no series".to_owned()),
            _ => return Ok(heads),
        }
    }
}

/// Figures with their headings, separated by commas.
fn columns(reader: &mut Reader<'_>) -> Result<Vec<(String, Expression)>, String> {
    let mut columns = Vec::new();
    loop {
        let expression = reader.expression()?;
        let heading = if reader.word("as") { reader.name()? } else { heading(&expression) };
        columns.push((heading, expression));
        if !reader.sign(',') {
            return Ok(columns);
        }
    }
}

fn heading(expression: &Expression) -> String {
    let side = |operand: &Operand| match (&operand.series, &operand.what) {
        (Some(series), What::Median) => series.clone(),
        (Some(series), what) => format!("{series}, {}", what.text()),
        (None, what) => what.text(),
    };
    match expression {
        Expression::One(operand) => side(operand),
        Expression::Ratio(slow, fast, _) => format!("{} / {}", side(slow), side(fast)),
    }
}

fn is_of_words(expression: &Expression) -> bool {
    match expression {
        Expression::One(operand) => operand.what == What::Clock,
        Expression::Ratio(_, _, show) => *show == Show::Clock,
    }
}

/// A column's figure in a row.
fn filled(expression: &Expression, head: &Head, place: &Place) -> Expression {
    let side = |operand: &Operand| {
        let mut filled = operand.clone();
        match head {
            Head::Graph(graph) => filled.place.graph = operand.place.graph.clone().or_else(|| Some(graph.clone())),
            Head::Series(series) => filled.series = operand.series.clone().or_else(|| Some(series.clone())),
        }
        filled.place = filled.place.or(place);
        filled
    };
    match expression {
        Expression::One(operand) => Expression::One(side(operand)),
        Expression::Ratio(slow, fast, show) => Expression::Ratio(side(slow), side(fast), *show),
    }
}
