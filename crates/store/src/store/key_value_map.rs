//! The reads of a family as a sorted map, in a store or in a snapshot.

use std::ops::{Bound, RangeBounds};

use sstable::{Cell, CellRef};

use super::Store;
use crate::error::Result;
use crate::files::version::store_version::Family;
#[cfg(doc)]
use crate::options::FamilyOptions;
use crate::read::query::{Get, Scan};
use crate::read::scan::ScanCells;
use crate::read::snapshot::Snapshot;
use crate::write::accepted_batch::check_is_key_value;
#[cfg(doc)]
use crate::write::mutation::WriteBatch;

/// A key and its value.
pub type KeyValue = (Vec<u8>, Vec<u8>);

/// A family as a sorted map from byte keys to byte values. A key has 1 to 32,767 bytes.
///
/// [`Store::map`] and [`Snapshot::map`] return a map; only the map of a store writes. A [`WriteBatch`]
/// writes to several keys and families atomically.
///
/// A key is a row whose value is in the column with the empty name, with its sequence id as the
/// timestamp. So [`Put`](crate::Put) and [`Delete`](crate::Delete) of that column work, too, but
/// other columns and timestamps of the caller are refused. A delete of a whole row without families
/// leaves such a family out, and it has no TTL ([`FamilyOptions::key_value`]).
///
/// ```
/// use store::{Store, StoreOptions};
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// let store = Store::open(directory, StoreOptions::default())?;
/// let map = store.create_map("f")?;
/// map.insert("b", "2")?;
/// map.insert("a", "1")?;
/// assert_eq!(map.get("a")?.as_deref(), Some(&b"1"[..]));
/// map.remove("a")?;
/// let all: Vec<_> = map.range::<&str>(..).collect::<Result<_, _>>()?;
/// assert_eq!(all, [(b"b".to_vec(), b"2".to_vec())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyValueMap<R = Store> {
    /// A store or a snapshot.
    pub(super) source: R,
    pub(super) family: Box<str>,
}

/// What the reads of a [`KeyValueMap`] need. Other crates cannot name the trait.
pub trait KeySource {
    /// Calls `visit` for the cells of a get.
    fn get_with(&self, get: &Get, visit: impl FnMut(CellRef<'_>)) -> Result<()>;
    /// Returns the cells of each get.
    fn multi_get(&self, gets: &[Get]) -> Result<Vec<Vec<Cell>>>;
    /// Begins a scan.
    fn scan(&self, scan: Scan) -> Result<ScanCells>;
}

impl KeySource for Store {
    fn get_with(&self, get: &Get, visit: impl FnMut(CellRef<'_>)) -> Result<()> {
        self.get_with(get, visit)
    }

    fn multi_get(&self, gets: &[Get]) -> Result<Vec<Vec<Cell>>> {
        self.multi_get(gets)
    }

    fn scan(&self, scan: Scan) -> Result<ScanCells> {
        self.scan(scan)
    }
}

impl KeySource for Snapshot {
    fn get_with(&self, get: &Get, visit: impl FnMut(CellRef<'_>)) -> Result<()> {
        self.get_with(get, visit)
    }

    fn multi_get(&self, gets: &[Get]) -> Result<Vec<Vec<Cell>>> {
        self.multi_get(gets)
    }

    fn scan(&self, scan: Scan) -> Result<ScanCells> {
        self.scan(scan)
    }
}

impl<R: KeySource> KeyValueMap<R> {
    /// Creates the map of a family. Refuses a family of cells.
    pub(crate) fn new(source: R, family: &Family) -> Result<Self> {
        check_is_key_value(family)?;
        Ok(Self { source, family: family.name.as_str().into() })
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
    /// # use store::{Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// let map = store.create_map("f")?;
    /// map.insert("a", "12345")?;
    /// assert_eq!(map.get_with("a", |value| value.len())?, Some(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Store::get`].
    pub fn get_with<T>(
        &self,
        key: impl AsRef<[u8]>,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>> {
        let (mut read, mut found) = (Some(read), None);
        let get = Get::row(key).column(&*self.family, b"");
        self.source.get_with(&get, |cell| {
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

    /// Returns the values of many keys, all as of one moment, in the order of `keys`.
    ///
    /// This is faster than single gets, because their cache misses overlap.
    ///
    /// # Errors
    ///
    /// As for [`Store::multi_get`].
    pub fn multi_get<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let get = |key| Get::row(key).column(&*self.family, b"");
        let gets: Vec<_> = keys.into_iter().map(get).collect();
        let answers = self.source.multi_get(&gets)?;
        let value = |cells: Vec<Cell>| cells.first().map(|cell| cell.value().to_vec());
        Ok(answers.into_iter().map(value).collect())
    }

    /// Returns the keys and values of a range, in order, as of this moment.
    ///
    /// A range whose start is behind its end is empty.
    pub fn range<K: AsRef<[u8]>>(&self, range: impl RangeBounds<K>) -> Pairs {
        let mut scan = self.all();
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
        self.pairs(scan)
    }

    /// Returns the keys and values of a range, the greatest key first, as of this moment.
    ///
    /// The range is the one of [`range`](Self::range): its start is the least key.
    ///
    /// ```
    /// # use store::{Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// let map = store.create_map("f")?;
    /// for day in ["2024-05-01", "2024-05-09", "2024-06-02"] {
    ///     map.insert(day, "")?;
    /// }
    /// let before_june = map.range_backwards(.."2024-06").next().transpose()?;
    /// assert_eq!(before_june, Some((b"2024-05-09".to_vec(), Vec::new())));
    /// assert_eq!(map.prefix("2024-05").count(), 2);
    /// assert_eq!(map.last()?, Some((b"2024-06-02".to_vec(), Vec::new())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn range_backwards<K: AsRef<[u8]>>(&self, range: impl RangeBounds<K>) -> Pairs {
        let mut scan = self.all().reverse(true);
        match range.end_bound() {
            Bound::Included(key) => scan = scan.start(key),
            Bound::Excluded(key) => {
                let end: Box<[u8]> = key.as_ref().into();
                // A scan includes its start.
                scan = scan.start(&end).filter(move |cell| *cell.row != *end);
            }
            Bound::Unbounded => {}
        }
        match range.start_bound() {
            Bound::Included(key) => {
                let start: Box<[u8]> = key.as_ref().into();
                // A scan excludes its stop, and no key is just below `start`.
                if let Some(below) = below(&start) {
                    scan = scan.stop(below).filter(move |cell| *cell.row >= *start);
                }
            }
            Bound::Excluded(key) => scan = scan.stop(key),
            Bound::Unbounded => {}
        }
        self.pairs(scan)
    }

    /// Returns the keys that begin with `prefix` and their values, in order, as of this moment.
    pub fn prefix(&self, prefix: impl AsRef<[u8]>) -> Pairs {
        self.pairs(self.all().prefix(prefix))
    }

    /// Returns what [`prefix`](Self::prefix) returns, the greatest key first.
    pub fn prefix_backwards(&self, prefix: impl AsRef<[u8]>) -> Pairs {
        self.pairs(self.all().prefix(prefix).reverse(true))
    }

    /// Returns the least key and its value.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`].
    pub fn first(&self) -> Result<Option<KeyValue>> {
        self.pairs(self.all()).next().transpose()
    }

    /// Returns the greatest key and its value.
    ///
    /// # Errors
    ///
    /// As for [`Store::get`].
    pub fn last(&self) -> Result<Option<KeyValue>> {
        self.pairs(self.all().reverse(true)).next().transpose()
    }

    fn all(&self) -> Scan {
        Scan::family(&*self.family).column(b"")
    }

    fn pairs(&self, scan: Scan) -> Pairs {
        Pairs { cells: Some(self.source.scan(scan)) }
    }
}

/// Returns the least key greater than `key`.
fn successor(key: &[u8]) -> Vec<u8> {
    [key, b"\0"].concat()
}

/// Returns a key that is a little less than `key`; `None` if none is less.
fn below(key: &[u8]) -> Option<Vec<u8>> {
    let (last, rest) = key.split_last()?;
    let less = last.checked_sub(1).map(|less| [rest, &[less], &[u8::MAX; 16]].concat());
    Some(less.unwrap_or_else(|| rest.to_vec()))
}

/// An iterator over keys and values, as [`KeyValueMap::range`] makes. After an error it ends.
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
    /// As for [`KeyValueMap::get`].
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
    type Item = Result<KeyValue>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_ref().transpose()?;
        Some(next.map(|(key, value)| (key.to_vec(), value.to_vec())))
    }
}
