//! A process writes to a store while others move, link and replace directories, add files, fork the process and kill
//! it: only the opened store changes, and no acknowledged write is lost.
#![cfg(unix)]
#![expect(clippy::print_stdout, reason = "a long run says what it did")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use store::tools::{VerifyOutcome, verify};
use store::{
    CompactionKind, Delete, Error, FamilyOptions, Get, Put, Scan, ScanCells, Store, StoreOptions,
};
use support::Random;

use super::own_directory::{Places, files_in, filled, golden, has, in_a_fork, open};

/// The variable with the path that a writer opens. It marks the process of a writer.
const STORE: &str = "WRITER_STORE";
const FIRST_ROW: &str = "WRITER_FIRST_ROW";
/// The time after which a process counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a writer says.
enum Event {
    Opened,
    Acknowledged(u64),
    /// A call failed, and the writer ends.
    Refused,
}

impl Event {
    fn print(&self) {
        let line = match self {
            // The test program has begun a line.
            Self::Opened => "\nopened".to_owned(),
            Self::Acknowledged(row) => format!("acknowledged {row}"),
            Self::Refused => "refused".to_owned(),
        };
        // A line is written in one call.
        std::io::stdout().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn parse(line: &str) -> Option<Self> {
        match line {
            "opened" => Some(Self::Opened),
            "refused" => Some(Self::Refused),
            _ => Some(Self::Acknowledged(line.strip_prefix("acknowledged ")?.parse().ok()?)),
        }
    }
}

fn row(number: u64) -> String {
    format!("row{number:08}")
}

fn options() -> StoreOptions {
    StoreOptions::default().memstore_flush_bytes(32 << 10)
}

/// Writes until a call fails or the process is killed.
fn write(path: &Path, first: u64) {
    let opened = Instant::now();
    let store = loop {
        // A killed writer leaves forks, which hold its lock for a moment.
        match Store::open(path, options()) {
            Err(Error::Locked { .. }) if opened.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(1));
            }
            opened => break opened.unwrap(),
        }
    };
    Event::Opened.print();
    let root = std::env::current_dir().unwrap();
    let path_of_fork = root.join("of the fork");
    let mut random = Random::new(first);
    let mut number = first;
    loop {
        let done = match random.below(40) {
            0 => store.flush(),
            1 => store.compact("f", CompactionKind::Major),
            2 if store.families().len() > 1 => store.drop_family("g").map(drop),
            2 => store.create_family("g", FamilyOptions::default()),
            3 => store.delete(Delete::row("nothing")),
            4 => {
                let place = if random.below(2) == 0 { &root } else { &root.join("elsewhere") };
                std::env::set_current_dir(place).unwrap();
                Ok(())
            }
            5 => {
                let (in_fork, mut scan) = (store.clone(), store.scan(Scan::family("f")).unwrap());
                let mut in_parent = store.scan(Scan::family("f")).unwrap();
                // Some blocks, so that the scans read ahead.
                let read = |scan: &mut ScanCells| scan.take(150).all(|cell| cell.is_ok());
                let has_begun = read(&mut scan) && read(&mut in_parent);
                let own = path_of_fork.clone();
                let is_refused = in_a_fork(move || is_forked(in_fork, scan, &own));
                assert!(has_begun && is_refused, "a fork uses the store");
                in_parent.try_for_each(|cell| cell.map(drop))
            }
            _ => {
                let put = Put::new(row(number)).column("f", "q", vec![7; 2 << 10]);
                store.put(put).inspect(|()| Event::Acknowledged(number).print()).inspect(|()| {
                    number += 1;
                })
            }
        };
        if done.is_err() {
            drop(store);
            Event::Refused.print();
            return;
        }
    }
}

/// Returns whether each call of a fork is refused, and a store of the fork's own works.
fn is_forked(store: Store, mut scan: ScanCells, own: &Path) -> bool {
    let calls = [
        store.put(Put::new("in the fork").column("f", "q", "")),
        store.flush(),
        store.compact("f", CompactionKind::Major),
        store.get(&Get::row("a")).map(drop),
        store.snapshot().get(&Get::row("a").family("f")).map(drop),
        store.scan(Scan::family("f")).map(drop),
        store.check_files("f").map(drop),
        store.export(own, &[]).map(drop),
        scan.next_ref().map(drop),
    ];
    drop((store, scan));
    drop(filled(own, "of the fork"));
    fs::remove_dir_all(own).unwrap();
    calls.iter().all(|call| matches!(call, Err(Error::Forked)))
}

/// A process that writes.
struct Writer {
    child: Child,
    events: Receiver<Event>,
}

impl Writer {
    /// Starts a writer in `root`, and waits until the store is open.
    fn start(root: &Path, path: &Path, first: u64) -> Self {
        let test =
            "beside_a_writer::only_the_opened_store_changes_and_nothing_acknowledged_is_lost";
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(STORE, path)
            .env(FIRST_ROW, first.to_string())
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, events) = mpsc::channel();
        std::thread::spawn(move || {
            let events = lines.map_while(Result::ok).filter_map(|line| Event::parse(&line));
            events.map_while(|event| sender.send(event).ok()).for_each(drop);
        });
        let writer = Self { child, events };
        assert!(matches!(writer.next(), Some(Event::Opened)), "the writer opens its store");
        writer
    }

    /// Returns the next event; `None` if the writer has ended.
    fn next(&self) -> Option<Event> {
        match self.events.recv_timeout(PATIENCE) {
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("the writer hangs"),
            event => event.ok(),
        }
    }

    /// Kills the writer. Returns the rows that it has acknowledged.
    fn kill(mut self) -> Vec<u64> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut rows = Vec::new();
        while let Some(event) = self.next() {
            rows.extend(if let Event::Acknowledged(row) = event { Some(row) } else { None });
        }
        rows
    }
}

/// What became of the sequences.
#[derive(Debug, Default)]
struct Counts {
    acknowledged: usize,
    refused: u64,
    killed: u64,
    foreign: usize,
}

/// One sequence beside a writer.
struct Sequence {
    seed: u64,
    random: Random,
    root: PathBuf,
    places: Places,
    writer: Option<Writer>,
    acknowledged: Vec<u64>,
    /// The files that others put into the writer's directory, by their paths in it.
    foreign: BTreeMap<PathBuf, Vec<u8>>,
    /// The files of the stores that nobody opened.
    others: [BTreeMap<PathBuf, Vec<u8>>; 2],
}

impl Sequence {
    fn new(seed: u64, root: &Path) -> Self {
        let (mine, other, elsewhere) =
            (root.join("place"), root.join("other"), root.join("elsewhere"));
        drop(filled(&mine, "mine"));
        drop(filled(&other, "of the other"));
        // Where a relative path would lead from there.
        drop(filled(&elsewhere.join("place"), "elsewhere"));
        let others = [&other, &elsewhere].map(|directory| files_in(directory));
        let root = root.to_path_buf();
        let places = Places { root: root.clone(), mine, other, moves: 0 };
        let (writer, acknowledged, foreign) = (None, Vec::new(), BTreeMap::new());
        let random = Random::new(seed);
        Self { seed, random, root, places, writer, acknowledged, foreign, others }
    }

    /// Returns a path that leads to the writer's directory: absolute, relative, or by a link.
    fn path(&mut self) -> PathBuf {
        let place = self.root.join("place");
        let is_mine = fs::canonicalize(&place).ok() == fs::canonicalize(&self.places.mine).ok();
        let path = if is_mine { place } else { self.places.mine.clone() };
        if self.random.below(2) == 0 {
            return path.strip_prefix(&self.root).unwrap().to_path_buf();
        }
        path
    }

    /// Adds files to the writer's directory that another program could put there.
    fn add_foreign(&mut self) {
        let file_of_other = fs::read_dir(self.places.other.join("f")).unwrap().next().unwrap();
        let file_of_other = file_of_other.unwrap().path();
        let name = Path::new(file_of_other.file_name().unwrap());
        let number = self.random.below(1000);
        let (source, place) = match self.random.below(5) {
            0 => (file_of_other.clone(), Path::new("f").join(name)),
            1 => {
                (golden(), Path::new("f").join(format!("0123456789abcdef0123456789abc{number:03}")))
            }
            2 => (
                golden(),
                Path::new("f").join(format!("0123456789abcdef0123456789abc{number:03}.new")),
            ),
            3 => (golden(), Path::new("cf").join("0123456789abcdef0123456789abcdef")),
            _ => (file_of_other.clone(), Path::new("wal").join("notes")),
        };
        let path = self.places.mine.join(&place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(&source, path).unwrap();
        self.foreign.insert(place, fs::read(source).unwrap());
    }

    /// Reads the store while it is written.
    fn read(&mut self) {
        match Store::open_read_only(&self.places.mine, options()) {
            Err(Error::Changing { .. }) => {}
            reader => {
                let reader = reader.unwrap();
                assert!(self.acknowledged.iter().all(|number| has(&reader, &row(*number))));
            }
        }
        if self.writer.is_some() {
            let second = Store::open(&self.places.mine, options());
            // A writer that was refused may have ended.
            assert!(second.is_ok() || matches!(second, Err(Error::Locked { .. })), "{second:?}");
        }
    }

    /// Waits for the writer and takes one step.
    fn step(&mut self, counts: &mut Counts) {
        let writer = self.writer.take().unwrap_or_else(|| {
            let (path, first) = (self.path(), self.acknowledged.last().map_or(0, |row| row + 1));
            Writer::start(&self.root, &path, first)
        });
        for _ in 0..self.random.below(30) {
            match writer.next() {
                Some(Event::Acknowledged(row)) => self.acknowledged.push(row),
                Some(_) => {}
                None => {
                    let mut writer = writer;
                    assert!(writer.child.wait().unwrap().success(), "seed {}", self.seed);
                    counts.refused += 1;
                    return;
                }
            }
        }
        if self.random.below(6) == 0 {
            self.acknowledged.extend(writer.kill());
            counts.killed += 1;
            return;
        }
        self.writer = Some(writer);
        match self.random.below(6) {
            0 => self.add_foreign(),
            1 => self.read(),
            _ => self.places.step(&mut self.random),
        }
    }

    fn finish(&mut self, counts: &mut Counts) {
        self.acknowledged.extend(self.writer.take().into_iter().flat_map(Writer::kill));
        let (seed, mine) = (self.seed, &self.places.mine);
        let others = [&self.places.other, &self.root.join("elsewhere")].map(|path| files_in(path));
        assert!(others == self.others, "seed {seed}: another store changed");
        for (place, bytes) in &self.foreign {
            assert!(
                fs::read(mine.join(place)).is_ok_and(|now| now == *bytes),
                "seed {seed}: {}",
                place.display()
            );
        }
        let store = open(mine);
        for number in &self.acknowledged {
            assert!(has(&store, &row(*number)), "seed {seed}: row {number} is lost");
        }
        assert!(has(&store, "mine") && !has(&store, "in the fork"));
        drop(store);
        assert_eq!(verify(mine, &options(), |_| {}).unwrap(), VerifyOutcome::Sound, "seed {seed}");
        counts.acknowledged += self.acknowledged.len();
        counts.foreign += self.foreign.len();
    }
}

/// Takes steps beside a writer, in sequences of these.
fn run_sequences(sequences: u64) {
    if let Some(path) = std::env::var_os(STORE) {
        let first = std::env::var(FIRST_ROW).unwrap().parse().unwrap();
        return write(Path::new(&path), first);
    }
    let mut counts = Counts::default();
    for seed in 0..sequences {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let mut sequence = Sequence::new(seed, &root);
        for _ in 0..12 {
            sequence.step(&mut counts);
        }
        sequence.finish(&mut counts);
    }
    println!("{sequences} sequences: {counts:?}");
    assert!(counts.refused > sequences / 4 && counts.killed > sequences / 4);
    assert!(counts.foreign as u64 > sequences / 4);
}

#[test]
fn only_the_opened_store_changes_and_nothing_acknowledged_is_lost() {
    run_sequences(10);
}

/// The steps and the writer are real processes, so no two runs are the same.
#[test]
#[ignore = "takes minutes"]
fn a_thousand_sequences() {
    run_sequences(1000);
}
