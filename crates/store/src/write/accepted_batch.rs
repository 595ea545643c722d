//! The checks of a batch before it is logged.
//!
//! [`check_cells`] checks each cell by itself, on the thread that writes. [`AcceptedBatch::new`]
//! finds and checks the families once, while the log's writer is locked, so that no family is
//! dropped until the cells are in the memstores. A write that has to wait for room in the memstores
//! first asks [`check_families`].

use std::sync::Arc;
use std::{iter, mem};

use smallvec::SmallVec;
use sstable::{Cell, CellRef, CellType, KeyRef, Timestamp};

use crate::error::{Error, Result};
use crate::files::version::store_version::{Family, FamilyVersion, StoreVersion};
use crate::write::mutation::{DefaultTimestamp, WriteBatch};

/// Maximum size of a batch: half of a log record's maximum.
const BATCH_BYTES_MAX: usize = 512 << 20;
/// At least the bytes of a cell in a log record beside its key, value and tags.
const CELL_OVERHEAD: usize = 32;

/// A batch whose families all exist in a version of the store and accept it.
#[derive(Debug)]
pub(crate) struct AcceptedBatch<'v> {
    pub(crate) cells: Vec<Cell>,
    pub(crate) default_timestamp: DefaultTimestamp,
    /// Covers all cells, in their order.
    spans: FamilySpans<'v>,
}

/// Successive cells of one family.
#[derive(Debug)]
struct FamilySpan<'v> {
    family: &'v FamilyVersion,
    len: usize,
}

type FamilySpans<'v> = SmallVec<[FamilySpan<'v>; 1]>;

impl<'v> AcceptedBatch<'v> {
    /// Finds and checks the families of a batch, and expands each delete of a whole row into one
    /// family delete per family.
    ///
    /// Key-value families get none: it would hide their later writes, whose timestamps are
    /// sequence ids.
    ///
    /// # Errors
    ///
    /// If the version does not have a family, if a family does not accept the batch, or if the batch
    /// is too large.
    pub(crate) fn new(version: &'v StoreVersion, batch: WriteBatch) -> Result<Self> {
        let WriteBatch { mut cells, default_timestamp, .. } = batch;
        let row_families =
            || version.families.iter().filter(|known| !known.family.options.key_value);
        let lens = cells.iter().map(|cell| {
            let borrowed = cell.as_ref();
            let len = borrowed.key().flat_len()
                + CELL_OVERHEAD
                + borrowed.value.len()
                + borrowed.tags.len();
            if !deletes_row(cell) {
                return len;
            }
            row_families().map(|known| len + known.family.name.len()).sum()
        });
        if lens.sum::<usize>() > BATCH_BYTES_MAX {
            return Err(Error::invalid("the batch exceeds 512 MiB; write it in several batches"));
        }
        if cells.iter().any(deletes_row) {
            cells = expand_row_deletes(cells, row_families);
        }
        let spans = family_spans(version, &cells, |known| check_family(known, default_timestamp))?;
        Ok(Self { cells, default_timestamp, spans })
    }

    /// Returns a batch of the log, which was accepted when it was logged.
    pub(crate) fn of_log(version: &'v StoreVersion, cells: Vec<Cell>) -> Self {
        let spans = family_spans(version, &cells, |_| Ok(()));
        let spans = spans.expect("the log has no cells of a dropped family");
        // Not used: cells of the log have their timestamps.
        Self { cells, default_timestamp: DefaultTimestamp::Now, spans }
    }

    /// Returns the cells with the ids of their families.
    pub(crate) fn cells_with_family_id(&self) -> impl Iterator<Item = (u16, CellRef<'_>)> {
        let ids =
            self.spans.iter().flat_map(|span| iter::repeat_n(span.family.family.id, span.len));
        ids.zip(self.cells.iter().map(Cell::as_ref))
    }

    /// Moves the cells into the memstores of their families.
    pub(crate) fn move_to_memstores(&mut self) {
        let mut cells = mem::take(&mut self.cells).into_iter();
        for FamilySpan { family, len } in self.spans.drain(..) {
            family.active.insert(cells.by_ref().take(len));
        }
        assert!(cells.next().is_none(), "the spans of families cover all cells");
    }
}

/// Returns whether a cell stands for a family delete in each family.
fn deletes_row(cell: &Cell) -> bool {
    cell.family().is_empty() && cell.cell_type() == CellType::DeleteFamily
}

/// Checks the families of a batch before its writer waits for room in the memstores.
///
/// [`AcceptedBatch::new`] checks them again. Without this check, a batch that no family accepts would
/// wait, and end in an error that says to try again.
pub(crate) fn check_families(version: &StoreVersion, batch: &WriteBatch) -> Result<()> {
    for cell in batch.cells.iter().filter(|cell| !deletes_row(cell)) {
        check_family(version.known_family(cell.family())?, batch.default_timestamp)?;
    }
    Ok(())
}

fn check_family(known: &FamilyVersion, default_timestamp: DefaultTimestamp) -> Result<()> {
    check_timestamp_kind(&known.family, default_timestamp)?;
    known.refuse_if_full()
}

/// Finds the families of cells, and checks each with `check`.
fn family_spans<'v>(
    version: &'v StoreVersion,
    cells: &[Cell],
    check: impl Fn(&FamilyVersion) -> Result<()>,
) -> Result<FamilySpans<'v>> {
    let mut spans = FamilySpans::new();
    for cell in cells {
        let name = cell.family();
        match spans.last_mut() {
            Some(span) if span.family.family.name.as_bytes() == name => span.len += 1,
            _ => {
                let family = version.known_family(name)?;
                check(family)?;
                spans.push(FamilySpan { family, len: 1 });
            }
        }
    }
    Ok(spans)
}

fn expand_row_deletes<'v, F: Iterator<Item = &'v Arc<FamilyVersion>>>(
    cells: Vec<Cell>,
    families: impl Fn() -> F,
) -> Vec<Cell> {
    let mut expanded = Vec::with_capacity(cells.len());
    for cell in cells {
        if deletes_row(&cell) {
            expanded.extend(families().map(|known| {
                CellRef { family: known.family.name.as_bytes(), ..cell.as_ref() }.to_cell()
            }));
        } else {
            expanded.push(cell);
        }
    }
    expanded
}

/// Refuses timestamps of the clock in a key-value family, and sequence ids in any other.
///
/// Mixed in one family, a time of the clock would hide all writes with sequence ids, which are less.
pub(crate) fn check_timestamp_kind(
    family: &Family,
    default_timestamp: DefaultTimestamp,
) -> Result<()> {
    let name = &family.name;
    match (family.options.key_value, default_timestamp) {
        (true, DefaultTimestamp::Now) => Err(Error::invalid(format!(
            "the family \"{name}\" holds keys and values: write it through Store::keys"
        ))),
        (false, DefaultTimestamp::SequenceId) => Err(Error::invalid(format!(
            "the family \"{name}\" has cells and is no key-value family; if it was written through \
             Store::keys only, set key_value once with Store::alter_family or hfile store alter"
        ))),
        _ => Ok(()),
    }
}

/// Returns the error for a put without columns, which HBase refuses too.
pub(crate) fn put_without_columns(row: &[u8]) -> Error {
    let row = sstable::escape(&row[..row.len().min(64)]);
    Error::invalid(format!("row \"{row}\": a put has no columns"))
}

/// Refuses cells that no store file can hold.
pub(crate) fn check_cells(cells: &[Cell]) -> Result<()> {
    for cell in cells.iter().map(Cell::as_ref) {
        let refused = |what: &str| {
            let row = sstable::escape(&cell.row[..cell.row.len().min(64)]);
            Err(Error::invalid(format!("row \"{row}\": {what}")))
        };
        if cell.row.is_empty() {
            return refused("the row is empty");
        }
        if cell.row.len() > KeyRef::ROW_LEN_MAX {
            return refused("the row exceeds 32,767 bytes");
        }
        if cell.timestamp < Timestamp::new(0) {
            return refused("the timestamp is negative");
        }
        if cell.cell_type.deletes_family() && !cell.qualifier.is_empty() {
            return refused("a delete of a family must not name a column");
        }
        if cell.tags.len() > i16::MAX as usize {
            return refused("the tags exceed 32,767 bytes");
        }
        let tags_len: usize = cell.tags().map(|(_, data)| 3 + data.len()).sum();
        if tags_len != cell.tags.len() {
            return refused("the lengths of the tags contradict each other");
        }
    }
    Ok(())
}
