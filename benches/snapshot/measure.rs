//! What is measured of ours: scans of the snapshot and its export.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use hbase_files::{LocalTree, RootDirectory, Snapshot, TableCells, TableScan};
use hfile_arrow::{BatchScan, ParquetCompression, ParquetFile};
use sstable::FileName;

use crate::{NAME, VALUE_LEN};

/// What is measured.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// A scan of all shown cells with this number of threads.
    Scan { threads: usize },
    /// Two threads that each scan one region after the other, so cells do not pass between threads.
    Regions,
    /// All raw cells to Parquet, region by region.
    Export,
}

impl Work {
    pub(crate) const ALL: [Self; 4] =
        [Self::Scan { threads: 1 }, Self::Scan { threads: 2 }, Self::Regions, Self::Export];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Scan { threads: 1 } => "scan, one thread",
            Self::Scan { .. } => "scan, two threads",
            Self::Regions => "scan, two threads by region",
            Self::Export => "Parquet, one thread",
        }
    }

    /// Does the work once, and returns the number of cells.
    pub(crate) fn pass(self, root: &Path, out: &Path) -> u64 {
        match self {
            Self::Scan { threads } => {
                let table = open(root).table;
                count(table.scan(&TableScan::default().threads(threads)).expect("it is sound"))
            }
            Self::Regions => regions(root),
            Self::Export => export(root, out),
        }
    }
}

fn open(root: &Path) -> Snapshot {
    let root = RootDirectory::open(Arc::new(LocalTree), root).expect("HBase made it");
    root.snapshot(NAME).expect("HBase made it")
}

/// Counts the cells, and checks their values' lengths.
fn count(mut cells: TableCells) -> u64 {
    let (mut count, mut bytes) = (0, 0);
    while let Some(cell) = cells.next_ref().expect("it is sound") {
        count += 1;
        bytes += cell.value.len() as u64;
    }
    assert_eq!(bytes, count * VALUE_LEN);
    count
}

fn regions(root: &Path) -> u64 {
    let table = &open(root).table;
    let next = &AtomicUsize::new(0);
    let scan_regions = || {
        let mut sum = 0;
        while let Some(region) = table.regions.get(next.fetch_add(1, Ordering::Relaxed)) {
            sum += count(table.scan_region(region, &TableScan::default()).expect("it is sound"));
        }
        sum
    };
    thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(scan_regions));
        threads.map(|thread| thread.join().expect("it ends")).iter().sum()
    })
}

fn export(root: &Path, out: &Path) -> u64 {
    let table = open(root).table;
    let mut count = 0;
    for (number, region) in table.regions.iter().enumerate() {
        let path = out.join(format!("{number}.parquet"));
        let scan = BatchScan::cells().raw(true);
        let batches = scan.region(&table, region, &TableScan::default()).expect("it is sound");
        let sink = BufWriter::new(File::create(&path).expect("the directory is ours"));
        let name = FileName::new(path.display().to_string());
        let file = ParquetFile::new(sink, name, batches.schema(), ParquetCompression::Snappy);
        let mut file = file.expect("the disk has room");
        for batch in batches {
            let batch = batch.expect("it is sound");
            count += batch.num_rows() as u64;
            file.write(&batch).expect("the disk has room");
        }
        file.finish().expect("the disk has room");
    }
    count
}

/// Returns the sum of the CRC-32s of all cells, as HBase's side computes it.
pub(crate) fn crc_sum(root: &Path, threads: usize) -> u64 {
    let table = open(root).table;
    let mut cells = table.scan(&TableScan::default().threads(threads)).expect("it is sound");
    let mut sum = 0;
    while let Some(cell) = cells.next_ref().expect("it is sound") {
        let mut crc = crc32fast::Hasher::new();
        for part in [cell.row, cell.qualifier, &cell.timestamp.get().to_be_bytes(), cell.value] {
            crc.update(part);
        }
        sum += u64::from(crc.finalize());
    }
    sum
}
