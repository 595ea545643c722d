//! Changed root directories, read by `hfile` and by HBase: never other cells without a word.
//!
//! Copies of sound roots are changed by a seed: one to three elements of each are taken away,
//! emptied, cut, damaged by a bit, doubled or aged (`root_judge`). HBase opens each root and gives its
//! cells, or refuses. `hfile` may refuse or warn. If it ends with status 0 and an empty stderr, its
//! cells must be the cells of HBase.
//!
//! Run with `HBASE_JUDGE=1`; see `tests/hbase-judge/README.md`. `ROOT_SEED` is the seed (0), `ROOTS`
//! the number of roots (40), and `ROOT_FIRST` the number of the first (0). Roots that are read
//! wrongly are kept.

use std::path::Path;
use std::{env, fs};

use serde_json::Value;
use support::{copy_directory, judge, say};

use crate::command_line::{directory, hfile, text};
use crate::root_judge::{Bases, Generated, NOW};

/// What HBase read: lines of cells, shown and raw, or why it refuses.
type Answer = Result<[Vec<String>; 2], String>;

fn hbase(root: &Path, generated: &Generated) -> Answer {
    let (out, subject) = (directory(), generated.subject);
    let [root, place] = [root, out.path()].map(|path| path.to_str().expect("text"));
    let mut ask = vec!["root", root, "--out", place, "--now", NOW];
    ask.extend(subject.is_snapshot.then_some("--snapshot"));
    ask.push(subject.name);
    let answer = judge::ask(&ask);
    let kind = if subject.is_snapshot { "snapshots" } else { "tables" };
    let answer = &answer[kind][subject.name];
    if answer["ok"] != true {
        return Err(answer["error"].as_str().unwrap_or("no answer").to_owned());
    }
    Ok(["cells", "raw"].map(|which| {
        let path = out.path().join(format!("{}.{which}.ndjson", subject.name));
        fs::read_to_string(path).expect("written").lines().map(str::to_owned).collect()
    }))
}

/// What `hfile` read, shown or raw; `None` if it refuses or says something.
fn ours(generated: &Generated, raw: bool) -> Result<Option<Vec<String>>, String> {
    let (root, subject) = (generated.path(), generated.subject);
    let root = root.to_str().expect("text");
    let mut args = vec![if subject.is_snapshot { "snapshot" } else { "table" }, "scan"];
    args.extend(["--root", root, "--format", "cells", "--versions", "all", "--now", NOW]);
    args.extend((!subject.is_snapshot).then_some("--with-wal"));
    args.extend(raw.then_some("--raw"));
    args.push(subject.name);
    let output = hfile(&args);
    let stderr = text(&output.stderr);
    if !matches!(output.status.code(), Some(0..=3)) || stderr.contains("panicked") {
        return Err(format!("{}: {stderr}", output.status));
    }
    let is_silent = output.status.success() && stderr.is_empty();
    let lines = is_silent.then(|| text(&output.stdout).lines().map(without_sequence).collect());
    Ok(lines)
}

/// Returns a cell without its sequence id, which HBase's answers do not have.
fn without_sequence(line: &str) -> String {
    match line.split_once(",\"seq\":") {
        Some((cell, rest)) => {
            format!("{cell}{}", rest.trim_start_matches(|digit: char| digit.is_ascii_digit()))
        }
        None => line.to_owned(),
    }
}

#[derive(Default)]
struct Report {
    /// HBase refused.
    refused: usize,
    /// `hfile` refused or warned.
    said: usize,
    /// `hfile` gave HBase's cells without a word.
    same: usize,
    faults: Vec<String>,
}

impl Report {
    fn compare(&mut self, generated: &Generated, bases: &mut Bases) {
        let theirs = hbase(&generated.path(), generated);
        self.refused += usize::from(theirs.is_err());
        let mut faults = Vec::new();
        let mut is_silent = false;
        for raw in [false, true] {
            let ours = match ours(generated, raw) {
                Ok(Some(cells)) => cells,
                Ok(None) => continue,
                Err(error) => {
                    faults.push(error);
                    continue;
                }
            };
            is_silent = true;
            let which = if raw { "raw" } else { "shown" };
            match &theirs {
                Ok(theirs) => {
                    let theirs = &theirs[usize::from(raw)];
                    faults
                        .extend(difference(&ours, theirs).map(|fault| format!("{which}: {fault}")));
                }
                Err(error) => {
                    let sound = hbase(&bases.get(generated.base), generated).expect("sound");
                    let sound = &sound[usize::from(raw)];
                    let count = ours.len();
                    let change =
                        difference(&ours, sound).unwrap_or_else(|| "as if sound".to_owned());
                    faults.push(format!("{which}: ours {count} cells ({change}); HBase: {error}"));
                }
            }
        }
        self.said += usize::from(!is_silent);
        self.same += usize::from(is_silent && faults.is_empty());
        if !faults.is_empty() {
            let kept = keep(generated);
            let changes = generated.changes.join("\n  ");
            let (base, subject) = (generated.base, generated.subject.name);
            let faults = faults.join("\n  ");
            self.faults.push(format!("{base:?}, {subject}, {kept}\n  {changes}\n  {faults}"));
        }
    }
}

/// Returns the first difference between two answers.
fn difference(ours: &[String], theirs: &[String]) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let (count, of) = (ours.len(), theirs.len());
    let at = (0..count.max(of)).find(|&at| ours.get(at) != theirs.get(at))?;
    let [our, their] = [ours, theirs].map(|all| {
        let line = all.get(at).map_or("nothing", String::as_str);
        let cell = serde_json::from_str::<Value>(line).unwrap_or_default().to_string();
        cell.chars().take(200).collect::<String>()
    });
    Some(format!("{count} cells for {of}; cell {at}:\n    ours  {our}\n    HBase {their}"))
}

/// Copies a root to where it stays.
fn keep(generated: &Generated) -> String {
    let kept = directory().keep();
    let from = generated.path();
    copy_directory(&from, &kept.join("root"));
    kept.join("root").display().to_string()
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn changed_roots_never_give_other_cells_than_hbase_silently() {
    if !judge::is_enabled("roots: changed root directories") {
        return;
    }
    let [seed, count, first] = [("ROOT_SEED", 0), ("ROOTS", 40), ("ROOT_FIRST", 0)]
        .map(|(name, default)| number(name, default));
    let (mut bases, mut report) = (Bases::new(), Report::default());
    for root in first..first + count {
        let generated = Generated::make(seed, root, &mut bases);
        let before = report.faults.len();
        report.compare(&generated, &mut bases);
        for fault in &mut report.faults[before..] {
            *fault = format!("root {root} of seed {seed}: {fault}");
            say(fault);
        }
    }
    let Report { refused, said, same, faults } = report;
    say(&format!(
        "roots: of {count} changed roots of seed {seed}, {same} are read as by HBase, {said} are refused or \
         warned of, {} are wrong; HBase refused {refused}",
        faults.len()
    ));
    assert!(faults.is_empty(), "{} roots are read wrongly without a word", faults.len());
}
