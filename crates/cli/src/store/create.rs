//! `hfile store create`: creates a store, or adds a family.

use std::time::Duration;

use clap::ValueEnum;
use filter::{FilterKind, Sizing};
use sstable::{BloomType, Compression, DataBlockEncoding};
use store::{FamilyOptions, KeepDeletedCells, Store};

use super::Directory;
use crate::failure::{Answer, UsageError};
use crate::names::name_parser;
use crate::size_text::SizeText;
use crate::sizing::sizing;
use crate::writing_options::{bloom_of_length, small};

/// Create a store with a column family, or add a family to a store.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store create DIR f
  hfile store create DIR f --versions 3 --ttl 86400 --compression LZ4
  hfile store create DIR f --bloom-type NONE --filter blocked-bloom --filter-error-rate 0.001
  hfile store create DIR f --bloom-type NONE --filter ribbon --filter-budget 16MiB

Exit status: 0 created, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
#[expect(clippy::doc_markdown, reason = "backticks would be seen in the help")]
pub(super) struct Create {
    #[command(flatten)]
    directory: Directory,
    /// Column family
    #[arg(value_name = "FAMILY")]
    family: String,
    /// Keep at most this many versions of a column
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    versions: u32,
    /// Keep at least this many versions of a column, even after their TTL
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    min_versions: u32,
    /// Expire cells after this many seconds [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    ttl: Option<u64>,
    /// Keep deleted cells within --versions and --ttl: FALSE, TRUE, or TTL (until their delete marker is
    /// older than --ttl); without =WHEN, TRUE
    #[arg(long, value_name = "WHEN", num_args = 0..=1)]
    #[arg(require_equals = true, default_value = "FALSE", default_missing_value = "TRUE")]
    #[arg(ignore_case = true)]
    keep_deleted_cells: KeepDeleted,
    /// End a data block after this many bytes of cells
    #[arg(long, value_name = "SIZE", default_value = "64KiB")]
    block_size: SizeText,
    /// Write an HBase Bloom filter: NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH
    #[arg(long, value_name = "NAME", default_value = "ROW", hide_possible_values = true)]
    #[arg(value_parser = name_parser::<BloomType>())]
    bloom_type: BloomType,
    /// Set the length of the row prefix for ROWPREFIX_FIXED_LENGTH
    #[arg(long, value_name = "BYTES", default_value_t = 0, hide_default_value = true)]
    bloom_prefix_length: u16,
    /// Encode data blocks with NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1
    #[arg(long, value_name = "NAME", default_value = "NONE", hide_possible_values = true)]
    #[arg(value_parser = name_parser::<DataBlockEncoding>())]
    data_block_encoding: DataBlockEncoding,
    /// Compress blocks with NONE, GZ, SNAPPY, LZ4 or ZSTD
    #[arg(long, value_name = "NAME", default_value = "NONE", hide_possible_values = true)]
    #[arg(value_parser = name_parser::<Compression>())]
    compression: Compression,
    /// Add a row filter in META blocks, which HBase ignores
    #[arg(long, value_name = "KIND", value_parser = name_parser::<FilterKind>())]
    filter: Option<FilterKind>,
    /// Set the error rate of the row filter, between 0 and 1 [default: 0.01]
    #[arg(long, value_name = "RATE", group = "sizing", requires = "filter")]
    filter_error_rate: Option<f64>,
    /// Size the row filter of each file by bits per row
    #[arg(long, value_name = "BITS", group = "sizing", requires = "filter")]
    filter_bits_per_key: Option<f64>,
    /// Set the total size of the row filters of all files; they share it so that false positives per get
    /// are fewest
    #[arg(long, value_name = "SIZE", group = "sizing", requires = "filter")]
    filter_budget: Option<SizeText>,
}

/// [`KeepDeletedCells`] as a command line value.
#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
enum KeepDeleted {
    False,
    True,
    Ttl,
}

impl Create {
    /// Creates the family, and the store if the directory has none.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let options = self.family_options()?;
        let store = Store::open(&self.directory.directory, self.directory.options())?;
        store.create_family(&self.family, options)?;
        Ok(Answer::Positive)
    }

    fn family_options(&self) -> anyhow::Result<FamilyOptions> {
        let bloom = bloom_of_length(self.bloom_type, self.bloom_prefix_length);
        if bloom == BloomType::RowPrefixFixedLength(0) {
            return Err(UsageError(format!("{bloom} needs --bloom-prefix-length")).into());
        }
        Ok(FamilyOptions::default()
            .versions(self.versions)
            .min_versions(self.min_versions)
            .ttl(self.ttl.map(Duration::from_secs))
            .keep_deleted_cells(match self.keep_deleted_cells {
                KeepDeleted::False => KeepDeletedCells::False,
                KeepDeleted::True => KeepDeletedCells::True,
                KeepDeleted::Ttl => KeepDeletedCells::Ttl,
            })
            .block_size(small("block size", self.block_size)?)
            .bloom_type(bloom)
            .data_block_encoding(self.data_block_encoding)
            .compression(self.compression)
            .filter(self.filter()?))
    }

    fn filter(&self) -> Result<Option<(FilterKind, Sizing)>, UsageError> {
        let Some(kind) = self.filter else {
            return Ok(None);
        };
        let (rate, bits) = (self.filter_error_rate, self.filter_bits_per_key);
        Ok(Some((kind, sizing(rate, bits, self.filter_budget)?)))
    }
}
