//! How the cells of an input come into the order of a file.

use std::path::PathBuf;
use std::rc::Rc;

use sstable::{Cell, Comparator};

use super::runs::{self, Limits};
use super::within_rows::WithinRows;
use crate::error::Result;
use crate::input::Input;
use crate::progress::{Extent, Observer, Phase};

/// How the cells of an input come into the order of a file.
#[derive(Clone, Debug)]
pub enum Sorting {
    /// They are in it; others are refused.
    None,
    /// The rows ascend, and others are refused. The cells of a row have any order, and are sorted in memory; of
    /// equal ones, the later one comes first.
    WithinRows,
    /// They have any order; of equal ones, the later one comes first.
    All {
        /// The maximum of the cells' bytes in memory; temporary files take the rest.
        memory: u64,
        /// The directory for temporary files, which need one to two times the bytes of the cells; the
        /// system's if `None`.
        directory: Option<PathBuf>,
    },
}

/// The cells in the order of the output, and the progress of the last phase.
pub(crate) struct Sorted<'c> {
    pub(crate) cells: Box<dyn Iterator<Item = Result<Cell>> + 'c>,
    /// The progress of reading the input, which goes on if not all cells are sorted at once.
    pub(crate) reading: Option<Rc<dyn Phase>>,
    /// The progress of writing sorted cells; the caller advances it.
    pub(crate) writing: Option<Box<dyn Phase>>,
}

impl<'c> Sorted<'c> {
    /// All cells were read and sorted.
    pub(super) fn all(
        cells: impl Iterator<Item = Result<Cell>> + 'c,
        count: u64,
        observer: &dyn Observer,
    ) -> Self {
        let writing = Some(observer.begin("writing", Extent::Steps(count)));
        Self { cells: Box::new(cells), reading: None, writing }
    }

    /// The cells come while the input is read.
    fn while_read(cells: impl Iterator<Item = Result<Cell>> + 'c, reading: Rc<dyn Phase>) -> Self {
        Self { cells: Box::new(cells), reading: Some(reading), writing: None }
    }
}

impl Sorting {
    /// Returns the cells of `input` sorted.
    pub(crate) fn sort<'c>(
        &self,
        input: &'c mut Input,
        order: Comparator,
        observer: &dyn Observer,
    ) -> Result<Sorted<'c>> {
        let reading = input.show_progress("reading", observer);
        match self {
            Self::None => Ok(Sorted::while_read(input.map(|cell| Ok(cell?)), reading)),
            Self::WithinRows => Ok(Sorted::while_read(WithinRows::new(input, order), reading)),
            Self::All { memory, directory } => {
                let limits = Limits { memory: *memory, directory: directory.as_deref() };
                let name = input.name().clone();
                runs::sort(input, limits, order, &name, reading, observer)
            }
        }
    }
}
