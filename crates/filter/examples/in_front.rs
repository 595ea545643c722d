//! Puts a filter in front of a slow lookup, and saves it beside the data.
//!
//! The "database" is a text file of keys, one a line, which is searched from its start. The filter
//! is kept in `FILE.filter`; it is built at the first run, and later runs load it.
//!
//! ```text
//! cargo run -p hfile-filter --example in_front -- FILE KEY...
//! ```

use std::error::Error;
use std::{env, fs};

use filter::{BinaryFuse, Seed, SeededHashes, Sizing, StoredFilter};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let file = arguments.next().ok_or("usage: in_front FILE KEY...")?;
    let saved = format!("{file}.filter");
    if !fs::exists(&saved)? {
        let keys = SeededHashes::new(Seed::random(), fs::read_to_string(&file)?.lines());
        fs::write(&saved, BinaryFuse::build(Sizing::error_rate(0.01)?, &keys)?.to_stored())?;
    }
    let filter = StoredFilter::parse(fs::read(&saved)?)?;
    eprintln!("{} keys, {:.1} bits per key", filter.len(), filter.stats().bits_per_key());

    for key in arguments {
        let answer = if !filter.may_contain(&key) {
            "not there; the file was not read"
        } else if fs::read_to_string(&file)?.lines().any(|line| line == key) {
            "there"
        } else {
            "not there; the filter said maybe"
        };
        eprintln!("{key}: {answer}");
    }
    Ok(())
}
