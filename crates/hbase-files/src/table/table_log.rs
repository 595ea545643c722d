//! A log of a table, with its place in the order of the reads.

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
        // The logs of a server follow each other in the order of their writes.
        let (mut servers, mut directory) = (0_usize, None);
        let of_servers = of_servers.iter().map(|path| {
            if directory != Some(path.parent()) {
                directory = Some(path.parent());
                servers = servers.saturating_add(1);
            }
            (Some(servers), path)
        });
        let logs = recovered.into_iter().map(|path| (None, path)).chain(of_servers).enumerate();
        logs.map(|(number, (server, path))| Self { path, server, number }).collect()
    }

    /// Opens the log where it was, or where HBase has moved it since.
    pub(crate) fn open(&self, tree: &dyn FileTree, old_logs: Option<&Path>) -> Result<wal::Reader> {
        let open = |path: &Path| {
            let source = tree.open(path)?;
            Ok((source, FileName::new(path.display().to_string())))
        };
        let opened = open(self.path).or_else(|error: io::Error| {
            let is_gone = error.kind() == io::ErrorKind::NotFound;
            let moved = self.moved(old_logs).into_iter().filter(|_| is_gone);
            moved.map(|path| open(&path)).find_map(io::Result::ok).ok_or(error)
        });
        let (source, name) = opened.map_err(Error::io(self.path, "open it"))?;
        Ok(wal::Reader::open(source, name)?)
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
