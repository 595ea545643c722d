//! Store files that only markers of logs name, and MOB files that only cells name: ids and times that are equal, less
//! and greater.

use std::fs;
use std::slice::from_ref;
use std::time::{SystemTime, UNIX_EPOCH};

use cells::RowsBetween;
use sstable::{CellRef, FileInfo, Limits, Timestamp};

use super::kinds::md5;
use super::made::{Log, Made, MadeRegion, field, flushed, hfile, number, put, write_file};

const SERVER: &str = "host,1,1";
/// The file that is gone.
const GONE: usize = 9;

/// Returns a message of the store files of family `f` of an event.
fn store(files: &[String]) -> Vec<u8> {
    let files: Vec<u8> = files.iter().flat_map(|file| field(3, file.as_bytes())).collect();
    field(5, &[field(1, b"f"), files].concat())
}

fn flush(log: Log, region: &MadeRegion, sequence: u64, time: usize, action: usize) -> Log {
    let message = [number(1, action), store(&[hfile(GONE)])].concat();
    log.marker(&region.name, sequence, time, "HBASE::FLUSH", &message)
}

fn opening(log: Log, region: &MadeRegion, sequence: u64, time: usize, files: &[String]) -> Log {
    let message = store(files);
    log.marker(&region.name, sequence, time, "HBASE::REGION_EVENT::REGION_OPEN", &message)
}

/// Writes a compacted file, whose input no log names.
fn compacted(region: &MadeRegion, newest: u64) {
    let event = [&b"PBUF"[..], &field(1, hfile(7).as_bytes())].concat();
    let options = flushed(newest).file_info(FileInfo::COMPACTION_EVENT, event);
    region.file(&hfile(1), options, &[put("r", "q", 1, 1, "v")]);
}

/// Returns what is wrong with the table before its files are read.
fn damages(made: &Made) -> Vec<String> {
    let damages = made.table().check().damages;
    damages.iter().map(|damage| format!("{}: {}", damage.place(), damage.what)).collect()
}

#[track_caller]
fn check(made: &Made, file: &str, is_missed: bool, what: &str) {
    let damages = damages(made);
    assert_eq!(damages.len(), usize::from(is_missed), "{what}: {damages:?}");
    assert!(!is_missed || damages[0].contains(file), "{what}: {damages:?}");
}

#[test]
fn a_file_is_missed_unless_one_that_is_as_new_may_have_its_cells() {
    for (newest, may_replace) in [(9, false), (10, true), (11, true)] {
        let made = Made::new(&[]);
        let region = made.region(1, "", "");
        compacted(&region, newest);
        // Only a flush that was committed wrote files.
        for action in [0, 1, 2] {
            made.log(SERVER, &flush(Log::new(), &region, 10, 5, action).0);
            check(&made, &hfile(GONE), action == 1 && !may_replace, "a flush");
        }
    }
}

/// A region can be opened with a reference long after its cells were written.
#[test]
fn a_reference_is_missed_only_if_no_file_at_all_may_have_its_cells() {
    let parent = "0123456789abcdef0123456789abcdef";
    let reference = format!("{}.{parent}", hfile(GONE));
    let link = format!("u={parent}-{}", hfile(GONE));
    for pointer in [reference, link] {
        let made = Made::new(&[]);
        let region = made.region(1, "", "");
        made.log(SERVER, &opening(Log::new(), &region, 10, 5, from_ref(&pointer)).0);
        check(&made, &pointer, true, "no other file");
        for newest in [1, 9, 10, 11] {
            compacted(&region, newest);
            check(&made, &pointer, false, &format!("a file with writes to {newest}"));
        }
        // A flush wrote the file, so no reference went into it.
        let log = opening(Log::new(), &region, 10, 5, from_ref(&pointer));
        let message = [number(1, 1), store(&[hfile(1)])].concat();
        let log = log.marker(&region.name, 11, 6, "HBASE::FLUSH", &message);
        made.log(SERVER, &log.0);
        check(&made, &pointer, true, "a flushed file");
    }
}

#[test]
fn a_later_opening_without_the_file_explains_that_it_is_gone() {
    for (sequence, time, is_later) in [
        (9, 4, false),
        (10, 5, false),
        (9, 5, false),
        (10, 4, false),
        (11, 4, true),
        (9, 6, true),
        (11, 6, true),
    ] {
        for has_file in [false, true] {
            let made = Made::new(&[]);
            let region = made.region(1, "", "");
            let files = if has_file { vec![hfile(GONE)] } else { Vec::new() };
            let log = flush(Log::new(), &region, 10, 5, 1);
            made.log(SERVER, &opening(log, &region, sequence, time, &files).0);
            let what = format!("opened at {sequence}, {time}, {files:?}");
            check(&made, &hfile(GONE), has_file || !is_later, &what);
        }
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_millis()).expect("milliseconds")
}

/// The time to live of the families, in seconds, and attributes with which nothing ever expires.
const TTL: &str = "1000";
const KEPT: [&[(&str, &str)]; 2] = [&[], &[("TTL", TTL), ("MIN_VERSIONS", "1")]];

#[test]
fn a_flushed_file_may_be_gone_once_its_cells_have_expired() {
    for (age, may_be_gone) in [(990_000, false), (1_010_000, true)] {
        let time = usize::try_from(now() - age).expect("after 1970");
        let check = |attributes: &[(&str, &str)], is_missed| {
            let made = Made::new(attributes);
            let region = made.region(1, "", "");
            made.log(SERVER, &flush(Log::new(), &region, 10, time, 1).0);
            check(&made, &hfile(GONE), is_missed, &format!("{attributes:?}, {age} ms"));
        };
        check(&[("TTL", TTL)], !may_be_gone);
        check(&[("TTL", TTL), ("MIN_VERSIONS", "0")], !may_be_gone);
        for attributes in KEPT {
            check(attributes, true);
        }
    }
}

#[test]
fn a_mob_file_may_be_gone_once_all_cells_that_refer_to_it_have_expired() {
    let name = format!("{:032x}20240101{:032x}", 1, GONE);
    let value = [&4_u32.to_be_bytes()[..], name.as_bytes()].concat();
    let check = |attributes: &[(&str, &str)], ages: &[i64], lost: Option<(&str, &str)>| {
        let made = Made::new(&[attributes, &[("IS_MOB", "true")]].concat());
        let region = made.region(1, "", "");
        let cell = |(row, age): (&str, &i64)| {
            let put = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(now() - age), &value);
            CellRef { tags: b"\0\x01\x05", ..put }.to_cell()
        };
        let cells: Vec<_> = ["a", "b", "c"].into_iter().zip(ages).map(cell).collect();
        region.file(&hfile(1), flushed(1).includes_tags(true), &cells);
        let found: Vec<_> = damaged_rows(&made).into_iter().map(|(_, rows)| rows).collect();
        let lost: Vec<_> = lost.map(|(first, last)| rows(first, last)).into_iter().collect();
        assert_eq!(found, lost, "{attributes:?}");
    };
    let (old, new) = (1_010_000, 990_000);
    check(&[("TTL", TTL)], &[old, old, old], None);
    check(&[("TTL", TTL)], &[old, new, old], Some(("b", "b")));
    check(&[("TTL", TTL)], &[new, old, new], Some(("a", "c")));
    for attributes in KEPT {
        check(attributes, &[old, old, old], Some(("a", "c")));
    }
}

/// Returns what is wrong with the files of the table, and the rows that may be lost by it.
fn damaged_rows(made: &Made) -> Vec<(String, RowsBetween)> {
    let (table, mut damages) = (made.table(), Vec::new());
    for file in &table.check().files {
        file.run(&**table.tree(), Limits::default(), |_| {}, &mut damages).expect("readable");
    }
    damages.into_iter().map(|damage| (damage.what, damage.rows.expect("rows"))).collect()
}

fn rows(first: &str, last: &str) -> RowsBetween {
    let row = |row: &str| Some(row.as_bytes().to_vec()).filter(|row| !row.is_empty());
    RowsBetween { first: row(first), last: row(last) }
}

#[test]
fn references_of_rows_that_are_not_of_the_region_lose_nothing_if_their_mob_file_is_gone() {
    let made = Made::new(&[("IS_MOB", "true")]);
    let region = made.region(1, "b", "m");
    made.region(2, "", "b");
    made.region(3, "m", "");
    let name = format!("{:032x}20240101{:032x}", 1, GONE);
    let value = [&4_u32.to_be_bytes()[..], name.as_bytes()].concat();
    let cell = |row: &str| {
        let put = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), &value);
        CellRef { tags: b"\0\x01\x05", ..put }.to_cell()
    };
    let cells: Vec<_> = ["a", "b", "l", "m"].map(cell).to_vec();
    region.file(&hfile(1), flushed(1).includes_tags(true), &cells);
    let found = damaged_rows(&made);
    let outside = found.iter().find(|(what, _)| what.starts_with("has rows outside of its region"));
    assert_eq!(outside.expect("reported").1, rows("a", "m"));
    let gone = found.iter().find(|(what, _)| what.contains("MOB"));
    assert_eq!(gone.expect("reported").1, rows("b", "l"), "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn a_mob_file_that_cannot_be_read_may_lose_the_rows_of_the_region_that_wrote_it() {
    let made = Made::new(&[("IS_MOB", "true")]);
    let regions = [made.region(1, "", "m"), made.region(2, "m", "t"), made.region(3, "t", "")];
    let gone = made.gone_region(4, "m");
    let mob = made.root().join("mobdir/data/default/t").join(md5("t,.mob,0")).join("f");
    let names = regions.iter().chain([&gone]).map(|region| format!("_{}", region.name));
    let of_regions = [rows("", "m"), rows("m", "t"), rows("t", ""), rows("", "")];
    // Names of old versions do not have the region.
    for (name, expected) in names.zip(of_regions).chain([(String::new(), rows("", ""))]) {
        let path = mob.join(format!("{:032x}20240101{:032x}{name}", 1, 2));
        write_file(&path, flushed(1), &[put("n", "q", 1, 1, "value")]);
        let mut bytes = fs::read(&path).expect("ours");
        let class = b"KVComparator";
        let at = bytes.windows(class.len()).position(|bytes| bytes == class).expect("named");
        bytes[at] = b'X';
        fs::write(&path, bytes).expect("ours");
        let found = damaged_rows(&made);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert_eq!(found[0].1, expected, "{name}: {found:?}");
        fs::remove_file(&path).expect("ours");
    }
}
