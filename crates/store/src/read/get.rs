//! The read path of point gets.
//!
//! ```text
//! memstores, then files newest first ─┬─ one cell is the answer ───→ shown as it is
//!   (sstable's lookup)                └─ otherwise RowMerge, rules ─→ the cells that the rules show
//! ```
//!
//! The lookup reads the files newest first, until no remaining file can change the answer: all of
//! its cells are older than the one cell, or than [`RowMerge::needed_time`].

use std::borrow::Cow;
use std::sync::Arc;

use cells::row_head;
use cells::rules::Rules;
use cells::view::{Columns, QueryTimes, View, shows_only_put};
use sstable::lookup::{BATCH_MAX, LookupLimits, MapAnswer, RowLookup, begin_together};
use sstable::{Cell, CellRef, KeyRef, ReadTrace, RowProbe, Timestamp};

use crate::error::Result;
use crate::files::version::store_version::FamilyVersion;
use crate::memstore::Memstore;
use crate::process::check_process;
use crate::read::explain::{Explanation, GetReport};
use crate::read::query::Get;
use crate::read::row_merge::RowMerge;
use crate::read::sources::MemstoreCursor;
use crate::read::view::{AnswerCell, ReadView};

impl ReadView {
    /// Answers a get.
    pub(crate) fn get(&self, get: &Get) -> Result<Vec<Cell>> {
        self.read(get, None)
    }

    /// Answers a get, and calls `visit` for each cell of the answer.
    pub(crate) fn get_with(&self, get: &Get, mut visit: impl FnMut(CellRef<'_>)) -> Result<()> {
        if !get.is_sorted {
            return self.get_with(&get.sorted(), visit);
        }
        self.for_each_family(get, |family, columns| {
            self.read_family(get, family, columns, &mut |cell| visit(cell.as_ref()), None)
        })
    }

    /// Answers a get, and returns its trace.
    pub(crate) fn get_traced(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        let mut report = GetReport::default();
        let cells = self.read(get, Some(&mut report))?;
        Ok((cells, report.trace))
    }

    /// Answers a get, and returns how it treated each file.
    pub(crate) fn explain(&self, get: &Get) -> Result<Explanation> {
        let mut report = GetReport { families: Some(Vec::new()), ..GetReport::default() };
        let cells = self.read(get, Some(&mut report))?;
        let GetReport { trace, families } = report;
        let families = families.expect("the report was made with a list of families");
        Ok(Explanation { cells, trace, families })
    }

    /// Answers a get, one family after the other, and adds to the report, if one is wanted.
    fn read(&self, get: &Get, mut report: Option<&mut GetReport>) -> Result<Vec<Cell>> {
        if !get.is_sorted {
            return self.read(&get.sorted(), report);
        }
        let mut cells = Vec::new();
        self.for_each_family(get, |family, columns| {
            let report = report.as_deref_mut();
            self.read_family(get, family, columns, &mut |cell| push(&mut cells, cell), report)
        })?;
        Ok(cells)
    }

    /// Answers a get in one family.
    fn read_family(
        &self,
        get: &Get,
        family: &FamilyVersion,
        columns: &Columns,
        show: &mut impl FnMut(AnswerCell<'_>),
        report: Option<&mut GetReport>,
    ) -> Result<()> {
        // A ROWCOL filter can answer only for a single column.
        let probe = RowProbe::of_column(&get.row, columns.single(), self.seed);
        let map = family.files.coverage().map(|map| map.answer(probe.key_hash(self.seed)));
        let is_in_memory = family.memstores().any(|memstore| !memstore.is_empty());
        let is_explained = report.as_ref().is_some_and(|report| report.families.is_some());
        if let Some(map) = &map
            && !is_in_memory
            && !is_explained
            && let Some(trace) = RowLookup::denied_by_map(family.files.lookup(), map)
        {
            // The fast path of an absent row.
            family.family.reads.record(&trace, 1);
            if let Some(report) = report {
                report.trace.add(&trace);
            }
            return Ok(());
        }
        let mut read = RowRead::new(self, family, columns, &get.view, &probe, map);
        if is_explained {
            read.lookup.record_outcomes();
        }
        if is_in_memory {
            read.seek_in_memstores()?;
        }
        let memstore_cells = read.finish(show)?;
        if let Some(report) = report {
            report.add_family(family, &read.lookup, memstore_cells);
        }
        Ok(())
    }

    /// Answers many gets, each as [`get`](Self::get) would.
    ///
    /// The gets are sorted by row, so that gets of the same filter partition or block follow each
    /// other. They run in batches whose cache misses overlap.
    pub(crate) fn multi_get(&self, gets: &[Get]) -> Result<Vec<Vec<Cell>>> {
        if gets.iter().any(|get| !get.is_sorted) {
            let sorted: Vec<_> = gets.iter().map(Get::sorted).collect();
            return self.multi_get(&sorted);
        }
        let mut order: Vec<_> =
            (0_usize..).zip(gets).map(|(at, get)| (row_head(&get.row), at)).collect();
        order.sort_unstable_by(|(left_head, left), (right_head, right)| {
            left_head.cmp(right_head).then_with(|| gets[*left].row.cmp(&gets[*right].row))
        });
        let mut answers = vec![Vec::new(); gets.len()];
        for batch in order.chunks(BATCH_MAX) {
            let mut family_gets = Vec::with_capacity(BATCH_MAX);
            for &(_, at) in batch {
                self.for_each_family(&gets[at], |family, columns| {
                    let probe = RowProbe::of_column(&gets[at].row, columns.single(), self.seed);
                    if let Some(map) = family.files.coverage() {
                        map.prefetch(probe.key_hash(self.seed));
                    }
                    family_gets.push(FamilyGet { at, family, columns, probe });
                    Ok(())
                })?;
            }
            let mut reads = Vec::with_capacity(family_gets.len());
            for FamilyGet { at, family, columns, probe } in &family_gets {
                let map = family.files.coverage().map(|map| map.answer(probe.key_hash(self.seed)));
                let mut read = RowRead::new(self, family, columns, &gets[*at].view, probe, map);
                read.seek_in_memstores()?;
                reads.push(read);
            }
            begin_together(reads.iter_mut().map(|read| &mut read.lookup));
            for (FamilyGet { at, .. }, mut read) in family_gets.iter().zip(reads) {
                read.finish(&mut |cell| push(&mut answers[*at], cell))?;
            }
        }
        Ok(answers)
    }

    /// Calls `visit` with each family that a get reads, and the columns that it wants of the family.
    fn for_each_family<'g>(
        &'g self,
        get: &'g Get,
        mut visit: impl FnMut(&'g FamilyVersion, &'g Columns) -> Result<()>,
    ) -> Result<()> {
        if get.families.is_empty() {
            check_process(&self.process)?;
            let mut families = self.version.families.iter();
            return families.try_for_each(|family| visit(family, &Columns::All));
        }
        assert!(get.is_sorted, "the columns are sorted before a read");
        get.families
            .iter()
            .try_for_each(|query| visit(self.family(&query.family)?, &query.columns.sorted))
    }
}

/// Adds a cell to an answer.
#[inline]
fn push(cells: &mut Vec<Cell>, cell: AnswerCell<'_>) {
    if cells.capacity() == 0 {
        // Most answers have one cell; `push` would allocate room for four.
        cells.reserve_exact(1);
    }
    cells.push(match cell {
        AnswerCell::Borrowed(cell) => cell.to_cell(),
        AnswerCell::Owned(cell) => cell,
    });
}

/// One family of a get of a batch.
struct FamilyGet<'a> {
    /// The index of the get.
    at: usize,
    family: &'a FamilyVersion,
    columns: &'a Columns,
    probe: RowProbe<'a>,
}

/// The read of one row in one family.
struct RowRead<'a> {
    read_view: &'a ReadView,
    family: &'a FamilyVersion,
    columns: &'a Columns,
    view: &'a View,
    /// The lookup in the files.
    lookup: RowLookup<'a>,
    /// What the memstores have of the row.
    in_memory: InMemory<'a>,
}

/// The cells of the row in the memstores.
enum InMemory<'a> {
    Nothing,
    /// The first cell is the answer, unless a file has a cell that is not older.
    Answer(MemstoreCursor),
    Merge(Box<RowMerge<'a>>),
}

impl<'a> RowRead<'a> {
    /// Prepares the read, without reading. `map` is the answer of the family map, if there is one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "avoids a move of the large return value")]
    fn new(
        read_view: &'a ReadView,
        family: &'a FamilyVersion,
        columns: &'a Columns,
        view: &'a View,
        probe: &'a RowProbe<'a>,
        map: Option<MapAnswer>,
    ) -> Self {
        let (times, retention) = (view.time_range, family.retention());
        // Without a time range, the lookup takes files of all times.
        let mut from = if times == QueryTimes::ALL { Timestamp::OLDEST } else { times.min };
        if retention.ttl.is_some() && retention.min_versions == 0 {
            from = from.max(retention.oldest_unexpired(|| read_view.now()));
        }
        let limits = LookupLimits { from, until: times.max, map };
        let lookup = RowLookup::new(family.files.lookup(), probe, limits);
        Self { read_view, family, columns, view, lookup, in_memory: InMemory::Nothing }
    }

    /// Seeks the row in the memstores, newest first.
    fn seek_in_memstores(&mut self) -> Result<()> {
        for memstore in self.family.memstores().filter(|memstore| !memstore.is_empty()) {
            if let Some(cursor) = self.seek_in(memstore) {
                self.add_memstore(cursor)?;
            }
        }
        match &self.in_memory {
            InMemory::Nothing => {}
            InMemory::Answer(cursor) => self.lookup.stop_below(first_cell(cursor).timestamp),
            InMemory::Merge(merge) => self.lookup.stop_below(merge.needed_time()),
        }
        Ok(())
    }

    /// Reads the files, passes the visible cells of the row to `show`, and counts the read, also one
    /// that fails. Returns the number of cells that were copied from memstores.
    fn finish(&mut self, show: &mut impl FnMut(AnswerCell<'_>)) -> Result<usize> {
        let read = self.read_files(show);
        if read.is_ok() {
            self.lookup.end();
        }
        let trace = self.lookup.trace();
        if trace.filters_unreadable > 0 {
            self.family.log_filter_problems();
        }
        self.family.family.reads.record(trace, 1);
        read
    }

    /// Reads the files, until the cells read so far are the answer. Returns the number of cells that
    /// were copied from memstores.
    ///
    /// If one cell alone is the answer, no further cell is read.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "avoids a copy of the large result of the lookup")]
    fn read_files(&mut self, show: &mut impl FnMut(AnswerCell<'_>)) -> Result<usize> {
        if !matches!(self.in_memory, InMemory::Nothing) {
            return self.read_after_memstores(show);
        }
        let Some(found) = self.lookup.next_file()? else { return Ok(0) };
        let cell = found.cell();
        let mut rival = None;
        if self.is_answered_by(&cell) {
            self.lookup.stop_below(cell.timestamp);
            rival = self.lookup.next_file()?;
            if rival.is_none() {
                let file = &self.family.files.by_time()[found.file()].file;
                show(AnswerCell::Borrowed(file.with_sequence_id(cell)));
                return Ok(0);
            }
        }
        let mut merge = self.merge();
        merge.add_file(found)?;
        if let Some(rival) = rival {
            merge.add_file(rival)?;
        }
        self.read_merge(merge, show)
    }

    /// Reads the files as [`read_files`](Self::read_files) does, of a row that memstores have.
    #[inline(never)]
    fn read_after_memstores(&mut self, show: &mut impl FnMut(AnswerCell<'_>)) -> Result<usize> {
        let merge = match std::mem::replace(&mut self.in_memory, InMemory::Nothing) {
            InMemory::Nothing => self.merge(),
            InMemory::Merge(merge) => *merge,
            InMemory::Answer(cursor) => {
                let Some(rival) = self.lookup.next_file()? else {
                    let copied = cursor.copied();
                    show(AnswerCell::Owned(cursor.into_cell()));
                    return Ok(copied);
                };
                let mut merge = self.merge();
                merge.add_memstore(cursor)?;
                merge.add_file(rival)?;
                merge
            }
        };
        self.read_merge(merge, show)
    }

    /// Reads a merge to its end. Returns the number of cells that were copied from memstores.
    #[inline(never)]
    fn read_merge(
        &mut self,
        mut merge: RowMerge<'a>,
        show: &mut impl FnMut(AnswerCell<'_>),
    ) -> Result<usize> {
        merge.read(&mut self.lookup, show)?;
        Ok(merge.end(&mut self.lookup))
    }

    /// Returns a merge of the row without sources.
    #[inline(never)]
    fn merge(&self) -> RowMerge<'a> {
        let (columns, files) = (Cow::Borrowed(self.columns), self.family.files.by_time());
        let (retention, now) = (self.family.retention(), self.read_view.now());
        let rules = Rules::for_read(&retention, self.view, columns, now);
        RowMerge::new(self.lookup.probe().row(), self.columns, files, rules)
    }

    /// Adds the cells of a memstore, which is older than those that were added before.
    #[inline(never)]
    fn add_memstore(&mut self, cursor: MemstoreCursor) -> Result<()> {
        let mut merge = match std::mem::replace(&mut self.in_memory, InMemory::Nothing) {
            InMemory::Nothing if self.is_answered_by(&first_cell(&cursor)) => {
                self.in_memory = InMemory::Answer(cursor);
                return Ok(());
            }
            InMemory::Nothing => Box::new(self.merge()),
            InMemory::Answer(newer) => {
                let mut merge = Box::new(self.merge());
                merge.add_memstore(newer)?;
                merge
            }
            InMemory::Merge(merge) => merge,
        };
        merge.add_memstore(cursor)?;
        self.in_memory = InMemory::Merge(merge);
        Ok(())
    }

    /// Returns a cursor at the first cell of the row in a memstore that may be in the answer, or
    /// hide cells of it.
    #[inline(never)]
    fn seek_in(&self, memstore: &Arc<Memstore>) -> Option<MemstoreCursor> {
        let row = self.lookup.probe().row();
        let (start, batch) = match self.columns {
            Columns::All => (KeyRef::before_row(row), 4),
            Columns::Only(_) if memstore.deletes_families() => (KeyRef::before_row(row), 4),
            Columns::Only(columns) => {
                let family = self.family.family.name.as_bytes();
                let batch = if columns.len() == 1 && self.versions_wanted() == 1 { 1 } else { 4 };
                (KeyRef::before_column(row, family, &columns[0]), batch)
            }
        };
        MemstoreCursor::of_row(memstore, self.read_view.visible, start, batch)
    }

    /// Returns whether the first cell of the row in its source is the answer, provided that all cells
    /// of the row in other sources are older.
    fn is_answered_by(&self, cell: &CellRef<'_>) -> bool {
        shows_only_put(&self.family.retention(), self.view, self.columns, cell)
    }

    /// Returns the number of versions of each column after which older cells do not matter.
    fn versions_wanted(&self) -> u32 {
        self.view.versions.min(self.family.family.options.versions).max(1)
    }
}

fn first_cell(cursor: &MemstoreCursor) -> CellRef<'_> {
    cursor.cell().expect("a cursor of a row is on a cell")
}
