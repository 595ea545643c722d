//! Gets of rows with many versions, columns or delete markers: what they copy and read does not grow
//! with the row.

use std::time::Duration;

use cells::rules::{Rules, Verdict};
use cells::view::View;
use cells::{Clock, KeepDeletedCells};
use proptest::prelude::*;

use crate::options::{Durability, FamilyOptions, StoreOptions};
use crate::read::explain::Explanation;
use crate::read::query::{Get, Scan};
use crate::read::snapshot::Snapshot;
use crate::store::Store;
use crate::write::mutation::{Delete, Put, WriteBatch};
use crate::write::read_modify_write::{Append, Increment};
use crate::{CellRef, CellType, Timestamp};

/// Versions or columns of the row.
const MANY: i64 = 40_000;
/// What a get may copy from the memstore: the cells of one hold of the lock.
const COPIED_MAX: usize = 64;
/// What a get may read from the file, out of some hundred blocks.
const BLOCKS_MAX: u64 = 8;
const NOW: i64 = 1_000_000;

fn open(directory: &std::path::Path, family: FamilyOptions) -> Store {
    let options = StoreOptions::default()
        .clock(Clock::fixed(Timestamp::new(NOW)))
        .auto_compaction(false)
        .background(false);
    let store = Store::open(directory, options).unwrap();
    store.create_family("f", family.block_size(4 << 10)).unwrap();
    store
}

fn write(store: &Store, fill: impl FnOnce(&mut WriteBatch)) {
    let mut batch = WriteBatch::new();
    fill(&mut batch);
    store.write(batch, Durability::Skip).unwrap();
}

fn time(time: i64) -> Timestamp {
    Timestamp::new(time)
}

fn put(column: &str, at: i64) -> Put {
    Put::new("row").column_at("f", column, time(at), at.to_string())
}

fn write_put(store: &Store, column: &str, at: i64) {
    write(store, |batch| batch.put(put(column, at)));
}

/// Writes versions with the times 1 to `MANY` of one column.
fn put_versions(store: &Store, column: &str) {
    write(store, |batch| (1..=MANY).for_each(|at| batch.put(put(column, at))));
}

fn put_columns(store: &Store) {
    let name = |column: i64| format!("c{column:06}");
    write(store, |batch| (0..MANY).for_each(|column| batch.put(put(&name(column), 5))));
}

/// What a get shows: column, time and value of each cell.
fn shown(cell: &CellRef<'_>) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!("{}@{}={}", text(cell.qualifier), cell.timestamp, text(cell.value))
}

/// Reads a row from the memstore and from a file, and checks the answer and the cost.
#[track_caller]
fn check(store: &Store, get: &Get, expected: &[&str]) {
    let read = |get: &Get| {
        let explained = store.explain(get).unwrap();
        let cells: Vec<_> = explained.cells.iter().map(|cell| shown(&cell.as_ref())).collect();
        assert_eq!(cells, expected, "{get:?}");
        assert_eq!(store.multi_get(std::slice::from_ref(get)).unwrap()[0], explained.cells);
        explained
    };
    let Explanation { families, .. } = read(get);
    let copied = families[0].memstore_cells;
    assert!(copied <= COPIED_MAX, "{copied} cells copied: {get:?}");
    assert!(copied > 0 || expected.is_empty(), "the cells are in the memstore");
}

#[track_caller]
fn check_in_file(store: &Store, get: &Get, expected: &[&str]) {
    let explained = store.explain(get).unwrap();
    let cells: Vec<_> = explained.cells.iter().map(|cell| shown(&cell.as_ref())).collect();
    assert_eq!(cells, expected, "{get:?}");
    let blocks = explained.trace.data_blocks();
    assert!(blocks <= BLOCKS_MAX, "{blocks} blocks read: {get:?}");
    assert_eq!(explained.families[0].files[0].trace.data_blocks(), blocks, "all of this file");
}

/// A history of one row, and gets with their answers.
struct Case {
    family: FamilyOptions,
    write: fn(&Store),
    gets: Vec<(Get, &'static [&'static str])>,
}

fn column(name: &str) -> Get {
    Get::row("row").column("f", name)
}

fn delete(store: &Store, delete: Delete) {
    write(store, |batch| batch.delete(delete));
}

fn check_case(case: &Case) {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), case.family.clone());
    (case.write)(&store);
    for (get, expected) in &case.gets {
        check(&store, get, expected);
    }
    // A version beyond the maximum is gone after the flush, so only families that keep all are read
    // again.
    if case.family.versions > 1 {
        store.flush().unwrap();
        for (get, expected) in &case.gets {
            check_in_file(&store, get, expected);
        }
    }
}

fn all_versions() -> FamilyOptions {
    FamilyOptions::default().versions(u32::MAX)
}

#[test]
fn a_get_of_a_cell_with_many_versions_reads_few_of_them() {
    let newest: &[_] = &["q@40000=40000"];
    let three: &[_] = &["q@40000=40000", "q@39999=39999", "q@39998=39998"];
    let next: fn(&Store) = |store| {
        put_versions(store, "q");
        write_put(store, "r", 7);
    };
    check_case(&Case {
        family: FamilyOptions::default(),
        write: next,
        gets: vec![
            (column("q"), newest),
            (column("q").column("f", "r"), &["q@40000=40000", "r@7=7"]),
            (column("r"), &["r@7=7"]),
            (Get::row("row"), &["q@40000=40000", "r@7=7"]),
            (column("absent"), &[]),
        ],
    });
    check_case(&Case {
        family: all_versions(),
        write: next,
        gets: vec![
            (column("q"), newest),
            (column("q").versions(3), three),
            (column("q").time_range(time(39_990), time(39_992)), &["q@39991=39991"]),
            (column("q").time_range(time(50_000), time(60_000)), &[]),
            (column("p").column("f", "q").column("f", "r"), &["q@40000=40000", "r@7=7"]),
        ],
    });
}

/// Writes within one tick of the clock have the same time. Of these, only the last one is a version.
#[test]
fn a_get_passes_few_writes_of_the_same_version() {
    for (versions, column_name) in [(1, "q"), (3, "q"), (1, ""), (3, "")] {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path(), FamilyOptions::default().versions(versions));
        for at in [5, 7, 9] {
            for number in 1..=MANY / 10 {
                let value = format!("{at}.{number}");
                let put = Put::new("row").column_at("f", column_name, time(at), value);
                store.write(put, Durability::Skip).unwrap();
            }
        }
        write_put(&store, "r", 7);
        let all =
            ["@9=9.4000", "@7=7.4000", "@5=5.4000"].map(|cell| format!("{column_name}{cell}"));
        let expected = &all[..versions as usize];
        for of_row in [true, false] {
            let get = if of_row { Get::row("row") } else { column(column_name).column("f", "r") };
            let explained = store.explain(&get.versions(3)).unwrap();
            let cells = explained.cells.iter().map(|cell| shown(&cell.as_ref()));
            assert!(
                cells.eq(expected.iter().cloned().chain(["r@7=7".to_owned()])),
                "{explained:?}"
            );
            // A seek after each version copies as much as one hold of the lock allows.
            let copied = explained.families[0].memstore_cells;
            assert!(copied <= COPIED_MAX * versions as usize, "{copied} cells copied");
        }
        let raw = store.scan(Scan::family("f").raw(true).versions(u32::MAX)).unwrap();
        assert_eq!(raw.count(), 4, "each version once");
    }
}

/// The values of a key-value view are in it, and markers that delete a family, too.
#[test]
fn a_get_under_the_empty_qualifier_reads_few_versions() {
    let write: fn(&Store) = |store| {
        put_versions(store, "");
        write_put(store, "a", 7);
    };
    let gets = vec![
        (column(""), &["@40000=40000"][..]),
        (column("a"), &["a@7=7"]),
        (column("").column("f", "a"), &["@40000=40000", "a@7=7"]),
        (Get::row("row"), &["@40000=40000", "a@7=7"]),
    ];
    check_case(&Case { family: all_versions(), write, gets });
}

#[test]
fn a_get_of_one_of_many_columns_reads_few_of_them() {
    let first_and_last: &[_] = &["c000000@5=5", "c039999@5=5"];
    let gets = vec![
        (column("c020000"), &["c020000@5=5"][..]),
        (column("c000000").column("f", "c039999"), first_and_last),
        (column("c0200005"), &[]),
        (column("a"), &[]),
        (column("z"), &[]),
    ];
    check_case(&Case { family: all_versions(), write: put_columns, gets: gets.clone() });
    // A marker of the family is before all columns.
    let write: fn(&Store) = |store| {
        put_columns(store);
        delete(store, Delete::row("row").family_at("f", time(4)));
    };
    check_case(&Case { family: all_versions(), write, gets });
}

#[test]
fn the_order_in_which_columns_are_named_does_not_matter() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), all_versions());
    put_columns(&store);
    let names = || (0..500).map(|number| format!("c{:06}", number * 3));
    let get = names().rev().fold(Get::row("row"), |get, name| get.column("f", name));
    let scan = names().rev().fold(Scan::family("f"), Scan::column);
    let name = |cell: &CellRef<'_>| String::from_utf8(cell.qualifier.to_vec()).unwrap();
    let scanned = store.scan(scan).unwrap().map(|cell| name(&cell.unwrap().as_ref()));
    assert!(scanned.eq(names()));
    let of_several = store.multi_get(&[column("c000001"), get.clone()]).unwrap();
    assert_eq!(of_several[0].len(), 1);
    for cells in [&of_several[1], &store.get(&get).unwrap()] {
        assert!(cells.iter().map(|cell| name(&cell.as_ref())).eq(names()));
    }
}

#[test]
fn a_get_reads_few_cells_of_a_deleted_history() {
    let later: &[_] = &["q@50000=50000"];
    let nothing: &[&str] = &[];
    let deletes: [fn() -> Delete; 3] = [
        || Delete::row("row").column_at("f", "q", time(MANY)),
        || Delete::row("row").family_at("f", time(MANY)),
        || Delete::row("row").column_at("f", "q", time(MANY)).family_at("f", time(MANY - 1)),
    ];
    for marker in deletes {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path(), all_versions());
        put_versions(&store, "q");
        let before = store.snapshot();
        delete(&store, marker());
        let all = Get::row("row");
        for get in [column("q"), column("q").versions(3), all.clone()] {
            check(&store, &get, nothing);
        }
        let cells = before.get(&column("q")).unwrap();
        assert_eq!(shown(&cells[0].as_ref()), "q@40000=40000");
        write_put(&store, "q", 50_000);
        for get in [column("q"), column("q").versions(3), all] {
            check(&store, &get, later);
        }
    }
    // A marker of one version hides that one only.
    check_case(&Case {
        family: all_versions(),
        write: |store| {
            put_versions(store, "q");
            delete(store, Delete::row("row").version("f", "q", time(MANY)));
            delete(store, Delete::row("row").family_version("f", time(MANY - 1)));
        },
        gets: vec![(column("q"), &["q@39998=39998"][..]), (Get::row("row"), &["q@39998=39998"])],
    });
}

#[test]
fn a_get_reads_few_of_many_delete_markers() {
    let marks: [fn(i64) -> Delete; 2] = [
        |at| Delete::row("row").column_at("f", "q", time(at)),
        |at| Delete::row("row").family_at("f", time(at)),
    ];
    for mark in marks {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path(), all_versions());
        write(&store, |batch| (1..=MANY).for_each(|at| batch.delete(mark(at))));
        write_put(&store, "q", 9);
        write_put(&store, "r", 50_000);
        let gets = [
            (column("q"), &[][..]),
            (column("q").column("f", "r"), &["r@50000=50000"]),
            (Get::row("row"), &["r@50000=50000"]),
        ];
        for (get, expected) in &gets {
            check(&store, get, expected);
        }
        store.flush().unwrap();
        for (get, expected) in &gets {
            check_in_file(&store, get, expected);
        }
    }
}

#[test]
fn a_get_reads_few_expired_and_kept_versions() {
    let ttl = |versions| {
        let ttl = Some(Duration::from_millis((NOW - MANY + 1) as u64));
        all_versions().ttl(ttl).min_versions(versions)
    };
    let two: &[_] = &["q@40000=40000", "q@39999=39999"];
    check_case(&Case {
        family: ttl(0),
        write: |store| put_versions(store, "q"),
        gets: vec![(column("q").versions(9), two), (Get::row("row").versions(9), two)],
    });
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), ttl(3));
    put_versions(&store, "q");
    let three: &[_] = &["q@40000=40000", "q@39999=39999", "q@39998=39998"];
    check(&store, &column("q").versions(9), three);
    check(&store, &Get::row("row").versions(9), three);

    let directory = tempfile::tempdir().unwrap();
    let kept = all_versions().keep_deleted_cells(KeepDeletedCells::True);
    let store = open(directory.path(), kept);
    put_versions(&store, "q");
    delete(&store, Delete::row("row").column_at("f", "q", time(MANY)));
    check(&store, &column("q"), &[]);
    check(&store, &column("q").time_range(time(39_999), time(40_000)), &["q@39999=39999"]);
}

/// A scan of one column seeks it, too.
#[test]
fn a_scan_of_one_of_many_columns_reads_few_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), all_versions());
    put_columns(&store);
    let scanned = || {
        let cells = store.scan(Scan::family("f").column("c020000")).unwrap();
        let cells: Vec<_> = cells.map(|cell| shown(&cell.unwrap().as_ref())).collect();
        assert_eq!(cells, ["c020000@5=5"]);
    };
    scanned();
    store.flush().unwrap();
    let blocks = || store.stats().families[0].reads.data_blocks();
    let before = blocks();
    scanned();
    assert!(blocks() - before <= BLOCKS_MAX, "{} blocks", blocks() - before);
}

/// With an open snapshot, each increment stays in the memstore.
#[test]
fn an_increment_of_a_long_history_copies_few_cells() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), FamilyOptions::default());
    let _snapshot = store.snapshot();
    for _ in 0..300 {
        store.increment(&Increment::new("row").column("f", "n", 1)).unwrap();
    }
    assert_eq!(store.stats().families[0].memstore_cells, 300);
    let explained = store.explain(&column("n")).unwrap();
    assert_eq!(explained.cells[0].value(), 300_i64.to_be_bytes());
    assert_eq!(explained.families[0].memstore_cells, 1);
}

/// Also after a crash, when the log is replayed.
#[test]
fn an_increment_replaces_its_unflushed_predecessor() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        let options = StoreOptions::default().auto_compaction(false).background(false);
        Store::open(directory.path(), options).unwrap()
    };
    let store = open();
    store.create_family("one", FamilyOptions::default()).unwrap();
    store.create_family("two", FamilyOptions::default().versions(2)).unwrap();
    let least = FamilyOptions::default().ttl(Some(Duration::from_secs(1 << 30))).min_versions(1);
    store.create_family("least", least).unwrap();
    let kept = FamilyOptions::default().keep_deleted_cells(KeepDeletedCells::True);
    store.create_family("kept", kept).unwrap();
    let families = ["one", "two", "least", "kept"];
    for _ in 0..200 {
        for family in families {
            store.increment(&Increment::new("row").column(family, "n", 1)).unwrap();
            store.append(&Append::new("row").column(family, "text", "a")).unwrap();
        }
    }
    let cells = |store: &Store| -> Vec<(String, u64)> {
        let families = store.stats().families.into_iter();
        families.map(|family| (family.name, family.memstore_cells)).collect()
    };
    let all = |store: &Store| {
        let scan = |family| store.scan(Scan::family(family).raw(true).versions(u32::MAX)).unwrap();
        families.map(|family| scan(family).map(Result::unwrap).collect::<Vec<_>>())
    };
    let expected = [("kept", 400), ("least", 400), ("one", 2), ("two", 400)];
    let expected = expected.map(|(family, cells)| (family.to_owned(), cells));
    assert_eq!(cells(&store), expected);
    let bytes = store.stats().families[2].memstore_bytes;
    assert!((300..600).contains(&bytes), "{bytes} bytes of two cells, one of 200 bytes");
    let before = all(&store);
    drop(store);
    let store = open();
    assert_eq!(cells(&store), expected, "as before the log was replayed");
    assert_eq!(all(&store), before);
    let found = store.get(&Get::row("row").family("one")).unwrap();
    assert_eq!(found[0].value(), 200_i64.to_be_bytes());
    assert_eq!(found[1].value(), [b'a'; 200]);
}

/// A snapshot and a scan that has begun. Afterwards, increments go on to remove the older versions.
#[test]
fn what_a_reader_may_see_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), FamilyOptions::default());
    let increment = || store.increment(&Increment::new("row").column("f", "n", 1)).unwrap();
    let number = |cell: &crate::Cell| i64::from_be_bytes(cell.value().try_into().unwrap());
    increment();
    let mut snapshots = Vec::new();
    for _ in 0..10 {
        snapshots.push((store.snapshot(), store.scan(Scan::family("f")).unwrap()));
        increment();
    }
    for (index, (snapshot, scan)) in (1..).zip(snapshots) {
        assert_eq!(number(&snapshot.get(&column("n")).unwrap()[0]), index);
        drop(snapshot);
        increment();
        assert_eq!(scan.map(|cell| number(&cell.unwrap())).collect::<Vec<_>>(), [index]);
    }
    assert_eq!(store.stats().families[0].memstore_cells, 21, "each increment had a reader");
    increment();
    assert_eq!(store.stats().families[0].memstore_cells, 1);
    assert_eq!(number(&store.get(&column("n")).unwrap()[0]), 22);
}

/// Puts are no versions that another cell was computed from.
#[test]
fn a_put_replaces_no_version() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), FamilyOptions::default());
    (1..=3).for_each(|at| write_put(&store, "q", at));
    let earlier = column("q").time_range(time(0), time(3));
    check(&store, &earlier, &["q@2=2"]);
}

const COLUMNS: [&str; 5] = ["", "a", "b", "c", "d"];

/// A step of a history of one row.
#[derive(Clone, Debug)]
enum Step {
    Write { column: &'static str, time: i64, cell_type: CellType, count: i64 },
    Flush,
    Snapshot,
}

fn step() -> impl Strategy<Value = Step> {
    let cell_type = prop_oneof![
        12 => Just(CellType::Put),
        1 => Just(CellType::Delete),
        1 => Just(CellType::DeleteColumn),
        1 => Just(CellType::DeleteFamily),
        1 => Just(CellType::DeleteFamilyVersion),
    ];
    // Enough versions in a row that reads seek past them.
    let count = prop_oneof![4 => Just(1), 1 => 2..60_i64];
    let write = (prop::sample::select(&COLUMNS[..]), 0..80_i64, cell_type, count);
    let write = write.prop_map(|(column, time, cell_type, count)| Step::Write {
        column,
        time,
        cell_type,
        count,
    });
    prop_oneof![12 => write, 1 => Just(Step::Flush), 1 => Just(Step::Snapshot)]
}

fn take_step(store: &Store, step: &Step, snapshots: &mut Vec<Snapshot>) {
    match step {
        Step::Write { column, time: first, cell_type, count } => write(store, |batch| {
            for at in *first..first + count {
                let (row, at) = (Delete::row("row"), time(at));
                match cell_type {
                    CellType::Put => batch.put(put(column, at.get())),
                    CellType::Delete => batch.delete(row.version("f", column, at)),
                    CellType::DeleteColumn => batch.delete(row.column_at("f", column, at)),
                    CellType::DeleteFamily => batch.delete(row.family_at("f", at)),
                    CellType::DeleteFamilyVersion => batch.delete(row.family_version("f", at)),
                }
            }
        }),
        Step::Flush => store.flush().unwrap(),
        Step::Snapshot => snapshots.push(store.snapshot()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A get skips what the rules cannot show, and files that it does not need. Its answer is that of the
    /// rules over all cells of the row.
    #[test]
    fn a_get_shows_what_the_rules_show_of_all_cells(
        steps in prop::collection::vec(step(), 1..60),
        (kept, min_versions, ttl) in (1..5_u32, 0..3_u32, prop::option::of(10..80_i64)),
        keeps_deleted: bool,
        gets in prop::collection::vec(
            (
                prop::sample::subsequence(&COLUMNS[..], 0..=COLUMNS.len()),
                1..5_u32,
                prop::option::of((0..80_i64, 1..60_i64)),
            ),
            1..12,
        ),
    ) {
        let keep = if keeps_deleted { KeepDeletedCells::True } else { KeepDeletedCells::False };
        let family = FamilyOptions::default()
            .versions(kept)
            .min_versions(if ttl.is_some() { min_versions.min(kept) } else { 0 })
            .ttl(ttl.map(|millis| Duration::from_millis(millis.unsigned_abs())))
            .keep_deleted_cells(keep)
            .block_size(512);
        let directory = tempfile::tempdir().unwrap();
        let now = time(100);
        let options = StoreOptions::default().clock(Clock::fixed(now));
        let options = options.auto_compaction(false).background(false);
        let store = Store::open(directory.path(), options).unwrap();
        store.create_family("f", family.clone()).unwrap();
        for row in ["ro", "row\0"] {
            store.put(Put::new(row).column_at("f", "a", time(90), "another row")).unwrap();
        }
        let mut snapshots = Vec::new();
        for step in &steps {
            take_step(&store, step, &mut snapshots);
        }
        snapshots.push(store.snapshot());
        for snapshot in &snapshots {
            let row = || Scan::family("f").start("row").stop("row\0");
            let all = snapshot.scan(row().raw(true).versions(u32::MAX)).unwrap();
            let all: Vec<_> = all.map(Result::unwrap).collect();
            for (columns, versions, range) in &gets {
                let mut view = View::default().versions(*versions);
                let (mut get, mut scan) =
                    (Get::row("row").versions(*versions), row().versions(*versions));
                if let Some((min, len)) = range {
                    let (min, max) = (time(*min), time(min + len));
                    view = view.time_range(min, max);
                    get = get.time_range(min, max);
                    scan = scan.time_range(min, max);
                }
                let mut rules = Rules::new(&family.retention(), &view, now);
                for column in columns {
                    rules = rules.column(column);
                    get = get.column("f", column);
                    scan = scan.column(column);
                }
                let shown = all.iter().filter(|cell| rules.judge(&cell.as_ref()) == Verdict::Include);
                let expected: Vec<_> = shown.cloned().collect();
                prop_assert_eq!(&snapshot.get(&get).unwrap(), &expected, "{:?}", get);
                let scanned = |scan: Scan| -> Vec<_> {
                    snapshot.scan(scan).unwrap().map(Result::unwrap).collect()
                };
                prop_assert_eq!(&scanned(scan.clone()), &expected, "a scan for {:?}", get);
                let reverse = scan.clone().reverse(true).start("row").stop("ro");
                prop_assert_eq!(&scanned(reverse), &expected, "a reverse scan for {:?}", get);
                let mut raw_rules = Rules::new(&family.retention(), &view.raw(true), now);
                for column in columns {
                    raw_rules = raw_rules.column(column);
                }
                let raw = all.iter().filter(|cell| raw_rules.judge(&cell.as_ref()) == Verdict::Include);
                let raw: Vec<_> = raw.cloned().collect();
                prop_assert_eq!(&scanned(scan.raw(true)), &raw, "a raw scan for {:?}", get);
                let mut visited = Vec::new();
                snapshot.get_with(&get, |cell| visited.push(cell.to_cell())).unwrap();
                prop_assert_eq!(&visited, &expected, "visited: {:?}", get);
            }
        }
        let get = |column: &&str| Get::row("row").column("f", column);
        let gets: Vec<_> = COLUMNS.iter().map(get).collect();
        let one_by_one: Vec<_> = gets.iter().map(|get| store.get(get).unwrap()).collect();
        prop_assert_eq!(store.multi_get(&gets).unwrap(), one_by_one);
    }
}
