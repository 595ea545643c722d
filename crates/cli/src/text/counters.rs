//! The counters of a read (files, filters, blocks, bytes), as JSON and as text.

use std::io::{self, Write};

use serde::Serialize;
use sstable::{BlockKind, BlockSource, ReadTrace};

use crate::text::size_text::{show_count, show_number, show_size};

/// The counters of a [`ReadTrace`]; the JSON output has the field names, so they stay stable.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Counters {
    pub(crate) files_considered: u64,
    pub(crate) files_skipped_by_range: u64,
    pub(crate) files_skipped_by_time: u64,
    pub(crate) files_skipped_by_filter: u64,
    pub(crate) filter_checks: u64,
    pub(crate) filter_false_positives: u64,
    pub(crate) filters_unreadable: u64,
    pub(crate) map_lookups: u64,
    pub(crate) map_candidates: u64,
    pub(crate) files_skipped_by_map: u64,
    pub(crate) map_false_files: u64,
    pub(crate) data_blocks: u64,
    pub(crate) index_blocks: u64,
    pub(crate) bloom_blocks: u64,
    pub(crate) meta_blocks: u64,
    pub(crate) blocks_from_file: u64,
    pub(crate) blocks_from_cache: u64,
    pub(crate) bytes_from_file: u64,
    pub(crate) bytes_from_cache: u64,
}

impl From<&ReadTrace> for Counters {
    fn from(trace: &ReadTrace) -> Self {
        let blocks = |kind| BlockSource::ALL.map(|source| trace.blocks(kind, source)).iter().sum();
        let bytes = |source| BlockKind::ALL.map(|kind| trace.bytes(kind, source)).iter().sum();
        Self {
            files_considered: trace.files_considered,
            files_skipped_by_range: trace.files_skipped_by_range,
            files_skipped_by_time: trace.files_skipped_by_time,
            files_skipped_by_filter: trace.files_skipped_by_filter,
            filter_checks: trace.filter_checks,
            filter_false_positives: trace.filter_false_positives,
            filters_unreadable: trace.filters_unreadable,
            map_lookups: trace.map_lookups,
            map_candidates: trace.map_candidates,
            files_skipped_by_map: trace.files_skipped_by_map,
            map_false_files: trace.map_false_files,
            data_blocks: blocks(BlockKind::Data),
            index_blocks: blocks(BlockKind::Index),
            bloom_blocks: blocks(BlockKind::Bloom),
            meta_blocks: blocks(BlockKind::Meta),
            blocks_from_file: trace.blocks_from(BlockSource::File),
            blocks_from_cache: trace.blocks_from(BlockSource::Cache),
            bytes_from_file: bytes(BlockSource::File),
            bytes_from_cache: bytes(BlockSource::Cache),
        }
    }
}

impl Counters {
    /// Writes the counters as text: one line each for files, filters, maps, blocks and block sources.
    pub(crate) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let count = show_count;
        let mut line = |name: &str, text: String| writeln!(out, "{name:<18}{text}");
        line(
            "files considered",
            format!(
                "{}; skipped {} by key range, {} by time, {} by filter",
                count(self.files_considered),
                count(self.files_skipped_by_range),
                count(self.files_skipped_by_time),
                count(self.files_skipped_by_filter)
            ),
        )?;
        line(
            "filters queried",
            format!(
                "{}; {} false positives, {} unreadable",
                count(self.filter_checks),
                count(self.filter_false_positives),
                count(self.filters_unreadable)
            ),
        )?;
        if self.map_lookups > 0 {
            line(
                "family maps asked",
                format!(
                    "{}; {} named, {} of them false; {} skipped",
                    count(self.map_lookups),
                    show_number(self.map_candidates, "file"),
                    count(self.map_false_files),
                    count(self.files_skipped_by_map)
                ),
            )?;
        }
        line(
            "blocks touched",
            format!(
                "{} data, {} index, {} Bloom, {} META",
                count(self.data_blocks),
                count(self.index_blocks),
                count(self.bloom_blocks),
                count(self.meta_blocks)
            ),
        )?;
        line(
            "block sources",
            format!(
                "cache {} ({}), files {} ({})",
                count(self.blocks_from_cache),
                show_size(self.bytes_from_cache),
                count(self.blocks_from_file),
                show_size(self.bytes_from_file)
            ),
        )
    }
}
