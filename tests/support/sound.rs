//! Sound files whose cells are known.
//!
//! A read of a damaged copy must end in an error or return what the sound file returns.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{
    BlockCache, BlockHeader, BlockOffset, BloomType, Caching, Cell, CellRef, CellType, Comparator,
    DataBlockEncoding, FileName, FilterOptions, KeyRef, ReadTrace, Reader, ReaderOptions, Result,
    SequenceId, Timestamp, Writer, WriterOptions,
};

use crate::fixtures::Fixture;

/// A sound file, its contents, and rows that it has and has not.
#[derive(Clone, Debug)]
pub struct Sound {
    /// Its name in messages.
    pub name: String,
    /// All its bytes.
    pub bytes: Vec<u8>,
    /// All its cells.
    pub cells: Vec<Cell>,
    /// Its rows in order, each followed by a row that it does not have.
    pub rows: Vec<Vec<u8>>,
    /// Its blocks and their offsets.
    pub blocks: Vec<(BlockOffset, BlockHeader)>,
    order: Comparator,
}

/// Opens the bytes of a file.
///
/// # Errors
///
/// If they are damaged.
pub fn open(bytes: impl Into<Bytes>) -> Result<Reader> {
    open_with_cache(bytes, 1 << 20)
}

/// Opens the bytes of a file with a cache of zero bytes.
///
/// A get then decodes a delta-encoded block only up to its row.
///
/// # Errors
///
/// If they are damaged.
pub fn open_without_cache(bytes: impl Into<Bytes>) -> Result<Reader> {
    open_with_cache(bytes, 0)
}

fn open_with_cache(bytes: impl Into<Bytes>, capacity: u64) -> Result<Reader> {
    let options = ReaderOptions::default().cache(Arc::new(BlockCache::new(capacity)));
    Reader::open(Arc::new(bytes.into()), FileName::new("damaged.hfile"), options)
}

/// Small files of HBase: an empty one, and each codec and encoding, some with tags.
const SMALL: [&str; 8] = [
    "s02-empty",
    "s03-one-cell",
    "s15-extra-file-info",
    "p11-prefix-none-row",
    "p21-prefix-gz-row",
    "p02-diff-snappy-row",
    "p23-fastdiff-lz4-row",
    "p16-rowindexv1-lz4-rowcol",
];

impl Sound {
    /// Returns small files of HBase and one of ours.
    ///
    /// They cover every codec and encoding, no cells, three index levels, and tags.
    pub fn small() -> Vec<Self> {
        let of_hbase = SMALL.into_iter().map(Self::of_hbase);
        of_hbase.chain([Self::with_three_index_levels()]).collect()
    }

    /// A file of `tests/data`.
    ///
    /// # Panics
    ///
    /// If no file has this name.
    pub fn of_hbase(name: &str) -> Self {
        let fixture = Fixture::all().into_iter().find(|fixture| fixture.name == name);
        let fixture = fixture.expect("a file of the manifest");
        Self::new(name, fixture.bytes(), fixture.cells())
    }

    /// Writes a file with every feature of our writer.
    ///
    /// These are tags, sequence ids, deletes, both Bloom filters, a row filter and several index
    /// levels.
    ///
    /// # Panics
    ///
    /// Never: the options are compatible.
    pub fn written(name: &str, options: WriterOptions) -> Self {
        Self::written_with(name, options, &cells_of_all_sorts(120, |number| number, b'v'))
    }

    /// As [`written`](Self::written), with other cells.
    ///
    /// # Panics
    ///
    /// If the cells contradict the options.
    pub fn written_with(name: &str, options: WriterOptions, cells: &[Cell]) -> Self {
        let filter = FilterOptions::new(
            FilterKind::BlockedBloom,
            Sizing::ErrorRate(ErrorRate::new(0.01).expect("in range")),
        );
        let options = options
            .includes_tags(true)
            .filter(filter)
            .bloom_block_size(64)
            .create_time(Timestamp::new(1_700_000_000_000));
        let mut writer = Writer::new(Vec::new(), FileName::new(name), options).expect("sound");
        for cell in cells {
            writer.append(cell.as_ref()).expect("in order");
        }
        let (bytes, _) = writer.finish().expect("in memory");
        Self::new(name, bytes, cells.to_vec())
    }

    /// Writes a file of three index levels.
    ///
    /// # Panics
    ///
    /// If the file has another number of levels.
    pub fn with_three_index_levels() -> Self {
        let options = WriterOptions::default()
            .data_block_encoding(DataBlockEncoding::Diff)
            .compress_tags(true)
            .block_size(300)
            .index_block_size(160)
            .index_min_entries(4)
            .bloom_type(BloomType::RowCol);
        let made = Self::written("three-index-levels", options);
        assert_eq!(open(made.bytes.clone()).expect("sound").index().levels(), 3);
        made
    }

    /// Makes a sound file of bytes and the cells that they hold.
    ///
    /// # Panics
    ///
    /// If it is not sound.
    pub fn new(name: &str, bytes: Vec<u8>, cells: Vec<Cell>) -> Self {
        let mut rows: Vec<_> = cells.iter().map(|cell| cell.row().to_vec()).collect();
        rows.dedup();
        let absent: Vec<_> = rows.iter().map(|row| [&row[..], b"\0"].concat()).collect();
        let rows = rows.into_iter().zip(absent).flat_map(<[_; 2]>::from).collect();
        let reader = open(bytes.clone()).expect("a sound file");
        let blocks = reader.blocks().headers().collect::<Result<_>>().expect("sound headers");
        let order = reader.trailer().comparator;
        let sound = Self { name: name.to_owned(), bytes, cells, rows, blocks, order };
        sound.judge(sound.bytes.clone(), "no damage").expect("a sound file");
        sound
    }

    /// Reads a damaged copy: `Ok` if every answer is right, `Err` if a read fails.
    ///
    /// # Errors
    ///
    /// The error of the reader.
    ///
    /// # Panics
    ///
    /// If reading panics, or any answer is wrong.
    pub fn judge(&self, bytes: impl Into<Bytes>, what: &str) -> Result<()> {
        let bytes = bytes.into();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            match self.wrong_row(&open_without_cache(bytes.clone())?)? {
                Some(wrong) => Ok(Some(wrong)),
                None => self.first_wrong_answer(&open(bytes)?),
            }
        }));
        match outcome {
            Ok(Ok(None)) => Ok(()),
            Ok(Ok(Some(wrong))) => panic!("{}: {what} gives {wrong}", self.name),
            Ok(Err(error)) => Err(error),
            Err(panic) => panic!("{}: {what} panics: {panic:?}", self.name),
        }
    }

    /// Asks a reader every question and returns the first wrong answer.
    fn first_wrong_answer(&self, reader: &Reader) -> Result<Option<String>> {
        for caching in [Caching::Bypass, Caching::Use] {
            let mut scanner = reader.scanner(caching);
            scanner.seek_to_first()?;
            for (number, cell) in self.cells.iter().enumerate() {
                if scanner.cell() != Some(cell.as_ref()) {
                    return Ok(Some(format!("another cell {number}: {:?}", scanner.cell())));
                }
                scanner.advance()?;
            }
            if let Some(cell) = scanner.cell() {
                return Ok(Some(format!("one more cell: {cell:?}")));
            }
        }
        let mut scanner = reader.scanner(Caching::Use);
        scanner.seek_to_last()?;
        for (number, cell) in self.cells.iter().enumerate().rev() {
            if scanner.cell() != Some(cell.as_ref()) {
                return Ok(Some(format!("backwards another cell {number}: {:?}", scanner.cell())));
            }
            scanner.retreat()?;
        }
        if let Some(wrong) = self.wrong_row(reader)? {
            return Ok(Some(wrong));
        }
        for block in reader.blocks().headers() {
            block?;
        }
        reader.index().middle_key(&mut ReadTrace::default())?;
        Ok(None)
    }

    /// Gets each row and returns the first wrong answer.
    fn wrong_row(&self, reader: &Reader) -> Result<Option<String>> {
        for row in &self.rows {
            let cells = reader.row(row)?;
            let found = cells.cell();
            if found != self.first_of(row).map(Cell::as_ref) {
                return Ok(Some(format!("{found:?} for row {}", cells::escape(row))));
            }
        }
        Ok(None)
    }

    /// Returns the first cell of a row.
    pub fn first_of(&self, row: &[u8]) -> Option<&Cell> {
        self.cells.get(self.before(row)).filter(|cell| cell.row() == row)
    }

    /// Returns the number of cells before a row, in the order of the file.
    pub fn before(&self, row: &[u8]) -> usize {
        let key = KeyRef::before_row(row);
        self.cells.partition_point(|cell| self.order.compare(&cell.as_ref().key(), &key).is_lt())
    }

    /// Returns the range of a block that its checksums cover.
    pub fn covered(&self, block: usize) -> std::ops::Range<usize> {
        let (at, header) = self.blocks[block];
        let start = at.get() as usize;
        start..start + header.on_disk_data_size_with_header as usize
    }
}

/// Cells of `count` rows: puts and deletes, long and empty values, with and without tags.
///
/// `number_of` maps a row to the number in its name; values repeat `fill`.
pub fn cells_of_all_sorts(count: u64, number_of: impl Fn(u64) -> u64, fill: u8) -> Vec<Cell> {
    let mut cells = Vec::new();
    for number in 0..count {
        let row = format!("row-{:03}", number_of(number / 2));
        let cell_type = match number % 12 {
            0 => CellType::DeleteFamily,
            5 => CellType::Delete,
            _ => CellType::Put,
        };
        let is_delete = cell_type == CellType::DeleteFamily;
        let qualifier = format!("column-{}", number % 2);
        let tags = match number % 3 {
            0 => vec![0, 4, 65, b't', b'a', b'g' + (number % 5) as u8],
            _ => Vec::new(),
        };
        let value = vec![fill; usize::from(cell_type == CellType::Put) * (number as usize % 40)];
        let cell = CellRef {
            row: row.as_bytes(),
            family: b"f",
            qualifier: if is_delete { b"" } else { qualifier.as_bytes() },
            timestamp: Timestamp::new(1_700_000_000_000 + number as i64),
            cell_type,
            value: &value,
            tags: &tags,
            sequence_id: SequenceId::new(number),
        };
        cells.push(cell.to_cell());
    }
    cells.sort_by(|left, right| left.as_ref().compare(&right.as_ref()));
    cells
}
