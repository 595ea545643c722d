//! The report about the metadata of a file. The JSON output has its fields.

use cells::{escape, time_text};
use serde::Serialize;
use sstable::{Error, KeyRef, ReadTrace, Reader, Result, SequenceId, TimeRange, Timestamp};

use super::blooms::{BloomReport, FilterReport};
use super::file_info::{EntryReport, entries};
use super::trailer::TrailerReport;
use crate::inputs::Target;

/// The metadata of a file, from trailer, file info, index root and filters.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "the fields are those of the JSON output")]
pub(super) struct DescribedFile {
    schema: u32,
    pub(super) file: String,
    #[serde(flatten)]
    pub(super) target: Target,
    pub(super) size: u64,
    pub(super) version: String,
    pub(super) cells: u64,
    /// The column family, from the first key; `None` if the file has no cells.
    pub(super) family: Option<String>,
    /// Escaped as HBase prints keys; `None` if the file has no cells.
    pub(super) first_row: Option<String>,
    pub(super) last_row: Option<String>,
    pub(super) first_key: Option<String>,
    pub(super) last_key: Option<String>,
    /// The index key of the middle data block.
    pub(super) mid_key: Option<String>,
    /// The timestamps of all cells in milliseconds, both ends inclusive.
    pub(super) time_range: Option<[i64; 2]>,
    time_range_dates: Option<[String; 2]>,
    /// The timestamp of the earliest put; `None` without puts.
    pub(super) earliest_put: Option<i64>,
    earliest_put_date: Option<String>,
    pub(super) max_sequence_id: Option<u64>,
    /// Milliseconds since 1970.
    pub(super) create_time: Option<i64>,
    create_date: Option<String>,
    /// Whether a major compaction wrote the file.
    pub(super) major_compaction: bool,
    pub(super) average_key_bytes: Option<u32>,
    pub(super) average_value_bytes: Option<u32>,
    /// The length of the longest cell, which HBase 2.6 and later record.
    pub(super) biggest_cell_bytes: Option<u64>,
    pub(super) biggest_cell_key: Option<String>,
    /// The number of cells that delete a family, or its cells of one timestamp.
    pub(super) delete_family_count: Option<u64>,
    pub(super) compression: &'static str,
    pub(super) encoding: &'static str,
    pub(super) checksum: &'static str,
    pub(super) includes_tags: bool,
    /// Whether encoded blocks keep tags in a dictionary.
    pub(super) tags_compressed: bool,
    /// Whether cells have sequence ids, which HBase calls mvcc.
    pub(super) includes_mvcc: bool,
    pub(super) index_levels: u32,
    /// Entries of the root index.
    pub(super) index_root_entries: u32,
    pub(super) meta_blocks: Vec<String>,
    pub(super) bloom: Option<BloomReport>,
    /// HBase's Bloom filter over the rows that have a delete of a family.
    pub(super) delete_family_bloom: Option<BloomReport>,
    pub(super) filter: Option<FilterReport>,
    pub(super) trailer: TrailerReport,
    pub(super) file_info: Vec<EntryReport>,
    /// Why filters or the mid-key cannot be read. A read cannot skip the file by such a filter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) problems: Vec<String>,
}

impl DescribedFile {
    /// Describes an open file.
    ///
    /// # Errors
    ///
    /// If the index block with the mid-key, or the block of an unused row filter, cannot be read.
    /// Damage of the block is no error, but one of the report's problems.
    pub(super) fn new(file: String, target: Target, reader: &Reader) -> Result<Self> {
        let (trailer, info) = (reader.trailer(), reader.file_info());
        let (blocks, filters) = (reader.blocks(), reader.filters());
        let escaped = |row: Option<&[u8]>| row.map(|row| escape(row).to_string());
        let mut problems: Vec<String> =
            filters.bloom_problem().map(ToString::to_string).into_iter().collect();
        let filter = filters.row_filter().unwrap_or_else(|error| {
            problems.push(error.to_string());
            None
        });
        let mid_key = mid_key(reader, &mut problems)?;
        let first_key = reader.index().first_key().and_then(KeyRef::parse);
        let time_range = info.time_range();
        let create_time = info.create_time().map(Timestamp::get);
        // A file without puts states the greatest timestamp.
        let time = info.earliest_put().filter(|time| *time != Timestamp::LATEST);
        let earliest_put = time.map(Timestamp::get);
        Ok(Self {
            schema: 1,
            file,
            target,
            size: reader.len(),
            version: format!("{}.{}", trailer.major_version, trailer.minor_version),
            cells: trailer.entry_count,
            family: escaped(first_key.map(|key| key.family)),
            first_row: escaped(reader.first_row()),
            last_row: escaped(reader.last_row()),
            first_key: first_key.map(|key| key.to_string()),
            last_key: reader.index().last_key().and_then(shown_key),
            mid_key,
            time_range: time_range.map(|TimeRange { min, max }| [min.get(), max.get()]),
            time_range_dates: time_range
                .map(|TimeRange { min, max }| [time_text(min.get()), time_text(max.get())]),
            earliest_put,
            earliest_put_date: earliest_put.map(time_text),
            max_sequence_id: info.sequence_id_max().map(SequenceId::get),
            create_time,
            create_date: create_time.map(time_text),
            major_compaction: info.is_major_compaction(),
            average_key_bytes: info.average_key_len(),
            average_value_bytes: info.average_value_len(),
            biggest_cell_bytes: info.biggest_cell_len(),
            biggest_cell_key: info.biggest_cell_key().map(|key| key.to_string()),
            delete_family_count: info.delete_family_count(),
            compression: blocks.compression().name(),
            encoding: blocks.encoding().name(),
            checksum: blocks.checksum_type().name(),
            includes_tags: info.includes_tags(),
            tags_compressed: info.compresses_tags(),
            includes_mvcc: info.includes_mvcc(),
            index_levels: reader.index().levels(),
            index_root_entries: trailer.data_index_count,
            meta_blocks: blocks.meta_names().map(|name| escape(name).to_string()).collect(),
            bloom: filters.bloom().map(BloomReport::from),
            delete_family_bloom: filters.delete_family_bloom().map(BloomReport::from),
            filter: filter.map(FilterReport::from),
            trailer: TrailerReport::from(trailer),
            file_info: entries(info),
            problems,
        })
    }
}

/// Returns the mid-key; adds to `problems` if the index block with the key is damaged.
fn mid_key(reader: &Reader, problems: &mut Vec<String>) -> Result<Option<String>> {
    match reader.index().middle_key(&mut ReadTrace::default()) {
        Ok(key) => Ok(key.as_deref().and_then(shown_key)),
        Err(Error::Corrupt { damage, .. }) => {
            problems.push(damage.to_string());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn shown_key(flat: &[u8]) -> Option<String> {
    KeyRef::parse(flat).map(|key| key.to_string())
}
