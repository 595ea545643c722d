//! Damaged copies of bytes.

/// A generator of numbers: `SplitMix64`.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % limit as u64) as usize
    }

    /// Returns damaged bytes, and how they were damaged.
    pub(crate) fn mutant(&mut self, sound: &[u8]) -> (Vec<u8>, String) {
        let mut bytes = sound.to_vec();
        let at = self.below(bytes.len());
        let len = 1 + self.below(64.min(bytes.len() - at));
        let how = match self.below(6) {
            0 | 1 => {
                let bit = self.below(8);
                bytes[at] ^= 1 << bit;
                format!("bit {bit} of byte {at}")
            }
            2 => {
                bytes[at] = self.below(256) as u8;
                format!("byte {at} = {}", bytes[at])
            }
            3 => {
                bytes.truncate(at);
                format!("cut at {at}")
            }
            4 => {
                bytes.drain(at..at + len);
                format!("{len} bytes at {at} removed")
            }
            _ => {
                let copied = bytes[at..at + len].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, copied);
                format!("{len} bytes at {at} copied to {to}")
            }
        };
        (bytes, how)
    }
}
