//! The settings of a family, as options of `create` and `alter`, and as a report.

use std::str::FromStr;
use std::time::Duration;

use serde::{Serialize, Serializer};
use sstable::{BloomType, Compression, DataBlockEncoding};
use store::{FamilyOptions, KeepDeletedCells, MapMode};

use crate::arguments::given::Given;
use crate::arguments::names::{KindOrNone, name_parser};
use crate::arguments::sizing::sizing;
use crate::arguments::writing_options::{bloom_of_length, small};
use crate::failure::UsageError;
use crate::text::size_text::SizeText;

/// The settings of a family. A setting that is not given keeps its value.
#[derive(clap::Args)]
#[expect(clippy::doc_markdown, reason = "backticks would be seen in the help")]
pub(super) struct FamilySettings {
    /// Keep at most this many versions of a column [new family: 1]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    versions: Option<u32>,
    /// Keep at least this many versions of a column, even after their TTL [new family: 0]
    #[arg(long, value_name = "COUNT")]
    min_versions: Option<u32>,
    /// Expire cells after this many seconds, or FOREVER for never [new family: FOREVER]
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<Ttl>,
    /// Keep deleted cells within --versions and --ttl: FALSE, TRUE, or TTL (until their delete marker is
    /// older than --ttl); without WHEN, TRUE [new family: FALSE]
    #[arg(long, value_name = "WHEN", num_args = 0..=1, default_missing_value = "TRUE")]
    #[arg(value_parser = name_parser::<KeepDeletedCells>())]
    keep_deleted_cells: Option<KeepDeletedCells>,
    /// End a data block after this many bytes of cells [new family: 64KiB]
    #[arg(long, value_name = "SIZE")]
    block_size: Option<SizeText>,
    /// Write an HBase Bloom filter: NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH [new family: ROW]
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = name_parser::<BloomType>())]
    bloom_type: Option<BloomType>,
    /// Set the length of the row prefix for ROWPREFIX_FIXED_LENGTH
    #[arg(long, value_name = "BYTES")]
    bloom_prefix_length: Option<u16>,
    /// Encode data blocks with NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1 [new family: NONE]
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = name_parser::<DataBlockEncoding>())]
    data_block_encoding: Option<DataBlockEncoding>,
    /// Compress blocks with NONE, GZ, SNAPPY, LZ4 or ZSTD [new family: NONE]
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = name_parser::<Compression>())]
    compression: Option<Compression>,
    /// Prefer the blocks of the family in the block cache: true or false; without BOOL, true [new family:
    /// false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    in_memory: Option<bool>,
    /// Add a row filter in META blocks, which HBase ignores; none for no row filter
    #[arg(long, value_name = "KIND", value_parser = name_parser::<KindOrNone>())]
    filter: Option<KindOrNone>,
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
    /// Set the map in memory that names the files of a row: OFF, FILES, WIDE (fewer useless
    /// file reads, twice the memory) or AUTO [new family: AUTO]
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    #[arg(value_parser = name_parser::<MapMode>())]
    family_map: Option<MapMode>,
    /// Hold keys and values, and refuse puts, deletes and a TTL: true or false; without BOOL, true [new
    /// family: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    key_value: Option<bool>,
}

/// A TTL as a command line value.
#[derive(Clone, Copy)]
struct Ttl(Option<Duration>);

impl FromStr for Ttl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.eq_ignore_ascii_case("FOREVER") {
            return Ok(Self(None));
        }
        match text.parse() {
            Ok(seconds @ 1..) => Ok(Self(Some(Duration::from_secs(seconds)))),
            _ => Err("a TTL is a whole number of seconds, at least 1, or FOREVER"),
        }
    }
}

impl FamilySettings {
    /// Returns `options` with the given settings.
    pub(super) fn apply(&self, options: FamilyOptions) -> anyhow::Result<FamilyOptions> {
        let given = options
            .given(self.versions, FamilyOptions::versions)
            .given(self.min_versions, FamilyOptions::min_versions)
            .given(self.ttl.map(|Ttl(ttl)| ttl), FamilyOptions::ttl)
            .given(self.keep_deleted_cells, FamilyOptions::keep_deleted_cells)
            .given(self.in_memory, FamilyOptions::in_memory)
            .given(small("block size", self.block_size)?, FamilyOptions::block_size)
            .given(self.data_block_encoding, FamilyOptions::data_block_encoding)
            .given(self.compression, FamilyOptions::compression)
            .given(self.family_map, FamilyOptions::family_map)
            .given(self.key_value, FamilyOptions::key_value);
        let bloom = self.bloom_type(given.bloom())?;
        let with_filters = self.apply_filter(given.bloom_type(bloom))?;
        with_filters.check().map_err(|error| UsageError(error.to_string()))?;
        Ok(with_filters)
    }

    /// Returns the Bloom type: `current` unless the options name another.
    fn bloom_type(&self, current: BloomType) -> Result<BloomType, UsageError> {
        let len = match (self.bloom_prefix_length, current) {
            (Some(len), _) | (None, BloomType::RowPrefixFixedLength(len)) => len,
            _ => 0,
        };
        let bloom = bloom_of_length(self.bloom_type.unwrap_or(current), len);
        if bloom == BloomType::RowPrefixFixedLength(0) {
            return Err(UsageError(format!("{} needs --bloom-prefix-length", bloom.name())));
        }
        Ok(bloom)
    }

    /// Returns `options` with the row filter that the arguments name; with `none`, without a row filter.
    fn apply_filter(&self, options: FamilyOptions) -> Result<FamilyOptions, UsageError> {
        match self.filter {
            None => Ok(options),
            Some(KindOrNone(None)) => Ok(options.no_filter()),
            Some(KindOrNone(Some(kind))) => {
                let (rate, bits) = (self.filter_error_rate, self.filter_bits_per_key);
                Ok(options.filter(kind, sizing(rate, bits, self.filter_budget)?))
            }
        }
    }
}

/// The settings of a family under HBase's names, as a JSON object in the order of `describe`.
pub(super) fn serialize_settings<S: Serializer>(
    options: &FamilyOptions,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(options.hbase_settings())
}

/// Returns the settings as the HBase shell prints them: `BLOOMFILTER => 'ROW', IN_MEMORY => 'false', …`.
pub(super) fn settings_text(options: &FamilyOptions) -> String {
    let settings = options.hbase_settings().into_iter();
    let texts: Vec<_> = settings.map(|(name, value)| format!("{name} => '{value}'")).collect();
    texts.join(", ")
}

/// A family with its settings.
#[derive(Serialize)]
pub(super) struct DescribedFamily {
    pub(super) family: String,
    #[serde(serialize_with = "serialize_settings")]
    pub(super) settings: FamilyOptions,
}
