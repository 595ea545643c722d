//! Errors of the writer, and its use after an error.

use std::io;

use cells::{CellType, SequenceId, Timestamp};
use filter::{ErrorRate, FilterKind, Seed, Sizing};

use super::*;
use crate::block::BloomType;
use crate::compression::Compression;
use crate::write::FilterOptions;

const CELL: CellRef<'_> = CellRef {
    row: b"row",
    family: b"f",
    qualifier: b"q",
    timestamp: Timestamp::new(5),
    cell_type: CellType::Put,
    value: b"value",
    tags: b"",
    sequence_id: SequenceId::new(1),
};

fn begin(options: WriterOptions) -> Result<Writer<Vec<u8>>> {
    Writer::new(Vec::new(), FileName::new("new.hfile"), options)
}

/// Returns a writer with one cell.
fn begun() -> Writer<Vec<u8>> {
    let mut writer = begin(WriterOptions::default().includes_tags(true)).expect("sound options");
    writer.append(CELL).expect("a sound cell");
    writer
}

#[test]
fn an_invalid_cell_is_an_error_and_does_not_change_the_file() {
    let (sound, _) = begun().finish().expect("memory takes it");
    let mut writer = begun();
    let long_row = vec![b'r'; 32_768];
    let long_family = [b'f'; 128];
    for (cell, what) in [
        (CellRef { row: b"", ..CELL }, "cell /f:q/5/Put: it has no row"),
        (CellRef { family: b"", ..CELL }, "cell row/:q/5/Put: it has no family"),
        (CellRef { family: b"g", ..CELL }, "cell row/g:q/5/Put: the family of the file is f"),
        (CellRef { timestamp: Timestamp::new(-1), ..CELL }, "cell row/f:q/-1/Put: a negative"),
        (CellRef { timestamp: Timestamp::new(6), ..CELL }, "cell row/f:q/6/Put: it is less than"),
        (CellRef { row: b"roo", ..CELL }, "cell roo/f:q/5/Put: it is less than row/f:q/5/Put"),
        (CellRef { tags: b"\0", ..CELL }, "cell row/f:q/5/Put: the tags end in a length"),
        (CellRef { tags: b"\0\0", ..CELL }, "cell row/f:q/5/Put: a tag without a type"),
        (CellRef { tags: b"\0\x02A", ..CELL }, "cell row/f:q/5/Put: a tag exceeds the tags"),
        (CellRef { sequence_id: SequenceId::new(1 << 63), ..CELL }, "cell row/f:q/5/Put: sequence"),
        (CellRef { row: &long_row, ..CELL }, "a row of 32768 bytes; 32767 are allowed"),
        (CellRef { family: &long_family, ..CELL }, "a family of 128 bytes; 127 are allowed"),
    ] {
        let error = writer.append(cell).expect_err(what).to_string();
        assert!(error.starts_with("new.hfile: cell ") && error.contains(what), "{error}");
    }
    let (bytes, _) = writer.finish().expect("memory takes it");
    // The file equals one without the invalid cells, but for its create time.
    assert_eq!(bytes.len(), sound.len());
}

/// A marker that hides all older cells counts for every read of an older time; HBase has the same rule.
#[test]
fn the_times_of_a_file_begin_at_zero_if_a_marker_hides_all_older_cells() {
    for (cell_type, oldest) in [
        (CellType::Put, 5),
        (CellType::Delete, 5),
        (CellType::DeleteFamilyVersion, 5),
        (CellType::DeleteColumn, 0),
        (CellType::DeleteFamily, 0),
    ] {
        let mut writer = begin(WriterOptions::default()).expect("sound options");
        let qualifier: &[u8] = if cell_type.deletes_family() { b"" } else { b"q" };
        writer.append(CellRef { cell_type, qualifier, value: b"", ..CELL }).expect("a sound cell");
        let bytes = writer.finish().expect("in memory").0;
        let reader =
            crate::reader::tests::open(&bytes, crate::file::options::ReaderOptions::default());
        let times = reader.file_info().time_range().expect("the writer notes the times");
        assert_eq!(
            (times.min, times.max),
            (Timestamp::new(oldest), Timestamp::new(5)),
            "{cell_type:?}"
        );
    }
}

#[test]
fn tags_are_an_error_in_a_file_without_tags() {
    let mut writer = begin(WriterOptions::default()).expect("sound options");
    let error = writer.append(CellRef { tags: b"\0\x01A", ..CELL }).expect_err("tags");
    assert!(
        error.to_string().ends_with("it has tags, but the file is written without tags"),
        "{error}"
    );
}

#[test]
fn invalid_options_are_an_error() {
    let options = WriterOptions::default;
    let rate = ErrorRate::new(0.999_999_999).expect("a rate");
    for (options, what) in [
        (options().compression(Compression::Lzo), "unsupported compression codec: LZO"),
        (options().bytes_per_checksum(32), "a checksum every 32 bytes; from 33 on are allowed"),
        (options().block_size(1 << 31), "data blocks of 2147483648 bytes"),
        (options().index_block_size(0), "index blocks of 0 bytes and at least 16 entries"),
        (options().index_min_entries(1), "index blocks of 131072 bytes and at least 1 entries"),
        (options().bloom_type(BloomType::RowPrefixFixedLength(0)), "row prefixes of 0 bytes"),
        (options().file_info("hfile.x", ""), "file info hfile.x is reserved for the writer"),
        (options().file_info("TIMERANGE", ""), "file info TIMERANGE is reserved for the writer"),
        (
            options().bloom_type(BloomType::RowPrefixFixedLength(32_768)),
            "row prefixes of 32768 bytes",
        ),
        (
            options().bloom_error_rate(rate),
            "an error rate of 0.999999999 for HBase's Bloom filter; 1e-45 to 0.61 are allowed",
        ),
        (
            options()
                .bloom_error_rate(ErrorRate::new(1e-300).unwrap())
                .bloom_type(BloomType::RowCol),
            "an error rate of 1e-300 for HBase's Bloom filter; 1e-7 to 0.85 are allowed",
        ),
        (
            with_sizing(FilterKind::BinaryFuse, Sizing::BitsPerKey(8.0)),
            "no binary-fuse filter has 8 bits per key; 8.7 to 1024 are possible",
        ),
        (with_filter().comparator(Comparator::Meta), "a filter of ours over rows that are not in"),
        (options().create_time(Timestamp::new(-1)), "a create time before 1970"),
    ] {
        let error = begin(options).expect_err(what).to_string();
        assert!(error.starts_with(&format!("new.hfile: {what}")), "{error}");
    }
}

fn with_filter() -> WriterOptions {
    with_sizing(FilterKind::BlockedBloom, Sizing::ErrorRate(ErrorRate::HBASE))
}

fn with_sizing(kind: FilterKind, sizing: Sizing) -> WriterOptions {
    WriterOptions::default().filter(FilterOptions::new(kind, sizing).seed(Seed::new(7)))
}

/// A split-block filter of this error rate exists for a hundred rows, but not for a thousand.
#[test]
fn a_file_whose_filter_is_impossible_for_its_rows_is_written_without_it_if_the_filter_is_optional()
{
    for (rows, is_omitted) in [(100_u32, false), (1_000, true)] {
        let rate = ErrorRate::new(2.4e-9).unwrap();
        let options = with_sizing(FilterKind::SplitBlock, Sizing::ErrorRate(rate));
        for is_optional in [true, false] {
            let mut writer = begin(options.clone().filter_is_optional(is_optional)).unwrap();
            for row in 0..rows {
                let row = row.to_be_bytes();
                let cell = CellRef::put(&row, b"f", b"q", Timestamp::new(1), b"value");
                writer.append(cell).unwrap();
            }
            match writer.finish() {
                Ok((_, summary)) => {
                    assert_eq!(summary.filter_omission.is_some(), is_omitted);
                    assert_eq!(summary.cell_count, u64::from(rows));
                    assert!(is_optional || !is_omitted);
                }
                Err(error) => assert!(is_omitted && !is_optional, "{rows}: {error}"),
            }
        }
    }
}

#[test]
fn names_of_meta_blocks_are_unique() {
    let mut writer = begin(with_filter()).expect("sound options");
    writer.append_meta("notes", b"one".to_vec()).expect("a new name");
    assert!(writer.append_meta("notes", b"two".to_vec()).is_err());
    assert!(writer.append_meta("filter.row", b"mine".to_vec()).is_err());
    let (bytes, _) = writer.finish().expect("memory takes it");
    let blocks = bytes.windows(8).filter(|window| *window == b"METABLKc").count();
    assert_eq!(blocks, 2);
}

/// A sink that fails after a number of bytes.
#[derive(Debug)]
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_is_unusable_after_a_failed_write() {
    let options = WriterOptions::default().block_size(1);
    let mut writer =
        Writer::new(Full(100), FileName::new("new.hfile"), options).expect("sound options");
    let mut errors = Vec::new();
    // The writer buffers 1 MiB, which the second block fills.
    let value = vec![7; 1 << 19];
    for row in [&b"a"[..], b"b", b"c", b"d"] {
        errors.extend(writer.append(CellRef { row, value: &value, ..CELL }).err());
    }
    let [first, second] = &errors[..] else { panic!("{errors:?}") };
    let message = "new.hfile: cannot write the DATA block at 0x800bd: ";
    assert!(first.to_string().starts_with(message), "{first}");
    assert!(matches!(second, Error::Invalid { .. }));
    assert!(matches!(writer.finish(), Err(Error::Invalid { .. })));
}

/// The index could not distinguish two blocks with the same key.
#[test]
fn cells_of_one_key_stay_in_one_block() {
    let mut writer = begin(WriterOptions::default().block_size(1)).expect("sound options");
    for sequence_id in (0..9).rev() {
        let sequence_id = SequenceId::new(sequence_id);
        writer.append(CellRef { sequence_id, ..CELL }).expect("equal keys are in order");
    }
    writer.append(CellRef { row: b"s", ..CELL }).expect("in order");
    let (bytes, _) = writer.finish().expect("memory takes it");
    assert_eq!(bytes.windows(8).filter(|window| *window == b"DATABLK*").count(), 2);
}
