//! Checks of all cells of a file together: order, family, file info, filters.

use cells::{CellRef, CellType, KeyRef, SequenceId, Timestamp, show_count, show_number};
use filter::Seed;

use crate::block::BloomType;
use crate::error::BlockType;
use crate::file::file_info::{FileInfo, LongestCell, TimeRange};
use crate::file::filters::chunked_bloom::ChunkedBloom;
use crate::file::filters::filter_answer::FilterAnswer;
use crate::file::open_file::OpenFile;
use crate::probe::RowProbe;
use crate::trace::ReadTrace;

/// The counters and extremes of the cells checked so far.
#[derive(Default)]
pub(super) struct CellChecks {
    /// The flat key of the previous cell; empty before the first cell.
    previous_key: Vec<u8>,
    previous_sequence_id: SequenceId,
    /// The time range in the file info.
    time_range: Option<TimeRange>,
    cell_count: u64,
    key_bytes: u64,
    /// The bytes of all cells' rows.
    row_bytes: u64,
    value_bytes: u64,
    tags_len_max: usize,
    sequence_id_max: u64,
    delete_family_count: u64,
    earliest_put: Option<Timestamp>,
    /// `None` unless the file info has an entry about it.
    longest_cell: Option<LongestCell>,
    row_count: u64,
    bloom_key_count: u64,
    delete_family_rows: u64,
    last_delete_family_row: Option<Vec<u8>>,
    last_bloom_key: Option<Vec<u8>>,
}

/// A statement of the file about its cells that is wrong.
pub(super) struct WrongStatement {
    pub(super) block: BlockType,
    pub(super) what: String,
    /// Whether reads depend on it, so that they may not find rows.
    pub(super) costs_rows: bool,
}

impl CellChecks {
    pub(super) fn new(file: &OpenFile) -> Self {
        let keys = [FileInfo::BIGGEST_CELL_LEN, FileInfo::BIGGEST_CELL_KEY];
        let has_longest = keys.into_iter().any(|key| file.file_info.value(key).is_some());
        let longest_cell = has_longest.then(LongestCell::default);
        Self { time_range: file.file_info.time_range(), longest_cell, ..Self::default() }
    }

    /// Checks the next cell against the previous ones, and asks the filters. Returns the problems.
    pub(super) fn check(&mut self, file: &OpenFile, cell: &CellRef<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        let mut previous_key = std::mem::take(&mut self.previous_key);
        let previous = KeyRef::parse(&previous_key);
        if let Some(previous) = &previous {
            let order = file.trailer.comparator.compare(previous, &cell.key());
            if order.is_gt() {
                problems.push(format!("is less than {}, the key before it", display_key(previous)));
            }
            // Of cells with one key, the newest comes first and hides the others.
            if order.is_eq() && self.previous_sequence_id < cell.sequence_id {
                let (before, own) = (self.previous_sequence_id, cell.sequence_id);
                problems.push(format!("has sequence id {own} after {before} of the same key"));
            }
            if previous.family != cell.family {
                problems.push("has another family than the cells before it".to_owned());
            }
        }
        let starts_row = previous.as_ref().is_none_or(|previous| previous.row != cell.row);
        let starts_column = starts_row
            || previous.as_ref().is_none_or(|previous| previous.qualifier != cell.qualifier);
        self.count(cell, starts_row);
        self.ask_filters(file, cell, starts_row, starts_column, &mut problems);
        if let Some(range) = self.time_range
            && !(range.min..=range.max).contains(&cell.timestamp)
        {
            problems.push(format!("is outside the time range {} to {}", range.min, range.max));
        }
        previous_key.clear();
        cell.key().write_flat(&mut previous_key);
        self.previous_key = previous_key;
        self.previous_sequence_id = cell.sequence_id;
        problems
    }

    /// Returns the number of different rows so far.
    pub(super) const fn row_count(&self) -> u64 {
        self.row_count
    }

    fn count(&mut self, cell: &CellRef<'_>, starts_row: bool) {
        self.cell_count += 1;
        self.row_count += u64::from(starts_row);
        self.key_bytes += cell.key().flat_len() as u64;
        self.row_bytes += cell.row.len() as u64;
        self.value_bytes += cell.value.len() as u64;
        self.tags_len_max = self.tags_len_max.max(cell.tags.len());
        self.sequence_id_max = self.sequence_id_max.max(cell.sequence_id.get());
        if let Some(longest) = &mut self.longest_cell {
            longest.add(cell);
        }
        if cell.cell_type.deletes_family() {
            self.delete_family_count += 1;
        }
        if cell.cell_type == CellType::Put {
            let earliest = self.earliest_put.unwrap_or(Timestamp::LATEST);
            self.earliest_put = Some(earliest.min(cell.timestamp));
        }
    }

    /// Asks each filter about the cell, if the cell begins a new key of the filter.
    ///
    /// Unreadable filter blocks are reported elsewhere.
    fn ask_filters(
        &mut self,
        file: &OpenFile,
        cell: &CellRef<'_>,
        starts_row: bool,
        starts_column: bool,
        problems: &mut Vec<String>,
    ) {
        let filters = file.filters();
        let trace = &mut ReadTrace::default();
        let probe = RowProbe::new(cell.row, Seed::default()).with_column(cell.qualifier);
        if let Some(bloom) = &filters.bloom {
            let is_new = match bloom.bloom_type {
                BloomType::None => false,
                BloomType::Row => starts_row,
                BloomType::RowCol => starts_column,
                BloomType::RowPrefixFixedLength(len) => {
                    let prefix = cell.row.get(..len.into()).unwrap_or(cell.row);
                    let is_new = self.last_bloom_key.as_deref() != Some(prefix);
                    self.last_bloom_key = Some(prefix.to_vec());
                    is_new
                }
            };
            self.bloom_key_count += u64::from(is_new);
            if is_new && bloom.ask_exact_key(&file.blocks, &probe, trace) == FilterAnswer::No {
                problems.push("is denied by the Bloom filter".to_owned());
            }
        }
        if starts_row
            && let Some(filter) = &filters.row_filter
            && filter.ask(&file.blocks, &probe, trace) == FilterAnswer::No
        {
            problems.push("is denied by the filter in the META blocks filter.row".to_owned());
        }
        if cell.cell_type.deletes_family()
            && self.last_delete_family_row.as_deref() != Some(cell.row)
        {
            self.delete_family_rows += 1;
            self.last_delete_family_row = Some(cell.row.to_vec());
            if let Some(bloom) = &filters.delete_family_bloom
                && bloom.ask(&file.blocks, &probe, trace) == FilterAnswer::No
            {
                problems.push("is denied by the Bloom filter over family deletes".to_owned());
            }
        }
    }

    /// Checks the statements of the file about its cells. Returns those that are wrong.
    pub(super) fn finish(&self, file: &OpenFile, bloom_bytes: u64) -> Vec<WrongStatement> {
        let mut problems = Vec::new();
        self.check_file_info(file, &mut problems);
        self.check_longest_cell(file, &mut problems);
        self.check_filters(file, bloom_bytes, &mut problems);
        problems
    }

    fn check_file_info(&self, file: &OpenFile, problems: &mut Vec<WrongStatement>) {
        /// Those that no read of cells depends on.
        const FOR_INFORMATION: [&[u8]; 3] =
            [FileInfo::AVERAGE_KEY_LEN, FileInfo::AVERAGE_VALUE_LEN, FileInfo::MAX_TAGS_LEN];
        let file_info = &file.file_info;
        let mut compare = |key: &[u8], stated: Option<i64>, is: i64| {
            if stated.is_some_and(|stated| stated != is) {
                let costs_rows = !FOR_INFORMATION.contains(&key);
                let key = cells::escape(key);
                let what = format!("{key} is {} and should be {is}", stated.unwrap_or(0));
                problems.push(WrongStatement { block: BlockType::FileInfo, what, costs_rows });
            }
        };
        let int = |key| file_info.int(key).map(i64::from);
        let average = |sum: u64| sum.checked_div(self.cell_count).unwrap_or(0).cast_signed();
        let key = FileInfo::AVERAGE_KEY_LEN;
        let rows = average(self.row_bytes);
        let states_rows = file.trailer.has_hudi_comparator() && int(key) == Some(rows);
        compare(key, int(key), if states_rows { rows } else { average(self.key_bytes) });
        let key = FileInfo::AVERAGE_VALUE_LEN;
        compare(key, int(key), average(self.value_bytes));
        let key = FileInfo::MAX_TAGS_LEN;
        compare(key, int(key), self.tags_len_max as i64);
        let key = FileInfo::MAX_MEMSTORE_TS;
        compare(key, file_info.long(key), self.sequence_id_max.cast_signed());
        let key = FileInfo::DELETE_FAMILY_COUNT;
        compare(key, file_info.long(key), self.delete_family_count.cast_signed());
        // A bulk load that cuts a file at a region's boundary copies the time of the whole file to both
        // parts (HBase: `BulkLoadHFilesTool.copyHFileHalf`). So an earlier time is no damage.
        let key = FileInfo::EARLIEST_PUT_TS;
        let earliest = self.earliest_put.unwrap_or(Timestamp::LATEST).get();
        compare(key, file_info.long(key).map(|stated| stated.max(earliest)), earliest);

        if file.last_key != self.previous_key {
            let what = "hfile.LASTKEY is not the key of the last cell".to_owned();
            problems.push(WrongStatement { block: BlockType::FileInfo, what, costs_rows: true });
        }
    }

    /// Checks what HBase 2.6 and later say about the longest cell.
    fn check_longest_cell(&self, file: &OpenFile, problems: &mut Vec<WrongStatement>) {
        let Some(longest) = &self.longest_cell else { return };
        let as_number = |bytes: &[u8]| match <[u8; 8]>::try_from(bytes) {
            Ok(number) => i64::from_be_bytes(number).to_string(),
            Err(_) => display_bytes(bytes),
        };
        let as_key = |bytes: &[u8]| {
            KeyRef::parse(bytes).map_or_else(|| display_bytes(bytes), |key| display_key(&key))
        };
        let mut compare = |key: &[u8], expected: &[u8], show: &dyn Fn(&[u8]) -> String| {
            let stated = file.file_info.value(key).filter(|stated| *stated != expected);
            let Some(stated) = stated.map(show) else { return };
            let (key, expected) = (cells::escape(key), show(expected));
            let what = format!("{key} is {stated} and should be {expected}");
            problems.push(WrongStatement { block: BlockType::FileInfo, what, costs_rows: false });
        };
        compare(FileInfo::BIGGEST_CELL_LEN, &longest.len.to_be_bytes(), &as_number);
        compare(FileInfo::BIGGEST_CELL_KEY, &longest.flat_key, &as_key);
    }

    fn check_filters(&self, file: &OpenFile, bloom_bytes: u64, problems: &mut Vec<WrongStatement>) {
        // A filter that denies a key is reported with the cell, so a wrong count costs no rows.
        let costs_rows = false;
        let filters = file.filters();
        let blooms = [
            (&filters.bloom, self.bloom_key_count, BlockType::GeneralBloomMeta),
            (
                &filters.delete_family_bloom,
                self.delete_family_rows,
                BlockType::DeleteFamilyBloomMeta,
            ),
        ];
        let mut bytes = 0;
        for (bloom, is, block) in blooms {
            let Some(summary) = bloom.as_ref().map(ChunkedBloom::summary) else { continue };
            bytes += summary.byte_size;
            if summary.key_count != is {
                let (found, is) = (show_number(summary.key_count, "key"), show_count(is));
                let what = format!("has {found} and should have {is}");
                problems.push(WrongStatement { block, what, costs_rows });
            }
        }
        if filters.problem.is_none() && bytes != bloom_bytes && filters.bloom.is_some() {
            let (bytes, is) = (show_number(bytes, "byte"), show_count(bloom_bytes));
            let what = format!("states {bytes} of chunks, which have {is}");
            problems.push(WrongStatement { block: BlockType::GeneralBloomMeta, what, costs_rows });
        }
    }
}

/// Formats bytes that are not what they should be, shortened.
fn display_bytes(bytes: &[u8]) -> String {
    const LEN: usize = 40;
    format!("{} bytes, {}", bytes.len(), cells::escape(bytes.get(..LEN).unwrap_or(bytes)))
}

/// Formats a key, shortened, because keys of hostile files can be as long as a block.
pub(super) fn display_key(key: &KeyRef<'_>) -> String {
    const LEN: usize = 200;
    let row = key.row.get(..LEN).unwrap_or(key.row);
    let qualifier = key.qualifier.get(..LEN).unwrap_or(key.qualifier);
    let short = KeyRef { row, qualifier, ..*key };
    if short == *key { short.to_string() } else { format!("{short} (shortened)") }
}
