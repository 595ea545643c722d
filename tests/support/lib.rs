//! What the tests across crates share.

pub mod cells;
pub mod disk;
pub mod fixtures;
pub mod judge;
pub mod mutants;
pub mod parts;
pub mod sound;
pub mod spec;

use std::io::Write;

/// Says something that is shown also where the test passes and its output is kept back.
pub fn say(what: &str) {
    let line = format!("{what}\n");
    // Where nobody can be told there is nobody to be told of that.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
