//! Options for reading the files named on the command line.

use std::sync::OnceLock;

use sstable::{Caching, Limits, Reader, ReaderOptions, Scanner};

use crate::text::help::ADVANCED;

// No doc comment: clap would show it as the description of the verb.
#[derive(clap::Args)]
pub(crate) struct WithReadingOptions<V: clap::Args> {
    #[command(flatten)]
    verb: V,
    #[command(flatten)]
    reading: ReadingOptions,
}

impl<V: clap::Args> WithReadingOptions<V> {
    /// Applies the options to all files that are opened from now on, and returns the verb.
    pub(crate) fn applied(self) -> V {
        let limits = Limits::default().inflate_ratio_max(self.reading.inflate_ratio_max);
        LIMITS.get_or_init(|| limits);
        self.verb
    }
}

// Options of verbs that read files.
#[derive(Clone, Copy, Debug, clap::Args)]
struct ReadingOptions {
    /// Refuse blocks that decompress to more than TIMES x file size + 256 MiB
    ///
    /// The limit keeps a small file from exhausting memory. Raise TIMES to read a file that holds little
    /// more than one huge, highly compressed cell; the message about such a block says how far.
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    inflate_ratio_max: u32,
}

/// Set once, before the verb runs.
static LIMITS: OnceLock<Limits> = OnceLock::new();

/// Returns the limits for files.
pub(crate) fn limits() -> Limits {
    LIMITS.get().copied().unwrap_or_default()
}

/// Returns the options for opening a file.
pub(crate) fn reader_options() -> ReaderOptions {
    ReaderOptions::default().limits(limits())
}

/// Returns a scanner at the first cell that reads ahead, and bypasses the block cache.
///
/// For scans of a whole file, which read each block once.
pub(crate) fn scan(reader: &Reader) -> sstable::Result<Scanner> {
    let mut scanner = reader.bulk_scanner();
    scanner.seek_to_first()?;
    Ok(scanner)
}

/// Like [`scan`], but without a read-ahead thread.
///
/// For scans of many files at a time, and for measuring a single thread.
pub(crate) fn scan_without_read_ahead(reader: &Reader) -> sstable::Result<Scanner> {
    let mut scanner = reader.scanner(Caching::Bypass);
    scanner.seek_to_first()?;
    Ok(scanner)
}
