//! The memstore: the cells of a family since its last flush, sorted.
//!
//! A reader skips the cells of writes that it must not see, so it holds no lock between two batches,
//! and a flush does not disturb it. Cells are added, and removed only if a newer cell
//! [replaces](crate::write::replace) them and no reader needs them.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Bound;

use smallvec::SmallVec;
use sstable::engine::{RowHead, row_head};
use sstable::{Cell, CellRef, CellType, KeyRef, SequenceId};

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use crate::sync::{RwLock, read, write};

/// The cells of one family since its last flush.
#[derive(Debug)]
pub(crate) struct Memstore {
    cells: RwLock<BTreeSet<Entry>>,
    bytes: AtomicUsize,
    count: AtomicUsize,
    has_tags: AtomicBool,
    deletes_families: AtomicBool,
}

impl Memstore {
    /// Memory per cell beside its bytes: the entry, and its share of a tree node.
    const CELL_OVERHEAD: usize = size_of::<Entry>() + 24;

    /// Maximum number of cells that are copied under one hold of the lock.
    pub(crate) const BATCH_MAX: usize = 64;

    /// Maximum number of cells that are passed under one hold of the lock, visible or not.
    const PASSED_MAX: usize = 4 * Self::BATCH_MAX;

    pub(crate) fn new() -> Self {
        Self {
            cells: RwLock::default(),
            bytes: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            has_tags: AtomicBool::new(false),
            deletes_families: AtomicBool::new(false),
        }
    }

    /// Adds cells that have their sequence ids. Of two cells with equal key and sequence id the
    /// later replaces the earlier.
    pub(crate) fn insert(&self, cells: impl IntoIterator<Item = Cell>) {
        let mut tree = write(&self.cells);
        let (mut bytes, mut has_tags, mut deletes_families) = (0, false, false);
        for cell in cells {
            let borrowed = cell.as_ref();
            debug_assert!(borrowed.sequence_id > SequenceId::default(), "the log sets the id");
            bytes += Self::bytes_of(&borrowed);
            has_tags |= !borrowed.tags.is_empty();
            deletes_families |= borrowed.cell_type.deletes_family();
            let (row, column) = (RowStart::of(borrowed.row), row_head(borrowed.qualifier));
            tree.replace(Entry { row, column, cell });
        }
        self.count.store(tree.len(), Relaxed);
        drop(tree);
        self.bytes.fetch_add(bytes, Relaxed);
        if has_tags {
            self.has_tags.store(true, Relaxed);
        }
        // Readers see it before the cells: these become visible later, when they are published.
        if deletes_families {
            self.deletes_families.store(true, Relaxed);
        }
    }

    /// Removes puts that are older versions of the column of `cell`: the newest of them, at most as
    /// many as one hold of the lock allows.
    ///
    /// No reader must be able to see them.
    pub(crate) fn remove_older_puts(&self, cell: &CellRef<'_>) {
        let position = SeekPosition::after(*cell);
        let from: (Bound<&dyn SortKey>, _) = (Bound::Excluded(&position), Bound::Unbounded);
        let is_of_column = |older: &CellRef<'_>| {
            (older.row, older.family, older.qualifier) == (cell.row, cell.family, cell.qualifier)
        };
        let mut tree = write(&self.cells);
        let column = tree.range::<dyn SortKey, _>(from).map(|entry| entry.cell.as_ref());
        let column = column.take(Self::BATCH_MAX).take_while(is_of_column);
        let puts = column.filter(|older| older.cell_type == CellType::Put);
        let (mut older, mut bytes) = (SmallVec::<[_; 4]>::new(), 0);
        for put in puts {
            // Borrows the bytes of `cell`, not those of the cell that is removed.
            let key =
                KeyRef { timestamp: put.timestamp, type_code: put.key().type_code, ..cell.key() };
            older.push(SeekPosition::new(key, put.sequence_id, false));
            bytes += Self::bytes_of(&put);
        }
        for put in &older {
            let is_removed = tree.remove::<dyn SortKey>(put);
            assert!(is_removed, "the put was found under the same lock");
        }
        self.count.store(tree.len(), Relaxed);
        drop(tree);
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    fn bytes_of(cell: &CellRef<'_>) -> usize {
        Self::CELL_OVERHEAD + cell.key().flat_len() + cell.value.len() + cell.tags.len()
    }

    /// Returns the approximate memory of the cells.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    pub(crate) fn len(&self) -> usize {
        self.count.load(Relaxed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether any cell may be a marker that deletes in all columns of its row.
    pub(crate) fn deletes_families(&self) -> bool {
        self.deletes_families.load(Relaxed)
    }

    /// Returns whether any cell has tags.
    pub(crate) fn has_tags(&self) -> bool {
        self.has_tags.load(Relaxed)
    }

    /// Appends to `found` up to `limit` visible cells from `position` on, only of `row` if given.
    ///
    /// Appends at least one, unless there is none. Returns whether there may be more cells.
    pub(crate) fn copy_cells(
        &self,
        position: &SeekPosition<'_>,
        visible: SequenceId,
        limit: usize,
        found: &mut Vec<Cell>,
        row: Option<&[u8]>,
    ) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut batch = self.copy_batch(position, visible, limit, found, row);
        // Writers go on between two batches.
        while let BatchEnd::NoneVisible(last) = batch {
            let position = SeekPosition::after(last.as_ref());
            batch = self.copy_batch(&position, visible, limit, found, row);
        }
        matches!(batch, BatchEnd::Full)
    }

    /// [`copy_cells`](Self::copy_cells) under one hold of the lock; passes at most [`Self::PASSED_MAX`] cells.
    fn copy_batch(
        &self,
        position: &SeekPosition<'_>,
        visible: SequenceId,
        limit: usize,
        found: &mut Vec<Cell>,
        row: Option<&[u8]>,
    ) -> BatchEnd {
        let from: Bound<&dyn SortKey> = if position.is_exclusive {
            Bound::Excluded(position)
        } else {
            Bound::Included(position)
        };
        let tree = read(&self.cells);
        let cells = tree
            .range::<dyn SortKey, _>((from, Bound::Unbounded))
            .take_while(|entry| row.is_none_or(|row| entry.cell.row() == row));
        copy_visible(cells, visible, limit, found)
    }

    /// Appends to `found` up to `limit` visible cells, in order: the last ones of the rows below `row`,
    /// or of all rows if `row` is `None`.
    ///
    /// Appends at least one, unless there is none. Returns whether there may be cells before them.
    pub(crate) fn copy_cells_before(
        &self,
        row: Option<&[u8]>,
        visible: SequenceId,
        limit: usize,
        found: &mut Vec<Cell>,
    ) -> bool {
        let start = found.len();
        let bound = row.map(|row| SeekPosition::at_or_after(KeyRef::before_row(row)));
        let mut batch = self.copy_batch_before(bound.as_ref(), visible, limit, found);
        // Writers go on between two batches.
        while let BatchEnd::NoneVisible(last) = batch {
            let bound = SeekPosition::at(last.as_ref());
            batch = self.copy_batch_before(Some(&bound), visible, limit, found);
        }
        found[start..].reverse();
        matches!(batch, BatchEnd::Full)
    }

    /// [`copy_cells_before`](Self::copy_cells_before) under one hold of the lock, in descending order; passes at
    /// most [`Self::PASSED_MAX`] cells.
    fn copy_batch_before(
        &self,
        bound: Option<&SeekPosition<'_>>,
        visible: SequenceId,
        limit: usize,
        found: &mut Vec<Cell>,
    ) -> BatchEnd {
        let to: Bound<&dyn SortKey> = match bound {
            Some(bound) => Bound::Excluded(bound),
            None => Bound::Unbounded,
        };
        let tree = read(&self.cells);
        let cells = tree.range::<dyn SortKey, _>((Bound::Unbounded, to)).rev();
        copy_visible(cells, visible, limit, found)
    }
}

/// Copies up to `limit` visible cells, and passes at most [`Memstore::PASSED_MAX`] cells.
fn copy_visible<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    visible: SequenceId,
    limit: usize,
    found: &mut Vec<Cell>,
) -> BatchEnd {
    debug_assert!((1..=Memstore::BATCH_MAX).contains(&limit), "{limit} cells under one lock");
    let (mut copied, mut passed) = (0, 0);
    for Entry { cell, .. } in entries {
        if cell.sequence_id() <= visible {
            found.push(cell.clone());
            copied += 1;
        }
        passed += 1;
        if copied == 0 && passed == Memstore::PASSED_MAX {
            return BatchEnd::NoneVisible(cell.clone());
        }
        if copied == limit || passed == Memstore::PASSED_MAX {
            return BatchEnd::Full;
        }
    }
    BatchEnd::Last
}

/// Why no further cell was copied under one hold of the lock.
#[derive(Debug)]
enum BatchEnd {
    /// No cell is left.
    Last,
    Full,
    /// The batch passed the maximum of cells, up to this one, and no one was visible.
    NoneVisible(Cell),
}

/// A position in the order of cells, from which a memstore is read.
#[derive(Debug)]
pub(crate) struct SeekPosition<'a> {
    row: RowStart,
    column: RowHead,
    key: KeyRef<'a>,
    sequence_id: SequenceId,
    is_exclusive: bool,
}

impl<'a> SeekPosition<'a> {
    /// The position of the first cell at or after `key`.
    pub(crate) fn at_or_after(key: KeyRef<'a>) -> Self {
        // Of equal keys the greatest sequence id comes first.
        Self::new(key, SequenceId::MAX, false)
    }

    /// The position of `cell`.
    fn at(cell: CellRef<'a>) -> Self {
        Self::new(cell.key(), cell.sequence_id, false)
    }

    /// The position after `cell`.
    pub(crate) fn after(cell: CellRef<'a>) -> Self {
        Self { is_exclusive: true, ..Self::at(cell) }
    }

    fn new(key: KeyRef<'a>, sequence_id: SequenceId, is_exclusive: bool) -> Self {
        // `KeyRef::after_row` has neither family nor qualifier, and is after all columns.
        let ends_row = key.type_code == KeyRef::MINIMUM && key.family.is_empty();
        let column = if ends_row { [u64::MAX; 2] } else { row_head(key.qualifier) };
        Self { row: RowStart::of(key.row), column, key, sequence_id, is_exclusive }
    }
}

/// A cell in the tree. With the heads of row and column in the tree's nodes, a search reads few of
/// the cells it passes, also in a row with many columns.
#[derive(Debug)]
struct Entry {
    row: RowStart,
    column: RowHead,
    cell: Cell,
}

/// The sort key of an entry or position; lets the tree be searched by a borrowed key.
trait SortKey {
    fn row(&self) -> RowStart;
    /// The first bytes of the qualifier.
    fn column(&self) -> RowHead;
    fn key_and_id(&self) -> (KeyRef<'_>, SequenceId);
}

impl SortKey for Entry {
    fn row(&self) -> RowStart {
        self.row
    }

    fn column(&self) -> RowHead {
        self.column
    }

    fn key_and_id(&self) -> (KeyRef<'_>, SequenceId) {
        (self.cell.as_ref().key(), self.cell.sequence_id())
    }
}

impl SortKey for SeekPosition<'_> {
    fn row(&self) -> RowStart {
        self.row
    }

    fn column(&self) -> RowHead {
        self.column
    }

    fn key_and_id(&self) -> (KeyRef<'_>, SequenceId) {
        (self.key, self.sequence_id)
    }
}

fn compare_sort_keys<S: SortKey + ?Sized>(left: &S, right: &S) -> Ordering {
    let row = left.row();
    row.cmp(&right.row()).then_with(|| {
        // All cells have one family; only a position before or after the row has none.
        if row.is_whole() && left.column() != right.column() {
            return left.column().cmp(&right.column());
        }
        let ((left, left_id), (right, right_id)) = (left.key_and_id(), right.key_and_id());
        left.cmp(&right).then_with(|| right_id.cmp(&left_id))
    })
}

/// The first 15 bytes of a row, padded with zeros, and its length if that is less than 16, else 16.
///
/// Rows are in the order of their starts. Rows of at most 15 bytes are equal if their starts are.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct RowStart(RowHead);

impl RowStart {
    const LEN_MAX: u64 = 15;

    fn of(row: &[u8]) -> Self {
        let [first, second] = row_head(row);
        let len = u64::try_from(row.len()).map_or(u64::MAX, |len| len.min(Self::LEN_MAX + 1));
        Self([first, second & !0xff | len])
    }

    /// Returns whether the start has the whole row.
    const fn is_whole(self) -> bool {
        self.0[1] & 0xff <= Self::LEN_MAX
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_sort_keys(self, other)
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl<'a> Borrow<dyn SortKey + 'a> for Entry {
    fn borrow(&self) -> &(dyn SortKey + 'a) {
        self
    }
}

impl Ord for dyn SortKey + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_sort_keys(self, other)
    }
}

impl PartialOrd for dyn SortKey + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for dyn SortKey + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for dyn SortKey + '_ {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sstable::Timestamp;

    use super::*;

    /// Returns a memstore with a cell for each sequence id, in rows of ascending names.
    fn with_rows(ids: impl IntoIterator<Item = usize>) -> Memstore {
        let memstore = Memstore::new();
        for (number, id) in ids.into_iter().enumerate() {
            let row = format!("{number:06}");
            let put = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), b"");
            memstore.insert([CellRef { sequence_id: sequence_id(id), ..put }.to_cell()]);
        }
        memstore
    }

    fn sequence_id(id: usize) -> SequenceId {
        SequenceId::new(id as u64)
    }

    /// A scan of an old snapshot passes the newer cells, while writers wait for each hold of the lock.
    #[test]
    fn no_hold_of_the_lock_passes_more_than_the_maximum_of_invisible_cells() {
        for newer in [0, 1, 255, 256, 257, 511, 512, 513, 5_000] {
            let memstore = with_rows([1, 1].into_iter().chain((0..newer).map(|id| 2 + id)));
            let is_passed = newer >= Memstore::PASSED_MAX;
            let mut cells = Vec::new();
            let end = memstore.copy_batch_before(None, sequence_id(1), 1, &mut cells);
            assert_eq!(matches!(end, BatchEnd::NoneVisible(_)), is_passed, "{newer}");
            let last =
                |before: Option<&str>, visible| rows_before(&memstore, before, visible, 1).0.pop();
            assert_eq!(last(None, 1).as_deref(), Some("000001"), "{newer}");
            assert_eq!(last(Some("000001"), 1).as_deref(), Some("000000"));
            assert_eq!(last(None, 0), None);
        }
    }

    /// Returns the rows of the last visible cells before a row, and whether there may be more.
    fn rows_before(
        memstore: &Memstore,
        before: Option<&str>,
        visible: usize,
        limit: usize,
    ) -> (Vec<String>, bool) {
        let mut cells = Vec::new();
        let before = before.map(str::as_bytes);
        let has_more = memstore.copy_cells_before(before, sequence_id(visible), limit, &mut cells);
        let row = |cell: &Cell| String::from_utf8(cell.row().to_vec()).unwrap();
        (cells.iter().map(row).collect(), has_more)
    }

    proptest! {
        #[test]
        fn the_cells_before_a_row_are_the_last_visible_ones(
            ids in prop::collection::vec(1..9_usize, 0..600),
            visible in 0..9_usize,
            before in prop::option::of(0..601_usize),
            limit in 1..=Memstore::BATCH_MAX,
        ) {
            let memstore = with_rows(ids.iter().copied());
            let end = before.unwrap_or(ids.len()).min(ids.len());
            let all: Vec<_> = (0..end)
                .filter(|number| ids[*number] <= visible)
                .map(|number| format!("{number:06}"))
                .collect();
            let before = before.map(|number| format!("{number:06}"));
            let (found, has_more) = rows_before(&memstore, before.as_deref(), visible, limit);
            prop_assert!(all.ends_with(&found) && found.len() <= limit);
            prop_assert!(!found.is_empty() || all.is_empty());
            prop_assert!(has_more || found.len() == all.len());
        }

        #[test]
        fn rows_are_in_the_order_of_their_starts(
            prefix in prop::collection::vec(prop::sample::select(vec![0, 1, 16, 255]), 0..20),
            (left, right) in prop::array::uniform2(
                prop::collection::vec(prop::sample::select(vec![0, 1, 15, 16, 255]), 0..5),
            ).prop_map(|[left, right]| (left, right)),
        ) {
            let [left, right] = [left, right].map(|end| [prefix.clone(), end].concat());
            let (left_start, right_start) = (RowStart::of(&left), RowStart::of(&right));
            let order = left_start.cmp(&right_start);
            prop_assert!(order.is_eq() || order == left.cmp(&right));
            if order.is_eq() && left_start.is_whole() {
                prop_assert_eq!(left, right);
            }
        }

        /// The order of the tree is that of the keys, also for the positions around rows and columns.
        #[test]
        fn entries_and_positions_are_in_the_order_of_their_keys(
            keys in prop::collection::vec(
                (
                    prop::sample::select(vec!["r", "r\0", "row of 15 bytes", "a row of 16 byte", "z"]),
                    prop::sample::select(vec!["", "\0", "a", "a qualifier of 20 by", "a qualifier of 20 bz"]),
                    0..3_i64,
                    0..5_usize,
                ),
                2,
            ),
        ) {
            let key = |(row, qualifier, time, kind): (&'static str, &'static str, i64, usize)| {
                let (row, qualifier) = (row.as_bytes(), qualifier.as_bytes());
                let put = CellRef::put(row, b"f", qualifier, Timestamp::new(time), b"");
                match kind {
                    0 => KeyRef::before_row(row),
                    1 => KeyRef::after_row(row),
                    2 => KeyRef::before_column(row, b"f", qualifier),
                    3 => KeyRef::after_column(row, b"f", qualifier),
                    _ => put.key(),
                }
            };
            let (left, right) = (key(keys[0]), key(keys[1]));
            let position = |key| SeekPosition::new(key, SequenceId::MAX, false);
            let (left_position, right_position) = (position(left), position(right));
            let found = (&left_position as &dyn SortKey).cmp(&right_position as &dyn SortKey);
            prop_assert_eq!(found, left.cmp(&right), "{} {}", left, right);
        }
    }
}
