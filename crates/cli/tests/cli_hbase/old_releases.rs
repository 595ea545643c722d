//! Root directories and HFiles of HBase 0.98 to 2.4: the cells are those that the same release returned.
//!
//! `tests/data/old-releases/README.md` says how they were made.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use serde_json::Value;
use support::root_directory::unpack;
use support::say;

use crate::command_line::{directory, hfile, text};

/// The releases, and the number of their answers.
const RELEASES: [(&str, usize); 6] = [
    ("0.98.24-hadoop2", 115),
    ("1.4.14", 128),
    ("1.7.2", 128),
    ("2.1.10", 107),
    ("2.4.18", 107),
    ("merged-2.1.10", 2),
];

/// Answers that differ from HBase's answers, by release, name and reason. `*` in a name stands for any text.
///
/// If no answer of a line differs any more, the test fails too: take the line from the list.
const DIFFERENCES: [(&str, &str, &str); 15] = [
    (
        V098,
        "r.*",
        "the running cluster had taken the log's cells back; after a restart, HBase 0.98 has them",
    ),
    (V098, "v.raw", "a raw scan of 0.98 leaves expired cells of a family with MIN_VERSIONS out"),
    (
        V098,
        "snap=sv.raw",
        "a raw scan of 0.98 leaves expired cells of a family with MIN_VERSIONS out",
    ),
    (V098, "v2-PREFIX_TREE*", PREFIX_TREE),
    (V098, "v3-PREFIX_TREE*", PREFIX_TREE),
    ("1.4.14", "v2-PREFIX_TREE*", PREFIX_TREE),
    ("1.4.14", "v3-PREFIX_TREE*", PREFIX_TREE),
    ("1.7.2", "v2-PREFIX_TREE*", PREFIX_TREE),
    ("1.7.2", "v3-PREFIX_TREE*", PREFIX_TREE),
    (V098, "e-prefix-tree.*", PREFIX_TREE),
    (V098, "snap=se-prefix-tree.*", PREFIX_TREE),
    ("1.4.14", "e-prefix-tree.*", PREFIX_TREE),
    ("1.4.14", "snap=se-prefix-tree.*", PREFIX_TREE),
    ("1.7.2", "e-prefix-tree.*", PREFIX_TREE),
    ("1.7.2", "snap=se-prefix-tree.*", PREFIX_TREE),
];

const V098: &str = "0.98.24-hadoop2";
const PREFIX_TREE: &str =
    "the encoding PREFIX_TREE is not supported; HBase 2 cannot read it either";

/// Returns the place of an answer in the list [`DIFFERENCES`].
fn known(release: &str, name: &str) -> Option<usize> {
    let is_name = |known: &str| match known.split_once('*') {
        Some((start, end)) => name.starts_with(start) && name.ends_with(end),
        None => name == known,
    };
    DIFFERENCES.iter().position(|(of, known, _)| *of == release && is_name(known))
}

/// A question, and the file with the answer of HBase.
struct Question {
    name: String,
    arguments: Vec<String>,
    truth: PathBuf,
    /// Whether the answer has tags and sequence ids.
    is_whole: bool,
}

/// The scans of tables and snapshots.
fn scans(place: &Path) -> Vec<Question> {
    let root = place.join("root").display().to_string();
    let times = fs::read_to_string(place.join("truth/now")).expect("times");
    let question = |(name, now): (&str, &str)| {
        let (source, kind) = name.rsplit_once('.').expect("SOURCE.KIND");
        let mut arguments = match source.strip_prefix("snap=") {
            Some(snapshot) => vec!["snapshot", "scan", "--root", &root, snapshot],
            None => vec!["table", "scan", "--root", &root, "--with-wal", source],
        };
        arguments.extend(["--format", "cells", "--now", now]);
        arguments.extend((kind == "raw").then_some("--raw"));
        Question {
            name: name.to_owned(),
            // A namespace and its table are divided by `=` in names of files.
            arguments: arguments.iter().map(|text| text.replacen("ns1=", "ns1:", 1)).collect(),
            truth: place.join("truth").join(format!("{name}.ndjson")),
            is_whole: false,
        }
    };
    times.lines().map(|line| question(line.split_once(' ').expect("a time"))).collect()
}

/// The cells of HFiles.
fn files(place: &Path) -> Vec<Question> {
    let listed = fs::read_dir(place.join("hfiles")).into_iter().flatten();
    let files = listed.map(|entry| entry.expect("readable").path());
    let question = |truth: PathBuf| {
        let file = truth.to_str()?.strip_suffix(".cells.ndjson")?.to_owned();
        let name = file.rsplit_once('/')?.1.to_owned();
        let arguments = ["cat", "--format", "cells", &file].map(str::to_owned).to_vec();
        Some(Question { name, arguments, truth, is_whole: true })
    };
    files.filter_map(question).collect()
}

/// Returns the cells of lines, without tags and sequence ids unless the answer is whole.
fn cells(lines: &str, is_whole: bool) -> Vec<Value> {
    let cell = |line: &str| {
        let mut cell: Value = serde_json::from_str(line).expect("JSON");
        let fields = cell.as_object_mut().expect("an object");
        let has_tags =
            fields.get("tags").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
        if !is_whole || !has_tags {
            fields.remove("tags");
        }
        if !is_whole || fields.get("seq").is_some_and(|id| *id == 0) {
            fields.remove("seq");
        }
        cell
    };
    lines.lines().map(cell).collect()
}

/// Asks, and returns what differs; `None` if nothing does.
fn difference(question: &Question) -> Option<String> {
    let arguments: Vec<&str> = question.arguments.iter().map(String::as_str).collect();
    let output = hfile(&arguments);
    let truth = fs::read_to_string(&question.truth).expect("HBase's answer");
    let expected = cells(&truth, question.is_whole);
    if output.status.success() {
        let found = cells(&text(&output.stdout), question.is_whole);
        let counts = format!("{} cells, HBase has {}", found.len(), expected.len());
        return (found != expected).then_some(counts);
    }
    let told = text(&output.stderr);
    Some(told.lines().next_back().unwrap_or_default().chars().take(200).collect())
}

#[test]
fn we_answer_as_old_releases_do() {
    let mut seen = BTreeSet::new();
    for (release, count) in RELEASES {
        let place = directory();
        let archives = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/old-releases");
        unpack(&archives.join(format!("{release}.tar.gz")), place.path());
        let questions: Vec<_> =
            scans(place.path()).into_iter().chain(files(place.path())).collect();
        assert_eq!(questions.len(), count, "{release}");
        let halves: Vec<_> = questions.chunks(count.div_ceil(2)).collect();
        let found: Vec<_> = thread::scope(|scope| {
            let ask = |half: &[Question]| half.iter().map(difference).collect::<Vec<_>>();
            let asked: Vec<_> = halves.iter().map(|half| scope.spawn(move || ask(half))).collect();
            asked.into_iter().flat_map(|thread| thread.join().expect("answers")).collect()
        });
        let mut new = Vec::new();
        for (question, found) in questions.iter().zip(found) {
            match (known(release, &question.name), found) {
                (_, None) => {}
                (Some(line), Some(_)) => {
                    seen.insert(line);
                }
                (None, Some(what)) => new.push(format!("{}: {what}", question.name)),
            }
        }
        assert!(new.is_empty(), "{release}: {new:#?}");
        say(&format!("HBase {release}: {count} answers compared"));
    }
    let lines = DIFFERENCES.iter().enumerate().filter(|(line, _)| !seen.contains(line));
    let right: Vec<_> = lines.map(|(_, line)| line).collect();
    assert!(right.is_empty(), "right by now, take the lines from the list: {right:#?}");
}
