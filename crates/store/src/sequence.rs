//! The sequence ids that a store gives to its batches: one more each time, from 1 on.
//!
//! [`SequenceId::MAX`] is newer than every write and is given to none. A log, a manifest or a file
//! that claims it, or more, was not written by a store; one that claims a little less is taken as it
//! is, and the store takes writes until its ids are used up.

use sstable::{Reader, SequenceId};

use crate::error::{Error, Result};

/// What is wrong with an id that [`is_possible`] does not allow.
pub(crate) const IMPOSSIBLE: &str = "a sequence id that is given to no write";

/// Whether a store could have given `id` to a batch.
pub(crate) fn is_possible(id: SequenceId) -> bool {
    id < SequenceId::MAX
}

/// The id after `newest`.
///
/// # Errors
///
/// If there is none.
pub(crate) fn after(newest: SequenceId) -> Result<SequenceId> {
    let next = SequenceId::new(newest.get().saturating_add(1));
    if is_possible(next) {
        return Ok(next);
    }
    Err(Error::invalid(
        "the store's sequence ids are used up, and it takes no write: export its families, and \
         load them into a new store",
    ))
}

/// The newest id in a file, as it says itself; `None` also if no store gives such a one.
pub(crate) fn carried(file: &Reader) -> Option<SequenceId> {
    file.sequence_id_max().filter(|id| is_possible(*id))
}
