//! The row filters of store files: their kind and size, and how they are rebuilt.
//!
//! A family can have a budget in bytes for all its filters. The budget is shared among the files as in
//! Monkey ([`allocate_bits`]): many bits per row for small files, few for large ones, none where a filter
//! would save too little. A new file gets its share given the current files. Existing files keep
//! their filters until they are compacted or rebuilt ([`Maintenance::rebuild_filters`]).

use std::sync::Arc;

use filter::{FilterKind, Sizing, allocate_bits};
use sstable::tools::{FileInfoChange, rebuild_filter};
use sstable::{BloomType, FileName, FilterOptions, Limits, WriterOptions};

use super::background::Maintenance;
use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::files::manifest::{FILE_ID_KEY, FileEntry};
use crate::files::new_files::new_file::{create_pending, pending_id};
use crate::files::version::store_file::StoreFile;
use crate::files::version::store_version::Family;
use crate::options::RowFilter;

/// Returns the filter for a new file with `rows` rows, given the other files of the family.
pub(crate) fn filter_of_new(
    family: &Family,
    others: &[Arc<StoreFile>],
    rows: impl FnOnce() -> Result<u64>,
) -> Result<Option<RowFilter>> {
    let Some(RowFilter { kind, sizing: Sizing::Bytes(budget) }) = family.options.filter else {
        return Ok(family.options.filter);
    };
    let mut counts: Vec<u64> = others.iter().map(|file| row_count(file)).collect();
    counts.push(rows()?);
    let bits = allocate_bits(&counts, bits_for_filters(budget), kind);
    Ok(bits.last().and_then(|bits| sized(kind, *bits)))
}

/// Returns the filter for a file that leaves the store. Such a file has no share of a budget.
pub(crate) fn filter_of_leaving(family: &Family) -> Option<RowFilter> {
    family.options.filter.filter(|filter| !matches!(filter.sizing, Sizing::Bytes(_)))
}

/// Returns the number of rows of a file as its filters count them, otherwise its number of cells.
///
/// The count of a file that was written elsewhere can be wrong.
pub(crate) fn row_count(file: &StoreFile) -> u64 {
    if file.is_miscounted() {
        return file.entry.cells;
    }
    if let Some(bloom) =
        file.reader.filters().bloom().filter(|bloom| bloom.bloom_type == BloomType::Row)
    {
        return bloom.key_count;
    }
    if let Some(keys) = file.reader.filters().row_filter_keys() {
        return keys;
    }
    match file.reader.filters().row_filter() {
        Ok(Some(filter)) => filter.key_count,
        _ => file.entry.cells,
    }
}

/// Returns the bits of a budget in bytes that remain for the filters themselves.
///
/// [`allocate_bits`] counts one header per file; a filter in partitions has more headers.
fn bits_for_filters(budget: u64) -> u64 {
    let headers = FilterOptions::further_header_bytes(budget, WriterOptions::FILTER_BLOCK_SIZE);
    (budget - headers).saturating_mul(8)
}

fn sized(kind: FilterKind, bits_per_key: f64) -> Option<RowFilter> {
    // A file with few rows can get fewer bits per key than a filter of many rows can have.
    let sizing = Sizing::BitsPerKey(bits_per_key);
    kind.check_sizing(sizing).is_ok().then_some(RowFilter { kind, sizing })
}

impl Maintenance {
    /// Rebuilds the filter of every file of a family by the family's options. Copies the data blocks
    /// unchanged. A drop of the family waits for the file that is being copied.
    pub(crate) fn rebuild_filters(&self, catalog: &Catalog, family: &str) -> Result<()> {
        self.health.check_writable()?;
        let turn = self.turns.take_by_hand(family);
        let _watch = self.health.poison_on_panic();
        let version = Arc::clone(catalog.version().known_family(family.as_bytes())?);
        let family = &version.family;
        let files: Vec<_> = version.files.by_sequence().cloned().collect();
        let filters: Vec<_> = match family.options.filter {
            Some(RowFilter { kind, sizing: Sizing::Bytes(budget) }) => {
                let counts: Vec<u64> = files.iter().map(|file| row_count(file)).collect();
                let bits = allocate_bits(&counts, bits_for_filters(budget), kind);
                bits.into_iter().map(|bits| sized(kind, bits)).collect()
            }
            filter => vec![filter; files.len()],
        };
        for (file, filter) in files.iter().zip(filters) {
            turn.check_not_cancelled()?;
            let entry = copy_with_filter(catalog, family, file, filter)?;
            let copy = catalog.open_new(family, &entry, None)?;
            catalog.replace_files(family, std::slice::from_ref(file), Some(&copy))?;
        }
        Ok(())
    }
}

fn copy_with_filter(
    catalog: &Catalog,
    family: &Family,
    file: &StoreFile,
    filter: Option<RowFilter>,
) -> Result<FileEntry> {
    let new_filter = filter.map(|known| known.with_seed(catalog.seed));
    let path = catalog.opener.family_directory(family).join(&file.entry.name);
    let source = catalog.opener.vfs().open(&path).map_err(Error::io(&path, "open"))?;
    let shown = FileName::new(format!("{}/{}", family.name, file.entry.name));
    let (pending, sink) = create_pending(catalog, family)?;
    let (limits, id) = (Limits::default(), pending_id(&pending));
    let id_bytes = id.to_bytes();
    let changes = [FileInfoChange { key: FILE_ID_KEY, value: Some(&id_bytes) }];
    let (sink, length) = match rebuild_filter(source, shown, limits, new_filter, &changes, sink) {
        // The filter is impossible for these rows, or a cell is wrong, which the copy without the
        // filter finds again.
        Err(sstable::Error::Invalid { what, .. }) if filter.is_some() => {
            drop(pending);
            let copied = copy_with_filter(catalog, family, file, None)?;
            family.failures.filter_omitted(&family.name, &what);
            return Ok(copied);
        }
        rebuilt => rebuilt?,
    };
    let (name, checksum) = pending.finish(sink)?;
    Ok(FileEntry { name, id: Some(id), length, checksum, ..file.entry.clone() })
}
