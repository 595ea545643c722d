//! Filters under attack: damaged ones, and keys made by somebody who knows how they work.
//!
//! Whatever happens to a filter, the answers of the store stay right; all that an attacker can win
//! is time, and against a filter whose seed he does not know, not even that.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use filter::bloom::hbase::{HashPair, HashType};
use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BlockType, FilterUse, Reader, ReaderOptions};
use store::{Durability, FamilyOptions, Get, Put, Store, StoreOptions, WriteBatch};
use workload::Random;

const ROW_LEN: usize = 112;

/// A store with one file that has these rows.
fn store_of(directory: &Path, family: FamilyOptions, rows: &[Vec<u8>], used: FilterUse) -> Store {
    let options = StoreOptions::default().background(false).filter_use(used);
    let store = Store::open(directory, options).unwrap();
    store.create_family("f", family).unwrap();
    let mut batch = WriteBatch::new();
    for row in rows {
        batch.put(Put::new(row).column("f", "q", row));
    }
    store.write(batch, Durability::SkipWal).unwrap();
    store.flush().unwrap();
    store
}

fn random_rows(random: &mut Random, count: usize) -> Vec<Vec<u8>> {
    let mut row = || (0..ROW_LEN).map(|_| random.below(256) as u8).collect();
    (0..count).map(|_| row()).collect()
}

/// All of `members` are found, and none of `absent`; returns the strangers that the filter of
/// the file did not tell from members.
fn passed(store: &Store, members: &[Vec<u8>], absent: &[Vec<u8>]) -> Vec<Vec<u8>> {
    for row in members {
        assert_eq!(store.get(&Get::row(row)).unwrap()[0].value(), row.as_slice());
    }
    let passes = |row: &&Vec<u8>| {
        let (cells, trace) = store.get_traced(&Get::row(*row)).unwrap();
        assert!(cells.is_empty(), "a row that nobody wrote");
        trace.filter_false_positives > 0
    };
    absent.iter().filter(passes).cloned().collect()
}

/// Rows of equal length that HBase's Murmur hash gives the same value, whatever its seed.
///
/// `MurmurHash2` takes words of four bytes, one after the other, and mixes each on its own before
/// it gets to the state:
///
/// ```text
/// state = state × M ⊕ mix(word)          mix can be undone; M is odd
/// ```
///
/// Two words that differ in the top bit of their mixture give states that differ in the top bit
/// only, and still do after the next multiplication, since 2^31 × M = 2^31 mod 2^32; if the next
/// pair of words differs so too, the states are equal again. So of every eight bytes there are two
/// versions that nobody can tell apart (Aumasson and Bernstein, 2012).
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
    // The inverse modulo 2^32, by Newton's method: each step doubles the bits that are right.
    let inverse = (0..5).fold(MULTIPLIER, |inverse, _| {
        inverse.wrapping_mul(2_u32.wrapping_sub(MULTIPLIER.wrapping_mul(inverse)))
    });
    let word = word.wrapping_mul(inverse);
    (word ^ word >> 24).wrapping_mul(inverse)
}

fn with_filter(kind: FilterKind, rate: f64) -> FamilyOptions {
    let rate = ErrorRate::new(rate).unwrap();
    FamilyOptions::default().filter(Some((kind, Sizing::ErrorRate(rate)))).block_size(4 << 10)
}

#[test]
fn keys_that_collide_in_hbases_hash_slow_reads_down_and_change_no_answer() {
    let mut random = Random::new(1);
    let mut members = random_rows(&mut random, 4_000);
    let mut absent = colliding_rows(4_000);
    let hash = |row: &Vec<u8>| HashPair::new(HashType::Murmur, row);
    assert!(absent.iter().all(|row| hash(row) == hash(&absent[0])), "they all collide");
    // One of them in the file is enough.
    members.push(absent.pop().unwrap());
    let others = random_rows(&mut random, 4_000);

    let place = tempfile::tempdir().unwrap();
    let bloom = FamilyOptions::default();
    let store = store_of(&place.path().join("bloom"), bloom, &members, FilterUse::HBaseBloom);
    let misled = passed(&store, &members, &absent).len();
    // Some stand before the first row or behind the last, and no filter is asked.
    assert!(misled > absent.len() * 9 / 10, "the attack works: {misled}");
    assert!(passed(&store, &members, &others).len() < others.len() / 50, "on nobody else");

    for &kind in FilterKind::ALL {
        let family = with_filter(kind, 0.01);
        let store = store_of(&place.path().join(kind.name()), family, &members, FilterUse::Best);
        let misled = passed(&store, &members, &absent).len();
        // 40 are promised; five standard deviations more are 72.
        assert!(misled < 72, "{kind}: {misled} of {} that collide in Murmur", absent.len());
    }
}

#[test]
fn keys_made_for_a_filter_of_another_seed_mislead_no_more_than_others() {
    let mut random = Random::new(2);
    let members = random_rows(&mut random, 4_000);
    let absent = random_rows(&mut random, 8_000);
    let place = tempfile::tempdir().unwrap();
    for &kind in FilterKind::ALL {
        // Two stores of the same rows: each has drawn its seed at random.
        let store = |name: &str| {
            let directory = place.path().join(format!("{kind}-{name}"));
            store_of(&directory, with_filter(kind, 0.05), &members, FilterUse::Best)
        };
        // What the attacker knows to mislead the one…
        let known = store("known");
        let made = passed(&known, &[], &absent);
        assert!(made.len() > 8, "{kind}: {}", made.len());
        assert_eq!(passed(&known, &[], &made), made, "{kind}: they mislead it again");
        // …is to the other what any keys are.
        let misled = passed(&store("unknown"), &members, &made).len() as f64;
        let promised = made.len() as f64 * 0.05;
        let bound = promised + 5.0 * promised.sqrt();
        assert!(
            misled <= bound,
            "{kind}: {misled} of {} where {promised} are promised",
            made.len()
        );
    }
}

/// The only store file of a family.
fn file_of(store: &Path) -> PathBuf {
    let mut files = fs::read_dir(store.join("f")).unwrap().map(|entry| entry.unwrap().path());
    let file = files.next().unwrap();
    assert_eq!(files.next(), None);
    file
}

#[test]
fn a_filter_that_cannot_be_read_means_maybe_and_is_counted_and_reported() {
    let mut random = Random::new(3);
    let members = random_rows(&mut random, 2_000);
    let absent = random_rows(&mut random, 2_000);
    let place = tempfile::tempdir().unwrap();
    for (wanted, used) in [
        (BlockType::Meta, FilterUse::MetaFilter),
        (BlockType::BloomChunk, FilterUse::HBaseBloom),
        (BlockType::GeneralBloomMeta, FilterUse::HBaseBloom),
    ] {
        let directory = place.path().join(format!("{wanted}"));
        drop(store_of(&directory, with_filter(FilterKind::Ribbon, 0.01), &members, used));
        let path = file_of(&directory);
        let reader = Reader::open_file(&path, ReaderOptions::default()).unwrap();
        let mut blocks = reader.blocks().headers().map(Result::unwrap);
        let (at, _) = blocks.find(|(_, header)| header.block_type == wanted).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[usize::try_from(at.get()).unwrap() + 50] ^= 1;
        fs::write(&path, bytes).unwrap();

        let options = StoreOptions::default().background(false).filter_use(used);
        let store = Store::open(&directory, options).unwrap();
        assert!(passed(&store, &members, &absent).is_empty(), "no filter, no false positive");
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
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains(&format!("block at {at}")), "{wanted}: {said}");
        };
        verify(&["verify"], &path);
        verify(&["store", "verify"], &directory);
    }
}

/// A damaged filter of ours: counted and named by the store, and by the command, once.
#[test]
fn a_filter_that_cannot_be_used_is_named_in_the_stats() {
    let directory = tempfile::tempdir().unwrap();
    let rows = random_rows(&mut Random::new(3), 50);
    let filter = (FilterKind::BlockedBloom, Sizing::ErrorRate(ErrorRate::new(0.01).unwrap()));
    let family = FamilyOptions::default().filter(Some(filter));
    drop(store_of(directory.path(), family, &rows, FilterUse::Best));
    let path = fs::read_dir(directory.path().join("f")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&path).unwrap();
    let meta = bytes.windows(8).position(|magic| magic == b"METABLKc").unwrap();
    bytes[meta + 40] ^= 1;
    fs::write(&path, bytes).unwrap();
    let store = Store::open_read_only(directory.path(), StoreOptions::default()).unwrap();
    assert!(store.stats().filter_problems.is_empty(), "it was not asked yet");
    for row in &rows {
        assert_eq!(store.get(&Get::row(row)).unwrap().len(), 1);
    }
    let problems = store.stats().filter_problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].family, "f");
    assert_eq!(Some(&*problems[0].file), path.file_name().unwrap().to_str());
    assert!(problems[0].what.contains(&format!("at {meta:#x}")), "{problems:?}");
}
