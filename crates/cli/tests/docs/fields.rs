//! The tables of a page that explain fields of JSON objects.
//!
//! ```text
//! | field | meaning |
//! |---|---|
//! | `loads[].filter`, `map_…` | … |
//! ```

use crate::page::Page;

/// A field that a table explains.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Field {
    pub(crate) line: usize,
    /// Without the objects around the field.
    pub(crate) name: String,
}

/// Returns the fields that the tables of a page explain; not names that end in `…`.
pub(crate) fn explained(page: &str) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut is_table = false;
    for (line, text) in (1..).zip(page.lines()) {
        is_table = text.starts_with("| field |") || (is_table && text.starts_with('|'));
        if !is_table {
            continue;
        }
        let cell = text.split('|').nth(1).unwrap_or_default();
        let paths = cell.split('`').skip(1).step_by(2);
        for path in paths.filter(|path| !path.ends_with('…')) {
            let name = path.rsplit('.').next().unwrap_or(path);
            fields.push(Field { line, name: name.trim_end_matches("[]").to_owned() });
        }
    }
    fields
}

/// Whether an object on the page has the field.
pub(crate) fn is_shown(page: &Page, name: &str) -> bool {
    let quoted = format!("\"{name}\":");
    page.blocks("json").any(|block| block.lines.iter().any(|line| line.contains(&quoted)))
}

#[test]
fn fields_are_named_without_the_objects_around_them() {
    let page = "| a | b |\n|---|---|\n| `x` | |\n\n| field | meaning |\n|---|---|\n\
                | `kinds[].name`, `all[]` | `y` |\n| `map_…` | |\n\n| `z` | |\n";
    let field = |name: &str| Field { line: 7, name: name.to_owned() };
    assert_eq!(explained(page), [field("name"), field("all")]);
}
