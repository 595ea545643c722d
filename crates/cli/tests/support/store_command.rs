//! Runs `hfile store` in a directory of the test.

use std::path::Path;
use std::process::Output;

use crate::command_line::{hfile_in, text};

/// Runs `hfile store` in a directory.
pub(crate) fn hfile(directory: &Path, args: &[&str]) -> Output {
    hfile_in(directory, &[&["store"], args].concat())
}

/// Runs `hfile store`, which must exit with this status, and returns stdout and stderr.
#[track_caller]
pub(crate) fn run(status: i32, directory: &Path, args: &[&str]) -> (String, String) {
    let output = hfile(directory, args);
    let (out, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "hfile store {args:?}: {out}{told}");
    (out, told)
}

/// Runs `hfile store`, which must succeed, and returns its stdout.
pub(crate) fn store(directory: &Path, args: &[&str]) -> String {
    run(0, directory, args).0
}
