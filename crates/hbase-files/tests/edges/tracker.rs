//! Which list of a store file tracker counts, and what it may say.

use hbase_files::{Error, TableScan, TrackedFiles};
use sstable::{Half, Reference};
use support::directory_parts::tracker_file;

use super::made::{Made, MadeRegion, field, flushed, hfile, number, put};

/// Returns the message of a list of files with these names.
fn list(time: usize, names: &[&str]) -> Vec<u8> {
    let files =
        names.iter().flat_map(|name| field(2, &[field(1, name.as_bytes()), number(2, 7)].concat()));
    [number(1, time), files.collect(), number(3, 1)].concat()
}

fn write(region: &MadeRegion, name: &str, bytes: &[u8]) {
    let directory = region.path.join("f/.filelist");
    std::fs::create_dir_all(&directory).expect("ours");
    std::fs::write(directory.join(name), bytes).expect("ours");
}

fn read(region: &MadeRegion) -> Result<Option<TrackedFiles>, Error> {
    TrackedFiles::read(&hbase_files::LocalTree, &region.path.join("f"))
}

/// Returns the names in the list that counts.
fn names(region: &MadeRegion) -> Vec<String> {
    let list = read(region).expect("sound").expect("there is one");
    list.files.into_iter().map(|file| file.name).collect()
}

#[test]
fn the_list_with_the_greatest_time_counts() {
    for (one, other) in [
        (("f1", 5), ("f2", 4)),
        (("f2", 5), ("f1", 4)),
        // The time in the name counts before that in the list.
        (("f1.20", 4), ("f2.9", 5)),
        (("f2.20", 4), ("f1.9", 5)),
        (("f1.1", 4), ("f2", 5)),
        // Equal times in the names.
        (("f1.7", 5), ("f2.7", 4)),
        (("f2.7", 5), ("f1.7", 4)),
        (("f1.7", 5), ("f2.7", 5)),
    ] {
        let made = Made::new(&[]);
        let region = made.region(1, "", "");
        for ((name, time), entry) in [(one, "newer"), (other, "older")] {
            write(&region, name, &tracker_file(&list(time, &[entry])));
        }
        // Files with other names are no lists.
        for name in ["f3", "f1x", "f1.x", "f2.", "g1"] {
            write(&region, name, &tracker_file(&list(99, &["other"])));
        }
        assert_eq!(names(&region), ["newer"], "{one:?} {other:?}");
        assert_eq!(read(&region).expect("sound").expect("one").timestamp, one.1 as u64);
    }
}

#[test]
fn a_family_without_a_list_has_none() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    assert_eq!(read(&region).expect("sound"), None);
    std::fs::create_dir(region.path.join("f/.filelist")).expect("ours");
    assert_eq!(read(&region).expect("sound"), None);
}

#[test]
fn every_changed_byte_and_every_cut_of_a_list_is_noticed() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    let whole = tracker_file(&list(5, &["one", "two"]));
    write(&region, "f1", &whole);
    assert_eq!(names(&region), ["one", "two"]);
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x81;
        for bytes in [&changed[..], &whole[..at], &[&whole[..], &[0]].concat()] {
            write(&region, "f1", bytes);
            assert!(matches!(read(&region), Err(Error::Damaged { .. })), "{at}");
        }
    }
}

#[test]
fn a_file_of_a_list_has_a_name_a_size_and_a_reference() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    let reference = Reference::new(b"m", Half::Top);
    let entry = [field(1, b"one"), number(2, 300), field(3, &reference.to_bytes()[4..])].concat();
    let plain = field(1, b"two");
    write(
        &region,
        "f1",
        &tracker_file(&[number(1, 5), field(2, &entry), field(2, &plain)].concat()),
    );
    let files = read(&region).expect("sound").expect("one").files;
    assert_eq!((files[0].size, &files[0].reference), (300, &Some(reference)));
    assert_eq!((files[1].size, &files[1].reference), (0, &None));
    for wrong in [
        field(2, b""),
        field(2, &number(2, 1)),
        field(2, &field(1, b"")),
        field(2, &field(1, b"..")),
        field(2, &field(1, b"a/b")),
        field(2, &field(1, b"/etc/passwd")),
        field(2, &field(1, b"a\\b")),
        field(2, &field(1, b"a\0b")),
        field(2, &[field(1, b"one"), field(3, b"\x08")].concat()),
        b"\x0b".to_vec(),
    ] {
        write(&region, "f1", &tracker_file(&[number(1, 5), wrong.clone()].concat()));
        assert!(matches!(read(&region), Err(Error::Damaged { .. })), "{wrong:?}");
    }
}

#[test]
fn a_list_has_at_most_sixteen_mebibytes() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    let most = (16 << 20) - 8;
    let padding = |len: usize| {
        let message = list(5, &["one"]);
        // A field of 4 bytes of length and 1 of its number.
        let rest = len - message.len() - 5;
        [message, field(9, &vec![0; rest])].concat()
    };
    write(&region, "f1", &tracker_file(&padding(most)));
    assert_eq!(names(&region), ["one"]);
    write(&region, "f1", &tracker_file(&padding(most + 1)));
    let error = read(&region).expect_err("too long").to_string();
    assert!(error.contains("exceeds 16 MiB"), "{error}");
}

/// Returns the entry of a list for a half of a file of another region, which has no file of its own.
fn half_entry(file: &str, of: &MadeRegion, split: &str, half: Half) -> Vec<u8> {
    let reference = Reference::new(split.as_bytes(), half).to_bytes();
    let name = format!("{file}.{}", of.name);
    field(2, &[field(1, name.as_bytes()), number(2, 0), field(3, &reference[4..])].concat())
}

/// A later HBase keeps references and links of a split or a clone in the list alone.
#[test]
fn references_and_links_may_be_in_the_list_alone() {
    let made = Made::new(&[("hbase.store.file-tracker.impl", "FILE")]);
    let parent = made.gone_region(1, "");
    let cells = [put("a", "q", 1, 1, "lower"), put("m", "q", 1, 1, "upper")];
    made.archived(&parent, &hfile(1), flushed(1), &cells);
    made.archived(&parent, &hfile(2), flushed(2), &[put("b", "q", 1, 2, "linked")]);
    let (lower, upper) = (made.region(2, "", "m"), made.region(2, "m", ""));
    let link = format!("t={}-{}", parent.name, hfile(2));
    let link = field(2, &[field(1, link.as_bytes()), number(2, 0)].concat());
    for (region, half, more) in [(&lower, Half::Bottom, &link[..]), (&upper, Half::Top, b"")] {
        let entries = [half_entry(&hfile(1), &parent, "m", half), more.to_vec()].concat();
        write(region, "f1.9", &tracker_file(&[number(1, 9), entries, number(3, 1)].concat()));
    }
    let scan = TableScan::default();
    assert_eq!(made.cells(&scan), ["a:q/1=lower@1", "b:q/1=linked@2", "m:q/1=upper@1"]);

    // The wrong half of a list, or none, is an error and no smaller table.
    let wrong = half_entry(&hfile(1), &parent, "m", Half::Top);
    let name = format!("{}.{}", hfile(1), parent.name);
    let none = field(2, &field(1, name.as_bytes()));
    for entry in [wrong, none] {
        write(&lower, "f1.9", &tracker_file(&[number(1, 9), entry, number(3, 1)].concat()));
        let found = made.table().scan(&scan).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        assert!(found.is_err(), "{found:?}");
    }
}

#[test]
fn root_directories_of_other_layouts_are_refused_by_name() {
    for (directory, expected) in
        [("data/hbase/storefile", "hbase:storefile"), ("data/hbase/meta_two", "several clusters")]
    {
        let made = Made::new(&[]);
        made.region(1, "", "").file(&hfile(1), flushed(1), &[put("a", "q", 1, 1, "v")]);
        assert_eq!(made.cells(&TableScan::default()), ["a:q/1=v@1"]);
        std::fs::create_dir_all(made.root().join(directory)).expect("ours");
        let root = hbase_files::RootDirectory::open(
            std::sync::Arc::new(hbase_files::LocalTree),
            made.root(),
        );
        let table = root.and_then(|root| root.table(&"t".parse().expect("a name")));
        let error = table.expect_err("refused");
        assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// A path below the root directory does not say that its files may not count; the root directory above it does.
#[test]
fn directories_whose_files_a_table_lists_are_refused_and_copies_of_them_listed() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    region.file(&hfile(1), flushed(1), &[put("a", "q", 1, 1, "v")]);
    let family = region.path.join("f");
    let read = |path: &std::path::Path| hbase_files::Listing::read(&hbase_files::LocalTree, path);
    let above = [&family, made.root()].map(std::path::Path::to_owned);
    for path in &above {
        assert_eq!(read(path).expect("listed").entries.len(), 1);
    }
    let own = made.root().join("data/hbase/storefile/r/f");
    std::fs::create_dir_all(&own).expect("ours");
    for path in &above {
        let error = read(path).expect_err("refused");
        assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
        assert!(error.to_string().contains("hbase:storefile"), "{error}");
    }
    std::fs::copy(family.join(hfile(1)), own.join(hfile(1))).expect("ours");
    assert_eq!(read(&own).expect("the files of the table").entries.len(), 1);
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    std::fs::copy(family.join(hfile(1)), elsewhere.path().join(hfile(1))).expect("ours");
    assert_eq!(read(elsewhere.path()).expect("a copy").entries.len(), 1);
}
