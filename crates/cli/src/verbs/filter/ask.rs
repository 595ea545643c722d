//! `hfile filter ask`: queries a filter in a file of its own.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use filter::{FormatError, StoredFilter};
use serde::Serialize;

use super::keys::AskedKeys;
use crate::failure::Answer;
use crate::text::output::{Report, ReportFormat};
use crate::text::size_text::show_count;

/// Look up keys in a filter that filter make wrote, and list the keys that are certainly absent.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile filter ask keys.filter row1 row2
  hfile filter ask keys.filter --input keys.txt

Exit status: 0 all keys may be present, 1 some are absent, 2 wrong usage, 3 could not read.")]
pub(crate) struct Ask {
    /// Filter file
    file: PathBuf,
    #[command(flatten)]
    keys: AskedKeys,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Ask {
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let name = self.file.display();
        let bytes = fs::read(&self.file).with_context(|| format!("{name}: cannot read"))?;
        let filter = StoredFilter::parse(bytes).map_err(|error| match error {
            FormatError::Magic => anyhow::anyhow!(
                "{name}: not a filter of hfile filter make; hfile filter foreign asks those of other libraries"
            ),
            error => anyhow::Error::new(error).context(format!("{name}: cannot read the filter")),
        })?;
        let keys = self.keys.read()?;
        let kind = filter.kind().name().to_owned();
        self.report_format
            .print(&AskReport::new(&self.file, kind, &keys, |key| Ok(filter.may_contain(key)))?)
    }
}

/// The answers of a filter for the given keys.
#[derive(Debug, Serialize)]
pub(super) struct AskReport {
    schema: u32,
    file: String,
    /// The format of another library, or our kind of filter.
    format: String,
    /// The number of keys.
    asked: u64,
    /// The number of keys that may be in the filter.
    maybe: u64,
    /// The keys that are certainly absent.
    absent: Vec<String>,
}

impl AskReport {
    /// Asks the filter of `file` for each key.
    pub(super) fn new(
        file: &Path,
        format: String,
        keys: &[Vec<u8>],
        may_contain: impl Fn(&[u8]) -> anyhow::Result<bool>,
    ) -> anyhow::Result<Self> {
        let mut absent = Vec::new();
        for key in keys {
            if !may_contain(key)? {
                absent.push(cells::escape(key).to_string());
            }
        }
        Ok(Self {
            schema: 1,
            file: file.display().to_string(),
            format,
            asked: keys.len() as u64,
            maybe: (keys.len() - absent.len()) as u64,
            absent,
        })
    }
}

impl Report for AskReport {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.absent.is_empty())
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for key in &self.absent {
            writeln!(out, "no: {key}")?;
        }
        let (maybe, asked) = (show_count(self.maybe), show_count(self.asked));
        writeln!(out, "{maybe} of {asked} keys may be in {}", self.file)
    }
}
