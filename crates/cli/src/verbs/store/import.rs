//! `hfile store import`: adds existing HFiles to a store.

use std::path::PathBuf;

use store::{Age, ImportOptions};

use super::directory::WithStore;
use crate::failure::Answer;
use crate::text::progress::Progress;

/// Add HFiles to a store, leaving the given files unchanged.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store import DIR f region/f/*
  hfile store import DIR f older.hfile newer.hfile

Copies the files into the store. Checks all files as hfile verify does before adding any. Cells keep the sequence
ids that their file has. The cells of a file without sequence ids get a sequence id above the ids of the store
and of the files named before it.
Exit status: 0 added, 1 a file or the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Import {
    /// Family of the store; the cells of the files must be of this family
    family: String,
    /// HFiles to add
    #[arg(required = true, value_name = "HFILE")]
    files: Vec<PathBuf>,
    /// Add the files without checking their blocks; damage is then found by reads and by hfile store verify
    #[arg(long)]
    no_verify: bool,
}

impl WithStore<Import> {
    /// Adds all files, or none.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let options = ImportOptions::new(Age::Carried).verify(!self.verb.no_verify);
        self.change("no cells to import", |store| {
            let _importing = Progress::waiting("checking and copying files");
            Ok(store.import(&self.verb.family, &self.verb.files, options.clone())?)
        })
    }
}
