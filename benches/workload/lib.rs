//! What the benchmarks share: the keys and values of `hfile bench`, rows, rounds and processor time.

pub mod cpu_time;
mod rounds;
mod rows;

pub use hfile_cli::workload::*;

pub use self::rounds::{Samples, alternate};
pub use self::rows::{Asked, RowKey, Rows, ScanSum, VALUE_LEN};

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes keys in hex to a file, one per line, for HBase's side of a benchmark.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_hex(path: &Path, keys: impl IntoIterator<Item = impl AsRef<[u8]>>) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for key in keys {
        key.as_ref().iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
        writeln!(out)?;
    }
    out.flush()
}

/// Returns the size of a benchmark: the variable `SIZE`, or its usual size.
///
/// # Panics
///
/// If `SIZE` is no number.
pub fn size(usual: u64) -> u64 {
    std::env::var("SIZE").map_or(usual, |size| size.parse().expect("SIZE is a number"))
}
