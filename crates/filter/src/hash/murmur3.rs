//! `MurmurHash3_x86_32` as published, by the `murmur3` crate. HBase: `MurmurHash3`.

/// Hashes a key.
pub(crate) fn murmur3(mut key: &[u8], seed: u32) -> u32 {
    murmur3::murmur3_32(&mut key, seed).expect("reading from a slice does not fail")
}
