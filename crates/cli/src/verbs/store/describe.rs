//! `hfile store describe`: the settings of families under HBase's names.

use std::io::{self, Write};

use serde::Serialize;

use super::change_report::Sizes;
use super::directory::{Directory, WithStore};
use super::family_settings::{DescribedFamily, settings_text};
use crate::failure::Answer;
use crate::text::output::Report;

/// Show the settings of column families under HBase's names, and their sizes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store describe DIR
  hfile store describe DIR f --json | jq '.families[0].settings.VERSIONS'

TTL is in seconds. ROW_FILTER, which HBase does not have, is the row filter that --filter of hfile store create
sets. KEY_VALUE => true is a family that programs write through Store::map.
Exit status: 0 shown, 1 the store is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Describe {
    /// Column family [default: all]
    family: Option<String>,
}

impl WithStore<Describe> {
    /// Opens the store read-only and prints the report.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let store = self.directory.open_read_only()?;
        let wanted = Directory::families(&store, self.verb.family.as_deref())?;
        let stats = store.stats();
        let mut families = Vec::new();
        for (family, settings) in store.families() {
            if wanted.contains(&family) {
                let sizes =
                    Sizes::of(stats.family(&family).expect("each family has its statistics"));
                families
                    .push(FamilyReport { described: DescribedFamily { family, settings }, sizes });
            }
        }
        self.report_format.print(&DescribeReport { schema: 1, families })
    }
}

#[derive(Serialize)]
struct DescribeReport {
    schema: u32,
    families: Vec<FamilyReport>,
}

#[derive(Serialize)]
struct FamilyReport {
    #[serde(flatten)]
    described: DescribedFamily,
    #[serde(flatten)]
    sizes: Sizes,
}

impl Report for DescribeReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for FamilyReport { described: DescribedFamily { family, settings }, sizes } in
            &self.families
        {
            write!(out, "{{NAME => '{family}', {}}}\n  ", settings_text(settings))?;
            sizes.write_text(out)?;
            writeln!(out)?;
        }
        Ok(())
    }
}
