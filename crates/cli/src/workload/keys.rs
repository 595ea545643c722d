//! Present and absent keys for benchmarks.
//!
//! Keys are in random order, and each file gets a section of the list. The key ranges of the files
//! therefore overlap almost completely, as in a store with unordered writes. Absent keys lie inside
//! the key range of every file, so that a get can skip a file only by its filter.

use std::collections::HashSet;
use std::io::BufRead;
use std::ops::Range;

use anyhow::{Context, bail};

use super::random::Random;

/// A list of keys whose bytes share one allocation.
#[derive(Clone, Debug, Default)]
pub struct KeyList {
    /// All keys, concatenated.
    bytes: Vec<u8>,
    /// The end of each key in `bytes`.
    ends: Vec<usize>,
}

impl KeyList {
    /// Adds a key at the end.
    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the key at an index.
    pub fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// Iterates over all keys, by ascending index.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.key(index))
    }

    /// The total size of all keys in bytes.
    pub fn total_bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// The relative sizes of files: a file with twice the weight gets twice as many keys.
#[derive(Clone, Debug)]
pub struct FileWeights {
    /// Prefix sums of the weights, starting at 0; the last is the total.
    sums: Vec<u64>,
}

impl FileWeights {
    /// Returns weights for `files` files: the ratios in turn, from the first again after the last.
    pub fn from_ratios(files: usize, ratios: &[u64]) -> Self {
        let mut sums = vec![0];
        let mut sum = 0;
        for ratio in ratios.iter().cycle().take(files) {
            sum += ratio;
            sums.push(sum);
        }
        Self { sums }
    }

    const fn files(&self) -> usize {
        self.sums.len() - 1
    }
}

impl From<usize> for FileWeights {
    /// Returns equal weights for `files` files.
    fn from(files: usize) -> Self {
        Self::from_ratios(files, &[1])
    }
}

/// The keys that a benchmark loads, and absent keys for gets.
pub struct KeySet {
    /// Loaded keys, in load order.
    pub present: KeyList,
    /// Keys that are not loaded, inside the key range of every file.
    pub absent: KeyList,
    weights: FileWeights,
}

impl KeySet {
    /// Generates `rows` present keys and `absent_count` absent keys from a seed.
    pub fn generate(
        rows: usize,
        files: impl Into<FileWeights>,
        absent_count: usize,
        seed: u64,
    ) -> Self {
        let mut present = KeyList::default();
        for index in 0..rows {
            present.push(&super::random::key(seed, index as u64));
        }
        let weights = at_least_one_key_per_file(files.into(), rows);
        let mut set = Self { present, absent: KeyList::default(), weights };
        let (first, last) = set.common_range();
        let mut absent = KeyList::default();
        // Different indexes give different keys, and all present keys have smaller indexes.
        for index in rows as u64.. {
            if absent.len() == absent_count {
                break;
            }
            let key = super::random::key(seed, index);
            if (&first[..]..=&last[..]).contains(&&key[..]) {
                absent.push(&key);
            }
        }
        set.absent = absent;
        set
    }

    /// Reads up to `rows_max` distinct keys, one per line, and derives `absent_count` absent keys.
    ///
    /// Empty lines are skipped. If the keys are dense, there may be fewer absent keys.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, a key is longer than a row may be, there are fewer than two keys, or there is no
    /// room for absent keys between them.
    pub fn read(
        input: impl BufRead,
        rows_max: usize,
        files: impl Into<FileWeights>,
        absent_count: usize,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let mut keys = HashSet::new();
        for (line, number) in input.split(b'\n').zip(1_u64..) {
            let mut line =
                line.with_context(|| format!("cannot read line {number} of the keys"))?;
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if line.is_empty() {
                continue;
            }
            if line.len() > sstable::KeyRef::ROW_LEN_MAX {
                bail!("a key of {} bytes exceeds the maximum length of a row", line.len());
            }
            keys.insert(line);
            if keys.len() == rows_max {
                break;
            }
        }
        if keys.len() < 2 {
            bail!("at least two distinct keys are needed, one per line; found {}", keys.len());
        }
        // A hash set iterates in random order: sort first, so that a seed gives reproducible runs.
        let mut order: Vec<&Vec<u8>> = keys.iter().collect();
        order.sort_unstable();
        Random::new(seed).shuffle(&mut order);
        let mut present = KeyList::default();
        for key in order {
            present.push(key);
        }
        let weights = at_least_one_key_per_file(files.into(), present.len());
        let mut set = Self { present, absent: KeyList::default(), weights };
        set.absent = set.derive_absent_keys(&keys, absent_count, seed)?;
        Ok(set)
    }

    /// Returns the indexes of the keys of a file.
    pub fn file_range(&self, file: usize) -> Range<usize> {
        let sums = &self.weights.sums;
        let all = u128::from(sums[sums.len() - 1]);
        // The result is at most the number of keys, so it fits.
        let [start, end] = [sums[file], sums[file + 1]]
            .map(|sum| (u128::from(sum) * self.present.len() as u128 / all) as usize);
        start..end
    }

    /// The number of files.
    pub const fn files(&self) -> usize {
        self.weights.files()
    }

    /// Returns the first and last key of the intersection of all files' key ranges.
    ///
    /// If the intersection has fewer than two keys, as with tiny files, returns the range of all
    /// keys.
    fn common_range(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut firsts, mut lasts) = (Vec::new(), Vec::new());
        for file in 0..self.files() {
            let keys = self.file_range(file).map(|index| self.present.key(index));
            firsts.extend(keys.clone().min());
            lasts.extend(keys.max());
        }
        firsts.sort_unstable();
        lasts.sort_unstable();
        let inner = [firsts.last(), lasts.first()].map(|key| key.copied().unwrap_or_default());
        let outer = [firsts.first(), lasts.last()].map(|key| key.copied().unwrap_or_default());
        let [first, last] = if inner[0] < inner[1] { inner } else { outer };
        (first.to_owned(), last.to_owned())
    }

    /// Derives up to `count` keys in the common range, not in `members`, with [`mutate`].
    ///
    /// Fails if no such key is found.
    fn derive_absent_keys(
        &self,
        members: &HashSet<Vec<u8>>,
        count: usize,
        seed: u64,
    ) -> anyhow::Result<KeyList> {
        let (first, last) = self.common_range();
        let mut random = Random::new(!seed);
        let mut derived = HashSet::new();
        let mut absent = KeyList::default();
        // At most 1000 attempts per absent key: between few or dense keys there is little room.
        for _ in 0..count.saturating_mul(1000) {
            if absent.len() == count {
                return Ok(absent);
            }
            let key = mutate(&self.present, &mut random);
            let inside = first <= key && key <= last;
            if inside && !members.contains(&key) && derived.insert(key.clone()) {
                absent.push(&key);
            }
        }
        if absent.is_empty() {
            bail!("cannot derive absent keys: the given keys are too few or too dense");
        }
        Ok(absent)
    }
}

/// Returns the weights, or `keys` equal weights if there are more files than keys.
fn at_least_one_key_per_file(weights: FileWeights, keys: usize) -> FileWeights {
    if weights.files() > keys { FileWeights::from(keys) } else { weights }
}

/// Returns a copy of a random key with one byte inserted or replaced, at a random position.
///
/// The new byte is a random byte of a random key, so that the result resembles the keys.
pub fn mutate(keys: &KeyList, random: &mut Random) -> Vec<u8> {
    let mut key = keys.key(random.below(keys.len())).to_owned();
    let donor = keys.key(random.below(keys.len()));
    let byte = if donor.is_empty() { b'0' } else { donor[random.below(donor.len())] };
    let at = random.below(key.len() + 1);
    if at < key.len() && random.below(2) == 0 {
        key[at] = byte;
    } else {
        key.insert(at, byte);
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside_every_file(set: &KeySet) -> bool {
        (0..set.files()).all(|file| {
            let keys = set.file_range(file).map(|index| set.present.key(index));
            let first = keys.clone().min().expect("a file has keys");
            let last = keys.max().expect("a file has keys");
            set.absent.iter().all(|key| first <= key && key <= last)
        })
    }

    #[test]
    fn generated_absent_keys_lie_in_the_range_of_every_file() {
        let set = KeySet::generate(5_000, 16, 2_000, 1);
        assert_eq!((set.present.len(), set.absent.len(), set.files()), (5_000, 2_000, 16));
        let members: HashSet<_> = set.present.iter().collect();
        assert!(set.absent.iter().all(|key| !members.contains(key)));
        assert!(inside_every_file(&set));
    }

    #[test]
    fn derived_absent_keys_lie_in_the_range_of_every_file() {
        let words: Vec<String> = (0..3_000).map(|word| format!("word{}", word * 7)).collect();
        let lines = words.join("\n");
        let input = format!("{lines}\n{lines}\n\n\r\n");
        let set = KeySet::read(input.as_bytes(), usize::MAX, 8, 1_000, 1).expect("sound keys");
        assert_eq!((set.present.len(), set.absent.len()), (3_000, 1_000));
        let members: HashSet<_> = set.present.iter().collect();
        assert!(set.absent.iter().all(|key| !members.contains(key)));
        assert!(inside_every_file(&set));
    }

    #[test]
    fn keys_are_divided_by_the_weights_of_files() {
        let set = KeySet::generate(10, 4, 0, 1);
        let sizes: Vec<usize> = (0..4).map(|file| set.file_range(file).len()).collect();
        assert_eq!(sizes, [2, 3, 2, 3]);
        assert_eq!(KeySet::generate(2, 16, 0, 1).files(), 2);
        let uneven = KeySet::generate(850, FileWeights::from_ratios(5, &[1, 4, 16, 64]), 0, 1);
        let sizes: Vec<usize> = (0..5).map(|file| uneven.file_range(file).len()).collect();
        assert_eq!(sizes, [9, 40, 158, 633, 10]);
    }

    #[test]
    fn too_few_keys_are_refused() {
        assert!(KeySet::read(&b"one\n"[..], 10, 2, 10, 1).is_err());
        assert!(KeySet::read(&b"a\na\n\n"[..], 10, 2, 10, 1).is_err());
    }
}
