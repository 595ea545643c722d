//! The line that says what a directory listing has skipped.

use std::collections::BTreeMap;

use hbase_files::{SkipReason, Skipped};

use crate::text::size_text::{show_count, show_number};

/// Returns the summary, as in "3 entries skipped: 2 in .tmp, 1 empty"; `None` if nothing was skipped.
pub(super) fn summary(skipped: &[Skipped]) -> Option<String> {
    let mut counts: BTreeMap<SkipReason, u64> = BTreeMap::new();
    for skipped in skipped {
        *counts.entry(skipped.reason).or_default() += 1;
    }
    if counts.is_empty() {
        return None;
    }
    let parts: Vec<String> =
        counts.iter().map(|(reason, count)| format!("{} {reason}", show_count(*count))).collect();
    let entries = show_number(skipped.len() as u64, "entry");
    Some(format!("{entries} skipped: {}", parts.join(", ")))
}
