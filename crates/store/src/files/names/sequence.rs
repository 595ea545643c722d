//! The sequence ids of a store's batches: 1, 2, 3, …
//!
//! [`SequenceId::MAX`] is newer than every write, and no batch gets it. A log, manifest or file that
//! claims it was not written by a store. A slightly smaller id is accepted; the store then accepts
//! writes until its ids are used up.

use sstable::{Reader, SequenceId, Timestamp};

use crate::error::{Error, Result};

/// Checks that a store can have given this id to a batch. The error says what is wrong.
pub(crate) fn check(id: SequenceId) -> Result<(), &'static str> {
    if id < SequenceId::MAX { Ok(()) } else { Err("a sequence id that no write can have") }
}

/// Returns the id after `newest`.
///
/// # Errors
///
/// If there is none.
pub(crate) fn after(newest: SequenceId) -> Result<SequenceId> {
    assert!(newest < SequenceId::MAX, "given to no write");
    let next = SequenceId::new(newest.get() + 1);
    check(next).map(|()| next).map_err(|_| {
        Error::invalid(
            "the store's sequence ids are used up, and it takes no write: export its families, \
             and load them into a new store",
        )
    })
}

/// Returns the timestamp of the cells of a batch in a key-value family: its id.
pub(crate) const fn as_timestamp(id: SequenceId) -> Timestamp {
    // Ids count up from 1, so the ids of writes are less than 2^63.
    Timestamp::new(id.get().cast_signed())
}

/// Returns the newest id that a file states, or `None` if it states none or one that no batch can have.
pub(crate) fn carried(file: &Reader) -> Option<SequenceId> {
    file.file_info().sequence_id_max().filter(|id| check(*id).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_id_of_a_write_is_one_less_than_the_maximum() {
        let last = SequenceId::new(SequenceId::MAX.get() - 1);
        assert_eq!(after(SequenceId::new(last.get() - 1)).unwrap(), last);
        let refused = after(last).unwrap_err().to_string();
        assert!(refused.contains("sequence ids are used up"), "{refused}");
    }

    #[test]
    #[should_panic(expected = "given to no write")]
    fn a_write_with_the_maximum_id_is_a_broken_invariant() {
        let _ = after(SequenceId::MAX);
    }
}
