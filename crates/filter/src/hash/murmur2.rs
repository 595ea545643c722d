//! `MurmurHash2` as HBase computes it: not the published hash.
//!
//! HBase's class adds the one to three bytes after the last whole word as Java `byte`s, which are
//! signed, so a tail byte of 0x80 or more sets all higher bits. Files depend on it.
//!
//! HBase: `org.apache.hadoop.hbase.util.MurmurHash`.

const MULTIPLIER: u32 = 0x5bd1_e995;

/// Hashes `key`, starting from `seed`.
pub(crate) fn murmur2(key: &[u8], seed: u32) -> u32 {
    // Java's array length is an `int`; a longer key cannot exist there.
    let mut hash = seed ^ key.len() as u32;

    let mut words = key.chunks_exact(4);
    for chunk in &mut words {
        let mut four = [0; 4];
        four.copy_from_slice(chunk);
        let mut word = u32::from_le_bytes(four).wrapping_mul(MULTIPLIER);
        word ^= word >> 24;
        hash = hash.wrapping_mul(MULTIPLIER) ^ word.wrapping_mul(MULTIPLIER);
    }

    let tail = words.remainder();
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
