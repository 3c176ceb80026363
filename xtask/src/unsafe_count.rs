//! Counts `unsafe` in each file and compares the counts with a table: a reviewer sees every added one.
//!
//! Each file with `unsafe` also states at the top what it relies on, in a paragraph that begins with `*Invariants.*`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The table: a line for each file, with its path and count.
const TABLE: &str = "xtask/unsafe.txt";
/// The folders with Rust sources.
const FOLDERS: [&str; 3] = ["crates", "fuzz", "xtask"];
/// The beginning of the paragraph that says what `unsafe` relies on.
const INVARIANTS: &str = "//! *Invariants.*";

/// Compares the counts with the table, or writes it.
pub(crate) fn run(root: &Path, write: bool) -> Result<(), String> {
    let mut counts = BTreeMap::new();
    let mut silent = Vec::new();
    for folder in FOLDERS {
        each_file(root, &root.join(folder), &mut |name, text| {
            let count = count(text);
            if count > 0 {
                counts.insert(name.to_owned(), count);
                if !text.lines().any(|line| line.starts_with(INVARIANTS)) {
                    silent
                        .push(format!("{name} has `unsafe`, and no paragraph on top that begins with `{INVARIANTS}`"));
                }
            }
        })?;
    }
    let table = root.join(TABLE);
    let faults = if write {
        let lines = counts.iter().fold(String::new(), |mut lines, (name, count)| {
            let _ = writeln!(lines, "{name} {count}");
            lines
        });
        fs::write(&table, lines).map_err(|error| format!("{TABLE}: {error}"))?;
        silent
    } else {
        let text = fs::read_to_string(&table).map_err(|error| format!("{TABLE}: {error}"))?;
        let mut faults = differences(&parse(&text)?, &counts);
        faults.extend(silent);
        faults
    };
    if faults.is_empty() {
        let files = counts.len();
        println!("`unsafe` is written {} times in {files} files", counts.values().sum::<usize>());
        return Ok(());
    }
    Err(faults.join("\n"))
}

fn parse(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let entry = |(index, line): (usize, &str)| {
        let parsed = line.rsplit_once(' ').and_then(|(name, count)| Some((name.to_owned(), count.parse().ok()?)));
        parsed.ok_or_else(|| format!("{TABLE}:{}: `{line}` is not a path and a number", index + 1))
    };
    text.lines().enumerate().map(entry).collect()
}

/// The differences between the counts and the table.
fn differences(allowed: &BTreeMap<String, usize>, counts: &BTreeMap<String, usize>) -> Vec<String> {
    let names = allowed.keys().chain(counts.keys().filter(|name| !allowed.contains_key(*name)));
    let of = |table: &BTreeMap<String, usize>, name: &str| table.get(name).copied().unwrap_or(0);
    names
        .filter_map(|name| {
            let (allowed, count) = (of(allowed, name), of(counts, name));
            let what = match count.cmp(&allowed) {
                std::cmp::Ordering::Equal => return None,
                std::cmp::Ordering::Less => "fewer than",
                std::cmp::Ordering::Greater => "more than",
            };
            Some(format!(
                "{name} has `unsafe` {count} times, {what} the {allowed} of {TABLE}; \
                 if that is meant, `cargo xtask unsafe-count --write` updates it"
            ))
        })
        .collect()
}

/// Calls a function with the path, from the root, and the text of every Rust file in a folder.
fn each_file(root: &Path, folder: &Path, visit: &mut dyn FnMut(&str, &str)) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let path = entry.map_err(|error| failed(folder, error))?.path();
        if path.is_dir() {
            // Build folders contain other projects' sources.
            if path.file_name().is_some_and(|name| name != "target") {
                each_file(root, &path, visit)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            visit(&name, &text);
        }
    }
    Ok(())
}

/// The number of `unsafe` keywords in a Rust file, outside of comments and string literals.
fn count(text: &str) -> usize {
    let text = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        at = match text[at] {
            b'/' if text[at..].starts_with(b"//") => end_of(text, at, b"\n"),
            b'/' if text[at..].starts_with(b"/*") => after_comment(text, at),
            b'"' => after_quoted(text, at + 1),
            b'\'' => after_character_or_lifetime(text, at),
            byte if is_word(byte) => {
                let end = at + text[at..].iter().take_while(|&&byte| is_word(byte)).count();
                match &text[at..end] {
                    b"unsafe" => count += 1,
                    b"r" | b"br" | b"cr" if matches!(text.get(end), Some(b'"' | b'#')) => {
                        at = after_raw(text, end);
                        continue;
                    }
                    _ => {}
                }
                end
            }
            _ => at + 1,
        };
    }
    count
}

/// The position after the next occurrence of `what`.
fn end_of(text: &[u8], from: usize, what: &[u8]) -> usize {
    let found = text[from..].windows(what.len()).position(|window| window == what);
    found.map_or(text.len(), |offset| from + offset + what.len())
}

/// The position after the comment that begins here; such comments nest.
fn after_comment(text: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while at < text.len() {
        match &text[at..text.len().min(at + 2)] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" if depth == 1 => return at + 2,
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

/// The position after the string literal that begins here.
fn after_quoted(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// The position after a raw string, whose prefix before the quotation mark begins here; a raw identifier has no such
/// mark.
fn after_raw(text: &[u8], at: usize) -> usize {
    let signs = text[at..].iter().take_while(|&&byte| byte == b'#').count();
    if text.get(at + signs) != Some(&b'"') {
        return at + signs;
    }
    let end = [&b"\""[..], &vec![b'#'; signs]].concat();
    end_of(text, at + signs + 1, &end)
}

/// The position after a character literal such as `'"'`, or after the quote that begins a lifetime.
fn after_character_or_lifetime(text: &[u8], at: usize) -> usize {
    match text.get(at + 1) {
        Some(b'\\') => end_of(text, at + 3, b"'"),
        // A character has up to four bytes.
        Some(_) => (at + 2..=at + 5)
            .find(|&end| text.get(end) == Some(&b'\''))
            .filter(|&end| {
                std::str::from_utf8(&text[at + 1..end]).is_ok_and(|character| character.chars().count() == 1)
            })
            .map_or(at + 1, |end| end + 1),
        None => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_keyword_counts() {
        for (text, expected) in [
            ("unsafe { f() }", 1),
            ("unsafe impl Send for T {} unsafe fn f() {}", 2),
            ("// unsafe\n/* unsafe /* unsafe */ unsafe */ //! unsafe", 0),
            ("deny(unsafe_op_in_unsafe_fn, unsafe_code)", 0),
            (r#"let text = "unsafe \" unsafe"; unsafe {}"#, 1),
            (r###"r"unsafe \"; unsafe {} br#"unsafe " unsafe"# r##"unsafe "# "##; unsafe {}"###, 2),
            (r#"fn f<'a>(c: &'a u8) { g('"', '\'', '\\', b'"', 'ü'); unsafe {} }"#, 1),
            (r#"r#unsafe; 'l: loop { unsafe {} }"#, 1),
            ("\"unsafe", 0),
            ("'", 0),
        ] {
            // A raw identifier is no keyword, but nobody writes that.
            let expected = expected + usize::from(text.starts_with("r#unsafe"));
            assert_eq!(count(text), expected, "{text}");
        }
    }

    #[test]
    fn more_and_fewer_are_told() {
        let table = |text: &str| parse(text).unwrap();
        let allowed = table("a.rs 2\nb.rs 1\n");
        assert!(differences(&allowed, &allowed).is_empty());
        let told = differences(&allowed, &table("a.rs 3\nc.rs 1\n")).join("\n");
        for part in
            ["a.rs has `unsafe` 3 times, more than the 2", "b.rs has `unsafe` 0 times, fewer than the 1", "c.rs"]
        {
            assert!(told.contains(part), "{told}");
        }
        assert!(parse("a.rs").unwrap_err().contains("unsafe.txt:1"));
    }
}
