//! Which files a rebuilt list of a store file tracker has.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hbase_files::tracker_lists::{FileDecision, ListRebuild, RebuiltList, RebuiltLists};
use hbase_files::{Error, LocalTree, RootDirectory, TableScan, TrackedFiles};
use sstable::{Half, Timestamp, WriterOptions};
use support::directory_parts::tracker_file;

use super::kinds::{Kinds, all};
use super::made::{Made, MadeRegion, compacted_from, field, flushed, hfile, number, put};

const NOW: u64 = 1000;

fn tracked() -> Made {
    Made::new(&[("hbase.store.file-tracker.impl", "FILE")])
}

fn rebuild(made: &Made, options: &ListRebuild) -> Result<RebuiltLists, Error> {
    let root = RootDirectory::open(Arc::new(LocalTree), made.root()).expect("a root directory");
    options.lists(&root, &"t".parse().expect("a name"))
}

/// Returns the list of a region.
fn list_with(made: &Made, region: &MadeRegion, options: &ListRebuild) -> RebuiltList {
    let lists = rebuild(made, options).expect("readable").lists;
    let of_region = |list: &RebuiltList| list.region.as_str() == region.name;
    lists.into_iter().find(of_region).expect("a list for each region")
}

fn list(made: &Made, region: &MadeRegion) -> RebuiltList {
    list_with(made, region, &ListRebuild::new(NOW))
}

/// Returns the files of a list with a mark: `+` taken, `-` left out, `?` undecided.
fn marks(list: &RebuiltList) -> Vec<String> {
    let mark = |decision: &FileDecision| match decision {
        FileDecision::Taken(_) => '+',
        FileDecision::LeftOut(_) => '-',
        FileDecision::Undecided(_) => '?',
    };
    list.files.iter().map(|file| format!("{}{}", mark(&file.decision), file.name)).collect()
}

fn count(list: &RebuiltList, mark: char) -> usize {
    marks(list).iter().filter(|marked| marked.starts_with(mark)).count()
}

fn why(list: &RebuiltList, name: &str) -> String {
    let file = list.files.iter().find(|file| file.name == name).expect("in the list");
    match &file.decision {
        FileDecision::Taken(kind) => kind.to_string(),
        FileDecision::LeftOut(why) | FileDecision::Undecided(why) => why.clone(),
    }
}

fn write(region: &MadeRegion, name: &str, bytes: &[u8]) {
    let path = region.path.join("f").join(name);
    fs::create_dir_all(path.parent().expect("below the root")).expect("ours");
    fs::write(path, bytes).expect("ours");
}

fn cells() -> [sstable::Cell; 1] {
    [put("a", "q", 1, 1, "v")]
}

/// Writes a tracker file with these names and lengths.
fn old_list(region: &MadeRegion, name: &str, time: usize, files: &[(&str, usize)]) {
    let entry = |(name, len): &(&str, usize)| {
        field(2, &[field(1, name.as_bytes()), number(2, *len)].concat())
    };
    let entries: Vec<u8> = files.iter().flat_map(entry).collect();
    let message = [number(1, time), entries, number(3, 1)].concat();
    write(region, &format!(".filelist/{name}"), &tracker_file(&message));
}

#[test]
fn a_list_of_hbase_is_written_with_the_same_bytes() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/rootdir/root/data/default/t5/1bc192e1c1ff9049e743103c3534b32c");
    for family in ["g", "h"] {
        let list = TrackedFiles::read(&LocalTree, &table.join(family)).expect("sound");
        let list = list.expect("HBase wrote one");
        assert_eq!(fs::read(&list.path).expect("there"), list.to_bytes().expect("small"));
    }
}

#[test]
fn a_list_with_a_reference_is_read_as_it_was_written() {
    let made = tracked();
    let region = made.region(1, "", "");
    let reference = Some(sstable::Reference::new(b"m", Half::Top));
    let file = |name: &str, size, reference| hbase_files::TrackedFile {
        name: name.to_owned(),
        size,
        reference,
    };
    let path = region.path.join("f/.filelist/f1");
    let files = vec![file("one", 300, None), file("two.1", 0, reference)];
    let list = TrackedFiles { path, timestamp: 5, files, cut_off: Vec::new() };
    write(&region, ".filelist/f1", &list.to_bytes().expect("small"));
    let read = TrackedFiles::read(&LocalTree, &region.path.join("f")).expect("sound");
    assert_eq!(read, Some(list));
}

#[test]
fn hfiles_references_and_links_are_taken_and_other_files_left_out() {
    let made = tracked();
    let parent = made.gone_region(1, "");
    made.archived(&parent, &hfile(8), flushed(1), &[put("b", "q", 1, 1, "of the parent")]);
    made.archived(&parent, &hfile(9), flushed(1), &[put("c", "q", 1, 1, "linked")]);
    let region = made.region(2, "", "m");
    made.region(3, "m", "");
    region.file(&hfile(1), flushed(1), &cells());
    region.half(&hfile(8), &parent, "m", Half::Bottom);
    let link = format!("t={}-{}", parent.name, hfile(9));
    write(&region, &link, b"");
    write(&region, &hfile(2), b"");
    write(&region, "notes.txt", b"HBase does not read this");
    write(&region, &format!(".{}.crc", hfile(1)), b"crc");
    fs::create_dir(region.path.join("f/other")).expect("ours");

    let empty = Path::new(&region.name).join("f").join(hfile(2));
    assert!(why(&list(&made, &region), &hfile(2)).contains("is empty"));
    let list = list_with(&made, &region, &ListRebuild::new(NOW).leave_out(empty));
    let reference = format!("{}.{}", hfile(8), parent.name);
    let expected = [
        format!("-.{}.crc", hfile(1)),
        format!("+{}", hfile(1)),
        format!("-{}", hfile(2)),
        format!("+{reference}"),
        "-notes.txt".to_owned(),
        format!("+{link}"),
    ];
    assert_eq!(marks(&list), expected);
    assert_eq!(why(&list, &reference), "reference");
    assert_eq!(why(&list, &link), "link");
    let path = format!("{}/f/.filelist/f1", region.name);
    assert_eq!(list.path(), Path::new(&path));

    // HBase, and so a scan, finds the same cells by the list.
    let directory = region.path.parent().expect("of the table");
    fs::create_dir(region.path.join("f/.filelist")).expect("ours");
    fs::write(directory.join(list.path()), list.to_bytes().expect("small")).expect("ours");
    let read = TrackedFiles::read(&LocalTree, &region.path.join("f")).expect("sound");
    let read = read.expect("just written");
    assert_eq!((read.files.len(), read.timestamp), (3, NOW));
    let is_hfile = |file: &&hbase_files::TrackedFile| file.name == hfile(1);
    let size = read.files.iter().find(is_hfile).expect("taken").size;
    let on_disk = fs::metadata(region.path.join("f").join(hfile(1))).expect("there").len();
    assert_eq!(size, on_disk);
    let expected = ["a:q/1=v@1", "b:q/1=of the parent@1", "c:q/1=linked@1"];
    assert_eq!(made.cells(&TableScan::default()), expected);
}

/// A file without an end is of a flush that did not finish, or was damaged: only the caller knows.
#[test]
fn files_that_cannot_be_read_are_undecided_until_they_are_left_out() {
    let made = tracked();
    let region = made.region(1, "", "");
    region.file(&hfile(1), flushed(1), &cells());
    let whole = fs::read(region.path.join("f").join(hfile(1))).expect("there");
    write(&region, &hfile(2), &whole[..whole.len() - 1]);
    write(&region, &format!("{}.{}", hfile(3), made.gone_region(9, "").name), b"no reference");
    write(&region, &format!("t={}-{}", made.gone_region(9, "").name, hfile(4)), b"");
    fs::create_dir(region.path.join("f").join(hfile(5))).expect("ours");
    let undecided = list(&made, &region);
    let names: Vec<String> = undecided.files.iter().map(|file| file.name.clone()).collect();
    assert_eq!(count(&undecided, '?'), 4, "{:?}", marks(&undecided));
    assert!(!undecided.is_decided());
    let path = |name: &String| Path::new(&region.name).join("f").join(name);
    let options =
        names.iter().skip(1).map(path).fold(ListRebuild::new(NOW), ListRebuild::leave_out);
    let decided = list_with(&made, &region, &options);
    assert!(decided.is_decided());
    assert_eq!(count(&decided, '-'), 4);
    assert!(why(&decided, &hfile(2)).contains("by the caller"));
    // What cannot be read cannot be taken either.
    let options = ListRebuild::new(NOW).take(path(&hfile(2)));
    let error = rebuild(&made, &options).expect_err("cut off").to_string();
    assert!(error.contains(&format!("{}: a list cannot have this file", hfile(2))), "{error}");
    let error = rebuild(&made, &ListRebuild::new(NOW).leave_out("r/f/file")).expect_err("unknown");
    assert!(error.to_string().contains("has no file r/f/file"), "{error}");
}

#[test]
fn a_file_that_a_major_compaction_replaced_is_left_out_unless_it_is_asked_for() {
    let made = tracked();
    let region = made.region(1, "", "");
    region.file(&hfile(1), flushed(4), &cells());
    region.file(&hfile(2), flushed(5).major_compaction(true), &cells());
    region.file(&hfile(3), flushed(6), &cells());
    let list = list(&made, &region);
    assert_eq!(
        marks(&list),
        [format!("-{}", hfile(1)), format!("+{}", hfile(2)), format!("+{}", hfile(3))]
    );
    assert!(why(&list, &hfile(1)).starts_with(&format!("{} replaced it: a major", hfile(2))));
    let file = Path::new(&region.name).join("f").join(hfile(1));
    let taken = list_with(&made, &region, &ListRebuild::new(NOW).take(file));
    assert!(marks(&taken)[0].starts_with('+'));
}

/// HBase leaves a copy of a bulk-loaded file in the directory, without the sequence id.
#[test]
fn a_file_without_a_sequence_id_is_a_copy_of_a_loaded_one_or_undecided() {
    let made = tracked();
    let region = made.region(1, "", "");
    let loaded = |number| format!("{}_SeqId_7_", hfile(number));
    let family = region.path.join("f");
    region.file(&hfile(1), WriterOptions::default(), &cells());
    fs::copy(family.join(hfile(1)), family.join(loaded(2))).expect("ours");
    // Longer than what is compared at a time.
    let other = "other".repeat(20_000);
    region.file(&hfile(3), WriterOptions::default(), &[put("b", "q", 1, 1, &other)]);
    let decided = list(&made, &region);
    let expected = [format!("-{}", hfile(1)), format!("+{}", loaded(2)), format!("?{}", hfile(3))];
    assert_eq!(marks(&decided), expected);
    assert!(why(&decided, &hfile(1)).contains(&loaded(2)));

    // The loaded file was compacted and archived; one byte of another one differs.
    let archive = made.root().join("archive/data/default/t").join(&region.name).join("f");
    fs::create_dir_all(&archive).expect("ours");
    fs::rename(family.join(loaded(2)), archive.join(loaded(2))).expect("ours");
    let mut bytes = fs::read(family.join(hfile(3))).expect("ours");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(archive.join(loaded(4)), bytes).expect("ours");
    assert_eq!(marks(&list(&made, &region)), [format!("-{}", hfile(1)), format!("?{}", hfile(3))]);
}

#[test]
fn a_readable_newest_list_decides_and_an_older_one_only_tells_what_is_missing() {
    let made = tracked();
    let region = made.region(1, "", "");
    for number in [1, 2] {
        region.file(&hfile(number), flushed(number as u64), &cells());
    }
    let len = |number| {
        let file = fs::metadata(region.path.join("f").join(hfile(number))).expect("there");
        usize::try_from(file.len()).expect("small")
    };
    old_list(&region, "f1.2000", 5, &[(&hfile(1), len(1))]);
    let by_list = list(&made, &region);
    assert_eq!(marks(&by_list), [format!("+{}", hfile(1)), format!("?{}", hfile(2))]);
    assert!(why(&by_list, &hfile(2)).contains("is not in the list f1.2000, which can be read"));
    // An older one that is damaged says nothing about it.
    write(&region, ".filelist/f2.1000", b"\0\0\0\x01ab");
    assert_eq!(marks(&list(&made, &region)), marks(&by_list));
    fs::remove_file(region.path.join("f/.filelist/f2.1000")).expect("ours");

    // HBase archives a file only after it has written a list without it.
    let archive = made.root().join("archive/data/default/t").join(&region.name).join("f");
    fs::create_dir_all(&archive).expect("ours");
    fs::write(archive.join(hfile(8)), b"replaced").expect("ours");
    old_list(&region, "f1.2000", 5, &[(&hfile(1), len(1)), (&hfile(8), 9)]);
    let only_archived = list(&made, &region);
    assert!(why(&only_archived, &hfile(8)).contains("only in the archive"), "{only_archived:?}");
    assert!(!only_archived.is_decided());

    // The newest list is damaged: the file may be in it.
    write(&region, ".filelist/f2.3000", b"\0\0\0\x01ab");
    old_list(&region, "f1.2000", 4000, &[(&hfile(1), len(1) + 1), (&hfile(7), 9), (&hfile(8), 9)]);
    let by_files = list(&made, &region);
    let expected = [
        format!("?{}", hfile(1)),
        format!("+{}", hfile(2)),
        format!("?{}", hfile(7)),
        format!("-{}", hfile(8)),
    ];
    assert_eq!(marks(&by_files), expected);
    assert!(why(&by_files, &hfile(1)).contains("in the list f1.2000"));
    assert!(why(&by_files, &hfile(7)).contains("is not there, and the list f1.2000 has it"));
    assert_eq!(by_files.unreadable.len(), 1);
    // Newer than all that is there.
    assert!(by_files.path().ends_with("f1.3001"), "{}", by_files.path().display());
    assert_eq!(by_files.timestamp, 4001);
}

/// A region whose list is gone opens empty, and HBase gives out its sequence ids once more.
#[test]
fn new_files_of_a_region_that_was_opened_without_its_list_are_not_replaced_by_an_old_major_compaction()
 {
    let made = tracked();
    let region = made.region(1, "", "");
    let at = |time| flushed(70).create_time(Timestamp::new(time));
    region.file(&hfile(1), at(1_000), &cells());
    region.file(
        &hfile(2),
        compacted_from(1_000, &[9]).major_compaction(true).create_time(Timestamp::new(2_000)),
        &cells(),
    );
    region.file(&hfile(3), at(3_000), &cells());
    let without = list(&made, &region);
    let expected = [format!("-{}", hfile(1)), format!("+{}", hfile(2)), format!("?{}", hfile(3))];
    assert_eq!(marks(&without), expected);
    assert!(why(&without, &hfile(3)).contains("was begun after"), "{without:?}");
    // The list that HBase has written since has the file.
    let len = fs::metadata(region.path.join("f").join(hfile(3))).expect("there").len();
    old_list(&region, "f1.2000", 5, &[(&hfile(3), usize::try_from(len).expect("small"))]);
    let file = Path::new(&region.name).join("f").join(hfile(2));
    let with = list_with(&made, &region, &ListRebuild::new(NOW).take(file));
    let expected = [format!("-{}", hfile(1)), format!("+{}", hfile(2)), format!("+{}", hfile(3))];
    assert_eq!(marks(&with), expected, "{with:?}");
}

#[test]
fn a_file_that_is_older_than_a_list_without_it_is_undecided_although_a_newer_list_is_damaged() {
    let made = tracked();
    let region = made.region(1, "", "");
    let at = |sequence, time| flushed(sequence).create_time(Timestamp::new(time));
    region.file(&hfile(1), at(1, 1_000), &cells());
    region.file(&hfile(2), at(2, 1_000), &cells());
    region.file(&hfile(3), at(3, 3_000), &cells());
    region.file(&hfile(4), at(4, 2_000), &cells());
    let len = fs::metadata(region.path.join("f").join(hfile(1))).expect("there").len();
    old_list(&region, "f1", 2_000, &[(&hfile(1), usize::try_from(len).expect("small"))]);
    write(&region, ".filelist/f2", b"\0\0\0\x01ab");
    let list = list(&made, &region);
    let taken = |number| format!("+{}", hfile(number));
    assert_eq!(marks(&list), [taken(1), format!("?{}", hfile(2)), taken(3), taken(4)]);
    assert!(why(&list, &hfile(2)).contains("begun before the list f1"), "{list:?}");
}

/// As after a bulk load of files of another cluster's region, which say of themselves what that region did.
#[test]
fn the_copy_of_a_loaded_file_replaces_nothing_although_it_is_of_a_major_compaction_elsewhere() {
    let made = tracked();
    let region = made.region(1, "", "");
    let family = region.path.join("f");
    region.file(&hfile(1), flushed(18), &cells());
    region.file(&hfile(2), compacted_from(1_000, &[1]).major_compaction(true), &cells());
    fs::copy(family.join(hfile(2)), family.join(format!("{}_SeqId_20_", hfile(3)))).expect("ours");
    let list = list(&made, &region);
    let loaded = format!("+{}_SeqId_20_", hfile(3));
    assert_eq!(marks(&list), [format!("+{}", hfile(1)), format!("?{}", hfile(2)), loaded]);
}

#[test]
fn files_of_stripes_are_undecided_where_one_file_of_the_default_engine_would_be_left_out() {
    let made = tracked();
    let region = made.region(1, "", "");
    region.file(&hfile(1), flushed(1), &cells());
    region.file(&hfile(2), compacted_from(1, &[1]), &cells());
    assert_eq!(marks(&list(&made, &region)), [format!("-{}", hfile(1)), format!("+{}", hfile(2))]);
    region.file(&hfile(3), flushed(2).file_info("STRIPE_START_KEY", "m"), &cells());
    let expected = [format!("?{}", hfile(1)), format!("+{}", hfile(2)), format!("+{}", hfile(3))];
    assert_eq!(marks(&list(&made, &region)), expected);
}

#[test]
fn a_file_that_the_caller_leaves_out_was_still_an_input() {
    let made = tracked();
    let region = made.region(1, "", "");
    region.file(&hfile(1), flushed(1), &cells());
    region.file(&hfile(2), compacted_from(1, &[1]), &cells());
    region.file(&hfile(3), compacted_from(1, &[2]), &cells());
    let file = Path::new(&region.name).join("f").join(hfile(2));
    let options = ListRebuild::new(NOW).leave_out(file);
    let expected = [format!("-{}", hfile(1)), format!("-{}", hfile(2)), format!("+{}", hfile(3))];
    assert_eq!(marks(&list_with(&made, &region, &options)), expected);
}

/// A server that dies before it writes the list leaves the output of a compaction beside its inputs, which still count.
#[test]
fn a_compaction_that_is_in_no_list_replaces_nothing_until_it_is_taken() {
    let made = tracked();
    let region = made.region(1, "", "");
    for number in [1, 2] {
        region.file(&hfile(number), flushed(number as u64), &cells());
    }
    region.file(&hfile(3), compacted_from(2, &[1, 2]).major_compaction(true), &cells());
    let len = |number| {
        let file = fs::metadata(region.path.join("f").join(hfile(number))).expect("there");
        usize::try_from(file.len()).expect("small")
    };
    old_list(&region, "f1.2000", 5, &[(&hfile(1), len(1)), (&hfile(2), len(2))]);
    let undecided = list(&made, &region);
    let expected = [format!("+{}", hfile(1)), format!("+{}", hfile(2)), format!("?{}", hfile(3))];
    assert_eq!(marks(&undecided), expected);
    let file = Path::new(&region.name).join("f").join(hfile(3));
    let taken = list_with(&made, &region, &ListRebuild::new(NOW).take(file));
    let expected = [format!("-{}", hfile(1)), format!("-{}", hfile(2)), format!("+{}", hfile(3))];
    assert_eq!(marks(&taken), expected);
}

#[test]
fn a_table_without_a_tracker_of_lists_has_none() {
    for (attributes, warns) in
        [(&[("hbase.store.file-tracker.impl", "DEFAULT")][..], false), (&[], true)]
    {
        let made = Made::new(attributes);
        made.region(1, "", "").file(&hfile(1), flushed(1), &cells());
        match rebuild(&made, &ListRebuild::new(NOW)) {
            Ok(lists) => assert!(warns && lists.warnings[0].what.contains("does not set")),
            Err(error) => assert!(!warns && error.to_string().contains("no file-based"), "{error}"),
        }
    }
}

/// The references of the daughters may have been only in the lists that are lost.
#[test]
fn files_of_a_split_region_without_references_are_named() {
    let made = tracked();
    let parent = made.region(1, "", "");
    for number in [1, 2] {
        parent.file(&hfile(number), flushed(1), &cells());
    }
    let daughters = [made.region(2, "", "m"), made.region(3, "m", "")];
    for (daughter, half) in daughters.iter().zip([Half::Bottom, Half::Top]) {
        daughter.half(&hfile(1), &parent, "m", half);
    }
    let warnings = rebuild(&made, &ListRebuild::new(NOW)).expect("readable").warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].path.ends_with(hfile(2)), "{warnings:?}");
}

#[test]
fn a_table_with_rebuilt_lists_has_the_cells_of_its_directories() {
    for seed in 0..3 {
        let kinds = Kinds::with(seed, &[("hbase.store.file-tracker.impl", "FILE")]);
        let kinds = kinds.with_logs(false);
        assert!(kinds.made.table().regions.iter().all(|region| region.files().count() == 0));
        let lists = rebuild(&kinds.made, &ListRebuild::new(NOW)).expect("readable").lists;
        assert_eq!(lists.len(), 2 * kinds.regions.len());
        for list in &lists {
            let path = kinds.made.root().join("data/default/t").join(list.path());
            super::made::write(&path, &list.to_bytes().expect("each file is decided"));
        }
        let expected = Kinds::new(seed).with_logs(false);
        for raw in [false, true] {
            let scan = all().raw(raw);
            assert!(kinds.made.cells(&scan) == expected.made.cells(&scan), "seed {seed}");
        }
    }
}
