//! The power is cut, or the process is killed, before every change that a store makes to its disk.
//!
//! The store then holds everything that was acknowledged, and a prefix of the history.
//!
//! A history runs once on a simulated disk, which is copied before each change. Each copy gives
//! several disks, as a power cut may leave them. Each of these is opened and compared with the
//! states of the store after its batches:
//!
//! ```text
//! batches    1   2   3   4   5   6          after a crash the store is in one of these states:
//!                ╵acknowledged   ╵begun     no earlier than the last acknowledged batch, no later
//!                └── allowed ────┘          than the last that was begun
//! ```
//!
//! The default run has some thousand crash points. More: `cargo test --release -p tests --test
//! power_cut -- --ignored --nocapture`.

mod runner;

use std::path::Path;
use std::sync::{Arc, Mutex};

use store::vfs::Vfs;
use store::{Durability, Put, Scan, Store, Timestamp};
use support::disk::{Disk, Fault, Faults};
use support::test_store::disk_with_data;
use support::{Random, say};

use runner::{Content, Progress, Runner, STORE, Step, history, open};

/// The shares of unsynced changes that survive a power cut.
const KEPT: [f64; 4] = [0.0, 0.25, 0.5, 1.0];

/// Counts of failures; each line of the report is one tally.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    points: u64,
    nested: u64,
    /// The longest chain of crashes: of a history, of its recovery, and so on.
    depth: u64,
    losses: u64,
    holes: u64,
    failed_opens: u64,
    leaks: u64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.points += other.points;
        self.nested += other.nested;
        self.depth = self.depth.max(other.depth);
        self.losses += other.losses;
        self.holes += other.holes;
        self.failed_opens += other.failed_opens;
        self.leaks += other.leaks;
    }

    fn say(self, what: &str) {
        let Self { points, nested, losses, holes, failed_opens, leaks, .. } = self;
        say(&format!(
            "{what}: {points} crash points, {nested} of them in recovery: {losses} acknowledged losses, \
             {holes} holes, {failed_opens} failed opens, {leaks} leaked files"
        ));
        assert_eq!((losses, holes, failed_opens, leaks), (0, 0, 0, 0));
    }
}

/// A moment of a history: the disk, and the progress so far.
type Moment = (Disk, Progress);

/// Runs a history; returns the moment before each change, and the content after each batch.
fn moments(steps: &[Step]) -> (Vec<Moment>, Vec<Content>) {
    let disk = prepared();
    let mut runner = Runner::new(&disk);
    let moments = Arc::new(Mutex::new(Vec::new()));
    let (watched, progress) = (Arc::clone(&moments), Arc::clone(&runner.progress));
    disk.watch(move |disk| {
        watched.lock().unwrap().push((disk.clone(), *progress.lock().unwrap()));
    });
    runner.run(steps).unwrap();
    drop(runner.store.take());
    disk.unwatch();
    let end = (disk.after_kill(), *runner.progress.lock().unwrap());
    let mut moments = std::mem::take(&mut *moments.lock().unwrap());
    moments.push(end);
    (moments, runner.contents)
}

/// Crashes a history at its moments and checks the recovered store.
struct Crashes<'a> {
    contents: &'a [Content],
    random: Random,
    tally: Tally,
    /// Every `nested_every`th recovery is crashed itself, at each of its changes.
    nested_every: usize,
}

impl Crashes<'_> {
    fn power_cut(&mut self, moment: &Moment, kept: f64) {
        let (disk, progress) = moment;
        let left = disk.after_power_cut(kept, &mut self.random);
        self.check(&left, *progress, progress.durable, 0);
    }

    fn kill(&mut self, moment: &Moment) {
        let (disk, progress) = moment;
        self.check(&disk.after_kill(), *progress, progress.acknowledged, 0);
    }

    /// Opens a disk after a crash; at least `least` batches must be there.
    fn check(&mut self, left: &Disk, progress: Progress, least: usize, depth: u64) {
        self.tally.points += 1;
        self.tally.nested += u64::from(depth > 0);
        self.tally.depth = self.tally.depth.max(depth);
        if depth < 3 && self.random.below(self.nested_every) == 0 {
            self.crash_recovery(left, progress, depth);
        }
        let store = match open(left) {
            Ok(store) => store,
            Err(error) => {
                self.tally.failed_opens += 1;
                return say(&format!("{progress:?}: {error:?}"));
            }
        };
        let Some(content) = content(&store) else {
            self.tally.losses += u64::from(progress.has_family || least > 0);
            return;
        };
        let allowed = &self.contents[least..=progress.begun];
        if !allowed.contains(&content) {
            let was_ever = self.contents.contains(&content);
            self.tally.losses += u64::from(was_ever);
            self.tally.holes += u64::from(!was_ever);
            say(&format!(
                "{progress:?}: the content matches no allowed batch: {}",
                shown(&content)
            ));
        }
        self.tally.leaks += leaks(left, &store);
        // The store accepts writes after the recovery.
        store.put(Put::new("row0").column_at("f", "q", Timestamp::new(9_000), "new")).unwrap();
        store.flush().unwrap();
        drop(store);
        let again = open(left).map(|store| self::content(&store));
        let mut expected = content;
        expected.insert(b"row0".to_vec(), b"new".to_vec());
        self.tally.losses += u64::from(again.unwrap() != Some(expected));
    }

    /// Crashes the recovery itself at each of its changes.
    fn crash_recovery(&mut self, left: &Disk, progress: Progress, depth: u64) {
        let recovering = left.after_kill();
        let moments = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&moments);
        recovering.watch(move |disk| seen.lock().unwrap().push(disk.clone()));
        let opened = open(&recovering);
        recovering.unwatch();
        drop(opened);
        let moments = std::mem::take(&mut *moments.lock().unwrap());
        for disk in moments {
            let kept = KEPT[self.random.below(KEPT.len())];
            // After a power cut only synced batches are guaranteed.
            let left = disk.after_power_cut(kept, &mut self.random);
            self.check(&left, progress, progress.durable, depth + 1);
        }
    }
}

/// Returns all rows that a reader sees; `None` if there is no family.
fn content(store: &Store) -> Option<Content> {
    if store.families().is_empty() {
        return None;
    }
    let cells = store.scan(Scan::family("f")).unwrap().map(Result::unwrap);
    Some(cells.map(|cell| (cell.row().to_vec(), cell.value().to_vec())).collect())
}

/// Returns the batch that wrote the value of each row.
fn shown(content: &Content) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let value = |value: &[u8]| text(value.split(|byte| *byte == b'-').next().unwrap());
    let rows: Vec<_> =
        content.iter().map(|(row, it)| format!("{} {}", text(row), value(it))).collect();
    rows.join(", ")
}

/// The length of a log segment without records.
const EMPTY_SEGMENT_LEN: u64 = 56;

/// Counts files that belong to nothing after the store was opened, and empty log segments.
fn leaks(disk: &Disk, store: &Store) -> u64 {
    let files: u64 = store.stats().families.iter().map(|family| family.files).sum();
    let (mut in_family, mut others) = (0, 0);
    for path in disk.paths() {
        let Ok(path) = path.strip_prefix(STORE) else { continue };
        let name = path.to_str().unwrap();
        match name.split_once('/') {
            Some((family, _)) if store.family(family).is_some() => in_family += 1,
            Some(("wal", name)) => {
                let len = disk.len(&Path::new(STORE).join("wal").join(name)).unwrap();
                let is_empty = len <= EMPTY_SEGMENT_LEN;
                others += u64::from(name.strip_suffix(".wal").is_none() || is_empty);
            }
            _ => others += u64::from(!matches!(name, "LOCK" | "MANIFEST")),
        }
    }
    if in_family != files || others > 0 {
        say(&format!("{files} files in the store, and on disk {:?}", disk.paths()));
    }
    in_family - files.min(in_family) + others
}

fn crash_everywhere(seeds: std::ops::Range<u64>, len: usize, tries: u64, nested_every: usize) {
    let mut sum = Tally::default();
    for seed in seeds {
        let (moments, contents) = moments(&history(seed, len));
        let random = Random::new(seed ^ 0x5eed);
        let mut crashes =
            Crashes { contents: &contents, random, tally: Tally::default(), nested_every };
        for moment in &moments {
            crashes.kill(moment);
            for kept in KEPT {
                let tries = if kept > 0.0 && kept < 1.0 { tries } else { 1 };
                (0..tries).for_each(|_| crashes.power_cut(moment, kept));
            }
        }
        let tally = crashes.tally;
        assert!(tally.points > 100 && moments.len() > len, "the history changed its disk");
        sum.add(tally);
    }
    assert!(sum.depth >= 3, "recoveries of recoveries are crashed: {}", sum.depth);
    sum.say("power cuts and kills");
}

#[test]
fn nothing_acknowledged_is_lost_wherever_the_power_is_cut() {
    crash_everywhere(0..4, 44, 1, 40);
}

#[test]
#[ignore = "100,000 crash points: cargo test --release -p tests --test faults power_cut -- --ignored --nocapture"]
fn nothing_acknowledged_is_lost_in_100_000_power_cuts() {
    crash_everywhere(100..120, 66, 3, 20);
}

/// The open that finds 32 log segments flushes them.
#[test]
fn nothing_is_lost_wherever_the_flush_of_a_long_log_is_cut_off() {
    let rounds = (0..33).flat_map(|number| {
        let edits = vec![(format!("row{}", number % 5), Some(format!("{number}-")))];
        [Step::Write(edits, Durability::Logged), Step::Reopen]
    });
    let (moments, contents) = moments(&rounds.collect::<Vec<_>>());
    let segments = |disk: &Disk| disk.list(&Path::new(STORE).join("wal")).unwrap().len();
    let longest = moments.iter().rposition(|(disk, _)| segments(disk) == 32).unwrap();
    assert_eq!(segments(&moments.last().unwrap().0), 1, "an open has flushed the log");
    let (tally, random) = (Tally::default(), Random::new(32));
    let mut crashes = Crashes { contents: &contents, random, tally, nested_every: 40 };
    for moment in &moments[longest - 20..] {
        crashes.kill(moment);
        for kept in KEPT {
            crashes.power_cut(moment, kept);
        }
    }
    crashes.tally.say("power cuts and kills while a long log is flushed");
}

/// Each call of a history fails in turn: the store returns an error, and keeps what it had
/// acknowledged once the disk works again, also after a power cut.
fn fail_everywhere(seed: u64, len: usize) {
    let steps = history(seed, len);
    let calls = {
        let disk = prepared();
        Runner::new(&disk).run(&steps).unwrap();
        disk.calls()
    };
    let (mut faults, mut refused) = (0_u64, 0_u64);
    let mut tally = Tally::default();
    for number in 1..=calls {
        for fault in Fault::ALL {
            for plan in [Faults::once(number, fault), Faults::from(number, fault)] {
                faults += 1;
                let disk = prepared();
                disk.set_faults(plan);
                let mut runner = Runner::new(&disk);
                refused += u64::from(runner.run(&steps).is_err());
                drop(runner.store.take());
                disk.set_faults(Faults::default());
                let progress = *runner.progress.lock().unwrap();
                let random = Random::new(number);
                let contents = &runner.contents;
                let none = Tally::default();
                let mut crashes =
                    Crashes { contents, random, tally: none, nested_every: usize::MAX };
                let moment = (disk, progress);
                crashes.power_cut(&moment, 0.5);
                crashes.kill(&moment);
                tally.add(crashes.tally);
            }
        }
    }
    say(&format!("{faults} faults at {calls} calls: {refused} were reported by an error"));
    assert!(refused > faults / 2, "most failing calls are reported");
    tally.say("after faults");
}

/// Returns a disk with the parent directory of the store; its calls are counted from here.
fn prepared() -> Disk {
    let disk = disk_with_data();
    disk.set_faults(Faults::default());
    disk
}

#[test]
fn every_failing_call_ends_in_a_clean_error_and_loses_nothing() {
    fail_everywhere(7, 14);
}

#[test]
#[ignore = "minutes: cargo test --release -p tests --test faults power_cut -- --ignored --nocapture"]
fn every_failing_call_of_a_long_history_loses_nothing() {
    fail_everywhere(8, 44);
}
