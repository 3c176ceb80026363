//! What the tests of the command share: a folder of inputs, and runs of the program in it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

/// A folder that is removed after the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the program in this folder; blanks separate the arguments.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.run_with(arguments, "")
    }

    /// Runs the program with this standard input.
    pub(crate) fn run_with(&self, arguments: &str, input: impl Into<Vec<u8>>) -> Run {
        let mut command = self.command(arguments);
        let output = command.write_stdin(input).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    pub(crate) fn command(&self, arguments: &str) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::cargo_bin("warpath").unwrap();
        command.current_dir(self.path()).args(arguments.split_whitespace());
        command
    }
}

/// A Matrix Market file of 2^20 vertices and one arc: rows and columns of all do not fit on a disk.
pub(crate) const MANY_VERTICES: &str = "%%MatrixMarket matrix coordinate pattern general\n1048576 1048576 1\n1 2\n";

/// A printed JSON object, which has to be as docs/warpath.schema.json describes it.
#[track_caller]
fn object(text: &str) -> Value {
    static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let schema = include_str!("../../../../docs/warpath.schema.json");
        jsonschema::draft202012::new(&serde_json::from_str(schema).unwrap()).unwrap()
    });
    let object: Value = serde_json::from_str(text).unwrap();
    let faults: Vec<String> = SCHEMA.iter_errors(&object).map(|error| error.to_string()).collect();
    assert!(faults.is_empty(), "{text}\nis not as the schema has it: {faults:#?}");
    object
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The standard output of a run, which must succeed, and say nothing on standard error but notes.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert!(self.stderr.lines().all(|line| line.starts_with("note: ")), "{self:?}");
        self.stdout
    }

    /// The JSON object of a run, which must succeed.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        object(&self.ok())
    }

    /// The JSON object of a run that failed with this code, or whose answer has this code.
    #[track_caller]
    pub(crate) fn json_with(self, code: i32) -> Value {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_ne!(self.stderr, "");
        object(&self.stdout)
    }

    /// Asserts that the run failed with this code and this message, on one line and without a result: standard output
    /// has nothing, or with `--json` the error.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, message: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stderr.lines().any(|line| line.contains(message)), "{message}\nis not in\n{}", self.stderr);
        if !self.stdout.is_empty() {
            assert!(object(&self.stdout)["error"].is_object(), "{self:?}");
        }
    }
}
