//! What the names in a header line say about the columns: which hold the ends of an edge, and which holds its weight.

use std::borrow::Cow;

use super::columns::unquoted;
use crate::formats::{Column, ReadOptions, WeightSource};
use crate::{Error, Result};

/// Names of the start and the end of an edge, without what [`base`] takes away. An arc leaves its tail and enters its
/// head.
const ENDS: [(&str, &str); 26] = [
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("source", "sink"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("tail", "head"),
    ("origin", "destination"),
    ("orig", "dest"),
    ("init", "term"),
    ("u", "v"),
    ("i", "j"),
    ("fnode", "tnode"),
    ("anode", "bnode"),
    ("parent", "child"),
    ("citing", "cited"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("departure", "arrival"),
    ("start", "end"),
    ("node1", "node2"),
    ("vertex1", "vertex2"),
    ("id1", "id2"),
    UNDIRECTED_ENDS,
];

/// The names that say that the two ends of an edge are alike.
pub(super) const UNDIRECTED_ENDS: (&str, &str) = ("endpoint1", "endpoint2");

/// Pairs that may also be the times of an edge.
const TIMES: [&str; 2] = ["departure", "start"];

/// The names of columns that tell edges apart, or into kinds.
const KEYS: [&str; 17] = [
    "",
    "id",
    "index",
    "key",
    "type",
    "label",
    "fid",
    "objectid",
    "edge",
    "edgeid",
    "link",
    "linkid",
    "row",
    "rowid",
    "osmid",
    "unnamed0",
    "indexlevel0",
];

/// The names of weights; some of them are also the beginning of names, as in `travel_time_s`.
const WEIGHTS: [&str; 10] =
    ["weight", "cost", "length", "distance", "dist", "duration", "traveltime", "minutes", "seconds", "price"];

/// The other names of weights.
const SHORT_WEIGHTS: [&str; 8] = ["w", "wt", "len", "time", "hours", "km", "meters", "miles"];

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::formats) struct Roles {
    /// The columns of the start and the end of an edge, from 0.
    pub(in crate::formats) ends: [usize; 2],
    /// The column of the weight, from 0.
    pub(in crate::formats) weight: Option<usize>,
    /// Whether the names say that edges have no direction.
    pub(in crate::formats) undirected: bool,
}

impl Roles {
    /// What the columns with these names hold, for people.
    pub(in crate::formats) fn described(&self, names: &[&[u8]], options: &ReadOptions) -> String {
        let shown = |column: usize| String::from_utf8_lossy(unquoted(names[column]));
        let [lead, to] = if self.undirected { ["join", "and"] } else { ["lead from", "to"] };
        let weights = match self.weight {
            Some(_) if options.leaves_weights() => "no weights are needed".to_owned(),
            Some(column) => format!("the weights are `{}`", shown(column)),
            None if options.weights == WeightSource::Unit => "weights are left out".to_owned(),
            None => "there are no weights".to_owned(),
        };
        format!("edges {lead} `{}` {to} `{}`, {weights}", shown(self.ends[0]), shown(self.ends[1]))
    }
}

/// A name in lower case, letters and digits only.
fn plain(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(unquoted(field)).to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A plain name without words such as `node` and `id` at its end.
fn base(plain: &str) -> &str {
    let mut base = plain;
    for words in [["id", "name"], ["node", "vertex"], ["station", "stop"]] {
        base = words.into_iter().find_map(|word| base.strip_suffix(word)).unwrap_or(base);
    }
    base
}

/// Two columns that hold the ends of edges.
struct Pair {
    at: [usize; 2],
    /// Whether it takes no more than these names to know a header: they are no usual names of vertices.
    is_certain: bool,
    /// Whether the names may also be those of times.
    may_be_times: bool,
    undirected: bool,
}

fn pairs(fields: &[&[u8]]) -> Vec<Pair> {
    let names: Vec<String> = fields.iter().map(|field| plain(field)).collect();
    let mut found: Vec<Pair> = Vec::new();
    for (from, to) in ENDS {
        let exact = |wanted: &str| names.iter().position(|name| name == wanted);
        let loose = |wanted: &str| names.iter().position(|name| base(name) == wanted);
        let Some(at) = exact(from).zip(exact(to)).or_else(|| loose(from).zip(loose(to))) else { continue };
        let at = [at.0, at.1];
        let is_counted = from.ends_with('1') && (from, to) != UNDIRECTED_ENDS;
        let is_short = at.iter().all(|&column| names[column].len() < 3);
        if found.iter().all(|pair| pair.at != at) {
            found.push(Pair {
                at,
                is_certain: !is_counted && !is_short,
                may_be_times: TIMES.contains(&from),
                undirected: (from, to) == UNDIRECTED_ENDS,
            });
        }
    }
    found
}

/// Whether the fields of a line name the two ends of an edge, so that it is hardly anything but a header.
pub(super) fn names_ends(fields: &[&[u8]]) -> bool {
    pairs(fields).iter().any(|pair| pair.is_certain)
}

/// The same where vertices may have these names: `u`, `v`, `node1`, `node2`.
pub(super) fn may_name_ends(fields: &[&[u8]]) -> bool {
    !pairs(fields).is_empty()
}

fn is_weight(plain: &str) -> bool {
    SHORT_WEIGHTS.contains(&plain) || WEIGHTS.iter().any(|name| plain.starts_with(name))
}

/// The columns of a list with this header.
///
/// # Errors
///
/// If the header lacks a column that was asked for, or leaves the ends or the weight unclear.
pub(in crate::formats) fn roles(fields: &[&[u8]], options: &ReadOptions) -> Result<Roles> {
    let names: Vec<String> = fields.iter().map(|field| plain(field)).collect();
    let (ends, undirected) = match &options.ends {
        Some(ends) => (told_ends(ends, fields.len(), Some(fields))?, false),
        None => ends(fields, &names)?,
    };
    let weight = match told_weight(&options.weights, ends, fields.len(), Some(fields))? {
        Some(told) => told,
        None => weight(fields, &names, ends, options)?,
    };
    Ok(Roles { ends, weight, undirected })
}

fn ends(fields: &[&[u8]], names: &[String]) -> Result<([usize; 2], bool)> {
    let skipped = names.iter().take_while(|name| KEYS.contains(&name.as_str()) || is_weight(name)).count();
    let first = [skipped, skipped + 1];
    let is_first = |pair: &Pair| first.iter().all(|column| pair.at.contains(column));
    let mut pairs = pairs(fields);
    pairs.retain(|pair| !pair.may_be_times || is_first(pair));
    let has_relation = names.iter().any(|name| ["relation", "predicate"].contains(&name.as_str()));
    match &pairs[..] {
        // In tables of relations, the head is the start.
        [pair] if !(has_relation && plain(fields[pair.at[0]]) == "tail") => Ok((pair.at, pair.undirected)),
        [] if skipped == 0 || fields.len() == 2 => Ok(([0, 1], false)),
        _ => match pairs.iter().find(|pair| is_first(pair)).filter(|_| !has_relation) {
            Some(pair) => Ok((pair.at, pair.undirected)),
            None => Err(Error::invalid(format!(
                "the header does not say which columns hold the ends of an edge; there are {}: `--from COLUMN --to \
                 COLUMN` (`ReadOptions::ends`) tells",
                listed(fields)
            ))),
        },
    }
}

fn weight(fields: &[&[u8]], names: &[String], ends: [usize; 2], options: &ReadOptions) -> Result<Option<usize>> {
    let others: Vec<usize> = (0..fields.len()).filter(|column| !ends.contains(column)).collect();
    let after = ends[0].max(ends[1]);
    let is_key = |name: &str| KEYS.contains(&name) || name.ends_with("id");
    let first = others.iter().copied().find(|&column| column > after && !is_key(&names[column]));
    let exact = others.iter().copied().find(|&column| names[column] == "weight");
    let named: Vec<usize> = others.into_iter().filter(|&column| is_weight(&names[column])).collect();
    match (exact, first, &named[..]) {
        (Some(column), ..) => Ok(Some(column)),
        (_, Some(first), named) if named.contains(&first) => Ok(Some(first)),
        (.., [column]) => Ok(Some(*column)),
        (_, first, []) => Ok(first),
        _ if options.leave_weights => Ok(None),
        _ => Err(Error::invalid(format!(
            "the header does not say which column holds the weights; there are {}: `--weights COLUMN` \
             (`ReadOptions::weights`) tells",
            listed(fields)
        ))),
    }
}

fn listed(fields: &[&[u8]]) -> String {
    fields.iter().map(|field| String::from_utf8_lossy(unquoted(field))).collect::<Vec<_>>().join(", ")
}

/// The columns that were asked for as the ends of edges, from 0.
pub(super) fn told_ends(ends: &[Column; 2], columns: usize, header: Option<&[&[u8]]>) -> Result<[usize; 2]> {
    let at = |column| place(column, columns, header, "take the ends of edges from");
    let found = [at(&ends[0])?, at(&ends[1])?];
    if found[0] == found[1] {
        return Err(Error::invalid(format!("the column `{}` can't hold both ends of an edge", ends[0])));
    }
    Ok(found)
}

/// The column that was asked for as weight, from 0. `Some(None)` if no weights are wanted, `None` if the file decides.
pub(super) fn told_weight(
    source: &WeightSource,
    ends: [usize; 2],
    columns: usize,
    header: Option<&[&[u8]]>,
) -> Result<Option<Option<usize>>> {
    match source {
        WeightSource::File => Ok(None),
        WeightSource::Unit => Ok(Some(None)),
        WeightSource::Column(column) => match place(column, columns, header, "take weights from")? {
            place if ends.contains(&place) => {
                let [from, to] = ends.map(|end| end + 1);
                let message =
                    format!("the column `{column}` can't hold weights: columns {from} and {to} hold the vertices");
                Err(Error::invalid(message))
            }
            place => Ok(Some(Some(place))),
        },
    }
}

fn place(column: &Column, columns: usize, header: Option<&[&[u8]]>, purpose: &str) -> Result<usize> {
    match column {
        Column::Number(0) => Err(Error::invalid("columns are counted from 1")),
        Column::Number(number) if *number > columns => {
            Err(Error::invalid(format!("there is no column {number} to {purpose}: there are {columns}")))
        }
        Column::Number(number) => Ok(number - 1),
        Column::Named(name) => {
            let Some(header) = header else {
                return Err(Error::invalid(format!(
                    "there is no header line to find the column `{name}` in; `--first-line header` \
                     (`ReadOptions::first_line`) takes the first line for one"
                )));
            };
            let of = |field: &&[u8]| -> Cow<'_, str> { String::from_utf8_lossy(unquoted(field)).into_owned().into() };
            let found = header.iter().position(|field| of(field) == name.as_str());
            found.ok_or_else(|| Error::invalid(format!("there is no column `{name}`; there are {}", listed(header))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(header: &str, options: &ReadOptions) -> std::result::Result<([usize; 2], Option<usize>), String> {
        let fields: Vec<&[u8]> = header.split(',').map(str::as_bytes).collect();
        roles(&fields, options).map(|roles| (roles.ends, roles.weight)).map_err(|error| error.to_string())
    }

    #[test]
    fn names_tell_ends_and_weights() {
        for (header, ends, weight) in [
            ("id,source,target,minutes", [1, 2], Some(3)),
            ("weight,source,target", [1, 2], Some(0)),
            ("target,source", [1, 0], None),
            ("Source,Target,Type,Id,Label,Weight", [0, 1], Some(5)),
            ("\"from\",\"to\",\"km\"", [0, 1], Some(2)),
            ("to,from,km", [1, 0], Some(2)),
            // An arc leaves its tail and enters its head.
            ("head,tail,weight", [1, 0], Some(2)),
            ("tail,head", [0, 1], None),
            ("init_node,term_node,capacity,length", [0, 1], Some(3)),
            ("u,v,key,osmid,length", [0, 1], Some(4)),
            ("u,v,key,osmid", [0, 1], None),
            (",source,target,cost", [1, 2], Some(3)),
            ("FromNodeId,ToNodeId", [0, 1], None),
            ("ANODE,BNODE,LENGTH", [0, 1], Some(2)),
            ("from,to,start,end", [0, 1], Some(2)),
            ("source,target,id,relation", [0, 1], Some(3)),
            ("start,end,travel_time_s", [0, 1], Some(2)),
            ("source,target,source_id,target_id", [0, 1], None),
            ("one,two,three", [0, 1], Some(2)),
            ("id,two", [0, 1], None),
        ] {
            assert_eq!(of(header, &ReadOptions::new()), Ok((ends, weight)), "{header}");
        }
    }

    #[test]
    fn what_names_leave_unclear_is_asked_for() {
        for (header, option) in [
            ("id,a1,b1,minutes", "`--from COLUMN --to COLUMN`"),
            ("weight,one,two", "`--from COLUMN --to COLUMN`"),
            ("head,relation,tail", "`--from COLUMN --to COLUMN`"),
            ("name,from,to,source,target", "`--from COLUMN --to COLUMN`"),
            ("from,to,capacity,length,free_flow_time,travel_time", "`--weights COLUMN`"),
        ] {
            let message = of(header, &ReadOptions::new()).unwrap_err();
            assert!(message.contains(option), "{header}: {message}");
        }
        let told = |from: &str, to: &str| ReadOptions::new().ends(from, to);
        assert_eq!(of("id,a1,b1,minutes", &told("b1", "a1")), Ok(([2, 1], Some(3))));
        assert_eq!(of("head,relation,tail", &told("head", "tail").weights(WeightSource::Unit)), Ok(([0, 2], None)));
        assert!(of("a,b,c", &told("a", "a")).unwrap_err().contains("both ends"));
        assert!(of("a,b,c", &told("a", "d")).unwrap_err().contains("there is no column `d`; there are a, b, c"));
        assert!(of("a,b,c", &ReadOptions::new().weights("b")).unwrap_err().contains("can't hold weights"));
        assert!(of("a,b,c", &ReadOptions::new().ends(2, 3).weights(2)).unwrap_err().contains("columns 2 and 3 hold"));
        let nobody_asks = ReadOptions::new().leave_weights(true);
        assert_eq!(of("from,to,capacity,length,time", &nobody_asks), Ok(([0, 1], None)));
    }
}
