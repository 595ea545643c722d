//! Sorts the cells of each row, of an input whose rows ascend.

use std::cmp::Ordering;
use std::collections::VecDeque;

use cells::escape;
use sstable::{Cell, Comparator, Error};

use super::buffer::{Buffer, CHUNK_CELLS};
use super::order::{check_cancelled, compare};
use crate::error::{CellProblem, Error as TransferError, Result};
use crate::input::Input;
use crate::progress::Observer;

/// The cells of an input, sorted within each row.
pub(super) struct RowSorter<'i> {
    input: &'i mut Input,
    order: Comparator,
    observer: &'i dyn Observer,
    /// The cells of the row that are not yet returned, sorted.
    row: VecDeque<Cell>,
    /// The first cell of the next row.
    next: Option<Cell>,
}

impl<'i> RowSorter<'i> {
    pub(super) const fn new(
        input: &'i mut Input,
        order: Comparator,
        observer: &'i dyn Observer,
    ) -> Self {
        Self { input, order, observer, row: VecDeque::new(), next: None }
    }

    /// Reads the cells of the next row into `row`, and the cell after them.
    ///
    /// Of equal cells, the later one comes first.
    fn read_row(&mut self) -> Result<()> {
        let first = match self.next.take() {
            Some(first) => first,
            None => match self.input.next() {
                Some(first) => first?,
                None => return Ok(()),
            },
        };
        self.row.push_front(first);
        for read in &mut *self.input {
            // A row can have millions of cells.
            check_cancelled(self.observer)?;
            let cell = read?;
            let last = self.row.front().expect("the first cell was pushed");
            match self.order.compare_rows(last.row(), cell.row()) {
                Ordering::Equal => self.row.push_front(cell),
                Ordering::Less => {
                    self.next = Some(cell);
                    break;
                }
                Ordering::Greater => return Err(out_of_order(self.input, last, &cell)),
            }
        }
        let order = self.order;
        if self.row.len() <= CHUNK_CELLS {
            let cells = self.row.make_contiguous();
            cells.sort_by(|one, other| compare(order, &one.as_ref(), &other.as_ref()));
            return Ok(());
        }
        let mut buffer = Buffer::default();
        self.row.drain(..).rev().for_each(|cell| buffer.push(cell));
        for cell in buffer.into_sorted(order, self.observer)? {
            check_cancelled(self.observer)?;
            self.row.push_back(cell);
        }
        Ok(())
    }
}

impl Iterator for RowSorter<'_> {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.row.is_empty()
            && let Err(error) = self.read_row()
        {
            self.row.clear();
            return Some(Err(error));
        }
        self.row.pop_front().map(Ok)
    }
}

/// The error for a row that sorts before the row of `last`.
fn out_of_order(input: &Input, last: &Cell, cell: &Cell) -> TransferError {
    let line = input.line_number();
    let (row, before) = (escape(cell.row()), escape(last.row()));
    let error = Error::Invalid {
        file: line.file().unwrap_or_else(|| input.name().clone()),
        what: format!("{line}: row {row} comes after row {before}, but sorts before it"),
    };
    TransferError::Cell { error, problem: CellProblem::OutOfOrder }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use cells::ndjson;
    use sstable::{CellRef, Timestamp};

    use crate::columns::ColumnOptions;
    use crate::csv::CsvOptions;
    use crate::input::{InputFormat, InputOptions};
    use crate::{ColumnFamily, Sorting};

    use super::*;

    /// A cell of column `q`.
    fn cell<'c>(row: &'c str, family: &'c str, ts: i64, value: &'c str) -> CellRef<'c> {
        let timestamp = Timestamp::new(ts);
        CellRef::put(row.as_bytes(), family.as_bytes(), b"q", timestamp, value.as_bytes())
    }

    fn sorted(cells: &[CellRef<'_>], sorting: &Sorting) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for cell in cells {
            ndjson::write_cell(&mut lines, cell).expect("memory takes it");
        }
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), lines).expect("disk takes it");
        let options = InputOptions {
            format: InputFormat::Cells,
            paths: vec![file.path().to_owned()],
            is_dry_run: false,
            columns: ColumnOptions::default(),
            csv: CsvOptions::default(),
        };
        let mut input = options.open(ColumnFamily::Unknown, Timestamp::new(1), 1)?;
        let mut lines = Vec::new();
        for read in sorting.sort(&mut input, Comparator::Bytes, &())?.cells {
            let cell = read?;
            lines.push(format!("{:?} {:?}", cell.as_ref(), cell.value()));
        }
        Ok(lines)
    }

    /// With later values for equal cells, older times after newer ones, and families in any order.
    #[test]
    fn the_cells_of_each_row_are_sorted_as_all_are() {
        let cells = [
            cell("a", "f", 1, "1"),
            cell("b", "f", 1, "2"),
            cell("b", "f", 7, "3"),
            cell("b", "f", 1, "4"),
            cell("c", "f", 5, "5"),
            cell("c", "f", 5, "6"),
            cell("d", "f", 5, "7"),
        ];
        let all = Sorting::All { memory: 1 << 20, directory: None };
        let expected = sorted(&cells, &all).expect("sound cells");
        assert_eq!(sorted(&cells, &Sorting::WithinRows).expect("rows ascend"), expected);

        let of_two_families =
            [cell("a", "g", 1, "1"), cell("a", "f", 1, "2"), cell("b", "f", 1, "3")];
        let found = sorted(&of_two_families, &Sorting::WithinRows).expect("rows ascend");
        let expected = sorted(&of_two_families[1..2], &all).expect("a sound cell");
        assert_eq!((found.len(), &found[..1]), (3, &expected[..]));
    }

    /// Rows below, at and above the cells of a chunk, and in memory or on disk: all sorts agree.
    #[test]
    fn of_equal_cells_the_later_one_comes_first_however_many_cells_the_row_has() {
        for count in [2, CHUNK_CELLS - 1, CHUNK_CELLS, CHUNK_CELLS + 1, 2 * CHUNK_CELLS + 1] {
            let values: Vec<_> = (0..count).map(|number| number.to_string()).collect();
            let time = |number: usize| i64::try_from(number % 1000 + 1).expect("a small number");
            let cells: Vec<_> = values
                .iter()
                .enumerate()
                .map(|(number, value)| cell("row", "f", time(number), value))
                .collect();
            let mut order: Vec<_> = (0..count).collect();
            order.sort_unstable_by_key(|number| Reverse((time(*number), *number)));
            let expected: Vec<_> = order
                .into_iter()
                .map(|number| format!("{:?} {:?}", cells[number], cells[number].value))
                .collect();
            for sorting in [
                Sorting::WithinRows,
                Sorting::All { memory: 1 << 20, directory: None },
                Sorting::All { memory: 1 << 30, directory: None },
            ] {
                let found = sorted(&cells, &sorting).expect("rows ascend");
                assert!(found == expected, "{count} cells, {sorting:?}");
            }
        }
    }

    /// Also if it is of another family, whose file would take it.
    #[test]
    fn a_row_that_descends_is_refused() {
        let cells = [
            cell("a", "f", 1, "1"),
            cell("c", "f", 1, "2"),
            cell("b", "g", 1, "3"),
            cell("d", "f", 1, "4"),
        ];
        let error = sorted(&cells, &Sorting::WithinRows).expect_err("row b after row c");
        let text = error.to_string();
        assert!(text.ends_with("line 3: row b comes after row c, but sorts before it"), "{text}");
        assert!(matches!(error, TransferError::Cell { problem: CellProblem::OutOfOrder, .. }));
    }
}
