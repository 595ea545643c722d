//! `hfile store create`: creates a store, or adds a family.

use std::io::{self, Write};

use serde::Serialize;
use store::{FamilyOptions, Store};

use super::directory::WithStore;
use super::family_settings::{DescribedFamily, FamilySettings};
use crate::failure::Answer;
use crate::text::output::Report;

/// Create a store with a column family, or add a family to a store.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store create DIR f
  hfile store create DIR f --versions 3 --ttl 86400 --compression LZ4
  hfile store create DIR f --bloom-type NONE --filter blocked-bloom --filter-error-rate 0.001
  hfile store create DIR f --bloom-type NONE --filter ribbon --filter-budget 16MiB

hfile store alter changes the settings later.
Exit status: 0 created, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Create {
    /// Column family
    family: String,
    #[command(flatten)]
    settings: FamilySettings,
}

impl WithStore<Create> {
    /// Creates the family, and the store if the directory has none.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let options = self.verb.settings.apply(FamilyOptions::default())?;
        let store = Store::open(&self.directory.directory, self.directory.options())?;
        store.create_family(&self.verb.family, options.clone())?;
        let described = DescribedFamily { family: self.verb.family, settings: options };
        self.report_format.print(&CreateReport { schema: 1, described })
    }
}

#[derive(Serialize)]
struct CreateReport {
    schema: u32,
    #[serde(flatten)]
    described: DescribedFamily,
}

impl Report for CreateReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "family {} created", self.described.family)
    }
}
