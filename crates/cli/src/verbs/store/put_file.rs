//! `hfile store put --from`: writes the cells of a file to a family, batch by batch.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use cells::escape;
use sstable::{Cell, Timestamp};
use store::{Clock, Durability, Store, WriteBatch};
use transfer::{ColumnFamily, Input, InputOptions};

use super::change_report::{Watch, WriteReport};
use super::directory::{Directory, check_family};
use crate::arguments::cells_input::{self, report_bad_lines};
use crate::failure::{Answer, is_usage, refuse};
use crate::text::output::{Report, ReportFormat, STDOUT, stdout};
use crate::text::progress::Shown;
use crate::text::size_text::show_number;
use crate::text::stderr::{print_message, print_message_lines};
use crate::verbs::dry_run::{Checks, dry_run};

/// A put of the cells of a file.
pub(super) struct PutFile {
    pub(super) directory: Directory,
    /// The family of all cells.
    pub(super) family: String,
    pub(super) input: InputOptions,
    /// Records that begin before this line are skipped.
    pub(super) from_line: u64,
    pub(super) ack: bool,
    /// The minimum number of cells of a batch.
    pub(super) batch: NonZeroUsize,
    pub(super) durability: Durability,
    pub(super) report_format: ReportFormat,
}

impl PutFile {
    /// Writes the cells, or only checks them with `--dry-run`.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let now = self.directory.now.map_or_else(|| Clock::system().now(), Timestamp::new);
        if self.input.is_dry_run {
            let input = self.open(now)?;
            let family = Some(self.family.as_bytes());
            let checks = Checks { order: None, family, is_single_file: false };
            return dry_run(&self.input, input, checks, self.report_format);
        }
        let watch = Watch::start();
        let store = self.directory.open()?;
        check_family(&store, &self.family)?;
        let mut input = self.open(now)?;
        let mut writer = BatchWriter::new(&store, &self, input.unit());
        let storing = input.show_progress("storing", &Shown);
        let written = self.write(&mut input, &mut writer);
        drop(storing);
        if written.as_ref().is_err_and(|error| !is_usage(error.as_ref())) {
            writer.resume_point.print();
        }
        written?;
        report_bad_lines(&input);
        let report = WriteReport::new(&store, writer.resume_point.written(), &watch);
        drop(writer);
        store.close()?;
        if self.ack {
            // Stdout has the acknowledgements only.
            let mut text = Vec::new();
            report.write_text(&mut text)?;
            print_message_lines(&format!("hfile: {}", String::from_utf8_lossy(&text)));
        } else {
            self.report_format.print(&report)?;
        }
        Ok(Answer::Positive)
    }

    fn open(&self, now: Timestamp) -> anyhow::Result<Input> {
        let mut input = {
            let family = ColumnFamily::Store(&self.family);
            cells_input::open(&self.input, family, now, self.from_line)?
        };
        // A failure keeps the batches that are already stored, so it must keep the file of bad
        // lines too.
        input.keep_bad_lines();
        for family in input.families().unwrap_or_default() {
            if family != self.family.as_bytes() {
                let (found, name) = (escape(&family), self.input.name());
                refuse!("{name}: a column has the family {found}, expected {}", self.family);
            }
        }
        Ok(input)
    }

    fn write(&self, input: &mut Input, writer: &mut BatchWriter<'_>) -> anyhow::Result<()> {
        loop {
            let read = input.next();
            let line = input.line();
            let cell = match read {
                Some(Ok(cell)) => self.check(cell, input),
                Some(Err(error)) => Err(error.into()),
                None => {
                    writer.write()?;
                    return Ok(input.check_from_line()?);
                }
            };
            match cell {
                Ok(cell) => {
                    writer.push(&cell, line);
                    if input.is_between_records() && writer.batch.len() >= self.batch.get() {
                        writer.write()?;
                    }
                }
                Err(error) => {
                    writer.write()?;
                    // Resume at the failed record. If the input fails between records, `line` is still the line of
                    // the last stored record, and the resume point is already set.
                    if line > writer.last_line && line > self.from_line {
                        writer.resume_point.set(None, line);
                    }
                    return Err(error);
                }
            }
        }
    }

    fn check(&self, cell: Cell, input: &Input) -> anyhow::Result<Cell> {
        if cell.family() == self.family.as_bytes() {
            return Ok(cell);
        }
        let (name, line, found) = (self.input.name(), input.line(), escape(cell.family()));
        let unit = input.unit();
        let what =
            format!("{unit} {line}: cell of family {found}, expected {}: {cell:?}", self.family);
        Err(sstable::Error::Invalid { file: name, what }.into())
    }
}

/// Collects cells into batches and writes them.
struct BatchWriter<'s> {
    store: &'s Store,
    durability: Durability,
    acknowledges: bool,
    batch: WriteBatch,
    /// The line on which the last record of the batch begins.
    last_line: u64,
    resume_point: ResumePoint,
}

/// The number of stored cells and the line to resume at, shared with the Ctrl-C handler's thread.
#[derive(Clone)]
struct ResumePoint {
    state: Arc<Mutex<(u64, u64)>>,
    /// What the number of the line counts: lines, or records of Parquet.
    unit: &'static str,
}

impl ResumePoint {
    /// Installs a Ctrl-C handler that prints the resume point and ends the process.
    fn print_on_ctrl_c(&self) {
        let resume_point = self.clone();
        // An error is ignored: without the handler, Ctrl-C still ends the process.
        let _ = ctrlc::set_handler(move || {
            resume_point.print();
            // 128 + SIGINT, as in shells.
            std::process::exit(130);
        });
    }

    /// Adds `written` to the number of stored cells, and sets the line to resume at.
    fn set(&self, written: Option<u64>, line: u64) {
        let mut resume_point = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *resume_point = (resume_point.0 + written.unwrap_or(0), line);
    }

    fn written(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn print(&self) {
        let (written, line) = *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (cells, unit) = (show_number(written, "cell"), self.unit);
        print_message(format_args!(
            "hfile: {cells} stored from the records before {unit} {line}; resume with --from-line {line}"
        ));
    }
}

impl<'s> BatchWriter<'s> {
    fn new(store: &'s Store, put: &PutFile, unit: &'static str) -> Self {
        let PutFile { durability, ack: acknowledges, from_line, .. } = *put;
        let resume_point = ResumePoint { state: Arc::default(), unit };
        resume_point.set(None, from_line);
        resume_point.print_on_ctrl_c();
        let batch = WriteBatch::new();
        Self { store, durability, acknowledges, batch, last_line: 0, resume_point }
    }

    fn push(&mut self, cell: &Cell, line: u64) {
        if self.batch.is_empty() {
            self.resume_point.set(None, line);
        }
        self.last_line = line;
        self.batch.cell(&cell.as_ref());
    }

    /// Writes the batch unless it is empty.
    fn write(&mut self) -> anyhow::Result<()> {
        let cells = self.batch.len() as u64;
        if cells == 0 {
            return Ok(());
        }
        self.store.write(std::mem::take(&mut self.batch), self.durability)?;
        // The next record begins on the line after `last_line`, or later if a record spans lines.
        self.resume_point.set(Some(cells), self.last_line + 1);
        if self.acknowledges {
            let mut out = stdout();
            writeln!(out, "ACK {}", self.resume_point.written())
                .and_then(|()| out.flush())
                .context(STDOUT)?;
        }
        Ok(())
    }
}
