use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use sstable::{Cell, CellRef, CellType, SequenceId, Timestamp};

use super::recovery::Recovered;
use super::segment::{SegmentHeader, SegmentWriter};
use super::writer::Writer;
use super::*;
use crate::error::{Error, Result};
use crate::files::segment_number::SegmentNumber;
use crate::vfs::RealFiles;

const STORE: u64 = 7;
const FIRST: SegmentNumber = SegmentNumber::FIRST;

fn cell(sequence: u64, row: &str, value: &[u8]) -> Cell {
    let cell = CellRef {
        row: row.as_bytes(),
        family: b"f",
        qualifier: b"q",
        timestamp: Timestamp::new(5),
        cell_type: CellType::Put,
        value,
        tags: b"",
        sequence_id: SequenceId::new(sequence),
    };
    cell.to_cell()
}

/// A segment of three batches, the second of two cells; returns the batches, where each ends, and
/// what the next segment says of this one.
fn write_segment(
    directory: &Path,
    number: SegmentNumber,
    previous: PreviousSegment,
    first: u64,
) -> (Vec<Vec<Cell>>, Vec<u64>, PreviousSegment) {
    let created = SegmentWriter::create(&RealFiles, directory, STORE, number, previous);
    let mut segment = created.unwrap();
    let batches = vec![
        vec![cell(first, "a", b"1")],
        vec![cell(first + 1, "b", b"22"), cell(first + 1, "c", b"")],
        vec![cell(first + 2, "d", b"333")],
    ];
    let mut ends = Vec::new();
    for (place, batch) in batches.iter().enumerate() {
        let mut record = Vec::new();
        let cells = batch.iter().map(|cell| (3, cell.as_ref()));
        let sequence_id = SequenceId::new(first + place as u64);
        encode_batch(&mut record, segment.header(), sequence_id, segment.durable(), cells).unwrap();
        segment.write(&record).unwrap();
        ends.push(segment.written());
    }
    (batches, ends, segment.as_previous())
}

/// The first segment.
fn write_first(directory: &Path) -> (Vec<Vec<Cell>>, Vec<u64>, PreviousSegment) {
    write_segment(directory, FIRST, PreviousSegment::default(), 1)
}

/// The first two segments; returns their batches.
fn write_two(directory: &Path) -> Vec<Vec<Cell>> {
    let (first, _, previous) = write_first(directory);
    [first, write_segment(directory, FIRST.next(), previous, 4).0].concat()
}

fn read_back(directory: &Path) -> Result<Recovered> {
    read_back_of(directory, STORE)
}

fn read_back_of(directory: &Path, store: u64) -> Result<Recovered> {
    let log = LogExtent {
        directory,
        store: Some(store),
        first: FIRST,
        end: FIRST.next(),
        segment_len_max: 1 << 20,
    };
    let recovered = recover(&RealFiles, &log, |id| (id == 3).then_some(&b"f"[..]))?;
    recovered.settle(&RealFiles, directory)?;
    remove_empty_segments(&RealFiles, directory, &recovered.empty)?;
    Ok(recovered)
}

fn damage(result: Result<Recovered>) -> (String, u64) {
    match result {
        Err(Error::Corrupt { path, at, .. }) => {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), at)
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_cut_anywhere_leaves_exactly_the_batches_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let (batches, ends, _) = write_first(directory.path());
    let path = FIRST.path(directory.path());
    let whole = fs::read(&path).unwrap();
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let recovered = read_back(directory.path());
        if cut < SegmentHeader::HEADER_LEN {
            // It was whole on disk before anything was acknowledged.
            assert_eq!(damage(recovered), (FIRST.to_string(), 0), "cut at {cut}");
            continue;
        }
        let count = ends.iter().filter(|end| **end <= cut as u64).count();
        assert_eq!(recovered.unwrap().batches, batches[..count], "cut at {cut}");
        // What was half there is gone, so that the next segment may follow.
        let left = fs::metadata(&path).ok().map(|left| left.len());
        assert_eq!(left, count.checked_sub(1).map(|last| ends[last]), "cut at {cut}");
    }
}

#[test]
fn a_later_segment_may_be_in_the_making() {
    let directory = tempfile::tempdir().unwrap();
    let (batches, _, previous) = write_first(directory.path());
    write_segment(directory.path(), FIRST.next(), previous, 4);
    let path = FIRST.next().path(directory.path());
    let whole = fs::read(&path).unwrap();
    for cut in 0..SegmentHeader::HEADER_LEN {
        fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(read_back(directory.path()).unwrap().batches, batches, "cut at {cut}");
        assert!(!path.exists());
    }
}

#[test]
fn a_flip_before_sound_records_is_an_error_that_names_segment_and_offset() {
    let directory = tempfile::tempdir().unwrap();
    let (batches, ends, _) = write_first(directory.path());
    let path = FIRST.path(directory.path());
    let whole = fs::read(&path).unwrap();
    let last_start = usize::try_from(ends[1]).unwrap();
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&path, &flipped).unwrap();
            let result = read_back(directory.path());
            if at >= last_start {
                // Of the last record nobody can tell a flip from a write under way.
                assert_eq!(result.unwrap().batches, batches[..2], "byte {at}, bit {bit}");
                continue;
            }
            let starts = [SegmentHeader::HEADER_LEN as u64, ends[0], ends[1]];
            let record = starts.iter().filter(|start| **start <= at as u64).max().unwrap_or(&0);
            assert_eq!(damage(result), (FIRST.to_string(), *record), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn damage_in_a_segment_that_another_follows_is_never_cut() {
    let directory = tempfile::tempdir().unwrap();
    let batches = write_two(directory.path());
    let recovered = read_back(directory.path()).unwrap();
    assert_eq!(recovered.batches, batches);
    assert_eq!((recovered.newest, recovered.next), (SequenceId::new(6), FIRST.next().next()));

    let path = FIRST.path(directory.path());
    let whole = fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        // Where a record ends there, only the next segment knows that there was more.
        damage(read_back(directory.path()));
    }
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&path, &flipped).unwrap();
            assert_eq!(damage(read_back(directory.path())).0, FIRST.to_string());
        }
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(damage(read_back(directory.path())), (FIRST.next().to_string(), 0));
    fs::remove_file(FIRST.next().path(directory.path())).unwrap();
    assert_eq!(damage(read_back(directory.path())), (FIRST.to_string(), 0));
}

#[test]
fn a_segment_that_must_be_there_is_missed_wherever_it_stood() {
    let directory = tempfile::tempdir().unwrap();
    let batches = write_two(directory.path());
    let read_to = |end| {
        let log = LogExtent {
            directory: directory.path(),
            store: Some(STORE),
            first: FIRST,
            end,
            segment_len_max: 1 << 20,
        };
        recover(&RealFiles, &log, |_| Some(&b"f"[..]))
    };
    let (second, third) = (FIRST.next(), FIRST.next().next());
    // There may be more segments than the manifest knows, and never fewer.
    for end in [FIRST, second, third] {
        assert_eq!(read_to(end).unwrap().batches, batches);
    }
    let refused = read_to(third.next()).unwrap_err().to_string();
    assert!(refused.ends_with("the log goes up to 0000000000000003.wal"), "{refused}");
    assert_eq!(damage(read_to(third.next())), (third.to_string(), 0));
    fs::remove_file(second.path(directory.path())).unwrap();
    assert_eq!(damage(read_to(third)), (second.to_string(), 0));
    assert_eq!(read_to(second).unwrap().batches, batches[..3]);
    fs::remove_file(FIRST.path(directory.path())).unwrap();
    assert_eq!(damage(read_to(second)), (FIRST.to_string(), 0));
    assert!(read_to(FIRST).unwrap().batches.is_empty());
}

#[test]
fn empty_segments_at_the_end_are_told_and_those_in_between_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let (_, _, mut previous) = write_first(directory.path());
    let mut number = FIRST.next();
    let empty = |number, previous| {
        let made = SegmentWriter::create(&RealFiles, directory.path(), STORE, number, previous);
        made.unwrap().as_previous()
    };
    for _ in 0..2 {
        previous = empty(number, previous);
        number = number.next();
    }
    let recovered = read_back(directory.path()).unwrap();
    assert_eq!((recovered.next, recovered.empty.len()), (FIRST.next(), 2));
    assert!(!FIRST.next().path(directory.path()).exists(), "the test removes them, too");
    previous = empty(FIRST.next(), recovered.last);
    write_segment(directory.path(), FIRST.next().next(), previous, 4);
    let recovered = read_back(directory.path()).unwrap();
    assert_eq!((recovered.batches.len(), recovered.empty.len()), (6, 0));
}

/// A copy of the store that went its own way has segments of the same store and number.
#[test]
fn a_segment_that_another_history_wrote_is_refused() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for directory in [&here, &there] {
        write_two(directory.path());
    }
    for number in [FIRST, FIRST.next()] {
        let kept = fs::read(number.path(here.path())).unwrap();
        fs::copy(number.path(there.path()), number.path(here.path())).unwrap();
        assert_eq!(damage(read_back(here.path())), (FIRST.next().to_string(), 0));
        fs::write(number.path(here.path()), kept).unwrap();
    }
    assert_eq!(read_back(here.path()).unwrap().batches.len(), 6);
}

/// As if the file had been used before, and were not cut where its new content ends.
#[test]
fn what_an_older_segment_left_behind_the_end_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (_, ends, _) = write_first(directory.path());
    let path = FIRST.path(directory.path());
    let older = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let (batches, ..) = write_first(directory.path());
    let newer = fs::read(&path).unwrap();
    // The older one's records stood at the same places.
    for (count, end) in (1..).zip(&ends) {
        let end = usize::try_from(*end).unwrap();
        let recycled = [&newer[..end], &older[end..]].concat();
        fs::write(&path, recycled).unwrap();
        if count == batches.len() {
            assert_eq!(read_back(directory.path()).unwrap().batches, batches);
        } else {
            assert_eq!(damage(read_back(directory.path())), (FIRST.to_string(), end as u64));
        }
    }
}

#[test]
fn segments_of_other_stores_and_renamed_ones_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    write_first(directory.path());
    let path = FIRST.path(directory.path());
    let other_store = read_back_of(directory.path(), STORE + 1);
    assert_eq!(damage(other_store), (FIRST.to_string(), 0));
    fs::copy(&path, FIRST.next().path(directory.path())).unwrap();
    assert_eq!(damage(read_back(directory.path())), (FIRST.next().to_string(), 0));
    for name in ["1.wal", "0000000000000001.WAL", "+000000000000001.wal", "x.wal", "wal"] {
        assert_eq!(SegmentNumber::from_name(name), None, "{name}");
    }
}

/// What was never synced may be missing in the middle after a power cut, a sector at a time. The
/// log then ends at the hole, unless a later record knows that it once was on disk.
#[test]
fn a_lost_sector_ends_the_log_unless_it_was_synced() {
    for synced in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let none = PreviousSegment::default();
        let mut segment =
            SegmentWriter::create(&RealFiles, directory.path(), STORE, FIRST, none).unwrap();
        let value = [b'v'; 700];
        for sequence in 1..=4 {
            let cell = cell(sequence, "r", &value);
            let mut record = Vec::new();
            let cells = [(3, cell.as_ref())].into_iter();
            let (header, durable) = (*segment.header(), segment.durable());
            let sequence_id = SequenceId::new(sequence);
            encode_batch(&mut record, &header, sequence_id, durable, cells).unwrap();
            segment.write(&record).unwrap();
            if synced {
                segment.sync().unwrap();
            }
        }
        let path = FIRST.path(directory.path());
        let mut bytes = fs::read(&path).unwrap();
        bytes[1024..1536].fill(0); // In the second record.
        fs::write(&path, bytes).unwrap();
        let result = read_back(directory.path());
        if synced {
            assert_eq!(damage(result).0, FIRST.to_string());
        } else {
            assert_eq!(result.unwrap().batches.len(), 1);
        }
    }
}

/// Behind damage stand places that look like records, each of them half as long as the file: to check
/// all of their checksums would take hours in a large file.
#[test]
fn places_that_only_look_like_records_are_not_searched_for_ever() {
    let directory = tempfile::tempdir().unwrap();
    let none = PreviousSegment::default();
    let made = SegmentWriter::create(&RealFiles, directory.path(), STORE, FIRST, none).unwrap();
    let mut bytes = fs::read(FIRST.path(directory.path())).unwrap();
    let id = made.header().segment.to_be_bytes();
    for _ in 0..32_000 {
        bytes.extend([0_u8; 4]);
        bytes.extend(250_000_u32.to_be_bytes());
        bytes.extend(id);
    }
    fs::write(FIRST.path(directory.path()), bytes).unwrap();
    let refused = read_back(directory.path()).unwrap_err().to_string();
    assert!(refused.contains("too many places behind damage"), "{refused}");
}

#[test]
fn sequence_ids_and_segments_come_in_their_order() {
    let directory = tempfile::tempdir().unwrap();
    let mut end = LogTail::new(STORE, FIRST, PreviousSegment::default());
    end.begin(&RealFiles, directory.path()).unwrap();
    let mut again = AssertUnwindSafe(&mut end);
    let begun = catch_unwind(move || again.begin(&RealFiles, directory.path()).is_ok());
    assert!(begun.is_err(), "a segment is open");
    let mut writer = Writer::new(end, SequenceId::new(7), 1000);
    writer.advance_sequence_id(SequenceId::new(9));
    let mut writer = AssertUnwindSafe(writer);
    assert!(catch_unwind(move || writer.advance_sequence_id(SequenceId::new(8))).is_err());
}

#[test]
fn a_log_ends_behind_its_last_segment() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(SegmentNumber::from_name(&SegmentNumber::END.to_string()), None);
    let last = SegmentNumber(u64::MAX - 1);
    let mut end = LogTail::new(STORE, last, PreviousSegment::default());
    end.begin(&RealFiles, directory.path()).unwrap();
    end.close().unwrap();
    let refused = end.begin(&RealFiles, directory.path()).unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }), "{refused}");
}
