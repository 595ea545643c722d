//! Places in the source that prose and diagrams name: `crate/src/file.rs`, or `crate/src/file.rs: Item`.

use std::fs;
use std::path::Path;

use crate::source::functions;
use crate::workspace;

/// A file under `crates/`, and the function or type in it that a page names.
#[derive(Debug, Eq, PartialEq)]
struct Place<'a> {
    line: usize,
    file: &'a str,
    item: Option<&'a str>,
}

/// Finds the places that a page names. A file begins with a crate's folder and ends in `.rs`.
fn places(page: &str) -> Vec<Place<'_>> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_/.-".contains(c);
    let is_item = |c: char| c.is_ascii_alphanumeric() || "_:".contains(c);
    let mut places = Vec::new();
    for (line, text) in (1..).zip(page.lines()) {
        for (at, _) in text.match_indices("/src/") {
            let start = text[..at].rfind(|c| !is_path(c)).map_or(0, |before| before + 1);
            let end = text[at..].find(|c| !is_path(c)).map_or(text.len(), |len| at + len);
            let Some(len) = text[start..end].rfind(".rs") else { continue };
            let (file, rest) = text[start..].split_at(len + ".rs".len());
            let item = rest.strip_prefix(": ").map(|item| {
                let end = item.find(|c| !is_item(c)).unwrap_or(item.len());
                &item[..end]
            });
            places.push(Place { line, file, item: item.filter(|item| !item.is_empty()) });
        }
    }
    places
}

/// Returns what is wrong with a place: its file or item does not exist.
fn problem(place: &Place<'_>, crates: &Path) -> Option<String> {
    let Place { line, file, item } = place;
    let file = file.strip_prefix("crates/").unwrap_or(file);
    let Ok(text) = fs::read_to_string(crates.join(file)) else {
        return Some(format!("line {line}: there is no {file}"));
    };
    let item = (*item)?;
    let has_function = || match functions(&text) {
        Ok(functions) => functions.iter().any(|function| function.name == item),
        Err(_) => false,
    };
    let has_type = || {
        ["struct", "enum", "trait", "type"].iter().any(|keyword| {
            let definition = format!("{keyword} {item}");
            text.match_indices(&definition).any(|(at, found)| {
                !text[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        })
    };
    (!has_function() && !has_type()).then(|| format!("line {line}: {file} has no {item}"))
}

#[test]
fn the_places_that_the_architecture_names_exist() {
    let page = workspace().join("docs/src/architecture.md");
    let page = fs::read_to_string(page).expect("the page exists");
    let places = places(&page);
    let with_item = places.iter().filter(|place| place.item.is_some()).count();
    assert!(with_item > 40, "only {with_item} places name a function or a type");
    let crates = workspace().join("crates");
    let problems: Vec<_> = places.iter().filter_map(|place| problem(place, &crates)).collect();
    assert!(problems.is_empty(), "\ndocs/src/architecture.md\n{}", problems.join("\n"));
}

#[test]
fn a_missing_file_function_or_type_is_a_problem() {
    let directory = tempfile::tempdir().expect("there is room for files");
    let source = directory.path().join("a/src");
    fs::create_dir_all(&source).expect("can be created");
    fs::write(source.join("b.rs"), "pub struct Cursor;\nimpl Cursor { fn step(&self) {} }\n")
        .expect("can be written");
    let page = "open  a/src/b.rs: Cursor::step   moves\n`crates/a/src/b.rs: Cursor`, a/src/b.rs.\n\
        a/src/c.rs\na/src/b.rs: Cur\n a/src/b.rs: Cursor::stop";
    let places = places(page);
    let named: Vec<_> = places.iter().map(|place| place.item).collect();
    let items =
        [Some("Cursor::step"), Some("Cursor"), None, None, Some("Cur"), Some("Cursor::stop")];
    assert_eq!(named, items);
    let problems: Vec<_> =
        places.iter().filter_map(|place| problem(place, directory.path())).collect();
    let expected = [
        "line 3: there is no a/src/c.rs",
        "line 4: a/src/b.rs has no Cur",
        "line 5: a/src/b.rs has no Cursor::stop",
    ];
    assert_eq!(problems, expected);
}
