//! An export: the parts of a source, on some threads, and the manifest after each.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use hbase_files::{MissingCells, OldLogCells, TableScan};
use sstable::{ReadTrace, Timestamp};
use store::Clock;

use super::directory::{ExportDirectory, OpenExport};
use super::form::Form;
use super::manifest::{ExportedRegion, Manifest, Missing, Source};
use super::names;
use super::part::{ExportedPart, Job, Stopped};
use super::report::ExportReport;
use super::sink::Sink;
use super::source::{ExportSource, Part};
use crate::cell_options::{print_missing, print_missing_line};
use crate::failure::UsageError;
use crate::progress::Progress;

/// An export to run.
pub(crate) struct Export<'e> {
    pub(crate) source: &'e dyn ExportSource,
    /// The source, as the manifest describes it.
    pub(crate) described: Source,
    /// Which cells, and how many threads read.
    pub(crate) scan: TableScan,
    pub(crate) form: Form,
    pub(crate) output: &'e Path,
}

/// What an export did.
pub(crate) struct Exported {
    pub(crate) report: ExportReport,
    /// What this run left out of parts because it is damaged or missing.
    pub(crate) missing: Vec<MissingCells>,
    /// What this run left out because it is in logs older than the files.
    pub(crate) old_log_cells: Vec<OldLogCells>,
    /// The counters of this run's reads.
    pub(crate) trace: ReadTrace,
    /// Whether no cells are missing, of earlier runs neither.
    pub(crate) is_whole: bool,
}

impl Export<'_> {
    /// Writes the files, or those that an earlier run did not write.
    pub(crate) fn run(self) -> anyhow::Result<Exported> {
        let Self { source, described, mut scan, form, output } = self;
        let threads = std::mem::replace(&mut scan.threads, 1);
        // Before the directory is created: a wrong option leaves nothing behind.
        let missing_of_all = source.check(&scan)?;
        Sink::check(&form)?;
        let OpenExport { directory, mut manifest } =
            ExportDirectory::open(output, new_manifest(described, &form, &scan), form.format)?;
        check_now(scan.now, &manifest, output)?;
        scan.now = Some(Timestamp::new(manifest.now));
        manifest.missing = missing_of_all.iter().map(Into::into).collect();
        let parts = source.parts();
        let pending: Vec<usize> =
            (0..parts.len()).filter(|part| !manifest.has(&parts[*part].name)).collect();
        let resumed = parts.len() - pending.len();
        let prefix = |part: &usize| names::prefix(form.format, *part, &parts[*part]);
        manifest.unfinished = pending.iter().map(prefix).collect();
        manifest.complete &= pending.is_empty();
        directory.write(&manifest)?;
        print_missing(&missing_of_all);
        print_missing_before(&manifest);
        if pending.len() == 1 {
            scan.threads = threads;
        }
        let bytes = |parts: &mut dyn Iterator<Item = &Part>| parts.map(|part| part.bytes).sum();
        let progress = Progress::bytes("exporting", bytes(&mut parts.iter()));
        let left: u64 = bytes(&mut pending.iter().map(|part| &parts[*part]));
        progress.skip(bytes(&mut parts.iter()) - left);
        let is_stopped = AtomicBool::new(false);
        let (out, missing) = (directory.path(), missing_of_all);
        let job = Job { source, scan, form, out, missing, is_stopped, progress };
        let (mut missing, mut old_log_cells) = (Vec::new(), Vec::new());
        let mut trace = ReadTrace::default();
        export_all(&job, &pending, threads, |exported| {
            missing.extend(exported.missing);
            old_log_cells.extend(exported.old_log_cells);
            trace.add(&exported.trace);
            manifest.add(exported.part, &exported.prefix);
            directory.write(&manifest)
        })?;
        drop(job);
        let place = |name: &str| parts.iter().position(|part| part.name == name);
        manifest.regions.sort_by_key(|part| place(&part.region));
        manifest.complete = true;
        directory.write(&manifest)?;
        let report = ExportReport::new(output, &manifest, resumed);
        let is_whole = manifest.is_whole();
        Ok(Exported { report, missing, old_log_cells, trace, is_whole })
    }
}

/// Prints to stderr what earlier runs left out: the files of this export do not have it either.
fn print_missing_before(manifest: &Manifest) {
    for ExportedRegion { region, missing, .. } in &manifest.regions {
        for Missing { file, what, rows } in missing {
            let place = format!(" ({} {region}, of an earlier run)", manifest.source.unit());
            print_missing_line(file, &place, what, rows);
        }
    }
}

/// Returns the manifest of an export that begins.
fn new_manifest(source: Source, form: &Form, scan: &TableScan) -> Manifest {
    Manifest {
        schema: 1,
        complete: false,
        source,
        format: form.format.name().to_owned(),
        options: form.options(scan),
        now: scan.now.unwrap_or_else(|| Clock::system().now()).get(),
        rows: 0,
        cells: 0,
        bytes: 0,
        regions: Vec::new(),
        missing: Vec::new(),
        unfinished: Vec::new(),
    }
}

/// Checks that `now`, if it is given, is that of the export that goes on.
fn check_now(now: Option<Timestamp>, manifest: &Manifest, output: &Path) -> Result<(), UsageError> {
    if now.is_none_or(|now| now.get() == manifest.now) {
        return Ok(());
    }
    Err(UsageError(format!(
        "{} has an export with --now {}; give another directory",
        output.display(),
        manifest.now
    )))
}

/// Exports parts on some threads, and calls `take` for each in the order of completion.
///
/// The first error ends the work.
fn export_all(
    job: &Job<'_>,
    pending: &[usize],
    threads: usize,
    mut take: impl FnMut(ExportedPart) -> anyhow::Result<()>,
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
