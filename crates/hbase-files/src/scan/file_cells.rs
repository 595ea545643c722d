//! The cells of one store file in a scan: with the sequence ids that HBase gives them, and with a
//! way to continue after damage.

use cells::merge::CellCursor;
use cells::{RowsBetween, error_line};
use sstable::{Caching, CellRef, Comparator, Half, KeyRef, ReadTrace, Reader, SequenceId};

use super::damage::{Losses, MissingCells};
use super::row_range::RowRange;
use crate::error::{Error, Result, is_file_loss};
use crate::table::{CellScanner, StoreFileReader};

/// A cursor over the cells of a store file.
///
/// If the scan continues after damage, the cursor continues with the next block that can be read.
#[derive(Debug)]
pub(super) struct FileCells {
    scanner: CellScanner,
    /// The sequence id of all cells; `None` if they have their own.
    sequence: Option<SequenceId>,
    /// Whether a filter said that the file may have the only row of the scan.
    pub(super) passed_filter: bool,
    beyond_damage: Option<Box<BeyondDamage>>,
}

/// What a cursor needs to continue after damage.
#[derive(Debug)]
struct BeyondDamage {
    file: Reader,
    order: Comparator,
    losses: Losses,
    /// What is missing, but for the message and the rows.
    place: MissingCells,
    /// The row before which the scanner ends: damage there does not count as a loss of later rows.
    stop: Option<Vec<u8>>,
    /// The flat key of the first cell of a top half.
    first: Vec<u8>,
    /// The flat key of the last cell, or of the last seek.
    last: Vec<u8>,
    /// The row of the last cell, or of the last seek; `None` if the seek was before all rows.
    last_row: Option<Vec<u8>>,
    trace: ReadTrace,
}

impl FileCells {
    /// Creates a cursor without a position over the cells before the end of a range. `place` names the file if it
    /// is damaged.
    pub(super) fn new(
        reader: &StoreFileReader,
        range: &RowRange,
        sequence: Option<SequenceId>,
        losses: &Losses,
        place: impl FnOnce() -> MissingCells,
    ) -> Self {
        let beyond_damage = losses.skips_damaged().then(|| {
            let mut first = Vec::new();
            if let Some(half) = reader.half()
                && half.half() == Half::Top
            {
                KeyRef::before_row(half.split_key().row).write_flat(&mut first);
            }
            Box::new(BeyondDamage {
                file: reader.whole().clone(),
                order: reader.whole().trailer().comparator,
                losses: losses.clone(),
                place: place(),
                stop: range.stop.clone(),
                first,
                last: Vec::new(),
                last_row: None,
                trace: ReadTrace::default(),
            })
        });
        let scanner = range.end(reader.scanner(Caching::Bypass));
        Self { scanner, sequence, passed_filter: false, beyond_damage }
    }

    /// Sets whether a filter said that the file may have the only row of the scan.
    pub(super) fn passed_filter(self, passed_filter: bool) -> Self {
        Self { passed_filter, ..self }
    }

    /// Returns the counters of the reads, and resets them.
    pub(super) fn take_trace(&mut self) -> ReadTrace {
        let mut trace = self.scanner.take_trace();
        if let Some(beyond) = &mut self.beyond_damage {
            trace.add(&std::mem::take(&mut beyond.trace));
        }
        trace
    }

    /// Continues after damage: at the next block of the index that can be read.
    #[cold]
    fn continue_after(&mut self, error: sstable::Error) -> Result<()> {
        let Some(beyond) = &mut self.beyond_damage else { return Err(error.into()) };
        if !is_file_loss(&error) {
            return Err(error.into());
        }
        let what = error_line(&error);
        let first = beyond.last_row.clone();
        loop {
            let key = KeyRef::parse(&beyond.last).expect("the flat key of a cell or a seek");
            let after = beyond.file.index().key_after(&key, &mut beyond.trace);
            let next = after.filter(|flat| {
                KeyRef::parse(flat).is_some_and(|next| beyond.order.compare(&next, &key).is_gt())
            });
            let sought = match &next {
                Some(next) => {
                    beyond.last = next.to_vec();
                    let next_key = KeyRef::parse(next).expect("a key of an index block is checked");
                    self.scanner.seek(next_key)
                }
                None => Ok(()),
            };
            if let Err(error) = &sought
                && !is_file_loss(error)
            {
                return sought.map_err(Error::from);
            }
            // The blocks up to the next sound one are one loss.
            if sought.is_ok() {
                let next_row = self.scanner.cell().map(|cell| cell.row.to_vec());
                let last = next_row.or_else(|| beyond.stop.clone());
                let rows = RowsBetween { first, last };
                beyond.losses.add(MissingCells { what, rows, ..beyond.place.clone() });
                beyond.remember(&self.scanner);
                return Ok(());
            }
        }
    }
}

impl BeyondDamage {
    /// Remembers the key of the current cell.
    fn remember(&mut self, scanner: &CellScanner) {
        if let Some(cell) = scanner.cell() {
            self.last.clear();
            cell.key().write_flat(&mut self.last);
            let row = self.last_row.get_or_insert_default();
            row.clear();
            row.extend_from_slice(cell.row);
        }
    }

    /// Remembers the key of a seek, and the row from which a scan goes forwards.
    fn begin_at(&mut self, key: &KeyRef<'_>) {
        // No cell has a longer row, which a caller can seek nevertheless.
        let row = key.row.get(..KeyRef::ROW_LEN_MAX).unwrap_or(key.row);
        let sought = KeyRef { row, ..*key };
        let first = KeyRef::parse(&self.first);
        let begin = match &first {
            Some(first) if self.order.compare(first, &sought).is_gt() => first,
            _ => &sought,
        };
        // The scan has not asked for the cells before the seek.
        self.last_row = Some(begin.row.to_vec()).filter(|row| !row.is_empty());
        self.last.clear();
        begin.write_flat(&mut self.last);
    }
}

impl CellCursor for FileCells {
    type Error = Error;

    #[expect(
        clippy::inline_always,
        reason = "avoids a call and copies of the cell for each cell of a scan"
    )]
    #[inline(always)]
    fn cell(&self) -> Option<CellRef<'_>> {
        match self.sequence {
            // As it is: a change of the cell would copy it.
            None => self.scanner.cell(),
            Some(sequence_id) => self.scanner.cell().map(|cell| CellRef { sequence_id, ..cell }),
        }
    }

    fn row(&self) -> Option<&[u8]> {
        self.scanner.cell().map(|cell| cell.row)
    }

    fn may_delete_families(&self) -> bool {
        self.scanner.may_delete_families()
    }

    fn advance(&mut self) -> Result<()> {
        if let Some(beyond) = &mut self.beyond_damage {
            beyond.remember(&self.scanner);
        }
        self.scanner.advance().or_else(|error| self.continue_after(error))
    }

    fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        if let Some(beyond) = &mut self.beyond_damage {
            beyond.begin_at(&key);
        }
        self.scanner.seek(key).or_else(|error| self.continue_after(error))
    }
}
