//! `hfile store import`: HFiles that are there already become store files.

use std::path::PathBuf;

use super::Directory;
use crate::failure::Answer;

/// Take HFiles in as store files; the files given stay as they are.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store import DIR f region/f/*
  hfile store import DIR f older.hfile newer.hfile

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
}

impl Import {
    /// Takes the files in, all or none.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        self.directory.open()?.import(&self.family, &self.files)?;
        Ok(Answer::Sound)
    }
}
