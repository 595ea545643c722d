//! New lists for the families of a table, one for each region.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::candidate::Candidate;
use super::decision::{DecidedFile, FileDecision, FileKind};
use super::loaded_copies::LoadedFiles;
use super::rules::Evidence;
use crate::error::{Error, Result};
use crate::names::{RegionName, TableName};
use crate::root::RootDirectory;
use crate::table::family_files::warn_of_other_families;
use crate::table::root_paths::{list_if_there, table_in};
use crate::table::tracker::DIRECTORY;
use crate::table::tracker_setting::{other_store_engine, reads_list};
use crate::table::{LeftOutReason, Table, TrackedFile, TrackedFiles};
use crate::tree::{FileTree, ItemKind};
use crate::warning::Warning;

/// How lists are made, and what the caller has decided about single files.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use hbase_files::tracker_lists::ListRebuild;
/// use hbase_files::{LocalTree, RootDirectory};
///
/// let root = RootDirectory::open(Arc::new(LocalTree), Path::new("hbase"))?;
/// let lists = ListRebuild::new(1_700_000_000_000).lists(&root, &"users".parse()?)?;
/// for list in &lists.lists {
///     println!("{}: {} files", list.path().display(), list.files.len());
///     if list.is_decided() {
///         let bytes = list.to_bytes()?; // To be written at that path, below the directory of the table.
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ListRebuild {
    now: u64,
    /// What the caller has decided, by `REGION/FAMILY/FILE`.
    choices: BTreeMap<PathBuf, Choice>,
}

#[derive(Clone, Copy, Debug)]
enum Choice {
    LeaveOut,
    Take,
}

/// The new lists of a table.
#[derive(Debug)]
pub struct RebuiltLists {
    /// The lists, by ascending region and family.
    pub lists: Vec<RebuiltList>,
    /// What the files leave in doubt.
    pub warnings: Vec<Warning>,
}

/// A new list of the files of a family of a region.
#[derive(Debug)]
pub struct RebuiltList {
    /// The region.
    pub region: RegionName,
    /// The name of the family.
    pub family: String,
    /// The files, by ascending name.
    pub files: Vec<DecidedFile>,
    /// The tracker files that cannot be read, and why.
    pub unreadable: Vec<Warning>,
    /// The time of the list, in milliseconds since 1970: greater than the times of the older lists.
    pub timestamp: u64,
    /// The time in the name of the tracker file, as HBase 2.6 and later name them; `None` for HBase 2.5.
    name_time: Option<u64>,
}

impl ListRebuild {
    /// Creates options with the time of the lists, in milliseconds since 1970.
    pub const fn new(now: u64) -> Self {
        Self { now, choices: BTreeMap::new() }
    }

    /// Leaves out a file, whatever it is: `REGION/FAMILY/FILE`. Default: none. Of this and [`take`](Self::take), the
    /// last call counts.
    pub fn leave_out(mut self, file: impl Into<PathBuf>) -> Self {
        self.choices.insert(file.into(), Choice::LeaveOut);
        self
    }

    /// Lists a readable file even if it would be left out or is undecided: `REGION/FAMILY/FILE`. Default: none.
    pub fn take(mut self, file: impl Into<PathBuf>) -> Self {
        self.choices.insert(file.into(), Choice::Take);
        self
    }

    /// Decides which files the lists of a table have. Writes nothing.
    ///
    /// There is a list for each region with a directory, also for a region that was split or merged, and for
    /// each of its families with a directory.
    ///
    /// # Errors
    ///
    /// As [`RootDirectory::table`], and:
    ///
    /// * [`Error::NotFound`] if the table has no file-based store file tracker, if a file about which the caller has
    ///   decided is not there, or if one to take cannot be read;
    /// * [`Error::Unsupported`] if a newer version of HBase wrote a list;
    /// * [`Error::Io`].
    pub fn lists(&self, root: &RootDirectory, name: &TableName) -> Result<RebuiltLists> {
        let table = root.table(name)?;
        let tree = &**table.tree();
        let mut lists = RebuiltLists { lists: Vec::new(), warnings: Vec::new() };
        let families = Self::families(&table, &mut lists.warnings)?;
        let mut unused: BTreeSet<&PathBuf> = self.choices.keys().collect();
        let mut named_files = BTreeSet::new();
        for (region, directory) in regions(tree, &table.path)? {
            for family in &families {
                let path = directory.join(family);
                if tree.find(&path).map_err(Error::io(&path, "find it"))?.is_none() {
                    continue;
                }
                let place = FamilyPlace { table: &table, region: &region, family, path };
                let list = self.list(&place, &mut named_files)?;
                unused.retain(|file| !list.has(file));
                lists.lists.push(list);
            }
            let meaning = ": there is no list of them";
            let warnings = &mut lists.warnings;
            warn_of_other_families(tree, &table.schema, &directory, meaning, warnings);
        }
        if let Some(file) = unused.first() {
            let what =
                format!("has no file {}, for which the options say what to do", file.display());
            return Err(Error::NotFound { path: table.path.clone(), what });
        }
        lists.warnings.extend(unreferenced(&table, &lists.lists, &named_files));
        Ok(lists)
    }

    /// Returns the families whose lists HBase reads.
    fn families(table: &Table, warnings: &mut Vec<Warning>) -> Result<Vec<String>> {
        let (mut families, mut is_set) = (Vec::new(), true);
        for family in &table.schema.families {
            match reads_list(&table.schema, &family.name, &table.path)? {
                Some(false) => continue,
                Some(true) => {}
                None => is_set = false,
            }
            families.push(String::from_utf8_lossy(&family.name).into_owned());
        }
        if families.is_empty() {
            let what = "has no file-based store file tracker: HBase reads the directories of the families, and no lists".to_owned();
            return Err(Error::NotFound { path: table.path.clone(), what });
        }
        if !is_set {
            let what = "does not set its store file tracker, so the configuration of HBase decides whether the lists \
                        count";
            warnings.push(Warning::new(&table.path, what));
        }
        Ok(families)
    }

    fn list(
        &self,
        place: &FamilyPlace<'_>,
        named_files: &mut BTreeSet<String>,
    ) -> Result<RebuiltList> {
        let FamilyPlace { table, region, family, path } = place;
        let tree = &**table.tree();
        let of_family = Path::new(region.as_str()).join(family);
        let archive = table_in(&table.root, "archive/data", &table.name).join(&of_family);
        let previous = TrackedFiles::read_previous(tree, path)?;
        let newest = previous.newest.iter().flat_map(|list| list.files.iter().rev());
        let mut listed: BTreeMap<_, _> =
            newest.map(|file| (file.name.clone(), file.clone())).collect();
        let loaded = LoadedFiles::list(tree, [path, &archive])?;
        let mut files = Vec::new();
        for item in list_if_there(tree, path)? {
            files.extend(Candidate::read(tree, &item, &loaded)?);
        }
        for file in &mut files {
            file.listed = listed.remove(&file.name);
        }
        self.choose(&of_family, &mut files)?;
        for listed in listed.into_values() {
            files.push(Candidate::only_listed(tree, &archive, listed)?);
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let mut origins = files.iter().filter_map(|file| file.origin.as_ref());
        let other_engine = other_store_engine(&table.schema, family.as_bytes()).or_else(|| {
            origins.any(|origin| origin.is_one_of_several).then(|| OTHER_ENGINE.to_owned())
        });
        Evidence { previous: &previous, other_engine }.decide(&mut files);
        // Why a file that is only in the list cannot be taken is known now.
        self.choose(&of_family, &mut files)?;
        named_files.extend(files.iter().flat_map(|file| {
            let inputs = file.origin.iter().flat_map(|origin| origin.inputs.iter().cloned());
            inputs.chain([file.name.clone()])
        }));
        let later = |time: u64| self.now.max(time.saturating_add(1));
        Ok(RebuiltList {
            region: RegionName::clone(region),
            family: (*family).to_owned(),
            files: files
                .into_iter()
                .map(|Candidate { name, len, decision, .. }| DecidedFile { name, len, decision })
                .collect(),
            unreadable: previous.unreadable,
            timestamp: later(previous.timestamp_max),
            name_time: (previous.name_time_max > 0).then(|| later(previous.name_time_max)),
        })
    }

    /// Decides about the files that the caller has named.
    fn choose(&self, of_family: &Path, files: &mut [Candidate]) -> Result<()> {
        for file in files {
            let path = of_family.join(&file.name);
            let Some(choice) = self.choices.get(&path) else { continue };
            let decision = match (choice, &file.origin, &file.decision) {
                (Choice::LeaveOut, ..) => {
                    FileDecision::LeftOut("left out by the caller".to_owned())
                }
                (Choice::Take, Some(origin), _) => FileDecision::Taken(origin.kind),
                (_, None, FileDecision::LeftOut(why) | FileDecision::Undecided(why)) => {
                    let what = format!("a list cannot have this file: {why}");
                    return Err(Error::NotFound { path, what });
                }
                (_, None, FileDecision::Taken(_)) => unreachable!("a file in the list was read"),
            };
            (file.decision, file.is_chosen) = (decision, true);
        }
        Ok(())
    }
}

impl RebuiltList {
    /// Returns whether each file is taken or left out, so that the list can be written.
    pub fn is_decided(&self) -> bool {
        !self.files.iter().any(|file| matches!(file.decision, FileDecision::Undecided(_)))
    }

    /// Returns the path of the tracker file below the directory of the table.
    pub fn path(&self) -> PathBuf {
        let name = self.name_time.map_or_else(|| "f1".to_owned(), |time| format!("f1.{time}"));
        [self.region.as_str(), &self.family, DIRECTORY, &name].iter().collect()
    }

    /// Returns the bytes of the tracker file.
    ///
    /// # Errors
    ///
    /// As [`TrackedFiles::to_bytes`].
    ///
    /// # Panics
    ///
    /// If a file is undecided: see [`is_decided`](Self::is_decided).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        assert!(self.is_decided(), "a list of undecided files");
        let files = self.files.iter().filter_map(|file| {
            let FileDecision::Taken(kind) = file.decision else { return None };
            let size = if kind == FileKind::HFile { file.len } else { 0 };
            Some(TrackedFile { name: file.name.clone(), size, reference: None })
        });
        let (timestamp, cut_off) = (self.timestamp, Vec::new());
        TrackedFiles { path: self.path(), timestamp, files: files.collect(), cut_off }.to_bytes()
    }

    /// Returns whether the list has the file at a path: `REGION/FAMILY/FILE`.
    fn has(&self, file: &Path) -> bool {
        let family = Path::new(self.region.as_str()).join(&self.family);
        self.files.iter().any(|known| family.join(&known.name) == file)
    }
}

/// What is said of the engine of a family if only its files tell that it is not the default one.
const OTHER_ENGINE: &str = "the engine that wrote these files";

/// A family of a region.
struct FamilyPlace<'t> {
    table: &'t Table,
    region: &'t RegionName,
    family: &'t str,
    path: PathBuf,
}

/// Returns the directories of regions of a table, by ascending name.
fn regions(tree: &dyn FileTree, table: &Path) -> Result<BTreeMap<RegionName, PathBuf>> {
    let items = tree.list(table).map_err(Error::io(table, "list it"))?;
    Ok(items
        .into_iter()
        .filter_map(|item| {
            let name = item.name()?.parse::<RegionName>().ok()?;
            let is_directory = matches!(item.kind, ItemKind::Directory | ItemKind::DirectoryLink);
            is_directory.then_some((name, item.path))
        })
        .collect())
}

/// Warns of files of split and merged regions if no other region has a reference to them or their cells.
fn unreferenced(
    table: &Table,
    lists: &[RebuiltList],
    named_files: &BTreeSet<String>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for list in lists {
        let region = &list.region;
        let is_parent = table.left_out.iter().any(|left_out| {
            left_out.region.name() == region && left_out.reason != LeftOutReason::Replica
        });
        if !is_parent {
            continue;
        }
        for file in list.files.iter().filter(|file| file.decision.is_taken()) {
            if named_files.contains(&format!("{}.{region}", file.name)) {
                continue;
            }
            let path = table.path.join(region.as_str()).join(&list.family).join(&file.name);
            let what = "is of a split or merged region, and no file of another region refers to it or was compacted \
                        from it: if the reference was only in a lost list, as in newer versions of HBase, its cells \
                        are lost";
            warnings.push(Warning::new(path, what));
        }
    }
    warnings
}
