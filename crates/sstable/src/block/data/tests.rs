//! Blocks walked, checked and searched in every encoding.

use super::*;
use crate::block::body::Body;
use crate::block::searchable::{RowPlace, row_hash};
use crate::encoding::{BlockEncoder, open};
use crate::{CellType, ChecksumType, Comparator, DataBlockEncoding, KeyRef, SequenceId, Timestamp};

const LAYOUT: CellLayout =
    CellLayout { tags: true, mvcc: true, compressed_tags: false, order: Comparator::Bytes };

fn cell<'a>(row: &'a [u8], qualifier: &'a [u8]) -> CellRef<'a> {
    CellRef {
        row,
        family: b"f",
        qualifier,
        timestamp: Timestamp::new(5),
        cell_type: CellType::Put,
        value: b"value",
        tags: b"\0\x02\x40t",
        sequence_id: SequenceId::new(300),
    }
}

fn unchecked(encoding: DataBlockEncoding, cells: &[CellRef<'_>]) -> DataBlock {
    let mut encoder = BlockEncoder::new(encoding, LAYOUT);
    for cell in cells {
        encoder.append(cell);
    }
    let body = encoder.finish().to_vec();
    let header =
        Header::new(BlockType::Data, body.len(), body.len(), None, ChecksumType::Null, 16_384);
    let place = BlockPlace { offset: BlockOffset::new(0), len: 0 };
    let cells = open(encoding, Body::from(body), usize::MAX).unwrap();
    DataBlock::new(place, &header, cells, LAYOUT)
}

fn block(cells: &[CellRef<'_>]) -> DataBlock {
    let block = unchecked(DataBlockEncoding::None, cells);
    block.check().unwrap();
    block
}

/// Where the cell behind the first one starts.
fn second(block: &DataBlock) -> usize {
    let mut walk = block.walk().unwrap();
    block.step(&mut walk).unwrap();
    walk.position()
}

#[test]
fn cells_come_back_one_after_the_other_whether_they_were_checked_or_are() {
    let cells = [cell(b"a", b"1"), cell(b"a", b"2"), cell(b"b", b"1")];
    for encoding in DataBlockEncoding::ALL {
        let block = unchecked(encoding, &cells);
        let unchecked = [Step::SameRow, Step::NextRow];
        for steps in [unchecked, [Step::Cell, Step::Cell]] {
            let mut walk = block.walk().unwrap();
            assert_eq!(block.cell(&walk), Some(cells[0]));
            assert_eq!(block.step(&mut walk), Ok(steps[0]));
            assert_eq!(block.cell(&walk), Some(cells[1]));
            assert_eq!(block.step(&mut walk), Ok(steps[1]));
            assert_eq!(block.step(&mut walk), Ok(Step::End));
            assert_eq!(block.cell(&walk), Some(cells[2]));
            let searchable = block.check().unwrap();
            assert_eq!(searchable.cell_count(), 3);
            assert_eq!(searchable.first_key(), Some(cells[0].key()));
            assert_eq!(searchable.last_key(), Some(cells[2].key()));
            assert_eq!(searchable.last_cell_at(), walk.position());
        }
    }
}

#[test]
fn rows_are_found_or_their_place_is() {
    let block = block(&[cell(b"b", b"1"), cell(b"b", b"2"), cell(b"d", b"1")]);
    let block = block.check().unwrap();
    let second_row = block.last_cell_at();
    assert_eq!(block.find_row(b"a"), RowPlace::Before(0));
    assert_eq!(block.find_row(b"b"), RowPlace::Here(0));
    assert_eq!(block.find_row(b"c"), RowPlace::Before(second_row));
    assert_eq!(block.find_row(b"d"), RowPlace::Here(second_row));
    assert_eq!(block.find_row(b"e"), RowPlace::Behind);
    let starts = [b"a", b"b", b"c", b"d", b"e"].map(|row| block.row_start(row, row_hash(row)));
    assert_eq!(starts, [None, Some(0), None, Some(second_row), None]);
}

/// Their room counts from the beginning, so that a cache's budget holds.
#[test]
fn the_second_seek_makes_the_heads_and_finds_the_same() {
    let rows: Vec<_> = (0..40).map(|row| format!("row{row:02}").into_bytes()).collect();
    let cells: Vec<_> = rows.iter().map(|row| cell(row, b"q")).collect();
    for row in &rows {
        let block = block(&cells);
        let bytes = block.bytes();
        let (searchable, index) = (block.check().unwrap(), block.index.get().unwrap());
        let start = searchable.row_start(row, row_hash(row)).unwrap();
        for has_heads in [false, true] {
            assert_eq!(searchable.find_row(row), RowPlace::Here(start));
            assert_eq!(index.has_heads(), has_heads);
        }
        assert_eq!(block.bytes(), bytes);
    }
}

#[test]
fn a_seek_ends_at_the_first_cell_that_is_not_less() {
    let block = block(&[cell(b"b", b"1"), cell(b"b", b"3"), cell(b"d", b"1")]);
    let (second, block) = (second(&block), block.check().unwrap());
    let seek = |row, qualifier| block.seek(&KeyRef::before_column(row, b"f", qualifier));
    assert_eq!(seek(b"a", b"9"), Some(0));
    assert_eq!(seek(b"b", b"1"), Some(0));
    assert_eq!(seek(b"b", b"2"), Some(second));
    assert_eq!(seek(b"b", b"4"), Some(block.last_cell_at()));
    assert_eq!(block.seek(&KeyRef::after_row(b"d")), None);
}

#[test]
fn the_last_cell_before_a_place_is_found() {
    let block = block(&[cell(b"b", b"1"), cell(b"b", b"3"), cell(b"d", b"1")]);
    let (second, block) = (second(&block), block.check().unwrap());
    let before = |row, qualifier| block.last_before(&KeyRef::before_column(row, b"f", qualifier));
    assert_eq!(before(b"a", b"9"), None);
    assert_eq!(before(b"b", b"1"), None);
    assert_eq!(before(b"b", b"2"), Some(0));
    assert_eq!(before(b"b", b"4"), Some(second));
    assert_eq!(before(b"d", b"1"), Some(second));
    assert_eq!(before(b"e", b""), Some(block.last_cell_at()));
}

#[test]
fn rows_out_of_order_and_empty_blocks_are_damage_to_a_check_and_to_a_walk() {
    for encoding in DataBlockEncoding::ALL {
        // Rows of one length share bytes with each other, those of different lengths do not.
        for (first, second) in [(b"b", &b"a"[..]), (b"b", b"aa"), (b"b", b"")] {
            let cells = [cell(first, b"1"), cell(second, b"1")];
            let disordered = unchecked(encoding, &cells);
            let mut walk = disordered.walk().unwrap();
            let what = disordered.step(&mut walk).unwrap_err();
            assert!(what.contains("its row is out of order"), "{what}");
            assert_eq!(disordered.check().map(|_| ()), Err(what));
        }
        let empty = unchecked(encoding, &[]);
        assert!(empty.check().is_err());
        assert!(empty.walk().is_err());
    }
}

#[test]
fn a_stored_row_index_is_held_against_the_rows_by_a_check_and_by_a_walk() {
    let cells = [cell(b"a", b"1"), cell(b"a", b"2"), cell(b"b", b"1")];
    let mut encoder = BlockEncoder::new(DataBlockEncoding::RowIndexV1, LAYOUT);
    for cell in &cells {
        encoder.append(cell);
    }
    let sound = encoder.finish().to_vec();
    let rows_at = sound.len() - 16;
    let header = Header::new(BlockType::Data, sound.len(), 0, None, ChecksumType::Null, 16_384);
    let place = BlockPlace { offset: BlockOffset::new(0), len: 0 };
    // The first row's offset, the second's, and a row too many.
    for (at, bytes) in [(rows_at + 7, &[1][..]), (rows_at + 11, &[1]), (rows_at, &[0, 0, 0, 3])] {
        let mut body = sound.clone();
        body[at..at + bytes.len()].copy_from_slice(bytes);
        if bytes.len() == 4 {
            body.splice(rows_at + 12..rows_at + 12, [0, 0, 0, 200]);
        }
        let encoding = DataBlockEncoding::RowIndexV1;
        let cells = open(encoding, Body::from(body), usize::MAX).unwrap();
        let block = DataBlock::new(place, &header, cells, LAYOUT);
        let walked = block.walk().and_then(|mut walk| {
            while block.step(&mut walk)? != Step::End {}
            Ok(())
        });
        let expected = Err("the row index contradicts the rows".into());
        assert_eq!((walked, block.check().map(|_| ())), (expected.clone(), expected));
    }
}
