//! Pages of the documentation that name functions: each function is where the page says, and the page keeps its own limits.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::invariants_page::{Named, invariants};
use crate::path_page::paths;
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

/// What is wrong with the tables of functions in a page, about the source under `root`.
fn wrong_paths(page: &str, root: &Path) -> Vec<String> {
    let paths = match paths(page) {
        Ok(paths) => paths,
        Err(error) => return vec![error],
    };
    let mut sources = Sources::new(root);
    let mut wrong = Vec::new();
    for path in &paths {
        let (functions, files, name) = (path.rows.len(), path.files(), &path.name);
        if functions == 0 {
            wrong.push(format!("the path {name} has no functions"));
        }
        if functions > path.functions_max || files > path.files_max {
            let (functions_max, files_max) = (path.functions_max, path.files_max);
            wrong.push(format!(
                "the path {name} has {functions} functions in {files} files; at most {functions_max} in {files_max}"
            ));
        }
        for row in &path.rows {
            let problem = sources.problem(&row.file, &row.function, None);
            wrong.extend(problem.map(|problem| format!("line {}: {problem}", row.line)));
        }
    }
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
fn the_architecture_names_functions_that_are_there() {
    let page = page("architecture.md");
    assert_right("architecture.md", &wrong_paths(&page, &workspace()));
    let names: Vec<String> =
        paths(&page).expect("read above").into_iter().map(|path| path.name).collect();
    assert_eq!(names, ["get", "put"], "the tables that `docs/call-path --check` compares");
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

fn path_page(limits: &str, rows: &[&str]) -> String {
    format!(
        "# A page\n\n| `x.rs` | `is::before` |\n\n<!-- path: get at-most {limits} -->\n\n| file | function | does |\n|---|---|---|\n{}\n\n| `y.rs` | `is::after` |\n",
        rows.join("\n")
    )
}

#[test]
fn a_path_with_a_missing_function_or_too_many_is_wrong() {
    let root = fixture();
    let wrong = |limits: &str, rows: &[&str]| wrong_paths(&path_page(limits, rows), root.path());
    let step = "| `a.rs` | `Cursor::step` | moves |";
    let b = "| `b.rs` | `b` | |";
    assert!(wrong("2 functions 2 files", &[step, b]).is_empty());
    assert_eq!(
        wrong("2 functions 1 files", &[step, b]),
        ["the path get has 2 functions in 2 files; at most 2 in 1"]
    );
    assert_eq!(wrong("1 functions 2 files", &[step, b]).len(), 1);
    assert_eq!(
        wrong("2 functions 2 files", &[step, "| `a.rs` | `Cursor::stop` | |"]),
        ["line 10: a.rs has no function Cursor::stop"]
    );
    assert_eq!(wrong("2 functions 2 files", &["| `c.rs` | `f` | |"]).len(), 1, "no such file");
    assert_eq!(wrong("2 functions 2 files", &["| a.rs | `b` | |"]).len(), 1, "no backquotes");
    assert_eq!(wrong("2 functions", &[step]).len(), 1, "not a marker");
    assert_eq!(wrong("2 functions 2 files", &[]).len(), 1, "empty");
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
