//! A log of a table, with its place in the order of the reads.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use sstable::FileName;

use crate::error::{Error, Result};
use crate::tree::FileTree;
use crate::wal::region_events::{Position, WrittenBy};
use crate::wal::{self, LogEntry};

/// A log of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableLog<'p> {
    pub(crate) path: &'p Path,
    /// The number of the server's directory; `None` for recovered edits.
    server: Option<usize>,
    /// The number in the order of the reads.
    number: usize,
}

impl<'p> TableLog<'p> {
    /// Returns the logs in the order of the reads: recovered edits, then the logs of the servers.
    pub(crate) fn in_order(
        recovered: impl IntoIterator<Item = &'p PathBuf>,
        of_servers: &'p [PathBuf],
    ) -> Vec<Self> {
        let mut logs = Vec::new();
        for path in recovered {
            logs.push(Self { path, server: None, number: logs.len() });
        }
        // The logs of a server follow each other in the order of their writes.
        let (mut servers, mut directory) = (0_usize, None);
        for path in of_servers {
            if directory != Some(path.parent()) {
                directory = Some(path.parent());
                servers = servers.saturating_add(1);
            }
            logs.push(Self { path, server: Some(servers), number: logs.len() });
        }
        logs
    }

    /// Opens the log where it was, or where HBase has moved it since.
    pub(crate) fn open(&self, tree: &dyn FileTree, old_logs: Option<&Path>) -> Result<wal::Reader> {
        let mut opened = tree.open(self.path);
        let mut path = Cow::Borrowed(self.path);
        if opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            for moved in self.moved(old_logs) {
                if let Ok(source) = tree.open(&moved) {
                    (opened, path) = (Ok(source), Cow::Owned(moved));
                    break;
                }
            }
        }
        let source = opened.map_err(Error::io(self.path, "open it"))?;
        Ok(wal::Reader::open(source, FileName::new(path.display().to_string()))?)
    }

    /// Returns who wrote an entry of the log, and when.
    pub(crate) const fn written_by(&self, entry: &LogEntry) -> WrittenBy {
        let position = Position { log: self.number, offset: entry.offset };
        let LogEntry { write_time, sequence, .. } = *entry;
        WrittenBy { server: self.server, position, time: write_time, sequence }
    }

    /// Returns the places to which HBase moves the log of a server: when the server has died, and when all cells
    /// of the log are flushed or split.
    fn moved(&self, old_logs: Option<&Path>) -> Vec<PathBuf> {
        let parts = (self.server, old_logs, self.path.file_name(), self.path.parent());
        let (Some(_), Some(old), Some(name), Some(server)) = parts else { return Vec::new() };
        let mut splitting = server.as_os_str().to_owned();
        splitting.push("-splitting");
        let separate = server.file_name().map(|server| old.join(server).join(name));
        [Some(PathBuf::from(splitting).join(name)), Some(old.join(name)), separate]
            .into_iter()
            .flatten()
            .collect()
    }
}
