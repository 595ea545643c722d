//! Measures existing files, each with its own filter and without a filter.
//!
//! Two scans precede the measurement. The first samples rows of each file and derives from them keys
//! that are probably absent. The second computes a digest of each sampled row's cells in all files,
//! and drops derived keys that exist. So the results of gets, which query filters, are checked
//! against scans, which use no filter.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use cells::{error_line, escape};
use filter::Seed;
use hbase_files::StoreFileReader;
use hfile_cli::workload::{
    KeyList, Measured, Mix, PlannedGet, Random, clock_nanos, measure, mutate,
};
use sstable::{BlockCache, BloomType, Cell, CellRef, FilterUse, ReadTrace, RowProbe};

use super::figures::{FilterFigures, figures};
use super::file_cells::for_each_cell;
use super::kind_row::recommendation;
use super::kinds::{self, ComparedFile};
use super::loaded::{FilterChoice, Plan};
use super::report::{BenchReport, FileRow, LeftOut, Row};
use crate::arguments::reading_options::reader_options;
use crate::failure::{UsageError, status};
use crate::inputs::{Input, Inputs};
use crate::text::progress::Progress;
use crate::text::stderr::print_message;
use crate::verbs::filter_query::FilterQuery;

/// Bytes of the key length and value length before each cell of a data block.
pub(super) const CELL_LENGTHS_LEN: usize = 8;

/// Measures the files together and one by one.
pub(super) fn run(
    paths: &[PathBuf],
    rows_max: usize,
    plan: Plan,
    choices: &[FilterChoice],
) -> anyhow::Result<BenchReport> {
    kinds::check(choices)?;
    let mut expanded = Inputs::expand(paths);
    let problems = expanded.take_problems();
    let mut failed: Vec<(String, anyhow::Error)> =
        problems.into_iter().map(|problem| (problem.directory, problem.error)).collect();
    let inputs = expanded.files();
    let passes = if choices.is_empty() { 3 } else { 4 };
    let progress = Progress::new("sampling files", passes * inputs.len() as u64);
    let per_file = (rows_max / inputs.len().max(1)).max(1);
    let mut sampled = Vec::new();
    for input in inputs {
        progress.advance(1);
        match SampledFile::sample(input, per_file, plan) {
            Ok(file) => sampled.push(file),
            Err(error) => failed.push((input.name(), error)),
        }
    }
    if sampled.is_empty() {
        return Err(none_measured(failed.into_iter().map(|(_, error)| error).collect()));
    }
    let reports = failed.iter().map(|(file, error)| LeftOut {
        file: file.clone(),
        why: error_line(&**error),
        status: status_of(error),
    });
    let left_out = reports.collect();
    progress.set_phase("scanning files");
    let expected = ExpectedRows::scan_files(&mut sampled, &progress)?;
    let measured: Vec<&Input> = sampled.iter().map(|file| file.input).collect();
    let with = FileSet::open(&measured, FilterUse::Best, plan)?;
    let without = FileSet::open(&measured, FilterUse::None, plan)?;
    let none = FilterFigures::NONE;
    let own = with.figures(false)?;
    let mut results = Vec::new();
    for mix in Mix::ALL {
        progress.set_phase(format!("measuring gets of {} rows", mix.name()));
        let gets = expected.plan_gets(&sampled, mix, plan);
        for (set, figures) in [(&without, &none), (&with, &own)] {
            // The first run warms the caches; its result is discarded.
            set.measure(&gets, None, &expected)?;
            results.push(Row::new(figures, mix, &set.measure(&gets, None, &expected)?));
        }
    }
    progress.set_phase("measuring each file");
    let mut each_file = Vec::new();
    for file in &sampled {
        progress.advance(1);
        each_file.push(file.measure(plan)?);
    }
    progress.set_phase("comparing filters");
    let compared = if choices.is_empty() {
        Vec::new()
    } else {
        let compared: Vec<ComparedFile<'_>> = sampled
            .iter()
            .map(|file| ComparedFile { input: file.input, absent_keys: &file.absent_keys })
            .collect();
        kinds::compare(&compared, choices, plan, &progress)?
    };
    Ok(BenchReport {
        schema: 1,
        recommendation: recommendation(&compared),
        kinds: compared,
        rows: sampled.iter().map(|file| file.rows).sum(),
        files: sampled.len() as u64,
        cell_bytes: mean_cell_bytes(&sampled),
        cache_bytes: plan.cache_bytes,
        seed: plan.seed,
        input: None,
        paths: paths.iter().map(|path| path.display().to_string()).collect(),
        clock_ns: clock_nanos(),
        loads: Vec::new(),
        results,
        each_file,
        left_out,
    })
}

/// A file without rows, which cannot be measured.
#[derive(Debug, thiserror::Error)]
#[error("{0}: contains no rows")]
struct NoRows(String);

/// Returns the exit status if a file is left out of the measurement because of this error.
fn status_of(error: &anyhow::Error) -> u8 {
    if error.is::<NoRows>() { 0 } else { status(error) }
}

/// Returns the error with the highest exit status, and prints all others.
fn none_measured(mut errors: Vec<anyhow::Error>) -> anyhow::Error {
    errors.sort_by_key(status_of);
    let Some(worst) = errors.pop() else {
        return UsageError("no files to measure".to_owned()).into();
    };
    for error in &errors {
        print_message(format_args!("hfile: {}", error_line(&**error)));
    }
    if worst.is::<NoRows>() {
        return UsageError(format!("none of the files can be measured: {worst}")).into();
    }
    worst
}

/// A file, a sample of its rows, and absent keys in its key range.
struct SampledFile<'i> {
    input: &'i Input,
    rows: u64,
    cells: u64,
    cell_bytes: u64,
    /// The qualifier of the first cell, for gets that query a filter over columns.
    qualifier: Vec<u8>,
    members: KeyList,
    absent_keys: Vec<Vec<u8>>,
    first_row: Vec<u8>,
    last_row: Vec<u8>,
}

impl<'i> SampledFile<'i> {
    /// Scans a file, samples at most `rows_max` rows uniformly, and derives absent keys from them.
    fn sample(input: &'i Input, rows_max: usize, plan: Plan) -> anyhow::Result<Self> {
        let mut random = Random::new(plan.seed);
        let mut kept: Vec<Vec<u8>> = Vec::new();
        let (mut row_count, mut cells, mut cell_bytes) = (0, 0, 0);
        let mut last: Option<Vec<u8>> = None;
        let (mut qualifier, mut first_row) = (Vec::new(), Vec::new());
        for_each_cell(input, |cell| {
            if cells == 0 {
                cell.qualifier.clone_into(&mut qualifier);
                cell.row.clone_into(&mut first_row);
            }
            cells += 1;
            cell_bytes += cell_len(cell) as u64;
            if last.as_deref() == Some(cell.row) {
                return;
            }
            last = Some(cell.row.to_owned());
            row_count += 1;
            // Reservoir sampling: the nth row replaces a kept row with probability rows_max / n.
            if kept.len() < rows_max {
                kept.push(cell.row.to_owned());
            } else if let Some(place) = kept.get_mut(random.below(row_count)) {
                cell.row.clone_into(place);
            }
        })?;
        let mut members = KeyList::default();
        for row in &kept {
            members.push(row);
        }
        if members.is_empty() {
            return Err(NoRows(input.name()).into());
        }
        let last_row = last.unwrap_or_default();
        let absent_keys = absent_keys(&members, &last_row, plan);
        let rows = row_count as u64;
        Ok(Self {
            input,
            rows,
            cells,
            cell_bytes,
            qualifier,
            members,
            absent_keys,
            first_row,
            last_row,
        })
    }

    /// Measures gets of the absent keys in this file alone.
    fn measure(&self, plan: Plan) -> anyhow::Result<FileRow> {
        let path = [self.input];
        let expected = ExpectedRows::default();
        let gets: Vec<PlannedGet<'_>> =
            self.absent_keys.iter().map(|key| PlannedGet { key, member: None }).collect();
        let with = FileSet::open(&path, FilterUse::Best, plan)?;
        let without = FileSet::open(&path, FilterUse::None, plan)?;
        // A filter over columns cannot answer a query for a whole row.
        let column = Some(&self.qualifier[..]);
        // The first run warms the caches; its result is discarded.
        without.measure(&gets, column, &expected)?;
        let unfiltered = without.measure(&gets, column, &expected)?;
        with.measure(&gets, column, &expected)?;
        let measured = with.measure(&gets, column, &expected)?;
        let figures = with.figures(true)?;
        // No gets were measured if the file has no absent keys, for example because it has one row.
        let some = |number| (measured.gets > 0).then_some(number);
        Ok(FileRow {
            file: self.input.name(),
            target: self.input.describe(&self.input.locate()?).0,
            query: FilterQuery::new(figures.bloom_type == Some(BloomType::RowCol.name())),
            rows: self.rows,
            bytes: with.readers.iter().map(|reader| reader.whole().len()).sum(),
            first_row: escape(&self.first_row).to_string(),
            last_row: escape(&self.last_row).to_string(),
            filter: figures.name,
            bloom_type: figures.bloom_type,
            bits_per_key: figures.bits_per_key,
            error_rate_promised: figures.error_rate,
            error_rate_measured: measured.error_rate(),
            asked: measured.gets,
            data_blocks_per_get_without: some(unfiltered.per_get(unfiltered.trace.data_blocks())),
            data_blocks_per_get: some(measured.per_get(measured.trace.data_blocks())),
            ns_median_without: some(unfiltered.quantile(0.5) as f64),
            ns_median: some(measured.quantile(0.5) as f64),
        })
    }
}

/// Derives keys that resemble `members` and lie between the first and last row of the file.
///
/// A derived key may be a row that was not sampled; [`ExpectedRows::scan_files`] drops such keys.
fn absent_keys(members: &KeyList, last: &[u8], plan: Plan) -> Vec<Vec<u8>> {
    let mut random = Random::new(!plan.seed);
    let known: HashSet<&[u8]> = members.iter().collect();
    let first = members.iter().min().unwrap_or_default();
    let mut keys = HashSet::new();
    // At most 20 attempts per key: a file with dense or few keys may not have enough absent keys.
    for _ in 0..plan.gets.saturating_mul(20) {
        if keys.len() == plan.gets {
            break;
        }
        let key = mutate(members, &mut random);
        if first <= &key[..] && &key[..] <= last && !known.contains(&key[..]) {
            keys.insert(key);
        }
    }
    // A hash set iterates in random order: sort before shuffling, so that a seed is reproducible.
    let mut derived: Vec<Vec<u8>> = keys.into_iter().collect();
    derived.sort_unstable();
    Random::new(plan.seed).shuffle(&mut derived);
    derived
}

/// The expected results of gets, as found by scans.
#[derive(Default)]
struct ExpectedRows {
    /// For each sampled row, a digest of its cells in all files, in file order.
    digests: HashMap<Vec<u8>, u64>,
}

impl ExpectedRows {
    /// Scans all files, digests the sampled rows, and removes existing rows from the absent keys.
    fn scan_files(sampled: &mut [SampledFile<'_>], progress: &Progress) -> anyhow::Result<Self> {
        let mut hashers: HashMap<Vec<u8>, DefaultHasher> = HashMap::new();
        for key in sampled.iter().flat_map(|file| file.members.iter()) {
            hashers.insert(key.to_owned(), DefaultHasher::new());
        }
        let mut is_present: HashMap<Vec<u8>, bool> = HashMap::new();
        for absent_key in sampled.iter().flat_map(|file| &file.absent_keys) {
            is_present.insert(absent_key.clone(), false);
        }
        for file in &*sampled {
            progress.advance(1);
            for_each_cell(file.input, |cell| {
                if let Some(hasher) = hashers.get_mut(cell.row) {
                    digest(cell, hasher);
                }
                if let Some(is_member) = is_present.get_mut(cell.row) {
                    *is_member = true;
                }
            })?;
        }
        for file in sampled {
            file.absent_keys.retain(|key| !is_present[key]);
        }
        let digests = hashers.into_iter().map(|(row, hasher)| (row, hasher.finish())).collect();
        Ok(Self { digests })
    }

    /// Chooses random keys for the gets: sampled rows, absent keys, or both, depending on `mix`.
    fn plan_gets<'d>(
        &self,
        sampled: &'d [SampledFile<'_>],
        mix: Mix,
        plan: Plan,
    ) -> Vec<PlannedGet<'d>> {
        let mut random = Random::new(plan.seed ^ (mix as u64 + 1));
        let absent_keys: Vec<&[u8]> =
            sampled.iter().flat_map(|file| &file.absent_keys).map(Vec::as_slice).collect();
        let mut gets = Vec::with_capacity(plan.gets);
        while gets.len() < plan.gets {
            let present = match mix {
                Mix::Absent => false,
                Mix::Present => true,
                Mix::Mixed => random.below(2) == 0,
            };
            let key = if present || absent_keys.is_empty() {
                let file = &sampled[random.below(sampled.len())];
                file.members.key(random.below(file.members.len()))
            } else {
                absent_keys[random.below(absent_keys.len())]
            };
            let member = self.digests.contains_key(key).then_some(0);
            gets.push(PlannedGet { key, member });
        }
        gets
    }

    /// Checks the cells that a get returned. Returns whether the row exists.
    fn check(&self, planned_get: &PlannedGet<'_>, cells: &[Cell]) -> Result<bool, String> {
        let Some(expected) = self.digests.get(planned_get.key) else {
            return match cells.len() {
                0 => Ok(false),
                found => Err(format!("a get found {found} cells, and a scan none")),
            };
        };
        let mut hasher = DefaultHasher::new();
        for cell in cells {
            digest(&cell.as_ref(), &mut hasher);
        }
        if hasher.finish() == *expected {
            Ok(true)
        } else {
            Err("a get and a scan found different cells".to_owned())
        }
    }
}

/// Readers of the measured files, which share a block cache.
struct FileSet {
    readers: Vec<StoreFileReader>,
}

impl FileSet {
    fn open(inputs: &[&Input], filter_use: FilterUse, plan: Plan) -> anyhow::Result<Self> {
        let cache = Arc::new(BlockCache::new(plan.cache_bytes));
        let mut readers = Vec::with_capacity(inputs.len());
        for input in inputs {
            let options = reader_options().cache(Arc::clone(&cache)).filter_use(filter_use);
            readers.push(input.open_with(options)?.reader);
        }
        Ok(Self { readers })
    }

    /// Returns the figures of the filters for gets of rows, or of one column of each row.
    fn figures(&self, has_column: bool) -> sstable::Result<FilterFigures> {
        figures(self.readers.iter().map(StoreFileReader::whole), has_column)
    }

    /// Measures gets of whole rows, or of one column of each row.
    fn measure(
        &self,
        gets: &[PlannedGet<'_>],
        column: Option<&[u8]>,
        expected: &ExpectedRows,
    ) -> anyhow::Result<Measured> {
        measure(
            gets,
            |key| self.get(key, column),
            |planned_get, cells| expected.check(planned_get, cells),
        )
    }

    /// Returns all cells of a row, file by file.
    ///
    /// `column` is only used to query filters over columns: other columns are returned as well.
    fn get(&self, row: &[u8], column: Option<&[u8]>) -> anyhow::Result<(Vec<Cell>, ReadTrace)> {
        let mut probe = RowProbe::new(row, Seed::new(0));
        if let Some(column) = column {
            probe = probe.with_column(column);
        }
        let mut trace = ReadTrace::default();
        let mut cells = Vec::new();
        for reader in &self.readers {
            let mut found = reader.look_up(&probe)?;
            while let Some(cell) = found.cell() {
                cells.push(cell.to_cell());
                found.advance()?;
            }
            trace.add(&found.trace());
        }
        Ok((cells, trace))
    }
}

fn digest(cell: &CellRef<'_>, hasher: &mut DefaultHasher) {
    for part in [cell.row, cell.family, cell.qualifier, cell.value, cell.tags] {
        hasher.write_usize(part.len());
        hasher.write(part);
    }
    hasher.write_i64(cell.timestamp.get());
    hasher.write_u8(cell.cell_type.code());
    hasher.write_u64(cell.sequence_id.get());
}

fn mean_cell_bytes(sampled: &[SampledFile<'_>]) -> f64 {
    let bytes: u64 = sampled.iter().map(|file| file.cell_bytes).sum();
    let cells: u64 = sampled.iter().map(|file| file.cells).sum();
    bytes as f64 / cells.max(1) as f64
}

/// Returns the size of a cell in a data block: its length fields, key and value.
fn cell_len(cell: &CellRef<'_>) -> usize {
    CELL_LENGTHS_LEN + cell.key().flat_len() + cell.value.len()
}
