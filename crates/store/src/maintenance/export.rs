//! Exports families as files for HBase's bulk load.
//!
//! HBase gives all cells of a bulk load the same sequence id, so that equal keys in two files would have
//! no order. The export therefore merges memstores and files into one run per family and splits it only
//! at region boundaries. Hidden versions are dropped as in a compaction. Delete markers stay, because the
//! table may hold older cells. The files have no sequence ids; HBase assigns them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cells::rules::{Rules, Verdict};
use sstable::{Caching, CellRef, KeyRef, RegionFiles, SequenceId, WriterOptions};

use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::files::new_files::new_file::{FilePurpose, StoreFiles};
use crate::files::version::store_file::FileCursor;
use crate::files::version::store_version::FamilyVersion;
use crate::maintenance::filters::filter_of_leaving;
use crate::process::check_process;
use crate::read::sources::{CellSource, MemstoreCursor, StoreMerge};
use crate::read::view::ReadView;

/// The result of an export.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Export {
    /// The files by family, in the order of their rows.
    pub files: Vec<PathBuf>,
    /// Cells in the files, delete markers included.
    pub cells: u64,
}

/// Writes all families into `out`. A new file begins at each row of `splits`.
pub(crate) fn export(catalog: &Catalog, out: &Path, splits: &[Vec<u8>]) -> Result<Export> {
    check_process(catalog.health().process())?;
    let view = ReadView::current(catalog);
    let mut export = Export::default();
    for family in &view.version.families {
        export_family(catalog, &view, family, out, splits, &mut export)?;
    }
    Ok(export)
}

fn export_family(
    catalog: &Catalog,
    view: &ReadView,
    family: &FamilyVersion,
    out: &Path,
    splits: &[Vec<u8>],
    export: &mut Export,
) -> Result<()> {
    let (name, options) = (&family.family.name, leaving_options(catalog, family));
    let place = StoreFiles::of(catalog);
    let mut files =
        RegionFiles::create_in(place, out, name.as_bytes(), splits, options).map_err(|error| {
            match error {
                sstable::Error::Invalid { .. } => Error::invalid(error.to_string()),
                error => error.into(),
            }
        })?;
    let memstores = family.memstores();
    let mut sources: Vec<_> = memstores
        .map(|memstore| CellSource::Memory(MemstoreCursor::new(Arc::clone(memstore), view.visible)))
        .collect();
    let stored = family.files.by_sequence();
    sources.extend(
        stored.map(|file| CellSource::File(Box::new(FileCursor::new(file, Caching::Bypass)))),
    );
    let mut cells = StoreMerge::new(sources, KeyRef::before_row(b""))?;
    let mut rules = Rules::for_rewrite(&family.family.options.retention(), view.now());
    let mut last = None::<sstable::Cell>;
    while let Some(cell) = cells.cell() {
        // The same marker from two sources: without sequence ids the two are equal.
        let is_known = last.as_ref().is_some_and(|last| last.as_ref().key() == cell.key());
        if rules.judge(&cell) == Verdict::Include && !is_known {
            files.append(CellRef { sequence_id: SequenceId::default(), ..cell })?;
            export.cells += 1;
            last = Some(cell.to_cell());
        }
        cells.advance()?;
    }
    export.files.extend(files.finish()?.into_iter().map(|file| file.path));
    Ok(())
}

/// Returns the options for writing files that leave the store.
fn leaving_options(catalog: &Catalog, family: &FamilyVersion) -> WriterOptions {
    let has_tags = family.memstores().any(|memstore| memstore.has_tags())
        || family.files.by_sequence().any(|file| file.reader.file_info().includes_tags());
    let purpose = FilePurpose {
        sequence_max: SequenceId::default(),
        has_tags,
        is_major_compaction: false,
        filter: filter_of_leaving(&family.family),
    };
    catalog.writer_options(&family.family, purpose).bulk_load(catalog.clock.now())
}
