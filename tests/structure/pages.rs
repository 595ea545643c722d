//! Documentation that names functions: the lists of call paths and the table of invariants. Each function must exist where
//! the documentation says, and the limits must hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::call_paths::{CallPath, Counts, parse_limits};
use crate::invariants_page::{Named, invariants};
use crate::source::{Function, functions};
use crate::workspace;

/// The functions of the files that were asked for.
struct Sources {
    root: PathBuf,
    files: BTreeMap<String, Result<(String, Vec<Function>), String>>,
}

impl Sources {
    fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), files: BTreeMap::new() }
    }

    fn file(&mut self, file: &str) -> Result<&(String, Vec<Function>), String> {
        let read = || {
            let text =
                fs::read_to_string(self.root.join(file)).map_err(|error| error.to_string())?;
            let functions = functions(&text).map_err(|error| error.to_string())?;
            Ok((text, functions))
        };
        self.files.entry(file.to_owned()).or_insert_with(read).as_ref().map_err(Clone::clone)
    }

    /// What is wrong with a function that a page names, and the macro that the page says is in it.
    fn problem(&mut self, file: &str, name: &str, asserts: Option<&str>) -> Option<String> {
        let (text, functions) = match self.file(file) {
            Ok(found) => found,
            Err(error) => return Some(format!("{file}: {error}")),
        };
        let mut named = functions.iter().filter(|function| function.name == name).peekable();
        if named.peek().is_none() {
            return Some(format!("{file} has no function {name}"));
        }
        let lines: Vec<&str> = text.lines().collect();
        let has = |function: &Function, start: &str| {
            let body = lines[function.first_line - 1..function.last_line].iter();
            body.clone().any(|line| line.trim_start().starts_with(start))
        };
        match asserts {
            Some(start) if !named.any(|function| has(function, start)) => {
                Some(format!("{file}: no line of {name} begins with {start}!"))
            }
            _ => None,
        }
    }
}

/// Finds the counts that a page quotes: rows `| [WORKLOAD](call-paths/…) | … | 1 | 1 | 1 |` of a table.
///
/// # Errors
///
/// Says which row is not of the form.
fn quoted_counts(page: &str) -> Result<BTreeMap<String, Counts>, String> {
    let mut quoted = BTreeMap::new();
    for (line, text) in (1..).zip(page.lines()) {
        let row = text.strip_prefix("| [").filter(|row| row.contains("](call-paths/"));
        let Some(row) = row else { continue };
        let cells: Vec<&str> = row.trim_end_matches([' ', '|']).split('|').map(str::trim).collect();
        let workload = cells[0].split(']').next().unwrap_or_default();
        let counts = cells.get(2..).and_then(Counts::from_words);
        let counts =
            counts.ok_or_else(|| format!("line {line}: no 3 counts at the end: {text}"))?;
        quoted.insert(workload.to_owned(), counts);
    }
    Ok(quoted)
}

/// What is wrong with the list of a workload, about the source under `root`, its limit and the counts that the page quotes.
fn wrong_list(
    list: &str,
    limit: Option<&Counts>,
    quoted: Option<&Counts>,
    root: &Path,
) -> Vec<String> {
    let path = match CallPath::parse(list) {
        Ok(path) => path,
        Err(error) => return vec![error],
    };
    let counts = path.counts();
    let mut wrong = Vec::new();
    if counts.functions == 0 || counts.one_line == 0 {
        wrong.push(format!("the list has {counts}"));
    }
    match limit {
        Some(limit) if !counts.is_within(limit) => {
            wrong.push(format!("the list has {counts}; at most {limit}"));
        }
        Some(_) => {}
        None => wrong.push("limits.txt has no limit for the list".to_owned()),
    }
    match quoted {
        Some(quoted) if *quoted == counts => {}
        Some(quoted) => wrong.push(format!("the list has {counts}; the page says {quoted}")),
        None => wrong.push("the page does not link to the list".to_owned()),
    }
    let mut sources = Sources::new(root);
    let entries = path.functions.iter().chain(&path.one_line);
    wrong.extend(entries.filter_map(|entry| sources.problem(&entry.file, &entry.function, None)));
    wrong
}

/// What is wrong with the table of invariants in a page, about the source under `root`.
fn wrong_invariants(page: &str, root: &Path) -> Vec<String> {
    let invariants = match invariants(page) {
        Ok(invariants) => invariants,
        Err(error) => return vec![error],
    };
    let mut sources = Sources::new(root);
    let mut wrong = Vec::new();
    let with_test = invariants.rows.iter().filter(|row| !row.cells[2].is_empty());
    let broken = with_test.clone().filter(|row| row.is_broken).count();
    let found = [invariants.rows.len(), with_test.count(), broken];
    let min = [invariants.rows_min, invariants.tests_min, invariants.broken_min];
    if found.iter().zip(min).any(|(found, min)| *found < min) {
        wrong.push(format!("rows, tests and broken: {found:?}; at least {min:?}"));
    }
    for (number, row) in (1..).zip(&invariants.rows) {
        if row.number != number {
            wrong.push(format!("line {}: {} where {number} is next", row.line, row.number));
        }
        if row.cells[0].is_empty() {
            wrong.push(format!("line {}: nothing establishes it", row.line));
        }
        for Named { file, function, asserts } in row.cells.iter().flatten() {
            let problem = sources.problem(file, function, *asserts);
            wrong.extend(problem.map(|problem| format!("line {}: {problem}", row.line)));
        }
    }
    wrong
}

fn assert_right(page: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "\ndocs/src/{page}\n{}", wrong.join("\n"));
}

fn page(name: &str) -> String {
    fs::read_to_string(workspace().join("docs/src").join(name)).expect("the page is there")
}

#[test]
fn the_call_paths_have_functions_that_exist_and_their_limits() {
    let folder = workspace().join("docs/src/call-paths");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("the list exists");
    let limits = parse_limits(&read("limits.txt")).expect("the limits are of the form");
    let quoted = quoted_counts(&page("architecture.md")).expect("the page quotes counts");
    for workload in ["get", "filtered-get", "map-get", "put"] {
        let (limit, quoted) = (limits.get(workload), quoted.get(workload));
        let wrong = wrong_list(&read(&format!("{workload}.txt")), limit, quoted, &workspace());
        assert_right(&format!("call-paths/{workload}.txt"), &wrong);
    }
}

#[test]
fn the_invariants_name_functions_that_are_there() {
    assert_right("invariants.md", &wrong_invariants(&page("invariants.md"), &workspace()));
}

const FIXTURE: &str = "
pub struct Cursor<T>(T);
impl<'a, T: Clone> Cursor<&'a T> {
    pub fn step(&mut self) {
        let next = |n: u32| n + 1;
        assert!(next(1) > 1, \"it moves\");
    }
}
impl<T> Iterator for Cursor<T> {
    type Item = T;
    fn next(&mut self) -> Option<T> { None }
}
trait Way { fn with_body(&self) {} fn without(&self); }
fn free() {
    debug_assert_eq!(1, 1);
    fn inside() {}
}
macro_rules! made { () => { fn in_macro() { } } }
#[cfg(test)]
mod tests { fn a_test() {} proptest! { #[test] fn a_law(x in 0..1) { } } }
";

fn fixture() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("there is a place for files");
    fs::write(directory.path().join("a.rs"), FIXTURE).expect("can be written");
    fs::write(directory.path().join("b.rs"), "fn b() {}").expect("can be written");
    directory
}

#[test]
fn functions_of_all_forms_have_names() {
    let mut names: Vec<String> =
        functions(FIXTURE).expect("parses").into_iter().map(|function| function.name).collect();
    names.sort();
    let all = [
        "Cursor::next",
        "Cursor::step",
        "Way::with_body",
        "a_law",
        "a_test",
        "free",
        "in_macro",
        "inside",
    ];
    assert_eq!(names, all);
}

#[test]
fn a_list_with_a_missing_function_or_too_many_is_wrong() {
    let root = fixture();
    let list = |summary: &str, functions: &str, one_line: &str| {
        format!("{summary}\n\n{functions}\nfunctions of one line:\n\n{one_line}\n")
    };
    let (summary, b) = ("2 functions in 1 files; 1 functions of one line", "b.rs: b");
    let right = list(summary, "a.rs: Cursor::step\na.rs: free\n", b);
    let counts = Counts { functions: 2, files: 1, one_line: 1 };
    let wrong = |list: &str| wrong_list(list, Some(&counts), Some(&counts), root.path());
    assert_eq!(wrong(&right), [""; 0]);
    assert_eq!(CallPath::parse(&right).expect("parses").to_string(), right);

    let missing = list(summary, "a.rs: Cursor::stop\na.rs: free\n", b);
    assert_eq!(wrong(&missing), ["a.rs has no function Cursor::stop"]);
    let missing = list(summary, "a.rs: Cursor::step\na.rs: free\n", "c.rs: f");
    assert_eq!(wrong(&missing).len(), 1, "no such file");
    let short = list(summary, "a.rs: free\n", b);
    assert_eq!(
        wrong(&short),
        ["the first line is \"2 functions in 1 files; 1 functions of one line\"; the list has 1 \
             functions in 1 files; 1 functions of one line"]
    );
    assert_eq!(wrong(&list(summary, "a.rs Cursor::step\n", b)).len(), 1, "no colon");
    let empty = CallPath::default().to_string();
    assert_eq!(
        wrong_list(&empty, Some(&counts), Some(&CallPath::default().counts()), root.path()).len(),
        1
    );

    for fewer in [
        Counts { functions: 1, ..counts },
        Counts { files: 0, ..counts },
        Counts { one_line: 0, ..counts },
    ] {
        assert_eq!(wrong_list(&right, Some(&fewer), Some(&counts), root.path()).len(), 1);
        assert_eq!(wrong_list(&right, Some(&counts), Some(&fewer), root.path()).len(), 1);
    }
    assert_eq!(wrong_list(&right, None, None, root.path()).len(), 2);
}

#[test]
fn limits_and_quoted_counts_are_read() {
    let counts = |functions| Counts { functions, files: 2, one_line: 3 };
    let limits = "workload  functions  files  one-line\nget  1  2  3\nput 4 2 3\n";
    let expected = BTreeMap::from([("get".to_owned(), counts(1)), ("put".to_owned(), counts(4))]);
    assert_eq!(parse_limits(limits).as_ref(), Ok(&expected));
    assert!(parse_limits("workload\nget 1 2\n").is_err());

    let row = "| [put](call-paths/put.txt) | a put | 4 | 2 | 3 |\n";
    let page = format!("| list | of |\n| [get](call-paths/get.txt) | a get | 1 | 2 | 3 |\n{row}");
    assert_eq!(quoted_counts(&page), Ok(expected));
    assert!(quoted_counts("| [put](call-paths/put.txt) | a put | 4 | 2 |").is_err());
}

fn invariants_page(limits: &str, rows: &[&str]) -> String {
    format!(
        "<!-- invariants: at-least {limits} -->\n\n| number | invariant | established by | asserted by | test |\n|--:|---|---|---|---|\n{}\n",
        rows.join("\n")
    )
}

#[test]
fn an_invariant_that_nobody_asserts_as_the_page_says_is_wrong() {
    let root = fixture();
    let wrong =
        |limits: &str, rows: &[&str]| wrong_invariants(&invariants_page(limits, rows), root.path());
    let right =
        "| 1 | It moves | `b.rs: b` | `assert!` in `a.rs: Cursor::step` | broken: `a.rs: a_test` |";
    assert!(wrong("1 rows 1 tests 1 broken", &[right]).is_empty());
    let too_few = ["rows, tests and broken: [1, 1, 1]; at least [2, 1, 1]"];
    assert_eq!(wrong("2 rows 1 tests 1 broken", &[right]), too_few);
    assert_eq!(wrong("1 rows 2 tests 1 broken", &[right]).len(), 1, "too few tests");
    let exercised = right.replace("broken", "exercised");
    assert_eq!(wrong("1 rows 1 tests 1 broken", &[&exercised]).len(), 1, "nothing is broken");
    let one = |row: &str| wrong("1 rows 0 tests 0 broken", &[row]);
    assert!(
        one("| 1 | x | `b.rs: b` | type `Moved`; `debug_assert!` in `a.rs: free` | |").is_empty()
    );
    assert_eq!(
        one("| 1 | x | `b.rs: b` | `assert!` in `a.rs: free` | |"),
        ["line 5: a.rs: no line of free begins with assert!"]
    );
    assert_eq!(one("| 1 | x | `b.rs: c` | | |"), ["line 5: b.rs has no function c"]);
    assert_eq!(one("| 1 | x | `b.rs: b` | | `b.rs: c` |"), ["line 5: b.rs has no function c"]);
    assert_eq!(one("| 1 | x | nobody | | |"), ["line 5: nothing establishes it"]);
    assert_eq!(one("| 2 | x | `b.rs: b` | | |"), ["line 5: 2 where 1 is next"]);
    assert_eq!(one("| 1 | x | `b.rs: b` |").len(), 1, "cells are missing");
}
