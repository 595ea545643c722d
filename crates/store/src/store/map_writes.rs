//! The writes of a key-value map.
//!
//! The timestamp of a write is its sequence id, so the last write of a key wins even if the clock
//! goes back.

use sstable::Cell;

#[cfg(doc)]
use super::Store;
use super::key_value_map::KeyValueMap;
use crate::error::Result;
use crate::read::query::Get;
use crate::read::view::ReadView;
use crate::write::accepted_batch::check_is_key_value;
use crate::write::mutation::{Delete, Put, WriteBatch};
use crate::write::read_modify_write::Increment;

impl KeyValueMap {
    /// Sets the value of a key, with the store's default durability.
    ///
    /// For another durability, and for several keys at once, write a batch:
    ///
    /// ```
    /// # use store::{Durability, Store, StoreOptions, WriteBatch};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// let map = store.create_map("f")?;
    /// let mut batch = WriteBatch::new();
    /// batch.insert("f", "a", "1");
    /// store.write(batch, Durability::Synced)?;
    /// assert!(map.contains("a")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Store::write`]; [`Error::Invalid`](crate::Error::Invalid) if the family was altered
    /// and is no key-value family any more.
    pub fn insert(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.write(Put::new(key).column(&*self.family, b"", value).into())
    }

    /// Removes a key; a missing key is not an error.
    ///
    /// # Errors
    ///
    /// As for [`insert`](Self::insert).
    pub fn remove(&self, key: impl AsRef<[u8]>) -> Result<()> {
        self.write(Delete::row(key).column(&*self.family, b"").into())
    }

    fn write(&self, batch: WriteBatch) -> Result<()> {
        let batch = WriteBatch { only_keys: true, ..batch };
        self.source.write(batch, self.source.inner.durability)
    }

    /// Adds to the number of a key, and returns the sum. Concurrent increments lose nothing.
    ///
    /// A number is stored as in HBase: 8 bytes, big-endian. A missing key counts as 0; sums wrap
    /// around.
    ///
    /// ```
    /// # use store::{Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// let map = store.create_map("f")?;
    /// assert_eq!(map.increment("visits", 5)?, 5);
    /// assert_eq!(map.increment("visits", -2)?, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the value is not 8 bytes long; else as for
    /// [`get`](Self::get) and [`insert`](Self::insert).
    ///
    /// # Panics
    ///
    /// Never: an increment writes a number.
    pub fn increment(&self, key: impl AsRef<[u8]>, amount: i64) -> Result<i64> {
        let increment = Increment::new(key).column(&*self.family, b"", amount);
        let written =
            self.source.read_modify_write(increment.read_query(), true, None, |view, times| {
                self.check_is_key_value(view)?;
                increment.compute_cells(view, times)
            })?;
        let sum = written.first().and_then(|cell| cell.value().try_into().ok());
        Ok(i64::from_be_bytes(sum.expect("an increment writes a number")))
    }

    /// Sets a key to `new` if its value is `expected`, and returns whether it was.
    ///
    /// `None` is a missing key. No other write comes between.
    ///
    /// ```
    /// # use store::{Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// let map = store.create_map("f")?;
    /// assert!(map.compare_and_set("seat", None, Some(b"Ada"))?); // It was free.
    /// assert!(!map.compare_and_set("seat", None, Some(b"Charles"))?);
    /// assert!(map.compare_and_set("seat", Some(b"Ada"), None)?); // It is free again.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get) and [`insert`](Self::insert).
    pub fn compare_and_set(
        &self,
        key: impl AsRef<[u8]>,
        expected: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        let key = key.as_ref();
        let get = Get::row(key).column(&*self.family, b"");
        let mut batch = WriteBatch::new();
        match new {
            Some(value) => batch.insert(&*self.family, key, value),
            None => batch.remove(&*self.family, key),
        }
        let mut is_expected = false;
        self.source.read_modify_write(Some(get.clone()), false, None, |view, _| {
            self.check_is_key_value(view)?;
            is_expected = view.get(&get)?.first().map(Cell::value) == expected;
            Ok(if is_expected { batch.cells } else { Vec::new() })
        })?;
        Ok(is_expected)
    }

    /// Removes all keys: [`Store::clear_family`].
    ///
    /// # Errors
    ///
    /// As for [`Store::clear_family`].
    pub fn clear(&self) -> Result<()> {
        self.check_is_key_value(&self.source.view())?;
        self.source.clear_family(&self.family)
    }

    fn check_is_key_value(&self, view: &ReadView) -> Result<()> {
        check_is_key_value(&view.family(self.family.as_bytes())?.family)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use cells::Clock;

    use super::*;
    use crate::Timestamp;
    use crate::options::StoreOptions;
    use crate::store::{CompactionKind, Pairs, Store};

    fn all(map: &KeyValueMap) -> Vec<String> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let pairs = map.range::<&str>(..).map(Result::unwrap);
        pairs.map(|(key, value)| format!("{}={}", text(key), text(value))).collect()
    }

    /// With clock timestamps, a delete marker would hide later writes of the same millisecond.
    #[test]
    fn the_last_write_wins_even_if_the_clock_stands_still_or_goes_back() {
        let directory = tempfile::tempdir().unwrap();
        for millis in [2000, 1000] {
            let clock = Clock::fixed(Timestamp::new(millis));
            let store =
                Store::open(directory.path(), StoreOptions::default().clock(clock)).unwrap();
            let map = if millis == 2000 { store.create_map("f") } else { store.map("f") }.unwrap();
            for round in 0..3 {
                map.insert("a", format!("{millis}.{round}")).unwrap();
                map.remove("a").unwrap();
                assert!(!map.contains("a").unwrap());
                store.flush().unwrap();
                map.insert("a", format!("{millis}.{round}!")).unwrap();
                assert_eq!(all(&map), [format!("a={millis}.{round}!")]);
            }
            store.compact("f", CompactionKind::Major).unwrap();
            assert_eq!(all(&map), [format!("a={millis}.2!")]);
        }
    }

    #[test]
    fn ranges_respect_included_excluded_and_missing_bounds() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path(), StoreOptions::default()).unwrap();
        let map = store.create_map("f").unwrap();
        for key in ["a", "b", "bb", "c"] {
            map.insert(key, "").unwrap();
        }
        let rows = |pairs: Pairs| -> Vec<_> { pairs.map(|pair| pair.unwrap().0).collect() };
        assert_eq!(rows(map.range("a".."c")), [&b"a"[..], b"b", b"bb"]);
        assert_eq!(rows(map.range("b"..="c")), [&b"b"[..], b"bb", b"c"]);
        assert_eq!(
            rows(map.range::<&str>((Bound::Excluded("b"), Bound::Unbounded))),
            [&b"bb"[..], b"c"]
        );
        assert!(store.map("g").is_err());
        assert!(map.insert("", "1").is_err());
    }
}
