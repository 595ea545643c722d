//! Words that the house style replaces: source, scripts and pages do not use them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace;

/// Each phrase with what to write instead.
const REPLACED: [(&str, &str); 42] = [
    ("send for", "prefetch"),
    ("sends for", "prefetch"),
    ("sent for", "prefetch"),
    ("ask ahead for", "prefetch"),
    ("asks ahead for", "prefetch"),
    ("lend", "borrow, or return a reference"),
    ("lends", "borrow, or return a reference"),
    ("lent", "borrow, or return a reference"),
    ("lending", "borrow, or return a reference"),
    ("walk", "iterate, or a cursor"),
    ("walks", "iterate, or a cursor"),
    ("walked", "iterate, or a cursor"),
    ("walking", "iterate, or a cursor"),
    ("in few steps", "fast path"),
    ("in all steps", "slow path"),
    ("the usual way", "fast path"),
    ("of differences", "delta-encoded"),
    ("stranger", "absent key, or missing row"),
    ("strangers", "absent keys, or missing rows"),
    ("nought", "zero"),
    ("in no near cache", "cache miss"),
    ("near caches", "L1 and L2"),
    ("wait for a line", "cache miss"),
    ("waits for a line", "cache miss"),
    ("undo", "decode, or parse"),
    ("undoes", "decode, or parse"),
    ("undone", "decoded, or parsed"),
    ("undoing", "decoding, or parsing"),
    ("take apart", "decode, or parse"),
    ("takes apart", "decode, or parse"),
    ("taken apart", "decoded, or parsed"),
    ("comes to more than", "exceeds"),
    ("come to more than", "exceed"),
    ("so many", "the number, with its unit"),
    ("never anything but", "an invariant, or must"),
    ("held against", "checked, or compared with"),
    ("holds against", "compares with"),
    ("hold against", "compare with"),
    ("fifth less", "a percentage"),
    ("fifths less", "a percentage"),
    ("tenths less", "a percentage"),
    ("third less", "a percentage"),
];

/// Returns the replaced phrases in a text, each with its line.
fn replaced_phrases(text: &str) -> Vec<(usize, &'static str)> {
    let mut words = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let split = text.split(|c: char| !c.is_ascii_alphanumeric());
        words.extend(split.filter(|word| !word.is_empty()).map(|word| (line, word.to_lowercase())));
    }
    let mut found = Vec::new();
    for start in 0..words.len() {
        for (phrase, _) in REPLACED {
            let mut rest = words[start..].iter();
            if phrase.split(' ').all(|word| rest.next().is_some_and(|(_, next)| next == word)) {
                found.push((words[start].0, phrase));
            }
        }
    }
    found
}

/// Lists the text files of the project: sources, scripts and pages.
fn texts() -> Vec<PathBuf> {
    let root = workspace();
    let mut files: Vec<_> = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Cargo.toml"]
        .map(|path| root.join(path))
        .into();
    let mut folders: Vec<_> =
        [".ci", "crates", "tests", "benches", "docs", "fuzz"].map(|name| root.join(name)).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder exists") {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                if !["target", "data", "corpus", "artifacts"].contains(&name) {
                    folders.push(path);
                }
            } else if is_text(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns whether people read the file: not the lists of the public API, and not this file.
fn is_text(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_script = extension.is_none();
    !path.ends_with("structure/words.rs")
        && (is_script || matches!(extension, Some("rs" | "md" | "toml" | "sh" | "patch")))
}

#[test]
fn texts_use_the_words_of_the_field() {
    let root = workspace();
    let mut problems = Vec::new();
    let texts = texts();
    assert!(texts.len() > 500, "only {} files were found", texts.len());
    for path in &texts {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let shown = path.strip_prefix(&root).unwrap_or(path).display();
        for (line, phrase) in replaced_phrases(&text) {
            let (_, better) =
                REPLACED.iter().find(|(replaced, _)| *replaced == phrase).expect("it is listed");
            problems.push(format!("{shown}:{line}: \"{phrase}\"; write: {better}"));
        }
    }
    assert!(problems.is_empty(), "\n{}\n{} phrases", problems.join("\n"), problems.len());
}

#[test]
fn a_replaced_phrase_is_found_across_lines_and_in_names() {
    let text = "/// It is sent\n/// for. Walks_over; so  MANY\n// lending unlent thirds less";
    let found = replaced_phrases(text);
    let expected = [(3, "lending"), (2, "so many"), (2, "walks")];
    let mut found: Vec<_> = found.into_iter().filter(|(_, phrase)| *phrase != "sent for").collect();
    found.sort_by_key(|(_, phrase)| *phrase);
    assert_eq!(found, expected);
    assert_eq!(replaced_phrases("is sent\n  for a block"), [(1, "sent for")]);
    assert!(replaced_phrases("consent for; blend; sidewalk").is_empty());
}
