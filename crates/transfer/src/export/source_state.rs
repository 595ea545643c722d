//! The state of a source: the files that it consists of, by which a changed source is recognised.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;
use std::{fs, io};

use cells::{show_count, show_number};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::hash::text_hash;

/// The files of a source.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct SourceState {
    /// A hash of the JSON of the files below and of the rest, such as the schema of a table.
    #[serde(rename = "files_hash")]
    hash: String,
    /// The files, with their lengths.
    #[serde(default)]
    sources: Vec<SourceFile>,
}

/// A file of a source.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct SourceFile {
    pub(super) file: String,
    /// The length; omitted for a file that is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<u64>,
    /// When it was written, in microseconds since 1970; omitted for files of HBase, which do not
    /// change but for logs, to which HBase appends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) modified: Option<u64>,
}

impl SourceState {
    /// Creates the state of some files; `rest` is what else decides which cells there are.
    ///
    /// The manifest keeps the hash of `rest`: it must not depend on the names of Rust's fields.
    pub(super) fn new(sources: Vec<SourceFile>, rest: &Value) -> Self {
        let hash = text_hash(&json!({ "sources": sources, "rest": rest }).to_string());
        Self { hash, sources }
    }

    /// Returns how a source has changed to a new state; `None` if it has not.
    pub(super) fn change(&self, new: &Self) -> Option<String> {
        /// Changes that are named.
        const SHOWN: usize = 3;
        if self == new {
            return None;
        }
        let (known, mut found) = (self.by_name(), new.by_name());
        let mut changes = Vec::new();
        for (name, before) in &known {
            match found.remove(name) {
                None => changes.push(format!("it no longer has {name}")),
                Some(now) => changes.extend(before.change(&now)),
            }
        }
        changes.extend(found.into_keys().map(|name| format!("{name} is new")));
        if changes.is_empty() {
            return Some("its files are the same, but not what describes them".to_owned());
        }
        let more = changes.len().saturating_sub(SHOWN);
        changes.truncate(SHOWN);
        if more > 0 {
            changes.push(show_number(more as u64, "more change"));
        }
        Some(changes.join(", "))
    }

    fn by_name(&self) -> BTreeMap<String, SourceFile> {
        self.sources.iter().map(|source| (source.file.clone(), source.clone())).collect()
    }
}

impl SourceFile {
    /// Returns the file at a path.
    pub(super) fn at(path: &Path, file: String) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        let since_1970 =
            found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = since_1970.and_then(|since| u64::try_from(since.as_micros()).ok());
        Ok(Self { file, bytes: Some(found.len()), modified })
    }

    fn change(&self, now: &Self) -> Option<String> {
        let file = &now.file;
        if self.bytes != now.bytes {
            let had = match self.bytes {
                Some(bytes) => format!("{} bytes", show_count(bytes)),
                None => "no bytes, because it was missing".to_owned(),
            };
            let has = match now.bytes {
                Some(bytes) => format!("has {} bytes", show_count(bytes)),
                None => "is missing".to_owned(),
            };
            return Some(format!("{file} had {had} and {has}"));
        }
        (self.modified != now.modified).then(|| format!("{file} was written again"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stored manifest has this hash: another one refuses all exports of earlier builds.
    #[test]
    fn the_hash_of_a_state_stays() {
        let files = [("a", Some(12), Some(3)), ("b", None, None)];
        let sources = files
            .map(|(file, bytes, modified)| SourceFile { file: file.into(), bytes, modified })
            .to_vec();
        let state = SourceState::new(sources, &json!([1, ["row"]]));
        assert_eq!(state.hash, "edd07471f74183ce");
    }
}
