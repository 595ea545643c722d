//! Filters under attack: damaged filters, and keys chosen by an attacker who knows the filter.
//!
//! The answers of the store stay right. An attacker can only slow reads down, and only if he knows
//! the seed of the filter.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use filter::hbase::{HashPair, HashType};
use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BlockType, BloomType, Reader, ReaderOptions};
use store::{Durability, FamilyOptions, Get, Put, Store, StoreOptions, WriteBatch};
use support::Random;

const ROW_LEN: usize = 112;

/// Makes a store with one file of these rows.
fn store_of(directory: &Path, family: FamilyOptions, rows: &[Vec<u8>]) -> Store {
    let store = Store::open(directory, StoreOptions::default().background(false)).unwrap();
    store.create_family("f", family).unwrap();
    let mut batch = WriteBatch::new();
    for row in rows {
        batch.put(Put::new(row).column("f", "q", row));
    }
    store.write(batch, Durability::Skip).unwrap();
    store.flush().unwrap();
    store
}

fn random_rows(random: &mut Random, count: usize) -> Vec<Vec<u8>> {
    let mut row = || (0..ROW_LEN).map(|_| random.below(256) as u8).collect();
    (0..count).map(|_| row()).collect()
}

/// Checks that all `members` and none of `absent` are found; returns the false positives of the
/// filter.
fn passed(store: &Store, members: &[Vec<u8>], absent: &[Vec<u8>]) -> Vec<Vec<u8>> {
    for row in members {
        assert_eq!(store.get(&Get::row(row)).unwrap()[0].value(), row.as_slice());
    }
    let passes = |row: &&Vec<u8>| {
        let (cells, trace) = store.get_traced(&Get::row(*row)).unwrap();
        assert!(cells.is_empty(), "an absent row was found");
        trace.filter_false_positives > 0
    };
    absent.iter().filter(passes).cloned().collect()
}

/// Returns rows of equal length with equal Murmur hashes for every seed.
///
/// `MurmurHash2` reads words of four bytes and mixes each independently of the state:
///
/// ```text
/// state = state × M ⊕ mix(word)          mix is invertible; M is odd
/// ```
///
/// Two words whose mixed values differ only in the top bit give states that differ only in the top
/// bit. The difference survives the next multiplication, because 2^31 × M = 2^31 mod 2^32. If the
/// next pair of words differs in the same way, the states are equal again. So every eight bytes
/// have two variants with the same hash (Aumasson and Bernstein, 2012).
fn colliding_rows(count: usize) -> Vec<Vec<u8>> {
    let template = random_rows(&mut Random::new(7), 1).remove(0);
    let (words, _) = template.as_chunks();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let row = |number: usize| {
        let word = |at: usize| {
            let is_other = number >> (at / 2) & 1 == 1;
            let word = if is_other { unmixed(mixed(words[at]) ^ 1 << 31) } else { words[at] };
            word.to_le_bytes()
        };
        (0..words.len()).flat_map(word).collect()
    };
    (0..count).map(row).collect()
}

const MULTIPLIER: u32 = 0x5bd1_e995;

fn mixed(word: u32) -> u32 {
    let word = word.wrapping_mul(MULTIPLIER);
    (word ^ word >> 24).wrapping_mul(MULTIPLIER)
}

fn unmixed(word: u32) -> u32 {
    // The inverse modulo 2^32 by Newton's method: each step doubles the number of correct bits.
    let inverse = (0..5).fold(MULTIPLIER, |inverse, _| {
        inverse.wrapping_mul(2_u32.wrapping_sub(MULTIPLIER.wrapping_mul(inverse)))
    });
    let word = word.wrapping_mul(inverse);
    (word ^ word >> 24).wrapping_mul(inverse)
}

fn with_filter(kind: FilterKind, rate: f64) -> FamilyOptions {
    let rate = ErrorRate::new(rate).unwrap();
    FamilyOptions::default().filter(kind, Sizing::ErrorRate(rate)).block_size(4 << 10)
}

#[test]
fn keys_that_collide_in_hbases_hash_slow_reads_and_change_no_answer() {
    let mut random = Random::new(1);
    let mut members = random_rows(&mut random, 4_000);
    let mut absent = colliding_rows(4_000);
    let hash = |row: &Vec<u8>| HashPair::new(HashType::Murmur, row);
    assert!(absent.iter().all(|row| hash(row) == hash(&absent[0])), "all hashes are equal");
    // One of them in the file makes all others false positives.
    members.push(absent.pop().unwrap());
    let others = random_rows(&mut random, 4_000);

    let place = tempfile::tempdir().unwrap();
    let bloom = FamilyOptions::default();
    let store = store_of(&place.path().join("bloom"), bloom, &members);
    let false_positives = passed(&store, &members, &absent).len();
    // Rows before the first or after the last row of the file reach no filter.
    assert!(false_positives > absent.len() * 9 / 10, "only {false_positives} false positives");
    assert!(
        passed(&store, &members, &others).len() < others.len() / 50,
        "other rows are not affected"
    );

    for &kind in FilterKind::IN_FILES {
        let family = with_filter(kind, 0.01);
        let store = store_of(&place.path().join(kind.name()), family, &members);
        let false_positives = passed(&store, &members, &absent).len();
        // 40 are expected; the limit is five standard deviations higher.
        assert!(
            false_positives < 72,
            "{kind}: {false_positives} of {} that collide in Murmur",
            absent.len()
        );
    }
}

#[test]
fn keys_chosen_for_another_seed_cause_no_more_false_positives_than_others() {
    let mut random = Random::new(2);
    let members = random_rows(&mut random, 4_000);
    let absent = random_rows(&mut random, 8_000);
    let place = tempfile::tempdir().unwrap();
    for &kind in FilterKind::IN_FILES {
        // Two stores of the same rows with different random seeds.
        let store = |name: &str| {
            let directory = place.path().join(format!("{kind}-{name}"));
            store_of(&directory, with_filter(kind, 0.05), &members)
        };
        // The attacker finds keys that are false positives in one store…
        let known = store("known");
        let made = passed(&known, &[], &absent);
        assert!(made.len() > 8, "{kind}: {}", made.len());
        assert_eq!(passed(&known, &[], &made), made, "{kind}: the same false positives");
        // …which are ordinary absent keys in the other.
        let false_positives = passed(&store("unknown"), &members, &made).len() as f64;
        let promised = made.len() as f64 * 0.05;
        let bound = promised + 5.0 * promised.sqrt();
        assert!(
            false_positives <= bound,
            "{kind}: {false_positives} of {} where {promised} are promised",
            made.len()
        );
    }
}

/// Returns the only store file of a family.
fn file_of(store: &Path) -> PathBuf {
    let mut files = fs::read_dir(store.join("f")).unwrap().map(|entry| entry.unwrap().path());
    let file = files.next().unwrap();
    assert_eq!(files.next(), None);
    file
}

#[test]
fn an_unreadable_filter_means_maybe_and_is_counted_and_reported() {
    let mut random = Random::new(3);
    let members = random_rows(&mut random, 2_000);
    let absent = random_rows(&mut random, 2_000);
    let place = tempfile::tempdir().unwrap();
    let ours = with_filter(FilterKind::Ribbon, 0.01).bloom_type(BloomType::None);
    let hbases = ours.clone().bloom_type(BloomType::Row).no_filter();
    for (wanted, family) in [
        (BlockType::Meta, &ours),
        (BlockType::BloomChunk, &hbases),
        (BlockType::GeneralBloomMeta, &hbases),
    ] {
        let directory = place.path().join(format!("{wanted}"));
        drop(store_of(&directory, family.clone(), &members));
        let path = file_of(&directory);
        let reader = Reader::open_file(&path, ReaderOptions::default()).unwrap();
        let mut blocks = reader.blocks().headers().map(Result::unwrap);
        let (at, _) = blocks.find(|(_, header)| header.block_type == wanted).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[usize::try_from(at.get()).unwrap() + 50] ^= 1;
        fs::write(&path, bytes).unwrap();

        let options = StoreOptions::default().background(false);
        let store = Store::open(&directory, options).unwrap();
        assert!(
            passed(&store, &members, &absent).is_empty(),
            "without a filter there are no false positives"
        );
        let reads = &store.stats().families[0].reads;
        let asked = (members.len() + absent.len()) as u64;
        let unreadable = reads.filters_unreadable;
        assert!((asked * 9 / 10..=asked).contains(&unreadable), "{wanted}: {unreadable}");
        assert_eq!(reads.files_skipped_by_filter, 0, "{wanted}");
        drop(store);

        let verify = |verb: &[&str], path: &Path| {
            let mut hfile = Command::new(env!("CARGO_BIN_EXE_hfile"));
            let output = hfile.args(verb).arg(path).output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{wanted}: {verb:?}");
            let output = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.contains(&format!("block at {at}")), "{wanted}: {output}");
        };
        verify(&["verify"], &path);
        verify(&["store", "verify"], &directory);
    }
}

/// A damaged row filter: the store counts and names it, and `verify` names it once.
#[test]
fn an_unusable_filter_is_named_in_the_stats() {
    let directory = tempfile::tempdir().unwrap();
    let rows = random_rows(&mut Random::new(3), 50);
    let sizing = Sizing::ErrorRate(ErrorRate::new(0.01).unwrap());
    let family = FamilyOptions::default().filter(FilterKind::BlockedBloom, sizing);
    drop(store_of(directory.path(), family, &rows));
    let path = fs::read_dir(directory.path().join("f")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&path).unwrap();
    let meta = bytes.windows(8).position(|magic| magic == b"METABLKc").unwrap();
    bytes[meta + 40] ^= 1;
    fs::write(&path, bytes).unwrap();
    let store = Store::open_read_only(directory.path(), StoreOptions::default()).unwrap();
    assert!(store.stats().filter_problems.is_empty(), "the filter is not read yet");
    for row in &rows {
        assert_eq!(store.get(&Get::row(row)).unwrap().len(), 1);
    }
    let problems = store.stats().filter_problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].family, "f");
    assert_eq!(Some(&*problems[0].file), path.file_name().unwrap().to_str());
    assert!(problems[0].what.contains(&format!("at {meta:#x}")), "{problems:?}");
}
