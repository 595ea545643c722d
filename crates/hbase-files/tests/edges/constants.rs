//! Numbers at which the code goes another way: one case on both sides of each.

use std::collections::BTreeSet;

use hbase_files::TableScan;
use sstable::{Cell, CellRef, CellType, Timestamp};

use super::made::{Log, Made, flushed, hfile, marker, put, write_file};

/// Cells of a column that a scan skips one by one before a seek: 16.
#[test]
fn a_column_ends_after_any_number_of_skipped_cells() {
    for count in (1..4).chain(14..20).chain(32..36) {
        let made = Made::new(&[("VERSIONS", "99")]);
        let region = made.region(1, "", "");
        let times = || (1..=count).rev();
        let column = |name| times().map(move |time| put("r", name, time, 1, "v"));
        let cells: Vec<Cell> = ["a", "b", "c"].into_iter().flat_map(column).collect();
        region.file(&hfile(1), flushed(1).block_size(100), &cells);
        // The marker hides the upper half of the versions of `b`, and all of `c` but the newest one.
        let cells =
            [marker("r", "b", count / 2, CellType::DeleteColumn), put("r", "c", count, 2, "w")];
        region.file(&hfile(2), flushed(2), &cells);
        for versions in [1, 2, 16, 99] {
            let shown = |name: &str, times: &mut dyn Iterator<Item = i64>| -> Vec<String> {
                let times = times.take(versions);
                times.map(|time| format!("r:{name}/{time}")).collect()
            };
            let expected = [
                shown("a", &mut times()),
                shown("b", &mut times().filter(|time| *time > count / 2)),
                shown("c", &mut times()),
            ];
            let scan = TableScan::default().versions(versions as u32);
            let found = made.cells(&scan);
            let found: Vec<_> = found.iter().map(|cell| cell.split('=').next()).collect();
            let all: Vec<_> = expected.concat();
            assert!(found.iter().copied().eq(all.iter().map(|cell| Some(&**cell))), "{count}");
            for (name, expected) in ["a", "b", "c"].iter().zip(&expected) {
                let found = made.cells(&scan.clone().column("f", name));
                assert_eq!(found.len(), expected.len(), "{count} versions, column {name}");
            }
        }
    }
}

/// A batch of a thread is full at 256 KiB.
#[test]
fn cells_of_several_batches_of_a_thread_come_in_order() {
    let made = Made::new(&[]);
    let region = made.region(1, "", "");
    let cell = |number: usize| {
        let value = "v".repeat(1 + 40_000 * (number % 4));
        put(&format!("{number:03}"), "q", 1, 1, &value)
    };
    let cells: Vec<Cell> = (0..60).map(cell).collect();
    region.file(&hfile(1), flushed(1), &cells);
    let one = made.cells(&TableScan::default());
    for part_len in [1, 100_000, u64::MAX] {
        let scan = TableScan::default().threads(2).part_len(part_len);
        assert!(made.cells(&scan) == one, "parts of {part_len} bytes");
    }
}

/// 16 runs of logs are merged to one.
#[test]
fn of_equal_cells_of_logs_the_last_one_counts_over_any_number_of_runs() {
    for count in [1, 2, 15, 16, 17, 18, 31, 32, 33, 257] {
        let made = Made::new(&[("VERSIONS", "999")]);
        let region = made.region(1, "", "");
        let log = (1..=count).fold(Log::new(), |log, number| {
            let cell = put("r", "q", 1, 9, &number.to_string());
            let other = put("r", "q", 1 + number, 9, "other");
            log.entry(&region.name, 9, 9, &[cell, other])
        });
        made.log("host,1,1", &log.0);
        for log_bytes_max in [0, usize::MAX] {
            let scan = TableScan::default().with_logs(true).log_bytes_max(log_bytes_max);
            let found = made.cells(&scan);
            assert_eq!(found.len() as i64, count + 1, "{log_bytes_max} bytes");
            assert_eq!(found.last(), Some(&format!("r:q/1={count}@9")), "{log_bytes_max} bytes");
        }
    }
}

/// 64 MOB files are open at a time; two tables can have files of the same name.
#[test]
fn the_values_of_many_mob_files_are_those_of_their_files() {
    let made = Made::new(&[("IS_MOB", "true")]);
    let region = made.region(1, "", "");
    let (mut cells, mut expected) = (Vec::new(), BTreeSet::new());
    for number in 0..140 {
        let (file, table) = (number % 70, if number < 70 { "t" } else { "u" });
        let name = format!("{:032x}20240101{file:032x}", 1);
        let [row, other] = [number, (number + 70) % 140].map(|number| format!("{number:03}"));
        let value = format!("{row} of {table}");
        // Both files of a name have the rows of both, so that only the table tells the values apart.
        let mut stored = vec![put(&row, "q", 1, 1, &value), put(&other, "q", 1, 1, "?????????")];
        stored.sort_by(|one, other| one.row().cmp(other.row()));
        let of_table = super::kinds::md5(&format!("{table},.mob,0"));
        let directory = made.root().join("mobdir/data/default").join(table).join(of_table);
        write_file(&directory.join("f").join(&name), flushed(1), &stored);
        let reference = [&(value.len() as u32).to_be_bytes()[..], name.as_bytes()].concat();
        let tags = [b"\0\x01\x05\0\x02\x06", table.as_bytes(), b"\0\x03Hab"].concat();
        let view = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), &reference);
        cells.push(CellRef { tags: &tags, ..view }.to_cell());
        expected.insert(format!("{row}:q/1={value}@0"));
    }
    region.file(&hfile(1), flushed(1).includes_tags(true), &cells);
    for threads in [1, 3] {
        let scan = TableScan::default().threads(threads).part_len(500);
        let found: BTreeSet<_> = made.cells(&scan).into_iter().collect();
        assert_eq!(found, expected);
        // The tags of the reference differ from the tags of the value.
        let tags = made.scan(&scan).map(|cell| cell.expect("sound").as_ref().tags.to_vec());
        assert!(tags.into_iter().all(|tags| tags == b"\0\x03Hab"));
    }
}
