//! `hfile layout`: lists every block of a file in file order, from the block headers.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use serde::Serialize;
use sstable::{BlockOffset, Header};

use crate::failure::Answer;
use crate::inputs::{Inputs, OpenInput, Target};
use crate::output::{Report, ReportFormat, STDOUT, stdout, write_table};
use crate::size_text::{show_count, show_number};

/// List every block of HFiles: offset, type, sizes, checksums.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile layout 4f1c.hfile
  hfile layout --json 4f1c.hfile | jq '.blocks[] | select(.type == \"BLOOM_CHUNK\")'

Reads block headers only; hfile verify checks the blocks. Continues with the other files if one cannot be
read.
Exit status: 0 all listed, 1 a header is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Layout {
    /// HFiles, or directories of them, to list
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Layout {
    /// Prints a report for each file.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let mut is_first = true;
        Inputs::expand(&self.files).for_each(|input| {
            let OpenInput { reader, target } = input.open()?;
            let reader = reader.whole();
            let blocks = reader.blocks().headers().map(|block| block.map(BlockReport::from));
            let blocks = blocks.collect::<Result<_, _>>()?;
            if !std::mem::take(&mut is_first) && !self.report_format.is_json() {
                writeln!(stdout()).context(STDOUT)?;
            }
            let (size, file) = (reader.len(), input.name());
            self.report_format.print(&FileReport { schema: 1, file, target, size, blocks })?;
            Ok(Answer::Positive)
        })
    }
}

#[derive(Serialize)]
struct FileReport {
    schema: u32,
    file: String,
    #[serde(flatten)]
    target: Target,
    size: u64,
    blocks: Vec<BlockReport>,
}

/// The fields of a block header, as printed.
#[derive(Serialize)]
struct BlockReport {
    offset: u64,
    r#type: &'static str,
    /// Bytes on disk: header, stored data and checksums.
    size: u64,
    /// Bytes of the decompressed data, without the header. A data block is still encoded.
    uncompressed_size: u32,
    checksum: &'static str,
    checksum_bytes: u64,
    /// The offset of the previous block of the same type.
    previous: Option<u64>,
}

impl From<(BlockOffset, Header)> for BlockReport {
    fn from((offset, header): (BlockOffset, Header)) -> Self {
        Self {
            offset: offset.get(),
            r#type: header.block_type.name(),
            size: header.len(),
            uncompressed_size: header.uncompressed_size,
            checksum: header.checksum_type.name(),
            checksum_bytes: header.checksums_len(),
            previous: header.previous_block.map(BlockOffset::get),
        }
    }
}

impl Report for FileReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}, {} bytes", self.file, show_count(self.size))?;
        if let Some(target) = self.target.text() {
            writeln!(out, "{target}; these are the blocks of the whole file")?;
        }
        writeln!(out)?;
        let heading = ["offset", "type", "size", "uncompressed", "checksum", "previous"];
        let rows: Vec<Vec<String>> = self.blocks.iter().map(BlockReport::cells).collect();
        write_table(out, &heading, &rows)?;
        let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for block in &self.blocks {
            let (count, bytes) = sums.entry(block.r#type).or_default();
            *count += 1;
            *bytes += block.size;
        }
        writeln!(out)?;
        for (block_type, (count, bytes)) in sums {
            let share = bytes as f64 / self.size as f64 * 100.0;
            let blocks = show_number(count, "block");
            let bytes = show_number(bytes, "byte");
            writeln!(out, "{block_type:<25}{blocks}, {bytes}, {share:.1}% of the file")?;
        }
        Ok(())
    }
}

impl BlockReport {
    fn cells(&self) -> Vec<String> {
        vec![
            format!("{:#x}", self.offset),
            self.r#type.to_owned(),
            show_count(self.size),
            show_count(self.uncompressed_size.into()),
            format!("{} ({} bytes)", self.checksum, self.checksum_bytes),
            self.previous.map_or_else(|| "-".to_owned(), |offset| format!("{offset:#x}")),
        ]
    }
}
