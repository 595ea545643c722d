//! Hadoop's Bloom filters compared with Hadoop's classes.
//!
//! For 1,000 random key sets of each of the three kinds both write the same bytes; Hadoop reads
//! ours, writes them back unchanged and gives the same answers.
//!
//! Run with `HBASE_JUDGE=1`; see `tests/hbase-judge/README.md`.

use std::fs;
use std::num::NonZeroU32;

use foreign_filters::hadoop::{
    BloomFilter, CountingBloomFilter, DynamicBloomFilter, Hash, NotHadoop, Shape,
};
use serde_json::{Value, json};
use support::{Random, hex, judge, say};

const SETS: usize = 1_000;
const KINDS: [&str; 3] = ["bloom", "counting", "dynamic"];

/// A key set, the shape of its filter, and the keys that are asked.
struct Set {
    kind: &'static str,
    shape: Shape,
    row_keys: NonZeroU32,
    keys: Vec<Vec<u8>>,
    /// The keys that are removed from a counting filter.
    removed: Vec<Vec<u8>>,
    /// Members and absent keys.
    asked: Vec<Vec<u8>>,
}

impl Set {
    fn random(kind: &'static str, random: &mut Random) -> Self {
        let size = [7, 16, 200, 2_000][random.below(4)];
        let bits = 1 + random.below(size) as u32;
        let hash = [Hash::Jenkins, Hash::Murmur][random.below(2)];
        let shape = Shape::new(bits, 1 + random.below(12) as u32, hash).expect("in range");
        let row_keys = NonZeroU32::new(1 + random.below(30) as u32).expect("not zero");
        let mut keys: Vec<_> = (0..random.below(120)).map(|_| any_key(random)).collect();
        if let Some(first) = keys.first().cloned() {
            keys.resize(keys.len() + random.below(20), first);
        }
        let removed = if kind == "counting" { keys.len() / 3 } else { 0 };
        let removed = keys[..removed].to_vec();
        let absent = (0..40).map(|_| any_key(random));
        let asked = keys.iter().cloned().chain(absent).collect();
        Self { kind, shape, row_keys, keys, removed, asked }
    }

    /// Returns our bytes and answers: maybe or not, and the counts of a counting filter.
    fn ours(&self) -> (Vec<u8>, String, Vec<u64>) {
        let digit = |maybe| if maybe { '1' } else { '0' };
        match self.kind {
            "bloom" => {
                let mut filter = BloomFilter::new(self.shape).expect("small");
                for key in &self.keys {
                    filter.insert(key).expect("not empty");
                }
                let maybe = self.asked.iter().map(|key| digit(filter.may_contain(key))).collect();
                (filter.to_bytes(), maybe, Vec::new())
            }
            "counting" => {
                let mut filter = CountingBloomFilter::new(self.shape).expect("small");
                for key in &self.keys {
                    filter.insert(key).expect("not empty");
                }
                for key in &self.removed {
                    filter.remove(key).expect("it was inserted");
                }
                let maybe = self.asked.iter().map(|key| digit(filter.may_contain(key))).collect();
                let counts = self.asked.iter().map(|key| filter.copies(key)).collect();
                (filter.to_bytes(), maybe, counts)
            }
            _ => {
                let mut filter = DynamicBloomFilter::new(self.shape, self.row_keys).expect("small");
                for key in &self.keys {
                    filter.insert(key).expect("not empty");
                }
                let maybe = self.asked.iter().map(|key| digit(filter.may_contain(key))).collect();
                (filter.to_bytes(), maybe, Vec::new())
            }
        }
    }

    fn question(&self, read: &[u8]) -> Value {
        let hexes = |keys: &[Vec<u8>]| keys.iter().map(|key| hex(key)).collect::<Vec<_>>();
        let hash = if self.shape.hash() == Hash::Jenkins { "jenkins" } else { "murmur" };
        json!({
            "kind": self.kind, "bits": self.shape.bits(), "hashes": self.shape.hash_count(),
            "hash": hash, "rowKeys": self.row_keys, "keys": hexes(&self.keys),
            "removed": hexes(&self.removed), "asked": hexes(&self.asked), "read": hex(read),
        })
    }
}

/// Returns a key of 1 to 40 bytes, for every tail length of both hashes; Hadoop refuses the empty
/// key.
fn any_key(random: &mut Random) -> Vec<u8> {
    (0..=random.below(40)).map(|_| random.next_u64() as u8).collect()
}

/// Asks Hadoop about all sets in one call.
fn ask(questions: &[Value]) -> Vec<Value> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [sets, answers] = ["sets", "answers"].map(|name| directory.path().join(name));
    let lines: Vec<_> = questions.iter().map(|question| format!("{question}\n")).collect();
    fs::write(&sets, lines.concat()).expect("writable");
    let text = |path: &std::path::Path| path.to_str().expect("a UTF-8 path").to_owned();
    let answer = judge::ask(&["hadoop-filters", &text(&sets), "--out", &text(&answers)]);
    assert_eq!(answer["sets"], questions.len(), "{answer}");
    let answers = fs::read_to_string(answers).expect("the judge writes this file");
    answers.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn hadoop_writes_the_same_bytes_and_reads_ours() {
    if !judge::is_enabled("Hadoop's Bloom filters") {
        return;
    }
    let mut random = Random::new(26);
    for kind in KINDS {
        let sets: Vec<_> = (0..SETS).map(|_| Set::random(kind, &mut random)).collect();
        let ours: Vec<_> = sets.iter().map(Set::ours).collect();
        let questions: Vec<_> =
            sets.iter().zip(&ours).map(|(set, (bytes, ..))| set.question(bytes)).collect();
        let answers = ask(&questions);
        assert_eq!(answers.len(), SETS);
        for (at, ((bytes, maybe, counts), answer)) in ours.iter().zip(&answers).enumerate() {
            assert_eq!(answer["bytes"], hex(bytes), "{kind} {at}: {}", questions[at]);
            assert_eq!(answer["again"], hex(bytes), "{kind} {at}: {answer}");
            assert_eq!(answer["maybe"], maybe.as_str(), "{kind} {at}");
            assert_eq!(answer["counts"], json!(counts), "{kind} {at}");
            // Our reader gives Hadoop's bytes back, which are the same bytes.
            let again = match kind {
                "bloom" => BloomFilter::from_bytes(bytes).map(|filter| filter.to_bytes()),
                "counting" => {
                    CountingBloomFilter::from_bytes(bytes).map(|filter| filter.to_bytes())
                }
                _ => DynamicBloomFilter::from_bytes(bytes).map(|filter| filter.to_bytes()),
            };
            assert_eq!(again.as_ref(), Ok(bytes), "{kind} {at}");
        }
        say(&format!("equal to Hadoop's {kind} filter, and read by it: {SETS} of {SETS} key sets"));
    }
}

/// The unversioned form, which Hadoop reads, and wrong headers, which it refuses.
#[test]
fn filters_that_hadoop_refuses_are_refused() {
    if !judge::is_enabled("wrong heads of Hadoop's Bloom filters") {
        return;
    }
    let shape = Shape::new(75, 3, Hash::Jenkins).expect("in range");
    let row_keys = NonZeroU32::MIN;
    let keys = vec![b"row1".to_vec()];
    let set =
        Set { kind: "bloom", shape, row_keys, keys: keys.clone(), removed: vec![], asked: keys };
    let (bytes, ..) = set.ours();
    let old = [&bytes[4..8], &bytes[9..]].concat();
    let mut wrong = vec![bytes[..bytes.len() - 1].to_vec(), [bytes.as_slice(), &[0]].concat()];
    for (at, value) in [(0, 0x80), (3, 0xfe), (4, 0x80), (7, 0), (8, 2), (8, 0xff), (9, 0x80)] {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        wrong.push(bytes);
    }
    let questions: Vec<_> =
        [&old].into_iter().chain(&wrong).map(|bytes| set.question(bytes)).collect();
    let answers = ask(&questions);
    assert_eq!(
        answers[0]["again"],
        hex(&bytes),
        "the unversioned form is written as the versioned one"
    );
    let ours = BloomFilter::from_bytes(&old).map(|filter| filter.to_bytes());
    assert_eq!(ours, Ok(bytes));
    for (bytes, answer) in wrong.iter().zip(&answers[1..]) {
        assert!(answer["error"].is_string(), "{answer}");
        let ours: Result<_, NotHadoop> = BloomFilter::from_bytes(bytes);
        assert!(ours.is_err(), "{answer}");
    }
}
