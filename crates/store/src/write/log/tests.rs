use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use sstable::{Cell, CellRef, CellType, SequenceId, Timestamp};

use super::recovery::Recovered;
use super::segment::{SegmentHeader, SegmentWriter};
use super::writer::LogWriter;
use super::*;
use crate::error::{Error, Result};
use crate::files::names::segment_number::SegmentNumber;
use crate::vfs::RealFiles;
use crate::write::row_times::RowTimes;

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

/// Writes a segment of three batches, the second of two cells.
///
/// Returns the batches, the offsets of their ends, and the segment's entry in the next header.
fn write_segment(
    directory: &Path,
    number: SegmentNumber,
    previous: PreviousSegment,
    first: u64,
) -> (Vec<Vec<Cell>>, Vec<u64>, PreviousSegment) {
    let created = SegmentWriter::create(&RealFiles::default(), directory, STORE, number, previous);
    let mut segment = created.unwrap();
    let batches = vec![
        vec![cell(first, "a", b"1")],
        vec![cell(first + 1, "b", b"22"), cell(first + 1, "c", b"")],
        vec![cell(first + 2, "d", b"333")],
    ];
    let mut ends = Vec::new();
    for (index, batch) in batches.iter().enumerate() {
        let mut record = Vec::new();
        let cells = batch.iter().map(|cell| (3, cell.as_ref()));
        let sequence_id = SequenceId::new(first + index as u64);
        let (header, durable) = (segment.header(), segment.durable());
        encode_batch(&mut record, header, sequence_id, durable, false, cells).unwrap();
        segment.write(&record).unwrap();
        ends.push(segment.written());
    }
    (batches, ends, segment.as_previous())
}

/// Writes the first segment.
fn write_first(directory: &Path) -> (Vec<Vec<Cell>>, Vec<u64>, PreviousSegment) {
    write_segment(directory, FIRST, PreviousSegment::default(), 1)
}

/// Returns the cells of each batch.
fn cells(recovered: &Recovered) -> Vec<Vec<Cell>> {
    recovered.batches.iter().map(|batch| batch.cells.clone()).collect()
}

/// Writes the first two segments; returns their batches.
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
    let recovered = recover(&RealFiles::default(), &log, |id| (id == 3).then_some(&b"f"[..]))?;
    recovered.truncate_and_sync(&RealFiles::default(), directory)?;
    remove_empty_segments(&RealFiles::default(), directory, &recovered.empty_segments)?;
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
fn the_last_segment_may_have_an_incomplete_header() {
    let directory = tempfile::tempdir().unwrap();
    let (batches, _, previous) = write_first(directory.path());
    write_segment(directory.path(), FIRST.next(), previous, 4);
    let path = FIRST.next().path(directory.path());
    let whole = fs::read(&path).unwrap();
    for cut in 0..SegmentHeader::LEN {
        fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(cells(&read_back(directory.path()).unwrap()), batches, "cut at {cut}");
        assert!(!path.exists());
    }
}

#[test]
fn damage_in_a_segment_that_is_not_the_last_is_never_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let batches = write_two(directory.path());
    let recovered = read_back(directory.path()).unwrap();
    assert_eq!(cells(&recovered), batches);
    assert_eq!((recovered.newest, recovered.next), (SequenceId::new(6), FIRST.next().next()));

    let path = FIRST.path(directory.path());
    let whole = fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        // After a cut at a record boundary, only the next segment's header tells the length.
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
fn a_missing_required_segment_is_an_error_at_any_position() {
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
        recover(&RealFiles::default(), &log, |_| Some(&b"f"[..]))
    };
    let (second, third) = (FIRST.next(), FIRST.next().next());
    // There may be more segments than the manifest requires, but not fewer.
    for end in [FIRST, second, third] {
        assert_eq!(cells(&read_to(end).unwrap()), batches);
    }
    let refused = read_to(third.next()).unwrap_err().to_string();
    assert!(refused.ends_with("requires the log up to 0000000000000003.wal"), "{refused}");
    assert_eq!(damage(read_to(third.next())), (third.to_string(), 0));
    fs::remove_file(second.path(directory.path())).unwrap();
    assert_eq!(damage(read_to(third)), (second.to_string(), 0));
    assert_eq!(cells(&read_to(second).unwrap()), batches[..3]);
    fs::remove_file(FIRST.path(directory.path())).unwrap();
    assert_eq!(damage(read_to(second)), (FIRST.to_string(), 0));
    assert!(read_to(FIRST).unwrap().batches.is_empty());
}

#[test]
fn empty_segments_are_reported_at_the_end_and_kept_in_between() {
    let directory = tempfile::tempdir().unwrap();
    let (_, _, mut previous) = write_first(directory.path());
    let mut number = FIRST.next();
    let empty = |number, previous| {
        let made =
            SegmentWriter::create(&RealFiles::default(), directory.path(), STORE, number, previous);
        made.unwrap().as_previous()
    };
    for _ in 0..2 {
        previous = empty(number, previous);
        number = number.next();
    }
    let recovered = read_back(directory.path()).unwrap();
    assert_eq!((recovered.next, recovered.empty_segments.len()), (FIRST.next(), 2));
    assert!(!FIRST.next().path(directory.path()).exists(), "`read_back` removes empty segments");
    previous = empty(FIRST.next(), recovered.last);
    write_segment(directory.path(), FIRST.next().next(), previous, 4);
    let recovered = read_back(directory.path()).unwrap();
    assert_eq!((recovered.batches.len(), recovered.empty_segments.len()), (6, 0));
}

/// After a store was copied, both copies write segments with the same store id and numbers.
#[test]
fn a_segment_of_a_diverged_copy_of_the_store_is_refused() {
    let (here, diverged) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for directory in [&here, &diverged] {
        write_two(directory.path());
    }
    for number in [FIRST, FIRST.next()] {
        let kept = fs::read(number.path(here.path())).unwrap();
        fs::copy(number.path(diverged.path()), number.path(here.path())).unwrap();
        assert_eq!(damage(read_back(here.path())), (FIRST.next().to_string(), 0));
        fs::write(number.path(here.path()), kept).unwrap();
    }
    assert_eq!(read_back(here.path()).unwrap().batches.len(), 6);
}

/// Simulates a reused file that was not truncated to its new length.
#[test]
fn records_of_an_older_segment_after_the_end_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (_, ends, _) = write_first(directory.path());
    let path = FIRST.path(directory.path());
    let older = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let (batches, ..) = write_first(directory.path());
    let newer = fs::read(&path).unwrap();
    // The records of both segments have the same offsets.
    for (count, end) in (1..).zip(&ends) {
        let end = usize::try_from(*end).unwrap();
        let recycled = [&newer[..end], &older[end..]].concat();
        fs::write(&path, recycled).unwrap();
        if count == batches.len() {
            assert_eq!(cells(&read_back(directory.path()).unwrap()), batches);
        } else {
            assert_eq!(damage(read_back(directory.path())), (FIRST.to_string(), end as u64));
        }
    }
}

#[test]
fn segments_of_other_stores_and_renamed_segments_are_refused() {
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

/// After a power cut, single unsynced sectors may be missing. The log then ends at the gap, unless
/// a later record says that the sector was synced.
#[test]
fn an_unsynced_lost_sector_ends_the_log_and_a_synced_one_is_an_error() {
    for synced in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let none = PreviousSegment::default();
        let mut segment =
            SegmentWriter::create(&RealFiles::default(), directory.path(), STORE, FIRST, none)
                .unwrap();
        let value = [b'v'; 700];
        for sequence in 1..=4 {
            let cell = cell(sequence, "r", &value);
            let mut record = Vec::new();
            let cells = [(3, cell.as_ref())].into_iter();
            let (header, durable) = (*segment.header(), segment.durable());
            let sequence_id = SequenceId::new(sequence);
            encode_batch(&mut record, &header, sequence_id, durable, false, cells).unwrap();
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

/// After the damage, many offsets look like records half as long as the file. Checking all of their
/// checksums would take hours in a large file.
#[test]
fn the_search_for_records_after_damage_is_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let none = PreviousSegment::default();
    let made =
        SegmentWriter::create(&RealFiles::default(), directory.path(), STORE, FIRST, none).unwrap();
    let mut bytes = fs::read(FIRST.path(directory.path())).unwrap();
    let id = made.header().segment.to_be_bytes();
    for _ in 0..32_000 {
        bytes.extend([0_u8; 4]);
        bytes.extend(250_000_u32.to_be_bytes());
        bytes.extend(id);
    }
    fs::write(FIRST.path(directory.path()), bytes).unwrap();
    let refused = read_back(directory.path()).unwrap_err().to_string();
    assert!(refused.contains("too many offsets after damage"), "{refused}");
}

#[test]
fn sequence_ids_never_descend_and_one_segment_is_open_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let mut tail = LogTail::new(STORE, FIRST, PreviousSegment::default());
    tail.begin(&RealFiles::default(), directory.path()).unwrap();
    let mut again = AssertUnwindSafe(&mut tail);
    let begun = catch_unwind(move || again.begin(&RealFiles::default(), directory.path()).is_ok());
    assert!(begun.is_err(), "a segment is open");
    let times = RowTimes::new(Timestamp::new(0), std::iter::empty());
    let mut writer = LogWriter::new(tail, SequenceId::new(7), times, 1000);
    writer.advance_sequence_id(SequenceId::new(9));
    let mut writer = AssertUnwindSafe(writer);
    assert!(catch_unwind(move || writer.advance_sequence_id(SequenceId::new(8))).is_err());
}

#[test]
fn the_last_segment_number_has_no_successor() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(SegmentNumber::from_name(&SegmentNumber::END.to_string()), None);
    let last = SegmentNumber(u64::MAX - 1);
    let mut tail = LogTail::new(STORE, last, PreviousSegment::default());
    tail.begin(&RealFiles::default(), directory.path()).unwrap();
    tail.close().unwrap();
    let refused = tail.begin(&RealFiles::default(), directory.path()).unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }), "{refused}");
}
