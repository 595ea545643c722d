//! For the same cells our writer produces HBase's files byte for byte.
//!
//! Only uncompressed files are compared, because compressors may choose different bytes;
//! `interop.rs` shows the compressed ones to HBase.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use sstable::{FileName, Limits, Reader, ReaderOptions, Writer, verify};
use support::fixtures::Fixture;
use support::{say, spec};

fn write(fixture: &Fixture) -> Vec<u8> {
    let options = spec::writer_options(&fixture.spec);
    let mut writer = Writer::new(Vec::new(), FileName::new(fixture.name.clone()), options)
        .expect("our writer supports the options of HBase");
    for cell in fixture.cells() {
        writer.append(cell.as_ref()).expect("our writer accepts the cells of HBase");
    }
    let (bytes, summary) = writer.finish().expect("in memory");
    assert_eq!(summary.len, bytes.len() as u64);
    assert_eq!(Some(summary.cell_count), fixture.expect["entries"].as_u64());
    bytes
}

/// Rewrites each uncompressed file; all must have the bytes of HBase.
fn rewrite(hbase: &str, fixtures: &[Fixture]) {
    let plain: Vec<_> =
        fixtures.iter().filter(|fixture| fixture.setting("compression") == "NONE").collect();
    let mut differing = Vec::new();
    for fixture in &plain {
        let (ours, theirs) = (write(fixture), fixture.bytes());
        if ours != theirs {
            let at = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
            let at = at.unwrap_or(ours.len().min(theirs.len()));
            let lens = (ours.len(), theirs.len());
            differing
                .push(format!("{} first differs at byte {at:#x} (lengths {lens:?})", fixture.name));
        }
    }
    let equal = plain.len() - differing.len();
    say(&format!("golden_write: {equal} of {} files are equal to those of {hbase}", plain.len()));
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(plain.len() >= 7, "only {} files", plain.len());
}

#[test]
fn uncompressed_files_of_hbase_are_rewritten_byte_for_byte() {
    let fixtures = Fixture::all();
    assert!(fixtures.len() >= 18, "only {} files", fixtures.len());
    rewrite("HBase 2.5", &fixtures);
}

/// Their file info has the longest cell.
#[test]
fn files_of_hbase_2_6_are_read_and_rewritten_byte_for_byte() {
    let fixtures = Fixture::all_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/hfile-2.6"));
    for fixture in &fixtures {
        let name = FileName::new(fixture.name.clone());
        let source = Arc::new(Bytes::from(fixture.bytes()));
        let found = verify(source.clone(), name.clone(), Limits::default(), |_| {});
        assert!(found.expect("readable").is_sound(), "{name}");
        let reader = Reader::open(source, name.clone(), ReaderOptions::default()).expect("sound");
        let mut scanner = reader.bulk_scanner();
        scanner.seek_to_first().expect("sound");
        for expected in fixture.cells() {
            assert_eq!(scanner.cell().map(|cell| cell.to_cell()), Some(expected), "{name}");
            scanner.advance().expect("sound");
        }
        assert!(scanner.cell().is_none(), "{name}");
        // What is inferred from the file has the same entries.
        let has_longest = reader.file_info().biggest_cell_len().is_some();
        assert_eq!(has_longest, reader.trailer().entry_count > 0, "{name}");
    }
    rewrite("HBase 2.6", &fixtures);
}
