//! Writes the cells of a file to a new one with other settings, and reads the new one back.

use std::path::Path;

use sstable::{FileName, FileSummary, Reader, Writer, WriterOptions};

use super::meta_blocks::copy_meta_blocks;
use super::read_back;
use crate::arguments::reading_options::scan;
use crate::text::destination::Output;
use crate::text::progress::Progress;

/// How a file is rewritten.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rewrite {
    /// Whether to replace an existing file.
    pub(crate) force: bool,
    /// Whether to leave out the comparison with the original.
    pub(crate) no_verify: bool,
}

impl Rewrite {
    /// Writes the cells and META blocks of a file to `destination`; `-` is stdout, which is not read back.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or written, or the new file differs from the original.
    pub(crate) fn run(
        self,
        reader: &Reader,
        options: WriterOptions,
        destination: &Path,
    ) -> anyhow::Result<FileSummary> {
        let sink = Output::create(destination, self.force)?;
        let name = FileName::new(destination.display().to_string());
        let mut writer = Writer::new(sink, name, options)?;
        let progress = Progress::new("writing", reader.trailer().entry_count);
        let mut scanner = scan(reader)?;
        while let Some(cell) = scanner.cell() {
            writer.append(cell)?;
            progress.advance(1);
            scanner.advance()?;
        }
        copy_meta_blocks(reader, &mut writer)?;
        let (output, summary) = writer.finish()?;
        drop(progress);
        if let Some(written) = output.path()
            && !self.no_verify
        {
            read_back::check(reader, written, destination)?;
        }
        output.finish()?;
        Ok(summary)
    }
}
