//! The checks of a batch before it is logged.
//!
//! [`check_cells`] checks each cell by itself, on the thread that writes. [`AcceptedBatch::new`]
//! finds and checks the families once, while the log's writer is locked, so that no family is
//! dropped until the cells are in the memstores. A write that has to wait for room in the memstores
//! first asks [`check_families`].

use std::collections::HashSet;
use std::sync::Arc;
use std::{iter, mem};

use smallvec::SmallVec;
use sstable::{Cell, CellRef, CellType, KeyRef, Timestamp};

use crate::error::{Error, Result};
use crate::files::version::store_version::{Family, FamilyVersion, StoreVersion};
use crate::write::mutation::WriteBatch;
use crate::write::row_times::RowTimes;

/// Maximum size of a batch: half of a log record's maximum.
const BATCH_BYTES_MAX: usize = 512 << 20;
/// At least the bytes of a cell in a log record beside its key, value and tags.
const CELL_OVERHEAD: usize = 32;

/// A batch whose families all exist in a version of the store and accept it.
#[derive(Debug)]
pub(crate) struct AcceptedBatch<'v> {
    pub(crate) cells: Vec<Cell>,
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
    /// Key-value families get none, so that a row of cells and a key of the same bytes stay apart.
    ///
    /// # Errors
    ///
    /// If the version does not have a family, if a family does not accept the batch, or if the batch
    /// is too large.
    pub(crate) fn new(version: &'v StoreVersion, batch: WriteBatch) -> Result<Self> {
        let WriteBatch { mut cells, only_keys, .. } = batch;
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
        let check = |known: &FamilyVersion, cell: &Cell| check_cell(known, cell, only_keys);
        let mut spans = family_spans(version, &cells, check)?;
        let has_keys = spans.iter().any(|span| span.family.family.options.key_value);
        if has_keys && cells.len() > 1 && remove_overwritten(version, &mut cells) {
            spans = family_spans(version, &cells, |_, _| Ok(()))?;
        }
        Ok(Self { cells, spans })
    }

    /// Returns a batch of the log, which was accepted when it was logged.
    pub(crate) fn of_log(version: &'v StoreVersion, cells: Vec<Cell>) -> Self {
        let spans = family_spans(version, &cells, |_, _| Ok(()));
        let spans = spans.expect("the log has no cells of a dropped family");
        Self { cells, spans }
    }

    /// Sets the timestamps that cells lack, except in key-value families.
    pub(crate) fn assign_times(&mut self, times: &mut RowTimes, now: Timestamp) {
        let mut left = &mut self.cells[..];
        for FamilySpan { family, len } in &self.spans {
            let (cells, later) = mem::take(&mut left).split_at_mut(*len);
            if !family.family.options.key_value {
                times.assign(cells, now, now);
            }
            left = later;
        }
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
        check_cell(version.known_family(cell.family())?, cell, batch.only_keys)?;
    }
    Ok(())
}

fn check_cell(known: &FamilyVersion, cell: &Cell, only_keys: bool) -> Result<()> {
    if known.family.options.key_value {
        check_cell_of_key(&known.family.name, cell)?;
    } else if only_keys {
        check_is_key_value(&known.family)?;
    }
    known.refuse_if_full()
}

/// Removes the cells of keys that a later cell of the batch writes again; returns whether there were any.
///
/// All cells of a key in a batch have the same timestamp, at which a delete would hide a later put.
fn remove_overwritten(version: &StoreVersion, cells: &mut Vec<Cell>) -> bool {
    let mut later = HashSet::new();
    let mut kept = Vec::with_capacity(cells.len());
    for cell in cells.iter().rev() {
        let is_key = version.is_key_value(cell.family());
        kept.push(!is_key || later.insert((cell.family(), cell.row())));
    }
    let len = cells.len();
    cells.retain(|_| kept.pop().expect("one for each cell"));
    cells.len() < len
}

/// Finds the families of cells, and checks each with `check`.
fn family_spans<'v>(
    version: &'v StoreVersion,
    cells: &[Cell],
    check: impl Fn(&FamilyVersion, &Cell) -> Result<()>,
) -> Result<FamilySpans<'v>> {
    let mut spans = FamilySpans::new();
    for cell in cells {
        let name = cell.family();
        match spans.last_mut() {
            Some(span) if span.family.family.name.as_bytes() == name => {
                check(span.family, cell)?;
                span.len += 1;
            }
            _ => {
                let family = version.known_family(name)?;
                check(family, cell)?;
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

/// Refuses cells with a column or a timestamp of the caller in a key-value family.
///
/// A time of the clock would hide all writes with sequence ids, which are less.
fn check_cell_of_key(family: &str, cell: &Cell) -> Result<()> {
    let what = if !cell.qualifier().is_empty() {
        let column = cells::escape(cell.qualifier());
        format!("its only column is \"\", not \"{column}\"")
    } else if cell.timestamp() != Timestamp::LATEST {
        "the store sets its timestamps; write without one".to_owned()
    } else if !matches!(
        cell.cell_type(),
        CellType::Put | CellType::DeleteColumn | CellType::DeleteFamily
    ) {
        "a key has no versions; delete the column".to_owned()
    } else {
        return Ok(());
    };
    let row = escape_row(cell.row());
    Err(Error::invalid(format!(
        "row \"{row}\": the family \"{family}\" holds keys and values: {what}"
    )))
}

/// Refuses a family that is no key-value family.
pub(crate) fn check_is_key_value(family: &Family) -> Result<()> {
    if family.options.key_value {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the family \"{}\" is no key-value family; create another with Store::create_map, or if this one is \
         empty or only its map wrote to it, set key_value with Store::alter_family or hfile store alter",
        family.name
    )))
}

fn escape_row(row: &[u8]) -> impl std::fmt::Display + '_ {
    cells::escape(&row[..row.len().min(64)])
}

/// Returns the error for a put without columns, which HBase refuses too.
pub(crate) fn put_without_columns(row: &[u8]) -> Error {
    let row = escape_row(row);
    Error::invalid(format!("row \"{row}\": a put has no columns"))
}

/// Refuses cells that no store file can hold.
pub(crate) fn check_cells(cells: &[Cell]) -> Result<()> {
    for cell in cells.iter().map(Cell::as_ref) {
        let refused = |what: &str| {
            let row = escape_row(cell.row);
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
        if cell.tags.is_empty() {
            continue;
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
