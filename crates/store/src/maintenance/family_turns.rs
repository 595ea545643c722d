//! Turns of the work that replaces files of a family, or reads them into its family map.
//!
//! | work                              | waits for                                           | dropped    |
//! |-----------------------------------|-----------------------------------------------------|------------|
//! | compaction in the background      | nothing; skipped if one runs, or its family is busy | ends early |
//! | compaction or rebuild by hand     | other work by hand, and work on the same family     | ends early |
//! | reading files into the family map | work on the same family                             | ends early |
//! | drop of the family                | work on the same family, which it cancels           |            |
//!
//! "dropped": what the work does if its family is to be dropped.
//!
//! So at most two compactions run at the same time, on two families.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait};

/// Who has a turn now.
#[derive(Debug, Default)]
pub(super) struct FamilyTurns {
    taken: Mutex<Taken>,
    /// Notified when a turn ends.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Taken {
    /// The families with work in progress, and whether it is cancelled.
    families: BTreeMap<String, Arc<AtomicBool>>,
    /// Whether work that was asked for by hand is in progress.
    by_hand: bool,
    /// Whether a compaction in the background is in progress.
    background: bool,
}

/// What else than its family a turn occupies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Lane {
    ByHand,
    Background,
    None,
}

impl Taken {
    fn lane(&mut self, lane: Lane) -> Option<&mut bool> {
        match lane {
            Lane::ByHand => Some(&mut self.by_hand),
            Lane::Background => Some(&mut self.background),
            Lane::None => None,
        }
    }

    fn is_free(&mut self, lane: Lane) -> bool {
        self.lane(lane).is_none_or(|taken| !*taken)
    }
}

impl FamilyTurns {
    /// Waits for the turn of a compaction or rebuild that was asked for by hand.
    pub(super) fn take_by_hand(&self, family: &str) -> FamilyTurn<'_> {
        let mut taken = lock(&self.taken);
        while !taken.is_free(Lane::ByHand) || taken.families.contains_key(family) {
            taken = wait(&self.ended, taken);
        }
        self.take(taken, family, Lane::ByHand)
    }

    /// Takes the turn of a compaction in the background; `None` if another one runs, or if the
    /// family is busy.
    pub(super) fn take_in_background(&self, family: &str) -> Option<FamilyTurn<'_>> {
        let mut taken = lock(&self.taken);
        let is_busy = !taken.is_free(Lane::Background) || taken.families.contains_key(family);
        (!is_busy).then(|| self.take(taken, family, Lane::Background))
    }

    /// Waits for the turn to change the map of a family.
    pub(super) fn take_for_map(&self, family: &str) -> FamilyTurn<'_> {
        let mut taken = lock(&self.taken);
        while taken.families.contains_key(family) {
            taken = wait(&self.ended, taken);
        }
        self.take(taken, family, Lane::None)
    }

    /// Takes the turn to change the map of a family; `None` if the family is busy.
    pub(super) fn try_take_for_map(&self, family: &str) -> Option<FamilyTurn<'_>> {
        let taken = lock(&self.taken);
        let is_busy = taken.families.contains_key(family);
        (!is_busy).then(|| self.take(taken, family, Lane::None))
    }

    /// Returns whether the work on a family is cancelled.
    pub(super) fn is_cancelled(&self, family: &str) -> bool {
        let taken = lock(&self.taken);
        taken.families.get(family).is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
    }

    /// Cancels the work on a family and waits for its end.
    pub(super) fn take_to_drop(&self, family: &str) -> FamilyTurn<'_> {
        let mut taken = lock(&self.taken);
        // Other work may begin before this thread wakes up.
        while let Some(is_cancelled) = taken.families.get(family) {
            is_cancelled.store(true, Ordering::Relaxed);
            taken = wait(&self.ended, taken);
        }
        self.take(taken, family, Lane::None)
    }

    fn take(&self, mut taken: MutexGuard<'_, Taken>, family: &str, lane: Lane) -> FamilyTurn<'_> {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let before = taken.families.insert(family.to_owned(), Arc::clone(&is_cancelled));
        assert!(before.is_none(), "a family has one turn");
        if let Some(is_taken) = taken.lane(lane) {
            *is_taken = true;
        }
        FamilyTurn { turns: self, family: family.to_owned(), lane, is_cancelled }
    }
}

/// The turn of some work on a family; dropping it ends the turn.
#[derive(Debug)]
pub(super) struct FamilyTurn<'a> {
    turns: &'a FamilyTurns,
    family: String,
    lane: Lane,
    is_cancelled: Arc<AtomicBool>,
}

impl FamilyTurn<'_> {
    pub(super) fn family(&self) -> &str {
        &self.family
    }

    /// Returns whether the family is to be dropped or cleared: the work must end.
    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Returns an error if the family is to be dropped or cleared.
    pub(super) fn check_not_cancelled(&self) -> Result<()> {
        if self.is_cancelled() {
            let family = &self.family;
            let what = format!("cancelled, because the family \"{family}\" is dropped or cleared");
            return Err(Error::invalid(what));
        }
        Ok(())
    }
}

impl Drop for FamilyTurn<'_> {
    fn drop(&mut self) {
        let mut taken = lock(&self.turns.taken);
        taken.families.remove(&self.family);
        if let Some(is_taken) = taken.lane(self.lane) {
            *is_taken = false;
        }
        drop(taken);
        self.turns.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_family_is_left_out_in_the_background() {
        let turns = FamilyTurns::default();
        let by_hand = turns.take_by_hand("a");
        assert!(turns.take_in_background("a").is_none());
        assert!(turns.try_take_for_map("a").is_none());
        let background = turns.take_in_background("b").unwrap();
        assert!(turns.try_take_for_map("b").is_none());
        assert!(turns.take_in_background("c").is_none(), "one in the background");
        let map = turns.try_take_for_map("c").unwrap();
        drop((by_hand, background, map));
        assert!(turns.take_in_background("a").is_some());
        drop(turns.take_to_drop("a"));
    }

    #[test]
    fn a_drop_cancels_the_work_on_its_family_only() {
        let turns = FamilyTurns::default();
        let other = turns.take_by_hand("other");
        let cancelled = turns.take_in_background("f").unwrap();
        std::thread::scope(|scope| {
            let dropped = scope.spawn(|| drop(turns.take_to_drop("f")));
            while !turns.is_cancelled("f") {
                std::thread::yield_now();
            }
            assert!(cancelled.is_cancelled() && cancelled.check_not_cancelled().is_err());
            drop(cancelled);
            dropped.join().unwrap();
        });
        assert!(!other.is_cancelled() && !turns.is_cancelled("f"));
    }
}
