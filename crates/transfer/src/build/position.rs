//! The position in an input, for errors about a cell that cannot be written.

use std::cmp::Ordering;

use sstable::{Cell, FileName};

use crate::error::{CellProblem, Error};
use crate::input::{Input, LineNumber};
use crate::sorted::Sorting;

/// A position in the input: its name, and the line of the current cell if known.
pub(super) struct InputPosition {
    name: FileName,
    line: Option<LineNumber>,
}

impl InputPosition {
    /// Returns the position of an input. The line of a sorted cell is not known.
    pub(super) fn new(input: &Input, sorting: &Sorting) -> Self {
        let line = matches!(sorting, Sorting::None).then(|| input.line_number());
        Self { name: input.name().clone(), line }
    }

    /// Adds the name of the input, the line and the problem to an error about `cell`.
    ///
    /// `last` is the cell before `cell`. Other errors are returned as [`Error::File`].
    pub(super) fn describe(
        &self,
        error: sstable::Error,
        last: Option<&Cell>,
        cell: &Cell,
    ) -> Error {
        let sstable::Error::Invalid { what, .. } = error else { return error.into() };
        let what_of_line = match &self.line {
            Some(line) => format!("{line}: {what}"),
            None => what,
        };
        let of_several = self.line.as_ref().and_then(LineNumber::file);
        let file = of_several.unwrap_or_else(|| self.name.clone());
        let described = sstable::Error::Invalid { file, what: what_of_line };
        let is_same_family = last.is_none_or(|last| last.family() == cell.family());
        let is_out_of_order =
            last.is_some_and(|last| last.as_ref().compare(&cell.as_ref()) == Ordering::Greater);
        let problem = if !is_same_family {
            CellProblem::OtherFamily
        } else if is_out_of_order {
            CellProblem::OutOfOrder
        } else if cell.as_ref().tags().next().is_some() {
            CellProblem::Tags
        } else {
            return described.into();
        };
        Error::Cell { error: described, problem }
    }
}
