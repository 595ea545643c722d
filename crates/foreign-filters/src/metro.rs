//! `MetroHash64`, J. Andrew Rogers' hash, in its published final form.
//!
//! The Go cuckoo filter hashes with it. Words are read as little-endian; all arithmetic wraps.
//! Source: <https://github.com/jandrewrogers/MetroHash>.

const K0: u64 = 0xd6d0_18f5;
const K1: u64 = 0xa2aa_033b;
const K2: u64 = 0x6299_2fc1;
const K3: u64 = 0x30bc_5b29;

/// Hashes a key.
pub(crate) fn metro64(key: &[u8], seed: u64) -> u64 {
    let mut hash = seed.wrapping_add(K2).wrapping_mul(K0);

    let (blocks, rest) = key.as_chunks::<32>();
    if !blocks.is_empty() {
        hash = hash.wrapping_add(hash_blocks(blocks, hash));
    }
    let (pairs, rest) = rest.as_chunks::<16>();
    for pair in pairs {
        let (words, _) = pair.as_chunks::<8>();
        let mut lanes = [0; 2];
        for (lane, word) in lanes.iter_mut().zip(words) {
            let word = u64::from_le_bytes(*word).wrapping_mul(K2);
            *lane = hash.wrapping_add(word).rotate_right(29).wrapping_mul(K3);
        }
        let [mut a, mut b] = lanes;
        a ^= a.wrapping_mul(K0).rotate_right(21).wrapping_add(b);
        b ^= b.wrapping_mul(K3).rotate_right(21).wrapping_add(a);
        hash = hash.wrapping_add(b);
    }
    let (words, rest) = rest.as_chunks::<8>();
    for word in words {
        hash = add_tail_word(hash, u64::from_le_bytes(*word), 55);
    }
    let (words, rest) = rest.as_chunks::<4>();
    for word in words {
        hash = add_tail_word(hash, u32::from_le_bytes(*word).into(), 26);
    }
    let (words, rest) = rest.as_chunks::<2>();
    for word in words {
        hash = add_tail_word(hash, u16::from_le_bytes(*word).into(), 48);
    }
    for byte in rest {
        hash = add_tail_word(hash, (*byte).into(), 37);
    }

    hash ^= hash.rotate_right(28);
    hash = hash.wrapping_mul(K0);
    hash ^ hash.rotate_right(29)
}

/// Hashes the whole blocks of 32 bytes in four lanes.
fn hash_blocks(blocks: &[[u8; 32]], start: u64) -> u64 {
    let mut lanes = [start; 4];
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (index, (word, factor)) in words.iter().zip([K0, K1, K2, K3]).enumerate() {
            let word = u64::from_le_bytes(*word).wrapping_mul(factor);
            // Lanes 0 and 1 add lanes 2 and 3 of the previous block, lanes 2 and 3 the new 0 and 1.
            let other = lanes[index ^ 2];
            lanes[index] = lanes[index].wrapping_add(word).rotate_right(29).wrapping_add(other);
        }
    }
    let [mut a, mut b, mut c, mut d] = lanes;
    let mixed = |x: u64, y: u64, z: u64, inner: u64, outer: u64| {
        let sum = x.wrapping_add(y).wrapping_mul(inner).wrapping_add(z);
        sum.rotate_right(37).wrapping_mul(outer)
    };
    c ^= mixed(a, d, b, K0, K1);
    d ^= mixed(b, c, a, K1, K0);
    a ^= mixed(a, c, d, K0, K1);
    b ^= mixed(b, d, c, K1, K0);
    a ^ b
}

/// Mixes in a tail word of 8, 4, 2 or 1 bytes. The rotation depends on its size.
fn add_tail_word(hash: u64, word: u64, rotation: u32) -> u64 {
    let hash = hash.wrapping_add(word.wrapping_mul(K3));
    hash ^ hash.rotate_right(rotation).wrapping_mul(K1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_published_vectors() {
        let key = b"012345678901234567890123456789012345678901234567890123456789012";
        assert_eq!(metro64(key, 0), u64::from_le_bytes(*b"\x6b\x75\x3d\xae\x06\x70\x4b\xad"));
        assert_eq!(metro64(key, 1), u64::from_le_bytes(*b"\x3b\x0d\x48\x1c\xf4\xb9\xb8\xdf"));
    }

    /// From the Go package `go-metro`, with the seed of the Go cuckoo filter. The lengths reach all
    /// branches.
    #[test]
    fn hashes_are_those_of_go_metro() {
        let vectors = [
            (0, 0xe2f7_00c7_be59_6c30),
            (1, 0x95ab_6efa_f3b8_60e2),
            (2, 0x1619_6b60_24d2_9e65),
            (4, 0x9e29_bc12_d77b_5b28),
            (7, 0xfe5e_aae6_9598_57e6),
            (8, 0x23ac_6908_6ae8_d466),
            (15, 0xb533_fbd2_bbb7_c4ef),
            (16, 0xe2ca_1737_6429_4a35),
            (24, 0xea03_3ba7_eae8_a17f),
            (31, 0x1e70_2248_2e4e_9299),
            (32, 0x5d66_a056_182b_5585),
            (33, 0xf951_0d2a_46c8_2440),
            (64, 0x3a55_f2bd_77f6_dce1),
            (79, 0x0bb8_170c_7e93_bfbd),
        ];
        for (len, expected) in vectors {
            let key: alloc::vec::Vec<u8> = (0..len).map(|at| (at * 37 + len) as u8).collect();
            assert_eq!(metro64(&key, 1337), expected, "{len} bytes");
        }
    }
}
