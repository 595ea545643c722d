//! Checks a store file completely, and against its entry in the manifest.

use std::path::Path;
use std::sync::Arc;

use sstable::{FileName, Limits, ReadAt, Reader, ReaderOptions};

use super::file_report::{FileKind, FileProblem, FileReport, VerifyEvent};
use crate::error::Error;
use crate::files::manifest::FileEntry;
use crate::files::version::store_file::checksum_of;
use crate::vfs::Vfs;

/// Reads a file twice: for the checksum of all its bytes, and to verify its contents.
pub(super) fn check_file(
    vfs: &dyn Vfs,
    path: &Path,
    entry: Option<&FileEntry>,
    event: &mut dyn FnMut(VerifyEvent<'_>),
) -> FileReport {
    let kind = FileKind::StoreFile { blocks: 0, totals_checked: false };
    let mut report = FileReport::new(path.to_path_buf(), kind);
    let source = match vfs.open(path) {
        Ok(source) => source,
        Err(error) => {
            report.add_error(&Error::io(path, "open")(error));
            return report;
        }
    };
    let len = source.len();
    // Progress counts both passes as one pass over the file.
    let mut reads = |done| event(VerifyEvent::Reading { path, done, len });
    if let Some(entry) = entry {
        match contradiction(&source, path, entry, |done| reads(done / 2)) {
            Ok(what) => what.into_iter().for_each(|what| report.add_problem(what)),
            Err(error) => report.add_error(&error),
        }
    }
    let name = FileName::new(path.display().to_string());
    let halfway = if entry.is_some() { len / 2 } else { 0 };
    let second = |done| reads(halfway + done / if entry.is_some() { 2 } else { 1 });
    match sstable::verify(source, name, Limits::default(), second) {
        Ok(found) => {
            let (blocks, totals_checked) = (found.blocks, found.totals_checked);
            report.kind = FileKind::StoreFile { blocks, totals_checked };
            report.cells = found.cells;
            report
                .notes
                .extend(found.unused_filter.map(|why| format!("row filter not used: {why}")));
            let lost_rows = found.lost_rows;
            report.problems.extend(found.problems.into_iter().map(|damage| {
                let lost = lost_rows.iter().find(|lost| lost.at == damage.at);
                FileProblem {
                    rows: lost.map(|lost| lost.rows.clone()),
                    ..FileProblem::from(damage)
                }
            }));
        }
        Err(error) => report.add_error(&Error::from(error)),
    }
    report
}

/// Returns the first difference between a file and its entry in the manifest.
fn contradiction(
    source: &Arc<dyn ReadAt>,
    path: &Path,
    entry: &FileEntry,
    mut reads: impl FnMut(u64),
) -> Result<Vec<String>, Error> {
    let mut wrong: Vec<String> = entry.wrong_len(source.len()).into_iter().collect();
    let goes_on = |done| {
        reads(done);
        true
    };
    // Checked first: a sparse file that is far too long could take hours to read.
    if source.len() / 2 <= entry.length {
        let checksum = checksum_of(&**source, path, source.len(), goes_on)?;
        wrong.extend(checksum.and_then(|checksum| entry.wrong_checksum(checksum)));
    }
    // The second pass reports damage to the bytes that opening reads.
    let name = FileName::new(path.display().to_string());
    if let Ok(reader) = Reader::open(Arc::clone(source), name, ReaderOptions::default()) {
        wrong.extend(entry.contradiction(&reader));
    }
    Ok(wrong)
}

impl From<sstable::Damage> for FileProblem {
    fn from(damage: sstable::Damage) -> Self {
        let (at, what) = (damage.at.get(), damage.what.into_owned());
        Self { at, len: None, block: damage.block, what, rows: None }
    }
}
