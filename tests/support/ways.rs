//! Every way of reading a file, each asked and checked separately, so that the failure of one does
//! not hide another.

mod in_store;

use std::fmt;

use bytes::Bytes;
use filter::Seed;
use hbase_files::{CellScanner, StoreFileReader};
use sstable::lookup::LookupFiles;
use sstable::{
    BloomType, Caching, Cell, CellRef, Half, KeyRef, ReadTrace, Reader, Reference, Result,
    RowProbe, Scanner,
};

use crate::lookup::look_up_together;
use crate::sound::{Sound, open, open_without_cache};
use in_store::InStore;

/// A way of reading a file.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Way {
    /// A scan through the cache.
    Forward,
    /// A scan past the cache.
    ForwardPastCache,
    /// A scan that reads ahead.
    Bulk,
    /// A scan from the last cell to the first, through the cache.
    Reverse,
    /// A scan from the last cell to the first, past the cache.
    ReversePastCache,
    /// Seeks to rows and between them, then a few cells forwards.
    Seek,
    /// Seeks to the cell before each row, then a few cells backwards.
    SeekBefore,
    /// Gets of rows that the file has.
    Get,
    /// The same without a cache, so that blocks are decoded only up to the row.
    GetUncached,
    /// Gets of absent rows.
    AbsentGet,
    /// Batched gets.
    Batch,
    /// Batched gets in a list that has the file twice.
    BatchInTwo,
    /// Scans of the rows with a prefix that the prefix filter admits.
    Prefix,
    /// Both halves of the file, as after a region split, forwards and backwards.
    Halves,
    /// Gets from a store that has the file.
    StoreGet,
    /// Batched gets from the store.
    StoreMultiGet,
    /// A scan of the store.
    StoreScan,
    /// A reversed scan of the store.
    StoreReverse,
    /// Scans of the store's rows with a prefix.
    StorePrefix,
}

impl Way {
    /// All ways.
    pub const ALL: [Self; 19] = [
        Self::Forward,
        Self::ForwardPastCache,
        Self::Bulk,
        Self::Reverse,
        Self::ReversePastCache,
        Self::Seek,
        Self::SeekBefore,
        Self::Get,
        Self::GetUncached,
        Self::AbsentGet,
        Self::Batch,
        Self::BatchInTwo,
        Self::Prefix,
        Self::Halves,
        Self::StoreGet,
        Self::StoreMultiGet,
        Self::StoreScan,
        Self::StoreReverse,
        Self::StorePrefix,
    ];

    /// Whether it checks the last key of a block only when the scan leaves the block.
    pub const fn checks_block_end_last(self) -> bool {
        matches!(self, Self::ForwardPastCache | Self::Bulk | Self::Halves | Self::Seek)
    }

    /// Whether it decodes a block only as far as it reads.
    pub const fn decodes_partially(self) -> bool {
        matches!(self, Self::GetUncached) || self.checks_block_end_last()
    }

    /// Whether a wrong filter can hide cells from it.
    pub const fn asks_filter(self) -> bool {
        use Way::{
            Batch, BatchInTwo, Get, GetUncached, Prefix, StoreGet, StoreMultiGet, StorePrefix,
        };
        matches!(
            self,
            Get | GetUncached
                | Batch
                | BatchInTwo
                | Prefix
                | StoreGet
                | StoreMultiGet
                | StorePrefix
        )
    }

    /// Whether a wrong index key can make it miss cells.
    ///
    /// A scan of a whole file iterates over the index; a store's reversed scan seeks the start of
    /// each row.
    pub const fn seeks(self) -> bool {
        use Way::{Halves, Seek, SeekBefore, StoreReverse};
        self.asks_filter() || matches!(self, Seek | SeekBefore | Halves | StoreReverse)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// The answer to one question.
#[derive(Debug)]
pub struct Answer {
    /// The question, as shown in messages.
    pub question: String,
    /// The cells that the sound file returns.
    pub expected: Vec<Cell>,
    /// The cells that the copy returned.
    pub found: Vec<Cell>,
    /// Whether an error ended the read.
    pub failed: bool,
    /// Whether `found` was limited to a few cells.
    pub is_cut: bool,
}

/// The cells read, and the error that ended the read.
type Read = (Vec<Cell>, Result<()>);

impl Answer {
    fn new(question: impl Into<String>, expected: Vec<Cell>, (found, outcome): Read) -> Self {
        Self { question: question.into(), expected, found, failed: outcome.is_err(), is_cut: false }
    }
}

/// A sound file and the questions for its copies.
pub struct Questions {
    sound: Sound,
    /// At least every tenth row, each followed by one that is mostly absent.
    rows: Vec<Vec<u8>>,
    /// The length of the prefixes in the Bloom filter.
    prefix_len: Option<usize>,
    store: Option<InStore>,
}

impl Questions {
    /// Puts a copy of a file into a store in memory, if a store can hold it.
    ///
    /// # Panics
    ///
    /// If the file is not sound.
    pub fn new(sound: Sound) -> Self {
        let known = sound.rows.chunks(2);
        let stride = (known.len() / 10).clamp(1, 10);
        let rows = known.step_by(stride).flatten().cloned().collect();
        let reader = open(sound.bytes.clone()).expect("a sound file");
        let prefix_len = reader.filters().bloom().and_then(|bloom| match bloom.bloom_type {
            BloomType::RowPrefixFixedLength(len) => Some(usize::from(len)),
            _ => None,
        });
        let mut questions = Self { sound, rows, prefix_len, store: None };
        questions.store = InStore::of(&questions);
        questions
    }

    /// Returns the sound file.
    pub const fn sound(&self) -> &Sound {
        &self.sound
    }

    /// Whether a store holds a copy of the file.
    pub const fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// Asks a copy of the file in one way.
    ///
    /// # Errors
    ///
    /// If the copy or its store cannot be opened.
    pub fn ask(&self, way: Way, bytes: &Bytes) -> Result<Vec<Answer>, String> {
        match way {
            Way::StoreGet
            | Way::StoreMultiGet
            | Way::StoreScan
            | Way::StoreReverse
            | Way::StorePrefix => match &self.store {
                Some(store) => store.ask(self, way, bytes),
                None => Ok(Vec::new()),
            },
            Way::GetUncached => {
                let reader =
                    open_without_cache(bytes.clone()).map_err(|error| error.to_string())?;
                Ok(self.gets(&reader, self.present()))
            }
            way => {
                let reader = open(bytes.clone()).map_err(|error| error.to_string())?;
                Ok(self.ask_reader(way, &reader))
            }
        }
    }

    fn ask_reader(&self, way: Way, reader: &Reader) -> Vec<Answer> {
        // The blocks read here must not stay in the cache unchecked.
        let _ = reader.index().middle_key(&mut ReadTrace::default());
        let all = || self.sound.cells.clone();
        let back = || self.sound.cells.iter().rev().cloned().collect();
        let whole = |expected, read| vec![Answer::new(way.to_string(), expected, read)];
        match way {
            Way::Forward => whole(all(), forwards(&mut reader.scanner(Caching::Use))),
            Way::ForwardPastCache => whole(all(), forwards(&mut reader.scanner(Caching::Bypass))),
            Way::Bulk => whole(all(), forwards(&mut reader.bulk_scanner())),
            Way::Reverse => whole(back(), backwards(&mut reader.scanner(Caching::Use))),
            Way::ReversePastCache => whole(back(), backwards(&mut reader.scanner(Caching::Bypass))),
            Way::Seek => self.seeks(reader, false),
            Way::SeekBefore => self.seeks(reader, true),
            Way::Get => self.gets(reader, self.present()),
            Way::AbsentGet => self.gets(reader, self.absent()),
            Way::Batch => self.batch(reader, 1),
            Way::BatchInTwo => self.batch(reader, 2),
            Way::Prefix => self.prefixes(reader),
            Way::Halves => self.halves(reader),
            _ => unreachable!("{way} needs a store or a separate reader"),
        }
    }

    /// Seeks to each row, or to the cell before it, and reads a few cells on in that direction.
    fn seeks(&self, reader: &Reader, is_before: bool) -> Vec<Answer> {
        let mut answers = Vec::new();
        for caching in [Caching::Use, Caching::Bypass] {
            for row in &self.rows {
                let (before, after) = self.sound.cells.split_at(self.sound.before(row));
                let expected = if is_before {
                    before.iter().rev().take(FEW).cloned().collect()
                } else {
                    after.iter().take(FEW).cloned().collect()
                };
                let mut scanner = reader.scanner(caching);
                let key = KeyRef::before_row(row);
                let mut outcome =
                    if is_before { scanner.seek_before(key) } else { scanner.seek(key) };
                let mut found = Vec::new();
                while let Some(cell) = scanner.cell().filter(|_| found.len() < FEW) {
                    found.push(cell.to_cell());
                    outcome = if is_before { scanner.retreat() } else { scanner.advance() };
                }
                let what = if is_before { "seek before" } else { "seek" };
                let answer = Answer::new(named(what, row), expected, (found, outcome));
                answers.push(Answer { is_cut: true, ..answer });
            }
        }
        answers
    }

    fn gets<'r>(&self, reader: &Reader, rows: impl Iterator<Item = &'r Vec<u8>>) -> Vec<Answer> {
        // Also for absent rows: in HBase's files a row with a zero byte appended can be another row.
        rows.map(|row| Answer::new(named("get", row), self.of_row(row), get(reader, row))).collect()
    }

    fn present(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.rows.iter().step_by(2)
    }

    fn absent(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.rows.iter().skip(1).step_by(2)
    }

    /// Gets all rows in one batch from a list that has the file `times` times.
    fn batch(&self, reader: &Reader, times: usize) -> Vec<Answer> {
        let probes: Vec<_> =
            self.rows.iter().map(|row| RowProbe::new(row, Seed::default())).collect();
        let mut answers = vec![(Vec::new(), 0_usize); probes.len()];
        let files = LookupFiles::new(vec![reader.lookup_file(); times]).expect("of one time");
        look_up_together(&files, &probes, |row, found| match found {
            Ok(found) => answers[row].0.push(found.cell().to_cell()),
            Err(_) => answers[row].1 += 1,
        });
        let answer = |(row, (found, errors)): (&Vec<u8>, (Vec<Cell>, usize))| {
            let first: Vec<_> = self.of_row(row).into_iter().take(1).collect();
            let expected = vec![first; times].concat();
            let missing = expected.len().saturating_sub(found.len());
            let failed = missing > 0 && errors >= missing;
            Answer { question: named("batch", row), expected, found, failed, is_cut: false }
        };
        self.rows.iter().zip(answers).map(answer).collect()
    }

    fn prefixes(&self, reader: &Reader) -> Vec<Answer> {
        let mut answers = Vec::new();
        for row in self.present() {
            for len in self.prefix_lens(row) {
                let prefix = &row[..len];
                let expected = self.of_prefix(prefix);
                let read = if reader.may_contain_prefix(prefix, &mut ReadTrace::default()) {
                    let mut scanner = reader.scanner(Caching::Use);
                    let mut outcome = scanner.seek(KeyRef::before_row(prefix));
                    let mut found = Vec::new();
                    while let Some(cell) =
                        scanner.cell().filter(|cell| cell.row.starts_with(prefix))
                    {
                        found.push(cell.to_cell());
                        outcome = scanner.advance();
                    }
                    (found, outcome)
                } else {
                    (Vec::new(), Ok(()))
                };
                answers.push(Answer::new(named("prefix", prefix), expected, read));
            }
        }
        answers
    }

    /// Prefix lengths around that of the filter.
    fn prefix_lens(&self, row: &[u8]) -> impl Iterator<Item = usize> + use<> {
        let (row_len, filter_len) = (row.len(), self.prefix_len.unwrap_or(row.len()));
        let lens = [filter_len.saturating_sub(1), filter_len, filter_len + 1];
        lens.into_iter().filter(move |len| *len <= row_len)
    }

    fn halves(&self, reader: &Reader) -> Vec<Answer> {
        let mut answers = Vec::new();
        for row in self.rows.iter().step_by(7) {
            for half in [Half::Bottom, Half::Top] {
                let reference = Reference::new(row, half);
                let holds = |cell: &&Cell| reference.holds(&cell.as_ref().key());
                let expected: Vec<_> = self.sound.cells.iter().filter(holds).cloned().collect();
                let reversed = expected.iter().rev().cloned().collect();
                let half = StoreFileReader::new(reader.clone(), Some(reference));
                let mut scanner = half.scanner(Caching::Bypass);
                let found = half_forwards(&mut scanner);
                answers.push(Answer::new(named("half", row), expected, found));
                let found = half_backwards(&mut half.scanner(Caching::Use));
                answers.push(Answer::new(named("half backwards", row), reversed, found));
            }
        }
        answers
    }

    fn of_row(&self, row: &[u8]) -> Vec<Cell> {
        let of_row = |cell: &&Cell| cell.row() == row;
        self.sound.cells.iter().filter(of_row).cloned().collect()
    }

    fn of_prefix(&self, prefix: &[u8]) -> Vec<Cell> {
        let of_prefix = |cell: &&Cell| cell.row().starts_with(prefix);
        self.sound.cells.iter().filter(of_prefix).cloned().collect()
    }
}

/// More cells than any of these files has.
const ENDLESS: usize = 1_000_000;

/// The number of cells that are read after a seek.
const FEW: usize = 3;

fn named(what: &str, row: &[u8]) -> String {
    format!("{what} {}", cells::escape(row))
}

/// Reads from the position after `first` to the end or an error, by `step`.
fn read<S>(
    scanner: &mut S,
    first: fn(&mut S) -> Result<()>,
    cell: fn(&S) -> Option<CellRef<'_>>,
    step: fn(&mut S) -> Result<()>,
) -> Read {
    let mut cells = Vec::new();
    let mut outcome = first(scanner);
    while let Some(cell) = cell(scanner) {
        assert!(cells.len() < ENDLESS, "a scan that does not end");
        cells.push(cell.to_cell());
        outcome = step(scanner);
    }
    (cells, outcome)
}

fn forwards(scanner: &mut Scanner) -> Read {
    read(scanner, Scanner::seek_to_first, Scanner::cell, Scanner::advance)
}

fn backwards(scanner: &mut Scanner) -> Read {
    read(scanner, Scanner::seek_to_last, Scanner::cell, Scanner::retreat)
}

fn half_forwards(scanner: &mut CellScanner) -> Read {
    read(scanner, CellScanner::seek_to_first, CellScanner::cell, CellScanner::advance)
}

fn half_backwards(scanner: &mut CellScanner) -> Read {
    read(scanner, CellScanner::seek_to_last, CellScanner::cell, CellScanner::retreat)
}

/// Returns the cells of a row.
fn get(reader: &Reader, row: &[u8]) -> Read {
    let mut found = match reader.row(row) {
        Ok(found) => found,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let (mut cells, mut outcome) = (Vec::new(), Ok(()));
    while let Some(cell) = found.cell() {
        cells.push(cell.to_cell());
        outcome = found.advance();
    }
    (cells, outcome)
}
