//! Counts the requests that an HFile in an object store would cost, with a source of its own.
//!
//! The source stands for range requests: each read of `ReadAt` is one request. Opening a file reads
//! its end. The first get reads a block of the Bloom filter and a data block, or only the former if
//! the filter denies the row.
//!
//! ```text
//! cargo run -p hfile-sstable --example remote_source -- FILE ROW
//! ```

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{env, io};

use sstable::{FileName, FileSource, ReadAt, Reader, ReaderOptions};

/// An object whose range requests are counted.
struct RemoteObject {
    /// What answers the requests: here a local file.
    object: FileSource,
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl RemoteObject {
    /// Prints the requests since the last call.
    fn report(&self, what: &str) {
        let (requests, bytes) = (self.requests.swap(0, Relaxed), self.bytes.swap(0, Relaxed));
        eprintln!("{what}: {requests} requests, {bytes} bytes");
    }
}

impl ReadAt for RemoteObject {
    fn len(&self) -> u64 {
        self.object.len()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.requests.fetch_add(1, Relaxed);
        self.bytes.fetch_add(buffer.len() as u64, Relaxed);
        self.object.read_exact_at(buffer, offset)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(path), Some(row)) = (arguments.next(), arguments.next()) else {
        return Err("usage: remote_source FILE ROW".into());
    };
    let object = FileSource::open(&path)?;
    let source = Arc::new(RemoteObject { object, requests: 0.into(), bytes: 0.into() });

    let reader = Reader::open(source.clone(), FileName::new(path), ReaderOptions::default())?;
    source.report("open");

    let absent = format!("{row}, which is absent");
    for row in [&row, &absent] {
        let found = reader.row(row.as_bytes())?.cell().is_some();
        source.report(if found { "get of a row" } else { "get of an absent row" });
    }
    Ok(())
}
