//! `hfile filter foreign info`: describes a filter in another library's format.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::files::read;
use super::formats::{Description, Foreign, ForeignFormat};
use crate::failure::Answer;
use crate::text::output::{Report, ReportFormat};

/// Describe a filter: size, parameters, error rate.
#[derive(clap::Args)]
#[command(after_help = "Exit status: 0 read, 2 wrong usage, 3 could not read.")]
pub(crate) struct Info {
    /// Filter file
    file: PathBuf,
    /// Read the file in this format
    #[arg(long, value_enum, ignore_case = true)]
    format: ForeignFormat,
    #[command(flatten)]
    report_format: ReportFormat,
}

/// The description of a filter file.
#[derive(Debug, Serialize)]
pub(super) struct InfoReport {
    schema: u32,
    file: String,
    format: String,
    #[serde(flatten)]
    description: Description,
}

impl InfoReport {
    pub(super) fn new(file: &Path, format: ForeignFormat, filter: &Foreign) -> Self {
        Self {
            schema: 1,
            file: file.display().to_string(),
            format: format.name(),
            description: filter.description(),
        }
    }
}

impl Info {
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let filter = read(&self.file, self.format)?;
        self.report_format.print(&InfoReport::new(&self.file, self.format, &filter))
    }
}

impl Report for InfoReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "file        {}", self.file)?;
        writeln!(out, "format      {}", self.format)?;
        self.description.write_text(out)
    }
}
