//! Exports of the root directory that HBase wrote.
//!
//! A module of the tests of the command line.
#![allow(dead_code, reason = "each test uses some of the helpers")]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;
use support::root_directory::{self, RootCopy};
use tempfile::TempDir;

use crate::command_line::{self, Printed, command};

/// A root directory, and a place for exports.
pub(crate) struct Exports {
    root: RootCopy,
    directory: TempDir,
    truth: Value,
}

impl Exports {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        Self { root: RootCopy::new(), directory, truth: root_directory::manifest() }
    }

    /// Returns the path of the root directory.
    pub(crate) fn root(&self) -> PathBuf {
        self.root.path()
    }

    /// Returns the path of an export.
    pub(crate) fn out(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the arguments of `hfile snapshot export` into the export `out`.
    pub(crate) fn arguments(&self, snapshot: &str, out: &str, more: &[&str]) -> Vec<String> {
        let (root, out) = (self.root.argument(), command_line::path(&self.directory, out));
        let own = ["snapshot", "export", "--root", &root, snapshot, "--output", &out];
        own.iter().chain(more).map(|argument| (*argument).to_owned()).collect()
    }

    /// Exports a snapshot with a command that must exit with this status, and returns stdout and stderr.
    pub(crate) fn run(
        &self,
        status: i32,
        snapshot: &str,
        out: &str,
        more: &[&str],
    ) -> (String, String) {
        let arguments = self.arguments(snapshot, out, more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        command_line::run(status, &arguments)
    }

    /// Exports a snapshot with a command that must exit with this status, and returns its stderr.
    #[track_caller]
    pub(crate) fn tells(&self, status: i32, snapshot: &str, out: &str, more: &[&str]) -> Printed {
        let args = self.arguments(snapshot, out, more);
        command_line::tells(status, &args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Starts to export a snapshot as cells.
    pub(crate) fn spawn(&self, snapshot: &str, out: &str) -> Child {
        let arguments = self.arguments(snapshot, out, &["--to", "cells"]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = command(&arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
    }

    /// Returns the manifest of an export.
    pub(crate) fn manifest(&self, out: &str) -> Value {
        let bytes = fs::read(self.out(out).join("manifest.json")).expect("an export has it");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// Returns the paths of the files of an export, as its manifest lists them.
    pub(crate) fn files(&self, out: &str) -> Vec<PathBuf> {
        let manifest = self.manifest(out);
        let regions = manifest["regions"].as_array().expect("regions");
        let files = regions.iter().flat_map(|region| region["files"].as_array().expect("files"));
        files.map(|file| self.out(out).join(file["file"].as_str().expect("a name"))).collect()
    }

    /// Returns the cells that HBase returned for a snapshot, as lines of JSON.
    pub(crate) fn truth(&self, snapshot: &str, kind: &str) -> String {
        let name = self.truth["snapshots"][snapshot][kind].as_str().expect("a file");
        support::gunzip(&root_directory::data().join(name))
    }
}

/// Returns lines of JSON without the sequence ids, which HBase's answers do not have.
pub(crate) fn without_sequence_ids(lines: &str) -> Vec<Value> {
    let parse = |line: &str| {
        let mut cell: Value = serde_json::from_str(line).expect("JSON");
        cell.as_object_mut().expect("an object").remove("seq");
        cell
    };
    lines.lines().map(parse).collect()
}

/// Reads text files one after the other.
pub(crate) fn concatenated(files: &[PathBuf]) -> String {
    files.iter().map(|file| fs::read_to_string(file).expect("complete text")).collect()
}
