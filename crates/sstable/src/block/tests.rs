//! Data blocks iterated, decoded and searched, in every encoding.

use cells::{BlockOffset, CellRef, CellType, Comparator, KeyRef, SequenceId, Timestamp};

use super::data::DataBlock;
use super::decoded::DecodedBlock;
use super::encoded::EncodedBlock;
use super::index_entry::BlockHandle;
use super::origin::BlockIdentity;
use super::row_index::{RowIndexKind, RowPosition};
use super::row_table::row_hash;
use crate::buffers::{Body, Buffers};
use crate::encoding::{
    BlockEncoder, CellLayout, Cells, CursorMove, DamageReason, DataBlockEncoding,
};
use crate::error::BlockType;

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

const ORIGIN: BlockIdentity = BlockIdentity {
    handle: BlockHandle { offset: BlockOffset::new(0), len: 0 },
    block_type: BlockType::Data,
    previous: None,
};

fn encoded(encoding: DataBlockEncoding, cells: &[CellRef<'_>]) -> EncodedBlock {
    let mut encoder = BlockEncoder::new(encoding, LAYOUT);
    for cell in cells {
        encoder.append(cell);
    }
    with_body(encoding, encoder.finish().to_vec())
}

fn with_body(encoding: DataBlockEncoding, body: Vec<u8>) -> EncodedBlock {
    let cells = Cells::open(encoding, Body::from(body), usize::MAX).unwrap();
    EncodedBlock::new(ORIGIN, cells, LAYOUT)
}

fn decode(block: EncodedBlock) -> Result<DecodedBlock, DamageReason> {
    block.decode(RowIndexKind::ByHash, &mut Buffers::default())
}

fn block(cells: &[CellRef<'_>]) -> DecodedBlock {
    decode(encoded(DataBlockEncoding::None, cells)).unwrap()
}

/// The offset of the second cell.
fn second(block: &DecodedBlock) -> usize {
    let mut cursor = block.cursor();
    assert!(block.advance(&mut cursor));
    cursor.position()
}

#[test]
fn cursors_return_all_cells_of_a_block_in_either_state() {
    let cells = [cell(b"a", b"1"), cell(b"a", b"2"), cell(b"b", b"1")];
    for encoding in DataBlockEncoding::ALL {
        let block = encoded(encoding, &cells);
        let mut cursor = block.cursor().unwrap();
        assert_eq!(block.cell(&cursor), cells[0]);
        assert_eq!(block.step(&mut cursor), Ok(CursorMove::SameRow));
        assert_eq!(block.cell(&cursor), cells[1]);
        assert_eq!(block.step(&mut cursor), Ok(CursorMove::NextRow));
        assert_eq!(block.step(&mut cursor), Ok(CursorMove::End));
        assert_eq!(block.cell(&cursor), cells[2]);
        let last_cell_at = cursor.position();

        let copy = block.decode_copy(RowIndexKind::ByHash, &mut Buffers::default()).unwrap();
        let by_order = block.decode_copy(RowIndexKind::ByOrder, &mut Buffers::default()).unwrap();
        for decoded in [copy, by_order, decode(block).unwrap()] {
            let mut cursor = decoded.cursor();
            for (number, cell) in cells.iter().enumerate() {
                assert_eq!(decoded.cell(&cursor), *cell);
                assert_eq!(decoded.advance(&mut cursor), number + 1 < cells.len());
            }
            assert_eq!(decoded.cell(&cursor), cells[2]);
            assert_eq!(decoded.cell_count(), 3);
            assert_eq!(decoded.first_key(), cells[0].key());
            assert_eq!(decoded.last_key(), cells[2].key());
            assert_eq!(decoded.last_cell_at(), last_cell_at);
            assert_eq!(decoded.row_start(b"b", row_hash(b"b")), Some(last_cell_at));
        }
    }
}

/// The size of a cached block must not change.
#[test]
fn a_shared_block_is_decoded_into_a_copy() {
    let cells = [cell(b"a", b"1"), cell(b"b", b"1")];
    for encoding in DataBlockEncoding::ALL {
        let cached = std::sync::Arc::new(encoded(encoding, &cells));
        let bytes = cached.bytes();
        let held = DataBlock::Encoded(std::sync::Arc::clone(&cached));
        let decoded = held.into_decoded(&mut Buffers::default()).unwrap();
        assert_eq!(decoded.first_key(), cells[0].key());
        assert_eq!(cached.bytes(), bytes);
        assert_eq!(cached.cell(&cached.cursor().unwrap()), cells[0]);
        let own = DataBlock::Encoded(cached).into_decoded(&mut Buffers::default()).unwrap();
        assert_eq!(own.last_key(), cells[1].key());
    }
}

#[test]
#[should_panic(expected = "where no checked cell is")]
fn a_cursor_between_cells_is_a_broken_invariant() {
    let block = block(&[cell(b"b", b"1"), cell(b"d", b"1")]);
    let _ = block.cursor_at(second(&block) + 1);
}

#[test]
#[should_panic(expected = "a checked cell starts here")]
fn a_cell_between_cells_is_a_broken_invariant() {
    let block = block(&[cell(b"b", b"1"), cell(b"d", b"1")]);
    let _ = block.cell_at(second(&block) + 1);
}

#[test]
#[should_panic(expected = "past the end of a block")]
fn a_step_past_the_end_of_a_block_is_a_broken_invariant() {
    let (long, short) = (block(&[cell(b"b", b"1"), cell(b"d", b"1")]), block(&[cell(b"b", b"1")]));
    let mut cursor = long.cursor();
    assert!(long.advance(&mut cursor));
    short.advance(&mut cursor);
}

#[test]
#[should_panic(expected = "used with another block")]
fn a_cursor_of_another_block_is_a_broken_invariant() {
    let cells = [cell(b"b", b"1"), cell(b"d", b"1")];
    let mut cursor = encoded(DataBlockEncoding::None, &cells).cursor().unwrap();
    let _ = encoded(DataBlockEncoding::FastDiff, &cells).step(&mut cursor);
}

#[test]
fn find_row_returns_the_position_of_a_row_or_of_its_successor() {
    let block = block(&[cell(b"b", b"1"), cell(b"b", b"2"), cell(b"d", b"1")]);
    let second_row = block.last_cell_at();
    assert_eq!(block.find_row(b"a"), RowPosition::Next(0));
    assert_eq!(block.find_row(b"b"), RowPosition::At(0));
    assert_eq!(block.find_row(b"c"), RowPosition::Next(second_row));
    assert_eq!(block.find_row(b"d"), RowPosition::At(second_row));
    assert_eq!(block.find_row(b"e"), RowPosition::AfterAll);
    let starts = [b"a", b"b", b"c", b"d", b"e"].map(|row| block.row_start(row, row_hash(row)));
    assert_eq!(starts, [None, Some(0), None, Some(second_row), None]);
}

/// The size includes the digits from the start, so that a cached block does not grow.
#[test]
fn the_second_seek_builds_the_digits() {
    let rows: Vec<_> = (0..40).map(|row| format!("row{row:02}").into_bytes()).collect();
    let cells: Vec<_> = rows.iter().map(|row| cell(row, b"q")).collect();
    for row in &rows {
        let block = block(&cells);
        let bytes = block.bytes();
        let start = block.row_start(row, row_hash(row)).unwrap();
        for has_digits in [false, true] {
            assert_eq!(block.find_row(row), RowPosition::At(start));
            assert_eq!(block.has_digits(), has_digits);
        }
        assert_eq!(block.bytes(), bytes);
    }
}

#[test]
fn seek_returns_the_first_cell_that_is_not_less() {
    let block = block(&[cell(b"b", b"1"), cell(b"b", b"3"), cell(b"d", b"1")]);
    let second = second(&block);
    let seek = |row, qualifier| block.seek(&KeyRef::before_column(row, b"f", qualifier));
    assert_eq!(seek(b"a", b"9"), Some(0));
    assert_eq!(seek(b"b", b"1"), Some(0));
    assert_eq!(seek(b"b", b"2"), Some(second));
    assert_eq!(seek(b"b", b"4"), Some(block.last_cell_at()));
    assert_eq!(block.seek(&KeyRef::after_row(b"d")), None);
}

#[test]
fn last_before_returns_the_last_smaller_cell() {
    let block = block(&[cell(b"b", b"1"), cell(b"b", b"3"), cell(b"d", b"1")]);
    let second = second(&block);
    let before = |row, qualifier| block.last_before(&KeyRef::before_column(row, b"f", qualifier));
    assert_eq!(before(b"a", b"9"), None);
    assert_eq!(before(b"b", b"1"), None);
    assert_eq!(before(b"b", b"2"), Some(0));
    assert_eq!(before(b"b", b"4"), Some(second));
    assert_eq!(before(b"d", b"1"), Some(second));
    assert_eq!(before(b"e", b""), Some(block.last_cell_at()));
}

#[test]
fn rows_out_of_order_and_empty_blocks_are_damage_in_either_state() {
    for encoding in DataBlockEncoding::ALL {
        // Rows of equal length can share bytes; rows of different lengths do not.
        for (first, second) in [(b"b", &b"a"[..]), (b"b", b"aa"), (b"b", b"")] {
            let cells = [cell(first, b"1"), cell(second, b"1")];
            let disordered = encoded(encoding, &cells);
            let mut cursor = disordered.cursor().unwrap();
            let what = disordered.step(&mut cursor).unwrap_err();
            assert!(what.contains("its row is out of order"), "{what}");
            assert_eq!(decode(disordered).map(|_| ()), Err(what));
        }
        let empty = encoded(encoding, &[]);
        assert!(empty.cursor().is_err());
        assert!(decode(empty).is_err());
    }
}

#[test]
fn a_stored_row_index_is_compared_with_the_rows_in_either_state() {
    let cells = [cell(b"a", b"1"), cell(b"a", b"2"), cell(b"b", b"1")];
    let mut encoder = BlockEncoder::new(DataBlockEncoding::RowIndexV1, LAYOUT);
    for cell in &cells {
        encoder.append(cell);
    }
    let sound = encoder.finish().to_vec();
    let rows_at = sound.len() - 16;
    // The offset of the first row, of the second, and an extra row.
    for (at, bytes) in [(rows_at + 7, &[1][..]), (rows_at + 11, &[1]), (rows_at, &[0, 0, 0, 3])] {
        let mut body = sound.clone();
        body[at..at + bytes.len()].copy_from_slice(bytes);
        if bytes.len() == 4 {
            body.splice(rows_at + 12..rows_at + 12, [0, 0, 0, 200]);
        }
        let block = with_body(DataBlockEncoding::RowIndexV1, body);
        let stepped = block.cursor().and_then(|mut cursor| block.go_to_last(&mut cursor));
        let expected = Err("the row index contradicts the rows".into());
        assert_eq!((stepped, decode(block).map(|_| ())), (expected.clone(), expected));
    }
}
