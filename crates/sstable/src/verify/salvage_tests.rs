use std::sync::Arc;

use bytes::Bytes;
use cells::{CellRef, FileName, Timestamp};

use crate::error::Error;
use crate::file::options::ReaderOptions;
use crate::reader::Reader;
use crate::verify::salvage;
use crate::write::{Writer, WriterOptions};

/// Returns a file of three blocks, and the offset of the second block.
///
/// The first block has one cell with a value of this length.
fn with_a_long_first_block(value_len: usize) -> (Vec<u8>, usize) {
    let options = WriterOptions::default().block_size(100);
    let mut writer = Writer::new(Vec::new(), FileName::new("file"), options).unwrap();
    let short = [7; 100];
    for (row, value) in [("a", &*vec![0; value_len]), ("b", &short), ("c", &short)] {
        writer.append(CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), value)).unwrap();
    }
    let bytes = writer.finish().unwrap().0;
    let second = open(&bytes).blocks().headers().nth(1).unwrap().unwrap().0;
    (bytes, usize::try_from(second.get()).unwrap())
}

fn open(bytes: &[u8]) -> Reader {
    let source = Arc::new(Bytes::copy_from_slice(bytes));
    Reader::open(source, FileName::new("file"), ReaderOptions::default()).unwrap()
}

/// The search for the next block reads windows of growing length.
#[test]
fn the_next_sound_block_is_found_wherever_it_begins_in_a_window() {
    for window_end in [1 << 14, (1 << 14) + (1 << 16), (1 << 14) + (1 << 16) + (1 << 18)] {
        // With its header and the checksums, the block is longer than the value.
        let shortest = window_end - window_end / 4096 - 150;
        let mut offsets = Vec::new();
        for value_len in shortest..window_end {
            let (mut bytes, second) = with_a_long_first_block(value_len);
            if second < window_end - 20 {
                continue;
            }
            if second > window_end + 10 {
                break;
            }
            offsets.push(second);
            bytes[0] ^= 1;
            let mut rows = Vec::new();
            let lost = salvage(&open(&bytes), |cell| {
                rows.push(cell.row.to_vec());
                Ok::<(), Error>(())
            });
            let lens: Vec<_> = lost.unwrap().iter().map(|lost| lost.len).collect();
            assert_eq!(lens, [second as u64], "the second block is at {second}");
            assert_eq!(rows, [b"b", b"c"], "the second block is at {second}");
        }
        assert!(offsets.len() > 25, "blocks at {offsets:?}");
    }
}
