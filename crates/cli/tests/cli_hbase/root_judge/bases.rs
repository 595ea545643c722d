//! The sound roots from which others are made: roots of the test data, and what HBase makes of them
//! while it recovers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use support::root_directory::RootCopy;
use support::{Random, copy_directory, crc32, judge};
use tempfile::TempDir;

use super::tree;

/// The time by which HBase and `hfile` expire cells.
pub(crate) const NOW: &str = "1795621500000";

/// The directory of the one region of hbase:meta.
pub(crate) const META: &str = "data/hbase/meta/1588230740";

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Origin {
    Walt,
    Rootdir,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Stage {
    /// As the halted HBase left it.
    Halted,
    /// The logs were split to recovered.edits; hbase:meta was opened and flushed.
    Split,
    /// The same, with logs split to HFiles.
    SplitToHFiles,
    /// All logs are there, and hbase:meta has its cells in files too.
    MetaFlushed,
    /// hbase:meta has files of an older time; its logs are complete.
    OldMeta,
}

/// A sound root: HBase and `hfile` read the same cells from it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Base {
    pub(crate) origin: Origin,
    stage: Stage,
}

impl Base {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let stages = [
            Stage::Halted,
            Stage::Halted,
            Stage::Split,
            Stage::SplitToHFiles,
            Stage::MetaFlushed,
            Stage::OldMeta,
        ];
        let origin = [Origin::Walt, Origin::Rootdir, Origin::Rootdir][random.below(3)];
        Self { origin, stage: stages[random.below(stages.len())] }
    }
}

/// Sound roots, each made when it is first asked for.
pub(crate) struct Bases {
    place: TempDir,
    ready: BTreeMap<Base, PathBuf>,
}

impl Bases {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().expect("a temporary directory");
        Self { place, ready: BTreeMap::new() }
    }

    /// Returns the directory of a sound root, which is not to be changed.
    pub(crate) fn get(&mut self, base: Base) -> PathBuf {
        if let Some(path) = self.ready.get(&base) {
            return path.clone();
        }
        let path = self.place.path().join(format!("{:?}-{:?}", base.origin, base.stage));
        self.make(base, &path);
        self.ready.insert(base, path.clone());
        path
    }

    /// Returns a root whose hbase:meta has files of an older time.
    pub(crate) fn old_meta(&mut self, origin: Origin) -> PathBuf {
        self.get(Base { origin, stage: Stage::OldMeta })
    }

    fn make(&mut self, base: Base, path: &Path) {
        let Base { origin, stage } = base;
        match stage {
            Stage::Halted => {
                let copy = match origin {
                    Origin::Walt => RootCopy::walt(),
                    Origin::Rootdir => RootCopy::new(),
                };
                copy_directory(&copy.path(), path);
            }
            Stage::Split => self.recover(origin, &[], path),
            Stage::SplitToHFiles if origin == Origin::Walt => {
                let split = self.get(Base { origin, stage: Stage::Split });
                copy_directory(&RootCopy::recovered_hfiles().path(), path);
                copy_directory(&split.join("data/hbase"), &path.join("data/hbase"));
            }
            Stage::SplitToHFiles => self.recover(origin, &["--to-hfiles"], path),
            Stage::MetaFlushed => {
                let split = self.get(Base { origin, stage: Stage::Split });
                copy_directory(&self.get(Base { origin, stage: Stage::Halted }), path);
                copy_directory(&split.join(META), &path.join(META));
            }
            Stage::OldMeta => {
                let halted = self.get(Base { origin, stage: Stage::Halted });
                copy_directory(&halted, path);
                let old = self.place.path().join(format!("{origin:?}-old"));
                halve_meta_logs(path);
                keep(path, &[], &old, &halted);
                copy_directory(&halted.join("WALs"), &path.join("WALs"));
                copy_directory(&old.join(META), &path.join(META));
            }
        }
    }

    fn recover(&mut self, origin: Origin, options: &[&str], path: &Path) {
        let halted = self.get(Base { origin, stage: Stage::Halted });
        keep(&halted, options, path, &halted);
    }
}

/// Has HBase split the logs of a copy, and keeps the copy.
fn keep(root: &Path, options: &[&str], path: &Path, halted: &Path) {
    let place = path.to_str().expect("text");
    let ask = ["root", root.to_str().expect("text"), "--keep", place, "--now", NOW];
    judge::confirm(&[&ask, options].concat());
    rename_new_files(path, halted);
}

/// Gives files that HBase named at random names that are the same in each run.
fn rename_new_files(root: &Path, halted: &Path) {
    const NAME_LEN: usize = 32;
    let is_new = |path: &PathBuf| {
        tree::name(path).len() == NAME_LEN
            && root.join(path).is_file()
            && !halted.join(path).exists()
    };
    let mut files: BTreeMap<PathBuf, Vec<(Vec<u8>, PathBuf)>> = BTreeMap::new();
    for path in tree::paths(root).into_iter().filter(is_new) {
        let bytes = fs::read(root.join(&path)).expect("ours");
        let parent = path.parent().expect("a parent").to_owned();
        files.entry(parent).or_default().push((bytes, root.join(path)));
    }
    for (parent, mut files) in files {
        files.sort_unstable();
        let place = crc32(parent.to_str().expect("text").as_bytes());
        for (number, (_, path)) in files.into_iter().enumerate() {
            fs::rename(&path, path.with_file_name(format!("{place:08x}{number:024x}")))
                .expect("ours");
        }
    }
}

/// Cuts off the younger half of the entries. A log that ends in its header would be refused.
fn halve_meta_logs(root: &Path) {
    const HEADER_LEN_MAX: usize = 1000;
    let logs = tree::paths(&root.join("WALs"));
    for log in logs.iter().filter(|path| tree::has_ending(tree::name(path), "meta")) {
        let log = root.join("WALs").join(log);
        let bytes = fs::read(&log).expect("ours");
        if bytes.len() > HEADER_LEN_MAX {
            fs::write(&log, &bytes[..bytes.len() / 2]).expect("ours");
        }
    }
}
