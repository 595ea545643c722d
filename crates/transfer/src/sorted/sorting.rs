//! How the cells of an input come into the order of a file.

use std::path::PathBuf;

use sstable::Comparator;

use super::row_sorter::RowSorter;
use super::runs::{self, Limits};
use super::sorted_cells::Sorted;
use crate::error::Result;
use crate::input::Input;
use crate::progress::Observer;

/// How the cells of an input come into the order of a file.
#[derive(Clone, Debug)]
pub enum Sorting {
    /// The cells are sorted already; a cell out of order is an error.
    None,
    /// Rows ascend, or it is an error. The cells of each row are sorted in memory; of equal cells, the later one
    /// comes first.
    WithinRows,
    /// The cells have any order; of equal cells, the later one comes first.
    All {
        /// The maximum size of the cells in memory, in bytes; temporary files take the rest.
        memory: u64,
        /// The directory for temporary files, which need one to two times the bytes of the cells; the
        /// system's if `None`.
        directory: Option<PathBuf>,
    },
}

impl Sorting {
    /// Returns the cells of `input` sorted.
    pub(crate) fn sort<'c>(
        &self,
        input: &'c mut Input,
        order: Comparator,
        observer: &'c dyn Observer,
    ) -> Result<Sorted<'c>> {
        let reading = input.show_progress("reading", observer);
        match self {
            Self::None => Ok(Sorted::while_read(input, reading)),
            Self::WithinRows => {
                Ok(Sorted::while_read(RowSorter::new(input, order, observer), reading))
            }
            Self::All { memory, directory } => {
                let limits = Limits { memory: *memory, directory: directory.as_deref() };
                let name = input.name().clone();
                runs::sort(input, limits, order, &name, reading, observer)
            }
        }
    }
}
