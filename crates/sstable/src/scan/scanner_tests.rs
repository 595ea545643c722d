use super::*;
use crate::block::BlockHeader;
use crate::file::options::ReaderOptions;
use crate::reader::tests::{open, row, write};
use crate::write::WriterOptions;

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

/// Reads up to the end or to an error. Returns the number of cells, and the error.
fn read_on(scanner: &mut Scanner) -> (u64, Result<()>) {
    let (mut count, mut outcome) = (0, scanner.seek_to_first());
    while outcome.is_ok() && scanner.cell().is_some() {
        count += 1;
        outcome = scanner.advance();
    }
    (count, outcome)
}

#[test]
fn a_bounded_scan_finds_a_cell_that_belongs_to_another_block() {
    let (bytes, behind) = with_a_cell_past_its_block();
    let reader = open(&bytes, ReaderOptions::default());
    let scanners =
        || [reader.scanner(Caching::Use), reader.scanner(Caching::Bypass), reader.bulk_scanner()];
    for (bounded, unbounded) in scanners().into_iter().zip(scanners()) {
        // The cell ends the scan; the cells between this block and the end of the scan would be missing.
        let mut until = bounded.until(KeyRef::before_row(&row(1000)));
        let (count, outcome) = read_on(&mut until);
        let error = outcome.expect_err("the cell is past the block's range");
        assert!(error.to_string().contains("greater than the index"), "{error}");
        assert!(until.cell().is_none(), "no cell after an error");
        // The scan returns the cell, and ends at it.
        let (limited, outcome) = read_on(&mut unbounded.limit(count + 1));
        assert_eq!(limited, count + 1);
        outcome.expect_err("the last cell is past the block's range");
    }
    let mut seeks = reader.scanner(Caching::Bypass).until(KeyRef::after_row(&behind));
    seeks.seek_to_first().expect("the first block is sound");
    while seeks.cell().expect("the cell is not reached yet").row != behind {
        seeks.advance().expect("cells of the two blocks");
    }
    seeks.seek(KeyRef::after_row(&behind)).expect_err("a seek to the end also checks the cell");
}

#[test]
fn a_row_that_ends_at_a_cell_of_another_block_is_damaged() {
    let (bytes, behind) = with_a_cell_past_its_block();
    let reader = open(&bytes, ReaderOptions::default());
    let mut scanner = reader.scanner(Caching::Bypass);
    scanner.seek_to_first().expect("the first block is sound");
    let mut last = Vec::new();
    while let Some(cell) = scanner.cell().filter(|cell| cell.row != behind) {
        last = cell.row.to_vec();
        scanner.advance().expect("cells of the two blocks");
    }
    let mut cells = reader.row(&last).expect("the first cell of the row is sound");
    assert!(cells.cell().is_some_and(|cell| cell.row == last));
    let error = cells.advance().expect_err("the second cell of the row is not there");
    assert!(error.to_string().contains("greater than the index"), "{error}");
    assert!(cells.cell().is_none(), "no cell after an error");
}

#[test]
fn a_bounded_scan_of_a_sound_file_ends_before_its_stop_or_after_its_limit() {
    let reader = open(&write(WriterOptions::default().block_size(300)), ReaderOptions::default());
    for count in [0, 1, 2, 27, 28, 29, 500] {
        for scanner in [reader.scanner(Caching::Bypass), reader.bulk_scanner()] {
            let (found, outcome) = read_on(&mut scanner.limit(count));
            outcome.expect("a sound file");
            assert_eq!(found, count);
        }
    }
    // Two cells a row, whose numbers are even.
    let (stop, longer) = (row(100), vec![b'z'; 40_000]);
    for (key, expected) in [
        (KeyRef::before_row(b""), 0),
        (KeyRef::before_row(&stop), 100),
        (KeyRef::before_column(&stop, b"f", b"b"), 101),
        (KeyRef::after_row(&stop), 102),
        (KeyRef::before_row(&longer), reader.trailer().entry_count),
    ] {
        let scanner = reader.scanner(Caching::Bypass).until(key);
        let (found, outcome) = read_on(&mut scanner.until(KeyRef::before_row(&longer)));
        outcome.expect("a sound file");
        assert_eq!(found, expected, "{key}");
    }
}

/// Returns a file with rows of 1 to 12 cells, of which some rows go over the end of a block.
fn with_rows_of_all_lengths(encoding: crate::encoding::DataBlockEncoding) -> Vec<u8> {
    let options = WriterOptions::default().block_size(200).data_block_encoding(encoding);
    let mut writer = crate::write::Writer::new(Vec::new(), cells::FileName::new("rows"), options)
        .expect("valid options");
    for number in 0..40 {
        for column in 0..=number % 12 {
            let (row, qualifier) = (row(number), format!("q{column:02}"));
            let time = cells::Timestamp::new(1);
            let cell = CellRef::put(&row, b"f", qualifier.as_bytes(), time, b"value");
            writer.append(cell).expect("cells in order");
        }
    }
    writer.finish().expect("in memory").0
}

/// The model is a number of a cell; `None` before the first and after the last one.
#[test]
fn steps_and_seeks_in_any_order_reach_the_cells_that_a_pass_shows() {
    for encoding in crate::encoding::DataBlockEncoding::ALL {
        let reader = open(&with_rows_of_all_lengths(encoding), crate::reader::tests::cached());
        let mut all = Vec::new();
        let mut pass = reader.scanner(Caching::Bypass);
        pass.seek_to_first().expect("sound");
        while let Some(cell) = pass.cell() {
            all.push(cell.to_cell());
            pass.advance().expect("sound");
        }
        // A bounded scanner has the cells before its end.
        let (end, middle_of_row) = (all.len(), all.len() * 2 / 3);
        let row_start = all.partition_point(|cell| cell.row() < all[middle_of_row].row());
        let mut state = 0x5eed_u64;
        let mut below = |count: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            usize::try_from(state >> 33).expect("31 bits") % count
        };
        let scanners = || {
            [reader.scanner(Caching::Use), reader.scanner(Caching::Bypass), reader.bulk_scanner()]
        };
        let rows_end = KeyRef::before_row(all[row_start].row());
        let ends = [(end, None), (middle_of_row, Some(all[middle_of_row].as_ref().key()))];
        let ends = ends.into_iter().chain([(row_start, Some(rows_end))]);
        for (mut scanner, (end, stop)) in ends.flat_map(|end| scanners().map(|one| (one, end))) {
            if let Some(stop) = stop {
                scanner = scanner.until(stop);
            }
            let cells = &all[..end];
            let mut at = None::<usize>;
            for step in 0..3000 {
                let number = below(all.len());
                let key = all[number].as_ref().key();
                let name = match below(40) {
                    0 => scanner
                        .seek(key)
                        .map(|()| (at = Some(number).filter(|at| *at < end), "seek").1),
                    1 => scanner
                        .seek_before(key)
                        .map(|()| (at = number.min(end).checked_sub(1), "seek before").1),
                    2 => scanner.seek_to_first().map(|()| (at = Some(0), "first").1),
                    3 => scanner.seek_to_last().map(|()| (at = Some(cells.len() - 1), "last").1),
                    // Often the row of the call before, as in a scan from row to row.
                    4..12 => {
                        let bound = at.filter(|_| number % 4 > 0).unwrap_or(number);
                        let row = (number % 40 > 0).then(|| all[bound].row());
                        let is_before = |cell: &cells::Cell| row.is_none_or(|row| cell.row() < row);
                        let last = cells.iter().rfind(|cell| is_before(cell)).map(cells::Cell::row);
                        at = last.and_then(|last| cells.iter().position(|cell| cell.row() == last));
                        scanner.seek_row_before(row).map(|()| {
                            let ends = at.is_some_and(|at| {
                                cells.get(at + 1).is_none_or(|next| next.row() != cells[at].row())
                            });
                            assert!(ends || !scanner.is_at_row_end(), "{encoding:?}, step {step}");
                            "seek row before"
                        })
                    }
                    12..26 => scanner.advance().map(|()| {
                        at = at.map(|at| at + 1).filter(|at| *at < cells.len());
                        "advance"
                    }),
                    _ => scanner.retreat().map(|()| {
                        at = at.and_then(|at| at.checked_sub(1));
                        "retreat"
                    }),
                };
                let name = name.expect("a sound file");
                let expected = at.map(|at| cells[at].as_ref());
                assert_eq!(scanner.cell(), expected, "{encoding:?}, step {step}: {name}");
            }
        }
    }
}
