//! The store files below a directory, in the order of their paths.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::names::StoreFileName;
use crate::names::skip_reason::{SkipReason, directory_reason};
use crate::root::directory_kind::DirectoryKind;
use crate::root::other_layouts::check_listing;
use crate::root::replaced_regions::{ReplacedRegion, split_off_replaced};
use crate::table::entry::classify;
use crate::table::family_files::{has_store_file_name, live_files};
use crate::table::schema::{self, TableSchema};
use crate::table::tracker::{self, TrackedFile, TrackedFiles};
use crate::table::{EntryKind, ListedFile};
use crate::tree::{FileTree, Item, ItemKind};
use crate::warning::Warning;

/// The store files below a directory, and what was skipped.
///
/// ```no_run
/// use std::path::Path;
///
/// use hbase_files::{Listing, LocalTree};
///
/// let listing = Listing::read(&LocalTree, Path::new("hbase/data/default/users"))?;
/// for entry in &listing.entries {
///     println!("{}", entry.path.display());
/// }
/// # Ok::<(), hbase_files::Error>(())
/// ```
#[derive(Debug)]
pub struct Listing {
    /// What the directory is.
    pub directory_kind: DirectoryKind,
    /// The store files, by ascending path, without files of [`replaced`](Self::replaced) regions.
    pub entries: Vec<ListedFile>,
    /// The regions that a split or a merge has replaced, by ascending path.
    pub replaced: Vec<ReplacedRegion>,
    /// The files and directories that are not store files, by ascending path.
    pub skipped: Vec<Skipped>,
    /// The families and files below the directory that cannot be listed.
    pub problems: Vec<Error>,
    /// What the lists of store file trackers leave in doubt.
    pub warnings: Vec<Warning>,
}

/// A file that is not a store file, or a directory that is not searched.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    /// The path.
    pub path: PathBuf,
    /// Why it is skipped.
    pub reason: SkipReason,
}

/// The maximum depth of subdirectories. HBase's trees have six levels.
const DEPTH_MAX: usize = 16;
/// The maximum number of files and directories of a listing.
const ITEMS_MAX: usize = 1 << 22;

impl Listing {
    /// Lists the store files below a directory.
    ///
    /// Does not follow symbolic links to directories below it. Of a root directory, lists `data`
    /// and `mobdir`. In a family with a store file tracker, only the files that the tracker lists
    /// count, as for HBase. The schema of the table, `TABLE/.tabledesc`, says which families have one;
    /// a family directory outside of a table has one if it has a list.
    ///
    /// After a split or a merge, the old region stays in its table's directory while the new regions
    /// have references to its files. If the listing has such a reference, the files of the old region
    /// are in [`replaced`](Self::replaced). Once no reference is left, only `hbase:meta` says which regions
    /// are old, and [`RootDirectory::table`](crate::RootDirectory::table) reads it. In the archive, no
    /// region is live, and none counts as replaced.
    ///
    /// Files that a compaction has replaced are listed while they are there: see
    /// [`split_off_compacted`](crate::split_off_compacted).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the directory itself cannot be listed, [`Error::TooMany`] if it has more than
    /// 4,194,304 entries or 16 levels, [`Error::Unsupported`] if the directory is in a root directory whose
    /// store files are listed in the table `hbase:storefile`. Problems with parts of the directory are in
    /// [`problems`](Self::problems).
    pub fn read(tree: &dyn FileTree, directory: &Path) -> Result<Self> {
        let items = tree.list(directory).map_err(Error::io(directory, "list it"))?;
        check_listing(tree, directory)?;
        let directory_kind = DirectoryKind::of(tree, directory, &items);
        let listing = Self {
            directory_kind,
            entries: Vec::new(),
            replaced: Vec::new(),
            skipped: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        let mut visitor = Visitor { tree, listing, items_seen: 0, schemas: HashMap::new() };
        let mut pending = Vec::new();
        visitor.visit(directory, items, 0, &mut pending)?;
        while let Some((directory, depth)) = pending.pop() {
            match tree.list(&directory) {
                Ok(items) => visitor.visit(&directory, items, depth, &mut pending)?,
                Err(error) => {
                    visitor.listing.problems.push(Error::io(&directory, "list it")(error));
                }
            }
        }
        let mut found = visitor.listing;
        found.entries.sort_by(|one, other| one.path.cmp(&other.path));
        found.skipped.sort_by(|one, other| one.path.cmp(&other.path));
        found.replaced = split_off_replaced(tree, &mut found.entries);
        Ok(found)
    }
}

/// A listing in progress.
struct Visitor<'t> {
    tree: &'t dyn FileTree,
    listing: Listing,
    items_seen: usize,
    /// The schemas by the directories of tables; `None` if a directory has no readable schema.
    schemas: HashMap<PathBuf, Option<Rc<TableSchema>>>,
}

impl Visitor<'_> {
    /// Adds the files of a directory, and its subdirectories to `pending`.
    fn visit(
        &mut self,
        directory: &Path,
        items: Vec<Item>,
        depth: usize,
        pending: &mut Vec<(PathBuf, usize)>,
    ) -> Result<()> {
        self.items_seen = self.items_seen.saturating_add(items.len());
        if self.items_seen > ITEMS_MAX {
            let what = format!("has more than {ITEMS_MAX} files and directories below it");
            return Err(Error::TooMany { path: directory.to_owned(), what });
        }
        let tracked = match self.read_list(directory, &items) {
            Ok(tracked) => tracked,
            Err(error) => {
                self.listing.problems.push(error);
                return Ok(());
            }
        };
        let mut live = tracked.map(LiveFiles::new);
        // Below the directory that was asked for, there is no root and no store.
        let directory_kind =
            if depth == 0 { self.listing.directory_kind } else { DirectoryKind::Plain };
        for item in items {
            match item.kind {
                ItemKind::File { len } => self.add_file(&item, len, live.as_mut(), directory_kind),
                ItemKind::Directory => {
                    let name = item.name().unwrap_or_default();
                    if let Some(reason) =
                        directory_reason(name).or_else(|| outside(directory_kind, name))
                    {
                        self.skip_directory(item.path, reason);
                    } else if depth == DEPTH_MAX {
                        let what = format!("is more than {DEPTH_MAX} directories deep");
                        return Err(Error::TooMany { path: item.path, what });
                    } else {
                        pending.push((item.path, depth.saturating_add(1)));
                    }
                }
                ItemKind::DirectoryLink => self.skip(item.path, SkipReason::DirectoryLink),
                ItemKind::Other => self.skip(item.path, SkipReason::NotAFile),
            }
        }
        if let Some(live) = live {
            self.add_unseen(directory, live);
        }
        Ok(())
    }

    /// Returns the list of the files of a directory that count; `None` if all do.
    fn read_list(&mut self, directory: &Path, items: &[Item]) -> Result<Option<TrackedFiles>> {
        if !items
            .iter()
            .any(|item| item.name() == Some(tracker::DIRECTORY) || has_store_file_name(item))
        {
            return Ok(None);
        }
        let (tree, schema) = (self.tree, self.schema_of(directory));
        let family = directory.file_name().unwrap_or_default().as_encoded_bytes();
        let warnings = &mut self.listing.warnings;
        live_files(tree, schema.as_deref(), family, directory, items, warnings)
    }

    /// Returns the schema of the table that has a directory as `TABLE/REGION/FAMILY`, if it is one of
    /// a table.
    fn schema_of(&mut self, family: &Path) -> Option<Rc<TableSchema>> {
        let parts = family.components().rev();
        let names = parts.take_while(|part| matches!(part, Component::Normal(_)));
        let table = match family.ancestors().nth(2) {
            Some(table) if names.count() > 1 => table.to_owned(),
            _ => family.join("../.."),
        };
        let (tree, warnings) = (self.tree, &mut self.listing.warnings);
        self.schemas
            .entry(table)
            .or_insert_with_key(|table| match TableSchema::read_newest(tree, table, warnings) {
                Ok((schema, _)) => Some(Rc::new(schema)),
                Err(Error::Missing { .. }) => None,
                Err(error) => {
                    let what =
                        format!("{error}: lists of store files in the table's families count");
                    warnings.push(Warning::new(table.join(schema::DIRECTORY), what));
                    None
                }
            })
            .clone()
    }

    fn add_file(
        &mut self,
        item: &Item,
        len: u64,
        live: Option<&mut LiveFiles>,
        directory_kind: DirectoryKind,
    ) {
        if let Some(reason) = item.name().and_then(|name| outside(directory_kind, name)) {
            return self.skip(item.path.clone(), reason);
        }
        let found = match classify(self.tree, &item.path, len) {
            Ok(found) => found,
            Err(error) => return self.listing.problems.push(error),
        };
        let tracked = live.map(|live| live.files.remove(item.name().unwrap_or_default()));
        match (found, tracked) {
            (Err(reason), _) => self.skip(item.path.clone(), reason),
            (Ok(_), Some(None)) => self.skip(item.path.clone(), SkipReason::NotListed),
            (Ok(entry), _) => self.listing.entries.push(entry),
        }
    }

    /// Adds the live files of a tracker's list that have no file in the directory.
    ///
    /// Newer versions of HBase write no files for references and links in such a family.
    fn add_unseen(&mut self, directory: &Path, live: LiveFiles) {
        for (name, file) in live.files {
            let path = directory.join(&name);
            let kind = match (name.parse(), file.reference) {
                (Ok(StoreFileName::Reference(name)), Some(reference)) => {
                    EntryKind::Reference { name, stored: Some(reference) }
                }
                (Ok(StoreFileName::Link(link)), _) => EntryKind::Link(link),
                _ => {
                    let what = format!("the listed store file {name}");
                    let searched = vec![path];
                    self.listing.problems.push(Error::Missing {
                        path: live.tracker.clone(),
                        what,
                        searched,
                    });
                    continue;
                }
            };
            self.listing.entries.push(ListedFile { path, len: 0, kind });
        }
    }

    fn skip(&mut self, path: PathBuf, reason: SkipReason) {
        self.listing.skipped.push(Skipped { path, reason });
    }

    /// Skips a directory file by file, so that an empty directory is not reported.
    ///
    /// Directories outside the data are skipped as a whole, because they may be large.
    fn skip_directory(&mut self, directory: PathBuf, reason: SkipReason) {
        if reason == SkipReason::OutsideData {
            return self.skip(directory, reason);
        }
        let mut pending = vec![(directory, 0)];
        while let Some((directory, depth)) = pending.pop() {
            for item in self.tree.list(&directory).unwrap_or_default() {
                self.items_seen = self.items_seen.saturating_add(1);
                match item.kind {
                    ItemKind::Directory if depth < DEPTH_MAX && self.items_seen < ITEMS_MAX => {
                        pending.push((item.path, depth.saturating_add(1)));
                    }
                    _ => self.skip(item.path, reason),
                }
            }
        }
    }
}

/// The files of a tracker's list that have not been found in the directory yet.
struct LiveFiles {
    tracker: PathBuf,
    files: HashMap<String, TrackedFile>,
}

impl LiveFiles {
    fn new(tracked: TrackedFiles) -> Self {
        let files = tracked.files.into_iter().map(|file| (file.name.clone(), file));
        Self { tracker: tracked.path, files: files.collect() }
    }
}

/// Returns why an entry of a root directory or of a store has no store files below it.
fn outside(directory_kind: DirectoryKind, name: &str) -> Option<SkipReason> {
    match directory_kind {
        DirectoryKind::Root if !matches!(name, "data" | "mobdir") => Some(SkipReason::OutsideData),
        DirectoryKind::Store
            if matches!(name, "MANIFEST" | "MANIFEST.new" | "LOCK" | "UNFINISHED" | "wal") =>
        {
            Some(SkipReason::StoreFiles)
        }
        _ => None,
    }
}
