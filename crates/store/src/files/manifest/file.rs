//! The manifest's entry of a store file, and the checks that an open file is the listed one.
//!
//! | bytes | field           | encoding and meaning                                            |
//! |------:|-----------------|-----------------------------------------------------------------|
//! |    16 | `name`          | the bytes whose hex digits are the file's name                  |
//! |  1+16 | `id`            | u8 whether present; the id in the file info                     |
//! |     8 | `length`        | u64 BE                                                          |
//! |     4 | `checksum`      | u32 BE; CRC-32C of the whole file                               |
//! |     8 | `cells`         | u64 BE                                                          |
//! |   8+8 | `sequence ids`  | u64 BE least and greatest                                       |
//! |     1 | `carried`       | u8: 1 if cells have their own; 0 if all have the greatest       |
//! | 1+8+8 | `times`         | u8 whether known; i64 BE oldest and newest                      |
//! |   4+n | `first key`     | u32 BE length, and the flat key of the first cell               |
//! |   4+n | `last key`      | u32 BE length, and the flat key of the last cell                |
//!
//! A file that this store wrote has its id in the file info, under [`FILE_ID_KEY`], which HBase ignores. An
//! imported file has no id, or the id of another store; the other fields identify it. See
//! `docs/src/decisions/0007-files-are-told-from-each-other.md`.

use std::fmt;
use std::io::{self, Read};

use byteorder::{BigEndian, ReadBytesExt, WriteBytesExt};
use sstable::{Comparator, FileInfo, KeyRef, Reader, SequenceId, Timestamp};

use super::bytes::{Invalid, read_bytes, read_flag};
use crate::files::names::identity::is_store_file_name;
use crate::files::names::sequence;

/// The file-info key of a store file's id: 16 bytes, unique to the file. HBase ignores it.
///
/// A program that copies the cells of a store file into another file must leave this entry out.
pub const FILE_ID_KEY: &[u8] = b"STORE_FILE_ID";

/// The manifest's entry of a store file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FileEntry {
    pub(crate) name: String,
    /// `None` for an imported file without an id.
    pub(crate) id: Option<FileId>,
    pub(crate) length: u64,
    pub(crate) checksum: u32,
    pub(crate) cells: u64,
    pub(crate) sequence_min: SequenceId,
    pub(crate) sequence_max: SequenceId,
    pub(crate) carries_sequence_ids: bool,
    pub(crate) times: Option<(Timestamp, Timestamp)>,
    pub(crate) first_key: FlatKey,
    pub(crate) last_key: FlatKey,
}

fn differ(what: &str, file: &dyn fmt::Display, manifest: &dyn fmt::Display) -> String {
    format!("is not the file that the manifest lists: {what} {file}, not {manifest}")
}

/// The id of a store file: the name under which it was written. It stays the same if the file is renamed.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) struct FileId([u8; 16]);

/// A valid key of a cell in the flat form of HFiles.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FlatKey(Vec<u8>);

impl FileEntry {
    /// Returns the entry of an imported file. Its age is what the file states, otherwise the oldest. Returns
    /// `None` if the file has no cells, or invalid keys.
    pub(crate) fn of_file(file: &Reader, name: &str, checksum: u32) -> Option<Self> {
        let carried = sequence::carried(file);
        Some(Self {
            name: name.to_owned(),
            id: FileId::of(file.file_info()),
            length: file.len(),
            checksum,
            cells: file.trailer().entry_count,
            sequence_min: SequenceId::default(),
            sequence_max: carried.unwrap_or_default(),
            carries_sequence_ids: carried.is_some(),
            times: file.file_info().time_range().map(|range| (range.min, range.max)),
            first_key: FlatKey::parse(file.index().first_key()?)?,
            last_key: FlatKey::parse(file.index().last_key()?)?,
        })
    }

    /// Returns the problem if a file does not have the listed length.
    pub(crate) fn wrong_len(&self, len: u64) -> Option<String> {
        (len != self.length).then(|| differ("its length is", &len, &self.length))
    }

    /// Returns the problem if the CRC-32C of the whole file is not the listed one.
    pub(crate) fn wrong_checksum(&self, checksum: u32) -> Option<String> {
        let stated = self.checksum;
        (checksum != stated).then(|| {
            format!("the file's CRC-32C is {checksum:08x}, where the manifest has {stated:08x}")
        })
    }

    /// Returns the first difference between an open file and this entry, or `None` if the file may be the
    /// listed one. Only the checksum of the whole file is certain.
    pub(crate) fn contradiction(&self, file: &Reader) -> Option<String> {
        let id = FileId::of(file.file_info());
        if id != self.id {
            return Some(differ("its id is", &shown_id(id), &shown_id(self.id)));
        }
        if file.trailer().entry_count != self.cells {
            return Some(differ("its cells are", &file.trailer().entry_count, &self.cells));
        }
        for (what, found, listed) in [
            ("its first key is", file.index().first_key(), &self.first_key),
            ("its last key is", file.index().last_key(), &self.last_key),
        ] {
            if found != Some(&listed.0) {
                let found = found.and_then(KeyRef::parse);
                let found = found.map_or_else(|| "none".to_owned(), |key| key.to_string());
                return Some(differ(what, &found, listed));
            }
        }
        None
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let name = FileId::from_name(&self.name).expect("names are 32 hex digits");
        out.extend_from_slice(&name.0);
        out.write_u8(self.id.is_some().into())?;
        out.extend_from_slice(&self.id.map_or([0; 16], |id| id.0));
        out.write_u64::<BigEndian>(self.length)?;
        out.write_u32::<BigEndian>(self.checksum)?;
        out.write_u64::<BigEndian>(self.cells)?;
        out.write_u64::<BigEndian>(self.sequence_min.get())?;
        out.write_u64::<BigEndian>(self.sequence_max.get())?;
        out.write_u8(self.carries_sequence_ids.into())?;
        out.write_u8(self.times.is_some().into())?;
        let (oldest, newest) = self.times.unwrap_or_default();
        out.write_i64::<BigEndian>(oldest.get())?;
        out.write_i64::<BigEndian>(newest.get())?;
        for FlatKey(key) in [&self.first_key, &self.last_key] {
            out.write_u32::<BigEndian>(key.len().try_into().expect("a key fits into a cell"))?;
            out.extend_from_slice(key);
        }
        Ok(())
    }

    pub(super) fn read(bytes: &mut &[u8]) -> Result<Self, Invalid> {
        let name = format!("{:032x}", bytes.read_u128::<BigEndian>()?);
        let has_id = read_flag(bytes)?;
        let mut id = FileId([0; 16]);
        bytes.read_exact(&mut id.0)?;
        let (length, checksum) = (bytes.read_u64::<BigEndian>()?, bytes.read_u32::<BigEndian>()?);
        let cells = bytes.read_u64::<BigEndian>()?;
        let sequence_min = SequenceId::new(bytes.read_u64::<BigEndian>()?);
        let sequence_max = SequenceId::new(bytes.read_u64::<BigEndian>()?);
        if sequence_min > sequence_max {
            return Err(Invalid("sequence ids out of order"));
        }
        sequence::check(sequence_max).map_err(Invalid)?;
        let (carries_sequence_ids, has_times) = (read_flag(bytes)?, read_flag(bytes)?);
        let oldest = Timestamp::new(bytes.read_i64::<BigEndian>()?);
        let newest = Timestamp::new(bytes.read_i64::<BigEndian>()?);
        let (first_key, last_key) = (read_key(bytes)?, read_key(bytes)?);
        if Comparator::Bytes.compare(&first_key.as_ref(), &last_key.as_ref()).is_gt() {
            return Err(Invalid("the last key is before the first"));
        }
        Ok(Self {
            name,
            id: has_id.then_some(id),
            length,
            checksum,
            cells,
            sequence_min,
            sequence_max,
            carries_sequence_ids,
            times: has_times.then_some((oldest, newest)),
            first_key,
            last_key,
        })
    }
}

impl FileId {
    /// Returns the id of a file that is written under this name, or `None` if it is no store file's name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        is_store_file_name(name).then_some(())?;
        u128::from_str_radix(name, 16).ok().map(|number| Self(number.to_be_bytes()))
    }

    /// Returns the id in a file's file info.
    pub(crate) fn of(file_info: &FileInfo) -> Option<Self> {
        file_info.value(FILE_ID_KEY)?.try_into().ok().map(Self)
    }

    pub(crate) const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn shown_id(id: Option<FileId>) -> String {
    id.map_or_else(|| "none".to_owned(), |id| id.to_string())
}

impl FlatKey {
    /// Parses a flat key. Returns `None` if the bytes are not one.
    pub(crate) fn parse(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        let bytes = bytes.into();
        KeyRef::parse(&bytes).is_some().then_some(Self(bytes))
    }

    fn as_ref(&self) -> KeyRef<'_> {
        KeyRef::parse(&self.0).expect("checked when it was made")
    }
}

impl fmt::Display for FlatKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_ref(), f)
    }
}

fn read_key(bytes: &mut &[u8]) -> Result<FlatKey, Invalid> {
    let len = usize::try_from(bytes.read_u32::<BigEndian>()?);
    let key = read_bytes(bytes, len.map_err(|_| Invalid("ends too early"))?)?;
    FlatKey::parse(key).ok_or(Invalid("a key that is none"))
}
