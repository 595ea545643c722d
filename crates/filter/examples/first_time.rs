//! Prints each line of the standard input the first time that it comes.
//!
//! The lines are not kept: ten million of them take 18 MB. One line in a thousand may be missing.
//!
//! ```text
//! cargo run -p hfile-filter --example first_time < access.log
//! ```
#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;
use std::io;

use filter::{Blocked, Sizing};

fn main() -> Result<(), Box<dyn Error>> {
    let mut seen = Blocked::new(Sizing::error_rate(0.001)?, 10_000_000)?;
    for line in io::stdin().lines() {
        let line = line?;
        if !seen.may_contain(&line) {
            seen.insert(&line)?;
            println!("{line}");
        }
    }
    Ok(())
}
