//! Tables of functions in the documentation, which a test compares with the source.
//!
//! A marker comment opens a table and says how long it may be; the rows follow, each with a file and a function in
//! backquotes; the first line after them that is no row of a table closes it:
//!
//! ```text
//! <!-- path: get at-most 30 functions 12 files -->
//!
//! | file | function | does |
//! |---|---|---|
//! | `crates/store/src/store.rs` | `Store::get` | takes a view of the store |
//! ```

use std::collections::BTreeSet;

/// A marker, and the rows under it.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) name: String,
    pub(crate) functions_max: usize,
    pub(crate) files_max: usize,
    pub(crate) rows: Vec<Row>,
}

/// A row: a file, a function, and the line of the page.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) line: usize,
    pub(crate) file: String,
    pub(crate) function: String,
}

impl Path {
    pub(crate) fn files(&self) -> usize {
        self.rows.iter().map(|row| &row.file[..]).collect::<BTreeSet<_>>().len()
    }
}

/// Reads the tables of a page.
///
/// # Errors
///
/// Says which line has a marker or a row that is not of the form.
pub(crate) fn paths(page: &str) -> Result<Vec<Path>, String> {
    let mut paths: Vec<Path> = Vec::new();
    let mut open = false;
    for (line, text) in (1..).zip(page.lines()) {
        let text = text.trim();
        if text.starts_with("<!-- path:") {
            paths.push(marker(text).ok_or(format!("line {line}: not a marker: {text}"))?);
            open = true;
            continue;
        }
        let Some(path) = paths.last_mut().filter(|_| open) else { continue };
        if let Some(cells) = text.strip_prefix('|') {
            let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
            if cells[0] == "file" || cells[0].starts_with("---") || cells[0].starts_with(":--") {
                continue;
            }
            let code = |cell: &str| Some(cell.strip_prefix('`')?.strip_suffix('`')?.to_owned());
            match (code(cells[0]), cells.get(1).and_then(|cell| code(cell))) {
                (Some(file), Some(function)) => path.rows.push(Row { line, file, function }),
                _ => return Err(format!("line {line}: want | `file` | `function` | …: {text}")),
            }
        } else if !path.rows.is_empty() || !text.is_empty() {
            open = false;
        }
    }
    Ok(paths)
}

fn marker(text: &str) -> Option<Path> {
    let words: Vec<&str> =
        text.strip_prefix("<!-- path:")?.strip_suffix("-->")?.split_whitespace().collect();
    let [name, "at-most", functions_max, "functions", files_max, "files"] = words[..] else {
        return None;
    };
    Some(Path {
        name: name.to_owned(),
        functions_max: functions_max.parse().ok()?,
        files_max: files_max.parse().ok()?,
        rows: Vec::new(),
    })
}
