//! The sequence ids that a store gives to its batches: one more each time, from 1 on.
//!
//! [`SequenceId::MAX`] is newer than every write and is given to none. A log, a manifest or a file
//! that claims it, or more, was not written by a store; one that claims a little less is taken as it
//! is, and the store takes writes until its ids are used up.
#![allow(clippy::arithmetic_side_effects, reason = "below the greatest id, which is checked")]

use sstable::{Reader, SequenceId};

use crate::error::{Error, Result};

/// Refuses an id that no store gives to a batch; an error says what is wrong with it.
pub(crate) fn check(id: SequenceId) -> Result<(), &'static str> {
    if id < SequenceId::MAX { Ok(()) } else { Err("a sequence id that is given to no write") }
}

/// The id after `newest`.
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

/// The newest id in a file, as it says itself; `None` also if no store gives such a one.
pub(crate) fn carried(file: &Reader) -> Option<SequenceId> {
    file.file_info().sequence_id_max().filter(|id| check(*id).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_id_that_a_write_gets_is_one_before_the_greatest() {
        let last = SequenceId::new(SequenceId::MAX.get() - 1);
        assert_eq!(after(SequenceId::new(last.get() - 1)).unwrap(), last);
        let refused = after(last).unwrap_err().to_string();
        assert!(refused.contains("sequence ids are used up"), "{refused}");
    }

    #[test]
    #[should_panic(expected = "given to no write")]
    fn a_write_with_the_greatest_id_is_a_broken_invariant() {
        let _ = after(SequenceId::MAX);
    }
}
