//! How the files named on the command line are read.

use std::sync::OnceLock;

use sstable::{Caching, Limits, Reader, ReaderOptions, Scanner};

/// What a user can change about all verbs that read files.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ReadingOptions {
    /// Limit the size of a decompressed block to TIMES x file size + 16 MiB
    ///
    /// Files with a larger block are reported as damaged: without a limit a small file could exhaust
    /// memory. Raise TIMES for a sound file that consists almost entirely of one huge, well
    /// compressed cell. The files of a store always have the default limit.
    #[arg(long, global = true, value_name = "TIMES", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    inflate_ratio_max: u32,
}

/// Set once, before the verb runs.
static LIMITS: OnceLock<Limits> = OnceLock::new();

impl ReadingOptions {
    /// Makes them those of all files that are read from now on.
    pub(crate) fn apply(self) {
        let limits = Limits::default().inflate_ratio_max(self.inflate_ratio_max);
        LIMITS.get_or_init(|| limits);
    }
}

/// What files may ask for.
pub(crate) fn limits() -> Limits {
    LIMITS.get().copied().unwrap_or_default()
}

/// How a file is read.
pub(crate) fn reader_options() -> ReaderOptions {
    ReaderOptions::default().limits(limits())
}

/// A scanner on the first cell of a file that is read from end to end, and read ahead. Each block is
/// read once and not again: there is nothing to cache.
pub(crate) fn scan(reader: &Reader) -> sstable::Result<Scanner> {
    let mut scanner = reader.bulk_scanner();
    scanner.seek_to_first()?;
    Ok(scanner)
}

/// The same without reading ahead: for files that are read many at once, and where it is measured what
/// one thread does.
pub(crate) fn scan_without_read_ahead(reader: &Reader) -> sstable::Result<Scanner> {
    let mut scanner = reader.scanner(Caching::Bypass);
    scanner.seek_to_first()?;
    Ok(scanner)
}
