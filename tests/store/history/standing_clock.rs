//! Long random histories in which the clock stands still for many steps.
//!
//! Mutations have default timestamps, which the store chooses. So the model learns the timestamp of
//! each cell from the store, after it has checked what every mutation promises: the next read shows
//! the put, and does not show what was deleted, also if a delete of the row came before it in the
//! same millisecond. From then on, every answer must be that of the model: from the memstore, from
//! files, and from snapshots, whatever was written since.
//!
//! `STEPS` and `SEED` choose a longer run, or repeat one: `STEPS=1000000 SEED=7 cargo test --release
//! -p tests --test store standing_clock`.

use std::collections::VecDeque;
use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use filter::{KeyHash, Seed};
use sstable::{CellRef, CellType};
use store::{
    Append, CheckAndMutate, Clock, CompactionKind, CompareOperator, Delete, Durability, Get,
    Increment, MapMode, Put, Scan, Snapshot, Store, StoreOptions, Timestamp, WriteBatch,
};
use support::disk::Disk;
use support::say;

use super::model::{Family, Known, Model, Question};

/// Steps of a store before the next one starts empty, which keeps the model fast.
const STEPS_PER_STORE: u64 = 2_000;

/// The row whose columns are many.
const WIDE: &str = "w";
const ROWS: [&str; 4] = ["a", "ab", "b", WIDE];

/// Where a store is.
enum Place {
    Memory(Disk),
    Directory(tempfile::TempDir),
}

impl Place {
    fn open(&self, clock: &Arc<AtomicI64>) -> Store {
        let clock = Arc::clone(clock);
        let clock = Clock::new(move || Timestamp::new(clock.load(Ordering::Relaxed)));
        let options = StoreOptions::default().clock(clock).background(false).auto_compaction(false);
        match self {
            Self::Memory(disk) => Store::open("/store", options.vfs(Arc::new(disk.clone()))),
            Self::Directory(directory) => Store::open(directory.path(), options),
        }
        .unwrap()
    }
}

/// Random numbers that depend on the seed alone.
struct Draw {
    seed: Seed,
    drawn: u64,
}

impl Draw {
    fn below(&mut self, count: u64) -> u64 {
        self.drawn += 1;
        KeyHash::new(self.seed, &self.drawn.to_le_bytes()).get() % count
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    fn row(&mut self) -> &'static str {
        self.one_of(&ROWS)
    }

    /// Returns a column of text; those of the wide row are many.
    fn column(&mut self, row: &str) -> String {
        let count = if row == WIDE { 300 } else { 5 };
        format!("c{}", self.below(count))
    }
}

/// A store and the model, with the same history.
struct History {
    place: Place,
    clock: Arc<AtomicI64>,
    store: Store,
    model: Model,
    snapshots: Vec<(Snapshot, Model)>,
    draw: Draw,
    /// The last steps, which a failure prints.
    trail: VecDeque<String>,
    /// Flushes among a thousand steps.
    flushes: u64,
    /// The number of files at which they are compacted, and before which none are.
    files_max: u64,
    most_files: u64,
}

impl Drop for History {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.trail.iter().for_each(|step| say(step));
        }
    }
}

impl History {
    fn new(place: Place, seed: u64, flushes: u64, files_max: u64) -> Self {
        let mut draw = Draw { seed: Seed::new(seed), drawn: 0 };
        let map = MapMode::ALL[draw.below(MapMode::ALL.len() as u64) as usize];
        let versions = [1, 3][draw.below(2) as usize];
        let family = Family { versions, min_versions: 0, ttl: None, keeps_deleted: false, map };
        let clock = Arc::new(AtomicI64::new(1_000));
        let store = place.open(&clock);
        store.create_family("f", family.options()).unwrap();
        let (memstore, files) = (Vec::new(), Vec::new());
        let model = Model { family, now: 1_000, sequence: 0, memstore, files };
        let (snapshots, trail) = (Vec::new(), VecDeque::new());
        Self {
            place,
            clock,
            store,
            model,
            snapshots,
            draw,
            trail,
            flushes,
            files_max,
            most_files: 0,
        }
    }

    fn step(&mut self) {
        let row = self.draw.row();
        match self.draw.below(1_000) {
            0..250 => self.put(row),
            250..300 => self.put_many(),
            300..450 => self.increment(row),
            450..480 => self.append(row),
            480..510 => self.check_and_put(row),
            510..550 => self.delete_row(row),
            550..600 => self.delete_column(row),
            600..700 => self.later(1),
            700..715 => self.snapshot(),
            715..720 => self.reopen(),
            720..725 => self.compact(),
            725..740 => self.check_everything(),
            740..780 => self.check_snapshot(row),
            other if other >= 1_000 - self.flushes => self.flush(),
            _ => self.check(row),
        }
    }

    fn log(&mut self, step: &str) {
        if self.trail.len() == 60 {
            self.trail.pop_front();
        }
        self.trail.push_back(format!("{}: {step}", self.model.now));
    }

    fn later(&mut self, millis: i64) {
        self.model.now += millis;
        self.clock.store(self.model.now, Ordering::Relaxed);
    }

    fn value(&mut self) -> String {
        format!("v{}", self.model.sequence + 1)
    }

    fn put(&mut self, row: &str) {
        let value = self.value();
        let count = if row == WIDE && self.draw.below(8) == 0 { 60 } else { 1 };
        let columns: Vec<_> = (0..count).map(|_| self.draw.column(row)).collect();
        self.log(&format!("put {row} {columns:?} {value}"));
        let put = columns.iter().fold(Put::new(row), |put, it| put.column("f", it, &value));
        self.store.put(put).unwrap();
        for column in &columns {
            self.learn_put(row, column, &value);
        }
    }

    fn put_many(&mut self) {
        let value = self.value();
        let mut batch = WriteBatch::new();
        let columns: Vec<_> = ROWS.map(|row| (row, self.draw.column(row))).into();
        self.log(&format!("put {columns:?} {value}"));
        for (row, column) in &columns {
            batch.put(Put::new(row).column("f", column, &value));
        }
        self.store.write(batch, Durability::SyncWal).unwrap();
        for (row, column) in &columns {
            self.learn_put(row, column, &value);
        }
    }

    fn increment(&mut self, row: &str) {
        let (column, amount) = (format!("n{}", self.draw.below(3)), self.draw.below(9) as i64 - 3);
        self.log(&format!("increment {row} {column} {amount}"));
        let before = self.newest(row, &column).map_or(0, |value| value.parse::<i64>().unwrap());
        let increment = Increment::new(row).column("f", &column, amount);
        let cells = self.store.increment(&increment).unwrap();
        let sum = (before + amount).to_string();
        assert_eq!(cells.iter().map(|cell| value_of(&cell.as_ref())).collect::<Vec<_>>(), [&*sum]);
        self.learn_put(row, &column, &sum);
    }

    fn append(&mut self, row: &str) {
        let (suffix, column) = (self.value(), "t");
        let before = self.newest(row, column).unwrap_or_default();
        if before.len() > 100 {
            return self.delete_column_named(row, column);
        }
        self.log(&format!("append {row} {suffix}"));
        self.store.append(&Append::new(row).column("f", column, &suffix)).unwrap();
        self.learn_put(row, column, &(before + &suffix));
    }

    /// A condition that holds, or one that does not.
    fn check_and_put(&mut self, row: &str) {
        let (value, column) = (self.value(), self.draw.column(row));
        let holds = self.draw.below(2) == 0;
        self.log(&format!("check and put {row} {column} {value}: {holds}"));
        let before = self.newest(row, &column);
        let check = CheckAndMutate::new(row).put(Put::new(row).column("f", &column, &value));
        let check = match (before, holds) {
            (None, true) => check.if_not_exists("f", &column),
            (Some(now), true) => check.if_matches("f", &column, CompareOperator::Equal, now),
            (_, false) => check.if_matches("f", &column, CompareOperator::Equal, "other"),
        };
        assert_eq!(self.store.check_and_mutate(&check).unwrap(), holds);
        if holds {
            self.learn_put(row, &column, &value);
        }
    }

    fn delete_row(&mut self, row: &str) {
        self.log(&format!("delete {row}"));
        let whole = self.draw.below(2) == 0;
        let delete = if whole { Delete::row(row) } else { Delete::row(row).family("f") };
        self.store.delete(delete).unwrap();
        self.learn_delete(row, "", CellType::DeleteFamily);
        assert_eq!(self.store.get(&Get::row(row)).unwrap(), [], "deleted {row}");
    }

    fn delete_column(&mut self, row: &str) {
        let column = if self.draw.below(4) == 0 { "n0".into() } else { self.draw.column(row) };
        self.delete_column_named(row, &column);
    }

    fn delete_column_named(&mut self, row: &str, column: &str) {
        self.log(&format!("delete {row} {column}"));
        self.store.delete(Delete::row(row).column("f", column)).unwrap();
        self.learn_delete(row, column, CellType::DeleteColumn);
        let left = self.store.get(&Get::row(row).column("f", column)).unwrap();
        assert_eq!(left, [], "deleted {row}/{column}");
    }

    /// Checks that the value just put is the newest, and tells the model its timestamp.
    fn learn_put(&mut self, row: &str, column: &str, value: &str) {
        let found = self.store.get(&Get::row(row).column("f", column)).unwrap();
        let shown: Vec<_> = found.iter().map(|cell| value_of(&cell.as_ref())).collect();
        assert_eq!(shown, [value], "put to {row}/{column}");
        self.learn(row, column, CellType::Put, found[0].timestamp(), value);
    }

    /// Tells the model the timestamp of the newest delete marker.
    fn learn_delete(&mut self, row: &str, column: &str, cell_type: CellType) {
        let scan = Scan::family("f").start(row).stop(format!("{row}\0")).raw(true);
        let cells = self.store.scan(scan.versions(u32::MAX)).unwrap();
        let markers = cells
            .map(|cell| cell.unwrap())
            .filter(|cell| cell.cell_type() == cell_type && cell.qualifier() == column.as_bytes());
        let time = markers.map(|cell| cell.timestamp()).max().expect("the marker just written");
        self.learn(row, column, cell_type, time, "");
    }

    fn learn(
        &mut self,
        row: &str,
        qualifier: &str,
        cell_type: CellType,
        time: Timestamp,
        value: &str,
    ) {
        let time = time.get();
        assert!(time >= self.model.now, "{time} is before {}", self.model.now);
        assert!(time < self.model.now + 1_000, "{time} is far after {}", self.model.now);
        self.model.sequence += 1;
        let sequence = self.model.sequence;
        let (row, qualifier, value) = (row.into(), qualifier.into(), value.into());
        self.model.memstore.push(Known { row, qualifier, time, cell_type, sequence, value });
    }

    /// Returns the value that a read shows of a column.
    fn newest(&self, row: &str, column: &str) -> Option<String> {
        let lines = self.model.answer(row, question(1));
        let marker = format!("{row}/{column}/");
        let line = lines.iter().find(|line| line.starts_with(&marker))?;
        Some(line.split_once('=').unwrap().1.to_owned())
    }

    fn flush(&mut self) {
        self.log("flush");
        self.store.flush().unwrap();
        self.model.flush();
        let files = self.store.stats().family("f").unwrap().files;
        self.most_files = self.most_files.max(files);
        if files >= self.files_max {
            self.compact();
        }
    }

    fn compact(&mut self) {
        if self.most_files < self.files_max {
            return;
        }
        self.log("compact");
        self.store.compact("f", CompactionKind::Major).unwrap();
        self.model.compact();
    }

    fn reopen(&mut self) {
        self.log("reopen");
        self.snapshots.clear();
        // The lock must be free before the directory is opened again.
        self.store = Place::Memory(Disk::default()).open(&self.clock);
        self.store = self.place.open(&self.clock);
    }

    fn snapshot(&mut self) {
        if self.snapshots.len() == 3 {
            let index = self.draw.below(3) as usize;
            self.snapshots.swap_remove(index);
        }
        self.log("snapshot");
        self.snapshots.push((self.store.snapshot(), self.model.clone()));
    }

    fn check_snapshot(&mut self, row: &str) {
        if self.snapshots.is_empty() {
            return;
        }
        let question = question([1, 3][self.draw.below(2) as usize]);
        let index = self.draw.below(self.snapshots.len() as u64) as usize;
        let (snapshot, model) = &self.snapshots[index];
        let expected = model.answer(row, question);
        let found = snapshot.get(&Get::row(row).versions(question.versions)).unwrap();
        assert_eq!(
            lines(found.iter().map(|cell| cell.as_ref())),
            expected,
            "a snapshot's get of {row}"
        );
        let scan = one_row(row, question);
        let found: Vec<_> = snapshot.scan(scan).unwrap().map(|cell| cell.unwrap()).collect();
        assert_eq!(lines(found.iter().map(|cell| cell.as_ref())), expected, "a snapshot's scan");
    }

    /// Compares a get, a scan and the gets of two columns with the model.
    fn check(&mut self, row: &str) {
        let question = question([1, 3][self.draw.below(2) as usize]);
        let expected = self.model.answer(row, question);
        let get = Get::row(row).versions(question.versions);
        assert_eq!(self.get(&get), expected, "get {row}, {question:?}");
        let found: Vec<_> =
            self.store.scan(one_row(row, question)).unwrap().map(|cell| cell.unwrap()).collect();
        assert_eq!(lines(found.iter().map(|cell| cell.as_ref())), expected, "scan {row}");

        let columns = [self.draw.column(row), format!("n{}", self.draw.below(3))];
        for column in columns {
            let marker = format!("{row}/{column}/");
            let of_column = expected.iter().filter(|line| line.starts_with(&marker));
            let get = Get::row(row).column("f", &column).versions(question.versions);
            assert_eq!(self.get(&get), of_column.cloned().collect::<Vec<_>>(), "{row}/{column}");
        }
    }

    fn get(&self, get: &Get) -> Vec<String> {
        let found = self.store.get(get).unwrap();
        let mut visited = Vec::new();
        self.store.get_with(get, |cell| visited.push(line(&cell))).unwrap();
        let found = lines(found.iter().map(|cell| cell.as_ref()));
        assert_eq!(visited, found, "get_with answers as get: {get:?}");
        found
    }

    /// Compares a scan of all rows and a get of all rows with the model.
    fn check_everything(&mut self) {
        let question = question(3);
        let expected = ROWS.map(|row| self.model.answer(row, question));
        let scan = Scan::family("f").versions(3);
        let found: Vec<_> = self.store.scan(scan).unwrap().map(|cell| cell.unwrap()).collect();
        assert_eq!(lines(found.iter().map(|cell| cell.as_ref())), expected.concat(), "a scan");
        let gets = ROWS.map(|row| Get::row(row).versions(3));
        let found = self.store.multi_get(&gets).unwrap();
        let found = found.iter().map(|row| lines(row.iter().map(|cell| cell.as_ref())));
        assert_eq!(found.collect::<Vec<_>>(), expected, "gets of all rows");
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|number| number.parse().expect("a number"))
}

#[test]
fn many_mutations_in_one_millisecond_are_answered_as_by_the_model() {
    let (steps, seed) = (number("STEPS").unwrap_or(10_000), number("SEED").unwrap_or(1));
    say(&format!("STEPS={steps} SEED={seed}"));
    for store in 0..steps.div_ceil(STEPS_PER_STORE) {
        let mut history = History::new(Place::Memory(Disk::default()), seed + store, 15, 8);
        history.log(&format!("{} steps, SEED={}", STEPS_PER_STORE, seed + store));
        for _ in 0..STEPS_PER_STORE.min(steps) {
            history.step();
        }
        history.check_everything();
    }
}

/// The test below runs this one in a process of its own.
#[test]
#[ignore = "needs a process with few descriptors"]
fn many_files_are_answered_as_by_the_model() {
    let (steps, seed) = (number("STEPS").unwrap_or(10_000), number("SEED").unwrap_or(1));
    say(&format!("STEPS={steps} SEED={seed}, in a directory"));
    let files_max = 150; // More than the process has descriptors.
    let place = Place::Directory(tempfile::tempdir().unwrap());
    let mut history = History::new(place, seed, 60, files_max);
    for _ in 0..steps {
        history.step();
    }
    history.check_everything();
    let most_files = history.most_files;
    assert!(most_files >= files_max, "only {most_files} files");
}

#[cfg(unix)]
#[test]
fn a_process_with_64_descriptors_answers_as_the_model() {
    // Enough steps for more files than descriptors.
    let steps = (number("STEPS").unwrap_or(10_000) / 3).clamp(3_300, 30_000);
    let child = std::process::Command::new("sh")
        .args(["-c", r#"ulimit -n 64 && exec "$0" "$@""#])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "history::standing_clock::many_files_are_answered_as_by_the_model"])
        .args(["--ignored", "--nocapture"])
        .env("STEPS", steps.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && text.contains("1 passed"), "{text}");
}

fn question(versions: u32) -> Question {
    Question { versions, range: None, raw: false, reverse: false }
}

fn one_row(row: &str, question: Question) -> Scan {
    Scan::family("f").start(row).stop(format!("{row}\0")).versions(question.versions)
}

fn lines<'a>(cells: impl Iterator<Item = CellRef<'a>>) -> Vec<String> {
    cells.map(|cell| line(&cell)).collect()
}

/// Returns a cell as the model shows it.
fn line(cell: &CellRef<'_>) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (row, qualifier) = (text(cell.row), text(cell.qualifier));
    let (time, cell_type) = (cell.timestamp, cell.cell_type.name());
    format!("{row}/{qualifier}/{time}/{cell_type}={}", value_of(cell))
}

/// Returns the value as text; that of a counter, whose column begins with `n`, as a number.
fn value_of(cell: &CellRef<'_>) -> String {
    if cell.qualifier.starts_with(b"n") {
        return i64::from_be_bytes(cell.value.try_into().unwrap()).to_string();
    }
    String::from_utf8(cell.value.to_vec()).unwrap()
}
