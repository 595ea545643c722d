//! The arguments of `hfile snapshot export` and `hfile table export`, and the work on all regions.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use directories::TableScan;
use sstable::ReadTrace;
use store::Clock;

use super::directory::ExportDirectory;
use super::form::FormOptions;
use super::manifest::{Manifest, Source};
use super::region::{Exported, Job, Stopped};
use super::report::ExportReport;
use crate::failure::{Answer, UsageError};
use crate::key_text::KeyText;
use crate::output::ReportFormat;
use crate::progress::Progress;
use crate::tables::cell_options::{CellOptions, print_missing};
use crate::tables::place::{OpenTable, Place};

// The doc comments and the examples are those of the nouns, `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(in crate::tables) struct Export<P: Place> {
    #[command(flatten)]
    place: P,
    /// Directory of the files and of manifest.json: new, or that of a stopped export, which goes on
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output: PathBuf,
    #[command(flatten)]
    form: FormOptions,
    /// Start at this row, which is exported: text with \xNN, or hex:…
    #[arg(long, value_name = "ROW")]
    start: Option<KeyText>,
    /// Stop before this row, which is not exported
    #[arg(long, value_name = "ROW")]
    stop: Option<KeyText>,
    /// Export only rows that begin with this: text with \xNN, or hex:…
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<KeyText>,
    #[command(flatten)]
    cells: CellOptions,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl<P: Place> Export<P> {
    /// Writes the files. The answer is negative if cells are missing.
    pub(in crate::tables) fn run(self) -> anyhow::Result<Answer> {
        let OpenTable { table, snapshot, creation, with_logs } = self.place.open()?;
        let mut scan = self.cells.scan(creation)?.with_logs(with_logs);
        self.set_rows(&mut scan)?;
        let form = self.form.form(&mut scan)?;
        let threads = std::mem::replace(&mut scan.threads, 1);
        let given_now = scan.now;
        let now = given_now.unwrap_or_else(|| Clock::system().now());
        let new = Manifest {
            schema: 1,
            complete: false,
            source: Source::new(&table, snapshot.as_deref()),
            format: form.format.name().to_owned(),
            options: form.options(&scan),
            now: now.get(),
            rows: 0,
            cells: 0,
            bytes: 0,
            regions: Vec::new(),
        };
        let (directory, mut manifest) = ExportDirectory::open(&self.output, new)?;
        if given_now.is_some_and(|now| now.get() != manifest.now) {
            return Err(UsageError(format!(
                "{} has an export with --now {}; give another directory",
                self.output.display(),
                manifest.now
            ))
            .into());
        }
        scan.now = Some(sstable::Timestamp::new(manifest.now));
        let names = table.regions.iter().map(|region| region.name().to_string());
        let order: Vec<String> = names.collect();
        let pending: Vec<usize> =
            (0..order.len()).filter(|index| !manifest.has(&order[*index])).collect();
        let resumed = order.len() - pending.len();
        if pending.len() == 1 {
            scan.threads = threads;
        }
        let is_stopped = AtomicBool::new(false);
        let job = Job { table: &table, scan, form, out: directory.path(), is_stopped };
        let progress = Progress::new("exporting regions", order.len() as u64);
        progress.set(resumed as u64);
        let (mut missing, mut trace) = (Vec::new(), ReadTrace::default());
        export_all(&job, &pending, threads, |exported| {
            missing.extend(exported.missing);
            trace.add(&exported.trace);
            manifest.add(exported.region);
            directory.write(&manifest)?;
            progress.advance(1);
            Ok(())
        })?;
        drop(progress);
        manifest.regions.sort_by_key(|region| order.iter().position(|name| *name == region.region));
        manifest.complete = true;
        directory.write(&manifest)?;
        directory.finish()?;
        print_missing(&missing);
        self.cells.explain(&trace);
        self.report_format.print(&ExportReport::new(&self.output, &manifest, resumed))?;
        let is_whole = manifest.regions.iter().all(|region| region.missing.is_empty());
        Ok(Answer::from_bool(is_whole))
    }

    fn set_rows(&self, scan: &mut TableScan) -> Result<(), UsageError> {
        if let (Some(start), Some(stop)) = (&self.start, &self.stop)
            && start.as_bytes() > stop.as_bytes()
        {
            return Err(UsageError(format!("--start {start} is greater than --stop {stop}")));
        }
        scan.start = self.start.as_ref().map(|row| row.as_bytes().to_vec());
        scan.stop = self.stop.as_ref().map(|row| row.as_bytes().to_vec());
        if let Some(prefix) = &self.prefix {
            scan.prefix = prefix.as_bytes().to_vec();
        }
        Ok(())
    }
}

/// Exports regions on some threads, and calls `take` for each in the order of completion.
///
/// The first error ends the work.
fn export_all(
    job: &Job<'_>,
    pending: &[usize],
    threads: usize,
    mut take: impl FnMut(Exported) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        // The channel closes when the last worker drops its sender.
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads.clamp(1, pending.len().max(1)) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while !job.is_stopped.load(Ordering::Relaxed)
                    && let Some(index) = pending.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    if sender.send(job.export(*index)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut first_error = None;
        for exported in receiver {
            if let Err(error) = exported.and_then(&mut take) {
                job.is_stopped.store(true, Ordering::Relaxed);
                if first_error.is_none() && !error.is::<Stopped>() {
                    first_error = Some(error);
                }
            }
        }
        first_error.map_or(Ok(()), Err)
    })
}
