//! Real HBase as the judge: one JVM per test run, started by the first question, asked over pipes.
//!
//! It runs only where `HBASE_JUDGE=1` is set, because it needs a JDK and, the first time, Maven and
//! a download. Otherwise the tests print that they were skipped. Where it is set, a judge that does
//! not start fails the test.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::{Value, json};
use sstable::HBaseVersion;

use crate::say;

static JUDGE: LazyLock<Mutex<Judge>> = LazyLock::new(|| Mutex::new(Judge::start()));

/// Whether HBase is to be asked; if not, prints that `test` was skipped.
pub fn is_enabled(test: &str) -> bool {
    let is_enabled = env::var_os("HBASE_JUDGE").is_some_and(|value| value == "1");
    if !is_enabled {
        say(&format!(
            "{test}: skipped, because it needs real HBase; set HBASE_JUDGE=1 (needs a JDK and \
             Maven, and downloads HBase's jars once)"
        ));
    }
    is_enabled
}

/// Asks HBase one question, with the arguments of `tests/hbase-judge/judge`.
///
/// The answer is JSON; its field `ok` says whether all checks passed.
///
/// # Panics
///
/// If the judge cannot be started or does not answer.
pub fn ask<S: AsRef<str>>(arguments: &[S]) -> Value {
    let mut judge = JUDGE.lock().unwrap_or_else(PoisonError::into_inner);
    judge.ask(&arguments.iter().map(AsRef::as_ref).collect::<Vec<_>>())
}

/// Asks HBase one question as [`ask`] does, and returns the answer if all checks passed.
///
/// # Panics
///
/// As [`ask`], and with the answer if a check failed.
pub fn confirm<S: AsRef<str> + std::fmt::Debug>(arguments: &[S]) -> Value {
    let answer = ask(arguments);
    assert_eq!(answer["ok"], true, "judge {arguments:?}: {answer:#}");
    answer
}

/// Returns the version of HBase that judges, such as `2.6.4-hadoop3`.
///
/// # Panics
///
/// As [`ask`].
pub fn version() -> String {
    ask(&["version"])["hbase"].as_str().expect("the judge names its version").to_owned()
}

/// Returns the bytes that the judging HBase writes.
///
/// # Panics
///
/// As [`ask`], and if this project does not write the bytes of that version.
pub fn writer_version() -> HBaseVersion {
    let version = version();
    let known = HBaseVersion::ALL
        .into_iter()
        .find(|known| version.strip_prefix(known.name()).is_some_and(|rest| rest.starts_with('.')));
    known.unwrap_or_else(|| panic!("no HBaseVersion writes the bytes of HBase {version}"))
}

/// Asks HBase one question in a JVM of its own, which is halted after the answer.
///
/// For questions after which a running cluster must not change its files any more. `None` if HBase
/// got stuck and was stopped.
///
/// # Panics
///
/// If the judge cannot be started or does not answer.
pub fn ask_alone(arguments: &[&str]) -> Option<Value> {
    /// The exit status of a judge that stopped a stuck HBase.
    const STUCK: i32 = 4;
    let output = Command::new(script())
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}", script().display()));
    if output.status.code() == Some(STUCK) {
        return None;
    }
    Some(serde_json::from_slice(&output.stdout).expect("the judge answers in JSON"))
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hbase-judge/judge")
}

struct Judge {
    /// Exits when its stdin closes, which happens when this process ends.
    _process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Judge {
    fn start() -> Self {
        let script = script();
        let mut process = Command::new(&script)
            .args(["batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", script.display()));
        Self {
            input: process.stdin.take().expect("piped"),
            output: BufReader::new(process.stdout.take().expect("piped")),
            _process: process,
        }
    }

    fn ask(&mut self, arguments: &[&str]) -> Value {
        writeln!(self.input, "{}", json!(arguments)).expect("the judge listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the judge answers");
        assert!(!line.is_empty(), "the judge exited; it needs a JDK, and Maven to be built");
        let answer: Value = serde_json::from_str(&line).expect("the judge answers in JSON");
        answer["result"].clone()
    }
}
