//! The bytes and the time that opening a store of many files takes.
//!
//! All files are equal, 10 MB each: one is built and imported repeatedly. Each has its own name and its
//! own entry in the manifest; on disk the names are hard links, so that ten gigabytes take the space of
//! one file. The page cache holds it: the benchmark measures which bytes are read, and the work on them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use criterion::Criterion;
use sstable::{
    CellRef, CellType, FileName, Reader, ReaderOptions, SequenceId, Timestamp, Writer,
    WriterOptions,
};
use store::{Age, FamilyOptions, Get, Store, StoreOptions};

use crate::counted_files::CountedFiles;
use crate::{FAMILY, QUALIFIER, ROW_LEN, SEED, VALUE_LEN};

const FILE_LEN: usize = 10_000_000;

pub(crate) fn run(criterion: &mut Criterion) {
    let files = workload::size(1_000);
    let directory = tempfile::tempdir().expect("there is a place for files");
    let original = directory.path().join("original");
    let load_on_open = build(&original);
    let place = directory.path().join("store");
    let linking = StoreOptions::default()
        .auto_compaction(false)
        .vfs(Arc::new(CountedFiles::with_links_to(&original)));
    let store = Store::open(&place, linking).expect("an empty directory");
    store.create_family(FAMILY, FamilyOptions::default()).expect("a new store");
    let copies = vec![PathBuf::from(&original); files as usize];
    store.import(FAMILY, &copies, Age::Carried).expect("sound");
    drop(store);

    let open = |files: &CountedFiles| {
        let options = StoreOptions::default().auto_compaction(false).vfs(Arc::new(files.clone()));
        Store::open(&place, options).expect("sound")
    };
    let counted = CountedFiles::default();
    let store = open(&counted);
    assert_eq!(store.stats().families[0].files, files);
    println!(
        "{files} files: {:.1} MB read; {:.1} MB are to be loaded on open",
        counted.read_bytes() as f64 / 1e6,
        (files * load_on_open) as f64 / 1e6,
    );
    let cells = store.get(&Get::row(workload::key(SEED, 0)).family(FAMILY)).expect("sound");
    assert_eq!(cells.len(), 1, "the store can be read");
    drop(store);
    criterion.bench_function(&format!("open/{files} files"), |bencher| {
        // Closed before the next opening: a store locks its directory.
        bencher.iter(|| drop(open(&counted)));
    });
}

/// Writes the file. Returns the length of its load-on-open section.
fn build(path: &Path) -> u64 {
    let mut keys: Vec<_> =
        (0..(FILE_LEN / (ROW_LEN + 23)) as u64).map(|index| workload::key(SEED, index)).collect();
    keys.sort_unstable();
    let file = std::fs::File::create(path).expect("the directory is ours");
    let options = WriterOptions::default();
    let mut writer = Writer::new(file, FileName::new("original"), options).expect("sound options");
    for row in &keys {
        let cell = CellRef {
            row,
            family: FAMILY.as_bytes(),
            qualifier: QUALIFIER.as_bytes(),
            timestamp: Timestamp::new(1_700_000_000_000),
            cell_type: CellType::Put,
            value: &[b'v'; VALUE_LEN],
            tags: b"",
            sequence_id: SequenceId::new(1),
        };
        writer.append(cell).expect("in order");
    }
    let (_, summary) = writer.finish().expect("the disk has room");
    let reader = Reader::open_file(path, ReaderOptions::default()).expect("just written");
    summary.len - reader.trailer().load_on_open_data_offset.get()
}
