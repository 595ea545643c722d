//! The inner loops in plain Rust: right on every machine, and what vector code must agree with.

/// A cache line: a block of a blocked Bloom filter.
pub(crate) type Line = [u8; 64];

/// The most bits that a key can set in a line.
pub(crate) const LINE_PROBES_MAX: u32 = 32;

/// 2^32 divided by the golden ratio, whose multiples spread most evenly, to the powers 1 to 32.
pub(crate) const LINE_MULTIPLIERS: [u32; LINE_PROBES_MAX as usize] = {
    let mut powers = [0x9e37_79b9_u32; LINE_PROBES_MAX as usize];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = powers[index - 1].wrapping_mul(0x9e37_79b9);
        index += 1;
    }
    powers
};

/// Returns the positions in a line, 0 to 511, of the first `probes` bits of a key.
///
/// `RocksDB`'s `FastLocalBloom` multiplies 32 bits of the hash by a power of the golden ratio for
/// each probe, and takes the upper nine bits of the product. Here even and odd probes start from
/// different 32 bits, so that the whole hash counts, which matters below an error rate of 1e-7; both
/// are odd numbers, whose products do not run out of bits.
fn line_bits(hash: u64, probes: u32) -> impl Iterator<Item = usize> {
    let (even, odd) = line_seeds(hash);
    let multipliers = LINE_MULTIPLIERS.iter().take(probes as usize);
    multipliers.enumerate().map(move |(index, multiplier)| {
        let seed = if index.is_multiple_of(2) { even } else { odd };
        (seed.wrapping_mul(*multiplier) >> 23) as usize
    })
}

/// Returns the numbers that even and odd probes start from. The hash is multiplied once more, since
/// its upper bits have already picked the line.
pub(crate) const fn line_seeds(hash: u64) -> (u32, u32) {
    let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 0x1_0000_0001;
    (mixed as u32, (mixed >> 32) as u32)
}

/// Returns whether a line has all bits of a key.
pub(crate) fn line_contains(line: &Line, hash: u64, probes: u32) -> bool {
    line_bits(hash, probes).all(|bit| line[bit / 8] & (1 << (bit % 8)) != 0)
}

/// Sets all bits of a key in a line.
pub(crate) fn line_insert(line: &mut Line, hash: u64, probes: u32) {
    for bit in line_bits(hash, probes) {
        line[bit / 8] |= 1 << (bit % 8);
    }
}
