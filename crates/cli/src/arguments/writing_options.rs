//! Settings of a file to write: options named like HBase's settings, or a JSON file with them.
//!
//! The JSON file is a spec of `tests/hbase-judge`, which writes files with HBase: HBase and `hfile`
//! write the same bytes from the same spec and cells. Names that only describe how to generate
//! cells are ignored. Any other unknown name is refused, because the file would otherwise differ
//! from the one requested.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use cells::parse_hex;
use filter::hbase::HashType;
use filter::{ErrorRate, FilterKind, Sizing};
use serde::Deserialize;
use sstable::{
    BloomType, ChecksumType, Comparator, Compression, DataBlockEncoding, FilterOptions,
    HBaseVersion, SequenceId, Timestamp, WriterOptions, ZstdFraming,
};
use store::FamilyOptions;

use crate::arguments::given::Given;
use crate::arguments::names::{self, Named, name_parser};
use crate::failure::{UsageError, refuse};
use crate::text::help::ADVANCED;
use crate::text::size_text::SizeText;

/// Settings of a file to write; `None` keeps HBase's default.
#[derive(Debug, Default, Deserialize, clap::Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[command(next_help_heading = "Settings of the file")]
#[expect(clippy::doc_markdown, reason = "backticks would be seen in the help")]
pub(crate) struct WritingOptions {
    /// End a data block after this many bytes of cells [default: 64KiB]
    #[arg(long, value_name = "SIZE")]
    block_size: Option<SizeText>,
    /// Encode data blocks with NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1 [default: NONE]
    #[arg(long, value_name = "NAME", value_parser = name_parser::<DataBlockEncoding>())]
    #[arg(hide_possible_values = true)]
    #[serde(rename = "encoding", deserialize_with = "names::deserialize")]
    data_block_encoding: Option<DataBlockEncoding>,
    /// Compress blocks with NONE, GZ, SNAPPY, LZ4 or ZSTD [default: NONE]
    #[arg(long, value_name = "NAME", value_parser = name_parser::<Compression>())]
    #[arg(hide_possible_values = true)]
    #[serde(deserialize_with = "names::deserialize")]
    compression: Option<Compression>,
    /// Write an HBase Bloom filter: NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH [default: ROW, or
    /// NONE with --options]
    #[arg(long, value_name = "NAME", value_parser = name_parser::<BloomType>())]
    #[arg(hide_possible_values = true)]
    #[serde(rename = "bloom", deserialize_with = "names::deserialize")]
    bloom_type: Option<BloomType>,
    /// Set the length of the row prefix for ROWPREFIX_FIXED_LENGTH
    #[arg(long, hide_short_help = true, value_name = "BYTES")]
    bloom_prefix_length: Option<u16>,
    /// Set the error rate of the HBase Bloom filter, between 0 and 1 [default: 0.01]
    #[arg(long, hide_short_help = true, value_name = "RATE")]
    bloom_error_rate: Option<f64>,
    /// Add a row filter in META blocks, which HBase ignores
    #[arg(long, value_name = "KIND", value_parser = name_parser::<FilterKind>())]
    #[serde(deserialize_with = "names::deserialize")]
    filter: Option<FilterKind>,
    /// Set the error rate of the row filter, between 0 and 1 [default: 0.01]
    #[arg(long, hide_short_help = true, value_name = "RATE", requires = "filter")]
    filter_error_rate: Option<f64>,
    /// Write the cells' tags [default: false; with --options, true if the file has "tags"]
    #[arg(long, hide_short_help = true, value_name = "BOOL")]
    includes_tags: Option<bool>,
    /// Frame ZSTD data for the cluster's codec class: frame for ZStandardCodec, HBase's default, or
    /// blocks for ZstdCodec [default: frame]
    #[arg(long, value_name = "NAME", value_parser = name_parser::<ZstdFraming>())]
    #[arg(hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    #[serde(deserialize_with = "names::deserialize")]
    zstd_framing: Option<ZstdFraming>,
    /// Order rows by BYTES, or by META for files of hbase:meta [default: BYTES]
    #[arg(long, value_name = "NAME", value_parser = name_parser::<Comparator>())]
    #[arg(hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    #[serde(deserialize_with = "names::deserialize")]
    comparator: Option<Comparator>,
    /// Protect blocks with NULL, CRC32 or CRC32C checksums [default: CRC32C]
    #[arg(long, value_name = "NAME", value_parser = name_parser::<ChecksumType>())]
    #[arg(hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    #[serde(deserialize_with = "names::deserialize")]
    checksum: Option<ChecksumType>,
    /// Write one checksum per this many bytes [default: 16KiB]
    #[arg(long, value_name = "SIZE", help_heading = ADVANCED, hide_short_help = true)]
    bytes_per_checksum: Option<SizeText>,
    /// Hash Bloom filter keys with jenkins, murmur or murmur3 [default: murmur]
    #[arg(long, value_name = "NAME", value_parser = name_parser::<HashType>())]
    #[arg(hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    #[serde(deserialize_with = "names::deserialize")]
    bloom_hash: Option<HashType>,
    /// Set the size of a Bloom chunk [default: 128KiB]
    #[arg(long, value_name = "SIZE", help_heading = ADVANCED, hide_short_help = true)]
    bloom_block_size: Option<SizeText>,
    /// Fold a Bloom chunk in half at most this many times [default: 7]
    #[arg(long, value_name = "TIMES", help_heading = ADVANCED, hide_short_help = true)]
    bloom_max_fold: Option<u32>,
    /// Write a Bloom filter of rows with family deletes [default: true]
    #[arg(long, value_name = "BOOL", help_heading = ADVANCED, hide_short_help = true)]
    delete_family_bloom: Option<bool>,
    /// End an index block after this many bytes [default: 128KiB]
    #[arg(long, value_name = "SIZE", help_heading = ADVANCED, hide_short_help = true)]
    index_block_size: Option<SizeText>,
    /// Write at least this many entries per index block [default: 16]
    #[arg(long, value_name = "ENTRIES", help_heading = ADVANCED, hide_short_help = true)]
    index_min_entries: Option<u32>,
    /// Write the cells' sequence ids [default: true]
    #[arg(long, value_name = "BOOL", help_heading = ADVANCED, hide_short_help = true)]
    includes_mvcc: Option<bool>,
    /// Compress tags with a dictionary if data blocks are encoded [default: false]
    #[arg(long, value_name = "BOOL", help_heading = ADVANCED, hide_short_help = true)]
    compress_tags: Option<bool>,
    /// Record this newest sequence id as MAX_SEQ_ID_KEY [default: none, or 0 with --options]
    #[arg(long, value_name = "ID", help_heading = ADVANCED, hide_short_help = true)]
    #[serde(rename = "maxSeqId")]
    max_sequence_id: Option<u64>,
    /// Mark the file as the result of a major compaction [default: false]
    #[arg(long, value_name = "BOOL", help_heading = ADVANCED, hide_short_help = true)]
    major_compaction: Option<bool>,
    /// Set the creation time, in milliseconds since 1970 [default: now, or 1700000000000 with --options]
    #[arg(long, value_name = "MILLIS", help_heading = ADVANCED, hide_short_help = true)]
    create_time: Option<i64>,
    /// Write the bytes of HBase 2.5 or 2.6, which records the longest cell [default: 2.5]
    #[arg(long, value_name = "VERSION", value_parser = name_parser::<HBaseVersion>())]
    #[arg(hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    #[serde(deserialize_with = "names::deserialize")]
    hbase_version: Option<HBaseVersion>,
    /// Add an entry to the file info; repeatable
    #[arg(long = "file-info", value_name = "KEY=HEX")]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    #[serde(skip)]
    file_info_flags: Vec<String>,
    #[arg(skip)]
    file_info: BTreeMap<String, String>,
    #[arg(skip)]
    #[serde(deserialize_with = "names::deserialize")]
    index_encoding: Option<IndexEncoding>,
}

/// The encoding of index blocks in a spec; a file has only the one that HBase writes by default.
#[derive(Clone, Debug)]
struct IndexEncoding;

impl Named for IndexEncoding {
    const WHAT: &'static str = "index encoding";

    fn known() -> Vec<(&'static str, Self)> {
        vec![("NONE", Self)]
    }
}

/// The names in a spec that describe how to generate cells, and are not settings of the file.
const DESCRIBES_CELLS: [&str; 17] = [
    "name",
    "seed",
    "cells",
    "rows",
    "family",
    "table",
    "keys",
    "qualifiers",
    "versionsMin",
    "versions",
    "values",
    "types",
    "ts",
    "tags",
    "mvcc",
    "seqMax",
    "dupKeys",
];

/// The default creation time with a spec; fixed, so that a spec always gives the same bytes.
const SPEC_CREATE_TIME: i64 = 1_700_000_000_000;

impl WritingOptions {
    /// Reads a JSON file of settings.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        const LEN_MAX: u64 = 1 << 20;
        let name = path.display();
        let mut text = String::new();
        File::open(path)
            .and_then(|file| file.take(LEN_MAX + 1).read_to_string(&mut text))
            .with_context(|| format!("{name}: cannot read"))?;
        if text.len() as u64 > LEN_MAX {
            refuse!("{name}: more than {LEN_MAX} bytes are no settings of an HFile");
        }
        Self::parse(&text).map_err(|what| UsageError(format!("{name}: {what}")).into())
    }

    /// Parses a spec. Some settings have another default here than on the command line.
    fn parse(text: &str) -> serde_json::Result<Self> {
        let mut names: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)?;
        let tags_described = names.contains_key("tags");
        for name in DESCRIBES_CELLS {
            names.remove(name);
        }
        let mut options: Self = serde_json::from_value(names.into())?;
        options.bloom_type.get_or_insert(BloomType::None);
        options.includes_tags.get_or_insert(tags_described);
        options.create_time.get_or_insert(SPEC_CREATE_TIME);
        options.max_sequence_id.get_or_insert(0);
        Ok(options)
    }

    /// Applies these settings to `options`.
    ///
    /// # Errors
    ///
    /// [`UsageError`] if a name is unknown or a number is out of range.
    pub(crate) fn apply(&self, options: WriterOptions) -> Result<WriterOptions, UsageError> {
        let with_blocks = self.apply_blocks(options)?;
        let with_filters = self.apply_filters(with_blocks)?;
        self.apply_file_info(with_filters)
    }

    fn apply_blocks(&self, options: WriterOptions) -> Result<WriterOptions, UsageError> {
        Ok(options
            .given(small("block size", self.block_size)?, WriterOptions::block_size)
            .given(self.data_block_encoding, WriterOptions::data_block_encoding)
            .given(self.compression, WriterOptions::compression)
            .given(self.zstd_framing, WriterOptions::zstd_framing)
            .given(self.comparator, WriterOptions::comparator)
            .given(self.checksum, WriterOptions::checksum)
            .given(
                small("bytes per checksum", self.bytes_per_checksum)?,
                WriterOptions::bytes_per_checksum,
            )
            .given(
                small("index block size", self.index_block_size)?,
                WriterOptions::index_block_size,
            )
            .given(self.index_min_entries, WriterOptions::index_min_entries)
            .given(self.includes_mvcc, WriterOptions::includes_mvcc)
            .given(self.includes_tags, WriterOptions::includes_tags)
            .given(self.compress_tags, WriterOptions::compress_tags))
    }

    /// Returns the settings of a family whose files are written like this.
    pub(crate) fn apply_to_family(
        &self,
        options: FamilyOptions,
    ) -> Result<FamilyOptions, UsageError> {
        Ok(options
            .given(small("block size", self.block_size)?, FamilyOptions::block_size)
            .given(self.data_block_encoding, FamilyOptions::data_block_encoding)
            .given(self.compression, FamilyOptions::compression)
            .given(self.bloom_type()?, FamilyOptions::bloom_type))
    }

    fn apply_filters(&self, options: WriterOptions) -> Result<WriterOptions, UsageError> {
        let bloom_type = self.bloom_type()?;
        let bloom_rate = self.bloom_error_rate.map(error_rate).transpose()?;
        let block_size = small("Bloom block size", self.bloom_block_size)?;
        let filter = self.filter.map(|kind| self.filter_options(kind)).transpose()?;
        Ok(options
            .given(bloom_type, WriterOptions::bloom_type)
            .given(self.bloom_hash, WriterOptions::bloom_hash)
            .given(bloom_rate, WriterOptions::bloom_error_rate)
            .given(block_size, WriterOptions::bloom_block_size)
            .given(self.bloom_max_fold, WriterOptions::bloom_max_fold)
            .given(self.delete_family_bloom, WriterOptions::delete_family_bloom)
            .given(filter, WriterOptions::filter))
    }

    /// Returns the create time, if it is given.
    pub(crate) fn create_time(&self) -> Option<Timestamp> {
        self.create_time.map(Timestamp::new)
    }

    fn filter_options(&self, kind: FilterKind) -> Result<FilterOptions, UsageError> {
        let rate = error_rate(self.filter_error_rate.unwrap_or(0.01))?;
        // With the default seed, the same cells give the same bytes. Stores use random seeds
        // instead, to protect their filters against keys that are chosen to collide.
        Ok(FilterOptions::new(kind, Sizing::ErrorRate(rate)))
    }

    fn apply_file_info(&self, options: WriterOptions) -> Result<WriterOptions, UsageError> {
        let mut with_info = options
            .given(self.max_sequence_id.map(SequenceId::new), WriterOptions::max_sequence_id)
            .given(self.major_compaction, WriterOptions::major_compaction)
            .given(self.create_time(), WriterOptions::create_time)
            .given(self.hbase_version, WriterOptions::hbase_version);
        let flags = self.file_info_flags.iter().map(|entry| {
            entry
                .split_once('=')
                .ok_or_else(|| UsageError(format!("file info {entry:?}: expected KEY=HEX")))
        });
        let spec = self.file_info.iter().map(|(key, hex)| Ok((key.as_str(), hex.as_str())));
        for entry in flags.chain(spec) {
            let (key, hex) = entry?;
            let value = parse_hex(hex)
                .ok_or_else(|| UsageError(format!("file info {key}: {hex:?} is not hex")))?;
            with_info = with_info.file_info(key.as_bytes(), value);
        }
        Ok(with_info)
    }

    /// Returns the order of rows, if it is set.
    pub(crate) const fn comparator(&self) -> Option<Comparator> {
        self.comparator
    }

    fn bloom_type(&self) -> Result<Option<BloomType>, UsageError> {
        let Some(named) = self.bloom_type else { return Ok(None) };
        let bloom = bloom_of_length(named, self.bloom_prefix_length.unwrap_or(0));
        if bloom == BloomType::RowPrefixFixedLength(0) {
            return Err(UsageError(format!("{bloom} needs a Bloom prefix length of at least 1")));
        }
        Ok(Some(bloom))
    }
}

/// Returns the Bloom type with the length of the row prefix, if it has one.
pub(crate) const fn bloom_of_length(named: BloomType, prefix_length: u16) -> BloomType {
    match named {
        BloomType::RowPrefixFixedLength(_) => BloomType::RowPrefixFixedLength(prefix_length),
        other => other,
    }
}

pub(crate) fn error_rate(rate: f64) -> Result<ErrorRate, UsageError> {
    ErrorRate::new(rate)
        .map_err(|_| UsageError(format!("an error rate must be between 0 and 1, not {rate}")))
}

/// Returns a given size as a number of bytes from 1 to `i32::MAX`, the maximum in HBase.
pub(crate) fn small(what: &str, size: Option<SizeText>) -> Result<Option<u32>, UsageError> {
    let Some(size) = size else { return Ok(None) };
    let number = u32::try_from(size.bytes()).ok();
    let bytes = number.filter(|number| (1..=i32::MAX.unsigned_abs()).contains(number));
    bytes
        .map(Some)
        .ok_or_else(|| UsageError(format!("{what} must be between 1 and {} bytes", i32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_may_describe_cells_but_not_use_unknown_names() {
        let options = WritingOptions::parse(
            r#"{"seed":1,"cells":9,"keys":{"dist":"uuid"},"tags":{"p":0.5},"blockSize":2048,
                "encoding":"DIFF","maxSeqId":7,"fileInfo":{"a":"00ff"}}"#,
        )
        .expect("all known");
        assert_eq!(options.block_size.map(SizeText::bytes), Some(2048));
        assert_eq!(options.data_block_encoding, Some(DataBlockEncoding::Diff));
        assert_eq!(options.max_sequence_id, Some(7));
        assert_eq!(options.includes_tags, Some(true));
        assert_eq!(options.create_time, Some(SPEC_CREATE_TIME));
        let error = WritingOptions::parse(r#"{"blokSize":1}"#).expect_err("misspelt");
        assert!(error.to_string().contains("unknown field `blokSize`"), "{error}");
    }

    #[test]
    fn every_spec_of_the_golden_files_is_accepted() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/manifest.json");
        let manifest = std::fs::read_to_string(path).expect("committed");
        let files: Vec<serde_json::Value> = serde_json::from_str(&manifest).expect("JSON");
        assert!(files.len() > 40);
        for file in files {
            let options = WritingOptions::parse(&file["spec"].to_string()).expect("known names");
            assert!(options.apply(WriterOptions::default()).is_ok(), "{}", file["spec"]);
        }
    }

    #[test]
    fn invalid_settings_are_refused_by_name() {
        for (spec, message) in [
            (r#"{"bloom":"ROWPREFIX_FIXED_LENGTH"}"#, "needs a Bloom prefix length"),
            (r#"{"bloomErrorRate":1.5}"#, "between 0 and 1"),
            (r#"{"blockSize":0}"#, "block size must be between 1"),
            (r#"{"fileInfo":{"a":"0"}}"#, "file info a: \"0\" is not hex"),
        ] {
            let options = WritingOptions::parse(spec).expect("known names");
            let error = options.apply(WriterOptions::default()).expect_err(spec);
            assert!(error.to_string().contains(message), "{error}");
        }
        for (spec, message) in [
            (r#"{"encoding":"PREFIX_TREE"}"#, "unknown data block encoding \"PREFIX_TREE\""),
            (
                r#"{"zstdFraming":"stream"}"#,
                "unknown ZSTD framing \"stream\"; known are frame, blocks",
            ),
            (r#"{"indexEncoding":"PREFIX_TREE"}"#, "unknown index encoding"),
            (r#"{"filter":"bloom"}"#, "known are classic-bloom"),
        ] {
            let error = WritingOptions::parse(spec).expect_err(spec);
            assert!(error.to_string().contains(message), "{error}");
        }
    }

    #[test]
    fn a_spec_accepts_names_in_any_case() {
        let spec = r#"{"encoding":"fast_diff","compression":"Lz4","bloom":"rowcol","bloomHash":"MURMUR3",
            "checksum":"crc32","filter":"Ribbon","comparator":"meta","zstdFraming":"BLOCKS"}"#;
        let options = WritingOptions::parse(spec).expect("known names");
        assert_eq!(options.data_block_encoding, Some(DataBlockEncoding::FastDiff));
        assert_eq!(options.compression, Some(Compression::Lz4));
        assert_eq!(options.bloom_type, Some(BloomType::RowCol));
        assert_eq!(options.filter, Some(FilterKind::Ribbon));
        assert_eq!(options.comparator, Some(Comparator::Meta));
        assert_eq!(options.zstd_framing, Some(ZstdFraming::Blocks));
    }
}
