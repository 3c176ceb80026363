//! What stands in a mark on a page: words, names in quotation marks, and the figures that they ask for.

use std::fmt;

/// A word of a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word without blanks.
    Word(String),
    /// A name in quotation marks, which are left out.
    Name(String),
    /// `/`, `,` or `;` that stands alone, or a comma or semicolon at the end of a word.
    Sign(char),
}

impl fmt::Display for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(out, "`{word}`"),
            Token::Name(name) => write!(out, "\"{name}\""),
            Token::Sign(sign) => write!(out, "`{sign}`"),
        }
    }
}

/// The words of a mark.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (name, after) = quoted.split_once('"').ok_or_else(|| format!("the name `{rest}` has no end"))?;
            all.push(Token::Name(name.split_whitespace().collect::<Vec<_>>().join(" ")));
            rest = after.trim_start();
            continue;
        }
        if matches!(first, ',' | ';') {
            all.push(Token::Sign(first));
            rest = rest[1..].trim_start();
            continue;
        }
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | ',' | ';')).unwrap_or(rest.len());
        let word = &rest[..end];
        all.push(if word == "/" { Token::Sign('/') } else { Token::Word(word.to_owned()) });
        rest = rest[end..].trim_start();
    }
    Ok(all)
}

/// Where a row is found. What a mark leaves out, the page or the table fills in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder of the results, such as `h200/singh`.
    pub(super) results: Option<String>,
    /// The experiment.
    pub(super) experiment: Option<String>,
    /// The graph.
    pub(super) graph: Option<String>,
}

impl Place {
    /// This place with its gaps filled from another one. A place that names an experiment is on all its graphs, unless it
    /// names a graph, too.
    pub(super) fn or(&self, other: &Place) -> Place {
        let graph = self.graph.clone().or_else(|| other.graph.clone().filter(|_| self.experiment.is_none()));
        let experiment = self.experiment.clone().or_else(|| other.experiment.clone());
        Place { results: self.results.clone().or_else(|| other.results.clone()), experiment, graph }
    }
}

/// What of a row, or of a graph, is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// The median time.
    Median,
    /// The least and the greatest sample.
    Range,
    /// The median by the host's clock.
    Host,
    /// The time of the work before the first search.
    Prepare,
    /// The time of the copy from the device.
    Download,
    /// The time that the paper reports.
    Paper,
    /// The clock of the times.
    Clock,
    /// The number of timed searches.
    Searches,
    /// A counter.
    Counter(String),
    /// The counter that the paper reports.
    PaperCounter(String),
    /// A fact about the graph.
    Fact(Fact),
}

impl What {
    /// The heading of a column that shows this.
    pub(super) fn text(&self) -> String {
        match self {
            What::Median => "median".to_owned(),
            What::Range => "least to greatest".to_owned(),
            What::Host => "host".to_owned(),
            What::Prepare => "prepare".to_owned(),
            What::Download => "download".to_owned(),
            What::Paper => "paper".to_owned(),
            What::Clock => "clock".to_owned(),
            What::Searches => "searches".to_owned(),
            What::Counter(name) => name.replace('_', " "),
            What::PaperCounter(name) => format!("{}, the paper's", name.replace('_', " ")),
            What::Fact(fact) => fact.text().to_owned(),
        }
    }
}

/// A fact about a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    /// The number of vertices.
    Vertices,
    /// The number of arcs.
    Arcs,
    /// The mean degree.
    Degree,
    /// The greatest degree.
    GreatestDegree,
    /// The number of levels of the recorded search.
    Levels,
    /// The number of weakly connected components.
    Components,
    /// The number of vertices of the largest of them.
    Largest,
    /// The number of strongly connected components, if the suite counts them.
    StrongComponents,
}

impl Fact {
    fn text(self) -> &'static str {
        match self {
            Fact::Vertices => "vertices",
            Fact::Arcs => "arcs",
            Fact::Degree => "degree",
            Fact::GreatestDegree => "greatest degree",
            Fact::Levels => "levels",
            Fact::Components => "components",
            Fact::Largest => "largest component",
            Fact::StrongComponents => "strong components",
        }
    }
}

/// Which figure of a ratio is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    /// The ratio of the medians on one graph.
    Value,
    /// Least to greatest: of the repeats on one graph, or of the ratios over the graphs.
    Range,
    /// The geometric mean over the graphs.
    Mean,
    /// The number of graphs.
    Graphs,
    /// The clock of both sides.
    Clock,
}

/// One side of a ratio, or a figure alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) place: Place,
    /// `None` for a fact about a graph, and for the row of a table.
    pub(super) series: Option<String>,
    pub(super) what: What,
}

/// A figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expression {
    /// Something of one row or graph.
    One(Operand),
    /// The first by the second.
    Ratio(Operand, Operand, Show),
}

/// Reads tokens from the front.
pub(super) struct Reader<'t> {
    tokens: &'t [Token],
    /// Tells folders with results from experiments.
    is_results: &'t dyn Fn(&str) -> bool,
}

impl<'t> Reader<'t> {
    pub(super) fn new(tokens: &'t [Token], is_results: &'t dyn Fn(&str) -> bool) -> Self {
        Reader { tokens, is_results }
    }

    pub(super) fn peek(&self) -> Option<&'t Token> {
        self.tokens.first()
    }

    pub(super) fn next(&mut self) -> Option<&'t Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    /// Takes this sign if it comes next.
    pub(super) fn sign(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.tokens = &self.tokens[usize::from(found)..];
        found
    }

    /// Takes this word if it comes next.
    pub(super) fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(next)) if next == word);
        self.tokens = &self.tokens[usize::from(found)..];
        found
    }

    /// Takes a name in quotation marks.
    pub(super) fn name(&mut self) -> Result<String, String> {
        match self.next() {
            Some(Token::Name(name)) => Ok(name.clone()),
            Some(other) => Err(format!("{other} stands where a name in quotation marks is wanted")),
            None => Err("a name in quotation marks is missing at the end".to_owned()),
        }
    }

    /// An error if anything is left.
    pub(super) fn end(&self) -> Result<(), String> {
        self.peek().map_or(Ok(()), |token| Err(format!("{token} is not understood")))
    }

    /// `[MACHINE/SUITE] [EXPERIMENT[/GRAPH]]`.
    pub(super) fn place(&mut self) -> Place {
        let mut place = Place::default();
        if let Some(Token::Word(word)) = self.peek().filter(|token| self.names_results(token)) {
            place.results = Some(word.clone());
            self.next();
        }
        if let Some(Token::Word(word)) = self.peek().filter(|token| !self.is_keyword(token)) {
            let (experiment, graph) =
                word.split_once('/').map_or((word.as_str(), None), |(experiment, graph)| (experiment, Some(graph)));
            place.experiment = Some(experiment.to_owned()).filter(|name| !name.is_empty());
            place.graph = graph.filter(|name| !name.is_empty()).map(str::to_owned);
            self.next();
        }
        place
    }

    /// Whether this next word is a folder of results: it is known as one, or another place follows.
    fn names_results(&self, token: &Token) -> bool {
        let is_place =
            |token: &Token| matches!(token, Token::Word(word) if word.contains('/')) && !self.is_keyword(token);
        matches!(token, Token::Word(word) if (self.is_results)(word))
            || (is_place(token) && self.tokens.get(1).is_some_and(is_place))
    }

    fn is_keyword(&self, token: &Token) -> bool {
        let Token::Word(word) = token else { return true };
        what(word).is_some()
            || show(word).is_some()
            || matches!(word.as_str(), "counter" | "paper-counter" | "row" | "as" | "rows" | "columns")
    }

    /// A figure.
    pub(super) fn expression(&mut self) -> Result<Expression, String> {
        let first = self.operand()?;
        if !self.sign('/') {
            return Ok(Expression::One(first));
        }
        let mut second = self.operand()?;
        // A `range` or `clock` at the end is of the ratio, not of its second side.
        let shown = match second.what {
            What::Range => Show::Range,
            What::Clock => Show::Clock,
            _ => self.show(),
        };
        if matches!(second.what, What::Range | What::Clock) {
            second.what = What::Median;
        }
        for side in [&first, &second] {
            if !matches!(side.what, What::Median | What::Paper | What::Counter(_)) {
                return Err("a ratio is of medians, counters, or what the paper says".to_owned());
            }
        }
        Ok(Expression::Ratio(first, second, shown))
    }

    fn show(&mut self) -> Show {
        let found = match self.peek() {
            Some(Token::Word(word)) => show(word),
            _ => None,
        };
        if found.is_some() {
            self.next();
        }
        found.unwrap_or(Show::Value)
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let place = self.place();
        let mut series = None;
        let is_row = self.word("row");
        if !is_row && matches!(self.peek(), Some(Token::Name(_))) {
            series = Some(self.name()?);
        }
        let named = self.word("counter");
        let what = if named || self.word("paper-counter") {
            let Some(Token::Word(counter)) = self.next() else { return Err("`counter` needs a name".to_owned()) };
            if named { What::Counter(counter.clone()) } else { What::PaperCounter(counter.clone()) }
        } else {
            let word = match self.peek() {
                Some(Token::Word(word)) => what(word),
                _ => None,
            };
            if word.is_some() {
                self.next();
            }
            word.unwrap_or(What::Median)
        };
        Ok(Operand { place, series, what })
    }
}

fn show(word: &str) -> Option<Show> {
    Some(match word {
        "range" => Show::Range,
        "mean" => Show::Mean,
        "graphs" => Show::Graphs,
        "clock" => Show::Clock,
        _ => return None,
    })
}

fn what(word: &str) -> Option<What> {
    Some(match word {
        "median" => What::Median,
        "range" => What::Range,
        "host" => What::Host,
        "prepare" => What::Prepare,
        "download" => What::Download,
        "paper" => What::Paper,
        "clock" => What::Clock,
        "searches" => What::Searches,
        "vertices" => What::Fact(Fact::Vertices),
        "arcs" => What::Fact(Fact::Arcs),
        "degree" => What::Fact(Fact::Degree),
        "greatest-degree" => What::Fact(Fact::GreatestDegree),
        "levels" => What::Fact(Fact::Levels),
        "components" => What::Fact(Fact::Components),
        "largest" => What::Fact(Fact::Largest),
        "strong-components" => What::Fact(Fact::StrongComponents),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Expression, String> {
        let tokens = tokens(text)?;
        let is_results = |name: &str| name == "h200/singh";
        let mut reader = Reader::new(&tokens, &is_results);
        let expression = reader.expression()?;
        reader.end().map(|()| expression)
    }

    #[test]
    fn figures_and_ratios_are_read() {
        let Expression::One(one) = read("h200/singh fig8/n10 \"GPU, plain\" range").unwrap() else { panic!() };
        assert_eq!((one.series.as_deref(), one.what), (Some("GPU, plain"), What::Range));
        assert_eq!(one.place.graph.as_deref(), Some("n10"));
        let Expression::Ratio(a, b, show) = read("fig8/n10 \"A\" paper / fig8/n22 \"B\" counter rounds").unwrap()
        else {
            panic!()
        };
        assert_eq!((a.what, b.what, show), (What::Paper, What::Counter("rounds".into()), Show::Value));
        assert_eq!(b.place.graph.as_deref(), Some("n22"));
        for (word, wanted) in
            [("range", Show::Range), ("mean", Show::Mean), ("graphs", Show::Graphs), ("clock", Show::Clock)]
        {
            let Expression::Ratio(_, b, show) = read(&format!("fig8 \"A\" / \"B\" {word}")).unwrap() else { panic!() };
            assert_eq!((b.what, show), (What::Median, wanted), "{word}");
        }
        assert!(matches!(read("fig8/n10 vertices").unwrap(), Expression::One(Operand { what: What::Fact(_), .. })));
    }

    #[test]
    fn mistakes_are_told() {
        for (text, told) in [
            ("\"A", "no end"),
            ("\"A\" \"B\"", "\"B\" is not understood"),
            ("\"A\" / \"B\" median nonsense", "`nonsense`"),
            ("\"A\" / vertices", "a ratio is of medians"),
            ("\"A\" host / \"B\"", "a ratio is of medians"),
            ("\"A\" counter", "needs a name"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn places_are_filled_from_the_page() {
        let place = |results: Option<&str>, experiment: Option<&str>, graph: Option<&str>| Place {
            results: results.map(str::to_owned),
            experiment: experiment.map(str::to_owned),
            graph: graph.map(str::to_owned),
        };
        let page = place(Some("a/b"), Some("e"), Some("g"));
        assert_eq!(place(None, None, None).or(&page), page);
        assert_eq!(place(None, Some("f"), None).or(&page), place(Some("a/b"), Some("f"), None), "on all its graphs");
        assert_eq!(place(Some("c/d"), None, None).or(&page), place(Some("c/d"), Some("e"), Some("g")));
        assert_eq!(place(None, None, Some("h")).or(&page), place(Some("a/b"), Some("e"), Some("h")));
    }
}
