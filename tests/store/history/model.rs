//! A plain model of HBase: one list of cells for the memstore and one for each file, all searched
//! for each answer. It shares no code with the store.
//!
//! The model also drops what flushes and major compactions drop, because that changes later
//! answers: a version beyond the maximum is gone, also for reads of an earlier time range.

use std::collections::BTreeMap;
use std::time::Duration;

use sstable::CellType;
use store::{FamilyOptions, KeepDeletedCells, MapMode};

/// A cell of the model; only family deletes have an empty qualifier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Known {
    pub(crate) row: String,
    pub(crate) qualifier: String,
    pub(crate) time: i64,
    pub(crate) cell_type: CellType,
    pub(crate) sequence: u64,
    pub(crate) value: String,
}

impl Known {
    fn shown(&self) -> String {
        let Self { row, qualifier, time, cell_type, value, .. } = self;
        format!("{row}/{qualifier}/{time}/{}={value}", cell_type.name())
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) versions: u32,
    pub(crate) min_versions: u32,
    pub(crate) ttl: Option<i64>,
    pub(crate) keeps_deleted: bool,
    pub(crate) map: MapMode,
}

impl Family {
    pub(crate) fn options(self) -> FamilyOptions {
        let keep =
            if self.keeps_deleted { KeepDeletedCells::True } else { KeepDeletedCells::False };
        FamilyOptions::default()
            .versions(self.versions)
            .min_versions(self.min_versions)
            .ttl(self.ttl.map(|millis| Duration::from_millis(millis.unsigned_abs())))
            .keep_deleted_cells(keep)
            .block_size(128)
            .family_map(self.map)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) versions: u32,
    pub(crate) range: Option<(i64, i64)>,
    pub(crate) raw: bool,
    pub(crate) reverse: bool,
}

#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) family: Family,
    pub(crate) now: i64,
    pub(crate) sequence: u64,
    pub(crate) memstore: Vec<Known>,
    pub(crate) files: Vec<Vec<Known>>,
}

impl Model {
    fn expired(&self, time: i64) -> bool {
        self.family.ttl.is_some_and(|ttl| time < self.now - ttl)
    }

    /// Whether one of the markers hides the put.
    fn hidden(put: &Known, markers: &[&Known]) -> bool {
        markers.iter().any(|marker| match marker.cell_type {
            CellType::DeleteFamily => marker.time >= put.time,
            CellType::DeleteFamilyVersion => marker.time == put.time,
            CellType::DeleteColumn => marker.qualifier == put.qualifier && marker.time >= put.time,
            CellType::Delete => marker.qualifier == put.qualifier && marker.time == put.time,
            CellType::Put => false,
        })
    }

    /// Returns cells in the order of the store; of equal cells only the newest, unless all are
    /// wanted.
    pub(crate) fn in_order<'a>(cells: impl Iterator<Item = &'a Known>) -> Vec<&'a Known> {
        let mut cells: Vec<_> = cells.collect();
        cells.sort_by(|a, b| {
            (&a.row, &a.qualifier)
                .cmp(&(&b.row, &b.qualifier))
                .then(b.time.cmp(&a.time))
                .then(b.cell_type.code().cmp(&a.cell_type.code()))
                .then(b.sequence.cmp(&a.sequence))
        });
        cells
    }

    fn once(mut cells: Vec<&Known>) -> Vec<&Known> {
        cells.dedup_by(|b, a| {
            (&a.row, &a.qualifier, a.time, a.cell_type)
                == (&b.row, &b.qualifier, b.time, b.cell_type)
        });
        cells
    }

    /// Returns what a read shows of a row.
    pub(crate) fn answer(&self, row: &str, question: Question) -> Vec<String> {
        let all = self.memstore.iter().chain(self.files.iter().flatten());
        let cells = Self::once(Self::in_order(all.filter(|cell| cell.row == row)));
        let (min, max) = question.range.unwrap_or((0, i64::MAX));
        let in_range = |cell: &&&Known| (min..max).contains(&cell.time);
        if question.raw {
            let mut puts = BTreeMap::<&str, u32>::new();
            let mut shown = Vec::new();
            for cell in cells.iter().filter(in_range) {
                let count = puts.entry(&cell.qualifier).or_default();
                *count += u32::from(cell.cell_type == CellType::Put);
                if *count <= question.versions {
                    shown.push(cell.shown());
                }
            }
            return shown;
        }
        let markers: Vec<_> = cells
            .iter()
            .filter(|cell| cell.cell_type != CellType::Put)
            .filter(|marker| !self.family.keeps_deleted || marker.time < max)
            .copied()
            .collect();
        let mut counts = BTreeMap::<&str, u32>::new();
        let mut shown = Vec::new();
        for put in cells.iter().filter(|cell| cell.cell_type == CellType::Put).filter(in_range) {
            if Self::hidden(put, &markers) {
                continue;
            }
            let count = counts.entry(&put.qualifier).or_default();
            *count += 1;
            let lives = !self.expired(put.time) || *count <= self.family.min_versions;
            if *count <= question.versions.min(self.family.versions) && lives {
                shown.push(put.shown());
            }
        }
        shown
    }

    /// Returns what a rewrite of some cells keeps; `all` if no other file has older cells.
    fn rewritten(&self, cells: &[Known], all: bool) -> Vec<Known> {
        let earliest_put =
            cells.iter().filter(|cell| cell.cell_type == CellType::Put).map(|cell| cell.time).min();
        let ordered = Self::in_order(cells.iter());
        let mut kept = Vec::new();
        for column in ordered.chunk_by(|a, b| (&a.row, &a.qualifier) == (&b.row, &b.qualifier)) {
            let markers: Vec<_> = cells
                .iter()
                .filter(|cell| cell.row == column[0].row && cell.cell_type != CellType::Put)
                .filter(|_| !self.family.keeps_deleted)
                .collect();
            self.rewrite_column(column, &markers, all, earliest_put.unwrap_or(i64::MAX), &mut kept);
        }
        kept
    }

    fn rewrite_column(
        &self,
        column: &[&Known],
        markers: &[&Known],
        all: bool,
        earliest_put: i64,
        kept: &mut Vec<Known>,
    ) {
        let mut count = 0;
        let mut last = None;
        for cell in column {
            if self.expired(cell.time) && self.family.min_versions == 0 {
                return; // All later cells are older still.
            }
            let is_marker = cell.cell_type != CellType::Put;
            if is_marker && !all {
                kept.push((*cell).clone());
                continue;
            }
            if is_marker && !self.family.keeps_deleted {
                continue;
            }
            if is_marker && cell.time < earliest_put {
                return;
            }
            if !is_marker && Self::hidden(cell, markers) {
                let by = |wanted| {
                    let mut of_type = markers.iter().filter(|marker| marker.cell_type == wanted);
                    of_type.any(|marker| Self::hidden(cell, &[marker]))
                };
                // HBase's order (`ScanDeleteTracker.isDeleted`): a version that its own marker
                // hides is skipped alone, even if a marker of the column hides it too.
                let covering = by(CellType::DeleteFamily)
                    || (!by(CellType::DeleteFamilyVersion) && by(CellType::DeleteColumn));
                if covering {
                    return; // The marker covers the rest of the column, other markers included.
                }
                continue;
            }
            if last == Some((cell.time, cell.cell_type)) {
                continue;
            }
            count += u32::from(!is_marker);
            let lives = !self.expired(cell.time) || count <= self.family.min_versions;
            if count > self.family.versions || !lives {
                return;
            }
            last = Some((cell.time, cell.cell_type));
            kept.push((*cell).clone());
        }
    }

    pub(crate) fn flush(&mut self) {
        let kept = self.rewritten(&self.memstore, false);
        self.memstore.clear();
        if !kept.is_empty() {
            self.files.push(kept);
        }
    }

    pub(crate) fn compact(&mut self) {
        let all: Vec<_> = self.files.concat();
        let kept = self.rewritten(&all, true);
        self.files = if kept.is_empty() { Vec::new() } else { vec![kept] };
    }

    pub(crate) fn take(&mut self, cells: &[(String, String, i64, CellType)]) -> Vec<Known> {
        self.sequence += 1;
        let mut taken: Vec<Known> = Vec::new();
        for (place, (row, qualifier, time, cell_type)) in cells.iter().enumerate() {
            let is_put = *cell_type == CellType::Put;
            let value = if is_put { format!("{}.{place}", self.sequence) } else { String::new() };
            let qualifier =
                if cell_type.deletes_family() { String::new() } else { qualifier.clone() };
            let (row, time, cell_type) = (row.clone(), *time, *cell_type);
            let known = Known { row, qualifier, time, cell_type, sequence: self.sequence, value };
            // Of equal cells in one write the last counts.
            taken.retain(|other| {
                (&other.row, &other.qualifier, other.time, other.cell_type)
                    != (&known.row, &known.qualifier, known.time, known.cell_type)
            });
            taken.push(known);
        }
        taken
    }
}
