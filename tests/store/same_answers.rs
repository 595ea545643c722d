//! Options never change an answer. Random histories of two stores, one with the plainest options and one
//! with any, give the same cells; and a scan with any options gives what a filter takes from the list
//! of all cells.

mod layout;
mod question;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use sstable::{Cell, CellRef, CellType, SequenceId, WriterOptions};
use store::tools::{SalvageOutcome, salvage};
use store::vfs::Vfs;
use store::{
    Age, Append, CheckAndMutate, CompactionKind, CompareOperator, Durability, Get, ImportOptions,
    Increment, Put, Scan, Snapshot, Store, StoreOptions, Timestamp, WriteBatch,
};
use support::cells::{PUT, hfile};
use support::disk::Disk;
use support::test_store::TestClock;

use layout::{Family, Layout, layout};
use question::{Question, question};

use crate::history::{add_cell, cell_type};

/// Rows that are prefixes of one another, also with the least or the greatest byte at the end, and longer
/// than the 15 and 16 bytes that are compared first.
const ROWS: [&[u8]; 9] = [
    b"a",
    b"a\xff",
    b"a\xffb",
    b"b",
    b"bbbbbbbbbbbbbbb",
    b"bbbbbbbbbbbbbbb\0",
    b"bbbbbbbbbbbbbbbb",
    b"bbbbbbbbbbbbbbbbb",
    b"c",
];
/// Columns of text, and one of numbers.
const COLUMNS: [&str; 5] = ["", "p", "pq", "pqqqqqqqqqqqqqqq", "pqqqqqqqqqqqqqqq\0"];
const NUMBER: &str = "n";
const NOW: i64 = 1_000;

/// From this number of files on, sizes always decide which files a minor compaction merges.
const FILES_BY_SIZE: u64 = 16;

type Written = (&'static [u8], &'static str, Option<i64>, CellType);

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<Written>),
    Increment(&'static [u8]),
    Append(&'static [u8], &'static str),
    /// Puts if the column exists, or if it does not.
    Check(&'static [u8], &'static str, bool),
    Load(Load),
    Flush,
    Compact(CompactionKind),
    RebuildFilters,
    Reopen,
    /// Goes on with a checkpoint of the store.
    Checkpoint,
    /// Goes on with a salvage of the store, which is sound.
    Salvage,
    /// Alters the family of the store with any options.
    Alter(Layout),
    Later(i64),
    Snapshot,
    Read(Question),
}

/// The cells of a file, and how they come into the store.
#[derive(Clone, Debug)]
struct Load {
    cells: Vec<Written>,
    /// Tags of each cell.
    tags: &'static [u8],
    /// The sequence ids begin here; without them, all are equal.
    sequence_id: Option<u64>,
    /// By `import`, which keeps sequence ids, or as a bulk load.
    keeps_ids: bool,
    /// The rows that are loaded, of all in the file.
    rows: [Option<&'static [u8]>; 2],
}

/// Tags without a meaning for reads, and a TTL of three milliseconds.
const TAGS: [&[u8]; 3] = [b"", b"\0\x03Aab", b"\0\x03Aab\0\x09\x08\0\0\0\0\0\0\0\x03"];

/// A store of a history.
struct Subject {
    files: Disk,
    layout: Layout,
    family: Family,
    is_plain: bool,
    place: PathBuf,
    clock: TestClock,
    store: Store,
    snapshot: Option<Snapshot>,
    steps: u64,
}

impl Subject {
    fn plain(family: Family) -> Self {
        Self { is_plain: true, ..Self::new(Layout::plain(), family) }
    }

    fn new(layout: Layout, family: Family) -> Self {
        let (files, clock) = (Disk::default(), TestClock::at(NOW));
        let place = PathBuf::from("/store");
        let store = open(&files, &place, &layout.store_options(family), &clock);
        store.create_family("f", layout.family_options(family)).unwrap();
        let (is_plain, snapshot, steps) = (false, None, 0);
        Self { files, layout, family, is_plain, place, clock, store, snapshot, steps }
    }

    fn step(&mut self, step: &Step) {
        self.steps += 1;
        let value = format!("v{}", self.steps);
        match step {
            Step::Write(cells) => {
                self.store.write(batch(cells, &value), Durability::Logged).unwrap();
            }
            Step::Increment(row) => self.increment(row),
            Step::Append(row, column) => self.append(row, column, &value),
            Step::Check(row, column, exists) => self.check_and_put(row, column, &value, *exists),
            Step::Load(load) => self.load(load, &value),
            Step::Flush => self.store.flush().unwrap(),
            Step::Compact(CompactionKind::Minor) if self.files() >= FILES_BY_SIZE => {}
            Step::Compact(kind) => self.store.compact("f", *kind).unwrap(),
            Step::RebuildFilters => self.store.rebuild_filters("f").unwrap(),
            Step::Reopen => self.reopen(),
            Step::Checkpoint => {
                let copy = PathBuf::from(format!("/copy{}", self.steps));
                self.store.checkpoint(&copy).unwrap();
                self.place = copy;
                self.reopen();
            }
            Step::Salvage => {
                let (place, files) = (&self.place, Arc::new(self.files.clone()));
                let copy = PathBuf::from(format!("/copy{}", self.steps));
                self.snapshot = None;
                self.store = open(&Disk::default(), place, &StoreOptions::default(), &self.clock);
                let options = StoreOptions::default().vfs(files);
                let outcome = salvage(place, &copy, &options, &[], |_| {}).unwrap();
                assert_eq!(outcome, SalvageOutcome::Whole);
                self.place = copy;
                self.reopen();
            }
            // The plain store stays plain.
            Step::Alter(_) if self.is_plain => {}
            Step::Alter(layout) => {
                self.store.alter_family("f", layout.family_options(self.family)).unwrap();
            }
            Step::Later(millis) => {
                self.clock.set(self.clock.now() + millis);
            }
            Step::Snapshot => self.snapshot = Some(self.store.snapshot()),
            Step::Read(_) => {}
        }
    }

    fn files(&self) -> u64 {
        self.store.stats().family("f").unwrap().files
    }

    fn newest(&self, row: &[u8], column: &str) -> Option<Cell> {
        self.store.get(&Get::row(row).column("f", column)).unwrap().into_iter().next()
    }

    fn increment(&self, row: &[u8]) {
        let before = self.newest(row, NUMBER);
        let increment = Increment::new(row).column("f", NUMBER, 3);
        let after = self.store.increment(&increment).unwrap().remove(0);
        let number = |cell: &Cell| i64::from_be_bytes(cell.value().try_into().unwrap());
        assert_eq!(number(&after), before.as_ref().map_or(0, number) + 3);
        self.check_replacement(before.as_ref(), &after);
    }

    fn append(&self, row: &[u8], column: &str, value: &str) {
        let before = self.newest(row, column);
        let append = Append::new(row).column("f", column, value);
        let after = self.store.append(&append).unwrap().remove(0);
        let old = before.as_ref().map_or(&b""[..], Cell::value);
        assert_eq!(after.value(), [old, value.as_bytes()].concat());
        self.check_replacement(before.as_ref(), &after);
    }

    /// A cell that takes the place of another is newer, and has its tags.
    fn check_replacement(&self, before: Option<&Cell>, after: &Cell) {
        let stored = self.written(after.row(), after.qualifier(), after.value());
        assert_eq!(&stored, after);
        if let Some(before) = before {
            assert!(before.timestamp() < after.timestamp(), "{before:?} {after:?}");
            assert_eq!(before.as_ref().tags, after.as_ref().tags);
        }
    }

    fn check_and_put(&self, row: &[u8], column: &str, value: &str, exists: bool) {
        let before = self.newest(row, column);
        let operator = if exists { CompareOperator::NotEqual } else { CompareOperator::Equal };
        let check = CheckAndMutate::new(row).if_matches("f", column, operator, "");
        let check = check.put(Put::new(row).column("f", column, value));
        let holds = self.store.check_and_mutate(&check).unwrap();
        assert_eq!(holds, before.is_some() == exists);
        if let Some(before) = before.filter(|_| holds) {
            let after = self.written(row, column.as_bytes(), value.as_bytes());
            assert!(before.timestamp() <= after.timestamp(), "{before:?} {after:?}");
        }
    }

    /// The cell that was just written, which a marker of its time may hide.
    fn written(&self, row: &[u8], column: &[u8], value: &[u8]) -> Cell {
        let of_row = Scan::family("f").start(row).stop([row, b"\0"].concat()).column(column);
        let cells = self.scanned(of_row.raw(true).versions(u32::MAX), false);
        cells.into_iter().find(|cell| cell.value() == value).unwrap()
    }

    fn reopen(&mut self) {
        self.snapshot = None;
        // The lock must be free before the directory is opened again.
        let options = self.layout.store_options(self.family);
        self.store = open(&Disk::default(), &self.place, &options, &self.clock);
        self.store = open(&self.files, &self.place, &options, &self.clock);
    }

    fn load(&self, load: &Load, value: &str) {
        let path = Path::new("/loaded.hfile");
        let ids = load.sequence_id;
        let mut cells: Vec<Cell> = Vec::new();
        for (number, (row, column, time, cell_type)) in (0..).zip(&load.cells) {
            cells.push(
                CellRef {
                    row,
                    qualifier: if cell_type.deletes_family() { b"" } else { column.as_bytes() },
                    timestamp: Timestamp::new(time.unwrap_or(NOW)),
                    cell_type: *cell_type,
                    value: match *column {
                        _ if cell_type.is_delete() => b"",
                        NUMBER => &[0; 8],
                        _ => value.as_bytes(),
                    },
                    tags: load.tags,
                    sequence_id: SequenceId::new(ids.map_or(0, |first| first + number)),
                    ..PUT
                }
                .to_cell(),
            );
        }
        cells.sort_by(|one, other| one.as_ref().compare(&other.as_ref()));
        cells.dedup_by(|one, other| one.as_ref().key() == other.as_ref().key());
        let options = WriterOptions::default().includes_tags(!load.tags.is_empty());
        let options = options.includes_mvcc(ids.is_some());
        let bytes = hfile(path, options, cells.iter().map(Cell::as_ref));
        self.files.create(path).unwrap().write_all(&bytes).unwrap();
        let paths = [path.to_path_buf()];
        let [start, stop] = load.rows;
        let age = if load.keeps_ids { Age::Carried } else { Age::Newest };
        let options = start.into_iter().fold(ImportOptions::new(age), ImportOptions::start);
        let options = stop.into_iter().fold(options, ImportOptions::stop);
        self.store.import("f", &paths, options).unwrap();
        self.files.unlink(path).unwrap();
    }

    /// All cells that such a scan may show, by a scan without further options.
    fn all(&self, question: &Question, of_snapshot: bool) -> Vec<Cell> {
        self.scanned(question.widest(), of_snapshot)
    }

    fn scanned(&self, scan: Scan, of_snapshot: bool) -> Vec<Cell> {
        let cells = match &self.snapshot {
            Some(snapshot) if of_snapshot => snapshot.scan(scan),
            _ => self.store.scan(scan),
        };
        cells.unwrap().map(Result::unwrap).collect()
    }

    fn gets(&self, question: &Question) -> Vec<Vec<Cell>> {
        let gets = ROWS.map(|row| question.get(row));
        let found = self.store.multi_get(&gets).unwrap();
        for (get, found) in gets.iter().zip(&found) {
            assert_eq!(&self.store.get(get).unwrap(), found, "{get:?}");
        }
        found
    }
}

fn open(files: &Disk, place: &Path, options: &StoreOptions, clock: &TestClock) -> Store {
    let options = options.clone().clock(clock.clock()).auto_compaction(false);
    Store::open(place, options.vfs(Arc::new(files.clone()))).unwrap()
}

fn batch(cells: &[Written], value: &str) -> WriteBatch {
    let mut batch = WriteBatch::new();
    for (row, column, time, cell_type) in cells {
        let time = time.map_or(Timestamp::LATEST, Timestamp::new);
        add_cell(&mut batch, row, column.as_bytes(), time, *cell_type, value);
    }
    batch
}

fn check(plain: &Subject, other: &Subject, question: &Question, family: Family) {
    for of_snapshot in [false, true] {
        let all = plain.all(question, of_snapshot);
        assert_eq!(other.all(question, of_snapshot), all, "all cells for {question:?}");
        // As in HBase, a column that is named shows one expired version more here.
        if family.min_versions > 0 && !question.columns.is_empty() {
            continue;
        }
        let expected = question.answer(&all);
        for subject in [plain, other] {
            assert_eq!(subject.scanned(question.scan(), of_snapshot), expected, "{question:?}");
        }
        if !of_snapshot && !question.raw {
            let rows = ROWS.map(|row| question.answer_of_get(&all, row));
            for subject in [plain, other] {
                assert_eq!(subject.gets(question), rows, "gets of {question:?}");
            }
        }
    }
}

fn written(columns: Vec<&'static str>) -> impl Strategy<Value = Vec<Written>> {
    let time = prop::option::of(NOW - 8..NOW + 8);
    vec((select(&ROWS[..]), select(columns), time, cell_type()), 1..6)
}

fn step() -> impl Strategy<Value = Step> {
    let columns: Vec<_> = COLUMNS.into_iter().chain([NUMBER]).collect();
    let end = || prop::option::weighted(0.2, select(&ROWS[..]));
    let ids = (prop::option::of(1..40_u64), any::<bool>());
    let load = (written(columns), select(&TAGS[..]), ids, [end(), end()]);
    let load = load.prop_map(|(cells, tags, (sequence_id, keeps_ids), rows)| {
        Step::Load(Load { cells, tags, sequence_id, keeps_ids, rows })
    });
    let (row, column) = (select(&ROWS[..]), select(&COLUMNS[..]));
    prop_oneof![
        8 => written(COLUMNS.into()).prop_map(Step::Write),
        2 => row.clone().prop_map(Step::Increment),
        1 => (row.clone(), column.clone()).prop_map(|(row, column)| Step::Append(row, column)),
        2 => (row, column, any::<bool>()).prop_map(|(row, column, is)| Step::Check(row, column, is)),
        3 => load,
        3 => Just(Step::Flush),
        1 => Just(Step::Compact(CompactionKind::Major)),
        1 => Just(Step::Compact(CompactionKind::Minor)),
        1 => Just(Step::RebuildFilters),
        1 => Just(Step::Reopen),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::Salvage),
        1 => layout().prop_map(Step::Alter),
        1 => (1..6_i64).prop_map(Step::Later),
        1 => Just(Step::Snapshot),
        8 => question().prop_map(Step::Read),
    ]
}

proptest! {
    #[test]
    fn a_store_with_any_options_answers_as_a_plain_one(
        family in layout::family(),
        layout in layout(),
        steps in vec(step(), 1..40),
        last in question(),
    ) {
        let mut plain = Subject::plain(family);
        let mut other = Subject::new(layout, family);
        for step in steps.iter().chain([&Step::Read(last)]) {
            plain.step(step);
            other.step(step);
            if let Step::Read(question) = step {
                check(&plain, &other, question, family);
            }
        }
    }
}
