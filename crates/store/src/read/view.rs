//! The view of the store at one moment, which every read has, and the cells that a get shows.

use std::sync::{Arc, OnceLock};

use filter::Seed;
use sstable::{Cell, CellRef, SequenceId, Timestamp};

use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::version::store_version::{FamilyVersion, StoreVersion};
use crate::process::{OwnProcess, check_process};

/// A consistent view of the store at one moment.
#[derive(Clone, Debug)]
pub(crate) struct ReadView {
    pub(crate) version: Arc<StoreVersion>,
    pub(crate) visible: SequenceId,
    pub(crate) seed: Seed,
    pub(crate) process: OwnProcess,
    /// Read from the clock at the first use, because most gets do not need the time.
    pub(crate) now: OnceLock<Timestamp>,
}

impl ReadView {
    /// Returns a view of the present state.
    pub(crate) fn current(catalog: &Catalog) -> Self {
        // The version must be loaded first, so that `visible` is not older than its cells:
        // a flush or an increment may have dropped versions that only an older view would show.
        let version = catalog.version();
        let visible = catalog.visible();
        let process = catalog.health().process().clone();
        Self { version, visible, seed: catalog.seed, process, now: OnceLock::new() }
    }

    /// Returns the view's time, which is the clock's time at the first call.
    pub(crate) fn now(&self) -> Timestamp {
        *self.now.get_or_init(|| self.version.clock.now())
    }

    /// Returns a family, unless this process is a fork of the one that opened the store.
    pub(crate) fn family(&self, name: &[u8]) -> Result<&Arc<FamilyVersion>> {
        check_process(&self.process)?;
        self.version.known_family(name)
    }
}

/// A cell of an answer.
pub(crate) enum AnswerCell<'a> {
    /// Borrowed from a block, or from the merge.
    Borrowed(CellRef<'a>),
    /// The cell was copied from a memstore.
    Owned(Cell),
}

impl AnswerCell<'_> {
    pub(crate) fn as_ref(&self) -> CellRef<'_> {
        match self {
            Self::Borrowed(cell) => *cell,
            Self::Owned(cell) => cell.as_ref(),
        }
    }
}
