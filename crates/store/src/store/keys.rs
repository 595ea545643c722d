//! A family as a sorted map from keys to values.
//!
//! A key is a row; its value is in the column with the empty qualifier. The timestamp of a write is
//! its sequence id, so the last write of a key wins even if the clock goes back.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use super::{Store, StoreInner};
use crate::error::Result;
#[cfg(doc)]
use crate::options::FamilyOptions;
use crate::read::query::{Get, Scan};
use crate::read::scan::ScanCells;
use crate::write::accepted_batch::check_timestamp_kind;
use crate::write::mutation::{DefaultTimestamp, Delete, Put, WriteBatch};

/// A family as a sorted map from byte keys to byte values. A key has 1 to 32,767 bytes.
///
/// The timestamps of such a family are sequence ids, so a put with the clock's time would be newer
/// than all of them. It therefore refuses [`Put`](crate::Put) and [`Delete`](crate::Delete), a delete
/// of a whole row leaves it out, and it has no TTL ([`FamilyOptions::key_value`]).
///
/// ```
/// use store::{FamilyOptions, Store, StoreOptions};
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// let store = Store::open(directory, StoreOptions::default())?;
/// store.create_family("f", FamilyOptions::default())?;
/// let keys = store.keys("f")?;
/// keys.insert("b", "2")?;
/// keys.insert("a", "1")?;
/// assert_eq!(keys.get("a")?.as_deref(), Some(&b"1"[..]));
/// keys.remove("a")?;
/// let all: Vec<_> = keys.range::<&str>(..).collect::<Result<_, _>>()?;
/// assert_eq!(all, [(b"b".to_vec(), b"2".to_vec())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Keys {
    pub(crate) store: Store,
    pub(crate) family: Box<str>,
}

impl Store {
    /// Returns a family as a sorted map. An empty family becomes a key-value family
    /// ([`FamilyOptions::key_value`]), which is then on disk.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the family does not exist, if it has cells and
    /// is no key-value family, or if it has a TTL. A family that was written through this method
    /// before key-value families existed has to be
    /// [altered](FamilyOptions::key_value) once. If the manifest cannot be written, the store stops.
    pub fn keys(&self, family: &str) -> Result<Keys> {
        let known = Arc::clone(&self.view().family(family.as_bytes())?.family);
        if !known.options.key_value && !self.is_read_only() {
            self.set_key_value(family)?;
        }
        Ok(Keys { store: self.clone(), family: family.into() })
    }

    /// Makes an empty family a key-value family.
    fn set_key_value(&self, family: &str) -> Result<()> {
        let StoreInner { catalog, log, .. } = &*self.inner;
        catalog.health().check_writable()?;
        // No write reaches the family between the check and the change.
        let _no_write = log.writer();
        let version = catalog.version();
        let known = version.known_family(family.as_bytes())?;
        if !known.is_empty() {
            return check_timestamp_kind(&known.family, DefaultTimestamp::SequenceId);
        }
        catalog.alter_family(family, known.family.options.clone().key_value(true))
    }
}

impl Keys {
    /// Sets the value of a key.
    ///
    /// # Errors
    ///
    /// As for [`Store::write`]; [`Error::Invalid`](crate::Error::Invalid) if the family was altered
    /// and is no key-value family any more.
    pub fn insert(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.write(Put::new(key).column(&*self.family, b"", value).into())
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`].
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.get_with(key, <[u8]>::to_vec)
    }

    /// Calls `read` with the value of a key, and returns the result; `None` if the key is missing.
    ///
    /// Unlike [`get`](Self::get), this does not copy the value: `read` gets it from its block.
    ///
    /// ```
    /// # use store::{FamilyOptions, Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("f", FamilyOptions::default())?;
    /// let keys = store.keys("f")?;
    /// keys.insert("a", "12345")?;
    /// assert_eq!(keys.get_with("a", |value| value.len())?, Some(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Store::get`].
    #[inline]
    pub fn get_with<T>(
        &self,
        key: impl AsRef<[u8]>,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>> {
        let (mut read, mut found) = (Some(read), None);
        let get = Get::row(key).column(&*self.family, b"");
        self.store.get_with(&get, |cell| {
            // A get of one version of one column has one cell at most.
            if let Some(read) = read.take() {
                found = Some(read(cell.value));
            }
        })?;
        Ok(found)
    }

    /// Returns whether a key has a value.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`].
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        Ok(self.get_with(key, |_| ())?.is_some())
    }

    /// Removes a key; a missing key is not an error.
    ///
    /// # Errors
    ///
    /// As for [`Store::write`].
    pub fn remove(&self, key: impl AsRef<[u8]>) -> Result<()> {
        self.write(Delete::row(key).column(&*self.family, b"").into())
    }

    fn write(&self, batch: WriteBatch) -> Result<()> {
        let batch = WriteBatch { default_timestamp: DefaultTimestamp::SequenceId, ..batch };
        self.store.write(batch, self.store.inner.durability)
    }

    /// Returns the keys and values of a range, in order, as of this moment.
    pub fn range<K: AsRef<[u8]>>(&self, range: impl RangeBounds<K>) -> Pairs {
        let mut scan = Scan::family(&*self.family).column(b"");
        match range.start_bound() {
            Bound::Included(key) => scan = scan.start(key),
            Bound::Excluded(key) => scan = scan.start(successor(key.as_ref())),
            Bound::Unbounded => {}
        }
        match range.end_bound() {
            Bound::Included(key) => scan = scan.stop(successor(key.as_ref())),
            Bound::Excluded(key) => scan = scan.stop(key),
            Bound::Unbounded => {}
        }
        Pairs { cells: Some(self.store.scan(scan)) }
    }
}

/// Returns the least key greater than `key`.
fn successor(key: &[u8]) -> Vec<u8> {
    [key, b"\0"].concat()
}

/// An iterator over keys and values, made by [`Keys::range`]. After an error it ends.
#[derive(Debug)]
pub struct Pairs {
    /// `None` after an error.
    cells: Option<Result<ScanCells>>,
}

impl Pairs {
    /// Returns references to the next key and value; `None` at the end.
    ///
    /// # Errors
    ///
    /// As for [`Keys::get`].
    pub fn next_ref(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if matches!(self.cells, Some(Err(_)))
            && let Some(Err(error)) = self.cells.take()
        {
            return Err(error);
        }
        let Some(Ok(cells)) = &mut self.cells else { return Ok(None) };
        Ok(cells.next_ref()?.map(|cell| (cell.row, cell.value)))
    }
}

impl Iterator for Pairs {
    type Item = Result<(Vec<u8>, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_ref().transpose()?;
        Some(next.map(|(key, value)| (key.to_vec(), value.to_vec())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, CompactionKind, FamilyOptions, StoreOptions, Timestamp};

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
