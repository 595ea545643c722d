//! Prints the functions of this workspace that one round of a workload executes, for
//! `docs/call-path`.
//!
//! ```text
//! call_path_report ROOT ROUNDS FEWER.json MORE.json [PAGE PATH]
//! ```
//!
//! The two files are exports of `llvm-cov` for a run and for one with ROUNDS more rounds. Their
//! counts are subtracted and divided by ROUNDS. Instantiations of a generic function are added up,
//! and a closure belongs to the function around it. Inlined functions count like all others,
//! because the counters are inserted before inlining. With a page of the documentation and the name
//! of a table in it (see `tests/structure/path_page.rs`), the functions are compared with the
//! table.

#![expect(clippy::print_stdout, reason = "the list is the result of this program")]

#[path = "../structure/path_page.rs"]
mod path_page;
#[path = "../structure/source.rs"]
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::Value;
use source::Function;

type Failure = Box<dyn Error>;

/// The maximum number of lines between the braces of an accessor.
const ACCESSOR_LINES: usize = 1;

/// Functions that fewer rounds execute are listed separately: the last row of a block, a full
/// buffer.
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

/// By file and function: the lines between the braces, and the executions per round.
type Executed = BTreeMap<(String, String), (usize, f64)>;

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
        let (name, lines, own) = match function_at(&files[&file[..]], *line) {
            Some(function) => {
                (function.name.clone(), function.body_lines, function.first_line == *line)
            }
            None => (format!("line {line}"), usize::MAX, true),
        };
        let (_, often) = executed.entry((file.clone(), name)).or_insert((lines, 0.0));
        if own {
            *often += (count - before) as f64 / rounds;
        }
    }
    Ok(executed)
}

fn print(executed: &Executed) {
    let shown = |what: &str, those: &dyn Fn(f64) -> bool| {
        println!("{what}:\n");
        for ((file, name), (lines, often)) in executed {
            if those(*often) {
                let accessor = if *lines <= ACCESSOR_LINES { "  accessor" } else { "" };
                println!("{file}: {name} {often:.3}  {lines} lines{accessor}");
            }
        }
        let count = |accessors: bool| {
            let kept = executed.iter().filter(|(_, (lines, often))| {
                those(*often) && (accessors || *lines > ACCESSOR_LINES)
            });
            let files: BTreeSet<&str> = kept.clone().map(|((file, _), _)| &file[..]).collect();
            (kept.count(), files.len())
        };
        let ((all, all_files), (long, long_files)) = (count(true), count(false));
        println!(
            "\n{all} functions in {all_files} files; {long} in {long_files} without accessors of up to \
             {ACCESSOR_LINES} line\n"
        );
    };
    shown("in most rounds, with how often in each", &|often| often >= RARE);
    shown("in some rounds only", &|often| often < RARE);
}

/// Prints the functions that are executed and not listed, or listed and not executed.
fn compare(executed: &Executed, page: &str, name: &str) -> Result<bool, Failure> {
    let paths = path_page::paths(&fs::read_to_string(page)?)?;
    let path = paths.iter().find(|path| path.name == name).ok_or("no such table in the page")?;
    println!(
        "compared with {page}, {} functions in {} files, at most {} in {}:",
        path.rows.len(),
        path.files(),
        path.functions_max,
        path.files_max
    );
    let listed: BTreeSet<(&str, &str)> =
        path.rows.iter().map(|row| (&row.file[..], &row.function[..])).collect();
    let mut same = true;
    for ((file, function), (lines, often)) in executed {
        let must = *lines > ACCESSOR_LINES && *often >= RARE;
        if must && !listed.contains(&(&file[..], &function[..])) {
            println!("executed, not listed: {file}: {function}");
            same = false;
        }
    }
    for row in &path.rows {
        if !executed.contains_key(&(row.file.clone(), row.function.clone())) {
            println!("listed on line {}, not executed: {}: {}", row.line, row.file, row.function);
            same = false;
        }
    }
    if same {
        println!("the same functions");
    }
    Ok(same)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, rounds, fewer, more, page @ ..] = &arguments[..] else {
        return Err("usage: call_path_report ROOT ROUNDS FEWER.json MORE.json [PAGE PATH]".into());
    };
    let (fewer, more) = (counts(fewer.as_ref(), root)?, counts(more.as_ref(), root)?);
    let executed = executed(root, rounds.parse()?, &fewer, &more)?;
    print(&executed);
    if let [page, path] = page
        && !compare(&executed, page, path)?
    {
        return Err("the table and the path differ".into());
    }
    Ok(())
}
