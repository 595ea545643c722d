//! `hfile layout`: lists every block of a file in file order, from the block headers; with `--keys`,
//! also from the blocks.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use cells::escape;
use serde::Serialize;
use sstable::tools::{BlockContents, BlockFirstKey};
use sstable::{BlockHeader, BlockOffset, BlockType, KeyRef};

use crate::failure::Answer;
use crate::inputs::{Input, Inputs, OpenInput, Target};
use crate::text::output::{Report, ReportFormat, or_dash, write_table};
use crate::text::printable::as_line;
use crate::text::size_text::{show_count, show_number};

/// List every block of HFiles: offset, type, sizes, checksums, and on request its keys.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile layout 4f1c.hfile
  hfile layout --keys 4f1c.hfile
  hfile layout --json 4f1c.hfile | jq '.blocks[] | select(.type == \"BLOOM_CHUNK\")'

Reads block headers only, with --keys also the data and index blocks; hfile verify checks the blocks. Continues
with the other files if one cannot be read.
Exit status: 0 all listed, 1 a header or block is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Layout {
    /// HFiles, or directories of them, to list
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Also list the first key of each block, and its number of cells, index entries or Bloom chunks
    #[arg(long)]
    keys: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Layout {
    /// Prints a report for each file.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let mut is_first = true;
        Inputs::expand_all(&self.files)
            .for_each(|input| self.report_format.print_next(&self.list(input)?, &mut is_first))
    }

    fn list(&self, input: &Input) -> anyhow::Result<FileLayout> {
        let OpenInput { reader, target } = input.open()?;
        let hfile = reader.whole();
        let mut blocks = Vec::new();
        for block in hfile.blocks().headers() {
            let (at, header) = block?;
            let contents = self.keys.then(|| hfile.blocks().contents(at, &header)).transpose()?;
            blocks.push(BlockReport::new(at, &header, contents.as_ref()));
        }
        let (size, file) = (hfile.len(), input.name());
        Ok(FileLayout { schema: 1, file, target, size, blocks, shows_keys: self.keys })
    }
}

#[derive(Serialize)]
struct FileLayout {
    schema: u32,
    file: String,
    #[serde(flatten)]
    target: Target,
    size: u64,
    blocks: Vec<BlockReport>,
    #[serde(skip)]
    shows_keys: bool,
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
    /// The cells of a data block.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<u64>,
    /// The entries of an index block, the chunks of a Bloom filter, or the entries of the file info.
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_key: Option<String>,
}

impl BlockReport {
    fn new(offset: BlockOffset, header: &BlockHeader, contents: Option<&BlockContents>) -> Self {
        let is_data = matches!(header.block_type, BlockType::Data | BlockType::EncodedData);
        let entries = contents.and_then(|contents| contents.entries);
        let first_key = contents.and_then(|contents| contents.first_key.as_ref());
        Self {
            offset: offset.get(),
            r#type: header.block_type.name(),
            size: header.len(),
            uncompressed_size: header.uncompressed_size,
            checksum: header.checksum_type.name(),
            checksum_bytes: header.checksums_len(),
            previous: header.previous_block.map(BlockOffset::get),
            cells: if is_data { entries } else { None },
            entries: if is_data { None } else { entries },
            first_key: first_key.map(show_key),
        }
    }
}

/// Shows the key of a cell as HBase does, and other keys escaped.
fn show_key(key: &BlockFirstKey) -> String {
    match key {
        BlockFirstKey::Cell(flat) => {
            KeyRef::parse(flat).map_or_else(|| escape(flat).to_string(), |key| key.to_string())
        }
        BlockFirstKey::Row(bytes) | BlockFirstKey::Name(bytes) => escape(bytes).to_string(),
    }
}

impl Report for FileLayout {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}, {} bytes", as_line(&self.file), show_count(self.size))?;
        if let Some(target) = self.target.text() {
            writeln!(out, "{target}; these are the blocks of the whole file")?;
        }
        writeln!(out)?;
        let mut heading = vec!["offset", "type", "size", "uncompressed", "checksum", "previous"];
        let mut rows: Vec<Vec<String>> = self.blocks.iter().map(BlockReport::header_row).collect();
        if self.shows_keys {
            heading.extend(["cells", "entries", "first key"]);
            for (row, block) in rows.iter_mut().zip(&self.blocks) {
                row.extend(block.contents_row());
            }
        }
        write_table(out, &heading, rows)?;
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
            let size = show_number(bytes, "byte");
            writeln!(out, "{block_type:<25}{blocks}, {size}, {share:.1}% of the file")?;
        }
        Ok(())
    }
}

impl BlockReport {
    fn header_row(&self) -> Vec<String> {
        vec![
            format!("{:#x}", self.offset),
            self.r#type.to_owned(),
            show_count(self.size),
            show_count(self.uncompressed_size.into()),
            format!("{} ({} bytes)", self.checksum, self.checksum_bytes),
            or_dash(self.previous, |offset| format!("{offset:#x}")),
        ]
    }

    fn contents_row(&self) -> [String; 3] {
        let [cells, entries] = [self.cells, self.entries].map(|count| or_dash(count, show_count));
        [cells, entries, self.first_key.clone().unwrap_or_default()]
    }
}
