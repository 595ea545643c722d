//! `hfile store alter`: changes settings of a family.

use std::io::{self, Write};

use serde::Serialize;
use store::FamilyOptions;

use super::directory::WithStore;
use super::family_settings::{DescribedFamily, FamilySettings};
use crate::failure::Answer;
use crate::text::output::Report;

/// Change settings of a column family; settings that are not given stay.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store alter DIR f --versions 5
  hfile store alter DIR f --ttl FOREVER --compression LZ4
  hfile store alter DIR f --filter none

Reads follow the new settings at once. New files have them; hfile store compact DIR f --major rewrites the
existing files. Prints each changed setting under HBase's name. [new family: …] is the value that a family
has if hfile store create does not set another.
Exit status: 0 changed, or already so, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Alter {
    /// Column family
    family: String,
    #[command(flatten)]
    settings: FamilySettings,
}

impl WithStore<Alter> {
    /// Changes the settings.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let store = self.directory.open()?;
        let Some(before) = store.family(&self.verb.family) else {
            return Err(transfer::Error::unknown_family(&store, &self.verb.family).into());
        };
        let after = self.verb.settings.apply(before.clone())?;
        if after != before {
            store.alter_family(&self.verb.family, after.clone())?;
        }
        let changed = changes(&before, &after);
        let described = DescribedFamily { family: self.verb.family, settings: after };
        self.report_format.print(&AlterReport { schema: 1, described, changed })
    }
}

/// Returns the settings that differ.
fn changes(before: &FamilyOptions, after: &FamilyOptions) -> Vec<Change> {
    let (old, new) = (before.hbase_settings(), after.hbase_settings());
    let added = new.iter().filter(|(name, _)| value(&old, name).is_none());
    let names = old.iter().chain(added).map(|(name, _)| *name);
    names
        .map(|setting| Change {
            setting,
            before: value(&old, setting),
            after: value(&new, setting),
        })
        .filter(|change| change.before != change.after)
        .collect()
}

fn value(settings: &[(&'static str, String)], wanted: &str) -> Option<String> {
    settings.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone())
}

#[derive(Serialize)]
struct AlterReport {
    schema: u32,
    #[serde(flatten)]
    described: DescribedFamily,
    changed: Vec<Change>,
}

/// A setting before and after; `None` if the family does not have it.
#[derive(Serialize)]
struct Change {
    setting: &'static str,
    before: Option<String>,
    after: Option<String>,
}

impl Report for AlterReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let family = &self.described.family;
        if self.changed.is_empty() {
            return writeln!(out, "family {family} has these settings already");
        }
        for Change { setting, before, after } in &self.changed {
            let [before, after] = [before, after].map(|value| value.as_deref().unwrap_or("none"));
            writeln!(out, "{family}: {setting} {before} → {after}")?;
        }
        Ok(())
    }
}
