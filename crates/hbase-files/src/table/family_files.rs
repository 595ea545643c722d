//! Which files in the directory of a family count, for tables, snapshots, listings and rebuilt lists.
//!
//! With a store file tracker, the files of its list count ([`live_files`]). Without one, HBase goes by the names in
//! the directory (`StoreFileInfo.isValid`). [`FamilyEntry`] tells the entries apart:
//!
//! | entry of the directory                             | of a table                 | of a listing           | of a rebuilt list  |
//! |----------------------------------------------------|----------------------------|------------------------|--------------------|
//! | a file with the name of an HFile, a MOB file or a  | counts                     | counts; a reference by | taken if readable  |
//! | reference                                          |                            | its contents           |                    |
//! | an empty file with the name of a link              | counts                     | counts                 | taken if readable  |
//! | a file with bytes and the name of a link           | counts by its name         | counts if an HFile     | undecided          |
//! | an empty file with another name of a store file    | problem; counts in a       | skipped                | undecided          |
//! |                                                    | snapshot, which lists so   |                        |                    |
//! | no file, with the name of a store file             | problem                    | skipped, or searched   | undecided          |
//! | a file with another name, unless it is empty,      | problem: HBase does not    | counts if an HFile     | left out           |
//! | hidden, or has a `-`                               | open the region            |                        |                    |
//! | another file, such as `.crc`                       | passed over                | counts if an HFile     | left out           |
//! | a directory: `.tmp`, `.filelist`, …                | passed over                | by `skip_reason.rs`    | passed over        |
//!
//! Listings ask `entry.rs` in place of [`FamilyEntry`]: a directory of copies need not have HBase's names, so the contents
//! of a file decide. Copies that a bulk
//! load left count for a table; only a rebuilt list leaves them out (`tracker_lists/loaded_copies.rs`). A family that the
//! schema does not have counts nowhere ([`warn_of_other_families`]). `table_reader/recovered.rs` adds HFiles that a
//! server has not moved to the family yet. Whether a compaction replaced a file that counts is decided later, in
//! `history/replaced_files.rs`, and whether its region counts in `table_reader/region_rules.rs`.

use std::path::Path;

use crate::error::{Error, Result};
use crate::names::StoreFileName;
use crate::table::root_paths::list_if_there;
use crate::table::schema::{TableSchema, is_family_name};
use crate::table::tracker::{self, TrackedFiles};
use crate::table::tracker_setting::reads_list;
use crate::tree::{FileTree, Item, ItemKind};
use crate::warning::Warning;

/// What an entry of the directory of a family is, by its name and its length.
#[derive(Debug)]
pub(crate) enum FamilyEntry {
    /// A file that HBase takes for a store file.
    StoreFile(StoreFileName),
    /// A file with the name of a store file that is not a link, and without bytes.
    EmptyStoreFile(StoreFileName),
    /// Has the name of a store file, and is no regular file.
    NotAFile,
    /// A file without the name of a store file.
    OtherFile {
        /// Whether HBase does not open the region until the file is moved away.
        blocks_region: bool,
    },
    /// A directory, or anything else without the name of a store file.
    Other,
}

impl FamilyEntry {
    pub(crate) fn of(item: &Item) -> Self {
        let name = item.name().and_then(|name| name.parse::<StoreFileName>().ok());
        match (name, item.kind) {
            (Some(name @ StoreFileName::Link(_)), ItemKind::File { .. }) => Self::StoreFile(name),
            (Some(name), ItemKind::File { len: 0 }) => Self::EmptyStoreFile(name),
            (Some(name), ItemKind::File { .. }) => Self::StoreFile(name),
            (Some(_), _) => Self::NotAFile,
            (None, ItemKind::File { len }) => {
                // A local file system keeps checksums in files with hidden names.
                let blocks_region = len > 0
                    && !item.name().is_none_or(|name| name.contains('-') || name.starts_with('.'));
                Self::OtherFile { blocks_region }
            }
            (None, _) => Self::Other,
        }
    }
}

/// Returns whether an entry has the name of a store file.
pub(crate) fn has_store_file_name(item: &Item) -> bool {
    item.name().is_some_and(|name| name.parse::<StoreFileName>().is_ok())
}

/// Returns the list of the files of a family that count; `None` if all of its directory do.
///
/// The schema says whether the family has a list. If it does not, a server-wide setting decides, which
/// is not in the root directory; then a list counts if there is one, with a warning. Without a schema, the directory is
/// not of a table, and a list counts if there is one.
///
/// # Errors
///
/// As [`TrackedFiles::read`]; [`Error::Missing`] if the family must have a list, has files and no
/// list; [`Error::Unsupported`] for a tracker that is none of HBase's.
pub(crate) fn live_files(
    tree: &dyn FileTree,
    schema: Option<&TableSchema>,
    family: &[u8],
    directory: &Path,
    items: &[Item],
    warnings: &mut Vec<Warning>,
) -> Result<Option<TrackedFiles>> {
    let has_list = match schema {
        Some(schema) => reads_list(schema, family, directory)?,
        None => None,
    };
    if has_list == Some(false) {
        return Ok(None);
    }
    let Some(tracked) = TrackedFiles::read(tree, directory)? else {
        if has_list == Some(true) && items.iter().any(has_store_file_name) {
            let searched = vec![directory.join(tracker::DIRECTORY)];
            let what = "the list of the family's store file tracker".to_owned();
            return Err(Error::Missing { path: directory.to_owned(), what, searched });
        }
        return Ok(None);
    };
    if schema.is_some() && has_list.is_none() {
        let what = "lists the files of the family, but the table does not set its store file tracker, so the configuration of HBase decides whether the list counts: it was read";
        warnings.push(Warning::new(&tracked.path, what));
    }
    warnings.extend(tracked.warnings());
    Ok(Some(tracked))
}

/// Warns of store files in directories of families that the schema does not have. HBase ignores them.
///
/// `meaning` says what that means for the caller. No read needs the directories, so one that cannot be listed is no
/// problem.
pub(crate) fn warn_of_other_families(
    tree: &dyn FileTree,
    schema: &TableSchema,
    region: &Path,
    meaning: &str,
    warnings: &mut Vec<Warning>,
) {
    for item in list_if_there(tree, region).unwrap_or_default() {
        let name = item.name().filter(|name| is_family_name(name.as_bytes()));
        let is_directory = matches!(item.kind, ItemKind::Directory | ItemKind::DirectoryLink);
        if !is_directory || name.is_none_or(|name| schema.family(name.as_bytes()).is_some()) {
            continue;
        }
        let what = match list_if_there(tree, &item.path) {
            Ok(items) if !items.iter().any(has_store_file_name) => continue,
            Ok(_) => "has store files of a family that the schema of the table does not have",
            Err(_) => "is no family of the schema of the table, and cannot be listed",
        };
        warnings.push(Warning::new(item.path, format!("{what}{meaning}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_told_apart_by_name_kind_and_length() {
        let hfile = "4844017402a04d9587a063dc65b1fcc9";
        let link = format!("t={hfile}-{hfile}");
        for (name, kind, expected) in [
            (hfile, ItemKind::File { len: 1 }, "StoreFile"),
            (hfile, ItemKind::File { len: 0 }, "EmptyStoreFile"),
            (&link, ItemKind::File { len: 0 }, "StoreFile"),
            (hfile, ItemKind::Directory, "NotAFile"),
            (hfile, ItemKind::Other, "NotAFile"),
            ("notes.txt", ItemKind::File { len: 1 }, "OtherFile { blocks_region: true }"),
            ("notes.txt", ItemKind::File { len: 0 }, "OtherFile { blocks_region: false }"),
            ("a-note.txt", ItemKind::File { len: 1 }, "OtherFile { blocks_region: false }"),
            (".notes.crc", ItemKind::File { len: 1 }, "OtherFile { blocks_region: false }"),
            (".tmp", ItemKind::Directory, "Other"),
            ("pipe", ItemKind::Other, "Other"),
        ] {
            let entry = FamilyEntry::of(&Item { path: Path::new("f").join(name), kind });
            assert!(format!("{entry:?}").starts_with(expected), "{name}: {entry:?}");
        }
    }
}
