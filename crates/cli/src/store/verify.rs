//! `hfile store verify`: every byte that belongs to a store is read once.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::Directory;
use crate::failure::Answer;
use crate::output::Audience;
use crate::verify::check_all;

/// Read the log, check every store file wholly as `hfile verify` does, and hold it against the
/// checksum that the store has of it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store verify DIR
  hfile store verify DIR --json

Exit status: 0 sound, 1 something is damaged, 2 wrong usage, 3 could not read.")]
pub(super) struct Verify {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    audience: Audience,
}

impl Verify {
    /// Reads everything and reports file by file.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        // Opening reads the manifest and the log. While the store is open no file can go.
        let (store, families) = self.directory.open_families(None)?;
        let (mut files, mut wrong) = (Vec::new(), Vec::new());
        for family in &families {
            files.extend(list(&self.directory.directory.join(family))?);
            wrong.extend(store.check_files(family)?);
        }
        let known = |path: &Path| {
            let found = wrong.iter().find(|(known, _)| known.file_name() == path.file_name());
            found.and_then(|(_, what)| what.clone())
        };
        check_all(&files, self.audience, known)
    }
}

/// The files of a family, in the order of their names.
fn list(family: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let list = || -> io::Result<Vec<PathBuf>> {
        fs::read_dir(family)?.map(|entry| Ok(entry?.path())).collect()
    };
    let mut files = list().with_context(|| format!("{}: cannot list", family.display()))?;
    files.sort();
    Ok(files)
}
