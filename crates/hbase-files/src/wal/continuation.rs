//! A log that was not closed, and is not the last log of its server.
//!
//! When a server dies, its last log may be torn; no acknowledged write is lost by that. If there is a newer log of the
//! same server, the torn one was not the last. There are two causes, and the files tell them apart only in part:
//!
//! | cause                                                     | what is lost                              |
//! |-----------------------------------------------------------|-------------------------------------------|
//! | a write to the log failed, so that the server began a new | nothing: the server writes all entries    |
//! | log (`AsyncFSWAL.syncFailed`)                             | that were not acknowledged again, in order |
//! | the file or its copy was cut off later                    | the entries from there on                 |
//!
//! A log that was cut off between two entries is not torn, and looks as one whose server died before it closed it. Only
//! missing sequence ids tell the two apart.
//!
//! It is certain that nothing is lost from a torn log only if the newer log has the torn entry again. The key of that entry tells, if it
//! is whole and the log has no dictionaries. Otherwise entries may be lost. Sequence ids of a region that
//! neither log has are only a hint, because a write that skips the log takes one too.
//!
//! The name of a log is `PREFIX.TIME`, `PREFIX.TIME.meta` or `PREFIX.TIME.syncrep`; the prefix has the server, with
//! the time of its start, and the number of the group if a server has several logs (`AbstractFSWALProvider`). HBase
//! moves logs between directories, and keeps their names.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use sstable::{Cell, FileName};

use super::entry::LogEntry;
use super::error::{Error, Result};
use super::marker::Marker;
use super::reader::{End, LogPart, Reader};
use crate::tree::FileTree;

/// What is known of a log that was not closed, although its server went on in another one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogContinuation {
    /// The next log of the server that has entries; the next one, if none has.
    pub log: PathBuf,
    /// Whether the next log has the torn entry, so that no entry is lost.
    pub is_repeated: bool,
    /// The sequence ids between the entries of both logs, for each region with a gap.
    pub gaps: Vec<SequenceGap>,
}

/// Sequence ids of a region that no entry has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SequenceGap {
    /// The table.
    pub table: String,
    /// The encoded name of the region.
    pub region: String,
    /// The first missing sequence id.
    pub first: u64,
    /// The last missing sequence id.
    pub last: u64,
}

/// The table and the encoded name of a region.
type RegionKey = (String, String);

impl LogContinuation {
    /// Returns where the server of a log went on; `None` if the log is closed, if only its trailer is torn, or if
    /// none of the other logs is a newer one of the server. Also `None` if the log ends without a trailer after a whole
    /// entry, and no sequence ids are missing between the two logs.
    ///
    /// Reads the log and the next one with entries, each up to the first damage.
    ///
    /// # Errors
    ///
    /// [`Error`] if the log cannot be opened, and [`Error::Io`].
    pub fn find<'l>(
        tree: &dyn FileTree,
        log: &Path,
        others: impl IntoIterator<Item = &'l Path>,
    ) -> Result<Option<Self>> {
        let newer = newer_logs(log, others);
        let Some(mut next) = newer.first() else { return Ok(None) };
        let mut reader = open(tree, log)?;
        let mut last: BTreeMap<RegionKey, u64> = BTreeMap::new();
        while let Some(entry) = next_entry(&mut reader)? {
            last.insert((entry.table, entry.region), entry.sequence);
        }
        let is_torn = match reader.end() {
            Some(End::Torn { part: LogPart::Trailer, .. } | End::Closed) | None => return Ok(None),
            Some(End::Torn { .. }) => true,
            Some(End::Open) => false,
        };
        let torn = reader.torn_entry();
        let mut first: BTreeMap<RegionKey, u64> = BTreeMap::new();
        let mut is_repeated = false;
        for log in &newer {
            let mut reader = match open(tree, log) {
                Ok(reader) => reader,
                Err(error @ Error::Io { .. }) => return Err(error),
                // Nothing shows that it repeats the entries.
                Err(_) => break,
            };
            while let Some(entry) = next_entry(&mut reader)? {
                let key = (entry.table, entry.region);
                is_repeated |= torn.as_ref().is_some_and(|torn| {
                    torn.sequence == entry.sequence
                        && (&torn.table, &torn.region) == (&key.0, &key.1)
                });
                // A region that was opened again may have been with another server in the meantime.
                let first_sequence =
                    if entry.cells.iter().any(is_opening) { 0 } else { entry.sequence };
                first.entry(key).or_insert(first_sequence);
            }
            // The server can have begun several logs until a write succeeded.
            if !first.is_empty() {
                next = log;
                break;
            }
        }
        let gaps = if is_repeated {
            Vec::new()
        } else {
            last.into_iter()
                .filter_map(|(key, last)| {
                    let (from, to) = (last.checked_add(1)?, first.get(&key)?.checked_sub(1)?);
                    let (table, region) = key;
                    (from <= to).then_some(SequenceGap { table, region, first: from, last: to })
                })
                .collect()
        };
        // Without missing ids, assume that the server died before it had closed the log: nothing is lost.
        if !is_torn && gaps.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { log: (*next).to_owned(), is_repeated, gaps }))
    }
}

impl fmt::Display for LogContinuation {
    /// Writes what may be lost, as in "entries may be lost: the server went on in LOG".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log = self.log.file_name().unwrap_or_default().display();
        if self.is_repeated {
            return write!(f, "no entries are lost: the server wrote them again in {log}");
        }
        write!(f, "entries may be lost: the server went on in {log}")?;
        let Some((SequenceGap { table, region, first, last }, others)) = self.gaps.split_first()
        else {
            return Ok(());
        };
        let ids =
            if first == last { format!("id {first}") } else { format!("ids {first} to {last}") };
        write!(f, "; no entry has the sequence {ids} of {table} {region}")?;
        match others.len() {
            0 => Ok(()),
            1 => f.write_str(", and some of another region"),
            more => write!(f, ", and some of {more} other regions"),
        }
    }
}

fn is_opening(cell: &Cell) -> bool {
    matches!(Marker::parse(cell), Some(Marker::Open(_)))
}

/// Returns the logs that the same server began after `log`, the oldest first.
fn newer_logs<'l>(log: &Path, others: impl IntoIterator<Item = &'l Path>) -> Vec<&'l Path> {
    let Some(name) = LogName::of(log) else { return Vec::new() };
    let readable = others.into_iter().filter_map(|other| {
        let found = LogName::of(other).filter(|other| {
            (other.prefix, other.suffix) == (name.prefix, name.suffix) && other.time > name.time
        });
        Some((found?.time, other))
    });
    let mut newer: Vec<(u64, &Path)> = readable.collect();
    newer.sort_unstable();
    newer.into_iter().map(|(_, path)| path).collect()
}

/// The parts of the name of a log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct LogName<'p> {
    /// The server, and the group of its logs.
    prefix: &'p str,
    /// When the server began the log, in milliseconds since 1970.
    time: u64,
    /// What the log is for, such as `meta`; mostly empty.
    suffix: &'p str,
}

impl<'p> LogName<'p> {
    /// Parses the name of a path; `None` if it is not one that a server gives, as in `recovered.edits`.
    fn of(path: &'p Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (rest, last) = name.rsplit_once('.')?;
        if let Ok(time) = last.parse() {
            return Some(Self { prefix: rest, time, suffix: "" });
        }
        let (prefix, time) = rest.rsplit_once('.')?;
        Some(Self { prefix, time: time.parse().ok()?, suffix: last })
    }
}

fn open(tree: &dyn FileTree, path: &Path) -> Result<Reader> {
    let file = FileName::new(path.display().to_string());
    match tree.open(path) {
        Ok(source) => Reader::open(source, file),
        Err(source) => Err(Error::Io { file, offset: 0, source }),
    }
}

/// Returns the next entry; `None` at the end and at damage.
fn next_entry(reader: &mut Reader) -> Result<Option<LogEntry>> {
    match reader.next() {
        Some(Err(error @ Error::Io { .. })) => Err(error),
        Some(Ok(entry)) => Ok(Some(entry)),
        Some(Err(_)) | None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_log_is_the_oldest_newer_one_of_the_same_server_and_group() {
        let server = "h%2C16020%2C17";
        let names = [
            "a/h%2C16020%2C17.100",
            "b/h%2C16020%2C17.300",
            "oldWALs/h%2C16020%2C17.200",
            "a/h%2C16020%2C17.meta.250.meta",
            "a/h%2C16020%2C17.h%2C16020%2C17.regiongroup-0.150",
            "a/h%2C16020%2C18.150",
            "a/h%2C16020%2C17.100.meta",
            "a/42",
        ];
        let next = |name: &str| {
            let others = names.iter().map(Path::new);
            newer_logs(Path::new(name), others).first().map(|path| path.to_str().expect("text"))
        };
        assert_eq!(next(&format!("x/{server}.100")), Some(names[2]));
        assert_eq!(next(&format!("x/{server}.200")), Some(names[1]));
        assert_eq!(next(&format!("x/{server}.300")), None);
        assert_eq!(next(&format!("x/{server}.meta.200.meta")), Some(names[3]));
        assert_eq!(next(&format!("x/{server}.{server}.regiongroup-0.100")), Some(names[4]));
        assert_eq!(next(&format!("x/{server}.{server}.regiongroup-1.100")), None);
        assert_eq!(next("x/41"), None);
    }
}
