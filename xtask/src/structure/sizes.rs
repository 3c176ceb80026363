//! The lengths of files and functions.

use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};

/// The folders with sources.
const FOLDERS: [&str; 3] = ["crates", "fuzz", "xtask"];
/// The extensions of source files.
const EXTENSIONS: [&str; 11] = ["rs", "cu", "cuh", "cpp", "hpp", "py", "sh", "js", "css", "html", "toml"];
/// Folders of built or downloaded files.
const NOT_OURS: [&str; 3] = ["target", "corpus", "artifacts"];

/// A file, or a function in one, and how many lines it has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Length {
    pub(super) file: String,
    /// The function's name; `None` for the file itself.
    pub(super) function: Option<String>,
    /// The line where it begins.
    pub(super) at: usize,
    pub(super) lines: usize,
}

/// All source files, and all functions of those in Rust.
pub(super) fn lengths(root: &Path) -> Result<Vec<Length>, String> {
    let mut lengths = Vec::new();
    for folder in FOLDERS {
        walk(root, &root.join(folder), &mut lengths)?;
    }
    lengths.sort_by(|a, b| (&a.file, a.at).cmp(&(&b.file, b.at)));
    Ok(lengths)
}

fn walk(root: &Path, folder: &Path, lengths: &mut Vec<Length>) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let path = entry.map_err(|error| failed(folder, error))?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if !NOT_OURS.iter().any(|other| name == *other) {
                walk(root, &path, lengths)?;
            }
        } else if path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|ours| extension == *ours)) {
            let text = fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
            let file = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            if file.ends_with(".rs") {
                lengths.extend(functions(&file, &text)?);
            }
            lengths.push(Length { file, function: None, at: 0, lines: text.lines().count() });
        }
    }
    Ok(())
}

/// The functions of a Rust file: from the line with the name to the last brace. Functions that a macro makes are not
/// seen.
pub(super) fn functions(file: &str, text: &str) -> Result<Vec<Length>, String> {
    let parsed = syn::parse_file(text).map_err(|error| format!("{file}: {error}"))?;
    let mut finder = Finder { file, of: None, found: Vec::new() };
    finder.visit_file(&parsed);
    Ok(finder.found)
}

#[derive(Debug)]
struct Finder<'a> {
    file: &'a str,
    /// The type or trait of the current functions.
    of: Option<String>,
    found: Vec<Length>,
}

impl Finder<'_> {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let at = signature.fn_token.span.start().line;
        let lines = block.brace_token.span.close().end().line + 1 - at;
        let name = signature.ident.to_string();
        let function = self.of.as_ref().map_or_else(|| name.clone(), |of| format!("{of}::{name}"));
        self.found.push(Length { file: self.file.to_owned(), function: Some(function), at, lines });
    }

    /// Visits the members of a type or trait.
    fn within(&mut self, name: Option<String>, go_through: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.of, name);
        go_through(self);
        self.of = before;
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.sig, &function.block);
        self.within(None, |this| visit::visit_item_fn(this, function));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig, &function.block);
        self.within(None, |this| visit::visit_impl_item_fn(this, function));
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig, block);
        }
        self.within(None, |this| visit::visit_trait_item_fn(this, function));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
            _ => None,
        };
        self.within(name, |this| visit::visit_item_impl(this, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.within(Some(item.ident.to_string()), |this| visit::visit_item_trait(this, item));
    }
}
