//! `hfile filter make`: builds a filter of keys in a file of its own.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use filter::{Seed, SeededHashes, StoredFilter};
use serde::Serialize;

use super::keys::for_each_key;
use crate::arguments::names::{LibraryKind, name_parser};
use crate::arguments::sizing::sizing;
use crate::failure::Answer;
use crate::text::destination::Output;
use crate::text::help::ADVANCED;
use crate::text::output::{Report, ReportFormat};
use crate::text::rounded::show_percent;
use crate::text::size_text::{show_number, show_size};

/// Build a filter of keys, and write it to a file for filter ask and the library hfile-filter.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile filter make --kind ribbon --input keys.txt --output keys.filter
  hfile filter ask keys.filter row1 row2

Programs read the file with filter::StoredFilter::parse. hfile filter foreign makes filters for other libraries,
and hfile filter rebuild makes filters in HFiles.
Exit status: 0 made, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Make {
    /// Build this kind of filter
    #[arg(long, value_name = "KIND", value_parser = name_parser::<LibraryKind>())]
    kind: LibraryKind,
    /// Read the keys from this file, one per line; empty lines are skipped; - is stdin
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// Read the lines of --input as hex
    #[arg(long)]
    hex: bool,
    /// Write the filter to OUT; - is stdout
    #[arg(long, value_name = "OUT")]
    output: PathBuf,
    /// Set the error rate for absent keys, between 0 and 1 [default: 0.01]
    #[arg(long, value_name = "RATE", group = "sizing")]
    error_rate: Option<f64>,
    /// Size the filter by bits per key instead
    #[arg(long, value_name = "BITS", group = "sizing")]
    bits_per_key: Option<f64>,
    /// Seed the hash of the keys; the seed is stored in the file
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    seed: u64,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Make {
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let LibraryKind(kind) = self.kind;
        let sizing = sizing(self.error_rate, self.bits_per_key, None)?;
        let mut output = Output::create(&self.output, self.force)?;
        let mut hashes = SeededHashes::empty(Seed::new(self.seed));
        for_each_key(&self.input, self.hex, |key| {
            hashes.push(key);
            Ok(())
        })?;
        let bytes = kind.build(sizing, &hashes)?;
        let name = self.output.display().to_string();
        output.write_all(&bytes).with_context(|| format!("{name}: cannot write"))?;
        let is_stdout = output.path().is_none();
        output.finish()?;
        if is_stdout {
            return Ok(Answer::Positive);
        }
        let stats = StoredFilter::parse(bytes.as_slice())?.stats();
        self.report_format.print(&MakeReport {
            schema: 1,
            file: name,
            filter: kind.name(),
            keys: stats.keys,
            size: bytes.len() as u64,
            bits_per_key: stats.bits_per_key(),
            error_rate: stats.error_rate,
        })
    }
}

/// The written filter.
#[derive(Serialize)]
struct MakeReport {
    schema: u32,
    file: String,
    filter: &'static str,
    keys: u64,
    /// Of the file.
    size: u64,
    bits_per_key: f64,
    error_rate: f64,
}

impl Report for MakeReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{}: {}, {} over {}, {:.2} bits a key, {} false positives",
            self.file,
            show_size(self.size),
            self.filter,
            show_number(self.keys, "key"),
            self.bits_per_key,
            show_percent(self.error_rate)
        )
    }
}
