//! The modules of a crate, and the imports between them.
//!
//! An import is any path to an item in another file of the crate, wherever it is written: in a `use`, in code, in a
//! type, or within a macro's arguments. It counts as an import from the file that defines the item: re-exports are
//! followed to their end. Test code (`#[cfg(test)]`, `#[test]`) may import anything, and is left out. Uses without a
//! path are not seen: method calls, and names imported by a `*`, which counts as an import of the module before it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, UseTree};

/// The longest chain of re-exports to follow; a longer one is circular.
const LONGEST_CHAIN: usize = 16;

/// A module with a file of its own.
#[derive(Debug)]
pub(super) struct Module {
    /// The path from the root of the crate: `["graph", "csr"]`; empty for the root itself.
    pub(super) path: Vec<String>,
    /// The path from the root of the workspace.
    pub(super) file: String,
    /// The imported names: a path for each name that a `use` brings in.
    bindings: BTreeMap<String, Vec<String>>,
    /// The paths before a `*`, which brings in all names.
    globs: Vec<Vec<String>>,
    /// The names that it defines.
    items: BTreeSet<String>,
    /// Modules with files of their own, by name.
    children: BTreeMap<String, usize>,
    /// The paths in it outside of tests, with their lines.
    paths: Vec<(Vec<String>, usize)>,
}

/// A file's use of another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The first line with such a use.
    pub(super) line: usize,
}

/// The modules of a crate; the root comes first.
#[derive(Debug)]
pub(super) struct Modules(pub(super) Vec<Module>);

impl Modules {
    /// Reads a crate, starting from its root file.
    pub(super) fn read(workspace: &Path, root_file: &Path) -> Result<Self, String> {
        let mut modules = Modules(Vec::new());
        let folder = root_file.parent().unwrap_or(workspace);
        modules.add(workspace, root_file, folder, Vec::new())?;
        Ok(modules)
    }

    fn add(&mut self, workspace: &Path, file: &Path, folder: &Path, path: Vec<String>) -> Result<usize, String> {
        let name = file.strip_prefix(workspace).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{name}: {error}"))?;
        let mut reader = Reader::default();
        reader.visit_file(&parsed);
        let index = self.0.len();
        self.0.push(Module {
            path: path.clone(),
            file: name,
            bindings: reader.bindings,
            globs: reader.globs,
            items: reader.items,
            children: BTreeMap::new(),
            paths: reader.paths,
        });
        for child in reader.files {
            let nested = folder.join(&child);
            let places = [(folder.join(format!("{child}.rs")), nested.clone()), (nested.join("mod.rs"), nested)];
            // A file elsewhere, named by an attribute, belongs to another crate.
            let Some((file, folder)) = places.into_iter().find(|(file, _)| file.is_file()) else { continue };
            let path = [&path[..], std::slice::from_ref(&child)].concat();
            let added = self.add(workspace, &file, &folder, path)?;
            self.0[index].children.insert(child, added);
        }
        Ok(index)
    }

    /// Every import from one file by another, once.
    pub(super) fn imports(&self) -> Vec<Import> {
        let mut found: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (from, module) in self.0.iter().enumerate() {
            for (path, line) in &module.paths {
                if let Some(to) = self.file_of(from, path, LONGEST_CHAIN).map(|found| found.0).filter(|to| *to != from)
                {
                    let first = found.entry((from, to)).or_insert(*line);
                    *first = (*first).min(*line);
                }
            }
        }
        found.into_iter().map(|((from, to), line)| Import { from, to, line }).collect()
    }

    /// Whether a file lies in the folder of another: it is a part of that file, and both may use each other.
    pub(super) fn is_part_of(&self, part: usize, whole: usize) -> bool {
        self.0[part].path.starts_with(&self.0[whole].path)
    }

    /// The file with the item that a path in a module names, and whether the path names that file's module itself.
    fn file_of(&self, module: usize, path: &[String], chain: usize) -> Option<(usize, bool)> {
        let chain = chain.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        let (start, rest) = match first.as_str() {
            "crate" => (0, rest),
            "self" => (module, rest),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                let up = self.0[module].path.len().checked_sub(ups)?;
                (self.at(&self.0[module].path[..up])?, &path[ups..])
            }
            name if self.0[module].children.contains_key(name) => (module, path),
            name => {
                let to = self.0[module].bindings.get(name).filter(|to| to.first() != path.first())?;
                return self.file_of(module, &[to, rest].concat(), chain);
            }
        };
        self.descend(start, rest, chain)
    }

    /// Follows the rest of a path from a module.
    fn descend(&self, module: usize, path: &[String], chain: usize) -> Option<(usize, bool)> {
        let chain = chain.checked_sub(1)?;
        let Some((name, rest)) = path.split_first() else { return Some((module, true)) };
        let here = &self.0[module];
        if let Some(child) = here.children.get(name) {
            return self.descend(*child, rest, chain);
        }
        if here.items.contains(name) {
            return Some((module, false));
        }
        if let Some(to) = here.bindings.get(name) {
            let whole = [to, rest].concat();
            return self.file_of(module, &whole, chain).or(Some((module, false)));
        }
        let brought = here.globs.iter().find_map(|glob| {
            let (to, is_module) = self.file_of(module, glob, chain)?;
            let has = |to: usize| {
                let names = &self.0[to];
                names.items.contains(name) || names.bindings.contains_key(name) || names.children.contains_key(name)
            };
            (is_module && to != module && has(to)).then(|| self.descend(to, path, chain)).flatten()
        });
        brought.or(Some((module, false)))
    }

    fn at(&self, path: &[String]) -> Option<usize> {
        path.iter().try_fold(0, |module, name| self.0[module].children.get(name).copied())
    }
}

/// Collects names and paths of one file.
#[derive(Debug, Default)]
struct Reader {
    bindings: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    items: BTreeSet<String>,
    files: Vec<String>,
    paths: Vec<(Vec<String>, usize)>,
    /// The depth of nested modules within the file.
    depth: usize,
}

impl Reader {
    /// Notes a path; in a nested module, a short chain of `super` stays within the file.
    fn path(&mut self, mut path: Vec<String>, line: usize) -> Vec<String> {
        if self.depth > 0 && path.first().is_some_and(|name| name == "super") {
            let ups = path.iter().take_while(|name| *name == "super").count();
            path.drain(..ups.min(self.depth));
            if ups <= self.depth {
                path.insert(0, "self".into());
            }
        }
        self.paths.push((path.clone(), line));
        path
    }

    fn uses(&mut self, tree: &UseTree, before: &mut Vec<String>, line: usize) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.uses(&path.tree, before, line);
                before.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.uses(tree, before, line)),
            UseTree::Name(name) => self.bring(&name.ident.to_string(), &name.ident.to_string(), before, line),
            UseTree::Rename(rename) => self.bring(&rename.ident.to_string(), &rename.rename.to_string(), before, line),
            UseTree::Glob(_) => {
                let path = self.path(before.clone(), line);
                self.globs.push(path);
            }
        }
    }

    fn bring(&mut self, name: &str, as_name: &str, before: &[String], line: usize) {
        let mut path = before.to_vec();
        // `use a::b::{self}` brings `b`.
        if name != "self" {
            path.push(name.to_owned());
        }
        let as_name = if as_name == "self" { path.last().cloned().unwrap_or_default() } else { as_name.to_owned() };
        let path = self.path(path, line);
        self.bindings.insert(as_name, path);
    }

    /// Notes token sequences that look like paths in a macro's arguments.
    fn tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut line, mut colons) = (Vec::new(), 0, 0);
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                TokenTree::Ident(ident) if path.is_empty() || colons == 2 => {
                    if path.is_empty() {
                        line = ident.span().start().line;
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    self.path_in_macro(std::mem::take(&mut path), line);
                    colons = 0;
                    match other {
                        TokenTree::Ident(ident) => {
                            line = ident.span().start().line;
                            path.push(ident.to_string());
                        }
                        TokenTree::Group(group) => self.tokens(group.stream()),
                        _ => {}
                    }
                }
            }
        }
        self.path_in_macro(path, line);
    }

    fn path_in_macro(&mut self, path: Vec<String>, line: usize) {
        if path.len() > 1 {
            self.path(path, line);
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        if self.depth == 0
            && let Some(name) = name(item)
        {
            self.items.insert(name);
        }
        match item {
            Item::Use(item) => self.uses(&item.tree, &mut Vec::new(), item.use_token.span.start().line),
            Item::Mod(item) if item.content.is_none() => self.files.push(item.ident.to_string()),
            Item::Mod(_) => {
                self.depth += 1;
                visit::visit_item(self, item);
                self.depth -= 1;
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 && path.leading_colon.is_none() {
            let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.path(names, path.segments[0].ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, found: &'ast syn::Macro) {
        self.tokens(found.tokens.clone());
        visit::visit_macro(self, found);
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The name by which paths refer to an item, unless it has a file of its own.
fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Mod(item) if item.content.is_some() => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Whether something is compiled for tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let conditions = || attribute.parse_args_with(Conditions::parse_terminated).unwrap_or_default();
        attribute.path().is_ident("test") || (attribute.path().is_ident("cfg") && conditions().iter().any(needs_tests))
    })
}

type Conditions = syn::punctuated::Punctuated<Meta, syn::Token![,]>;

/// Whether a condition of `cfg` holds only in tests.
fn needs_tests(condition: &Meta) -> bool {
    let parts = |list: &syn::MetaList| list.parse_args_with(Conditions::parse_terminated).unwrap_or_default();
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => parts(list).iter().any(needs_tests),
        Meta::List(list) if list.path.is_ident("any") => parts(list).iter().all(needs_tests),
        _ => false,
    }
}

/// The file that a crate begins with.
pub(super) fn root_file(crate_folder: &Path) -> Option<PathBuf> {
    ["src/lib.rs", "src/main.rs"].map(|name| crate_folder.join(name)).into_iter().find(|file| file.is_file())
}
