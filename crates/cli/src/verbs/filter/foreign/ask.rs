//! `hfile filter foreign ask`: queries a filter in another library's format.

use std::path::PathBuf;

use super::files::read;
use super::formats::ForeignFormat;
use crate::failure::Answer;
use crate::text::output::ReportFormat;
use crate::verbs::filter::ask::AskReport;
use crate::verbs::filter::keys::AskedKeys;

/// Query a filter for keys, and list the keys that are certainly absent.
#[derive(clap::Args)]
#[command(
    after_help = "Exit status: 0 all keys may be present, 1 some are absent, 2 wrong usage, 3 could not read."
)]
pub(crate) struct Ask {
    /// Filter file
    file: PathBuf,
    /// Read the file in this format
    #[arg(long, value_enum, ignore_case = true)]
    format: ForeignFormat,
    #[command(flatten)]
    keys: AskedKeys,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Ask {
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let filter = read(&self.file, self.format)?;
        let keys = self.keys.read()?;
        let report =
            AskReport::new(&self.file, self.format.name(), &keys, |key| filter.may_contain(key))?;
        self.report_format.print(&report)
    }
}
