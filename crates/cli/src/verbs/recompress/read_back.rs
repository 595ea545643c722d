//! Checks of an output file: sound, and with the cells of its input.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use sstable::{FileName, FileSource, ReadAt, Reader};

use crate::arguments::reading_options::{limits, reader_options, scan};
use crate::failure::Failure;
use crate::text::progress::Progress;

/// Checks an output file as `hfile verify` does, and compares it with its input.
///
/// `destination` is the final name of the output.
///
/// # Errors
///
/// [`Failure::DamagedOutput`] if the output is damaged, [`Failure::ReadMismatch`] if its cells differ.
pub(super) fn check(original: &Reader, written: &Path, destination: &Path) -> anyhow::Result<()> {
    let (source, file) = check_sound(written, destination)?;
    let progress = Progress::new("comparing", original.trailer().entry_count);
    compare(original, &Reader::open(source, file, reader_options())?, &progress)
}

/// Checks an output file as `hfile verify` does. `destination` is its final name.
///
/// # Errors
///
/// [`Failure::DamagedOutput`] if the output is damaged.
pub(crate) fn check_sound(
    written: &Path,
    destination: &Path,
) -> anyhow::Result<(Arc<dyn ReadAt>, FileName)> {
    let name = destination.display().to_string();
    let opened = FileSource::open(written);
    let source: Arc<dyn ReadAt> =
        Arc::new(opened.with_context(|| format!("{name}: cannot read back"))?);
    let progress = Progress::bytes("checking", source.len());
    let file = FileName::new(&*name);
    let found =
        sstable::verify(Arc::clone(&source), file.clone(), limits(), |at| progress.set(at))?;
    drop(progress);
    if let Some(damage) = found.problems.into_iter().next() {
        return Err(Failure::DamagedOutput { name, damage }.into());
    }
    Ok((source, file))
}

/// Compares an output file with its input, cell by cell. Advances `progress` by each cell.
///
/// # Errors
///
/// [`Failure::ReadMismatch`] if the cells differ.
pub(super) fn compare(
    original: &Reader,
    written: &Reader,
    progress: &Progress,
) -> anyhow::Result<()> {
    let (mut left, mut right) = (scan(original)?, scan(written)?);
    loop {
        match (left.cell(), right.cell()) {
            (None, None) => return Ok(()),
            (Some(one), Some(other)) if one == other => {}
            (Some(cell), _) | (None, Some(cell)) => {
                let name = written.name();
                return Err(Failure::ReadMismatch(format!(
                    "{name}: differs from the input at {cell:?}"
                ))
                .into());
            }
        }
        left.advance()?;
        right.advance()?;
        progress.advance(1);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use sstable::{CellRef, Timestamp, Writer, WriterOptions};

    use super::*;

    fn file(cells: &[(&str, &str)]) -> Vec<u8> {
        let name = FileName::new("cells");
        let mut writer = Writer::new(Vec::new(), name, WriterOptions::default()).expect("sound");
        for (row, value) in cells {
            let cell =
                CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), value.as_bytes());
            writer.append(cell).expect("in order");
        }
        writer.finish().expect("memory takes it").0
    }

    #[test]
    fn an_output_with_other_cells_is_refused() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (old, new) = (directory.path().join("old"), directory.path().join("new"));
        fs::write(&old, file(&[("a", "1"), ("b", "2")])).expect("disk takes it");
        let original = Reader::open_file(&old, reader_options()).expect("sound");
        for (written, is_same) in [
            (&[("a", "1"), ("b", "2")][..], true),
            (&[("a", "1"), ("b", "3")], false),
            (&[("a", "1")], false),
            (&[("a", "1"), ("b", "2"), ("c", "3")], false),
        ] {
            fs::write(&new, file(written)).expect("disk takes it");
            let found = check(&original, &new, Path::new("destination")).err();
            let message = found.as_ref().map(ToString::to_string);
            assert_eq!(
                found.is_some_and(|error| matches!(
                    error.downcast_ref(),
                    Some(Failure::ReadMismatch(_))
                )),
                !is_same,
                "{message:?}"
            );
            assert!(message.is_none_or(|message| {
                message.starts_with("destination: differs from the input at")
            }));
        }
    }
}
