//! The elements of a root that matter to one table or snapshot.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use support::Random;

use super::bases::Origin;
use super::tree;

/// What is read: a table with its logs, or a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) is_snapshot: bool,
    /// The table's directory below `data`, `archive/data` and `mobdir/data`.
    table: &'static str,
}

const TABLES: [(&str, &str); 7] = [
    ("t1", "default/t1"),
    ("t2", "default/t2"),
    ("t3", "default/t3"),
    ("t5", "default/t5"),
    ("t6", "default/t6"),
    ("t7", "default/t7"),
    ("t8", "default/t8"),
];

const SNAPSHOTS: [(&str, &str); 9] = [
    ("s2", "default/t1"),
    ("s5", "default/t3"),
    ("s6", "ns1/t4"),
    ("s7", "default/t5"),
    ("s9", "default/t6"),
    ("s10", "default/t2"),
    ("s11", "default/t7"),
    ("s12", "default/t7"),
    ("s14", "default/t8"),
];

impl Subject {
    pub(crate) fn draw(origin: Origin, random: &mut Random) -> Self {
        if origin == Origin::Walt {
            return Self { name: "walt", is_snapshot: false, table: "default/walt" };
        }
        let is_snapshot = random.below(5) == 0;
        let all = if is_snapshot { &SNAPSHOTS[..] } else { &TABLES };
        let (name, table) = all[random.below(all.len())];
        Self { name, is_snapshot, table }
    }
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Kind {
    ArchiveFile,
    Description,
    Family,
    Id,
    Link,
    /// A store file of another table, or of the archive, that a link or a manifest names.
    LinkedFile,
    Log,
    LogDirectory,
    MetaFile,
    MetaLog,
    MetaRegion,
    MobFile,
    RecoveredEdits,
    RecoveredHFile,
    Reference,
    Region,
    RegionInfo,
    SequenceFile,
    SnapshotPart,
    StoreFile,
    TrackerList,
    Version,
}

#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) kind: Kind,
    /// Relative to the root.
    pub(crate) path: PathBuf,
}

/// Returns the elements that matter to a subject, in the order of their paths.
pub(crate) fn elements(root: &Path, subject: Subject) -> Vec<Element> {
    let paths = tree::paths(root);
    let named = named_files(root, &paths, subject);
    let element = |path: PathBuf| {
        let text = path.to_str().expect("text");
        kind(text, root.join(&path).is_dir(), subject, &named).map(|kind| Element { kind, path })
    };
    paths.into_iter().filter_map(element).collect()
}

/// Returns the names of files that links of the table, or the snapshot's manifest, name.
fn named_files(root: &Path, paths: &[PathBuf], subject: Subject) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let own = Path::new("data").join(subject.table);
    for path in paths.iter().filter(|path| !subject.is_snapshot && path.starts_with(&own)) {
        if let Some((_, file)) =
            tree::name(path).split_once('=').and_then(|parts| parts.1.split_once('-'))
        {
            names.insert(file.split('.').next().expect("a first part").to_owned());
        }
    }
    if subject.is_snapshot {
        let place = root.join(".hbase-snapshot").join(subject.name);
        let mut text = tree::paths(&place).iter().fold(Vec::new(), |mut text, path| {
            text.extend_from_slice(tree::name(path).as_bytes());
            text.extend(fs::read(place.join(path)).unwrap_or_default());
            text
        });
        text.push(0);
        let is_named = |name: &str| text.windows(name.len()).any(|part| part == name.as_bytes());
        let files = paths.iter().map(|path| tree::name(path)).filter(|name| name.len() >= 32);
        names.extend(files.filter(|name| is_named(name)).map(str::to_owned));
    }
    names
}

fn kind(path: &str, is_dir: bool, subject: Subject, named: &BTreeSet<String>) -> Option<Kind> {
    let name = path.rsplit('/').next()?;
    let of_table =
        |data: &str| path.strip_prefix(data)?.strip_prefix(subject.table)?.strip_prefix('/');
    if let (Some(rest), false) = (of_table("data/"), subject.is_snapshot) {
        return part_of_table(rest, is_dir);
    }
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        ["hbase.id"] => Some(Kind::Id),
        ["hbase.version"] => Some(Kind::Version),
        [".hbase-snapshot", snapshot, _, ..] if !is_dir && snapshot == subject.name => {
            Some(Kind::SnapshotPart)
        }
        ["data" | "archive", ..] if !is_dir && named.contains(name) => Some(Kind::LinkedFile),
        ["mobdir", ..] if !is_dir => of_table("mobdir/data/").map(|_| Kind::MobFile),
        _ if subject.is_snapshot => None,
        ["WALs", _] => Some(Kind::LogDirectory),
        ["WALs", _, log] => {
            Some(if tree::has_ending(log, "meta") { Kind::MetaLog } else { Kind::Log })
        }
        ["data", "hbase", "meta", _] if is_dir && name != ".tabledesc" => Some(Kind::MetaRegion),
        ["data", "hbase", "meta", _, "info", _] => Some(Kind::MetaFile),
        ["archive", ..] if !is_dir => of_table("archive/data/").map(|_| Kind::ArchiveFile),
        _ => None,
    }
}

fn part_of_table(path: &str, is_dir: bool) -> Option<Kind> {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        [".tabledesc", _] => Some(Kind::Description),
        [_, ".tmp", ..] | [".tabledesc" | ".tmp", ..] | [_, "recovered.edits"] => None,
        [_] => Some(Kind::Region),
        [_, ".regioninfo"] => Some(Kind::RegionInfo),
        [_, "recovered.edits", name] if tree::has_ending(name, "seqid") => Some(Kind::SequenceFile),
        [_, "recovered.edits", _] => Some(Kind::RecoveredEdits),
        [_, _] => Some(Kind::Family),
        [_, _, ".filelist", name] if !name.is_empty() => Some(Kind::TrackerList),
        [_, _, "recovered.hfiles", name] if !name.is_empty() => Some(Kind::RecoveredHFile),
        [_, _, _] if is_dir => None,
        [_, _, name] if name.contains('.') => Some(Kind::Reference),
        [_, _, name] if name.contains('=') => Some(Kind::Link),
        [_, _, _] => Some(Kind::StoreFile),
        _ => None,
    }
}
