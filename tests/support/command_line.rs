//! Runs `hfile` as users do.
//!
//! A module of the tests of `cli`, because only these know the path of the binary.
#![allow(dead_code, reason = "each test uses some of the helpers")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::read::MultiGzDecoder;
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
pub(crate) fn run(status: i32, args: &[&str]) -> (String, String) {
    let output = hfile(args);
    let (out, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "hfile {args:?}: {out}{told}");
    (out, told)
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
    let bytes = fs::read(data().join(field(file, "cellsFile"))).expect("committed");
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut cells = Vec::new();
    MultiGzDecoder::new(&bytes[..]).read_to_end(&mut cells).expect("gzip");
    cells
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
