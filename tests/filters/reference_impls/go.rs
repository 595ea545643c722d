//! The cuckoo filter compared with the Go package `github.com/seiflotfy/cuckoofilter`.
//!
//! For 1,000 random key sets of every load:
//!
//! * as long as no fingerprint is moved, both write the same bytes;
//! * the Go package moves random fingerprints, so later bytes differ: each side reads the other's
//!   bytes, writes them back unchanged, and gives the same answers for all members and as many
//!   absent keys.
//!
//! Needs Go, and prints that it is skipped where there is none; `tests/go-judge` is the Go program.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use foreign_filters::{GoCuckoo, NotGoCuckoo, Placement};
use support::{Random, hex, say, unhex};

const SETS: usize = 1_000;

/// The Go program, which answers each line with a line.
struct Go {
    process: Child,
    /// Taken in `drop`, so that the program ends.
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    _directory: tempfile::TempDir,
}

impl Go {
    /// Builds and starts the program; `None` if there is no Go.
    fn start() -> Option<Self> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("go-judge");
        if Command::new("go").arg("version").output().is_err() {
            say(
                "the Go cuckoo filter: skipped, because there is no Go (its modules are downloaded once)",
            );
            return None;
        }
        let directory = tempfile::tempdir().expect("a temporary directory");
        let program = directory.path().join("go-judge");
        let built = Command::new("go")
            .args(["build", "-o"])
            .args([&program, Path::new(".")])
            .current_dir(source)
            .status();
        assert!(built.expect("go starts").success(), "tests/go-judge does not build");
        let mut process = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program exists");
        let questions = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("piped"));
        Some(Self { process, questions, answers, _directory: directory })
    }

    fn ask(&mut self, verb: &str, subject: &str, keys: &[Vec<u8>]) -> Vec<String> {
        let mut line = format!("{verb} {subject}");
        for key in keys {
            line.push(' ');
            line.push_str(&if key.is_empty() { "-".to_owned() } else { hex(key) });
        }
        line.push('\n');
        let questions = self.questions.as_mut().expect("open until drop");
        questions.write_all(line.as_bytes()).expect("the program listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the program answers");
        assert!(answer.ends_with('\n'), "the program ended");
        answer.split_whitespace().map(str::to_owned).collect()
    }

    /// Builds a filter in Go; returns its bytes and whether every insert succeeded.
    fn make(&mut self, capacity: u64, keys: &[Vec<u8>]) -> (Vec<u8>, bool) {
        let answer = self.ask("make", &capacity.to_string(), keys);
        assert_eq!(answer.len(), 4, "{answer:?}");
        (unhex(&answer[0]), !answer[1].contains('0'))
    }

    /// Parses bytes in Go; returns them as written back, the answers, and the count.
    fn read(&mut self, bytes: &[u8], keys: &[Vec<u8>]) -> (Vec<u8>, Vec<bool>, u64) {
        let answer = self.ask("read", &hex(bytes), keys);
        assert_eq!(answer.len(), 3, "{answer:?}");
        let answers = answer[1].trim_end_matches('.').chars().map(|digit| digit == '1').collect();
        (unhex(&answer[0]), answers, answer[2].parse().expect("a count"))
    }
}

impl Drop for Go {
    fn drop(&mut self) {
        drop(self.questions.take());
        let _ = self.process.wait(); // Its stdin is closed, so it exits.
    }
}

/// Returns a key of up to 80 bytes, for all branches of the hash, sometimes the empty key.
fn any_key(random: &mut Random) -> Vec<u8> {
    (0..random.below(81)).map(|_| random.next_u64() as u8).collect()
}

/// Returns capacity and keys of a set: any load from empty to overfull, sometimes with duplicates.
fn any_set(random: &mut Random) -> (u64, Vec<Vec<u8>>) {
    let capacity = [1, 4, 5, 16, 60, 100, 500, 1_000][random.below(8)];
    let slots = (capacity as usize).max(4).next_power_of_two();
    let count = random.below(slots + slots / 8 + 1);
    let mut keys: Vec<_> = (0..count).map(|_| any_key(random)).collect();
    if count > 4 && random.below(4) == 0 {
        let copied = keys[0].clone();
        keys.extend([copied.clone(), copied]);
    }
    (capacity, keys)
}

/// Returns how many of the first keys go into free slots, which both sides choose alike.
fn placed_directly(capacity: u64, keys: &[Vec<u8>]) -> usize {
    let mut filter = GoCuckoo::new(capacity).expect("small");
    keys.iter().take_while(|key| filter.insert(key) == Ok(Placement::Free)).count()
}

fn ours(capacity: u64, keys: &[Vec<u8>]) -> (GoCuckoo, Vec<Vec<u8>>) {
    let mut filter = GoCuckoo::new(capacity).expect("small");
    let held = keys.iter().filter(|key| filter.insert(key).is_ok()).cloned().collect();
    (filter, held)
}

#[test]
fn the_go_package_writes_the_same_bytes_and_reads_ours() {
    let Some(mut go) = Go::start() else { return };
    let mut random = Random::new(26);
    let (mut with_moves, mut overfull) = (0, 0);
    for set in 0..SETS {
        let (capacity, keys) = any_set(&mut random);
        let absent: Vec<_> = keys.iter().map(|_| any_key(&mut random)).collect();
        let asked = [keys.as_slice(), &absent].concat();

        // Without moves: the same bytes.
        let direct = &keys[..placed_directly(capacity, &keys)];
        let (theirs, _) = go.make(capacity, direct);
        assert!(ours(capacity, direct).0.to_bytes() == theirs, "set {set}: the bytes differ");

        // Go's filter with all keys, parsed here.
        let (theirs, all_inserted) = go.make(capacity, &keys);
        let read = GoCuckoo::from_bytes(&theirs).expect("a filter of the Go package");
        assert!(read.to_bytes() == theirs, "set {set}: changed by parsing");
        let (_, expected, count) = go.read(&theirs, &asked);
        let answers: Vec<bool> = asked.iter().map(|key| read.may_contain(key)).collect();
        assert_eq!((answers, read.len()), (expected, count), "set {set}: theirs");
        if all_inserted {
            assert!(keys.iter().all(|key| read.may_contain(key)), "set {set}: a key is denied");
        }
        with_moves += usize::from(direct.len() < keys.len());
        overfull += usize::from(!all_inserted);

        // Our filter with all keys that fit, parsed in Go.
        let (filter, held) = ours(capacity, &keys);
        let (written, answers, count) = go.read(&filter.to_bytes(), &asked);
        assert!(written == filter.to_bytes(), "set {set}: changed by parsing in Go");
        let expected: Vec<bool> = asked.iter().map(|key| filter.may_contain(key)).collect();
        assert_eq!((answers, count), (expected, filter.len()), "set {set}: ours");
        assert!(held.iter().all(|key| filter.may_contain(key)), "set {set}: a key is denied");
    }
    assert!(with_moves > SETS / 10 && overfull > SETS / 50, "{with_moves}, {overfull}");
    say(&format!(
        "equal to the Go package's bytes up to the first move, and read by it: {SETS} of {SETS} sets \
         ({with_moves} with moves, {overfull} with keys that it refused)"
    ));
}

/// Lengths that the Go package refuses are refused, and so are those with which it answers wrongly.
#[test]
fn lengths_that_the_go_package_refuses_are_refused() {
    let Some(mut go) = Go::start() else { return };
    for len in 0..66 {
        let bytes = vec![1; len];
        let subject = if len == 0 { "-".to_owned() } else { hex(&bytes) };
        let refused = go.ask("read", &subject, &[])[0] == "error";
        let ours = GoCuckoo::from_bytes(&bytes);
        match ours {
            Ok(_) | Err(NotGoCuckoo::BucketCount(_)) => assert!(!refused, "{len} bytes"),
            Err(_) => assert!(refused, "{len} bytes"),
        }
    }
}
