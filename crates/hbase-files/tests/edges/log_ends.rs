//! Logs cut at each byte of their last entries and of their trailer: what is read, and what is said.

use hbase_files::wal::Reader;
use hbase_files::{Table, TableScan};
use sstable::FileName;

use super::made::{Log, Made, MadeRegion, flushed, hfile, put, write};

/// The server of the logs.
const SERVER: &str = "host,1,1";
/// What HBase writes when it closes a log.
const TRAILER: &[u8] = b"\0\0\0\0LAWP";
const MAY_BE_LOST: &str = "entries may be lost: the server went on in host%2C1%2C1.2000";

fn made() -> (Made, MadeRegion) {
    let made = Made::new(&[("VERSIONS", "99")]);
    let region = made.region(1, "", "");
    (made, region)
}

/// Adds an entry with one cell, whose time is its sequence id.
fn add(log: Log, region: &MadeRegion, sequence: u64) -> Log {
    log.entry(&region.name, sequence, 9, &[put("r", "q", sequence as i64, sequence, "v")])
}

fn write_log(made: &Made, server: &str, time: u64, bytes: &[u8]) {
    let name = format!("{}.{time}", server.replace(',', "%2C"));
    write(&made.root().join("WALs").join(server).join(name), bytes);
}

/// Returns the sequence ids of the cells in order, and the warnings of logs.
fn read(table: &Table) -> (Vec<u64>, String) {
    let mut cells = table.scan(&TableScan::default().with_logs(true)).expect("no damage");
    let mut found: Vec<u64> =
        cells.by_ref().map(|cell| cell.expect("sound").sequence_id().get()).collect();
    found.sort_unstable();
    let warnings = cells.warnings().iter().map(ToString::to_string);
    (found, warnings.filter(|warning| warning.contains("WALs")).collect())
}

/// Returns what `verify` says of the table.
fn verified(table: &Table) -> String {
    table.check().damages.iter().map(|damage| damage.what.clone()).collect()
}

#[test]
fn a_log_cut_anywhere_lost_what_it_lacks_only_if_its_server_went_on() {
    let (made, region) = made();
    let mut ends = vec![Log::new().0.len()];
    let mut log = Log::new();
    for sequence in 10..13 {
        log = add(log, &region, sequence);
        ends.push(log.0.len());
    }
    let whole = [&log.0[..], TRAILER].concat();
    let next = |first| {
        let log = (first..first + 2).fold(Log::new(), |log, sequence| add(log, &region, sequence));
        [&log.0[..], TRAILER].concat()
    };
    // The next log of the server, one that has the last two entries again, and one of another server.
    for (server, first) in [(SERVER, 13), (SERVER, 11), ("host,2,2", 13)] {
        write_log(&made, server, 2000, &next(first));
        for len in ends[0]..=whole.len() {
            write_log(&made, SERVER, 1000, &whole[..len]);
            let table = made.table();
            let entries = ends.iter().filter(|end| **end <= len).count() - 1;
            let mut expected: Vec<u64> =
                (10..10 + entries as u64).chain(first..first + 2).collect();
            expected.sort_unstable();
            expected.dedup();
            let (found, warnings) = read(&table);
            assert_eq!(found, expected, "{first}, {len} bytes");
            let is_torn = entries < 3 && len > ends[entries];
            // The key of an entry has its length before it.
            let has_key = || len > ends[entries] + usize::from(whole[ends[entries]]);
            let is_repeated = is_torn && 10 + entries as u64 >= first && has_key();
            let has_gap = entries > 0 && 10 + (entries as u64) < first;
            let is_lost = server == SERVER && (has_gap || is_torn) && !is_repeated;
            let verified = verified(&table);
            for said in [&warnings, &verified] {
                assert_eq!(said.contains(MAY_BE_LOST), is_lost, "{first}, {len} bytes: {said}");
                assert!(is_lost || said.is_empty(), "{first}, {len} bytes: {said}");
            }
        }
        std::fs::remove_dir_all(made.root().join("WALs").join(server)).expect("ours");
    }
}

/// An open log misses entries if the next one does not begin with the next sequence id.
#[test]
fn sequence_ids_between_two_logs_are_missing_from_the_first_one_on() {
    for (last, first, gap) in [
        (10, 9, None),
        (10, 10, None),
        (10, 11, None),
        (10, 12, Some("no entry has the sequence id 11 of t")),
        (10, 13, Some("no entry has the sequence ids 11 to 12 of t")),
    ] {
        for opening in [false, true] {
            let (made, region) = made();
            write_log(&made, SERVER, 1000, &add(Log::new(), &region, last).0);
            let next = Log::new();
            let next = if opening {
                next.marker(&region.name, first, 9, "HBASE::REGION_EVENT::REGION_OPEN", b"")
            } else {
                next
            };
            write_log(&made, SERVER, 2000, &add(next, &region, first).0);
            let (said, (_, warnings)) = (verified(&made.table()), read(&made.table()));
            // A region that was opened again may have been with another server in the meantime.
            let gap = gap.filter(|_| !opening);
            assert_eq!((said.is_empty(), warnings.is_empty()), (gap.is_none(), gap.is_none()));
            let gap = gap.unwrap_or_default();
            assert!(said.contains(gap) && warnings.contains(gap), "{first}: {said} {warnings}");
        }
    }
}

/// A run on disk does not say who wrote its cells.
#[test]
fn an_event_counts_for_cells_that_are_on_disk_already() {
    let made = Made::new(&[("VERSIONS", "99")]);
    let regions = [made.region(1, "", "s"), made.region(1, "s", "")];
    let logged = |number: usize, log: Log, sequence| {
        let row = ["r", "t"][number];
        let cell = put(row, "q", sequence as i64, sequence, "v");
        log.entry(&regions[number].name, sequence, 9, &[cell])
    };
    // The cells of the first region are old, and the cells of the second one are after its event.
    for second_first in [false, true] {
        let mut log = logged(0, Log::new(), 10);
        if second_first {
            log = log.opening(&regions[1].name, 5, 9);
        }
        log = log.opening(&regions[0].name, 11, 9);
        if !second_first {
            log = log.opening(&regions[1].name, 5, 9);
        }
        log = logged(1, logged(0, log, 12), 6);
        made.log(SERVER, &log.0);
        for log_bytes_max in [usize::MAX, 400, 0] {
            let scan = TableScan::default().with_logs(true).log_bytes_max(log_bytes_max);
            let mut cells = made.scan(&scan);
            let found = cells.by_ref().map(|cell| cell.expect("sound").sequence_id().get());
            assert_eq!(found.collect::<Vec<_>>(), [12, 6], "{log_bytes_max} bytes");
            assert_eq!(cells.old_log_cells().len(), 1);
        }
    }
}

/// The answer does not depend on how many runs there are.
#[test]
fn cells_of_logs_go_to_disk_beyond_the_limit_of_memory() {
    let (made, region) = made();
    region.file(&hfile(1), flushed(1), &[put("r", "q", 1, 1, "v")]);
    let log = (2..40).fold(Log::new(), |log, sequence| add(log, &region, sequence));
    made.log(SERVER, &log.0);
    let all = made.cells(&TableScan::default().with_logs(true));
    assert_eq!(all.len(), 39);
    for log_bytes_max in (0..3000).step_by(97) {
        let scan = TableScan::default().with_logs(true).log_bytes_max(log_bytes_max);
        assert_eq!(made.cells(&scan), all, "{log_bytes_max} bytes");
        let few = TableScan::default().with_logs(true).log_bytes_max(log_bytes_max).versions(2);
        assert_eq!(made.cells(&few), all[..2], "{log_bytes_max} bytes");
    }
}

#[test]
fn a_log_is_read_wherever_hbase_has_moved_it_since_the_table_was_opened() {
    let name = "host%2C1%2C1.1000";
    for place in [&format!("WALs/{SERVER}-splitting"), "oldWALs", &format!("oldWALs/{SERVER}")] {
        let (made, region) = made();
        made.log(SERVER, &add(Log::new(), &region, 10).0);
        let table = made.table();
        let (log, place) = (made.root().join("WALs").join(SERVER), made.root().join(place));
        std::fs::create_dir_all(&place).expect("ours");
        std::fs::rename(log.join(name), place.join(name)).expect("ours");
        assert_eq!(read(&table).0, [10], "{}", place.display());
        std::fs::remove_file(place.join(name)).expect("ours");
        assert!(table.scan(&TableScan::default().with_logs(true)).is_err(), "it is nowhere");
    }
}

/// After damage, entries must have greater sequence ids than those before it, and than each other.
#[test]
fn entries_after_damage_are_sound_only_if_their_sequence_ids_rise() {
    let (_made, region) = made();
    let header = Log::new().0.len();
    for (after, expected) in [
        (&[4, 5, 6][..], &[6][..]),
        (&[5, 6, 7], &[6, 7]),
        (&[6, 7, 8], &[6, 7, 8]),
        (&[6, 6, 7], &[6, 7]),
        (&[8, 7, 9], &[7, 9]),
        (&[5, 5, 5], &[]),
        // Only the first three entries are looked at before the read goes on.
        (&[6, 7, 8, 1], &[6, 7, 8, 1]),
        (&[6, 7, 1, 2], &[]),
    ] {
        let rest = after.iter().fold(Log::new(), |log, sequence| add(log, &region, *sequence));
        let log = [&add(Log::new(), &region, 5).0[..], &[0xff; 60], &rest.0[header..]].concat();
        let source = std::sync::Arc::new(bytes::Bytes::from(log));
        let mut reader = Reader::open(source, FileName::new("log")).expect("a log");
        let mut found = Vec::new();
        while let Some(entry) = reader.next() {
            match entry {
                Ok(entry) => found.push(entry.sequence),
                Err(_) => assert!(reader.skip_damage().expect("readable").is_some(), "{after:?}"),
            }
        }
        assert_eq!(found, [&[5], expected].concat(), "{after:?}");
    }
}
