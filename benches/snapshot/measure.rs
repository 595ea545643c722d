//! One measurement of ours, in a process of its own.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use hbase_files::{LocalTree, RootDirectory, Snapshot, TableCells, TableScan};
use hfile_arrow::{BatchScan, ParquetCompression, ParquetFile};
use sstable::FileName;
use workload::cpu_time::cpu_nanos_of_all;
use workload::median;

use crate::{NAME, PASSES, VALUE_LEN};

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

/// Medians of the passes of a process.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) seconds: f64,
    /// Processor time of all threads.
    pub(crate) cpu_seconds: f64,
    pub(crate) memory_mib: f64,
}

impl Work {
    pub(crate) const ALL: [Self; 4] =
        [Self::Scan { threads: 1 }, Self::Scan { threads: 2 }, Self::Regions, Self::Export];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Scan { threads: 1 } => "scan-1",
            Self::Scan { .. } => "scan-2",
            Self::Regions => "regions-2",
            Self::Export => "parquet",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|work| work.name() == name)
    }

    /// Does the work once, and returns the number of cells.
    fn pass(self, root: &Path, out: &Path) -> u64 {
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

impl Measured {
    /// Reads what [`run`] returned.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut figures = text.split_whitespace().map(str::parse::<f64>);
        let mut next = || figures.next()?.ok();
        Some(Self { seconds: next()?, cpu_seconds: next()?, memory_mib: next()? })
    }
}

/// Does the work in several passes, after one that is not timed, and returns the figures as text.
pub(crate) fn run(work: Work, root: &Path) -> String {
    let place = tempfile::tempdir().expect("there is a place for files");
    let cells = work.pass(root, place.path());
    let passes = [(); PASSES].map(|()| {
        let (begin, cpu) = (Instant::now(), cpu_nanos_of_all());
        assert_eq!(work.pass(root, place.path()), cells);
        (begin.elapsed().as_secs_f64(), (cpu_nanos_of_all() - cpu) as f64 / 1e9)
    });
    let seconds = median(passes.iter().map(|pass| pass.0));
    let cpu_seconds = median(passes.iter().map(|pass| pass.1));
    format!("{seconds} {cpu_seconds} {}", peak_mib())
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

/// Returns the most memory that this process has had, in MiB.
fn peak_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux has it");
    let kib: u64 = line.trim().trim_end_matches(" kB").trim().parse().expect("a number");
    kib as f64 / 1024.0
}
