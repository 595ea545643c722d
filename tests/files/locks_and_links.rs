//! Other openers of a store, and links, pipes and directories in place of its files.
//!
//! A second opener is refused; no call hangs, and nothing outside the store is written or removed.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use store::tools::{SalvageOutcome, VerifyEvent, VerifyOutcome, verify};
use store::{Error, FamilyOptions, Get, Put, Store, StoreOptions};
use support::test_store::open;
use support::{contents, say};

/// Makes a store with a file and a log.
fn filled(directory: &Path) -> Store {
    let store = open(directory).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    store.put(Put::new("a").column("f", "q", "1")).unwrap();
    store.flush().unwrap();
    store.put(Put::new("b").column("f", "q", "2")).unwrap();
    store
}

fn is_locked(directory: &Path) -> bool {
    matches!(open(directory), Err(Error::Locked { .. }))
}

#[test]
fn a_second_opener_is_refused_even_if_the_lock_file_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let store = filled(directory);
    let lock = directory.join("LOCK");
    let is_sound = || {
        let outcome = verify(directory, &StoreOptions::default(), |_| {});
        outcome.unwrap() == VerifyOutcome::Sound
    };
    assert!(is_locked(directory));
    fs::remove_file(&lock).unwrap();
    assert!(is_locked(directory), "locked after LOCK was removed");
    fs::write(&lock, "").unwrap();
    assert!(is_locked(directory), "locked after LOCK was made again");
    fs::write(directory.join("other"), "").unwrap();
    fs::rename(directory.join("other"), &lock).unwrap();
    assert!(is_locked(directory), "locked after LOCK was replaced");
    assert!(is_sound(), "verify takes no lock");
    // Another path to the same store.
    let link = tempfile::tempdir().unwrap();
    symlink(directory, link.path().join("store")).unwrap();
    assert!(is_locked(&link.path().join("store")));
    store.put(Put::new("c").column("f", "q", "3")).unwrap();
    drop(store);
    assert!(is_sound());
    assert_eq!(open(directory).unwrap().get(&Get::row("c")).unwrap()[0].value(), b"3");
}

/// What replaces a file of the store.
#[derive(Clone, Copy, Debug)]
enum Replacement {
    /// A link to a copy of the file outside the store.
    Link,
    Pipe,
    Directory,
    Socket,
    /// The device `/dev/zero`.
    Device,
}

/// Runs a call in a thread and returns its result; panics if the call hangs.
fn without_hanging<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(call()));
    receiver.recv_timeout(Duration::from_secs(60)).expect("the call returns in time")
}

fn only_file(directory: &Path) -> PathBuf {
    fs::read_dir(directory).unwrap().next().unwrap().unwrap().path()
}

/// Returns the file with the greatest name in a directory.
fn last_file(directory: &Path) -> PathBuf {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).max().unwrap()
}

#[test]
fn links_pipes_directories_sockets_and_devices_in_place_of_files_are_refused() {
    let mut count = 0;
    let kinds = [
        (Replacement::Link, "is a symbolic link"),
        (Replacement::Pipe, "is a named pipe"),
        (Replacement::Directory, "is a directory"),
        (Replacement::Socket, "is a socket"),
        (Replacement::Device, "is a device"),
    ];
    for (replacement, what) in kinds {
        for place in ["MANIFEST", "LOCK", "f", "wal"] {
            let (directory, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let store = directory.path().join("store");
            drop(filled(&store));
            // For a directory, the file in it.
            let path = match place {
                "f" | "wal" => only_file(&store.join(place)),
                _ => store.join(place),
            };
            let kept = outside.path().join("kept");
            fs::rename(&path, &kept).unwrap();
            match replacement {
                Replacement::Link => symlink(&kept, &path).unwrap(),
                Replacement::Pipe => {
                    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
                }
                Replacement::Directory => fs::create_dir(&path).unwrap(),
                Replacement::Socket => drop(UnixListener::bind(&path).unwrap()),
                Replacement::Device => {
                    let made = Command::new("mknod").arg(&path).args(["c", "1", "5"]).output();
                    if !made.is_ok_and(|made| made.status.success()) {
                        say("locks_and_links: SKIPPED: a device, which only root can create");
                        continue;
                    }
                }
            }
            let before = contents(outside.path());
            let opened = store.clone();
            let error = without_hanging(move || open(&opened).map(drop)).expect_err("refused");
            let message = error_text(&error);
            assert!(message.contains(path.to_str().unwrap()), "{replacement:?}: {message}");
            assert!(message.contains("not a regular file"), "{replacement:?}: {message}");
            assert!(message.contains(what), "{replacement:?}: {message}");
            assert_eq!(contents(outside.path()), before, "{replacement:?} for {place}");
            let opened = store.clone();
            let options = StoreOptions::default();
            let read = without_hanging(move || Store::open_read_only(&opened, options).map(drop));
            if place == "LOCK" {
                read.unwrap();
            } else {
                let message = error_text(&read.expect_err("refused"));
                assert!(message.contains(path.to_str().unwrap()), "{replacement:?}: {message}");
                assert!(message.contains(what), "{replacement:?}: {message}");
                assert_eq!(wrong_parts(&store), [path], "{replacement:?}");
            }
            count += 1;
        }
    }
    say(&format!("locks_and_links: {count} of {count} in place of a file are refused"));
}

/// Creates something at a path.
type Make = fn(&Path);

/// Things that are not directories: the name in messages, and how they are created.
const NOT_DIRECTORIES: [(&str, Make); 4] = [
    ("is a named pipe", |path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }),
    ("is a socket", |path| drop(UnixListener::bind(path).unwrap())),
    ("is a regular file", |path| fs::write(path, "").unwrap()),
    ("is a symbolic link", |path| symlink("/dev/null", path).unwrap()),
];

#[test]
fn a_file_in_place_of_a_directory_is_refused_by_name() {
    for place in ["f", "wal"] {
        for (what, make) in NOT_DIRECTORIES {
            let directory = tempfile::tempdir().unwrap();
            let store = directory.path().join("store");
            drop(filled(&store));
            let path = store.join(place);
            fs::rename(&path, directory.path().join("kept")).unwrap();
            make(&path);
            let opened = store.clone();
            let error =
                error_text(&without_hanging(move || open(&opened).map(drop)).expect_err("refused"));
            assert!(error.contains(path.to_str().unwrap()), "{place}, {what}: {error}");
            assert!(error.contains(what) && error.contains("not a directory"), "{error}");
            assert_eq!(wrong_parts(&store)[0], store.join("MANIFEST"), "{what}");
        }
    }
}

/// Extends a file to a sparse one of 1 TiB; false if the file system cannot.
fn make_sparse(path: &Path) -> bool {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(1 << 40).is_ok()
}

#[test]
fn a_sparse_file_of_1_tib_is_refused_by_name_without_delay() {
    for place in ["MANIFEST", "wal", "f"] {
        for keeps_manifest in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            let store = directory.path().join("store");
            drop(filled(&store));
            let path = match place {
                "MANIFEST" => store.join(place),
                _ => last_file(&store.join(place)),
            };
            if !make_sparse(&path) {
                return say(
                    "locks_and_links: SKIPPED: this file system has no sparse files of 1 TiB",
                );
            }
            if !keeps_manifest && place != "MANIFEST" {
                fs::remove_file(store.join("MANIFEST")).unwrap();
            }
            if keeps_manifest {
                let opened = store.clone();
                let refused =
                    without_hanging(move || open(&opened).map(drop)).expect_err("refused");
                assert!(
                    matches!(&refused, Error::Corrupt { path: at, .. } if *at == path),
                    "{place}: {refused:?}"
                );
                let error = error_text(&refused);
                assert!(error.contains("1099511627776"), "the error states the length: {error}");
            }
            assert!(wrong_parts(&store).contains(&path), "{place}");
            let (from, to) = (store.clone(), directory.path().join("saved"));
            let families = ["f".to_owned()];
            let saved = without_hanging(move || {
                store::tools::salvage(from, to, &StoreOptions::default(), &families, |_| {})
            });
            let is_cut_to_its_length = place == "f" && keeps_manifest;
            let is_whole = saved.unwrap() == SalvageOutcome::Whole;
            assert_eq!(is_whole, is_cut_to_its_length, "{place}");
            let saved = open(&directory.path().join("saved")).unwrap();
            // A refused log loses "b", a store file without a manifest "a".
            let is_there = |row: &str| !saved.get(&Get::row(row)).unwrap().is_empty();
            let file_is_whole = place != "f" || keeps_manifest;
            assert_eq!((is_there("a"), is_there("b")), (file_is_whole, place != "wal"), "{place}");
        }
    }
    // The lock file has no content.
    let directory = tempfile::tempdir().unwrap();
    drop(filled(directory.path()));
    make_sparse(&directory.path().join("LOCK"));
    assert_eq!(open(directory.path()).unwrap().get(&Get::row("b")).unwrap().len(), 1);
}

#[test]
fn a_link_in_place_of_a_directory_is_not_followed() {
    for place in ["f", "wal"] {
        let (directory, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = directory.path().join("store");
        drop(filled(&store));
        let moved = outside.path().join("moved");
        fs::rename(store.join(place), &moved).unwrap();
        // Named as a store file, so that a store would remove it from its own directory.
        fs::write(moved.join("0123456789abcdef0123456789abcdef"), "not of the store").unwrap();
        symlink(&moved, store.join(place)).unwrap();
        let before = contents(outside.path());
        let refused = open(&store);
        assert!(
            matches!(&refused, Err(Error::Corrupt { path, .. }) if *path == store.join(place)),
            "{refused:?}"
        );
        assert_eq!(wrong_parts(&store), [store.join("MANIFEST")]);
        assert_eq!(contents(outside.path()), before);
    }
    // A new family is not created in a linked directory either.
    let (directory, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = filled(directory.path());
    symlink(outside.path(), directory.path().join("g")).unwrap();
    assert!(matches!(
        store.create_family("g", FamilyOptions::default()),
        Err(Error::Corrupt { .. })
    ));
    assert_eq!(store.families().len(), 1);
}

/// An attacker who can write a manifest can also make its checksum right.
#[test]
fn paths_in_a_manifest_cannot_leave_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    let opened = open(&store).unwrap();
    opened.create_family("abcde", FamilyOptions::default()).unwrap();
    drop(opened);
    let manifest = store.join("MANIFEST");
    let bytes = fs::read(&manifest).unwrap();
    let at = bytes.windows(5).position(|name| name == b"abcde").unwrap();
    for name in ["../ab", "/abcd", "ab/cd", ".abcd", "..\0ab", "a\\..\\"] {
        let mut wrong = bytes[..bytes.len() - 4].to_vec();
        wrong[at..at + 5].copy_from_slice(name.as_bytes());
        wrong.extend(crc32c::crc32c(&wrong).to_be_bytes());
        fs::write(&manifest, &wrong).unwrap();
        let refused = open(&store);
        assert!(
            matches!(&refused, Err(Error::Corrupt { path, .. }) if *path == manifest),
            "{name}"
        );
    }
    let names: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing is created beside the store");
}

fn error_text(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Returns the files with which verify finds a problem.
fn wrong_parts(store: &Path) -> Vec<PathBuf> {
    let store = store.to_path_buf();
    without_hanging(move || {
        let mut wrong = Vec::new();
        let outcome = verify(&store, &StoreOptions::default(), |event| {
            if let VerifyEvent::Done(report) = event
                && !report.is_sound()
            {
                wrong.push(report.path.clone());
            }
        });
        assert_eq!(outcome.unwrap(), VerifyOutcome::Damaged);
        wrong
    })
}
