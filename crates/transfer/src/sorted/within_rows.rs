//! Sorts the cells of each row, of an input whose rows ascend.

use std::cmp::Ordering;
use std::collections::VecDeque;

use sstable::{Cell, Comparator, Error, escape};

use super::order::compare;
use crate::error::{CellProblem, Error as TransferError, Result};
use crate::input::Input;

/// The cells of an input with those of each row sorted.
pub(super) struct WithinRows<'i> {
    input: &'i mut Input,
    order: Comparator,
    /// The cells of the row that are not yet returned, sorted.
    row: VecDeque<Cell>,
    /// The first cell of the next row.
    next: Option<Cell>,
}

impl<'i> WithinRows<'i> {
    pub(super) const fn new(input: &'i mut Input, order: Comparator) -> Self {
        Self { input, order, row: VecDeque::new(), next: None }
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
        for cell in &mut *self.input {
            let cell = cell?;
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
        let cells = self.row.make_contiguous();
        cells.sort_by(|one, other| compare(order, &one.as_ref(), &other.as_ref()));
        Ok(())
    }
}

impl Iterator for WithinRows<'_> {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.row.is_empty()
            && let Err(error) = self.read_row()
        {
            return Some(Err(error));
        }
        self.row.pop_front().map(Ok)
    }
}

/// The error for a row that sorts before that of `last`.
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
    use sstable::Timestamp;

    use crate::columns::ColumnOptions;
    use crate::csv::CsvOptions;
    use crate::input::{InputFormat, InputOptions};
    use crate::{ColumnFamily, Sorting};

    use super::*;

    /// Each as its row, family, time and value; all are in column `q`.
    type Line<'l> = (&'l str, &'l str, u32, u32);

    fn sorted(lines: &[Line<'_>], sorting: &Sorting) -> Result<Vec<String>> {
        let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let text: String = lines
            .iter()
            .map(|(row, family, ts, value)| {
                let (row, family) = (hex(row), hex(family));
                format!(
                    "{{\"row\":\"{row}\",\"family\":\"{family}\",\"qualifier\":\"71\",\"ts\":{ts},\
                     \"type\":\"Put\",\"value\":\"{value:08}\"}}\n"
                )
            })
            .collect();
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), text).expect("disk takes it");
        let options = InputOptions {
            format: InputFormat::Cells,
            paths: vec![file.path().to_owned()],
            is_dry_run: false,
            columns: ColumnOptions::default(),
            csv: CsvOptions::default(),
        };
        let mut input = options.open(ColumnFamily::Unknown, Timestamp::new(1), 1)?;
        let sorted = sorting.sort(&mut input, Comparator::Bytes, &())?;
        let shown = |cell: Cell| format!("{:?} {:?}", cell.as_ref(), cell.value());
        sorted.cells.map(|cell| cell.map(shown)).collect()
    }

    /// With later values for equal cells, older times after newer ones, and families in any order.
    #[test]
    fn the_cells_of_each_row_are_sorted_as_all_are() {
        let lines = [
            ("a", "f", 1, 1),
            ("b", "f", 1, 2),
            ("b", "f", 7, 3),
            ("b", "f", 1, 4),
            ("c", "f", 5, 5),
            ("c", "f", 5, 6),
            ("d", "f", 5, 7),
        ];
        let all = Sorting::All { memory: 1 << 20, directory: None };
        let expected = sorted(&lines, &all).expect("sound cells");
        assert_eq!(sorted(&lines, &Sorting::WithinRows).expect("rows ascend"), expected);

        let of_two_families = [("a", "g", 1, 1), ("a", "f", 1, 2), ("b", "f", 1, 3)];
        let cells = sorted(&of_two_families, &Sorting::WithinRows).expect("rows ascend");
        let expected = sorted(&of_two_families[1..2], &all).expect("a sound cell");
        assert_eq!((cells.len(), &cells[..1]), (3, &expected[..]));
    }

    /// Also if it is of another family, whose file would take it.
    #[test]
    fn a_row_that_descends_is_refused() {
        let lines = [("a", "f", 1, 1), ("c", "f", 1, 2), ("b", "g", 1, 3), ("d", "f", 1, 4)];
        let error = sorted(&lines, &Sorting::WithinRows).expect_err("row b after row c");
        let text = error.to_string();
        assert!(text.ends_with("line 3: row b comes after row c, but sorts before it"), "{text}");
        assert!(matches!(error, TransferError::Cell { problem: CellProblem::OutOfOrder, .. }));
    }
}
