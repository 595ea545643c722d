//! Real HBase, asked over pipes: one JVM a test run, started by the first question.
//!
//! It is asked only where `HBASE_JUDGE=1` is set, since it needs a JDK and, the first time, Maven
//! and a download. Without that the tests say that they were skipped; with it, a judge that cannot
//! be had is a failure.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::say;

static JUDGE: LazyLock<Mutex<Judge>> = LazyLock::new(|| Mutex::new(Judge::start()));

/// Whether HBase is to be asked; if not, says aloud that `test` was skipped.
pub fn is_wanted(test: &str) -> bool {
    let is_wanted = env::var_os("HBASE_JUDGE").is_some_and(|value| value == "1");
    if !is_wanted {
        say(&format!(
            "{test}: skipped, for it asks real HBase; run it with HBASE_JUDGE=1 (needs a JDK and \
             Maven, and downloads HBase's jars once)"
        ));
    }
    is_wanted
}

/// Asks HBase one question, as on the command line of `tests/hbase-judge/judge`.
///
/// The answer is its JSON; `"ok"` in it says whether all checks passed.
///
/// # Panics
///
/// If the judge cannot be started or does not answer.
pub fn ask<S: AsRef<str>>(arguments: &[S]) -> Value {
    let mut judge = JUDGE.lock().unwrap_or_else(PoisonError::into_inner);
    judge.ask(&arguments.iter().map(AsRef::as_ref).collect::<Vec<_>>())
}

struct Judge {
    /// Ends by itself when its input does, with this process.
    _process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Judge {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hbase-judge/judge");
        let mut process = Command::new(&script)
            .args(["batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", script.display()));
        Self {
            input: process.stdin.take().expect("it was asked for"),
            output: BufReader::new(process.stdout.take().expect("it was asked for")),
            _process: process,
        }
    }

    fn ask(&mut self, arguments: &[&str]) -> Value {
        writeln!(self.input, "{}", json!(arguments)).expect("the judge listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the judge answers");
        assert!(!line.is_empty(), "the judge ended; it needs a JDK, and Maven to be built");
        let answer: Value = serde_json::from_str(&line).expect("the judge answers in JSON");
        answer["result"].clone()
    }
}
