//! The files of a listing that a compaction has replaced.
//!
//! Whether a file is replaced is decided in `history/replaced_files.rs`.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use sstable::{FileName, ReaderOptions};

use super::replaced_regions::is_in_archive;
use crate::history::{FamilyFile, ReplacedFiles};
use crate::table::{EntryKind, ListedFile, StoreFileReader};
use crate::tree::FileTree;

/// Takes the files that a compaction has replaced from a list of store files, and returns them in their order.
///
/// A file counts as replaced if another file of its directory, which is not replaced by it, names it as an input. To
/// find out, this opens every file of a directory that has more than one; [`Listing`](crate::Listing) opens none. A
/// file that cannot be opened replaces nothing. In the archive, no region is live, and no file counts as replaced.
///
/// HBase: `StoreEngine.openStoreFiles`.
pub fn split_off_compacted(tree: &dyn FileTree, entries: &mut Vec<ListedFile>) -> Vec<ListedFile> {
    let mut families: BTreeMap<&Path, Vec<&ListedFile>> = BTreeMap::new();
    for entry in &*entries {
        if let Some(family) = entry.path.parent() {
            families.entry(family).or_default().push(entry);
        }
    }
    let mut replaced: HashSet<PathBuf> = HashSet::new();
    for (family, files) in families {
        if files.len() == 1 || family.parent().is_some_and(|region| is_in_archive(tree, region)) {
            continue;
        }
        let readable: Vec<_> = files.iter().filter_map(|file| family_file(tree, file)).collect();
        let of_family = ReplacedFiles::by_files(&readable);
        replaced.extend(of_family.by_file().map(|(name, _)| family.join(name)));
    }
    let (taken, left) = std::mem::take(entries)
        .into_iter()
        .partition(|entry: &ListedFile| replaced.contains(&entry.path));
    *entries = left;
    taken
}

/// Returns what a store file says of its origin; `None` if it cannot be opened. HBase does not ask MOB files.
fn family_file(tree: &dyn FileTree, file: &ListedFile) -> Option<FamilyFile> {
    let name = file.path.file_name()?.to_str()?;
    if file.kind == EntryKind::Mob {
        return None;
    }
    let location = file.locate(tree).ok()?;
    let shown = FileName::new(file.path.display().to_string());
    let reader = StoreFileReader::open(tree, &location, shown, ReaderOptions::default()).ok()?;
    Some(FamilyFile::of(name, &reader))
}
