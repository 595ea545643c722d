//! HBase's rules: which cells a read shows, and which cells a flush or compaction keeps.
//!
//! The input is the cells of each row, merged from all sources into HBase's order. Delete markers
//! sort before the puts that they hide, so one pass with little state decides about each cell:
//!
//! ```text
//! cell ─ expired? ─ marker? ─ hidden by a marker? ─ in time range? ─ version limit? → shown
//! ```
//!
//! HBase makes the checks in this order. The order affects the result: hidden versions and versions
//! outside the time range do not count towards the version limit. In HBase the rules are in
//! `ScanQueryMatcher` and its subclasses, in `ScanDeleteTracker`, and in the `ColumnTracker`s; the
//! names here follow them.
//!
//! [`ShownCells`](crate::shown::ShownCells) applies the rules to merged cells; a flush or compaction calls
//! [`Rules::judge`] for each cell.
//!
//! ```
//! use cells::rules::{Rules, Verdict};
//! use cells::view::View;
//! use cells::{CellRef, CellType, Retention, SequenceId, Timestamp};
//!
//! let cell = |time, cell_type, value| CellRef {
//!     row: b"row1",
//!     family: b"f",
//!     qualifier: b"name",
//!     timestamp: Timestamp::new(time),
//!     cell_type,
//!     value,
//!     tags: b"",
//!     sequence_id: SequenceId::new(0),
//! };
//! // In HBase's order: newest first within a column, and a marker before the put of the same time.
//! let cells = [
//!     cell(40, CellType::Put, &b"Ada"[..]),
//!     cell(30, CellType::Put, b"ada"),
//!     cell(20, CellType::DeleteColumn, b""),
//!     cell(10, CellType::Put, b"A."),
//! ];
//! let family = Retention::default().versions(3);
//! let now = Timestamp::new(50);
//! let shown = |view: &View| -> Vec<&[u8]> {
//!     let mut rules = Rules::new(&family, view, now);
//!     let cells = cells.iter().filter(|cell| rules.judge(cell) == Verdict::Include);
//!     cells.map(|cell| cell.value).collect()
//! };
//! assert_eq!(shown(&View::default()), [b"Ada"]);
//! assert_eq!(shown(&View::default().versions(9)), [b"Ada", b"ada"]);
//! let before = View::default().time_range(Timestamp::new(0), Timestamp::new(40));
//! assert_eq!(shown(&before), [b"ada"]);
//! assert_eq!(shown(&View::default().versions(9).raw(true)).len(), 4);
//! ```

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::cell::CellRef;
use crate::key::{CellType, KeyRef};
use crate::units::Timestamp;
use smallvec::SmallVec;

use crate::delete_tracker::{DeleteTracker, HiddenCells};
use crate::retention::{KeepDeletedCells, Retention};
use crate::seeks::PassedCells;
use crate::view::{Columns, QueryTimes, View};

/// The type of the tag that holds the TTL of its cell: i64 BE, milliseconds.
const TTL_TAG: u8 = 8;

/// The purpose for which the cells are read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Purpose {
    /// A get or scan.
    Read,
    /// A raw get or scan, which also shows delete markers and the cells that they hide.
    RawRead,
    /// A flush or minor compaction: keeps delete markers, which can hide cells in other files.
    Rewrite,
    /// A compaction of all files of the family: can drop delete markers.
    MajorCompaction,
}

/// The decision about a cell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Show or keep the cell.
    Include,
    /// Skip the cell.
    Skip,
    /// Skip the cell and the remaining cells of its column, without judging them.
    ///
    /// Exception: in the column with the empty qualifier, judge the remaining cells. Markers that
    /// delete in all columns of the family have this qualifier, and must be judged.
    SkipColumn,
}

/// Decides which cells of a family a read shows, or a flush or compaction keeps.
///
/// The cells of a row must come in HBase's order ([`CellRef::compare`]), beginning with the first
/// cell of the row. Of cells with equal keys, the cell that was written last must come first; it
/// hides the others. Rows may come in any order, but each row only once.
#[derive(Debug)]
#[must_use]
pub struct Rules<'c> {
    purpose: Purpose,
    versions: u32,
    min_versions: u32,
    keep_deleted: KeepDeletedCells,
    time_range: QueryTimes,
    columns: Cow<'c, Columns>,
    now: Timestamp,
    /// Cells with older timestamps have expired by the TTL of the family.
    oldest_unexpired: Timestamp,
    /// A lower bound of the timestamps of the family's puts.
    earliest_put: Timestamp,
    /// The current row, if `has_row`.
    row: SmallVec<[u8; 32]>,
    has_row: bool,
    deletes: DeleteTracker,
    column: ColumnState,
    passed: PassedCells,
    /// Whether cells are shown that HBase shows to no read.
    every_cell: bool,
    /// Whether each cell is shown, so that none needs to be judged.
    shows_all: bool,
}

impl Rules<'_> {
    /// Creates the rules for a read of all columns at the time `now`.
    pub fn new(family: &Retention, view: &View, now: Timestamp) -> Self {
        Self::for_read(family, view, Cow::Owned(Columns::All), now)
    }

    /// Limits the read to this column. Further calls add further columns.
    pub fn column(mut self, qualifier: impl AsRef<[u8]>) -> Self {
        self.columns.to_mut().add(qualifier.as_ref());
        self.shows_all = false;
        self
    }

    /// Makes a raw read show also earlier writes of a version, cells past the TTL of their own, and negative times.
    ///
    /// HBase shows them to no read; a file can have them.
    pub fn every_cell(mut self) -> Self {
        self.every_cell = true;
        self.oldest_unexpired = Timestamp::OLDEST;
        self.shows_all = self.purpose == Purpose::RawRead
            && self.versions == u32::MAX
            && self.time_range == QueryTimes::ALL
            && *self.columns == Columns::All;
        self
    }
}

impl<'c> Rules<'c> {
    /// Creates the rules for a read of some columns at the time `now`.
    pub fn for_read(
        family: &Retention,
        view: &View,
        columns: Cow<'c, Columns>,
        now: Timestamp,
    ) -> Self {
        let purpose = if view.raw { Purpose::RawRead } else { Purpose::Read };
        let mut rules = Self::with_purpose(family, purpose, now);
        rules.time_range = view.time_range;
        rules.columns = columns;
        if view.raw {
            rules.versions = view.versions;
            rules.oldest_unexpired = Timestamp::new(0);
        } else {
            rules.versions = view.versions.min(family.versions);
        }
        rules
    }

    /// Creates the rules for a flush or a minor compaction.
    pub fn for_rewrite(family: &Retention, now: Timestamp) -> Self {
        Self::with_purpose(family, Purpose::Rewrite, now)
    }

    /// Creates the rules for a major compaction of files whose puts are not before `earliest_put`.
    pub fn for_major_compaction(
        family: &Retention,
        earliest_put: Timestamp,
        now: Timestamp,
    ) -> Self {
        Self { earliest_put, ..Self::with_purpose(family, Purpose::MajorCompaction, now) }
    }

    fn with_purpose(family: &Retention, purpose: Purpose, now: Timestamp) -> Self {
        Self {
            purpose,
            versions: family.versions,
            min_versions: family.min_versions,
            keep_deleted: family.keep_deleted_cells,
            time_range: QueryTimes::ALL,
            columns: Cow::Borrowed(&Columns::All),
            now,
            oldest_unexpired: family.oldest_unexpired(|| now),
            earliest_put: Timestamp::OLDEST,
            row: SmallVec::new(),
            has_row: false,
            deletes: DeleteTracker::default(),
            column: ColumnState::default(),
            passed: PassedCells::default(),
            every_cell: false,
            shows_all: false,
        }
    }

    /// Returns whether a file whose timestamps are in `oldest..=newest` can affect the result.
    ///
    /// `oldest` must also bound the timestamps of the cells that the file's delete markers hide.
    pub fn can_contribute(&self, oldest: Timestamp, newest: Timestamp) -> bool {
        let range = self.time_range;
        let has_expired = self.min_versions == 0 && newest < self.oldest_unexpired;
        !range.ends_by(oldest) && !range.begins_after(newest) && !has_expired
    }

    /// Decides about the next cell.
    pub fn judge(&mut self, cell: &CellRef<'_>) -> Verdict {
        if self.shows_all {
            return Verdict::Include;
        }
        self.enter(cell);
        if self.column.is_complete && !cell.qualifier.is_empty() {
            return Verdict::SkipColumn;
        }
        if self.min_versions == 0 && cell.timestamp < self.oldest_unexpired {
            return self.end_column();
        }
        if !cell.tags.is_empty() && self.is_past_its_ttl_tag(cell) && !self.every_cell {
            return Verdict::Skip;
        }
        match self.purpose {
            Purpose::Read => self.judge_for_read(cell),
            Purpose::RawRead => self.judge_time_and_column(cell),
            Purpose::Rewrite | Purpose::MajorCompaction => self.judge_for_rewrite(cell),
        }
    }

    fn judge_for_read(&mut self, cell: &CellRef<'_>) -> Verdict {
        if cell.cell_type.is_delete() {
            let hides_rest = self.apply_marker(cell);
            return if hides_rest { self.end_column() } else { Verdict::Skip };
        }
        match self.hidden_from(cell) {
            Some(HiddenCells::ThisAndOlder) => self.end_column(),
            Some(HiddenCells::This) => Verdict::Skip,
            None => self.judge_time_and_column(cell),
        }
    }

    /// Returns the cells from `cell` on that a marker hides; `None` if no marker hides `cell`.
    fn hidden_from(&mut self, cell: &CellRef<'_>) -> Option<HiddenCells> {
        if self.deletes.is_empty() { None } else { self.deletes.hides(cell) }
    }

    /// Adds a marker of the row. Returns whether all later cells of its column are hidden.
    fn apply_marker(&mut self, marker: &CellRef<'_>) -> bool {
        // If the family keeps deleted cells, a read ignores markers after its time range: it shows
        // the cells as they were before the deletion.
        let applies = !self.time_range.begins_after(marker.timestamp)
            && (self.keep_deleted == KeepDeletedCells::False
                || !self.time_range.ends_by(marker.timestamp));
        if applies {
            self.deletes.add(marker);
        }
        applies
            && (marker.cell_type == CellType::DeleteColumn
                || self.deletes.deletes_row_at(marker.timestamp))
    }

    /// Notes a cell with the empty qualifier, which may delete in all columns, out of its order.
    ///
    /// For a read that has begun with other columns. Returns whether no later cell with the empty
    /// qualifier in the same source matters.
    pub fn note_family_marker(&mut self, cell: &CellRef<'_>) -> bool {
        self.enter_row(cell);
        let is_over = self.ends_family_markers(cell);
        if !is_over && cell.cell_type.deletes_family() && !self.is_past_its_ttl_tag(cell) {
            self.apply_marker(cell);
        }
        is_over
    }

    /// Returns whether no later cell with the empty qualifier can delete in other columns.
    ///
    /// Such cells are not newer than `cell`: a newer marker covers them, or they hide nothing that
    /// the read could show.
    pub(crate) fn ends_family_markers(&self, cell: &CellRef<'_>) -> bool {
        self.deletes.deletes_row_at(cell.timestamp)
            || self.time_range.begins_after(cell.timestamp)
            || (self.min_versions == 0 && cell.timestamp < self.oldest_unexpired)
    }

    /// Returns whether the read shows no further version of the current column.
    pub const fn is_column_complete(&self) -> bool {
        self.column.is_complete
    }

    /// Returns the position to seek after `cell`, the cell that was judged last; `None` to advance.
    ///
    /// Of a column or a version that the read does not show further, the first cells are passed one by one: a seek
    /// takes longer than a few steps. `may_delete_families` says whether a source can have markers that
    /// delete in all columns of the family.
    pub fn seek_after(
        &mut self,
        cell: &CellRef<'_>,
        verdict: Verdict,
        may_delete_families: impl FnOnce() -> bool,
    ) -> Option<KeyRef<'_>> {
        match verdict {
            Verdict::Skip if self.is_repeated(cell) => return self.passed.add_repeated(cell),
            Verdict::Include | Verdict::Skip => return None,
            Verdict::SkipColumn => {}
        }
        // Under the empty qualifier, markers that delete in all columns of the family can follow.
        let can_leave_column = !cell.qualifier.is_empty()
            || self.purpose == Purpose::RawRead
            || self.ends_family_markers(cell)
            || !may_delete_families();
        if can_leave_column { self.passed.add(cell, &self.columns) } else { None }
    }

    /// Lets the next [`seek_after`](Self::seek_after) return a position without passing further cells.
    pub(crate) const fn seek_at_once(&mut self) {
        self.passed.seek_at_once();
    }

    /// Returns whether the read shows no cell of the row after `cell`, which was judged last.
    pub fn ends_row(&self, cell: &CellRef<'_>) -> bool {
        let Columns::Only(columns) = &*self.columns else { return false };
        columns.last().is_some_and(|last| match last[..].cmp(cell.qualifier) {
            Ordering::Less => true,
            Ordering::Equal => self.column.is_complete,
            Ordering::Greater => false,
        })
    }

    /// Checks the time range, the columns, and the version limit.
    fn judge_time_and_column(&mut self, cell: &CellRef<'_>) -> Verdict {
        if self.time_range.ends_by(cell.timestamp) {
            return Verdict::Skip;
        }
        if self.time_range.begins_after(cell.timestamp) {
            return self.end_column();
        }
        match &*self.columns {
            Columns::All => self.count_version(cell),
            Columns::Only(columns) => {
                if columns.binary_search_by(|known| known[..].cmp(cell.qualifier)).is_err() {
                    return self.end_column();
                }
                if self.purpose == Purpose::RawRead {
                    self.count_version(cell)
                } else {
                    self.count_version_of_named_column(cell)
                }
            }
        }
    }

    fn judge_for_rewrite(&mut self, cell: &CellRef<'_>) -> Verdict {
        if cell.cell_type.is_delete() {
            let is_expired = cell.timestamp < self.oldest_unexpired;
            let keeps_hidden = match self.keep_deleted {
                KeepDeletedCells::False => false,
                KeepDeletedCells::True => true,
                KeepDeletedCells::Ttl => !is_expired,
            };
            if !keeps_hidden {
                self.deletes.add(cell);
            }
            if self.purpose == Purpose::Rewrite {
                return Verdict::Include;
            }
            if !keeps_hidden {
                return Verdict::Skip;
            }
            // A marker older than all puts hides nothing.
            if cell.timestamp < self.earliest_put {
                return self.end_column();
            }
        } else {
            match self.hidden_from(cell) {
                Some(HiddenCells::ThisAndOlder) => return self.end_column(),
                Some(HiddenCells::This) => return Verdict::Skip,
                None => {}
            }
        }
        self.count_version(cell)
    }

    /// Counts a version as HBase's `ScanWildcardColumnTracker.checkVersions` does.
    fn count_version(&mut self, cell: &CellRef<'_>) -> Verdict {
        if self.purpose == Purpose::Read && self.column.count >= self.versions.into() {
            return self.end_column(); // Also of earlier writes of the last version.
        }
        let version = (cell.timestamp, cell.cell_type);
        if self.is_repeated(cell) && !self.every_cell {
            return Verdict::Skip;
        }
        if !cell.cell_type.is_delete() {
            self.column.count += 1;
        }
        let is_wanted = self.column.count <= self.min_versions.into()
            || cell.timestamp >= self.oldest_unexpired;
        if self.column.count > self.versions.into() || !is_wanted {
            return self.end_column();
        }
        self.column.last = Some(version);
        Verdict::Include
    }

    /// Counts a version as HBase's `ExplicitColumnTracker.checkVersions` does.
    ///
    /// Unlike the wildcard tracker, it can show one expired version beyond `min_versions`.
    fn count_version_of_named_column(&mut self, cell: &CellRef<'_>) -> Verdict {
        let version = (cell.timestamp, cell.cell_type);
        if self.column.is_complete {
            return Verdict::SkipColumn;
        }
        if self.is_repeated(cell) {
            return Verdict::Skip;
        }
        self.column.count += 1;
        let is_expired = cell.timestamp < self.oldest_unexpired;
        if self.column.count >= self.versions.into()
            || (self.column.count >= self.min_versions.into() && is_expired)
        {
            self.column.is_complete = true;
        }
        self.column.last = Some(version);
        Verdict::Include
    }

    /// Returns whether the cell is an earlier write of the version that was included last.
    fn is_repeated(&self, cell: &CellRef<'_>) -> bool {
        self.column.last == Some((cell.timestamp, cell.cell_type))
    }

    /// Resets the state of the row or column if the cell begins another row or column.
    fn enter(&mut self, cell: &CellRef<'_>) {
        if self.enter_row(cell) || self.column.qualifier != cell.qualifier {
            self.column.enter(cell.qualifier);
            // A seek would have led here, or beyond.
            if matches!(*self.columns, Columns::All) {
                self.passed.clear();
            }
        }
    }

    /// Resets the delete markers if the cell begins another row; returns whether it does.
    #[inline]
    fn enter_row(&mut self, cell: &CellRef<'_>) -> bool {
        if self.has_row && self.row[..] == *cell.row {
            return false;
        }
        self.row.clear();
        self.row.extend_from_slice(cell.row);
        self.has_row = true;
        // Most rows have no markers.
        if !self.deletes.is_empty() {
            self.deletes.clear();
        }
        self.passed.clear();
        true
    }

    /// Skips the cell and the remaining cells of its column.
    fn end_column(&mut self) -> Verdict {
        self.column.is_complete = true;
        Verdict::SkipColumn
    }

    /// Returns whether the cell has a TTL tag and has expired by that TTL.
    ///
    /// As in HBase (`ScanQueryMatcher.isCellTTLExpired`), the sum wraps: a TTL of `Long.MAX_VALUE` has always passed.
    fn is_past_its_ttl_tag(&self, cell: &CellRef<'_>) -> bool {
        cell.tags().find(|(tag, _)| *tag == TTL_TAG).is_some_and(|(_, millis)| {
            <[u8; 8]>::try_from(millis).is_ok_and(|millis| {
                let end = cell.timestamp.get().wrapping_add(i64::from_be_bytes(millis));
                end < self.now.get()
            })
        })
    }
}

/// The state of the current column.
#[derive(Debug, Default)]
struct ColumnState {
    qualifier: Vec<u8>,
    /// The number of versions counted.
    count: u64,
    /// The last version that was included, to skip earlier writes of the same version.
    last: Option<(Timestamp, CellType)>,
    /// Whether the column shows no further version.
    ///
    /// In the column with the empty qualifier, the remaining cells must be judged nevertheless,
    /// because markers that delete in all columns of the family have this qualifier.
    is_complete: bool,
}

impl ColumnState {
    fn enter(&mut self, qualifier: &[u8]) {
        self.qualifier.clear();
        self.qualifier.extend_from_slice(qualifier);
        self.count = 0;
        self.last = None;
        self.is_complete = false;
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod cases;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::units::SequenceId;
    use crate::view::{short, shows_only_put};

    proptest! {
        #[test]
        fn the_fast_path_shows_a_single_put_only_if_the_rules_show_it(
            cell_type in prop::sample::select(vec![
                CellType::Put,
                CellType::Delete,
                CellType::DeleteColumn,
                CellType::DeleteFamily,
            ]),
            timestamp in 0_i64..6,
            has_tags: bool,
            (min, max) in (0_i64..6, 0_i64..7),
            (versions, kept, min_versions) in (0_u32..3, 1_u32..3, 0_u32..2),
            ttl in prop::option::of(0_u64..4),
            raw: bool,
            wanted in prop::sample::select(vec![*b"q", *b"r"]),
        ) {
            let tags = [0, 9, TTL_TAG, 0, 0, 0, 0, 0, 0, 0, 1];
            let cell = CellRef {
                row: b"r",
                family: b"f",
                qualifier: b"q",
                timestamp: Timestamp::new(timestamp),
                cell_type,
                value: b"",
                tags: if has_tags { &tags } else { b"" },
                sequence_id: SequenceId::new(0),
            };
            let mut family = Retention::default().versions(kept).min_versions(min_versions);
            family.ttl = ttl.map(Duration::from_millis);
            let view = View::default()
                .versions(versions)
                .raw(raw)
                .time_range(Timestamp::new(min), Timestamp::new(max));
            let columns = Columns::Only([short(&wanted)].into());
            let is_fast = shows_only_put(&family, &view, &columns, &cell);
            let mut rules = Rules::new(&family, &view, Timestamp::new(6)).column(wanted);
            prop_assert!(rules.judge(&cell) == Verdict::Include || !is_fast);
            prop_assert!(!shows_only_put(&family, &view, &Columns::All, &cell));
        }
    }
}
