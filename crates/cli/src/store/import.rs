//! `hfile store import`: adds existing HFiles to a store.

use std::path::PathBuf;

use store::ImportOptions;

use super::Directory;
use crate::failure::Answer;

/// Add HFiles to a store, leaving the given files unchanged.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store import DIR f region/f/*
  hfile store import DIR f older.hfile newer.hfile

Checks every file as by hfile verify before it adds the first. Files keep their sequence ids. Files without
one count as newer than all cells of the store, in the order given.")]
pub(super) struct Import {
    #[command(flatten)]
    directory: Directory,
    /// Column family of all cells
    #[arg(value_name = "FAMILY")]
    family: String,
    /// HFiles to add
    #[arg(required = true, value_name = "HFILE")]
    files: Vec<PathBuf>,
    /// Skip the check of the files
    #[arg(long)]
    no_verify: bool,
}

impl Import {
    /// Adds all files, or none.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let options = ImportOptions::default().verify(!self.no_verify);
        self.directory.open()?.import_with(&self.family, &self.files, &options)?;
        Ok(Answer::Positive)
    }
}
