//! What the tests across crates share.

pub mod cells;
pub mod disk;
pub mod fixtures;
pub mod foreign;
pub mod judge;
pub mod mutants;
pub mod parts;
pub mod people;
pub mod read_only;
pub mod sound;
pub mod spec;
pub mod store_parts;
pub mod ways;

use std::fmt::Write as _;
use std::io::Write;

/// Says something that is shown also where the test passes and its output is kept back.
pub fn say(what: &str) {
    let line = format!("{what}\n");
    // Where nobody can be told there is nobody to be told of that.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The CRC-32 of bytes.
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Bytes in lower-case hex, as in the cells format.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // A string takes everything.
        hex
    })
}
