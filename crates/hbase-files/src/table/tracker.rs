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
//! of a reference that has no file of its own (3).
//!
//! A crash can leave a file that ends before its checksum, beside the older one: HBase passes it
//! over. Any other damage is an error, even if the other file is sound, because that one may be outdated. HBase:
//! `StoreFileListFile`.

use std::cmp::Reverse;
use std::fmt;
use std::path::{Path, PathBuf};

use prost::Message;
use sstable::{FileName, Reference};

use crate::error::{Error, Result};
use crate::tree::{FileTree, ItemKind};
use crate::warning::Warning;

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
    /// The tracker files that are at least as new, and end before their checksum.
    pub cut_off: Vec<PathBuf>,
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

/// The tracker files that a family has, before a new one replaces them.
#[derive(Debug, Default)]
pub(crate) struct PreviousLists {
    /// The newest list that can be read.
    pub(crate) newest: Option<TrackedFiles>,
    /// The tracker files that cannot be read, and why.
    pub(crate) unreadable: Vec<Warning>,
    /// Whether one that cannot be read may be newer than [`newest`](Self::newest), by its name.
    pub(crate) may_be_outdated: bool,
    /// The greatest timestamp of a list.
    pub(crate) timestamp_max: u64,
    /// The greatest time in the name of a tracker file; zero if none has one.
    pub(crate) name_time_max: u64,
}

/// The message `StoreFileList` of HBase's `StoreFileTracker.proto`.
#[derive(Clone, PartialEq, Message)]
struct ListMessage {
    #[prost(uint64, optional, tag = "1")]
    timestamp: Option<u64>,
    #[prost(message, repeated, tag = "2")]
    files: Vec<FileMessage>,
    #[prost(uint64, optional, tag = "3")]
    version: Option<u64>,
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

    /// The bytes of a tracker file beside its message: the length and the checksum.
    const FRAME_LEN: u64 = 8;

    /// The version of the lists that HBase writes. The fields of a higher version may change the meaning.
    const VERSION: u64 = 1;

    /// Reads the list of a family; `None` if the family has no tracker files.
    ///
    /// Of several tracker files, the newest one counts: by the time in their names, then by the time
    /// in the list. Those that end before their checksum are passed over, as long as there is another
    /// one.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the newest tracker file is damaged, or all are cut off;
    /// [`Error::Unsupported`] for a list of a higher version; [`Error::Io`] if one cannot be read.
    pub fn read(tree: &dyn FileTree, family: &Path) -> Result<Option<Self>> {
        let mut newest: Option<(u64, Self)> = None;
        let (mut cut_off, mut first_error) = (Vec::new(), None);
        for TrackerFile { time, path, len } in TrackerFile::list(tree, family)? {
            if newest.as_ref().is_some_and(|(newest, _)| *newest > time) {
                break;
            }
            match Self::read_file(tree, &path, len) {
                Ok(list) => {
                    if newest.as_ref().is_none_or(|(_, other)| list.timestamp > other.timestamp) {
                        newest = Some((time, list));
                    }
                }
                Err(Stop::Ends) => {
                    first_error.get_or_insert_with(|| {
                        Error::damaged(&path, "damaged tracker file: it is cut off")
                    });
                    cut_off.push(path);
                }
                Err(Stop::Error(error)) => return Err(error),
            }
        }
        match (newest, first_error) {
            (Some((_, list)), _) => Ok(Some(Self { cut_off, ..list })),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(None),
        }
    }

    /// Returns the bytes of a tracker file with this list, as HBase writes it.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] if the file exceeds HBase's limit of 16 MiB.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let files = self.files.iter().map(|file| FileMessage {
            name: Some(file.name.clone()),
            size: Some(file.size),
            reference: file
                .reference
                .as_ref()
                .map(|reference| without_magic(&reference.to_bytes())),
        });
        let list = ListMessage {
            timestamp: Some(self.timestamp),
            files: files.collect(),
            version: Some(Self::VERSION),
        };
        let message = list.encode_to_vec();
        let Some(len) = u32::try_from(message.len())
            .ok()
            .filter(|len| u64::from(*len) <= Self::LEN_MAX - Self::FRAME_LEN)
        else {
            let what = "exceeds 16 MiB, HBase's limit for a tracker file".to_owned();
            return Err(Error::TooMany { path: self.path.clone(), what });
        };
        let checksum = crc_fast::crc32_iso_hdlc(&message).to_be_bytes();
        Ok([&len.to_be_bytes()[..], &message, &checksum].concat())
    }

    /// Reads all tracker files of a family, also those that do not count.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), but damaged and cut off files are in [`PreviousLists::unreadable`].
    pub(crate) fn read_previous(tree: &dyn FileTree, family: &Path) -> Result<PreviousLists> {
        let mut previous = PreviousLists::default();
        let mut newest: Option<(u64, u64)> = None;
        let mut unreadable_time = None;
        for TrackerFile { time, path, len } in TrackerFile::list(tree, family)? {
            previous.name_time_max = previous.name_time_max.max(time);
            let what = match Self::read_file(tree, &path, len) {
                Ok(list) => {
                    previous.timestamp_max = previous.timestamp_max.max(list.timestamp);
                    if newest.is_none_or(|newest| newest < (time, list.timestamp)) {
                        newest = Some((time, list.timestamp));
                        previous.newest = Some(list);
                    }
                    continue;
                }
                Err(Stop::Ends) => "damaged tracker file: it is cut off".to_owned(),
                Err(Stop::Error(Error::Damaged { what, .. })) => what,
                Err(Stop::Error(error)) => return Err(error),
            };
            unreadable_time = unreadable_time.max(Some(time));
            previous.unreadable.push(Warning::new(path, what));
        }
        previous.may_be_outdated = unreadable_time >= newest.map(|(time, _)| time);
        Ok(previous)
    }

    /// Returns the name of the tracker file.
    pub(crate) fn file_name(&self) -> impl fmt::Display {
        self.path.file_name().unwrap_or_default().display()
    }

    /// Returns a warning for each tracker file that was passed over.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = Warning> {
        let read = self.file_name();
        let what =
            format!("is cut off: HBase passes it over and reads {read}, and so does this read");
        self.cut_off.iter().map(move |path| Warning::new(path, what.clone()))
    }

    fn read_file(tree: &dyn FileTree, path: &Path, len: u64) -> Result<Self, Stop> {
        let damaged = |what: &str| Error::Damaged { path: path.to_owned(), what: what.to_owned() };
        let size = match usize::try_from(len) {
            Ok(size) if len <= Self::LEN_MAX => size,
            _ => return Err(damaged("exceeds 16 MiB, HBase's limit for a tracker file").into()),
        };
        let source = tree.open(path).map_err(Error::io(path, "open it"))?;
        let mut bytes = vec![0; size];
        source.read_exact_at(&mut bytes, 0).map_err(Error::io(path, "read it"))?;
        let message =
            message(&bytes).map_err(|what| what.map_or(Stop::Ends, |what| damaged(what).into()))?;
        let list = ListMessage::decode(message)
            .map_err(|_| damaged("damaged tracker file: the message cannot be parsed"))?;
        let version = list.version.unwrap_or(Self::VERSION);
        if version > Self::VERSION {
            let what = format!("a tracker file of version {version}, which a newer HBase wrote");
            return Err(Error::Unsupported { path: path.to_owned(), what }.into());
        }
        let files = list.files.into_iter().map(|file| TrackedFile::new(file, path));
        Ok(Self {
            path: path.to_owned(),
            timestamp: list.timestamp.unwrap_or_default(),
            files: files.collect::<Result<_, _>>().map_err(damaged)?,
            cut_off: Vec::new(),
        })
    }
}

/// Why a tracker file has no list.
enum Stop {
    /// The file ends before its checksum.
    Ends,
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Returns the message of a tracker file. The error is `None` if the file is cut off.
fn message(bytes: &[u8]) -> Result<&[u8], Option<&'static str>> {
    let (len_bytes, after_len) = bytes.split_first_chunk().ok_or(None)?;
    let stated = u32::from_be_bytes(*len_bytes);
    let is_allowed = stated > 0 && u64::from(stated) <= TrackedFiles::LEN_MAX;
    let len = match usize::try_from(stated) {
        Ok(len) if is_allowed => len,
        _ => return Err(Some("damaged tracker file: the length is not between 1 and 16 MiB")),
    };
    let (message, after_message) = after_len.split_at_checked(len).ok_or(None)?;
    let (checksum, rest) = after_message.split_first_chunk().ok_or(None)?;
    if crc_fast::crc32_iso_hdlc(message) != u32::from_be_bytes(*checksum) {
        return Err(Some("damaged tracker file: checksum mismatch"));
    }
    if !rest.is_empty() {
        return Err(Some("damaged tracker file: bytes follow the checksum"));
    }
    Ok(message)
}

/// A tracker file that was not read yet.
struct TrackerFile {
    /// The time in its name.
    time: u64,
    path: PathBuf,
    len: u64,
}

impl TrackerFile {
    /// Lists the tracker files of a family, the newest first.
    fn list(tree: &dyn FileTree, family: &Path) -> Result<Vec<Self>> {
        let directory = family.join(DIRECTORY);
        let kind = tree.find(&directory).map_err(Error::io(&directory, "find it"))?;
        if kind != Some(ItemKind::Directory) {
            return Ok(Vec::new());
        }
        let items = tree.list(&directory).map_err(Error::io(&directory, "list it"))?;
        let mut files = Vec::new();
        for item in items {
            let Some(time) = item.name().and_then(name_time) else { continue };
            match item.kind {
                ItemKind::File { len } => files.push(Self { time, path: item.path, len }),
                ItemKind::Other => {
                    let what = "damaged tracker file: it is not a regular file";
                    return Err(Error::damaged(&item.path, what));
                }
                ItemKind::Directory | ItemKind::DirectoryLink => {}
            }
        }
        files.sort_by(|one, other| {
            (Reverse(one.time), &one.path).cmp(&(Reverse(other.time), &other.path))
        });
        Ok(files)
    }
}

impl TrackedFile {
    fn new(message: FileMessage, path: &Path) -> Result<Self, &'static str> {
        let name = message.name.ok_or("damaged tracker file: a file without a name")?;
        // The name is joined to the directory's path, and must not lead out of the directory.
        if name.is_empty() || name == ".." || name.contains(['/', '\\', '\0']) {
            return Err("damaged tracker file: the name of a file is a path");
        }
        let parsed = message.reference.map(|bytes| {
            let bytes = [b"PBUF", &bytes[..]].concat();
            Reference::parse(&bytes, &FileName::new(path.display().to_string()))
        });
        let sound = parsed.transpose();
        let reference = sound.map_err(|_| "damaged tracker file: a reference is damaged")?;
        Ok(Self { name, size: message.size.unwrap_or_default(), reference })
    }
}

/// Returns the message of a reference file, without the magic before it.
fn without_magic(bytes: &[u8]) -> Vec<u8> {
    bytes.strip_prefix(b"PBUF").expect("a reference is written with its magic").to_vec()
}

/// Returns the time in the name of a tracker file, and 0 for `f1` and `f2`.
fn name_time(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("f1").or_else(|| name.strip_prefix("f2"))?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('.')?.parse().ok() }
}
