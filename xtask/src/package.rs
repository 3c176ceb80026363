//! `cargo xtask package`: packages what goes to a registry, and holds each package to what a registry and a build ask for.
//!
//! A package is complete if it has the files of its folder that git knows, both licences and the README, and if no source
//! includes a file from outside of the package. Its metadata has no gaps, and it is no larger than a registry takes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::kernels::{at, output_of};

/// The most bytes of a package that crates.io takes.
const MOST_BYTES: u64 = 10 << 20;
/// What every package has beside its sources.
const ALWAYS: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// What a registry shows of a package.
const METADATA: [&str; 6] = ["description", "license", "readme", "keywords", "categories", "rust_version"];

/// Packages, checks, and prints the packages in the order in which they are published. With `verify` cargo also builds each one
/// from its archive.
pub(crate) fn run(root: &Path, verify: bool) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let at_root = |program: &std::ffi::OsStr, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.current_dir(root).args(arguments);
        command
    };
    let metadata =
        output_of(&mut at_root(&cargo, &["metadata", "--quiet", "--no-deps", "--format-version=1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = in_order(&metadata)?;

    let mut command = at_root(&cargo, &["package", "--quiet", "--locked", "--allow-dirty"]);
    if !verify {
        command.arg("--no-verify");
    }
    for package in &packages {
        command.args(["--package", package.name]);
    }
    let status = command.status().map_err(|error| format!("cargo can't be started: {error}"))?;
    if !status.success() {
        return Err(format!("cargo package failed: {status}"));
    }

    let folder = Path::new(metadata["target_directory"].as_str().unwrap_or("target")).join("package");
    let mut faults = Vec::new();
    for package in &packages {
        let listed = ["package", "--list", "--quiet", "--locked", "--allow-dirty", "--package", package.name];
        let listed = output_of(&mut at_root(&cargo, &listed))?.replace('\\', "/");
        let listed: BTreeSet<&str> = listed.lines().collect();
        let mut tracked = at_root("git".as_ref(), &["ls-files", "-z", "--"]);
        let tracked = output_of(tracked.arg(&package.folder).current_dir(&package.folder))?;
        let tracked: Vec<&str> = tracked.split('\0').filter(|name| !name.is_empty()).collect();
        let archive = folder.join(format!("{}-{}.crate", package.name, package.version));
        let bytes = fs::metadata(&archive).map_err(at(&archive))?.len();
        println!("{bytes:>12} bytes, {} files: {}", listed.len(), package.name);
        let mut found = package.gaps.clone();
        found.extend(missing(&listed, &tracked));
        found.extend(too_large(bytes));
        for name in listed.iter().filter(|name| is_built(name)) {
            let path = package.folder.join(name);
            let text = fs::read_to_string(&path).map_err(at(&path))?;
            found.extend(outside(name, &text, &listed));
        }
        faults.extend(found.into_iter().map(|fault| format!("the package {} {fault}", package.name)));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// A package that goes to a registry.
#[derive(Debug)]
struct Package<'a> {
    name: &'a str,
    version: &'a str,
    folder: PathBuf,
    /// What its metadata lacks.
    gaps: Vec<String>,
}

/// The packages of the workspace that may be published, each after those that it depends on.
fn in_order(metadata: &Value) -> Result<Vec<Package<'_>>, String> {
    let text = |value: &'_ Value| value.as_str().map(str::to_owned);
    let mut waiting = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        // An empty list of registries: it is not published.
        if package["publish"].as_array().is_some_and(Vec::is_empty) {
            continue;
        }
        let name = package["name"].as_str().ok_or("cargo metadata has a package without a name")?;
        // Those of the workspace have a path. Dependencies of tests may go in a circle, and need no version.
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let dependencies =
            dependencies.filter(|dependency| dependency["path"].is_string() && dependency["kind"] != "dev");
        let dependencies: Vec<String> = dependencies.filter_map(|dependency| text(&dependency["name"])).collect();
        waiting.insert(name, (package, dependencies));
    }
    let mut ordered: Vec<Package<'_>> = Vec::new();
    while !waiting.is_empty() {
        let is_there = |dependency: &String| ordered.iter().any(|package| package.name == dependency);
        let next = waiting.iter().find(|(_, (_, dependencies))| dependencies.iter().all(is_there));
        let Some(name) = next.map(|(name, _)| *name) else {
            let names: Vec<&str> = waiting.into_keys().collect();
            return Err(format!("{} depend on packages that are not published, or on each other", names.join(", ")));
        };
        let Some((package, _)) = waiting.remove(name) else { continue };
        let is_empty = |field: &str| match &package[field] {
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            _ => true,
        };
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        ordered.push(Package {
            name,
            version: package["version"].as_str().unwrap_or_default(),
            folder: manifest.parent().unwrap_or(manifest).to_owned(),
            gaps: METADATA.iter().filter(|field| is_empty(field)).map(|field| format!("has no `{field}`")).collect(),
        });
    }
    Ok(ordered)
}

/// What a package should have and does not list.
fn missing(listed: &BTreeSet<&str>, tracked: &[&str]) -> Vec<String> {
    let wanted = ALWAYS.iter().chain(tracked).filter(|name| !listed.contains(*name));
    wanted.map(|name| format!("lacks the file {name}")).collect()
}

fn too_large(bytes: u64) -> Option<String> {
    (bytes > MOST_BYTES).then(|| format!("has {bytes} bytes; a registry takes {MOST_BYTES}"))
}

/// Whether a file is part of what users build: not so are files of tests alone.
fn is_built(name: &str) -> bool {
    let is_test = name.split('/').any(|part| part == "tests" || part == "tests.rs");
    name.ends_with(".rs") && !is_test
}

/// The files that a source includes and that its package does not list. Tests at the end of a file are left out.
fn outside(name: &str, text: &str, listed: &BTreeSet<&str>) -> Vec<String> {
    let built = text.split("\nmod tests {").next().unwrap_or_default();
    let mut faults = Vec::new();
    for macro_name in ["include_str!(\"", "include_bytes!(\"", "include!(\""] {
        for rest in built.split(macro_name).skip(1) {
            let included = rest.split('"').next().unwrap_or_default();
            let beside = Path::new(name).parent().unwrap_or(Path::new(""));
            if resolved(&beside.join(included)).is_none_or(|path| !listed.contains(path.as_str())) {
                faults.push(format!("lacks the file {included}, which {name} includes"));
            }
        }
    }
    faults
}

/// A path without `..`, with `/` between its parts; `None` for one that leaves the folder where it begins.
fn resolved(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => _ = parts.pop()?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(name: &str, publish: Option<&[&str]>, dependencies: &[(&str, Option<&str>)]) -> Value {
        let depends = |&(name, kind): &(&str, Option<&str>)| json!({ "name": name, "kind": kind, "path": "/w" });
        let from_registry = json!({ "name": "rayon", "kind": null });
        let dependencies: Vec<Value> = dependencies.iter().map(depends).chain([from_registry]).collect();
        json!({
            "name": name, "version": "1.2.3", "manifest_path": format!("/w/{name}/Cargo.toml"), "publish": publish,
            "dependencies": dependencies, "description": "of it", "license": "MIT", "readme": "README.md",
            "keywords": ["graph"], "categories": ["science"], "rust_version": "1.89",
        })
    }

    #[test]
    fn packages_come_after_those_that_they_need() {
        let metadata = json!({ "packages": [
            package("a-command", None, &[("bench", None), ("library", None), ("private", Some("dev"))]),
            package("bench", None, &[("library", None)]),
            package("private", Some(&[]), &[]),
            package("library", None, &[]),
        ] });
        let ordered = in_order(&metadata).unwrap();
        let names: Vec<&str> = ordered.iter().map(|package| package.name).collect();
        assert_eq!(names, ["library", "bench", "a-command"]);
        assert_eq!(ordered[0].folder, Path::new("/w/library"));
        assert!(ordered.iter().all(|package| package.gaps.is_empty()));
        let metadata = json!({ "packages": [
            package("library", None, &[("private", None)]), package("private", Some(&[]), &[])
        ] });
        assert!(in_order(&metadata).unwrap_err().contains("library depend"));
    }

    #[test]
    fn gaps_of_metadata_are_told() {
        let mut incomplete = package("library", None, &[]);
        incomplete["keywords"] = json!([]);
        incomplete["readme"] = Value::Null;
        incomplete["description"] = json!("");
        let metadata = json!({ "packages": [incomplete] });
        assert_eq!(
            in_order(&metadata).unwrap()[0].gaps,
            ["has no `description`", "has no `readme`", "has no `keywords`"]
        );
    }

    #[test]
    fn missing_files_are_told() {
        let listed = BTreeSet::from(["LICENSE-APACHE", "README.md", "Cargo.toml", "src/lib.rs"]);
        let told = missing(&listed, &["Cargo.toml", "src/lib.rs", "kernels/queue.cu"]);
        assert_eq!(told, ["lacks the file LICENSE-MIT", "lacks the file kernels/queue.cu"]);
        assert_eq!(too_large(MOST_BYTES), None);
        assert!(too_large(MOST_BYTES + 1).unwrap().contains("10485761"));
    }

    #[test]
    fn includes_from_outside_are_told() {
        let listed = BTreeSet::from(["src/plot/page.html", "datasets.toml"]);
        let text =
            "const A: &str = include_str!(\"page.html\");\nconst B: &str = include_str!(\"../../datasets.toml\");\n";
        assert_eq!(outside("src/plot/html.rs", text, &listed), [""; 0]);
        let text = text.to_owned()
            + "const C: &[u8] = include_bytes!(\"../../../../Cargo.lock\");\n#[cfg(test)]\nmod tests { include_str!(\"x\") }";
        let told = outside("src/plot/html.rs", &text, &listed);
        assert_eq!(told, ["lacks the file ../../../../Cargo.lock, which src/plot/html.rs includes"]);
        assert_eq!(outside("src/lib.rs", "include!(\"page.html\")", &listed).len(), 1);
        assert!(is_built("src/lib.rs") && is_built("build.rs"));
        assert!(!is_built("src/jobs/tests.rs") && !is_built("tests/paths.rs") && !is_built("src/plot/page.html"));
    }
}
