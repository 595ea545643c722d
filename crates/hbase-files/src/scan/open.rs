//! Opens the store files of a region, and skips those that cannot contribute to a scan.

use std::collections::HashSet;
use std::sync::Arc;

use cells::rules::Rules;
use cells::{RowsBetween, error_line};
use filter::Seed;
use sstable::lookup::{FilterQuestion, WantedCells};
use sstable::{FileName, FilterAnswer, ReadTrace, RowProbe};

use super::damage::MissingCells;
use super::file_cells::FileCells;
use super::log_cells::OpenStoreLogCells;
use super::plan::{FamilyPlan, ScanPlan};
use super::row_range::RowRange;
use super::source::Source;
use crate::error::{Error, Result};
use crate::history::{FamilyFile, ReplacedFiles, only_logs_can_tell};
use crate::table::identity_check::FamilyCells;
use crate::table::{FileSequence, Region, StoreFile, StoreFileReader};

/// The open store files of a region that can contribute to a scan.
#[derive(Debug)]
pub(super) struct OpenRegion {
    /// The families in the order of the plan.
    pub(super) families: Vec<OpenFamily>,
}

/// The open store files of a family.
#[derive(Debug)]
pub(super) struct OpenFamily {
    /// Newest first.
    pub(super) files: Vec<OpenFile>,
    /// The cells that are only in logs.
    pub(super) log: Option<OpenStoreLogCells>,
}

/// An open store file.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) reader: StoreFileReader,
    pub(super) sequence: FileSequence,
    /// The name in the directory of its family.
    name: String,
    /// Whether a filter said that the file may have the only row of the scan.
    passed_filter: bool,
    region: Arc<str>,
    family: Arc<[u8]>,
}

impl OpenRegion {
    /// Opens the files of a region. Counts the files that are skipped.
    pub(super) fn open(plan: &ScanPlan, region: &Region, trace: &mut ReadTrace) -> Result<Self> {
        let mut families = Vec::new();
        for wanted in &plan.families {
            let log = plan.logs.open_store(region.info.encoded_name.as_str(), &wanted.name)?;
            let mut files = match region.family(&wanted.name) {
                Some(family) => {
                    let recovered: &[StoreFile] =
                        if plan.scan.with_logs { &family.recovered_hfiles } else { &[] };
                    let all = family.files.iter().chain(recovered);
                    let mut opened = open_files(plan, region, &family.name, all)?;
                    leave_out_replaced(plan, region, &family.name, &mut opened)?;
                    opened
                }
                None => Vec::new(),
            };
            let rules = wanted.rules();
            files.retain_mut(|file| file.can_contribute(plan, wanted, &rules, trace));
            families.push(OpenFamily { files, log });
        }
        Ok(Self { families })
    }

    /// Returns the file with the most bytes, whose index divides the region best.
    pub(super) fn largest_file(&self) -> Option<&StoreFileReader> {
        let files = self.families.iter().flat_map(|family| &family.files);
        files.map(|file| &file.reader).max_by_key(|reader| reader.whole().len())
    }

    /// Returns the bytes of all files.
    pub(super) fn files_len(&self) -> u64 {
        let files = self.families.iter().flat_map(|family| &family.files);
        files.fold(0, |sum, file| sum.saturating_add(file.reader.whole().len()))
    }
}

/// Opens files of a family; returns them newest first.
pub(super) fn open_files<'f>(
    plan: &ScanPlan,
    region: &Region,
    family: &[u8],
    of_family: impl Iterator<Item = &'f StoreFile>,
) -> Result<Vec<OpenFile>> {
    let region_name: Arc<str> = region.info.encoded_name.as_str().into();
    let family_name: Arc<[u8]> = family.into();
    let mut files = Vec::new();
    let mut cells = FamilyCells::default();
    for file in of_family {
        match open_file(plan, region, file, &mut cells) {
            Ok((reader, sequence)) => {
                files.push(OpenFile {
                    reader,
                    sequence,
                    name: file.name.to_string(),
                    passed_filter: false,
                    region: Arc::clone(&region_name),
                    family: Arc::clone(&family_name),
                });
            }
            Err(error) => plan.losses.add_or_fail(error, |error| MissingCells {
                region: region_name.to_string(),
                family: family_name.to_vec(),
                file: file.short_path(),
                what: error_line(error),
                rows: region.info.rows(),
            })?,
        }
    }
    files.sort_by(|one, other| other.sequence.cmp(&one.sequence));
    Ok(files)
}

/// Leaves out the files that a compaction has replaced but the server has not yet removed.
fn leave_out_replaced(
    plan: &ScanPlan,
    region: &Region,
    family: &[u8],
    files: &mut Vec<OpenFile>,
) -> Result<()> {
    let mut family_files: Vec<FamilyFile> =
        files.iter().map(|file| FamilyFile::of(&file.name, &file.reader)).collect();
    let mut replaced = ReplacedFiles::by_files(&family_files);
    family_files.retain(|file| !replaced.has(&file.name));
    if plan.scan.with_logs {
        replaced.add_logged(plan.logs.replaced_files(region.name().as_str(), family));
    } else if family_files.iter().any(|file| only_logs_can_tell(file, &family_files)) {
        replaced.add_logged(&logged_compactions(plan, region, family)?);
    }
    files.retain(|file| !replaced.has(&file.name));
    Ok(())
}

/// Returns the files that logs name as replaced, for a scan that does not read their cells.
fn logged_compactions(plan: &ScanPlan, region: &Region, family: &[u8]) -> Result<HashSet<String>> {
    let Region { recovered_edits, last_opened, .. } = region;
    let logged =
        plan.compactions.replaced_files(region.name(), recovered_edits, *last_opened, family);
    let source = match logged {
        Ok(logged) => return Ok(logged),
        Err(source) => source,
    };
    let error = Error::Incomplete { path: plan.path.clone(), source };
    plan.losses.add_or_fail(error, |error| MissingCells {
        region: region.name().to_string(),
        family: family.to_vec(),
        file: plan.path.display().to_string(),
        what: format!(
            "{}; it may name files that a compaction replaced, and that were read as well",
            error_line(error)
        ),
        rows: region.info.rows(),
    })?;
    Ok(HashSet::new())
}

fn open_file(
    plan: &ScanPlan,
    region: &Region,
    file: &StoreFile,
    cells: &mut FamilyCells,
) -> Result<(StoreFileReader, FileSequence)> {
    let location = file.locate(&*plan.tree)?;
    let name = FileName::new(location.path.display().to_string());
    let options = plan.scan.reader_options.clone();
    let reader = StoreFileReader::open(&*plan.tree, &location, name, options)?;
    file.check_fits(&region.info, &location, reader.whole())?;
    cells.add(&location).map_err(|misfit| Error::damaged(&location.path, misfit.what))?;
    let sequence = FileSequence::of(Some(&file.name), &reader);
    Ok((reader, sequence))
}

impl OpenFile {
    /// Returns whether the file can have cells of the scan, and counts why not.
    fn can_contribute(
        &mut self,
        plan: &ScanPlan,
        family: &FamilyPlan,
        rules: &Rules<'_>,
        trace: &mut ReadTrace,
    ) -> bool {
        let probe = plan.single_row().map(|row| {
            let of_row = RowProbe::new(row, Seed::default());
            family.single_column().into_iter().fold(of_row, RowProbe::with_column)
        });
        let question = match &probe {
            Some(probe) => FilterQuestion::Row(probe),
            None if plan.scan.prefix.is_empty() => FilterQuestion::Nothing,
            None => FilterQuestion::Prefix(&plan.scan.prefix),
        };
        let rows = plan.range.bounds(plan.order);
        let wanted = WantedCells { rows, rules: Some(rules), question };
        let file = self.reader.whole();
        let times = file.file_info().time_range().map(|range| (range.min, range.max));
        let answer = file.may_have(&wanted, times, trace);
        self.passed_filter = answer == FilterAnswer::Maybe && probe.is_some();
        answer != FilterAnswer::No
    }

    /// Returns whether the file has rows in a range, by its first and last row.
    ///
    /// The rows of the whole file are enough for a half too: a scan reads only regions that have rows of its range,
    /// and a half ends where its region does.
    pub(super) fn has_rows_of(&self, plan: &ScanPlan, range: &RowRange) -> bool {
        range.overlaps(self.reader.whole(), plan.order)
    }

    /// Returns a cursor without a position over the cells of the file before the end of a range.
    pub(super) fn cells(&self, plan: &ScanPlan, range: &RowRange) -> Source {
        let sequence = self.sequence.of_cells;
        let cells = FileCells::new(&self.reader, range, sequence, &plan.losses, || MissingCells {
            region: self.region.to_string(),
            family: self.family.to_vec(),
            file: self.reader.whole().name().to_string(),
            what: String::new(),
            rows: RowsBetween::default(),
        });
        Source::File(Box::new(cells.passed_filter(self.passed_filter)))
    }
}
