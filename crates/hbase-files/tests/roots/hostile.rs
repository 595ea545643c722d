//! Damaged and hostile directories: an error or the right answer, never a panic or an endless loop.

use std::fs;
use std::path::{Path, PathBuf};

use hbase_files::{
    EntryKind, Error, Listing, LocalTree, SkipReason, StoreFileReader, TrackedFiles, identify,
};
use sstable::{Caching, FileName, Half, ReaderOptions};
use support::directory_parts::tracker_file;
use support::protobuf::field;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rootdir/root")
}

const TRACKER: &str = "data/default/t5/1bc192e1c1ff9049e743103c3534b32c/g/.filelist/f2";
const REFERENCE: &str = "data/default/t6/475ea0cde6a4298710607723607cb381/g/4844017402a04d9587a063dc65b1fcc9.54831f426c01e05355f378f3c645ed76";

/// All bytes with one bit flipped, and all shorter prefixes.
fn mutants(bytes: &[u8]) -> Vec<Vec<u8>> {
    let flipped = (0..8 * bytes.len()).map(|bit| {
        let mut mutant = bytes.to_vec();
        mutant[bit / 8] ^= 1 << (bit % 8);
        mutant
    });
    flipped.chain((0..bytes.len()).map(|len| bytes[..len].to_vec())).collect()
}

#[test]
fn a_damaged_tracker_file_is_refused_and_one_that_is_cut_off_is_passed_over() {
    let bytes = fs::read(root().join(TRACKER)).expect("committed");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let family = directory.path();
    fs::create_dir(family.join(".filelist")).expect("ours");
    let newer = family.join(".filelist/f1");
    fs::write(&newer, &bytes).expect("ours");
    let sound = TrackedFiles::read(&LocalTree, family).expect("sound").expect("there");
    assert_eq!(sound.files.len(), 2);
    let mutants = mutants(&bytes);
    assert!(mutants.len() > 800);
    for mutant in &mutants {
        fs::write(&newer, mutant).expect("ours");
        let error = TrackedFiles::read(&LocalTree, family).expect_err("damaged");
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        let listing = Listing::read(&LocalTree, family).expect("the directory is readable");
        assert_eq!(listing.problems.len(), 1);
    }
    fs::write(family.join(".filelist/f2"), &bytes).expect("ours");
    for mutant in &mutants {
        fs::write(&newer, mutant).expect("ours");
        let listing = Listing::read(&LocalTree, family).expect("the directory is readable");
        if is_cut_off(mutant) {
            let list = TrackedFiles::read(&LocalTree, family).expect("f2 is sound").expect("there");
            assert_eq!((list.files, &list.cut_off), (sound.files.clone(), &vec![newer.clone()]));
            let warning = listing.warnings[0].to_string();
            assert!(
                warning.contains("f1: is cut off: HBase passes it over and reads f2"),
                "{warning}"
            );
        } else {
            TrackedFiles::read(&LocalTree, family).expect_err("damage, also beside a sound file");
            assert_eq!(listing.problems.len(), 1);
        }
    }
}

/// Returns whether a tracker file ends before the checksum, by the length at its start.
fn is_cut_off(file: &[u8]) -> bool {
    let Some((len, rest)) = file.split_first_chunk() else { return true };
    let len = u32::from_be_bytes(*len) as usize;
    (1..=16 << 20).contains(&len) && rest.len() < len + 4
}

#[test]
fn a_list_of_a_newer_version_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let family = directory.path();
    fs::create_dir(family.join(".filelist")).expect("ours");
    fs::write(family.join(".filelist/f1"), tracker(1, &field(1, b"aa"))).expect("ours");
    for (version, is_known) in [(1, true), (2, false)] {
        let message = message(2, &field(1, b"bb"));
        let file = tracker_file(&[&message[..], &[0x18, version]].concat());
        fs::write(family.join(".filelist/f2"), file).expect("ours");
        match TrackedFiles::read(&LocalTree, family) {
            Ok(Some(list)) => assert!(is_known && list.files[0].name == "bb"),
            Err(Error::Unsupported { .. }) => assert!(!is_known),
            other => panic!("{other:?}"),
        }
    }
}

/// Returns a tracker file with one entry.
fn tracker(time: u8, entry: &[u8]) -> Vec<u8> {
    tracker_file(&message(time, entry))
}

fn message(time: u8, entry: &[u8]) -> Vec<u8> {
    [&[0x08, time][..], &field(2, entry)].concat()
}

#[test]
fn a_listed_file_that_is_missing_is_a_problem_and_not_an_empty_family() {
    let family = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir(family.path().join(".filelist")).expect("ours");
    fs::write(family.path().join(".filelist/f1"), tracker(1, &field(1, b"aa"))).expect("ours");
    let listing = Listing::read(&LocalTree, family.path()).expect("readable");
    assert!(matches!(&listing.problems[..], [Error::Missing { .. }]), "{:?}", listing.problems);
}

#[test]
fn a_damaged_reference_is_an_error_or_another_half_of_the_same_file() {
    let bytes = fs::read(root().join(REFERENCE)).expect("committed");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let copied = directory.path().join("t6");
    let parent = "54831f426c01e05355f378f3c645ed76/g/4844017402a04d9587a063dc65b1fcc9";
    let reference = copied.join(REFERENCE.strip_prefix("data/default/t6/").expect("of t6"));
    for path in [&copied.join(parent), &reference] {
        fs::create_dir_all(path.parent().expect("it has one")).expect("ours");
    }
    fs::copy(root().join("data/default/t6").join(parent), copied.join(parent)).expect("ours");
    let mut refused = 0;
    for mutant in mutants(&bytes) {
        fs::write(&reference, &mutant).expect("ours");
        let entry = match identify(&LocalTree, &reference) {
            Ok(entry) => entry,
            // Without bytes it is an empty file.
            Err(Error::NotAStoreFile { .. }) if mutant.is_empty() => continue,
            Err(error) => panic!("{error}"),
        };
        assert!(matches!(entry.kind, EntryKind::Reference { .. }));
        let Ok(location) = entry.locate(&LocalTree) else {
            refused += 1;
            continue;
        };
        let name = FileName::new("half");
        let reader = StoreFileReader::open(&LocalTree, &location, name, ReaderOptions::default())
            .expect("the parent's file is sound");
        let mut scanner = reader.scanner(Caching::Use);
        scanner.seek_to_first().expect("sound");
        while scanner.cell().is_some() {
            scanner.advance().expect("sound");
        }
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn files_that_are_no_hfiles_are_named() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| directory.path().join(name);
    for subdirectory in ["recovered.edits", ".tmp"] {
        fs::create_dir(path(subdirectory)).expect("ours");
    }
    for (name, bytes, reason) in [
        (".regioninfo", &b"PBUF...."[..], SkipReason::RegionInfo),
        (".4f1c.crc", b"crc\0....", SkipReason::Checksum),
        ("4844017402a04d9587a063dc65b1fcc9", b"", SkipReason::Empty),
        ("log.1795412744013", b"PWAL\x10......", SkipReason::WriteAheadLog),
        ("recovered.edits/0000000000000000123", b"PWAL\x10.....", SkipReason::RecoveredEdits),
        ("recovered.edits/42.seqid", b"", SkipReason::RecoveredEdits),
        (".tmp/part", b"not finished", SkipReason::Unfinished),
    ] {
        fs::write(path(name), bytes).expect("ours");
        match identify(&LocalTree, &path(name)) {
            Err(Error::NotAStoreFile { reason: found, .. }) => assert_eq!(found, reason, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    // What cannot be recognized is for the reader of HFiles to refuse.
    fs::write(path("notes.txt"), b"not an HFile").expect("ours");
    assert_eq!(identify(&LocalTree, &path("notes.txt")).expect("a file").kind, EntryKind::HFile);
    let listing = Listing::read(&LocalTree, directory.path()).expect("readable");
    assert!(listing.entries.is_empty());
    assert_eq!(listing.skipped.len(), 8);
}

#[cfg(unix)]
#[test]
fn symbolic_links_to_directories_cause_no_loop() {
    use std::os::unix::fs::symlink;

    let directory = tempfile::tempdir().expect("a temporary directory");
    let family = directory.path().join("f");
    fs::create_dir(&family).expect("ours");
    symlink(directory.path(), family.join("loop")).expect("ours");
    symlink("nowhere", family.join("dangling")).expect("ours");
    let file =
        "archive/data/ns1/t4/ea869e80a7caba94c6902edc38fe97ad/g/7870cbc258c3453e91d8ee4528e8f438";
    symlink(fs::canonicalize(root().join(file)).expect("committed"), family.join("linked"))
        .expect("ours");
    let listing = Listing::read(&LocalTree, directory.path()).expect("readable");
    assert_eq!(listing.entries.len(), 1);
    let reasons: Vec<_> = listing.skipped.iter().map(|skipped| skipped.reason).collect();
    assert_eq!(reasons, [SkipReason::NotAFile, SkipReason::DirectoryLink]);
    let mut deep = directory.path().to_owned();
    for _ in 0..20 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).expect("ours");
    let error = Listing::read(&LocalTree, directory.path()).expect_err("too deep");
    assert!(matches!(error, Error::TooMany { .. }), "{error}");
}

#[test]
fn a_reference_without_a_file_of_its_own_has_its_half_in_the_tracker() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let table = directory.path().join("data/default/t6");
    let (parent, daughter) =
        ("54831f426c01e05355f378f3c645ed76", "475ea0cde6a4298710607723607cb381");
    let file = "4844017402a04d9587a063dc65b1fcc9";
    for region in [parent, daughter] {
        fs::create_dir_all(table.join(region).join("g/.filelist")).expect("ours");
    }
    let source = root().join("data/default/t6").join(parent).join("g").join(file);
    fs::copy(source, table.join(parent).join("g").join(file)).expect("ours");
    let reference = fs::read(root().join(REFERENCE)).expect("committed");
    let name = format!("{file}.{parent}");
    let family = table.join(daughter).join("g");
    let list = family.join(".filelist/f1.1795412744013");
    let entry = |reference: &[u8]| [field(1, name.as_bytes()), field(3, reference)].concat();
    fs::write(&list, tracker(1, &entry(&reference[4..]))).expect("ours");
    let listing = Listing::read(&LocalTree, &family).expect("readable");
    assert!(listing.problems.is_empty(), "{:?}", listing.problems);
    let location = listing.entries[0].locate(&LocalTree).expect("the parent has the file");
    let half = location.half.expect("it is a reference");
    assert_eq!((half.half(), half.split_key().row), (Half::Top, &b"row-00200"[..]));
    assert!(location.path.ends_with(Path::new(parent).join("g").join(file)));
    // A damaged reference in the list makes the list damaged.
    fs::write(&list, tracker(1, &entry(b"\x0a\x15"))).expect("ours");
    let listing = Listing::read(&LocalTree, &family).expect("readable");
    assert!(matches!(&listing.problems[..], [Error::Damaged { .. }]), "{:?}", listing.problems);
}
