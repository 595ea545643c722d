//! Divides a scan into splits: one for each region, several for a large one.

use std::path::Path;
use std::sync::Arc;

use cells::Clock;
use sstable::{Comparator, FileName};

use super::scan_split::{ScanSplit, SplitSource, open_file};
use crate::error::{Error, Result};
use crate::history::FileLoss;
use crate::names::StoreFileName;
use crate::scan::TableScan;
use crate::scan::damage::MissingCells;
use crate::scan::plan::ScanPlan;
use crate::scan::row_range::RowRange;
use crate::table::store_file::StorePlace;
use crate::table::{Region, StoreFile, StoreFileReader, Table, split_rows};
use crate::tree::FileTree;

/// Maximum number of splits of one region or file.
const PARTS_MAX: u64 = 10_000;

/// The splits of a scan.
#[derive(Clone, Debug)]
pub struct SplitPlan {
    /// The splits, in the order of their rows.
    pub splits: Vec<ScanSplit>,
    /// Damaged or missing parts that no split reads; empty unless the scan skips damage.
    pub missing: Vec<MissingCells>,
}

impl Table {
    /// Divides a scan into splits for other processes: one for each region with files for it.
    ///
    /// Regions with more than `target_len` bytes of files are divided between rows, at data blocks, into parts of
    /// about that size; without it, no region is divided. Only the indexes of files of such regions are read. A scan
    /// of one row has one split.
    ///
    /// If the scan reads [logs](TableScan::with_logs), each split has the list of all logs, and reads those cells that
    /// its region and rows have. All splits expire cells by the same time. [`ReaderOptions`](sstable::ReaderOptions)
    /// and logs that were [read before](TableScan::unflushed) do not come with a split to another process: there its
    /// files are read with the default options, so without a shared block cache.
    ///
    /// ```no_run
    /// use std::path::Path;
    /// use std::sync::Arc;
    ///
    /// use hbase_files::{LocalTree, RootDirectory, ScanSplit, TableScan};
    ///
    /// let root = RootDirectory::open(Arc::new(LocalTree), Path::new("hbase"))?;
    /// let table = root.snapshot("users-monday")?.table;
    /// for split in table.splits(&TableScan::default(), Some(256 << 20))?.splits {
    ///     let bytes = split.to_bytes()?;
    ///     // In another process:
    ///     let mut cells = ScanSplit::from_bytes(&bytes, Arc::new(LocalTree))?.cells()?;
    ///     while let Some(cell) = cells.next_ref()? {
    ///         println!("{cell:?}");
    ///     }
    /// }
    /// # Ok::<(), hbase_files::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`scan`](Self::scan); unless the scan skips damage, also if a file of the table is missing, or the index
    /// of one cannot be read.
    pub fn splits(&self, scan: &TableScan, target_len: Option<u64>) -> Result<SplitPlan> {
        let with_now = with_time(scan);
        let plan = ScanPlan::new(self, &with_now)?;
        if with_now.with_logs
            && let Some(searched) = &self.logs_missing
        {
            return Err(Error::logs_missing(self.root(), searched));
        }
        let mut splits = Vec::new();
        for region in self.regions.iter().filter(|region| plan.includes_region(region)) {
            let lost_logs = self
                .lost_logs
                .iter()
                .filter(|lost| with_now.with_logs && lost.region == *region.name());
            lost_logs.for_each(|lost| plan.losses.add(FileLoss::from(lost).into()));
            let splitter = RegionSplitter { table: self, plan: &plan, region };
            splitter.add_splits(target_len, &mut splits)?;
        }
        Ok(SplitPlan { splits, missing: plan.losses.list() })
    }
}

impl ScanSplit {
    /// Divides a scan of an HFile, or of a reference or link to one, as [`Table::splits`] divides a region.
    ///
    /// Of the scan, that applies which applies to [`StoreFileCells`](crate::StoreFileCells). A file without cells has
    /// no split.
    ///
    /// # Errors
    ///
    /// If the file or its index cannot be read.
    pub fn hfile(
        tree: &Arc<dyn FileTree>,
        path: &Path,
        scan: &TableScan,
        target_len: Option<u64>,
    ) -> Result<Vec<Self>> {
        let with_now = with_time(scan);
        let reader = open_file(&**tree, path, &with_now)?;
        let whole = reader.whole();
        let order = whole.trailer().comparator;
        let range = with_now.row_range(order);
        if !range.overlaps(whole, order) {
            return Ok(Vec::new());
        }
        let halves = if reader.half().is_some() { 2 } else { 1 };
        let len = whole.len().checked_div(halves).unwrap_or(0);
        let is_divided = order == Comparator::Bytes && with_now.row.is_none();
        let parts = if is_divided { parts_of(len, target_len) } else { 1 };
        let cuts = if parts > 1 { split_rows([Ok(reader)], number(parts))? } else { Vec::new() };
        // The name says what the file is, so a link keeps its own.
        let parent = path.parent().filter(|directory| *directory != Path::new(""));
        let given = parent.unwrap_or(Path::new("."));
        let directory = tree.absolute(given).map_err(Error::io(given, "resolve it"))?;
        let real = directory.join(path.file_name().unwrap_or_default());
        let source = SplitSource::File { path: real, tree: Arc::clone(tree), order };
        let mut splits = Vec::new();
        add_parts(&source, &with_now, &range, Cuts { rows: cuts, len, count: parts }, &mut splits);
        Ok(splits)
    }
}

/// Returns the scan with the time by which cells expire, which is the same for all splits.
fn with_time(scan: &TableScan) -> TableScan {
    let now = scan.now.unwrap_or_else(|| Clock::system().now());
    scan.clone().now(now)
}

/// Returns the number of parts of about the wanted length.
fn parts_of(len: u64, target_len: Option<u64>) -> u64 {
    target_len.map_or(1, |target| len.div_ceil(target.max(1)).clamp(1, PARTS_MAX))
}

fn number(parts: u64) -> usize {
    usize::try_from(parts).expect("at most PARTS_MAX")
}

/// The rows at which a region or file is divided.
struct Cuts {
    rows: Vec<Vec<u8>>,
    /// The bytes of all parts.
    len: u64,
    /// The wanted number of parts; the scan may not want all of them.
    count: u64,
}

/// Adds the splits of a region or file: the rows of the scan between the cuts.
fn add_parts(
    source: &SplitSource,
    scan: &TableScan,
    range: &RowRange,
    cuts: Cuts,
    splits: &mut Vec<ScanSplit>,
) {
    let len = cuts.len.checked_div(cuts.count).unwrap_or(cuts.len);
    let mut scans = Vec::new();
    let mut rest = scan.clone();
    for cut in cuts.rows {
        let start = rest.start.as_deref().unwrap_or_default();
        let is_inside = cut[..] > *start
            && cut > range.start
            && range.stop.as_ref().is_none_or(|stop| cut < *stop);
        if is_inside {
            scans.push(rest.clone().stop(&cut));
            rest = rest.start(&cut);
        }
    }
    scans.push(rest);
    splits.extend(scans.into_iter().map(|scan| ScanSplit {
        source: source.clone(),
        scan,
        len,
        attachment: Vec::new(),
    }));
}

/// Divides one region.
struct RegionSplitter<'p> {
    table: &'p Table,
    plan: &'p ScanPlan,
    region: &'p Region,
}

impl RegionSplitter<'_> {
    fn add_splits(&self, target_len: Option<u64>, splits: &mut Vec<ScanSplit>) -> Result<()> {
        let Self { table, plan, region } = self;
        let tree = &**table.tree();
        let files: Vec<&StoreFile> = self.wanted_files().collect();
        let with_logs = plan.scan.with_logs;
        let may_have_logs =
            with_logs && !(table.logs.is_empty() && region.recovered_edits.is_empty());
        if files.is_empty() && !may_have_logs {
            return Ok(());
        }
        let len = files.iter().filter_map(|file| len_of(file, tree)).fold(0, u64::saturating_add);
        let is_divided = plan.order == Comparator::Bytes && plan.single_row().is_none();
        let parts = if is_divided { parts_of(len, target_len) } else { 1 };
        let rows = if parts > 1 { self.cuts(&files, parts)? } else { Vec::new() };
        let source = SplitSource::Table(Arc::new(self.table_of_region()?));
        let cuts = Cuts { rows, len, count: parts };
        add_parts(&source, &plan.scan, &plan.range, cuts, splits);
        Ok(())
    }

    /// Iterates over the files of the families that the scan reads.
    fn wanted_files(&self) -> impl Iterator<Item = &StoreFile> {
        let with_logs = self.plan.scan.with_logs;
        self.plan.families.iter().filter_map(|wanted| self.region.family(&wanted.name)).flat_map(
            move |family| {
                let recovered = family.recovered_hfiles.iter().filter(move |_| with_logs);
                family.files.iter().chain(recovered)
            },
        )
    }

    fn cuts(&self, files: &[&StoreFile], parts: u64) -> Result<Vec<Vec<u8>>> {
        let skips_damaged = self.plan.losses.skips_damaged();
        let options = &self.plan.scan.reader_options;
        let tree = &**self.table.tree();
        // A damaged file is reported by the split that reads it.
        let all = files.iter().map(|file| {
            let location = file.locate(tree)?;
            let name = FileName::new(location.path.display().to_string());
            StoreFileReader::open(tree, &location, name, options.clone())
        });
        let opened =
            all.filter(|file| !matches!(file, Err(error) if skips_damaged && error.is_loss()));
        let rows = match split_rows(opened, number(parts)) {
            Err(error) if skips_damaged && error.is_loss() => Vec::new(),
            rows => rows?,
        };
        let info = &self.region.info;
        Ok(rows.into_iter().filter(|row| *row > info.start_key && info.contains_row(row)).collect())
    }

    /// Returns the table with this region and the files of the scan only, as a split has it.
    fn table_of_region(&self) -> Result<Table> {
        let mut region = self.region.clone();
        region
            .families
            .retain(|family| self.plan.families.iter().any(|wanted| wanted.name == family.name));
        for family in &mut region.families {
            if !self.plan.scan.with_logs {
                family.recovered_hfiles.clear();
            }
            for file in family.files.iter_mut().chain(&mut family.recovered_hfiles) {
                self.prepare(file)?;
            }
        }
        Ok(Table {
            regions: vec![region],
            mob: None,
            left_out: Vec::new(),
            // `ScanPlan::new` has refused them, or counted what they hide.
            problems: Vec::new(),
            log_problems: Vec::new(),
            mob_problems: Vec::new(),
            // Listed by `Table::splits`.
            lost_logs: Vec::new(),
            absent: Vec::new(),
            ..self.table.clone()
        })
    }

    /// Makes a file findable after HBase has moved it, and the file of a reference, to the archive.
    ///
    /// A file that is missing now stays so, and is an error of the split that reads it.
    fn prepare(&self, file: &mut StoreFile) -> Result<()> {
        let is_reference = matches!(file.name, StoreFileName::Reference(_));
        if !file.place.is_table && (!is_reference || file.half.is_some()) {
            return Ok(());
        }
        match file.locate(&**self.table.tree()) {
            Ok(location) => {
                let StorePlace { root, table, region, family, directory, listed_in, .. } =
                    &*file.place;
                let place = StorePlace {
                    root: root.clone(),
                    table: table.clone(),
                    region: region.clone(),
                    family: family.clone(),
                    directory: directory.clone(),
                    listed_in: listed_in.clone(),
                    is_table: false,
                };
                (file.half, file.place) = (location.half, Arc::new(place));
                Ok(())
            }
            Err(error) if self.plan.losses.skips_damaged() && error.is_loss() => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Returns about how many bytes of the HFile a store file has.
fn len_of(file: &StoreFile, tree: &dyn FileTree) -> Option<u64> {
    // HBase records no length of a link in a MOB region.
    let len = file.hfile_len(tree)?;
    match file.name {
        StoreFileName::Reference(_) => len.checked_div(2),
        _ => Some(len),
    }
}
