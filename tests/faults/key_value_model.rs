//! Random operations of a key-value family and a family of cells in one store, with crashes, beside
//! two maps.
//!
//! After a crash, the store holds the writes that were synced, and a prefix of the later ones; a
//! batch or a clear is there as a whole or not at all. Some crashes are at a change of the disk in the
//! middle of an operation.
//!
//! A million steps: `cargo test --release -p tests --test faults key_value_model -- --ignored --nocapture`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex};

use store::{
    Append, CheckAndMutate, CompactionKind, CompareOperator, Delete, Durability, Error,
    FamilyOptions, Pairs, Put, Scan, Snapshot, Store, WriteBatch,
};
use support::disk::Disk;
use support::test_store::{disk_with_data, quiet_on};
use support::{Random, say};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// The content of both families.
#[derive(Clone, Debug, Default, PartialEq)]
struct Content {
    keys: Map,
    cells: Map,
}

/// A store, and the contents that a crash may leave.
struct Model {
    random: Random,
    disk: Disk,
    store: Option<Store>,
    /// The content that is on disk, and the one after each later write.
    states: Vec<Content>,
    /// The first of `states` that survives a kill of the process.
    written: usize,
    snapshots: Vec<(Snapshot, Content)>,
    steps: u64,
    crashes: u64,
}

fn open(disk: &Disk) -> Store {
    Store::open("/data/store", quiet_on(disk).wal_segment_bytes(6_000)).unwrap()
}

/// Checks a read of keys against the map; `keys` is of a store or of a snapshot.
macro_rules! check_reads {
    ($keys:expr, $map:expr, $random:expr) => {{
        let (keys, map, random): (_, &Map, &mut Random) = ($keys, $map, $random);
        let [low, high] = [0, 1].map(|_| key(random));
        let wanted = [low.clone(), high.clone(), low.clone()];
        let of_map = |key: &Vec<u8>| map.get(key).cloned();
        match random.below(6) {
            0 => assert_eq!(keys.get(&low).unwrap(), of_map(&low)),
            1 => assert_eq!(keys.multi_get(&wanted).unwrap(), wanted.each_ref().map(of_map)),
            2 => {
                let is_of = |pair: &(Vec<u8>, Vec<u8>)| pair.0.starts_with(&low[..1]);
                let expected: Vec<_> = pairs_of(map).filter(is_of).collect();
                compare(keys.prefix(&low[..1]), keys.prefix_backwards(&low[..1]), expected);
            }
            3 => {
                let (first, last) = (keys.first().unwrap(), keys.last().unwrap());
                assert_eq!((first, last), (pairs_of(map).next(), pairs_of(map).next_back()));
            }
            4 => compare(
                keys.range::<&[u8]>(..),
                keys.range_backwards::<&[u8]>(..),
                pairs_of(map).collect(),
            ),
            _ => {
                let mut bound = |key: Vec<u8>| match random.below(3) {
                    0 => Bound::Included(key),
                    1 => Bound::Excluded(key),
                    _ => Bound::Unbounded,
                };
                let range = (bound(low), bound(high));
                let is_in = |key: &Vec<u8>| std::ops::RangeBounds::contains(&range, key);
                let expected: Vec<_> = pairs_of(map).filter(|pair| is_in(&pair.0)).collect();
                compare(keys.range(range.clone()), keys.range_backwards(range.clone()), expected);
            }
        }
    }};
}

fn pairs_of(map: &Map) -> impl DoubleEndedIterator<Item = (Vec<u8>, Vec<u8>)> {
    map.iter().map(|(key, value)| (key.clone(), value.clone()))
}

fn compare(forwards: Pairs, backwards: Pairs, mut expected: Vec<(Vec<u8>, Vec<u8>)>) {
    assert_eq!(forwards.map(Result::unwrap).collect::<Vec<_>>(), expected);
    expected.reverse();
    assert_eq!(backwards.map(Result::unwrap).collect::<Vec<_>>(), expected);
}

/// Returns one of 36 keys, of which some begin or end with the least or the greatest byte.
fn key(random: &mut Random) -> Vec<u8> {
    let first = [b"a", b"b", b"\xff"][random.below(3)];
    let others = [&b""[..], b"\0", b"\xff", b"\xff\xff"][random.below(4)];
    [&first[..], others, &b"xy"[..random.below(3)]].concat()
}

fn content(store: &Store) -> Content {
    let keys = store.map("keys").unwrap().range::<&[u8]>(..).map(Result::unwrap).collect();
    let cells = store.scan(Scan::family("cells")).unwrap().map(Result::unwrap);
    Content { keys, cells: cells.map(|cell| (cell.row().into(), cell.value().into())).collect() }
}

impl Model {
    fn new(seed: u64) -> Self {
        let disk = disk_with_data();
        let store = open(&disk);
        store.create_family("cells", FamilyOptions::default()).unwrap();
        store.create_map("keys").unwrap();
        Self {
            random: Random::new(seed),
            disk,
            store: Some(store),
            states: vec![Content::default()],
            written: 0,
            snapshots: Vec::new(),
            steps: 0,
            crashes: 0,
        }
    }

    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    fn now(&self) -> &Content {
        self.states.last().unwrap()
    }

    /// Makes a step; the power fails during some of them.
    fn step(&mut self) {
        self.steps += 1;
        if self.random.below(60) > 0 {
            return self.operate();
        }
        let moment = Arc::new(Mutex::new((1 + self.random.below(8), None)));
        let watched = Arc::clone(&moment);
        self.disk.watch(move |disk| {
            let (left, seen) = &mut *watched.lock().unwrap();
            *left = left.wrapping_sub(1);
            if *left == 0 {
                *seen = Some(disk.clone());
            }
        });
        let (mut states, mut written) = (self.states.clone(), self.written);
        self.operate();
        self.disk.unwatch();
        let seen = moment.lock().unwrap().1.take();
        if seen.is_none() {
            (states, written) = (self.states.clone(), self.written);
        } else {
            states.extend(self.states.iter().cloned());
        }
        self.crash(&seen.unwrap_or_else(|| self.disk.clone()), states, written);
    }

    /// Opens what a crash leaves of `disk`.
    fn crash(&mut self, disk: &Disk, mut states: Vec<Content>, written: usize) {
        self.crashes += 1;
        let left = if self.random.below(2) == 0 {
            states.drain(..written);
            disk.after_kill()
        } else {
            let kept = [0.0, 0.3, 0.7, 1.0][self.random.below(4)];
            disk.after_power_cut(kept, &mut self.random)
        };
        self.snapshots.clear();
        self.store = None;
        self.disk = left;
        let store = open(&self.disk);
        let found = content(&store);
        assert!(states.contains(&found), "step {}: {found:?} is none of {states:?}", self.steps);
        self.store = Some(store);
        // The recovery has synced what it found.
        (self.states, self.written) = (vec![found], 0);
    }

    /// Notes the content after a write with a durability.
    fn wrote(&mut self, content: Content, durability: Durability) {
        self.states.push(content);
        if durability >= Durability::Logged {
            self.written = self.states.len() - 1;
        }
        if durability == Durability::Synced {
            self.all_is_on_disk();
        }
    }

    fn all_is_on_disk(&mut self) {
        self.states.drain(..self.states.len() - 1);
        self.written = 0;
    }

    fn operate(&mut self) {
        match self.random.below(100) {
            0..20 => self.write_key(),
            20..44 => self.write_batch(),
            44..52 => self.increment(),
            52..64 => self.compare_and_set(),
            64..68 => self.append_and_check(),
            68..90 => {
                let keys = self.store().map("keys").unwrap();
                check_reads!(keys, &self.states.last().unwrap().keys, &mut self.random);
            }
            90..92 => {
                for (snapshot, content) in &self.snapshots {
                    let keys = snapshot.map("keys").unwrap();
                    check_reads!(keys, &content.keys, &mut self.random);
                }
                self.snapshots.truncate(self.random.below(3));
            }
            92 => {
                let snapshot = (self.store().snapshot(), self.now().clone());
                self.snapshots.push(snapshot);
            }
            93..95 => {
                self.store().flush().unwrap();
                self.all_is_on_disk();
            }
            95..97 => {
                let family = ["keys", "cells"][self.random.below(2)];
                let kind = [CompactionKind::Major, CompactionKind::Minor][self.random.below(2)];
                self.store().compact(family, kind).unwrap();
            }
            97 => self.clear(),
            _ => {
                self.snapshots.clear();
                self.store = None;
                self.store = Some(open(&self.disk));
                self.written = self.states.len() - 1;
                assert_eq!(content(self.store()), *self.now());
            }
        }
    }

    fn value(&mut self) -> Vec<u8> {
        format!("{}-", self.steps).repeat(1 + self.random.below(40)).into()
    }

    fn write_key(&mut self) {
        let (key, value, mut content) = (key(&mut self.random), self.value(), self.now().clone());
        let keys = self.store().map("keys").unwrap();
        if self.random.below(3) == 0 {
            keys.remove(&key).unwrap();
            content.keys.remove(&key);
        } else {
            keys.insert(&key, &value).unwrap();
            content.keys.insert(key, value);
        }
        self.wrote(content, Durability::Logged);
    }

    fn write_batch(&mut self) {
        let (mut batch, mut content) = (WriteBatch::new(), self.now().clone());
        let mut rows = BTreeSet::new();
        for _ in 0..=self.random.below(5) {
            let (key, value) = (key(&mut self.random), self.value());
            let kind = self.random.below(7);
            // Which of two puts of a row and a batch wins is open in a family of cells.
            if kind >= 5 && !rows.insert(key.clone()) {
                continue;
            }
            match kind {
                0 | 1 => batch.insert("keys", &key, &value),
                2 => batch.put(Put::new(&key).column("keys", "", &value)),
                3 => batch.remove("keys", &key),
                4 => batch.delete(Delete::row(&key).family("keys")),
                5 => batch.put(Put::new(&key).column("cells", "q", &value)),
                _ => batch.delete(Delete::row(&key)),
            }
            let map = if kind >= 5 { &mut content.cells } else { &mut content.keys };
            if matches!(kind, 0..=2 | 5) {
                map.insert(key, value);
            } else {
                map.remove(&key);
            }
        }
        let all = [Durability::Async, Durability::Logged, Durability::Synced];
        let durability = all[self.random.below(3)];
        self.store().write(batch, durability).unwrap();
        self.wrote(content, durability);
    }

    fn increment(&mut self) {
        let (key, amount) = (key(&mut self.random), self.random.next_u64().cast_signed());
        let sum = self.store().map("keys").unwrap().increment(&key, amount);
        let mut content = self.now().clone();
        let before = content.keys.get(&key).map_or(Ok([0; 8]), |value| value[..].try_into());
        let Ok(before) = before else {
            assert!(matches!(sum, Err(Error::Invalid { .. })), "{sum:?}");
            return;
        };
        let expected = i64::from_be_bytes(before).wrapping_add(amount);
        assert_eq!(sum.unwrap(), expected);
        content.keys.insert(key, expected.to_be_bytes().into());
        self.wrote(content, Durability::Logged);
    }

    fn compare_and_set(&mut self) {
        let (key, new) = (key(&mut self.random), self.value());
        let new = (self.random.below(3) > 0).then_some(new);
        let mut content = self.now().clone();
        let stored = content.keys.get(&key).cloned();
        let expected = match self.random.below(3) {
            0 => None,
            1 => Some(b"other".to_vec()),
            _ => stored.clone(),
        };
        let keys = self.store().map("keys").unwrap();
        let is_set = keys.compare_and_set(&key, expected.as_deref(), new.as_deref()).unwrap();
        assert_eq!(is_set, stored == expected);
        if !is_set {
            return;
        }
        match new {
            Some(value) => content.keys.insert(key, value),
            None => content.keys.remove(&key),
        };
        self.wrote(content, Durability::Logged);
    }

    /// Appends to a key; if its value is then the expected one, sets a key and a cell.
    fn append_and_check(&mut self) {
        let (key, value) = (key(&mut self.random), self.value());
        let mut content = self.now().clone();
        self.store().append(&Append::new(&key).column("keys", "", "+")).unwrap();
        let appended = content.keys.entry(key.clone()).or_default();
        appended.push(b'+');
        let check = CheckAndMutate::new(&key);
        let check = check.if_matches("keys", "", CompareOperator::Equal, &*appended);
        self.wrote(content.clone(), Durability::Logged);
        let put = Put::new(&key).column("keys", "", &value).column("cells", "q", &value);
        assert!(self.store().check_and_mutate(&check.put(put)).unwrap());
        content.cells.insert(key.clone(), value.clone());
        content.keys.insert(key, value);
        self.wrote(content, Durability::Logged);
    }

    fn clear(&mut self) {
        let mut content = self.now().clone();
        if self.random.below(2) == 0 {
            self.store().map("keys").unwrap().clear().unwrap();
            content.keys.clear();
        } else {
            self.store().clear_family("cells").unwrap();
            content.cells.clear();
        }
        self.wrote(content, Durability::Synced);
    }
}

fn run(seed: u64, steps: u64) {
    let mut model = Model::new(seed);
    for _ in 0..steps {
        model.step();
    }
    assert_eq!(content(model.store()), *model.now());
    assert!(model.crashes > steps / 100, "{} crashes", model.crashes);
    say(&format!("{steps} steps, {} crashes: as the model", model.crashes));
}

#[test]
fn both_families_are_as_their_models_after_every_step_and_crash() {
    run(1, 50_000);
}

#[test]
#[ignore = "a million steps: cargo test --release -p tests --test faults key_value_model -- --ignored --nocapture"]
fn both_families_are_as_their_models_in_a_million_steps() {
    let seed = std::env::var("SEED").map_or(2, |seed| seed.parse().unwrap());
    run(seed, 1_000_000);
}
