//! A mixed history of batches, bulk loads, flushes, compactions and changes of families on a
//! simulated disk; the content that the store must have after each batch, and the progress of the
//! history.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sstable::{CellRef, WriterOptions};
use store::vfs::Vfs;
use store::{
    Age, Clock, CompactionKind, Delete, Durability, FamilyOptions, MapMode, Put, Store,
    StoreOptions, Timestamp, WriteBatch,
};
use support::Random;
use support::cells::{PUT, hfile};
use support::disk::Disk;
use support::test_store::quiet_on;

pub(crate) const STORE: &str = "/data/store";
const ROWS: usize = 5;

/// The content of the store: rows and their values.
pub(crate) type Content = BTreeMap<Vec<u8>, Vec<u8>>;

/// A row and its new value, or `None` for a delete.
type Edit = (String, Option<String>);

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write(Vec<Edit>, Durability),
    Load(Vec<Edit>),
    Flush,
    Compact,
    /// Changes settings that do not change the content.
    Alter,
    /// Creates another family with a row, or drops it.
    OtherFamily,
    Reopen,
}

/// Returns a random history of `len` steps.
pub(crate) fn history(seed: u64, len: usize) -> Vec<Step> {
    let mut random = Random::new(seed);
    (0..len).map(|number| step(&mut random, number)).collect()
}

fn step(random: &mut Random, number: usize) -> Step {
    let mut edits = |may_delete: bool| {
        let count = 1 + random.below(3);
        let rows: std::collections::BTreeSet<_> = (0..count).map(|_| random.below(ROWS)).collect();
        let edit = |row: usize| {
            // Values of several sectors, so that a power cut can tear a batch.
            let value = format!("{number}-").repeat(1 + random.below(300));
            let deletes = may_delete && random.below(4) == 0;
            (format!("row{row}"), (!deletes).then_some(value))
        };
        rows.into_iter().map(edit).collect::<Vec<_>>()
    };
    match number % 11 {
        3 => Step::Flush,
        5 if number.is_multiple_of(2) => Step::Alter,
        9 => Step::OtherFamily,
        6 => Step::Load(edits(false)),
        8 if number.is_multiple_of(2) => Step::Compact,
        10 if number.is_multiple_of(3) => Step::Reopen,
        number if number.is_multiple_of(2) => Step::Write(edits(true), Durability::Synced),
        _ => Step::Write(edits(true), Durability::Logged),
    }
}

/// The progress of a history, as counts of batches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) has_family: bool,
    pub(crate) begun: usize,
    /// Acknowledged; these survive a kill of the process.
    pub(crate) acknowledged: usize,
    /// Acknowledged and synced; these survive a power cut.
    pub(crate) durable: usize,
}

/// A store on a simulated disk, and the content that it must have.
pub(crate) struct Runner {
    pub(crate) disk: Disk,
    pub(crate) store: Option<Store>,
    pub(crate) progress: Arc<Mutex<Progress>>,
    /// The content after 0, 1, 2, … batches.
    pub(crate) contents: Vec<Content>,
}

impl Runner {
    pub(crate) fn new(disk: &Disk) -> Self {
        let progress = Arc::default();
        Self { disk: disk.clone(), store: None, progress, contents: vec![Content::new()] }
    }

    /// Runs a history up to its first error.
    pub(crate) fn run(&mut self, steps: &[Step]) -> store::Result<()> {
        self.store = Some(open(&self.disk)?);
        self.store().create_family("f", family().block_size(512))?;
        self.note(|progress| progress.has_family = true);
        steps.iter().enumerate().try_for_each(|(number, step)| self.step(number, step))
    }

    fn step(&mut self, number: usize, step: &Step) -> store::Result<()> {
        let time = Timestamp::new(1_000 + number as i64);
        match step {
            Step::Write(edits, durability) => {
                self.begin(edits);
                self.store().write(batch(edits, time), *durability)?;
                self.note(|progress| progress.acknowledged = progress.begun);
                if *durability < Durability::Synced {
                    return Ok(());
                }
            }
            Step::Load(edits) => {
                // The file to load is already durable; the store did not write it.
                let path = PathBuf::from(format!("/data/loaded-{number}"));
                let source = Disk::default();
                write_file(&source, &path, edits, time);
                self.disk.adopt(&source, &path);
                self.begin(edits);
                self.store().import("f", std::slice::from_ref(&path), Age::Newest)?;
            }
            Step::Flush => self.store().flush()?,
            Step::Compact => return self.store().compact("f", CompactionKind::Major),
            Step::Alter => {
                let options = self.store().family("f").unwrap();
                let versions = options.retention().versions % 3 + 1;
                // The family map is dropped, or built again in another form.
                let map = [MapMode::Off, MapMode::Files, MapMode::Wide][number / 2 % 3];
                let options = options.versions(versions).family_map(map);
                return self.store().alter_family("f", options);
            }
            Step::OtherFamily => self.change_other_family(time)?,
            Step::Reopen => {
                self.store = None;
                self.store = Some(open(&self.disk)?);
                return Ok(());
            }
        }
        self.note(|progress| {
            progress.acknowledged = progress.begun;
            progress.durable = progress.begun;
        });
        Ok(())
    }

    fn change_other_family(&self, time: Timestamp) -> store::Result<()> {
        let store = self.store();
        if store.family("g").is_some() {
            return store.drop_family("g").map(drop);
        }
        store.create_family("g", FamilyOptions::default().family_map(MapMode::Files))?;
        let put = Put::new("row").column_at("g", "q", time, "value");
        store.write(put, Durability::Synced)
    }

    fn begin(&mut self, edits: &[Edit]) {
        let mut content = self.contents.last().unwrap().clone();
        for (row, value) in edits {
            match value {
                Some(value) => content.insert(row.clone().into(), value.clone().into()),
                None => content.remove(row.as_bytes()),
            };
        }
        self.contents.push(content);
        self.note(|progress| progress.begun += 1);
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.progress.lock().unwrap());
    }

    pub(crate) fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }
}

pub(crate) fn options(disk: &Disk) -> StoreOptions {
    quiet_on(disk).clock(Clock::fixed(Timestamp::new(1_000_000))).wal_segment_bytes(6_000)
}

fn family() -> FamilyOptions {
    FamilyOptions::default().family_map(MapMode::Wide)
}

pub(crate) fn open(disk: &Disk) -> store::Result<Store> {
    Store::open(STORE, options(disk))
}

fn batch(edits: &[Edit], time: Timestamp) -> WriteBatch {
    let mut batch = WriteBatch::new();
    for (row, value) in edits {
        match value {
            Some(value) => batch.put(Put::new(row).column_at("f", "q", time, value)),
            None => batch.delete(Delete::row(row).family_at("f", time)),
        }
    }
    batch
}

fn write_file(disk: &Disk, path: &Path, edits: &[Edit], time: Timestamp) {
    let cells = edits.iter().map(|(row, value)| {
        let value = value.as_ref().unwrap().as_bytes();
        CellRef { row: row.as_bytes(), timestamp: time, value, ..PUT }
    });
    let bytes = hfile(path, WriterOptions::default(), cells);
    disk.create_directory(path.parent().unwrap()).unwrap();
    disk.create(path).unwrap().write_all(&bytes).unwrap();
}
