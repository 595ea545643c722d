//! The lines that say what a directory listing has skipped and left out.

use std::collections::BTreeMap;

use hbase_files::{ListedFile, ReplacedRegion, SkipReason, Skipped};

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
        let count = show_count(manifests);
        parts.push(format!("{count} manifest.json of an export, which a bulk load ignores"));
    }
    let entries = show_number(skipped.len() as u64, "entry");
    Some(format!("{entries} skipped: {}", parts.join(", ")))
}

/// The most regions that the line names.
const NAMES_MAX: usize = 2;

/// Returns the line about the files of replaced regions; `None` if there are none.
pub(super) fn replaced_regions_line(replaced: &[ReplacedRegion]) -> Option<String> {
    if replaced.is_empty() {
        return None;
    }
    let files = replaced.iter().map(|region| region.files.len()).sum::<usize>();
    let references = replaced.iter().map(|region| region.references).sum::<usize>();
    let mut names: Vec<String> = replaced
        .iter()
        .take(NAMES_MAX)
        .map(|region| region.path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    if let Some(more @ 1..) = replaced.len().checked_sub(NAMES_MAX) {
        names.push(format!("{} more", show_count(more as u64)));
    }
    let region = if replaced.len() == 1 { "region" } else { "regions" };
    Some(format!(
        "left out {} of the split or merged {region} {}, because of {} in other regions; \
         hfile table reads the table as HBase does",
        show_number(files as u64, "file"),
        names.join(", "),
        show_number(references as u64, "reference"),
    ))
}

/// Returns the line about the files that a compaction replaced; `None` if there are none.
pub(super) fn compacted_files_line(compacted: &[ListedFile]) -> Option<String> {
    let (first, others) = compacted.split_first()?;
    let name = first.path.file_name().unwrap_or_default().to_string_lossy();
    let more = match others.len() {
        0 => String::new(),
        more => format!(" and {} more", show_count(more as u64)),
    };
    let files = show_number(compacted.len() as u64, "file");
    Some(format!(
        "left out {files} that a compaction replaced, {name}{more}: the file that it wrote is read instead"
    ))
}
