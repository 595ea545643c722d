//! The read path of point gets.
//!
//! ```text
//! memstores, then files newest first ─┬─ one cell is the answer ───→ returned as it is
//!   (sstable's lookup)                └─ otherwise RowMerge, rules ─→ the answer
//! ```
//!
//! The lookup reads the files newest first, until no remaining file can change the answer
//! ([`RowMerge::needed_time`]).

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use filter::Seed;
use sstable::{
    BATCH_MAX, Cell, CellRef, KeyRef, MapAnswer, ReadTrace, RowInFile, RowLookup, RowProbe,
    SequenceId, Timestamp, begin_together, row_head,
};

use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::version::store_version::{FamilyVersion, StoreVersion};
use crate::memstore::Memstore;
use crate::read::answer::{Answer, Visitor};
use crate::read::explain::{Explanation, FileFate, GetObserver, Recorder, Traced};
use crate::read::query::{Columns, Get, TimeRange, View};
use crate::read::row_merge::RowMerge;
use crate::read::rules::{Rules, oldest_unexpired, shows_only_put};
use crate::read::sources::MemstoreCursor;

/// A consistent view of the store at one moment.
#[derive(Clone, Debug)]
pub(crate) struct ReadView {
    pub(crate) version: Arc<StoreVersion>,
    pub(crate) visible: SequenceId,
    pub(crate) seed: Seed,
    /// Read from the clock at the first use, because most gets do not need the time.
    pub(crate) now: OnceLock<Timestamp>,
}

impl ReadView {
    /// Returns a view of the present state.
    pub(crate) fn current(catalog: &Catalog) -> Self {
        // The version must be loaded first, so that `visible` is not older than its flushed files:
        // a flush may have dropped versions that only an older view would show.
        let version = catalog.version();
        let visible = catalog.visible();
        Self { version, visible, seed: catalog.seed, now: OnceLock::new() }
    }

    /// Returns the view's time, which is the clock's time at the first call.
    pub(crate) fn now(&self) -> Timestamp {
        *self.now.get_or_init(|| self.version.clock.now())
    }

    /// Answers a get.
    pub(crate) fn get(&self, get: &Get) -> Result<Vec<Cell>> {
        self.get_with_observer(get, &mut ())
    }

    /// Answers a get, and returns its trace.
    pub(crate) fn get_traced(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        let mut traced = Traced::default();
        let cells = self.get_with_observer(get, &mut traced)?;
        Ok((cells, traced.0))
    }

    /// Answers a get, and returns how it treated each file.
    pub(crate) fn explain(&self, get: &Get) -> Result<Explanation> {
        let mut recorder = Recorder::default();
        let cells = self.get_with_observer(get, &mut recorder)?;
        Ok(Explanation { cells, trace: recorder.trace.0, families: recorder.families })
    }

    /// Answers a get, and calls `visit` for each cell of the answer.
    pub(crate) fn get_with(&self, get: &Get, visit: impl FnMut(CellRef<'_>)) -> Result<()> {
        self.answer(get, &mut Visitor(visit), &mut ())
    }

    /// Answers a get, and returns the cells.
    fn get_with_observer(&self, get: &Get, observer: &mut impl GetObserver) -> Result<Vec<Cell>> {
        let mut cells = Vec::new();
        self.answer(get, &mut cells, observer)?;
        Ok(cells)
    }

    /// Answers a get, one family after the other.
    #[inline]
    fn answer(
        &self,
        get: &Get,
        answer: &mut impl Answer,
        observer: &mut impl GetObserver,
    ) -> Result<()> {
        self.for_each_family(get, |family_get| {
            let map = family_get.map_answer();
            if let Some(map) = &map
                && !observer.is_told_of_files()
                && let Some(trace) = family_get.trace_if_denied(map)
            {
                observer.end_family(&trace, 0);
                family_get.family.family.reads.record(&trace);
                return Ok(());
            }
            let mut lookup = family_get.lookup(map);
            let read = FamilyRead::begin(self, &family_get, &mut lookup, observer)?;
            read.finish(&mut lookup, answer, observer)
        })
    }

    /// Answers many gets, each as [`get`](Self::get) would.
    ///
    /// The gets are sorted by row, so that gets of the same filter partition or block follow each
    /// other. They run in batches whose cache misses overlap.
    pub(crate) fn multi_get(&self, gets: &[Get]) -> Result<Vec<(Vec<Cell>, ReadTrace)>> {
        let mut order: Vec<_> =
            (0_usize..).zip(gets).map(|(at, get)| (row_head(&get.row), at)).collect();
        order.sort_unstable_by(|(left_head, left), (right_head, right)| {
            left_head.cmp(right_head).then_with(|| gets[*left].row.cmp(&gets[*right].row))
        });
        let mut answers = Vec::new();
        answers.resize_with(gets.len(), <(Vec<Cell>, Traced)>::default);
        for batch in order.chunks(BATCH_MAX) {
            let mut family_gets = Vec::with_capacity(BATCH_MAX);
            for (_, get) in batch {
                self.for_each_family(&gets[*get], |family_get| {
                    family_gets.push((*get, family_get));
                    Ok(())
                })?;
            }
            let mut reads = Vec::with_capacity(family_gets.len());
            for (get, family_get) in &family_gets {
                let mut lookup = family_get.lookup(family_get.map_answer());
                let read = FamilyRead::begin(self, family_get, &mut lookup, &mut ())?;
                reads.push((*get, read, lookup));
            }
            begin_together(reads.iter_mut().map(|(_, _, lookup)| lookup));
            for (get, read, mut lookup) in reads {
                let (cells, traced) = &mut answers[get];
                read.finish(&mut lookup, cells, traced)?;
            }
        }
        Ok(answers.into_iter().map(|(cells, traced)| (cells, traced.0)).collect())
    }

    /// Calls `visit` for each family that a get reads.
    #[inline]
    fn for_each_family<'g>(
        &'g self,
        get: &'g Get,
        mut visit: impl FnMut(FamilyGet<'g>) -> Result<()>,
    ) -> Result<()> {
        if get.families.is_empty() {
            let mut families = self.version.families.iter();
            return families.try_for_each(|family| {
                visit(FamilyGet::new(family, get, &Columns::All, self.seed))
            });
        }
        get.families.iter().try_for_each(|query| {
            let family = self.family(&query.family)?;
            visit(FamilyGet::new(family, get, &query.columns, self.seed))
        })
    }

    pub(crate) fn family(&self, name: &[u8]) -> Result<&Arc<FamilyVersion>> {
        self.version.known_family(name)
    }
}

/// The part of a get that concerns one family.
struct FamilyGet<'a> {
    family: &'a FamilyVersion,
    probe: RowProbe<'a>,
    columns: &'a Columns,
    view: &'a View,
    seed: Seed,
}

impl<'a> FamilyGet<'a> {
    #[inline]
    fn new(family: &'a FamilyVersion, get: &'a Get, columns: &'a Columns, seed: Seed) -> Self {
        let mut probe = RowProbe::new(&get.row, seed);
        if let Some(column) = columns.single() {
            // A ROWCOL filter can answer only for a single column.
            probe = probe.with_column(column);
        }
        // Prefetched here, so that the cache misses in the map overlap for a batch of gets.
        if let Some(coverage) = family.files.coverage() {
            coverage.prefetch(probe.key_hash(seed));
        }
        Self { family, probe, columns, view: &get.view, seed }
    }

    /// Returns the answer of the family map, if there is a map.
    #[inline]
    fn map_answer(&self) -> Option<MapAnswer> {
        let coverage = self.family.files.coverage()?;
        Some(coverage.answer(self.probe.key_hash(self.seed)))
    }

    /// Returns the counters of the whole read, if the family map says that no file has the row and
    /// if the memstores are empty: the fast path of an absent row.
    #[inline]
    fn trace_if_denied(&self, map: &MapAnswer) -> Option<ReadTrace> {
        let trace = RowLookup::denied_by_map(self.family.files.lookup(), map)?;
        let is_in_files_only = self.family.memstores().all(|memstore| memstore.is_empty());
        is_in_files_only.then_some(trace)
    }

    /// Returns the lookup of the row in the files.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "avoids a move of the large return value")]
    fn lookup(&self, map: Option<MapAnswer>) -> RowLookup<'_> {
        let mut lookup = RowLookup::new(self.family.files.lookup(), &self.probe);
        if let Some(map) = map {
            lookup.answered_by_map(map);
        }
        lookup
    }

    /// Returns a cursor at the first cell of the row in a memstore that may be in the answer, or
    /// hide cells of it.
    #[inline(never)]
    fn seek_in(&self, memstore: &Arc<Memstore>, visible: SequenceId) -> Option<MemstoreCursor> {
        let row = self.probe.row();
        let (start, batch) = match self.columns {
            Columns::All => (KeyRef::before_row(row), 8),
            Columns::Only(_) if memstore.deletes_families() => (KeyRef::before_row(row), 4),
            Columns::Only(columns) => {
                let family = self.family.family.name.as_bytes();
                let batch = if columns.len() == 1 && self.versions_wanted() == 1 { 1 } else { 4 };
                (KeyRef::before_column(row, family, &columns[0]), batch)
            }
        };
        MemstoreCursor::of_row(memstore, visible, start, batch)
    }

    /// Returns whether the first cell of the row in its source is the answer, provided that all cells
    /// of the row in other sources are older.
    ///
    /// The fast path for a get of one version of one column. The older cells of the source do not
    /// matter, because no delete marker of the source hides this cell: it would come first. With
    /// `min_versions`, the rules may show one older cell as well.
    #[inline]
    fn is_answered_by(&self, cell: &CellRef<'_>) -> bool {
        let options = &self.family.family.options;
        self.versions_wanted() == 1
            && options.min_versions == 0
            && self.columns.single() == Some(cell.qualifier)
            && shows_only_put(options, self.view, cell)
    }

    /// Returns the number of versions of each column after which older cells do not matter.
    #[inline]
    fn versions_wanted(&self) -> u32 {
        self.view.versions.min(self.family.family.options.versions).max(1)
    }

    /// Returns a merge of the row without sources.
    fn merge(&'a self, read_view: &ReadView) -> RowMerge<'a> {
        let (columns, files) = (Cow::Borrowed(self.columns), self.family.files.by_time());
        let options = &self.family.family.options;
        let rules = Rules::for_read(options, self.view, columns, read_view.now());
        RowMerge::new(self.probe.row(), self.columns, files, rules)
    }
}

/// The read of one row in one family.
///
/// The lookup in the files is a separate value, so that it is not moved with this one: it is large.
struct FamilyRead<'a> {
    read_view: &'a ReadView,
    get: &'a FamilyGet<'a>,
    in_memory: InMemory<'a>,
}

/// The cells of the row in the memstores.
enum InMemory<'a> {
    Nothing,
    /// The first cell is the answer, unless a file has a cell that is not older.
    Answer(MemstoreCursor),
    Merge(Box<RowMerge<'a>>),
}

impl<'a> FamilyRead<'a> {
    /// Seeks the row in the memstores, and prepares the lookup in the files.
    #[inline]
    fn begin(
        read_view: &'a ReadView,
        get: &'a FamilyGet<'a>,
        lookup: &mut RowLookup<'a>,
        observer: &mut impl GetObserver,
    ) -> Result<Self> {
        let FamilyGet { family, view, .. } = get;
        let options = &family.family.options;
        let unexpired = match options.min_versions {
            0 => oldest_unexpired(options, || read_view.now()),
            _ => Timestamp::OLDEST,
        };
        let times = view.time_range;
        // Without a time range, the lookup takes files of all times.
        let from = if times == TimeRange::ALL { Timestamp::OLDEST } else { times.min };
        lookup.times(from.max(unexpired), times.max);
        let mut in_memory = InMemory::Nothing;
        for memstore in family.memstores().filter(|memstore| !memstore.is_empty()) {
            if let Some(cursor) = get.seek_in(memstore, read_view.visible) {
                in_memory = in_memory.with(cursor, get, read_view)?;
            }
        }
        match &in_memory {
            InMemory::Nothing => {}
            InMemory::Answer(cursor) => lookup.stop_below(first_cell(cursor).timestamp),
            InMemory::Merge(merge) => lookup.stop_below(merge.needed_time()),
        }
        observer.begin_family(family, lookup);
        Ok(Self { read_view, get, in_memory })
    }

    /// Reads the files, passes the visible cells of the row to `answer`, and records the read in
    /// the statistics.
    #[inline]
    fn finish(
        self,
        lookup: &mut RowLookup<'a>,
        answer: &mut impl Answer,
        observer: &mut impl GetObserver,
    ) -> Result<()> {
        let Self { read_view, get, in_memory } = self;
        let read = match in_memory {
            InMemory::Nothing => get.read_files(read_view, lookup, answer, observer),
            InMemory::Answer(cursor) => get.read_newer(read_view, cursor, lookup, answer, observer),
            InMemory::Merge(merge) => read_merge(*merge, lookup, answer, observer),
        };
        if read.is_ok() {
            lookup.end(observer);
        }
        observer.end_family(lookup.trace(), *read.as_ref().unwrap_or(&0));
        read?;
        let family = get.family;
        if lookup.trace().filters_unreadable > 0 {
            family.log_filter_problems();
        }
        family.family.reads.record(lookup.trace());
        Ok(())
    }
}

impl<'a> InMemory<'a> {
    /// Adds the cells of a memstore, which is older than those that were added before.
    #[inline(never)]
    fn with(
        self,
        cursor: MemstoreCursor,
        get: &'a FamilyGet<'a>,
        read_view: &ReadView,
    ) -> Result<Self> {
        let mut merge = match self {
            Self::Nothing if get.is_answered_by(&first_cell(&cursor)) => {
                return Ok(Self::Answer(cursor));
            }
            Self::Nothing => Box::new(get.merge(read_view)),
            Self::Answer(newer) => {
                let mut merge = Box::new(get.merge(read_view));
                merge.add_memstore(newer)?;
                merge
            }
            Self::Merge(merge) => merge,
        };
        merge.add_memstore(cursor)?;
        Ok(Self::Merge(merge))
    }
}

/// The read of the files. Each function returns the number of cells copied from memstores.
impl<'a> FamilyGet<'a> {
    /// Answers from the files, without cells in memstores.
    ///
    /// If one cell alone is the answer, it is not copied, and no further cell is read.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "avoids a copy of the large result of the lookup")]
    fn read_files(
        &'a self,
        read_view: &ReadView,
        lookup: &mut RowLookup<'a>,
        answer: &mut impl Answer,
        observer: &mut impl GetObserver,
    ) -> Result<usize> {
        let Some(found) = lookup.next_file(observer)? else { return Ok(0) };
        observer.file(found.file(), FileFate::Read, lookup.trace());
        let cell = found.cell();
        let mut other = None;
        if self.is_answered_by(&cell) {
            lookup.stop_below(cell.timestamp);
            other = lookup.next_file(observer)?;
            if other.is_none() {
                let file = &self.family.files.by_time()[found.file()].file;
                answer.add_borrowed(file.numbered(found.cell()));
                return Ok(0);
            }
        }
        self.merge_files(read_view, (found, other), lookup, answer, observer)
    }

    /// Answers from files only, beginning with those that the lookup has found so far.
    #[inline(never)]
    fn merge_files(
        &'a self,
        read_view: &ReadView,
        (first, other): (RowInFile<'a>, Option<RowInFile<'a>>),
        lookup: &mut RowLookup<'a>,
        answer: &mut impl Answer,
        observer: &mut impl GetObserver,
    ) -> Result<usize> {
        let mut merge = self.merge(read_view);
        merge.add_file(first)?;
        if let Some(other) = other {
            observer.file(other.file(), FileFate::Read, lookup.trace());
            merge.add_file(other)?;
        }
        read_merge(merge, lookup, answer, observer)
    }

    /// Answers with the first cell of a memstore, unless a file has cells that are not older.
    #[inline(never)]
    fn read_newer(
        &'a self,
        read_view: &ReadView,
        cursor: MemstoreCursor,
        lookup: &mut RowLookup<'a>,
        answer: &mut impl Answer,
        observer: &mut impl GetObserver,
    ) -> Result<usize> {
        let Some(newer) = lookup.next_file(observer)? else {
            let copied = cursor.copied();
            answer.add_owned(cursor.into_cell());
            return Ok(copied);
        };
        observer.file(newer.file(), FileFate::Read, lookup.trace());
        let mut merge = self.merge(read_view);
        merge.add_memstore(cursor)?;
        merge.add_file(newer)?;
        read_merge(merge, lookup, answer, observer)
    }
}

/// Reads a merge to its end; returns the number of cells copied from memstores.
fn read_merge(
    mut merge: RowMerge<'_>,
    lookup: &mut RowLookup<'_>,
    answer: &mut impl Answer,
    observer: &mut impl GetObserver,
) -> Result<usize> {
    merge.read(lookup, answer, observer)?;
    Ok(merge.end(lookup.trace_mut(), observer))
}

fn first_cell(cursor: &MemstoreCursor) -> CellRef<'_> {
    cursor.cell().expect("a cursor of a row is on a cell")
}
