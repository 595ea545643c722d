//! Files of Apache Hudi's own writer: sound, read cell for cell, and found by row.

use std::sync::Arc;

use bytes::Bytes;
use filter::{ErrorRate, FilterKind, Sizing};
use sstable::tools::{rebuild_filter, writer_options};
use sstable::{Error, FileName, FilterOptions, Limits, Reader, ReaderOptions, Writer, verify};
use support::hudi::HudiFile;
use support::say;
use support::sound::Sound;

fn open(file: &HudiFile) -> Reader {
    let source = Arc::new(Bytes::from(file.bytes.clone()));
    Reader::open(source, FileName::new(file.name.clone()), ReaderOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_file_of_hudi_is_sound_and_read_in_every_way() {
    let files = HudiFile::all();
    for file in &files {
        let source = Arc::new(Bytes::from(file.bytes.clone()));
        let name = FileName::new(file.name.clone());
        let found = verify(source, name, Limits::default(), |_| {}).expect("readable");
        assert_eq!(found.problems, [], "{}", file.name);
        assert!(found.totals_checked && found.cells == file.cells.len() as u64, "{}", file.name);
        let why = found.unused_filter.expect("the file has Hudi's filter");
        assert_eq!(why, "the META block bloom_filter is a Bloom filter of Hudi");
        // Scans in both directions, and gets of rows that are there and that are not.
        Sound::new(&file.name, file.bytes.clone(), file.cells.clone());
        let reader = open(file);
        let class = "org.apache.hudi.io.storage.HoodieHBaseKVComparator";
        assert_eq!(reader.trailer().comparator_class_name(), class);
        assert_eq!(reader.blocks().meta_names().count(), 4, "{}", file.name);
    }
    say(&format!("formats: {} of {0} files of Hudi are read", files.len()));
    assert_eq!(files.len(), 12);
}

#[test]
fn no_lookup_asks_the_filter_of_hudi() {
    for file in HudiFile::all().iter().filter(|file| !file.cells.is_empty()) {
        let row = [file.cells[0].row(), b"!"].concat();
        let found = open(file).row(&row).expect("sound");
        assert!(found.cell().is_none());
        let trace = found.trace();
        assert_eq!((trace.filter_checks, trace.filters_unreadable), (0, 0), "{}", file.name);
    }
}

/// HBase has no cells without a family.
#[test]
fn cells_of_hudi_are_not_written_into_a_file_of_hbase() {
    let file = HudiFile::all().pop().expect("one");
    let options = writer_options(&open(&file), &[]).expect("sound");
    let name = FileName::new("rewritten");
    let mut writer = Writer::new(Vec::new(), name, options).expect("sound options");
    let error = writer.append(file.cells[0].as_ref()).expect_err("refused").to_string();
    assert!(error.contains("has no family"), "{error}");
}

#[test]
fn a_filter_is_not_put_into_a_file_of_hudi() {
    let file = HudiFile::all().pop().expect("one");
    let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
    let filter = FilterOptions::new(FilterKind::BlockedBloom, sizing);
    let source = Arc::new(Bytes::from(file.bytes));
    let name = FileName::new(file.name);
    let error = rebuild_filter(source, name, Limits::default(), Some(filter), &[], Vec::new());
    let error = error.expect_err("refused");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("Hudi"), "{error}");
}
