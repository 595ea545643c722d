//! `hfile filter foreign ask`: queries a filter in another library's format.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::files::{for_each_key, read};
use super::formats::ForeignFormat;
use crate::arguments::key_text::KeyText;
use crate::failure::{Answer, refuse};
use crate::text::output::{Report, ReportFormat};
use crate::text::size_text::show_count;

/// Query a filter for keys, and list the keys that are certainly absent.
#[derive(clap::Args)]
#[command(
    after_help = "Exit status: 0 all keys may be present, 1 some are absent, 2 wrong usage, 3 could not read."
)]
pub(crate) struct Ask {
    /// Filter file
    file: PathBuf,
    /// Keys to look up: text with \xNN, or hex:…
    #[arg(value_name = "KEY")]
    keys: Vec<KeyText>,
    /// Read the file in this format
    #[arg(long, value_enum, ignore_case = true)]
    format: ForeignFormat,
    /// Read more keys from this file, one per line; - is stdin
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Read the lines of --input as hex
    #[arg(long, requires = "input")]
    hex: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

/// The answers of a filter for the given keys.
#[derive(Debug, Serialize)]
struct AskReport {
    schema: u32,
    file: String,
    format: String,
    /// The number of keys.
    asked: u64,
    /// The number of keys that may be in the filter.
    maybe: u64,
    /// The keys that are certainly absent.
    absent: Vec<String>,
}

impl Ask {
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let filter = read(&self.file, self.format)?;
        let mut keys: Vec<_> = self.keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        if let Some(input) = &self.input {
            for_each_key(input, self.hex, |key| {
                keys.push(key.to_vec());
                Ok(())
            })?;
        }
        if keys.is_empty() {
            refuse!("no keys given; name keys, or use --input");
        }
        let mut absent = Vec::new();
        for key in &keys {
            if !filter.may_contain(key)? {
                absent.push(sstable::escape(key).to_string());
            }
        }
        self.report_format.print(&AskReport {
            schema: 1,
            file: self.file.display().to_string(),
            format: self.format.name(),
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
