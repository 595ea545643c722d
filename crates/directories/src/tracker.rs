//! The files of HBase's file-based store file tracker: the list of a family's live files.
//!
//! A table with `hbase.store.file-tracker.impl` = FILE keeps these files in `FAMILY/.filelist`. HBase
//! writes two files in turn, so that one is complete while the other is written. HBase 2.5 calls them
//! `f1` and `f2`, newer versions `f1.TIME` and `f2.TIME`.
//!
//! | bytes | field      | meaning                                                              |
//! |------:|------------|----------------------------------------------------------------------|
//! |     4 | length     | i32 BE, of the message                                               |
//! |       | message    | `StoreFileList`: timestamp (1), files (2), version (3)               |
//! |     4 | checksum   | i32 BE, CRC-32 of the message                                        |
//!
//! A file in the message is a `StoreFileEntry`: name (1), size (2) and, in newer versions, the half
//! of a reference that has no file of its own (3). HBase: `StoreFileListFile`.

use std::path::{Path, PathBuf};

use prost::Message;
use sstable::{FileName, Reference};

use crate::{Error, FileTree, ItemKind, Result};

/// The name of the directory of tracker files.
pub(crate) const DIRECTORY: &str = ".filelist";

/// The list of a family's live files, as a store file tracker has written it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrackedFiles {
    /// The tracker file.
    pub path: PathBuf,
    /// When the list was written, in milliseconds since 1970.
    pub timestamp: u64,
    /// The live files.
    pub files: Vec<TrackedFile>,
}

/// A live file of a family.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrackedFile {
    /// The name.
    pub name: String,
    /// The size in bytes; zero for a reference or a link.
    pub size: u64,
    /// The half of the file, for a reference that has no file of its own.
    pub reference: Option<Reference>,
}

/// The message `StoreFileList` of HBase's `StoreFileTracker.proto`.
#[derive(Clone, PartialEq, Message)]
struct ListMessage {
    #[prost(uint64, optional, tag = "1")]
    timestamp: Option<u64>,
    #[prost(message, repeated, tag = "2")]
    files: Vec<FileMessage>,
}

/// The message `StoreFileEntry`.
#[derive(Clone, PartialEq, Message)]
struct FileMessage {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(uint64, optional, tag = "2")]
    size: Option<u64>,
    /// The message `Reference`: the contents of a reference file, without the magic.
    #[prost(bytes = "vec", optional, tag = "3")]
    reference: Option<Vec<u8>>,
}

impl TrackedFiles {
    /// The limit of HBase for a tracker file.
    const LEN_MAX: u64 = 16 << 20;

    /// Reads the list of a family; `None` if the family has no tracker files.
    ///
    /// Of several tracker files, the newest sound one counts: by the time in their names, then by
    /// the time in the list. A write that was interrupted leaves a damaged file beside a sound one.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if all tracker files are damaged, [`Error::Io`] if one cannot be read.
    pub fn read(tree: &dyn FileTree, family: &Path) -> Result<Option<Self>> {
        let directory = family.join(DIRECTORY);
        let kind = tree.find(&directory).map_err(Error::io(&directory, "find it"))?;
        if kind != Some(ItemKind::Directory) {
            return Ok(None);
        }
        let items = tree.list(&directory).map_err(Error::io(&directory, "list it"))?;
        let mut newest: Option<(u64, Self)> = None;
        let mut damage = None;
        for item in items {
            let (Some(time), ItemKind::File { len }) = (item.name().and_then(name_time), item.kind)
            else {
                continue;
            };
            match Self::read_file(tree, &item.path, len) {
                Ok(list) => {
                    let is_newer = newest.as_ref().is_none_or(|(other_time, other)| {
                        (time, list.timestamp) > (*other_time, other.timestamp)
                    });
                    if is_newer {
                        newest = Some((time, list));
                    }
                }
                Err(error @ Error::Damaged { .. }) => damage = Some(error),
                Err(error) => return Err(error),
            }
        }
        match (newest, damage) {
            (Some((_, list)), _) => Ok(Some(list)),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(None),
        }
    }

    fn read_file(tree: &dyn FileTree, path: &Path, len: u64) -> Result<Self> {
        let damaged = |what: &str| Error::Damaged { path: path.to_owned(), what: what.to_owned() };
        let len = usize::try_from(len).ok().filter(|_| len <= Self::LEN_MAX);
        let len = len.ok_or_else(|| damaged("exceeds 16 MiB, HBase's limit for a tracker file"))?;
        let source = tree.open(path).map_err(Error::io(path, "open it"))?;
        let mut bytes = vec![0; len];
        source.read_exact_at(&mut bytes, 0).map_err(Error::io(path, "read it"))?;
        Self::parse(&bytes, path).map_err(damaged)
    }

    /// Parses a tracker file.
    fn parse(bytes: &[u8], path: &Path) -> Result<Self, &'static str> {
        let too_short = "damaged tracker file: too short";
        let (len, rest) = bytes.split_first_chunk().ok_or(too_short)?;
        let len = usize::try_from(i32::from_be_bytes(*len));
        let len = len.map_err(|_| "damaged tracker file: negative length")?;
        let message = rest.get(..len).ok_or(too_short)?;
        let checksum: Option<[u8; 4]> = rest.get(len..).and_then(|rest| rest.try_into().ok());
        let checksum = checksum.ok_or("damaged tracker file: the length is wrong")?;
        if crc_fast::crc32_iso_hdlc(message) != u32::from_be_bytes(checksum) {
            return Err("damaged tracker file: checksum mismatch");
        }
        let list = ListMessage::decode(message)
            .map_err(|_| "damaged tracker file: the message cannot be parsed")?;
        let files = list.files.into_iter().map(|file| TrackedFile::new(file, path));
        Ok(Self {
            path: path.to_owned(),
            timestamp: list.timestamp.unwrap_or_default(),
            files: files.collect::<Result<_, _>>()?,
        })
    }
}

impl TrackedFile {
    fn new(message: FileMessage, path: &Path) -> Result<Self, &'static str> {
        let name = message.name.ok_or("damaged tracker file: a file without a name")?;
        // The name is joined to the directory's path, and must not lead out of the directory.
        if name.is_empty() || name == ".." || name.contains(['/', '\\', '\0']) {
            return Err("damaged tracker file: the name of a file is a path");
        }
        let reference = message.reference.map(|bytes| {
            let bytes = [b"PBUF", &bytes[..]].concat();
            Reference::parse(&bytes, &FileName::new(path.display().to_string()))
        });
        let reference = reference.transpose();
        let reference = reference.map_err(|_| "damaged tracker file: a reference is damaged")?;
        Ok(Self { name, size: message.size.unwrap_or_default(), reference })
    }
}

/// Returns the time in the name of a tracker file, and 0 for `f1` and `f2`.
fn name_time(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("f1").or_else(|| name.strip_prefix("f2"))?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('.')?.parse().ok() }
}
