use super::*;

/// A crate of these files, with its modules.
fn crate_of(files: &[(&str, &str)]) -> (tempfile::TempDir, Modules) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join("src").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let root_file = modules::root_file(folder.path()).unwrap();
    let modules = Modules::read(folder.path(), &root_file).unwrap();
    (folder, modules)
}

fn edges(modules: &Modules) -> Vec<String> {
    let name = |module: usize| match modules.0[module].path.join("::") {
        root if root.is_empty() => "crate".to_owned(),
        path => path,
    };
    let between = modules.imports().into_iter().filter(|import| import.from != 0);
    between.map(|import| format!("{} -> {}:{}", name(import.from), name(import.to), import.line)).collect()
}

fn faults(modules: &Modules, rooms: &[&[&str]], allowed: &[AllowedImport], used: &mut [bool]) -> Vec<String> {
    let rooms: Vec<Vec<String>> = rooms.iter().map(|row| row.iter().map(|room| (*room).to_owned()).collect()).collect();
    faults_of_imports(modules, &modules.imports(), (!rooms.is_empty()).then_some(rooms.as_slice()), allowed, used)
}

const ROOT: &str = "mod a;\nmod b;\npub use b::inner::Thing;\n#[cfg(test)]\nmod testing;\n";

#[test]
fn imports_are_found_wherever_they_are_written() {
    for text in [
        "use crate::b;",
        "use super::b::{self, f as g};",
        "fn call() { crate::b::f(); }",
        "fn call() -> super::b::Type { loop {} }",
        "fn call() { assert!(1 == crate::b::f(2)); }",
        "mod inner { fn call() { super::super::b::f() } }",
        "use crate::b::*;",
        "struct A<T: crate::b::Trait>(T);",
    ] {
        let b = "pub fn f() {}\npub struct Type;\npub trait Trait {}\n";
        let (_folder, modules) = crate_of(&[("lib.rs", "mod a;\nmod b;\n"), ("a.rs", text), ("b.rs", b)]);
        let found = edges(&modules);
        assert!(found.len() == 1 && found[0].starts_with("a -> b:"), "{text}: {found:?}");
    }
}

#[test]
fn a_reexport_is_followed_to_the_file_that_has_the_thing() {
    let files = [
        ("lib.rs", ROOT),
        ("a.rs", "use crate::Thing;\nuse crate::b::Other;\nuse crate::b::Third;\n"),
        ("b/mod.rs", "pub mod inner;\nmod more;\npub use inner::*;\npub use self::more::Third;\n"),
        ("b/inner.rs", "pub struct Thing;\npub struct Other;\n"),
        ("b/more.rs", "pub struct Third;\n"),
    ];
    let (_folder, modules) = crate_of(&files);
    assert_eq!(edges(&modules), ["a -> b::inner:1", "a -> b::more:3", "b -> b::inner:3", "b -> b::more:4"]);
}

#[test]
fn tests_may_import_anything() {
    let tests = "#[cfg(test)]\nuse crate::b::f;\n#[cfg(all(test, unix))]\nmod tests { use crate::b::f; }\n\
                 #[test]\nfn a_test() { crate::b::f() }\n";
    let files = [("lib.rs", "mod a;\nmod b;\n"), ("a.rs", tests), ("b.rs", "pub fn f() {}\n")];
    assert_eq!(edges(&crate_of(&files).1), [""; 0]);
    let not = "#[cfg(not(test))]\nuse crate::b::f;\n";
    let files = [files[0], ("a.rs", not), files[2]];
    assert_eq!(edges(&crate_of(&files).1), ["a -> b:2"]);
}

#[test]
fn circles_are_told_with_their_imports() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
        ("a.rs", "use crate::b::B;\npub struct A;\n"),
        ("b.rs", "\nuse crate::c::C;\npub struct B;\n"),
        ("c.rs", "pub struct C;\nfn a() -> crate::a::A { crate::a::A }\n"),
    ];
    let (_folder, modules) = crate_of(&files);
    let told = faults(&modules, &[], &[], &mut []);
    assert_eq!(
        told,
        [
            "3 files import each other in a circle:\n    src/a.rs:1 imports src/b.rs\n    src/b.rs:2 imports src/c.rs\n    \
          src/c.rs:2 imports src/a.rs"
        ]
    );
    let import = |from: &str, to: &str| AllowedImport { from: from.into(), to: to.into(), reason: "to be cut".into() };
    let allowed = [import("src/c.rs", "src/a.rs"), import("src/a.rs", "src/c.rs")];
    let mut used = [false; 2];
    assert_eq!(faults(&modules, &[], &allowed, &mut used), [""; 0]);
    assert_eq!(used, [true, false], "the second exception is not needed");
}

#[test]
fn a_file_and_those_in_its_folder_are_one_thing() {
    let files = [
        ("lib.rs", "mod a;\npub fn f() {}\n"),
        ("a.rs", "mod inner;\nuse inner::g;\npub fn h() { crate::f() }\n"),
        ("a/inner.rs", "use super::h;\npub fn g() {}\n"),
    ];
    let (_folder, modules) = crate_of(&files);
    assert_eq!(edges(&modules), ["a -> crate:3", "a -> a::inner:2", "a::inner -> a:1"]);
    assert_eq!(faults(&modules, &[], &[], &mut []), [""; 0]);
}

#[test]
fn rooms_are_imported_in_their_order_only() {
    let files = [
        ("lib.rs", "mod low;\nmod cpu;\nmod cuda;\n"),
        ("low.rs", "pub fn f() {}\n"),
        ("cpu.rs", "use crate::low::f;\npub fn g() {}\n"),
        ("cuda.rs", "use crate::low::f;\nuse crate::cpu::g;\n"),
    ];
    let (_folder, modules) = crate_of(&files);
    let told = faults(&modules, &[&["low"], &["cpu", "cuda"]], &[], &mut []);
    assert_eq!(told, ["src/cuda.rs:2 imports src/cpu.rs, but the room `cpu` is beside `cuda`"]);
    let told = faults(&modules, &[&["cpu"], &["low"], &["cuda"]], &[], &mut []);
    assert_eq!(told, ["src/cpu.rs:1 imports src/low.rs, but the room `low` is behind `cpu`"]);
    let told = faults(&modules, &[&["low"], &["cpu"], &["gone"]], &[], &mut []);
    assert!(told[0].contains("`cuda` has no place") && told[1].contains("no room `gone`"), "{told:?}");
    let allowed = [AllowedImport { from: "src/cuda.rs".into(), to: "src/cpu.rs".into(), reason: "to be cut".into() }];
    let mut used = [false];
    assert_eq!(faults(&modules, &[&["low"], &["cpu", "cuda"]], &allowed, &mut used), [""; 0]);
    assert_eq!(used, [true]);
}

#[test]
fn functions_have_lengths_and_names() {
    let text = "/// One.\nfn one() {\n}\nstruct S;\nimpl S {\n    #[inline]\n    fn two(\n        self,\n    ) {\n        \
                fn three() {}\n    }\n}\ntrait T {\n    fn four();\n    fn five() {\n\n    }\n}\n";
    let found = sizes::functions("a.rs", text).unwrap();
    let found: Vec<_> = found.iter().map(|f| (f.function.as_deref().unwrap(), f.at, f.lines)).collect();
    assert_eq!(found, [("one", 2, 2), ("S::two", 7, 5), ("three", 10, 1), ("T::five", 15, 3)]);
}

#[test]
fn what_is_too_long_needs_an_exception_and_nothing_else_does() {
    let length = |function: Option<&str>, lines| Length {
        file: "a.rs".into(),
        function: function.map(str::to_owned),
        at: 7,
        lines,
    };
    let long = [length(None, FILE_LINES + 1), length(Some("f"), FUNCTION_LINES + 1)];
    let short = [length(None, FILE_LINES), length(Some("f"), FUNCTION_LINES)];
    let nothing = Table::default();
    assert_eq!(
        faults_of_lengths(&long, &nothing),
        ["a.rs has 601 lines, more than 600", "a.rs:7 `f` has 101 lines, more than 100"]
    );
    assert_eq!(faults_of_lengths(&short, &nothing), [""; 0]);
    let text = "[[file]]\nfile = \"a.rs\"\nreason = \"to be cut\"\n\
                [[function]]\nfile = \"a.rs\"\nname = \"f\"\nreason = \" \"\n";
    let table: Table = toml::from_str(text).unwrap();
    assert_eq!(faults_of_lengths(&long, &table), [""; 0]);
    let needless = faults_of_lengths(&short, &table);
    assert!(needless.len() == 2 && needless.iter().all(|fault| fault.contains("needs no exception")), "{needless:?}");
    assert_eq!(table.without_reason(), ["xtask/structure.toml: an exception for a.rs has no reason"]);
}
