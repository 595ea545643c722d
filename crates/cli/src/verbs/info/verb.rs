//! The arguments of `hfile info`, and its run over the files.

use std::path::PathBuf;

use super::list::FileList;
use super::report::DescribedFile;
use super::text::TextReport;
use crate::failure::Answer;
use crate::inputs::{Input, Inputs, OpenInput};
use crate::text::output::ReportFormat;

/// Show size, cells, keys, times, codec, encoding, index and filters of HFiles.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile info 4f1c.hfile
  hfile info --all 4f1c.hfile
  hfile info region/cf
  hfile info --list data/default/users
  hfile info --json data/default/users | jq -r 'select(.bloom == null) | .file'

For a reference, shows the whole file of which it is a half.
Reads only the trailer, the blocks that are loaded on open, and the index block with the mid-key, so a large
file takes no longer. Continues with the other files if one cannot be read.
Exit status: 0 all read, 1 a file is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Info {
    /// HFiles, or directories of them, to describe
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Also print every field of the trailer and every entry of the file info, which JSON always has
    #[arg(long)]
    all: bool,
    /// Print one line for each file: size, cells, first and last row
    #[arg(long, conflicts_with_all = ["all", "json"])]
    list: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Info {
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        if self.list {
            return self.print_list();
        }
        let mut is_first = true;
        Inputs::expand_all(&self.files).for_each(|input| {
            let described = describe(input)?;
            let report = TextReport { report: described, shows_all: self.all };
            self.report_format.print_next(&report, &mut is_first)
        })
    }

    fn print_list(self) -> anyhow::Result<Answer> {
        let mut list = FileList::default();
        let answer = Inputs::expand_all(&self.files).for_each(|input| {
            let report = describe(input)?;
            let answer = report.answer();
            list.add(report);
            Ok(answer)
        });
        if !list.is_empty() {
            self.report_format.print(&list)?;
        }
        answer
    }
}

fn describe(input: &Input) -> anyhow::Result<DescribedFile> {
    let OpenInput { reader, target } = input.open()?;
    Ok(DescribedFile::new(input.name(), target, reader.whole())?)
}
