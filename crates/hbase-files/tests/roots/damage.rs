//! Damaged copies of bytes.

use support::Random;

/// Returns damaged bytes, and how they were damaged.
pub(crate) fn mutant(random: &mut Random, sound: &[u8]) -> (Vec<u8>, String) {
    let mut bytes = sound.to_vec();
    let at = random.below(bytes.len());
    let len = 1 + random.below(64.min(bytes.len() - at));
    let how = match random.below(6) {
        0 | 1 => {
            let bit = random.below(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at}")
        }
        2 => {
            bytes[at] = random.below(256) as u8;
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
            let to = random.below(bytes.len());
            bytes.splice(to..to, copied);
            format!("{len} bytes at {at} copied to {to}")
        }
    };
    (bytes, how)
}
