//! What is at the destination of an output at each of its syncs, and after a sync that fails.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::directories::OutputDirectory;
use super::joining::OutputDirectories;
use super::output::OutputFile;
use super::sync::watched::{SYNCS, Syncs};
use crate::error::{Error, Result};

/// Writes an output of one file.
type WriteOutput = fn(&Path) -> Result<()>;

fn io_of<T>(result: io::Result<T>) -> Result<T> {
    result.map_err(|error| Error::Refused(error.to_string()))
}

fn file(destination: &Path, force: bool) -> Result<()> {
    let mut output = OutputFile::create(destination, force)?;
    io_of(output.write_all(b"whole"))?;
    output.finish()
}

/// The outputs, and the path of the file below the destination.
const OUTPUTS: [(&str, WriteOutput); 4] = [
    ("", |destination| file(destination, false)),
    ("", |destination| file(destination, true)),
    ("f/file", |destination| {
        let output = OutputDirectory::new(destination)?;
        output.write_file(Path::new("f/file"), b"whole")?;
        output.finish()
    }),
    ("f/file", |destination| {
        let output = OutputDirectories::create(destination, vec!["f".to_owned()])?;
        io_of(fs::create_dir(output.path().join("f")))?;
        io_of(fs::write(output.path().join("f/file"), b"whole"))?;
        output.finish()
    }),
];

/// Writes an output while a sync fails. Returns the syncs, and whether the output was written.
fn write(number: usize, failing: usize) -> (Vec<(bool, bool)>, bool, PathBuf, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (relative, write) = OUTPUTS[number];
    let output = directory.path().join("out");
    let destination = if relative.is_empty() { output.clone() } else { output.join(relative) };
    SYNCS.set(Syncs { destination: destination.clone(), failing, seen: Vec::new() });
    let written = write(&output);
    let seen = SYNCS.take().seen;
    (seen, written.is_ok(), destination, directory)
}

#[test]
fn an_output_is_synced_before_it_is_renamed_and_its_directory_after() {
    for number in 0..OUTPUTS.len() {
        let (seen, is_written, destination, _directory) = write(number, 0);
        assert!(is_written && destination.exists(), "output {number}");
        assert_eq!(seen.last(), Some(&(true, true)), "output {number}: the directory is last");
        for (is_directory, is_there) in &seen {
            assert!(*is_directory || !is_there, "output {number}: a file is synced when renamed");
        }
        // The caller has synced the files of several directories.
        if number < 3 {
            assert_eq!(seen.first(), Some(&(false, false)), "output {number}: the file is first");
        }
    }
}

#[test]
fn a_sync_that_fails_is_an_error_and_leaves_nothing_that_is_not_synced() {
    for number in 0..OUTPUTS.len() {
        let count = write(number, 0).0.len();
        for failing in 1..=count {
            let (seen, is_written, destination, directory) = write(number, failing);
            assert!(!is_written, "output {number}, sync {failing} of {count}");
            let was_renamed = seen.last().is_some_and(|(_, is_there)| *is_there);
            assert_eq!(destination.exists(), was_renamed, "output {number}, sync {failing}");
            let left = fs::read_dir(directory.path()).expect("readable").count();
            assert_eq!(left, usize::from(was_renamed), "output {number}, sync {failing}");
        }
    }
}
