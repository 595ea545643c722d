//! Runs `hfile` as users do.
//!
//! A module of the tests of `cli`, because only these know the path of the binary.
#![allow(dead_code, reason = "each test uses some of the helpers")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hfile"));
    command.args(args).current_dir(data()).stdin(Stdio::null());
    command
}

pub(crate) fn hfile(args: &[&str]) -> Output {
    command(args).output().expect("the binary runs")
}

/// Runs a command in a directory.
pub(crate) fn hfile_in(directory: &Path, args: &[&str]) -> Output {
    command(args).current_dir(directory).output().expect("the binary runs")
}

/// Runs a command that must exit with this status, and returns stdout and stderr.
#[track_caller]
pub(crate) fn run(status: i32, args: &[&str]) -> (String, String) {
    let output = hfile(args);
    let (out, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "hfile {args:?}: {out}{told}");
    (out, told)
}

/// What a command printed.
#[must_use]
pub(crate) struct Printed {
    pub(crate) args: Vec<String>,
    pub(crate) text: String,
}

impl Printed {
    pub(crate) fn new(args: &[&str], text: String) -> Self {
        Self { args: args.iter().map(ToString::to_string).collect(), text }
    }

    /// Checks that a text was printed, and returns all that was.
    #[track_caller]
    pub(crate) fn has(self, text: &str) -> String {
        self.has_all(&[text])
    }

    /// Checks how the output begins, and returns all of it.
    #[track_caller]
    pub(crate) fn begins_with(self, start: &str) -> String {
        let Self { args, text } = self;
        assert!(text.starts_with(start), "hfile {args:?} does not begin with {start:?}: {text}");
        text
    }

    /// Checks that these texts were printed, and returns all that was.
    ///
    /// Whether a long message is folded depends on the paths in the message, and so on where the project lies. A text is
    /// also found where a line of the message ends within the text.
    #[track_caller]
    pub(crate) fn has_all(self, texts: &[&str]) -> String {
        let Self { args, text: all } = self;
        let unfolded = all.replace("\n  ", " ");
        for text in texts {
            let printed = all.contains(text) || unfolded.contains(text);
            assert!(printed, "hfile {args:?} does not print {text:?}: {all}");
        }
        all
    }
}

/// Runs a command that must exit with this status, and returns its stdout.
#[track_caller]
pub(crate) fn shows(status: i32, args: &[&str]) -> Printed {
    Printed::new(args, run(status, args).0)
}

/// Runs a command that must exit with this status, and returns its stderr.
#[track_caller]
pub(crate) fn tells(status: i32, args: &[&str]) -> Printed {
    Printed::new(args, run(status, args).1)
}

/// Runs a command that must exit with status 0, and returns its output.
pub(crate) fn stdout(args: &[&str]) -> String {
    let output = hfile(args);
    assert!(output.status.success(), "hfile {args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Runs a command that must fail, and returns its status and error output.
pub(crate) fn failure(args: &[&str]) -> (i32, String) {
    let output = hfile(args);
    assert!(!output.status.success(), "hfile {args:?} succeeded");
    (output.status.code().expect("not ended by a signal"), text(&output.stderr))
}

pub(crate) fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args)).expect("one JSON object")
}

/// Runs a command that must exit with this status, and returns the JSON object that it prints.
#[track_caller]
pub(crate) fn json_with(status: i32, args: &[&str]) -> Value {
    serde_json::from_str(&run(status, args).0).expect("one JSON object")
}

/// Parses lines of JSON.
pub(crate) fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

pub(crate) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/hfile")
}

pub(crate) fn manifest() -> Vec<Value> {
    let text = fs::read_to_string(data().join("manifest.json")).expect("committed");
    let mut files: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    files.retain(|file| cfg!(feature = "zstd") || file["expect"]["compression"] != "ZSTD");
    files
}

pub(crate) fn field<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

pub(crate) fn golden_cells(file: &Value) -> Vec<u8> {
    let path = data().join(field(file, "cellsFile"));
    if path.extension().is_some_and(|ending| ending == "gz") {
        return support::gunzip(&path).into_bytes();
    }
    fs::read(path).expect("committed")
}

/// Sends SIGINT, as Ctrl-C does.
#[cfg(unix)]
pub(crate) fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

pub(crate) fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

pub(crate) fn path(directory: &TempDir, name: &str) -> String {
    directory.path().join(name).to_str().expect("text").to_owned()
}

pub(crate) fn entries(directory: &TempDir) -> usize {
    fs::read_dir(directory.path()).expect("readable").count()
}
