//! `cargo xtask structure`: imports go one way, and no file or function is too long.
//!
//! *Rooms.* A room is a module right below the root of a crate, with everything in it. `xtask/structure.toml` lists the
//! library's rooms in order: a room may import those before it, and never those beside or behind it.
//!
//! *Circles.* No files of a crate import each other in a circle. A file and the files in its folder count as one, and
//! may use each other: `bfs/mod.rs` and `bfs/queue.rs`.
//!
//! *Lengths.* No source file has more than 600 lines, and no Rust function more than 100.
//!
//! Exceptions stand in the same table, each with a reason. An exception that is no longer needed is an error, too.
//! [`modules`] defines an import.

mod circles;
mod modules;
mod sizes;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use modules::{Import, Modules};
use sizes::Length;

/// The order of rooms, and the exceptions.
const TABLE: &str = "xtask/structure.toml";
/// The most lines of a file.
const FILE_LINES: usize = 600;
/// The most lines of a function.
const FUNCTION_LINES: usize = 100;

/// The contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// The rooms of each crate, by its folder, in their order; rooms in one row don't import each other.
    #[serde(default)]
    rooms: BTreeMap<String, Vec<Vec<String>>>,
    #[serde(default)]
    file: Vec<LongFile>,
    #[serde(default)]
    function: Vec<LongFunction>,
    #[serde(default)]
    import: Vec<AllowedImport>,
}

/// A file that may be longer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongFile {
    file: String,
    reason: String,
}

/// A function that may be longer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongFunction {
    file: String,
    name: String,
    reason: String,
}

/// An import that may go against the order, or close a circle.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedImport {
    from: String,
    to: String,
    reason: String,
}

/// Checks everything; the error has a line for each fault.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let text = fs::read_to_string(root.join(TABLE)).map_err(|error| format!("{TABLE}: {error}"))?;
    let table: Table = toml::from_str(&text).map_err(|error| format!("{TABLE}: {error}"))?;
    let mut faults = table.without_reason();
    let mut crates = Vec::new();
    for entry in fs::read_dir(root.join("crates")).map_err(|error| format!("crates: {error}"))? {
        crates.push(entry.map_err(|error| format!("crates: {error}"))?.path());
    }
    crates.push(root.join("xtask"));
    crates.sort();
    let (mut files, mut of_imports) = (0, 0);
    let mut used = vec![false; table.import.len()];
    for folder in crates {
        let Some(root_file) = modules::root_file(&folder) else { continue };
        let modules = Modules::read(root, &root_file)?;
        let imports = modules.imports();
        files += modules.0.len();
        of_imports += imports.len();
        let name = folder.strip_prefix(root).unwrap_or(&folder).to_string_lossy().replace('\\', "/");
        let rooms = table.rooms.get(&name).map(Vec::as_slice);
        faults.extend(faults_of_imports(&modules, &imports, rooms, &table.import, &mut used));
    }
    let needless = table.import.iter().zip(used).filter(|(_, used)| !used);
    faults.extend(needless.map(|(allowed, _)| {
        format!("{TABLE}: the exception for an import of {} by {} is not needed; remove it", allowed.to, allowed.from)
    }));
    let lengths = sizes::lengths(root)?;
    faults.extend(faults_of_lengths(&lengths, &table));
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let exceptions = table.file.len() + table.function.len() + table.import.len();
    println!("{of_imports} imports between {files} modules go one way; {exceptions} exceptions in {TABLE}");
    Ok(())
}

impl Table {
    fn without_reason(&self) -> Vec<String> {
        let files = self.file.iter().map(|entry| (&entry.file, &entry.reason));
        let functions = self.function.iter().map(|entry| (&entry.file, &entry.reason));
        let imports = self.import.iter().map(|entry| (&entry.from, &entry.reason));
        let all = files.chain(functions).chain(imports);
        let silent = all.filter(|(_, reason)| reason.trim().is_empty());
        silent.map(|(file, _)| format!("{TABLE}: an exception for {file} has no reason")).collect()
    }
}

/// Finds imports against the order of rooms, and circles. Notes which exceptions were needed.
fn faults_of_imports(
    modules: &Modules,
    imports: &[Import],
    rooms: Option<&[Vec<String>]>,
    allowed: &[AllowedImport],
    used: &mut [bool],
) -> Vec<String> {
    let file = |module: usize| modules.0[module].file.as_str();
    let exception = |import: &Import| {
        allowed.iter().position(|entry| entry.from == file(import.from) && entry.to == file(import.to))
    };
    let mut faults = Vec::new();
    if let Some(rooms) = rooms {
        faults.extend(faults_of_rooms(modules, rooms));
        for import in imports {
            let Some(fault) = against_order(modules, import, rooms) else { continue };
            match exception(import) {
                Some(index) => used[index] = true,
                None => faults.push(fault),
            }
        }
    }
    let (excepted, others): (Vec<_>, Vec<_>) = imports.iter().cloned().partition(|import| exception(import).is_some());
    for circle in circles::circles(modules, &others) {
        let steps: Vec<String> = circle
            .iter()
            .map(|import| format!("    {}:{} imports {}", file(import.from), import.line, file(import.to)))
            .collect();
        faults.push(format!("{} files import each other in a circle:\n{}", circle.len(), steps.join("\n")));
    }
    for import in excepted {
        let with = [&others[..], std::slice::from_ref(&import)].concat();
        if circles::circles(modules, &with).iter().any(|circle| circle.contains(&import)) {
            used[exception(&import).unwrap_or_default()] = true;
        }
    }
    faults
}

/// Rooms missing from the table, and rooms in it that do not exist.
fn faults_of_rooms(modules: &Modules, rooms: &[Vec<String>]) -> Vec<String> {
    let there: Vec<&String> = modules.0.iter().filter(|module| module.path.len() == 1).map(|m| &m.path[0]).collect();
    let stated = || rooms.iter().flatten();
    let missing = there.iter().filter(|room| !stated().any(|known| known == **room));
    let missing = missing.map(|room| format!("{TABLE}: the room `{room}` has no place in the order of rooms"));
    let gone = stated().filter(|room| !there.contains(room));
    missing.chain(gone.map(|room| format!("{TABLE}: there is no room `{room}`"))).collect()
}

/// Why an import breaks the order of rooms, if it does.
fn against_order(modules: &Modules, import: &Import, rooms: &[Vec<String>]) -> Option<String> {
    let (from, to) = (&modules.0[import.from], &modules.0[import.to]);
    let (room, other) = (from.path.first()?, to.path.first()?);
    let row = |room: &String| rooms.iter().position(|row| row.contains(room));
    let (here, there) = (row(room)?, row(other)?);
    let place = match there.cmp(&here) {
        _ if room == other => return None,
        std::cmp::Ordering::Less => return None,
        std::cmp::Ordering::Equal => "beside",
        std::cmp::Ordering::Greater => "behind",
    };
    Some(format!("{}:{} imports {}, but the room `{other}` is {place} `{room}`", from.file, import.line, to.file))
}

/// Files and functions that are too long, and exceptions for ones that are not.
fn faults_of_lengths(lengths: &[Length], table: &Table) -> Vec<String> {
    let mut faults = Vec::new();
    let is = |entry: &LongFunction, length: &Length| {
        entry.file == length.file && length.function.as_ref() == Some(&entry.name)
    };
    for length in lengths {
        let Length { file, function, at, lines } = length;
        match function {
            None if *lines > FILE_LINES && !table.file.iter().any(|entry| entry.file == *file) => {
                faults.push(format!("{file} has {lines} lines, more than {FILE_LINES}"));
            }
            Some(name) if *lines > FUNCTION_LINES && !table.function.iter().any(|entry| is(entry, length)) => {
                faults.push(format!("{file}:{at} `{name}` has {lines} lines, more than {FUNCTION_LINES}"));
            }
            _ => {}
        }
    }
    let too_long =
        |length: &&Length| length.lines > if length.function.is_some() { FUNCTION_LINES } else { FILE_LINES };
    let long: Vec<&Length> = lengths.iter().filter(too_long).collect();
    for entry in &table.file {
        if !long.iter().any(|length| length.function.is_none() && length.file == entry.file) {
            faults.push(format!("{TABLE}: {} needs no exception; remove it", entry.file));
        }
    }
    for entry in &table.function {
        if !long.iter().any(|length| is(entry, length)) {
            faults.push(format!("{TABLE}: `{}` in {} needs no exception; remove it", entry.name, entry.file));
        }
    }
    faults
}

#[cfg(test)]
mod tests;
