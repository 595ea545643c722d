//! Sound files whose cells are known, to be damaged: what may come of reading a damaged copy is an
//! error, or every answer of the sound one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use filter::{ErrorRate, FilterKind, Seed, Sizing};
use sstable::{
    BlockCache, BlockOffset, BloomType, Caching, Cell, CellRef, CellType, DataBlockEncoding,
    FileName, FilterOptions, Header, ReadTrace, Reader, ReaderOptions, Result, RowProbe, Scanner,
    SequenceId, Timestamp, Writer, WriterOptions,
};

use crate::fixtures::Fixture;

/// A file, what is in it, and rows that are and are not.
#[derive(Clone, Debug)]
pub struct Sound {
    /// What it is called.
    pub name: String,
    /// All its bytes.
    pub bytes: Vec<u8>,
    /// All its cells.
    pub cells: Vec<Cell>,
    /// Its rows in order, each followed by one that it does not have.
    pub rows: Vec<Vec<u8>>,
    /// Its blocks, and where they stand.
    pub blocks: Vec<(BlockOffset, Header)>,
}

/// Opens the bytes of a file.
///
/// # Errors
///
/// If they are damaged.
pub fn open(bytes: impl Into<Bytes>) -> Result<Reader> {
    open_with_cache(bytes, 1 << 20)
}

/// Opens the bytes of a file, with a cache that keeps nothing: what a get reads of a block of
/// differences, it walks only up to the row.
///
/// # Errors
///
/// If they are damaged.
pub fn open_to_walk(bytes: impl Into<Bytes>) -> Result<Reader> {
    open_with_cache(bytes, 0)
}

fn open_with_cache(bytes: impl Into<Bytes>, capacity: u64) -> Result<Reader> {
    let options = ReaderOptions::default().cache(Arc::new(BlockCache::new(capacity)));
    Reader::open(Arc::new(bytes.into()), FileName::new("damaged.hfile"), options)
}

/// Small files of HBase: an empty one, and each codec and family of encodings, some with tags.
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
    /// Small files of HBase and one of ours: every codec and family of encodings, an empty one, one
    /// with three index levels, some with tags.
    pub fn small() -> Vec<Self> {
        let of_hbase = SMALL.into_iter().map(Self::of_hbase);
        of_hbase.chain([Self::with_three_index_levels()]).collect()
    }

    /// A file of `tests/data`.
    ///
    /// # Panics
    ///
    /// If there is none of this name.
    pub fn of_hbase(name: &str) -> Self {
        let fixture = Fixture::all().into_iter().find(|fixture| fixture.name == name);
        let fixture = fixture.expect("a file of the manifest");
        Self::new(name, fixture.bytes(), fixture.cells())
    }

    /// A file of our writer's with all that a file can have: tags, sequence ids, deletes, both
    /// Bloom filters, a filter of our own, several index levels.
    ///
    /// # Panics
    ///
    /// Never: the options fit each other.
    pub fn written(name: &str, options: WriterOptions) -> Self {
        Self::written_with(name, options, &cells_of_all_sorts(120, |number| number, b'v'))
    }

    /// The same with other cells.
    ///
    /// # Panics
    ///
    /// If the options do not fit the cells.
    pub fn written_with(name: &str, options: WriterOptions, cells: &[Cell]) -> Self {
        let filter = FilterOptions {
            kind: FilterKind::BlockedBloom,
            sizing: Sizing::ErrorRate(ErrorRate::new(0.01).expect("in range")),
            seed: Seed::default(),
        };
        let options = options
            .includes_tags(true)
            .filter(filter)
            .bloom_block_size(64)
            .create_time(Timestamp::new(1_700_000_000_000));
        let mut writer = Writer::new(Vec::new(), FileName::new(name), options).expect("sound");
        for cell in cells {
            writer.append(cell.as_ref()).expect("in order");
        }
        let (bytes, _) = writer.finish().expect("memory takes it");
        Self::new(name, bytes, cells.to_vec())
    }

    /// A file of three index levels.
    ///
    /// # Panics
    ///
    /// If it has others.
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

    /// A file whose cells are known.
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
        let sound = Self { name: name.to_owned(), bytes, cells, rows, blocks };
        sound.judge(sound.bytes.clone(), "no damage").expect("a sound file");
        sound
    }

    /// Reads a damaged copy. `Err` if that gives an error, `Ok` if every answer is right.
    ///
    /// # Errors
    ///
    /// What the reader says of the damage.
    ///
    /// # Panics
    ///
    /// If reading panics, or any answer is wrong.
    pub fn judge(&self, bytes: impl Into<Bytes>, what: &str) -> Result<()> {
        let bytes = bytes.into();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            match self.wrong_row(&open_to_walk(bytes.clone())?)? {
                Some(lie) => Ok(Some(lie)),
                None => self.first_lie(&open(bytes)?),
            }
        }));
        match outcome {
            Ok(Ok(None)) => Ok(()),
            Ok(Ok(Some(lie))) => panic!("{}: {what} gives {lie}", self.name),
            Ok(Err(error)) => Err(error),
            Err(panic) => panic!("{}: {what} panics: {panic:?}", self.name),
        }
    }

    /// Asks a reader everything, and returns the first answer that is not this file's.
    fn first_lie(&self, reader: &Reader) -> Result<Option<String>> {
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
        if let Some(lie) = self.wrong_row(reader)? {
            return Ok(Some(lie));
        }
        for block in reader.blocks().headers() {
            block?;
        }
        reader.index().middle_key(&mut ReadTrace::default())?;
        Ok(None)
    }

    /// Looks each row up, and returns the first answer that is not this file's.
    fn wrong_row(&self, reader: &Reader) -> Result<Option<String>> {
        for row in &self.rows {
            let probe = RowProbe::new(row, Seed::default());
            let found = reader.get_row(&probe, &mut ReadTrace::default())?;
            let found = found.as_ref().and_then(Scanner::cell);
            if found != self.first_of(row).map(Cell::as_ref) {
                return Ok(Some(format!("{found:?} for row {}", sstable::escape(row))));
            }
        }
        Ok(None)
    }

    /// The first cell of a row.
    pub fn first_of(&self, row: &[u8]) -> Option<&Cell> {
        let at = self.cells.partition_point(|cell| cell.row() < row);
        self.cells.get(at).filter(|cell| cell.row() == row)
    }

    /// Where a block stands and what of it the checksums cover.
    pub fn covered(&self, block: usize) -> std::ops::Range<usize> {
        let (at, header) = self.blocks[block];
        let start = at.get() as usize;
        start..start + header.on_disk_data_size_with_header as usize
    }
}

/// Cells of many rows, `count` of them: puts and deletes, long values and none, with tags and without.
/// `number_of` gives the number in a row's name for that of the row; values are made of `fill`.
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
