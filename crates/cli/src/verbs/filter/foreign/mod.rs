//! `hfile filter foreign`: makes, extends, queries and describes filters in other libraries' formats.

mod formats;
mod make;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use serde::Serialize;
use sstable::parse_hex;

use self::formats::{Description, Foreign, ForeignFormat};
use crate::arguments::key_text::KeyText;
use crate::failure::{Answer, UsageError};
use crate::text::output::{Report, ReportFormat};
use crate::text::size_text::show_count;

/// Make, query and describe filters in the formats of other libraries.
///
/// A file does not record its format, so --format is required.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  hfile filter foreign make --format go-cuckoo --input keys.txt --output keys.cuckoo
  hfile filter foreign ask --format go-cuckoo keys.cuckoo row1 row2
  hfile filter foreign info --format hadoop-bloom keys.bloom --json
  hfile filter foreign make --format guava --extend old.bloom --input more.txt --output new.bloom")]
pub(crate) struct ForeignVerbs {
    #[command(subcommand)]
    verb: ForeignVerb,
}

#[derive(Subcommand)]
enum ForeignVerb {
    Make(make::Make),
    Ask(Ask),
    Info(Info),
}

impl ForeignVerbs {
    /// Runs the verb.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        match self.verb {
            ForeignVerb::Make(verb) => verb.run(),
            ForeignVerb::Ask(verb) => verb.run(),
            ForeignVerb::Info(verb) => verb.run(),
        }
    }
}

/// Query a filter for keys, and list the keys that are certainly absent.
#[derive(clap::Args)]
#[command(
    after_help = "Exit status: 0 all keys may be present, 1 some are absent, 2 wrong usage, 3 could not read."
)]
struct Ask {
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
    format: &'static str,
    /// The number of keys.
    asked: u64,
    /// The number of keys that may be in the filter.
    maybe: u64,
    /// The keys that are certainly absent.
    absent: Vec<String>,
}

impl Ask {
    fn run(self) -> anyhow::Result<Answer> {
        let filter = read(&self.file, self.format)?;
        let mut keys: Vec<_> = self.keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        if let Some(input) = &self.input {
            for_each_key(input, self.hex, |key| {
                keys.push(key.to_vec());
                Ok(())
            })?;
        }
        if keys.is_empty() {
            return Err(UsageError("no keys given; name keys, or use --input".to_owned()).into());
        }
        let mut absent = Vec::new();
        for key in &keys {
            if !filter.may_contain(key)? {
                absent.push(sstable::escape(key).to_string());
            }
        }
        let report = AskReport {
            schema: 1,
            file: self.file.display().to_string(),
            format: self.format.name(),
            asked: keys.len() as u64,
            maybe: (keys.len() - absent.len()) as u64,
            absent,
        };
        self.report_format.print(&report)?;
        Ok(Answer::from_bool(report.absent.is_empty()))
    }
}

impl Report for AskReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for key in &self.absent {
            writeln!(out, "no: {key}")?;
        }
        let (maybe, asked) = (show_count(self.maybe), show_count(self.asked));
        writeln!(out, "{maybe} of {asked} keys may be in {}", self.file)
    }
}

/// Describe a filter: size, parameters, error rate.
#[derive(clap::Args)]
#[command(after_help = "Exit status: 0 read, 2 wrong usage, 3 could not read.")]
struct Info {
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
struct InfoReport {
    schema: u32,
    file: String,
    format: &'static str,
    #[serde(flatten)]
    description: Description,
}

impl InfoReport {
    fn new(file: &Path, format: ForeignFormat, filter: &Foreign) -> Self {
        let (file, format) = (file.display().to_string(), format.name());
        Self { schema: 1, file, format, description: filter.description() }
    }
}

impl Info {
    fn run(self) -> anyhow::Result<Answer> {
        let filter = read(&self.file, self.format)?;
        self.report_format.print(&InfoReport::new(&self.file, self.format, &filter))?;
        Ok(Answer::Positive)
    }
}

impl Report for InfoReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "file        {}", self.file)?;
        writeln!(out, "format      {}", self.format)?;
        self.description.write_text(out)
    }
}

/// Reads a filter from a file.
fn read(path: &Path, format: ForeignFormat) -> anyhow::Result<Foreign> {
    let name = path.display();
    let bytes = fs::read(path).with_context(|| format!("{name}: cannot read"))?;
    Foreign::from_bytes(format, &bytes)
        .with_context(|| format!("{name}: not a {} filter", format.name()))
}

/// Calls `visit` with each key of an input: one key per line, as text or `hex`.
///
/// Empty lines are skipped. A line may end in `\r\n`.
fn for_each_key(
    path: &Path,
    hex: bool,
    mut visit: impl FnMut(&[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = transfer::display_name(path);
    for (line, number) in io::BufRead::split(transfer::open_keys(path)?, b'\n').zip(1_u64..) {
        let mut line = line.with_context(|| format!("{name}: cannot read line {number}"))?;
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.is_empty() {
            continue;
        }
        if hex {
            let text = String::from_utf8(line).ok();
            line = text.and_then(|text| parse_hex(&text)).with_context(|| {
                format!("{name}: line {number} is not hex; omit --hex if the keys are text")
            })?;
        }
        visit(&line).with_context(|| format!("{name}: line {number}"))?;
    }
    Ok(())
}
