//! Messages that a page quotes, and that no short command produces: their texts are in the source.

use std::fs;
use std::path::Path;

/// The source of the crates, as one text without the line breaks of long texts.
pub(crate) struct Source(String);

impl Source {
    pub(crate) fn read(root: &Path) -> Self {
        let mut text = String::new();
        let mut folders = vec![root.join("crates")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("the folder exists") {
                let path = entry.expect("the folder can be read").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    text.push_str(&fs::read_to_string(&path).expect("source is text"));
                }
            }
        }
        Self(joined(&text))
    }

    /// Whether the source has the texts of a line: what is between `…`, without the prefixes that the
    /// command line adds.
    pub(crate) fn has(&self, line: &str) -> bool {
        let line = ["hfile: ", "next: "]
            .iter()
            .find_map(|prefix| line.strip_prefix(prefix))
            .unwrap_or(line);
        let ends = [' ', ':', '\'', '"'];
        line.split('…').all(|text| self.0.contains(text.trim_matches(ends)))
    }

    /// Whether the source defines a field, as a struct or in JSON.
    pub(crate) fn has_field(&self, name: &str) -> bool {
        self.0.contains(&format!(" {name}:")) || self.0.contains(&format!("\"{name}\""))
    }
}

/// Joins texts that the source continues on the next line.
fn joined(source: &str) -> String {
    let mut parts = source.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    let all = parts.fold(first, |all, part| all + part.trim_start());
    all.replace("\\\"", "\"")
}

#[test]
fn a_message_is_found_over_the_lines_of_its_source() {
    let source = Source(joined("error(\"the store \\\n        stopped: {why}, \\\"so\\\"\")"));
    assert!(source.has("hfile: the store stopped: …, \"so\""));
    assert!(source.has("…: the store stopped: …"));
    assert!(!source.has("the store ended: …"));
}
