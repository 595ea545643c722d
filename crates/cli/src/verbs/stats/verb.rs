//! The arguments of `hfile stats`, and its run over the files.

use std::path::PathBuf;

use super::file::{FileStats, read_file};
use super::report::StatsReport;
use crate::failure::Answer;
use crate::inputs::{FailedFile, Input, Inputs, Outcomes, in_parallel};
use crate::text::output::ReportFormat;
use crate::text::progress::Progress;

/// Show the sizes, types, tags and columns of the cells of HFiles, and the bytes of each part of the files.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile stats 4f1c.hfile
  hfile stats region/cf
  hfile stats --json data/default/users | jq '.value_bytes.percentiles'

Reads every cell once, in limited memory, and several files on all cores. Prints one report about all files
together: the sum of the reports about each file, so a row in two files counts as two rows. --each prints a
report for each file. Key and cell lengths are counted as HBase counts them. A delete of a family counts as a cell, but
belongs to no column. For a reference, counts the cells of its half. At most 10,000 columns are counted
separately. Percentiles are exact below 2,048, and at most 0.1% too high above.
If a file is damaged, reports the cells before the damage, and marks the report as incomplete.
Exit status: 0 all read, 1 a file is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Stats {
    /// HFiles, or directories of them, to read
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Print a report for each file instead of one for all
    #[arg(long)]
    each: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Stats {
    /// Reads the files, and prints one report or one for each.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let mut outcomes = Outcomes::default();
        let mut total = Total::default();
        let mut is_first = true;
        let (files, problems) = Inputs::expand(&self.files).into_parts()?;
        let count = files.len() + problems.len();
        for problem in problems {
            total.problems.push(FailedFile::new(problem.directory, &problem.error));
            outcomes.record(Err(problem.error))?;
        }
        let progress = (files.len() > 1).then(|| Progress::new("files", files.len() as u64));
        let reads_ahead = files.len() == 1;
        in_parallel(
            &files,
            |file| read_file(file, reads_ahead),
            |file, outcome| {
                if let Some(progress) = &progress {
                    progress.advance(1);
                }
                let stats = match outcome {
                    Ok(stats) => stats,
                    Err(error) => {
                        total.problems.push(FailedFile::new(file.name(), &error));
                        return outcomes.record(Err(error));
                    }
                };
                let problem = if self.each {
                    let mut alone = Total::default();
                    let problem = alone.add(file, stats);
                    self.report_format.print_next(&alone.report(), &mut is_first)?;
                    problem
                } else {
                    total.add(file, stats)
                };
                outcomes.record(problem.map_or(Ok(Answer::Positive), Err))
            },
        )?;
        drop(progress);
        if !total.files.is_empty() {
            self.report_format.print_next(&total.report(), &mut is_first)?;
        }
        outcomes.conclude(count, "file")
    }
}

/// The statistics of several files.
#[derive(Default)]
struct Total {
    files: Vec<String>,
    problems: Vec<FailedFile>,
    stats: FileStats,
}

impl Total {
    /// Adds a file. Returns the error that ended the pass over it, if there is one.
    fn add(&mut self, file: &Input, stats: FileStats) -> Option<anyhow::Error> {
        let FileStats { size, cells, parts, problem } = stats;
        self.files.push(file.name());
        self.stats.size += size;
        self.stats.cells.merge(cells);
        self.stats.parts.merge(&parts);
        let error = problem.map(anyhow::Error::from);
        self.problems.extend(error.iter().map(|error| FailedFile::new(file.name(), error)));
        error
    }

    fn report(self) -> StatsReport {
        StatsReport::new(self.files, self.problems, self.stats)
    }
}
