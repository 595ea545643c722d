//! The candidate cells of one row and family, and the rules applied to them.

use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};
use sstable::{Cell, CellRef, KeyRef, ReadTrace, RowInFile, Timestamp};

use crate::error::Result;
use crate::files::file_list::RankedFile;
use crate::memstore::{Memstore, SeekPosition};
use crate::options::FamilyOptions;
use crate::read::answer::Answer;
use crate::read::get::ReadView;
use crate::read::query::{Columns, View};
use crate::read::rules::{Rules, Verdict, shows_only_put};

/// The candidate cells of one row and family, from memstores and files.
pub(crate) struct RowCells<'a> {
    row: &'a [u8],
    columns: &'a Columns,
    options: &'a FamilyOptions,
    view: &'a View,
    read_view: &'a ReadView,
    /// Only [relevant](Self::is_relevant) cells, because the stop rule counts them.
    candidates: SmallVec<[Candidate; 1]>,
    /// Whether each candidate is shown; `None` if a candidate was added since the rules were
    /// applied.
    shown: Option<SmallVec<[bool; 16]>>,
}

/// A cell and the rank of its file: of two equal cells the one with the lower rank is newer.
struct Candidate {
    cell: Cell,
    rank: usize,
}

impl<'a> RowCells<'a> {
    /// Returns an empty set of candidates. `read_view` supplies the time if a rule needs it.
    #[inline]
    pub(crate) fn new(
        row: &'a [u8],
        columns: &'a Columns,
        options: &'a FamilyOptions,
        view: &'a View,
        read_view: &'a ReadView,
    ) -> Self {
        Self { row, columns, options, view, read_view, candidates: SmallVec::new(), shown: None }
    }

    /// Returns the number of candidates, including hidden cells.
    pub(crate) fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Adds the row's cells of a memstore.
    #[inline(never)]
    pub(crate) fn add_from_memstore(&mut self, memstore: &Memstore) {
        let position = SeekPosition::at_or_after(KeyRef::before_row(self.row));
        let mut cells = Vec::new();
        let visible = self.read_view.visible;
        let is_of_row = |cell: &CellRef<'_>| cell.row == self.row;
        memstore.copy_cells(&position, visible, usize::MAX, &mut cells, is_of_row);
        for cell in cells {
            if self.is_relevant(&cell.as_ref()) {
                self.candidates.push(Candidate { cell, rank: 0 });
                self.shown = None;
            }
        }
    }

    /// Irrelevant cells that are skipped one by one before a seek to the next wanted column.
    const SKIPS_MAX: u32 = 16;

    /// Returns whether the first cell of the row in a file is the answer, provided that the files
    /// which may have a newer cell do not have the row.
    ///
    /// The fast path for a get of one version of one column. The older cells of the file do not
    /// matter, because no delete marker of the file hides this cell: it would come first. With
    /// `min_versions`, the rules may show one older cell as well.
    #[inline]
    pub(crate) fn is_answered_by(&self, cell: &CellRef<'_>) -> bool {
        self.candidates.is_empty()
            && self.versions_wanted() == 1
            && self.options.min_versions == 0
            && self.columns.single() == Some(cell.qualifier)
            && shows_only_put(self.options, self.view, cell)
    }

    /// Adds the row's cells of a file.
    #[inline(never)]
    pub(crate) fn add_from_file(
        &mut self,
        from: &RankedFile,
        found: RowInFile<'_>,
        trace: &mut ReadTrace,
    ) -> Result<()> {
        let mut scanner = found.into_scanner();
        let mut skips = 0;
        while let Some(cell) = scanner.cell()
            && cell.row == self.row
        {
            if self.is_relevant(&cell) {
                let cell = from.file.numbered(cell).to_cell();
                self.candidates.push(Candidate { cell, rank: from.rank });
                self.shown = None;
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

    /// Returns whether a cell can change the answer: it is of a wanted column, or deletes the
    /// family.
    fn is_relevant(&self, cell: &CellRef<'_>) -> bool {
        match self.columns {
            Columns::All => true,
            Columns::Only(columns) => {
                cell.cell_type.deletes_family()
                    || columns.binary_search_by(|known| known[..].cmp(cell.qualifier)).is_ok()
            }
        }
    }

    /// Returns the first wanted column after `qualifier`.
    fn column_after(&self, qualifier: &[u8]) -> Option<&[u8]> {
        let Columns::Only(columns) = self.columns else { return None };
        let after = columns.partition_point(|known| &known[..] <= qualifier);
        columns.get(after).map(|column| &column[..])
    }

    /// Returns the time below which no file can change the answer: the stop rule of the lookup.
    ///
    /// Once every named column has all wanted versions, no older cell matters: a delete marker
    /// hides only cells that are not newer than itself.
    pub(crate) fn stop_time(&mut self) -> Timestamp {
        let Columns::Only(columns) = self.columns else { return Timestamp::OLDEST };
        let wanted = self.versions_wanted();
        if self.candidates.len() < columns.len() * wanted as usize {
            return Timestamp::OLDEST;
        }
        self.apply_rules();
        let shown = self.shown.iter().flatten();
        let shown = self.candidates.iter().zip(shown).filter(|(_, is_shown)| **is_shown);
        let (mut complete_columns, mut oldest) = (0, Timestamp::LATEST);
        let (mut column, mut versions) = (None, 0);
        for (Candidate { cell, .. }, _) in shown {
            if column != Some(cell.qualifier()) {
                (column, versions) = (Some(cell.qualifier()), 0);
            }
            versions += 1;
            if versions == wanted {
                complete_columns += 1;
                oldest = oldest.min(cell.timestamp());
            }
        }
        if complete_columns == columns.len() { oldest } else { Timestamp::OLDEST }
    }

    /// Returns the number of versions of each column after which older cells do not matter.
    #[inline]
    fn versions_wanted(&self) -> u32 {
        self.view.versions.min(self.options.versions).max(1)
    }

    /// Adds the candidates that the rules show to the answer.
    pub(crate) fn answer(mut self, answer: &mut impl Answer) {
        if self.candidates.is_empty() {
            return;
        }
        self.apply_rules();
        let is_shown = self.shown.into_iter().flatten();
        let cells = self.candidates.into_iter().zip(is_shown).filter(|(_, is_shown)| *is_shown);
        cells.for_each(|(candidate, _)| answer.add_owned(candidate.cell));
    }

    /// Sorts the candidates and asks the rules about each, unless that is done already.
    fn apply_rules(&mut self) {
        if self.shown.is_some() {
            return;
        }
        if let [Candidate { cell, .. }] = &self.candidates[..]
            && shows_only_put(self.options, self.view, &cell.as_ref())
        {
            self.shown = Some(smallvec![true]);
            return;
        }
        self.candidates.sort_by(|left, right| {
            let by_key = left.cell.as_ref().compare(&right.cell.as_ref());
            by_key.then(left.rank.cmp(&right.rank))
        });
        let columns = Cow::Borrowed(self.columns);
        let mut rules = Rules::for_read(self.options, self.view, columns, self.read_view.now());
        let candidates = self.candidates.iter();
        self.shown = Some(
            candidates
                .map(|candidate| rules.judge(&candidate.cell.as_ref()) == Verdict::Include)
                .collect(),
        );
    }
}
