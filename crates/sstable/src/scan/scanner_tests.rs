use super::*;
use crate::reader::tests::{open, row, write};
use crate::{BlockHeader, ReaderOptions, WriterOptions};

/// Returns a file whose second block ends with a cell past the block's range, and the cell's row.
fn with_a_cell_past_its_block() -> (Vec<u8>, Vec<u8>) {
    let mut bytes = write(WriterOptions::default().block_size(300));
    let reader = open(&bytes, ReaderOptions::default());
    let (at, header): (_, BlockHeader) =
        reader.blocks().headers().nth(1).expect("a second block").expect("our own file");
    let start = usize::try_from(at.get()).expect("a short file");
    let end = start + usize::try_from(header.on_disk_data_size_with_header).expect("a short block");
    let mut scanner = reader.scanner(Caching::Use);
    scanner.seek_to_first().expect("sound");
    let mut rows = Vec::new();
    while let Some(cell) = scanner.cell().filter(|_| rows.len() < 200) {
        rows.push(cell.row.to_vec());
        scanner.advance().expect("sound");
    }
    let is_in_block =
        |row: &&Vec<u8>| bytes[start..end].windows(row.len()).any(|window| window == **row);
    let last = rows.iter().rfind(is_in_block).expect("rows of the block").clone();
    // Changes only the second cell of the last row, so that the block stays in order.
    let place = bytes[start..end]
        .windows(last.len())
        .rposition(|window| window == last)
        .expect("the row is in the block");
    let behind = row(5000);
    bytes[start + place..start + place + behind.len()].copy_from_slice(&behind);
    let mut sums = bytes[start..end].to_vec();
    header.checksum_type.append(&mut sums, 0, header.bytes_per_checksum);
    let sums = sums.split_off(end - start);
    bytes[end..end + sums.len()].copy_from_slice(&sums);
    (bytes, behind)
}

#[test]
fn check_place_finds_a_cell_that_belongs_to_another_block() {
    let (bytes, behind) = with_a_cell_past_its_block();
    let reader = open(&bytes, ReaderOptions::default());
    for mut scanner in [reader.scanner(Caching::Bypass), reader.bulk_scanner()] {
        scanner.seek_to_first().expect("the first block is sound");
        while scanner.cell().is_some_and(|cell| cell.row != behind) {
            scanner.check_place().expect("a cell in its place");
            scanner.advance().expect("cells of the two blocks");
        }
        assert!(scanner.cell().is_some(), "the scan returns the cell");
        let error = scanner.check_place().expect_err("the cell is past the block's range");
        assert!(error.to_string().contains("greater than the index"), "{error}");
        // A scan that continues gets the error at the end of the block.
        assert!(scanner.advance().is_err());
    }
}
