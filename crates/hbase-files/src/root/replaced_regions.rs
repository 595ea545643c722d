//! The regions of a listing that a split or a merge has replaced.
//!
//! The new regions have references to the files of the old ones until a compaction has rewritten the
//! cells. HBase closes a region before it makes references to its files, and assigns the new regions before it
//! compacts them. So one reference is enough, also if the other daughter of a split is compacted already, and also
//! if the referring region was itself replaced since. A split that is rolled back can leave references for a moment, and
//! a split whose procedure the master has lost, until someone repairs it: only `hbase:meta` says that the old region is
//! live then.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::table::{EntryKind, ListedFile};
use crate::tree::FileTree;

/// The files of a region that a split or a merge has replaced.
///
/// The new regions have the cells: through references, or in the files of a later compaction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReplacedRegion {
    /// The directory of the region.
    pub path: PathBuf,
    /// Its store files, by ascending path.
    pub files: Vec<ListedFile>,
    /// The number of references to files of the region.
    pub references: usize,
}

/// Takes the files of replaced regions from a list of store files. Returns the regions by ascending path.
///
/// A region counts as replaced if a reference of the list names it, in another region of the same directory.
/// [`Listing`](crate::Listing) does this for the files below one directory. In the archive, no region is
/// live, files of all times are together, and no region counts as replaced.
pub fn split_off_replaced(
    tree: &dyn FileTree,
    entries: &mut Vec<ListedFile>,
) -> Vec<ReplacedRegion> {
    let mut references: HashMap<PathBuf, usize> = HashMap::new();
    for entry in &*entries {
        let EntryKind::Reference { name, .. } = &entry.kind else { continue };
        let Some((region, table)) = region_and_table(&entry.path) else { continue };
        let parent = table.join(name.region.as_str());
        if parent != region {
            let count = references.entry(parent).or_default();
            *count = count.saturating_add(1);
        }
    }
    references.retain(|region, _| !is_in_archive(tree, region));
    let mut replaced: BTreeMap<PathBuf, ReplacedRegion> = BTreeMap::new();
    for entry in std::mem::take(entries) {
        let region = region_and_table(&entry.path).map(|(region, _)| region);
        let Some((path, count)) = region.and_then(|region| references.get_key_value(region)) else {
            entries.push(entry);
            continue;
        };
        let known = replaced.entry(path.clone()).or_insert_with(|| ReplacedRegion {
            path: path.clone(),
            files: Vec::new(),
            references: *count,
        });
        known.files.push(entry);
    }
    replaced.into_values().collect()
}

/// Returns the directories of the region and the table of a store file, `TABLE/REGION/FAMILY/FILE`.
fn region_and_table(file: &Path) -> Option<(&Path, &Path)> {
    let region = file.parent()?.parent().filter(|region| region.file_name().is_some())?;
    Some((region, region.parent()?))
}

/// Returns whether the directory of a region is in the archive: `archive/data/NAMESPACE/TABLE/REGION`.
pub(super) fn is_in_archive(tree: &dyn FileTree, region: &Path) -> bool {
    let absolute = tree.absolute(region);
    let mut above = absolute.as_deref().unwrap_or(region).iter().rev().skip(3);
    above.next() == Some(OsStr::new("data")) && above.next() == Some(OsStr::new("archive"))
}
