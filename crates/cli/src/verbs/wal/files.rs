//! The PATH arguments of `hfile wal`: logs, and directories of logs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use hbase_files::wal::Reader;
use hbase_files::{FileTree, ItemKind, LocalTree};
use sstable::{FileName, FileSource, ReadAt};

use crate::failure::{Answer, Failure};
use crate::inputs::Outcomes;
use crate::text::size_text::show_number;
use crate::text::stderr::print_message;

/// The greatest depth of a directory below an argument.
///
/// Logs are one level below `WALs`, and at most seven levels below the root directory of HBase.
const DEPTH_MAX: usize = 16;

/// Runs `work` for each log, and combines the answers.
///
/// The logs come in the order of the arguments, logs of a directory in the order of their paths.
/// If there is only one log, its error is returned unchanged.
pub(super) fn for_each_log(
    paths: &[PathBuf],
    mut work: impl FnMut(&Path) -> anyhow::Result<Answer>,
) -> anyhow::Result<Answer> {
    for_each_of_logs(paths, |path, _| work(path))
}

/// As [`for_each_log`]; `work` also gets the paths of all logs.
pub(super) fn for_each_of_logs(
    paths: &[PathBuf],
    mut work: impl FnMut(&Path, &[PathBuf]) -> anyhow::Result<Answer>,
) -> anyhow::Result<Answer> {
    let expanded: Vec<_> = paths.iter().map(|path| expand(path)).collect();
    let all: Vec<PathBuf> = expanded.iter().flatten().flatten().cloned().collect();
    let mut work = |path: &Path| work(path, &all);
    if let [Ok(logs)] = &expanded[..]
        && let [log] = &logs[..]
    {
        return work(log);
    }
    let mut outcomes = Outcomes::default();
    let mut count = 0;
    for logs in expanded {
        match logs {
            Ok(logs) => {
                count += logs.len();
                for log in &logs {
                    outcomes.record(work(log))?;
                }
            }
            Err(error) if paths.len() == 1 => return Err(error),
            Err(error) => {
                count += 1;
                outcomes.record(Err(error))?;
            }
        }
    }
    outcomes.conclude(count, "log")
}

/// Opens a log.
pub(super) fn open(path: &Path) -> anyhow::Result<Reader> {
    let name = FileName::new(path.display().to_string());
    let source = FileSource::open(path).with_context(|| format!("{name}: cannot open"))?;
    Ok(Reader::open(Arc::new(source), name)?)
}

/// Returns the logs below `path` if it is a directory, and otherwise `path` itself.
fn expand(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let (mut logs, mut skipped) = (Vec::new(), 0);
    add_directory(path, 0, &mut logs, &mut skipped)?;
    let shown = path.display();
    if logs.is_empty() && skipped == 0 {
        // HBase deletes logs that it needs no more: `oldWALs` is often empty.
        print_message(format_args!("hfile: {shown}: no write-ahead logs in this directory"));
        return Ok(logs);
    }
    if logs.is_empty() {
        return Err(
            Failure::NoLogs(format!("{shown}: no write-ahead logs in this directory")).into()
        );
    }
    if skipped > 0 {
        let files = show_number(skipped, "file");
        print_message(format_args!("hfile: {shown}: {files} skipped: not write-ahead logs"));
    }
    Ok(logs)
}

/// Adds the logs in and below a directory in the order of their paths, and counts other files.
fn add_directory(
    directory: &Path,
    depth: usize,
    logs: &mut Vec<PathBuf>,
    skipped: &mut u64,
) -> anyhow::Result<()> {
    let shown = directory.display();
    if depth > DEPTH_MAX {
        bail!("{shown}: is more than {DEPTH_MAX} directories below the argument");
    }
    let listed = LocalTree.list(directory).with_context(|| format!("{shown}: cannot list"))?;
    let mut items: Vec<_> = listed.into_iter().map(|item| (item.path, item.kind)).collect();
    items.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (path, kind) in items {
        match kind {
            ItemKind::Directory => add_directory(&path, depth + 1, logs, skipped)?,
            ItemKind::File { .. } => {
                // The marker of a region, empty like the log of a server that died at once.
                if is_sequence_marker(&path) {
                    *skipped += 1;
                    continue;
                }
                // A file that cannot be read is kept: only its own work fails then, and says why.
                if is_log(&path).unwrap_or(true) {
                    logs.push(path);
                } else {
                    *skipped += 1;
                }
            }
            ItemKind::DirectoryLink | ItemKind::Other => *skipped += 1,
        }
    }
    Ok(())
}

/// Returns whether a file is a marker of `recovered.edits`: `N.seqid`, or `N_seqid` of old versions.
fn is_sequence_marker(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_suffix(".seqid").or_else(|| name.strip_suffix("_seqid"));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// Returns whether a file begins with the magic of a log, or ends within it.
///
/// A server that dies at once leaves an empty log.
fn is_log(path: &Path) -> io::Result<bool> {
    const MAGIC: &[u8; 4] = b"PWAL";
    let source = FileSource::open(path)?;
    let mut start = [0; MAGIC.len()];
    let len = usize::try_from(source.len()).unwrap_or(usize::MAX).min(start.len());
    source.read_exact_at(&mut start[..len], 0)?;
    Ok(start[..len] == MAGIC[..len])
}
