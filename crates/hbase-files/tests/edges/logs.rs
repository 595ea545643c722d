//! Cells of logs at the edges: the flushed id, the id of the last opening, the order of events.

use hbase_files::TableScan;
use sstable::{Cell, Timestamp};

use super::made::{Log, Made, MadeRegion, flushed, hfile, put, write_file};

/// Returns the cell of an entry with this sequence id.
fn cell(sequence: u64) -> Cell {
    put("r", "q", sequence as i64, sequence, "logged")
}

fn made() -> (Made, MadeRegion) {
    let made = Made::new(&[("VERSIONS", "99")]);
    let region = made.region(1, "", "");
    (made, region)
}

/// Returns the ids of the cells, and of those that were left out: how many, the least, the greatest.
fn found(made: &Made) -> (Vec<u64>, Option<(u64, u64, u64)>) {
    let mut cells = made.scan(&TableScan::default().with_logs(true).now(Timestamp::new(1000)));
    let found = cells.by_ref().map(|cell| cell.expect("sound").sequence_id().get()).collect();
    assert!(cells.old_log_cells().len() <= 1);
    let old = cells.old_log_cells().first();
    (found, old.map(|old| (old.cells, old.oldest.get(), old.newest.get())))
}

#[test]
fn a_cell_with_the_flushed_id_is_in_the_file() {
    let (made, region) = made();
    region.file(&hfile(1), flushed(5), &[put("a", "q", 1, 2, "file")]);
    region.file(&hfile(2), flushed(3), &[put("a", "q", 2, 3, "file")]);
    let log = (3..8).fold(Log::new(), |log, id| log.entry(&region.name, id, 9, &[cell(id)]));
    made.log("host,1,1", &log.0);
    assert_eq!(found(&made), (vec![3, 2, 7, 6], None));
}

/// They are newer than cells of a log that is not split yet.
#[test]
fn recovered_hfiles_do_not_say_what_was_flushed() {
    let (made, region) = made();
    region.file(&hfile(1), flushed(3), &[put("a", "q", 1, 2, "file")]);
    let recovered = region.path.join("f/recovered.hfiles").join(hfile(2));
    write_file(&recovered, flushed(10), &[put("a", "q", 2, 10, "recovered")]);
    let log =
        [3, 5, 11].iter().fold(Log::new(), |log, id| log.entry(&region.name, *id, 9, &[cell(*id)]));
    made.log("host,1,1", &log.0);
    assert_eq!(found(&made), (vec![10, 2, 11, 5], None));
}

#[test]
fn a_cell_with_the_id_of_the_last_opening_is_old() {
    let (made, region) = made();
    region.opened(4);
    region.opened(5);
    let log = (3..8).fold(Log::new(), |log, id| log.entry(&region.name, id, 9, &[cell(id)]));
    made.log("host,1,1", &log.0);
    assert_eq!(found(&made), (vec![7, 6], Some((3, 3, 5))));
    // The name that older releases give the file.
    let edits = region.path.join("recovered.edits");
    std::fs::rename(edits.join("5.seqid"), edits.join("5_seqid")).expect("ours");
    assert_eq!(found(&made), (vec![7, 6], Some((3, 3, 5))));
}

#[test]
fn an_event_ends_the_cells_before_it_in_the_log_of_its_server() {
    let (made, region) = made();
    let name = &region.name;
    let log = Log::new().entry(name, 9, 50, &[cell(9)]).opening(name, 5, 50);
    let log = log.entry(name, 3, 50, &[cell(3)]).entry(name, 4, 50, &[cell(4)]);
    made.log("host,1,1", &log.0);
    assert_eq!(found(&made), (vec![4, 3], Some((1, 9, 9))));
}

#[test]
fn the_later_of_two_events_counts() {
    let (made, region) = made();
    let name = &region.name;
    let log = Log::new().opening(name, 5, 60).opening(name, 5, 50);
    made.log("host,1,1", &log.0);
    let log = [59, 60, 61]
        .iter()
        .zip(2..)
        .fold(Log::new(), |log, (time, id)| log.entry(name, id, *time, &[cell(id)]));
    made.log("other,1,1", &log.0);
    assert_eq!(found(&made), (vec![4, 3], Some((1, 2, 2))));
}

/// The clocks of two servers may differ by 30 seconds.
const SKEW: usize = 30_000;

#[test]
fn an_entry_of_another_server_is_old_if_it_was_written_before_the_event() {
    for event_is_first in [true, false] {
        for (id, time, is_old) in [
            (5, 99_999, true),
            (5, 100_000, false),
            (4, 99_999, true),
            (4, 100_001, false),
            // A greater id than the id of the event: only if the clocks leave no doubt.
            (6, 99_999, false),
            (6, 100_000 - SKEW - 1, true),
            (6, 100_000 - SKEW, false),
        ] {
            let (made, region) = made();
            let event = Log::new().opening(&region.name, 5, 100_000);
            let entry = Log::new().entry(&region.name, id, time, &[cell(id)]);
            let (first, second) = if event_is_first { (&event, &entry) } else { (&entry, &event) };
            made.log("host,1,1", &first.0);
            made.log("host,2,2", &second.0);
            let expected = if is_old { (vec![], Some((1, id, id))) } else { (vec![id], None) };
            assert_eq!(found(&made), expected, "{id} {time} {event_is_first}");
        }
    }
}

#[test]
fn entries_of_other_regions_tables_and_families_are_left_out() {
    let (made, region) = made();
    let other = put("r", "q", 1, 1, "other");
    let other = sstable::CellRef { family: b"g", ..other.as_ref() }.to_cell();
    let log = Log::new().entry(&"0".repeat(32), 7, 9, &[cell(7)]).entry(
        &region.name,
        8,
        9,
        &[other, cell(8)],
    );
    made.log("host,1,1", &log.0);
    assert_eq!(found(&made), (vec![8], None));
}

#[test]
fn a_logged_cell_replaces_that_of_a_file_and_is_in_the_order_of_its_key() {
    let (made, region) = made();
    let file = [put("a", "q", 1, 2, "file"), put("r", "q", 6, 2, "file")];
    region.file(&hfile(1), flushed(2), &file);
    let late = put("a", "p", 1, 9, "logged");
    let log = Log::new().entry(&region.name, 6, 9, &[cell(6)]).entry(&region.name, 9, 9, &[late]);
    made.log("host,1,1", &log.0);
    let cells = made.cells(&TableScan::default().with_logs(true));
    assert_eq!(cells, ["a:p/1=logged@9", "a:q/1=file@2", "r:q/6=logged@6"]);
    let few = made.cells(&TableScan::default().with_logs(true).log_bytes_max(10));
    assert_eq!(few, cells, "on disk");
}

#[test]
fn only_the_opening_and_closing_of_a_region_are_events() {
    let (made, region) = made();
    let name = &region.name;
    let named = |family: &[u8], qualifier: &[u8]| {
        sstable::CellRef { family, qualifier, ..cell(9).as_ref() }.to_cell()
    };
    let log = Log::new()
        .entry(name, 5, 50, &[cell(5)])
        .entry(name, 6, 50, &[named(b"METAFAMILY", b"HBASE::FLUSH")])
        .entry(name, 9, 50, &[named(b"f", b"HBASE::REGION_EVENT::REGION_OPEN")]);
    made.log("host,1,1", &log.0);
    assert_eq!(found(&made), (vec![9, 5], None));
    made.log("host,1,1", &log.opening(name, 9, 50).0);
    assert_eq!(found(&made), (vec![], Some((2, 5, 9))));
}
