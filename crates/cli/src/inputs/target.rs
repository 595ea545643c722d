//! The target of a link or a reference, as reports show it.

use std::path::Path;

use cells::escape;
use hbase_files::Location;
use serde::Serialize;
use sstable::Half;

use crate::text::printable::as_line;

/// The HFile that has the cells of a link or a reference; without fields for an HFile itself.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub(crate) struct Target {
    /// The path of the HFile.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// `top` or `bottom`, as HBase calls the halves, for a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    half: Option<&'static str>,
    /// The smallest row that the top half can have, escaped as HBase prints keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    split_row: Option<String>,
}

impl Target {
    /// Returns the target of a store file at `path`.
    pub(super) fn new(path: &Path, location: &Location) -> Self {
        if location.half.is_none() && location.path == path {
            return Self::default();
        }
        let half = location.half.as_ref();
        Self {
            target: Some(relative(&location.path)),
            half: half.map(|half| match half.half() {
                Half::Top => "top",
                Half::Bottom => "bottom",
            }),
            split_row: half.map(|half| escape(half.split_key().row).to_string()),
        }
    }

    /// Whether only the cells of one half of the HFile count.
    pub(crate) const fn is_half(&self) -> bool {
        self.half.is_some()
    }

    /// Returns the name of a file in text for people: the path, and the target in parentheses.
    pub(crate) fn label(&self, path: &str) -> String {
        let line = as_line(path);
        match self.text() {
            Some(text) => format!("{line} ({text})"),
            None => line.into_owned(),
        }
    }

    /// Returns the target as text for people; `None` for an HFile itself.
    pub(crate) fn text(&self) -> Option<String> {
        let target = self.target.as_ref()?;
        let row = self.split_row.as_deref().unwrap_or_default();
        Some(match self.half {
            None => format!("link to {target}"),
            // After a merge of regions, a reference stands for all rows of a file.
            Some("top") if row.is_empty() => format!("upper half of {target}, from its first row"),
            Some("top") => format!("upper half of {target}, from row {row}"),
            Some(_) => format!("lower half of {target}, before row {row}"),
        })
    }
}

/// Returns a path without symbolic links as text, relative to the current directory if it is below.
fn relative(path: &Path) -> String {
    let current = std::env::current_dir().and_then(std::fs::canonicalize);
    match current {
        Ok(current) => path.strip_prefix(current).unwrap_or(path).display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Adds a column with the targets to a table of files, if there are links or references.
pub(crate) fn add_target_column<'t>(
    heading: &mut Vec<&str>,
    rows: &mut [Vec<String>],
    targets: impl Iterator<Item = &'t Target>,
) {
    let texts: Vec<Option<String>> = targets.map(Target::text).collect();
    if texts.iter().all(Option::is_none) {
        return;
    }
    heading.push("which is");
    for (row, text) in rows.iter_mut().zip(texts) {
        row.push(text.unwrap_or_default());
    }
}
