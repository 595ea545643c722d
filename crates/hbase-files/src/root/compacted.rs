//! The files of a listing that a compaction has replaced.
//!
//! HBase keeps the inputs of a compaction in the directory of the family while scans may still read them, usually for
//! a few minutes, and longer if the server dies. The file that the compaction wrote names them. Whoever merges them
//! with that file gets cells twice, and cells that the compaction dropped because they were deleted. HBase leaves
//! them out when it opens a region (`StoreEngine.openStoreFiles`).

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use sstable::{FileName, ReaderOptions};

use super::replaced::is_in_archive;
use crate::{EntryKind, FileTree, ListedFile, StoreFileReader};

/// Takes the files that a compaction has replaced from a list of store files, and returns them in their order.
///
/// A file counts as replaced if another file of its directory names it as an input. To find out, this opens every
/// HFile of a directory that has more than one file; [`Listing`](crate::Listing) opens none. A file that cannot be
/// opened replaces nothing. In the archive, no region is live, and no file counts as replaced.
///
/// HBase: `StoreEngine.openStoreFiles`.
pub fn split_off_compacted(tree: &dyn FileTree, entries: &mut Vec<ListedFile>) -> Vec<ListedFile> {
    let mut families: BTreeMap<&Path, Vec<&ListedFile>> = BTreeMap::new();
    for entry in &*entries {
        if let Some(family) = entry.path.parent() {
            families.entry(family).or_default().push(entry);
        }
    }
    let mut replaced = HashSet::new();
    for (family, files) in families {
        let is_of_archive = || family.parent().is_some_and(|region| is_in_archive(tree, region));
        if files.len() == 1 || is_of_archive() {
            continue;
        }
        let inputs = files.iter().flat_map(|file| compaction_inputs(tree, file));
        replaced.extend(inputs.map(|name| family.join(name)));
    }
    let (taken, left) = std::mem::take(entries)
        .into_iter()
        .partition(|entry: &ListedFile| replaced.contains(&entry.path));
    *entries = left;
    taken
}

/// Returns the names of the files of its directory that an HFile replaced.
fn compaction_inputs(tree: &dyn FileTree, file: &ListedFile) -> Vec<String> {
    // References and links have the file info of a file of another region.
    if file.kind != EntryKind::HFile {
        return Vec::new();
    }
    let Ok(location) = file.locate(tree) else { return Vec::new() };
    let name = FileName::new(file.path.display().to_string());
    let reader = StoreFileReader::open(tree, &location, name, ReaderOptions::default());
    reader
        .ok()
        .and_then(|reader| reader.whole().file_info().compaction_inputs())
        .unwrap_or_default()
}
