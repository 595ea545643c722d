use std::path::Path;

use sstable::BloomType;

use crate::family_map::mode::MapMode;
use crate::options::{FamilyOptions, StoreOptions};
use crate::read::query::Get;
use crate::store::Store;
use crate::write::mutation::Put;
use crate::write::read_modify_write::Increment;
use crate::{ReadTrace, Timestamp};

fn open(directory: &Path) -> Store {
    let options = StoreOptions::default().auto_compaction(false).background(false);
    Store::open(directory, options).unwrap()
}

fn row(number: usize) -> String {
    format!("row{number:02}")
}

/// In any order of the gets, with duplicates, and with gets of all families.
#[test]
fn multi_get_answers_in_the_order_of_the_gets() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for family in ["f", "g"] {
        store.create_family(family, FamilyOptions::default()).unwrap();
    }
    for number in 0..40 {
        let row = row(number);
        store.put(Put::new(&row).column("f", "q", &row).column("g", "q", &row)).unwrap();
        if number % 15 == 14 {
            store.flush().unwrap();
        }
    }
    for step in [1, 7, 17, 39] {
        let asked: Vec<usize> = (0..50).map(|at| at * step % 50).chain([3, 3, 45]).collect();
        let get = |number: &usize| {
            let get = Get::row(row(*number));
            if number.is_multiple_of(3) { get } else { get.family("g") }
        };
        let answers = store.multi_get(&asked.iter().map(get).collect::<Vec<_>>()).unwrap();
        assert_eq!(answers.len(), asked.len());
        for (number, cells) in asked.iter().zip(&answers) {
            let families = if number.is_multiple_of(3) { 2 } else { 1 };
            let expected = if *number < 40 { families } else { 0 };
            assert_eq!(cells.len(), expected, "{number} in steps of {step}");
            assert!(cells.iter().all(|cell| cell.value() == row(*number).as_bytes()), "{number}");
        }
        assert_eq!(
            answers,
            asked.iter().map(|number| store.get(&get(number)).unwrap()).collect::<Vec<_>>()
        );
    }
}

/// For gets of a whole row and of a named column.
#[test]
fn a_get_returns_all_wanted_kept_and_stored_versions() {
    for kept in 1..=4_u32 {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        store.create_family("f", FamilyOptions::default().versions(kept)).unwrap();
        for column in 1..=5_u32 {
            for version in 0..column {
                let (name, time) = (column.to_string(), Timestamp::new(100 + i64::from(version)));
                store.put(Put::new("row").column_at("f", name, time, version.to_string())).unwrap();
            }
            if column == 3 {
                store.flush().unwrap();
            }
        }
        for wanted in 1..=6_u32 {
            let whole = store.get(&Get::row("row").versions(wanted)).unwrap();
            for stored in 1..=5_u32 {
                let expected: Vec<_> = (0..stored)
                    .rev()
                    .take(wanted.min(kept) as usize)
                    .map(|version| version.to_string().into_bytes())
                    .collect();
                let name = stored.to_string();
                let of_row = whole.iter().filter(|cell| cell.qualifier() == name.as_bytes());
                let of_row: Vec<_> = of_row.map(|cell| cell.value().to_vec()).collect();
                let named = Get::row("row").column("f", &name).versions(wanted);
                let named = store.get(&named).unwrap();
                let named: Vec<_> = named.iter().map(|cell| cell.value().to_vec()).collect();
                assert_eq!(
                    (&of_row, &named),
                    (&expected, &expected),
                    "{wanted} of {stored}, {kept}"
                );
            }
        }
    }
}

/// The stop rule counts candidates, so a cell of another column must not become one.
#[test]
fn a_cell_of_another_column_does_not_stop_the_lookup() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    store.put(Put::new("row").column("f", "wanted", 7_i64.to_be_bytes())).unwrap();
    store.flush().unwrap();
    store.put(Put::new("row").column("f", "other", "newer")).unwrap();
    let wanted = Get::row("row").column("f", "wanted");
    let cells = store.get(&wanted).unwrap();
    assert_eq!(cells.len(), 1);
    assert_eq!(
        (cells[0].qualifier(), cells[0].value()),
        (&b"wanted"[..], &7_i64.to_be_bytes()[..])
    );
    let many = store.multi_get(&[wanted.clone(), wanted]).unwrap();
    assert!(many.iter().all(|found| *found == cells));
    assert!(store.get(&Get::row("row").column("f", "absent")).unwrap().is_empty());
    let two = store.get(&Get::row("row").column("f", "absent").column("f", "none")).unwrap();
    assert!(two.is_empty());
    let sum = store.increment(&Increment::new("row").column("f", "wanted", 1)).unwrap();
    assert_eq!(sum[0].value(), 8_i64.to_be_bytes());
}

/// Also those for which the family map says that no file has the row, with and without cells in a
/// memstore.
#[test]
fn all_kinds_of_gets_count_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("f", FamilyOptions::default().family_map(MapMode::Files)).unwrap();
    store.create_family("g", FamilyOptions::default().family_map(MapMode::Off)).unwrap();
    let totals = || {
        let mut sum = ReadTrace::default();
        store.stats().families.iter().for_each(|family| sum.add(&family.reads));
        sum
    };
    let counted = |read: &dyn Fn() -> usize| {
        let before = totals();
        (read(), totals().since(&before))
    };
    let compare = |number: usize, get: &Get| {
        // The first read may load a block; the second one finds it in the cache.
        store.get(get).unwrap();
        let explained = store.explain(get).unwrap();
        let expected = (explained.cells.len(), explained.trace);
        assert_eq!(counted(&|| store.get(get).unwrap().len()), expected, "row {number}");
        let visited = || {
            let mut count = 0;
            store.get_with(get, |_| count += 1).unwrap();
            count
        };
        assert_eq!(counted(&visited), expected, "row {number}, visited");
        let many = || store.multi_get(std::slice::from_ref(get)).unwrap()[0].len();
        assert_eq!(counted(&many), expected, "row {number}, of many");
        let (cells, trace) = store.get_traced(get).unwrap();
        assert_eq!((cells.len(), trace), expected, "row {number}, traced");
        explained.trace
    };
    for file in 0..3 {
        for number in (file..30).step_by(3) {
            store.put(Put::new(row(number)).column("f", "q", "v").column("g", "q", "v")).unwrap();
        }
        store.flush().unwrap();
        store.build_family_maps();
    }
    let mut denied = 0;
    for number in 0..60 {
        let column = Get::row(row(number)).column("f", "q");
        let trace = compare(number, &column);
        denied += u64::from(trace.files_skipped_by_map == 3);
        compare(number, &Get::row(row(number)));
        assert_eq!(store.get(&column).unwrap().len(), usize::from(number < 30), "row {number}");
    }
    assert!(denied >= 25, "the map denies nearly all of 30 absent rows, not {denied}");
    // A row that only the memstore has.
    store.put(Put::new(row(45)).column("f", "q", "new")).unwrap();
    for number in 0..60 {
        let column = Get::row(row(number)).column("f", "q");
        compare(number, &column);
        let is_there = number < 30 || number == 45;
        assert_eq!(store.get(&column).unwrap().len(), usize::from(is_there), "row {number}");
    }
}

/// In two files; the newer is sound and lacks the row.
#[test]
fn a_get_that_fails_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let family = FamilyOptions::default().bloom_type(BloomType::None).family_map(MapMode::Off);
    store.create_family("f", family).unwrap();
    store.put(Put::new("b").column("f", "q", "older")).unwrap();
    store.flush().unwrap();
    store.put(Put::new("a").column("f", "q", "v")).unwrap();
    store.put(Put::new("c").column("f", "q", "v")).unwrap();
    store.flush().unwrap();
    drop(store);
    for file in std::fs::read_dir(directory.path().join("f")).unwrap() {
        let path = file.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        if let Some(at) = bytes.windows(5).position(|window| window == b"older") {
            bytes[at] ^= 1;
            std::fs::write(&path, bytes).unwrap();
        }
    }
    let store = open(directory.path());
    let counted = || {
        let family = &store.stats().families[0];
        (family.gets, family.reads.files_considered, family.reads.data_blocks())
    };
    let (gets, considered, blocks) = counted();
    for failed in 1..=3 {
        store.get(&Get::row("b").column("f", "q")).unwrap_err();
        let (gets_now, considered_now, blocks_now) = counted();
        assert_eq!((gets_now, considered_now), (gets + failed, considered + 2 * failed));
        assert!(blocks_now >= blocks + failed, "{failed}");
    }
    store.get_traced(&Get::row("b")).unwrap_err();
    store.multi_get(&[Get::row("b"), Get::row("a")]).unwrap_err();
    assert!(counted().0 >= gets + 5);
}
