//! Prints the functions of this workspace that one round of a workload executes, for
//! `docs/call-path`.
//!
//! ```text
//! call_path_report ROOT ROUNDS FEWER.json MORE.json --print|--check|--update WORKLOAD
//! ```
//!
//! The two files are exports of `llvm-cov` for a run and for one with ROUNDS more rounds. Their
//! counts are subtracted and divided by ROUNDS. Instantiations of a generic function are added up,
//! and a closure belongs to the function around it. Inlined functions count like all others,
//! because the counters are inserted before inlining.
//!
//! `--print` prints the functions. `--check` compares them with the workload's list
//! (`tests/structure/call_paths.rs`), and their counts with the limits. `--update` writes the list.

#![expect(clippy::print_stdout, reason = "the list is the result of this program")]

#[path = "../structure/call_paths.rs"]
mod call_paths;
#[path = "../structure/source.rs"]
mod source;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use call_paths::{CallPath, Counts, Entry};
use serde_json::Value;
use source::Function;

type Failure = Box<dyn Error>;

/// Functions that fewer rounds execute are not in the list: the last row of a block, a full buffer.
const RARE: f64 = 0.1;

/// The start of a function: a file under the root, and a line.
type Place = (String, usize);

/// Returns the execution count of each function in an export, by its start.
fn counts(export: &Path, root: &str) -> Result<BTreeMap<Place, u64>, Failure> {
    let export: Value = serde_json::from_slice(&fs::read(export)?)?;
    let mut counts = BTreeMap::new();
    for function in export["data"][0]["functions"].as_array().ok_or("no list of functions")? {
        let file = function["filenames"][0].as_str().ok_or("a function without a file")?;
        let Some(file) = file.strip_prefix(root) else { continue };
        let line = function["regions"][0][0].as_u64().ok_or("a function without a region")?;
        let count = function["count"].as_u64().ok_or("a function without a count")?;
        *counts.entry((file.trim_start_matches('/').to_owned(), line as usize)).or_default() +=
            count;
    }
    Ok(counts)
}

/// Returns the innermost function around a line.
fn function_at(functions: &[Function], line: usize) -> Option<&Function> {
    functions
        .iter()
        .filter(|function| (function.first_line..=function.last_line).contains(&line))
        .max_by_key(|function| function.first_line)
}

/// What was executed of a function.
struct Execution {
    /// The lines between the braces.
    body_lines: usize,
    per_round: f64,
}

type Executed = BTreeMap<Entry, Execution>;

fn executed(
    root: &str,
    rounds: f64,
    fewer: &BTreeMap<Place, u64>,
    more: &BTreeMap<Place, u64>,
) -> Result<Executed, Failure> {
    let mut files: BTreeMap<&str, Vec<Function>> = BTreeMap::new();
    let mut executed = Executed::new();
    for ((file, line), count) in more {
        let before = fewer.get(&(file.clone(), *line)).copied().unwrap_or(0);
        if *count <= before || !file.starts_with("crates/") || !file.contains("/src/") {
            continue;
        }
        if !files.contains_key(&file[..]) {
            let source = fs::read_to_string(Path::new(root).join(file))?;
            files.insert(file, source::functions(&source)?);
        }
        let found = function_at(&files[&file[..]], *line);
        let function = found.map_or_else(|| format!("line {line}"), |found| found.name.clone());
        let body_lines = found.map_or(usize::MAX, |found| found.body_lines);
        let execution = executed
            .entry(Entry { file: file.clone(), function })
            .or_insert(Execution { body_lines, per_round: 0.0 });
        let is_closure = found.is_some_and(|found| found.first_line != *line);
        if !is_closure {
            execution.per_round += (count - before) as f64 / rounds;
        }
    }
    Ok(executed)
}

/// Returns the list of the functions that most rounds execute.
fn list(executed: &Executed) -> CallPath {
    let mut path = CallPath::default();
    for (entry, execution) in executed.iter().filter(|(_, found)| found.per_round >= RARE) {
        let entries =
            if execution.body_lines <= 1 { &mut path.one_line } else { &mut path.functions };
        entries.insert(entry.clone());
    }
    path
}

fn print(executed: &Executed) {
    let print_those = |heading: &str, those: &dyn Fn(f64) -> bool| {
        println!("{heading}:\n");
        for (entry, Execution { body_lines, per_round }) in executed {
            if those(*per_round) {
                println!("{entry} {per_round:.3}  {body_lines} lines");
            }
        }
        println!();
    };
    print_those("in most rounds, with how often in each", &|per_round| per_round >= RARE);
    print_those("in some rounds only", &|per_round| per_round < RARE);
    println!("in most rounds: {}", list(executed).counts());
}

/// Prints the differences between what was executed and a list, and returns whether there are none.
fn is_as_listed(executed: &Executed, listed: &CallPath) -> bool {
    let executed_often = list(executed);
    let added: Vec<&Entry> = (executed_often.functions.difference(&listed.functions))
        .chain(executed_often.one_line.difference(&listed.one_line))
        .collect();
    // A function that is executed more rarely stays: what is rare depends on the sizes of blocks.
    let removed: Vec<&Entry> = (listed.functions.iter().chain(&listed.one_line))
        .filter(|entry| !executed.contains_key(entry))
        .collect();
    for entry in &added {
        println!("  executed, not listed: {entry}");
    }
    for entry in &removed {
        println!("  listed, not executed: {entry}");
    }
    added.is_empty() && removed.is_empty()
}

fn check(executed: &Executed, folder: &Path, workload: &str) -> Result<(), Failure> {
    let limits = call_paths::parse_limits(&fs::read_to_string(folder.join("limits.txt"))?)?;
    let limit: &Counts = limits.get(workload).ok_or("limits.txt has no such workload")?;
    let text = fs::read_to_string(folder.join(format!("{workload}.txt")))?;
    let listed = CallPath::parse(&text)?;
    let counts = listed.counts();
    if !is_as_listed(executed, &listed) {
        return Err("the list differs: docs/call-path --update writes it".into());
    }
    if !counts.is_within(limit) {
        return Err(format!("{counts} are more than {limit}, the limits").into());
    }
    println!("{workload}: {counts}, as listed");
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: call_path_report ROOT ROUNDS FEWER.json MORE.json --print|--check|--update WORKLOAD";
    let [root, rounds, fewer, more, action, workload] = &arguments[..] else {
        return Err(usage.into());
    };
    let (fewer, more) = (counts(fewer.as_ref(), root)?, counts(more.as_ref(), root)?);
    let executed = executed(root, rounds.parse()?, &fewer, &more)?;
    let folder = Path::new(root).join("docs/src/call-paths");
    match &action[..] {
        "--print" => print(&executed),
        "--check" => check(&executed, &folder, workload)?,
        "--update" => {
            let path = list(&executed);
            fs::write(folder.join(format!("{workload}.txt")), path.to_string())?;
            println!("{workload}: {}", path.counts());
        }
        _ => return Err(usage.into()),
    }
    Ok(())
}
