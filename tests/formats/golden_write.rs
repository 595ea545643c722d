//! For the same cells our writer produces HBase's files byte for byte.
//!
//! Only uncompressed files are compared, because compressors may choose different bytes;
//! `interop.rs` shows the compressed ones to HBase.

use sstable::{FileName, Writer};
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

#[test]
fn uncompressed_files_of_hbase_are_rewritten_byte_for_byte() {
    let fixtures: Vec<_> = Fixture::all()
        .into_iter()
        .filter(|fixture| fixture.setting("compression") == "NONE")
        .collect();
    let mut differing = Vec::new();
    for fixture in &fixtures {
        let (ours, theirs) = (write(fixture), fixture.bytes());
        if ours != theirs {
            let at = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
            let at = at.unwrap_or(ours.len().min(theirs.len()));
            let lens = (ours.len(), theirs.len());
            differing
                .push(format!("{} first differs at byte {at:#x} (lengths {lens:?})", fixture.name));
        }
    }
    let equal = fixtures.len() - differing.len();
    say(&format!("golden_write: {equal} of {} files are equal to HBase's", fixtures.len()));
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(fixtures.len() >= 18, "only {} files", fixtures.len());
}
