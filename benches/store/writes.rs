//! Write throughput of one thread, with flushes and compactions running.
//!
//! Rows have a key of 16 bytes in no order, a value of 100 bytes and one column. Every write is
//! acknowledged under `SyncWal`: the operating system has it, the disk need not. Two times are measured:
//! from the first write until the last is acknowledged, and until all cells are in files. Afterwards every
//! row and value is read back and checked. The store is compacted to one file, whose size is compared
//! with the encoded size of its cells.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use sstable::KeyRef;
use store::{
    CellRef, CellType, CompactionKind, Durability, FamilyOptions, Put, Scan, SequenceId, Store,
    StoreOptions, Timestamp, WriteBatch,
};
use workload::KEY_LEN;
use workload::cpu_time::{PROCESS, THREAD, cpu_nanos};

use crate::counted_files::CountedFiles;
use crate::{FAMILY, QUALIFIER, ROW_LEN, SEED, VALUE_LEN};

pub(crate) fn run(rows: u64) {
    println!(
        "| written by | rows/s acknowledged | rows/s in files | CPU ns of the writer | of all threads | longest write ms | stalls | flushes | compactions \
         | log / rows | files / rows | file / cells |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    );
    for batch_rows in [1, 100] {
        let directory = tempfile::tempdir().expect("there is a place for files");
        measure(directory.path(), rows, batch_rows);
    }
}

fn measure(directory: &Path, rows: u64, batch_rows: u64) {
    let files = CountedFiles::default();
    let options = StoreOptions::default().vfs(Arc::new(files.clone()));
    let store = Store::open(directory, options).expect("an empty directory");
    store.create_family(FAMILY, FamilyOptions::default()).expect("a new store");

    let (writer, process) = (cpu_nanos(THREAD), cpu_nanos(PROCESS));
    let start = Instant::now();
    let mut longest = 0_f64;
    for first in (0..rows).step_by(batch_rows as usize) {
        let before = Instant::now();
        write(&store, first, batch_rows.min(rows - first));
        longest = longest.max(before.elapsed().as_secs_f64());
    }
    let acknowledged = rows as f64 / start.elapsed().as_secs_f64();
    let writer = cpu_nanos(THREAD) - writer;
    store.flush().expect("sound");
    let in_files = rows as f64 / start.elapsed().as_secs_f64();
    let process = cpu_nanos(PROCESS) - process;

    check(&store, rows);
    let stats = store.stats();
    let row_bytes = (rows * ROW_LEN as u64) as f64;
    let (log, written) = (files.log_bytes() as f64, files.file_bytes() as f64);
    store.compact(FAMILY, CompactionKind::Major).expect("sound");
    let file = store.stats().families[0].file_bytes as f64;
    let cells = (rows * encoded_len()) as f64;
    let by = if batch_rows == 1 { "puts".to_owned() } else { format!("batches of {batch_rows}") };
    println!(
        "| {by} | {acknowledged:.0} | {in_files:.0} | {} | {} | {:.0} | {} | {} | {} | {:.2} | {:.2} | {:.3} |",
        writer / rows,
        process / rows,
        longest * 1e3,
        stats.write_stalls,
        stats.flushes,
        stats.compactions,
        log / row_bytes,
        written / row_bytes,
        file / cells,
    );
}

fn write(store: &Store, first: u64, count: u64) {
    let mut value = [0; VALUE_LEN];
    let mut put = |index| {
        workload::fill_value(SEED, index, &mut value);
        Put::new(workload::key(SEED, index)).column(FAMILY, QUALIFIER, value)
    };
    let written = if count == 1 {
        store.put(put(first))
    } else {
        let mut batch = WriteBatch::new();
        (first..first + count).for_each(|index| batch.put(put(index)));
        store.write(batch, Durability::SyncWal)
    };
    written.expect("the disk has room");
}

/// Reads all rows back, and checks their number, their order and the sum of their hashes.
fn check(store: &Store, rows: u64) {
    let hash = BuildHasherDefault::<DefaultHasher>::default();
    let mut value = [0; VALUE_LEN];
    let expected = (0..rows).fold(0_u64, |sum, index| {
        workload::fill_value(SEED, index, &mut value);
        sum.wrapping_add(hash.hash_one((&workload::key(SEED, index)[..], &value[..])))
    });
    let (mut count, mut found, mut last) = (0, 0_u64, Vec::new());
    for cell in store.scan(Scan::family(FAMILY)).expect("sound") {
        let cell = cell.expect("sound");
        assert!(cell.row() > &last[..], "rows are in order, each once");
        last.clear();
        last.extend_from_slice(cell.row());
        found = found.wrapping_add(hash.hash_one((cell.row(), cell.value())));
        count += 1;
    }
    assert_eq!((count, found), (rows, expected), "every row and value that was written");
}

/// Bytes of a cell in a data block: two lengths, key, value, and a sequence id of one byte.
fn encoded_len() -> u64 {
    let cell = CellRef {
        row: &[0; KEY_LEN],
        family: FAMILY.as_bytes(),
        qualifier: QUALIFIER.as_bytes(),
        timestamp: Timestamp::new(0),
        cell_type: CellType::Put,
        value: &[0; VALUE_LEN],
        tags: b"",
        sequence_id: SequenceId::new(0),
    };
    let key: KeyRef<'_> = cell.key();
    (8 + key.flat_len() + VALUE_LEN + 1) as u64
}
