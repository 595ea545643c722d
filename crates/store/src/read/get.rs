//! The read path of point gets.
//!
//! ```text
//! memstores ─────────────────┐
//!                            ├─ RowCells: candidate cells of the row ─ rules → the answer
//! files ─ sstable's lookup ──┘
//! ```
//!
//! The lookup reads the files newest first, until no remaining file can change the answer
//! ([`RowCells::stop_time`]).

use std::sync::{Arc, OnceLock};

use filter::Seed;
use sstable::{
    BATCH_MAX, Cell, CellRef, MapAnswer, ReadTrace, RowInFile, RowLookup, RowProbe, SequenceId,
    Timestamp, begin_together, row_head,
};

use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::file_list::RankedFile;
use crate::files::version::{FamilyVersion, StoreVersion};
use crate::memstore::Memstore;
use crate::read::answer::{Answer, Visitor};
use crate::read::explain::{Explanation, FileFate, GetObserver, Recorder, Traced};
use crate::read::query::{Columns, Get, TimeRange, View};
use crate::read::row_cells::RowCells;
use crate::read::rules::oldest_unexpired;

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
                observer.end_family(&trace);
                family_get.family.family.reads.record(&trace);
                return Ok(());
            }
            let mut lookup = family_get.lookup(map);
            let read = FamilyRead::begin(self, &family_get, &mut lookup, observer);
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
                let read = FamilyRead::begin(self, family_get, &mut lookup, &mut ());
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
    /// if the memstores are empty.
    ///
    /// The fast path of an absent row. The counters are those that the lookup in the files would
    /// have.
    #[inline]
    fn trace_if_denied(&self, map: &MapAnswer) -> Option<ReadTrace> {
        let files = self.family.files.by_time().len();
        let has_cells = |memstore: &Arc<Memstore>| !memstore.is_empty();
        if !map.denies_all(files) || self.family.memstores().any(has_cells) {
            return None;
        }
        let mut trace = ReadTrace::default();
        trace.files_considered = files as u64;
        trace.map_lookups = 1;
        trace.files_skipped_by_map = files as u64;
        Some(trace)
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
}

/// The read of one row in one family.
///
/// The lookup in the files is a separate value, so that it is not moved with this one: it is large.
struct FamilyRead<'a> {
    family: &'a FamilyVersion,
    row: RowCells<'a>,
}

impl<'a> FamilyRead<'a> {
    /// Copies the row's cells from the memstores, and prepares the lookup in the files.
    #[inline]
    fn begin(
        read_view: &'a ReadView,
        family_get: &'a FamilyGet<'a>,
        lookup: &mut RowLookup<'a>,
        observer: &mut impl GetObserver,
    ) -> Self {
        let FamilyGet { family, probe, columns, view, .. } = family_get;
        let options = &family.family.options;
        let mut row = RowCells::new(probe.row(), columns, options, view, read_view);
        let memstores = family.memstores().filter(|memstore| !memstore.is_empty());
        memstores.for_each(|memstore| row.add_from_memstore(memstore));
        let unexpired = match options.min_versions {
            0 => oldest_unexpired(options, || read_view.now()),
            _ => Timestamp::OLDEST,
        };
        let times = view.time_range;
        // Without a time range, the lookup takes files of all times.
        let from = if times == TimeRange::ALL { Timestamp::OLDEST } else { times.min };
        lookup.times(from.max(unexpired), times.max);
        lookup.stop_below(row.stop_time());
        observer.begin_family(family, row.len(), lookup);
        Self { family, row }
    }

    /// Reads the files, passes the visible cells of the row to `answer`, and records the read in
    /// the statistics.
    #[inline]
    fn finish(
        mut self,
        lookup: &mut RowLookup<'a>,
        answer: &mut impl Answer,
        observer: &mut impl GetObserver,
    ) -> Result<()> {
        let found = self.read_files(lookup, observer);
        observer.end_family(lookup.trace());
        match found? {
            Some((file, found)) => answer.add_borrowed(file.file.numbered(found.cell())),
            None => self.row.answer(answer),
        }
        if lookup.trace().filters_unreadable > 0 {
            self.family.log_filter_problems();
        }
        self.family.family.reads.record(lookup.trace());
        Ok(())
    }

    /// Reads the row's cells from the files, until no remaining file can change the answer.
    ///
    /// Returns the file and the cell if one cell alone is the answer. That cell is then not copied,
    /// and no further cell is read.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "avoids a copy of the large result")]
    fn read_files(
        &mut self,
        lookup: &mut RowLookup<'a>,
        observer: &mut impl GetObserver,
    ) -> Result<Option<(&'a RankedFile, RowInFile<'a>)>> {
        let files = self.family.files.by_time();
        let Some(found) = lookup.next_file(observer)? else { return Ok(None) };
        let (index, file) = (found.file(), &files[found.file()]);
        let cell = found.cell();
        if !self.row.is_answered_by(&cell) {
            self.add_from_files(found, lookup, observer)?;
            return Ok(None);
        }
        let timestamp = cell.timestamp;
        observer.file(index, FileFate::Read, lookup.trace());
        lookup.stop_below(timestamp);
        let Some(other) = lookup.next_file(observer)? else { return Ok(Some((file, found))) };
        self.row.add_from_file(file, found, lookup.trace_mut())?;
        self.add_from_files(other, lookup, observer)?;
        Ok(None)
    }

    /// Adds the row's cells of a file and of the files after it, until no remaining file can change
    /// the answer.
    #[inline(never)]
    fn add_from_files(
        &mut self,
        first: RowInFile<'a>,
        lookup: &mut RowLookup<'a>,
        observer: &mut impl GetObserver,
    ) -> Result<()> {
        let mut found = Some(first);
        while let Some(row) = found {
            let (index, file) = (row.file(), &self.family.files.by_time()[row.file()]);
            self.row.add_from_file(file, row, lookup.trace_mut())?;
            observer.file(index, FileFate::Read, lookup.trace());
            lookup.stop_below(self.row.stop_time());
            found = lookup.next_file(observer)?;
        }
        Ok(())
    }
}
