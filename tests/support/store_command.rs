//! Runs `hfile store` in a directory of the test.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::command_line::hfile_in;

/// Runs `hfile store` in a directory.
pub(crate) fn hfile(directory: &Path, args: &[&str]) -> Output {
    hfile_in(directory, &[&["store"], args].concat())
}

/// Runs `hfile store`, which must succeed, and returns its stdout.
pub(crate) fn store(directory: &Path, args: &[&str]) -> String {
    let output = hfile(directory, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is text")
}

/// Runs `hfile store` with `--json`, and returns the one object that it prints.
pub(crate) fn json(directory: &Path, args: &[&str]) -> Value {
    let text = store(directory, &[args, &["--json"]].concat());
    let value: Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(value["schema"], 1, "{text}");
    value
}
