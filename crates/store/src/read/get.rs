//! The read path of one row, top to bottom.
//!
//! ```text
//! memstores ─┐
//!            ├─ cells of the row, all in order ─ rules → what HBase would show
//! candidates ┘
//!
//! candidates: the files that can hold the row, newest first, until none that is left can change
//! the answer
//! ```

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use filter::Seed;
use smallvec::SmallVec;
use sstable::{Cell, CellRef, KeyRef, ReadTrace, RowProbe, Scanner, SequenceId, Timestamp};

use crate::error::{Error, Result};
use crate::files::file_list::RankedFile;
use crate::files::version::{FamilyVersion, StoreVersion};
use crate::memstore::Place;
use crate::options::FamilyOptions;
use crate::read::candidates::Candidates;
use crate::read::explain::{Explanation, FileFate, Recorder, Witness};
use crate::read::query::{Columns, Get, View};
use crate::read::rules::{Rules, Verdict, oldest_unexpired};
use crate::row_head::row_head;

/// The store at one moment, for a reader.
#[derive(Clone, Debug)]
pub(crate) struct ReadView {
    pub(crate) version: Arc<StoreVersion>,
    pub(crate) visible: SequenceId,
    pub(crate) seed: Seed,
    /// Read off the clock when it first matters, which to most gets it never does.
    pub(crate) now: OnceLock<Timestamp>,
}

impl ReadView {
    /// The view's time: that of the first call.
    pub(crate) fn now(&self) -> Timestamp {
        *self.now.get_or_init(|| self.version.clock.now())
    }

    /// Answers a get.
    pub(crate) fn get(&self, get: &Get) -> Result<Vec<Cell>> {
        self.get_probed(get, &self.probe(get), &mut ReadTrace::default(), &mut ())
    }

    /// Answers a get; returns what it did beside what it found.
    pub(crate) fn get_traced(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        let mut trace = ReadTrace::default();
        let cells = self.get_probed(get, &self.probe(get), &mut trace, &mut ())?;
        Ok((cells, trace))
    }

    /// Answers a get, and tells its way file by file.
    pub(crate) fn explain(&self, get: &Get) -> Result<Explanation> {
        let (mut recorder, mut trace) = (Recorder::default(), ReadTrace::default());
        let cells = self.get_probed(get, &self.probe(get), &mut trace, &mut recorder)?;
        Ok(Explanation { cells, trace, families: recorder.families })
    }

    /// What filters are asked for a get. One over columns can be asked if there is just one column.
    fn probe<'g>(&self, get: &'g Get) -> RowProbe<'g> {
        let probe = RowProbe::new(&get.row, self.seed);
        match &get.families[..] {
            [query] => match query.columns.only_one() {
                Some(column) => probe.with_column(column),
                None => probe,
            },
            _ => probe,
        }
    }

    /// Answers many gets, each as [`get`](Self::get) would.
    ///
    /// They are worked off in the order of their rows, so that gets that need the same partition of a
    /// filter, or the same block, follow each other. Gets of one family take each step together, up to
    /// the first file that may have their row: so they wait together for filters, blocks and cells.
    pub(crate) fn multi_get(&self, gets: &[Get]) -> Result<Vec<(Vec<Cell>, ReadTrace)>> {
        const TOGETHER: usize = 8;
        let probes: Vec<_> = gets.iter().map(|get| self.probe(get)).collect();
        let mut order: Vec<_> =
            (0_usize..).zip(gets).map(|(at, get)| (row_head(&get.row), at)).collect();
        order.sort_unstable_by(|(left_head, left), (right_head, right)| {
            left_head.cmp(right_head).then_with(|| gets[*left].row.cmp(&gets[*right].row))
        });
        let mut answers = vec![(Vec::new(), ReadTrace::default()); gets.len()];
        let mut begun = Vec::with_capacity(TOGETHER);
        for together in order.chunks(TOGETHER) {
            for (_, index) in together.iter().copied() {
                let (get, probe) = (&gets[index], &probes[index]);
                let (cells, trace) = &mut answers[index];
                let [query] = &get.families[..] else {
                    *cells = self.get_probed(get, probe, trace, &mut ())?;
                    continue;
                };
                let asked = (probe, &query.columns, &get.view);
                let family = self.family(&query.family)?;
                let mut get = self.family_get(family, asked, trace, &mut ());
                get.files.look_ahead();
                begun.push((index, get));
            }
            for (index, get) in &mut begun {
                get.begin(&mut answers[*index].1);
            }
            for (index, get) in &mut begun {
                get.files.load(&mut answers[*index].1);
            }
            for (_, get) in &mut begun {
                get.files.prefetch();
            }
            for (index, get) in begun.drain(..) {
                let (cells, trace) = &mut answers[index];
                get.finish(cells, trace, &mut ())?;
            }
        }
        Ok(answers)
    }

    /// Answers a get; `trace` is still empty.
    fn get_probed(
        &self,
        get: &Get,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
        witness: &mut impl Witness,
    ) -> Result<Vec<Cell>> {
        let mut shown = Vec::new();
        if let [query] = &get.families[..] {
            let family = self.family(&query.family)?;
            let asked = (probe, &query.columns, &get.view);
            self.get_family(family, asked, &mut shown, trace, witness)?;
            return Ok(shown);
        }
        let mut get_one = |family: &FamilyVersion, probe: &RowProbe<'_>, columns: &Columns| {
            let mut one = ReadTrace::default();
            let asked = (probe, columns, &get.view);
            let answer = self.get_family(family, asked, &mut shown, &mut one, witness);
            trace.add(&one);
            answer
        };
        if get.families.is_empty() {
            for family in &self.version.families {
                get_one(family, probe, &Columns::All)?;
            }
        }
        for query in &get.families {
            let family = self.family(&query.family)?;
            match query.columns.only_one() {
                Some(column) => {
                    get_one(family, &probe.clone().with_column(column), &query.columns)?;
                }
                None => get_one(family, probe, &query.columns)?,
            }
        }
        Ok(shown)
    }

    pub(crate) fn family(&self, name: &[u8]) -> Result<&Arc<FamilyVersion>> {
        self.version.family(name).ok_or_else(|| {
            Error::invalid(format!("the store has no family \"{}\"", sstable::escape(name)))
        })
    }

    /// Appends what is shown of one family, and counts what that took; `trace` is still empty.
    fn get_family(
        &self,
        family: &FamilyVersion,
        (probe, columns, view): (&RowProbe<'_>, &Columns, &View),
        shown: &mut Vec<Cell>,
        trace: &mut ReadTrace,
        witness: &mut impl Witness,
    ) -> Result<()> {
        self.family_get(family, (probe, columns, view), trace, witness)
            .finish(shown, trace, witness)
    }

    /// Begins to read a row of one family, with its cells in memstores; `trace` is still empty.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is begun is large, and would be moved")]
    fn family_get<'a>(
        &'a self,
        family: &'a FamilyVersion,
        (probe, columns, view): (&'a RowProbe<'a>, &'a Columns, &'a View),
        trace: &mut ReadTrace,
        witness: &mut impl Witness,
    ) -> FamilyGet<'a> {
        let options = &family.family.options;
        let mut row = RowCells {
            row: probe.row(),
            columns,
            options,
            view,
            moment: self,
            found: SmallVec::new(),
            judged: None,
        };
        for memstore in family.memstores() {
            let place = Place::from(KeyRef::before_row(probe.row()));
            let mut cells = Vec::new();
            memstore.collect(&place, self.visible, usize::MAX, &mut cells, |cell| {
                cell.row == probe.row()
            });
            row.found.extend(cells.into_iter().map(|cell| Found { cell, rank: 0 }));
        }
        let expired = match options.min_versions {
            0 => oldest_unexpired(options, || self.now()),
            _ => Timestamp::OLDEST,
        };
        let files = Candidates::new(&family.files, probe, view.time_range, expired, trace);
        witness.begin(&family.family.name, row.found.len(), trace);
        FamilyGet { family, row, files }
    }
}

/// A row of a family that is being read.
struct FamilyGet<'a> {
    family: &'a FamilyVersion,
    row: RowCells<'a>,
    files: Candidates<'a>,
}

impl FamilyGet<'_> {
    /// Goes on to the first file that may have the row.
    fn begin(&mut self, trace: &mut ReadTrace) {
        self.files.begin(self.row.settled(), trace, &mut ());
    }

    /// Appends what is shown of the row, and counts what all of it took.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what is begun is large, and would be moved")]
    fn finish(
        mut self,
        shown: &mut Vec<Cell>,
        trace: &mut ReadTrace,
        witness: &mut impl Witness,
    ) -> Result<()> {
        while let Some((file, scanner)) = self.files.next(self.row.settled(), trace, witness)? {
            self.row.add_from(file, scanner, trace)?;
            witness.file(&file.file, FileFate::Read, trace);
        }
        self.row.show(shown);
        self.family.log_filter_problems(trace);
        self.family.family.reads.record(trace);
        Ok(())
    }
}

/// The cells of a row of a family, from wherever they were found.
struct RowCells<'a> {
    row: &'a [u8],
    columns: &'a Columns,
    options: &'a FamilyOptions,
    view: &'a View,
    moment: &'a ReadView,
    found: SmallVec<[Found; 1]>,
    /// Which of those found are shown, if they were judged since the last was found.
    judged: Option<SmallVec<[bool; 16]>>,
}

/// A cell, and how new its file is: of two equal ones that of the least rank counts.
struct Found {
    cell: Cell,
    rank: usize,
}

impl RowCells<'_> {
    /// Cells that are passed over one by one before it is worth to seek a column.
    const SKIPS_MAX: u32 = 16;

    /// Takes what a file has of the row, from the row's first cell on.
    fn add_from(
        &mut self,
        from: &RankedFile,
        mut scanner: Scanner,
        trace: &mut ReadTrace,
    ) -> Result<()> {
        let mut skips = 0;
        while let Some(cell) = scanner.cell()
            && cell.row == self.row
        {
            if self.concerns(&cell) {
                let cell = from.file.numbered(cell).to_cell();
                self.found.push(Found { cell, rank: from.rank });
                self.judged = None;
                skips = 0;
            } else if skips < Self::SKIPS_MAX {
                skips += 1;
            } else {
                let family = cell.family.to_vec();
                let Some(column) = self.column_after(cell.qualifier) else { break };
                scanner.seek(KeyRef::before_column(self.row, &family, column))?;
                skips = 0;
                continue;
            }
            scanner.advance()?;
        }
        trace.add(&scanner.take_trace());
        Ok(())
    }

    /// Whether a cell can matter: it is of a column that is asked for, or deletes in all.
    fn concerns(&self, cell: &CellRef<'_>) -> bool {
        match self.columns {
            Columns::All => true,
            Columns::Only(columns) => {
                cell.cell_type.deletes_family()
                    || columns.binary_search_by(|known| known[..].cmp(cell.qualifier)).is_ok()
            }
        }
    }

    /// The next column that is asked for.
    fn column_after(&self, qualifier: &[u8]) -> Option<&[u8]> {
        let Columns::Only(columns) = self.columns else { return None };
        let after = columns.partition_point(|known| &known[..] <= qualifier);
        columns.get(after).map(|column| &column[..])
    }

    /// Files all of whose cells are older than this cannot change the answer any more.
    ///
    /// If columns are asked for by name and each has as many versions as are wanted, then nothing
    /// older than the oldest of those matters: neither values nor delete markers, which hide
    /// nothing that is newer than they are.
    fn settled(&mut self) -> Timestamp {
        let Columns::Only(columns) = self.columns else { return Timestamp::OLDEST };
        let wanted = self.view.versions.min(self.options.versions).max(1);
        if self.found.len() < columns.len() * wanted as usize {
            return Timestamp::OLDEST;
        }
        self.judge();
        let shown = self.judged.iter().flatten();
        let shown = self.found.iter().zip(shown).filter(|(_, is_shown)| **is_shown);
        let (mut settled, mut oldest) = (0, Timestamp::LATEST);
        let (mut column, mut versions) = (None, 0);
        for (Found { cell, .. }, _) in shown {
            if column != Some(cell.qualifier()) {
                (column, versions) = (Some(cell.qualifier()), 0);
            }
            versions += 1;
            if versions == wanted {
                settled += 1;
                oldest = oldest.min(cell.timestamp());
            }
        }
        if settled == columns.len() { oldest } else { Timestamp::OLDEST }
    }

    /// Appends what the rules show of the row.
    fn show(mut self, shown: &mut Vec<Cell>) {
        if self.found.is_empty() {
            return;
        }
        self.judge();
        let judged = self.judged.into_iter().flatten();
        let cells = self.found.into_iter().zip(judged).filter(|(_, is_shown)| *is_shown);
        shown.extend(cells.map(|(found, _)| found.cell));
    }

    /// Sorts what was found and passes it through the rules.
    fn judge(&mut self) {
        if self.judged.is_some() {
            return;
        }
        self.found.sort_by(|left, right| {
            let by_key = left.cell.as_ref().compare(&right.cell.as_ref());
            by_key.then(left.rank.cmp(&right.rank))
        });
        let columns = Cow::Borrowed(self.columns);
        let mut rules = Rules::for_read(self.options, self.view, columns, self.moment.now());
        let found = self.found.iter();
        self.judged =
            Some(found.map(|it| rules.judge(&it.cell.as_ref()) == Verdict::Include).collect());
    }
}
