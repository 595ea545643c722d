//! Kills writers at random times, and checks for lost writes with chains of records: each record names an
//! earlier, acknowledged record. A named record that is missing is a lost write.
//!
//! Two kinds of processes are killed in turn:
//!
//! | process                     | writers                                | also                     |
//! |-----------------------------|----------------------------------------|--------------------------|
//! | `hfile store put --ack`     | one; its batches mix the chains        | flushed by other calls   |
//! | this test, run as a process | four threads, a chain each, grouped    | background flushes and   |
//! |                             | writes with and without a sync         | compactions              |
//!
//! The default run kills 20 processes. More:
//! `cargo test -p hfile-cli --test kills three_hundred -- --ignored --nocapture`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use store::{
    CompactionOptions, Durability, FamilyOptions, MapMode, Put, Scan, Store, StoreOptions,
};
use support::Random;
use support::cells::put_line;

const CHAINS: u64 = 4;
/// Not a multiple of the number of chains, so that batches end anywhere in them.
const BATCH: u64 = 7;
/// The maximum number of unacknowledged records.
const WINDOW: u64 = 3 * BATCH;
/// The count of acknowledged records of a dead process: larger than any real count.
const DEAD: u64 = u64::MAX - WINDOW;
/// The number of kills after which a new store is started.
const KILLS_PER_STORE: u64 = 30;
/// The family maps that the stores have in turn.
const MAPS: [MapMode; 3] = [MapMode::Files, MapMode::Wide, MapMode::Off];
/// The environment variable with the store's path, for the process of [`writers_of_chains`].
const STORE_VARIABLE: &str = "STORE_OF_CHAINS";

/// A record's number in its chain, from 1, and the number of the record it names, or 0.
#[derive(Clone, Copy, Debug)]
struct Link {
    chain: u64,
    number: u64,
    before: u64,
}

impl Link {
    fn row(self) -> String {
        format!("{}-{:08}", self.chain, self.number)
    }

    fn value(self) -> String {
        format!("{:08}{}", self.before, "v".repeat((self.number * 37 % 300) as usize))
    }

    fn read(row: &[u8], value: &[u8]) -> Self {
        let (chain, number) = str::from_utf8(row).unwrap().split_once('-').unwrap();
        let before = str::from_utf8(&value[..8]).unwrap().parse().unwrap();
        let link = Self { chain: chain.parse().unwrap(), number: number.parse().unwrap(), before };
        assert_eq!(link.value().as_bytes(), value, "{link:?} has its own value");
        link
    }

    fn cell(self) -> String {
        put_line(&self.row(), "q", self.number, &self.value())
    }
}

/// The last record of each chain that is stored or acknowledged.
type Ends = [u64; CHAINS as usize];

#[derive(Debug, Default)]
struct Tally {
    kills: u64,
    acknowledged: u64,
    holes: u64,
    losses: u64,
    unacknowledged: u64,
}

impl Tally {
    /// Opens the store after a kill; returns the ends of its chains.
    fn check(&mut self, directory: &Path, before: &Ends, acknowledged: &Ends) -> Ends {
        let store = Store::open(directory, StoreOptions::default()).unwrap();
        let mut chains: [BTreeMap<u64, u64>; CHAINS as usize] = Default::default();
        for cell in store.scan(Scan::family("f")).unwrap() {
            let cell = cell.unwrap();
            let link = Link::read(cell.row(), cell.value());
            chains[link.chain as usize].insert(link.number, link.before);
        }
        self.kills += 1;
        let mut ends = Ends::default();
        for (chain, links) in chains.iter().enumerate() {
            let is_there = |number: u64| number == 0 || links.contains_key(&number);
            let end = links.last_key_value().map_or(0, |(number, _)| *number);
            let named = links.values().filter(|before| !is_there(**before)).count() as u64;
            let skipped = (1..=end).filter(|number| !is_there(*number)).count() as u64;
            let lost = (1..=acknowledged[chain]).filter(|number| !is_there(*number)).count() as u64;
            self.holes += named.max(skipped);
            self.losses += lost;
            self.acknowledged += acknowledged[chain] - before[chain];
            self.unacknowledged += end.saturating_sub(acknowledged[chain]);
            ends[chain] = end;
        }
        ends
    }

    fn say(&self) {
        let Self { kills, acknowledged, holes, losses, unacknowledged } = self;
        let line = format!(
            "{kills} kills under {CHAINS} chains: {holes} holes, {losses} of {acknowledged} acknowledged \
             records lost; {unacknowledged} more were there\n"
        );
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        assert_eq!((*holes, *losses), (0, 0));
        assert!(*acknowledged > 10 * kills, "the processes wrote before they were killed");
    }
}

/// A process and the time after which it is killed.
struct Victim {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Victim {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Reports acknowledgements until the process is dead. It is killed some time after its first
    /// acknowledgement.
    fn live(self, time: Duration, mut acknowledge: impl FnMut(&str)) {
        let Self { mut child, mut output } = self;
        let mut killer = None;
        let mut line = String::new();
        // The kill may truncate the last line, which then acknowledges nothing.
        while output.read_line(&mut line).is_ok_and(|len| len > 0) && line.ends_with('\n') {
            if let Some(acknowledged) = line.trim_end().split_once("ACK ").map(|(_, it)| it) {
                acknowledge(acknowledged);
                let pid = child.id();
                killer.get_or_insert_with(|| thread::spawn(move || kill_after(pid, time)));
            }
            line.clear();
        }
        let status = child.wait().unwrap();
        assert!(!status.success(), "killed, not ended by itself");
        killer.expect("it acknowledged something before it was killed").join().unwrap();
    }
}

/// Sends SIGKILL, which a process cannot handle.
fn kill_after(pid: u32, time: Duration) {
    thread::sleep(time);
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

fn hfile(directory: &Path, before: &[&str], after: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hfile"));
    command.args(before).arg(directory).args(after);
    command
}

/// Kills `hfile store put`, which continues all chains in turn from their ends.
fn kill_put(directory: &Path, ends: &Ends, time: Duration) -> Ends {
    let batch = BATCH.to_string();
    let put = ["f", "--from", "cells", "-", "--ack", "--batch", &batch];
    let mut victim = Victim::start(hfile(directory, &["store", "put"], &put).stdin(Stdio::piped()));
    let mut stdin = victim.child.stdin.take().unwrap();
    let acknowledged = Arc::new(AtomicU64::new(0));
    // The end of a chain after this many records of all chains.
    let starts = *ends;
    let end = move |chain: u64, records: u64| {
        starts[chain as usize] + records / CHAINS + u64::from(chain < records % CHAINS)
    };
    let feeder = {
        let acknowledged = Arc::clone(&acknowledged);
        move || {
            for sent in 0.. {
                let mut known = acknowledged.load(Ordering::SeqCst);
                while sent > known + WINDOW {
                    thread::sleep(Duration::from_micros(50));
                    known = acknowledged.load(Ordering::SeqCst);
                }
                let chain = sent % CHAINS;
                let (number, before) = (end(chain, sent) + 1, end(chain, known));
                let link = Link { chain, number, before };
                // A closed pipe: the process is dead.
                if known == DEAD || stdin.write_all(link.cell().as_bytes()).is_err() {
                    break;
                }
            }
        }
    };
    let feeder = thread::spawn(feeder);
    let mut last = 0;
    victim.live(time, |line| {
        last = line.parse().unwrap();
        acknowledged.store(last, Ordering::SeqCst);
    });
    acknowledged.store(DEAD, Ordering::SeqCst);
    feeder.join().unwrap();
    std::array::from_fn(|chain| end(chain as u64, last))
}

/// Kills this test run as a process, with a thread per chain.
fn kill_writers(directory: &Path, ends: &Ends, time: Duration) -> Ends {
    let mut itself = Command::new(std::env::current_exe().unwrap());
    itself.args(["--exact", "kill_chains::writers_of_chains", "--ignored", "--nocapture"]);
    itself.env(STORE_VARIABLE, directory).stderr(Stdio::null());
    let mut acknowledged = *ends;
    Victim::start(&mut itself).live(time, |line| {
        let (chain, number) = line.split_once(' ').unwrap();
        acknowledged[chain.parse::<usize>().unwrap()] = number.parse().unwrap();
    });
    acknowledged
}

#[test]
#[ignore = "the process that the other tests kill; without its variable it does nothing"]
fn writers_of_chains() {
    let Some(directory) = std::env::var_os(STORE_VARIABLE) else { return };
    let options = StoreOptions::default()
        .memstore_flush_bytes(40_000)
        .wal_segment_bytes(30_000)
        .compaction(CompactionOptions::default().files_min(2));
    let store = Store::open(Path::new(&directory), options).unwrap();
    let write_chain = |chain: u64| {
        let scan = Scan::family("f").start(format!("{chain}-")).stop(format!("{chain}."));
        let mut before = store.scan(scan).unwrap().count() as u64;
        loop {
            let link = Link { chain, number: before + 1, before };
            let durability = if chain == 0 { Durability::Synced } else { Durability::Logged };
            store.write(Put::new(link.row()).column("f", "q", link.value()), durability).unwrap();
            before += 1;
            // A single write, so that lines of several threads do not interleave.
            std::io::stdout().write_all(format!("ACK {chain} {before}\n").as_bytes()).unwrap();
        }
    };
    // The process is killed while the family map is dropped and built in another form.
    let alter = || {
        for number in std::process::id() as usize.. {
            let options = store.family("f").unwrap();
            store.alter_family("f", options.family_map(MAPS[number % MAPS.len()])).unwrap();
            thread::sleep(Duration::from_millis(number as u64 % 7));
        }
    };
    thread::scope(|scope| {
        scope.spawn(alter);
        for chain in 0..CHAINS {
            scope.spawn(move || write_chain(chain));
        }
    });
}

fn kill(kills: u64, seed: u64) {
    let (mut random, mut tally) = (Random::new(seed), Tally::default());
    while tally.kills < kills {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("store");
        let store = Store::open(&directory, StoreOptions::default()).unwrap();
        let map = MAPS[std::process::id() as usize % MAPS.len()];
        store.create_family("f", FamilyOptions::default().family_map(map)).unwrap();
        drop(store);
        let mut ends = Ends::default();
        for round in 0..KILLS_PER_STORE.min(kills - tally.kills) {
            let time = Duration::from_micros(random.below(60_000) as u64);
            let kill = if round % 2 == 0 { kill_put } else { kill_writers };
            let acknowledged = kill(&directory, &ends, time);
            ends = tally.check(&directory, &ends, &acknowledged);
            if round % 7 == 6 {
                assert!(hfile(&directory, &["store", "flush"], &[]).status().unwrap().success());
            }
        }
    }
    tally.say();
}

#[test]
fn twenty_kills_leave_no_hole_in_a_chain() {
    kill(20, 1);
}

#[test]
#[ignore = "300 kills: cargo test -p hfile-cli --test kills three_hundred -- --ignored --nocapture"]
fn three_hundred_kills_leave_no_hole_in_a_chain() {
    kill(300, 2);
}
