//! The cells that a read shows: merged from all sources, judged by the rules, chosen by the read.

use crate::cell::CellRef;
use crate::key::KeyRef;
use crate::merge::{CellCursor, MergeCursor};
use crate::rules::{Rules, Verdict};

/// What a read does with a cell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Choice {
    /// Return the cell.
    Return,
    /// Do not return the cell. Move to the next one, or seek if the verdict says that many cells do not matter.
    Pass,
    /// Move on to the next row.
    EndRow,
    /// End the read.
    End,
}

/// The part of a read that the [`Rules`] do not know: its rows, its conditions and its limits.
pub trait Selection<S: CellCursor> {
    /// Prepares the merge before its next cell is judged, for example opens a file that may have an earlier cell.
    ///
    /// # Errors
    ///
    /// Of the sources.
    fn prepare(
        &mut self,
        _merge: &mut MergeCursor<S>,
        _rules: &mut Rules<'_>,
    ) -> Result<(), S::Error> {
        Ok(())
    }

    /// Returns whether a cell is before the end of the read.
    fn includes(&self, cell: &CellRef<'_>) -> bool;

    /// Decides about a cell for which the rules have returned `verdict`.
    fn choose(&mut self, cell: &CellRef<'_>, verdict: Verdict, rules: &Rules<'_>) -> Choice;
}

/// The state of the current cell of the merge.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// The rules were not asked yet.
    Unjudged,
    /// The cell is the next result.
    Selected,
    /// The cell was returned; the merge must advance.
    Returned,
    /// The read has ended, or has failed.
    Done,
}

/// The cells of some sources that a read shows, in the order of the merge.
///
/// After an error it has no further cells.
///
/// ```
/// use cells::merge::{CellCursor, MergeCursor};
/// use cells::rules::{Rules, Verdict};
/// use cells::shown::{Choice, Selection, ShownCells};
/// use cells::view::View;
/// use cells::{Cell, CellRef, KeyRef, Retention, Timestamp};
///
/// # struct Sorted(Vec<Cell>, usize);
/// # impl CellCursor for Sorted {
/// #     type Error = std::convert::Infallible;
/// #     fn cell(&self) -> Option<CellRef<'_>> {
/// #         self.0.get(self.1).map(Cell::as_ref)
/// #     }
/// #     fn advance(&mut self) -> Result<(), Self::Error> {
/// #         self.1 += 1;
/// #         Ok(())
/// #     }
/// #     fn seek(&mut self, key: KeyRef<'_>) -> Result<(), Self::Error> {
/// #         self.1 = self.0.partition_point(|cell| cell.as_ref().key() < key);
/// #         Ok(())
/// #     }
/// # }
/// /// All rows before `c`.
/// struct BeforeC;
///
/// impl<S: CellCursor> Selection<S> for BeforeC {
///     fn includes(&self, cell: &CellRef<'_>) -> bool {
///         cell.row < &b"c"[..]
///     }
///
///     fn choose(&mut self, _: &CellRef<'_>, verdict: Verdict, _: &Rules<'_>) -> Choice {
///         if verdict == Verdict::Include { Choice::Return } else { Choice::Pass }
///     }
/// }
///
/// let put = |row: &[u8], time| CellRef::put(row, b"f", b"q", Timestamp::new(time), b"").to_cell();
/// let old = Sorted(vec![put(b"a", 1), put(b"c", 1)], 0);
/// let new = Sorted(vec![put(b"a", 2), put(b"b", 2)], 0);
/// let merge = MergeCursor::new(vec![new, old], KeyRef::before_row(b""))?;
/// let rules = Rules::new(&Retention::default(), &View::default(), Timestamp::new(9));
/// let mut shown = ShownCells::new(merge, rules);
/// let mut cells = Vec::new();
/// while let Some(cell) = shown.next(&mut BeforeC)? {
///     cells.push((cell.row.to_vec(), cell.timestamp.get()));
/// }
/// assert_eq!(cells, [(b"a".to_vec(), 2), (b"b".to_vec(), 2)]);
/// # Ok::<(), std::convert::Infallible>(())
/// ```
#[derive(Debug)]
pub struct ShownCells<'c, S> {
    merge: MergeCursor<S>,
    rules: Rules<'c>,
    state: State,
    /// Whether cells that do not matter are sought past.
    seeks: bool,
    /// Whether the selection leads the merge from row to row.
    is_row_by_row: bool,
}

impl<'c, S: CellCursor> ShownCells<'c, S> {
    /// Begins at the current cell of a merge.
    pub const fn new(merge: MergeCursor<S>, rules: Rules<'c>) -> Self {
        Self { merge, rules, state: State::Unjudged, seeks: true, is_row_by_row: false }
    }

    /// Lets the read pass each cell, so that it reads all blocks of its sources; only the end of a row is sought.
    #[must_use]
    pub const fn without_seeks(mut self) -> Self {
        self.seeks = false;
        self
    }

    /// Never advances into another row; a seek may, and [`Selection::prepare`] then leads to the next row.
    #[must_use]
    pub const fn row_by_row(mut self) -> Self {
        self.is_row_by_row = true;
        self
    }

    /// Ends the read.
    pub const fn end(&mut self) {
        self.state = State::Done;
    }

    /// Moves to the next cell to return; returns whether there is one. Stays on a selected cell that was not taken.
    ///
    /// # Errors
    ///
    /// Of the sources.
    pub fn select(&mut self, selection: &mut impl Selection<S>) -> Result<bool, S::Error> {
        match self.state {
            State::Selected => return Ok(true),
            State::Done => return Ok(false),
            State::Returned | State::Unjudged => {}
        }
        // If a step fails, the read stays done.
        if std::mem::replace(&mut self.state, State::Done) == State::Returned {
            self.advance()?;
        }
        if self.find(selection)? {
            self.state = State::Selected;
        }
        Ok(self.state == State::Selected)
    }

    /// Returns the cell that [`select`](Self::select) has found; `None` at the end.
    #[expect(
        clippy::inline_always,
        reason = "avoids a call and copies of the cell for each cell of a scan"
    )]
    #[inline(always)]
    pub fn selected(&self) -> Option<CellRef<'_>> {
        if self.state == State::Selected { self.merge.cell() } else { None }
    }

    /// Returns whether there is a [`selected`](Self::selected) cell.
    pub fn has_selected(&self) -> bool {
        self.state == State::Selected
    }

    /// Lets the next call of [`select`](Self::select) move on.
    pub const fn take(&mut self) {
        if matches!(self.state, State::Selected) {
            self.state = State::Returned;
        }
    }

    /// Returns the next cell, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Of the sources.
    pub fn next(
        &mut self,
        selection: &mut impl Selection<S>,
    ) -> Result<Option<CellRef<'_>>, S::Error> {
        if !self.select(selection)? {
            return Ok(None);
        }
        self.state = State::Returned;
        let cell = self.merge.cell();
        debug_assert!(cell.is_some(), "the merge is on the selected cell");
        Ok(cell)
    }

    /// Moves to the first cell to return, at or after the current one; returns whether there is one.
    fn find(&mut self, selection: &mut impl Selection<S>) -> Result<bool, S::Error> {
        loop {
            selection.prepare(&mut self.merge, &mut self.rules)?;
            let cell = self.merge.cell();
            // By reference: a move of the cell costs as much as the rules.
            let Some(cell) = &cell else { return Ok(false) };
            if !selection.includes(cell) {
                return Ok(false);
            }
            let verdict = self.rules.judge(cell);
            match selection.choose(cell, verdict, &self.rules) {
                Choice::Return => return Ok(true),
                Choice::Pass => {
                    if !self.seeks || !self.merge.seek_past(&mut self.rules, verdict)? {
                        self.advance()?;
                    }
                }
                Choice::EndRow if self.is_row_by_row => self.merge.clear_position(),
                Choice::EndRow => {
                    let row = cell.row.to_vec();
                    self.merge.seek(KeyRef::after_row(&row))?;
                }
                Choice::End => return Ok(false),
            }
        }
    }

    fn advance(&mut self) -> Result<(), S::Error> {
        if self.is_row_by_row { self.merge.advance_in_row() } else { self.merge.advance() }
    }

    /// Returns the merge.
    pub const fn merge(&self) -> &MergeCursor<S> {
        &self.merge
    }

    /// Returns the merge and the rules, so that a caller can add sources before the first [`select`](Self::select).
    pub const fn parts(&mut self) -> (&mut MergeCursor<S>, &mut Rules<'c>) {
        (&mut self.merge, &mut self.rules)
    }

    /// Returns the sources, newest first, for their counters.
    pub fn sources_mut(&mut self) -> &mut [S] {
        self.merge.sources_mut()
    }
}

/// Moves a source to the first cell of a row that is not before a column, if it is in that row.
///
/// Calls `counts` with each cell that it passes, and seeks the column after 16 cells for which that returned `true`.
///
/// # Errors
///
/// Of the source.
pub fn pass_to_column<S: CellCursor>(
    source: &mut S,
    row: &[u8],
    column: &[u8],
    mut counts: impl FnMut(&CellRef<'_>) -> bool,
) -> Result<(), S::Error> {
    let mut passed = 0_u32;
    while let Some(cell) = source.cell()
        && cell.row == row
        && cell.qualifier < column
    {
        passed = passed.saturating_add(u32::from(counts(&cell)));
        if passed > crate::seeks::SKIPS_MAX {
            let family = cell.family.to_vec();
            return source.seek(KeyRef::before_column(row, &family, column));
        }
        source.advance()?;
    }
    Ok(())
}
