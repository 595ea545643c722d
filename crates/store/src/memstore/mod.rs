//! The memstore: the cells of a family since its last flush, sorted.
//!
//! A reader skips the cells of writes that it must not see, so it holds no lock between two batches,
//! and a flush does not disturb it. Cells are added, and removed only if a newer cell
//! [replaces](crate::write::replace) them and no reader needs them.

mod gaps;
mod sort_key;

use std::collections::BTreeSet;
use std::ops::Bound;

use smallvec::SmallVec;
use sstable::{Cell, CellRef, CellType, KeyRef, SequenceId, Timestamp};

use gaps::{Gap, Gaps};
pub(crate) use sort_key::SeekPosition;
use sort_key::{Entry, NameStart, SortKey};

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
    gaps: Gaps,
}

impl Memstore {
    /// Memory per cell beside its bytes: the entry, and its share of a tree node.
    const CELL_OVERHEAD: usize = size_of::<Entry>() + 24;

    /// Maximum number of cells that are copied under one hold of the lock.
    pub(crate) const BATCH_MAX: usize = 64;

    /// Maximum number of cells that are passed under one hold of the lock, visible or not.
    const PASSED_MAX: usize = 4 * Self::BATCH_MAX;

    /// Maximum number of cells that are passed in a row, none visible, before a look at the known gaps.
    const RUN_MAX: usize = 16;

    pub(crate) fn new() -> Self {
        Self {
            cells: RwLock::default(),
            bytes: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            has_tags: AtomicBool::new(false),
            deletes_families: AtomicBool::new(false),
            gaps: Gaps::default(),
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
            let (row, column) = (NameStart::of(borrowed.row), NameStart::of(borrowed.qualifier));
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
            // Borrows the bytes of `cell`, not the bytes of the cell that is removed.
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

    /// Returns the latest timestamp of all cells. Looks at each of them.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        read(&self.cells).iter().map(|entry| entry.cell.timestamp()).max()
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
        let run_max = Self::RUN_MAX;
        let batch = self.copy_batch(position, visible, limit, run_max, found, row);
        self.pass_runs(
            batch,
            |run| &run.last,
            |last| {
                let position = SeekPosition::after(last.as_ref());
                self.copy_batch(&position, visible, limit, Self::PASSED_MAX, found, row)
            },
        )
    }

    /// Goes on with `next` while batches pass only invisible cells. Returns whether there may be more cells.
    ///
    /// `end` returns the last cell of a run in the direction of the read. Writers go on between two batches.
    fn pass_runs(
        &self,
        mut batch: BatchEnd,
        end: fn(&Gap) -> &Cell,
        mut next: impl FnMut(&Cell) -> BatchEnd,
    ) -> bool {
        let (mut run, mut passed): (Option<Gap>, _) = (None, 0);
        while let BatchEnd::NoneVisible(gap) = batch {
            let mut gap = match run {
                Some(run) => run.join(gap),
                None => gap,
            };
            match self.gaps.around(end(&gap), gap.visible) {
                Some(known) => gap = gap.join(known),
                None => passed += 1,
            }
            batch = next(end(&gap));
            run = Some(gap);
        }
        if let Some(run) = run.filter(|_| passed > 1) {
            self.gaps.add(run);
        }
        matches!(batch, BatchEnd::Full)
    }

    /// [`copy_cells`](Self::copy_cells) under one hold of the lock; passes at most [`Self::PASSED_MAX`] cells.
    fn copy_batch(
        &self,
        position: &SeekPosition<'_>,
        visible: SequenceId,
        limit: usize,
        run_max: usize,
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
        copy_visible(cells, visible, limit, run_max, found)
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
        let batch = self.copy_batch_before(bound.as_ref(), visible, limit, Self::RUN_MAX, found);
        let has_more = self.pass_runs(
            batch,
            |run| &run.first,
            |first| {
                let bound = SeekPosition::at(first.as_ref());
                self.copy_batch_before(Some(&bound), visible, limit, Self::PASSED_MAX, found)
            },
        );
        found[start..].reverse();
        has_more
    }

    /// [`copy_cells_before`](Self::copy_cells_before) under one hold of the lock, in descending order; passes at
    /// most [`Self::PASSED_MAX`] cells.
    fn copy_batch_before(
        &self,
        bound: Option<&SeekPosition<'_>>,
        visible: SequenceId,
        limit: usize,
        run_max: usize,
        found: &mut Vec<Cell>,
    ) -> BatchEnd {
        let to: Bound<&dyn SortKey> = match bound {
            Some(bound) => Bound::Excluded(bound),
            None => Bound::Unbounded,
        };
        let tree = read(&self.cells);
        let cells = tree.range::<dyn SortKey, _>((Bound::Unbounded, to)).rev();
        copy_visible(cells, visible, limit, run_max, found)
    }
}

/// Copies up to `limit` visible cells. Passes at most [`Memstore::PASSED_MAX`] cells, and at most `run_max` in a row
/// that are not visible.
fn copy_visible<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    visible: SequenceId,
    limit: usize,
    run_max: usize,
    found: &mut Vec<Cell>,
) -> BatchEnd {
    debug_assert!((1..=Memstore::BATCH_MAX).contains(&limit), "{limit} cells under one lock");
    let (mut copied, mut run, mut run_start) = (0, 0, None);
    for (passed, Entry { cell, .. }) in (1..).zip(entries) {
        if cell.sequence_id() <= visible {
            found.push(cell.clone());
            (copied, run) = (copied + 1, 0);
        } else {
            run += 1;
            run_start.get_or_insert(cell);
        }
        let ends = copied == limit || run == run_max || passed == Memstore::PASSED_MAX;
        match run_start {
            Some(start) if ends && copied == 0 => {
                return BatchEnd::NoneVisible(Gap::between(start, cell, visible));
            }
            _ if ends => return BatchEnd::Full,
            _ => {}
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
    /// The batch passed as many cells as it may, and none was visible.
    NoneVisible(Gap),
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

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
            for run_max in [Memstore::RUN_MAX, Memstore::PASSED_MAX] {
                let mut cells = Vec::new();
                let end = memstore.copy_batch_before(None, sequence_id(1), 1, run_max, &mut cells);
                assert_eq!(matches!(end, BatchEnd::NoneVisible(_)), newer >= run_max, "{newer}");
            }
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

    /// A step of a history of a memstore.
    #[derive(Clone, Debug)]
    enum Step {
        /// Writes rows from the first on, each with the next sequence id.
        Write(usize, usize),
        /// Reads forwards, or backwards, from a row on, with the ids up to a part of all ids.
        Read(usize, bool, usize),
    }

    const ROWS: usize = 2_000;

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..ROWS, 0..1_000_usize).prop_map(|(first, count)| Step::Write(first, count)),
            (0..ROWS, any::<bool>(), 0..=8_usize)
                .prop_map(|(row, is_back, part)| Step::Read(row, is_back, part)),
        ]
    }

    fn cell(row: usize, id: usize) -> Cell {
        let row = format!("{row:06}");
        let put = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), b"");
        CellRef { sequence_id: sequence_id(id), ..put }.to_cell()
    }

    proptest! {
        /// Whatever gaps earlier reads have noted, for whatever snapshots.
        #[test]
        fn a_read_finds_the_visible_cells_next_to_its_position(
            steps in prop::collection::vec(step(), 1..30),
        ) {
            let (memstore, mut written) = (Memstore::new(), Vec::new());
            for step in steps {
                match step {
                    Step::Write(first, count) => {
                        for row in first..first + count {
                            written.push(row);
                            memstore.insert([cell(row, written.len())]);
                        }
                    }
                    Step::Read(row, is_back, part) => {
                        let visible = written.len() * part / 8;
                        let seen = written[..visible].iter().zip(1_usize..);
                        let seen = seen.map(|(row, id)| (*row, Reverse(id)));
                        let (mut found, bound) = (Vec::new(), format!("{row:06}"));
                        let bound = bound.as_bytes();
                        let next = if is_back {
                            let id = sequence_id(visible);
                            memstore.copy_cells_before(Some(bound), id, 1, &mut found);
                            seen.filter(|seen| seen.0 < row).max()
                        } else {
                            let position = SeekPosition::at_or_after(KeyRef::before_row(bound));
                            let id = sequence_id(visible);
                            memstore.copy_cells(&position, id, 1, &mut found, None);
                            seen.filter(|seen| seen.0 >= row).min()
                        };
                        let next = next.map(|(row, Reverse(id))| cell(row, id));
                        prop_assert_eq!(found.first(), next.as_ref());
                    }
                }
            }
        }

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
    }
}
