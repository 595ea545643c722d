//! The timestamps of writes that have none: the clock's time, or later if the row was just deleted.
//!
//! A delete marker hides all cells of its timestamp, also those that are written after it. So a put
//! must not share a millisecond with an earlier delete of its row, and a delete must not be older than
//! a put that was moved. The store knows the rows that were deleted in the current millisecond:
//!
//! ```text
//! clock 5   put → 5   delete → 5   put → 6   put → 6   delete → 6   put → 7
//! clock 7                                                                     put → 7
//! ```
//!
//! No read and no wait is needed. Many deletes and puts of one row within a millisecond move its
//! timestamps ahead of the clock. The store then knows the row until the clock has caught up. If the
//! clock goes back by at most a minute, the store uses its last time until the clock has caught up.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use sstable::{Cell, CellType, Timestamp};

/// The timestamps that were given to recently deleted rows.
#[derive(Debug)]
pub(crate) struct RowTimes {
    /// By the hash of the row. Rows that share a hash share their times, which is harmless.
    rows: HashMap<u64, Given>,
    hasher: RandomState,
    /// The times of rows that are not in the table.
    others: Option<Given>,
    /// No time in the table is greater.
    newest: Timestamp,
    /// The time of the last write.
    clock: Timestamp,
}

/// The timestamps that were given to a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Given {
    /// The newest one of a delete; `None` without deletes.
    delete: Option<Timestamp>,
    /// The newest one.
    newest: Timestamp,
}

impl RowTimes {
    /// The maximum number of rows in the table; more than can be deleted in a millisecond.
    const ROWS_MAX: usize = 1 << 16;
    /// How far the clock may go back before the store follows it, and how far stored timestamps may
    /// be ahead of the clock to count as given by the store: a minute.
    const MINUTE: i64 = 60_000;
    /// How far the timestamp of a put may be ahead of the clock to count as given by the store.
    ///
    /// An increment gets a timestamp after the current cell's, which a caller may have chosen.
    const HOUR: i64 = 60 * Self::MINUTE;

    /// Creates the table of a store that is opened at `now`, and has cells with the times `stored`.
    ///
    /// If one of them is not in the past, the process that had the store open before may have given
    /// it to a delete of any row.
    pub(crate) fn new(now: Timestamp, stored: impl Iterator<Item = Timestamp>) -> Self {
        let newest =
            stored.filter(|stored| (now..=after(now, Self::MINUTE)).contains(stored)).max();
        Self {
            rows: HashMap::new(),
            hasher: RandomState::new(),
            others: newest.map(Given::to_delete),
            newest: newest.unwrap_or_default(),
            clock: Timestamp::default(),
        }
    }

    /// Sets the timestamps that cells of one batch lack; a put gets at least `puts_at_least`.
    pub(crate) fn assign<'c>(
        &mut self,
        cells: impl IntoIterator<Item = &'c mut Cell>,
        now: Timestamp,
        puts_at_least: Timestamp,
    ) {
        for cell in cells.into_iter().filter(|cell| cell.timestamp() == Timestamp::LATEST) {
            let time = match cell.cell_type() {
                CellType::Put => self.of_put(cell.row(), now, puts_at_least),
                _ => self.of_delete(cell.row(), now),
            };
            cell.set_timestamp(time);
        }
    }

    /// Returns the timestamp of a put at `now`, at least `at_least`.
    pub(crate) fn of_put(&mut self, row: &[u8], now: Timestamp, at_least: Timestamp) -> Timestamp {
        let now = self.advance(now);
        let given = self.given(row);
        // Without a delete, a put has the clock's time also after an increment with a later one, as in
        // HBase.
        let free = given.map_or(now, |given| {
            given.delete.map_or(now, |delete| given.newest.max(after(delete, 1)))
        });
        let time = free.max(now).max(at_least);
        // A put at `now` needs no entry: a later delete gets the clock's time, which is at least `now`.
        if time > now && time <= after(now, Self::HOUR) {
            let delete = given.and_then(|given| given.delete);
            let newest = given.map_or(time, |given| given.newest.max(time));
            self.note(row, Given { delete, newest });
        }
        time
    }

    /// Returns the timestamp of a delete at `now`.
    fn of_delete(&mut self, row: &[u8], now: Timestamp) -> Timestamp {
        let now = self.advance(now);
        let time = self.given(row).map_or(now, |given| given.newest.max(now));
        self.note(row, Given::to_delete(time));
        time
    }

    /// Returns the time of a write at `now`, and forgets the rows whose times are all before it.
    fn advance(&mut self, now: Timestamp) -> Timestamp {
        if now < self.clock && self.clock <= after(now, Self::MINUTE) {
            return self.clock;
        }
        self.clock = now;
        if self.newest < now {
            self.rows.clear();
            self.others = None;
        }
        now
    }

    fn given(&self, row: &[u8]) -> Option<Given> {
        if self.rows.is_empty() {
            return self.others;
        }
        self.rows.get(&self.hasher.hash_one(row)).copied().or(self.others)
    }

    fn note(&mut self, row: &[u8], given: Given) {
        self.newest = self.newest.max(given.newest);
        self.rows.insert(self.hasher.hash_one(row), given);
        if self.rows.len() < Self::ROWS_MAX {
            return;
        }
        let clock = self.clock;
        self.rows.retain(|_, given| given.newest >= clock);
        if self.rows.len() >= Self::ROWS_MAX / 2 {
            // The clock stands still, or is behind. Every row now counts as deleted.
            self.rows.clear();
            self.others = Some(Given::to_delete(self.newest));
        }
    }
}

impl Given {
    /// The timestamp of a delete, the newest one so far.
    const fn to_delete(time: Timestamp) -> Self {
        Self { delete: Some(time), newest: time }
    }
}

/// Returns a later time, at most the last one before [`Timestamp::LATEST`], which stands for none.
pub(crate) fn after(time: Timestamp, millis: i64) -> Timestamp {
    let last = Timestamp::LATEST.get().saturating_sub(1);
    Timestamp::new(time.get().saturating_add(millis).min(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(millis: i64) -> Timestamp {
        Timestamp::new(millis)
    }

    fn times(stored: &[i64]) -> RowTimes {
        RowTimes::new(time(100), stored.iter().copied().map(Timestamp::new))
    }

    #[test]
    fn a_put_is_after_the_deletes_of_its_row_and_a_delete_is_not_before_its_puts() {
        let mut times = times(&[]);
        let now = time(100);
        let put = |times: &mut RowTimes, row: &str| times.of_put(row.as_bytes(), now, now).get();
        assert_eq!(put(&mut times, "a"), 100);
        assert!(times.rows.is_empty(), "a put alone leaves no entry");
        for moved in 100..110 {
            assert_eq!(times.of_delete(b"a", now), time(moved));
            assert_eq!((put(&mut times, "a"), put(&mut times, "a")), (moved + 1, moved + 1));
            assert_eq!(put(&mut times, "b"), 100);
        }
        assert_eq!(times.of_put(b"a", time(110), time(110)), time(110));
        assert_eq!(times.of_put(b"a", time(111), time(111)), time(111));
        assert!(times.rows.is_empty(), "the clock has caught up");
    }

    #[test]
    fn the_table_is_bounded_even_if_the_clock_stands_still() {
        let mut times = times(&[]);
        let rows = 3 * u32::try_from(RowTimes::ROWS_MAX).unwrap();
        for row in 0..rows {
            times.of_delete(&row.to_be_bytes(), time(100));
            assert!(times.rows.len() < RowTimes::ROWS_MAX);
        }
        for row in 0..rows {
            let deleted = times.given(&row.to_be_bytes()).unwrap().delete.unwrap();
            let put = times.of_put(&row.to_be_bytes(), time(100), time(100));
            assert!(deleted < put && put < time(110), "{put}");
        }
    }

    #[test]
    fn stored_times_of_the_present_count_as_deletes_of_all_rows() {
        for (stored, expected) in [
            (&[][..], 100),
            (&[99], 100),
            (&[100, 7], 101),
            (&[60_000], 60_001),
            (&[60_101, i64::MAX], 100),
        ] {
            assert_eq!(times(stored).of_put(b"a", time(100), time(100)), time(expected));
        }
    }

    #[test]
    fn a_clock_that_goes_back_a_little_stands_still() {
        let mut times = times(&[]);
        times.of_delete(b"a", time(100_000));
        times.of_delete(b"b", time(100_001));
        assert_eq!(times.of_put(b"a", time(99_000), time(99_000)), time(100_001));
        assert_eq!(times.of_put(b"b", time(99_000), time(99_000)), time(100_002));
        assert_eq!(times.of_put(b"c", time(99_000), time(99_000)), time(100_001));
        assert_eq!(times.of_put(b"c", time(9_000), time(9_000)), time(9_000), "it was set back");
    }
}
