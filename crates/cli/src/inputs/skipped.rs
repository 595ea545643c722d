//! The line that says what a directory listing has skipped.

use std::collections::BTreeMap;

use hbase_files::{SkipReason, Skipped};

use crate::text::size_text::{show_count, show_number};

/// Returns the summary, as in "3 entries skipped: 2 in .tmp, 1 empty"; `None` if nothing was skipped.
pub(super) fn summary(skipped: &[Skipped]) -> Option<String> {
    let (mut counts, mut manifests) = (BTreeMap::<SkipReason, u64>::new(), 0);
    for skipped in skipped {
        if skipped.path.file_name().is_some_and(|name| name == "manifest.json") {
            manifests += 1;
        } else {
            *counts.entry(skipped.reason).or_default() += 1;
        }
    }
    if skipped.is_empty() {
        return None;
    }
    let mut parts: Vec<String> =
        counts.iter().map(|(reason, count)| format!("{} {reason}", show_count(*count))).collect();
    if manifests > 0 {
        let manifests = show_count(manifests);
        parts.push(format!("{manifests} manifest.json of an export, which a bulk load ignores"));
    }
    let entries = show_number(skipped.len() as u64, "entry");
    Some(format!("{entries} skipped: {}", parts.join(", ")))
}
