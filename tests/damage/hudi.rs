//! Damaged files of Apache Hudi, which have no checksums: a scan returns all cells or an error.
//!
//! Changed values go unnoticed without checksums, and so do keys of the index in a get, as in files of
//! HBase of the checksum type NULL. So the cells themselves are not changed here, and files are scanned.

use std::sync::Arc;

use bytes::Bytes;
use sstable::{BlockType, Cell, FileName, Limits, Result, verify};
use support::cells::scan_all;
use support::hudi::HudiFile;
use support::say;
use support::sound::{Sound, open};

fn scanned(bytes: &[u8]) -> Result<Vec<Cell>> {
    scan_all(&mut open(bytes.to_vec())?.bulk_scanner())
}

/// Returns which bytes are not of cells: headers, META blocks, indexes, file info and trailer.
fn structure(file: &HudiFile) -> Vec<usize> {
    let reader = open(file.bytes.clone()).unwrap();
    let mut is_cell = vec![false; file.bytes.len()];
    for block in reader.blocks().headers() {
        let (at, header) = block.unwrap();
        if header.block_type == BlockType::Data {
            let (start, len) = (at.get() as usize, header.len() as usize);
            is_cell[start + 33..start + len].fill(true);
        }
    }
    // The padding of the trailer is not read.
    let trailer = file.bytes.len() - 4096;
    let message_end = trailer + 9 + usize::from(file.bytes[trailer + 8]);
    is_cell[message_end..file.bytes.len() - 4].fill(true);
    (0..file.bytes.len()).filter(|at| !is_cell[*at]).collect()
}

#[test]
fn a_scan_of_a_changed_file_of_hudi_has_all_cells_or_is_an_error() {
    let (mut refused, mut right) = (0, 0);
    for file in HudiFile::all() {
        let places = structure(&file);
        // An odd step visits all bit positions of a byte.
        let step = (places.len() * 8).div_ceil(4000) | 1;
        for bit in (0..places.len() * 8).step_by(step) {
            let mut bytes = file.bytes.clone();
            bytes[places[bit / 8]] ^= 1 << (bit % 8);
            match scanned(&bytes) {
                Ok(cells) => {
                    assert!(cells == file.cells, "{}: bit {bit}: other cells", file.name);
                    right += 1;
                }
                Err(_) => refused += 1,
            }
        }
    }
    say(&format!("corrupt: files of Hudi: {refused} changes refused, {right} without effect"));
    assert!(refused > 5_000, "{refused}");
}

/// Each byte of the index and of the last key in the file info.
#[test]
fn a_changed_index_or_last_key_of_hudi_is_named_by_verify_or_changes_no_answer() {
    let mut named = 0;
    for file in HudiFile::all().iter().filter(|file| file.name.ends_with("none.hfile")) {
        let reader = open(file.bytes.clone()).unwrap();
        let Some(last) = file.cells.last() else { continue };
        let sound = Sound::new(&file.name, file.bytes.clone(), file.cells.clone());
        let last = [&(last.row().len() as u16).to_be_bytes(), last.row()].concat();
        let info = reader.trailer().file_info_offset.get() as usize;
        let found = file.bytes[info..].windows(last.len()).position(|bytes| bytes == last);
        let last_at = info + found.expect("the file info has the last row");
        let index = reader.trailer().load_on_open_data_offset.get() as usize;
        let mut index_len = reader.blocks().headers().map(Result::unwrap);
        let index_len = index_len.find(|(at, _)| at.get() as usize == index).unwrap().1.len();
        let places =
            (last_at..last_at + last.len()).chain(index + 33..index + index_len as usize - 4);
        for at in places {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = file.bytes.clone();
                bytes[at] ^= change;
                let source = Arc::new(Bytes::from(bytes.clone()));
                let found = verify(source, FileName::new("changed"), Limits::default(), |_| {});
                // A key between the last row of a block and the first of the next is as good.
                if found.unwrap().is_sound() {
                    sound.judge(bytes, &format!("byte {at} ^ {change}")).unwrap();
                } else {
                    named += 1;
                }
            }
        }
    }
    say(&format!("corrupt: files of Hudi: {named} changes of keys are named by verify"));
    assert!(named > 5_000, "{named}");
}

/// A name that no writer has: the keys are those of HBase.
#[test]
fn a_short_key_under_another_name_of_the_order_is_damage() {
    let hudi = b"org.apache.hudi.io.storage.HoodieHBaseKVComparator";
    // Of the same length, so that the message keeps its lengths.
    let hbase = b"org.apache.hadoop.hbase.KeyValue$RawBytesComparator";
    for file in HudiFile::all().iter().filter(|file| !file.cells.is_empty()) {
        let at = file.bytes.windows(hudi.len()).position(|bytes| bytes == hudi).unwrap();
        // One byte shorter: the field and the message become one byte longer.
        let mut bytes = file.bytes[..at].to_vec();
        bytes[at - 1] += 1;
        bytes.extend_from_slice(hbase);
        bytes.extend_from_slice(&file.bytes[at + hudi.len()..]);
        let trailer = file.bytes.len() - 4096;
        bytes[trailer + 8] += 1;
        bytes.remove(bytes.len() - 5);
        let error = scanned(&bytes).expect_err("refused").to_string();
        assert!(error.contains("key") || error.contains("META"), "{}: {error}", file.name);
    }
}
