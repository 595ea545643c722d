//! `MurmurHash2` as HBase computes it: not the published hash.
//!
//! HBase's class adds the one to three bytes after the last whole word as Java `byte`s, which are
//! signed, so a tail byte of 0x80 or more sets all higher bits. Files depend on it.
//!
//! HBase: `org.apache.hadoop.hbase.util.MurmurHash`.

const MULTIPLIER: u32 = 0x5bd1_e995;

/// Words of a key that are mixed once for both of its hashes.
const SHORT: usize = 16;

/// Hashes `key`, starting from `seed`.
pub(crate) fn murmur2(key: &[u8], seed: u32) -> u32 {
    let (words, tail) = key.as_chunks();
    let hash = words.iter().fold(begin(key, seed), |hash, word| add(hash, mix(*word)));
    finish(hash, tail)
}

/// Hashes `key` as Hadoop's `org.apache.hadoop.util.hash.MurmurHash` does.
///
/// It differs from HBase's in the one to three bytes after the last whole word: the last of them is the
/// lowest, not the first.
pub(crate) fn hadoop_murmur(key: &[u8], seed: u32) -> u32 {
    let (words, tail) = key.as_chunks();
    let hash = words.iter().fold(begin(key, seed), |hash, word| add(hash, mix(*word)));
    let mut reversed = [0; 3];
    for (place, byte) in reversed.iter_mut().zip(tail.iter().rev()) {
        *place = *byte;
    }
    finish(hash, &reversed[..tail.len()])
}

/// Hashes `key` starting from 0, and once more starting from what that gave.
#[inline]
pub(crate) fn murmur2_twice(key: &[u8]) -> [u32; 2] {
    let (words, tail) = key.as_chunks();
    if words.len() > SHORT {
        let first = murmur2(key, 0);
        return [first, murmur2(key, first)];
    }
    let (mut mixed, mut first) = ([0; SHORT], begin(key, 0));
    for (mixed, word) in mixed.iter_mut().zip(words) {
        *mixed = mix(*word);
        first = add(first, *mixed);
    }
    let first = finish(first, tail);
    let mixed = &mixed[..words.len()];
    let second = mixed.iter().fold(begin(key, first), |hash, mixed| add(hash, *mixed));
    [first, finish(second, tail)]
}

/// Returns the hash before the first word. Java's array length is an `int`: no key there is longer.
#[inline]
fn begin(key: &[u8], seed: u32) -> u32 {
    seed ^ key.len() as u32
}

#[inline]
fn mix(word: [u8; 4]) -> u32 {
    let word = u32::from_le_bytes(word).wrapping_mul(MULTIPLIER);
    (word ^ word >> 24).wrapping_mul(MULTIPLIER)
}

#[inline]
fn add(hash: u32, mixed: u32) -> u32 {
    hash.wrapping_mul(MULTIPLIER) ^ mixed
}

#[inline]
fn finish(mut hash: u32, tail: &[u8]) -> u32 {
    if !tail.is_empty() {
        for (index, byte) in tail.iter().enumerate().rev() {
            let signed = i32::from(byte.cast_signed());
            hash ^= signed.cast_unsigned() << (8 * index);
        }
        hash = hash.wrapping_mul(MULTIPLIER);
    }

    hash ^= hash >> 13;
    hash = hash.wrapping_mul(MULTIPLIER);
    hash ^ (hash >> 15)
}
