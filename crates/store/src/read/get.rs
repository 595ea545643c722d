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
use cells::rules::{Rules, shows_only_put};
use cells::view::{Columns, QueryTimes, View};
use sstable::lookup::{BATCH_MAX, MapAnswer, RowLookup, begin_together};
use sstable::{Cell, CellRef, KeyRef, ReadTrace, RowProbe, Timestamp};

use crate::error::Result;
use crate::files::version::store_version::FamilyVersion;
use crate::memstore::Memstore;
use crate::process::check_process;
use crate::read::explain::{Explanation, GetObserver, Recorder, Traced};
use crate::read::query::Get;
use crate::read::row_merge::RowMerge;
use crate::read::sources::MemstoreCursor;
use crate::read::view::{AnswerCell, ReadView};

impl ReadView {
    /// Answers a get.
    pub(crate) fn get(&self, get: &Get) -> Result<Vec<Cell>> {
        let mut cells = Vec::new();
        self.get_observed(get, |cell| push(&mut cells, cell), &mut ())?;
        Ok(cells)
    }

    /// Answers a get, and calls `show` for each cell of the answer.
    pub(crate) fn get_with(&self, get: &Get, mut show: impl FnMut(CellRef<'_>)) -> Result<()> {
        self.get_observed(get, |cell| show(cell.as_ref()), &mut ())
    }

    /// Answers a get, and returns its trace.
    pub(crate) fn get_traced(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        let (mut cells, mut traced) = (Vec::new(), Traced::default());
        self.get_observed(get, |cell| push(&mut cells, cell), &mut traced)?;
        Ok((cells, traced.0))
    }

    /// Answers a get, and returns how it treated each file.
    pub(crate) fn explain(&self, get: &Get) -> Result<Explanation> {
        let (mut cells, mut recorder) = (Vec::new(), Recorder::default());
        self.get_observed(get, |cell| push(&mut cells, cell), &mut recorder)?;
        Ok(Explanation { cells, trace: recorder.trace.0, families: recorder.families })
    }

    /// Answers a get, one family after the other.
    fn get_observed(
        &self,
        get: &Get,
        mut show: impl FnMut(AnswerCell<'_>),
        observer: &mut impl GetObserver,
    ) -> Result<()> {
        let sorted;
        let get = if get.is_sorted {
            get
        } else {
            sorted = get.sorted();
            &sorted
        };
        self.for_each_family(get, |family, columns| {
            let probe = self.probe(get, family, columns);
            let map = self.map_answer(family, &probe);
            if !observer.is_told_of_files()
                && let Some(trace) = map.and_then(|map| trace_if_denied(family, &map))
            {
                observer.end_family(&trace, 0);
                family.family.reads.record(&trace, 1);
                return Ok(());
            }
            let mut read = RowRead::new(self, family, columns, &get.view, &probe);
            read.begin(map, observer)?;
            read.finish(&mut show, observer)
        })
    }

    /// Answers many gets, each as [`get`](Self::get) would.
    ///
    /// The gets are sorted by row, so that gets of the same filter partition or block follow each
    /// other. They run in batches whose cache misses overlap.
    pub(crate) fn multi_get(&self, gets: &[Get]) -> Result<Vec<(Vec<Cell>, ReadTrace)>> {
        if gets.iter().any(|get| !get.is_sorted) {
            let sorted: Vec<_> = gets.iter().map(Get::sorted).collect();
            return self.multi_get(&sorted);
        }
        let mut order: Vec<_> =
            (0_usize..).zip(gets).map(|(at, get)| (row_head(&get.row), at)).collect();
        order.sort_unstable_by(|(left_head, left), (right_head, right)| {
            left_head.cmp(right_head).then_with(|| gets[*left].row.cmp(&gets[*right].row))
        });
        let mut answers = Vec::new();
        answers.resize_with(gets.len(), <(Vec<Cell>, Traced)>::default);
        for batch in order.chunks(BATCH_MAX) {
            let mut family_gets = Vec::with_capacity(BATCH_MAX);
            for &(_, at) in batch {
                self.for_each_family(&gets[at], |family, columns| {
                    let probe = self.probe(&gets[at], family, columns);
                    family_gets.push(FamilyGet { at, family, columns, probe });
                    Ok(())
                })?;
            }
            let mut reads = Vec::with_capacity(family_gets.len());
            for FamilyGet { at, family, columns, probe } in &family_gets {
                let mut read = RowRead::new(self, family, columns, &gets[*at].view, probe);
                read.begin(self.map_answer(family, probe), &mut ())?;
                reads.push(read);
            }
            begin_together(reads.iter_mut().map(|read| &mut read.lookup));
            for (FamilyGet { at, .. }, mut read) in family_gets.iter().zip(reads) {
                let (cells, traced) = &mut answers[*at];
                read.finish(&mut |cell| push(cells, cell), traced)?;
            }
        }
        Ok(answers.into_iter().map(|(cells, traced)| (cells, traced.0)).collect())
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

    /// Returns the probe for the row of a get in a family.
    ///
    /// Prefetches the family map's cache lines, so that a batch of gets waits for them only once.
    #[inline]
    fn probe<'g>(
        &self,
        get: &'g Get,
        family: &FamilyVersion,
        columns: &'g Columns,
    ) -> RowProbe<'g> {
        // A ROWCOL filter can answer only for a single column.
        let probe = RowProbe::of_column(&get.row, columns.single(), self.seed);
        if let Some(coverage) = family.files.coverage() {
            coverage.prefetch(probe.key_hash(self.seed));
        }
        probe
    }

    /// Returns the answer of the family map, if there is a map.
    fn map_answer(&self, family: &FamilyVersion, probe: &RowProbe<'_>) -> Option<MapAnswer> {
        family.files.coverage().map(|map| map.answer(probe.key_hash(self.seed)))
    }
}

/// Returns the counters of the whole read, if the family map says that no file has the row and if
/// the memstores are empty: the fast path of an absent row.
fn trace_if_denied(family: &FamilyVersion, map: &MapAnswer) -> Option<ReadTrace> {
    let trace = RowLookup::denied_by_map(family.files.lookup(), map)?;
    family.memstores().all(|memstore| memstore.is_empty()).then_some(trace)
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
    /// Prepares the read, without reading.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "avoids a move of the large return value")]
    fn new(
        read_view: &'a ReadView,
        family: &'a FamilyVersion,
        columns: &'a Columns,
        view: &'a View,
        probe: &'a RowProbe<'a>,
    ) -> Self {
        let lookup = RowLookup::new(family.files.lookup(), probe);
        Self { read_view, family, columns, view, lookup, in_memory: InMemory::Nothing }
    }

    /// Takes the answer of the family map, and seeks the row in the memstores, newest first.
    fn begin(&mut self, map: Option<MapAnswer>, observer: &mut impl GetObserver) -> Result<()> {
        if let Some(map) = map {
            self.lookup.answered_by_map(map);
        }
        let options = &self.family.family.options;
        let unexpired = match options.min_versions {
            0 => options.retention().oldest_unexpired(|| self.read_view.now()),
            _ => Timestamp::OLDEST,
        };
        let times = self.view.time_range;
        // Without a time range, the lookup takes files of all times.
        let from = if times == QueryTimes::ALL { Timestamp::OLDEST } else { times.min };
        self.lookup.times(from.max(unexpired), times.max);
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
        observer.begin_family(self.family, &self.lookup);
        Ok(())
    }

    /// Reads the files, passes the visible cells of the row to `show`, and counts the read, also one
    /// that fails.
    fn finish(
        &mut self,
        show: &mut impl FnMut(AnswerCell<'_>),
        observer: &mut impl GetObserver,
    ) -> Result<()> {
        let read = self.read_files(show, observer);
        if read.is_ok() {
            self.lookup.end(observer);
        }
        let trace = self.lookup.trace();
        observer.end_family(trace, *read.as_ref().unwrap_or(&0));
        if trace.filters_unreadable > 0 {
            self.family.log_filter_problems();
        }
        self.family.family.reads.record(trace, 1);
        read.map(|_| ())
    }

    /// Reads the files, until the cells read so far are the answer. Returns the number of cells that
    /// were copied from memstores.
    ///
    /// If one cell alone is the answer, no further cell is read.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "avoids a copy of the large result of the lookup")]
    fn read_files(
        &mut self,
        show: &mut impl FnMut(AnswerCell<'_>),
        observer: &mut impl GetObserver,
    ) -> Result<usize> {
        if !matches!(self.in_memory, InMemory::Nothing) {
            return self.read_after_memstores(show, observer);
        }
        let Some(found) = self.lookup.next_file(observer)? else { return Ok(0) };
        let cell = found.cell();
        let mut rival = None;
        if self.is_answered_by(&cell) {
            self.lookup.stop_below(cell.timestamp);
            rival = self.lookup.next_file(observer)?;
            if rival.is_none() {
                let file = &self.family.files.by_time()[found.file()].file;
                show(AnswerCell::Borrowed(file.with_sequence_id(found.cell())));
                return Ok(0);
            }
        }
        let mut merge = self.merge();
        merge.add_file(found)?;
        if let Some(rival) = rival {
            merge.add_file(rival)?;
        }
        self.read_merge(merge, show, observer)
    }

    /// Reads the files as [`read_files`](Self::read_files) does, of a row that memstores have.
    #[inline(never)]
    fn read_after_memstores(
        &mut self,
        show: &mut impl FnMut(AnswerCell<'_>),
        observer: &mut impl GetObserver,
    ) -> Result<usize> {
        let merge = match std::mem::replace(&mut self.in_memory, InMemory::Nothing) {
            InMemory::Nothing => self.merge(),
            InMemory::Merge(merge) => *merge,
            InMemory::Answer(cursor) => {
                let Some(rival) = self.lookup.next_file(observer)? else {
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
        self.read_merge(merge, show, observer)
    }

    /// Reads a merge to its end. Returns the number of cells that were copied from memstores.
    #[inline(never)]
    fn read_merge(
        &mut self,
        mut merge: RowMerge<'a>,
        show: &mut impl FnMut(AnswerCell<'_>),
        observer: &mut impl GetObserver,
    ) -> Result<usize> {
        merge.read(&mut self.lookup, show, observer)?;
        Ok(merge.end(self.lookup.trace_mut(), observer))
    }

    /// Returns a merge of the row without sources.
    #[inline(never)]
    fn merge(&self) -> RowMerge<'a> {
        let (columns, files) = (Cow::Borrowed(self.columns), self.family.files.by_time());
        let options = &self.family.family.options;
        let rules = Rules::for_read(&options.retention(), self.view, columns, self.read_view.now());
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
    ///
    /// The fast path for a get of one version of one column. The older cells of the source do not
    /// matter, because no delete marker of the source hides this cell: it would come first. With
    /// `min_versions`, the rules may show one older cell as well.
    fn is_answered_by(&self, cell: &CellRef<'_>) -> bool {
        let options = &self.family.family.options;
        self.versions_wanted() == 1
            && options.min_versions == 0
            && self.columns.single() == Some(cell.qualifier)
            && shows_only_put(&options.retention(), self.view, cell)
    }

    /// Returns the number of versions of each column after which older cells do not matter.
    fn versions_wanted(&self) -> u32 {
        self.view.versions.min(self.family.family.options.versions).max(1)
    }
}

fn first_cell(cursor: &MemstoreCursor) -> CellRef<'_> {
    cursor.cell().expect("a cursor of a row is on a cell")
}
