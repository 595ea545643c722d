//! The writes of key-value families, and the methods that make the views of the keys.
//!
//! The timestamp of a write is its sequence id, so the last write of a key wins even if the clock
//! goes back.

use sstable::Cell;

use super::key_reads::Keys;
use super::{Store, StoreInner};
use crate::error::Result;
use crate::files::version::store_version::FamilyVersion;
#[cfg(doc)]
use crate::options::FamilyOptions;
use crate::read::query::Get;
use crate::read::snapshot::Snapshot;
use crate::read::view::ReadView;
use crate::write::accepted_batch::check_is_key_value;
use crate::write::mutation::{Delete, Put, WriteBatch};
use crate::write::read_modify_write::Increment;

impl Snapshot {
    /// Returns a family of the snapshot as a sorted map.
    ///
    /// ```
    /// use store::{FamilyOptions, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// let keys = store.keys("f")?;
    /// keys.insert("a", "1")?;
    /// let snapshot = store.snapshot();
    /// keys.clear()?;
    /// assert_eq!(snapshot.keys("f")?.get("a")?.as_deref(), Some(&b"1"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the snapshot has no such family, or if the family has cells
    /// and is no key-value family.
    pub fn keys(&self, family: &str) -> Result<Keys<Self>> {
        check_may_hold_keys(self.view.family(family.as_bytes())?)?;
        Ok(Keys { source: self.clone(), family: family.into() })
    }
}

impl Store {
    /// Returns a family as a sorted map. An empty family becomes a key-value family
    /// ([`FamilyOptions::key_value`]), which is then on disk.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the family does not exist, if it has cells and
    /// is no key-value family, or if it has a TTL. If the manifest cannot be written, the store stops.
    pub fn keys(&self, family: &str) -> Result<Keys> {
        let view = self.view();
        let known = view.family(family.as_bytes())?;
        check_may_hold_keys(known)?;
        if !known.family.options.key_value && !self.is_read_only() {
            self.set_key_value(family)?;
        }
        Ok(Keys { source: self.clone(), family: family.into() })
    }

    /// Makes an empty family a key-value family.
    fn set_key_value(&self, family: &str) -> Result<()> {
        let StoreInner { catalog, log, .. } = &*self.inner;
        catalog.health().check_writable()?;
        // No write reaches the family between the check and the change.
        let _no_write = log.writer();
        let version = catalog.version();
        let known = version.known_family(family.as_bytes())?;
        check_may_hold_keys(known)?;
        catalog.alter_family(family, known.family.options.clone().key_value(true))
    }
}

impl Keys {
    /// Sets the value of a key, with the store's default durability.
    ///
    /// For another durability, and for several keys at once, write a batch:
    ///
    /// ```
    /// # use store::{Durability, FamilyOptions, Store, StoreOptions, WriteBatch};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("f", FamilyOptions::default())?;
    /// let keys = store.keys("f")?;
    /// let mut batch = WriteBatch::new();
    /// batch.insert("f", "a", "1");
    /// store.write(batch, Durability::FsyncWal)?;
    /// assert!(keys.contains("a")?);
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
    /// # use store::{FamilyOptions, Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("f", FamilyOptions::default())?;
    /// let keys = store.keys("f")?;
    /// assert_eq!(keys.increment("visits", 5)?, 5);
    /// assert_eq!(keys.increment("visits", -2)?, 3);
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
    /// # use store::{FamilyOptions, Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("f", FamilyOptions::default())?;
    /// let keys = store.keys("f")?;
    /// assert!(keys.compare_and_set("seat", None, Some(b"Ada"))?); // It was free.
    /// assert!(!keys.compare_and_set("seat", None, Some(b"Charles"))?);
    /// assert!(keys.compare_and_set("seat", Some(b"Ada"), None)?); // It is free again.
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

/// Refuses a family with cells that is no key-value family.
fn check_may_hold_keys(known: &FamilyVersion) -> Result<()> {
    if known.is_empty() { Ok(()) } else { check_is_key_value(&known.family) }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use cells::Clock;

    use super::*;
    use crate::Timestamp;
    use crate::options::{FamilyOptions, StoreOptions};
    use crate::store::{CompactionKind, Pairs};

    fn all(keys: &Keys) -> Vec<String> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let pairs = keys.range::<&str>(..).map(Result::unwrap);
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
            if millis == 2000 {
                store.create_family("f", FamilyOptions::default()).unwrap();
            }
            let keys = store.keys("f").unwrap();
            for round in 0..3 {
                keys.insert("a", format!("{millis}.{round}")).unwrap();
                keys.remove("a").unwrap();
                assert!(!keys.contains("a").unwrap());
                store.flush().unwrap();
                keys.insert("a", format!("{millis}.{round}!")).unwrap();
                assert_eq!(all(&keys), [format!("a={millis}.{round}!")]);
            }
            store.compact("f", CompactionKind::Major).unwrap();
            assert_eq!(all(&keys), [format!("a={millis}.2!")]);
        }
    }

    #[test]
    fn ranges_respect_included_excluded_and_missing_bounds() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path(), StoreOptions::default()).unwrap();
        store.create_family("f", FamilyOptions::default()).unwrap();
        let keys = store.keys("f").unwrap();
        for key in ["a", "b", "bb", "c"] {
            keys.insert(key, "").unwrap();
        }
        let rows = |pairs: Pairs| -> Vec<_> { pairs.map(|pair| pair.unwrap().0).collect() };
        assert_eq!(rows(keys.range("a".."c")), [&b"a"[..], b"b", b"bb"]);
        assert_eq!(rows(keys.range("b"..="c")), [&b"b"[..], b"bb", b"c"]);
        assert_eq!(
            rows(keys.range::<&str>((Bound::Excluded("b"), Bound::Unbounded))),
            [&b"bb"[..], b"c"]
        );
        assert!(store.keys("g").is_err());
        assert!(keys.insert("", "1").is_err());
    }
}
