//! Figures on Markdown pages, checked against the recorded results and filled in from them.
//!
//! A mark is an HTML comment, which readers of the page do not see. It stands right behind its figure, as in
//! `2.73 ms<!--= h200/singh fig8/n10 "GPU, plain" -->`, or around a whole table, from `<!-- table .. -->` to
//! `<!-- end -->`. `docs/bench.md` has the syntax. [`Page::of`] recomputes all of them: it says which figures differ, and has
//! the text with the right ones.
//!
//! What stands in code, between backticks, is no mark.
//!
//! *Invariants.* The page's text is the given one except for the figures that differ; a page made of its own text has no
//! differences but errors, which no rewriting mends.

mod expression;
mod table;
mod values;

use std::fmt;
use std::ops::Range;

pub use values::Recorded;

use expression::{Expression, Operand, Place, Reader};
use values::Value;

/// A page with its figures recomputed.
#[derive(Debug)]
pub struct Page {
    /// The text with the recorded figures.
    pub text: String,
    /// The number of marks, a table being one.
    pub marks: usize,
    /// What was different.
    pub differences: Vec<Difference>,
}

/// A figure or table that is not the recorded one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The line of its mark, from 1.
    pub line: usize,
    /// The mark.
    pub mark: String,
    /// What stands on the page; empty for a table.
    pub found: String,
    /// What was recorded, or why there is nothing.
    pub recorded: Result<String, String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { line, mark, found, recorded } = self;
        match recorded {
            Ok(recorded) if found.is_empty() => write!(out, "line {line}: `{mark}` has other lines{recorded}"),
            Ok(recorded) => write!(out, "line {line}: `{found}` is {recorded} by `{mark}`"),
            Err(why) => write!(out, "line {line}: `{mark}`: {why}"),
        }
    }
}

impl Page {
    /// Recomputes all figures of a page.
    pub fn of(text: &str, recorded: &Recorded) -> Self {
        let code = code(text);
        let mut page = Page { text: String::new(), marks: 0, differences: Vec::new() };
        let mut defaults = Place::default();
        // What is copied already.
        let mut done = 0;
        let mut from = 0;
        while let Some((start, content, end)) = comment(text, from) {
            from = end;
            let line = text[..start].matches('\n').count() + 1;
            let words = content.trim();
            if code.iter().any(|range| range.contains(&start)) {
                continue;
            }
            if let Some(mark) = words.strip_prefix('=') {
                page.marks += 1;
                page.text.push_str(&text[done..start]);
                done = start;
                page.figure(line, mark.trim(), &defaults, recorded);
            } else if let Some(mark) = after_word(words, "table") {
                page.marks += 1;
                let Some(close) = closing(text, end) else {
                    page.differs(line, words, "", Err("the table has no `<!-- end -->`".to_owned()));
                    continue;
                };
                page.text.push_str(&text[done..end]);
                (done, from) = (close, close);
                page.table(line, mark, &text[end..close], &defaults, recorded);
            } else if let Some(mark) = after_word(words, "results") {
                match place(mark, recorded) {
                    Ok(place) => defaults = place,
                    Err(why) => page.differs(line, words, "", Err(why)),
                }
            }
        }
        page.text.push_str(&text[done..]);
        page
    }

    fn differs(&mut self, line: usize, mark: &str, found: &str, recorded: Result<String, String>) {
        let mark = mark.split_whitespace().collect::<Vec<_>>().join(" ");
        self.differences.push(Difference { line, mark, found: found.to_owned(), recorded });
    }

    /// Compares the figure at the end of the text, and puts the right one in its place.
    fn figure(&mut self, line: usize, mark: &str, defaults: &Place, recorded: &Recorded) {
        match figure(mark, defaults, recorded).and_then(|value| replacement(&self.text, &value)) {
            Ok((start, right)) => {
                let found = self.text.split_off(start);
                self.text.push_str(&right);
                if found != right {
                    self.differs(line, mark, &found, Ok(right));
                }
            }
            Err(why) => self.differs(line, mark, "", Err(why)),
        }
    }

    /// Compares a table's lines, and appends the right ones.
    fn table(&mut self, line: usize, mark: &str, found: &str, defaults: &Place, recorded: &Recorded) {
        match table::table(recorded, mark, defaults) {
            Ok(lines) => {
                let right = format!("\n{lines}");
                if found != right {
                    let first = right.lines().zip(found.lines().chain(std::iter::repeat(""))).find(|(a, b)| a != b);
                    let told = first.map_or_else(String::new, |(right, _)| format!(", first `{right}`"));
                    self.differs(line, &format!("table {mark}"), "", Ok(told));
                }
                self.text.push_str(&right);
            }
            Err(why) => {
                self.text.push_str(found);
                self.differs(line, &format!("table {mark}"), "", Err(why));
            }
        }
    }
}

/// The next comment from a position: where it begins, what is in it, and where it ends.
fn comment(text: &str, from: usize) -> Option<(usize, &str, usize)> {
    let start = from + text[from..].find("<!--")?;
    let inside = start + "<!--".len();
    let length = text[inside..].find("-->")?;
    Some((start, &text[inside..inside + length], inside + length + "-->".len()))
}

/// Where the comment `end` begins that closes a table.
fn closing(text: &str, from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let (start, content, end) = comment(text, from)?;
        match content.trim() {
            "end" => return Some(start),
            other if after_word(other, "table").is_some() => return None,
            _ => from = end,
        }
    }
}

/// What follows a first word.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim())
}

/// Where the text is code: between fences, and between backticks on a line.
fn code(text: &str) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut fence = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let is_fence = line.trim_start().starts_with("```");
        match (fence, is_fence) {
            (None, true) => fence = Some(start),
            (Some(begun), true) => {
                all.push(begun..end);
                fence = None;
            }
            (None, false) => {
                let ticks: Vec<usize> = line.match_indices('`').map(|(at, _)| start + at).collect();
                all.extend(ticks.chunks_exact(2).map(|pair| pair[0]..pair[1]));
            }
            (Some(_), false) => {}
        }
        start = end;
    }
    all.extend(fence.map(|begun| begun..text.len()));
    all
}

/// A place that a mark `results` names.
fn place(mark: &str, recorded: &Recorded) -> Result<Place, String> {
    let tokens = expression::tokens(mark)?;
    let is_results = |name: &str| recorded.has(name);
    let mut reader = Reader::new(&tokens, &is_results);
    let place = reader.place();
    reader.end()?;
    recorded.results(&place).map(|_| place)
}

/// The value that a mark asks for.
fn figure(mark: &str, defaults: &Place, recorded: &Recorded) -> Result<Value, String> {
    let tokens = expression::tokens(mark)?;
    let is_results = |name: &str| recorded.has(name);
    let mut reader = Reader::new(&tokens, &is_results);
    let expression = reader.expression()?;
    reader.end()?;
    let on_page = |operand: Operand| Operand { place: operand.place.or(defaults), ..operand };
    let whole = match expression {
        Expression::One(operand) => Expression::One(on_page(operand)),
        Expression::Ratio(slow, fast, show) => {
            let slow = on_page(slow);
            // What the second side leaves out is as on the first.
            let place = fast.place.or(&slow.place);
            Expression::Ratio(slow, Operand { place, ..fast }, show)
        }
    };
    values::value(recorded, &whole)
}

/// Where the figure begins that the text ends with, and what should stand there. `?` stands for a figure to be filled in.
fn replacement(text: &str, value: &Value) -> Result<(usize, String), String> {
    let missing = || "no such figure stands before the mark; `?` is filled in".to_owned();
    if let Some(before) = text.strip_suffix('?') {
        return match value {
            Value::Nothing(_) => replacement("0", value),
            value => Ok((before.len(), value.cell())),
        };
    }
    match value {
        Value::Nothing(why) if why.is_empty() => Err("nothing is recorded there".to_owned()),
        Value::Nothing(why) => Err(format!("nothing is recorded there but: {why}")),
        Value::Word(word) => {
            const WORDS: [&str; 9] = [
                "device or host",
                "host, and the peer's own",
                "each its own",
                "its own",
                "a counter",
                "the paper's",
                "device",
                "host",
                "peer",
            ];
            let found = WORDS.into_iter().find(|known| text.ends_with(known)).ok_or_else(missing)?;
            Ok((text.len() - found.len(), word.clone()))
        }
        Value::Number(right) => {
            let start = number(text).ok_or_else(missing)?;
            Ok((start, like(&text[start..], right)))
        }
        Value::Range(least, greatest) => {
            let last = number(text).ok_or_else(missing)?;
            let between = [" – ", " to ", "–"].into_iter().find(|between| text[..last].ends_with(between));
            let between = between.ok_or("a range stands before the mark as `LEAST – GREATEST`, or as `?`")?;
            let middle = last - between.len();
            let first = number(&text[..middle]).ok_or_else(missing)?;
            let (least, greatest) = (like(&text[first..middle], least), like(&text[last..], greatest));
            Ok((first, format!("{least}{between}{greatest}")))
        }
    }
}

/// A ratio without its sign if it stands on the page so.
fn like(found: &str, right: &str) -> String {
    let bare = right.strip_suffix('×').filter(|_| !found.ends_with('×') && !found.contains(' '));
    bare.unwrap_or(right).to_owned()
}

/// Where the number begins, unit included, that the text ends with.
fn number(text: &str) -> Option<usize> {
    let unit = [" ns", " µs", " ms", " s", "×"].into_iter().find(|unit| text.ends_with(unit)).unwrap_or("");
    let digits = &text[..text.len() - unit.len()];
    let bytes = digits.as_bytes();
    let mut start = digits.len();
    while start > 0 {
        let is_part = match bytes[start - 1] {
            b'0'..=b'9' | b',' | b'.' => true,
            // A power of ten, such as 1.2e-3.
            b'-' => start > 1 && bytes[start - 2] == b'e' && start < digits.len(),
            b'e' => start > 1 && bytes.get(start) == Some(&b'-') && bytes[start - 2].is_ascii_digit(),
            _ => false,
        };
        if !is_part {
            break;
        }
        start -= 1;
    }
    let start = start + digits[start..].find(|c: char| c.is_ascii_digit())?;
    digits.ends_with(|c: char| c.is_ascii_digit()).then_some(start)
}

#[cfg(test)]
mod tests;
