//! `hfile store import`: HFiles that are there already become store files.

use std::path::PathBuf;

use store::ImportOptions;

use super::Directory;
use crate::failure::Answer;

/// Take HFiles in as store files; the files given stay as they are.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store import DIR f region/f/*
  hfile store import DIR f older.hfile newer.hfile

Each file is verified wholly, as `hfile verify` does it, before the first is taken in.
Files keep the sequence ids that they carry. Files without one are newer than all that the store
has, in the order given.")]
pub(super) struct Import {
    #[command(flatten)]
    directory: Directory,
    /// The column family, which is that of all cells
    #[arg(value_name = "FAMILY")]
    family: String,
    /// The files
    #[arg(required = true, value_name = "HFILE")]
    files: Vec<PathBuf>,
    /// Take the files in without verifying them first
    #[arg(long)]
    no_verify: bool,
}

impl Import {
    /// Takes the files in, all or none.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let options = ImportOptions::default().verify(!self.no_verify);
        self.directory.open()?.import_with(&self.family, &self.files, &options)?;
        Ok(Answer::Sound)
    }
}
