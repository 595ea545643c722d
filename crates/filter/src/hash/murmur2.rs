//! `MurmurHash2` as HBase computes it, which differs from the published hash.
//!
//! `MurmurHash2` reads a key in words of four bytes. HBase mixes the one to three bytes after the
//! last whole word (the tail) into the hash as Java `byte`s. These are signed: a tail byte of 0x80
//! or more is sign-extended to 32 bits, so that it flips all higher bits of the hash as well. The
//! Bloom filters in HBase's files are built with this hash.
//!
//! HBase: `org.apache.hadoop.hbase.util.MurmurHash`.

const MULTIPLIER: u32 = 0x5bd1_e995;

/// The maximum number of words in a key for which `murmur2_twice` keeps the mixed words.
const WORDS_MIXED_ONCE: usize = 16;

/// Hashes a key.
pub(crate) fn murmur2(key: &[u8], seed: u32) -> u32 {
    let (words, tail) = key.as_chunks();
    let hash = words.iter().fold(begin(key, seed), |hash, word| add(hash, mix(*word)));
    finish(hash, tail)
}

/// Hashes a key with seed 0, and then again with the first hash as the seed.
///
/// The seed does not affect the mixing of words. The words of a short key are therefore mixed once,
/// kept, and used for both hashes.
#[inline]
pub(crate) fn murmur2_twice(key: &[u8]) -> [u32; 2] {
    let (words, tail) = key.as_chunks();
    if words.len() > WORDS_MIXED_ONCE {
        let first = murmur2(key, 0);
        return [first, murmur2(key, first)];
    }
    let (mut mixed, mut first) = ([0; WORDS_MIXED_ONCE], begin(key, 0));
    for (mixed, word) in mixed.iter_mut().zip(words) {
        *mixed = mix(*word);
        first = add(first, *mixed);
    }
    let first = finish(first, tail);
    let mixed = &mixed[..words.len()];
    let second = mixed.iter().fold(begin(key, first), |hash, mixed| add(hash, *mixed));
    [first, finish(second, tail)]
}

/// Returns the initial state of the hash.
///
/// Truncating the length to 32 bits loses nothing: HBase hashes Java arrays, which have fewer than
/// 2^31 bytes.
fn begin(key: &[u8], seed: u32) -> u32 {
    seed ^ key.len() as u32
}

#[inline]
fn mix(word: [u8; 4]) -> u32 {
    let word = u32::from_le_bytes(word).wrapping_mul(MULTIPLIER);
    (word ^ word >> 24).wrapping_mul(MULTIPLIER)
}

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
