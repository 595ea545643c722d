//! Log, manifest and store files of a small store, truncated at every byte and with every bit
//! flipped.
//!
//! ```text
//! log, truncated       the batches wholly before the cut, and no other
//! log, flipped         an error with segment and offset, except in the last record of the last segment
//! manifest             an error
//! store file           verify reports it
//! all of them          verify reports it, salvage keeps what is sound, and the store is not changed
//! ```
//!
//! An interrupted salvage leaves nothing that opens as a store.

mod verdict;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sstable::{CellRef, WriterOptions};
use store::tools::{FileKind, SalvageOutcome, VerifyEvent, VerifyOutcome, salvage, verify};
use store::vfs::Vfs;
use store::{Age, Delete, Error, FamilyOptions, Put, Store, Timestamp};
use support::cells::{PUT, hfile};
use support::disk::Disk;
use support::{Random, say};

use verdict::{Content, SAVED, STORE, content_of, judge, options, refusal};

/// The length of a segment header.
const HEADER_LEN: u64 = 56;

/// A store that consists of its log, with its content and the end of the log after each batch.
struct Logged {
    disk: Disk,
    /// For each batch the segment, and the start and end of its record.
    records: Vec<(PathBuf, u64, u64)>,
    /// The content after 0, 1, 2, … batches.
    contents: Vec<Content>,
}

/// Writes five batches: puts, a batch of two families, a delete. `segment_bytes` limits a segment.
fn logged(segment_bytes: u64) -> Logged {
    let disk = Disk::default();
    let store = Store::open(STORE, options(&disk).wal_segment_bytes(segment_bytes)).unwrap();
    for family in ["f", "g"] {
        store.create_family(family, FamilyOptions::default()).unwrap();
    }
    let mut logged = Logged { disk, records: Vec::new(), contents: vec![Content::new()] };
    let mut before = log(&logged.disk);
    for number in 0..5 {
        if number == 3 {
            store.delete(Delete::row("a0")).unwrap();
        } else {
            let row = format!("a{number}");
            let put = Put::new(&row).column("f", "q", "v".repeat(number + 1));
            store.put(put.column("g", "q", format!("{number}"))).unwrap();
        }
        let after = log(&logged.disk);
        for (path, end) in &after {
            let start = before.get(path).copied().unwrap_or(HEADER_LEN);
            if *end > start {
                logged.records.push((path.clone(), start, *end));
            }
        }
        before = after;
        logged.contents.push(content_of(&store));
    }
    logged.disk = logged.disk.after_kill();
    logged
}

/// Returns the segments and their lengths.
fn log(disk: &Disk) -> BTreeMap<PathBuf, u64> {
    let paths = disk.paths().into_iter().filter(|path| path.parent().unwrap().ends_with("wal"));
    paths.map(|path| (path.clone(), disk.len(&path).unwrap())).collect()
}

fn flipped(bytes: &[u8], at: usize, bit: u32) -> Vec<u8> {
    let mut flipped = bytes.to_vec();
    flipped[at] ^= 1 << bit;
    flipped
}

#[test]
fn a_truncated_log_holds_exactly_the_batches_before_the_cut() {
    let logged = logged(1 << 20);
    let (segment, whole) = log(&logged.disk).into_iter().next_back().unwrap();
    let bytes = logged.disk.bytes(&segment);
    let mut count = 0;
    for cut in 0..=whole {
        let disk = logged.disk.after_kill();
        disk.overwrite(&segment, &bytes[..usize::try_from(cut).unwrap()]);
        count += 1;
        if cut < HEADER_LEN {
            // The header was on disk before the families were created.
            assert_eq!(refusal(&disk), (segment.clone(), 0), "cut at {cut}");
            continue;
        }
        let store = Store::open(STORE, options(&disk)).unwrap();
        let batches = logged.records.iter().filter(|(_, _, end)| *end <= cut).count();
        assert_eq!(content_of(&store), logged.contents[batches], "cut at {cut}");
        // The store accepts writes after the cut.
        store.put(Put::new("later").column("f", "q", "v")).unwrap();
        drop(store);
        let store = Store::open(STORE, options(&disk)).unwrap();
        assert_eq!(content_of(&store).len(), logged.contents[batches].len() + 1);
    }
    say(&format!("log: {count} of {count} cuts leave exactly the batches before them"));
}

#[test]
fn a_flipped_bit_in_the_log_is_an_error_with_offset_or_an_incomplete_write() {
    let (mut refused, mut ended, mut total) = (0, 0, 0);
    for segment_bytes in [1 << 20, 200] {
        let logged = logged(segment_bytes);
        let (last, ..) = logged.records.last().unwrap();
        let (last_segment, _) = log(&logged.disk).into_iter().next_back().unwrap();
        for (segment, len) in log(&logged.disk) {
            let bytes = logged.disk.bytes(&segment);
            for (at, bit) in (0..len).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                total += 1;
                let disk = logged.disk.after_kill();
                disk.overwrite(&segment, &flipped(&bytes, usize::try_from(at).unwrap(), bit));
                let ours = logged.records.iter().filter(|(path, ..)| *path == segment);
                let hit = ours.clone().find(|(_, start, end)| (*start..*end).contains(&at));
                let is_end = segment == last_segment
                    && hit.is_some_and(|(path, _, end)| path == last && *end == len);
                if is_end {
                    // In the last record a flip cannot be distinguished from an incomplete write.
                    let store = Store::open(STORE, options(&disk)).unwrap();
                    let before = &logged.contents[logged.contents.len() - 2];
                    assert_eq!(content_of(&store), *before, "byte {at}, bit {bit}");
                    ended += 1;
                } else {
                    let place = (segment.clone(), hit.map_or(0, |(_, start, _)| *start));
                    assert_eq!(refusal(&disk), place, "byte {at}, bit {bit}");
                    refused += 1;
                }
            }
        }
    }
    assert_eq!(refused + ended, total);
    say(&format!(
        "log: {total} of {total} flips: {refused} refused with segment and offset, {ended} in a last \
         record taken for a write under way"
    ));
}

#[test]
fn salvage_loses_only_the_damaged_record() {
    let mut count = 0;
    for segment_bytes in [1 << 20, 200] {
        let logged = logged(segment_bytes);
        let everything = logged.contents.last().unwrap();
        for (segment, len) in log(&logged.disk) {
            let bytes = logged.disk.bytes(&segment);
            for at in 0..len {
                let disk = logged.disk.after_kill();
                disk.overwrite(
                    &segment,
                    &flipped(&bytes, usize::try_from(at).unwrap(), at as u32 % 8),
                );
                let verdict = judge(&disk);
                let hit = logged.records.iter().position(|(path, start, end)| {
                    *path == segment && (*start..*end).contains(&at)
                });
                let is_last = hit == Some(logged.records.len() - 1);
                let is_end =
                    is_last && log(&logged.disk).into_iter().next_back().unwrap().0 == segment;
                assert_eq!((verdict.is_sound, verdict.is_whole), (is_end, is_end), "byte {at}");
                let parts: Vec<_> = verdict.lost.iter().map(|part| &part.path).collect();
                if !is_end {
                    assert_eq!(parts, [&segment], "byte {at}");
                    let problem = &verdict.lost[0].problems[0];
                    let place = hit.map_or((0, HEADER_LEN), |hit| {
                        let (_, start, end) = &logged.records[hit];
                        (*start, end - start)
                    });
                    assert_eq!((problem.at, problem.len), (place.0, Some(place.1)), "byte {at}");
                    assert_eq!(verdict.wrong[0].problems, verdict.lost[0].problems);
                }
                match hit {
                    None => assert_eq!(verdict.saved, *everything, "byte {at}"),
                    // Without the delete its row reappears, and the report says so.
                    Some(3) => assert!(verdict.saved.contains_key("f/a0"), "byte {at}"),
                    Some(hit) => {
                        let mut rest = everything.clone();
                        rest.retain(|key, _| !key.ends_with(&format!("a{hit}")));
                        assert_eq!(verdict.saved, rest, "byte {at}");
                    }
                }
                count += 1;
            }
        }
    }
    say(&format!("log: {count} of {count} flipped bits lose only the record they are in"));
}

/// Writes a store with one file in each of two families, and a log.
fn flushed() -> (Disk, Content) {
    let disk = Disk::default();
    let store = Store::open(STORE, options(&disk)).unwrap();
    for family in ["f", "g"] {
        store.create_family(family, FamilyOptions::default().block_size(256)).unwrap();
    }
    for row in 0..30 {
        let put = Put::new(format!("r{row:02}")).column("f", "q", format!("{row}").repeat(8));
        store.put(put.column("g", "q", "w")).unwrap();
    }
    store.flush().unwrap();
    store.put(Put::new("logged").column("f", "q", "v")).unwrap();
    let content = content_of(&store);
    (disk.after_kill(), content)
}

#[test]
fn a_damaged_manifest_is_refused_and_its_store_is_salvaged_whole() {
    let (undamaged, content) = flushed();
    let manifest = Path::new(STORE).join("MANIFEST");
    let bytes = undamaged.bytes(&manifest);
    let cuts = (0..bytes.len()).map(|cut| bytes[..cut].to_vec());
    let places = (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit)));
    let flips = places.map(|(at, bit)| flipped(&bytes, at, bit));
    let mut count = 0;
    for (number, damaged) in cuts.chain(flips).enumerate() {
        let disk = undamaged.after_kill();
        disk.overwrite(&manifest, &damaged);
        assert_eq!(refusal(&disk).0, manifest, "damage {number}");
        count += 1;
        // Salvage does not use the damaged manifest.
        if number.is_multiple_of(50) {
            let verdict = judge(&disk);
            assert!(!verdict.is_sound && !verdict.is_whole);
            assert_eq!(verdict.lost[0].kind, FileKind::Manifest);
            assert_eq!(verdict.saved, content);
        }
    }
    let total = 9 * bytes.len();
    assert_eq!(count, total);
    say(&format!("manifest: {count} of {total} cuts and flips are refused"));
}

#[test]
fn a_flipped_bit_in_a_store_file_is_found_and_loses_at_most_one_block() {
    let (undamaged, content) = flushed();
    let file =
        undamaged.paths().into_iter().find(|path| path.starts_with("/data/store/f")).unwrap();
    let bytes = undamaged.bytes(&file);
    let (mut count, mut whole_files) = (0, 0);
    for at in (0..bytes.len()).step_by(3) {
        let disk = undamaged.after_kill();
        disk.overwrite(&file, &flipped(&bytes, at, at as u32 % 8));
        let verdict = judge(&disk);
        assert!(!verdict.is_sound && !verdict.is_whole, "byte {at}");
        let damaged: Vec<_> = verdict.lost.iter().map(|part| &part.path).collect();
        assert_eq!(damaged, [&file], "byte {at}");
        let gone: Vec<_> = content.keys().filter(|key| !verdict.saved.contains_key(*key)).collect();
        assert!(verdict.saved.iter().all(|(key, value)| content[key] == *value), "byte {at}");
        let lost: Vec<_> =
            verdict.lost[0].problems.iter().filter(|problem| problem.len.is_some()).collect();
        if gone.is_empty() {
            // Index, filters or unused padding.
        } else if gone.len() == 30 {
            assert_eq!(
                lost.iter().map(|problem| problem.len).max(),
                Some(Some(bytes.len() as u64))
            );
            whole_files += 1;
        } else {
            // Two or three rows of one block, which is reported with offset and length.
            assert!(gone.len() <= 8, "byte {at}: {gone:?}");
            assert_eq!(lost.len(), 1, "byte {at}: {lost:?}");
            let end = lost[0].at + lost[0].len.unwrap();
            assert!((lost[0].at..end).contains(&(at as u64)), "byte {at}: {lost:?}");
        }
        count += 1;
    }
    say(&format!(
        "store file: {count} of {count} flips found; {whole_files} of them lose the file, in what is \
         needed to open it, and no other more than a block"
    ));
    assert!(whole_files < count / 2);
}

/// Of cells with equal keys, those of the last source are shown: a salvage keeps the order of the sources.
#[test]
fn a_damaged_file_stays_as_new_as_it_was() {
    let rows: Vec<String> = (0..30).map(|number| format!("r{number:02}")).collect();
    for is_loaded_last in [true, false] {
        let disk = Disk::default();
        let store = Store::open(STORE, options(&disk)).unwrap();
        for family in ["f", "g"] {
            store.create_family(family, FamilyOptions::default().block_size(256)).unwrap();
        }
        let put = |value: &str| {
            for row in &rows {
                let put = Put::new(row).column_at("f", "q", Timestamp::new(7), value);
                store.put(put).unwrap();
            }
            store.flush().unwrap();
        };
        let load = |value: &str| {
            let path = Path::new("/data/loaded");
            let cells = rows.iter().map(|row| CellRef {
                row: row.as_bytes(),
                timestamp: Timestamp::new(7),
                value: value.as_bytes(),
                ..PUT
            });
            let file = WriterOptions::default().includes_mvcc(false).block_size(256);
            disk.create(path).unwrap().write_all(&hfile(path, file, cells)).unwrap();
            store.import("f", &[path.to_owned()], Age::Newest).unwrap();
        };
        if is_loaded_last {
            put("old");
            load("new");
        } else {
            load("old");
            put("new");
        }
        let in_family = |path: &PathBuf| path.starts_with("/data/store/f");
        let files: Vec<PathBuf> = disk.paths().into_iter().filter(in_family).collect();
        drop(store);
        for (file, at) in files.iter().flat_map(|file| [(file, 60), (file, 700)]) {
            let damaged = disk.after_kill();
            damaged.overwrite(file, &flipped(&disk.bytes(file), at, 0));
            let saved = judge(&damaged).saved;
            assert_eq!(saved.len(), rows.len(), "each row is in the other file too");
            let is_old = |value: &&String| **value == "old";
            let old = saved.values().filter(is_old).count();
            assert!(old <= 15, "{old} rows of {} in a block", file.display());
        }
        assert_eq!(files.len(), 2);
    }
}

/// The power is cut, or the process is killed, before each change of a salvage. The result opens
/// only when it is complete.
#[test]
fn a_salvage_interrupted_anywhere_leaves_no_store_or_all_that_is_sound() {
    let (disk, content) = flushed();
    disk.sync_directory(Path::new("/")).unwrap();
    // One block of a store file is damaged; the remains of that file are written last.
    let file = disk.paths().into_iter().find(|path| path.starts_with("/data/store/f")).unwrap();
    disk.overwrite(&file, &flipped(&disk.bytes(&file), 40, 0));
    let moments = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&moments);
    disk.watch(move |disk| seen.lock().unwrap().push(disk.clone()));
    let outcome = salvage(STORE, SAVED, &options(&disk), &[], |_| {}).unwrap();
    assert_eq!(outcome, SalvageOutcome::Partial);
    disk.unwatch();
    let saved = |disk: &Disk| Store::open(SAVED, options(disk).create(false));
    let whole = content_of(&saved(&disk.after_kill()).unwrap());
    assert!(whole.len() < content.len() && whole.len() > content.len() / 2);
    let (mut unfinished, mut missing, mut last) = (0, 0, 0);
    let mut moments = std::mem::take(&mut *moments.lock().unwrap());
    moments.push(disk.after_kill());
    for (number, moment) in moments.iter().enumerate() {
        let left = [0.0, 0.5, 1.0]
            .map(|kept| moment.after_power_cut(kept, &mut Random::new(number as u64)));
        for left in left.iter().chain([&moment.after_kill()]) {
            match saved(left) {
                Err(Error::Unfinished { path }) => {
                    assert_eq!(path, Path::new(SAVED));
                    unfinished += 1;
                }
                Err(Error::Missing { .. }) => missing += 1,
                Ok(store) => {
                    assert_eq!(content_of(&store), whole, "change {number}");
                    last += usize::from(number + 1 == moments.len());
                }
                Err(error) => panic!("change {number}: {error:?}"),
            }
        }
    }
    say(&format!(
        "salvage: interrupted before each of {} changes: {unfinished} times refused as unfinished, \
         {missing} times not begun, 0 times half a store",
        moments.len() - 1
    ));
    assert_eq!(last, 4, "a finished salvage survives any power cut");
    assert!(unfinished > moments.len() * 3);
}

#[test]
fn leftover_files_are_named_and_are_not_damage() {
    let (disk, _) = flushed();
    // The name of an own file begins with the id of the store.
    let own = disk.list(&Path::new(STORE).join("f")).unwrap().remove(0).name;
    let orphan = format!("f/{}0123456789abcdef", &own[..16]);
    let foreign = "f/0123456789abcdef0123456789abcdef";
    for name in [&*orphan, foreign, "f/notes.txt", "wal/notes.txt", "notes.txt"] {
        disk.create(&Path::new(STORE).join(name)).unwrap();
    }
    let mut notes = Vec::new();
    let outcome = verify(STORE, &options(&disk), |event| {
        if let VerifyEvent::Done(report) = event
            && report.kind == FileKind::LeftOver
        {
            let name = report.path.strip_prefix(STORE).unwrap().display().to_string();
            notes.push(format!("{name}: {}", report.notes[0]));
        }
    });
    assert_eq!(outcome.unwrap(), VerifyOutcome::Sound);
    let orphan = format!(
        "{orphan}: the manifest does not name it: a crash left it, and the next open for writing removes it, or a \
         writer is making it"
    );
    let leftovers = [foreign, "f/notes.txt", "notes.txt", "wal/notes.txt"];
    let leftovers = leftovers.map(|name| format!("{name}: not of this store"));
    let mut expected = [&[orphan][..], &leftovers].concat();
    notes.sort();
    expected.sort();
    assert_eq!(notes, expected);
}
