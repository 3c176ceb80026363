//! The README: each line of a `console` block runs on the files of the repository and prints what the block shows.

use std::path::{Path, PathBuf};

use crate::common::Folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with a copy of `examples/`, so that outputs do not land in the repository.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("examples")).unwrap();
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.path().join("examples").join(path.file_name().unwrap())).unwrap();
    }
    folder
}

/// The commands of the `console` blocks, each with the lines that it prints.
fn commands(page: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => inside = line == "```console",
            Some(command) if inside => commands.push((command.to_owned(), Vec::new())),
            None if inside => commands.last_mut().unwrap().1.push(line.to_owned()),
            _ => {}
        }
    }
    commands
}

/// A printed line without what depends on the machine: the times, and which algorithm is the fastest there.
fn stripped(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["time", ..] => "time".to_owned(),
        [problem, _, "on", "cpu,", types @ ..] => format!("{problem} on cpu, {}", types.join(" ")),
        _ => line.to_owned(),
    }
}

#[test]
fn every_line_of_the_readme_prints_what_the_readme_shows() {
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let commands = commands(&page);
    assert!(commands.len() >= 5, "{commands:?}");
    let folder = folder();
    for (command, shown) in commands {
        let arguments = command.strip_prefix("warpath ").unwrap_or_else(|| panic!("`{command}` runs another program"));
        let run = folder.run(arguments);
        assert_eq!(run.code, Some(0), "{command}: {run:?}");
        let printed: Vec<String> = run.stderr.lines().chain(run.stdout.lines()).map(stripped).collect();
        let shown: Vec<String> = shown.iter().map(|line| stripped(line)).collect();
        assert_eq!(printed, shown, "`{command}` in README.md");
    }
}

/// Lines in other blocks name files that nobody has yet, or the network: only their options are read.
#[test]
fn every_other_command_of_the_readme_has_options_that_exist() {
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut block = "";
    let mut checked = 0;
    for line in page.lines() {
        if line.starts_with("```") {
            block = line;
        } else if let Some(command) = line.strip_prefix("warpath ").filter(|_| block == "```sh") {
            let command = command.split(['#', '>', '|']).next().unwrap();
            // Arguments before `--help` are parsed.
            let run = Folder::new().run(&format!("{command} --help"));
            assert_eq!(run.code, Some(0), "{line}: {run:?}");
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
    let run = Folder::new().run("sssp graph.txt --no-such-option --help");
    assert_eq!(run.code, Some(2), "{run:?}");
}

#[test]
fn the_files_and_pages_that_the_readme_links_exist() {
    for page in ["README.md", "examples/README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"] {
        let path = root().join(page);
        let text = std::fs::read_to_string(&path).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let target = path.parent().unwrap().join(link.split('#').next().unwrap());
            assert!(target.exists(), "{page} links to {link}");
        }
    }
}

#[test]
fn the_roads_are_what_the_generator_makes() {
    let folder = folder();
    folder.run("generate roads:2000 roads.gr --coordinates-output roads.co --quiet").ok();
    assert!(folder.read("roads.gr") == folder.read("examples/roads.gr"), "examples/roads.gr is another graph");
    assert!(folder.read("roads.co") == folder.read("examples/roads.co"), "examples/roads.co are other places");
}
