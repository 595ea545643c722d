//! The width of the text of the pages: `docs/wrap-pages` wraps it.

use std::path::Path;

use crate::links::pages;
use crate::workspace;

/// Maximum number of columns.
const WIDTH: usize = 100;

/// Returns the numbers of the lines of text that are too wide. Code blocks, tables, headings and comments are no text,
/// and a line of one word cannot be wrapped.
fn wide_lines(page: &str) -> Vec<usize> {
    let mut wide = Vec::new();
    let mut is_code = false;
    for (number, line) in (1..).zip(page.lines()) {
        let text = line.trim();
        if text.starts_with("```") {
            is_code = !is_code;
        }
        let is_text = !is_code && !text.starts_with(['|', '#', '<']);
        if is_text && text.contains(' ') && line.chars().count() > WIDTH {
            wide.push(number);
        }
    }
    wide
}

#[test]
fn the_text_of_the_pages_is_wrapped() {
    let mut wide = Vec::new();
    for (path, page) in pages(&workspace()) {
        let is_wrapped = path.starts_with("docs/src") && !path.ends_with("SUMMARY.md");
        if is_wrapped || ["README.md", "CONTRIBUTING.md"].map(Path::new).contains(&path.as_path()) {
            wide.extend(wide_lines(&page).iter().map(|line| format!("{}:{line}", path.display())));
        }
    }
    assert!(wide.is_empty(), "run docs/wrap-pages\n{}", wide.join("\n"));
}

#[test]
fn a_wide_line_of_text_is_found_and_other_wide_lines_are_not() {
    let wide = "x ".repeat(WIDTH);
    let word = "x".repeat(WIDTH + 1);
    let page = format!("{wide}\n```text\n{wide}\n```\n| {wide}\n<!-- {wide}\n{word}\n  * {wide}\n");
    assert_eq!(wide_lines(&page), [1, 8]);
}
