//! A store changes its own directory only: not the files that others put there, not a directory that took its
//! place while the store was open, and not in a fork of its process.
#![cfg(unix)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use fork::{Fork, waitpid};
use store::tools::{VerifyEvent, VerifyOutcome, verify};
use store::{
    CompactionKind, Durability, Error, FamilyOptions, Get, Put, Snapshot, Store, StoreOptions,
};
use support::{Random, contents};

fn options() -> StoreOptions {
    StoreOptions::default().auto_compaction(false).memstore_flush_bytes(64 << 10)
}

pub(super) fn open(directory: &Path) -> Store {
    Store::open(directory, options()).unwrap()
}

fn put(store: &Store, row: &str) -> store::Result<()> {
    store.put(Put::new(row).column("f", "q", row))
}

/// Creates a store with a file and a log.
pub(super) fn filled(directory: &Path, row: &str) -> Store {
    let store = open(directory);
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, row).unwrap();
    store.flush().unwrap();
    put(&store, &format!("{row} in the log")).unwrap();
    store
}

pub(super) fn has(store: &Store, row: &str) -> bool {
    !store.get(&Get::row(row)).unwrap().is_empty()
}

/// Returns the files of a directory, by their paths in it.
pub(super) fn files_in(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let relative = |path: PathBuf| path.strip_prefix(directory).unwrap().to_path_buf();
    contents(directory).into_iter().map(|(path, bytes)| (relative(path), bytes)).collect()
}

pub(super) fn golden() -> PathBuf {
    let hfiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/hfile");
    let mut files: Vec<_> =
        fs::read_dir(hfiles).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "hfile"));
    files.into_iter().min().expect("the golden files are there")
}

/// Runs a test again in a process of its own. Returns whether this is that process.
fn is_alone(name: &str) -> bool {
    const MARK: &str = "OWN_DIRECTORY_ALONE";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("own_directory::{name}"), "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .output()
        .unwrap();
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && text[0].contains("1 passed"), "{}{}", text[0], text[1]);
    false
}

#[test]
fn a_store_is_created_only_where_nobody_else_has_files() {
    let directory = tempfile::tempdir().unwrap();
    let (region, name) = (directory.path(), "0123456789abcdef0123456789abcdef");
    fs::create_dir(region.join("cf")).unwrap();
    fs::copy(golden(), region.join("cf").join(name)).unwrap();
    let before = contents(region);
    let error = Store::open(region, options()).unwrap_err();
    assert!(error.to_string().contains("only in an empty or new directory"), "{error}");
    assert_eq!(contents(region), before);
    assert!(Store::open("", options()).is_err());
    // A directory of a new file system, and what a creation leaves that a crash interrupted.
    let new = tempfile::tempdir().unwrap();
    fs::create_dir(new.path().join("lost+found")).unwrap();
    fs::create_dir(new.path().join("wal")).unwrap();
    fs::write(new.path().join("LOCK"), "").unwrap();
    fs::write(new.path().join("MANIFEST.new"), "half").unwrap();
    drop(open(new.path()));
}

#[test]
fn files_that_the_store_did_not_write_are_never_removed() {
    let directory = tempfile::tempdir().unwrap();
    let store = filled(directory.path(), "a");
    let foreign = |family: &str| {
        let place = directory.path().join(family);
        let names = ["0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef.new"];
        names.map(|name| place.join(name))
    };
    // A directory beside the families, with an HFile of HBase.
    fs::create_dir(directory.path().join("cf")).unwrap();
    fs::copy(golden(), &foreign("cf")[0]).unwrap();
    let error = store.create_family("cf", FamilyOptions::default()).unwrap_err();
    assert!(error.to_string().contains("files that this store did not write"), "{error}");
    for path in foreign("f") {
        fs::copy(golden(), path).unwrap();
    }
    drop(store);
    drop(open(directory.path()));
    let mut notes = BTreeMap::new();
    let outcome = verify(directory.path(), &options(), |event| {
        if let VerifyEvent::Done(report) = event {
            notes.insert(report.path.clone(), report.notes.join(" "));
        }
    });
    assert_eq!(outcome.unwrap(), VerifyOutcome::Sound);
    for path in foreign("f") {
        assert_eq!(notes[&path], "not of this store");
    }
    let store = open(directory.path());
    store.compact("f", CompactionKind::Major).unwrap();
    store.drop_family("f").unwrap();
    drop(store);
    drop(open(directory.path()));
    let left = foreign("f").into_iter().chain([foreign("cf")[0].clone()]);
    assert!(left.into_iter().all(|path| path.exists()));
}

/// The files of a checkpoint are those of the original under other names.
#[test]
fn a_store_knows_the_files_of_its_own_checkpoint_as_those_of_another_store() {
    let directory = tempfile::tempdir().unwrap();
    let (original, copy) = (directory.path().join("original"), directory.path().join("copy"));
    let store = filled(&original, "a");
    let inside = store.checkpoint(original.join("copy")).unwrap_err();
    assert!(inside.to_string().contains("is in the store itself"), "{inside}");
    store.checkpoint(&copy).unwrap();
    drop(store);
    let files: Vec<_> = fs::read_dir(copy.join("f")).unwrap().map(|entry| entry.unwrap()).collect();
    assert!(!files.is_empty());
    for file in &files {
        let place = original.join("f").join(file.file_name());
        assert!(!place.exists());
        fs::copy(file.path(), place).unwrap();
    }
    drop(open(&original));
    assert!(files.iter().all(|file| original.join("f").join(file.file_name()).exists()));
    assert!(has(&open(&copy), "a"));
}

/// Where the writer's directory is, and what lies in its place.
pub(super) struct Places {
    pub(super) root: PathBuf,
    /// The directory of the writer.
    pub(super) mine: PathBuf,
    /// The directory of the other store.
    pub(super) other: PathBuf,
    pub(super) moves: u32,
}

impl Places {
    pub(super) fn step(&mut self, random: &mut Random) {
        let place = self.root.join("place");
        self.moves += 1;
        let away = self.root.join(format!("away{}", self.moves));
        match random.below(4) {
            // The store in the place, whichever it is, moves away.
            0 if place.is_dir() && !place.is_symlink() => {
                fs::rename(&place, &away).unwrap();
                let moved = if self.mine == place { &mut self.mine } else { &mut self.other };
                *moved = away;
            }
            // A link to one of the stores lies in the place.
            1 if place.is_symlink() || !place.exists() => {
                let target = if random.below(2) == 0 { &self.mine } else { &self.other };
                symlink(target, &away).unwrap();
                // Replaces a link in one step.
                fs::rename(away, &place).unwrap();
            }
            // A store moves into the place.
            2 | 3 if place.is_symlink() || !place.exists() => {
                let _ = fs::remove_file(&place);
                let moved = if random.below(2) == 0 { &mut self.mine } else { &mut self.other };
                fs::rename(&*moved, &place).unwrap();
                *moved = place;
            }
            _ => {}
        }
    }
}

/// Whatever happens to the paths, only the opened store changes, and no acknowledged write is lost.
#[test]
fn moved_replaced_and_linked_directories_lead_no_store_astray() {
    let sequences: u64 =
        std::env::var("SEQUENCES").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    let (mut refused, mut flushed) = (0, 0);
    for seed in 0..sequences {
        let mut random = Random::new(seed);
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_path_buf();
        let (mine, other) = (root.join("place"), root.join("other"));
        drop(filled(&other, "of the other"));
        let before = files_in(&other);
        let mut acknowledged = vec!["mine".to_owned()];
        let mut store = filled(&mine, "mine");
        let mut places = Places { root, mine, other, moves: 0 };
        for number in 0..40 {
            if random.below(3) == 0 {
                places.step(&mut random);
            }
            let done = match random.below(6) {
                0 => store.flush().inspect(|()| flushed += 1),
                1 => store.compact("f", CompactionKind::Major),
                _ => {
                    let row = format!("row{number}");
                    put(&store, &row).inspect(|()| acknowledged.push(row))
                }
            };
            if done.is_err() {
                refused += 1;
                drop(store);
                store = open(&places.mine);
            }
            assert!(files_in(&places.other) == before, "seed {seed}, step {number}");
        }
        drop(store);
        let store = open(&places.mine);
        for row in &acknowledged {
            assert!(has(&store, row), "seed {seed}: {row} is lost");
        }
    }
    assert!(refused > sequences / 4 && flushed > sequences / 4, "{refused} {flushed}");
}

#[test]
fn a_relative_path_is_that_of_the_open() {
    if !is_alone("a_relative_path_is_that_of_the_open") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let elsewhere = directory.path().join("elsewhere");
    drop(filled(&elsewhere.join("store"), "of the other"));
    let before = contents(&elsewhere);
    std::env::set_current_dir(directory.path()).unwrap();
    let store = filled(Path::new("store"), "a");
    std::env::set_current_dir(&elsewhere).unwrap();
    put(&store, "b").unwrap();
    store.flush().unwrap();
    drop(store);
    assert_eq!(contents(&elsewhere), before);
    let store = open(&directory.path().join("store"));
    assert!(has(&store, "a") && has(&store, "b"));
}

#[test]
fn the_manifest_of_another_store_is_never_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let (mine, other) = (directory.path().join("mine"), directory.path().join("other"));
    drop(filled(&other, "a"));
    let store = filled(&mine, "a");
    fs::copy(other.join("MANIFEST"), mine.join("MANIFEST")).unwrap();
    let error = store.flush().unwrap_err();
    assert!(error.to_string().contains("is the manifest of another store"), "{error}");
    assert_eq!(fs::read(mine.join("MANIFEST")).unwrap(), fs::read(other.join("MANIFEST")).unwrap());
}

/// Returns what a fork of this process returns.
pub(super) fn in_a_fork(work: impl FnOnce() -> bool) -> bool {
    match fork::fork().unwrap() {
        Fork::Parent(child) => waitpid(child).unwrap() == 0,
        Fork::Child => {
            let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            std::process::exit(i32::from(!worked.unwrap_or(false)));
        }
    }
}

#[test]
fn a_fork_neither_writes_nor_unlocks() {
    if !is_alone("a_fork_neither_writes_nor_unlocks") {
        return;
    }
    for background in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        drop(filled(directory, "a"));
        let store = Store::open(directory, options().background(background)).unwrap();
        store.write(Put::new("b").column("f", "q", "1"), Durability::Async).unwrap();
        let snapshot: Snapshot = store.snapshot();
        let in_parent = store.clone();
        let is_refused = |result: store::Result<()>| matches!(result, Err(Error::Forked));
        assert!(in_a_fork(move || {
            let put = || Put::new("in the fork").column("f", "q", "1");
            let writes = [Durability::Skip, Durability::Async, Durability::Logged]
                .map(|durability| store.write(put(), durability));
            let calls = [
                store.get(&Get::row("a")).map(drop),
                snapshot.get(&Get::row("a")).map(drop),
                store.flush(),
                store.compact("f", CompactionKind::Major),
                store.create_family("g", FamilyOptions::default()),
                store.drop_family("f").map(drop),
                store.checkpoint(directory.join("../checkpoint")),
            ];
            writes.into_iter().chain(calls).all(is_refused)
        }));
        // The fork has dropped its copies and ended.
        let opened_again = Store::open(directory, options());
        assert!(matches!(opened_again, Err(Error::Locked { .. })), "the lock is held");
        assert!(in_a_fork(
            || Store::open_read_only(directory, options()).is_ok_and(|read| has(&read, "a"))
        ));
        put(&in_parent, "c").unwrap();
        in_parent.flush().unwrap();
        drop(in_parent);
        let store = open(directory);
        assert!(["a", "b", "c"].iter().all(|row| has(&store, row)) && !has(&store, "in the fork"));
        assert_eq!(verify(directory, &options(), |_| {}).unwrap(), VerifyOutcome::Sound);
    }
}

/// The snapshot keeps files that a compaction has replaced. A fork drops its copy of the snapshot.
#[test]
fn a_fork_that_drops_a_snapshot_leaves_its_files_to_the_parent() {
    if !is_alone("a_fork_that_drops_a_snapshot_leaves_its_files_to_the_parent") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    drop(filled(directory.path(), "a"));
    let store = Store::open(directory.path(), options().background(false)).unwrap();
    for row in ["a", "b"] {
        put(&store, row).unwrap();
        store.flush().unwrap();
    }
    let snapshot = store.snapshot();
    store.compact("f", CompactionKind::Major).unwrap();
    let files = || fs::read_dir(directory.path().join("f")).unwrap().count();
    let before = files();
    assert!(before > 1, "the compaction has replaced files that the snapshot keeps");
    // A fork has a copy of the cell, so that the parent still has the snapshot.
    let holder = Cell::new(Some(snapshot));
    let dropped = in_a_fork(|| {
        let in_fork = store.snapshot();
        let is_refused = matches!(in_fork.get(&Get::row("a")), Err(Error::Forked));
        drop((in_fork, holder.take()));
        is_refused
    });
    assert!(dropped && files() == before);
    let snapshot = holder.take().unwrap();
    assert_eq!(snapshot.get(&Get::row("b")).unwrap().len(), 1);
    drop(snapshot);
    assert_eq!(files(), 1);
}
