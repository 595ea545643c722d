//! A request to commit one batch.

use sstable::Cell;

use crate::error::Result;
use crate::files::version::store_version::StoreVersion;
use crate::options::Durability;
use crate::write::prepare::check_kind_of_family;

/// A batch with its durability.
#[derive(Debug)]
pub(super) struct Request {
    /// The number of the request in the queue.
    pub(super) ticket: u64,
    pub(super) cells: Vec<Cell>,
    pub(super) durability: Durability,
    pub(super) default_timestamp: DefaultTimestamp,
    /// Whether the cells [replace](crate::write::replace) older versions in the memstore.
    pub(super) replaces: bool,
}

impl Request {
    pub(super) const fn new(
        ticket: u64,
        cells: Vec<Cell>,
        durability: Durability,
        default_timestamp: DefaultTimestamp,
    ) -> Self {
        Self { ticket, cells, durability, default_timestamp, replaces: false }
    }

    /// Checks that the version has the families of all cells, and that they accept the timestamps.
    ///
    /// `prepare` has checked the same, but a family may have been dropped or altered since.
    pub(super) fn check_families(&self, version: &StoreVersion) -> Result<()> {
        let mut checked: Option<&[u8]> = None;
        for cell in &self.cells {
            if checked != Some(cell.family()) {
                let known = version.known_family(cell.family())?;
                check_kind_of_family(&known.family, self.default_timestamp)?;
                checked = Some(cell.family());
            }
        }
        Ok(())
    }
}

/// The timestamp of cells that are written without one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DefaultTimestamp {
    /// The clock's time at the commit.
    Now,
    /// The sequence id of the batch.
    SequenceId,
}
