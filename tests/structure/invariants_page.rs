//! The table of invariants in the documentation.
//!
//! ```text
//! <!-- invariants: at-least 15 rows 5 tests 3 broken -->
//!
//! | number | invariant | established by | asserted by | test |
//! |--:|---|---|---|---|
//! | 1 | The log … | `crates/store/src/a.rs: f` | `assert!` in `crates/store/src/b.rs: T::g` | broken: `crates/cli/tests/kills/acknowledged_puts.rs: h` |
//! ```
//!
//! A function is named as `file: function`. Where a cell says `assert!` or `debug_assert!`, the function it names must contain
//! one. A row has a test if its last cell names a function. The test breaks the invariant, in release too, if that cell begins
//! with `broken:`.

/// A marker, and the rows under it.
#[derive(Debug)]
pub(crate) struct Invariants {
    pub(crate) rows_min: usize,
    pub(crate) tests_min: usize,
    pub(crate) broken_min: usize,
    pub(crate) rows: Vec<Row>,
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) line: usize,
    pub(crate) number: usize,
    /// What establishes, asserts and tests the invariant.
    pub(crate) cells: [Vec<Named>; 3],
    /// Whether the test breaks the invariant, in release too.
    pub(crate) is_broken: bool,
}

/// A function that a cell names, and the macro that must be in it.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Named {
    pub(crate) file: String,
    pub(crate) function: String,
    pub(crate) asserts: Option<&'static str>,
}

/// Reads the table of a page.
///
/// # Errors
///
/// Says which line is not of the form.
pub(crate) fn invariants(page: &str) -> Result<Invariants, String> {
    let mut lines = (1..).zip(page.lines());
    let marker = lines.by_ref().find_map(|(_, line)| line.trim().strip_prefix("<!-- invariants:"));
    let mut invariants = marker.and_then(limits).ok_or("no marker of the form")?;
    for (line, text) in lines.filter(|(_, text)| text.starts_with('|')) {
        let inner = text.trim_end().strip_suffix('|').unwrap_or(text);
        let cells: Vec<&str> = inner.split('|').skip(1).map(str::trim).collect();
        if cells[0] == "number" || cells[0].starts_with("--") {
            continue;
        }
        let [number, _, established, asserted, test] = cells[..] else {
            return Err(format!("line {line}: {} cells, not 5: {text}", cells.len()));
        };
        let number = number.parse().map_err(|_| format!("line {line}: not a number: {number}"))?;
        let is_broken = test.starts_with("broken:");
        let cells = [named(established), named(asserted), named(test)];
        invariants.rows.push(Row { line, number, cells, is_broken });
    }
    Ok(invariants)
}

fn limits(marker: &str) -> Option<Invariants> {
    let words: Vec<&str> = marker.strip_suffix("-->")?.split_whitespace().collect();
    let ["at-least", rows, "rows", tests, "tests", broken, "broken"] = words[..] else {
        return None;
    };
    let (rows_min, tests_min) = (rows.parse().ok()?, tests.parse().ok()?);
    Some(Invariants { rows_min, tests_min, broken_min: broken.parse().ok()?, rows: Vec::new() })
}

/// The functions in a cell: what stands in backquotes with a colon in it, each with the macro named before.
fn named(cell: &str) -> Vec<Named> {
    let mut asserts = None;
    let mut named = Vec::new();
    for code in cell.split('`').skip(1).step_by(2) {
        match code {
            "assert!" => asserts = Some("assert"),
            "debug_assert!" => asserts = Some("debug_assert"),
            _ => {
                if let Some((file, function)) = code.split_once(": ") {
                    let (file, function) = (file.to_owned(), function.to_owned());
                    named.push(Named { file, function, asserts: asserts.take() });
                }
            }
        }
    }
    named
}
