//! The regions of a table by `hbase:meta`, read from its files and logs in the same root directory.
//!
//! A row of `hbase:meta` is a region: `TABLE,START_KEY,ID.ENCODED.`; its column `info:regioninfo` has
//! the region's description, `PBUF` and the message `RegionInfo`. The parent of a split is marked
//! there; after a merge, the rows of the parents are deleted. HBase flushes `hbase:meta` rarely, so
//! its newest cells are often in its log only. HBase: `MetaTableAccessor`.

use std::collections::BTreeMap;
use std::path::Path;

use sstable::{Caching, Cell, CellRef, Comparator, FileName, KeyRef, ReaderOptions, Timestamp};
use store::FamilyOptions;
use store::rules::{Rules, Verdict, View};

use crate::region_info::META_REGION;
use crate::table::Table;
use crate::{Error, FileTree, RegionInfo, RegionName, Result, StoreFileReader, TableName, wal};

/// The family and the column with the description of a region.
const FAMILY: &[u8] = b"info";
const COLUMN: &[u8] = b"regioninfo";
/// The maximum number of cells that are read for one table: versions and delete markers.
const CELLS_MAX: usize = 1 << 22;

/// Reads the regions that `hbase:meta` has of a table, split parents included, by encoded name.
///
/// # Errors
///
/// If a file or a log of `hbase:meta` cannot be read.
pub(crate) fn regions_of(
    meta: &Table,
    table: &TableName,
) -> Result<BTreeMap<RegionName, RegionInfo>> {
    let mut cells = MetaCells { prefix: format!("{table},").into_bytes(), cells: Vec::new() };
    for region in &meta.regions {
        for file in region.family(FAMILY).into_iter().flat_map(|family| &family.files) {
            let location = file.locate(&*meta.tree)?;
            let name = FileName::new(location.path.display().to_string());
            let file =
                StoreFileReader::open(&*meta.tree, &location, name, ReaderOptions::default())?;
            cells.add_file(&file)?;
        }
        for log in &region.recovered_edits {
            cells.add_log(&*meta.tree, log)?;
        }
    }
    for log in &meta.logs {
        cells.add_log(&*meta.tree, log)?;
    }
    cells.into_regions(&meta.path)
}

/// The cells of one table's regions, in no order.
struct MetaCells {
    /// The start of the rows of the table's regions.
    prefix: Vec<u8>,
    cells: Vec<Cell>,
}

impl MetaCells {
    fn add_file(&mut self, file: &StoreFileReader) -> Result<()> {
        let mut scanner = file.scanner(Caching::Bypass);
        scanner.seek(KeyRef::before_row(&self.prefix.clone()))?;
        while let Some(cell) = scanner.cell().filter(|cell| cell.row.starts_with(&self.prefix)) {
            self.add(&cell)?;
            scanner.advance()?;
        }
        Ok(())
    }

    fn add_log(&mut self, tree: &dyn FileTree, path: &Path) -> Result<()> {
        let source = tree.open(path).map_err(Error::io(path, "open it"))?;
        let name = FileName::new(path.display().to_string());
        for entry in wal::Reader::open(source, name)? {
            let entry = entry?;
            if entry.region == META_REGION {
                for cell in &entry.cells {
                    self.add(&cell.as_ref())?;
                }
            }
        }
        Ok(())
    }

    /// Adds a cell if it is a description, or a marker that may delete one.
    fn add(&mut self, cell: &CellRef<'_>) -> Result<()> {
        let is_wanted = cell.family == FAMILY
            && cell.row.starts_with(&self.prefix)
            && (cell.qualifier == COLUMN || cell.qualifier.is_empty());
        if !is_wanted {
            return Ok(());
        }
        if self.cells.len() == CELLS_MAX {
            let what = format!("hbase:meta has more than {CELLS_MAX} cells of the table's regions");
            return Err(Error::TooMany { path: META_REGION.into(), what });
        }
        self.cells.push(cell.to_cell());
        Ok(())
    }

    /// Returns the descriptions that HBase would show.
    fn into_regions(mut self, meta: &Path) -> Result<BTreeMap<RegionName, RegionInfo>> {
        let order = Comparator::Meta;
        self.cells.sort_by(|one, other| {
            let (one, other) = (one.as_ref(), other.as_ref());
            order
                .compare(&one.key(), &other.key())
                .then_with(|| other.sequence_id.cmp(&one.sequence_id))
        });
        self.cells.dedup_by(|next, one| next.as_ref().key() == one.as_ref().key());
        let (family, view) = (FamilyOptions::default(), View::default());
        // The family does not expire: the time does not matter.
        let mut rules = Rules::new(&family, &view, Timestamp::new(i64::MAX));
        let mut regions = BTreeMap::new();
        for cell in &self.cells {
            let cell = cell.as_ref();
            if rules.judge(&cell) != Verdict::Include || cell.qualifier != COLUMN {
                continue;
            }
            let info = RegionInfo::parse_meta_value(cell.value).map_err(|what| {
                let row = sstable::escape(cell.row);
                Error::damaged(meta, format!("the row {row} of hbase:meta is damaged: {what}"))
            })?;
            regions.insert(info.encoded_name.clone(), info);
        }
        Ok(regions)
    }
}
